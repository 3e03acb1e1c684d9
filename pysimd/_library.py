"""Finds libsimdnet.so, opens it with the declarations of its header, and exports ``ffi`` and ``lib``.

The header is the only list of declarations: what C programs include is what cffi parses here, or parsed when the package was
built (setup.py). Library and header are looked for together, so they always belong to each other; that they do is checked once
more by the version string.
"""

from __future__ import annotations

import os
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import cffi

from pysimd._header import declarations

LIBRARY = "libsimdnet.so"
HEADER = "simdnet.h"


def _candidates() -> list[tuple[str, Path, Path]]:
    """(what it is, library, header) in the order in which they are tried."""
    package = Path(__file__).resolve().parent
    root = package.parent
    checkout = root / "include" / HEADER
    places = [("packaged with pysimd", package / LIBRARY, package / HEADER)]
    named = os.environ.get("SIMDNET_LIBRARY")
    if named:
        library = Path(named).expanduser()
        # An installed library has its header in ../include; a source checkout in include/.
        header = library.resolve().parent.parent / "include" / HEADER
        places.append(("SIMDNET_LIBRARY", library, header if header.is_file() else checkout))
    places.append(("source checkout", root / "build" / LIBRARY, checkout))
    return places


def _find() -> tuple[Path, Path]:
    tried = []
    for what, library, header in _candidates():
        if library.is_file() and header.is_file():
            return library, header
        missing = header if library.is_file() else library
        tried.append(f"{what}: no {missing}")
        if what == "SIMDNET_LIBRARY":
            break  # a library that was asked for by name is not replaced by another one
    raise ImportError(
        f"pysimd found no {LIBRARY}: {'; '.join(tried)}. Install the package (pip install .), run make in the source "
        "checkout, or let the environment variable SIMDNET_LIBRARY name the file."
    )


def _open(library: Path, header: Path) -> tuple[Any, Any, str]:
    text = header.read_text(encoding="ascii")
    found = re.search(r'^#define SIMDNET_VERSION "(.*)"$', text, flags=re.MULTILINE)
    if not found:
        raise ImportError(f"{header} does not define SIMDNET_VERSION")
    version = found.group(1)
    if header.parent == Path(__file__).resolve().parent:
        interface: Any = import_module("pysimd._declarations").ffi  # parsing is nearly half the time of an import
    else:
        interface = cffi.FFI()
        interface.cdef(declarations(text))
    try:
        opened = interface.dlopen(str(library))
        actual = interface.string(opened.SimdVersion()).decode()
    except (OSError, AttributeError) as error:
        raise ImportError(f"pysimd could not open {library}: {error}") from error
    if actual != version:
        raise ImportError(f"{library} has version {actual}, but {header} has {version}; rebuild or reinstall")
    return interface, opened, version


LIBRARY_PATH, HEADER_PATH = _find()
ffi, lib, VERSION = _open(LIBRARY_PATH, HEADER_PATH)
