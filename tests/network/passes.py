"""Graphs for the tests of passes, and the check that a pass changes no results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from network.reference import computed, inputs_of
from pysimd.annotations import Array
from pysimd.network import Builder, Graph, Node, Runner
from pysimd.network.operators import IDENTITY
from pysimd.network.passes import simplified
from support.special_values import assert_same

RELU = ("relu", ())


class Net(Builder):
    """A graph under construction, with random weights and short names of what exporters write."""

    def __init__(self, *shapes: tuple[int, ...]) -> None:
        super().__init__("pass")
        self.rng = np.random.default_rng(3)
        self.xs = [self.input(shape) for shape in shapes]

    def random(self, *shape: int) -> Array:
        """Weights."""
        return self.rng.uniform(-1, 1, shape).astype(np.float32)

    def do(self, function: str, *operands: Any) -> str:
        """A function of two tensors, of which one may be a number or an array."""
        rank = max(len(self.shape(x)) for x in operands if isinstance(x, str))
        return self.add("Binary", *(self._named(x, rank) for x in operands), function=function, activation=IDENTITY)

    def _named(self, x: Any, rank: int) -> str:
        if isinstance(x, str):
            return x
        array = np.asarray(x, np.float32)
        return self.constant(array.reshape((1,) * (rank - array.ndim) + array.shape))

    def layer(self, x: str, outputs: int, kernel: int = 1, **options: Any) -> str:
        """A convolution."""
        part = self.shape(x)[1] // options.get("group", 1)
        return self.conv(x, self.random(outputs, part, kernel, kernel), self.random(outputs), **options)

    def depthwise(self, x: str, kernel: int = 3, **options: Any) -> str:
        """A depthwise convolution with padding."""
        c = self.shape(x)[1]
        return self.layer(x, c, kernel, padding=kernel // 2, group=c, **options)

    def linear(self, x: str, outputs: int) -> str:
        """A fully connected layer without bias."""
        weight = self.constant(self.random(self.shape(x)[-1], outputs))
        return self.add("Linear", x, weight, activation=IDENTITY, order="add")

    def reshape(self, x: str, *shape: int) -> str:
        return self.add("Reshape", x, shape=shape)

    def transpose(self, x: str, *perm: int) -> str:
        return self.add("Transpose", x, perm=perm)

    def reduce(self, x: str, function: str, *axes: int) -> str:
        return self.add("Reduce", x, function=function, axes=axes, keepdims=True)

    def relu6(self, x: str) -> str:
        return self.clip(x, 0.0, 6.0)


def checked(graph: Graph, *operators: str, error: float = 1e-6, special: bool = True) -> list[Node]:
    """The nodes after all passes, whose operators and results are as expected; the library computes them, too.

    special : also results of NaN and infinities.
    """
    after = simplified(graph)
    assert [node.operator for node in after.nodes] == list(operators)
    inputs = inputs_of(graph)
    before, found, run = computed(graph, inputs), computed(after, inputs), Runner(after)(inputs)
    for name, exact in before.items():
        size = np.abs(exact).max()
        assert size > 0
        assert np.abs(found[name] - exact).max() <= error * size
        assert np.abs(run[name] - exact).max() <= (error + 1e-5) * size
    if special:
        assert_same(graph, after)
    return list(after.nodes)


def only(graph: Graph, operator: str, error: float = 1e-6, special: bool = True) -> Node:
    """The one node after all passes."""
    (node,) = checked(graph, operator, error=error, special=special)
    return node


def unary(graph: Graph) -> tuple[str, Any]:
    """The one function after all passes, with its parameters."""
    node = only(graph, "Unary", 3e-6)
    return node.attributes["function"], pytest.approx(node.attributes["params"], rel=1e-5)


def batch_norm(net: Net, x: str) -> str:
    """A batch normalization, with random weights."""
    c = net.shape(x)[1]
    return net.add("Scale", x, net.constant(net.random(c) + 2), net.constant(net.random(c)), axis=1, activation=IDENTITY)
