"""The networks of the benchmarks, from the published architectures, for one image.

Batch normalisation is folded into the convolutions, as usual for inference. `size` is height and width of the image; the
weights are random, so only speed and rounding errors are meaningful.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Callable

import numpy as np

from bench.layers import AVERAGE, CONVOLUTION, DECONVOLUTION, INNER_PRODUCT, MAX, Array, Layer
from pysimd.network import Builder, Graph, Node

_Activate = Callable[[Builder, str], str]

# By the names of networks in this file.
ACTIVATIONS: dict[str, _Activate] = {
    "identity": lambda builder, x: x,
    "relu": Builder.relu,
    "relu6": lambda builder, x: builder.clip(x, 0.0, 6.0),
    "unit": lambda builder, x: builder.clip(x, 0.0, 1.0),
    "leaky": lambda builder, x: builder.leaky_relu(x, 0.1),
    "hswish": Builder.hard_swish,
}


class Network(Builder):
    """A graph for images with seeded random weights, which keep the magnitude of values about constant from layer to
    layer.

    A layer takes and returns names of tensors.
    """

    def __init__(self, name: str, shape: tuple[int, int, int], batch: int = 1, seed: int = 1) -> None:
        super().__init__(name)
        self._random = np.random.default_rng(seed)
        self.image = self.input((batch, *shape))

    def channels(self, x: str) -> int:
        """The number of channels of a tensor."""
        return self.shape(x)[1]

    def _weights(self, shape: tuple[int, ...], terms: float, outputs: int, gain: float = 1) -> tuple[Array, Array]:
        """Weights and bias for sums of the given number of products, half of which are 0 after a ReLU."""
        weight = self._random.random(shape, np.float32)
        weight -= 0.5  # with a variance of 1 / 12
        weight *= gain * np.sqrt(24 / terms)
        return weight, self._random.random(outputs, np.float32) * np.float32(0.2) - np.float32(0.1)

    def convolved(
        self,
        x: str,
        outputs: int,
        kernel: int = 1,
        stride: int = 1,
        *,
        group: int = 1,
        pad: int | None = None,
        activation: str = "identity",
        gain: float = 1,
    ) -> str:
        """A convolution with bias, by default padded by half its kernel; `gain` scales its weights."""
        shape = (outputs, self.channels(x) // group, kernel, kernel)
        weight, bias = self._weights(shape, shape[1] * kernel**2, outputs, gain)
        pad = kernel // 2 if pad is None else pad
        return ACTIVATIONS[activation](self, self.conv(x, weight, bias, stride=stride, padding=pad, group=group))

    def depthwise(self, x: str, kernel: int, stride: int = 1, *, activation: str = "identity") -> str:
        """A convolution of each channel separately."""
        c = self.channels(x)
        return self.convolved(x, c, kernel, stride, group=c, activation=activation)

    def deconvolved(self, x: str, outputs: int, kernel: int, stride: int, *, activation: str = "identity") -> str:
        """A transposed convolution without padding."""
        c = self.channels(x)
        weight, bias = self._weights((c, outputs, kernel, kernel), c * kernel**2 / stride**2, outputs)
        return ACTIVATIONS[activation](self, self.deconv(x, weight, bias, stride=stride))

    def linear(self, x: str, outputs: int, *, activation: str = "identity", gain: float = 1) -> str:
        """A fully connected layer, over all of `x`."""
        x = self.flatten(x) if len(self.shape(x)) == 4 else x
        size = self.channels(x)
        weight, bias = self._weights((outputs, size), size, outputs, gain)
        return ACTIVATIONS[activation](self, self.gemm(x, weight, bias))


def mobilenetv1(size: int = 224, batch: int = 1) -> Graph:
    """Howard et al., 2017: depthwise and 1x1 convolutions alternate."""
    net = Network("MobileNetV1", (3, size, size), batch)
    x = net.convolved(net.image, 32, 3, 2, activation="relu6")
    layers = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5, (1024, 2), (1024, 1)]
    for outputs, stride in layers:
        x = net.convolved(net.depthwise(x, 3, stride, activation="relu6"), outputs, activation="relu6")
    return net.graph(net.softmax(net.linear(net.mean(x), 1000)))


def mobilenetv2(size: int = 224, batch: int = 1) -> Graph:
    """Sandler et al., 2018: inverted residual blocks."""
    net = Network("MobileNetV2", (3, size, size), batch)
    x = net.convolved(net.image, 32, 3, 2, activation="relu6")
    for expand, outputs, count, first_stride in (
        (1, 16, 1, 1),
        (6, 24, 2, 2),
        (6, 32, 3, 2),
        (6, 64, 4, 2),
        (6, 96, 3, 1),
        (6, 160, 3, 2),
        (6, 320, 1, 1),
    ):
        for i in range(count):
            source, stride = x, first_stride if i == 0 else 1
            if expand > 1:
                x = net.convolved(x, net.channels(x) * expand, activation="relu6")
            x = net.convolved(net.depthwise(x, 3, stride, activation="relu6"), outputs, gain=0.5)
            if net.shape(source) == net.shape(x):
                x = net.sum(source, x)
    x = net.convolved(x, 1280, activation="relu6")
    return net.graph(net.softmax(net.linear(net.mean(x), 1000)))


def _excited(net: Network, x: str) -> str:
    """Squeeze and excitation (Hu et al., 2017): each channel is scaled by a function of the means of all channels."""
    c = net.channels(x)
    y = net.linear(net.mean(x), (c // 4 + 4) // 8 * 8, activation="relu")
    return net.scale(x, net.pixel(net.linear(y, c, activation="unit")))


def mobilenetv3(size: int = 224, batch: int = 1) -> Graph:
    """Howard et al., 2019, the large one."""
    net = Network("MobileNetV3", (3, size, size), batch)
    x = net.convolved(net.image, 16, 3, 2, activation="hswish")
    for kernel, expand, outputs, excite, activation, stride in (
        (3, 16, 16, False, "relu", 1),
        (3, 64, 24, False, "relu", 2),
        (3, 72, 24, False, "relu", 1),
        (5, 72, 40, True, "relu", 2),
        (5, 120, 40, True, "relu", 1),
        (5, 120, 40, True, "relu", 1),
        (3, 240, 80, False, "hswish", 2),
        (3, 200, 80, False, "hswish", 1),
        (3, 184, 80, False, "hswish", 1),
        (3, 184, 80, False, "hswish", 1),
        (3, 480, 112, True, "hswish", 1),
        (3, 672, 112, True, "hswish", 1),
        (5, 672, 160, True, "hswish", 2),
        (5, 960, 160, True, "hswish", 1),
        (5, 960, 160, True, "hswish", 1),
    ):
        source = x
        if expand != net.channels(x):
            x = net.convolved(x, expand, activation=activation)
        x = net.depthwise(x, kernel, stride, activation=activation)
        x = net.convolved(_excited(net, x) if excite else x, outputs)
        if net.shape(source) == net.shape(x):
            x = net.sum(source, x)
    x = net.linear(net.mean(net.convolved(x, 960, activation="hswish")), 1280, activation="hswish")
    return net.graph(net.softmax(net.linear(x, 1000)))


def _stem(net: Network) -> str:
    return net.max(net.convolved(net.image, 64, 7, 2, activation="relu"), 3, 2, 1)


def resnet18(size: int = 224, batch: int = 1) -> Graph:
    """He et al., 2015: pairs of 3x3 convolutions."""
    net = Network("ResNet-18", (3, size, size), batch)
    x = _stem(net)
    for stage, outputs in enumerate((64, 128, 256, 512)):
        for i in range(2):
            stride = 2 if stage and i == 0 else 1
            y = net.convolved(x, outputs, 3, stride, activation="relu")
            y = net.convolved(y, outputs, 3, gain=0.3)
            x = net.relu(net.sum(net.convolved(x, outputs, 1, stride) if stride == 2 else x, y))
    return net.graph(net.softmax(net.linear(net.mean(x), 1000)))


def resnet50(size: int = 224, batch: int = 1) -> Graph:
    """He et al., 2015, in the usual form with the stride in the 3x3 convolution (v1.5)."""
    net = Network("ResNet-50", (3, size, size), batch)
    x = _stem(net)
    for stage, (inner, count) in enumerate(((64, 3), (128, 4), (256, 6), (512, 3))):
        for i in range(count):
            stride = 2 if stage and i == 0 else 1
            y = net.convolved(x, inner, activation="relu")
            y = net.convolved(y, inner, 3, stride, activation="relu")
            y = net.convolved(y, inner * 4, gain=0.3)
            x = net.relu(net.sum(net.convolved(x, inner * 4, 1, stride) if i == 0 else x, y))
    return net.graph(net.softmax(net.linear(net.mean(x), 1000)))


def squeezenet(size: int = 224, batch: int = 1) -> Graph:
    """Iandola et al., 2016, version 1.1: fire modules."""
    net = Network("SqueezeNet 1.1", (3, size, size), batch)
    x = net.convolved(net.image, 64, 3, 2, pad=0, activation="relu")
    for i, squeeze in enumerate((16, 16, 32, 32, 48, 48, 64, 64)):
        if i in (0, 2, 4):
            x = net.max(x, 3, 2)
        x = net.convolved(x, squeeze, activation="relu")
        x = net.concat(net.convolved(x, squeeze * 4, activation="relu"), net.convolved(x, squeeze * 4, 3, activation="relu"))
    return net.graph(net.softmax(net.mean(net.convolved(x, 1000, activation="relu"))))


def vgg16(size: int = 224, batch: int = 1) -> Graph:
    """Simonyan and Zisserman, 2014, configuration D."""
    net = Network("VGG-16", (3, size, size), batch)
    x = net.image
    for outputs, count in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        for _ in range(count):
            x = net.convolved(x, outputs, 3, activation="relu")
        x = net.max(x, 2, 2)
    x = net.linear(net.linear(x, 4096, activation="relu"), 4096, activation="relu")
    return net.graph(net.softmax(net.linear(x, 1000)))


def unet(size: int = 224, batch: int = 1) -> Graph:
    """After Ronneberger et al., 2015, small: four levels of two 3x3 convolutions, and back up by deconvolution."""
    net = Network("U-Net", (3, size, size), batch)
    x, levels = net.image, []
    for outputs in (16, 32, 64, 128):
        for _ in range(2):
            x = net.convolved(x, outputs, 3, activation="relu")
        levels.append(x)
        x = net.max(x, 2, 2)
    x = net.convolved(x, 256, 3, activation="relu")
    for level in reversed(levels):
        outputs = net.channels(level)
        x = net.concat(level, net.deconvolved(x, outputs, 2, 2))
        x = net.convolved(x, outputs, 3, activation="relu")
    return net.graph(net.sigmoid(net.convolved(x, 1)))


def yolov3_tiny(size: int = 416, batch: int = 1) -> Graph:
    """Redmon and Farhadi, 2018: detection at two scales; the result here is the finer one."""
    net = Network("YOLOv3-tiny", (3, size, size), batch)
    x = net.image
    for outputs in (16, 32, 64, 128):
        x = net.max(net.convolved(x, outputs, 3, activation="leaky"), 2, 2)
    fine = net.convolved(x, 256, 3, activation="leaky")
    x = net.convolved(net.max(fine, 2, 2), 512, 3, activation="leaky")
    x = net.convolved(net.max(x, 2, 1, (0, 0, 1, 1)), 1024, 3, activation="leaky")
    x = net.convolved(x, 256, activation="leaky")
    net.convolved(net.convolved(x, 512, 3, activation="leaky"), 255)
    x = net.concat(fine, net.enlarge(net.convolved(x, 128, activation="leaky")))
    return net.graph(net.sigmoid(net.convolved(net.convolved(x, 256, 3, activation="leaky"), 255)))


def yolov4_tiny(size: int = 416, batch: int = 1) -> Graph:
    """Wang et al., 2020: half of a level's channels pass through two convolutions, and are then concatenated with all."""
    net = Network("YOLOv4-tiny", (3, size, size), batch)
    x = net.convolved(net.convolved(net.image, 32, 3, 2, activation="leaky"), 64, 3, 2, activation="leaky")
    for outputs in (64, 128, 256):
        x = net.convolved(x, outputs, 3, activation="leaky")
        first = net.convolved(net.part(x, outputs // 2, outputs), outputs // 2, 3, activation="leaky")
        second = net.convolved(first, outputs // 2, 3, activation="leaky")
        fine = net.convolved(net.concat(first, second), outputs, activation="leaky")
        x = net.max(net.concat(x, fine), 2, 2)
    x = net.convolved(net.convolved(x, 512, 3, activation="leaky"), 256, activation="leaky")
    net.convolved(net.convolved(x, 512, 3, activation="leaky"), 255)
    x = net.concat(net.enlarge(net.convolved(x, 128, activation="leaky")), fine)
    return net.graph(net.sigmoid(net.convolved(net.convolved(x, 256, 3, activation="leaky"), 255)))


# By the names on the command line.
MODELS: dict[str, Callable[..., Graph]] = {
    make.__name__.replace("_", "-"): make
    for make in (
        vgg16, resnet18, resnet50, squeezenet, mobilenetv1, mobilenetv2, mobilenetv3, unet, yolov3_tiny, yolov4_tiny,
    )
}  # fmt: skip


def layers(graph: Graph) -> Iterator[Layer]:
    """The layers that benchmarks support, in their order."""
    for node in graph.nodes:
        if node.operator in _KINDS:
            yield _layer(graph, node)


def layers_of(name: str) -> Counter[Layer]:
    """The layers of a network and how often each occurs, in their order."""
    return Counter(layers(MODELS[name]()))


_KINDS = {
    "Conv": CONVOLUTION,
    "ConvTranspose": DECONVOLUTION,
    "Linear": INNER_PRODUCT,
    "MaxPool": MAX,
    "Reduce": AVERAGE,
}


def _layer(graph: Graph, node: Node) -> Layer:
    """A layer with square windows, like all in these networks."""
    kind, outputs = _KINDS[node.operator], graph.shape(node.output)[1]
    before = graph.producer(node.inputs[0])
    source = before.inputs[0] if before and before.operator == "Reshape" else node.inputs[0]
    c, h, w = (*graph.shape(source)[1:], 1, 1)[:3]
    if kind == INNER_PRODUCT:
        return Layer(kind, c, h, w, outputs)
    if kind == AVERAGE:
        if h != w:
            raise ValueError(f"the image is {h}x{w}, expected a square: layers have square kernels")
        return Layer(kind, c, h, w, outputs, h)
    a: Any = node.attributes
    kernel = a["kernel"] if kind == MAX else graph.shape(node.inputs[1])[2:]
    return Layer(kind, c, h, w, outputs, kernel[0], a["strides"][0], a["pads"][0], a["pads"][2], a.get("group", 1))
