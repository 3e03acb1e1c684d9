"""The origin of figures: the processor, the levels, the versions, the limits."""

from __future__ import annotations

import datetime
import os
import platform
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import pysimd
from bench import limits, older

# Bytes moved by the copies whose speed is reported: on most machines they are in the second cache, the third, and memory.
_COPIES = {"256 KB": 256 << 10, "4 MB": 4 << 20, "256 MB": 256 << 20}


def line() -> str:
    """One line that describes the machine."""
    seen = f", as if it had {older.level()} at most" if older.level() else ""
    return f"simdnet {pysimd.version()}, {_cpu_name()}{seen}, {len(_affinity())} of {os.cpu_count()} hardware threads"


def facts(levels: Iterable[str]) -> dict[str, Any]:
    """All that may explain a figure; the limits are measured now, in about a second."""
    return {
        "line": line(),
        "cpu": _cpu_name(),
        "processor": processor(),
        "cpu_info": pysimd.cpu_info(),
        "affinity": _affinity(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "commit": _commit(),
        "versions": {"simdnet": pysimd.version(), "python": platform.python_version(), "numpy": np.__version__},
        "levels": list(pysimd.isa_levels()),
        "limits": {
            "flops": {level: _peak(level) for level in levels},
            "copy": _copies(),
            "read": limits.ReadLimit().bytes_per_second(),
        },
    }


def _cpu_fields() -> dict[str, str]:
    """The lines of /proc/cpuinfo about the first processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().split("\n\n")[0].splitlines()
    except OSError:
        return {}
    return {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}


def _cpu_name() -> str:
    return _cpu_fields().get("model name") or platform.processor() or platform.machine()


_VENDORS = {"AuthenticAMD": "amd", "GenuineIntel": "intel"}


def processor() -> str:
    """A name for files: vendor, family and model, since servers hide the marketing name. "amd-19h-11h" is Zen 4,
    "intel-06h-cfh" Emerald Rapids; of ARM, implementer and part. With the level that is seen at most, if any."""
    return "-".join(filter(None, (processor_of(_cpu_fields()), older.level())))


def processor_of(fields: Mapping[str, str]) -> str:
    """The name for the fields of /proc/cpuinfo."""
    if "vendor_id" in fields:
        vendor = _VENDORS.get(fields["vendor_id"], fields["vendor_id"].lower())
        return f"{vendor}-{int(fields['cpu family']):02x}h-{int(fields['model']):02x}h"
    if "CPU part" in fields:
        return f"arm-{int(fields['CPU implementer'], 16):02x}h-{int(fields['CPU part'], 16):03x}h"
    return platform.machine()


def _affinity() -> list[int]:
    return sorted(os.sched_getaffinity(0))


def _commit() -> str | None:
    """The commit of the checkout that contains this file, with a plus if it was changed; None for an installed package."""
    git = ["git", "-C", str(Path(__file__).parent)]
    try:
        commit = subprocess.run([*git, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, check=True)
        changes = subprocess.run([*git, "status", "--porcelain", "-uno"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return commit.stdout.strip() + ("+" if changes.stdout.strip() else "")


def _peak(level: str) -> float:
    """Operations per second of multiply-adds, the best of a few measurements, which reflects the clock."""
    with pysimd.max_isa(level):
        return max(limits.operations_per_second() for _ in range(5))


def _copies() -> dict[str, float]:
    """Bytes per second, read and written."""
    return {name: size / min(limits.CopyLimit(size).seconds() for _ in range(5)) for name, size in _COPIES.items()}
