"""Sliding windows: their padding; and by NumPy the largest elements with their places, and the way back."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from pysimd.annotations import Array, Shape
from pysimd.network.operators import windows_along

_MOST_TAPS, _MOST_ELEMENTS = 1 << 16, 1 << 30
_MOST_COORDINATES = 1 << 26


def same_padding(size: Sequence[int], spans: Sequence[int], strides: Sequence[int], auto_pad: str) -> tuple[Shape, Shape]:
    """Before and after each dimension, for SAME_UPPER and SAME_LOWER."""
    totals = [max((-(-n // s) - 1) * s + span - n, 0) for n, s, span in zip(size, strides, spans)]
    less, more = tuple(total // 2 for total in totals), tuple(total - total // 2 for total in totals)
    return (less, more) if auto_pad == "SAME_UPPER" else (more, less)


def max_pool(node: Any, x: Array) -> Any:
    """MaxPool of numbers of any type; with Indices if the node has two outputs. Of equal elements the first one counts, and
    NaN is larger than all numbers, as in PyTorch."""
    size, rank = x.shape[2:], x.ndim - 2
    kernel, strides, dilations = (node.numbers(name, (1,) * rank) for name in ("kernel_shape", "strides", "dilations"))
    if rank < 1 or len(kernel) != rank or min(*kernel, *strides, *dilations) < 1:
        raise ValueError(f"a window of {kernel} with strides {strides} and dilations {dilations} does not fit {x.shape}")
    spans, auto = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)], str(node.get("auto_pad", "NOTSET"))
    pads = node.numbers("pads", (0,) * 2 * rank) if auto == "NOTSET" else [0] * 2 * rank
    before, after = same_padding(size, spans, strides, auto) if auto.startswith("SAME") else (pads[:rank], pads[rank:])
    ceil = bool(node.get("ceil_mode", 0))
    counts = [windows_along(*each, ceil) for each in zip(size, spans, strides, before, after)]
    steps = [prod(size[:i] if node.get("storage_order", 0) else size[i + 1 :]) for i in range(rank)]  # of places
    result = node.bounded((*x.shape[:2], *counts), np.int64)
    if prod(kernel) > _MOST_TAPS or prod(result) * prod(kernel) > _MOST_ELEMENTS:
        raise ValueError(f"a window of {kernel} is too large for {result} results")
    least = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    values, places = np.full(result, least, x.dtype), np.full(result, -1, np.int64)
    for tap in np.ndindex(*kernel):
        along = [np.arange(n) * s - low + t * d for n, s, low, t, d in zip(counts, strides, before, tap, dilations)]
        inside = _product([(at >= 0) & (at < n) for at, n in zip(along, size)], np.logical_and)
        along = [np.clip(at, 0, n - 1) for at, n in zip(along, size)]
        there = _product([at * step for at, step in zip(along, steps)], np.add)
        part = x[(slice(None), slice(None), *np.ix_(*along))]
        taken = inside & ((places < 0) | (part > values) | (part != part))
        values, places = np.where(taken, part, values), np.where(taken, there, places)
    images = np.arange(prod(x.shape[:2])).reshape(*x.shape[:2], *(1,) * rank) * prod(size)
    return (values, np.where(places < 0, 0, places) + images)[: node.outputs]


def _product(parts: Sequence[Array], function: Any) -> Array:
    """A function of one array for each dimension, for all their combinations."""
    found = parts[0]
    for part in parts[1:]:
        found = function(found[..., None], part)
    return found


def max_unpool(node: Any, x: Array, indices: Array, shape: Any = None) -> Any:
    """The elements at their places among zeros."""
    rank = x.ndim - 2
    kernel, strides = (node.numbers(name, (1,) * rank) for name in ("kernel_shape", "strides"))
    pads = node.numbers("pads", (0,) * 2 * rank)
    sides = [(n - 1) * s - pads[i] - pads[i + rank] + kernel[i] for i, (n, s) in enumerate(zip(x.shape[2:], strides))]
    result = (*x.shape[:2], *sides)
    if shape is not None and tuple(shape) != result:  # it is not clear then in which of both shapes the indices count
        raise ValueError(f"output_shape is {shape.tolist()}, supported is {list(result)}")
    found = np.zeros(node.bounded(result, x.dtype), x.dtype)
    if indices.shape != x.shape or (indices.size and not 0 <= indices.min() <= indices.max() < found.size):
        raise ValueError(f"an index is not within the {found.size} elements of the result")
    found.reshape(-1)[indices.reshape(-1)] = x.reshape(-1)
    return found


def affine_grid(theta: Array, size: Sequence[int], align_corners: bool) -> Array:
    """AffineGrid: where the pixels of images of this size are, after an affine transformation of each image."""
    positions = grid_positions(size[2:], align_corners).astype(theta.dtype)
    return (positions @ theta.swapaxes(1, 2)).reshape(size[0], *size[2:], len(size) - 2)


def grid_positions(sizes: Sequence[int], align_corners: bool) -> Array:
    """The coordinates of all pixels, x first, each with a 1 behind them. At -1 and 1 are the borders of the image, or with
    align_corners the middles of its outer pixels; that of a single pixel is at 0."""
    if min(sizes, default=0) < 1 or prod(sizes) * (len(sizes) + 1) > _MOST_COORDINATES:
        raise ValueError(f"the size is {tuple(sizes)}")
    ends = [(n - 1) / n if not align_corners else float(n > 1) for n in sizes]
    along = [np.linspace(-end, end, n) for end, n in zip(ends, sizes)]
    places = np.stack([*np.meshgrid(*along, indexing="ij")[::-1], np.ones(tuple(sizes))], axis=-1)
    return places.reshape(-1, len(sizes) + 1).astype(np.float32)
