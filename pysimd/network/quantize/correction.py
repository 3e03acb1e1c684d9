"""Biases that make up for what quantisation changes of the mean of each channel."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from pysimd.annotations import Array
from pysimd.network.quantize.calibration import Sample, Step, runs
from pysimd.network.quantize.onnx_file import File, Node
from pysimd.network.quantize.products import Product

_MOST_SAMPLES = 8


def correctable(products: Sequence[Product]) -> list[Product]:
    """Those that have a bias, or can get one."""
    return [p for p in products if p.node.op != "MatMul"]


def corrected(
    file: File,
    products: Sequence[Product],
    samples: Sequence[Sample],
    quantized: Callable[[dict[Node, Array]], File],
    step: Step,
) -> dict[Node, Array]:
    """The bias of each product: its own, and the mean of the float sums less that of the quantised ones.

    quantized : the quantised model with some biases. One product after the other is corrected, in the order in which they
    are computed, as each changes what those behind it read.
    """
    samples, products = samples[:_MOST_SAMPLES], correctable(products)
    names = {p.node: p.node.outputs[0] for p in products}
    right = _means(file, products, list(names.values()), samples, step)
    found: dict[Node, Array] = {}
    for p in products:
        model = quantized(found)
        model.outputs = []  # what is behind it is not computed
        name = names[p.node]
        wrong = _means(model, [p], [name], samples, lambda: None)[name]
        bias = np.zeros(p.outputs) if p.bias is None else p.bias.astype(np.float64)
        found[p.node] = (bias + right[name] - wrong).astype(np.float32)
        step()
    return found


def _means(
    file: File, products: Sequence[Product], names: Sequence[str], samples: Sequence[Sample], step: Step
) -> dict[str, Array]:
    """Of each channel, or of each column."""
    axes = {p.node.outputs[0]: 1 if p.node.op == "Conv" else -1 for p in products}
    sums: dict[str, Array] = {name: np.zeros(()) for name in names}
    for values in runs(file, names, samples, step):
        for name in names:
            x = np.moveaxis(values[name], axes[name], -1)
            sums[name] = sums[name] + x.reshape(-1, x.shape[-1]).mean(0, dtype=np.float64)
    return {name: each / len(samples) for name, each in sums.items()}
