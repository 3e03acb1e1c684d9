"""Tables of bytes in the layers before them: the same bits, one step less, and only where nothing else reads the bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from network.test_run_time import LAYER, QUANTIZED, STEPS, TABLE, integers
from pysimd.network import Builder, Graph, Runner
from pysimd.network.passes import simplified
from support import Array

CONV = {**LAYER, **QUANTIZED, "pads": (1, 1, 1, 1)}


class Net(Builder):
    """A graph of bytes under construction."""

    def __init__(self, *shape: int) -> None:
        super().__init__("bytes")
        self.x = self.input(shape, "uint8")

    def conv(self, x: str, group: int = 1) -> str:  # type: ignore[override]
        weight = self.constant(integers(5, self.shape(x)[1] // group, 3, 3))
        given = self.constant(STEPS), self.constant(integers(5))
        return self.add("QuantizedConv", x, weight, *given, **CONV | {"group": group})

    def linear(self, x: str) -> str:
        weight = self.constant(integers(self.shape(x)[-1], 5))
        return self.add("QuantizedLinear", x, weight, self.constant(STEPS), **QUANTIZED)

    def table(self, x: str, dtype: str = "uint8", values: Array = TABLE) -> str:
        return self.add("Table8", x, self.constant(values), dtype=dtype)


def checked(net: Net, *outputs: str) -> list[str]:
    """The operators of the simplified graph, whose runner gives the bits of the other one, node by node."""
    graph = net.graph(*outputs)
    made = simplified(graph)
    shape = graph.types[net.x].shape
    x = {net.x: np.random.default_rng(5).integers(0, 256, shape, np.uint8)}
    expected, found = Runner(graph)(x), Runner(made)(x)
    for name in outputs:
        assert found[name].dtype == expected[name].dtype
        np.testing.assert_array_equal(found[name], expected[name])
    assert made.types[outputs[0]] == graph.types[outputs[0]]
    return sorted(node.operator for node in made.nodes)


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize("group", [1, 5])
def test_convolutions(isa: str, dtype: str, group: int) -> None:
    net = Net(2, 5, 6, 7)
    assert checked(net, net.table(net.conv(net.x, group), dtype)) == ["QuantizedConv"]


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_products(isa: str, dtype: str) -> None:
    net = Net(3, 4, 5)
    assert checked(net, net.table(net.linear(net.x), dtype)) == ["QuantizedLinear"]


def test_one_after_the_other() -> None:
    net = Net(1, 5, 8, 8)
    y = net.table(net.conv(net.table(net.conv(net.x))))
    assert checked(net, y) == ["QuantizedConv", "QuantizedConv"]


def test_a_second_table_stays() -> None:
    net = Net(1, 5, 8, 8)
    y = net.add("MaxPool", net.table(net.conv(net.x)), kernel=(2, 2), strides=(2, 2), pads=(0, 0, 0, 0), ceil=False)
    assert checked(net, net.table(y, values=TABLE[::-1].copy())) == ["MaxPool", "QuantizedConv", "Table8"]


def _others() -> Sequence[Any]:
    def twice(net: Net, y: str) -> tuple[str, ...]:
        return net.table(y), net.table(y, values=TABLE[::-1].copy())

    def output(net: Net, y: str) -> tuple[str, ...]:
        return net.table(y), y

    return [twice, output]


@pytest.mark.parametrize("others", _others())
def test_bytes_that_others_read(others: Any) -> None:
    net = Net(1, 5, 8, 8)
    outputs = others(net, net.conv(net.x))
    assert checked(net, *outputs) == ["QuantizedConv", *["Table8"] * (2 if others.__name__ == "twice" else 1)]


def test_parts_of_a_concat(isa: str) -> None:
    """They are written where the Concat has them: no step copies them."""
    net = Net(1, 5, 8, 8)
    parts = [net.table(net.conv(net.x)) for _ in range(2)]
    y = net.conv(net.add("Concat", *parts, axis=1))
    assert checked(net, y) == ["Concat", "QuantizedConv", "QuantizedConv", "QuantizedConv"]


def test_it_is_no_step() -> None:
    """The report names it."""
    net = Net(1, 5, 8, 8)
    graph: Graph = simplified(net.graph(net.table(net.conv(net.x))))
    assert "+ table" in str(Runner(graph).report())
