"""Times layers drawn at random beside other libraries, and lists those that are furthest behind a peer and the limit."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Sequence

from bench import report, runner
from bench.cases import Case
from bench.peers.workers import Peer
from bench.runner import Result
from bench.sweep.draw import Drawn

#: The modules of the libraries beside which layers are timed.
PEERS = ("onnxruntime", "openvino")

WIDTH = 64  # of the text of a layer
BEHIND = 0.85  # ratios below this are counted

_TOGETHER = 4  # rows whose rounds are interleaved: these layers may need much memory
_WORST = 15  # rows that are listed


def run(
    layers: Sequence[Drawn],
    levels: Sequence[str],
    rounds: int,
    others: Sequence[Peer],
    threads: Sequence[int] = (1,),
    known: Iterable[Result] = (),
) -> Iterator[Result]:
    """The results in the order of the layers; those that are known are not timed again, unless another layer is drawn now
    for their seed and index, as after a change of ``draw``."""
    names = {(layer.seed, layer.index): _name(layer.case) for layer in layers}
    found: dict[tuple[int, ...], list[Result]] = {}
    for result in known:
        if names.get((result.draw[0], result.draw[1])) == _name(result) and result.isa in levels:
            found.setdefault(result.draw, []).append(result)
    for start in range(0, len(layers), _TOGETHER):
        some = layers[start : start + _TOGETHER]
        cases = [layer.case for layer in some if (layer.seed, layer.index) not in found]
        for result in runner.run(cases, levels, rounds, others, threads):
            found.setdefault(result.draw, []).append(result)
        for layer in some:
            yield from found[layer.seed, layer.index]


def _name(row: Case | Result) -> tuple[str, str, str]:
    return row.family, row.layer, row.layout


def footer(results: Sequence[Result]) -> str:
    """The worst rows, and the means of all."""
    if not results:
        return ""
    compared = [(result.best_ratio, result) for result in results if result.best_ratio is not None]
    lines = ["", "The smallest ratios of the fastest peer's time to ours:"]
    lines += [_line(ratio, result) for ratio, result in _worst(compared)]
    lines += ["", "The smallest fractions of the limit:"]
    lines += [_line(fraction, result) for fraction, result in _worst([(result.fraction, result) for result in results])]
    lines += ["", *_means(compared), "", *report.failures(results)]
    seeds = ", ".join(str(seed) for seed in sorted({result.draw[0] for result in results}))
    return "\n".join([*lines, f"A layer again: python -m bench --sweep --seed {seeds} --only INDEX"])


def _worst(rows: Sequence[tuple[float, Result]]) -> list[tuple[float, Result]]:
    return sorted(rows, key=lambda row: row[0])[:_WORST]


def _line(figure: float, result: Result) -> str:
    peers = "; ".join(
        f"{name} {time.ratio:.2f} ({time.how})" for name, time in result.peers.items() if time.ratio is not None
    )
    mark = "~" if result.swings else " "
    return (
        f"{figure:5.2f}{mark} {result.layer:<{WIDTH}} {result.layout} {result.isa} {result.seconds * 1e6:9.2f} us"
        f"  {result.fraction:.2f} of {result.limit}; {peers or 'no peer'}; ours: {result.info or result.family}"
    )


def _means(compared: Sequence[tuple[float, Result]]) -> Iterator[str]:
    """Of all families together, then of each."""
    names = sorted({result.family for _, result in compared})
    for name in ["all", *names] if len(names) > 1 else names:
        ratios = [ratio for ratio, result in compared if name in ("all", result.family)]
        yield (
            f"{name}: the geometric mean of {len(ratios)} rows is {statistics.geometric_mean(ratios):.2f}; "
            f"{sum(ratio < BEHIND for ratio in ratios)} are below {BEHIND}, {sum(ratio < 1 for ratio in ratios)} below 1"
        )
