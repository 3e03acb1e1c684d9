"""Deconvolution (transposed convolution) of float32 and of bfloat16 images."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pysimd._arrays import BFLOAT16
from pysimd._convolution import Functions
from pysimd._geometry import NCHW, is_signal, layout_of
from pysimd._library import lib
from pysimd._single_convolution import Options, SingleConvolution, SmallConvolution, arrays_of, with_options
from pysimd.annotations import ActivationLike, Coefficients, FloatArray, Floats, Layout, Padding, Pair, Params, Shape

if TYPE_CHECKING:
    from typing_extensions import Unpack


class _Deconvolution(SingleConvolution):
    """The sizes of a deconvolution, and the order of its weights."""

    @staticmethod
    def _size(size: int, span: int, stride: int, before: int, after: int, name: str) -> int:
        whole = stride * (size - 1) + span
        if before + after >= whole:
            raise ValueError(f"padding is {before} + {after}, expected less than the whole {name} of {whole}")
        if whole >= 2**63:
            raise ValueError(f"stride and kernel are too large for the {name}")
        return whole - before - after

    @staticmethod
    def _same(size: int, span: int, stride: int) -> int:
        if span < stride:
            raise ValueError(f"padding is 'same', expected numbers for a kernel of {span} that is less than stride {stride}")
        return span - stride

    @staticmethod
    def _axes_of_weights(form: int) -> str:
        taps = "kernel" if is_signal(form) else "kernel_y, kernel_x"
        return f"(C, dst_c / group, {taps})" if form == NCHW else f"(C, {taps}, dst_c / group)"

    @staticmethod
    def _weights_of(form: int, src_c: int, dst_c: int, taps: Shape, group: int) -> Shape:
        return (src_c, dst_c // group, *taps) if form == NCHW else (src_c, *taps, dst_c // group)


class Deconvolution32f(_Deconvolution):
    """A deconvolution (transposed convolution) with bias and activation, for one shape of input: each element of the input
    adds the kernel, multiplied by it, to the output, at `stride` times its position.

    src_shape, dst_c, kernel, stride, dilation, activation, layout : as of :class:`Convolution32f`.
    padding : how many rows and columns of the output are cut off: a number, a pair (y, x), (top, left, bottom, right), for
        signals a number or a pair (before, after); or "valid" for none, or "same" for an output of size * stride.
    group : divides the input and output channels.
    output_padding : how many rows and columns of the padding at the bottom and at the right are kept: a number or a pair
        (y, x), for signals a number, at most that padding. For more, append zeros to the kernel.

    The output has stride * (size - 1) + dilation * (kernel - 1) + 1 rows and columns, minus the padding, plus the
    output_padding, as in PyTorch.

    Attributes: src_shape, dst_shape, and weight_shape: (C, kernel_y, kernel_x, dst_c / group) for "nhwc", (C, dst_c /
    group, kernel_y, kernel_x) for "nchw", without kernel_y for signals.

    A context is created once and called any number of times, also from many threads at once:

    >>> x, weight = np.ones((28, 28, 64), np.float32), np.ones((64, 2, 2, 32), np.float32)
    >>> with pysimd.Deconvolution32f(x.shape, 32, kernel=2, stride=2, activation="relu6") as context:
    ...     context.set_params(weight)
    ...     y = context(x)
    >>> y.shape, float(y[5, 5, 0])
    ((56, 56, 32), 6.0)

    Raises ValueError for sizes that do not fit. Formula: SimdSynetDeconvolution32fInit.
    """

    _functions = Functions(
        lib.SimdSynetDeconvolution32fInit,
        lib.SimdSynetDeconvolution32fExternalBufferSize,
        lib.SimdSynetDeconvolution32fInternalBufferSize,
        lib.SimdSynetDeconvolution32fSetParams,
        lib.SimdSynetDeconvolution32fForward,
        has_internal=True,
    )

    @with_options
    def __init__(
        self,
        src_shape: Shape,
        dst_c: int,
        *,
        output_padding: Pair = 0,
        **options: Unpack[Options],
    ) -> None:
        self._output_padding = output_padding
        super().__init__(src_shape, dst_c, **options)


class Deconvolution16b(_Deconvolution, SmallConvolution):
    """A deconvolution of bfloat16 numbers with sums of floats, bias and activation, for one shape of input.

    src_shape, dst_c, kernel, stride, padding, dilation, group, activation, layout, output_padding : as of
        :class:`Deconvolution32f`, which has the same attributes.
    src_dtype, dst_dtype : "bfloat16" (also numpy.uint16 or ml_dtypes.bfloat16) or "float32", of the input and of the output.
        A float input is rounded to bfloat16, as weights are; a bfloat16 output is rounded from float.

    With another stride than 1 it is computed by floats, and takes longer than :class:`Deconvolution32f`.

    >>> x, weight = pysimd.to_bfloat16(np.ones((28, 28, 64), np.float32)), np.ones((64, 2, 2, 32), np.float32)
    >>> with pysimd.Deconvolution16b(x.shape, 32, kernel=2, stride=2, dst_dtype="float32") as context:
    ...     context.set_params(weight)
    ...     y = context(x)
    >>> y.shape, float(y[5, 5, 0])
    ((56, 56, 32), 64.0)

    Raises TypeError for another dtype, ValueError for sizes that do not fit. Formula: SimdSynetDeconvolution16bInit.
    """

    _small = BFLOAT16
    _functions = Functions(
        lambda batch, conv, gemm: lib.SimdSynetDeconvolution16bInit(batch, conv, 0),
        lib.SimdSynetDeconvolution16bExternalBufferSize,
        lib.SimdSynetDeconvolution16bInternalBufferSize,
        lib.SimdSynetDeconvolution16bSetParams,
        lib.SimdSynetDeconvolution16bForward,
    )

    @with_options
    def __init__(
        self,
        src_shape: Shape,
        dst_c: int,
        *,
        src_dtype: Any = "bfloat16",
        dst_dtype: Any = "bfloat16",
        output_padding: Pair = 0,
        **options: Unpack[Options],
    ) -> None:
        self._output_padding = output_padding
        self._set_types(src_dtype, dst_dtype)
        super().__init__(src_shape, dst_c, **options)


def deconvolution(
    x: Floats,
    weight: Floats,
    bias: Coefficients | None = None,
    *,
    stride: Pair = 1,
    padding: Padding = 0,
    dilation: Pair = 1,
    group: int = 1,
    activation: ActivationLike = "identity",
    params: Params | None = None,
    layout: Layout = "nhwc",
    output_padding: Pair = 0,
    out: FloatArray | None = None,
) -> FloatArray:
    """A deconvolution (transposed convolution) with bias and activation.

    x : float32, contiguous: (H, W, C) for "nhwc", (C, H, W) for "nchw", (W, C) for "nwc", (C, W) for "ncw"; or a batch.
    weight : float32, contiguous: (C, kernel_y, kernel_x, dst_c / group) for "nhwc", (C, dst_c / group, kernel_y,
        kernel_x) for "nchw", without kernel_y for signals.
    bias : float32 of shape (dst_c,), (dst_c, 1, 1) or (1, dst_c, 1, 1), or one number; None for zeros.
    stride, padding, dilation, group, activation, layout, output_padding : as of :class:`Deconvolution32f`.
    params : the parameters of the activation, as of :meth:`Convolution32f.set_params`.
    out : float32 of the output's shape.

    The weights are packed in every call; a :class:`Deconvolution32f` packs them once for many calls with the same shape.
    Raises TypeError for another dtype, ValueError for shapes that do not fit.

    >>> x, weight = np.array([[[1], [2]]], np.float32), np.array([[[[1], [10]]]], np.float32)
    >>> pysimd.deconvolution(x, weight, stride=(1, 2))[:, :, 0]
    array([[ 1., 10.,  2., 20.]], dtype=float32)
    """
    images, weights = arrays_of(Deconvolution32f, x, weight, layout, group)
    nchw = layout_of(layout) == NCHW
    with Deconvolution32f(
        images.shape,
        weights.shape[1 if nchw else -1] * group,
        kernel=weights.shape[2:] if nchw else weights.shape[1:-1],
        stride=stride,
        padding=padding,
        dilation=dilation,
        group=group,
        activation=activation,
        layout=layout,
        output_padding=output_padding,
    ) as context:
        context.set_params(weights, bias, params)
        return context.forward(images, out=out)
