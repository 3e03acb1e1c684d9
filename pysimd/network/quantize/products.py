"""The products of a model that can have bytes: those whose weights are known, with what follows them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches

import numpy as np

from pysimd.annotations import Array
from pysimd.network.quantize.folding import bias_of
from pysimd.network.quantize.onnx_file import File, Node
from pysimd.network.records import record

PRODUCTS = ("Conv", "Gemm", "MatMul")


@record(frozen=True, eq=False)
class Term:
    """The Add of a bias to the columns of a product, which alone reads it. place : of the bias among its inputs."""

    node: Node
    place: int
    bias: Array


@record(frozen=True, eq=False)
class Product:
    """A product.

    x, y : what it reads, and its result after a term and a Relu or a Clip that the range of the bytes takes over.
    weight, bias : floats; axis : that of the outputs in the weight. term : of a MatMul, in place of a bias.
    is_last : whether the result is one of the model, which stays a float.
    """

    node: Node
    x: str
    y: str
    weight: Array
    axis: int
    bias: Array | None
    term: Term | None
    is_last: bool

    @property
    def added(self) -> Array | None:
        """What is added to the sums: the bias, or that of the term."""
        return self.bias if self.term is None else self.term.bias

    @property
    def outputs(self) -> int:
        """The number of channels, or of columns."""
        return int(self.weight.shape[self.axis])


def products_of(file: File, keep_float: Collection[str]) -> list[Product]:
    """The products to quantise.

    keep_float : names of nodes, or of their results, that stay in float. Raises ValueError for names that are not known.
    """
    _refuse_unknown(file, keep_float)
    readers = {name: node for node in file.nodes for name in node.inputs}
    uses, found = file.uses(), []
    for node in file.nodes:
        if {node.name, *node.outputs}.isdisjoint(keep_float) and node.op in PRODUCTS and not node.domain:
            product = _product(file, node)
            if product is not None:
                term = _term(file, node, readers, uses, keep_float)
                y = after_limits(file, (term.node if term else node).outputs[0], readers, uses)
                found.append(Product(node, node.inputs[0], y, *product, term, y in file.outputs))
    return found


def _refuse_unknown(file: File, keep_float: Iterable[str]) -> None:
    names = {name for node in file.nodes for name in (node.name, *node.outputs) if name}
    for name in keep_float:
        if name not in names:
            near = get_close_matches(str(name), sorted(names), 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise ValueError(f"keep_float names {name!r}, which is neither a node nor a result of one{hint}")


def _product(file: File, node: Node) -> tuple[Array, int, Array | None] | None:
    """The weight, the axis of its outputs, and the bias; None where one of them is not known."""
    if len(node.inputs) < 2 or file.constant(node.inputs[0]) is not None:
        return None
    weight = file.floats(node.inputs[1])
    if weight is None or weight.ndim < 2 or weight.size == 0 or not np.isfinite(weight).all():
        return None
    axis = 0 if node.op == "Conv" or (node.op == "Gemm" and node.get("transB", 0)) else 1
    if node.op != "Conv" and weight.ndim != 2:
        return None
    if node.op == "Gemm" and (node.get("alpha", 1.0), node.get("beta", 1.0)) != (1.0, 1.0):
        return None
    if len(node.inputs) < 3 or not node.inputs[2]:
        return weight, axis, None
    bias = bias_of(file, node.inputs[2], weight.shape[axis])
    return None if bias is None or not np.isfinite(bias).all() else (weight, axis, bias)


def _term(
    file: File, node: Node, readers: Mapping[str, Node], uses: Mapping[str, int], keep_float: Collection[str]
) -> Term | None:
    """What is added to the columns of a MatMul."""
    y = node.outputs[0]
    add = readers.get(y)
    if node.op != "MatMul" or add is None or uses[y] != 1 or add.op != "Add" or add.domain:
        return None
    if not {add.name, *add.outputs}.isdisjoint(keep_float):
        return None
    place = 1 if add.inputs[0] == y else 0
    bias = bias_of(file, add.inputs[place], file.floats(node.inputs[1]).shape[1])  # type: ignore[union-attr]
    return None if bias is None or not np.isfinite(bias).all() else Term(add, place, bias)


def after_limits(file: File, y: str, readers: Mapping[str, Node], uses: Mapping[str, int]) -> str:
    """The result of a Relu or a Clip that is the only reader of a tensor, else the tensor."""
    node = readers.get(y)
    if node is None or uses[y] != 1 or node.domain or node.op not in ("Relu", "Clip"):
        return y
    if node.op == "Clip" and not all(file.floats(name) is not None for name in node.inputs[1:] if name):
        return y
    return node.outputs[0] if node.inputs[0] == y else y
