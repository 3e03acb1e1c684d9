"""What `unsupported()` says is what `prepare()` does: random operators, attributes, types and shapes."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import pytest

from pysimd.annotations import Array
from pysimd.network.convert import UnsupportedModel
from pysimd.network.model import Model
from pysimd.network.source import Source, SourceNode, Value

TYPES = ("float32", "float32", "float32", "float16", "float64", "uint8", "int8", "int32", "int64", "bool")
UNARY = "Relu Sigmoid Tanh Exp Erf Gelu Softplus Neg Abs Sign Floor Celu Selu Softsign HardSwish Not Identity LeakyRelu"
BINARY = "Add Sub Mul Div Pow Max Min Mean Sum And Equal Less Mod PRelu"
REDUCE = "ReduceSum ReduceMean ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceLogSumExp ReduceSumSquare"
AXIS = "Softmax LogSoftmax Hardmax ArgMax ArgMin LpNormalization Flatten Concat"


class Random:
    """Draws the parts of a node: its inputs, which are of run time or known, and its attributes."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.inputs: dict[str, tuple[str, tuple[int, ...]]] = {}
        self.weights: dict[str, Array] = {}

    def one(self, *values: Any) -> Any:
        return values[self.random.integers(len(values))]

    def ints(self, count: int, low: int, high: int) -> list[int]:
        return [int(n) for n in self.random.integers(low, high + 1, count)]

    def shape(self, *ranks: int) -> tuple[int, ...]:
        """Often of few dimensions, sometimes of more than the library has."""
        rank = self.one(*ranks) if ranks else self.one(0, 1, 2, 3, 4, 4, 5, 6, 8, 9, 10)
        return tuple(self.ints(rank, 1, 3 if rank > 4 else 6))

    def dtype(self) -> str:
        return str(self.one(*TYPES))

    def input(self, shape: tuple[int, ...], dtype: str) -> str:
        """Mostly of run time."""
        name = f"t{len(self.inputs) + len(self.weights)}"
        if name != "t0" and self.random.random() < 0.3:
            self.weights[name] = self.random.uniform(-3, 3, shape).astype(dtype)
        else:
            self.inputs[name] = dtype, shape
        return name

    def known(self, values: Any) -> str:
        name = f"t{len(self.inputs) + len(self.weights)}"
        self.weights[name] = np.array(values, np.int64)
        return name

    def axis(self, shape: tuple[int, ...]) -> int:
        return int(self.random.integers(-len(shape), len(shape) + (self.random.random() < 0.1))) if shape else 0

    def model(self, op: str, inputs: list[str], outputs: int = 1, **attributes: Any) -> Model:
        names = tuple(f"y{i}" for i in range(outputs))
        node = SourceNode(op, tuple(inputs), names, attributes, "the node")
        values = [Value(name, dtype, shape) for name, (dtype, shape) in self.inputs.items()]
        return Model(Source("random", 18, values, [Value(name, "float32", None) for name in names], [node], self.weights))


def unary(r: Random) -> Model:
    return r.model(r.one(*UNARY.split()), [r.input(r.shape(), r.dtype())])


def binary(r: Random) -> Model:
    shape, dtype = r.shape(), r.dtype()
    other = tuple(r.one(n, n, 1) for n in shape)[r.one(0, 0, 0, 1) :]
    return r.model(r.one(*BINARY.split()), [r.input(shape, dtype), r.input(other, dtype)])


def reduction(r: Random) -> Model:
    shape = r.shape()
    axes = sorted({r.axis(shape) for _ in range(r.one(0, 1, 2, 4))})
    names = [r.input(shape, r.dtype()), *([r.known(axes)] if axes else [])]
    return r.model(r.one(*REDUCE.split()), names, keepdims=r.one(0, 1))


def along_axis(r: Random) -> Model:
    shape, op = r.shape(), r.one(*AXIS.split())
    x = r.input(shape, r.dtype())
    return r.model(op, [x, x] if op == "Concat" else [x], axis=r.axis(shape))


