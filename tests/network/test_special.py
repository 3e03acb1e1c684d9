"""NaN, infinities, zeros and denormals in inputs and constants of random models.

Graphs before passes against those after them, and against the formulas of NumPy.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pysimd
from network.passes import Net
from network.reference import computed
from pysimd.network import Graph, Runner, onnx_reader
from pysimd.network.convert import graph_of
from pysimd.network.passes import simplified
from support.special_values import SPECIAL, assert_equal, assert_same, feeds, with_special_constants

pytest.importorskip("onnx", reason="onnx, which makes the files, is not installed")

from network.random_models import random_model

SEEDS = 160
PARTS = 4
FORMULAS = 80


def random_graph(seed: int) -> Graph:
    source = onnx_reader.read(random_model(seed))
    return graph_of(source, {value.name: value.dims for value in source.inputs})  # type: ignore[misc]  # all are numbers


@pytest.mark.parametrize("part", range(PARTS))
def test_passes_with_special_inputs(part: int) -> None:
    for seed in range(part, SEEDS, PARTS):
        graph = random_graph(seed)
        assert_same(graph, simplified(graph))


@pytest.mark.parametrize("kind", [kind for kind in SPECIAL if kind != "denormals"])
def test_passes_with_special_constants(kind: str) -> None:
    """Not denormal ones: weights that they scale count as 0."""
    for seed in range(40):
        graph = with_special_constants(random_graph(seed), kind, seed)
        assert_same(graph, simplified(graph))


def test_formulas() -> None:
    """On the level without Winograd's algorithm, which spreads NaN. That of Resize is a product, with 0 * NaN."""
    with pysimd.max_isa("base"):
        for graph in map(random_graph, range(FORMULAS)):
            if all(node.operator != "Resize" for node in graph.nodes):
                runner = Runner(simplified(graph))
                for what, inputs in feeds(graph):
                    with np.errstate(all="ignore"):
                        assert_equal(computed(graph, inputs), runner(inputs), what)


def test_numbers_that_are_nan() -> None:
    """A maximum or a minimum is no function that clips; this one is all NaN, also if it is clipped then."""
    for function in ("maximum", "minimum"):
        net = Net((2, 3, 8))
        graph = net.graph(net.relu6(net.do(function, net.xs[0], np.nan)))
        assert_same(graph, simplified(graph))
        assert np.isnan(Runner(simplified(graph))({net.xs[0]: net.random(2, 3, 8)})[graph.outputs[0]]).all()


def test_slopes_of_zero() -> None:
    """max(x, 0 * x) is NaN for infinities."""
    net = Net((2, 3, 8))
    graph = net.graph(net.do("maximum", net.do("multiply", net.xs[0], 0), net.xs[0]))
    assert_same(graph, simplified(graph))


def test_zeros_of_both_signs_are_two_constants() -> None:
    net = Net((2, 3, 8))
    graph = net.graph(*(net.do("divide", net.xs[0], zero) for zero in (0.0, -0.0)))
    assert_same(graph, simplified(graph))


@pytest.mark.parametrize("function", ["maximum", "minimum"])
def test_extremes_of_parts_of_images(isa: str, function: Any) -> None:
    """Channels last, halves of pixels: NaN in either half, which a bias brings there."""
    net = Net((1, 8, 6, 6))
    bias = net.random(32)
    bias[[3, 20]] = np.nan
    image = net.conv(net.xs[0], net.random(32, 8, 1, 1), bias)
    halves = net.part(image, 0, 16), net.part(image, 16, 32)
    graph = net.graph(net.do(function, *halves), net.do(function, *halves[::-1]))
    for found in Runner(graph)({net.xs[0]: net.random(1, 8, 6, 6)}).values():
        assert np.isnan(found[0]).all((1, 2)).tolist() == [i in (3, 4) for i in range(16)]
