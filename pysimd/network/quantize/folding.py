"""Neighbours of products that become part of their weights: batch normalisations, and factors and terms of channels."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from pysimd.annotations import Array
from pysimd.network.quantize.onnx_file import File, Node

#: What a node computes of each channel: x * factor + term.
_Affine = tuple[Array, Array]


def folded(file: File, keep: Collection[str] = ()) -> File:
    """The same model, in which products have as much in their weights as possible. keep : names of nodes, or of their
    results, that stay as they are."""
    made = file.copy()
    users, uses = {name: node for node in made.nodes for name in node.inputs}, made.uses()
    place = {node: i for i, node in enumerate(made.nodes)}
    gone: set[Node] = set()
    for node in file.nodes:
        stays = not {node.name, *node.outputs}.isdisjoint(keep)
        product, last = None if stays else _with_floats(made, node), node
        while product is not None and uses[last.outputs[0]] == 1 and last.outputs[0] in users:
            reader = users[last.outputs[0]]
            affine = _affine(made, reader, last.outputs[0], product)
            if affine is None or reader.name in keep:
                break
            product = _changed(made, product, affine)
            product.outputs, last = list(reader.outputs[:1]), reader
            gone.add(reader)
        if product is not None:
            made.nodes[place[node]] = product
    made.nodes = [node for node in made.nodes if node not in gone]
    return made


def _with_floats(file: File, node: Node) -> Node | None:
    """A copy of a product whose weights, and whose bias if it has one, are known floats."""
    if node.domain or node.op not in ("Conv", "Gemm") or len(node.inputs) < 2:
        return None
    weight = file.floats(node.inputs[1])
    if weight is None or weight.ndim < 2:
        return None
    if node.op == "Gemm" and (node.get("alpha", 1.0), node.get("beta", 1.0)) != (1.0, 1.0):
        return None
    bias = node.inputs[2] if len(node.inputs) > 2 else ""
    if bias and bias_of(file, bias, _outputs(node, weight)) is None:
        return None
    return node.copy()


def _outputs(node: Node, weight: Array) -> int:
    return int(weight.shape[0 if node.op == "Conv" or node.get("transB", 0) else 1])


def bias_of(file: File, name: str, outputs: int) -> Array | None:
    """A bias that is known, as one number for each output."""
    found = file.floats(name)
    if found is None or found.shape not in ((), (1,), (outputs,), (1, 1), (1, outputs)):
        return None
    return np.broadcast_to(found.reshape(-1), (outputs,)).astype(np.float32)


def _affine(file: File, node: Node, x: str, product: Node) -> _Affine | None:
    """What a node after a product computes of each channel, if it is known."""
    count = _outputs(product, file.floats(product.inputs[1]))  # type: ignore[arg-type]
    if node.domain:
        return None
    if node.op == "BatchNormalization":
        return _of_norm(file, node, count)
    if node.op not in ("Add", "Mul") or product.op != "Conv" or node.inputs[0] == node.inputs[1]:
        return None
    other = file.floats(node.inputs[1] if node.inputs[0] == x else node.inputs[0])
    rank = file.floats(product.inputs[1]).ndim  # type: ignore[union-attr]
    values = None if other is None else _of_channels(other, count, rank)
    if values is None:
        return None
    return (np.ones(count), values) if node.op == "Add" else (values, np.zeros(count))


def _of_channels(array: Array, count: int, rank: int) -> Array | None:
    """One number for each channel, of images of some rank, or one for all."""
    shape = (1,) * (rank - array.ndim) + array.shape
    if len(shape) != rank or any(n != 1 for i, n in enumerate(shape) if i != 1) or shape[1] not in (1, count):
        return None
    return np.broadcast_to(array.reshape(-1).astype(np.float64), (count,))


def _of_norm(file: File, node: Node, count: int) -> _Affine | None:
    found = [file.floats(name) for name in node.inputs[1:5]]
    if len(found) != 4 or any(each is None or each.shape != (count,) for each in found) or node.get("training_mode", 0):
        return None
    if any(node.outputs[1:]):
        return None
    scale, bias, mean, variance = (np.asarray(each, np.float64) for each in found)
    factor = scale / np.sqrt(variance + float(node.get("epsilon", 1e-5)))
    return factor, bias - mean * factor


def _changed(file: File, node: Node, affine: _Affine) -> Node:
    """The product with other weights."""
    weight = file.floats(node.inputs[1])
    assert weight is not None
    count, (factor, term) = _outputs(node, weight), affine
    first = node.op == "Conv" or bool(node.get("transB", 0))
    along = factor.reshape(-1, *(1,) * (weight.ndim - 1)) if first else factor
    bias = bias_of(file, node.inputs[2], count) if len(node.inputs) > 2 and node.inputs[2] else np.zeros(count)
    node = node.copy()
    new = (weight * along).astype(np.float32), (np.asarray(bias, np.float64) * factor + term).astype(np.float32)
    node.inputs = [node.inputs[0], *(file.add(f"{node.shown}_{what}", each) for what, each in zip(("weight", "bias"), new))]
    return node
