"""Biases that make up for what quantisation changes of the mean of each channel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from pysimd.annotations import Array
from pysimd.network.quantize.calibration import Sample, Step, runs
from pysimd.network.quantize.onnx_file import File, Node
from pysimd.network.quantize.products import Product

MOST_SAMPLES, _LEAST_SAMPLES = 8, 3

Values = dict[str, list[Array]]


def correctable(products: Sequence[Product]) -> list[Product]:
    """Those that have a bias, or can get one."""
    return [p for p in products if p.node.op != "MatMul" or p.term is not None]


def corrected(
    file: File, made: File, products: Sequence[Product], samples: Sequence[Sample], step: Step
) -> dict[Node, Array]:
    """The bias of each product: its own, and the mean of the float sums less that of the quantised ones.

    made : the quantised model. One product after the other is corrected, in the order in which they are computed, as each
    changes what those behind it read: what is computed from corrected sums is computed once for each product behind them.
    """
    samples, products = samples[:MOST_SAMPLES], correctable(products)
    right = _means(file, products, samples, step)
    walk = _Walk(made, [_sums(p) for p in products], samples)
    found: dict[Node, Array] = {}
    for p in products:
        values = walk.values(_sums(p))
        apart = _certain(right[p.node] - np.stack([mean_of_channels(p, each) for each in values]))
        bias = np.zeros(p.outputs) if p.added is None else p.added.astype(np.float64)
        found[p.node] = (bias + apart).astype(np.float32)
        walk.keep(_sums(p), [plus(p, each, apart) for each in values])
        step()
    return found


class _Walk:
    """The values of some tensors on samples, one after the other: each is computed from those before it."""

    def __init__(self, file: File, names: Sequence[str], samples: Sequence[Sample]) -> None:
        self._file, self._samples = file, samples
        self._makers = {name: node for node in file.nodes for name in node.outputs if name}
        self._known: Values = {}
        self._needed, done = {}, set()  # type: dict[str, list[str]], set[str]
        for name in names:
            self._needed[name] = self._begin(name, done)
            done.add(name)
        self._uses = Counter(each for needed in self._needed.values() for each in needed)

    def _begin(self, name: str, done: set[str]) -> list[str]:
        """The inputs of the model, and the tensors of `done`, from which a tensor is computed."""
        found, left, seen = dict.fromkeys(()), [name], {name}  # type: dict[str, None], list[str], set[str]
        while left:
            each = left.pop()
            node = self._makers.get(each)
            if (each in done and each != name) or (node is None and each in self._samples[0]):
                found[each] = None
            elif node is not None:
                new = {*node.inputs, *node.captured} - seen
                seen |= new
                left += new
        return list(found)

    def values(self, name: str) -> list[Array]:
        """Of each sample."""
        begin = self._needed[name]
        inputs = [each for each in begin if each in self._samples[0]]
        floats = [each for each in begin if each not in self._samples[0]]
        part = self._file.part(inputs, floats)
        given = [
            {**{each: sample[each] for each in inputs}, **{each: self._known[each][i] for each in floats}}
            for i, sample in enumerate(self._samples)
        ]
        found = [values[name] for values in runs(part, [name], given, lambda: None)]
        for each in floats:
            self._uses[each] -= 1
            if not self._uses[each]:
                del self._known[each]
        return found

    def keep(self, name: str, values: list[Array]) -> None:
        """The values of a tensor, for what is computed from it."""
        if self._uses[name]:
            self._known[name] = values


def _sums(product: Product) -> str:
    return product.node.outputs[0]


def plus(product: Product, x: Array, term: Array) -> Array:
    """With a number added to each channel."""
    axis = 1 if product.node.op == "Conv" else x.ndim - 1
    return x + term.astype(np.float32).reshape([-1 if i == axis else 1 for i in range(x.ndim)])


def mean_of_channels(product: Product, x: Array) -> Array:
    """Of each channel, or each column."""
    wide = np.moveaxis(x, 1 if product.node.op == "Conv" else -1, -1)
    return np.asarray(wide.reshape(-1, wide.shape[-1]).mean(0, dtype=np.float64))


def _certain(apart: Array) -> Array:
    """The mean over samples, 0 where it is less than twice its standard error: what differs by chance stays."""
    mean, count = apart.mean(0), len(apart)
    if count < _LEAST_SAMPLES:
        return np.asarray(mean)
    error = apart.std(0, ddof=1) / count**0.5
    return np.where(np.abs(mean) > 2 * error, mean, 0.0)


def _means(file: File, products: Sequence[Product], samples: Sequence[Sample], step: Step) -> dict[Node, Array]:
    """Of each sample."""
    found: dict[Node, list[Array]] = {p.node: [] for p in products}
    for values in runs(file, [_sums(p) for p in products], samples, step):
        for p in products:
            found[p.node].append(mean_of_channels(p, values[_sums(p)]))
    return {node: np.stack(each) for node, each in found.items()}
