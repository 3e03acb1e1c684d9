"""Runs examples and compares their output with the text at the end of their source: `make examples` calls it.

    python run.py [--programs FOLDER] [--prefix COMMAND] SOURCE...

The last comment of a program begins with the line "Output:" and contains its output, where "..." stands for the part of a
line that differs between machines, and a last line of "..." for any number of lines. C and C++ programs are in FOLDER,
compiled, and run under COMMAND if there is one. A program that ends with status 77 was skipped; its last line is the reason.
"""

from __future__ import annotations

import argparse
import difflib
import re
import subprocess
import sys
import textwrap
from pathlib import Path

SKIPPED = 77


def expected_output(source: str) -> str:
    """The text of the last comment, without comment characters."""
    comment = re.sub(r"\s*\*/\s*$", "\n", source).rpartition("Output:\n")[2]
    return plain(re.sub(r"^( \*|#)( |$)", "", comment, flags=re.MULTILINE))


def plain(text: str) -> str:
    """The text without trailing spaces, common indentation, and empty lines at both ends."""
    lines = "\n".join(line.rstrip() for line in text.splitlines())
    return textwrap.dedent(lines).strip("\n") + "\n"


def matches(expected: str, printed: str) -> bool:
    rest = expected.endswith("\n...\n")
    pattern = "[^\n]*".join(re.escape(part) for part in (expected[:-4] if rest else expected).split("..."))
    return re.fullmatch(pattern + (".*" if rest else ""), printed, re.DOTALL) is not None


def command_of(source: Path, programs: Path, prefix: list[str]) -> list[str]:
    runners = {".py": [sys.executable, str(source)], ".sh": ["sh", str(source)]}
    return runners.get(source.suffix, [*prefix, str(programs / source.stem)])


def run(source: Path, programs: Path, prefix: list[str]) -> str:
    """The reason why a program failed, "" if it did not."""
    print(f"== {source}", flush=True)
    expected = expected_output(source.read_text())
    if source.suffix == ".cpp" and not (programs / source.stem).exists():
        print("skipped: no C++ compiler")
        return ""
    command = command_of(source, programs, prefix)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    print(done.stdout, end="", flush=True)
    if done.returncode == SKIPPED:
        return ""
    if done.returncode:
        return f"{source} ended with status {done.returncode}"
    printed = plain(done.stdout)
    if matches(expected, printed):
        return ""
    difference = difflib.unified_diff(expected.splitlines(), printed.splitlines(), "expected", "printed", lineterm="")
    return "\n".join([f"{source} printed something else than its source says", *difference])


def main() -> int:
    parser = argparse.ArgumentParser(description="Run examples and compare what they print with what their sources say.")
    parser.add_argument("--programs", type=Path, default=Path(), help="where the compiled ones are")
    parser.add_argument("--prefix", default="", help="what runs them, such as an emulator")
    parser.add_argument("sources", nargs="+", type=Path, metavar="SOURCE")
    options = parser.parse_args()
    wrong = [text for source in options.sources if (text := run(source, options.programs, options.prefix.split()))]
    print("\n".join(wrong) or f"{len(options.sources)} examples passed", file=sys.stderr if wrong else sys.stdout)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
