"""NHWC images whose pixels lie among other elements, such as some channels of an image, ``big[..., 3:19]``."""

from __future__ import annotations

from typing import Any

import numpy as np

from pysimd._arrays import NULL, Element, element_of, plain, plain_output, pointer
from pysimd._library import ffi, lib
from pysimd.annotations import Array, Shape
from pysimd.calls import call


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


class Image:
    """An argument of :func:`forward`: a plain array, a C array over its first pixel, and the distance of its pixels."""

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


def forward(handle: Any, src: Image, add: Image | None, dst: Image, scratch: Any) -> None:
    """Calls SimdnetForward. An output may be other channels of the same memory as a source."""
    for other, name in ((src, "x"), (add, "add")):
        if other is not None and np.shares_memory(dst.array, other.array):
            raise ValueError(f"out overlaps {name}, expected elements of its own: use another array")
    arguments = ffi.new("SimdnetForwardParameters *")
    arguments.size = ffi.sizeof("SimdnetForwardParameters")
    arguments.src, arguments.srcPixel = src.data, src.pixel
    arguments.dst, arguments.dstPixel = dst.data, dst.pixel
    if add is not None:
        arguments.add, arguments.addPixel = add.data, add.pixel
    arguments.buf = scratch if scratch is not None else NULL
    call(lib.SimdnetForward, handle, arguments)
