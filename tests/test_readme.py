"""Statements of the README about names, targets, version and the installed library. test_documents.py runs its programs."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

import pysimd
from support import ROOT
from support.documents import blocks_of, compile_c, shell

README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[tuple[str, str | None]]:
    return [(block.text, block.output) for block in blocks_of(ROOT / "README.md") if block.language == language]


def test_there_are_blocks() -> None:
    assert len(blocks("c")) >= 1
    assert len(blocks("python")) >= 2
    assert len(blocks("sh")) >= 4


@pytest.mark.parametrize(("text", "output"), blocks("c"))
def test_c_programs_with_the_installed_library(text: str, output: str, tmp_path: Path) -> None:
    """Installs, compiles and runs by the README's own commands, in a separate home."""
    (commands,) = (command for command, _ in blocks("sh") if "make install" in command)
    install, *rest = commands.splitlines()
    shell(install, ROOT, HOME=str(tmp_path))
    (tmp_path / "program.c").write_text(text)
    assert shell("\n".join(rest), tmp_path, HOME=str(tmp_path)) == output
    if shutil.which("pkg-config"):
        prefix = tmp_path / ".local"
        flags = shell("pkg-config --cflags --libs simdnet", tmp_path, PKG_CONFIG_PATH=str(prefix / "lib" / "pkgconfig"))
        assert flags.split() == [f"-I{prefix}/include", f"-L{prefix}/lib", "-lsimdnet"]
    shell(install.replace("make install", "make uninstall"), ROOT, HOME=str(tmp_path))
    left = [path.name for path in (tmp_path / ".local").rglob("*") if not path.is_dir()]
    assert left == []


@pytest.mark.parametrize(("text", "output"), blocks("c"))
def test_c_programs_on_an_older_instruction_set(text: str, output: str, tmp_path: Path) -> None:
    (tmp_path / "program.c").write_text(text)
    compile_c(tmp_path / "program.c", tmp_path / "program")
    (command,) = (command for command, _ in blocks("sh") if "SIMDNET_MAX_ISA" in command)
    assert shell(command, tmp_path) == output


def test_make_targets_exist() -> None:
    targets = set(re.findall(r"^([a-z]+):(?!=)", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    named = set(re.findall(r"(?:^|`)make ([a-z]+)", README, flags=re.MULTILINE))
    assert named >= {"demo", "test", "bench", "install", "examples", "help"}
    assert named <= targets


def test_table_names_public_things() -> None:
    table = README[README.index("## Functions") : README.index("## Instruction sets")]
    rows = [line.split("|") for line in table.splitlines() if line.startswith("|")][2:]
    functions = " ".join(dir(pysimd.lowlevel))
    for _, _, c, python, *_ in rows:
        for name in re.findall(r"`(\w+)`", python):
            assert name in pysimd.__all__
        for name in re.findall(r"`(\w+)", c):
            assert name in functions


def test_changelog_begins_with_this_version() -> None:
    first = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)[0]
    assert first == pysimd.__version__
