"""A file of figures for the tests of the benchmarks, as ``--json`` writes it, from times that are made up."""

from __future__ import annotations

import dataclasses
import json
from typing import Any, cast

from bench import report, runner
from bench.whole import table

#: The seconds of rounds.
BASE = (1.00, 1.01, 0.99, 1.02, 1.00, 1.01, 1.03, 0.98, 1.00)


def result_of(seconds: float, theirs: float, uses: dict[str, int]) -> runner.Result:
    """A row of the table: our time, and that of another library."""
    times = {"numpy": runner.PeerTime("einsum", theirs, theirs, theirs / seconds)}
    layer = f"layer {theirs}"
    return runner.Result("convolution", layer, "nhwc", "avx2", seconds, seconds, "fma", 1, None, "", uses=uses, peers=times)


def figures_of(samples: tuple[float, ...]) -> dict[str, Any]:
    """The file of a table with these rounds, and of two networks."""
    result = dataclasses.replace(
        result_of(1e-3, 2e-3, {}),
        samples=samples,
        limits=(1.0,) * len(samples),
        flops=10**6,
        traffic=10**5,
        aim_seconds=1e-3,
    )
    layers = [
        result,
        dataclasses.replace(result, threads=2, seconds=6e-4),
        dataclasses.replace(result, layer="relu", limit="copy"),
    ]
    times = {name: table.Time("1", "somehow", s, s, (s,) * 3) for name, s in (("ours", 0.01), ("ncnn", 0.02))}
    ours = times.pop("ours")
    wholes = [table.Whole("net", "Net", threads, "avx2", ours, times, {"torch": "not here"}) for threads in (1, 2)]
    limits = {"flops": {"avx2": 1e11}, "copy": {"256 KB": 1e11, "4 MB": 9.9e10, "256 MB": 2e10}}
    layer_figures = report.figures(layers, {"numpy": "1"}, {})
    found = {
        "command": "bench <&>",
        "machine": {"line": "a machine", "cpu": "one", "processor": "vendor-01h-02h", "date": "today", "limits": limits},
        **layer_figures,
    }
    return cast("dict[str, Any]", json.loads(json.dumps({**found, **table.figures(wholes)})))
