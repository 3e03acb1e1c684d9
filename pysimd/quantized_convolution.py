"""Convolution of quantised bytes, whose tensors have one scale and one zero each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pysimd import calls
from pysimd._activation_params import params_of
from pysimd._arrays import INT8, INT32, NULL, UINT8, coefficients, element_of, plain, pointer, tensor
from pysimd._convolution import Functions
from pysimd._library import ffi, lib
from pysimd._single_convolution import Options, SingleConvolution, with_options
from pysimd.annotations import Array, Coefficients, Params, Shape
from pysimd.quantized import AddingBytes, Linear, QuantizedSum, byte_linears, set_with_more

if TYPE_CHECKING:
    from typing_extensions import Unpack


class QuantizedConvolution(AddingBytes, SingleConvolution):
    """A convolution of quantised bytes, for one shape of input: QLinearConv of ONNX, with an activation.

    src_shape, dst_c, kernel, stride, padding, dilation, group, activation, layout : as of :class:`Convolution32f`, which has
        the same attributes. Outside the image is the byte that represents 0.

    Inputs and results are uint8, weights int8.

    >>> with pysimd.QuantizedConvolution((5, 5, 8), 4, kernel=3) as context:
    ...     weight = np.ones(context.weight_shape, np.int8)
    ...     context.set_params(weight, 0.5, src=(0.25, 10), dst=(1.0, 3))
    ...     y = context(np.full((5, 5, 8), 12, np.uint8))
    >>> int(y[0, 0, 0])
    21

    Results are bit-identical on every instruction set. Raises ValueError for sizes that do not fit. Formula:
    SimdSynetQuantizedConvolutionInit.
    """

    _src = _dst = _unit = UINT8
    _functions = Functions(
        lambda batch, conv, gemm: lib.SimdSynetQuantizedConvolutionInit(batch, conv),
        lib.SimdSynetQuantizedConvolutionExternalBufferSize,
        lib.SimdSynetQuantizedConvolutionInternalBufferSize,
        lib.SimdSynetQuantizedConvolutionSetParams,
        lib.SimdSynetQuantizedConvolutionForward,
    )

    @with_options
    def __init__(self, src_shape: Shape, dst_c: int, **options: Unpack[Options]) -> None:
        super().__init__(src_shape, dst_c, **options)

    def set_params(  # type: ignore[override]
        self,
        weight: Array,
        weight_scale: Coefficients,
        src: Linear,
        dst: Linear,
        bias: Array | None = None,
        params: Params | None = None,
        middle: Linear | None = None,
        table: Array | None = None,
        addition: QuantizedSum | None = None,
    ) -> None:
        """Sets the weights; may be called again with others, but not while :meth:`forward` runs.

        weight : int8 of ``weight_shape``.
        weight_scale : float32 of shape (dst_c,), (dst_c, 1, 1) or (1, dst_c, 1, 1), or one number; finite and above 0.
        bias : int32 of shape (dst_c,), in units of the scale of `src` times `weight_scale`; None for zeros.
        params : as of :meth:`Convolution32f.set_params`.
        src, dst : the scale and the zero of inputs and of results.
        middle : those of the bytes to which an activation other than "identity" is applied; None for those of `dst`.
        table : uint8 of shape (256,), with activation "identity": results are ``table[y]``, for bytes y of `dst`, as of
            :func:`pysimd.table8`. None for y.
        addition : with activation "identity": the scales and zeros of sums, for calls with `add`; None if there are none.

        The context copies the numbers. References to the arrays are kept only for pickle and copy, which read the numbers
        that the arrays contain then. Raises TypeError for another dtype, ValueError for another shape, scale or zero.
        """
        handle, given = self._open(), (weight, weight_scale, src, dst, bias, params, middle, table, addition)
        linears = byte_linears((src, dst if middle is None else middle, dst), ("src", "middle", "dst"))
        weights = tensor(weight, "weight", self._weight_shape, INT8, INT8.ctype)
        scales = coefficients(weight_scale, "weight_scale", self._dst_c)
        numbers = params_of(params, self._kind, self._dst_c)
        io_scale = ffi.new("float[]", [scale for scale, _ in linears])
        io_zero = ffi.new("uint8_t[]", [zero for _, zero in linears])
        terms = NULL
        if bias is not None:
            array = plain(bias, "bias", INT32)
            element_of(array, "bias", (INT32,))
            if array.shape != (self._dst_c,):
                raise ValueError(f"bias has shape {array.shape}, expected ({self._dst_c},)")
            terms = pointer(array, "bias", INT32)
        if table is None and addition is None:
            calls.set_params(self._functions.set_params, handle, io_scale, io_zero, weights, scales, terms, numbers)
        else:
            set_with_more(handle, linears[0], linears[2], (weights, scales, terms), table, addition)
        self._given = given
