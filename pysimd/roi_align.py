"""Regions of images as grids of bins."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from pysimd._arrays import INT64, element_of, floats, output, plain, pointer
from pysimd._geometry import number, pair
from pysimd._library import ffi, lib
from pysimd.annotations import FloatArray, Floats, IndexArray, Pair
from pysimd.calls import call_struct
from pysimd.errors import shown


def roi_align(
    x: Floats,
    regions: Floats,
    images: IndexArray,
    size: Pair,
    *,
    spatial_scale: float = 1.0,
    sampling_ratio: int = 0,
    mode: Literal["avg", "max"] = "avg",
    half_pixel: bool = True,
    out: FloatArray | None = None,
) -> FloatArray:
    """Regions of images as grids of bins: RoiAlign of ONNX; ``torchvision.ops.roi_align`` with ``aligned=half_pixel``.

    x : float32 of shape (N, C, H, W), contiguous.
    regions : float32 of shape (count, 4), contiguous: the corners (x1, y1, x2, y2).
    images : int64 of shape (count,), contiguous: the image of each region.
    size : the bins of a region, (rows, columns), or one number for both.
    spatial_scale : by which corners are multiplied, more than 0.
    sampling_ratio : the samples of a bin along each dimension; 0 for about one for each element.
    mode : "avg", the mean of samples; "max", the largest of the elements times their weights.
    half_pixel : whether positions are those of the centres of elements.
    out : float32 of shape (count, C, rows, columns).

    Raises TypeError for another dtype, ValueError for another shape and for an image that does not exist.

    >>> x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
    >>> pysimd.roi_align(x, np.array([[0, 0, 4, 4]], np.float32), np.array([0]), 2)
    array([[[[ 2.5,  4.5],
             [10.5, 12.5]]]], dtype=float32)

    Formula: SimdnetRoiAlign.
    """
    (array, src), (corners, boxes), of = floats(x, "x"), floats(regions, "regions"), plain(images, "images", INT64)
    if array.ndim != 4:
        raise ValueError(f"x has shape {array.shape}, expected (N, C, H, W)")
    if corners.ndim != 2 or corners.shape[1] != 4:
        raise ValueError(f"regions has shape {corners.shape}, expected (count, 4)")
    if of.shape != corners.shape[:1]:
        raise ValueError(f"images has shape {of.shape}, expected {corners.shape[:1]}")
    element_of(of, "images", (INT64,))
    if mode not in ("avg", "max"):
        raise ValueError(f"mode is {shown(mode)}, expected 'avg' or 'max'")
    if not isinstance(spatial_scale, (int, float, np.number)):
        raise TypeError(f"spatial_scale is {shown(spatial_scale)}, expected a number")
    bins, places = pair(size, "size", 0), pointer(of, "images", INT64)
    result = (len(corners), array.shape[1], *bins)
    out, dst = output(out, result, (x, regions, images), ("x", "regions", "images"))
    given: dict[str, Any] = {"src": src, "regions": boxes, "images": places, "dst": dst, "count": len(corners)}
    sizes = dict(zip(("batch", "channels", "srcH", "srcW", "dstH", "dstW"), (*array.shape, *bins)))
    how = {"samplingRatio": number(sampling_ratio, "sampling_ratio", 0), "max": mode == "max", "halfPixel": bool(half_pixel)}
    arguments = ffi.new("SimdnetRoiAlignParameters *", given | sizes | how | {"spatialScale": float(spatial_scale)})
    arguments.size = ffi.sizeof("SimdnetRoiAlignParameters")
    call_struct(lib.SimdnetRoiAlign, arguments, held=given)
    return out
