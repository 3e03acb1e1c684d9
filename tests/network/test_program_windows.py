"""Programs in C for Windows: compiled for it by ziglang, with the DLL of `make TARGET=windows`, and run under Wine.

SIMDNET_WINDOWS names the folder of another build.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from network.batch_model import Batch, inputs_of
from support import ROOT

BUILD = Path(os.environ.get("SIMDNET_WINDOWS", ROOT / "build" / "x86_64-windows"))
WINE = shutil.which("wine") or shutil.which("wine64")
PYTHONS = [ROOT / folder / "bin" / "python" for folder in (".venv-tools", ".venv")]


def _zig() -> list[str] | None:
    """The command that compiles for Windows, if a Python at hand has ziglang."""
    if importlib.util.find_spec("ziglang"):
        return [sys.executable, "-m", "ziglang", "cc"]
    for python in PYTHONS:
        if any(python.parent.parent.glob("lib/python*/site-packages/ziglang")):
            return [str(python), "-m", "ziglang", "cc"]
    return None


ZIG = _zig() if (BUILD / "simdnet.dll").is_file() and WINE else None
pytestmark = pytest.mark.skipif(ZIG is None, reason="there is no simdnet.dll (make TARGET=windows), no ziglang or no Wine")


def _program(folder: Path, *files: str) -> Path:
    program = folder / "program.exe"
    strict = ["-std=c99", "-pedantic", "-O2", "-g1", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'include'}"]
    linked = [*files, str(BUILD / "libsimdnet.dll.a"), "-o", str(program)]
    environment = {"ZIG_GLOBAL_CACHE_DIR": str(BUILD.parent / "zig"), **os.environ}  # where make has it
    command = [*(ZIG or []), "-target", "x86_64-windows-gnu", *strict, *linked]
    subprocess.run(command, cwd=folder, env=environment, check=True)
    shutil.copy(BUILD / "simdnet.dll", folder)
    return program


def _run(program: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "WINEDEBUG": "-all", "WINEPREFIX": str(BUILD / "wine")}
    command = [str(WINE), str(program), *arguments]
    return subprocess.run(command, cwd=program.parent, env=environment, capture_output=True, text=True, check=False)


def test_every_operator_of_a_batch_gives_the_numbers_of_linux(tmp_path: Path) -> None:
    """Another compiler has made the DLL, and functions such as exp() of some steps are of another C library."""
    model = Batch().model()
    files = [path.name for path in model.compile(tmp_path, name="net")]
    program = _program(tmp_path, *(name for name in files if name.endswith(".c")))
    runner = model.prepare()
    given = inputs_of(runner)
    for name, array in given.items():
        array.tofile(tmp_path / name)
    done = _run(program, "net.bin", *given)
    assert done.returncode == 0, done.stderr
    for i, expected in enumerate(runner(given).values()):
        found = np.fromfile(tmp_path / f"{i}.out", expected.dtype).reshape(expected.shape)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6, err_msg=str(i))


def test_weights_of_another_model_are_refused(tmp_path: Path) -> None:
    files = [path.name for path in Batch().model().compile(tmp_path, name="net")]
    program = _program(tmp_path, *(name for name in files if name.endswith(".c")))
    data = bytearray((tmp_path / "net.bin").read_bytes())
    data[7] ^= 1
    (tmp_path / "net.bin").write_bytes(data)
    done = _run(program, "net.bin")
    assert done.returncode == 1
    assert "is damaged, or the file of another model" in done.stderr
    assert _run(program, "C:\\no\\net.bin").returncode == 1
