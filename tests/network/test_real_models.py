"""Published models beside ONNX Runtime, with inputs of their own use; `make models` fetches the files.

``PYTHONPATH=.:tests python -m network.test_real_models`` prints the table of docs/guides/models.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pysimd
from network.real_models import MODELS, Published, text_line
from pysimd.annotations import Array
from support import ROOT

onnxruntime = pytest.importorskip("onnxruntime", reason="ONNX Runtime is not installed: pip install '.[models]'")
pytest.importorskip("PIL", reason="Pillow is not installed: pip install '.[models]'")

FOLDER = ROOT / "build" / "models"


def session_of(path: Path) -> Callable[[Mapping[str, Array]], dict[str, Array]]:
    """ONNX Runtime's outputs by name."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return lambda inputs: dict(zip(names, session.run(None, dict(inputs))))


def loaded(model: Published) -> tuple[Path, Any, dict[str, Array]]:
    path = FOLDER / f"{model.name}.onnx"
    if not path.exists():
        pytest.skip(f"{path} is not there: make models")
    found = pysimd.load(path)
    return path, found, dict(zip([value.name for value in found.source.inputs], model.inputs()))


def difference(found: Mapping[str, Array], expected: Mapping[str, Array]) -> float:
    """The largest of all outputs, relative to the largest value of each."""
    assert found.keys() == expected.keys()
    errors = [0.0]
    for name, right in expected.items():
        assert found[name].shape == right.shape, name
        if right.size:
            errors.append(float(np.abs(found[name].astype(np.float64) - right).max() / max(np.abs(right).max(), 1e-3)))
    return max(errors)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_a_published_model(model: Published, tmp_path: Path) -> None:
    path, found, inputs = loaded(model)
    run = found.prepare({name: array.shape for name, array in inputs.items()})
    answers = run(inputs)
    assert difference(answers, session_of(path)(inputs)) <= model.tolerance
    found.save(tmp_path / "saved.simdnet")
    again = pysimd.load(tmp_path / "saved.simdnet").prepare({name: array.shape for name, array in inputs.items()})
    before = pysimd.get_num_threads()
    try:
        pysimd.set_num_threads(2)
        for name, array in again(inputs).items():
            assert np.array_equal(array, answers[name]), "a saved model, of two threads"
    finally:
        pysimd.set_num_threads(before)


@pytest.mark.full
@pytest.mark.parametrize("name", ["ocr4-recognition", "ocr6-recognition", "ocr6-tiny-recognition"])
def test_lines_of_a_hundred_widths(name: str) -> None:
    """By a few plans, with the bits of a preparation for the width, of which some are compared."""
    path, found, _ = loaded(next(model for model in MODELS if model.name == name))
    (input_,) = found.inputs
    theirs, run = session_of(path), found.prepare({input_: ("N", 3, 48, "W")})
    for i, width in enumerate(range(17, 1017, 10)):
        x = np.repeat(text_line(48, width)()[0], 1 + i % 2, axis=0)
        answers = run(x)
        assert difference(answers, theirs({input_: x})) <= 5e-3, width  # a letter that is cut is near to others
        if i % 10 == 0:
            for output, array in found.prepare(x.shape)(x).items():
                assert np.array_equal(array, answers[output]), width
    assert len(run.plans) <= 8


def main() -> None:
    print("| model | file MB | nodes | calls | largest error |")
    print("|---|---|---|---|---|")
    for model in MODELS:
        path, found, inputs = loaded(model)
        run = found.prepare({name: array.shape for name, array in inputs.items()})
        error = difference(run(inputs), session_of(path)(inputs))
        package, _, version = model.package.partition("==")
        size, nodes = path.stat().st_size / 1e6, len(found.source.nodes)
        print(f"| {model.what} (`{package}` {version}) | {size:.1f} | {nodes} | {len(run.steps)} | {error:.0e} |")


if __name__ == "__main__":
    main()
