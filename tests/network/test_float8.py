"""Weights of floats of 8 bits in ONNX files: the number of each byte, and what is computed of them at load."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pysimd
from pysimd.network.convert.float8 import FLOAT8, numbers_of
from support import Array

F = np.float32
NAMES = {17: "float8_e4m3fn", 18: "float8_e4m3fnuz", 19: "float8_e5m2", 20: "float8_e5m2fnuz"}
EVERY = np.arange(256, dtype=np.uint8)


def model(kind: int, nodes: list[tuple[str, list[str], str, dict[str, Any]]], raw: bool, scale: Array) -> bytes:
    """Nodes from a weight w with all bytes, a scale s, a zero z and an input x to y."""
    onnx = pytest.importorskip("onnx")
    helper = onnx.helper
    weights = [onnx.numpy_helper.from_array(scale, "s")]
    for name, values in (("w", EVERY.reshape(16, 16)), ("z", np.zeros(scale.shape, np.uint8))):
        tensor = onnx.TensorProto(name=name, data_type=kind, dims=values.shape)
        if raw:
            tensor.raw_data = values.tobytes()
        else:
            tensor.int32_data.extend(values.reshape(-1).tolist())
        weights.append(tensor)
    made = [helper.make_node(op, given, [y], **options) for op, given, y, options in nodes]
    x, y = (helper.make_tensor_value_info(name, 1, [16, 16]) for name in "xy")
    graph = helper.make_graph(made, "float8", [x], [y], weights)
    return bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9).SerializeToString())


@pytest.mark.parametrize("kind", FLOAT8)
def test_numbers(kind: int) -> None:
    """Those of another package."""
    types = pytest.importorskip("ml_dtypes")
    expected = EVERY.view(getattr(types, NAMES[kind])).astype(F)
    assert numbers_of(kind).tobytes() == np.where(np.isnan(expected), F(np.nan), expected).tobytes()


def test_some_numbers() -> None:
    """From the definitions: the largest, the least normal one, the least one, and what is none."""
    for kind, at, number in (
        (17, 0x7E, 448), (17, 0x08, 2**-6), (17, 0x01, 2**-9), (18, 0x7F, 240), (18, 0x01, 2**-10), (19, 0x7B, 57344),
        (19, 0x7C, np.inf), (19, 0xFC, -np.inf), (19, 0x01, 2**-16), (20, 0x7F, 57344), (20, 0x01, 2**-17), (17, 0xB8, -1),
    ):  # fmt: skip
        assert numbers_of(kind)[at] == number, (kind, at)
    for kind, count in ((17, 2), (18, 1), (19, 6), (20, 1)):
        assert np.isnan(numbers_of(kind)).sum() == count
    assert np.signbit(numbers_of(17)[0x80]) and np.signbit(numbers_of(19)[0x80])


@pytest.mark.parametrize("kind", FLOAT8)
@pytest.mark.parametrize("raw", [False, True])
def test_dequantized(kind: int, raw: bool) -> None:
    """With one scale, and one of each row."""
    x = np.random.default_rng(1).normal(0, 1, (16, 16)).astype(F)
    for scale, axis in ((np.array(0.37, F), 1), (np.linspace(0.1, 2, 16).astype(F), 0)):
        nodes = [("DequantizeLinear", ["w", "s", "z"], "f", {"axis": axis}), ("Add", ["f", "x"], "y", {})]
        found = pysimd.load(model(kind, nodes, raw, scale))(x)["y"]
        factor = scale.reshape(-1, 1) if scale.ndim else scale
        np.testing.assert_array_equal(found, numbers_of(kind).reshape(16, 16) * factor + x)


@pytest.mark.parametrize("kind", FLOAT8)
def test_cast_to_floats(kind: int) -> None:
    x = np.random.default_rng(1).normal(0, 1, (16, 16)).astype(F)
    nodes = [("Cast", ["w"], "f", {"to": 1}), ("Add", ["f", "x"], "y", {})]
    found = pysimd.load(model(kind, nodes, True, np.array(1, F)))(x)["y"]
    np.testing.assert_array_equal(found, numbers_of(kind).reshape(16, 16) + x)


def test_too_few_bytes() -> None:
    onnx = pytest.importorskip("onnx")
    file = onnx.load_from_string(model(17, [("Cast", ["w"], "y", {"to": 1})], True, np.array(1, F)))
    file.graph.initializer[1].raw_data = b"123"
    with pytest.raises(ValueError, match="has 3 bytes, expected 256"):
        pysimd.load(file)
