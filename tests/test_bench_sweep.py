"""Layers drawn at random for the benchmarks; times are not tested."""

from __future__ import annotations

import dataclasses
import importlib
import json
import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import pysimd
from bench import implementations, report, runner
from bench.__main__ import main
from bench.layers import AVERAGE, CONVOLUTION, DECONVOLUTION, MAX, Block, Layer
from bench.sweep import draw, table
from bench.sweep.draw import Drawn, drawn

MANY = [drawn(seed, index) for seed in (1, 7) for index in range(300)]


def test_a_draw_depends_on_seed_and_index_alone() -> None:
    assert [drawn(7, index) for index in (5, 3, 299)] == [MANY[300 + index] for index in (5, 3, 299)]
    assert len({found.text for found in MANY}) > 590
    assert MANY[0].text == "56x52x52 -> 336 1x1, 3x3 s1, -> 56 add"  # on every machine, with every version of Python


@pytest.mark.parametrize("many", [MANY[:300], MANY[300:]])
def test_300_layers_have_all_kinds(many: list[Drawn]) -> None:
    layers = [layer for found in many for layer in found.block.layers]
    assert {found.family for found in many} == set(draw._FAMILIES)
    assert {found.numbers for found in many} == {"32f", "16b", "8u"}
    assert {layer.kind for layer in layers} == {CONVOLUTION, DECONVOLUTION, MAX, AVERAGE}
    for family in draw._FAMILIES:
        layouts = {found.layout for found in many if found.family == family}
        assert layouts == ({"nhwc"} if family == "merged" else {"nhwc", "nchw"})
    assert {1, 2, 3, 4} <= {layer.stride for layer in layers}
    assert {1, 2, 3, 5, 7, 9} <= {layer.kernel for layer in layers}
    assert {len(set(layer.window)) for layer in layers} == {1, 2}
    assert max(layer.dilation for layer in layers) > 4
    assert {1, draw.MOST_IMAGES} <= {layer.batch for layer in layers}
    assert any(1 < layer.group < layer.c for layer in layers) and any(layer.group == layer.c > 1 for layer in layers)
    assert min(layer.c for layer in layers) < 4 and max(layer.c for layer in layers) > 1024
    assert min(layer.h for layer in layers) == 1 and max(layer.h for layer in layers) >= 720
    assert {1, 4} <= {len(found.block.layers) for found in many}


def test_limits_of_layers() -> None:
    for found in MANY:
        assert draw.fault(found) == ""
        for layer in found.block.layers:
            assert 1 <= layer.c <= draw.MOST_CHANNELS and 1 <= layer.o <= draw.MOST_CHANNELS
            assert max(layer.window) <= draw.MOST_KERNEL and layer.stride <= draw.MOST_STRIDE
            assert layer.dilation <= draw.MOST_DILATION and layer.batch <= draw.MOST_IMAGES
            assert min(layer.dst) >= 1 and layer.c % layer.group == layer.o % layer.group == 0
        for before, after in zip(found.block.layers, found.block.layers[1:]):
            assert before.dst == after.src and before.batch == after.batch
        assert found.flops <= draw.MOST_FLOPS and found.traffic <= draw.MOST_BYTES


def test_faults() -> None:
    def of(layer: Layer) -> str:
        return draw.fault(Drawn(1, 1, layer.kind, Block((layer,)), "nhwc"))

    assert of(Layer(CONVOLUTION, 8, 8, 8, 8, 3)) == ""
    assert of(Layer(CONVOLUTION, 4096, 8, 8, 8, 3)) == "too large"
    assert of(Layer(CONVOLUTION, 8, 2, 8, 8, 3)) == "the kernel is larger than the image"
    assert of(Layer(MAX, 8, 8, 8, 8, 3, 1, 2, 2)) == "windows in the padding"
    assert of(Layer(DECONVOLUTION, 8, 1, 1, 8, 2, 2, 1, 1)) == "no result"
    assert of(Layer(CONVOLUTION, 512, 112, 112, 512, 3)) == "too much work"


def _little(found: Drawn) -> bool:
    return found.flops < 20_000_000 and found.traffic < 1_000_000


@pytest.mark.parametrize("family", draw._FAMILIES)
def test_layers_are_computed(family: str) -> None:
    """The library takes them all; peers would get images and results of the right shapes."""
    some = [found for found in MANY if found.family == family and _little(found)][:12]
    assert len(some) > 3
    for found in some:
        case = found.case
        prepared = case.prepare()
        prepared.call()
        assert prepared.traffic == found.traffic and prepared.flops == found.flops and prepared.either
        assert case.draw == (found.seed, found.index) and case.layer == f"{found.index}: {found.text}"
        if prepared.result is not None:
            assert prepared.result().shape == found.block.images(found.block.dst)
            assert prepared.values[0].src.shape == found.block.images(found.layer.src)


@pytest.mark.parametrize("layout", ["nhwc", "nchw"])
@pytest.mark.parametrize("kind", [CONVOLUTION, DECONVOLUTION, MAX])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_chain_of_batches(kind: str, layout: str, count: int) -> None:
    """Each layer reads what the one before has written; a second call computes the same."""
    layer = Layer(kind, 4, 5, 6, 4, 3, 1, 1, 1, batch=2)
    found = Drawn(1, 1, "pooling" if kind == MAX else kind, Block((layer,) * count), layout)
    prepared = found.case.prepare()
    assert prepared.result is not None
    prepared.call()
    x = prepared.values[0].src.transpose(0, 2, 3, 1)
    for its in prepared.values:
        x = np.ascontiguousarray(x)
        if kind == MAX:
            x = pysimd.pooling_max(x, kernel=3, stride=1, padding=1)
            continue
        if kind == CONVOLUTION:
            weight = np.ascontiguousarray(its.weight.transpose(2, 3, 1, 0))
            x = pysimd.convolution(x, weight, its.bias, padding=1, activation="relu")
        else:
            weight = np.ascontiguousarray(its.weight.transpose(0, 2, 3, 1))
            x = pysimd.deconvolution(x, weight, its.bias, padding=1, activation="relu")
    expected = x.transpose(0, 3, 1, 2)
    for _ in range(2):
        np.testing.assert_allclose(prepared.result(), expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())
        prepared.call()


