"""Converters for integers and booleans: arithmetic, comparisons, logic, and what is composed of them."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial, reduce
from typing import Any

import numpy as np

from pysimd.annotations import Array
from pysimd.network.convert.conversion import CAST_TYPES, Conversion, converts, converts_others
from pysimd.network.convert.fold_node import DTYPES
from pysimd.network.open_arrays import later
from pysimd.network.operators import axis_within
from pysimd.network.sizes import whole
from pysimd.network.source import SourceNode
from pysimd.network.unsupported import NotHere

_INTEGERS = CAST_TYPES - {"float32", "bool"}
_UNSIGNED = ("uint8", "uint64")


def operands(c: Conversion, types: Collection[str]) -> list[str]:
    """The inputs, which have one of these types."""
    names = [c.typed(i) for i in range(len(c.node.inputs)) if c.has(i)]
    if not names or len({*types, *(c.builder.type(name).dtype for name in names)}) != len(types):
        raise NotHere
    if len({c.builder.type(name).dtype for name in names}) != 1:
        raise NotHere
    return names


def _number(c: Conversion, x: str, value: Any) -> Any:
    """A number of the type of a tensor."""
    return np.array(value, c.builder.type(x).dtype)


# ---- two tensors, and several

_ARITHMETIC = {
    "Add": "add", "Sub": "subtract", "Mul": "multiply", "Div": "divide", "BitwiseAnd": "and", "BitwiseOr": "or",
    "BitwiseXor": "xor",
}  # fmt: skip
_LOGIC = {"And": "and", "Or": "or", "Xor": "xor"}
_COMPARISONS = {"Equal": "equal", "Less": "less", "LessOrEqual": "less_or_equal"}
_TURNED = {"Greater": "less", "GreaterOrEqual": "less_or_equal"}
_SEVERAL = {"Sum": "add", "Max": "maximum", "Min": "minimum"}


@converts_others(*_ARITHMETIC)
def _arithmetic(c: Conversion, node: SourceNode) -> None:
    c.give(c.elementwise(_ARITHMETIC[node.op], *operands(c, _INTEGERS)))


@converts_others(*_LOGIC)
def _logic(c: Conversion, node: SourceNode) -> None:
    c.give(c.elementwise(_LOGIC[node.op], *operands(c, ("bool",))))


@converts("Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", any_type=True)
def _comparison(c: Conversion, node: SourceNode) -> None:
    try:
        a, b = operands(c, CAST_TYPES)
    except NotHere:
        return c.by_numpy()
    if node.op in _TURNED:
        return c.give(c.elementwise(_TURNED[node.op], b, a))
    return c.give(c.elementwise(_COMPARISONS[node.op], a, b))


@converts_others(*_SEVERAL)
def _several(c: Conversion, node: SourceNode) -> None:
    if node.op != "Sum" and len(node.inputs) == 2 and c.dtype(0) in ("int8", "uint8"):
        for place in (1, 0):
            limit = c.known(place) if c.is_known(place) and not c.is_known(1 - place) else None
            if isinstance(limit, np.ndarray) and limit.shape == ():
                return c.give(_limited_bytes(c, 1 - place, limit, np.maximum if node.op == "Max" else np.minimum))
    names = operands(c, _INTEGERS)
    return c.give(reduce(lambda a, b: c.elementwise(_SEVERAL[node.op], a, b), names))


def _limited_bytes(c: Conversion, place: int, limit: Array, function: Any) -> str:
    """By a table, which the layer that gives the bytes may look up."""
    every = function(np.arange(256, dtype=np.uint8).view(c.dtype(place)), limit)
    return c.add("Table8", c.tensor(place), c.constant(every.view(np.uint8)), dtype=c.dtype(place))


@converts("Mod", any_type=True)
def _modulo(c: Conversion, node: SourceNode) -> None:
    try:
        a, b = operands(c, CAST_TYPES - {"bool"})
    except NotHere:
        return c.by_numpy()
    return c.give(c.elementwise("remainder" if c.flag("fmod") else "modulo", a, b))


@converts_others("BitShift")
def _shift(c: Conversion, node: SourceNode) -> None:
    c.give(c.elementwise("shift_left" if c.attribute("direction") == "LEFT" else "shift_right", *operands(c, _INTEGERS)))


@converts_others("Pow")
def _power(c: Conversion, node: SourceNode) -> None:
    """Exponents may have another type."""
    x, exponent = (c.typed(i) for i in range(2))
    base, other = (c.builder.type(name).dtype for name in (x, exponent))
    if base == "float32" and other in _INTEGERS:
        return c.give(c.binary("power", x, c.cast(exponent, base)))
    if not {base, other} <= _INTEGERS:
        raise NotHere
    return c.give(c.elementwise("power", x, c.cast(exponent, base)))


# ---- one tensor


@converts_others("Not")
def _not(c: Conversion, node: SourceNode) -> None:
    (x,) = operands(c, ("bool",))
    c.give(c.elementwise("xor", x, _number(c, x, True)))


@converts_others("BitwiseNot")
def _bitwise_not(c: Conversion, node: SourceNode) -> None:
    (x,) = operands(c, _INTEGERS)
    c.give(c.elementwise("xor", x, np.invert(_number(c, x, 0))))


@converts_others("Neg", "Abs", "Sign", "Relu")
def _of_sign(c: Conversion, node: SourceNode) -> None:
    (x,) = operands(c, _INTEGERS)
    if node.op == "Sign":
        least = x if c.builder.type(x).dtype in _UNSIGNED else c.elementwise("maximum", x, _number(c, x, -1))
        return c.give(c.elementwise("minimum", least, _number(c, x, 1)))
    if node.op != "Neg" and c.builder.type(x).dtype in _UNSIGNED:
        return c.give(x)
    other = _number(c, x, 0) if node.op == "Relu" else c.elementwise("subtract", _number(c, x, 0), x)
    return c.give(other if node.op == "Neg" else c.elementwise("maximum", x, other))


@converts_others("Clip")
def _clip(c: Conversion, node: SourceNode) -> None:
    if c.opset < 11:
        raise NotHere
    operands(c, _INTEGERS)
    x = c.typed(0)
    for i, function in ((1, "maximum"), (2, "minimum")):
        x = c.elementwise(function, x, c.typed(i)) if c.has(i) else x
    c.give(x)


@converts("IsNaN", any_type=True)
def _is_nan(c: Conversion, node: SourceNode) -> None:
    if c.dtype(0) != "float32":
        return c.by_numpy()
    return c.give(c.elementwise("not_equal", c.tensor(0), c.tensor(0)))


@converts("IsInf", any_type=True)
def _is_inf(c: Conversion, node: SourceNode) -> None:
    below, above = c.flag("detect_negative", 1), c.flag("detect_positive", 1)
    if c.dtype(0) != "float32" or not (below or above):
        return c.by_numpy()
    x = c.unary(c.tensor(0), "absolute") if below and above else c.tensor(0)
    return c.give(c.elementwise("equal", x, np.float32(np.inf if above else -np.inf)))


@converts("ThresholdedRelu")
def _thresholded(c: Conversion, node: SourceNode) -> None:
    x = c.tensor(0)
    above = c.elementwise("less", np.float32(c.attribute("alpha", 1.0)), x)
    c.give(c.select(above, x, np.float32(0)))


@converts("Shrink")
def _shrink(c: Conversion, node: SourceNode) -> None:
    x, bias, limit = c.tensor(0), float(c.attribute("bias", 0.0)), np.float32(c.attribute("lambd", 0.5))
    above = c.select(c.elementwise("less", limit, x), c.binary("subtract", x, bias), np.float32(0))
    c.give(c.select(c.elementwise("less", x, -limit), c.binary("add", x, bias), above))


# ---- made of comparisons and selections


@converts("OneHot", any_type=True)
def _one_hot(c: Conversion, node: SourceNode) -> None:
    """An index that is negative counts from the end; one beyond has no element."""
    indices, depth = c.typed(0), whole(c.numbers(1)[0])
    if c.dtype(0) not in CAST_TYPES:
        return c.by_numpy()
    indices, shape = c.cast(indices, "int64"), c.shape(0)
    axis = axis_within(int(c.attribute("axis", -1)), len(shape) + 1)
    places = later(positions, (depth,), depth)
    places = places.reshape((depth, *(1,) * (len(shape) - axis)))
    whole_shape = (*shape[:axis], 1, *shape[axis:])
    fromend = c.elementwise("add", indices, c.constant(np.asarray(depth)))
    indices = c.select(c.elementwise("less", indices, np.int64(0)), fromend, indices)
    chosen = c.elementwise("equal", c.reshape(indices, whole_shape), places)
    off, on = (c.reshape(c.slice(c.typed(2), 0, i, 1), ()) for i in (0, 1))
    return c.give(c.select(chosen, on, off))


@converts("Hardmax")
def _hardmax(c: Conversion, node: SourceNode) -> None:
    """Before opset 13, of all dimensions from the axis on together."""
    x, shape, old = c.tensor(0), c.shape(0), c.opset < 13
    axis = axis_within(int(c.attribute("axis", 1 if old else -1)), len(shape))
    if old:
        x = c.reshape(x, (int(np.prod(shape[:axis])), int(np.prod(shape[axis:]))))
        axis = 1
    own = c.builder.shape(x)
    first = c.add("Reduce", x, function="argmax", axes=(axis,), keepdims=True, last=False)
    places = later(positions, (own[axis],), own[axis]).reshape((own[axis], *(1,) * (len(own) - axis - 1)))
    c.give(c.reshape(c.select(c.elementwise("equal", first, places), np.float32(1), np.float32(0)), shape))


@converts("Trilu", any_type=True)
def _triangle(c: Conversion, node: SourceNode) -> None:
    if c.has(1) and not c.is_known(1):
        return c.by_numpy()
    x, shape, upper = c.typed(0), c.shape(0), c.flag("upper", 1)
    diagonal = int(c.numbers(1)[0]) if c.has(1) else 0
    mask = later(partial(triangle, diagonal=diagonal, upper=upper), shape[-2:], *shape[-2:])
    return c.give(c.select(mask, x, _number(c, x, 0)))


@converts("EyeLike", any_type=True)
def _eye_like(c: Conversion, node: SourceNode) -> None:
    """Of the shape of its input, whose elements do not matter."""
    dtype = DTYPES.get(int(c.attribute("dtype", 0)), c.dtype(0))
    dtype = "float32" if dtype == "float16" else dtype
    if dtype == "float64":  # a constant would be float32
        return c.by_numpy()
    shape, k = c.shape(0), int(c.attribute("k", 0))
    return c.give(later(partial(identity, diagonal=k, dtype=dtype), shape, *shape))


def positions(n: int) -> Array:
    """0, 1, 2 ... n - 1."""
    return np.arange(int(n))


def triangle(rows: int, columns: int, *, diagonal: int, upper: bool) -> Array:
    """Whether an element of a matrix is on or above a diagonal, or on or below it."""
    lower = np.tri(int(rows), int(columns), diagonal - upper, dtype=bool)
    return ~lower if upper else lower


def identity(rows: int, columns: int, *, diagonal: int, dtype: str) -> Array:
    """A matrix with 1 on a diagonal, and 0 elsewhere."""
    return np.eye(int(rows), int(columns), diagonal, dtype)
