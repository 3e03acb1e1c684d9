"""Convolution of float32 images."""

from __future__ import annotations

from pysimd._arrays import NULL, Array, Shape, apart, floats, output, tensor
from pysimd._convolution import Functions, Params
from pysimd._geometry import NCHW, Layout, Padding, Pair, layout_of, output_size
from pysimd._library import ffi, lib
from pysimd._single_convolution import SingleConvolution
from pysimd.calls import call
from pysimd.enums import Activation


class Convolution32f(SingleConvolution):
    """A convolution with bias and activation, for one shape of input.

    src_shape : (H, W, C) or, with ``layout="nchw"``, (C, H, W); or a batch of them, which has its size fixed here.
    dst_c : output channels.
    kernel, stride, dilation : a number or a pair (y, x), at least 1.
    padding : zeros around the image: a number, a pair (y, x), or (top, left, bottom, right).
    group : divides the input and output channels; equal to both it is a depthwise convolution.
    activation : a name or an :class:`Activation`; applied to the sum with its bias.
    layout : "nhwc" or "nchw".

    The activations of v = sum + bias, and the params of :meth:`set_params` that they need::

        identity         -          v
        relu             -          max(0, v)
        leaky_relu       slope      max(0, v) + slope * min(0, v)
        restrict_range   low, high  min(max(low, v), high)
        prelu            slopes     as leaky_relu with one slope per output channel
        elu              alpha      v if v >= 0 else alpha * (exp(v) - 1)
        hswish           p, q       max(min(v, p) + p, 0) * q * v

    Attributes: src_shape, dst_shape, and weight_shape: (dst_c, C / group, kernel_y, kernel_x) for "nchw", (kernel_y,
    kernel_x, C / group, dst_c) for "nhwc".

    Make it, give it weights, call it any number of times, also from many threads at once::

        with pysimd.Convolution32f((56, 56, 64), 64, kernel=3, padding=1, activation="relu") as convolution:
            convolution.set_params(weight, bias)
            y = convolution(x)
            z = convolution(x, add=y)  # relu(convolved + y)

    Raises ValueError for a geometry that cannot be. Formula: SimdSynetConvolution32fInit.
    """

    _functions = Functions(
        lib.SimdSynetConvolution32fInit,
        lib.SimdSynetConvolution32fExternalBufferSize,
        lib.SimdSynetConvolution32fInternalBufferSize,
        lambda context, weight, bias, params: lib.SimdSynetConvolution32fSetParams(context, weight, ffi.NULL, bias, params),
        lib.SimdSynetConvolution32fForward,
    )

    def forward(self, x: Array, *, add: Array | None = None, out: Array | None = None, buf: Array | None = None) -> Array:
        """Computes the output for `x`, float32 of ``src_shape``; gives float32 of ``dst_shape``.

        add : float32 of ``dst_shape``, added before the activation; may be `x`. So ends a residual block, in one call.
        buf : float32 with ``external_buffer_size`` elements at least, for this call alone; without it the library uses
            memory of the calling thread. The result does not depend on it.
        """
        if add is None:
            return super().forward(x, out=out, buf=buf)
        handle = self._open()
        src, more = tensor(x, "x", self._src_shape), tensor(add, "add", self._dst_shape)
        out, dst = output(out, self._dst_shape, (x, add), ("x", "add"))
        scratch = NULL
        if buf is not None:
            scratch = self._buffer_of(handle, buf, src, dst)
            apart(scratch, "buf", more, "add")
        call(lib.SimdnetConvolution32fForwardAdd, handle, src, scratch, more, dst)
        return out

    __call__ = forward

    @staticmethod
    def _size(size: int, span: int, stride: int, before: int, after: int, name: str) -> int:
        return output_size(size, span, stride, before, after, False, name)

    @staticmethod
    def _weights_of(form: int, src_c: int, dst_c: int, taps: tuple[int, int], group: int) -> Shape:
        return (dst_c, src_c // group, *taps) if form == NCHW else (*taps, src_c // group, dst_c)


def convolution(
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
    """Convolves images once: the arguments of :class:`Convolution32f`, :meth:`~Convolution32f.set_params` and
    :meth:`~Convolution32f.forward` together.

    It packs the weights for the call; keep a :class:`Convolution32f` for many calls with the same shape.
    """
    x, _ = floats(x, "x")
    weight, _ = floats(weight, "weight")
    nchw = layout_of(layout) == NCHW
    if weight.ndim != 4:
        axes = "dst_c, C / group, kernel_y, kernel_x" if nchw else "kernel_y, kernel_x, C / group, dst_c"
        raise ValueError(f"weight has shape {weight.shape}, expected ({axes})")
    kernel = weight.shape[2:] if nchw else weight.shape[:2]
    with Convolution32f(
        x.shape,
        weight.shape[0] if nchw else weight.shape[3],
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
