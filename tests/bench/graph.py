"""Whole networks: a graph of layers with seeded random weights, what it computes in float64, and how this library runs it.

A network is built layer by layer; every method of :class:`Network` adds one and gives its number, which later ones take::

    net = Network("tiny", (3, 32, 32))
    x = net.conv(net.input, 16, kernel=3, stride=2, activation="relu")
    x = net.linear(net.mean(x), 10)
    y = Runner(net)(image)            # image: (H, W, C) float32
    exact = reference(net, image)

Shapes are (C, H, W) throughout, whatever the layout of a runner's arrays.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Callable

import numpy as np

import pysimd
from bench import arrays
from bench.layers import AVERAGE, CONVOLUTION, DECONVOLUTION, INNER_PRODUCT, MAX, Array, Layer
from pysimd import prepare

Shape = tuple[int, int, int]

_LINE = 16  # floats of a cache line
_GAP = 9 * _LINE  # behind each array, so that they lie at different offsets within a page: see `arrays`

#: Activations by name, with their parameters as :meth:`pysimd.Convolution32f.set_params` takes them.
ACTIVATIONS: dict[str, tuple[str, tuple[float, ...]]] = {
    "identity": ("identity", ()),
    "relu": ("relu", ()),
    "relu6": ("restrict_range", (0.0, 6.0)),
    "unit": ("restrict_range", (0.0, 1.0)),
    "leaky": ("leaky_relu", (0.1,)),
    "hswish": ("hswish", (3.0, 1 / 6)),
}


@dataclass(frozen=True)
class Node:
    """A layer in its place. What is no `layer` for benchmarks is told by `kind` alone."""

    kind: str  # that of the layer, or "input", "add", "concat", "scale", "part", "enlarge", "sigmoid", "softmax"
    inputs: tuple[int, ...]
    shape: Shape
    layer: Layer | None = None
    activation: str = "identity"
    weight: Array = field(default_factory=lambda: np.zeros(0, np.float32), repr=False)  # of the shape layer.weight
    bias: Array = field(default_factory=lambda: np.zeros(0, np.float32), repr=False)


class Network:
    """A graph of layers for one image; weights keep the size of values about constant from layer to layer."""

    def __init__(self, name: str, shape: Shape, seed: int = 1) -> None:
        self.name = name
        self.nodes: list[Node] = [Node("input", (), shape)]
        self._random = np.random.default_rng(seed)

    @property
    def input(self) -> int:
        """The number of the image."""
        return 0

    @property
    def layers(self) -> list[Layer]:
        """Those that benchmarks know, in their order."""
        return [node.layer for node in self.nodes if node.layer]

    def shape(self, x: int) -> Shape:
        """(C, H, W) of what layer `x` gives."""
        return self.nodes[x].shape

    def _add(self, node: Node) -> int:
        self.nodes.append(node)
        return len(self.nodes) - 1

    def _layer(self, x: int, layer: Layer, activation: str = "identity", gain: float = 1) -> int:
        """Its weights are for sums of products of which half are 0, behind a ReLU."""
        shape = layer.weight
        terms = np.prod(shape[1:]) if layer.kind != DECONVOLUTION else layer.c * layer.kernel**2 / layer.stride**2
        weight = self._random.random(shape, np.float32)
        weight -= 0.5  # of variance 1 / 12
        weight *= gain * (24 / terms) ** 0.5
        bias = self._random.random(layer.o, np.float32) * np.float32(0.2) - np.float32(0.1)
        return self._add(Node(layer.kind, (x,), layer.dst, layer, activation, weight, bias))

    def conv(
        self,
        x: int,
        outputs: int,
        kernel: int = 1,
        stride: int = 1,
        *,
        group: int = 1,
        pad: int | None = None,
        activation: str = "identity",
        gain: float = 1,
    ) -> int:
        """A convolution with bias, by default padded by half its kernel; `gain` scales its weights."""
        pad = kernel // 2 if pad is None else pad
        layer = Layer(CONVOLUTION, *self.shape(x), outputs, kernel, stride, pad, pad, group)
        return self._layer(x, layer, activation, gain)

    def depthwise(self, x: int, kernel: int, stride: int = 1, *, activation: str = "identity") -> int:
        """A convolution of each channel by itself."""
        c = self.shape(x)[0]
        return self.conv(x, c, kernel, stride, group=c, activation=activation)

    def deconv(self, x: int, outputs: int, kernel: int, stride: int, *, activation: str = "identity") -> int:
        """A transposed convolution without padding."""
        return self._layer(x, Layer(DECONVOLUTION, *self.shape(x), outputs, kernel, stride), activation)

    def linear(self, x: int, outputs: int, *, activation: str = "identity", gain: float = 1) -> int:
        """A fully connected layer, over all of `x`."""
        return self._layer(x, Layer(INNER_PRODUCT, *self.shape(x), outputs), activation, gain)

    def max(self, x: int, kernel: int, stride: int, *, pad: int = 0, after: int | None = None) -> int:
        """The largest of a sliding window; `after` is the padding below and on the right where it is another one."""
        c, h, w = self.shape(x)
        layer = Layer(MAX, c, h, w, c, kernel, stride, pad, pad if after is None else after)
        return self._add(Node(MAX, (x,), layer.dst, layer))

    def mean(self, x: int) -> int:
        """The mean of each channel."""
        c, h, w = self.shape(x)
        if h != w:
            raise ValueError(f"the image is {h}x{w}, expected a square: layers have square kernels")
        return self._add(Node(AVERAGE, (x,), (c, 1, 1), Layer(AVERAGE, c, h, w, c, h)))

    def add(self, x: int, y: int, *, activation: str = "identity") -> int:
        """The sum of two equal shapes."""
        return self._add(Node("add", (x, y), self.shape(x), activation=activation))

    def scale(self, x: int, y: int) -> int:
        """Each channel of `x` multiplied by a value of `y`."""
        return self._add(Node("scale", (x, y), self.shape(x)))

    def concat(self, x: int, y: int) -> int:
        """The channels of `x`, then those of `y`."""
        (a, h, w), b = self.shape(x), self.shape(y)[0]
        return self._add(Node("concat", (x, y), (a + b, h, w)))

    def part(self, x: int, channels: int) -> int:
        """The last channels of `x`."""
        return self._add(Node("part", (x,), (channels, *self.shape(x)[1:])))

    def enlarge(self, x: int) -> int:
        """Each pixel twice in both directions."""
        c, h, w = self.shape(x)
        return self._add(Node("enlarge", (x,), (c, 2 * h, 2 * w)))

    def sigmoid(self, x: int) -> int:
        """The logistic function of each value."""
        return self._add(Node("sigmoid", (x,), self.shape(x)))

    def softmax(self, x: int) -> int:
        """Exponentials of the channels, divided by their sum."""
        return self._add(Node("softmax", (x,), self.shape(x)))


# ---- float64, as the formulas have it


def _activated(x: Array, activation: str) -> Array:
    kind, p = ACTIVATIONS[activation]
    if kind == "relu":
        return np.maximum(x, 0)
    if kind == "restrict_range":
        return np.minimum(np.maximum(x, p[0]), p[1])
    if kind == "leaky_relu":
        return np.maximum(x, 0) + p[0] * np.minimum(x, 0)
    if kind == "hswish":
        return np.maximum(np.minimum(x, p[0]) + p[0], 0) * p[1] * x
    return x


def _windows(x: Array, layer: Layer, outside: float) -> Array:
    """(C, H, W, kernel, kernel): the window of every output."""
    sides = (layer.before, layer.after)
    x = np.pad(x, ((0, 0), sides, sides), constant_values=outside)
    every = np.lib.stride_tricks.sliding_window_view(x, (layer.kernel, layer.kernel), axis=(1, 2))
    return every[:, :: layer.stride, :: layer.stride]


def _convolved(x: Array, layer: Layer, weight: Array) -> Array:
    windows = _windows(x, layer, 0.0)
    if layer.group == 1:
        return np.tensordot(weight, windows, ((1, 2, 3), (0, 3, 4)))
    return np.asarray(np.einsum("chwyx,cyx->chw", windows, weight[:, 0]))


def _deconvolved(x: Array, layer: Layer, weight: Array) -> Array:
    out = np.zeros(layer.dst)
    (_, h, w), s = layer.src, layer.stride
    for ky in range(layer.kernel):
        for kx in range(layer.kernel):
            out[:, ky : ky + h * s : s, kx : kx + w * s : s] += np.tensordot(weight[:, :, ky, kx], x, (0, 0))
    return out


def _of_layer(layer: Layer, weight: Array, x: Array) -> Array:
    """A layer without bias and activation."""
    if layer.kind == MAX:
        return np.asarray(_windows(x, layer, -np.inf).max((3, 4)))
    if layer.kind == AVERAGE:
        return np.asarray(x.mean((1, 2), keepdims=True))
    if layer.kind == INNER_PRODUCT:
        return (weight @ x.reshape(-1))[:, None, None]
    return (_deconvolved if layer.kind == DECONVOLUTION else _convolved)(x, layer, weight)


def _computed(node: Node, x: list[Array]) -> Array:
    """`node` of the arrays `x`, (C, H, W) float64."""
    if node.layer:
        sums = _of_layer(node.layer, node.weight.astype(np.float64), x[0])
        return sums + node.bias[:, None, None] if node.bias.size else sums
    simple: dict[str, Callable[[], Array]] = {
        "add": lambda: x[0] + x[1],
        "scale": lambda: x[0] * x[1],
        "concat": lambda: np.concatenate(x),
        "part": lambda: x[0][-node.shape[0] :],
        "enlarge": lambda: x[0].repeat(2, 1).repeat(2, 2),
        "sigmoid": lambda: 1 / (1 + np.exp(-x[0])),
        "softmax": lambda: np.exp(x[0] - x[0].max(0)) / np.exp(x[0] - x[0].max(0)).sum(0),
    }
    return simple[node.kind]()


def reference(net: Network, image: Array) -> Array:
    """What the network makes of an (H, W, C) image, in float64, as (H, W, C)."""
    values: dict[int, Array] = {0: image.transpose(2, 0, 1).astype(np.float64)}
    last = _last_uses(net)
    for i, node in enumerate(net.nodes[1:], 1):
        values[i] = _activated(_computed(node, [values[j] for j in node.inputs]), node.activation)
        for j in set(node.inputs):
            if last[j] == i:
                del values[j]
    return values[len(net.nodes) - 1].transpose(1, 2, 0)


def _last_uses(net: Network) -> dict[int, int]:
    """For each layer, the last one that reads it."""
    return {j: i for i, node in enumerate(net.nodes) for j in node.inputs} | {len(net.nodes) - 1: len(net.nodes)}


# ---- this library


@dataclass(frozen=True)
class Step:
    """Layers that one call computes; of several, the last is the result. A second input of convolutions is what is added."""

    nodes: tuple[int, ...]
    inputs: tuple[int, ...]

    @property
    def result(self) -> int:
        """The number of the layer whose values are written."""
        return self.nodes[-1]


def _follower(net: Network, users: dict[int, list[int]], x: int) -> int | None:
    """The only layer that reads `x`."""
    return users[x][0] if len(users[x]) == 1 else None


def _fits(node: Node, stage: int) -> bool:
    """Whether a merged convolution can have this layer as its expansion (0), depthwise convolution (1), projection (2)."""
    layer = node.layer
    if layer is None or layer.kind != CONVOLUTION:
        return False
    if stage == 1:
        return layer.group == layer.c == layer.o and layer.kernel in (3, 5, 7)
    return layer.group == 1 and (layer.kernel in (1, 3) if stage == 0 else layer.kernel == layer.stride == 1)


def _added(net: Network, users: dict[int, list[int]], x: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """A convolution and the addition of its result to another one, and what both read; nothing where it cannot be."""
    node, follower = net.nodes[x], _follower(net, users, x)
    if follower is None or net.nodes[follower].kind != "add" or (node.kind, node.activation) != (CONVOLUTION, "identity"):
        return (), ()
    others = tuple(j for j in net.nodes[follower].inputs if j != x)
    return ((x, follower), (*node.inputs, *others)) if len(others) == 1 else ((), ())


def _chain(net: Network, users: dict[int, list[int]], x: int) -> tuple[int, ...]:
    """The layers from `x` on that a merged convolution computes, an addition of its input included; `x` alone if there are
    none."""
    stages = (0, 1, 2) if _fits(net.nodes[x], 0) else (1, 2)
    chain: list[int] = []
    now: int | None = x
    for stage in stages:
        if now is None or not _fits(net.nodes[now], stage):
            break
        chain.append(now)
        now = _follower(net, users, now)
    if len(chain) < 2:
        return (x,)
    if now is not None and len(chain) == 3 and net.nodes[now].kind == "add":
        ends = {net.nodes[x].inputs[0], chain[-1]}
        if set(net.nodes[now].inputs) == ends and net.nodes[chain[-1]].activation == "identity":
            chain.append(now)
    return tuple(chain)


def _pooled_parts(net: Network, users: dict[int, list[int]], x: int) -> tuple[int, ...]:
    """A concatenation and the maxima of it, where nothing else reads it: the maxima are joined then, which are fewer."""
    follower = _follower(net, users, x)
    pooled = follower is not None and (net.nodes[x].kind, net.nodes[follower].kind) == ("concat", MAX)
    return (x, follower) if pooled and follower is not None else ()


def steps_of(net: Network) -> list[Step]:
    """The calls that compute a network, in their order."""
    users: dict[int, list[int]] = {i: [] for i in range(len(net.nodes))}
    for i, node in enumerate(net.nodes):
        for j in node.inputs:
            users[j].append(i)
    steps: list[Step] = []
    done: set[int] = set()
    for i, node in enumerate(net.nodes[1:], 1):
        if i not in done:
            chain, inputs = _pooled_parts(net, users, i) or _chain(net, users, i), node.inputs
            if chain == (i,):
                both, sources = _added(net, users, i)
                if both and both[1] not in done:
                    chain, inputs = both, sources
            done.update(chain)
            steps.append(Step(chain, inputs))
    return sorted(steps, key=lambda step: step.result)


class Runner:
    """A network, ready to run on this library: contexts with their weights, arrays that layers share, one call for each
    step.

    ``runner(image)`` takes (H, W, C) float32 and gives the last layer's array, which the next call overwrites. Who writes
    the image into ``runner.image`` calls ``runner.run()``.
    """

    def __init__(self, net: Network) -> None:
        self._net = net
        self.steps = steps_of(net)
        self._arrays = _arrays(net, self.steps)
        self.image, self.result = self._arrays[0], self._arrays[len(net.nodes) - 1]
        self.contexts: dict[Step, Any] = {}
        self.calls = [self._calls(step) for step in self.steps]
        self._all = tuple(call for calls in self.calls for call in calls)

    def __call__(self, image: Array) -> Array:
        np.copyto(self.image, image)
        return self.run()

    def run(self) -> Array:
        """Computes the network of what is in :attr:`image`."""
        for call in self._all:
            call()
        return self.result

    def _calls(self, step: Step) -> list[Callable[[], Any]]:
        nodes = [self._net.nodes[i] for i in step.nodes]
        x, y = [self._arrays[j] for j in step.inputs], self._arrays[step.result]
        if nodes[0].kind in (CONVOLUTION, DECONVOLUTION):
            added = len(step.inputs) == 2
            make = _single if added or len(nodes) == 1 else _merged
            context = self.contexts[step] = make(nodes, x[0].shape)
            return [prepare(context.forward, *x[:1], out=y, **({"add": x[1]} if added else {}))]
        if nodes[0].kind != "concat":
            return _plain(nodes[0], x, y)
        positive = all(_is_positive(self._net, j) for j in step.inputs)
        if len(nodes) == 1:
            return [_joined(x, y, positive)]
        assert nodes[1].layer
        layers = [replace(nodes[1].layer, c=part.shape[2], o=part.shape[2]) for part in x]
        parts = [arrays.empty((*y.shape[:2], layer.c), np.float32) for layer in layers]
        return [*map(_pooled, layers, x, parts), _joined(parts, y, positive)]


def _arranged(node: Node) -> Array:
    """The weights as NHWC contexts take them."""
    axes = (0, 2, 3, 1) if node.kind == DECONVOLUTION else (2, 3, 1, 0)
    return np.ascontiguousarray(node.weight.transpose(axes))


def _params(node: Node) -> tuple[float, ...] | None:
    return ACTIVATIONS[node.activation][1] or None


def _padding(layer: Layer) -> tuple[int, int, int, int]:
    return layer.before, layer.before, layer.after, layer.after


def _single(nodes: list[Node], src_shape: Any) -> Any:
    """A convolution or a deconvolution, and perhaps an addition, whose activation is then the layer's."""
    node, actor = nodes[0], nodes[-1]
    assert node.layer
    make = pysimd.Deconvolution32f if node.kind == DECONVOLUTION else pysimd.Convolution32f
    made = make(
        src_shape,
        node.layer.o,
        kernel=node.layer.kernel,
        stride=node.layer.stride,
        padding=_padding(node.layer),
        group=node.layer.group,
        activation=ACTIVATIONS[actor.activation][0],
    )
    made.set_params(_arranged(node), node.bias, _params(actor))
    return made


