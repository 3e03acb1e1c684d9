"""The page of versions and the release notes: what they say of requirements, names and sections is right."""

from __future__ import annotations

import re

import pytest

import pysimd
from support import ROOT

PAGE = (ROOT / "docs" / "versions.md").read_text()
NOTES = (ROOT / "CHANGELOG.md").read_text()
SECTIONS = ["Added", "Changed", "Deprecated", "Removed", "Fixed"]


def test_requirements() -> None:
    project = (ROOT / "pyproject.toml").read_text()
    patterns = {"Python": r'requires-python = ">=(.*)"', "NumPy": r'"numpy>=(.*?)"', "cffi": r'"cffi>=(.*?)"'}
    for name, pattern in patterns.items():
        (oldest,) = re.findall(pattern, project)[:1]
        assert f"| {name} | {oldest} or newer |" in PAGE


def test_supported_release() -> None:
    major, minor, _ = pysimd.__version__.split(".")
    assert f"| the newest release, {major}.{minor} |" in PAGE


def test_old_names_of_arguments() -> None:
    """The page has the old names that the package accepts, and no others."""
    pattern = r'@renamed\((?:frames=1, )?(\w+)="(\w+)"\)\n\s*def (\w+)\('
    found = {
        ("MergedConvolution32f" if name == "__init__" else name, old, new)
        for path in (ROOT / "pysimd").glob("*.py")
        for old, new, name in re.findall(pattern, path.read_text())
    }
    assert set(re.findall(r"^\| `(\w+)` \| `(\w+)` \| `(\w+)` \|$", PAGE, re.MULTILINE)) == found
    assert len(found) >= 4


@pytest.mark.parametrize("notes", re.split(r"^## ", NOTES, flags=re.MULTILINE)[1:], ids=lambda notes: notes.split("\n")[0])
def test_sections_of_release_notes(notes: str) -> None:
    """Each entry is in a section of the usual names, in their usual order."""
    before, *found = re.split(r"^### (.*)\n", notes, flags=re.MULTILINE)
    assert "\n- " not in before
    assert found[::2] == [name for name in SECTIONS if name in found[::2]]
    assert all("\n- " in text for text in found[1::2])
