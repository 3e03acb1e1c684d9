"""Models that see all of their input at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from math import sqrt
from typing import Any

import numpy as np

from bench.transformers.blocks import (
    attend,
    gelu,
    join,
    linear,
    mlp,
    norm,
    rms_norm,
    self_attention,
    split,
)
from bench.transformers.writer import Writer


def _post_norm(w: Writer, x: str, width: int, heads: int, mask: str = "", fused: bool = False) -> str:
    x = norm(w, w.add("Add", self_attention(w, x, width, heads, mask, fused), x), width)
    return norm(w, w.add("Add", mlp(w, x, width, 4 * width), x), width)


def _pre_norm(w: Writer, x: str, width: int, heads: int, fused: bool = False) -> str:
    x = w.add("Add", self_attention(w, norm(w, x, width), width, heads, fused=fused), x)
    return w.add("Add", mlp(w, norm(w, x, width), width, 4 * width), x)


def _mask(w: Writer, tokens: int) -> str:
    """(1, 1, 1, tokens) of numbers to add, from ones and zeros."""
    mask = w.add("Unsqueeze", w.input("attention_mask", (1, tokens), "int64"), w.ints(1, 2))
    return w.number("Mul", w.add("Sub", w.constant(1), w.add("Cast", mask, to=1)), -3.4028234663852886e38)


def bert(tokens: int, width: int, heads: int, layers: int, fused: bool = False) -> Any:
    w = Writer()
    ids = w.input("input_ids", (1, tokens), "int64")
    x = w.add("Add", w.add("Gather", w.weight(3000, width), ids), w.weight(tokens, width))
    x, mask = norm(w, x, width), _mask(w, tokens)
    for _ in range(layers):
        x = _post_norm(w, x, width, heads, mask, fused)
    w.output(x)
    return w.model()


def vit(width: int = 384, heads: int = 6, layers: int = 6) -> Any:
    w = Writer()
    x = w.add("Conv", w.input("x", (1, 3, 224, 224)), w.weight(width, 3, 16, 16), w.vector(width), strides=[16, 16])
    x = w.transpose(w.reshape(x, 1, width, 196), 0, 2, 1)
    x = w.add("Add", w.add("Concat", w.reshape(w.vector(width), 1, 1, width), x, axis=1), w.weight(197, width))
    for _ in range(layers):
        x = _pre_norm(w, x, width, heads, True)
    w.output(linear(w, w.add("Gather", norm(w, x, width), w.constant(0, "int64"), axis=1), width, 1000))
    return w.model()


def _roll(w: Writer, x: str, by: int, side: int) -> str:
    for axis in (1, 2):
        x = w.add("Concat", w.slice(x, axis, by % side, side), w.slice(x, axis, 0, by % side), axis=axis)
    return x


def _window_attention(w: Writer, x: str, width: int, heads: int, windows: int, shifted: bool) -> str:
    size = width // heads
    packed = w.reshape(linear(w, x, width, 3 * width), windows, 49, 3, heads, size)
    q, k, v = (w.add("Gather", w.transpose(packed, 2, 0, 3, 1, 4), w.constant(i, "int64"), axis=0) for i in range(3))
    scores = w.add("MatMul", w.number("Mul", q, size**-0.5), w.transpose(k, 0, 1, 3, 2))
    scores = w.add("Add", scores, w.add("Unsqueeze", w.weight(heads, 49, 49), w.ints(0)))
    if shifted:
        mask = w.constant(np.where(w.integers(2, windows, 49, 49), 0.0, -100.0))
        scores = w.add("Add", w.reshape(scores, 1, windows, heads, 49, 49), w.add("Unsqueeze", mask, w.ints(0, 2)))
        scores = w.reshape(scores, windows, heads, 49, 49)
    return linear(w, join(w, w.add("MatMul", w.add("Softmax", scores, axis=-1), v), width, windows), width, width)


def _swin_block(w: Writer, x: str, width: int, heads: int, side: int, shifted: bool) -> str:
    count = side // 7
    y = w.reshape(norm(w, x, width), 1, side, side, width)
    y = _roll(w, y, 3, side) if shifted else y
    y = w.transpose(w.reshape(y, 1, count, 7, count, 7, width), 0, 1, 3, 2, 4, 5)
    y = _window_attention(w, w.reshape(y, count * count, 49, width), width, heads, count * count, shifted)
    y = w.transpose(w.reshape(y, 1, count, count, 7, 7, width), 0, 1, 3, 2, 4, 5)
    y = w.reshape(y, 1, side, side, width)
    y = _roll(w, y, -3, side) if shifted else y
    x = w.add("Add", x, w.reshape(y, 1, side * side, width))
    return w.add("Add", x, mlp(w, norm(w, x, width), width, 4 * width))


def swin() -> Any:
    w = Writer()
    x = w.add("Conv", w.input("x", (1, 3, 224, 224)), w.weight(96, 3, 4, 4), w.vector(96), strides=[4, 4])
    x, width, side = norm(w, w.transpose(w.reshape(x, 1, 96, 3136), 0, 2, 1), 96), 96, 56
    for stage in range(4):
        for shifted in (False, side > 7):
            x = _swin_block(w, x, width, 3 << stage, side, shifted)
        if stage < 3:
            x = w.transpose(w.reshape(x, 1, side // 2, 2, side // 2, 2, width), 0, 1, 3, 4, 2, 5)
            x = norm(w, w.reshape(x, 1, side * side // 4, 4 * width), 4 * width)
            x, width, side = linear(w, x, 4 * width, 2 * width, False), 2 * width, side // 2
    w.output(linear(w, w.add("ReduceMean", norm(w, x, width), axes=[1], keepdims=0), width, 1000))
    return w.model()


def whisper_encoder() -> Any:
    w = Writer()
    x = gelu(w, w.add("Conv", w.input("x", (1, 80, 3000)), w.weight(384, 80, 3), w.vector(384), pads=[1, 1]))
    x = gelu(w, w.add("Conv", x, w.weight(384, 384, 3), w.vector(384), pads=[1, 1], strides=[2]))
    x = w.add("Add", w.transpose(x, 0, 2, 1), w.weight(1500, 384))
    for _ in range(4):
        x = _pre_norm(w, x, 384, 6, True)
    w.output(norm(w, x, 384))
    return w.model()


def t5(tokens: int = 128, width: int = 512, heads: int = 8, layers: int = 6) -> Any:
    w = Writer()
    x = w.add("Gather", w.weight(3000, width), w.input("input_ids", (1, tokens), "int64"))
    buckets = w.constant(np.abs(np.subtract.outer(np.arange(tokens), np.arange(tokens))) % 32, "int64")
    bias = w.transpose(w.add("Gather", w.weight(32, heads), buckets), 2, 0, 1)
    bias = w.add("Add", w.add("Unsqueeze", bias, w.ints(0)), _mask(w, tokens))
    for _ in range(layers):
        y = rms_norm(w, x, width)
        q, k, v = (split(w, linear(w, y, width, width, False), heads, 64, i == 1) for i in range(3))
        shares = w.add("Softmax", w.add("Add", w.add("MatMul", q, k), bias), axis=-1)
        x = w.add("Add", x, linear(w, join(w, w.add("MatMul", shares, v), width), width, width, False))
        inner = w.add("Relu", linear(w, rms_norm(w, x, width), width, 4 * width, False))
        x = w.add("Add", x, linear(w, inner, 4 * width, width, False))
    w.output(rms_norm(w, x, width))
    return w.model()


def wav2vec2(samples: int = 32000, layers: int = 3) -> Any:
    """The features of base, with fewer layers."""
    w = Writer()
    x, channels = w.add("Unsqueeze", w.input("x", (1, samples)), w.ints(1)), 1
    for i, (kernel, stride) in enumerate(((10, 5), (3, 2), (3, 2), (3, 2), (3, 2), (2, 2), (2, 2))):
        x = w.add("Conv", x, w.weight(512, channels, kernel), strides=[stride])
        if i == 0:
            y = w.add("InstanceNormalization", w.reshape(x, 0, 512, -1), w.constant(np.ones(512)), w.constant(np.zeros(512)))
            x = w.add("Add", w.add("Mul", y, w.reshape(w.vector(512, 1), 512, 1)), w.reshape(w.vector(512), 512, 1))
        x, channels = gelu(w, x), 512
    x = linear(w, norm(w, w.transpose(x, 0, 2, 1), 512), 512, 768)
    y = w.add("Conv", w.transpose(x, 0, 2, 1), w.weight(768, 48, 128), w.vector(768), pads=[64, 64], group=16)
    x = norm(w, w.add("Add", x, w.transpose(gelu(w, w.slice(y, 2, 0, -1)), 0, 2, 1)), 768)
    for _ in range(layers):
        x = _post_norm(w, x, 768, 12)
    w.output(x)
    return w.model()


def _disentangled(w: Writer, x: str, positions: str, width: int, heads: int, tokens: int) -> str:
    """DeBERTa: scores of contents, of contents with positions, and of positions with contents."""
    size, far = width // heads, np.subtract.outer(np.arange(tokens), np.arange(tokens))
    three = [w.reshape(split(w, linear(w, x, width, width), heads, size), heads, tokens, size) for _ in range(3)]
    q, k, v = three
    root = sqrt(3 * size)
    scores = w.number("Div", w.add("MatMul", q, w.transpose(k, 0, 2, 1)), root)
    for own, sign in ((q, 1), (k, -1)):
        other = w.reshape(split(w, linear(w, positions, width, width), heads, size), heads, 512, size)
        places = np.broadcast_to(np.clip(sign * far + 256, 0, 511), (heads, tokens, tokens))
        part = w.add("MatMul", own, w.transpose(other, 0, 2, 1))
        part = w.add("GatherElements", part, w.constant(places, "int64"), axis=-1)
        scores = w.add("Add", scores, w.number("Div", w.transpose(part, 0, 2, 1) if sign < 0 else part, root))
    scores = w.reshape(scores, 1, heads, tokens, tokens)
    scores = w.add("Where", w.input_mask, w.constant(-3.4028234663852886e38), scores)  # type: ignore[attr-defined]
    y = w.add("MatMul", w.reshape(w.add("Softmax", scores, axis=-1), heads, tokens, tokens), v)
    return linear(w, join(w, w.reshape(y, 1, heads, tokens, size), width), width, width)


def deberta(tokens: int = 128, width: int = 384, heads: int = 6, layers: int = 4) -> Any:
    w = Writer()
    x = norm(w, w.add("Gather", w.weight(3000, width), w.input("input_ids", (1, tokens), "int64")), width)
    mask = w.add("Cast", w.add("Unsqueeze", w.input("attention_mask", (1, tokens), "int64"), w.ints(1, 2)), to=9)
    w.input_mask = w.add("Not", mask)  # type: ignore[attr-defined]
    positions = norm(w, w.reshape(w.weight(512, width), 1, 512, width), width)
    for _ in range(layers):
        x = norm(w, w.add("Add", _disentangled(w, x, positions, width, heads, tokens), x), width)
        x = norm(w, w.add("Add", mlp(w, x, width, 4 * width), x), width)
    w.output(x)
    return w.model()


def _across(w: Writer, q: str, k: str, v: str, inner: int) -> str:
    """SAM: 8 heads, of a width that may be narrower than the tokens."""
    size = inner // 8
    parts = [split(w, linear(w, x, 256, inner), 8, size, i == 1) for i, x in enumerate((q, k, v))]
    return linear(w, join(w, attend(w, parts[0], parts[1], parts[2], size), inner), inner, 256)


def sam_decoder() -> Any:
    w = Writer()
    image, tokens = w.input("image", (1, 256, 64, 64)), w.input("tokens", (1, 7, 256))
    keys, places, points = w.transpose(w.reshape(image, 1, 256, 4096), 0, 2, 1), w.weight(4096, 256), tokens
    queries = tokens
    for _ in range(2):
        q = w.add("Add", queries, points)
        queries = norm(w, w.add("Add", queries, _across(w, q, q, queries, 256)), 256)
        q, k = w.add("Add", queries, points), w.add("Add", keys, places)
        queries = norm(w, w.add("Add", queries, _across(w, q, k, keys, 128)), 256)
        inner = w.add("Relu", linear(w, queries, 256, 2048))
        queries = norm(w, w.add("Add", queries, linear(w, inner, 2048, 256)), 256)
        q, k = w.add("Add", queries, points), w.add("Add", keys, places)
        keys = norm(w, w.add("Add", keys, _across(w, k, q, queries, 128)), 256)
    q, k = w.add("Add", queries, points), w.add("Add", keys, places)
    queries = norm(w, w.add("Add", queries, _across(w, q, k, keys, 128)), 256)
    x = w.reshape(w.transpose(keys, 0, 2, 1), 1, 256, 64, 64)
    x = gelu(w, w.add("ConvTranspose", x, w.weight(256, 64, 2, 2), w.vector(64), strides=[2, 2]))
    x = gelu(w, w.add("ConvTranspose", x, w.weight(64, 32, 2, 2), w.vector(32), strides=[2, 2]))
    masks = linear(w, w.slice(queries, 1, 1, 5), 256, 32)
    w.output(w.reshape(w.add("MatMul", masks, w.reshape(x, 1, 32, 256 * 256)), 1, 4, 256, 256))
    return w.model()


MODELS: Mapping[str, Callable[[], Any]] = {
    **{f"minilm-{tokens}": partial(bert, tokens, 384, 12, 6) for tokens in (16, 128, 384)},
    "distilbert-128": partial(bert, 128, 768, 12, 3, True),
    "vit-s": vit,
    "swin-t": swin,
    "whisper-encoder": whisper_encoder,
    "t5-small": t5,
    "wav2vec2": wav2vec2,
    "deberta-128": deberta,
    "sam-decoder": sam_decoder,
}
