"""Models from files: loading, preparing, running, saving, reports, the commands, and programs in C."""

from __future__ import annotations

import os
import pickle
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pysimd
from pysimd.__main__ import main
from pysimd.network import commands
from pysimd.network.binding import Bound
from pysimd.network.convert import UnsupportedModel
from pysimd.network.graph import Type
from pysimd.network.records import replace
from pysimd.network.reports.report import Report, multiply_adds
from support import ROOT, Array

onnx = pytest.importorskip("onnx", reason="onnx, which makes the files, is not installed")
helper, numpy_helper = onnx.helper, onnx.numpy_helper
FLOAT = 1


def _weights(*shape: int, seed: int = 1) -> Array:
    return np.random.default_rng(seed).uniform(-0.5, 0.5, shape).astype(np.float32)


def _model(nodes: list[Any], weights: dict[str, Array], shape: tuple[Any, ...], opset: int = 17) -> Any:
    """A model with the input "x" and the output "y"."""
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("x", FLOAT, shape)],
        [helper.make_tensor_value_info("y", FLOAT, None)],
        [numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)


def _classifier() -> Any:
    """Convolutions with an addition, a mean, a product, and Softmax; height and width are open."""
    weights = {"w": _weights(8, 3, 3, 3), "b": _weights(8), "v": _weights(8, 8, 1, 1), "m": _weights(8, 5, seed=2)}
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], "first", pads=[1, 1, 1, 1], strides=[2, 2]),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("Conv", ["r", "v"], ["d"], "second"),
        helper.make_node("Add", ["r", "d"], ["a"], "sum"),
        helper.make_node("GlobalAveragePool", ["a"], ["g"]),
        helper.make_node("Flatten", ["g"], ["f"]),
        helper.make_node("MatMul", ["f", "m"], ["l"], "product"),
        helper.make_node("Softmax", ["l"], ["y"]),
    ]
    return _model(nodes, weights, ("N", 3, "H", "W"))


def _expected(x: Array) -> Array:
    """The classifier in float64."""
    weights = {tensor.name: numpy_helper.to_array(tensor).astype(np.float64) for tensor in _classifier().graph.initializer}
    padded = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))[:, :, ::2, ::2]
    r = np.maximum(np.einsum("nchwyx,ocyx->nohw", windows, weights["w"]) + weights["b"][:, None, None], 0)
    a = r + np.einsum("nchw,oc->nohw", r, weights["v"][:, :, 0, 0])
    sums = a.mean((2, 3)) @ weights["m"]
    powers = np.exp(sums - sums.max(1, keepdims=True))
    return np.asarray(powers / powers.sum(1, keepdims=True))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    onnx.save(_classifier(), tmp_path / "net.onnx")
    return tmp_path / "net.onnx"


def _image(*shape: int) -> Array:
    return np.random.default_rng(3).random(shape, np.float32)


@pytest.mark.parametrize("shape", [(1, 3, 16, 16), (1, 3, 15, 20), (3, 3, 8, 8)])
def test_answers(path: Path, shape: tuple[int, ...], isa: str) -> None:
    x = _image(*shape)
    run = pysimd.load(path).prepare({"x": shape})
    np.testing.assert_allclose(run({"x": x})["y"], _expected(x), rtol=1e-5)
    run.inputs["x"][...] = x
    views = run()
    assert views["y"] is run.outputs["y"] and np.array_equal(views["y"], run({"x": x})["y"])
    last = pysimd.load(path).prepare({"x": shape}, layout="nhwc")
    channels_last = np.ascontiguousarray(x.transpose(0, 2, 3, 1))
    np.testing.assert_array_equal(last({"x": channels_last})["y"], views["y"])


def test_forms_of_a_model(path: Path, tmp_path: Path) -> None:
    """A path, bytes, the message of protobuf, and a file of our own all give the same bits; so does a pickled model."""
    x = _image(1, 3, 16, 16)
    model = pysimd.load(path)
    model.save(tmp_path / "net.simdnet")
    others = [str(path), path.read_bytes(), _classifier(), tmp_path / "net.simdnet"]
    expected = model.prepare({"x": x.shape})({"x": x})["y"]
    for other in others:
        np.testing.assert_array_equal(pysimd.load(other).prepare({"x": x.shape})({"x": x})["y"], expected)
    for loaded in (model, pysimd.load(tmp_path / "net.simdnet")):
        again = pickle.loads(pickle.dumps(loaded))
        np.testing.assert_array_equal(again.prepare({"x": x.shape})({"x": x})["y"], expected)


