"""Sums of channels."""

from __future__ import annotations

from pysimd._arrays import BFLOAT16, element_of, output, plain, pointer
from pysimd._geometry import layout_of, planes_of
from pysimd._library import lib
from pysimd.annotations import FloatArray, Layout, Tensor
from pysimd.calls import call


def channel_sum(x: Tensor, *, layout: Layout = "nhwc", out: FloatArray | None = None) -> FloatArray:
    """The sum of each channel, of bfloat16 numbers and in float.

    x : bfloat16 (as uint16 or ml_dtypes.bfloat16), contiguous: (..., C) for "nhwc" and "nwc", one image (C, H, W) for "nchw"
        or (C, W) for "ncw".
    out : float32 of shape (C,).

    Raises TypeError for another dtype, ValueError for another shape.

    >>> pysimd.channel_sum(pysimd.to_bfloat16(np.array([[1, 2], [3, 4]], np.float32)))
    array([4., 6.], dtype=float32)

    Formula: SimdSynetChannelSum16b.
    """
    array = plain(x, "x", BFLOAT16)
    element_of(array, "x", (BFLOAT16,))
    form = layout_of(layout)
    images, channels, spatial = planes_of(array.shape, form)
    if images != 1:
        raise ValueError(f"x has shape {array.shape}, expected one image: call channel_sum() once for each")
    src = pointer(array, "x", BFLOAT16)
    out, dst = output(out, (channels,), (x,), ("x",))
    call(lib.SimdSynetChannelSum16b, src, channels, spatial, form, dst)
    return out
