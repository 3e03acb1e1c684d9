"""Operators of sequences and of optional values between the segments of a course: see
:mod:`pysimd.network.courses.host_operators`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pysimd.annotations import Array
from pysimd.errors import printable
from pysimd.network.convert.sequences import part_sizes, place_in, refuse_other_types
from pysimd.network.courses.host_operators import host_operator
from pysimd.network.source import SourceNode


def _listed(value: Any, what: str = "input 0") -> list[Array]:
    if not isinstance(value, list):
        raise ValueError(f"{what} is {'an empty optional value' if value is None else 'a tensor'}, expected a sequence")
    return value


def _tensor(value: Any, what: str) -> Array:
    if value is None or isinstance(value, list):
        raise ValueError(f"{what} is {'missing' if value is None else 'a sequence'}, expected a tensor")
    return np.asarray(value)


def _axis(node: SourceNode, rank: int, default: int = 0) -> int:
    axis = int(node.attributes.get("axis", default))
    if not -rank <= axis < rank:
        raise ValueError(f"axis is {axis}, expected one of {rank} dimensions")
    return axis % rank


def _given(inputs: Sequence[Any], i: int) -> Any:
    """An input that may be missing."""
    return inputs[i] if i < len(inputs) else None


@host_operator("SplitToSequence", sequences=True)
def _split_to_sequence(node: SourceNode, inputs: Sequence[Any], opset: int) -> Sequence[Any]:
    x, split = _tensor(inputs[0], "input 0"), _given(inputs, 1)
    axis = _axis(node, x.ndim)
    sizes = part_sizes(x.shape[axis], 1 if split is None else split)
    parts = np.split(x, np.cumsum(sizes)[:-1], axis) if sizes else []
    if split is None and not node.attributes.get("keepdims", 1):
        parts = [part.squeeze(axis) for part in parts]
    return [parts]


@host_operator("SequenceConstruct", sequences=True)
def _construct(node: SourceNode, inputs: Sequence[Any], opset: int) -> Sequence[Any]:
    found = [_tensor(each, f"input {i}") for i, each in enumerate(inputs)]
    refuse_other_types([each.dtype.name for each in found])
    return [found]


@host_operator("SequenceEmpty", sequences=True)
def _empty(node: SourceNode, inputs: Sequence[Any], opset: int) -> Sequence[Any]:
    return [[]]


@host_operator("SequenceLength", sequences=True)
def _length(node: SourceNode, inputs: Sequence[Any], opset: int) -> Sequence[Any]:
    return [np.array(len(_listed(inputs[0])), np.int64)]


@host_operator("SequenceAt", sequences=True)
def _at(node: SourceNode, inputs: Sequence[Any], opset: int) -> Sequence[Any]:
    found = _listed(inputs[0])
    return [found[place_in(inputs[1], len(found), len(found) - 1)]]


@host_operator("SequenceInsert", sequences=True)
def _insert(node: SourceNode, inputs: Sequence[Any], opset: int) -> Sequence[Any]:
    found, tensor, position = _listed(inputs[0]), _tensor(inputs[1], "input 1"), _given(inputs, 2)
    refuse_other_types([each.dtype.name for each in (*found[:1], tensor)])
    place = len(found) if position is None else place_in(position, len(found), len(found))
    return [[*found[:place], tensor, *found[place:]]]


@host_operator("SequenceErase", sequences=True)
def _erase(node: SourceNode, inputs: Sequence[Any], opset: int) -> Sequence[Any]:
    found, position = _listed(inputs[0]), _given(inputs, 1)
    place = place_in(-1 if position is None else position, len(found), len(found) - 1)
    return [[*found[:place], *found[place + 1 :]]]


@host_operator("ConcatFromSequence", sequences=True)
def _concatenated(node: SourceNode, inputs: Sequence[Any], opset: int) -> Sequence[Any]:
    found = _listed(inputs[0])
    if not found:
        raise ValueError("a sequence without elements cannot be concatenated")
    rank, new = found[0].ndim, bool(node.attributes.get("new_axis", 0))
    axis = _axis(node, rank + new)
    different = {(*each.shape[:axis], *each.shape[axis if new else axis + 1 :]) for each in found}
    if len(different) > 1 or any(each.ndim != rank for each in found):
        shapes = ", ".join(str(each.shape) for each in found[:4])
        raise ValueError(printable(f"elements of the shapes {shapes} cannot be concatenated along dimension {axis}"))
    return [np.stack(found, axis) if new else np.concatenate(found, axis)]


@host_operator("Optional", sequences=True)
def _optional(node: SourceNode, inputs: Sequence[Any], opset: int) -> Sequence[Any]:
    return [_given(inputs, 0)]


@host_operator("OptionalHasElement", sequences=True)
def _has_element(node: SourceNode, inputs: Sequence[Any], opset: int) -> Sequence[Any]:
    return [np.array(_given(inputs, 0) is not None)]


@host_operator("OptionalGetElement", sequences=True)
def _element(node: SourceNode, inputs: Sequence[Any], opset: int) -> Sequence[Any]:
    if _given(inputs, 0) is None:
        raise ValueError("the optional value is empty")
    return [inputs[0]]