def test_limits_of_what_is_kept_are_part_of_a_pickle(path: Path) -> None:
    model = pysimd.load(path)
    model.most_shapes, model.most_bytes = 3, 1000
    again = pickle.loads(pickle.dumps(model))
    assert (again.most_shapes, again.most_bytes) == (3, 1000)


def test_preparations_share_weights(path: Path) -> None:
    model = pysimd.load(path)
    first, second = (model.prepare({"x": (n, 3, 16, 16)}) for n in (1, 2))
    alone = pysimd.load(path).prepare({"x": (2, 3, 16, 16)})
    assert first.weight_bytes > 0 and second.weight_bytes < alone.weight_bytes
    x = _image(2, 3, 16, 16)
    np.testing.assert_array_equal(second({"x": x})["y"], alone({"x": x})["y"])


def test_inputs_of_shapes_that_are_known(path: Path) -> None:
    """What a call with the same shapes has checked is not checked again; the rest is."""
    model, x = pysimd.load(path), _image(1, 3, 16, 20)
    last = model.prepare({"x": (1, 3, "H", "W")}, layout="nhwc")
    expected = model({"x": x})["y"]
    np.testing.assert_array_equal(model({"x": x})["y"], expected)
    with pytest.raises(TypeError, match="x is a list, expected a"):
        model({"x": x.tolist()})
    with pytest.raises(TypeError, match="x has dtype float64, expected float32"):
        model({"x": x.astype(np.float64)})
    with pytest.raises(ValueError, match="'z' is not an input"):
        model({"x": x, "z": x})
    last({"x": np.ascontiguousarray(x.transpose(0, 2, 3, 1))})
    with pytest.raises(ValueError, match=r"^the shape of x is given as \(1, 20, 3, 16\), expected"):
        last({"x": x})


def test_progress(path: Path) -> None:
    """The parts of the weights that are packed are told, in order, up to all."""
    told: list[float] = []
    pysimd.load(path).prepare({"x": (1, 3, 20, 21)}, progress=told.append)
    assert len(told) > 1 and told == sorted(told) and told[0] >= 0 and told[-1] == 1


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of memory is read from /proc")
@pytest.mark.parametrize(("suffix", "transposed"), [("onnx", 0), ("onnx", 1), ("simdnet", 0)])
def test_peak_of_memory(suffix: str, transposed: int, tmp_path: Path) -> None:
    """Loading and preparing take little more than the packed weights: those of the file are read in parts."""
    count, size = 8, 2048
    weights = {f"w{i}": _weights(size, size, seed=i) for i in range(count)}
    names = ["x", *(f"t{i}" for i in range(1, count)), "y"]
    nodes = [helper.make_node("Gemm", [names[i], f"w{i}"], [names[i + 1]], transB=transposed) for i in range(count)]
    model, file = _model(nodes, weights, (1, size)), tmp_path / f"large.{suffix}"
    onnx.save(model, file) if suffix == "onnx" else pysimd.load(model).save(file)
    program = """if True:
        import pathlib, sys
        import pysimd
        peak = lambda: int(pathlib.Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])
        before = peak()
        runner = pysimd.load(sys.argv[1]).prepare()
        print((peak() - before) * 1024)"""
    result = subprocess.run([sys.executable, "-c", program, file], capture_output=True, text=True, check=True)
    assert int(result.stdout) < 1.5 * count * size * size * 4


def test_what_a_model_tells(path: Path) -> None:
    model = pysimd.load(path)
    assert list(model.inputs) == ["x"] and model.inputs["x"].dims == ("N", 3, "H", "W")
    text = str(model)
    assert "net: 8 nodes" in text and "x: float32 (N, 3, H, W)" in text
    assert "Conv 2" in text and "all operators are supported" in text
    report = model.prepare({"x": (1, 3, 16, 16)}).report()
    page = path.with_suffix(".html")
    model.prepare({"x": (1, 3, 16, 16)}).report(page)
    assert "<h2>Time by step</h2>" in page.read_text() and "Conv 2" in page.read_text()
    assert "3x16x16 -> 8 3x3 s2 relu" in report and "first" in report and "8x8x8 -> 8 1x1 s1 + addition" in report


