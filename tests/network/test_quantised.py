"""Models with quantised operators: each result has the bits of its formula, in :mod:`network.quantised`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest

from network import quantised as formulas
from pysimd.network.convert import UnsupportedModel, graph_of
from pysimd.network.passes import simplified
from pysimd.network.runner import Runner
from pysimd.network.source import Source, SourceNode, Value
from support import Array, reference

F = np.float32
PAIRS = list(product(("uint8", "int8"), repeat=2))


def node(op: str, inputs: str, outputs: str = "y", domain: str = "", **attributes: Any) -> SourceNode:
    """Names are words; "-" is a missing one."""
    given = tuple("" if name == "-" else name for name in inputs.split())
    return SourceNode(op, given, tuple(outputs.split()), attributes, op, domain)


def run(nodes: Sequence[SourceNode], inputs: Mapping[str, Any], weights: Mapping[str, Any], outputs: str = "y") -> Any:
    """The outputs of a model."""
    inputs = {name: np.asarray(value) for name, value in inputs.items()}
    values = [Value(name, array.dtype.name, None) for name, array in inputs.items()]
    known = {name: np.asarray(value) for name, value in weights.items()}
    names = outputs.split()
    source = Source("quantised", 21, values, [Value(name, "float32", None) for name in names], nodes, known)
    graph = graph_of(source, {name: array.shape for name, array in inputs.items()})
    found = Runner(simplified(graph))(inputs)
    results = [found[name] for name in names]
    return results if len(results) > 1 else results[0]


def operators_of(nodes: Sequence[SourceNode], inputs: Mapping[str, Any], weights: Mapping[str, Any]) -> set[str]:
    """Those of the graph of a model."""
    values = [Value(name, np.asarray(array).dtype.name, None) for name, array in inputs.items()]
    known = {name: np.asarray(value) for name, value in weights.items()}
    source = Source("quantised", 21, values, [Value("y", "float32", None)], nodes, known)
    return {each.operator for each in graph_of(source, {name: np.shape(array) for name, array in inputs.items()}).nodes}


def both(nodes: Sequence[SourceNode], given: Mapping[str, Any], outputs: str = "y") -> list[Any]:
    """The results with all of them as inputs, and with all but the first as weights."""
    first, *rest = given
    known = {name: given[name] for name in rest}
    return [run(nodes, given, {}, outputs), run(nodes, {first: given[first]}, known, outputs)]


def assert_bits(actual: Any, expected: Any) -> None:
    expected = np.asarray(expected)
    assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape)
    if actual.tobytes() != expected.tobytes():
        np.testing.assert_array_equal(actual, expected)


def random_bytes(rng: Any, dtype: str, *shape: int) -> Array:
    """Of the whole range, and often the ends of it."""
    least, most = formulas.LIMITS[dtype]
    some = rng.integers(least, most + 1, shape)
    return np.where(rng.random(shape) < 0.2, rng.choice([least, most], shape), some).astype(dtype)  # type: ignore[no-any-return]


def random_zero(rng: Any, dtype: str, *shape: int) -> Array:
    return np.asarray(random_bytes(rng, dtype, *shape)) if rng.random() < 0.8 else np.zeros(shape, dtype)


# ---- DynamicQuantizeLinear


SOME = np.random.default_rng(1).normal(0, 3, (3, 4, 50)).astype(F)
DYNAMIC = {
    "usual": SOME,
    "above 0": abs(SOME) + F(1),
    "below 0": -abs(SOME) - F(1),
    "ties": np.array([-253, 257, 0, 1, 2, 3, 4, 5], F),
    "zeros": np.zeros((2, 3), F),
    "one": np.array([[-2.5]], F),
    "no dimensions": np.array(7, F),
    "tiny": np.array([1e-45, 0, -1e-44], F),
    "NaN": np.array([np.nan, 1, -2, np.nan], F),
    "infinity": np.array([np.inf, 1, -2, 0], F),
    "both infinities": np.array([np.inf, 1, -np.inf, 0], F),
    "largest": np.array([3e38, -3e38, 1], F),
}


@pytest.mark.parametrize("x", DYNAMIC.values(), ids=DYNAMIC)
def test_dynamic_quantize(x: Array) -> None:
    results = run([node("DynamicQuantizeLinear", "x", "y s z")], {"x": x}, {}, "y s z")
    for actual, expected in zip(results, formulas.dynamic_quantize(x)):
        assert_bits(actual, expected)


def test_dynamic_quantize_of_nothing() -> None:
    y, s, z = run([node("DynamicQuantizeLinear", "x", "y s z")], {"x": np.zeros((2, 0), F)}, {}, "y s z")
    assert y.shape == (2, 0) and (s, z) == (1, 0) and (s.dtype, z.dtype) == (F, np.uint8)


# ---- MatMulInteger


@pytest.mark.parametrize("pair", PAIRS, ids=" ".join)
@pytest.mark.parametrize("shapes", [((5, 7), (7, 9)), ((2, 3, 33), (33, 70)), ((2, 1, 4, 8), (3, 8, 5)), ((6,), (6, 3)),
                                    ((3, 6), (6,)), ((1, 300), (300, 1))], ids=str)  # fmt: skip
def test_matmul_integer(pair: tuple[str, str], shapes: Any) -> None:
    rng = np.random.default_rng(2)
    a, b = (random_bytes(rng, dtype, *shape) for dtype, shape in zip(pair, shapes))
    for given in ("a b", "a b za", "a b - zb", "a b za zb"):
        za, zb = (random_zero(rng, dtype) for dtype in pair)
        arrays = {"a": a, "b": b, "za": za, "zb": zb}
        arrays = {name: arrays[name] for name in given.split() if name != "-"}
        expected = formulas.matmul_integer(a, b, arrays.get("za", 0), arrays.get("zb", 0))
        for actual in both([node("MatMulInteger", given)], arrays):
            assert_bits(actual, expected)


@pytest.mark.parametrize("pair", PAIRS, ids=" ".join)
def test_matmul_integer_of_rows_and_columns(pair: tuple[str, str]) -> None:
    rng = np.random.default_rng(3)
    a, b = random_bytes(rng, pair[0], 2, 4, 6), random_bytes(rng, pair[1], 6, 5)
    za, zb = random_bytes(rng, pair[0], 4), random_bytes(rng, pair[1], 5)
    for actual in both([node("MatMulInteger", "a b za zb")], {"a": a, "b": b, "za": za, "zb": zb}):
        assert_bits(actual, formulas.matmul_integer(a, b, za[:, None], zb))
    stacked = random_bytes(rng, pair[0], 2, 4, 1)
    for actual in both([node("MatMulInteger", "a b za")], {"a": a, "b": b, "za": stacked}):
        assert_bits(actual, formulas.matmul_integer(a, b, stacked))


def test_the_extremes_of_a_long_sum() -> None:
    a, b = np.full((1, 66400), 255, np.uint8), np.full((66400, 1), 127, np.int8)
    for actual in both([node("MatMulInteger", "a b")], {"a": a, "b": b}):  # the sum exceeds 2^31, and wraps around
        assert_bits(actual, formulas.matmul_integer(a, b))


def test_a_layer_of_quantize_dynamic() -> None:
    """As ONNX Runtime's quantizer writes it: bytes of x, a product, and scales as floats."""
    rng = np.random.default_rng(4)
    x, w = rng.normal(0, 2, (2, 10, 24)).astype(F), random_bytes(rng, "int8", 24, 16)
    scale, bias = rng.uniform(0.001, 0.01, 16).astype(F), rng.normal(0, 1, 16).astype(F)
    nodes = [
        node("DynamicQuantizeLinear", "x", "q s z"),
        node("MatMulInteger", "q w z zw", "sums"),
        node("Cast", "sums", "floats", to=1),
        node("Mul", "s scale", "scales"),
        node("Mul", "floats scales", "product"),
        node("Add", "bias product"),
    ]
    q, s, z = formulas.dynamic_quantize(x)
    product = formulas.matmul_integer(q, w, z).astype(F) * (s * scale)
    actual = run(nodes, {"x": x}, {"w": w, "zw": np.zeros(16, np.int8), "scale": scale, "bias": bias})
    assert_bits(actual, product + bias)


