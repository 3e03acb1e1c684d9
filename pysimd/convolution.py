"""Convolution of float32 images."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pysimd._arrays import NULL, apart, output, tensor
from pysimd._convolution import Functions
from pysimd._geometry import NCHW, layout_of
from pysimd._library import lib
from pysimd._single_convolution import Options, SingleConvolution, arrays_of, with_options, with_remedy
from pysimd.annotations import (
    ActivationLike,
    Coefficients,
    FloatArray,
    Floats,
    Layout,
    Padding,
    Pair,
    Params,
    Shape,
    Tensor,
)
from pysimd.calls import call
from pysimd.errors import NO_WEIGHTS, StateError

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Convolution32f(SingleConvolution):
    """A convolution with bias and activation, for one shape of input.

    src_shape : (H, W, C) for "nhwc", (C, H, W) for "nchw", (W, C) for "nwc", (C, W) for "ncw"; or with a batch in front,
        whose size is fixed here.
    dst_c : the number of output channels.
    kernel, stride, dilation : a number or a pair (y, x), at least 1; for signals a number.
    padding : zeros around the image: a number, a pair (y, x), (top, left, bottom, right), for signals a number or a pair
        (before, after); or "valid" for none, or "same" for an output of ceil(size / stride), with the odd zero at the end.
    group : divides the input and output channels; equal to both it makes a depthwise convolution.
    activation : a name or an :class:`Activation`, applied to the sum with its bias.
    layout : "nhwc" or "nchw" for images, "nwc" or "ncw" for signals of one dimension.
    prefer : "speed", "memory", "exact" or "bfloat16", see :func:`pysimd.set_preference`; None for what is set there.

    The activations of v = sum + bias, with their parameters in :meth:`set_params` and the defaults of these::

        identity         -                       v
        relu             -                       max(0, v)
        relu6            -                       min(max(0, v), 6)
        leaky_relu       slope=0.01              max(0, v) + slope * min(0, v)
        restrict_range   lower=-inf, upper=inf   min(max(lower, v), upper)
        prelu            slope                   as leaky_relu with one slope per output channel, or one for all
        elu              alpha=1                 v if v >= 0 else alpha * (exp(v) - 1)
        hswish           shift=3, scale=1/6      max(min(v, shift) + shift, 0) * scale * v; also called hardswish
        mish             threshold=20            v if v > threshold else v * tanh(log(1 + exp(v)))
        hard_sigmoid     scale=1/6, shift=1/2    max(0, min(v * scale + shift, 1)); also called hardsigmoid
        swish            slope=1                 v / (1 + exp(-slope * v)); also called silu
        gelu             -                       v * (1 + erf(v / sqrt(2))) / 2
        sigmoid          -                       1 / (1 + exp(-v))

    Attributes: src_shape, dst_shape, and weight_shape: (kernel_y, kernel_x, C / group, dst_c) for "nhwc", (dst_c, C / group,
    kernel_y, kernel_x) for "nchw", without kernel_y for signals.

    A context is created once and called any number of times, also from many threads at once:

    >>> x, weight = np.ones((56, 56, 64), np.float32), np.ones((3, 3, 64, 32), np.float32)
    >>> with pysimd.Convolution32f(x.shape, 32, kernel=3, padding=1, activation="relu") as context:
    ...     context.set_params(weight, bias=-500)
    ...     y = context(x)
    ...     z = context(x, add=y)  # relu(sum + bias + y)
    >>> y.shape, float(y[5, 5, 0]), float(z[5, 5, 0])
    ((56, 56, 32), 76.0, 152.0)

    Where channels are last, images may be channel slices of larger ones: a concatenation needs no copy.

    >>> joined = np.zeros((56, 56, 96), np.float32)
    >>> joined[..., :64] = x
    >>> with pysimd.Convolution32f(x.shape, 32, kernel=1) as context:
    ...     context.set_params(weight[:1, :1])
    ...     y = context(joined[..., :64], out=joined[..., 64:])
    >>> float(joined[5, 5, 64]), float(joined[5, 5, 63])
    (64.0, 1.0)

    Raises ValueError for sizes that do not fit. Formula: SimdSynetConvolution32fInit.
    """

    _functions = Functions(
        lib.SimdSynetConvolution32fInit,
        lib.SimdSynetConvolution32fExternalBufferSize,
        lib.SimdSynetConvolution32fInternalBufferSize,
        lib.SimdSynetConvolution32fSetParams,
        lib.SimdSynetConvolution32fForward,
        has_internal=True,
    )

    @with_options
    def __init__(self, src_shape: Shape, dst_c: int, *, prefer: str | None = None, **options: Unpack[Options]) -> None:
        with self._preferring(prefer):
            super().__init__(src_shape, dst_c, **options)

    def forward(
        self, x: Tensor, *, add: Floats | None = None, out: FloatArray | None = None, buf: FloatArray | None = None
    ) -> FloatArray:
        """Computes the output for `x`.

        x : float32 of ``src_shape``.
        add : float32 of ``dst_shape``, added before the activation, as at the end of a residual block; may be `x`.
        out : float32 of ``dst_shape``. Where channels are last, x, add and out may be channel slices of larger arrays.
        buf : float32 with at least ``external_buffer_size`` elements, for this call only; without it the library uses
            memory of the calling thread. The result does not depend on it.

        Raises TypeError for another dtype, ValueError for another shape, :class:`StateError` before :meth:`set_params`.
        """
        if add is None:
            return super().forward(x, out=out, buf=buf)
        try:
            return self._forward_add(x, add, out, buf)
        except StateError:
            raise
        except ValueError:
            if not self._has_gaps(x, add, out):
                raise
        return self._forward_pixels(x, add, out, buf)

    def _forward_add(self, x: Tensor, add: Floats, out: FloatArray | None, buf: FloatArray | None) -> FloatArray:
        handle = self._open()
        src, more = tensor(x, "x", self._src_shape), tensor(add, "add", self._dst_shape)
        out, dst = output(out, self._dst_shape, (x, add), ("x", "add"))
        scratch = NULL
        if buf is not None:
            scratch = self._buffer_of(handle, buf, src, dst)
            apart(scratch, "buf", more, "add")
        if self._images:
            call(lib.SimdnetConvolution32fForwardAdd, handle, src, scratch, more, dst)
        elif self._given is None:
            raise StateError(NO_WEIGHTS)
        return out

    __call__ = forward


def convolution(
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
    add: Floats | None = None,
    layout: Layout = "nhwc",
    out: FloatArray | None = None,
) -> FloatArray:
    """A convolution with bias and activation.

    x : float32, contiguous: (H, W, C) for "nhwc", (C, H, W) for "nchw", (W, C) for "nwc", (C, W) for "ncw"; or a batch.
    weight : float32, contiguous: (kernel_y, kernel_x, C / group, dst_c) for "nhwc", (dst_c, C / group, kernel_y, kernel_x)
        for "nchw", without kernel_y for signals.
    bias : float32 of shape (dst_c,), (dst_c, 1, 1) or (1, dst_c, 1, 1), or one number; None for zeros.
    stride, padding, dilation, group, activation, layout : as of :class:`Convolution32f`.
    params : the parameters of the activation, as of :meth:`Convolution32f.set_params`.
    add : float32 of the output's shape, added before the activation.
    out : float32 of the output's shape.

    The weights are packed in every call; a :class:`Convolution32f` packs them once for many calls with the same shape.
    Raises TypeError for another dtype, ValueError for shapes that do not fit.

    >>> x, weight = np.ones((4, 4, 2), np.float32), np.ones((3, 3, 2, 1), np.float32)
    >>> pysimd.convolution(x, weight, bias=-10, padding="same", activation="relu")[:, :, 0]
    array([[0., 2., 2., 0.],
           [2., 8., 8., 2.],
           [2., 8., 8., 2.],
           [0., 2., 2., 0.]], dtype=float32)
    >>> signal, taps = np.array([[0, 1, 3, 6]], np.float32), np.array([[[-1, 1]]], np.float32)
    >>> pysimd.convolution(signal, taps, layout="ncw")
    array([[1., 2., 3.]], dtype=float32)
    """
    images, weights = arrays_of(Convolution32f, x, weight, layout, group)
    nchw = layout_of(layout) == NCHW
    try:
        context = Convolution32f(
            images.shape,
            weights.shape[0 if nchw else -1],
            kernel=weights.shape[2:] if nchw else weights.shape[:-2],
            stride=stride,
            padding=padding,
            dilation=dilation,
            group=group,
            activation=activation,
            layout=layout,
        )
    except ValueError as error:
        raise with_remedy(error, Convolution32f, images, weights, layout, group) from None
    with context:
        context.set_params(weights, bias, params)
        return context.forward(images, add=add, out=out)
