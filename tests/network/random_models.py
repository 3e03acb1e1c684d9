"""Random small models of ONNX, from seeds: a seed makes the same model everywhere.

:func:`random_model` makes them; test_random.py compares what is computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Callable

import numpy as np
from onnx import helper, numpy_helper

from pysimd.annotations import Array

NODES = 12  # the most nodes of a model, without those of the last pattern
LARGEST = 20_000  # elements of a tensor


class Maker:
    """Adds random nodes to a model whose input is "x", and keeps the shape of every tensor."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.nodes: list[Any] = []
        self.weights: dict[str, Array] = {}
        n, *sizes = self.sizes(self.one(4, 4, 4, 3, 2), 1, 17)
        self.shapes: dict[str, tuple[int, ...]] = {"x": (1 + n % 3, *sizes)}
        self.inputs = ["x"]

    def sizes(self, count: int, low: int, high: int) -> list[int]:
        return [int(n) for n in self.random.integers(low, high + 1, count)]

    def one(self, *values: Any) -> Any:
        return values[self.random.integers(len(values))]

    def flip(self) -> bool:
        return bool(self.random.integers(2))

    def weight(self, *shape: int, low: float = -0.5, high: float = 0.5) -> str:
        return self.constant(self.random.uniform(low, high, shape).astype(np.float32))

    def constant(self, array: Any) -> str:
        name = f"w{len(self.weights)}"
        self.weights[name] = np.asarray(array)
        return name

    def tensor(self, *ranks: int) -> str:
        """A tensor of one of these ranks, rather a late one; LookupError without one."""
        names = [name for name, shape in self.shapes.items() if not ranks or len(shape) in ranks]
        if not names:
            raise LookupError
        return names[-1] if self.random.random() < 0.6 else str(self.one(*names))

    def add(self, op: str, inputs: Sequence[str], shape: Sequence[int], **attributes: Any) -> str:
        if not shape or min(shape) < 1 or np.prod(shape) > LARGEST:
            raise LookupError
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], f"{op}{len(self.nodes)}", **attributes))
        self.shapes[name] = tuple(int(n) for n in shape)
        return name

    def pattern(self, op: str, *inputs: str, **attributes: Any) -> str:
        """A node whose result has the shape to which those of its inputs are broadcast."""
        shape = np.broadcast_shapes(*(self.shapes.get(x) or self.weights[x].shape for x in inputs))
        return self.add(op, inputs, shape, **attributes)

    def number(self, value: float) -> str:
        return self.constant(np.float32(value))

    def integers(self, *values: int) -> str:
        return self.constant(np.array(values, np.int64))

    def model(self) -> Any:
        """With the last tensor as output, and often others, among them inputs."""
        outputs = [f"t{len(self.nodes) - 1}"]
        while self.flip():
            outputs.append(str(self.one(*self.shapes)))
        types = [helper.make_tensor_value_info(name, 1, self.shapes[name]) for name in dict.fromkeys(outputs)]
        graph = helper.make_graph(
            self.nodes,
            "random",
            [helper.make_tensor_value_info(name, 1, self.shapes[name]) for name in self.inputs],
            types,
            [numpy_helper.from_array(array, name) for name, array in self.weights.items()],
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


# ---- nodes: each function adds one, or a pattern of a few, or raises LookupError if nothing fits


def convolution(m: Maker) -> None:
    x = m.tensor(4)
    n, c, *size = m.shapes[x]
    group = m.one(1, 1, 1, c, 2 if c % 2 == 0 else 1)
    o = group * m.one(1, 2, 3) if group > 1 else m.one(1, 4, 7, 16)
    kernel, strides, dilations = m.sizes(2, 1, 3), m.sizes(2, 1, 2), m.one([1, 1], [1, 1], [2, 1], [2, 2])
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    pads = m.sizes(4, 0, 2)
    sides = [(size[i] + pads[i] + pads[i + 2] - spans[i]) // strides[i] + 1 for i in (0, 1)]
    inputs = [x, m.weight(o, c // group, *kernel)] + [m.weight(o)] * m.flip()
    y = m.add("Conv", inputs, (n, o, *sides), strides=strides, dilations=dilations, pads=pads, group=group)
    if m.flip():
        scale = m.weight(o, low=0.5, high=1.5)
        m.add("BatchNormalization", [y, scale, m.weight(o), m.weight(o), m.weight(o, low=0.5, high=2)], m.shapes[y])


def convolution_same(m: Maker) -> None:
    """Of the same size as its input, so that additions find it; often with an activation."""
    x = m.tensor(4)
    n, c, h, w = m.shapes[x]
    k = m.one(1, 3, 5)
    group = m.one(1, c)
    y = m.add("Conv", [x, m.weight(c, c // group, k, k)], (n, c, h, w), pads=[k // 2] * 4, group=group)
    if m.flip():
        m.add("Relu", [y], m.shapes[y])
    if m.flip():
        m.add("Add", [f"t{len(m.nodes) - 1}", x], m.shapes[x])


def deconvolution(m: Maker) -> None:
    x = m.tensor(4)
    n, c, h, w = m.shapes[x]
    k, s, o = m.one(2, 3, 4), m.one(1, 2), m.one(1, 3, 8)
    m.add("ConvTranspose", [x, m.weight(c, o, k, k)], (n, o, (h - 1) * s + k, (w - 1) * s + k), strides=[s, s])


def pooling(m: Maker) -> None:
    x = m.tensor(4)
    n, c, h, w = m.shapes[x]
    k, s = m.one(2, 3), m.one(1, 2)
    before = m.one(0, k // 2)
    more = {"count_include_pad": int(m.flip())} if m.flip() else {}
    sides = [(size + 2 * before - k) // s + 1 for size in (h, w)]
    op = "AveragePool" if more else "MaxPool"
    m.add(op, [x], (n, c, *sides), kernel_shape=[k, k], strides=[s, s], pads=[before] * 4, **more)


def squeeze_and_excitation(m: Maker) -> None:
    x = m.tensor(4)
    n, c, _, _ = m.shapes[x]
    mean = m.add("GlobalAveragePool", [x], (n, c, 1, 1))
    low = m.add("Conv", [mean, m.weight(2, c, 1, 1), m.weight(2)], (n, 2, 1, 1))
    low = m.add(m.one("Relu", "HardSwish"), [low], (n, 2, 1, 1))
    gate = m.add("Conv", [low, m.weight(c, 2, 1, 1), m.weight(c)], (n, c, 1, 1))
    gate = m.add(m.one("Sigmoid", "HardSigmoid"), [gate], (n, c, 1, 1))
    m.add("Mul", m.one([x, gate], [gate, x]), m.shapes[x])


def activation(m: Maker) -> None:
    x = m.tensor()
    shape = m.shapes[x]
    kind = m.one(
        "Relu", "Sigmoid", "HardSwish", "HardSigmoid", "LeakyRelu", "Tanh", "Elu", "Gelu", "Mish", "silu", "clip", "prelu"
    )
    if kind == "silu":
        m.add("Mul", [x, m.add("Sigmoid", [x], shape)], shape)
    elif kind == "clip":
        m.add("Clip", [x, m.constant(np.float32(-0.25)), m.constant(np.float32(0.5))], shape)
    elif kind == "prelu":
        m.add("PRelu", [x, m.weight(*([shape[1], 1, 1] if len(shape) == 4 else [1]))], shape)
    else:
        m.add(kind, [x], shape)


def arithmetic(m: Maker) -> None:
    """Of a tensor with another of the same shape, a scalar, a vector, or part of its shape."""
    x = m.tensor()
    shape = m.shapes[x]
    same = [name for name, other in m.shapes.items() if other == shape]
    part = [n if m.flip() else 1 for n in shape][m.one(0, 0, 1) if len(shape) > 1 else 0 :]
    y = m.one(m.one(*same), m.weight(), m.weight(*part, low=0.5, high=1.5))
    op = m.one("Add", "Sub", "Mul", "Add", "Mul", "Max", "Div")
    if op == "Div" and y in same:
        op = "Min"
    m.add(op, [x, y] if op == "Div" or m.flip() else [y, x], shape)


def concatenation(m: Maker) -> None:
    x = m.tensor()
    shape = m.shapes[x]
    axis = int(m.random.integers(len(shape)))
    like = [
        name for name, other in m.shapes.items() if other[:axis] == shape[:axis] and other[axis + 1 :] == shape[axis + 1 :]
    ]
    like = [name for name in like if len(m.shapes[name]) == len(shape)]
    names = [x, *(m.one(*like) for _ in range(m.one(1, 1, 2)))]
    total = sum(m.shapes[name][axis] for name in names)
    m.add("Concat", names, (*shape[:axis], total, *shape[axis + 1 :]), axis=m.one(axis, axis - len(shape)))


def slicing(m: Maker) -> None:
    x = m.tensor()
    shape = m.shapes[x]
    axis = int(m.random.integers(len(shape)))
    n = shape[axis]
    start, step = int(m.random.integers(n)), m.one(1, 1, 2, -1)
    end = m.one(n, 2**40) if step > 0 else m.one(-n - 1, -(2**40))
    size = len(range(n)[slice(start, None, step)])
    given = [m.constant(np.array([value], np.int64)) for value in (start - m.one(0, n), end, axis, step)]
    m.add("Slice", [x, *given], (*shape[:axis], size, *shape[axis + 1 :]))


def splitting(m: Maker) -> None:
    x = m.tensor()
    shape = m.shapes[x]
    axis = len(shape) - 1 if len(shape) < 4 else 1
    if shape[axis] < 2:
        raise LookupError
    first = int(m.random.integers(1, shape[axis]))
    name, sizes = f"t{len(m.nodes)}", (first, shape[axis] - first)
    m.nodes.append(helper.make_node("Split", [x, m.constant(np.array(sizes, np.int64))], [name, f"{name}_b"], axis=axis))
    for each, size in zip((name, f"{name}_b"), sizes):
        m.shapes[each] = (*shape[:axis], size, *shape[axis + 1 :])
    if m.flip():  # the halves together again, one of them changed
        changed = m.add("Relu", [f"{name}_b"], m.shapes[f"{name}_b"])
        m.add("Concat", m.one([name, changed], [changed, name]), shape, axis=axis)


def transposition(m: Maker) -> None:
    x = m.tensor()
    shape = m.shapes[x]
    perm = [int(i) for i in m.random.permutation(len(shape))]
    m.add("Transpose", [x], [shape[i] for i in perm], perm=perm)


def reshaping(m: Maker) -> None:
    x = m.tensor()
    shape = m.shapes[x]
    kind = m.one("flatten", "rows", "merge", "squeeze", "unsqueeze")
    if kind == "flatten" or len(shape) < 2:
        m.add("Flatten", [x], (shape[0], int(np.prod(shape[1:]))))
    elif kind == "rows":
        m.add("Reshape", [x, m.constant(np.array([-1, shape[-1]], np.int64))], (int(np.prod(shape[:-1])), shape[-1]))
    elif kind == "merge":
        sizes = (*shape[:-2], shape[-2] * shape[-1])
        m.add("Reshape", [x, m.constant(np.array([0] * (len(shape) - 2) + [-1], np.int64))], sizes)
    elif kind == "unsqueeze" and len(shape) < 5:
        axis = m.one(0, 1, len(shape))
        m.add("Unsqueeze", [x, m.constant(np.array([axis], np.int64))], (*shape[:axis], 1, *shape[axis:]))
    elif 1 in shape[1:]:
        axis = shape.index(1, 1)
        m.add("Squeeze", [x, m.constant(np.array([axis], np.int64))], (*shape[:axis], *shape[axis + 1 :]))


def padding(m: Maker) -> None:
    x = m.tensor(3, 4)
    shape = m.shapes[x]
    before, after = ([0] * (len(shape) - 2) + m.sizes(2, 0, 1) for _ in range(2))
    mode = m.one("constant", "edge", "reflect") if min(shape) > 1 else "constant"
    sizes = [b + n + a for b, n, a in zip(before, shape, after)]
    m.add("Pad", [x, m.constant(np.array([*before, *after], np.int64))], sizes, mode=mode)


def resizing(m: Maker) -> None:
    x = m.tensor(4)
    n, c, h, w = m.shapes[x]
    scales = m.constant(np.array([1, 1, 2, 2], np.float32))
    mode, rule = m.one(("nearest", "asymmetric"), ("linear", "half_pixel"), ("linear", "align_corners"))
    more = {"nearest_mode": "floor"} if mode == "nearest" else {}
    m.add("Resize", [x, "", scales], (n, c, 2 * h, 2 * w), mode=mode, coordinate_transformation_mode=rule, **more)


def product(m: Maker) -> None:
    x = m.tensor(2, 3, 4)
    shape = m.shapes[x]
    n = m.one(1, 5, 16)
    if len(shape) == 2 and m.flip():
        m.add("Gemm", [x, m.weight(n, shape[1]), m.weight(n)], (shape[0], n), transB=1)
    elif m.flip():
        y = m.add("MatMul", [x, m.weight(shape[-1], n)], (*shape[:-1], n))
        m.add("Add", [y, m.weight(n)], m.shapes[y])
    else:  # with itself, as attention does
        turned = m.add(
            "Transpose",
            [x],
            (*shape[:-2], shape[-1], shape[-2]),
            perm=[*range(len(shape) - 2), len(shape) - 1, len(shape) - 2],
        )
        scores = m.add("MatMul", [x, turned], (*shape[:-1], shape[-2]))
        m.add("Softmax", [scores], m.shapes[scores], axis=-1)


def reduction(m: Maker) -> None:
    x = m.tensor()
    shape = m.shapes[x]
    if len(shape) < 2:
        raise LookupError
    axes = sorted({int(i) for i in m.random.integers(1, len(shape), 2)})
    keep = m.flip()
    sizes = [1 if i in axes else n for i, n in enumerate(shape) if keep or i not in axes]
    op = m.one("ReduceMean", "ReduceMax", "ReduceSum", "ReduceL2")
    m.add(op, [x, m.constant(np.array(axes, np.int64))], sizes, keepdims=int(keep))


def normalisation(m: Maker) -> None:
    x = m.tensor()
    shape = m.shapes[x]
    kind = m.one("LayerNormalization", "Softmax", "InstanceNormalization")
    if kind == "LayerNormalization" and shape[-1] > 1:
        m.add(kind, [x, m.weight(shape[-1]), m.weight(shape[-1])], shape, axis=-1)
    elif kind == "Softmax":
        m.add(kind, [x], shape, axis=int(m.random.integers(len(shape))))
    elif len(shape) == 4 and shape[2] * shape[3] > 1:
        m.add("InstanceNormalization", [x, m.weight(shape[1]), m.weight(shape[1])], shape)


# ---- less usual attributes, and patterns as exporters write them


def another_input(m: Maker) -> None:
    """Of the shape of some tensor, of a vector that fits it, or of a table."""
    shape = m.shapes[m.tensor()]
    name = f"x{len(m.inputs)}"
    m.shapes[name] = m.one(shape, shape[-1:], tuple(m.sizes(2, 1, 17)))
    m.inputs.append(name)


def convolution_of_signals(m: Maker) -> None:
    x = m.tensor(3)
    n, c, size = m.shapes[x]
    group = m.one(1, c)
    o, k, s, d = group * m.one(1, 2, 5), m.one(1, 2, 3, 5), m.one(1, 1, 2, 3), m.one(1, 1, 2)
    inputs = [x, m.weight(o, c // group, k)] + [m.weight(o)] * m.flip()
    if m.flip():
        before, after = m.sizes(2, 0, 2)
        side = (size + before + after - (k - 1) * d - 1) // s + 1
        m.add("Conv", inputs, (n, o, side), strides=[s], dilations=[d], pads=[before, after], group=group)
    else:
        m.add("Conv", inputs, (n, o, -(-size // s)), strides=[s], auto_pad=m.one("SAME_UPPER", "SAME_LOWER"), group=group)


def convolution_of_groups(m: Maker) -> None:
    """Any number of groups that divides the channels, padded by a rule, large kernels."""
    x = m.tensor(4)
    n, c, h, w = m.shapes[x]
    group = m.one(*(g for g in range(1, c + 1) if c % g == 0))
    o, (s, t) = group * m.one(1, 2, 3), m.sizes(2, 1, 3)
    kernel = m.one([1, 1], [1, 7], [7, 1], [2, 2], [5, 5], [3, 3])
    inputs = [x, m.weight(o, c // group, *kernel)] + [m.weight(o)] * m.flip()
    rule = m.one("SAME_UPPER", "SAME_LOWER")
    m.add("Conv", inputs, (n, o, -(-h // s), -(-w // t)), strides=[s, t], auto_pad=rule, group=group)


def deconvolution_of_groups(m: Maker) -> None:
    x = m.tensor(4)
    n, c, h, w = m.shapes[x]
    group = m.one(1, c)
    o, k, s, p, d = m.one(1, 2, 3), m.sizes(2, 1, 4), m.sizes(2, 1, 3), m.sizes(4, 0, 1), m.one(1, 1, 2)
    more = [m.one(0, size - 1) for size in s]
    sides = [(v - 1) * s[i] + (k[i] - 1) * d + 1 - p[i] - p[i + 2] + more[i] for i, v in enumerate((h, w))]
    inputs = [x, m.weight(c, o, *k)] + [m.weight(o * group)] * m.flip()
    m.add(
        "ConvTranspose", inputs, (n, o * group, *sides),
        strides=s, pads=p, output_padding=more, dilations=[d, d], group=group,
    )  # fmt: skip


def pooling_of_odd_windows(m: Maker) -> None:
    x = m.tensor(3, 4)
    n, c, *size = m.shapes[x]
    kernel, strides = m.sizes(len(size), 1, 4), m.sizes(len(size), 1, 3)
    begin = [int(m.random.integers(k)) for k in kernel]
    end = [int(m.random.integers(k)) for k in kernel]
    sides = [(v + a + b - k) // s + 1 for v, a, b, k, s in zip(size, begin, end, kernel, strides)]
    more = {"count_include_pad": int(m.flip())} if m.flip() else {}
    op = "AveragePool" if more else "MaxPool"
    m.add(op, [x], (n, c, *sides), kernel_shape=kernel, strides=strides, pads=[*begin, *end], **more)


def activation_of_several_nodes(m: Maker) -> None:
    x = m.tensor()
    kind = m.one("erf", "tanh", "hardswish", "hardsigmoid", "mish", "softplus", "relu6", "silu", "quick")
    if kind == "erf":
        erf = m.pattern("Erf", m.pattern("Div", x, m.number(2**0.5)))
        y = m.pattern("Mul", x, m.pattern("Add", erf, m.number(1)))
        m.pattern("Mul", y, m.number(0.5))
    elif kind == "tanh":
        cube = m.pattern("Mul", m.pattern("Pow", x, m.number(3)), m.number(0.044715))
        y = m.pattern("Tanh", m.pattern("Mul", m.pattern("Add", x, cube), m.number((2 / np.pi) ** 0.5)))
        m.pattern("Mul", m.pattern("Mul", x, m.number(0.5)), m.pattern("Add", y, m.number(1)))
    elif kind in ("hardswish", "hardsigmoid", "relu6"):
        y = m.pattern("Add", x, m.number(3)) if kind != "relu6" else x
        y = m.add("Clip", [y, m.number(0), m.number(6)], m.shapes[x])
        if kind != "relu6":
            y = m.pattern("Div", y, m.number(6)) if m.flip() else m.pattern("Mul", y, m.number(1 / 6))
        if kind == "hardswish":
            m.pattern("Mul", x, y)
    elif kind == "mish":
        m.pattern("Mul", x, m.pattern("Tanh", m.pattern("Softplus", x)))
    elif kind == "quick":
        m.pattern("Mul", x, m.pattern("Sigmoid", m.pattern("Mul", x, m.number(1.702))))
    elif kind == "silu":
        gate = m.pattern("Sigmoid", x)
        m.pattern("Mul", *m.one((x, gate), (gate, x)))
    else:
        m.pattern("Softplus", x)


def broadcasting(m: Maker) -> None:
    """Of a tensor with what is reduced from it or from one like it, or with any tensor that fits."""
    x = m.tensor()
    shape = m.shapes[x]
    op = m.one("Add", "Sub", "Mul", "Max", "Min")
    if m.flip():
        like = m.one(*(name for name, other in m.shapes.items() if other == shape))
        axes = sorted({int(i) for i in m.random.integers(0, len(shape), 2)})
        sizes = [1 if i in axes else n for i, n in enumerate(shape)]
        y = m.add(m.one("ReduceMean", "ReduceMax", "ReduceMin"), [like, m.integers(*axes)], sizes)
    else:
        y = m.one(*m.shapes)
        try:
            np.broadcast_shapes(shape, m.shapes[y])
        except ValueError:
            raise LookupError from None
    if m.flip():
        y = m.pattern("Sigmoid", y)
    m.pattern(op, *m.one((x, y), (y, x)))


def affine(m: Maker) -> None:
    """Factors and terms of channels before a convolution, between convolutions, or after one."""
    x = m.tensor(4)
    n, c, h, w = m.shapes[x]
    for _ in range(m.one(1, 2, 3)):
        kind = m.one("Mul", "Add", "Sub", "Div", "BatchNormalization", "Conv")
        if kind == "Conv":
            x = m.add("Conv", [x, m.weight(c, c, 1, 1)], (n, c, h, w))
        elif kind == "BatchNormalization":
            more = [m.weight(c, low=0.5, high=1.5), m.weight(c), m.weight(c), m.weight(c, low=0.5, high=2)]
            x = m.add(kind, [x, *more], (n, c, h, w), epsilon=m.one(1e-5, 1e-3))
        else:
            x = m.pattern(kind, x, m.weight(*m.one((), (1,), (c, 1, 1), (1, c, 1, 1), (c, 1, w)), low=0.5, high=1.5))


def normalisation_of_several_nodes(m: Maker) -> None:
    x = m.tensor(2, 3, 4)
    shape = m.shapes[x]
    axis = m.one(-1, -1, 1)
    if shape[axis] < 2:
        raise LookupError
    axes, sizes = m.integers(axis), list(shape)
    sizes[axis] = 1
    if m.flip():  # about the mean
        x = m.pattern("Sub", x, m.add("ReduceMean", [x, axes], sizes))
    square = m.pattern("Pow", x, m.number(2)) if m.flip() else m.pattern("Mul", x, x)
    spread = m.add("ReduceMean", [square, axes], sizes)
    root = m.pattern("Sqrt", m.pattern("Add", spread, m.number(1e-2)))
    y = m.pattern("Div", x, root) if m.flip() else m.pattern("Mul", x, m.pattern("Reciprocal", root))
    channels = [shape[axis]] + [1] * (len(shape) - 2 if axis == 1 else 0)
    if m.flip():
        y = m.pattern("Mul", y, m.weight(*channels))
        m.pattern("Add", y, m.weight(*channels))


def groups_of_channels(m: Maker) -> None:
    """Normalised or shuffled."""
    x = m.tensor(4)
    n, c, h, w = m.shapes[x]
    group = m.one(*(g for g in range(1, c + 1) if c % g == 0))
    if m.flip():
        if c // group * h * w < 2:
            raise LookupError
        sizes = (n, group, c // group * h * w)
        y = m.add("Reshape", [x, m.integers(0, group, -1)], sizes)
        y = m.add("InstanceNormalization", [y, m.weight(group), m.weight(group)], sizes, epsilon=1e-2)
        y = m.add("Reshape", [y, m.integers(n, c, h, w)], (n, c, h, w))
        m.pattern("Add", m.pattern("Mul", y, m.weight(c, 1, 1)), m.weight(c, 1, 1))
    else:
        y = m.add("Reshape", [x, m.integers(n, group, c // group, h, w)], (n, group, c // group, h, w))
        y = m.add("Transpose", [y], (n, c // group, group, h, w), perm=[0, 2, 1, 3, 4])
        m.add("Reshape", [y, m.integers(n, c, h, w)], (n, c, h, w))


def blocks_of_pixels(m: Maker) -> None:
    x = m.tensor(4)
    n, c, h, w = m.shapes[x]
    mode = m.one("DCR", "CRD")
    if c % 4 == 0 and m.flip():
        m.add("DepthToSpace", [x], (n, c // 4, 2 * h, 2 * w), blocksize=2, mode=mode)
    elif h % 2 or w % 2:
        raise LookupError
    elif m.flip():
        m.add("SpaceToDepth", [x], (n, 4 * c, h // 2, w // 2), blocksize=2)
    else:  # as four slices
        parts = []
        for begin in ((0, 0), (1, 0), (0, 1), (1, 1)):
            given = [m.integers(*begin), m.integers(h, w), m.integers(2, 3), m.integers(2, 2)]
            parts.append(m.add("Slice", [x, *given], (n, c, h // 2, w // 2)))
        m.add("Concat", parts, (n, 4 * c, h // 2, w // 2), axis=1)


def attention(m: Maker) -> None:
    """Of heads, from one product for queries, keys and values, or from three."""
    x = m.tensor(3)
    n, length, c = m.shapes[x]
    heads, d = m.one(1, 2, 3), m.one(1, 4, 5)
    inner = heads * d
    if m.flip():
        y = m.add("MatMul", [x, m.weight(c, 3 * inner)], (n, length, 3 * inner))
        y = m.add("Reshape", [y, m.integers(n, length, 3, heads, d)], (n, length, 3, heads, d))
        y = m.add("Transpose", [y], (3, n, heads, length, d), perm=[2, 0, 3, 1, 4])
        parts = [m.add("Gather", [y, m.constant(np.int64(i))], (n, heads, length, d), axis=0) for i in range(3)]
    else:
        parts = []
        for _ in range(3):
            y = m.pattern("Add", m.add("MatMul", [x, m.weight(c, inner)], (n, length, inner)), m.weight(inner))
            y = m.add("Reshape", [y, m.integers(0, 0, heads, d)], (n, length, heads, d))
            parts.append(m.add("Transpose", [y], (n, heads, length, d), perm=[0, 2, 1, 3]))
    keys = m.add("Transpose", [parts[1]], (n, heads, d, length), perm=[0, 1, 3, 2])
    scores = m.add("MatMul", [parts[0], keys], (n, heads, length, length))
    scores = m.pattern("Mul", scores, m.number(d**-0.5)) if m.flip() else m.pattern("Div", scores, m.number(d**0.5))
    if m.flip():
        scores = m.pattern("Add", scores, m.weight(length, length))
    y = m.add("Softmax", [scores], m.shapes[scores], axis=-1)
    y = m.add("MatMul", [y, parts[2]], (n, heads, length, d))
    y = m.add("Transpose", [y], (n, length, heads, d), perm=[0, 2, 1, 3])
    m.add("Reshape", [y, m.integers(0, 0, -1)], (n, length, inner))


def tokens(m: Maker) -> None:
    """Images as rows of pixels, or rows as images."""
    x = m.tensor(3, 4)
    shape = m.shapes[x]
    if len(shape) == 4:
        n, c, h, w = shape
        y = m.add("Reshape", [x, m.integers(0, 0, -1)], (n, c, h * w))
        m.add("Transpose", [y], (n, h * w, c), perm=[0, 2, 1])
    else:
        n, length, c = shape
        h = m.one(*(i for i in range(1, length + 1) if length % i == 0))
        y = m.add("Transpose", [x], (n, c, length), perm=[0, 2, 1])
        m.add("Reshape", [y, m.integers(n, c, h, length // h)], (n, c, h, length // h))


def resizing_to_sizes(m: Maker) -> None:
    """Nearest pixels by powers of two only: else others, in float32, round to the other side of a tie."""
    x = m.tensor(4)
    n, c, *size = m.shapes[x]
    if m.flip():
        mode, rule, more = "linear", m.one("half_pixel", "asymmetric"), {}
        h, w = m.sizes(2, 1, 12)
    else:
        mode, rule = "nearest", m.one("asymmetric", "half_pixel")
        more = {"nearest_mode": m.one("floor", "round_prefer_floor")}
        h, w = (m.one(v, 2 * v, 4 * v, v // 2 if v % 2 == 0 else v) for v in size)
    sizes = m.integers(n, c, h, w)
    m.add("Resize", [x, "", "", sizes], (n, c, h, w), mode=mode, coordinate_transformation_mode=rule, **more)


def slicing_of_axes(m: Maker) -> None:
    """Several axes at once, or less than a whole by negative padding."""
    x = m.tensor(2, 3, 4)
    shape = m.shapes[x]
    starts = [int(m.random.integers(n)) for n in shape]
    ends = [int(m.random.integers(s, n)) + 1 for s, n in zip(starts, shape)]
    sizes = [e - s for s, e in zip(starts, ends)]
    if m.flip():
        m.add("Slice", [x, m.integers(*starts), m.integers(*ends)], sizes)
    else:
        m.add("Pad", [x, m.integers(*(-s for s in starts), *(e - n for e, n in zip(ends, shape)))], sizes)


def padding_of_axes(m: Maker) -> None:
    """Any axes, by a value."""
    x = m.tensor()
    shape = m.shapes[x]
    before, after = m.sizes(len(shape), 0, 2), m.sizes(len(shape), 0, 1)
    given = [m.integers(*before, *after)] + [m.number(m.one(0, -1.5))] * m.flip()
    m.add("Pad", [x, *given], [b + n + a for b, n, a in zip(before, shape, after)])


def padding_before_a_window(m: Maker) -> None:
    x = m.tensor(4)
    n, c, h, w = m.shapes[x]
    if m.flip():
        x = m.add(m.one("Relu", "Sigmoid", "Tanh"), [x], m.shapes[x])
    op, k, inner = m.one("MaxPool", "MaxPool", "AveragePool", "Conv"), m.one(2, 3), m.one(0, 0, 1)
    a, b, d, e = m.sizes(4, 0, 1)
    given = [m.integers(0, 0, a, b, 0, 0, d, e), m.number(m.one(0, 0, 0.5, -1))]
    x = m.add("Pad", [x, *given], (n, c, h + a + d, w + b + e))
    sides = [size + 2 * inner - k + 1 for size in m.shapes[x][2:]]
    if op == "Conv":
        m.add(op, [x, m.weight(5, c, k, k), m.weight(5)], (n, 5, *sides), pads=[inner] * 4)
    else:
        more = {"count_include_pad": int(m.flip())} if op == "AveragePool" else {}
        m.add(op, [x], (n, c, *sides), kernel_shape=[k, k], pads=[inner] * 4, **more)


def permutation_and_regrouping(m: Maker) -> None:
    """Dimensions in another order, then divided otherwise, often merged or split unevenly."""
    x = m.tensor(3, 4, 5)
    order = [int(i) for i in m.random.permutation(len(m.shapes[x]))]
    shape = [m.shapes[x][i] for i in order]
    y = m.add("Transpose", [x], shape, perm=order)
    at = int(m.random.integers(len(shape) - 1))
    product = shape[at] * shape[at + 1]
    first = m.one(*(i for i in range(1, product + 1) if product % i == 0))
    sizes = [*shape[:at], *m.one([product], [first, product // first]), *shape[at + 2 :]]
    y = m.add("Reshape", [y, m.integers(*sizes)], sizes)
    m.pattern(m.one("Relu", "Sigmoid"), y)


def repetition(m: Maker) -> None:
    x = m.tensor()
    shape = m.shapes[x]
    if m.flip():
        times = [m.one(1, 1, 2, 3) for _ in shape]
        m.add("Tile", [x, m.integers(*times)], [n * k for n, k in zip(shape, times)])
    else:
        sizes = [m.one(1, 3) if n == 1 else n for n in shape]
        m.add("Expand", [x, m.integers(*sizes)], sizes)


def gathering(m: Maker) -> None:
    x = m.tensor()
    shape = m.shapes[x]
    axis = int(m.random.integers(len(shape)))
    found = m.random.integers(-shape[axis], shape[axis], m.one(1, 2, 5))
    if len(shape) > 1 and m.flip():
        m.add("Gather", [x, m.constant(np.int64(found[0]))], (*shape[:axis], *shape[axis + 1 :]), axis=axis)
    else:
        m.add("Gather", [x, m.integers(*found)], (*shape[:axis], len(found), *shape[axis + 1 :]), axis=axis)


def product_of_tensors(m: Maker) -> None:
    """Weights on the left, of several matrices, or of two tensors."""
    x = m.tensor(2, 3, 4)
    shape = m.shapes[x]
    o = m.one(1, 3, 16)
    kind = m.one("left", "batch", "gemm", "two")
    if kind == "left":
        m.add("MatMul", [m.weight(o, shape[-2]), x], (*shape[:-2], o, shape[-1]))
    elif kind == "batch":
        m.add("MatMul", [x, m.weight(*shape[:-2], shape[-1], o)], (*shape[:-1], o))
    elif kind == "two":
        fits = [name for name, other in m.shapes.items() if len(other) > 1 and other[-2] == shape[-1]]
        fits = [name for name in fits if len(m.shapes[name]) == 2 or m.shapes[name][:-2] == shape[:-2]]
        if not fits:
            raise LookupError
        y = m.one(*fits)
        m.add("MatMul", [x, y], (*shape[:-1], m.shapes[y][-1]))
    elif len(shape) == 2:
        a, b = int(m.flip()), int(m.flip())
        rows, inner = shape[::-1] if a else shape
        bias = [m.weight(*m.one((), (o,), (1, o), (rows, 1), (rows, o)))] * m.flip()
        weights = m.weight(*((o, inner) if b else (inner, o)))
        m.add("Gemm", [x, weights, *bias], (rows, o), transA=a, transB=b, alpha=m.one(1.0, 0.5), beta=m.one(1.0, 2.0))


def three_parts(m: Maker) -> None:
    """A split, each part with another fate, often joined in another order."""
    x = m.tensor()
    shape = m.shapes[x]
    axis = int(m.random.integers(len(shape)))
    if shape[axis] < 3:
        raise LookupError
    cuts = sorted(int(i) for i in m.random.choice(np.arange(1, shape[axis]), 2, replace=False))
    sizes = (cuts[0], cuts[1] - cuts[0], shape[axis] - cuts[1])
    first = f"t{len(m.nodes)}"
    names = [first, f"{first}_b", f"{first}_c"]
    m.nodes.append(helper.make_node("Split", [x, m.integers(*sizes)], names, axis=axis))
    for name, size in zip(names, sizes):
        m.shapes[name] = (*shape[:axis], size, *shape[axis + 1 :])
    parts = [m.pattern(m.one("Relu", "Sigmoid", "Neg"), name) if m.flip() else name for name in names]
    if m.flip():
        m.add("Concat", [parts[i] for i in m.random.permutation(3)], shape, axis=axis)


def choice(m: Maker) -> None:
    x = m.tensor()
    name = f"t{len(m.nodes)}"
    m.nodes.append(helper.make_node("Greater", [x, m.number(0.1)], [name]))  # no float, so no other node may find it
    m.add("Where", [name, x, m.number(-0.5)], m.shapes[x])


def nothing(m: Maker) -> None:
    x = m.tensor()
    m.add(m.one("Identity", "Dropout"), [x], m.shapes[x])


KINDS: Sequence[Callable[[Maker], None]] = (
    convolution, convolution, convolution_same, convolution_same, deconvolution, pooling, squeeze_and_excitation, activation,
    activation, arithmetic, arithmetic, concatenation, concatenation, slicing, splitting, transposition, reshaping, padding,
    resizing, product, reduction, normalisation,
    another_input, convolution_of_signals, convolution_of_groups, convolution_of_groups, deconvolution_of_groups,
    pooling_of_odd_windows, activation_of_several_nodes, activation_of_several_nodes, broadcasting, broadcasting, affine,
    affine, normalisation_of_several_nodes, groups_of_channels, blocks_of_pixels, attention, tokens, tokens,
    resizing_to_sizes, slicing_of_axes, padding_of_axes, repetition, gathering, product_of_tensors, three_parts, choice,
    nothing, padding_before_a_window, permutation_and_regrouping,
)  # fmt: skip


def random_model(seed: int, nodes: int = NODES) -> Any:
    m = Maker(seed)
    count = m.random.integers(2, nodes + 1)
    while len(m.nodes) < count:
        try:
            m.one(*KINDS)(m)
        except LookupError:
            continue
    return m.model()