# ---- products whose results are floats or bytes


def scales(rng: Any, *shape: int) -> Array:
    """Some are powers of two, so that there are ties."""
    some = rng.uniform(0.001, 0.02, shape) if rng.random() < 0.6 else 2.0 ** rng.integers(-9, -3, shape)
    return np.asarray(some, F)


@pytest.mark.parametrize("pair", PAIRS, ids=" ".join)
def test_products_to_floats(pair: tuple[str, str]) -> None:
    rng = np.random.default_rng(5)
    a, b = random_bytes(rng, pair[0], 2, 4, 9), random_bytes(rng, pair[1], 9, 6)
    for n in ((), (1,), (6,)):
        sa, sb, bias = scales(rng), scales(rng, *n), rng.normal(0, 1, 6).astype(F)
        za, zb = random_zero(rng, pair[0]), random_zero(rng, pair[1], *n)
        given = {"a": a, "b": b, "sa": sa, "sb": sb, "za": za, "zb": zb, "bias": bias}
        sums = formulas.matmul_integer(a, b, za, zb)
        for actual in both([node("MatMulIntegerToFloat", " ".join(given), domain="com.microsoft")], given):
            assert_bits(actual, formulas.to_float(sums, sa, sb, bias))
        x = rng.normal(0, 1, (3, 9)).astype(F)
        q, s, z = formulas.dynamic_quantize(x)
        given = {"x": x, "b": b, "sb": sb, "zb": zb}
        for actual in both([node("DynamicQuantizeMatMul", "x b sb zb", domain="com.microsoft")], given):
            assert_bits(actual, formulas.to_float(formulas.matmul_integer(q, b, z, zb), s, sb))


@pytest.mark.parametrize("pair", PAIRS, ids=" ".join)
@pytest.mark.parametrize("kind", ["uint8", "int8"])
def test_quantized_matmul(pair: tuple[str, str], kind: str) -> None:
    rng = np.random.default_rng(6)
    for shapes in (((5, 7), (7, 9)), ((2, 3, 33), (33, 70)), ((2, 4, 8), (2, 8, 5)), ((1, 64), (64, 1))):
        a, b = (random_bytes(rng, dtype, *shape) for dtype, shape in zip(pair, shapes))
        for n in ((), (shapes[1][-1],) if len(shapes[1]) == 2 else ()):
            sa, sb, sy = scales(rng), scales(rng, *n), F(2.0 ** rng.integers(-3, 3))
            zero = (128 if pair[1] == "uint8" else 0) if rng.random() < 0.5 else None
            za, zy = random_zero(rng, pair[0]), random_zero(rng, kind)
            zb = random_zero(rng, pair[1], *n) if zero is None else np.full(n, zero, pair[1])
            given = {"a": a, "sa": sa, "za": za, "b": b, "sb": sb, "zb": zb, "sy": sy, "zy": zy}
            sums = formulas.matmul_integer(a, b, za, zb)
            for actual in both([node("QLinearMatMul", " ".join(given))], given):
                assert_bits(actual, formulas.requantize(sums, formulas.factor(sa, sb, sy), zy, kind))


def test_quantized_matmul_of_rows() -> None:
    rng = np.random.default_rng(7)
    a, b = random_bytes(rng, "uint8", 5, 7), random_bytes(rng, "int8", 7, 9)
    sa, za, sb = scales(rng, 5), random_bytes(rng, "uint8", 5), scales(rng, 9)
    given = {"a": a, "sa": sa, "za": za, "b": b, "sb": sb, "zb": np.zeros(9, np.int8), "sy": F(0.5), "zy": np.uint8(3)}
    sums, by = formulas.matmul_integer(a, b, za[:, None]), formulas.factor(sa[:, None], sb, 0.5)
    for actual in both([node("QLinearMatMul", " ".join(given))], given):
        assert_bits(actual, formulas.requantize(sums, by, 3, "uint8"))


