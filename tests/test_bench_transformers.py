"""The transformers of the benchmarks compute what ONNX's reference does; times are not tested."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pysimd
from bench import bounds, transformers
from bench.__main__ import main
from bench.onnx_files import values_of
from bench.onnx_files.shapes import inputs_of

onnx = pytest.importorskip("onnx", reason="onnx, which makes the files, is not installed")
reference = pytest.importorskip("onnx.reference")

from bench.transformers import decoders, encoders, graphs  # noqa: E402

SMALL = {
    "bert": partial(encoders.bert, 7, 32, 4, 1),
    "distilbert": partial(encoders.bert, 7, 32, 4, 1, True),
    "t5": partial(encoders.t5, 9, 128, 2, 1),
    "gpt2": partial(decoders.gpt2, 5, 128, 2, 1, 33),
    "llama": partial(decoders.llama, 0, 6, 64, 4, 2, 1),
    "llama with a past": partial(decoders.llama, 5, 1, 64, 4, 2, 1),
    "gcn": partial(graphs.gcn, 8, 1),
    "gin": partial(graphs.gin, 8, 1),
    "sage": partial(graphs.sage, 8, 1),
    "gat": partial(graphs.gat, 2, 4, 1),
}


@pytest.mark.parametrize("name", SMALL)
def test_small(name: str, tmp_path: Path) -> None:
    model: Any = SMALL[name]()
    path = tmp_path / "small.onnx"
    onnx.save(model, path)
    given = values_of(inputs_of(path, 1, {}))
    expected = reference.ReferenceEvaluator(model).run(None, given)
    network = pysimd.load(path).prepare({key: array.shape for key, array in given.items()})
    for ours, theirs in zip(network(given).values(), expected):
        np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-4)


def test_bounds(tmp_path: Path) -> None:
    """The parts of the time are all of it; multiply-adds are those of the model."""
    path = tmp_path / "bert.onnx"
    onnx.save(SMALL["bert"](), path)
    found, peak, speed = bounds.measured(path, 0)
    assert found["products"].sums > found["attention"].sums > 0 == found["other steps"].sums
    assert found["products"].weights > 0 and peak > 0 and speed > 0
    ((name, _, reached, *parts, _),) = bounds.rows([path], 0)
    assert name == "bert" and float(reached) < 1.5  # 0.00 on a busy machine
    assert abs(sum(float(part.split()[0]) for part in parts) - 1) < 0.02


def test_names() -> None:
    names = list(transformers.models())
    assert len(names) == len(set(names)) >= 20
    assert {"minilm-384", "vit-s", "swin-t", "whisper-decoder", "gpt2-past-256", "graph-gat"} <= set(names)


def test_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--transformers", "graph-gin", "--rounds", "1", "--seconds", "1"]) == 0
    assert "graph-gin" in capsys.readouterr().out


def test_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--transformers", "--only", "relu"])
    assert "--transformers has no use for --only" in capsys.readouterr().err
