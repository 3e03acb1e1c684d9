"""Operators of regions of images by NumPy: pooling of regions, and the choice of boxes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from pysimd.annotations import Array
from pysimd.non_max_suppression import non_max_suppression
from pysimd.roi_align import roi_align as library_roi_align

_MOST_SAMPLES = 1 << 24  # of a region: their number follows from its size, which is in the data


class _Samples(NamedTuple):
    """Positions along a dimension: the elements on both sides of each, and the weights of these."""

    low: Array
    high: Array
    low_weight: Array
    high_weight: Array


def roi_align(node: Any, x: Array, rois: Array, batch: Array) -> Any:
    """RoiAlign; of float64 here."""
    mode, ratio = str(node.get("mode", "avg")), int(node.get("sampling_ratio", 0))
    size, scale = (int(node.get("output_height", 1)), int(node.get("output_width", 1))), node.get("spatial_scale", 1.0)
    half = node.opset >= 16 and node.get("coordinate_transformation_mode", "half_pixel") == "half_pixel"
    _check_regions(x, rois, batch, 4)
    if mode not in ("avg", "max") or min(size) < 1 or ratio < 0:
        raise ValueError(f"mode is {mode!r}, the output {size[0]}x{size[1]}, sampling_ratio {ratio}")
    shape = node.bounded((len(rois), x.shape[1], *size), x.dtype)
    if x.dtype != np.float64:
        floats = np.ascontiguousarray(x, np.float32), np.ascontiguousarray(rois, np.float32)
        how: Any = {"mode": mode, "half_pixel": half, "spatial_scale": scale, "sampling_ratio": ratio}
        return library_roi_align(*floats, np.ascontiguousarray(batch, np.int64), size, **how).astype(x.dtype)
    found = np.zeros(shape, x.dtype)
    images = np.ascontiguousarray(np.moveaxis(x, 1, -1))
    corners = rois * x.dtype.type(scale) - x.dtype.type(0.5 if half else 0)
    extents = corners[:, 2:] - corners[:, :2]
    extents = extents if half else np.maximum(extents, 1)
    pool = _mean_of_samples if mode == "avg" else _largest_sample
    for i, (image, start, extent) in enumerate(zip(batch, corners, extents)):
        bins = extent[::-1] / np.array(size, x.dtype)
        counts = [ratio or max(int(np.ceil(each)), 0) for each in np.nan_to_num(bins)]
        if counts[0] * size[0] * counts[1] * size[1] > _MOST_SAMPLES:
            raise ValueError(f"region {i} has {extent[1]:g}x{extent[0]:g} pixels, which is too large")
        if all(counts):
            rows, columns = (_samples(*each) for each in zip(x.shape[2:], start[1::-1], bins, size, counts))
            found[i] = np.moveaxis(pool(images[image], rows, columns, counts), -1, 0)
    return found


def _check_regions(x: Array, rois: Array, batch: Array, columns: int) -> None:
    if x.ndim != 4 or rois.ndim != 2 or rois.shape[1] != columns or batch.shape != rois.shape[:1]:
        raise ValueError(f"regions of the shape {rois.shape} with {batch.shape} images do not fit {x.shape}")
    if batch.size and not 0 <= batch.min() <= batch.max() < len(x):
        raise ValueError(f"a region is of image {batch.min()} or {batch.max()}, there are {len(x)}")


def _samples(n: int, start: Any, step: Any, size: int, count: int) -> _Samples:
    """Those of all bins of a dimension of n elements. Positions beyond its ends by more than 1 have weights of 0."""
    bins, parts = np.arange(size, dtype=step.dtype)[:, None], np.arange(count, dtype=step.dtype) + step.dtype.type(0.5)
    at = (start + bins * step + parts * step / step.dtype.type(count)).reshape(-1)
    inside = (at >= -1) & (at <= n)
    at = np.clip(np.where(inside, at, 0), 0, n - 1)
    low = at.astype(np.int64)
    share = at - low.astype(at.dtype)
    return _Samples(low, np.minimum(low + 1, n - 1), (1 - share) * inside, share * inside)


def _mean_of_samples(image: Array, rows: _Samples, columns: _Samples, counts: Sequence[int]) -> Array:
    first, last = columns.low.min(), columns.high.max() + 1
    part = _mean_along(image[:, first:last], rows, counts[0])
    columns = columns._replace(low=columns.low - first, high=columns.high - first)
    return _mean_along(part.swapaxes(0, 1), columns, counts[1]).swapaxes(0, 1)


def _mean_along(x: Array, at: _Samples, count: int) -> Array:
    """The means of the samples of each bin along the first dimension."""
    found: Array = x[at.low] * at.low_weight[:, None, None] + x[at.high] * at.high_weight[:, None, None]
    return np.mean(found.reshape(-1, count, *found.shape[1:]), 1)  # type: ignore[no-any-return]


def _largest_sample(image: Array, rows: _Samples, columns: _Samples, counts: Sequence[int]) -> Array:
    """As ONNX has it: the largest of the weighted elements, not of their sums."""
    largest: Any = -np.inf
    for row, row_weight in ((rows.low, rows.low_weight), (rows.high, rows.high_weight)):
        for column, weight in ((columns.low, columns.low_weight), (columns.high, columns.high_weight)):
            weights = row_weight[:, None] * weight
            largest = np.maximum(largest, image[row[:, None], column] * weights[..., None])
    height, width = len(rows.low) // counts[0], len(columns.low) // counts[1]
    return np.max(largest.reshape(height, counts[0], width, counts[1], -1), (1, 3))  # type: ignore[no-any-return]


def max_roi_pool(node: Any, x: Array, rois: Array) -> Any:
    """MaxRoiPool: the largest element of each bin, whose sides are whole pixels; 0 of a bin outside the image."""
    size, scale = node.numbers("pooled_shape", ()), x.dtype.type(node.get("spatial_scale", 1.0))
    _check_regions(x, rois, rois[:, 0].astype(np.int64), 5)
    if len(size) != 2 or min(size) < 1:
        raise ValueError(f"pooled_shape is {size}, expected two sizes")
    found = np.zeros(node.bounded((len(rois), x.shape[1], *size), x.dtype), x.dtype)
    scaled = rois[:, 1:] * scale
    corners = np.trunc(scaled + np.copysign(x.dtype.type(0.5), scaled)).astype(np.int64)  # halves away from 0
    for i, (image, (left, top, right, bottom)) in enumerate(zip(rois[:, 0].astype(np.int64), corners)):
        rows = _largest_in_bins(x[image], 1, top, bottom, size[0])
        found[i] = _largest_in_bins(rows, 2, left, right, size[1])
    return np.where(np.isneginf(found), x.dtype.type(0), found)


def _largest_in_bins(x: Array, axis: int, first: int, last: int, count: int) -> Array:
    """The largest elements of each bin of a dimension, -inf of none."""
    step, n = x.dtype.type(max(last - first + 1, 1)) / x.dtype.type(count), x.shape[axis]
    bins = np.arange(count + 1, dtype=x.dtype) * step
    starts, ends = (np.clip(each.astype(np.int64) + first, 0, n) for each in (np.floor(bins[:-1]), np.ceil(bins[1:])))
    lead = (slice(None),) * axis
    return np.stack([x[(*lead, slice(*each))].max(axis, initial=-np.inf) for each in zip(starts, ends)], axis)


def chosen_boxes(node: Any, boxes: Array, scores: Array, most: Any = None, iou: Any = None, score: Any = None) -> Any:
    """NonMaxSuppression. Without a number of boxes there are none."""
    given = [None if each is None else np.asarray(each).item() for each in (most, iou, score)]
    return non_max_suppression(
        np.ascontiguousarray(boxes, np.float32),
        np.ascontiguousarray(scores, np.float32),
        max(int(given[0] or 0), 0),
        iou_threshold=given[1] or 0.0,
        score_threshold=given[2],
        center=bool(node.attributes.get("center_point_box", 0)),
    )


def compressed(node: Any, x: Array, condition: Array) -> Any:
    """Compress. The condition may be shorter than the dimension."""
    axis = None if node.get("axis") is None else node.axis(0, x.ndim)
    return np.compress(condition.reshape(-1), x, axis)


def unique(node: Any, x: Array) -> Any:
    """Unique: the elements, or the parts along an axis, with their first places, the place of each, and their counts."""
    axis = None if node.get("axis") is None else node.axis(0, x.ndim)
    parts = x.reshape(-1) if axis is None else np.moveaxis(x, axis, 0)
    if parts.size == 0:  # parts without elements are all equal
        parts = np.zeros(len(parts), np.int8)
    elif axis is not None:
        parts = parts.reshape(len(parts), -1)
    _, first, inverse, counts = np.unique(parts, True, True, True, axis=0 if parts.ndim > 1 else None)
    inverse = inverse.reshape(-1)
    if not node.get("sorted", 1):
        order = np.argsort(first)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        first, inverse, counts = first[order], rank[inverse], counts[order]
    values = np.take(x.reshape(-1) if axis is None else x, first, axis=axis or 0)
    return tuple(each.astype(np.int64) if i else each for i, each in enumerate((values, first, inverse, counts)))


#: The operators of this module.
REGIONS: dict[str, Callable[..., Any]] = {
    "Compress": compressed,
    "MaxRoiPool": max_roi_pool,
    "NonMaxSuppression": chosen_boxes,
    "RoiAlign": roi_align,
    "Unique": unique,
}
