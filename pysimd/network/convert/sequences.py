"""Sequences and optional values that the conversion knows: lists of tensors of the graph. What reads an element of one reads
the tensor, and no step is left. Others are computed between the segments of a course, see
:mod:`pysimd.network.courses.host_sequences`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from math import prod
from typing import Any

import numpy as np

from pysimd.network.convert.conversion import Conversion, Item, Listed, Value, converts
from pysimd.network.operators import axis_within
from pysimd.network.source import Source, SourceNode
from pysimd.network.unsupported import Unsupported

_MOST = 1024  # elements of a sequence that is known, and nodes that a body becomes


def place_in(position: Any, count: int, most: int) -> int:
    """A position in a sequence of `count` elements, counted from the first one; `most` is the last one allowed.

    Raises ValueError if it is not within the sequence.
    """
    if np.size(position) != 1:
        raise ValueError(f"the position has {np.size(position)} elements, expected 1")
    place = int(np.asarray(position).reshape(()))
    if not -count <= place <= most:
        raise ValueError(f"position {place} is not within the sequence of {count} elements")
    return place + count if place < 0 else place


def refuse_other_types(types: Sequence[str]) -> None:
    """Raises ValueError for the elements of a sequence if their types differ."""
    different = list(dict.fromkeys(types))
    if len(different) > 1:
        raise ValueError(f"the elements of a sequence have the types {' and '.join(different)}, expected one type")


def part_sizes(size: int, split: Any) -> list[int]:
    """The sizes of the parts that SplitToSequence makes of a dimension; `split` is a size, or sizes.

    Raises ValueError for sizes that do not fit.
    """
    given = np.asarray(split)
    numbers = [int(n) for n in given.reshape(-1)]
    if given.ndim == 0 and numbers[0] > 0:
        whole, rest = divmod(size, numbers[0])
        return [numbers[0]] * whole + [rest] * (rest > 0)
    if given.ndim != 1 or min(numbers, default=0) < 0 or sum(numbers) != size:
        raise ValueError(f"{size} elements cannot be split into {numbers if given.ndim else numbers[0]}")
    return numbers


def _is_plain(value: Value) -> bool:
    return isinstance(value, np.ndarray) and value.dtype != object


@converts("SplitToSequence", sequences=True)
def _split_to_sequence(c: Conversion, node: SourceNode) -> None:
    shape = c.shape(0)
    axis = axis_within(int(c.attribute("axis", 0)), len(shape))
    sizes = part_sizes(int(shape[axis]), c.known(1, "split") if c.has(1) else 1)
    if len(sizes) > _MOST:
        raise Unsupported(f"{len(sizes)} parts are more than a plan has")
    starts, x = list(accumulate(sizes, initial=0)), c.operand(0)
    parts: list[Value]
    if _is_plain(x):
        parts = [np.take(x, range(start, start + size), axis) for start, size in zip(starts, sizes)]
    else:
        parts = [c.slice(c.tensor(0), axis, start, size) for start, size in zip(starts, sizes)]
    if not (c.has(1) or c.flag("keepdims", 1)):
        rest = (*shape[:axis], *shape[axis + 1 :])
        parts = [c.reshape(part, rest) if isinstance(part, str) else part.reshape(rest) for part in parts]
    c.give(Listed(tuple(parts)))


@converts("SequenceConstruct", sequences=True)
def _construct(c: Conversion, node: SourceNode) -> None:
    refuse_other_types([c.dtype(i) for i in range(len(node.inputs))])
    c.give(Listed(tuple(c.operand(i) for i in range(len(node.inputs)))))


@converts("SequenceEmpty", sequences=True)
def _empty(c: Conversion, node: SourceNode) -> None:
    c.give(Listed(()))


@converts("SequenceLength", sequences=True)
def _length(c: Conversion, node: SourceNode) -> None:
    c.give(np.array(len(c.sequence(0)), np.int64))


@converts("SequenceAt", sequences=True)
def _at(c: Conversion, node: SourceNode) -> None:
    found = c.sequence(0)
    c.give(found[place_in(c.known(1, "the position"), len(found), len(found) - 1)])


@converts("SequenceInsert", sequences=True)
def _insert(c: Conversion, node: SourceNode) -> None:
    found = c.sequence(0)
    refuse_other_types([*map(c.dtype_of, found[:1]), c.dtype(1)])
    place = place_in(c.known(2, "the position"), len(found), len(found)) if c.has(2) else len(found)
    if len(found) == _MOST:
        raise Unsupported(f"a sequence of {_MOST} elements cannot be longer in a plan")
    c.give(Listed((*found[:place], c.operand(1), *found[place:])))


@converts("SequenceErase", sequences=True)
def _erase(c: Conversion, node: SourceNode) -> None:
    found = c.sequence(0)
    place = place_in(c.known(1, "the position") if c.has(1) else -1, len(found), len(found) - 1)
    c.give(Listed((*found[:place], *found[place + 1 :])))


@converts("ConcatFromSequence", sequences=True)
def _concatenated(c: Conversion, node: SourceNode) -> None:
    found, new = c.sequence(0), c.flag("new_axis")
    if not found:
        raise Unsupported("a sequence without elements cannot be concatenated")
    axis = axis_within(int(c.attribute("axis")), len(c.shape_of(found[0])) + new)
    if all(map(_is_plain, found)):
        arrays: Any = found
        return c.give(np.stack(arrays, axis) if new else np.concatenate(arrays, axis))
    tensors = list(map(c.named, found))
    if new:
        shapes = [c.builder.shape(each) for each in tensors]
        tensors = [c.reshape(each, (*shape[:axis], 1, *shape[axis:])) for each, shape in zip(tensors, shapes)]
    some = [each for each in tensors if prod(c.builder.shape(each))] or tensors
    return c.give(some[0] if len(some) == 1 else c.add("Concat", *some, axis=axis))


@converts("SequenceMap", sequences=True)
def _map(c: Conversion, node: SourceNode) -> None:
    """The nodes of the body for each element."""
    body: Source = c.attribute("body")
    first, names = c.sequence(0), [value.name for value in body.inputs]
    given = [c.sequence(i) if c.is_sequence(i) else [c.operand(i)] * len(first) for i in range(len(node.inputs))]
    if len(names) != len(given) or {len(first)} != {len(each) for each in given}:
        raise Unsupported(f"its sequences have {', '.join(str(len(each)) for each in given)} elements, expected as many")
    if len(first) * max(len(body.nodes), 1) > _MOST:
        raise Unsupported(f"a body of {len(body.nodes)} nodes for {len(first)} elements is more than a plan has")
    results = []
    for each in zip(*given):
        found = c.inside(body, dict(zip(names, each)))
        if found is None:
            return c.fail()
        results.append(found)
    return c.give(*(Listed(tuple(each[i] for each in results)) for i in range(len(node.outputs))))


@converts("Optional", sequences=True)
def _optional(c: Conversion, node: SourceNode) -> None:
    c.give(c.item(0) if c.has(0) else Listed(None))


@converts("OptionalHasElement", sequences=True)
def _has_element(c: Conversion, node: SourceNode) -> None:
    c.give(np.array(c.has(0) and not _is_empty(c.item(0))))


@converts("OptionalGetElement", "Identity", sequences=True)
def _element(c: Conversion, node: SourceNode) -> None:
    if node.op == "OptionalGetElement" and _is_empty(c.item(0)):
        raise Unsupported("the optional value is empty")
    c.give(c.item(0))


def _is_empty(value: Item) -> bool:
    return isinstance(value, Listed) and value.elements is None
