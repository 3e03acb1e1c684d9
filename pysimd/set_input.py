"""Pictures as input tensors."""

from __future__ import annotations

from typing import Any, Literal, Union

import numpy as np

from pysimd._arrays import FLOAT32, UINT8, apart, element_of, numbers, output, plain, pointer
from pysimd._geometry import IMAGE_LAYOUTS, layout_of, number, shape_of_images
from pysimd._library import ffi, lib
from pysimd.annotations import Array, Bytes, FloatArray, ImageLayout
from pysimd.calls import call
from pysimd.enums import PixelFormat
from pysimd.errors import shown

_BYTES = {PixelFormat.GRAY8: 1, PixelFormat.BGR24: 3, PixelFormat.BGRA32: 4, PixelFormat.RGB24: 3}
_FORMATS: dict[Any, PixelFormat] = {**{f.name.lower(): f for f in _BYTES}, **{f: f for f in _BYTES}}

Pixels = Union[Literal["gray8", "bgr24", "bgra32", "rgb24"], PixelFormat]
Range = Union[float, Array, "list[float]", "tuple[float, ...]"]


def _format_of(pixel_format: Any) -> PixelFormat:
    try:
        return _FORMATS[pixel_format]
    except (KeyError, TypeError):
        names = " or ".join(repr(f.name.lower()) for f in _BYTES)
        raise ValueError(f"pixel_format is {shown(pixel_format)}, expected {names}") from None


def _rows(image: Array, pixel: int) -> tuple[Any, int]:
    """A C array over a picture and the bytes from one row to the next. There may be a gap between rows, as in a cropped
    view.
    """
    axes = "(H, W)" if pixel == 1 else f"(H, W, {pixel})"
    if image.ndim == 2 if pixel == 1 else image.ndim == 3 and image.shape[2] == pixel:
        height, width = image.shape[:2]
    else:
        raise ValueError(f"image has shape {image.shape}, expected {axes}")
    row = width * pixel
    if height == 0 or width == 0:
        return ffi.new("uint8_t[1]"), row
    if not image[0].flags.c_contiguous:
        raise ValueError("image has rows whose pixels are not contiguous: use np.ascontiguousarray(image)")
    stride = image.strides[0] if height > 1 else row
    if stride < row:
        raise ValueError(
            f"image has rows {stride} bytes apart, expected at least {row}, those of a row: use np.ascontiguousarray(image)"
        )
    # One dimension over all bytes from the first to the last, including gaps; it keeps the picture alive.
    flat = np.lib.stride_tricks.as_strided(image, ((height - 1) * stride + row,), (1,), writeable=False)
    return pointer(flat, "image", UINT8), stride


def _values(limit: Range, name: str, channels: int) -> Any:
    """One float for each channel, of a number or of as many numbers as channels."""
    values = numbers(limit, name)
    if values.ndim == 0:
        values = np.full(channels, values, np.float32)
    if values.shape != (channels,):
        raise ValueError(f"{name} has shape {values.shape}, expected a number or {channels} of them")
    return pointer(np.ascontiguousarray(values), name, FLOAT32)


def set_input(
    image: Bytes,
    *,
    pixel_format: Pixels,
    channels: int = 3,
    lower: Range = 0.0,
    upper: Range = 1.0,
    layout: ImageLayout = "nhwc",
    out: FloatArray | None = None,
) -> FloatArray:
    """A picture as the input tensor of a network: byte 0 becomes `lower`, byte 255 `upper`, linear in between.

    image : uint8: (H, W) for "gray8", (H, W, 3) for "bgr24" and "rgb24", (H, W, 4) for "bgra32". Rows may be any distance
        apart, so a cropped view ``picture[y0:y1, x0:x1]`` is accepted.
    channels : 3, always blue, green, red in this order, or 1: the gray of a coloured picture.
    lower, upper : a number, or one for each channel of the result.
    out : float32 of shape (channels, H, W) for "nchw", (H, W, channels) for "nhwc".

    Raises TypeError for another dtype, ValueError for another shape or format.

    >>> picture = np.array([[[255, 0, 51]]], np.uint8)  # red, green, blue
    >>> pysimd.set_input(picture, pixel_format="rgb24", upper=5)
    array([[[1., 0., 5.]]], dtype=float32)

    Formula: SimdSynetSetInput.
    """
    source = plain(image, "image", UINT8)
    element_of(source, "image", (UINT8,))
    form = _format_of(pixel_format)
    target = layout_of(layout, "layout", IMAGE_LAYOUTS)
    channels = number(channels, "channels", 0)
    if channels not in (1, 3):
        raise ValueError(f"channels is {channels}, expected 1 or 3")
    src, stride = _rows(source, _BYTES[form])
    height, width = source.shape[:2]
    shape = shape_of_images((), channels, height, width, target)
    lows, highs = _values(lower, "lower", channels), _values(upper, "upper", channels)
    out, dst = output(out, shape, (image,), ("image",))
    apart(dst, "out", lows, "lower")
    apart(dst, "out", highs, "upper")
    call(lib.SimdSynetSetInput, src, width, height, stride, form, lows, highs, dst, channels, target)
    return out
