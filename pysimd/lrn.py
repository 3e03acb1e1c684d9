"""Local response normalization."""

from __future__ import annotations

from pysimd._arrays import Array, floats, output
from pysimd._geometry import NHWC, Layout, images_of, layout_of, number
from pysimd._library import ffi, lib
from pysimd.calls import call


def lrn(
    x: Array,
    *,
    size: int = 5,
    alpha: float = 1e-4,
    beta: float = 0.75,
    bias: float = 1.0,
    layout: Layout = "nhwc",
    out: Array | None = None,
) -> Array:
    """``x / (bias + alpha / size * (sum of squares of `size` neighbouring channels)) ** beta``.

    x, out : float32, contiguous: (C, H, W) for "nchw", (H, W, C) for "nhwc"; or a batch of them.
    size : an odd number, the channel itself in the middle; channels beyond the first and the last count as 0.

    beta 0.25, 0.5, 0.75 and 1, positive or negative, are faster than others. Formula: SimdSynetLrnLayerCrossChannels.
    """
    x, src = floats(x, "x")
    form = layout_of(layout)
    lead, channels, height, width = images_of(x.shape, form)
    size = number(size, "size", 1)
    if size % 2 == 0:
        raise ValueError(f"size is {size}, expected an odd number")
    out, dst = output(out, x.shape, (x,), ("x",))
    k = ffi.new("float[3]", (bias, alpha / size, -beta))
    images, spatial = lead[0] if lead else 1, height * width
    if form == NHWC:  # the images of a batch are one after the other, as the pixels of one are
        images, spatial = 1, images * spatial
    for i in range(images):
        offset = i * channels * spatial
        call(lib.SimdSynetLrnLayerCrossChannels, src + offset, size // 2, channels, spatial, k, dst + offset, form)
    return out
