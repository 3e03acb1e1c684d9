"""The checker's part of rows 1 to 4: ``python -m scorecard.levels KIND [options of the checker]``.

KIND is cases, random, same, special, flush or processes. Runs ``build/.../tests/check --counts``, and prints a table of what
it has compared, by function, and the counts for the scorecard.
"""

from __future__ import annotations

import json
import os
import pathlib
import platform
import re
import subprocess
import sys
from fnmatch import fnmatchcase
from typing import TypedDict

from scorecard.row import print_counts

CHECK = f"build/{platform.machine()}-cc/tests/check"
PARTS = 1  # the number of commands that divide the cases of a function among them
FLUSHED = pathlib.Path(__file__).parent / "flushed.txt"

# They compute nothing on a level: what they do is tested by programs of their own (tests/c/test_*.c).
WITHOUT_LEVEL = {
    "SimdAlign",
    "SimdAlignment",
    "SimdAllocate",
    "SimdCpuInfo",
    "SimdFree",
    "SimdGetFastMode",
    "SimdGetThreadNumber",
    "SimdPerformanceStatistic",
    "SimdRelease",
    "SimdSetFastMode",
    "SimdSetThreadNumber",
    "SimdVersion",
    "SimdnetActiveIsa",
    "SimdnetCallOf",
    "SimdnetContextInfo",
    "SimdnetGetPacked",
    "SimdnetGetPreference",
    "SimdnetIsaLevel",
    "SimdnetLastError",
    "SimdnetLastErrorKind",
    "SimdnetPackedSize",
    "SimdnetRunCalls",
    "SimdnetSetMaxIsa",
    "SimdnetSetPacked",
    "SimdnetSetPreference",
    "SimdnetSetVerbose",
    "SimdnetVersionNumber",
}

# Each case of a context calls these too: they have the cases of the function that computes.
OF_CONTEXT = re.compile(r"(Init|SetParams|SetIndex|Info|InternalBufferSize|ExternalBufferSize)$")

# Other names of the same functions.
SAME = {
    "SimdSynetSoftmax32f": "SimdSynetSoftmaxLayerForward",
    "SimdSynetUnaryOperation32f": "SimdSynetUnaryOperation32fLayerForward",
}


class Function(TypedDict, total=False):
    """A line of the checker: counts by level, sizes reached of 1 .. 67 by name of the size."""

    name: str
    others: int
    offsets: int
    cases: dict[str, int]
    flushed: dict[str, int]
    planted: dict[str, int]
    sizes: dict[str, int]
    checksum: list[str]


def main() -> int:
    global PARTS
    kind, options = sys.argv[1], sys.argv[2:]
    if options[:1] == ["--parts"]:
        PARTS, options = int(options[1]), options[2:]
    status, output = run(options)
    functions = [json.loads(line) for line in re.findall(r"^function: (.*)$", output, re.MULTILINE)]
    public = [function for function in functions if function["name"].startswith("Simd")]
    kinds = {"cases": cases, "random": random, "same": nothing, "special": special, "flush": flush, "processes": processes}
    if status != 0 or not functions:
        print(output[-8000:])
        return status or 1
    return kinds[kind](public, options)


