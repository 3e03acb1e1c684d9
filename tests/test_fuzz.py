"""Random arguments, including absurd ones, for every function: the library never crashes, and returns or refuses."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

from support import ROOT

ROUNDS = 150  # of a call of each function: about 3 s
# Functions that refuse nothing, or whose refusals the script cannot count.
NO_SENTENCE = {"SimdFree", "SimdVersion", "SimdPerformanceStatistic", "SimdAlignment", "SimdGetFastMode"}
NO_SENTENCE |= {"SimdGetThreadNumber", "SimdSetThreadNumber", "SimdCpuInfo", "SimdnetGetPreference"}
NO_SENTENCE |= {"SimdSynetSpecifyTensorFormat", "SimdSynetTensorAlignment"}
NO_SENTENCE |= {"SimdnetLastError", "SimdnetLastErrorKind", "SimdnetVersionNumber", "SimdnetActiveIsa", "SimdnetIsaLevel"}
NO_SENTENCE |= {"SimdnetShareParams", "SimdnetSetPacked"}  # accept what is of a context alike, which is never drawn


def test_random_arguments(tmp_path: Path) -> None:
    seed = int(os.environ.get("FUZZ_SEED", "1"))
    note = tmp_path / "call"
    note.write_bytes(bytes(1 << 13))
    command = [sys.executable, str(ROOT / "tests" / "fuzz.py"), str(note), str(seed), str(ROUNDS)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONFAULTHANDLER": "1"}
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
        state = f"status {done.returncode}\n{done.stderr[-3000:]}"
    except subprocess.TimeoutExpired:
        done, state = None, "no end"
    last = note.read_bytes().split(b"\0")[0].decode()
    assert done and done.returncode == 0, f"{last}\n{state}\nrepeat with FUZZ_SEED={seed}"
    counts = ast.literal_eval(done.stdout)
    assert {name for name, (good, _) in counts.items() if not good} <= NO_SENTENCE
    assert {name for name, (_, refused) in counts.items() if not refused} <= NO_SENTENCE
