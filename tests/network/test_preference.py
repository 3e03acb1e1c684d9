"""What models are to spare: time, memory or rounding errors, in preparations, programs in C and at a shell."""

from __future__ import annotations

import os
import pickle
import subprocess
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pysimd
from network.test_models import _built
from pysimd.__main__ import main
from pysimd.network import saved
from pysimd.network.model import Model
from pysimd.network.source import Source, SourceNode, Value
from support import Array

#: The algorithms of the layer.
DIRECT, FAST = ("base,",) * 2 if pysimd.active_isa() == "base" else ("direct", "Winograd")


@pytest.fixture
def model() -> Model:
    """One layer of 3x3, which Winograd's algorithm serves."""
    weight = np.random.default_rng(1).uniform(-1, 1, (64, 64, 3, 3)).astype(np.float32)
    node = SourceNode("Conv", ("x", "w"), ("y",), {"pads": [1, 1, 1, 1]})
    value = Value("x", "float32", (1, 64, 32, "W"))
    return Model(Source("net", 17, [value], [Value("y", "float32", None)], [node], {"w": weight}))


def _infos(runner: Any) -> list[str]:
    return [step.context.info.split()[0] for step in runner.steps if step.context is not None]


def _image() -> Array:
    return np.random.default_rng(2).uniform(-1, 1, (1, 64, 32, 32)).astype(np.float32)


def test_preparations(model: Any) -> None:
    fast, exact, small = (model.prepare({"x": (1, 64, 32, 32)}, prefer=each) for each in ("speed", "exact", "memory"))
    again = model.prepare({"x": (1, 64, 32, 48)}, prefer="exact")
    assert _infos(exact) == _infos(small) == _infos(again) == [DIRECT]
    assert _infos(fast) == [FAST]
    assert fast.weight_bytes > 1.3 * exact.weight_bytes or FAST == DIRECT
    assert again.weight_bytes < exact.weight_bytes  # it shares those
    opened = model.prepare({"x": (1, 64, 32, "W")}, prefer="exact")
    np.testing.assert_array_equal(opened(_image())["y"], exact(_image())["y"])
    np.testing.assert_allclose(exact(_image())["y"], fast(_image())["y"], atol=1e-3)
    assert pysimd.get_preference() == "speed"
    with pytest.raises(ValueError, match="preference is 'small', expected one of 'speed', 'memory', 'exact', 'bfloat16'"):
        model.prepare({"x": (1, 64, 32, 32)}, prefer="small")


def _three_kinds() -> Model:
    """A convolution, a merged one and a product: the layers that may multiply bfloat16 numbers."""
    rng = np.random.default_rng(3)
    terms = {"a": (64, 16, 3, 3), "b": (64, 1, 3, 3), "c": (32, 64, 1, 1), "m": (2048, 50)}
    weights = {name: rng.uniform(-0.3, 0.3, shape).astype(np.float32) for name, shape in terms.items()}
    nodes = [
        SourceNode("Conv", ("x", "a"), ("y",), {"pads": [1, 1, 1, 1], "strides": [2, 2]}),
        SourceNode("Relu", ("y",), ("r",), {}),
        SourceNode("Conv", ("r", "b"), ("d",), {"pads": [1, 1, 1, 1], "group": 64}),
        SourceNode("Conv", ("d", "c"), ("p",), {}),
        SourceNode("Flatten", ("p",), ("f",), {}),
        SourceNode("MatMul", ("f", "m"), ("z",), {}),
    ]
    inputs, outputs = [Value("x", "float32", ("N", 16, 16, 16))], [Value("z", "float32", None)]
    return Model(Source("three", 17, inputs, outputs, nodes, weights))


