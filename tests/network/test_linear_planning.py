"""Planning takes time in proportion to the nodes.

Nothing is timed: lines that run are counted, for n and for 2 n parts of a model, in each function by itself. So a loop over
all nodes for each node is seen where it is still a small part of the whole.
"""

from __future__ import annotations

import gc
import sys
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np
import pytest

import pysimd.network
from pysimd.annotations import Array, Shape
from pysimd.network import memory
from pysimd.network.convert import graph_of
from pysimd.network.graph import Graph, Node
from pysimd.network.layouts import placed
from pysimd.network.memory import plan_of
from pysimd.network.model import Model
from pysimd.network.passes import affine, rewrite, simplified, tiny
from pysimd.network.planning import uncollected
from pysimd.network.records import replace
from pysimd.network.source import Source, SourceNode, Value, in_order

_FOLDER = str(Path(pysimd.network.__file__).parent)
_MOST = 3.0  # times the lines for twice the parts, 4 where they grow with the square; trees have one more level
_FEW = 2_000  # lines of a function that may run for any reason: names of many nodes that one node computes, for example


class _Sample:
    """A model of equal parts."""

    def __init__(self, **shapes: Shape) -> None:
        self.shapes = shapes
        self.nodes: list[SourceNode] = []
        self.weights: dict[str, Array] = {}
        self.outputs: list[str] = []

    def weight(self, *shape: int) -> str:
        """Weights of a new name."""
        name = f"w{len(self.weights)}"
        self.weights[name] = np.linspace(-1, 1, int(np.prod(shape)), dtype=np.float32).reshape(shape)
        return name

    def whole(self, *numbers: int) -> str:
        """A constant of integers."""
        name = f"i{len(self.weights)}"
        self.weights[name] = np.array(numbers)
        return name

    def add(self, op: str, *inputs: str, **attributes: Any) -> str:
        """A node."""
        self.nodes.append(SourceNode(op, inputs, (f"t{len(self.nodes)}",), attributes))
        return self.nodes[-1].outputs[0]

    def source(self) -> Source:
        inputs = [Value(name, "float32", shape) for name, shape in self.shapes.items()]
        outputs = [Value(name, "float32", None) for name in self.outputs]
        return in_order(Source("sample", 17, inputs, outputs, self.nodes, self.weights))

    def graph(self) -> Graph:
        """The graph as it is converted."""
        return graph_of(self.source(), self.shapes)

    def plan(self) -> None:
        """All that is done before contexts are made."""
        plan_of(placed(simplified(self.graph())))


def _chain(n: int) -> _Sample:
    """Functions of all kinds in sequence."""
    model = _Sample(x=(8, 8))
    bound, factors, x = model.weight(1), model.weight(8), "x"
    for _ in range(n):
        x = model.add("Add", model.add("Exp", x), factors)
        x = model.add("Transpose", model.add("Transpose", x, perm=[1, 0]), perm=[1, 0])
        x = model.add("Max", model.add("Min", x, bound), model.add("Sub", x, "x"))
        x = model.add("Softmax", model.add("Transpose", x, perm=[1, 0]), axis=-1)
    model.outputs = [x]
    return model


def _residual(n: int) -> _Sample:
    """Residual blocks of two convolutions, with normalizations as exporters write them."""
    model, x = _Sample(x=(1, 4, 6, 6)), "x"
    for _ in range(n):
        y = model.add("Conv", x, model.weight(4, 4, 3, 3), pads=[1] * 4)
        y = model.add("Relu", model.add("Mul", y, model.weight(1, 4, 1, 1)))
        y = model.add("Conv", y, model.weight(4, 4, 3, 3), model.weight(4), pads=[1] * 4)
        x = model.add("Relu", model.add("Add", y, x))
    model.outputs = [x]
    return model


def _unrolled(n: int) -> _Sample:
    """Steps with common weights, each of one row of x; their results are joined, and read again in reverse order."""
    model, state, rows = _Sample(x=(n, 4), h=(1, 4)), "h", []
    step, own, axis = model.weight(4, 4), model.weight(4, 4), model.whole(0)
    for i in range(n):
        row = model.add("Slice", "x", model.whole(i), model.whole(i + 1), axis)
        both = model.add("Add", model.add("MatMul", row, step), model.add("MatMul", state, own))
        state = model.add("Mul", model.add("Sigmoid", both), model.add("Tanh", both))
        rows.append(state)
    joined = model.add("Concat", *rows, axis=0)
    last = rows[0]
    for row in rows[::-1]:  # so that all of them are in use at the same time
        last = model.add("Max", last, model.add("Exp", row))
    model.outputs = [joined, last]
    return model


def _outputs(n: int) -> _Sample:
    """A tree whose leaves are outputs, and inputs of one Concat."""
    model = _Sample(x=(1, 4))
    model.outputs = [model.add("Sin", model.add("Exp", "x" if i < 2 else f"t{2 * (i // 2) - 1}")) for i in range(n)]
    model.outputs.append(model.add("Concat", *model.outputs, axis=1))
    return model


def _lifted(n: int) -> _Sample:
    """Sums of tensors of another shape, and functions after them: each change of a pass makes the next one possible."""
    model = _Sample(x=(1, 4, 4, 4))
    shape, bound = model.whole(4, 16), model.weight(1)
    total = model.add("Reshape", model.add("Conv", "x", model.weight(4, 4, 1, 1)), shape)
    part = model.add("Exp", "x")
    for _ in range(n):
        part = model.add("Sin", part)
        total = model.add("Add", total, model.add("Reshape", part, shape))
    for i in range(n):
        total = model.add("Transpose", total, perm=[1, 0])
        total = model.add("Max" if i % 2 else "Min", total, bound)
    model.outputs = [total]
    return model


