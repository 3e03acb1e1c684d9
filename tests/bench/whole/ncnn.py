"""ncnn: the graph in its own two formats, a text of layers and a file of weights.

Activations are attributes of convolutions and inner products, as its optimizer would set them. If several layers read a
result, a "Split" follows it. There are two implementations: the usual options, which may store values in 16 bits where that
is faster, and all in 32 bits.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Callable

import ncnn
import numpy as np

from bench.implementations import Unsupported
from bench.layers import Array
from bench.whole import Implementation, nchw
from pysimd.network import Graph, Node
from pysimd.network.passes import Part, parts_of

NAME = "ncnn"
VERSION = str(ncnn.__version__)

_MAGIC = 7767517
_PLAIN_WEIGHTS = np.zeros(1, np.int32)  # the word before weights in plain float32
_ACTIVATIONS = {"Relu": 1, "LeakyRelu": 2, "Clip": 3, "HardSwish": 6}


def build(graph: Graph, images: Array, threads: int) -> Iterator[Callable[[], Implementation]]:
    """All in float32, and with its usual options."""
    if len(images) > 1:
        raise Unsupported("one image at a time")
    planes = nchw(images)[0]
    source = ncnn.Mat(planes).clone()  # a Mat itself only points to the array
    for how in ("float32", "usual options"):
        yield partial(_implementation, how, graph, source, threads)


def _implementation(how: str, graph: Graph, source: Any, threads: int) -> Implementation:
    loaded = ncnn.Net()
    loaded.opt.num_threads = threads
    if how == "float32":
        for option in ("fp16_packed", "fp16_storage", "fp16_arithmetic", "bf16_packed", "bf16_storage"):
            if hasattr(loaded.opt, f"use_{option}"):
                setattr(loaded.opt, f"use_{option}", False)
    _load(loaded, graph)

    def call() -> Any:
        extractor = loaded.create_extractor()
        extractor.input("x", source)
        status, value = extractor.extract("y")
        if status:
            raise RuntimeError(f"extract gives {status}")
        return value

    def result() -> Array:
        return np.array(call())

    return Implementation(how, call, result)


def _load(loaded: Any, graph: Graph) -> None:
    written = _Written(graph)
    with tempfile.TemporaryDirectory() as folder:
        text, weights = Path(folder) / "net.param", Path(folder) / "net.bin"
        text.write_text(written.text())
        weights.write_bytes(b"".join(written.weights))
        if loaded.load_param(str(text)) or loaded.load_model(str(weights)):
            raise RuntimeError("ncnn cannot read the network")


class _Written:
    """The lines and the weights. A value with several readers is "v", and for each of them "v_0", "v_1" ..."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._names = {graph.inputs[0]: "x", graph.outputs[0]: "y"}
        self._lines: list[str] = []
        self._values = 0  # number of values computed by layers
        self.weights: list[bytes] = []
        parts = [part for group in parts_of(graph) for part in group.parts]
        self._readers = Counter(name for part in parts for name in part.inputs)
        self._given: Counter[str] = Counter()
        _, c, h, w = graph.shape(graph.inputs[0])
        self._line("Input", "x", [], ["x"], {0: w, 1: h, 2: c})
        self._split(graph.inputs[0])
        for part in parts:
            self._part(part)
            self._split(part.output)

    def text(self) -> str:
        return "\n".join([str(_MAGIC), f"{len(self._lines)} {self._values}", *self._lines]) + "\n"

    def _line(self, kind: str, name: str, inputs: list[str], outputs: list[str], fields: dict[int, Any]) -> None:
        self._values += len(outputs)
        shown = [f"{key}={_shown(value)}" for key, value in fields.items()]
        self._lines.append(" ".join([kind, name, str(len(inputs)), str(len(outputs)), *inputs, *outputs, *shown]))

    def _name(self, name: str) -> str:
        return self._names.get(name, name)

    def _read(self, name: str) -> str:
        if self._readers[name] < 2:
            return self._name(name)
        self._given[name] += 1
        return f"{self._name(name)}_{self._given[name] - 1}"

    def _split(self, name: str) -> None:
        if self._readers[name] > 1:
            mine = self._name(name)
            self._line("Split", f"split_{mine}", [mine], [f"{mine}_{k}" for k in range(self._readers[name])], {})

    def _part(self, part: Part) -> None:
        name = self._name(part.output)
        inputs = [self._read(read) for read in part.inputs]
        constants = [self._graph.constants[read] for read in part.node.inputs if read in self._graph.constants]
        if constants:
            weight, bias = constants
            kind, fields = _weighted(part, weight)
            self._line(kind, name, inputs, [name], fields)
            weight = weight.transpose(1, 0, 2, 3) if part.operator == "ConvTranspose" else weight
            self.weights += [array.tobytes() for array in (_PLAIN_WEIGHTS, np.ascontiguousarray(weight), bias)]
            return
        if part.operator == "Mul":
            channels = self._graph.shape(part.output)[1]
            self._line("Reshape", f"{name}_shape", inputs[1:], [f"{name}_factors"], {0: 1, 1: 1, 2: channels})
            inputs = [inputs[0], f"{name}_factors"]
        kind, fields = _plain(part.node)
        before = f"{name}_before" if part.activation else name
        self._line(kind, before, inputs, [before], fields)
        if part.activation:
            assert part.activation.operator == "Relu", part.activation
            self._line("ReLU", name, [before], [name], {})


