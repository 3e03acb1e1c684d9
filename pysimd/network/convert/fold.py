"""Operators of ONNX by NumPy, for inputs that are known: shape arithmetic, and constants that are prepared for others.

:func:`evaluate` also serves integers and logic at run time, where no function of the library exists.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from pysimd.annotations import Array
from pysimd.network.convert.fold_moves import MOVES
from pysimd.network.convert.fold_node import Node, bounded
from pysimd.network.convert.fold_numbers import NUMBERS
from pysimd.network.convert.shape_arithmetic import is_small, plain, takes_sizes
from pysimd.network.sizes import fixed, is_open
from pysimd.network.source import SourceNode

#: Operators whose results are views, sizes, or bounded by themselves; others have results as large as their inputs.
_OF_ANY_SIZE = (
    "Flatten", "Gather", "GatherND", "Identity", "Reshape", "Shape", "Size", "Slice", "Split", "Squeeze", "Transpose",
    "Unsqueeze",
)  # fmt: skip
#: The operators of the files that are imported with the first of them, each with the name of its table there.
_LATER = {
    "rare.RARE": "BitCast Col2Im CumProd DeformConv Det NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss TensorScatter",
    "regions.REGIONS": "Compress MaxRoiPool NonMaxSuppression RoiAlign Unique",
    "signals.SIGNALS": "BlackmanWindow DFT HammingWindow HannWindow MelWeightMatrix STFT",
}


def _later(place: str, operator: str) -> Callable[..., Any]:
    def computed(node: Node, *inputs: Any) -> Any:
        file, table = place.split(".")
        return vars(import_module(f"{__package__}.{file}"))[table][operator](node, *inputs)

    return computed


FOLDS: dict[str, Callable[..., Any]] = {
    **MOVES,
    **NUMBERS,
    **{operator: _later(place, operator) for place, operators in _LATER.items() for operator in operators.split()},
}


def evaluate(node: SourceNode, inputs: Sequence[Any], opset: int) -> tuple[Array, ...] | None:
    """The outputs of a node; None if there is no function for its operator. Missing inputs are None.

    Raises ValueError for inputs and attributes that do not fit, and for results of more than 2 GB.
    """
    if node.domain not in ("", "ai.onnx") or node.op not in FOLDS:
        return None
    has_sizes = any(map(is_open, inputs))
    if has_sizes and not takes_sizes(node, inputs):
        inputs = [fixed(each) if is_open(each) else each for each in inputs]
    if node.op not in _OF_ANY_SIZE:
        for each in inputs:
            bounded(np.shape(each), getattr(each, "dtype", object))
    try:
        with np.errstate(all="ignore"):
            found = FOLDS[node.op](Node(node, inputs, opset), *inputs)
    except (IndexError, KeyError, TypeError, AttributeError, ArithmeticError) as error:
        raise ValueError(f"{node.op} cannot be computed: {type(error).__name__}: {error}") from None
    results = found if isinstance(found, tuple) else (found,)
    arrays = tuple(map(np.asarray, results))
    if not all(map(is_small, arrays)):
        return evaluate(node, [fixed(each) if is_open(each) else each for each in inputs], opset)
    return tuple(map(plain, arrays)) if has_sizes else arrays
