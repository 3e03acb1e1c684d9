"""Elements and parts of arrays replaced or changed by indices, parts gathered by them, and cumulative sums."""

from __future__ import annotations

from math import prod
from typing import Any, Literal

from pysimd._arrays import ELEMENTS, INT64, NULL, UINT8, Element, element_of, output, plain, pointer
from pysimd._geometry import axis_of
from pysimd._library import ffi, lib
from pysimd.annotations import Array, ForeignArray, Indices, Shape
from pysimd.calls import call, call_struct
from pysimd.cast import CASTS
from pysimd.errors import dtype_name, shown

_REDUCTIONS = {
    "none": lib.SimdnetScatterNone,
    "add": lib.SimdnetScatterAdd,
    "multiply": lib.SimdnetScatterMultiply,
    "maximum": lib.SimdnetScatterMaximum,
    "minimum": lib.SimdnetScatterMinimum,
}
_SUMMED = tuple(element for element in CASTS if element.name != "bool")
_MOST_DIMENSIONS = int(lib.SIMDNET_MAX_DIMENSIONS)
Reduction = Literal["none", "add", "multiply", "maximum", "minimum"]


def _reduction(name: Any) -> int:
    if not isinstance(name, str) or name not in _REDUCTIONS:
        raise ValueError(f"reduction is {shown(name)}, expected {' or '.join(map(repr, _REDUCTIONS))}")
    return int(_REDUCTIONS[name])


def _array(x: Any, name: str, allowed: tuple[Element, ...], like: Array | None = None) -> tuple[Array, Element]:
    """A plain array of one of these types, of that of another array if it is given, and its type."""
    array = plain(x, name)
    element = element_of(array, name, allowed)
    if like is not None and like.dtype != array.dtype:
        remedy = f"use {name}.astype({dtype_name(like.dtype)})"
        raise TypeError(f"{name} has dtype {array.dtype}, expected that of x, {like.dtype}: {remedy}")
    if array.ndim > _MOST_DIMENSIONS:
        raise ValueError(f"{name} has {array.ndim} dimensions, expected at most {_MOST_DIMENSIONS}")
    return array, element


def _places(indices: Any, name: str = "indices") -> Array:
    places = plain(indices, name, INT64)
    element_of(places, name, (INT64,))
    return places


def scatter_elements(
    x: Array | ForeignArray,
    indices: Indices,
    updates: Array | ForeignArray,
    *,
    axis: int = 0,
    reduction: Reduction = "none",
    out: Array | None = None,
) -> Array:
    """A copy of an array in which updates replace or change elements, whose index along an axis is given: ScatterElements of
    ONNX.

    x : of any type of the library, contiguous; not bfloat16 and float16 unless the reduction is "none".
    indices : int64, with the shape of `updates`, or 1 in a dimension where they repeat. Negative ones count from the end.
    updates : of the dtype of `x`, not larger than it in any dimension but the axis.
    axis : the first one by default.
    reduction : "none", "add", "multiply", "maximum" or "minimum"; updates are applied in their order.
    out : of the dtype and shape of `x`, which it may be.

    Raises ValueError for an index that does not exist, with its place; nothing is written then.

    >>> messages = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
    >>> pysimd.scatter_elements(np.zeros((2, 2), np.float32), np.array([[0], [1], [0]]), messages, reduction="add")
    array([[6., 8.],
           [3., 4.]], dtype=float32)

    Formula: SimdnetScatterElements.
    """
    kind = _reduction(reduction)
    allowed = CASTS if kind else ELEMENTS
    array, element = _array(x, "x", allowed)
    given, _ = _array(updates, "updates", allowed, array)
    places = _places(indices)
    axis = axis_of(axis, array.shape)
    for name, other in (("updates", given), ("indices", places)):
        if other.ndim != array.ndim:
            raise ValueError(f"{name} has {other.ndim} dimensions, expected {array.ndim} as x")
    sources, names = (x, updates, indices), ("x", "updates", "indices")
    held = {name: pointer(each, name, element, ctype=UINT8.ctype) for name, each in (("src", array), ("updates", given))}
    out, dst = output(out, array.shape, sources, names, 1, element=element, ctype=UINT8.ctype, like=array)
    held |= {"index": pointer(places, "indices", INT64), "dst": dst}
    arguments = ffi.new("SimdnetScatterElementsParameters *", held)
    arguments.size = ffi.sizeof("SimdnetScatterElementsParameters")
    arguments.dataType, arguments.reduction, arguments.count, arguments.axis = element.tensor, kind, array.ndim, axis
    arguments.shape, arguments.updatesShape, arguments.indexShape = array.shape, given.shape, places.shape
    call_struct(lib.SimdnetScatterElements, arguments, held=held)
    return out


def _parts(function: Any, array: Array, places: Array, batch: int, held: dict[str, Any], **numbers: int) -> None:
    """A function of the parts of an array that indices select."""
    depth, arguments = places.shape[-1], ffi.new("SimdnetScatterNdParameters *", held)
    arguments.size = ffi.sizeof("SimdnetScatterNdParameters")
    for name, number in numbers.items():
        setattr(arguments, name, number)
    arguments.batch, arguments.depth = prod(array.shape[:batch]), depth
    arguments.shape = array.shape[batch : batch + depth]
    arguments.inner, arguments.indices = prod(array.shape[batch + depth :]), prod(places.shape[batch:-1])
    call_struct(function, arguments, held=held)


def _selected(array: Array, places: Array, batch: int) -> Shape:
    """The shape of what indices select."""
    if places.ndim <= batch or array.shape[:batch] != places.shape[:batch]:
        raise ValueError(f"indices has shape {places.shape}, expected {array.shape[:batch]} and at least one dimension more")
    if batch + places.shape[-1] > array.ndim:
        raise ValueError(f"indices has {places.shape[-1]} numbers for {array.ndim - batch} dimensions of x")
    return (*places.shape[:-1], *array.shape[batch + places.shape[-1] :])


