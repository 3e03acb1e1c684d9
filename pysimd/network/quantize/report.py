"""How near a quantised model is to the float one: by tensor, and by output on samples that were held back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

import numpy as np

from pysimd.annotations import Array
from pysimd.errors import printable
from pysimd.network.files import whole
from pysimd.network.records import record
from pysimd.network.reports.pages import bars, page, table

_MOST = 200.0  # decibels: of tensors without a difference
_ROWS = 20


class Difference:
    """Sums over samples, of an array and of its difference from another one.

    largest : the largest difference. most : the largest value.
    """

    def __init__(self) -> None:
        self._signal, self._noise = 0.0, 0.0
        self.largest, self.most = 0.0, 0.0

    def add(self, x: Array, other: Array) -> None:
        """Adds the values of a float tensor, and those of the quantised one."""
        if x.shape != other.shape or not x.size:
            return
        wide = x.astype(np.float64)
        apart = other.astype(np.float64) - wide
        self._signal += float((wide**2).sum())
        self._noise += float((apart**2).sum())
        self.largest = max(self.largest, float(np.abs(apart).max()))
        self.most = max(self.most, float(np.abs(wide).max()))

    @property
    def sqnr(self) -> float:
        """The ratio of the signal to the noise of quantisation, 20 log10(|x| / |x - x'|), in decibels; 200 without noise."""
        if self._noise == 0:
            return _MOST
        return float(10 * np.log10(self._signal / self._noise)) if self._signal else -_MOST


@record(frozen=True, eq=False)
class Row:
    """A tensor: its name, the node that computes it, its ratio in decibels, its largest value and difference."""

    tensor: str
    node: str
    sqnr: float
    most: float
    largest: float


class QuantizeReport:
    """The quality of a quantised model; ``print(report)`` shows it, ``write(path)`` makes a page of it.

    tensors : the tensors that are quantised, the worst first. outputs : those of the model.
    samples : the number of samples on which it was measured. held_back : whether calibration did not use them.
    """

    def __init__(self, tensors: Iterable[Row], outputs: Iterable[Row], samples: int, held_back: bool) -> None:
        self.tensors, self.outputs = tuple(sorted(tensors, key=lambda row: row.sqnr)), tuple(outputs)
        self.samples, self.held_back = samples, held_back

    def summary(self) -> str:
        """What was measured."""
        kept = "held back from calibration" if self.held_back else "also used for calibration, as there are few"
        return f"float against 8 bits on {self.samples} samples, {kept}"

    def __str__(self) -> str:
        lines = [self.summary(), "", _head("output"), *map(_line, self.outputs), "", _head("tensor")]
        lines += map(_line, self.tensors[:_ROWS])
        if len(self.tensors) > _ROWS:
            lines.append(f"  and {len(self.tensors) - _ROWS} tensors with a higher SQNR")
        return "\n".join(lines)

    def write(self, path: Any, file: str = "") -> None:
        """Writes the report as a page with a picture, complete in itself. file : the name of the model, for the title."""
        with whole(path) as written:
            written.write(self._page(file).encode())

    def _page(self, file: str) -> str:
        """How near each output and each tensor is to the float one."""
        heights = [(max(row.sqnr, 0.0), f"{row.tensor}: {row.sqnr:.1f} dB") for row in self.tensors]
        parts = [
            f"<p>{escape(self.summary())}</p><h2>Outputs</h2>",
            _ratios(self.outputs),
            "<h2>Tensors, the worst first</h2>",
            "<p>The ratio of signal to noise, 20 log10(|x| / |x - x'|); each 6 dB are half of the error.</p>",
            bars(heights) if heights else "",
            _ratios(self.tensors),
        ]
        return page(file, "".join(parts))


def rows(found: Mapping[str, Difference], nodes: Mapping[str, str]) -> list[Row]:
    """The rows of tensors; nodes : the names of those that compute them."""
    return [Row(name, nodes.get(name, ""), each.sqnr, each.most, each.largest) for name, each in found.items()]


def _ratios(of: Iterable[Row]) -> str:
    """A table of HTML."""
    titles = ("SQNR dB", "max |x|", "max error", "tensor", "node of the file")
    rows = (
        [*((number, True) for number in _numbers(row)), (escape(row.tensor), False), (escape(row.node), False)] for row in of
    )
    return table(titles, rows)


def _numbers(row: Row) -> tuple[str, ...]:
    return f"{row.sqnr:.1f}", f"{row.most:.4g}", f"{row.largest:.4g}"


def _head(what: str) -> str:
    return f"{'SQNR dB':>8}  {'max |x|':>10}  {'max error':>10}  {what}"


def _line(row: Row) -> str:
    where = f" ({printable(row.node)})" if row.node and row.node != row.tensor else ""
    sqnr, most, largest = _numbers(row)
    return f"{sqnr:>8}  {most:>10}  {largest:>10}  {printable(row.tensor)}{where}"


def compared(
    floats: Iterable[Mapping[str, Array]], others: Iterable[Mapping[str, Array]], names: Mapping[str, str]
) -> dict[str, Difference]:
    """Tensors of two models on the same samples. names : those of the float model, with those of the other one."""
    found = {name: Difference() for name in names}
    for one, other in zip(floats, others):
        for name, of_other in names.items():
            found[name].add(one[name], other[of_other])
    return found
