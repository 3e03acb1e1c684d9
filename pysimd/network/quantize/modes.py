"""Models that need no samples: only the weights are integers, or what products read becomes bytes while the model runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Optional

import numpy as np

from pysimd.annotations import Array
from pysimd.network.quantize import weights
from pysimd.network.quantize.onnx_file import MICROSOFT, File, Node
from pysimd.network.quantize.products import Product
from pysimd.network.quantize.rewrite import integers

_OPSET = 13
_FLOAT32 = 1  # the number of the type

#: The nodes in place of a product; None where it stays as it is.
Change = Callable[[File, Product], Optional["list[Node]"]]


def changed(file: File, products: Sequence[Product], change: Change) -> tuple[File, list[Product]]:
    """The model with other nodes in place of products, and the products that were replaced."""
    made, of_node = file.copy(), {p.node: p for p in products}
    made.nodes, done = [], []
    for node in file.nodes:
        nodes = change(made, of_node[node]) if node in of_node else None
        made.nodes += [node] if nodes is None else nodes
        if nodes is not None:
            done.append(of_node[node])
    made.require("", _OPSET)
    return made, done


# ---- weights alone


def with_weights(file: File, product: Product) -> list[Node]:
    """The weights are int8, and become floats when the model is loaded or run."""
    node = product.node.copy()
    scales = weights.scales_of(product.weight, product.axis)
    values = weights.quantized(product.weight, scales, product.axis)
    made = integers(file, node.inputs[1], values, scales, product.axis)
    node.inputs[1] = made.outputs[0]
    return [made, node]


def with_blocks(block: int, symmetric: bool) -> Change:
    """The weights have 4 bits, and each row of them a scale for each block; None for convolutions."""

    def change(file: File, product: Product) -> list[Node] | None:
        node = product.node
        if node.op == "Conv" or node.get("transA", 0):
            return None
        rows = product.weight if product.axis == 0 else product.weight.T
        packed, scales, zeros = weights.blocks(np.ascontiguousarray(rows), block, symmetric)
        parts = [("Q4", packed), ("scales", scales), ("zero_points", zeros)]
        names = [file.add(f"{node.inputs[1]}_{what}", each) if each is not None else "" for what, each in parts]
        if product.bias is not None:
            names += ["", file.add(f"{node.shown}_bias", product.bias)]
        file.require(MICROSOFT, 1)
        while not names[-1]:
            names.pop()
        made = Node("MatMulNBits", [node.inputs[0], *names], node.outputs, node.name, MICROSOFT)
        for name, value in (("K", rows.shape[1]), ("N", rows.shape[0]), ("bits", 4), ("block_size", block)):
            made.set(name, int(value))
        return [made]

    return change


# ---- dynamic


def dynamic(file: File, product: Product) -> list[Node] | None:
    """What the product reads becomes bytes by its least and largest value, each time; sums are exact."""
    node = product.node
    if node.get("transA", 0):
        return None
    name = node.shown
    names = [file.new_name(f"{name}_{what}") for what in ("x", "x_scale", "x_zero", "sums", "floats", "scale", "scaled")]
    x, of_x, zero, sums, floats, scale, scaled = names
    operator, of_weight, nodes = _weight(file, product)
    nodes += [
        Node("DynamicQuantizeLinear", [node.inputs[0]], [x, of_x, zero], f"{name}_DynamicQuantizeLinear"),
        _sums(operator, node, [x, of_weight[0], zero, of_weight[1]], sums),
        Node("Cast", [sums], [floats], f"{name}_Cast").set("to", _FLOAT32),
        Node("Mul", [of_x, of_weight[2]], [scale], f"{name}_scales"),
    ]
    last = node.outputs[0] if product.bias is None else scaled
    nodes.append(Node("Mul", [floats, scale], [last], f"{name}_Mul"))
    if product.bias is not None:
        bias = file.add(f"{name}_bias", product.bias.reshape(_of_channels(product)))
        nodes.append(Node("Add", [last, bias], [node.outputs[0]], f"{name}_Add"))
    return nodes


def _of_channels(product: Product) -> tuple[int, ...]:
    """The shape in which a number for each output is multiplied with the result."""
    return (-1, *(1,) * (product.weight.ndim - 2)) if product.node.op == "Conv" else (-1,)


def _weight(file: File, product: Product) -> tuple[str, Sequence[str], list[Node]]:
    """The operator; the names of the integers, their zero and their scales. ConvInteger has bytes without a sign, as not all
    programs have the others."""
    scales = weights.scales_of(product.weight, product.axis)
    values: Array = weights.quantized(product.weight, scales, product.axis)
    convolves = product.node.op == "Conv"
    if convolves:
        values = (values.astype(np.int16) + 128).astype(np.uint8)
    elif product.axis == 0:
        values = np.ascontiguousarray(values.T)
    name, zero = product.node.inputs[1], np.array(128 if convolves else 0, values.dtype)
    arrays = (("quantized", values), ("zero_point", zero), ("scale", scales.reshape(_of_channels(product))))
    found = [file.add(f"{name}_{what}", each) for what, each in arrays]
    return ("ConvInteger" if convolves else "MatMulInteger"), found, []


def _sums(operator: str, node: Node, inputs: Sequence[str], y: str) -> Node:
    made = Node(operator, inputs, [y], f"{node.shown}_{operator}")
    if operator == "ConvInteger":
        made.attributes = dict(node.attributes)
    return made
