"""Transformers with random weights, as the exporters of PyTorch write them, without PyTorch and without downloads.

The sizes are those of published models; large ones repeat their block less often than the original, which changes neither
what a block costs nor that all weights together exceed the caches.

* ``writer``: what all models are written with; ``blocks``: attention, norms and activations in their exported forms.
* ``encoders``, ``decoders``, ``graphs``: the models, as functions by name; ``graphs`` are graph networks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

Make = Callable[[], Any]


def models() -> Mapping[str, Make]:
    """Functions that each make a model of ONNX, by name."""
    from bench.transformers import decoders, encoders, graphs

    return {**encoders.MODELS, **decoders.MODELS, **graphs.MODELS}


def write(folder: Path, only: str = "") -> list[Path]:
    """Writes the models whose names contain `only` as files."""
    import onnx

    paths = []
    for name, make in models().items():
        if only in name:
            paths.append(folder / f"{name}.onnx")
            onnx.save(make(), str(paths[-1]))
    return paths
