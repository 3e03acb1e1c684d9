"""Plans in files: what they compute, what they are for, and what a damaged one gives."""

from __future__ import annotations

import gc
import json
import pickle
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pysimd
from network import fuzz as network_fuzz
from network.batch_model import Batch, inputs_of
from network.test_saved import changed
from pysimd.__main__ import main
from pysimd.network import prepared
from pysimd.network.model import Model
from pysimd.network.source import Source, SourceNode, Value
from support import Array

SHAPE = (1, 16, 12, 10)


def _net() -> Model:
    """Convolutions, of which one is merged and one has Winograd's algorithm, branches that join, and a product."""
    random = np.random.default_rng(1)
    shapes = {"a": (48, 16, 1, 1), "b": (48, 1, 3, 3), "c": (16, 48, 1, 1), "d": (64, 32, 3, 3), "e": (64, 7), "p": (64,)}
    weights = {name: random.uniform(-0.3, 0.3, shape).astype(np.float32) for name, shape in shapes.items()}
    nodes = [
        SourceNode("Conv", ("x", "a"), ("t",)),
        SourceNode("Relu", ("t",), ("u",)),
        SourceNode("Conv", ("u", "b"), ("v",), {"pads": [1, 1, 1, 1], "group": 48}),
        SourceNode("Relu", ("v",), ("w",)),
        SourceNode("Conv", ("w", "c"), ("q",)),
        SourceNode("Concat", ("x", "q"), ("r",), {"axis": 1}),
        SourceNode("Conv", ("r", "d", "p"), ("s",), {"pads": [1, 1, 1, 1]}),
        SourceNode("LeakyRelu", ("s",), ("k",), {"alpha": 0.1}),
        SourceNode("GlobalAveragePool", ("k",), ("l",)),
        SourceNode("Flatten", ("l",), ("m",)),
        SourceNode("MatMul", ("m", "e"), ("n",)),
        SourceNode("Softmax", ("n",), ("y",), {"axis": 1}),
    ]
    inputs, outputs = [Value("x", "float32", (1, 16, "h", "w"))], [Value("y", "float32", None), Value("k", "float32", None)]
    return Model(Source("net", 17, inputs, outputs, nodes, weights))


def _image(shape: tuple[int, ...] = SHAPE) -> Array:
    return np.random.default_rng(2).uniform(-1, 1, shape).astype(np.float32)


def _assert_bits(found: Any, expected: Any) -> None:
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        assert found[name].dtype == array.dtype and found[name].shape == array.shape
        assert found[name].tobytes() == array.tobytes(), name


@pytest.fixture(scope="module")
def made(tmp_path_factory: Any) -> Path:
    path = tmp_path_factory.mktemp("prepared") / "net.simdnet"
    _net().save(path, prepared=SHAPE)
    return Path(path)


@pytest.fixture
def path(made: Path, tmp_path: Path) -> Path:
    """A copy, to be changed."""
    copy = tmp_path / "net.simdnet"
    copy.write_bytes(made.read_bytes())
    return copy


@pytest.fixture
def no_planning(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planning is an error."""
    monkeypatch.setitem(sys.modules, "pysimd.network.planner", None)
    monkeypatch.delattr("pysimd.network.planner", raising=False)


def _plans(model: Model, *arguments: Any, **options: Any) -> bool:
    """Whether a preparation needs a plan of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "pysimd.network.planner", None)
        patch.delattr("pysimd.network.planner", raising=False)
        try:
            model.prepare(*arguments, **options)
        except ImportError:
            return True
    return False


@pytest.mark.usefixtures("no_planning")
def test_nothing_is_planned(made: Path) -> None:
    model = pysimd.load(made, prepared=True)
    parts: list[float] = []
    run = model.prepare(SHAPE, progress=parts.append)
    assert parts == sorted(parts) and parts[-1] == 1
    first, second = run(_image()), run.copy()(_image())
    _assert_bits(second, first)
    _assert_bits(model(_image()), first)  # calls of the model use the plan, too
    run.bind(inputs={"x": _image()}, outputs={"k": np.empty((1, 64, 12, 10), np.float32)})
    _assert_bits(run(), first)
    assert "steps" in str(run) and run.file == str(made)


