"""Converters of pooling with the places of the largest elements, of the way back, of blocks and of reversed sequences."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod
from typing import Any

import numpy as np

from pysimd.annotations import Array, Shape
from pysimd.network.convert.conversion import CAST_TYPES, Conversion, converts
from pysimd.network.open_arrays import later
from pysimd.network.operators import windows_along
from pysimd.network.sizes import whole
from pysimd.network.source import SourceNode
from pysimd.network.unsupported import Unsupported

#: Each element of a window is a slice, a comparison and two selections.
_MOST_TAPS = 128


# ---- the largest elements


def largest_with_places(c: Conversion, x: str, window: Any, ceil: bool) -> tuple[str, str] | None:
    """The largest element of each window and its place: as :func:`~pysimd.network.convert.windows.max_pool`.

    None for what this does not compute. Elements beyond the image are those at its border, which are in the window, too.
    """
    n, channels, *size = c.builder.shape(x)
    kernel, strides, dilations, before = window.kernel, window.strides, window.dilations, window.before
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    counts = tuple(windows_along(*each, ceil) for each in zip(size, spans, strides, before, window.after))
    after = [
        max((count - 1) * s + span - size[i] - before[i], 0)
        for i, (count, s, span) in enumerate(zip(counts, strides, spans))
    ]
    if any(before) or any(after):
        if max(dilations) > 1 or any(width >= k for widths in (before, after) for width, k in zip(widths, kernel)):
            return None
        x = c.add("Pad", x, pads=((0, 0), (0, 0), *zip(before, after)), mode="edge", value=0.0)
    if prod(kernel) > _MOST_TAPS or c.builder.type(x).dtype not in CAST_TYPES:
        return None
    in_columns = c.flag("storage_order")
    value = place = ""
    for tap in np.ndindex(*kernel):
        shifts = tuple(t * d for t, d in zip(tap, dilations))
        part = c.add("Slice", x, starts=(0, 0, *shifts), steps=(1, 1, *strides), sizes=(n, channels, *counts))
        function = partial(_places, strides, tuple(shift - low for shift, low in zip(shifts, before)), in_columns)
        there = c.constant(later(function, (1, 1, *counts), *counts, *size))
        if value:
            taken = _is_larger(c, part, value)
            value, place = c.select(taken, part, value), c.select(taken, there, place)
        else:
            value, place = part, there
    images = later(_image_starts, (n, channels, *(1,) * len(size)), n, channels, *size)
    return value, c.elementwise("add", c.cast(place, "int64"), images)


def _is_larger(c: Conversion, part: str, value: str) -> str:
    """NaN is larger than all numbers."""
    larger = c.elementwise("less", value, part)
    if c.builder.type(part).dtype != "float32":
        return larger
    return c.elementwise("or", larger, c.elementwise("not_equal", part, part))


def _places(strides: Sequence[int], shifts: Sequence[int], in_columns: bool, *sizes: int) -> Array:
    """Where in an image the elements of a tap are, for each window; sizes are those of the result, and of the image."""
    counts, size = sizes[: len(sizes) // 2], [int(n) for n in sizes[len(sizes) // 2 :]]
    found: Any = 0
    for i, (count, n) in enumerate(zip(counts, size)):
        at = np.clip(np.arange(int(count)) * strides[i] + shifts[i], 0, n - 1)
        found = np.expand_dims(found, -1) + at * prod(size[:i] if in_columns else size[i + 1 :])
    return np.asarray(found, np.int32 if prod(size) < 1 << 31 else np.int64)[None, None]


def _image_starts(n: int, channels: int, *size: int) -> Array:
    places = np.arange(int(n) * int(channels), dtype=np.int64) * prod(map(int, size))
    return places.reshape(int(n), int(channels), *(1,) * len(size))


@converts("MaxUnpool", any_type=True)
def _max_unpool(c: Conversion, node: SourceNode) -> None:
    """The elements at their places among zeros."""
    (n, channels, *size), dtype = c.shape(0), c.dtype(0)
    if dtype not in CAST_TYPES:
        return c.by_numpy()
    rank = len(size)
    kernel, strides = (list(c.attribute(name, None) or (1,) * rank) for name in ("kernel_shape", "strides"))
    pads = list(c.attribute("pads", None) or (0,) * 2 * rank)
    if (len(kernel), len(strides), len(pads)) != (rank, rank, 2 * rank) or c.shape(1) != c.shape(0):
        raise Unsupported(f"a window of {kernel} and places of the shape {c.shape(1)} do not fit the shape {c.shape(0)}")
    sides = [(m - 1) * s - pads[i] - pads[i + rank] + kernel[i] for i, (m, s) in enumerate(zip(size, strides))]
    shape: Shape = (n, channels, *sides)
    given = tuple(c.numbers(2, "the shape")) if c.has(2) else shape
    if given != shape:  # it is not clear then in which of both shapes the indices count
        raise Unsupported(f"output_shape is {list(given)}, supported is {list(shape)}")
    if min(sides) < 1:
        raise Unsupported(f"the sizes of the result are {sides}")
    count = prod(c.shape(0))
    zeros = c.add("Expand", c.constant(np.zeros(1, dtype)), shape=(whole(prod(shape)),))
    places = c.reshape(c.indices(1), (count,))
    y = c.add("ScatterElements", zeros, places, c.reshape(c.typed(0), (count,)), axis=0, reduction="none")
    return c.give(c.reshape(y, shape))


# ---- blocks


@converts("Col2Im")
def _col2im(c: Conversion, node: SourceNode) -> None:
    """The sum of an image of each element of a block, which is at its places between zeros."""
    sides, kernel = c.numbers(1, "the size"), [whole(n) for n in c.numbers(2, "the block")]
    rank, shape = len(sides), c.shape(0)
    strides, dilations = (tuple(c.attribute(name, None) or (1,) * rank) for name in ("strides", "dilations"))
    pads = tuple(c.attribute("pads", None) or (0,) * 2 * rank)
    if (len(kernel), len(strides), len(dilations), len(pads)) != (rank, rank, rank, 2 * rank) or len(shape) != 3:
        raise Unsupported(f"blocks of {kernel} of an image of {sides} do not fit the shape {shape}")
    padded = [n + pads[i] + pads[i + rank] for i, n in enumerate(sides)]
    counts = [(n - (k - 1) * d - 1) // s + 1 for n, k, d, s in zip(padded, kernel, dilations, strides)]
    taps, blocks = prod(kernel), prod(counts)
    if min(*kernel, *strides, *dilations, *counts) < 1 or shape[2] != blocks or shape[1] % taps:
        raise Unsupported(f"blocks of {kernel} of an image of {sides} do not fit the shape {shape}")
    if max(taps, prod(strides)) > _MOST_TAPS:
        return c.by_numpy()
    n, channels = shape[0], shape[1] // taps
    x = c.reshape(c.tensor(0), (n * channels, taps, *counts))
    y = _added_taps(c, x, kernel, strides, dilations)
    for i, side in enumerate(sides):
        more = pads[i] + side - c.builder.shape(y)[1 + i]
        if more > 0:
            width = tuple((0, more) if axis == 1 + i else (0, 0) for axis in range(1 + rank))
            y = c.add("Pad", y, pads=width, mode="constant", value=0.0)
        y = c.slice(y, 1 + i, pads[i], whole(side))
    return c.give(c.reshape(y, (n, channels, *sides)))


def _added_taps(c: Conversion, x: str, kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int]) -> str:
    """From (images, taps, blocks ...) to images: the sums of the places with the same remainders of strides are neighbours,
    so taps are added to one of these, and the remainders become places at last."""
    images, _, *counts = c.builder.shape(x)
    most = [(k - 1) * d // s for k, s, d in zip(kernel, strides, dilations)]
    sizes = [count + shift for count, shift in zip(counts, most)]
    lanes: dict[tuple[int, ...], str] = {}
    for i, tap in enumerate(np.ndindex(*kernel)):
        shifts, lane = zip(*(divmod(t * d, s) for t, d, s in zip(tap, dilations, strides)))
        part, pads = c.slice(x, 1, i, 1), [(shift, end - shift) for shift, end in zip(shifts, most)]
        if any(map(any, pads)):
            part = c.add("Pad", part, pads=((0, 0), (0, 0), *pads), mode="constant", value=0.0)
        lanes[lane] = c.binary("add", lanes[lane], part) if lane in lanes else part
    every = list(np.ndindex(*strides))
    missing = [lane for lane in every if lane not in lanes]
    if missing:
        zeros = c.add("Expand", c.constant(np.zeros((1,) * (2 + len(sizes)))), shape=(images, 1, *map(whole, sizes)))
        lanes.update(dict.fromkeys(missing, zeros))
    parts = [lanes[lane] for lane in every]
    y = parts[0] if len(parts) == 1 else c.add("Concat", *parts, axis=1)
    rank = len(sizes)
    order = [0, *(axis for i in range(rank) for axis in (1 + rank + i, 1 + i))]
    y = c.transpose(c.reshape(y, (images, *strides, *sizes)), order)
    return c.reshape(y, (images, *(size * s for size, s in zip(sizes, strides))))


# ---- sequences


@converts("ReverseSequence", any_type=True)
def _reverse_sequence(c: Conversion, node: SourceNode) -> None:
    """Steps of each sequence, or rows of all, at places that are computed."""
    time, batch = int(c.attribute("time_axis", 0)), int(c.attribute("batch_axis", 1))
    if sorted((time, batch)) != [0, 1]:
        raise Unsupported(f"time_axis is {time} and batch_axis {batch}, expected 0 and 1")
    shape, first = c.shape(0), batch == 0
    (count,), steps = c.shape(1), shape[time]
    if count != shape[batch]:
        raise Unsupported(f"{count} lengths are given, expected {shape[batch]}")
    known = later(partial(places_of, first=first), shape[:2], c.operand(1), steps) if c.is_known(1) else None
    places = _computed_places(c, count, steps, first) if known is None else c.constant(known)
    if first:
        return c.give(c.add("GatherNd", c.typed(0), c.reshape(places, (*shape[:2], 1)), batch=1))
    return c.give(c.add("Gather", c.reshape(c.typed(0), (prod(shape[:2]), *shape[2:])), places, axis=0))


def _computed_places(c: Conversion, count: int, steps: int, first: bool) -> str:
    """Compared without signs, a length below 0 is a large one: as of one above the number of steps, a place is outside."""
    lengths = c.reshape(c.indices(1), (count, 1) if first else (1, count))
    at = c.constant(later(_numbers, (steps,), steps).reshape((1, steps) if first else (steps, 1)))
    within = c.elementwise("less", c.cast(at, "uint64"), c.cast(lengths, "uint64"))
    last = c.elementwise("subtract", lengths, np.int64(1))
    places = c.select(within, c.elementwise("subtract", last, at), at)
    if first:
        return places
    rows = c.elementwise("multiply", places, c.constant(np.asarray(count)))
    return c.elementwise("add", rows, later(_numbers, (count,), count))


def places_of(lengths: Array, steps: int, *, first: bool) -> Array:
    """The places of sequences of these lengths; if these are not the first dimension, among the rows of all."""
    length, at = lengths.astype(np.int64)[:, None], _numbers(steps)
    if np.any((length < 0) | (length > int(steps))):
        raise ValueError(f"sequence_lens are {lengths}, expected {len(lengths)} lengths of up to {steps}")
    places = np.where(at < length, length - 1 - at, at)
    return places if first else places.T * len(lengths) + np.arange(len(lengths))


def _numbers(n: int) -> Array:
    return np.arange(int(n), dtype=np.int64)
