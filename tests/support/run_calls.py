"""Writes libsrc/api/callable.h, the functions that :c:func:`SimdnetRunCalls` calls: ``python -m support.run_calls``."""

from __future__ import annotations

from pathlib import Path
from textwrap import wrap
from typing import Any

from pysimd._library import ffi, lib

FILE = Path(__file__).parents[2] / "libsrc" / "api" / "callable.h"
_WIDTH = 124

_BEFORE = """/*
 * The functions that SimdnetRunCalls() calls: those of include/simdnet.h that return nothing, with their arguments, each a
 * pointer P(index), an integer or enumerator N(type, index) or a floating point number R(type, index).
 * `python -m support.run_calls` in tests/ writes this file, and a test compares them.
 */
#ifndef SN_API_CALLABLE_H
#define SN_API_CALLABLE_H

"""


def _argument(i: int, kind: Any) -> str:
    if kind.kind == "pointer":
        return f"P({i})"
    return f"{'R' if kind.cname in ('float', 'double') else 'N'}({kind.cname}, {i})"


def _entry(name: str, kinds: Any) -> list[str]:
    text = f"X({', '.join([name, *(_argument(i, kind) for i, kind in enumerate(kinds))])})"
    return wrap(text, _WIDTH - 1, initial_indent=" " * 4, subsequent_indent=" " * 8, break_long_words=False)


def text() -> str:
    """What the file should be."""
    functions = {name: getattr(lib, name) for name in sorted(dir(lib))}
    types = {name: ffi.typeof(function) for name, function in functions.items() if isinstance(function, ffi.CData)}
    lines = ["#define SN_CALLABLE(X)"]
    for name, kind in types.items():
        if kind.kind == "function" and kind.result.kind == "void" and name != "SimdnetRunCalls":
            lines += _entry(name, kind.args)
    list_of_them = "\n".join([*(f"{line:{_WIDTH}}\\" for line in lines[:-1]), lines[-1]])
    return f"{_BEFORE}{list_of_them}\n\n#endif\n"


if __name__ == "__main__":
    FILE.write_text(text())
