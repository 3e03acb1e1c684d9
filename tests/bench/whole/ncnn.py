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
from pysimd.network.operators import IDENTITY, Activation
from pysimd.network.passes import activations
from pysimd.network.passes.rewrite import rewritten

NAME = "ncnn"
VERSION = str(ncnn.__version__)

_MAGIC = 7767517
_PLAIN_WEIGHTS = np.zeros(1, np.int32)  # the word before weights in plain float32
_ACTIVATIONS = {"relu": 1, "leaky_relu": 2, "restrict_range": 3, "hswish": 6}


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
        for match in activations.MATCHES:
            graph = rewritten(graph, match)
        self._graph = graph
        self._names = {graph.inputs[0]: "x", graph.outputs[0]: "y"}
        self._lines: list[str] = []
        self._values = 0  # number of values computed by layers
        self.weights: list[bytes] = []
        # What only reshapes is not a layer: an inner product reads images as vectors.
        for node in graph.nodes:
            if node.operator == "Reshape":
                self._names[node.output] = self._name(node.inputs[0])
        nodes = [node for node in graph.nodes if node.operator != "Reshape"]
        self._readers = Counter(self._name(name) for node in nodes for name in self._computed(node))
        self._given: Counter[str] = Counter()
        _, c, h, w = graph.shape(graph.inputs[0])
        self._line("Input", "x", [], ["x"], {0: w, 1: h, 2: c})
        self._split("x")
        for node in nodes:
            self._node(node)
            self._split(self._name(node.output))

    def _computed(self, node: Node) -> list[str]:
        """The inputs that are no constants."""
        return [name for name in node.inputs if name not in self._graph.constants]

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
            return name
        self._given[name] += 1
        return f"{name}_{self._given[name] - 1}"

    def _split(self, name: str) -> None:
        if self._readers[name] > 1:
            self._line("Split", f"split_{name}", [name], [f"{name}_{k}" for k in range(self._readers[name])], {})

    def _node(self, node: Node) -> None:
        name = self._name(node.output)
        inputs = [self._read(self._name(read)) for read in self._computed(node)]
        constants = [self._graph.constants[read] for read in node.inputs if read in self._graph.constants]
        if constants:
            weight, bias = constants
            kind, fields = _weighted(node, weight)
            self._line(kind, name, inputs, [name], fields)
            if node.operator != "Conv":
                weight = weight.T if node.operator == "Linear" else weight.transpose(1, 0, 2, 3)
            self.weights += [array.tobytes() for array in (_PLAIN_WEIGHTS, np.ascontiguousarray(weight), bias)]
            return
        if node.operator == "Binary" and node.attributes["function"] == "multiply":
            channels = self._graph.shape(node.output)[1]
            self._line("Reshape", f"{name}_shape", inputs[1:], [f"{name}_factors"], {0: 1, 1: 1, 2: channels})
            inputs = [inputs[0], f"{name}_factors"]
        kind, fields = _plain(node)
        activation = node.attributes.get("activation", IDENTITY)
        before = name if activation == IDENTITY else f"{name}_before"
        self._line(kind, before, inputs, [before], fields)
        if before != name:
            assert activation[0] == "relu", activation
            self._line("ReLU", name, [before], [name], {})


def _shown(value: Any) -> str:
    """Floats need a decimal point, else they would be read as integers."""
    return f"{value:.9e}" if isinstance(value, float) else str(value)


def _activation(activation: Activation) -> dict[int, Any]:
    name, numbers = activation
    if name == "identity":
        return {}
    if name == "hswish":
        numbers = (1 / 6, 0.5)  # x * clip(x * a + b, 0, 1)
    listed = "".join(f",{_shown(float(value))}" for value in numbers)
    fields: dict[int, Any] = {9: _ACTIVATIONS[name]}
    return {**fields, -23310: f"{len(numbers)}{listed}"} if numbers else fields


def _window(node: Node, kernel: int, keys: tuple[int, int, int, int, int, int]) -> dict[int, Any]:
    """Kernel, stride, padding on the left, on the right, above, below."""
    a = node.attributes
    top, left, bottom, right = a["pads"]
    return dict(zip(keys, (kernel, a["strides"][0], left, right, top, bottom)))


def _weighted(node: Node, weight: Array) -> tuple[str, dict[int, Any]]:
    activation = _activation(node.attributes["activation"])
    if node.operator == "Linear":
        return "InnerProduct", {0: weight.shape[1], 1: 1, 2: weight.size, **activation}
    group = node.attributes["group"]
    outputs = weight.shape[1] * group if node.operator == "ConvTranspose" else len(weight)
    fields = {0: outputs, 5: 1, 6: weight.size, **_window(node, weight.shape[2], (1, 3, 4, 15, 14, 16))}
    kind = {"Conv": "Convolution", "ConvTranspose": "Deconvolution"}[node.operator]
    if group > 1:
        kind, fields[7] = f"{kind}DepthWise", group
    return kind, {**fields, **activation}


def _plain(node: Node) -> tuple[str, dict[int, Any]]:
    a = node.attributes
    if node.operator == "MaxPool":
        return "Pooling", {0: 0, 5: 1, **_window(node, a["kernel"][0], (1, 2, 3, 14, 13, 15))}
    if node.operator == "Slice":
        return "Crop", {2: a["starts"][1], 3: -233, 4: -233, 5: a["sizes"][1]}
    if node.operator == "Binary":
        return "BinaryOp", {0: {"add": 0, "multiply": 2}[a["function"]]}
    kinds: dict[str, tuple[str, dict[int, Any]]] = {
        "Reduce": ("Pooling", {0: 1, 4: 1}),
        "Concat": ("Concat", {0: 0}),
        "Resize": ("Interp", {0: 1, 1: 2.0, 2: 2.0}),
        "Softmax": ("Softmax", {0: 0, 1: 1}),
        "Unary": ("Sigmoid", {}),
    }
    return kinds[node.operator]
