"""The page of a report: the time by step, the memory over the steps, and the graph before and after the passes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape
from math import prod
from typing import TYPE_CHECKING, Any

from pysimd.network.reports.pages import bars, page, table

if TYPE_CHECKING:
    from pysimd.network.runner import Runner


def report_page(runner: Runner, sentences: Sequence[str], rows: Sequence[dict[str, Any]]) -> str:
    """The page as HTML, complete in itself. rows : what is known of each step."""
    parts = [
        *(f"<p>{escape(sentence)}</p>" for sentence in sentences),
        "<h2>Time by step</h2>",
        _steps(rows),
        "<h2>Memory over the steps</h2>",
        f"<p>Bytes of tensors that are needed while each step runs; the block has {runner.plan.size / 1e6:.2f} MB.</p>",
        _memory(runner),
        "<h2>Operators before and after the passes</h2>",
        _operators(runner),
    ]
    return page(runner.file or runner.graph.name, "".join(parts))


def _steps(rows: Sequence[dict[str, Any]]) -> str:
    most = max((row["share"] for row in rows), default=1) or 1
    titles = ("%", "us", "", "step", "how", "GMAC/s", "KB of weights", "nodes of the file")
    return table(titles, (_cells(row, most) for row in rows))


def _cells(row: dict[str, Any], most: float) -> list[tuple[str, bool]]:
    """most : the largest share of the time that a step has."""
    return [
        (f"{row['share'] * 100:.1f}", True),
        (f"{row['microseconds']:.1f}", True),
        (f"<span class='bar' style='width:{row['share'] / most * 12:.2f}em'></span>", False),
        (escape(row["step"]), False),
        (escape(row["how"]), False),
        (f"{row['multiply_adds'] / row['microseconds'] / 1e3:.1f}" if row["multiply_adds"] else "", True),
        (f"{row['weight_bytes'] / 1e3:.0f}", True),
        (escape(", ".join(row["nodes"])), False),
    ]


def _memory(runner: Runner) -> str:
    """The bytes of tensors that are in use at each node, as bars."""
    graph, places = runner.placed, runner.plan.places
    last = {name: number for number, node in enumerate(graph.nodes) for name in (*node.given, *node.outputs)}
    last.update(dict.fromkeys((*graph.inputs, *graph.outputs), len(graph.nodes)))
    living, heights = set(graph.inputs), []
    for number, node in enumerate(graph.nodes):
        living.update(node.outputs)
        roots = {places[name].root for name in living if name in places}
        heights.append(sum(graph.types[root].nbytes for root in roots))
        living = {name for name in living if last[name] > number}
    return bars([(height, f"{node.operator}: {height / 1e6:.2f} MB") for height, node in zip(heights, graph.nodes)])


def _operators(runner: Runner) -> str:
    """How often each operator occurs in the file, in the graph, and among the steps."""
    before = Counter(runner.operators)
    graph = Counter(node.operator for node in runner.graph.nodes)
    steps = Counter(step.node.operator for step in runner.steps)
    size = sum(prod(array.shape) for array in runner.graph.constants.values())
    columns = [
        f"<h3>{title}: {sum(counts.values())}</h3><p>{_counted(counts)}</p>"
        for title, counts in (("Nodes of the file", before), ("Nodes after the passes", graph), ("Steps", steps))
        if counts
    ]
    return f"<p>{size} numbers of weights.</p>{''.join(columns)}"


def _counted(counts: Counter[str]) -> str:
    return escape(", ".join(f"{name} {count}" for name, count in counts.most_common()))
