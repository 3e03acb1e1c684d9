"""Failure of each allocation."""

from __future__ import annotations

from scorecard.row import Form, Row

C = "make -s build/{0}/tests/test_allocation && build/{0}/tests/test_allocation".format("$(uname -m)-cc")
PYTEST = ".venv/bin/python -m pytest -s tests/test_allocation.py"
PYTHON = "PYTHONHASHSEED=0 PYTHONPATH=.:tests .venv/bin/python -m scorecard.no_memory"
FIGURE = "{points:,.0f} points, {failed:.0f} failed; {foreign:.0f} told by an exception of Python or NumPy"
LEVELS = ("base", "sse41", "avx2", "avx512", "avx512vnni")

ROWS = [
    Row(
        number=7,
        measure="failure of the N-th allocation, for N = 1 until success, once and for good, also in a new thread: every "
        "context, every function that allocates, every pass of the loader of models",
        aim="at least 5,000 points; an error of kind 2 or MemoryError at each, 0 leaks, 0 aborts",
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
