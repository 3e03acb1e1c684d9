"""Which lines and branches of ``libsrc/`` the tests run: counted by gcc --coverage, read by gcovr.

The library is built a second time, without optimisation. A kernel is compiled once for each instruction set: a line counts
as reached if it is in one. The folders of instruction sets that this machine lacks are left out, and so are the lines
elsewhere that only these reach. ``unreached.txt`` lists such lines, and those that no test reaches, with reasons; the report
prints all others, and entries of the list that are not needed.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import zip_longest
from typing import Any, NamedTuple

import pysimd
from scorecard import c_tests
from scorecard.row import print_counts

LIST = pathlib.Path(__file__).with_name("unreached.txt")
MACHINE = os.uname().machine
VARIANT = f"{MACHINE}-cc-coverage"
BUILD = pathlib.Path("build") / VARIANT
FLUSH = BUILD / "flush.o"
LEVELS = [folder.name for folder in pathlib.Path("libsrc/isa").iterdir() if folder.is_dir()]
MISSING = [level for level in LEVELS if level not in pysimd.isa_levels()]

# The maps of folders would also be applied to the names of the files of counts. Unoptimised, each condition of the source is
# a branch, and each line has code. Functions that kernels always inline stay functions: otherwise each place where one is
# inlined would have branches of its own, and some files would take a minute to compile.
MAKE = (
    "make",
    f"VARIANT={VARIANT}",
    "CFLAGS=-O0 -g1 --coverage -fprofile-update=atomic -Dalways_inline=unused",
    f"LDFLAGS=-Wl,--wrap=_exit {FLUSH}",
    "MAPPED=",
)

# Tests of something else than the library that SIMDNET_LIBRARY names: builds, packages, documents and the benchmarks.
OTHER_TESTS = re.compile(
    "bench|digits|disassembly|docstrings|documents|examples|names|packaging|pages|pictures|readme|types"
)

# A program that is linked with the static library would need that of gcov, too.
LEFT_OUT = "tests/test_process.py::test_a_setuid_program_ignores_the_environment"

PYTEST = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--deselect", LEFT_OUT]
NO_TESTS = 5  # pytest's exit status if all tests of a file are deselected

# Some lines of base run more than 2^32 times, which gcovr takes for a fault, and would count as never.
GCOVR = ("--gcov-suspicious-hits-threshold=0", "--merge-mode-functions=merge-use-line-min")


class Entry(NamedTuple):
    """Of ``unreached.txt``: the text of a line, and the instruction set that is needed to reach it, if it is one."""

    file: str
    text: str
    level: str


class Line(NamedTuple):
    """A line that has code. One from which a macro makes several functions counts once for each of them."""

    number: int
    function: str
    reached: bool
    branches: int
    taken: int


def main() -> int:
    parser = argparse.ArgumentParser("python -m scorecard.coverage", description=__doc__)
    parser.add_argument("step", choices=("build", "programs", "check", "threads", "pytest", "report"))
    parser.add_argument(
        "--part", type=part, default=(1, 1), metavar="I/N", help="of the families of the checker, or of the files of pytest"
    )
    options = parser.parse_args()
    environment = {**os.environ, "SIMDNET_LIBRARY": str((BUILD / "libsimdnet.so").resolve())}
    families = part_of(c_tests.families(), options.part)
    checker = [f"{BUILD}/tests/check", "--quick", "--seed", "1", "--test"]
    steps = {
        "build": build,
        "programs": programs,
        "check": lambda: in_parallel([[*checker, name] for name in families]),
        "threads": lambda: in_parallel([[*checker, name, "--threads", "5"] for name in families]),
        "pytest": lambda: in_parallel([[*PYTEST, name] for name in part_of(python_tests(), options.part)], environment),
        "report": report,
    }
    return steps[options.step]()


def part(text: str) -> tuple[int, int]:
    index, count = text.split("/")
    return int(index), int(count)


def jobs() -> str:
    """How many processes may run at once; JOBS=1 in the environment leaves the other processors to others."""
    return os.environ.get("JOBS", str(len(os.sched_getaffinity(0))))


def part_of(names: Sequence[str], which: tuple[int, int]) -> Sequence[str]:
    return names[which[0] - 1 :: which[1]]


def run(command: Sequence[str]) -> int:
    print("==", *command, flush=True)
    return subprocess.run(command, check=False).returncode


def in_parallel(commands: Sequence[Sequence[str]], environment: dict[str, str] | None = None) -> int:
    """As many at once as there are processors, all of them even if one fails; each writes its counts at its end."""

    def one(command: Sequence[str]) -> bool:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        good = done.returncode in (0, NO_TESTS)
        print("==", *command, *(done.stdout.splitlines()[-1:] if good else [done.stdout + done.stderr]), flush=True)
        return good

    with ThreadPoolExecutor(int(jobs())) as pool:
        good = list(pool.map(one, commands))
    print_counts(programs=len(good), programs_failed=good.count(False))
    return int(not all(good))


def build() -> int:
    """Builds library and tests, with all counts 0."""
    BUILD.mkdir(parents=True, exist_ok=True)
    for counts in BUILD.rglob("*.gcda"):
        counts.unlink()
    flush = run(["cc", "-std=c99", "-Wall", "-Wextra", "-fPIC", "-c", f"{LIST.parent}/flush.c", "-o", str(FLUSH)])
    return flush or run([*MAKE, f"-j{jobs()}", "all", f"{BUILD}/tests/check", f"{BUILD}/bench/calibrate", *test_programs()])


def test_programs() -> list[str]:
    return [str(BUILD / "tests" / name) for name in c_tests.programs(pysimd.isa_levels())]


def programs() -> int:
    """The C tests, all of them even if one fails, and the program that times convolutions, for one of them."""
    calibrate = [f"{BUILD}/bench/calibrate", "--shape", "1x16x6x6->16x6x6,3x3,nhwc"]
    return max([run(command) for command in [*([program] for program in test_programs()), calibrate]])


def python_tests() -> list[str]:
    names = sorted(pathlib.Path("tests").rglob("test_*.py"))
    return [str(name) for name in names if not OTHER_TESTS.match(name.stem.partition("_")[2])]


def report() -> int:
    """Prints the counts, and the lines that are neither reached nor listed."""
    entries = read_list(LIST.read_text())
    listed = Counter(entry for entry in entries if not entry.level)
    elsewhere = Counter(entry for entry in entries if entry.level in MISSING)
    used = Counter[Entry]()
    files, unlisted = {}, []
    for file, of_file in sorted(read_counts().items()):
        texts = pathlib.Path(file).read_text().splitlines()
        files[file] = not_listed(file, texts, of_file, elsewhere, used)
        unlisted += [
            f"{file}:{line.number}: {line.function}: {texts[line.number - 1].strip()}"
            for line in not_listed(file, texts, files[file], listed, used)
            if not line.reached
        ]
    print(*unlisted, sep="\n")
    for entry in (entry for entry in listed + elsewhere if not used[entry]):
        print(f"not needed on this machine: {entry.file}: {entry.text}")
    lines = [line for of_file in files.values() for line in of_file]
    branches, taken = sum(line.branches for line in lines), sum(line.taken for line in lines)
    reached = sum(line.reached for line in lines)
    by_branches = sorted(files.items(), key=lambda item: sum(line.taken - line.branches for line in item[1]))
    print("most branches not taken: " + ", ".join(f"{f} {missed(of)}" for f, of in by_branches[:20]))
    counts = {
        "least_lines_percent": round(100 * reached / len(lines), 2),
        "least_branches_percent": round(100 * taken / branches, 2),
        "lines": len(lines),
        "branches": branches,
        "unreached": len(lines) - reached,
        "unlisted": len(unlisted),
    }
    print_counts(**counts)
    return 0


def not_listed(
    file: str, texts: Sequence[str], lines: Sequence[Line], listed: Counter[Entry], used: Counter[Entry]
) -> list[Line]:
    """The lines of a file without those that no test reaches and an entry means; counts the uses of entries."""
    entries = {entry.text: entry for entry in listed if entry.file == file}
    covers = covering(texts, list(entries))
    left = []
    for line in lines:
        meant = [] if line.reached else [entries[text] for text in covers.get(line.number, ())]
        entry = next((e for e in meant if e.text.endswith(" ...") or used[e] < listed[e]), None)
        if entry is None:
            left.append(line)
        else:
            used[entry] += 1
    return left


def missed(lines: Sequence[Line]) -> str:
    return f"{sum(line.branches - line.taken for line in lines)} of {sum(line.branches for line in lines)}"


def read_counts() -> dict[str, list[Line]]:
    """The lines of each file below ``libsrc/`` that have code, in the library's objects together."""
    found = BUILD / "coverage.json"
    left_out = [word for level in MISSING for word in ("--exclude", f"libsrc/isa/{level}/")]
    command = [sys.executable, "-m", "gcovr", "--root", ".", "--filter", "libsrc/", *left_out, *GCOVR, "-j", jobs()]
    subprocess.run([*command, "--json", str(found), str(BUILD / "obj")], check=True)
    return {file["file"]: lines_of(file["lines"]) for file in json.loads(found.read_text())["files"]}


