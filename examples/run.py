"""Runs examples and compares their output with the text at the end of their source: `make examples` calls it.

    python run.py [--programs FOLDER] [--prefix COMMAND] [--jobs N] SOURCE...

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
from concurrent.futures import ThreadPoolExecutor
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


def run(source: Path, programs: Path, prefix: list[str]) -> tuple[str, str]:
    """What a program printed, and the reason why it failed, "" if it did not."""
    expected = expected_output(source.read_text())
    if source.suffix == ".cpp" and not (programs / source.stem).exists():
        return "skipped: no C++ compiler\n", ""
    command = command_of(source, programs, prefix)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.stdout, "" if done.returncode == SKIPPED else fault(source, expected, done)


def fault(source: Path, expected: str, done: subprocess.CompletedProcess[str]) -> str:
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
    parser.add_argument("--jobs", type=int, default=1, help="how many run at a time")
    parser.add_argument("sources", nargs="+", type=Path, metavar="SOURCE")
    options = parser.parse_args()
    wrong = []
    with ThreadPoolExecutor(options.jobs) as pool:
        results = pool.map(lambda source: run(source, options.programs, options.prefix.split()), options.sources)
        for source, (printed, reason) in zip(options.sources, results):
            print(f"== {source}", printed, sep="\n", end="", flush=True)
            wrong += [reason] if reason else []
    print("\n".join(wrong) or f"{len(options.sources)} examples passed", file=sys.stderr if wrong else sys.stdout)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
