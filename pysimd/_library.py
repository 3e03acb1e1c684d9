"""Finds libsimdnet.so, opens it with the declarations of its header, and exports ``ffi`` and ``lib``.

The header is the only list of declarations: what C programs include is what cffi parses here, or parsed when the package was
built (setup.py). The header is the package's own; a library is taken when it says the same version and has all functions.
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
    """The header that this package was written for: its version is the one that a library must have."""
    for header in (PACKAGE / HEADER, ROOT / "include" / HEADER):
        if header.is_file():
            return header
    raise ImportError(f"pysimd found no {HEADER} in {PACKAGE}; install the package again (pip install .)")


def _library() -> Path:
    """The library that was asked for, which is not replaced by another one; else that of the package, or of the checkout."""
    named = os.environ.get("SIMDNET_LIBRARY")
    if named:
        library = Path(named).expanduser().absolute()  # a name alone would be looked for elsewhere
        if not library.is_file():
            state = "is no file" if library.exists() else "is not there"
            raise ImportError(f"SIMDNET_LIBRARY names {library}, which {state}; name a {LIBRARY}, or unset it")
        return library
    places = (PACKAGE / LIBRARY, ROOT / "build" / LIBRARY)
    for library in places:
        if library.is_file():
            return library
    raise ImportError(
        f"pysimd found no {LIBRARY}: neither {places[0]} nor {places[1]} is there. Run make in the source checkout, install "
        "the package (pip install .), or let the environment variable SIMDNET_LIBRARY name the file."
    )


def _interface(header: Path, text: str) -> Any:
    """The declarations as cffi has them. Parsing is nearly half of an import, so an installed package has it done."""
    if header.parent == PACKAGE:
        return import_module("pysimd._declarations").ffi
    interface = cffi.FFI()
    interface.cdef(declarations(text))
    return interface


def _absent(interface: Any, opened: Any, names: Iterable[str]) -> list[str]:
    """Those of the functions that an opened library does not have."""
    # cffi raises AttributeError, or its own error where the declarations were parsed when the package was built
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
    for name in _absent(interface, opened, ("SimdnetLastError", "SimdVersion")):  # the first that only this library has
        raise ImportError(f"{library} is no {LIBRARY}: it has no function {name}")
    actual = interface.string(opened.SimdVersion()).decode("ascii", "replace")
    if actual != version:
        raise ImportError(
            f"{library} has version {actual}, but {header} has {version}, which this pysimd needs: build the library from "
            "the same sources (make), or install the package again (pip install .)"
        )
    if library.parent != PACKAGE:  # that one was built with the package
        absent = _absent(interface, opened, dir(opened))
        if absent:
            raise ImportError(f"{library} has version {version} but no {', '.join(absent)}: build it anew (make)")
    return interface, opened, version


LIBRARY_PATH, HEADER_PATH = _library(), _header()
ffi, lib, VERSION = _open(LIBRARY_PATH, HEADER_PATH)
