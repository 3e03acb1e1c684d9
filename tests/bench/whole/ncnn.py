"""ncnn: the graph written in its own two formats, a text of layers and a file of weights.

Activations are fields of convolutions and inner products, as its optimizer would have them. A layer whose result several
others read is followed by a "Split". Its usual options may keep values in 16 bits where that is faster for it; they are one
way, all in 32 bits is the other.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Callable

import ncnn
import numpy as np

from bench.graph import ACTIVATIONS, Network, Node
from bench.layers import AVERAGE, CONVOLUTION, DECONVOLUTION, INNER_PRODUCT, MAX, Array, Layer
from bench.whole import Way

NAME = "ncnn"
VERSION = str(ncnn.__version__)

_MAGIC = 7767517
_PLAIN_WEIGHTS = np.zeros(1, np.int32)  # the word before weights that are float32 as they are
_ACTIVATIONS = {"relu": 1, "leaky_relu": 2, "restrict_range": 3, "hswish": 6}


def build(net: Network, image: Array, threads: int) -> Iterator[Callable[[], Way]]:
    """All in float32, and with its usual options."""
    planes = np.ascontiguousarray(image.transpose(2, 0, 1))
    source = ncnn.Mat(planes).clone()
    for how in ("float32", "usual options"):
        yield partial(_way, how, net, source, threads)


def _way(how: str, net: Network, source: Any, threads: int) -> Way:
    loaded = ncnn.Net()
    loaded.opt.num_threads = threads
    if how == "float32":
        for option in ("fp16_packed", "fp16_storage", "fp16_arithmetic", "bf16_packed", "bf16_storage"):
            if hasattr(loaded.opt, f"use_{option}"):
                setattr(loaded.opt, f"use_{option}", False)
    _load(loaded, net)

    def call() -> Any:
        extractor = loaded.create_extractor()
        extractor.input("v0", source)
        status, value = extractor.extract("y")
        if status:
            raise RuntimeError(f"extract gives {status}")
        return value

    def result() -> Array:
        return np.array(call())

    return Way(how, call, result)


def _load(loaded: Any, net: Network) -> None:
    written = _Written(net)
    with tempfile.TemporaryDirectory() as folder:
        text, weights = Path(folder) / "net.param", Path(folder) / "net.bin"
        text.write_text(written.text())
        weights.write_bytes(b"".join(written.weights))
        if loaded.load_param(str(text)) or loaded.load_model(str(weights)):
            raise RuntimeError("ncnn cannot read the network")


class _Written:
    """The lines and the weights. What layer i gives is "v<i>", where several read it "v<i>_0", "v<i>_1" ..."""

    def __init__(self, net: Network) -> None:
        self._net = net
        self._lines: list[str] = []
        self._values = 0  # that layers give
        self.weights: list[bytes] = []
        self._readers = [0] * len(net.nodes)
        for node in net.nodes:
            for j in node.inputs:
                self._readers[j] += 1
        self._given = [0] * len(net.nodes)
        c, h, w = net.shape(0)
        self._line("Input", "v0", [], ["v0"], {0: w, 1: h, 2: c})
        self._split(0)
        for i in range(1, len(net.nodes)):
            self._layer(i)
            self._split(i)

    def text(self) -> str:
        return "\n".join([str(_MAGIC), f"{len(self._lines)} {self._values}", *self._lines]) + "\n"

    def _line(self, kind: str, name: str, inputs: list[str], outputs: list[str], fields: dict[int, Any]) -> None:
        self._values += len(outputs)
        shown = [f"{key}={_shown(value)}" for key, value in fields.items()]
        self._lines.append(" ".join([kind, name, str(len(inputs)), str(len(outputs)), *inputs, *outputs, *shown]))

    def _name(self, i: int) -> str:
        return "y" if i == len(self._net.nodes) - 1 else f"v{i}"

    def _read(self, i: int) -> str:
        if self._readers[i] < 2:
            return self._name(i)
        self._given[i] += 1
        return f"v{i}_{self._given[i] - 1}"

    def _split(self, i: int) -> None:
        if self._readers[i] > 1:
            names = [f"v{i}_{k}" for k in range(self._readers[i])]
            self._line("Split", f"split{i}", [f"v{i}"], names, {})

    def _layer(self, i: int) -> None:
        node, name = self._net.nodes[i], self._name(i)
        inputs = [self._read(j) for j in node.inputs]
        if node.weight.size:
            kind, fields = _weighted(node)
            self._line(kind, name, inputs, [name], fields)
            weight = node.weight.transpose(1, 0, 2, 3) if node.kind == DECONVOLUTION else node.weight
            arrays = (_PLAIN_WEIGHTS, np.ascontiguousarray(weight), node.bias)
            self.weights += [array.tobytes() for array in arrays]
            return
        if node.kind == "scale":
            self._line("Reshape", f"{name}_shape", inputs[1:], [f"{name}_factors"], {0: 1, 1: 1, 2: node.shape[0]})
            inputs = [inputs[0], f"{name}_factors"]
        kind, fields = _plain(node, self._net)
        before = name if node.activation == "identity" else f"{name}_before"
        self._line(kind, before, inputs, [before], fields)
        if before != name:
            assert node.activation == "relu", node.activation
            self._line("ReLU", name, [before], [name], {})


def _shown(value: Any) -> str:
    """Floats have a point, or they would be read as integers."""
    return f"{value:.9e}" if isinstance(value, float) else str(value)


def _activation(node: Node) -> dict[int, Any]:
    kind, p = ACTIVATIONS[node.activation]
    if kind == "identity":
        return {}
    if kind == "hswish":
        p = (p[1], p[0] * p[1])  # x * clip(x * a + b, 0, 1)
    numbers = "".join(f",{_shown(float(value))}" for value in p)
    return {9: _ACTIVATIONS[kind], -23310: f"{len(p)}{numbers}"} if p else {9: _ACTIVATIONS[kind]}


def _sides(layer: Layer, keys: tuple[int, int, int, int]) -> dict[int, Any]:
    """Padding on the left, on the right, above, below."""
    return dict(zip(keys, (layer.before, layer.after, layer.before, layer.after)))


def _weighted(node: Node) -> tuple[str, dict[int, Any]]:
    layer = node.layer
    assert layer
    if node.kind == INNER_PRODUCT:
        return "InnerProduct", {0: layer.o, 1: 1, 2: node.weight.size, **_activation(node)}
    fields = {0: layer.o, 1: layer.kernel, 3: layer.stride, 5: 1, 6: node.weight.size}
    fields |= _sides(layer, (4, 15, 14, 16))
    kind = {CONVOLUTION: "Convolution", DECONVOLUTION: "Deconvolution"}[node.kind]
    if layer.group > 1:
        kind, fields[7] = f"{kind}DepthWise", layer.group
    return kind, {**fields, **_activation(node)}


def _plain(node: Node, net: Network) -> tuple[str, dict[int, Any]]:
    if node.kind == MAX:
        assert node.layer
        return "Pooling", {0: 0, 1: node.layer.kernel, 2: node.layer.stride, 5: 1, **_sides(node.layer, (3, 14, 13, 15))}
    kinds: dict[str, tuple[str, dict[int, Any]]] = {
        AVERAGE: ("Pooling", {0: 1, 4: 1}),
        "add": ("BinaryOp", {0: 0}),
        "scale": ("BinaryOp", {0: 2}),
        "concat": ("Concat", {0: 0}),
        "part": ("Crop", {2: net.shape(node.inputs[0])[0] - node.shape[0], 3: -233, 4: -233, 5: node.shape[0]}),
        "enlarge": ("Interp", {0: 1, 1: 2.0, 2: 2.0}),
        "sigmoid": ("Sigmoid", {}),
        "softmax": ("Softmax", {0: 0, 1: 1}),
    }
    return kinds[node.kind]
