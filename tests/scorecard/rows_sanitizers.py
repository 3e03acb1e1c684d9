"""Faults of memory and races that no result shows: sanitizers of two compilers, and valgrind."""

from __future__ import annotations

from collections.abc import Mapping

from scorecard.row import Form, Row

CHECKER = "build/$(uname -m)-cc/tests/check"
# A build with a sanitizer needs only the levels that this machine can run.
LEVELS = f"$({CHECKER} --test activation --every 1000 | sed -n 's/.*levels: base *//p')"


def needing(tool: str, package: str, command: str) -> str:
    return f"command -v {tool} > /dev/null || {{ echo 'skipped: no {tool} (package {package})'; exit 0; }}; {command}"


def counted(name: str, command: str) -> str:
    """The command's passed tests as the count NAME, and its reports."""
    return f"set -o pipefail; {command} 2>&1 | python3 tests/scorecard/reports.py {name}"


def valgrind(level: str, every: int, seed: int) -> str:
    """Some cases of each family. A load that is partly behind a block of memory is a report."""
    run = "valgrind -q --partial-loads-ok=no --error-exitcode=9"
    check = f"{CHECKER} --quick --isa {level} --every {every} --seed {seed} --jobs $(nproc)"
    return needing("valgrind", "valgrind", counted("valgrind", f"{run} {check}"))


ASAN_OPTIONS = "ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1"
ASAN_CLANG = needing("clang", "clang", counted("clang", "make asan CHECK_FLAGS='--seed 1'"))
# All checks, also those that clang takes minutes to compile.
ASAN_GCC = needing(
    "gcc",
    "gcc",
    counted(
        "gcc",
        f"{ASAN_OPTIONS} make CC=gcc VARIANT=$(uname -m)-gcc-asan ISAS=\"{LEVELS}\" CHECK_FLAGS='--quick --seed 1' "
        "CFLAGS='-O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined' check-programs",
    ),
)
# At level base: of intrinsics, MemorySanitizer knows few.
MSAN = needing(
    "clang",
    "clang",
    "make CC=clang VARIANT=$(uname -m)-clang-msan ISAS=base CFLAGS='-O1 -g1 -fno-omit-frame-pointer -fsanitize=memory' "
    "build/$(uname -m)-clang-msan/tests/check && "
    + counted("msan", "build/$(uname -m)-clang-msan/tests/check --quick --seed 1 --jobs $(nproc)"),
)
TSAN = "TSAN_OPTIONS='halt_on_error=1 die_after_fork=0' setarch -R build/$(uname -m)-cc-tsan/tests/test_races"
SHARDS = 10


def quiet(counts: Mapping[str, float]) -> bool:
    return not counts.get("reports") and not counts.get("failed")


def complete(counts: Mapping[str, float]) -> bool:
    enough = min(counts.get("rounds", 0), counts.get("starts", 0)) >= 10_000
    return quiet(counts) and enough and all(counts.get(name) for name in ("valgrind", "clang", "gcc", "msan", "threads"))


ROWS = [
    Row(
        5,
        "sanitizers and valgrind report nothing: ASan and UBSan with clang and gcc, MSan on base, valgrind on base and "
        "avx2, ThreadSanitizer with all kinds of contexts, simultaneous first calls, changing level, threads and verbosity",
        "no report; ThreadSanitizer: 10,000 rounds and first calls",
        Form(
            [valgrind(level, 200, 1) for level in ("base", "avx2")],
            "{reports:.0f} reports: {valgrind:.0f} cases under valgrind, {failed:.0f} failed (.ci/run has the sanitizers)",
            quiet,
            minutes=3,
        ),
        Form(
            [
                *(valgrind(level, 10, seed) for level in ("base", "avx2") for seed in (1, 2)),
                ASAN_CLANG,
                ASAN_GCC,
                MSAN,
                counted("threads", "make tsan"),
                *(counted("threads", f"{TSAN} 20000 1000") for _ in range(SHARDS)),
            ],
            "{reports:.0f} reports: tests and cases under valgrind {valgrind:.0f}, ASan and UBSan by clang {clang:.0f}, "
            "by gcc {gcc:.0f}, MSan {msan:.0f}; ThreadSanitizer {rounds:.0f} rounds, {starts:.0f} first calls; "
            "{failed:.0f} failed",
            complete,
            minutes=120,
        ),
    )
]
