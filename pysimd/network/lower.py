"""The prepared calls of each node: functions and contexts of :mod:`pysimd` with their arrays bound.

Nodes are those of stored tensors, see :mod:`pysimd.network.layouts`; an array may be some channels of a larger one where
:mod:`pysimd.network.memory` permits it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

import pysimd
from pysimd.annotations import Array, Shape
from pysimd.calls import prepare
from pysimd.context import SharingContext
from pysimd.network.graph import Node
from pysimd.network.operators import UNARY

Call = Callable[[], Any]
Arrays = Sequence[Any]  # those of the inputs, None for missing ones, or those of the outputs


@dataclass
class Step:
    """A node with the calls that compute it, and its context if it has one."""

    node: Node
    calls: Sequence[Call]
    context: Any = None


@dataclass
class Contexts:
    """The contexts of one preparation or of several of the same graph, by the name of the first output. Those with the same
    weights share them, if their algorithms permit it."""

    made: dict[str, list[SharingContext]] = field(default_factory=dict)

    def weighted(self, node: Node, context: SharingContext, set_params: Callable[[], None]) -> None:
        """Gives a context the weights of an earlier one, or its own."""
        others = self.made.setdefault(node.outputs[0], [])
        for other in others:
            try:
                context.share_params(other)
            except (ValueError, TypeError):
                continue
            break
        else:
            set_params()
            # References to the arrays, which serve pickling: these contexts are not pickled, and the arrays are copies.
            context._given = ()
            others.append(context)


def step_of(node: Node, x: Arrays, y: Arrays, contexts: Contexts) -> Step:
    """The calls of a node. Raises ValueError for an operator that nothing computes."""
    if node.operator in _WEIGHTED:
        call, context = _WEIGHTED[node.operator](node, x, y, contexts)
        return Step(node, (call,), context)
    if node.operator not in _PLAIN:
        raise ValueError(f"the operator {node.operator} is not known")
    calls = _PLAIN[node.operator](node.attributes, x, y)
    return Step(node, calls if isinstance(calls, list) else [calls])


# ---- operators with weights, which are packed in contexts

_Weighted = Callable[[Node, Arrays, Arrays, Contexts], "tuple[Call, Any]"]


def _image(array: Array) -> Array:
    """An image, or a batch if there are several."""
    return array[0] if array.ndim == 4 and len(array) == 1 else array


def _forward(context: Any, attributes: Mapping[str, Any], x: Array, add: Array | None, y: Array) -> Call:
    if add is None:
        return prepare(context.forward, x, out=y)
    if attributes["order"] == "activation":
        return prepare(context._forward_pixels, x, add, y, None, pysimd._pixels.AFTER)
    return prepare(context.forward, x, add=add, out=y)


def _weights(weight: Array, layout: str, nhwc: tuple[int, ...]) -> Array:
    return np.ascontiguousarray(weight.transpose(nhwc) if layout == "nhwc" else weight)


def _params(activation: Any) -> Any:
    return activation[1] or None


def _conv(node: Node, x: Arrays, y: Arrays, contexts: Contexts) -> tuple[Call, Any]:
    a, src = node.attributes, _image(x[0])
    weight, bias, add = (*x[1:], None, None)[:3]
    o, _, *kernel = weight.shape
    context = pysimd.Convolution32f(
        src.shape,
        o,
        kernel=tuple(kernel),
        stride=a["strides"],
        padding=a["pads"],
        dilation=a["dilations"],
        group=a["group"],
        activation=a["activation"][0],
        layout=a["layout"],
    )
    contexts.weighted(
        node, context, lambda: context.set_params(_weights(weight, a["layout"], (2, 3, 1, 0)), bias, _params(a["activation"]))
    )
    return _forward(context, a, src, None if add is None else _image(add), _image(y[0])), context


def _conv_transpose(node: Node, x: Arrays, y: Arrays, contexts: Contexts) -> tuple[Call, Any]:
    a, src = node.attributes, _image(x[0])
    weight, bias = (*x[1:], None)[:2]
    _, part, *kernel = weight.shape
    context = pysimd.Deconvolution32f(
        src.shape,
        part * a["group"],
        kernel=tuple(kernel),
        stride=a["strides"],
        padding=a["pads"],
        dilation=a["dilations"],
        group=a["group"],
        activation=a["activation"][0],
        layout=a["layout"],
        output_padding=a["output_padding"],
    )
    contexts.weighted(
        node, context, lambda: context.set_params(_weights(weight, a["layout"], (0, 2, 3, 1)), bias, _params(a["activation"]))
    )
    return prepare(context.forward, src, out=_image(y[0])), context


def _merged(node: Node, x: Arrays, y: Arrays, contexts: Contexts) -> tuple[Call, Any]:
    a, src = node.attributes, _image(x[0])
    weights, biases = x[1::2], x[2::2]
    stages = [
        pysimd.ConvolutionStage(
            weight.shape[2:],
            None if stage["depthwise"] else len(weight),
            stage["strides"],
            stage["pads"],
            stage["activation"][0],
        )
        for stage, weight in zip(a["stages"], weights)
    ]
    context = pysimd.MergedConvolution32f(src.shape, stages, residual=a["residual"])
    contexts.weighted(
        node,
        context,
        lambda: context.set_params(
            [_weights(weight, "nhwc", (2, 3, 1, 0)) for weight in weights],
            biases,
            [_params(stage["activation"]) for stage in a["stages"]],
        ),
    )
    return prepare(context.forward, src, out=_image(y[0])), context


def _linear(node: Node, x: Arrays, y: Arrays, contexts: Contexts) -> tuple[Call, Any]:
    a, src = node.attributes, x[0]
    weight, bias, add = (*x[1:], None, None)[:3]
    matrix = weight.reshape(-1, weight.shape[-1])
    if weight.ndim > 2:
        src = src.reshape(*src.shape[: src.ndim - weight.ndim + 1], len(matrix))
    context = pysimd.InnerProduct32f(src.shape, matrix.shape[1], activation=a["activation"][0], transpose=False)
    contexts.weighted(
        node, context, lambda: context.set_params(np.ascontiguousarray(matrix), bias, _params(a["activation"]))
    )
    return _forward(context, a, src, add, y[0]), context


def _lstm(node: Node, x: Arrays, y: Arrays, contexts: Contexts) -> tuple[Call, Any]:
    a = node.attributes
    src, weight, recurrent, bias, lengths, h0, c0, peephole = (*x, *(None,) * 8)[:8]
    context = pysimd.LSTM(src.shape, a["hidden"], direction=a["direction"], batch_first=a["batch_first"])
    contexts.weighted(node, context, lambda: context.set_params(weight, recurrent, bias, peephole))
    return prepare(context.forward, src, h0, c0, lengths=lengths, hn=y[1], cn=y[2], out=y[0]), context


def _gru(node: Node, x: Arrays, y: Arrays, contexts: Contexts) -> tuple[Call, Any]:
    a = node.attributes
    src, weight, recurrent, bias, lengths, h0 = (*x, *(None,) * 6)[:6]
    context = pysimd.GRU(
        src.shape,
        a["hidden"],
        direction=a["direction"],
        batch_first=a["batch_first"],
        linear_before_reset=a["linear_before_reset"],
    )
    contexts.weighted(node, context, lambda: context.set_params(weight, recurrent, bias))
    return prepare(context.forward, src, h0, lengths=lengths, hn=y[1], out=y[0]), context


_WEIGHTED: Mapping[str, _Weighted] = {
    "Conv": _conv,
    "ConvTranspose": _conv_transpose,
    "Gru": _gru,
    "Linear": _linear,
    "Lstm": _lstm,
    "MergedConvolution": _merged,
}

# ---- all others: functions of the attributes, and of the arrays of inputs and outputs

_Plain = Callable[[Mapping[str, Any], Arrays, Arrays], Any]


def _pooled(function: Any) -> _Plain:
    def calls(a: Mapping[str, Any], x: Arrays, y: Arrays) -> Call:
        more = {} if "count_include_pad" not in a else {"exclude_pad": not a["count_include_pad"]}
        window = {"kernel": a["kernel"], "stride": a["strides"], "padding": a["pads"], "ceil_mode": a["ceil"]}
        return prepare(function, x[0], layout=a["layout"], out=y[0], **window, **more)

    return calls


def _resize(a: Mapping[str, Any], x: Arrays, y: Arrays) -> Call:
    names = ("mode", "coordinates", "rounding", "antialias", "exclude_outside", "cubic", "layout")
    sides = {"size": a["size"]} if a["scale"] is None else {"scale": a["scale"]}
    return prepare(pysimd.resize, x[0], out=y[0], **sides, **{name: a[name] for name in names})


def _grid_sample(a: Mapping[str, Any], x: Arrays, y: Arrays) -> Call:
    return prepare(pysimd.grid_sample, x[0], x[1], a["mode"], a["padding_mode"], a["align_corners"], out=y[0])


def _matmul(a: Mapping[str, Any], x: Arrays, y: Arrays) -> Call:
    left, right, result = (
        array.transpose(a[name]) for array, name in ((x[0], "perm_a"), (x[1], "perm_b"), (y[0], "perm_out"))
    )
    return prepare(pysimd.matmul, left, right, out=result)


def _unary(a: Mapping[str, Any], x: Arrays, y: Arrays) -> Call:
    name = a["function"]
    return prepare(getattr(pysimd, name), x[0], out=y[0], **dict(zip(UNARY[name], a["params"])))


def _binary(a: Mapping[str, Any], x: Arrays, y: Arrays) -> Call:
    function, (activation, params) = a["function"], a["activation"]
    if all(array.flags.c_contiguous for array in (*x, *y)):
        return prepare(pysimd.binary, function, x[0], x[1], activation=activation, params=params or None, out=y[0])
    several = {"add": "sum", "multiply": "product", "maximum": "max", "minimum": "min"}
    return prepare(pysimd.eltwise, list(x), several[function], out=y[0])


def _by_channel(function: Any) -> _Plain:
    """A function with numbers for each coordinate of an axis."""

    def calls(a: Mapping[str, Any], x: Arrays, y: Arrays) -> Call:
        (src, *terms), dst, axis = x, y[0], a["axis"]
        if axis == src.ndim - 1:
            return prepare(function, src, *terms, out=dst)
        shape = (prod(src.shape[:axis]), src.shape[axis], prod(src.shape[axis + 1 :]), 1)
        return prepare(function, src.reshape(shape), *terms, layout="nchw", out=dst.reshape(shape))

    return calls


def _softmax(a: Mapping[str, Any], x: Arrays, y: Arrays) -> list[Call]:
    if not a["log"]:
        return [prepare(pysimd.softmax, x[0], axis=a["axis"], out=y[0])]
    total = prepare(pysimd.logsumexp, x[0], a["axis"], keepdims=True)
    return [total, prepare(pysimd.subtract, x[0], total.result, out=y[0])]


def _reduce(a: Mapping[str, Any], x: Arrays, y: Arrays) -> Call:
    function, axes = a["function"], a["axes"]
    if function in ("argmax", "argmin"):
        options = {"keepdims": a["keepdims"], "last": a.get("last", False)}
        return prepare(getattr(pysimd, function), x[0], axes[0], out=y[0], **options)
    return prepare(pysimd.reduce, x[0], function, axes, keepdims=a["keepdims"], out=y[0])


def _layer_norm(a: Mapping[str, Any], x: Arrays, y: Arrays) -> Call:
    src, scale, bias = (*x, None, None)[:3]
    return prepare(pysimd.layer_norm, src, scale, bias, normalized=src.shape[a["axis"] :], eps=a["eps"], out=y[0])


def _channel_norm(a: Mapping[str, Any], x: Arrays, y: Arrays) -> Call:
    src, scale, bias = (*x, None, None)[:3]
    last, n = a["layout"] == "nhwc", len(src)
    c, size = (src.shape[-1], prod(src.shape[1:-1])) if last else (src.shape[1], prod(src.shape[2:]))
    shape = (n, size, 1, c) if last else (n, c, size, 1)
    options = {"eps": a["eps"], "layout": a["layout"], "out": y[0].reshape(shape)}
    if a["groups"]:
        return prepare(pysimd.group_norm, src.reshape(shape), a["groups"], scale, bias, **options)
    return prepare(pysimd.instance_norm, src.reshape(shape), scale, bias, **options)


def _l2_norm(a: Mapping[str, Any], x: Arrays, y: Arrays) -> list[Call]:
    src, axis = x[0], a["axis"]
    if axis == src.ndim - 1:
        return [prepare(pysimd.l2_normalize, src, eps=a["eps"], out=y[0])]
    length = prepare(pysimd.reduce, src, "l2", axis, keepdims=True)
    bounded = prepare(pysimd.maximum, length.result, np.float32(a["eps"]), out=length.result)
    return [length, bounded, prepare(pysimd.divide, src, length.result, out=y[0])]


def _lrn(a: Mapping[str, Any], x: Arrays, y: Arrays) -> Call:
    names = ("size", "alpha", "beta", "bias", "layout")
    return prepare(pysimd.lrn, x[0], out=y[0], **{name: a[name] for name in names})


def _concat(a: Mapping[str, Any], x: Arrays, y: Arrays) -> list[Call]:
    """Copies the parts that are not written in place."""
    calls, begin, axis = [], 0, a["axis"]
    for part in x:
        target = y[0][(slice(None),) * axis + (slice(begin, begin + part.shape[axis]),)]
        begin += part.shape[axis]
        if part.size and part.ctypes.data != target.ctypes.data:
            calls.append(prepare(pysimd.copy, part, out=target))
    return calls


def _slice(a: Mapping[str, Any], x: Arrays, y: Arrays) -> Call:
    index = tuple(
        slice(start, end if (end := start + size * step) >= 0 else None, step)
        for start, step, size in zip(a["starts"], a["steps"], a["sizes"])
    )
    return prepare(pysimd.copy, x[0][index], out=y[0])


def _pad(a: Mapping[str, Any], x: Arrays, y: Arrays) -> Call:
    return prepare(pysimd.pad, x[0], a["pads"], a["mode"], constant_values=a["value"], out=y[0])


def _transpose(a: Mapping[str, Any], x: Arrays, y: Arrays) -> Call:
    return prepare(pysimd.copy, x[0].transpose(a["perm"]), out=y[0])


def _reshape(a: Mapping[str, Any], x: Arrays, y: Arrays) -> Call:
    return prepare(pysimd.copy, x[0], out=y[0].reshape(x[0].shape))


def _expand(a: Mapping[str, Any], x: Arrays, y: Arrays) -> Call:
    return prepare(pysimd.copy, np.broadcast_to(x[0], y[0].shape), out=y[0])


def _gather(a: Mapping[str, Any], x: Arrays, y: Arrays) -> Call:
    return prepare(pysimd.gather, x[0], x[1], axis=a["axis"], out=y[0])


def _gather_elements(a: Mapping[str, Any], x: Arrays, y: Arrays) -> Call:
    return prepare(pysimd.gather_elements, x[0], x[1], axis=a["axis"], out=y[0])


def _top_k(a: Mapping[str, Any], x: Arrays, y: Arrays) -> Call:
    options = {"axis": a["axis"], "largest": a["largest"], "sorted": a["sorted"]}
    return prepare(pysimd.top_k, x[0], a["k"], out=(y[0], y[1]), **options)


def _quantize(a: Mapping[str, Any], x: Arrays, y: Arrays) -> Call:
    src, scale, zero = (*x, None)[:3]
    zero = np.zeros((), a["dtype"]) if zero is None else zero
    return prepare(pysimd.quantize_linear, src, scale, zero, axis=a["axis"], out=y[0])


def _dequantize(a: Mapping[str, Any], x: Arrays, y: Arrays) -> Call:
    src, scale, zero = (*x, None)[:3]
    return prepare(pysimd.dequantize_linear, src, scale, 0 if zero is None else zero, axis=a["axis"], out=y[0])


@dataclass(frozen=True)
class HostCall:
    """A function of Python with the arrays of its inputs and outputs."""

    function: Callable[..., Any]
    inputs: Arrays
    outputs: Arrays

    def __call__(self) -> None:
        found = self.function(*self.inputs)
        for array, target in zip(found if isinstance(found, (tuple, list)) else (found,), self.outputs):
            if np.shape(array) != target.shape:
                raise ValueError(f"{self.function} returned shape {np.shape(array)}, expected {target.shape}")
            np.copyto(target, array)


def _host(a: Mapping[str, Any], x: Arrays, y: Arrays) -> Call:
    return HostCall(a["function"], x, y)


_PLAIN: Mapping[str, _Plain] = {
    "AveragePool": _pooled(pysimd.pooling_average),
    "Binary": _binary,
    "ChannelNorm": _channel_norm,
    "Concat": _concat,
    "Dequantize": _dequantize,
    "Expand": _expand,
    "Gather": _gather,
    "GatherElements": _gather_elements,
    "GridSample": _grid_sample,
    "Host": _host,
    "L2Norm": _l2_norm,
    "LayerNorm": _layer_norm,
    "Lrn": _lrn,
    "MatMul": _matmul,
    "MaxPool": _pooled(pysimd.pooling_max),
    "Pad": _pad,
    "Prelu": _by_channel(pysimd.prelu),
    "Quantize": _quantize,
    "Reduce": _reduce,
    "Reshape": _reshape,
    "Resize": _resize,
    "Scale": _by_channel(pysimd.scale),
    "Slice": _slice,
    "Softmax": _softmax,
    "TopK": _top_k,
    "Transpose": _transpose,
    "Unary": _unary,
}
