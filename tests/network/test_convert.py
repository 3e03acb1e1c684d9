"""The conversion of ONNX operators: which nodes a graph gets, what is known in advance, and what is refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Callable

import numpy as np
import pytest

import pysimd
from pysimd.network.convert import UnsupportedModel, constants, conversion, fold, graph_of
from pysimd.network.graph import Graph
from pysimd.network.model import Model
from pysimd.network.passes import simplified
from pysimd.network.runner import Runner
from pysimd.network.source import Source, SourceNode, Value

FLOATS = np.arange(1.0, 25.0, dtype=np.float32)


@dataclass
class Made:
    """A source of one or several nodes, which reads "x" and gives "y"."""

    nodes: Sequence[SourceNode]
    weights: Mapping[str, Any]
    opset: int = 18
    dtype: str = "float32"
    outputs: Sequence[str] = ("y",)

    def source(self) -> Source:
        outputs = [Value(name, "float32", None) for name in self.outputs]
        weights = {name: np.asarray(value) for name, value in self.weights.items()}
        return Source("made", self.opset, [Value("x", self.dtype, None)], outputs, self.nodes, weights)

    def graph(self, *shape: int, fallback: Mapping[str, Any] | None = None) -> Graph:
        return graph_of(self.source(), {"x": shape}, fallback)


def node(op: str, *inputs: str, gives: Sequence[str] = ("y",), domain: str = "", **attributes: Any) -> SourceNode:
    return SourceNode(op, inputs, tuple(gives), attributes, f"the {op}", domain)


def made(op: str, *weights: Any, opset: int = 18, dtype: str = "float32", **attributes: Any) -> Made:
    """One node of x and weights; None for a missing one."""
    names = [f"w{i}" if weight is not None else "" for i, weight in enumerate(weights)]
    given = {name: weight for name, weight in zip(names, weights) if weight is not None}
    return Made([node(op, "x", *names, **attributes)], given, opset, dtype)


def operators(graph: Graph) -> list[str]:
    return [each.attributes.get("function", each.operator) for each in graph.nodes]


def floats(*shape: int) -> Any:
    return np.random.default_rng(1).standard_normal(shape, np.float32)


def computed(graph: Graph, x: Any) -> Any:
    return Runner(graph)({"x": x})["y"]


def reason(model: Made, *shape: int) -> str:
    with pytest.raises(UnsupportedModel) as caught:
        model.graph(*shape)
    (problem,) = caught.value.nodes
    return problem.reason


CASES: list[tuple[Made, tuple[int, ...], list[str], tuple[int, ...]]] = [
    (
        made("Conv", floats(5, 2, 3, 3), floats(5), auto_pad="SAME_UPPER", strides=[2, 2]),
        (1, 2, 7, 8),
        ["Conv"],
        (1, 5, 4, 4),
    ),
    (made("Conv", floats(5, 2, 3), pads=[1, 1]), (1, 2, 7), ["Reshape", "Conv", "Reshape"], (1, 5, 7)),
    (made("ConvTranspose", floats(2, 5, 3, 3), strides=[2, 2]), (1, 2, 7, 8), ["ConvTranspose"], (1, 5, 15, 17)),
    (made("MaxPool", kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1), (1, 2, 8, 8), ["MaxPool"], (1, 2, 4, 4)),
    (made("GlobalAveragePool"), (1, 2, 4, 5), ["mean"], (1, 2, 1, 1)),
    (made("Gemm", floats(4, 3), floats(3)), (2, 4), ["Linear"], (2, 3)),
    (made("Gemm", floats(3, 4), floats(2, 1), transB=1), (2, 4), ["Linear", "add"], (2, 3)),
    (made("MatMul", floats(4, 3)), (5, 2, 4), ["Linear"], (5, 2, 3)),
    (made("MatMul", floats(5, 4, 3)), (5, 2, 4), ["MatMul"], (5, 2, 3)),
    (made("BatchNormalization", *[np.ones(2, np.float32)] * 4), (1, 2, 3, 3), ["Scale"], (1, 2, 3, 3)),
    (made("Softmax", axis=1, opset=11), (2, 3, 4), ["Reshape", "Softmax", "Reshape"], (2, 3, 4)),
    (made("Softmax", axis=1), (2, 3, 4), ["Softmax"], (2, 3, 4)),
    (made("Clip", np.float32(0), np.float32(6)), (3,), ["restrict_range"], (3,)),
    (made("Clip", min=0.0, opset=7), (3,), ["relu"], (3,)),
    (made("PRelu", floats(2, 1, 1)), (1, 2, 3, 3), ["Prelu"], (1, 2, 3, 3)),
    (made("Add", floats(3)), (2, 3), ["add"], (2, 3)),
    (made("Pow", np.float32(2)), (2, 3), ["multiply"], (2, 3)),
    (made("Pow", np.float32(3)), (2, 3), ["multiply", "multiply"], (2, 3)),
    (made("Reshape", [0, -1]), (2, 3, 4), ["Reshape"], (2, 12)),
    (made("Slice", [-1], [-9], [1], [-2]), (2, 5), ["Slice"], (2, 3)),
    (made("Gather", [1, 2]), (4, 3), ["Slice"], (2, 3)),
    (made("Gather", [2, 0, 1]), (4, 3), ["Gather"], (3, 3)),
    (made("Gather", np.int64(-1)), (4, 3), ["Slice", "Reshape"], (3,)),
    (made("Pad", [0, 1, 0, -1]), (2, 3), ["Slice", "Pad"], (2, 3)),
    (made("Tile", [2, 1]), (2, 3), ["Reshape", "Expand", "Reshape"], (4, 3)),
    (made("DepthToSpace", blocksize=2), (1, 4, 2, 2), ["Reshape", "Transpose", "Reshape"], (1, 1, 4, 4)),
    (made("Resize", None, [1.0, 1.0, 2.0, 2.0]), (1, 2, 3, 3), ["Resize"], (1, 2, 6, 6)),
    (made("Resize", None, [1.0, 2.0, 2.0, 1.0]), (1, 3, 3, 2), ["Transpose", "Resize", "Transpose"], (1, 6, 6, 2)),
    (made("ReduceMean", axes=[1]), (2, 3), ["mean"], (2, 1)),
    (made("ReduceMean", [1], keepdims=0), (2, 3), ["mean"], (2,)),
    (made("TopK", [2]), (2, 3), ["TopK"], (2, 2)),
    (made("Cast", dtype="uint8", to=1), (3,), ["Dequantize"], (3,)),
    (made("Cast", to=7), (3,), ["Cast"], (3,)),
    (made("Cast", dtype="bool", to=10), (3,), ["Cast"], (3,)),
    (made("CastLike", np.int32(0), dtype="int64"), (3,), ["Cast"], (3,)),
    (made("Selu"), (3,), ["elu", "multiply"], (3,)),
    (made("Dropout"), (3,), ["Reshape"], (3,)),
]


@pytest.mark.parametrize(("model", "shape", "expected", "result"), CASES, ids=lambda value: getattr(value, "opset", None))
def test_nodes(model: Made, shape: tuple[int, ...], expected: list[str], result: tuple[int, ...]) -> None:
    graph = model.graph(*shape)
    assert operators(graph) == expected
    assert graph.shape("y") == result
    assert graph.nodes[-1].origin == (model.nodes[-1].name,) or expected == ["Reshape"]


REFUSED: list[tuple[Made, tuple[int, ...], str]] = [
    (made("Quux"), (3,), "the operator is not known"),
    (made("NonZero"), (3,), "the shape of its result depends on the values of its inputs"),
    (made("NonMaxSuppression", floats(1, 1, 4)), (1, 4, 4), "the number of boxes depends on the values of its inputs"),
    (made("Loop"), (3,), "loops are not supported"),
    (made("Sigmoid", dtype="int64"), (3,), "its inputs are int64, supported are float32 and float64"),
    (made("LpPool", kernel_shape=[2], dtype="float64"), (1, 2, 3), "its inputs are float64, supported is float32"),
    (made("Sigmoid", dtype="string"), (3,), "its type is string, supported are float32"),
    (made("Softmax", axis=[1]), (3,), "its attributes or inputs do not fit: TypeError"),
    (made("Conv", floats(5, 3, 3, 3)), (1, 2, 7, 8), "the weights are for 3 channels"),
    (made("Conv", floats(5, 2, 3, 3), pads=[-1, 0, 0, 0]), (1, 2, 7, 8), "pads are"),
    (made("Conv", floats(5, 2, 9, 3)), (1, 2, 7, 8), "the window of 9 is larger than the image of 7"),
    (made("MaxPool"), (1, 2, 7, 8), "the attribute kernel_shape is missing"),
    (made("ConvTranspose", floats(2, 1, 1, 1, 1), strides=[1 << 30, 1, 1]), (1, 2, 2, 1, 1), "at a distance of 1073741824"),
    (made("ConvTranspose", floats(2, 1, 1, 1, 1), pads=[1, 0, 0] * 2), (1, 2, 2, 1, 1), "give 0 planes"),
    (made("Reshape", [5, -1]), (2, 3), "cannot be reshaped to"),
    (made("Reshape", [-1, -1]), (2, 3), "expected one -1 at most"),
    (made("Transpose", perm=[0, 0]), (2, 3), "perm is"),
    (made("Concat", floats(3, 3), axis=0), (2, 2), "differ in more than axis 0"),
    (made("Gather", [7]), (4, 3), "an index is not within a dimension of 4"),
    (made("ReduceSum", [4]), (4, 3), "axis is 4"),
    (made("GRU", floats(1, 6, 3), floats(1, 6, 2), None, [5]), (4, 1, 3), "sequence_lens is [5], expected numbers"),
    (made("LSTM", floats(1, 8, 3), floats(1, 8, 2), activations=["Relu"]), (4, 1, 3), "['relu'], supported are 3 of"),
    (made("RNN", floats(1, 2, 3), floats(1, 2, 2), activations=["Cos"]), (4, 1, 3), "['cos'], supported are 1 of"),
    (made("RNN", floats(1, 2, 3), floats(1, 2, 2), clip=-1.0), (4, 1, 3), "clip is -1.0, expected"),
    (made("QuantizeLinear", np.float32(1), block_size=2, axis=0), (4,), "the shape is (), expected (2,) for blocks of 2"),
    (made("Einsum", floats(3), equation="ij,i->ii"), (3, 3), "repeats an index in its result"),
    (made("Einsum", floats(2), equation="ij,i->j"), (3, 3), "the index 'i' has the sizes 2 and 3"),
    (made("Einsum", equation="i.j->ij"), (3, 3), "does not have 1 operands"),
    (made("Einsum", equation="i->i"), (3, 3), "does not fit the shapes (3, 3)"),
]


@pytest.mark.parametrize(("model", "shape", "expected"), REFUSED, ids=lambda value: getattr(value, "opset", None))
def test_refused(model: Made, shape: tuple[int, ...], expected: str) -> None:
    assert expected in reason(model, *shape)


INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")


@pytest.mark.parametrize("data", [*INTEGERS, "float32", "float64", "bool"])
@pytest.mark.parametrize("index", INTEGERS)
def test_indices_at_run_time(data: str, index: str) -> None:
    """Of any type; as data, elements of any type."""
    table = np.arange(-3, 12).reshape(5, 3).astype(data)
    for x in (np.array([[1, 0], [4, 2]], index), np.array([[3, 1, 0], [2, 4, 4]], index)):
        gather = Made([node("Gather", "table", "x")], {"table": table}, dtype=index)
        np.testing.assert_array_equal(computed(gather.graph(*x.shape), x), table[x], strict=data != "float64")
        each = Made([node("GatherElements", "table", "x")], {"table": table}, dtype=index)
        if x.shape[1] == 3:
            expected = np.take_along_axis(table, x.astype(np.int64), 0)
            np.testing.assert_array_equal(computed(each.graph(*x.shape), x), expected, strict=data != "float64")


@pytest.mark.parametrize("op", ["LSTM", "GRU"])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_lengths_at_run_time(op: str, dtype: str) -> None:
    """ONNX has int32; each run has the lengths that it is given."""
    gates = 4 if op == "LSTM" else 3
    weights = {"d": floats(5, 3, 4), "w": floats(1, gates * 2, 4), "r": floats(1, gates * 2, 2)}
    layer = Made([node(op, "d", "w", "r", "", "x", gives=["y"], hidden_size=2)], weights, dtype=dtype)
    run, compute = Runner(layer.graph(3)), pysimd.lstm if op == "LSTM" else pysimd.gru
    for lengths in ([5, 1, 2], [5, 5, 5], [0, 4, 3]):
        found = run({"x": np.array(lengths, dtype)})["y"]
        assert np.array_equal(found, compute(*weights.values(), lengths=lengths))
    with pytest.raises(ValueError, match=r"lengths\[1\] is \d+, expected at most 5, the steps"):
        run({"x": np.array([1, -1, 0], dtype)})


@pytest.mark.parametrize("index", ["int32", "int64", "uint8"])
def test_known_indices_of_any_type(index: str) -> None:
    x, indices = floats(4, 3), np.array([[3, 1, 0], [2, 2, 1]], index)
    assert np.array_equal(computed(made("Gather", indices).graph(4, 3), x), x[indices])
    expected = np.take_along_axis(x, indices.astype(np.int64), 0)
    assert np.array_equal(computed(made("GatherElements", indices).graph(4, 3), x), expected)


def test_all_nodes_that_are_not_supported_are_reported_at_once() -> None:
    nodes = [
        node("Quux", "x", gives=["a"]),
        node("Relu", "a", gives=["b"]),  # which depends on the first one
        node("Quux", "b", gives=["d"]),  # not known, even so
        node("Loop", "x", gives=["e"]),
        node("Add", "d", "e"),
    ]
    with pytest.raises(UnsupportedModel) as caught:
        Made(nodes, {}).graph(3)
    assert [each.operator for each in caught.value.nodes] == ["Quux", "Quux", "Loop"]
    assert str(caught.value).splitlines() == [
        "3 nodes of 'made' are not supported:",
        "  Quux: the operator is not known ('the Quux', 'the Quux')",
        "  Loop: loops are not supported ('the Loop')",
        "pysimd.load(..., fallback={...}) takes Python functions for operators",
    ]


def test_lack_of_memory_is_not_told_as_an_unsupported_node(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither in folding, nor in a conversion, nor in a function of the user."""

    def fail(*_: Any) -> Any:
        raise MemoryError("no memory")

    monkeypatch.setitem(fold.FOLDS, "Neg", fail)
    negated = Made([node("Neg", "w", gives=("c",)), node("Add", "x", "c")], {"w": np.array([1], np.float32)})
    for model, fallback in ((negated, None), (made("Own"), {"Own": fail})):
        with pytest.raises(MemoryError, match="no memory"):
            model.graph(1, 3, fallback=fallback)
    monkeypatch.setattr(conversion.Conversion, "_convert", fail)
    with pytest.raises(MemoryError, match="no memory"):
        made("Relu").graph(1, 3)


