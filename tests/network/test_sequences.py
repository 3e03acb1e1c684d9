"""Sequences that the conversion knows: models of one plan, in which no operator of a sequence is left."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pysimd
from network.test_values import FLOAT, INT64, expected, floats, model, node, value
from pysimd.__main__ import main
from pysimd.network import Runner, onnx_reader
from pysimd.network.convert import UnsupportedModel, graph_of
from support import Array

onnx = pytest.importorskip("onnx", reason="ONNX files need the package onnx")
helper = onnx.helper

X = floats(4, 6)
MAP = helper.make_graph(
    [node("Mul", "e", "x", gives="m"), node("Concat", "m", "e", gives="both", axis=1)],
    "body",
    [value("e", FLOAT), value("x2", FLOAT)],
    [value("both", FLOAT), value("x2", FLOAT)],
)
MODELS: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "a part of a split": ([node("SplitToSequence", "x", "two", gives="s", axis=1), node("SequenceAt", "s", "last")], {}),
    "rows": ([node("SplitToSequence", "x", gives="s", keepdims=0), node("SequenceAt", "s", "one")], {}),
    "parts of these sizes": (
        [
            node("SplitToSequence", "x", "sizes", gives="s", axis=-1),
            node("SequenceErase", "s", "one", gives="r"),
            node("SequenceInsert", "r", "x", "last", gives="t"),
            node("ConcatFromSequence", "t", axis=1),
        ],
        {},
    ),
    "a stack": (
        [node("SequenceConstruct", "x", "w", "x", gives="s"), node("ConcatFromSequence", "s", axis=1, new_axis=1)],
        {},
    ),
    "an empty one is filled": (
        [
            node("SequenceEmpty", gives="s"),
            node("SequenceInsert", "s", "x", gives="a"),
            node("SequenceInsert", "a", "w", "zero", gives="b"),
            node("Identity", "b", gives="c"),
            node("SequenceLength", "c", gives="n"),
            node("Sub", "n", "two", gives="k"),
            node("SequenceAt", "c", "k"),
        ],
        {},
    ),
    "each element, of which one is a constant": (
        [
            node("SequenceConstruct", "w", "v", "x", gives="s"),
            node("SequenceMap", "s", "x", gives="t u", body=MAP),
            node("ConcatFromSequence", "t", axis=0),
        ],
        {"v": floats(4, 6, seed=9)},
    ),
}
NUMBERS = {"one": 1, "two": 2, "zero": 0, "last": -1, "sizes": [1, 3, 2], "w": floats(4, 6, seed=5)}


def made(name: str) -> Any:
    nodes, more = MODELS[name]
    read = {each for every in nodes for each in every.input}
    weights = {key: array for key, array in {**NUMBERS, **more}.items() if key in read}
    return model(nodes, [value("x", FLOAT, X.shape)], [onnx.ValueInfoProto(name="y")], **weights)


@pytest.mark.parametrize("name", MODELS)
def test_known_sequences_leave_no_step(name: str) -> None:
    message = made(name)
    runner = pysimd.load(message).prepare()
    assert isinstance(runner, Runner)
    assert not any(each.operator == "Host" for each in graph_of(onnx_reader.read(message), {"x": X.shape}).nodes)
    np.testing.assert_allclose(runner({"x": X})["y"], expected(message, {"x": X})["y"], 1e-6, strict=True)


def test_open_sizes() -> None:
    """The number of parts is that of the size; each size is right."""
    nodes = [node("SplitToSequence", "x", "two", gives="s"), node("ConcatFromSequence", "s", axis=1, new_axis=1, gives="t")]
    nodes[1] = node("SequenceAt", "s", "last")
    message = model(nodes, [value("x", FLOAT, ["n", 3])], [onnx.ValueInfoProto(name="y")], two=2, last=-1)
    runner = pysimd.load(message).prepare()
    for n in (4, 5, 1, 4):
        x = floats(n, 3, seed=n)
        np.testing.assert_array_equal(runner({"x": x})["y"], expected(message, {"x": x})["y"], strict=True)


def test_optional_values() -> None:
    nodes = [
        node("Optional", "x", gives="o"),
        node("OptionalHasElement", "o", gives="has"),
        helper.make_node("Optional", [], ["none"]),
        node("OptionalHasElement", "none", gives="not"),
        node("OptionalGetElement", "o", gives="z"),
        node("Relu", "z"),
    ]
    outputs = [onnx.ValueInfoProto(name=name) for name in ("has", "not", "y")]
    found = pysimd.load(model(nodes, [value("x", FLOAT, X.shape)], outputs)).prepare()({"x": X})
    assert bool(found["has"]) and not bool(found["not"])
    np.testing.assert_array_equal(found["y"], X.clip(0))


def test_outputs_of_a_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is printed and saved of sequences and optional values."""
    nodes = [
        node("SplitToSequence", "x", "two", gives="s"),
        helper.make_node("Optional", [], ["none"], type=helper.make_tensor_type_proto(FLOAT, None)),
    ]
    message = model(nodes, [value("x", FLOAT, [5, 3])], [onnx.ValueInfoProto(name=name) for name in ("s", "none")], two=2)
    onnx.save(message, str(tmp_path / "net.onnx"))
    np.save(tmp_path / "x.npy", floats(5, 3))
    arguments = ["--input", f"x:{tmp_path / 'x.npy'}", "--save", str(tmp_path / "results")]
    assert main(["run", str(tmp_path / "net.onnx"), *arguments]) == 0
    out = capsys.readouterr().out
    assert "s: a sequence of 3\n" in out and "none: empty\n" in out
    names = sorted(file.name for file in (tmp_path / "results").iterdir())
    assert names == ["s.0.npy", "s.1.npy", "s.2.npy"]
    parts = [np.load(tmp_path / "results" / name) for name in names]
    np.testing.assert_array_equal(np.concatenate(parts), floats(5, 3), strict=True)


