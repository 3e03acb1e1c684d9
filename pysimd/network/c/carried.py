"""States of loops in C: the results of a pass are the states of the next one.

A small state is copied. A large one and its next value change places after each pass instead: the offsets of both are kept
in ``m->places``, from where the lines and the programs of the body take them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from pysimd.network.c.slots import Slot, refused
from pysimd.network.c.writer import Mark, Writer
from pysimd.network.courses.control import Loop, Scan

_TENSOR = re.compile(r"(TENSOR\([^,]*, )(\d+)\)")
_MOST_COPIED = 64  # bytes of a state, which take no longer than exchanging two places


class Swap(NamedTuple):
    """A state of a loop and the result that it becomes, which change places after each pass in place of being copied.

    number : of the first of two members of `places`: where the state is, and where the result is written.
    state, offset : the places before the loop, and of the state behind it.
    """

    number: int
    state: int
    offset: int
    nbytes: int

    @property
    def texts(self) -> dict[int, str]:
        """In place of these offsets."""
        return {self.state: f"m->places[{self.number}]", self.offset: f"m->places[{self.number + 1}]"}

    @property
    def before(self) -> list[str]:
        """Lines before the loop."""
        return [f"{text} = {offset};" for offset, text in self.texts.items()]

    @property
    def lines(self) -> list[str]:
        """Lines at the end of a pass."""
        one, other = self.texts.values()
        return ["{", f"    const size_t old = {one};", f"    {one} = {other};", f"    {other} = old;", "}"]

    @property
    def after(self) -> list[str]:
        """Lines behind the loop."""
        target, source = (f"TENSOR(unsigned char, {offset})" for offset in (self.state, self.offset))
        return [f"if (m->places[{self.number}] != {self.state}) memcpy({target}, {source}, {self.nbytes});"]


def carry(w: Writer, part: Loop | Scan, states: Sequence[Slot], results: Sequence[Slot], first: Mark) -> list[Swap]:
    """Adds the lines that make results of a pass the states of the next one, and returns what changes places instead.

    first : how much was written before the lines of the body.
    """
    taken = {state.offset for state in states}
    moved, swaps = [], []
    for name, state, result in zip(part.body.inputs[2 * part.lead :], states, results):
        if (state.dtype, state.shape) != (result.dtype, result.shape):
            raise refused(part.node, f"its state {name!r} is {state.type} and then {result.type}")
        if result.offset == state.offset:  # it stays
            continue
        is_free = result.offset >= first.size and result.offset not in w.swapped  # a tensor of the body
        if is_free and state.nbytes > _MOST_COPIED:
            swaps.append(Swap(w.next_places(), state.offset, result.offset, state.nbytes))
            w.swapped.update((state.offset, result.offset))
        else:
            moved.append((state, w.copied(result) if result.offset in taken else result))
    for state, result in moved:
        w.copy(state, result)
    w.lines += [line for swap in swaps for line in swap.lines]
    return swaps


def follow(w: Writer, swaps: Sequence[Swap], first: Mark, lines: list[str]) -> None:
    """Makes the lines and the programs of a body find states where the last pass has left them."""
    texts = {offset: text for swap in swaps for offset, text in swap.texts.items()}
    lines[:] = [_TENSOR.sub(lambda found: f"{found[1]}{texts.get(int(found[2]), found[2])})", line) for line in lines]
    for part in w.parts[first.parts :]:
        part.offsets.update((root, texts[at]) for root, at in part.offsets.items() if at in texts)
