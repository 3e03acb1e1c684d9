"""Sizes at the borders of 2^31, 2^32 and 2^63."""

from __future__ import annotations

from scorecard.row import Form, Row

INIT = "make -s build/{0}/tests/test_init && build/{0}/tests/test_init".format("$(uname -m)-cc")
SIZES = "PYTHONPATH=.:tests .venv/bin/python -m scorecard.sizes"
REFUSALS = "PYTHONPATH=.:tests .venv/bin/python -m scorecard.refusals"
FIGURE = (
    "{huge:.0f} functions and contexts with arrays beyond 2^32 elements, {windows:,.0f} windows compared with base; "
    "{refused:,.0f} calls and {absurd:,.0f} Inits with larger sizes than any memory, all refused; {cases:,.0f} Inits, "
    "each within {most_ms:.1f} ms and {most_bytes:,.0f} bytes beyond its BufferSize functions; {failed:.0f} failed"
)
LEVELS = ("base", "sse41", "avx2", "avx512", "avx512vnni", "avx512bf16", "amx")
PARTS = 10

ROWS = [
    Row(
        number=9,
        measure="sizes near 2^31, 2^32 and 2^63 never overflow: arrays of more than 2^32 elements work, larger sizes "
        "than any memory are refused, and each Init is quick and small",
        aim="no failure; each Init within 50 ms and 1 MB beyond its BufferSize functions",
        quick=Form(
            commands=(INIT, REFUSALS, f"{SIZES} --quick"),
            figure=FIGURE,
            holds=lambda c: c["failed"] == 0 and c["huge"] >= 40 and c["most_ms"] <= 50 and c["most_bytes"] <= 1 << 20,
            minutes=4,
        ),
        full=Form(
            commands=(
                INIT,
                f"{REFUSALS} 300",
                *(
                    f"{SIZES} --power 33 --only {family}"
                    for family in ("softmax", "binary", "copy", "gemm", "add", "activation")
                ),
                *(f"{SIZES} --level {level} --part {part}/{PARTS}" for level in LEVELS for part in range(PARTS)),
            ),
            figure=FIGURE,
            holds=lambda c: c["failed"] == 0 and c["huge"] >= 200 and c["most_ms"] <= 50 and c["most_bytes"] <= 1 << 20,
            minutes=120,
        ),
    )
]
