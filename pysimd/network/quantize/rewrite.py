"""A model with QuantizeLinear and DequantizeLinear: integers for its weights, bytes at the ends of its products."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pysimd.annotations import Array
from pysimd.network.quantize import weights
from pysimd.network.quantize.onnx_file import File, Node
from pysimd.network.quantize.places import Places
from pysimd.network.quantize.products import Product
from pysimd.network.quantize.ranges import Quantum

_OPSET = 13


def with_bytes(
    file: File,
    products: Sequence[Product],
    places: Places,
    quanta: Mapping[str, Quantum],
    biases: Mapping[Node, Array],
) -> tuple[File, dict[str, str]]:
    """The model with quantised tensors, and the names of the floats of their bytes.

    biases : those of products in place of their own.
    """
    made = file.copy()
    bytes_of = {name: _Tensor(made, name, of) for name, of in quanta.items()}
    of_node, terms = {p.node: p for p in products}, {}  # type: dict[Node, Product], dict[Node, tuple[int, str]]
    made.nodes = [node for name in file.inputs if name in bytes_of for node in bytes_of[name].nodes]
    for node in file.nodes:
        changed = node.copy()
        for i, name in enumerate(node.inputs):
            if name in bytes_of and places.reads_bytes(node, i, name):
                changed.inputs[i] = bytes_of[name].result
        if node in of_node:
            product = of_node[node]
            made.nodes += _weights(made, changed, product, quanta[product.x].scale, biases.get(node, product.added))
            if product.term is not None:
                terms[product.term.node] = product.term.place, changed.inputs.pop()
        if node in terms:
            place, name = terms[node]
            changed.inputs[place] = name
        made.nodes.append(changed)
        for name in node.outputs:
            if name in bytes_of:
                made.nodes += bytes_of[name].nodes
    made.require("", _OPSET)
    return made, {name: each.result for name, each in bytes_of.items()}


class _Tensor:
    """The nodes that quantise a tensor. result : the floats of its bytes."""

    def __init__(self, file: File, name: str, of: Quantum) -> None:
        q, self.result = file.new_name(f"{name}_quantized"), file.new_name(f"{name}_dequantized")
        scale = file.add(f"{name}_scale", np.array(of.scale, np.float32))
        zero = file.add(f"{name}_zero_point", np.array(of.zero, np.uint8))
        self.nodes = [
            Node("QuantizeLinear", [name, scale, zero], [q], f"{name}_QuantizeLinear"),
            Node("DequantizeLinear", [q, scale, zero], [self.result], f"{name}_DequantizeLinear"),
        ]


def _weights(file: File, node: Node, product: Product, of_x: np.float32, bias: Array | None) -> list[Node]:
    """The nodes of the weights of a product, whose node reads them afterwards."""
    scales = weights.raised(weights.scales_of(product.weight, product.axis), of_x, bias)
    found = [integers(file, node.inputs[1], weights.quantized(product.weight, scales, product.axis), scales, product.axis)]
    node.inputs = [node.inputs[0], found[0].outputs[0]]
    if bias is not None:
        of_sums = (scales * of_x).astype(np.float32)
        found.append(integers(file, f"{node.shown}_bias", weights.bias_of_sums(bias, of_sums), of_sums, 0))
        node.inputs.append(found[1].outputs[0])
    return found


def integers(file: File, name: str, values: Array, scales: Array, axis: int) -> Node:
    """The floats of integers that are known."""
    q, scale = file.add(f"{name}_quantized", values), file.add(f"{name}_scale", scales)
    zero = file.add(f"{name}_zero_point", np.zeros(scales.shape, values.dtype))
    made = Node("DequantizeLinear", [q, scale, zero], [file.new_name(f"{name}_dequantized")], f"{name}_DequantizeLinear")
    return made.set("axis", axis)
