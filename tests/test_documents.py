"""Every program and every command of README.md and of the pages under docs/ runs, and prints the documented text."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

import pysimd
from pysimd import lowlevel
from support import ROOT, documents
from support.documents import BLOCKS, PAGES, Block


def of_language(language: str) -> Sequence[object]:
    """The blocks to run, as parameters of a test."""
    return [
        pytest.param(block, id=f"{block.page.relative_to(ROOT)}:{block.line}", marks=[pytest.mark.full] * block.full)
        for block in BLOCKS
        if block.language == language and not (language == "c" and block.output is None)
    ]


def assert_printed(printed: str, output: str | None) -> None:
    """Compares with the text block, in which "..." stands for anything within a line."""
    if output is None:
        return
    pattern = "[^\n]*".join(re.escape(part) for part in output.split("..."))
    matches = re.fullmatch(pattern, printed) is not None
    assert matches, f"printed:\n{printed}\nexpected:\n{output}"


@pytest.fixture
def folder(block: Block, tmp_path: Path) -> Path:
    """The folder in which the block runs."""
    if block.skip:
        pytest.skip(block.skip)
    place = tmp_path / "page"
    place.mkdir()
    documents.prepare_folder(block, place)
    return place


@pytest.mark.parametrize("block", of_language("python"))
def test_python(block: Block, folder: Path) -> None:
    python = documents.interpreter_for(block)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([python, block.name], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert_printed(done.stdout, block.output)


@pytest.mark.parametrize("block", of_language("c"))
def test_c(block: Block, folder: Path) -> None:
    documents.interpreter_for(block)
    documents.compile_c(folder / block.name, folder / "program")
    assert_printed(documents.shell("./program", folder), block.output)


@pytest.mark.parametrize("block", of_language("sh"))
def test_shell(block: Block, folder: Path) -> None:
    documents.interpreter_for(block)
    home = str(folder.parent)
    if "$HOME/.local" in block.text and "make install" not in block.text:
        documents.shell("make install PREFIX=$HOME/.local", folder, HOME=home)
    if (folder / "program.c").exists():
        documents.compile_c(folder / "program.c", folder / "program")
    assert_printed(documents.shell(block.text, folder, HOME=home, PREFIX=f"{home}/usr"), block.output)


def test_blocks_are_found() -> None:
    """A block that is not found is not tested."""
    for page in PAGES:
        fences = len(re.findall(r"^```(?:c|python|sh)\n", page.read_text(), flags=re.MULTILINE))
        assert fences == sum(block.page == page for block in BLOCKS), page
    for block in BLOCKS:
        shown = block.output is not None or block.skip or block.language == "sh"
        assert shown or (block.language == "c" and block.file), f"{block.page}:{block.line} promises no output"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
        assert (page.parent / link).exists(), link


def test_files_named_by_the_architecture_exist() -> None:
    """By their path or the end of it, such as `ops/convolution.h`; names with a placeholder are left out."""
    folders = [ROOT / name for name in ("libsrc", "pysimd", "tests", "include", "docs")]
    paths = [*ROOT.glob("*.md"), *(path for folder in folders for path in folder.rglob("*.*"))]
    files = [f"/{path.relative_to(ROOT)}" for path in paths]
    text = (ROOT / "docs/architecture.md").read_text()
    named = set(re.findall(r"`([\w/]+\.(?:py|c|h|txt|mk|md|sh))(?: \w+)*(?:\(\))?`", text))
    assert len(named) > 60
    missing = [name for name in sorted(named) if not any(file.endswith(f"/{name}") for file in files)]
    assert missing == []


def test_operators_of_onnx_have_functions() -> None:
    """The names in the tables of the guide exist."""
    rows = re.findall(r"^\| [A-Z][^|]*\|([^|]*)\|([^|]*)\|", (ROOT / "docs/guides/onnx.md").read_text(), flags=re.MULTILINE)
    assert len(rows) > 40
    for in_c, in_python in rows:
        for name in re.findall(r"`(\w+)`", in_c):
            assert hasattr(lowlevel.lib, name), name
        for name in re.findall(r"`(\w+)`", in_python):
            assert hasattr(pysimd, name), name
