"""Converters of the attention layers of com.microsoft, whose queries, keys and values may be parts of one product."""

from __future__ import annotations

from typing import Any

import numpy as np

from pysimd.annotations import Array, Shape
from pysimd.network.convert.attention import (
    Heads,
    attended,
    joined_heads,
    scale_of,
    split_heads,
    sum_of,
    window_bias,
)
from pysimd.network.convert.conversion import Conversion, Value, converts
from pysimd.network.convert.layers import product
from pysimd.network.convert.quantized import bytes_at, scale_at
from pysimd.network.convert.quantized_products import product_as_floats
from pysimd.network.open_arrays import later
from pysimd.network.source import SourceNode
from pysimd.network.unsupported import Unsupported


@converts("com.microsoft.MultiHeadAttention")
def _multi_head_attention(c: Conversion, node: SourceNode) -> None:
    """Inputs: query, key, value, [bias of all three], [mask of padding], [bias of scores], ..."""
    if c.has(4) or any(c.has(i) for i in range(6, 10)) or not (c.has(1) and c.has(2)) or len(c.shape(1)) != 3:
        raise Unsupported("masks of padding, packed inputs and states of the past are not supported")
    heads, tensors = int(c.attribute("num_heads")), [c.tensor(i) for i in (0, 1, 2)]
    if c.has(3):
        widths = [c.builder.shape(x)[2] for x in tensors]
        parts = np.split(c.known(3, "the bias").reshape(-1), np.cumsum(widths)[:-1])
        tensors = [c.binary("add", x, part) for x, part in zip(tensors, parts)]
    c.give(_joined(c, [split_heads(c, x, heads) for x in tensors], c.value(5), 0))


@converts("com.microsoft.Attention", any_type=True)
def _attention(c: Conversion, node: SourceNode) -> None:
    """Inputs: x, the matrix of all three, [their bias], [mask], [past], [bias of scores]."""
    if any(c.dtype(i) != "float32" for i in (0, 1)):
        raise Unsupported(f"its inputs are {c.dtype(0)} and {c.dtype(1)}, supported is float32")
    if c.has(6):
        raise Unsupported("past_sequence_length is not supported")
    x = product(c, c.tensor(0), c.known(1, "the weight"))
    if c.has(2):
        x = c.binary("add", x, c.known(2, "the bias"))
    _attend(c, x, 3, 4, c.value(5) if c.has(5) else None)


@converts("com.microsoft.QAttention", any_type=True)
def _quantized_attention(c: Conversion, node: SourceNode) -> None:
    """Inputs: x, the matrix, bias, their scales, [mask], the zeros of x and the matrix, [past].

    f(f(float(sum) * f(sx * sw)) + bias), then as it is of floats.
    """
    scales = scale_at(c, 3, "x"), scale_at(c, 4, "the weight")
    x = product_as_floats(c, bytes_at(c, 0, 6, "x"), bytes_at(c, 1, 7, "the weight"), scales, 2)
    _attend(c, c.named(x), 5, 8, None)


def _attend(c: Conversion, x: str, mask: int, past: int, bias: Value | None) -> None:
    """The result of a product (N, rows, 3 * width), and the keys and values; a mask and a past are inputs."""
    if c.attribute("qkv_hidden_sizes", None) or c.flag("do_rotary") or c.flag("past_present_share_buffer"):
        raise Unsupported("other sizes, rotations and a past in the memory of its result are not supported")
    width, heads = c.builder.shape(x)[2] // 3, int(c.attribute("num_heads"))
    q, k, v = (split_heads(c, c.slice(x, 2, i * width, width), heads) for i in range(3))
    before: Any = 0
    if c.has(past):
        n, _, _, size = c.builder.shape(k)
        before = c.shape(past)[3]
        stored = [c.reshape(c.slice(c.tensor(past), 0, i, 1), (n, heads, before, size)) for i in (0, 1)]
        k, v = (c.add("Concat", old, new, axis=2) for old, new in zip(stored, (k, v)))
    if c.has(mask):
        bias = sum_of(c, bias, _mask_bias(c, mask, c.builder.shape(q)[2], c.builder.shape(k)[2]))
    parts = [c.reshape(each, (1, *c.builder.shape(each))) for each in (k, v)]
    present = c.add("Concat", *parts, axis=0) if len(c.node.outputs) > 1 and c.node.outputs[1] else None
    c.give(_joined(c, [q, k, v], bias, before), present)


def _joined(c: Conversion, heads: list[str], bias: Value | None, before: Any) -> str:
    """before : the columns of the past."""
    rows, columns = c.builder.shape(heads[0])[2], c.builder.shape(heads[1])[2]
    if c.flag("unidirectional"):
        bias = sum_of(c, bias, window_bias(rows, columns, before, -1, 0))
    return joined_heads(c, attended(c, Heads(heads[0], heads[1], heads[2], bias), scale_of(c, heads[0]))[0])


def _mask_bias(c: Conversion, i: int, rows: Any, columns: Any) -> Value:
    """What a mask adds to scores: mask_filter_value to those that it excludes.

    It has, for each image, the number of columns that are seen (N), or, behind those of all, also the first ones (2 * N); or
    1 and 0 for columns (N, columns), or for rows and columns (N, rows, columns).
    """
    shape, n = c.shape(i), c.shape(0)[0]
    mask = c.cast(c.tensor(i), "int32")
    if len(shape) == 1 and shape[0] in (n, 2 * n):
        seen = _within(c, mask, n, columns)
    elif shape in ((n, columns), (n, rows, columns)):
        seen = c.elementwise("less", np.zeros((), np.int32), mask)
        seen = c.reshape(seen, (n, 1, *((1,) if len(shape) == 2 else ()), *shape[1:]))
    else:
        raise Unsupported(f"the mask has shape {shape}, expected {(n,)}, {(2 * n,)}, {(n, columns)} or {(n, rows, columns)}")
    return c.select(seen, np.float32(0), np.float32(c.attribute("mask_filter_value", -10000.0)))


def _within(c: Conversion, ends: str, n: Any, columns: Any) -> str:
    """Whether a column is before the end of its image, and not before its first one, which follow all the ends."""
    shape: Shape = (1, 1, 1, columns)
    places = c.constant(later(_numbered, shape, columns))
    seen = c.elementwise("less", places, c.reshape(c.slice(ends, 0, 0, n), (n, 1, 1, 1)))
    if c.builder.shape(ends)[0] == n:
        return seen
    before = c.elementwise("less", places, c.reshape(c.slice(ends, 0, n, n), (n, 1, 1, 1)))
    return c.select(before, np.zeros((), np.bool_), seen)


def _numbered(columns: int) -> Array:
    return np.arange(int(columns), dtype=np.int32).reshape(1, 1, 1, -1)
