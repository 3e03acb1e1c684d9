"""Every program and every command of README.md and of the pages under docs/ runs, and prints the documented text."""

from __future__ import annotations

import ast
import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Sequence
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


def files_named(text: str, before: str = "", after: str = "") -> set[str]:
    """By their path or the end of it, such as `ops/units.h`; names with a placeholder are left out."""
    return set(re.findall(rf"{before}(?<![\w./<>*-])((?:[\w-]+/)*[\w-]+\.(?:py|c|h|txt|mk|md|sh)\b){after}", text))


def missing_files(names: Iterable[str]) -> list[str]:
    folders = [ROOT / name for name in ("libsrc", "pysimd", "tests", "include", "docs", "examples")]
    paths = [*ROOT.glob("*.*"), *(path for folder in folders for path in folder.rglob("*.*"))]
    files = [f"/{path.relative_to(ROOT)}" for path in paths]
    return [name for name in sorted(names) if not any(file.endswith(f"/{name}") for file in files)]


def test_files_named_by_the_architecture_exist() -> None:
    named = files_named((ROOT / "docs/architecture.md").read_text(), "`", r"(?: \w+)*(?:\(\))?`")
    assert len(named) > 60
    assert missing_files(named) == []


def remarks(path: Path) -> Iterator[str]:
    """The comments of a file, and its docstrings."""
    text = path.read_text()
    if path.suffix in (".c", ".h"):
        yield from re.findall(r"/\*.*?\*/", text, flags=re.DOTALL)
        return
    yield from re.findall(r"^ *# .*", text, flags=re.MULTILINE)
    if path.suffix == ".py":
        documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        nodes: list[ast.AST] = [ast.parse(text)]
        while nodes:  # statements alone: a walk over all nodes takes three times as long
            node = nodes.pop()
            if isinstance(node, documented):
                yield ast.get_docstring(node) or ""
            for part in ("body", "orelse", "handlers", "finalbody"):
                nodes += getattr(node, part, [])


def test_files_named_in_comments_exist() -> None:
    """But for programs that a user writes, or that the comment says are written."""
    written = {"main.c", "program.c", "NAME_weights.c", *(f"NAME.{suffix}" for suffix in "ch")}
    named: dict[str, set[str]] = {}
    for folder in ("libsrc", "include", "pysimd", "tests"):
        for path in (ROOT / folder).rglob("*.*"):
            if path.suffix in (".c", ".h", ".py", ".mk", ".sh"):
                for name in files_named("\n".join(remarks(path))) - written:
                    named.setdefault(name, set()).add(str(path.relative_to(ROOT)))
    assert len(named) > 100
    assert {name: named[name] for name in missing_files(named)} == {}


_CONTEXT = "Init ExternalBufferSize InternalBufferSize Info SetParams Forward"
# What the documentation of June 2026 has and that of 2020 lacks: how the names of functions begin, and their ends.
_LATER = {
    "SimdSynetConvolution16b": _CONTEXT,
    "SimdSynetDeconvolution16b": _CONTEXT,
    "SimdSynetInnerProduct16b": _CONTEXT,
    "SimdSynetMergedConvolution16b": _CONTEXT,
    "SimdSynetScale16b": "Init Forward",
    "SimdSynetRelu16b": "",
    "SimdSynetSoftmax16b": "",
    "SimdSynetNormalizeLayerForward16bV2": "",
    "SimdSynetMergedConvolution8i": _CONTEXT,
    "SimdSynetInnerProduct8i": "",
    "SimdSynetScale8i": "Init InternalBufferSize SetParams Forward",
    "SimdSynetConvert32fTo8u": "",
    "SimdSynetConvert8uTo32f": "",
    "SimdSynetQuantizedConvolution": _CONTEXT,
    "SimdSynetQuantizedMergedConvolution": _CONTEXT,
    "SimdSynetQuantizedInnerProduct": _CONTEXT,
    "SimdSynetQuantizedAdd": "Init Forward",
    "SimdSynetQuantized": "ConcatLayerForward PreluLayerForward ScaleLayerForward ShuffleLayerForward",
    "SimdSynetSoftmax32f": "",
    "SimdSynetUnaryOperation32f": "",
    "SimdSynet": "Convolution32fInfo Convolution8iInfo Deconvolution32fInfo MergedConvolution32fInfo",
}


def test_functions_of_other_years() -> None:
    """All that later documents added are declared, and those of from-simd.md that they renamed."""
    names = {begin + end for begin, ends in _LATER.items() for end in ends.split() or [""]}
    assert len(names) == 72
    section = (ROOT / "docs/from-simd.md").read_text().partition("## Functions of other years")[2].partition("\n## ")[0]
    both = set(re.findall(r"`(Simd\w+)(?:\(\))?`", section))
    assert len(both) == 10
    assert (names | both) - set(dir(lowlevel.lib)) == set()


def test_list_of_missing_names_knows_both_headers(tmp_path: Path) -> None:
    """The commands of from-simd.md print what a program uses and neither header has."""
    block = next(block for block in BLOCKS if "used.txt" in block.text)
    include, program = tmp_path / ".local/include", tmp_path / "program"
    include.mkdir(parents=True)
    program.mkdir()
    for header in (ROOT / "include").iterdir():
        (include / header.name).symlink_to(header)
    names = ("SimdSynetAddBias", "SimdSynetSoftmax32f", "SimdSynetAbsent", "SimdSynetConvolution32fInfo")
    (program / "layers.cpp").write_text("".join(f"{name}();\n" for name in names))
    assert documents.shell(block.text, program, HOME=str(tmp_path)) == "SimdSynetAbsent\n"


def test_operators_of_onnx_have_functions() -> None:
    """The names in the tables of functions exist."""
    text = (ROOT / "docs/operators.md").read_text().partition("## Functions by operator")[2]
    rows = re.findall(r"^\| [A-Z][^|]*\|([^|]*)\|([^|]*)\|", text, flags=re.MULTILINE)
    assert len(rows) > 40
    for in_c, in_python in rows:
        for name in re.findall(r"`(\w+)`", in_c):
            assert hasattr(lowlevel.lib, name), name
        for name in re.findall(r"`(\w+)`", in_python):
            assert hasattr(pysimd, name), name
