"""Finds libsimdnet.so, opens it with the declarations of its header, and exports ``ffi`` and ``lib``.

The header is the only list of declarations: cffi parses the file that C programs include, here or when the package was built
(setup.py). The header is part of the package; a library is accepted if it has the same version and all functions.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

import cffi

from pysimd._header import declarations

LIBRARY = "libsimdnet.so"
HEADER = "simdnet.h"


PACKAGE = Path(__file__).resolve().parent
ROOT = PACKAGE.parent  # of a source checkout


def _header() -> Path:
    """The header that this package was written for: a library must have its version."""
    for header in (PACKAGE / HEADER, ROOT / "include" / HEADER):
        if header.is_file():
            return header
    raise ImportError(f"pysimd found no {HEADER} in {PACKAGE}; install the package again (pip install .)")


def _has_raised_privileges() -> bool:
    """Whether the program runs with other rights than its user has (setuid, setgid), as secure_getenv() in C tests it."""
    return os.geteuid() != os.getuid() or os.getegid() != os.getgid()


def _library() -> Path:
    """The library of SIMDNET_LIBRARY, with no fallback if it is set, else that of the package or the checkout."""
    named = None if _has_raised_privileges() else os.environ.get("SIMDNET_LIBRARY")
    if named:
        library = Path(named).expanduser().absolute()  # a name without a folder would be searched for elsewhere
        if not library.is_file():
            state = "is not a file" if library.exists() else "does not exist"
            raise ImportError(f"SIMDNET_LIBRARY is {library}, which {state}: set it to a {LIBRARY}, or unset it")
        return library
    places = (PACKAGE / LIBRARY, ROOT / "build" / LIBRARY)
    for library in places:
        if library.is_file():
            return library
    raise ImportError(
        f"pysimd found no {LIBRARY}: neither {places[0]} nor {places[1]} exists. Run make in the source checkout, install "
        f"the package (pip install .), or set the environment variable SIMDNET_LIBRARY to a {LIBRARY}."
    )


def _interface(header: Path, text: str) -> Any:
    """The declarations for cffi. Parsing takes nearly half of an import, so an installed package has them parsed."""
    if header.parent == PACKAGE:
        return import_module("pysimd._declarations").ffi
    interface = cffi.FFI()
    interface.cdef(declarations(text))
    return interface


def _absent(interface: Any, opened: Any, names: Iterable[str]) -> list[str]:
    """Those of the functions that an opened library does not have."""
    # cffi raises AttributeError, or an error of its own if the declarations were parsed when the package was built
    unknown = (AttributeError, getattr(interface, "error", AttributeError))
    absent = []
    for name in names:
        try:
            getattr(opened, name)
        except unknown:
            absent.append(name)
    return absent


def _open(library: Path, header: Path) -> tuple[Any, Any, str]:
    text = header.read_text(encoding="ascii")
    version = re.findall(r'^#define SIMDNET_VERSION "(.*)"$', text, flags=re.MULTILINE)[0]
    interface = _interface(header, text)
    try:
        opened = interface.dlopen(str(library))
    except OSError as error:
        raise ImportError(f"pysimd could not open {library}: {error}") from error
    for name in _absent(interface, opened, ("SimdnetLastError", "SimdVersion")):  # the first is in this library alone
        raise ImportError(f"{library} is not a {LIBRARY}: it has no function {name}")
    actual = interface.string(opened.SimdVersion()).decode("ascii", "replace")
    if actual != version:
        raise ImportError(
            f"{library} has version {actual}, but {header} has {version}, which this pysimd needs: build the library from "
            "the same sources (make), or install the package again (pip install .)"
        )
    if library.parent != PACKAGE:  # that one was built with the package
        absent = _absent(interface, opened, dir(opened))
        if absent:
            raise ImportError(f"{library} has version {version} but no {', '.join(absent)}: build it again (make)")
    return interface, opened, version


LIBRARY_PATH, HEADER_PATH = _library(), _header()
ffi, lib, VERSION = _open(LIBRARY_PATH, HEADER_PATH)
