"""Conversion of images and of filters between layouts."""

from __future__ import annotations

from pysimd._arrays import Array, floats, output
from pysimd._geometry import (
    FILTER_LAYOUTS,
    LAYOUTS,
    Layout,
    filter_of,
    images_of,
    layout_of,
    number,
    shape_of_filter,
    shape_of_images,
)
from pysimd._library import lib
from pysimd.calls import call
from pysimd.enums import TensorFormat


def convert_image(
    x: Array, *, src_layout: Layout, dst_layout: Layout, channels: int | None = None, out: Array | None = None
) -> Array:
    """An array of images in another layout; values are copied to the bit.

    x : float32, contiguous: (C, H, W) for "nchw", (H, W, C) for "nhwc", (ceil(C / x), H, W, x) for "nchw4c", "nchw8c" and
        "nchw16c"; or a batch of them.
    channels : from a blocked layout, the number C of channels without the lanes that fill the last block; all of them when
        it is not given. For the other layouts the shape tells it.

    Lanes that fill the last block are written as 0. Any layout to any other, but not from one blocked layout to another one.
    Formula: SimdSynetConvertImage.
    """
    x, src = floats(x, "x")
    source = layout_of(src_layout, "src_layout", LAYOUTS)
    target = layout_of(dst_layout, "dst_layout", LAYOUTS)
    lead, lanes, height, width = images_of(x.shape, source)
    if channels is None:
        channels = lanes
    else:
        channels = number(channels, "channels", 0)
        if not lanes - tensor_alignment(TensorFormat(source)) < channels <= lanes:
            raise ValueError(f"channels is {channels}, but x of shape {x.shape} holds {lanes}")
    out, dst = output(out, shape_of_images(lead, channels, height, width, target), (x,), ("x",))
    call(lib.SimdSynetConvertImage, lead[0] if lead else 1, channels, height * width, src, source, dst, target)
    return out


def convert_filter(
    weight: Array, *, src_layout: Layout, dst_layout: Layout, outputs: int | None = None, out: Array | None = None
) -> Array:
    """A convolution's filter in another layout; values are copied to the bit.

    weight : float32, contiguous: (O, I, kernel_y, kernel_x) for "oiyx", (kernel_y, kernel_x, I, O) for "yxio",
        (ceil(O / x), kernel_y, kernel_x, I, x) for "oyxi4o", "oyxi8o" and "oyxi16o".
    outputs : from a blocked layout, the number O of outputs without the lanes that fill the last block; all of them when it
        is not given. For the other layouts the shape tells it.

    Lanes that fill the last block are written as 0. Any layout to any other, but not from one blocked layout to another one.
    Formula: SimdSynetConvertFilter.
    """
    weight, src = floats(weight, "weight")
    source = layout_of(src_layout, "src_layout", FILTER_LAYOUTS)
    target = layout_of(dst_layout, "dst_layout", FILTER_LAYOUTS)
    lanes, inputs, kernel_y, kernel_x = filter_of(weight.shape, source, "weight")
    if outputs is None:
        outputs = lanes
    else:
        outputs = number(outputs, "outputs", 0)
        if not lanes - tensor_alignment(TensorFormat(source)) < outputs <= lanes:
            raise ValueError(f"outputs is {outputs}, but weight of shape {weight.shape} holds {lanes}")
    shape = shape_of_filter(outputs, inputs, kernel_y, kernel_x, target)
    out, dst = output(out, shape, (weight,), ("weight",))
    call(lib.SimdSynetConvertFilter, outputs, inputs, kernel_y * kernel_x, src, source, dst, target)
    return out


def specify_tensor_format(format: TensorFormat) -> TensorFormat:
    """NCHWXC or OYXIXO made specific for the instruction set in use; UNKNOWN for every other input."""
    return TensorFormat(lib.SimdSynetSpecifyTensorFormat(TensorFormat(format)))


def tensor_alignment(format: TensorFormat) -> int:
    """The multiple to which a layout rounds channels: 1, 4, 8 or 16; 0 for UNKNOWN, NCHWXC and OYXIXO."""
    return int(lib.SimdSynetTensorAlignment(TensorFormat(format)))