def test_the_page_of_a_report_names_file_date_processor_and_version(path: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    for given, name in ((path, path.name), (_classifier(), "net")):
        pysimd.load(given).prepare({"x": (1, 3, 16, 16)}).report(page)
        title = re.findall("<title>(.*?)</title>", page.read_text())[0]
        version = re.escape(pysimd.version())
        assert re.fullmatch(rf"{re.escape(name)}, \d{{4}}-\d\d-\d\d \d\d:\d\d .*, .+, simdnet {version}", title)
        assert f"<h1>{name}</h1>" in page.read_text()


def test_names_of_the_file_do_not_control_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """ESC begins commands of a terminal; a new line could look like one of ours."""
    odd = "\x1b[2J\nall is well"
    model = _model([helper.make_node("Relu", ["x"], [odd], odd), helper.make_node("Neg", [odd], ["y"])], {}, (1, 3))
    model.graph.name = odd
    for value, name in ((model.graph.input[0], odd + "x"), (model.graph.output[0], odd + "y")):
        value.name = name
    model.graph.node[0].input[0], model.graph.node[1].output[0] = odd + "x", odd + "y"
    loaded = pysimd.load(model)
    model.graph.node[0].op_type = odd
    with pytest.raises(ValueError, match="not known") as error:
        pysimd.load(model).prepare()
    model.graph.node[0].input[0] = "none"
    with pytest.raises(ValueError, match="which no node produces") as other:
        pysimd.load(model)
    messages = [str(error.value), str(other.value)]
    for call in (
        lambda: loaded.prepare({odd + "x": (1, 4)}),
        lambda: loaded.prepare()({odd + "x": np.zeros(3, np.float32)}),
        lambda: loaded.prepare()({odd + "x": np.zeros(3, np.int8)}),
    ):
        with pytest.raises((ValueError, TypeError)) as refused:
            call()
        messages.append(str(refused.value))
    loaded.save(tmp_path / "m")
    assert main(["show", str(tmp_path / "m")]) == 0
    assert main(["run", str(tmp_path / "m"), "--report"]) == 0
    assert main(["run", f"{tmp_path}/{odd}"]) == 1
    printed = capsys.readouterr()
    texts = [str(loaded), repr(loaded), loaded.prepare().report(), *messages, *printed]
    for number, text in enumerate(texts):
        assert r"\x1b[2J\nall" in text, number
        assert "\x1b" not in text and "\nall is well" not in text, number


def test_names_of_the_file_are_no_markup_in_the_page_of_a_report(tmp_path: Path) -> None:
    model = _model([helper.make_node("Relu", ["x"], ["y"], "<script>")], {}, (1, 3))
    model.graph.name = "<script>"
    pysimd.load(model).prepare().report(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    assert "&lt;script&gt;" in text and "<script" not in text


def _recurrent(op: str, gates: int) -> Any:
    weights = {"w": _weights(2, gates * 4, 3), "r": _weights(2, gates * 4, 4)}
    node = helper.make_node(op, ["x", "w", "r"], ["y"], hidden_size=4, direction="bidirectional")
    return _model([node], weights, (5, 2, 3))


def _merged() -> Any:
    weights = {"e": _weights(8, 4, 1, 1), "d": _weights(8, 1, 3, 3), "p": _weights(4, 8, 1, 1)}
    nodes = [
        helper.make_node("Conv", ["x", "e"], ["a"]),
        helper.make_node("Conv", ["a", "d"], ["b"], pads=[1, 1, 1, 1], strides=[2, 2], group=8),
        helper.make_node("Conv", ["b", "p"], ["y"]),
    ]
    return _model(nodes, weights, (1, 4, 6, 6))


def _single(op: str, weight: tuple[int, ...], shape: tuple[int, ...], **attributes: Any) -> Any:
    return _model([helper.make_node(op, ["x", "w"], ["y"], **attributes)], {"w": _weights(*weight)}, shape)


@pytest.mark.parametrize(
    ("model", "count"),
    [
        (_single("Conv", (6, 2, 3, 3), (2, 4, 8, 7), group=2), 2 * 6 * 6 * 5 * 2 * 9),
        (_single("ConvTranspose", (4, 3, 2, 2), (1, 4, 5, 5), strides=[2, 2]), 4 * 25 * 3 * 4),
        (_single("MatMul", (7, 5), (3, 2, 7)), 3 * 2 * 5 * 7),
        (_model([helper.make_node("MatMul", ["x", "x"], ["y"])], {}, (3, 6, 6)), 3 * 6 * 6 * 6),
        (_recurrent("LSTM", 4), 5 * 2 * 2 * 16 * (3 + 4)),
        (_recurrent("GRU", 3), 5 * 2 * 2 * 12 * (3 + 4)),
        (_recurrent("RNN", 1), 5 * 2 * 2 * 4 * (3 + 4)),
        (_merged(), 36 * 4 * 8 + 9 * 8 * 9 + 9 * 8 * 4),
        (_model([helper.make_node("Relu", ["x"], ["y"])], {}, (1, 3, 4, 4)), 0),
    ],
    ids=["Conv", "ConvTranspose", "Linear", "MatMul", "Lstm", "Gru", "Rnn", "merged", "Relu"],
)
def test_multiply_adds_are_counted(model: Any, count: int, tmp_path: Path) -> None:
    onnx.save(model, tmp_path / "net.onnx")
    runner = pysimd.load(tmp_path / "net.onnx").prepare()
    assert sum(multiply_adds(runner.placed, step.node) for step in runner.steps) == count
    assert f"{count / 1e6:.1f} million multiply-adds" in runner.report()


class _Clock:
    """A processor whose steps take 1 ms each, and that something else takes for 20 ms in one step of each run."""

    def __init__(self, interruption: float) -> None:
        self.now, self.count, self.interruption = 0.0, 0, interruption

    def perf_counter(self) -> float:
        return self.now

    def step(self) -> None:
        self.now += 0.001 + self.interruption * (self.count % 11 == 0)  # of 10 steps, another one each time
        self.count += 1


@pytest.mark.parametrize(("interruption", "told"), [(0.0, False), (0.001, False), (0.02, True)])
def test_a_report_tells_why_its_times_differ(interruption: float, told: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    clock, runner = _Clock(interruption), pysimd.load(_merged()).prepare()
    monkeypatch.setattr("pysimd.network.reports.report.time", clock)
    runner._calls = [(clock.step, ())] * 10
    runner.steps = [replace(runner.steps[0], calls=[Bound(clock.step, ())])] * 10
    report = Report(runner, 2)
    assert sum(report.seconds) == pytest.approx(0.01) and report.whole == pytest.approx(0.01 + interruption)
    assert "10 steps, 10.000 ms (sum of the medians of steps)" in report.summary()
    sentence = "The sum of the medians of steps, 10.000 ms, and the median of whole runs, 30.000 ms, differ by 200%: other "
    assert report.difference().startswith(sentence) if told else not report.difference()
    assert str(report).endswith(report.difference() if told else report.summary())
    report.seconds, report.whole = [1.0], 1.2  # the limit
    assert not report.difference()
    report.whole = 1.21
    assert report.difference()


def test_shapes_that_do_not_fit(path: Path) -> None:
    model = pysimd.load(path)
    with pytest.raises(ValueError, match=r"the shape of the input x: .* is open"):
        model.shapes()
    with pytest.raises(ValueError, match="'z' is not an input, expected 'x'"):
        model.prepare({"z": (1, 3, 8, 8)})
    with pytest.raises(ValueError, match=r"the shape of x is given as \(1, 4, 8, 8\), expected that of the file"):
        model.prepare({"x": (1, 4, 8, 8)})
    with pytest.raises(ValueError, match="layout is 'hwc', expected 'nchw' or 'nhwc'"):
        model.prepare({"x": (1, 3, 8, 8)}, layout="hwc")


def _sum(shapes: dict[str, tuple[Any, ...]], weights: dict[str, Array]) -> Any:
    """The sum of all inputs, and of weights that are no inputs."""
    message = _model([helper.make_node("Sum", list({**shapes, **weights}), ["y"])], weights, ())
    del message.graph.input[:]
    message.graph.input.extend(helper.make_tensor_value_info(name, FLOAT, shape) for name, shape in shapes.items())
    return message


def test_one_name_may_stand_for_several_sizes() -> None:
    """Within an input, and of inputs; an input whose shape is not given has the size if it is one."""
    model = pysimd.load(_sum({"a": ("n", 3, "n"), "b": ("batch", 1, 1), "c": (1, "batch")}, {}))
    given = {"a": (2, 3, 4), "b": (2, 1, 1), "c": (1, 4)}
    inputs = {name: _weights(*shape) for name, shape in given.items()}
    np.testing.assert_allclose(model.prepare(given)(inputs)["y"], sum(inputs.values()), rtol=1e-5)
    some = pysimd.load(_sum({"c": (1, "m"), "a": ("m", "m")}, {}))
    assert some.shapes({"a": (3, 3)}) == {"c": (1, 3), "a": (3, 3)}
    with pytest.raises(ValueError, match=r"the shape of the input c: float32 \(1, m\) is open"):
        some.shapes({"a": (3, 4)})


def test_support_is_told_where_only_equal_sizes_fit() -> None:
    assert "all operators are supported" in str(pysimd.load(_sum({"a": ("n", 4), "b": (3, "n")}, {})))


def test_a_weight_that_is_an_input_too(tmp_path: Path) -> None:
    """It is an input if its shape is given, as in ONNX Runtime, which has a list of these weights."""
    weight = _weights(4)
    model = pysimd.load(_sum({"x": (2, 4), "w": ("n",)}, {"w": weight}))
    model.save(tmp_path / "m.simdnet")
    for loaded in (model, pysimd.load(tmp_path / "m.simdnet")):
        assert list(loaded.inputs) == ["x"] and list(loaded.overridable) == ["w"]
        x = _weights(2, 4)
        np.testing.assert_array_equal(loaded.prepare()({"x": x})["y"], x + weight)
        other = np.array([3], np.float32)
        np.testing.assert_array_equal(loaded.prepare({"w": (1,)})({"x": x, "w": other})["y"], x + other)
        with pytest.raises(ValueError, match="expected that of the file"):
            loaded.prepare({"w": (4, 1)})


@pytest.mark.parametrize("name", ["?", "-1", "None", ""])
def test_dimensions_without_a_name_may_differ(name: str, tmp_path: Path) -> None:
    """As Paddle's exporter writes them."""
    onnx.save(_model([helper.make_node("Relu", ["x"], ["y"])], {}, (name, 3, name, name)), tmp_path / "net.onnx")
    assert pysimd.load(tmp_path / "net.onnx").prepare({"x": (1, 3, 4, 5)}).outputs["y"].shape == (1, 3, 4, 5)


def test_what_is_copied_within_one_result(tmp_path: Path) -> None:
    """Halves along the channels of a part along the width of the same result: found by test_random.py."""
    nodes = [
        helper.make_node("Relu", ["x"], ["r"]),
        helper.make_node("Split", ["r"], ["a", "b"], axis=1, num_outputs=2),
        helper.make_node("Elu", ["b"], ["c"]),
        helper.make_node("Concat", ["a", "c"], ["d"], axis=1),
        helper.make_node("Concat", ["d", "r"], ["e"], axis=3),
        helper.make_node("Neg", ["e"], ["y"]),
    ]
    onnx.save(_model(nodes, {}, (2, 6, 2, 5), opset=18), tmp_path / "net.onnx")
    x = _weights(2, 6, 2, 5)
    r = np.maximum(x, 0)
    for layout, order in (("nchw", (0, 1, 2, 3)), ("nhwc", (0, 2, 3, 1))):
        y = pysimd.load(tmp_path / "net.onnx").prepare(layout=layout)({"x": x.transpose(order)})["y"]
        assert np.array_equal(y, -np.concatenate([r, r], 3).transpose(order))


def _with_own_operator() -> Any:
    nodes = [
        helper.make_node("Relu", ["x"], ["r"]),
        helper.make_node("Twice", ["r"], ["t"], "own", domain="mine", more=1.0),
        helper.make_node("NonZero", ["r"], ["z"], "places"),
        helper.make_node("Neg", ["t"], ["y"]),
    ]
    model = _model(nodes, {}, (2, 3))
    model.opset_import.append(helper.make_opsetid("mine", 1))
    model.graph.output.append(helper.make_tensor_value_info("z", 7, None))
    return model


def test_what_is_not_supported_is_reported_at_once() -> None:
    model = pysimd.load(_with_own_operator())
    with pytest.raises(UnsupportedModel, match="2 nodes of 'net' are not supported") as caught:
        model.prepare()
    assert [(node.name, node.operator) for node in caught.value.nodes] == [("own", "mine.Twice"), ("places", "NonZero")]
    assert "mine.Twice" in str(model)
    assert pickle.loads(pickle.dumps(caught.value)).nodes == caught.value.nodes


def test_functions_for_other_operators(tmp_path: Path) -> None:
    def twice(x: Array, more: float) -> Array:
        return 2 * x + np.float32(more)

    def places(x: Array) -> Array:
        return np.stack(np.nonzero(x))[:, :1]

    x = np.array([[-1, 2, -3], [4, -5, 6]], np.float32)
    fallback: Any = {"mine.Twice": twice, "NonZero": (places, [Type((2, 1), "int64")])}
    model = pysimd.load(_with_own_operator(), fallback=fallback)
    found = model.prepare()({"x": x})
    np.testing.assert_array_equal(found["y"], -(2 * np.maximum(x, 0) + 1))
    np.testing.assert_array_equal(found["z"], [[0], [1]])
    with pytest.raises(ValueError, match="cannot be written as C"):
        model.compile(tmp_path / "c")
    assert not (tmp_path / "c").exists()


# ---- programs in C


def _built(folder: Path, name: str) -> Path:
    build = Path(pysimd._library.LIBRARY_PATH).parent
    flags = f"-I{ROOT / 'include'} -Wall -Wextra -Werror"
    link = f"-L{build} -Wl,-rpath,{build}"
    subprocess.run(["make", "-s", "-C", folder, f"CPPFLAGS={flags}", f"LDFLAGS={link}"], check=True, env=_clean())
    return folder / f"{name}_example"


def _clean() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}


def test_a_program_in_c_gives_the_same_bits(path: Path, tmp_path: Path) -> None:
    x = _image(2, 3, 16, 16)
    model = pysimd.load(path)
    folder = tmp_path / "out"
    files = model.compile(folder, {"x": x.shape}, name="net")
    assert sorted(each.name for each in files) == ["Makefile", "main.c", "net.bin", "net.c", "net.h"]
    program = _built(folder, "net")
    x.tofile(folder / "x.raw")
    done = subprocess.run([program, "net.bin", "x.raw"], cwd=folder, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("y: ")
    expected = model.prepare({"x": x.shape})({"x": x})["y"]
    np.testing.assert_array_equal(np.fromfile(folder / "0.out", np.float32).reshape(expected.shape), expected)
    (folder / "cut.bin").write_bytes((folder / "net.bin").read_bytes()[:-1])
    for name, message in (("cut.bin", "is not the file of this model"), ("none.bin", "No such file")):
        failed = subprocess.run([program, name], cwd=folder, capture_output=True, text=True, check=False)
        assert failed.returncode == 1 and message in failed.stderr
    with pytest.raises(ValueError, match="name is '1 net', expected up to 63 letters"):
        model.compile(tmp_path / "other", {"x": x.shape}, name="1 net")


_OWN_MAIN = """
#include "net.h"
#include <stdio.h>

int main(void) {
    static char weights[10000000];
    static float image[NET_INPUT_x_SIZE], scores[NET_OUTPUT_y_SIZE];
    const void * inputs[] = {image};
    void * outputs[] = {scores};
    FILE * file = fopen("net.bin", "rb");
    size_t size = fread(weights, 1, sizeof(weights), file), i;
    net * made = net_create_from_memory(weights, size);
    fclose(file);
    for (i = 0; i < NET_INPUT_x_SIZE; i++) image[i] = (float)i / NET_INPUT_x_SIZE;
    if (net_create_from_memory(weights, size - 1) != NULL || !net_run(made, inputs, outputs)) return 1;
    for (i = 0; i < NET_OUTPUT_y_SIZE; i++) {
        if (scores[i] != NET_OUTPUT_y(made)[i]) return 2;
        printf("%a\\n", scores[i]);
    }
    net_destroy(made);
    net_destroy(NULL);
    return 0;
}
"""


def test_the_functions_of_a_program(path: Path, tmp_path: Path) -> None:
    """Weights in memory; arrays that are copied to inputs and from outputs; the header in C++."""
    folder = tmp_path / "out"
    model = pysimd.load(path)
    model.compile(folder, {"x": (1, 3, 8, 8)}, name="net")
    (folder / "main.c").write_text(_OWN_MAIN)
    done = subprocess.run([_built(folder, "net")], cwd=folder, capture_output=True, text=True, check=True)
    x = (np.arange(192, dtype=np.float32) / np.float32(192)).reshape(1, 3, 8, 8)
    expected = model.prepare({"x": x.shape})({"x": x})["y"]
    assert [float.fromhex(line) for line in done.stdout.split()] == expected.ravel().tolist()
    if shutil.which("c++"):
        subprocess.run(["c++", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-x", "c++", folder / "net.h"], check=True)


def test_a_program_in_c_of_many_operators(tmp_path: Path) -> None:
    """Functions that take structs, contexts that are created for a call, recurrent layers, weights that are computed."""
    alpha = {"activation_alpha": [0.3]}
    nodes = [
        helper.make_node("ReduceMax", ["x"], ["most"], axes=[2, 3]),
        helper.make_node("Mul", ["k0", "most"], ["k"]),
        helper.make_node("Conv", ["x", "k"], ["c0"], pads=[1, 1, 1, 1]),
        helper.make_node("ConvTranspose", ["c0", "k"], ["t0"], pads=[1, 1, 1, 1]),
        helper.make_node("Resize", ["t0", "", "scales"], ["a"], mode="linear"),
        helper.make_node("Transpose", ["a"], ["b"], perm=[0, 2, 3, 1]),
        helper.make_node("Sigmoid", ["b"], ["c"]),
        helper.make_node("Mul", ["b", "c"], ["d"]),
        helper.make_node("Softmax", ["d"], ["e"], axis=1),
        helper.make_node("MatMul", ["e", "d2"], ["f"]),
        helper.make_node("Reshape", ["f", "shape"], ["g"]),
        helper.make_node("LSTM", ["g", "w", "r", "b0"], ["h", "", ""], hidden_size=5),
        helper.make_node("RNN", ["g", "w5", "r5"], ["i"], hidden_size=5, clip=0.4, activations=["Elu"], **alpha),
        helper.make_node("Add", ["h", "i"], ["j"]),
        helper.make_node("ReduceMax", ["j"], ["y"], axes=[0]),
    ]
    weights = {
        "scales": np.array([1, 1, 2, 2], np.float32),
        "k0": _weights(3, 3, 3, 3),
        "d2": _weights(1, 8, 3, 6),
        "shape": np.array([8, 8, 6]),
        "w": _weights(1, 20, 6),
        "r": _weights(1, 20, 5),
        "b0": _weights(1, 40),
        "w5": _weights(1, 5, 6),
        "r5": _weights(1, 5, 5),
    }
    model = pysimd.load(_model(nodes, weights, (1, 3, 4, 4)))
    x = _image(1, 3, 4, 4)
    model.compile(tmp_path)
    x.tofile(tmp_path / "x.raw")
    subprocess.run([_built(tmp_path, "model"), "model.bin", "x.raw"], cwd=tmp_path, check=True, capture_output=True)
    expected = model.prepare()({"x": x})["y"]
    np.testing.assert_array_equal(np.fromfile(tmp_path / "0.out", np.float32).reshape(expected.shape), expected)


# ---- the commands


def test_commands(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(path)]) == 0
    assert "all operators are supported" in capsys.readouterr().out
    assert main(["save", str(path), "-o", str(tmp_path / "net.simdnet")]) == 0
    assert main(["run", str(tmp_path / "net.simdnet"), "--shape", "x:1,3,16,16", "--random", "--report"]) == 0
    out = capsys.readouterr().out
    assert "y: float32 (1, 5)" in out and " ms (median of whole runs), 1 threads" in out and "8 3x3 s2 relu" in out
    assert " ms (sum of the medians of steps), " in out
    np.save(tmp_path / "x.npy", _image(1, 3, 8, 8))
    assert main(["run", str(path), "--input", f"x:{tmp_path / 'x.npy'}", "--save", str(tmp_path / "results")]) == 0
    np.testing.assert_allclose(np.load(tmp_path / "results" / "y.npy"), _expected(_image(1, 3, 8, 8)), rtol=1e-5)
    assert main(["compile", str(path), "--shape", "x:1,3,8,8", "-o", str(tmp_path / "c")]) == 0
    assert (tmp_path / "c" / "model.c").exists()
    assert main(["run", str(tmp_path / "none.onnx")]) == 1
    assert "none.onnx" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["run", str(path), "--shape", "x:1,2.5"])


def test_commands_with_open_sizes(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Their numbers are those of a file; a program in C needs numbers."""
    x = _image(2, 3, 8, 9)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "last.npy", x.transpose(0, 2, 3, 1))
    for layout, file in (("nchw", "x.npy"), ("nhwc", "last.npy")):
        options = ["--shape", "x:N,3,8,W", "--layout", layout, "--input", f"x:{tmp_path / file}", "--report"]
        assert main(["run", str(path), *options, "--save", str(tmp_path / layout)]) == 0
        np.testing.assert_allclose(np.load(tmp_path / layout / "y.npy"), _expected(x), rtol=1e-5)
        out = capsys.readouterr().out
        assert "  input   x: float32 (N, 3, 8, W)\n  plan 1 serves sizes for which\n" in out and "\n    N != 0\n" in out
    cases = [
        (
            ["run", path, "--shape", "x:N,3,8,W", "--random"],
            "the dimension N of 'x' is open: pass a number with --shape, or",
        ),
        (
            ["run", path, "--shape", "N,3,7,8", "--input", f"x:{tmp_path / 'x.npy'}"],
            "(2, 3, 8, 9), expected (N, 3, 7, 8), where",
        ),
        (["run", path, "--shape", "N,3,8"], "the shape of x is given as ('N', 3, 8), expected that of the file"),
    ]
    for arguments, sentence in cases:
        assert main([*map(str, arguments)]) == 1
        assert sentence in capsys.readouterr().err


def test_errors_name_options(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The commands do not name arguments of functions."""
    two = tmp_path / "two.onnx"
    onnx.save(_sum({"a": (2, 3), "b": ("n", 3)}, {}), two)
    (tmp_path / "text.npy").write_text("text")
    np.savez(tmp_path / "several.npz", a=np.ones(3))
    cases = [
        (["run", path], "the shape of the input x: float32 (N, 3, H, W) is open: pass it, as in --shape x:1,3,224,224"),
        (["compile", path, "-o", tmp_path / "c"], "is open: pass it, as in --shape x:1,3,224,224"),
        (["run", two], "the shape of the input b: float32 (n, 3) is open: pass it, as in --shape b:1,3"),
        (["run", two, "--shape", "2,3"], "an option gives no name of an input, expected NAME:..., one of 'a', 'b'"),
        (["run", path, "--input", f"x:{tmp_path / 'text.npy'}"], "text.npy is not a NumPy file of numbers"),
        (["run", path, "--input", tmp_path / "several.npz"], "several.npz has several arrays, expected a file of one, .npy"),
    ]
    for arguments, sentence in cases:
        assert main([*map(str, arguments)]) == 1
        assert capsys.readouterr().err.endswith(f"{sentence}\n")
    with pytest.raises(SystemExit):
        main(["run", str(path), "--threads", "0"])
    assert capsys.readouterr().err.endswith("argument --threads: '0' is not a number of threads, expected at least 1\n")


def test_shapes_of_commands_are_those_of_the_file(path: Path, tmp_path: Path) -> None:
    """With channels last too, by each command; files have the layout that is named."""
    assert main(["compile", str(path), "--shape", "1,3,8,6", "--layout", "nhwc", "-o", str(tmp_path / "c")]) == 0
    assert main(["run", str(path), "--shape", "1,3,8,6", "--layout", "nhwc"]) == 0
    x = _image(1, 3, 8, 6)
    np.save(tmp_path / "x.npy", x.transpose(0, 2, 3, 1))
    options = ["--input", str(tmp_path / "x.npy"), "--layout", "nhwc", "--save", str(tmp_path / "results")]
    assert main(["run", str(path), *options]) == 0
    np.testing.assert_allclose(np.load(tmp_path / "results" / "y.npy"), _expected(x), rtol=1e-5)


def test_each_output_has_a_file_of_its_own(tmp_path: Path) -> None:
    names = ["a/b", "a_b", "a%2Fb", "..", "../../c", "a:b", "é", "a\nb"]
    nodes = [helper.make_node("Mul", ["x", f"w{i}"], [name]) for i, name in enumerate(names)]
    weights = {f"w{i}": np.full(1, i, np.float32) for i in range(len(names))}
    model = _model(nodes, weights, (2,))
    del model.graph.output[:]
    model.graph.output.extend(helper.make_tensor_value_info(name, FLOAT, None) for name in names)
    onnx.save(model, tmp_path / "net.onnx")
    np.save(tmp_path / "x.npy", np.ones(2, np.float32))
    folder = tmp_path / "out"
    assert main(["run", str(tmp_path / "net.onnx"), "--input", f"x:{tmp_path / 'x.npy'}", "--save", str(folder)]) == 0
    files = ["a%2Fb.npy", "a_b.npy", "a%252Fb.npy", "...npy", "..%2F..%2Fc.npy", "a:b.npy", "é.npy", "a%0Ab.npy"]
    assert sorted(path.name for path in folder.iterdir()) == sorted(files)
    for i, file in enumerate(files):
        assert np.load(folder / file).tolist() == [i, i]


@pytest.mark.parametrize(("kind", "dtype"), [(10, np.float16), (11, np.float64)])
def test_check_of_models_of_other_types(kind: int, dtype: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is compared with has inputs of the types of the file."""
    pytest.importorskip("onnxruntime")
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"]), helper.make_node("Greater", ["x", "x"], ["z"])]
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("x", kind, (2, 4))],
        [helper.make_tensor_value_info("y", kind, None), helper.make_tensor_value_info("z", 9, None)],
        [numpy_helper.from_array(np.arange(12, dtype=dtype).reshape(4, 3), "w")],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), tmp_path / "net.onnx")
    assert main(["run", str(tmp_path / "net.onnx"), "--random", "--check", "onnxruntime"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" from ")[0] for line in lines[-3:-1]] == ["y: differs", "z: differs"]


def test_what_cannot_be_compared_with(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("onnxruntime")
    other = path.with_suffix(".simdnet")
    pysimd.load(path).save(other)
    assert main(["run", str(other), "--shape", "x:1,3,8,8", "--check", "onnxruntime"]) == 2
    assert "cannot run the model: " in capsys.readouterr().out.splitlines()[-1]


def test_what_counts_as_a_difference() -> None:
    def difference(ours: list[float], theirs: list[float]) -> float:
        return commands._difference(np.array(ours, np.float32), np.array(theirs, np.float32))

    assert difference([1, np.inf, np.nan], [1.5, np.inf, np.nan]) == 0.5
    assert difference([np.inf], [-np.inf]) == difference([1], [1, 1]) == np.inf
    assert np.isnan(difference([1, 2], [np.nan, 2])) and difference([], []) == 0


def test_compile_refuses_a_name(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compile", str(path), "--shape", "x:1,3,8,8", "-o", str(tmp_path / "c"), "--name", "int"]) == 1
    assert "name is 'int', which C or the program uses itself" in capsys.readouterr().err