def moves(r: Random) -> Model:
    shape, dtype = r.shape(), r.dtype()
    x, rank = r.input(shape, dtype), len(shape)
    op = r.one("Transpose", "Tile", "Expand", "Pad", "Slice", "Unsqueeze", "Split", "CumSum", "Gather", "GatherElements")
    if op == "Transpose":
        return r.model(op, [x], perm=r.random.permutation(rank).tolist())
    if op == "Split":
        return r.model(op, [x], r.one(1, 2, 3), axis=r.axis(shape))
    if op in ("Gather", "GatherElements"):
        indices = r.shape(0, 1, 2, 3) if op == "Gather" else tuple(r.one(n, 1) for n in shape)
        r.weights["indices"] = r.random.integers(0, 1, indices)
        return r.model(op, [x, "indices"], axis=r.axis(shape))
    if op == "Slice":
        parts = [r.ints(rank, -2, 1), r.ints(rank, 0, 4), list(range(rank)), [r.one(1, 1, 2, -1) for _ in shape]]
        return r.model(op, [x, *map(r.known, parts)])
    values = {
        "Tile": r.ints(rank, 1, 2),
        "Expand": [r.one(n, 2) if n == 1 else n for n in (1,) * r.one(0, 1) + shape],
        "Pad": r.ints(2 * rank, -1, 2),
        "Unsqueeze": sorted({r.axis((*shape, 1)) for _ in range(2)}),
        "CumSum": r.axis(shape),
    }
    return r.model(op, [x, r.known(values[op])], **({"mode": r.one("constant", "edge", "reflect")} if op == "Pad" else {}))


def pooling(r: Random) -> Model:
    shape = r.shape(3, 4, 4, 5)
    rank = len(shape) - 2
    window: dict[str, Any] = {"kernel_shape": r.ints(rank, 1, 3), "strides": r.ints(rank, 1, 3)}
    window.update(pads=r.ints(2 * rank, 0, 2), ceil_mode=r.one(0, 0, 1), dilations=r.ints(rank, 1, r.one(1, 2)))
    return r.model(r.one("MaxPool", "AveragePool", "LpPool"), [r.input(shape, r.dtype())], **window)