def test_products_of_bfloat16_numbers(isa: str, tmp_path: Path) -> None:
    x = np.random.default_rng(2).uniform(-1, 1, (2, 16, 16, 16)).astype(np.float32)
    model = _three_kinds()
    floats, rounded = (model.prepare({"x": x.shape}, prefer=each) for each in ("speed", "bfloat16"))
    kinds = [step.context.info.startswith("by bfloat16, ") for step in rounded.steps if step.context is not None]
    assert kinds == [isa == "amx"] * len(kinds) and len(kinds) >= 2
    expected, found = floats(x)["z"], rounded(x)["z"]
    error = np.abs(found - expected).max() / np.abs(expected).max()
    assert 1e-4 < error < 2e-2 if isa == "amx" else error == 0
    opened = model.prepare({"x": ("N", *x.shape[1:])}, prefer="bfloat16")
    np.testing.assert_array_equal(opened(x)["z"], found)
    model.save(tmp_path / "three.simdnet", prepared=x.shape, prefer="bfloat16")
    again = pysimd.load(tmp_path / "three.simdnet", prepared=True)
    np.testing.assert_array_equal(again.prepare(x.shape, prefer="bfloat16")(x)["z"], found)
    model.compile(tmp_path, {"x": x.shape}, name="three", prefer="bfloat16")
    program = _built(tmp_path, "three")
    x.tofile(tmp_path / "x.raw")
    environment = os.environ | {"SIMDNET_MAX_ISA": isa}
    subprocess.run([program, "three.bin", "x.raw"], cwd=tmp_path, env=environment, capture_output=True, check=True)
    np.testing.assert_array_equal(np.fromfile(tmp_path / "0.out", np.float32).reshape(found.shape), found)


def _contexts_of_kinds(prefer: str | None) -> list[Any]:
    stages = [pysimd.ConvolutionStage(3, padding=1), pysimd.ConvolutionStage(1, 16)]
    contexts: list[Any] = [
        pysimd.Convolution32f((8, 8, 32), 16, kernel=1, prefer=prefer),
        pysimd.InnerProduct32f((8, 8, 32), 16, transpose=False, prefer=prefer),
        pysimd.MergedConvolution32f((8, 8, 32), stages, prefer=prefer),
    ]
    for context in contexts[:2]:
        context.set_params(_weight(context.weight_shape))
    contexts[2].set_params([_weight(shape) for shape in contexts[2].weight_shapes])
    return contexts


def _weight(shape: tuple[int, ...]) -> Array:
    return np.random.default_rng(5).uniform(-1, 1, shape).astype(np.float32)


def test_contexts_keep_what_they_prefer(isa: str) -> None:
    x = np.random.default_rng(4).uniform(-1, 1, (8, 8, 32)).astype(np.float32)
    with pysimd.preference("bfloat16"):
        others, floats = _contexts_of_kinds(None), _contexts_of_kinds("speed")
    for context, other, of_floats in zip(_contexts_of_kinds("bfloat16"), others, floats):
        again = pickle.loads(pickle.dumps(context))
        assert context.info == other.info == again.info
        assert context.info.startswith("by bfloat16, ") == (isa == "amx")
        np.testing.assert_array_equal(again(x), context(x))
        np.testing.assert_array_equal(other(x), context(x))
        assert np.array_equal(of_floats(x), context(x)) == (isa != "amx")


def test_the_thread_decides_where_nothing_is_given(model: Any) -> None:
    found: list[str] = []
    with pysimd.preference("exact"):
        runner = model.prepare({"x": (1, 64, 32, 32)})
        thread = threading.Thread(target=lambda: found.append(pysimd.get_preference()))
        thread.start()
        thread.join()
        kept = pickle.loads(pickle.dumps(pysimd.Convolution32f((32, 32, 64), 64, kernel=3, padding=1)))
    assert _infos(runner) == [DIRECT] and found == ["speed"] and pysimd.get_preference() == "speed"
    assert pickle.loads(pickle.dumps(kept)).info.startswith(DIRECT)  # it keeps its algorithm


def test_a_program_in_c(model: Any, tmp_path: Path) -> None:
    x = _image()
    model.compile(tmp_path, {"x": x.shape}, name="net", prefer="exact")
    program = _built(tmp_path, "net")
    x.tofile(tmp_path / "x.raw")
    subprocess.run([program, "net.bin", "x.raw"], cwd=tmp_path, capture_output=True, text=True, check=True)
    expected = model.prepare({"x": x.shape}, prefer="exact")(x)["y"]
    np.testing.assert_array_equal(np.fromfile(tmp_path / "0.out", np.float32).reshape(expected.shape), expected)


def test_at_a_shell(model: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(tmp_path / "net.simdnet")
    saved.write(model.source, file)
    try:
        assert main(["run", file, "--shape", "x:1,64,32,32", "--prefer", "exact", "--report"]) == 0
        assert "Winograd" not in capsys.readouterr().out
    finally:
        pysimd.set_preference("speed")
    assert main(["compile", file, "--shape", "x:1,64,32,32", "--prefer", "exact", "-o", str(tmp_path / "c")]) == 0
    assert "SimdnetPreferExact" in (tmp_path / "c" / "model.c").read_text()
