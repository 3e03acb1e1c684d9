"""Arrays whose memory is not known yet: what the calls of a plan are written for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from pysimd.annotations import Array, Shape
from pysimd.network.graph import Graph
from pysimd.network.memory import Place
from pysimd.network.open_arrays import is_array


class View:
    """A NumPy array without its memory: the elements of a root at strides.

    root : the name of a tensor with memory of its own, of a constant, or "" for the memory that steps share.
    dtype, shape : as of an array; dimensions may be open, see :mod:`pysimd.network.sizes`.
    strides : in bytes; by default those of a dense array.
    offset : of the first element in the root, in bytes.
    """

    __slots__ = ("dtype", "offset", "root", "shape", "strides")

    def __init__(self, root: str, dtype: Any, shape: Shape, strides: Shape | None = None, offset: int = 0) -> None:
        self.root, self.dtype, self.shape, self.offset = root, np.dtype(dtype), tuple(shape), offset
        self.strides = dense_strides(self.shape, self.itemsize) if strides is None else tuple(strides)

    @property
    def itemsize(self) -> int:
        """The bytes of an element."""
        return int(self.dtype.itemsize)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return prod(self.shape)

    @property
    def nbytes(self) -> int:
        """The bytes of the elements."""
        return self.size * self.itemsize

    @property
    def is_dense(self) -> bool:
        """Whether the elements follow each other in the order of the dimensions, without gaps."""
        step = self.itemsize
        for n, stride in zip(reversed(self.shape), reversed(self.strides)):
            if stride is not step and stride != step and n != 1:
                return False
            step = step * n
        return True

    def _with(self, shape: Sequence[int], strides: Sequence[int], offset: int = 0) -> View:
        return View(self.root, self.dtype, tuple(shape), tuple(strides), self.offset + offset)

    def reshape(self, shape: Sequence[int]) -> View:
        """The same elements in another shape. Raises ValueError for an array with gaps, unless the shape is its own."""
        shape = tuple(shape)
        if len(shape) == self.ndim and all(n is m or n == m for n, m in zip(shape, self.shape)):
            return self
        if not self.is_dense:
            raise ValueError(f"an array of shape {self.shape} and strides {self.strides} cannot be reshaped to {shape}")
        return View(self.root, self.dtype, shape, None, self.offset)

    def transpose(self, axes: Sequence[int]) -> View:
        """The dimensions in another order."""
        return self._with([self.shape[i] for i in axes], [self.strides[i] for i in axes])

    def swapped(self) -> View:
        """The matrices transposed."""
        return self.transpose([*range(self.ndim - 2), self.ndim - 1, self.ndim - 2])

    def part(self, starts: Sequence[int], steps: Sequence[int], sizes: Sequence[int]) -> View:
        """Some elements of each dimension."""
        strides = [step * stride for step, stride in zip(steps, self.strides)]
        return self._with(sizes, strides, sum(start * stride for start, stride in zip(starts, self.strides)))

    def section(self, axis: int, begin: int, size: int) -> View:
        """Some neighbours along one dimension."""
        shape = (*self.shape[:axis], size, *self.shape[axis + 1 :])
        return self._with(shape, self.strides, begin * self.strides[axis])

    def broadcast(self, shape: Shape) -> View:
        """As ``numpy.broadcast_to``; the shape must be one that fits."""
        lead = len(shape) - self.ndim
        strides = [
            stride if n is self.shape[i] or n == self.shape[i] else 0
            for i, (n, stride) in enumerate(zip(shape[lead:], self.strides))
        ]
        return self._with(shape, [*(0,) * lead, *strides])

    def strided(self, shape: Sequence[int], strides: Sequence[int]) -> View:
        """As ``numpy.lib.stride_tricks.as_strided``."""
        return self._with(shape, strides)

    def view(self, dtype: Any) -> View:
        """The same bytes as elements of another type, which may be smaller; the last dimension must be dense then."""
        made = np.dtype(dtype)
        ratio = self.itemsize // made.itemsize
        if ratio == 1:
            return View(self.root, made, self.shape, self.strides, self.offset)
        return View(
            self.root, made, (*self.shape[:-1], self.shape[-1] * ratio), (*self.strides[:-1], made.itemsize), self.offset
        )


class Constant(View):
    """The view of an array of constants.

    values : the array; it may be one that depends on sizes, see :mod:`pysimd.network.open_arrays`.
    """

    __slots__ = ("values",)

    def __init__(self, name: str, values: Array) -> None:
        super().__init__(name, values.dtype, values.shape, None if is_array(values) else values.strides)
        self.values = values


class Views:
    """The views of all tensors of a graph of stored tensors, by name.

    places : those of the tensors that are not constants.
    """

    def __init__(self, graph: Graph, places: Mapping[str, Place]) -> None:
        self._graph, self._places = graph, places

    def __getitem__(self, name: str) -> View:
        if name in self._graph.constants:
            return Constant(name, self._graph.constants[name])
        place = self._places[name]
        return View(place.root, self._graph.types[name].dtype, place.shape, place.strides, place.offset)


def dense_strides(shape: Shape, itemsize: int) -> tuple[int, ...]:
    """The strides of a dense array, in bytes."""
    strides, step = [], itemsize
    for n in reversed(shape):
        strides.append(step)
        step = step * n
    return tuple(reversed(strides))
