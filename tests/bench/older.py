"""The benchmarks as on an older processor: newer instructions are hidden from this package and from all peers.

``older_cpu.c``, which make links as libolder_cpu.so, does that for a process and its children. It needs Linux on an x86-64
processor with CPUID faulting: those of Intel, and of AMD since Zen 4.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from bench import limits

#: What a processor may seem to have at most.
LEVELS = ("avx2", "avxvnni", "avx512", "avx512vnni", "avx512bf16")
_VARIABLE = "BENCH_CPU"


def level() -> str:
    """What this process sees at most; empty: all that the processor has."""
    return os.environ.get(_VARIABLE, "")


def environment(newest: str) -> dict[str, str]:
    """The environment in which a program sees at most this level."""
    preloaded = filter(None, (str(limits.built("libolder_cpu.so")), os.environ.get("LD_PRELOAD")))
    return {**os.environ, _VARIABLE: newest, "LD_PRELOAD": " ".join(preloaded)}


def restart(newest: str, argv: Sequence[str]) -> None:
    """Continues as a process that sees at most this level, unless it does already."""
    if level() != newest:
        os.execve(sys.executable, [sys.executable, "-m", "bench", *argv], environment(newest))
