"""Rare operators by NumPy."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from pysimd.annotations import Array


def bit_cast(node: Any, x: Array) -> Any:
    """BitCast: the bytes of each element as another type of the same size."""
    if node.get("to") == 16 and x.dtype.itemsize == 2:  # bfloat16, which is computed as float32
        return (np.ascontiguousarray(x).view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    dtype = node.dtype("to")
    if dtype.itemsize != x.dtype.itemsize:
        raise ValueError(f"elements of {x.dtype} have other sizes than those of {dtype}")
    return np.ascontiguousarray(x).view(dtype).reshape(x.shape)


def cum_prod(node: Any, x: Array, axis: Array) -> Any:
    """CumProd."""
    along = int(np.asarray(axis).reshape(()))
    turned = np.moveaxis(np.flip(x, along) if node.get("reverse", 0) else x, along, 0)
    if node.get("exclusive", 0):
        turned = np.concatenate([np.ones_like(turned[:1]), turned[:-1]])
    found = np.moveaxis(np.cumprod(turned, 0, dtype=x.dtype), 0, along)
    return np.flip(found, along) if node.get("reverse", 0) else found


def determinant(node: Any, x: Array) -> Any:
    """Det."""
    return np.linalg.det(x.astype(np.float64)).astype(x.dtype)


def col2im(node: Any, x: Array, size: Array, block: Array) -> Any:
    """Col2Im: the sum of blocks of an image at their places."""
    sides, kernel = [int(n) for n in size], [int(n) for n in block]
    rank = len(sides)
    strides, dilations = (node.numbers(name, (1,) * rank) for name in ("strides", "dilations"))
    pads = node.numbers("pads", (0,) * 2 * rank)
    padded = [n + pads[i] + pads[i + rank] for i, n in enumerate(sides)]
    counts = [(n - (k - 1) * d - 1) // s + 1 for n, k, d, s in zip(padded, kernel, dilations, strides)]
    if len(kernel) != rank or x.ndim != 3 or min(counts) < 1 or x.shape[2] != prod(counts) or x.shape[1] % prod(kernel):
        raise ValueError(f"blocks of {kernel} of an image of {sides} do not fit the shape {x.shape}")
    channels = x.shape[1] // prod(kernel)
    found = np.zeros(node.bounded((len(x), channels, *padded), x.dtype), x.dtype)
    parts = x.reshape(len(x), channels, prod(kernel), *counts)
    for i, tap in enumerate(np.ndindex(*kernel)):
        starts = [t * d for t, d in zip(tap, dilations)]
        place = tuple(slice(a, a + (n - 1) * s + 1, s) for a, n, s in zip(starts, counts, strides))
        found[(slice(None), slice(None), *place)] += parts[:, :, i]
    return found[(slice(None), slice(None), *(slice(pads[i], pads[i] + n) for i, n in enumerate(sides)))]


def tensor_scatter(node: Any, past: Array, update: Array, places: Any = None) -> Any:
    """TensorScatter: rows of a cache are replaced, from a place of its own on in each image."""
    axis, circular = node.axis(-2, past.ndim), node.get("mode", "linear") == "circular"
    rows, most = update.shape[axis], past.shape[axis]
    starts = np.zeros(len(past), np.int64) if places is None else places.astype(np.int64)
    if rows > most or starts.shape != past.shape[:1] or (not circular and np.any((starts < 0) | (starts + rows > most))):
        raise ValueError(f"{rows} rows from {starts.tolist()} on do not fit a cache of {most}")
    found = np.moveaxis(past, axis, 1).copy()
    found[np.arange(len(past))[:, None], (starts[:, None] + np.arange(rows)) % most] = np.moveaxis(update, axis, 1)
    return np.moveaxis(found, 1, axis)


def nll_loss(node: Any, x: Array, target: Array, weight: Any = None) -> Any:
    """NegativeLogLikelihoodLoss: of the elements of the target classes."""
    ignored = node.get("ignore_index")
    if x.ndim < 2 or target.shape != (len(x), *x.shape[2:]):
        raise ValueError(f"targets of the shape {target.shape} do not fit {x.shape}")
    counted = np.full(target.shape, True) if ignored is None else target != ignored
    classes = np.where(counted, target, 0).astype(np.int64)
    if classes.size and not 0 <= classes.min() <= classes.max() < x.shape[1]:
        raise ValueError(f"a target is not one of {x.shape[1]} classes")
    factors = (np.ones(x.shape[1], x.dtype) if weight is None else weight)[classes] * counted
    loss = -np.take_along_axis(x, classes[:, None], 1)[:, 0] * factors
    reduction = node.get("reduction", "mean")
    if reduction == "none":
        return loss.astype(x.dtype)
    total = loss.sum() if reduction == "sum" else loss.sum() / factors.sum()
    return np.asarray(total, x.dtype)


def cross_entropy(node: Any, x: Array, target: Array, weight: Any = None) -> Any:
    """SoftmaxCrossEntropyLoss: of the logarithms of the shares of classes, which are its second output."""
    small = x - x.max(1, keepdims=True, initial=-np.inf)
    shares = (small - np.log(np.exp(small).sum(1, keepdims=True))).astype(x.dtype)
    return (nll_loss(node, shares, target, weight), shares)[: node.outputs]


def deform_conv(node: Any, x: Array, w: Array, offset: Array, bias: Any = None, mask: Any = None) -> Any:
    """DeformConv of images: the product of the weights and of elements at positions that are computed."""
    (n, c, *sides), (outputs, part, *kernel) = x.shape, w.shape
    if x.ndim != 4 or w.ndim != 4 or offset.ndim != 4:
        raise ValueError(f"the shapes are {x.shape}, {w.shape} and {offset.shape}, supported are images")
    group, groups, pads = int(node.get("group", 1)), int(node.get("offset_group", 1)), node.numbers("pads", (0, 0, 0, 0))
    taps, size = prod(kernel), offset.shape[2:]
    shifts = offset.reshape(n, groups, *kernel, 2, *size)
    steps = zip(node.numbers("strides", (1, 1)), node.numbers("dilations", (1, 1)), pads, kernel, size)
    grids = [np.arange(k)[:, None] * d + np.arange(count) * s - pad for s, d, pad, k, count in steps]
    y = shifts[:, :, :, :, 0] + grids[0][:, None, :, None].astype(x.dtype)
    x_ = shifts[:, :, :, :, 1] + grids[1][None, :, None, :].astype(x.dtype)
    node.bounded((n, c, taps, *size), x.dtype)
    taken = _interpolated(x.reshape(n * groups, c // groups, *sides), *(at.reshape(n * groups, -1) for at in (y, x_)))
    taken = taken.reshape(n, groups, c // groups, taps, *size)
    if mask is not None:
        taken = taken * mask.reshape(n, groups, 1, taps, *size)
    columns = taken.reshape(n, group, part * taps, prod(size))
    found = np.matmul(w.reshape(group, outputs // group, part * taps), columns).reshape(n, outputs, *size)
    return found if bias is None else found + bias.reshape(-1, 1, 1)


def _interpolated(images: Array, y: Array, x: Array) -> Array:
    """The images at positions, by linear interpolation; beyond them are zeros."""
    height, width = images.shape[2:]
    y, x = (np.clip(np.nan_to_num(at), -2, n + 1) for at, n in ((y, height), (x, width)))
    found: Any = 0
    for dy in (0, 1):
        for dx in (0, 1):
            row, column = np.floor(y).astype(np.int64) + dy, np.floor(x).astype(np.int64) + dx
            weight = (1 - np.abs(y - row)) * (1 - np.abs(x - column))
            weight = weight * ((row >= 0) & (row < height) & (column >= 0) & (column < width))
            place = np.clip(row, 0, height - 1) * width + np.clip(column, 0, width - 1)
            flat = images.reshape(*images.shape[:2], height * width)
            found = found + np.take_along_axis(flat, place[:, None], 2) * weight[:, None].astype(images.dtype)
    return found  # type: ignore[no-any-return]


#: The operators of this module.
RARE: dict[str, Callable[..., Any]] = {
    "BitCast": bit_cast,
    "Col2Im": col2im,
    "CumProd": cum_prod,
    "DeformConv": deform_conv,
    "Det": determinant,
    "NegativeLogLikelihoodLoss": nll_loss,
    "SoftmaxCrossEntropyLoss": cross_entropy,
    "TensorScatter": tensor_scatter,
}
