"""Which products lose most by bytes: the noise of the outputs if one of them alone has bytes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from pysimd.annotations import Array
from pysimd.network.quantize.calibration import Sample, Step, runs
from pysimd.network.quantize.correction import correctable, mean_of_channels, plus
from pysimd.network.quantize.gates import Binary
from pysimd.network.quantize.onnx_file import File
from pysimd.network.quantize.places import Places
from pysimd.network.quantize.products import Product
from pysimd.network.quantize.ranges import Range, quantum
from pysimd.network.quantize.rewrite import with_bytes
from pysimd.network.records import record

MOST_SAMPLES = 4
_REST, _LITTLE = 0.01, 1e-3  # of the noise, and noise that may be left
_ADDED = 0.1  # noise of sums, relative to that of the others: 0.4 dB
_OF_FLOATS = 64  # multiply-adds of bytes that take the time of an element of the image of a gate, in floats


@record(frozen=True, eq=False)
class Loss:
    """What bytes do to a product, or at a gate or a sum.

    noise : the squares of the differences of the outputs, relative to their own. work : multiply-adds of a sample, or what
    takes as long.
    """

    product: Product | Binary
    noise: float
    work: float


def worst(losses: Sequence[Loss], budget: float) -> list[Product | Binary]:
    """Products and gates with the most noise, whose work is within a part of all, until little of the noise is left; and the
    sums with the most noise, until they add little to what is left: they need no part of the work, as floats cost little."""
    sums = [each for each in losses if isinstance(each.product, Binary) and each.product.is_sum]
    others = [each for each in losses if each not in sums]
    work, noise = budget * sum(each.work for each in others), sum(each.noise for each in others)
    found: list[Product | Binary] = []
    left = noise
    for each in _sorted(others):
        if left > max(_REST * noise, _LITTLE) and each.work <= work:
            work, left = work - each.work, left - each.noise
            found.append(each.product)
    added = sum(each.noise for each in sums)
    for each in _sorted(sums):
        if added > max(_ADDED * left, _LITTLE - left):
            added -= each.noise
            found.append(each.product)
    return found


def _sorted(losses: Sequence[Loss]) -> list[Loss]:
    """The worst first."""
    return sorted(losses, key=lambda loss: -loss.noise)


def losses_of(
    file: File,
    products: Sequence[Product],
    binaries: Sequence[Binary],
    ranges: Mapping[str, Range],
    symmetric: bool,
    samples: Sequence[Sample],
    step: Step,
) -> list[Loss]:
    """Of each product, and of each gate and sum. ranges : of the tensors that are calibrated."""
    samples = samples[:MOST_SAMPLES]
    ends = *(name for p in products for name in (p.x, p.node.outputs[0])), *(each.node.outputs[0] for each in binaries)
    names = list(dict.fromkeys([*file.outputs, *ends]))
    floats = list(runs(file, names, samples, lambda: None))
    found = []
    for p in products:
        sums = [values[p.node.outputs[0]] for values in floats]
        noise = _noise(file, p, _quantized(file, [p], (), ranges, symmetric), samples, floats)
        found.append(Loss(p, noise, float(sums[0].size) * p.weight.size / p.outputs))
        step()
    for each in binaries:
        made = _quantized(file, [], each.tensors, ranges, symmetric)
        noise = _relative(file, floats, runs(made, file.outputs, samples, lambda: None))
        found.append(Loss(each, noise, float(floats[0][each.node.outputs[0]].size * _OF_FLOATS)))
        step()
    return found


def _quantized(
    file: File, products: Sequence[Product], others: Sequence[str], ranges: Mapping[str, Range], symmetric: bool
) -> File:
    """The model with bytes at one product, or of some tensors."""
    places = Places(file, products, others)
    of = places.ranges({name: ranges[name] for name in places.calibrated})
    return with_bytes(file, products, places, {name: quantum(*each, symmetric) for name, each in of.items()}, {})[0]


def _noise(
    file: File, product: Product, made: File, samples: Sequence[Sample], floats: Sequence[Mapping[str, Array]]
) -> float:
    """Of the outputs, if the means of the sums are corrected."""
    name = product.node.outputs[0]
    head = made.part((), [product.x])
    found = [values[name] for values in runs(head, [name], [{product.x: each[product.x]} for each in floats], lambda: None)]
    if correctable([product]):
        means = [mean_of_channels(product, each[name]) - mean_of_channels(product, x) for each, x in zip(floats, found)]
        found = [plus(product, x, np.mean(means, 0)) for x in found]
    tail = made.part(file.inputs, [name])
    given = [{**sample, name: x} for sample, x in zip(samples, found)]
    return _relative(file, floats, runs(tail, file.outputs, given, lambda: None))


def _relative(file: File, floats: Iterable[Mapping[str, Array]], found: Iterable[Mapping[str, Array]]) -> float:
    """The squares of the differences of the outputs, relative to their own."""
    noise, signal = 0.0, 0.0
    for one, other in zip(floats, found):
        for output in file.outputs:
            wide = one[output].astype(np.float64)
            signal += float((wide**2).sum())
            noise += float(((other[output] - wide) ** 2).sum())
    return noise / signal if signal else 0.0
