"""The lists of the card's rows about tests fit the sources: faults written by hand, lines that no test reaches."""

from __future__ import annotations

import pytest
from scorecard import coverage, mutants
from support import ROOT


@pytest.fixture(autouse=True)
def in_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def test_each_fault_changes_one_place() -> None:
    faults = mutants.hand()
    assert len({fault.key for fault in faults}) == len(faults) >= 60
    assert all(fault.old != fault.new for fault in faults)


def test_a_fault_whose_text_is_gone_is_reported() -> None:
    gone = mutants.Entry("libsrc/runtime/memory.c", "", "no such line", "")
    with pytest.raises(ValueError, match=r"contains 0 times, expected once: no such line"):
        mutants.mutant_of(gone)


def test_each_unreached_line_exists() -> None:
    for file, text in coverage.read_list(coverage.LIST.read_text()):
        lines = [line.strip() for line in (ROOT / file).read_text().splitlines()]
        assert text.removesuffix(" ...") in lines, f"{file}: {text}"


def test_an_entry_means_its_line_or_its_block() -> None:
    lines = ["void f(void)", "{", "    if (a) {", "        b();", "    }", "    c();", "}", "int g;"]
    assert coverage.covering(lines, ["c();"]) == {6: ["c();"]}
    assert sorted(coverage.covering(lines, ["if (a) { ..."])) == [3, 4, 5]
    assert sorted(coverage.covering(lines, ["void f(void) ..."])) == [1, 2, 3, 4, 5, 6, 7]
