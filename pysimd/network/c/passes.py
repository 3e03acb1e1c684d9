"""A loop in C: what it counts, the rows that its passes give, and the states that they pass on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from pysimd.network.c.carried import carry, follow
from pysimd.network.c.slots import MOST_BYTES, Env, Rows, Run, Slot, Unknown, condition_of, failing, number_of, refused
from pysimd.network.c.writer import Writer, indented
from pysimd.network.courses.control import NO_BOUND, Loop, Scan
from pysimd.network.source import SourceNode


class Names:
    """The variables of a loop: the number of passes so far, whether another one follows, how many at most, as given."""

    def __init__(self, number: int) -> None:
        self.count, self.flag, self.most, self.trips = (f"{word}_{number}" for word in ("count", "on", "most", "trips"))


class Passes(NamedTuple):
    """The passes of a Loop or a Scan, which a loop in C runs.

    env : the tensors that the body reads.
    states : those of the body, which have their first values.
    bound : the number of passes if the condition stays true; None if it is not given.
    first : the condition of the first pass.
    begin : adds the first lines of a pass, in which a variable of this name has the number of the passes before.
    holds : whether the condition of a pass is true as long as there are fewer than `bound`.
    """

    part: Loop | Scan
    env: Env
    states: Sequence[Slot]
    bound: int | Slot | None
    first: bool | str
    begin: Callable[[str], None]
    holds: bool


class Times(NamedTuple):
    """How often the lines of a loop run.

    bound : as of :class:`Passes`.
    first, goes_on : the conditions of the first pass, and of later ones.
    limit : the passes that the program permits where nothing else bounds them.
    limited : the computed number of passes from which on this limit is their bound.
    """

    names: Names
    bound: int | Slot | None
    first: bool | str = True
    goes_on: bool | str = True
    limit: int = NO_BOUND
    limited: int = NO_BOUND

    @property
    def _flags(self) -> list[str]:
        return [] if self.first is True and self.goes_on is True else [self.names.flag]

    @property
    def _most(self) -> str:
        """How many passes at most, as text."""
        if isinstance(self.bound, Slot):
            return self.names.most
        return str(self.limit if self.bound is None else self.bound)

    @property
    def variables(self) -> list[str]:
        """Lines before the loop."""
        lines = [f"long long {self.names.count};"]
        lines += [f"int {flag} = {1 if self.first is True else self.first};" for flag in self._flags]
        if isinstance(self.bound, Slot):
            trips = self.names.trips
            lines += [
                f"const long long {trips} = {number_of(self.bound, '')};",
                f"const long long {self._most} = {trips} < {self.limited} ? {trips} : {self.limit};",
            ]
        return lines

    @property
    def head(self) -> str:
        """The first line of the loop."""
        count = self.names.count
        condition = " && ".join([*self._flags, f"{count} < {self._most}"])
        return f"for ({count} = 0; {condition}; {count}++) {{"

    def check(self, node: SourceNode) -> list[str]:
        """Lines behind the loop: the error of one that would go on beyond the limit."""
        if isinstance(self.bound, int):
            return []
        computed = [f"{self.names.trips} >= {self.limited}"] if isinstance(self.bound, Slot) else []
        condition = " && ".join([*self._flags, *computed, f"{self.names.count} == {self._most}"])
        lines = failing(node, f"it has run {self.limit} times, the limit of this program")
        return [f"if ({condition}) {{", *indented(lines), "}"]


def repeat(w: Writer, node: SourceNode, times: Times, lines: Sequence[str], after: Sequence[str] = ()) -> None:
    """Adds a loop of these lines.

    after : the lines behind it.
    """
    text = [*times.variables, times.head, *indented(lines), "}", *times.check(node), *after]
    w.lines += ["{", *indented(text), "}"]


def add_passes(w: Writer, run: Run, passes: Passes) -> list[Any]:
    """Adds a loop, and returns the rows that its passes give."""
    part, bound, count_of_states = passes.part, passes.bound, len(passes.states)
    names, begun = Names(w.next_loop()), w.mark()
    with w.apart() as lines:
        passes.begin(names.count)
        results = run(part.body, passes.env)
        goes_on = passes.holds or condition_of(results[0], part.node)
        if goes_on is False and not isinstance(bound, Slot):
            bound, goes_on = 1, True
        elif goes_on is not True:
            w.lines.append(f"{names.flag} = {goes_on or 0};")
        finals, rows = results[part.lead :][:count_of_states], results[part.lead + count_of_states :]
        is_exact = passes.first is True and goes_on is True and isinstance(bound, int)
        most = bound if isinstance(bound, int) else w.most_passes
        made = _collected(w, passes, rows, names.count, most, is_exact)
        swaps = carry(w, part, passes.states, finals, begun)
    follow(w, swaps, begun, lines)
    w.lines += [line for swap in swaps for line in swap.before]
    after: list[str] = []
    if any(made) and not is_exact:
        total = w.slot(np.int64, ())
        after = [f"*TENSOR(long long, {total.offset}) = {names.count};"]
        made = [Rows(each, total) if isinstance(each, Slot) else each for each in made]
    limited = w.most_passes + 1 if after else NO_BOUND
    repeat(w, part.node, Times(names, bound, passes.first, goes_on, w.most_passes, limited), lines, after)
    w.lines += [line for swap in swaps for line in swap.after]
    return made


def _collected(w: Writer, passes: Passes, rows: Sequence[Slot], count: str, most: int, is_exact: bool) -> list[Any]:
    """Adds the lines that collect results of a body; they are None where nothing reads them.

    count : the variable that has the number of the pass.
    most : the number of passes if `is_exact`, else of as many as there can be.
    """
    part, node = passes.part, passes.part.node
    wanted = [*node.outputs[len(passes.states) :], *[""] * len(rows)]
    ways = part.ways("output", len(rows)) if isinstance(part, Scan) else [(0, False)] * len(rows)
    made: list[Any] = []
    for name, row, (axis, back) in zip(wanted, rows, ways):
        if not name:
            made.append(None)
        elif not is_exact and most * row.nbytes > MOST_BYTES:
            size = f"{most} rows of {name!r}, as many as there can be, take more than {MOST_BYTES >> 20} MB"
            made.append(Unknown(refused(node, f"{size}: most_passes sets another limit")))
        else:
            axis %= len(row.shape) + 1
            made.append(w.slot(row.dtype, (*row.shape[:axis], most, *row.shape[axis:])))
            w.move_row(row, made[-1], axis, place_of(count, most, back), to_row=False)
    return made


def place_of(count: str, length: int, back: bool = False) -> str:
    """The number of the row of a pass."""
    return f"(size_t)({length - 1} - {count})" if back else f"(size_t){count}"
