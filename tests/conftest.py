"""The instruction sets under test, and shared fixtures."""

from __future__ import annotations

import gc
import json
import os
import platform
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

import pysimd
from pysimd._library import HEADER_PATH
from support import REFUSALS

# A geometry costs the same on every level: no deadline. Every run draws the same examples, so that none fails by chance;
# `pytest --hypothesis-profile=explore` draws others. The isa fixture does not depend on what hypothesis draws, so it may be
# set once for all examples.
settings.register_profile(
    "explore", deadline=None, database=None, max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
settings.register_profile("simdnet", settings.get_profile("explore"), max_examples=40, derandomize=True)
settings.load_profile("simdnet")


def documented_levels(machine: str) -> list[str]:
    """The instruction sets that the header names for an architecture, oldest first."""
    text = re.sub(r"\s*\n \*\s*", " ", Path(HEADER_PATH).read_text())
    found = re.search(r"Instruction sets, oldest first: ([\w, ]+) on x86-64; ([\w, ]+) on aarch64\.", text)
    assert found, "the header no longer lists the instruction sets"
    return found.group(1 if machine == "x86-64" else 2).split(", ")


LEVELS = documented_levels("x86-64" if platform.machine() == "x86_64" else "aarch64")
CAP = os.environ.get("SIMDNET_MAX_ISA")


@pytest.fixture(params=LEVELS)
def isa(request: pytest.FixtureRequest) -> Iterator[str]:
    """Runs the test on each instruction set; sets that the machine or the environment excludes are skipped, never passed."""
    level: str = request.param
    if level not in pysimd.isa_levels():
        pytest.skip(f"this machine has no {level}")
    if CAP in LEVELS and LEVELS.index(level) > LEVELS.index(CAP):
        pytest.skip(f"{level} is above SIMDNET_MAX_ISA={CAP}")
    with pysimd.max_isa(level) as active:
        assert active == level
        yield level


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """`-m "not every_level"` leaves out tests that run on each instruction set by themselves, with any SIMDNET_MAX_ISA.

    Without --full, and unless tests are named one by one, tests of many cases are sampled."""
    for item in items:
        if "isa" in getattr(item, "fixturenames", ()):
            item.add_marker("every_level")
    if not config.getoption("--full") and not any("::" in argument for argument in config.args):
        left_out = not_sampled(items)
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=list(left_out))


def not_sampled(items: list[pytest.Item]) -> set[pytest.Item]:
    """What a sample leaves out: tests marked full; and of the cases of a test marked sampled(n), or of a test that runs on
    each instruction set, where n is 3, all but every n-th. Each instruction set has other cases, so that n of them together
    have all. A test with fewer than n cases stays as it is."""
    tests: dict[object, dict[pytest.Item, tuple[str, int]]] = {}
    for item in items:
        if isinstance(item, pytest.Function) and hasattr(item, "callspec"):
            level = str(item.callspec.params.get("isa", LEVELS[0]))
            case = item.name.replace(level, "", 1)
            tests.setdefault((item.parent, item.originalname), {})[item] = (case, LEVELS.index(level))
    left_out = {item for item in items if item.get_closest_marker("full")}
    for places in tests.values():
        numbers = {case: number for number, case in enumerate(dict.fromkeys(case for case, _ in places.values()))}
        for item, (case, shift) in places.items():
            marker = item.get_closest_marker("sampled")
            every = marker.args[0] if marker else 3 if item.get_closest_marker("every_level") else 1
            if len(numbers) >= every and (numbers[case] + shift) % every:
                left_out.add(item)
    return left_out


def pytest_collection_finish(session: pytest.Session) -> None:
    """Modules and tests stay: collections of garbage, also those that tests ask for, then leave them out."""
    gc.collect()
    gc.freeze()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="all cases of tests that are sampled otherwise")
    parser.addoption(
        "--scorecard", action="store_true", help="prints how many bad arguments were refused, for the scorecard"
    )
    parser.addoption("--rounds", type=int, default=1, help="of each test in test_process.py")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if config.getoption("--scorecard"):
        counts = {f"python_{kind.replace(' ', '_')}": count for kind, count in sorted(REFUSALS.items())}
        terminalreporter.write_line(f"scorecard: {json.dumps({**counts, 'python_cases': sum(counts.values())})}")


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """Random numbers, different for each test and the same in each run."""
    return np.random.default_rng(list(request.node.name.encode()))
