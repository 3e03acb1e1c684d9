"""Unary operations: elementary functions of every element of an array.

x, out : float32 of any shape, contiguous; ``out`` may be ``x``. Both may also be some channels of larger arrays,
``big[..., 3:19]``. NaN propagates.
"""

from __future__ import annotations

from typing import Any, Literal, Union

from pysimd._arrays import floats, output
from pysimd._library import lib
from pysimd._pixels import has_gaps, pixelwise
from pysimd.annotations import FloatArray, Floats
from pysimd.calls import call
from pysimd.enums import UnaryOperation
from pysimd.errors import shown

_OPERATIONS: dict[Any, int] = {key: int(u) for u in UnaryOperation for key in (u, u.name.lower())}
_OPERATIONS.update(absolute=int(UnaryOperation.ABS), negative=int(UnaryOperation.NEG))  # as the functions are called
_PIXELWISE = {
    UnaryOperation.ABS: lib.SimdnetPixelwiseAbs,
    UnaryOperation.EXP: lib.SimdnetPixelwiseExp,
    UnaryOperation.LOG: lib.SimdnetPixelwiseLog,
    UnaryOperation.NEG: lib.SimdnetPixelwiseNeg,
    UnaryOperation.RSQRT: lib.SimdnetPixelwiseRsqrt,
    UnaryOperation.SQRT: lib.SimdnetPixelwiseSqrt,
    UnaryOperation.TANH: lib.SimdnetPixelwiseTanh,
    UnaryOperation.ZERO: lib.SimdnetPixelwiseZero,
}

Operation = Union[
    Literal["abs", "absolute", "exp", "log", "neg", "negative", "rsqrt", "sqrt", "tanh", "zero"], UnaryOperation
]


def unary(x: Floats, operation: Operation, *, out: FloatArray | None = None) -> FloatArray:
    """One of the operations "abs", "exp", "log", "neg", "rsqrt", "sqrt", "tanh" and "zero".

    x, out : float32 of any shape, contiguous; ``out`` may be ``x``.
    operation : a name or a :class:`UnaryOperation`; "absolute" and "negative" are accepted as well.

    abs, neg, sqrt and zero are exact, the others have an error of at most 2 ULP. Special values are those of NumPy: the
    logarithm of 0 is -inf, of a negative number NaN. Raises ValueError for another operation.

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
