"""Converters of products of quantised matrices, and of what quantises them at run time."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from pysimd.annotations import Array
from pysimd.network.convert import layers
from pysimd.network.convert.conversion import Conversion, Value, converts
from pysimd.network.convert.quantized import (
    Bytes,
    Result,
    as_integer,
    bytes_at,
    dynamic,
    exact,
    integers,
    layer,
    product,
    requantized,
    requantized_product,
    result_at,
    scale_at,
    scaled,
)
from pysimd.network.source import SourceNode
from pysimd.network.unsupported import Unsupported

_WEIGHTS_OF_ONE_ROW = 1 << 16  # from which on their bytes are read faster than floats, on every instruction set


@converts("DynamicQuantizeLinear", any_type=True)
def _dynamic_quantize(c: Conversion, node: SourceNode) -> None:
    c.give(*dynamic(c, _floats(c)))


def _floats(c: Conversion) -> str:
    if c.dtype(0) != "float32":
        raise Unsupported(f"its input is {c.dtype(0)}, supported is float32")
    return c.tensor(0)


# ---- sums, and floats


@converts("MatMulInteger", any_type=True)
def _matmul_integer(c: Conversion, node: SourceNode) -> None:
    c.give(product(c, bytes_at(c, 0, 2, "a"), bytes_at(c, 1, 3, "b")))


@converts("com.microsoft.MatMulIntegerToFloat", any_type=True)
def _matmul_to_float(c: Conversion, node: SourceNode) -> None:
    a, b = bytes_at(c, 0, 4, "a"), bytes_at(c, 1, 5, "b")
    if c.flag("may_be_floats") and prod(c.shape(0)[:-1]) == 1 and prod(c.shape(1)) < _WEIGHTS_OF_ONE_ROW:
        return c.give(_product_of_floats(c, a, b))
    return c.give(product_as_floats(c, a, b, (_row_scale(c, 2, a), scale_at(c, 3, "b")), 6))


def _product_of_floats(c: Conversion, a: Bytes, b: Bytes) -> Value:
    """The same with both dequantised first; what belongs to the right matrix is known."""
    of_a: Any = a.zero
    x = c.add("Dequantize", c.tensor(0), c.constant(c.known(2)), c.constant(of_a.astype(c.dtype(0))), axis=None)
    of_b: Any = b.zero
    weight = np.asarray((c.known(1).astype(np.int32) - of_b) * c.known(3), np.float32)
    y: Value = layers.product(c, x, weight)
    return c.binary("add", y, c.known(6)) if c.has(6) else y


@converts("com.microsoft.DynamicQuantizeMatMul", any_type=True)
def _dynamic_matmul(c: Conversion, node: SourceNode) -> None:
    value, scale, zero = dynamic(c, _floats(c))
    zero = as_integer(c, zero) if isinstance(zero, str) else zero.astype(np.int32)
    c.give(product_as_floats(c, Bytes(value, zero), bytes_at(c, 1, 3, "b"), (scale, scale_at(c, 2, "b")), 4))


def product_as_floats(c: Conversion, a: Bytes, b: Bytes, scales: tuple[Value, Value], bias: int) -> Value:
    """f(f(float(sum) * f(sa * sb)) + bias)."""
    _check_columns(c, scales[1], b)
    y: Value = scaled(c, product(c, a, b), exact(c, "multiply", *scales))
    return exact(c, "add", y, _of_columns(c, bias, b, "float32")) if c.has(bias) else y


def _of_columns(c: Conversion, i: int, b: Bytes, dtype: str) -> Value:
    """A bias: an input with a number for each column."""
    count, found = c.shape_of(b.value)[-1], c.dtype(i)
    if c.shape(i) != (count,) or found != dtype:
        raise Unsupported(f"the bias is {found} of shape {c.shape(i)}, expected {dtype} of shape {(count,)}")
    value: Any = c.value(i)
    return value  # type: ignore[no-any-return]


def _row_scale(c: Conversion, i: int, a: Bytes) -> Value:
    """The scale of the left matrix: of each row, or one."""
    scale, shape = scale_at(c, i, "a"), c.shape_of(a.value)
    if len(c.shape_of(scale)) != 1:
        return scale
    if c.shape_of(scale) != shape[-2:-1]:
        raise Unsupported(f"the scale of a has shape {c.shape_of(scale)}, expected one number, or one of each row")
    column = (*shape[-2:-1], 1)
    return c.reshape(scale, column) if isinstance(scale, str) else scale.reshape(column)


def _check_columns(c: Conversion, scale: Value, b: Bytes) -> None:
    shape, last = c.shape_of(scale), c.shape_of(b.value)[-1:]
    if len(shape) == 1 and shape != last:
        raise Unsupported(f"the scale of b has shape {shape}, expected one number, or {last}")


# ---- bytes


@converts("QLinearMatMul", any_type=True)
def _quantized_matmul(c: Conversion, node: SourceNode) -> None:
    a, b = bytes_at(c, 0, 2, "a"), bytes_at(c, 3, 5, "b")
    scales = _row_scale(c, 1, a), scale_at(c, 4, "b")
    _check_columns(c, scales[1], b)
    bias = _of_columns(c, 8, b, "int32") if c.has(8) else None  # of a group
    c.give(_requantized_product(c, a, b, scales, bias, result_at(c, 6, 7)))


def _requantized_product(
    c: Conversion, a: Bytes, b: Bytes, scales: tuple[Value, Value], bias: Value | None, y: Result
) -> Value:
    """saturated(nearest(f(float(sum + bias) * f(f(sa * sb) / sy))) + zero)."""
    first, second = c.shape_of(a.value), c.shape_of(b.value)
    fits = len(first) >= 2 and len(second) == 2 and first[-1] == second[0]
    known = bias is None or (not isinstance(bias, str) and bias.shape == second[-1:])
    found = layer(c, "QuantizedLinear", a, b, scales, bias, y) if fits and known else None
    if found is not None:
        return found
    made = None if bias is not None else requantized_product(c, a, b, scales, y)
    if made is not None:
        return made
    sums: Value = product(c, a, b)
    sums = sums if bias is None else integers(c, "add", sums, bias)
    return requantized(c, str(sums), y.factor(c, exact(c, "multiply", *scales)), y.zero, y.dtype)


@converts("com.microsoft.QGemm", any_type=True)
def _quantized_gemm(c: Conversion, node: SourceNode) -> None:
    a, b = bytes_at(c, 0, 2, "a"), bytes_at(c, 3, 5, "b")
    if len(c.shape(0)) != 2 or len(c.shape(3)) != 2:
        raise Unsupported(f"the matrices have shapes {c.shape(0)} and {c.shape(3)}")
    a, b = (_turned(c, x) if c.flag(name) else x for x, name in ((a, "transA"), (b, "transB")))
    scale: Value = exact(c, "multiply", float(c.attribute("alpha", 1.0)), scale_at(c, 1, "a"))
    scales = scale, scale_at(c, 4, "b")
    _check_columns(c, scales[1], b)
    bias = _term(c, 6, (c.shape_of(a.value)[0], c.shape_of(b.value)[1]))
    if c.has(7):
        return c.give(_requantized_product(c, a, b, scales, bias, result_at(c, 7, 8)))
    sums: Value = product(c, a, b)
    sums = sums if bias is None else integers(c, "add", sums, bias)
    return c.give(scaled(c, str(sums), exact(c, "multiply", *scales)))


def _turned(c: Conversion, x: Bytes) -> Bytes:
    value = x.value
    return Bytes(c.transpose(value, (1, 0)) if isinstance(value, str) else np.ascontiguousarray(value.T), x.zero)


def _term(c: Conversion, i: int, expected: tuple[Any, ...]) -> Value | None:
    """An input that is added to sums, in int32."""
    if not c.has(i):
        return None
    shape = c.shape(i)
    fits = len(shape) <= 2 and all(n in (1, m) for n, m in zip(shape[::-1], expected[::-1]))
    if c.dtype(i) != "int32" or not fits:
        raise Unsupported(f"c is {c.dtype(i)} of shape {shape}, expected int32 that is broadcast to {expected}")
    return c.value(i)


# ---- weights of a few bits


@converts("com.microsoft.MatMulNBits", any_type=True)
def _matmul_of_bits(c: Conversion, node: SourceNode) -> None:
    """The weights are floats, unless the level of accuracy is 4: products of bytes."""
    size, count, bits, block = (int(c.attribute(name)) for name in ("K", "N", "bits", "block_size"))
    if bits not in (2, 4, 8) or min(size, count, block) < 1:
        raise Unsupported(f"K, N, bits and block_size are {size}, {count}, {bits} and {block}, supported bits are 2, 4, 8")
    if int(c.attribute("accuracy_level", 0)) == 4 and _of_bytes(c, (count, size), bits, block):
        return
    weight = _decoded(c, (count, size), bits, block)
    y: Value = layers.product(c, _floats(c), np.ascontiguousarray(weight.T))
    if c.has(5):
        if c.shape(5) != (count,):
            raise Unsupported(f"the bias has shape {c.shape(5)}, expected {(count,)}")
        value: Any = c.value(5)
        y = c.binary("add", y, value)
    c.give(y)


def _of_bytes(c: Conversion, shape: tuple[int, int], bits: int, block: int) -> bool:
    """The product with an input that is quantised in blocks; False, and nothing is added, for weights without a function."""
    count, blocks = shape[0], -(-shape[1] // block)
    packed, scale = _packed(c, shape, bits, block)
    zero = c.known(3, "the zero point") if c.has(3) else np.zeros(0, np.uint8)
    size_of_zeros = -(-blocks * bits // 8)
    if bits not in (4, 8) or block < 16 or block & (block - 1) or zero.dtype != np.uint8:
        return False
    if c.has(3) and zero.size != count * size_of_zeros:
        return False
    given = [_floats(c), c.constant(packed.reshape(count, blocks, -1)), c.constant(scale.reshape(count, blocks))]
    given.append(c.constant(zero.reshape(count, size_of_zeros)) if c.has(3) else "")
    bias: Any = c.value(5) if c.has(5) else None
    known = bias is not None and not isinstance(bias, str)
    if bias is not None and c.shape(5) != (count,):
        raise Unsupported(f"the bias has shape {c.shape(5)}, expected {(count,)}")
    given.append(c.constant(np.asarray(bias, np.float32)) if known else "")
    y: Value = c.add("NBitsProduct", *given, bits=bits)
    c.give(y if known or bias is None else c.binary("add", y, bias))
    return True


def _packed(c: Conversion, shape: tuple[int, int], bits: int, block: int) -> tuple[Array, Array]:
    """The bytes of the weight, and its scale."""
    (count, size), blocks = shape, -(-shape[1] // block)
    packed, scale = c.known(1, "the weight"), c.known(2, "the scale")
    if packed.dtype != np.uint8 or packed.size * 8 != count * blocks * block * bits or scale.size != count * blocks:
        raise Unsupported(f"the weight has shape {packed.shape}, the scale {scale.shape}, for {count} x {blocks} blocks")
    if c.has(4) and (c.known(4, "g_idx") != np.arange(size) // block).any():
        raise Unsupported("g_idx is not the order of blocks")
    return packed, scale.astype(np.float32)


def _decoded(c: Conversion, shape: tuple[int, int], bits: int, block: int) -> Array:
    """(q - zero) * scale of each block, without the rest of the last one."""
    (count, size), blocks = shape, -(-shape[1] // block)
    packed, scale = _packed(c, shape, bits, block)
    numbers = _unpacked(packed.reshape(count, -1), bits).reshape(count, blocks, block).astype(np.float32)
    numbers -= _zeros_of_blocks(c, count, blocks, bits)
    numbers *= scale.reshape(count, blocks, 1)
    return numbers.reshape(count, blocks * block)[:, :size]


def _zeros_of_blocks(c: Conversion, count: int, blocks: int, bits: int) -> Array:
    if not c.has(3):
        return np.full((1, 1, 1), 1 << (bits - 1), np.float32)
    zeros = c.known(3, "the zero point")
    if zeros.dtype == np.uint8 and zeros.size == count * -(-blocks * bits // 8):
        zeros = _unpacked(zeros.reshape(count, -1), bits)[:, :blocks]
    elif zeros.dtype == np.uint8 or zeros.size != count * blocks:
        raise Unsupported(f"the zero point has shape {zeros.shape}, for {count} rows of {blocks} blocks")
    return zeros.astype(np.float32).reshape(count, blocks, 1)


def _unpacked(packed: Array, bits: int) -> Array:
    """The numbers of rows of bytes, from the low bits of each on."""
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    return (packed[..., None] >> shifts & ((1 << bits) - 1)).reshape(len(packed), -1)
