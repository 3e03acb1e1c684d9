#!/usr/bin/env python3
"""The register tiles stay in registers: no vector goes through the stack in an innermost loop that multiplies, and none is
loaded twice.

A tile whose sums spill is right and three to ten times slower, one that loads a vector of weights for each row up to twice,
and no other test sees it. This one disassembles the objects
of the tiles and of other kernels that keep arrays of sums:

    python3 tests/test_disassembly.py build/x86_64-gcc/obj

Under pytest it looks at what ``make`` has built for this machine. Only gcc's objects are looked at: clang 14 keeps the sums
of a few small tiles in memory.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

# tile_RxV must have R * V multiply-adds in a loop.
_TILE = re.compile(r"^tile_(\d+)x(\d+)")
_OBJECTS = ("gemm/32f.o", "gemm/8i.o", "gemm/16b.o", "inner_product.o")

_FUNCTION = re.compile(r"^[0-9a-f]+ <(.+)>:$")
_INSTRUCTION = re.compile(r"^\s*([0-9a-f]+):\s+(?:\{vex\}\s+)?(\S+)\s*(.*)$")
_TARGET = re.compile(r"\b([0-9a-f]+) <")
_MULTIPLY = re.compile(r"^(vfn?madd|v?mulps|fmla|fmul|vpdpbusd|vdpbf16ps|v?pmaddwd|[su]dot|smlal|smull)")
_VECTOR = re.compile(r"%[xyz]mm\d|\b[qvds]\d+\b")
_STACK = re.compile(r"\(%rsp|\[sp\b")
_LOAD = re.compile(r"\(%r|\[x\d")  # an operand in memory
_TO_STACK = re.compile(r"%[xyz]mm\d+,\s*\S*\(%rsp|^st.*\[sp\b")

Line = tuple[int, str, str]  # address, mnemonic, operands


def _objdump(path: Path) -> str | None:
    """The disassembler for the machine of the object."""
    machine = int.from_bytes(path.read_bytes()[18:20], "little")
    names = {62: ["objdump", "x86_64-linux-gnu-objdump"], 183: ["aarch64-linux-gnu-objdump", "objdump"]}.get(machine, [])
    return next(filter(None, map(shutil.which, names)), None)


def _functions(path: Path, objdump: str) -> dict[str, list[Line]]:
    text = subprocess.run(
        [objdump, "-d", "--no-show-raw-insn", str(path)], check=True, capture_output=True, text=True
    ).stdout
    functions: dict[str, list[Line]] = {}
    lines: list[Line] = []
    for row in text.splitlines():
        if head := _FUNCTION.match(row):
            lines = functions.setdefault(head[1], [])
        elif found := _INSTRUCTION.match(row):
            lines.append((int(found[1], 16), found[2], found[3]))
    return functions


def _successors(lines: list[Line]) -> dict[int, list[int]]:
    """The possible successors of each instruction within the function."""
    inside = {address for address, _, _ in lines}
    after = {}
    for (address, name, operands), (behind, _, _) in zip(lines, [*lines[1:], (0, "", "")]):
        target = _TARGET.search(operands) if name.startswith(("j", "b.", "cb", "tb")) or name == "b" else None
        goals = [int(target[1], 16)] if target else []
        if name not in ("jmp", "b", "ret", "br"):
            goals.append(behind)
        after[address] = [goal for goal in goals if goal in inside]
    return after


def _reached(start: int, steps: dict[int, list[int]], low: int, high: int) -> set[int]:
    """The instructions in low .. high that can be reached from start without leaving this range."""
    seen, waiting = {start}, [start]
    while waiting:
        for goal in steps.get(waiting.pop(), []):
            if low <= goal <= high and goal not in seen:
                seen.add(goal)
                waiting.append(goal)
    return seen


def _innermost_loops(lines: list[Line]) -> list[list[Line]]:
    """The bodies of innermost loops. A backward jump that cannot be reached from its target closes no loop: it comes from
    code that the compiler has moved elsewhere."""
    after = _successors(lines)
    before: dict[int, list[int]] = {}
    for address, goals in after.items():
        for goal in goals:
            before.setdefault(goal, []).append(address)
    bodies = []
    for jump, goals in after.items():
        for goal in goals:
            if goal <= jump and jump in (forward := _reached(goal, after, goal, jump)):
                bodies.append(forward & _reached(jump, before, goal, jump))
    inner = [body for body in bodies if not any(other < body for other in bodies)]
    return [[line for line in lines if line[0] in body] for body in inner]


def _repeated_loads(tile: re.Match[str], loop: list[Line], multiplies: int) -> str:
    """What is wrong with the loads of a loop of a tile, or nothing. A step loads each row of A and each vector of B once; a
    half vector has products with a factor in memory. Without fused multiply-adds, registers are too few for that."""
    rows, vectors = int(tile[1]), int(tile[2])
    loads = sum(bool(_LOAD.search(operands) and _VECTOR.search(operands)) for _, _, operands in loop)
    most = rows * (2 if "_half" in tile.string else 1) + vectors
    whole = multiplies == rows * vectors and not any("mulps" in mnemonic for _, mnemonic, _ in loop)
    return f"{loads} loads in a loop, expected at most {most}" if whole and loads > most else ""


def faults(path: Path) -> list[str]:
    """The faults in multiplying loops of an object."""
    objdump = _objdump(path)
    if not objdump:
        return []
    found = []
    for name, lines in _functions(path, objdump).items():
        tile = _TILE.match(name)
        most = 0
        for loop in _innermost_loops(lines):
            multiplies = sum(bool(_MULTIPLY.match(mnemonic)) for _, mnemonic, _ in loop)
            if not multiplies:
                continue
            most = max(most, multiplies)
            if tile and (repeated := _repeated_loads(tile, loop, multiplies)):
                found.append(f"{path}: {name}: {repeated}")
            stack = [f"{m} {o}" for _, m, o in loop if _STACK.search(o) and _VECTOR.search(o)]
            spills = stack if tile else list(filter(_TO_STACK.search, stack))  # elsewhere, constants may be there
            if spills:
                found.append(f"{path}: {name}: {len(spills)} vectors through the stack in a loop, as in: {spills[0]}")
        if tile and most < int(tile[1]) * int(tile[2]):
            found.append(f"{path}: {name}: {most} multiplications in its longest loop, expected {tile[1]} * {tile[2]}")
    return found


def objects(folder: Path) -> list[Path]:
    """The objects with such kernels, for every instruction set."""
    found = sorted(path for name in _OBJECTS for path in folder.glob(f"*/**/{name}"))
    return [path for path in found if b"clang version" not in path.read_bytes()]


def test_sums_stay_in_registers() -> None:
    """For the existing builds by gcc for this machine."""
    for folder in Path(__file__).parent.parent.glob("build/*-*cc/obj"):
        for path in objects(folder):
            assert faults(path) == []


def main() -> int:
    """The command of `make check`."""
    paths = objects(Path(sys.argv[1]))
    if not any(map(_objdump, paths)):
        print("skipped: no objects of gcc, or no disassembler for them")
        return 0
    found = [fault for path in paths for fault in faults(path)]
    print("\n".join(found) if found else f"{len(paths)} objects: sums stay in registers")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
