"""What networks would gain on more processors than this machine has, by a model of the pool.

    PYTHONPATH=.:tests python -m bench.pool [NETWORK ...]

Each network is planned for 4, 8 and 16 threads and runs on one. A library that is linked for this (``units.c``) notes the
units of each job and its time. The model hands ranges of units to threads as the pool does, the next range to the thread
that is free first, and adds the hand-over of a job, measured with two threads: what a function of numbers in the caches
takes beyond half of its time.

It leaves out the bandwidth of memory, caches and frequency that processors share, that a thread reads what another one
wrote, that more workers take longer to come, and what a plan for several threads costs on one.
"""

from __future__ import annotations

import argparse
import ctypes
import heapq
import os
import platform
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

_THREADS = (4, 8, 16)
_RANGE_NS, _SHARE_NS = 2000, 1500  # as in libsrc/runtime/threads.c
_MOST, _PASSES = 1 << 16, 15
_NUMBERS, _CALLS = 1 << 16, 200  # of the function whose hand-over is measured

_Jobs = Any  # an array of floats: for each job its units, the least of a range, its cost and its time in nanoseconds


def _linked() -> Path:
    """The library that notes jobs, from the objects of `make`."""
    root = Path(__file__).parents[2]
    build = root / "build" / f"{platform.machine()}-{Path(os.environ.get('CC', 'cc')).name}"
    library = build / "bench" / "libunits.so"
    options = ["-shared", "-fPIC", "-O2", "-std=gnu99", f"-I{root}/include", f"-I{root}/libsrc"]
    link = f"--wrap=sn_parallel_run,--version-script={root}/libsrc/simdnet.map,--whole-archive"
    sources = [str(root / "tests/bench/units.c"), f"-Wl,{link}", str(build / "internal.a"), "-Wl,--no-whole-archive"]
    command = [os.environ.get("CC", "cc"), *options, *sources, "-lm", "-lpthread", "-ldl", "-o", str(library)]
    subprocess.run(command, check=True)
    return library


def threads_of(job: Sequence[float], threads: int) -> int:
    """The threads that a job gets."""
    units, least, cost, _ = job
    if cost < 2 * _SHARE_NS:
        return 1
    return int(max(1, min(threads, units, cost // _SHARE_NS, units // max(least, 1))))


def makespan(job: Sequence[float], threads: int) -> float:
    """Nanoseconds of a job on several threads, without hand-over."""
    units, least, cost, taken = job
    n = threads_of(job, threads)
    if n == 1:
        return taken
    least = max(least, int(_RANGE_NS / cost * units), 1)
    if units // least < 4 * n:
        least = -(-units // n)
    free, left = [0.0] * n, units
    while left:
        count = min(left, max(left // (2 * n), least))
        left -= count
        heapq.heappush(free, heapq.heappop(free) + count * taken / units)
    return max(free)


def predicted(jobs: _Jobs, seconds: float, threads: int, hand_over: float) -> float:
    """Seconds of a pass: what is no job, and the jobs."""
    shared = sum(threads_of(job, threads) > 1 for job in jobs)
    return seconds + (sum(makespan(job, threads) for job in jobs) - float(jobs[:, 3].sum())) / 1e9 + shared * hand_over


def _hand_over() -> float:
    """Seconds for which a job of two threads waits; the median, since the system moves threads now and then."""
    import pysimd

    x = np.linspace(-3, 3, _NUMBERS, dtype=np.float32)
    call = pysimd.prepare(pysimd.mish, x, out=np.empty_like(x))
    beyond = []
    for _ in range(_PASSES):
        times = []
        for threads in (1, 2):
            with pysimd.num_threads(threads):
                calls = [_seconds(call) for _ in range(_CALLS)]
            times.append(float(np.median(calls)))
        beyond.append(times[1] - times[0] / 2)
    return max(0.0, float(np.median(beyond)))


def _seconds(run: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin


def _gain(run: Callable[[], Any]) -> float:
    """The least time on one thread over that on two, in turn."""
    import pysimd

    least = {1: float("inf"), 2: float("inf")}
    for _ in range(_PASSES):
        for threads in least:
            with pysimd.num_threads(threads):
                run()
                least[threads] = min(least[threads], _seconds(run), _seconds(run))
    return least[1] / least[2]


def _least_pass(run: Callable[[], Any], after: Callable[[], _Jobs]) -> tuple[float, _Jobs]:
    """The shortest pass: its seconds, and the jobs that `after` returns."""
    best: tuple[float, _Jobs] = float("inf"), None
    for _ in range(_PASSES):
        begin = time.perf_counter()
        run()
        seconds, jobs = time.perf_counter() - begin, after()
        best = (seconds, jobs) if seconds < best[0] else best
    return best


def main() -> None:
    from bench.models import MODELS as names

    parser = argparse.ArgumentParser(prog="bench.pool", description="Predicts speedups by a model of the pool.")
    parser.add_argument("networks", nargs="*", metavar="NETWORK", help=", ".join(names))
    chosen = parser.parse_args().networks or list(names)
    _print_table(chosen)


def _print_table(chosen: Sequence[str]) -> None:
    from bench.models import MODELS
    from bench.whole.table import images_of
    from pysimd._library import LIBRARY_PATH
    from pysimd.network import Runner
    from pysimd.network.passes import simplified

    library = ctypes.CDLL(str(LIBRARY_PATH))

    def noted() -> _Jobs:
        jobs = np.zeros((_MOST, 4))
        library.SimdnetBenchJobs.restype = ctypes.c_size_t
        return jobs[: library.SimdnetBenchJobs(jobs.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(_MOST))]

    def measured(graph: Any, threads: int) -> tuple[float, _Jobs, Any]:
        library.SimdnetBenchNotes(ctypes.c_size_t(threads))
        runner = Runner(simplified(graph), "nhwc")
        np.copyto(runner.inputs[graph.inputs[0]], images_of(graph))
        runner.run()
        noted()
        best = _least_pass(runner.run, noted)
        library.SimdnetBenchNotes(ctypes.c_size_t(0))
        return *best, runner

    hand_over = _hand_over()
    print(f"Hand-over: {hand_over * 1e6:.1f} us for a job.\n")
    print(f"| network | one thread, ms | jobs | 2, measured | 2 | {' | '.join(map(str, _THREADS))} |")
    print("|---|---|---|---|---|---|---|---|")
    for name in chosen:
        graph = MODELS[name](batch=1)
        seconds, jobs, runner = measured(graph, 2)
        cells = [f"{seconds * 1e3:.2f}", str(len(jobs)), f"{_gain(runner.run):.2f}"]
        cells.append(f"{seconds / predicted(jobs, seconds, 2, hand_over):.2f}")
        for threads in _THREADS:
            seconds, jobs, _ = measured(graph, threads)
            cells.append(f"{seconds / predicted(jobs, seconds, threads, hand_over):.1f}")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    os.environ["SIMDNET_LIBRARY"] = str(_linked())
    main()