def test_arithmetic_of_shapes_is_known() -> None:
    """As exporters write x.reshape(x.shape[0], -1)."""
    nodes = [
        node("Shape", "x", gives=["s"]),
        node("Gather", "s", "zero", gives=["n"]),
        node("Unsqueeze", "n", "axes", gives=["first"]),
        node("Concat", "first", "rest", gives=["shape"], axis=0),
        node("Reshape", "x", "shape"),
    ]
    graph = Made(nodes, {"zero": np.int64(0), "axes": [0], "rest": [-1]}).graph(2, 3, 4)
    assert operators(graph) == ["Reshape"]
    assert not graph.constants


@pytest.mark.parametrize("condition", [True, False])
def test_branches_with_a_known_condition(condition: bool) -> None:
    def branch(op: str) -> Source:
        return Source(op, 18, [], [Value("r", "float32", None)], [SourceNode(op, ("x",), ("r",))], {})

    nodes = [node("If", "c", then_branch=branch("Relu"), else_branch=branch("Exp"))]
    assert operators(Made(nodes, {"c": condition}).graph(3)) == ["relu" if condition else "exp"]


def test_what_the_branch_taken_does_not_need_may_be_unsupported() -> None:
    """Nor what only the shape of a tensor needs, nor an output of the branch that nothing reads."""
    taken = [node("Relu", "x", gives="r"), node("Quux", "x", gives="q")]
    outputs = [Value("r", "float32", None), Value("q", "float32", None)]
    then, other = (Source("", 18, [], outputs, nodes, {}) for nodes in (taken, [node("Quux", "bad", gives="rq")]))
    nodes = [node("NonZero", "x", gives=["bad"]), node("If", "c", gives=["y", ""], then_branch=then, else_branch=other)]
    assert operators(Made(nodes, {"c": True}).graph(3)) == ["relu"]
    with pytest.raises(UnsupportedModel):
        Made(nodes, {"c": False}).graph(3)