def run(options: list[str]) -> tuple[int, str]:
    jobs = [] if "--jobs" in options else ["--jobs", str(os.cpu_count() or 1)]
    done = subprocess.run([CHECK, "--counts", *jobs, *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    for line in done.stdout.splitlines():
        if not line.startswith("function: "):
            print(line)
    return done.returncode, done.stdout


def exports() -> list[str]:
    header = pathlib.Path("include/simdnet.h").read_text()
    return sorted(set(re.findall(r"^(?!typedef)[A-Za-z][\w *]*?\b(Simd\w+)\(", header, re.MULTILINE)))


def cases(functions: list[Function], options: list[str]) -> int:
    """Every exported function has cases on every level, unless it computes nothing there."""
    found = {function["name"]: function for function in functions}
    faults = 0
    least = 0
    compared = 0
    for name in exports():
        source = next((n for n in names_of(name) if n in found), None)
        if source is None:
            if name not in WITHOUT_LEVEL:
                print(f"FAIL {name} has no case")
                faults += 1
            continue
        function = found[source]
        counts = ", ".join(f"{level} {number}" for level, number in function["cases"].items())
        print(
            f"{name:48} {counts}, other conditions {found.get(name, function)['others']}"
            + (f" ({source})" if source != name else "")
        )
        smallest = min(function["cases"].values())
        if smallest == 0 and function["others"] == 0:
            print(f"FAIL {name} has no case on some level")
            faults += 1
        compared += 1
        least = min(least or smallest, smallest) if smallest else least
    print_counts(
        functions=compared,
        without_level=len(WITHOUT_LEVEL),
        least_cases=least,
        cases=total(functions, "cases"),
        faults=faults,
    )
    return int(faults > 0)


def names_of(name: str) -> list[str]:
    """The names under which the checker may count a function: for those of a context, the function that computes."""
    name = SAME.get(name, name)
    stem = OF_CONTEXT.sub("", name)
    of_context = [stem + end for end in ("Forward", "Run", "Compute")] if stem != name else []
    return [*of_context, name]


def random(functions: list[Function], options: list[str]) -> int:
    """The fewest cases of a function, and what its sizes and offsets have been; with ``--parts N``, of N such commands."""
    by_level = [function for function in functions if max(function["cases"].values()) > 0]
    for function in by_level:
        sizes = ", ".join(f"{name} {number}" for name, number in function["sizes"].items() if number > 1)
        number = min(function["cases"].values())
        print(f"{function['name']:48} {number} cases, {function['offsets']} byte offsets, of 1..67: {sizes}")
    if not by_level:
        print("the functions of this family are compared by conditions only")
        return 0
    fewest = [min(function["cases"].values()) * PARTS for function in by_level]
    print_counts(
        least_cases=min(fewest),
        least_offsets=min(function["offsets"] for function in by_level),
        functions=len(by_level),
        cases=total(by_level, "cases"),
    )
    return 0


def special(functions: list[Function], options: list[str]) -> int:
    """Special values by function; those without are not of floats, or take no array with others."""
    for function in functions:
        print(f"{function['name']:48} {function['planted']}")
    print_counts(
        special=total(functions, "planted"), functions=sum(max(function["planted"].values()) > 0 for function in functions)
    )
    return 0


def flush(functions: list[Function], options: list[str]) -> int:
    """Functions whose results differ if denormal numbers become 0: no others than in the committed table."""
    expected = [line.split()[0] for line in FLUSHED.read_text().splitlines() if line and line[0] != "#"]
    faults = 0
    for function in functions:
        levels = [level for level, number in function["flushed"].items() if number > 0]
        print(f"{function['name']:48} {' '.join(levels)}")
        if levels and not any(fnmatchcase(function["name"], name) for name in expected):
            print(f"FAIL {function['name']}: results differ, but {FLUSHED.name} does not contain it")
            faults += 1
    print_counts(flushed=sum(max(function["flushed"].values()) > 0 for function in functions), faults=faults)
    return int(faults > 0)


def processes(functions: list[Function], options: list[str]) -> int:
    """A second process, whose memory is elsewhere, must print the same checksums of all results."""
    status, output = run(options)
    again = {
        line["name"]: line["checksum"] for line in map(json.loads, re.findall(r"^function: (.*)$", output, re.MULTILINE))
    }
    faults = 0
    for function in functions:
        if again.get(function["name"]) != function["checksum"]:
            print(f"FAIL {function['name']}: {function['checksum']} and {again.get(function['name'])}")
            faults += 1
    print_counts(processes=total(functions, "cases"), faults=faults)
    return int(faults > 0 or status != 0)


def nothing(functions: list[Function], options: list[str]) -> int:
    return 0


def total(functions: list[Function], key: str) -> int:
    counts = [function["cases"] if key == "cases" else function["planted"] for function in functions]
    return sum(sum(levels.values()) for levels in counts)


if __name__ == "__main__":
    sys.exit(main())