def dynamic_linear(swapped: bool, bias: bool) -> list[SourceNode]:
    """As quantize_dynamic of ONNX Runtime writes a MatMul."""
    factor = "sw sx" if swapped else "sx sw"
    nodes = [
        node("DynamicQuantizeLinear", "x", "q sx zx"),
        node("MatMulInteger", "q w zx zw", "sums"),
        node("Cast", "sums", "floats", to=1),
        node("Mul", factor, "both"),
        node("Mul", "both floats" if swapped else "floats both", "product" if bias else "y"),
    ]
    return [*nodes, node("Add", "bias product" if swapped else "product bias")] if bias else nodes


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("per_column", [False, True])
def test_dynamic_linear_is_one_product(dtype: str, swapped: bool, per_column: bool) -> None:
    """With the bits of each operator, and few operators."""
    rng = np.random.default_rng(10)
    for shape, n, bias in (((5, 33), 70, True), ((2, 3, 64), 9, True), ((1, 8), 5, False), ((1, 9), 4, True)):
        x, w = rng.normal(0, 2, shape).astype(F), random_bytes(rng, dtype, shape[-1], n)
        columns = (n,) if per_column else ()
        weights = {"w": w, "sw": scales(rng, *columns), "zw": random_zero(rng, dtype, *columns)}
        weights |= {"bias": rng.normal(0, 1, n).astype(F)} if bias else {}
        x[0, 0] = np.inf if n == 4 else x[0, 0]  # whose scale is infinite
        nodes = dynamic_linear(swapped, bias)
        q, sx, zx = formulas.dynamic_quantize(x)
        with np.errstate(invalid="ignore"):
            expected = formulas.to_float(formulas.matmul_integer(q, w, zx, weights["zw"]), sx, weights["sw"])
        expected = expected + weights["bias"] if bias else expected
        assert_bits(run(nodes, {"x": x}, weights), expected)
        values = [Value("x", "float32", None)]
        source = Source("dynamic", 21, values, [Value("y", "float32", None)], nodes, weights)
        found = [each.operator for each in simplified(graph_of(source, {"x": shape})).nodes]
        assert found[-1] == "PackedProduct"


def test_products_that_others_read_stay() -> None:
    rng = np.random.default_rng(11)
    x, w = rng.normal(0, 2, (4, 6)).astype(F), random_bytes(rng, "int8", 6, 3)
    weights = {"w": w, "sw": F(0.5), "zw": np.int8(0), "bias": np.ones(3, F)}
    y, sums, product = run(dynamic_linear(False, True), {"x": x}, weights, "y sums product")
    q, sx, zx = formulas.dynamic_quantize(x)
    assert_bits(sums, formulas.matmul_integer(q, w, zx))
    assert_bits(product, formulas.to_float(sums, sx, F(0.5)))
    assert_bits(y, product + F(1))


@pytest.mark.parametrize("pair", [*PAIRS[:2], PAIRS[3]], ids=" ".join)
def test_quantized_gemm(pair: tuple[str, str]) -> None:
    rng = np.random.default_rng(8)
    terms: list[tuple[int, ...]] = [(), (6,), (5, 1), (5, 6)]
    for left, right, alpha, term in product((0, 1), (0, 1), (1.0, 0.75), terms):
        a, b = random_bytes(rng, pair[0], 5, 7), random_bytes(rng, pair[1], 7, 6)
        sa, sb, sy, zy = scales(rng), scales(rng, 6), F(0.25), random_zero(rng, pair[0])
        za, zb = random_zero(rng, pair[0]), np.zeros(6, pair[1])
        c = rng.integers(-20000, 20000, term).astype(np.int32)
        given = {"a": a.T if left else a, "sa": sa, "za": za, "b": b.T if right else b, "sb": sb, "zb": zb}
        given |= {"c": c} if term else {}
        names = " ".join(given) + ("" if term else " -")
        sums = formulas.matmul_integer(a, b, za, zb) + (c if term else 0)
        options: dict[str, Any] = {"domain": "com.microsoft", "transA": left, "transB": right, "alpha": alpha}
        scale = F(alpha) * sa
        for actual in both([node("QGemm", names, **options)], given):
            assert_bits(actual, formulas.to_float(sums, scale, sb))
        for actual in both([node("QGemm", f"{names} sy zy", **options)], {**given, "sy": sy, "zy": zy}):
            assert_bits(actual, formulas.requantize(sums, formulas.factor(scale, sb, sy), zy, pair[0]))


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
def test_lstm_of_bytes(dtype: str, direction: Any) -> None:
    rng, count = np.random.default_rng(11), 2 if direction == "bidirectional" else 1
    options: dict[str, Any] = {"hidden_size": 5, "direction": direction, "domain": "com.microsoft"}
    for shape, terms in (((count,), 6), ((count, 20), 8)):
        x, bias = rng.normal(0, 1, (6, 2, 3)).astype(F), rng.normal(0, 0.3, (count, 40)).astype(F)
        w, r = (random_bytes(rng, dtype, count, n, 20) for n in (3, 5))
        sw, sr = (rng.uniform(0.001, 0.004, shape).astype(F) for _ in range(2))
        zw, zr = (random_bytes(rng, dtype, *shape) for _ in range(2))
        state = rng.normal(0, 0.5, (count, 2, 5)).astype(F)
        weights = {"w": w, "r": r, "b": bias, "sw": sw, "sr": sr, "zw": zw, "zr": zr}
        zeros = "zw sr zr" if terms == 8 else "- sr"
        given = {"x": x, "n": np.array([6, 4], np.int32), "h": state, "c": state}
        nodes = [node("DynamicQuantizeLSTM", f"x w r b n h c - sw {zeros}", "y hn cn", **options)]
        actual = run(nodes, given, weights, "y hn cn")
        scale, zero = [sw.reshape(count, -1), sr.reshape(count, -1)], [zw, zr] if terms == 8 else [None, None]
        expected = reference.byte_lstm(x, w, r, bias, None, direction, scale, zero, state, state, given["n"])
        for one, wanted in zip(actual, expected):
            np.testing.assert_allclose(one, wanted, 1e-5, 2e-2)
    with pytest.raises(UnsupportedModel, match="the scale of W is float32 of shape"):
        run(nodes, given, weights | {"sw": np.ones(3, F)}, "y hn cn")


