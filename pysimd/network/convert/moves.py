"""Converters of operators that move elements, which may have any type."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from math import prod

import numpy as np

from pysimd.annotations import Array, Shape
from pysimd.network.convert.conversion import CAST_TYPES, INPUT_TYPES, Conversion, converts
from pysimd.network.convert.float8 import SMALL_FLOATS
from pysimd.network.convert.fold_moves import Part, parts
from pysimd.network.convert.fold_node import DTYPES, OF_BITS, limits_of
from pysimd.network.open_arrays import full, is_array, later
from pysimd.network.operators import axis_within
from pysimd.network.ranks import MOST
from pysimd.network.sizes import array_of, broadcast_shapes, whole
from pysimd.network.source import SourceNode
from pysimd.network.unsupported import Unsupported


def _axes(c: Conversion, i: int, rank: int) -> list[int] | None:
    """Axes, which are an attribute or, in later opsets, input i; None if there are none."""
    given = c.numbers(i, "the axes") if c.has(i) else c.attribute("axes", None)
    return None if given is None else [axis_within(int(axis), rank) for axis in given]


# ---- the same elements in the same order


@converts("Reshape", any_type=True)
def _reshape(c: Conversion, node: SourceNode) -> None:
    sizes = [whole(n) for n in (c.numbers(1, "the shape") if len(node.inputs) > 1 else c.attribute("shape"))]
    shape = c.shape(0)
    if not c.flag("allowzero"):
        if any(n == 0 and i >= len(shape) for i, n in enumerate(sizes)):
            raise Unsupported(f"the shape {sizes} keeps a dimension that {shape} does not have")
        sizes = [shape[i] if n == 0 else n for i, n in enumerate(sizes)]
    if sizes.count(-1) > 1 or min(sizes, default=0) < -1:
        raise Unsupported(f"the shape is {sizes}, expected one -1 at most")
    if -1 in sizes:
        rest = -prod(sizes)
        sizes[sizes.index(-1)] = prod(shape) // rest if rest else 0
    c.give(c.reshape(c.tensor(0), sizes))


@converts("Flatten", any_type=True)
def _flatten(c: Conversion, node: SourceNode) -> None:
    shape, axis = c.shape(0), c.attribute("axis", 1)
    if not -len(shape) <= axis <= len(shape):
        raise Unsupported(f"axis is {axis}, the shape {shape}")
    axis += len(shape) if axis < 0 else 0
    c.give(c.reshape(c.tensor(0), (prod(shape[:axis]), prod(shape[axis:]))))


@converts("Squeeze", any_type=True)
def _squeeze(c: Conversion, node: SourceNode) -> None:
    shape = c.shape(0)
    axes = _axes(c, 1, len(shape))
    if axes is None:
        axes = [axis for axis, n in enumerate(shape) if n == 1]
    c.give(c.reshape(c.tensor(0), [n for axis, n in enumerate(shape) if axis not in axes]))


@converts("Unsqueeze", any_type=True)
def _unsqueeze(c: Conversion, node: SourceNode) -> None:
    shape = c.shape(0)
    count = len(c.numbers(1, "the axes") if c.has(1) else c.attribute("axes"))
    axes, rest = _axes(c, 1, len(shape) + count) or [], iter(shape)
    if len(set(axes)) < count:
        raise Unsupported(f"the axes are {axes}, expected different ones")
    c.give(c.reshape(c.tensor(0), [1 if axis in axes else next(rest) for axis in range(len(shape) + count)]))


@converts("Dropout", any_type=True)
def _dropout(c: Conversion, node: SourceNode) -> None:
    if c.has(2) and c.known(2, "training_mode").any():
        raise Unsupported("training_mode is true")
    c.give(c.tensor(0), full(c.shape(0), True, bool) if len(node.outputs) > 1 else None)


@converts("Cast", "CastLike", any_type=True)
def _cast(c: Conversion, node: SourceNode) -> None:
    """Floats of 16 bits are float32 here, and so are those of 8, rounded by NumPy."""
    source, number = c.dtype(0), int(c.attribute("to", 0))
    if number in OF_BITS:
        return c.give(_lowest_bits(c, number)) if source in CAST_TYPES else c.by_numpy()
    if number in SMALL_FLOATS:
        return c.by_numpy()
    if node.op == "Cast":
        target = {**DTYPES, 16: "bfloat16"}.get(int(c.attribute("to")), "")
    else:
        target = c.dtype(1)
        if target not in INPUT_TYPES:
            raise Unsupported(f"the type {target} is not supported")
    target = "float32" if target in ("float16", "bfloat16") else target
    if source in ("uint8", "int8") and target == "float32":
        return c.give(c.add("Dequantize", c.tensor(0), c.constant(np.float32(1)), axis=None))
    if source == target or (source in CAST_TYPES and target in CAST_TYPES):
        return c.give(c.cast(c.tensor(0), target))
    return c.by_numpy()


def _lowest_bits(c: Conversion, number: int) -> str:
    """Input 0 as integers of a few bits, which wrap around."""
    dtype, least, most = limits_of(number)
    x = c.elementwise("and", c.cast(c.tensor(0), "int32"), np.array(most - least, np.int32))
    if least:
        sign = np.array(-least, np.int32)
        x = c.elementwise("subtract", c.elementwise("xor", x, sign), sign)
    return c.cast(x, dtype)


@converts("Shape", any_type=True)
def _shape(c: Conversion, node: SourceNode) -> None:
    start, end = c.attribute("start", 0), c.attribute("end", None)
    c.give(array_of(c.shape(0)[start:end]))


@converts("Size", any_type=True)
def _size(c: Conversion, node: SourceNode) -> None:
    c.give(array_of([prod(c.shape(0))]).reshape(()))


# ---- in another order


@converts("Transpose", any_type=True)
def _transpose(c: Conversion, node: SourceNode) -> None:
    rank = len(c.shape(0))
    perm = c.attribute("perm", None) or range(rank)[::-1]
    c.give(c.transpose(c.tensor(0), perm))


@converts("DepthToSpace", any_type=True)
def _depth_to_space(c: Conversion, node: SourceNode) -> None:
    n, channels, h, w = _image(c)
    b, rest = _block(c, channels)
    if c.option("mode", "DCR", ("DCR", "CRD")) == "DCR":
        y = c.transpose(c.reshape(c.tensor(0), (n, b, b, rest, h, w)), (0, 3, 4, 1, 5, 2))
    else:
        y = c.transpose(c.reshape(c.tensor(0), (n, rest, b, b, h, w)), (0, 1, 4, 2, 5, 3))
    c.give(c.reshape(y, (n, rest, h * b, w * b)))


@converts("SpaceToDepth", any_type=True)
def _space_to_depth(c: Conversion, node: SourceNode) -> None:
    n, channels, h, w = _image(c)
    b = int(c.attribute("blocksize"))
    if b < 1 or h % b or w % b:
        raise Unsupported(f"blocksize is {b}, the image has {h}x{w} pixels")
    order = (0, 3, 5, 1, 2, 4) if c.option("mode", "DCR", ("DCR", "CRD")) == "DCR" else (0, 1, 3, 5, 2, 4)
    y = c.transpose(c.reshape(c.tensor(0), (n, channels, h // b, b, w // b, b)), order)
    c.give(c.reshape(y, (n, channels * b * b, h // b, w // b)))


def _image(c: Conversion) -> Sequence[int]:
    if len(c.shape(0)) != 4:
        raise Unsupported(f"the shape is {c.shape(0)}, expected (N, C, H, W)")
    return c.shape(0)


def _block(c: Conversion, channels: int) -> tuple[int, int]:
    b = int(c.attribute("blocksize"))
    if b < 1 or channels % (b * b):
        raise Unsupported(f"blocksize is {b}, the image has {channels} channels")
    return b, channels // (b * b)


# ---- parts, and several tensors


@converts("Concat", any_type=True)
def _concat(c: Conversion, node: SourceNode) -> None:
    axis = axis_within(int(c.attribute("axis")), len(c.shape(0)))
    if len({c.dtype(i) for i in range(len(node.inputs))} - {"float16", "bfloat16"}) > 1:
        raise Unsupported("its inputs have different types")
    some = [i for i in range(len(node.inputs)) if prod(c.shape(i))] or range(len(node.inputs))  # which have a shape, too
    c.give(c.tensor(some[0]) if len(some) == 1 else c.add("Concat", *map(c.tensor, some), axis=axis))


@converts("Slice", any_type=True)
def _slice(c: Conversion, node: SourceNode) -> None:
    """In opsets before 10, starts and ends are attributes."""
    shape = c.shape(0)
    old = len(node.inputs) < 2
    names = ("starts", "ends", "axes", "steps")
    given = [
        c.attribute(name, None) if old else (c.numbers(i, f"input {i}") if c.has(i) else None)
        for i, name in enumerate(names, 1)
    ]
    starts, ends, axes, steps = given
    if starts is None or ends is None:
        raise Unsupported("starts or ends are missing")
    c.give(_sliced(c, c.tensor(0), parts(shape, starts, ends, axes, steps)))


def _sliced(c: Conversion, x: str, taken: Sequence[Part]) -> str:
    """A part of each dimension."""
    if all(part.size == n and (part.start, part.step) == (0, 1) for part, n in zip(taken, c.builder.shape(x))):
        return x
    starts = tuple(part.start if part.size else 0 for part in taken)
    steps = tuple(part.step if part.step == 1 or part.size > 1 else 1 for part in taken)
    return c.add("Slice", x, starts=starts, steps=steps, sizes=tuple(part.size for part in taken))


@converts("Split", any_type=True)
def _split(c: Conversion, node: SourceNode) -> None:
    shape, count = c.shape(0), len(node.outputs)
    axis = axis_within(c.attribute("axis", 0), len(shape))
    sizes = c.numbers(1, "split") if c.has(1) else c.attribute("split", None)
    if sizes is None:
        most = -(-shape[axis] // count)
        sizes = [most] * (count - 1)
        sizes.append(shape[axis] - sum(sizes))
    if len(sizes) != count or sum(sizes) != shape[axis] or min(sizes) < 0:
        raise Unsupported(f"{shape[axis]} elements cannot be split into {list(sizes)} for {count} outputs")
    starts = list(accumulate(sizes, initial=0))
    x = c.tensor(0)
    c.give(*(c.slice(x, axis, start, whole(size)) for start, size in zip(starts, sizes)))


@converts("Pad", any_type=True)
def _pad(c: Conversion, node: SourceNode) -> None:
    """Negative widths take elements away."""
    shape = c.shape(0)
    pads = [whole(n) for n in (c.numbers(1, "the padding") if c.has(1) else c.attribute("pads"))]
    axes = _axes(c, 3, len(shape)) if c.has(3) else None
    axes = list(range(len(shape))) if axes is None else axes
    mode = c.option("mode", "constant", ("constant", "reflect", "edge", "wrap"))
    if len(pads) != 2 * len(axes):
        raise Unsupported(f"{len(pads)} widths are given, expected {2 * len(axes)}")
    widths = dict(zip(axes, zip(pads, pads[len(axes) :])))
    value = c.known(2, "the value").reshape(-1)[0].item() if c.has(2) else c.attribute("value", 0.0)
    less = [(max(-before, 0), max(-after, 0)) for _, (before, after) in _each(shape, widths)]
    taken = [Part(before, 1, max(n - before - after, 0)) for n, (before, after) in zip(shape, less)]
    x = _sliced(c, c.tensor(0), taken)
    more = tuple((max(before, 0), max(after, 0)) for _, (before, after) in _each(shape, widths))
    if any(map(any, more)):
        x = c.add("Pad", x, pads=more, mode=mode, value=value)
    c.give(x)


@converts("CenterCropPad", any_type=True)
def _center_crop_pad(c: Conversion, node: SourceNode) -> None:
    """Of an odd number of elements that are taken away or added, one more is at the end."""
    shape, sizes = c.shape(0), [whole(n) for n in c.numbers(1, "the shape")]
    axes = [axis_within(int(axis), len(shape)) for axis in c.attribute("axes", None) or range(len(shape))]
    if len(sizes) != len(axes) or min(sizes, default=0) < 0:
        raise Unsupported(f"the sizes are {sizes} for {len(axes)} dimensions")
    taken, pads = [Part(0, 1, n) for n in shape], [(0, 0)] * len(shape)
    for axis, size in zip(axes, sizes):
        n = shape[axis]
        less = max(n - size, 0)
        more = less + size - n
        taken[axis] = Part(less // 2, 1, n - less)
        pads[axis] = (more // 2, more - more // 2)
    x = _sliced(c, c.tensor(0), taken)
    c.give(c.add("Pad", x, pads=tuple(pads), mode="constant", value=0.0) if any(map(any, pads)) else x)


def _each(shape: Shape, widths: dict[int, tuple[int, int]]) -> list[tuple[int, tuple[int, int]]]:
    return [(n, widths.get(axis, (0, 0))) for axis, n in enumerate(shape)]


# ---- copies


def expanded(c: Conversion, x: str, shape: Sequence[int]) -> str:
    """Broadcast to a shape, which has as many dimensions at least."""
    own = c.builder.shape(x)
    x = c.reshape(x, (1,) * (len(shape) - len(own)) + tuple(own))
    return x if c.builder.shape(x) == tuple(shape) else c.add("Expand", x, shape=tuple(map(whole, shape)))


@converts("Expand", any_type=True)
def _expand(c: Conversion, node: SourceNode) -> None:
    shape = broadcast_shapes(c.shape(0), tuple(c.numbers(1, "the shape")))
    c.give(expanded(c, c.tensor(0), shape))


@converts("Tile", any_type=True)
def _tile(c: Conversion, node: SourceNode) -> None:
    """With a dimension of its own for each number of repetitions; one by one if these are too many for the library."""
    shape, times = c.shape(0), [whole(n) for n in c.numbers(1, "the number of repetitions")]
    if len(times) != len(shape) or min(times, default=0) < 0:
        raise Unsupported(f"repeats is {times}, the shape {shape}")
    x, every = c.tensor(0), range(len(shape))
    together = len(shape) + sum(count != 1 for count in times) <= MOST
    for axes in [every] if together else [range(axis, axis + 1) for axis in every]:
        x = _repeated(c, x, [times[axis] if axis in axes else 1 for axis in every])
    c.give(x)


def _repeated(c: Conversion, x: str, times: Sequence[int]) -> str:
    split: list[int] = []
    whole: list[int] = []
    shape = c.builder.shape(x)
    for n, count in zip(shape, times):
        split += [n] if count == 1 else [1, n]
        whole += [n] if count == 1 else [count, n]
    x = expanded(c, c.reshape(x, split), whole)
    return c.reshape(x, [n * count for n, count in zip(shape, times)])


# ---- by indices


@converts("Gather", any_type=True)
def _gather(c: Conversion, node: SourceNode) -> None:
    axis = axis_within(int(c.attribute("axis", 0)), len(c.shape(0)))
    if not c.is_known(1):
        return c.give(c.add("Gather", c.tensor(0), c.indices(1), axis=axis))
    if is_array(c.operand(1)):
        return _gather_open(c, axis)
    return c.give(_at(c, c.tensor(0), axis, c.known(1).astype(np.int64)))


@converts("Compress", any_type=True)
def _compress(c: Conversion, node: SourceNode) -> None:
    """What a known condition takes; without an axis, of all elements. The condition may be shorter than the dimension."""
    indices = np.flatnonzero(c.known(1, "the condition"))
    x, axis = c.tensor(0), c.attribute("axis", None)
    if axis is None:
        x, axis = c.reshape(x, (prod(c.shape(0)),)), 0
    c.give(_at(c, x, axis_within(int(axis), len(c.shape_of(x))), indices))


def _at(c: Conversion, x: str, axis: int, indices: Array) -> str:
    """The elements at known indices, which are a slice if they have the same distance."""
    shape = c.shape_of(x)
    if indices.size and not (-shape[axis] <= indices.min() and indices.max() < shape[axis]):
        raise Unsupported(f"an index is not within a dimension of {shape[axis]}")
    if np.any(indices < 0):
        indices = array_of(n + shape[axis] if n < 0 else n for n in indices.reshape(-1).tolist()).reshape(indices.shape)
    steps = set(np.diff(indices.reshape(-1)).tolist())
    if len(steps) > 1 or 0 in steps or not indices.size:
        return c.add("Gather", x, c.constant(indices), axis=axis)
    taken = [Part(0, 1, n) for n in shape]
    taken[axis] = Part(whole(indices.reshape(-1)[0]), steps.pop() if steps else 1, indices.size)
    return c.reshape(_sliced(c, x, taken), (*shape[:axis], *indices.shape, *shape[axis + 1 :]))


def _gather_open(c: Conversion, axis: int) -> None:
    """Indices that depend on sizes."""
    shape, indices = c.shape(0), c.operand(1).astype(np.int64)
    n = shape[axis]
    if later(is_outside, (), indices, n):
        raise Unsupported(f"an index is not within a dimension of {n}")
    indices = later(from_first, indices.shape, indices, n)
    start, step = later(progression, (2,), indices).tolist()
    if int(step) == 0:
        return c.give(c.add("Gather", c.tensor(0), c.constant(indices), axis=axis))
    taken = [Part(0, 1, n) for n in shape]
    taken[axis] = Part(start, int(step), indices.size)
    return c.give(c.reshape(_sliced(c, c.tensor(0), taken), (*shape[:axis], *indices.shape, *shape[axis + 1 :])))


def is_outside(indices: Array, n: int) -> bool:
    """Whether an index is not within n elements."""
    return bool(indices.size and not (-n <= indices.min() and indices.max() < n))


def from_first(indices: Array, n: int) -> Array:
    """Indices that are counted from the first of n elements."""
    return np.where(indices < 0, indices + n, indices)


def progression(indices: Array) -> Array:
    """The first index and the distance of all; 0 for different ones, and for none."""
    flat = indices.reshape(-1)
    steps = set(np.diff(flat).tolist()) or {1}
    return np.array([flat[0] if flat.size else 0, steps.pop() if flat.size and len(steps) == 1 else 0], np.int64)


@converts("GatherElements", any_type=True)
def _gather_elements(c: Conversion, node: SourceNode) -> None:
    axis = axis_within(int(c.attribute("axis", 0)), len(c.shape(0)))
    x = c.typed(0)
    for i, n in enumerate(c.shape(1)):  # indices may be fewer along the other dimensions
        x = x if i == axis else c.slice(x, i, 0, n)
    return c.give(c.add("GatherElements", x, c.indices(1), axis=axis))
