"""The operators of ONNX by functions of pysimd: how to read their attributes and optional inputs, and what they cannot do.

`OPERATORS` has an adapter for each operator of docs/operators.md, a function of a :class:`Node` and of its inputs, None
for one that is missing. Tensors are in the order of ONNX, (N, C, ...); adapters of images compute in either layout.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial, reduce
from typing import Any, Callable, NamedTuple

import numpy as np
from numpy.typing import NDArray

import pysimd

Array = NDArray[Any]


class Unsupported(Exception):
    """An attribute, an output or a shape for which pysimd has no function."""


class Node(NamedTuple):
    """What an adapter may ask for beside the inputs."""

    attributes: dict[str, Any]
    opset: int
    channels_last: bool  # the layout in which images are computed

    def get(self, name: str, default: Any = None) -> Any:
        return self.attributes.get(name, default)

    def require(self, **values: Any) -> None:
        """Raises for attributes with another value than these, which are their defaults."""
        for name, value in values.items():
            if self.get(name, value) != value:
                raise Unsupported(f"{name} is {self.get(name)}")


# ---- images


def _images(node: Node, x: Array, compute: Callable[[Array, Any], Array]) -> Array:
    """`compute(images, layout)` in the layout of the node; `x` and the result have channels first."""
    if x.ndim not in (3, 4):
        raise Unsupported(f"images have {x.ndim - 2} dimensions")
    signal = x.ndim == 3
    if not node.channels_last:
        return compute(x, "ncw" if signal else "nchw")
    y = compute(pysimd.transpose(x, (0, *range(2, x.ndim), 1)), "nwc" if signal else "nhwc")
    return pysimd.transpose(y, (0, y.ndim - 1, *range(1, y.ndim - 1)))


def _window(node: Node, x: Array, kernel: Sequence[int]) -> dict[str, Any]:
    """The stride and the padding of a convolution or a pooling."""
    ones = [1] * len(kernel)
    stride, dilation = node.get("strides", ones), node.get("dilations", ones)
    padding: Any = tuple(node.get("pads", [0] * 2 * len(kernel)))
    auto = node.get("auto_pad", "NOTSET")
    if auto == "SAME_LOWER":
        spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilation)]
        totals = [max((-(-n // s) - 1) * s + span - n, 0) for n, s, span in zip(x.shape[2:], stride, spans)]
        padding = (*(total - total // 2 for total in totals), *(total // 2 for total in totals))
    elif auto != "NOTSET":
        padding = {"VALID": "valid", "SAME_UPPER": "same"}[auto]
    return {"stride": tuple(stride), "padding": padding}


def _conv(node: Node, x: Array, weight: Array, bias: Array | None = None) -> Array:
    kernel = weight.shape[2:]
    options = _window(node, x, kernel)
    options.update(dilation=tuple(node.get("dilations", [1] * len(kernel))), group=node.get("group", 1))

    def compute(images: Array, layout: Any) -> Array:
        weights = pysimd.transpose(weight, (*range(2, weight.ndim), 1, 0)) if node.channels_last else weight
        return pysimd.convolution(images, weights, bias, layout=layout, **options)

    return _images(node, x, compute)


def _conv_transpose(node: Node, x: Array, weight: Array, bias: Array | None = None) -> Array:
    kernel = weight.shape[2:]
    ones = (1,) * len(kernel)
    stride, dilation = tuple(node.get("strides", ones)), tuple(node.get("dilations", ones))
    more = list(node.get("output_padding", [0] * len(kernel)))
    pads = list(node.get("pads", [0] * 2 * len(kernel)))
    auto, sizes = node.get("auto_pad", "NOTSET"), node.get("output_shape")
    if auto in ("SAME_UPPER", "SAME_LOWER") and sizes is None:
        sizes = [n * s for n, s in zip(x.shape[2:], stride)]
    for i, size in enumerate(sizes or ()):
        whole = stride[i] * (x.shape[2 + i] - 1) + (kernel[i] - 1) * dilation[i] + 1
        more[i] = max(more[i], size - whole)
        total = whole + more[i] - size
        before = total // 2 if auto == "SAME_UPPER" else total - total // 2
        pads[i], pads[i + len(kernel)] = before, total - before
    weight = _with_zeros(weight, pads, more, dilation)

    def compute(images: Array, layout: Any) -> Array:
        return pysimd.deconvolution(
            images,
            pysimd.transpose(weight, (0, *range(2, weight.ndim), 1)) if node.channels_last else weight,
            bias,
            stride=stride,
            padding=tuple(pads),
            dilation=dilation,
            group=node.get("group", 1),
            output_padding=tuple(more),
            layout=layout,
        )

    return _images(node, x, compute)


def _with_zeros(weight: Array, pads: list[int], more: list[int], dilation: Sequence[int]) -> Array:
    """Weights with zeros after a kernel whose output_padding is more than the padding, which grows by as much."""
    rank = len(more)
    zeros = [max(-(-(more[i] - pads[rank + i]) // dilation[i]), 0) for i in range(rank)]
    if not any(zeros):
        return weight
    for i, count in enumerate(zeros):
        pads[rank + i] += count * dilation[i]
    return pysimd.pad(weight, [(0, 0), (0, 0), *((0, count) for count in zeros)])


def _max_pool(node: Node, x: Array) -> Array:
    kernel = node.get("kernel_shape")
    node.require(dilations=[1] * len(kernel))
    options = {"kernel": tuple(kernel), "ceil_mode": bool(node.get("ceil_mode", 0)), **_window(node, x, kernel)}
    return _images(node, x, lambda images, layout: pysimd.pooling_max(images, layout=layout, **options))


def _average_pool(node: Node, x: Array) -> Array:
    kernel = node.get("kernel_shape")
    node.require(dilations=[1] * len(kernel))
    options = {"kernel": tuple(kernel), "ceil_mode": bool(node.get("ceil_mode", 0)), **_window(node, x, kernel)}
    options["exclude_pad"] = not node.get("count_include_pad", 0)
    return _images(node, x, lambda images, layout: pysimd.pooling_average(images, layout=layout, **options))


def _global(function: Any, node: Node, x: Array) -> Array:
    return _images(node, x, lambda images, layout: function(images, kernel=x.shape[2:], layout=layout))


def _batch_norm(node: Node, x: Array, scale: Array, bias: Array, mean: Array, variance: Array) -> Array:
    node.require(training_mode=0)
    factor = pysimd.multiply(scale, pysimd.rsqrt(pysimd.add(variance, node.get("epsilon", 1e-5))))
    rest = pysimd.subtract(bias, pysimd.multiply(mean, factor))
    if x.ndim == 2:
        return pysimd.scale(x, factor, rest)
    return _images(node, x, lambda images, layout: pysimd.scale(images, factor, rest, layout=layout))


def _instance_norm(node: Node, x: Array, scale: Array, bias: Array) -> Array:
    eps = node.get("epsilon", 1e-5)
    return _images(node, x, lambda images, layout: pysimd.instance_norm(images, scale, bias, eps=eps, layout=layout))


def _group_norm(node: Node, x: Array, scale: Array, bias: Array) -> Array:
    groups = node.get("num_groups")
    if node.opset < 21:  # then a number for each group
        scale, bias = (np.repeat(each, x.shape[1] // groups) for each in (scale, bias))
    layout: Any = "ncw" if x.ndim == 3 else "nchw"
    return pysimd.group_norm(x, groups, scale, bias, eps=node.get("epsilon", 1e-5), layout=layout)


def _lrn(node: Node, x: Array) -> Array:
    options = {name: node.get(name, default) for name, default in (("alpha", 1e-4), ("beta", 0.75), ("bias", 1.0))}
    return _images(node, x, lambda images, layout: pysimd.lrn(images, size=node.get("size"), layout=layout, **options))


def _resize(node: Node, x: Array, roi: Any = None, scales: Any = None, sizes: Any = None) -> Array:
    node.require(extrapolation_value=0.0)
    axes = [axis % x.ndim for axis in node.get("axes", range(x.ndim))]
    given = next(n for n in (scales, sizes) if n is not None and np.size(n))
    factors = dict(zip(axes, np.asarray(given).tolist()))
    if given is sizes:
        policy = node.get("keep_aspect_ratio_policy", "stretch")
        ratios = {axis: size / x.shape[axis] for axis, size in factors.items()}
        if policy != "stretch":
            ratio = (min if policy == "not_larger" else max)(ratios.values())
            factors = {axis: int(x.shape[axis] * ratio + 0.5) for axis in axes}
        unchanged, name = x.shape, "size"
    else:
        unchanged, name = (1,) * x.ndim, "scale"
    if any(factors.get(axis, unchanged[axis]) != unchanged[axis] for axis in (0, 1)):
        raise Unsupported("batch or channels are resized")
    options = {
        name: tuple(factors.get(axis, unchanged[axis]) for axis in range(2, x.ndim)),
        "mode": node.get("mode", "nearest"),
        "coordinates": node.get("coordinate_transformation_mode", "half_pixel"),
        "rounding": node.get("nearest_mode", "round_prefer_floor"),
        "antialias": bool(node.get("antialias", 0)),
        "exclude_outside": bool(node.get("exclude_outside", 0)),
        "cubic": node.get("cubic_coeff_a", -0.75),
    }
    return _images(node, x, lambda images, layout: pysimd.resize(images, layout=layout, **options))


def _upsample(node: Node, x: Array, scales: Array) -> Array:
    """As Resize with these rules, which ONNX had before it."""
    rules = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    return _resize(node._replace(attributes=node.attributes | rules), x, None, scales)


def _grid_sample(node: Node, x: Array, grid: Array) -> Array:
    mode = node.get("mode", "linear")
    mode = {"linear": "bilinear", "cubic": "bicubic"}.get(mode, mode)
    return pysimd.grid_sample(x, grid, mode, node.get("padding_mode", "zeros"), bool(node.get("align_corners", 0)))


def _roi_align(node: Node, x: Array, regions: Array, images: Array) -> Array:
    return pysimd.roi_align(
        x,
        regions,
        images,
        (node.get("output_height", 1), node.get("output_width", 1)),
        spatial_scale=node.get("spatial_scale", 1.0),
        sampling_ratio=node.get("sampling_ratio", 0),
        mode=node.get("mode", "avg"),
        half_pixel=node.get("coordinate_transformation_mode", "half_pixel") == "half_pixel",
    )


# ---- products and recurrent layers


def _gemm(node: Node, a: Array, b: Array, c: Array | None = None) -> Array:
    return pysimd.gemm(
        a,
        b,
        c=c,
        transpose_a=bool(node.get("transA", 0)),
        transpose_b=bool(node.get("transB", 0)),
        alpha=node.get("alpha", 1.0),
        beta=None if c is None else node.get("beta", 1.0),
    )


def _recurrent(node: Node, x: Array, recurrent: Array) -> tuple[dict[str, Any], tuple[int, ...]]:
    """The options of a recurrent layer, and the shape of its states."""
    node.require(activations=None, activation_alpha=None, activation_beta=None, clip=None, input_forget=0)
    first = bool(node.get("layout", 0))
    directions, _, hidden = recurrent.shape
    state = (x.shape[0], directions, hidden) if first else (directions, x.shape[1], hidden)
    return {"direction": node.get("direction", "forward"), "batch_first": first}, state


def _lstm(
    node: Node,
    x: Array,
    weight: Array,
    recurrent: Array,
    bias: Array | None = None,
    lengths: Array | None = None,
    h0: Array | None = None,
    c0: Array | None = None,
    peephole: Array | None = None,
) -> tuple[Array, ...]:
    options, state = _recurrent(node, x, recurrent)
    hn, cn = np.empty(state, np.float32), np.empty(state, np.float32)
    y = pysimd.lstm(x, weight, recurrent, bias, peephole, h0=h0, c0=c0, lengths=lengths, hn=hn, cn=cn, **options)
    return y, hn, cn


def _gru(
    node: Node,
    x: Array,
    weight: Array,
    recurrent: Array,
    bias: Array | None = None,
    lengths: Array | None = None,
    h0: Array | None = None,
) -> tuple[Array, ...]:
    options, state = _recurrent(node, x, recurrent)
    options["linear_before_reset"] = bool(node.get("linear_before_reset", 0))
    hn = np.empty(state, np.float32)
    return pysimd.gru(x, weight, recurrent, bias, h0=h0, lengths=lengths, hn=hn, **options), hn


def _rnn(
    node: Node,
    x: Array,
    weight: Array,
    recurrent: Array,
    bias: Array | None = None,
    lengths: Array | None = None,
    h0: Array | None = None,
) -> tuple[Array, ...]:
    options, state = _recurrent(node, x, recurrent)
    hn = np.empty(state, np.float32)
    return pysimd.rnn(x, weight, recurrent, bias, h0=h0, lengths=lengths, hn=hn, **options), hn


# ---- normalization, element-wise functions


def _layer_norm(node: Node, x: Array, scale: Array, bias: Array | None = None) -> tuple[Array, ...]:
    """The second and third output are those of training: the mean, and one divided by the deviation."""
    axis, eps = node.get("axis", -1) % x.ndim, node.get("epsilon", 1e-5)
    shape, axes = x.shape[axis:], tuple(range(axis, x.ndim))
    terms = [None if each is None else np.broadcast_to(each, shape).copy() for each in (scale, bias)]
    y = pysimd.layer_norm(x, *terms, normalized=shape, eps=eps)
    mean = pysimd.mean(x, axes, keepdims=True)
    difference = pysimd.subtract(x, mean)
    variance = pysimd.mean(pysimd.multiply(difference, difference), axes, keepdims=True)
    return y, mean, pysimd.rsqrt(pysimd.add(variance, eps))


def _lp_norm(node: Node, x: Array) -> Array:
    """Zeros where all are zero, for which eps is less than any square."""
    axis = node.get("axis", -1)
    if node.get("p", 2) == 1:
        return pysimd.divide(x, pysimd.maximum(pysimd.reduce(x, "l1", axis, keepdims=True), 1e-37))
    order = [i for i in range(x.ndim) if i != axis % x.ndim] + [axis % x.ndim]  # it is the last one
    y = pysimd.l2_normalize(pysimd.transpose(x, order), eps=1e-37)
    return pysimd.transpose(y, np.argsort(order).tolist())


def _softmax(node: Node, x: Array) -> Array:
    if node.opset >= 13:
        return pysimd.softmax(x, axis=node.get("axis", -1))
    axis = node.get("axis", 1) % x.ndim  # then all dimensions from this one on
    return pysimd.softmax(x.reshape(*x.shape[:axis], -1)).reshape(x.shape)


def _clip(node: Node, x: Array, least: Any = None, most: Any = None) -> Array:
    if node.opset < 11:
        least, most = node.get("min"), node.get("max")
    return pysimd.restrict_range(x, *(None if each is None else float(each) for each in (least, most)))


def _prelu(node: Node, x: Array, slope: Array) -> Array:
    shape = (1,) * (x.ndim - slope.ndim) + slope.shape
    if x.ndim in (3, 4) and slope.size in (1, shape[1]):
        slopes = slope.reshape(-1)
        return _images(node, x, lambda images, layout: pysimd.prelu(images, slopes, layout=layout))
    if slope.size == shape[-1]:
        return pysimd.prelu(x, slope.reshape(-1))
    return pysimd.add(pysimd.relu(x), pysimd.multiply(slope, pysimd.minimum(x, 0)))


def _gelu(node: Node, x: Array) -> Array:
    """By the sigmoid if it is the approximation: (1 + tanh(v)) / 2 = 1 / (1 + exp(-2 * v))."""
    if node.get("approximate", "none") == "none":
        return pysimd.gelu(x)
    inner = pysimd.multiply(x, pysimd.add(pysimd.multiply(pysimd.multiply(x, x), 0.044715), 1))
    return pysimd.multiply(x, pysimd.sigmoid(inner, slope=2 * (2 / np.pi) ** 0.5))


def _activation(function: Any, names: dict[str, tuple[str, float]], node: Node, x: Array) -> Array:
    """names : the parameters of a function, with their names and defaults in ONNX."""
    return function(x, **{name: node.get(*attribute) for name, attribute in names.items()})  # type: ignore[no-any-return]


def _elementwise(function: Any, node: Node, *operands: Array) -> Array:
    return function(*operands)  # type: ignore[no-any-return]


def _several(name: str, pair: Any, node: Node, *arrays: Array) -> Array:
    if len({x.shape for x in arrays}) == 1 and len(arrays) != 2:
        return pysimd.eltwise(arrays, name)  # type: ignore[arg-type]
    return reduce(pair, arrays)  # broadcasts


def _mean(node: Node, *arrays: Array) -> Array:
    if len({x.shape for x in arrays}) == 1:
        return pysimd.eltwise(arrays, weights=[1 / len(arrays)] * len(arrays))
    return pysimd.multiply(reduce(pysimd.add, arrays), 1 / len(arrays))


# ---- shapes and indices


def _reduce(operation: Any, node: Node, x: Array, axes: Any = None) -> Array:
    given = node.get("axes", ()) if axes is None else np.asarray(axes).tolist()
    axis = tuple(given) if len(given) or node.get("noop_with_empty_axes", 0) else None
    return pysimd.reduce(x, operation, axis, keepdims=bool(node.get("keepdims", 1)))


def _arg(function: Any, node: Node, x: Array) -> Array:
    keepdims, last = bool(node.get("keepdims", 1)), bool(node.get("select_last_index", 0))
    return function(x, node.get("axis", 0), keepdims=keepdims, last=last)  # type: ignore[no-any-return]


def _slice(node: Node, x: Array, *inputs: Any) -> Array:
    if node.opset < 10:
        inputs = (node.get("starts"), node.get("ends"), node.get("axes"))
    given: Any = [None if n is None else np.asarray(n).tolist() for n in (*inputs, None, None)]
    starts, ends, axes, steps = given[:4]
    index = [slice(None)] * x.ndim
    for i, axis in enumerate(range(x.ndim) if axes is None else axes):
        if i < len(starts):
            step = 1 if steps is None else steps[i]
            end = None if step < 0 and ends[i] < -x.shape[axis] else ends[i]  # through the first element
            index[axis] = slice(starts[i], end, step)
    return pysimd.copy(x[tuple(index)])


def _expand(node: Node, x: Array, shape: Array) -> Array:
    return pysimd.copy(np.broadcast_to(x, np.broadcast_shapes(x.shape, tuple(shape.tolist()))))


def _tile(node: Node, x: Array, repeats: Array) -> Array:
    """A copy of a view with a dimension of stride 0 in front of each dimension."""
    times, shape = repeats.tolist(), x.shape
    view = x.reshape([n for size in shape for n in (1, size)])
    view = np.broadcast_to(view, [n for pair in zip(times, shape) for n in pair])
    return pysimd.copy(view).reshape([n * size for n, size in zip(times, shape)])


def _split(node: Node, x: Array, split: Any = None, *, outputs: int) -> tuple[Array, ...]:
    axis = node.get("axis", 0)
    sizes = node.get("split") if split is None else split.tolist()
    if sizes is None:
        most = -(-x.shape[axis] // outputs)
        sizes = [most] * (outputs - 1)
    else:
        sizes = sizes[:-1]
    return tuple(pysimd.copy(part) for part in np.split(x, np.cumsum(sizes, dtype=int), axis))


def _depth_to_space(node: Node, x: Array) -> Array:
    n, c, h, w = x.shape
    b = node.get("blocksize")
    if node.get("mode", "DCR") == "DCR":
        view = x.reshape(n, b, b, c // b**2, h, w).transpose(0, 3, 4, 1, 5, 2)
    else:
        view = x.reshape(n, c // b**2, b, b, h, w).transpose(0, 1, 4, 2, 5, 3)
    return pysimd.copy(view).reshape(n, c // b**2, h * b, w * b)


def _space_to_depth(node: Node, x: Array) -> Array:
    n, c, h, w = x.shape
    b = node.get("blocksize")
    order = (0, 3, 5, 1, 2, 4) if node.get("mode", "DCR") == "DCR" else (0, 1, 3, 5, 2, 4)
    view = x.reshape(n, c, h // b, b, w // b, b).transpose(order)
    return pysimd.copy(view).reshape(n, c * b**2, h // b, w // b)


def _pad(node: Node, x: Array, pads: Any = None, value: Any = None, axes: Any = None) -> Array:
    if node.opset < 11:
        pads, value = node.get("pads"), node.get("value", 0.0)
    before, after = np.asarray(pads).reshape(2, -1)
    widths = np.zeros((x.ndim, 2), np.int64)
    widths[range(x.ndim) if axes is None else axes] = np.stack([before, after], axis=1)
    filler = 0 if value is None else np.asarray(value).item()
    return pysimd.pad(x, widths, node.get("mode", "constant"), constant_values=filler)


def _reshape(node: Node, x: Array, shape: Any = None) -> Array:
    sizes = node.get("shape") if shape is None else shape.tolist()
    if not node.get("allowzero", 0):
        sizes = [x.shape[i] if size == 0 else size for i, size in enumerate(sizes)]
    return x.reshape(sizes)


def _flatten(node: Node, x: Array) -> Array:
    axis = node.get("axis", 1)
    return x.reshape(int(np.prod(x.shape[:axis])), -1)


def _squeeze(node: Node, x: Array, axes: Any = None) -> Array:
    given = node.get("axes") if axes is None else axes.tolist()
    return np.squeeze(x, None if given is None else tuple(given))


def _unsqueeze(node: Node, x: Array, axes: Any = None) -> Array:
    return np.expand_dims(x, tuple(node.get("axes") if axes is None else axes.tolist()))


def _gather_elements(node: Node, x: Array, indices: Array) -> Array:
    return pysimd.gather_elements(x, indices, axis=node.get("axis", 0))


def _top_k(node: Node, x: Array, k: Any = None) -> tuple[Array, ...]:
    count = node.get("k") if k is None else k.item()
    largest, ordered = bool(node.get("largest", 1)), bool(node.get("sorted", 1))
    return pysimd.top_k(x, count, axis=node.get("axis", -1), largest=largest, sorted=ordered)


def _non_max_suppression(
    node: Node, boxes: Array, scores: Array, most: Any = None, iou: Any = None, score: Any = None
) -> Array:
    return pysimd.non_max_suppression(
        boxes,
        scores,
        0 if most is None else most.item(),
        iou_threshold=0.0 if iou is None else iou.item(),
        score_threshold=None if score is None else score.item(),
        center=bool(node.get("center_point_box", 0)),
    )


def _linear_options(node: Node, scale: Array) -> dict[str, Any]:
    node.require(block_size=0)
    return {"axis": node.get("axis", 1) if scale.ndim else None}


def _quantize(node: Node, x: Array, scale: Array, zero: Array | None = None) -> Array:
    options = _linear_options(node, scale)
    if zero is None:
        node.require(output_dtype=0)
        zero = np.zeros((), np.uint8)
    return pysimd.quantize_linear(x, scale, zero, **options)


def _dequantize(node: Node, x: Array, scale: Array, zero: Array | None = None) -> Array:
    return pysimd.dequantize_linear(x, scale, 0 if zero is None else zero, **_linear_options(node, scale))


# ---- all of them

_FLOAT, _BYTES = ("float32",), ("uint8", "int8")
_REDUCED = ("float32", "int32", "int8", "uint8", "int64", "uint64", "bool")


class Operator(NamedTuple):
    """The adapter of an operator."""

    adapter: Callable[..., Any]
    types: Collection[str] = _FLOAT  # the types of data that pysimd computes; none for any
    data: int = 1  # inputs that are data, from the first on; others are sizes, axes or indices
    images: bool = False  # computed in both layouts


def _of(function: Any, **names: tuple[str, float]) -> Operator:
    """An element-wise function."""
    return Operator(partial(_activation, function, names))


def _of_two(function: Any) -> Operator:
    return Operator(partial(_elementwise, function), data=2)


def _of_several(name: str, pair: Any) -> Operator:
    return Operator(partial(_several, name, pair), data=2)


def _moves(adapter: Callable[..., Any]) -> Operator:
    """It moves elements of any type."""
    return Operator(adapter, ())


def _reduction(operation: str) -> Operator:
    return Operator(partial(_reduce, operation))


OPERATORS = {
    "Conv": Operator(_conv, images=True),
    "ConvTranspose": Operator(_conv_transpose, images=True),
    "Gemm": Operator(_gemm),
    "MatMul": _of_two(pysimd.matmul),
    "LSTM": Operator(_lstm),
    "GRU": Operator(_gru),
    "RNN": Operator(_rnn),
    "BatchNormalization": Operator(_batch_norm, images=True),
    "MaxPool": Operator(_max_pool, ("float32", "uint8"), images=True),
    "GlobalMaxPool": Operator(partial(_global, pysimd.pooling_max), images=True),
    "AveragePool": Operator(_average_pool, images=True),
    "GlobalAveragePool": Operator(partial(_global, pysimd.pooling_average), images=True),
    "LRN": Operator(_lrn, images=True),
    "LayerNormalization": Operator(_layer_norm),
    "InstanceNormalization": Operator(_instance_norm, images=True),
    "GroupNormalization": Operator(_group_norm),
    "LpNormalization": Operator(_lp_norm),
    "Softmax": Operator(_softmax),
    "Relu": _of(pysimd.relu),
    "LeakyRelu": _of(pysimd.leaky_relu, slope=("alpha", 0.01)),
    "PRelu": Operator(_prelu, images=True),
    "Clip": Operator(_clip),
    "Elu": _of(pysimd.elu, alpha=("alpha", 1.0)),
    "Sigmoid": _of(pysimd.sigmoid),
    "HardSigmoid": _of(pysimd.hard_sigmoid, scale=("alpha", 0.2), shift=("beta", 0.5)),
    "HardSwish": _of(pysimd.hswish),
    "Swish": _of(pysimd.swish, slope=("alpha", 1.0)),
    "Mish": _of(pysimd.mish),
    "Gelu": Operator(_gelu),
    "Softplus": _of(pysimd.softplus),
    "Tanh": _of(pysimd.tanh),
    "Abs": _of(pysimd.absolute),
    "Ceil": _of(pysimd.ceil),
    "Cos": _of(pysimd.cos),
    "Erf": _of(pysimd.erf),
    "Exp": _of(pysimd.exp),
    "Floor": _of(pysimd.floor),
    "Log": _of(pysimd.log),
    "Neg": _of(pysimd.negative),
    "Reciprocal": _of(pysimd.reciprocal),
    "Round": _of(pysimd.rint),
    "Sign": _of(pysimd.sign),
    "Sin": _of(pysimd.sin),
    "Acos": _of(pysimd.arccos),
    "Acosh": _of(pysimd.arccosh),
    "Asin": _of(pysimd.arcsin),
    "Asinh": _of(pysimd.arcsinh),
    "Atan": _of(pysimd.arctan),
    "Atanh": _of(pysimd.arctanh),
    "Cosh": _of(pysimd.cosh),
    "Sinh": _of(pysimd.sinh),
    "Tan": _of(pysimd.tan),
    "Sqrt": _of(pysimd.sqrt),
    "Add": _of_two(pysimd.add)._replace(types=("float32", "uint16")),  # as bfloat16, whose subnormals add like integers
    "Sub": _of_two(pysimd.subtract),
    "Mul": _of_two(pysimd.multiply),
    "Div": _of_two(pysimd.divide),
    "Pow": _of_two(pysimd.power),
    "Max": _of_several("max", pysimd.maximum),
    "Min": _of_several("min", pysimd.minimum),
    "Sum": _of_several("sum", pysimd.add),
    "Mean": Operator(_mean, data=2),
    "Transpose": _moves(lambda node, x: pysimd.transpose(x, node.get("perm"))),
    "Concat": _moves(lambda node, *arrays: pysimd.concatenate(arrays, node.get("axis"))),
    "Slice": _moves(_slice),
    "Expand": _moves(_expand),
    "Tile": _moves(_tile),
    "Split": _moves(_split),
    "DepthToSpace": _moves(_depth_to_space),
    "SpaceToDepth": _moves(_space_to_depth),
    "Pad": _moves(_pad),
    "Reshape": _moves(_reshape),
    "Flatten": _moves(_flatten),
    "Squeeze": _moves(_squeeze),
    "Unsqueeze": _moves(_unsqueeze),
    "Identity": _moves(lambda node, x: x),
    "ReduceSum": _reduction("sum")._replace(types=_REDUCED),
    "ReduceMean": _reduction("mean")._replace(types=_REDUCED),
    "ReduceMax": _reduction("max")._replace(types=_REDUCED),
    "ReduceMin": _reduction("min")._replace(types=_REDUCED),
    "ReduceProd": _reduction("prod")._replace(types=_REDUCED),
    "ReduceLogSumExp": _reduction("logsumexp"),
    "ReduceL1": _reduction("l1")._replace(types=_REDUCED),
    "ReduceL2": _reduction("l2")._replace(types=_REDUCED),
    "ReduceSumSquare": _reduction("sum_square")._replace(types=_REDUCED),
    "ArgMax": Operator(partial(_arg, pysimd.argmax), types=_REDUCED),
    "ArgMin": Operator(partial(_arg, pysimd.argmin), types=_REDUCED),
    "Resize": Operator(_resize, ("float32", "uint8"), images=True),
    "Upsample": Operator(_upsample, ("float32", "uint8"), images=True),
    "GridSample": Operator(_grid_sample),
    "RoiAlign": Operator(_roi_align, data=2),
    "Gather": _moves(lambda node, x, indices: pysimd.gather(x, indices, axis=node.get("axis", 0))),
    "GatherElements": Operator(_gather_elements, ("float32", "uint8")),
    "TopK": Operator(_top_k, _REDUCED),
    "NonMaxSuppression": Operator(_non_max_suppression, data=2),
    "QuantizeLinear": Operator(_quantize, (*_FLOAT, *_BYTES), data=3),
    "DequantizeLinear": Operator(_dequantize, (*_FLOAT, *_BYTES), data=3),
}


def evaluate(model: Any, inputs: Sequence[Any], channels_last: bool = False) -> list[Any]:
    """The outputs of a model of ONNX, by the adapters."""
    from onnx.helper import get_attribute_value

    graph = model.graph
    opset = next(each.version for each in model.opset_import if each.domain == "")
    values = dict(zip((each.name for each in graph.input), inputs))
    for each in graph.node:
        attributes = {a.name: get_attribute_value(a) for a in each.attribute}
        attributes = {name: value.decode() if isinstance(value, bytes) else value for name, value in attributes.items()}
        more = {"outputs": len(each.output)} if each.op_type == "Split" else {}
        arrays = [values[name] if name else None for name in each.input]
        if any(isinstance(array, list) for array in arrays):
            raise Unsupported("inputs are sequences")
        found = OPERATORS[each.op_type].adapter(Node(attributes, opset, channels_last), *arrays, **more)
        results = found if isinstance(found, tuple) else (found,)
        if len(each.output) > len(results):
            raise Unsupported(f"{each.op_type} has {len(results)} outputs")
        values.update(zip(each.output, results))
    return [values[each.name] for each in graph.output]


def refused_type(model: Any, inputs: Sequence[Any]) -> str | None:
    """The first type of data for which pysimd has no function."""
    values = dict(zip((each.name for each in model.graph.input), inputs))
    for node in model.graph.node:
        operator = OPERATORS[node.op_type]
        for name in node.input[: operator.data] if operator.types else ():
            if name in values and values[name].dtype.name not in operator.types:
                return str(values[name].dtype.name)
    return None


def _limits() -> dict[str, str]:
    """Cases that pysimd cannot compute, by their names in ONNX without "test_", with the sentence that refuses them."""
    three = "images have 3 dimensions"
    crop = "coordinates is 'tf_crop_and_resize', expected"
    limits = {
        "averagepool_3d_default": three,
        "maxpool_3d_default": three,
        "convtranspose_3d": three,
        "averagepool_2d_dilations": "dilations is",
        "averagepool_3d_dilations_small": "dilations is",
        "maxpool_2d_dilations": "dilations is",
        "maxpool_3d_dilations": "dilations is",
        "maxpool_3d_dilations_use_ref_impl": "dilations is",
        "maxpool_3d_dilations_use_ref_impl_large": "dilations is",
        "maxpool_with_argmax_2d_precomputed_pads": "MaxPool has 1 output",
        "maxpool_with_argmax_2d_precomputed_strides": "MaxPool has 1 output",
        "batchnorm_example_training_mode": "training_mode is 1",
        "batchnorm_epsilon_training_mode": "training_mode is 1",
        "quantizelinear_blocked_asymmetric": "block_size is",
        "quantizelinear_blocked_symmetric": "block_size is",
        "dequantizelinear_blocked": "block_size is",
        "identity_sequence": "inputs are sequences",
        "identity_opt": "inputs are sequences",
        "resize_tf_crop_and_resize": crop,
        "resize_tf_crop_and_resize_axes_2_3": crop,
        "resize_tf_crop_and_resize_axes_3_2": crop,
        "resize_tf_crop_and_resize_extrapolation_value": "extrapolation_value is",
        # The corners of an output of 2.4 elements, of which 2 are computed; here the last one of the two is the corner.
        "resize_downsample_scales_linear_align_corners": "Mismatched elements",
        "resize_downsample_scales_cubic_align_corners": "Mismatched elements",
    }
    for corners in (0, 1):
        for mode in ("nearest", "bilinear"):
            limits[f"gridsample_volumetric_{mode}_align_corners_{corners}"] = "expected \\(N, C, H, W\\)"
        for ceil in (False, True):
            name = f"averagepool_3d_dilations_large_count_include_pad_is_{corners}_ceil_mode_is_{ceil}"
            limits[name] = "dilations is"
    return limits


LIMITS = _limits()

#: Those with channels last alone.
LIMITS_CHANNELS_LAST: dict[str, str] = {}
