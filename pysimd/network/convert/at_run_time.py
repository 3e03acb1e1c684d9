"""What NumPy computes at run time, by the functions that fold constants: operators of integers and other rare ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pysimd.annotations import Array
from pysimd.network.convert.fold import FOLDS, evaluate
from pysimd.network.source import SourceNode

_OF_DATA = "the shape of its result depends on the values of its inputs"
#: Why operators are not supported that are known.
REASONS = {
    "NonZero": _OF_DATA,
    "Unique": _OF_DATA,
    "Range": f"{_OF_DATA}, which are computed at run time",
    "ConstantOfShape": f"{_OF_DATA}, which are computed at run time",
    "NonMaxSuppression": "the number of boxes depends on the values of its inputs: end the model before it, or give a"
    " function that fills a fixed number of rows, with fallback={'NonMaxSuppression': (function, types)}",
    "Loop": "loops are not supported",
    "Scan": "loops are not supported",
    "ai.onnx.ml.ZipMap": "its result is a sequence of maps: convert the estimator with options={'zipmap': False}",
}
#: Those that are computed where all their inputs are known.
OF_DATA = frozenset(name for name, reason in REASONS.items() if reason.startswith(_OF_DATA) and name in FOLDS)

#: What converters compute of all types of elements, and what has outputs whose shapes are in the values of inputs.
_IN_ADVANCE = """
    Compress Concat Constant ConstantOfShape DequantizeLinear Dropout Expand Flatten Gather Identity NonMaxSuppression
    NonZero Pad Range Reshape Shape Size Slice Split Squeeze Tile Transpose Unique Unsqueeze
"""
#: Operators that NumPy computes at run time if no converter does, or not for the types of their inputs. The shapes of their
#: outputs depend only on the shapes of inputs; those of SHAPE_INPUTS also on the values of these, which must be known.
BY_NUMPY = frozenset(FOLDS) - frozenset(_IN_ADVANCE.split())
_FLOATS = """
    Celu Elu Erf Gelu HardSigmoid HardSwish LeakyRelu LogSoftmax Mish PRelu Reciprocal ReduceLogSum
    ReduceLogSumExp Selu Sigmoid Softmax Softplus Softsign Swish Tanh
"""
FLOATS = frozenset(_FLOATS.split())  # those of float64, and of no integers
SHAPE_INPUTS: dict[str, tuple[int, ...]] = {
    "AffineGrid": (1,),
    "BlackmanWindow": (0,),
    "Col2Im": (1, 2),
    "DFT": (1, 2),
    "HammingWindow": (0,),
    "HannWindow": (0,),
    "MaxUnpool": (2,),
    "MelWeightMatrix": (0, 1, 2, 3, 4),
    "OneHot": (1,),
    "STFT": (1, 3),
    "TopK": (1,),
    **{name: (1,) for name in FOLDS if name.startswith("Reduce")},
}
#: Those whose values converters must know, too.
KNOWN_INPUTS = {**SHAPE_INPUTS, "CumSum": (1,), "Pad": (1, 2, 3), "Split": (1,), "Tile": (1,)}


class HostFunction:
    """An operator of ONNX by NumPy, some of whose inputs are known."""

    def __init__(self, node: SourceNode, known: Mapping[int, Any], opset: int) -> None:
        self.node, self.known, self.opset = node, known, opset
        self.__name__ = node.op.lower()
        #: Equal for functions that have equal results for equal inputs; None if that is not known.
        self.key: Any = None
        if all(isinstance(each, (int, float, str)) for each in node.attributes.values()) and not any(known.values()):
            places = len(node.inputs), tuple(known), len(node.outputs)
            self.key = node.domain, node.op, opset, places, tuple(sorted(node.attributes.items()))

    def __repr__(self) -> str:
        return f"{self.node.op} by NumPy"

    def __call__(self, *arrays: Array) -> tuple[Array, ...]:
        rest = iter(arrays)
        inputs = [self.known[i] if i in self.known else next(rest) for i in range(len(self.node.inputs))]
        with np.errstate(all="ignore"):
            results = evaluate(self.node, inputs, self.opset)
        if results is None:
            raise ValueError(f"{self.node.op} of these inputs is not known")
        return tuple(result.astype(np.float32) if result.dtype == np.float16 else result for result in results)
