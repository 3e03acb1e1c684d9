"""Two files of figures: what became faster, what slower, and what is noise.

The rule: a row is `faster` or `slower` where the two-sided Mann-Whitney test of its rounds gives p below 0.01 and the medians
differ by more than 2%; all else is `noise`. The test asks how rarely rounds that differ by chance alone would be sorted so
well; the 2% are for what lies between two runs and not between rounds: where arrays lie, the clock, the neighbours.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

P_VALUE, LEAST_CHANGE = 0.01, 0.02
_RESAMPLES = 1000


@dataclass(frozen=True)
class Change:
    """A row of both files. The ratio is the second file's time over the first one's, with its 95% interval by bootstrap."""

    row: str
    before: float
    after: float
    ratio: float
    low: float
    high: float
    p: float

    @property
    def verdict(self) -> str:
        if self.p >= P_VALUE or abs(self.ratio - 1) <= LEAST_CHANGE:
            return "noise"
        return "faster" if self.ratio < 1 else "slower"


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    """Of the rows that both files have."""
    first, second = _samples(before), _samples(after)
    return [_change(row, first[row], second[row]) for row in first if row in second]


def _samples(figures: Mapping[str, Any]) -> dict[str, list[float]]:
    rows = {f"{r['layer']:<36} {_where(r, r['layout'])}": r["samples"] for r in figures.get("results", ())}
    rows |= {f"{n['title']:<36} {_where(n, 'whole')}": n["ours"]["rounds"] for n in figures.get("networks", ())}
    return {row: samples for row, samples in rows.items() if samples}


def _where(row: Mapping[str, Any], layout: str) -> str:
    return f"{layout:<6} {row['isa']:<10} {row['threads']}"


def _change(row: str, before: Sequence[float], after: Sequence[float]) -> Change:
    first, second = statistics.median(before), statistics.median(after)
    random = np.random.default_rng(1)
    medians = [np.median(random.choice(samples, (_RESAMPLES, len(samples))), axis=1) for samples in (before, after)]
    low, high = np.quantile(medians[1] / medians[0], [0.025, 0.975])
    return Change(row, first, second, second / first, float(low), float(high), p_value(before, after))


def p_value(first: Sequence[float], second: Sequence[float]) -> float:
    """Of the two-sided Mann-Whitney test: exact for a few values without equal ones, else by the normal distribution."""
    n, m = len(first), len(second)
    a, b = np.asarray(first)[:, None], np.asarray(second)[None]
    u = float((a < b).sum() + (a == b).sum() / 2)
    u = min(u, n * m - u)
    values, ties = np.unique(np.concatenate([a.ravel(), b.ravel()]), return_counts=True)
    if len(values) == n + m and n * m <= 900:
        below = sum(_orders(n, m)[: int(u) + 1])
        return min(1.0, 2 * below / math.comb(n + m, n))
    size = n + m
    variance = n * m / 12 * (size + 1 - float((ties**3 - ties).sum()) / (size * (size - 1)))
    z = (n * m / 2 - u - 0.5) / math.sqrt(variance) if variance > 0 else 0.0
    return min(1.0, math.erfc(z / math.sqrt(2)))


def _orders(n: int, m: int) -> list[int]:
    """How many orders of n and m values have U = 0, 1, 2 ..: the coefficients of the Gaussian binomial."""
    ways = [1] + [0] * (n * m)
    for i in range(1, n + 1):
        for u in range(n * m, m + i - 1, -1):  # times 1 - q^(m + i)
            ways[u] -= ways[u - m - i]
        for u in range(i, n * m + 1):  # over 1 - q^i
            ways[u] += ways[u - i]
    return ways


def text(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """The table of changes, those beyond noise first."""
    found = sorted(changes(before, after), key=lambda c: (c.verdict == "noise", c.ratio))
    if not found:
        return "The files have no row in common."
    lines = [*_machines(before, after), "", f"{'row':<56} {'us':>10} {'us':>10} {'ratio':>6}  {'95%':<13} {'p':>7}  verdict"]
    for c in found:
        interval = f"{c.low:.3f}-{c.high:.3f}"
        lines.append(
            f"{c.row:<56} {c.before * 1e6:10.2f} {c.after * 1e6:10.2f} {c.ratio:6.3f}  {interval:<13} {c.p:7.4f}  {c.verdict}"
        )
    counts = Counter(c.verdict for c in found)
    mean = math.exp(statistics.fmean(math.log(c.ratio) for c in found))
    summary = ", ".join(f"{counts[verdict]} {verdict}" for verdict in ("faster", "slower", "noise"))
    rule = f"Not noise: Mann-Whitney p below {P_VALUE} over the rounds, and medians more than {LEAST_CHANGE:.0%} apart."
    return "\n".join([*lines, "", f"{len(found)} rows: {summary}; geometric mean of the ratios {mean:.3f}.", rule])


def _machines(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """A line for each file, and a warning where they come from different machines."""
    facts = [figures.get("machine", {}) for figures in (before, after)]
    lines = [", ".join(str(f.get(what, "?")) for what in ("line", "date", "commit")) for f in facts]
    lines = [f"first: {lines[0]}", f"second: {lines[1]}"]
    if facts[0].get("cpu") != facts[1].get("cpu"):
        lines.append("The processors differ: ratios tell as much about them as about the library.")
    return lines
