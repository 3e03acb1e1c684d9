"""Inputs and outputs in arrays of the caller: the calls that use them are bound to these, so nothing is copied."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pysimd._arrays import plain, plain_output
from pysimd.annotations import Array
from pysimd.errors import check, errno, printable
from pysimd.network.binding import Binding, address_of

if TYPE_CHECKING:
    from pysimd.network.program import Program

Calls = Sequence[tuple[Callable[..., Any], Sequence[Any]]]

WORTH = 64 << 10  # bytes whose copy takes about as long as giving ten arguments another address (Zen 4)


class InPlace:
    """The inputs and outputs of a runner, in its block or in arrays of the caller.

    program, binding, block, inputs, outputs : of the runner. Each input and output has a root of its own, and no step writes
        those of inputs.

    bound_inputs, bound_outputs : the arrays that the caller has bound, by name.
    """

    def __init__(
        self,
        program: Program,
        binding: Binding,
        block: Array,
        inputs: Mapping[str, Array],
        outputs: Mapping[str, Array],
    ) -> None:
        self._binding, self._block = binding, _span(block)
        self.inputs, self.outputs = dict(inputs), dict(outputs)
        self.bound_inputs: dict[str, Array] = {}
        self.bound_outputs: dict[str, Array] = {}
        self._input_roots, self._output_roots = (
            {name: view.root for name, view in views.items()} for views in (program.inputs, program.outputs)
        )
        self._large_inputs = self._large(self.inputs, self._input_roots)
        self._large_outputs = self._large(self.outputs, self._output_roots)

    def _large(self, arrays: Mapping[str, Array], roots: Mapping[str, str]) -> set[str]:
        """The arrays that are bound in less time than copied; not those that Python functions could keep."""
        used, in_python = self._binding.uses, self._binding.is_used_in_python
        return {
            name for name, root in roots.items() if arrays[name].nbytes >= WORTH * max(1, used(root)) and not in_python(root)
        }

    def bind(self, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> None:
        """Binds arrays of the caller, see :meth:`pysimd.network.runner.Runner.bind`."""
        found_inputs = _targets(inputs, self.inputs, "input")
        found_outputs = _targets(outputs, self.outputs, "output")
        bound_inputs = _replaced(self.bound_inputs, inputs, found_inputs)
        bound_outputs = _replaced(self.bound_outputs, outputs, found_outputs)
        self._refuse_overlap(bound_inputs, bound_outputs)
        self.bound_inputs, self.bound_outputs = bound_inputs, bound_outputs
        self.place()

    def place(self) -> None:
        """Lets the calls use what is bound, and the block."""
        self._binding.place(self._by_root(self.bound_inputs, self.bound_outputs))

    def checked(self, outputs: Mapping[str, Any], given: Mapping[str, Array]) -> dict[str, Array]:
        """Arrays for the outputs of a call that gets these inputs."""
        found = _targets(outputs, self.outputs, "output")
        others = {name: array for name, array in self.bound_inputs.items() if name not in given}
        self._refuse_overlap(others, {**self.bound_outputs, **found})
        return found

    def run(
        self, calls: Calls, given: Mapping[str, Array], outputs: Mapping[str, Array], return_views: bool
    ) -> dict[str, Array]:
        """Makes all calls with inputs that fit and outputs that are checked; the rest is as it is bound, or in the block."""
        chosen = {**self.bound_outputs, **outputs}
        results = {
            name: chosen[name] if name in chosen else own if return_views else np.empty(own.shape, own.dtype)
            for name, own in self.outputs.items()
        }
        copied = [
            name
            for name, array in results.items()
            if array is self.outputs[name] or not (name in self._large_outputs or array is self.bound_outputs.get(name))
        ]
        spans = [self._block, *map(_span, chosen.values())]
        read = {name: array for name, array in given.items() if self._is_read(name, array, spans)}
        for name, array in given.items():
            if name not in read:
                self.inputs[name][...] = array
        read.update((name, array) for name, array in self.bound_inputs.items() if name not in given)
        written = {name: array for name, array in results.items() if name not in copied}
        self._binding.place(self._by_root(read, written))
        for function, arguments in calls:
            function(*arguments)
            if errno():
                check()
        for name in copied:
            if results[name] is not self.outputs[name]:
                results[name][...] = self.outputs[name]
        return results

    def _is_read(self, name: str, array: Array, spans: Sequence[tuple[int, int]]) -> bool:
        """Whether an input is read in place: no step writes there, and it is as the calls expect it."""
        fits = name in self._large_inputs and array.dtype == self.inputs[name].dtype and array.flags.c_contiguous
        return fits and not any(_overlap(_span(array), span) for span in spans)

    def _by_root(self, inputs: Mapping[str, Array], outputs: Mapping[str, Array]) -> dict[str, Array]:
        found = {self._input_roots[name]: array for name, array in inputs.items()}
        return {**found, **{self._output_roots[name]: array for name, array in outputs.items()}}

    def _refuse_overlap(self, inputs: Mapping[str, Array], outputs: Mapping[str, Array]) -> None:
        """Raises ValueError if a step could write what another one reads; inputs may overlap each other."""
        places = [(*self._block, "the memory of the runner", True)]
        places += [(*_span(array), name, False) for name, array in inputs.items() if array.size]
        places += [(*_span(array), name, True) for name, array in outputs.items() if array.size]
        places.sort()
        read = written = (0, "")  # the ends that are furthest, so far, with what ends there
        for begin, end, name, is_written in places:
            for last, other in (read, written) if is_written else (written,):
                if begin < last:
                    text = f"{name} and {other} overlap, expected arrays that share no memory with an output"
                    raise ValueError(printable(text))
            if is_written:
                written = max(written, (end, name))
            else:
                read = max(read, (end, name))


def _targets(given: Mapping[str, Any], own: Mapping[str, Array], what: str) -> dict[str, Array]:
    """The arrays that are given in place of others."""
    for name in given:
        if name not in own:
            raise ValueError(f"{name!r} is not an {what}, expected {', '.join(map(repr, own)) or 'none'}")
    chosen = {name: value for name, value in given.items() if value is not None and value is not own[name]}
    return {name: _target(value, name, own[name], what) for name, value in chosen.items()}


def _target(value: Any, name: str, like: Array, what: str) -> Array:
    """An array that the steps use in place: of this type and shape, dense, and writable if it is an output."""
    array: Array = value
    if type(value) is not np.ndarray:
        array = plain(value, printable(name)) if what == "input" else plain_output(value, printable(name))
    if array.dtype != like.dtype:
        name = printable(name)
        raise TypeError(f"{name} has dtype {array.dtype}, expected {like.dtype}: use {name}.astype(np.{like.dtype})")
    if array.shape != like.shape:
        raise ValueError(printable(f"{name} has shape {array.shape}, expected {like.shape}"))
    if not array.flags.c_contiguous:
        raise ValueError(printable(f"{name} has strides {array.strides}, expected a dense array"))
    if what == "output" and not array.flags.writeable:
        raise ValueError(printable(f"{name} is read-only, expected an array that can be written"))
    return array


def _replaced(bound: Mapping[str, Array], given: Mapping[str, Any], found: Mapping[str, Array]) -> dict[str, Array]:
    """What is bound after some have been given: arrays, or None."""
    return {**{name: array for name, array in bound.items() if name not in given}, **found}


def _span(array: Array) -> tuple[int, int]:
    """The addresses of a dense array: of its first byte, and behind its last one."""
    begin = address_of(array)
    return begin, begin + array.nbytes


def _overlap(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return max(one[0], other[0]) < min(one[1], other[1])


def copied_to(outputs: Mapping[str, Any], results: Mapping[str, Array]) -> dict[str, Array]:
    """Results in the arrays of the caller, as of a call whose results have no memory before it ends."""
    found = _targets(outputs, results, "output")
    for name, target in found.items():
        target[...] = results[name]
    return {**results, **found}


def any_large(arrays: Iterable[Array]) -> bool:
    """Whether some are worth to be used in place."""
    return any(array.nbytes >= WORTH for array in arrays)
