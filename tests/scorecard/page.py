"""The scorecard as a page: ``scorecard.md``, one line per promise, from the results in ``scorecard.json``."""

from __future__ import annotations

import json
import pathlib
import platform
import re

from scorecard.row import Result, Row
from scorecard.rows import ROWS

HEAD = """# Scorecard

What the library promises ([contracts](contracts.md)), how each promise is checked, and the last result. A row **passes**
when no command reports a failure and the counts reach the target. The command in a row repeats its measurement: with
`FULL=1` the long form, which takes minutes to hours; without it the quick form, a sample with a target of its own. A row
shows the long form if it has been measured.

`make scorecard` runs the quick forms of all rows. `ROWS=3,7` selects rows, `RESUME=1` continues an interrupted run,
`MINUTES=60` starts no command after an hour, and `KEEP=docs` saves the results and writes this page. The commands of each
row are in [`tests/scorecard/`](../tests/scorecard/); all counts, machines and commits are in
[`scorecard.json`](figures/scorecard.json).

| row | promise | target | result | figure | date | command |
| --- | --- | --- | --- | --- | --- | --- |
"""


def verdict(result: Result) -> str:
    """`left` is missing in results of earlier versions."""
    if result["held"]:
        return "passes"
    left = result.get("left", 0)
    return f"incomplete: {left} of {len(result['commands'])} commands are left" if left else "FAILS"


def machine() -> str:
    """The processor."""
    info = pathlib.Path("/proc/cpuinfo")
    text = info.read_text() if info.exists() else ""
    fields: dict[str, str] = dict(re.findall(r"^(cpu family|model|model name)\s*: (.*)$", text, re.MULTILINE))
    name = fields.get("model name", platform.processor())
    family = f", family {fields['cpu family']}, model {fields['model']}" if "cpu family" in fields else ""
    return name + family


def keep(folder: pathlib.Path, results: list[Result]) -> None:
    """Replaces the results of these rows, and writes the page of all."""
    kept = folder / "figures" / "scorecard.json"
    kept.parent.mkdir(parents=True, exist_ok=True)
    before: list[Result] = json.loads(kept.read_text()) if kept.exists() else []
    last = {(r["row"], r["form"]): r for r in before}
    last.update({(r["row"], r["form"]): r for r in results})
    ordered = [last[key] for key in sorted(last)]
    kept.write_text(json.dumps(ordered, indent=1) + "\n")
    (folder / "scorecard.md").write_text(text_of(ordered))


def text_of(results: list[Result]) -> str:
    """The page. The long form of a row stands for the row, where there is a result of it."""
    shown = {r["row"]: r for r in sorted(results, key=lambda r: r["form"] == "full")}
    return HEAD + "".join(line_of(row, shown.get(row.number)) for row in ROWS)


def line_of(row: Row, result: Result | None) -> str:
    if result is None:
        outcome, figure, date, full = "not measured yet", "", "", row.quick is None
    else:
        outcome, figure, date, full = outcome_of(row, result), result["figure"], result["date"], result["form"] == "full"
    command = f"make scorecard ROWS={row.number}" + (" FULL=1" if full else "")
    return f"| {row.number} | {row.measure} | {row.aim} | {outcome} | {figure} | {date} | `{command}` |\n"


def outcome_of(row: Row, result: Result) -> str:
    """The verdict, unless the target has changed since and the counts do not reach the new one."""
    form = row.full if result["form"] == "full" else row.quick
    outdated = result["held"] and form is not None and not form.holds(result["counts"])
    return "to be repeated: the target has changed" if outdated else verdict(result)
