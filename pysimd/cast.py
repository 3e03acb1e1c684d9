"""Elements converted to another type."""

from __future__ import annotations

from typing import Any

from pysimd._arrays import BFLOAT16, ELEMENTS, UINT8, element_of, element_of_dtype, output, plain, pointer
from pysimd._library import lib
from pysimd.annotations import Array, ForeignArray
from pysimd.calls import call

#: The types that can be converted: none of 16 bits.
CASTS = tuple(element for element in ELEMENTS if element is not BFLOAT16 and element.name != "float16")


def cast(x: Array | ForeignArray, dtype: Any, *, out: Array | None = None) -> Array:
    """The elements in another type: Cast of ONNX, and ``x.astype(dtype)`` as NumPy has it on x86-64.

    x : float32, uint8, int8, int32, int64, uint64 or bool, contiguous.
    dtype : one of these.
    out : of that dtype, with the shape of `x`.

    Integers become the nearest float, and keep their low bits in a smaller type. Floats are rounded towards zero; NaN and
    what int32, or int64 for int64 and uint64, cannot represent become the lowest number of that type. Raises TypeError for
    another dtype.

    >>> pysimd.cast(np.array([-1.5, 2.5], np.float32), np.int64)
    array([-1,  2])

    Formula: SimdnetCast.
    """
    array, target = plain(x, "x"), element_of_dtype(dtype, "dtype", CASTS)
    element = element_of(array, "x", CASTS)
    src = pointer(array, "x", element, ctype=UINT8.ctype)
    out, dst = output(out, array.shape, (x,), ("x",), element=target, ctype=UINT8.ctype, like=target)
    call(lib.SimdnetCast, element.tensor, src, array.size, target.tensor, dst)
    return out
