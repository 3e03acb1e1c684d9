"""Converters of operators that slide over images: convolutions, pooling, resizing, sampling.

Signals, images of one dimension, are images of height 1 here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from math import prod
from typing import Any

import numpy as np

from pysimd.annotations import Array, Shape
from pysimd.network.convert.conversion import Conversion, Value, converts, float32_of, replaced_at
from pysimd.network.convert.pointwise import activated
from pysimd.network.convert.windows import grid_positions, same_padding
from pysimd.network.open_arrays import is_array, later
from pysimd.network.operators import IDENTITY, windows_along
from pysimd.network.records import record
from pysimd.network.sizes import Size, whole
from pysimd.network.source import SourceNode
from pysimd.network.unsupported import Unsupported

_MOST_SLICES = 500


@record
class Window:
    """A sliding window in two or three dimensions, with its padding before them and after them."""

    kernel: Shape
    strides: Shape
    dilations: Shape
    before: Shape
    after: Shape

    @property
    def options(self) -> dict[str, Shape]:
        """As attributes of a node for the last two dimensions."""
        return {"strides": self.strides[-2:], "pads": (*self.before[-2:], *self.after[-2:])}


def sides_of(c: Conversion, most: int = 2) -> Shape:
    """The sizes of the images that are input 0, up to a number of dimensions; the height of signals is 1."""
    shape = c.shape(0)
    if not 3 <= len(shape) <= 2 + most:
        few = f"the shape is {shape}, expected (N, C, ...)"
        raise Unsupported(few if len(shape) < 3 else f"images have {len(shape) - 2} dimensions, supported are up to {most}")
    return (1,) * (4 - len(shape)) + tuple(shape[2:])


def image(c: Conversion) -> str:
    """Input 0 with two dimensions at least."""
    n, channels, *rest = c.shape(0)
    return c.reshape(c.tensor(0), (n, channels, *(1,) * (2 - len(rest)), *rest))


def like_input(c: Conversion, y: str) -> str:
    """An image, as a signal if input 0 is one."""
    if len(c.shape(0)) != 3:
        return y
    n, channels, _, *rest = c.builder.shape(y)
    return c.reshape(y, (n, channels, *rest))


def spatial(c: Conversion, name: str, default: int, values: Sequence[int] | None = None) -> Shape:
    """An attribute with a number for each dimension, two at least."""
    rank = len(c.shape(0)) - 2
    given = tuple(int(n) for n in (values or c.attribute(name, None) or (default,) * rank))
    if len(given) != rank:
        raise Unsupported(f"{name} is {list(given)}, expected {rank} numbers")
    return (default,) * (2 - rank) + given


def window_of(c: Conversion, kernel: Shape) -> Window:
    """The window of a convolution or a pooling, with its padding in numbers."""
    size, strides, dilations = sides_of(c, 3), spatial(c, "strides", 1), spatial(c, "dilations", 1)
    auto = c.option("auto_pad", "NOTSET", ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"))
    if min(*strides, *dilations, *kernel) < 1:
        raise Unsupported("strides, dilations and sizes of the kernel must be at least 1")
    before, after = padding_of(c) if auto == "NOTSET" else ((0,) * len(size),) * 2
    if auto.startswith("SAME"):
        before, after = same_padding(size, [(k - 1) * d + 1 for k, d in zip(kernel, dilations)], strides, auto)
    return Window(kernel, strides, dilations, before, after)


def padding_of(c: Conversion) -> tuple[Shape, Shape]:
    """The attribute pads: before and after the dimensions, two at least."""
    rank = len(c.shape(0)) - 2
    pads = tuple(int(n) for n in c.attribute("pads", None) or (0,) * 2 * rank)
    if len(pads) != 2 * rank or min(pads) < 0:
        raise Unsupported(f"pads are {list(pads)}, supported are {2 * rank} numbers of at least 0")
    more = (0,) * (2 - rank)
    return more + pads[:rank], more + pads[rank:]


def weights_of(c: Conversion, i: int = 1) -> Value:
    """The weights of a convolution, which are input i, with two dimensions of the kernel at least."""
    weight, shape = c.value(i), c.shape(i)
    if weight is None or len(shape) != len(c.shape(0)):
        raise Unsupported(f"the weight has shape {shape}, the images have shape {c.shape(0)}")
    kernel = c.attribute("kernel_shape", None)
    if kernel is not None and tuple(kernel) != tuple(shape[2:]):
        raise Unsupported(f"kernel_shape is {list(kernel)}, the weight has shape {shape}")
    return _reshaped(c, weight, (*shape[:2], *(1,) * (4 - len(shape)), *shape[2:]))


def _reshaped(c: Conversion, x: Value, shape: Sequence[int]) -> Value:
    return c.reshape(x, shape) if isinstance(x, str) else float32_of(x).reshape(shape)


def biased(c: Conversion, operator: str, x: str, weight: Value, i: int, **options: object) -> str:
    """A convolution; its bias is input i, part of it if that is known. Computed weights need another operator."""
    given = [c.constant(c.known(i).reshape(-1))] if c.is_known(i) else []
    if isinstance(weight, str):
        given = [c.reshape(c.tensor(i), (prod(c.shape(i)),))] if c.has(i) else []
        return c.add(f"Dynamic{operator}", x, weight, *given, **options)
    y = c.add(operator, x, c.constant(weight), *given, **options)
    return c.binary("add", y, c.reshape(c.tensor(i), (1, prod(c.shape(i)), 1, 1))) if c.has(i) and not given else y


@converts("Conv", "com.microsoft.FusedConv")
def _conv(c: Conversion, node: SourceNode) -> None:
    sides_of(c, 3)
    weight = weights_of(c)
    kernel = tuple(c.shape_of(weight)[2:])
    window, x = window_of(c, kernel), image(c)
    options: dict[str, object] = {"dilations": window.dilations[-2:], "group": int(c.attribute("group", 1))}
    options.update(window.options, activation=IDENTITY, order="add")
    y = biased(c, "Conv", x, weight, 2, **options) if len(kernel) == 2 else _conv_of_volumes(c, x, weight, window, options)
    if node.op == "FusedConv":
        if c.has(3):
            y = c.binary("add", y, c.reshape(c.tensor(3), c.builder.shape(y)))
        y = activated(c, y, c.attribute("activation", ""), *c.attribute("activation_params", ()))
    c.give(like_input(c, y))


@converts("CausalConvWithState")
def _causal_conv(c: Conversion, node: SourceNode) -> None:
    """Of each channel by itself, with elements of the signal before in front of it, or with zeros."""
    if len(c.shape(0)) != 3 or len(c.shape(1)) != 3 or c.shape(1)[:2] != (c.shape(0)[1], 1):
        raise Unsupported(f"the signal has shape {c.shape(0)}, the weight {c.shape(1)}")
    activation = c.option("activation", "none", ("none", "silu", "swish"))
    x, (channels, _, k), length = c.tensor(0), c.shape(1), c.shape(0)[2]
    if c.has(3):
        x = c.add("Concat", c.tensor(3), x, axis=2) if k > 1 else x
    else:
        x = c.add("Pad", x, pads=((0, 0), (0, 0), (k - 1, 0)), mode="constant", value=0.0)
    n, _, total = c.builder.shape(x)
    options = {"strides": (1, 1), "pads": (0, 0, 0, 0), "dilations": (1, 1), "group": channels}
    image, weight = c.reshape(x, (n, channels, 1, total)), weights_of(c)
    y = like_input(c, biased(c, "Conv", image, weight, 2, activation=IDENTITY, order="add", **options))
    c.give(y if activation == "none" else c.unary(y, "swish", 1.0), c.slice(x, 2, length, k - 1))


def _conv_of_volumes(c: Conversion, x: str, weight: Value, window: Window, options: Mapping[str, object]) -> str:
    """The sum of convolutions of planes, one for each plane of the kernel."""
    x = c.transpose(x, (0, 2, 1, 3, 4))
    if window.before[0] or window.after[0]:
        pads = ((0, 0), (window.before[0], window.after[0]), (0, 0), (0, 0), (0, 0))
        x = c.add("Pad", x, pads=pads, mode="constant", value=0.0)
    n, depth, channels, h, w = c.builder.shape(x)
    count = (depth - (window.kernel[0] - 1) * window.dilations[0] - 1) // window.strides[0] + 1
    if count < 1:
        raise Unsupported(f"the window is larger than the images of {c.shape(0)[2:]} with their padding")
    y = ""
    for i in range(window.kernel[0]):
        starts, steps = (0, i * window.dilations[0], 0, 0, 0), (1, window.strides[0], 1, 1, 1)
        planes = c.add("Slice", x, starts=starts, steps=steps, sizes=(n, count, channels, h, w))
        planes = c.reshape(planes, (n * count, channels, h, w))
        part = biased(c, "Conv", planes, _plane(c, weight, i), len(c.node.inputs) if i else 2, **options)
        y = c.binary("add", y, part) if i else part
    _, o, h, w = c.builder.shape(y)
    return c.transpose(c.reshape(y, (n, count, o, h, w)), (0, 2, 1, 3, 4))


def _plane(c: Conversion, weight: Value, i: int) -> Value:
    """A plane of a kernel of three dimensions."""
    if isinstance(weight, str):
        o, channels, _, ky, kx = c.builder.shape(weight)
        return c.reshape(c.slice(weight, 2, i, 1), (o, channels, ky, kx))
    return np.ascontiguousarray(weight[:, :, i])


@converts("ConvTranspose")
def _conv_transpose(c: Conversion, node: SourceNode) -> None:
    size, weight = sides_of(c, 3), weights_of(c)
    kernel, strides, dilations = tuple(c.shape_of(weight)[2:]), spatial(c, "strides", 1), spatial(c, "dilations", 1)
    if min(*strides, *dilations, *kernel) < 1:
        raise Unsupported("strides, dilations and sizes of the kernel must be at least 1")
    before, after, more = _padding_of_result(c, size, kernel, strides, dilations)
    weight, after = _with_zeros(c, weight, after, more, dilations)
    options: dict[str, object] = {"dilations": dilations[-2:], "group": int(c.attribute("group", 1))}
    options.update(strides=strides[-2:], pads=(*before[-2:], *after[-2:]), output_padding=tuple(more[-2:]))
    options.update(activation=IDENTITY)
    if len(size) == 2:
        return c.give(like_input(c, biased(c, "ConvTranspose", image(c), weight, 2, **options)))
    whole = (size[0] - 1) * strides[0] + (kernel[0] - 1) * dilations[0] + 1
    depths = range(before[0], whole - after[0] + more[0])
    return c.give(_transposed_volumes(c, weight, strides[0], dilations[0], depths, options))


def _padding_of_result(
    c: Conversion, size: Shape, kernel: Shape, strides: Shape, dilations: Shape
) -> tuple[list[int], list[int], list[int]]:
    """What a transposed convolution takes away before and after each dimension, and what it adds after it."""
    more, (before, after) = list(spatial(c, "output_padding", 0)), map(list, padding_of(c))
    auto = c.option("auto_pad", "NOTSET", ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"))
    sizes = c.attribute("output_shape", None)
    if sizes is not None:
        sizes = spatial(c, "output_shape", 1, list(sizes)[-(len(c.shape(0)) - 2) :])
    elif auto.startswith("SAME"):
        sizes = tuple(n * s for n, s in zip(size, strides))
    for i, side in enumerate(sizes or ()):
        whole = strides[i] * (size[i] - 1) + (kernel[i] - 1) * dilations[i] + 1
        more[i] = max(more[i], side - whole)
        total = whole + more[i] - side
        before[i] = total // 2 if auto == "SAME_UPPER" else total - total // 2
        after[i] = total - before[i]
    if min(more) < 0:
        raise Unsupported(f"output_padding is {more}, supported is at least 0")
    return before, after, more


def _transposed_volumes(
    c: Conversion, weight: Value, stride: int, dilation: int, depths: range, options: Mapping[str, object]
) -> str:
    """Planes by one transposed convolution, whose channels are those of all planes of the kernel: they are added to others
    where dilation and stride lead to the same depth.

    depths : those of the result; where no plane leads, it is 0.
    """
    n, channels, depth, h, w = c.shape(0)
    _, part, count, *kernel = c.shape_of(weight)
    group, o = int(c.attribute("group", 1)), int(c.attribute("group", 1)) * part
    if not depths or count + stride > _MOST_SLICES:
        raise Unsupported(f"{count} planes of the kernel at a distance of {stride} give {len(depths)} planes")
    planes = c.reshape(c.transpose(c.tensor(0), (0, 2, 1, 3, 4)), (n * depth, channels, h, w))
    perm = (0, 2, 1, 3, 4)
    weight = c.transpose(weight, perm) if isinstance(weight, str) else weight.transpose(perm)
    weight = _reshaped(c, weight, (channels, count * part, *kernel))
    y = biased(c, "ConvTranspose", planes, weight, len(c.node.inputs), **options)
    h, w = c.builder.shape(y)[2:]
    y = _added_planes(c, c.reshape(y, (n, depth, group, count, part, h * w)), stride, dilation)
    length = c.builder.shape(y)[1]
    y = c.reshape(c.transpose(y, (0, 1, 3, 2, 4, 5)), (n, length * stride, o, h * w))
    if depths.stop > length * stride:
        pads = ((0, 0), (0, depths.stop - length * stride), (0, 0), (0, 0))
        y = c.add("Pad", y, pads=pads, mode="constant", value=0.0)
    y = c.reshape(c.slice(y, 1, depths.start, len(depths)), (n, len(depths), o, h, w))
    y = c.transpose(y, (0, 2, 1, 3, 4))
    return c.binary("add", y, c.reshape(c.tensor(2), (1, o, 1, 1, 1))) if c.has(2) else y


def _added_planes(c: Conversion, y: str, stride: int, dilation: int) -> str:
    """The planes of a kernel, in axis 3, at their places: from (n, depth, group, planes, ...) to (n, length, group, stride,
    ...), whose plane i has the depths with the remainder i."""
    n, depth, group, count, *rest = c.builder.shape(y)
    if (count, dilation) == (stride, 1):
        return y
    length = depth + (count - 1) * dilation // stride
    lanes = []
    for remainder in range(stride):
        lane = ""
        for i in (i for i in range(count) if i * dilation % stride == remainder):
            plane, before = c.slice(y, 3, i, 1), i * dilation // stride
            if length > depth:
                pads = ((0, 0), (before, length - depth - before), *((0, 0),) * 4)
                plane = c.add("Pad", plane, pads=pads, mode="constant", value=0.0)
            lane = c.binary("add", lane, plane) if lane else plane
        lanes.append(lane or c.add("Expand", c.constant(np.zeros((1,) * 6)), shape=(n, length, group, 1, *rest)))
    return lanes[0] if stride == 1 else c.add("Concat", *lanes, axis=3)


def _with_zeros(
    c: Conversion, weight: Value, after: list[int], more: list[int], dilations: Shape
) -> tuple[Value, list[int]]:
    """Weights with zeros after a kernel whose output_padding is more than the padding after it, and this padding, which
    grows by as much. Of volumes the first dimension stays as it is."""
    last = range(len(after) - 2, len(after))
    zeros = [int(max(-(-(more[i] - after[i]) // dilations[i]), 0)) if i in last else 0 for i in range(len(after))]
    if not any(zeros):
        return weight, after
    after = [n + count * dilation for n, count, dilation in zip(after, zeros, dilations)]
    pads = ((0, 0), (0, 0), *((0, count) for count in zeros))
    if isinstance(weight, np.ndarray):
        return np.pad(weight, pads), after
    return c.add("Pad", weight, pads=pads, mode="constant", value=0.0), after


# ---- pooling


def _pool_window(c: Conversion) -> Window:
    sides_of(c, 3)
    return window_of(c, spatial(c, "kernel_shape", 1, c.attribute("kernel_shape")))


def _pooled(c: Conversion, operator: str, x: str, window: Window, **options: object) -> str:
    """Of three dimensions, the last two first."""
    if len(window.kernel) == 2:
        return c.add(operator, x, kernel=window.kernel, **options, **window.options)
    n, channels, depth, h, w = c.builder.shape(x)
    x = c.reshape(x, (n, channels * depth, h, w))
    x = c.add(operator, x, kernel=window.kernel[1:], **options, **window.options)
    h, w = c.builder.shape(x)[2:]
    x = c.reshape(x, (n, channels, depth, h * w))
    pads = (window.before[0], 0, window.after[0], 0)
    x = c.add(operator, x, kernel=(window.kernel[0], 1), strides=(window.strides[0], 1), pads=pads, **options)
    return c.reshape(x, (n, channels, c.builder.shape(x)[2], h, w))


@converts("MaxPool", any_type=True)
def _max_pool(c: Conversion, node: SourceNode) -> None:
    """NumPy computes float64, and with places what is padded and dilated."""
    window, ceil = _pool_window(c), c.flag("ceil_mode")
    dilated = max(window.dilations) > 1
    if c.dtype(0) == "int8" and not dilated and not any(node.outputs[1:]) and len(window.kernel) == 2:
        unused = {"count_include_pad": False, "scales": (1.0, 1.0), "zeros": (0, 0)}
        y = c.add("QuantizedPool", image(c), kind="max", kernel=window.kernel, ceil=ceil, **unused, **window.options)
        return c.give(like_input(c, y))
    if any(node.outputs[1:]) or c.dtype(0) not in (("float32",) if dilated else ("float32", "uint8")):
        from pysimd.network.convert.places import largest_with_places  # here, as few models need it

        found = largest_with_places(c, image(c), window, ceil)
        return c.by_numpy() if found is None else c.give(*(like_input(c, y) for y in found))
    y = _dilated(c, image(c), window, ceil, "maximum") if dilated else _pooled(c, "MaxPool", image(c), window, ceil=ceil)
    return c.give(like_input(c, y))


@converts("AveragePool")
def _average_pool(c: Conversion, node: SourceNode) -> None:
    window, ceil, include = _pool_window(c), c.flag("ceil_mode"), c.flag("count_include_pad")
    if max(window.dilations) == 1:
        y = _pooled(c, "AveragePool", image(c), window, ceil=ceil, count_include_pad=include)
    else:
        y = _dilated(c, image(c), window, ceil, "add", include)
    c.give(like_input(c, y))


def _require_pixels(c: Conversion) -> None:
    if c.dtype(0) not in ("float32", "uint8"):
        raise Unsupported(f"its input is {c.dtype(0)}, supported are float32 and uint8")


def _dilated(c: Conversion, x: str, window: Window, ceil: bool, function: str, include: bool = False) -> str:
    """Pooling along each dimension by itself: a function of slices, one for each element of the window.

    include : for means, padding counts as zeros.
    """
    if sum(window.kernel) > _MOST_SLICES:
        raise Unsupported(f"a window of {window.kernel} with dilations {window.dilations} is too large")
    for i, k in enumerate(window.kernel):
        stride, dilation, before, after = window.strides[i], window.dilations[i], window.before[i], window.after[i]
        shape, axis = c.builder.shape(x), 2 + i
        n, span = shape[axis], (k - 1) * dilation + 1
        count = windows_along(n, span, stride, before, after, ceil)
        more = max((count - 1) * stride + span - (n + before + after), 0)  # of the last window, after the padding
        if before or after or more:
            pads = tuple((before, after + more) if j == axis else (0, 0) for j in range(len(shape)))
            x = c.add("Pad", x, pads=pads, mode="constant", value=-np.inf if function == "maximum" else 0.0)
        sizes, y = replaced_at(shape, axis, count), ""
        for j in range(k):
            starts, strides = (
                replaced_at((value,) * len(shape), axis, at) for value, at in ((0, j * dilation), (1, stride))
            )
            part = c.add("Slice", x, starts=starts, steps=strides, sizes=sizes)
            y = c.binary(function, y, part) if y else part
        if function == "add":
            first, end = -before * include, n + after * include
            share = later(partial(_shares, stride, dilation, k), (count,), count, before, first, end)
            y = c.binary("multiply", y, share.reshape(replaced_at((1,) * len(shape), axis, count)))
        x = y
    return x


def _shares(stride: int, dilation: int, k: int, count: int, before: int, first: int, end: int) -> Array:
    """For each window, 1 divided by the number of its elements at places from the first to the end."""
    places = np.arange(count)[:, None] * stride + np.arange(k) * dilation - before
    return np.asarray(1 / ((places >= first) & (places < end)).sum(1).astype(np.float32))


@converts("LpPool")
def _lp_pool(c: Conversion, node: SourceNode) -> None:
    """From the mean of powers."""
    window, p = _pool_window(c), int(c.attribute("p", 2))
    if c.flag("ceil_mode") or p < 1:
        raise Unsupported("supported are windows with p of at least 1, without ceil_mode")
    x = _powers(c, image(c), p)
    if max(window.dilations) > 1:
        y = _dilated(c, x, window, False, "add", True)
    else:
        y = _pooled(c, "AveragePool", x, window, ceil=False, count_include_pad=True)
    c.give(like_input(c, _root(c, c.binary("multiply", y, float(prod(window.kernel))), p)))


def _powers(c: Conversion, x: str, p: int) -> str:
    if p == 2:
        return c.binary("multiply", x, x)
    x = c.unary(x, "absolute")
    return x if p == 1 else c.binary("power", x, float(p))


def _root(c: Conversion, x: str, p: int) -> str:
    return x if p == 1 else c.unary(x, "sqrt") if p == 2 else c.binary("power", x, 1 / p)


@converts("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def _global_pool(c: Conversion, node: SourceNode) -> None:
    if len(c.shape(0)) < 3:
        raise Unsupported(f"the shape is {c.shape(0)}, expected (N, C, ...)")
    axes, x = range(2, len(c.shape(0))), c.tensor(0)
    if node.op != "GlobalLpPool":
        return c.give(c.reduce(x, "mean" if node.op == "GlobalAveragePool" else "max", axes))
    p = int(c.attribute("p", 2))
    if p < 1:
        raise Unsupported(f"p is {p}, supported is at least 1")
    return c.give(_root(c, c.reduce(_powers(c, x, p), "sum", axes), p))


# ---- resizing and sampling


@converts("Resize", "Upsample", any_type=True)
def _resize(c: Conversion, node: SourceNode) -> None:
    rules = _resize_rules(c, node)
    if rules["mode"] != "nearest":  # which copies elements of any type
        _require_pixels(c)
    factors = _factors(c, node, rules["coordinates"] == "align_corners")
    x = c.tensor(0)
    smaller = {axis for axis, (_, scale) in factors.items() if c.opset == 10 and scale < 1}
    for axes, rounding in ((sorted(set(factors) - smaller), rules["rounding"]), (sorted(smaller), "ceil")):
        while axes:  # two dimensions at a time; of opset 10, those that become smaller round up
            x = _resized(c, x, axes[-2:], factors, {**rules, "rounding": rounding})
            axes = axes[:-2]
    c.give(x)


def _resize_rules(c: Conversion, node: SourceNode) -> dict[str, object]:
    mode = c.option("mode", "nearest", ("nearest", "linear", "cubic", "bilinear", "bicubic"))
    fixed: dict[str, object] = {"antialias": c.flag("antialias"), "exclude_outside": c.flag("exclude_outside")}
    fixed.update(mode=mode.removeprefix("bi"), cubic=float(c.attribute("cubic_coeff_a", -0.75)))
    if node.op == "Upsample" or c.opset < 11:  # which had only these
        return {**fixed, "coordinates": "asymmetric", "rounding": "floor"}
    names = ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "half_pixel_symmetric")
    roundings = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
    return {
        **fixed,
        "coordinates": c.option("coordinate_transformation_mode", "half_pixel", names),
        "rounding": c.option("nearest_mode", "round_prefer_floor", roundings),
    }


def _factors(c: Conversion, node: SourceNode, corners: bool) -> dict[int, tuple[int, float]]:
    """The size of each dimension that is resized, and its scale; none if no size changes: ONNX Runtime copies then."""
    shape = c.shape(0)
    axes = [axis % len(shape) for axis in c.attribute("axes", None) or range(len(shape))]
    before = [shape[axis] for axis in axes]
    scales, sizes = _scales_or_sizes(c, node)
    if len(scales or sizes) != len(axes):
        raise Unsupported(f"{len(scales or sizes)} scales or sizes are given, expected {len(axes)}")
    if scales:
        if not all(later(is_below_2_31, (), n, scale) for n, scale in zip(before, scales)):
            raise Unsupported(f"the scales are {scales}, supported are positive ones that give sizes below 2^31")
        sizes = [_scaled(n, scale) for n, scale in zip(before, scales)]
        for n, scale, size in zip(before, scales, sizes):
            if corners and scale != 1 and later(lambda *each: abs(each[0] * each[1] - each[2]) > 1e-3, (), n, scale, size):
                found = float(scale) * int(n)
                raise Unsupported(f"align_corners of a size of {found:g} is not supported, only of whole sizes")
    else:
        if not all(size >= 0 and (n or not size) for n, size in zip(before, sizes)):
            raise Unsupported(f"the sizes are {sizes} for {before}, supported are those of at least 0, 0 for 0")
        scales = [later(scale_of, (), size, n) for n, size in zip(before, sizes)]
        policy = c.option("keep_aspect_ratio_policy", "stretch", ("stretch", "not_larger", "not_smaller"))
        if policy != "stretch":
            scales = [(min if policy == "not_larger" else max)(scales)] * len(axes)
            from pysimd.resize import scaled  # here, as few models need it

            sizes = [_number(later(partial(scaled, rounding=0.5), (), n, scale)) for n, scale in zip(before, scales)]
    if sizes == before:
        return {}
    return {axis: (whole(size), scale) for axis, size, scale in zip(axes, sizes, scales) if scale != 1}


_MOST_ROWS, _MOST_EXACT = 1 << 31, 1 << 24


def is_below_2_31(n: int, scale: float) -> bool:
    """Whether the size of an output is one that is supported."""
    return bool(scale > 0 and n * scale < _MOST_ROWS)


def scale_of(size: int, n: int) -> float:
    """The scale that makes one size of another."""
    return float(np.float32(max(size, 1)) / np.float32(max(n, 1)))


def _scaled(n: Any, scale: Any) -> Any:
    """The size of an output, by whole numbers where float32 is exact."""
    if isinstance(n, Size) and not is_array(scale):
        times, parts = float(np.float32(scale)).as_integer_ratio()
        if n * times < _MOST_EXACT:
            return n * times // parts
    from pysimd.resize import scaled  # here, as few models need it

    return _number(later(scaled, (), n, scale))


def _number(value: Any) -> Any:
    """An integer that depends on sizes as a size."""
    return value.reshape(1).tolist()[0] if is_array(value) else value


def _scales_or_sizes(c: Conversion, node: SourceNode) -> tuple[list[float], list[int]]:
    """Those that are given; the others are empty."""
    if node.op == "Upsample" and not c.has(1):
        return list(c.attribute("scales")), []
    old = node.op == "Upsample" or c.opset < 11
    scales = c.numbers(1 if old else 2, "the scale") if c.has(1 if old else 2) else []
    return scales, c.numbers(3, "the size") if not (old or scales) and c.has(3) else []


def _resized(c: Conversion, x: str, axes: list[int], factors: dict[int, tuple[int, float]], rules: object) -> str:
    """One or two dimensions, as height and width of images."""
    shape, factors = c.builder.shape(x), {axis: factors[axis] for axis in axes}
    if len(axes) == 1 and axes[0] > 1 and len(shape) == 4:
        axes = [2, 3]
    others = [axis for axis in range(len(shape)) if axis not in axes]
    perm = [*others, *axes]
    sides = [factors.get(axis, (shape[axis], 1.0)) for axis in axes]
    flat = [shape[axis] for axis in others] if len(others) == 2 else [1, prod(shape[axis] for axis in others)]
    inner = [shape[axis] for axis in axes]
    if len(axes) == 1:
        inner, sides = [1, *inner], [(1, 1.0), *sides]
    y = c.reshape(c.transpose(x, perm), [*flat, *inner])
    sizes, scales = zip(*sides)
    y = c.add("Resize", y, size=sizes, scale=scales, **rules)  # type: ignore[arg-type]
    result = shape
    for axis, (size, _) in factors.items():
        result = replaced_at(result, axis, size)
    return c.transpose(c.reshape(y, [result[axis] for axis in perm]), np.argsort(perm).tolist())


@converts("GridSample")
def _grid_sample(c: Conversion, node: SourceNode) -> None:
    names = {"linear": "bilinear", "cubic": "bicubic", "bilinear": "bilinear", "bicubic": "bicubic", "nearest": "nearest"}
    mode = names[c.option("mode", "linear", tuple(names))]
    padding = c.option("padding_mode", "zeros", ("zeros", "border", "reflection"))
    corners = c.flag("align_corners")
    c.give(c.add("GridSample", c.tensor(0), c.tensor(1), mode=mode, padding_mode=padding, align_corners=corners))


@converts("RoiAlign")
def _roi_align(c: Conversion, node: SourceNode) -> None:
    mode, ratio = c.option("mode", "avg", ("avg", "max")), int(c.attribute("sampling_ratio", 0))
    size = int(c.attribute("output_height", 1)), int(c.attribute("output_width", 1))
    scale = float(c.attribute("spatial_scale", 1.0))
    if min(size) < 1 or ratio < 0 or not 0 < scale < np.inf:
        raise Unsupported(f"the output is {size[0]}x{size[1]}, sampling_ratio {ratio}, spatial_scale {scale:g}")
    modes = ("half_pixel", "output_half_pixel")
    half = c.opset >= 16 and c.option("coordinate_transformation_mode", "half_pixel", modes) == "half_pixel"
    operands = c.tensor(0), c.tensor(1), c.indices(2)
    c.give(c.add("RoiAlign", *operands, size=size, scale=scale, ratio=ratio, mode=mode, half_pixel=half))


@converts("AffineGrid")
def _affine_grid(c: Conversion, node: SourceNode) -> None:
    """The product of the positions of all pixels, which are known, and of the transformation of each image."""
    size, transforms = [int(n) for n in c.numbers(1, "the size")], c.shape(0)
    rank = len(size) - 2
    if transforms != (*size[:1], rank, rank + 1):
        raise Unsupported(f"transformations of the shape {transforms} do not fit images of the shape {tuple(size)}")
    places = c.constant(grid_positions(size[2:], c.flag("align_corners")))
    grid = c.add("MatMul", places, c.transpose(c.tensor(0), (0, 2, 1)))
    c.give(c.reshape(grid, (*size[:1], *size[2:], rank)))
