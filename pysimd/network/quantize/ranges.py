"""From the values of a tensor to the scale and the zero of its bytes: the formulas of calibration."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pysimd.annotations import Array

BINS = 2048
_LEVELS = 255  # of bytes, between which their range is divided
_MOST_ERROR = 2.0  # of a range of the entropy method, relative to that of all values
_TINY = float(np.finfo(np.float32).tiny)

Range = tuple[float, float]


class Quantum(NamedTuple):
    """The scale and the zero of bytes without a sign."""

    scale: np.float32
    zero: int

    def bytes_of(self, x: Array) -> Array:
        """saturated(nearest(x / scale) + zero), as QuantizeLinear computes it."""
        found: Array = np.clip(np.rint(x.astype(np.float32) / self.scale) + self.zero, 0, 255).astype(np.uint8)
        return found

    def rounded(self, x: Array) -> Array:
        """The floats that its bytes stand for."""
        return (self.bytes_of(x).astype(np.float32) - np.float32(self.zero)) * self.scale


def quantum(least: float, most: float, symmetric: bool = False) -> Quantum:
    """Of a range, which is made to contain 0.

    symmetric : the zero is 128, and both sides have the same range; it is 0 where no value is negative.
    """
    least, most = min(float(least), 0.0), max(float(most), 0.0)
    scale = most / 255 if least == 0 else max(-least, most) / 127 if symmetric else (most - least) / 255
    if scale < _TINY:
        return Quantum(np.float32(1), 0)
    if least == 0:
        return Quantum(np.float32(scale), 0)
    zero = 128 if symmetric else int(np.clip(np.rint(-least / scale), 0, 255))
    return Quantum(np.float32(scale), zero)


class Histogram:
    """How often a tensor has the values of each of 2048 equal parts of its range, which contains 0."""

    def __init__(self, least: float, most: float) -> None:
        self.least, self.most = min(least, 0.0), max(most, 0.0)
        self.part = max((self.most - self.least) / BINS, _TINY)
        self.counts = np.zeros(BINS, np.int64)

    def add(self, x: Array) -> None:
        """Counts the values of an array."""
        place = (x.reshape(-1).astype(np.float64) - self.least) / self.part
        self.counts += np.bincount(np.clip(place, 0, BINS - 1).astype(np.int64), minlength=BINS)

    @property
    def centers(self) -> Array:
        """The middle of each part."""
        return self.least + (np.arange(BINS) + 0.5) * self.part

    def between(self, first: int, last: int) -> Range:
        """The range of the parts from one to the one before another, made to contain 0."""
        ends = (self.least + i * self.part for i in (max(first, 0), min(last, BINS)))
        least, most = next(ends), next(ends)
        return max(min(least, 0.0), self.least), min(max(most, 0.0), self.most)


def percentile(values: Histogram, percent: float) -> Range:
    """The range of all values but the outermost, half of them on each side."""
    total = values.counts.cumsum()
    cut = (100 - percent) / 200 * total[-1]
    first = int(np.searchsorted(total, cut, "right"))
    last = int(np.searchsorted(total, total[-1] - cut, "left"))
    return values.between(min(first, BINS - 1), min(last, BINS - 1) + 1)


def squared_error(values: Histogram, range_: Range, symmetric: bool = False) -> float:
    """Of the bytes of a range."""
    x = values.centers
    return float((values.counts * (quantum(*range_, symmetric).rounded(x) - x) ** 2).sum())


def mean_squares(values: Histogram, symmetric: bool = False) -> Range:
    """The part of the range, from a half of it to all, whose bytes have the least squared error."""
    ranges = [(values.least * part, values.most * part) for part in np.linspace(1.0, 0.5, 101)]
    return min(ranges, key=lambda found: squared_error(values, found, symmetric))


def entropy(values: Histogram, symmetric: bool = False, step: int = 8) -> Range:
    """The range whose 255 levels lose the least information (Kullback and Leibler).

    For each limit of the size of values, those beyond it count for the outermost parts (p); the parts within it are merged
    to levels, whose counts are spread over those parts that are not empty (q). The limit with the least divergence of q from
    p is taken. There are at least as many parts as levels, so that what is lost by merging them is seen. Few values beyond a
    limit count for little, however large they are, while a network may depend on them: limits whose bytes have more than
    twice the squared error of those of all values are left out.
    """
    zero = int(np.rint(-values.least / values.part))
    far = max(zero, BINS - zero)
    best = np.inf, far
    most = _MOST_ERROR * squared_error(values, (values.least, values.most), symmetric)
    for reach in range(far, 0, -step):
        first, last = max(zero - reach, 0), min(zero + reach, BINS)
        if last - first < _LEVELS or squared_error(values, values.between(first, last), symmetric) > most:
            break
        inner = values.counts[first:last].astype(np.float64)
        p = inner.copy()
        p[0] += values.counts[:first].sum()
        p[-1] += values.counts[last:].sum()
        divergence = _divergence(p, _merged(inner, p > 0))
        if divergence < best[0]:
            best = divergence, reach
    return values.between(zero - best[1], zero + best[1])


def _merged(counts: Array, full: Array) -> Array:
    """The counts of levels, spread over the parts that are not empty."""
    level = np.minimum(np.arange(counts.size) * _LEVELS // counts.size, _LEVELS - 1)
    sums = np.bincount(level, counts, _LEVELS)
    parts = np.bincount(level, full, _LEVELS)
    return np.where(full, (sums / np.maximum(parts, 1))[level], 0.0)


def _divergence(p: Array, q: Array) -> float:
    """Of q from p, both smoothed: empty parts get a little of the others."""
    smooth = [_smoothed(each) for each in (p, q)]
    if smooth[0] is None or smooth[1] is None:
        return np.inf
    p, q = smooth[0] / smooth[0].sum(), smooth[1] / smooth[1].sum()
    return float((p * np.log(p / q)).sum())


def _smoothed(counts: Array, part: float = 1e-4) -> Array | None:
    empty = counts <= 0
    zeros = int(empty.sum())
    others = counts.size - zeros
    if not others:
        return None
    less = part * zeros / others
    if less >= 1 or counts[~empty].min() <= less:
        return None
    return np.where(empty, part, counts - less)


#: The methods that need how often values are: the range by a histogram, for a percentage and whether it is symmetric.
METHODS: dict[str, Callable[[Histogram, float, bool], Range]] = {
    "mse": lambda values, percent, symmetric: mean_squares(values, symmetric),
    "percentile": lambda values, percent, symmetric: percentile(values, percent),
    "entropy": lambda values, percent, symmetric: entropy(values, symmetric),
}
