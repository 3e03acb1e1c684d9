"""Layers of bytes and of bfloat16 numbers: convolutions and pooling."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Callable

import numpy as np

from bench import arrays
from bench.cases.case import FORMATS, MAKERS, Case, Prepared, at, bfloats, bind, floats, parameters, placed_in
from bench.cases.layers import of_layer, square
from bench.layers import (
    AVERAGE,
    Block,
    Layer,
    from_layout,
    quantised,
    values_of,
)
from pysimd._library import ffi, lib


def convolution_8i(layout: str, shape: str, o: int, kernel: int, stride: int = 1, *, aim: float | None = None) -> Case:
    """Bytes in, bytes out."""
    layer = square(shape, o, kernel, stride)

    def prepare() -> Prepared:
        conv = parameters(layer, layout)
        conv.srcT = conv.dstT = lib.SimdTensorData8u
        values = values_of(layer)
        numbers = quantised(values)
        src, dst = placed_in(numbers.src, layout), placed_in(np.zeros(layer.dst, np.uint8), layout)
        weight = arrays.placed(values.weight.transpose(2, 3, 1, 0) if layout == "nhwc" else values.weight)
        limits = floats(4, max(layer.c, layer.o))
        limits[:] = np.array([[0], [1], [0], [numbers.most]])
        stats = ffi.new("float *[]", [at(limit) for limit in limits])
        context = ffi.gc(lib.SimdSynetConvolution8iInit(1, conv), lib.SimdRelease)
        lib.SimdSynetConvolution8iSetParams(context, at(weight), ffi.NULL, ffi.NULL, stats)
        u = "uint8_t *"
        return Prepared(
            bind(lib.SimdSynetConvolution8iForward, context, at(src, u), ffi.NULL, at(dst, u)),
            flops=2 * layer.multiplications,
            arithmetic="dot",
            info=ffi.string(lib.SimdnetContextInfo(context)).decode(),
            keep=(src, dst),
            values=(values,),
            result=lambda: from_layout(dst * np.float32(numbers.dst_step), layout),
        )

    return Case("convolution_8i", f"8i {layer}", layout, prepare, aim_peak=aim, subject=Block((layer,), quantised=True))


def convolution_16b(layout: str, shape: str, o: int, kernel: int, stride: int = 1, *, aim: float | None = None) -> Case:
    """bfloat16 in and out; depthwise convolutions are computed in floats."""
    layer = square(shape, o, kernel, stride)

    def prepare() -> Prepared:
        conv = parameters(layer, layout)
        conv.srcT = conv.dstT = lib.SimdTensorData16b
        src, dst = bfloats(layer.c, layer.h, layer.w), bfloats(*layer.dst)
        weight = floats(layer.multiplications // (layer.dst[1] * layer.dst[2]))
        context = ffi.gc(lib.SimdnetConvolution16bInit(1, conv), lib.SimdRelease)
        lib.SimdnetConvolution16bSetParams(context, at(weight), ffi.NULL, ffi.NULL)
        u = "uint8_t *"
        return Prepared(
            bind(lib.SimdnetConvolution16bForward, context, at(src, u), ffi.NULL, at(dst, u)),
            flops=2 * layer.multiplications,
            arithmetic="bf16" if o else "fma",
            info=ffi.string(lib.SimdnetContextInfo(context)).decode(),
            keep=(src, dst),
        )

    return Case("convolution_16b", f"16b {layer}", layout, prepare, aim_peak=aim)


def _small_pooling_prepare(kind: str, layer: Layer, layout: str) -> Prepared:
    """bfloat16 or bytes; excludes padding."""
    make, ctype = MAKERS[kind]
    src, dst = make(*layer.src), make(*layer.dst)
    (c, h, w), (_, dst_h, dst_w) = layer.src, layer.dst

    def bound(rows: int) -> Callable[[], Any]:
        sizes = {"channels": c, "srcH": h, "srcW": w, "dstH": rows, "dstW": dst_w}
        p = ffi.new("SimdnetPoolingParameters *", {"batch": 1, **sizes})
        p.size = ffi.sizeof("SimdnetPoolingParameters")
        p.type = lib.SimdnetPoolingAverage if layer.kind == AVERAGE else lib.SimdnetPoolingMax
        p.dataType = lib.SimdTensorData16b if kind == "16b" else lib.SimdTensorData8u
        p.format, p.src, p.dst, p.excludePad = FORMATS[layout], at(src, ctype), at(dst, ctype), 1
        p.kernelY = p.kernelX = layer.kernel
        p.strideY = p.strideX = layer.stride
        p.padY = p.padX = layer.before
        return bind(lib.SimdnetPooling, p)

    return Prepared(bound(dst_h), bound(0), traffic=src.nbytes + dst.nbytes, keep=(src, dst))


def pooling(
    op: str, kind: str, layout: str, shape: str, kernel: int, stride: int, pad: int, aim_us: float | None = None
) -> Case:
    c, h, w = (int(n) for n in shape.split("x"))
    layer = Layer(op, c, h, w, c, kernel, stride, pad, pad)
    if kind == "32f":
        return replace(of_layer(layer, layout), aim_us=aim_us)
    name = str(layer).replace("32f", kind)
    return Case("pooling", name, layout, lambda: _small_pooling_prepare(kind, layer, layout), aim_us=aim_us)
