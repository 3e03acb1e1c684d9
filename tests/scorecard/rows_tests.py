"""Rows about the tests themselves: how much of the library they run, and which faults they find."""

from __future__ import annotations

from scorecard.row import Form, Row

COVERAGE = "PYTHONPATH=.:tests .venv/bin/python -m scorecard.coverage"
MUTATION = "PYTHONPATH=.:tests .venv/bin/python -m scorecard.mutation"
CHECK_PARTS, PYTEST_PARTS, MUTATION_PARTS = 6, 6, 40

ROWS = [
    Row(
        12,
        "the tests in C and in Python run the code in `libsrc/`, on the levels of the machine",
        "99% of lines, 85% of branches; the other lines are listed with reasons in `unreached.txt`",
        quick=None,
        full=Form(
            commands=[
                "make .venv/coverage.stamp",
                f"{COVERAGE} build",
                f"{COVERAGE} programs",
                *(f"{COVERAGE} check --part {i}/{CHECK_PARTS}" for i in range(1, CHECK_PARTS + 1)),
                *(f"{COVERAGE} threads --part {i}/{CHECK_PARTS}" for i in range(1, CHECK_PARTS + 1)),
                *(f"{COVERAGE} pytest --part {i}/{PYTEST_PARTS}" for i in range(1, PYTEST_PARTS + 1)),
                f"{COVERAGE} report",
            ],
            figure="{least_lines_percent}% of {lines:.0f} lines, {least_branches_percent}% of {branches:.0f} branches; "
            "{unreached:.0f} lines not reached, {unlisted:.0f} of them not listed",
            holds=lambda counts: (
                counts.get("least_lines_percent", 0) >= 99
                and counts.get("least_branches_percent", 0) >= 85
                and counts.get("unlisted", 1) == 0
            ),
            minutes=40,
        ),
    ),
    Row(
        13,
        "the tests catch faults put into the sources, one at a time: drawn from the syntax tree, or written by hand for "
        "rarely run branches",
        "in C at least 200 and 60, at least 97% caught; in Python at least 100 and 30, at least 95% caught",
        quick=None,
        full=Form(
            commands=[
                "make .venv/mutation.stamp",
                *(f"{MUTATION} run --depth nearest --part {i}/{MUTATION_PARTS}" for i in range(1, MUTATION_PARTS + 1)),
                *(f"{MUTATION} run --part {i}/{MUTATION_PARTS}" for i in range(1, MUTATION_PARTS + 1)),
                f"{MUTATION} report",
            ],
            figure="in C {least_caught_percent}% of {mutants:.0f} caught, {by_hand:.0f} by hand; {survived:.0f} "
            "survived; in Python {least_python_caught_percent}% of {python_mutants:.0f}, {python_by_hand:.0f} by hand; "
            "{python_survived:.0f} survived; "
            "not counted: {equivalent:.0f} that change no result, {same_code:.0f} that change no code",
            holds=lambda counts: (
                counts.get("least_caught_percent", 0) >= 97
                and counts.get("mutants", 0) - counts.get("by_hand", 0) >= 200
                and counts.get("by_hand", 0) >= 60
                and counts.get("least_python_caught_percent", 0) >= 95
                and counts.get("python_mutants", 0) - counts.get("python_by_hand", 0) >= 100
                and counts.get("python_by_hand", 0) >= 30
                and counts.get("not_tried", 1) == 0
            ),
            minutes=480,
        ),
    ),
]
