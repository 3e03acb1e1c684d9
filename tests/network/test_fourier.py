"""DFT and STFT of computed signals: products of the library with known matrices, compared with NumPy's fast transform."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pysimd.network.model import Model
from pysimd.network.source import Source, SourceNode, Value
from support import Array


def of(op: str, shape: tuple[Any, ...], opset: int, *inputs: Any, **attributes: Any) -> Model:
    """A model of one node, whose inputs but the first one are known."""
    known = {f"w{i}": np.asarray(each) for i, each in enumerate(inputs) if each is not None}
    names = ("x", *(f"w{i}" if each is not None else "" for i, each in enumerate(inputs)))
    node = SourceNode(op, names, ("y",), attributes)
    return Model(Source("net", opset, [Value("x", "float32", shape)], [Value("y", "float32", None)], [node], known))


def signal(*shape: int) -> Array:
    return np.random.default_rng(1).normal(0, 1, shape).astype(np.float32)


def parts_of(numbers: Array) -> Array:
    return np.stack([numbers.real, numbers.imag], -1)


def numbers_of(x: Array) -> Array:
    return x[..., 0] + 1j * x[..., 1] if x.shape[-1] == 2 else x[..., 0]


def assert_near(found: Array, expected: Array) -> None:
    assert found.shape == expected.shape and found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6 * np.abs(expected).max())


def assert_by_library(model: Model, x: Array) -> Array:
    """The result, which open sizes do not change."""
    runner = model.prepare({"x": x.shape})
    assert "Host" not in {step.node.operator for step in runner.steps}
    found = runner({"x": x})["y"]
    np.testing.assert_array_equal(found, model.prepare({"x": ("n", "t", *x.shape[2:])})({"x": x})["y"])
    return found


@pytest.mark.parametrize("axis", [0, 1, -2])
@pytest.mark.parametrize("length", [None, 7, 16])
@pytest.mark.parametrize(
    ("parts", "inverse", "onesided"), [(1, 0, 0), (1, 0, 1), (1, 1, 0), (2, 0, 0), (2, 1, 0), (2, 1, 1)]
)
def test_transforms(parts: int, inverse: int, onesided: int, length: int | None, axis: int) -> None:
    x = signal(6, 12, 9, parts)
    along, numbers = axis if axis >= 0 else axis + 4, numbers_of(x)
    if inverse and onesided:
        expected = np.fft.irfft(numbers, length, along)[..., None]
    elif onesided:
        expected = parts_of(np.fft.rfft(numbers, length, along))
    else:
        expected = parts_of((np.fft.ifft if inverse else np.fft.fft)(numbers, length, along))
    found = assert_by_library(of("DFT", ("n", "t", 9, parts), 20, length, axis, inverse=inverse, onesided=onesided), x)
    assert_near(found, expected)


@pytest.mark.parametrize("parts", [0, 1, 2])
@pytest.mark.parametrize(("windowed", "length"), [(True, 16), (False, 16), (True, None)])
def test_frames(parts: int, windowed: bool, length: int | None) -> None:
    """Without parts, signals have two dimensions, as exporters write them."""
    x = signal(3, 50, *[parts] * (parts > 0))
    window = np.hanning(16).astype(np.float32)
    of_frames = np.lib.stride_tricks.sliding_window_view(numbers_of(x) if parts else x, 16, axis=1)[:, ::5]
    of_frames = of_frames * (window if windowed else 1.0)
    expected = parts_of(np.fft.fft(of_frames) if parts == 2 else np.fft.rfft(of_frames))
    shape = ("n", "t", *[parts] * (parts > 0))
    model = of("STFT", shape, 17, 5, window if windowed else None, length, onesided=int(parts != 2))
    assert_near(assert_by_library(model, x), expected)


@pytest.mark.parametrize("op", ["DFT", "STFT"])
def test_long_ones_are_computed_by_numpy(op: str) -> None:
    x, known = signal(1, 5000, 1), [None, 1] if op == "DFT" else [2500, np.ones(2500, np.float32)]
    model = of(op, (1, 5000, 1), 20, *known, onesided=1)
    numbers = x[..., 0] if op == "DFT" else x[..., 0].reshape(1, 2, 2500)
    assert_near(model(x)["y"], parts_of(np.fft.rfft(numbers)))


def test_a_signal_that_is_too_short_is_refused() -> None:
    with pytest.raises(ValueError, match=r"frames of 16 every 5 elements do not fit a signal of the shape \(1, 9, 1\)"):
        of("STFT", (1, 9, 1), 17, 5, None, 16)(signal(1, 9, 1))


def test_programs_in_c_have_them(tmp_path: Path) -> None:
    assert of("STFT", (1, "t", 1), 17, 5, None, 16).compile(tmp_path, {"x": (1, "t", 1)})
