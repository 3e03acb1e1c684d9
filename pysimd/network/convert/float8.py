"""Floats of 8 bits in files: each byte is one of 256 numbers, which are floats here.

The types differ in the bits of the exponent, in its bias, and in what is NaN: with FN, the bytes whose bits but for the sign
are all set, and there is no infinity; with FNUZ, the byte of -0 alone. E5M2 is as float16, with fewer bits.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from pysimd.annotations import Array

#: By their numbers in ONNX: the bits of the fraction, the bias of the exponent, and the bytes of NaN.
_TYPES = {
    17: (3, 7, (0x7F, 0xFF)),  # E4M3FN
    18: (3, 8, (0x80,)),  # E4M3FNUZ
    19: (2, 15, (0x7D, 0x7E, 0x7F, 0xFD, 0xFE, 0xFF)),  # E5M2
    20: (2, 16, (0x80,)),  # E5M2FNUZ
}
_INFINITY = {19: 0x7C}

FLOAT8 = tuple(_TYPES)


@cache
def numbers_of(kind: int) -> Array:
    """The float of each byte, for the number of a type."""
    digits, bias, nan = _TYPES[kind]
    every = np.arange(256)
    size, exponent = every & 127, (every & 127) >> digits
    fraction = (size & ((1 << digits) - 1)) / (1 << digits)
    found = np.where(exponent > 0, np.ldexp(1 + fraction, exponent - bias), np.ldexp(fraction, 1 - bias))
    if kind in _INFINITY:
        found[size == _INFINITY[kind]] = np.inf
    found = np.where(every > 127, -found, found)
    found[list(nan)] = np.nan
    return found.astype(np.float32)
