"""Convolution of bfloat16 images, and conversion of floats to bfloat16 and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pysimd._arrays import BFLOAT16, FLOAT32, element_of, plain, pointer
from pysimd._convolution import Functions
from pysimd._library import lib
from pysimd._single_convolution import Options, SmallConvolution, with_options
from pysimd.annotations import FloatArray, Floats, NDArray, Shape, Tensor

if TYPE_CHECKING:
    from typing_extensions import Unpack


def to_bfloat16(x: Floats) -> NDArray[np.uint16]:
    """float32 rounded to bfloat16 (as uint16), to nearest, ties to even, as the library rounds.

    x : float32 of any shape.

    Subnormal numbers are kept, NaN stays NaN. ``.view(ml_dtypes.bfloat16)`` of the result is an array for other libraries.
    Raises TypeError for another dtype. ``x.astype(np.float16)`` rounds to half precision.

    Formula: SimdFloat32ToBFloat16.

    >>> pysimd.to_bfloat16(np.array([1, -2], np.float32))
    array([16256, 49152], dtype=uint16)
    """
    array = plain(x, "x")
    element_of(array, "x", (FLOAT32,))
    src, result = np.ascontiguousarray(array), np.empty(array.shape, np.uint16)
    lib.SimdFloat32ToBFloat16(pointer(src, "x", FLOAT32), array.size, pointer(result, "result", BFLOAT16, True))
    return result


def from_bfloat16(x: Tensor) -> FloatArray:
    """bfloat16 as float32, which is exact.

    x : bfloat16 (uint16 or ml_dtypes.bfloat16) of any shape.

    Raises TypeError for another dtype.

    Formula: SimdBFloat16ToFloat32.

    >>> pysimd.from_bfloat16(np.array([16256, 49152], np.uint16))
    array([ 1., -2.], dtype=float32)
    """
    array = plain(x, "x", BFLOAT16)
    element_of(array, "x", (BFLOAT16,))
    src, values = np.ascontiguousarray(array.view(np.uint16)), np.empty(array.shape, np.float32)
    lib.SimdBFloat16ToFloat32(pointer(src, "x", BFLOAT16), array.size, pointer(values, "result", FLOAT32, True))
    return values


class Convolution16b(SmallConvolution):
    """A convolution of bfloat16 numbers with sums of floats, bias and activation, for one shape of input.

    src_shape, dst_c, kernel, stride, padding, dilation, group, activation, layout : as of :class:`Convolution32f`, which has
        the same attributes.
    src_dtype, dst_dtype : "bfloat16" (also numpy.uint16 or ml_dtypes.bfloat16) or "float32", of the input and of the output.
        A float input is rounded to bfloat16, as weights are, except in depthwise convolutions in NHWC, which round neither;
        a bfloat16 output is rounded from float.

    It takes half the memory of :class:`Convolution32f`, and on processors with AVX512-BF16 about half its time, except for
    3x3 with stride 1, where floats by Winograd's algorithm are faster. Where groups have few channels, images and weights
    become floats inside, unless memory is preferred (:func:`preference`).

    >>> x, weight = pysimd.to_bfloat16(np.ones((56, 56, 64), np.float32)), np.ones((3, 3, 64, 32), np.float32)
    >>> with pysimd.Convolution16b(x.shape, 32, kernel=3, padding=1, dst_dtype="float32") as context:
    ...     context.set_params(weight)
    ...     y = context(x)
    >>> y.shape, float(y[5, 5, 0])
    ((56, 56, 32), 576.0)

    Raises TypeError for another dtype, ValueError for sizes that do not fit. For the formula and the bound of
    its error see SimdSynetConvolution16bInit.
    """

    _small = BFLOAT16
    _functions = Functions(
        lambda batch, conv, gemm: lib.SimdSynetConvolution16bInit(batch, conv, 0),
        lib.SimdSynetConvolution16bExternalBufferSize,
        lib.SimdSynetConvolution16bInternalBufferSize,
        lib.SimdSynetConvolution16bSetParams,
        lib.SimdSynetConvolution16bForward,
    )

    @with_options
    def __init__(
        self,
        src_shape: Shape,
        dst_c: int,
        *,
        src_dtype: Any = "bfloat16",
        dst_dtype: Any = "bfloat16",
        **options: Unpack[Options],
    ) -> None:
        self._set_types(src_dtype, dst_dtype)
        super().__init__(src_shape, dst_c, **options)
