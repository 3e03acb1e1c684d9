"""The table a person reads and the JSON a program reads."""

from __future__ import annotations

import dataclasses
import json
import platform
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pysimd._library import ffi, lib
from pysimd.bench.runner import Result

_HEAD = f"{'layer':<36} {'layout':<11} {'level':<11} {'us':>9} {'best':>9}  {'of limit':<13} {'of aim':>6}"


def header() -> str:
    """The lines above the table."""
    return f"{machine_line()}\n\n{_HEAD}\n{'-' * len(_HEAD)}"


def machine_line() -> str:
    """What the figures were taken on."""
    return f"simdnet {ffi.string(lib.SimdVersion()).decode()}, {_cpu_name()}, one thread"


def _cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def row(result: Result) -> str:
    """One line of the table: median and best time, fraction of the limit, and of the aim where there is one."""
    aim = f"{result.aim_seconds / result.seconds:6.2f}" if result.aim_seconds else ""
    return (
        f"{result.layer:<36} {result.layout:<11} {result.isa:<11} {result.seconds * 1e6:9.2f} "
        f"{result.best_seconds * 1e6:9.2f}  {result.fraction:7.2f} {result.limit:<5} {aim:>6}"
    )


def write_json(results: Iterable[Result], path: Path) -> None:
    """All figures, with the machine they were taken on."""
    rows: list[dict[str, Any]] = [dict(dataclasses.asdict(r), fraction=r.fraction) for r in results]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"machine": machine_line(), "results": rows}, indent=1) + "\n")
