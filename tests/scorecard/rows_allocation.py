"""Failure of each allocation."""

from __future__ import annotations

from scorecard.row import Form, Row

C = "make -s build/{0}/tests/test_allocation && build/{0}/tests/test_allocation".format("$(uname -m)-cc")
PYTEST = ".venv/bin/python -m pytest -s tests/test_allocation.py"
PYTHON = "PYTHONHASHSEED=0 PYTHONPATH=.:tests .venv/bin/python -m scorecard.no_memory"
FIGURE = "{points:,.0f} points, {failed:.0f} failed; {foreign:.0f} reported by Python or NumPy"
LEVELS = ("base", "sse41", "avx2", "avx512", "avx512vnni")

ROWS = [
    Row(
        number=7,
        measure="a failed allocation is reported, whichever it is, in every context, every function that allocates and "
        "every step of loading a model: nothing leaks or aborts",
        aim="5,000 points of failure or more; an error of kind 2 or MemoryError at each",
        quick=Form(
            commands=(C, PYTEST, f"{PYTHON} 13 10 11 12 13 14"),
            figure=FIGURE,
            holds=lambda counts: counts["points"] >= 5000 and counts["failed"] == 0,
        ),
        full=Form(
            commands=(
                C,
                *(f"SIMDNET_MAX_ISA={level} {PYTEST}" for level in LEVELS),
                *(f"{PYTHON} 1 {seed}" for seed in range(10, 20)),
            ),
            figure=FIGURE,
            holds=lambda counts: counts["points"] >= 5000 and counts["failed"] == 0,
            minutes=15,
        ),
    )
]
