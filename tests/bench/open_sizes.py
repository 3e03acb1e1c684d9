"""What inputs of any size cost: ``python -m bench.open_sizes build/models/ocr4-recognition.onnx:1,3,48,W --decoder``.

For each model, on one thread: the first preparation, a size that is new and one that is kept, beside a run; ONNX Runtime, if
it is installed, with a size that is new and one that it had before. Times of new sizes are medians over sizes, each of which
is new once; all times are those in which the thread computes, so that other processes change them little. The decoder has
the layers of GPT-2, and its cache grows by one token in each step.
"""

from __future__ import annotations

import argparse
import datetime
import statistics
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import pysimd
from bench import machine
from bench.report import markdown_table
from pysimd.annotations import Array

_FIRST, _STEP, _COUNT = 320, 8, 16  # sizes
_LENGTHS = (100, 500, 900)  # of the cache of the decoder
_LAYERS, _HEADS, _DEPTH, _WORDS, _LONGEST = 12, 12, 64, 1000, 1100  # of GPT-2, but for the words
_HEAD = (
    "model", "steps", "prepare", "first plan", "new size", "us a step", "% of run", "kept size", "run", "ORT new",
    "ORT known",
)  # fmt: skip

_TOP = """# Inputs of any size

`{command}` writes this page.

{machine}

Milliseconds in which the thread computes. Sizes begin at {first} and differ by {step}, those of a decoder by 1.

| column | |
| --- | --- |
| prepare | loading the model, and a preparation for one size |
| first plan | what the first call of a model with open sizes takes longer than a run |
| new size | what a call with a size that the model has not had before takes longer than a run; the median |
| kept size | what a call with a size that is kept takes longer than a run: it copies inputs and outputs |
| ORT new, ORT known | a run of ONNX Runtime with a size that it has not had before, and with one that it has |
"""


class _Case(NamedTuple):
    """A model, and inputs of it.

    open : what `prepare` gets to leave sizes open.
    inputs : those of the n-th size.
    """

    name: str
    file: str
    open: tuple[Any, ...]
    inputs: Callable[[int], dict[str, Array]]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.open_sizes", description=__doc__.split("\n")[0])
    parser.add_argument("models", nargs="*", metavar="FILE:SHAPE", help="a model of one input, as net.onnx:1,3,48,W")
    parser.add_argument("--decoder", action="store_true", help="a decoder with a cache, too; needs the package onnx")
    parser.add_argument("--keep", metavar="FOLDER", help="write PROCESSOR-sizes.md to this folder")
    options = parser.parse_args()
    pysimd.set_num_threads(1)
    cases = [_of_images(*each.rsplit(":", 1)) for each in options.models]
    with tempfile.TemporaryDirectory() as folder:
        rows = [_row(case) for case in (*cases, *(_decoders(f"{folder}/decoder.onnx") if options.decoder else ()))]
    text = _page(rows)
    print(text)
    if options.keep:
        Path(options.keep, f"{machine.processor()}-sizes.md").write_text(text)


def _page(rows: list[list[str]]) -> str:
    words = [f"build/models/{Path(word).name}" if ":" in word else word for word in sys.argv[1:]]
    command = " ".join(["PYTHONPATH=.:tests python -m bench.open_sizes", *words])
    machine_line = f"{machine.processor()}, {machine.line()}, {pysimd.active_isa()}, one thread, {_now()}"
    top = _TOP.format(command=command, machine=machine_line, first=_FIRST, step=_STEP)
    return "\n".join([top, *markdown_table(_HEAD, rows), ""])


def _now() -> str:
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")


def _row(case: _Case) -> list[str]:
    inputs = case.inputs(0)
    shapes = {name: array.shape for name, array in inputs.items()}
    fresh = _seconds(lambda: pysimd.load(case.file).prepare(shapes))
    run = pysimd.load(case.file).prepare(*case.open)
    first = _seconds(lambda: run(inputs))
    new = statistics.median(_bindings(run, case))
    runner: Any = run.prepare(shapes)
    runner(inputs)
    computed = min(_seconds(runner.run) for _ in range(9))
    kept = min(_seconds(lambda: run(inputs)) for _ in range(9)) - computed
    steps = len(runner.steps)
    times = [f"{seconds * 1e3:.2f}" for seconds in (fresh, first - computed, new, kept, computed)]
    times[3:3] = [f"{new / steps * 1e6:.1f}", f"{new / computed * 100:.1f}"]
    row = [case.name, str(steps), *times, *_onnxruntime(case)]
    print(*row, file=sys.stderr, flush=True)  # the page comes after minutes
    return row


def _bindings(run: Any, case: _Case) -> Iterator[float]:
    """The seconds for each new size, as in calls: the runner that was used longest ago is released for it."""
    kept: deque[Any] = deque()
    for i in range(_COUNT):
        inputs = case.inputs(i)
        shapes = {name: array.shape for name, array in inputs.items()}
        released = kept.popleft() if len(kept) == run.most_shapes else None
        begin = time.thread_time()
        runner = run.bound(shapes, released)
        seconds = time.thread_time() - begin
        runner(inputs)  # so that the caches are those of a model that runs
        kept.append(runner)
        if released is not None:
            yield seconds


def _of_images(file: str, dims: str) -> _Case:
    """A model of images, all of whose open sizes are the same."""
    shape = tuple(int(n) if n.isdecimal() else n for n in dims.split(","))
    (name,) = pysimd.load(file).inputs

    def inputs(i: int) -> dict[str, Array]:
        sizes = [n if isinstance(n, int) else _FIRST + i * _STEP for n in shape]
        return {name: np.random.default_rng(i).standard_normal(sizes).astype(np.float32)}

    return _Case(file.rsplit("/", 1)[-1].removesuffix(".onnx"), file, (shape,), inputs)


def _decoders(file: str) -> Iterator[_Case]:
    """A decoder, one token at a time, after some lengths of the cache."""
    from network import decoder_models as models

    models.LAYERS, models.HEADS, models.DEPTH, models.WORDS, models.LONGEST = _LAYERS, _HEADS, _DEPTH, _WORDS, _LONGEST
    models.WIDTH = _HEADS * _DEPTH
    with open(file, "wb") as written:
        written.write(models.gpt2().SerializeToString())

    def inputs(first: int, i: int) -> dict[str, Array]:
        random, past = np.random.default_rng(i), first + i
        cache = [f"past.{layer}.{kind}" for layer in range(_LAYERS) for kind in ("key", "value")]
        shape = (1, _HEADS, past, _DEPTH)
        return {
            "tokens": np.array([[past % _WORDS]]),
            "mask": np.ones((1, past + 1), np.int64),
            **{name: random.standard_normal(shape, np.float32) for name in cache},
        }

    for first in _LENGTHS:
        yield _Case(f"decoder, {first} tokens before", file, (), partial(inputs, first))


def _onnxruntime(case: _Case) -> list[str]:
    try:
        import onnxruntime
    except ImportError:
        return ["", ""]
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(case.file, options, providers=["CPUExecutionProvider"])
    known = case.inputs(0)
    session.run(None, known)
    new = [_seconds(partial(session.run, None, inputs)) for inputs in map(case.inputs, range(1, _COUNT))]
    again = min(_seconds(lambda: session.run(None, known)) for _ in range(9))
    return [f"{statistics.median(new) * 1e3:.2f}", f"{again * 1e3:.2f}"]


def _seconds(function: Callable[[], Any]) -> float:
    begin = time.thread_time()
    function()
    return time.thread_time() - begin


if __name__ == "__main__":
    main()
