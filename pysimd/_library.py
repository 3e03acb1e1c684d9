"""Finds libsimdnet.so, on Windows simdnet.dll, opens it with the declarations of its header, and exports ``ffi``, ``lib``.

The header is the only list of declarations: cffi parses the file that C programs include, here or when the package was built
(setup.py). The header is part of the package; a library is accepted if it has the same version and all functions.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from importlib import import_module
from os.path import dirname, exists, expanduser, isabs, isfile, join, realpath
from typing import Any

LIBRARY = "simdnet.dll" if sys.platform == "win32" else "libsimdnet.so"
HEADER = "simdnet.h"


PACKAGE = dirname(realpath(__file__))  # no Path, as pathlib alone takes a tenth of the time of an import
ROOT = dirname(PACKAGE)  # of a source checkout


def _header() -> str:
    """The header that this package was written for: a library must have its version."""
    for header in (join(PACKAGE, HEADER), join(ROOT, "include", HEADER)):
        if isfile(header):
            return header
    raise ImportError(f"pysimd found no {HEADER} in {PACKAGE}; install the package again (pip install .)")


def _has_raised_privileges() -> bool:
    """Whether the program runs with other rights than its user has (setuid, setgid), as secure_getenv() in C tests it.

    Windows has no such programs.
    """
    if not hasattr(os, "geteuid"):
        return False
    return os.geteuid() != os.getuid() or os.getegid() != os.getgid()


def _library() -> str:
    """The library of SIMDNET_LIBRARY, with no fallback if it is set, else that of the package or the checkout."""
    named = None if _has_raised_privileges() else os.environ.get("SIMDNET_LIBRARY")
    if named:
        named = expanduser(named)
        library = named if isabs(named) else join(os.getcwd(), named)  # a name alone would be searched for elsewhere
        if not isfile(library):
            state = "is not a file" if exists(library) else "does not exist"
            raise ImportError(f"SIMDNET_LIBRARY is {library}, which {state}: set it to a {LIBRARY}, or unset it")
        return library
    places = (join(PACKAGE, LIBRARY), join(ROOT, "build", LIBRARY))
    for library in places:
        if isfile(library):
            return library
    raise ImportError(
        f"pysimd found no {LIBRARY}: neither {places[0]} nor {places[1]} exists. Run make in the source checkout, install "
        f"the package (pip install .), or set the environment variable SIMDNET_LIBRARY to a {LIBRARY}."
    )


def _interface(header: str, text: str) -> Any:
    """The declarations for cffi. Parsing takes nearly half of an import, so an installed package has them parsed."""
    if dirname(header) == PACKAGE:
        return import_module("pysimd._declarations").ffi
    import cffi

    from pysimd._header import declarations

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


def _open(library: str, header: str) -> tuple[Any, Any, str]:
    with open(header, encoding="utf-8") as file:
        text = file.read()
    version = text.partition('\n#define SIMDNET_VERSION "')[2].partition('"')[0]
    interface = _interface(header, text)
    try:
        opened = interface.dlopen(library)
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
    if dirname(library) != PACKAGE:  # that one was built with the package
        absent = _absent(interface, opened, dir(opened))
        if absent:
            raise ImportError(f"{library} has version {version} but no {', '.join(absent)}: build it again (make)")
    return interface, opened, version


LIBRARY_PATH, HEADER_PATH = _library(), _header()
ffi, lib, VERSION = _open(LIBRARY_PATH, HEADER_PATH)
