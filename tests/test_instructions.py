#!/usr/bin/env python3
"""No level contains an instruction that its machines may lack.

libsrc/isa/levels.h says which features of the processor a level needs, besides those of every machine of its architecture.
What a compiler has put into the objects of the level is disassembled, and assembled again by an assembler that may use these
features alone: it names each instruction that needs another one. So levels are checked whether or not this machine has them.

    python3 tests/test_instructions.py build/x86_64-cc/obj [...]

Under pytest it looks at what ``make`` has built for this machine.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from scorecard.row import print_counts

ROOT = Path(__file__).parent.parent

# What GNU as calls the features of runtime/features.h.
_X86 = {
    "SN_CPU_SSE3": "sse3",
    "SN_CPU_SSSE3": "ssse3",
    "SN_CPU_SSE41": "sse4.1",
    "SN_CPU_AVX2": "avx2",
    "SN_CPU_FMA": "fma",
    "SN_CPU_F16C": "f16c",
    "SN_CPU_AVXVNNI": "avx_vnni",
    "SN_CPU_AVX512F": "avx512f",
    "SN_CPU_AVX512BW": "avx512bw",
    "SN_CPU_AVX512DQ": "avx512dq",
    "SN_CPU_AVX512VL": "avx512vl",
    "SN_CPU_AVX512VNNI": "avx512_vnni",
    "SN_CPU_AVX512BF16": "avx512_bf16",
    "SN_CPU_AMX_TILE": "amx_tile",
    "SN_CPU_AMX_INT8": "amx_int8",
    "SN_CPU_AMX_BF16": "amx_bf16",
}
_ARM = {"SN_CPU_NEON": "simd", "SN_CPU_DOTPROD": "dotprod"}

# By the number of the machine in ELF files: tools for it, the features of every machine, names of features, and what an
# object may contain besides. cpu.c calls xgetbv after CPUID has told that the system allows it. table8.c installs its kernel
# if the processor has VBMI, which some with the level lack.
_BESIDES = {"runtime/cpu.o": "+xsave", "avx512vnni/kernels/table8.o": "+avx512vbmi"}
_MACHINES = {
    62: (("", "x86_64-linux-gnu-"), "generic64", _X86, _BESIDES),
    183: (("aarch64-linux-gnu-", ""), "armv8-a", _ARM, {}),
}

_LEVEL = re.compile(r"^SN_LEVEL\((\w+), (\w+), ([\w |]+)\)$", re.MULTILINE)
_FILE = re.compile(r"^(\S+): +file format")
_INSTRUCTION = re.compile(r"^\s*[0-9a-f]+:\t([0-9a-f ]+?)\s*\t(.*)$")
_ERROR = re.compile(r"^\S+:(\d+): Error: (.*)$", re.MULTILINE)
# Direct branches have addresses of the object as operands, nops several prefixes; every machine has both. For a number that
# is not 0, gcc writes bsf with a prefix that makes it tzcnt, which gives the same, on processors that know tzcnt.
# endbr64, which some compilers put at the start of functions, does nothing on processors that do not know it.
_EVERYWHERE = re.compile(
    r"^((bnd )?(j[a-z]+|call) +[0-9a-f]+|(data16 |cs )*nop|endbr64|tzcnt |(b|bl|b\.[a-z]+) |(cb|tb)n?z |adrp? |udf )"
)


def needs() -> dict[str, tuple[str, ...]]:
    """The features that each level needs, with those of its parents."""
    found: dict[str, tuple[str, ...]] = {}
    for name, parent, own in _LEVEL.findall((ROOT / "libsrc/isa/levels.h").read_text()):
        features = tuple(word for word in own.split(" | ") if word != "0")
        found[name] = found.get(parent, ()) + features
    return found


def _machine(path: Path) -> int:
    return int.from_bytes(path.read_bytes()[18:20], "little")


def _tool(name: str, machine: int) -> str | None:
    """The tool for these objects; one without a prefix is asked whether it can read them."""
    for prefix in _MACHINES[machine][0]:
        tool = shutil.which(prefix + name)
        if tool and (prefix or _native() == machine):
            return tool
    return None


def _native() -> int:
    return _machine(Path(sys.executable).resolve())


def _used(paths: list[Path], objdump: str, evex: bool) -> dict[str, Path]:
    """The instructions of objects, each with an object that contains it."""
    text = subprocess.run([objdump, "-d", "-w", *map(str, paths)], check=True, capture_output=True, text=True).stdout
    used: dict[str, Path] = {}
    path = paths[0]
    for row in text.splitlines():
        if file := _FILE.match(row):
            path = Path(file[1])
        elif found := _INSTRUCTION.match(row):
            line = re.sub(r"\s*(//|<|#[^0-9-]).*$", "", found[2].replace("\t", " "))  # the # of an ARM constant stays
            # The text is that of the shorter encoding, but processors without AVX-512 know only that.
            if evex and found[1].startswith("62 ") and "{evex}" not in line:
                line = "{evex} " + line
            if not _EVERYWHERE.match(line):
                used.setdefault(line, path)
    return used


def faults(paths: list[Path], features: Iterable[str], extra: str = "") -> tuple[int, list[str]]:
    """How many different instructions objects of one level contain, and those that need more than these features."""
    machine = _machine(paths[0])
    _, march, names, _ = _MACHINES[machine]
    if "SN_CPU_DOTPROD" in features:
        march = "armv8.2-a"  # the first with dot products; GNU as does not add them to earlier ones
    objdump, assembler = _tool("objdump", machine), _tool("as", machine)
    assert objdump and assembler
    used = _used(paths, objdump, evex=machine == 62 and "SN_CPU_AVX512VL" not in features)
    lines = list(used)
    march += "".join("+" + names[feature] for feature in features) + extra
    with tempfile.NamedTemporaryFile("w", suffix=".s") as source:
        source.write("\n".join(lines) + "\n")
        source.flush()
        done = subprocess.run([assembler, f"-march={march}", source.name, "-o", "/dev/null"], capture_output=True, text=True)
    found = [f"{used[lines[int(n) - 1]]}: {lines[int(n) - 1]}: {message}" for n, message in _ERROR.findall(done.stderr)]
    if done.returncode != 0 and not found:
        found = [f"{assembler}: {done.stderr.strip()}"]
    return len(lines), found


def check(folder: Path) -> tuple[dict[str, int], list[str]]:
    """The number of different instructions of each level in a build, and all faults. Other folders are as level `base`."""
    counts: dict[str, int] = {}
    found: list[str] = []
    levels = needs()
    for part in sorted(path for path in folder.iterdir() if any(path.rglob("*.o"))):
        paths = sorted(part.rglob("*.o"))
        special = _MACHINES[_machine(paths[0])][3]
        groups = [([path for path in paths if str(path.relative_to(folder)) not in special], "")]
        groups += [([folder / name], extra) for name, extra in special.items() if folder / name in paths]
        for group, extra in groups:
            number, more = faults(group, levels.get(part.name, ()), extra)
            counts[part.name] = counts.get(part.name, 0) + number
            found += more
    return counts, found


def _missing(folder: Path) -> str:
    """Why a build cannot be looked at; "" if it can."""
    path = next(folder.rglob("*.o"), None)
    if path is None or _machine(path) not in _MACHINES:
        return "no objects for a machine that has levels"
    if not _tool("objdump", _machine(path)) or not _tool("as", _machine(path)):
        return "no objdump and as for them (package binutils)"
    return ""


def test_no_level_has_instructions_that_its_machines_lack() -> None:
    """For the existing builds for this machine."""
    for folder in ROOT.glob("build/*-*cc/obj"):
        if not _missing(folder):
            counts, found = check(folder)
            assert found == [] and all(counts.values())


def test_instructions_that_a_level_may_not_have_are_seen() -> None:
    """Some objects of each level, looked at as those of its parent."""
    for folder in ROOT.glob("build/*-*cc/obj"):
        if _missing(folder):
            continue
        for name, parent, _ in _LEVEL.findall((ROOT / "libsrc/isa/levels.h").read_text()):
            # Every machine has NEON.
            if name not in ("base", "neon") and (folder / name).is_dir():
                assert faults(sorted((folder / name).rglob("*.o"))[:3], needs()[parent])[1]


def main() -> int:
    failed = False
    for folder in map(Path, sys.argv[1:]):
        if why := _missing(folder):
            print(f"skipped: {folder}: {why}")
            continue
        counts, found = check(folder)
        print("\n".join(found[:50]))
        print(f"{folder}: different instructions:", ", ".join(f"{part} {number}" for part, number in counts.items()))
        levels = [part for part in counts if part in needs() or part == "reference"]
        print_counts(levels=len(levels), instructions=sum(counts.values()), illegal=len(found))
        failed = failed or bool(found)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