def scatter_nd(
    x: Array | ForeignArray,
    indices: Indices,
    updates: Array | ForeignArray,
    *,
    reduction: Reduction = "none",
    rows: Indices | None = None,
    out: Array | None = None,
) -> Array:
    """A copy of an array in which updates replace or change parts: ScatterND of ONNX.

    x : of any type of the library, contiguous; not bfloat16 and float16 unless the reduction is "none".
    indices : int64; the numbers along its last axis are the indices of a part in the first dimensions of `x`. Negative ones
        count from the end.
    updates : of the dtype of `x`; the shape of `indices` without its last axis, then that of a part.
    reduction, out : as of :func:`scatter_elements`.
    rows : None, or int64 with the shape of `indices` without its last axis: the updates are ``updates[rows]``, gathered as
        they are applied. Graph networks add rows of nodes along edges so.

    >>> pysimd.scatter_nd(np.zeros(4, np.int64), np.array([[1], [3], [1]]), np.array([5, 6, 7]), reduction="add")
    array([ 0, 12,  0,  6])
    >>> nodes, ends, begins = np.array([[1.0], [2.0], [4.0]], np.float32), np.array([[0], [2], [0]]), np.array([1, 1, 2])
    >>> pysimd.scatter_nd(np.zeros_like(nodes), ends, nodes, rows=begins, reduction="add")
    array([[6.],
           [0.],
           [2.]], dtype=float32)

    Formula: SimdnetScatterNd.
    """
    kind = _reduction(reduction)
    allowed = CASTS if kind else ELEMENTS
    array, element = _array(x, "x", allowed)
    given, places = _array(updates, "updates", allowed, array)[0], _places(indices)
    shape, numbers = _selected(array, places, 0), {"dataType": element.tensor, "reduction": kind}
    sources: dict[str, Any] = {"x": x, "updates": updates, "indices": indices}
    held: dict[str, Any] = {}
    if rows is not None:
        begins = _places(rows, "rows")
        if begins.shape != places.shape[:-1]:
            raise ValueError(f"rows has shape {begins.shape}, expected {places.shape[:-1]}")
        shape = (*given.shape[:1], *shape[begins.ndim :])
        sources["rows"] = rows
        held["rows"], numbers["rowCount"] = pointer(begins, "rows", INT64), len(given) if given.ndim else 0
    if given.shape != shape:
        raise ValueError(f"updates has shape {given.shape}, expected {shape}")
    held |= {name: pointer(each, name, element, ctype=UINT8.ctype) for name, each in (("src", array), ("updates", given))}
    out, dst = output(
        out, array.shape, tuple(sources.values()), tuple(sources), 1, element=element, ctype=UINT8.ctype, like=array
    )
    held |= {"index": pointer(places, "indices", INT64), "dst": dst}
    _parts(lib.SimdnetScatterNd, array, places, 0, held, **numbers)
    return out


def gather_nd(x: Array | ForeignArray, indices: Indices, *, batch_dims: int = 0, out: Array | None = None) -> Array:
    """Parts of an array by their indices: GatherND of ONNX.

    x : of any type of the library, contiguous.
    indices : int64; the numbers along its last axis are the indices of a part in the first dimensions of `x`. Negative ones
        count from the end.
    batch_dims : the number of first dimensions that both have in common.
    out : of the dtype of `x`; the shape of `indices` without its last axis, then that of a part.

    >>> pysimd.gather_nd(np.array([[1, 2], [3, 4]]), np.array([[0, 1], [1, 0]]))
    array([2, 3])

    Formula: SimdnetGatherNd.
    """
    array, element = _array(x, "x", ELEMENTS)
    places = _places(indices)
    shape = _selected(array, places, batch_dims)
    held = {"src": pointer(array, "x", element, ctype=UINT8.ctype), "index": pointer(places, "indices", INT64)}
    options: dict[str, Any] = {"element": element, "ctype": UINT8.ctype, "like": array}
    out, held["dst"] = output(out, shape, (x, indices), ("x", "indices"), **options)
    held["updates"] = NULL
    _parts(lib.SimdnetGatherNd, array, places, batch_dims, held, dataType=element.tensor)
    return out


def cumulative_sum(
    x: Array | ForeignArray, *, axis: int = -1, exclusive: bool = False, reverse: bool = False, out: Array | None = None
) -> Array:
    """Sums of the elements up to each along an axis: ``numpy.cumsum(x, axis)`` in the type of `x`, CumSum of ONNX.

    x : float32, int32, int8, uint8, int64 or uint64, contiguous.
    axis : the last one by default.
    exclusive : without the element itself.
    reverse : of the elements from each to the end.
    out : of the dtype and shape of `x`, which it may be.

    >>> pysimd.cumulative_sum(np.array([1, 2, 3]))
    array([1, 3, 6])
    >>> pysimd.cumulative_sum(np.array([1, 2, 3]), exclusive=True, reverse=True)
    array([5, 3, 0])

    Formula: SimdnetCumulativeSum.
    """
    array = plain(x, "x")
    element, axis = element_of(array, "x", _SUMMED), axis_of(axis, array.shape)
    src = pointer(array, "x", element, ctype=UINT8.ctype)
    out, dst = output(out, array.shape, (x,), ("x",), 1, element=element, ctype=UINT8.ctype, like=array)
    sizes = prod(array.shape[:axis]), array.shape[axis], prod(array.shape[axis + 1 :])
    call(lib.SimdnetCumulativeSum, element.tensor, src, *sizes, bool(exclusive), bool(reverse), dst)
    return out
