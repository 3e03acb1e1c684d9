"""Local response normalization."""

from __future__ import annotations

from pysimd._arrays import at, floats, output
from pysimd._geometry import NHWC, images_of, layout_of, number
from pysimd._library import ffi, lib
from pysimd.annotations import FloatArray, Floats, Layout
from pysimd.calls import call


def lrn(
    x: Floats,
    *,
    size: int = 5,
    alpha: float = 1e-4,
    beta: float = 0.75,
    bias: float = 1.0,
    layout: Layout = "nhwc",
    out: FloatArray | None = None,
) -> FloatArray:
    """``x / (bias + alpha / size * (sum of squares of `size` neighbouring channels)) ** beta``, as LRN of ONNX.

    x, out : float32, contiguous: (C, H, W) for "nchw", (H, W, C) for "nhwc", (C, W) for "ncw", (W, C) for "nwc"; or a batch
        of them.
    size : an odd number of channels, centred at the channel itself; channels before the first and after the last count as 0.

    The powers 0.25, 0.5, 0.75 and 1 of `beta`, positive or negative, are faster than others. Raises TypeError for another
    dtype, ValueError for another shape or an even size.

    >>> pysimd.lrn(np.full((1, 1, 3), 2, np.float32), size=3, alpha=3, beta=1, bias=0)
    array([[[0.25      , 0.16666667, 0.25      ]]], dtype=float32)

    Formula: SimdSynetLrnLayerCrossChannels.
    """
    array, src = floats(x, "x")
    form = layout_of(layout)
    lead, channels, height, width = images_of(array.shape, form)
    size = number(size, "size", 1)
    if size % 2 == 0:
        raise ValueError(f"size is {size}, expected an odd number")
    out, dst = output(out, array.shape, (x,), ("x",))
    k = ffi.new("float[3]", (bias, alpha / size, -beta))
    images, spatial = lead[0] if lead else 1, height * width
    if form == NHWC:  # the images of a batch follow each other, like the pixels of one
        images, spatial = 1, images * spatial
    for i in range(images):
        offset = i * channels * spatial
        call(lib.SimdSynetLrnLayerCrossChannels, at(src, offset), size // 2, channels, spatial, k, dst + offset, form)
    return out
