"""Support for threadpoolctl, where that is installed."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

_registered_with: ModuleType | None = None


def register_threadpoolctl() -> bool:
    """Registers the library with threadpoolctl; False where threadpoolctl is not installed, or older than 3.2, which
    supports no other libraries than its own.

    Afterwards ``threadpoolctl.threadpool_info()`` has an entry whose ``internal_api`` is "simdnet", and
    ``threadpoolctl.threadpool_limits()`` sets its number of threads, too. Importing pysimd calls this function if
    threadpoolctl has been imported before, and only then, since it would slow down every other import.

    >>> pysimd.register_threadpoolctl() in (True, False)
    True
    """
    global _registered_with
    try:
        import threadpoolctl
    except ImportError:
        return False
    if not hasattr(threadpoolctl, "register"):
        return False
    if threadpoolctl is not _registered_with:
        threadpoolctl.register(_controller(threadpoolctl.LibController))
        _registered_with = threadpoolctl
    return True


def _controller(base: Any) -> Any:
    import ctypes

    class SimdnetController(base):  # type: ignore[misc]
        """The library for threadpoolctl."""

        user_api = "simdnet"
        internal_api = "simdnet"
        filename_prefixes = ("libsimdnet", "simdnet")
        check_symbols = ("SimdGetThreadNumber", "SimdSetThreadNumber", "SimdnetActiveIsa")

        def get_num_threads(self) -> int:
            self.dynlib.SimdGetThreadNumber.restype = ctypes.c_size_t
            return int(self.dynlib.SimdGetThreadNumber())

        def set_num_threads(self, num_threads: int) -> None:
            self.dynlib.SimdSetThreadNumber(ctypes.c_size_t(num_threads))

        def get_version(self) -> str:
            return self._text("SimdVersion")

        def set_additional_attributes(self) -> None:
            self.threading_layer = "windows" if sys.platform == "win32" else "pthreads"
            self.architecture = self._text("SimdnetActiveIsa")

        def _text(self, name: str) -> str:
            function = getattr(self.dynlib, name)
            function.restype = ctypes.c_char_p
            return str(function().decode("ascii"))

    return SimdnetController
