"""The networks of the benchmarks, from the published architectures, for one image.

Batch normalisation is folded into the convolutions, as inference does it. `size` is height and width of the image; the
weights are random, so only speed and rounding are of interest.
"""

from __future__ import annotations

from collections import Counter
from typing import Callable

from bench.graph import Network
from bench.layers import Layer


def mobilenetv1(size: int = 224) -> Network:
    """Howard et al., 2017: depthwise and 1x1 convolutions in turn."""
    net = Network("MobileNetV1", (3, size, size))
    x = net.conv(net.input, 32, 3, 2, activation="relu6")
    layers = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5, (1024, 2), (1024, 1)]
    for outputs, stride in layers:
        x = net.conv(net.depthwise(x, 3, stride, activation="relu6"), outputs, activation="relu6")
    net.softmax(net.linear(net.mean(x), 1000))
    return net


def mobilenetv2(size: int = 224) -> Network:
    """Sandler et al., 2018: inverted residual blocks."""
    net = Network("MobileNetV2", (3, size, size))
    x = net.conv(net.input, 32, 3, 2, activation="relu6")
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
                x = net.conv(x, net.shape(x)[0] * expand, activation="relu6")
            x = net.conv(net.depthwise(x, 3, stride, activation="relu6"), outputs, gain=0.5)
            if net.shape(source) == net.shape(x):
                x = net.add(source, x)
    x = net.conv(x, 1280, activation="relu6")
    net.softmax(net.linear(net.mean(x), 1000))
    return net


