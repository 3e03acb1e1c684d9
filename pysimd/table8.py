"""Functions of one quantised byte, by a table of their 256 values."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from pysimd._arrays import INT8, UINT8, element_of, output, plain, plain_output, pointer, tensor
from pysimd._library import ffi, lib
from pysimd._pixels import Image, has_gaps, separate
from pysimd.annotations import Array
from pysimd.calls import call_struct
from pysimd.quantize_linear import SomeBytes

_BYTES = (UINT8, INT8)


def table8(x: SomeBytes, table: SomeBytes, *, out: Array | None = None) -> Array:
    """``table[x]``: replaces each byte by one of a table.

    x : uint8 or int8 of any shape, contiguous or a channel slice (``big[..., 3:19]``).
    table : 256 numbers of uint8 or int8. That of an int8 number b is at ``b & 255``: those below 0 are the second half.
    out : of the shape of `x` and the dtype of `table`; it may be `x`, and a channel slice.

    Any function of one number in one byte, such as an activation between two scales, is such a table. Raises TypeError
    for another dtype, ValueError for another shape.

    >>> squares = (np.arange(256) ** 2 // 255).astype(np.uint8)
    >>> pysimd.table8(np.array([0, 2, 16, 255], np.uint8), squares)
    array([  0,   0,   1, 255], dtype=uint8)

    Formula: SimdnetTable8.
    """
    array, numbers = plain(x, "x", UINT8), plain(table, "table", UINT8)
    source, result = element_of(array, "x", _BYTES), element_of(numbers, "table", _BYTES)
    entries = tensor(numbers, "table", (256,), result, UINT8.ctype)
    if has_gaps(array, out):
        return _pixels(array, numbers, entries, np.empty(array.shape, result.dtype) if out is None else out)
    src = pointer(array, "x", source, False, UINT8.ctype)
    same = int(source is result)
    out, dst = output(out, array.shape, (x, table), ("x", "table"), same, element=result, ctype=UINT8.ctype, like=result)
    _run(entries, src=src, dst=dst, channels=array.size, pixels=1)
    return out


def _pixels(array: Array, numbers: Array, entries: Any, out: Array) -> Array:
    """The same of pixels with gaps between them."""
    shape = array.shape
    result = element_of(numbers, "table", _BYTES)
    src = Image(array, "x", shape, element_of(array, "x", _BYTES), UINT8.ctype)
    dst = Image(out, "out", shape, result, UINT8.ctype, True)
    if src.data != dst.data or src.pixel != dst.pixel:
        separate(dst, src, "x")
    if np.may_share_memory(plain_output(out, "out"), numbers):
        raise ValueError("out overlaps table, expected memory of its own: use another array")
    sizes = {"srcPixel": src.pixel, "dstPixel": dst.pixel, "channels": shape[-1], "pixels": prod(shape[:-1])}
    _run(entries, src=src.data, dst=dst.data, **sizes)
    return out


def _run(table: Any, **given: Any) -> None:
    arguments = ffi.new("SimdnetTable8Parameters *", given | {"table": table})
    arguments.size = ffi.sizeof("SimdnetTable8Parameters")
    call_struct(lib.SimdnetTable8, arguments, held=given | {"table": table})
