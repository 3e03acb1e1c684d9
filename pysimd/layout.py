"""Conversion of images and of filters between layouts."""

from __future__ import annotations

from pysimd._arrays import floats, output
from pysimd._deprecated import renamed
from pysimd._geometry import (
    BLOCK_LAYOUTS,
    FILTER_LAYOUTS,
    filter_of,
    images_of,
    layout_of,
    number,
    shape_of_filter,
    shape_of_images,
)
from pysimd._library import lib
from pysimd.annotations import BlockLayout, FilterLayout, FloatArray, Floats
from pysimd.calls import call
from pysimd.enums import TensorFormat


def convert_image(
    x: Floats,
    *,
    src_layout: BlockLayout,
    dst_layout: BlockLayout,
    channels: int | None = None,
    out: FloatArray | None = None,
) -> FloatArray:
    """An array of images in another layout; values are copied bit for bit.

    x : float32, contiguous: (C, H, W) for "nchw", (H, W, C) for "nhwc", (ceil(C / x), H, W, x) for "nchw4c", "nchw8c" and
        "nchw16c"; or a batch of them.
    channels : for a blocked source layout, the number C of channels without the lanes that fill the last block; all of them
        by default. For other layouts it follows from the shape.
    out : float32 of the shape that the images have in `dst_layout`.

    Lanes that fill the last block are written as 0. Every pair of layouts is possible, except two different blocked ones.
    Raises TypeError for another dtype, ValueError for another shape or layout.

    >>> pysimd.convert_image(np.ones((3, 5, 7), np.float32), src_layout="nchw", dst_layout="nhwc").shape
    (5, 7, 3)

    Formula: SimdSynetConvertImage.
    """
    array, src = floats(x, "x")
    source = layout_of(src_layout, "src_layout", BLOCK_LAYOUTS)
    target = layout_of(dst_layout, "dst_layout", BLOCK_LAYOUTS)
    _refuse_blocks(source, target)
    lead, lanes, height, width = images_of(array.shape, source)
    if channels is None:
        channels = lanes
    else:
        channels = number(channels, "channels", 0)
        if not lanes - tensor_alignment(TensorFormat(source)) < channels <= lanes:
            raise ValueError(f"channels is {channels}, but x has shape {array.shape} with {lanes} channels")
    out, dst = output(out, shape_of_images(lead, channels, height, width, target), (x,), ("x",))
    call(lib.SimdSynetConvertImage, lead[0] if lead else 1, channels, height * width, src, source, dst, target)
    return out


@renamed(outputs="dst_c")
def convert_filter(
    weight: Floats,
    *,
    src_layout: FilterLayout,
    dst_layout: FilterLayout,
    dst_c: int | None = None,
    out: FloatArray | None = None,
) -> FloatArray:
    """The weights of a convolution in another layout; values are copied bit for bit.

    weight : float32, contiguous: (dst_c, C, kernel_y, kernel_x) for "oiyx", (kernel_y, kernel_x, C, dst_c) for "yxio",
        (ceil(dst_c / x), kernel_y, kernel_x, C, x) for "oyxi4o", "oyxi8o" and "oyxi16o". :func:`convolution` has "yxio" for
        images in "nhwc", and "oiyx" for "nchw".
    dst_c : for a blocked source layout, the number of output channels without the lanes that fill the last block; all of
        them by default. For other layouts it follows from the shape.
    out : float32 of the shape that the weights have in `dst_layout`.

    Lanes that fill the last block are written as 0. Every pair of layouts is possible, except two different blocked ones.
    Raises TypeError for another dtype, ValueError for another shape or layout.

    >>> pysimd.convert_filter(np.ones((16, 8, 3, 3), np.float32), src_layout="oiyx", dst_layout="yxio").shape
    (3, 3, 8, 16)

    Formula: SimdSynetConvertFilter.
    """
    array, src = floats(weight, "weight")
    source = layout_of(src_layout, "src_layout", FILTER_LAYOUTS)
    target = layout_of(dst_layout, "dst_layout", FILTER_LAYOUTS)
    _refuse_blocks(source, target)
    lanes, inputs, kernel_y, kernel_x = filter_of(array.shape, source, "weight")
    if dst_c is None:
        dst_c = lanes
    else:
        dst_c = number(dst_c, "dst_c", 0)
        if not lanes - tensor_alignment(TensorFormat(source)) < dst_c <= lanes:
            raise ValueError(f"dst_c is {dst_c}, but weight has shape {array.shape} with {lanes} outputs")
    shape = shape_of_filter(dst_c, inputs, kernel_y, kernel_x, target)
    out, dst = output(out, shape, (weight,), ("weight",))
    call(lib.SimdSynetConvertFilter, dst_c, inputs, kernel_y * kernel_x, src, source, dst, target)
    return out


def _refuse_blocks(source: int, target: int) -> None:
    """Refuses what the library cannot convert."""
    if source != target and tensor_alignment(TensorFormat(source)) > 1 and tensor_alignment(TensorFormat(target)) > 1:
        raise ValueError(
            f"src_layout is {TensorFormat(source).name.lower()!r} and dst_layout {TensorFormat(target).name.lower()!r}, "
            "expected one without blocks: convert twice"
        )


def specify_tensor_format(format: TensorFormat) -> TensorFormat:
    """The layout that NCHWXC or OYXIXO stands for with the instruction set in use; UNKNOWN for every other `format`.

    >>> with pysimd.max_isa("base"):
    ...     pysimd.specify_tensor_format(pysimd.TensorFormat.NCHW)
    <TensorFormat.UNKNOWN: -1>
    """
    return TensorFormat(lib.SimdSynetSpecifyTensorFormat(TensorFormat(format)))


def tensor_alignment(format: TensorFormat) -> int:
    """The multiple to which a layout rounds channels: 1, 4, 8 or 16; 0 for UNKNOWN, NCHWXC and OYXIXO.

    format : a :class:`TensorFormat`.

    >>> pysimd.tensor_alignment(pysimd.TensorFormat.NCHW8C)
    8
    """
    return int(lib.SimdSynetTensorAlignment(TensorFormat(format)))
