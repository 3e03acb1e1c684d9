"""Writes libsrc/api/run_calls.c, what :c:func:`SimdnetRunCalls` calls, of the header: ``python -m support.run_calls``."""

from __future__ import annotations

from pathlib import Path
from textwrap import wrap
from typing import Any

from pysimd._library import ffi, lib

FILE = Path(__file__).parents[2] / "libsrc" / "api" / "run_calls.c"
_WIDTH = 125

_BEFORE = """/*
 * SimdnetRunCalls(): prepared calls, one after the other. `python -m support.run_calls` in tests/ writes this file of
 * include/simdnet.h: C has no way to call a function with arguments whose types are known at run time only.
 */
#include "api/check.h"

#include <string.h>

#define P(i) a[i].pointer
#define N(type, i) (type)a[i].number
#define R(type, i) (type)a[i].real
"""
_AFTER = """
SimdnetCallFunction SimdnetCallOf(const char * name)
{
    SN_BEGIN();
    SN_CHECK(name, NULL, "name is NULL, expected the name of a function");
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); ++i) {
        if (strcmp(name, functions[i].name) == 0)
            return functions[i].run;
    }
    return NULL;
}

void SimdnetRunCalls(const SimdnetCall * calls, size_t count)
{
    SN_BEGIN();
    SN_CHECK(calls || !count, SN_VOID, "calls is NULL, expected an array");
    for (size_t i = 0; i < count && !SimdnetLastErrorKind(); ++i) {
        SN_CHECK(calls[i].run, SN_VOID, "calls[%zu].run is NULL, expected what SimdnetCallOf() returns", i);
        SN_CHECK(calls[i].arguments, SN_VOID, "calls[%zu].arguments is NULL, expected an array", i);
        calls[i].run(calls[i].arguments);
    }
}
"""


def _argument(i: int, kind: Any) -> str:
    if kind.kind == "pointer":
        return f"P({i})"
    return f"{'R' if kind.cname in ('float', 'double') else 'N'}({kind.cname}, {i})"


def _function(name: str, kinds: Any) -> str:
    call = f"{name}({', '.join(_argument(i, kind) for i, kind in enumerate(kinds))});"
    first = f"static void run_{name}(const SimdnetArgument * a)"
    one = f"{first} {{ {call} }}"
    if len(one) <= _WIDTH:
        return one
    lines = wrap(call, _WIDTH - 8, break_long_words=False)
    return "\n".join([first, "{", f"    {lines[0]}", *(f"        {line}" for line in lines[1:]), "}"])


def text() -> str:
    """What the file should be."""
    functions = {name: getattr(lib, name) for name in sorted(dir(lib))}
    types = {name: ffi.typeof(function) for name, function in functions.items() if isinstance(function, ffi.CData)}
    found = {
        name: kind.args
        for name, kind in types.items()
        if kind.kind == "function" and kind.result.kind == "void" and name != "SimdnetRunCalls"
    }
    made = "\n".join(_function(name, kinds) for name, kinds in found.items())
    table = "\n".join(f'    {{"{name}", run_{name}}},' for name in found)
    start = "static const struct {\n    const char * name;\n    SimdnetCallFunction run;\n} functions[] = {"
    return f"{_BEFORE}\n{made}\n\n{start}\n{table}\n}};\n{_AFTER}"


if __name__ == "__main__":
    FILE.write_text(text())
