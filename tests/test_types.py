"""Type checkers find errors in wrong programs by the annotations of the package, and none in correct ones."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from support import ROOT

PROGRAMS = Path(__file__).resolve().parent / "typed"


def lines_with_errors(tool: str, program: Path, folder: Path) -> set[int]:
    """The lines of a program that a checker reports; skipped if it is not installed."""
    environment = {**os.environ, "MYPYPATH": str(ROOT), "PYTHONPATH": str(ROOT)}
    if tool == "mypy":
        if find_spec("mypy") is None:
            pytest.skip("mypy is not installed")
        command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--config-file", os.devnull]
        done = subprocess.run(
            [*command, "--cache-dir", str(folder), str(program)],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode in (0, 1), done.stderr + done.stdout
        return {int(line) for line in re.findall(rf"{program.name}:(\d+): error", done.stdout)}
    found = shutil.which(tool, path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if found is None:
        pytest.skip(f"{tool} is not installed")
    project = {"include": [str(program)], "extraPaths": [str(ROOT)], "typeCheckingMode": "standard", "strict": []}
    (folder / "pyrightconfig.json").write_text(json.dumps(project))
    done = subprocess.run(
        [found, "--outputjson", "--pythonpath", sys.executable, "--project", str(folder)],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    reports = json.loads(done.stdout)["generalDiagnostics"]
    return {
        r["range"]["start"]["line"] + 1 for r in reports if r["severity"] == "error" and r["file"].endswith(program.name)
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With mypy's cache for both programs."""
    return tmp_path_factory.mktemp("types")


@pytest.mark.parametrize("tool", ["mypy", "basedpyright", "pyright"])
def test_right_programs(tool: str, folder: Path) -> None:
    assert lines_with_errors(tool, PROGRAMS / "right.py", folder) == set()


@pytest.mark.parametrize("tool", ["mypy", "basedpyright", "pyright"])
def test_wrong_programs(tool: str, folder: Path) -> None:
    program = PROGRAMS / "wrong.py"
    wrong = {n for n, line in enumerate(program.read_text().splitlines(), 1) if line.endswith("# wrong")}
    assert len(wrong) > 20
    assert lines_with_errors(tool, program, folder) == wrong


def test_the_package_says_that_it_is_typed() -> None:
    assert (ROOT / "pysimd" / "py.typed").is_file()
    assert '"py.typed"' in (ROOT / "setup.py").read_text()
