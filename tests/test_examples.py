"""The examples are listed, numbered, short, and state what they print; the comparison with that detects differences."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from support import ROOT

EXAMPLES = ROOT / "examples"
PROGRAMS = sorted(EXAMPLES.glob("[0-9]*"))


def run(source: Path, text: str) -> subprocess.CompletedProcess[str]:
    source.write_text(text)
    command = [sys.executable, str(EXAMPLES / "run.py"), str(source)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_there_are_programs() -> None:
    assert len(PROGRAMS) >= 30


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: str(path.name))
def test_a_program(program: Path) -> None:
    text = program.read_text()
    assert re.fullmatch(r"\d\d_\w+\.(c|cpp|py|sh)", program.name)
    assert len(text.splitlines()) < 80
    assert re.search(r"^(/\*|#) Output:\n", text, flags=re.MULTILINE)
    assert program.name in (EXAMPLES / "README.md").read_text()


def test_the_list_names_nothing_else() -> None:
    named = re.findall(r"\((\d\d_[\w.]+)\)", (EXAMPLES / "README.md").read_text())
    assert sorted(named) == [program.name for program in PROGRAMS]


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        ("one\\ntwo", "#   one\n#   two\n"),
        ("  one  \\n    two", "# one\n#   two\n"),
        ("simdnet 0.1.0 here", "#   simdnet ... here\n"),
        ("one\\ntwo\\nthree", "#   one\n#   ...\n"),
        ("(1 + 1) [.*]", "#   (1 + 1) [.*]\n"),
    ],
)
def test_what_is_expected(printed: str, expected: str, tmp_path: Path) -> None:
    done = run(tmp_path / "program.py", f'print("{printed}")\n\n# Output:\n#\n{expected}')
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        ("one\\ntwo", "#   one\n"),
        ("one", "#   one\n#   two\n"),
        ("one", "#   onE\n"),
        ("one\\ntwo three", "#   one ... three\n"),
        ("zero\\none", "#   one\n#   ...\n"),
        ("", "#   one\n"),
    ],
)
def test_what_is_not(printed: str, expected: str, tmp_path: Path) -> None:
    done = run(tmp_path / "program.py", f'print("{printed}")\n\n# Output:\n#\n{expected}')
    assert done.returncode == 1
    assert "printed something else" in done.stderr and "+++ printed" in done.stderr


@pytest.mark.parametrize(("status", "word"), [(1, "status 1"), (77, "1 examples passed")])
def test_status(status: int, word: str, tmp_path: Path) -> None:
    done = run(tmp_path / "program.py", f"print(1)\nraise SystemExit({status})\n\n# Output:\n#\n#   1\n")
    assert word in done.stdout + done.stderr
    assert done.returncode == (status != 77)
