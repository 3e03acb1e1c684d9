"""The page of the scorecard, and the lists of its rows about tests: faults written by hand, lines that no test reaches."""

from __future__ import annotations

import fnmatch
import json
import re
from collections import Counter
from pathlib import Path

import pytest

from scorecard import coverage, mutants, mutation, page, rows
from scorecard.row import Result, counts_of, print_counts
from support import ROOT


@pytest.fixture(autouse=True)
def in_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def test_the_page_shows_the_kept_results() -> None:
    """``python -m scorecard --page docs`` writes it."""
    kept = json.loads((ROOT / "docs/figures/scorecard.json").read_text())
    assert (ROOT / "docs/scorecard.md").read_text() == page.text_of(kept)


def test_a_result_below_a_later_target_does_not_pass() -> None:
    (row,) = (row for row in rows.ROWS if row.number == 14)
    kept: list[Result] = json.loads((ROOT / "docs/figures/scorecard.json").read_text())
    (result,) = (result for result in kept if (result["row"], result["form"]) == (14, "quick"))
    assert page.outcome_of(row, result) == "passes"
    assert page.outcome_of(row, Result(**{**result, "counts": {"passed": 1}})) == "to be repeated: the target has changed"
    assert page.outcome_of(row, Result(**{**result, "held": False})) == "FAILS"


def test_counts_are_read_as_they_were_printed(capsys: pytest.CaptureFixture[str]) -> None:
    print_counts(cases=3, least_rate=2.5)
    print_counts(cases=4, least_rate=1.5)
    assert counts_of(capsys.readouterr().out) == {"cases": 7, "least_rate": 1.5}


def test_no_program_prints_counts_that_are_not_read() -> None:
    """Programs in C, shell scripts and programs that run without this package print the lines themselves."""
    programs = [path for path in Path("tests").rglob("*") if path.suffix in (".c", ".py", ".sh")]
    assert [path for path in programs if re.search(r"(?<!score)card: *(\{|\()", path.read_text())] == []


def test_each_fault_changes_one_place() -> None:
    faults = mutants.hand()
    assert len({fault.key for fault in faults}) == len(faults) >= 60
    assert all(fault.old != fault.new for fault in faults)


def test_nearest_tests_are_of_files_that_exist() -> None:
    """A file that has moved would be tried with those of its name alone."""
    for folder, suffixes, nearest in (
        ("libsrc", (".c", ".h"), mutation.NEAREST),
        ("pysimd", (".py",), mutation.NEAREST_PYTHON),
    ):
        paths = (path.relative_to(folder) for path in Path(folder).rglob("*") if path.suffix in suffixes)
        files = [str(path.with_suffix("")) for path in paths]
        assert [pattern for pattern in nearest if not fnmatch.filter(files, pattern)] == []


def test_a_fault_whose_text_is_gone_is_reported() -> None:
    gone = mutants.Entry("libsrc/runtime/memory.c", "", "no such line", "")
    with pytest.raises(ValueError, match=r"contains 0 times, expected once: no such line"):
        mutants.mutant_of(gone)


@pytest.mark.parametrize("listed", [mutants.EQUIVALENT, mutants.SURVIVORS], ids=lambda path: path.name)
def test_each_listed_fault_has_its_place(listed: Path) -> None:
    for entry in mutants.entries(listed.read_text()):
        lines = [line.strip() for line in (ROOT / entry.file).read_text().splitlines()]
        text = "\n" + "\n".join(lines) + "\n"
        assert entry.comment and f"\n{entry.old}\n" in text, f"{entry.file}: {entry.old}"


def test_each_unreached_line_exists() -> None:
    for entry in coverage.read_list(coverage.LIST.read_text()):
        lines = [line.strip() for line in (ROOT / entry.file).read_text().splitlines()]
        assert entry.text.removesuffix(" ...") in lines, f"{entry.file}: {entry.text}"


def test_a_reason_may_name_an_instruction_set() -> None:
    text = "# avx512: more\n# registers\nlibsrc/a.c: a();\n\n# A guard.\nlibsrc/a.c: b();\n"
    assert coverage.read_list(text) == [("libsrc/a.c", "a();", "avx512"), ("libsrc/a.c", "b();", "")]


def test_a_listed_line_that_is_reached_uses_no_entry() -> None:
    lines = [coverage.Line(1, "f", True, 0, 0), coverage.Line(2, "f", False, 0, 0), coverage.Line(3, "f", False, 0, 0)]
    listed, used = Counter(coverage.read_list("# A guard.\na.c: return;\n")), Counter[coverage.Entry]()
    assert coverage.not_listed("a.c", ["return;", "return;", "return;"], lines, listed, used) == [lines[0], lines[2]]


def test_an_entry_means_its_line_or_its_block() -> None:
    lines = ["void f(void)", "{", "    if (a) {", "        b();", "    }", "    c();", "}", "int g;"]
    assert coverage.covering(lines, ["c();"]) == {6: ["c();"]}
    assert sorted(coverage.covering(lines, ["if (a) { ..."])) == [3, 4, 5]
    assert sorted(coverage.covering(lines, ["void f(void) ..."])) == [1, 2, 3, 4, 5, 6, 7]
