"""Operators of signals by NumPy: Fourier transforms, which are computed in float64, and what belongs to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pysimd.annotations import Array


def _scalar(given: Any) -> int:
    return int(np.asarray(given).reshape(()))


def _complex(x: Array) -> Array:
    """The numbers whose last dimension has the real part, or both parts."""
    if x.ndim < 2 or x.shape[-1] not in (1, 2):
        raise ValueError(f"the signal has shape {x.shape}, expected 1 or 2 parts of each number")
    parts = x.astype(np.float64)
    return parts[..., 0] if x.shape[-1] == 1 else parts[..., 0] + 1j * parts[..., 1]


def dft(node: Any, x: Array, length: Any = None, axis: Any = None) -> Any:
    """DFT, one of its four forms: forward and inverse, of complex and, one-sided, of real signals."""
    signal, inverse, onesided = _complex(x), bool(node.get("inverse", 0)), bool(node.get("onesided", 0))
    along = node.get("axis", 1) if node.opset < 20 else -2 if axis is None else _scalar(axis)
    if not -x.ndim <= along < x.ndim or along % x.ndim == x.ndim - 1:
        raise ValueError(f"axis is {along}, the signal has shape {x.shape}")
    along %= x.ndim
    whole = 2 * (x.shape[along] - 1) if inverse and onesided else x.shape[along]
    n = whole if length is None else _scalar(length)
    node.bounded((*x.shape[:along], n, *x.shape[along + 1 :]), np.complex128)
    if inverse and onesided:
        return np.fft.irfft(signal, n, along)[..., None].astype(x.dtype)
    return _parts(_transformed(signal, n, along, inverse, onesided), x.dtype)


def _transformed(signal: Array, n: int, axis: int, inverse: bool, onesided: bool) -> Array:
    if inverse:
        return np.fft.ifft(signal, n, axis)
    if onesided and signal.dtype.kind == "f":
        return np.fft.rfft(signal, n, axis)
    found = np.fft.fft(signal, n, axis)
    return np.take(found, np.arange(n // 2 + 1), axis) if onesided else found


def _parts(numbers: Array, dtype: Any) -> Array:
    return np.stack([numbers.real, numbers.imag], -1).astype(dtype)


def stft(node: Any, x: Array, step: Array, window: Any = None, length: Any = None) -> Any:
    """STFT: the transforms of frames of a signal, multiplied by a window.

    Signals of two dimensions, of real numbers, are not ONNX's, but exporters write them, and ONNX Runtime takes them.
    """
    x = x[..., None] if x.ndim == 2 else x
    signal, hop, total = _complex(x), _scalar(step), x.shape[1]
    n = _scalar(length) if length is not None else total if window is None else len(window)
    if x.ndim != 3 or hop < 1 or not 1 <= n <= total or (window is not None and window.shape != (n,)):
        raise ValueError(f"frames of {n} every {hop} elements do not fit a signal of the shape {x.shape}")
    node.bounded((len(x), (total - n) // hop + 1, n), np.complex128)
    frames = np.lib.stride_tricks.sliding_window_view(signal, n, axis=1)[:, ::hop]
    frames = frames * (1.0 if window is None else window.astype(np.float64))
    return _parts(_transformed(frames, n, 2, False, bool(node.get("onesided", 1))), x.dtype)


def _window(*factors: float) -> Any:
    """A sum of cosines of these factors, with alternating signs."""

    def computed(node: Any, size: Array) -> Any:
        n, dtype = _scalar(size), node.dtype("output_datatype")
        angles = np.arange(*node.bounded((n,), np.float64)) * 2 * np.pi / max(n - (not node.get("periodic", 1)), 1)
        return sum((-1) ** i * factor * np.cos(i * angles) for i, factor in enumerate(factors)).astype(dtype)

    return computed


def mel_weight_matrix(node: Any, bands: Array, length: Array, rate: Array, lowest: Array, highest: Array) -> Any:
    """MelWeightMatrix: triangles between neighbours in a row of frequencies that are even on the mel scale."""
    count, n = _scalar(bands), _scalar(length)
    found = np.zeros(node.bounded((n // 2 + 1, count), np.float64))
    low, high = (2595 * np.log10(1 + np.float64(each.reshape(())) / 700) for each in (lowest, highest))
    hertz = 700 * (10 ** ((low + np.arange(count + 2) * (high - low) / (count + 2)) / 2595) - 1)
    edges = ((n + 1) * hertz // _scalar(rate)).astype(np.int64)
    if edges.min() < 0 or edges.max() > n // 2 + 1:
        raise ValueError(f"frequencies of {lowest} to {highest} are beyond half the rate of {rate}")
    for i, (left, middle, right) in enumerate(zip(edges, edges[1:], edges[2:])):
        found[left:middle, i] = np.arange(middle - left) / max(middle - left, 1)
        found[middle:right, i] = 1 - np.arange(right - middle) / max(right - middle, 1)
        found[middle : middle + 1, i] = 1
    return found.astype(node.dtype("output_datatype"))


#: The operators of this module.
SIGNALS: dict[str, Callable[..., Any]] = {
    "BlackmanWindow": _window(0.42, 0.5, 0.08),
    "DFT": dft,
    "HammingWindow": _window(25 / 46, 21 / 46),
    "HannWindow": _window(0.5, 0.5),
    "MelWeightMatrix": mel_weight_matrix,
    "STFT": stft,
}
