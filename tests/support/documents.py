"""The programs and commands in README.md and in the pages under docs/, and how they are run.

A text block after a block of C, Python or shell is the output; "..." in it stands for what differs between machines.
Comments in front of a block, which readers do not see:

    <!-- file: NAME -->     the block is saved under this name, for the shell commands of the page
    <!-- needs: NAME -->    a command or a Python module: without it the block is skipped
    <!-- skip: REASON -->   the block is not run

C without a name is saved as program.c and compiled as `program`. Commands are run in a folder with these files and with
links to the top level of the checkout, and with a home of their own; `$HOME/.local` has the installed library.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest

from support import COMPILER, ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
WARNINGS = "-std=c99 -Wall -Wextra -Wpedantic -Werror"
#: The environment of the libraries that the benchmarks compare with (`make bench PEERS=1`).
PEERS_PYTHON = ROOT / ".venv-peers" / "bin" / "python"

_BLOCK = re.compile(
    r"^(?P<comments>(?:<!-- \w+: [^\n]* -->\n)*)```(?P<language>c|python|sh)\n(?P<text>.*?)^```$"
    r"(?:\n\n```text\n(?P<output>.*?)^```$)?",
    flags=re.DOTALL | re.MULTILINE,
)


class Block(NamedTuple):
    """A program, or several commands, of a page."""

    page: Path
    line: int
    language: str
    text: str
    output: str | None
    file: str | None
    needs: tuple[str, ...]
    skip: str | None
    full: bool  # a block that takes a minute

    @property
    def name(self) -> str:
        """The name of its file."""
        return self.file or {"c": "program.c", "python": "program.py", "sh": "commands.sh"}[self.language]


def blocks_of(page: Path) -> Iterator[Block]:
    text = page.read_text()
    for found in _BLOCK.finditer(text):
        comments = re.findall(r"<!-- (\w+): (.*) -->", found["comments"])
        unknown = {key for key, _ in comments} - {"file", "full", "needs", "skip"}
        assert not unknown, f"{page}: {unknown}"
        single = dict(comments)
        needs = tuple(value for key, value in comments if key == "needs")
        line = text.count("\n", 0, found.start("text"))
        language, program, output = found.group("language", "text", "output")
        yield Block(page, line, language, program, output, single.get("file"), needs, single.get("skip"), "full" in single)


BLOCKS = [block for page in PAGES for block in blocks_of(page)]


def interpreter_for(block: Block) -> str:
    """The Python that has all modules a block needs. Skips the test if a module or a command is missing."""
    missing = [name for name in block.needs if not shutil.which(name) and not find_spec(name)]
    if not missing:
        return sys.executable
    if PEERS_PYTHON.exists():
        imports = f"import {', '.join(missing)}"
        if subprocess.run([PEERS_PYTHON, "-c", imports], capture_output=True, check=False).returncode == 0:
            return str(PEERS_PYTHON)
    pytest.skip(f"no {', '.join(missing)}")


def shell(command: str, cwd: Path, **environment: str) -> str:
    """The output of the commands. `python` in them is this interpreter."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), **environment}
    done = subprocess.run(["sh", "-ec", command], cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def compile_c(source: Path, program: Path) -> None:
    """Links a program with the library of the checkout, without any warning."""
    if COMPILER is None:
        pytest.skip("no compiler")
    build = (ROOT / "build" / "libsimdnet.so").resolve().parent
    flags = f"{WARNINGS} -pthread -I{ROOT}/include {source} -L{build} -lsimdnet -lm -Wl,-rpath,{build}"
    shell(f"cc {flags} -o {program}", source.parent)


def prepare_folder(block: Block, folder: Path) -> None:
    """Puts the files of the block's page into a folder, next to links to those of the checkout."""
    for entry in ROOT.iterdir():
        if not entry.name.startswith("."):
            (folder / entry.name).symlink_to(entry)
    for other in BLOCKS:
        if other.page == block.page and (other.file or (other.language == "c" and block.language == "sh")):
            (folder / other.name).write_text(other.text)
    (folder / block.name).write_text(block.text)