def _stage(layer: Layer, activation: str) -> pysimd.ConvolutionStage:
    outputs = layer.o if layer.group == 1 else None
    return pysimd.ConvolutionStage(layer.kernel, outputs, layer.stride, _padding(layer), ACTIVATIONS[activation][0])


def _merged(nodes: list[Node], src_shape: Any) -> Any:
    """Some convolutions, and an addition if that is the last layer, whose activation is then the last stage's."""
    add = nodes[-1].kind == "add"
    stages = nodes[:-1] if add else nodes
    acting = [*stages[:-1], nodes[-1]]
    described = [_stage(node.layer, actor.activation) for node, actor in zip(stages, acting) if node.layer]
    made = pysimd.MergedConvolution32f(src_shape, described, add=add)
    made.set_params([_arranged(node) for node in stages], [node.bias for node in stages], [_params(a) for a in acting])
    return made


def _pooled(layer: Layer, x: Array, y: Array) -> Callable[[], Any]:
    if layer.kind == AVERAGE:
        return prepare(pysimd.pooling_average, x, kernel=layer.kernel, out=y)
    return prepare(pysimd.pooling_max, x, kernel=layer.kernel, stride=layer.stride, padding=_padding(layer), out=y)


def _linear(node: Node, x: Array, y: Array) -> Callable[[], Any]:
    """Its weights for values that lie as an image does."""
    assert node.layer
    weight = node.weight.reshape(node.layer.o, *node.layer.src).transpose(0, 2, 3, 1).reshape(node.layer.o, -1).copy()
    return prepare(pysimd.inner_product, x.reshape(-1), weight, node.bias, out=y.reshape(-1))