def convolution(r: Random) -> Model:
    shape = r.shape(3, 4, 4, 5)
    rank, group = len(shape) - 2, r.one(1, 1, 2, shape[1])
    op, dtype = r.one("Conv", "ConvTranspose"), r.dtype()
    weight = (2 * group, max(shape[1] // group, 1)) if op == "Conv" else (shape[1], 2)
    kernel = tuple(r.ints(rank, 1, 3))
    names = [r.input(shape, dtype)]
    r.weights["w"] = np.ones((*weight, *kernel), dtype)
    options: dict[str, Any] = {"strides": r.ints(rank, 1, 3), "pads": r.ints(2 * rank, 0, 2)}
    options.update(dilations=r.ints(rank, 1, 2), group=group)
    if op == "ConvTranspose":
        options["output_padding"] = r.ints(rank, 0, 1)
    return r.model(op, [*names, "w"], **options)


def product(r: Random) -> Model:
    shape, dtype, n = r.shape(), r.dtype(), r.one(1, 3)
    other = (*(r.one(1, k) for k in shape[:-2]), shape[-1] if shape else 2, n)
    if r.one(0, 0, 1):
        other = other[-2:]
    op = "Gemm" if len(shape) == 2 and r.one(0, 1) else "MatMul"
    return r.model(op, [r.input(shape, dtype), r.input(other, dtype)])


def norms(r: Random) -> Model:
    shape, dtype = r.shape(), r.dtype()
    op = r.one("LayerNormalization", "InstanceNormalization", "BatchNormalization", "LRN")
    if op == "LRN":
        return r.model(op, [r.input(shape, dtype)], size=r.one(1, 2, 3, 4, 5))
    if op == "LayerNormalization":
        axis = r.axis(shape)
        inner = shape[axis:] if shape else ()
        return r.model(op, [r.input(shape, dtype), r.input(inner, dtype)], axis=axis)
    channels = shape[1:2] or (1,)
    count = 2 if op == "InstanceNormalization" else 4
    return r.model(op, [r.input(shape, dtype), *(r.input(channels, dtype) for _ in range(count))])


def quantization(r: Random) -> Model:
    shape, op = r.shape(), r.one("QuantizeLinear", "DequantizeLinear")
    axis = r.axis(shape)
    sizes = r.one((), (1,), (shape[axis],) if shape and -len(shape) <= axis < len(shape) else (), (2,))
    r.weights.update(s=np.ones(sizes, np.float32), z=np.zeros(sizes, r.one("uint8", "int8")))
    return r.model(op, [r.input(shape, r.one("float32", "uint8", "int8")), "s", "z"], axis=axis)


def resizing(r: Random) -> Model:
    shape = r.shape(2, 3, 4, 4, 5)
    r.weights["scale"] = np.array([r.one(1, 1, 2, 0.5, 1.5) for _ in shape], np.float32)
    return r.model("Resize", [r.input(shape, r.dtype()), "", "scale"], mode=r.one("nearest", "linear", "cubic"))


def sampling(r: Random) -> Model:
    rank = r.one(2, 3)
    size = r.known(r.ints(rank + 2, 1, 4))
    n = int(r.weights[size][0])
    return r.model("AffineGrid", [r.input((r.one(n, n, 2), rank, rank + 1), r.dtype()), size], align_corners=r.one(0, 1))


def sequence(r: Random) -> Model:
    shape = r.shape(2, 2, 3, 4)
    time = r.one(0, 1)
    lengths = r.known(r.ints(shape[1 - time], 0, shape[time]))
    return r.model("ReverseSequence", [r.input(shape, r.dtype()), lengths], time_axis=time, batch_axis=1 - time)


# ---- what was refused, or was not, though it is no longer


def answer(op: str, x: Array, *known: Any, dtype: Any = np.int64, **attributes: Any) -> Array:
    """One node of x and known inputs."""
    weights = {f"w{i}": np.asarray(value, None if isinstance(value, np.ndarray) else dtype) for i, value in enumerate(known)}
    node = SourceNode(op, ("x", *weights), ("y",), attributes, "the node")
    source = Source("one", 18, [Value("x", x.dtype.name, x.shape)], [Value("y", "float32", None)], [node], weights)
    return np.asarray(Model(source).prepare()({"x": x})["y"])


SHAPE = (2, 1, 3, 2, 1, 2, 2, 1, 3, 2)  # of 10 dimensions: the library has 8
X = np.random.default_rng(0).standard_normal(SHAPE, np.float32)
STEPS = np.array([1, 2, 4], np.float32)
PARTS = tuple(slice(1, None) if axis in (2, 3) else slice(None) for axis in range(10))
WIDTHS = [(axis in (3, 8), 0) for axis in range(10)]
MANY: list[tuple[str, Callable[[], Array], Any]] = [
    ("Transpose", lambda: answer("Transpose", X, perm=[*range(4, 10), *range(4)]), X.transpose(*range(4, 10), *range(4))),
    ("Identity", lambda: answer("Identity", X), X),
    ("Flatten", lambda: answer("Flatten", X, axis=3), X.reshape(6, -1)),
    ("Expand", lambda: answer("Expand", X, [*SHAPE[:7], 4, 3, 2]), np.broadcast_to(X, (*SHAPE[:7], 4, 3, 2))),
    ("Tile", lambda: answer("Tile", X, [1, 2] * 5), np.tile(X, [1, 2] * 5)),
    ("Slice", lambda: answer("Slice", X, [1, 1], [9, 9], [2, 3]), X[PARTS]),
    ("Pad", lambda: answer("Pad", X, [before for before, _ in WIDTHS] + [0] * 10, mode="edge"), np.pad(X, WIDTHS, "edge")),
    ("Concat", lambda: answer("Concat", X, X, axis=2), np.concatenate([X, X], 2)),
    ("Gather", lambda: answer("Gather", X, [0, 0, 2], axis=2), X.take([0, 0, 2], 2)),
    ("Add", lambda: answer("Add", X, X[0, :, :, :, :, :1]), X + X[0, :, :, :, :, :1]),
    ("ReduceSum", lambda: answer("ReduceSum", X, [2, 3, 9]), X.sum((2, 3, 9), keepdims=True)),
    ("ArgMax", lambda: answer("ArgMax", X, axis=8, keepdims=0), X.argmax(8)),
    ("Quantize", lambda: answer("QuantizeLinear", X, STEPS, np.ones(3, np.uint8), axis=2),
     np.clip(np.rint(X / STEPS.reshape(3, *[1] * 7)) + 1, 0, 255).astype(np.uint8)),
]  # fmt: skip


@pytest.mark.parametrize(("compute", "expected"), [each[1:] for each in MANY], ids=[each[0] for each in MANY])
def test_many_dimensions(compute: Callable[[], Array], expected: Array) -> None:
    np.testing.assert_allclose(compute(), expected, rtol=1e-5, atol=1e-6, strict=True)


def test_dimensions_that_cannot_be_merged_are_refused_by_name() -> None:
    node = SourceNode("Transpose", ("x",), ("y",), {"perm": list(range(10))[::-1]}, "the node")
    source = Source("one", 18, [Value("x", "float32", (2,) * 10)], [Value("y", "float32", None)], [node], {})
    found = Model(source).unsupported()
    assert found is not None and [(each.name, each.operator) for each in found.nodes] == [("the node", "Transpose")]
    with pytest.raises(UnsupportedModel, match="x has 10 dimensions, expected at most 8 \\('the node'\\)"):
        Model(source).prepare()


@pytest.mark.parametrize("size", [2, 4, 6, 12])
def test_lrn_of_even_size(size: int, isa: str) -> None:
    """The window has one channel more behind the channel than before it, as the text of ONNX says."""
    x = np.random.default_rng(size).standard_normal((2, 5, 2, 3), np.float32)
    padded = np.pad(x.astype(np.float64) ** 2, ((0, 0), ((size - 1) // 2, size // 2), (0, 0), (0, 0)))
    sums = sum(padded[:, i : i + 5] for i in range(size))
    expected = x / (2 + 0.5 / size * sums) ** 0.75
    np.testing.assert_allclose(answer("LRN", x, size=size, alpha=0.5, beta=0.75, bias=2.0), expected, rtol=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_gathering_fewer_elements_along_other_dimensions(dtype: str) -> None:
    """The result has the shape of the indices."""
    x, indices = np.arange(12).reshape(3, 4).astype(dtype), np.array([[2, -1], [0, 1]])
    expected = [[x[2, 0], x[2, 1]], [x[0, 0], x[1, 1]]]
    np.testing.assert_array_equal(answer("GatherElements", x, indices, axis=0), np.array(expected))


# ---- random nodes

MAKERS: tuple[Callable[[Random], Model], ...] = (
    unary, binary, reduction, along_axis, moves, moves, pooling, convolution, product, norms, quantization, resizing,
    sampling, sequence,
)  # fmt: skip


@pytest.mark.filterwarnings("ignore:divide by zero")  # of windows that lie in the padding
@pytest.mark.parametrize("maker", dict.fromkeys(MAKERS), ids=lambda maker: maker.__name__)
def test_what_is_supported_can_be_prepared(maker: Callable[[Random], Model]) -> None:
    prepared = 0
    for seed in range(120):
        random = Random(seed)
        model = maker(random)
        if model.unsupported() is not None:
            with pytest.raises(UnsupportedModel, match="the node"):
                model.prepare()
            continue
        try:
            for layout in ("nchw", "nhwc"):
                model.prepare(layout=layout)
        except Exception as error:
            raise AssertionError(f"{seed}: {model.source.nodes[0]}, {random.inputs}") from error
        prepared += 1
    assert prepared >= 20
