"""What a case is, and what families build cases of: arrays, pointers, calls with bound arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Callable

import numpy as np

from bench import arrays
from bench.layers import (
    Block,
    Layer,
    Values,
    in_layout,
)
from bench.operators import Operator
from pysimd._library import ffi, lib

_AIM_PEAK = 118e9
FORMATS = {"nchw": 0, "nhwc": 1}


@dataclass(frozen=True)
class Prepared:
    """A case with its arrays: the call, and its minimal work."""

    call: Callable[[], Any]
    empty: Callable[[], Any] | None = None  # the same function with nothing to do
    flops: int = 0  # for a case that computes
    arithmetic: str = "fma"  # its kind: multiply-adds, products of bytes ("dot") or of bfloat16 numbers ("bf16")
    traffic: int = 0  # bytes read and written, for a case that moves memory
    either: bool = False  # the limit is the longer one of arithmetic and of a copy of so many bytes
    info: str = ""
    keep: tuple[Any, ...] = ()  # keeps the arrays alive that the calls point to
    values: tuple[Values, ...] = ()  # of the layers, for peers; the source is that of the first one
    result: Callable[[], np.ndarray] | None = None  # the result; of layers as (channels, height, width)
    operator: Operator | None = None  # what peers build, if it is no block of layers


@dataclass(frozen=True)
class Case:
    """One layer in one layout."""

    family: str
    layer: str
    layout: str
    prepare: Callable[[], Prepared]
    aim_peak: float | None = None
    aim_us: float | None = None
    subject: Block | None = None  # what peers build
    draw: tuple[int, ...] = ()  # of a layer drawn at random: the seed and the index
    uses: Mapping[str, int] = field(default_factory=dict)  # how often each network contains it

    def aim_seconds(self, prepared: Prepared, peak: float, limit_seconds: float) -> float | None:
        """The aim on a machine with this multiply-add peak."""
        if self.aim_peak:
            return limit_seconds / self.aim_peak
        if self.aim_us:
            return self.aim_us * 1e-6 * _AIM_PEAK / peak
        return None


_random = np.random.default_rng(1)


def floats(*shape: int) -> np.ndarray:
    return arrays.placed(_random.uniform(-1, 1, shape).astype(np.float32))


def some_bytes(*shape: int) -> np.ndarray:
    return arrays.placed(_random.integers(0, 256, shape, dtype=np.uint8))


def bfloats(*shape: int) -> np.ndarray:
    return arrays.placed((floats(*shape).view(np.uint32) >> 16).astype(np.uint16))


MAKERS = {"32f": (floats, "float *"), "16b": (bfloats, "uint16_t *"), "8u": (some_bytes, "uint8_t *")}


def at(array: np.ndarray, ctype: str = "float *") -> Any:
    return ffi.cast(ctype, array.ctypes.data)


def bind(function: Callable[..., Any], *arguments: Any) -> Callable[[], Any]:
    return lambda: function(*arguments)


def chain(calls: Sequence[Callable[[np.ndarray, np.ndarray], Callable[[], Any]]], src: np.ndarray, dst: np.ndarray) -> Any:
    """One call for several, each of which reads what the one before has written. `calls` bind them to source and result. The
    images between lie in `dst` and in a second place in turn, as in a network."""
    if len(calls) == 1:
        return calls[0](src, dst)
    places = (dst, arrays.empty(dst.shape, dst.dtype))
    images = [src, *(places[left % 2] for left in reversed(range(len(calls))))]
    bound = [make(x, y) for make, x, y in zip(calls, images, images[1:])]

    def call(_: Any = places) -> None:  # the pointers do not keep the arrays alive
        for each in bound:
            each()

    return call


def placed_in(image: np.ndarray, layout: str) -> np.ndarray:
    return arrays.placed(in_layout(image, layout))


def parameters(layer: Layer, layout: str) -> Any:
    """The struct that Init functions of convolutions take."""
    p = ffi.new("SimdConvolutionParameters *")
    (p.srcC, p.srcH, p.srcW), (p.dstC, p.dstH, p.dstW) = layer.src, layer.dst
    p.srcT = p.dstT = lib.SimdTensorData32f
    p.srcF = p.dstF = FORMATS[layout]
    p.kernelY, p.kernelX = layer.window
    p.dilationY = p.dilationX = layer.dilation
    p.strideY = p.strideX = layer.stride
    p.padY, p.padX, p.padH, p.padW = layer.pads
    p.group = layer.group
    p.activation = lib.SimdConvolutionActivationRelu if layer.relu else lib.SimdConvolutionActivationIdentity
    return p
