"""Factors of channels that a model computes from the mean of its images (squeeze and excitation).

Their products have images of one pixel: bytes would save no time there, and each of their errors is one of a whole channel.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pysimd.network.quantize.onnx_file import File, Node
from pysimd.network.quantize.places import ELEMENTWISE
from pysimd.network.quantize.products import Product


def of_gates(file: File, products: Sequence[Product]) -> list[Product]:
    """The convolutions of one pixel whose results are factors or terms of images."""
    pixels: set[str] = set()
    within: list[Node] = []
    wanted: set[str] = set()
    for node in file.nodes:
        if node.domain or len(node.outputs) != 1:
            continue
        given = [name for name in node.inputs if name and file.constant(name) is None]
        if _is_mean(file, node) or (_keeps(node) and given and pixels.issuperset(given)):
            pixels.update(node.outputs)
            within.append(node)
        elif node.op in ("Mul", "Add"):
            wanted.update(pixels.intersection(given))
    for node in reversed(within):
        if not wanted.isdisjoint(node.outputs) and _keeps(node):
            wanted.update(pixels.intersection(node.inputs))
    return [p for p in products if p.node.op == "Conv" and p.x in pixels and p.node.outputs[0] in wanted]


def _is_mean(file: File, node: Node) -> bool:
    """Whether it computes the mean of each channel of images of two dimensions."""
    if node.op != "ReduceMean" or not node.get("keepdims", 1):
        return node.op == "GlobalAveragePool"
    axes = file.constant(node.inputs[1]) if len(node.inputs) > 1 and node.inputs[1] else node.get("axes", ())
    return axes is not None and sorted(np.ravel(axes).tolist()) in ([2, 3], [-2, -1])


def _keeps(node: Node) -> bool:
    """Whether the result has one pixel if the inputs have."""
    return node.op in ELEMENTWISE or node.op == "Conv"
