"""Unary operations: element-wise elementary functions.

x, out : float32 of any shape, contiguous; ``out`` may be ``x``. Both may also be channel slices of larger arrays,
``big[..., 3:19]``. NaN propagates.
"""

from __future__ import annotations

from typing import Any, Literal, Union

from pysimd._arrays import floats, output
from pysimd._library import ffi, lib
from pysimd._pixels import FUNCTIONS, has_gaps, pixelwise
from pysimd.annotations import FloatArray, Floats
from pysimd.calls import call, call_struct
from pysimd.enums import UnaryOperation
from pysimd.errors import shown

_OPERATIONS: dict[Any, int] = {key: int(u) for u in UnaryOperation for key in (u, u.name.lower())}
_OPERATIONS.update(  # as the functions are called
    absolute=int(UnaryOperation.ABS),
    negative=int(UnaryOperation.NEG),
    reciprocal=int(UnaryOperation.RCP),
    rint=int(UnaryOperation.ROUND),
)
_SIZE = ffi.sizeof("SimdnetPixelwiseParameters")
_PIXELWISE = {operation: FUNCTIONS[operation.name.capitalize()] for operation in UnaryOperation}

Operation = Union[
    Literal[
        "abs",
        "absolute",
        "ceil",
        "cos",
        "erf",
        "exp",
        "floor",
        "log",
        "neg",
        "negative",
        "not",
        "rcp",
        "reciprocal",
        "rint",
        "round",
        "rsqrt",
        "sign",
        "sin",
        "sqrt",
        "tanh",
        "zero",
    ],
    UnaryOperation,
]


def unary(x: Floats, operation: Operation, *, out: FloatArray | None = None) -> FloatArray:
    """One of the operations abs, ceil, cos, erf, exp, floor, log, neg, not, rcp, round, rsqrt, sign, sin, sqrt, tanh, zero.

    x, out : float32 of any shape, contiguous; ``out`` may be ``x``.
    operation : a name or a :class:`UnaryOperation`; "absolute", "negative", "reciprocal" and "rint" are
        accepted as well.

    cos, erf, exp, log, rsqrt, sin and tanh have an error of at most 2 ULP, the others are correctly rounded; not is the
    complement of the 32 bits, and round rounds ties to even. Special values are those of NumPy: the logarithm of 0 is -inf,
    of a negative number NaN. Raises ValueError for another operation.

    >>> pysimd.unary(np.array([-4, 4], np.float32), "abs")
    array([4., 4.], dtype=float32)

    Formula: SimdSynetUnaryOperation32fLayerForward.
    """
    try:
        kind = _OPERATIONS[operation]
    except (KeyError, TypeError):
        names = ", ".join(repr(key) for key in _OPERATIONS if type(key) is str)
        raise ValueError(f"operation is {shown(operation)}, expected one of {names}") from None
    return _apply(kind, x, out)


def _apply(kind: int, x: Floats, out: FloatArray | None) -> FloatArray:
    try:
        array, src = floats(x, "x")
        out, dst = output(out, array.shape, (x,), ("x",), 1)
    except ValueError:
        if not has_gaps(x, out):
            raise
        return pixelwise(_PIXELWISE[UnaryOperation(kind)], (x,), ("x",), out, ((1,),))
    call(lib.SimdSynetUnaryOperation32fLayerForward, src, array.size, kind, dst)
    return out


def absolute(x: Floats, *, out: FloatArray | None = None) -> FloatArray:
    """``|x|``.

    x, out : float32 of any shape, contiguous; ``out`` may be ``x``.

    >>> pysimd.absolute(np.array([-4, 4], np.float32))
    array([4., 4.], dtype=float32)

    Formula: SimdSynetUnaryOperation32fLayerForward.
    """
    return _apply(lib.SimdSynetUnaryOperation32fAbs, x, out)


def exp(x: Floats, *, out: FloatArray | None = None) -> FloatArray:
    """``e ** x``; at most 2 ULP of error, also for subnormal results.

    x, out : float32 of any shape, contiguous; ``out`` may be ``x``.

    >>> pysimd.exp(np.array([-np.inf, 0], np.float32))
    array([0., 1.], dtype=float32)

    Formula: SimdSynetUnaryOperation32fLayerForward.
    """
    return _apply(lib.SimdSynetUnaryOperation32fExp, x, out)


def log(x: Floats, *, out: FloatArray | None = None) -> FloatArray:
    """The natural logarithm; at most 2 ULP of error.

    x, out : float32 of any shape, contiguous; ``out`` may be ``x``.

    >>> pysimd.log(np.array([0, 1], np.float32))
    array([-inf,   0.], dtype=float32)

    Formula: SimdSynetUnaryOperation32fLayerForward.
    """
    return _apply(lib.SimdSynetUnaryOperation32fLog, x, out)


def negative(x: Floats, *, out: FloatArray | None = None) -> FloatArray:
    """``-x``.

    x, out : float32 of any shape, contiguous; ``out`` may be ``x``.

    >>> pysimd.negative(np.array([-4, 4], np.float32))
    array([ 4., -4.], dtype=float32)

    Formula: SimdSynetUnaryOperation32fLayerForward.
    """
    return _apply(lib.SimdSynetUnaryOperation32fNeg, x, out)


