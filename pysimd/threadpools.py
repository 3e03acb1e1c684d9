"""What shows the library to threadpoolctl, where that is installed."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

_registered_with: ModuleType | None = None


def register_threadpoolctl() -> bool:
    """Makes the library one of those that threadpoolctl tells about and limits; False where threadpoolctl is not installed,
    or is one before 3.2, which takes no libraries but its own.

    After it ``threadpoolctl.threadpool_info()`` has an entry whose ``internal_api`` is "simdnet", and
    ``threadpoolctl.threadpool_limits()`` sets its number of threads as it does those of other libraries. Importing pysimd
    does this by itself when threadpoolctl has been imported before, and only then, since it would slow every other import.
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
        """The library as threadpoolctl sees it."""

        user_api = "simdnet"
        internal_api = "simdnet"
        filename_prefixes = ("libsimdnet",)
        check_symbols = ("SimdGetThreadNumber", "SimdSetThreadNumber", "SimdnetActiveIsa")

        def get_num_threads(self) -> int:
            self.dynlib.SimdGetThreadNumber.restype = ctypes.c_size_t
            return int(self.dynlib.SimdGetThreadNumber())

        def set_num_threads(self, num_threads: int) -> None:
            self.dynlib.SimdSetThreadNumber(ctypes.c_size_t(num_threads))

        def get_version(self) -> str:
            return self._text("SimdVersion")

        def set_additional_attributes(self) -> None:
            self.threading_layer = "pthreads"
            self.architecture = self._text("SimdnetActiveIsa")

        def _text(self, name: str) -> str:
            function = getattr(self.dynlib, name)
            function.restype = ctypes.c_char_p
            return str(function().decode("ascii"))

    return SimdnetController


def register_if_imported() -> None:
    """The same, when threadpoolctl is there already."""
    if "threadpoolctl" in sys.modules:
        register_threadpoolctl()
