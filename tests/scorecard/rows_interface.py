"""The library as a file: its interface in machine code, what it needs, how it is linked."""

from __future__ import annotations

from collections.abc import Mapping

from scorecard.row import Form, Row

LIBRARY = (
    "tests/sh/check_abi.sh",
    # The header, exported names and versions, needed libraries, RELRO, the stack, constructors, thread-local storage.
    "tests/sh/check_library.sh build/$(cc -dumpmachine | cut -d- -f1)-cc cc",
)
FIGURE = "{passed:.0f} checks, {failed:.0f} failed; {functions:.0f} functions as released, {added:.0f} added"


def holds(counts: Mapping[str, float]) -> bool:
    return counts.get("failed", 0) == 0 and counts.get("passed", 0) >= 30


ROWS = [
    Row(
        14,
        "the binary interface is the released one (abidiff); exported names and versions, needed libraries, RELRO, "
        "immediate binding, no executable stack, no constructors; builds are reproducible to the bit",
        "no difference",
        Form(LIBRARY, FIGURE, holds, minutes=1),
        Form((*LIBRARY, "make check-reproducible"), FIGURE + "; builds are equal", holds, minutes=10),
    )
]