@pytest.mark.parametrize("shape", [(), (5,), (2, 3), (2, 3, 4)])
@pytest.mark.parametrize("scale", [(), (1,)])
@pytest.mark.parametrize("zero", [(), (1,)])
def test_quantization_by_one_element(shape: tuple[int, ...], scale: tuple[int, ...], zero: tuple[int, ...]) -> None:
    """Which has one dimension or none, and is for all elements, whatever the axis."""
    nodes = [node("QuantizeLinear", "x", "s", "z", gives="q"), node("DequantizeLinear", "q", "s", "z")]
    graph = Made(nodes, {"s": np.full(scale, 0.5, np.float32), "z": np.full(zero, 3, np.uint8)}).graph(*shape)
    assert computed(graph, np.full(shape, 1.2, np.float32)).tolist() == np.full(shape, 1.0).tolist()


def test_branches_of_run_time_are_refused() -> None:
    nodes = [node("Cast", "x", gives="c", to=9), node("If", "c")]
    assert reason(Made(nodes, {}), 1) == "the condition is computed at run time"


def normalized(array: Any) -> Any:
    return (array - array.mean(-1, keepdims=True)) / np.sqrt(array.var(-1, keepdims=True) + 1e-5)


def test_a_known_tensor_that_a_node_keeps_is_known() -> None:
    """An image that is resized to its own size; numbers of which later nodes need the values."""
    nodes = [node("Resize", "w", "", "", "size", gives="i"), node("Reshape", "i", "flat", gives="f"),
             node("Cast", "f", gives="n", to=7), node("Reshape", "x", "n")]  # fmt: skip
    w = np.array([2, 3], np.float32).reshape(1, 1, 1, 2)
    assert Made(nodes, {"w": w, "size": [1, 1, 1, 2], "flat": [-1]}).graph(6).shape("y") == (2, 3)


