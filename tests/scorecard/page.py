"""The card as a page: ``scorecard.md``, from the last result of each row in ``scorecard.json``."""

from __future__ import annotations

import json
import pathlib
import platform
import re

from scorecard.row import Result, Row
from scorecard.rows import ROWS

HEAD = """# Scorecard

What the library promises ([contracts](contracts.md)), checked: each row with its last results. `make scorecard` runs the
quick forms, minutes, and `make scorecard FULL=1` the long ones, hours; `ROWS=3,7` selects rows, `RESUME=1` goes on where a
run was interrupted, `MINUTES=60` begins no command after an hour, and `KEEP=docs` writes this page.
[`tests/scorecard/`](../tests/scorecard/) contains the rows. A row **holds** if no command found anything and the counts are
at least those of the aim; a quick form is a sample with an aim of its own.

| row | measure | aim | result | figure | form |
| --- | --- | --- | --- | --- | --- |
"""


def verdict(result: Result) -> str:
    """`left` is missing in results of earlier versions."""
    if result["held"]:
        return "holds"
    left = result.get("left", 0)
    return f"begun: {left} of {len(result['commands'])} commands are left" if left else "DOES NOT HOLD"


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
    by_row: dict[int, list[Result]] = {}
    for result in results:
        by_row.setdefault(result["row"], []).append(result)
    lines = [line for row in ROWS for line in lines_of(row, by_row.get(row.number, []))]
    return HEAD + "\n".join(lines) + "\n\n## Commands\n\n" + "\n".join(details(r) for r in results)


def lines_of(row: Row, results: list[Result]) -> list[str]:
    if not results:
        return [f"| {row.number} | {row.measure} | {row.aim} | not measured yet | | |"]
    return [
        f"| {row.number} | {row.measure} | {row.aim} | {verdict(r)} | {r['figure']} | {r['form']}, {r['seconds']:.0f} s |"
        for r in results
    ]


def details(result: Result) -> str:
    commands = "\n".join(result["commands"])
    where = f"{result['machine']}, {result['date']}, commit {result['commit']}"
    return f"Row {result['row']}, {result['form']} form; {where}:\n\n<!-- skip: minutes -->\n```sh\n{commands}\n```\n"
