"""Element-wise arithmetic on two arrays with NumPy broadcasting.

a, b : float32, contiguous, or one number; of shapes that NumPy broadcasts, with at most 8 dimensions.
out : float32 of the broadcast shape; it may be an operand of that shape.

Raises TypeError for another dtype, ValueError for shapes that cannot be broadcast, and for an array that is not contiguous.
"""

from __future__ import annotations

from typing import Any, Literal, Union

import numpy as np

from pysimd._activation_params import PRELU, kind_of, params_of
from pysimd._arrays import FLOAT32, as_float, element_of, is_number, output, plain, pointer
from pysimd._library import ffi, lib
from pysimd.annotations import ActivationLike, Array, Coefficients, FloatArray, Params, Shape
from pysimd.calls import call_struct
from pysimd.enums import BinaryOperation
from pysimd.errors import shown

_OPERATIONS: dict[Any, int] = {key: int(op) for op in BinaryOperation for key in (op, op.name.lower())}
_MOST_DIMENSIONS = 8
Operation = Union[
    Literal["add", "subtract", "multiply", "divide", "maximum", "minimum", "power", "replace"],
    BinaryOperation,
]


def _operand(value: Any, name: str) -> Array:
    """A plain array; a number as an array of no dimensions."""
    if is_number(value):
        return np.array(as_float(value, name), np.float32)
    array = plain(value, name)
    element_of(array, name, (FLOAT32,))
    return array


def _shape_of(a: Array, b: Array) -> Shape:
    """The shape of the result."""
    if a.shape == b.shape:
        shape = a.shape
    else:
        try:
            shape = np.broadcast_shapes(a.shape, b.shape)
        except ValueError:
            raise ValueError(
                f"b has shape {b.shape}, expected one that can be broadcast with that of a, {a.shape}"
            ) from None
    if len(shape) > _MOST_DIMENSIONS:
        name = "a" if a.ndim == len(shape) else "b"
        raise ValueError(f"{name} has {len(shape)} dimensions, expected at most {_MOST_DIMENSIONS}: use reshape")
    return shape


def binary(
    operation: Operation,
    a: Coefficients,
    b: Coefficients,
    *,
    activation: ActivationLike = "identity",
    params: Params | None = None,
    out: FloatArray | None = None,
) -> FloatArray:
    """Element-wise arithmetic on two arrays with NumPy broadcasting, optionally followed by an activation.

    operation : "add", "subtract", "multiply", "divide", "maximum", "minimum", "power" or
        "replace".
    a, b, out : float32, contiguous, or one number as operand; ``out`` may be an operand of its shape.
    activation, params : as of :func:`convolution`, but not "prelu"; it takes the result rounded to float32.

    Maxima and minima are NaN if an operand is. Powers are those of ``powf`` in C, with at most 2 ULP of error. The result of
    "replace" is b, but a where b is NaN: a selection by a mask, if b is NaN where a is kept.

    >>> x = np.array([[1, -2, 3]], np.float32)
    >>> pysimd.binary("multiply", x, np.array([[1], [10]], np.float32), activation="relu")
    array([[ 1.,  0.,  3.],
           [10.,  0., 30.]], dtype=float32)

    Formula: SimdnetBinary.
    """
    try:
        number = _OPERATIONS[operation]
    except (KeyError, TypeError):
        known = " or ".join(repr(name) for name in _OPERATIONS if type(name) is str)
        raise ValueError(f"operation is {shown(operation)}, expected {known}") from None
    first, second = _operand(a, "a"), _operand(b, "b")
    shape = _shape_of(first, second)
    kind = kind_of(activation)
    if kind.activation == PRELU:
        raise ValueError("activation is 'prelu', expected one without per-channel parameters: use pysimd.prelu()")
    numbers = params_of(params, kind, 1)
    operands = sorted(((a, first, "a"), (b, second, "b")), key=lambda each: each[1].shape != shape)
    in_place = sum(each[1].shape == shape for each in operands)
    sources, names = [each[0] for each in operands], tuple(each[2] for each in operands)
    out, dst = output(out, shape, sources, names, in_place)
    held = {"a": pointer(first, "a", FLOAT32), "b": pointer(second, "b", FLOAT32), "dst": dst}
    arguments = ffi.new("SimdnetBinaryParameters *", held)
    arguments.size = ffi.sizeof("SimdnetBinaryParameters")
    arguments.operation, arguments.activation = number, kind.activation
    arguments.count, arguments.shape = len(shape), shape
    arguments.aShape = (1,) * (len(shape) - first.ndim) + first.shape
    arguments.bShape = (1,) * (len(shape) - second.ndim) + second.shape
    if kind.defaults:
        arguments.params[0 : len(kind.defaults)] = list(numbers)
    call_struct(lib.SimdnetBinary, arguments, held=held)
    return out