def _result(index: int, fraction: float, ratio: float | None, family: str = "convolution") -> runner.Result:
    peers = {} if ratio is None else {"openvino": runner.PeerTime("nhwc", ratio, ratio, ratio)}
    return runner.Result(
        family, f"{index}: 8x8x8", "nhwc", "base", 1.0, 1.0, "fma", fraction, None, "direct", peers=peers, draw=(1, index)
    )


def test_the_worst_rows() -> None:
    results = [_result(1, 0.5, 2.0), _result(2, 0.3, 0.5), _result(3, 0.4, None), _result(4, 0.9, 0.9, "pooling")]
    ratios, fractions, means, *_ = (part.splitlines() for part in table.footer(results)[1:].split("\n\n"))
    assert [line[:10] for line in ratios[1:]] == [" 0.50  2: ", " 0.90  4: ", " 2.00  1: "]
    assert [line[:10] for line in fractions[1:]] == [" 0.30  2: ", " 0.40  3: ", " 0.50  1: ", " 0.90  4: "]
    assert means[0] == "all: the geometric mean of 3 rows is 0.97; 1 are below 0.85, 2 below 1"
    assert means[1] == "convolution: the geometric mean of 2 rows is 1.00; 1 are below 0.85, 1 below 1"
    assert table.footer(results).endswith("python -m bench --sweep --seed 1 --only INDEX")
    assert table.footer([]) == ""


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> list[Drawn]:
    """The first layers are little ones, and there are no peers."""
    some = [dataclasses.replace(found, index=i) for i, found in enumerate(filter(_little, MANY))][:6]
    monkeypatch.setattr(draw, "drawn", lambda seed, index: dataclasses.replace(some[index], seed=seed))
    monkeypatch.setattr(table, "PEERS", ())
    return some


def test_a_sweep(few: list[Drawn], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A run that goes on keeps the rows that it has, and one of --only replaces one of them."""
    written = tmp_path / "sweep.json"
    line = ["--sweep", "--seed", "3", "--rounds", "1", "--json", str(written), "--resume"]
    assert main([*line, "--count", "2"]) == 0
    first = report.read(json.loads(written.read_text()))
    assert [result.draw for result in first] == [(3, 0), (3, 1)]
    assert [result.layer for result in first] == [f"{found.index}: {found.text}" for found in few[:2]]
    assert all(math.isfinite(result.fraction) and result.best_ratio is None for result in first)
    assert main([*line, "--count", "4"]) == 0
    second = report.read(json.loads(written.read_text()))
    assert second[:2] == first and [result.draw[1] for result in second] == [0, 1, 2, 3]
    assert main([*line, "--only", "1", "--only", "5"]) == 0
    third = report.read(json.loads(written.read_text()))
    assert Counter(result.draw[1] for result in third) == dict.fromkeys((0, 1, 2, 3, 5), 1)
    assert third[0] == first[0] and third[1] != first[1] and third[2:4] == second[2:]
    assert "The smallest fractions of the limit:" in capsys.readouterr().out
    old = json.loads(written.read_text())
    old["results"][2]["layer"] = "2: a layer that was drawn before a change"
    written.write_text(json.dumps(old))
    assert main([*line, "--count", "4"]) == 0
    fourth = report.read(json.loads(written.read_text()))
    assert [result.layer for result in fourth] == [result.layer for result in third[:4]]
    assert fourth[:2] == third[:2] and fourth[2] != third[2] and fourth[3] == third[3]
    assert main(["--load", str(written)]) == 0
    assert "The smallest fractions of the limit:" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (["--sweep", "--only", "relu"], "with --sweep, --only takes the index of a layer"),
        (["--sweep", "--cold"], "--sweep has no use for --cold"),
        (["--sweep", "--resume"], "--resume needs --json"),
        (["--count", "4"], "--count is of use only with --sweep"),
        (["--whole", "--resume"], "--resume is of use only with --onnx or --transformers or --sweep"),
    ],
)
def test_a_wrong_command_line(wrong: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(wrong)
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize("name", table.PEERS)
@pytest.mark.parametrize("family", ["convolution", "convolution_8i", "deconvolution", "pooling", "merged"])
def test_peers_compute_the_same(name: str, family: str) -> None:
    library = pytest.importorskip(name) and importlib.import_module(f"bench.peers.{name}")
    some = [found for found in MANY if found.family == family and _little(found) and found.numbers in ("32f", "8u")]
    some = [found for found in some if found.case.subject][:8]
    for found in some:
        prepared, case = found.case.prepare(), found.case
        assert prepared.result is not None and case.subject is not None
        prepared.call()
        expected = prepared.result()
        builders = library.build(case.subject, found.layout, prepared.values)
        made = implementations.fastest(builders, lambda call: 0.0, expected, 0.02 if case.subject.quantised else 1e-3)
        assert made.result().shape == expected.shape, found.text
