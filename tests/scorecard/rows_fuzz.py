"""Fuzzing, and hostile files of models."""

from __future__ import annotations

from scorecard.row import Form, Row

PYTHON = "PYTHONPATH=.:tests .venv/bin/python"


def calls(seed: int, executions: int, seconds: int = 0) -> str:
    return f"{PYTHON} tests/fuzz/fuzz_calls.py --seed {seed} --executions {executions} --seconds {seconds}"


def mutations(seed: int, count: int) -> str:
    return f"{PYTHON} tests/fuzz_python.py {seed} {count}"


def files(seed: int, count: int) -> str:
    """`count` files of each format."""
    return f"{PYTHON} -m network.fuzz {count} {seed}"


def guided(seed: int, count: int) -> str:
    return f"{PYTHON} tests/fuzz/fuzz_models.py --seed {seed} --files {count}"


def hostile(seed: int, cases: int) -> str:
    return f"{PYTHON} -m network.hostile_models --seed {seed} --cases {cases}"


FOUND = ("findings", "mutation_findings", "file_findings")
FIGURE = (
    "{executions:.0f} executions in C, each on base and twice on another level ({least_rate:.0f} a second), "
    "{mutations:.0f} calls in Python ({least_mutation_rate:.0f} a second), {files:.0f} model files "
    "({least_file_rate:.0f} a second): {findings:.0f} + {mutation_findings:.0f} + {file_findings:.0f} findings"
)
HOSTILE = (
    "{cases:.0f} files and paths, {refused:.0f} refused: {findings:.0f} findings; at most {most_seconds:.2f} s and "
    "{most_mb:.0f} MB, above 96 MB {most_memory_ratio:.1f} times the size of the file"
)

ROWS = [
    Row(
        6,
        "fuzzing finds no fault: coverage-guided calls of the public functions in C, with arrays between unreadable "
        "pages and compared with base; mutated calls in Python; mutated model files",
        "10^7 executions, 10^6 calls, 10^6 files, no finding",
        Form(
            [calls(1, 100_000, 40), mutations(1, 8_000), files(1, 4_000)],
            FIGURE,
            lambda c: c["mutations"] >= 8_000 and c["files"] >= 8_000 and not any(map(c.get, FOUND)),
            minutes=2,
        ),
        Form(
            ["make .venv/fuzz.stamp"]
            + [mutations(seed, 100_000) for seed in range(100, 110)]
            + [files(seed, 25_000) for seed in range(100, 116)]
            + [guided(seed, 25_000) for seed in range(100, 108)]
            + [calls(seed, 125_000) for seed in range(100, 180)],
            FIGURE,
            lambda c: c["executions"] >= 1e7 and c["mutations"] >= 1e6 and c["files"] >= 1e6 and not any(map(c.get, FOUND)),
            minutes=90,
            gathered=True,
        ),
    ),
    Row(
        16,
        "hostile model files and paths are refused with a message: truncated, with flipped bits, nested, oversized, "
        "cyclic, in other folders, FIFOs and devices",
        "no finding; at most 1 s and 96 MB + 2 times the size of the file",
        Form([hostile(1, 650)], HOSTILE, lambda c: c["cases"] >= 600 and not c["findings"], minutes=1),
        Form(
            [hostile(seed, 1300) for seed in range(100, 110)],
            HOSTILE,
            lambda c: c["cases"] >= 13_000 and not c["findings"],
            20,
        ),
    ),
]
