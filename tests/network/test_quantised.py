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
from support import Array

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


# ---- what is refused


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
        (node("DynamicQuantizeLinear", "a", "y s z"), {"a": np.zeros(3, np.int32)}, "its input is int32"),
    ],
)  # fmt: skip
def test_refused(nodes: SourceNode, given: Mapping[str, Any], reason: str) -> None:
    for known in (False, True):
        first, *rest = given
        inputs = {name: given[name] for name in ([first] if known else given)}
        with pytest.raises(UnsupportedModel, match=reason):
            run([nodes], inputs, {name: given[name] for name in rest} if known else {})
