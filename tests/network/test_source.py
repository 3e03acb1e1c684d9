"""Reading ONNX files: what they say, and a sentence for each that is none, or not right."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="onnx, which makes the files, is not installed")

from onnx import TensorProto, helper, numpy_helper  # noqa: E402

import pysimd  # noqa: E402
from network import fuzz as network_fuzz  # noqa: E402
from pysimd.network import onnx_reader  # noqa: E402
from pysimd.network.source import Value  # noqa: E402
from support import ROOT, Array  # noqa: E402

FLOAT = TensorProto.FLOAT
ONE = numpy_helper.from_array(np.ones(1, np.float32), "w")
BIG = 4 * np.ones((32, 64), np.float32)  # larger than what is read rather than mapped


def value(name: str, dims: Any = None) -> Any:
    return helper.make_tensor_value_info(name, FLOAT, dims)


def model(nodes: Any, weights: Any = (), opset: int = 17, functions: Any = (), domains: Any = (), **names: Any) -> Any:
    """A model with the input x and the output y, unless others are given."""
    inputs, outputs = names.get("inputs", [value("x", [1, 4])]), names.get("outputs", [value("y")])
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(weights))
    opsets = [helper.make_opsetid("", opset), *(helper.make_opsetid(each, 1) for each in domains)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9, functions=list(functions))


def relu(x: str = "x", y: str = "y") -> Any:
    return helper.make_node("Relu", [x], [y], name=f"relu_{x}")


def with_weight(*tensors: Any) -> Any:
    return model([helper.make_node("Sum", ["x", *(tensor.name for tensor in tensors)], ["y"])], tensors)


def external(location: str, dims: Any = (4,), **entries: Any) -> Any:
    """A model whose weight is in another file."""
    tensor = TensorProto(name="w", data_type=FLOAT, dims=dims, data_location=TensorProto.EXTERNAL)
    for key, text in {"location": location, **entries}.items():
        tensor.external_data.add(key=key, value=str(text))
    return with_weight(tensor)


def saved_at(path: Path, message: Any) -> Path:
    path.write_bytes(message.SerializeToString())
    return path


# ---- what is read


def test_values_and_attributes() -> None:
    node = helper.make_node("Own", ["x", ""], ["y"], name="n", domain="own", i=1, f=0.5, s="t", l=[1, 2], g=[0.5], u=["a"])
    source = onnx_reader.read(model([node], domains=["own"], inputs=[value("x", [1, "n", None])]))
    assert (source.name, source.opset, source.outputs) == ("g", 17, [Value("y", "float32", None)])
    assert source.inputs == [Value("x", "float32", (1, "n", None))]
    (found,) = source.nodes
    assert (found.op, found.domain, found.name, found.inputs, found.outputs) == ("Own", "own", "n", ("x", ""), ("y",))
    assert found.attributes == {"i": 1, "f": 0.5, "s": "t", "l": [1, 2], "g": [0.5], "u": ["a"]}


@pytest.mark.parametrize("raw", [False, True])
@pytest.mark.parametrize(
    "dtype", ["float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"]
)
def test_types_of_weights(dtype: str, raw: bool) -> None:
    array = np.array([[0, 1, 3], [4, 5, 100]]).astype(dtype)
    kind = helper.np_dtype_to_tensor_dtype(array.dtype)
    data = array.tobytes() if raw else array.reshape(-1).tolist()
    source = onnx_reader.read(with_weight(helper.make_tensor("w", kind, array.shape, data, raw)))
    np.testing.assert_array_equal(source.weights["w"], array, strict=True)


@pytest.mark.parametrize("kind", [TensorProto.FLOAT16, TensorProto.BFLOAT16])
@pytest.mark.parametrize("raw", [False, True])
def test_half_precision_is_widened(kind: int, raw: bool) -> None:
    tensor = helper.make_tensor("w", kind, (3,), [1, -2.5, 0.125])
    if raw:
        data = np.array(tensor.int32_data, np.uint16).tobytes()
        tensor = helper.make_tensor("w", kind, (3,), data, True)
    found = onnx_reader.read(with_weight(tensor)).weights["w"]
    np.testing.assert_array_equal(found, np.array([1, -2.5, 0.125], np.float32), strict=True)


BITS = {"uint4": (21, "uint8", 4), "int4": (22, "int8", 4), "uint2": (25, "uint8", 2), "int2": (26, "int8", 2)}


def of_bits(name: str, *shape: int, seed: int = 0) -> tuple[Array, bytes]:
    """Random integers of a few bits, and the bytes in which a file has them: the first ones in the lowest bits."""
    _, dtype, bits = BITS[name]
    least = -(1 << (bits - 1)) if dtype == "int8" else 0
    array = np.random.default_rng(seed).integers(least, least + (1 << bits), shape).astype(dtype)
    every = np.zeros(-(-array.size * bits // 8) * (8 // bits), np.uint8)
    every[: array.size] = array.reshape(-1).view(np.uint8) & ((1 << bits) - 1)
    parts = every.reshape(-1, 8 // bits) << np.arange(0, 8, bits, dtype=np.uint8)
    return array, np.bitwise_or.reduce(parts, axis=1).astype(np.uint8).tobytes()


def tensor_of_bits(name: str, shape: tuple[int, ...], data: bytes, raw: bool = True) -> Any:
    tensor = TensorProto(name="w", data_type=BITS[name][0], dims=shape)
    if raw:
        tensor.raw_data = data
    else:
        tensor.int32_data.extend(data)
    return tensor


@pytest.mark.parametrize("name", BITS)
@pytest.mark.parametrize("raw", [False, True])
@pytest.mark.parametrize("shape", [(), (1,), (3, 5), (2, 8), (0, 4), (4, 3, 7)])
def test_integers_of_a_few_bits(name: str, raw: bool, shape: tuple[int, ...]) -> None:
    array, data = of_bits(name, *shape)
    found = onnx_reader.read(with_weight(tensor_of_bits(name, shape, data, raw))).weights["w"]
    np.testing.assert_array_equal(found, array, strict=True)
    with pytest.raises(ValueError, match=r"'w' (has|cannot be read)"):
        onnx_reader.read(with_weight(tensor_of_bits(name, shape, data + b"1", raw)))


@pytest.mark.parametrize("name", BITS)
def test_quantized_to_a_few_bits(name: str) -> None:
    """The type of the zero point, known, moved or given, is that of the result; so is that which CastLike is like."""
    number, dtype, bits = BITS[name]
    zero, data = of_bits(name, 1, seed=3)
    least = -(1 << (bits - 1)) if dtype == "int8" else 0
    x = np.linspace(-20, 20, 81, dtype=np.float32)
    expected = np.clip(np.rint(x) + zero[0], least, least + (1 << bits) - 1)
    scale = numpy_helper.from_array(np.ones((), np.float32), "s")
    for moved, given in ((False, False), (True, False), (False, True)):
        nodes = [helper.make_node("Identity", ["w"], ["z"])] if moved else []
        nodes.append(helper.make_node("QuantizeLinear", ["x", "s", "z" if moved else "w"], ["q"]))
        nodes.append(helper.make_node("DequantizeLinear", ["q", "s"], ["y"]))
        inputs = [value("x", [81]), *([helper.make_tensor_value_info("w", number, [1])] if given else [])]
        weights = [scale, *([] if given else [tensor_of_bits(name, (1,), data)])]
        message = model(nodes, weights, inputs=inputs)
        message.opset_import[0].version, message.ir_version = 25, 13
        run = pysimd.load(message).prepare()
        assert np.array_equal(run({"x": x, **({"w": zero} if given else {})})["y"], expected)
    nodes = [helper.make_node("CastLike", ["x", "w"], ["c"]), helper.make_node("Cast", ["c"], ["y"], to=1)]
    message = model(nodes, [tensor_of_bits(name, (1,), data)], inputs=[value("x", [81])])
    message.opset_import[0].version, message.ir_version = 25, 13
    wrapped = ((np.trunc(x).astype(int) - least) & ((1 << bits) - 1)) + least
    assert np.array_equal(pysimd.load(message).prepare()(x)["y"], wrapped)


def test_weights_of_4_bits_in_blocks() -> None:
    """As exporters write a product: DequantizeLinear of blocks along the inputs."""
    weight, data = of_bits("int4", 64, 10)
    scale = np.random.default_rng(1).uniform(0.01, 0.1, (4, 10)).astype(np.float32)
    nodes = [
        helper.make_node("DequantizeLinear", ["w", "s"], ["f"], axis=0, block_size=16),
        helper.make_node("MatMul", ["x", "f"], ["y"]),
    ]
    weights = [tensor_of_bits("int4", weight.shape, data), numpy_helper.from_array(scale, "s")]
    message = model(nodes, weights, inputs=[value("x", [3, 64])])
    message.opset_import[0].version, message.ir_version = 21, 10
    x = np.random.default_rng(2).standard_normal((3, 64)).astype(np.float32)
    found = pysimd.load(message).prepare()(x)["y"]
    np.testing.assert_allclose(found, x @ (weight * scale.repeat(16, axis=0)), 1e-4, 1e-5)


@pytest.mark.parametrize("length", [0, 1, 100, 1023, 1024, 1025, 5000])
def test_paths_bytes_and_messages_give_the_same(length: int, tmp_path: Path) -> None:
    array = np.arange(length, dtype=np.float32)
    nodes = [helper.make_node("Constant", [], ["c"], value=numpy_helper.from_array(array[::-1].copy()))]
    nodes.append(helper.make_node("Sum", ["x", "c", "w", "v"], ["y"]))
    message = model(nodes, [numpy_helper.from_array(array, "w"), numpy_helper.from_array(array + 1, "v")])
    path = saved_at(tmp_path / "m.onnx", message)
    for given in (message, path, str(path), path.read_bytes(), bytearray(path.read_bytes())):
        source = onnx_reader.read(given)
        np.testing.assert_array_equal(source.weights["w"], array)
        np.testing.assert_array_equal(source.weights["v"], array + 1)
        np.testing.assert_array_equal(source.weights["c"], array[::-1])


def test_constants_of_a_file_are_weights() -> None:
    same = numpy_helper.from_array(np.ones(4, np.float32))
    nodes = [helper.make_node("Constant", [], [name], value=same) for name in ("a", "b")]
    nodes.append(helper.make_node("Constant", [], ["n"], value_float=2.0))  # no array
    nodes.append(helper.make_node("Sum", ["x", "a", "b", "n"], ["y"]))
    source = onnx_reader.read(model(nodes))
    assert [node.op for node in source.nodes] == ["Constant", "Sum"] and source.weights["a"] is source.weights["b"]
    for name in ("a", "x"):
        twice = [*nodes, helper.make_node("Constant", [], [name], value=same)]
        with pytest.raises(ValueError, match=f"two tensors have the name '{name}'"):
            onnx_reader.read(model(twice))


def test_large_weights_are_mapped(tmp_path: Path) -> None:
    path = saved_at(tmp_path / "m.onnx", with_weight(numpy_helper.from_array(BIG, "w")))
    array: Any = onnx_reader.read(path).weights["w"]
    while array.base is not None and not isinstance(array, np.memmap):
        array = array.base
    assert isinstance(array, np.memmap)


def test_inputs_that_are_weights_are_no_inputs() -> None:
    weight = numpy_helper.from_array(np.ones(4, np.float32), "w")
    message = with_weight(weight)
    message.graph.input.append(value("w", [4]))
    source = onnx_reader.read(message)
    assert [each.name for each in source.inputs] == ["x"] and list(source.weights) == ["w"]
    assert source.overridable == [Value("w", "float32", (4,))]
    message.ir_version = 3  # in which every weight is an input
    assert not onnx_reader.read(message).overridable


def test_nodes_out_of_order_are_sorted_in_little_time() -> None:
    nodes = [relu(f"t{i}", f"t{i + 1}") for i in range(20000)]
    start = time.process_time()
    source = onnx_reader.read(model(nodes[::-1], inputs=[value("t0")], outputs=[value("t20000")]))
    assert [node.inputs[0] for node in source.nodes] == [f"t{i}" for i in range(20000)]
    assert time.process_time() - start < 10


def test_nodes_wait_for_what_their_subgraphs_read() -> None:
    branch = helper.make_graph([relu("late", "r")], "b", [], [value("r")])
    nodes = [helper.make_node("If", ["x"], ["y"], then_branch=branch, else_branch=branch), relu("x", "late")]
    source = onnx_reader.read(model(nodes))
    assert [node.op for node in source.nodes] == ["Relu", "If"]


def test_functions_are_expanded() -> None:
    def attribute(name: str, of: str) -> Any:
        return onnx.AttributeProto(name=name, ref_attr_name=of, type=onnx.AttributeProto.INT)

    inner = helper.make_graph([helper.make_node("Add", ["t", "a"], ["z"])], "branch", [], [value("z")])
    body = [
        helper.make_node("Softmax", ["a"], ["t"]),
        helper.make_node("If", ["a"], ["b"], then_branch=inner, else_branch=inner),
    ]
    body[0].attribute.append(attribute("axis", "along"))
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    once = helper.make_function("own", "once", ["a"], ["b"], body, opsets, attributes=["along"])
    pair = [
        helper.make_node("once", ["p"], ["q"], domain="own", along=1),
        helper.make_node("once", ["q"], ["r"], domain="own"),
    ]
    twice = helper.make_function("own", "twice", ["p"], ["r"], pair, opsets)
    source = onnx_reader.read(
        model([helper.make_node("twice", ["x"], ["y"], domain="own")], functions=[once, twice], domains=["own"])
    )
    first, branch, second, last = source.nodes
    assert [node.op for node in source.nodes] == ["Softmax", "If", "Softmax", "If"]
    assert first.attributes == {"axis": 1} and second.attributes == {}
    assert first.inputs == ("x",) and last.outputs == ("y",) and second.inputs == branch.outputs
    assert branch.attributes["then_branch"].nodes[0].inputs == (first.outputs[0], "x")
    assert branch.attributes["then_branch"].outputs[0].name == branch.attributes["then_branch"].nodes[0].outputs[0]
    assert len({name for node in source.nodes for name in node.outputs}) == 4


def test_only_what_outputs_need_is_read() -> None:
    """Weights and constants that nothing reads may be of any type, or be missing in a file."""
    labels = helper.make_tensor("labels", TensorProto.STRING, [2], [b"cat", b"dog"])
    lost = external("nowhere").graph.initializer[0]
    nodes = [
        helper.make_node("Constant", [], ["names"], value_strings=["cat", "dog"]),
        helper.make_node("Constant", [], ["more"], value=labels),
        helper.make_node("NonZero", ["x"], ["dead"]),
        helper.make_node("Add", ["dead", "w"], ["deader"]),
        helper.make_node("MaxPool", ["x"], ["y", "indices"]),
    ]
    message = model(nodes, [labels, lost])
    message.graph.sparse_initializer.add().values.name = "thin"
    source = onnx_reader.read(message)
    assert [(node.op, node.outputs) for node in source.nodes] == [("MaxPool", ("y", ""))]
    assert not source.weights


def test_subgraphs_keep_what_they_need() -> None:
    nodes = [relu("late", "r"), relu("other", "dead")]
    branch = helper.make_graph(nodes, "b", [], [value("r"), value("r")], [ONE])
    message = model([helper.make_node("If", ["x"], ["y", "z"], then_branch=branch, else_branch=branch), relu("x", "late")])
    message.graph.node.add().CopyFrom(relu("x", "other"))
    source = onnx_reader.read(message)
    assert [node.outputs for node in source.nodes] == [("late",), ("y", "")]
    inner = source.nodes[1].attributes["then_branch"]
    assert [node.outputs for node in inner.nodes] == [("r",)] and not inner.weights


def test_of_weights_with_one_name_the_last_counts() -> None:
    first, second = (numpy_helper.from_array(np.full(4, n, np.float32), "w") for n in (1, 2))
    message = with_weight(first)
    message.graph.initializer.add().CopyFrom(second)
    np.testing.assert_array_equal(onnx_reader.read(message).weights["w"], [2, 2, 2, 2])


def test_an_output_may_be_listed_twice() -> None:
    x = np.arange(-2, 2, dtype=np.float32).reshape(1, 4)
    outputs = pysimd.load(model([relu()], outputs=[value("y"), value("y")])).prepare()({"x": x})
    np.testing.assert_array_equal(outputs["y"], np.maximum(x, 0))


# ---- weights in other files


def test_external_weights_are_mapped(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    np.arange(8, dtype=np.float32).tofile(tmp_path / "sub" / "data")
    path = saved_at(tmp_path / "m.onnx", external("sub/data", offset=8, length=16))
    np.testing.assert_array_equal(onnx_reader.read(path).weights["w"], [2, 3, 4, 5])
    os.rename(path, tmp_path / "sub" / "m.onnx")
    (tmp_path / "sub" / "link").symlink_to("data")
    path = saved_at(tmp_path / "sub" / "m.onnx", external("link"))
    np.testing.assert_array_equal(onnx_reader.read(path).weights["w"], [0, 1, 2, 3])


def in_a_cache(folder: Path, location: str = "m.data") -> Path:
    """A model and its data as caches keep them: blobs, and names that are links to them."""
    blobs, names = folder / "blobs", folder / "snapshots" / "1" / "onnx"
    blobs.mkdir()
    names.mkdir(parents=True)
    saved_at(blobs / "aa", external(location))
    np.arange(4, dtype=np.float32).tofile(blobs / "bb")
    np.zeros(4, np.float32).tofile(folder / "outside")
    for name, to in (("m.onnx", "blobs/aa"), ("m.data", "blobs/bb"), ("out", "outside")):
        (names / name).symlink_to(f"../../../{to}")
    (blobs / "out").symlink_to("../outside")
    return names / "m.onnx"


def test_models_in_caches_of_links(tmp_path: Path) -> None:
    path = in_a_cache(tmp_path)
    np.testing.assert_array_equal(onnx_reader.read(path).weights["w"], [0, 1, 2, 3])
    (tmp_path / "link").symlink_to(path)  # beside which there are no data
    saved_at(tmp_path / "blobs" / "aa", external("bb"))
    np.testing.assert_array_equal(onnx_reader.read(tmp_path / "link").weights["w"], [0, 1, 2, 3])


@pytest.mark.parametrize("location", ["out", "../../../outside", "../../../blobs/out", "../outside"])
def test_links_lead_to_no_other_folder(location: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"is in the file .*, which is not within the folder of the model"):
        onnx_reader.read(in_a_cache(tmp_path, location))


def test_many_external_weights_need_one_file(tmp_path: Path) -> None:
    np.zeros(4, np.float32).tofile(tmp_path / "data")
    message = external("data")
    for i in range(3000):
        message.graph.initializer.add().CopyFrom(message.graph.initializer[0])
        message.graph.initializer[-1].name = f"w{i}"
        message.graph.node[0].input.append(f"w{i}")
    before = len(os.listdir("/proc/self/fd"))
    source = onnx_reader.read(saved_at(tmp_path / "m.onnx", message))
    assert len(source.weights) == 3001 and len(os.listdir("/proc/self/fd")) < before + 10


@pytest.mark.parametrize(
    ("entries", "reason"),
    [
        ({"location": "../data"}, "which is not within the folder of the model"),
        ({"location": "/etc/passwd"}, "which is not within the folder"),
        ({"location": "out"}, "which is not within the folder"),
        ({"location": ""}, "which is not within the folder"),
        ({"location": "."}, "which is not within the folder"),
        ({"location": "sub"}, "it is not a file"),
        ({"location": "none"}, "cannot be read: .*No such file"),
        ({"location": "a\0b"}, "cannot be read"),
        ({"location": "a" * 5000}, "cannot be read"),
        ({"location": "loop"}, "cannot be read"),
        ({"location": "data", "offset": -4}, "has 16 bytes from -4 on"),
        ({"location": "data", "offset": 4}, "of 16 bytes, expected 16"),
        ({"location": "data", "offset": "x"}, "cannot be read: invalid literal"),
        ({"location": "data", "length": 12}, "has 12 bytes from 0 on"),
        ({"location": "data", "dims": (5,)}, "expected 20"),
        ({"location": "data", "dims": (1 << 40, 1 << 40)}, "of 16 bytes, expected"),
    ],
)
def test_external_weights_that_are_refused(entries: dict[str, Any], reason: str, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    (folder / "sub").mkdir(parents=True)
    for place in (tmp_path, folder):
        np.zeros(4, np.float32).tofile(place / "data")
    (folder / "out").symlink_to("../data")
    (folder / "loop").symlink_to("loop")
    with pytest.raises(ValueError, match=f"the weight 'w' .*{reason}"):
        onnx_reader.read(saved_at(folder / "m.onnx", external(**entries)))


def test_external_weights_need_a_path() -> None:
    with pytest.raises(ValueError, match="the weight 'w' is in another file, 'data': load the model by its path"):
        onnx_reader.read(external("data"))


# ---- what is refused


def changed(**fields: Any) -> Any:
    message = model([relu()])
    for name, given in fields.items():
        setattr(message, name, given)
    return message


def weight_of_type(kind: int, **fields: Any) -> Any:
    return with_weight(TensorProto(name="w", data_type=kind, **fields))


def nested(depth: int) -> Any:
    graph = helper.make_graph([relu()], "g", [], [value("y")])
    for _ in range(depth):
        graph = helper.make_graph([helper.make_node("If", ["x"], ["y"], then_branch=graph)], "g", [], [value("y")])
    graph.input.append(value("x"))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def exploding(count: int, depth: int) -> Any:
    """Functions that call the next one several times."""
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    functions = []
    for i in range(depth):
        calls = [helper.make_node(f"f{i + 1}", ["a"], ["b" if k == 0 else f"c{k}"], domain="own") for k in range(count)]
        functions.append(helper.make_function("own", f"f{i}", ["a"], ["b"], calls, opsets))
    return model([helper.make_node("f0", ["x"], ["y"], domain="own")], functions=functions, domains=["own"])


def recursive() -> Any:
    call = helper.make_node("f", ["a"], ["b"], domain="own")
    function = helper.make_function("own", "f", ["a"], ["b"], [call], [helper.make_opsetid("own", 1)])
    return model([helper.make_node("f", ["x"], ["y"], domain="own")], functions=[function], domains=["own"])


def of_another_version(version: int = 12) -> Any:
    function = helper.make_function("own", "f", ["a"], ["b"], [relu("a", "b")], [helper.make_opsetid("", version)])
    return model([helper.make_node("f", ["x"], ["y"], domain="own")], functions=[function], domains=["own"])


def test_functions_of_a_version_that_means_the_same() -> None:
    """No operator changed between 17 and 19; skl2onnx writes such functions."""
    message = of_another_version(19)
    assert [each.version for each in message.opset_import if each.domain == ""] == [17]
    assert [node.op for node in onnx_reader.read(message).nodes] == ["Relu"]


def test_versions_that_change_a_meaning_are_those_of_converters() -> None:
    """All versions with which converters compare are known to the reader, which mixes versions only between them."""
    files = (ROOT / "pysimd/network/convert").glob("*.py")
    compared = {int(n) for file in files for n in re.findall(r"\bopset (?:<|>=|==) (\d+)", file.read_text())}
    assert len(compared) >= 5
    assert compared <= set(onnx_reader._CHANGES)


def sparse() -> Any:
    message = model([helper.make_node("Add", ["x", "w"], ["y"])])
    message.graph.sparse_initializer.add().values.name = "w"
    return message


def with_sparse_constant() -> Any:
    message = model([helper.make_node("Constant", [], ["c"], name="c"), helper.make_node("Add", ["x", "c"], ["y"])])
    message.graph.node[0].attribute.add(name="sparse_value", type=onnx.AttributeProto.SPARSE_TENSOR)
    return message


REFUSED: list[tuple[Callable[[], Any], str]] = [
    (lambda: b"", "is not an ONNX model"),
    (lambda: b"not a model at all", "is not an ONNX model, or is truncated|there is no graph"),
    (lambda: bytes(1000), "is not an ONNX model, or is truncated"),
    (lambda: onnx.ModelProto(), "is not an ONNX model"),
    (lambda: onnx.ModelProto(ir_version=9), "there is no graph"),
    (lambda: changed(ir_version=1000), "version 1000 of the format, supported are those up to"),
    (lambda: model([relu()], opset=6), "operators of version 6, supported are 7 to"),
    (lambda: model([relu()], opset=1000), "operators of version 1000, supported are 7 to"),
    (lambda: helper.make_model(model([relu()]).graph, opset_imports=[helper.make_opsetid("own", 1)]), "opset_import"),
    (lambda: model([relu("x", "a"), relu("x", "a")]), "two tensors have the name 'a'"),
    (lambda: model([relu("x", "x")]), "two tensors have the name 'x'"),
    (lambda: model([relu()], [TensorProto(data_type=FLOAT)]), "a weight has no name"),
    (lambda: model([relu()], inputs=[value("x"), value("x")]), "two tensors have the name 'x'"),
    (lambda: model([relu()], inputs=[value("x"), value("")]), "an input or an output of the graph has no name"),
    (lambda: model([relu()], outputs=[value("z")]), "no node produces the output 'z'"),
    (lambda: model([relu("w")]), r"the node 'relu_w' \(Relu\) reads 'w', which no node produces"),
    (
        lambda: model([relu("a", "b"), relu("b", "a"), relu()]),
        "reads 'b', which depends on a cycle|reads 'a', which depends",
    ),
    (lambda: model([relu("y", "y")]), "reads 'y', which depends on a cycle of nodes"),
    (lambda: weight_of_type(FLOAT, dims=[2], raw_data=bytes(4)), "'w' has 4 bytes, expected 8"),
    (lambda: weight_of_type(FLOAT, dims=[2], raw_data=bytes(12)), "'w' has 12 bytes, expected 8"),
    (lambda: weight_of_type(FLOAT, dims=[2], float_data=[1]), "'w' has 1 numbers, expected 2"),
    (lambda: weight_of_type(FLOAT, dims=[1], int64_data=[1]), "'w' has 0 numbers, expected 1"),
    (lambda: weight_of_type(FLOAT, dims=[1 << 40, 1 << 40]), "'w' has 0 numbers, expected"),
    (lambda: weight_of_type(FLOAT, dims=[-1, -1], float_data=[1]), "'w' has the shape"),
    (lambda: weight_of_type(TensorProto.STRING, dims=[1], string_data=[b"a"]), "'w' has type 8 of ONNX"),
    (lambda: weight_of_type(TensorProto.COMPLEX64, dims=[0]), "'w' has type 14 of ONNX"),
    (lambda: weight_of_type(0), "'w' has type 0 of ONNX"),
    (lambda: weight_of_type(999), "'w' has type 999 of ONNX"),
    (sparse, "the weight 'w' is sparse, which is not supported"),
    (with_sparse_constant, r"the node 'c' \(Constant\): the attribute 'sparse_value' has type 11"),
    (lambda: nested(26), "graphs are nested more than 24 deep"),
    (lambda: exploding(2, 23), "function calls expand to more than"),
    (recursive, "functions are nested more than 24 deep"),
    (lambda: model([relu()] + [onnx.NodeProto()] * 40_000), "the model has more than 32768 nodes and weights"),
    (lambda: model([relu()], [TensorProto()] * 40_000), "the model has more than 32768 nodes and weights"),
    (lambda: model([relu()], inputs=[onnx.ValueInfoProto(name="x")] * 140_000), "the model has more than 131072 inputs"),
    (
        lambda: model([helper.make_node("Sum", ["x"] * 300_000, ["y"])]),
        "the nodes of the model have more than 262144 inputs",
    ),
    (of_another_version, "the function 'f' has operators of another version than the model"),
]


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_refused(number: int) -> None:
    make, reason = REFUSED[number]
    given, start = make(), time.process_time()
    with pytest.raises(ValueError, match=reason):
        onnx_reader.read(given)
    assert time.process_time() - start < 30


def test_every_cut_is_refused(tmp_path: Path) -> None:
    """A cut between two fields of the whole file leaves a model without its last ones."""
    data = with_weight(numpy_helper.from_array(BIG, "w")).SerializeToString()
    for n in (*range(300), *range(len(data) - 300, len(data))):
        with pytest.raises(ValueError, match=r"is not an ONNX model|there is no graph|opset_import"):
            onnx_reader.read(data[:n])


def test_what_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        onnx_reader.read(tmp_path / "none")
    with pytest.raises(IsADirectoryError):
        onnx_reader.read(tmp_path)
    with pytest.raises(ValueError, match="is not a model: it is empty or not a file"):
        onnx_reader.read("/dev/zero")
    with pytest.raises(TypeError, match="model is a int, expected a path"):
        onnx_reader.read(1)


def test_a_fifo_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for read in (onnx_reader.read, pysimd.load):
        with pytest.raises(ValueError, match="is not a model: it is empty or not a file"):
            read(tmp_path / "fifo")


def test_many_fields_of_few_bytes_are_refused_before_they_are_read() -> None:
    message = model([relu()], [TensorProto()] * 600_000)
    with pytest.raises(ValueError, match="the model has more than 1048576 fields"):
        onnx_reader.read(message.SerializeToString())


def test_calls_of_functions_that_explode_are_refused_in_little_time() -> None:
    given, start = exploding(2, 23), time.process_time()
    with pytest.raises(ValueError, match="function calls expand to more than"):
        onnx_reader.read(given)
    assert time.process_time() - start < 5  # on a busy machine; it was 10 times as long


def test_a_name_that_is_no_text_is_refused() -> None:
    data = model([relu("x", "abcd"), relu("abcd")]).SerializeToString().replace(b"abcd", b"\xff\xfe\xfd\xfc")
    with pytest.raises(ValueError, match="is not UTF-8"):
        onnx_reader.read(data)


def test_fuzzed_files() -> None:
    assert network_fuzz.run_onnx(3000) > 0
