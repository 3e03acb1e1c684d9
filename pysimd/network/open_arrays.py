"""Arrays that depend on sizes that are open: positions, masks, and what is computed from them.

An :class:`OpenArray` stands for a known array in conversions and among the constants of a graph. It has a shape, whose
numbers may be sizes, and a way to compute it when a plan is bound. Functions of it are computed then, too. A decision by one
of its elements is a condition of the plan, as decisions by a :class:`~pysimd.network.sizes.Size` are. Where an array of
NumPy is needed, the condition is that all sizes that it depends on are those of the example.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from math import prod
from typing import Any

import numpy as np

from pysimd.annotations import Array, Shape
from pysimd.network.sizes import Computed, Size, Sizes, broadcast_shapes, is_open, sizes_in

_MOST_NUMBERS = 16  # of an array whose elements are sizes: shapes have fewer


class Call:
    """A function of arrays, of which some are open; its results are computed once for all that read them."""

    def __init__(self, function: Callable[..., Any], inputs: Sequence[Any]) -> None:
        self.function, self.inputs = function, tuple(inputs)
        self._key = getattr(function, "key", None)  # equal for functions that have equal results for equal inputs
        self._open = [i for i, each in enumerate(inputs) if is_array(each)]
        self._identities = [None if is_array(each) or self._key is None else _identity(each) for each in inputs]

    def results(self, values: Sequence[int], found: dict[Any, Any]) -> tuple[Array, ...]:
        """The arrays for these sizes of the open dimensions; found has those that are computed."""
        if self not in found:
            arrays = list(self.inputs)
            for i in self._open:
                arrays[i] = arrays[i].call.results(values, found)[arrays[i].place]
            key: Any = self
            if self._key is not None:  # a layer may compute what another one has computed
                key = self._key, *(known or _identity(each) for known, each in zip(self._identities, arrays))
            if key not in found:
                found[key] = _arrays(self.function(*arrays))
            found[self] = found[key]
        return found[self]  # type: ignore[no-any-return]

    def sizes(self, seen: set[Call]) -> Iterator[Size]:
        """All that the results depend on."""
        if self not in seen:
            seen.add(self)
            for each in self.inputs:
                if is_array(each):
                    yield from each.call.sizes(seen)


def _identity(array: Any) -> Any:
    """What is equal for equal arrays only, as long as they exist and nobody writes them: the bytes of small ones, the places
    of others."""
    array = np.asarray(array)
    content = array.tobytes() if array.size <= _MOST_NUMBERS else (array.__array_interface__["data"][0], array.strides)
    return array.dtype.char, array.shape, content


class Numbers(Call):
    """An array whose elements are sizes and numbers."""

    def __init__(self, owner: Sizes, array: Array, dtype: Any) -> None:
        super().__init__(np.array, ())
        self._owner, self.numbers, self.shape, self.dtype = owner, tuple(array.reshape(-1).tolist()), array.shape, dtype
        self._resolve: Callable[..., list[Any]] | None = None

    def results(self, values: Sequence[int], found: dict[Any, Any]) -> tuple[Array, ...]:
        self._resolve = self._resolve or self._owner.resolver([self.numbers])
        array = _integers(self._resolve(*values)[0])
        if self.dtype != array.dtype:
            array = array.astype(self.dtype)
        return (array if self.shape == array.shape else array.reshape(self.shape),)

    def sizes(self, seen: set[Call]) -> Iterator[Size]:
        yield from sizes_in(self.numbers)


class OpenArray(Computed, np.lib.mixins.NDArrayOperatorsMixin):
    """An array that is known when a plan is bound to a shape; see the module.

    shape, dtype : of the array.
    example : its elements in the example for which the plan is made.
    """

    def __init__(self, owner: Sizes, call: Call, place: int, shape: Shape, example: Array) -> None:
        self.owner, self.call, self.place = owner, call, place
        self.shape, self.dtype = tuple(shape), example.dtype
        self.example: Any = example

    def at(self, values: Sequence[int]) -> Array:
        """The array for these sizes of the open dimensions."""
        return self.call.results(values, self.owner.found(values))[self.place]

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> Any:
        """The number of elements."""
        return prod(self.shape)

    # ---- functions of it that are computed later, too

    def astype(self, dtype: Any, copy: bool = True) -> OpenArray:
        """The elements in another type."""
        return self._same(partial(np.ndarray.astype, dtype=np.dtype(dtype)), self.shape)

    def transpose(self, *axes: Any) -> OpenArray:
        """The dimensions in another order."""
        order = axes[0] if len(axes) == 1 and isinstance(axes[0], (tuple, list)) else axes or range(self.ndim)[::-1]
        return self._same(partial(np.transpose, axes=tuple(order)), tuple(self.shape[axis] for axis in order))

    def reshape(self, *shape: Any) -> OpenArray:
        """The elements in another shape, one of whose numbers may be -1."""
        sizes = list(shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape)
        unknown = [i for i, n in enumerate(sizes) if not isinstance(n, Size) and n == -1]
        for i in unknown:
            sizes[i] = self.size // prod(n for j, n in enumerate(sizes) if j != i)
        if not sizes_in(tuple(sizes)):
            return called(reshaped, [self, np.array(sizes, np.int64)], [sizes])[0]
        return called(reshaped, [self, opened(_objects(sizes))], [sizes])[0]

    def all(self) -> Any:
        """Whether all elements are true."""
        return self._same(np.all, ())

    def any(self) -> Any:
        """Whether one element is true."""
        return self._same(np.any, ())

    def _same(self, function: Callable[[Array], Any], shape: Sequence[Any]) -> OpenArray:
        return called(function, [self], [shape])[0]

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or ufunc.nout != 1 or set(options) - {"dtype"}:
            return getattr(ufunc, method)(*(np.asarray(each) if is_array(each) else each for each in inputs), **options)
        shape = broadcast_shapes(*(getattr(each, "shape", ()) for each in inputs))
        return called(partial(ufunc, **options), inputs, [shape])[0]

    # ---- decisions

    def tolist(self) -> Any:
        """The elements of a flat array: integers as sizes, of which nothing but the example is known, others as arrays."""
        few = self.ndim == 1 and not sizes_in(self.shape) and self.example.size <= _MOST_NUMBERS
        if few and self.dtype.kind == "f":
            return [called(operator.getitem, [self, i], [()])[0] for i in range(self.shape[0])]
        if few and self.dtype.kind in "iub":
            return [self.owner.element(self, i, int(n)) for i, n in enumerate(self.example)]
        return np.asarray(self).tolist()

    @property
    def has_sizes(self) -> bool:
        """Whether its elements are so few integers that they can be sizes."""
        return self.dtype.kind in "iub" and not sizes_in(self.shape) and self.example.size <= _MOST_NUMBERS

    def __bool__(self) -> bool:
        if self.dtype == np.bool_ and self.has_sizes and self.example.size == 1:
            return bool(self.owner.element(self, 0, int(self.example.reshape(-1)[0])) != 0)
        return bool(np.asarray(self))

    # ---- as an array of NumPy, which is then that of the example

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        for size in self.call.sizes(set()):
            int(size)
        if self.example is None:
            raise TypeError("an array that depends on sizes has no numbers before the plan is bound")
        return np.asarray(self.example, dtype)

    def __getitem__(self, key: Any) -> Any:
        return np.asarray(self)[key]

    def __float__(self) -> float:
        return float(np.asarray(self))

    def __int__(self) -> int:
        return int(np.asarray(self))

    __index__ = __int__

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(np.asarray(self), name)

    def __repr__(self) -> str:
        return f"an array of {self.dtype} {self.shape}"


def is_array(value: Any) -> bool:
    """Whether a value is an array that depends on sizes."""
    return isinstance(value, OpenArray)


def opened(array: Array, dtype: Any = np.int64) -> OpenArray:
    """An array of sizes as integers of this type."""
    owner = next(n.owner for n in array.flat if isinstance(n, Size))
    numbers = [frozenset(n.terms.items()) if isinstance(n, Size) else n for n in array.flat]
    key = np.dtype(dtype), array.shape, *numbers
    if key in owner.made:
        return owner.made[key]  # type: ignore[no-any-return]
    example = _integers([n.value if isinstance(n, Size) else n for n in array.flat]).astype(dtype)
    made = OpenArray(owner, Numbers(owner, array, np.dtype(dtype)), 0, array.shape, example.reshape(array.shape))
    owner.made[key] = made
    return made


def _integers(numbers: Sequence[int]) -> Array:
    """Numbers as int64, in which sums and products overflow."""
    try:
        return np.array(numbers, np.int64)
    except OverflowError:
        return np.array([(int(n) + (1 << 63)) % (1 << 64) - (1 << 63) for n in numbers], np.int64)


def called(
    function: Callable[..., Any], inputs: Sequence[Any], shapes: Sequence[Sequence[Any] | None] | None = None
) -> tuple[OpenArray, ...]:
    """The results of a function, an array or several, of which at least one input is open; see :func:`later`.

    shapes : of the results, as far as they are known; else they are those of the results when the plan is bound.
    """
    owner = next(each.owner for each in inputs if is_array(each))
    key = _key(function, inputs)
    if key in owner.made:  # layers compute the same masks
        return owner.made[key]  # type: ignore[no-any-return]
    call = Call(function, inputs)
    examples = _arrays(function(*(each.example if is_array(each) else each for each in inputs)))
    given = [*(shapes or ()), *[None] * len(examples)]
    results = tuple(_result(owner, call, i, example, given[i]) for i, example in enumerate(examples))
    if key is not None:
        owner.made[key] = results
    return results


def _key(function: Callable[..., Any], inputs: Sequence[Any]) -> Any:
    """What is equal for calls with equal results only; None if that is not known."""
    of: Any = getattr(function, "key", None) or function
    if isinstance(of, partial):
        of = of.func, of.args, tuple(sorted(of.keywords.items()))
    key = of, *((id(each.call), each.place) if is_array(each) else (type(each), _identity(each)) for each in inputs)
    try:
        hash(key)
    except TypeError:
        return None
    return key


def _result(owner: Sizes, call: Call, place: int, example: Array, shape: Sequence[Any] | None) -> OpenArray:
    if shape is None or tuple(n.value if isinstance(n, Size) else n for n in shape) != example.shape:
        whole = OpenArray(owner, call, place, example.shape, example)
        sizes = Call(partial(shape_of, example.ndim, example.dtype), [whole])
        found = np.array((1, *example.shape), np.int64)
        computed, *shape = OpenArray(owner, sizes, 0, found.shape, found).tolist()
        bool(computed == 1)  # a condition, also where there are no sizes
    return OpenArray(owner, call, place, tuple(shape), example)


def shape_of(rank: int, dtype: Any, array: Array) -> Array:
    """1, and the sizes of an array, which must have this rank and type."""
    if array.ndim != rank or array.dtype != dtype:
        raise ValueError(f"the result is {array.dtype} {array.shape}, expected {rank} dimensions of {dtype}")
    return np.array((1, *array.shape), np.int64)


def numbered(array: OpenArray) -> Any:
    """An array of few integers as one of sizes; others as they are."""
    if array.dtype.name not in ("int32", "int64") or not array.has_sizes:
        return array
    flat = array.reshape(-1) if array.ndim != 1 else array
    return _objects(flat.tolist()).reshape(array.shape)


def later(function: Callable[..., Any], shape: Sequence[Any] | None, *inputs: Any) -> Any:
    """The result of a function, or what computes it when the plan is bound: where an input is open, a size among them."""
    if not any(is_array(each) or isinstance(each, Size) or is_open(each) for each in inputs):
        return function(*inputs)
    arrays = [opened(_objects(each)) if isinstance(each, Size) or is_open(each) else each for each in inputs]
    return called(function, arrays, [shape])[0]


def full(shape: Sequence[Any], value: Any, dtype: Any) -> Any:
    """An array with one value everywhere."""
    if all(type(n) is int for n in shape):
        return np.full(shape, value, dtype)
    return later(partial(constant, value, dtype), shape, _objects(list(shape)))


def constant(value: Any, dtype: Any, sizes: Array) -> Array:
    """An array of these sizes, with one value everywhere."""
    return np.full(np.asarray(sizes).tolist(), value, dtype)


def spread(array: Any, shape: Sequence[Any]) -> Any:
    """A copy of an array in a shape to which it is broadcast."""
    return later(broadcast, shape, array, _objects(list(shape)))


def broadcast(array: Array, sizes: Array) -> Array:
    """An array that is broadcast to these sizes, dense."""
    return np.broadcast_to(array, sizes.tolist()).copy()


def times(array: Array, size: Any) -> Array:
    """Numbers times a size, as float32."""
    return np.asarray(array * np.float64(size), np.float32)


def times_root(array: Array, size: Any) -> Array:
    """Numbers of float32 times the root of a size."""
    return np.asarray(array * np.float32(np.sqrt(np.float64(size))), np.float32)


def reshaped(array: Array, sizes: Array) -> Array:
    """The elements in a shape of these sizes."""
    return array.reshape(sizes.tolist())


def release(arrays: Iterable[Any]) -> None:
    """Releases the examples of arrays, and of those from which they are computed: no decision follows."""
    left, seen = [each for each in arrays if is_array(each)], set()
    for owner in {each.owner for each in left}:
        owner.made.clear()
    while left:
        array = left.pop()
        array.example = None
        if array.call not in seen:
            seen.add(array.call)
            left += [each for each in array.call.inputs if is_array(each)]


def _objects(numbers: Any) -> Array:
    array = np.empty(np.shape(numbers) if isinstance(numbers, (list, np.ndarray)) else (), object)
    array[...] = numbers
    return array


def _arrays(results: Any) -> tuple[Array, ...]:
    return tuple(map(np.asarray, results if isinstance(results, (tuple, list)) else (results,)))


def dense(array: Any) -> Any:
    """``numpy.ascontiguousarray``, also of an open array."""
    return array if is_array(array) else np.ascontiguousarray(array)
