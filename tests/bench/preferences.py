"""``python -m bench.costs prefer FILE ...``: what `prefer=` changes: error, memory and time of layers and of models;
``... bfloat16 FILE ...``: models that multiply bfloat16 numbers, beside OpenVINO that does, too."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench.implementations import error_of
from bench.onnx_files import values_of
from bench.onnx_files.shapes import inputs_of

PREFERENCES = "speed", "memory", "exact"
#: Convolutions of 3x3 with as many outputs as inputs: height and width, channels.
LAYERS = ((112, 32), (56, 64), (28, 128), (14, 256), (7, 512))
_ROUNDS, _SECONDS = 12, 0.05


def print_table(given: Sequence[str]) -> None:
    """Prints a line for each layer or model, and preference.

    given : files of models.
    """
    print("| layer, model | prefer | error | weights MB | block MB | ms |\n|---|---|---|---|---|---|")
    for size, channels in LAYERS:
        _print(f"{size}x{size}x{channels}, 3x3", _layer(size, channels))
    for path in map(Path, given):
        _print(path.stem, _model(path))


def _print(name: str, rows: Mapping[str, tuple[float, float, float, float]]) -> None:
    for prefer, (error, weights, block, seconds) in rows.items():
        memory = f"{weights / 1e6:.1f} | {block / 1e6:.1f}" if block else f"{weights / 1e6:.1f} | "
        print(f"| {name} | `{prefer}` | {error:.1e} | {memory} | {seconds * 1e3:.2f} |", flush=True)


def _layer(size: int, channels: int) -> Mapping[str, tuple[float, float, float, float]]:
    """The error is the root of the mean square, relative to that of the outputs, beside sums in float64."""
    import pysimd

    random = np.random.default_rng(1)
    image = random.standard_normal((1, size, size, channels), np.float32)
    weight = random.standard_normal((3, 3, channels, channels), np.float32)
    expected = sum(
        np.pad(image, ((0, 0), (1, 1), (1, 1), (0, 0)))[:, y : y + size, x : x + size].astype(np.float64) @ weight[y, x]
        for y in range(3)
        for x in range(3)
    )
    layers: dict[str, Any] = {}
    for prefer in PREFERENCES:
        layers[prefer] = pysimd.Convolution32f(image.shape, channels, kernel=3, padding=1, prefer=prefer)
        layers[prefer].set_params(weight)
    times = _times({prefer: lambda layer=layer: layer(image) for prefer, layer in layers.items()})  # type: ignore[misc]
    scale = np.sqrt(np.mean(expected**2))
    errors = {prefer: np.sqrt(np.mean((layer(image) - expected) ** 2)) / scale for prefer, layer in layers.items()}
    return {prefer: (errors[prefer], 4 * layer.internal_buffer_size, 0, times[prefer]) for prefer, layer in layers.items()}


def _model(path: Path) -> Mapping[str, tuple[float, float, float, float]]:
    """The error is that of the pages of models: the largest difference from ONNX Runtime."""
    import onnxruntime

    import pysimd

    feeds = values_of(inputs_of(path, 1, {}))
    shapes = {name: array.shape for name, array in feeds.items()}
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 3
    expected = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"]).run(None, feeds)
    runners = {prefer: pysimd.load(path).prepare(shapes, prefer=prefer) for prefer in PREFERENCES}
    times = _times({prefer: lambda runner=runner: runner(feeds) for prefer, runner in runners.items()})  # type: ignore[misc]
    errors = {prefer: error_of(list(runner(feeds).values()), list(expected)) for prefer, runner in runners.items()}
    return {
        prefer: (errors[prefer], runner.weight_bytes, runner.block_bytes, times[prefer])
        for prefer, runner in runners.items()
    }


def print_bfloat16(given: Sequence[str]) -> None:
    """Prints a line for each model: times, and largest differences from the floats of this library.

    given : files.
    """
    import pysimd
    from bench.onnx_files import openvino

    print(f"ours: {pysimd.active_isa()}; OpenVINO {openvino.VERSION}; one thread; ms, error")
    print("| model | ours, floats | bfloat16 | gain | OpenVINO, floats | bfloat16 | its over ours |\n" + "|---" * 7 + "|")
    gains, ahead = [], []
    for path in map(Path, given):
        feeds = values_of(inputs_of(path, 1, {}))
        shapes = {name: array.shape for name, array in feeds.items()}
        runners = [pysimd.load(path).prepare(shapes, prefer=prefer) for prefer in ("speed", "bfloat16")]
        others = [next(openvino.build(str(path), feeds, 1, precision))() for precision in ("f32", "bf16")]
        results = [list(runner(feeds).values()) for runner in runners] + [list(other.result()) for other in others]
        calls = [lambda runner=runner: runner.run() for runner in runners] + [other.call for other in others]
        own, small, theirs, theirs_small = _times(dict(zip("abcd", calls))).values()
        errors = [error_of(results[i], results[0]) for i in (1, 3)]
        gains.append(own / small)
        ahead.append(theirs_small / small)
        print(
            f"| {path.stem} | {own * 1e3:.3g} | {small * 1e3:.3g}, {errors[0]:.0e} | {gains[-1]:.2f} | {theirs * 1e3:.3g} "
            f"| {theirs_small * 1e3:.3g}, {errors[1]:.0e} | {ahead[-1]:.2f} |",
            flush=True,
        )
    print(f"mean gain {np.mean(gains):.2f}, OpenVINO over ours {np.mean(ahead):.2f}, least {min(ahead):.2f}")


def _times(calls: Mapping[str, Callable[[], Any]]) -> Mapping[str, float]:
    """The least processor time of a call, in seconds; all take turns."""
    found = dict.fromkeys(calls, 1e9)
    for _ in range(_ROUNDS):
        for name, call in calls.items():
            begin, count = time.process_time(), 0
            while time.process_time() - begin < _SECONDS or not count:
                call()
                count += 1
            found[name] = min(found[name], (time.process_time() - begin) / count)
    return found
