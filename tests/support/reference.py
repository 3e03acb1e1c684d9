"""The second reference: what each function computes, in NumPy, written from the documentation and not from the C code.

Everything is slow and simple. Results that must be exact are computed in the element type; the others in float64, together
with a bound on the error of float32 arithmetic in any order. Images are (C, H, W) here; to_chw() and from_chw() convert them
from and to a layout.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

EPS = float(np.finfo(np.float32).eps) / 2  # the largest relative error of a rounding
TINY = float(np.finfo(np.float32).smallest_subnormal)
LOWEST = np.float32(-np.finfo(np.float32).max)

BLOCK = {"nchw4c": 4, "nchw8c": 8, "nchw16c": 16}


# ---------------------------------------------------------------------------------------------------- layouts


def to_chw(x: Array, layout: str, channels: int | None = None) -> Array:
    """One image as (C, H, W); from a blocked layout, only the first `channels` lanes."""
    if layout == "nchw":
        return x
    if layout == "nhwc":
        return np.moveaxis(x, 2, 0)
    blocks, height, width, lanes = x.shape
    return np.moveaxis(x, 3, 1).reshape(blocks * lanes, height, width)[:channels]


def from_chw(x: Array, layout: str) -> Array:
    """The inverse; unused lanes of the last block are 0."""
    if layout == "nchw":
        return np.ascontiguousarray(x)
    if layout == "nhwc":
        return np.ascontiguousarray(np.moveaxis(x, 0, 2))
    channels, height, width = x.shape
    lanes = BLOCK[layout]
    blocks = (channels + lanes - 1) // lanes
    full = np.zeros((blocks * lanes, height, width), x.dtype)
    full[:channels] = x
    return np.ascontiguousarray(np.moveaxis(full.reshape(blocks, lanes, height, width), 1, 3))


def filter_to_oiyx(weight: Array, layout: str, outputs: int | None = None) -> Array:
    """A filter as (O, I, kernel_y, kernel_x); from a blocked layout, only the first `outputs` lanes."""
    if layout == "oiyx":
        return weight
    if layout == "yxio":
        return np.transpose(weight, (3, 2, 0, 1))
    blocks, kernel_y, kernel_x, inputs, lanes = weight.shape
    return np.transpose(weight, (0, 4, 3, 1, 2)).reshape(blocks * lanes, inputs, kernel_y, kernel_x)[:outputs]


def filter_from_oiyx(weight: Array, layout: str) -> Array:
    """The inverse; unused lanes of the last block are 0."""
    if layout == "oiyx":
        return np.ascontiguousarray(weight)
    if layout == "yxio":
        return np.ascontiguousarray(np.transpose(weight, (2, 3, 1, 0)))
    outputs, inputs, kernel_y, kernel_x = weight.shape
    lanes = {"oyxi4o": 4, "oyxi8o": 8, "oyxi16o": 16}[layout]
    blocks = -(-outputs // lanes)
    full = np.zeros((blocks * lanes, inputs, kernel_y, kernel_x), weight.dtype)
    full[:outputs] = weight
    return np.ascontiguousarray(full.reshape(blocks, lanes, inputs, kernel_y, kernel_x).transpose(0, 3, 4, 2, 1))


# -------------------------------------------------------------------------------------------------- gathering


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


# --------------------------------------------------------------------------------------------------- bfloat16


def from_bfloat16(x: Array) -> Array:
    """bfloat16, as uint16, to float32: it is the upper half."""
    return (x.astype(np.uint32) << 16).view(np.float32)


def to_bfloat16(x: Array) -> Array:
    """float32 to bfloat16, as uint16: nearest, ties to even, found by comparing the two neighbours. NaN: any quiet one."""
    x = np.asarray(x, np.float32)
    bits = x.view(np.uint32)
    below = (bits >> 16).astype(np.uint16)  # towards zero
    above = (below + np.uint16(1)).astype(np.uint16)
    with np.errstate(invalid="ignore"):
        magnitude = np.abs(x.astype(np.float64))
        low = np.abs(from_bfloat16(below).astype(np.float64))
        # The next one away from zero. Beyond the largest finite value it is 2**128, which gives the tie required by IEEE
        # 754.
        high = np.abs(from_bfloat16(above).astype(np.float64))
        high = np.where(np.isinf(high), 2.0**128, high)
        up = (magnitude - low > high - magnitude) | ((magnitude - low == high - magnitude) & (below & 1 == 1))
    rounded = np.where(np.isinf(x), below, np.where(up, above, below)).astype(np.uint16)
    return np.where(np.isnan(x), np.uint16(0x7FC0), rounded)


# ---------------------------------------------------------------------------------------------------- pooling


def window_count(size: int, kernel: int, stride: int, before: int, after: int, ceil: bool) -> int:
    """The number of windows, counted by placing one after another."""
    count = 0
    while True:
        begin = count * stride
        whole = begin + kernel <= size + before + after
        reached = count > 0 and begin - stride + kernel >= size + before + after
        if not (whole or (ceil and not reached and begin < size + before)):
            return count
        count += 1


def _span(index: int, stride: int, pad: int, kernel: int, size: int) -> slice:
    begin = index * stride - pad
    return slice(max(0, begin), max(0, min(size, begin + kernel)))


def pooling_max(
    x: Array,
    kernel: tuple[int, ...],
    stride: tuple[int, ...],
    pad: tuple[int, ...],
    dst: tuple[int, ...],
    start: Any,
) -> Array:
    """The maximum over windows in (c, y, x), including `start`. For one channel at a time, the kernel is (1, ky, kx)."""
    out = np.empty(dst, x.dtype)
    for c, dy, dx in np.ndindex(*dst):
        at = tuple(_span(i, *w, n) for i, w, n in zip((c, dy, dx), zip(stride, pad, kernel), x.shape))
        out[c, dy, dx] = x[at].max(initial=start)
    return out


def pooling_average(
    x: Array,
    kernel: tuple[int, int],
    stride: tuple[int, int],
    pad: tuple[int, int],
    dst: tuple[int, int],
    exclude_pad: bool,
    end: tuple[int, int],
) -> tuple[Array, Array]:
    """The mean and its bound. `pad` is the padding before the image; padding, and windows that reach it, end at `end`."""
    x = x.astype(np.float64)
    shape = (x.shape[0], *dst)
    out, bound = np.empty(shape), np.empty(shape)
    for dy, dx in np.ndindex(*dst):
        ys = _span(dy, stride[0], pad[0], kernel[0], x.shape[1])
        xs = _span(dx, stride[1], pad[1], kernel[1], x.shape[2])
        cells = x[:, ys, xs].reshape(x.shape[0], -1)
        count = cells.shape[1]
        whole = [min(d * s - p + k, e) - (d * s - p) for d, s, p, k, e in zip((dy, dx), stride, pad, kernel, end)]
        divisor = count if exclude_pad else whole[0] * whole[1]
        with np.errstate(invalid="ignore", divide="ignore"):
            out[:, dy, dx] = cells.sum(1) / np.float64(divisor)
            bound[:, dy, dx] = (np.log2(max(count, 1)) + 8) * EPS * np.abs(cells).sum(1) / np.float64(divisor) + TINY
    return out, bound


# --------------------------------------------------------------------------------------------------- addition


def add_8i(a: Array, b: Array, scales: dict[str, Array], upper: int) -> Array:
    """float32, each operation rounded, in the documented order; (C, H, W)."""
    s = {name: values[:, None, None].astype(np.float32) for name, values in scales.items()}
    with np.errstate(all="ignore"):
        left = a.astype(np.float32) * s["a_scale"] + s["a_shift"]
        right = b.astype(np.float32) * s["b_scale"] + s["b_shift"]
        t = (left + right) * s["c_scale"] + s["c_shift"]
    rounded = np.rint(np.where(np.isnan(t), np.float32(0), t))
    return np.clip(rounded, 0, upper).astype(np.uint8)


def add_16b(a: Array, b: Array, bfloat16: bool) -> Array:
    """The sum of two arrays in float32; uint16 means bfloat16."""
    terms = [from_bfloat16(x) if x.dtype == np.uint16 else x for x in (a, b)]
    with np.errstate(all="ignore"):
        total = (terms[0] + terms[1]).astype(np.float32)
    return to_bfloat16(total) if bfloat16 else total


# -------------------------------------------------------------------------------------- channel-wise layers


def _positive(x: Array) -> Array:
    """max(0, x), where NaN gives NaN."""
    return np.where(x < 0, x.dtype.type(0), x)


def _negative(x: Array) -> Array:
    return np.where(x > 0, x.dtype.type(0), x)


def channelwise(layer: str, x: Array, x1: Array | None, terms: dict[str, Array | float]) -> tuple[Array, Array]:
    """One image (C, H, W) through a layer with one result, and its bound, 0 where the documentation fixes every rounding.

    x1 is the second source of fused8; terms are the coefficients by name, (C,) or one number.
    """
    exact = layer in ("add_bias", "prelu", "fused0", "fused3")
    kind = np.float32 if exact else np.float64
    x = x.astype(kind)
    y: Array
    t: dict[str, Any] = {
        k: kind(v) if np.ndim(v) == 0 else np.asarray(v).astype(kind)[:, None, None] for k, v in terms.items()
    }
    magnitude: Any = 0.0
    with np.errstate(all="ignore"):
        if layer == "add_bias":
            y = x + t["bias"]
        elif layer == "scale":
            bias = t.get("bias", kind(0))
            y = x * t["scale"] + bias
            magnitude = np.abs(x * t["scale"]) + np.abs(bias)
        elif layer == "prelu":
            y = _positive(x) + t["slope"] * _negative(x)
        elif layer == "fused0":
            v = x + t["bias"]
            y = (v - np.abs(v)) * t["scale"] + _positive(v)
        elif layer == "fused1":
            v = x + t["bias0"]
            y = _positive(-v) * t["scale1"] + t["bias1"] + _positive(v)
            magnitude = (np.abs(x) + np.abs(t["bias0"])) * (1 + np.abs(t["scale1"])) + np.abs(t["bias1"])
        elif layer == "fused2":
            v = x * t["scale"] + t["bias"]
            y = _positive(v) + _negative(v) * t["slope"]
            magnitude = (np.abs(x * t["scale"]) + np.abs(t["bias"])) * (1 + np.abs(t["slope"]))
        elif layer == "fused3":
            v = x + t["bias"]
            y = _positive(v) + _negative(v) * t["slope"]
        else:
            assert layer == "fused8"
            assert x1 is not None
            y = x + x1.astype(kind) * t["scale"]
            magnitude = np.abs(x) + np.abs(x1.astype(kind) * t["scale"])
    return y, np.zeros(y.shape) if exact else 5 * EPS * magnitude + 4 * TINY


def fused4(x: Array, bias0: Array, scale1: float, bias1: float) -> tuple[Array, Array]:
    """Both halves, concatenated, and their bound."""
    x, bias = x.astype(np.float64), bias0.astype(np.float64)[:, None, None]
    s, t = np.float64(np.float32(scale1)), np.float64(np.float32(bias1))
    v, size = x + bias, np.abs(x) + np.abs(bias)
    bound = 5 * EPS * np.concatenate([size, size * np.abs(s) + np.abs(t)]) + 4 * TINY
    return np.concatenate([_positive(v), _positive(v * s + t)]), bound


def fused9(x0: Array, x1: Array, scale: Array, bias: Array) -> tuple[Array, Array, Array]:
    """The first result, its bound, and the second result."""
    both = np.concatenate([x0, x1])
    product = both.astype(np.float64) * scale.astype(np.float64)[:, None, None]
    terms = bias.astype(np.float64)[:, None, None]
    return _positive(product + terms), 3 * EPS * (np.abs(product) + np.abs(terms)) + 2 * TINY, both


# ------------------------------------------------------------------------------------- activations and softmax


def relu(x: Array, slope: float) -> Array:
    """At most one product that is not 0, so exact; NaN propagates. With slope 0 there is no product, so -inf gives 0."""
    if slope == 0:
        return np.where(x < 0, np.float32(0), x)
    s = np.float32(slope)
    with np.errstate(all="ignore"):
        positive = np.where(x < 0, np.float32(0), x)
        negative = np.where(x > 0, np.float32(0), x)
        return (positive + s * negative).astype(np.float32)


def replace(a: Array, b: Array) -> Array:
    """b, but a where b is NaN."""
    return np.where(np.isnan(b), a, b)


def pointwise(name: str, x: Array, *params: float) -> tuple[Array, float]:
    """An activation or a unary operation in float64, and its error in units in the last place; 0 if it is exact.

    Operations of the formula on x before exp, log or tanh are rounded to float32, as in the library; the others are not.
    """
    p = [np.float32(value).astype(np.float64) for value in params]
    with np.errstate(invalid="ignore"):  # a NaN may be signalling
        x = x.astype(np.float64)

    def times(factor: Any) -> Array:
        rounded: Array = (factor * x).astype(np.float32)
        return rounded.astype(np.float64)

    with np.errstate(all="ignore"):
        if name == "elu":
            return np.where(x >= 0, x, p[0] * np.expm1(x)), 2
        if name == "hswish":
            low = np.where(p[0] < x, p[0], x).astype(np.float32)
            gate = np.maximum(low + np.float32(p[0]), np.float32(0)) * np.float32(p[1])
            return gate * x.astype(np.float32), 0
        if name == "restrict_range":
            return np.where(np.isnan(x), x, np.minimum(np.maximum(p[0], x), p[1])), 0
        if name == "sigmoid":
            return 1 / (1 + np.exp(-times(p[0]))), 2
        if name == "softplus":
            return np.where(x > p[1], x, np.logaddexp(0, times(p[0])) / p[0]), 2
        if name == "tanh":
            return np.tanh(times(p[0])), 2
        if name == "swish":
            return x / (1 + np.exp(-times(p[0]))), 3
        if name == "mish":
            return np.where(x > p[0], x, x * np.tanh(np.logaddexp(0, x))), 5
        if name == "hard_sigmoid":
            sums = times(p[0]).astype(np.float32) + np.float32(p[1])
            return np.where(np.isnan(sums), sums, np.clip(sums, 0, 1)), 0
        if name == "gelu":
            return x * np.vectorize(math.erfc, otypes=[np.float64])(x * -(0.5**0.5)) / 2, 4
        if name == "erf":
            return np.vectorize(math.erf, otypes=[np.float64])(x), 2
        if name == "rsqrt":
            return 1 / np.sqrt(x), 2
        if name == "reciprocal":
            return np.reciprocal(x.astype(np.float32)), 0
        return getattr(np, name)(x), 2 if name in ("exp", "log", "sin", "cos") else 0


def activate(v: Array, activation: str, params: Array | None, axis: int) -> Any:
    """The activation of a convolution, applied to its sums in float64; `axis` is that of the channels."""
    p = np.zeros(0) if params is None else params.astype(np.float64)
    if activation == "identity":
        return v
    if activation == "relu":
        return np.maximum(0, v)
    if activation == "leaky_relu":
        return np.maximum(0, v) + p[0] * np.minimum(0, v)
    if activation == "restrict_range":
        return np.minimum(np.maximum(p[0], v), p[1])
    if activation == "prelu":
        slopes = p.reshape([-1 if i == axis else 1 for i in range(v.ndim)])
        return np.maximum(0, v) + slopes * np.minimum(0, v)
    if activation == "elu":
        return np.where(v >= 0, v, p[0] * np.expm1(np.minimum(v, 0)))
    if activation == "hswish":
        return np.maximum(np.minimum(v, p[0]) + p[0], 0) * p[1] * v
    if activation == "mish":
        return np.where(v > p[0], v, v * np.tanh(np.logaddexp(0, v)))
    if activation == "hard_sigmoid":
        return np.clip(v * p[0] + p[1], 0, 1)
    if activation == "swish":
        return v / (1 + np.exp(-p[0] * v))
    if activation == "gelu":
        return v * np.vectorize(math.erfc, otypes=[np.float64])(v * -(0.5**0.5)) / 2
    if activation == "sigmoid":
        return 1 / (1 + np.exp(-v))
    raise AssertionError(activation)


def activated(bound: Array, activation: str, params: Array | None, sums: Array) -> Any:
    """The bound after the activation: its largest slope times the bound of the sum, plus its own few roundings."""
    p = np.zeros(1) if params is None else np.abs(params.astype(np.float64))
    slope = {"leaky_relu": 1 + p.max(), "prelu": 1 + p.max(), "elu": max(1.0, p.max())}.get(activation, 1.0)
    if activation == "hswish":
        slope = 3 * p[1] * (p[0] + np.abs(sums))
    if activation in ("mish", "swish", "gelu"):
        slope = 1.2
    largest = 1 if activation == "sigmoid" else p.max()
    return bound * slope + 8 * EPS * (np.abs(sums) * slope + largest)


def softmax(x: Array, axis: int) -> tuple[Array, Array]:
    """Softmax and its bound: 2 ULP of exp, the rounding of v - max, n additions, a division."""
    x = x.astype(np.float64)
    shifted = x - x.max(axis=axis, keepdims=True)
    e = np.exp(shifted)
    out = e / e.sum(axis=axis, keepdims=True)
    relative = (4 + 4 + x.shape[axis] + 2) * EPS + 2 * EPS * np.abs(shifted).max(axis=axis, keepdims=True)
    return out, relative * out + 4 * TINY


def lrn(x: Array, size: int, alpha: float, beta: float, bias: float) -> tuple[Array, Array]:
    """Local response normalization of (C, H, W), and its bound: 1e-6 of the result."""
    squares = x.astype(np.float64) ** 2
    half, channels = size // 2, x.shape[0]
    sums = np.stack([squares[max(0, c - half) : c + half + 1].sum(axis=0) for c in range(channels)])
    base = np.float64(np.float32(bias)) + np.float64(np.float32(alpha / size)) * sums
    out = x.astype(np.float64) * base ** np.float64(np.float32(-beta))
    return out, 1e-6 * max(1, abs(beta)) * np.abs(out) + TINY


def normalized(
    x: Array, axes: tuple[int, ...], weight: Array, bias: Array, eps: float, *, centred: bool = True
) -> tuple[Array, Array]:
    """(x - mean) / sqrt(variance + eps) * weight + bias, or x / sqrt(sum of squares + eps) * weight, and its bound."""
    x, eps, count = x.astype(np.float64), np.float64(np.float32(eps)), np.prod([x.shape[axis] for axis in axes])
    mean = x.mean(axis=axes, keepdims=True) if centred else np.zeros(1)
    squares = ((x - mean) ** 2).sum(axis=axes, keepdims=True)
    base = eps + (squares / count if centred else squares)
    by, additions = np.abs(weight) / np.sqrt(base), 12 + min(count, 300)
    off = (additions + 2) * EPS * np.abs(x).mean(axis=axes, keepdims=True) if centred else np.zeros(1)
    relative = (additions + 10) * EPS + off**2 / base
    out = (x - mean) / np.sqrt(base) * weight + bias
    return out, by * (off + np.abs(x - mean) * relative) + 4 * EPS * (np.abs(out) + np.abs(bias)) + TINY


def response(x: Array, axes: tuple[int, ...], weight: Array, bias: Array, eps: float) -> tuple[Array, Array]:
    """x * (1 + weight * g / (mean of g + eps)) + bias of a batch, g the length of each channel, and its bound."""
    x = x.astype(np.float64)
    g = np.sqrt((x * x).sum(axis=axes, keepdims=True))
    channels = tuple(i for i in range(1, x.ndim) if i not in axes)
    by = weight * g / (g.mean(axis=channels, keepdims=True) + np.float64(np.float32(eps)))
    return x * (1 + by) + bias, 4 * EPS * (np.abs(x) * (1 + np.abs(by) * 300) + np.abs(bias)) + TINY


def eltwise(arrays: list[Array], operation: str, weights: Array | None) -> tuple[Array, Array]:
    """The combination of the arrays, and its bound: 0 except for sums."""
    if operation == "sum":
        factors = np.ones(len(arrays)) if weights is None else weights.astype(np.float64)
        terms = [a.astype(np.float64) * w for a, w in zip(arrays, factors)]
        return np.sum(terms, axis=0), (len(arrays) + 1) * EPS * np.sum(np.abs(terms), axis=0) + len(arrays) * TINY
    out = arrays[0]
    for a in arrays[1:]:
        out = out * a if operation == "product" else np.where(out > a if operation == "max" else out < a, out, a)
    return out.astype(np.float64), np.zeros(out.shape)


# ------------------------------------------------------------------------------------ sums of products


def inner_product(x: Array, weight: Array, bias: Array | None) -> tuple[Array, Array]:
    """weight @ x + bias for the last axis of x, and its bound."""
    x, weight = x.astype(np.float64), weight.astype(np.float64)
    terms = np.zeros(weight.shape[0]) if bias is None else bias.astype(np.float64)
    magnitude = np.abs(x) @ np.abs(weight).T + np.abs(terms)
    return x @ weight.T + terms, (x.shape[-1] + 1) * EPS * magnitude + TINY


def gemm(a: Array, b: Array, alpha: float, beta: float, c: Array) -> tuple[Array, Array]:
    """alpha * a @ b + beta * c, where factors of 0 are treated as in BLAS, and its bound."""
    shape, depth = (a.shape[0], b.shape[1]), a.shape[1]
    product, magnitude = np.zeros(shape), np.zeros(shape)
    if alpha != 0:
        a, b = a.astype(np.float64), b.astype(np.float64)
        product, magnitude = alpha * (a @ b), abs(alpha) * (np.abs(a) @ np.abs(b))
    if beta != 0:
        old = beta * c.astype(np.float64)
        product, magnitude = product + old, magnitude + np.abs(old)
    return product, (depth + 4) * 2 * EPS * magnitude + TINY


def convolution(
    x: Array,
    weight: Array,
    bias: Array | None,
    stride: tuple[int, int],
    dilation: tuple[int, int],
    pad: tuple[int, int, int, int],
    group: int,
) -> tuple[Array, Array]:
    """The sums of one image (C, H, W) with weights (O, C / group, ky, kx), before the activation, and their bound."""
    x, weight = x.astype(np.float64), weight.astype(np.float64)
    outputs, inputs, kernel_y, kernel_x = weight.shape
    top, left, bottom, right = pad
    padded = np.pad(x, ((0, 0), (top, bottom), (left, right)))
    height = (padded.shape[1] - (dilation[0] * (kernel_y - 1) + 1)) // stride[0] + 1
    width = (padded.shape[2] - (dilation[1] * (kernel_x - 1) + 1)) // stride[1] + 1
    out, magnitude = np.zeros((outputs, height, width)), np.zeros((outputs, height, width))
    per = outputs // group
    for g, ky, kx in np.ndindex(group, kernel_y, kernel_x):
        image = padded[g * inputs : (g + 1) * inputs]
        y, xx = ky * dilation[0], kx * dilation[1]
        taps = image[:, y : y + (height - 1) * stride[0] + 1 : stride[0], xx : xx + (width - 1) * stride[1] + 1 : stride[1]]
        w = weight[g * per : (g + 1) * per, :, ky, kx]
        out[g * per : (g + 1) * per] += np.tensordot(w, taps, 1)
        magnitude[g * per : (g + 1) * per] += np.tensordot(np.abs(w), np.abs(taps), 1)
    if bias is not None:
        out += bias.astype(np.float64)[:, None, None]
        magnitude += np.abs(bias.astype(np.float64))[:, None, None]
    return out, (inputs * kernel_y * kernel_x + 1) * EPS * magnitude + TINY


def merged_convolution(x: Array, stages: list[tuple[Any, ...]], add: bool) -> tuple[Array, Array]:
    """The result of the stages for one image (C, H, W), and the bound: each stage adds its own rounding to the error of its
    source, as amplified by its weights and activation. A stage: weight (O, I, ky, kx), bias, stride, pad, group, activation
    and its params.
    """
    value, error = x.astype(np.float64), np.zeros(x.shape)
    for i, (weight, bias, stride, pad, group, activation, params) in enumerate(stages):
        sums, bound = convolution(value, weight, bias, stride, (1, 1), pad, group)
        carried, _ = convolution(error, np.abs(weight), None, stride, (1, 1), pad, group)
        if add and i == 2:
            sums, bound = sums + x, bound + 2 * EPS * np.abs(x)
        value = activate(sums, activation, params, 0)
        error = activated(bound + 1.01 * carried, activation, params, sums)
    return value, error


def quantisation(low: Array, high: Array) -> tuple[Array, np.float32]:
    """The scales of the channels of a tensor, and the byte that represents 0."""
    negative = bool((low < 0).any())
    inverse = np.maximum(np.abs(low), np.abs(high)).astype(np.float32) / np.float32(127 if negative else 255)
    inverse[inverse < np.float32(1e-7)] = 1
    return np.float32(1) / inverse, np.float32(128 if negative else 0)


def to_bytes(v: Array) -> Array:
    """Nearest bytes of float32 values, ties to even; 0 for NaN."""
    return np.rint(np.where(np.isnan(v), 0, np.clip(v, 0, 255))).astype(np.uint8)


def convolution_8i(
    x: Array,
    weight: Array,
    bias: Array | None,
    stats: tuple[Array, Array, Array, Array],
    geometry: tuple[Any, ...],
    activation: str,
    params: Array | None,
    dst_dtype: Any,
) -> Array:
    """One image (C, H, W), float32 or uint8, with weights (O, C / group, ky, kx), in the header's float32 operations."""
    stride, dilation, pad, group = geometry
    (scale, zero), (dst_scale, dst_zero) = quantisation(*stats[:2]), quantisation(*stats[2:])
    inputs, per = weight.shape[1], len(weight) // group
    channels = np.add.outer(np.arange(len(weight)) // per * inputs, np.arange(inputs))
    with np.errstate(all="ignore"):
        n = weight / scale[channels][:, :, None, None]
        ws = np.float32(127) / np.abs(n).max(axis=(1, 2, 3), initial=0).astype(np.float32)
        w8 = np.nan_to_num(np.rint(np.clip(n * ws[:, None, None, None], -128, 127))).astype(np.int64)
        empty = np.isinf(ws)
        w8[empty] = 0
        norm = np.where(empty, np.float32(0), np.float32(1) / ws)
        terms = (int(zero) * w8.sum(axis=(1, 2, 3))).astype(np.float32) / ws
        b = (np.zeros(len(weight), np.float32) if bias is None else bias) - terms
        bytes_ = x if x.dtype == np.uint8 else to_bytes(x * scale[:, None, None] + zero)
    shifted = bytes_.astype(np.int64) - int(zero)  # so that the padding is 0
    sums = convolution(shifted, w8, None, stride, dilation, pad, group)[0].astype(np.int64)
    sums = (sums + int(zero) * w8.sum(axis=(1, 2, 3))[:, None, None]).astype(np.float32)
    v = sums * norm[:, None, None] + b[:, None, None]
    v = activate_32f(v, activation, params)
    return v if dst_dtype == np.float32 else to_bytes(v * dst_scale[:, None, None] + dst_zero)


def convolution_16b(
    x: Array,
    weight: Array,
    bias: Array | None,
    geometry: tuple[Any, ...],
    activation: str,
    params: Array | None,
    small: bool,
) -> tuple[Array, Array]:
    """One image (C, H, W), float32 or bfloat16 as uint16, before its result is rounded, and the bound of the result, which
    is bfloat16 where `small`: the float chain's, what numbers below 2^-126 add that may count as 0, and half a unit."""
    stride, dilation, pad, group = geometry
    numbers = from_bfloat16(x if x.dtype == np.uint16 else to_bfloat16(x))
    weights = from_bfloat16(to_bfloat16(weight))
    sums, bound = convolution(numbers, weights, bias, stride, dilation, pad, group)
    v = activate(sums, activation, params, 0)
    terms = weight[0].size
    bound = activated(bound + (2 * terms + 3) * 2.0**-126, activation, params, sums) + 2.0**-126
    return v, bound + 2.0**-8 * (np.abs(v) + bound) * small


def activate_32f(v: Array, activation: str, params: Array | None) -> Any:
    """`activate` for (C, H, W) in float32 operations, except for those with exp."""
    p = np.zeros(1, np.float32) if params is None else params
    if activation == "elu":
        return np.where(v >= 0, v, (p[0] * np.expm1(np.minimum(v, 0).astype(np.float64))).astype(np.float32))
    if activation in ("leaky_relu", "prelu"):
        slopes = p.reshape(-1, 1, 1)
        return np.maximum(np.float32(0), v) + slopes * np.minimum(np.float32(0), v)
    if activation == "hswish":
        return np.maximum(np.minimum(v, p[0]) + p[0], np.float32(0)) * p[1] * v
    if activation == "hard_sigmoid":
        return np.maximum(np.minimum(v * p[0] + p[1], np.float32(1)), np.float32(0))
    if activation == "swish":
        return (v / (1 + np.exp(-(p[0] * v).astype(np.float64)))).astype(np.float32)
    if activation in ("mish", "gelu", "sigmoid"):
        return activate(v.astype(np.float64), activation, params, 0).astype(np.float32)
    limits = {"relu": (np.float32(0), np.float32(np.inf)), "restrict_range": (p[0], p[-1])}
    low, high = limits.get(activation, (np.float32(-np.inf), np.float32(np.inf)))
    return np.minimum(np.maximum(low, v), high)


def winograd_bound(
    x: Array,
    weight: Array,
    bias: Array | None,
    pad: tuple[int, int, int, int],
    block: int,
    stride: int = 1,
    dilation: tuple[int, int] = (1, 1),
) -> Array:
    """The bound of a convolution by F(block, kernel): the header's, plus the addition of the bias.

    Along each axis, the tiles of outputs ``dilation`` apart that begin at output 0, at 1, and so on.
    """
    kernel = weight.shape[2:]
    before, after = pad[:2], pad[2:]
    dst, tiles, added = [], [], [(0, 0)]
    for axis, (taps, d) in enumerate(zip(kernel, dilation)):
        size = (x.shape[1 + axis] + before[axis] + after[axis] - (taps - 1) * d - 1) // stride + 1
        outputs = block if taps > 1 else 1
        reach = (stride * (outputs - 1) + taps) * d
        firsts = [first for phase in range(d) for first in range(phase, size, outputs * d)]
        dst.append(size)
        tiles.append([(slice(at, at + outputs * d, d), slice(at * stride, at * stride + reach, d)) for at in firsts])
        added.append((before[axis], after[axis] + stride * outputs * d))
    padded = np.pad(np.abs(x.astype(np.float64)), added)
    sums = np.abs(weight.astype(np.float64)).sum((2, 3))
    bound = np.zeros((len(weight), *dst))
    for to_y, from_y in tiles[0]:
        for to_x, from_x in tiles[1]:
            bound[:, to_y, to_x] = (sums @ padded[:, from_y, from_x].max((1, 2)))[:, None, None]
    terms = 0 if bias is None else np.abs(bias.astype(np.float64))[:, None, None]
    k = 16 if 1 in kernel or 5 in kernel else {1: {2: 4, 3: 12, 4: 32}, 2: {2: 2, 4: 12}}[stride][block]
    return k * EPS * bound + 2 * EPS * (terms + bound) + TINY


def deconvolution(
    x: Array,
    weight: Array,
    bias: Array | None,
    stride: tuple[int, int],
    dilation: tuple[int, int],
    pad: tuple[int, int, int, int],
    group: int,
) -> tuple[Array, Array]:
    """The sums of one image (C, H, W) with weights (C, O / group, ky, kx), before the activation, and their bound.

    Each input lays the kernel, multiplied by it, on the output; what is padding is then cut off.
    """
    x, weight = x.astype(np.float64), weight.astype(np.float64)
    inputs, per, kernel_y, kernel_x = weight.shape
    size = [stride[i] * (x.shape[1 + i] - 1) + dilation[i] * (weight.shape[2 + i] - 1) + 1 for i in (0, 1)]
    out, magnitude, terms = (np.zeros((per * group, *size)) for _ in range(3))
    of_group = inputs // group
    for g, ky, kx in np.ndindex(group, kernel_y, kernel_x):
        image, w = x[g * of_group : (g + 1) * of_group], weight[g * of_group : (g + 1) * of_group, :, ky, kx]
        y, xx = ky * dilation[0], kx * dilation[1]
        bottom, right = y + stride[0] * (x.shape[1] - 1) + 1, xx + stride[1] * (x.shape[2] - 1) + 1
        at = np.s_[g * per : (g + 1) * per, y : bottom : stride[0], xx : right : stride[1]]
        out[at] += np.tensordot(w.T, image, 1)
        magnitude[at] += np.tensordot(np.abs(w.T), np.abs(image), 1)
        terms[at] += of_group
    top, left, bottom, right = pad
    out, magnitude, terms = (a[:, top : size[0] - bottom, left : size[1] - right] for a in (out, magnitude, terms))
    if bias is not None:
        out = out + bias.astype(np.float64)[:, None, None]
        magnitude = magnitude + np.abs(bias.astype(np.float64))[:, None, None]
    return out, (terms + 1) * EPS * magnitude + TINY


# --------------------------------------------------------------------------------------------------- winograd


def _thirds(text: str) -> Array:
    """Rows of a matrix, as fractions."""
    return np.array([[float(Fraction(number)) for number in row.split()] for row in text.split(",")])


_B_5 = "2 -1 -2 1 0, 0 -2 -1 1 0, 0 2 -3 1 0, 0 -1 0 1 0, 0 2 -1 -2 1"
#: (taps, outputs): G, B', A'
WINOGRAD = {
    (3, 4): (
        "1/4 0 0, -1/6 -1/6 -1/6, -1/6 1/6 -1/6, 1/24 1/12 1/6, 1/24 -1/12 1/6, 0 0 1",
        "4 0 -5 0 1 0, 0 -4 -4 1 1 0, 0 4 -4 -1 1 0, 0 -2 -1 2 1 0, 0 2 -1 -2 1 0, 0 4 0 -5 0 1",
        "1 1 1 1 1 0, 0 1 -1 2 -2 0, 0 1 1 4 4 0, 0 1 -1 8 -8 1",
    ),
    (5, 4): (
        "1/36 0 0 0 0, 1/48 1/48 1/48 1/48 1/48, 1/48 -1/48 1/48 -1/48 1/48, -1/120 -2/120 -4/120 -8/120 -16/120, "
        "-1/120 2/120 -4/120 8/120 -16/120, 1/720 3/720 9/720 27/720 81/720, 1/720 -3/720 9/720 -27/720 81/720, 0 0 0 0 1",
        "36 0 -49 0 14 0 -1 0, 0 36 36 -13 -13 1 1 0, 0 -36 36 13 -13 -1 1 0, 0 18 9 -20 -10 2 1 0, "
        "0 -18 9 20 -10 -2 1 0, 0 12 4 -15 -5 3 1 0, 0 -12 4 15 -5 -3 1 0, 0 -36 0 49 0 -14 0 1",
        "1 1 1 1 1 1 1 0, 0 1 -1 2 -2 3 -3 0, 0 1 1 4 4 9 9 0, 0 1 -1 8 -8 27 -27 1",
    ),
    (2, 2): ("1 0, 1 1, 0 1", "1 -1 0, 0 1 0, 0 -1 1", "1 1 0, 0 1 1"),
    (2, 4): ("1/2 0, -1/2 -1/2, -1/6 1/6, 1/6 1/3, 0 1", _B_5, "1 1 1 1 0, 0 1 -1 2 0, 0 1 1 4 0, 0 1 -1 8 1"),
    (3, 2): ("1 0 0, 1/2 1/2 1/2, 1/2 -1/2 1/2, 0 0 1", "1 0 -1 0, 0 1 1 0, 0 -1 1 0, 0 1 0 -1", "1 1 1 0, 0 1 -1 -1"),
    (3, 3): (
        "1/2 0 0, -1/2 -1/2 -1/2, -1/6 1/6 -1/6, 1/6 1/3 2/3, 0 0 1",
        _B_5,
        "1 1 1 1 0, 0 1 -1 2 0, 0 1 1 4 1",
    ),
}

Kind = tuple[tuple[int, int], tuple[int, int]]


def _two_sided(which: int, kind: Kind, values: Array) -> tuple[Array, Array]:
    """matrix @ values @ matrix.T over the last two axes, without the left factor for a single row; with its error bound."""
    (ky, kx), (by, bx) = kind
    right = _thirds(WINOGRAD[kx, bx][which])
    left = np.ones((1, 1)) if ky == 1 else _thirds(WINOGRAD[ky, by][which])
    values = values.astype(np.float64)
    result = left @ values @ right.T
    return result, 16 * EPS * (np.abs(left) @ np.abs(values) @ np.abs(right).T) + 64 * TINY


def winograd_filter(weight: Array, kind: Kind) -> tuple[Array, Array]:
    """Filters (D, C, ky, kx) to coefficients (T, D, C), and the bound."""
    u, bound = _two_sided(0, kind, weight)
    return tuple(np.moveaxis(a.reshape(*weight.shape[:2], -1), 2, 0) for a in (u, bound))  # type: ignore[return-value]


def winograd_input(x: Array, kind: Kind, pad: tuple[int, int, int, int]) -> tuple[Array, Array]:
    """An image (C, H, W) to coefficients (T, C, tiles), and the bound."""
    (ky, kx), (by, bx) = kind
    top, left, bottom, right = pad
    tiles_y = -(-(x.shape[1] + top + bottom - ky + 1) // by)
    tiles_x = -(-(x.shape[2] + left + right - kx + 1) // bx)
    whole = np.zeros((x.shape[0], tiles_y * by + ky - 1 + x.shape[1], tiles_x * bx + kx - 1 + x.shape[2]), x.dtype)
    whole[:, top : top + x.shape[1], left : left + x.shape[2]] = x
    tiles = [
        whole[:, i * by : i * by + by + ky - 1, j * bx : j * bx + bx + kx - 1]
        for i in range(tiles_y)
        for j in range(tiles_x)
    ]
    v, bound = _two_sided(1, kind, np.stack(tiles, 1))
    return tuple(np.moveaxis(a.reshape(*a.shape[:2], -1), 2, 0) for a in (v, bound))  # type: ignore[return-value]


def winograd_output(m: Array, kind: Kind, height: int, width: int) -> tuple[Array, Array]:
    """Products (T, D, tiles) to an image (D, height, width), and the bound."""
    (ky, kx), (by, bx) = kind
    tiles_y, tiles_x = -(-height // by), -(-width // bx)
    products = np.moveaxis(m, 0, 2).reshape(m.shape[1], tiles_y, tiles_x, by + ky - 1, bx + kx - 1)
    both = _two_sided(2, kind, products)
    images = [np.moveaxis(a, 3, 2).reshape(m.shape[1], tiles_y * by, tiles_x * bx) for a in both]
    return images[0][:, :height, :width], images[1][:, :height, :width]


# ------------------------------------------------------------------------------------------------- recurrent layers


def _sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


#: The activations of recurrent layers, as functions of an array and their numbers.
RECURRENT: dict[str, Any] = {
    "affine": lambda x, alpha, beta: alpha * x + beta,
    "elu": lambda x, alpha: np.where(x >= 0, x, alpha * np.expm1(np.minimum(x, 0))),
    "hard_sigmoid": lambda x, alpha, beta: np.clip(alpha * x + beta, 0, 1),
    "leaky_relu": lambda x, alpha: np.where(x >= 0, x, alpha * x),
    "relu": lambda x: np.maximum(x, 0),
    "scaled_tanh": lambda x, alpha, beta: alpha * np.tanh(beta * x),
    "sigmoid": _sigmoid,
    "softplus": lambda x: np.logaddexp(0, x),
    "softsign": lambda x: x / (1 + np.abs(x)),
    "tanh": np.tanh,
    "thresholded_relu": lambda x, alpha: np.where(x >= alpha, x, 0),
}


def _functions(given: Any, usual: tuple[str, ...], clip: float | None, directions: int) -> list[list[Any]]:
    """The activations f, g and h of each direction; given : a name and numbers for each, or None."""

    def function(place: int, name: str, *numbers: float) -> Any:
        bound = np.inf if clip is None or place == 2 else clip
        return lambda x: RECURRENT[name](np.clip(x, -bound, bound), *numbers)

    chosen = [(name,) for name in usual] * directions if given is None else list(given)
    places = len(usual)
    return [[function(i, *chosen[d * places + i]) for i in range(places)] for d in range(directions)]


def _lstm_step(x: Array, h: Array, c: Array, w: Array, r: Array, b: Array, p: Array, functions: Any, forget: bool) -> Any:
    f_of, g_of, h_of = functions
    i, o, f, g = np.split(w @ x + r @ h + b[0] + b[1], 4)
    p_i, p_o, p_f = np.split(p, 3)
    i = f_of(i + p_i * c)
    f = 1 - i if forget else f_of(f + p_f * c)
    c = f * c + i * g_of(g)
    return f_of(o + p_o * c) * h_of(c), c


def _gru_step(x: Array, h: Array, w: Array, r: Array, b: Array, linear: bool, functions: Any) -> Array:
    f_of, g_of = functions
    (w_z, w_r, w_h), (r_z, r_r, r_h) = np.split(w, 3), np.split(r, 3)
    (a_z, a_r, a_h), (b_z, b_r, b_h) = np.split(b[0], 3), np.split(b[1], 3)
    z = f_of(w_z @ x + r_z @ h + a_z + b_z)
    reset = f_of(w_r @ x + r_r @ h + a_r + b_r)
    inner = reset * (r_h @ h + b_h) if linear else r_h @ (reset * h) + b_h
    return np.asarray((1 - z) * g_of(w_h @ x + a_h + inner) + z * h)


def _recurrent(
    x: Array, direction: str, hidden: int, lengths: Any, states: list[Any], step: Any
) -> tuple[Array, list[Array]]:
    """The states after all steps, and the last ones; step(d, x, *states) computes the states of direction d."""
    steps, batch, _ = x.shape
    reverse = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}[direction]
    y = np.zeros((steps, len(reverse), batch, hidden))
    last = [np.zeros(y.shape[1:]) if state is None else state.astype(np.float64) for state in states]
    for d, turned in enumerate(reverse):
        for n in range(batch):
            order = range(steps if lengths is None else lengths[n])
            for t in reversed(order) if turned else order:
                for state, value in zip(last, step(d, x[t, n].astype(np.float64), *[state[d, n] for state in last])):
                    state[d, n] = value
                y[t, d, n] = last[0][d, n]
    return y, last


def _bias(b: Any, directions: int, rows: int) -> Array:
    return np.zeros((directions, 2, rows)) if b is None else b.reshape(directions, 2, -1).astype(np.float64)


def lstm(
    x: Array,
    w: Array,
    r: Array,
    b: Any,
    p: Any,
    direction: str,
    h0: Any = None,
    c0: Any = None,
    lengths: Any = None,
    activations: Any = None,
    clip: float | None = None,
    input_forget: bool = False,
) -> tuple[Array, ...]:
    """(Y, Y_h, Y_c) of LSTM of ONNX."""
    hidden = r.shape[-1]
    both = _bias(b, len(w), 4 * hidden)
    peephole = np.zeros((len(w), 3 * hidden)) if p is None else p.astype(np.float64)
    functions = _functions(activations, ("sigmoid", "tanh", "tanh"), clip, len(w))

    def step(d: int, x: Array, h: Array, c: Array) -> Any:
        weights = w[d].astype(np.float64), r[d].astype(np.float64), both[d], peephole[d]
        return _lstm_step(x, h, c, *weights, functions[d], input_forget)

    y, last = _recurrent(x, direction, hidden, lengths, [h0, c0], step)
    return (y, *last)


def gru(
    x: Array,
    w: Array,
    r: Array,
    b: Any,
    direction: str,
    linear: bool,
    h0: Any = None,
    lengths: Any = None,
    activations: Any = None,
    clip: float | None = None,
) -> tuple[Array, ...]:
    """(Y, Y_h) of GRU of ONNX."""
    hidden = r.shape[-1]
    both = _bias(b, len(w), 3 * hidden)
    functions = _functions(activations, ("sigmoid", "tanh"), clip, len(w))

    def step(d: int, x: Array, h: Array) -> Any:
        return [_gru_step(x, h, w[d].astype(np.float64), r[d].astype(np.float64), both[d], linear, functions[d])]

    y, last = _recurrent(x, direction, hidden, lengths, [h0], step)
    return (y, *last)


def rnn(
    x: Array,
    w: Array,
    r: Array,
    b: Any,
    direction: str,
    h0: Any = None,
    lengths: Any = None,
    activations: Any = None,
    clip: float | None = None,
) -> tuple[Array, ...]:
    """(Y, Y_h) of RNN of ONNX."""
    hidden = r.shape[-1]
    both = _bias(b, len(w), hidden)
    functions = _functions(activations, ("tanh",), clip, len(w))

    def step(d: int, x: Array, h: Array) -> Any:
        return [functions[d][0](w[d].astype(np.float64) @ x + r[d].astype(np.float64) @ h + both[d].sum(0))]

    y, last = _recurrent(x, direction, hidden, lengths, [h0], step)
    return (y, *last)
