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

from dataclasses import dataclass, field
from typing import Any, Callable

import numpy as np
import numpy.typing as npt

import pysimd

Array = npt.NDArray[Any]
Shape = tuple[int, int, int]

#: Activations by name, with their parameters as :meth:`pysimd.Convolution32f.set_params` takes them.
ACTIVATIONS: dict[str, tuple[str, tuple[float, ...]]] = {
    "identity": ("identity", ()),
    "relu": ("relu", ()),
    "relu6": ("restrict_range", (0.0, 6.0)),
    "hswish": ("hswish", (3.0, 1 / 6)),
}


@dataclass(frozen=True)
class Node:
    """One layer. Weights are (outputs, inputs / group, kernel, kernel), for "deconv" (inputs, outputs, kernel, kernel)."""

    kind: str  # "input", "conv", "deconv", "linear", "add", "max", "mean", "concat", "sigmoid", "softmax"
    inputs: tuple[int, ...]
    shape: Shape
    kernel: int = 1
    stride: int = 1
    pad: int = 0
    group: int = 1
    ceil: bool = False
    activation: str = "identity"
    weight: Array | None = field(default=None, repr=False)
    bias: Array | None = field(default=None, repr=False)


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

    def shape(self, x: int) -> Shape:
        """(C, H, W) of what layer `x` gives."""
        return self.nodes[x].shape

    def _add(self, node: Node) -> int:
        self.nodes.append(node)
        return len(self.nodes) - 1

    def _weights(self, shape: tuple[int, ...], terms: float, outputs: int) -> tuple[Array, Array]:
        """Weights for sums of `terms` products, of which half are 0 behind a ReLU."""
        weight = self._random.standard_normal(shape, np.float32) * np.float32((2 / terms) ** 0.5)
        return weight, self._random.standard_normal(outputs, np.float32) * np.float32(0.1)

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
        c, h, w = self.shape(x)
        pad = kernel // 2 if pad is None else pad
        size = tuple((n + 2 * pad - kernel) // stride + 1 for n in (h, w))
        weight, bias = self._weights((outputs, c // group, kernel, kernel), c // group * kernel**2 / gain**2, outputs)
        return self._add(
            Node("conv", (x,), (outputs, size[0], size[1]), kernel, stride, pad, group, False, activation, weight, bias)
        )

    def depthwise(self, x: int, kernel: int, stride: int = 1, *, activation: str = "identity") -> int:
        """A convolution of each channel by itself."""
        c = self.shape(x)[0]
        return self.conv(x, c, kernel, stride, group=c, activation=activation)

    def deconv(self, x: int, outputs: int, kernel: int, stride: int, *, activation: str = "identity") -> int:
        """A transposed convolution without padding."""
        c, h, w = self.shape(x)
        size = tuple((n - 1) * stride + kernel for n in (h, w))
        weight, bias = self._weights((c, outputs, kernel, kernel), c * kernel**2 / stride**2, outputs)
        return self._add(
            Node("deconv", (x,), (outputs, size[0], size[1]), kernel, stride, 0, 1, False, activation, weight, bias)
        )

    def linear(self, x: int, outputs: int, *, activation: str = "identity") -> int:
        """A fully connected layer, over all of `x`."""
        c, h, w = self.shape(x)
        weight, bias = self._weights((outputs, c, h, w), c * h * w, outputs)
        return self._add(Node("linear", (x,), (outputs, 1, 1), activation=activation, weight=weight, bias=bias))

    def add(self, x: int, y: int, *, activation: str = "identity") -> int:
        """The sum of two equal shapes."""
        return self._add(Node("add", (x, y), self.shape(x), activation=activation))

    def max(self, x: int, kernel: int, stride: int, *, pad: int = 0, ceil: bool = False) -> int:
        """The largest of a sliding window; with `ceil` the last one may reach beyond the image."""
        c, h, w = self.shape(x)
        up = stride - 1 if ceil else 0
        size = tuple((n + 2 * pad - kernel + up) // stride + 1 for n in (h, w))
        return self._add(Node("max", (x,), (c, size[0], size[1]), kernel, stride, pad, ceil=ceil))

    def mean(self, x: int) -> int:
        """The mean of each channel."""
        return self._add(Node("mean", (x,), (self.shape(x)[0], 1, 1)))

    def concat(self, x: int, y: int) -> int:
        """The channels of `x`, then those of `y`."""
        (a, h, w), b = self.shape(x), self.shape(y)[0]
        return self._add(Node("concat", (x, y), (a + b, h, w)))

    def sigmoid(self, x: int) -> int:
        """The logistic function of each value."""
        return self._add(Node("sigmoid", (x,), self.shape(x)))

    def softmax(self, x: int) -> int:
        """Exponentials of the channels, divided by their sum."""
        return self._add(Node("softmax", (x,), self.shape(x)))

    def multiply_adds(self) -> int:
        """Of all convolutions and fully connected layers, by the direct formula."""
        return sum(n.weight.size * self._places(n) for n in self.nodes if n.weight is not None)

    def _places(self, node: Node) -> int:
        _, h, w = self.shape(node.inputs[0]) if node.kind == "deconv" else node.shape
        return h * w


# ---- float64, as the formulas have it


def _activated(x: Array, activation: str) -> Array:
    kind, p = ACTIVATIONS[activation]
    if kind == "relu":
        return np.maximum(x, 0)
    if kind == "restrict_range":
        return np.minimum(np.maximum(x, p[0]), p[1])
    if kind == "hswish":
        return np.maximum(np.minimum(x, p[0]) + p[0], 0) * p[1] * x
    return x


def _windows(x: Array, node: Node, outside: float) -> Array:
    """(C, H, W, kernel, kernel): the window of every output."""
    need = [(size - 1) * node.stride + node.kernel for size in node.shape[1:]]
    after = [max(n - size - node.pad, 0) for n, size in zip(need, x.shape[1:])]
    x = np.pad(x, ((0, 0), (node.pad, after[0]), (node.pad, after[1])), constant_values=outside)
    every = np.lib.stride_tricks.sliding_window_view(x, (node.kernel, node.kernel), axis=(1, 2))
    return every[:, :: node.stride, :: node.stride][:, : node.shape[1], : node.shape[2]]


def _convolved(x: Array, node: Node) -> Array:
    assert node.weight is not None and node.bias is not None
    windows, weight = _windows(x, node, 0.0), node.weight.astype(np.float64)
    if node.group == 1:
        sums = np.tensordot(weight, windows, ((1, 2, 3), (0, 3, 4)))
    else:
        sums = np.einsum("chwyx,cyx->chw", windows, weight[:, 0])
    return sums + node.bias[:, None, None]


def _deconvolved(x: Array, node: Node) -> Array:
    assert node.weight is not None and node.bias is not None
    out = np.zeros(node.shape) + node.bias[:, None, None]
    (_, h, w), s = x.shape, node.stride
    for ky in range(node.kernel):
        for kx in range(node.kernel):
            part = np.tensordot(node.weight[:, :, ky, kx].astype(np.float64), x, (0, 0))
            out[:, ky : ky + h * s : s, kx : kx + w * s : s] += part
    return out


def _computed(node: Node, x: list[Array]) -> Array:
    """`node` of the arrays `x`, (C, H, W) float64."""
    if node.kind == "conv":
        return _convolved(x[0], node)
    if node.kind == "deconv":
        return _deconvolved(x[0], node)
    if node.kind == "linear":
        assert node.weight is not None and node.bias is not None
        return (np.tensordot(node.weight.astype(np.float64), x[0], 3) + node.bias)[:, None, None]
    if node.kind == "max":
        return np.asarray(_windows(x[0], node, -np.inf).max((3, 4)))
    if node.kind == "softmax":
        e = np.exp(x[0] - x[0].max(0))
        return np.asarray(e / e.sum(0))
    simple: dict[str, Callable[[], Array]] = {
        "add": lambda: x[0] + x[1],
        "mean": lambda: x[0].mean((1, 2), keepdims=True),
        "concat": lambda: np.concatenate(x),
        "sigmoid": lambda: 1 / (1 + np.exp(-x[0])),
    }
    return simple[node.kind]()


def reference(net: Network, image: Array) -> Array:
    """What the network makes of an (H, W, C) image, in float64, as (H, W, C)."""
    values: dict[int, Array] = {0: image.transpose(2, 0, 1).astype(np.float64)}
    last = _last_uses(net)
    for i, node in enumerate(net.nodes[1:], 1):
        values[i] = _activated(_computed(node, [values[j] for j in node.inputs]), node.activation)
        for j in node.inputs:
            if last[j] == i:
                del values[j]
    return values[len(net.nodes) - 1].transpose(1, 2, 0)


def _last_uses(net: Network) -> dict[int, int]:
    """For each layer, the last one that reads it."""
    return {j: i for i, node in enumerate(net.nodes) for j in node.inputs} | {len(net.nodes) - 1: len(net.nodes)}


# ---- this library


@dataclass(frozen=True)
class Step:
    """Layers that one call computes; of several, the last is the result."""

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
    depthwise = node.kind == "conv" and node.group == node.shape[0]
    if stage == 1:
        return depthwise and node.kernel in (3, 5, 7)
    kernels = (1, 3) if stage == 0 else (1,)
    return node.kind == "conv" and node.group == 1 and node.kernel in kernels and (stage == 0 or node.stride == 1)


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
            chain = _chain(net, users, i)
            done.update(chain)
            steps.append(Step(chain, node.inputs))
    return sorted(steps, key=lambda step: step.result)


class Runner:
    """A network, ready to run on this library: contexts with their weights, arrays that layers share, one call for each step.

    ``runner(image)`` takes (H, W, C) float32 and gives the last layer's array, which the next call overwrites.
    """

    def __init__(self, net: Network) -> None:
        self._net = net
        self.steps = steps_of(net)
        self._arrays = _arrays(net, self.steps)
        self.contexts: dict[Step, Any] = {}
        self.calls = [self._call(step) for step in self.steps]

    def __call__(self, image: Array) -> Array:
        np.copyto(self._arrays[0], image)
        for call in self.calls:
            call()
        return self._arrays[len(self._net.nodes) - 1]

    def _call(self, step: Step) -> Callable[[], Any]:
        nodes = [self._net.nodes[i] for i in step.nodes]
        x, y = [self._arrays[j] for j in step.inputs], self._arrays[step.result]
        if nodes[0].kind in ("conv", "deconv"):
            make = _single if len(nodes) == 1 else _merged
            context = self.contexts[step] = make(nodes, x[0].shape)
            return lambda: context(x[0], out=y)
        return _plain(nodes[0], x, y)


def _arranged(node: Node) -> Array:
    """The weights as NHWC contexts take them."""
    assert node.weight is not None
    axes = (0, 2, 3, 1) if node.kind == "deconv" else (2, 3, 1, 0)
    return np.ascontiguousarray(node.weight.transpose(axes))


def _params(node: Node) -> tuple[float, ...] | None:
    return ACTIVATIONS[node.activation][1] or None


def _single(nodes: list[Node], src_shape: Any) -> Any:
    (node,) = nodes
    kind = pysimd.Deconvolution32f if node.kind == "deconv" else pysimd.Convolution32f
    made = kind(
        src_shape,
        node.shape[0],
        kernel=node.kernel,
        stride=node.stride,
        padding=node.pad,
        group=node.group,
        activation=ACTIVATIONS[node.activation][0],
    )
    made.set_params(_arranged(node), node.bias, _params(node))
    return made


def _merged(nodes: list[Node], src_shape: Any) -> Any:
    """Some convolutions, and an addition if that is the last layer, whose activation is then the last stage's."""
    add = nodes[-1].kind == "add"
    stages = nodes[:-1] if add else nodes
    acting = [*stages[:-1], nodes[-1]]
    made = pysimd.MergedConvolution32f(
        src_shape,
        [
            pysimd.ConvolutionStage(
                node.kernel,
                None if node.group > 1 else node.shape[0],
                node.stride,
                node.pad,
                ACTIVATIONS[actor.activation][0],
            )
            for node, actor in zip(stages, acting)
        ],
        add=add,
    )
    made.set_params([_arranged(node) for node in stages], [node.bias for node in stages], [_params(a) for a in acting])
    return made


def _plain(node: Node, x: list[Array], y: Array) -> Callable[[], Any]:
    """A layer that needs no context."""
    calls: dict[str, Callable[[], Any]] = {
        "max": lambda: pysimd.pooling_max(
            x[0], kernel=node.kernel, stride=node.stride, padding=node.pad, ceil_mode=node.ceil, out=y
        ),
        "mean": lambda: pysimd.pooling_average(x[0], kernel=x[0].shape[:2], out=y),
        "add": lambda: pysimd.eltwise(x, out=y),
        "concat": lambda: np.concatenate(x, axis=2, out=y),
        "sigmoid": lambda: pysimd.sigmoid(x[0], out=y),
        "softmax": lambda: pysimd.softmax(x[0], out=y),
    }
    if node.kind == "linear":
        weight = node.weight.transpose(0, 2, 3, 1).reshape(len(node.weight), -1).copy() if node.weight is not None else y
        flat, sums = x[0].reshape(-1), y.reshape(-1)
        calls["linear"] = lambda: pysimd.inner_product(flat, weight, node.bias, out=sums)
    if node.activation == "identity":
        return calls[node.kind]

    def activated() -> None:
        calls[node.kind]()
        pysimd.relu(y, out=y)

    assert node.activation == "relu"
    return activated


def _arrays(net: Network, steps: list[Step]) -> dict[int, Array]:
    """An (H, W, C) array for the image and each result; those that are not needed at the same time share memory."""
    sizes = [int(np.prod(node.shape)) for node in net.nodes]
    last = {j: step.result for step in steps for j in step.inputs}
    free: list[Array] = []
    memory: dict[int, Array] = {}
    for inputs, i in [((), 0), *((step.inputs, step.result) for step in steps)]:
        block = next((b for b in free if b.size >= sizes[i]), None)
        if block is None:
            block = np.empty(max(sizes[i:]), np.float32)
        else:
            free = [b for b in free if b is not block]
        memory[i] = block
        free += [memory[j] for j in set(inputs) if last[j] == i]
    shapes = {i: net.nodes[i].shape for i in memory}
    return {i: memory[i][: sizes[i]].reshape(h, w, c) for i, (c, h, w) in shapes.items()}
