"""Files around quantised models: what survives, bytes that pass through, and files of other makes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pysimd
from network.quantizing import SHAPE, F, Net, images, small
from network.test_quantize_model import SAMPLES, error_of, weights_of
from pysimd.network.onnx_wire import Malformed
from pysimd.network.quantize.fields import encoded, parsed
from pysimd.network.quantize.folding import folded
from pysimd.network.quantize.onnx_file import File, Node


def loaded(data: bytes) -> Any:
    return pytest.importorskip("onnx").load_from_string(data)


# ---- fields


def test_fields_are_put_together_as_they_were() -> None:
    data = small()
    assert encoded(parsed(data)) == data


@pytest.mark.parametrize("data", [b"\x0a", b"\x0a\x05abc", b"\x0b", b"\x08", b"\x08" + b"\xff" * 11, b"\x0d\x01\x02"])
def test_fields_that_are_none(data: bytes) -> None:
    with pytest.raises(Malformed):
        parsed(data)


def test_a_file_that_nobody_changes() -> None:
    """Has the same nodes, weights, inputs and outputs, without those that nothing needs."""
    before, after = loaded(small()), loaded(File(small()).encoded())
    for field in ("node", "initializer", "input", "output"):
        assert sorted(map(str, getattr(before.graph, field))) == sorted(map(str, getattr(after.graph, field)))


def test_attributes_that_are_set() -> None:
    """Others read what was given, and so does the node."""
    onnx = pytest.importorskip("onnx")
    given: dict[str, Any] = {"text": "a b", "whole": -3, "real": 0.75, "list": [2, -1], "tensor": np.array([[1, 2]], F)}
    node = Node("Own", ["x", ""], ["y"], "name", "domain")
    for name, value in given.items():
        node.set(name, value)
    read = onnx.NodeProto.FromString(bytes(node.field().value))
    assert (read.op_type, list(read.input), list(read.output)) == ("Own", ["x", ""], ["y"])
    assert (read.name, read.domain) == ("name", "domain")
    found = {a.name: onnx.helper.get_attribute_value(a) for a in read.attribute}
    np.testing.assert_array_equal(onnx.numpy_helper.to_array(found.pop("tensor")), given.pop("tensor"))
    assert found == {**given, "text": b"a b"}
    assert {name: node.get(name) for name in given} == given


def test_what_survives() -> None:
    """Metadata, texts of nodes, attributes that are not known, and the shapes of tensors."""
    model = loaded(small())
    model.metadata_props.add(key="labels", value="a\nb")
    model.producer_name, model.graph.doc_string = "somebody", "a text"
    model.graph.node[1].doc_string = "of a node"
    model.graph.value_info.append(pytest.importorskip("onnx").helper.make_tensor_value_info("t8", 1, [1, 16, 12, 10]))
    made = loaded(pysimd.quantize_model(model, SAMPLES, bias_correction=False).data)
    assert (made.metadata_props[0].key, made.metadata_props[0].value) == ("labels", "a\nb")
    assert (made.producer_name, made.graph.doc_string) == ("somebody", "a text")
    (relu,) = (node for node in made.graph.node if node.op_type == "Relu")
    assert relu.doc_string == "of a node"
    assert any(value.name == "t8" for value in made.graph.value_info)


def test_subgraphs_read_what_they_read() -> None:
    onnx = pytest.importorskip("onnx")
    net = Net()
    a = net.conv("x", 4, 3)
    b = net.conv(a, 4, 4, 1)
    helper = onnx.helper
    branches = {
        name: helper.make_graph(
            [helper.make_node(op, [b, a], [name])], name, [], [helper.make_tensor_value_info(name, 1, None)]
        )
        for name, op in (("then_branch", "Add"), ("else_branch", "Sub"))
    }
    mean = net.add("ReduceMean", "x", keepdims=0)
    net.add("If", net.add("Greater", mean, net.constant(F(0))), y="y", **branches)
    data, x = net.bytes({"x": [1, 3, 9, 9]}, {"y": [1, 4, 9, 9]}), images(1, 6, 1, 3, 9, 9)
    made = pysimd.quantize_model(data, x)
    assert len(made.products) == 2 and error_of(made, data, x) < 0.1


def test_weights_in_other_files(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    onnx.save(loaded(small()), tmp_path / "m.onnx", save_as_external_data=True, location="m.bin", size_threshold=0)
    made = pysimd.quantize_model(tmp_path / "m.onnx", SAMPLES)
    assert made.data == pysimd.quantize_model(small(), SAMPLES).data or error_of(made, small(), SAMPLES[:2]) < 0.05
    pytest.importorskip("onnx").checker.check_model(made.data)


def test_constants_as_nodes() -> None:
    """As exporters of Paddle write weights; some of them through Identity."""
    onnx = pytest.importorskip("onnx")
    model = loaded(small())
    nodes = []
    for i, weight in enumerate(model.graph.initializer):
        name = f"{weight.name}_value" if i % 2 else weight.name
        nodes.append(onnx.helper.make_node("Constant", [], [name], value=weight))
        if i % 2:
            nodes.append(onnx.helper.make_node("Identity", [name], [weight.name]))
    del model.graph.initializer[:]
    nodes += list(model.graph.node)
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    made = pysimd.quantize_model(model, SAMPLES)
    assert len(made.products) == 5
    x = images(2, 1, *SHAPE)[0]
    np.testing.assert_array_equal(made.load()(x)["y"], pysimd.quantize_model(small(), SAMPLES).load()(x)["y"])


def test_folding_changes_nothing() -> None:
    """Batch normalisations, factors and terms of channels; those of pixels stay."""
    net = Net()
    a = net.conv("x", 6, 3, bias=False)
    a = net.add("BatchNormalization", a, *(net.constant(net.rng.uniform(0.5, 2, 6).astype(F)) for _ in range(4)))
    a = net.add("Mul", net.constant(net.rng.normal(0, 1, (6, 1, 1)).astype(F)), a)
    a = net.add("Add", a, net.constant(net.rng.normal(0, 1, (1, 6, 1, 1)).astype(F)))
    a = net.add("Add", a, net.constant(net.rng.normal(0, 1, (9,)).astype(F)))  # of columns
    net.conv(net.add("Mul", net.conv(a, 6, 6, group=6), net.constant(F(3))), 2, 6, 1, y="y")
    data, (x,) = net.bytes({"x": [1, 3, 9, 9]}, {"y": [1, 2, 9, 9]}), images(1, 1, 1, 3, 9, 9)
    made = folded(File(data)).encoded()
    assert Counter(node.op_type for node in loaded(made).graph.node) == {"Conv": 3, "Add": 1}
    np.testing.assert_allclose(pysimd.load(made)(x)["y"], pysimd.load(data)(x)["y"], rtol=1e-4, atol=1e-4)


def test_results_that_others_read_are_not_folded() -> None:
    net = Net()
    a = net.conv("x", 4, 3)
    b = net.add("Mul", a, net.constant(F(2)))
    net.add("Add", a, b, y="y")
    data, (x,) = net.bytes({"x": [1, 3, 9, 9]}, {"y": [1, 4, 9, 9]}), images(1, 1, 1, 3, 9, 9)
    np.testing.assert_allclose(pysimd.load(folded(File(data)).encoded())(x)["y"], pysimd.load(data)(x)["y"], atol=1e-6)


# ---- bytes that move


def test_only_products_read_bytes() -> None:
    """What else reads the input of a product reads its floats as they are."""
    net = Net()
    hidden = net.add("Gemm", "x", net.weight(9, 9), net.weight(9))
    net.add("Mul", net.add("Relu", hidden), net.add("Sigmoid", "x"), y="y")
    data = net.bytes({"x": ["N", 9]}, {"y": ["N", 9]})
    made = loaded(pysimd.quantize_model(data, images(1, 3, 4, 9)).data)
    read = {node.op_type: node.input[0] for node in made.graph.node if node.op_type in ("Gemm", "Sigmoid")}
    assert read["Sigmoid"] == "x" and read["Gemm"] != "x"


def test_bytes_pass_through_moves() -> None:
    """Concat, MaxPool and Reshape have one scale before and after them, and no step of floats."""
    net = Net()
    a, b = (net.add("Relu", net.conv("x", outputs, 3)) for outputs in (4, 6))
    c = net.add("MaxPool", net.add("Concat", a, b, axis=1), kernel_shape=[2, 2], strides=[2, 2])
    d = net.add("Reshape", c, net.constant(np.array([1, 5, 8, 4])))
    net.conv(d, 3, 5, 1, y="y")
    data, x = net.bytes({"x": [1, 3, 8, 8]}, {"y": [1, 3, 8, 4]}), images(1, 6, 1, 3, 8, 8)
    made = pysimd.quantize_model(data, x, bias_correction=False)
    given = weights_of(made.data)
    assert (
        len({float(array) for name, array in given.items() if name.endswith("_scale") and array.ndim == 0}) == 2
    )  # of x too
    nodes = made.load().prepare((1, 3, 8, 8)).graph.nodes
    operators = Counter(node.operator for node in nodes)
    assert (operators["Quantize"], operators["Dequantize"]) == (1, 1)  # x, and what the last convolution reads
    assert error_of(made, data, x) < 0.4


@pytest.mark.parametrize("joined", [True, False])
def test_bytes_pass_through_splits(joined: bool) -> None:
    """Of which a Concat joins the parts, as in a YOLOv8: these, and a sum with one of them, are bytes. Other parts may need
    other ranges: the Split has floats."""
    net = Net()
    a = net.conv("x", 8, 3)
    net.weights["w0"][:4] *= 4
    swish = net.add("Mul", a, net.add("Sigmoid", a))
    net.nodes.append(net.onnx.helper.make_node("Split", [swish], ["b", "c"], "split", axis=1))
    d = net.conv("c", 4, 4)
    total = net.add("Add", "c", net.add("Mul", d, net.add("Sigmoid", d)))
    e = net.conv(net.add("Concat", *(["b"] if joined else []), "c", total, axis=1), 4, 12 if joined else 8)
    net.add("Add", e, net.add("ReduceMean", "b", axes=[1]), y="y")
    data, x = net.bytes({"x": [1, 3, 8, 8]}, {"y": [1, 4, 8, 8]}), images(1, 6, 1, 3, 8, 8)
    made = pysimd.quantize_model(data, x, bias_correction=False, keep_float=())
    split = next(node for node in made.load().prepare((1, 3, 8, 8)).graph.nodes if node.operator == "Slice")
    assert made.load().prepare((1, 3, 8, 8)).graph.types[split.output].dtype == ("uint8" if joined else "float32")
    largest = float(abs(pysimd.load(data)(x[0])["y"]).max())
    assert error_of(made, data, x) < 0.08 * largest  # as of the Split of floats


# ---- random networks


@pytest.mark.parametrize("seed", range(12))
def test_random_networks(seed: int) -> None:
    """The error is a small part of the result, whatever follows what."""
    net = Net(seed)
    rng = np.random.default_rng(seed)
    known = [(net.conv("x", 8, 3), 8)]
    for _ in range(int(rng.integers(2, 7))):
        x, c = known[int(rng.integers(len(known)))]
        kind = int(rng.integers(6))
        if kind == 0:
            known.append((net.conv(x, 2 * c, c), 2 * c))
        elif kind == 1:
            known.append((net.conv(x, c, c, group=c, bias=False), c))
        elif kind == 2:
            known.append((net.add(str(rng.choice(["Relu", "Sigmoid", "Tanh", "LeakyRelu"])), x), c))
        elif kind == 3:
            y, d = known[int(rng.integers(len(known)))]
            known.append((net.add("Concat", x, y, axis=1), c + d))
        elif kind == 4:
            others = [y for y, d in known if d == c]
            known.append((net.add("Add", x, str(rng.choice(others))), c))
        else:
            limits = net.constant(F(-0.5)), net.constant(F(1.5))
            known.append((net.add("Clip", x, *limits), c))
    x, c = known[-1]
    hidden = net.add("Flatten", net.add("GlobalAveragePool", net.conv(x, 8, c)))
    net.add("Gemm", hidden, net.weight(8, 4), net.weight(4), y="y")
    data, samples = net.bytes({"x": ["N", 3, 10, 9]}, {"y": ["N", 4]}), images(seed, 6, 2, 3, 10, 9)
    made = pysimd.quantize_model(data, samples)
    largest = max(float(abs(pysimd.load(data)(each)["y"]).max()) for each in samples)
    assert error_of(made, data, images(seed + 100, 4, 2, 3, 10, 9)) < 0.05 * largest
    if seed % 4 == 0:
        pytest.importorskip("onnx").checker.check_model(made.data, full_check=True)


def test_several_inputs() -> None:
    net = Net()
    a = net.add("Add", net.conv("x", 4, 3), net.add("Cast", "n", to=1))
    net.conv(a, 2, 4, y="y")
    data = net.bytes({"x": [1, 3, 5, 5], "n": [1]}, {"y": [1, 2, 5, 5]})
    model = loaded(data)
    model.graph.input[1].type.tensor_type.elem_type = 7
    samples = [{"x": x, "n": np.array([i])} for i, x in enumerate(images(1, 4, 1, 3, 5, 5))]
    made = pysimd.quantize_model(model, samples)
    assert len(made.products) == 2
    with pytest.raises(ValueError, match="sample 0: the input 'n' is missing"):
        pysimd.quantize_model(model, [{"x": samples[0]["x"]}])


def test_terms_of_columns_are_biases() -> None:
    """Of products of two dimensions: others have no Gemm."""
    for shape in ([3, 20], [2, 3, 20]):
        net = Net()
        a = net.add("Relu", net.add("Add", net.add("MatMul", "x", net.weight(20, 9)), net.weight(9)))
        net.add("Add", net.weight(5), net.add("MatMul", a, net.weight(9, 5)), y="y")
        data, x = net.bytes({"x": shape}, {"y": [*shape[:-1], 5]}), images(1, 6, *shape)
        made = pysimd.quantize_model(data, x)
        operators = Counter(node.op_type for node in loaded(made.data).graph.node)
        assert (operators["Gemm"], operators["Add"]) == ((2, 0) if len(shape) == 2 else (0, 2))
        assert made.products == ("node_t0", "node_t3") and error_of(made, data, x) < 2
        kept = pysimd.quantize_model(data, x, keep_float=["node_t0", "node_t1"])
        assert kept.products == ("node_t3",)
