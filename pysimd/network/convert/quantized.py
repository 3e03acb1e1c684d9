"""Bytes with a scale and a zero point: what the converters of quantised operators share.

A quantised byte q stands for (q - zero) * scale. Each function is exact: its bits are those of the formula in its docstring,
with f() for a rounding to float. Products take unsigned bytes on the left, and signed ones on the right: bytes of the other
kind are moved by 128, and so are their zeros, which changes no result.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from pysimd.annotations import Array
from pysimd.network.convert.conversion import Conversion, Value, float32_of
from pysimd.network.open_arrays import full
from pysimd.network.operators import IDENTITY
from pysimd.network.records import record
from pysimd.network.sizes import broadcast_shapes
from pysimd.network.unsupported import Unsupported

BYTES = ("uint8", "int8")


@record(frozen=True)
class Floats:
    """What sums become: f(f(float(sum) * scale) + bias), with one scale or one for each column."""

    scale: Array
    bias: Array | None


@record(frozen=True)
class Bytes:
    """A tensor of bytes, and its zero points in int32, one for all or as many as broadcast."""

    value: Value
    zero: Value

    def with_zero(self, shape: Any, c: Conversion) -> Bytes:
        """With zeros of another shape."""
        zero = self.zero
        return Bytes(self.value, c.reshape(zero, shape) if isinstance(zero, str) else zero.reshape(shape))


def bytes_at(c: Conversion, i: int, zero: int, name: str) -> Bytes:
    """An input of bytes with its zero point, another input that may be missing."""
    dtype = c.dtype(i)
    if dtype not in BYTES:
        raise Unsupported(f"{name} is {dtype}, supported are {' and '.join(BYTES)}")
    value: Any = c.value(i)
    return Bytes(value, zero_at(c, zero, dtype, name))


def zero_at(c: Conversion, i: int, dtype: str, name: str) -> Value:
    """An input with zero points, which have the type of the bytes, in int32."""
    if not c.has(i):
        return np.zeros((), np.int32)
    if c.dtype(i) != dtype:
        raise Unsupported(f"the zero point of {name} has type {c.dtype(i)}, expected {dtype}")
    value: Any = c.value(i)
    shape = () if prod(c.shape(i)) == 1 and len(c.shape(i)) < 2 else c.shape(i)
    return as_integer(c, c.reshape(value, shape)) if isinstance(value, str) else value.astype(np.int32).reshape(shape)


def as_integer(c: Conversion, zero: str) -> str:
    """A zero point that is computed in int32; its bytes are kept for :func:`byte_of`."""
    number = c.cast(zero, "int32")
    c.shared["byte", number, c.dtype_of(zero)] = zero
    return number


def scale_at(c: Conversion, i: int, name: str) -> Value:
    """An input with scales; one of a single number has no dimensions.

    Those that are known are finite and above 0. With others the formulas are computed as they are: f(x / 0) is infinite, or
    NaN, whose byte is the least.
    """
    shape = c.shape(i)
    shape = () if shape == (1,) else shape
    value: Any = c.value(i)
    if isinstance(value, str):
        return c.reshape(value, shape)
    scale: Array = float32_of(value).reshape(shape)
    if scale.dtype != np.float32:
        raise Unsupported(f"the scale of {name} has type {scale.dtype.name}, expected float32")
    wrong = scale[~(np.isfinite(scale) & (scale > 0))]
    if wrong.size:
        raise Unsupported(f"the scale of {name} is {wrong.flat[0]:g}, expected finite numbers above 0")
    return scale


# ---- arithmetic that no pass changes, at once where both operands are known


def exact(c: Conversion, function: str, a: Value | float, b: Value | float) -> Value:
    """f(a + b), f(a - b), f(a * b) or f(a / b), broadcast."""
    pair: list[Any] = [x if isinstance(x, str) else np.asarray(x, np.float32) for x in (a, b)]
    if not any(isinstance(x, str) for x in pair):
        with np.errstate(all="ignore"):
            return np.asarray(getattr(np, function)(*pair), np.float32)
    rank = max(len(c.shape_of(x)) for x in pair)
    return c.add("ExactBinary", *(of_rank(c, x, rank) for x in pair), function=function, activation=IDENTITY)


def integers(c: Conversion, function: str, a: Value, b: Value) -> Value:
    """The same of int32, which wraps around."""
    if isinstance(a, str) or isinstance(b, str):
        return c.elementwise(function, a, b)
    return np.asarray(getattr(np, function)(a, b), np.int32)


def of_rank(c: Conversion, x: Value, rank: int) -> str:
    """With as many dimensions, by more that have one element."""
    shape = (1,) * (rank - len(c.shape_of(x))) + tuple(c.shape_of(x))
    return c.reshape(x, shape) if isinstance(x, str) else c.constant(x.reshape(shape))


def _is_zero(x: Value) -> bool:
    return not isinstance(x, str) and not x.any()


# ---- floats to bytes, and back


def quantized(c: Conversion, x: str, scale: Value, zero: Value | None, dtype: str) -> str:
    """saturated(nearest(f(x / scale)) + zero), with one scale; the zero is of int32."""
    if zero is None:
        names = []
    elif isinstance(zero, str):
        names = [c.cast(zero, dtype)]
    else:
        names = [c.named(zero.astype(dtype))]
    return c.add("Quantize", x, c.named(scale), *names, axis=None, dtype=dtype)


def dynamic(c: Conversion, x: str) -> tuple[Value, Value, Value]:
    """DynamicQuantizeLinear: bytes of a range that has all elements and 0; the scale; and the zero, a byte.

        s = f(f(most - least) / 255), or 1 if that is 0      zero = nearest(clip(f(0 - f(least / s)), 0, 255))

    NaN is not of the range, and becomes 0.
    """
    shape = c.builder.shape(x)
    if prod(shape) == 0:
        return full(shape, 0, np.uint8), np.ones((), np.float32), np.zeros((), np.uint8)
    found, scale, zero = c.add_all("DynamicQuantize", x)
    return found, scale, zero


def requantized(c: Conversion, sums: str, factor: Value, zero: Value, dtype: str) -> str:
    """saturated(nearest(f(float(sum) * factor)) + zero)."""
    return quantized(c, scaled(c, sums, factor), np.ones((), np.float32), zero, dtype)


def scaled(c: Conversion, sums: str, factor: Value) -> str:
    """f(float(sum) * factor)."""
    return str(exact(c, "multiply", c.cast(sums, "float32"), factor))


# ---- products


def as_unsigned(c: Conversion, x: Bytes) -> Bytes:
    """The same numbers as unsigned bytes."""
    return x if c.dtype_of(x.value) == "uint8" else _moved(c, x, "uint8")


def as_signed(c: Conversion, x: Bytes) -> Bytes:
    """The same numbers as signed bytes."""
    return x if c.dtype_of(x.value) == "int8" else _moved(c, x, "int8")


def _moved(c: Conversion, x: Bytes, dtype: str) -> Bytes:
    zero = integers(c, "add" if dtype == "uint8" else "subtract", x.zero, np.array(128, np.int32))
    if isinstance(x.value, str):
        value, key = x.value, (dtype, x.value)
        if key not in c.shared:
            c.shared[key] = c.elementwise("xor", c.cast(value, dtype), np.array(128).astype(dtype))
        return Bytes(c.shared[key], zero)
    return Bytes((x.value.view(np.uint8) ^ np.uint8(128)).view(dtype), zero)


def product(c: Conversion, a: Bytes, b: Bytes) -> str:
    """The sums of (a - its zero) * (b - its zero) in int32, as numpy.matmul; `a` has zeros of rows, `b` of columns."""
    first, second = c.shape_of(a.value), c.shape_of(b.value)
    if not first or not second:
        raise Unsupported(f"the operands have shapes {first} and {second}")
    matrix_a, matrix_b = first if len(first) > 1 else (1, *first), second if len(second) > 1 else (*second, 1)
    if matrix_a[-1] != matrix_b[-2]:
        raise Unsupported(f"matrices of shapes {first} and {second} cannot be multiplied")
    a, b = (_matrix(c, x, shape) for x, shape in ((a, matrix_a), (b, matrix_b)))
    lead = broadcast_shapes(matrix_a[:-2], matrix_b[:-2])
    if len(c.shape_of(a.zero)) == 1 and c.shape_of(a.zero) == (matrix_a[-2],):
        a = a.with_zero((matrix_a[-2], 1), c)
    _check_zeros(c, a.zero, (*lead, matrix_a[-2], 1), "a")
    _check_zeros(c, b.zero, (*lead, 1, matrix_b[-1]), "b")
    packed = packed_product(c, a, b)
    if packed is not None:
        return c.reshape(packed, (*lead, *first[-2:-1], *(second[-1:] if len(second) > 1 else ())))
    sums = _computed_product(c, a, b, lead) or byte_product(c, as_unsigned(c, a), as_signed(c, _turned(c, b)))
    return c.reshape(sums, (*lead, *first[-2:-1], *(second[-1:] if len(second) > 1 else ())))


def packed_product(c: Conversion, a: Bytes, b: Bytes, floats: Floats | None = None) -> str | None:
    """With a matrix that is known, which a context packs once; None for another one, and for zeros of rows.

    floats : what sums become; without them they stay integers.
    """
    if isinstance(b.value, str) or isinstance(b.zero, str) or b.value.ndim != 2 or prod(c.shape_of(a.zero)) != 1:
        return None
    value, zero = _without_zeros(b.value, b.zero)
    names = [c.named(a.value), c.constant(value), "", ""]
    if zero.any():
        names[2] = c.constant(zero.astype(value.dtype).reshape(-1))
    if not _is_zero(a.zero):
        names[3] = byte_of(c, a)
    if floats is None:
        return c.add("PackedProduct", *names, dtype="int32")
    bias = "" if floats.bias is None else c.constant(floats.bias)
    return c.add("PackedProduct", *names, "", c.constant(floats.scale.reshape(-1)), bias, dtype="float32")


def _without_zeros(value: Array, zero: Array) -> tuple[Array, Array]:
    """The same numbers with zeros of 0, if they are signed bytes: no sums of rows have to be taken from products then."""
    if not zero.any() or (value.dtype == np.uint8 and (zero == 128).all()):
        return value, zero
    parts = without_zero(value, zero, -1)
    return (value, zero) if len(parts) > 1 else (parts[0], np.zeros((), np.int32))


def _computed_product(c: Conversion, a: Bytes, b: Bytes, lead: Any) -> str | None:
    """With a right matrix that is computed; None for another one, and for zeros that the function does not have."""
    shapes = c.shape_of(a.value), c.shape_of(b.value)
    if not isinstance(b.value, str):
        return None
    names = [c.named(a.value), b.value, "", ""]
    for i, (x, shape) in enumerate(zip((a, b), shapes)):
        of_zero = c.shape_of(x.zero)
        each = (*lead, shape[-2], 1) if i == 0 else shape[-1:]
        if _is_zero(x.zero):
            continue
        if of_zero == ():
            names[2 + i] = byte_of(c, x)
        elif of_zero == each and (i == 1 or all(s[:-2] == lead or len(s) == 2 for s in shapes)):
            dtype: Any = c.dtype_of(x.value)
            names[2 + i] = c.cast(x.zero, dtype) if isinstance(x.zero, str) else c.constant(x.zero.astype(dtype))
        else:
            return None
    return c.add("BytesMatMul", *names)


def requantized_product(c: Conversion, a: Bytes, b: Bytes, scales: tuple[Value, Value], y: Result) -> str | None:
    """Of two computed matrices with one known scale and zero each: saturated(nearest(f(float(sum) * factor)) + zero)."""
    shapes = c.shape_of(a.value), c.shape_of(b.value)
    known: list[Any] = [a.zero, b.zero, *scales, y.scale, y.zero]
    if not isinstance(a.value, str) or not isinstance(b.value, str) or min(map(len, shapes)) < 2:
        return None
    if any(isinstance(each, str) or np.size(each) != 1 for each in known) or shapes[0][-1] != shapes[1][-2]:
        return None
    of_a, of_b, of_y, zero = (np.reshape(each, ()).item() for each in known[2:])
    if not np.isfinite(np.float32(of_a) * np.float32(of_b) / np.float32(of_y)):
        return None
    names = ["" if _is_zero(x.zero) else byte_of(c, Bytes(x.value, np.reshape(x.zero, ()))) for x in (a, b)]
    return c.add("BytesMatMul", a.value, b.value, *names, dtype=y.dtype, scales=(of_a, of_b, of_y), zero=zero)


def byte_of(c: Conversion, x: Bytes) -> str:
    """The one zero as a byte."""
    dtype, zero = c.dtype_of(x.value), x.zero
    if not isinstance(zero, str):
        return c.constant(zero.astype(dtype).reshape(()))
    key = "byte", zero, dtype
    if key not in c.shared:
        c.shared[key] = c.cast(zero, dtype)
    return c.shared[key]


def _matrix(c: Conversion, x: Bytes, shape: Any) -> Bytes:
    return Bytes(c.reshape(x.value, shape) if isinstance(x.value, str) else x.value.reshape(shape), x.zero)


def _check_zeros(c: Conversion, zero: Value, expected: Any, name: str) -> None:
    shape = tuple(c.shape_of(zero))
    fits = len(shape) <= len(expected) and all(n == 1 or n == m for n, m in zip(shape[::-1], expected[::-1]))
    if not fits:
        raise Unsupported(f"the zero point of {name} has shape {shape}, expected one number or {expected}")


def _turned(c: Conversion, x: Bytes) -> Bytes:
    """The columns of matrices as rows."""
    rank = len(c.shape_of(x.value))
    order = (*range(rank - 2), rank - 1, rank - 2)
    turned = c.transpose(x.value, order) if isinstance(x.value, str) else np.ascontiguousarray(x.value.transpose(order))
    return Bytes(turned, x.zero)


def byte_product(c: Conversion, a: Bytes, b: Bytes) -> str:
    """The sums of (a - its zero) * (b - its zero): rows of `a`, unsigned, with rows of `b`, signed, whose zeros are those of
    columns of the result.

    The zeros are taken from the sums of bytes: sum(a * b) - zb * sum(a) - za * (sum(b) - K * zb).
    """
    if _is_better_turned(c, a, b):
        return _turned_product(c, a, b)
    k = c.shape_of(a.value)[-1]
    sums: Value = c.add("ByteProduct", c.named(a.value), c.named(b.value))
    if not _is_zero(b.zero):
        rows = _sums_of_unsigned_rows(c, c.named(a.value))
        sums = integers(c, "subtract", sums, integers(c, "multiply", rows, b.zero))
    if not _is_zero(a.zero):
        columns = _sums_of_rows(c, b.value, k)
        if not _is_zero(b.zero):
            count: Value = np.array(k, np.int32) if isinstance(k, int) else c.cast(c.constant(np.asarray(k)), "int32")
            columns = integers(c, "subtract", columns, integers(c, "multiply", count, b.zero))
        sums = integers(c, "subtract", sums, integers(c, "multiply", a.zero, columns))
    return str(sums)


def _is_better_turned(c: Conversion, a: Bytes, b: Bytes) -> bool:
    """Whether the rows of `a` are fewer than those of known weights: the right side of a product is packed in each call."""
    if not isinstance(a.value, str) or isinstance(b.value, str) or b.value.ndim != 2 or c.shape_of(a.zero) != ():
        return False
    rows = prod(c.shape_of(a.value)[:-1])
    return not isinstance(b.zero, str) and (not isinstance(rows, int) or rows < len(b.value))


def _turned_product(c: Conversion, a: Bytes, b: Bytes) -> str:
    """The same with the weights on the left."""
    shape, (n, k) = c.shape_of(a.value), c.shape_of(b.value)
    signed, weight = as_signed(c, a), as_unsigned(c, b)
    rows = prod(shape[:-1])
    of_weight: Any = weight.zero
    of_weight = of_weight.reshape(-1, 1)
    sums: Value = c.add("ByteProduct", c.named(weight.value), c.reshape(c.named(signed.value), (rows, k)))
    if not _is_zero(of_weight):
        of_rows: Value = c.reshape(_sums_of_unsigned_rows(c, c.named(a.value)), (1, rows))
        of_rows = integers(c, "subtract", of_rows, np.array(128 * k, np.int32))
        sums = integers(c, "subtract", sums, integers(c, "multiply", of_rows, of_weight))
    of_columns: Any = weight.value.sum(1, dtype=np.int32, keepdims=True) - np.int32(k) * of_weight  # type: ignore[union-attr]
    if not _is_zero(signed.zero):
        sums = integers(c, "subtract", sums, integers(c, "multiply", signed.zero, of_columns))
    return c.reshape(c.transpose(str(sums), (1, 0)), (*shape[:-1], n))


def _sums_of_unsigned_rows(c: Conversion, a: str) -> str:
    """Of matrices (..., M, K), as (..., M, 1)."""
    if ("sums", a) not in c.shared:
        ones = full((1, c.builder.shape(a)[-1]), 1, np.int8)
        c.shared["sums", a] = c.add("ByteProduct", a, c.constant(ones))
    return c.shared["sums", a]


def _sums_of_rows(c: Conversion, b: Value, k: Any) -> Value:
    """Of matrices (..., N, K), as (..., 1, N)."""
    if isinstance(b, str):
        return c.add("ByteProduct", c.constant(full((1, k), 1, np.uint8)), b)
    return b.sum(-1, dtype=np.int32)[..., None, :]  # type: ignore[no-any-return]


# ---- layers whose scales and zeros are known


@record(frozen=True)
class Result:
    """What a result is quantised with: a scale, a zero in int32, and a type."""

    scale: Value
    zero: Value
    dtype: str

    def factor(self, c: Conversion, scale: Value) -> Value:
        """f(scale / this scale)."""
        return exact(c, "divide", scale, self.scale)


def result_at(c: Conversion, scale: int, zero: int) -> Result:
    """Of inputs; the zero, which may be missing, has the type of the result, uint8 without one."""
    dtype = c.dtype(zero) if c.has(zero) else "uint8"
    if dtype not in BYTES:
        raise Unsupported(f"the zero point of y has type {dtype}, supported are {' and '.join(BYTES)}")
    found = Result(scale_at(c, scale, "y"), zero_at(c, zero, dtype, "y"), dtype)
    for what, value in (("scale", found.scale), ("zero point", found.zero)):
        if prod(c.shape_of(value)) != 1:
            raise Unsupported(f"the {what} of y has shape {c.shape_of(value)}, expected one number")
    return found


def layer(
    c: Conversion, operator: str, x: Bytes, weight: Bytes, scales: tuple[Value, Value], bias: Any, y: Result, **more: Any
) -> str | None:
    """QuantizedConv or QuantizedLinear; None if something of it is not known.

    weight : as the operator has it. scales : of x and of the weights.
    """
    (of_x, of_weight), x = scales, as_unsigned(c, x)
    known: list[Any] = [x.zero, weight.zero, of_x, of_weight, y.scale, y.zero, bias, weight.value]
    if any(isinstance(each, str) for each in known):
        return None
    if np.ndim(of_weight) > 1 or np.size(of_x) != 1 or np.size(x.zero) != 1 or known[1].ndim > 1:
        return None
    factor: Any = y.factor(c, exact(c, "multiply", of_x, of_weight))
    if not np.isfinite(factor).all() or not float(np.reshape(known[2], ())) > 0:
        return None
    move = 0 if y.dtype == "uint8" else 128
    of_x, before, of_y, after = (np.reshape(known[i], ()).item() for i in (2, 0, 4, 5))
    options = {"scales": (of_x, of_y), "zeros": (before, after + move)}
    terms = [] if bias is None else [c.constant(bias)]
    channels = 1 if operator == "QuantizedConv" else -1  # of x
    parts = without_zero(known[7], known[1], 0 if operator == "QuantizedConv" else -1)
    image = (
        c.named(x.value) if len(parts) == 1 else repeated(c, c.named(x.value), channels, more.get("group", 1), len(parts))
    )
    joined = parts[0] if len(parts) == 1 else np.concatenate(parts, 1 if operator == "QuantizedConv" else 0)
    given = image, c.constant(joined), c.constant(known[3]), *terms
    found = c.add(operator, *given, **options, **more)
    return str(as_signed(c, Bytes(found, np.zeros((), np.int32))).value) if move else found


def without_zero(weight: Array, zero: Array, axis: int) -> list[Array]:
    """Weights minus their zero, which are along an axis, as signed bytes; as arrays whose sum they are if need be."""
    shape = [1] * weight.ndim
    shape[axis] = -1
    rest = weight.astype(np.int16) - zero.reshape(shape).astype(np.int16)
    parts: list[Array] = []
    while not parts or rest.any():
        parts.append(np.clip(rest, -128, 127).astype(np.int8))
        rest = rest - parts[-1]
    return parts


def repeated(c: Conversion, x: str, axis: int, group: int, count: int) -> str:
    """The channels of each group several times: for each part of weights."""
    shape = c.builder.shape(x)
    axis %= len(shape)
    if group == 1:
        return c.add("Concat", *[x] * count, axis=axis)
    apart = (*shape[:axis], group, shape[axis] // group, *shape[axis + 1 :])
    both = c.add("Concat", *[c.reshape(x, apart)] * count, axis=axis + 1)
    return c.reshape(both, (*shape[:axis], count * shape[axis], *shape[axis + 1 :]))
