"""The function of a course in C while it is written, see :mod:`pysimd.network.c.course`: its lines, tensors, constants and
programs. It knows no operators: segments, branches and loops add to it, and take back what turns out to be wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import prod
from typing import Any, NamedTuple

import numpy as np

from pysimd.annotations import Array
from pysimd.network.c.memory import Memory
from pysimd.network.c.program import Placed, filled
from pysimd.network.c.slots import Refused, Slot
from pysimd.network.c.types import C_TYPES
from pysimd.network.contexts import Contexts
from pysimd.network.graph import Graph
from pysimd.network.memory import GAP, LINE, packed_roots
from pysimd.network.program import Program


class Part(NamedTuple):
    """The program of a segment, with the offsets of the roots of its inputs and outputs, or the known values of these.

    Offsets of states that change places are texts.
    """

    program: Program
    offsets: dict[str, Any]
    known: dict[str, Array]

    def placed(self, begin: int) -> Placed:
        """The places of all its tensors: those that no other part reads are behind `begin`."""
        arrangement = self.program.arrangement
        own = {root: life for root, life in arrangement.lives.items() if root not in self.offsets and root not in self.known}
        offsets, size = packed_roots(own, {root: arrangement.types[root].nbytes for root in own})
        places = {root: begin + offset for root, offset in offsets.items()}
        return Placed(self.program, {**places, **self.offsets}, begin + size, self.known)


class Mark(NamedTuple):
    """How much is written at some time, see `Writer.return_to`."""

    parts: int
    constants: int
    lines: int
    size: int


class Writer:
    """A function in C that is being written.

    first : the number of the first of its programs.
    most_passes : of a loop without another bound.

    lines : what is written. The constants that lines copy are ``@NUMBER@`` in them, as long as their offsets are not known.
    parts : the programs that the lines call.
    size : of the tensors so far, in bytes.
    swapped : the offsets of states that change places, and `places` how many such offsets the program keeps.
    """

    def __init__(self, contexts: Contexts, first: int, most_passes: int) -> None:
        self.contexts, self.most_passes = contexts, most_passes
        self.lines: list[str] = []
        self.parts: list[Part] = []
        self.size, self.places = 0, 0
        self.swapped: set[int] = set()
        self._first, self._loops = first, 0
        self._constants: list[Array] = []

    def text(self, memory: Memory) -> str:
        """The lines, with the offsets of constants."""
        offsets = {str(i): str(memory.offset(array)) for i, array in enumerate(self._constants)}
        return filled("\n".join(indented(self.lines)), offsets)

    # ---- taking back

    def mark(self) -> Mark:
        return Mark(len(self.parts), len(self._constants), len(self.lines), self.size)

    def return_to(self, mark: Mark) -> None:
        """Forgets what was written since then."""
        parts, constants, lines, self.size = mark
        self.swapped = {offset for offset in self.swapped if offset < self.size}
        del self.parts[parts:], self._constants[constants:], self.lines[lines:]

    @contextmanager
    def apart(self) -> Iterator[list[str]]:
        """Adds lines to a list of their own."""
        lines, self.lines = self.lines, []
        try:
            yield self.lines
        finally:
            self.lines = lines

    # ---- tensors

    def slot(self, dtype: Any, shape: Iterable[int]) -> Slot:
        """A new tensor."""
        made = Slot(np.dtype(dtype), tuple(shape), self.size)
        if made.dtype.name not in C_TYPES:
            raise Refused(f"a tensor of {made.dtype.name} cannot be written as C")
        self.size += -(-(made.nbytes + GAP) // LINE) * LINE
        return made

    def pointer(self, slot: Slot, kind: str = "unsigned char") -> str:
        """A pointer to the elements, as text."""
        if slot.known is None:
            return f"TENSOR({kind}, {slot.offset})"
        self._constants.append(np.ascontiguousarray(slot.known))
        return f"DATA({kind}, @{len(self._constants) - 1}@)"

    def copied(self, slot: Slot) -> Slot:
        """A copy."""
        made = self.slot(slot.dtype, slot.shape)
        self.copy(made, slot)
        return made

    def copy(self, target: Slot, source: Slot) -> None:
        """Copies all elements."""
        self._move(self.pointer(target), 0, self.pointer(source), 0, 1, source.nbytes)

    def move_row(self, row: Slot, rows: Slot, axis: int, place: str, *, to_row: bool) -> None:
        """Copies a row to its place among rows along an axis, or from there."""
        count, part = prod(rows.shape[:axis]), prod(rows.shape[axis + 1 :]) * int(rows.dtype.itemsize)
        one = self.pointer(row), part
        offset = str(int(place) * part) if place.isdigit() else f"{place} * {part}"
        many = f"{self.pointer(rows)} + {offset}", rows.shape[axis] * part
        target, source = (one, many) if to_row else (many, one)
        self._move(*target, *source, count, part)

    def _move(self, target: str, target_step: int, source: str, source_step: int, count: int, nbytes: int) -> None:
        """Copies some parts of so many bytes."""
        if count * nbytes == 0:
            return
        if count == 1:
            self.lines.append(f"memcpy({target}, {source}, {nbytes});")
        else:
            self.lines.append(f"copy_parts({target}, {target_step}, {source}, {source_step}, {count}, {nbytes});")

    # ---- programs and loops

    def computed(self, graph: Graph, outputs: Sequence[str], slots: Mapping[str, Slot]) -> dict[str, Slot]:
        """Some outputs of a graph, which a program of its own computes of these inputs."""
        graph = Graph(graph.name, graph.nodes, graph.inputs, outputs, graph.types, graph.constants).replaced(graph.nodes)
        program = Program(graph, "nchw", self.contexts)
        program.refuse_contexts()
        given = {view.root: slots[name] for name, view in program.inputs.items()}
        made = {name: self.slot(view.dtype, view.shape) for name, view in program.outputs.items()}
        offsets = {root: slot.offset for root, slot in given.items() if slot.known is None}
        offsets.update((view.root, made[name].offset) for name, view in program.outputs.items())
        known = {root: np.ascontiguousarray(slot.known) for root, slot in given.items() if slot.known is not None}
        self.lines.append(f"if (!compute_{self._first + len(self.parts)}(m)) return 0;")
        self.parts.append(Part(program, offsets, known))
        return made

    def next_loop(self) -> int:
        """The number of a new loop, counted from 1."""
        self._loops += 1
        return self._loops

    def next_places(self) -> int:
        """The number of the first of two places of a state, see `carried`."""
        self.places += 2
        return self.places - 2


def indented(lines: Iterable[str]) -> list[str]:
    return [f"    {line}" for line in lines]
