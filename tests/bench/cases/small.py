"""Layers of bytes and of bfloat16 numbers: convolutions and pooling."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Callable

import numpy as np

from bench import arrays
from bench.cases.case import FORMATS, MAKERS, Case, Prepared, at, bfloats, bind, chain, floats, parameters, placed_in
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
    return replace(of_layer_8i(square(shape, o, kernel, stride), layout), aim_peak=aim)


def of_layer_8i(layer: Layer, layout: str) -> Case:
    """Bytes in, bytes out."""
    block = Block((layer,), quantised=True)

    def prepare() -> Prepared:
        conv = parameters(layer, layout)
        conv.srcT = conv.dstT = lib.SimdTensorData8u
        values = values_of(layer)
        numbers = quantised(values)
        src, dst = placed_in(numbers.src, layout), placed_in(np.zeros(block.images(layer.dst), np.uint8), layout)
        weight = arrays.placed(values.weight.transpose(2, 3, 1, 0) if layout == "nhwc" else values.weight)
        limits = floats(4, max(layer.c, layer.o))
        limits[:] = np.array([[0], [1], [0], [numbers.most]])
        stats = ffi.new("float *[]", [at(limit) for limit in limits])
        context = ffi.gc(lib.SimdSynetConvolution8iInit(layer.batch, conv), lib.SimdRelease)
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

    return Case("convolution_8i", f"8i {layer}", layout, prepare, subject=block)


def convolution_16b(layout: str, shape: str, o: int, kernel: int, stride: int = 1, *, aim: float | None = None) -> Case:
    return replace(of_layer_16b(square(shape, o, kernel, stride), layout), aim_peak=aim)


def of_layer_16b(layer: Layer, layout: str) -> Case:
    """bfloat16 in and out, and weights that are such numbers; most depthwise convolutions are computed in floats."""
    images = Block((layer,)).images

    def prepare() -> Prepared:
        conv = parameters(layer, layout)
        conv.srcT = conv.dstT = lib.SimdTensorData16b
        src, dst = bfloats(*images(layer.src)), bfloats(*images(layer.dst))
        weight = floats(*layer.weight)
        weight.view(np.uint32)[...] &= 0xFFFF0000  # as those of networks of such numbers
        context = ffi.gc(lib.SimdSynetConvolution16bInit(layer.batch, conv, 0), lib.SimdRelease)
        lib.SimdSynetConvolution16bSetParams(context, at(weight), ffi.NULL, ffi.NULL)
        u = "uint8_t *"
        return Prepared(
            bind(lib.SimdSynetConvolution16bForward, context, at(src, u), ffi.NULL, at(dst, u)),
            flops=2 * layer.multiplications,
            arithmetic="fma" if layer.group == layer.c > 1 else "bf16",
            info=ffi.string(lib.SimdnetContextInfo(context)).decode(),
            keep=(src, dst),
        )

    return Case("convolution_16b", f"16b {layer}", layout, prepare)


def of_pooling(kind: str, block: Block, layout: str) -> Case:
    """The case of pooling floats, bfloat16 numbers or bytes, several times if there are several layers; excludes padding.
    Peers have that of floats."""
    layer, (make, ctype) = block.layers[0], MAKERS[kind]
    (c, h, w), (_, dst_h, dst_w) = layer.src, layer.dst

    def bound(src: np.ndarray, dst: np.ndarray, rows: int = dst_h) -> Callable[[], Any]:
        sizes = {"channels": c, "srcH": h, "srcW": w, "dstH": rows, "dstW": dst_w}
        p = ffi.new("SimdnetPoolingParameters *", {"batch": layer.batch, **sizes})
        p.size = ffi.sizeof("SimdnetPoolingParameters")
        p.type = lib.SimdnetPoolingAverage if layer.kind == AVERAGE else lib.SimdnetPoolingMax
        p.dataType = getattr(lib, f"SimdTensorData{kind}")
        p.format, p.src, p.dst, p.excludePad = FORMATS[layout], at(src, ctype), at(dst, ctype), 1
        p.kernelY, p.kernelX = layer.window
        p.strideY = p.strideX = layer.stride
        p.padY, p.padX = layer.pads[:2]
        return bind(lib.SimdnetPooling, p)

    def prepare() -> Prepared:
        values = values_of(layer) if kind == "32f" else None
        src = placed_in(values.src, layout) if values else make(*block.images(layer.src))
        shape = placed_in(np.zeros(block.images(layer.dst), np.uint8), layout).shape
        dst = make(*shape)
        return Prepared(
            chain([bound] * count, src, dst),
            chain([partial(bound, rows=0)] * count, src, dst),
            traffic=(src.nbytes + dst.nbytes) * count,
            keep=(src, dst),
            values=(values,) * count if values else (),
            result=(lambda: from_layout(dst, layout)) if values else None,
        )

    count = len(block.layers)
    name = (f"{count} times " if count > 1 else "") + str(layer).replace("32f", kind)
    return Case("pooling", name, layout, prepare, subject=block if kind == "32f" else None)


def pooling(
    op: str, kind: str, layout: str, shape: str, kernel: int, stride: int, pad: int, aim_us: float | None = None
) -> Case:
    c, h, w = (int(n) for n in shape.split("x"))
    layer = Layer(op, c, h, w, c, kernel, stride, pad, pad)
    if kind == "32f":
        return replace(of_layer(layer, layout), aim_us=aim_us)
    return replace(of_pooling(kind, Block((layer,)), layout), aim_us=aim_us)
