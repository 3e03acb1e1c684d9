"""The limits for model files that docs/SECURITY.md states: the page has those of the code, and each of them is exact."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="onnx, which makes the files, is not installed")

from onnx import helper, numpy_helper  # noqa: E402

import pysimd  # noqa: E402
from pysimd.network import onnx_reader, onnx_wire, saved  # noqa: E402
from pysimd.network.convert import fold_node  # noqa: E402
from pysimd.network.onnx_messages import File  # noqa: E402
from pysimd.network.source import Source, SourceNode, Value  # noqa: E402
from support import ROOT  # noqa: E402

PAGE = (ROOT / "docs" / "SECURITY.md").read_text()


def relu(x: str, y: str) -> Any:
    return helper.make_node("Relu", [x], [y])


def values(*names: str) -> list[Any]:
    return [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1, 4]) for name in names]


def model(nodes: Any, weights: Any = (), functions: Any = ()) -> Any:
    graph = helper.make_graph(nodes, "g", values("x"), values("y"), list(weights))
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9, functions=list(functions))


def chain() -> Any:
    """2 nodes and 2 weights; an input, an output and an attribute; 6 inputs and outputs of nodes."""
    weights = [numpy_helper.from_array(np.ones((1, 4), np.float32), name) for name in "vw"]
    nodes = [helper.make_node("Gemm", ["x", "v"], ["a"], transB=1), helper.make_node("Mul", ["a", "w"], ["y"])]
    return model(nodes, weights)


def subgraphs() -> Any:
    """3 graphs within each other, below that of the model."""
    inner = helper.make_graph([relu("x", "y")], "g", [], values("y"))
    for _ in range(2):
        inner = helper.make_graph([helper.make_node("If", ["x"], ["y"], then_branch=inner)], "g", [], values("y"))
    return model([helper.make_node("If", ["x"], ["y"], then_branch=inner)])


def functions() -> Any:
    """3 functions, each of which calls the next one; their nodes take 1554 bytes, with 512 for each."""
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    inner = [helper.make_node(f"f{i + 1}", ["a"], ["b"], domain="own") for i in range(2)] + [relu("a", "b")]
    found = [helper.make_function("own", f"f{i}", ["a"], ["b"], [node], opsets) for i, node in enumerate(inner)]
    return model([helper.make_node("f0", ["x"], ["y"], domain="own")], functions=found)


def serialized() -> Any:
    """The bytes of a model, with the fields of all its messages."""
    weight = numpy_helper.from_array(np.ones((1 << 10, 4), np.float32), "w")
    return model([helper.make_node("Add", ["x", "w"], ["y"])], [weight]).SerializeToString()


def fields(data: bytes) -> int:
    wire = onnx_wire.Wire(np.frombuffer(data, np.uint8))
    wire.message(File)
    return wire._read


def inlined(message: Any) -> int:
    return sum(each.ByteSize() + 512 for function in message.functions for each in function.node)


#: (module, name of the limit, how it is written in the page, a file, what the file has of it)
LIMITS: list[tuple[Any, str, str, Callable[[], Any], Callable[[Any], int]]] = [
    (onnx_reader, "_MOST_NODES", "nodes and weights", chain, lambda _: 4),
    (onnx_reader, "_MOST_VALUES", "inputs and outputs of graphs", chain, lambda _: 3),
    (onnx_reader, "_MOST_NAMES", "inputs and outputs of nodes", chain, lambda _: 6),
    (onnx_reader, "_DEPTH", "subgraphs within subgraphs; functions", subgraphs, lambda _: 3),
    (onnx_reader, "_DEPTH", "subgraphs within subgraphs; functions", functions, lambda _: 3),
    (onnx_reader, "_MOST_INLINED", "bytes of nodes after", functions, inlined),
    (onnx_wire, "_MOST_FIELDS", "fields of messages", serialized, fields),
]


@pytest.mark.parametrize("number", range(len(LIMITS)))
def test_limits_of_onnx_files(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    module, name, written, make, count = LIMITS[number]
    assert re.search(rf"^\| {written}.*\| {getattr(module, name)} \|$", PAGE, re.MULTILINE)
    given = make()
    exact = count(given)
    monkeypatch.setattr(module, name, exact)
    onnx_reader.read(given)
    monkeypatch.setattr(module, name, exact - 1)
    with pytest.raises(ValueError, match=rf"more than {exact - 1}\b"):
        onnx_reader.read(given)


def test_limits_of_saved_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the header itself and of its values, test_saved.py has more."""
    for name, written in (
        ("_MOST_HEADER", "bytes of the header"),
        ("_MOST_VALUES", "values in the header"),
        ("_DEPTH", "subgraphs within subgraphs"),
        ("_MOST_DIMENSIONS", "dimensions of a weight"),
    ):
        assert f"| {written} | {getattr(saved, name)} |" in PAGE
    weight = np.ones((1, 1, 4), np.float32)
    inner = Source("", 17, [], [], [], {})
    node = SourceNode("If", ("w",), ("y",), {"then_branch": inner})
    saved.write(Source("", 17, [], [Value("y", "float32", None)], [node], {"w": weight}), tmp_path / "m")
    for name, exact, reason in (("_DEPTH", 1, "more than 0 deep"), ("_MOST_DIMENSIONS", 3, "has 3 dimensions")):
        with monkeypatch.context() as changed:
            changed.setattr(saved, name, exact)
            saved.read(tmp_path / "m")
            changed.setattr(saved, name, exact - 1)
            with pytest.raises(ValueError, match=reason):
                saved.read(tmp_path / "m")


