"""Quantised convolutions in sequence: the bytes of each by itself, and of the addition; refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pysimd
from support import Array

F = np.float32
STAGE = pysimd.ConvolutionStage


def fused(a: Any, b: Any, c: Any) -> Array:
    """A product of numbers of few digits and a sum, rounded once."""
    return np.asarray(np.float64(a) * np.float64(b) + np.float64(c)).astype(F)


def draw(rng: np.random.Generator, shapes: Any) -> tuple[list[Array], list[Array], list[Array]]:
    weights = [rng.integers(-128, 128, shape, np.int8) for shape in shapes]
    scales = [rng.uniform(0.001, 0.02, shape[-1]).astype(F) / F(np.sqrt(np.prod(shape[:3]))) for shape in shapes]
    return weights, scales, [rng.integers(-3000, 3000, shape[-1], np.int32) for shape in shapes]


def one_by_one(x: Array, stages: Any, numbers: Any, pairs: Any) -> Array:
    for i, (stage, weight, scale, bias) in enumerate(zip(stages, *numbers)):
        group = x.shape[-1] if stage.dst_c is None else 1
        options = {"kernel": stage.kernel, "stride": stage.stride, "padding": stage.padding, "group": group}
        with pysimd.QuantizedConvolution(x.shape, weight.shape[-1], **options) as layer:
            layer.set_params(weight, scale, pairs[i], pairs[i + 1], bias)
            x = layer(x)
    return x


@pytest.mark.parametrize("which", ["all", "first", "last"])
def test_stages(isa: str, rng: np.random.Generator, which: str) -> None:
    for c, wide, kernel, stride, o, size in ((3, 16, 3, 1, 8, 9), (16, 64, 5, 2, 24, 14), (40, 70, 7, 3, 5, 11)):
        stages = [STAGE(1, wide), STAGE(kernel, stride=stride, padding=kernel // 2), STAGE(1, o)]
        stages = stages[:2] if which == "first" else stages[1:] if which == "last" else stages
        x = rng.integers(0, 256, (2, size, size + 1, c), np.uint8)
        pairs = [(float(s), int(z)) for s, z in zip(rng.uniform(0.05, 0.3, 4).astype(F), rng.integers(0, 256, 4))]
        with pysimd.QuantizedMergedConvolution(x.shape, stages) as block:
            numbers = draw(rng, block.weight_shapes)
            block.set_params(*numbers[:2], pairs[: len(stages) + 1], numbers[2])
            y = block(x)
        np.testing.assert_array_equal(y, one_by_one(x, stages, numbers, pairs))


@pytest.mark.parametrize("source_first", [False, True])
def test_addition(isa: str, rng: np.random.Generator, source_first: bool) -> None:
    stages = [STAGE(3, 48, padding=1), STAGE(3, padding=1), STAGE(1, 20)]
    big = rng.integers(0, 256, (7, 9, 30), np.uint8)
    x = big[..., 4:24]
    pairs = [(float(s), int(z)) for s, z in zip(rng.uniform(0.05, 0.3, 5).astype(F), rng.integers(0, 256, 5))]
    with pysimd.QuantizedMergedConvolution(x.shape, stages, residual=True, source_first=source_first) as block:
        numbers = draw(rng, block.weight_shapes)
        block.set_params(*numbers[:2], pairs, numbers[2])
        y, sliced = block(x.copy()), block(x)
    result = one_by_one(x.copy(), stages, numbers, pairs)
    terms = [(x, pairs[0]), (result, pairs[3])]
    (a, (sa, za)), (b, (sb, zb)) = terms if source_first else terms[::-1]
    na, nb = F(sa) / F(pairs[4][0]), F(sb) / F(pairs[4][0])
    t = F(pairs[4][1]) - fused(na, za, nb * F(zb))
    np.testing.assert_array_equal(y, np.clip(np.rint(fused(a, na, fused(b, nb, t))), 0, 255))
    np.testing.assert_array_equal(sliced, y)


def test_refused() -> None:
    stages = [STAGE(1, 6), STAGE(3, padding=1), STAGE(1, 4)]
    with pytest.raises(ValueError, match="activation"):
        pysimd.QuantizedMergedConvolution((5, 5, 4), [STAGE(1, 6, activation="relu"), *stages[1:]])
    with pytest.raises(ValueError, match="residual is True for an output"):
        pysimd.QuantizedMergedConvolution((5, 5, 3), stages, residual=True)
    block = pysimd.QuantizedMergedConvolution((5, 5, 4), stages, residual=True)
    weights = [np.ones(shape, np.int8) for shape in block.weight_shapes]
    good: list[tuple[float, int]] = [(1.0, 0)] * 5
    for arguments, sentence in (
        ((weights, [1.0] * 3, good[:4]), "linear has 4 elements, expected 5"),
        ((weights, [1.0] * 2, good), "weight_scale has 2 elements"),
        ((weights, [1.0, 0.0, 1.0], good), "weightScale"),
        ((weights, [1.0] * 3, [*good[:4], (float("nan"), 0)]), "ioScale"),
        ((weights, [1.0] * 3, [*good[:4], (1.0, 256)]), "expected a byte"),
        (([*weights[:2], weights[2][..., :3].copy()], [1.0] * 3, good), "weight"),
    ):
        with pytest.raises(ValueError, match=sentence):
            block.set_params(*arguments)
    with pytest.raises(pysimd.StateError):
        block(np.zeros((5, 5, 4), np.uint8))
