"""Converters of attention, by products of matrices and a softmax, and of rotations of positions."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from pysimd.annotations import Array, Shape
from pysimd.network.convert.conversion import Conversion, Value, converts, float32_of
from pysimd.network.open_arrays import later
from pysimd.network.records import record
from pysimd.network.source import SourceNode
from pysimd.network.unsupported import Unsupported

_LEAST = -3e38  # of scores where a mask may exclude a whole row, whose softmax would be NaN

_MOST_SCORES = 1 << 28


@record
class Heads:
    """Queries, keys and values: (N, heads, rows, size)."""

    q: str
    k: str
    v: str
    bias: Value | None = None  # is added to scores; broadcast to (N, heads, rows, columns)
    softcap: float = 0.0


def split_heads(c: Conversion, x: str, heads: int) -> str:
    """(N, rows, heads * size) as (N, heads, rows, size)."""
    n, rows, width = c.builder.shape(x)
    if heads < 1 or width % heads:
        raise Unsupported(f"{width} numbers cannot be split into {heads} heads")
    return c.transpose(c.reshape(x, (n, rows, heads, width // heads)), (0, 2, 1, 3))


def joined_heads(c: Conversion, x: str) -> str:
    """The reverse of split_heads."""
    n, heads, rows, size = c.builder.shape(x)
    return c.reshape(c.transpose(x, (0, 2, 1, 3)), (n, rows, heads * size))


def scale_of(c: Conversion, q: str) -> Any:
    """The factor of scores: that of the node, or the usual one for the size of heads."""
    return float(c.attribute("scale", 0.0)) or later(inverse_root, (), c.builder.shape(q)[3])


def inverse_root(n: int) -> float:
    """One divided by the square root of a size."""
    return float(int(n) ** -0.5)


def attended(c: Conversion, given: Heads, scale: Any) -> tuple[str, dict[int, str]]:
    """The result (N, heads, rows, size); and scores: 0 as they are, 1 with softcap, 2 with the bias, 3 after the softmax.

    Where there are fewer heads of keys than of queries, several queries share one.
    """
    n, heads, rows, size = c.builder.shape(given.q)
    shared, columns = c.builder.shape(given.k)[1:3]
    if heads % max(shared, 1) or c.builder.shape(given.v)[1] != shared:
        raise Unsupported(f"{heads} heads of queries cannot share {shared} heads of keys")
    grouped: Shape = (n, shared, heads // shared * rows)
    q = c.reshape(c.binary("multiply", given.q, scale), (*grouped, size))
    scores = c.reshape(c.add("MatMul", q, c.transpose(given.k, (0, 1, 3, 2))), (n, heads, rows, columns))
    stages = {0: scores}
    if given.softcap:
        inner = c.unary(c.binary("multiply", scores, 1 / given.softcap), "tanh", 1.0)
        scores = c.binary("multiply", inner, given.softcap)
    stages[1] = scores
    keep: Value | None = None
    if given.bias is not None:
        scores, keep = _biased(c, scores, given.bias, stages)
    stages[2] = stages.get(2, scores)
    shares = c.add("Softmax", scores, axis=3, log=False)
    if keep is not None:
        shares = c.binary("multiply", shares, keep)
    stages[3] = shares
    width = c.builder.shape(given.v)[3]
    result = c.add("MatMul", c.reshape(shares, (*grouped, columns)), given.v)
    return c.reshape(result, (n, heads, rows, width)), stages


def _biased(c: Conversion, scores: str, bias: Value, stages: dict[int, str]) -> tuple[str, Value | None]:
    """Scores with a bias, and 0 for rows that it excludes as a whole, else 1; None if there are none."""
    stages[2] = total = c.binary("add", scores, bias)
    if not isinstance(bias, str):
        keep = later(is_seen, (*bias.shape[:-1], 1), bias)
        if keep.all():
            return total, None
        return c.binary("maximum", total, _LEAST), keep
    # of the largest of a row: 0 for -inf, 1 for all numbers that a mask has
    most = c.reduce(bias, "max", [len(c.builder.shape(bias)) - 1])
    return c.binary("maximum", total, _LEAST), c.unary(most, "hard_sigmoid", 1e-37, 1.0)


def is_seen(bias: Array) -> Array:
    """1 for each row that sees something, else 0."""
    return np.asarray(bias.max(-1, keepdims=True) > -np.inf, np.float32)


# ---- masks


def as_bias(c: Conversion, i: int, columns: int) -> Value | None:
    """The mask that is input i, as numbers to add; one that has fewer columns excludes the others."""
    mask = c.operand(i)
    if mask is None:
        return None
    if not isinstance(mask, str):
        mask = later(excluded, mask.shape, mask) if mask.dtype == np.bool_ else float32_of(mask)
        more = columns - mask.shape[-1]
        return later(_with_columns, (*mask.shape[:-1], columns), mask, more) if more > 0 else mask
    if c.dtype(i) == "bool":
        mask = c.select(mask, np.float32(0), np.float32(-np.inf))
    shape = c.builder.shape(mask)
    if shape[-1] < columns:
        pads = tuple((0, columns - n if j == len(shape) - 1 else 0) for j, n in enumerate(shape))
        mask = c.add("Pad", mask, pads=pads, mode="constant", value=-np.inf)
    return mask


def _with_columns(mask: Array, more: int) -> Array:
    """A bias that excludes more columns."""
    return np.pad(mask, [*[(0, 0)] * (mask.ndim - 1), (0, int(more))], constant_values=-np.inf)


def excluded(mask: Array) -> Array:
    """0 where a mask is true, else -inf."""
    return np.where(mask, np.float32(0), np.float32(-np.inf))


def window_bias(rows: int, columns: int, before: int, left: int, right: int) -> Array:
    """The bias that lets each row see `left` columns before its own one and `right` after it; -1 for all."""
    if rows * columns > _MOST_SCORES:
        raise Unsupported(f"a mask of {rows}x{columns} is too large")
    return later(partial(of_window, left=left, right=right), (rows, columns), rows, columns, before)  # type: ignore[no-any-return]


def of_window(rows: int, columns: int, before: int, left: int, right: int) -> Array:
    """The array of :func:`window_bias`."""
    distance = np.arange(columns) - (np.arange(rows)[:, None] + before)
    return excluded(((distance >= -left) | (left < 0)) & ((distance <= right) | (right < 0)))


def sum_of(c: Conversion, a: Value | None, b: Value | None) -> Value | None:
    if a is None or b is None:
        return b if a is None else a
    if not isinstance(a, str) and not isinstance(b, str):
        return (a + b).astype(np.float32)
    return c.binary("add", a, b)


# ---- operators


@converts("Attention", any_type=True)
def _attention(c: Conversion, node: SourceNode) -> None:
    if c.has(6):
        raise Unsupported("nonpad_kv_seqlen is not supported")
    if any(c.dtype(i) != "float32" for i in (0, 1, 2)):
        raise Unsupported(f"its inputs are {c.dtype(0)}, supported is float32")
    q, k, v = map(c.tensor, (0, 1, 2))
    flat = len(c.shape(0)) == 3
    if flat:
        heads, shared = int(c.attribute("q_num_heads")), int(c.attribute("kv_num_heads"))
        q, k, v = split_heads(c, q, heads), split_heads(c, k, shared), split_heads(c, v, shared)
    before = c.shape(4)[2] if c.has(4) else 0
    if c.has(4):
        k, v = c.add("Concat", c.tensor(4), k, axis=2), c.add("Concat", c.tensor(5), v, axis=2)
    rows, columns = c.builder.shape(q)[2], c.builder.shape(k)[2]
    bias = as_bias(c, 3, columns)
    left, right = int(c.attribute("left_window_size", -1)), int(c.attribute("right_window_size", -1))
    if c.flag("is_causal"):
        bias = sum_of(c, bias, window_bias(rows, columns, before, -1, 0))
    if left >= 0 or right >= 0:
        bias = sum_of(c, bias, window_bias(rows, columns, before, left, right))
    y, stages = attended(c, Heads(q, k, v, bias, float(c.attribute("softcap", 0.0))), scale_of(c, q))
    c.give(joined_heads(c, y) if flat else y, k, v, stages[int(c.attribute("qk_matmul_output_mode", 0))])


@converts("RotaryEmbedding", any_type=True)
def _rotary(c: Conversion, node: SourceNode) -> None:
    """Pairs of numbers are turned by angles of their positions, whose cosines and sines are inputs 1 and 2."""
    if c.dtype(0) != "float32":
        raise Unsupported(f"its input is {c.dtype(0)}, supported is float32")
    x, flat = c.tensor(0), len(c.shape(0)) == 3
    x = split_heads(c, x, int(c.attribute("num_heads"))) if flat else x
    size = c.builder.shape(x)[3]
    turned = int(c.attribute("rotary_embedding_dim", 0)) or size
    cos, sin = (_angles(c, i) for i in (1, 2))
    multiply, axis = partial(c.binary, "multiply"), 3
    if c.flag("interleaved"):
        pairs = c.reshape(c.slice(x, 3, 0, turned), (*c.builder.shape(x)[:3], turned // 2, 2))
        one, two = (c.reshape(c.slice(pairs, 4, i, 1), c.builder.shape(pairs)[:4]) for i in (0, 1))
    else:
        one, two = (c.slice(x, 3, i * turned // 2, turned // 2) for i in (0, 1))
    real = c.binary("subtract", multiply(one, cos), multiply(two, sin))
    imaginary = c.binary("add", multiply(one, sin), multiply(two, cos))
    shape = c.builder.shape(real)
    if c.flag("interleaved"):
        real, imaginary, axis = c.reshape(real, (*shape, 1)), c.reshape(imaginary, (*shape, 1)), 4
    y = c.reshape(c.add("Concat", real, imaginary, axis=axis), (*shape[:3], turned))
    if turned < size:
        y = c.add("Concat", y, c.slice(x, 3, turned, size - turned), axis=3)
    c.give(joined_heads(c, y) if flat else y)


def _angles(c: Conversion, i: int) -> str:
    """(N or 1, 1, rows, size / 2), by positions if there are some."""
    x = c.tensor(i)
    if c.has(3):
        x = c.add("Gather", x, c.indices(3), axis=0)
    n, rows, half = c.builder.shape(x)
    return c.reshape(x, (n, 1, rows, half))
