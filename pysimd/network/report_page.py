"""The page of a report: the time by step, the memory over the steps, and the graph before and after the passes."""

from __future__ import annotations

import platform
import re
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pysimd.infrastructure import version

if TYPE_CHECKING:
    from pysimd.network.quantize.report import QuantizeReport
    from pysimd.network.quantize.report import Row as QualityRow
    from pysimd.network.report import Report
    from pysimd.network.runner import Runner

_STYLE = """
body { font: 15px/1.4 system-ui, sans-serif; margin: 2em auto; max-width: 72em; padding: 0 1em; color: #222; }
table { border-collapse: collapse; font-size: 13px; width: 100%; }
th, td { text-align: left; padding: 2px 8px; border-bottom: 1px solid #ddd; vertical-align: top; }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.bar { background: #4a7ab5; height: 10px; display: block; }
svg { width: 100%; height: 12em; background: #f6f6f6; }
@media (prefers-color-scheme: dark) { body { background: #1b1b1b; color: #ddd; } svg { background: #262626; } }
"""


def page(runner: Runner, report: Report) -> str:
    """The page as HTML, complete in itself."""
    parts = [
        f"<p>{escape(report.summary())}</p><p>{escape(report.difference())}</p>",
        "<h2>Time by step</h2>",
        _steps(report.rows()),
        "<h2>Memory over the steps</h2>",
        f"<p>Bytes of tensors that are needed while each step runs; the block has {runner.plan.size / 1e6:.2f} MB.</p>",
        _memory(runner),
        "<h2>Operators before and after the passes</h2>",
        _operators(runner),
    ]
    return _page(runner.file or runner.graph.name, "".join(parts))


def course_page(file: str, table: str) -> str:
    """The page of a model that runs in parts, with the table of these."""
    return _page(file, f"<h2>Time by part</h2><pre>{escape(table)}</pre>")


def quality_page(file: str, report: QuantizeReport) -> str:
    """The page of a quantised model: how near each output and each tensor is to the float one."""
    parts = [
        f"<p>{escape(report.summary())}</p><h2>Outputs</h2>",
        _ratios(report.outputs),
        "<h2>Tensors, the worst first</h2>",
        "<p>The ratio of signal to noise, 20 log10(|x| / |x - x'|); each 6 dB are half of the error.</p>",
        _bars([(max(row.sqnr, 0.0), f"{row.tensor}: {row.sqnr:.1f} dB") for row in report.tensors])
        if report.tensors
        else "",
        _ratios(report.tensors),
    ]
    return _page(file, "".join(parts))


def _ratios(rows: Sequence[QualityRow]) -> str:
    number = " class='number'"
    lines = [
        _row(
            [
                (f"{row.sqnr:.1f}", number),
                (f"{row.most:.4g}", number),
                (f"{row.largest:.4g}", number),
                (escape(row.tensor), ""),
                (escape(row.node), ""),
            ]
        )
        for row in rows
    ]
    head = "".join(f"<th>{title}</th>" for title in ("SQNR dB", "max |x|", "max error", "tensor", "node of the file"))
    return f"<table><tr>{head}</tr>{''.join(lines)}</table>"


def _bars(heights: Sequence[tuple[float, str]]) -> str:
    """A picture of numbers, each with a text."""
    most, width = max((height for height, _ in heights), default=1) or 1, 100 / max(len(heights), 1)
    bars = "".join(
        f"<rect x='{i * width:.3f}' y='{100 - height / most * 95:.2f}' width='{width * 0.9:.3f}' "
        f"height='{height / most * 95:.2f}' fill='#4a7ab5'><title>{escape(text)}</title></rect>"
        for i, (height, text) in enumerate(heights)
    )
    return f"<svg viewBox='0 0 100 100' preserveAspectRatio='none'>{bars}</svg>"


def _page(file: str, body: str) -> str:
    name = escape(Path(file).name or "model")
    measured = escape(f"{time.strftime('%Y-%m-%d %H:%M %Z', time.localtime())}, {_processor()}, simdnet {version()}")
    return (
        f"<!doctype html><html lang='en'><head><meta charset='utf-8'><title>{name}, {measured}</title>"
        f"<style>{_STYLE}</style></head><body><h1>{name}</h1><p>Measured {measured}</p>{body}</body></html>\n"
    )


def _processor() -> str:
    """The name of the processor; the architecture where the system has no name for it, as on most of aarch64."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    names = re.findall(r"^model name\s*: (.*\S)", text, re.MULTILINE)
    return names[0] if names else platform.machine()


def _row(cells: Iterable[tuple[str, str]]) -> str:
    return "<tr>" + "".join(f"<td{kind}>{cell}</td>" for cell, kind in cells) + "</tr>"


def _steps(rows: Sequence[dict[str, Any]]) -> str:
    number = " class='number'"
    most = max((row["share"] for row in rows), default=1) or 1
    lines = [
        _row(
            [
                (f"{row['share'] * 100:.1f}", number),
                (f"{row['microseconds']:.1f}", number),
                (f"<span class='bar' style='width:{row['share'] / most * 12:.2f}em'></span>", ""),
                (escape(row["step"]), ""),
                (escape(row["how"]), ""),
                (f"{row['multiply_adds'] / row['microseconds'] / 1e3:.1f}" if row["multiply_adds"] else "", number),
                (f"{row['weight_bytes'] / 1e3:.0f}", number),
                (escape(", ".join(row["nodes"])), ""),
            ]
        )
        for row in rows
    ]
    titles = ("%", "us", "", "step", "how", "GMAC/s", "KB of weights", "nodes of the file")
    head = "".join(f"<th>{title}</th>" for title in titles)
    return f"<table><tr>{head}</tr>{''.join(lines)}</table>"


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
    return _bars([(height, f"{node.operator}: {height / 1e6:.2f} MB") for height, node in zip(heights, graph.nodes)])


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
