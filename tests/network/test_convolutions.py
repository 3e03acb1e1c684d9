"""Convolutions of one to three dimensions, with weights that are known and that are computed at run time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from pysimd.network.convert import graph_of
from pysimd.network.graph import Graph
from pysimd.network.passes import simplified
from pysimd.network.runner import Runner
from pysimd.network.source import Source, SourceNode, Value
from support import Array


def _taps(kernel: Any, a: Any, size: Any) -> Iterator[tuple[Any, tuple[slice, ...]]]:
    """The places within a kernel, each with the elements that it meets: as many as size."""
    for place in np.ndindex(*kernel):
        steps = zip(place, a["dilations"], a["strides"], size)
        yield place, tuple(slice(p * d, p * d + (n - 1) * s + 1, s) for p, d, s, n in steps)


def _conv(x: Any, w: Any, a: Any) -> Any:
    before, after, g = a["pads"][: x.ndim - 2], a["pads"][x.ndim - 2 :], a["group"]
    x = np.pad(x, [(0, 0), (0, 0), *zip(before, after)]).reshape(len(x), g, -1, *(np.add(x.shape[2:], before) + after))
    spans = [(k - 1) * d + 1 for k, d in zip(w.shape[2:], a["dilations"])]
    size = [(n - span) // s + 1 for n, span, s in zip(x.shape[3:], spans, a["strides"])]
    sums: Any = 0
    for place, met in _taps(w.shape[2:], a, size):
        weight = w[(..., *place)].reshape(g, -1, w.shape[1])
        sums = sums + np.einsum("ngc...,goc->ngo...", x[(..., *met)], weight)
    return np.asarray(sums).reshape(len(x), -1, *size)


def _conv_transpose(x: Any, w: Any, a: Any) -> Any:
    size, g, more = x.shape[2:], a["group"], a["output_padding"]
    before, after = a["pads"][: len(size)], a["pads"][len(size) :]
    x = x.reshape(len(x), g, -1, *size)
    full = [(n - 1) * s + (k - 1) * d + 1 for n, s, k, d in zip(size, a["strides"], w.shape[2:], a["dilations"])]
    sums: Any = np.zeros((len(x), g, w.shape[1], *np.add(full, more)))
    for place, met in _taps(w.shape[2:], a, size):
        weight = w[(..., *place)].reshape(g, -1, w.shape[1])
        sums[(..., *met)] += np.einsum("ngc...,gco->ngo...", x, weight)
    kept = tuple(slice(low, n + m - high) for n, m, low, high in zip(full, more, before, after))
    return sums[(..., *kept)].reshape(len(x), -1, *(each.stop - each.start for each in kept))


FORMULAS = {"Conv": _conv, "ConvTranspose": _conv_transpose}


def _case(op: str, rank: int, seed: int) -> tuple[dict[str, Array], dict[str, Any]]:
    """Random inputs and attributes."""
    random = np.random.default_rng([seed, rank])

    def some(low: int, high: int) -> list[int]:
        return [int(n) for n in random.integers(low, high, rank)]

    group, (part, other), n = int(random.choice([1, 1, 2, 3])), random.integers(1, 4, 2), int(random.integers(1, 3))
    attributes: dict[str, Any] = {"group": group, "strides": some(1, 4), "dilations": some(1, 3)}
    attributes["pads"] = some(0, 3) + some(0, 3)
    if op == "ConvTranspose":
        attributes["output_padding"] = [int(random.integers(0, stride)) for stride in attributes["strides"]]
    shapes = {"x": (n, group * part, *some(5, 8)), "w": (group * part, other, *some(2, 4)), "b": (group * other,)}
    if op == "Conv":
        shapes["w"] = (group * other, part, *shapes["w"][2:])
    return {name: random.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}, attributes


def _graph(op: str, values: dict[str, Array], attributes: Any, known: str) -> Graph:
    inputs = [Value(name, "float32", None) for name in values if name not in known]
    node = SourceNode(op, tuple(values), ("y",), attributes)
    weights = {name: values[name] for name in known if name in values}
    source = Source("one", 17, inputs, [Value("y", "float32", None)], [node], weights)
    return simplified(graph_of(source, {value.name: values[value.name].shape for value in inputs}))


def _turned(array: Array, layout: str) -> Array:
    return np.ascontiguousarray(array.transpose(0, 2, 3, 1)) if layout == "nhwc" and array.ndim == 4 else array


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("op", sorted(FORMULAS))
def test_convolutions(op: str, rank: int, isa: str) -> None:
    """Weights and bias known or not; twice, with other numbers, since nothing of the first run may stay."""
    for seed in range(6):
        values, attributes = _case(op, rank, seed)
        if seed % 2:
            del values["b"]
        wide = {name: array.astype(np.float64) for name, array in values.items()}
        expected = FORMULAS[op](wide["x"], wide["w"], attributes)
        expected = expected + wide["b"].reshape(-1, *[1] * rank) if "b" in wide else expected
        for known in ("", "b", "w", "bw"):
            graph = _graph(op, values, attributes, known)
            for layout in ("nchw", "nhwc"):
                given = {name: _turned(values[name], layout) for name in graph.inputs}
                runner = Runner(graph, layout)
                runner({name: np.ones_like(array) for name, array in given.items()})
                what = f"seed {seed}, known {known!r}, {layout}"
                np.testing.assert_allclose(runner(given)["y"], _turned(expected, layout), 1e-4, 1e-4, err_msg=what)


def test_copies_of_a_runner_have_weights_of_their_own() -> None:
    values, attributes = _case("Conv", 2, 0)
    one = Runner(_graph("Conv", values, attributes, ""))
    other = one.copy()
    expected = one(values)["y"]
    doubled = {name: array * (1 if name == "x" else 2) for name, array in values.items()}
    np.testing.assert_allclose(other(doubled)["y"], expected * 2, 1e-5)
    np.testing.assert_array_equal(one(values)["y"], expected)
