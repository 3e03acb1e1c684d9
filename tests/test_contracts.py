"""The table of ``docs/contracts.md``: it has every sentence of the page, and the tests that it names exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support import ROOT

PAGE = (ROOT / "docs" / "contracts.md").read_text()
TEXT, _, TABLE = PAGE.partition("\n## Tests\n")
ROWS = re.findall(r"^\| (.+) \.\.\. \| (.+) \|$", TABLE, flags=re.MULTILINE)


def joined(text: str) -> str:
    return " ".join(text.split())


def paragraphs() -> list[str]:
    """The paragraphs and the entries of lists, without tables and headings."""
    blocks = re.split(r"\n\n|\n(?=- )", TEXT)
    return [joined(block).removeprefix("- ") for block in blocks if not re.match(r"\s*(#|\||$)", block)]


def test_every_paragraph_begins_a_row() -> None:
    """A row stands for the sentences up to the next one, so each paragraph begins one."""
    assert len(paragraphs()) > 30
    without = [text for text in paragraphs() if not any(text.startswith(opening) for opening, _ in ROWS)]
    assert not without


def test_rows_are_in_the_order_of_the_page() -> None:
    text, place = " ".join(paragraphs()), 0
    for opening, _ in ROWS:
        found = text.find(opening, place)
        assert found >= 0, f"no sentence {opening!r} after {text[place : place + 60]!r}"
        assert found == 0 or text[found - 2] in ".:)|", f"{opening!r} begins no sentence"
        place = found + len(opening)


@pytest.mark.parametrize(("opening", "tests"), ROWS, ids=[opening for opening, _ in ROWS])
def test_the_tests_exist(opening: str, tests: str) -> None:
    file = Path()
    named = re.findall(r"`((?:[\w/]+\.(?:py|c|sh) )?\w+)`", tests)
    for words in named:
        name = words.split()[-1]
        if " " in words:
            file = ROOT / "tests" / words.split()[0]
        pattern = {".py": rf"^def {name}\(", ".c": rf"\b{name}\(", ".sh": rf"\b{name}\b"}[file.suffix]
        assert re.search(pattern, file.read_text(), flags=re.MULTILINE), f"{file.name} has no {name}"
    assert named or re.fullmatch(r"none: \w.{10,}", tests), f"{opening!r} has neither a test nor a reason"