def subtract(a: Coefficients, b: Coefficients, *, out: FloatArray | None = None) -> FloatArray:
    """``a - b``.

    a, b, out : float32, contiguous, or one number as operand; ``out`` may be an operand of its shape.

    >>> pysimd.subtract(np.array([1, 2], np.float32), 3)
    array([-2., -1.], dtype=float32)

    Formula: SimdnetBinary.
    """
    return binary(BinaryOperation.SUBTRACT, a, b, out=out)


def multiply(a: Coefficients, b: Coefficients, *, out: FloatArray | None = None) -> FloatArray:
    """``a * b``, for example of an image and a factor for each channel of each image of a batch.

    a, b, out : float32, contiguous, or one number as operand; ``out`` may be an operand of its shape.

    >>> image, factors = np.ones((2, 3, 4, 4), np.float32), np.ones((2, 3, 1, 1), np.float32)
    >>> pysimd.multiply(image, factors).shape
    (2, 3, 4, 4)

    Formula: SimdnetBinary.
    """
    return binary(BinaryOperation.MULTIPLY, a, b, out=out)


def divide(a: Coefficients, b: Coefficients, *, out: FloatArray | None = None) -> FloatArray:
    """``a / b``.

    a, b, out : float32, contiguous, or one number as operand; ``out`` may be an operand of its shape.

    >>> pysimd.divide(1, np.array([2, 4], np.float32))
    array([0.5 , 0.25], dtype=float32)

    Formula: SimdnetBinary.
    """
    return binary(BinaryOperation.DIVIDE, a, b, out=out)


def maximum(a: Coefficients, b: Coefficients, *, out: FloatArray | None = None) -> FloatArray:
    """The larger one of two elements; NaN if one is NaN.

    a, b, out : float32, contiguous, or one number as operand; ``out`` may be an operand of its shape.

    >>> pysimd.maximum(np.array([1, 5, np.nan], np.float32), 3)
    array([ 3.,  5., nan], dtype=float32)

    Formula: SimdnetBinary.
    """
    return binary(BinaryOperation.MAXIMUM, a, b, out=out)


def minimum(a: Coefficients, b: Coefficients, *, out: FloatArray | None = None) -> FloatArray:
    """The smaller one of two elements; NaN if one is NaN.

    a, b, out : float32, contiguous, or one number as operand; ``out`` may be an operand of its shape.

    >>> pysimd.minimum(np.array([1, 5, np.nan], np.float32), 3)
    array([ 1.,  3., nan], dtype=float32)

    Formula: SimdnetBinary.
    """
    return binary(BinaryOperation.MINIMUM, a, b, out=out)


def power(a: Coefficients, b: Coefficients, *, out: FloatArray | None = None) -> FloatArray:
    """``a ** b``, with the special values of ``powf`` in C; at most 2 ULP of error.

    a, b, out : float32, contiguous, or one number as operand; ``out`` may be an operand of its shape.

    >>> pysimd.power(np.array([-2, 0, 4], np.float32), 3)
    array([-8.,  0., 64.], dtype=float32)

    Formula: SimdnetBinary.
    """
    return binary(BinaryOperation.POWER, a, b, out=out)
