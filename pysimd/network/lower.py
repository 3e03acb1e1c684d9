"""The calls that compute each node.

Nodes are those of stored tensors, see :mod:`pysimd.network.layouts`; an array may be a channel slice of a larger one where
:mod:`pysimd.network.memory` permits it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from math import prod
from typing import Any, NamedTuple

import numpy as np

from pysimd._geometry import NCHW, NHWC
from pysimd._library import lib
from pysimd.annotations import Array
from pysimd.network import layers
from pysimd.network.calls import OWN, Call, Made, PythonCall, Steps, Struct
from pysimd.network.functions import (
    around,
    binary,
    by_channel,
    copied,
    elementwise,
    format_of,
    images_of,
    moved_type,
    normalized,
    of_struct,
    per_channel,
    pixel_of,
    pixelwise,
    quantized_binary,
    reduced,
    selected,
    tensor_type,
    unary,
)
from pysimd.network.graph import Node
from pysimd.network.layers import Attributes, Operands, given
from pysimd.network.open_arrays import later, times, times_root
from pysimd.network.operators import SCATTER, constant_places
from pysimd.network.products import attention, byte_products, bytes_matmul, products
from pysimd.network.ranks import MOST, groups_of
from pysimd.network.ranks import merged as merged_shape
from pysimd.network.views import Constant, View, Views


def lowered(node: Node, views: Views) -> Steps:
    """The calls of a node. Raises ValueError, with the node, for one that the library cannot compute."""
    x, y = [views[name] if name else None for name in node.inputs], [views[name] for name in node.outputs]
    with named(node):
        return steps_of(node, x, y)


class named:  # used as a function, with a third of the time of a generator
    """Errors of the library become ValueErrors with the node."""

    def __init__(self, node: Node) -> None:
        self._node = node

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if isinstance(error, (ValueError, TypeError)):
            node = self._node
            raise ValueError(f"the node {', '.join(node.origin)!r} ({node.operator}): {error}") from error


def steps_of(node: Node, x: Operands, y: Operands) -> Steps:
    """The calls of a node with these inputs, None for missing ones, and outputs."""
    if node.operator not in _OPERATORS:
        raise ValueError(f"the operator {node.operator} is not known")
    found = _OPERATORS[node.operator](node.attributes, x, y)
    return found if isinstance(found, Steps) else Steps((found,) if isinstance(found, Call) else tuple(found))


def read_by_calls(node: Node) -> list[str]:
    """The inputs whose elements are read when the node is computed: all but those that a context has packed."""
    packed = constant_places(node.operator, len(node.inputs)) if node.operator in _WEIGHTED else ()
    return [name for i, name in enumerate(node.inputs) if i not in packed]


# ---- images


def _pooling(kind: int, src: View, dst: View, layout: str, window: Sequence[Sequence[int]], exclude: bool = False) -> Call:
    """window : kernel, strides, and the padding at the top and at the left."""
    (n, c, src_h, src_w), (_, _, dst_h, dst_w) = (images_of(each.shape, layout) for each in (src, dst))
    dense = src.is_dense and dst.is_dense
    members = {"type": kind, "dataType": tensor_type(src.dtype), "format": format_of(layout), "src": src, "dst": dst}
    members |= {"srcPixel": 0 if dense else pixel_of(src), "dstPixel": 0 if dense else pixel_of(dst)}
    members |= {"batch": n, "channels": c, "srcH": src_h, "srcW": src_w, "dstH": dst_h, "dstW": dst_w}
    for name, (vertical, horizontal) in zip(("kernel", "stride", "pad"), window):
        members |= {f"{name}Y": vertical, f"{name}X": horizontal}
    return of_struct("SimdnetPooling", "SimdnetPoolingParameters", {**members, "excludePad": exclude})


def _max_pool(a: Attributes, x: Operands, y: Operands) -> Call:
    return _pooling(lib.SimdnetPoolingMax, x[0], y[0], a["layout"], (a["kernel"], a["strides"], a["pads"][:2]))


_QUANTIZED_POOLING = {
    "max": lib.SimdnetQuantizedPoolingMax,
    "average": lib.SimdnetQuantizedPoolingAverage,
    "global_average": lib.SimdnetQuantizedPoolingGlobalAverage,
}


def _quantized_pool(a: Attributes, x: Operands, y: Operands) -> Call:
    (src,), (dst,) = x, y
    (n, c, src_h, src_w), (_, _, dst_h, dst_w) = (images_of(each.shape, a["layout"]) for each in (src, dst))
    members = {"type": _QUANTIZED_POOLING[a["kind"]], "dataType": tensor_type(src.dtype), "format": format_of(a["layout"])}
    members |= {"src": src, "dst": dst, "batch": n, "channels": c}
    members |= {"srcH": src_h, "srcW": src_w, "dstH": dst_h, "dstW": dst_w}
    members |= dict(zip(("kernelY", "kernelX"), a["kernel"])) | dict(zip(("strideY", "strideX"), a["strides"]))
    members |= dict(zip(("padY", "padX", "padH", "padW"), a["pads"])) | {"excludePad": not a["count_include_pad"]}
    members |= dict(zip(("scaleSrc", "scaleDst"), a["scales"])) | dict(zip(("zeroSrc", "zeroDst"), a["zeros"]))
    return of_struct("SimdnetQuantizedPooling", "SimdnetQuantizedPoolingParameters", members)


class _Piece(NamedTuple):
    """Windows of an axis: the part of the image that they cover, their part of the result, and their numbers."""

    begin: int
    size: int
    first: int
    windows: int
    kernel: int
    stride: int
    pad: int


def _pieces(src: int, dst: int, kernel: int, stride: int, pad: int, after: int, ceil: bool) -> list[_Piece]:
    """All windows of an axis; then the last one if it ends beyond the image and its padding, cut off there."""
    found = [_Piece(0, src, 0, dst, kernel, stride, pad)]
    start, end = (dst - 1) * stride - pad, src + after
    if ceil and dst and start + kernel > end:
        begin = max(start, 0)
        found.append(_Piece(begin, src - begin, dst - 1, 1, end - start, stride, begin - start))
    return found


def _average_pool(a: Attributes, x: Operands, y: Operands) -> Steps:
    """A mean is divided by the elements inside the image and its padding: windows that extend beyond these are computed
    again by themselves, from a copy of their part of the image."""
    (src,), (dst,), layout, pads, axes = x, y, a["layout"], a["pads"], (1, 2)
    each = [
        _pieces(src.shape[axis], dst.shape[axis], a["kernel"][i], a["strides"][i], pads[i], pads[i + 2], a["ceil"])
        for i, axis in enumerate(axes)
    ]
    _, *again = product(*each)
    exclude = not a["count_include_pad"] or (bool(again) and not any(pads))  # without padding both divisors are the same
    window: Sequence[Sequence[int]] = (a["kernel"], a["strides"], pads[:2])
    calls, scratch = [_pooling(lib.SimdnetPoolingAverage, src, dst, layout, window, exclude)], 0
    for pieces in () if exclude else again:
        part, result = src, dst
        for axis, piece in zip(axes, pieces):
            part, result = part.section(axis, piece.begin, piece.size), result.section(axis, piece.first, piece.windows)
        source = View("", src.dtype, part.shape)
        target = View("", dst.dtype, result.shape, None, source.nbytes)
        window = tuple(zip(*((piece.kernel, piece.stride, piece.pad) for piece in pieces)))
        calls += [*copied(part, source), _pooling(lib.SimdnetPoolingAverage, source, target, layout, window)]
        calls += copied(target, result)
        scratch = max(scratch, source.nbytes + target.nbytes)
    return Steps(tuple(calls), scratch=scratch)


def _resize(a: Attributes, x: Operands, y: Operands) -> Steps:
    from pysimd.resize import COORDINATES, MODES, ROUNDINGS  # here, as few models need it

    (src,), (dst,), layout = x, y, a["layout"]
    if src.dtype not in (np.float32, np.uint8):
        src, dst = _in_parts(src), _in_parts(dst)
    (n, c, src_h, src_w), (_, _, dst_h, dst_w) = (images_of(each.shape, layout) for each in (src, dst))
    scale = a["scale"] or (0.0, 0.0)
    members: dict[str, Any] = {"dataType": tensor_type(src.dtype), "format": format_of(layout), "batch": n, "channels": c}
    members |= {"srcH": src_h, "srcW": src_w, "dstH": dst_h, "dstW": dst_w, "method": MODES[a["mode"]]}
    members |= {"coordinates": COORDINATES[a["coordinates"]], "rounding": ROUNDINGS[a["rounding"]]}
    members |= {"scaleY": scale[0], "scaleX": scale[1], "cubic": a["cubic"]}
    members |= {"antialias": bool(a["antialias"]), "excludeOutside": bool(a["exclude_outside"])}
    made = Made(Call("SimdnetResizeInit", (Struct("SimdnetResizeParameters", members),)))
    if src.is_dense and dst.is_dense:
        return Steps((Call("SimdnetResizeForward", (OWN, src, dst)),), made)
    return Steps((layers.of_pixels(src, dst),), made)


def _in_parts(x: View) -> View:
    """Images of any type as those of floats or bytes, which are copied: each element is some channels."""
    return x.view(np.uint8 if x.itemsize % 4 else np.float32)


def _grid_sample(a: Attributes, x: Operands, y: Operands) -> Steps:
    from pysimd.grid_sample import MODES, PADDINGS

    modes = MODES[a["mode"]], PADDINGS[a["padding_mode"]], bool(a["align_corners"])
    sizes = (*x[0].shape, *y[0].shape[2:], lib.SimdTensorData32f)
    made = Made(Call("SimdSynetGridSample2dInit", (*sizes, *modes)))
    return Steps((Call("SimdSynetGridSample2dForward", (OWN, x[0], x[1], y[0])),), made)


def _roi_align(a: Attributes, x: Operands, y: Operands) -> Call:
    (src, regions, images), (dst,) = x, y
    batch, channels, *size = src.shape
    members = {"src": src, "regions": regions, "images": images, "dst": dst, "batch": batch, "channels": channels}
    members |= {"srcH": size[0], "srcW": size[1], "count": dst.shape[0], "dstH": dst.shape[2], "dstW": dst.shape[3]}
    members |= {
        "spatialScale": a["scale"],
        "samplingRatio": a["ratio"],
        "max": a["mode"] == "max",
        "halfPixel": a["half_pixel"],
    }
    return of_struct("SimdnetRoiAlign", "SimdnetRoiAlignParameters", members)


def _lrn(a: Attributes, x: Operands, y: Operands) -> Call:
    if a["size"] % 2 == 0:
        raise ValueError(f"size is {a['size']}, expected an odd number")
    (src,), (dst,), factors = x, y, (a["bias"], a["alpha"] / a["size"], -a["beta"])
    function, half = "SimdSynetLrnLayerCrossChannels", a["size"] // 2
    pixels = prod(src.shape[:-1])  # the images of a batch follow each other, like the pixels of one
    return Call(function, (src, half, src.shape[-1], pixels, factors, dst, NHWC))


# ---- element by element


def _unary(a: Attributes, x: Operands, y: Operands) -> Call:
    return unary(a["function"], a["params"], x[0], y[0])


def _binary(a: Attributes, x: Operands, y: Operands) -> Call:
    (left, right), (dst,), function = x, y, a["function"]
    if not all(view.is_dense for view in (left, right, dst)):
        several = {"add": ("Sum", (1.0, 1.0)), "multiply": ("Product", ())}
        return pixelwise(several[function][0], left, dst, several[function][1], src1=right)
    left, right, dst = _fewer_dimensions(left, right, dst)
    return binary(function, left, right, dst, a["activation"])


def _fewer_dimensions(*views: View) -> Sequence[View]:
    """Operands that are broadcast and their result, whose dimensions are joined if they are too many."""
    if views[-1].ndim <= MOST:
        return views
    groups = groups_of([tuple(n == sizes[-1] for n in sizes) for sizes in zip(*(view.shape for view in views))])
    return [view.reshape(merged_shape(view.shape, groups)) for view in views]


def _elementwise(a: Attributes, x: Operands, y: Operands) -> Call:
    return elementwise(a["function"], *_fewer_dimensions(*x, *y))


def _select(a: Attributes, x: Operands, y: Operands) -> Call:
    return selected(*_fewer_dimensions(*x, *y))


def _scale(a: Attributes, x: Operands, y: Operands) -> Call:
    return by_channel("Scale", x[0], _terms(x, a["axis"]), y[0], a["axis"])


def _prelu(a: Attributes, x: Operands, y: Operands) -> Call:
    return by_channel("Prelu", x[0], _terms(x, a["axis"])[:1], y[0], a["axis"])


def _terms(x: Operands, axis: int) -> tuple[Array | None, Array | None]:
    """The two constants of an operator for each coordinate of an axis, the second of which may be missing."""
    first, second = (None if each is None else each.values for each in given(x[1:], 2))
    return per_channel(first, x[0].shape[axis]), per_channel(second, x[0].shape[axis])


def _cast(a: Attributes, x: Operands, y: Operands) -> Call:
    return Call("SimdnetCast", (tensor_type(x[0].dtype), x[0], x[0].size, tensor_type(a["dtype"]), y[0]))


def _quantized(function: str, packed: int) -> Callable[[Attributes, Operands, Operands], Call]:
    """packed : the place of the bytes, 0 for the input, 1 for the output."""

    def call(a: Attributes, x: Operands, y: Operands) -> Call:
        (src, scale, zero), dst = given(x, 3), y[0]
        axis = a["axis"]
        outer, channels, inner = (1, 1, src.size) if axis is None else around(src.shape, axis)
        members = {"dataType": tensor_type((src, dst)[packed].dtype), "outer": outer, "channels": channels, "inner": inner}
        members |= {"src": src, "dst": dst, "scale": _of_channels(scale, channels), "zero": _of_channels(zero, channels)}
        return of_struct(function, "SimdnetQuantizeLinearParameters", members)

    return call


def _dynamic_quantize(a: Attributes, x: Operands, y: Operands) -> Call:
    members = {"elements": x[0].size, "src": x[0], "dst": y[0], "scale": y[1], "zero": y[2]}
    return of_struct("SimdnetDynamicQuantize", "SimdnetDynamicQuantizeParameters", members)


def _quantized_binary(a: Attributes, x: Operands, y: Operands) -> Call:
    left, right, dst = _fewer_dimensions(*x, *y)
    return quantized_binary(a["function"], left, right, dst, a["scales"], a["zeros"])


def _table(a: Attributes, x: Operands, y: Operands) -> Call:
    src, dst = (view if view.ndim else view.reshape((1,)) for view in (x[0], y[0]))
    members = {"table": x[1].values, "src": src, "dst": dst, "channels": src.shape[-1], "pixels": prod(src.shape[:-1])}
    members |= {"srcPixel": pixel_of(src), "dstPixel": pixel_of(dst)}
    return of_struct("SimdnetTable8", "SimdnetTable8Parameters", members)


def _of_channels(operand: Any, channels: int) -> Any:
    """A number for each channel: the array of a constant, or a view of what is computed."""
    return per_channel(operand.values, channels) if isinstance(operand, Constant) else operand


# ---- reductions


def _softmax(a: Attributes, x: Operands, y: Operands) -> Steps:
    (src,), (dst,), axis = x, y, a["axis"]
    if not a["log"]:
        return Steps((Call("SimdSynetSoftmaxLayerForward", (src, *around(src.shape, axis), dst)),))
    # The largest value is subtracted first: of large numbers, the sum of exponentials has too few digits after the point.
    total = View("", src.dtype, (*src.shape[:axis], 1, *src.shape[axis + 1 :]))
    calls = (
        reduced("max", src, (axis,), total),
        binary("subtract", src, total, dst),
        reduced("logsumexp", dst, (axis,), total),
        binary("subtract", dst, total, dst),
    )
    return Steps(calls, scratch=total.nbytes)


def _reduce(a: Attributes, x: Operands, y: Operands) -> Call:
    flags = [axis in a["axes"] for axis in range(x[0].ndim)]
    groups = groups_of(flags)
    axes = tuple(i for i, group in enumerate(groups) if flags[group[0]])
    src = x[0].reshape(merged_shape(x[0].shape, groups))
    return reduced(a["function"], src, axes, y[0], a.get("last", False))


def _layer_norm(a: Attributes, x: Operands, y: Operands) -> Call:
    src, scale, bias = given(x, 3)
    channels = prod(src.shape[a["axis"] :])
    terms = _with_defaults(scale, bias, channels)
    return normalized(2, src, (1, channels, prod(src.shape[: a["axis"]])), terms, a["eps"], NHWC, y[0])


def _channel_norm(a: Attributes, x: Operands, y: Operands) -> list[Call]:
    (src, scale, bias), (dst,), groups = given(x, 3), y, a["groups"]
    last, n = a["layout"] == "nhwc", src.shape[0]
    c, size = (src.shape[-1], prod(src.shape[1:-1])) if last else (src.shape[1], prod(src.shape[2:]))
    terms = _with_defaults(scale, bias, c)
    if groups:
        return [Call("SimdnetGroupNorm", (src, n, c, size, groups, *terms, (a["eps"],), dst))]
    return [normalized(3, src, (n, c, size), terms, a["eps"], NHWC if last else NCHW, dst)]


def _with_defaults(scale: Any, bias: Any, channels: int) -> tuple[Any, Any]:
    """Factors and addends for each channel: 1 and 0 if there are none."""
    values = [None if each is None else each.values for each in (scale, bias)]
    return per_channel(values[0], channels, 1.0), per_channel(values[1], channels, 0.0)


def _l2_norm(a: Attributes, x: Operands, y: Operands) -> Steps:
    (src,), (dst,), axis = x, y, a["axis"]
    if axis == src.ndim - 1:
        sizes = 1, src.shape[-1], prod(src.shape[:-1])
        weight = per_channel(None, src.shape[-1], 1.0)
        return Steps((Call("SimdSynetNormalizeLayerForward", (src, *sizes, weight, (a["eps"],), False, NHWC, None, dst)),))
    length = View("", src.dtype, (*src.shape[:axis], 1, *src.shape[axis + 1 :]))
    least = np.full((), a["eps"] ** 0.5, np.float32)
    calls = reduced("l2", src, (axis,), length), binary("maximum", length, least, length), binary("divide", src, length, dst)
    return Steps(calls, scratch=length.nbytes)


def _rms_norm(a: Attributes, x: Operands, y: Operands) -> list[Call]:
    """By the sum of squares, n times their mean."""
    (src, scale), n = given(x, 2), x[0].shape[-1]
    factors = per_channel(None if scale is None else scale.values, n, 1.0)
    weight, eps = later(times_root, (n,), factors, n), later(times, (1,), np.full(1, a["eps"]), n)
    sizes = 1, n, prod(src.shape[:-1])
    return [Call("SimdSynetNormalizeLayerForward", (src, *sizes, weight, eps, False, NHWC, None, y[0]))]


# ---- copies


def _concat(a: Attributes, x: Operands, y: Operands) -> list[Call]:
    """Copies the parts that are not written in place."""
    calls: list[Call] = []
    begin, axis = 0, a["axis"]
    for part in x:
        target = y[0].section(axis, begin, part.shape[axis])
        begin = begin + part.shape[axis]
        if part.root != target.root or part.offset != target.offset:
            calls += copied(part, target)
    return calls


def _slice(a: Attributes, x: Operands, y: Operands) -> list[Call]:
    return copied(x[0].part(a["starts"], a["steps"], a["sizes"]), y[0])


def _pad(a: Attributes, x: Operands, y: Operands) -> Call:
    from pysimd.copy import MODES

    (src,), (dst,), pads = x, y, a["pads"]
    if src.ndim > MOST:
        groups = groups_of([True if tuple(width) == (0, 0) else i for i, width in enumerate(pads, 2)])
        src, dst = (view.reshape(merged_shape(view.shape, groups)) for view in (src, dst))
        pads = [pads[group[0]] for group in groups]
    before, after = zip(*pads) if pads else ((), ())
    members = {"mode": MODES[a["mode"]], "dataType": moved_type(src), "count": src.ndim, "shape": src.shape}
    members |= {"before": before, "after": after, "src": src, "dst": dst, "value": np.full(1, a["value"], src.dtype)}
    return of_struct("SimdnetPad", "SimdnetPadParameters", members)


def _transpose(a: Attributes, x: Operands, y: Operands) -> list[Call]:
    return copied(x[0].transpose(a["perm"]), y[0])


def _reshape(a: Attributes, x: Operands, y: Operands) -> list[Call]:
    return copied(x[0], y[0].reshape(x[0].shape))


def _expand(a: Attributes, x: Operands, y: Operands) -> list[Call]:
    return copied(x[0].broadcast(y[0].shape), y[0])


def _gather(a: Attributes, x: Operands, y: Operands) -> Call:
    src, indices = x
    sizes = around(src.shape, a["axis"])
    return Call("SimdnetGather", (moved_type(src), src, *sizes, indices, indices.size, y[0]))


def _gather_elements(a: Attributes, x: Operands, y: Operands) -> Steps:
    """Elements of 8 bytes are two halves, with the same index."""
    (src, indices), (dst,) = x, y
    outer, count, inner = around(src.shape, a["axis"])
    calls, scratch, sizes = [], 0, ((outer,), 1, count, inner, indices.shape[a["axis"]])
    if src.itemsize == 8:
        both = View("", indices.dtype, (*indices.shape, 2))
        calls, scratch = copied(indices.reshape((*indices.shape, 1)).broadcast(both.shape), both), both.nbytes
        src, dst = (view.reshape((*view.shape, 1)).view(np.float32) for view in (src, dst))
        indices, sizes = both, (*sizes[:3], 2 * inner, sizes[4])
    made = Made(Call("SimdSynetGatherElementsInit", (moved_type(src), tensor_type(indices.dtype), True, 1, *sizes)))
    return Steps((*calls, Call("SimdSynetGatherElementsForward", (OWN, src, indices, dst))), made, scratch)


def _scatter_elements(a: Attributes, x: Operands, y: Operands) -> Call:
    src, indices, updates = x
    members = {"dataType": _scattered(a, src), "reduction": SCATTER.index(a["reduction"]), "count": src.ndim}
    members |= {"axis": a["axis"], "shape": src.shape, "updatesShape": updates.shape, "indexShape": indices.shape}
    members |= {"src": src, "index": indices, "updates": updates, "dst": y[0]}
    return of_struct("SimdnetScatterElements", "SimdnetScatterElementsParameters", members)


def _scattered(a: Attributes, src: View) -> int:
    """The type of the elements; any that has their size if nothing is computed."""
    return moved_type(src) if a["reduction"] == "none" else tensor_type(src.dtype)


def _scatter_nd(a: Attributes, x: Operands, y: Operands) -> Call:
    src, indices, updates, *rows = x
    members = {"dataType": _scattered(a, src), "reduction": SCATTER.index(a["reduction"]), "updates": updates}
    for each in rows:
        members |= {"rows": each, "rowCount": updates.shape[0]}
    return _of_parts("SimdnetScatterNd", src, indices, y[0], 0, members)


def _gather_nd(a: Attributes, x: Operands, y: Operands) -> Call:
    src, indices = x
    return _of_parts("SimdnetGatherNd", src, indices, y[0], a["batch"], {"dataType": moved_type(src)})


def _of_parts(function: str, src: View, indices: View, dst: View, batch: int, members: dict[str, Any]) -> Call:
    """A function of the parts of an array that indices select."""
    depth = indices.shape[-1]
    members |= {"batch": prod(src.shape[:batch]), "depth": depth, "shape": src.shape[batch : batch + depth]}
    members |= {"inner": prod(src.shape[batch + depth :]), "indices": prod(indices.shape[batch:-1])}
    return of_struct(function, "SimdnetScatterNdParameters", {**members, "src": src, "index": indices, "dst": dst})


def _cumulative_sum(a: Attributes, x: Operands, y: Operands) -> Call:
    sizes = around(x[0].shape, a["axis"])
    return Call("SimdnetCumulativeSum", (tensor_type(x[0].dtype), x[0], *sizes, a["exclusive"], a["reverse"], y[0]))


def _top_k(a: Attributes, x: Operands, y: Operands) -> Call:
    sizes = around(x[0].shape, a["axis"])
    given = (x[0], *sizes, a["k"], bool(a["largest"]), bool(a["sorted"]), y[0], y[1])
    if x[0].dtype == np.float32:
        return Call("SimdnetTopK", given)
    return Call("SimdnetTopKIntegers", (tensor_type(x[0].dtype), *given))


# ---- others


def _matmul(a: Attributes, x: Operands, y: Operands) -> list[Call]:
    left, right, result = (
        view.transpose(a[name]) for view, name in ((x[0], "perm_a"), (x[1], "perm_b"), (y[0], "perm_out"))
    )
    return products(left, right, result)


def _attention(a: Attributes, x: Operands, y: Operands) -> list[Call]:
    q, k, v, result = (
        view.transpose(a[name]) for view, name in zip((*x[:3], y[0]), ("perm_q", "perm_k", "perm_v", "perm_out"))
    )
    return attention(q, k, v, x[3] if len(x) > 3 else None, a["scale"], result, a.get("prefer", 0))


def _byte_product(a: Attributes, x: Operands, y: Operands) -> list[Call]:
    return byte_products(x[0], x[1], y[0])


def _bytes_matmul(a: Attributes, x: Operands, y: Operands) -> list[Call]:
    left, right, left_zero, right_zero = given(x, 4)
    return bytes_matmul(left, right, left_zero, right_zero, y[0], a)


def _host(a: Attributes, x: Operands, y: Operands) -> Steps:
    return Steps((PythonCall(a["function"], tuple(x), tuple(y)),))


def _recurrent(kind: int, places: int) -> Callable[[Attributes, Operands, Operands], Steps]:
    return lambda a, x, y: layers.recurrent(kind, places, a, x, y)


#: Operators whose constants a context packs.
_WEIGHTED: Mapping[str, Any] = {
    "ByteLstm": layers.byte_lstm,
    "Conv": layers.convolution,
    "ConvTranspose": layers.deconvolution,
    "Gru": _recurrent(lib.SimdnetRecurrentGru, 2),
    "Linear": layers.linear,
    "Lstm": _recurrent(lib.SimdnetRecurrentLstm, 3),
    "MergedConvolution": layers.merged,
    "NBitsProduct": layers.nbits_product,
    "PackedProduct": layers.packed_product,
    "QuantizedConv": layers.quantized_convolution,
    "QuantizedLinear": layers.quantized_linear,
    "Rnn": _recurrent(lib.SimdnetRecurrentRnn, 1),
}

_OPERATORS: Mapping[str, Any] = {
    **_WEIGHTED,
    "AveragePool": _average_pool,
    "Binary": _binary,
    "ByteProduct": _byte_product,
    "BytesMatMul": _bytes_matmul,
    "Cast": _cast,
    "ChannelNorm": _channel_norm,
    "Concat": _concat,
    "CumulativeSum": _cumulative_sum,
    "Dequantize": _quantized("SimdnetDequantizeLinear", 0),
    "DynamicConv": layers.convolution,
    "DynamicConvTranspose": layers.deconvolution,
    "DynamicQuantize": _dynamic_quantize,
    "Elementwise": _elementwise,
    "ExactBinary": _binary,
    "Expand": _expand,
    "Gather": _gather,
    "GatherElements": _gather_elements,
    "GatherNd": _gather_nd,
    "GridSample": _grid_sample,
    "Host": _host,
    "L2Norm": _l2_norm,
    "LayerNorm": _layer_norm,
    "Lrn": _lrn,
    "Attention": _attention,
    "MatMul": _matmul,
    "MaxPool": _max_pool,
    "Pad": _pad,
    "Prelu": _prelu,
    "Quantize": _quantized("SimdnetQuantizeLinear", 1),
    "QuantizedBinary": _quantized_binary,
    "QuantizedPool": _quantized_pool,
    "Reduce": _reduce,
    "Reshape": _reshape,
    "Resize": _resize,
    "Scale": _scale,
    "RmsNorm": _rms_norm,
    "RoiAlign": _roi_align,
    "ScatterElements": _scatter_elements,
    "ScatterNd": _scatter_nd,
    "Select": _select,
    "Slice": _slice,
    "Softmax": _softmax,
    "Table8": _table,
    "TopK": _top_k,
    "Transpose": _transpose,
    "Unary": _unary,
}
