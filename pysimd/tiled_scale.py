"""Images scaled along both axes."""

from __future__ import annotations

from typing import Any

from pysimd._arrays import at, floats, output, plain, tensor
from pysimd._geometry import IMAGE_LAYOUTS, NCHW, images_of, layout_of
from pysimd._library import lib
from pysimd.annotations import FloatArray, Floats, ImageLayout, Shape
from pysimd.calls import call


def _factors(values: Floats, name: str, wide: Shape, axis: int) -> Any:
    """A C array over factors of the images' shape with an axis of 1, or without this axis."""
    array = plain(values, name)
    narrow = wide[:axis] + wide[axis + 1 :]
    return tensor(array.reshape(narrow) if array.shape == wide else values, name, narrow)


def tiled_scale(
    x: Floats, ver: Floats, hor: Floats, *, layout: ImageLayout = "nhwc", out: FloatArray | None = None
) -> FloatArray:
    """``(x * ver) * hor``, with a factor for each channel and column, and one for each channel and row.

    x, out : float32, contiguous: (H, W, C) for "nhwc", (C, H, W) for "nchw"; or a batch of them. ``out`` may be ``x``.
    ver : the factors of columns, float32, contiguous: (W, C) or (1, W, C) for "nhwc", (C, W) or (C, 1, W) for "nchw"; with
        the axis of the batch, if `x` has it.
    hor : the factors of rows, likewise: (H, C) or (H, 1, C), (C, H) or (C, H, 1).

    Raises TypeError for another dtype, ValueError for another shape.

    >>> x = np.ones((2, 3, 1), np.float32)
    >>> pysimd.tiled_scale(x, np.array([[1], [2], [3]], np.float32), np.array([[1], [10]], np.float32))[..., 0]
    array([[ 1.,  2.,  3.],
           [10., 20., 30.]], dtype=float32)

    Formula: SimdSynetTiledScale2D32f.
    """
    array, src = floats(x, "x")
    shape, form = array.shape, layout_of(layout, known=IMAGE_LAYOUTS)
    lead, channels, height, width = images_of(shape, form)
    rows = len(lead) + (form == NCHW)  # the axis of rows; that of columns follows
    ver_ = _factors(ver, "ver", (*shape[:rows], 1, *shape[rows + 1 :]), rows)
    hor_ = _factors(hor, "hor", (*shape[: rows + 1], 1, *shape[rows + 2 :]), rows + 1)
    out, dst = output(out, shape, (x, ver, hor), ("x", "ver", "hor"), 1)
    for image in range(lead[0] if lead else 1):
        begin = image * channels
        factors = at(ver_, begin * width), at(hor_, begin * height)
        offset = begin * height * width
        call(lib.SimdSynetTiledScale2D32f, at(src, offset), channels, height, width, form, *factors, at(dst, offset))
    return out
