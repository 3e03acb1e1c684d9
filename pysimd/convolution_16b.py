"""Convolution of bfloat16 images, and the way from floats to bfloat16 and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from pysimd._arrays import BFLOAT16, FLOAT32, Array, Shape, element_of, plain
from pysimd._convolution import Functions
from pysimd._library import lib
from pysimd._single_convolution import SmallConvolution
from pysimd.convolution import Convolution32f


def to_bfloat16(x: Array) -> Array:
    """float32 rounded to bfloat16 (as uint16), to nearest, ties to even, just as the library does it.

    Subnormal numbers are kept, a NaN stays one. ``.view(ml_dtypes.bfloat16)`` makes of it what other libraries know.
    """
    x = plain(x, "x")
    element_of(x, "x", (FLOAT32,))
    bits = np.ascontiguousarray(x).view(np.uint32).reshape(x.shape)
    with np.errstate(over="ignore"):  # only NaN can wrap, and has its own way
        rounded = (bits + np.uint32(0x7FFF) + (bits >> np.uint32(16) & np.uint32(1))) >> np.uint32(16)
    result: Array = np.where(np.isnan(x), bits >> np.uint32(16) | np.uint32(0x40), rounded).astype(np.uint16)
    return result


def from_bfloat16(x: Array) -> Array:
    """bfloat16 (uint16 or ml_dtypes.bfloat16) as float32, which is exact."""
    x = plain(x, "x")
    element_of(x, "x", (BFLOAT16,))
    bits = np.array(x.view(np.uint16), np.uint32, order="C", ndmin=1) << np.uint32(16)
    values: Array = bits.view(np.float32).reshape(x.shape)
    return values


class Convolution16b(SmallConvolution):
    """A convolution of bfloat16 numbers with sums of floats, bias and activation, for one shape of input.

    src_dtype, dst_dtype : "bfloat16" (also numpy.uint16 or ml_dtypes.bfloat16) or "float32", of the input and of the output.
        A float input is rounded to bfloat16, as weights are; a bfloat16 output is rounded from float.

    options : kernel, stride, padding, dilation, group, activation and layout, as of :class:`Convolution32f`, whose
        attributes it has too.

    Made and used as the others::

        with pysimd.Convolution16b((56, 56, 64), 64, kernel=3, padding=1, activation="relu") as convolution:
            convolution.set_params(weight, bias)
            y = convolution(pysimd.to_bfloat16(x))

    It takes half the memory of :class:`Convolution32f`, and on processors with AVX512-BF16 about half its time, but for 3x3
    and stride 1, where floats by Winograd's algorithm are faster. An extension: the formula, and how far sums may be off, is
    at SimdnetConvolution16bInit.
    """

    _small = BFLOAT16
    _functions = Functions(
        lambda batch, conv, gemm: lib.SimdnetConvolution16bInit(batch, conv),
        lib.SimdnetConvolution16bExternalBufferSize,
        lib.SimdnetConvolution16bInternalBufferSize,
        lib.SimdnetConvolution16bSetParams,
        lib.SimdnetConvolution16bForward,
    )
    _size = staticmethod(Convolution32f._size)
    _weights_of = staticmethod(Convolution32f._weights_of)

    def __init__(
        self, src_shape: Shape, dst_c: int, *, src_dtype: Any = "bfloat16", dst_dtype: Any = "bfloat16", **options: Any
    ) -> None:
        super().__init__(src_shape, dst_c, src_dtype, dst_dtype, options)
