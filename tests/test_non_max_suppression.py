"""Non-maximum suppression against the reference; invalid arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pysimd
from support import reference


def boxes_of(rng: np.random.Generator, *shape: int, center: bool = False) -> Any:
    """Corners at multiples of 1/4, so that ratios of areas are compared with thresholds alike in float and double."""
    boxes = rng.integers(-16, 17, (*shape, 4)).astype(np.float32) / 4
    if center:
        boxes[..., 2:] = np.abs(boxes[..., 2:])
    return boxes


@pytest.mark.parametrize("center", [False, True])
def test_against_the_reference(rng: np.random.Generator, center: bool) -> None:
    for n, classes, count in [(1, 1, 1), (1, 1, 30), (2, 3, 50), (3, 1, 7)]:
        boxes = boxes_of(rng, n, count, center=center)
        scores = rng.integers(-8, 8, (n, classes, count)).astype(np.float32) * np.float32(0.125)
        scores[..., ::5] = np.nan
        for most in (0, 1, 5, count):
            for iou in (0.0, 0.25, 0.5, 1.0):
                for threshold in (None, 0.125):
                    found = pysimd.non_max_suppression(
                        boxes, scores, most, iou_threshold=iou, score_threshold=threshold, center=center
                    )
                    assert found.dtype == np.int64
                    expected = reference.non_max_suppression(boxes, scores, most, iou, threshold, center)
                    assert np.array_equal(found, expected)


def test_few_of_many(rng: np.random.Generator) -> None:
    """The best scores are visited first; where they are too few, the others follow."""
    boxes = boxes_of(rng, 1, 700)
    scores = rng.permutation(2100).reshape(1, 3, 700).astype(np.float32)
    scores[0, 2] = scores[0, 2] // 400
    scores[..., ::9] = np.nan
    for most in (8, 12, 20):
        for iou in (0.0, 0.5):
            found = pysimd.non_max_suppression(boxes, scores, most, iou_threshold=iou)
            assert np.array_equal(found, reference.non_max_suppression(boxes, scores, most, iou, None, False))


def test_all_boxes_without_a_number(rng: np.random.Generator) -> None:
    boxes, scores = boxes_of(rng, 1, 20), rng.random((1, 2, 20), np.float32)
    assert len(pysimd.non_max_suppression(boxes, scores, iou_threshold=1)) == 40
    assert pysimd.non_max_suppression(boxes[:, :0], scores[..., :0].copy()).shape == (0, 3)
    assert pysimd.non_max_suppression(boxes, scores, score_threshold=np.inf).shape == (0, 3)


def test_not_prepared(rng: np.random.Generator) -> None:
    with pytest.raises(TypeError, match="cannot be prepared"):
        pysimd.prepare(pysimd.non_max_suppression, boxes_of(rng, 1, 3), np.ones((1, 1, 3), np.float32))


BOXES, SCORES = np.zeros((2, 5, 4), np.float32), np.zeros((2, 3, 5), np.float32)


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ({"boxes": BOXES.astype(float)}, TypeError, "boxes has dtype float64"),
        ({"boxes": BOXES[0]}, ValueError, "boxes has shape"),
        ({"boxes": SCORES}, ValueError, "boxes has shape"),
        ({"scores": SCORES[0]}, ValueError, "scores has shape"),
        ({"scores": SCORES[:1].copy()}, ValueError, r"expected \(2, classes, 5\)"),
        ({"max_output": -1}, ValueError, "max_output is -1"),
        ({"iou_threshold": 1.5}, ValueError, "1.5, expected 0 .. 1"),
        ({"iou_threshold": np.nan}, ValueError, "nan, expected 0 .. 1"),
        ({"iou_threshold": "half"}, TypeError, "iou_threshold is 'half'"),
    ],
)
def test_refused(change: dict[str, Any], error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        pysimd.non_max_suppression(**{"boxes": BOXES, "scores": SCORES, **change})
