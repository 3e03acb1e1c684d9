"""What the classes of a single convolution and of a deconvolution share: all but the rule of their sizes."""

from __future__ import annotations

from typing import Any, ClassVar

from pysimd._arrays import (
    FLOAT32,
    UINT8,
    Array,
    Element,
    Shape,
    element_of_dtype,
    tensor,
    tensor_or_null,
)
from pysimd._convolution import ConvolutionContext, Params, activation_of, params_of
from pysimd._geometry import (
    NCHW,
    Layout,
    Padding,
    Pair,
    images_of,
    layout_of,
    number,
    pair,
    shape_of,
    shape_of_images,
    sides,
)
from pysimd._library import ffi
from pysimd.enums import Activation
from pysimd.errors import check


class SingleConvolution(ConvolutionContext):
    """A convolution or a deconvolution; see there."""

    @staticmethod
    def _size(size: int, span: int, stride: int, before: int, after: int, name: str) -> int:
        """The output size of an axis; span is that of the kernel with its dilation."""
        raise NotImplementedError

    @staticmethod
    def _weights_of(form: int, src_c: int, dst_c: int, taps: tuple[int, int], group: int) -> Shape:
        """The shape of the weights; ValueError for a group that cannot be."""
        raise NotImplementedError

    def __init__(
        self,
        src_shape: Shape,
        dst_c: int,
        *,
        kernel: Pair,
        stride: Pair = 1,
        padding: Padding = 0,
        dilation: Pair = 1,
        group: int = 1,
        activation: str | Activation = "identity",
        layout: Layout = "nhwc",
    ) -> None:
        form = layout_of(layout)
        self._src_shape = shape_of(src_shape, "src_shape")
        lead, src_c, src_h, src_w = images_of(self._src_shape, form, "src_shape")
        dst_c = number(dst_c, "dst_c", 0)
        kernel_y, kernel_x = pair(kernel, "kernel", 1)
        stride_y, stride_x = pair(stride, "stride", 1)
        dilation_y, dilation_x = pair(dilation, "dilation", 1)
        top, left, bottom, right = sides(padding, "padding")
        group = number(group, "group", 1)
        self._activation = activation_of(activation)
        span_y, span_x = dilation_y * (kernel_y - 1) + 1, dilation_x * (kernel_x - 1) + 1
        dst_h = self._size(src_h, span_y, stride_y, top, bottom, "height")
        dst_w = self._size(src_w, span_x, stride_x, left, right, "width")
        self._dst_shape = shape_of_images(lead, dst_c, dst_h, dst_w, form)
        if src_c % group or dst_c % group:
            raise ValueError(f"group is {group}, expected a divisor of {src_c} input and {dst_c} output channels")
        taps = (kernel_y, kernel_x)
        self._weight_shape = self._weights_of(form, src_c, dst_c, taps, group)
        self._src_c, self._dst_c = src_c, dst_c

        conv = ffi.new("SimdConvolutionParameters *")
        conv.srcC, conv.srcH, conv.srcW, conv.srcT, conv.srcF = src_c, src_h, src_w, self._src.tensor, form
        conv.dstC, conv.dstH, conv.dstW, conv.dstT, conv.dstF = dst_c, dst_h, dst_w, self._dst.tensor, form
        conv.kernelY, conv.kernelX = kernel_y, kernel_x
        conv.dilationY, conv.dilationX = dilation_y, dilation_x
        conv.strideY, conv.strideX = stride_y, stride_x
        conv.padY, conv.padX, conv.padH, conv.padW = top, left, bottom, right
        conv.group, conv.activation = group, self._activation
        super().__init__(
            self._functions.init(lead[0] if lead else 1, conv, ffi.NULL),
            {
                "src_shape": self._src_shape,
                "dst_c": dst_c,
                "kernel": taps,
                "stride": (stride_y, stride_x),
                "padding": (top, left, bottom, right),
                "dilation": (dilation_y, dilation_x),
                "group": group,
                "activation": self._activation.name.lower(),
                "layout": "nchw" if form == NCHW else "nhwc",
                **self._types(),
            },
        )

    def _types(self) -> dict[str, str]:
        """The arguments for the element types, where there is a choice."""
        return {}

    @property
    def weight_shape(self) -> Shape:
        """The shape of the weights."""
        return self._weight_shape

    def set_params(self, weight: Array, bias: Array | None = None, params: Params | None = None) -> None:
        """Gives the context its weights; may be called again with others, but not while :meth:`forward` runs.

        weight : float32 of ``weight_shape``.
        bias : (dst_c,) float32, or None for zeros.
        params : what the activation needs: a number, some numbers, or a float32 array.

        The context copies what it needs. The arrays are kept, not copied, for pickle and copy alone: what these give has the
        numbers that are in them then.
        """
        handle = self._open()
        self._functions.set_params(handle, *self._numbers(weight, bias, params))
        check()
        self._given = weight, bias, params

    def _numbers(self, weight: Array, bias: Array | None, params: Params | None) -> tuple[Any, Any, Any]:
        """The C arrays of :meth:`set_params`."""
        weights = tensor(weight, "weight", self._weight_shape)
        return weights, tensor_or_null(bias, "bias", (self._dst_c,)), params_of(params, self._activation, self._dst_c)


class SmallConvolution(SingleConvolution):
    """A convolution whose tensors are each float or of a smaller type: C takes their bytes."""

    _small: ClassVar[Element]
    _unit = UINT8

    def __init__(self, src_shape: Shape, dst_c: int, src_dtype: Any, dst_dtype: Any, options: dict[str, Any]) -> None:
        self._src = element_of_dtype(src_dtype, "src_dtype", (FLOAT32, self._small))
        self._dst = element_of_dtype(dst_dtype, "dst_dtype", (FLOAT32, self._small))
        super().__init__(src_shape, dst_c, **options)

    def _types(self) -> dict[str, str]:
        return {"src_dtype": self._src.name, "dst_dtype": self._dst.name}
