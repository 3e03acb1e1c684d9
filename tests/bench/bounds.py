"""What bounds a model: of products, of attention and of all other steps, their part of the time, and the part of the
processor's peak that their multiply-adds reach; and the packed weights, read once, as a part of what one core would read
from memory in the time of the products.

    PYTHONPATH=.:tests python -m bench.bounds MODEL...

Passes alternate with measurements of the limits, and the least time of each step counts, on one thread. Dimensions that a
file leaves open are those of :mod:`bench.onnx_files.shapes`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pysimd
from bench import limits
from bench.onnx_files.shapes import inputs_of
from bench.report import markdown_table
from bench.whole.steps import clocked
from pysimd.network.reports.report import multiply_adds

_KINDS = ("products", "attention", "other steps")
_SECONDS = 3.0


class Bounds(NamedTuple):
    """Of the steps of a kind: seconds of a pass, multiply-adds, bytes of packed weights."""

    seconds: float = 0.0
    sums: int = 0
    weights: int = 0

    def __add__(self, other: tuple[Any, ...]) -> Bounds:
        return Bounds(*map(sum, zip(self, other)))

    def cell(self, total: float, peak: float) -> str:
        """The part of the time, and in brackets that of the peak, in multiply-adds a second."""
        reached = f" ({self.sums / self.seconds / peak:.2f})" if self.sums else ""
        return f"{self.seconds / total:.2f}{reached}" if self.seconds else ""


def measured(path: Path, seconds: float = _SECONDS) -> tuple[dict[str, Bounds], float, float]:
    """The steps of a model by kind, the peak, and bytes that a core reads in a second."""
    runner = pysimd.load(path).prepare({given.name: tuple(given.shape) for given in inputs_of(path, 1, {})})
    calls = [step.calls for step in runner.steps]
    least, peak, speed, end = [float("inf")] * len(calls), 0.0, 0.0, time.monotonic() + seconds
    memory = limits.ReadLimit()
    while time.monotonic() < end or not peak:
        least = list(map(min, least, clocked(calls)))
        peak, speed = max(peak, limits.operations_per_second() / 2), max(speed, memory.bytes_per_second())
    found = dict.fromkeys(_KINDS, Bounds())
    for step, spent in zip(runner.steps, least):
        sums = multiply_adds(runner.placed, step.node)
        kind = "attention" if step.node.operator == "Attention" else "products" if sums else "other steps"
        found[kind] += Bounds(spent, sums, step.weight_bytes)
    return found, peak, speed


def rows(paths: list[Path], seconds: float = _SECONDS) -> Iterator[list[str]]:
    """The cells of each model."""
    for path in paths:
        found, peak, speed = measured(path, seconds)
        whole, products = sum(found.values(), Bounds()), found["products"]
        total, read = whole.seconds, products.weights / products.seconds / speed if products.seconds else 0.0
        cells = (found[kind].cell(total, peak) for kind in _KINDS)
        yield [path.stem, f"{total * 1e3:.2f}", f"{whole.sums / total / peak:.2f}", *cells, f"{read:.2f}"]


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", type=Path, metavar="MODEL", help="an ONNX file")
    models = parser.parse_args().models
    for missing in (path for path in models if not path.is_file()):
        parser.error(f"{missing} is not a file")
    with pysimd.num_threads(1):
        table = markdown_table(["model", "ms", "of the peak", *_KINDS, "weights"], rows(models))
    print("\n".join(table))


if __name__ == "__main__":
    main()
