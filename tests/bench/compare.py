"""Compares two files of figures: which rows became faster or slower, and which differences are noise.

For a layer, the compared quantity is each round's time divided by that of its limit in the same round, which cancels a
temporary slowdown of the machine; for a cold call and for a network it is the time. The rule: a row is `faster` or `slower`
if the two-sided Mann-Whitney test of the rounds gives p below 0.01, and both the medians and the fastest rounds' times
differ in that direction by more than the variation between these two runs; everything else is `noise`.

The test computes the probability that rounds which differ by chance alone are separated so clearly. It does not cover
differences between runs that are constant within a run: addresses of arrays, the clock, other processes. These are estimated
from all rows together, since most changes of a library leave most rows unchanged: five times half of the narrowest span that
contains half of their ratios, and at least 2%. The fastest rounds are those of the undisturbed machine.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

P_VALUE, LEAST_CHANGE = 0.01, 0.02
_FEW = 8  # fewer rows than this give no estimate
_RESAMPLES = 1000
_COLD = " cold"  # the end of the names of rows of cold calls


@dataclass(frozen=True)
class Change:
    """A row of both files. The ratio is the second file's over the first one's, with its 95% interval by bootstrap; `least`
    is that of the fastest rounds."""

    row: str
    before: float
    after: float
    ratio: float
    low: float
    high: float
    least: float
    p: float
    noise: float = LEAST_CHANGE  # variation of unchanged rows

    @property
    def cold(self) -> bool:
        """Whether it is a row of cold calls, which vary more."""
        return self.row.endswith(_COLD)

    @property
    def verdict(self) -> str:
        if self.p < P_VALUE:
            if max(self.ratio, self.least) < 1 / (1 + self.noise):
                return "faster"
            if min(self.ratio, self.least) > 1 + self.noise:
                return "slower"
        return "noise"


@dataclass(frozen=True)
class _Rounds:
    """The times of a row, and the values that are compared."""

    times: Sequence[float]
    compared: Sequence[float]


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    """The changes of the rows that are in both files."""
    first, second = _rows(before), _rows(after)
    found = [_change(row, first[row], second[row]) for row in first if row in second]
    noise = {cold: _noise([change.ratio for change in found if change.cold == cold]) for cold in (False, True)}
    return [replace(change, noise=noise[change.cold]) for change in found]


def _noise(ratios: Sequence[float]) -> float:
    """The variation of unchanged rows: five times half of the narrowest span that contains half of the ratios."""
    logs, half = sorted(map(math.log, ratios)), len(ratios) // 2
    if len(logs) < _FEW:
        return LEAST_CHANGE
    span = min(high - low for low, high in zip(logs, logs[half:]))
    return max(LEAST_CHANGE, math.expm1(2.5 * span))


def _rows(figures: Mapping[str, Any]) -> dict[str, _Rounds]:
    rows = {}
    for r in figures.get("results", ()):
        parts = [time / limit for time, limit in zip(r["samples"], r["limits"])]
        rows[f"{r['layer']:<38} {_where(r, r['layout'])}"] = _Rounds(r["samples"], parts)
        cold = r.get("cold_samples", ())
        rows[f"{r['layer']:<38} {_where(r, r['layout'])}{_COLD}"] = _Rounds(cold, cold)
    for n in figures.get("networks", ()):
        title = n["title"] + (f" by {n['batch']}" if n.get("batch", 1) > 1 else "")
        rows[f"{title:<38} {_where(n, 'whole')}"] = _Rounds(n["ours"]["rounds"], n["ours"]["rounds"])
    return {row: rounds for row, rounds in rows.items() if rounds.compared}


def _where(row: Mapping[str, Any], layout: str) -> str:
    return f"{layout:<6} {row['isa']:<10} {row['threads']}"


def _change(row: str, before: _Rounds, after: _Rounds) -> Change:
    random = np.random.default_rng(1)
    pair = (before.compared, after.compared)
    medians = [np.median(random.choice(values, (_RESAMPLES, len(values))), axis=1) for values in pair]
    low, high = np.quantile(medians[1] / medians[0], [0.025, 0.975])
    return Change(
        row,
        before=statistics.median(before.times),
        after=statistics.median(after.times),
        ratio=statistics.median(after.compared) / statistics.median(before.compared),
        low=float(low),
        high=float(high),
        least=min(after.times) / min(before.times),
        p=p_value(before.compared, after.compared),
    )


def p_value(first: Sequence[float], second: Sequence[float]) -> float:
    """p of the two-sided Mann-Whitney test: exact for a few distinct values, otherwise by the normal distribution."""
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
    """The number of orders of n and m values with U = 0, 1, 2 ..: the coefficients of the Gaussian binomial."""
    orders = [1] + [0] * (n * m)
    for i in range(1, n + 1):
        for u in range(n * m, m + i - 1, -1):  # times 1 - q^(m + i)
            orders[u] -= orders[u - m - i]
        for u in range(i, n * m + 1):  # divided by 1 - q^i
            orders[u] += orders[u - i]
    return orders


def text(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """The table of changes, those beyond noise first."""
    found = sorted(changes(before, after), key=lambda c: (c.verdict == "noise", c.ratio))
    if not found:
        return "The files have no row in common."
    lines = [
        *_machines(before, after),
        "",
        f"{'row':<63} {'us':>10} {'us':>10} {'ratio':>6}  {'95%':<13} {'least':>6} {'p':>7}  verdict",
    ]
    for c in found:
        interval = f"{c.low:.3f}-{c.high:.3f}"
        ratios = f"{c.ratio:6.3f}  {interval:<13} {c.least:6.3f} {c.p:7.4f}"
        lines.append(f"{c.row:<63} {c.before * 1e6:10.2f} {c.after * 1e6:10.2f} {ratios}  {c.verdict}")
    counts = Counter(c.verdict for c in found)
    mean = math.exp(statistics.fmean(math.log(c.ratio) for c in found))
    summary = ", ".join(f"{counts[verdict]} {verdict}" for verdict in ("faster", "slower", "noise"))
    noise = {change.cold: f"{change.noise:.1%} ({'cold' if change.cold else 'warm'})" for change in found}
    apart = ", ".join(noise[cold] for cold in sorted(noise))
    rule = (
        f"ratio: of layers, of the times over those of their limits. Not noise: Mann-Whitney p below {P_VALUE} over the\n"
        f"rounds, medians and fastest rounds (least) more than {apart} apart, as rows are between these runs."
    )
    return "\n".join([*lines, "", f"{len(found)} rows: {summary}; geometric mean of the ratios {mean:.3f}.", rule])


def _machines(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """A line for each file, and a warning if they come from different machines."""
    facts = [figures.get("machine", {}) for figures in (before, after)]
    lines = [", ".join(str(f.get(what, "?")) for what in ("line", "date", "commit")) for f in facts]
    lines = [f"first: {lines[0]}", f"second: {lines[1]}"]
    if facts[0].get("cpu") != facts[1].get("cpu"):
        lines.append("The processors differ: ratios depend on them as much as on the library.")
    return lines