def lines_of(found: Sequence[dict[str, Any]]) -> list[Line]:
    """gcovr merges functions of the same name; those with the name of a level in theirs are merged here."""
    merged: dict[tuple[int, str], list[dict[str, Any]]] = {}
    for line in found:
        name = re.sub(rf"_({'|'.join(LEVELS)})$", "", line.get("function_name", ""))
        merged.setdefault((line["line_number"], name), []).append(line)
    return [line_of(*key, same) for key, same in sorted(merged.items())]


def line_of(number: int, function: str, same: Sequence[dict[str, Any]]) -> Line:
    """A line of several levels, whose branches are in the same order."""
    branches = [[branch["count"] > 0 for branch in line.get("branches", [])] for line in same]
    taken = [any(of_level) for of_level in zip_longest(*branches)]
    return Line(number, function, any(line["count"] for line in same), len(taken), sum(taken))


def read_list(text: str) -> list[Entry]:
    """Entries ``FILE: TEXT`` of the list. The lines before them that begin with # are their reason, which may begin with the
    name of an instruction set and a colon: only that one reaches them."""
    entries, level, commented = [], "", False
    for line in text.splitlines():
        if line.startswith("#"):
            found = re.match(rf"# ({'|'.join(LEVELS)}): ", line)
            level = level if commented else found[1] if found else ""
        elif line.strip():
            file, _, code = line.partition(": ")
            entries.append(Entry(file, code.strip(), level))
        commented = line.startswith("#")
    return entries


def covering(texts: Sequence[str], entries: Sequence[str]) -> dict[int, list[str]]:
    """For numbers of lines, the entries that mean them.

    An entry is the text of a line. With ``...`` behind it, it also means the block that the line begins: what is indented
    more.
    """
    covers: dict[int, list[str]] = {}
    for entry in sorted(set(entries)):
        begins = entry.removesuffix(" ...")
        for i, text in enumerate(texts):
            if text.strip() == begins:
                end = block_end(texts, i) if entry != begins else i + 1
                for number in range(i + 1, end + 1):
                    covers.setdefault(number, []).append(entry)
    return covers


def block_end(texts: Sequence[str], begin: int) -> int:
    """Number of the last line of the block that the line with index `begin` begins."""
    indent = len(re.match(" *", texts[begin])[0])  # type: ignore[index]
    i = begin + 1
    while i < len(texts):
        text = texts[i]
        if text.strip() and len(text) - len(text.lstrip()) <= indent and text.strip() != "{":
            return i + 1 if text.strip().startswith("}") else i
        i += 1
    return i


if __name__ == "__main__":
    sys.exit(main())
