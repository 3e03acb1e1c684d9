"""The cases of the ONNX backend's tests: models with inputs and outputs."""

from __future__ import annotations

import warnings
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx


class Case(NamedTuple):
    """A model with its inputs and outputs; name without "test_"."""

    name: str
    model: Any
    inputs: list[Any]
    outputs: list[Any]

    @property
    def last_operator(self) -> str:
        """One operator of a model, by which the tests are divided."""
        return str(self.model.graph.node[-1].op_type)


@lru_cache
def cases(kind: str) -> list[Case]:
    """Those of a kind, "node" or "pytorch-converted"; without those that have sequences or optional values."""
    from onnx.backend.test.loader import load_model_tests

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the formulas that compute expected outputs
        every = load_model_tests(kind=kind)
    found = []
    for case in every:
        name = case.name[len("test_") :]
        model = case.model or onnx.load(Path(case.model_dir) / "model.onnx")
        for inputs, outputs in case.data_sets or _stored(Path(case.model_dir)):
            values = [array_of(value) for value in (*inputs, *outputs)]
            if all(isinstance(value, np.ndarray) for value in values):
                found.append(Case(name, model, values[: len(inputs)], values[len(inputs) :]))
    return found


def _stored(folder: Path) -> list[tuple[list[Any], list[Any]]]:
    """The inputs and outputs that are files."""

    def tensors(data: Path, kind: str) -> list[Any]:
        files = [data / f"{kind}_{i}.pb" for i in range(len(list(data.glob(f"{kind}_*.pb"))))]
        return [onnx.TensorProto.FromString(file.read_bytes()) for file in files]

    return [(tensors(data, "input"), tensors(data, "output")) for data in sorted(folder.glob("test_data_set*"))]


def array_of(value: Any) -> Any:
    """Tensors of types that NumPy does not have as arrays of ml_dtypes; a contiguous array; a sequence as it is."""
    if isinstance(value, onnx.TensorProto):
        value = onnx.numpy_helper.to_array(value)
    return value if isinstance(value, list) or value is None else np.asarray(value, order="C")
