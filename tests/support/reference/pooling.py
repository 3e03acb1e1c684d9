"""Pooling."""

from __future__ import annotations

from typing import Any

import numpy as np

from support.reference.numbers import EPS, TINY, Array


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
