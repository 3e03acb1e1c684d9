"""Arithmetic on integers, comparisons and selections against NumPy: every operation and type, broadcasting, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pysimd
from support import assert_same

TYPES = ("int32", "int8", "uint8", "int64", "uint64", "bool")
FUNCTIONS: dict[str, Any] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": lambda a, b: np.where(b == 0, 0, (a - np.fmod(a, np.where(b == 0, 1, b))) // np.where(b == 0, 1, b)),
    "modulo": lambda a, b: np.where(b == 0, 0, np.mod(a, np.where(b == 0, 1, b))),
    "remainder": lambda a, b: np.where(b == 0, 0, np.fmod(a, np.where(b == 0, 1, b))),
    "maximum": np.maximum,
    "minimum": np.minimum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "shift_left": np.left_shift,
    "shift_right": np.right_shift,
    "equal": np.equal,
    "not_equal": np.not_equal,
    "less": np.less,
    "less_or_equal": np.less_equal,
}
SHAPES = [((700,), (700,)), ((3, 1, 5), (4, 5)), ((), (2, 9)), ((6, 1), (1, 300)), ((0, 3), (1, 3))]


def values(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Any:
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    limits = np.iinfo(dtype)
    few = np.array([0, 1, 2, 3, 7, limits.max, limits.min, limits.max // 3], dtype)
    return np.where(rng.integers(0, 3, shape), rng.choice(few, shape), rng.integers(limits.min, limits.max, shape, dtype))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("operation", FUNCTIONS)
@pytest.mark.filterwarnings("ignore")  # of overflows
def test_integers(operation: str, dtype: str, isa: str, rng: np.random.Generator) -> None:
    if dtype == "bool" and operation not in ("and", "or", "xor", "equal", "not_equal", "less", "less_or_equal"):
        pytest.skip("NumPy has it in another type")
    for left, right in SHAPES:
        a, b = values(rng, left, dtype), values(rng, right, dtype)
        expected = np.asarray(FUNCTIONS[operation](a, b))
        found = pysimd.elementwise(operation, a, b)  # type: ignore[arg-type]
        if expected.dtype != bool:
            expected = expected.astype(dtype)
        assert_same(found, expected)


@pytest.mark.parametrize("operation", ["modulo", "remainder", "equal", "not_equal", "less", "less_or_equal"])
def test_floats(operation: Any, isa: str, rng: np.random.Generator) -> None:
    special = np.array([0, -0.0, 1, -1, 2.5, -2.5, np.inf, -np.inf, np.nan, 1e-45, 3e38], np.float32)
    a, b = special[:, None], np.concatenate([special, rng.standard_normal(20, np.float32)])
    function = {"modulo": np.mod, "remainder": np.fmod}.get(operation) or FUNCTIONS[operation]
    with np.errstate(all="ignore"):
        expected = function(a, b)
    np.testing.assert_array_equal(pysimd.elementwise(operation, a, b), expected)


def test_power(rng: np.random.Generator) -> None:
    a, b = rng.integers(-9, 10, (50, 1)), np.arange(8)
    assert_same(pysimd.elementwise("power", a, b), a**b)
    assert pysimd.elementwise("power", np.array([1, -1, -1, 2, 0]), np.array([-3, -3, -2, -1, -1])).tolist() == [
        1,
        -1,
        1,
        0,
        0,
    ]


def test_numbers_and_out() -> None:
    x = np.arange(6, dtype=np.int32).reshape(2, 3)
    assert pysimd.elementwise("subtract", 1, x).tolist() == [[1, 0, -1], [-2, -3, -4]]
    call = pysimd.prepare(pysimd.elementwise, "add", x, 1, out=x)
    call()
    assert call() is x
    assert x.tolist() == [[2, 3, 4], [5, 6, 7]]
    below = np.empty((2, 3), bool)
    assert pysimd.elementwise("less", x, 4, out=below) is below
    assert below.tolist() == [[True, True, False], [False] * 3]


@pytest.mark.parametrize("dtype", ["float32", "uint16", "uint8", "int32", "int64", "int8", "uint64", "bool", "float16"])
def test_select(dtype: str, isa: str, rng: np.random.Generator) -> None:
    for shapes in [
        ((5, 1), (5, 300), (300,)),
        ((2, 3, 7),) * 3,
        ((), (3,), (2, 1)),
        ((9,), (1,), (9,)),
        ((2, 0), (2, 1), ()),
    ]:
        condition = rng.integers(0, 2, shapes[0]).astype(bool)
        a, b = (rng.integers(0, 100, shape).astype(dtype) for shape in shapes[1:])
        assert_same(pysimd.select(condition, a, b), np.where(condition, a, b))
    x = np.arange(4).astype(dtype)
    assert pysimd.select(x > 1, x, x, out=x) is x
    assert_same(pysimd.select(np.array([True, False]), 1, x[:2]), np.array([1, 1]).astype(dtype))


INTS, FLOATS = np.zeros((2, 3), np.int32), np.zeros((2, 3), np.float32)
YES = np.ones((2, 3), bool)


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda: pysimd.elementwise("plus", INTS, INTS), ValueError, "operation is 'plus', expected 'add' or "),  # type: ignore[arg-type]
        (lambda: pysimd.elementwise("add", 1, 2), TypeError, "a and b are numbers"),
        (lambda: pysimd.elementwise("add", FLOATS, FLOATS), ValueError, "operation is Add, expected Modulo"),
        (lambda: pysimd.elementwise("add", INTS, FLOATS), TypeError, "b has dtype float32, expected that of a, int32"),
        (lambda: pysimd.elementwise("add", INTS, INTS.astype(np.int16)), TypeError, "b has dtype int16"),
        (lambda: pysimd.elementwise("add", INTS, 2**31), ValueError, "b is 2147483648, expected a number that int32 has"),
        (lambda: pysimd.elementwise("add", INTS, 0.5), ValueError, "b is 0.5, expected a number that int32 has"),
        (lambda: pysimd.elementwise("add", INTS, INTS[:, :2].copy()), ValueError, r"the shapes are a \(2, 3\), b \(2, 2\)"),
        (lambda: pysimd.elementwise("add", INTS.reshape((1,) * 7 + (2, 3)), INTS), ValueError, "a has 9 dimensions"),
        (lambda: pysimd.elementwise("add", INTS.T, INTS.T), ValueError, "a is not C-contiguous"),
        (lambda: pysimd.elementwise("less", INTS, INTS, out=INTS), TypeError, "out has dtype int32, expected bool"),
        (lambda: pysimd.elementwise("add", INTS, 1, out=np.zeros(6, np.int32)), ValueError, "out has shape"),
        (lambda: pysimd.select(INTS, FLOATS, FLOATS), TypeError, "condition has dtype int32, expected bool"),
        (lambda: pysimd.select(YES, FLOATS, INTS), TypeError, "b has dtype int32, expected that of a, float32"),
        (lambda: pysimd.select(YES, YES, YES, out=YES), ValueError, "out overlaps"),
    ],
)
def test_refusals(call: Any, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        call()
