"""Shuffling of channels."""

from __future__ import annotations

from typing import Any, overload

from pysimd._arrays import apart, at, floats, output, plain
from pysimd._geometry import NHWC, images_of, layout_of, number, with_channels
from pysimd._library import lib
from pysimd.annotations import FloatArray, Floats, Layout
from pysimd.calls import call
from pysimd.copy import copy
from pysimd.errors import shown

_Pair = tuple[FloatArray, FloatArray]


@overload
def shuffle(a: Floats, b: Floats, *, layout: Layout = ..., out: tuple[FloatArray, FloatArray] | None = ...) -> _Pair: ...
@overload
def shuffle(a: Floats, *, groups: int, layout: Layout = ..., out: FloatArray | None = ...) -> FloatArray: ...
def shuffle(
    a: Floats, b: Floats | None = None, *, groups: int | None = None, layout: Layout = "nhwc", out: Any = None
) -> FloatArray | _Pair:
    """Splits the channels of `a` followed by those of `b` into the even and the odd ones: (even, odd).

    With `groups` it shuffles the channels of `a` alone, as ``ChannelShuffle`` of PyTorch: the result has the first channel
    of each group, then the second of each, and so on. This is the other direction: 2 groups join what was split into two.

    a, b : float32, contiguous, each with an even number of channels: (C, H, W) for "nchw", (H, W, C) for "nhwc", (C, W) for
        "ncw", (W, C) for "nwc"; or a batch of them. They may differ in C only.
    groups : a divisor of the number of channels, in place of `b`; the result is then a single array.
    out : two arrays with half as many channels as `a` and `b` have together; with `groups`, one of the shape of `a`.

    Raises TypeError for another dtype, ValueError for shapes that do not fit.

    >>> a, b = np.array([[[0, 1]]], np.float32), np.array([[[2, 3]]], np.float32)
    >>> even, odd = pysimd.shuffle(a, b)
    >>> even
    array([[[0., 2.]]], dtype=float32)
    >>> pysimd.shuffle(np.array([[[0, 1, 2, 3]]], np.float32), groups=2)
    array([[[0., 2., 1., 3.]]], dtype=float32)

    Formula: SimdSynetShuffleLayerForward; with `groups`, SimdnetCopy.
    """
    if groups is not None:
        if b is not None:
            raise ValueError("b is given with groups, expected None: concatenate a and b")
        return _by_groups(a, number(groups, "groups", 1), layout_of(layout), out)
    if b is None:
        raise TypeError("b is None, expected an array, or groups for a single one")
    return _split(a, b, layout_of(layout), out)


def _by_groups(a: Floats, groups: int, form: int, out: FloatArray | None) -> FloatArray:
    array, _ = floats(a, "a")
    lead, channels, height, width = images_of(array.shape, form, "a")
    if channels % groups:
        raise ValueError(f"groups is {groups}, expected a divisor of the {channels} channels of a")
    images, spatial = lead[0] if lead else 1, height * width
    out, _ = output(out, array.shape, (a,), ("a",))
    shape = (images * spatial, groups, channels // groups, 1)
    if form != NHWC:
        shape = (images, groups, channels // groups, spatial)
    target = plain(out, "out").reshape(shape[0], shape[2], groups, shape[3])
    copy(array.reshape(shape).transpose(0, 2, 1, 3), out=target)
    return out


def _split(a: Floats, b: Floats, form: int, out: Any) -> _Pair:
    first, src0 = floats(a, "a")
    second, src1 = floats(b, "b")
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
