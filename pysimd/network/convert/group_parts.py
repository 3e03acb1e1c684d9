"""What is known of the nodes of a source that quantised operators take the place of."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from pysimd.annotations import Array
from pysimd.network.convert.float8 import SMALL_FLOATS
from pysimd.network.convert.fold_node import OF_BITS
from pysimd.network.source import Source, SourceNode

QUANTIZE, DEQUANTIZE, _DOMAINS = "QuantizeLinear", "DequantizeLinear", ("", "ai.onnx", "com.microsoft")
#: The names of both, as functions of the user may have them.
LINEAR = tuple(f"{domain}{op}" for op in (QUANTIZE, DEQUANTIZE) for domain in ("", "ai.onnx.", "com.microsoft."))
LIMITS = {"uint8": (0, 255), "int8": (-128, 127)}
PRODUCTS = {"Conv": "QLinearConv", "MatMul": "QLinearMatMul", "Gemm": "QGemm"}


class Parts:
    """The nodes and the constants of a source.

    makers : the node of each tensor. new : weights that new nodes need.
    """

    def __init__(self, source: Source, given: Collection[str], fallback: Mapping[str, Any]) -> None:
        self._weights, self._given, self._fallback = source.weights, given, fallback
        self.makers = {name: node for node in source.nodes for name in node.outputs}
        self.new: dict[str, Array] = {}

    def constant(self, name: str) -> Array | None:
        """The array of a weight or of a Constant."""
        if name in self._weights and name not in self._given:
            return np.asarray(self._weights[name])
        node = self.makers.get(name)
        value = node.attributes.get("value") if node is not None and node.op == "Constant" else None
        return None if value is None else np.asarray(value)

    def of_tensor(self, node: SourceNode) -> tuple[Array, Array] | None:
        """The scale and the zero of a QuantizeLinear or a DequantizeLinear, if there is one of each, of bytes."""
        a = node.attributes
        others = a.get("output_dtype", 0) in (*OF_BITS, *SMALL_FLOATS)
        if len(node.inputs) < 3 or not node.inputs[2] or a.get("block_size", 0) or others:
            return None
        scale, zero = (self.constant(name) for name in node.inputs[1:3])
        if scale is None or zero is None or scale.size != 1 or zero.size != 1 or max(scale.ndim, zero.ndim) > 1:
            return None
        usual = scale.dtype == np.float32 and 0 < float(scale.reshape(())) < np.inf and zero.dtype.name in LIMITS
        return (scale.reshape(()), zero.reshape(())) if usual else None

    def activation(self, name: str) -> SourceNode | None:
        """The DequantizeLinear of a tensor with one scale."""
        node = self.makers.get(name)
        found = node is not None and is_linear(node, DEQUANTIZE) and self.of_tensor(node) is not None
        return node if found else None

    def weight(self, name: str, axis: int) -> tuple[SourceNode, Array] | None:
        """The DequantizeLinear of constant bytes, and the scales, one for all or one along an axis."""
        node = self.makers.get(name)
        if node is None or not is_linear(node, DEQUANTIZE) or node.attributes.get("block_size", 0):
            return None
        weight, scale = (self.constant(each) for each in node.inputs[:2])
        if weight is None or scale is None or weight.dtype.name not in LIMITS or scale.dtype != np.float32:
            return None
        zero = self.constant(node.inputs[2]) if len(node.inputs) > 2 and node.inputs[2] else np.zeros((), weight.dtype)
        own = int(node.attributes.get("axis", 1))
        along = scale.size == 1 or (scale.ndim == 1 and own % weight.ndim == axis % weight.ndim)
        right = zero is not None and zero.dtype == weight.dtype and zero.size in (1, scale.size)
        right = right and along and bool((scale > 0).all()) and bool(np.isfinite(scale).all()) and weight.ndim > 1
        return (node, scale) if right else None

    def is_of_volumes(self, node: SourceNode, weight: SourceNode) -> bool:
        """Whether a node is a convolution of more than two dimensions, which no operator of bytes computes.

        weight : the DequantizeLinear of its weights.
        """
        found = self.constant(weight.inputs[0])
        return node.op == "Conv" and found is not None and found.ndim > 4

    def is_usual(self, node: SourceNode) -> bool:
        """Whether a node is of ONNX, and no function of the user computes it."""
        return node.domain in ("", "ai.onnx") and not self.has_function(node)

    def has_function(self, node: SourceNode) -> bool:
        """Whether a function of the user computes it."""
        names = (f"{node.domain}.{node.op}",) if node.domain == "com.microsoft" else (node.op, f"ai.onnx.{node.op}")
        return not self._fallback.keys().isdisjoint(names)

    def floats(self, name: str) -> Array | None:
        """A bias as floats: constants, or integers in units of one scale or of one for each of them."""
        value = self.constant(name)
        if value is not None:
            return value if value.dtype == np.float32 else None
        node = self.makers.get(name)
        if node is None or not is_linear(node, DEQUANTIZE) or node.attributes.get("block_size", 0):
            return None
        parts = [self.constant(each) if each else None for each in (*node.inputs, "")[:3]]
        value, scale, zero = parts
        if value is None or scale is None or (zero is None and any(node.inputs[2:])):
            return None
        usual = value.dtype == np.int32 and scale.dtype == np.float32 and value.ndim == 1
        if not usual or scale.size not in (1, value.size) or (zero is not None and zero.any()):
            return None
        return np.asarray(value.astype(np.float32) * scale.reshape(-1), np.float32)

    def matrices(self, node: SourceNode, bias: str, y: str) -> SourceNode | None:
        """A product of matrices whose result is floats, f(f(sum * f(sx * sw)) + bias); None for another one.

        bias : its name, or "" for none. y : the name of the result.
        """
        a = node.attributes
        turned, value = bool(a.get("transB", 0)), self.floats(bias) if bias else None
        begin, weight = self.activation(node.inputs[0]), self.weight(node.inputs[1], 0 if turned else -1)
        usual = (a.get("alpha", 1.0), a.get("beta", 1.0), a.get("transA", 0)) == (1.0, 1.0, 0)
        if begin is None or weight is None or (bias and value is None) or not usual:
            return None
        matrix: Any = self.constant(weight[0].inputs[0])
        columns = matrix.shape[0 if turned else -1]
        dimensions = (1, 2) if node.op == "Gemm" else (1,)  # more would be more of the result
        fits = value is None or (value.ndim in dimensions and value.shape[-1:] == (columns,) and value.size == columns)
        if matrix.ndim != 2 or not fits:
            return None
        of_weight = [*weight[0].inputs, ""][:3]
        if value is not None:
            bias = f"{y} bias"
            self.new[bias] = value.reshape(-1)
        if turned:
            of_weight[0] = f"{y} weight"
            self.new[of_weight[0]] = np.ascontiguousarray(matrix.T)
        (x, sx, zx), (w, sw, zw) = begin.inputs[:3], of_weight
        return SourceNode("MatMulIntegerToFloat", (x, w, sx, sw, zx, zw, bias), (y,), {}, node.name, "com.microsoft")


def is_linear(node: SourceNode, op: str) -> bool:
    """Whether a node is a QuantizeLinear, or a DequantizeLinear."""
    return node.op == op and node.domain in _DOMAINS