def _is_positive(net: Network, x: int) -> bool:
    """Whether nothing that layer `x` gives is below zero."""
    node = net.nodes[x]
    if node.kind in (MAX, AVERAGE, "concat"):
        return all(_is_positive(net, j) for j in node.inputs)
    return node.activation in ("relu", "relu6", "unit")


def _joined(x: list[Array], y: Array, positive: bool) -> Callable[[], Any]:
    """The fused layer joins at the speed of memory, on all threads; its ReLU changes nothing that is positive.

    Of others its second result is taken, which has no ReLU: the first is written in vain, and yet that takes two thirds of
    the time of ``np.concatenate`` on one thread and a third on two (16 and 16 channels of 224x224).
    """
    ones, zeros = np.ones(y.shape[2], np.float32), np.zeros(y.shape[2], np.float32)
    if positive:
        return prepare(pysimd.fused9, x[0], x[1], scale=ones, bias=zeros, out=y)
    unused = arrays.empty(y.shape, y.dtype)
    return prepare(pysimd.fused9, x[0], x[1], scale=ones, bias=zeros, out=unused, out1=y)


def _plain(node: Node, x: list[Array], y: Array) -> list[Callable[[], Any]]:
    """A layer that needs no context, and its activation."""
    if node.layer:
        calls = [_linear(node, x[0], y) if node.kind == INNER_PRODUCT else _pooled(node.layer, x[0], y)]
    else:
        simple: dict[str, Callable[[], Callable[[], Any]]] = {
            "add": lambda: prepare(pysimd.eltwise, x, out=y),
            "scale": lambda: prepare(pysimd.scale, x[0], x[1].reshape(-1), out=y),
            "part": lambda: partial(np.copyto, y, x[0][:, :, -node.shape[0] :]),
            "enlarge": lambda: partial(
                np.copyto, y.reshape(*x[0].shape[:1], 2, -1, 2, node.shape[0]), x[0][:, None, :, None]
            ),
            "sigmoid": lambda: prepare(pysimd.sigmoid, x[0], out=y),
            "softmax": lambda: prepare(pysimd.softmax, x[0], out=y),
        }
        calls = [simple[node.kind]()]
    kind, p = ACTIVATIONS[node.activation]
    activations: dict[str, Callable[[], Callable[[], Any]]] = {
        "relu": lambda: prepare(pysimd.relu, y, out=y),
        "restrict_range": lambda: prepare(pysimd.restrict_range, y, *p, out=y),
        "hswish": lambda: prepare(pysimd.hswish, y, shift=p[0], scale=p[1], out=y),
        "leaky_relu": lambda: prepare(pysimd.relu, y, slope=p[0], out=y),
    }
    return calls if kind == "identity" else [*calls, activations[kind]()]


def _arrays(net: Network, steps: list[Step]) -> dict[int, Array]:
    """An (H, W, C) array for the image and each result. They are parts of one block, so that it has large pages; results
    that are not needed at the same time lie in the same place, which is then in the caches still."""
    end = len(net.nodes)
    born = {0: 0} | {step.result: step.result for step in steps}
    last = {j: step.result for step in steps for j in step.inputs} | {0: end, end - 1: end}
    places: dict[int, tuple[int, int]] = {}
    for i in sorted(born, key=lambda i: -int(np.prod(net.nodes[i].shape))):
        size = int(np.prod(net.nodes[i].shape)) + _GAP
        taken = sorted(places[j] for j in places if born[j] <= last.get(i, i) and born[i] <= last.get(j, j))
        begin = 0
        for low, high in taken:
            if begin + size <= low:
                break
            begin = max(begin, high)
        places[i] = begin, -(begin + size) // _LINE * -_LINE
    block = arrays.empty((max(high for _, high in places.values()),), np.float32)
    shapes = {i: net.nodes[i].shape for i in born}
    return {i: block[places[i][0] :][: h * w * c].reshape(h, w, c) for i, (c, h, w) in shapes.items()}
