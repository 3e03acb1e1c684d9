"""ncnn: what pnnx has made of the file; one image, all in float32 or with the usual options, which may store values in 16
bits where that is faster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Callable

import ncnn
import numpy as np

from bench.onnx_files import USUAL, Loaded

VERSION = str(ncnn.__version__)


def build(path: str, inputs: Mapping[str, Any], threads: int) -> Iterator[Callable[[], Loaded]]:
    """All in float32, and with its usual options. `path` is that of the .param file."""
    if any(len(array) > 1 for array in inputs.values()):
        raise ValueError("one image at a time")
    for how in ("float32", USUAL):
        yield partial(_loaded, how, path, inputs, threads)


def _loaded(how: str, path: str, inputs: Mapping[str, Any], threads: int) -> Loaded:
    net = ncnn.Net()
    net.opt.num_threads = threads
    if how == "float32":
        for option in ("fp16_packed", "fp16_storage", "fp16_arithmetic", "bf16_packed", "bf16_storage"):
            if hasattr(net.opt, f"use_{option}"):
                setattr(net.opt, f"use_{option}", False)
    if net.load_param(path) or net.load_model(str(Path(path).with_suffix(".bin"))):
        raise RuntimeError("ncnn cannot read the network")
    sources = [ncnn.Mat(array[0]).clone() for array in inputs.values()]  # a Mat itself only points to the array

    def call() -> list[Any]:
        extractor = net.create_extractor()
        for name, source in zip(net.input_names(), sources):
            extractor.input(name, source)
        found = [extractor.extract(name) for name in sorted(net.output_names(), key=_number)]
        if any(status for status, _ in found):
            raise RuntimeError(f"extract gives {[status for status, _ in found]}")
        return [value for _, value in found]

    def result() -> Sequence[Any]:
        return [np.array(value) for value in call()]

    return Loaded(how, call, result)


def _number(output: str) -> int:
    """pnnx numbers the outputs as the file does: out0, out1 ..."""
    return int(output.removeprefix("out"))
