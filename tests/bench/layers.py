"""A layer of a network: its shape and its values, independent of library and layout."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

CONVOLUTION, DECONVOLUTION, INNER_PRODUCT, MAX, AVERAGE = "convolution", "deconvolution", "inner product", "max", "avg"
LSTM, GRU = "lstm", "gru"
GATES = {LSTM: 4, GRU: 3}


@dataclass(frozen=True)
class Layer:
    """`o` channels from `c` of `h` rows and `w` columns; convolutions end with a ReLU if `relu`. The columns of a recurrent
    layer are steps; its groups are directions with `o` hidden units each, and its weights are W and R side by side."""

    kind: str
    c: int
    h: int
    w: int
    o: int
    kernel: int = 1
    stride: int = 1
    before: int = 0  # padding above and on the left
    after: int = 0  # padding below and on the right
    group: int = 1
    relu: bool = True
    columns: int = 0  # of a kernel that is no square, of a convolution padded by half of it
    dilation: int = 1  # of a convolution
    batch: int = 1  # images, of convolutions, deconvolutions and pooling

    @property
    def src(self) -> tuple[int, int, int]:
        return self.c, self.h, self.w

    @property
    def dst(self) -> tuple[int, int, int]:
        if self.kind == INNER_PRODUCT:
            return self.o, 1, 1
        if self.kind in GATES:
            return self.group * self.o, 1, self.w
        return self.o, self._side(self.h, 0), self._side(self.w, 1)

    @property
    def window(self) -> tuple[int, int]:
        """The rows and columns of the kernel."""
        return self.kernel, self.columns or self.kernel

    @property
    def pads(self) -> tuple[int, int, int, int]:
        """The padding above, on the left, below, and on the right."""
        if self.columns:
            y, x = (self.dilation * (taps // 2) for taps in self.window)
            return y, x, y, x
        return self.before, self.before, self.after, self.after

    def _side(self, size: int, axis: int) -> int:
        reach, padding = self.dilation * (self.window[axis] - 1) + 1, self.pads[axis] + self.pads[2 + axis]
        if self.kind == DECONVOLUTION:
            return (size - 1) * self.stride + reach - padding
        return (size + padding - reach) // self.stride + 1

    @property
    def weight(self) -> tuple[int, ...]:
        """The shape of the weights in ONNX and PyTorch."""
        taps = self.window
        return {
            CONVOLUTION: (self.o, self.c // self.group, *taps),
            DECONVOLUTION: (self.c, self.o // self.group, *taps),
            INNER_PRODUCT: (self.o, self.c * self.h * self.w),
            LSTM: (self.group, 4 * self.o, self.c + self.o),
            GRU: (self.group, 3 * self.o, self.c + self.o),
        }.get(self.kind, ())

    @property
    def bias(self) -> tuple[int, ...]:
        """The shape of the biases, likewise; of a recurrent layer W's and R's."""
        return (self.group, 2 * GATES[self.kind] * self.o) if self.kind in GATES else (self.o,)

    @property
    def multiplications(self) -> int:
        """Multiplications of the formula; 0 for pooling."""
        if not self.weight:
            return 0
        _, rows, columns = self.src if self.kind == DECONVOLUTION else self.dst
        return self.batch * int(np.prod(self.weight)) * rows * columns

    def __str__(self) -> str:
        if self.kind == INNER_PRODUCT:
            return f"{self.o} <- {self.weight[1]}"
        if self.kind in GATES:
            ways = " both ways" if self.group == 2 else ""
            return f"{self.kind} {self.w} steps {self.c} -> {self.o}{ways}"
        shape, (rows, columns) = f"{self.c}x{self.h}x{self.w}", self.window
        window = f"{rows}x{columns} s{self.stride}" + (f" d{self.dilation}" if self.dilation > 1 else "")
        if self.kind in (MAX, AVERAGE):
            return f"{self.kind} 32f {shape} {window} p{self.before}"
        if self.group == self.c == self.o:
            return f"{shape} depthwise {window}"
        return f"{shape} -> {self.o} {window}"


@dataclass(frozen=True)
class Block:
    """Consecutive layers as one unit of work, usually one layer; with `add` the source is added to the result. If
    `quantised`, images are bytes, and weights are signed bytes with a scale for each output channel."""

    layers: tuple[Layer, ...]
    add: bool = False
    quantised: bool = False

    @property
    def dst(self) -> tuple[int, int, int]:
        return self.layers[-1].dst

    @property
    def batch(self) -> int:
        return self.layers[0].batch

    def images(self, shape: tuple[int, int, int]) -> tuple[int, ...]:
        """The shape of the images of a batch; a single one has no axis for it."""
        return (self.batch, *shape) if self.batch > 1 else shape


@dataclass(frozen=True)
class Values:
    """The values of a layer: images as (channels, height, width), those of a batch with its axis first; weights as in
    `Layer.weight`."""

    src: Array
    weight: Array
    bias: Array


_random = np.random.default_rng(1)


@dataclass(frozen=True)
class Quantised:
    """The bytes of a layer with a source in 0 .. 1 and a result clamped to 0 .. `most`; a step is the value of 1."""

    src: Array
    src_step: float
    weight: Array
    weight_step: Array
    most: float

    @property
    def dst_step(self) -> float:
        return self.most / 255


def quantised(values: Values) -> Quantised:
    """Quantised values; of the source only those above 0."""
    terms = values.weight[0].size
    weight_step = np.abs(values.weight).max(axis=(1, 2, 3)) / 127
    weight = np.rint(values.weight / weight_step[:, None, None, None]).astype(np.int8)
    src = np.rint(values.src.clip(0, 1) * 255).astype(np.uint8)
    return Quantised(src, 1 / 255, weight, weight_step, float(np.sqrt(terms)))


def values_of(layer: Layer) -> Values:
    """Random values between -1 and 1; weights of recurrent layers are smaller: errors do not grow from step to step."""
    shapes = (Block((layer,)).images(layer.src), layer.weight, layer.bias)
    src, weight, bias = (_random.random(shape, np.float32) * 2 - 1 for shape in shapes)
    return Values(src, weight / 16 if layer.kind in GATES else weight, bias)


def sequence_of(layer: Layer, values: Values) -> tuple[Array, Array, Array]:
    """The source of a recurrent layer as (steps, input); W and R."""
    steps = np.ascontiguousarray(values.src[:, 0].T)
    return steps, np.ascontiguousarray(values.weight[..., : layer.c]), np.ascontiguousarray(values.weight[..., layer.c :])


def states_as_image(states: Array) -> Array:
    """(steps, directions, ..., hidden) as (channels, 1, steps)."""
    return states.reshape(len(states), -1).T[:, None]


def in_layout(image: Array, layout: str) -> Array:
    """(channels, height, width), or a batch, in the layout "nchw" or "nhwc", a view."""
    return np.moveaxis(image, -3, -1) if layout == "nhwc" else image


def from_layout(image: Array, layout: str) -> Array:
    """The inverse of `in_layout`."""
    return np.moveaxis(image, -1, -3) if layout == "nhwc" else image
