"""What several threads gain in models of ONNX files, beside ONNX Runtime, and which steps do not gain.

Each library is in a process of its own with one thread, and in another with several: short rounds of all of them
alternate, and the least time of a call counts.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from bench.implementations import Unsupported
from bench.onnx_files import OURS, shapes, values_of
from bench.onnx_files.workers import Task, Worker
from bench.whole.workers import Round

_ROUND = Round(0.03, 0.04, 0.12, 5)
_PASSES_SECONDS = 0.25  # of a model's passes with clocks between steps
_LISTED = 0.006  # of the time on several threads that steps lose, for a step to be listed

_HEAD = "| model | one thread, ms | {n} threads | speedup | ONNX Runtime, one | {n} | speedup | its time over ours |"


def print_table(models: Sequence[str], rounds: int, threads: int, peer: str | None = "onnxruntime") -> None:
    """A line for each model. The last column is at all threads: above 1, ONNX Runtime takes longer."""
    kinds = [(name, number) for name in (OURS, *([peer] if peer else [])) for number in (1, threads)]
    workers = [Worker(name) for name, _ in kinds]
    print(_HEAD.format(n=threads) + "\n|---|---|---|---|---|---|---|---|")
    for model in models:
        path = Path(model)
        try:
            inputs = shapes.inputs_of(path, 1, {})
            for worker, (_, number) in zip(workers, kinds):
                worker.load(Task(str(path), inputs, number))
            least = [float("inf")] * len(kinds)
            for _ in range(rounds):
                for index, worker in enumerate(workers):
                    least[index] = min(least[index], *worker.sample(_ROUND))
        except Unsupported as error:
            print(f"| {path.stem} | {str(error).splitlines()[0]} | | | | | | |", flush=True)
            continue
        print(f"| {path.stem} | {' | '.join(_cells(least))} |", flush=True)
    for worker in workers:
        worker.close()


def _cells(least: Sequence[float]) -> list[str]:
    """Of the seconds of each library on one thread and on several, ours first."""
    cells = []
    for one, several in zip(least[::2], least[1::2]):
        cells += [f"{one * 1e3:.3f}", f"{several * 1e3:.3f}", f"{one / several:.2f}"]
    if len(least) > 2:
        return [*cells, f"{least[3] / least[1]:.2f}"]
    return [*cells, "", "", "", ""]


def print_steps(models: Sequence[str], rounds: int, threads: int) -> None:
    """The steps of each model that lose most: what a step takes beyond its share of the time on one thread."""
    import pysimd
    from bench.onnx_files.simdnet import prepared
    from bench.whole.steps import clocked
    from pysimd.network.convert import UnsupportedModel

    for model in models:
        path = Path(model)
        with suppress(UnsupportedModel):
            runner = prepared(model, values_of(shapes.inputs_of(path, 1, {})))
            runner.run()
            steps = [step.calls for step in runner.steps]
            least: dict[int, list[float]] = {1: [float("inf")] * len(steps), threads: [float("inf")] * len(steps)}
            for _ in range(2 * rounds):
                for number, best in least.items():
                    with pysimd.num_threads(number):
                        end = time.perf_counter() + _PASSES_SECONDS / 2
                        while time.perf_counter() < end:
                            best[:] = map(min, best, clocked(steps))
            _print_losses(path.stem, runner, least[1], least[threads], threads)


def _print_losses(name: str, runner: Any, one: Sequence[float], several: Sequence[float], threads: int) -> None:
    from pysimd.network.reports.report import described

    clock = min(several)  # of reading the clock, about
    lost = [b - a / threads - clock * (1 - 1 / threads) for a, b in zip(one, several)]
    total = sum(several)
    print(f"{name}: {sum(one) * 1e3:.3f} ms, {total * 1e3:.3f} on {threads} threads, {sum(one) / total:.2f}")
    for index in sorted(range(len(lost)), key=lambda index: -lost[index]):
        if lost[index] < _LISTED * total:
            break
        step = runner.steps[index]
        info = step.context.info if step.context else ""
        print(
            f"  lost {lost[index] * 1e6:7.1f} us: {one[index] * 1e6:8.1f} to {several[index] * 1e6:8.1f}, "
            f"{one[index] / several[index]:.2f}  {described(runner.placed, step.node)}  {info}",
            flush=True,
        )
