"""Attention as one node: two products with a softmax between them.

    MatMul(Softmax(MatMul(q, k) * s + bias), v)

in the ways of exporters: the scores are multiplied by a number, or divided; the bias, a mask or one of positions, may be
missing. Numbers that multiply queries or keys, which are fewer than scores, are left to other passes: most become weights.
Before that, a mask for each window, which Swin adds to scores of another shape, joins the bias.
"""

from __future__ import annotations

import numpy as np

from pysimd.annotations import Array
from pysimd.network.graph import Graph, Node
from pysimd.network.open_arrays import is_array
from pysimd.network.passes.patterns import Parameters, is_plain, made, parameter, replacement, with_number
from pysimd.network.passes.rewrite import Change, starts_from


@starts_from("Reshape", needs=("Softmax",))
def masked_windows(graph: Graph, node: Node) -> Change | None:
    """softmax(reshape(reshape(scores + bias) + mask)), both constant: scores + (bias + mask)."""
    shape, user = graph.shape(node.output), graph.user(node.output)
    masked = _constant_sum(graph, node.inputs[0])
    if user is None or user.operator != "Softmax" or masked is None:
        return None
    addition, name, mask = masked
    split = made(graph, name, "Reshape")
    if split is None or graph.user(name) is None or graph.shape(name) != (1, *shape):
        return None
    biased = _constant_sum(graph, split.inputs[0])
    if biased is None or graph.shape(split.inputs[0]) != shape or mask.ndim != 1 + len(shape):
        return None
    parameters = Parameters(graph, node.output)
    bias = parameters.add("B", biased[2] + mask[0])
    return replacement([node, addition, split, biased[0]], "Binary", (biased[1], bias), addition.attributes, parameters)


def _constant_sum(graph: Graph, name: str) -> tuple[Node, str, Array] | None:
    """An addition of floats to a tensor of its shape, if nothing else reads it: the node, the tensor and the floats."""
    node = made(graph, name, "Binary", "add")
    if node is None or graph.user(name) is None:
        return None
    for place, x in enumerate(node.inputs):
        other = parameter(graph, node, 1 - place)
        if isinstance(other, np.ndarray) and other.dtype == np.float32 and graph.shape(x) == graph.shape(name):
            return node, x, other
    return None


class _Scores:
    """The steps from the softmax back to the product of queries and keys."""

    def __init__(self, graph: Graph) -> None:
        self.graph, self.nodes = graph, list[Node]()
        self.bias, self.scale = "", 1.0

    def only(self, name: str, operator: str) -> Node | None:
        """The producer of a tensor that nothing else reads."""
        node = made(self.graph, name, operator)
        if node is None or self.graph.user(name) is None:
            return None
        self.nodes.append(node)
        return node

    def unbiased(self, name: str) -> str:
        """The scores before the bias, if there is one."""
        node, shape = self.graph.producer(name), self.graph.shape(name)
        if node is None or node.operator != "Binary" or node.attributes["function"] != "add" or not is_plain(node):
            return name
        for scores, bias in (node.inputs, node.inputs[::-1]):
            fits = self.graph.shape(scores) == shape and self.graph.shape(bias)[-1] == shape[-1]
            if fits and self._is_scores(scores) and self.only(name, "Binary") is not None:
                self.bias = bias
                return str(scores)
        return name

    def _is_scores(self, name: str) -> bool:
        """Whether a tensor is a product, perhaps with a number."""
        found = with_number(self.graph, self.graph.producer(name))
        node = self.graph.producer(name if found is None else found[0])
        return node is not None and node.operator == "MatMul"

    def unscaled(self, name: str) -> str:
        """The scores before their product with a number."""
        node = self.graph.producer(name)
        found = with_number(self.graph, node)
        if node is None or found is None or is_array(found[1]) or self.graph.user(name) is None:
            return name
        x, value, first = found
        function = node.attributes["function"]
        if function == "multiply":
            self.scale *= value
        elif function == "divide" and not first and value != 0:
            self.scale /= value
        else:
            return name
        self.nodes.append(node)
        return x


@starts_from("MatMul", needs=("Softmax",))
def attention(graph: Graph, node: Node) -> Change | None:
    """The pattern, from its second product back."""
    shares, v = node.inputs
    steps = _Scores(graph)
    softmax = steps.only(shares, "Softmax")
    if softmax is None or softmax.attributes["log"] or v in graph.constants:
        return None
    name, shape = softmax.inputs[0], graph.shape(shares)
    if softmax.attributes["axis"] % len(shape) != len(shape) - 1 or graph.user(name) is None:
        return None
    name = steps.unscaled(steps.unbiased(name))
    product = steps.only(name, "MatMul")
    if product is None or graph.shape(name) != shape or not _is_worth_it(graph, product, node):
        return None
    inputs = (*product.inputs, v, steps.bias) if steps.bias else (*product.inputs, v)
    return replacement([node, *steps.nodes], "Attention", inputs, {"scale": float(steps.scale)})


def _is_worth_it(graph: Graph, product: Node, node: Node) -> bool:
    """Whether there are as many heads in both products, and keys that are computed."""
    shape = graph.shape(product.output)
    return product.inputs[1] not in graph.constants and graph.shape(node.output)[:-2] == shape[:-2]


MATCHES = (masked_windows, attention)
