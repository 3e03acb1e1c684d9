"""Runs rows of the card and writes their results: ``python -m scorecard --help``."""

from __future__ import annotations

import argparse
import datetime
import json
import pathlib
import subprocess
import sys
import time
from typing import TypedDict

from scorecard import page
from scorecard.row import Counts, Form, Result, Row, counts_of, figure_of, merge
from scorecard.rows import ROWS

STATE = pathlib.Path("build/scorecard")


class Shard(TypedDict):
    """What a command gave."""

    command: str
    commit: str
    status: int
    counts: Counts
    seconds: float


def main() -> int:
    """Returns the exit status: 0 if every row that ran held."""
    options = read_options()
    rows = [row for row in ROWS if not options.rows or row.number in options.rows]
    results = []
    for row in rows:
        form = row.full or row.quick if options.full else row.quick
        if form is None:
            print(f"row {row.number}: long form only: make scorecard FULL=1 ROWS={row.number}", flush=True)
            continue
        result = run_row(row, form, options)
        results.append(result)
        print(f"row {row.number}: {page.verdict(result)}: {result['figure']} ({result['seconds']:.0f} s)", flush=True)
    if options.keep:
        page.keep(pathlib.Path(options.keep), results)
    failures = sum(not result["held"] for result in results)
    print(f"{len(results) - failures} passed, {failures} failed")
    return int(failures > 0)


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m scorecard", description=__doc__)
    parser.add_argument("--full", action="store_true", help="the long form of each row")
    parser.add_argument("--rows", type=numbers, default=(), metavar="N,N", help="these rows only")
    parser.add_argument("--resume", action="store_true", help="commands that have passed on this commit are not run again")
    parser.add_argument("--keep", metavar="FOLDER", help="writes scorecard.md and scorecard.json there; other rows stay")
    return parser.parse_args()


def numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(","))


def run_row(row: Row, form: Form, options: argparse.Namespace) -> Result:
    """Runs the commands of a form one after the other, all of them even if one fails."""
    kind = "full" if form is row.full else "quick"
    counts: Counts = {}
    passed, seconds = True, 0.0
    for shard, command in enumerate(form.commands):
        done = run_shard(STATE / f"{row.number:02}-{kind}-{shard}", command, options.resume)
        passed = passed and done["status"] == 0
        seconds += done["seconds"]
        for key, value in done["counts"].items():
            merge(counts, key, value)
    return {
        "row": row.number,
        "form": kind,
        "held": bool(passed and form.holds(counts)),
        "figure": figure_of(form, counts) + ("" if passed else "; a command failed, see build/scorecard/"),
        "counts": counts,
        "seconds": round(seconds, 1),
        "commands": list(form.commands),
        "commit": commit(),
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        "machine": page.machine(),
    }


def run_shard(base: pathlib.Path, command: str, resume: bool) -> Shard:
    """Runs a command, or returns what it gave before. Its output is kept in BASE.log, its result in BASE.json."""
    result_file = base.with_suffix(".json")
    if resume and result_file.exists():
        before: Shard = json.loads(result_file.read_text())
        if before["status"] == 0 and before["command"] == command and before["commit"] == commit():
            return before
    base.parent.mkdir(parents=True, exist_ok=True)
    log = base.with_suffix(".log")
    begin = time.monotonic()
    with open(log, "wb") as output:
        status = subprocess.run(["bash", "-c", command], stdin=subprocess.DEVNULL, stdout=output, stderr=output).returncode
    text = log.read_text(errors="replace")
    if status != 0:
        print(f"{command}: exit status {status}, the end of {log}:\n" + "\n".join(text.splitlines()[-30:]), file=sys.stderr)
    result: Shard = {
        "command": command,
        "commit": commit(),
        "status": status,
        "counts": counts_of(text),
        "seconds": time.monotonic() - begin,
    }
    result_file.write_text(json.dumps(result, indent=1))
    return result


def commit() -> str:
    """The commit of this checkout, with + if files differ from it."""
    try:
        head = git("rev-parse", "--short", "HEAD")
        return head + ("+" if git("status", "--porcelain", "--untracked-files=no") else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
