"""Non-maximum suppression."""

from __future__ import annotations

import numpy as np

from pysimd._arrays import INT64, floats, pointer
from pysimd._geometry import number
from pysimd._library import ffi, lib
from pysimd.annotations import Floats, IndexArray
from pysimd.calls import number_of
from pysimd.errors import shown

_PARAMETERS = ffi.typeof("SimdnetNonMaxSuppressionParameters *")
_SIZE = ffi.sizeof(_PARAMETERS.item)


def non_max_suppression(
    boxes: Floats,
    scores: Floats,
    max_output: int | None = None,
    *,
    iou_threshold: float = 0.0,
    score_threshold: float | None = None,
    center: bool = False,
) -> IndexArray:
    """The best boxes of each class that do not overlap a better one of the class too much: NonMaxSuppression of ONNX.

    boxes : float32 of shape (N, count, 4), contiguous: two opposite corners (y1, x1, y2, x2).
    scores : float32 of shape (N, classes, count), contiguous.
    max_output : at most so many boxes of each class of each image; None for all.
    iou_threshold : boxes whose intersection with a selected one, divided by the area of their union, is larger are left out.
    score_threshold : only boxes with a larger score are selected; None for all but those whose score is NaN.
    center : boxes are (x, y, width, height), x and y those of the centre.

    Returns int64 of shape (selected, 3): image, class and box, by image and class, each from the highest score on. The call
    cannot be prepared, since the shape of the result depends on the values.

    Raises TypeError for another dtype, ValueError for another shape or a threshold that is not in 0 .. 1.

    >>> boxes = np.array([[[0, 0, 2, 2], [0, 0, 2, 1.9], [5, 5, 6, 6]]], np.float32)
    >>> pysimd.non_max_suppression(boxes, np.array([[[0.5, 0.9, 0.8]]], np.float32), iou_threshold=0.5)
    array([[0, 0, 1],
           [0, 0, 2]])

    Formula: SimdnetNonMaxSuppression.
    """
    (array, box), (values, score) = floats(boxes, "boxes"), floats(scores, "scores")
    if array.ndim != 3 or array.shape[2] != 4:
        raise ValueError(f"boxes has shape {array.shape}, expected (N, count, 4)")
    batch, count, _ = array.shape
    if values.ndim != 3 or values.shape[0] != batch or values.shape[2] != count:
        raise ValueError(f"scores has shape {values.shape}, expected ({batch}, classes, {count})")
    most = count if max_output is None else min(number(max_output, "max_output", 0), count)
    if not isinstance(iou_threshold, (int, float, np.number)):
        raise TypeError(f"iou_threshold is {shown(iou_threshold)}, expected a number")
    classes = values.shape[1]
    selected = np.empty((batch * classes * most, 3), np.int64)
    parameters = {
        "size": _SIZE,
        "boxes": box,
        "scores": score,
        "batch": batch,
        "classes": classes,
        "count": count,
        "maxOutput": most,
        "iouThreshold": iou_threshold,
        "scoreThreshold": 0 if score_threshold is None else score_threshold,
        "useScoreThreshold": score_threshold is not None,
        "center": bool(center),
        "selected": pointer(selected, "selected", INT64, True),
        "capacity": len(selected),
    }
    found = number_of(lib.SimdnetNonMaxSuppression, ffi.new(_PARAMETERS, parameters))
    return selected[:found].copy()