def test_what_a_plan_cannot_have_is_a_course() -> None:
    """A position that is computed, and a body with a node that no plan can have; refusals name them."""
    nodes = [node("SplitToSequence", "x", gives="s"), node("SequenceAt", "s", "n")]
    message = model(nodes, [value("x", FLOAT, X.shape), value("n", INT64, [])], [onnx.ValueInfoProto(name="y")])
    with pytest.raises(UnsupportedModel, match="SequenceAt: the position is computed at run time, from 'n'"):
        graph_of(onnx_reader.read(message), {"x": X.shape, "n": ()})
    runner = pysimd.load(message).prepare()
    for place in (0, -1, 3):
        np.testing.assert_array_equal(runner({"x": X, "n": np.array(place)})["y"], X[[place]])
    body = helper.make_graph(
        [node("NonZero", "e", gives="places")], "body", [value("e", FLOAT)], [onnx.ValueInfoProto(name="places")]
    )
    nodes = [node("SplitToSequence", "x", gives="s"), node("SequenceMap", "s", gives="t", body=body),
             node("ConcatFromSequence", "t", axis=1)]  # fmt: skip
    message = model(nodes, [value("x", FLOAT, X.shape)], [onnx.ValueInfoProto(name="y")])
    x: Array = np.where(X > 0, X, 0)
    found = [np.stack(np.nonzero(x[i : i + 1])) for i in range(4)]
    np.testing.assert_array_equal(pysimd.load(message)({"x": x})["y"], np.concatenate(found, 1), strict=True)


def test_a_shape_that_is_no_plan_decides_nothing_for_others() -> None:
    """There is no part at this position for the first shape, which is told when it runs."""
    nodes = [node("SplitToSequence", "x", gives="s"), node("SequenceAt", "s", "two")]
    loaded = pysimd.load(model(nodes, [value("x", FLOAT, ["n", 6])], [onnx.ValueInfoProto(name="y")], two=2))
    with pytest.raises(ValueError, match="position 2 is not within the sequence of 1 elements"):
        loaded.prepare({"x": (1, 6)})({"x": X[:1]})
    assert isinstance(loaded.prepare({"x": (4, 6)}), Runner)
