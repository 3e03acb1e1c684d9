"""Products of bytes whose results are floats, and biases of convolutions that are no integers in units of the sums."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from network import quantised as formulas
from network.test_quantised import F, assert_bits, node, operators_of, random_bytes, run
from network.test_quantised_groups import begin, end, of_bytes, of_matrices
from pysimd.network.source import SourceNode
from support import COMPILER, Array

FLOATS = {"Conv", "Dequantize", "Linear", "MatMul", "Scale"}


def biases(rng: Any, outputs: int) -> dict[str, tuple[dict[str, Array], list[SourceNode], Any]]:
    """By kind: weights, nodes, and the floats that are added."""
    floats, integers = rng.normal(0, 1, outputs).astype(F), rng.integers(-900, 900, outputs).astype(np.int32)
    other = {"b": integers, "sb": F(0.001), "zb": np.int32(0)}
    return {
        "none": ({}, [], None),
        "floats": ({"c": floats}, [], floats),
        "of another scale": (other, [node("DequantizeLinear", "b sb zb", "c")], integers.astype(F) * F(0.001)),
    }


KINDS = tuple(biases(np.random.default_rng(0), 1))


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize("shape", [(3, 70), (2, 3, 70)], ids=str)
@pytest.mark.parametrize("each", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_products_of_matrices(shape: tuple[int, ...], dtype: str, each: bool, kind: str) -> None:
    """A MatMul, and a Gemm with both orders of its weights: MatMulIntegerToFloat."""
    rng, of = np.random.default_rng(31), of_bytes(dtype)
    x, weights = random_bytes(rng, dtype, *shape), {**of, **of_matrices(rng, 66, 70, each)}
    more, nodes, bias = biases(rng, 66)[kind]
    weights = {**{name: array for name, array in weights.items() if name not in ("b", "sb", "zb")}, **more}
    expected = formulas.to_float(formulas.matmul_integer(x, weights["w"], of["zx"]), of["sx"], weights["sw"], bias)
    products = [node("MatMul", "f v", "y")] if bias is None else [node("MatMul", "f v", "g"), node("Add", "g c", "y")]
    nodes = [begin(), *nodes]
    both = [*nodes, node("DequantizeLinear", "w sw zw", "v", axis=1), *products]
    assert_bits(run(both, {"x": x}, weights), expected)
    assert not FLOATS & operators_of(both, {"x": x}, weights)
    for turned in (0, 1) if len(shape) == 2 else ():
        given = {**weights, "w": np.ascontiguousarray(weights["w"].T) if turned else weights["w"]}
        gemm = node("Gemm", "f v" if bias is None else "f v c", "y", transB=turned)
        both = [*nodes, node("DequantizeLinear", "w sw zw", "v", axis=1 - turned), gemm]
        assert_bits(run(both, {"x": x}, given), expected)
        assert not FLOATS & operators_of(both, {"x": x}, given)


def of_images(rng: Any, each: bool, outputs: int = 66, inputs: int = 65, k: int = 1) -> dict[str, Any]:
    sw = (rng.uniform(0.01, 0.02, outputs) if each else np.array(0.01)).astype(F)
    return {"w": random_bytes(rng, "int8", outputs, inputs, k, k), "sw": sw, "zw": np.zeros(sw.shape, np.int8)}


def of_channels(array: Any) -> Any:
    """Numbers of channels beside images; others as they are."""
    return np.reshape(array, (-1, 1, 1)) if np.ndim(array) else array


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize("each", [False, True])
@pytest.mark.parametrize("options", [{}, {"strides": (2, 2)}, {"pads": (1, 0, 1, 2)}], ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_convolutions(dtype: str, each: bool, options: dict[str, Any], kind: str) -> None:
    """Of one pixel: exact sums, which become floats."""
    rng, of = np.random.default_rng(32), of_bytes(dtype)
    x, weights = random_bytes(rng, dtype, 2, 65, 6, 7), {**of, **of_images(rng, each)}
    more, nodes, bias = biases(rng, 66)[kind]
    weights.update(more)
    window = options.get("strides", (1, 1)), options.get("pads", (0, 0, 0, 0)), (1, 1)
    sums = formulas.conv_integer(x, weights["w"], of["zx"], 0, *window, 1)
    expected = formulas.to_float(sums, of["sx"], of_channels(weights["sw"]), None if bias is None else of_channels(bias))
    weight = node("DequantizeLinear", "w sw zw", "v", axis=0)
    nodes = [begin(), weight, *nodes, node("Conv", "f v" if bias is None else "f v c", "y", **options)]
    assert_bits(run(nodes, {"x": x}, weights), expected)
    assert not FLOATS & operators_of(nodes, {"x": x}, weights)


def test_products_that_stay_floats() -> None:
    """Small ones, those of one row, windows and groups: near the formula."""
    rng, of = np.random.default_rng(33), of_bytes("uint8")
    weight = node("DequantizeLinear", "w sw zw", "v", axis=1)
    for rows, size, outputs in ((5, 7, 6), (1, 70, 66)):
        x, weights = random_bytes(rng, "uint8", rows, size), {**of, **of_matrices(rng, outputs, size, True)}
        nodes = [begin(), weight, node("MatMul", "f v", "y")]
        expected = formulas.to_float(formulas.matmul_integer(x, weights["w"], of["zx"]), of["sx"], weights["sw"])
        np.testing.assert_allclose(run(nodes, {"x": x}, weights), expected, rtol=0, atol=1e-6 * abs(expected).max())
        assert "PackedProduct" not in operators_of(nodes, {"x": x}, weights)
    weight = node("DequantizeLinear", "w sw zw", "v", axis=0)
    for k, inputs, group in ((3, 65, 1), (1, 64, 2)):
        x = random_bytes(rng, "uint8", 1, inputs, 6, 7)
        weights = {**of, **of_images(rng, True, 66, inputs // group, k)}
        nodes = [begin(), weight, node("Conv", "f v", "y", group=group)]
        sums = formulas.conv_integer(x, weights["w"], of["zx"], 0, (1, 1), (0, 0, 0, 0), (1, 1), group)
        expected = formulas.to_float(sums, of["sx"], of_channels(weights["sw"]))
        np.testing.assert_allclose(run(nodes, {"x": x}, weights), expected, rtol=0, atol=2e-5 * abs(expected).max())
        assert "PackedProduct" not in operators_of(nodes, {"x": x}, weights)


@pytest.mark.parametrize(("size", "exact"), [(256, True), (255, False)])
def test_one_row(size: int, exact: bool) -> None:
    """From 65536 weights on, it is exact sums."""
    rng, of = np.random.default_rng(34), of_bytes("uint8")
    x, weights = random_bytes(rng, "uint8", 1, size), {**of, **of_matrices(rng, 256, size, True)}
    nodes = [begin(), node("DequantizeLinear", "w sw zw", "v", axis=1), node("MatMul", "f v", "y")]
    expected = formulas.to_float(formulas.matmul_integer(x, weights["w"], of["zx"]), of["sx"], weights["sw"])
    np.testing.assert_allclose(run(nodes, {"x": x}, weights), expected, rtol=0, atol=4e-6 * abs(expected).max())
    assert ("PackedProduct" in operators_of(nodes, {"x": x}, weights)) == exact
    if exact:
        assert_bits(run(nodes, {"x": x}, weights), expected)


# ---- biases of convolutions


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize(("k", "inputs", "group"), [(3, 5, 1), (1, 65, 1), (3, 66, 66)])
@pytest.mark.parametrize("kind", KINDS[1:])
def test_rounded_biases(dtype: str, k: int, inputs: int, group: int, kind: str) -> None:
    """To integers in units of the sums, if half a unit is at most 1/256 of a step of the result: one QLinearConv."""
    rng, of = np.random.default_rng(34), {**of_bytes(dtype), "sy": F(0.5)}
    x, weights = random_bytes(rng, dtype, 2, inputs, 6, 7), {**of, **of_images(rng, True, 66, inputs // group, k)}
    more, nodes, bias = biases(rng, 66)[kind]
    weights.update(more)
    weight = node("DequantizeLinear", "w sw zw", "v", axis=0)
    nodes = [begin(), weight, *nodes, node("Conv", "f v c", "g", group=group), node("Relu", "g", "r"), end("r")]
    sums = formulas.conv_integer(x, weights["w"], of["zx"], 0, (1, 1), (0, 0, 0, 0), (1, 1), group)
    exact = formulas.to_float(sums, of["sx"], of_channels(weights["sw"]), of_channels(bias))
    integers = np.rint(bias / (np.float64(of["sx"]) * weights["sw"])).astype(np.int32)
    sums = sums + of_channels(integers)
    factor = of_channels(formulas.factor(of["sx"], weights["sw"], of["sy"]))
    expected = formulas.requantize(sums, factor, of["zy"], dtype).clip(min=of["zy"])
    found = run(nodes, {"x": x}, weights)
    assert_bits(found, expected)
    assert "QuantizedConv" in operators_of(nodes, {"x": x}, weights)
    near = formulas.quantize(exact, of["sy"], of["zy"], dtype).clip(min=of["zy"])
    assert abs(found.astype(int) - near).max() <= 1 and (found != near).mean() < 1 / 256


@pytest.mark.parametrize("change", ["step", "bias"])
def test_biases_that_are_not_rounded(change: str) -> None:
    """Where a unit is large beside a step of the result, and where the integers would be large: floats."""
    rng, of = np.random.default_rng(35), of_bytes("uint8")
    x, weights = random_bytes(rng, "uint8", 1, 5, 6, 7), {**of, **of_images(rng, True, 66, 5, 3)}
    weights["c"] = rng.normal(0, 1, 66).astype(F)
    if change == "step":
        weights["sy"] = F(0.001)
    else:
        weights["sy"], weights["c"][3] = F(1e5), F(1e7)
    nodes = [begin(), node("DequantizeLinear", "w sw zw", "v", axis=0), node("Conv", "f v c", "g"), end("g")]
    sums = formulas.conv_integer(x, weights["w"], of["zx"], 0, (1, 1), (0, 0, 0, 0), (1, 1), 1)
    exact = formulas.to_float(sums, of["sx"], of_channels(weights["sw"]), of_channels(weights["c"]))
    expected = formulas.quantize(exact, weights["sy"], of["zy"], "uint8")
    assert abs(run(nodes, {"x": x}, weights).astype(int) - expected).max() <= 1
    assert "QuantizedConv" not in operators_of(nodes, {"x": x}, weights)


@pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")
def test_programs_in_c(tmp_path: Path) -> None:
    """A convolution whose bias is rounded, one of a pixel and a product of matrices whose results are floats: equal bits."""
    onnx = pytest.importorskip("onnx")
    from network import test_course_program as programs

    rng, helper = np.random.default_rng(36), onnx.helper
    weights = {**of_bytes("uint8"), "sy": F(0.5), **of_images(rng, True, 64, 5, 3), "c": rng.normal(0, 1, 64).astype(F)}
    weights.update((f"{name}1", array) for name, array in of_images(rng, True, 66, 64).items())
    weights.update((f"{name}2", array) for name, array in of_matrices(rng, 72, 66, True).items())
    dequantize, quantize = "DequantizeLinear", "QuantizeLinear"
    nodes = [
        helper.make_node(op, inputs.split(), [y], **({} if axis is None else {"axis": axis}))
        for op, inputs, y, axis in (
            (dequantize, "x sx zx", "f", None), (dequantize, "w sw zw", "v", 0), ("Conv", "f v c", "g", None),
            (quantize, "g sy zy", "q", None), (dequantize, "q sy zy", "h", None),
            (dequantize, "w1 sw1 zw1", "v1", 0), ("Conv", "h v1", "y", None),
            ("Reshape", "h rows", "r", None), (quantize, "r sy zy", "p", None), (dequantize, "p sy zy", "s", None),
            (dequantize, "w2 sw2 zw2", "v2", 1), ("MatMul", "s v2", "z", None),
        )
    ]  # fmt: skip
    weights["rows"] = np.array([-1, 66])
    values = [onnx.numpy_helper.from_array(np.asarray(array), name) for name, array in weights.items()]
    x = helper.make_tensor_value_info("x", onnx.TensorProto.UINT8, [1, 5, 13, 8])
    outputs = [helper.make_tensor_value_info(name, 1, None) for name in ("y", "z")]
    graph = helper.make_graph(nodes, "net", [x], outputs, values)
    message = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    given = [{"x": random_bytes(rng, "uint8", 1, 5, 13, 8)}]
    programs.compare(message, None, given, tmp_path)
