"""Groups of DequantizeLinear, an operator and QuantizeLinear in place of one quantised operator, before the conversion.

A group has the formula of the operator that takes bytes: QLinearConv, QLinearMatMul, QGemm, QLinearAdd, QLinearMul,
QLinearGlobalAveragePool, QLinearReduceMean. Between it and its QuantizeLinear may be an Add of a bias, one function that
limits, and nodes that only move elements, which then move bytes. Products whose results are floats are those of
:mod:`pysimd.network.convert.float_products`; so is a product of matrices with a bias of floats, before the same
QuantizeLinear. A bias of a convolution that is no integer in units of the sums is rounded to one, if a unit is small beside
a step of the result. Functions of one byte, and other moves of bytes, are those of
:mod:`pysimd.network.convert.tables`. All else is computed in float, as the file has it: weights that are computed, scales of
channels of an image.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from pysimd.annotations import Array
from pysimd.network.convert.group_parts import DEQUANTIZE, LIMITS, LINEAR, PRODUCTS, QUANTIZE, Parts, is_linear
from pysimd.network.records import replace
from pysimd.network.source import Source, SourceNode, needed

_LARGEST_BIAS = 1 << 30
_PAIRS = {"Add": "QLinearAdd", "Mul": "QLinearMul"}
_MEANS = {"GlobalAveragePool": "QLinearGlobalAveragePool", "ReduceMean": "QLinearReduceMean"}
_MOVES = ("Flatten", "Reshape", "Squeeze", "Transpose", "Unsqueeze")


def grouped(source: Source, given: Collection[str], fallback: Mapping[str, Any]) -> Source:
    """The source with quantised operators in place of groups.

    given : the weights that are inputs. fallback : operators that Python functions compute, which stay.
    """
    if not any(node.op == QUANTIZE for node in source.nodes) or not fallback.keys().isdisjoint(LINEAR):
        return source
    groups = _Groups(source, given, fallback)
    return groups.result() if groups.found else source


class _Groups(Parts):
    """The groups of a source.

    found : the nodes in place of a QuantizeLinear that ends a group, by its output.
    """

    def __init__(self, source: Source, given: Collection[str], fallback: Mapping[str, Any]) -> None:
        super().__init__(source, given, fallback)
        self._source = source
        self._users = Counter(name for node in source.nodes for name in node.reads)
        self._users.update(value.name for value in source.outputs)
        self.found: dict[str, list[SourceNode]] = {}
        for node in source.nodes:
            if is_linear(node, QUANTIZE) and self.of_tensor(node) is not None:
                made = self._group(node)
                if made:
                    self.found[node.outputs[0]] = made

    def result(self) -> Source:
        """The source without what no output needs any more."""
        nodes = [new for node in self._source.nodes for new in self.found.get(node.outputs[0], [node])]
        return needed(replace(self._source, nodes=nodes, weights={**self._source.weights, **self.new}))

    # ---- groups

    def _group(self, end: SourceNode) -> list[SourceNode]:
        """The nodes in place of a QuantizeLinear; none if it ends no group."""
        node, limits = self._only(end.inputs[0]), (-np.inf, np.inf)
        moves: list[SourceNode] = []
        while node is not None and node.op in _MOVES and self.is_usual(node):
            moves.insert(0, node)
            node = self._only(node.inputs[0])
        if node is not None and node.op in ("Relu", "Clip") and self.is_usual(node):
            found = self._clip(node)
            if found is None:
                return []
            limits, node = found, self._only(node.inputs[0])
        if node is None or not self.is_usual(node) or len(node.outputs) != 1:
            return []
        y = f"{end.outputs[0]}@before moves" if moves else end.outputs[0]
        last = replace(end, outputs=(y,))
        made = self._layer(node, last)
        if not made or any(map(self.has_function, made)):
            return []
        return [*self._limited(made, last, limits), *_moved(moves, y, end)]

    def _only(self, name: str) -> SourceNode | None:
        """The node of a tensor that nothing else reads."""
        return self.makers.get(name) if self._users[name] == 1 else None

    def _clip(self, node: SourceNode) -> tuple[float, float] | None:
        if node.op == "Relu":
            return 0.0, np.inf
        if len(node.inputs) == 1:  # before opset 11
            return float(node.attributes.get("min", -np.inf)), float(node.attributes.get("max", np.inf))
        bounds = []
        for i, default in ((1, -np.inf), (2, np.inf)):
            value = self.constant(node.inputs[i]) if i < len(node.inputs) and node.inputs[i] else np.array(default)
            if value is None or value.size != 1:
                return None
            bounds.append(float(value.reshape(())))
        return (bounds[0], bounds[1]) if bounds[0] <= bounds[1] else None

    def _limited(self, made: Sequence[SourceNode], end: SourceNode, limits: tuple[float, float]) -> list[SourceNode]:
        """With limits in bytes: rounding keeps the order."""
        scale, zero = self.of_tensor(end)  # type: ignore[misc]
        least, most = LIMITS[zero.dtype.name]
        nodes, (y,) = list(made), made[-1].outputs
        for op, limit, end_of_type in (("Max", limits[0], least), ("Min", limits[1], most)):
            with np.errstate(over="ignore"):
                byte = float(np.clip(np.rint(np.float32(limit) / scale) + float(zero), least, most))
            if byte == end_of_type:
                continue
            bound, part = f"{y}@{op}", f"{y}@before {op}"
            self.new[bound] = np.array(byte, zero.dtype)
            nodes[-1] = replace(nodes[-1], outputs=(part,))
            nodes.append(SourceNode(op, (part, bound), (y,), {}, made[0].name))
        return nodes

    def _layer(self, node: SourceNode, end: SourceNode) -> list[SourceNode]:
        """The nodes in place of one and of its QuantizeLinear, of which all but the last have one reader; or none."""
        if node.op in _MEANS:
            made = self._mean(node, end)
        elif node.op in PRODUCTS:
            made = self._product(node, end)
            if made is None and node.op == "Gemm" and len(node.inputs) > 2:
                return self._with_floats(node, node.inputs[2], end)
        elif node.op in _PAIRS and len(node.inputs) == 2:
            found = self._sum_of_columns(node, end) if node.op == "Add" else []
            if found:
                return found
            made = self._pair(node, end)
        else:
            made = None
        return [] if made is None else [made]

    def _pair(self, node: SourceNode, end: SourceNode) -> SourceNode | None:
        begins = [self.activation(name) for name in node.inputs]
        return self._of_bytes(_PAIRS[node.op], node, begins, end)

    def _mean(self, node: SourceNode, end: SourceNode) -> SourceNode | None:
        made = self._of_bytes(_MEANS[node.op], node, [self.activation(node.inputs[0])], end)
        if made is None or len(node.inputs) == 1:
            return made
        axes = self.constant(node.inputs[1])  # from opset 18 on
        if axes is None:
            return None
        return replace(made, attributes={**node.attributes, "axes": tuple(axes.reshape(-1).tolist())})

    def _of_bytes(
        self, op: str, node: SourceNode, begins: Sequence[SourceNode | None], end: SourceNode
    ) -> SourceNode | None:
        """An operator whose inputs, which have one scale each, and result are of one type of bytes."""
        kinds = {self.of_tensor(each)[1].dtype for each in (*begins, end) if each is not None}  # type: ignore[index]
        if None in begins or len(kinds) != 1:
            return None
        of_x = [name for each in begins if each is not None for name in each.inputs[:3]]
        inputs = (*of_x, *end.inputs[1:3])
        return SourceNode(op, inputs, end.outputs, node.attributes, node.name, "com.microsoft")

    def _sum_of_columns(self, node: SourceNode, end: SourceNode) -> list[SourceNode]:
        """A product of matrices, and what is added to its columns, as one product with a bias."""
        for name, bias in (node.inputs, node.inputs[::-1]):
            product = self._only(name)
            if product is not None and product.op == "MatMul" and self.is_usual(product):
                made = self._product(replace(product, inputs=(*product.inputs, bias)), end)
                return self._with_floats(product, bias, end) if made is None else [made]
        return []

    def _with_floats(self, node: SourceNode, bias: str, end: SourceNode) -> list[SourceNode]:
        """A product of matrices whose bias is floats: saturated(nearest(f(f(f(sum * f(sx * sw)) + bias) / sy)) + zy)."""
        sums = f"{end.outputs[0]}@floats"
        product = self.matrices(node, bias, sums)
        return [] if product is None else [product, replace(end, inputs=(sums, *end.inputs[1:]))]

    def _product(self, node: SourceNode, end: SourceNode) -> SourceNode | None:
        a = node.attributes
        axis = {"Conv": 0, "MatMul": -1, "Gemm": 0 if a.get("transB", 0) else 1}[node.op]
        begin, weight = self.activation(node.inputs[0]), self.weight(node.inputs[1], axis)
        if node.op == "MatMul" and weight is None and len(node.inputs) == 2:
            return self._of_computed(node, begin, self.activation(node.inputs[1]), end)
        if (
            begin is None
            or weight is None
            or self.is_of_volumes(node, weight[0])
            or (node.op == "Gemm" and (a.get("alpha", 1.0), a.get("beta", 1.0)) != (1.0, 1.0))
        ):
            return None
        bias = node.inputs[2] if len(node.inputs) > 2 else ""
        sums = self._bias(bias, begin, weight[1]) if bias else ""
        if sums is None and node.op == "Conv":
            sums = self._rounded(bias, begin, weight, end)
        if sums is None:
            return None
        of_weight = (*weight[0].inputs, "")[:3]
        y, last = end.inputs[1:3], (sums,) if sums else ()
        inputs: Sequence[str] = (*begin.inputs[:3], *of_weight, *y, *last)
        if node.op == "Gemm":
            inputs = (*begin.inputs[:3], *of_weight, sums, *y)
        domain = "com.microsoft" if node.op == "Gemm" else ""
        return SourceNode(PRODUCTS[node.op], tuple(inputs), end.outputs, a, node.name, domain)

    def _of_computed(
        self, node: SourceNode, begin: SourceNode | None, other: SourceNode | None, end: SourceNode
    ) -> SourceNode | None:
        """A product of two matrices that are computed."""
        if begin is None or other is None:
            return None
        inputs = (*begin.inputs[:3], *other.inputs[:3], *end.inputs[1:3])
        return SourceNode("QLinearMatMul", inputs, end.outputs, node.attributes, node.name)

    def _bias(self, name: str, begin: SourceNode, of_weight: Array) -> str | None:
        """The integers of a bias in units of the sums; None for another one."""
        node = self.makers.get(name)
        if node is None or not is_linear(node, DEQUANTIZE):
            return None
        value, scale = (self.constant(each) for each in node.inputs[:2])
        zero = self.constant(node.inputs[2]) if len(node.inputs) > 2 and node.inputs[2] else np.zeros(())
        if value is None or scale is None or zero is None or value.dtype != np.int32 or zero.any() or value.ndim != 1:
            return None
        expected = self.of_tensor(begin)[0].astype(np.float64) * of_weight  # type: ignore[index]
        if scale.size not in (1, value.size) or expected.size not in (1, value.size):
            return None
        return node.inputs[0] if np.allclose(scale.reshape(-1), expected.reshape(-1), 1e-6, 0) else None

    def _rounded(self, name: str, begin: SourceNode, weight: tuple[SourceNode, Array], end: SourceNode) -> str | None:
        """The nearest integers of a bias of floats, if half a unit of the sums is at most 1/256 of a step of the result."""
        value, outputs = self.floats(name), len(self.constant(weight[0].inputs[0]))  # type: ignore[arg-type]
        if value is None or value.shape != (outputs,):
            return None
        unit = self.of_tensor(begin)[0].astype(np.float64) * weight[1].reshape(-1)  # type: ignore[index]
        integers = np.rint(value / unit)
        step = float(self.of_tensor(end)[0])  # type: ignore[index]
        if (unit > step / 128).any() or not (abs(integers) <= _LARGEST_BIAS).all():
            return None
        rounded = f"{end.outputs[0]}@bias"
        self.new[rounded] = integers.astype(np.int32)
        return rounded


def _moved(moves: Sequence[SourceNode], x: str, end: SourceNode) -> list[SourceNode]:
    """The moves of bytes, one after the other, in place of those of floats."""
    found: list[SourceNode] = []
    for i, node in enumerate(moves):
        y = end.outputs[0] if i == len(moves) - 1 else f"{end.outputs[0]}@move {i}"
        found.append(replace(node, inputs=(x, *node.inputs[1:]), outputs=(y,)))
        x = y
    return found
