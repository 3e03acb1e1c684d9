"""Models as detectors and decoders are exported: NonMaxSuppression inside, heads for regions, a greedy decoder in a Loop.

Against ONNX Runtime, with inputs that change from run to run: numbers of boxes and of tokens depend on values.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pysimd
from network.test_values import BOOL, FLOAT, INT64, expected, helper, model, node, value
from support import Array

onnx = pytest.importorskip("onnx", reason="ONNX files need the package onnx")


def assert_same(found: dict[str, Any], wanted: dict[str, Array]) -> None:
    for name, array in wanted.items():
        np.testing.assert_allclose(found[name], array, rtol=1e-3, atol=1e-4, strict=True)


def numbers(*shape: int, seed: int, scale: float = 0.3) -> Array:
    return (np.random.default_rng(seed).standard_normal(shape) * scale).astype(np.float32)


def whole(*values: int) -> Array:
    return np.array(values, np.int64)


def detector() -> Any:
    """A convolution for boxes and one for scores of each cell; the boxes that are left, with scores and classes."""
    cells = np.stack(np.meshgrid(np.arange(12), np.arange(12), indexing="ij"), -1).reshape(1, 144, 2).astype(np.float32) * 8
    weights = {
        "w": numbers(16, 3, 3, 3, seed=1), "b": numbers(16, seed=2), "wb": numbers(4, 16, 1, 1, seed=3),
        "ws": numbers(3, 16, 1, 1, seed=4, scale=1.5), "flat": whole(1, -1, 144), "cells": cells, "eight": np.float32(24),
        "most": whole(20), "overlap": np.float32(0.4), "least": np.float32(0.6), "zero": whole(0), "one": whole(1),
        "two": whole(2), "three": whole(3), "second": whole(1),
    }  # fmt: skip
    nodes = [
        node("Conv", "image", "w", "b", gives="f", pads=[1] * 4, strides=[8, 8]),
        node("Relu", "f", gives="r"),
        node("Conv", "r", "wb", gives="raw"), node("Reshape", "raw", "flat", gives="flat_raw"),
        node("Transpose", "flat_raw", gives="by_cell", perm=[0, 2, 1]), node("Sigmoid", "by_cell", gives="part"),
        node("Split", "part", gives="centre size", axis=2),
        node("Mul", "centre", "eight", gives="moved"), node("Add", "moved", "cells", gives="low"),
        node("Mul", "size", "eight", gives="extent"), node("Add", "low", "extent", gives="high"),
        node("Concat", "low", "high", gives="boxes", axis=2),
        node("Conv", "r", "ws", gives="logits"), node("Reshape", "logits", "flat", gives="flat_logits"),
        node("Sigmoid", "flat_logits", gives="scores"),
        node("NonMaxSuppression", "boxes", "scores", "most", "overlap", "least", gives="chosen"),
        node("Slice", "chosen", "two", "three", "second", gives="cell"), node("Squeeze", "cell", "one", gives="cell_of"),
        node("Squeeze", "boxes", "zero", gives="all_boxes"), node("Gather", "all_boxes", "cell_of", gives="found", axis=0),
        node("Slice", "chosen", "one", "two", "second", gives="class"),
        node("Transpose", "scores", gives="turned", perm=[0, 2, 1]), node("Squeeze", "turned", "zero", gives="all_scores"),
        node("Concat", "cell", "class", gives="pairs", axis=1), node("GatherND", "all_scores", "pairs", gives="score"),
    ]  # fmt: skip
    outputs = [value("found", FLOAT, ["n", 4]), value("score", FLOAT, ["n"]), value("class", INT64, ["n", 1])]
    return model(nodes, [value("image", FLOAT, [1, 3, 96, 96])], outputs=outputs, **weights)


def heads() -> Any:
    """Regions of a feature map that are pooled and classified; the largest of those whose score is above a limit."""
    weights = {
        "w": numbers(8, 3, 3, 3, seed=5), "wf": numbers(8 * 9, 6, seed=6, scale=0.6), "flat": whole(-1, 72),
        "zero": whole(0), "limit": np.float32(0.35), "most": whole(5), "one": whole(1),
    }  # fmt: skip
    nodes = [
        node("Conv", "image", "w", gives="f", pads=[1] * 4, strides=[4, 4]),
        node("Shape", "regions", gives="shape"), node("Slice", "shape", "zero", "one", gives="count"),
        node("ConstantOfShape", "count", gives="images", value=helper.make_tensor("v", INT64, [1], [0])),
        node("RoiAlign", "f", "regions", "images", gives="pooled", output_height=3, output_width=3, sampling_ratio=2,
             spatial_scale=0.25),
        node("Reshape", "pooled", "flat", gives="rows"), node("MatMul", "rows", "wf", gives="logits"),
        node("Softmax", "logits", gives="p", axis=1),
        node("ReduceMax", "p", gives="best", axes=[1], keepdims=0), node("Greater", "best", "limit", gives="good"),
        node("NonZero", "good", gives="places"), node("Squeeze", "places", "zero", gives="kept"),
        node("Gather", "regions", "kept", gives="kept_regions"), node("Gather", "best", "kept", gives="kept_scores"),
        node("Shape", "kept", gives="left"), node("Concat", "left", "most", gives="two", axis=0),
        node("ReduceMin", "two", gives="k", axes=[0]),
        node("TopK", "kept_scores", "k", gives="score order"), node("Gather", "kept_regions", "order", gives="box"),
    ]  # fmt: skip
    inputs = [value("image", FLOAT, [1, 3, 64, 64]), value("regions", FLOAT, ["r", 4])]
    outputs = [value("box", FLOAT, ["n", 4]), value("score", FLOAT, ["n"])]
    return model(nodes, inputs, outputs=outputs, **weights)


def decoder() -> Any:
    """A recurrent decoder that feeds the most probable token back until it is the last one, or 30 are made."""
    body = helper.make_graph(
        [
            node("Gather", "embedding", "token", gives="e"),
            node("MatMul", "state_in", "u", gives="hu"), node("Add", "e", "hu", gives="sum"),
            node("Tanh", "sum", gives="state"),
            node("MatMul", "state", "v", gives="logits"), node("ArgMax", "logits", gives="next", axis=1, keepdims=0),
            node("Equal", "next", "end", gives="same"), node("Squeeze", "same", "axis", gives="ended"),
            node("Not", "ended", gives="go_on"), node("Identity", "next", gives="made"),
        ],
        "body",
        [value("i", INT64, []), value("go", BOOL, []), value("token", INT64, [1]), value("state_in", FLOAT, [1, 24])],
        [value("go_on", BOOL, []), value("next", INT64, [1]), value("state", FLOAT, [1, 24]), value("made", INT64, [1])],
    )  # fmt: skip
    weights = {
        "embedding": numbers(12, 24, seed=7, scale=1.0), "u": numbers(24, 24, seed=8), "v": numbers(24, 12, seed=9),
        "end": whole(3), "axis": whole(0), "most": np.array(30, np.int64), "true": np.array(True), "begin": whole(1),
    }  # fmt: skip
    nodes = [node("Loop", "most", "true", "begin", "first", gives="last end_state tokens", body=body)]
    outputs = [value("tokens", INT64, ["n", 1]), value("end_state", FLOAT, [1, 24])]
    return model(nodes, [value("first", FLOAT, [1, 24])], outputs=outputs, **weights)


def feeds(name: str, seed: int) -> dict[str, Array]:
    if name == "decoder":
        return {"first": numbers(1, 24, seed=seed, scale=2.0)}
    if name == "detector":
        return {"image": numbers(1, 3, 96, 96, seed=seed, scale=1.0)}
    low = np.random.default_rng(seed).uniform(0, 40, (3 + 5 * seed, 2)).astype(np.float32)
    return {"image": numbers(1, 3, 64, 64, seed=seed, scale=1.0), "regions": np.concatenate([low, low + 16], 1)}


@pytest.mark.parametrize("name", ["detector", "heads", "decoder"])
def test_results(name: str) -> None:
    message = {"detector": detector, "heads": heads, "decoder": decoder}[name]()
    loaded, sizes = pysimd.load(message), set()
    for seed in range(6):
        given = feeds(name, seed)
        wanted = expected(message, given)
        assert_same(loaded(given), wanted)
        sizes.add(len(next(iter(wanted.values()))))
    assert len(sizes) > 1, "numbers that depend on values"
