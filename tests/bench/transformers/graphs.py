"""Graph networks: rows of nodes are gathered along edges and added at their ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bench.transformers.blocks import linear
from bench.transformers.writer import Writer

_NODES, _EDGES = 2708, 10556  # of Cora


def _edges(w: Writer) -> tuple[str, str]:
    return tuple(w.constant(w.integers(_NODES, _EDGES), "int64") for _ in range(2))  # type: ignore[return-value]


def _added(w: Writer, messages: str, ends: str, width: int) -> str:
    """PyTorch's scatter_add: the ends are expanded to the messages."""
    index = w.add("Expand", w.add("Unsqueeze", ends, w.ints(1)), w.ints(_EDGES, width))
    return w.add("ScatterElements", w.constant(np.zeros((_NODES, width))), index, messages, axis=0, reduction="add")


def gcn(width: int = 64, layers: int = 3) -> Any:
    w = Writer()
    x, (begins, ends) = w.input("x", (_NODES, 128)), _edges(w)
    weight = w.constant(np.abs(w.integers(8, _EDGES, 1)) / 8)
    for i in range(layers):
        y = linear(w, x, width if i else 128, width, False)
        y = _added(w, w.add("Mul", w.add("Gather", y, begins, axis=0), weight), ends, width)
        x = w.add("Relu", w.add("Add", y, w.vector(width)))
    w.output(x)
    return w.model()


def gin(width: int = 64, layers: int = 3) -> Any:
    """index_add, written as ScatterND of whole rows."""
    w = Writer()
    x, (begins, ends) = w.input("x", (_NODES, width)), _edges(w)
    zeros, rows = w.constant(np.zeros((_NODES, width))), w.add("Unsqueeze", ends, w.ints(1))
    for _ in range(layers):
        y = w.add("ScatterND", zeros, rows, w.add("Gather", x, begins, axis=0), reduction="add")
        y = w.add("Add", w.number("Mul", x, 1.1), y)
        x = w.add("Relu", linear(w, w.add("Relu", linear(w, y, width, width)), width, width))
    w.output(x)
    return w.model()


def sage(width: int = 64, layers: int = 3) -> Any:
    """The mean of neighbours: sums and counts."""
    w = Writer()
    x, (begins, ends) = w.input("x", (_NODES, width)), _edges(w)
    for _ in range(layers):
        sums = _added(w, w.add("Gather", x, begins, axis=0), ends, width)
        counts = _added(w, w.constant(np.ones((_EDGES, 1))), ends, 1)
        mean = w.add("Div", sums, w.number("Max", counts, 1))
        x = w.add("Relu", w.add("Add", linear(w, mean, width, width), linear(w, x, width, width, False)))
    w.output(x)
    return w.model()


def gat(heads: int = 8, size: int = 8, layers: int = 2) -> Any:
    """A softmax over the edges that end in a node."""
    w, width = Writer(), heads * size
    x, (begins, ends) = w.input("x", (_NODES, width)), _edges(w)
    for _ in range(layers):
        y = linear(w, x, width, width, False)
        three = w.reshape(y, _NODES, heads, size)
        marks = [w.add("ReduceSum", w.add("Mul", three, w.weight(1, heads, size)), w.ints(-1), keepdims=0) for _ in range(2)]
        scores = w.add("Add", *(w.add("Gather", m, e, axis=0) for m, e in zip(marks, (begins, ends))))
        index = w.add("Expand", w.add("Unsqueeze", ends, w.ints(1)), w.ints(_EDGES, heads))
        scores, low = w.add("LeakyRelu", scores, alpha=0.2), w.constant(np.full((_NODES, heads), -1e30))
        most = w.add("ScatterElements", low, index, scores, axis=0, reduction="max")
        shares = w.add("Exp", w.add("Sub", scores, w.add("Gather", most, ends, axis=0)))
        sums = w.add("Gather", _added(w, shares, ends, heads), ends, axis=0)
        shares = w.add("Unsqueeze", w.add("Div", shares, w.number("Add", sums, 1e-16)), w.ints(2))
        messages = w.add("Mul", w.add("Gather", three, begins, axis=0), shares)
        y = _added(w, w.reshape(messages, _EDGES, width), ends, width)
        x = w.add("Elu", w.add("Add", y, w.vector(width)))
    w.output(x)
    return w.model()


MODELS: Mapping[str, Callable[[], Any]] = {"graph-gcn": gcn, "graph-gin": gin, "graph-sage": sage, "graph-gat": gat}