def test_bits_and_reports(made: Path) -> None:
    run, expected = pysimd.load(made, prepared=True).prepare(SHAPE), _net().prepare(SHAPE)
    _assert_bits(run(_image()), expected(_image()))
    assert [step.node.operator for step in run.steps] == [step.node.operator for step in expected.steps]
    assert run.plan.size == expected.plan.size and run.operators == expected.operators
    assert [line.split()[-1] for line in run.report().splitlines()[:3]] == [
        line.split()[-1] for line in expected.report().splitlines()[:3]
    ]


@pytest.mark.parametrize("layout", ["nchw", "nhwc"])
def test_every_operator(layout: str, tmp_path: Path) -> None:
    model, path = Batch().model(), tmp_path / "batch.simdnet"
    model.save(path, prepared=True, layout=layout)
    again = pysimd.load(path, prepared=True)
    assert not _plans(again, layout=layout)
    expected, found = model.prepare(layout=layout), again.prepare(layout=layout)
    for _ in range(2):
        _assert_bits(found(inputs_of(expected)), expected(inputs_of(expected)))


@pytest.mark.parametrize("seed", range(8))
def test_random_models(seed: int, tmp_path: Path) -> None:
    pytest.importorskip("onnx", reason="onnx, which makes the files, is not installed")
    from network.random_models import random_model

    model, path = pysimd.load(random_model(seed)), tmp_path / "random.simdnet"
    prefer = ("speed", "exact", "memory", "bfloat16")[seed % 4]
    model.save(path, prepared=True, prefer=prefer)
    again = pysimd.load(path, prepared=True)
    assert not _plans(again, prefer=prefer)
    expected = model.prepare(prefer=prefer)
    _assert_bits(again.prepare(prefer=prefer)(inputs_of(expected)), expected(inputs_of(expected)))


def test_what_a_plan_is_for(made: Path) -> None:
    model = pysimd.load(made, prepared=True)
    assert not _plans(model, SHAPE)
    assert not _plans(model, {"x": SHAPE}, prefer="speed")
    assert _plans(model, (1, 16, 12, 12))
    assert _plans(model, SHAPE, layout="nhwc")
    assert _plans(model, SHAPE, prefer="exact")
    with pysimd.preference("memory"):
        assert _plans(model, SHAPE)
    assert _plans(pysimd.load(made), SHAPE)  # only on request
    assert _plans(pysimd.load(made, prepared=True, fallback={"Own": len}), SHAPE)
    assert _plans(pickle.loads(pickle.dumps(model)), SHAPE)
    other = next(level for level in pysimd.isa_levels() if level != pysimd.active_isa())
    with pysimd.max_isa(other):
        assert _plans(model, SHAPE) == (pysimd.active_isa() != model._plans[0].purpose.level)
        found = model.prepare(SHAPE)(_image())
        _assert_bits(found, _net().prepare(SHAPE)(_image()))


def test_several_and_preferences(tmp_path: Path) -> None:
    path, larger = tmp_path / "net.simdnet", (1, 16, 20, 20)
    _net().save(path, prepared=[SHAPE, {"x": larger}], layout="nhwc", prefer="exact")
    model = pysimd.load(path, prepared=True)
    for shape in (SHAPE, larger):
        assert not _plans(model, shape, layout="nhwc", prefer="exact") and _plans(model, shape, layout="nhwc")
        image = np.ascontiguousarray(_image(shape).transpose(0, 2, 3, 1))
        run, expected = (each.prepare(shape, layout="nhwc", prefer="exact") for each in (model, _net()))
        _assert_bits(run(image), expected(image))


def test_weights_are_there_once(tmp_path: Path) -> None:
    """Of two plans with the same weights, and of the graph."""
    sizes = []
    for plans in ([SHAPE], [SHAPE, SHAPE]):
        _net().save(tmp_path / "net.simdnet", prepared=plans)
        sizes.append((tmp_path / "net.simdnet").stat().st_size)
    assert sizes[1] - sizes[0] < 20_000 < sizes[0]


def test_another_version(path: Path) -> None:
    changed(path, lambda header: header["plans"][0].update(version="0.1.0/1"))
    model = pysimd.load(path, prepared=True)
    assert _plans(model, SHAPE)
    _assert_bits(model.prepare(SHAPE)(_image()), _net().prepare(SHAPE)(_image()))


