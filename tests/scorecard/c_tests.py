"""The tests in C: what `tests/c/` contains."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "tests" / "c"


def families() -> list[str]:
    """Those of the checker."""
    sources = [path.read_text() for path in FOLDER.glob("check_*.c")]
    return sorted(name for text in sources for name in re.findall(r"^CHECK_FAMILY\((\w+)\)", text, re.MULTILINE))


def programs(levels: Iterable[str]) -> list[str]:
    """Those of ``make check``; the vocabulary's are compiled once for each instruction set that has one."""
    sources = sorted(source.stem for source in FOLDER.glob("test_*.c"))
    own = [level for level in levels if (ROOT / f"libsrc/isa/{level}/vec_{level}.h").exists()]
    return [name for s in sources for name in ([f"{s}_{level}" for level in own] if s.startswith("test_vec") else [s])]
