"""The report of a model's time: its steps, what each computes and how, and its share of the time."""

from __future__ import annotations

import statistics
import time
from math import prod
from typing import TYPE_CHECKING, Any

from pysimd.errors import printable
from pysimd.infrastructure import active_isa, get_num_threads
from pysimd.network.graph import Graph, Node, Type
from pysimd.network.memory import memory_text
from pysimd.network.operators import ADDED, ADDING, SUMMED, TABLE, sides_of

if TYPE_CHECKING:
    from pysimd.network.runner import Runner

_SECONDS = 0.3  # of measured passes
_MUCH = 1.2  # the larger of two times over the smaller
_SUM, MEDIAN_OF_RUNS = "sum of the medians of steps", "median of whole runs"


def described(graph: Graph, node: Node) -> str:
    """A node of a graph of stored tensors, for people: the shape of its input, and what is done with it."""
    a: Any = node.attributes
    shape = "x".join(map(str, _image(graph.types[node.inputs[0]], a))) if node.inputs else ""
    words = shape, *_WORDS.get(node.operator, _plain)(graph, node), _activation(a), _addition(node), _table(node)
    return " ".join(filter(None, words))


def _image(of: Type, attributes: Any) -> tuple[int, ...]:
    """The shape without the batch, that of an image as (C, H, W)."""
    shape = of.shape[1:] if len(of.shape) > 1 else of.shape
    return (shape[-1], *shape[:-1]) if attributes.get("layout") == "nhwc" and len(shape) == 3 else shape


def _activation(a: Any) -> str:
    name: str = a.get("activation", ("identity",))[0]
    return "" if name == "identity" else name


def _table(node: Node) -> str:
    return "+ table" if node.operator in ("QuantizedConv", "QuantizedLinear") and any(node.inputs[TABLE:SUMMED]) else ""


def _addition(node: Node) -> str:
    place = ADDED if node.operator in ADDING else SUMMED if node.operator.startswith("Quantized") else len(node.inputs)
    has = any(node.inputs[place:])
    return "+ addition" if has or node.attributes.get("residual") else ""


def _window(kernel: Any, a: Any) -> str:
    dilated = f" d{a['dilations'][0]}" if a.get("dilations", (1, 1)) != (1, 1) else ""
    return f"{kernel[0]}x{kernel[1]} s{a['strides'][0]}{dilated}"


def _convolution(graph: Graph, node: Node) -> list[str]:
    a: Any = node.attributes
    o, part, *kernel = graph.shape(node.inputs[1])
    if a["group"] == o > 1 and part == 1:
        return ["depthwise", _window(kernel, a)]
    if node.operator.endswith("ConvTranspose"):
        return ["->", str(part * a["group"]), _window(kernel, a), "transposed"]
    return ["->", str(o), _window(kernel, a), f"groups {a['group']}" * (a["group"] > 1)]


def _merged(graph: Graph, node: Node) -> list[str]:
    stages: Any = node.attributes["stages"]
    words = []
    for stage, weight in zip(stages, node.inputs[1::2]):
        o, _, *kernel = graph.shape(weight)
        words.append(f"{'depthwise' if stage['depthwise'] else f'-> {o}'} {_window(kernel, stage)}")
    return [", ".join(words)]


def _linear(graph: Graph, node: Node) -> list[str]:
    return ["bytes" if node.operator == "QuantizedLinear" else "", "->", str(graph.shape(node.inputs[1])[-1])]


def _pool(graph: Graph, node: Node) -> list[str]:
    return [node.operator, _window(node.attributes["kernel"], node.attributes)]


def _named(graph: Graph, node: Node) -> list[str]:
    return [str(node.attributes["function"])]


def _plain(graph: Graph, node: Node) -> list[str]:
    return [node.operator]


_WORDS = {
    "AveragePool": _pool,
    "QuantizedPool": _pool,
    "Binary": _named,
    "Conv": _convolution,
    "ConvTranspose": _convolution,
    "DynamicConv": _convolution,
    "DynamicConvTranspose": _convolution,
    "Elementwise": _named,
    "ExactBinary": _named,
    "Linear": _linear,
    "MaxPool": _pool,
    "MergedConvolution": _merged,
    "QuantizedBinary": _named,
    "QuantizedConv": _convolution,
    "QuantizedLinear": _linear,
    "Reduce": _named,
    "Unary": _named,
}


# ---- multiply-adds


def multiply_adds(graph: Graph, node: Node) -> int:
    """Those of a convolution, product of matrices or recurrent layer, as its definition has them; 0 for other nodes."""
    count = _COUNTS.get(node.operator)
    return count(graph, node) if count else 0


def _outputs(graph: Graph, node: Node) -> int:
    return prod(graph.types[node.outputs[0]].shape)


def _of_convolution(graph: Graph, node: Node) -> int:
    weight = graph.shape(node.inputs[1])
    backward = node.operator.endswith("ConvTranspose")
    pixels = graph.types[node.inputs[0] if backward else node.outputs[0]].shape
    return prod(pixels) * prod(weight[1:])


def _of_merged(graph: Graph, node: Node) -> int:
    x, a = graph.types[node.inputs[0]], node.attributes
    _, *size = _image(x, a)
    total = 0
    for stage, name in zip(a["stages"], node.inputs[1::2]):
        weight = graph.shape(name)
        size = list(sides_of(size, weight[2:], stage))
        total += x.shape[0] * prod(size) * prod(weight)
    return total


def _of_linear(graph: Graph, node: Node) -> int:
    return _outputs(graph, node) * prod(graph.shape(node.inputs[1])[:-1])


def _of_matmul(graph: Graph, node: Node) -> int:
    return _outputs(graph, node) * graph.types[node.inputs[0]].shape[-1]


