"""Samples of the inputs of published models, to quantise them and to measure it: drawn text and voices, by seed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from network.real_models import DEVIATION, MEAN, VOICES, image_first, page
from pysimd.annotations import Array

Draw = Callable[[Any], Sequence[Array]]


def _drawn(rng: Any, height: int, width: int, size: int) -> Array:
    """Words on paper of one brightness, in ink of another, with noise: (H, W, 3) of 0 to 255."""
    ink, paper = rng.uniform(0, 90), rng.uniform(150, 255)
    letters = page(height, width, size, seed=int(rng.integers(1 << 30))) / 255
    image = ink + (paper - ink) * letters + rng.normal(0, rng.uniform(2, 12), letters.shape)
    return np.asarray(image.clip(0, 255), np.float32)


def _natural(height: int, width: int, size: int) -> Draw:
    return lambda rng: [image_first((_drawn(rng, height, width, size) / 255 - MEAN) / DEVIATION)]


def _line(width: int) -> Draw:
    return lambda rng: [image_first(_drawn(rng, 48, width, 36) / 127.5 - 1)]


def _turned(rng: Any) -> Sequence[Array]:
    """Every second line upside down."""
    (line,) = _line(192)(rng)
    return [np.ascontiguousarray(line[:, :, ::-1, ::-1]) if rng.random() < 0.5 else line]


def _window(side: int) -> Draw:
    """Channels last."""

    def draw(rng: Any) -> Sequence[Array]:
        image = (_drawn(rng, side, side, side // 4) - 127.5) * 0.0078125
        return [np.ascontiguousarray(image.transpose(1, 0, 2)[None], np.float32)]

    return draw


def _voice(shapes: Sequence[tuple[int, ...]]) -> Draw:
    """A vowel of some pitch with noise, and zeros in place of states."""

    def draw(rng: Any) -> Sequence[Array]:
        t = np.arange(np.prod(shapes[0])) / 16000
        pitch, loud = rng.uniform(80, 250), rng.uniform(0.05, 0.3)
        vowel = sum(np.sin(2 * np.pi * pitch * k * t + rng.uniform(0, 6)) / k for k in range(1, 20))
        signal = loud * vowel + rng.normal(0, 0.02, t.size)
        zeros = [np.zeros(shape, np.float32) for shape in shapes[1:]]
        return [signal.astype(np.float32).reshape(shapes[0]), *zeros]

    return draw


#: By the names of :mod:`network.real_models`.
DRAWS: Mapping[str, Draw] = {
    "orientation": _natural(224, 224, 12),
    "pnet": _window(120),
    "rnet": _window(24),
    "onet": _window(48),
    "ocr4-detection": _natural(320, 320, 20),
    "ocr4-recognition": _line(320),
    "ocr-angle": _turned,
    "ocr6-detection": _natural(320, 320, 20),
    "ocr6-recognition": _line(320),
    "ocr6-tiny-detection": _natural(320, 320, 20),
    "ocr6-tiny-recognition": _line(320),
    "captcha-detection": lambda rng: [image_first(_drawn(rng, 416, 416, 40))],
    "captcha-recognition": lambda rng: [(_drawn(rng, 64, 160, 40).mean(2) / 127.5 - 1).astype(np.float32)[None, None]],
    "nudenet": lambda rng: [image_first(_drawn(rng, 320, 320, 20) / np.float32(255))],
    "layout": _natural(800, 608, 16),
    **{each.name: _voice([array.shape for array in each.inputs()]) for each in VOICES},
}
#: Inputs that are the same in all samples: the rate of voices.
_VALUES = {each.name: {name: np.array(value) for name, value in each.values.items()} for each in VOICES}


def samples_of(name: str, inputs: Sequence[str], count: int) -> list[dict[str, Array]]:
    """As many samples, by the names of the inputs of a model."""
    rng, values = np.random.default_rng(1), _VALUES.get(name, {})
    drawn = [each for each in inputs if each not in values]
    return [{**dict(zip(drawn, DRAWS[name](rng))), **values} for _ in range(count)]