def _shown(value: Any) -> str:
    """Floats need a decimal point, else they would be read as integers."""
    return f"{value:.9e}" if isinstance(value, float) else str(value)


def _activation(node: Node | None) -> dict[int, Any]:
    if node is None:
        return {}
    numbers = tuple(node.attributes.values())
    if node.operator == "HardSwish":
        numbers = (1 / 6, 0.5)  # x * clip(x * a + b, 0, 1)
    listed = "".join(f",{_shown(float(value))}" for value in numbers)
    fields: dict[int, Any] = {9: _ACTIVATIONS[node.operator]}
    return {**fields, -23310: f"{len(numbers)}{listed}"} if numbers else fields


def _window(node: Node, keys: tuple[int, int, int, int, int, int]) -> dict[int, Any]:
    """Kernel, stride, padding on the left, on the right, above, below."""
    a = node.attributes
    top, left, bottom, right = a["pads"]
    return dict(zip(keys, (a["kernel_shape"][0], a["strides"][0], left, right, top, bottom)))


def _weighted(part: Part, weight: Array) -> tuple[str, dict[int, Any]]:
    if part.operator == "Gemm":
        return "InnerProduct", {0: len(weight), 1: 1, 2: weight.size, **_activation(part.activation)}
    group = part.node.attributes["group"]
    outputs = weight.shape[1] * group if part.operator == "ConvTranspose" else len(weight)
    fields = {0: outputs, 5: 1, 6: weight.size, **_window(part.node, (1, 3, 4, 15, 14, 16))}
    kind = {"Conv": "Convolution", "ConvTranspose": "Deconvolution"}[part.operator]
    if group > 1:
        kind, fields[7] = f"{kind}DepthWise", group
    return kind, {**fields, **_activation(part.activation)}


def _plain(node: Node) -> tuple[str, dict[int, Any]]:
    a = node.attributes
    if node.operator == "MaxPool":
        return "Pooling", {0: 0, 5: 1, **_window(node, (1, 2, 3, 14, 13, 15))}
    if node.operator == "Slice":
        return "Crop", {2: a["start"], 3: -233, 4: -233, 5: a["end"] - a["start"]}
    kinds: dict[str, tuple[str, dict[int, Any]]] = {
        "GlobalAveragePool": ("Pooling", {0: 1, 4: 1}),
        "Add": ("BinaryOp", {0: 0}),
        "Mul": ("BinaryOp", {0: 2}),
        "Concat": ("Concat", {0: 0}),
        "Resize": ("Interp", {0: 1, 1: 2.0, 2: 2.0}),
        "Sigmoid": ("Sigmoid", {}),
        "Softmax": ("Softmax", {0: 0, 1: 1}),
    }
    return kinds[node.operator]
