"""Steps of decoders: one token, with keys and values of those before it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from bench.transformers.blocks import attend, gelu_tanh, join, linear, mlp, norm, rms_norm, sdpa, split
from bench.transformers.writer import Writer


def _with_past(w: Writer, name: str, new: str, heads: int, past: int, size: int) -> str:
    """Keys or values with those of the past, which are an output, too."""
    both = w.add("Concat", w.input(name, (1, heads, past, size)), new, axis=2)
    w.output(both)
    return both


def gpt2(past: int, width: int = 768, heads: int = 12, layers: int = 4, words: int = 8192) -> Any:
    w = Writer()
    table = w.weight(words, width)
    x = w.add("Add", w.add("Gather", table, w.input("input_ids", (1, 1), "int64")), w.weight(1, width))
    mask = w.input("mask", (1, 1, 1, past + 1))
    for i in range(layers):
        y = w.reshape(norm(w, x, width), -1, width)
        packed = w.reshape(w.add("Gemm", y, w.weight(width, 3 * width), w.vector(3 * width)), 1, 1, 3 * width)
        q, k, v = (split(w, part, heads, 64) for part in w.several("Split", 3, packed, w.ints(width, width, width), axis=2))
        k, v = _with_past(w, f"k{i}", k, heads, past, 64), _with_past(w, f"v{i}", v, heads, past, 64)
        y = join(w, attend(w, q, w.transpose(k, 0, 1, 3, 2), v, 64, mask), width)
        y = w.add("Gemm", w.reshape(y, -1, width), w.weight(width, width), w.vector(width))
        x = w.add("Add", w.reshape(y, 1, 1, width), x)
        y = w.add("Gemm", w.reshape(norm(w, x, width), -1, width), w.weight(width, 4 * width), w.vector(4 * width))
        y = w.add("Gemm", gelu_tanh(w, y), w.weight(4 * width, width), w.vector(width))
        x = w.add("Add", x, w.reshape(y, 1, 1, width))
    w.output(w.add("MatMul", norm(w, x, width), w.transpose(table, 1, 0)))
    return w.model()


def _rotated(w: Writer, x: str, cos: str, sin: str, size: int) -> str:
    turned = w.add("Concat", w.add("Neg", w.slice(x, 3, size // 2, size)), w.slice(x, 3, 0, size // 2), axis=-1)
    return w.add("Add", w.add("Mul", x, cos), w.add("Mul", turned, sin))


def _repeated(w: Writer, x: str, shared: int, times: int, rows: int, size: int) -> str:
    x = w.add("Expand", w.add("Unsqueeze", x, w.ints(2)), w.ints(1, shared, times, rows, size))
    return w.reshape(x, 1, shared * times, rows, size)


def llama(past: int, tokens: int, width: int = 512, heads: int = 8, shared: int = 2, layers: int = 4) -> Any:
    """Groups of heads share keys and values."""
    w = Writer()
    size, rows, inner = width // heads, past + tokens, 1408
    x = w.add("Gather", w.weight(3000, width), w.input("input_ids", (1, tokens), "int64"))
    cos, sin = (w.input(name, (1, 1, tokens, size)) for name in ("cos", "sin"))
    mask = w.constant(np.triu(np.full((1, 1, tokens, rows), -3.4028234663852886e38), past + 1))
    for i in range(layers):
        y = rms_norm(w, x, width)
        q = _rotated(w, split(w, linear(w, y, width, width, False), heads, size), cos, sin, size)
        k = _rotated(w, split(w, linear(w, y, width, shared * size, False), shared, size), cos, sin, size)
        v = split(w, linear(w, y, width, shared * size, False), shared, size)
        if past:
            k, v = _with_past(w, f"k{i}", k, shared, past, size), _with_past(w, f"v{i}", v, shared, past, size)
        k, v = (_repeated(w, each, shared, heads // shared, rows, size) for each in (k, v))
        y = join(w, sdpa(w, q, w.transpose(k, 0, 1, 3, 2), v, size, mask), width)
        x = w.add("Add", x, linear(w, y, width, width, False))
        y = rms_norm(w, x, width)
        gate = linear(w, y, width, inner, False)
        gate = w.add("Mul", gate, w.add("Sigmoid", gate))
        x = w.add("Add", x, linear(w, w.add("Mul", gate, linear(w, y, width, inner, False)), inner, width, False))
    w.output(linear(w, rms_norm(w, x, width), width, 3000, False))
    return w.model()


def whisper_decoder(past: int = 64, width: int = 384, heads: int = 6, layers: int = 4, words: int = 8192) -> Any:
    """Keys and values of the sound, of 1500 rows, are inputs."""
    w = Writer()
    table = w.weight(words, width)
    x = w.add("Add", w.add("Gather", table, w.input("input_ids", (1, 1), "int64")), w.weight(1, width))
    for i in range(layers):
        y = norm(w, x, width)
        q, k, v = (split(w, linear(w, y, width, width), heads, 64) for _ in range(3))
        k, v = _with_past(w, f"k{i}", k, heads, past, 64), _with_past(w, f"v{i}", v, heads, past, 64)
        y = join(w, attend(w, q, w.transpose(k, 0, 1, 3, 2), v, 64), width)
        x = w.add("Add", x, linear(w, y, width, width))
        q = split(w, linear(w, norm(w, x, width), width, width), heads, 64)
        k, v = (w.input(f"sound_{name}{i}", (1, heads, 1500, 64)) for name in "kv")
        y = join(w, attend(w, q, w.transpose(k, 0, 1, 3, 2), v, 64), width)
        x = w.add("Add", x, linear(w, y, width, width))
        x = w.add("Add", x, mlp(w, norm(w, x, width), width, 4 * width))
    w.output(w.add("MatMul", norm(w, x, width), w.transpose(table, 1, 0)))
    return w.model()


MODELS: Mapping[str, Callable[[], Any]] = {
    **{f"gpt2-past-{past}": partial(gpt2, past) for past in (16, 256, 1000)},
    "llama-128": partial(llama, 0, 128),
    "llama-past-256": partial(llama, 256, 1),
    "whisper-decoder": whisper_decoder,
}
