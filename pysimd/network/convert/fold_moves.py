"""Constants, types and operators of ONNX that move elements, by NumPy; see :mod:`pysimd.network.convert.fold`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from pysimd.annotations import Array
from pysimd.network.convert.float8 import SMALL_FLOATS, rounded
from pysimd.network.convert.fold_node import OF_BITS, Node, bounded, dtype_of, limits_of
from pysimd.network.convert.windows import affine_grid, max_pool, max_unpool
from pysimd.network.sizes import array_of, broadcast_shapes, is_open, whole

# ---- constants and types


def _constant(node: Node) -> Any:
    for name, dtype in (
        ("value_float", "float32"),
        ("value_floats", "float32"),
        ("value_int", "int64"),
        ("value_ints", "int64"),
    ):
        if name in node.attributes:
            return np.asarray(node.get(name), dtype)
    value = node.get("value")
    if not isinstance(value, np.ndarray):
        raise ValueError("the value is not a tensor of numbers")
    return value


def _constant_of_shape(node: Node, shape: Array) -> Any:
    value = node.get("value", np.zeros(1, np.float32))
    return np.full(bounded(list(shape), value.dtype), value.reshape(-1)[0], value.dtype)


def _cast_to(x: Array, dtype: Any) -> Array:
    """As SimdnetCast(), also for other types: floats that the wide integer cannot represent become its lowest number."""
    if dtype.kind not in "iu" or x.dtype.kind != "f":
        return x if is_open(x) else x.astype(dtype)
    number = x.astype(np.float64)
    if dtype == np.uint64:  # the upper half, which int64 has below 0
        number = np.where((number >= 2.0**63) & (number < 2.0**64), number - 2.0**64, number)
    most = 2.0**63 if dtype.itemsize == 8 or dtype == np.uint32 else 2.0**31
    kept: Array = np.where((number >= -most) & (number < most), number, -most)
    return kept.astype(np.int64).astype(dtype)


def _cast(node: Node, x: Array) -> Any:
    """Integers of a few bits wrap around."""
    number = int(node.get("to"))
    if number in SMALL_FLOATS:
        return rounded(x, number, bool(node.get("saturate", 1)), str(node.get("round_mode", "up")))
    if number not in OF_BITS:
        return _cast_to(x, dtype_of(number))
    name, least, most = limits_of(number)
    return (((_cast_to(x, np.dtype(np.int64)) - least) & (most - least)) + least).astype(name)


def _shape(node: Node, x: Array) -> Any:
    start, end = node.get("start", 0), node.get("end")
    return array_of(x.shape[start:end])


def _range(node: Node, start: Array, limit: Array, delta: Array) -> Any:
    first, last, step = (np.asarray(each).reshape(()).item() for each in (start, limit, delta))
    if step == 0:
        raise ValueError("the step of a Range is 0")
    count = max(math.ceil((last - first) / step), 0)
    bounded((count,), np.int64)
    return (first + np.arange(count) * step).astype(start.dtype)


def _eye_like(node: Node, x: Array) -> Any:
    dtype = dtype_of(node.get("dtype")) if node.get("dtype") else x.dtype
    rows, columns = x.shape
    return np.eye(rows, columns, int(node.get("k", 0)), dtype)


# ---- moving elements


def _reshape(node: Node, x: Array, shape: Any = None) -> Any:
    sizes = node.ints(1, "shape")
    if not node.get("allowzero", 0):
        sizes = [x.shape[i] if n == 0 else n for i, n in enumerate(sizes)]
    return x.reshape(sizes)


def _axes(node: Node, rank: int) -> Any:
    given = node.ints(1, "axes")
    return None if given is None else tuple(axis % rank if rank else axis for axis in given)


def _squeeze(node: Node, x: Array, axes: Any = None) -> Any:
    return np.squeeze(x, _axes(node, x.ndim))


def _unsqueeze(node: Node, x: Array, axes: Any = None) -> Any:
    return np.expand_dims(x, tuple(node.ints(1, "axes")))


def _flatten(node: Node, x: Array) -> Any:
    axis = int(node.get("axis", 1))
    axis = axis + x.ndim if axis < 0 else axis
    return x.reshape(math.prod(x.shape[:axis]), math.prod(x.shape[axis:]))


class Part(NamedTuple):
    """Some indices of one dimension."""

    start: int
    step: int
    size: int


def parts(shape: Sequence[int], starts: Any, ends: Any, axes: Any = None, steps: Any = None) -> list[Part]:
    """What a Slice takes of each dimension; axes and steps are None where they are not given.

    A backward slice that starts before the first element starts at the first; Python's has no elements then.
    """
    found = [Part(0, 1, n) for n in shape]
    for i, (start, end) in enumerate(zip(map(whole, starts), map(whole, ends))):
        axis = i if axes is None else int(axes[i])
        step = 1 if steps is None else int(steps[i])
        if step == 0 or not -len(shape) <= axis < len(shape):
            raise ValueError(f"axis {axis} of {len(shape)} dimensions cannot be sliced with step {step}")
        found[axis] = _part(shape[axis], start, end, step)
    return found


def _part(n: int, start: int, end: int, step: int) -> Part:
    last = n if step > 0 else n - 1
    start = min(max(start + n if start < 0 else start, 0), last)
    lowest = 0 if step > 0 else -1
    end = max(end + n, lowest) if end < 0 else end
    distance = (min(end, last) - start) * (1 if step > 0 else -1)
    return Part(start, step, -(-distance // abs(step)) if distance > 0 else 0)


def _slice(node: Node, x: Array, *rest: Any) -> Any:
    names = enumerate(("starts", "ends", "axes", "steps"), 1)
    for axis, (start, step, size) in enumerate(parts(x.shape, *(node.ints(i, name) for i, name in names))):
        x = x[(slice(None),) * axis + (slice(start, None, step),)][(slice(None),) * axis + (slice(size),)]
    return x


def _split(node: Node, x: Array, split: Any = None) -> Any:
    axis, count = node.axis(0, x.ndim), node.outputs
    sizes = node.ints(1, "split")
    if sizes is None:
        most = -(-x.shape[axis] // count)
        sizes = [min(most, max(x.shape[axis] - most * i, 0)) for i in range(count)]
    if sum(sizes) != x.shape[axis]:
        raise ValueError(f"split sizes {sizes} do not add up to {x.shape[axis]}")
    return tuple(np.split(x, np.cumsum(sizes)[:-1], axis))


def _expand(node: Node, x: Array, shape: Array) -> Any:
    sizes = broadcast_shapes(x.shape, tuple(whole(n) for n in shape))
    return np.broadcast_to(x, bounded(sizes, x.dtype)).copy()


def _tile(node: Node, x: Array, repeats: Array) -> Any:
    if len(repeats) != x.ndim:
        raise ValueError(f"repeats has {len(repeats)} elements for {x.ndim} dimensions")
    bounded([n * int(k) for n, k in zip(x.shape, repeats)], x.dtype)
    return np.tile(x, [int(k) for k in repeats])


def _pad(node: Node, x: Array, *rest: Any) -> Any:
    pads, axes = node.ints(1, "pads"), node.ints(3, "axes", list(range(x.ndim)))
    value = node.input(2) if node.opset >= 11 else node.get("value", 0.0)
    widths = [(0, 0)] * x.ndim
    for i, axis in enumerate(axes):
        widths[axis] = pads[i], pads[i + len(axes)]
    bounded([n + max(a, 0) + max(b, 0) for n, (a, b) in zip(x.shape, widths)], x.dtype)
    x = x[tuple(slice(max(-a, 0), n - max(-b, 0)) for n, (a, b) in zip(x.shape, widths))]
    grown = [(max(a, 0), max(b, 0)) for a, b in widths]
    mode = node.get("mode", "constant")
    if mode == "constant":
        return np.pad(x, grown, constant_values=0 if value is None else np.asarray(value).item())
    names: dict[Any, Any] = {"reflect": "reflect", "edge": "edge", "wrap": "wrap"}
    return np.pad(x, grown, names[mode])


def _gather(node: Node, x: Array, indices: Array) -> Any:
    axis = node.axis(0, x.ndim)
    bounded((*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]), x.dtype)
    # numpy.take copies all of an array whose elements are not aligned, as of many files.
    return x[(slice(None),) * axis + (indices.astype(np.int64),)]


def _gather_elements(node: Node, x: Array, indices: Array) -> Any:
    axis = node.axis(0, x.ndim)
    places = np.where(indices < 0, indices + x.shape[axis], indices)  # which may be fewer along the other dimensions
    x = x[tuple(slice(None) if i == axis else slice(n) for i, n in enumerate(indices.shape))]
    return np.take_along_axis(x, places, axis)


def _gather_nd(node: Node, x: Array, indices: Array) -> Any:
    batch = int(node.get("batch_dims", 0))
    lead = x.shape[:batch]
    bounded((*indices.shape[:-1], *x.shape[batch + indices.shape[-1] :]), x.dtype)
    flat, places = x.reshape(-1, *x.shape[batch:]), indices.reshape(math.prod(lead), -1, indices.shape[-1])
    found = [part[tuple(place.T)] for part, place in zip(flat, places)]
    return np.stack(found).reshape(*indices.shape[:-1], *x.shape[batch + indices.shape[-1] :])


_COMBINE = {"none": None, "add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


def _put(target: Array, place: Any, updates: Array, reduction: str) -> Array:
    combine = _COMBINE[reduction]
    if combine is None:
        target[place] = updates
    else:
        combine.at(target, place, updates)
    return target


def _scatter_nd(node: Node, x: Array, indices: Array, updates: Array) -> Any:
    place = tuple(np.moveaxis(indices, -1, 0))
    return _put(x.copy(), place, updates, node.get("reduction", "none"))


def _scatter_elements(node: Node, x: Array, indices: Array, updates: Array) -> Any:
    axis = node.axis(0, x.ndim)
    places: list[Array] = list(np.indices(indices.shape, sparse=True))
    places[axis] = np.where(indices < 0, indices + x.shape[axis], indices)
    return _put(x.copy(), tuple(places), updates, node.get("reduction", "none"))


def _one_hot(node: Node, indices: Array, depth: Array, values: Array) -> Any:
    count, axis = int(np.asarray(depth).reshape(-1)[0]), int(node.get("axis", -1))
    bounded((*indices.shape, count), values.dtype)
    places = np.expand_dims(np.mod(indices, count), axis)
    shape = [1] * places.ndim
    shape[axis] = count
    inside = np.expand_dims((indices >= -count) & (indices < count), axis)
    return np.where((places == np.arange(count).reshape(shape)) & inside, values[1], values[0]).astype(values.dtype)


def _cum_sum(node: Node, x: Array, axis: Array) -> Any:
    along = int(np.asarray(axis).reshape(()))
    turned = np.flip(x, along) if node.get("reverse", 0) else x
    total = np.cumsum(turned, along, dtype=x.dtype)
    if node.get("exclusive", 0):
        kept = np.take(total, range(max(total.shape[along] - 1, 0)), along)
        total = np.concatenate([np.zeros_like(np.take(total, range(min(total.shape[along], 1)), along)), kept], along)
    return np.flip(total, along) if node.get("reverse", 0) else total


def _reverse_sequence(node: Node, x: Array, lengths: Array) -> Any:
    time, batch = int(node.get("time_axis", 0)), int(node.get("batch_axis", 1))
    if sorted((time, batch)) != [0, 1]:
        raise ValueError(f"time_axis is {time} and batch_axis {batch}, expected 0 and 1")
    steps, length = np.arange(x.shape[time]), lengths[:, None]
    if len(lengths) != x.shape[batch] or np.any((length < 0) | (length > len(steps))):
        raise ValueError(f"sequence_lens are {lengths}, expected {x.shape[batch]} lengths of up to {len(steps)}")
    places = np.where(steps < length, length - 1 - steps, steps)
    images = np.arange(len(lengths))[:, None]
    return x[images, places] if batch == 0 else x[places.T, images.T]


def _affine_grid(node: Node, theta: Array, size: Array) -> Any:
    shape = bounded(size, theta.dtype)
    return affine_grid(theta, shape, bool(node.get("align_corners", 0)))


def _trilu(node: Node, x: Array, k: Any = None) -> Any:
    diagonal = 0 if k is None else int(np.asarray(k).reshape(-1)[0])
    return np.triu(x, diagonal) if node.get("upper", 1) else np.tril(x, diagonal)


MOVES: dict[str, Callable[..., Any]] = {
    "AffineGrid": _affine_grid,
    "Cast": _cast,
    "CastLike": lambda node, x, like: _cast_to(x, like.dtype),
    "Concat": lambda node, *arrays: np.concatenate(arrays, int(node.get("axis", 1))),
    "Constant": _constant,
    "ConstantOfShape": _constant_of_shape,
    "CumSum": _cum_sum,
    "Expand": _expand,
    "EyeLike": _eye_like,
    "Flatten": _flatten,
    "Gather": _gather,
    "GatherElements": _gather_elements,
    "GatherND": _gather_nd,
    "Identity": lambda node, x: x,
    "MaxPool": max_pool,
    "MaxUnpool": max_unpool,
    "NonZero": lambda node, x: np.stack(np.nonzero(np.atleast_1d(x))).astype(np.int64),
    "OneHot": _one_hot,
    "Pad": _pad,
    "Range": _range,
    "Reshape": _reshape,
    "ReverseSequence": _reverse_sequence,
    "Scatter": _scatter_elements,
    "ScatterElements": _scatter_elements,
    "ScatterND": _scatter_nd,
    "Shape": _shape,
    "Size": lambda node, x: np.array(x.size, np.int64),
    "Slice": _slice,
    "Split": _split,
    "Squeeze": _squeeze,
    "Tile": _tile,
    "Transpose": lambda node, x: np.transpose(x, node.get("perm")),
    "Trilu": _trilu,
    "Unsqueeze": _unsqueeze,
}
