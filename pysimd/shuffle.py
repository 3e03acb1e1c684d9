"""Shuffling of channels."""

from __future__ import annotations

from pysimd._arrays import apart, at, floats, output
from pysimd._geometry import NHWC, images_of, layout_of, with_channels
from pysimd._library import lib
from pysimd.annotations import FloatArray, Floats, Layout
from pysimd.calls import call
from pysimd.errors import shown


def shuffle(
    a: Floats, b: Floats, *, layout: Layout = "nhwc", out: tuple[FloatArray, FloatArray] | None = None
) -> tuple[FloatArray, FloatArray]:
    """Splits the channels of `a` followed by those of `b` into the even and the odd ones: (even, odd).

    a, b : float32, contiguous, each with an even number of channels: (C, H, W) for "nchw", (H, W, C) for "nhwc", (C, W) for
        "ncw", (W, C) for "nwc"; or a batch of them. They may differ in C only.
    out : two arrays with half as many channels as `a` and `b` have together.

    Raises TypeError for another dtype, ValueError for shapes that do not fit.

    >>> a, b = np.array([[[0, 1]]], np.float32), np.array([[[2, 3]]], np.float32)
    >>> even, odd = pysimd.shuffle(a, b)
    >>> even
    array([[[0., 2.]]], dtype=float32)

    Formula: SimdSynetShuffleLayerForward.
    """
    first, src0 = floats(a, "a")
    second, src1 = floats(b, "b")
    form = layout_of(layout)
    lead, channels0, height, width = images_of(first.shape, form, "a")
    channels1 = images_of(second.shape, form, "b")[1]
    if second.shape != with_channels(first.shape, form, channels1):
        raise ValueError(f"b has shape {second.shape}, expected that of a, {first.shape}, except for the channels")
    for name, channels in (("a", channels0), ("b", channels1)):
        if channels % 2:
            raise ValueError(f"{name} has {channels} channels, expected an even number")
    half = (channels0 + channels1) // 2
    shape = with_channels(first.shape, form, half)
    if out is not None and not (isinstance(out, tuple) and len(out) == 2):
        raise TypeError(f"out is {shown(out)}, expected a tuple of two arrays")
    out0, dst0 = output(out and out[0], shape, (a, b), ("a", "b"))
    out1, dst1 = output(out and out[1], shape, (a, b), ("a", "b"))
    apart(dst0, "out", dst1, "itself")
    images, spatial = lead[0] if lead else 1, height * width
    if form == NHWC:  # the images of a batch follow each other, like the pixels of one
        images, spatial = 1, images * spatial
    for i in range(images):
        call(
            lib.SimdSynetShuffleLayerForward,
            at(src0, i * channels0 * spatial),
            channels0,
            at(src1, i * channels1 * spatial),
            channels1,
            spatial,
            dst0 + i * half * spatial,
            dst1 + i * half * spatial,
            half,
            form,
        )
    return out0, out1
