"""Inputs and outputs in arrays of the caller: steps get pointers to these, so nothing is copied."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from sys import getrefcount
from typing import TYPE_CHECKING, Any

import _cffi_backend
import numpy as np

from pysimd._arrays import plain, plain_output
from pysimd._library import ffi
from pysimd.annotations import Array, Shape
from pysimd.errors import check, dtype_name, errno, printable
from pysimd.network.binding import Binding, Memory

if TYPE_CHECKING:
    from pysimd.network.program import Program

Calls = Sequence[tuple[Callable[..., Any], Sequence[Any]]]

WORTH = 16 << 10  # bytes whose copy takes as long as replacing a pointer to them, and the old one again: 0.8 us (Zen 4)
_CALL = 16  # the pointers in whose time the rest is done that a call in place needs
_BYTES, _ADDRESS = ffi.typeof("char[]"), ffi.typeof("uintptr_t")
_cast: Any = _cffi_backend.cast  # what ffi.cast calls
_from_buffer: Any = _cffi_backend.from_buffer
_LARGE_RESULT = 1 << 18  # bytes, from which on the C library gives memory back to the system
MOST_RESULTS = 2  # arrays of an output that are kept: a cache that is given back to the next call has two


class Elsewhere(Memory):
    """The memory of a runner with some roots in other arrays."""

    def __init__(self, memory: Memory | None, arrays: Mapping[str, Array]) -> None:
        self.__dict__.update(memory.__dict__)
        self._arrays = arrays
        self.addresses = {**self.addresses, **{root: _address(array) for root, array in arrays.items()}}

    def array(self, root: str, dtype: Any, shape: Shape, strides: Shape, offset: int) -> Array:
        """The elements of a root at strides; the offset is in bytes."""
        if root not in self._arrays:
            return super().array(root, dtype, shape, strides, offset)
        return np.ndarray(shape, dtype, self._arrays[root], offset, strides)


class InPlace:
    """The inputs and outputs of a runner, in its block or in arrays of the caller.

    Each has a root of its own, and no step writes those of inputs.

    program, binding, calls, block, inputs, outputs : of the runner.
    kept : the arrays of each large output that are kept, to be returned again.

    bound_inputs, bound_outputs : the arrays that the caller has bound, by name.
    """

    def __init__(
        self,
        program: Program,
        binding: Binding,
        calls: Calls,
        block: Array,
        inputs: Mapping[str, Array],
        outputs: Mapping[str, Array],
        kept: int = 0,
    ) -> None:
        self._binding, self._calls, self._block = binding, calls, _span(block)
        self._own = self._memory = binding.memory
        self.inputs, self.outputs = dict(inputs), dict(outputs)
        self._roots = {name: view.root for name, view in program.inputs.items()}
        self._roots_of_outputs = {name: view.root for name, view in program.outputs.items()}
        self.bound_inputs: dict[str, Array] = {}
        self.bound_outputs: dict[str, Array] = {}
        self._new = {name: _Results(own, kept) for name, own in self.outputs.items()}
        self._large_inputs = self._large(self.inputs, self._roots)
        self._large_outputs = self._large(self.outputs, self._roots_of_outputs)

    def _large(self, arrays: Mapping[str, Array], roots: Mapping[str, str]) -> set[str]:
        """The arrays to which pointers are replaced in less time than they are copied; not those for functions of Python."""
        pointers, in_python = self._binding.pointers, self._binding.in_python
        return {
            name
            for name, root in roots.items()
            if arrays[name].nbytes >= WORTH * max(1, pointers.get(root, 0)) and root not in in_python
        }

    def bind(self, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> None:
        """Binds arrays of the caller, see :meth:`pysimd.network.runner.Runner.bind`."""
        found_inputs = self.targets(inputs, self.inputs, "input")
        found_outputs = self.targets(outputs, self.outputs, "output")
        bound_inputs = _replaced(self.bound_inputs, inputs, found_inputs)
        bound_outputs = _replaced(self.bound_outputs, outputs, found_outputs)
        self._refuse_overlap(bound_inputs, bound_outputs)
        arrays = self._by_root(bound_inputs, bound_outputs)
        changed = {*self._by_root(self.bound_inputs, self.bound_outputs), *arrays}
        self._memory = Elsewhere(self._own, arrays) if arrays else self._own
        self._binding.place(self._memory, changed)
        self.bound_inputs, self.bound_outputs = bound_inputs, bound_outputs

    def checked(self, outputs: Mapping[str, Any], given: Mapping[str, Array]) -> dict[str, Array]:
        """Arrays for the outputs of a call that gets these inputs."""
        found = self.targets(outputs, self.outputs, "output")
        others = {name: array for name, array in self.bound_inputs.items() if name not in given}
        self._refuse_overlap(others, {**self.bound_outputs, **found})
        return found

    def run(self, given: Mapping[str, Array], outputs: Mapping[str, Array], return_views: bool) -> dict[str, Array]:
        """Runs all steps with inputs that fit and outputs that are checked; the rest is as it is bound, or in the block."""
        chosen = {**self.bound_outputs, **outputs}
        results = {
            name: chosen[name] if name in chosen else own if return_views else self._new[name].array()
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
        self._run(self._by_root(read, written))
        for name in copied:
            if results[name] is not self.outputs[name]:
                results[name][...] = self.outputs[name]
        return results

    def _run(self, arrays: Mapping[str, Array]) -> None:
        """Runs all steps with these roots elsewhere, and then leaves all pointers as they were."""
        bound = self._by_root(self.bound_inputs, self.bound_outputs)
        moved = [root for root in {**bound, **arrays} if arrays.get(root) is not bound.get(root)]
        if moved:
            self._binding.place(Elsewhere(self._own, arrays) if arrays else self._own, moved)
        try:
            for function, arguments in self._calls:
                function(*arguments)
                if errno():
                    check()
        finally:
            if moved:
                self._binding.place(self._memory, moved)

    def _is_read(self, name: str, array: Array, spans: Sequence[tuple[int, int]]) -> bool:
        """Whether an input is read in place: no step writes there, and it is as the calls expect it."""
        fits = name in self._large_inputs and array.dtype == self.inputs[name].dtype and array.flags.c_contiguous
        return fits and not any(_overlap(_span(array), span) for span in spans)

    def _by_root(self, inputs: Mapping[str, Array], outputs: Mapping[str, Array]) -> dict[str, Array]:
        found = {self._roots[name]: array for name, array in inputs.items()}
        return {**found, **{self._roots_of_outputs[name]: array for name, array in outputs.items()}}

    @staticmethod
    def targets(given: Mapping[str, Any], own: Mapping[str, Array], what: str) -> dict[str, Array]:
        """The arrays that are given in place of others."""
        for name in given:
            if name not in own:
                raise ValueError(f"{name!r} is not an {what}, expected {', '.join(map(repr, own)) or 'none'}")
        chosen = {name: value for name, value in given.items() if value is not None and value is not own[name]}
        return {name: _target(value, name, own[name], what) for name, value in chosen.items()}

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


class _Results:
    """Arrays for an output, each of which a call returns.

    The system sets memory that it gives to zero, page by page, which can take longer than to write it: large arrays of
    earlier calls are given again once nobody else has them.
    """

    def __init__(self, like: Array, most: int) -> None:
        self._like, self._most = like, most
        self._kept: list[Array] = []

    def array(self) -> Array:
        """An array that nobody has."""
        like, kept = self._like, self._kept
        if like.nbytes < _LARGE_RESULT or not self._most:
            return np.empty(like.shape, like.dtype)
        for _ in range(len(kept)):
            array = kept.pop(0)
            if getrefcount(array) <= _ONE and _is_like(array, like):
                kept.append(array)
                return array
            kept.append(array)
        array = np.empty(like.shape, like.dtype)
        kept.append(array)
        del kept[: -self._most]
        return array


def _is_like(array: Array, like: Array) -> bool:
    """Whether who had an array has left its shape, type and flags."""
    is_same = array.shape == like.shape and array.dtype == like.dtype
    return is_same and array.flags.c_contiguous and array.flags.writeable


def _references() -> int:
    """What getrefcount() tells of an object that one variable has."""
    array = np.empty(1)
    return getrefcount(array)


_ONE = _references()


def copied_to(outputs: Mapping[str, Any], results: Mapping[str, Array]) -> dict[str, Array]:
    """Results in the arrays of the caller, as of a call whose results have no memory before it ends."""
    found = InPlace.targets(outputs, results, "output")
    for name, target in found.items():
        target[...] = results[name]
    return {**results, **found}


def _target(value: Any, name: str, like: Array, what: str) -> Array:
    """An array that the steps use in place: of this type and shape, dense, and writable if it is an output."""
    array: Array = value
    if type(value) is not np.ndarray:
        array = plain(value, printable(name)) if what == "input" else plain_output(value, printable(name))
    if array.dtype != like.dtype:
        name = printable(name)
        raise TypeError(
            f"{name} has dtype {array.dtype}, expected {like.dtype}: use {name}.astype({dtype_name(like.dtype)})"
        )
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
    begin = _address(array)
    return begin, begin + array.nbytes


def _address(array: Array) -> int:
    """The address of a dense array, in a third of the time of the array interface."""
    return int(_cast(_ADDRESS, _from_buffer(_BYTES, array)))


def _overlap(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return max(one[0], other[0]) < min(one[1], other[1])


def are_large(arrays: Iterable[Array]) -> bool:
    """Whether it can take longer to copy these than to use them in place."""
    return sum(array.nbytes for array in arrays) >= _CALL * WORTH
