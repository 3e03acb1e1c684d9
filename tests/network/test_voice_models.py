"""Published detectors of voices and of words beside ONNX Runtime; `make models` fetches the files.

Inputs that decide are constants; states go from one run to the next.
"""

from __future__ import annotations

import numpy as np
import pytest

import pysimd
from network.real_models import VOICES, Published
from support import ROOT

onnxruntime = pytest.importorskip("onnxruntime", reason="ONNX Runtime is not installed: pip install '.[models]'")

FOLDER = ROOT / "build" / "models"
RUNS = 5


@pytest.mark.parametrize("model", VOICES, ids=lambda model: model.name)
def test_a_detector_of_voices(model: Published) -> None:
    path = FOLDER / f"{model.name}.onnx"
    if not path.exists():
        pytest.skip(f"{path} is not there: make models")
    found = pysimd.load(path).with_values(model.values)
    states, arrays = model.states, model.inputs()
    names = [name for name in found.inputs if name not in states]  # the signal is the first of the arrays
    inputs = dict(zip([*names, *states], arrays))
    run = found.prepare({name: array.shape for name, array in inputs.items()})
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    for _ in range(RUNS):
        answers = run(inputs)
        right = dict(zip([output.name for output in session.get_outputs()], session.run(None, {**inputs, **found.values})))
        assert answers.keys() == right.keys()
        for name, array in right.items():
            error = np.abs(answers[name] - array).max() / max(np.abs(array).max(), 1e-3)
            assert error <= model.tolerance, name
        inputs = {name: np.roll(inputs[name], 97, -1) for name in names} | {name: right[of] for name, of in states.items()}
