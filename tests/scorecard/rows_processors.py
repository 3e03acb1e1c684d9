"""Processors: which level each uses, and that no level contains or executes an instruction that its processors lack."""

from __future__ import annotations

from collections.abc import Mapping

from scorecard.row import Form, Row

CHECK = "make build/$(uname -m)-cc/tests/test_cpu && build/$(uname -m)-cc/tests/test_cpu"
OBJECTS = "for test in instructions disassembly; do python3 tests/test_$test.py build/$(uname -m)-cc/obj || exit 1; done"
ARM_OBJECTS = (
    "if command -v aarch64-linux-gnu-gcc > /dev/null; then make CC=aarch64-linux-gnu-gcc && "
    "python3 tests/test_instructions.py build/aarch64-aarch64-linux-gnu-gcc/obj; "
    "else echo 'skipped: no aarch64-linux-gnu-gcc'; fi"
)
FIGURE = (
    "{processors:.0f} processors and {systems:.0f} systems get the level of the table; {levels:.0f} levels contain "
    "{instructions:.0f} different instructions, {illegal:.0f} illegal; {emulated:.0f} runs on emulated processors: "
    "{cases:.0f} cases, {failed:.0f} failed"
)

# The newest level of each. Cortex-A53 has no dot products.
EMULATED = {"Nehalem": "sse41", "SandyBridge": "sse41", "Denverton": "sse41", "Haswell": "avx2", "cortex-a53": "neon"}
PARTS = 8


def holds(counts: Mapping[str, float]) -> bool:
    """Without an emulator the other parts hold."""
    return not counts.get("failed") and not counts.get("illegal") and counts.get("processors", 20) >= 20


ROWS = [
    Row(
        10,
        "no level contains or executes an instruction that its processors lack, and each processor gets the right level",
        "no illegal instruction; the levels in a table of at least 20 processors",
        Form(
            (CHECK, OBJECTS, "tests/sh/check_processor.sh SandyBridge sse41 --quick --every 400 --seed 1 --jobs $(nproc)"),
            FIGURE,
            holds,
            minutes=2,
        ),
        Form(
            (
                CHECK,
                OBJECTS,
                ARM_OBJECTS,
                *(
                    f"tests/sh/check_processor.sh {processor} {level} --part {part}/{PARTS} --quick --seed {part}"
                    for processor, level in EMULATED.items()
                    for part in range(1, PARTS + 1)
                ),
            ),
            FIGURE,
            holds,
            minutes=180,
        ),
    )
]
