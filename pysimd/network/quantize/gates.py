"""Factors of channels that a model computes from the mean of its images (squeeze and excitation).

Their products, convolutions or those of matrices, have images of one pixel: bytes would save no time there, and each of
their errors is one of a whole channel. But the image, its mean, the factors and what is multiplied with them are bytes, if
the image is a function of bytes: no image of floats is left.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from pysimd.network.quantize.onnx_file import File, Node
from pysimd.network.quantize.places import ELEMENTWISE
from pysimd.network.quantize.products import PRODUCTS, Product
from pysimd.network.records import record

#: Operators whose other inputs are weights, or tell a shape.
_OF_FIRST = (*PRODUCTS, "Flatten", "Reshape", "Squeeze", "Unsqueeze")


@record(frozen=True, eq=False)
class Binary:
    """A function of two tensors of bytes that gives bytes: an image with factors of its channels, or a sum.

    node : the Mul or the Add. tensors : what is bytes for it: of a gate the image, its means, the factors, and the result.
    """

    node: Node
    tensors: tuple[str, ...]

    @property
    def is_sum(self) -> bool:
        """Whether it is no gate."""
        return self.node.op == "Add"


def gates_of(file: File, products: Sequence[Product], keep_float: Collection[str]) -> list[Binary]:
    """The gates of images that are functions of the results of products.

    products : those with bytes. keep_float : names of nodes, or of their results, that stay in float.
    """
    pixels, within, _ = _pixels(file)
    makers = {name: node for node in file.nodes for name in node.outputs if name}
    results, found = {p.y for p in products}, []
    read = {p.x for p in products}
    for node in file.nodes:
        if node.domain or node.op != "Mul" or not {node.name, *node.outputs}.isdisjoint(keep_float):
            continue
        for x, factors in (node.inputs, node.inputs[::-1]):
            means = [each.outputs[0] for each in within if is_mean(file, each) and each.inputs[0] == x]
            ends = {*node.outputs, *_functions(file, node.outputs[0])}
            if factors not in pixels or x in pixels or not means or read.isdisjoint(ends):
                continue
            tensors = (x, *means, factors, *node.outputs)
            if _is_function(file, x, makers, results) and tensors[-1] not in file.outputs:
                found.append(Binary(node, tensors))
    return found


def tensors_of(binaries: Sequence[Binary]) -> list[str]:
    """What is bytes for some gates and sums."""
    return [name for each in binaries for name in each.tensors]


def _functions(file: File, name: str) -> list[str]:
    """The results of functions of one tensor."""
    return [node.outputs[0] for node in file.nodes if node.op in ELEMENTWISE and node.inputs[0] == name and not node.domain]


def _is_function(file: File, name: str, makers: Mapping[str, Node], results: Collection[str]) -> bool:
    """Whether a tensor is a function of one of the results, and of numbers."""
    found, left = set(), [name]
    while left:
        each = left.pop()
        if each in results:
            found.add(each)
            continue
        node = makers.get(each)
        if node is None or node.op not in ELEMENTWISE or node.domain:
            return False
        left += [given for given in node.inputs if given and file.constant(given) is None]
    return len(found) == 1


def of_gates(file: File, products: Sequence[Product]) -> list[Product]:
    """The products of one pixel whose results are factors or terms of images."""
    pixels, within, wanted = _pixels(file)
    for node in reversed(within):
        if not wanted.isdisjoint(node.outputs) and _keeps(node):
            wanted.update(pixels.intersection(node.inputs))
    return [p for p in products if p.x in pixels and p.node.outputs[0] in wanted]


def _pixels(file: File) -> tuple[set[str], list[Node], set[str]]:
    """The tensors of one pixel that are computed from means, the nodes that compute them, and which are factors or terms."""
    pixels: set[str] = set()
    within: list[Node] = []
    wanted: set[str] = set()
    for node in file.nodes:
        if node.domain or len(node.outputs) != 1:
            continue
        read = node.inputs[:1] if node.op in _OF_FIRST else node.inputs  # weights may be integers already
        given = [name for name in read if name and file.constant(name) is None]
        if is_mean(file, node) or (_keeps(node) and given and pixels.issuperset(given)):
            pixels.update(node.outputs)
            within.append(node)
        elif node.op in ("Mul", "Add"):
            wanted.update(pixels.intersection(given))
    return pixels, within, wanted


def is_mean(file: File, node: Node) -> bool:
    """Whether it computes the mean of each channel of images of two dimensions."""
    if node.op != "ReduceMean":
        return node.op == "GlobalAveragePool"
    axes = file.constant(node.inputs[1]) if len(node.inputs) > 1 and node.inputs[1] else node.get("axes", ())
    return axes is not None and sorted(np.ravel(axes).tolist()) in ([2, 3], [-2, -1])


def _keeps(node: Node) -> bool:
    """Whether the result has one pixel if the inputs have, or the channels of one in another shape."""
    return node.op in (*ELEMENTWISE, *_OF_FIRST)
