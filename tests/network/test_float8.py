"""Floats of 8 and 4 bits in ONNX files: the number of each byte, what is rounded to them, and what is computed of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pysimd
from pysimd.network.convert.float8 import FLOAT8, SMALL_FLOATS, numbers_of, rounded
from support import Array

F = np.float32
NAMES = {
    17: "float8_e4m3fn", 18: "float8_e4m3fnuz", 19: "float8_e5m2", 20: "float8_e5m2fnuz", 23: "float4_e2m1fn",
    24: "float8_e8m0fnu",
}  # fmt: skip
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


#: All floats of 16 bits, some of 32, and the edges: what is halfway between two numbers, and just beyond it.
HALVES = np.arange(65536, dtype=np.uint16).view(np.float16).astype(F)
SOME = np.random.default_rng(3).integers(0, 1 << 32, 100000, dtype=np.uint32).view(F)


def edges(kind: int) -> Array:
    numbers = numbers_of(kind).astype(np.float64)
    numbers = np.unique(numbers[np.isfinite(numbers)])
    between = ((numbers[1:] + numbers[:-1]) / 2).astype(F)
    most = F(1.5) * F(numbers[-1])
    steps = [np.nextafter(between, F(limit), dtype=F) for limit in (-np.inf, np.inf)]
    return np.concatenate([between, *steps, numbers.astype(F), np.array([most, -most, np.inf, -np.inf, np.nan, -0.0], F)])


@pytest.mark.parametrize("kind", SMALL_FLOATS)
def test_numbers(kind: int) -> None:
    """Those of another package."""
    types = pytest.importorskip("ml_dtypes")
    expected = EVERY[: 16 if kind == 23 else 256].view(getattr(types, NAMES[kind])).astype(F)
    assert numbers_of(kind).tobytes() == np.where(np.isnan(expected), F(np.nan), expected).tobytes()


def assert_numbers(found: Array, expected: Array) -> None:
    """Equal, with their signs, and NaN for NaN."""
    np.testing.assert_array_equal(found, expected)
    kept = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(found[kept]), np.signbit(expected[kept]))


@pytest.mark.parametrize("kind", [kind for kind in SMALL_FLOATS if kind != 24])
def test_rounding(kind: int) -> None:
    """As another package rounds; it does not saturate types that have NaN or infinity."""
    types = pytest.importorskip("ml_dtypes")
    dtype = getattr(types, NAMES[kind])
    x = np.concatenate([HALVES, SOME, edges(kind)])
    x = x[~np.isnan(x)] if kind == 23 else x  # which has no NaN: 0 of either sign
    with np.errstate(all="ignore"):
        expected = x.astype(dtype).astype(F)
        most = F(types.finfo(dtype).max)
        within = np.clip(x, -most, most).astype(dtype).astype(F)
    assert_numbers(rounded(x, kind, saturate=False), expected)
    assert_numbers(rounded(x, kind), within if kind != 23 else expected)
    known = rounded(x, kind)
    assert_numbers(rounded(known, kind), np.where(np.isnan(known), F(np.nan), known))


@pytest.mark.parametrize("mode", ["up", "down", "nearest"])
@pytest.mark.parametrize("saturate", [False, True])
def test_rounding_to_powers(mode: str, saturate: bool) -> None:
    """From the definitions: signs are lost, infinity is NaN, 0 and subnormal numbers are the least powers."""
    x = np.array([1, 1.25, 1.5, -1.5, 1.75, -2, 3e38, 0, np.inf, np.nan], F)
    beyond = F(2.0**127) if saturate else F(np.nan)
    most = {"up": beyond, "nearest": beyond, "down": F(2.0**127)}[mode]
    up = {"up": [1, 2, 2, 2, 2, 2], "down": [1, 1, 1, 1, 1, 2], "nearest": [1, 1, 2, 2, 2, 2]}[mode]
    expected = np.array([*up, most, 2.0**-127, np.nan, np.nan], F)
    np.testing.assert_array_equal(rounded(x, 24, saturate, mode), expected)
    powers = np.ldexp(F(1), np.arange(-126, 128)).astype(F)
    np.testing.assert_array_equal(rounded(powers, 24, saturate, mode), powers)
    with pytest.raises(ValueError, match="round_mode is 'even'"):
        rounded(x, 24, saturate, "even")


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


def graph(nodes: list[tuple[str, list[str], str, dict[str, Any]]], x: int, y: int, **weights: tuple[int, Array]) -> Any:
    """A model from x (4, 6) of one type to y of another, and weights of types with their bytes."""
    helper = pytest.importorskip("onnx").helper
    values = [helper.make_tensor_value_info(name, of, [4, 6]) for name, of in (("x", x), ("y", y))]
    tensors = [
        helper.make_tensor(name, of, a.shape, a.tobytes() if of != 1 else a, raw=of != 1)
        for name, (of, a) in weights.items()
    ]
    made = [helper.make_node(op, given, [out], **options) for op, given, out, options in nodes]
    whole = helper.make_graph(made, "float8", values[:1], values[1:], tensors)
    file = helper.make_model(whole, opset_imports=[helper.make_opsetid("", 24)], ir_version=11)
    return pysimd.load(file.SerializeToString())


@pytest.mark.parametrize("kind", FLOAT8)
@pytest.mark.parametrize("saturate", [0, 1])
@pytest.mark.parametrize("each", [False, True])
def test_quantised_and_back(kind: int, saturate: int, each: bool) -> None:
    """QuantizeLinear with a zero point of a type, and with output_dtype; what follows moves floats."""
    x = np.random.default_rng(4).normal(0, 300, (4, 6)).astype(F)
    scale = np.linspace(0.1, 2, 4).astype(F) if each else np.array(0.37, F)
    column = scale.reshape(-1, 1) if each else scale
    numbers = rounded(x / column, kind, bool(saturate))
    zero = {"z": (kind, np.zeros(scale.shape, np.uint8))}
    for weights, inputs, options in (
        (zero, ["x", "s", "z"], {}),
        ({}, ["x", "s"], {"output_dtype": kind}),
    ):
        quantize = ("QuantizeLinear", inputs, "q", {"axis": 0, "saturate": saturate, **options})
        back = ("DequantizeLinear", ["m", *inputs[1:]], "y", {"axis": 0})
        nodes = [quantize, ("Identity", ["q"], "m", {}), back]
        found = graph(nodes, 1, 1, s=(1, scale), **weights)(x)["y"]
        np.testing.assert_array_equal(found, numbers * column)


@pytest.mark.parametrize("kind", SMALL_FLOATS)
def test_inputs_and_results(kind: int) -> None:
    """They are float32: the numbers of the type."""
    x = numbers_of(kind)[:24].reshape(4, 6) if kind != 23 else np.resize(numbers_of(kind), (4, 6))
    model = graph([("Cast", ["x"], "f", {"to": 1}), ("Neg", ["f"], "y", {})], kind, 1)
    assert model.inputs["x"].dtype == "float32"
    np.testing.assert_array_equal(model(x)["y"], -x)
    values = np.random.default_rng(5).normal(0, 2, (4, 6)).astype(F)
    np.testing.assert_array_equal(graph([("Cast", ["x"], "y", {"to": kind})], 1, kind)(values)["y"], rounded(values, kind))
    like = ("CastLike", ["x", "w"], "y", {"saturate": 0})
    found = graph([like], 1, kind, w=(kind, np.zeros(1, np.uint8)))(100000 * values)["y"]
    np.testing.assert_array_equal(found, rounded(100000 * values, kind, False))


def test_weights_of_4_bits() -> None:
    """Two in a byte, the low bits first."""
    nodes: list[Any] = [("DequantizeLinear", ["w", "s"], "f", {}), ("Add", ["f", "x"], "y", {})]
    weight = np.array([0x10, 0x32, 0x54, 0x76, 0x98, 0xBA, 0xDC, 0xFE, 0x21, 0x43, 0x65, 0x87], np.uint8)
    helper = pytest.importorskip("onnx").helper
    tensor = helper.make_tensor("w", 23, [4, 6], weight.tobytes(), raw=True)
    values = [helper.make_tensor_value_info(name, 1, [4, 6]) for name in "xy"]
    made = [helper.make_node(op, given, [out], **options) for op, given, out, options in nodes]
    whole = helper.make_graph(made, "float4", values[:1], values[1:], [tensor, helper.make_tensor("s", 1, [], [0.5])])
    file = helper.make_model(whole, opset_imports=[helper.make_opsetid("", 23)], ir_version=11)
    every = numbers_of(23)[[*range(16), 1, 2, 3, 4, 5, 6, 7, 8]].reshape(4, 6)
    np.testing.assert_array_equal(pysimd.load(file.SerializeToString())(np.zeros((4, 6), F))["y"], every * F(0.5))


def test_what_floats_of_8_bits_are_not() -> None:
    """A DequantizeLinear of other floats is none."""
    with pytest.raises(ValueError, match="its input is float32, supported are uint8"):
        graph([("DequantizeLinear", ["x", "s"], "y", {})], 1, 1, s=(1, np.ones((), F)))(np.zeros((4, 6), F))


def test_too_few_bytes() -> None:
    onnx = pytest.importorskip("onnx")
    file = onnx.load_from_string(model(17, [("Cast", ["w"], "y", {"to": 1})], True, np.array(1, F)))
    file.graph.initializer[1].raw_data = b"123"
    with pytest.raises(ValueError, match="has 3 bytes, expected 256"):
        pysimd.load(file)


@pytest.mark.parametrize("to", [17, 21])
def test_sizes_as_small_numbers_are_refused_in_c(to: int, tmp_path: Path) -> None:
    """What depends on sizes that are open is computed in C as well, but for such types."""
    helper = pytest.importorskip("onnx").helper
    values = [helper.make_tensor_value_info("x", 1, ["a", "b"]), helper.make_tensor_value_info("y", 1, None)]
    nodes = [helper.make_node("Shape", ["x"], ["s"]), helper.make_node("Cast", ["s"], ["q"], to=to)]
    nodes.append(helper.make_node("Cast", ["q"], ["y"], to=1))
    file = helper.make_model(
        helper.make_graph(nodes, "sizes", values[:1], values[1:]), opset_imports=[helper.make_opsetid("", 21)], ir_version=10
    )
    (tmp_path / "sizes.onnx").write_bytes(file.SerializeToString())
    command = [sys.executable, "-m", "pysimd", "compile", str(tmp_path / "sizes.onnx"), "-o", str(tmp_path / "c")]
    done = subprocess.run([*command, "--shape", "x:a,b"], capture_output=True, text=True, check=False)
    assert done.returncode and f"to the type {to} of ONNX, which programs in C do not have" in done.stderr
