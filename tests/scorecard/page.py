"""The card as a page: ``scorecard.md``, from the last result of each row in ``scorecard.json``."""

from __future__ import annotations

import json
import pathlib
import platform
import re

from scorecard.rows import ROWS
from scorecard.row import Row

HEAD = """# Scorecard

What the library promises ([contracts](contracts.md)), checked: each row with its last result. `make scorecard` runs the quick
forms, `make scorecard FULL=1` the long ones, hours; `ROWS=3,7` selects rows, and `RESUME=1` goes on where a run was interrupted.
[`tests/scorecard/`](../tests/scorecard/) contains the rows. A row **holds** if its commands found nothing and counted at least
what the aim says.

| row | measure | aim | result | figure | form |
| --- | --- | --- | --- | --- | --- |
"""


def verdict(result: dict) -> str:
    return "holds" if result["held"] else "DOES NOT HOLD"


def machine() -> dict[str, str]:
    """The processor, and the instruction sets that the library uses on it."""
    info = pathlib.Path("/proc/cpuinfo")
    text = info.read_text() if info.exists() else ""
    fields = dict(re.findall(r"^(cpu family|model|model name)\s*: (.*)$", text, re.MULTILINE))
    name = fields.get("model name", platform.processor())
    family = f", family {fields['cpu family']}, model {fields['model']}" if "cpu family" in fields else ""
    return {"machine": name + family}


def keep(folder: pathlib.Path, results: list[dict]) -> None:
    """Replaces the results of these rows, and writes the page of all."""
    kept = folder / "figures" / "scorecard.json"
    kept.parent.mkdir(parents=True, exist_ok=True)
    last = {(r["row"], r["form"]): r for r in (json.loads(kept.read_text()) if kept.exists() else [])}
    last.update({(r["row"], r["form"]): r for r in results})
    ordered = [last[key] for key in sorted(last)]
    kept.write_text(json.dumps(ordered, indent=1) + "\n")
    (folder / "scorecard.md").write_text(text_of(ordered))


def text_of(results: list[dict]) -> str:
    by_row: dict[int, list[dict]] = {}
    for result in results:
        by_row.setdefault(result["row"], []).append(result)
    lines = [line for row in ROWS for line in lines_of(row, by_row.get(row.number, []))]
    return HEAD + "\n".join(lines) + "\n\n## Commands\n\n" + "\n".join(details(r) for r in results)


def lines_of(row: Row, results: list[dict]) -> list[str]:
    if not results:
        return [f"| {row.number} | {row.measure} | {row.aim} | not measured yet | | |"]
    return [
        f"| {row.number} | {row.measure} | {row.aim} | {verdict(r)} | {r['figure']} | {r['form']}, {r['seconds']:.0f} s |"
        for r in results
    ]


def details(result: dict) -> str:
    commands = "\n".join(result["commands"])
    where = f"{result['machine']}, {result['date']}, commit {result['commit']}"
    return f"Row {result['row']}, {result['form']} form; {where}:\n\n<!-- skip: minutes -->\n```sh\n{commands}\n```\n"