def _of_attention(graph: Graph, node: Node) -> int:
    q, v, a = graph.types[node.inputs[0]].shape, graph.types[node.inputs[2]].shape, node.attributes
    depth, (columns, width) = q[a["perm_q"][-1]], (v[axis] for axis in a["perm_v"][-2:])
    return int(_outputs(graph, node) // max(width, 1) * columns * (depth + width))


def _of_recurrent(graph: Graph, node: Node) -> int:
    steps = prod(graph.types[node.inputs[0]].shape[:2])
    return steps * sum(prod(graph.shape(name)) for name in node.inputs[1:3])


_COUNTS = {
    "Attention": _of_attention,
    "ByteLstm": _of_recurrent,
    "ByteProduct": _of_matmul,
    "BytesMatMul": _of_matmul,
    "NBitsProduct": _of_matmul,
    "PackedProduct": _of_linear,
    "Conv": _of_convolution,
    "ConvTranspose": _of_convolution,
    "DynamicConv": _of_convolution,
    "DynamicConvTranspose": _of_convolution,
    "Gru": _of_recurrent,
    "Linear": _of_linear,
    "Lstm": _of_recurrent,
    "MatMul": _of_matmul,
    "MergedConvolution": _of_merged,
    "QuantizedConv": _of_convolution,
    "QuantizedLinear": _of_linear,
    "Rnn": _of_recurrent,
}


class Report:
    """The steps of a runner with their times; ``str()`` of it is a table.

    seconds : of each step, the median of some passes.
    whole : of a run, the median of some that are timed as a whole, in turn with these passes.
    """

    def __init__(self, runner: Runner, seconds: float = _SECONDS) -> None:
        """Measures for so many seconds."""
        self._runner = runner
        self.whole, self.seconds = self._measured(seconds)

    def _measured(self, limit: float) -> tuple[float, list[float]]:
        steps = [step.calls for step in self._runner.steps]
        self._runner.run()
        passes: list[list[float]] = []
        runs: list[float] = []
        begin = time.perf_counter()
        while len(passes) < 3 or time.perf_counter() - begin < limit:
            start = time.perf_counter()
            self._runner.run()
            times = [time.perf_counter()]
            runs.append(times[0] - start)
            for calls in steps:
                for call in calls:
                    call()
                times.append(time.perf_counter())
            passes.append([after - before for before, after in zip(times, times[1:])])
        return statistics.median(runs), [statistics.median(times) for times in zip(*passes)]

    def rows(self) -> list[dict[str, Any]]:
        """What is known of each step."""
        graph, total = self._runner.placed, sum(self.seconds) or 1.0
        return [
            {
                "share": seconds / total,
                "microseconds": seconds * 1e6,
                "step": described(graph, step.node),
                "operator": step.node.operator,
                "how": "" if step.context is None else step.context.info,
                "multiply_adds": multiply_adds(graph, step.node),
                "weight_bytes": step.weight_bytes,
                "bytes": sum(
                    graph.types[name].nbytes for name in (*step.node.given, *step.node.outputs) if name in graph.types
                ),
                "nodes": list(step.node.origin),
            }
            for step, seconds in zip(self._runner.steps, self.seconds)
        ]

    def __str__(self) -> str:
        lines = [f"{'%':>5} {'us':>9} {'GMAC/s':>8} {'weights':>9}  {'step':<52} {'how':<44} nodes"]
        for row in sorted(self.rows(), key=lambda row: -row["share"]):
            nodes = ", ".join(row["nodes"][:4]) + (f" and {len(row['nodes']) - 4} more" if len(row["nodes"]) > 4 else "")
            size = f"{row['weight_bytes'] / 1e3:.0f} KB" if row["weight_bytes"] else ""
            share, spent = f"{row['share'] * 100:5.1f}", f"{row['microseconds']:9.1f}"
            rate = f"{row['multiply_adds'] / row['microseconds'] / 1e3:.1f}" if row["multiply_adds"] else ""
            lines.append(f"{share} {spent} {rate:>8} {size:>9}  {row['step']:<52} {row['how']:<44} {nodes}".rstrip())
        return "\n".join(map(printable, [*lines, self.summary(), *filter(None, [self.difference()])]))

    def summary(self) -> str:
        """One line for the whole."""
        runner = self._runner
        total = sum(multiply_adds(runner.placed, step.node) for step in runner.steps)
        return (
            f"{len(runner.steps)} steps, {sum(self.seconds) * 1e3:.3f} ms ({_SUM}), "
            f"{total / 1e6:.1f} million multiply-adds, {active_isa()}, {get_num_threads()} threads; "
            f"{memory_text(runner.block_bytes, runner.weight_bytes)}"
        )

    def difference(self) -> str:
        """A sentence about the two times of a run, if they differ much; else nothing."""
        whole, total = self.whole, sum(self.seconds)
        if not total or max(whole, total) <= _MUCH * min(whole, total):
            return ""
        why = (
            "other processes, say, interrupt most runs, but each time another step, so that the medians of steps leave this "
            "out; try again on an idle machine"
            if whole > total
            else "the time of a step includes reading the clock, which matters where steps are short"
        )
        return (
            f"The {_SUM}, {total * 1e3:.3f} ms, and the {MEDIAN_OF_RUNS}, {whole * 1e3:.3f} ms, differ by "
            f"{(max(whole, total) / min(whole, total) - 1) * 100:.0f}%: {why}."
        )

    def write(self, path: Any) -> None:
        """Writes a page of HTML."""
        from pysimd.network.reports.page import report_page

        text = report_page(self._runner, (self.summary(), self.difference()), self.rows())
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
