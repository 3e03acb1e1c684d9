"""Shuffling of channels."""

from __future__ import annotations

from pysimd._arrays import Array, apart, floats, output
from pysimd._geometry import NHWC, Layout, images_of, layout_of
from pysimd._library import lib
from pysimd.calls import call


def shuffle(a: Array, b: Array, *, layout: Layout = "nhwc", out: tuple[Array, Array] | None = None) -> tuple[Array, Array]:
    """Parts the channels of `a` and then `b` into the even and the odd ones: (even, odd).

    a, b : float32, contiguous, each with an even number of channels: (C, H, W) for "nchw", (H, W, C) for "nhwc"; or a batch
        of them. They agree in all but C.
    out : two arrays with half as many channels as `a` and `b` have together.

    Formula: SimdSynetShuffleLayerForward.
    """
    a, src0 = floats(a, "a")
    b, src1 = floats(b, "b")
    form = layout_of(layout)
    lead, channels0, height, width = images_of(a.shape, form, "a")
    channels1 = images_of(b.shape, form, "b")[1]
    axis = -1 if form == NHWC else -3
    expected = list(a.shape)
    expected[axis] = channels1
    if b.shape != tuple(expected):
        raise ValueError(f"b has shape {b.shape}, expected that of a, {a.shape}, but for the channels")
    for name, channels in (("a", channels0), ("b", channels1)):
        if channels % 2:
            raise ValueError(f"{name} has {channels} channels, expected an even number")
    expected[axis] = half = (channels0 + channels1) // 2
    if out is not None and not (isinstance(out, tuple) and len(out) == 2):
        raise TypeError(f"out is {out!r}, expected a tuple of two arrays")
    out0, dst0 = output(out and out[0], tuple(expected), (a, b), ("a", "b"))
    out1, dst1 = output(out and out[1], tuple(expected), (a, b), ("a", "b"))
    apart(dst0, "out", dst1, "itself")
    spatial = height * width
    # In NHWC the images of a batch are one after the other, as the pixels of one are.
    images, spatial = (lead[0] if lead else 1, spatial) if form != NHWC else (1, spatial * (lead[0] if lead else 1))
    for i in range(images):
        call(
            lib.SimdSynetShuffleLayerForward,
            src0 + i * channels0 * spatial,
            channels0,
            src1 + i * channels1 * spatial,
            channels1,
            spatial,
            dst0 + i * half * spatial,
            dst1 + i * half * spatial,
            half,
            form,
        )
    return out0, out1
