"""The benchmarks' tables, and what they ask of other libraries; no time is tested."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pysimd.bench import cases, peers, report, runner
from pysimd.bench.layers import (
    CONVOLUTION,
    INNER_PRODUCT,
    MAX,
    Block,
    Layer,
    Values,
    in_layout,
    values_of,
)


def test_cases_of_networks() -> None:
    found = cases.of_networks(["resnet18", "resnet50"])
    assert len({(case.subject, case.layout) for case in found}) == len(found)
    (first,) = [case for case in found if case.layer == "3x224x224 -> 64 7x7 s2" and case.layout == "nchw"]
    assert first.uses == {"resnet18": 1, "resnet50": 1}


class NumpyPeer:
    """A library that is always there; with `wrong` it computes something else."""

    NAME, VERSION = "numpy", np.__version__

    def __init__(self, wrong: float = 0) -> None:
        self._wrong = wrong

    def build(self, block: Block, layout: str, values: tuple[Values, ...]) -> Iterator[peers.Way]:
        (layer,), (its,) = block.layers, values
        if layer.kind != CONVOLUTION or layer.kernel != 1:
            raise peers.Unsupported("1x1 only")
        src, weight = its.src[:, :: layer.stride, :: layer.stride], its.weight[:, :, 0, 0]

        def call() -> Any:
            y = np.einsum("oc,chw->ohw", weight, src) + its.bias[:, None, None]
            return np.maximum(y, 0) + self._wrong

        yield peers.Way("einsum", call, call, lambda: None)


LAYER = Layer(CONVOLUTION, 16, 7, 7, 8, 1, 2)


@pytest.mark.parametrize("layout", ["nhwc", "nchw"])
def test_peers_are_compared(layout: str, tmp_path: Path) -> None:
    case = cases.of_layer(LAYER, layout)
    peer: peers.Peer = NumpyPeer()
    level = runner.isa_levels()[-1]
    result = runner.run_case(case, level, 2, [peer])
    assert result.absent == {}
    assert result.peers["numpy"].how == "einsum"
    assert result.peers["numpy"].ratio is None or result.peers["numpy"].ratio > 0
    assert "numpy" in report.header([peer])
    assert report.row(result, [peer]).count("-> 8") == 1
    report.write_json([result], tmp_path / "bench.json", [peer], {"torch": "not here"})
    report.write_markdown([result], tmp_path / "bench.md", "make it", [peer], {"torch": "not here"})
    page = (tmp_path / "bench.md").read_text()
    assert "`make it`" in page and "without torch: not here" in page and result.info in page
    written = json.loads((tmp_path / "bench.json").read_text())
    assert written["results"][0]["peers"]["numpy"]["seconds"] > 0
    assert written["skipped"] == {"torch": "not here"}


def test_a_peer_that_computes_something_else_has_no_time() -> None:
    level = runner.isa_levels()[-1]
    result = runner.run_case(cases.of_layer(LAYER, "nhwc"), level, 1, [NumpyPeer(wrong=0.1)])
    assert result.peers == {}
    assert "something else" in result.absent["numpy"]
    other = runner.run_case(cases.of_layer(Layer(CONVOLUTION, 4, 5, 5, 4, 3), "nhwc"), level, 1, [NumpyPeer()])
    assert "1x1 only" in other.absent["numpy"]


def _result(seconds: float, theirs: float, uses: dict[str, int]) -> runner.Result:
    times = {"numpy": runner.PeerTime("einsum", theirs, theirs, theirs / seconds)}
    return runner.Result("convolution", f"layer {theirs}", "nhwc", "avx2", seconds, seconds, "fma", 1, None, "", uses, times)


def test_summary() -> None:
    results = [_result(1e-3, 2e-3, {"net": 3}), _result(1e-3, 0.5e-3, {"net": 1}), _result(1e-3, 0.9e-3, {})]
    text = report.footer(results, [NumpyPeer()])
    assert "ahead in 2 of 3 rows" in text
    assert text.index("layer 0.0005") < text.index("layer 0.0009")
    assert "layer 0.002" not in text
    (line,) = [line.split() for line in text.splitlines() if line.startswith("net ") and " nhwc " in line]
    assert line == ["net", "nhwc", "avx2", "4.00", "6.50"]


def test_missing_libraries_are_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in peers.NAMES:
        monkeypatch.setitem(sys.modules, name, None)
        monkeypatch.delitem(sys.modules, f"{peers.__name__}.{name}", raising=False)
    found, skipped = peers.load()
    assert found == []
    assert list(skipped) == list(peers.NAMES)
    assert all("Error" in reason for reason in skipped.values())
    assert all(f"without {name}: " in report.header([], skipped) for name in skipped)


@pytest.mark.parametrize("name", peers.NAMES)
def test_installed_libraries_compute_the_same(name: str) -> None:
    found, skipped = peers.load((name,))
    if skipped:
        pytest.skip(skipped[name])
    layers = [
        LAYER,
        Layer(CONVOLUTION, 16, 7, 7, 16, 3, 1, 1, 1, 16),
        Layer(INNER_PRODUCT, 20, 1, 1, 9),
        Layer(MAX, 8, 9, 9, 8, 3, 2, 1, 1),
    ]
    for layer in layers:
        for layout in ("nhwc", "nchw"):
            assert runner.run_case(cases.of_layer(layer, layout), runner.isa_levels()[-1], 1, found).absent == {}


def test_values() -> None:
    values = values_of(Layer(CONVOLUTION, 6, 5, 4, 8, 3, group=2))
    assert (values.src.shape, values.weight.shape, values.bias.shape) == ((6, 5, 4), (8, 3, 3, 3), (8,))
    assert in_layout(values.src, "nhwc").shape == (5, 4, 6)
