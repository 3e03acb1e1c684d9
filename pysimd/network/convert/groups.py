"""Groups of DequantizeLinear, an operator and QuantizeLinear in place of one quantised operator, before the conversion.

A group has the formula of the operator that takes bytes: QLinearConv, QLinearMatMul, QGemm, QLinearAdd, QLinearMul,
QLinearGlobalAveragePool, QLinearReduceMean. Between it and its QuantizeLinear may be an Add of a bias, one function that
limits, and nodes that only move elements, which then move bytes. A product of matrices with a bias of floats is
MatMulIntegerToFloat before the same QuantizeLinear. Functions of one byte, and other moves of bytes, are those
of :mod:`pysimd.network.convert.tables`. All else is computed in float, as the file has it: weights that are computed, biases
of convolutions with other scales than those of the sums, scales of channels of an image.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from pysimd.annotations import Array
from pysimd.network.convert.float8 import SMALL_FLOATS
from pysimd.network.convert.fold_node import OF_BITS
from pysimd.network.records import replace
from pysimd.network.source import Source, SourceNode, needed, reads

_QUANTIZE, _DEQUANTIZE, _DOMAINS = "QuantizeLinear", "DequantizeLinear", ("", "ai.onnx", "com.microsoft")
_PREFIXES = ("ai.onnx.", "com.microsoft.")
_LIMITS = {"uint8": (0, 255), "int8": (-128, 127)}
_PRODUCTS = {"Conv": "QLinearConv", "MatMul": "QLinearMatMul", "Gemm": "QGemm"}
_PAIRS = {"Add": "QLinearAdd", "Mul": "QLinearMul"}
_MEANS = {"GlobalAveragePool": "QLinearGlobalAveragePool", "ReduceMean": "QLinearReduceMean"}
_MOVES = ("Flatten", "Reshape", "Squeeze", "Transpose", "Unsqueeze")


def grouped(source: Source, given: Collection[str], fallback: Mapping[str, Any]) -> Source:
    """The source with quantised operators in place of groups.

    given : the weights that are inputs. fallback : operators that Python functions compute, which stay.
    """
    names = (f"{domain}{op}" for op in (_QUANTIZE, _DEQUANTIZE) for domain in ("", *_PREFIXES))
    if not any(node.op == _QUANTIZE for node in source.nodes) or not fallback.keys().isdisjoint(names):
        return source
    groups = _Groups(source, given, fallback)
    return groups.result() if groups.found else source


class _Groups:
    """The groups of a source.

    found : the nodes in place of a QuantizeLinear that ends a group, by its output.
    """

    def __init__(self, source: Source, given: Collection[str], fallback: Mapping[str, Any]) -> None:
        self._source, self._given, self._fallback = source, given, fallback
        self._makers = {name: node for node in source.nodes for name in node.outputs}
        self._users = Counter(name for node in source.nodes for name in reads(node))
        self._users.update(value.name for value in source.outputs)
        self._new: dict[str, Array] = {}
        self.found: dict[str, list[SourceNode]] = {}
        for node in source.nodes:
            if _is(node, _QUANTIZE) and self._of_tensor(node) is not None:
                made = self._group(node)
                if made:
                    self.found[node.outputs[0]] = made

    def result(self) -> Source:
        """The source without what no output needs any more."""
        nodes = [new for node in self._source.nodes for new in self.found.get(node.outputs[0], [node])]
        return needed(replace(self._source, nodes=nodes, weights={**self._source.weights, **self._new}))

    # ---- what is known

    def _constant(self, name: str) -> Array | None:
        if name in self._source.weights and name not in self._given:
            return np.asarray(self._source.weights[name])
        node = self._makers.get(name)
        value = node.attributes.get("value") if node is not None and node.op == "Constant" else None
        return None if value is None else np.asarray(value)

    def _of_tensor(self, node: SourceNode) -> tuple[Array, Array] | None:
        """The scale and the zero of a QuantizeLinear or a DequantizeLinear, if there is one of each, of bytes."""
        a = node.attributes
        others = a.get("output_dtype", 0) in (*OF_BITS, *SMALL_FLOATS)
        if len(node.inputs) < 3 or not node.inputs[2] or a.get("block_size", 0) or others:
            return None
        scale, zero = (self._constant(name) for name in node.inputs[1:3])
        if scale is None or zero is None or scale.size != 1 or zero.size != 1 or max(scale.ndim, zero.ndim) > 1:
            return None
        usual = scale.dtype == np.float32 and 0 < float(scale.reshape(())) < np.inf and zero.dtype.name in _LIMITS
        return (scale.reshape(()), zero.reshape(())) if usual else None

    def _activation(self, name: str) -> SourceNode | None:
        """The DequantizeLinear of a tensor with one scale."""
        node = self._makers.get(name)
        found = node is not None and _is(node, _DEQUANTIZE) and self._of_tensor(node) is not None
        return node if found else None

    def _weight(self, name: str, axis: int) -> tuple[SourceNode, Array] | None:
        """The DequantizeLinear of constant bytes, and the scales, one for all or one along an axis."""
        node = self._makers.get(name)
        if node is None or not _is(node, _DEQUANTIZE) or node.attributes.get("block_size", 0):
            return None
        weight, scale = (self._constant(each) for each in node.inputs[:2])
        if weight is None or scale is None or weight.dtype.name not in _LIMITS or scale.dtype != np.float32:
            return None
        zero = self._constant(node.inputs[2]) if len(node.inputs) > 2 and node.inputs[2] else np.zeros((), weight.dtype)
        own = int(node.attributes.get("axis", 1))
        along = scale.size == 1 or (scale.ndim == 1 and own % weight.ndim == axis % weight.ndim)
        right = zero is not None and zero.dtype == weight.dtype and zero.size in (1, scale.size)
        right = right and along and bool((scale > 0).all()) and bool(np.isfinite(scale).all()) and weight.ndim > 1
        return (node, scale) if right else None

    # ---- groups

    def _group(self, end: SourceNode) -> list[SourceNode]:
        """The nodes in place of a QuantizeLinear; none if it ends no group."""
        node, limits = self._only(end.inputs[0]), (-np.inf, np.inf)
        moves: list[SourceNode] = []
        while node is not None and node.op in _MOVES and self._is_usual(node):
            moves.insert(0, node)
            node = self._only(node.inputs[0])
        if node is not None and node.op in ("Relu", "Clip") and self._is_usual(node):
            found = self._clip(node)
            if found is None:
                return []
            limits, node = found, self._only(node.inputs[0])
        if node is None or not self._is_usual(node) or len(node.outputs) != 1:
            return []
        y = f"{end.outputs[0]}@before moves" if moves else end.outputs[0]
        last = replace(end, outputs=(y,))
        made = self._layer(node, last)
        if not made or any(map(self._has_function, made)):
            return []
        return [*self._limited(made, last, limits), *_moved(moves, y, end)]

    def _is_usual(self, node: SourceNode) -> bool:
        """Whether a node is of ONNX, and no function of the user computes it."""
        return node.domain in ("", "ai.onnx") and not self._has_function(node)

    def _has_function(self, node: SourceNode) -> bool:
        names = (f"{node.domain}.{node.op}",) if node.domain == "com.microsoft" else (node.op, f"ai.onnx.{node.op}")
        return not self._fallback.keys().isdisjoint(names)

    def _only(self, name: str) -> SourceNode | None:
        """The node of a tensor that nothing else reads."""
        return self._makers.get(name) if self._users[name] == 1 else None

    def _clip(self, node: SourceNode) -> tuple[float, float] | None:
        if node.op == "Relu":
            return 0.0, np.inf
        if len(node.inputs) == 1:  # before opset 11
            return float(node.attributes.get("min", -np.inf)), float(node.attributes.get("max", np.inf))
        bounds = []
        for i, default in ((1, -np.inf), (2, np.inf)):
            value = self._constant(node.inputs[i]) if i < len(node.inputs) and node.inputs[i] else np.array(default)
            if value is None or value.size != 1:
                return None
            bounds.append(float(value.reshape(())))
        return (bounds[0], bounds[1]) if bounds[0] <= bounds[1] else None

    def _limited(self, made: Sequence[SourceNode], end: SourceNode, limits: tuple[float, float]) -> list[SourceNode]:
        """With limits in bytes: rounding keeps the order."""
        scale, zero = self._of_tensor(end)  # type: ignore[misc]
        least, most = _LIMITS[zero.dtype.name]
        nodes, (y,) = list(made), made[-1].outputs
        for op, limit, end_of_type in (("Max", limits[0], least), ("Min", limits[1], most)):
            with np.errstate(over="ignore"):
                byte = float(np.clip(np.rint(np.float32(limit) / scale) + float(zero), least, most))
            if byte == end_of_type:
                continue
            bound, part = f"{y}@{op}", f"{y}@before {op}"
            self._new[bound] = np.array(byte, zero.dtype)
            nodes[-1] = replace(nodes[-1], outputs=(part,))
            nodes.append(SourceNode(op, (part, bound), (y,), {}, made[0].name))
        return nodes

    def _layer(self, node: SourceNode, end: SourceNode) -> list[SourceNode]:
        """The nodes in place of one and of its QuantizeLinear, of which all but the last have one reader; or none."""
        if node.op in _MEANS:
            made = self._mean(node, end)
        elif node.op in _PRODUCTS:
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
        begins = [self._activation(name) for name in node.inputs]
        return self._of_bytes(_PAIRS[node.op], node, begins, end)

    def _mean(self, node: SourceNode, end: SourceNode) -> SourceNode | None:
        made = self._of_bytes(_MEANS[node.op], node, [self._activation(node.inputs[0])], end)
        if made is None or len(node.inputs) == 1:
            return made
        axes = self._constant(node.inputs[1])  # from opset 18 on
        if axes is None:
            return None
        return replace(made, attributes={**node.attributes, "axes": tuple(axes.reshape(-1).tolist())})

    def _of_bytes(
        self, op: str, node: SourceNode, begins: Sequence[SourceNode | None], end: SourceNode
    ) -> SourceNode | None:
        """An operator whose inputs, which have one scale each, and result are of one type of bytes."""
        kinds = {self._of_tensor(each)[1].dtype for each in (*begins, end) if each is not None}  # type: ignore[index]
        if None in begins or len(kinds) != 1:
            return None
        of_x = [name for each in begins if each is not None for name in each.inputs[:3]]
        inputs = (*of_x, *end.inputs[1:3])
        return SourceNode(op, inputs, end.outputs, node.attributes, node.name, "com.microsoft")

    def _sum_of_columns(self, node: SourceNode, end: SourceNode) -> list[SourceNode]:
        """A product of matrices, and what is added to its columns, as one product with a bias."""
        for name, bias in (node.inputs, node.inputs[::-1]):
            product = self._only(name)
            if product is not None and product.op == "MatMul" and self._is_usual(product):
                made = self._product(replace(product, inputs=(*product.inputs, bias)), end)
                return self._with_floats(product, bias, end) if made is None else [made]
        return []

    def _with_floats(self, node: SourceNode, bias: str, end: SourceNode) -> list[SourceNode]:
        """A product of matrices whose bias is floats: saturated(nearest(f(f(f(sum * f(sx * sw)) + bias) / sy)) + zy)."""
        a = node.attributes
        turned, value = bool(a.get("transB", 0)), self._constant(bias)
        begin, weight = self._activation(node.inputs[0]), self._weight(node.inputs[1], 0 if turned else -1)
        usual = (a.get("alpha", 1.0), a.get("beta", 1.0), a.get("transA", 0)) == (1.0, 1.0, 0)
        if begin is None or weight is None or value is None or value.dtype != np.float32 or not usual:
            return []
        matrix: Any = self._constant(weight[0].inputs[0])
        columns = matrix.shape[0 if turned else -1]
        dimensions = (1, 2) if node.op == "Gemm" else (1,)  # more would be more of the result
        if matrix.ndim != 2 or value.ndim not in dimensions or value.shape[-1:] != (columns,) or value.size != columns:
            return []
        of_weight, sums = [*weight[0].inputs, ""][:3], f"{end.outputs[0]}@floats"
        if value.ndim > 1:
            bias = f"{sums} bias"
            self._new[bias] = value.reshape(-1)
        if turned:
            of_weight[0] = f"{sums} weight"
            self._new[of_weight[0]] = np.ascontiguousarray(matrix.T)
        (x, sx, zx), (w, sw, zw) = begin.inputs[:3], of_weight
        product = SourceNode("MatMulIntegerToFloat", (x, w, sx, sw, zx, zw, bias), (sums,), {}, node.name, "com.microsoft")
        return [product, replace(end, inputs=(sums, *end.inputs[1:]))]

    def _product(self, node: SourceNode, end: SourceNode) -> SourceNode | None:
        a = node.attributes
        axis = {"Conv": 0, "MatMul": -1, "Gemm": 0 if a.get("transB", 0) else 1}[node.op]
        begin, weight = self._activation(node.inputs[0]), self._weight(node.inputs[1], axis)
        if (
            begin is None
            or weight is None
            or (node.op == "Gemm" and (a.get("alpha", 1.0), a.get("beta", 1.0)) != (1.0, 1.0))
        ):
            return None
        bias = node.inputs[2] if len(node.inputs) > 2 else ""
        sums = self._bias(bias, begin, weight[1]) if bias else ""
        if sums is None:
            return None
        of_weight = (*weight[0].inputs, "")[:3]
        y, last = end.inputs[1:3], (sums,) if sums else ()
        inputs: Sequence[str] = (*begin.inputs[:3], *of_weight, *y, *last)
        if node.op == "Gemm":
            inputs = (*begin.inputs[:3], *of_weight, sums, *y)
        domain = "com.microsoft" if node.op == "Gemm" else ""
        return SourceNode(_PRODUCTS[node.op], tuple(inputs), end.outputs, a, node.name, domain)

    def _bias(self, name: str, begin: SourceNode, of_weight: Array) -> str | None:
        """The integers of a bias in units of the sums; None for another one."""
        node = self._makers.get(name)
        if node is None or not _is(node, _DEQUANTIZE):
            return None
        value, scale = (self._constant(each) for each in node.inputs[:2])
        zero = self._constant(node.inputs[2]) if len(node.inputs) > 2 and node.inputs[2] else np.zeros(())
        if value is None or scale is None or zero is None or value.dtype != np.int32 or zero.any() or value.ndim != 1:
            return None
        expected = self._of_tensor(begin)[0].astype(np.float64) * of_weight  # type: ignore[index]
        if scale.size not in (1, value.size) or expected.size not in (1, value.size):
            return None
        return node.inputs[0] if np.allclose(scale.reshape(-1), expected.reshape(-1), 1e-6, 0) else None


def _moved(moves: Sequence[SourceNode], x: str, end: SourceNode) -> list[SourceNode]:
    """The moves of bytes, one after the other, in place of those of floats."""
    found: list[SourceNode] = []
    for i, node in enumerate(moves):
        y = end.outputs[0] if i == len(moves) - 1 else f"{end.outputs[0]}@move {i}"
        found.append(replace(node, inputs=(x, *node.inputs[1:]), outputs=(y,)))
        x = y
    return found


def _is(node: SourceNode, op: str) -> bool:
    return node.op == op and node.domain in _DOMAINS
