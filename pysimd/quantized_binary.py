"""Sums and products of two tensors of quantised bytes: QLinearAdd and QLinearMul of ONNX Runtime."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from pysimd._arrays import INT8, UINT8, element_of, plain, pointer
from pysimd._library import lib
from pysimd.annotations import Array
from pysimd.elementwise import run_broadcast, shape_of, target_of
from pysimd.enums import BinaryOperation
from pysimd.errors import shown
from pysimd.quantize_linear import SomeBytes
from pysimd.quantized import Linear, linear_of

_BYTES = (UINT8, INT8)
_OPERATIONS: dict[Any, int] = {
    key: int(each) for each in (BinaryOperation.ADD, BinaryOperation.MULTIPLY) for key in (each, each.name.lower())
}


def quantized_binary(
    operation: Literal["add", "multiply"] | BinaryOperation,
    a: SomeBytes,
    b: SomeBytes,
    *,
    src: tuple[Linear, Linear],
    dst: Linear,
    out: Array | None = None,
) -> Array:
    """The sum or the product of two tensors of bytes, each with one scale and one zero, with NumPy broadcasting.

    operation : "add" or "multiply".
    a, b : both uint8 or both int8, contiguous, of shapes that NumPy broadcasts, with at most 8 dimensions.
    src, dst : pairs (scale, zero), one for each of `a` and `b`, and one for the result. A byte q represents
        ``(q - zero) * scale``.
    out : of their dtype; it may be an operand of its shape.

    All instruction sets give the same bytes. Raises TypeError for another dtype, ValueError for shapes that cannot be
    broadcast, and for a scale or a zero that a tensor cannot have.

    >>> a, b = np.array([[12], [20]], np.uint8), np.array([3, 5, 7], np.uint8)
    >>> pysimd.quantized_binary("multiply", a, b, src=((0.5, 10), (1.0, 3)), dst=(1.0, 100))
    array([[100, 102, 104],
           [100, 110, 120]], dtype=uint8)

    Formula: SimdnetQuantizedBinary.
    """
    try:
        number = _OPERATIONS[operation]
    except (KeyError, TypeError):
        raise ValueError(f"operation is {shown(operation)}, expected 'add' or 'multiply'") from None
    first, second = plain(a, "a", UINT8), plain(b, "b", UINT8)
    element = element_of(first, "a", _BYTES)
    if element_of(second, "b", _BYTES) is not element:
        raise TypeError(f"b has dtype {second.dtype}, expected that of a, {element.name}")
    shape = shape_of((first, second), "ab")
    numbers = _numbers(src, dst, element.dtype)
    target, to = target_of(out, shape, ((a, first, "a"), (b, second, "b")), element, True)
    held = {name: pointer(array, name, element, ctype=UINT8.ctype) for name, array in (("a", first), ("b", second))}
    shapes = {"aShape": first.shape, "bShape": second.shape}
    numbers |= {"operation": number, "dataType": element.tensor}
    kind = "SimdnetQuantizedBinaryParameters"
    run_broadcast(lib.SimdnetQuantizedBinary, kind, shape, {**held, "dst": to}, shapes, **numbers)
    return target


def _numbers(src: Any, dst: Any, dtype: Any) -> dict[str, Any]:
    """The scales and the zeros by the names of the struct."""
    if not isinstance(src, (tuple, list)) or len(src) != 2:
        raise ValueError(f"src is {shown(src)}, expected 2 tuples (scale, zero), one for each array")
    limits, numbers = np.iinfo(dtype), dict[str, Any]()
    for name, member, pair in (("src[0]", "a", src[0]), ("src[1]", "b", src[1]), ("dst", "dst", dst)):
        scale, zero = linear_of(pair, name)
        if not limits.min <= zero <= limits.max:
            raise ValueError(f"{name}[1] is {zero}, expected {limits.min} .. {limits.max}")
        numbers |= {f"{member}Scale": scale, f"{member}Zero": zero}
    return numbers
