"""Scales, zeros and methods of calibration, by formulas written from their definitions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pysimd
from network.quantizing import F, Net, images
from network.test_quantize_model import error_of, weights_of
from pysimd.network.quantize import ranges, weights
from support import Array


@pytest.mark.parametrize(
    ("least", "most", "symmetric", "scale", "zero"),
    [
        (-1.0, 3.0, False, 4 / 255, 64),
        (0.5, 3.0, False, 3 / 255, 0),  # 0 is always within
        (-3.0, -0.5, False, 3 / 255, 255),
        (0.0, 0.0, False, 1, 0),
        (0.0, 1e-45, False, 1, 0),
        (-1.0, 3.0, True, 3 / 127, 128),
        (-3.0, 1.0, True, 3 / 127, 128),
        (0.0, 3.0, True, 3 / 255, 0),
    ],
)
def test_scale_and_zero(least: float, most: float, symmetric: bool, scale: float, zero: int) -> None:
    found = ranges.quantum(least, most, symmetric)
    assert found.scale == F(scale) and found.zero == zero
    assert found.rounded(np.zeros(1, F))[0] == 0


def histogram(x: Array) -> ranges.Histogram:
    found = ranges.Histogram(float(x.min()), float(x.max()))
    found.add(x)
    return found


def test_histogram() -> None:
    x = np.random.default_rng(1).normal(0, 1, 5000).astype(F)
    expected, _ = np.histogram(x.astype(float), 2048, (float(x.min()), float(x.max())))
    found = histogram(x)
    assert found.counts.sum() == 5000 and abs(found.counts - expected).sum() <= 4  # values at the ends of a part


@pytest.mark.parametrize("percent", [90.0, 99.0, 99.9, 100.0])
def test_percentile(percent: float) -> None:
    x = np.random.default_rng(1).normal(0.3, 1, 100000).astype(F)
    least, most = ranges.percentile(histogram(x), percent)
    part = float(x.max() - x.min()) / 2048
    cut = (100 - percent) / 2
    np.testing.assert_allclose([least, most], np.percentile(x, [cut, 100 - cut]), atol=4 * part)


@pytest.mark.parametrize("symmetric", [False, True])
def test_mean_squares(symmetric: bool) -> None:
    """Of all parts of the range, that with the least error for the values themselves."""
    x = (np.random.default_rng(1).standard_t(3, 50000)).astype(F)

    def error(part: float) -> float:
        of = ranges.quantum(float(x.min()) * part, float(x.max()) * part, symmetric)
        q = np.clip(np.rint(x / of.scale) + of.zero, 0, 255)
        return float((((q - of.zero) * of.scale - x) ** 2).sum())

    least, _ = ranges.mean_squares(histogram(x), symmetric)
    part = least / float(x.min())
    errors = [error(each) for each in np.linspace(0.5, 1, 101)]
    assert part < 1 and error(part) <= 1.02 * min(errors)


def naive_entropy(values: ranges.Histogram) -> tuple[int, int]:
    """The parts of the range with the least divergence, part by part, of those that do not lose too much."""
    counts, zero = values.counts.tolist(), round(-values.least / values.part)
    far = max(zero, 2048 - zero)

    def error(first: int, last: int) -> float:
        of = ranges.quantum(*values.between(first, last))
        found = ((n, values.least + (i + 0.5) * values.part) for i, n in enumerate(counts) if n)
        return sum(n * (float(of.rounded(np.array([x]))[0]) - x) ** 2 for n, x in found)

    best, most = (np.inf, (0, 2048)), 2 * error(0, 2048)
    for reach in range(far, 0, -8):
        first, last = max(zero - reach, 0), min(zero + reach, 2048)
        if last - first < 255 or error(first, last) > most:
            break
        inner = [float(n) for n in counts[first:last]]
        p = list(inner)
        p[0] += float(sum(counts[:first]))
        p[-1] += float(sum(counts[last:]))
        q = [0.0] * len(p)
        for level in range(255):
            of = [i for i in range(len(p)) if i * 255 // len(p) == level]
            full = [i for i in of if p[i] > 0]
            for i in full:
                q[i] = sum(inner[j] for j in of) / len(full)
        smooth = []
        for each in (p, q):
            zeros = sum(n <= 0 for n in each)
            less = 1e-4 * zeros / max(1, len(each) - zeros)
            bad = less >= 1 or min((n for n in each if n > 0), default=0) <= less
            smooth.append(None if bad else [1e-4 if n <= 0 else n - less for n in each])
        a, b = smooth
        if a is None or b is None:
            continue
        divergence = sum(x / sum(a) * np.log(x / sum(a) / (y / sum(b))) for x, y in zip(a, b))
        if divergence < best[0]:
            best = divergence, (first, last)
    return best[1]


def test_entropy() -> None:
    """It cuts a few values that are far from all others, if bytes then have no larger errors."""
    rng = np.random.default_rng(1)
    x = np.concatenate([rng.normal(0, 1, 200000), [-12.0, 11.0]]).astype(F)
    values = histogram(x)
    found = ranges.entropy(values)
    assert found == values.between(*naive_entropy(values))
    assert -6 < found[0] < -3 and 3 < found[1] < 6


def test_entropy_keeps_values_that_matter() -> None:
    """A narrow peak and a long tail: the divergence alone would cut the tail, which is most of the squares."""
    rng = np.random.default_rng(2)
    x = np.concatenate([rng.normal(0, 0.02, 50000), rng.exponential(1.0, 1000)]).astype(F)
    values = histogram(x)
    error = [ranges.squared_error(values, each) for each in (ranges.entropy(values), (values.least, values.most))]
    assert error[0] <= 2 * error[1]


@pytest.mark.parametrize("method", ["minmax", "mse", "percentile", "entropy"])
@pytest.mark.parametrize("symmetric", [False, True])
def test_methods_of_a_model(method: Any, symmetric: bool) -> None:
    """All but minmax cut an outlier, which then is limited."""
    net = Net(opset=13)
    net.conv(net.add("Relu", net.conv("x", 8, 3)), 4, 8, 1, y="y")
    data, x = net.bytes({"x": [1, 3, 40, 40]}, {"y": [1, 4, 40, 40]}), images(1, 4, 1, 3, 40, 40)
    x[0][0, 0, 0, 0] = 40
    made = pysimd.quantize_model(data, x, method=method, symmetric=symmetric, percentile=99.5)
    scale, zero = (weights_of(made.data)[f"x_{name}"] for name in ("scale", "zero_point"))
    top = float((255 - int(zero)) * scale)
    assert (top > 39.5) == (method == "minmax")
    assert zero == 128 or not symmetric
    assert error_of(made, data, images(2, 5, 1, 3, 40, 40)) < 1


def test_weights() -> None:
    """Channels of zeros have the scale 1; a bias that is too large raises a scale."""
    weight = np.random.default_rng(1).normal(0, 1, (3, 4, 3, 3)).astype(F)
    weight[1] = 0
    weight[2] *= F(1e-12)
    scale = weights.scales_of(weight, 0)
    assert scale[1] == 1 and abs(weights.quantized(weight, scale, 0)[[0, 2]]).max() == 127
    bias = np.array([1.0, -2.0, 5.0], F)
    raised = weights.raised(scale, F(0.01), bias)
    assert (raised[:2] == scale[:2]).all() and raised[2] > scale[2]
    sums = weights.bias_of_sums(bias, raised * F(0.01))
    np.testing.assert_allclose(sums * (raised * F(0.01)).astype(float), bias, rtol=1e-6, atol=0.01)
