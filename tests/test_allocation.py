"""Lack of memory: each allocation of the library fails once, alone and together with all later ones; in separate processes.

Whatever fails, a call returns the correct result or raises MemoryError with a text of the library, leaves nothing behind,
and the next call works as before. tests/c/failing_allocation.c replaces the C library's functions; only calls from the
library count. So do models from the file to their results; there, Python's own allocations fail as well.
"""

from __future__ import annotations

import ctypes
import gc
import os
import platform
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest

import pysimd
from scorecard.row import print_counts
from support import COMPILER, PARAMS, ROOT, floats, samples

SEED = 23
MODELS = 20

Job = Callable[[], Any]  # a result that does not depend on when it is called

# ------------------------------------------------------------------------------------------------------ jobs


def call(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    sys.modules["pysimd.add"]._adder.cache_clear()  # of cached contexts
    results = function(*args, **kwargs)
    return [y.tobytes() for y in (results if isinstance(results, tuple) else (results,))]


def prepared_call(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    return call(pysimd.prepare(function, *args, **kwargs), (), {})


def life(make: Callable[[], Any], weights: tuple[Any, ...] | None, arrays: tuple[Any, ...]) -> Any:
    """Everything a context does, from creation to release."""
    with make() as context:
        if weights is not None:
            context.set_params(*weights)
        return context.forward(*arrays).tobytes(), context.forward(*arrays).tobytes()


GEOMETRIES: dict[str, dict[str, Any]] = {
    "1x1": {"kernel": 1},
    "3x3": {"kernel": 3, "padding": 1, "activation": "prelu"},
    "5x5": {"kernel": 5, "stride": 2, "padding": 2},
    "dilated": {"kernel": 3, "dilation": 2, "padding": 2},
    "few": {"kernel": 3, "dst_c": 2},
    "large": {"kernel": 1, "src_shape": (4, 4, 256), "dst_c": 256},
    "depthwise": {"kernel": 3, "padding": 1, "dst_c": 24, "group": 24},
    "nchw": {"kernel": 3, "stride": 2, "padding": 1, "layout": "nchw"},
    "nchw grouped": {"kernel": 3, "padding": 1, "layout": "nchw", "group": 2},
    "nchw depthwise": {"kernel": 3, "layout": "nchw", "dst_c": 8, "group": 8},
}


def lives(cls: Any) -> dict[str, Job]:
    """Contexts of a class with its different algorithms."""
    made: dict[str, Job] = {}
    rng = np.random.default_rng(SEED)
    for name, geometry in GEOMETRIES.items():
        if cls is pysimd.Deconvolution32f and name == "depthwise":
            continue  # which only NCHW has
        nchw = "layout" in geometry
        options = {"src_shape": (8, 12, 14) if nchw else (12, 13, 24), "dst_c": 20, **geometry}
        if cls in (pysimd.Convolution8i, pysimd.Convolution16b):
            options.update(src_dtype="float32", dst_dtype="float32")
        make = partial(cls, **options)
        shape, dst_c = options["src_shape"], options["dst_c"]
        params = PARAMS[options.get("activation", "identity")](dst_c)
        weights: list[Any] = [floats(rng, *make().weight_shape), floats(rng, dst_c), params]
        if cls is pysimd.Convolution8i:
            for channels in (shape[0] if nchw else shape[-1], dst_c):
                limit = np.full(channels, 4, np.float32)
                weights.append(pysimd.Statistics(-limit, limit))
        made[name] = partial(life, make, tuple(weights), (floats(rng, *shape),))
    return made


def contexts() -> dict[str, Job]:
    """One context of every class."""
    return {
        name: partial(life, partial(type(context), **context._arguments), context._weights(), arrays)
        for name, (context, arrays) in samples.contexts(np.random.default_rng(SEED)).items()
    }


def functions(how: Callable[..., Any]) -> dict[str, Job]:
    """Every function that computes."""
    names = samples.calls(np.random.default_rng(SEED))
    return {name: partial(how, *job) for name, job in names.items() if not name.endswith("iterator")}


def threads() -> dict[str, Job]:
    """Work for several threads, each with memory of its own."""
    pysimd.set_num_threads(2)
    rng = np.random.default_rng(SEED)
    x = floats(rng, 60, 60, 48)
    return {
        "convolution": partial(call, pysimd.convolution, (x, floats(rng, 3, 3, 48, 64)), {"padding": 1}),
        "pooling_average": partial(call, pysimd.pooling_average, (x,), {"kernel": 3, "layout": "nchw"}),
    }


def table() -> bool:
    return pysimd.performance_statistic().startswith("    calls")


def statistic() -> dict[str, Job]:
    pysimd.set_verbose(1)
    pysimd.negative(np.ones(4, np.float32))
    return {"performance_statistic": table}


def model_life(path: Path, inputs: dict[str, Any], layout: str) -> Any:
    """A model from the file to its results, through every pass."""
    results = pysimd.load(path).prepare(layout=layout)(inputs)
    return [y.tobytes() for y in results.values()]


def models() -> dict[str, Job]:
    """Random models, each as the ONNX file and as the saved one."""
    try:
        import onnx

        from network.random_models import random_model
        from network.test_random import random_inputs, turned
    except ImportError:
        print("skipped: no package onnx")
        return {}
    folder = Path(tempfile.mkdtemp())
    made: dict[str, Job] = {}
    for seed in range(MODELS):
        model, names = random_model(seed), [folder / f"{seed}.onnx", folder / f"{seed}.simdnet"]
        onnx.save(model, names[0])
        pysimd.load(names[0]).save(names[1])
        for path, layout in zip(names, ("nchw", "nhwc")):
            inputs = {name: turned(x, (0, 2, 3, 1), layout) for name, x in random_inputs(model, seed).items()}
            made[path.name] = partial(model_life, path, inputs, layout)
    return made


GROUPS: dict[str, Callable[[], dict[str, Job]]] = {
    "Convolution32f": partial(lives, pysimd.Convolution32f),
    "Convolution8i": partial(lives, pysimd.Convolution8i),
    "Convolution16b": partial(lives, pysimd.Convolution16b),
    "Deconvolution32f": partial(lives, pysimd.Deconvolution32f),
    "contexts": contexts,
    "functions": partial(functions, call),
    "prepared functions": partial(functions, prepared_call),
    "threads": threads,
    "statistic": statistic,
    "models": models,
}


# ----------------------------------------------------------------------------------- in a process with the shim


class Shim:
    """What tests/c/failing_allocation.c exports."""

    def __init__(self, path: str) -> None:
        from pysimd.lowlevel import ffi, lib

        shim = ctypes.CDLL(path)
        shim.failing_arm.argtypes = [ctypes.c_long, ctypes.c_int]
        shim.failing_disarm.restype = shim.failing_live.restype = ctypes.c_long
        shim.failing_watch.argtypes = [ctypes.c_void_p]
        self.arm, self.disarm, self.live = shim.failing_arm, shim.failing_disarm, shim.failing_live
        assert shim.failing_watch(int(ffi.cast("uintptr_t", ffi.addressof(lib, "SimdVersion")))) == 1


def in_a_thread(job: Job) -> Any:
    """Runs a job in a new thread, which has no memory of the library yet; returns its result or its MemoryError."""
    outcome: list[Any] = []

    def run() -> None:
        try:
            outcome.append(job())
        except MemoryError as error:
            outcome.append(MemoryError(*error.args))  # a copy, without the frames and the objects in them

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return outcome[0]  # IndexError after any other exception, which threading has printed


def attempt(shim: Shim, job: Job, n: int, for_good: bool) -> tuple[Any, int]:
    """Runs a job with a failure; returns its outcome and the number of allocations."""
    counts: list[int] = []

    def run() -> Any:
        shim.arm(n, for_good)
        try:
            return job()
        finally:
            counts.append(shim.disarm())

    return in_a_thread(run), counts[0]


def failures(shim: Shim, job: Job, for_good: bool) -> Iterator[Any]:
    """The outcomes of a job when each of its allocations in turn fails, each followed by a run without failures."""
    n, count = 0, 0
    while n <= count:
        n += 1
        outcome, count = attempt(shim, job, n, for_good)
        yield outcome
        again = in_a_thread(job)
        assert not isinstance(again, MemoryError), f"after failure {n}: {again}"
        yield again


def check(shim: Shim, job: Job) -> tuple[int, int]:
    """Returns at how many points the job failed, and how often it raised MemoryError."""
    outcomes = [*failures(shim, job, False), *failures(shim, job, True)]
    points = len(outcomes) // 2 - 2  # without the two runs in which nothing was left to fail
    gc.collect()
    before = shim.live()
    outcomes += [*failures(shim, job, False), *failures(shim, job, True)]
    gc.collect()  # of contexts in cycles, such as those of a model
    deadline = time.monotonic() + 2  # a thread may still free its memory after it was joined
    while shim.live() > before and pysimd.get_num_threads() == 1:
        assert time.monotonic() < deadline, f"{shim.live() - before} blocks were left behind"
        time.sleep(0.001)
    raised = [outcome for outcome in outcomes if isinstance(outcome, MemoryError)]
    for error in raised:
        assert "memory" in str(error), repr(error)
    expected = in_a_thread(job)
    assert all(outcome == expected for outcome in outcomes if not isinstance(outcome, MemoryError)), "a wrong result"
    return points, len(raised)


def main(path: str, group: str) -> None:
    shim, total, points = Shim(path), 0, 0
    jobs = GROUPS[group]()
    for name, job in jobs.items():
        print(name, flush=True)
        count, raised = check(shim, job)
        print(f"    {count} points, {raised} MemoryErrors", flush=True)
        total += raised
        points += count
    assert total or not jobs, "the library asked for no memory: does the shim see it?"
    print_counts(points=points, raised=total)


# ------------------------------------------------------------------------------------------------------ tests


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if COMPILER is None or platform.libc_ver()[0] != "glibc":
        pytest.skip("no compiler, or another C library than glibc")
    path = tmp_path_factory.mktemp("shim") / "failing_allocation.so"
    source = ROOT / "tests" / "c" / "failing_allocation.c"
    subprocess.run([COMPILER, "-O1", "-fno-builtin", "-shared", "-fPIC", str(source), "-o", str(path), "-ldl"], check=True)
    return path


@pytest.mark.sampled(2)
@pytest.mark.parametrize("group", GROUPS)
def test_each_allocation_that_fails_is_a_memory_error(shim: Path, group: str) -> None:
    code = f"import test_allocation; test_allocation.main({str(shim)!r}, {group!r})"
    environment = {**os.environ, "LD_PRELOAD": str(shim), "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests'}"}
    command = [sys.executable, "-X", "faulthandler", "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    print(f"\n{done.stdout.splitlines()[-1]}")
