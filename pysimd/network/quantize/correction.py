"""Biases that make up for what quantisation changes of the mean of each channel."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from pysimd.annotations import Array
from pysimd.network.quantize.calibration import Sample, Step, runs
from pysimd.network.quantize.onnx_file import File, Node
from pysimd.network.quantize.products import Product

_MOST_SAMPLES, _LEAST_SAMPLES = 8, 3


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
    right = _means(file, products, samples, step)
    found: dict[Node, Array] = {}
    for p in products:
        model = quantized(found)
        model.outputs = []  # what is behind it is not computed
        apart = right[p.node] - _means(model, [p], samples, lambda: None)[p.node]
        bias = np.zeros(p.outputs) if p.bias is None else p.bias.astype(np.float64)
        found[p.node] = (bias + _certain(apart)).astype(np.float32)
        step()
    return found


def _certain(apart: Array) -> Array:
    """The mean over samples, 0 where it is less than twice its standard error: what differs by chance stays."""
    mean, count = apart.mean(0), len(apart)
    if count < _LEAST_SAMPLES:
        return np.asarray(mean)
    error = apart.std(0, ddof=1) / count**0.5
    return np.where(np.abs(mean) > 2 * error, mean, 0.0)


def _means(file: File, products: Sequence[Product], samples: Sequence[Sample], step: Step) -> dict[Node, Array]:
    """Of each sample and each channel, or each column."""
    names = {p.node: p.node.outputs[0] for p in products}
    found: dict[Node, list[Array]] = {node: [] for node in names}
    for values in runs(file, list(names.values()), samples, step):
        for node, name in names.items():
            x = np.moveaxis(values[name], 1 if node.op == "Conv" else -1, -1)
            found[node].append(x.reshape(-1, x.shape[-1]).mean(0, dtype=np.float64))
    return {node: np.stack(each) for node, each in found.items()}
