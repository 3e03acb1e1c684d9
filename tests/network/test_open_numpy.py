"""Operators that NumPy computes, or places that it computes for others, in plans of open sizes: each shape has the result
of a plan for it alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pysimd
from network.test_values import FLOAT, INT64, node, value
from pysimd.network.open_runner import OpenRunner
from support import Array

onnx = pytest.importorskip("onnx", reason="ONNX files need the package onnx")
helper, numpy_helper = onnx.helper, onnx.numpy_helper

ONES = np.ones((3, 2, 2, 2), np.float32)
#: A node, the shapes of its inputs with a letter for each open dimension, and weights. Inputs of "i" are integers below 2.
CASES: dict[str, tuple[Any, dict[str, str], dict[str, Any]]] = {
    "RoiAlign": (node("RoiAlign", "x", "r", "i", output_height=2), {"x": "2 3 h w", "r": "n 4", "i": "n"}, {}),
    "MaxRoiPool": (node("MaxRoiPool", "x", "r", pooled_shape=[2, 3]), {"x": "2 3 h w", "r": "n 5"}, {}),
    "Det": (node("Det", "x"), {"x": "n h h"}, {}),
    "DFT": (node("DFT", "x", onesided=1), {"x": "n w 1"}, {}),
    "STFT": (node("STFT", "x", "step", "", "size"), {"x": "n w 1"}, {"step": 2, "size": 3}),
    "NegativeLogLikelihoodLoss": (
        node("NegativeLogLikelihoodLoss", "x", "i", reduction="none"), {"x": "n 3 w", "i": "n w"}, {},
    ),
    "SoftmaxCrossEntropyLoss": (node("SoftmaxCrossEntropyLoss", "x", "i", gives="y z"), {"x": "n 3", "i": "n"}, {}),
    "CenterCropPad": (node("CenterCropPad", "x", "size", axes=[1, 2]), {"x": "n h w"}, {"size": [6, 5]}),
    "Col2Im": (node("Col2Im", "x", "size", "block"), {"x": "n 12 9"}, {"size": [4, 4], "block": [2, 2]}),
    "CausalConvWithState": (node("CausalConvWithState", "x", "k", gives="y z"), {"x": "n 3 w"}, {"k": ONES[:, :1, 0]}),
    "TensorScatter": (node("TensorScatter", "x", "u", "i"), {"x": "n 3 9 2", "u": "n 3 w 2", "i": "n"}, {}),
    "DeformConv": (node("DeformConv", "x", "k", "o"), {"x": "n 2 6 w", "o": "n 8 5 v"}, {"k": ONES}),
    "BitCast": (node("BitCast", "x", to=6), {"x": "n w"}, {}),
    "CumProd": (node("CumProd", "x", "axis"), {"x": "n w"}, {"axis": 1}),
    "MaxPool": (node("MaxPool", "x", gives="y z", kernel_shape=[3, 2], pads=[1] * 4), {"x": "n 2 h w"}, {}),
    "MaxUnpool": (node("MaxUnpool", "x", "i", kernel_shape=[2, 2]), {"x": "n 2 h w", "i": "n 2 h w"}, {}),
    "ReverseSequence": (node("ReverseSequence", "x", "i"), {"x": "h n 3", "i": "n"}, {}),
    "ReverseSequence of batches": (
        node("ReverseSequence", "x", "i", batch_axis=0, time_axis=1), {"x": "n h 3", "i": "n"}, {},
    ),
}  # fmt: skip
SIZES = [{"n": 2, "h": 4, "w": 6, "v": 5}, {"n": 3, "h": 5, "w": 7, "v": 6}, {"n": 1, "h": 7, "w": 5, "v": 4}]


def array_of(name: str, shape: tuple[int, ...]) -> Array:
    rng = np.random.default_rng(len(shape))
    if name == "i":
        return rng.integers(0, 2, shape)
    found = rng.uniform(-1, 1, shape).astype(np.float32)
    if name == "r":
        found[:, -2:] += 4
        found[:, : shape[1] - 4] = 1
    return found


@pytest.mark.parametrize("name", CASES)
def test_open_sizes(name: str) -> None:
    one, shapes, weights = CASES[name]
    dims: dict[str, list[Any]] = {key: [n if n.isalpha() else int(n) for n in text.split()] for key, text in shapes.items()}
    inputs = [value(key, INT64 if key == "i" else FLOAT, each) for key, each in dims.items()]
    tensors = [numpy_helper.from_array(np.asarray(array), key) for key, array in weights.items()]
    outputs = [onnx.ValueInfoProto(name=each) for each in one.output]
    graph = helper.make_graph([one], "net", inputs, outputs, tensors)
    opset = {"BitCast": 28, "CumProd": 28, "CausalConvWithState": 28, "TensorScatter": 24, "DFT": 17}.get(name, 19)
    message = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=13)
    runner = pysimd.load(message).prepare()
    assert isinstance(runner, OpenRunner)
    for sizes in SIZES:
        given = {
            key: array_of(key, tuple(sizes[n] if isinstance(n, str) else n for n in each)) for key, each in dims.items()
        }
        alone = pysimd.load(message).prepare({key: array.shape for key, array in given.items()})
        found, other = runner(given), alone(given)
        for each in one.output:
            np.testing.assert_array_equal(found[each], other[each], strict=True)
