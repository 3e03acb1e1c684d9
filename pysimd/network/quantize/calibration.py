"""The values of tensors on samples: a float model that runs with these tensors as outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from pysimd.annotations import Array
from pysimd.models import load
from pysimd.network.given import array_of, by_name, refuse_others
from pysimd.network.model import Model
from pysimd.network.quantize.onnx_file import File
from pysimd.network.quantize.ranges import METHODS, Histogram, Range

Sample = Mapping[str, Array]
Step = Callable[[], Any]


def checked(model: Model, samples: Any) -> list[Sample]:
    """Samples by name. Raises ValueError and TypeError for what does not fit, with the number of the sample."""
    if isinstance(samples, (np.ndarray, Mapping, str, bytes)) or not hasattr(samples, "__iter__"):
        raise TypeError(
            f"samples is a {type(samples).__name__}, expected several: a list of arrays, or of dicts of arrays by name"
        )
    found: list[Sample] = []
    for i, given in enumerate(samples):
        try:
            found.append(_sample(model, given))
        except (ValueError, TypeError) as error:
            raise type(error)(f"sample {i}: {error}") from None
    if not found:
        raise ValueError("there are no samples: calibration needs some inputs that are similar to those to come")
    return found


def _sample(model: Model, given: Any) -> Sample:
    inputs = by_name(given, model.inputs, "the input")
    refuse_others(inputs, model.inputs)
    missing = next((name for name in model.inputs if name not in inputs), None)
    if missing is not None:
        raise ValueError(f"the input {missing!r} is missing")
    found = {name: np.array(array_of(inputs[name], name, value.dtype)) for name, value in model.inputs.items()}
    for name, array in found.items():
        dims = model.inputs[name].dims
        fits = dims is None or (
            len(dims) == array.ndim and all(n == m or not isinstance(n, int) for n, m in zip(dims, array.shape))
        )
        if not fits:
            raise ValueError(f"the input {name!r} has shape {array.shape}, expected {dims}")
        expected = model.inputs[name].dtype
        if array.dtype != expected:
            raise TypeError(f"the input {name!r} is {array.dtype}, expected {expected}")
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise ValueError(f"the input {name!r} has values that are not finite (NaN or infinite)")
    return found


def runs(file: File, names: Sequence[str], samples: Sequence[Sample], step: Step) -> Iterator[dict[str, Array]]:
    """The values of tensors for each sample."""
    model: Any = load(file.encoded(names))
    shapes = [{name: array.shape for name, array in sample.items()} for sample in samples]
    run = model.prepare(shapes[0]) if all(each == shapes[0] for each in shapes) else model
    model.most_shapes = 1
    for sample in samples:
        yield run(sample)
        step()


def ranges_of(
    file: File, names: Sequence[str], samples: Sequence[Sample], method: str, percent: float, symmetric: bool, step: Step
) -> dict[str, Range]:
    """The range of each tensor, by a method of calibration."""
    found: dict[str, Range] = {}
    for values in runs(file, names, samples, step):
        for name in names:
            found[name] = _wider(found.get(name, (0.0, 0.0)), values[name], name)
    if method == "minmax":
        return found
    histograms = {name: Histogram(*found[name]) for name in names}
    for values in runs(file, names, samples, step):
        for name in names:
            histograms[name].add(values[name])
    choose = METHODS[method]
    return {name: choose(each, percent, symmetric) for name, each in histograms.items()}


def _wider(range_: Range, x: Array, name: str) -> Range:
    if not x.size:
        return range_
    least, most = float(x.min()), float(x.max())
    if not np.isfinite([least, most]).all():
        raise ValueError(f"the model computes values that are not finite for a sample, in the tensor {name!r}")
    return min(range_[0], least), max(range_[1], most)
