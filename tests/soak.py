"""Mixed random calls, models and lives of contexts from four threads: ``python soak.py --minutes 60 --seed 1``.

Each call has the bits that the same call had the first time. The threads end at every checkpoint, and new ones begin after
it: then no call runs, only what was made at the start exists, and the memory of the process must not be larger than after
the warm-up. What is compared is the anonymous memory of the process, after the collection of garbage and ``malloc_trim``,
with PYTHONMALLOC=malloc, since Python's own allocator keeps pages that are partly used. Memory of files that are mapped,
such as the pages of programs, is left out: when it is in memory is up to the system.

The last line is for the scorecard; ``most_growth`` is the largest growth after the warm-up, in KB.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
import tempfile
import threading
import time
from collections import Counter
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, Callable

import numpy as np

import pysimd
from scorecard.row import print_counts
from support import Array, process_memory, samples

THREADS = 4
SEEDS = 4  # of arguments for each function and each class
MODELS = 12
LIMIT = 1024  # KB by which memory may grow after the warm-up


def digest(value: Any) -> bytes:
    """Of one array or of several."""
    found = hashlib.blake2b(digest_size=16)
    for array in value if isinstance(value, (tuple, list)) else (value,):
        found.update(repr((array.dtype.str, array.shape)).encode())
        found.update(array.tobytes())
    return found.digest()


class Soak:
    """What the threads do, with the first results."""

    def __init__(self, folder: Path) -> None:
        self.jobs: dict[str, Callable[[], bytes]] = {}
        for seed in range(SEEDS):
            self._functions(seed)
            self._contexts(seed)
        self._models(folder)
        self.right = {name: job() for name, job in self.jobs.items()}
        self.done: Counter[str] = Counter()
        self.wrong: list[str] = []
        self._lock = threading.Lock()

    def _functions(self, seed: int) -> None:
        for name, (function, args, kwargs) in samples.calls(np.random.default_rng(seed)).items():
            if not name.endswith("iterator"):
                self.jobs[f"call {name} {seed}"] = partial(called, function, args, kwargs)
                self.jobs[f"prepare {name} {seed}"] = partial(prepared, function, args, kwargs)

    def _contexts(self, seed: int) -> None:
        for name, (context, arrays) in samples.contexts(np.random.default_rng(seed)).items():
            self.jobs[f"forward {name} {seed}"] = partial(called, context.forward, arrays, {})
            self.jobs[f"life {name} {seed}"] = partial(life, context, arrays)
        self.jobs[f"refused {seed}"] = refused

    def _models(self, folder: Path) -> None:
        try:
            import onnx

            from network.random_models import random_model
            from network.test_random import random_inputs
        except ImportError:
            print("skipped: models, without the package onnx")
            return
        for seed in range(MODELS):
            model, file = random_model(seed), folder / f"{seed}.onnx"
            onnx.save(model, file)
            inputs = random_inputs(model, seed)
            self.jobs[f"model {seed}"] = partial(loaded, file, inputs)
            self.jobs[f"infer {seed}"] = self._infer(pysimd.load(file).prepare(), inputs)

    def _infer(self, model: Any, inputs: dict[str, Array]) -> Callable[[], bytes]:
        """A model that is prepared once, which only one thread at a time may call."""
        lock = threading.Lock()

        def call() -> bytes:
            with lock:
                return results(model, inputs)

        return call

    def work(self, seed: int, end: float) -> None:
        random, done, names = Random(seed), Counter[str](), list(self.jobs)
        kinds = {kind: [name for name in names if name.split()[0] == kind] for kind in {name.split()[0] for name in names}}
        while time.monotonic() < end:
            kind = random.choice(sorted(kinds))
            name = random.choice(kinds[kind])
            if random.random() < 0.001:
                pysimd.set_num_threads(random.randint(1, 3))
            try:
                good = self.jobs[name]() == self.right[name]
            except Exception as error:
                good = False
                name = f"{name}: {error!r}"
            done[kind] += 1
            if not good:
                with self._lock:
                    self.wrong.append(name)
        with self._lock:
            self.done += done


def called(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> bytes:
    return digest(function(*args, **kwargs))


def prepared(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> bytes:
    return digest(pysimd.prepare(function, *args, **kwargs)())


def life(context: Any, arrays: tuple[Array, ...]) -> bytes:
    """A context like this one, from its beginning to its end."""
    made = type(context)(**context._arguments)
    weights = context._weights()
    if weights is not None:
        made.set_params(*weights)
    result = digest(made.forward(*arrays))
    made.close()
    return result


def loaded(file: Path, inputs: dict[str, Array]) -> bytes:
    """A model, from its file."""
    return results(pysimd.load(file).prepare(), inputs)


def results(model: Any, inputs: dict[str, Array]) -> bytes:
    found = model(inputs)
    return digest(list(found.values()) if isinstance(found, dict) else found)


def refused() -> bytes:
    """An error, whose text belongs to the thread."""
    try:
        pysimd.pooling_max(np.ones((2, 2, 1), np.float32), kernel=0)
    except ValueError as error:
        return str(error).encode()
    return b"accepted"


def soak(minutes: float, warm: float, every: float, seed: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        state = Soak(Path(folder))
        begin, first, growth, rounds = time.monotonic(), 0, 0, 0
        while (now := time.monotonic() - begin) < 60 * minutes:
            end = begin + min(now + every, 60 * minutes)
            threads = [threading.Thread(target=state.work, args=(seed + THREADS * rounds + i, end)) for i in range(THREADS)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            rounds += 1
            used = process_memory.anonymous() >> 10
            if now + every <= 60 * warm or not first:
                first = used
            growth = max(growth, used - first)
            total = sum(state.done.values())
            print(f"{now + every:6.0f} s: {total} calls, {used} KB, {len(state.wrong)} wrong", flush=True)
    for name in state.wrong[:20]:
        print(f"FAIL {name}")
    counts = {**state.done, "calls": total, "wrong": len(state.wrong), "most_growth": growth, "seconds": round(60 * minutes)}
    print_counts(**counts)
    return int(bool(state.wrong) or growth > LIMIT)


def main() -> int:
    parser = argparse.ArgumentParser("soak.py", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--warm", type=float, default=5, help="minutes until memory must not grow")
    parser.add_argument("--every", type=float, default=30, help="seconds between checkpoints")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if os.environ.get("PYTHONMALLOC") != "malloc":
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "PYTHONMALLOC": "malloc"})
    return soak(options.minutes, options.warm, options.every, options.seed)


if __name__ == "__main__":
    sys.exit(main())
