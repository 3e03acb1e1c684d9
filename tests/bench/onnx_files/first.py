"""``python -m bench.onnx_files.first``: a process that loads a model with one library, prepares it, answers once, and prints
what that took. Its task is JSON on the standard input."""

from __future__ import annotations

import functools
import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.onnx_files import Input, values_of

_SECONDS = 120


@dataclass(frozen=True)
class First:
    """Seconds from the start of the process to its first answer, and the most memory that it had until then. Of both, the
    part until the library was imported, but no model loaded."""

    seconds: float
    peak_bytes: int
    import_seconds: float
    import_bytes: int


def measured(library: str, path: str, inputs: Sequence[Input], threads: int, python: str = "") -> First:
    """In a new process of this interpreter, or of `python`, which has the library. Raises ValueError if it fails."""
    task = json.dumps({"library": library, "path": path, "inputs": inputs, "threads": threads, "begin": time.monotonic()})
    found = [str(Path(__file__).parents[2])] if python else [path for path in sys.path if path]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(found)}
    environment["PYTHONPYCACHEPREFIX"] = _compiled().name
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    try:
        done = subprocess.run(
            [python or sys.executable, "-m", __name__],
            input=task,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            env=environment,
        )
    except subprocess.TimeoutExpired:
        raise ValueError(f"no answer within {_SECONDS} s") from None
    if done.returncode:
        raise ValueError((done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1])
    return First(**json.loads(done.stdout.splitlines()[-1]))


@functools.cache
def _compiled() -> tempfile.TemporaryDirectory[str]:
    """Where processes find compiled modules from the second one on, as those of installed packages are; a checkout may have
    none."""
    return tempfile.TemporaryDirectory(prefix="simdnet-bench-")


def _peak() -> int:
    """The most memory of this process. ru_maxrss of getrusage() would include what the process that started it had."""
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:"))
    return 1024 * int(line.split()[1])


def _main() -> None:
    task = json.load(sys.stdin)
    library = importlib.import_module(f"bench.onnx_files.{task['library']}")
    imported = time.monotonic(), _peak()
    inputs = values_of([Input(*given) for given in task["inputs"]])
    loaded = next(iter(library.build(task["path"], inputs, task["threads"])))()
    loaded.result()
    answered = time.monotonic(), _peak()
    facts = {"seconds": answered[0] - task["begin"], "peak_bytes": answered[1]}
    facts |= {"import_seconds": imported[0] - task["begin"], "import_bytes": imported[1]}
    print(json.dumps(facts))


if __name__ == "__main__":
    _main()