def _text_of(data: bytes) -> tuple[dict[str, Any], int, int]:
    """The header, and where the text of the plan is in the file."""
    end = network_fuzz.START + network_fuzz.header_bytes(data)
    header = json.loads(data[network_fuzz.START : end])
    place = header["plans"][0]["text"]
    return header, end + place["offset"], end + place["offset"] + place["shape"][0]


def test_changed_bytes_of_a_plan(path: Path) -> None:
    data = bytearray(path.read_bytes())
    _, begin, end = _text_of(bytes(data))
    data[(begin + end) // 2] ^= 1
    path.unlink()
    path.write_bytes(data)
    model = pysimd.load(path, prepared=True)
    with pytest.raises(ValueError, match=r"net\.simdnet is truncated or modified: its plan .* has another checksum"):
        model.prepare(SHAPE)
    _assert_bits(pysimd.load(path).prepare(SHAPE)(_image()), _net().prepare(SHAPE)(_image()))


def test_random_damage(made: Path, tmp_path: Path) -> None:
    """A file with changed bytes is refused, or computes something of the right shape; nothing crashes."""
    data, random, counts = made.read_bytes(), np.random.default_rng(3), {"refused": 0, "computed": 0}
    _, begin, end = _text_of(data)
    for i in range(120):
        changed_data = bytearray(data)
        low, high = ((begin, end), (0, network_fuzz.START), (0, len(data)))[i % 3]
        for at in random.integers(low, high, 1 + i % 4):
            changed_data[at] ^= 1 << random.integers(8)
        path = tmp_path / f"{i}.simdnet"
        path.write_bytes(changed_data)
        try:
            found = pysimd.load(path, prepared=True).prepare(SHAPE)(_image())
        except ValueError:
            counts["refused"] += 1
        else:
            counts["computed"] += 1
            assert {name: array.shape for name, array in found.items()} == {"y": (1, 7), "k": (1, 64, 12, 10)}
    assert min(counts.values()) > 20


def test_truncated(path: Path) -> None:
    data = path.read_bytes()
    path.unlink()
    path.write_bytes(data[:-64])
    with pytest.raises(ValueError, match="is truncated or modified: its weights have"):
        pysimd.load(path, prepared=True)


def _with_plan(path: Path, change: Callable[[dict[str, Any]], Any]) -> Path:
    """A file whose plan is changed, with checksums and lengths that fit, and arrays where they can be used."""
    data = path.read_bytes()
    header, begin, end = _text_of(data)
    plan = json.loads(data[begin:end])
    change(plan)
    text = json.dumps(plan).encode()
    place = {"offset": header["bytes"], "dtype": "uint8", "shape": [len(text)]}
    header["plans"][0].update(text=place, checksum=zlib.crc32(text))
    header["bytes"] += -(-len(text) // 64) * 64
    first = json.dumps(header).encode()
    first += b" " * (-(network_fuzz.START + len(first)) % 64)
    arrays = data[network_fuzz.START + network_fuzz.header_bytes(data) :] + text + bytes(-len(text) % 64)
    whole = data[: network_fuzz.START - 16] + len(first).to_bytes(8, "little") + bytes(8) + first + arrays
    path.unlink()
    path.write_bytes(network_fuzz.with_right_checksum(whole))
    return path


def _first_view(plan: Any) -> Any:
    """The first object {"at": [root, offset]} of a plan."""
    if isinstance(plan, dict):
        return plan if "at" in plan else next((v for each in plan.values() if (v := _first_view(each))), None)
    return next((v for each in plan if (v := _first_view(each))), None) if isinstance(plan, list) else None


WRONG: dict[str, Callable[[dict[str, Any]], Any]] = {
    "an offset": lambda p: _first_view(p["steps"])["at"].__setitem__(1, 1 << 40),
    "a negative offset": lambda p: _first_view(p["steps"])["at"].__setitem__(1, -4),
    "a root": lambda p: _first_view(p["steps"])["at"].__setitem__(0, "none"),
    "an offset of a root": lambda p: p["offsets"].update({next(iter(p["offsets"])): 1 << 40}),
    "an input": lambda p: p["inputs"]["x"].__setitem__(2, [1 << 30, 1 << 30]),
    "a function": lambda p: p["steps"][0][0][0].__setitem__(0, "system"),
    "an unknown function": lambda p: p["steps"][0][0][0].__setitem__(0, "SimdNone"),
    "too few arguments": lambda p: p["steps"][0][0][0].pop(),
    "an argument": lambda p: p["steps"][0][0][0].__setitem__(-1, {"none": 1}),
    "a struct": lambda p: p["steps"][0][0][0].__setitem__(-1, {"struct": ["SimdnetNone", {}]}),
    "a type": lambda p: p["steps"][0][0][0].__setitem__(-1, {"struct": ["int", {}]}),
    "a member": lambda p: p["steps"][0][0][0].__setitem__(-1, {"struct": ["SimdnetCopyParameters", {"none": 1}]}),
    "a number": lambda p: p["steps"][0][0][0].__setitem__(-1, "3"),
    "a step": lambda p: p["steps"].pop(),
    "the steps": lambda p: p.update(steps=3),
    "an array": lambda p: p["arrays"][0].update(offset=1 << 40),
    "the size": lambda p: p.update(size=-1),
    "a missing size": lambda p: p.pop("size"),
    "depth": lambda p: p["steps"][0].__setitem__(0, None),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_plans_with_a_right_checksum(what: str, path: Path) -> None:
    model = pysimd.load(_with_plan(path, WRONG[what]), prepared=True)
    with pytest.raises(ValueError, match=r"net\.simdnet is truncated or modified: its plan cannot be used: "):
        model.prepare(SHAPE)


def test_the_changes_of_that_test_are_the_reason(path: Path) -> None:
    model = pysimd.load(_with_plan(path, lambda plan: None), prepared=True)
    assert not _plans(model, SHAPE)


def test_arrays_that_cannot_be_used_in_place(path: Path) -> None:
    """After a header of another length, they are at addresses that the library refuses: then the model is planned."""
    model = pysimd.load(changed(path, lambda header: header.update(name="a")), prepared=True)
    _assert_bits(model.prepare(SHAPE)(_image()), _net().prepare(SHAPE)(_image()))


def test_packed_weights_are_used_in_place(made: Path) -> None:
    own, again = (pysimd.load(made, prepared=True).prepare(SHAPE) for _ in range(2))
    assert own.weight_bytes < _net().prepare(SHAPE).weight_bytes / 4
    expected = own(_image())
    model = pysimd.load(made, prepared=True)
    runs = [model.prepare(SHAPE) for _ in range(3)]
    del model, own
    gc.collect()
    for run in (*runs, again):
        _assert_bits(run(_image()), expected)
    del runs[:2]
    gc.collect()
    _assert_bits(runs[0](_image()), expected)


def _states_and_bytes() -> Model:
    """A recurrent layer, a convolution of bytes with an activation, and a product of bytes."""
    random = np.random.default_rng(3)
    weights: dict[str, Any] = {
        name: random.uniform(-0.3, 0.3, shape).astype(np.float32)
        for name, shape in {"W": (2, 80, 24), "R": (2, 80, 20), "B": (2, 160)}.items()
    }
    weights |= {"s": np.float32(0.02), "t": np.float32(0.05), "z": np.uint8(120)}
    weights |= {"c": random.integers(-99, 99, (24, 8, 3, 3)).astype(np.int8), "o": np.int8(0)}
    weights["m"] = random.integers(-99, 99, (70, 40)).astype(np.int8)
    nodes = [
        SourceNode("LSTM", ("x", "W", "R", "B"), ("y",), {"hidden_size": 20, "direction": "bidirectional"}),
        SourceNode("QLinearConv", ("p", "s", "z", "c", "s", "o", "t", "z"), ("q",), {"pads": [1] * 4}),
        SourceNode("MatMulInteger", ("r", "m", "z"), ("i",)),
    ]
    inputs = [Value("x", "float32", (5, 2, 24)), Value("p", "uint8", (1, 8, 9, 7)), Value("r", "uint8", (6, 70))]
    outputs = [Value("y", "float32", None), Value("q", "uint8", None), Value("i", "int32", None)]
    return Model(Source("states", 17, inputs, outputs, nodes, weights))


def test_packed_weights_of_recurrent_and_quantised_layers(tmp_path: Path) -> None:
    model, path = _states_and_bytes(), tmp_path / "states.simdnet"
    random = np.random.default_rng(4)
    given: dict[str, Any] = {"x": random.uniform(-1, 1, (5, 2, 24)).astype(np.float32)}
    given |= {"p": random.integers(0, 255, (1, 8, 9, 7), np.uint8), "r": random.integers(0, 255, (6, 70), np.uint8)}
    model.save(path, prepared=True)
    expected, found = model.prepare(), pysimd.load(path, prepared=True).prepare()
    assert 500 * found.weight_bytes < expected.weight_bytes  # those are offsets
    _assert_bits(found(given), expected(given))


def test_wrong_headers(path: Path) -> None:
    changed(path, lambda header: header["plans"][0].pop("level"))
    with pytest.raises(ValueError, match="is truncated or modified: its header has no 'level'"):
        pysimd.load(path, prepared=True)


def test_refused(tmp_path: Path) -> None:
    path = tmp_path / "net.simdnet"
    with pytest.raises(ValueError, match=r"the shape of the input x: float32 .* is open"):
        _net().save(path, prepared=True)
    with pytest.raises(ValueError, match="layout is 'chw'"):
        _net().save(path, prepared=SHAPE, layout="chw")
    node, value = SourceNode("Own", ("x",), ("y",), {}, "", "own"), Value("x", "float32", (2, 3))
    model = Model(Source("net", 17, [value], [Value("y", "float32", None)], [node], {}), {"own.Own": lambda x: x + 1})
    with pytest.raises(ValueError, match="computed by Python, which a file cannot contain"):
        model.save(path, prepared=True)
    assert not path.exists()


def test_a_context_that_the_library_refuses(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as one whose algorithm is another one on this processor: then the model is planned."""

    def refuse(*arguments: Any) -> Any:
        raise ValueError("another algorithm")

    model = pysimd.load(made, prepared=True)
    monkeypatch.setattr(prepared.StoredProgram, "_created", refuse)
    _assert_bits(model.prepare(SHAPE)(_image()), _net().prepare(SHAPE)(_image()))


def test_at_a_shell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, path = tmp_path / "net.simdnet", tmp_path / "prepared.simdnet"
    _net().save(source)
    shape = "x:" + ",".join(map(str, SHAPE))
    assert main(["save", str(source), "-o", str(path), "--prepared", "--shape", shape]) == 0
    assert not _plans(pysimd.load(path, prepared=True), SHAPE)
    assert main(["run", str(path), "--prepared", "--shape", shape]) == 0
    assert "y: float32 (1, 7)" in capsys.readouterr().out
    assert main(["save", str(source), "-o", str(path), "--shape", shape]) != 0
    assert "--shape is given, but not --prepared" in capsys.readouterr().err


def test_lstm_of_bytes(tmp_path: Path) -> None:
    """Its weights are packed in the file, like those of floats."""
    onnx = pytest.importorskip("onnx", reason="onnx, which makes the files, is not installed")
    helper, rng = onnx.helper, np.random.default_rng(0)
    scales = {name: rng.uniform(0.002, 0.004, (2, 52)).astype(np.float32) for name in ("sw", "sr")}
    weights = {name: rng.integers(-128, 128, (2, rows, 52)).astype(np.int8) for name, rows in (("w", 19), ("r", 13))}
    zeros = {"z": np.zeros((2, 52), np.int8)}
    inputs, options = (
        ["x", "w", "r", "", "", "", "", "", "sw", "z", "sr", "z"],
        {"hidden_size": 13, "direction": "bidirectional"},
    )
    node = helper.make_node("DynamicQuantizeLSTM", inputs, ["y"], domain="com.microsoft", **options)
    constants = [onnx.numpy_helper.from_array(array, name) for name, array in (scales | weights | zeros).items()]
    values = [[helper.make_tensor_value_info(name, 1, shape)] for name, shape in (("x", (7, 3, 19)), ("y", None))]
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    graph = helper.make_graph([node], "net", *values, constants)
    model, path = pysimd.load(helper.make_model(graph, opset_imports=opsets, ir_version=9)), tmp_path / "lstm.simdnet"
    model.save(path, prepared=True)
    calls = path.read_bytes()
    assert b"SimdnetSetPacked" in calls and b"SimdnetRecurrentSetQuantizedParams" not in calls
    again = pysimd.load(path, prepared=True)
    assert not _plans(again)
    expected = model.prepare()
    _assert_bits(again.prepare()(inputs_of(expected)), expected(inputs_of(expected)))
