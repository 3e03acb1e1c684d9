"""The overhead of Python per call: functions of the package on 16 floats, with ``out=``, and the C functions they call.

The time of a row is what remains when the time of the C function, called through cffi with prepared arguments, is
subtracted. Nothing is subtracted from a prepared call.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Callable, NamedTuple

import numpy as np

import pysimd
from pysimd._library import ffi, lib

_Call = Callable[[], Any]

# Aims in microseconds: the overhead of a call, and the total time of a prepared one.
AIM, PREPARED_AIM = 2.0, 0.6


class Row(NamedTuple):
    """A row of the table: a name, the timed call, the subtracted call, and the aim in microseconds."""

    name: str
    call: _Call
    empty: _Call | None
    aim_us: float


def _at(array: np.ndarray, ctype: str = "float *") -> Any:
    return ffi.cast(ctype, array.ctypes.data)


def _made() -> Iterator[tuple[str, _Call, _Call, pysimd.Prepared[Any]]]:
    """Name, the call from Python, the call through cffi, and the prepared call."""
    x, y, z, matrix = (np.ones((4, 4), np.float32) for _ in range(4))
    a, b, c = (np.ones(4, np.float32) for _ in range(3))
    px, py, pz, pm, pa, pb, pc = (_at(array) for array in (x, y, z, matrix, a, b, c))
    form, slope, three = lib.SimdTensorFormatNhwc, ffi.new("float[1]"), ffi.new("float *[]", [px, pz])
    yield (
        "relu(x)",
        lambda: pysimd.relu(x, out=y),
        lambda: lib.SimdSynetRelu32f(px, 16, slope, py),
        pysimd.prepare(pysimd.relu, x, out=y),
    )
    yield (
        "prelu(x, slope)",
        lambda: pysimd.prelu(x, a, out=y),
        lambda: lib.SimdSynetPreluLayerForward(px, pa, 4, 4, py, form),
        pysimd.prepare(pysimd.prelu, x, a, out=y),
    )
    yield (
        "scale(x, scale, bias)",
        lambda: pysimd.scale(x, a, b, out=y),
        lambda: lib.SimdSynetScaleLayerForward(px, pa, pb, 4, 4, py, form),
        pysimd.prepare(pysimd.scale, x, a, b, out=y),
    )
    yield (
        "eltwise([x, z], max)",
        lambda: pysimd.eltwise((x, z), "max", out=y),
        lambda: lib.SimdSynetEltwiseLayerForward(three, ffi.NULL, 2, 16, lib.SimdSynetEltwiseOperationMax, py),
        pysimd.prepare(pysimd.eltwise, (x, z), "max", out=y),
    )
    yield (
        "inner_product(x, w, b)",
        lambda: pysimd.inner_product(a, matrix, b, out=c),
        lambda: lib.SimdSynetInnerProductLayerForward(pa, pm, pb, 4, 4, pc),
        pysimd.prepare(pysimd.inner_product, a, matrix, b, out=c),
    )
    add = pysimd.Add16b(x.shape)
    handles = add._handle, *(_at(array, "uint8_t *") for array in (x, z, y))
    yield (
        "Add16b(a, b)",
        lambda: add(x, z, out=y),
        lambda: lib.SimdSynetAdd16bForward(*handles),
        add.prepare(x, z, out=y),
    )
    image, to = np.ones((2, 2, 4), np.float32), np.ones((2, 2, 4), np.float32)
    convolution = pysimd.Convolution32f(image.shape, 4, kernel=1)
    convolution.set_params(np.ones((1, 1, 4, 4), np.float32))
    four = convolution._handle, _at(image), ffi.NULL, _at(to)
    yield (
        "Convolution32f(x)",
        lambda: convolution(image, out=to),
        lambda: lib.SimdSynetConvolution32fForward(*four),
        convolution.prepare(image, out=to),
    )


def rows() -> Iterator[Row]:
    """Every row; the closures keep the arrays."""
    for name, python, c, prepared in _made():
        yield Row(name, python, c, AIM)
        yield Row(f"prepared {name}", prepared, None, PREPARED_AIM)
