"""A model in 8 bits, made by pysimd, beside its floats and beside ONNX Runtime: times and errors, as a row of a table.

    PYTHONPATH=.:tests python -m bench.quantised MODEL INPUT.npz [--all] [--method mse]

INPUT.npz has an array with samples of the only input, one after the other along its first dimension; every fifth is held
back to measure errors. Times are the least CPU time of many runs on one thread, which alternate.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import pysimd

Run = Callable[[Any], list[Any]]
ROUNDS = 25


def ours(model: Any, shape: tuple[int, ...]) -> Run:
    """A model on one thread."""
    (name,) = model.inputs
    run, outputs = model.prepare({name: shape}), list(model.outputs)
    return lambda x: [found[each] for found in [run({name: x})] for each in outputs]


def theirs(model: str | bytes) -> Run:
    """ONNX Runtime on one thread."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 3
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    return lambda x: list(session.run(None, {name: x}))


def times(runs: dict[str, Run], x: Any) -> dict[str, float]:
    """Milliseconds of each, the least of many."""
    least = dict.fromkeys(runs, np.inf)
    for _ in range(ROUNDS):
        for name, run in runs.items():
            begin = time.process_time()
            run(x)
            least[name] = min(least[name], time.process_time() - begin)
    return {name: 1000 * seconds for name, seconds in least.items()}


def errors(run: Run, expected: Run, given: list[Any]) -> tuple[float, float]:
    """The largest difference of the outputs, and their ratio of signal to noise in decibels."""
    largest, signal, noise = 0.0, 0.0, 0.0
    for x in given:
        for one, other in zip(expected(x), run(x)):
            apart = other.astype(np.float64) - one
            largest = max(largest, float(abs(apart).max()))
            signal, noise = signal + float((one.astype(np.float64) ** 2).sum()), noise + float((apart**2).sum())
    return largest, float(10 * np.log10(signal / noise)) if noise else np.inf


def main() -> None:
    """Prints the row."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("samples")
    parser.add_argument("--all", action="store_true", help="also what loses most, which is kept in float otherwise")
    parser.add_argument("--method", default="minmax")
    given = parser.parse_args()
    (every,) = np.load(given.samples).values()
    samples = [np.ascontiguousarray(every[i : i + 1]) for i in range(len(every))]
    begin = time.process_time()
    made = pysimd.quantize_model(given.model, samples, method=given.method, keep_float=() if given.all else "auto")
    seconds = time.process_time() - begin
    shape = samples[0].shape
    runs = {"float": ours(pysimd.load(given.model), shape), "8 bits": ours(made.load(), shape)}
    runs.update({"ORT float": theirs(given.model), "ORT 8 bits": theirs(made.data)})
    print(f"{Path(given.model).name}, {given.method}{', all' * given.all}: made in {seconds:.1f} s; in float {made.kept}")
    print("  ms: " + ", ".join(f"{name} {found:.2f}" for name, found in times(runs, samples[0]).items()))
    for name in ("8 bits", "ORT 8 bits"):
        largest, ratio = errors(runs[name], runs["float"], samples[4::5])
        print(f"  {name}: largest error {largest:.4f}, {ratio:.1f} dB")


if __name__ == "__main__":
    main()
