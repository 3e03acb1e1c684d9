"""What selects, moves or adds up elements."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from support.reference.numbers import EPS, Array


def cast(x: Array, dtype: np.dtype[Any]) -> Array:
    """In another type; floats by the rules of the x86 instructions, one by one."""
    if x.dtype.kind != "f" or dtype.kind not in "iu":
        return x.astype(dtype)
    bits = 64 if dtype.itemsize == 8 else 32
    most = 2**64 if dtype == np.uint64 else 2 ** (bits - 1)
    numbers = [int(n) if -(2 ** (bits - 1)) <= n < most else -(2 ** (bits - 1)) for n in x.reshape(-1).tolist()]
    low = np.array([n % 2 ** (8 * dtype.itemsize) for n in numbers], np.dtype(f"u{dtype.itemsize}"))
    return low.view(dtype).reshape(x.shape)


def tiled_scale(x: Array, ver: Array, hor: Array) -> Array:
    """(C, H, W) with factors (C, W) and (C, H); float32, operation by operation."""
    scaled: Array = (x * ver[:, None, :]) * hor[:, :, None]
    return scaled


def channel_sum(x: Array) -> tuple[Array, Array]:
    """The sums of (C, H, W) and their bound."""
    x = x.astype(np.float64)
    return x.sum((1, 2)), (x[0].size + 1) * EPS * np.abs(x).sum((1, 2))


def _mirrored(v: float, low: float, high: float) -> float:
    """Reflected at the bounds until it is between them."""
    if high <= low:
        return low
    distance = (v - low) % (2 * (high - low))
    return low + min(distance, 2 * (high - low) - distance)


def _taps(v: float, mode: str) -> list[tuple[int, float]]:
    """The elements that a coordinate lies between, with their weights (Keys' for a = -0.75)."""
    first = math.floor(v)
    if mode == "nearest":
        return [(first, 1.0)]
    if mode == "bilinear":
        return [(first, 1 - (v - first)), (first + 1, v - first)]
    made = []
    for k in range(first - 1, first + 3):
        d = abs(v - k)
        near, far = 1.25 * d**3 - 2.25 * d**2 + 1, -0.75 * (d**3 - 5 * d**2 + 8 * d - 4)
        made.append((k, near if d <= 1 else far))
    return made


def grid_sample(x: Array, grid: Array, mode: str, padding: str, align: bool) -> tuple[Array, Array]:
    """GridSample of ONNX for images (N, C, H, W), and a bound; the coordinates are computed in float32."""
    sizes = x.shape[3], x.shape[2]
    low = [0.0 if align else -0.5] * 2
    high = [size - 1 - bound for size, bound in zip(sizes, low)]
    result = np.zeros((*x.shape[:2], *grid.shape[1:3]))

    def element(n: int, index: list[int]) -> Array:
        if padding == "zeros" and not all(0 <= i < size for i, size in zip(index, sizes)):
            return np.zeros(x.shape[1])
        if padding == "border":
            index = [min(max(i, 0), size - 1) for i, size in zip(index, sizes)]
        elif padding == "reflection":
            index = [int(_mirrored(i, a, b)) for i, a, b in zip(index, low, high)]
        return x[n, :, index[1], index[0]].astype(np.float64)

    for n, row, column in np.ndindex(*grid.shape[:3]):
        g = grid[n, row, column]
        scales = [np.float32(size) for size in sizes]
        at32 = [(v + 1) / 2 * (s - 1) if align else ((v + 1) * s - 1) / 2 for v, s in zip(g, scales)]
        at = [float(np.rint(v)) if mode == "nearest" else float(v) for v in at32]
        if any(not a <= v <= b for v, a, b in zip(at, low, high)):
            if padding == "border" and mode != "bicubic":
                at = [min(max(v, 0.0), size - 1.0) for v, size in zip(at, sizes)]
            elif padding == "reflection":
                at = [_mirrored(v, a, b) for v, a, b in zip(at, low, high)]
        for i, weight_y in _taps(at[1], mode):
            for k, weight_x in _taps(at[0], mode):
                result[n, :, row, column] += weight_y * weight_x * element(n, [k, i])
    return result, np.full(result.shape, 16 * (8 + sum(sizes)) * EPS * np.abs(x).max(initial=0))


def _bin_samples(first: Array, last: Array, bins: int, ratio: int, half: bool) -> tuple[Array, bool]:
    """Positions of the samples of each bin, (bins, samples), in float32."""
    start = first - np.float32(0.5 if half else 0)
    extent = (last - np.float32(0.5 if half else 0)) - start
    step = (extent if half else np.fmax(extent, np.float32(1))) / np.float32(bins)
    count = ratio or (max(int(np.ceil(step)), 0) if np.isfinite(step) else 0)
    k = np.arange(count, dtype=np.float32) + np.float32(0.5)
    return start + np.arange(bins, dtype=np.float32)[:, None] * step + k * step / np.float32(max(count, 1)), count > 0


def roi_align(
    x: Array, regions: Array, images: Array, size: tuple[int, int], scale: float, ratio: int, mode: str, half: bool
) -> tuple[Array, Array]:
    """RoiAlign of ONNX for images (N, C, H, W), and a bound, one sample at a time."""
    result = np.zeros((len(regions), x.shape[1], *size))
    for n, region in enumerate(regions * np.float32(scale)):
        ys, some_y = _bin_samples(region[1], region[3], size[0], ratio, half)
        xs, some_x = _bin_samples(region[0], region[2], size[1], ratio, half)
        for row, column in np.ndindex(*size) if some_y and some_x else ():
            products = []
            for y, at in itertools.product(ys[row], xs[column]):
                inside = -1 <= y <= x.shape[2] and -1 <= at <= x.shape[3]
                places = [np.clip(float(v), 0, most - 1) for v, most in ((y, x.shape[2]), (at, x.shape[3]))]
                for i, k in itertools.product((0, 1), (0, 1)):
                    index = [min(int(v) + d, most - 1) for v, d, most in zip(places, (i, k), x.shape[2:])]
                    weights = [v - int(v) if d else 1 - (v - int(v)) for v, d in zip(places, (i, k))]
                    products.append(inside * np.prod(weights) * x[images[n], :, index[0], index[1]].astype(np.float64))
            total = np.sum(products, 0) / (len(products) / 4)
            result[n, :, row, column] = np.max(products, 0) if mode == "max" else total
    return result, np.full(result.shape, 16 * (8 + sum(x.shape[2:])) * EPS * np.abs(x).max(initial=0))


def top_k(x: Array, k: int, axis: int, largest: bool) -> tuple[Array, Array]:
    """Values and indices; NaN is the largest, and of equal values the first one is the best."""
    finite = np.where(np.isnan(x), np.inf, x).astype(np.float64)
    order = np.where(np.isnan(x), 2, finite == np.inf)  # of values that are equal otherwise
    keys = (np.broadcast_to(np.expand_dims(np.arange(x.shape[axis]), tuple(range(1, x.ndim - axis))), x.shape),)
    sign = -1 if largest else 1
    indices = np.lexsort((*keys, sign * order, sign * finite), axis=axis).take(range(k), axis)
    return np.take_along_axis(x, indices, axis), indices


def _overlap(a: Array, b: Array) -> float:
    """The intersection of two boxes (y1, x1, y2, x2), divided by the area of their union."""
    a, b = np.sort(a.reshape(2, 2), axis=0), np.sort(b.reshape(2, 2), axis=0)
    common = np.prod(np.maximum(np.minimum(a[1], b[1]) - np.maximum(a[0], b[0]), 0))
    union = np.prod(a[1] - a[0]) + np.prod(b[1] - b[0]) - common
    return float(common / union) if common > 0 else 0.0


def non_max_suppression(
    boxes: Array, scores: Array, most: int, iou: float, threshold: float | None = None, center: bool = False
) -> Array:
    """NonMaxSuppression of ONNX."""
    boxes = boxes.astype(np.float64)
    if center:
        middle, half = boxes[..., 1::-1], boxes[..., :1:-1] / 2
        boxes = np.concatenate([middle - half, middle + half], -1)
    selected = []
    for n, c in np.ndindex(*scores.shape[:2]):
        kept: list[int] = []
        for i in np.argsort(-scores[n, c], kind="stable"):
            wanted = scores[n, c, i] > threshold if threshold is not None else not np.isnan(scores[n, c, i])
            if wanted and len(kept) < most and all(_overlap(boxes[n, i], boxes[n, k]) <= iou for k in kept):
                kept.append(int(i))
        selected += [(n, c, i) for i in kept]
    return np.array(selected, np.int64).reshape(-1, 3)


def set_input(image: Array, pixel_format: str, channels: int, lower: Array, upper: Array) -> Array:
    """A picture as (channels, H, W): blue, green, red, or gray; float32, operation by operation."""
    if pixel_format == "gray8":
        bgr = np.stack([image] * 3)
    else:
        bgr = np.moveaxis(image[..., :3], 2, 0)
        bgr = bgr[::-1] if pixel_format == "rgb24" else bgr
    if channels == 1:
        blue, green, red = bgr.astype(np.int64)
        bgr = image[None] if pixel_format == "gray8" else ((1868 * blue + 9617 * green + 4899 * red + 8192) // 16384)[None]
    scale = (upper.astype(np.float32) - lower.astype(np.float32)) / np.float32(255)
    return bgr.astype(np.float32) * scale[:, None, None] + lower.astype(np.float32)[:, None, None]
