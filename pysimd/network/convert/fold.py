"""Operators of ONNX by NumPy, for inputs that are known: shape arithmetic, and constants that are prepared for others.

:func:`evaluate` also serves integers and logic at run time, where no function of the library exists.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from pysimd.annotations import Array
from pysimd.network.convert.equations import indices_of
from pysimd.network.convert.rare import RARE
from pysimd.network.convert.regions import REGIONS
from pysimd.network.convert.shape_arithmetic import is_small, plain, takes_sizes
from pysimd.network.convert.signals import SIGNALS
from pysimd.network.convert.windows import affine_grid, max_pool, max_unpool
from pysimd.network.sizes import array_of, broadcast_shapes, fixed, is_open, whole
from pysimd.network.source import SourceNode

_MOST_BYTES = 1 << 31
#: Operators whose results are views, sizes, or bounded by themselves; others have results as large as their inputs.
_OF_ANY_SIZE = (
    "Flatten", "Gather", "GatherND", "Identity", "Reshape", "Shape", "Size", "Slice", "Split", "Squeeze", "Transpose",
    "Unsqueeze",
)  # fmt: skip

#: The types of ONNX by their numbers.
DTYPES = {
    1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 9: "bool", 10: "float16",
    11: "float64", 12: "uint32", 13: "uint64",
}  # fmt: skip


class _Node:
    """A node whose inputs are known."""

    def __init__(self, node: SourceNode, inputs: Sequence[Any], opset: int) -> None:
        self.attributes, self.outputs = node.attributes, len(node.outputs)
        self.inputs, self.opset = inputs, opset

    def get(self, name: str, default: Any = None) -> Any:
        """An attribute."""
        return self.attributes.get(name, default)

    def input(self, i: int) -> Any:
        """An input; None if it is missing."""
        return self.inputs[i] if i < len(self.inputs) else None

    def ints(self, i: int, name: str, default: Any = None) -> Any:
        """Integers that are an input, or in older versions an attribute."""
        given = self.input(i)
        if given is not None:
            return [whole(n) for n in np.asarray(given).reshape(-1)]
        found = self.get(name)
        return default if found is None else [int(n) for n in np.reshape(found, -1)]

    def numbers(self, name: str, default: Sequence[int]) -> list[int]:
        """An attribute with integers."""
        return [int(n) for n in self.get(name) or default]

    def dtype(self, name: str) -> Any:
        """The type that an attribute names, float32 by default."""
        return _dtype(self.get(name, 1))

    def bounded(self, shape: Iterable[Any], dtype: Any) -> tuple[int, ...]:
        """A shape of a result that is not too large."""
        return _bounded(shape, dtype)

    def axis(self, default: int, rank: int) -> int:
        """The attribute axis, counted from the first one."""
        axis = int(self.get("axis", default))
        if not -rank <= axis < max(rank, 1):
            raise ValueError(f"axis is {axis}, expected one of {rank} dimensions")
        return axis % max(rank, 1)


def evaluate(node: SourceNode, inputs: Sequence[Any], opset: int) -> tuple[Array, ...] | None:
    """The outputs of a node; None if there is no function for its operator. Missing inputs are None.

    Raises ValueError for inputs and attributes that do not fit, and for results of more than 2 GB.
    """
    if node.domain not in ("", "ai.onnx") or node.op not in FOLDS:
        return None
    has_sizes = any(map(is_open, inputs))
    if has_sizes and not takes_sizes(node, inputs):
        inputs = [fixed(each) if is_open(each) else each for each in inputs]
    if node.op not in _OF_ANY_SIZE:
        for each in inputs:
            _bounded(np.shape(each), getattr(each, "dtype", object))
    try:
        with np.errstate(all="ignore"):
            found = FOLDS[node.op](_Node(node, inputs, opset), *inputs)
    except (IndexError, KeyError, TypeError, AttributeError, ArithmeticError) as error:
        raise ValueError(f"{node.op} cannot be computed: {type(error).__name__}: {error}") from None
    results = found if isinstance(found, tuple) else (found,)
    arrays = tuple(map(np.asarray, results))
    if not all(map(is_small, arrays)):
        return evaluate(node, [fixed(each) if is_open(each) else each for each in inputs], opset)
    return tuple(map(plain, arrays)) if has_sizes else arrays


def _bounded(shape: Iterable[Any], dtype: Any) -> tuple[int, ...]:
    """A shape of a result that is not too large."""
    sizes = tuple(whole(n) for n in shape)
    if any(n < 0 for n in sizes) or math.prod(sizes) * np.dtype(dtype).itemsize > _MOST_BYTES:
        raise ValueError(f"the result would have the shape {sizes}")
    return sizes


def _bounded_broadcast(arrays: Sequence[Any]) -> None:
    """Refuses arrays whose elements make too large a result together: small ones can, along different dimensions."""
    arrays = [np.asarray(each) for each in arrays]
    _bounded(broadcast_shapes(*(each.shape for each in arrays)), np.result_type(*arrays))


# ---- constants and types


def _constant(node: _Node) -> Any:
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


def _constant_of_shape(node: _Node, shape: Array) -> Any:
    value = node.get("value", np.zeros(1, np.float32))
    return np.full(_bounded(list(shape), value.dtype), value.reshape(-1)[0], value.dtype)


def _dtype(number: Any) -> Any:
    if int(number) == 16:
        return _bfloat16()
    if int(number) not in DTYPES:
        raise ValueError(f"the type {number} of ONNX is not supported")
    return np.dtype(DTYPES[int(number)])


def _bfloat16() -> Any:
    """bfloat16 is computed as float32."""
    return np.dtype(np.float32)


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


def _shape(node: _Node, x: Array) -> Any:
    start, end = node.get("start", 0), node.get("end")
    return array_of(x.shape[start:end])


def _range(node: _Node, start: Array, limit: Array, delta: Array) -> Any:
    first, last, step = (np.asarray(each).reshape(()).item() for each in (start, limit, delta))
    if step == 0:
        raise ValueError("the step of a Range is 0")
    count = max(math.ceil((last - first) / step), 0)
    _bounded((count,), np.int64)
    return (first + np.arange(count) * step).astype(start.dtype)


def _eye_like(node: _Node, x: Array) -> Any:
    dtype = _dtype(node.get("dtype")) if node.get("dtype") else x.dtype
    rows, columns = x.shape
    return np.eye(rows, columns, int(node.get("k", 0)), dtype)


# ---- moving elements


def _reshape(node: _Node, x: Array, shape: Any = None) -> Any:
    sizes = node.ints(1, "shape")
    if not node.get("allowzero", 0):
        sizes = [x.shape[i] if n == 0 else n for i, n in enumerate(sizes)]
    return x.reshape(sizes)


def _axes(node: _Node, rank: int) -> Any:
    given = node.ints(1, "axes")
    return None if given is None else tuple(axis % rank if rank else axis for axis in given)


def _squeeze(node: _Node, x: Array, axes: Any = None) -> Any:
    return np.squeeze(x, _axes(node, x.ndim))


def _unsqueeze(node: _Node, x: Array, axes: Any = None) -> Any:
    return np.expand_dims(x, tuple(node.ints(1, "axes")))


def _flatten(node: _Node, x: Array) -> Any:
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


def _slice(node: _Node, x: Array, *rest: Any) -> Any:
    names = enumerate(("starts", "ends", "axes", "steps"), 1)
    for axis, (start, step, size) in enumerate(parts(x.shape, *(node.ints(i, name) for i, name in names))):
        x = x[(slice(None),) * axis + (slice(start, None, step),)][(slice(None),) * axis + (slice(size),)]
    return x


def _split(node: _Node, x: Array, split: Any = None) -> Any:
    axis, count = node.axis(0, x.ndim), node.outputs
    sizes = node.ints(1, "split")
    if sizes is None:
        most = -(-x.shape[axis] // count)
        sizes = [min(most, max(x.shape[axis] - most * i, 0)) for i in range(count)]
    if sum(sizes) != x.shape[axis]:
        raise ValueError(f"split sizes {sizes} do not add up to {x.shape[axis]}")
    return tuple(np.split(x, np.cumsum(sizes)[:-1], axis))


def _expand(node: _Node, x: Array, shape: Array) -> Any:
    sizes = broadcast_shapes(x.shape, tuple(whole(n) for n in shape))
    return np.broadcast_to(x, _bounded(sizes, x.dtype)).copy()


def _tile(node: _Node, x: Array, repeats: Array) -> Any:
    if len(repeats) != x.ndim:
        raise ValueError(f"repeats has {len(repeats)} elements for {x.ndim} dimensions")
    _bounded([n * int(k) for n, k in zip(x.shape, repeats)], x.dtype)
    return np.tile(x, [int(k) for k in repeats])


def _pad(node: _Node, x: Array, *rest: Any) -> Any:
    pads, axes = node.ints(1, "pads"), node.ints(3, "axes", list(range(x.ndim)))
    value = node.input(2) if node.opset >= 11 else node.get("value", 0.0)
    widths = [(0, 0)] * x.ndim
    for i, axis in enumerate(axes):
        widths[axis] = pads[i], pads[i + len(axes)]
    _bounded([n + max(a, 0) + max(b, 0) for n, (a, b) in zip(x.shape, widths)], x.dtype)
    x = x[tuple(slice(max(-a, 0), n - max(-b, 0)) for n, (a, b) in zip(x.shape, widths))]
    grown = [(max(a, 0), max(b, 0)) for a, b in widths]
    mode = node.get("mode", "constant")
    if mode == "constant":
        return np.pad(x, grown, constant_values=0 if value is None else np.asarray(value).item())
    names: dict[Any, Any] = {"reflect": "reflect", "edge": "edge", "wrap": "wrap"}
    return np.pad(x, grown, names[mode])


def _gather(node: _Node, x: Array, indices: Array) -> Any:
    axis = node.axis(0, x.ndim)
    _bounded((*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]), x.dtype)
    # numpy.take copies all of an array whose elements are not aligned, as of many files.
    return x[(slice(None),) * axis + (indices.astype(np.int64),)]


def _gather_elements(node: _Node, x: Array, indices: Array) -> Any:
    axis = node.axis(0, x.ndim)
    places = np.where(indices < 0, indices + x.shape[axis], indices)  # which may be fewer along the other dimensions
    x = x[tuple(slice(None) if i == axis else slice(n) for i, n in enumerate(indices.shape))]
    return np.take_along_axis(x, places, axis)


def _gather_nd(node: _Node, x: Array, indices: Array) -> Any:
    batch = int(node.get("batch_dims", 0))
    lead = x.shape[:batch]
    _bounded((*indices.shape[:-1], *x.shape[batch + indices.shape[-1] :]), x.dtype)
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


def _scatter_nd(node: _Node, x: Array, indices: Array, updates: Array) -> Any:
    place = tuple(np.moveaxis(indices, -1, 0))
    return _put(x.copy(), place, updates, node.get("reduction", "none"))


def _scatter_elements(node: _Node, x: Array, indices: Array, updates: Array) -> Any:
    axis = node.axis(0, x.ndim)
    places: list[Array] = list(np.indices(indices.shape, sparse=True))
    places[axis] = np.where(indices < 0, indices + x.shape[axis], indices)
    return _put(x.copy(), tuple(places), updates, node.get("reduction", "none"))


def _one_hot(node: _Node, indices: Array, depth: Array, values: Array) -> Any:
    count, axis = int(np.asarray(depth).reshape(-1)[0]), int(node.get("axis", -1))
    _bounded((*indices.shape, count), values.dtype)
    places = np.expand_dims(np.mod(indices, count), axis)
    shape = [1] * places.ndim
    shape[axis] = count
    inside = np.expand_dims((indices >= -count) & (indices < count), axis)
    return np.where((places == np.arange(count).reshape(shape)) & inside, values[1], values[0]).astype(values.dtype)


def _cum_sum(node: _Node, x: Array, axis: Array) -> Any:
    along = int(np.asarray(axis).reshape(()))
    turned = np.flip(x, along) if node.get("reverse", 0) else x
    total = np.cumsum(turned, along, dtype=x.dtype)
    if node.get("exclusive", 0):
        kept = np.take(total, range(max(total.shape[along] - 1, 0)), along)
        total = np.concatenate([np.zeros_like(np.take(total, range(min(total.shape[along], 1)), along)), kept], along)
    return np.flip(total, along) if node.get("reverse", 0) else total


def _reverse_sequence(node: _Node, x: Array, lengths: Array) -> Any:
    time, batch = int(node.get("time_axis", 0)), int(node.get("batch_axis", 1))
    if sorted((time, batch)) != [0, 1]:
        raise ValueError(f"time_axis is {time} and batch_axis {batch}, expected 0 and 1")
    steps, length = np.arange(x.shape[time]), lengths[:, None]
    if len(lengths) != x.shape[batch] or np.any((length < 0) | (length > len(steps))):
        raise ValueError(f"sequence_lens are {lengths}, expected {x.shape[batch]} lengths of up to {len(steps)}")
    places = np.where(steps < length, length - 1 - steps, steps)
    images = np.arange(len(lengths))[:, None]
    return x[images, places] if batch == 0 else x[places.T, images.T]


def _affine_grid(node: _Node, theta: Array, size: Array) -> Any:
    shape = _bounded(size, theta.dtype)
    return affine_grid(theta, shape, bool(node.get("align_corners", 0)))


def _trilu(node: _Node, x: Array, k: Any = None) -> Any:
    diagonal = 0 if k is None else int(np.asarray(k).reshape(-1)[0])
    return np.triu(x, diagonal) if node.get("upper", 1) else np.tril(x, diagonal)


# ---- arithmetic


def _divide(node: _Node, a: Array, b: Array) -> Any:
    _bounded_broadcast((a, b))
    if a.dtype.kind == "f":
        return a / b
    if np.any(b == 0):
        raise ValueError("an integer is divided by 0")
    if a.dtype == object or b.dtype == object:  # sizes: rounded towards 0, as quotients of C
        return np.vectorize(lambda n, d: n // d if (n >= 0) == (d > 0) else -(-n // d), otypes=[object])(a, b)
    return (np.abs(a) // np.abs(b) * np.sign(a) * np.sign(b)).astype(a.dtype) if a.dtype.kind == "i" else a // b


def _mod(node: _Node, a: Array, b: Array) -> Any:
    _bounded_broadcast((a, b))
    if a.dtype.kind in "iu" and np.any(b == 0):
        raise ValueError("an integer is divided by 0")
    if object in (a.dtype, b.dtype) and np.any(b == 0):
        raise ValueError("an integer is divided by 0")
    return np.fmod(a, b) if node.get("fmod", 0) else np.mod(a, b)


def _dropout(node: _Node, x: Array, ratio: Any = None, training: Any = None) -> Any:
    if training is not None and np.any(training):
        raise ValueError("training_mode is true")
    return (x, np.ones(x.shape, bool))[: node.outputs]


def _several(function: Callable[..., Any]) -> Callable[..., Any]:
    def computed(node: _Node, *arrays: Array) -> Any:
        _bounded_broadcast(arrays)
        return reduce(function, arrays)

    return computed


def _mean(node: _Node, *arrays: Array) -> Any:
    _bounded_broadcast(arrays)
    return (reduce(np.add, arrays) / len(arrays)).astype(arrays[0].dtype)


def _clip(node: _Node, x: Array, low: Any = None, high: Any = None) -> Any:
    if node.opset < 11:
        low, high = node.get("min"), node.get("max")
    for bound, beyond in ((low, np.less), (high, np.greater)):  # of a bound that is NaN, nothing is
        if bound is not None:
            bound = np.asarray(bound, x.dtype)
            x = np.where(beyond(x, bound), bound, x)
    return x


def _softmax(node: _Node, x: Array) -> Any:
    if not x.size:
        return x
    if node.opset < 13:
        axis = int(node.get("axis", 1)) % x.ndim
        flat = x.reshape(math.prod(x.shape[:axis]), -1)
        raised = np.exp(flat - flat.max(-1, keepdims=True))
        return (raised / raised.sum(-1, keepdims=True)).reshape(x.shape)
    axis = int(node.get("axis", -1))
    raised = np.exp(x - x.max(axis, keepdims=True))
    return raised / raised.sum(axis, keepdims=True)


def _log_softmax(node: _Node, x: Array) -> Any:
    shape, axis = x.shape, int(node.get("axis", 1 if node.opset < 13 else -1))
    if node.opset < 13:
        x, axis = x.reshape(math.prod(shape[: axis % x.ndim]), -1), 1
    small = x - x.max(axis, keepdims=True, initial=-np.inf)
    return (small - np.log(np.exp(small).sum(axis, keepdims=True))).reshape(shape)


def _hardmax(node: _Node, x: Array) -> Any:
    shape, axis = x.shape, int(node.get("axis", 1 if node.opset < 13 else -1)) % x.ndim
    if node.opset < 13:
        x, axis = x.reshape(math.prod(x.shape[:axis]), -1), 1
    first = np.expand_dims(np.argmax(x, axis), axis)
    found = np.zeros_like(x)
    np.put_along_axis(found, first, 1, axis)
    return found.reshape(shape)


def _product(a: Array, b: Array) -> Any:
    """The product of matrices."""
    lead = broadcast_shapes(a.shape[:-2], b.shape[:-2])
    _bounded((*lead, *a.shape[-2:-1], *(b.shape[-1:] if b.ndim > 1 else ())), np.result_type(a, b))
    return np.matmul(a, b)


def _gemm(node: _Node, a: Array, b: Array, c: Any = None) -> Any:
    left, right = a.T if node.get("transA", 0) else a, b.T if node.get("transB", 0) else b
    alpha, beta = (node.get(name, 1.0) for name in ("alpha", "beta"))  # a product with 1.0 would round integers
    found = _product(left, right)
    found = found if alpha == 1 else alpha * found
    return (found if c is None else found + (c if beta == 1 else beta * c)).astype(a.dtype)


def _einsum(node: _Node, *arrays: Array) -> Any:
    terms, target, sizes = indices_of(str(node.get("equation")), [array.shape for array in arrays])
    _bounded([sizes[letter] for letter in target], arrays[0].dtype)
    numbers = {letter: number for number, letter in enumerate(sizes)}
    operands = [each for array, term in zip(arrays, terms) for each in (array, [numbers[letter] for letter in term])]
    found = np.einsum(*operands, [numbers[letter] for letter in target], optimize=("greedy", _MOST_BYTES // 8))
    return np.asarray(found).astype(arrays[0].dtype)


def _unary(function: Callable[[Array], Any]) -> Callable[..., Any]:
    """An element-wise function that keeps the type."""
    return lambda node, x: np.asarray(function(x)).astype(x.dtype)


def _binary(function: Callable[[Array, Array], Any]) -> Callable[..., Any]:
    def computed(node: _Node, a: Array, b: Array) -> Any:
        _bounded_broadcast((a, b))
        found = np.asarray(function(a, b))
        return found if found.dtype == object else found.astype(a.dtype)  # of sizes, in one of them

    return computed


def _logical(function: Callable[..., Any]) -> Callable[..., Any]:
    def computed(node: _Node, *arrays: Array) -> Any:
        _bounded_broadcast(arrays)
        return function(*arrays)

    return computed


def _shift(node: _Node, a: Array, b: Array) -> Any:
    return np.left_shift(a, b) if node.get("direction") == "LEFT" else np.right_shift(a, b)


def _shrink(node: _Node, x: Array) -> Any:
    bias, limit = node.get("bias", 0.0), node.get("lambd", 0.5)
    return np.where(x < -limit, x + bias, np.where(x > limit, x - bias, 0)).astype(x.dtype)


def _thresholded_relu(node: _Node, x: Array) -> Any:
    return np.where(x > node.get("alpha", 1.0), x, 0).astype(x.dtype)


def _leaky_relu(node: _Node, x: Array) -> Any:
    return np.where(x < 0, x * node.get("alpha", 0.01), x).astype(x.dtype)


def _elu(node: _Node, x: Array) -> Any:
    return np.where(x > 0, x, node.get("alpha", 1.0) * np.expm1(np.minimum(x, 0))).astype(x.dtype)


def _celu(node: _Node, x: Array) -> Any:
    alpha = node.get("alpha", 1.0)
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0) / alpha)).astype(x.dtype)


def _selu(node: _Node, x: Array) -> Any:
    alpha, gamma = node.get("alpha", 1.67326319217681884765625), node.get("gamma", 1.05070102214813232421875)
    return (gamma * np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))).astype(x.dtype)


def _hard_sigmoid(node: _Node, x: Array) -> Any:
    return np.clip(node.get("alpha", 0.2) * x + node.get("beta", 0.5), 0, 1).astype(x.dtype)


def _swish(node: _Node, x: Array) -> Any:
    return (x / (1 + np.exp(-node.get("alpha", 1.0) * x))).astype(x.dtype)


def _gelu(node: _Node, x: Array) -> Any:
    if node.get("approximate", "none") == "tanh":
        share = np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))
    else:
        share = _erf(x / math.sqrt(2))
    return (x / 2 * (1 + share)).astype(x.dtype)


def _prelu(node: _Node, x: Array, slope: Array) -> Any:
    _bounded_broadcast((x, slope))
    return np.where(x < 0, x * slope, x).astype(x.dtype)


def _is_inf(node: _Node, x: Array) -> Any:
    below, above = node.get("detect_negative", 1), node.get("detect_positive", 1)
    return np.isinf(x) & (((x < 0) & bool(below)) | ((x > 0) & bool(above)))


_erf: Any = np.vectorize(math.erf, otypes=[np.float64])


# ---- along axes


def _reduction(function: Callable[..., Any]) -> Callable[..., Any]:
    def computed(node: _Node, x: Array, axes: Any = None) -> Any:
        given = node.ints(1, "axes", [])
        every = () if node.get("noop_with_empty_axes", 0) else range(x.ndim)
        axis = tuple(given or every)
        return np.asarray(function(x, axis=axis, keepdims=bool(node.get("keepdims", 1)))).astype(x.dtype)

    return computed


def _mean_of_elements(x: Array, **kept: Any) -> Any:
    """The mean; of no elements NaN or, of integers, 0, without the warnings of NumPy."""
    if x.size:
        return np.mean(x, **kept)
    return np.full_like(x.sum(**kept), np.nan if x.dtype.kind == "f" else 0, dtype=x.dtype)


def _extreme(function: Callable[..., Any], sign: int) -> Callable[..., Any]:
    """The largest or the smallest element; of none, what is below or above all others."""

    def computed(x: Array, **kept: Any) -> Any:
        if x.size:
            return function(x, **kept)
        if x.dtype.kind in "fb":
            return function(x, initial=sign * np.inf if x.dtype.kind == "f" else sign > 0, **kept)
        return function(x, initial=np.iinfo(x.dtype).max if sign > 0 else np.iinfo(x.dtype).min, **kept)

    return computed


def _log_sum_exp(x: Array, **kept: Any) -> Any:
    """Of differences to the largest element, whose exponentials are not infinite."""
    most = np.max(x, axis=kept["axis"], keepdims=True, initial=-np.inf)
    most = np.where(np.isfinite(most), most, 0)
    total = np.log(np.exp(x - most).sum(axis=kept["axis"], keepdims=True)) + most
    return total if kept["keepdims"] else total.squeeze(kept["axis"])


def _arg(function: Callable[..., Any]) -> Callable[..., Any]:
    def computed(node: _Node, x: Array) -> Any:
        axis, last = node.axis(0, x.ndim), node.get("select_last_index", 0)
        found = function(np.flip(x, axis) if last else x, axis)
        found = x.shape[axis] - 1 - found if last else found
        return (np.expand_dims(found, axis) if node.get("keepdims", 1) else found).astype(np.int64)

    return computed


def _top_k(node: _Node, x: Array, k: Any = None) -> Any:
    (count,), axis = node.ints(1, "k"), node.axis(-1, x.ndim)
    if node.get("largest", 1):  # from the end: of equal elements the first one is the last one then, and NaN is above all
        places = x.shape[axis] - 1 - np.flip(np.argsort(np.flip(x, axis), axis, kind="stable"), axis)
    else:
        places = np.argsort(x, axis, kind="stable")
    places = np.take(places, np.arange(count), axis)
    return np.take_along_axis(x, places, axis), places.astype(np.int64)


# ---- bytes


def _scales(node: _Node, x: Array, scale: Array, zero: Any) -> tuple[Any, Any]:
    block, shape = int(node.get("block_size", 0)), [1] * x.ndim
    if block:
        axis = node.axis(1, x.ndim)
        return of_blocks(scale, x.shape, axis, block), of_blocks(_zeros(scale, zero), x.shape, axis, block)
    if scale.ndim and scale.size > 1:
        shape[node.axis(1, x.ndim)] = scale.size
    zero = _zeros(scale, zero)
    return (scale.reshape(shape), zero.reshape(shape)) if x.ndim else (scale.reshape(()), zero.reshape(()))


def _zeros(scale: Array, zero: Any) -> Array:
    return np.zeros(scale.shape, np.int32) if zero is None else zero


def of_blocks(values: Array, shape: Sequence[int], axis: int, block: int) -> Array:
    """A number for each element, of one for each block along an axis. Raises ValueError for other shapes."""
    expected = tuple(-(-n // block) if i == axis else n for i, n in enumerate(shape))
    if block < 0 or values.shape != expected:
        raise ValueError(f"the shape is {values.shape}, expected {expected} for blocks of {block}")
    return np.take(values, np.arange(shape[axis]) // block, axis)


def _dequantize(node: _Node, x: Array, scale: Array, zero: Any = None) -> Any:
    factor, offset = _scales(node, x, scale, zero)
    return ((x.astype(np.int64) - offset.astype(np.int64)) * factor.astype(np.float32)).astype(np.float32)


def _quantize(node: _Node, x: Array, scale: Array, zero: Any = None) -> Any:
    dtype = zero.dtype if zero is not None else _dtype(node.get("output_dtype", 0) or 2)
    factor, offset = _scales(node, x, scale, zero)
    limits = np.iinfo(dtype)
    return np.clip(np.rint(x / factor) + offset.astype(np.int64), limits.min, limits.max).astype(dtype)


FOLDS: dict[str, Callable[..., Any]] = {
    "Abs": _unary(np.abs),
    "Acos": _unary(np.arccos),
    "Acosh": _unary(np.arccosh),
    "Add": _binary(np.add),
    "AffineGrid": _affine_grid,
    "And": _logical(np.logical_and),
    "ArgMax": _arg(np.argmax),
    "ArgMin": _arg(np.argmin),
    "Asin": _unary(np.arcsin),
    "Asinh": _unary(np.arcsinh),
    "Atan": _unary(np.arctan),
    "Atanh": _unary(np.arctanh),
    "BitShift": _shift,
    "BitwiseAnd": _binary(np.bitwise_and),
    "BitwiseNot": _unary(np.bitwise_not),
    "BitwiseOr": _binary(np.bitwise_or),
    "BitwiseXor": _binary(np.bitwise_xor),
    "Cast": lambda node, x: _cast_to(x, _dtype(node.get("to"))),
    "CastLike": lambda node, x, like: _cast_to(x, like.dtype),
    "Ceil": _unary(np.ceil),
    "Celu": _celu,
    "Clip": _clip,
    "Concat": lambda node, *arrays: np.concatenate(arrays, int(node.get("axis", 1))),
    "Constant": _constant,
    "ConstantOfShape": _constant_of_shape,
    "Cos": _unary(np.cos),
    "Cosh": _unary(np.cosh),
    "CumSum": _cum_sum,
    "DequantizeLinear": _dequantize,
    "Div": _divide,
    "Dropout": _dropout,
    "Einsum": _einsum,
    "Elu": _elu,
    "Equal": _logical(np.equal),
    "Erf": _unary(_erf),
    "Exp": _unary(np.exp),
    "Expand": _expand,
    "EyeLike": _eye_like,
    "Flatten": _flatten,
    "Floor": _unary(np.floor),
    "Gather": _gather,
    "GatherElements": _gather_elements,
    "GatherND": _gather_nd,
    "Gelu": _gelu,
    "Gemm": _gemm,
    "Greater": _logical(np.greater),
    "GreaterOrEqual": _logical(np.greater_equal),
    "HardSigmoid": _hard_sigmoid,
    "HardSwish": _unary(lambda x: x * np.clip(x / 6 + 0.5, 0, 1)),
    "Hardmax": _hardmax,
    "Identity": lambda node, x: x,
    "IsInf": _is_inf,
    "IsNaN": _logical(np.isnan),
    "LeakyRelu": _leaky_relu,
    "Less": _logical(np.less),
    "LessOrEqual": _logical(np.less_equal),
    "Log": _unary(np.log),
    "LogSoftmax": _log_softmax,
    "MatMul": lambda node, a, b: _product(a, b),
    "Max": _several(np.maximum),
    "MaxPool": max_pool,
    "MaxUnpool": max_unpool,
    "Mean": _mean,
    "Min": _several(np.minimum),
    "Mish": _unary(lambda x: x * np.tanh(np.logaddexp(0, x))),
    "Mod": _mod,
    "Mul": _binary(np.multiply),
    "Neg": _unary(np.negative),
    "NonZero": lambda node, x: np.stack(np.nonzero(np.atleast_1d(x))).astype(np.int64),
    "Not": _logical(np.logical_not),
    "OneHot": _one_hot,
    "Or": _logical(np.logical_or),
    "PRelu": _prelu,
    "Pad": _pad,
    "Pow": _binary(np.power),
    "QuantizeLinear": _quantize,
    "Range": _range,
    "Reciprocal": _unary(lambda x: 1 / x),
    "ReduceL1": _reduction(lambda x, **k: np.abs(x).sum(**k)),
    "ReduceL2": _reduction(lambda x, **k: np.sqrt(np.square(x, dtype=np.float64).sum(**k))),
    "ReduceLogSum": _reduction(lambda x, **k: np.log(x.sum(**k))),
    "ReduceLogSumExp": _reduction(_log_sum_exp),
    "ReduceMax": _reduction(_extreme(np.max, -1)),
    "ReduceMean": _reduction(_mean_of_elements),
    "ReduceMin": _reduction(_extreme(np.min, 1)),
    "ReduceProd": _reduction(np.prod),
    "ReduceSum": _reduction(np.sum),
    "ReduceSumSquare": _reduction(lambda x, **k: np.square(x).sum(**k)),
    "Relu": _unary(lambda x: np.maximum(x, 0)),
    "Reshape": _reshape,
    "ReverseSequence": _reverse_sequence,
    "Round": _unary(np.rint),
    "Scatter": _scatter_elements,
    "ScatterElements": _scatter_elements,
    "ScatterND": _scatter_nd,
    "Selu": _selu,
    "Shape": _shape,
    "Shrink": _shrink,
    "Sigmoid": _unary(lambda x: 1 / (1 + np.exp(-x))),
    "Sign": _unary(np.sign),
    "Sin": _unary(np.sin),
    "Sinh": _unary(np.sinh),
    "Size": lambda node, x: np.array(x.size, np.int64),
    "Slice": _slice,
    "Softmax": _softmax,
    "Softplus": _unary(lambda x: np.logaddexp(0, x)),
    "Softsign": _unary(lambda x: x / (1 + np.abs(x))),
    "Split": _split,
    "Sqrt": _unary(np.sqrt),
    "Squeeze": _squeeze,
    "Sub": _binary(np.subtract),
    "Sum": _several(np.add),
    "Swish": _swish,
    "Tan": _unary(np.tan),
    "Tanh": _unary(np.tanh),
    "ThresholdedRelu": _thresholded_relu,
    "Tile": _tile,
    "TopK": _top_k,
    "Transpose": lambda node, x: np.transpose(x, node.get("perm")),
    "Trilu": _trilu,
    "Unsqueeze": _unsqueeze,
    "Where": _logical(np.where),
    "Xor": _logical(np.logical_xor),
    **RARE,
    **REGIONS,
    **SIGNALS,
}
