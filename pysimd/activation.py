"""Activations: element-wise functions.

x, out : float32 of any shape, contiguous; ``out`` may be ``x``. Both may also be channel slices of larger arrays,
``big[..., 3:19]``. Parameters are numbers, rounded to float32. NaN propagates.

Raises TypeError for another dtype, ValueError for an array that is not contiguous and for an `out` of another shape.
"""

from __future__ import annotations

from math import inf
from typing import Any

from pysimd._arrays import floats, output
from pysimd._library import ffi, lib
from pysimd._pixels import FUNCTIONS, has_gaps, pixelwise
from pysimd.annotations import FloatArray, Floats
from pysimd.calls import call


def _activate(function: Any, x: Floats, out: FloatArray | None, *parameters: Any) -> FloatArray:
    """parameters : each a tuple of one number or a C array of it."""
    try:
        array, src = floats(x, "x")
        out, dst = output(out, array.shape, (x,), ("x",), 1)
    except ValueError:
        if not has_gaps(x, out):
            raise
        return pixelwise(_PIXELWISE[function], (x,), ("x",), out, parameters)
    call(function, src, array.size, *parameters, dst)
    return out


_PIXELWISE: dict[Any, int] = {
    getattr(lib, f"SimdSynet{name}32f"): number for name, number in FUNCTIONS.items() if hasattr(lib, f"SimdSynet{name}32f")
}
_ZERO, _SIX, _INFINITY = ffi.new("float[]", [0.0]), ffi.new("float[]", [6.0]), ffi.new("float[]", [inf])


def relu(x: Floats, *, slope: float = 0.0, out: FloatArray | None = None) -> FloatArray:
    """``max(0, x) + slope * min(0, x)``; with slope 0, the default, ``max(0, x)``.

    x, out : float32 of any shape, contiguous; ``out`` may be ``x``.

    ``relu(x)`` of -inf is 0. The formula with slope 0 contains ``0 * -inf``, and SimdSynetRelu32f returns NaN.

    >>> pysimd.relu(np.array([-2, 0, 3], np.float32))
    array([0., 0., 3.], dtype=float32)

    Formula: SimdSynetRelu32f; for slope 0 SimdSynetRestrictRange32f from 0 to infinity.
    """
    if slope == 0:
        return _activate(lib.SimdSynetRestrictRange32f, x, out, _ZERO, _INFINITY)
    return _activate(lib.SimdSynetRelu32f, x, out, (slope,))


def leaky_relu(x: Floats, *, slope: float = 0.01, out: FloatArray | None = None) -> FloatArray:
    """``max(0, x) + slope * min(0, x)``: :func:`relu` with the default slope of PyTorch and ONNX.

    x, out : float32 of any shape, contiguous; ``out`` may be ``x``.

    >>> pysimd.leaky_relu(np.array([-2, 0, 3], np.float32), slope=0.25)
    array([-0.5,  0. ,  3. ], dtype=float32)

    Formula: SimdSynetRelu32f.
    """
    return relu(x, slope=slope, out=out)


def relu6(x: Floats, *, out: FloatArray | None = None) -> FloatArray:
    """``min(max(0, x), 6)``: :func:`restrict_range` from 0 to 6.

    x, out : float32 of any shape, contiguous; ``out`` may be ``x``.

    >>> pysimd.relu6(np.array([-2, 3, 8], np.float32))
    array([0., 3., 6.], dtype=float32)

    Formula: SimdSynetRestrictRange32f.
    """
    return _activate(lib.SimdSynetRestrictRange32f, x, out, _ZERO, _SIX)


def elu(x: Floats, *, alpha: float = 1.0, out: FloatArray | None = None) -> FloatArray:
    """``x`` where it is at least 0, else ``alpha * (exp(x) - 1)``; at most 2 ULP of error.

    x, out : float32 of any shape, contiguous; ``out`` may be ``x``.

    >>> pysimd.elu(np.array([-np.inf, 0, 3], np.float32), alpha=2)
    array([-2.,  0.,  3.], dtype=float32)

    Formula: SimdSynetElu32f.
    """
    return _activate(lib.SimdSynetElu32f, x, out, (alpha,))


def hswish(x: Floats, *, shift: float = 3.0, scale: float = 1 / 6, out: FloatArray | None = None) -> FloatArray:
    """``max(min(x, shift) + shift, 0) * scale * x`` (arXiv:1905.02244). ``hardswish`` is an alias.

    x, out : float32 of any shape, contiguous; ``out`` may be ``x``.

    >>> pysimd.hswish(np.array([-4, 0, 3], np.float32), scale=0.5)
    array([-0.,  0.,  9.], dtype=float32)

    Formula: SimdSynetHswish32f.
    """
    return _activate(lib.SimdSynetHswish32f, x, out, (shift,), (scale,))


hardswish = hswish


