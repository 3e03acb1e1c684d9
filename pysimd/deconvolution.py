"""Deconvolution (transposed convolution) of float32 images."""

from __future__ import annotations

from pysimd._arrays import Array, Shape, floats
from pysimd._convolution import Functions, Params
from pysimd._geometry import NCHW, Layout, Padding, Pair, layout_of
from pysimd._library import ffi, lib
from pysimd._single_convolution import SingleConvolution
from pysimd.enums import Activation


class Deconvolution32f(SingleConvolution):
    """A deconvolution with bias and activation, for one shape of input: every input adds the kernel, multiplied by it, to
    the output, stride further on for each input further on.

    src_shape, dst_c, kernel, stride, dilation, activation : as in :class:`Convolution32f`.
    padding : what is cut off the output: a number, a pair (y, x), or (top, left, bottom, right).
    group : divides the input and output channels; 1 for "nhwc".

    The output has stride * (size - 1) + dilation * (kernel - 1) + 1 rows and columns, less the padding.

    Attributes: src_shape, dst_shape, and weight_shape: (C, dst_c / group, kernel_y, kernel_x) for "nchw", (C, kernel_y,
    kernel_x, dst_c) for "nhwc".

    Make it, give it weights, call it any number of times, also from many threads at once::

        with pysimd.Deconvolution32f((28, 28, 128), 64, kernel=2, stride=2, activation="relu") as deconvolution:
            deconvolution.set_params(weight, bias)
            y = deconvolution(x)

    Raises ValueError for a geometry that cannot be. Formula: SimdSynetDeconvolution32fInit.
    """

    _functions = Functions(
        lib.SimdSynetDeconvolution32fInit,
        lib.SimdSynetDeconvolution32fExternalBufferSize,
        lib.SimdSynetDeconvolution32fInternalBufferSize,
        lambda context, weight, bias, params: lib.SimdSynetDeconvolution32fSetParams(
            context, weight, ffi.NULL, bias, params
        ),
        lib.SimdSynetDeconvolution32fForward,
    )

    @staticmethod
    def _size(size: int, span: int, stride: int, before: int, after: int, name: str) -> int:
        whole = stride * (size - 1) + span
        if before + after >= whole:
            raise ValueError(f"padding is {before} + {after}, expected less than the whole {name} of {whole}")
        if whole >= 2**63:
            raise ValueError(f"stride and kernel are too large for the {name}")
        return whole - before - after

    @staticmethod
    def _weights_of(form: int, src_c: int, dst_c: int, taps: tuple[int, int], group: int) -> Shape:
        if form != NCHW and group != 1:
            raise ValueError(f"group is {group}, expected 1 for 'nhwc'")
        return (src_c, dst_c // group, *taps) if form == NCHW else (src_c, *taps, dst_c)


def deconvolution(
    x: Array,
    weight: Array,
    bias: Array | None = None,
    *,
    stride: Pair = 1,
    padding: Padding = 0,
    dilation: Pair = 1,
    group: int = 1,
    activation: str | Activation = "identity",
    params: Params | None = None,
    layout: Layout = "nhwc",
    out: Array | None = None,
) -> Array:
    """Deconvolves images once: the arguments of :class:`Deconvolution32f`, :meth:`~Deconvolution32f.set_params` and
    :meth:`~Deconvolution32f.forward` together.

    It packs the weights for the call; keep a :class:`Deconvolution32f` for many calls with the same shape.
    """
    x, _ = floats(x, "x")
    weight, _ = floats(weight, "weight")
    nchw = layout_of(layout) == NCHW
    if weight.ndim != 4:
        axes = "C, dst_c / group, kernel_y, kernel_x" if nchw else "C, kernel_y, kernel_x, dst_c"
        raise ValueError(f"weight has shape {weight.shape}, expected ({axes})")
    kernel = weight.shape[2:] if nchw else weight.shape[1:3]
    with Deconvolution32f(
        x.shape,
        weight.shape[1] * group if nchw else weight.shape[3],
        kernel=(kernel[0], kernel[1]),
        stride=stride,
        padding=padding,
        dilation=dilation,
        group=group,
        activation=activation,
        layout=layout,
    ) as context:
        context.set_params(weight, bias, params)
        return context.forward(x, out=out)
