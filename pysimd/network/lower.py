"""The prepared calls of each node: functions and contexts of :mod:`pysimd` with their arrays bound.

Nodes are those of stored tensors, see :mod:`pysimd.network.layouts`; an array may be a channel slice of a larger one where
:mod:`pysimd.network.memory` permits it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

import numpy as np

import pysimd
from pysimd._convolution import forward_then_add
from pysimd._single_convolution import set_params_in_calls
from pysimd.annotations import Array
from pysimd.calls import prepare
from pysimd.context import bytes_of
from pysimd.network.contexts import Contexts
from pysimd.network.graph import Node
from pysimd.network.host import HostCall
from pysimd.network.mapped import release
from pysimd.network.operators import UNARY, constant_places
from pysimd.network.ranks import around, groups_of, merged, packed

Call = Callable[[], Any]
Arrays = Sequence[Any]  # those of the inputs, None for missing ones, or those of the outputs


@dataclass
class Step:
    """A node with the calls that compute it, and its context if it has one."""

    node: Node
    calls: Sequence[Call]
    context: Any = None

    @property
    def weight_bytes(self) -> int:
        """The bytes that its context holds, for packed weights above all."""
        return 0 if self.context is None else bytes_of(self.context)


def step_of(node: Node, x: Arrays, y: Arrays, context: Any = None, contexts: Contexts | None = None) -> Step:
    """The calls of a node.

    context : one that has been created for this node, with its weights.
    contexts : else, those of which it shares the weights if it can.

    Raises ValueError for an operator that nothing computes.
    """
    if node.operator in _WEIGHTED:
        kind = _WEIGHTED[node.operator]
        if context is None:
            context = kind.create(node.attributes, x)
            (contexts or Contexts()).set_params(context, *kind.params(node.attributes, x))
            for i in constant_places(node.operator, len(x)):
                if x[i] is not None:
                    release(x[i])
        return Step(node, (kind.call(context, node.attributes, x, y),), context)
    if node.operator not in _PLAIN:
        raise ValueError(f"the operator {node.operator} is not known")
    calls = _PLAIN[node.operator](node.attributes, x, y)
    return Step(node, calls if isinstance(calls, list) else [calls])


def check(node: Node, x: Arrays, y: Arrays) -> None:
    """Raises what :func:`step_of` would raise, without packing weights."""
    if node.operator in _WEIGHTED:
        _WEIGHTED[node.operator].create(node.attributes, x)
    else:
        step_of(node, x, y)


# ---- operators with weights, which are packed in contexts


class _Weighted(NamedTuple):
    """How an operator uses a context: creates it, what its set_params takes, calls it.

    Nothing but constants is read by `create` and `params`; arrays of the latter may have any strides. All constant inputs
    are parameters, so `call` reads none of their elements.
    """

    create: Callable[[Mapping[str, Any], Arrays], Any]
    params: Callable[[Mapping[str, Any], Arrays], Arrays]
    call: Callable[[Any, Mapping[str, Any], Arrays, Arrays], Call]


def _image(array: Array) -> Array:
    """An image, or a batch if there are several."""
    return array[0] if array.ndim == 4 and len(array) == 1 else array


def _forward(context: Any, attributes: Mapping[str, Any], x: Array, add: Array | None, y: Array) -> Call:
    if add is None:
        return prepare(context.forward, x, out=y)
    if attributes["order"] == "activation":
        return prepare(forward_then_add, context, x, add, y)
    return prepare(context.forward, x, add=add, out=y)


def _weights(weight: Array, layout: str, nhwc: tuple[int, ...]) -> Array:
    return weight.transpose(nhwc) if layout == "nhwc" else weight


def _given(x: Arrays, count: int) -> Arrays:
    """The first inputs, None for those that are missing."""
    return (*x, *(None,) * count)[:count]


def _options(a: Mapping[str, Any]) -> dict[str, Any]:
    """What convolutions and deconvolutions have in common."""
    return {
        "stride": a["strides"],
        "padding": a["pads"],
        "dilation": a["dilations"],
        "group": a["group"],
        "activation": a["activation"][0],
        "layout": a["layout"],
    }


def _conv(a: Mapping[str, Any], x: Arrays) -> Any:
    o, _, *kernel = x[1].shape
    return pysimd.Convolution32f(_image(x[0]).shape, o, kernel=tuple(kernel), **_options(a))


def _params_conv(a: Mapping[str, Any], x: Arrays) -> Arrays:
    _, weight, bias = _given(x, 3)
    return _weights(weight, a["layout"], (2, 3, 1, 0)), bias, a["activation"][1] or None


def _call_conv(context: Any, a: Mapping[str, Any], x: Arrays, y: Arrays) -> Call:
    add = _given(x, 4)[3]
    return _forward(context, a, _image(x[0]), None if add is None else _image(add), _image(y[0]))


def _deconv(a: Mapping[str, Any], x: Arrays) -> Any:
    _, part, *kernel = x[1].shape
    return pysimd.Deconvolution32f(
        _image(x[0]).shape, part * a["group"], kernel=tuple(kernel), output_padding=a["output_padding"], **_options(a)
    )


def _params_deconv(a: Mapping[str, Any], x: Arrays) -> Arrays:
    _, weight, bias = _given(x, 3)
    return _weights(weight, a["layout"], (0, 2, 3, 1)), bias, a["activation"][1] or None


def _merged(a: Mapping[str, Any], x: Arrays) -> Any:
    stages = [
        pysimd.ConvolutionStage(
            weight.shape[2:],
            None if stage["depthwise"] else len(weight),
            stage["strides"],
            stage["pads"],
            stage["activation"][0],
        )
        for stage, weight in zip(a["stages"], x[1::2])
    ]
    return pysimd.MergedConvolution32f(_image(x[0]).shape, stages, residual=a["residual"])


def _params_merged(a: Mapping[str, Any], x: Arrays) -> Arrays:
    weights = [_weights(weight, "nhwc", (2, 3, 1, 0)) for weight in x[1::2]]
    return weights, x[2::2], [stage["activation"][1] or None for stage in a["stages"]]


def _call_image(context: Any, a: Mapping[str, Any], x: Arrays, y: Arrays) -> Call:
    return prepare(context.forward, _image(x[0]), out=_image(y[0]))


def _rows(x: Arrays) -> Array:
    """The input of a Linear with its contracted dimensions as one."""
    src, weight = x[:2]
    count = weight.ndim - 1
    rows: Array = src if count == 1 else src.reshape(*src.shape[: src.ndim - count], -1)
    return rows


def _linear(a: Mapping[str, Any], x: Arrays) -> Any:
    return pysimd.InnerProduct32f(_rows(x).shape, x[1].shape[-1], activation=a["activation"][0], transpose=False)


def _params_linear(a: Mapping[str, Any], x: Arrays) -> Arrays:
    _, weight, bias = _given(x, 3)
    return weight.reshape(-1, weight.shape[-1]), bias, a["activation"][1] or None


def _call_linear(context: Any, a: Mapping[str, Any], x: Arrays, y: Arrays) -> Call:
    return _forward(context, a, _rows(x), _given(x, 4)[3], y[0])


def _recurrent(kind: Any, *more: str) -> Callable[[Mapping[str, Any], Arrays], Any]:
    names = ("direction", "batch_first", "activations", "clip", *more)

    def create(a: Mapping[str, Any], x: Arrays) -> Any:
        return kind(x[0].shape, a["hidden"], **{name: a[name] for name in names if name in a})

    return create


def _params_lstm(a: Mapping[str, Any], x: Arrays) -> Arrays:
    _, weight, recurrent, bias, _, _, _, peephole = _given(x, 8)
    return weight, recurrent, bias, peephole


def _call_lstm(context: Any, a: Mapping[str, Any], x: Arrays, y: Arrays) -> Call:
    src, _, _, _, lengths, h0, c0, _ = _given(x, 8)
    return prepare(context.forward, src, h0, c0, lengths=lengths, hn=y[1], cn=y[2], out=y[0])


def _params_gru(a: Mapping[str, Any], x: Arrays) -> Arrays:
    return _given(x, 4)[1:]


def _call_gru(context: Any, a: Mapping[str, Any], x: Arrays, y: Arrays) -> Call:
    src, _, _, _, lengths, h0 = _given(x, 6)
    return prepare(context.forward, src, h0, lengths=lengths, hn=y[1], out=y[0])


_WEIGHTED: Mapping[str, _Weighted] = {
    "Conv": _Weighted(_conv, _params_conv, _call_conv),
    "ConvTranspose": _Weighted(_deconv, _params_deconv, _call_image),
    "Gru": _Weighted(_recurrent(pysimd.GRU, "linear_before_reset"), _params_gru, _call_gru),
    "Linear": _Weighted(_linear, _params_linear, _call_linear),
    "Lstm": _Weighted(_recurrent(pysimd.LSTM, "input_forget"), _params_lstm, _call_lstm),
    "MergedConvolution": _Weighted(_merged, _params_merged, _call_image),
    "Rnn": _Weighted(_recurrent(pysimd.RNN), _params_gru, _call_gru),
}


def read_by_calls(node: Node) -> list[str]:
    """The inputs whose elements are read when the node is computed: all but those that a context has packed."""
    packed = constant_places(node.operator, len(node.inputs)) if node.operator in _WEIGHTED else ()
    return [name for i, name in enumerate(node.inputs) if i not in packed]


# ---- all others: functions of the attributes, and of the arrays of inputs and outputs

_Plain = Callable[[Mapping[str, Any], Arrays, Arrays], Any]


def _dynamic(kind: _Weighted, nhwc: tuple[int, ...]) -> _Plain:
    """A convolution with weights that are computed: each run packs them, in a context that nothing shares.

    nhwc : the order of weights for that layout.
    """

    def calls(a: Mapping[str, Any], x: Arrays, y: Arrays) -> list[Call]:
        weight, bias = _given(x, 3)[1:]
        context, before = kind.create(a, x), []
        if a["layout"] == "nhwc":
            before = [prepare(pysimd.copy, weight.transpose(nhwc))]
            weight = before[0].result
        return [*before, prepare(set_params_in_calls, context, weight, bias), kind.call(context, a, x[:1], y)]

    return calls


def _pooled(function: Any) -> _Plain:
    def calls(a: Mapping[str, Any], x: Arrays, y: Arrays) -> Call:
        more = {} if "count_include_pad" not in a else {"exclude_pad": not a["count_include_pad"]}
        window = {"kernel": a["kernel"], "stride": a["strides"], "padding": a["pads"], "ceil_mode": a["ceil"]}
        return prepare(function, x[0], layout=a["layout"], out=y[0], **window, **more)

    return calls


def _resize(a: Mapping[str, Any], x: Arrays, y: Arrays) -> Call:
    names = ("mode", "coordinates", "rounding", "antialias", "exclude_outside", "cubic")
    options = {name: a[name] for name in names}
    src, dst, layout = x[0], y[0], a["layout"]
    if src.dtype not in (np.float32, np.uint8):
        src, dst, layout = _in_parts(src, layout), _in_parts(dst, layout), "nhwc"
    return prepare(pysimd.resize, src, a["size"], scale=a["scale"], out=dst, layout=layout, **options)


def _in_parts(x: Array, layout: str) -> Array:
    """Images of any type as those in NHWC of floats or bytes, which are copied: each element is some channels."""
    if layout == "nchw":
        n, channels, *size = x.shape
        x = x.reshape(n * channels, *size, 1)
    return x.view(np.uint8 if x.itemsize % 4 else np.float32)


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
        groups = groups_of([(a == n, b == n) for a, b, n in zip(x[0].shape, x[1].shape, y[0].shape)])
        left, right, out = (array.reshape(merged(array.shape, groups)) for array in (*x, y[0]))
        return prepare(pysimd.binary, function, left, right, activation=activation, params=params or None, out=out)
    several: dict[str, Any] = {"add": "sum", "multiply": "product"}
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
    # The largest value is subtracted first: of large numbers, the sum of exponentials has too few digits after the point.
    most = prepare(pysimd.amax, x[0], a["axis"], keepdims=True)
    small = prepare(pysimd.subtract, x[0], most.result, out=y[0])
    total = prepare(pysimd.logsumexp, y[0], a["axis"], keepdims=True)
    return [most, small, total, prepare(pysimd.subtract, y[0], total.result, out=y[0])]


def _reduce(a: Mapping[str, Any], x: Arrays, y: Arrays) -> Call:
    function, reduced = a["function"], [axis in a["axes"] for axis in range(x[0].ndim)]
    groups = groups_of(reduced)
    src, axes = x[0].reshape(merged(x[0].shape, groups)), tuple(i for i, group in enumerate(groups) if reduced[group[0]])
    dst = y[0].reshape([1 if i in axes else n for i, n in enumerate(src.shape)])
    if function in ("argmax", "argmin"):
        return prepare(getattr(pysimd, function), src, axes[0], out=dst, keepdims=True, last=a.get("last", False))
    return prepare(pysimd.reduce, src, function, axes, keepdims=True, out=dst)


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
    bounded = prepare(pysimd.maximum, length.result, np.float32(a["eps"] ** 0.5), out=length.result)
    return [length, bounded, prepare(pysimd.divide, src, length.result, out=y[0])]


def _lrn(a: Mapping[str, Any], x: Arrays, y: Arrays) -> Call:
    names = ("size", "alpha", "beta", "bias", "layout")
    return prepare(pysimd.lrn, x[0], out=y[0], **{name: a[name] for name in names})


def _cast(a: Mapping[str, Any], x: Arrays, y: Arrays) -> Call:
    return prepare(pysimd.cast, x[0], a["dtype"], out=y[0])


def _concat(a: Mapping[str, Any], x: Arrays, y: Arrays) -> list[Call]:
    """Copies the parts that are not written in place."""
    calls: list[Call] = []
    begin, axis = 0, a["axis"]
    for part in x:
        target = y[0][(slice(None),) * axis + (slice(begin, begin + part.shape[axis]),)]
        begin += part.shape[axis]
        if part.size and part.ctypes.data != target.ctypes.data:
            calls.append(_copied(part, target))
    return calls


def _copied(src: Array, dst: Array) -> Call:
    src, dst = packed(src, dst)
    return prepare(pysimd.copy, src, out=dst)


def _slice(a: Mapping[str, Any], x: Arrays, y: Arrays) -> Call:
    index = tuple(
        slice(start, end if (end := start + size * step) >= 0 else None, step)
        for start, step, size in zip(a["starts"], a["steps"], a["sizes"])
    )
    return _copied(x[0][index], y[0])


def _pad(a: Mapping[str, Any], x: Arrays, y: Arrays) -> Call:
    groups = groups_of([True if tuple(width) == (0, 0) else i for i, width in enumerate(a["pads"], 2)])
    src, dst = (array.reshape(merged(array.shape, groups)) for array in (x[0], y[0]))
    return prepare(
        pysimd.pad, src, [a["pads"][group[0]] for group in groups], a["mode"], constant_values=a["value"], out=dst
    )


def _transpose(a: Mapping[str, Any], x: Arrays, y: Arrays) -> Call:
    return _copied(x[0].transpose(a["perm"]), y[0])


def _reshape(a: Mapping[str, Any], x: Arrays, y: Arrays) -> Call:
    return _copied(x[0], y[0].reshape(x[0].shape))


def _expand(a: Mapping[str, Any], x: Arrays, y: Arrays) -> Call:
    return _copied(np.broadcast_to(x[0], y[0].shape), y[0])


#: A type of each size, for functions that move elements whatever they are.
_MOVED = {1: np.uint8, 2: np.uint16, 4: np.int32, 8: np.int64}


def _gather(a: Mapping[str, Any], x: Arrays, y: Arrays) -> Call:
    moved = _MOVED[x[0].itemsize]
    return prepare(pysimd.gather, x[0].view(moved), x[1], axis=a["axis"], out=y[0].view(moved))


def _gather_elements(a: Mapping[str, Any], x: Arrays, y: Arrays) -> Call:
    return prepare(pysimd.gather_elements, x[0], x[1], axis=a["axis"], out=y[0])


def _top_k(a: Mapping[str, Any], x: Arrays, y: Arrays) -> Call:
    options = {"axis": a["axis"], "largest": a["largest"], "sorted": a["sorted"]}
    return prepare(pysimd.top_k, x[0], a["k"], out=(y[0], y[1]), **options)


def _quantize(a: Mapping[str, Any], x: Arrays, y: Arrays) -> Call:
    src, scale, zero = (*x, None)[:3]
    zero = np.zeros((), a["dtype"]) if zero is None else zero
    src, dst, axis = _by_axis(src, y[0], a["axis"])
    return prepare(pysimd.quantize_linear, src, scale, zero, axis=axis, out=dst)


def _dequantize(a: Mapping[str, Any], x: Arrays, y: Arrays) -> Call:
    src, scale, zero = (*x, None)[:3]
    src, dst, axis = _by_axis(src, y[0], a["axis"])
    return prepare(pysimd.dequantize_linear, src, scale, 0 if zero is None else zero, axis=axis, out=dst)


def _by_axis(src: Array, dst: Array, axis: int | None) -> tuple[Array, Array, int | None]:
    """Arrays of one shape, with a dimension before the axis and one after it if they have too many."""
    shape = around(src.shape, axis or 0)
    moved = axis if axis is None or shape == src.shape else 1
    return src.reshape(shape), dst.reshape(shape), moved


def _host(a: Mapping[str, Any], x: Arrays, y: Arrays) -> Call:
    return HostCall(a["function"], x, y)


_PLAIN: Mapping[str, _Plain] = {
    "AveragePool": _pooled(pysimd.pooling_average),
    "Binary": _binary,
    "Cast": _cast,
    "ChannelNorm": _channel_norm,
    "Concat": _concat,
    "Dequantize": _dequantize,
    "DynamicConv": _dynamic(_WEIGHTED["Conv"], (2, 3, 1, 0)),
    "DynamicConvTranspose": _dynamic(_WEIGHTED["ConvTranspose"], (0, 2, 3, 1)),
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
