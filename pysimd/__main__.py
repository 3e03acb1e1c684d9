"""Command line: ``python -m pysimd info | selftest | show | run | save | compile | quantize``."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Sequence

import cffi
import numpy as np

import pysimd
from pysimd import _library
from pysimd.errors import printable
from pysimd.network import commands as models


def info() -> int:
    """Prints the versions, the files and the machine."""
    facts = pysimd.cpu_info()
    caches = ", ".join(f"{name.upper()} {facts[f'cache_{name}'] >> 10} KiB" for name in ("l1", "l2", "l3"))
    for name, value in (
        ("simdnet", pysimd.version()),
        ("library", os.path.realpath(_library.LIBRARY_PATH)),
        ("header", _library.HEADER_PATH),
        ("package", _library.PACKAGE),
        ("Python", f"{platform.python_version()}, NumPy {np.__version__}, cffi {cffi.__version__}"),
        ("machine", f"{platform.machine()}, {facts['cores']} cores, {facts['threads']} hardware threads"),
        ("caches", caches),
        ("levels", f"{' '.join(pysimd.isa_levels())}; in use: {pysimd.active_isa()}"),
        ("threads", pysimd.get_num_threads()),
    ):
        print(f"{name:<10}{value}")
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m pysimd", description="simdnet from the command line")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("info", help="versions, files and the machine")
    commands.add_parser("selftest", help="compares every kind of layer with NumPy on every instruction set, in seconds")
    models.add_to(commands)
    given = parser.parse_args(argv)
    if given.command == "info":
        return info()
    if given.command == "selftest":
        from pysimd import selftest

        return selftest.main()
    try:
        return int(given.run(given))
    except (ValueError, TypeError, OSError, ImportError, MemoryError) as error:
        lines = map(printable, models.in_words_of_options(error).split("\n"))
        print(f"{parser.prog} {given.command}: " + "\n".join(lines), file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
