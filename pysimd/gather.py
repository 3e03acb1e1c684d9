"""Elements and parts of arrays by their indices."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

from pysimd._arrays import (
    BFLOAT16,
    ELEMENTS,
    FLOAT32,
    INT32,
    INT64,
    NULL,
    UINT8,
    Element,
    element_of,
    element_of_dtype,
    output,
    plain,
    pointer,
    tensor,
)
from pysimd._geometry import axis_of, number, shape_of
from pysimd._library import ffi, lib
from pysimd.annotations import Array, ForeignArray, Indices, Shape, Tensor
from pysimd.calls import call, create
from pysimd.context import ShapedContext
from pysimd.errors import check

_GATHERED = (FLOAT32, BFLOAT16, UINT8)
_INDEXED = (INT64, INT32)


def gather(x: Array | ForeignArray, indices: Indices, *, axis: int = 0, out: Array | None = None) -> Array:
    """Parts of an array by their indices along an axis: ``numpy.take(x, indices, axis)``, Gather of ONNX.

    x : float32, bfloat16 (as uint16 or ml_dtypes.bfloat16), float16, bool, uint8, int8, int32, int64 or uint64, contiguous.
    indices : int64 of any shape, contiguous. Negative ones count from the end.
    axis : the first one by default.
    out : the dtype of `x`, its shape with that of `indices` in place of the axis.

    Raises ValueError for an index that does not exist, with its place in all of `indices`, and for an axis that `x` does not
    have; TypeError for another dtype. Nothing is written then.

    >>> x = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
    >>> pysimd.gather(x, np.array([2, 0, -2]))
    array([[5., 6.],
           [1., 2.],
           [3., 4.]], dtype=float32)

    Formula: SimdnetGather.
    """
    array, places = plain(x, "x"), plain(indices, "indices", INT64)
    element = element_of(array, "x", ELEMENTS)
    element_of(places, "indices", (INT64,))
    shape = array.shape
    axis = axis_of(axis, shape)
    src, index = pointer(array, "x", element, ctype=UINT8.ctype), pointer(places, "indices", INT64)
    result = (*shape[:axis], *places.shape, *shape[axis + 1 :])
    out, dst = output(out, result, (x, indices), ("x", "indices"), element=element, ctype=UINT8.ctype, like=array)
    sizes = prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :])
    call(lib.SimdnetGather, element.tensor, src, *sizes, index, places.size, dst)
    return out


class GatherElements(ShapedContext):
    """Elements by an index of their own along an axis: ``numpy.take_along_axis(x, indices, axis)``, GatherElements of ONNX.

    src_shape : the shape of `x`.
    count : the size of the axis in `indices` and in the result, whose other axes are those of `x`.
    axis : the last one by default.
    dtype : of `x` and the result, "float32", "bfloat16" (also as numpy.uint16 or ml_dtypes.bfloat16) or "uint8".
    index_dtype : of the indices, "int64" or "int32".

    Raises TypeError for another dtype, ValueError for an axis that does not exist.

    >>> with pysimd.GatherElements((2, 3), 2) as context:
    ...     context(np.array([[1, 2, 3], [4, 5, 6]], np.float32), np.array([[0, 0], [-1, 1]]))
    array([[1., 1.],
           [6., 5.]], dtype=float32)

    Formula: SimdSynetGatherElementsInit, SimdSynetGatherElementsSetIndex, SimdSynetGatherElementsForward.
    """

    _indices: Array | None = None  # those of set_index, to pickle

    def __init__(
        self, src_shape: Shape, count: int, *, axis: int = -1, dtype: Any = "float32", index_dtype: Any = "int64"
    ) -> None:
        self._src_shape = shape = shape_of(src_shape, "src_shape")
        self._element = element_of_dtype(dtype, "dtype", _GATHERED)
        self._index = element_of_dtype(index_dtype, "index_dtype", _INDEXED)
        count, axis = number(count, "count", 0), axis_of(axis, shape, "src_shape")
        self._dst_shape = (*shape[:axis], count, *shape[axis + 1 :])
        outer = ffi.new("size_t[]", [prod(shape[:axis])])
        inner = prod(shape[axis + 1 :])
        super().__init__(
            create(
                lib.SimdSynetGatherElementsInit,
                self._element.tensor,
                self._index.tensor,
                lib.SimdTrue,
                1,
                outer,
                1,
                shape[axis],
                inner,
                count,
            ),
            {"src_shape": shape, "count": count, "axis": axis, "dtype": self._element.name, "index_dtype": self._index.name},
        )

    @property
    def dst_shape(self) -> Shape:
        """The shape of the indices and of the output."""
        return self._dst_shape

    @property
    def internal_buffer_size(self) -> int:
        """The bytes of the indices of :meth:`set_index` that the context holds."""
        return int(lib.SimdSynetGatherElementsInternalBufferSize(self._open()))

    def set_index(self, indices: Indices) -> None:
        """Sets the indices that :meth:`forward` uses if it is called without; they are copied."""
        handle = self._open()
        idx = tensor(indices, "indices", self._dst_shape, self._index, UINT8.ctype)
        lib.SimdSynetGatherElementsSetIndex(handle, idx)
        check()
        self._indices = plain(indices, "indices", self._index).copy()

    def forward(self, x: Tensor, indices: Indices | None = None, *, out: Array | None = None) -> Array:
        """Gathers by these indices, or by those of :meth:`set_index`. An index that does not exist raises ValueError."""
        handle = self._open()
        src = tensor(x, "x", self._src_shape, self._element, UINT8.ctype)
        idx: Any = NULL
        given: tuple[Any, ...] = (x,)
        if indices is not None:
            idx, given = tensor(indices, "indices", self._dst_shape, self._index, UINT8.ctype), (x, indices)
        out, dst = output(
            out, self._dst_shape, given, ("x", "indices"), element=self._element, ctype=UINT8.ctype, like=plain(x, "x")
        )
        call(lib.SimdSynetGatherElementsForward, handle, src, idx, dst)
        return out

    __call__ = forward

    def __reduce__(self) -> tuple[Any, ...]:
        restored, arguments = super().__reduce__()
        return (_with_indices, (*arguments, self._indices)) if self._indices is not None else (restored, arguments)


def _with_indices(cls: Any, arguments: dict[str, Any], weights: None, indices: Array) -> GatherElements:
    made: GatherElements = cls(**arguments)
    made.set_index(indices)
    return made


def gather_elements(x: Tensor, indices: Indices, *, axis: int = -1, out: Array | None = None) -> Array:
    """Elements by an index of their own along an axis: ``numpy.take_along_axis(x, indices, axis)``, GatherElements of ONNX.

    x : float32, bfloat16 (as uint16 or ml_dtypes.bfloat16) or uint8, contiguous.
    indices : int64 or int32, contiguous, the shape of `x` except for the axis. Negative ones count from the end.
    axis : the last one by default.
    out : the dtype of `x`, the shape of `indices`.

    It creates a :class:`GatherElements` and keeps some of them for later calls with the same shapes. Raises ValueError for
    an index that does not exist, with its place in all of `indices`, TypeError for another dtype; nothing is written then.

    >>> x = np.array([[1, 2, 3], [4, 5, 6]], np.float32)
    >>> pysimd.gather_elements(x, np.array([[0, 0], [-1, 1]]))
    array([[1., 1.],
           [6., 5.]], dtype=float32)
    """
    array, places = plain(x, "x"), plain(indices, "indices", INT64)
    element, index = element_of(array, "x", _GATHERED), element_of(places, "indices", _INDEXED)
    shape = array.shape
    axis = axis_of(axis, shape)
    count = places.shape[axis] if places.ndim == len(shape) else -1
    if (*shape[:axis], count, *shape[axis + 1 :]) != places.shape:
        raise ValueError(f"indices has shape {places.shape}, expected that of x, {shape}, except for axis {axis}")
    context = _gatherer(shape, count, axis, element, index, lib.SimdnetActiveIsa())
    return context.forward(x, indices, out=out)


@lru_cache(maxsize=64)
def _gatherer(shape: Shape, count: int, axis: int, element: Element, index: Element, isa: Any) -> GatherElements:
    """One for each instruction set, too: a context keeps the one it was created with."""
    return GatherElements(shape, count, axis=axis, dtype=element.name, index_dtype=index.name)
