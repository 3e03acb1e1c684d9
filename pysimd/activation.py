"""Activations: functions of every element of an array.

x, out : float32 of any shape, contiguous; ``out`` may be ``x``. Parameters are numbers, rounded to float32. A NaN stays one.
"""

from __future__ import annotations

from math import inf
from typing import Any

from pysimd._arrays import Array, floats, output
from pysimd._library import ffi, lib
from pysimd.calls import call


def _activate(function: Any, x: Array, out: Array | None, first: Any, second: Any = None) -> Array:
    """first, second : parameters, each a tuple of one number or a C array of it."""
    x, src = floats(x, "x")
    out, dst = output(out, x.shape, (x,), ("x",), 1)
    if second is None:
        call(function, src, x.size, first, dst)
    else:
        call(function, src, x.size, first, second, dst)
    return out


_ZERO, _INFINITY = ffi.new("float[]", [0.0]), ffi.new("float[]", [inf])


def relu(x: Array, *, slope: float = 0.0, out: Array | None = None) -> Array:
    """``max(0, x) + slope * min(0, x)``; without a slope, or with slope 0, ``max(0, x)``.

    So ``relu(x)`` of -inf is 0, where the formula with slope 0 has ``0 * -inf``, NaN, as SimdSynetRelu32f gives it.

    Formula: SimdSynetRelu32f; for slope 0 SimdSynetRestrictRange32f from 0 to infinity.
    """
    if slope == 0:
        return _activate(lib.SimdSynetRestrictRange32f, x, out, _ZERO, _INFINITY)
    return _activate(lib.SimdSynetRelu32f, x, out, (slope,))


def elu(x: Array, *, alpha: float = 1.0, out: Array | None = None) -> Array:
    """``x`` where it is at least 0, else ``alpha * (exp(x) - 1)``, within 2 ULP. Formula: SimdSynetElu32f."""
    return _activate(lib.SimdSynetElu32f, x, out, (alpha,))


def hswish(x: Array, *, shift: float = 3.0, scale: float = 1 / 6, out: Array | None = None) -> Array:
    """``max(min(x, shift) + shift, 0) * scale * x`` (arXiv:1905.02244). Formula: SimdSynetHswish32f."""
    return _activate(lib.SimdSynetHswish32f, x, out, (shift,), (scale,))


def restrict_range(x: Array, lower: float, upper: float, *, out: Array | None = None) -> Array:
    """``min(max(lower, x), upper)``; `upper` where `lower` is above it. Formula: SimdSynetRestrictRange32f."""
    return _activate(lib.SimdSynetRestrictRange32f, x, out, (lower,), (upper,))


def sigmoid(x: Array, *, slope: float = 1.0, out: Array | None = None) -> Array:
    """``1 / (1 + exp(-slope * x))``, within 2 ULP at ``slope * x`` in float32. Formula: SimdSynetSigmoid32f."""
    return _activate(lib.SimdSynetSigmoid32f, x, out, (slope,))


def softplus(x: Array, *, beta: float = 1.0, threshold: float = 20.0, out: Array | None = None) -> Array:
    """``x`` above `threshold`, else ``log(1 + exp(beta * x)) / beta``, within 2 ULP at ``beta * x`` in float32.

    Formula: SimdSynetSoftplus32f.
    """
    return _activate(lib.SimdSynetSoftplus32f, x, out, (beta,), (threshold,))


def tanh(x: Array, *, slope: float = 1.0, out: Array | None = None) -> Array:
    """``tanh(slope * x)``, within 2 ULP at ``slope * x`` in float32. Formula: SimdSynetTanh32f."""
    return _activate(lib.SimdSynetTanh32f, x, out, (slope,))
