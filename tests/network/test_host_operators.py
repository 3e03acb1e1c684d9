"""Operators between the segments of a course: those whose results have as many elements as values decide, sequences and
optional values. The node cases of ONNX through the whole, all types of elements, and what does not fit."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import numpy as np
import pytest

import pysimd
from network.test_values import BOOL, FLOAT, INT64, expected, model, node, value
from pysimd.network.convert import UnsupportedModel
from support import Array

onnx = pytest.importorskip("onnx", "1.23", reason="onnx, which has the cases, is not installed, or is older than they are")
helper = onnx.helper

from network.onnx_suite import Case, array_of, cases  # noqa: E402
from network.test_onnx import HALF, ROUNDED, node_cases, refusal, sources  # noqa: E402

TYPES = "float32 float64 uint8 int8 uint16 int16 uint32 int32 uint64 int64 bool"


def assert_case(case: Case) -> None:
    """What a model returns for the inputs of a case. Floats of 16 bits are float32."""
    names = [each.name for each in case.model.graph.input]
    found = pysimd.load(case.model)(dict(zip(names, map(as_float32, case.inputs))))
    close = 1e-3 if case.name in ROUNDED else 1e-4
    for each, result in zip(case.model.graph.output, case.outputs):
        assert_close(found[each.name], array_of(result), close)


def as_float32(given: Any) -> Any:
    half = isinstance(given, np.ndarray) and given.dtype.name in ("float16", "bfloat16")
    return given.astype(np.float32) if half else given


def assert_close(found: Any, other: Any, close: float) -> None:
    assert type(found) is type(other)
    if isinstance(other, list):
        assert len(found) == len(other)
        for each, array in zip(found, other):
            assert_close(each, array, close)
    elif other is not None:
        other, close = as_float32(other), HALF if other.dtype.name in ("float16", "bfloat16") else close
        np.testing.assert_allclose(found, other, close, close / 10, strict=True)


def test_node_cases_of_values() -> None:
    """Those that are no plan as they are: values of inputs decide what is computed, or they are refused."""
    done: Counter[str] = Counter()
    for case in node_cases():
        if refusal(*sources(case)[0]) is None:
            continue
        try:
            assert_case(case)
        except UnsupportedModel:
            continue
        except Exception as error:
            raise AssertionError(case.name) from error
        done[case.last_operator] += 1
    assert sum(done.values()) >= 340, done
    assert {"Compress", "If", "Loop", "NonMaxSuppression", "NonZero", "Range", "Scan", "Unique"} <= set(done)


def test_node_cases_of_sequences() -> None:
    """And of optional values."""
    some = cases("node", lists=True)
    assert len(some) >= 26
    for case in some:
        try:
            assert_case(case)
        except Exception as error:
            raise AssertionError(case.name) from error


# ---- types


def typed(name: str, array: Array) -> Any:
    return value(name, helper.np_dtype_to_tensor_dtype(array.dtype), [None] * array.ndim)


@pytest.mark.parametrize("dtype", TYPES.split())
def test_types_of_elements(dtype: str) -> None:
    """Of NonZero, Compress, Unique and the operators of sequences; each run has other values and other shapes."""
    nodes = [
        node("NonZero", "x", gives="places"),
        node("Compress", "x", "taken", gives="some", axis=1),
        node("Unique", "x", gives="values first inverse counts", axis=0, sorted=0),
        node("Unique", "some", gives="sorted"),
        node("SplitToSequence", "x", "size", gives="parts", axis=1),
        node("SequenceInsert", "parts", "some", "two", gives="more"),
        node("SequenceErase", "more", gives="less"),
        node("SequenceLength", "less", gives="count"),
        node("SequenceAt", "less", "last", gives="one"),
        node("ConcatFromSequence", "less", gives="joined", axis=-1),
        node("SequenceConstruct", "x", "x", gives="pair"),
        node("ConcatFromSequence", "pair", gives="stacked", axis=-1, new_axis=1),
    ]
    names = ["places", "some", "values", "first", "inverse", "counts", "sorted", "count", "one", "joined", "stacked"]
    weights = {"size": np.int64(2), "two": np.int64(-2), "last": np.int64(-1)}
    outputs = [onnx.ValueInfoProto(name=name) for name in names]
    x = np.zeros((1, 1), dtype)
    runner = pysimd.load(model(nodes, [typed("x", x), value("taken", BOOL, [None])], outputs, **weights)).prepare()
    for seed in range(3):
        rng = np.random.default_rng(seed)
        x = rng.integers(0, 3, (3 + seed, 6 + seed)).astype(dtype)
        taken = rng.integers(0, 2, 5 + seed).astype(bool)
        found, some = runner({"x": x, "taken": taken}), np.compress(taken, x, 1)
        parts = [x[:, at : at + 2] for at in range(0, 6 + seed, 2)]
        parts = [*parts[:-2], some, *parts[-2:]][:-1]
        values, first, inverse, counts = np.unique(x, True, True, True, axis=0)
        order = np.argsort(first)
        wanted = {
            "places": np.stack(np.nonzero(x)), "some": some, "sorted": np.unique(some), "values": values[order],
            "first": first[order], "inverse": np.argsort(order)[inverse.reshape(-1)], "counts": counts[order],
            "count": np.array(len(parts)), "one": parts[-1], "joined": np.concatenate(parts, -1),
            "stacked": np.stack([x, x], -1),
        }  # fmt: skip
        for name in names:
            np.testing.assert_array_equal(found[name], wanted[name], err_msg=name, strict=True)


def test_sequences_that_are_returned_are_the_callers() -> None:
    """A part shares no memory with the input, as no other output does."""
    parts = helper.make_tensor_sequence_value_info("y", FLOAT, None)
    x = np.arange(6, dtype=np.float32)
    found = pysimd.load(model([node("SplitToSequence", "x")], [value("x", FLOAT, [6])], [parts]))({"x": x})["y"]
    assert len(found) == 6 and not any(np.shares_memory(each, x) for each in found)


# ---- beside ONNX Runtime


def test_a_detector_chooses_boxes_and_pools_them() -> None:
    """Boxes as they are chosen become regions; each run has others, or none."""
    nodes = [
        node("NonMaxSuppression", "boxes", "scores", "most", "iou", "least", gives="chosen"),
        node("Gather", "chosen", "two", gives="places", axis=1),
        node("Squeeze", "boxes", "zero", gives="rows"),
        node("Gather", "rows", "places", gives="regions"),
        node("ConstantOfShape", "shape", gives="images", value=onnx.numpy_helper.from_array(np.zeros(1, np.int64))),
        node("Shape", "places", gives="shape"),
        node("RoiAlign", "image", "regions", "images", gives="pooled", output_height=3, output_width=2, sampling_ratio=2),
        node("Relu", "pooled", gives="y"),
    ]
    nodes[4], nodes[5] = nodes[5], nodes[4]
    weights = {"most": 5, "iou": np.float32(0.4), "least": np.float32(0.3), "two": 2, "zero": [0]}
    inputs = [value("image", FLOAT, [1, 4, 10, 12]), value("boxes", FLOAT, [1, 30, 4]), value("scores", FLOAT, [1, 2, 30])]
    outputs = [value("y", FLOAT), value("chosen", INT64)]
    message = model(nodes, inputs, outputs, **weights)
    runner = pysimd.load(message).prepare()
    for seed in range(4):
        rng = np.random.default_rng(seed)
        corners = rng.uniform(0, 6, (1, 30, 2))
        given = {
            "image": rng.uniform(-1, 1, (1, 4, 10, 12)).astype(np.float32),
            "boxes": np.concatenate([corners, corners + rng.uniform(1, 5, (1, 30, 2))], 2).astype(np.float32),
            "scores": rng.uniform(-1, 1 if seed else 0.2, (1, 2, 30)).astype(np.float32),
        }
        found = runner(given)
        for name, array in expected(message, given).items():
            np.testing.assert_allclose(found[name], array, 1e-5, 1e-6, strict=True)


# ---- what does not fit


def position(given: Any) -> dict[str, Any]:
    return {"x": np.zeros((4, 2), np.float32), "n": np.array(given, np.int64)}


SPLIT = node("SplitToSequence", "x", gives="parts")
REFUSED = {
    "position 4 is not within the sequence of 4 elements": [SPLIT, node("SequenceAt", "parts", "n")],
    "position -6 is not within": [SPLIT, node("Neg", "n", gives="m"), node("Add", "m", "two", gives="k"),
                                  node("SequenceInsert", "parts", "x", "m", gives="a"), node("SequenceErase", "a", "k")],
    "4 elements cannot be split into 0": [node("Sub", "n", "n", gives="m"), node("SplitToSequence", "x", "m", gives="y")],
    "the types float32 and int64": [SPLIT, node("SequenceInsert", "parts", "n", gives="y")],
    "a sequence without elements": [node("SequenceEmpty", gives="a"), node("ConcatFromSequence", "a", axis=0)],
    "elements of the shapes (4, 2), (2, 4)": [node("Transpose", "x", gives="t"),
                                              node("SequenceConstruct", "x", "t", gives="a"),
                                              node("ConcatFromSequence", "a", axis=0)],
    "the optional value is empty": [helper.make_node("Optional", [], ["o"]), node("OptionalGetElement", "o")],
    "input 0 is a tensor, expected a sequence": [node("Relu", "x", gives="r"), node("SequenceLength", "r")],
}  # fmt: skip


@pytest.mark.parametrize("reason", REFUSED)
def test_what_does_not_fit_is_told(reason: str) -> None:
    nodes = REFUSED[reason]
    nodes[-1].output[:] = ["y"]
    message = model(nodes, [value("x", FLOAT, [4, 2]), value("n", INT64, [])], [onnx.ValueInfoProto(name="y")], two=-2)
    with pytest.raises(ValueError, match=re.escape(reason)):
        pysimd.load(message)(position(4))


@pytest.mark.parametrize("ratio", [0, 2])
@pytest.mark.parametrize("coordinates", ["half_pixel", "output_half_pixel"])
def test_regions_of_both_types_of_floats(ratio: int, coordinates: str) -> None:
    """By the library and by NumPy: regions within the image, across its edges, outside, empty and reversed; an infinite
    element stays in its bins."""
    attributes: dict[str, Any] = {"output_height": 3, "output_width": 2, "sampling_ratio": ratio, "spatial_scale": 0.5}
    attributes["coordinate_transformation_mode"] = coordinates
    nodes = [helper.make_node("RoiAlign", ["x", "rois", "batch"], ["y"], **attributes)]
    run, wide = (
        pysimd.load(
            model(nodes, [value("x", of, ["n", 2, 9, 7]), value("rois", of, ["m", 4]), value("batch", INT64, ["m"])])
        )
        for of in (FLOAT, onnx.TensorProto.DOUBLE)
    )
    rng = np.random.default_rng(7)
    x = rng.standard_normal((2, 2, 9, 7)).astype(np.float32)
    rois = rng.uniform(-4, 14, (40, 4)).astype(np.float32)
    rois[20:, 2:] = rois[20:, :2] + rng.uniform(0, 20, (20, 2))
    rois[:3] = (3, 3, 3, 3), (90, 90, 99, 99), (-50, 0, 80, 10)
    given: dict[str, Any] = {"x": x, "rois": rois, "batch": rng.integers(0, 2, 40)}
    finite = run(given)["y"]
    assert np.count_nonzero(finite.any((1, 2, 3))) > 15
    infinite = x.copy()
    infinite[:, :, 4, 3] = np.inf
    with_infinite = run({**given, "x": infinite})["y"]
    assert np.isinf(with_infinite).any() and np.isfinite(with_infinite[with_infinite != 0]).any()
    np.testing.assert_array_equal(with_infinite[np.isfinite(with_infinite)], finite[np.isfinite(with_infinite)])
    doubles = {name: each if name == "batch" else each.astype(np.float64) for name, each in given.items()}
    np.testing.assert_allclose(finite, wide(doubles)["y"], rtol=1e-4, atol=1e-5)
