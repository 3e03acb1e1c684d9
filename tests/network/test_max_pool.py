"""MaxPool with the places of the largest elements, and of other types than float32; MaxUnpool."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from pysimd.network.convert import UnsupportedModel, graph_of
from pysimd.network.graph import Graph
from pysimd.network.passes import simplified
from pysimd.network.runner import Runner
from pysimd.network.source import Source, SourceNode, Value
from support import Array


def _graph(nodes: Sequence[SourceNode], x: Array, *outputs: str, **weights: Array) -> Graph:
    values = [Value(name, "", None) for name in outputs]
    source = Source("one", 17, [Value("x", x.dtype.name, None)], values, nodes, weights)
    return simplified(graph_of(source, {"x": x.shape}))


def _largest(x: Array, a: Any) -> tuple[Array, Array]:
    """One window after the other."""
    rank, size = x.ndim - 2, x.shape[2:]
    order: Any = "F" if a["storage_order"] else "C"
    places = np.arange(np.prod(size)).reshape(size, order=order)
    low, high, dilations, strides = a["pads"][:rank], a["pads"][rank:], a["dilations"], a["strides"]
    counts = []
    for n, k, d, s, before, after in zip(size, a["kernel_shape"], dilations, strides, low, high):
        starts = [at for at in range(-before, n + after, s) if at + (k - 1) * d < n + after]
        if a["ceil_mode"] and starts[-1] + (k - 1) * d + 1 < n + after and starts[-1] + s < n:
            starts.append(starts[-1] + s)
        counts.append(starts)
    values = np.empty((*x.shape[:2], *map(len, counts)), x.dtype)
    found = np.empty(values.shape, np.int64)
    for at in np.ndindex(*values.shape):
        window = [
            [p for p in range(starts[i], starts[i] + k * d, d) if 0 <= p < n]
            for i, starts, k, d, n in zip(at[2:], counts, a["kernel_shape"], dilations, size)
        ]
        part = x[at[:2]][np.ix_(*window)].reshape(-1)
        best = int(np.argmax(part))  # the first one, or a NaN
        values[at] = part[best]
        found[at] = places[np.ix_(*window)].reshape(-1)[best] + (at[0] * x.shape[1] + at[1]) * places.size
    return values, found


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "uint8"])
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_places_of_the_largest(rank: int, dtype: str) -> None:
    """Of many equal elements, the first one; and one NaN."""
    for seed in range(12):
        random = np.random.default_rng([rank, seed])
        kernel = [int(n) for n in random.integers(1, 4, rank)]
        attributes: dict[str, Any] = {
            "kernel_shape": kernel,
            "strides": [int(n) for n in random.integers(1, 4, rank)],
            "dilations": [int(n) for n in random.integers(1, 3, rank)],
            "pads": [int(random.integers(0, k)) if k < 3 else 1 for k in kernel * 2],
            "ceil_mode": seed % 2,
            "storage_order": seed // 2 % 2,
        }
        x = random.integers(-4, 4, (2, 3, *random.integers(5, 8, rank))).astype(dtype)
        if x.dtype.kind == "f":
            x[(1, 2, *[3] * rank)] = np.nan
        values, places = _largest(x, attributes)
        graph = _graph([SourceNode("MaxPool", ("x",), ("y", "i"), attributes)], x, "y", "i")
        if dtype != "float64" and (max(attributes["dilations"]) == 1 or not (any(attributes["pads"]) or seed % 2)):
            assert all(one.operator != "Host" for one in graph.nodes), seed
        both = Runner(graph)({"x": x})
        np.testing.assert_array_equal(both["i"], places, strict=True, err_msg=f"{seed}")
        np.testing.assert_array_equal(both["y"], values, strict=True)
        if dtype != "float32":
            one = Runner(_graph([SourceNode("MaxPool", ("x",), ("y",), attributes)], x, "y"))({"x": x})
            np.testing.assert_array_equal(one["y"], values, strict=True)


def test_the_way_back() -> None:
    """The largest elements at their places, between zeros."""
    x = np.random.default_rng(1).standard_normal((2, 3, 4, 6)).astype(np.float32)
    window = {"kernel_shape": [2, 2], "strides": [2, 2]}
    nodes = [SourceNode("MaxPool", ("x",), ("a", "i"), window), SourceNode("MaxUnpool", ("a", "i"), ("y",), window)]
    tiles = x.reshape(2, 3, 2, 2, 3, 2)
    expected = np.where(tiles == tiles.max((3, 5), keepdims=True), tiles, 0).reshape(x.shape)
    graph = _graph(nodes, x, "y")
    assert all(one.operator != "Host" for one in graph.nodes)
    np.testing.assert_array_equal(Runner(graph)({"x": x})["y"], expected)
    nodes[1] = SourceNode("MaxUnpool", ("a", "i", "s"), ("y",), window)
    np.testing.assert_array_equal(Runner(_graph(nodes, x, "y", s=np.array(x.shape)))({"x": x})["y"], expected)
    with pytest.raises(UnsupportedModel, match=r"output_shape is \[2, 3, 5, 7\], supported is \[2, 3, 4, 6\]"):
        _graph(nodes, x, "y", s=np.array([2, 3, 5, 7]))


def test_windows_that_do_not_reach_the_image() -> None:
    """Padding may be as wide as a window, which has no place then: it is the first element."""
    x = np.random.default_rng(2).standard_normal((1, 1, 4, 4)).astype(np.float32)
    attributes = {"kernel_shape": [2, 2], "pads": [2, 0, 0, 0], "strides": [2, 2]}
    found = Runner(_graph([SourceNode("MaxPool", ("x",), ("y", "i"), attributes)], x, "y", "i"))({"x": x})
    assert np.all(found["y"][0, 0, 0] == -np.inf) and np.all(found["i"][0, 0, 0] == 0)
    np.testing.assert_array_equal(found["y"][0, 0, 1:], x.reshape(2, 2, 2, 2).max((1, 3)))
