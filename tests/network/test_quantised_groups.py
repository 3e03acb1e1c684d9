"""Groups of DequantizeLinear, an operator and QuantizeLinear: means, products by channels, sums with a bias, and moves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from network import quantised as formulas
from network.test_quantised import MS, F, assert_bits, node, operators_of, random_bytes, run
from pysimd.network.convert import UnsupportedModel
from pysimd.network.source import SourceNode
from support import Array

SHAPE = (2, 5, 6, 7)
FLOATS = {"Binary", "Dequantize", "ExactBinary", "Linear", "MatMul", "Quantize", "Reduce"}


def of_bytes(dtype: str, **more: Any) -> dict[str, Any]:
    """Scales and zeros of three tensors."""
    zeros = (120, 7, 90) if dtype == "uint8" else (-8, 0, -90)
    scales: dict[str, Any] = {"sx": F(0.037), "sz": F(0.004), "sy": F(0.021)}
    return {**scales, **{name: np.array(zero, dtype) for name, zero in zip(("zx", "zz", "zy"), zeros)}, **more}


def begin(x: str = "x", y: str = "f", of: str = "sx zx") -> SourceNode:
    return node("DequantizeLinear", f"{x} {of}", y)


def end(x: str, y: str = "y") -> SourceNode:
    return node("QuantizeLinear", f"{x} sy zy", y)


def checked(nodes: list[SourceNode], given: dict[str, Any], weights: dict[str, Any], expected: Array) -> None:
    """Equal bits, and no pass of floats."""
    assert_bits(run(nodes, given, weights), expected)
    assert not FLOATS & operators_of(nodes, given, weights)


def mean_of(x: Array, axes: tuple[int, ...], of: dict[str, Any], dtype: str, keepdims: bool = True) -> Array:
    """The formula of the global mean, over any axes."""
    n = int(np.prod([x.shape[axis] for axis in axes]))
    sums = x.astype(np.int32).sum(axes, keepdims=keepdims) - n * np.int32(of["zx"])
    return formulas.requantize(sums, F(of["sx"] / F(of["sy"] * F(n))), of["zy"], dtype)


# ---- means


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize("shape", [SHAPE, (1, 33, 9), (2, 3, 2, 3, 4)], ids=str)
def test_global_means(shape: tuple[int, ...], dtype: str) -> None:
    x, of = random_bytes(np.random.default_rng(1), dtype, *shape), of_bytes(dtype)
    expected = mean_of(x, tuple(range(2, len(shape))), of, dtype)
    checked([begin(), node("GlobalAveragePool", "f", "g"), end("g")], {"x": x}, of, expected)


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize("axes", [(2, 3), (-1, -2), (1, 2), (1,), (0, 3), (0, 1, 2, 3), (3, 3)], ids=str)
@pytest.mark.parametrize("keepdims", [0, 1])
def test_means_of_axes(axes: tuple[int, ...], dtype: str, keepdims: int) -> None:
    x, of = random_bytes(np.random.default_rng(2), dtype, *SHAPE), of_bytes(dtype, axes=np.array(axes))
    expected = mean_of(x, tuple({axis % 4 for axis in axes}), of, dtype, bool(keepdims))
    for mean in (
        node("ReduceMean", "f axes", "g", keepdims=keepdims),
        node("ReduceMean", "f", "g", keepdims=keepdims, axes=axes),
    ):
        checked([begin(), mean, end("g")], {"x": x}, of, expected)
    own = node("QLinearReduceMean", "x sx zx sy zy", "y", MS, axes=axes, keepdims=keepdims)
    checked([own], {"x": x}, of, expected)


def test_means_without_axes() -> None:
    x, of = random_bytes(np.random.default_rng(3), "uint8", *SHAPE), of_bytes("uint8")
    checked([begin(), node("ReduceMean", "f", "g"), end("g")], {"x": x}, of, mean_of(x, (0, 1, 2, 3), of, "uint8"))
    none = [begin(), node("ReduceMean", "f", "g", noop_with_empty_axes=1), end("g")]
    expected = formulas.quantize(formulas.dequantize(x, of["sx"], of["zx"]), of["sy"], of["zy"], "uint8")
    checked(none, {"x": x}, of, expected)
    with pytest.raises(UnsupportedModel, match="axis"):
        run([begin(), node("ReduceMean", "f", "g", axes=(4,)), end("g")], {"x": x}, of)


def test_axes_that_are_computed() -> None:
    """They belong to no group."""
    x, of = random_bytes(np.random.default_rng(3), "uint8", *SHAPE), of_bytes("uint8")
    axes = [node("Shape", "x", "s"), node("Gather", "s two", "a")]  # those of (2, 5, 6, 7): 2
    nodes = [*axes, node("Reshape", "a one", "axes"), begin(), node("ReduceMean", "f axes", "g"), end("g")]
    found = run(nodes, {"x": x}, {**of, "two": np.array(0), "one": np.array([1])})
    assert abs(found.astype(int) - mean_of(x, (2,), of, "uint8")).max() <= 1


# ---- products


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize("shape", [(2, 5, 1, 1), (5, 1, 1), (2, 1, 6, 7), (7,), SHAPE], ids=str)
@pytest.mark.parametrize("turned", [False, True])
def test_products(shape: tuple[int, ...], dtype: str, turned: bool) -> None:
    """Of an image, and a byte of each channel or place."""
    rng, of = np.random.default_rng(4), of_bytes(dtype)
    x, z = random_bytes(rng, dtype, *SHAPE), random_bytes(rng, dtype, *shape)
    nodes = [begin(), begin("z", "g", "sz zz"), node("Mul", "g f" if turned else "f g", "h"), end("h")]
    first, second = ((x, of["sx"], of["zx"]), (z, of["sz"], of["zz"]))[:: -1 if turned else 1]
    numbers = (*first[1:], *second[1:], of["sy"], of["zy"], dtype)
    expected = formulas.multiply(first[0], second[0], *numbers)
    checked(nodes, {"x": x, "z": z}, of, expected)
    assert_bits(run(nodes, {"x": x}, {**of, "z": z}), expected)


def test_types_that_differ() -> None:
    """Stay floats."""
    rng, of = np.random.default_rng(5), of_bytes("uint8", zz=np.int8(3))
    x, z = random_bytes(rng, "uint8", *SHAPE), random_bytes(rng, "int8", 2, 5, 1, 1)
    nodes = [begin(), begin("z", "g", "sz zz"), node("Mul", "f g", "h"), end("h")]
    floats = formulas.dequantize(x, of["sx"], of["zx"]) * formulas.dequantize(z, of["sz"], of["zz"])
    assert_bits(run(nodes, {"x": x, "z": z}, of), formulas.quantize(floats, of["sy"], of["zy"], "uint8"))


@pytest.mark.parametrize("mean", ["GlobalAveragePool", "ReduceMean"])
def test_squeeze_and_excitation(mean: str) -> None:
    """No float is left in a block of it."""
    rng, of = np.random.default_rng(6), of_bytes("uint8")
    w = {name: random_bytes(rng, "int8", *shape) for name, shape in (("v", (3, 5, 1, 1)), ("w", (5, 3, 1, 1)))}
    x, weights = random_bytes(rng, "uint8", *SHAPE), {**of, **w, "sw": F(0.01), "zw": np.int8(0)}
    of_mean: dict[str, Any] = {} if mean == "GlobalAveragePool" else {"axes": (2, 3), "keepdims": 1}
    nodes = [
        begin(), node(mean, "f", "a", **of_mean), end("a", "qa"), begin("qa", "b", "sy zy"),
        begin("v", "dv", "sw zw"), node("Conv", "b dv", "c"), node("Relu", "c", "d"), end("d", "qd"),
        begin("qd", "e", "sy zy"), begin("w", "dw", "sw zw"), node("Conv", "e dw", "h"), end("h", "qh"),
        begin("qh", "hh", "sy zy"), node("HardSigmoid", "hh", "i"), end("i", "qi"),
        begin("qi", "j", "sy zy"), node("Mul", "f j", "k"), end("k"),
    ]  # fmt: skip
    gate, y = run(nodes, {"x": x}, weights, "qi y")
    numbers = (of["sx"], of["zx"], of["sy"], of["zy"], of["sy"], of["zy"], "uint8")
    assert_bits(y, formulas.multiply(x, gate, *numbers))
    assert not FLOATS & operators_of(nodes, {"x": x}, weights)


# ---- products of matrices with a bias


def of_matrices(rng: Any, outputs: int, size: int, each: bool) -> dict[str, Any]:
    sw = (rng.uniform(0.01, 0.02, outputs) if each else np.array(0.01)).astype(F)
    weights = {"w": random_bytes(rng, "int8", size, outputs), "sw": sw, "zw": np.zeros(sw.shape, np.int8)}
    bias = {"b": rng.integers(-5000, 5000, outputs).astype(np.int32), "sb": (F(0.037) * sw).astype(F)}
    return {**weights, **bias, "zb": np.zeros(sw.shape, np.int32)}


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize("shape", [(2, 3, 7), (4, 7), (2, 2, 3, 7), (7,)], ids=str)
@pytest.mark.parametrize("each", [False, True])
@pytest.mark.parametrize("turned", [False, True])
def test_products_with_a_bias(shape: tuple[int, ...], dtype: str, each: bool, turned: bool) -> None:
    """A MatMul and an Add, of any number of dimensions, before a Relu or not."""
    rng, of = np.random.default_rng(7), of_bytes(dtype)
    x, weights = random_bytes(rng, dtype, *shape), {**of, **of_matrices(rng, 6, 7, each)}
    nodes = [
        begin(), node("DequantizeLinear", "w sw zw", "v", axis=1), node("DequantizeLinear", "b sb zb", "c", axis=0),
        node("MatMul", "f v", "g"), node("Add", "c g" if turned else "g c", "h"),
    ]  # fmt: skip
    sums = formulas.matmul_integer(x, weights["w"], of["zx"]) + weights["b"]
    expected = formulas.requantize(sums, formulas.factor(of["sx"], weights["sw"], of["sy"]), of["zy"], dtype)
    assert_bits(run([*nodes, end("h")], {"x": x}, weights), expected)
    if len(shape) > 1:
        assert not FLOATS & operators_of([*nodes, end("h")], {"x": x}, weights)
    limited = [*nodes, node("Relu", "h", "i"), end("i")]
    assert_bits(run(limited, {"x": x}, weights), expected.clip(min=of["zy"]))


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize("shape", [(2, 3, 7), (4, 7), (2, 2, 3, 7), (7,)], ids=str)
@pytest.mark.parametrize("each", [False, True])
@pytest.mark.parametrize("turned", [False, True])
def test_products_with_a_bias_of_floats(shape: tuple[int, ...], dtype: str, each: bool, turned: bool) -> None:
    """A MatMul and an Add of constants: MatMulIntegerToFloat, then QuantizeLinear; a Relu is a limit of bytes."""
    rng, of = np.random.default_rng(17), of_bytes(dtype)
    x, weights = random_bytes(rng, dtype, *shape), {**of, **of_matrices(rng, 6, 7, each)}
    weights["c"] = rng.normal(0, 1, 6).astype(F)
    nodes = [
        begin(), node("DequantizeLinear", "w sw zw", "v", axis=1), node("MatMul", "f v", "g"),
        node("Add", "c g" if turned else "g c", "h"),
    ]  # fmt: skip
    sums = formulas.matmul_integer(x, weights["w"], of["zx"])
    expected = formulas.to_float(sums, of["sx"], weights["sw"], weights["c"])
    expected = formulas.quantize(expected, of["sy"], of["zy"], dtype)
    assert_bits(run([*nodes, end("h")], {"x": x}, weights), expected)
    assert not {"Dequantize", "Linear", "MatMul"} & operators_of([*nodes, end("h")], {"x": x}, weights)
    limited = [*nodes, node("Relu", "h", "i"), end("i")]
    assert_bits(run(limited, {"x": x}, weights), expected.clip(min=of["zy"]))


@pytest.mark.parametrize("rows", [(), (1,)], ids=str)
@pytest.mark.parametrize("turned", [0, 1])
def test_a_gemm_with_a_bias_of_floats(rows: tuple[int, ...], turned: int) -> None:
    rng, of = np.random.default_rng(18), of_bytes("uint8")
    x, weights = random_bytes(rng, "uint8", 4, 7), {**of, **of_matrices(rng, 6, 7, True)}
    weights["c"] = rng.normal(0, 1, (*rows, 6)).astype(F)
    sums = formulas.matmul_integer(x, weights["w"], of["zx"])
    expected = formulas.to_float(sums, of["sx"], weights["sw"], weights["c"])
    weights["w"] = np.ascontiguousarray(weights["w"].T) if turned else weights["w"]
    nodes = [
        begin(), node("DequantizeLinear", "w sw zw", "v", axis=1 - turned), node("Gemm", "f v c", "g", transB=turned),
        end("g"),
    ]  # fmt: skip
    assert_bits(run(nodes, {"x": x}, weights), formulas.quantize(expected, of["sy"], of["zy"], "uint8"))
    assert not {"Dequantize", "Linear", "MatMul"} & operators_of(nodes, {"x": x}, weights)


def test_biases_that_stay_in_float() -> None:
    """Of another scale, computed, of rows, of more dimensions than the product."""
    rng, of = np.random.default_rng(8), of_bytes("uint8")
    x, weights = random_bytes(rng, "uint8", 2, 6, 7), {**of, **of_matrices(rng, 6, 7, False)}
    rows = node("Reshape", "c column", "d")
    others: list[tuple[dict[str, Any], list[SourceNode], str]] = [
        ({"sb": F(0.001)}, [], "c"), ({"c": rng.normal(0, 1, 6).astype(F)}, [node("Abs", "c", "d")], "d"),
        ({}, [rows], "d"), ({"c": rng.normal(0, 1, (1, 1, 1, 6)).astype(F)}, [], "c"),
    ]  # fmt: skip
    for other, more, bias in others:
        given = {**weights, **other, "column": np.array([6, 1])}
        of_bias = [] if "c" in other else [node("DequantizeLinear", "b sb zb", "c", axis=0)]
        nodes = [
            begin(), node("DequantizeLinear", "w sw zw", "v", axis=1), *of_bias, *more, node("MatMul", "f v", "g"),
            node("Add", f"g {bias}", "h"), end("h"),
        ]  # fmt: skip
        floats = given["c"] if "c" in other else given["b"] * F(given["sb"])
        floats = floats.reshape(-1, 1) if more == [rows] else abs(floats) if more else floats
        exact = formulas.to_float(formulas.matmul_integer(x, given["w"], of["zx"]), of["sx"], given["sw"], floats)
        found = run(nodes, {"x": x}, given).astype(int)
        assert abs(found - formulas.quantize(exact, of["sy"], of["zy"], "uint8")).max() <= 1


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize("shapes", [((3, 7), (7, 5)), ((2, 3, 4, 7), (2, 3, 7, 5)), ((2, 1, 4, 7), (3, 7, 5))], ids=str)
@pytest.mark.parametrize("turned", [False, True])
def test_products_of_two_computed_matrices(shapes: Any, dtype: str, turned: bool) -> None:
    """QLinearMatMul, also of a matrix that a Transpose makes, and limits behind it."""
    rng, of = np.random.default_rng(19), of_bytes(dtype)
    a, b = (random_bytes(rng, dtype, *shape) for shape in shapes)
    sums = formulas.matmul_integer(a, b, of["zx"], of["zz"])
    expected = formulas.requantize(sums, formulas.factor(of["sx"], of["sz"], of["sy"]), of["zy"], dtype)
    nodes, weights = [begin(), node("MatMul", "f g", "h"), node("Relu", "h", "r"), end("r")], of
    if turned:
        order = (*range(b.ndim - 2), b.ndim - 1, b.ndim - 2)
        b = np.ascontiguousarray(b.transpose(order))
        more = [begin("z", "g'", "sz zz"), node("Transpose", "g'", "t", perm=order), node("QuantizeLinear", "t sz zz", "q")]
        nodes = [*more, begin("q", "g", "sz zz"), *nodes]
    else:
        nodes = [begin("z", "g", "sz zz"), *nodes]
    given = {"x": a, "z": b}
    assert_bits(run(nodes, given, weights), expected.clip(min=of["zy"]))
    assert not FLOATS & operators_of(nodes, given, weights)


# ---- moves between the operator and its QuantizeLinear

MOVES: dict[str, tuple[list[SourceNode], Any]] = {
    "Flatten": ([node("Flatten", "g", "m")], lambda y: y.reshape(2, 5)),
    "Reshape": ([node("Reshape", "g shape", "m")], lambda y: y.reshape(1, 10)),
    "Squeeze": ([node("Squeeze", "g last", "m")], lambda y: y.reshape(2, 5)),
    "two": ([node("Flatten", "g", "h"), node("Transpose", "h", "m", perm=(1, 0))], lambda y: y.reshape(2, 5).T),
    "Unsqueeze": ([node("Unsqueeze", "g first", "m")], lambda y: y[None]),
}
OF_MOVES = {"shape": np.array([1, -1]), "last": np.array([2, 3]), "first": np.array([0])}


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize("name", MOVES)
def test_moves(name: str, dtype: str) -> None:
    x, of = random_bytes(np.random.default_rng(9), dtype, *SHAPE), of_bytes(dtype, **OF_MOVES)
    moves, expected = MOVES[name]
    nodes = [begin(), node("GlobalAveragePool", "f", "g"), *moves, end("m")]
    checked(nodes, {"x": x}, of, np.ascontiguousarray(expected(mean_of(x, (2, 3), of, dtype))))


def test_moves_that_others_read() -> None:
    """Are those of floats."""
    x, of = random_bytes(np.random.default_rng(9), "uint8", *SHAPE), of_bytes("uint8")
    nodes = [begin(), node("GlobalAveragePool", "f", "g"), node("Flatten", "g", "m"), end("m")]
    y, m = run(nodes, {"x": x}, of, "y m")
    assert_bits(y, formulas.quantize(m, of["sy"], of["zy"], "uint8"))


@pytest.mark.parametrize("ends", [True, False])
def test_convolutions_of_volumes_are_computed_in_float(ends: bool) -> None:
    """No operator of bytes computes them; of many channels, so that the product of bytes would be taken without an end."""
    rng, of = np.random.default_rng(9), of_bytes("uint8")
    x, w = random_bytes(rng, "uint8", 1, 64, 2, 3, 2), random_bytes(rng, "int8", 64, 64, 1, 1, 1)
    of.update(w=w, sw=F(0.002), zw=np.int8(0))
    nodes = [begin(), begin("w", "v", "sw zw"), node("Conv", "f v", "g" if ends else "y"), *([end("g")] if ends else [])]
    floats = (x - F(120)) * F(0.037)
    expected = np.einsum("oi,nidhw->nodhw", w.reshape(64, 64) * F(0.002), floats)
    found = run(nodes, {"x": x}, of)
    if ends:
        expected = np.clip(np.rint(expected / F(0.021)) + 90, 0, 255)
    assert abs(found.astype(F) - expected).max() < (1.01 if ends else 1e-4)
