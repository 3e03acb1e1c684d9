"""Functions of 8 and 16 bits on every level, beside ONNX Runtime and OpenVINO in one process, as tables for a page.

    PYTHONPATH=.:tests python -m bench.levels [--rounds 15] [--only words]

Each round calls every implementation in turn, for a millisecond or more; a time is the least CPU time of a call in all
rounds, on one thread. So a machine with other work lengthens it less than it would the time on a clock; but caches and
memory are shared, and ratios are worth more than microseconds.
"""

from __future__ import annotations

import argparse
import importlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import pysimd
from bench import runner
from bench.cases import Case, Prepared
from bench.cases.few_bits import few_bits
from bench.cases.functions import dequantize_linear, quantize_linear, table8
from bench.cases.layers import of_layer, square
from bench.cases.small import of_layer_8i, of_layer_16b
from bench.implementations import fastest
from bench.peers import trial

Call = Callable[[], Any]
FLOATS, PEERS = "floats", ("onnxruntime", "openvino")
_SAMPLE_SECONDS = 0.001

#: Layers: shape, output channels (0 for depthwise), kernel, stride.
_LAYERS = (
    ("64x56x56", 64, 1, 1),
    ("512x28x28", 128, 1, 1),
    ("64x56x56", 64, 3, 1),
    ("256x14x14", 256, 3, 1),
    ("3x224x224", 64, 7, 2),
    ("144x56x56", 0, 3, 1),
    ("960x7x7", 0, 3, 1),
)


@dataclass(frozen=True)
class Row:
    """A case, and that of floats which computes as much."""

    case: Case
    floats: Case | None = None

    @property
    def name(self) -> str:
        return f"`{self.case.family}` {self.case.layer.removeprefix('8i ').removeprefix('16b ')}"


def rows() -> list[Row]:
    """What is timed."""
    layers = [square(*layer) for layer in _LAYERS]
    shapes = (1, 56, 56, 64), (1, 320, 320, 64)
    functions = [table8(shapes[0]), *map(quantize_linear, shapes), *map(dequantize_linear, shapes), *few_bits()]
    found = [Row(of(layer, "nhwc"), of_layer(layer, "nhwc")) for of in (of_layer_8i, of_layer_16b) for layer in layers]
    return [*found, *map(Row, functions)]


def _peer(name: str, case: Case, made: Prepared) -> Call | None:
    """The fastest implementation of a peer that computes the same, or None."""
    if made.result is None:
        return None
    expected, quantised = np.asarray(made.result()), case.subject is not None or "quantised" in case.layer
    try:
        library = importlib.import_module(f"bench.peers.{name}")
        if case.subject is not None:
            builders = library.build(case.subject, case.layout, made.values)
        else:
            builders = library.of_operator(made.operator, expected)
        found: Call = fastest(builders, trial, expected, 0.02 if quantised else 1e-3).call
    except Exception:  # of any kind: it is the library's failure
        return None
    return found


def _seconds(call: Call, count: int) -> float:
    begin = time.process_time()
    for _ in range(count):
        call()
    return (time.process_time() - begin) / count


class _Timed:
    """A call on a level, with the number of calls of a sample, and its least time."""

    def __init__(self, call: Call, level: str) -> None:
        self._call, self._level, self.least = call, level, np.inf
        with pysimd.max_isa(level):
            call()
            self._count = max(1, int(_SAMPLE_SECONDS / max(_seconds(call, 1), 1e-7)))

    def sample(self) -> None:
        with pysimd.max_isa(self._level):
            self._call()  # refills the caches after other code ran
            self.least = min(self.least, _seconds(self._call, self._count))


def measured(row: Row, levels: Sequence[str], rounds: int) -> dict[str, float]:
    """Seconds by level, by "floats" and a level, and by peer."""
    timed: dict[str, _Timed] = {}
    kept = []
    for level in levels:
        if level == "base" and row.floats is not None and len(levels) > 1:
            continue  # the reference takes a second for a layer
        with pysimd.max_isa(level):
            for name, case in ((level, row.case), (f"{FLOATS} {level}", row.floats)):
                if case is not None:
                    kept.append(case.prepare())
                    timed[name] = _Timed(kept[-1].call, level)
    made = row.case.prepare()
    made.call()
    for name in PEERS:
        if call := _peer(name, row.case, made):
            timed[name] = _Timed(call, levels[-1])
    for number in range(rounds):
        for each in list(timed.values())[:: 1 if number % 2 else -1]:
            each.sample()
    return {name: each.least for name, each in timed.items()}


def _ratio(times: dict[str, float], over: str, under: str) -> str:
    return f"{times[over] / times[under]:.2f}" if over in times and under in times else ""


def line_of(name: str, times: dict[str, float], levels: Sequence[str]) -> str:
    """Microseconds on the newest level, times of peers over them, and times of older levels over them."""
    newest = levels[-1]
    cells = [name, f"{1e6 * times[newest]:.4g}", *(_ratio(times, peer, newest) for peer in PEERS)]
    cells += [_ratio(times, level, newest) for level in levels[:-1]]
    return f"| {' | '.join(cells)} |"


def floats_line_of(name: str, times: dict[str, float], levels: Sequence[str]) -> str:
    """Times of floats over those of the row, on each level."""
    return f"| {' | '.join([name, *(_ratio(times, f'{FLOATS} {level}', level) for level in levels)])} |"


def _head(*columns: str) -> str:
    return f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}"


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", default="", help="rows whose names contain this")
    given = parser.parse_args()
    levels = runner.isa_levels()
    found = []
    print(
        _head("", f"{levels[-1]}: us", *(f"{peer} over it" for peer in PEERS), *(f"{each} over it" for each in levels[:-1]))
    )
    for row in rows():
        if given.only in row.name:
            found.append((row, measured(row, levels, given.rounds)))
            print(line_of(row.name, found[-1][1], levels), flush=True)
    print("\nFloats over it, on each level:\n")
    print(_head("", *levels[1:]))
    for row, times in found:
        if row.floats is not None:
            print(floats_line_of(row.name, times, levels[1:]))


if __name__ == "__main__":
    main()
