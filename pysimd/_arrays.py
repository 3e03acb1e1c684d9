"""NumPy arrays as C arrays: dtype, shape, contiguity, pointers, output allocation.

Arrays are used in place. Nothing is converted or copied to make an argument fit: what does not fit is refused, with the name
of the argument, what it is and what was expected.

C is given pointers and sizes of :func:`plain` arrays alone. A subclass of numpy.ndarray may redefine shape, dtype and the
rest; its plain array has those of the memory itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import _cffi_backend
import numpy as np
from numpy.typing import NDArray

from pysimd._library import ffi, lib

Array = NDArray[Any]
Shape = tuple[int, ...]


class Element:
    """An element type of the library."""

    __slots__ = ("ctype", "dtype", "name", "tensor")

    def __init__(self, name: str, dtype: Any, ctype: str, tensor: int) -> None:
        self.name = name
        self.dtype = np.dtype(dtype)  # that outputs are allocated with
        self.ctype = ffi.typeof(ctype)  # the cffi array type that pointers have
        self.tensor = tensor  # the enumerator of SimdTensorDataType


FLOAT32 = Element("float32", np.float32, "float[]", lib.SimdTensorData32f)
BFLOAT16 = Element("bfloat16", np.uint16, "uint16_t[]", lib.SimdTensorData16b)
UINT8 = Element("uint8", np.uint8, "uint8_t[]", lib.SimdTensorData8u)

_BY_DTYPE = {element.dtype: element for element in (FLOAT32, BFLOAT16, UINT8)}
ndarray = np.ndarray
_F32 = FLOAT32.dtype
_F32_ARRAY = FLOAT32.ctype
NULL = ffi.NULL
_from_buffer: Any = _cffi_backend.from_buffer  # what ffi.from_buffer calls, in half the time


def _spelled(elements: tuple[Element, ...]) -> str:
    names = ["bfloat16 (as uint16 or ml_dtypes.bfloat16)" if e is BFLOAT16 else e.name for e in elements]
    return " or ".join(names)


def element_of_dtype(dtype: Any, name: str, allowed: tuple[Element, ...]) -> Element:
    """The element type that a NumPy dtype, or its name, stands for."""
    if isinstance(dtype, str) and dtype == "bfloat16":
        found: Element | None = BFLOAT16
    else:
        dtype = np.dtype(dtype)
        # ml_dtypes need not be installed: its dtype is known by its name.
        found = BFLOAT16 if dtype.name == "bfloat16" and dtype.isnative else _BY_DTYPE.get(dtype)
    if found is None or found not in allowed:
        raise TypeError(f"{name} has dtype {dtype}, expected {_spelled(allowed)}")
    return found


def refuse_mask(values: Any, name: str) -> None:
    """Refuses an array with masked elements."""
    if np.ma.is_masked(values):
        raise ValueError(f"{name} has masked elements, which would be taken as any others; expected an array without a mask")


def numbers(values: Any, name: str) -> Array:
    """Plain numbers, as they come, as an array of floats."""
    refuse_mask(values, name)
    return np.asarray(values, np.float32)


def plain(array: Array, name: str) -> Array:
    """The array, or the memory of one of a subclass as a numpy.ndarray, without what the subclass redefines."""
    if type(array) is ndarray:
        return array
    if not issubclass(type(array), ndarray):  # isinstance() would believe a __class__
        raise TypeError(f"{name} is a {type(array).__name__}, expected a numpy.ndarray")
    refuse_mask(array, name)
    return ndarray.view(array, ndarray)


def element_of(array: Array, name: str, allowed: tuple[Element, ...]) -> Element:
    """The element type of a plain array."""
    found = _BY_DTYPE.get(array.dtype)
    if found is not None and found in allowed:
        return found
    return element_of_dtype(array.dtype, name, allowed)


def _refuse(array: Array, name: str, writable: bool) -> None:
    """Says why NumPy gave no buffer."""
    if not array.flags.c_contiguous:
        raise ValueError(f"{name} is not C-contiguous, expected a contiguous array (numpy.ascontiguousarray makes one)")
    if writable and not array.flags.writeable:
        raise ValueError(f"{name} is read-only, expected an array that can be written")


def pointer(array: Array, name: str, element: Element, writable: bool = False, ctype: Any = None) -> Any:
    """A C array over a plain array whose element type is known already. It keeps the array alive."""
    try:
        return _from_buffer(ctype or element.ctype, array, writable)
    except (ValueError, BufferError):
        _refuse(array, name, writable)
        if array.dtype == element.dtype:
            raise
    # ml_dtypes.bfloat16, of which NumPy gives no buffer
    return _from_buffer(ctype or element.ctype, array.view(element.dtype), writable)


# What functions ask for. A call costs its user what is done here for each of its arrays, so a plain array, whose class and
# dtype are one object each, has to pass a single condition; only what fails it is looked at closely.


def _checked(array: Array, name: str, shape: Shape, element: Element) -> Array:
    """A plain array of this element type and this shape; refuses what is none."""
    array = plain(array, name)
    element_of(array, name, (element,))
    if array.shape != shape:
        raise ValueError(f"{name} has shape {array.shape}, expected {shape}")
    return array


def floats(array: Array, name: str) -> tuple[Array, Any]:
    """A float32 array of any shape, plain, and its C array."""
    if type(array) is not ndarray or array.dtype is not _F32:
        array = plain(array, name)
        element_of(array, name, (FLOAT32,))
    try:
        return array, _from_buffer(_F32_ARRAY, array)
    except (ValueError, BufferError):
        return array, pointer(array, name, FLOAT32)  # which tells why


def tensor(array: Array, name: str, shape: Shape, element: Element = FLOAT32, ctype: Any = _F32_ARRAY) -> Any:
    """A C array over an array of this shape and this element type."""
    if type(array) is not ndarray or array.dtype is not element.dtype or array.shape != shape:
        array = _checked(array, name, shape, element)
    try:
        return _from_buffer(ctype, array)
    except (ValueError, BufferError):
        return pointer(array, name, element, False, ctype)


def tensor_or_null(array: Array | None, name: str, shape: Shape) -> Any:
    """A C array over floats of this shape; NULL for None."""
    return NULL if array is None else tensor(array, name, shape)


def alike(arrays: Sequence[Array], name: str) -> tuple[Array, list[Any]]:
    """The first of a list of float32 arrays of one shape, plain, and C arrays over all of them."""
    made: list[Any] = []
    for array in arrays:
        if type(array) is not ndarray or array.dtype is not _F32:
            array = plain(array, f"{name}[{len(made)}]")
            element_of(array, f"{name}[{len(made)}]", (FLOAT32,))
        if not made:
            first, shape = array, array.shape
        elif array.shape != shape:
            raise ValueError(f"{name}[{len(made)}] has shape {array.shape}, expected that of {name}[0], {shape}")
        try:
            made.append(_from_buffer(_F32_ARRAY, array))
        except (ValueError, BufferError):
            made.append(pointer(array, f"{name}[{len(made)}]", FLOAT32))  # which tells why
    return first, made


def output(
    out: Array | None,
    shape: Shape,
    sources: Sequence[Array],
    names: tuple[str, ...] | str,
    in_place: int = 0,
    name: str = "out",
    element: Element = FLOAT32,
    ctype: Any = _F32_ARRAY,
    like: Any = FLOAT32,
) -> tuple[Array, Any]:
    """The array to write, allocated with the dtype of `like` when `out` is None, and its pointer.

    An `out` that shares memory with one of the sources is refused, which have these names, or are elements of a list of this
    name; but it may be the very memory of one of the first `in_place` of them.
    """
    if out is None:
        out = np.empty(shape, element.dtype if like is element else plain(like, "like").dtype)
        return out, pointer(out, name, element, True, ctype)
    target = out
    if type(out) is not ndarray or out.dtype is not element.dtype or out.shape != shape:
        target = _checked(out, name, shape, element)
    if target.base is not None:  # two arrays share memory only if one is a view, or both are one
        _separate(target, name, sources, names, in_place)
    else:
        for source in sources:
            if source is out or type(source) is not ndarray or source.base is not None:
                _separate(target, name, sources, names, in_place)
                break
    try:
        return out, _from_buffer(ctype, target, True)
    except (ValueError, BufferError):
        return out, pointer(target, name, element, True, ctype)  # which tells why


def _separate(out: Array, name: str, sources: Sequence[Array], names: tuple[str, ...] | str, in_place: int) -> None:
    """Refuses an output that shares memory with a source."""
    for i, source in enumerate(sources):
        if source is out and i < in_place:
            continue
        other = f"{names}[{i}]" if isinstance(names, str) else names[i]
        source = plain(source, other)
        if np.may_share_memory(out, source) and (i >= in_place or source.ctypes.data != out.ctypes.data):
            raise ValueError(f"{name} overlaps {other}, expected memory of its own")


def apart(dst: Any, name: str, src: Any, other: str) -> None:
    """Refuses two C arrays that share memory."""
    if dst < src + len(src) and src < dst + len(dst):
        raise ValueError(f"{name} overlaps {other}, expected memory of its own")
