"""A row of the scorecard: what is measured, by which commands, and which counts pass."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypedDict

Counts = dict[str, float]


class Result(TypedDict):
    """What a form of a row gave, as ``docs/figures/scorecard.json`` keeps it."""

    row: int
    form: str
    held: bool
    figure: str
    counts: Counts
    seconds: float
    commands: list[str]
    commit: str
    date: str
    machine: str
    left: int  # commands that have not run yet


# Lines that count: those of the scorecard's own programs, and the last line of a program of tests or of pytest.
COUNTED = re.compile(r"^scorecard: (\{.*\})$", re.MULTILINE)
PROGRAM = re.compile(r"^(\d+) passed, (\d+) failed$", re.MULTILINE)
PYTEST = re.compile(r"^(?:=+ )?(\d+ [a-z]+(?:, \d+ [a-z]+)*) in [\d.]+s(?: \([\d:]+\))?(?: =+)?$", re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Form:
    """The quick or the long form of a row.

    commands: shell commands, run in the folder of the checkout. Each is a shard: one that has passed is not run again when a
        run is resumed. They print counts (see `counts_of`) and exit with 0 if nothing failed.
    figure: what the page shows: a format string over the counts of all shards, added up.
    holds: whether these counts keep the promise. That each command exits with 0 is required anyway.
    minutes: about how long it takes on two cores.
    gathered: whether the shards may be of several commits: each is a sample of its own, so that hours of them can be run in
        parts. Those that passed are kept beside the page, and count in later runs that resume.
    """

    commands: Sequence[str]
    figure: str
    holds: Callable[[Mapping[str, float]], bool] = lambda counts: True
    minutes: float = 1
    gathered: bool = False


@dataclasses.dataclass(frozen=True)
class Row:
    """A line of the scorecard.

    number: its place. measure, aim: sentences for the page. A form that is None does not exist: without a quick form, a row
    is measured by the long form only; without a long form, the quick form is all there is.
    """

    number: int
    measure: str
    aim: str
    quick: Form | None
    full: Form | None = None


def counts_of(output: str) -> Counts:
    """The counts that a command printed, of all such lines together.

    ``scorecard: {"executions": 1000, "findings": 0}`` gives these; ``12 passed, 0 failed`` and the last line of pytest give
    ``passed``, ``failed`` and ``skipped``. Keys that begin with ``most_`` and ``least_`` are extremes, all others sums.
    """
    counts: Counts = {}
    for line in COUNTED.findall(output):
        for key, value in json.loads(line).items():
            merge(counts, key, value)
    for passed, failed in PROGRAM.findall(output):
        merge(counts, "passed", int(passed))
        merge(counts, "failed", int(failed))
    for summary in PYTEST.findall(output):
        for number, key in re.findall(r"(\d+) (passed|failed|skipped|errors?)", summary):
            merge(counts, "failed" if key.startswith("error") else key, int(number))
    return counts


def print_counts(**counts: float) -> None:
    """Prints a line that `counts_of` reads."""
    print(f"scorecard: {json.dumps(counts)}", flush=True)


def merge(counts: Counts, key: str, value: float) -> None:
    """Adds a value to those of earlier lines and shards."""
    if key not in counts:
        counts[key] = value
    elif key.startswith("most_"):
        counts[key] = max(counts[key], value)
    elif key.startswith("least_"):
        counts[key] = min(counts[key], value)
    else:
        counts[key] += value


def figure_of(form: Form, counts: Mapping[str, float]) -> str:
    """The figure of the page; counts that no command printed are 0."""

    class Missing(dict[str, float]):
        def __missing__(self, key: str) -> float:
            return 0

    return form.figure.format_map(Missing(counts))
