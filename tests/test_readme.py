"""Statements of the README about names, figures, targets, version and the installed library. test_documents.py runs its
programs, test_packaging.py renders what the package index shows of it."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from statistics import geometric_mean

import pytest

import pysimd
from support import ROOT
from support.documents import blocks_of, compile_c, shell

README = (ROOT / "README.md").read_text()
FUNCTIONS = (ROOT / "docs" / "functions.md").read_text()


def blocks(language: str) -> list[tuple[str, str | None]]:
    return [(block.text, block.output) for block in blocks_of(ROOT / "README.md") if block.language == language]


def test_there_are_blocks() -> None:
    assert len(blocks("c")) >= 1
    assert len(blocks("python")) >= 1
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
    assert shell("SIMDNET_MAX_ISA=base ./program", tmp_path) == output


def test_make_targets_exist() -> None:
    targets = set(re.findall(r"^([a-z]+):(?!=)", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    named = set(re.findall(r"(?:^|`)make ([a-z]+)", README, flags=re.MULTILINE))
    assert named >= {"demo", "test", "bench", "install", "examples", "help"}
    assert named <= targets


def test_table_names_public_things() -> None:
    table = FUNCTIONS[: FUNCTIONS.index("\n## ")]
    rows = [line.split("|") for line in table.splitlines() if line.startswith("|")][2:]
    assert len(rows) > 40
    functions = " ".join(dir(pysimd.lowlevel))
    for _, _, c, python, *_ in rows:
        for name in re.findall(r"`(\w+)`", python):
            assert name in pysimd.__all__
        for name in re.findall(r"`(\w+)", c):
            assert name in functions


def test_first_model(tmp_path: Path) -> None:
    """The lines that load, prepare and run a model, with the model of the guide."""
    pytest.importorskip("onnx")
    (maker,) = (block.text for block in blocks_of(ROOT / "docs/guides/models.md") if block.file == "make_model.py")
    (text,) = (text for text, _ in blocks("python") if "pysimd.load" in text)
    (tmp_path / "program.py").write_text(f"{maker}\n{text}\nprint(y.shape)\n")
    assert shell("python program.py", tmp_path) == "model.onnx\n(1, 4)\n"


def test_figures_are_those_on_file() -> None:
    """The sentence below the picture: means and counts of the file that the picture is drawn from."""
    (processor,) = re.findall(r"!\[.*\]\(docs/figures/(.*)-overview.png\)", README)
    models = json.loads((ROOT / f"docs/figures/{processor}-models.json").read_text())["models"]
    ratios = {
        threads: [
            {name: ratio for name, (ratio, _) in run["ratios"].items()}
            for model in models
            for run in model["runs"]
            if (run["batch"], run["threads"]) == (1, threads)
        ]
        for threads in (1, 2)
    }
    mean = {
        name: f"{geometric_mean([row[name] for row in ratios[1] if name in row]):.2f}"
        for name in ("onnxruntime", "openvino", "ncnn")
    }
    ahead = [row["openvino"] for row in ratios[2] if row["openvino"] < 1]
    firsts = [model["first"] for model in models]
    assert all(first["simdnet"] == max(first.values(), key=lambda of: of["seconds"]) for first in firsts)
    text = " ".join(README.split())
    assert f"{len(models)} published models" in text
    assert f"ONNX Runtime takes {mean['onnxruntime']} times as long as simdnet, OpenVINO {mean['openvino']} times" in text
    assert f"and ncnn {mean['ncnn']} times (geometric means)" in text
    assert "in a new process all three give the first result earlier" in text
    assert f"OpenVINO is faster on {len(ahead)} of the models, once in {min(ahead):.2f} of simdnet's time" in text


def test_changelog_begins_with_this_version() -> None:
    first = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)[0]
    assert first == pysimd.__version__
