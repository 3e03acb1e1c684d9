"""Published networks, and the layers that they come to. A network is a text with one word for each layer:

    64-3x3/2     a convolution to 64 channels with kernel 3x3 and stride 2
    dw3x3        a depthwise convolution
    up64-2x2/2   a deconvolution
    fc1000       an inner product with everything that there is
    max3x3/2     max pooling;  avg: the average of each channel
    x2           every pixel twice in both directions, which is no layer here
    =32          goes on with 32 channels of the same size that come from elsewhere
    ( a | b )    two ways from the same input, whose channels are joined;  with nothing in it a way is its input
    ( a + b )    two ways that are added;  ( a * b ) multiplied, 1x1 by channel;  ( a ; b ) of which only b goes on

Padding is (kernel - 1) / 2 on all sides; p0 and such at the end of a word is another one, p01 is 0 before and 1 behind.
A batch is one image. Every convolution is taken with bias and ReLU, whatever activation the network has: others cost little
more.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from pysimd.bench.layers import AVERAGE, CONVOLUTION, DECONVOLUTION, INNER_PRODUCT, MAX, Layer

Shape = tuple[int, int, int]

_WORD = re.compile(r"(dw|up|fc|max|avg|x|=)?(\d+)?-?(?:(\d+)x\d+)?(?:/(\d+))?(?:p(\d)(\d)?)?")


def _step(word: str, shape: Shape) -> Layer | Shape:
    """The layer that a word stands for, or the shape that goes on without one."""
    match = _WORD.fullmatch(word)
    if not match:
        raise ValueError(f"{word!r} is no word for a layer")
    kind, count = match[1], int(match[2] or 0)
    kernel, stride = int(match[3] or 1), int(match[4] or 1)
    before = int(match[5] or 0) if match[5] else (kernel - 1) // 2
    window = (kernel, stride, before, int(match[6]) if match[6] else before)
    c, h, w = shape
    if kind == "x":
        return c, h * count, w * count
    if kind == "=":
        return count, h, w
    if kind == "avg":
        return Layer(AVERAGE, c, h, w, c, h)
    if kind == "max":
        return Layer(MAX, c, h, w, c, *window)
    if kind == "dw":
        return Layer(CONVOLUTION, c, h, w, c, *window, group=c)
    return Layer({"fc": INNER_PRODUCT, "up": DECONVOLUTION}.get(kind, CONVOLUTION), c, h, w, count, *window)


def _way(words: Iterator[str], shape: Shape, layers: list[Layer]) -> tuple[Shape, str]:
    """Appends the layers up to the sign that ends this way; returns the shape there, and the sign."""
    for word in words:
        if word == "(":
            shape = _ways(words, shape, layers)
        elif word in "|+*;)":
            return shape, word
        else:
            step = _step(word, shape)
            if isinstance(step, Layer):
                layers.append(step)
                step = step.dst
            shape = step
    return shape, ""


def _ways(words: Iterator[str], shape: Shape, layers: list[Layer]) -> Shape:
    """Appends the layers of all ways up to the closing bracket; returns the shape of what they are joined to."""
    first, sign = _way(words, shape, layers)
    last, end = _way(words, shape, layers)
    if end != ")":
        raise ValueError(f"two ways and a bracket expected, got {end!r} behind the second")
    fits = {
        "|": first[1:] == last[1:],
        "+": first == last,
        "*": first[0] == last[0] and last[1:] == (1, 1),
        ";": True,
    }[sign]
    if not fits:
        raise ValueError(f"{first} and {last} cannot be joined by {sign!r}")
    if sign == "|":
        return first[0] + last[0], *first[1:]
    return last if sign == ";" else first


def expand(shape: Shape, text: str) -> tuple[list[Layer], Shape]:
    """All layers in their order, repeated as often as they occur, and the shape of the result."""
    layers: list[Layer] = []
    end, sign = _way(iter(text.split()), shape, layers)
    if sign:
        raise ValueError(f"{sign!r} without a bracket")
    return layers, end


def _each(words: Iterable[str]) -> str:
    return " ".join(words)


def _bottlenecks(width: int, count: int, stride: int) -> str:
    """ResNet v1.5: the stride is in the 3x3."""
    way = f"{width}-1x1 {width}-3x3{{}} {4 * width}-1x1"
    first = f"( {way.format(f'/{stride}')} + {4 * width}-1x1/{stride} )"
    return _each([first, *[f"( {way.format('')} + )"] * (count - 1)])


def _basic_blocks(width: int, stride: int) -> str:
    first = f"( {width}-3x3/{stride} {width}-3x3 + {width}-1x1/{stride} )" if stride > 1 else f"( {width}-3x3 {width}-3x3 + )"
    return f"{first} ( {width}-3x3 {width}-3x3 + )"


def _inverted(c: int, wide: int, o: int, kernel: int, stride: int, squeeze: bool = False) -> str:
    """The block of MobileNetV2 and V3: expansion, depthwise, in V3 squeeze and excitation, projection."""
    expansion = f"{wide}-1x1 " if wide != c else ""
    excitation = f" ( * avg fc{(wide // 4 + 4) // 8 * 8} fc{wide} )" if squeeze else ""
    way = f"{expansion}dw{kernel}x{kernel}/{stride}{excitation} {o}-1x1"
    return f"( {way} + )" if c == o and stride == 1 else way


def _mobilenet_v2() -> str:
    words, c = ["32-3x3/2"], 32
    for factor, o, count, stride in (
        (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1),
    ):  # fmt: skip
        for i in range(count):
            words.append(_inverted(c, factor * c, o, 3, stride if i == 0 else 1))
            c = o
    return _each([*words, "1280-1x1 avg fc1000"])


def _mobilenet_v3() -> str:
    words, c = ["16-3x3/2"], 16
    for kernel, wide, o, squeeze, stride in (
        (3, 16, 16, False, 1), (3, 64, 24, False, 2), (3, 72, 24, False, 1),
        (5, 72, 40, True, 2), (5, 120, 40, True, 1), (5, 120, 40, True, 1),
        (3, 240, 80, False, 2), (3, 200, 80, False, 1), (3, 184, 80, False, 1), (3, 184, 80, False, 1),
        (3, 480, 112, True, 1), (3, 672, 112, True, 1),
        (5, 672, 160, True, 2), (5, 960, 160, True, 1), (5, 960, 160, True, 1),
    ):  # fmt: skip
        words.append(_inverted(c, wide, o, kernel, stride, squeeze))
        c = o
    return _each([*words, "960-1x1 avg fc1280 fc1000"])


def _fire(squeeze: int, expand: int) -> str:
    return f"{squeeze}-1x1 ( {expand}-1x1 | {expand}-3x3 )"


def _unet(widths: list[int], bottom: str) -> str:
    if not widths:
        return bottom
    width = widths[0]
    return f"{width}-3x3 {width}-3x3 ( | max2x2/2 {_unet(widths[1:], bottom)} up{width}-2x2/2 ) {width}-3x3"


def _partial(width: int) -> str:
    """YOLOv4-tiny: half of the channels go through two convolutions, and are then joined with all."""
    half = width // 2
    return f"{width}-3x3 ( | ={half} {half}-3x3 ( | {half}-3x3 ) {width}-1x1 ) max2x2/2"


#: The input and the text of each network.
NETWORKS: dict[str, tuple[Shape, str]] = {
    "vgg16": ((3, 224, 224), _each([
        *[f"{2 * f'{width}-3x3 '}max2x2/2" for width in (64, 128)],
        *[f"{3 * f'{width}-3x3 '}max2x2/2" for width in (256, 512, 512)],
        "fc4096 fc4096 fc1000",
    ])),
    "resnet18": ((3, 224, 224), _each([
        "64-7x7/2 max3x3/2", _basic_blocks(64, 1), _basic_blocks(128, 2), _basic_blocks(256, 2), _basic_blocks(512, 2),
        "avg fc1000",
    ])),
    "resnet50": ((3, 224, 224), _each([
        "64-7x7/2 max3x3/2", _bottlenecks(64, 3, 1), _bottlenecks(128, 4, 2), _bottlenecks(256, 6, 2),
        _bottlenecks(512, 3, 2), "avg fc1000",
    ])),
    "squeezenet": ((3, 224, 224), _each([
        "64-3x3/2p0 max3x3/2p0", _fire(16, 64), _fire(16, 64), "max3x3/2p0", _fire(32, 128), _fire(32, 128), "max3x3/2p0",
        _fire(48, 192), _fire(48, 192), _fire(64, 256), _fire(64, 256), "1000-1x1 avg",
    ])),
    "mobilenetv1": ((3, 224, 224), _each([
        "32-3x3/2 dw3x3 64-1x1 dw3x3/2 128-1x1 dw3x3 128-1x1 dw3x3/2 256-1x1 dw3x3 256-1x1 dw3x3/2 512-1x1",
        5 * "dw3x3 512-1x1 ", "dw3x3/2 1024-1x1 dw3x3 1024-1x1 avg fc1000",
    ])),
    "mobilenetv2": ((3, 224, 224), _mobilenet_v2()),
    "mobilenetv3": ((3, 224, 224), _mobilenet_v3()),
    "unet": ((3, 224, 224), _unet([16, 32, 64, 128], "256-3x3") + " 1-1x1"),
    "yolov3-tiny": ((3, 416, 416), """
        16-3x3 max2x2/2 32-3x3 max2x2/2 64-3x3 max2x2/2 128-3x3 max2x2/2 256-3x3
        ( | max2x2/2 512-3x3 max2x2p01 1024-3x3 256-1x1 ( 512-3x3 255-1x1 ; 128-1x1 x2 ) ) 256-3x3 255-1x1
    """),
    "yolov4-tiny": ((3, 416, 416), _each([
        "32-3x3/2 64-3x3/2", _partial(64), _partial(128), _partial(256),
        "512-3x3 256-1x1 ( 512-3x3 255-1x1 ; 128-1x1 x2 ( | =256 ) 256-3x3 255-1x1 )",
    ])),
}  # fmt: skip


def layers_of(name: str) -> Counter[Layer]:
    """The layers of a network and how often each occurs, in their order."""
    return Counter(expand(*NETWORKS[name])[0])
