"""The operators of graphs, with the types of their outputs: one table.

Tensors have the order of ONNX: images are (N, C, H, W). Inputs in brackets may be missing. Weights and other inputs written
in capitals are constants::

    Conv(x, W, [B], [add])        strides, pads, dilations, group, activation, order
                                  W (O, C / group, ky, kx); pads (top, left, bottom, right); order "add" adds before the
                                  activation, "activation" after it; it matters only with add
    ConvTranspose(x, W, [B])      strides, pads, dilations, group, output_padding, activation; W (C, O / group, ky, kx)
    DynamicConv(x, w, [b])        as Conv and ConvTranspose, with weights that are computed; without activation
    DynamicConvTranspose(x, w, [b])
    MergedConvolution(x, W0, B0, W1, B1, ...)
                                  stages: a mapping (strides, pads, activation, depthwise) for each; residual
    MaxPool(x), AveragePool(x)    kernel, strides, pads, ceil; AveragePool also count_include_pad
    Linear(x, W, [B], [add])      activation, order; x (..., K), W (K, N); with `contracted` more than 1, x (..., K1, K2) and
                                  W (K1, K2, N)
    MatMul(a, b)                  as numpy.matmul; both at least matrices
    Attention(q, k, v, [bias])    softmax(scale * q @ k + bias) @ v; scale, prefer; q (..., M, K), k (..., K, N),
                                  v (..., N, W)
    ByteProduct(a, b)             exact sums in int32; a (..., M, K) uint8, b (N, K) or (..., N, K) int8
    NBitsProduct(x, W, S, [Z], [B])
                                  x, quantised in blocks, with W (N, blocks, bytes): as of pysimd.gemm_nbits; bits
    PackedProduct(x, W, [Z], [z], [s], [S], [B])
                                  dtype int32: exact sums of (x - z) * (W - Z); float32: f(f(float(sum) * f(s * S)) + B);
                                  x (..., M, K) and W (K, N) bytes; z and s one number of x each, Z, S, B of each column
    QuantizedConv(x, W, S, [B], [T], [add]), QuantizedLinear(x, W, S, [B], [T], [add])
                                  scales, zeros: two each, of x and of the result, which are uint8; W int8 with a scale for
                                  each output; B int32; as QLinearConv and QLinearMatMul; else as Conv and Linear; with T, a
                                  Table8 of the result follows, of [dtype]; with add, a QuantizedBinary, order "add" before
                                  the Table8, "activation" after it: sum_scales, sum_zeros of its operands and result, and
                                  add_first, whether add is the first operand
    QuantizedPool(x)              kind: "max", "average" or "global_average"; kernel, strides, pads, ceil, count_include_pad;
                                  scales, zeros: two each, of x and of the result, bytes of one type
    Unary(x)                      function, params: see UNARY
    Binary(a, b)                  function: see BINARY; activation; both have the same number of dimensions
    ExactBinary(a, b)             function: see BINARY; likewise; no pass changes how results are rounded
    Elementwise(a, b)             function: see ELEMENTWISE; of integers and booleans, some of floats; likewise
    Select(condition, a, b)       a where the condition is true, else b; likewise, of any type
    Scale(x, S, [B])              axis: x * S + B by the coordinate along that axis
    Prelu(x, S)                   axis: slopes of negative values
    Softmax(x)                    axis; log
    Reduce(x)                     function: see REDUCE; axes, keepdims; arguments (argmax, argmin) have one axis and `last`
    LayerNorm(x, [S], [B])        axis: the first of those that are normalized; eps; S and B have the shape of these
    ChannelNorm(x, [S], [B])      groups: 0 for each channel by itself (instance norm), else as group norm; eps
    L2Norm(x)                     axis; eps, which is added to the sum of squares, or is its least value
    RmsNorm(x, [S])               axis: the last one; eps, which is added to the mean of squares; S as of Scale
    Lrn(x)                        size, alpha, beta, bias
    Resize(x)                     size, scale (a factor for each of height and width), mode, coordinates, rounding,
                                  antialias, exclude_outside, cubic
    GridSample(x, grid)           mode, padding_mode, align_corners
    RoiAlign(x, regions, images)  size, scale, ratio, mode, half_pixel: as of pysimd.roi_align; images are int64
    Lstm(x, W, R, [B], [lengths], [h0], [c0], [P]) -> y, hn, cn
                                  hidden, direction, batch_first; [input_forget]
    ByteLstm(x, W, R, [B], [lengths], [h0], [c0], [P], S1, S2, [Z1], [Z2]) -> y, hn, cn
                                  likewise, with weights of bytes, as DynamicQuantizeLSTM: W (directions, input, 4 hidden),
                                  R (directions, hidden, 4 hidden); scales and zeros (directions, 1 or 4 hidden)
    Gru(x, W, R, [B], [lengths], [h0]) -> y, hn
                                  hidden, direction, batch_first, linear_before_reset
    Rnn(x, W, R, [B], [lengths], [h0]) -> y, hn
                                  hidden, direction, batch_first; of these three also [activations], [clip]: as of pysimd
    Cast(x)                       dtype
    BytesMatMul(a, b, [za], [zb]) exact sums in int32 of matrices of bytes less their zeros: a zero of all, or of each row of
                                  a (..., M, 1), and of each column of b (N,); with scales, those of a, b and the result,
                                  zero and dtype: bytes, as QLinearMatMul
    Concat(x, ...)                axis
    Slice(x)                      starts, steps, sizes: for each axis
    Pad(x)                        pads: (before, after) for each axis; mode, value
    Transpose(x)                  perm
    Reshape(x)                    shape
    Expand(x)                     shape: x is broadcast
    Gather(x, indices)            axis; indices are int64, as lengths are
    GatherElements(x, indices)    axis
    GatherNd(x, indices)          batch: the number of dimensions that both share
    ScatterElements(x, indices, updates)
                                  axis, reduction: see SCATTER; indices have the shape of updates, or 1 where they repeat
    ScatterNd(x, indices, updates, [rows])
                                  reduction; with rows, which are int64, each update is one of the rows of updates
    CumulativeSum(x)              axis, exclusive, reverse
    TopK(x) -> values, indices    k, axis, largest, sorted
    Quantize(x, s, [z]), Dequantize(x, s, [z])
                                  axis (None for one scale); Quantize also dtype
    Table8(x, T)                  dtype; T[x] for bytes x, T has 256 bytes as uint8
    DynamicQuantize(x) -> bytes, scale, zero
                                  uint8, with the scale and the zero of the range, as DynamicQuantizeLinear
    QuantizedBinary(a, b)         function (add or multiply); scales, zeros: three each, of a, b and the result, which are
                                  of one type of bytes; as QLinearAdd and QLinearMul, with as many dimensions in both
    Host(x, ...)                  function, types: computed by a Python function with the arrays of its inputs, which
                                  returns an array, or a tuple or a list of them

An activation is a pair: its name in :mod:`pysimd` and its parameters, ``("identity", ())`` for none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, Callable

from pysimd._geometry import output_size
from pysimd.annotations import Shape
from pysimd.network.graph import Graph, Type
from pysimd.network.sizes import broadcast_shapes

Attributes = Mapping[str, Any]
Activation = tuple[str, tuple[float, ...]]
_Rule = Callable[[Sequence[Type], Attributes], Sequence[Type]]

IDENTITY: Activation = ("identity", ())


#: Functions of every element: the names of functions of pysimd, with the names of their parameters. As in ONNX, it is
#: leaky_relu that has a slope, and a range in place of relu6. A table, since signatures take imports of all modules.
UNARY: dict[str, tuple[str, ...]] = {
    "elu": ("alpha",),
    "hard_sigmoid": ("scale", "shift"),
    "hswish": ("shift", "scale"),
    "leaky_relu": ("slope",),
    "mish": ("threshold",),
    "restrict_range": ("lower", "upper"),
    "sigmoid": ("slope",),
    "softplus": ("beta", "threshold"),
    "swish": ("slope",),
    "tanh": ("slope",),
    **dict.fromkeys(
        (
            "absolute", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "ceil", "cos", "cosh", "erf", "exp",
            "floor", "gelu", "log", "negative", "reciprocal", "relu", "rint", "rsqrt", "sign", "sin", "sinh", "sqrt", "tan",
        ),
        (),
    ),
}  # fmt: skip
BINARY = ("add", "subtract", "multiply", "divide", "maximum", "minimum", "power", "replace")
#: Those of pysimd.elementwise; the last ones return booleans.
COMPARISONS = ("equal", "not_equal", "less", "less_or_equal")
ELEMENTWISE = (
    "add", "subtract", "multiply", "divide", "modulo", "remainder", "maximum", "minimum", "power", "and", "or", "xor",
    "shift_left", "shift_right", *COMPARISONS,
)  # fmt: skip
SCATTER = ("none", "add", "mul", "max", "min")
REDUCE = ("sum", "mean", "max", "min", "prod", "l1", "l2", "sum_square", "logsumexp", "argmax", "argmin")

#: The functions of UNARY that contexts compute as the activation of their result.
ACTIVATIONS = (
    "elu", "gelu", "hard_sigmoid", "hswish", "leaky_relu", "mish", "relu", "restrict_range", "sigmoid", "swish",
)  # fmt: skip


#: The operators with an input that is added to their result, and its place.
ADDING, ADDED = ("Conv", "Linear"), 3
#: The places of a table among the inputs of layers of bytes, and of what they add.
TABLE, SUMMED = 4, 5


def types_of(operator: str, inputs: Sequence[Type], attributes: Attributes) -> tuple[Type, ...]:
    """The types of the outputs; of missing inputs, any type. Raises ValueError for inputs that do not fit."""
    if operator not in _RULES:
        raise ValueError(f"the operator {operator} is not known; known are {', '.join(sorted(_RULES))}")
    return tuple(_RULES[operator](inputs, attributes))


#: The places of inputs that must be constants, those in capitals: they are read when a graph is prepared.
_CONSTANT: Mapping[str, Sequence[int]] = {
    "ByteLstm": (1, 2, 3, 7, 8, 9, 10, 11),
    "ChannelNorm": (1, 2),
    "Conv": (1, 2),
    "ConvTranspose": (1, 2),
    "Gru": (1, 2, 3),
    "LayerNorm": (1, 2),
    "Linear": (1, 2),
    "Lstm": (1, 2, 3, 7),
    "NBitsProduct": (1, 2, 3, 4),
    "PackedProduct": (1, 2, 5, 6),
    "Prelu": (1,),
    "QuantizedConv": (1, 2, 3, 4),
    "QuantizedLinear": (1, 2, 3, 4),
    "RmsNorm": (1,),
    "Rnn": (1, 2, 3),
    "Table8": (1,),
    "Scale": (1, 2),
}


def constant_places(operator: str, count: int) -> tuple[int, ...]:
    """Which of `count` inputs must be constants."""
    places = range(1, count) if operator == "MergedConvolution" else _CONSTANT.get(operator, ())
    return tuple(i for i in places if i < count)


def constant_inputs(operator: str, inputs: Sequence[str]) -> tuple[str, ...]:
    """Those of the inputs that must be constants."""
    return tuple(inputs[i] for i in constant_places(operator, len(inputs)) if inputs[i])


def refuse_computed_weights(graph: Graph) -> None:
    """Raises ValueError if an input that must be a constant is computed, or is an input of the graph."""
    for node in graph.nodes:
        for name in constant_inputs(node.operator, node.inputs):
            if name not in graph.constants:
                what = node.origin[0] if node.origin else node.outputs[0]
                raise ValueError(
                    f"{node.operator} {what!r} reads {name!r}, which is computed at run time: expected a constant"
                )


def _need(true: bool, what: str) -> None:
    if not true:
        raise ValueError(what)


def axis_within(axis: int, rank: int) -> int:
    """An axis, counted from the first one. Raises ValueError if there is none."""
    _need(-rank <= axis < rank, f"axis is {axis}, expected one of {rank} dimensions")
    return axis % rank


# ---- images


def _images(of: Type) -> tuple[int, int, Shape]:
    if len(of.shape) != 4:  # here and below, a text for each call would take longer than the rule
        raise ValueError(f"the shape is {of.shape}, expected (N, C, H, W)")
    n, c, *size = of.shape
    return n, c, tuple(size)


def sides_of(size: Sequence[int], kernel: Sequence[int], attributes: Attributes) -> Shape:
    """Height and width after a sliding window; pads are (top, left, bottom, right)."""
    pads, strides = attributes["pads"], attributes["strides"]
    dilations, ceil = attributes.get("dilations", (1, 1)), attributes.get("ceil", False)
    sides = []
    for i in (0, 1):
        span = (kernel[i] - 1) * dilations[i] + 1
        sides.append(windows_along(size[i], span, strides[i], pads[i], pads[i + 2], ceil))
    return tuple(sides)


def windows_along(n: int, span: int, stride: int, before: int, after: int, ceil: bool) -> int:
    """The number of sliding windows along a dimension; with ceil, the last one may extend beyond the padding."""
    room = n + before + after - span
    if room < 0:
        raise ValueError(f"the window of {span} is larger than the image of {n} with its padding")
    return output_size(n, span, stride, before, after, ceil, "image")


def _conv(inputs: Sequence[Type], attributes: Attributes) -> Sequence[Type]:
    n, c, size = _images(inputs[0])
    if len(inputs[1].shape) != 4:
        raise ValueError(f"the weights have shape {inputs[1].shape}, expected (O, C, ky, kx)")
    o, part, *kernel = inputs[1].shape
    group = attributes["group"]
    if part * group != c:
        raise ValueError(f"the weights are for {part} channels in each of {group} groups, the image has {c}")
    if o % group:
        raise ValueError(f"{o} outputs are not a multiple of {group} groups")
    return [Type((n, o, *sides_of(size, kernel, attributes)))]


def _conv_transpose(inputs: Sequence[Type], attributes: Attributes) -> Sequence[Type]:
    n, c, size = _images(inputs[0])
    _need(len(inputs[1].shape) == 4, f"the weights have shape {inputs[1].shape}, expected (C, O, ky, kx)")
    i, part, *kernel = inputs[1].shape
    _need(i == c and c % attributes["group"] == 0, f"the weights are for {i} channels, the image has {c}")
    pads, strides, more = attributes["pads"], attributes["strides"], attributes["output_padding"]
    spans = [(kernel[k] - 1) * attributes["dilations"][k] + 1 for k in (0, 1)]
    sides = [(size[k] - 1) * strides[k] + spans[k] - pads[k] - pads[k + 2] + more[k] for k in (0, 1)]
    _need(min(sides) > 0, f"the output would have {sides[0]}x{sides[1]} pixels")
    return [Type((n, part * attributes["group"], *sides))]


def _merged(inputs: Sequence[Type], attributes: Attributes) -> Sequence[Type]:
    (n, c, size) = _images(inputs[0])
    for i, stage in enumerate(attributes["stages"]):
        o, _, *kernel = inputs[1 + 2 * i].shape
        size, c = sides_of(size, kernel, stage), o
    return [Type((n, c, *size))]


def _pool(inputs: Sequence[Type], attributes: Attributes) -> Sequence[Type]:
    n, c, size = _images(inputs[0])
    return [Type((n, c, *sides_of(size, attributes["kernel"], attributes)), inputs[0].dtype)]


def _quantized_pool(inputs: Sequence[Type], attributes: Attributes) -> Sequence[Type]:
    _need(inputs[0].dtype in ("uint8", "int8"), f"x is {inputs[0].dtype}, expected uint8 or int8")
    n, c, _ = _images(inputs[0])
    return [Type((n, c, 1, 1), inputs[0].dtype)] if attributes["kind"] == "global_average" else _pool(inputs, attributes)


def _resize(inputs: Sequence[Type], attributes: Attributes) -> Sequence[Type]:
    n, c, _ = _images(inputs[0])
    return [Type((n, c, *attributes["size"]), inputs[0].dtype)]


def _grid_sample(inputs: Sequence[Type], attributes: Attributes) -> Sequence[Type]:
    n, c, _ = _images(inputs[0])
    grid = inputs[1].shape
    _need(len(grid) == 4 and grid[0] == n and grid[3] == 2, f"the grid has shape {grid}, expected ({n}, H, W, 2)")
    return [Type((n, c, *grid[1:3]))]


def _roi_align(inputs: Sequence[Type], attributes: Attributes) -> Sequence[Type]:
    _, c, _ = _images(inputs[0])
    (count, *corners), images = inputs[1].shape, inputs[2].shape
    fits = corners == [4] and images == (count,)
    _need(fits, f"regions of the shape {inputs[1].shape} with {images} images do not fit {inputs[0].shape}")
    return [Type((count, c, *attributes["size"]))]


def _of_images(inputs: Sequence[Type], attributes: Attributes) -> Sequence[Type]:
    _need(len(inputs[0].shape) >= 2, f"the shape is {inputs[0].shape}, expected (N, C, ...)")
    return [inputs[0]]


# ---- products and recurrent layers


def _linear(inputs: Sequence[Type], attributes: Attributes) -> Sequence[Type]:
    (*depth, n), shape = inputs[1].shape, inputs[0].shape
    count = len(depth)
    if not (count >= 1 and shape[-count:] == tuple(depth)):
        raise ValueError(f"x has shape {shape}, the weights {inputs[1].shape}")
    return [Type((*shape[:-count], n))]


def _matmul(inputs: Sequence[Type], attributes: Attributes) -> Sequence[Type]:
    a, b = inputs[0].shape, inputs[1].shape
    _need(len(a) >= 2 and len(b) >= 2 and a[-1] == b[-2], f"matrices of shapes {a} and {b} cannot be multiplied")
    return [Type((*broadcast_shapes(a[:-2], b[:-2]), a[-2], b[-1]))]


def _attention(inputs: Sequence[Type], attributes: Attributes) -> Sequence[Type]:
    q, k, v = (each.shape for each in inputs[:3])
    _need(min(map(len, (q, k, v))) >= 2, f"matrices are needed, the shapes are {q}, {k} and {v}")
    _need(q[-1] == k[-2], f"queries of shape {q} and keys of shape {k} cannot be multiplied")
    _need(k[-1] == v[-2], f"there are {k[-1]} keys and {v[-2]} values")
    lead = broadcast_shapes(broadcast_shapes(q[:-2], k[:-2]), v[:-2])
    if len(inputs) > 3:
        bias, scores = inputs[3].shape, (*lead, q[-2], k[-1])
        _need(broadcast_shapes(bias, scores) == scores, f"a bias of shape {bias} does not fit scores of shape {scores}")
    return [Type((*lead, q[-2], v[-1]))]


def _byte_product(inputs: Sequence[Type], attributes: Attributes) -> Sequence[Type]:
    a, b = inputs
    _need((a.dtype, b.dtype) == ("uint8", "int8"), f"the types are {a.dtype} and {b.dtype}, expected uint8 and int8")
    _need(len(a.shape) >= 2 and len(b.shape) >= 2, f"the shapes are {a.shape} and {b.shape}, expected matrices")
    _need(a.shape[-1] == b.shape[-1], f"the rows of {a.shape} and {b.shape} have different sizes")
    return [Type((*broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-2]), "int32")]


def _bytes_matmul(inputs: Sequence[Type], attributes: Attributes) -> Sequence[Type]:
    a, b, *_ = inputs
    _need({a.dtype, b.dtype} <= {"uint8", "int8"}, f"the types are {a.dtype} and {b.dtype}, expected bytes")
    _need(len(a.shape) >= 2 and len(b.shape) >= 2, f"the shapes are {a.shape} and {b.shape}, expected matrices")
    _need(a.shape[-1] == b.shape[-2], f"matrices of shapes {a.shape} and {b.shape} cannot be multiplied")
    return [
        Type((*broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1]), attributes.get("dtype", "int32"))
    ]


def _packed_product(inputs: Sequence[Type], attributes: Attributes) -> Sequence[Type]:
    x, weight = inputs[:2]
    _need({x.dtype, weight.dtype} <= {"uint8", "int8"}, f"the types are {x.dtype} and {weight.dtype}, expected bytes")
    _need(len(x.shape) >= 2 and len(weight.shape) == 2, f"the shapes are {x.shape} and {weight.shape}, expected matrices")
    _need(x.shape[-1] == weight.shape[0], f"matrices of shapes {x.shape} and {weight.shape} cannot be multiplied")
    _need(attributes["dtype"] in ("int32", "float32"), f"dtype is {attributes['dtype']}, expected int32 or float32")
    return [Type((*x.shape[:-1], weight.shape[1]), attributes["dtype"])]


def _nbits_product(inputs: Sequence[Type], attributes: Attributes) -> Sequence[Type]:
    x, weight, *_ = inputs
    _need((x.dtype, weight.dtype) == ("float32", "uint8"), f"types are {x.dtype} and {weight.dtype}, not float32 and uint8")
    _need(len(x.shape) >= 1 and len(weight.shape) == 3, f"the shapes are {x.shape} and {weight.shape}")
    return [Type((*x.shape[:-1], weight.shape[0]))]


def _of_bytes(rule: _Rule) -> _Rule:
    """Of quantised bytes; the shapes are those of another rule."""

    def types(inputs: Sequence[Type], attributes: Attributes) -> Sequence[Type]:
        x, weight, scale, *bias = inputs[:4]
        _need((x.dtype, weight.dtype) == ("uint8", "int8"), f"types are {x.dtype} and {weight.dtype}, not uint8 and int8")
        found = [Type(of.shape, "uint8") for of in rule(inputs, attributes)]
        if len(inputs) > TABLE and inputs[TABLE].shape:
            found = list(_table((found[0], inputs[TABLE]), {"dtype": attributes.get("dtype", "uint8")}))
        if len(inputs) > SUMMED:
            of = Type(found[0].shape, "uint8" if attributes["order"] == "add" else found[0].dtype)
            _need(inputs[SUMMED] == of, f"what is added is {inputs[SUMMED]}, expected {of}")
        count = weight.shape[0 if rule is _conv else -1]
        for of in (scale, *bias):
            _need(of.shape in ((count,), ()), f"the scale or the bias has shape {of.shape}, expected {(count,)}")
        return found

    return types


def _recurrent(inputs: Sequence[Type], attributes: Attributes) -> Sequence[Type]:
    x, hidden = inputs[0].shape, attributes["hidden"]
    _need(len(x) == 3, f"x has shape {x}, expected three dimensions")
    directions = 2 if attributes["direction"] == "bidirectional" else 1
    if attributes["batch_first"]:
        batch, steps, _ = x
        return [Type((batch, steps, directions, hidden)), *[Type((batch, directions, hidden))] * 2]
    steps, batch, _ = x
    return [Type((steps, directions, batch, hidden)), *[Type((directions, batch, hidden))] * 2]


# ---- element-wise functions, and functions along axes


def _same(inputs: Sequence[Type], attributes: Attributes) -> Sequence[Type]:
    return [inputs[0]]


def _unary(inputs: Sequence[Type], attributes: Attributes) -> Sequence[Type]:
    if attributes["function"] not in UNARY:
        raise ValueError(f"{attributes['function']} is not an element-wise function")
    return [inputs[0]]


def _binary(inputs: Sequence[Type], attributes: Attributes) -> Sequence[Type]:
    if attributes["function"] not in BINARY:
        raise ValueError(f"{attributes['function']} is not a function of two tensors")
    return [Type(_broadcast(inputs))]


def _broadcast(inputs: Sequence[Type]) -> Shape:
    """The shape of the result of operands with the same number of dimensions."""
    shapes = [of.shape for of in inputs]
    reason = "do not have the same number of dimensions"
    if len(set(map(len, shapes))) == 1:
        try:
            return broadcast_shapes(*shapes)
        except ValueError:
            reason = "cannot be broadcast"
    raise ValueError(f"the shapes {', '.join(map(str, shapes[:-1]))} and {shapes[-1]} {reason}")


def _elementwise(inputs: Sequence[Type], attributes: Attributes) -> Sequence[Type]:
    function, (a, b) = attributes["function"], inputs
    _need(function in ELEMENTWISE, f"{function} is not a function of two tensors of integers")
    _need(a.dtype == b.dtype, f"the types {a.dtype} and {b.dtype} are not the same")
    return [Type(_broadcast(inputs), "bool" if function in COMPARISONS else a.dtype)]


def _select(inputs: Sequence[Type], attributes: Attributes) -> Sequence[Type]:
    condition, a, b = inputs
    _need(condition.dtype == "bool", f"the condition has type {condition.dtype}, expected bool")
    _need(a.dtype == b.dtype, f"the types {a.dtype} and {b.dtype} are not the same")
    return [Type(_broadcast(inputs), a.dtype)]


def _along_axis(inputs: Sequence[Type], attributes: Attributes) -> Sequence[Type]:
    axis_within(attributes["axis"], len(inputs[0].shape))
    return [inputs[0]]


def _reduce(inputs: Sequence[Type], attributes: Attributes) -> Sequence[Type]:
    function, shape = attributes["function"], inputs[0].shape
    _need(function in REDUCE, f"{function} is not a reduction")
    axes = {axis_within(axis, len(shape)) for axis in attributes["axes"]}
    sizes = [1 if i in axes else n for i, n in enumerate(shape) if attributes["keepdims"] or i not in axes]
    return [Type(tuple(sizes), "int64" if function.startswith("arg") else inputs[0].dtype)]


# ---- moving elements


def _concat(inputs: Sequence[Type], attributes: Attributes) -> Sequence[Type]:
    first = inputs[0].shape
    axis = axis_within(attributes["axis"], len(first))
    rest = [(*of.shape[:axis], *of.shape[axis + 1 :]) for of in inputs]
    _need(all(each == rest[0] for each in rest), f"the shapes {[of.shape for of in inputs]} differ in more than axis {axis}")
    return [Type((*first[:axis], sum(of.shape[axis] for of in inputs), *first[axis + 1 :]), inputs[0].dtype)]


def _slice(inputs: Sequence[Type], attributes: Attributes) -> Sequence[Type]:
    for n, start, step, size in zip(inputs[0].shape, attributes["starts"], attributes["steps"], attributes["sizes"]):
        _need(size == 0 or (0 <= start < n and 0 <= start + (size - 1) * step < n), "the slice exceeds the tensor")
    return [Type(tuple(attributes["sizes"]), inputs[0].dtype)]


def _pad(inputs: Sequence[Type], attributes: Attributes) -> Sequence[Type]:
    for n, widths in zip(inputs[0].shape, attributes["pads"]):
        _need(n > 0 or attributes["mode"] == "constant" or not any(widths), f"{inputs[0].shape} has no element to repeat")
    sizes = [n + before + after for n, (before, after) in zip(inputs[0].shape, attributes["pads"])]
    return [Type(tuple(sizes), inputs[0].dtype)]


def _transpose(inputs: Sequence[Type], attributes: Attributes) -> Sequence[Type]:
    shape, perm = inputs[0].shape, attributes["perm"]
    _need(sorted(perm) == list(range(len(shape))), f"perm is {perm}, expected the axes of {shape} in some order")
    return [Type(tuple(shape[axis] for axis in perm), inputs[0].dtype)]


def _reshape(inputs: Sequence[Type], attributes: Attributes) -> Sequence[Type]:
    shape = tuple(attributes["shape"])
    _need(prod(shape) == inputs[0].size, f"{inputs[0].shape} cannot be reshaped to {shape}")
    return [Type(shape, inputs[0].dtype)]


def _expand(inputs: Sequence[Type], attributes: Attributes) -> Sequence[Type]:
    shape = tuple(attributes["shape"])
    _need(broadcast_shapes(inputs[0].shape, shape) == shape, f"{inputs[0].shape} cannot be broadcast to {shape}")
    return [Type(shape, inputs[0].dtype)]


def _gather(inputs: Sequence[Type], attributes: Attributes) -> Sequence[Type]:
    shape = inputs[0].shape
    axis = axis_within(attributes["axis"], len(shape))
    return [Type((*shape[:axis], *inputs[1].shape, *shape[axis + 1 :]), inputs[0].dtype)]


def _gather_elements(inputs: Sequence[Type], attributes: Attributes) -> Sequence[Type]:
    x, indices, axis = inputs[0].shape, inputs[1].shape, attributes["axis"]
    rest = [(*shape[:axis], *shape[axis + 1 :]) for shape in (x, indices)]
    _need(rest[0] == rest[1], f"the indices have shape {indices}, expected {x} except for axis {axis}")
    return [Type(inputs[1].shape, inputs[0].dtype)]


def _gather_nd(inputs: Sequence[Type], attributes: Attributes) -> Sequence[Type]:
    x, indices, batch = inputs[0].shape, inputs[1].shape, attributes["batch"]
    _need(len(indices) > batch and x[:batch] == indices[:batch], f"the shapes are {x} and {indices}, with {batch} in common")
    _need(batch + indices[-1] <= len(x), f"indices have {indices[-1]} numbers for the shape {x}")
    return [Type((*indices[:-1], *x[batch + indices[-1] :]), inputs[0].dtype)]


def _scatter_nd(inputs: Sequence[Type], attributes: Attributes) -> Sequence[Type]:
    x, indices, updates, *rows = inputs
    (parts,) = _gather_nd((x, indices), {"batch": 0})
    for each in rows:
        _need(each == Type(indices.shape[:-1], "int64"), f"the rows have shape {each.shape}, expected {indices.shape[:-1]}")
        updates = Type((*each.shape, *updates.shape[1:]), updates.dtype)
    _need(updates == parts, f"the updates have shape {updates.shape} and type {updates.dtype}, expected {parts}")
    return [x]


def _scatter_elements(inputs: Sequence[Type], attributes: Attributes) -> Sequence[Type]:
    x, indices, updates = inputs
    axis_within(attributes["axis"], len(x.shape))
    same = len(x.shape) == len(indices.shape) == len(updates.shape) and x.dtype == updates.dtype
    _need(
        same and all(n in (1, m) for n, m in zip(indices.shape, updates.shape)),
        f"the indices have shape {indices.shape}, updates {updates.shape}, for a tensor of {x.shape}",
    )
    return [x]


def _top_k(inputs: Sequence[Type], attributes: Attributes) -> Sequence[Type]:
    shape, k = inputs[0].shape, attributes["k"]
    axis = axis_within(attributes["axis"], len(shape))
    _need(0 <= k <= shape[axis], f"k is {k}, expected at most {shape[axis]}")
    found = (*shape[:axis], k, *shape[axis + 1 :])
    return [Type(found, inputs[0].dtype), Type(found, "int64")]


def _by_scale(x: Type, parameters: Sequence[Type], attributes: Attributes, dtype: str) -> None:
    """The scale and the zero point fit the axis, and the zero point is of the type of the bytes."""
    axis = attributes["axis"]
    expected = () if axis is None else (x.shape[axis],)
    for of in parameters:
        _need(of.shape == expected, f"the scale or the zero point has shape {of.shape}, expected {expected}")
    _need(all(of.dtype == dtype for of in parameters[1:]), f"the zero point is not of type {dtype}")


def _quantize(inputs: Sequence[Type], attributes: Attributes) -> Sequence[Type]:
    _by_scale(inputs[0], inputs[1:], attributes, attributes["dtype"])
    return [Type(inputs[0].shape, attributes["dtype"])]


def _dynamic_quantize(inputs: Sequence[Type], attributes: Attributes) -> Sequence[Type]:
    return [Type(inputs[0].shape, "uint8"), Type(()), Type((), "uint8")]


def _quantized_binary(inputs: Sequence[Type], attributes: Attributes) -> Sequence[Type]:
    function, (a, b) = attributes["function"], inputs
    _need(function in ("add", "multiply"), f"{function} is not a function of two tensors of bytes")
    _need(a.dtype == b.dtype and a.dtype in ("uint8", "int8"), f"the operands are {a.dtype} and {b.dtype}, expected bytes")
    return [Type(_broadcast(inputs), a.dtype)]


def _table(inputs: Sequence[Type], attributes: Attributes) -> Sequence[Type]:
    x, table = inputs
    _need(x.dtype in ("uint8", "int8"), f"x is {x.dtype}, expected bytes")
    _need(table == Type((256,), "uint8"), f"the table is {table}, expected 256 numbers of uint8")
    return [Type(x.shape, attributes["dtype"])]


def _dequantize(inputs: Sequence[Type], attributes: Attributes) -> Sequence[Type]:
    _by_scale(inputs[0], inputs[1:], attributes, inputs[0].dtype)
    return [Type(inputs[0].shape)]


_RULES: dict[str, _Rule] = {
    "Attention": _attention,
    "AveragePool": _pool,
    "Binary": _binary,
    "ByteLstm": _recurrent,
    "ByteProduct": _byte_product,
    "BytesMatMul": _bytes_matmul,
    "NBitsProduct": _nbits_product,
    "PackedProduct": _packed_product,
    "QuantizedPool": _quantized_pool,
    "Cast": lambda inputs, attributes: [Type(inputs[0].shape, attributes["dtype"])],
    "ChannelNorm": _of_images,
    "Concat": _concat,
    "Conv": _conv,
    "ConvTranspose": _conv_transpose,
    "Dequantize": _dequantize,
    "CumulativeSum": _along_axis,
    "DynamicConv": _conv,
    "DynamicConvTranspose": _conv_transpose,
    "DynamicQuantize": _dynamic_quantize,
    "Elementwise": _elementwise,
    "ExactBinary": _binary,
    "Expand": _expand,
    "Gather": _gather,
    "GatherElements": _gather_elements,
    "GatherNd": _gather_nd,
    "GridSample": _grid_sample,
    "Gru": lambda inputs, attributes: _recurrent(inputs, attributes)[:2],
    "Host": lambda inputs, attributes: [of if isinstance(of, Type) else Type(*of) for of in attributes["types"]],
    "L2Norm": _along_axis,
    "LayerNorm": _along_axis,
    "Linear": _linear,
    "Lrn": _of_images,
    "Lstm": _recurrent,
    "MatMul": _matmul,
    "MaxPool": _pool,
    "MergedConvolution": _merged,
    "Pad": _pad,
    "Prelu": _along_axis,
    "Quantize": _quantize,
    "QuantizedBinary": _quantized_binary,
    "QuantizedConv": _of_bytes(_conv),
    "QuantizedLinear": _of_bytes(_linear),
    "Reduce": _reduce,
    "Reshape": _reshape,
    "Resize": _resize,
    "RmsNorm": _along_axis,
    "Rnn": lambda inputs, attributes: _recurrent(inputs, attributes)[:2],
    "Scale": _along_axis,
    "RoiAlign": _roi_align,
    "ScatterElements": _scatter_elements,
    "ScatterNd": _scatter_nd,
    "Select": _select,
    "Slice": _slice,
    "Softmax": _along_axis,
    "Table8": _table,
    "TopK": _top_k,
    "Transpose": _transpose,
    "Unary": _unary,
}