def restrict_range(
    x: Floats, lower: float | None = None, upper: float | None = None, *, out: FloatArray | None = None
) -> FloatArray:
    """``min(max(lower, x), upper)``, as np.clip does; `upper` where `lower` is above it.

    x, out : float32 of any shape, contiguous; ``out`` may be ``x``.
    lower, upper : None for no limit.

    >>> pysimd.restrict_range(np.array([-2, 0, 3], np.float32), -1, 2)
    array([-1.,  0.,  2.], dtype=float32)
    >>> pysimd.restrict_range(np.array([-2, 0, 3], np.float32), upper=2)
    array([-2.,  0.,  2.], dtype=float32)

    Formula: SimdSynetRestrictRange32f.
    """
    least, most = -inf if lower is None else lower, inf if upper is None else upper
    return _activate(lib.SimdSynetRestrictRange32f, x, out, (least,), (most,))


def sigmoid(x: Floats, *, slope: float = 1.0, out: FloatArray | None = None) -> FloatArray:
    """``1 / (1 + exp(-slope * x))``; at most 2 ULP of error at ``slope * x`` in float32.

    x, out : float32 of any shape, contiguous; ``out`` may be ``x``.

    >>> pysimd.sigmoid(np.array([-np.inf, 0, np.inf], np.float32))
    array([0. , 0.5, 1. ], dtype=float32)

    Formula: SimdSynetSigmoid32f.
    """
    return _activate(lib.SimdSynetSigmoid32f, x, out, (slope,))


def softplus(x: Floats, *, beta: float = 1.0, threshold: float = 20.0, out: FloatArray | None = None) -> FloatArray:
    """``x`` above `threshold`, else ``log(1 + exp(beta * x)) / beta``; at most 2 ULP of error at ``beta * x`` in float32.

    x, out : float32 of any shape, contiguous; ``out`` may be ``x``.

    >>> pysimd.softplus(np.array([-np.inf, 30], np.float32))
    array([ 0., 30.], dtype=float32)

    Formula: SimdSynetSoftplus32f.
    """
    return _activate(lib.SimdSynetSoftplus32f, x, out, (beta,), (threshold,))


def tanh(x: Floats, *, slope: float = 1.0, out: FloatArray | None = None) -> FloatArray:
    """``tanh(slope * x)``; at most 2 ULP of error at ``slope * x`` in float32.

    x, out : float32 of any shape, contiguous; ``out`` may be ``x``.

    >>> np.round(pysimd.tanh(np.array([-9, 0, 9], np.float32)), 3)
    array([-1.,  0.,  1.], dtype=float32)

    Formula: SimdSynetTanh32f.
    """
    return _activate(lib.SimdSynetTanh32f, x, out, (slope,))


def swish(x: Floats, *, slope: float = 1.0, out: FloatArray | None = None) -> FloatArray:
    """``x / (1 + exp(-slope * x))`` (arXiv:1710.05941); at most 3 ULP of error. ``silu`` is an alias.

    x, out : float32 of any shape, contiguous; ``out`` may be ``x``.

    -inf gives NaN, as the formula does.

    >>> pysimd.swish(np.array([-200, 0, 30], np.float32))
    array([-0.,  0., 30.], dtype=float32)

    Formula: SimdSynetSwish32f.
    """
    return _activate(lib.SimdSynetSwish32f, x, out, (slope,))


silu = swish


def mish(x: Floats, *, threshold: float = 20.0, out: FloatArray | None = None) -> FloatArray:
    """``x`` above `threshold`, else ``x * tanh(log(1 + exp(x)))`` (arXiv:1908.08681); at most 5 ULP of error.

    x, out : float32 of any shape, contiguous; ``out`` may be ``x``.

    -inf gives NaN, as the formula does.

    >>> pysimd.mish(np.array([-200, 0, 30], np.float32))
    array([-0.,  0., 30.], dtype=float32)

    Formula: SimdSynetMish32f.
    """
    return _activate(lib.SimdSynetMish32f, x, out, (threshold,))


def hard_sigmoid(x: Floats, *, scale: float = 1 / 6, shift: float = 0.5, out: FloatArray | None = None) -> FloatArray:
    """``max(0, min(x * scale + shift, 1))``. ``hardsigmoid`` is an alias; the default scale of ONNX is 0.2.

    x, out : float32 of any shape, contiguous; ``out`` may be ``x``.

    >>> pysimd.hard_sigmoid(np.array([-3, 0, 3], np.float32))
    array([0. , 0.5, 1. ], dtype=float32)

    Formula: SimdSynetHardSigmoid32f.
    """
    return _activate(lib.SimdSynetHardSigmoid32f, x, out, (scale,), (shift,))


hardsigmoid = hard_sigmoid


def gelu(x: Floats, *, out: FloatArray | None = None) -> FloatArray:
    """``x * (1 + erf(x / sqrt(2))) / 2`` (arXiv:1606.08415); at most 4 ULP of error.

    x, out : float32 of any shape, contiguous; ``out`` may be ``x``.

    This is the exact form, not the approximation by tanh. -inf gives NaN, as the formula does.

    >>> pysimd.gelu(np.array([-20, 0, 20], np.float32))
    array([-0.,  0., 20.], dtype=float32)

    Formula: SimdSynetGelu32f.
    """
    return _activate(lib.SimdSynetGelu32f, x, out)