def rsqrt(x: Floats, *, out: FloatArray | None = None) -> FloatArray:
    """``1 / sqrt(x)``; at most 2 ULP of error.

    x, out : float32 of any shape, contiguous; ``out`` may be ``x``.

    >>> pysimd.rsqrt(np.array([4, np.inf], np.float32))
    array([0.5, 0. ], dtype=float32)

    Formula: SimdSynetUnaryOperation32fLayerForward.
    """
    return _apply(lib.SimdSynetUnaryOperation32fRsqrt, x, out)


def sqrt(x: Floats, *, out: FloatArray | None = None) -> FloatArray:
    """The square root, correctly rounded.

    x, out : float32 of any shape, contiguous; ``out`` may be ``x``.

    >>> pysimd.sqrt(np.array([4, 9], np.float32))
    array([2., 3.], dtype=float32)

    Formula: SimdSynetUnaryOperation32fLayerForward.
    """
    return _apply(lib.SimdSynetUnaryOperation32fSqrt, x, out)


def ceil(x: Floats, *, out: FloatArray | None = None) -> FloatArray:
    """The smallest integer that is at least ``x``.

    x, out : float32 of any shape, contiguous; ``out`` may be ``x``.

    >>> pysimd.ceil(np.array([-0.5, 1.5], np.float32))
    array([-0.,  2.], dtype=float32)

    Formula: SimdSynetUnaryOperation32fLayerForward.
    """
    return _apply(lib.SimdSynetUnaryOperation32fCeil, x, out)


def cos(x: Floats, *, out: FloatArray | None = None) -> FloatArray:
    """The cosine; at most 2 ULP of error, for angles of any size.

    x, out : float32 of any shape, contiguous; ``out`` may be ``x``.

    >>> pysimd.cos(np.array([0, np.inf], np.float32))
    array([ 1., nan], dtype=float32)

    Formula: SimdSynetUnaryOperation32fLayerForward.
    """
    return _apply(lib.SimdSynetUnaryOperation32fCos, x, out)


def erf(x: Floats, *, out: FloatArray | None = None) -> FloatArray:
    """The error function; at most 2 ULP of error.

    x, out : float32 of any shape, contiguous; ``out`` may be ``x``.

    >>> pysimd.erf(np.array([-np.inf, 0, 4], np.float32))
    array([-1.,  0.,  1.], dtype=float32)

    Formula: SimdSynetUnaryOperation32fLayerForward.
    """
    return _apply(lib.SimdSynetUnaryOperation32fErf, x, out)


def floor(x: Floats, *, out: FloatArray | None = None) -> FloatArray:
    """The largest integer that is at most ``x``.

    x, out : float32 of any shape, contiguous; ``out`` may be ``x``.

    >>> pysimd.floor(np.array([-0.5, 1.5], np.float32))
    array([-1.,  1.], dtype=float32)

    Formula: SimdSynetUnaryOperation32fLayerForward.
    """
    return _apply(lib.SimdSynetUnaryOperation32fFloor, x, out)


def reciprocal(x: Floats, *, out: FloatArray | None = None) -> FloatArray:
    """``1 / x``, correctly rounded.

    x, out : float32 of any shape, contiguous; ``out`` may be ``x``.

    >>> pysimd.reciprocal(np.array([0, 4], np.float32))
    array([ inf, 0.25], dtype=float32)

    Formula: SimdSynetUnaryOperation32fLayerForward.
    """
    return _apply(lib.SimdSynetUnaryOperation32fRcp, x, out)


def rint(x: Floats, *, out: FloatArray | None = None) -> FloatArray:
    """The nearest integer, ties to even.

    x, out : float32 of any shape, contiguous; ``out`` may be ``x``.

    >>> pysimd.rint(np.array([0.5, 1.5, 2.7], np.float32))
    array([0., 2., 3.], dtype=float32)

    Formula: SimdSynetUnaryOperation32fLayerForward.
    """
    return _apply(lib.SimdSynetUnaryOperation32fRound, x, out)


def sign(x: Floats, *, out: FloatArray | None = None) -> FloatArray:
    """-1 or 1; 0 of either sign and NaN as they are.

    x, out : float32 of any shape, contiguous; ``out`` may be ``x``.

    >>> pysimd.sign(np.array([-4, 0, 4], np.float32))
    array([-1.,  0.,  1.], dtype=float32)

    Formula: SimdSynetUnaryOperation32fLayerForward.
    """
    return _apply(lib.SimdSynetUnaryOperation32fSign, x, out)


def sin(x: Floats, *, out: FloatArray | None = None) -> FloatArray:
    """The sine; at most 2 ULP of error, for angles of any size.

    x, out : float32 of any shape, contiguous; ``out`` may be ``x``.

    >>> pysimd.sin(np.array([0, np.inf], np.float32))
    array([ 0., nan], dtype=float32)

    Formula: SimdSynetUnaryOperation32fLayerForward.
    """
    return _apply(lib.SimdSynetUnaryOperation32fSin, x, out)


