"""Inputs that become constants: branches that are taken, sizes that become known; against ONNX Runtime with these values."""

from __future__ import annotations

import pickle
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pysimd
from network.random_models import random_model
from network.test_models import _built
from network.test_open_program import compare
from network.test_random import difference, random_inputs
from pysimd.__main__ import main
from pysimd.network import OpenRunner, saved
from pysimd.network.build import Builder
from pysimd.network.convert import UnsupportedModel, graph_of
from pysimd.network.source import Source
from support import Array

onnx = pytest.importorskip("onnx", reason="ONNX files need the package onnx")
from onnx.reference import ReferenceEvaluator  # noqa: E402

helper, numpy_helper = onnx.helper, onnx.numpy_helper
FLOAT, INT32, INT64, BOOL, HALF = 1, 6, 7, 9, 10


def node(op: str, *inputs: str, gives: str = "y", **attributes: Any) -> Any:
    return helper.make_node(op, list(inputs), gives.split(), **attributes)


def floats(*shape: int, seed: int = 1) -> Array:
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32)


def value(name: str, kind: int = FLOAT, dims: Any = None) -> Any:
    return helper.make_tensor_value_info(name, kind, dims)


def model(nodes: Any, inputs: Any, outputs: Any = ("y",), **weights: Any) -> Any:
    tensors = [numpy_helper.from_array(np.asarray(array), name) for name, array in weights.items()]
    outputs = [value(each) if isinstance(each, str) else each for each in outputs]
    graph = helper.make_graph(nodes, "net", inputs, outputs, tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def expected(message: Any, inputs: Any) -> dict[str, Array]:
    """By ONNX Runtime; without it by ONNX, node by node."""
    names = [each.name for each in message.graph.output]
    try:
        import onnxruntime
    except ImportError:
        try:
            return dict(zip(names, ReferenceEvaluator(message).run(None, inputs)))
        except Exception as error:  # of any kind: it does not have all of Loop, Scan and NonMaxSuppression
            pytest.skip(f"onnxruntime is not installed, and onnx does not compute the expected outputs: {error!r:.80}")
    session = onnxruntime.InferenceSession(message.SerializeToString(), providers=["CPUExecutionProvider"])
    return dict(zip(names, session.run(names, inputs)))


# ---- a detector of voices: a branch for each rate of samples, and a state


def branch(name: str, size: int, inner: Any = None) -> Any:
    """Windows of a signal with the state added; its weights are its own."""
    weights = {f"{name}_w": floats(8, 1, size, seed=size), f"{name}_b": floats(8, seed=size + 1)}
    nodes = [
        helper.make_node("Conv", ["channel", f"{name}_w", f"{name}_b"], [f"{name}_c"], strides=[size]),
        helper.make_node("ReduceMax", [f"{name}_c"], [f"{name}_m"], axes=[2], keepdims=0),
        inner or helper.make_node("Add", [f"{name}_m", "state"], [f"{name}_s"]),
        helper.make_node("Sigmoid", [f"{name}_s"], [f"{name}_y"]),
    ]
    tensors = [numpy_helper.from_array(array, each) for each, array in weights.items()]
    return helper.make_graph(nodes, name, [], [value(f"{name}_y"), value(f"{name}_s")], tensors)


def voices() -> Any:
    """The branch for 8000 has another If, on whether the rate is larger than 1000."""
    small = [
        helper.make_graph([helper.make_node(op, ["low_m", "state"], [op])], op, [], [value(op)]) for op in ("Sub", "Mul")
    ]
    inner = node("If", "is_more", gives="low_s", then_branch=small[0], else_branch=small[1])
    nodes = [
        node("Equal", "sr", "high", gives="is_high"),
        node("Greater", "sr", "least", gives="is_more"),
        node("Unsqueeze", "x", "one", gives="channel"),
        helper.make_node(
            "If", ["is_high"], ["y", "next"], "rate", then_branch=branch("high", 16), else_branch=branch("low", 8, inner)
        ),
    ]
    inputs = [value("x", FLOAT, ["N", "length"]), value("state", FLOAT, ["N", 8]), value("sr", INT64, [])]
    return model(nodes, inputs, ("y", "next"), high=np.int64(16000), least=np.int64(1000), one=np.array([1]))


def signals(n: int = 2, length: int = 96) -> dict[str, Array]:
    return {"x": floats(n, length), "state": floats(n, 8, seed=2)}


def shapes_of(inputs: dict[str, Array]) -> dict[str, Any]:
    return {name: array.shape for name, array in inputs.items()}


@pytest.mark.parametrize("rate", [16000, 8000, 500])
def test_an_if_takes_one_branch(rate: int, tmp_path: Path) -> None:
    """Fixed, of open sizes, called, from a saved file, pickled: the same bits."""
    loaded, given = pysimd.load(voices()), signals()
    run = loaded.prepare(shapes_of(given), values={"sr": rate})
    found = run(given)
    for name, array in expected(voices(), {**given, "sr": np.array(rate)}).items():
        np.testing.assert_allclose(found[name], array, rtol=1e-5, atol=1e-6)
    assert list(run.inputs) == ["x", "state"]
    of_rate = loaded.with_values({"sr": rate})
    of_rate.save(tmp_path / "rate.simdnet")
    opened = loaded.prepare(values={"sr": rate})
    assert isinstance(opened, OpenRunner)
    for other in (opened, of_rate, pickle.loads(pickle.dumps(of_rate)), pysimd.load(tmp_path / "rate.simdnet")):
        for name, array in other(given).items():
            np.testing.assert_array_equal(array, found[name])
    more = signals(3, 200)
    assert opened(more)["y"].shape == (3, 8) and len(opened.plans) == 1
    assert list(loaded.inputs) == ["x", "state", "sr"] and not loaded.values


def test_a_program_in_c_has_the_value(tmp_path: Path) -> None:
    loaded, given = pysimd.load(voices()), signals()
    files = loaded.compile(tmp_path / "c", shapes_of(given), values={"sr": 8000}, name="net")
    assert len(files) == 5
    for name, array in given.items():
        array.tofile(tmp_path / "c" / f"{name}.raw")
    program = _built(tmp_path / "c", "net")
    subprocess.run([program, "net.bin", "x.raw", "state.raw"], cwd=tmp_path / "c", capture_output=True, check=True)
    run = loaded.prepare(shapes_of(given), values={"sr": 8000})
    np.testing.assert_array_equal(np.fromfile(tmp_path / "c" / "0.out", np.float32), run(given)["y"].ravel())


def test_a_program_in_c_of_open_sizes_has_the_value(tmp_path: Path) -> None:
    shapes: Any = {"x": ("N", "length"), "state": ("N", 8)}
    loaded = pysimd.load(voices())
    compare(loaded.with_values({"sr": 8000}), shapes, [(3, 96), (2, 200)], tmp_path)
    files = loaded.compile(tmp_path / "again", shapes, values={"sr": 8000}, sizes={"N": 3, "length": 99}, name="net")
    assert files[0].read_bytes() == (tmp_path / "net.c").read_bytes()


def test_preparations_of_several_values_share_weights() -> None:
    """A factor behind a function, which the weights cannot take."""
    nodes = [node("MatMul", "x", "w", gives="p"), node("Sigmoid", "p", gives="s"), node("Mul", "s", "k")]
    inputs = [value("x", FLOAT, [4, 64]), value("k", FLOAT, [])]
    loaded = pysimd.load(model(nodes, inputs, w=floats(64, 96)))
    plain, x = loaded.prepare(), floats(4, 64)
    assert plain.weight_bytes >= 64 * 96 * 4
    for k in (2, -0.5):
        again = loaded.prepare(values={"k": k})
        assert again.weight_bytes < plain.weight_bytes / 10
        np.testing.assert_allclose(again(x)["y"], plain({"x": x, "k": np.float32(k)})["y"], rtol=1e-5, atol=1e-6)


# ---- sizes that are inputs


ONE = numpy_helper.from_array(np.array([1.5], np.float32))
SIZES = {
    "ConstantOfShape": ([node("ConstantOfShape", "n", gives="c", value=ONE), node("Add", "x", "c")], [1, 4, 1]),
    "Expand": ([node("Expand", "x", "n")], [2, 3, 4, 5]),
    "Tile": ([node("Tile", "x", "n")], [1, 2, 3]),
    "Reshape": ([node("Reshape", "x", "n")], [2, -1, 2]),
    "Slice": ([node("Slice", "x", "zero", "n", "one")], [2]),
    "TopK": ([node("TopK", "x", "n", gives="y z")], [3]),
    "Pad": ([node("Pad", "x", "n")], [0, 1, 0, 2, 0, 1]),
    "Unsqueeze": ([node("Unsqueeze", "x", "n")], [0, 4]),
    "ReduceSum": ([node("ReduceSum", "x", "n")], [1, 2]),
    "Resize": ([node("Unsqueeze", "x", "zero", gives="i"), node("Resize", "i", "", "", "n", mode="linear")], [1, 3, 8, 10]),
    "Split": ([node("Split", "x", "n", gives="y z", axis=2)], [1, 4]),
    "Range": ([node("Range", "o", "n", "t", gives="r"), node("Cast", "r", gives="f", to=1), node("Add", "x", "f")], 5),
    "NonZero": ([node("NonZero", "n", gives="i"), node("Squeeze", "i", "zero", gives="j"), node("Gather", "x", "j", axis=2)],
                [3, 0, 1]),
    "Compress": ([node("Cast", "n", gives="c", to=9), node("Compress", "x", "c", axis=-2)], [1, 0, 1, 1]),
    "Compress all": ([node("Cast", "n", gives="c", to=9), node("Compress", "x", "c")], [0, 1, 0, 0, 1, 1, 0]),
    "Compress none": ([node("Cast", "n", gives="c", to=9), node("Compress", "x", "c", axis=0)], [0, 0]),
    "computed": ([node("Mul", "n", "n", gives="m"), node("Concat", "m", "one", "one", axis=0, gives="s"),
                  node("Tile", "x", "s")], [2]),
}  # fmt: skip


@pytest.mark.parametrize("name", SIZES)
def test_sizes_become_known(name: str) -> None:
    """Without a value, each run computes them; one plan needs it, and a message names the input and how to give it."""
    nodes, n = SIZES[name]
    x = floats(1 if name == "Expand" else 3, 4, 5)
    inputs = [value("x", FLOAT, x.shape), value("n", INT64, np.array(n).shape)]
    numbers = {"one": np.array([1]), "zero": np.array([0]), "o": np.int64(0), "t": np.int64(1)}
    outputs = [value(each, INT64 if (name, each) == ("TopK", "z") else FLOAT) for each in nodes[-1].output]
    message = model(nodes, inputs, outputs, **numbers)
    loaded = pysimd.load(message)
    with pytest.raises(ValueError, match=re.escape("prepare(values={'n': ...}) makes constants")) as error:
        graph_of(loaded.source, loaded.shapes())
    assert ", from 'n' (" in str(error.value) and "--value n=..." in str(error.value)
    known, at_run_time = loaded.prepare(values={"n": n})({"x": x}), loaded({"x": x, "n": np.array(n)})
    for each, array in expected(message, {"x": x, "n": np.array(n)}).items():
        np.testing.assert_allclose(known[each], array, rtol=1e-5, atol=1e-6, strict=True)
        np.testing.assert_array_equal(at_run_time[each], known[each], strict=True)


def test_the_inputs_that_decide_are_named() -> None:
    """If they are few and small: nobody gives the numbers of an image, or of each of many inputs."""

    def refusal(inputs: list[Any], *nodes: Any) -> str:
        loaded = pysimd.load(model(nodes, inputs))
        with pytest.raises(UnsupportedModel) as error:
            graph_of(loaded.source, loaded.shapes())
        return str(error.value).split("\n")[1]

    pair = [value("a", INT64, [1]), value("b", INT64, [1]), value("x", FLOAT, [1, 3, 8, 8])]
    total, many = node("Add", "a", "b", gives="n"), [value(f"i{i}", INT64, [1]) for i in range(5)]
    assert refusal(pair, total, node("Tile", "x", "n")).endswith("is computed at run time, from 'a' and 'b' ('y')")
    assert refusal([*pair], node("NonZero", "x")).endswith("on the values of its inputs ('y')")
    largest = [
        node("ReduceMax", "x", gives="m", keepdims=0),
        node("Cast", "m", gives="k", to=7),
        node("Add", "k", "a", gives="n"),
    ]
    assert refusal(pair, *largest, node("ConstantOfShape", "n")).endswith("which are computed at run time ('y')")
    assert refusal(many, node("Sum", *(f"i{i}" for i in range(5)), gives="n"), node("ConstantOfShape", "n")).endswith(
        "which are computed at run time ('y')"
    )
    assert "loops are not supported ('y')" in refusal(
        pair,
        helper.make_node(
            "Scan", ["x"], ["y"], num_scan_inputs=1, body=helper.make_graph([], "b", [value("x")], [value("x")])
        ),
    )


def test_the_inputs_of_a_tensor() -> None:
    net = Builder("net")
    a, b, c = (net.input((1, 2), name=name) for name in "abc")
    two, three = net.sum(b, a), net.sum(net.sum(a, c), net.relu(b))
    found = net.inputs_of([a, two, three, net.relu(three), net.constant(1)], 2)
    assert list(found.values()) == [("a",), ("a", "b"), (), (), ()]


def test_random_models_with_constants() -> None:
    """The first input, the last, all of them: what is folded has the values that are computed at run time."""
    for seed in (*range(40), 123, 256):
        message = random_model(seed)
        inputs = random_inputs(message, seed)
        loaded = pysimd.load(message)
        right = loaded(inputs)
        for names in ([min(inputs)], [max(inputs)], [*inputs]):
            run = loaded.prepare(values={name: inputs[name] for name in names})
            found = run({name: array for name, array in inputs.items() if name not in names})
            for name, array in right.items():
                assert difference(found[name], array) <= 2e-4, f"seed {seed}, {names}: {name}"


# ---- values that are given


@pytest.mark.parametrize("kind", [FLOAT, INT32, INT64, BOOL, HALF])
@pytest.mark.parametrize("form", ["number", "list", "array", "one", "scalar"])
def test_values_in_the_type_of_the_file(kind: int, form: str) -> None:
    dtype = helper.tensor_dtype_to_np_dtype(kind)
    dims = {"number": [], "scalar": [], "one": [1, "n"]}.get(form, [2])
    given: Any = {"number": 1, "one": 1, "list": [0, 1], "array": np.array([0, 1], dtype), "scalar": np.int16(1)}[form]
    message = model(
        [node("Cast", "k", gives="c", to=1), node("Add", "x", "c")], [value("x", FLOAT, [2]), value("k", kind, dims)]
    )
    found = pysimd.load(message).prepare(values={"k": given})({"x": np.zeros(2, np.float32)})["y"]
    assert found.ravel().tolist() == ([0, 1] if form in ("list", "array") else [1, 1])
    assert found.ndim == (2 if form == "one" else 1)


def test_a_value_is_a_copy() -> None:
    message = model([node("Add", "x", "k")], [value("x", FLOAT, [2]), value("k", FLOAT, [2])])
    k = np.ones((4,), np.float32)[::2]
    fixed = pysimd.load(message).with_values({"k": k})
    k[:] = 5
    assert fixed(np.zeros(2, np.float32))["y"].tolist() == [1, 1]
    with pytest.raises(ValueError, match="read-only"):
        fixed.values["k"][0] = 2


REFUSED: list[tuple[Any, type[Exception], str]] = [
    ({"k": 1}, ValueError, "'k' is not an input, expected 'x', 'sr', 'flag', 'pair', 'text'"),
    ({"w": 1, "sr": 2}, ValueError, "'w' is not an input, expected 'x', "),
    (16000, ValueError, "the value is not given by name, and the model has 5 inputs"),
    ({"sr": 0.5}, ValueError, "the value of sr is 0.5, which is not within int64"),
    ({"sr": float("nan")}, ValueError, "the value of sr is nan, which is not within int64"),
    ({"sr": 2**63}, ValueError, "the value of sr is 9223372036854775808, which is not within int64"),
    ({"sr": 10**30}, TypeError, "the value of sr is 1000000000000000000000000000000, expected numbers"),
    ({"sr": "16000"}, TypeError, "the value of sr is '16000', expected numbers"),
    ({"sr": None}, TypeError, "the value of sr is None, expected numbers"),
    ({"sr": 1j}, TypeError, "the value of sr is 1j, expected numbers"),
    ({"sr": np.float32(0.5)}, ValueError, "which is not within int64"),
    ({"sr": np.array(1, np.int32)}, TypeError, "sr has dtype int32, expected int64: use sr.astype(np.int64)"),
    ({"sr": [1]}, ValueError, "the shape of sr is given as (1,), expected that of the file: sr: int64 ()"),
    ({"pair": 1}, ValueError, "the shape of pair is given as (), expected that of the file: pair: float32 (2, n)"),
    ({"pair": [1, 2]}, ValueError, "the shape of pair is given as (2,), expected that of the file"),
    ({"pair": [[1], [2, 3]]}, TypeError, "the value of pair is [[1], [2, 3]], expected numbers"),
    ({"pair": [[1e300], [2]]}, ValueError, "the value of pair is [[1e+300], [2]], which is not within float32"),
    ({"flag": 2}, ValueError, "the value of flag is 2, which is not within bool"),
    ({"text": 1}, TypeError, "text has the type type 8 of ONNX, of which no value can be given"),
]


@pytest.mark.parametrize(("values", "error", "sentence"), REFUSED)
def test_values_that_do_not_fit(values: Any, error: type[Exception], sentence: str, tmp_path: Path) -> None:
    """Nothing is half done: the model is as before, and no program is written."""
    kinds = {"x": (FLOAT, [2]), "sr": (INT64, []), "flag": (BOOL, []), "pair": (FLOAT, [2, "n"]), "text": (8, [])}
    message = model([node("Relu", "x")], [value(name, *each) for name, each in kinds.items()])
    loaded = pysimd.load(message)
    for call in (loaded.with_values, lambda v: loaded.prepare(values=v), lambda v: loaded.compile(tmp_path / "c", values=v)):
        with pytest.raises(error, match=re.escape(sentence)):
            call(values)
    assert list(loaded.inputs) == list(kinds) and not loaded.values and not (tmp_path / "c").exists()


def test_a_value_is_given_once() -> None:
    loaded = pysimd.load(voices()).with_values({"sr": 16000})
    for call in (
        lambda: loaded.with_values({"sr": 8000}),
        lambda: loaded.prepare({"x": (1, 96), "state": (1, 8), "sr": ()}),
    ):
        with pytest.raises(ValueError, match="'sr' is a constant already, expected 'x', 'state'"):
            call()
    with pytest.raises(ValueError, match="'sr' is not an input, expected 'x', 'state'"):
        loaded({**signals(), "sr": np.array(1)})
    state = loaded.with_values({"state": signals()["state"]})
    assert list(state.values) == ["sr", "state"]
    np.testing.assert_array_equal(state(signals()["x"])["y"], loaded(signals())["y"])


def test_values_of_weights_of_outputs_and_of_all_inputs(tmp_path: Path) -> None:
    """A weight that can be given; an input that is an output, and that nothing reads; a model that has no input left."""
    inputs = [value("x", FLOAT, [2]), value("w", FLOAT, ["n"]), value("idle", INT64, [1])]
    message = model([node("Mul", "x", "w")], inputs, (value("x", FLOAT, [2]), value("y")), w=np.ones(2, np.float32))
    loaded = pysimd.load(message)
    given = {"x": [1.0, 2.0], "w": np.array([3, 4], np.float32), "idle": 7}
    fixed = loaded.with_values(given)
    assert not fixed.inputs and not fixed.overridable and list(loaded.overridable) == ["w"]
    for each in (fixed, loaded.with_values({"w": given["w"]}).with_values({"x": given["x"], "idle": [7]})):
        found = each({})
        assert found["x"].tolist() == [1, 2] and found["y"].tolist() == [3, 8]
    fixed.save(tmp_path / "m.simdnet")
    again = pysimd.load(tmp_path / "m.simdnet")
    assert again({})["y"].tolist() == [3, 8] and list(again.values) == ["x", "w"]  # what nothing reads is not needed
    assert pysimd.load(message).prepare(values={"idle": 3})(np.ones(2, np.float32))["y"].tolist() == [1, 1]


def test_channels_last() -> None:
    """A value has the layout of the file, whatever that of the inputs."""
    inputs = [value("x", FLOAT, [1, 3, 4, 5]), value("k", FLOAT, [1, 3, 4, 5])]
    loaded, k, x = pysimd.load(model([node("Add", "x", "k")], inputs)), floats(1, 3, 4, 5), floats(1, 3, 4, 5, seed=2)
    found = loaded.prepare(layout="nhwc", values={"k": k})(x.transpose(0, 2, 3, 1))["y"]
    np.testing.assert_array_equal(found, (x + k).transpose(0, 2, 3, 1))


# ---- what is shown, and commands


def test_what_a_model_tells_of_its_values() -> None:
    text = str(pysimd.load(voices()).with_values({"sr": 16000}))
    assert "  value   sr: int64 (), 16000\n" in text and "  input   sr" not in text and "all operators are supported" in text
    assert "all operators are supported" in str(pysimd.load(voices()))


def test_support_is_told_of_signals_with_large_windows() -> None:
    """Which do not fit into the 64 samples that are tried first."""
    message = model([node("Conv", "x", "w")], [value("x", FLOAT, ["n", 1, "length"])], w=floats(4, 1, 256))
    assert "all operators are supported" in str(pysimd.load(message))


def test_saved_names_of_values_that_are_no_weights(tmp_path: Path) -> None:
    """Are left out, as weights are that nothing reads."""
    source = Source("s", 17, [], [], [], {}, values=["a", "b"])
    saved.write(source, tmp_path / "m")
    assert list(saved.read(tmp_path / "m").values) == []


def test_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, saved_file = tmp_path / "voices.onnx", tmp_path / "voices.simdnet"
    onnx.save(voices(), file)
    np.save(tmp_path / "sr.npy", np.array(8000))
    shapes = ["--shape", "x:2,96", "--shape", "state:2,8"]
    assert main(["show", str(file), "--value", "sr=16000"]) == 0
    assert "value   sr: int64 (), 16000" in capsys.readouterr().out
    assert main(["run", str(file), *shapes, "--value", f"sr={tmp_path / 'sr.npy'}", "--random", "--report"]) == 0
    assert "y: float32 (2, 8)" in capsys.readouterr().out
    assert main(["compile", str(file), *shapes, "--value", "sr=8000", "-o", str(tmp_path / "c")]) == 0
    assert main(["save", str(file), "--value", "sr=8000", "-o", str(saved_file)]) == 0
    assert main(["run", str(saved_file), *shapes]) == 0
    capsys.readouterr()
    for text, sentence in (
        ("sr=[1,2]", "the shape of sr is given as (2,), expected that of the file: sr: int64 ()"),
        ("rate=1", "'rate' is not an input, expected 'x', 'state', 'sr'"),
        (f"sr={tmp_path / 'none.npy'}", "No such file or directory"),
    ):
        capsys.readouterr()
        assert main(["run", str(file), *shapes, "--value", text]) == 1
        assert sentence in capsys.readouterr().err
    assert main(["run", str(file), *shapes, "--value", "sr=8000."]) == 0
    for text in ("sr", "sr=", "=1", "sr=a", 'sr="a"', "sr=null", "sr={}", "sr=" + "[" * 100000):
        with pytest.raises(SystemExit):
            main(["run", str(file), "--value", text])
        assert "is not a name and value, expected NAME=1, NAME=[1,2] or NAME=FILE.npy" in capsys.readouterr().err


def test_save_does_not_replace_the_onnx_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "voices.onnx"
    onnx.save(voices(), file)
    before = file.read_bytes()
    assert main(["save", str(file), "-o", str(file)]) == 1
    assert "is the ONNX model itself" in capsys.readouterr().err
    assert file.read_bytes() == before
    assert main(["save", str(file), "-o", str(tmp_path / "v.simdnet")]) == 0
    assert main(["save", str(tmp_path / "v.simdnet"), "-o", str(tmp_path / "v.simdnet")]) == 0
    assert main(["quantize", str(tmp_path / "v.simdnet"), "--mode", "dynamic", "-o", str(tmp_path / "q.onnx")]) == 1
    assert "is a .simdnet file, expected an ONNX model" in capsys.readouterr().err


def test_a_check_gives_the_values_to_onnx_runtime(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In the layout of the file; those of weights too."""
    pytest.importorskip("onnxruntime", reason="onnxruntime, which is compared with, is not installed")
    inputs = [value("x", FLOAT, [1, 2, 3, 4]), value("k", FLOAT, [1, 2, 3, 4]), value("w", FLOAT, [1]), value("s", HALF, [])]
    nodes = [node("Add", "x", "k", gives="a"), node("Cast", "s", gives="t", to=1), node("Mul", "a", "w", gives="b")]
    onnx.save(model([*nodes, node("Mul", "b", "t")], inputs, w=np.ones(1, np.float32)), tmp_path / "m.onnx")
    np.save(tmp_path / "k.npy", floats(1, 2, 3, 4))
    options = ["--value", f"k={tmp_path / 'k.npy'}", "--value", "w=3", "--value", "s=0.5", "--layout", "nhwc"]
    assert main(["run", str(tmp_path / "m.onnx"), "--random", "--check", "onnxruntime", *options]) == 0
    assert "y: differs from onnxruntime by" in capsys.readouterr().out
