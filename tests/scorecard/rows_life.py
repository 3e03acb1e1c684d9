"""Bad arguments, the life of the process, and an hour of mixed calls."""

from __future__ import annotations

from collections.abc import Mapping

from scorecard.row import Form, Row

TESTS = 'build/"$(uname -m)"-cc/tests'
LIBRARY = 'build/"$(uname -m)"-cc/libsimdnet.so'
PYTHON = "PYTHONPATH=.:tests .venv/bin/python"


def made(program: str) -> str:
    """A command that runs a C test, which make builds if it does not exist."""
    name, _, arguments = program.partition(" ")
    return f"make -s {TESTS}/{name} > /dev/null && {TESTS}/{name} {arguments}".strip()


# ---- bad arguments

C_KINDS = ("null", "overlap", "context", "init", "state", "size", "enumerator", "foreign", "half_made")
PYTHON_KINDS = (
    "array",
    "option",
    "output",
    "context",
    "overlap",
    "lie",
    "released",
    "half_made",
    "init",
    "attribute",
    "foreign",
)
BAD = " ".join(f"tests/test_{subject}.py" for subject in ("refusals", "messages", "overlap", "subclasses", "contexts"))


def all_kinds(counts: Mapping[str, float]) -> bool:
    kinds = [*(f"c_{kind}" for kind in C_KINDS), *(f"python_{kind}" for kind in PYTHON_KINDS)]
    enough = counts.get("c_cases", 0) >= 1000 and counts.get("python_cases", 0) >= 1000
    return enough and all(counts.get(kind, 0) > 0 for kind in kinds) and not counts.get("failed")


def every_parameter(seed: int, level: str = "") -> str:
    """The C functions of the header; the file holds the last call, for the case that the process dies."""
    cap = f"SIMDNET_MAX_ISA={level} " if level else ""
    note = f"build/scorecard/call-{level}{seed}"
    return f"head -c 8192 /dev/zero > {note} && {cap}{PYTHON} tests/c_refusals.py {note} {seed}"


FIGURE = (
    "{c_cases:.0f} cases in C: {c_null:.0f} NULL, {c_size:.0f} sizes, {c_enumerator:.0f} enumerators, "
    "{c_foreign:.0f} foreign and {c_half_made:.0f} incomplete contexts, {c_overlap:.0f} overlaps; "
    "{python_cases:.0f} in Python: {python_array:.0f} arrays, {python_option:.0f} options, {python_output:.0f} outputs, "
    "{python_lie:.0f} wrong attributes, {python_overlap:.0f} overlaps, {python_attribute:.0f} assignments, "
    "{python_init:.0f} second __init__, {python_half_made:.0f} incomplete, {python_released:.0f} closed and "
    "{python_foreign:.0f} foreign contexts; {failed:.0f} failed"
)

# ---- the life of the process

OPENED = (
    "mkdir -p build/scorecard && "
    "cc -std=c99 -pthread -Iinclude tests/c/opened_late.c -ldl -o build/scorecard/opened_late && "
    f"build/scorecard/opened_late {LIBRARY}"
)
ALLOWED = r"""$(taskset -cp $$ | sed 's/.*: \([0-9]*\).*/\1/')"""  # the first of the processors that this process may use
ONE_PROCESSOR = f"make -s {TESTS}/test_callers > /dev/null && taskset -c {ALLOWED} {TESTS}/test_callers"
ENDS = ".venv/bin/python -m pytest tests/test_process.py --rounds"


def life(forks: int, opened: int) -> Form:
    """The form with so many forks, cancelled threads and signals."""
    quick = forks < 1000
    return Form(
        commands=[
            made(f"test_callers {forks}"),
            f"{ONE_PROCESSOR} {forks // 10}",
            made("test_threads"),
            f"{OPENED} {opened}",
            made("test_stack"),
            *([] if quick else [made("check --quick --stack 64 --jobs 2")]),
            *([f"{ENDS} 1"] if quick else [f"{ENDS} 10 -k '{part}'" for part in ("not interpreter", "interpreter")]),
        ],
        figure="{forks:.0f} forks, {cancellations:.0f} cancelled threads and {signals:.0f} signals during calls, "
        "an eleventh of each on one processor; loaded {opened:.0f} times; {passed:.0f} passed, {failed:.0f} failed",
        holds=lambda counts: (
            all(counts.get(kind, 0) >= forks for kind in ("forks", "cancellations", "signals"))
            and counts.get("opened", 0) >= opened
            and not counts.get("failed")
        ),
        minutes=1 if quick else 15,
    )


# ---- the soak


def soak(minutes: int) -> str:
    return f"{PYTHON} tests/soak.py --minutes {minutes} --seed 1"


ROWS = [
    Row(
        8,
        "bad arguments are refused with a message, and nothing is written: NULL, impossible and overflowing sizes, "
        "unknown enumerators, foreign, released and incomplete contexts, arrays that do not fit or overlap",
        "1000 cases in C and 1000 in Python or more, no failure",
        Form(
            commands=[made("check --quick --refused"), every_parameter(1), f".venv/bin/python -m pytest --scorecard {BAD}"],
            figure=FIGURE,
            holds=all_kinds,
            minutes=1,
        ),
        Form(
            commands=[
                made("check --refused --jobs 2"),
                every_parameter(1),
                # Other valid calls and another level are no other cases, so their counts are not printed.
                *(f"{every_parameter(seed)} > build/scorecard/refusals" for seed in range(2, 21)),
                *(f"{every_parameter(seed, 'base')} > build/scorecard/refusals" for seed in range(21, 31)),
                f".venv/bin/python -m pytest --scorecard {BAD}",
            ],
            figure=FIGURE,
            holds=all_kinds,
            minutes=3,
        ),
    ),
    Row(
        11,
        "forks, cancelled threads and signals during calls do no harm; nor does loading and unloading the library, "
        "ending the interpreter with live contexts and threads, a limit on processes, one processor, or a stack of 64 KB",
        "1000 forks, cancelled threads and signals, 200 times loaded: no hang, no crash, correct results",
        life(forks=200, opened=50),
        life(forks=1000, opened=200),
    ),
    Row(
        15,
        "random calls, models and contexts from 4 threads give the bits of the first call for an hour; memory does not grow",
        "no wrong result; after 5 minutes at most 1 MB more",
        None,
        Form(
            commands=[soak(60)],  # one command: what grows slowly would not be seen in parts
            figure="{seconds:.0f} s: {calls:.0f} calls, of which {life:.0f} create and release a context and {model:.0f} "
            "run a model; {wrong:.0f} wrong; memory grew by {most_growth:.0f} KB at most",
            holds=lambda counts: (
                counts.get("seconds", 0) >= 3600 and counts.get("wrong", 1) == 0 and counts.get("most_growth", 1e9) <= 1024
            ),
            minutes=60,
        ),
    ),
]
