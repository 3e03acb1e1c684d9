"""NonMaxSuppression between the segments of a course: calls that are kept for the shapes of the last ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from weakref import ref

import _cffi_backend
import numpy as np

from pysimd._library import ffi, lib
from pysimd.annotations import Array
from pysimd.calls import number_of
from pysimd.network.convert.regions import chosen_boxes
from pysimd.network.source import SourceNode

_MOST_KEPT = 64  # shapes
_PARAMETERS = ffi.typeof("SimdnetNonMaxSuppressionParameters *")
_FLOATS = ffi.typeof("float[]")
_from_buffer: Any = _cffi_backend.from_buffer


class ChosenBoxes:
    """A node. To make the arguments of a call takes as long as a choice among 100 boxes."""

    def __init__(self, node: SourceNode, constants: Mapping[str, Any]) -> None:
        limits = [constants.get(name) if name else None for name in node.inputs[2:]]
        is_known = all(not name or name in constants for name in node.inputs[2:])
        self._limits = [None if each is None else np.asarray(each).item() for each in limits] if is_known else None
        self._idle: dict[Any, list[Any]] = {}  # arguments with arrays for results, which no thread uses now

    def __call__(self, node: SourceNode, inputs: Sequence[Any], opset: int) -> Sequence[Any]:
        """The chosen boxes, as of a function of :mod:`pysimd.network.courses.host_operators`."""
        boxes, scores = inputs[:2]
        key: Any = boxes.shape, boxes.dtype, scores.shape, scores.dtype
        if self._limits is None:
            key = *key, *[None if each is None else each.item() for each in inputs[2:]]
        idle = self._idle.get(key)
        try:
            parameters, chosen, last = made = idle.pop()  # type: ignore[union-attr]
            if last[0]() is not boxes or last[1]() is not scores:  # else they are those of the last call, in the same place
                parameters.boxes, parameters.scores = [_from_buffer(_FLOATS, each) for each in (boxes, scores)]
                last[:] = ref(boxes), ref(scores)
        except (AttributeError, IndexError, ValueError, BufferError):  # there is none, or an array is not dense
            return (self._first(node, inputs, key),)
        found = number_of(lib.SimdnetNonMaxSuppression, parameters)
        result = chosen[:found].copy()
        idle.append(made)  # type: ignore[union-attr]
        return (result,)

    def _first(self, node: SourceNode, inputs: Sequence[Any], key: Any) -> Array:
        """The chosen boxes, with all checks; later calls of the same shapes and numbers need none."""
        result: Array = chosen_boxes(node, *inputs)
        boxes, scores, *others = inputs
        most, overlap, least, *_ = (*(None if each is None else each.item() for each in others), None, None, None)
        if boxes.dtype == scores.dtype == np.float32 and most is not None and most > 0:
            if len(self._idle) >= _MOST_KEPT:
                self._idle.clear()
            self._idle.setdefault(key, []).append(_made(node, boxes, scores, most, overlap, least))
        return result


def _made(
    node: SourceNode, boxes: Array, scores: Array, most: int, overlap: Any, least: Any
) -> tuple[Any, Array, list[Any]]:
    """The arguments of a call, the array for its result, and the arrays to which boxes and scores point: none yet."""
    batch, classes, count = scores.shape
    most = min(int(most), count)
    chosen = np.empty((batch * classes * most, 3), np.int64)
    members = {
        "size": ffi.sizeof(_PARAMETERS.item),
        "batch": batch,
        "classes": classes,
        "count": count,
        "maxOutput": most,
        "iouThreshold": overlap or 0.0,
        "scoreThreshold": least or 0.0,
        "useScoreThreshold": least is not None,
        "center": bool(node.attributes.get("center_point_box", 0)),
        "selected": ffi.cast("int64_t *", ffi.from_buffer(chosen)),
        "capacity": len(chosen),
    }
    return ffi.new(_PARAMETERS, members), chosen, [_none, _none]


def _none() -> None:
    """In place of a weak reference to an array."""
