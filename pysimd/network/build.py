"""Builds graphs node by node: each method adds one and returns the name of its output, which later ones take."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from pysimd._geometry import pair, sides
from pysimd.annotations import Array, Padding, Pair, Shape
from pysimd.network.graph import Graph, Node, Type, name_of
from pysimd.network.open_arrays import is_array
from pysimd.network.operators import IDENTITY, types_of

SMALL = 64  # elements of constants that are compared


class Builder:
    """A graph under construction; :meth:`graph` returns it.

    Images are (N, C, H, W), vectors (N, C), all float32. :meth:`add` adds any node; the other methods are for the layers of
    usual networks.

    origin : the names, in a file, of the nodes that are being added, for reports.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._nodes: list[Node] = []
        self._inputs: list[str] = []
        self._types: dict[str, Type] = {}
        self._constants: dict[str, Array] = {}
        self._small: dict[Any, str] = {}  # constants by their contents
        self._numbered = 0  # constants without names
        self.origin: tuple[str, ...] = ()

    def graph(self, *outputs: str) -> Graph:
        """All nodes so far; `outputs` are the results."""
        return Graph(self._name, self._nodes, self._inputs, outputs, self._types, self._constants)

    def renamed(self, names: Mapping[str, str], *outputs: str) -> Graph:
        """The same with other names of tensors; those that have none keep theirs, or get one like it."""
        taken, new = set(names.values()), {"": "", **names}
        for name in self._types:
            if name not in new:
                free = name
                while free in taken:
                    free += "'"
                new[name] = free
                taken.add(free)
        of = new.__getitem__
        return Graph(
            self._name,
            [
                Node(node.operator, tuple(map(of, node.inputs)), tuple(map(of, node.outputs)), node.attributes, node.origin)
                for node in self._nodes
            ],
            map(of, self._inputs),
            map(of, outputs),
            {new[name]: each for name, each in self._types.items()},
            {new[name]: each for name, each in self._constants.items()},
        )

    @property
    def count(self) -> int:
        """The number of nodes so far."""
        return len(self._nodes)

    def without_inputs(self, first: int, outputs: Sequence[str]) -> Graph:
        """The nodes from a number on, as a graph whose tensors depend on constants alone; `outputs` are the results."""
        nodes = self._nodes[first:]
        types = {name: self._types[name] for node in nodes for name in (*node.given, *node.outputs)}
        constants = {name: self._constants[name] for name in types if name in self._constants}
        return Graph(self._name, nodes, (), outputs, types, constants)

    def inputs_of(self, tensors: Collection[str], most: int) -> dict[str, tuple[str, ...]]:
        """The inputs from which each of these tensors is computed; none if they are more than `most`."""
        of, none = {name: frozenset([name]) for name in self._inputs}, frozenset[str]()
        many = frozenset(self._inputs[: most + 1])  # stands for all that are more
        for node in self._nodes:
            found = none.union(*(of.get(name, none) for name in node.inputs))
            of.update(dict.fromkeys(node.outputs, found if len(found) <= most else many))
        few = {name: of.get(name, none) for name in tensors}
        return {name: tuple(sorted(inputs)) if len(inputs) <= most else () for name, inputs in few.items()}

    def drop(self, first: int) -> None:
        """Removes the nodes from a number on."""
        del self._nodes[first:]

    def type(self, name: str) -> Type:
        """The type of a tensor."""
        return self._types[name]

    def shape(self, name: str) -> Shape:
        """The shape of a tensor."""
        return self._types[name].shape

    def input(self, shape: Shape, dtype: str = "float32", name: str | None = None) -> str:
        """An input, given to each run."""
        name = name or f"x{len(self._inputs)}"
        self._inputs.append(name)
        self._types[name] = Type(tuple(shape), dtype)
        return name

    def constant(self, value: Any, name: str | None = None) -> str:
        """A constant tensor; of several small ones that are equal, and have no names, the first."""
        array = value if is_array(value) else np.asarray(value)
        if name is None:
            name = f"#{self._numbered}"
            self._numbered += 1
            if type(array) is np.ndarray and array.size <= SMALL and not array.dtype.hasobject:
                key = array.dtype.str, array.shape, array.tobytes()
                first = self._small.setdefault(key, name)
                if first != name:
                    return first
        self._constants[name] = array
        self._types[name] = Type(array.shape, name_of(array.dtype))
        return name

    def add_all(
        self, operator: str, inputs: Sequence[str], outputs: Sequence[str] | None = None, **attributes: Any
    ) -> tuple[str, ...]:
        """Adds a node and returns the names of all outputs. Raises ValueError for inputs that do not fit."""
        given = [self._types[name] if name else Type(()) for name in inputs]
        types = types_of(operator, given, attributes)
        names = tuple(outputs) if outputs else tuple(f"{len(self._nodes)}.{i}" for i in range(len(types)))
        self._types.update(zip(names, types))
        self._nodes.append(Node(operator, tuple(inputs), names, attributes, self.origin))
        return names

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Adds a node and returns the name of its first output."""
        return self.add_all(operator, inputs, **attributes)[0]

    # ---- with weights

    def conv(self, x: str, weight: Array, bias: Array, *, stride: Pair = 1, padding: Padding = 0, group: int = 1) -> str:
        """A convolution; weight (O, C / group, ky, kx), bias (O,)."""
        parameters = self.constant(weight), self.constant(bias)
        options = {"dilations": (1, 1), "group": group, "activation": IDENTITY, "order": "add"}
        return self.add("Conv", x, *parameters, **_window(stride, padding), **options)

    def deconv(self, x: str, weight: Array, bias: Array, *, stride: Pair = 1, padding: Padding = 0, group: int = 1) -> str:
        """A transposed convolution; weight (C, O / group, ky, kx), bias (O,)."""
        parameters = self.constant(weight), self.constant(bias)
        options = {"dilations": (1, 1), "group": group, "activation": IDENTITY, "output_padding": (0, 0)}
        return self.add("ConvTranspose", x, *parameters, **_window(stride, padding), **options)

    def gemm(self, x: str, weight: Array, bias: Array) -> str:
        """A fully connected layer over vectors; weight (O, C), bias (O,)."""
        parameters = self.constant(np.ascontiguousarray(weight.T)), self.constant(bias)
        return self.add("Linear", x, *parameters, activation=IDENTITY, order="add")

    # ---- pooling

    def max(self, x: str, kernel: Pair, stride: Pair, padding: Padding = 0) -> str:
        """The maximum of each window."""
        return self.add("MaxPool", x, kernel=pair(kernel, "kernel", 1), ceil=False, **_window(stride, padding))

    def average(self, x: str, kernel: Pair, stride: Pair) -> str:
        """The mean of each window."""
        options = {"kernel": pair(kernel, "kernel", 1), "ceil": False, "count_include_pad": True}
        return self.add("AveragePool", x, **options, **_window(stride, 0))

    def mean(self, x: str) -> str:
        """The mean of each channel."""
        return self.add("Reduce", x, function="mean", axes=(2, 3), keepdims=True)

    # ---- of several tensors, and of parts

    def sum(self, x: str, y: str) -> str:
        """The sum of two equal shapes."""
        return self._binary("add", x, y)

    def scale(self, x: str, y: str) -> str:
        """Each channel of `x` multiplied by a value of the 1x1 image `y`."""
        return self._binary("multiply", x, y)

    def _binary(self, function: str, x: str, y: str) -> str:
        return self.add("Binary", x, y, function=function, activation=IDENTITY)

    def concat(self, x: str, y: str) -> str:
        """The channels of `x`, then those of `y`."""
        return self.add("Concat", x, y, axis=1)

    def part(self, x: str, start: int, end: int) -> str:
        """Channels `start` to `end` - 1."""
        shape = self.shape(x)
        rest = len(shape) - 2
        sizes = (shape[0], end - start, *shape[2:])
        return self.add("Slice", x, starts=(0, start, *(0,) * rest), steps=(1,) * len(shape), sizes=sizes)

    # ---- other shapes

    def enlarge(self, x: str) -> str:
        """Each pixel twice in both directions."""
        _, _, h, w = self.shape(x)
        rules = {"mode": "nearest", "coordinates": "asymmetric", "rounding": "floor"}
        fixed = {"antialias": False, "exclude_outside": False, "cubic": -0.75}
        return self.add("Resize", x, size=(2 * h, 2 * w), scale=(2.0, 2.0), **rules, **fixed)

    def flatten(self, x: str) -> str:
        """Each image as a vector."""
        n, *rest = self.shape(x)
        return self.add("Reshape", x, shape=(n, int(np.prod(rest))))

    def pixel(self, x: str) -> str:
        """Each vector as an image of 1x1."""
        return self.add("Reshape", x, shape=(*self.shape(x), 1, 1))

    # ---- element-wise functions

    def unary(self, x: str, function: str, *params: float) -> str:
        """An element-wise function."""
        return self.add("Unary", x, function=function, params=params)

    def relu(self, x: str) -> str:
        """max(0, x)"""
        return self.unary(x, "relu")

    def leaky_relu(self, x: str, alpha: float) -> str:
        """max(0, x) + alpha * min(0, x)"""
        return self.unary(x, "leaky_relu", alpha)

    def clip(self, x: str, low: float, high: float) -> str:
        """min(max(low, x), high)"""
        return self.unary(x, "restrict_range", low, high)

    def hard_swish(self, x: str) -> str:
        """x * min(max(x + 3, 0), 6) / 6"""
        return self.unary(x, "hswish", 3.0, 1 / 6)

    def sigmoid(self, x: str) -> str:
        """The logistic function."""
        return self.unary(x, "sigmoid", 1.0)

    def softmax(self, x: str) -> str:
        """Exponentials of the channels, divided by their sum."""
        return self.add("Softmax", x, axis=1, log=False)


def _window(stride: Pair, padding: Padding) -> dict[str, tuple[int, ...]]:
    return {"strides": pair(stride, "stride", 1), "pads": sides(padding, "padding")}
