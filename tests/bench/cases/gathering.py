"""Elements at indices and positions, the largest values, and sums and scales of channels."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from bench import arrays
from bench.cases.case import FORMATS, Case, Prepared, at, bfloats, bind, floats
from pysimd._library import ffi, lib

_BYTES = "uint8_t *"


def _indices(count: int, *shape: int) -> np.ndarray:
    return arrays.placed(np.random.default_rng(2).integers(0, count, shape))


def tiled_scale(layout: str, c: int, h: int, w: int) -> Case:
    def prepare() -> Prepared:
        src, ver, hor, dst = floats(c, h, w), floats(c, w), floats(c, h), floats(c, h, w)

        def bound(rows: int) -> Callable[[], Any]:
            factors = at(ver), at(hor)
            return bind(lib.SimdSynetTiledScale2D32f, at(src), c, rows, w, FORMATS[layout], *factors, at(dst))

        return Prepared(bound(h), bound(0), traffic=2 * dst.nbytes, keep=(src, ver, hor, dst))

    return Case("tiled_scale", f"{c}x{h}x{w}", layout, prepare)


def channel_sum(layout: str, c: int, s: int) -> Case:
    def prepare() -> Prepared:
        src, dst = bfloats(c, s), floats(c)

        def bound(n: int) -> Callable[[], Any]:
            return bind(lib.SimdSynetChannelSum16b, at(src, "uint16_t *"), n, s, FORMATS[layout], at(dst))

        return Prepared(bound(c), bound(0), traffic=src.nbytes, keep=(src, dst))

    return Case("channel_sum", f"{c}x{s}", layout, prepare)


def grid_sample(mode: str, c: int, h: int, w: int) -> Case:
    """Positions that are near those of the elements, as of a small motion."""

    def prepare() -> Prepared:
        src, dst = floats(1, c, h, w), floats(1, c, h, w)
        positions = np.stack(np.meshgrid(np.linspace(-1, 1, w), np.linspace(-1, 1, h)), -1)
        grid = arrays.placed((positions + 0.02 * floats(h, w, 2)).astype(np.float32))
        interp = getattr(lib, f"SimdGridSampleInterp{mode}")
        options = lib.SimdTensorData32f, interp, lib.SimdGridSamplePaddingZeros, lib.SimdFalse
        context = ffi.gc(lib.SimdSynetGridSample2dInit(1, c, h, w, h, w, *options), lib.SimdRelease)
        call = bind(lib.SimdSynetGridSample2dForward, context, at(src, _BYTES), at(grid, _BYTES), at(dst, _BYTES))
        return Prepared(call, traffic=2 * dst.nbytes + grid.nbytes, keep=(src, grid, dst, context))

    return Case("grid_sample", f"{mode.lower()} {c}x{h}x{w}", "nchw", prepare)


def resize(method: str, layout: str, c: int, h: int, w: int, dst_h: int, dst_w: int) -> Case:
    """An image by the usual rules of networks: nearest neighbours as they come, others by the centres of pixels."""

    def prepare() -> Prepared:
        src, dst = floats(1, c, h, w), floats(1, c, dst_h, dst_w)
        parameters = ffi.new("SimdnetResizeParameters *")
        parameters.size, parameters.dataType = ffi.sizeof(parameters[0]), lib.SimdTensorData32f
        parameters.format, parameters.batch, parameters.channels = FORMATS[layout], 1, c
        parameters.srcH, parameters.srcW, parameters.dstH, parameters.dstW = h, w, dst_h, dst_w
        parameters.method = getattr(lib, f"SimdnetResize{method}")
        if method == "Nearest":
            parameters.coordinates, parameters.rounding = lib.SimdnetResizeAsymmetric, lib.SimdnetResizeFloor
        context = ffi.gc(lib.SimdnetResizeInit(parameters), lib.SimdRelease)
        call = bind(lib.SimdnetResizeForward, context, at(src, "void *"), at(dst, "void *"))
        return Prepared(call, traffic=src.nbytes + dst.nbytes, keep=(src, dst, context))

    return Case("resize", f"{method.lower()} {c}x{h}x{w} -> {dst_h}x{dst_w}", layout, prepare)


def gather(count: int, inner: int, indices: int) -> Case:
    def prepare() -> Prepared:
        src, index, dst = floats(count, inner), _indices(count, indices), floats(indices, inner)

        def bound(n: int) -> Callable[[], Any]:
            sizes = lib.SimdTensorData32f, at(src, "void *"), 1, count, inner
            return bind(lib.SimdnetGather, *sizes, at(index, "int64_t *"), n, at(dst, "void *"))

        return Prepared(bound(indices), bound(0), traffic=2 * dst.nbytes + index.nbytes, keep=(src, index, dst))

    return Case("gather", f"{indices} of {count}x{inner}", "-", prepare)


def gather_elements(outer: int, count: int, selected: int) -> Case:
    def prepare() -> Prepared:
        src, index, dst = floats(outer, count), _indices(count, outer, selected), floats(outer, selected)
        sizes = ffi.new("size_t[]", [outer]), 1, count, 1, selected
        made = lib.SimdSynetGatherElementsInit(lib.SimdTensorData32f, lib.SimdTensorData64i, lib.SimdFalse, 1, *sizes)
        context = ffi.gc(made, lib.SimdRelease)
        call = bind(lib.SimdSynetGatherElementsForward, context, at(src, _BYTES), at(index, _BYTES), at(dst, _BYTES))
        return Prepared(call, traffic=2 * dst.nbytes + index.nbytes, keep=(src, index, dst, context))

    return Case("gather_elements", f"{outer}x{selected} of {count}", "-", prepare)


def top_k(outer: int, count: int, k: int) -> Case:
    def prepare() -> Prepared:
        src, values, indices = floats(outer, count), floats(outer, k), _indices(count, outer, k)

        def bound(n: int) -> Callable[[], Any]:
            options = k, lib.SimdTrue, lib.SimdTrue
            return bind(lib.SimdnetTopK, at(src), n, count, 1, *options, at(values), at(indices, "int64_t *"))

        return Prepared(bound(outer), bound(0), traffic=src.nbytes, keep=(src, values, indices))

    return Case("top_k", f"{k} of {outer}x{count}", "-", prepare)
