"""What inputs of any size cost: ``python -m bench.open_sizes build/models/ocr4-recognition.onnx:1,3,48,W``.

For each model, on one thread: the first preparation, a size that is new and one that is kept, beside a run; ONNX Runtime, if
it is installed, with a size that is new and one that it had before. Times are medians over sizes, each of which is new once.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import pysimd
from bench.report import markdown_table
from pysimd.annotations import Array

_FIRST, _STEP, _COUNT = 320, 8, 24  # sizes


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.open_sizes", description=__doc__.split("\n")[0])
    parser.add_argument("models", nargs="+", metavar="FILE:SHAPE", help="a model of one input, as net.onnx:1,3,48,W")
    pysimd.set_num_threads(1)
    head = ["model", "steps", "prepare", "first plan", "new size", "us a step", "kept size", "run", "ORT new", "ORT known"]
    print(f"milliseconds, {pysimd.active_isa()}, one thread; sizes from {_FIRST} in steps of {_STEP}\n")
    print("\n".join(markdown_table(head, [_row(*each.rsplit(":", 1)) for each in parser.parse_args().models])))


def _row(file: str, dims: str) -> list[str]:
    shape = tuple(int(n) if n.isdecimal() else n for n in dims.split(","))
    images = list(_images(shape))
    fresh = _seconds(lambda: _loaded(file).prepare(images[0].shape))
    model = _loaded(file)
    run = model.prepare(shape)
    first = _seconds(lambda: run(images[0]))
    new = [_seconds(partial(run.prepare, dict.fromkeys(run.dims, x.shape))) for x in images[1:]]
    runner = run.prepare(dict.fromkeys(run.dims, images[0].shape))
    computed = min(_seconds(runner.run) for _ in range(9))
    kept = min(_seconds(lambda: run(images[0])) for _ in range(9)) - computed
    steps = len(runner.steps)
    theirs = _onnxruntime(file, images)
    times = [fresh, first - computed, statistics.median(new), kept, computed]
    texts = [f"{seconds * 1e3:.2f}" for seconds in times]
    texts.insert(3, f"{statistics.median(new) / steps * 1e6:.0f}")
    return [file.rsplit("/", 1)[-1].removesuffix(".onnx"), str(steps), *texts, *theirs]


def _loaded(file: str) -> Any:
    return pysimd.load(file)


def _images(shape: tuple[Any, ...]) -> Iterator[Array]:
    """Inputs, all names with the same size."""
    random = np.random.default_rng(1)
    for i in range(_COUNT):
        size = _FIRST + i * _STEP
        yield random.standard_normal([n if isinstance(n, int) else size for n in shape]).astype(np.float32)


def _onnxruntime(file: str, images: list[Array]) -> list[str]:
    try:
        import onnxruntime
    except ImportError:
        return ["", ""]
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    session.run(None, {name: images[0]})
    new = [_seconds(partial(session.run, None, {name: x})) for x in images[1:]]
    known = min(_seconds(lambda: session.run(None, {name: images[0]})) for _ in range(9))
    return [f"{statistics.median(new) * 1e3:.2f}", f"{known * 1e3:.2f}"]


def _seconds(function: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    function()
    return time.perf_counter() - begin


if __name__ == "__main__":
    main()
