"""Parts of transformers as the exporters of PyTorch write them."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

from bench.transformers.writer import Writer

Scores = Callable[[Writer, str], str]  # what is added to scores


def linear(w: Writer, x: str, rows: int, columns: int, bias: bool = True) -> str:
    y = w.add("MatMul", x, w.weight(rows, columns))
    return w.add("Add", w.vector(columns), y) if bias else y


def norm(w: Writer, x: str, width: int) -> str:
    return w.add("LayerNormalization", x, w.vector(width, 1), w.vector(width), axis=-1, epsilon=1e-5)


def rms_norm(w: Writer, x: str, width: int) -> str:
    square = w.add("ReduceMean", w.number("Pow", x, 2), axes=[-1])
    root = w.add("Sqrt", w.number("Add", square, 1e-6))
    scaled = w.add("Mul", x, w.add("Div", w.constant(1), root))
    return w.add("Mul", w.vector(width, 1), scaled)


def gelu(w: Writer, x: str) -> str:
    erf = w.add("Erf", w.number("Div", x, sqrt(2)))
    return w.number("Mul", w.add("Mul", x, w.number("Add", erf, 1)), 0.5)


def gelu_tanh(w: Writer, x: str) -> str:
    cube = w.number("Mul", w.number("Pow", x, 3), 0.044715)
    tanh = w.add("Tanh", w.number("Mul", w.add("Add", x, cube), sqrt(2 / 3.141592653589793)))
    return w.add("Mul", w.number("Mul", x, 0.5), w.number("Add", tanh, 1))


def split(w: Writer, x: str, heads: int, size: int, keys: bool = False, batch: int = 1) -> str:
    """(N, rows, heads * size) as (N, heads, rows, size), or transposed for keys."""
    x = w.reshape(x, batch, -1, heads, size)
    return w.transpose(x, 0, 2, 3, 1) if keys else w.transpose(x, 0, 2, 1, 3)


def join(w: Writer, x: str, width: int, batch: int = 1) -> str:
    return w.reshape(w.transpose(x, 0, 2, 1, 3), batch, -1, width)


def attend(w: Writer, q: str, k: str, v: str, size: int, mask: str = "") -> str:
    """The eager form: the scores divided, a mask added; k is transposed."""
    scores = w.number("Div", w.add("MatMul", q, k), sqrt(size))
    if mask:
        scores = w.add("Add", scores, mask)
    return w.add("MatMul", w.add("Softmax", scores, axis=-1), v)


def sdpa(w: Writer, q: str, k: str, v: str, size: int, mask: str = "") -> str:
    """That of scaled_dot_product_attention: the root of the scale multiplies queries and keys; k is transposed."""
    root = size**-0.25
    scores = w.add("MatMul", w.number("Mul", q, root), w.number("Mul", k, root))
    if mask:
        scores = w.add("Add", scores, mask)
    return w.add("MatMul", w.add("Softmax", scores, axis=-1), v)


def self_attention(w: Writer, x: str, width: int, heads: int, mask: str = "", fused: bool = False, batch: int = 1) -> str:
    size = width // heads
    q = split(w, linear(w, x, width, width), heads, size, batch=batch)
    k = split(w, linear(w, x, width, width), heads, size, True, batch)
    v = split(w, linear(w, x, width, width), heads, size, batch=batch)
    return linear(w, join(w, (sdpa if fused else attend)(w, q, k, v, size, mask), width, batch), width, width)


def mlp(w: Writer, x: str, width: int, inner: int, activation: Callable[[Writer, str], str] = gelu) -> str:
    return linear(w, activation(w, linear(w, x, width, inner)), inner, width)
