"""Normalization: layer, instance, group and global response normalization, and L2 normalization."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from pysimd._arrays import BFLOAT16, NULL, bfloat16s, coefficients, floats, output, plain
from pysimd._geometry import NCHW, NHWC, PLAIN_LAYOUTS, images_of, layout_of, number, planes_of, shape_of
from pysimd._library import lib
from pysimd.annotations import Array, Coefficients, FloatArray, Floats, Layout, Shape, Tensor
from pysimd.calls import call

_PLANES = {name: form for name, form in PLAIN_LAYOUTS.items() if form == NCHW}


def _terms(weight: Coefficients | None, bias: Coefficients | None, channels: int) -> tuple[Any, Any]:
    """C arrays of the coefficients: 1 and 0 if there are none."""
    return (
        coefficients(1.0 if weight is None else weight, "weight", channels),
        coefficients(0.0 if bias is None else bias, "bias", channels),
    )


def _sources(x: Any, weight: Any, bias: Any) -> tuple[tuple[Any, ...], tuple[str, ...]]:
    """What an output must not overlap, and the names."""
    return (x, 1.0 if weight is None else weight, 0.0 if bias is None else bias), ("x", "weight", "bias")


def _normalized(normalized: int | Sequence[int] | None, shape: Shape) -> Shape:
    """The last dimensions of an array, which are normalized together."""
    if normalized is None:
        last = shape[-1:]
    else:
        last = shape_of((normalized,) if isinstance(normalized, int) else normalized, "normalized")
    if not last or shape[-len(last) :] != last:
        raise ValueError(f"x has shape {shape}, expected its last dimensions to be {last or 'given'}, as normalized")
    return last


def _flat(values: Coefficients | None, name: str, normalized: Shape) -> Any:
    """Coefficients of several dimensions as one row, or what :func:`coefficients` accepts or refuses."""
    if values is None or isinstance(values, (int, float)):
        return values
    array = plain(values, name)
    return array.reshape(-1) if array.shape == normalized and array.flags.c_contiguous else values


def layer_norm(
    x: Floats,
    weight: Coefficients | None = None,
    bias: Coefficients | None = None,
    *,
    normalized: int | Sequence[int] | None = None,
    eps: float = 1e-5,
    layout: Layout = "nhwc",
    out: FloatArray | None = None,
) -> FloatArray:
    """``(x - mean) / sqrt(variance + eps) * weight + bias`` with the mean and the variance of each row, as in PyTorch.

    x, out : float32, contiguous, of any shape. ``out`` may be ``x``.
    weight, bias : float32 of the shape `normalized`, or one number; None is 1 and 0.
    normalized : the last dimensions of `x`, which are normalized together: a number or a tuple, as ``normalized_shape`` of
        PyTorch. By default the last dimension, the channels of "nhwc".
    layout : "nchw" and "ncw" normalize the channels of each position of (C, H, W) or (C, W), or of a batch of them.

    Raises TypeError for another dtype, ValueError for another shape.

    >>> pysimd.layer_norm(np.array([[1, 3], [20, 60]], np.float32), eps=0)
    array([[-1.,  1.],
           [-1.,  1.]], dtype=float32)

    Formula: SimdSynetNormalizeLayerForwardV2.
    """
    array, src = floats(x, "x")
    form = layout_of(layout)
    if form == NHWC:
        last = _normalized(normalized, array.shape)
        images, channels, spatial = 1, prod(last), prod(array.shape[: -len(last)])
        weight_, bias_ = _terms(_flat(weight, "weight", last), _flat(bias, "bias", last), channels)
    elif normalized is None:
        images, channels, spatial = planes_of(array.shape, form)
        weight_, bias_ = _terms(weight, bias, channels)
    else:
        raise ValueError(f"normalized is {normalized!r} with layout {layout!r}, expected the layout 'nhwc'")
    out, dst = output(out, array.shape, *_sources(x, weight, bias), 1)
    function = lib.SimdSynetNormalizeLayerForwardV2
    call(function, src, images, channels, spatial, weight_, bias_, (eps,), form, NULL, dst)
    return out


def layer_norm_16b(
    x: Tensor,
    weight: Coefficients | None = None,
    bias: Coefficients | None = None,
    *,
    eps: float = 1e-5,
    layout: Layout = "nhwc",
    out: Array | None = None,
) -> Array:
    """:func:`layer_norm` of the channels of bfloat16 numbers: computed in float, and rounded to nearest even once.

    x, out : bfloat16 (uint16 or ml_dtypes.bfloat16), contiguous: (C, H, W) for "nchw", (..., C) for "nhwc" and "nwc",
        (C, W) for "ncw"; or a batch of them. ``out`` may be ``x``.
    weight, bias : float32 of shape (C,), (C, 1, 1) or (1, C, 1, 1), or one number; None is 1 and 0.

    Raises TypeError for another dtype, ValueError for another shape.

    >>> x = pysimd.to_bfloat16(np.array([[1, 3], [20, 60]], np.float32))
    >>> pysimd.from_bfloat16(pysimd.layer_norm_16b(x, eps=0))
    array([[-1.,  1.],
           [-1.,  1.]], dtype=float32)

    Formula: SimdSynetNormalizeLayerForward16bV2.
    """
    array, src = bfloat16s(x, "x")
    form = layout_of(layout)
    images, channels, spatial = planes_of(array.shape, form)
    weight_, bias_ = _terms(weight, bias, channels)
    sources, names = _sources(x, weight, bias)
    out, dst = output(out, array.shape, sources, names, 1, element=BFLOAT16, ctype=BFLOAT16.ctype, like=x)
    function = lib.SimdSynetNormalizeLayerForward16bV2
    call(function, src, images, channels, spatial, weight_, bias_, (eps,), form, NULL, dst)
    return out


def instance_norm(
    x: Floats,
    weight: Coefficients | None = None,
    bias: Coefficients | None = None,
    *,
    eps: float = 1e-5,
    layout: Layout = "nhwc",
    out: FloatArray | None = None,
) -> FloatArray:
    """``(x - mean) / sqrt(variance + eps) * weight[c] + bias[c]`` of each channel of an image, with its mean and variance.

    x, out : float32, contiguous: (C, H, W) for "nchw", (H, W, C) for "nhwc", (C, W) for "ncw", (W, C) for "nwc"; or a batch
        of them. ``out`` may be ``x``.
    weight, bias : float32 of shape (C,), (C, 1, 1) or (1, C, 1, 1), or one number for all channels; None is 1 and 0.

    Raises TypeError for another dtype, ValueError for another shape.

    >>> pysimd.instance_norm(np.array([[[1, 20], [3, 60]]], np.float32), bias=2, eps=0)
    array([[[1., 1.],
            [3., 3.]]], dtype=float32)

    Formula: SimdSynetNormalizeLayerForwardV3.
    """
    return _of_images(lib.SimdSynetNormalizeLayerForwardV3, x, weight, bias, eps, layout, out)


def global_response_norm(
    x: Floats,
    weight: Coefficients,
    bias: Coefficients | None = None,
    *,
    eps: float = 1e-6,
    layout: Layout = "nhwc",
    out: FloatArray | None = None,
) -> FloatArray:
    """``x * (1 + weight[c] * g[c] / (mean(g) + eps)) + bias[c]``, where g[c] is the length of channel c of an image.

    x, out : float32, contiguous: (C, H, W) for "nchw", (H, W, C) for "nhwc", (C, W) for "ncw", (W, C) for "nwc"; or a batch
        of them. ``out`` may be ``x``.
    weight, bias : float32 of shape (C,), (C, 1, 1) or (1, C, 1, 1), or one number for all channels; None for `bias` is 0.

    Raises TypeError for another dtype, ValueError for another shape.

    >>> pysimd.global_response_norm(np.array([[[3, 0], [4, 5]]], np.float32), weight=1, eps=0)
    array([[[ 6.,  0.],
            [ 8., 10.]]], dtype=float32)

    Formula: SimdSynetNormalizeLayerForwardV4.
    """
    return _of_images(lib.SimdSynetNormalizeLayerForwardV4, x, weight, bias, eps, layout, out)


def _of_images(function: Any, x: Any, weight: Any, bias: Any, eps: float, layout: Layout, out: Any) -> FloatArray:
    array, src = floats(x, "x")
    form = layout_of(layout)
    lead, channels, height, width = images_of(array.shape, form)
    weight_, bias_ = _terms(weight, bias, channels)
    out, dst = output(out, array.shape, *_sources(x, weight, bias), 1)
    call(function, src, lead[0] if lead else 1, channels, height * width, weight_, bias_, (eps,), form, NULL, dst)
    return out  # type: ignore[no-any-return]


def group_norm(
    x: Floats,
    groups: int,
    weight: Coefficients | None = None,
    bias: Coefficients | None = None,
    *,
    eps: float = 1e-5,
    layout: Layout = "nchw",
    out: FloatArray | None = None,
) -> FloatArray:
    """``(x - mean) / sqrt(variance + eps) * weight[c] + bias[c]`` with the mean and the variance of groups of channels.

    x, out : float32, contiguous: (C, H, W) for "nchw", (C, W) for "ncw"; or a batch of them. ``out`` may be ``x``.
    groups : the number of groups, into which the channels are divided in their order; it divides C.
    weight, bias : float32 of shape (C,), (C, 1, 1) or (1, C, 1, 1), or one number for all channels; None is 1 and 0.

    Raises TypeError for another dtype, ValueError for another shape, and for other layouts.

    >>> pysimd.group_norm(np.array([[1], [3], [20], [60]], np.float32), 2, eps=0, layout="ncw").ravel()
    array([-1.,  1., -1.,  1.], dtype=float32)

    Formula: SimdnetGroupNorm.
    """
    array, src = floats(x, "x")
    form = layout_of(layout, "layout", _PLANES)
    lead, channels, height, width = images_of(array.shape, form)
    groups = number(groups, "groups", 1)
    if channels % groups:
        raise ValueError(f"groups is {groups}, expected a divisor of the {channels} channels of x")
    weight_, bias_ = _terms(weight, bias, channels)
    out, dst = output(out, array.shape, *_sources(x, weight, bias), 1)
    images = lead[0] if lead else 1
    call(lib.SimdnetGroupNorm, src, images, channels, height * width, groups, weight_, bias_, (eps,), dst)
    return out


def l2_normalize(
    x: Floats,
    weight: Coefficients | None = None,
    *,
    across: bool = False,
    eps: float = 1e-10,
    layout: Layout = "nhwc",
    out: FloatArray | None = None,
) -> FloatArray:
    """``x * weight[c] / sqrt(eps + sum of x ** 2)``, the sum over the channels of each position.

    x, out : float32, contiguous: (C, H, W) for "nchw", (..., C) for "nhwc" and "nwc", (C, W) for "ncw"; or a batch of them.
        ``out`` may be ``x``.
    weight : float32 of shape (C,), (C, 1, 1) or (1, C, 1, 1), or one number for all channels; None is 1.
    across : the sum is over the whole image; then "nhwc" has three dimensions, or four for a batch.

    Raises TypeError for another dtype, ValueError for another shape.

    >>> pysimd.l2_normalize(np.array([[3, 4], [0, 2]], np.float32), 10, eps=0)
    array([[ 6.,  8.],
           [ 0., 10.]], dtype=float32)

    Formula: SimdSynetNormalizeLayerForward.
    """
    array, src = floats(x, "x")
    form = layout_of(layout)
    if across:
        lead, channels, height, width = images_of(array.shape, form)
        images, spatial = lead[0] if lead else 1, height * width
    else:
        images, channels, spatial = planes_of(array.shape, form)
    weight_ = coefficients(1.0 if weight is None else weight, "weight", channels)
    out, dst = output(out, array.shape, *_sources(x, weight, None), 1)
    function = lib.SimdSynetNormalizeLayerForward
    call(function, src, images, channels, spatial, weight_, (eps,), bool(across), form, NULL, dst)
    return out
