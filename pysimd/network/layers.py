"""Operators with weights, which are packed in contexts: how a context is created, gets its weights, and is called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from pysimd._library import lib
from pysimd.network.calls import OWN, Call, Made, Steps, Struct, Structs
from pysimd.network.functions import (
    copied,
    format_of,
    images_of,
    kind,
    parameters_of,
    per_channel,
    per_column,
    pixel_of,
    tensor_type,
)
from pysimd.network.open_arrays import is_array
from pysimd.network.operators import sides_of
from pysimd.network.views import Constant, View

Attributes = Mapping[str, Any]
_SCALES = (("scales", np.float32), ("zeros", np.uint8))
Operands = Sequence[Any]  # views; None for inputs that are missing


def given(x: Operands, count: int) -> Operands:
    """The first inputs, None for those that are missing."""
    return (*x, *(None,) * count)[:count]


def _values(operand: Any) -> Any:
    """The array of a constant."""
    return None if operand is None else operand.values


# ---- convolutions


def _geometry(a: Attributes, src: View, dst: View, kernel: Sequence[int], pads: Sequence[int]) -> dict[str, Any]:
    """The members of SimdConvolutionParameters."""
    (_, src_c, src_h, src_w), (_, dst_c, dst_h, dst_w) = (images_of(each.shape, a["layout"]) for each in (src, dst))
    form, steps = format_of(a["layout"]), a.get("dilations", (1, 1))
    members = {"srcC": src_c, "srcH": src_h, "srcW": src_w, "srcT": lib.SimdTensorData32f, "srcF": form}
    members |= {"dstC": dst_c, "dstH": dst_h, "dstW": dst_w, "dstT": lib.SimdTensorData32f, "dstF": form}
    members |= {"kernelY": kernel[0], "kernelX": kernel[1], "dilationY": steps[0], "dilationX": steps[1]}
    members |= {"strideY": a["strides"][0], "strideX": a["strides"][1]}
    members |= {"padY": pads[0], "padX": pads[1], "padH": pads[2], "padW": pads[3]}
    return members | {"group": a["group"], "activation": kind(a["activation"]).activation}


def _single(name: str, nhwc: tuple[int, ...], a: Attributes, x: Operands, y: Operands) -> Steps:
    """A convolution or a deconvolution.

    name : of the functions, without their ends.
    nhwc : the order of the weights for that layout.
    """
    (src, weight, bias, add), (dst,) = given(x, 4), y
    kernel, more = weight.shape[2:], a.get("output_padding", (0, 0))
    top, left, bottom, right = a["pads"]
    members = _geometry(a, src, dst, kernel, (top, left, bottom - more[0], right - more[1]))
    create = Call(f"{name}Init", (src.shape[0] or 1, Struct("SimdConvolutionParameters", members), None))
    order = nhwc if a["layout"] == "nhwc" else (0, 1, 2, 3)
    forward = _forward(f"{name}Forward", a, src, add, dst)
    if isinstance(weight, Constant):
        channels = members["dstC"]
        terms = per_channel(_values(bias), channels), parameters_of(a["activation"], channels)
        return Steps(forward, Made(create, Call(f"{name}SetParams", (OWN, weight.values.transpose(order), None, *terms))))
    # Weights that are computed: each run packs them.
    moved = View("", weight.dtype, tuple(weight.shape[i] for i in order))
    before = [] if order == (0, 1, 2, 3) else copied(weight.transpose(order), moved)
    params = Call(f"{name}SetParams", (OWN, moved if before else weight, None, bias, None))
    return Steps((*before, params, *forward), Made(create), moved.nbytes if before else 0)


def convolution(a: Attributes, x: Operands, y: Operands) -> Steps:
    """Conv and DynamicConv."""
    return _single("SimdSynetConvolution32f", (2, 3, 1, 0), a, x, y)


def deconvolution(a: Attributes, x: Operands, y: Operands) -> Steps:
    """ConvTranspose and DynamicConvTranspose."""
    return _single("SimdSynetDeconvolution32f", (0, 2, 3, 1), a, x, y)


def merged(a: Attributes, x: Operands, y: Operands) -> Steps:
    """MergedConvolution."""
    src, dst = x[0], y[0]
    size, stages, terms = images_of(src.shape, "nhwc"), [], ([], [], [])  # type: ignore[var-annotated]
    for stage, weight, bias in zip(a["stages"], x[1::2], x[2::2]):
        n, c, *sides = size
        out_c, kernel = weight.shape[0], weight.shape[2:]
        next_size = n, out_c, *sides_of(sides, kernel, stage)
        before, after = (View("", np.float32, (m, h, w, channels)) for m, channels, h, w in (size, next_size))
        options = {**stage, "layout": "nhwc", "group": c if stage["depthwise"] else 1}
        stages.append(_geometry(options, before, after, kernel, stage["pads"]))
        each = (
            weight.values.transpose(2, 3, 1, 0),
            per_channel(_values(bias), out_c),
            parameters_of(stage["activation"], out_c),
        )
        for values, value in zip(terms, each):
            values.append(value)
        size = next_size
    name = "SimdSynetMergedConvolution32f"
    convs = Structs("SimdConvolutionParameters", tuple(stages))
    create = Call(f"{name}Init", (src.shape[0] or 1, convs, len(stages), bool(a["residual"])))
    weights, biases, params = terms
    made = Made(create, Call(f"{name}SetParams", (OWN, weights, None, biases, params)))
    return Steps(_forward(f"{name}Forward", {}, src, None, dst), made)


def linear(a: Attributes, x: Operands, y: Operands) -> Steps:
    """Linear: a matrix of constants."""
    (src, weight, bias, add), (dst,) = given(x, 4), y
    count = weight.shape[-1]
    contracted = weight.ndim - 1
    if contracted > 1:
        src = src.reshape((*src.shape[: src.ndim - contracted], prod(src.shape[src.ndim - contracted :])))
    rows, size = prod(src.shape[:-1]), src.shape[-1]
    name = "SimdSynetInnerProduct32f"
    values = weight.values.reshape(-1, count)
    is_transposed = not is_array(values) and values.T.flags.c_contiguous and not values.flags.c_contiguous
    values = values.T if is_transposed else values  # as they are in memory: nothing is copied to pack them
    create = Call(f"{name}Init", (rows, count, size, is_transposed, True, True, kind(a["activation"]).activation))
    terms = per_channel(_values(bias), count), parameters_of(a["activation"], count)
    made = Made(create, Call(f"{name}SetParams", (OWN, values, None, *terms)))
    if rows == 0:
        return Steps((), made)
    if add is None and src.is_dense and dst.is_dense:
        return Steps((Call(f"{name}Forward", (OWN, src, None, None, dst)),), made)
    return Steps((_pixels(a, src, add, dst),), made)


def _forward(function: str, a: Attributes, src: View, add: View | None, dst: View) -> tuple[Call, ...]:
    """The call of a context of images; none for an empty batch."""
    if src.shape[0] == 0:
        return ()
    dense = src.is_dense and dst.is_dense and (add is None or add.is_dense)
    if not dense or (add is not None and a["order"] == "activation"):
        return (_pixels(a, src, add, dst),)
    if add is None:
        return (Call(function, (OWN, src, None, dst)),)
    return (Call("SimdnetConvolution32fForwardAdd", (OWN, src, None, add, dst)),)


def _pixels(a: Attributes, src: View, add: View | None, dst: View) -> Call:
    """The call for channel slices, and for an addend in any order."""
    after = add is not None and a["order"] == "activation"
    members = {
        "src": src,
        "add": add,
        "dst": dst,
        "srcPixel": pixel_of(src),
        "addPixel": pixel_of(add),
        "dstPixel": pixel_of(dst),
        "order": lib.SimdnetAddAfterActivation if after else lib.SimdnetAddBeforeActivation,
    }
    return Call("SimdnetForward", (OWN, Struct("SimdnetForwardParameters", members)))


def of_pixels(src: View, dst: View) -> Call:
    """The call of a context that adds nothing."""
    return _pixels({}, src, None, dst)


# ---- of quantised bytes


def quantized_convolution(a: Attributes, x: Operands, y: Operands) -> Steps:
    """QuantizedConv."""
    (src, weight, scale, bias, table, add), (dst,), name = given(x, 6), y, "SimdSynetQuantizedConvolution"
    members = _geometry(a, src, dst, weight.shape[2:], a["pads"])
    members |= {"srcT": lib.SimdTensorData8u, "dstT": lib.SimdTensorData8u}
    order = (2, 3, 1, 0) if a["layout"] == "nhwc" else (0, 1, 2, 3)
    (first, last), (before, after), count = a["scales"], a["zeros"], members["dstC"]
    scales, zeros = np.array([first, 1, last], np.float32), np.array([before, 0, after], np.uint8)
    weights, terms = weight.values.transpose(order), (per_channel(scale.values, count), per_channel(_values(bias), count))
    if table is None and add is None:
        params = Call(f"{name}SetParams", (OWN, scales, zeros, weights, *terms, None))
    else:
        params = _with_more(a, weights, *terms, _values(table), add)
    made = Made(Call(f"{name}Init", (src.shape[0] or 1, Struct("SimdConvolutionParameters", members))), params)
    if add is not None and src.shape[0] != 0:
        return Steps((_pixels(a, src, add, dst),), made)
    return Steps(_forward(f"{name}Forward", a, src, None, dst), made)


def _with_more(a: Attributes, weight: Any, scale: Any, bias: Any, table: Any, add: View | None) -> Call:
    """The call that sets the parameters of a layer of bytes, the table of its results, and what is added to them."""
    (first, last), (before, after) = a["scales"], a["zeros"]
    members = {"srcScale": first, "dstScale": last, "srcZero": before, "dstZero": after, "weight": weight}
    members |= {"weightScale": scale, "bias": bias, "table": table}
    if add is not None:
        members |= {"adds": True, "addFirst": bool(a["add_first"]), "addType": tensor_type(add.dtype)}
        members |= dict(zip(("ownScale", "addScale", "sumScale"), a["sum_scales"]))
        members |= dict(zip(("ownZero", "addZero", "sumZero"), a["sum_zeros"]))
    return Call("SimdnetQuantizedSetParams", (OWN, Struct("SimdnetQuantizedParams", members)))


def quantized_linear(a: Attributes, x: Operands, y: Operands) -> Steps:
    """QuantizedLinear."""
    (src, weight, scale, bias, table, add), (dst,), name = given(x, 6), y, "SimdSynetQuantizedInnerProduct"
    (size, count), rows = weight.shape, prod(src.shape[:-1])
    types = lib.SimdTensorData8u, lib.SimdTensorData8i, lib.SimdTensorData8u
    (first, last), (before, after) = ([np.array([n], kind) for n in a[key]] for key, kind in _SCALES)
    terms = per_channel(scale.values, count), per_channel(_values(bias), count)
    params = Call(f"{name}SetParams", (OWN, first, before, weight.values, *terms, last, after))
    if table is not None or add is not None:
        params = _with_more(a, weight.values, *terms, _values(table), add)
    made = Made(Call(f"{name}Init", (rows, count, size, *types, False, True, bias is not None)), params)
    if rows == 0:
        return Steps((), made)
    if add is None and src.is_dense and dst.is_dense:
        return Steps((Call(f"{name}Forward", (OWN, src, None, None, dst)),), made)
    return Steps((_pixels(a, src, add, dst),), made)


def packed_product(a: Attributes, x: Operands, y: Operands) -> Steps:
    """PackedProduct."""
    (src, weight, zero, src_zero, src_scale, scale, bias), (dst,), name = given(x, 7), y, "SimdnetQuantizedGemm"
    size, count = weight.shape
    types = tensor_type(src.dtype), tensor_type(weight.dtype), tensor_type(a["dtype"])
    columns = {"zeroB": _values(zero), "scaleB": _values(scale), "bias": _values(bias)}
    members = {"M": prod(src.shape[:-1]), "N": count, "K": size, "A": src, "C": dst, "zeroA": src_zero, "scaleA": src_scale}
    members |= {place: per_column(values, count) for place, values in columns.items()}
    members |= dict(zip(("typeA", "typeB", "typeC"), types))
    members["perColumn"] = zero is not None or scale is not None
    made = Made(Call(f"{name}Init", (count, size, types[1])), Call(f"{name}SetParams", (OWN, weight.values, False)))
    forward = Call(f"{name}Forward", (OWN, Struct("SimdnetQuantizedGemmParameters", members)))
    return Steps((forward,) if dst.size != 0 else (), made)


def nbits_product(a: Attributes, x: Operands, y: Operands) -> Steps:
    """NBitsProduct."""
    (src, weight, scale, zero, bias), (dst,) = given(x, 5), y
    count, _, size = weight.shape
    members = {"M": prod(src.shape[:-1]), "N": count, "K": src.shape[-1], "bits": a["bits"], "quantised": True}
    members |= {"block": size * 8 // a["bits"], "src": src, "dst": dst}
    constants = {"weight": weight, "scale": scale, "zero": zero, "bias": bias}
    members |= {name: _values(each) for name, each in constants.items()}
    return Steps((Call("SimdnetGemmNBits", (Struct("SimdnetGemmNBitsParameters", members),)),) if dst.size else ())


# ---- recurrent layers


def recurrent(kind: int, places: int, a: Attributes, x: Operands, y: Operands) -> Steps:
    """Lstm, Gru and Rnn.

    kind : an enumerator of SimdnetRecurrentType.
    places : the activations of a direction.
    """
    create, call = _recurrent_calls(kind, places, a, x, y)
    weights = [_values(each) for each in given((*x[1:4], *x[7:8]), 4)]
    made = Made(create, Call("SimdnetRecurrentSetParams", (OWN, *weights)))
    return Steps((call,) if y[0].size else (), made)


def byte_lstm(a: Attributes, x: Operands, y: Operands) -> Steps:
    """ByteLstm."""
    x = given(x, 12)
    weight, hidden_weight, bias, peephole, of_weight, of_hidden, zero, hidden_zero = map(_values, (*x[1:4], *x[7:]))
    create, call = _recurrent_calls(lib.SimdnetRecurrentLstm, 3, a, x[:8], y)
    columns = 4 * a["hidden"]
    each = any(scale.shape[-1] == columns for scale in (of_weight, of_hidden))
    scales = {"scaleW": of_weight, "scaleR": of_hidden, "zeroW": zero, "zeroR": hidden_zero}
    members: dict[str, Any] = {"type": tensor_type(weight.dtype), "perColumn": each, "W": weight, "R": hidden_weight}
    members |= {"bias": bias, "peephole": peephole}
    for name, values in scales.items():
        if values is not None:
            shape = (len(values), columns if each else 1)
            members[name] = np.ascontiguousarray(np.broadcast_to(values.reshape(len(values), -1), shape))
    params = Call("SimdnetRecurrentSetQuantizedParams", (OWN, Struct("SimdnetRecurrentQuantizedParams", members)))
    return Steps((call,) if y[0].size else (), Made(create, params))


def _recurrent_calls(kind: int, places: int, a: Attributes, x: Operands, y: Operands) -> tuple[Call, Call]:
    """What creates a context, and what computes with it."""
    from pysimd.recurrent import DIRECTIONS, activations_of  # here, as few models need it

    src, _, _, _, lengths, h0, c0, _ = given(x, 8)
    directions = 2 if a["direction"] == "bidirectional" else 1
    steps, batch, size = src.shape if not a["batch_first"] else (src.shape[1], src.shape[0], src.shape[2])
    members = {
        "type": kind,
        "direction": DIRECTIONS[a["direction"]],
        "steps": steps,
        "batch": batch or 1,
        "input": size,
        "hidden": a["hidden"],
        "batchFirst": bool(a["batch_first"]),
        "linearBeforeReset": bool(a.get("linear_before_reset", False)),
        "inputForget": bool(a.get("input_forget", False)),
        "clip": a.get("clip") or 0.0,
        **_activations(activations_of(a.get("activations"), places, directions), places),
    }
    create = Call("SimdnetRecurrentInit", (Struct("SimdnetRecurrentParameters", members),))
    arrays = {"src": src, "h0": h0, "c0": c0, "lengths": lengths, "dst": y[0], "hn": y[1], "cn": given(y, 3)[2]}
    return create, Call("SimdnetRecurrentCompute", (OWN, Struct("SimdnetRecurrentArrays", arrays)))


def _activations(chosen: Sequence[Any] | None, places: int) -> dict[str, Any]:
    """The members for activations that are not the usual ones: three places for each direction."""
    from pysimd.recurrent import ACTIVATIONS

    codes, alpha, beta = [0] * 6, [0.0] * 6, [0.0] * 6
    for i, (name, *numbers) in enumerate(chosen or ()):
        at = i // places * 3 + i % places
        codes[at] = ACTIVATIONS[name].activation
        alpha[at], beta[at] = (*numbers, 0.0, 0.0)[:2]
    return {"activations": tuple(codes), "alpha": tuple(alpha), "beta": tuple(beta)} if chosen else {}
