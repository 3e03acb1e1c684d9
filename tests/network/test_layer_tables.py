"""Tables and sums of bytes in the layers before them: the same bits, a step less, only where nothing else reads these."""

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

    def sum(self, *names: str) -> str:
        low = 128 if self._types[names[0]].dtype == "int8" else 0
        zeros = 3 - low, 250 - low, 77 - low
        return self.add("QuantizedBinary", *names, function="add", scales=(0.31, 0.11, 0.27), zeros=zeros)


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


# ---- sums


def _layer(net: Net, kind: str, x: str) -> str:
    return net.linear(x) if kind == "QuantizedLinear" else net.conv(x, 5 if kind == "depthwise" else 1)


@pytest.mark.parametrize("kind", ["QuantizedConv", "depthwise", "QuantizedLinear"])
@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("tables", ["", "before", "before int8", "after", "after int8"])
def test_sums(isa: str, kind: str, place: int, tables: str) -> None:
    """With the input of the layer, as either operand; a table before or after is in the layer, too."""
    net = Net(2, 5, 6, 5) if kind != "QuantizedLinear" else Net(3, 4, 5)
    dtype = "int8" if "int8" in tables else "uint8"
    y, x = _layer(net, kind, net.x), net.x
    if tables.startswith("before"):
        y, x = net.table(y, dtype), net.table(x, dtype)
    y = net.sum(*((y, x) if place == 0 else (x, y)))
    y = net.table(y, dtype) if tables.startswith("after") else y
    others = ["Table8"] if tables.startswith("before") else []
    assert checked(net, y) == [kind if kind != "depthwise" else "QuantizedConv", *others]


def test_a_residual_network(isa: str) -> None:
    """The last layer adds; of two layers one that has no table does, and takes the table of the sum."""
    net = Net(1, 5, 8, 8)
    y = net.x
    for _ in range(2):
        y = net.table(net.sum(net.conv(net.table(net.conv(y))), y))
    y = net.table(net.sum(net.table(net.conv(y)), net.conv(y)))
    assert checked(net, y) == ["QuantizedConv"] * 6


def test_a_table_on_either_side_of_a_sum(isa: str) -> None:
    """A layer has one of them."""
    net = Net(1, 5, 8, 8)
    y = net.table(net.sum(net.table(net.conv(net.x)), net.x), values=TABLE[::-1].copy())
    assert checked(net, y) == ["QuantizedConv", "Table8"]


def test_sums_that_stay() -> None:
    """Of a tensor with itself, with a broadcast one, and of what others read; products."""
    net = Net(1, 5, 8, 8)
    y = net.conv(net.x)
    assert checked(net, net.sum(y, y)) == ["QuantizedBinary", "QuantizedConv"]
    assert checked(net, net.sum(y, net.x), y) == ["QuantizedBinary", "QuantizedConv"]
    one = net.constant(np.full((1, 5, 1, 1), 9, np.uint8))
    assert checked(net, net.sum(net.conv(net.x), one)) == ["QuantizedBinary", "QuantizedConv"]
    numbers = {"scales": (0.1, 0.1, 0.1), "zeros": (0, 1, 2)}
    product = net.add("QuantizedBinary", net.conv(net.x), net.x, function="multiply", **numbers)
    assert checked(net, product) == ["QuantizedBinary", "QuantizedConv"]


def test_a_sum_in_a_concat(isa: str) -> None:
    """What is added and the result may be channels of larger arrays."""
    net = Net(1, 5, 8, 8)
    parts = [net.conv(net.x), net.table(net.conv(net.x))]
    both = net.add("Concat", *parts, axis=1)
    y = net.add("Concat", net.sum(net.conv(both), parts[0]), parts[1], axis=1)
    assert checked(net, net.conv(y)) == ["Concat", "Concat", *["QuantizedConv"] * 4]


def test_a_sum_is_no_step() -> None:
    net = Net(1, 5, 8, 8)
    graph: Graph = simplified(net.graph(net.sum(net.conv(net.x), net.x)))
    assert "+ addition" in str(Runner(graph).report())
