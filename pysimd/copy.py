"""Copies of elements of any type: views made contiguous, permutations, concatenations, padding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Union

import numpy as np

from pysimd._arrays import UINT8, plain, plain_output, pointer, several
from pysimd._geometry import integer, shape_of
from pysimd._library import ffi, lib
from pysimd.annotations import Array, ForeignArray, Shape
from pysimd.calls import call, call_struct, create
from pysimd.context import ShapedContext
from pysimd.errors import dtype_name, shown

#: A type of the library by its size: it moves elements, whatever they are.
TYPES = {1: lib.SimdTensorData8u, 2: lib.SimdTensorData16b, 4: lib.SimdTensorData32f, 8: lib.SimdTensorData64i}
_MOST = int(lib.SIMDNET_MAX_DIMENSIONS)
MODES = {
    "constant": lib.SimdnetPadConstant,
    "reflect": lib.SimdnetPadReflect,
    "edge": lib.SimdnetPadEdge,
    "wrap": lib.SimdnetPadWrap,
}

Elements = Union[Array, ForeignArray]
PadMode = Literal["constant", "reflect", "edge", "wrap"]


def _type_of(dtype: Any, name: str) -> int:
    """The type that moves elements of a dtype."""
    if dtype.itemsize not in TYPES or dtype.hasobject:
        raise TypeError(f"{name} has dtype {dtype}, expected elements of 1, 2, 4 or 8 bytes that are not Python objects")
    return int(TYPES[dtype.itemsize])


def _source(x: Any, name: str) -> Array:
    """An input as a plain array of at most the dimensions that the library supports."""
    array = plain(x, name)
    if array.ndim > _MOST:
        raise ValueError(f"{name} has {array.ndim} dimensions, expected at most {_MOST}")
    return array


def _result(out: Array | None, shape: Shape, dtype: Any) -> tuple[Array, Array]:
    """The array to return, allocated if `out` is None, and as a plain array."""
    if out is None:
        out = np.empty(shape, dtype)
        return out, out
    target = plain_output(out, "out")
    remedy = f"use np.empty({shape}, {dtype_name(dtype)})"
    if target.dtype != dtype:
        raise TypeError(f"out has dtype {target.dtype}, expected {dtype}: {remedy}")
    if target.shape != shape:
        raise ValueError(f"out has shape {target.shape}, expected {shape}: {remedy}")
    if not target.flags.writeable:
        raise ValueError("out is read-only, expected a writable array: use np.empty_like(out)")
    return out, target


def _strides(array: Array, name: str) -> list[int]:
    """The strides in elements."""
    size = array.itemsize
    if any(stride % size for stride in array.strides):
        raise ValueError(f"{name} has strides of {array.strides} bytes, expected multiples of {size}: use {name}.copy()")
    return [stride // size for stride in array.strides]


def _copy(src: Array, name: str, dst: Array) -> None:
    """Copies between arrays of one shape and dtype with any strides."""
    if np.shares_memory(dst, src):
        raise ValueError(f"out overlaps {name}, expected elements of its own: use another array")
    if dst.size == 0:
        return
    arguments = ffi.new(
        "SimdnetCopyParameters *",
        {
            "size": ffi.sizeof("SimdnetCopyParameters"),
            "dataType": _type_of(src.dtype, name),
            "count": src.ndim,
            "shape": src.shape,
            "src": ffi.cast("void *", src.__array_interface__["data"][0]),
            "dst": ffi.cast("void *", dst.__array_interface__["data"][0]),
            "srcStride": _strides(src, name),
            "dstStride": _strides(dst, "out"),
        },
    )
    call_struct(lib.SimdnetCopy, arguments, held={"src": src, "dst": dst})


def copy(x: Elements, *, out: Array | None = None) -> Array:
    """The elements of an array with any strides, contiguous or in `out`: for slices, expansions and other views of NumPy.

    x, out : arrays of one shape and dtype, of 1, 2, 4 or 8 bytes, with at most 8 dimensions and any strides. `out` may be
        another part of the memory of `x`.

    Raises TypeError for another dtype, ValueError for arrays that overlap or another shape.

    >>> x = np.arange(6, dtype=np.float32).reshape(2, 3)
    >>> pysimd.copy(x[:, ::-2])
    array([[2., 0.],
           [5., 3.]], dtype=float32)
    >>> big = np.zeros((2, 5), np.float32)
    >>> pysimd.copy(x, out=big[:, 2:])
    array([[0., 1., 2.],
           [3., 4., 5.]], dtype=float32)

    Formula: SimdnetCopy.
    """
    array = _source(x, "x")
    out, target = _result(out, array.shape, array.dtype)
    _copy(array, "x", target)
    return out


def _axes_of(axes: Any, rank: int, name: str) -> tuple[int, ...]:
    """A permutation of the dimensions; negative numbers count from the last."""
    try:
        given = tuple(axes)
    except TypeError:
        raise TypeError(f"{name} is {shown(axes)}, expected a sequence of integers") from None
    found = tuple(integer(axis, name) for axis in given)
    order = tuple(axis + rank if axis < 0 else axis for axis in found)
    if sorted(order) != list(range(rank)):
        raise ValueError(f"{name} is {shown(axes)}, expected each of the {rank} dimensions once")
    return order


def transpose(x: Elements, axes: Sequence[int] | None = None, *, out: Array | None = None) -> Array:
    """The elements with their dimensions permuted, contiguous: as ``np.transpose(x, axes).copy()``.

    x : an array of a dtype of 1, 2, 4 or 8 bytes, with at most 8 dimensions and any strides.
    axes : the dimension of `x` that each dimension of the result is; by default they are reversed.
    out : an array of the shape of the result, with the dtype of `x` and any strides.

    Raises TypeError for another dtype, ValueError for axes that are not a permutation.

    >>> pysimd.transpose(np.ones((3, 5, 7), np.float32), (1, 2, 0)).shape
    (5, 7, 3)

    Formula: SimdnetCopy.
    """
    array = _source(x, "x")
    order = _axes_of(axes, array.ndim, "axes") if axes is not None else tuple(range(array.ndim))[::-1]
    view = array.transpose(order)
    out, target = _result(out, view.shape, array.dtype)
    _copy(view, "x", target)
    return out


def permute(x: Elements, axes: Sequence[int], *, out: Array | None = None) -> Array:
    """:func:`transpose` with the axes named, as ``permute`` of PyTorch; identities are copied.

    x, axes, out : as in :func:`transpose`.

    >>> pysimd.permute(np.ones((2, 3, 5), np.float32), (0, 2, 1)).shape
    (2, 5, 3)

    Formula: SimdSynetPermuteInit, SimdSynetPermuteForward.
    """
    return transpose(x, axes, out=out)


class Permute(ShapedContext):
    """A permutation of the dimensions of arrays of one shape: :func:`permute`, planned once.

    src_shape : the shape of the inputs, 2 to 5 dimensions, none of which is empty.
    axes : the dimension of the input that each dimension of the output is.
    dtype : that of both arrays, of 1, 2, 4 or 8 bytes.

    A permutation that leaves all elements in their order, because it moves fewer than two dimensions of more than one index,
    is refused: the copy has them in order already. Raises TypeError for another dtype, ValueError for axes that are refused.

    >>> with pysimd.Permute((2, 3, 5), (1, 0, 2)) as context:
    ...     context(np.ones((2, 3, 5), np.float32)).shape
    (3, 2, 5)

    Formula: SimdSynetPermuteInit, SimdSynetPermuteForward.
    """

    def __init__(self, src_shape: Shape, axes: Sequence[int], *, dtype: Any = "float32") -> None:
        self._src_shape = shape_of(src_shape, "src_shape")
        self._axes = _axes_of(axes, len(self._src_shape), "axes")
        self._dst_shape = tuple(self._src_shape[axis] for axis in self._axes)
        try:
            self._dtype = np.dtype(dtype)
        except TypeError:
            raise TypeError(f"dtype is {shown(dtype)}, expected one of NumPy") from None
        super().__init__(
            create(
                lib.SimdSynetPermuteInit,
                ffi.new("size_t[]", self._src_shape),
                ffi.new("size_t[]", self._axes),
                len(self._src_shape),
                _type_of(self._dtype, "dtype"),
            ),
            {"src_shape": self._src_shape, "axes": self._axes, "dtype": self._dtype.name},
        )

    @property
    def internal_buffer_size(self) -> int:
        """The bytes that the context holds beside itself: 0."""
        return int(lib.SimdSynetPermuteInternalBufferSize(self._open()))

    def _described(self) -> str:
        return f"{self._src_shape} -> {self._dst_shape}, axes={self._axes}, {self._dtype.name}"

    def forward(self, x: Elements, *, out: Array | None = None) -> Array:
        """Permutes `x`, a contiguous array of the shape and the dtype of the context."""
        handle = self._open()
        array = plain(x, "x")
        if array.dtype != self._dtype:
            raise TypeError(f"x has dtype {array.dtype}, expected {self._dtype}: use x.astype({dtype_name(self._dtype)})")
        if array.shape != self._src_shape:
            raise ValueError(f"x has shape {array.shape}, expected {self._src_shape}")
        src = pointer(array, "x", UINT8)
        out, target = _result(out, self._dst_shape, self._dtype)
        dst = pointer(target, "out", UINT8, True)
        if np.may_share_memory(target, array):
            raise ValueError("out overlaps x, expected memory of its own: use another array")
        call(lib.SimdSynetPermuteForward, handle, src, dst)
        return out

    __call__ = forward


def concatenate(arrays: Sequence[Elements], axis: int = 0, *, out: Array | None = None) -> Array:
    """The arrays one after another along an axis, as ``np.concatenate()``.

    arrays : at least one; of one dtype of 1, 2, 4 or 8 bytes, with any strides, and of shapes that differ along `axis` only.
    out : an array of the shape of the result, with the dtype of `arrays` and any strides.

    Raises TypeError for dtypes that differ, ValueError for shapes that do not fit.

    >>> pysimd.concatenate([np.zeros((2, 1), np.float32), np.ones((2, 2), np.float32)], axis=1)
    array([[0., 1., 1.],
           [0., 1., 1.]], dtype=float32)

    Formula: SimdnetCopy.
    """
    sources = [_source(array, f"arrays[{i}]") for i, array in enumerate(several(arrays, "arrays"))]
    if not sources:
        raise ValueError("arrays is empty, expected at least one")
    first = sources[0]
    rank, given = first.ndim, axis
    axis = integer(axis, "axis")
    if not -rank <= axis < rank:
        raise ValueError(f"axis is {given}, expected one of the {rank} dimensions of arrays[0]")
    axis %= rank
    for i, array in enumerate(sources):
        if array.dtype != first.dtype:
            remedy = f"use arrays[{i}].astype({dtype_name(first.dtype)})"
            raise TypeError(f"arrays[{i}] has dtype {array.dtype}, expected that of arrays[0], {first.dtype}: {remedy}")
        expected = (*first.shape[:axis], *array.shape[axis : axis + 1], *first.shape[axis + 1 :])
        if array.shape != expected:
            raise ValueError(f"arrays[{i}] has shape {array.shape}, expected that of arrays[0] except for axis {axis}")
    extents = [array.shape[axis] for array in sources]
    shape = (*first.shape[:axis], int(np.sum(extents)), *first.shape[axis + 1 :])
    out, target = _result(out, shape, first.dtype)
    for i, array in enumerate(sources):
        if np.shares_memory(target, array):
            raise ValueError(f"out overlaps arrays[{i}], expected elements of its own: use another array")
    begin = 0
    for i, (array, extent) in enumerate(zip(sources, extents)):
        index = (slice(None),) * axis + (slice(begin, begin + extent),)
        _copy(array, f"arrays[{i}]", target[index])
        begin += extent
    return out


def pad(
    x: Elements,
    pad_width: Any,
    mode: PadMode = "constant",
    *,
    constant_values: float = 0,
    out: Array | None = None,
) -> Array:
    """An array with elements added around it, as ``np.pad()``.

    x : a contiguous array of a dtype of 1, 2, 4 or 8 bytes, with at most 8 dimensions.
    pad_width : ((before, after), ...) for each dimension, or (before, after) or one number for all of them.
    mode : "constant"; "reflect" without repeating the edge; "edge" repeats it; "wrap" continues at the other end.
    constant_values : the element for "constant", one number.
    out : a contiguous array of the shape of the result, with the dtype of `x`.

    Raises TypeError for another dtype, ValueError for widths that do not fit, or for an empty dimension in another mode than
    "constant".

    >>> pysimd.pad(np.array([1, 2, 3], np.float32), (2, 1), "reflect")
    array([3., 2., 1., 2., 3., 2.], dtype=float32)

    Formula: SimdnetPad.
    """
    array = _source(x, "x")
    if mode not in MODES:
        raise ValueError(f"mode is {shown(mode)}, expected {' or '.join(map(repr, MODES))}")
    widths = _widths_of(pad_width, array.ndim)
    shape = tuple(before + extent + after for extent, (before, after) in zip(array.shape, widths))
    for axis, (extent, result) in enumerate(zip(array.shape, shape)):
        if extent == 0 and result and mode != "constant":
            raise ValueError(f"x has shape {array.shape}, expected an element to repeat in dimension {axis}")
    kind = _type_of(array.dtype, "x")
    src = pointer(array, "x", UINT8)
    out, target = _result(out, shape, array.dtype)
    if np.may_share_memory(target, array):
        raise ValueError("out overlaps x, expected memory of its own: use another array")
    dst = pointer(target, "out", UINT8, True)
    try:
        value = np.full(1, constant_values, array.dtype)
    except (TypeError, ValueError):
        raise TypeError(f"constant_values is {shown(constant_values)}, expected a number") from None
    except OverflowError:
        raise ValueError(f"constant_values is {shown(constant_values)}, out of the range of {array.dtype}") from None
    held = {"src": src, "dst": dst, "value": pointer(value, "constant_values", UINT8)}
    arguments = ffi.new(
        "SimdnetPadParameters *",
        {
            "size": ffi.sizeof("SimdnetPadParameters"),
            "mode": MODES[mode],
            "dataType": kind,
            "count": array.ndim,
            "shape": array.shape,
            "before": [before for before, _ in widths],
            "after": [after for _, after in widths],
            "value": held["value"],
            "src": src,
            "dst": dst,
        },
    )
    call_struct(lib.SimdnetPad, arguments, held=held)
    return out


def _widths_of(pad_width: Any, rank: int) -> list[tuple[int, int]]:
    """(before, after) for each dimension."""
    try:
        given = np.asarray(pad_width)
        pairs = np.broadcast_to(given, (rank, 2)).tolist()
    except ValueError:
        raise ValueError(f"pad_width is {shown(pad_width)}, expected a number, a pair or {rank} pairs") from None
    if given.dtype.kind not in "iu":
        raise TypeError(f"pad_width is {shown(pad_width)}, expected integers")
    if given.size and given.min() < 0:
        raise ValueError(f"pad_width is {shown(pad_width)}, expected numbers of at least 0")
    return [(before, after) for before, after in pairs]
