"""NHWC images whose pixels are strided, such as channel slices, ``big[..., 3:19]``."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from pysimd._arrays import FLOAT32, NULL, Element, element_of, plain, plain_output, pointer
from pysimd._library import ffi, lib
from pysimd.annotations import Array, Shape
from pysimd.calls import call, call_struct

#: What SimdnetPixelwise computes, by the end of the enumerator's name.
FUNCTIONS: dict[str, int] = {
    name.removeprefix("SimdnetPixelwise"): number for number, name in ffi.typeof("SimdnetPixelwiseFunction").elements.items()
}


def distance(array: Array) -> int:
    """The elements from a pixel of an NHWC array to the next; 0 if its pixels are not at one distance."""
    size, shape, strides = array.itemsize, array.shape, array.strides
    if shape[-1] > 1 and strides[-1] != size:
        return 0
    step, pixels = 0, 1  # bytes between pixels, and pixels of the axes so far
    for extent, stride in zip(shape[-2::-1], strides[-2::-1]):
        if extent > 1:
            step = step or (stride if pixels == 1 else 0)
            if stride != step * pixels:
                return 0
        pixels *= extent
    step = step or shape[-1] * size
    return step // size if step % size == 0 and step >= shape[-1] * size else 0


def has_gaps(*arrays: Any) -> bool:
    """Whether one of the arguments is an array of strided pixels."""
    return any(isinstance(a, np.ndarray) and not a.flags.c_contiguous and distance(a) > 0 for a in arrays)


class Image:
    """An argument of these functions: a plain array, a C array over its first pixel, and the distance of its pixels."""

    def __init__(self, array: Any, name: str, shape: Shape, element: Element, ctype: Any, writable: bool = False) -> None:
        self.array = plain_output(array, name) if writable else plain(array, name, element)
        element_of(self.array, name, (element,))
        if self.array.shape != shape:
            raise ValueError(f"{name} has shape {self.array.shape}, expected {shape}")
        self.pixel = distance(self.array) if self.array.size else shape[-1]
        if self.pixel == 0:  # refused with the usual reason
            pointer(self.array, name, element, writable, ctype)
        first = self.array[(0,) * (len(shape) - 1)] if self.array.size else self.array
        self.data = pointer(first, name, element, writable, ctype)


def separate(dst: Image, src: Image, name: str) -> None:
    """Refuses an output that has an element in common with a source."""
    if np.shares_memory(dst.array, src.array):
        raise ValueError(f"out overlaps {name}, expected elements of its own: use another array")


#: Where an addition stands: before the activation, as a term of the sum, or after it.
BEFORE, AFTER = int(lib.SimdnetAddBeforeActivation), int(lib.SimdnetAddAfterActivation)


def forward(handle: Any, src: Image, add: Image | None, dst: Image, scratch: Any, order: int = BEFORE) -> None:
    """Calls SimdnetForward. An output may be other channels of the same memory as a source."""
    separate(dst, src, "x")
    if add is not None:
        separate(dst, add, "add")
    arguments = ffi.new("SimdnetForwardParameters *")
    arguments.size = ffi.sizeof("SimdnetForwardParameters")
    arguments.src, arguments.srcPixel = src.data, _pixel(src)
    arguments.dst, arguments.dstPixel = dst.data, _pixel(dst)
    if add is not None:
        arguments.add, arguments.addPixel, arguments.order = add.data, _pixel(add), order
    arguments.buf = scratch if scratch is not None else NULL
    call(lib.SimdnetForward, handle, arguments)


def _pixel(image: Image) -> int:
    """The distance for C: 0 for a dense array, of any layout."""
    return 0 if image.array.flags.c_contiguous else image.pixel


def pixelwise(
    function: int,
    sources: Sequence[Any],
    names: Sequence[str],
    out: Array | None,
    params: Sequence[Any] = (),
    **coefficients: Any,
) -> Array:
    """Calls SimdnetPixelwise with one or two sources, and returns the output, which may be one of them.

    params : numbers, or C arrays of one.
    coefficients : C arrays.
    """
    shape = plain(sources[0], names[0]).shape
    images = [Image(x, name, shape, FLOAT32, FLOAT32.ctype) for x, name in zip(sources, names)]
    out = np.empty(shape, np.float32) if out is None else out
    dst = Image(out, "out", shape, FLOAT32, FLOAT32.ctype, True)
    for image, name in zip(images, names):
        if image.array.ctypes.data != dst.array.ctypes.data or image.pixel != dst.pixel:
            separate(dst, image, name)
    given = {"srcPixel": images[0].pixel, "src1Pixel": images[-1].pixel, "dstPixel": dst.pixel} | coefficients
    arguments = ffi.new("SimdnetPixelwiseParameters *", given)
    arguments.size = ffi.sizeof("SimdnetPixelwiseParameters")
    arguments.function, arguments.channels, arguments.pixels = function, shape[-1], prod(shape[:-1])
    arguments.src, arguments.src1, arguments.dst = images[0].data, images[-1].data, dst.data
    for i, value in enumerate(params):
        arguments.params[i] = value[0]
    call_struct(lib.SimdnetPixelwise, arguments, held={"sources": images, "out": dst} | coefficients)
    return out


def copy(x: Array, *, out: Array) -> Array:
    """Copies pixels, on all threads."""
    return pixelwise(lib.SimdnetPixelwiseCopy, (x,), ("x",), out)
