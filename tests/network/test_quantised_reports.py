"""What other libraries were reported to get wrong of quantised models, by the threads of their trackers; each result has the
bits of the formula."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pysimd
from network import quantised as formulas
from network.test_quantised import F, assert_bits, node, operators_of, random_bytes, run
from pysimd.network.source import SourceNode
from support import Array

WHOLE: dict[str, Any] = {"strides": (1, 1), "pads": (0, 0, 0, 0), "dilations": (1, 1), "group": 1}


def begin(x: str, y: str, of: str, **attributes: Any) -> SourceNode:
    return node("DequantizeLinear", f"{x} {of}", y, **attributes)


def end(x: str) -> SourceNode:
    return node("QuantizeLinear", f"{x} sy zy", "y")


# ---- microsoft/onnxruntime#6004, #5849, #14642, #16105, pytorch#103646, oneDNN#1354: sums of pairs that exceed 16 bits


@pytest.mark.parametrize("weight", [127, -127, -128])
@pytest.mark.parametrize("byte", [255, 0])
@pytest.mark.parametrize("size", [1, 7, 64, 300])
def test_extreme_bytes(size: int, byte: int, weight: int) -> None:
    x, w = np.full((2, size, 3, 3), byte, np.uint8), np.full((5, size, 1, 1), weight, np.int8)
    w[1::2] *= -1 if weight != -128 else 1
    largest = 255 * 128 * size
    of: dict[str, Any] = {
        "sx": F(1),
        "zx": np.uint8(0),
        "sw": F(1),
        "zw": np.int8(0),
        "sy": F(largest / 127),
        "zy": np.uint8(128),
        "w": w,
    }
    sums = formulas.conv_integer(x, w, 0, 0, **WHOLE)
    assert_bits(run([node("ConvInteger", "x w", "y")], {"x": x}, {"w": w}), sums)
    layer = node("QLinearConv", "x sx zx w sw zw sy zy", "y")
    expected = formulas.requantize(sums, formulas.factor(F(1), F(1), of["sy"]), 128, "uint8")
    assert_bits(run([layer], {"x": x}, of), expected)
    matrix = np.ascontiguousarray(w[:, :, 0, 0].T)
    rows = np.ascontiguousarray(x[:, :, 0, 0])
    assert_bits(run([node("MatMulInteger", "x w", "y")], {"x": rows}, {"w": matrix}), formulas.matmul_integer(rows, matrix))


# ---- #32132, #25512, #23202, #11759, #18576: results halfway between two bytes


@pytest.mark.parametrize("zero", [0, 127, 128, 255])
@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_ties(zero: int, dtype: str) -> None:
    """Scales are powers of 2: the nearest even number, then the zero, but for sums and products of two bytes, whose zero is
    added before."""
    every = np.arange(256, dtype=np.uint8).view(dtype).reshape(4, 64)
    z = np.array(zero, np.uint8).view(dtype)[()]
    of: dict[str, Any] = {
        "sx": F(1),
        "zx": np.zeros((), dtype),
        "sy": F(2),
        "zy": z,
        "w": np.eye(64, dtype=np.int8),
        "sw": F(1),
    }
    of["zw"] = np.int8(0)
    half = formulas.quantize(every.astype(F), F(2), z, dtype)
    assert_bits(run([end("x")], {"x": every.astype(F)}, of), half)
    assert_bits(run([begin("x", "f", "sx zx"), end("f")], {"x": every}, of), half)
    product = [node("QLinearMatMul", "x sx zx w sw zw sy zy", "y")]
    assert_bits(run(product, {"x": every}, of), half)
    both = [begin("x", "f", "sx zx"), begin("v", "g", "sx zx"), node("Add", "f g", "h"), end("h")]
    v = np.full((1, 64), 1, dtype)
    numbers = (F(1), np.zeros((), dtype)[()], F(1), np.zeros((), dtype)[()], F(2), z, dtype)
    expected = formulas.add(every.reshape(-1), np.tile(v, (4, 1)).reshape(-1), *numbers).reshape(4, 64)
    assert_bits(run(both, {"x": every, "v": v}, of), expected)
    both[2] = node("Mul", "f g", "h")
    assert_bits(run(both, {"x": every, "v": v}, of), formulas.multiply(every, v, *numbers))


# ---- #9425, #11660, #11696: a Relu that is dropped though the zero is not the least byte


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize("above", [0, 1, 100])
def test_a_relu_before_bytes(above: int, dtype: str) -> None:
    least = formulas.LIMITS[dtype][0]
    x = random_bytes(np.random.default_rng(1), dtype, 4, 9)
    of: dict[str, Any] = {
        "sx": F(0.05),
        "zx": np.array(least + 90, dtype),
        "sy": F(0.031),
        "zy": np.array(least + above, dtype),
    }
    floats = np.maximum(formulas.dequantize(x, of["sx"], of["zx"]), 0)
    nodes = [begin("x", "f", "sx zx"), node("Relu", "f", "g"), end("g")]
    found = run(nodes, {"x": x}, of)
    assert_bits(found, formulas.quantize(floats, of["sy"], of["zy"], dtype))
    assert found.min() == least + above


# ---- #17718, #12800, #12151: scales along an axis


@pytest.mark.parametrize(("shape", "axis"), [((6,), 0), ((6,), -1), ((6, 5), 0), ((5, 6), 1), ((5, 6), -1), ((2, 6, 3), -2)])
@pytest.mark.parametrize("known", [False, True])
def test_scales_along_an_axis(shape: tuple[int, ...], axis: int, known: bool) -> None:
    rng = np.random.default_rng(2)
    x = random_bytes(rng, "int8", *shape)
    s, z = rng.uniform(0.01, 0.1, 6).astype(F), rng.integers(-5, 5, 6).astype(np.int8)
    along = tuple(6 if i == axis % len(shape) else 1 for i in range(len(shape)))
    expected = formulas.dequantize(x, s.reshape(along), z.reshape(along))
    nodes = [begin("x", "f", "s z", axis=axis), node("Add", "f none", "y")]
    of: dict[str, Any] = {"s": s, "z": z, "none": F(0)}
    given = {"x": x, "s": s, "z": z}
    if known:
        nodes, of, given = [*nodes[:1], node("Add", "f v", "y")], {**of, "x": x}, {"v": np.zeros(shape, F)}
    else:
        of = {"none": F(0)}
    assert_bits(run(nodes, given, of), expected)


@pytest.mark.parametrize("form", ["", "Transpose", "Reshape"])
@pytest.mark.parametrize("one", [(), (1,)])
def test_weights_that_are_moved(form: str, one: tuple[int, ...]) -> None:
    """Between the DequantizeLinear and the product, with a scale that has a dimension or none."""
    rng = np.random.default_rng(3)
    x, w = random_bytes(rng, "uint8", 4, 7), random_bytes(rng, "int8", 7, 6)
    stored = {"Transpose": np.ascontiguousarray(w.T), "Reshape": w.reshape(7, 2, 3)}.get(form, w)
    of: dict[str, Any] = {
        "sx": F(0.02),
        "zx": np.uint8(99),
        "sw": np.full(one, 0.01, F),
        "zw": np.zeros(one, np.int8),
        "w": stored,
    }
    of.update(sy=F(0.11), zy=np.uint8(120), shape=np.array([7, 6]))
    move = {"Transpose": [node("Transpose", "v", "t", perm=(1, 0))], "Reshape": [node("Reshape", "v shape", "t")]}.get(
        form, []
    )
    nodes = [
        begin("x", "f", "sx zx"),
        begin("w", "v", "sw zw"),
        *move,
        node("MatMul", "f t" if move else "f v", "g"),
        end("g"),
    ]
    exact = formulas.to_float(formulas.matmul_integer(x, w, of["zx"]), of["sx"], F(0.01))
    found = run(nodes, {"x": x}, of).astype(int)
    assert abs(found - formulas.quantize(exact, of["sy"], of["zy"], "uint8")).max() <= 1


# ---- #21287, #22089: nodes that move, or that mix, bytes


def test_pixels_of_channels() -> None:
    """DepthToSpace between bytes moves bytes."""
    x = random_bytes(np.random.default_rng(4), "uint8", 1, 8, 3, 5)
    of: dict[str, Any] = {"sx": F(0.02), "zx": np.uint8(99), "sy": F(0.02), "zy": np.uint8(99)}
    nodes = [begin("x", "f", "sx zx"), node("DepthToSpace", "f", "g", blocksize=2), end("g")]
    expected = x.reshape(1, 2, 2, 2, 3, 5).transpose(0, 3, 4, 1, 5, 2).reshape(1, 2, 6, 10)
    assert_bits(run(nodes, {"x": x}, of), np.ascontiguousarray(expected))


def test_a_linear_resize_is_one_of_floats() -> None:
    """Bytes between others are not rounded before they are quantised with another scale."""
    x = random_bytes(np.random.default_rng(5), "uint8", 1, 2, 4, 4)
    of: dict[str, Any] = {
        "sx": F(0.5),
        "zx": np.uint8(3),
        "sy": F(0.013),
        "zy": np.uint8(90),
        "double": np.array([1, 1, 2, 2], F),
    }
    resize = node("Resize", "f - double", "g", mode="linear")
    floats = run([begin("x", "f", "sx zx"), resize, node("Identity", "g", "y")], {"x": x}, of)
    found = run([begin("x", "f", "sx zx"), resize, end("g")], {"x": x}, of)
    assert_bits(found, formulas.quantize(floats, of["sy"], of["zy"], "uint8"))


# ---- #26324: the first layer, of three channels


@pytest.mark.parametrize("size", [(9, 9), (32, 32), (17, 40)], ids=str)
def test_images_of_three_channels(size: tuple[int, int]) -> None:
    """Also those that are given with the channels last."""
    rng = np.random.default_rng(6)
    x, w = random_bytes(rng, "uint8", 1, *size, 3), random_bytes(rng, "int8", 16, 3, 3, 3)
    of: dict[str, Any] = {
        "sx": F(0.02),
        "zx": np.uint8(114),
        "sw": rng.uniform(0.01, 0.02, 16).astype(F),
        "sy": F(0.3),
        "zy": np.uint8(100),
    }
    of.update(w=w, zw=np.zeros(16, np.int8))
    options: dict[str, Any] = {"strides": (2, 2), "pads": (1, 1, 1, 1), "dilations": (1, 1), "group": 1}
    layer = node("QLinearConv", "t sx zx w sw zw sy zy", "y", **{k: v for k, v in options.items() if k != "group"})
    image = np.ascontiguousarray(x.transpose(0, 3, 1, 2))
    sums = formulas.conv_integer(image, w, of["zx"], 0, **options)
    by = formulas.factor(of["sx"], of["sw"].reshape(-1, 1, 1), of["sy"])
    found = run([node("Transpose", "x", "t", perm=(0, 3, 1, 2)), layer], {"x": x}, of)
    assert_bits(found, formulas.requantize(sums, by, of["zy"], "uint8"))


# ---- #21000, #21645, #22020, #25278, #11415: channels with tiny weights


def made(weight: Array, bias: Array) -> tuple[Any, Any, list[Array]]:
    """A convolution of floats, and in 8 bits."""
    onnx = pytest.importorskip("onnx")
    helper = onnx.helper
    tensors = [onnx.numpy_helper.from_array(array, name) for array, name in ((weight, "w"), (bias, "b"))]
    values = [helper.make_tensor_value_info("x", 1, [1, 3, 8, 8]), helper.make_tensor_value_info("y", 1, None)]
    nodes = [helper.make_node("Conv", ["x", "w", "b"], ["c"]), helper.make_node("Relu", ["c"], ["y"])]
    graph = helper.make_graph(nodes, "tiny", values[:1], values[1:], tensors)
    file = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()
    rng = np.random.default_rng(7)
    samples = [rng.normal(0, 1, (1, 3, 8, 8)).astype(F) for _ in range(8)]
    return pysimd.load(file), pysimd.quantize_model(file, samples, keep_float=()).load(), samples


@pytest.mark.parametrize("factor", [0, 1e-30, 1e-12, 1e-6], ids=str)
def test_channels_with_tiny_weights(factor: float) -> None:
    """Their bias does not overflow the sums, and others are as near as without them."""
    rng = np.random.default_rng(8)
    weight, bias = rng.normal(0, 0.2, (6, 3, 3, 3)).astype(F), rng.normal(0, 1, 6).astype(F)
    weight[2] *= F(factor)
    bias[2] = 5
    floats, bytes_, samples = made(weight, bias)
    for x in samples:
        expected, found = floats(x)["y"], bytes_(x)["y"]
        assert np.isfinite(found).all()
        assert abs(found - expected).max() < 0.02 * abs(expected).max()


# ---- rten#540, #10153: what is one product, in any order of its factors, is in test_quantised.py


def test_groups_have_no_floats() -> None:
    """A Relu at the least byte costs no step."""
    x = random_bytes(np.random.default_rng(9), "uint8", 4, 7)
    of: dict[str, Any] = {
        "sx": F(0.02),
        "zx": np.uint8(99),
        "sw": F(0.01),
        "zw": np.int8(0),
        "sy": F(0.1),
        "zy": np.uint8(0),
    }
    of["w"] = random_bytes(np.random.default_rng(10), "int8", 7, 6)
    nodes = [
        begin("x", "f", "sx zx"),
        begin("w", "v", "sw zw"),
        node("MatMul", "f v", "g"),
        node("Relu", "g", "h"),
        end("h"),
    ]
    assert operators_of(nodes, {"x": x}, of) == operators_of([*nodes[:3], end("g")], {"x": x}, of)
    assert_bits(run(nodes, {"x": x}, of), run([*nodes[:3], end("g")], {"x": x}, of))