def test_limit_of_what_is_computed_from_constants(monkeypatch: pytest.MonkeyPatch) -> None:
    assert f"may have {fold_node.MOST_BYTES} bytes" in PAGE
    shape = numpy_helper.from_array(np.array([5]), "s")
    nodes = [helper.make_node("ConstantOfShape", ["s"], ["c"]), helper.make_node("Sum", ["x", "c"], ["y"])]
    nodes[1] = helper.make_node("Concat", ["x", "d"], ["y"], axis=1)
    nodes.insert(1, helper.make_node("Reshape", ["c", "t"], ["d"]))
    given = model(nodes, [shape, numpy_helper.from_array(np.array([1, 5]), "t")])
    monkeypatch.setattr(fold_node, "MOST_BYTES", 20)
    pysimd.load(given).prepare()
    monkeypatch.setattr(fold_node, "MOST_BYTES", 19)
    with pytest.raises(ValueError, match=r"the result would have the shape \(5,\)"):
        pysimd.load(given).prepare()


@pytest.mark.parametrize("op", ["Relu", "Cast", "Softmax", "CumSum"])
def test_limit_of_what_is_computed_from_one_constant(op: str, monkeypatch: pytest.MonkeyPatch) -> None:
    weights = [numpy_helper.from_array(np.ones(5, np.float32), "w"), numpy_helper.from_array(np.array(0), "axis")]
    names = ["w", "axis"] if op == "CumSum" else ["w"]
    node = helper.make_node(op, names, ["c"], **({"to": 1} if op == "Cast" else {}))
    given = model([node, helper.make_node("Concat", ["c", "c"], ["y"], axis=0)], weights)
    monkeypatch.setattr(fold_node, "MOST_BYTES", 40)
    pysimd.load(given).prepare()
    monkeypatch.setattr(fold_node, "MOST_BYTES", 19)
    with pytest.raises(ValueError, match=r"the result would have the shape \(5,\)"):
        pysimd.load(given).prepare()


def test_tensors_that_do_not_fit_into_memory_raise_an_error() -> None:
    """Nothing limits their size but the memory."""
    given = model([helper.make_node("Expand", ["x", "s"], ["y"])], [numpy_helper.from_array(np.array([1 << 40, 4]), "s")])
    with pytest.raises(MemoryError, match="no memory for"):
        pysimd.load(given).prepare()