@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize("zero", ["none", "bytes", "floats"])
def test_weights_of_few_bits(bits: int, zero: str) -> None:
    rng = np.random.default_rng(9)
    for size, count, block in ((32, 5, 16), (70, 3, 16), (48, 8, 32)):
        blocks = -(-size // block)
        x, scale = rng.normal(0, 1, (2, 3, size)).astype(F), scales(rng, count * blocks)
        packed = rng.integers(0, 256, (count, blocks, block * bits // 8)).astype(np.uint8)
        weights = {"w": packed, "s": scale}
        if zero == "bytes":
            weights["z"] = rng.integers(0, 256, count * -(-blocks * bits // 8)).astype(np.uint8)
        elif zero == "floats":
            weights["z"] = rng.uniform(0, 3, (count, blocks)).astype(F)
        weights["bias"] = rng.normal(0, 1, count).astype(F)
        names = f"x w s {'-' if zero == 'none' else 'z'} - bias"
        options: dict[str, Any] = {"K": size, "N": count, "bits": bits, "block_size": block, "domain": "com.microsoft"}
        w = formulas.decode(packed, scale, weights.get("z"), bits, block, size)
        exact = x.astype(float) @ w.T.astype(float) + weights["bias"]
        for level in (0, 1, 4):
            nodes = [node("MatMulNBits", names, accuracy_level=level, **options)]
            as_bytes = level == 4 and bits != 2 and zero != "floats"
            assert ("NBitsProduct" in operators_of(nodes, {"x": x}, weights)) == as_bytes
            expected = exact
            if as_bytes:
                expected = formulas.nbits_product(x, packed, scale, weights.get("z"), bits) + weights["bias"]
            np.testing.assert_allclose(run(nodes, {"x": x}, weights), expected, 2e-5, 2e-5)
        given = {"x": x, "bias": weights.pop("bias")}  # a bias of each call
        np.testing.assert_allclose(run(nodes, given, weights), expected, 2e-5, 2e-5)


# ---- convolutions

#: Shapes of images and weights, strides, pads, dilations, groups.
CONVOLUTIONS: list[Any] = [
    ((1, 3, 7, 6), (5, 3, 3, 3), (1, 1), (1, 1, 1, 1), (1, 1), 1),
    ((2, 4, 6, 5), (8, 4, 1, 1), (1, 1), (0, 0, 0, 0), (1, 1), 1),
    ((1, 4, 9, 8), (6, 2, 3, 2), (2, 1), (0, 1, 2, 0), (1, 2), 2),
    ((1, 6, 7, 7), (6, 1, 3, 3), (1, 2), (1, 1, 1, 1), (1, 1), 6),
    ((1, 3, 6, 6), (6, 1, 2, 3), (1, 1), (0, 1, 1, 1), (2, 1), 3),
    ((1, 40, 5, 5), (33, 40, 1, 1), (2, 2), (0, 0, 0, 0), (1, 1), 1),
]


@pytest.mark.parametrize("pair", PAIRS, ids=" ".join)
@pytest.mark.parametrize("case", CONVOLUTIONS, ids=str)
def test_convolutions(pair: tuple[str, str], case: Any) -> None:
    rng = np.random.default_rng(10)
    of_x, of_w, strides, pads, dilations, group = case
    options: dict[str, Any] = {"strides": strides, "pads": pads, "dilations": dilations, "group": group}
    for n in ((), (of_w[0],)):
        x, w = random_bytes(rng, pair[0], *of_x), random_bytes(rng, pair[1], *of_w)
        zx, zw = random_zero(rng, pair[0]), random_zero(rng, pair[1], *n)
        sums = formulas.conv_integer(x, w, zx, zw, **options)
        for actual in both([node("ConvInteger", "x w zx zw", **options)], {"x": x, "w": w, "zx": zx, "zw": zw}):
            assert_bits(actual, sums)
        plain = formulas.conv_integer(x, w, 0, 0, **options)
        assert_bits(run([node("ConvInteger", "x w", **options)], {"x": x}, {"w": w}), plain)
        if w.shape[1] > 1:  # weights that a context packs once
            found = operators_of([node("ConvInteger", "x w - zw", **options)], {"x": x}, {"w": w, "zw": zw})
            assert "PackedProduct" in found and "ByteProduct" not in found
        sx, sw, sy, zy = scales(rng), scales(rng, *n), F(2.0 ** rng.integers(-3, 3)), random_zero(rng, pair[0])
        bias = rng.integers(-5000, 5000, of_w[0]).astype(np.int32)
        given = {"x": x, "sx": sx, "zx": zx, "w": w, "sw": sw, "zw": zw, "sy": sy, "zy": zy, "b": bias}
        by = np.broadcast_to(formulas.factor(sx, sw, sy), (of_w[0],)).reshape(-1, 1, 1)
        expected = formulas.requantize(sums + bias.reshape(-1, 1, 1), by, zy, pair[0])
        assert "QuantizedConv" in operators_of(
            [node("QLinearConv", " ".join(given), **options)], {"x": x}, {name: given[name] for name in list(given)[1:]}
        )
        for domain in ("", "com.microsoft"):
            for actual in both([node("QLinearConv", " ".join(given), domain=domain, **options)], given):
                assert_bits(actual, expected)


@pytest.mark.parametrize("pair", PAIRS, ids=" ".join)
@pytest.mark.parametrize("case", CONVOLUTIONS, ids=str)
def test_convolutions_of_the_library(pair: tuple[str, str], case: Any) -> None:
    """Weights without zeros: those of uint8 have 128."""
    rng = np.random.default_rng(11)
    of_x, of_w, strides, pads, dilations, group = case
    options: dict[str, Any] = {"strides": strides, "pads": pads, "dilations": dilations, "group": group}
    x, w = random_bytes(rng, pair[0], *of_x), random_bytes(rng, pair[1], *of_w)
    sx, sw, sy = scales(rng), scales(rng, of_w[0]), F(0.5)
    zx, zw, zy = (
        random_zero(rng, pair[0]),
        np.full(of_w[0], 128 if pair[1] == "uint8" else 0, pair[1]),
        random_zero(rng, pair[0]),
    )
    given = {"x": x, "sx": sx, "zx": zx, "w": w, "sw": sw, "zw": zw, "sy": sy, "zy": zy}
    nodes, known = [node("QLinearConv", " ".join(given), **options)], {name: given[name] for name in list(given)[1:]}
    sums = formulas.conv_integer(x, w, zx, zw, **options)
    expected = formulas.requantize(sums, formulas.factor(sx, sw, sy).reshape(-1, 1, 1), zy, pair[0])
    assert_bits(run(nodes, {"x": x}, known), expected)
    assert "QuantizedConv" in operators_of(nodes, {"x": x}, known)
    assert "QuantizedConv" not in operators_of(nodes, given, {})


def test_a_convolution_of_signals() -> None:
    rng = np.random.default_rng(12)
    x, w, zx = random_bytes(rng, "uint8", 2, 3, 9), random_bytes(rng, "uint8", 4, 3, 3), np.uint8(7)
    options: dict[str, Any] = {"strides": (2,), "pads": (1, 2), "dilations": (1,)}
    expected = formulas.conv_integer(x[:, :, None], w[:, :, None], zx, 5, (1, 2), (0, 1, 0, 2), (1, 1), 1)[:, :, 0]
    given = {"x": x, "w": w, "zx": zx, "zw": np.uint8(5)}
    for actual in both([node("ConvInteger", "x w zx zw", **options)], given):
        assert_bits(actual, expected)
    same = {"auto_pad": "SAME_UPPER"}
    expected = formulas.conv_integer(x[:, :, None], w[:, :, None], zx, 5, (1, 1), (0, 1, 0, 1), (1, 1), 1)[:, :, 0]
    for actual in both([node("ConvInteger", "x w zx zw", "y", "", **same)], given):
        assert_bits(actual, expected)


def test_a_convolution_by_many_places() -> None:
    """The short-time spectra of signals, as models of voices have them: a layer of the library has no limit of places."""
    rng = np.random.default_rng(13)
    x, w = random_bytes(rng, "uint8", 1, 1, 900), random_bytes(rng, "int8", 3, 1, 512)
    zx, zw, zy = np.uint8(9), np.int8(0), np.uint8(99)
    given = {"x": x, "sx": F(0.5), "zx": zx, "w": w, "sw": F(0.25), "zw": zw, "sy": F(64), "zy": zy}
    options: dict[str, Any] = {"strides": (160,), "pads": (0, 0), "dilations": (1,)}
    sums = formulas.conv_integer(x[:, :, None], w[:, :, None], 9, 0, (1, 160), (0, 0, 0, 0), (1, 1), 1)[:, :, 0]
    expected = formulas.requantize(sums, formulas.factor(F(0.5), F(0.25), F(64)), zy, "uint8")
    nodes, known = [node("QLinearConv", " ".join(given), **options)], {name: given[name] for name in list(given)[1:]}
    assert_bits(run(nodes, {"x": x}, known), expected)
    assert "QuantizedConv" in operators_of(nodes, {"x": x}, known)


# ---- layers of bytes

MS = "com.microsoft"


def byte_tensors(rng: Any, dtype: str, count: int) -> list[Any]:
    """A scale and a zero for each tensor."""
    return [(scales(rng), random_zero(rng, dtype)) for _ in range(count)]


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize("op", ["QLinearSigmoid", "QLinearLeakyRelu"])
def test_functions_of_a_byte(op: str, dtype: str) -> None:
    rng = np.random.default_rng(13)
    x = np.arange(256, dtype=np.uint8).view(dtype).reshape(2, 2, 8, 8)
    for _ in range(5):
        (sx, zx), (sy, zy) = byte_tensors(rng, dtype, 2)
        options: dict[str, Any] = {"alpha": 0.125} if op == "QLinearLeakyRelu" else {}
        known = {"sx": sx, "zx": zx, "sy": sy, "zy": zy}
        actual = run([node(op, "x sx zx sy zy", "y", MS, **options)], {"x": x}, known)
        v = formulas.dequantize(x, sx, zx)
        floats = 1 / (1 + np.exp(-v)) if op == "QLinearSigmoid" else np.where(v < 0, F(0.125) * v, v)
        expected = formulas.quantize(floats, sy, zy, dtype)
        if op == "QLinearLeakyRelu":
            assert_bits(actual, expected)
        assert abs(actual.astype(int) - expected.astype(int)).max() <= 1  # of a sigmoid, the last bit may differ
        chain = [
            node("DequantizeLinear", "x sx zx", "v"),
            node(op[7:], "v", "f", **options),
            node("QuantizeLinear", "f sy zy"),
        ]
        assert_bits(actual, run(chain, {"x": x}, known))
        assert "Table8" in operators_of([node(op, "x sx zx sy zy", "y", MS, **options)], {"x": x}, known)


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize("op", ["QLinearAdd", "QLinearMul"])
def test_functions_of_two_bytes(op: str, dtype: str) -> None:
    rng = np.random.default_rng(14)
    formula: Any = formulas.add if op == "QLinearAdd" else formulas.multiply
    for shapes in (((3, 4, 40), (3, 4, 40)), ((2, 3, 4), (3, 1)), ((1,), (5, 6)), ((5, 6), ()), ((2, 1), (1, 3))):
        a, b = (random_bytes(rng, dtype, *shape) for shape in shapes)
        wide = [each.reshape(-1) for each in np.broadcast_arrays(a, b)]
        shape = np.broadcast_shapes(*shapes)
        for _ in range(3):
            tensors = byte_tensors(rng, dtype, 3)
            numbers = [number for tensor in tensors for number in tensor]
            known = dict(zip(("sa", "za", "sb", "zb", "sy", "zy"), numbers))
            expected = formula(wide[0], wide[1], *numbers, dtype).reshape(shape)
            nodes = [node(op, "a sa za b sb zb sy zy", "y", MS)]
            assert_bits(run(nodes, {"a": a, "b": b}, known), expected)
            assert_bits(run(nodes, {"a": a}, {"b": b, **known}), expected)
            assert_bits(run(nodes, {"b": b}, {"a": a, **known}), expected)


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_sums_of_all_bytes(dtype: str) -> None:
    """With one rounding for each product and sum: two roundings differ in some bytes here."""
    every = np.arange(256, dtype=np.uint8).view(dtype)
    a, b = np.repeat(every, 256), np.tile(every, 256)
    for sa, za, sb, zb, sy, zy in ((0.03, 3, 0.045, 77, 0.06, 101), (0.3, 10, 0.1, 20, 0.6, 30)):
        numbers = F(sa), np.array(za, dtype), F(sb), np.array(zb, dtype), F(sy), np.array(zy, dtype)
        known = dict(zip(("sa", "za", "sb", "zb", "sy", "zy"), numbers))
        actual = run([node("QLinearAdd", "a sa za b sb zb sy zy", "y", MS)], {"a": a, "b": b}, known)
        assert_bits(actual, formulas.add(a, b, *numbers, dtype))
        ra, rb = (np.float32(numbers[i] / numbers[4]) for i in (0, 2))
        t = F(zy) - (ra * F(za) + rb * F(zb))
        twice = formulas.saturated(a.astype(F) * ra + (b.astype(F) * rb + t), dtype)
        assert (actual != twice).any()


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_means(dtype: str) -> None:
    rng = np.random.default_rng(15)
    x = random_bytes(rng, dtype, 2, 3, 7, 6)
    for _ in range(4):
        (sx, zx), (sy, zy) = byte_tensors(rng, dtype, 2)
        known = {"sx": sx, "zx": zx, "sy": sy, "zy": zy}
        actual = run([node("QLinearGlobalAveragePool", "x sx zx sy zy", "y", MS)], {"x": x}, known)
        expected = formulas.global_mean(x, sx, zx, sy, zy, dtype)
        assert_bits(actual, expected)
        last = run([node("QLinearGlobalAveragePool", "x sx zx sy zy", "y", MS, channels_last=1)],
                   {"x": np.ascontiguousarray(x.transpose(0, 2, 3, 1))}, known)  # fmt: skip
        assert_bits(last, expected.transpose(0, 2, 3, 1))
        for kernel, strides, pads in (
            ((2, 2), (2, 2), (0, 0, 0, 0)),
            ((3, 3), (1, 2), (1, 1, 1, 1)),
            ((3, 2), (2, 2), (1, 0, 0, 1)),
        ):
            for ceil, every in product((False, True), repeat=2):
                options: dict[str, Any] = {"kernel_shape": kernel, "strides": strides, "pads": pads}
                options |= {"ceil_mode": int(ceil), "count_include_pad": int(every)}
                actual = run([node("QLinearAveragePool", "x sx zx sy zy", "y", MS, **options)], {"x": x}, known)
                assert_bits(actual, formulas.mean(x, sx, zx, sy, zy, kernel, strides, pads, ceil, every))


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_means_of_signals_and_volumes(dtype: str) -> None:
    rng = np.random.default_rng(21)
    (sx, zx), (sy, zy) = byte_tensors(rng, dtype, 2)
    known = {"sx": sx, "zx": zx, "sy": sy, "zy": zy}
    for shape in ((2, 3, 9), (1, 70, 3, 4, 5)):
        x = random_bytes(rng, dtype, *shape)
        actual = run([node("QLinearGlobalAveragePool", "x sx zx sy zy", "y", MS)], {"x": x}, known)
        expected = formulas.global_mean(x.reshape(*shape[:2], -1, 1), sx, zx, sy, zy, dtype)
        assert_bits(actual, expected.reshape(*shape[:2], *(1,) * (len(shape) - 2)))


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_largest_bytes(dtype: str) -> None:
    """As they are, and between DequantizeLinear and QuantizeLinear with one scale."""
    rng = np.random.default_rng(22)
    x = random_bytes(rng, dtype, 2, 5, 7, 6)
    pool = node("MaxPool", "x", "y", kernel_shape=(3, 2), strides=(2, 1), pads=(1, 0, 1, 1))
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (0, 1)), constant_values=np.iinfo(dtype).min)
    every = np.lib.stride_tricks.sliding_window_view(padded, (3, 2), axis=(2, 3))[:, :, ::2]
    assert_bits(run([pool], {"x": x}, {}), every.max((4, 5)))
    known = {"s": F(0.5), "z": np.array(3, dtype)}
    group = [
        node("DequantizeLinear", "x s z", "f"),
        node("MaxPool", "f", "g", **pool.attributes),
        node("QuantizeLinear", "g s z", "y"),
    ]
    assert_bits(run(group, {"x": x}, known), every.max((4, 5)))
    assert operators_of(group, {"x": x}, known) == {"MaxPool" if dtype == "uint8" else "QuantizedPool"}


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_softmax(dtype: str) -> None:
    rng = np.random.default_rng(16)
    x, (sx, zx), (sy, zy) = random_bytes(rng, dtype, 2, 3, 4), *byte_tensors(rng, dtype, 2)
    known = {"sx": sx, "zx": zx, "sy": sy, "zy": zy}
    forms: list[Any] = [({}, (2,)), ({"axis": 1}, (1,)), ({"axis": 1, "opset": 11}, (1, 2))]
    for options, axes in forms:
        actual = run([node("QLinearSoftmax", "x sx zx sy zy", "y", MS, **options)], {"x": x}, known)
        v = np.exp(formulas.dequantize(x, sx, zx).astype(float))
        expected = formulas.quantize(v / v.sum(axes, keepdims=True), sy, zy, dtype)
        assert abs(actual.astype(int) - expected.astype(int)).max() <= 1


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_concatenation_and_selection(dtype: str) -> None:
    rng = np.random.default_rng(17)
    a, b, (of_a, of_b, of_y) = random_bytes(rng, dtype, 2, 3), random_bytes(rng, dtype, 2, 3), byte_tensors(rng, dtype, 3)
    known = dict(zip(("sa", "za", "sb", "zb", "sy", "zy"), (*of_a, *of_b, *of_y)))
    moved = [
        formulas.quantize(formulas.dequantize(x, *of), of_y[0], of_y[1], dtype)
        for x, of in ((a, of_a), (b, of_b), (b, of_y))
    ]
    nodes = [node("QLinearConcat", "sy zy a sa za b sb zb b sy zy", "y", MS, axis=1)]
    assert_bits(run(nodes, {"a": a, "b": b}, known), np.concatenate([*moved[:2], b], 1))
    condition = rng.integers(0, 2, (2, 1)).astype(bool)
    nodes = [node("QLinearWhere", "c a sa za b sb zb sy zy", "y", MS)]
    assert_bits(run(nodes, {"c": condition, "a": a, "b": b}, known), np.where(condition, *moved[:2]))


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_linear_conversion_of_microsoft(dtype: str) -> None:
    rng = np.random.default_rng(18)
    x, s, z = rng.normal(0, 1, (3, 4)).astype(F), scales(rng), random_zero(rng, dtype)
    for given in both([node("QuantizeLinear", "x s z", "q", MS), node("DequantizeLinear", "q s z", "y", MS)],
                      {"x": x, "s": s, "z": z}):  # fmt: skip
        assert_bits(given, formulas.dequantize(formulas.quantize(x, s, z, dtype), s, z))
    s, z = scales(rng, 3), random_bytes(rng, dtype, 3)
    for given in both([node("QuantizeLinear", "x s z", "y", MS, axis=0)], {"x": x, "s": s, "z": z}):
        assert_bits(given, formulas.quantize(x, s[:, None], z[:, None], dtype))


# ---- 16 bits, and blocks


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16"])
@pytest.mark.parametrize("form", ["one", "axis", "blocks"])
def test_conversion_of_more_types(dtype: str, form: str) -> None:
    rng = np.random.default_rng(19)
    x = rng.normal(0, 100 if dtype.endswith("16") else 1, (3, 7, 2)).astype(F)
    x[0, 0] = np.nan, np.inf
    shape = {"one": (), "axis": (7,), "blocks": (3, 3, 2)}[form]
    s, z = scales(rng, *shape), rng.integers(*formulas.LIMITS[dtype], shape).astype(dtype)
    wide: Any = {"one": (s, z), "axis": (s.reshape(-1, 1), z.reshape(-1, 1))}.get(form) or [
        np.repeat(each, 3, 1)[:, :7] for each in (s, z)
    ]
    options: dict[str, Any] = {"axis": 1, "block_size": 3} if form == "blocks" else {"axis": -2}
    given = {"x": x, "s": s, "z": z}
    q = formulas.quantize(x, wide[0], wide[1], dtype)
    known = {"s": s, "z": z}
    nodes = [node("QuantizeLinear", "x s z", **options)], [node("DequantizeLinear", "x s z", **options)]
    results = [run(nodes[0], {"x": x}, known), *(both(nodes[0], given) if form != "blocks" else [])]
    for actual in results:
        assert_bits(actual, q)
    results = [run(nodes[1], {"x": q}, known), *(both(nodes[1], {**given, "x": q}) if form != "blocks" else [])]
    for actual in results:
        assert_bits(actual, formulas.dequantize(q, *wide))
    folded = run([*nodes[1], node("Add", "u y", "v")], {"u": np.zeros(x.shape, F)}, {"x": q, **known}, "v")
    assert_bits(folded, formulas.dequantize(q, *wide) + F(0))


@pytest.mark.parametrize("dtype", ["uint16", "int16"])
@pytest.mark.parametrize("form", ["one", "axis"])
def test_pairs_of_16_bits_need_no_numpy(dtype: str, form: str) -> None:
    """Between QuantizeLinear and DequantizeLinear the numbers stay int32, so that programs in C have them."""
    rng = np.random.default_rng(20)
    x = rng.normal(0, 100, (3, 7, 2)).astype(F)
    shape = () if form == "one" else (7,)
    known = {"s": scales(rng, *shape), "z": rng.integers(*formulas.LIMITS[dtype], shape).astype(dtype)}
    nodes = [node("QuantizeLinear", "x s z", "q", axis=1), node("DequantizeLinear", "q s z", axis=1)]
    source = Source("pair", 21, [Value("x", "float32", None)], [Value("y", "float32", None)], nodes, known)
    assert "Host" not in {each.operator for each in simplified(graph_of(source, {"x": x.shape})).nodes}
    wide = known if form == "one" else {name: each.reshape(-1, 1) for name, each in known.items()}
    expected = formulas.dequantize(formulas.quantize(x, wide["s"], wide["z"], dtype), wide["s"], wide["z"])
    assert_bits(run(nodes, {"x": x}, known), expected)


def test_conversion_of_int32() -> None:
    x, s = np.array([-7, 0, 123456789], np.int32), F(0.25)
    assert_bits(run([node("DequantizeLinear", "x s")], {"x": x}, {"s": s}), x.astype(F) * s)
    assert_bits(run([node("QuantizeLinear", "x s")], {"x": x}, {"s": s}), np.array([0, 0, 255], np.uint8))


SCALES = [0, -0.0, -1, np.nan, np.inf, 1e-45, 3e38]


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize("scale", SCALES)
def test_any_scale_that_is_computed(scale: float, dtype: str) -> None:
    """Formulas hold for those that a file could not have: by a scale of 0, numbers are infinite, and 0 is NaN."""
    x, s = np.array([[-1.5, -0.0, 0, 1, 2.5, np.nan, np.inf, -np.inf, 1e-30]], F), np.asarray(F(scale))
    q, z = random_bytes(np.random.default_rng(1), dtype, 3, 40), random_zero(np.random.default_rng(2), dtype)
    assert_bits(run([node("QuantizeLinear", "x s z")], {"x": x, "s": s}, {"z": z}), formulas.quantize(x, s, z, dtype))
    with np.errstate(all="ignore"):
        expected = formulas.dequantize(q, s, z)
        assert_bits(run([node("DequantizeLinear", "q s z")], {"q": q, "s": s}, {"z": z}), expected)
        sums = formulas.matmul_integer(q, np.ones((40, 2), np.int8), z)
        product = node("MatMulIntegerToFloat", "q b s one z", "y", MS)
        weights = {"b": np.ones((40, 2), np.int8), "one": F(1), "z": z, "zb": np.int8(0)}
        np.testing.assert_array_equal(run([product], {"q": q, "s": s}, weights), formulas.to_float(sums, s, 1))
        product = node("QLinearMatMul", "q one z b one zb s z")
        expected = formulas.requantize(sums, formulas.factor(1, 1, s), z, dtype)
        assert_bits(run([product], {"q": q, "s": s}, weights), expected)


# ---- what is refused


TWO: dict[str, Any] = {
    "a": np.zeros((2, 3), np.uint8), "b": np.zeros((3, 2), np.int8), "s": F(1), "za": np.uint8(1), "zb": np.int8(1)
}  # fmt: skip
IMAGE: dict[str, Any] = {
    "x": np.zeros((1, 2, 5, 5), np.uint8), "w": np.zeros((2, 2, 3, 3), np.int8),
    **{name: TWO[name] for name in ("s", "za", "zb")},
}  # fmt: skip


@pytest.mark.parametrize(
    ("nodes", "given", "reason"),
    [
        (node("MatMulInteger", "a b"), {"a": np.zeros((2, 3), np.int32), "b": np.zeros((3, 2), np.int8)},
         "a is int32, supported are uint8 and int8"),
        (node("MatMulInteger", "a b za"),
         {"a": np.zeros((2, 3), np.uint8), "b": np.zeros((3, 2), np.int8), "za": np.int8(1)},
         "the zero point of a has type int8, expected uint8"),
        (node("MatMulInteger", "a b"), {"a": np.zeros((2, 3), np.uint8), "b": np.zeros((4, 2), np.int8)},
         r"matrices of shapes \(2, 3\) and \(4, 2\) cannot be multiplied"),
        (node("MatMulInteger", "a b - zb"), {"a": np.zeros((2, 3), np.uint8), "b": np.zeros((3, 2), np.int8),
                                             "zb": np.zeros(3, np.int8)}, r"the zero point of b has shape \(3,\)"),
        (node("QLinearMatMul", "a s za b s zb s zb"), {**TWO, "s": F(0)}, "the scale of a is 0, expected finite"),
        (node("QLinearMatMul", "a s za b s zb s zb"), {**TWO, "s": F(np.nan)}, "the scale of a is nan, expected finite"),
        (node("QLinearMatMul", "a s za b s2 zb s zb"), {**TWO, "s2": np.ones(5, F)}, r"the scale of b has shape \(5,\)"),
        (node("QLinearMatMul", "a s za b s zb s2 zb"), {**TWO, "s2": np.ones(5, F)}, r"the scale of y has shape \(5,\)"),
        (node("QLinearMatMul", "a s zb b s zb s zb"), TWO, "the zero point of a has type int8, expected uint8"),
        (node("ConvInteger", "x b"), {"x": np.zeros((1, 3, 5, 5), np.uint8), "b": np.zeros((2, 2, 3, 3), np.int8)},
         r"the weights have shape \(2, 2, 3, 3\), the image \(1, 3, 5, 5\), with 1 groups"),
        (node("ConvInteger", "x b - zb"), {"x": np.zeros((1, 2, 5, 5), np.uint8), "b": np.zeros((2, 2, 3, 3), np.int8),
                                           "zb": np.zeros(3, np.int8)}, r"the zero point of w has shape \(3,\)"),
        (node("ConvInteger", "x b"), {"x": np.zeros((1, 2, 2, 5), np.uint8), "b": np.zeros((2, 2, 3, 3), np.int8)},
         "the window of 3 is larger than the image of 2"),
        (node("ConvInteger", "x b"), {"x": np.zeros((1, 2, 1, 501), np.uint8), "b": np.zeros((2, 2, 1, 501), np.int8)},
         "the window has 501 places, supported are up to 500"),
        (node("QLinearConv", "x s za w s zb s za bias"), {**IMAGE, "bias": np.zeros(2, F)},
         r"the bias is float32 of shape \(2,\), expected int32 of shape \(2,\)"),
        (node("QLinearConv", "x s za w s zb s za bias"), {**IMAGE, "bias": np.zeros(3, np.int32)},
         r"the bias is int32 of shape \(3,\), expected int32 of shape \(2,\)"),
        (node("QLinearSigmoid", "a s zb s zb", "y", MS), TWO, "the zero point of x has type int8, expected uint8"),
        (node("QLinearAdd", "a s za b s zb s za", "y", MS), TWO, "the operands are uint8 and int8"),
        (node("QLinearConcat", "s za a s za b s zb", "y", MS, axis=0), TWO, "input 5 is int8, the result uint8"),
        (node("QLinearConcat", "s za a s", "y", MS, axis=0), TWO, "it has 4 inputs, expected 2, and 3 for each"),
        (node("QLinearGlobalAveragePool", "a s za s za", "y", MS), TWO, r"the shape is \(2, 3\)"),
        (node("QGemm", "a s za b s zb c", "y", MS), {**TWO, "c": np.zeros(3, np.int32)}, r"c is int32 of shape \(3,\)"),
        (node("DynamicQuantizeLinear", "a", "y s z"), {"a": np.zeros(3, np.int32)}, "its input is int32"),
    ],
)  # fmt: skip
def test_refused(nodes: SourceNode, given: Mapping[str, Any], reason: str) -> None:
    for known in (False, True):
        if not known and ("is 0" in reason or "is nan" in reason):  # which nothing sees at run time
            continue
        first, *rest = given
        if not known and nodes.op.startswith("QLinear") and nodes.domain:
            continue
        inputs = {name: given[name] for name in ([first] if known else given)}
        with pytest.raises(UnsupportedModel, match=reason):
            run([nodes], inputs, {name: given[name] for name in rest} if known else {})
