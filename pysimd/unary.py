"""Unary operations: elementary functions of every element of an array.

x, out : float32 of any shape, contiguous; ``out`` may be ``x``. A NaN stays one.
"""

from __future__ import annotations

from typing import Any

from pysimd._arrays import Array, floats, output
from pysimd._library import lib
from pysimd.calls import call
from pysimd.enums import UnaryOperation

_OPERATIONS: dict[Any, int] = {key: int(u) for u in UnaryOperation for key in (u, u.name.lower())}


def unary(x: Array, operation: str | UnaryOperation, *, out: Array | None = None) -> Array:
    """One of the operations "abs", "exp", "log", "neg", "rsqrt", "sqrt", "tanh" and "zero".

    abs, neg, sqrt and zero are exact, the others within 2 ULP. Special values are those of NumPy: the logarithm of 0 is
    -inf, of less it is NaN. Formula: SimdSynetUnaryOperation32fLayerForward.
    """
    try:
        kind = _OPERATIONS[operation]
    except (KeyError, TypeError):
        names = ", ".join(repr(key) for key in _OPERATIONS if type(key) is str)
        raise ValueError(f"operation is {operation!r}, expected one of {names}") from None
    return _apply(kind, x, out)


def _apply(kind: int, x: Array, out: Array | None) -> Array:
    x, src = floats(x, "x")
    out, dst = output(out, x.shape, (x,), ("x",), 1)
    call(lib.SimdSynetUnaryOperation32fLayerForward, src, x.size, kind, dst)
    return out


def absolute(x: Array, *, out: Array | None = None) -> Array:
    """``|x|``."""
    return _apply(lib.SimdSynetUnaryOperation32fAbs, x, out)


def exp(x: Array, *, out: Array | None = None) -> Array:
    """``e ** x``, within 2 ULP, denormal results included."""
    return _apply(lib.SimdSynetUnaryOperation32fExp, x, out)


def log(x: Array, *, out: Array | None = None) -> Array:
    """The natural logarithm, within 2 ULP."""
    return _apply(lib.SimdSynetUnaryOperation32fLog, x, out)


def negative(x: Array, *, out: Array | None = None) -> Array:
    """``-x``."""
    return _apply(lib.SimdSynetUnaryOperation32fNeg, x, out)


def rsqrt(x: Array, *, out: Array | None = None) -> Array:
    """``1 / sqrt(x)``, within 2 ULP."""
    return _apply(lib.SimdSynetUnaryOperation32fRsqrt, x, out)


def sqrt(x: Array, *, out: Array | None = None) -> Array:
    """The square root, correctly rounded."""
    return _apply(lib.SimdSynetUnaryOperation32fSqrt, x, out)
