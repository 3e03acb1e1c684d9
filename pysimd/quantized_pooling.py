"""Pooling of images of quantised bytes."""

from __future__ import annotations

from typing import Any

from pysimd._arrays import INT8, UINT8, element_of, output, plain, pointer
from pysimd._geometry import Window, extent, images_of, layout_of, output_size, padding_of, shape_of_images
from pysimd._library import ffi, lib
from pysimd.annotations import Array, Layout, Padding, Pair
from pysimd.calls import call_struct
from pysimd.quantize_linear import SomeBytes
from pysimd.quantized import Linear, linear_of

_TYPES = {
    "max": lib.SimdnetQuantizedPoolingMax,
    "average": lib.SimdnetQuantizedPoolingAverage,
    "global_average": lib.SimdnetQuantizedPoolingGlobalAverage,
}


def quantized_pooling(
    x: SomeBytes,
    kind: str,
    *,
    kernel: Pair = 1,
    stride: Pair | None = None,
    padding: Padding = 0,
    layout: Layout = "nhwc",
    ceil_mode: bool = False,
    exclude_pad: bool = False,
    src: Linear = (1.0, 0),
    dst: Linear = (1.0, 0),
    out: Array | None = None,
) -> Array:
    """The maximum or the mean of every window, or the mean of an image, of quantised bytes.

    x : uint8 or int8, contiguous: (H, W, C) for "nhwc", (C, H, W) for "nchw", (W, C) for "nwc", (C, W) for "ncw"; or a batch
        of them.
    kind : "max", whose scales and zeros do not matter; "average", QLinearAveragePool of ONNX Runtime; or "global_average",
        its QLinearGlobalAveragePool, for which the window does not matter.
    kernel, stride, padding, ceil_mode : as for :func:`pooling_max`.
    exclude_pad : averages: divides by the number of elements inside the image, not inside the image and its padding.
    src, dst : (scale, zero) of `x` and of the result: a byte q stands for (q - zero) * scale.
    out : the array to write, of the output's shape and the dtype of `x`. It must not overlap `x`.

    A window without any element of the image yields the least byte, or the zero of `dst`. Results are bit-identical on every
    instruction set. Raises TypeError for another dtype, ValueError for a shape or a window that does not fit.

    >>> x = np.arange(16, dtype=np.uint8).reshape(4, 4, 1)
    >>> pysimd.quantized_pooling(x, "average", kernel=2, src=(1.0, 0), dst=(0.5, 10))[:, :, 0]
    array([[15, 19],
           [31, 35]], dtype=uint8)

    Formula: SimdnetQuantizedPooling.
    """
    array = plain(x, "x", UINT8)
    element = element_of(array, "x", (UINT8, INT8))
    if kind not in _TYPES:
        raise ValueError(f"kind is {kind!r}, expected one of {', '.join(_TYPES)}")
    form = layout_of(layout)
    lead, channels, height, width = images_of(array.shape, form)
    members = {"batch": lead[0] if lead else 1, "channels": channels, "srcH": height, "srcW": width}
    dst_h = dst_w = 1
    if kind != "global_average":
        kernel_y, kernel_x = extent(kernel, "kernel", 1, form)
        step = (kernel_y, kernel_x) if stride is None else extent(stride, "stride", 1, form)
        top, left, bottom, right = padding_of(padding, form, (height, width), Window((kernel_y, kernel_x), step))
        dst_h = output_size(height, kernel_y, step[0], top, bottom, ceil_mode, "height")
        dst_w = output_size(width, kernel_x, step[1], left, right, ceil_mode, "width")
        members |= {"dstH": dst_h, "dstW": dst_w, "kernelY": kernel_y, "kernelX": kernel_x, "strideY": step[0]}
        members |= {"strideX": step[1], "padY": top, "padX": left, "padH": bottom, "padW": right}
    (scale, zero), (to_scale, to_zero) = linear_of(src, "src"), linear_of(dst, "dst")
    given: dict[str, Any] = {"src": pointer(array, "x", element)}
    dst_shape = shape_of_images(lead, channels, dst_h, dst_w, form)
    out, given["dst"] = output(out, dst_shape, (x,), ("x",), element=element, ctype=element.ctype, like=x)
    arguments = ffi.new("SimdnetQuantizedPoolingParameters *", {**members, **given})
    arguments.size = ffi.sizeof("SimdnetQuantizedPoolingParameters")
    arguments.type, arguments.dataType, arguments.format = _TYPES[kind], element.tensor, form
    arguments.excludePad = bool(exclude_pad)
    arguments.scaleSrc, arguments.zeroSrc, arguments.scaleDst, arguments.zeroDst = scale, zero, to_scale, to_zero
    call_struct(lib.SimdnetQuantizedPooling, arguments, held=given)
    return out