def _excited(net: Network, x: int) -> int:
    """Squeeze and excitation (Hu et al., 2017): each channel weighted by what all of them are in the mean."""
    c = net.shape(x)[0]
    y = net.linear(net.mean(x), (c // 4 + 4) // 8 * 8, activation="relu")
    return net.scale(x, net.linear(y, c, activation="unit"))


def mobilenetv3(size: int = 224) -> Network:
    """Howard et al., 2019, the large one."""
    net = Network("MobileNetV3", (3, size, size))
    x = net.conv(net.input, 16, 3, 2, activation="hswish")
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
        if expand != net.shape(x)[0]:
            x = net.conv(x, expand, activation=activation)
        x = net.depthwise(x, kernel, stride, activation=activation)
        x = net.conv(_excited(net, x) if excite else x, outputs)
        if net.shape(source) == net.shape(x):
            x = net.add(source, x)
    x = net.linear(net.mean(net.conv(x, 960, activation="hswish")), 1280, activation="hswish")
    net.softmax(net.linear(x, 1000))
    return net


def _stem(net: Network) -> int:
    return net.max(net.conv(net.input, 64, 7, 2, activation="relu"), 3, 2, pad=1)


def resnet18(size: int = 224) -> Network:
    """He et al., 2015: pairs of 3x3 convolutions."""
    net = Network("ResNet-18", (3, size, size))
    x = _stem(net)
    for stage, outputs in enumerate((64, 128, 256, 512)):
        for i in range(2):
            stride = 2 if stage and i == 0 else 1
            y = net.conv(x, outputs, 3, stride, activation="relu")
            y = net.conv(y, outputs, 3, gain=0.3)
            x = net.add(net.conv(x, outputs, 1, stride) if stride == 2 else x, y, activation="relu")
    net.softmax(net.linear(net.mean(x), 1000))
    return net


def resnet50(size: int = 224) -> Network:
    """He et al., 2015, in the usual form with the stride in the 3x3 convolution (v1.5)."""
    net = Network("ResNet-50", (3, size, size))
    x = _stem(net)
    for stage, (inner, count) in enumerate(((64, 3), (128, 4), (256, 6), (512, 3))):
        for i in range(count):
            stride = 2 if stage and i == 0 else 1
            y = net.conv(x, inner, activation="relu")
            y = net.conv(y, inner, 3, stride, activation="relu")
            y = net.conv(y, inner * 4, gain=0.3)
            x = net.add(net.conv(x, inner * 4, 1, stride) if i == 0 else x, y, activation="relu")
    net.softmax(net.linear(net.mean(x), 1000))
    return net


def squeezenet(size: int = 224) -> Network:
    """Iandola et al., 2016, version 1.1: fire modules."""
    net = Network("SqueezeNet 1.1", (3, size, size))
    x = net.conv(net.input, 64, 3, 2, pad=0, activation="relu")
    for i, squeeze in enumerate((16, 16, 32, 32, 48, 48, 64, 64)):
        if i in (0, 2, 4):
            x = net.max(x, 3, 2)
        x = net.conv(x, squeeze, activation="relu")
        x = net.concat(net.conv(x, squeeze * 4, activation="relu"), net.conv(x, squeeze * 4, 3, activation="relu"))
    net.softmax(net.mean(net.conv(x, 1000, activation="relu")))
    return net


def vgg16(size: int = 224) -> Network:
    """Simonyan and Zisserman, 2014, configuration D."""
    net = Network("VGG-16", (3, size, size))
    x = net.input
    for outputs, count in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        for _ in range(count):
            x = net.conv(x, outputs, 3, activation="relu")
        x = net.max(x, 2, 2)
    x = net.linear(net.linear(x, 4096, activation="relu"), 4096, activation="relu")
    net.softmax(net.linear(x, 1000))
    return net


def unet(size: int = 224) -> Network:
    """After Ronneberger et al., 2015, small: four levels of two 3x3 convolutions, and back up by deconvolution."""
    net = Network("U-Net", (3, size, size))
    x, levels = net.input, []
    for outputs in (16, 32, 64, 128):
        for _ in range(2):
            x = net.conv(x, outputs, 3, activation="relu")
        levels.append(x)
        x = net.max(x, 2, 2)
    x = net.conv(x, 256, 3, activation="relu")
    for level in reversed(levels):
        outputs = net.shape(level)[0]
        x = net.concat(level, net.deconv(x, outputs, 2, 2))
        x = net.conv(x, outputs, 3, activation="relu")
    net.sigmoid(net.conv(x, 1))
    return net


def yolov3_tiny(size: int = 416) -> Network:
    """Redmon and Farhadi, 2018: detection at two scales, of which the finer one is the result here."""
    net = Network("YOLOv3-tiny", (3, size, size))
    x = net.input
    for outputs in (16, 32, 64, 128):
        x = net.max(net.conv(x, outputs, 3, activation="leaky"), 2, 2)
    fine = net.conv(x, 256, 3, activation="leaky")
    x = net.conv(net.max(fine, 2, 2), 512, 3, activation="leaky")
    x = net.conv(net.max(x, 2, 1, after=1), 1024, 3, activation="leaky")
    x = net.conv(x, 256, activation="leaky")
    net.conv(net.conv(x, 512, 3, activation="leaky"), 255)
    x = net.concat(fine, net.enlarge(net.conv(x, 128, activation="leaky")))
    net.sigmoid(net.conv(net.conv(x, 256, 3, activation="leaky"), 255))
    return net


def yolov4_tiny(size: int = 416) -> Network:
    """Wang et al., 2020: half of the channels of a level go through two convolutions, and are then joined with all."""
    net = Network("YOLOv4-tiny", (3, size, size))
    x = net.conv(net.conv(net.input, 32, 3, 2, activation="leaky"), 64, 3, 2, activation="leaky")
    for outputs in (64, 128, 256):
        x = net.conv(x, outputs, 3, activation="leaky")
        first = net.conv(net.part(x, outputs // 2), outputs // 2, 3, activation="leaky")
        second = net.conv(first, outputs // 2, 3, activation="leaky")
        fine = net.conv(net.concat(first, second), outputs, activation="leaky")
        x = net.max(net.concat(x, fine), 2, 2)
    x = net.conv(net.conv(x, 512, 3, activation="leaky"), 256, activation="leaky")
    net.conv(net.conv(x, 512, 3, activation="leaky"), 255)
    x = net.concat(net.enlarge(net.conv(x, 128, activation="leaky")), fine)
    net.sigmoid(net.conv(net.conv(x, 256, 3, activation="leaky"), 255))
    return net


#: By the names that the command line takes.
MODELS: dict[str, Callable[..., Network]] = {
    make.__name__.replace("_", "-"): make
    for make in (
        vgg16, resnet18, resnet50, squeezenet, mobilenetv1, mobilenetv2, mobilenetv3, unet, yolov3_tiny, yolov4_tiny,
    )
}  # fmt: skip


def layers_of(name: str) -> Counter[Layer]:
    """The layers of a network and how often each occurs, in their order."""
    return Counter(MODELS[name]().layers)
