"""Draws layers at random: the sizes that networks use, by the frequencies of networks, roughly.

Numbers of channels are drawn evenly by their logarithm; most kernels are odd, most images square, most strides 1 and most
batches of one image. A layer of floats whose result is like its source is timed as a chain of equal ones, so that peers need
not convert the images of each layer from one layout to another, as within a network.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from bench.cases import Case, Prepared
from bench.cases.layers import of_block, of_merged, residual
from bench.cases.small import of_layer_8i, of_layer_16b, of_pooling
from bench.layers import AVERAGE, CONVOLUTION, DECONVOLUTION, MAX, Block, Layer

#: The most that is computed and moved by what is timed at once, so that 300 layers take minutes.
MOST_FLOPS, MOST_BYTES = 2_000_000_000, 100_000_000
MOST_CHANNELS, MOST_KERNEL, MOST_STRIDE, MOST_DILATION, MOST_IMAGES = 2048, 11, 4, 12, 16
MOST_SIDE = 1920

_CHAIN = 4  # equal layers, if they are not too large together
_LITTLE = 100_000  # multiply-adds and bytes of what is drawn seldom: calls dominate its time
_OF_LITTLE = 0.1

# How often each is drawn.
_FAMILIES = {
    "convolution": 45,
    "convolution_8i": 14,
    "convolution_16b": 11,
    "deconvolution": 10,
    "pooling": 12,
    "merged": 8,
}
_KERNELS = {1: 30, 2: 3, 3: 36, 4: 3, 5: 12, 6: 1, 7: 8, 8: 1, 9: 3, 10: 1, 11: 2}
_SIDES = [1, 4, 7, 8, 10, 13, 14, 16, 19, 20, 26, 28, 32, 38, 40, 52, 56, 64, 75, 80, 96, 112, 128, 150, 160, 192, 224, 256]
_SIDES += [299, 320, 416, 512, 640]
_FRAMES = ((1080, 1920), (720, 1280), (480, 640), (540, 960))

BYTES = {"32f": 4, "16b": 2, "8u": 1}


@dataclass(frozen=True)
class Drawn:
    """A layer drawn at random, or a chain of equal ones; or the layers of a merged convolution."""

    seed: int
    index: int
    family: str
    block: Block
    layout: str
    numbers: str = "32f"  # the type of images

    @property
    def layer(self) -> Layer:
        return self.block.layers[0]

    @property
    def flops(self) -> int:
        return 2 * sum(layer.multiplications for layer in self.block.layers)

    @property
    def traffic(self) -> int:
        """The bytes of source and result and of all weights; of a chain those of each layer."""
        layers = self.block.layers
        passes = [(self.layer, layers[-1])] if self.family == "merged" else list(zip(layers, layers))
        images = sum(math.prod(first.src) + math.prod(last.dst) for first, last in passes)
        weights = sum(math.prod(layer.weight) for layer in layers if layer.weight)
        return BYTES[self.numbers] * (self.block.batch * images + weights)

    @property
    def case(self) -> Case:
        """What is timed. Its limit is the longer of arithmetic and of a copy of so many bytes."""
        case = _case(self)

        def prepare() -> Prepared:
            return replace(case.prepare(), traffic=self.traffic, either=True)

        return replace(case, layer=f"{self.index}: {self.text}", draw=(self.seed, self.index), prepare=prepare)

    @property
    def text(self) -> str:
        """The whole shape."""
        layer, text = self.layer, _case(self).layer
        if layer.kind in (CONVOLUTION, DECONVOLUTION) and self.family != "merged":
            text += f" g{layer.group}" if layer.group > 1 and "depthwise" not in text else ""
            sides = layer.pads if len(set(layer.pads)) > 1 else layer.pads[:1]
            text += f" p{','.join(map(str, sides))}"
        text = f"deconvolution {text}" if layer.kind == DECONVOLUTION else text
        return text if layer.batch == 1 else f"batch {layer.batch}, {text}"


def _case(drawn: Drawn) -> Case:
    block, layout = drawn.block, drawn.layout
    if drawn.family == "merged":
        return of_merged(block)
    if drawn.family == "pooling":
        return of_pooling(drawn.numbers, block, layout)
    if drawn.family == "convolution_8i":
        return of_layer_8i(drawn.layer, layout)
    if drawn.family == "convolution_16b":
        return of_layer_16b(drawn.layer, layout)
    return of_block(block, layout)


T = TypeVar("T")


class _Dice:
    """Random choices, all by a function that gives the same numbers in each version of Python."""

    def __init__(self, seed: int, index: int) -> None:
        self._random = random.Random(f"{seed} {index}").random

    def chance(self, probability: float) -> bool:
        return self._random() < probability

    def of(self, choices: Sequence[T]) -> T:
        return choices[int(self._random() * len(choices))]

    def weighted(self, weights: dict[T, int]) -> T:
        return self.of([choice for choice, weight in weights.items() for _ in range(weight)])

    def between(self, low: int, high: int) -> int:
        """Evenly by the logarithm."""
        return min(high, int(low * ((high + 1) / low) ** self._random()))

    def channels(self) -> int:
        count = self.between(1 if self.chance(0.2) else 8, MOST_CHANNELS)
        multiple = 8 if count < 128 else 32
        return max(count // multiple, 1) * multiple if count > 4 and self.chance(0.75) else count

    def side(self) -> int:
        return self.of(_SIDES) if self.chance(0.7) else self.between(1, 640)

    def image(self) -> tuple[int, int]:
        """Height and width."""
        if self.chance(0.05):
            return self.of(_FRAMES)
        side = self.side()
        return (side, side) if self.chance(0.75) else (side, self.side())

    def images(self) -> int:
        return 1 if self.chance(0.75) else self.of((2, 3, 4, 5, 7, 8, 12, MOST_IMAGES))

    def layout(self) -> str:
        return self.of(("nhwc", "nchw"))


def _divisors(*numbers: int) -> list[int]:
    common = math.gcd(*numbers)
    return [n for n in range(2, common + 1) if common % n == 0]


def _channels(dice: _Dice, alike: bool) -> tuple[int, int, int]:
    """Channels of the source and of the result, and groups."""
    c = dice.channels()
    if dice.chance(0.25):
        o = c * (1 if alike or c > MOST_CHANNELS // 2 or dice.chance(0.8) else 2)
        return c, o, c
    o = c if alike else dice.channels()
    groups = _divisors(c, o) if dice.chance(0.2) else []
    return c, o, dice.of(groups) if groups else 1


def _convolution(dice: _Dice) -> Layer:
    alike = dice.chance(0.5)
    (c, o, group), (h, w), kernel = _channels(dice, alike), dice.image(), dice.weighted(_KERNELS)
    kernel = 3 if c == group and kernel == 1 and dice.chance(0.9) else kernel
    stride = 1 if alike else dice.weighted({1: 45, 2: 40, 3: 7, MOST_STRIDE: 8})
    dilation = dice.between(2, MOST_DILATION) if dice.chance(0.12) else 1
    columns = dice.weighted(_KERNELS) if dice.chance(0.12) else 0
    span = dilation * (kernel - 1)
    before, after = (span // 2, span - span // 2) if alike or dice.chance(0.75) else dice.of(((0, 0), (0, min(1, span))))
    layer = Layer(CONVOLUTION, c, h, w, o, kernel, stride, before, after, group, dice.chance(0.7), columns, dilation)
    return replace(layer, batch=dice.images())


def _deconvolution(dice: _Dice) -> Layer:
    alike = dice.chance(0.2)
    (c, o, group), (h, w) = _channels(dice, alike), dice.image()
    stride = 1 if alike else dice.weighted({1: 10, 2: 70, 3: 8, MOST_STRIDE: 12})
    kernel = dice.of((3, 5)) if alike else dice.of((stride, 2 * stride, 3, dice.weighted(_KERNELS)))
    spare = max(kernel - stride, 0)
    before, after = (spare - spare // 2, spare // 2) if alike or dice.chance(0.7) else (0, 0)
    return Layer(DECONVOLUTION, c, h, w, o, kernel, stride, before, after, group, dice.chance(0.5), batch=dice.images())


def _pooling(dice: _Dice, kind: str) -> Layer:
    c, (h, w) = dice.channels(), dice.image()
    if h == w <= MOST_KERNEL and dice.chance(0.4):
        return Layer(kind, c, h, w, c, h, batch=dice.images())  # of the whole image
    kernel, stride = dice.weighted({**_KERNELS, 1: 0, 2: 30}), dice.weighted({1: 40, 2: 50, 3: 6, MOST_STRIDE: 4})
    pad = kernel // 2 if dice.chance(0.7) else 0
    return Layer(kind, c, h, w, c, kernel, stride, pad, pad, batch=dice.images())


def _merged(dice: _Dice) -> Block:
    c, (h, w), kernel = dice.channels(), dice.image(), dice.weighted({3: 70, 5: 25, 7: 5})
    wide, stride = c * dice.of((0, 0, 1, 2, 3, 4, 6, 6)), dice.weighted({1: 70, 2: 30})
    o = c if dice.chance(0.6) else dice.channels()
    return residual(c, h, w, wide, kernel, stride, o, dice.images())


def _tried(dice: _Dice, seed: int, index: int, family: str) -> Drawn:
    if family == "merged":
        return Drawn(seed, index, family, _merged(dice), "nhwc")
    layout = dice.layout()
    if family == "pooling":
        numbers = dice.weighted({"32f": 70, "16b": 15, "8u": 15})
        layer = _pooling(dice, MAX if numbers == "8u" or dice.chance(0.6) else AVERAGE)
    else:
        numbers = {"convolution_8i": "8u", "convolution_16b": "16b"}.get(family, "32f")
        layer = _deconvolution(dice) if family == "deconvolution" else _convolution(dice)
    return Drawn(seed, index, family, Block((layer,)), layout, numbers)


def fault(drawn: Drawn) -> str:
    """Why this is no layer that is timed, or an empty text."""
    for layer in drawn.block.layers:
        if max(layer.c, layer.o) > MOST_CHANNELS or max(layer.h, layer.w) > MOST_SIDE:
            return "too large"
        reach = [layer.dilation * (taps - 1) + 1 for taps in layer.window]
        sizes = [size + before + after for size, before, after in zip(layer.src[1:], layer.pads[:2], layer.pads[2:])]
        if layer.kind != DECONVOLUTION and any(size < need for size, need in zip(sizes, reach)):
            return "the kernel is larger than the image"
        if layer.kind in (MAX, AVERAGE) and any(2 * pad > taps for pad, taps in zip(layer.pads, layer.window)):
            return "windows in the padding"
        if min(layer.dst) < 1:
            return "no result"
    if drawn.flops > MOST_FLOPS or BYTES["32f"] * drawn.traffic // BYTES[drawn.numbers] > MOST_BYTES:
        return "too much work"
    return ""


def _repeated(drawn: Drawn) -> Drawn:
    """A chain, if peers have this layer, its result is like its source, and there is not too much work."""
    alike = drawn.layer.src == drawn.layer.dst and len(drawn.block.layers) == 1 and drawn.numbers == "32f"
    counts = range(_CHAIN if alike else 1, 1, -1)
    chains = (replace(drawn, block=Block(drawn.block.layers * count)) for count in counts)
    return next((chain for chain in chains if not fault(chain)), drawn)


def drawn(seed: int, index: int) -> Drawn:
    """The layer of this index; the same on every machine."""
    dice = _Dice(seed, index)
    family = dice.weighted(_FAMILIES)
    while True:
        found = _tried(dice, seed, index, family)
        little = found.flops < 2 * _LITTLE and found.traffic < _LITTLE
        if not fault(found) and (not little or dice.chance(_OF_LITTLE)):
            return _repeated(found)
