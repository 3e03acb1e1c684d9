"""The most memory that preparing takes: hardly more than packed weights and tensors, which remain."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import pysimd
from network.real_models import MODELS, Published
from support import ROOT

onnx = pytest.importorskip("onnx", reason="onnx, which makes the files, is not installed")

from bench import peaks  # noqa: E402
from bench.transformers import encoders  # noqa: E402
from bench.transformers.writer import Writer  # noqa: E402

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of memory is read from /proc")

#: Prints bytes: the most of a preparation beyond those before, packed weights and tensors. A first one imports modules.
_PROCESS = """if True:
    import json, pathlib, sys
    import pysimd

    def read(what):
        return 1024 * int(pathlib.Path("/proc/self/status").read_text().split(what + ":")[1].split()[0])

    pysimd.load(sys.argv[2]).prepare({"x": (1, 3, 8, 8)})
    before = read("VmRSS")
    runner = pysimd.load(sys.argv[1]).prepare(json.loads(sys.argv[3]))
    print(read("VmHWM") - before, runner.weight_bytes, runner.block_bytes)"""

#: What is neither: objects of Python for each node, and large pages that arrays fill in part.
_NODE, _PAGES = 4 << 10, 4 << 20


def peak_of(path: Path, shapes: Any, folder: Path) -> tuple[int, int]:
    """The most bytes of a preparation, and those that it may have: 1.3 times weights and tensors, and what nodes take."""
    onnx.save(peaks.unet(1, 8), str(folder / "small.onnx"))
    command = [sys.executable, "-c", _PROCESS, str(path), str(folder / "small.onnx"), json.dumps(shapes)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    peak, weights, block = map(int, done.stdout.split())
    return peak, int(1.3 * (weights + block)) + _PAGES + _NODE * len(pysimd.load(path).source.nodes)


def scaled(count: int = 64, width: int = 256) -> Any:
    """Products whose weights a pass multiplies by the factors behind them."""
    w = Writer()
    x = w.input("x", (1, width))
    for _ in range(count):
        x = w.add("Tanh", w.add("Mul", w.add("MatMul", x, w.weight(width, width)), w.vector(width, 1)))
    w.output(x)
    return w.model()


def large_last(width: int = 1024) -> Any:
    """A classifier of many classes, half of all weights, stored as PyTorch stores it."""
    w = Writer()
    x = w.input("x", (1, width))
    for rows in (*[width] * 8, 8 * width):
        x = w.add("Gemm", w.add("Tanh", x), w.weight(rows, width), w.vector(rows), transB=1)
    w.output(x)
    return w.model()


MADE: dict[str, Callable[[], Any]] = {
    "minilm": encoders.MODELS["minilm-128"],
    "vit": encoders.MODELS["vit-s"],
    "unet": partial(peaks.unet, 2, 152),
    "transformer with shared weights": partial(peaks.shared_transformer, 16, 768),
    "unrolled recogniser": peaks.recogniser,
    "scaled": scaled,
    "large layer, the last": large_last,
}


@pytest.mark.parametrize("name", MADE)
def test_preparing(name: str, tmp_path: Path) -> None:
    made = MADE[name]()
    onnx.save(made, str(tmp_path / "net.onnx"))
    peak, most = peak_of(tmp_path / "net.onnx", {key: shape for key, _, shape in peaks.inputs_of(made)}, tmp_path)
    assert peak <= most


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_preparing_a_published_model(model: Published, tmp_path: Path) -> None:
    path = ROOT / "build" / "models" / f"{model.name}.onnx"
    if not path.exists():
        pytest.skip(f"{path} is not there: make models")
    pytest.importorskip("PIL", reason="Pillow is not installed: pip install '.[models]'")
    names = [value.name for value in pysimd.load(path).source.inputs]
    peak, most = peak_of(path, {key: array.shape for key, array in zip(names, model.inputs())}, tmp_path)
    assert peak <= most
