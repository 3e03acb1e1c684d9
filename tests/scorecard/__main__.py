"""Runs rows of the scorecard and writes their results: ``python -m scorecard --help``."""

from __future__ import annotations

import argparse
import datetime
import json
import math
import pathlib
import subprocess
import sys
import time
from typing import TypedDict

from scorecard import page
from scorecard.row import Counts, Form, Result, Row, counts_of, figure_of, merge
from scorecard.rows import ROWS

STATE = pathlib.Path("build/scorecard")
BEGIN = time.monotonic()


class Shard(TypedDict):
    """What a command gave."""

    command: str
    commit: str
    date: str
    status: int
    counts: Counts
    seconds: float


def main() -> int:
    """Returns the exit status: 0 if every row that ran passed."""
    options = read_options()
    if options.page:
        page.keep(pathlib.Path(options.page), [])
        return 0
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
    parser.add_argument("--page", metavar="FOLDER", help="runs nothing: writes scorecard.md again from scorecard.json there")
    parser.add_argument("--minutes", type=float, default=math.inf, help="begins no command afterwards")
    return parser.parse_args()


def numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(","))


def run_row(row: Row, form: Form, options: argparse.Namespace) -> Result:
    """Runs the commands of a form one after the other, all of them even if one fails, as long as there is time."""
    kind = "full" if form is row.full else "quick"
    kept = pathlib.Path(options.keep or STATE) / "figures" / "scorecard-shards.json" if form.gathered else None
    counts: Counts = {}
    shards: list[Shard] = []
    for number, command in enumerate(form.commands):
        base = STATE / f"{row.number:02}-{kind}-{number}"
        done = (shard_before(base, command) or kept_shard(kept, command)) if options.resume else None
        if done is None and time.monotonic() - BEGIN < 60 * options.minutes:
            done = run_shard(base, command)
            keep_shard(kept, done)
        if done is not None:
            shards.append(done)
            for key, value in done["counts"].items():
                merge(counts, key, value)
    passed = all(shard["status"] == 0 for shard in shards)
    left = len(form.commands) - len(shards)
    commits = dict.fromkeys(shard["commit"] for shard in sorted(shards, key=lambda shard: shard["date"])) or [commit()]
    return {
        "row": row.number,
        "form": kind,
        "held": bool(passed and not left and form.holds(counts)),
        "figure": figure_of(form, counts) + ("" if passed else "; a command failed, see build/scorecard/"),
        "counts": counts,
        "seconds": round(sum(shard["seconds"] for shard in shards), 1),
        "commands": list(form.commands),
        "commit": ", ".join(commits),
        "date": today(),
        "machine": page.machine(),
        "left": left,
    }


def today() -> str:
    return datetime.datetime.now(datetime.timezone.utc).date().isoformat()


def kept_shard(kept: pathlib.Path | None, command: str) -> Shard | None:
    """Of a form whose shards may be of several commits."""
    shards: list[Shard] = json.loads(kept.read_text()) if kept and kept.exists() else []
    return next((shard for shard in shards if shard["command"] == command), None)


def keep_shard(kept: pathlib.Path | None, done: Shard) -> None:
    """Keeps one that has passed, at once, so that a run may be interrupted."""
    if kept is None or done["status"] != 0:
        return
    shards: list[Shard] = json.loads(kept.read_text()) if kept.exists() else []
    others = [shard for shard in shards if shard["command"] != done["command"]]
    kept.parent.mkdir(parents=True, exist_ok=True)
    lines = ",\n".join(json.dumps(shard) for shard in [*others, done])
    kept.write_text(f"[\n{lines}\n]\n")


def shard_before(base: pathlib.Path, command: str) -> Shard | None:
    """What a command has given on this commit, if it passed."""
    result_file = base.with_suffix(".json")
    if not result_file.exists():
        return None
    before: Shard = json.loads(result_file.read_text())
    same = before["status"] == 0 and before["command"] == command and before["commit"] == commit()
    return before if same else None


def run_shard(base: pathlib.Path, command: str) -> Shard:
    """Runs a command. Its output is kept in BASE.log, its result in BASE.json."""
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
        "date": today(),
        "status": status,
        "counts": counts_of(text),
        "seconds": time.monotonic() - begin,
    }
    base.with_suffix(".json").write_text(json.dumps(result, indent=1))
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
