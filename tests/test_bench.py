"""The benchmarks' tables of networks, and what they ask of other libraries; no time is tested."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pysimd.bench import cases, networks, peers, report, runner
from pysimd.bench.layers import (
    AVERAGE,
    CONVOLUTION,
    DECONVOLUTION,
    INNER_PRODUCT,
    MAX,
    Block,
    Layer,
    Values,
    in_layout,
    values_of,
)
from pysimd.bench.networks import NETWORKS, expand, layers_of

PUBLISHED = {  # multiplications in thousands of millions, and the shape of the result
    "vgg16": (15.47, (1000, 1, 1)),
    "resnet18": (1.814, (1000, 1, 1)),
    "resnet50": (4.089, (1000, 1, 1)),
    "squeezenet": (0.349, (1000, 1, 1)),
    "mobilenetv1": (0.569, (1000, 1, 1)),
    "mobilenetv2": (0.301, (1000, 1, 1)),
    "mobilenetv3": (0.217, (1000, 1, 1)),
    "unet": (1.744, (1, 224, 224)),
    "yolov3-tiny": (2.782, (255, 26, 26)),
    "yolov4-tiny": (3.454, (255, 26, 26)),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_are_the_published_ones(name: str) -> None:
    layers, end = expand(*NETWORKS[name])
    total, shape = PUBLISHED[name]
    assert round(sum(layer.multiplications for layer in layers) / 1e9, 3) == pytest.approx(total, abs=1e-3)
    assert end == shape
    assert all(min(*layer.src, *layer.dst) > 0 for layer in layers)
    assert layers[0].src == NETWORKS[name][0]
    assert layers_of(name).total() == len(layers) if sys.version_info >= (3, 10) else True


def test_counts() -> None:
    resnet = layers_of("resnet50")
    assert resnet[Layer(CONVOLUTION, 3, 224, 224, 64, 7, 2, 3, 3)] == 1
    assert resnet[Layer(CONVOLUTION, 64, 56, 56, 256)] == 4  # three expansions and the first shortcut
    assert resnet[Layer(CONVOLUTION, 256, 14, 14, 256, 3, 1, 1, 1)] == 5
    assert resnet[Layer(CONVOLUTION, 256, 28, 28, 256, 3, 2, 1, 1)] == 1
    assert resnet[Layer(CONVOLUTION, 256, 56, 56, 512, 1, 2)] == 1
    assert sum(layer.kind == CONVOLUTION and layer.kernel == 3 for layer in layers_of("vgg16").elements()) == 13
    depthwise = [layer for layer in layers_of("mobilenetv2").elements() if layer.group > 1]
    assert len(depthwise) == 17
    assert all(layer.group == layer.c == layer.o for layer in depthwise)
    assert layers_of("mobilenetv1")[Layer(CONVOLUTION, 512, 14, 14, 512)] == 5
    assert sum(layer.kind == DECONVOLUTION for layer in layers_of("unet").elements()) == 4


@pytest.mark.parametrize(
    ("word", "layer", "dst"),
    [
        ("8-3x3", Layer(CONVOLUTION, 4, 9, 9, 8, 3, 1, 1, 1), (8, 9, 9)),
        ("8-3x3/2", Layer(CONVOLUTION, 4, 9, 9, 8, 3, 2, 1, 1), (8, 5, 5)),
        ("8-3x3/2p0", Layer(CONVOLUTION, 4, 9, 9, 8, 3, 2), (8, 4, 4)),
        ("dw5x5", Layer(CONVOLUTION, 4, 9, 9, 4, 5, 1, 2, 2, 4), (4, 9, 9)),
        ("up8-2x2/2", Layer(DECONVOLUTION, 4, 9, 9, 8, 2, 2), (8, 18, 18)),
        ("up8-4x4/2", Layer(DECONVOLUTION, 4, 9, 9, 8, 4, 2, 1, 1), (8, 18, 18)),
        ("max2x2p01", Layer(MAX, 4, 9, 9, 4, 2, 1, 0, 1), (4, 9, 9)),
        ("avg", Layer(AVERAGE, 4, 9, 9, 4, 9), (4, 1, 1)),
        ("fc10", Layer(INNER_PRODUCT, 4, 9, 9, 10), (10, 1, 1)),
    ],
)
def test_words(word: str, layer: Layer, dst: tuple[int, int, int]) -> None:
    assert expand((4, 9, 9), word) == ([layer], dst)


def test_ways_are_joined() -> None:
    start = (4, 9, 9)
    assert expand(start, "( 8-1x1 | )")[1] == (12, 9, 9)
    assert expand(start, "( 4-3x3 + )")[1] == start
    assert expand(start, "( * avg fc2 fc4 )")[1] == start
    assert expand(start, "( 8-1x1 ; 6-1x1 )")[1] == (6, 9, 9)
    assert expand(start, "( =2 | x2 max2x2/2 )")[1] == (6, 9, 9)
    for wrong in ("( 8-3x3/2 | )", "( 8-1x1 + )", "( * 4-1x1 )", "( 8-1x1 )", "( 8-1x1 |", "8-1x1 )", "conv"):
        with pytest.raises(ValueError, match=r"joined|bracket|no word"):
            expand(start, wrong)


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
    assert networks.layers_of("unet")
