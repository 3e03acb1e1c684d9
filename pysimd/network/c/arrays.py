"""Arrays that depend on open sizes, in C: the calls that compute them, written down.

Each array of a plan has a number: the program computes it into ``m->arrays[number]`` before it tests conditions on elements.
An array that nothing reads afterwards is released at once. What :mod:`pysimd.network.c.array_rules` has no rule for is
refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from pysimd.network.c.memory import Memory
from pysimd.network.c.names import quoted
from pysimd.network.c.types import as_type, type_of
from pysimd.network.open_arrays import Numbers, OpenArray, is_array
from pysimd.network.sizes import Computed, Sizes, in_c


class Made(NamedTuple):
    """An array that the program makes: its number, and its type."""

    number: int
    dtype: Any


#: Writes a function; it takes what writes the program, the inputs of the function, and its result.
Rule = Callable[["Arrays", Sequence[Any], OpenArray], Made]


def dtype_of(array: Any) -> Any:
    """The type of an array, or of a number."""
    return array.dtype if hasattr(array, "dtype") else np.asarray(array).dtype


class _Step(NamedTuple):
    """The lines that compute an array, and the numbers of the arrays that they read and write."""

    lines: list[str]
    numbers: tuple[int, ...]


class Arrays:
    """Writes the arrays of a plan.

    sizes : its open dimensions.
    memory : of its constants.
    rule_of : the name of a function, and its rule if there is one.
    """

    def __init__(self, sizes: Sizes, memory: Memory, rule_of: Callable[[Any], tuple[str, Rule | None]]) -> None:
        self._sizes, self._memory, self._rule_of = sizes, memory, rule_of
        self._steps: list[_Step] = []
        self._numbers: dict[Any, int] = {}  # of results of calls, and of constants by their identity
        self._held: list[Any] = []  # what has these identities
        self._kept: dict[int, OpenArray] = {}
        self._doing = ""  # the function that a rule writes
        self._count = 0
        for array in sizes.computed:
            self._keep(array)

    @property
    def count(self) -> int:
        """The number of arrays."""
        return self._count

    # ---- what a program reads

    def pointer(self, array: OpenArray, kind: str, offset: str = "0") -> str:
        """A pointer to an element, by its offset in bytes."""
        data = f"m->arrays[{self._keep(array)}].data"
        return f"(({kind} *){data})" if offset == "0" else f"(({kind} *)(void *)((char *){data} + ({offset})))"

    def element(self, array: Computed, place: int = 0) -> str:
        """An element, as a number."""
        assert isinstance(array, OpenArray)
        return f"((const {type_of(array.dtype)} *)m->arrays[{self._keep(array)}].data)[{place}]"

    def lines(self) -> list[str]:
        """What computes all arrays, and releases those that are not read any more."""
        last = {number: i for i, step in enumerate(self._steps) for number in step.numbers}
        lines = ["    struct values * v = m->arrays;"] if self._steps else []
        for i, step in enumerate(self._steps):
            lines += [f"    {line}" for line in step.lines]
            done = sorted({number for number in step.numbers if last[number] == i and number not in self._kept})
            lines += [f"    values_drop(&v[{number}]);" for number in done]
        return lines

    def conditions(self) -> list[str]:
        """That arrays have as many elements as calls and formulas read."""
        return [
            f'    if (values_count(&m->arrays[{number}]) != {in_c(array.size)}) return "{quoted(str(array))}";'
            for number, array in self._kept.items()
        ]

    def _keep(self, array: Any) -> int:
        number = self.number(array)
        self._kept.setdefault(number, array)
        return number

    # ---- what rules use

    def number(self, array: Any) -> int:
        """The number of an array, which the program computes before what is added next."""
        if isinstance(array, Made):
            return array.number
        key = (array.call, array.place) if is_array(array) else id(array)
        if key not in self._numbers:
            made = self._computed(array) if is_array(array) else self._known(np.asarray(array))
            self._numbers[key] = made.number
            self._held.append(array)
        return self._numbers[key]

    def make(
        self, dtype: Any, call: str, reads: Sequence[int] = (), before: Sequence[str] = (), after: Sequence[str] = ()
    ) -> Made:
        """Adds a call that makes an array, and lines around it; @ is the number of the array in them.

        reads : the numbers of the arrays that they read.
        """
        made = Made(self._count, np.dtype(dtype))
        self._count += 1
        lines = [*before, f'if (!{call}) return "{quoted(self._doing)} cannot be computed";', *after]
        lines = [line.replace("@", str(made.number)) for line in lines]
        if before:
            lines = ["{", *(f"    {line}" for line in lines), "}"]
        self._steps.append(_Step(lines, (*reads, made.number)))
        return made

    def each(self, dtype: Any, expression: str, inputs: Sequence[Any], check: str = "") -> Made:
        """Adds a loop over the elements of the array to which up to three others are broadcast.

        expression : an element; {0}, {1} and {2} are those of inputs, i is its place.
        check : what must be true of them.
        """
        numbers = [self.number(each) for each in inputs]
        kinds = [type_of(dtype_of(each)) for each in inputs]
        places = [f"((const {kind} *)v[{n}].data)[values_place(&v[{n}], &v[@], i)]" for n, kind in zip(numbers, kinds)]
        a, b, c = (*numbers, *[numbers[-1]] * 2)[:3]
        kind = type_of(dtype)
        lines = ["for (int64_t i = 0, count = values_count(&v[@]); i < count; i++) {"]
        if check:
            lines.append(f'    if (!({check.format(*places)})) return "{quoted(self._doing)} cannot be computed";')
        lines += [f"    (({kind} *)v[@].data)[i] = ({kind})({expression.format(*places)});", "}"]
        call = f"values_broadcast(&v[@], sizeof({kind}), &v[{a}], &v[{b}], &v[{c}])"
        return self.make(dtype, call, numbers, after=lines)

    def cast(self, array: Any, dtype: Any) -> Any:
        """An array as one of another type."""
        return (
            array
            if dtype_of(array) == np.dtype(dtype)
            else self.each(dtype, as_type("{0}", dtype_of(array), dtype), [array])
        )

    # ---- arrays

    def _computed(self, array: OpenArray) -> Made:
        if isinstance(array.call, Numbers):
            return self._of_sizes(array.call)
        name, rule = self._rule_of(array.call.function)
        if rule is None or array.place:
            raise _refusal(name, "which programs in C do not have")
        for each in array.call.inputs:
            self.number(each)
        self._doing = name
        try:
            made = rule(self, array.call.inputs, array)
            type_of(made.dtype)
        except ValueError as error:
            raise _refusal(name, str(error)) from None
        if made.dtype != array.dtype:
            raise _refusal(name, f"of {array.dtype}, which programs in C do not have")
        return made

    def _known(self, array: Any) -> Made:
        self._doing = "a constant"
        kind, dense = type_of(array.dtype), np.ascontiguousarray(array).reshape(array.shape)
        shape = ", ".join(map(str, array.shape))
        before = [f"static const int64_t shape[] = {{{shape}}};"] if array.ndim else []
        data = f"DATA({kind}, {self._memory.offset(dense)})"
        call = f"values_known(&v[@], {array.ndim}, {'shape' if array.ndim else 'NULL'}, {data})"
        return self.make(array.dtype, call, before=before)

    def _of_sizes(self, call: Numbers) -> Made:
        """An array whose elements are formulas."""
        kind, shape = type_of(call.dtype), ", ".join(map(str, call.shape))
        after = [f"(({kind} *)v[@].data)[{i}] = ({kind})({in_c(n)});" for i, n in enumerate(call.numbers)]
        before = [f"static const int64_t shape[] = {{{shape}}};"] if call.shape else []
        definitions = self._sizes.definitions_in_c(after, element=self.element)
        made = f"values_make(&v[@], sizeof({kind}), {len(call.shape)}, {'shape' if call.shape else 'NULL'})"
        self._doing = "Shape"
        return self.make(call.dtype, made, before=[*before, *definitions, "(void)m;"], after=after)


def _refusal(name: str, why: str) -> ValueError:
    return ValueError(f"an array that depends on open sizes is computed by {name}, {why}")