def _lines(function: Callable[[], Any]) -> Counter[str]:
    """The lines of the network package that run, by function; of a comprehension, each round is one."""
    counts: Counter[CodeType] = Counter()

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        counts[frame.f_code] += event == "line"
        return trace

    def enter(frame: FrameType, event: str, argument: Any) -> Any:
        return trace if frame.f_code.co_filename.startswith(_FOLDER) else None

    before = sys.gettrace()
    sys.settrace(enter)
    try:
        function()
    finally:
        sys.settrace(before)
    found: Counter[str] = Counter()
    for code, count in counts.items():
        found[f"{Path(code.co_filename).name}:{code.co_firstlineno} {code.co_name}"] += count
    return found


@pytest.mark.parametrize("sample", [_chain, _residual, _unrolled, _outputs, _lifted])
def test_planning_is_linear(sample: Callable[[int], _Sample], monkeypatch: pytest.MonkeyPatch) -> None:
    n = 24
    monkeypatch.setattr(memory, "_FEW", 0)  # of few roots, all are compared
    sample(2).plan()
    small, large = (_lines(sample(count).plan) for count in (n, 2 * n))
    assert sum(large.values()) > 10_000
    more = {name: (small[name], count) for name, count in large.items() if count > max(_MOST * small[name], _FEW)}
    assert not more, f"lines for {n} parts, and for twice as many: {more}"


@pytest.mark.parametrize("sample", [_chain, _residual, _lifted])
def test_few_changes_are_those_of_walks_over_all_nodes(
    sample: Callable[[int], _Sample], monkeypatch: pytest.MonkeyPatch
) -> None:
    graph, found = sample(9).graph(), []
    for many in (0, 1 << 40):  # never a walk over all nodes after a change, and always one
        monkeypatch.setattr(rewrite, "_MANY", many)
        after = simplified(graph)
        nodes = [(node.operator, node.inputs, node.outputs, str(node.attributes), node.origin) for node in after.nodes]
        found.append((nodes, after.types, list(after.constants)))
    assert found[0] == found[1]


# ---- what is done once


def test_each_line_is_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Patterns ask again and again what a node computes, in each walk and for each of its neighbours."""
    found: list[Any] = []
    line_of = affine._line_of

    def counted(graph: Graph, node: Node) -> Any:
        found.append(node)
        return line_of(graph, node)

    monkeypatch.setattr(affine, "_line_of", counted)
    simplified(_residual(8).graph())
    assert len(found) > 20 and len(set(found)) == len(found)


def test_nodes_in_order_stay_where_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nearly all files have them in order, for which no heap is needed; others are sorted."""
    source = _residual(6).source()
    sorted_again = in_order(replace(source, nodes=source.nodes[::-1]))
    calls: list[Any] = []
    monkeypatch.setattr("heapq.heappop", calls.append)
    names = [node.outputs for node in source.nodes]
    assert [node.outputs for node in in_order(source).nodes] == names and not calls
    assert [node.outputs for node in sorted_again.nodes] == names


_TINY = np.float32(1e-31)


@pytest.mark.parametrize("size", [1, 100, tiny._PART, tiny._PART + 1, 3 * tiny._PART + 5])
@pytest.mark.parametrize("special", [(), (0.0,), (_TINY,), (-_TINY, 0.0), (np.nan,), (np.nan, _TINY), (np.inf, _TINY)])
def test_tiny_weights_are_found_as_by_comparing_all(size: int, special: tuple[float, ...]) -> None:
    random = np.random.default_rng(size)
    array = random.uniform(0.5, 2, size).astype(np.float32)
    array[random.permutation(size)[: len(special)]] = special[:size]
    limit = np.float32(1e-30 * min(1.0, float(np.abs(array).max())))
    expected = np.where(np.abs(array) < limit, np.float32(0), array) if limit == limit else array
    np.testing.assert_array_equal(tiny.without_tiny(array), expected, strict=True)


# ---- collections of garbage


def test_no_collections_while_a_model_is_planned() -> None:
    """Objects of a plan stay: collections walked them again and again, 44% of the time of large models."""
    source = _residual(150).source()
    assert gc.isenabled()
    before = [each["collections"] for each in gc.get_stats()]
    Model(source).prepare()
    after = [each["collections"] for each in gc.get_stats()]
    assert gc.isenabled() and sum(after) - sum(before) <= 2


@pytest.mark.parametrize("enabled", [True, False])
def test_collections_go_on_as_before(enabled: bool) -> None:
    """After blocks inside each other, in two threads, and after an exception."""
    was = gc.isenabled()
    (gc.enable if enabled else gc.disable)()
    entered, done = threading.Event(), threading.Event()

    def other() -> None:
        with uncollected():
            entered.set()
            done.wait(60)

    thread = threading.Thread(target=other)
    try:
        with pytest.raises(KeyError), uncollected(), uncollected():
            thread.start()
            entered.wait(60)
            raise KeyError
        assert not gc.isenabled()  # the other thread has not finished
        done.set()
        thread.join()
        assert gc.isenabled() == enabled
    finally:
        done.set()
        (gc.enable if was else gc.disable)()


def test_places_of_few_roots_are_those_of_many(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    for count in (0, 1, 2, 5, 30, 100):
        born = rng.integers(0, 2 * count + 1, count).tolist()
        lives = {f"t{i}": (first, first + int(rng.integers(0, 9))) for i, first in enumerate(born)}
        sizes = {name: int(rng.integers(0, 5000)) for name in lives}
        few = memory.packed_roots(lives, sizes)
        monkeypatch.setattr(memory, "_FEW", -1)
        assert few == memory.packed_roots(lives, sizes)
        monkeypatch.undo()
