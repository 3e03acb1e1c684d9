"""Random small models against another implementation: ONNX Runtime if it is installed, else the evaluator of onnx.

``python tests/test_network_random.py FIRST COUNT`` tries more seeds; a seed makes the same model everywhere.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest

import pysimd
from pysimd.annotations import Array

onnx = pytest.importorskip("onnx", reason="ONNX files need the package onnx")
pytest.importorskip("onnx.reference")
helper, numpy_helper = onnx.helper, onnx.numpy_helper

SEEDS = 120
NODES = 12  # the most nodes of a model
LARGEST = 20_000  # elements of a tensor
TOLERANCE = 2e-4  # relative to the largest value


class Maker:
    """Adds random nodes to a model whose input is "x", and keeps the shape of every tensor."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.nodes: list[Any] = []
        self.weights: dict[str, Array] = {}
        self.shapes: dict[str, tuple[int, ...]] = {"x": tuple(self._sizes(4, 2, 12))}

    def _sizes(self, count: int, low: int, high: int) -> list[int]:
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

    def model(self) -> Any:
        """With the last tensor as output, and often another one."""
        outputs = [f"t{len(self.nodes) - 1}"]
        if self.flip():
            outputs.append(f"t{self.random.integers(len(self.nodes))}")
        types = [helper.make_tensor_value_info(name, 1, self.shapes[name]) for name in dict.fromkeys(outputs)]
        graph = helper.make_graph(
            self.nodes,
            "random",
            [helper.make_tensor_value_info("x", 1, self.shapes["x"])],
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
    kernel, strides, dilations = m._sizes(2, 1, 3), m._sizes(2, 1, 2), m.one([1, 1], [1, 1], [2, 1], [2, 2])
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    pads = m._sizes(4, 0, 2)
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
    before, after = ([0] * (len(shape) - 2) + m._sizes(2, 0, 1) for _ in range(2))
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


KINDS: Sequence[Callable[[Maker], None]] = (
    convolution, convolution, convolution_same, convolution_same, deconvolution, pooling, squeeze_and_excitation, activation,
    activation, arithmetic, arithmetic, concatenation, concatenation, slicing, splitting, transposition, reshaping, padding,
    resizing, product, reduction, normalisation,
)  # fmt: skip


def random_model(seed: int) -> Any:
    m = Maker(seed)
    count = m.random.integers(2, NODES + 1)
    while len(m.nodes) < count:
        try:
            m.one(*KINDS)(m)
        except LookupError:
            continue
    return m.model()


# ---- the comparison


def other_answers(model: Any, x: Array) -> list[Array]:
    try:
        import onnxruntime
    except ImportError:
        return list(onnx.reference.ReferenceEvaluator(model).run(None, {"x": x}))
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return list(session.run(None, {"x": x}))


def difference(found: Array, expected: Array) -> float:
    assert found.shape == expected.shape
    return float(np.abs(found - expected).max() / max(np.abs(expected).max(), 1e-3))


def check(seed: int, folder: Path) -> None:
    model = random_model(seed)
    onnx.save(model, folder / "random.onnx")
    shape = [dim.dim_value for dim in model.graph.input[0].type.tensor_type.shape.dim]
    x = np.random.default_rng(seed).standard_normal(shape).astype(np.float32)
    expected = dict(zip([output.name for output in model.graph.output], other_answers(model, x)))
    loaded = pysimd.load(folder / "random.onnx")
    for layout in ("nchw", "nhwc"):
        run = loaded.prepare(layout=layout)
        found = run({"x": x.transpose(0, 2, 3, 1) if layout == "nhwc" else x})
        for name, right in expected.items():
            array = found[name].transpose(0, 3, 1, 2) if layout == "nhwc" and right.ndim == 4 else found[name]
            error = difference(array, right)
            assert error <= TOLERANCE, f"seed {seed}, {layout}, {name}: {error:.1e}\n{onnx.printer.to_text(model)}"


@pytest.mark.parametrize("part", range(4))
def test_random_models(part: int, tmp_path: Path) -> None:
    for seed in range(part, SEEDS, 4):
        check(seed, tmp_path)


if __name__ == "__main__":
    import tempfile

    first, count = map(int, sys.argv[1:])
    with tempfile.TemporaryDirectory() as name:
        for seed in range(first, first + count):
            try:
                check(seed, Path(name))
            except Exception as error:
                print(f"seed {seed}: {type(error).__name__}: {str(error)[:400]}", flush=True)