def test_what_the_library_computes_in_advance_is_known() -> None:
    """Also to operators that need known inputs."""
    nodes = [
        node("LayerNormalization", "w", "s", gives="n"),
        node("TopK", "n", "k", gives=["t", "i"]),
        node("Reshape", "x", "i"),
    ]
    w = np.array([1, 5, 3], np.float32)
    graph = Made(nodes, {"w": w, "s": np.ones(3, np.float32), "k": [2]}).graph(1, 2)
    assert graph.shape("y") == (1, 2) and operators(graph) == ["Reshape"]
    nodes[2] = node("MatMul", "x", "n")
    graph = Made(nodes, {"w": w[:, None] + w, "s": np.ones(3, np.float32), "k": [2]}).graph(1, 3)
    assert operators(graph) == ["Linear"]
    expected = FLOATS[:3] @ normalized(w[:, None] + w)
    np.testing.assert_allclose(computed(graph, FLOATS[None, :3])[0], expected, rtol=1e-4, atol=1e-5)


def test_what_is_large_or_a_function_of_the_user_is_computed_at_run_time(monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = [node("LayerNormalization", "w", "s", gives="n"), node("Power", "w", gives="p"), node("Sum", "x", "n", "p")]
    model = Made(nodes, {"w": np.array([1, 5, 3], np.float32), "s": np.ones(3, np.float32)})
    graph = model.graph(3, fallback={"Power": _power})
    assert [each.operator for each in graph.nodes] == ["Host", "Binary", "Binary"]
    monkeypatch.setattr(constants, "_MOST_BYTES", 11)
    late = model.graph(3, fallback={"Power": _power})
    assert [each.operator for each in late.nodes] == ["LayerNorm", "Host", "Binary", "Binary"]
    np.testing.assert_array_equal(computed(late, FLOATS[:3]), computed(graph, FLOATS[:3]))


def test_integers_are_computed_by_the_library() -> None:
    nodes = [node("Mul", "x", "two", gives="a"), node("Cast", "a", to=1)]
    graph = Made(nodes, {"two": np.array([2])}, dtype="int64").graph(3)
    assert [each.operator for each in graph.nodes] == ["Elementwise", "Cast"]
    np.testing.assert_array_equal(computed(graph, np.arange(3)), np.array([0, 2, 4], np.float32), strict=True)


EINSUMS = [
    ("...ij,...jk->...ik", (6, 2, 3, 4), (2, 4, 5)),
    ("...ij,...jk->...ik", (6, 1, 3, 4), (2, 4, 5)),  # 1 is broadcast
    ("...ij,jk", (2, 3, 4), (4, 5)),
    ("a...b,c...b->...ac", (2, 3, 4, 5), (6, 3, 4, 5)),
    ("b...,b...->b...", (2, 3, 4), (2, 3, 4)),
    ("...,...->...", (2, 3), (3,)),
    ("i,i->i", (1,), (5,)),
    ("ij,jk->ik", (2, 1), (4, 3)),
    ("ii->i", (4, 4)),
    ("ii", (4, 4)),
    ("...ii->...i", (2, 3, 4, 4)),
    ("iii->i", (3, 3, 3)),
    ("ijij->ij", (3, 2, 3, 2)),
    ("iij,jk->ik", (3, 3, 4), (4, 2)),
    ("A b , b -> A", (2, 3), (3,)),
]


@pytest.mark.parametrize(("equation", "shapes"), [(equation, shapes) for equation, *shapes in EINSUMS])
def test_sums_of_products(equation: str, shapes: Sequence[tuple[int, ...]]) -> None:
    x, *known = (floats(*shape) for shape in shapes)
    expected = np.einsum(equation, x, *known)
    graph = made("Einsum", *known, equation=equation).graph(*shapes[0])
    np.testing.assert_allclose(computed(graph, x), expected, 1e-5, 1e-5)


FLOAT64: list[tuple[str, Sequence[Any], dict[str, Any]]] = [
    *((op, (), {}) for op in ("Celu", "Elu", "Erf", "Gelu", "HardSigmoid", "HardSwish", "LeakyRelu", "LogSoftmax", "Mish")),
    *((op, (), {}) for op in ("Reciprocal", "Selu", "Sigmoid", "Softmax", "Softplus", "Softsign", "Swish", "Tanh")),
    *((op, (), {"alpha": 0.7}) for op in ("Celu", "Elu", "HardSigmoid", "LeakyRelu", "Selu", "Swish")),
    *((op, (), {"axis": 0}) for op in ("LogSoftmax", "Softmax")),
    ("Gelu", (), {"approximate": "tanh"}),
    ("PRelu", (floats(5),), {}),
    ("Gemm", (floats(5, 3), floats(3)), {"alpha": 0.5, "beta": 2.0}),
    ("Gemm", (floats(4, 3), floats(1)), {"transA": 1, "transB": 1}),
    ("Einsum", (floats(2, 5, 3),), {"equation": "...ij,...jk->...ik"}),
    ("Einsum", (floats(1, 5), floats(1, 5)), {"equation": "ij,kj,kj->ik"}),
    *(
        (f"Reduce{name}", (axes,), options)
        for name in ("LogSum", "LogSumExp", "L1", "L2", "SumSquare")
        for axes, options in (([1], {}), ([0, 1], {"keepdims": 0}), ([], {}), ([], {"noop_with_empty_axes": 1}))
    ),
]


@pytest.mark.parametrize(("op", "known", "attributes"), FLOAT64)
def test_float64(op: str, known: Sequence[Any], attributes: dict[str, Any]) -> None:
    """By NumPy, with more digits than float32 by the library; and so are constants."""
    x = np.abs(floats(4, 5)) if op == "ReduceLogSum" else floats(4, 5)
    x = x[:3] if attributes.get("transA") else x
    expected = computed(made(op, *known, **attributes).graph(*x.shape), x)
    wide = [each.astype(np.float64) if isinstance(each, np.ndarray) else each for each in known]
    actual = computed(made(op, *wide, dtype="float64", **attributes).graph(*x.shape), x.astype(np.float64))
    assert actual.dtype == np.float64
    np.testing.assert_allclose(actual, expected, 2e-6, 1e-6)
    model = Made([node(op, "c", *(f"w{i}" for i in range(len(known))), gives="d", **attributes), node("Identity", "d")], {})
    model.weights = {"c": x, **{f"w{i}": each for i, each in enumerate(known)}}
    np.testing.assert_allclose(computed(model.graph(1), floats(1)), expected, 2e-6, 1e-6)


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8", "int8", "uint64", "bool"])
def test_largest_integers(dtype: str) -> None:
    """By the library, also those that float32 does not have."""
    x = np.array([[3, 1 << 40, (1 << 40) + 1, 5]]).astype(dtype)
    graph = made("TopK", [3], dtype=dtype, gives=("y", "i")).graph(1, 4)
    assert operators(graph) == ["TopK"]
    np.testing.assert_array_equal(computed(graph, x), np.sort(x, 1)[:, :0:-1], strict=True)


def test_grids_of_affine_transformations() -> None:
    """A product for all pixels; that of images of one pixel is the offset."""
    theta = floats(2, 2, 3)
    for corners in (0, 1):
        graph = made("AffineGrid", [2, 3, 1, 1], opset=20, align_corners=corners).graph(2, 2, 3)
        assert operators(graph)[-2:] == ["MatMul", "Reshape"]
        grid = Runner(simplified(graph))({"x": theta})["y"]
        np.testing.assert_allclose(grid, theta[:, None, None, :, 2], 1e-6)
    for shape, reason in (((2, 2, 2), "shape"), ((1, 2, 3), "shape"), ((2, 3, 4), "shape")):
        with pytest.raises(UnsupportedModel, match=reason):
            made("AffineGrid", [2, 3, 4, 5], opset=20).graph(*shape)
    for size in ([2, 1, 1 << 20, 1 << 20], [2, 1, 0, 4], [2, 1, -4, 4]):
        with pytest.raises(UnsupportedModel, match=r"the size is|the result would have the shape"):
            made("AffineGrid", size, opset=20).graph(2, 2, 3)


@pytest.mark.parametrize(
    ("lengths", "attributes"), [([1, 4], {}), ([5, 1, 1], {}), ([-1, 1, 1], {}), ([1, 1, 1], {"time_axis": 2})]
)
def test_sequences_that_do_not_fit(lengths: list[int], attributes: dict[str, Any]) -> None:
    with pytest.raises(
        UnsupportedModel, match=r"time_axis is 2|2 lengths are|sequence_lens are .*, expected 3 lengths of up to 4"
    ):
        made("ReverseSequence", np.array(lengths, np.int64), **attributes).graph(4, 3, 2)


def test_blocks_of_images_are_added() -> None:
    """By the library, as by NumPy."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        rank = int(rng.integers(1, 4))
        kernel, strides, dilations = (rng.integers(1, 4, rank).tolist() for _ in range(3))
        pads, size = rng.integers(0, 3, 2 * rank).tolist(), rng.integers(7, 10, rank).tolist()
        counts = [
            (n + pads[i] + pads[i + rank] - (k - 1) * d - 1) // s + 1
            for i, (n, k, d, s) in enumerate(zip(size, kernel, dilations, strides))
        ]
        x = rng.standard_normal((2, 3 * int(np.prod(kernel)), int(np.prod(counts)))).astype(np.float32)
        model = made("Col2Im", size, kernel, strides=strides, dilations=dilations, pads=pads)
        graph = model.graph(*x.shape)
        assert "Host" not in operators(graph)
        (expected,) = fold.evaluate(model.nodes[0], [x, np.array(size), np.array(kernel)], 18) or ()
        np.testing.assert_array_equal(computed(graph, x), expected, strict=True)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "bool"])
@pytest.mark.parametrize("batch", [0, 1])
def test_reversed_sequences(batch: int, dtype: str) -> None:
    """By the library, with lengths that are known and with those of run time, of which those that do not fit are refused."""
    lengths, reverse = np.array([5, 0, 3, 1]), node("ReverseSequence", "x", "n", batch_axis=batch, time_axis=1 - batch)
    x = np.random.default_rng(batch).integers(-3, 4, (4, 5, 2)).astype(dtype)
    expected = x.copy()
    for i, n in enumerate(lengths):
        expected[i, :n] = x[i, :n][::-1]
    x, expected = (each if batch == 0 else each.swapaxes(0, 1).copy() for each in (x, expected))
    values = [Value("x", dtype, None), Value("n", "int64", None)]
    for inputs, weights in ((values, {}), (values[:1], {"n": lengths})):
        source = Source("one", 17, inputs, [Value("y", dtype, None)], [reverse], weights)
        graph = graph_of(source, {"x": x.shape, "n": lengths.shape})
        assert "Host" not in operators(graph)
        run = Runner(simplified(graph))
        np.testing.assert_array_equal(run({"x": x, "n": lengths} if not weights else {"x": x})["y"], expected, strict=True)
        for i in range(4 if not weights else 0):
            for length in (6, -1, 100, -100):
                with pytest.raises(ValueError, match="ind"):
                    run({"x": x, "n": np.where(np.arange(4) == i, length, lengths)})


def test_tensors_without_elements_are_joined() -> None:
    """They have a shape, which other nodes need."""
    nodes = [node("Relu", "x", gives="a"), node("Concat", "a", "x", gives="c", axis=1)]
    graph = Made([*nodes, node("ReduceSum", "c", "axes", keepdims=0)], {"axes": [0]}).graph(0, 4)
    np.testing.assert_array_equal(computed(graph, floats(0, 4)), np.zeros(8, np.float32), strict=True)


@pytest.mark.parametrize("dtype", ["float32", "bool"])
def test_keys_beyond_a_mask_of_run_time_are_left_out(dtype: str) -> None:
    """Known queries, keys and values: the mask is the input."""
    rng = np.random.default_rng(6)
    q, k, v = (rng.random((1, 2, n, 4), np.float32) for n in (3, 6, 6))
    mask = rng.random((3, 4), np.float32) if dtype == "float32" else rng.random((3, 4)) < 0.7
    model = Made([node("Attention", "q", "k", "v", "x")], {"q": q, "k": k, "v": v}, 23, dtype)
    scores = q @ k[:, :, :4].swapaxes(2, 3) / 2
    weights = np.exp(scores + mask) if dtype == "float32" else np.exp(scores) * mask
    expected = weights / weights.sum(-1, keepdims=True) @ v[:, :, :4]
    np.testing.assert_allclose(computed(model.graph(3, 4), mask), expected, 1e-5)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("size", [1e-44, 1e-38, 1e-22, 1, 1e22, 3e37])
def test_lengths_of_any_size_are_normalized(size: float, p: int, axis: int) -> None:
    x = (floats(4, 5) * size).astype(np.float32)
    exact = x.astype(np.float64)
    expected = exact / np.linalg.norm(exact, p, axis, keepdims=True)
    actual = computed(made("LpNormalization", axis=axis, p=p).graph(4, 5), x)
    np.testing.assert_allclose(actual, expected, 1e-6, 1e-6)


#: NaN with a payload, infinities, zeros of both signs, denormals.
SPECIAL = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-42, -1e-42, 3e38, 1.5], np.float32)
SPECIAL.view(np.uint32)[0] = 0xFFC12345


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("mask_shape", [(4, 9), (9,), (2, 1, 9), (2, 4, 1), (3, 2, 4, 9)])
@pytest.mark.parametrize("other", [-np.inf, 0.0, -0.0, np.inf, 7.0, SPECIAL[1:], np.arange(72).reshape(2, 4, 9)])
def test_where_with_a_known_mask(swapped: bool, mask_shape: tuple[int, ...], other: Any) -> None:
    """As attention masks: a selection bit by bit, whatever is on the side that is not taken; no function of Python."""
    rng = np.random.default_rng(2)
    other = np.resize(other, 9).astype(np.float32) if np.ndim(other) == 1 else np.float32(other)
    take, x = rng.random(mask_shape) < 0.6, rng.permutation(np.resize(SPECIAL, 72)).reshape(2, 4, 9)
    sides = ("v", "x") if swapped else ("x", "v")
    graph = Made([node("Where", "m", *sides)], {"m": ~take if swapped else take, "v": other}).graph(2, 4, 9)
    assert operators(graph)[-1] == "replace"
    found = computed(graph, x)
    np.testing.assert_array_equal(found.view(np.uint32), np.where(take, x, other).view(np.uint32), strict=True)


@pytest.mark.parametrize("other", [np.nan, [np.nan, 2, -0.0]])
def test_where_that_chooses_nan(other: Any) -> None:
    other, x = np.asarray(other, np.float32), np.array([[-0.0, 0, np.inf], [np.nan, 1e-42, -np.inf]], np.float32)
    take = np.array([[True, True, False], [False, True, True]])
    graph = Made([node("Where", "m", "x", "v")], {"m": take, "v": other}).graph(2, 3)
    found, expected = computed(graph, x), np.where(take, x, other)
    np.testing.assert_array_equal(found, expected, strict=True)
    np.testing.assert_array_equal(np.signbit(found[found == 0]), np.signbit(expected[expected == 0]))


@pytest.mark.parametrize("op", ["Max", "Min"])
@pytest.mark.parametrize("known", [np.nan, [np.nan], [[np.nan, 1, -1] * 3], 0.0, np.inf, -np.inf])
@pytest.mark.parametrize("first", [False, True])
def test_extremes_with_constants(op: str, known: Any, first: bool) -> None:
    """NaN if either is, whichever it is and however the passes write it."""
    known, x = np.asarray(known, np.float32), SPECIAL.reshape(1, 9)
    graph = simplified(Made([node(op, *("vx" if first else "xv"))], {"v": known}).graph(1, 9))
    np.testing.assert_array_equal(computed(graph, x), (np.maximum if op == "Max" else np.minimum)(x, known))


@pytest.mark.parametrize("at_run_time", [False, True])
@pytest.mark.parametrize("bounds", [(np.nan, 6.0), (0.0, np.nan), (np.nan, np.nan), (-1.0, 2.0), (-np.inf, 1.0)])
def test_a_bound_that_is_nan_is_none(bounds: tuple[float, float], at_run_time: bool) -> None:
    """As in the definition of Clip, which replaces what is less than a bound, or more than it; also with a Clip after it."""
    names, given = ("low", "high"), dict(zip(("low", "high"), map(np.float32, bounds)))
    values = [Value(name, "float32", ()) for name in (names if at_run_time else ())]
    nodes = [node("Clip", "x", *names, gives="c"), node("Clip", "c", "zero")]
    weights = {"zero": np.float32(0), **({} if at_run_time else given)}
    inputs = [Value("x", "float32", None), *values]
    source = Source("made", 18, inputs, [Value("y", "float32", None)], nodes, {n: np.asarray(a) for n, a in weights.items()})
    graph = simplified(graph_of(source, {"x": (9,), **{value.name: () for value in values}}))
    x, (low, high) = SPECIAL, bounds
    expected = np.where(x < low, np.float32(low), x)
    expected = np.maximum(np.where(expected > high, np.float32(high), expected), 0)
    found = Runner(graph)({"x": x, **({name: np.asarray(given[name]) for name in names} if at_run_time else {})})["y"]
    np.testing.assert_array_equal(found, expected)


def test_resizing_of_opset_10_rounds_up_where_it_becomes_smaller() -> None:
    """The example of its documentation, whose text does not say so."""
    graph = made("Resize", np.array([1, 1, 0.6, 0.6], np.float32), opset=10).graph(1, 1, 2, 4)
    assert computed(graph, FLOATS[:8].reshape(1, 1, 2, 4)).tolist() == [[[[1, 3]]]]


def test_normalised_groups_before_opset_21_have_a_scale_and_a_bias_each() -> None:
    x, scale, bias = floats(2, 6, 5), floats(3), floats(3) + 1
    groups = x.reshape(2, 3, 10)
    expected = (groups - groups.mean(2, keepdims=True)) / np.sqrt(groups.var(2, keepdims=True) + 1e-5)
    expected = expected * scale[:, None] + bias[:, None]
    graph = made("GroupNormalization", scale, bias, num_groups=3).graph(2, 6, 5)
    np.testing.assert_allclose(computed(graph, x), expected.reshape(x.shape), 1e-4, 1e-5)


def test_without_an_axis_the_last_one_is_normalised() -> None:
    x = floats(2, 3, 4)
    expected = x / np.sqrt((x * x).sum(-1, keepdims=True))
    np.testing.assert_allclose(computed(made("LpNormalization").graph(2, 3, 4), x), expected, 1e-5)


def test_weights_of_16_bits_are_widened() -> None:
    graph = made("Mul", np.float16(1.5), dtype="float16").graph(3)
    assert {graph.types[name].dtype for name in graph.types} == {"float32"}


def test_outputs_that_no_node_computes() -> None:
    """An output that is an input, a constant, or another output."""
    nodes = [node("Identity", "x", gives=["a"]), node("Identity", "w", gives=["b"]), node("Relu", "x", gives=["c"])]
    nodes.append(node("Identity", "c", gives=["d"]))
    outputs = Runner(Made(nodes, {"w": FLOATS[:2]}, outputs="abcd").graph(3))({"x": FLOATS[:3] - 2})
    assert {name: array.tolist() for name, array in outputs.items()} == {
        "a": [-1, 0, 1],
        "b": [1, 2],
        "c": [0, 0, 1],
        "d": [0, 0, 1],
    }


def test_an_input_that_is_an_output() -> None:
    """It has its name in both, and memory of its own."""
    run = Model(Made([node("Relu", "x")], {}, outputs="xy").source()).prepare({"x": (3,)})
    answers = run({"x": FLOATS[:3] - 2})
    assert {name: array.tolist() for name, array in answers.items()} == {"x": [-1, 0, 1], "y": [0, 0, 1]}
    assert list(answers) == ["x", "y"]
    assert not np.shares_memory(run.inputs["x"], run.outputs["x"])


def test_missing_output() -> None:
    with pytest.raises(ValueError, match="no node produces the output 'y'"):
        Made([], {}).graph(3)


# ---- functions of the user


def _power(x: Any, exponent: float = 2.0) -> Any:
    return x**exponent


FALLBACKS: list[tuple[str, Callable[..., Any] | tuple[Any, Any]]] = [
    ("Power", _power),
    ("mine.Power", _power),
    ("mine.Power", (_power, [((3,), "float32")])),
]


@pytest.mark.parametrize(("name", "function"), FALLBACKS)
def test_fallback(name: str, function: Any) -> None:
    model = Made([node("Power", "x", domain=name.rpartition(".")[0], exponent=3.0)], {})
    graph = model.graph(3, fallback={name: function})
    assert computed(graph, FLOATS[:3]).tolist() == [1, 8, 27]


def test_fallback_that_fails() -> None:
    def fails(x: Any) -> Any:
        raise RuntimeError("no")

    with pytest.raises(UnsupportedModel, match=r"its function cannot compute these shapes: RuntimeError\('no'\)"):
        made("Power").graph(3, fallback={"Power": fails})


def _negated_in_place(x: Any, w: Any) -> Any:
    w *= 2
    return np.negative(x, out=x)


@pytest.mark.parametrize("types", [None, [((3,), "float32")]])
def test_fallback_that_writes_its_inputs(types: Any) -> None:
    """Other nodes read the same memory: the inputs cannot be written, in the conversion and in runs."""
    model = Made([node("Negated", "x", "w"), node("Relu", "x", gives=["z"])], {"w": np.ones(3)}, outputs=["y", "z"])
    source = model.source()
    with pytest.raises(ValueError, match="read-only"):
        fallback = {"Negated": _negated_in_place if types is None else (_negated_in_place, types)}
        Runner(graph_of(source, {"x": (3,)}, fallback))({"x": FLOATS[:3]})
    assert source.weights["w"].tolist() == [1, 1, 1]


TWICE = [((3,), "float32")] * 2


@pytest.mark.parametrize("types", [None, TWICE])
@pytest.mark.parametrize("kind", [tuple, list])
def test_fallback_with_several_results(kind: Any, types: Any) -> None:
    def both(x: Any) -> Any:
        return kind((x + 1, x - 1))

    model = Made([node("Both", "x", gives=["y", "z"])], {}, outputs=["y", "z"])
    graph = model.graph(3, fallback={"Both": both if types is None else (both, types)})
    found = Runner(graph)({"x": FLOATS[:3]})
    assert found["y"].tolist() == [2, 3, 4] and found["z"].tolist() == [0, 1, 2]


RESULTS: list[tuple[Any, str]] = [
    (None, "returned None, expected an array"),
    ((FLOATS[:3], None), "returned None as output 1, expected an array"),
    (["a", "b"], "returned an array of <U1 as output 0"),
    (FLOATS[:3], "1 results, expected 2|returned 1 arrays, expected 2"),
    ([], "0 results, expected 2|returned 0 arrays, expected 2"),
]


@pytest.mark.parametrize("types", [None, TWICE])
@pytest.mark.parametrize(("result", "reason"), RESULTS)
def test_fallback_with_other_results(result: Any, reason: str, types: Any) -> None:
    """The same sentence by the conversion and, where types are given, by a run."""

    def both(x: Any) -> Any:
        return result

    model = Made([node("Both", "x", gives=["y", "z"])], {}, outputs=["y", "z"])
    with pytest.raises((UnsupportedModel, TypeError, ValueError), match=reason):
        Runner(model.graph(3, fallback={"Both": both if types is None else (both, types)}))({"x": FLOATS[:3]})


def test_fallback_with_too_few_types() -> None:
    model = Made([node("Both", "x", gives=["y", "z"])], {}, outputs=["y", "z"])
    with pytest.raises(UnsupportedModel, match="its function has 1 results, expected 2"):
        model.graph(3, fallback={"Both": (_power, TWICE[:1])})
