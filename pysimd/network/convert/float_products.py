"""Products of bytes whose results are floats: in place of DequantizeLinear and a product, where no QuantizeLinear follows.

The sums are exact integers, which become floats by one scale for each output, and a bias is added to these:
f(f(sum * f(sx * sw)) + bias). Sums of floats would have an error of each addition.

Small weights are left in floats, and those of windows, whose pixels would be copied for each place of a window: they are not
slower there.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import prod
from typing import Any

import numpy as np

from pysimd.network.convert.group_parts import DEQUANTIZE, LINEAR, PRODUCTS, Parts
from pysimd.network.records import replace
from pysimd.network.source import Source, SourceNode, needed

_FEWEST, _FEWEST_WEIGHTS = 32, 64 * 64  # inputs and outputs, and their product


def with_float_products(source: Source, given: Collection[str], fallback: Mapping[str, Any]) -> Source:
    """The source with products of bytes in place of those of their floats. given, fallback : as of a conversion."""
    if not any(node.op == DEQUANTIZE for node in source.nodes) or not fallback.keys().isdisjoint(LINEAR):
        return source
    parts, nodes = _FloatProducts(source, given, fallback), []
    for node in source.nodes:
        nodes.append(parts.of(node) or node)
    if not parts.found:
        return source
    return needed(replace(source, nodes=nodes, weights={**source.weights, **parts.new}))


class _FloatProducts(Parts):
    """found : how many there are."""

    found = 0

    def of(self, node: SourceNode) -> SourceNode | None:
        """The product of bytes in place of a node; None for another one."""
        if node.op not in PRODUCTS or not self.is_usual(node) or len(node.outputs) != 1:
            return None
        bias = node.inputs[2] if len(node.inputs) > 2 else ""
        made = self._convolution(node, bias) if node.op == "Conv" else self.matrices(node, bias, node.outputs[0])
        if made is None or self.has_function(made) or not self._is_large(made):
            return None
        self.found += 1
        return replace(made, attributes={**made.attributes, "may_be_floats": 1})

    def _is_large(self, made: SourceNode) -> bool:
        name = made.inputs[1]
        shape = (self.new[name] if name in self.new else self.constant(name)).shape  # type: ignore[union-attr]
        large = min(shape[:2]) >= _FEWEST and shape[0] * shape[1] >= _FEWEST_WEIGHTS
        return large and prod(shape[2:]) == 1

    def _convolution(self, node: SourceNode, bias: str) -> SourceNode | None:
        """A ConvInteger with scales and a bias: of one group, as others are slower than floats."""
        begin, weight = self.activation(node.inputs[0]), self.weight(node.inputs[1], 0)
        value = self.floats(bias) if bias else None
        if begin is None or weight is None or (bias and value is None) or node.attributes.get("group", 1) != 1:
            return None
        if self.is_of_volumes(node, weight[0]):
            return None
        of_weight: Any = self.constant(weight[0].inputs[0])
        if value is not None and value.shape != of_weight.shape[:1]:
            return None
        name = node.outputs[0]
        scale = f"{name} scale"
        self.new[scale] = np.asarray(self.of_tensor(begin)[0] * weight[1], np.float32)  # type: ignore[index]
        more = []
        if value is not None:
            more = [f"{name} bias"]
            self.new[more[0]] = value
        (x, _, zx), (w, _, zw) = begin.inputs[:3], [*weight[0].inputs, ""][:3]
        return replace(node, op="ConvInteger", domain="", inputs=(x, w, zx, zw, scale, *more))