# ---- angles, hyperbolic functions and the inverses of both


def _of_angles(function: str, x: Floats, out: FloatArray | None) -> FloatArray:
    number = FUNCTIONS[function]
    try:
        array, src = floats(x, "x")
        out, dst = output(out, array.shape, (x,), ("x",), 1)
    except ValueError:
        if not has_gaps(x, out):
            raise
        return pixelwise(number, (x,), ("x",), out)
    line = {"size": _SIZE, "function": number, "src": src, "dst": dst, "channels": array.size, "pixels": 1}
    arguments = ffi.new("SimdnetPixelwiseParameters *", line)
    call_struct(lib.SimdnetPixelwise, arguments, held=(src, dst, out))
    return out


def arccos(x: Floats, *, out: FloatArray | None = None) -> FloatArray:
    """The angle whose cosine is ``x``, from 0 to pi; NaN beyond -1 and 1; at most 4 ULP of error.

    x, out : float32 of any shape, contiguous; ``out`` may be ``x``.

    >>> pysimd.arccos(np.array([-1, 0, 1], np.float32))
    array([3.1415927, 1.5707964, 0.       ], dtype=float32)

    Formula: SimdnetPixelwise.
    """
    return _of_angles("Acos", x, out)


def arccosh(x: Floats, *, out: FloatArray | None = None) -> FloatArray:
    """The inverse hyperbolic cosine; NaN below 1; at most 4 ULP of error.

    x, out : float32 of any shape, contiguous; ``out`` may be ``x``.

    >>> pysimd.arccosh(np.array([1, np.inf], np.float32))
    array([ 0., inf], dtype=float32)

    Formula: SimdnetPixelwise.
    """
    return _of_angles("Acosh", x, out)


def arcsin(x: Floats, *, out: FloatArray | None = None) -> FloatArray:
    """The angle whose sine is ``x``, from -pi / 2 to pi / 2; NaN beyond -1 and 1; at most 4 ULP of error.

    x, out : float32 of any shape, contiguous; ``out`` may be ``x``.

    >>> pysimd.arcsin(np.array([-1, 0, 1], np.float32))
    array([-1.5707964,  0.       ,  1.5707964], dtype=float32)

    Formula: SimdnetPixelwise.
    """
    return _of_angles("Asin", x, out)


def arcsinh(x: Floats, *, out: FloatArray | None = None) -> FloatArray:
    """The inverse hyperbolic sine; at most 4 ULP of error.

    x, out : float32 of any shape, contiguous; ``out`` may be ``x``.

    >>> pysimd.arcsinh(np.array([0, np.inf], np.float32))
    array([ 0., inf], dtype=float32)

    Formula: SimdnetPixelwise.
    """
    return _of_angles("Asinh", x, out)


def arctan(x: Floats, *, out: FloatArray | None = None) -> FloatArray:
    """The angle whose tangent is ``x``, from -pi / 2 to pi / 2; at most 4 ULP of error.

    x, out : float32 of any shape, contiguous; ``out`` may be ``x``.

    >>> pysimd.arctan(np.array([0, 1, np.inf], np.float32))
    array([0.       , 0.7853982, 1.5707964], dtype=float32)

    Formula: SimdnetPixelwise.
    """
    return _of_angles("Atan", x, out)


def arctanh(x: Floats, *, out: FloatArray | None = None) -> FloatArray:
    """The inverse hyperbolic tangent; infinite at -1 and 1, NaN beyond them; at most 4 ULP of error.

    x, out : float32 of any shape, contiguous; ``out`` may be ``x``.

    >>> pysimd.arctanh(np.array([0, 1], np.float32))
    array([ 0., inf], dtype=float32)

    Formula: SimdnetPixelwise.
    """
    return _of_angles("Atanh", x, out)


def cosh(x: Floats, *, out: FloatArray | None = None) -> FloatArray:
    """The hyperbolic cosine; at most 4 ULP of error.

    x, out : float32 of any shape, contiguous; ``out`` may be ``x``.

    >>> pysimd.cosh(np.array([0, np.inf], np.float32))
    array([ 1., inf], dtype=float32)

    Formula: SimdnetPixelwise.
    """
    return _of_angles("Cosh", x, out)


def sinh(x: Floats, *, out: FloatArray | None = None) -> FloatArray:
    """The hyperbolic sine; at most 4 ULP of error.

    x, out : float32 of any shape, contiguous; ``out`` may be ``x``.

    >>> pysimd.sinh(np.array([0, -np.inf], np.float32))
    array([  0., -inf], dtype=float32)

    Formula: SimdnetPixelwise.
    """
    return _of_angles("Sinh", x, out)


def tan(x: Floats, *, out: FloatArray | None = None) -> FloatArray:
    """The tangent, for angles of any size; at most 4 ULP of error.

    x, out : float32 of any shape, contiguous; ``out`` may be ``x``.

    >>> pysimd.tan(np.array([0, np.inf], np.float32))
    array([ 0., nan], dtype=float32)

    Formula: SimdnetPixelwise.
    """
    return _of_angles("Tan", x, out)
