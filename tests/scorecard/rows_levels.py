"""Rows 1 to 4: results on every level, compared with ``base`` and NumPy."""

from __future__ import annotations

from scorecard import c_tests
from scorecard.row import Form, Row

PYTHON = "PYTHONPATH=tests .venv/bin/python"
LEVELS = "PYTHONPATH=tests python3 -m scorecard.levels"
SEED = 19
FAMILIES = c_tests.families()
NEON = (
    "command -v qemu-aarch64 aarch64-linux-gnu-gcc > /dev/null || { echo 'skipped: no emulator'; exit 0; }; "
    "make CC=aarch64-linux-gnu-gcc RUN='qemu-aarch64 -L /usr/aarch64-linux-gnu' CHECK_FLAGS='--quick --counts' check"
)

# Families with long cases are divided among several commands with other seeds, each of at most ten minutes.
PARTS = {
    "convolution_32f": 20,
    "convolution_16b": 10,
    "convolution_8i": 10,
    "deconvolution_32f": 5,
    "winograd": 5,
    "pooling": 4,
}
TILE = "gemm_tile"  # of the library itself, without arrays of a caller that special values could be put into
SPECIAL = (
    "{special:.0f} special values in {functions:.0f} functions, {flushed:.0f} functions changed by flushing; {calls:.0f} "
    "calls left the environment unchanged"
)
ADD = "--function SimdnetConvolution32fForwardAdd"


def random(test: str, parts: int) -> list[str]:
    """10,000 cases of each function that the options select, in so many commands."""
    options = f"--random {10000 // parts} --caches --seconds 540"
    return [
        f"{LEVELS} random --parts {parts} --test {test} {options} --seed {SEED + part * 1000000}" for part in range(parts)
    ]


RANDOM = [command for family in FAMILIES for command in random(family, PARTS.get(family, 1))] + random(
    f"convolution_32f {ADD}", 20
)

ROWS = [
    Row(
        number=1,
        measure="every exported function gives the results of base and of NumPy on every level, and stays inside its arrays",
        aim="all functions, no failure",
        quick=Form(
            commands=[f"{LEVELS} cases --quick --every 3 --seed {SEED}"],
            figure="{functions:.0f} functions, {cases:.0f} cases, {faults:.0f} without a case; NumPy: pytest; NEON: .ci/run",
            holds=lambda counts: counts["faults"] == 0 and counts["functions"] >= 140,
        ),
        full=Form(
            commands=[
                f"{LEVELS} cases --seed {SEED}",
                f"make -s build/$(uname -m)-cc/bench/liblimits.so && {PYTHON} -m pytest -q -m every_level tests",
                NEON,
            ],
            figure="{functions:.0f} functions, {cases:.0f} cases; {passed:.0f} passed, with pytest and NEON",
            holds=lambda counts: counts["faults"] == 0 and counts["failed"] == 0 and counts["functions"] >= 140,
            minutes=60,
        ),
    ),
    Row(
        number=2,
        measure="every function gives the results of base for random shapes: channels and inner sizes 1 to 67, byte "
        "offsets 0 to 63, all layouts, with and without non-temporal stores, caches of 1 byte to 64 MB",
        aim="10,000 cases of each function on each level; quick form: 20",
        quick=Form(
            commands=[f"{LEVELS} random --random 24 --caches --seed {SEED}"],
            figure="at least {least_cases:.0f} cases of each function, {cases:.0f} in total",
            holds=lambda counts: counts["failed"] == 0 and counts["least_cases"] >= 20,
            minutes=2,
        ),
        full=Form(
            commands=RANDOM,
            figure="at least {least_cases:.0f} cases of each function, {cases:.0f} in total",
            holds=lambda counts: counts["failed"] == 0 and counts["least_cases"] >= 10000,
            minutes=20,
            gathered=True,
        ),
    ),
    Row(
        number=3,
        measure="results are bit-identical for 1, 2, 4 and 8 threads, any position in a batch, any address, with and "
        "without buf, in 100 repeats and in two processes",
        aim="no difference",
        quick=Form(
            commands=[
                f"{LEVELS} same --quick --every 150 --same --seed {SEED}",
                f"{LEVELS} processes --quick --every 40 --seed {SEED}",
            ],
            figure="{threads:.0f} results with other threads and addresses, {repeats:.0f} repeats, {pairs:.0f} with "
            "other buffers and positions, {processes:.0f} in two processes; {faults:.0f} differ",
            holds=lambda counts: counts["failed"] == 0 and counts["faults"] == 0 and counts["repeats"] > 10000,
        ),
        full=Form(
            commands=[f"{LEVELS} same --test {family} --same --every 7 --seed {SEED}" for family in FAMILIES]
            + [f"{LEVELS} processes --seed {SEED}"],
            figure="{threads:.0f} results with other threads and addresses, {repeats:.0f} repeats, {pairs:.0f} with "
            "other buffers and positions, {processes:.0f} in two processes; {faults:.0f} differ",
            holds=lambda counts: counts["failed"] == 0 and counts["faults"] == 0 and counts["repeats"] > 1000000,
            minutes=240,
        ),
    ),
    Row(
        number=4,
        measure="NaN, infinities, zeros and denormals give the documented results in each vector lane and tail; finite "
        "numbers raise no floating-point exception; control word and errno stay unchanged",
        aim="no failure; the functions that flushing of denormals changes are those of `flushed.txt`",
        quick=Form(
            commands=[
                f"{LEVELS} special --quick --special 1 --seed {SEED}",
                f"{LEVELS} flush --quick --flush --traps --every 12 --seed {SEED}",
            ],
            figure=SPECIAL,
            holds=lambda counts: (
                counts["failed"] == 0 and counts["faults"] == 0 and counts["special"] > 30000 and counts["functions"] >= 80
            ),
        ),
        full=Form(
            commands=[
                f"{LEVELS} special --special 12 --test {family} --seed {SEED}" for family in FAMILIES if family != TILE
            ]
            + [f"{LEVELS} flush --flush --traps --seed {SEED}"],
            figure=SPECIAL,
            holds=lambda counts: (
                counts["failed"] == 0 and counts["faults"] == 0 and counts["calls"] >= 1000000 and counts["functions"] >= 80
            ),
            minutes=120,
        ),
    ),
]
