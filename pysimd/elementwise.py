"""Element-wise arithmetic on integers, comparisons and selections with NumPy broadcasting.

a, b : contiguous arrays of one dtype, or one number; of shapes that NumPy broadcasts, with at most 8 dimensions.
out : of the broadcast shape.

Raises TypeError for another dtype, ValueError for shapes that cannot be broadcast, and for an array that is not contiguous.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Union

import numpy as np

from pysimd._arrays import ELEMENTS, UINT8, Element, element_of, is_number, output, plain, pointer
from pysimd._library import ffi, lib
from pysimd.annotations import Array, ForeignArray, Shape
from pysimd.calls import call_struct
from pysimd.cast import CASTS
from pysimd.enums import ElementwiseOperation
from pysimd.errors import dtype_name, shown

_OPERATIONS: dict[Any, int] = {key: int(op) for op in ElementwiseOperation for key in (op, op.name.lower())}
_BOOL = next(element for element in ELEMENTS if element.name == "bool")
_MOST_DIMENSIONS = int(lib.SIMDNET_MAX_DIMENSIONS)
Operand = Union[Array, ForeignArray, int, float]
Operation = Union[
    Literal[
        "add", "subtract", "multiply", "divide", "modulo", "remainder", "maximum", "minimum", "power", "and", "or", "xor",
        "shift_left", "shift_right", "equal", "not_equal", "less", "less_or_equal",
    ],
    ElementwiseOperation,
]  # fmt: skip


def _pair(a: Any, b: Any, allowed: tuple[Element, ...]) -> tuple[Array, Array, Element]:
    """Two operands of one element type; a number has that of the other."""
    if is_number(a) and is_number(b):
        raise TypeError("a and b are numbers, expected an array")
    array = plain(b if is_number(a) else a, "b" if is_number(a) else "a")
    element = element_of(array, "b" if is_number(a) else "a", allowed)
    found = []
    for value, name in ((a, "a"), (b, "b")):
        if is_number(value):
            found.append(_number(value, name, element))
            continue
        found.append(plain(value, name))
        if element_of(found[-1], name, allowed) is not element:
            remedy = f"use {name}.astype({dtype_name(element.name)})"
            raise TypeError(f"{name} has dtype {found[-1].dtype}, expected that of a, {element.name}: {remedy}")
    return found[0], found[1], element


def _number(value: Any, name: str, element: Element) -> Array:
    """A number as an array of no dimensions; the type must have it."""
    if element.dtype.kind in "iu":
        limits = np.iinfo(element.dtype)
        if int(value) != value or not limits.min <= value <= limits.max:
            raise ValueError(f"{name} is {shown(value)}, expected a number that {element.name} has")
    return np.array(value, element.dtype)


def shape_of(arrays: Sequence[Array], names: Sequence[str]) -> Shape:
    """That of the result."""
    try:
        shape = np.broadcast_shapes(*(array.shape for array in arrays))
    except ValueError:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in zip(names, arrays))
        raise ValueError(f"the shapes are {shapes}, expected ones that can be broadcast") from None
    if len(shape) > _MOST_DIMENSIONS:
        name = next(name for name, array in zip(names, arrays) if array.ndim == len(shape))
        raise ValueError(f"{name} has {len(shape)} dimensions, expected at most {_MOST_DIMENSIONS}: use reshape")
    return shape


def target_of(
    out: Array | None, shape: Shape, operands: Sequence[tuple[Any, Array, str]], element: Element, in_place: bool
) -> tuple[Array, Any]:
    """The result and its pointer; `in_place`: it may be an operand of its shape."""
    ordered = sorted(operands, key=lambda each: each[2] == "condition" or each[1].shape != shape)
    count = sum(each[2] != "condition" and each[1].shape == shape for each in operands) if in_place else 0
    sources, names = [each[0] for each in ordered], tuple(each[2] for each in ordered)
    return output(out, shape, sources, names, count, element=element, ctype=UINT8.ctype, like=element)


def run_broadcast(
    function: Any, kind: str, shape: Shape, held: dict[str, Any], shapes: dict[str, Shape], **numbers: Any
) -> None:
    """Calls a function with a struct of this kind; `shapes` are those of the operands."""
    arguments = ffi.new(f"{kind} *", held)
    arguments.size = ffi.sizeof(kind)
    arguments.count, arguments.shape = len(shape), shape
    for name, number in numbers.items():
        setattr(arguments, name, number)
    for name, own in shapes.items():
        setattr(arguments, name, (1,) * (len(shape) - len(own)) + own)
    call_struct(function, arguments, held=held)


def elementwise(operation: Operation, a: Operand, b: Operand, *, out: Array | None = None) -> Array:
    """Arithmetic on two arrays of integers or booleans, or a comparison, with NumPy broadcasting.

    operation : "add", "subtract", "multiply", "divide", "modulo", "remainder", "maximum", "minimum", "power", "and", "or",
        "xor", "shift_left", "shift_right", "equal", "not_equal", "less" or "less_or_equal".
    a, b : int32, int8, uint8, int64, uint64 or bool; float32 with "modulo", "remainder" and comparisons. One may be a
        number.
    out : of their dtype, bool for comparisons; it may be an operand of its shape and dtype.

    Results keep the low bits of what is computed exactly. Quotients are rounded towards zero; of a divisor 0, quotients and
    remainders of integers are 0. "modulo" has the sign of `b`, "remainder" that of `a`.

    >>> pysimd.elementwise("divide", np.array([7, -7, 5], np.int64), np.array([2, 2, 0], np.int64))
    array([ 3, -3,  0])
    >>> pysimd.elementwise("less", np.array([[1], [4]], np.int32), np.array([2, 5], np.int32))
    array([[ True,  True],
           [False,  True]])

    Formula: SimdnetElementwise.
    """
    try:
        number = _OPERATIONS[operation]
    except (KeyError, TypeError):
        known = " or ".join(repr(name) for name in _OPERATIONS if type(name) is str)
        raise ValueError(f"operation is {shown(operation)}, expected {known}") from None
    first, second, element = _pair(a, b, CASTS)
    shape = shape_of((first, second), "ab")
    target = _BOOL if number >= ElementwiseOperation.EQUAL else element
    out, dst = target_of(out, shape, ((a, first, "a"), (b, second, "b")), target, target is element)
    held = {name: pointer(array, name, element, ctype=UINT8.ctype) for name, array in (("a", first), ("b", second))}
    shapes = {"aShape": first.shape, "bShape": second.shape}
    numbers = {"operation": number, "dataType": element.tensor}
    run_broadcast(lib.SimdnetElementwise, "SimdnetElementwiseParameters", shape, {**held, "dst": dst}, shapes, **numbers)
    return out


def select(condition: Array | ForeignArray, a: Operand, b: Operand, *, out: Array | None = None) -> Array:
    """``np.where(condition, a, b)``: a where the condition is true, else b.

    condition : bool.
    a, b : of one dtype that the library has, which are copied unchanged. One may be a number.
    out : of this dtype; it may be `a` or `b`.

    >>> pysimd.select(np.array([True, False, True]), np.array([1, 2, 3]), 0)
    array([1, 0, 3])

    Formula: SimdnetSelect.
    """
    mask = plain(condition, "condition", _BOOL)
    element_of(mask, "condition", (_BOOL,))
    first, second, element = _pair(a, b, ELEMENTS)
    shape = shape_of((mask, first, second), ("condition", "a", "b"))
    operands = ((condition, mask, "condition"), (a, first, "a"), (b, second, "b"))
    out, dst = target_of(out, shape, operands, element, True)
    held = {
        "condition": pointer(mask, "condition", _BOOL),
        "a": pointer(first, "a", element, ctype=UINT8.ctype),
        "b": pointer(second, "b", element, ctype=UINT8.ctype),
        "dst": dst,
    }
    shapes = {"conditionShape": mask.shape, "aShape": first.shape, "bShape": second.shape}
    kind = "SimdnetSelectParameters"
    run_broadcast(lib.SimdnetSelect, kind, shape, held, shapes, dataType=element.tensor)
    return out
