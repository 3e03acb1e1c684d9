"""The model of the pool in `bench.pool`."""

from __future__ import annotations

import numpy as np
import pytest

from bench.pool import makespan, predicted, threads_of


@pytest.mark.parametrize(("units", "threads", "share"), [(16, 4, 4), (17, 16, 2), (3, 16, 1), (1, 4, 1)])
def test_few_large_units(units: int, threads: int, share: int) -> None:
    assert makespan((units, 0, 1e6 * units, 1e6 * units), threads) == pytest.approx(1e6 * share)


def test_many_small_units() -> None:
    assert makespan((1000, 0, 1e6, 1e6), 4) == pytest.approx(1e6 / 4, rel=0.02)


def test_small_jobs_have_fewer_threads() -> None:
    assert [threads_of((100, 0, cost, cost), 16) for cost in (2e3, 3e3, 6e3, 1e6)] == [1, 2, 4, 16]
    assert threads_of((100, 30, 1e6, 1e6), 16) == 3


def test_a_pass() -> None:
    jobs = np.array([(16, 0, 1e6, 1e6), (16, 0, 1e3, 1e3)])
    assert predicted(jobs, 0.0015, 4, 2e-6) == pytest.approx(0.0015 - 0.001 + 0.00025 + 2e-6)
