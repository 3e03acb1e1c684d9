"""NumPy arrays as C arrays: dtype, shape, contiguity, pointers, output allocation.

Arrays are used in place. Nothing is converted or copied to make an argument fit: what does not fit is refused, with the name
of the argument, what it is, what was expected, and what to do.

Only pointers and sizes of :func:`plain` arrays are passed to C. A subclass of numpy.ndarray may redefine shape, dtype and
other attributes; its plain array has those of the memory itself. An array of another library has one over its memory.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import _cffi_backend
import numpy as np

from pysimd._foreign import imported, is_foreign
from pysimd._library import ffi, lib
from pysimd.annotations import Array, Coefficients, Shape
from pysimd.errors import dtype_name, shown


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
INT32 = Element("int32", np.int32, "int32_t[]", lib.SimdTensorData32i)
INT64 = Element("int64", np.int64, "int64_t[]", lib.SimdTensorData64i)
INT8 = Element("int8", np.int8, "int8_t[]", lib.SimdTensorData8i)
#: Every element type, for functions that move values unchanged.
ELEMENTS = (
    FLOAT32,
    BFLOAT16,
    UINT8,
    INT32,
    INT64,
    INT8,
    Element("uint64", np.uint64, "uint64_t[]", lib.SimdTensorData64u),
    Element("bool", np.bool_, "uint8_t[]", lib.SimdTensorDataBool),
    Element("float16", np.float16, "uint16_t[]", lib.SimdTensorData16f),
)

_BY_DTYPE = {element.dtype: element for element in ELEMENTS}
ndarray = np.ndarray
_F32 = FLOAT32.dtype
_F32_ARRAY = FLOAT32.ctype
NULL = ffi.NULL
_NUMBERS = (int, float, np.integer, np.floating)
_from_buffer: Any = _cffi_backend.from_buffer  # what ffi.from_buffer calls, in half the time


def _spelled(elements: tuple[Element, ...]) -> str:
    names = ["bfloat16 (as uint16 or ml_dtypes.bfloat16)" if e is BFLOAT16 else e.name for e in elements]
    return " or ".join(names)


def element_of_dtype(dtype: Any, name: str, allowed: tuple[Element, ...]) -> Element:
    """The element type of a NumPy dtype or its name."""
    if isinstance(dtype, str) and dtype == "bfloat16":
        found: Element | None = BFLOAT16
    else:
        try:
            dtype = np.dtype(dtype)
        except (TypeError, ValueError):
            raise TypeError(f"{name} is {dtype!r}, expected {_spelled(allowed)}") from None
        # ml_dtypes need not be installed: its dtype is known by its name.
        found = BFLOAT16 if dtype.name == "bfloat16" and dtype.isnative else _BY_DTYPE.get(dtype)
    if found is None or found not in allowed:
        raise TypeError(f"{name} has dtype {dtype}, expected {_spelled(allowed)}")
    return found


def refuse_mask(values: Any, name: str) -> None:
    """Refuses an array with masked elements. Where nothing has imported numpy.ma, which takes 30 ms, there is none."""
    if "numpy.ma" in sys.modules and np.ma.is_masked(values):
        raise ValueError(f"{name} has masked elements, expected an array without a mask: use {name}.filled(value)")


def numbers(values: Any, name: str) -> Array:
    """A number, a sequence of numbers or an array of any dtype, as an array of floats."""
    refuse_mask(values, name)
    try:
        return np.asarray(values, np.float32)
    except (TypeError, ValueError):
        raise TypeError(f"{name} is {shown(values)}, expected numbers") from None
    except OverflowError:
        raise ValueError(f"{name} is {shown(values)}, which is too large for a float") from None


def is_number(value: Any) -> bool:
    """Whether an object is a single number, of Python or of NumPy."""
    return isinstance(value, _NUMBERS)


def as_float(value: Any, name: str) -> Any:
    """A number. Raises ValueError for an integer of more than 1023 bits, which has no float, not even infinity."""
    if isinstance(value, int) and value.bit_length() > 1023:
        raise ValueError(f"{name} is {shown(value)}, which is too large for a float")
    return value


def is_array(value: Any) -> bool:
    """Whether an object is an array, of NumPy or of another library."""
    return issubclass(type(value), ndarray) or is_foreign(value)


def _kind_of(value: Any) -> str:
    """The kind of an object that is not an array."""
    return "None" if value is None else f"a {type(value).__name__}"


def not_an_array(value: Any, name: str, dtype: str) -> TypeError:
    """The error for an object that is not an array, with the code that makes one of this dtype of numbers."""
    remedy = f": use np.array({name}, {dtype_name(dtype)})" if isinstance(value, (*_NUMBERS, list, tuple)) else ""
    return TypeError(f"{name} is {_kind_of(value)}, expected a numpy.ndarray{remedy}")


def several(arrays: Any, name: str) -> list[Any]:
    """The arrays of a sequence; TypeError for what is none."""
    try:
        return list(arrays)
    except TypeError:
        raise TypeError(f"{name} is {shown(arrays)}, expected a sequence of arrays") from None


def plain(array: Any, name: str, element: Element = FLOAT32) -> Array:
    """An input as a numpy.ndarray over the same memory, without attributes that a subclass redefines.

    element : what the message about an object that is not an array recommends.
    """
    if type(array) is ndarray:
        return array
    if not issubclass(type(array), ndarray):  # isinstance() would be misled by a __class__
        if is_foreign(array):
            return imported(array, name)
        raise not_an_array(array, name, element.dtype.name)
    refuse_mask(array, name)
    return ndarray.view(array, ndarray)


def plain_output(array: Any, name: str) -> Array:
    """An output as :func:`plain`; arrays of other libraries are refused."""
    if not issubclass(type(array), ndarray):
        raise TypeError(f"{name} is {_kind_of(array)}, expected a numpy.ndarray")
    return plain(array, name)


def element_of(array: Array, name: str, allowed: tuple[Element, ...]) -> Element:
    """The element type of a plain array."""
    found = _BY_DTYPE.get(array.dtype)
    if found is not None and found in allowed:
        return found
    try:
        return element_of_dtype(array.dtype, name, allowed)
    except TypeError as error:
        raise TypeError(f"{error}: use {_conversion(array, name, allowed[0])}") from None


def _conversion(array: Array, name: str, element: Element) -> str:
    """The code that converts an array to an element type."""
    as_floats = name if array.dtype == np.float32 else f"{name}.astype(np.float32)"
    if element is BFLOAT16:
        return f"pysimd.to_bfloat16({as_floats})"
    if element is UINT8 and array.dtype.kind == "f" and name != "image":  # pictures are bytes without statistics
        return f"pysimd.quantize({as_floats}, stats)"
    if element is FLOAT32 and array.dtype.name in ("uint16", "bfloat16"):
        return f"pysimd.from_bfloat16({name}) or {name}.astype(np.float32)"
    return f"{name}.astype({dtype_name(element.name)})"


def _refuse(array: Array, name: str, writable: bool) -> None:
    """Raises with the reason why NumPy returned no buffer."""
    if not array.flags.c_contiguous:
        remedy = "use a contiguous array and copy from it" if writable else f"use np.ascontiguousarray({name})"
        raise ValueError(f"{name} is not C-contiguous: {remedy}")
    if writable and not array.flags.writeable:
        raise ValueError(f"{name} is read-only, expected a writable array: use np.empty_like({name})")


def pointer(array: Array, name: str, element: Element, writable: bool = False, ctype: Any = None) -> Any:
    """A C array over a plain array whose element type is known already. It keeps the array alive."""
    try:
        return _from_buffer(ctype or element.ctype, array, writable)
    except (ValueError, BufferError):
        _refuse(array, name, writable)
        if array.dtype == element.dtype:
            raise
    # ml_dtypes.bfloat16, which has no buffer in NumPy
    return _from_buffer(ctype or element.ctype, array.view(element.dtype), writable)


# What functions require of their arrays. This code runs in every call, so a plain array, whose class and dtype are one
# object each, is accepted by a single condition; only arrays that fail it are examined in detail.


def _checked(array: Any, name: str, shape: Shape, element: Element) -> Array:
    """A plain array of this element type and this shape; refuses others."""
    checked = plain(array, name, element)
    element_of(checked, name, (element,))
    if checked.shape != shape:
        raise ValueError(f"{name} has shape {checked.shape}, expected {shape}")
    return checked


def _checked_output(array: Any, name: str, shape: Shape, element: Element) -> Array:
    """The same for an output."""
    checked = plain_output(array, name)
    remedy = f"use np.empty({shape}, {dtype_name(element.dtype.name)})"
    try:
        element_of_dtype(checked.dtype, name, (element,))
    except TypeError as error:
        raise TypeError(f"{error}: {remedy}") from None
    if checked.shape != shape:
        raise ValueError(f"{name} has shape {checked.shape}, expected {shape}: {remedy}")
    return checked


def floats(array: Any, name: str) -> tuple[Array, Any]:
    """A float32 array of any shape, plain, and its C array."""
    if type(array) is not ndarray or array.dtype is not _F32:
        array = plain(array, name)
        element_of(array, name, (FLOAT32,))
    try:
        return array, _from_buffer(_F32_ARRAY, array)
    except (ValueError, BufferError):
        return array, pointer(array, name, FLOAT32)  # which raises with the reason


def bfloat16s(array: Any, name: str) -> tuple[Array, Any]:
    """A bfloat16 array of any shape, plain, and its C array."""
    array = plain(array, name, BFLOAT16)
    element_of(array, name, (BFLOAT16,))
    return array, pointer(array, name, BFLOAT16)


def tensor(array: Any, name: str, shape: Shape, element: Element = FLOAT32, ctype: Any = _F32_ARRAY) -> Any:
    """A C array over an array of this shape and this element type."""
    if type(array) is not ndarray or array.dtype is not element.dtype or array.shape != shape:
        array = _checked(array, name, shape, element)
    try:
        return _from_buffer(ctype, array)
    except (ValueError, BufferError):
        return pointer(array, name, element, False, ctype)


def coefficients(values: Coefficients, name: str, channels: int, shared: bool = False) -> Any:
    """A C array of one float for each channel, from an array of shape (C,), (C, 1, 1) or (1, C, 1, 1) or from one number for
    all channels; if `shared`, also from an array of one element.
    """
    if type(values) is ndarray and values.dtype is _F32 and values.shape == (channels,):
        try:
            return _from_buffer(_F32_ARRAY, values)
        except (ValueError, BufferError):
            return pointer(values, name, FLOAT32)  # which raises with the reason
    if isinstance(values, _NUMBERS):
        return tensor(np.full(channels, as_float(values, name), np.float32), name, (channels,))
    array = plain(values, name)
    element_of(array, name, (FLOAT32,))
    if shared and array.size == 1:  # in place if it can be, for prepared calls
        array = array.reshape(1) if channels == 1 else np.full(channels, array.reshape(())[()], np.float32)
    elif array.shape in ((channels, 1, 1), (1, channels, 1, 1)):
        array = array.reshape(channels)
    return tensor(array, name, (channels,))


def coefficients_or_null(values: Coefficients | None, name: str, channels: int) -> Any:
    """The same, or NULL for None."""
    return NULL if values is None else coefficients(values, name, channels)


def at(data: Any, offset: int) -> Any:
    """A C array from an offset on. At offset 0 it is the array itself, which keeps its memory alive in a prepared call."""
    return data + offset if offset else data


def alike(arrays: Sequence[Any], name: str) -> tuple[Array, list[Any]]:
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
            made.append(pointer(array, f"{name}[{len(made)}]", FLOAT32))  # which raises with the reason
    return first, made


def output(
    out: Array | None,
    shape: Shape,
    sources: Sequence[Any],
    names: tuple[str, ...] | str,
    in_place: int = 0,
    name: str = "out",
    element: Element = FLOAT32,
    ctype: Any = _F32_ARRAY,
    like: Any = FLOAT32,
) -> tuple[Array, Any]:
    """The array to write, allocated with the dtype of `like` if `out` is None, and its pointer.

    An `out` that shares memory with one of the sources is refused. `names` are those of the sources, or of the list whose
    elements they are. The memory of one of the first `in_place` sources as a whole is accepted.
    """
    if out is None:
        out = np.empty(shape, element.dtype if like is element else plain(like, "like").dtype)
        return out, pointer(out, name, element, True, ctype)
    target = out
    if type(out) is not ndarray or out.dtype is not element.dtype or out.shape != shape:
        target = _checked_output(out, name, shape, element)
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
        return out, pointer(target, name, element, True, ctype)  # which raises with the reason


def _separate(out: Array, name: str, sources: Sequence[Any], names: tuple[str, ...] | str, in_place: int) -> None:
    """Refuses an output that shares memory with a source."""
    for i, source in enumerate(sources):
        if source is out and i < in_place:
            continue
        other = f"{names}[{i}]" if isinstance(names, str) else names[i]
        if isinstance(source, _NUMBERS):  # one coefficient for all channels
            continue
        source = plain(source, other)
        if np.may_share_memory(out, source) and (i >= in_place or source.ctypes.data != out.ctypes.data):
            raise ValueError(f"{name} overlaps {other}, expected memory of its own: use another array")


def apart(dst: Any, name: str, src: Any, other: str) -> None:
    """Refuses two C arrays that share memory."""
    if dst < src + len(src) and src < dst + len(dst):
        raise ValueError(f"{name} overlaps {other}, expected memory of its own: use another array")
