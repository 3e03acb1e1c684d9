"""Every name of simdnet.h, one to one: ``lowlevel.SimdSynetRelu32f(src, size, slope, dst)``.

Functions have the arguments and results of C, as cffi passes them: pointers are cffi objects (``ffi.from_buffer("float[]",
x)`` points into a NumPy array), enumerators are ints, types are those that ``ffi.new`` accepts. Only the library checks
arguments; call ``SimdnetLastErrorKind()`` after a call. ``ffi`` and ``lib`` are the cffi objects.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from pysimd._library import VERSION as SIMDNET_VERSION
from pysimd._library import ffi, lib

__all__ = ["SIMDNET_VERSION", "ffi", "lib"]  # and all names of dir()


def __getattr__(name: str) -> Any:
    if name.startswith("Simd"):
        with suppress(AttributeError):
            return getattr(lib, name)
        import cffi  # here, as it is not needed if the declarations were parsed when the package was built

        with suppress(getattr(ffi, "error", cffi.FFIError), cffi.FFIError, cffi.CDefError):
            return ffi.typeof(name)
    raise AttributeError(f"simdnet.h has no {name}")


def __dir__() -> list[str]:
    return sorted({*__all__, *dir(lib)})
