"""Layers of networks, which peers can build too: convolutions, deconvolutions, inner products and pooling of floats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Callable

import numpy as np

from bench import arrays
from bench.cases.case import FORMATS, Case, Prepared, at, bind, chain, parameters, placed_in
from bench.layers import (
    AVERAGE,
    CONVOLUTION,
    DECONVOLUTION,
    GRU,
    INNER_PRODUCT,
    LSTM,
    MAX,
    Block,
    Layer,
    from_layout,
    sequence_of,
    states_as_image,
    values_of,
)
from bench.models import layers_of
from pysimd._library import ffi, lib

# For each kind of layer whose images are those of one call: its functions, and the order of the axes of weights for NHWC.
_WEIGHTED: dict[str, tuple[str, tuple[int, ...]]] = {
    CONVOLUTION: ("SimdSynetConvolution32f", (2, 3, 1, 0)),
    DECONVOLUTION: ("SimdSynetDeconvolution32f", (0, 2, 3, 1)),
}


def _weighted_prepare(block: Block, layout: str) -> Prepared:
    """A convolution or deconvolution, or several equal ones one after the other. Each has weights of its own: a library
    might keep equal ones once, and find them in the caches."""
    layer, values = block.layers[0], values_of(block.layers[0])
    each = (values, *(replace(values_of(other), src=values.src) for other in block.layers[1:]))
    src = placed_in(values.src, layout)
    dst = placed_in(np.zeros(block.images(block.dst), np.float32), layout)
    name, axes = _WEIGHTED[layer.kind]
    init, set_params, forward = (getattr(lib, name + what) for what in ("Init", "SetParams", "Forward"))

    def bound(batch: int) -> tuple[Any, Callable[[], Any]]:
        contexts = [ffi.gc(init(batch, parameters(layer, layout), ffi.NULL), lib.SimdRelease) for _ in block.layers]
        for context, its in zip(contexts, each):
            weight = arrays.placed(its.weight.transpose(axes) if layout == "nhwc" else its.weight)
            bias = arrays.placed(its.bias)  # with a name: the pointers do not keep the arrays alive
            set_params(context, at(weight), ffi.NULL, at(bias), ffi.NULL)
        calls = [lambda x, y, its=context: bind(forward, its, at(x), ffi.NULL, at(y)) for context in contexts]
        return contexts[0], chain(calls, src, dst)

    (context, call), empty = bound(block.batch), bound(0)[1] if layer.kind == CONVOLUTION else None
    return Prepared(
        call,
        empty,
        flops=2 * sum(layer.multiplications for layer in block.layers),
        info=ffi.string(lib.SimdnetContextInfo(context)).decode(),
        keep=(src, dst),
        values=each,
        result=lambda: from_layout(dst, layout),
    )


def _inner_product_prepare(block: Block, layout: str) -> Prepared:
    (layer,), values = block.layers, values_of(block.layers[0])
    src, weight, bias = (arrays.placed(array) for array in (values.src, values.weight, values.bias))
    dst = arrays.placed(np.zeros(layer.dst, np.float32))

    def bound(n: int) -> Callable[[], Any]:
        return bind(lib.SimdSynetInnerProductLayerForward, at(src), at(weight), at(bias), n, src.size, at(dst))

    keep = (src, weight, bias, dst)
    return Prepared(bound(layer.o), bound(0), traffic=weight.nbytes, keep=keep, values=(values,), result=lambda: dst)


def _recurrent_prepare(block: Block, layout: str) -> Prepared:
    """A single sequence; the GRU of PyTorch."""
    (layer,), values = block.layers, values_of(block.layers[0])
    src, weight, recurrent, bias = (arrays.placed(array) for array in (*sequence_of(layer, values), values.bias))
    dst = arrays.placed(np.zeros((layer.w, layer.group, layer.o), np.float32))
    given = {"steps": layer.w, "batch": 1, "input": layer.c, "hidden": layer.o, "linearBeforeReset": layer.kind == GRU}
    p = ffi.new("SimdnetRecurrentParameters *", given)
    p.size = ffi.sizeof("SimdnetRecurrentParameters")
    p.type = lib.SimdnetRecurrentLstm if layer.kind == LSTM else lib.SimdnetRecurrentGru
    p.direction = lib.SimdnetRecurrentBidirectional if layer.group == 2 else lib.SimdnetRecurrentForward
    context = ffi.gc(lib.SimdnetRecurrentInit(p), lib.SimdRelease)
    lib.SimdnetRecurrentSetParams(context, at(weight), at(recurrent), at(bias), ffi.NULL)
    a = ffi.new("SimdnetRecurrentArrays *", {"src": at(src), "dst": at(dst)})
    a.size = ffi.sizeof("SimdnetRecurrentArrays")
    return Prepared(
        bind(lib.SimdnetRecurrentCompute, context, a),
        flops=2 * layer.multiplications,
        info=ffi.string(lib.SimdnetContextInfo(context)).decode(),
        keep=(src, dst),
        values=(values,),
        result=lambda: states_as_image(dst),
    )


def _pooling_32f_prepare(block: Block, layout: str) -> Prepared:
    """Of one image; excludes padding where it matters."""
    (layer,), values = block.layers, values_of(block.layers[0])
    src, dst = placed_in(values.src, layout), placed_in(np.zeros(layer.dst, np.float32), layout)
    (_, h, w), form, around = layer.dst, FORMATS[layout], (layer.before, layer.before)
    window = (layer.kernel, layer.kernel, layer.stride, layer.stride, *around)
    p_src, p_dst = at(src), at(dst)

    def bound(rows: int) -> Callable[[], Any]:
        if layer.kind == AVERAGE:
            return bind(lib.SimdSynetPoolingAverage, p_src, *layer.src, *window, p_dst, rows, w, 1, form)
        planes = (1, layer.kernel, layer.kernel, 1, layer.stride, layer.stride, 0, *around)
        return bind(lib.SimdSynetPoolingMax32f, p_src, *layer.src, *planes, p_dst, layer.c, rows, w, form)

    return Prepared(
        bound(h),
        bound(0),
        traffic=src.nbytes + dst.nbytes,
        keep=(src, dst),
        values=(values,),
        result=lambda: from_layout(dst, layout),
    )


# For each kind of layer that we have a function for: its family, and the function that prepares it.
_LAYERS: dict[str, tuple[str, Callable[[Block, str], Prepared]]] = {
    CONVOLUTION: ("convolution", _weighted_prepare),
    DECONVOLUTION: ("deconvolution", _weighted_prepare),
    INNER_PRODUCT: ("inner_product", _inner_product_prepare),
    LSTM: ("recurrent", _recurrent_prepare),
    GRU: ("recurrent", _recurrent_prepare),
    MAX: ("pooling", _pooling_32f_prepare),
    AVERAGE: ("pooling", _pooling_32f_prepare),
}


def of_layer(layer: Layer, layout: str) -> Case:
    """The case of a layer that peers can build too."""
    return of_block(Block((layer,)), layout)


def of_block(block: Block, layout: str) -> Case:
    """The same of a layer, or of several equal ones one after the other."""
    layer, count = block.layers[0], len(block.layers)
    family, prepare = _LAYERS[layer.kind]
    name = f"{count} times {layer}" if count > 1 else str(layer)
    return Case(family, name, layout, lambda: prepare(block, layout), subject=block)


def of_networks(names: Sequence[str]) -> list[Case]:
    """The layers of networks in both layouts, each shape once."""
    uses: dict[Layer, dict[str, int]] = {}
    for name in names:
        for layer, count in layers_of(name).items():
            uses.setdefault(layer, {})[name] = count
    return [
        replace(of_layer(layer, layout), uses=counts)
        for layer, counts in uses.items()
        if layer.kind in _LAYERS
        for layout in (("-",) if layer.kind == INNER_PRODUCT else ("nhwc", "nchw"))
    ]


def square(shape: str, o: int, kernel: int, stride: int) -> Layer:
    """A convolution with a square kernel, padded by half of it; depthwise if no output channels are given."""
    c, h, w = (int(n) for n in shape.split("x"))
    pad = kernel // 2
    return Layer(CONVOLUTION, c, h, w, o or c, kernel, stride, pad, pad, 1 if o else c)


def convolution(layout: str, shape: str, o: int, kernel: int, stride: int = 1, *, aim: float | None = None) -> Case:
    return replace(of_layer(square(shape, o, kernel, stride), layout), aim_peak=aim)


def grouped(layout: str, shape: str, o: int, groups: int) -> Case:
    """3x3, padded to the size of the image."""
    return of_layer(replace(square(shape, o, 3, 1), group=groups), layout)


def dilated(layout: str, shape: str, o: int, dilation: int) -> Case:
    """3x3, padded to the size of the image."""
    return of_layer(replace(square(shape, o, 3, 1), before=dilation, after=dilation, dilation=dilation), layout)


def oblong(layout: str, shape: str, o: int, rows: int, columns: int) -> Case:
    """A kernel that is no square, padded to the size of the image."""
    return of_layer(replace(square(shape, o, rows, 1), columns=columns), layout)


def deconvolution(
    layout: str, shape: str, o: int, kernel: int, stride: int, pad: int = 0, *, group: int = 1, aim: float | None = None
) -> Case:
    c, h, w = (int(n) for n in shape.split("x"))
    return replace(of_layer(Layer(DECONVOLUTION, c, h, w, o, kernel, stride, pad, pad, group), layout), aim_peak=aim)


def inner_product(count: int, size: int) -> Case:
    return of_layer(Layer(INNER_PRODUCT, size, 1, 1, count), "-")


def recurrent(kind: str, steps: int, inputs: int, hidden: int, directions: int = 1) -> Case:
    return of_layer(Layer(kind, inputs, 1, steps, hidden, group=directions, relu=False), "-")


def _merged_prepare(block: Block) -> Prepared:
    layers, random = block.layers, tuple(values_of(layer) for layer in block.layers)
    src = placed_in(random[0].src, "nhwc")
    dst = placed_in(np.zeros(block.images(block.dst), np.float32), "nhwc")
    weights = [arrays.placed(values.weight.transpose(2, 3, 1, 0)) for values in random]
    biases = [arrays.placed(values.bias) for values in random]
    convs = ffi.new("SimdConvolutionParameters[]", [parameters(layer, "nhwc")[0] for layer in layers])

    def bound(batch: int) -> tuple[Any, Callable[[], Any]]:
        context = ffi.gc(lib.SimdSynetMergedConvolution32fInit(batch, convs, len(layers), block.add), lib.SimdRelease)
        given = (ffi.new("float *[]", [at(array) for array in each]) for each in (weights, biases))
        lib.SimdSynetMergedConvolution32fSetParams(context, next(given), ffi.NULL, next(given), ffi.NULL)
        return context, bind(lib.SimdSynetMergedConvolution32fForward, context, at(src), ffi.NULL, at(dst))

    (context, call), (_, empty) = bound(block.batch), bound(0)
    return Prepared(
        call,
        empty,
        flops=2 * sum(layer.multiplications for layer in layers),
        info=ffi.string(lib.SimdnetContextInfo(context)).decode(),
        keep=(src, dst),
        values=random,
        result=lambda: from_layout(dst, "nhwc"),
    )


def merged(shape: str, wide: int, stride: int, o: int, *, aim: float | None = None) -> Case:
    """An inverted residual block or, if `wide` is 0, a depthwise-separable one, with a 3x3 kernel."""
    c, h, w = (int(n) for n in shape.split("x"))
    return replace(of_merged(residual(c, h, w, wide, 3, stride, o)), aim_peak=aim)


def residual(c: int, h: int, w: int, wide: int, kernel: int, stride: int, o: int, batch: int = 1) -> Block:
    """Such a block with another kernel, of one image or more."""
    pad = kernel // 2
    depthwise = Layer(CONVOLUTION, wide or c, h, w, wide or c, kernel, stride, pad, pad, wide or c, batch=batch)
    projection = Layer(CONVOLUTION, *depthwise.dst, o, relu=not wide, batch=batch)
    add = wide > 0 and (c, h, w) == projection.dst
    wider = (Layer(CONVOLUTION, c, h, w, wide, batch=batch),) if wide else ()
    return Block((*wider, depthwise, projection), add)


def of_merged(block: Block) -> Case:
    """The case of a block whose layers are merged."""
    (c, h, w), (depthwise, projection) = block.layers[0].src, block.layers[-2:]
    wider, kernel = f" -> {depthwise.c} 1x1," if len(block.layers) > 2 else "", depthwise.kernel
    window = f"{kernel}x{kernel} s{depthwise.stride}"
    name = f"{c}x{h}x{w}{wider} {window}, -> {projection.o}{' add' if block.add else ''}"
    return Case("merged", name, "nhwc", lambda: _merged_prepare(block), subject=block)
