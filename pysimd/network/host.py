"""Python functions as steps of a model, which are called in one way during the conversion and at run time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pysimd.annotations import Array
from pysimd.network.records import record


def results_of(function: Callable[..., Any], arrays: Sequence[Array]) -> tuple[Array, ...]:
    """The results of a function: the array, or the arrays of the tuple or list, that it returns.

    It gets read-only views: other steps may read the same memory, and weights are the model's.

    Raises TypeError for a result that is None or another object, and everything that the function raises.
    """
    found = function(*map(_read_only, arrays))
    results = tuple(map(np.asarray, found if isinstance(found, (tuple, list)) else (found,)))
    for i, result in enumerate(results):
        if result.dtype.kind in "OSUcmM":
            what = "None" if result.ndim == 0 and result.item() is None else f"an array of {result.dtype}"
            place = f" as output {i}" if len(results) > 1 else ""
            raise TypeError(f"{_name(function)} returned {what}{place}, expected an array of numbers, or a tuple of them")
    return results


def _read_only(array: Array) -> Array:
    view = array.view()
    view.flags.writeable = False
    return view


def _name(function: Any) -> str:
    function = getattr(function, "func", function)  # of one with attributes
    return str(getattr(function, "__name__", function))


@record(frozen=True)
class HostCall:
    """A Python function with the arrays of its inputs and outputs."""

    function: Callable[..., Any]
    inputs: Sequence[Array]
    outputs: Sequence[Array]

    def __call__(self) -> None:
        results = results_of(self.function, self.inputs)
        if len(results) < len(self.outputs):
            raise ValueError(f"{_name(self.function)} returned {len(results)} arrays, expected {len(self.outputs)}")
        for result, target in zip(results, self.outputs):
            if result.shape != target.shape:
                raise ValueError(f"{_name(self.function)} returned shape {result.shape}, expected {target.shape}")
        for result, target in zip(results, self.outputs):
            np.copyto(target, result)
