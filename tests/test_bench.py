"""The benchmarks' tables, and their calls of other libraries; times are not tested."""

from __future__ import annotations

import dataclasses
import importlib
import json
import os
import platform
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Callable, cast

import numpy as np
import pytest
from network.reference import reference
from support import ROOT, numpy_peer

import pysimd
from bench import cases, clock, compare, implementations, limits, machine, peers, regret, remote, report, runner, whole
from bench.__main__ import main
from bench.layers import (
    CONVOLUTION,
    DECONVOLUTION,
    INNER_PRODUCT,
    MAX,
    Array,
    Layer,
    in_layout,
    values_of,
)
from bench.models import MODELS, Network, layers_of
from bench.peers import workers
from bench.whole import steps, table
from bench.whole.workers import Round, passes
from pysimd.network import Graph, Runner
from pysimd.network.passes import simplified


@pytest.mark.parametrize("arithmetic", ["fma", "dot_8i", "dot_16b"])
def test_limits_do_what_they_are_asked_for(arithmetic: str, isa: str) -> None:
    work = getattr(limits.functions(), arithmetic)
    assert all(operations <= work(operations) < operations + 100_000 for operations in (0, 1, 100_000, 1_000_001))


def test_the_limit_of_copies_copies(isa: str, rng: np.random.Generator) -> None:
    ffi = limits.ffi
    for size in (0, 1, 63, 64, 65, 255, 256, 257, 1000, 4099):
        source = rng.integers(0, 256, size + 2, np.uint8)
        target = np.zeros(size + 2, np.uint8)
        limits.functions().copy(ffi.from_buffer("uint8_t[]", source) + 1, size, ffi.from_buffer("uint8_t[]", target) + 1)
        assert (target[1:-1] == source[1:-1]).all()
        assert target[0] == target[-1] == 0


def test_the_limit_of_reading_reads(isa: str, rng: np.random.Generator) -> None:
    for size in (0, 1, 63, 64, 65, 255, 256, 257, 1000, 4099):
        source = rng.integers(0, 256, size + 1, np.uint8)
        words = np.zeros(-(-size // 4), "<u4")
        words.view(np.uint8)[:size] = source[1:]
        assert limits.functions().read(limits.ffi.from_buffer("uint8_t[]", source) + 1, size) == words.sum(dtype=np.uint32)


def test_cases_of_networks() -> None:
    found = cases.of_networks(["resnet18", "resnet50"])
    assert len({(case.subject, case.layout) for case in found}) == len(found)
    (first,) = [case for case in found if case.layer == "3x224x224 -> 64 7x7 s2" and case.layout == "nchw"]
    assert first.uses == {"resnet18": 1, "resnet50": 1}


def _calibrated(layer: Layer) -> str:
    """A line of convolutions.txt."""
    c, h, w, kernel = *layer.src, layer.kernel
    text = f"1x{c}x{h}x{w}->" + "x".join(map(str, layer.dst)) + f",{kernel}x{kernel}"
    text += f",s{layer.stride}" if layer.stride > 1 else ""
    text += f",g{layer.group}" if layer.group > 1 else ""
    return text + (",deconvolution" if layer.kind == DECONVOLUTION else "")


def test_calibration_has_the_convolutions_of_all_networks() -> None:
    lines = Path(cases.__file__).parents[1].joinpath("convolutions.txt").read_text().splitlines()
    layers = {layer for name in MODELS for layer in layers_of(name) if layer.kind in (CONVOLUTION, DECONVOLUTION)}
    assert {_calibrated(layer) for layer in layers} <= set(lines)


@pytest.fixture(scope="module")
def peer() -> Iterator[workers.Peer]:
    """A library that is always available."""
    peer = workers.Peer(numpy_peer.__name__)
    yield peer
    peer.close()


def _case(outputs: int, layout: Any = "nhwc") -> cases.Case:
    return cases.of_layer(dataclasses.replace(LAYER, o=outputs), layout)


LAYER = Layer(CONVOLUTION, 16, 7, 7, 8, 1, 2)


@pytest.mark.parametrize("layout", ["nhwc", "nchw"])
def test_peers_are_compared(layout: Any, tmp_path: Path, peer: workers.Peer) -> None:
    case = cases.of_layer(LAYER, layout)
    level = runner.isa_levels()[-1]
    result = runner.run_case(case, level, 2, [peer])
    assert result.absent == {}
    assert result.peers["numpy"].how == "einsum"
    assert result.peers["numpy"].ratio is None or result.peers["numpy"].ratio > 0
    assert "numpy" in report.header([peer])
    assert report.row(result, [peer]).count("-> 8") == 1
    figures = report.figures([result], {"numpy": peer.VERSION}, {"torch": "not here"})
    report.write_json(figures, tmp_path / "bench.json")
    page = report.section([result], [peer], {"torch": "not here"})
    assert "without torch: not here" in page and result.info in page
    (line,) = [line for line in page.splitlines() if line.startswith(f"| {case.layer} |")]
    assert line.startswith(f"| {case.layer} | {layout} | {level} | 1 | ")
    assert report.read(json.loads(json.dumps(figures)))[0].peers == result.peers
    written = json.loads((tmp_path / "bench.json").read_text())
    assert written["results"][0]["peers"]["numpy"]["seconds"] > 0
    assert written["skipped"] == {"torch": "not here"}


def test_a_peer_that_computes_something_else_has_no_time(peer: workers.Peer) -> None:
    level = runner.isa_levels()[-1]
    result = runner.run_case(_case(numpy_peer.WRONG), level, 1, [peer])
    assert result.peers == {}
    assert result.absent["numpy"] == "RuntimeError: no memory"  # the first failure
    other = runner.run_case(cases.of_layer(Layer(CONVOLUTION, 4, 5, 5, 4, 3), "nhwc"), level, 1, [peer])
    assert other.absent["numpy"] == "1x1 only"


def test_a_crash_of_a_peer_is_an_empty_cell(peer: workers.Peer, capfd: pytest.CaptureFixture[str]) -> None:
    """While a layer is built or in a later round; times of other layers in the same process remain."""
    outputs = [8, numpy_peer.ABORTS, 12, numpy_peer.ABORTS_LATER, 16]
    found = list(runner.run([_case(o) for o in outputs], runner.isa_levels()[-1:], 4, [peer]))
    assert [o for o, result in zip(outputs, found) if result.peers] == [8, 12, 16]
    crashed = {result.absent["numpy"] for result in found if not result.peers}
    assert crashed == {"its process ended, by SIGABRT"}
    assert all(len(result.samples) == 4 for result in found)
    assert report.row(found[1], [peer]).endswith(" -")
    assert "no time of numpy for 16x7x7 -> 3 1x1 s2 nhwc: its process ended, by SIGABRT" in report.footer(found, [peer])


def test_how_a_process_ended() -> None:
    with pytest.raises(implementations.Unsupported, match="its process ended, by SIGABRT"):
        remote.Remote(os.abort)
    with pytest.raises(implementations.Unsupported, match="its process ended, status 3"):
        remote.Remote(os._exit, 3)
    living = remote.Remote(dict, {"a": 1})
    with pytest.raises(implementations.Unsupported, match="KeyError: 'b'"):
        living.call("pop", "b")
    assert living.call("pop", "a") == 1
    living.close()
    with pytest.raises(implementations.Unsupported, match="its process ended, status 0"):
        living.call("pop", "a")


def test_a_row_that_swings_is_marked(peer: workers.Peer) -> None:
    case, level = _case(numpy_peer.SWINGS), runner.isa_levels()[-1]
    result = runner.run_case(case, level, 5, [peer])
    result = dataclasses.replace(result, seconds=1.4e-3, best_seconds=1e-3)
    assert result.swings == ["numpy"]
    assert report.row(result, [peer]).endswith("~")
    ours = dataclasses.replace(result, seconds=1.6e-3, peers={})
    assert ours.swings == ["simdnet"]
    assert " 1000.00~ " in report.row(ours)
    assert "| 1600.0~ |" in report.section([ours])
    figures = json.loads(json.dumps(report.figures([result, ours], {}, {})))
    assert [row["swings"] for row in figures["results"]] == [["numpy"], ["simdnet"]]
    assert [row.swings for row in report.read(figures)] == [["numpy"], ["simdnet"]]
    quick, slow = (table.Time("1", "how", seconds, 1e-3, (seconds,)) for seconds in (1.4e-3, 1.6e-3))
    whole_row = table.Whole("net", "Net", 1, level, quick, {"ncnn": slow})
    assert table.row(whole_row, ["ncnn"]).count("~") == 1
    assert table.figures([whole_row])["networks"][0]["swings"] == ["ncnn"]


def test_the_fastest_correct_implementation() -> None:
    right, wrong = np.ones(3), np.zeros(3)
    seconds = {"slow": 3.0, "fast": 1.0, "wrong": 0.5}

    def built(how: str, result: Array) -> Callable[[], peers.Implementation]:
        return lambda: peers.Implementation(how, lambda: how, lambda: result, lambda: None)

    choices = [built("wrong", wrong), built("slow", right), built("fast", right)]
    assert implementations.fastest(choices, lambda call: seconds[call()], right, 1e-3).how == "fast"
    assert implementations.fastest(choices, lambda call: seconds[call()], None, 1e-3).how == "wrong"
    with pytest.raises(implementations.Unsupported, match="something else, error"):
        implementations.fastest(choices[:1], lambda call: seconds[call()], right, 1e-3)
    with pytest.raises(implementations.Unsupported, match="no implementation"):
        implementations.fastest([], lambda call: 1.0, right, 1e-3)


def _result(seconds: float, theirs: float, uses: dict[str, int]) -> runner.Result:
    times = {"numpy": runner.PeerTime("einsum", theirs, theirs, theirs / seconds)}
    layer = f"layer {theirs}"
    return runner.Result("convolution", layer, "nhwc", "avx2", seconds, seconds, "fma", 1, None, "", uses=uses, peers=times)


def test_summary(peer: workers.Peer) -> None:
    results = [_result(1e-3, 2e-3, {"net": 3}), _result(1e-3, 0.5e-3, {"net": 1}), _result(1e-3, 0.9e-3, {})]
    text = report.footer(results, [peer])
    assert "ahead in 2 of 3 rows" in text
    assert text.index("layer 0.0005") < text.index("layer 0.0009")
    assert "layer 0.002" not in text
    (line,) = [line.split() for line in text.splitlines() if line.startswith("net ") and " nhwc " in line]
    assert line == ["net", "nhwc", "avx2", "4.00", "6.50"]
    assert "net " + 24 * " " + "nchw" not in text  # no row has this layout
    neutral = [dataclasses.replace(result, layout="-") for result in results]
    assert "sum of the layers" not in report.footer(neutral, [peer])
    assert "## Sums" not in report.section(neutral)


def test_cold_calls(tmp_path: Path, peer: workers.Peer) -> None:
    level = runner.isa_levels()[-1]
    warm = runner.run_case(_case(8), level, 1, [peer])
    assert warm.cold_seconds is None and warm.peers["numpy"].cold_ratio is None
    result = runner.run_case(_case(8), level, 3, [peer], cold=True)
    assert len(result.cold_samples) == 3 and result.peers["numpy"].cold_seconds
    result = dataclasses.replace(result, seconds=1e-6, cold_samples=(2e-6, 3e-6, 5e-6), layer="a layer")
    times = dataclasses.replace(result.peers["numpy"], ratio=1.5, cold_ratio=1.25, seconds=1.0, best_seconds=1.0)
    result = dataclasses.replace(result, peers={"numpy": times})
    assert report.row(result, [peer]).endswith("      3.00     1.50/1.25")
    assert " cold " in report.header([peer], cold=True) and " cold " not in report.header([peer])
    assert "Cold over warm: geometric mean 3.00 of 1 rows" in report.footer([result], [peer])
    assert "| 3.0 |" in report.section([result], [peer]) and "| 1.50/1.25 |" in report.section([result], [peer])
    figures = report.figures([result], {}, {})
    report.write_json({"command": "bench", **figures}, tmp_path / "file")
    assert report.read(json.loads((tmp_path / "file").read_text()))[0].cold_samples == result.cold_samples


def test_ratios_of_cold_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    class Fake:
        how = "somehow"

        def __init__(self, peer: Any, task: Any) -> None:
            pass

        def sample(self, cold: bool = False) -> clock.Sample:
            return clock.Sample(6.0 if cold else 2.0, 0.0)

    monkeypatch.setattr(runner, "Built", Fake)
    beside = runner._Beside(cast(Any, None), cast(Any, SimpleNamespace(NAME="fake")), True)
    ours = runner._Timed(lambda: clock.Sample(1.0, 0.0), lambda: clock.Sample(2.0, 0.0))
    for timed in (beside, ours):
        timed.sample()
    assert beside.time(ours) == runner.PeerTime("somehow", 2.0, 2.0, 2.0, cold_seconds=6.0, cold_ratio=3.0)


def test_the_order_of_a_cold_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """The caches are emptied, the code that measures is loaded again, and only then the call is timed, once."""
    done: list[str] = []
    monkeypatch.setattr(clock, "_read_other_data", lambda: done.append("other data"))
    timer = clock.ColdTimer(lambda: done.append("call"), lambda: done.append("empty"))
    sample = timer.sample()
    assert done == ["other data", "empty", "empty", "call"]
    assert sample.seconds > 0 and sample.overhead > 0
    assert clock.ColdTimer(lambda: None, None).sample().overhead > 0
    assert 32 << 20 < clock._other_data().nbytes <= 128 << 20


def test_missing_libraries_are_skipped() -> None:
    with workers.started(["no_such_library"]) as (found, skipped):
        assert found == []
    assert "ModuleNotFoundError" in skipped["no_such_library"]
    assert f"without no_such_library: {skipped['no_such_library']}" in report.header([], skipped)


@pytest.mark.parametrize("name", peers.NAMES)
def test_installed_libraries_compute_the_same(name: str) -> None:
    layers = [
        LAYER,
        Layer(CONVOLUTION, 16, 7, 7, 16, 3, 1, 1, 1, 16),
        Layer(INNER_PRODUCT, 20, 1, 1, 9),
        Layer(MAX, 8, 9, 9, 8, 3, 2, 1, 1),
    ]
    with workers.started([name]) as (found, skipped):
        if skipped:
            pytest.skip(skipped[name])
        for layer in layers:
            for layout in ("nhwc", "nchw"):
                assert runner.run_case(cases.of_layer(layer, layout), runner.isa_levels()[-1], 1, found).absent == {}


_KINDS = {" ".join([case.family, *case.layer.split()[:1], case.layout]): case for case in reversed(cases.FUNCTIONS)}


@pytest.mark.parametrize("kind", _KINDS)
def test_functions_are_timed_and_compared(kind: str, peer: workers.Peer) -> None:
    """The last of each kind is replaced by the first, which is small."""
    result = runner.run_case(_KINDS[kind], runner.isa_levels()[-1], 1, [peer])
    assert result.seconds > 0 and (result.flops or result.traffic)
    assert result.family == _KINDS[kind].family


def test_operators_are_compared(peer: workers.Peer) -> None:
    """The same expression, another one, and one that NumPy does not have."""
    (add,) = [case for case in cases.FUNCTIONS if case.layer == "add 1x197x768 and 768"]
    given = add.prepare()
    assert given.operator

    def result(torch: str) -> runner.Result:
        operator = dataclasses.replace(given.operator, torch=torch) if given.operator else None
        case = dataclasses.replace(add, prepare=lambda: dataclasses.replace(given, operator=operator))
        return runner.run_case(case, runner.isa_levels()[-1], 1, [peer])

    assert result("a + b").peers["numpy"].how == "a + b"
    assert "something else" in result("a - b").absent["numpy"]
    assert "NameError" in result("torch.add(a, b)").absent["numpy"]


def test_differences_of_bytes_do_not_wrap() -> None:
    assert implementations.error_of(np.array([1, 200], np.uint8), np.array([2, 200], np.uint8)) == 1 / 200


def test_the_page_of_functions(tmp_path: Path) -> None:
    copy = dataclasses.replace(_result(1e-3, 0.5e-3, {}), family="tiled_scale", limit="copy", limit_seconds=5e-4)
    absent = dataclasses.replace(copy, layer="other", peers={}, absent={"numpy": "no"}, limit_seconds=9e-4)
    machine_then = {"cpu": "one", "processor": "vendor-01h-02h", "date": "today"}
    figures = {"command": "bench", "machine": machine_then, **report.figures([copy, absent], {"numpy": "1"}, {})}
    (tmp_path / "f").write_text(json.dumps(figures))
    assert main(["--load", str(tmp_path / "f"), "--functions", "--keep", str(tmp_path)]) == 0
    page = (tmp_path / "vendor-01h-02h-functions.md").read_text()
    assert "# Functions by speed" in page and "## Tiled scale" in page
    assert "1 of 2 rows that are compared with a copy reach 0.8" in page
    assert "A peer is ahead in 1 of 1 rows." in page and "No time of numpy: tiled_scale other nhwc." in page
    assert "| layer 0.0005 | nhwc | avx2 | 1000.0 | 0.50 | copy | 0.50 |" in page


def test_each_function_has_a_peer() -> None:
    with workers.started() as (found, skipped):
        if skipped:
            pytest.skip(str(skipped))
        for case in _KINDS.values():
            result = runner.run_case(case, runner.isa_levels()[-1], 1, found)
            assert result.peers, (case.family, case.layer, result.absent)


def test_values() -> None:
    values = values_of(Layer(CONVOLUTION, 6, 5, 4, 8, 3, group=2))
    assert (values.src.shape, values.weight.shape, values.bias.shape) == ((6, 5, 4), (8, 3, 3, 3), (8,))
    assert in_layout(values.src, "nhwc").shape == (5, 4, 6)


# ---- files of figures


def _figures(samples: tuple[float, ...]) -> dict[str, Any]:
    result = dataclasses.replace(
        _result(1e-3, 2e-3, {}), samples=samples, limits=(1.0,) * len(samples), flops=10**6, traffic=10**5, aim_seconds=1e-3
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


BASE = (1.00, 1.01, 0.99, 1.02, 1.00, 1.01, 1.03, 0.98, 1.00)


@pytest.mark.parametrize(
    ("factor", "verdict"), [(1.0, "noise"), (1.3, "slower"), (0.7, "faster"), (1.01, "noise")], ids=lambda x: str(x)
)
def test_comparison(factor: float, verdict: str) -> None:
    noisy = tuple(sample * factor * (1 + 0.001 * i) for i, sample in enumerate(BASE))
    change = compare.changes(_figures(BASE), _figures(noisy))[0]
    assert change.verdict == verdict
    assert change.low <= change.ratio <= change.high
    assert f"{change.ratio:.3f}" in compare.text(_figures(BASE), _figures(noisy))


def test_cold_calls_are_compared() -> None:
    """By their times, and with a noise of their own."""

    def figures(factors: list[float]) -> dict[str, Any]:
        found = _figures(BASE)
        (row, *_) = found["results"]
        found["networks"] = []
        found["results"] = [
            {**row, "layer": f"layer {i}", "cold_samples": [sample * factor for sample in BASE]}
            for i, factor in enumerate(factors)
        ]
        return found

    noise = [1 + 0.02 * (i % 11 - 5) for i in range(33)]
    found = compare.changes(figures([1.0] * 34), figures([*noise, 1.6]))
    warm, cold = ([change for change in found if change.cold == kind] for kind in (False, True))
    assert {change.verdict for change in warm} == {"noise"} and warm[0].noise == compare.LEAST_CHANGE
    assert [change.verdict for change in cold] == ["noise"] * 33 + ["slower"]
    assert f"{compare.LEAST_CHANGE:.1%} (warm), " in compare.text(figures([1.0] * 34), figures([*noise, 1.6]))


def test_a_large_change_of_noisy_rounds_is_noise() -> None:
    wild = (0.5, 2.5, 0.6, 2.4, 1.5)
    (change, *_) = compare.changes(_figures((1.0, 0.9, 1.1, 3.0, 0.4)), _figures(wild))
    assert change.ratio == pytest.approx(1.5)
    assert change.verdict == "noise"


def test_what_many_rows_differ_by_is_noise() -> None:
    """Unchanged rows differ by up to 5%; larger changes are not noise, even if all rows have become slower."""

    def figures(factors: list[float]) -> dict[str, Any]:
        found = _figures(BASE)
        found["networks"] = []
        (row, *_) = found["results"]
        found["results"] = [
            {**row, "layer": f"layer {i}", "samples": [sample * factor for sample in BASE]}
            for i, factor in enumerate(factors)
        ]
        return found

    noise = [1 + 0.01 * (i % 11 - 5) for i in range(33)]
    changes = compare.changes(figures([1.0] * 35), figures([*noise, 1.3, 0.7]))
    assert [change.verdict for change in changes] == ["noise"] * 33 + ["slower", "faster"]
    assert {change.verdict for change in compare.changes(figures([1.0] * 35), figures([1.3] * 35))} == {"slower"}


def test_p_values() -> None:
    """Compared with tables of the test; for equal values, with the normal distribution."""
    assert compare.p_value([1, 2, 3, 4, 5], [6, 7, 8, 9, 10]) == pytest.approx(2 / 252)
    assert compare.p_value([1, 2, 4], [3, 5, 6]) == pytest.approx(4 / 20)
    assert compare.p_value([1, 4], [2, 3]) == 1
    assert compare.p_value([1, 1, 1], [1, 1, 1]) == 1
    assert compare.p_value([1, 1, 1, 2, 2], [3, 3, 3, 4, 4]) < 0.02


def test_files_without_rows_in_common() -> None:
    assert "no row" in compare.text({"results": []}, _figures(BASE))


def test_pictures_and_page(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    (tmp_path / "figures.json").write_text(json.dumps(_figures(BASE)))
    page = tmp_path / "page.html"
    files = ["--load", str(tmp_path / "figures.json"), "--plots", str(tmp_path), "--html", str(page)]
    assert main(files) == 0
    names = {path.stem for path in tmp_path.glob("*.png")}
    assert names == {"networks", "networks-scaling", "roofline", "limits-arithmetic", "limits-memory", "peers", "scaling"}
    text = page.read_text()
    assert text.count("data:image/png;base64,") == len(names)
    assert "http" not in text and "bench &lt;&amp;&gt;" in text and "20.00 (2.00" in text


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written = tmp_path / "bench.json"
    counts = [1, 2][: len(os.sched_getaffinity(0))]
    line = ["--only", "relu 1000", "--isa", runner.isa_levels()[-1], "--rounds", "2"]
    assert main([*line, "--threads", ",".join(map(str, counts)), "--json", str(written)]) == 0
    figures = json.loads(written.read_text())
    assert [row["threads"] for row in figures["results"]] == counts
    assert figures["machine"]["limits"]["copy"].keys() >= {"256 MB"}
    assert main(["--compare", str(written), str(written)]) == 0
    assert "0 faster, 0 slower" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (["--threads", "0"], "'0' is no number of at least 1"),
        (["--threads", "1,x"], "'x' is no number of at least 1"),
        (["--threads", "1,99999"], "99999 is more than the"),
        (["--rounds", "0"], "'0' is no number of at least 1"),
        (["--isa", "nonsense"], "invalid choice: 'nonsense'"),
        (["--network", "no such"], "invalid choice"),
        (["--layout", "nchw4c"], "invalid choice"),
        (["--only", "no such layer"], "no case has the words 'no such layer'; the families are activation, add, "),
        (["--only", "conv"], "no case has the words 'conv'; the families are "),
        (["--only", "pooling", "--only", "conv"], "no case has the words 'conv'; the families are "),
        (["--only", "nhwc", "--layout", "nchw"], "no case has the words 'nhwc' and layout nchw; "),
        (["--whole", "--only", "relu"], "--whole has no use for --only"),
        (["--whole", "--layout", "nhwc"], "--whole has no use for --layout"),
        (["--whole", "--cold"], "--whole has no use for --cold"),
        (["--steps", "--cold"], "--steps has no use for --cold"),
        (["--batch", "16"], "--batch is of use only with --whole, --steps or --onnx"),
        (["--whole", "--batch", "0"], "'0' is no number of at least 1"),
        (["--part", "2/2"], "'2/2' is no I/N with I below N"),
        (["--part", "half"], "'half' is no I/N with I below N"),
        (["--load", "good", "--whole", "--only", "relu"], "--load has no use for --only, --whole"),
        (["--compare", "good", "good", "--all-levels"], "--compare has no use for --all-levels"),
        (["--compare", "good", "good", "--html", "page"], "--compare has no use for --html"),
        (["--compare", "good", "good", "--load", "good"], "--compare has no use for --load"),
        (["--compare", "good", "no file"], "no file cannot be read: No such file"),
        (["--load", "."], ". cannot be read: Is a directory"),
        (["--load", "good", "empty"], "empty is no JSON"),
        (["--load", "object"], "object is none of the files that --json writes"),
        (["--load", "list"], "list is none of the files that --json writes"),
        (["--load", "rowless"], "rowless has no rows"),
    ],
)
def test_a_wrong_command_line(
    wrong: list[str], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rowless: dict[str, Any] = {"results": [], "networks": []}
    files = {"good": json.dumps(_figures(BASE)), "rowless": json.dumps({**_figures(BASE), **rowless})}
    for name, text in {**files, "empty": "", "object": "{}", "list": "[]"}.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        main(wrong)
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize(
    ("only", "families"),
    [
        (["convolution"], {"convolution"}),
        (["convert"], {"layout"}),
        (["deconvolution", "convolution_8i"], {"deconvolution", "convolution_8i"}),
        (["relu  1000"], {"activation"}),
    ],
)
def test_only_takes_whole_words(only: list[str], families: set[str]) -> None:
    line = importlib.import_module("bench.__main__")
    arguments = line._arguments(line._parser(), [part for words in only for part in ("--only", words)])
    found = line._cases(arguments, only)
    assert {case.family for case in found} == families
    if only == ["relu  1000"]:
        assert [case.layer for case in found] == ["relu 1000"]


def test_parts_of_the_table() -> None:
    line = importlib.import_module("bench.__main__")
    parser = line._parser()
    whole_table = line._cases(parser.parse_args([]), [""])
    parts = [line._cases(parser.parse_args(["--part", f"{i}/7"]), [""]) for i in range(7)]
    assert [case for part in parts for case in part] == whole_table
    assert all(parts)


def test_what_is_asked_for_twice_is_timed_once(tmp_path: Path) -> None:
    level, written = runner.isa_levels()[-1], tmp_path / "bench.json"
    numbers = "2,1,1" if len(os.sched_getaffinity(0)) > 1 else "1,1"
    line = ["--only", "relu 1000", "--isa", level, "--isa", level, "--rounds", "1", "--threads", numbers]
    assert main([*line, "--json", str(written)]) == 0
    rows = [(row["layer"], row["threads"]) for row in json.loads(written.read_text())["results"]]
    assert len(set(rows)) == len(rows)
    assert [threads for _, threads in rows] == sorted(set(map(int, numbers.split(","))))


def test_files_beside_what_make_gives(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "figures").write_text(json.dumps(_figures(BASE)))
    assert main(["--peers", "--json", str(tmp_path / "new"), "--load", str(tmp_path / "figures")]) == 0
    assert "layer 0.002" in capsys.readouterr().out
    assert not (tmp_path / "new").exists()


def test_a_cap_is_one_for_the_benchmarks(monkeypatch: pytest.MonkeyPatch) -> None:
    levels = pysimd.isa_levels()
    monkeypatch.setenv("SIMDNET_MAX_ISA", levels[1])
    with pysimd.max_isa(levels[1]):
        assert runner.isa_levels() == list(levels[:2])


def test_pages_of_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Pages of layers and of networks, with each line of the table."""
    for name in ("first", "second"):
        (tmp_path / name).write_text(json.dumps(_figures(BASE)))
    page = tmp_path / "pages" / "both.md"
    assert main(["--load", str(tmp_path / "first"), str(tmp_path / "second"), "--markdown", str(page)]) == 0
    text, printed = page.read_text(), capsys.readouterr().out
    assert "# Figures" in text and "# Whole networks" in text and "1 runs more like it" in text
    assert "vendor-01h-02h, a machine, today" in text
    assert text.count("| avx2 | 2 | ") == 2 and text.count("| avx2 | 1 | 2 | ") == 2  # a layer and a network of each file
    assert printed.count("layer 0.002 ") == 4 and printed.count("\nNet ") == 4


# ---- whole networks


def _small(batch: int = 1) -> Graph:
    """A layer of every kind."""
    net = Network("small", (3, 32, 32), batch)
    x = net.convolved(net.image, 16, 3, 2, activation="hswish")
    y = net.depthwise(x, 3, activation="relu6")
    x = net.relu(net.sum(x, net.convolved(y, 16)))
    x = net.concat(net.max(x, 2, 2), net.part(net.max(x, 2, 2), 8, 16))
    x = net.concat(net.enlarge(x), net.deconvolved(x, 8, 2, 2, activation="relu"))
    x = net.scale(x, net.pixel(net.linear(net.mean(x), net.channels(x), activation="unit")))
    x = net.convolved(net.max(x, 2, 1, (0, 0, 1, 1)), 8, 3, activation="leaky")
    return net.graph(net.softmax(net.linear(x, 10)))


def _library(name: str) -> Any:
    """The module that builds networks for this library."""
    try:
        return importlib.import_module(f"{whole.__name__}.{name}")
    except ImportError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("name", [whole.OURS, *whole.PEERS])
def test_libraries_compute_the_same_network(name: str) -> None:
    library = _library(name)
    net = _small()
    images = table.images_of(net)
    exact = reference(net, images[0])
    built = [build() for build in library.build(net, images, 1)]
    assert built
    for made in built:
        made.call()
        assert np.abs(made.result().reshape(exact.shape) - exact).max() < 1e-3 * exact.max(), made.how


@pytest.mark.parametrize("name", [whole.OURS, *whole.PEERS])
def test_libraries_compute_the_same_batch(name: str) -> None:
    library = _library(name)
    net = _small(batch=2)
    images = table.images_of(net)
    if name == "ncnn":
        with pytest.raises(implementations.Unsupported, match="one image at a time"):
            list(library.build(net, images, 1))
        return
    exact = np.stack([reference(_small(), image).ravel() for image in images])
    assert np.abs(exact[0] - exact[1]).max() > 0.01 * exact.max()
    for build in library.build(net, images, 1):
        assert np.abs(build().result().reshape(exact.shape) - exact).max() < 1e-3 * exact.max()


def test_whole_networks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours in a process of its own, and a library that is not available."""
    monkeypatch.setitem(MODELS, "small", _small)
    result = table.time_network("small", 3, 1, runner.isa_levels()[-1], 2, ["no_such_library"])
    assert len(result.ours.rounds) == 2 and result.ours.best_seconds > 0
    assert "ModuleNotFoundError" in result.absent["no_such_library"]
    assert "small" in table.row(result, ["no_such_library"])
    assert "without no_such_library in small (1, batch 3)" in table.footer([result])
    assert table.read(json.loads(json.dumps(table.figures([result])))) == [result]
    assert "| 3 | 1 |" in table.section([result], [])


def test_times_of_a_batch_are_those_of_an_image(monkeypatch: pytest.MonkeyPatch) -> None:
    class Fake:
        version, how, result = "1", "somehow", None

        def __init__(self, name: str, task: Any) -> None:
            self.name = name
            assert task.images.shape == (4, 32, 32, 3)

        def sample(self, round_: Round) -> list[float]:
            return [6.0 if round_ == table._SHORT else 2.0]

        def close(self) -> None:
            pass

    monkeypatch.setitem(MODELS, "small", _small)
    monkeypatch.setattr(table, "Worker", Fake)
    seconds = [table.time_network("small", 4, threads, "base", 3, ["ncnn"]).ours.seconds for threads in (1, 2)]
    assert seconds == [1.5, 0.5]


def test_rounds() -> None:
    """Passes that are not counted, then those that are, for as long as requested; with several threads for seconds."""
    called: list[float] = []

    def call() -> None:
        called.append(time.perf_counter())
        time.sleep(0.01)

    start = time.perf_counter()
    counted = passes(call, Round(0.05, 0.1, 0.1))
    assert called[0] - start >= 0.05
    assert called[-len(counted)] - called[0] >= 0.1
    assert len(counted) >= 2 and 0.08 < sum(counted) < called[-1] - called[0]
    assert len(passes(call, Round(0, 0, 0))) == 2
    assert table._ALONE.counted >= 1 > table._SHORT.counted


def test_steps(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(MODELS, "small", _small)
    monkeypatch.setattr(steps, "_PASSES", Round(0, 0, 0.001))
    monkeypatch.setattr(steps, "_ALONE_SECONDS", 1e-5)
    level = runner.isa_levels()[-1]
    stepped = steps.time_steps("small", 2, level, 2)
    net = Runner(simplified(_small(batch=2)), "nhwc")
    assert [step.info for step in stepped.steps if step.info] == [step.context.info for step in net.steps if step.context]
    for step in stepped.steps:
        assert step.bound_seconds == max(step.alone_seconds, step.weight_bytes / stepped.read_speed)
        assert step.network_seconds > 0 and step.alone_seconds > 0
    names = [step.name for step in stepped.steps]
    assert "3x32x32 -> 16 3x3 s2 hswish" in names[:2]
    assert "16x16x16 depthwise 3x3 s1, -> 16 1x1 s1" in names and names[-1] == "10 Softmax"
    gemm = next(step for step in steps.time_steps("small", 1, level, 1).steps if step.name.endswith(" -> 10"))
    assert gemm.weight_bytes >= 4 * (8 * 16 * 16 * 10 + 10)
    figures = json.loads(json.dumps(steps.figures([stepped])))
    assert steps.read(figures) == [stepped]
    assert figures["steps"][0]["ratio"] == stepped.seconds / sum(step.bound_seconds for step in stepped.steps)
    lost = [line.split()[0] for line in steps.text(stepped).splitlines()[2:-1]]
    assert lost == sorted(lost, key=float, reverse=True) and len(lost) == len(names)
    assert f"| small | {level} | 2 | 1 |" in steps.section([stepped])
    del figures["steps"][0]["threads"], figures["steps"][0]["steps"][0]["single_seconds"]  # of older files
    assert steps.read(figures) == [stepped]
    if len(os.sched_getaffinity(0)) > 1:
        shared = steps.time_steps("small", 1, level, 2, threads=2)
        assert shared.threads == 2 and shared.single_seconds > 0
        assert all(step.speedup == step.single_seconds / step.network_seconds > 0 for step in shared.steps)
        assert f"{shared.single_seconds / shared.seconds:.3f} times as fast as on one thread" in steps.total(shared)
        assert f" {shared.steps[0].speedup:.2f} " in steps.text(shared)
    assert main(["--steps", "--network", "mobilenetv2", "--isa", level, "--rounds", "1", "--json", str(tmp_path / "f")]) == 0
    assert "MobileNetV2" in capsys.readouterr().out
    assert main(["--load", str(tmp_path / "f")]) == 0
    assert "MobileNetV2" in capsys.readouterr().out


def test_figures_are_kept_by_processor(tmp_path: Path) -> None:
    (tmp_path / "first").write_text(json.dumps(_figures(BASE)))
    assert main(["--load", str(tmp_path / "first"), "--keep", str(tmp_path / "kept")]) == 0
    kept = tmp_path / "kept" / "vendor-01h-02h.json"
    assert report.read(json.loads(kept.read_text())) == report.read(_figures(BASE))
    assert "(../benchmarks.md)" in kept.with_suffix(".md").read_text()
    assert "0 faster, 0 slower" in compare.text(json.loads(kept.read_text()), _figures(BASE))


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"vendor_id": "AuthenticAMD", "cpu family": "25", "model": "17"}, "amd-19h-11h"),
        ({"vendor_id": "GenuineIntel", "cpu family": "6", "model": "207"}, "intel-06h-cfh"),
        ({"CPU implementer": "0x41", "CPU part": "0xd0c"}, "arm-41h-d0ch"),
        ({}, platform.machine()),
    ],
)
def test_names_of_processors(fields: dict[str, str], name: str) -> None:
    assert machine.processor_of(fields) == name


# ---- the choice of algorithms, judged by stored times

STRIDE_1, STRIDE_2 = "1x64x56x56->64x56x56,3x3,nhwc", "1x128x56x56->128x28x28,3x3,s2,nhwc"


def _times(processor: str, rows: dict[str, dict[str, tuple[float, float]]], isa: str) -> regret.Table:
    return regret.Table(processor, "measured", {regret.Key(shape, isa): times for shape, times in rows.items()})


def test_the_present_choice() -> None:
    level = pysimd.isa_levels()[-1]
    for line in Path(cases.__file__).parents[1].joinpath("convolutions.txt").read_text().splitlines():
        shape = line.split("#")[0].strip()
        if shape:
            for layout in ("nhwc", "nchw"):
                assert regret.info_of(regret.Key(f"{shape},{layout}", level)).endswith(level) or level != "avx512"
    assert regret.info_of(regret.Key("2x16x9x9->8x5x5,3x3,s2,nchw,8u->8u", level))
    assert regret.info_of(regret.Key("1x16x9x9->16x9x9,3x3,g16,nhwc,16b->32f", level)).startswith("depthwise")
    assert regret.info_of(regret.Key(STRIDE_1, "base")).startswith("base")
    with pytest.raises(ValueError, match="'1x2' is no shape"):
        regret.info_of(regret.Key("1x2", level))
    with pytest.raises(ValueError, match="is refused"):
        regret.info_of(regret.Key("1x16x9x9->8x9x9,3x3,g3,nchw", level))


def test_regret_on_two_processors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The choice is the best on one and takes twice as long on the other, where no single one is within 5% on both."""
    level = pysimd.isa_levels()[-1]
    name = regret.info_of(regret.Key(STRIDE_1, level)).split(", tile")[0].removesuffix(f", {level}")
    here = _times("amd-19h-11h", {STRIDE_1: {name: (10, 20), "other": (15, 26), "third": (9, 90)}}, level)
    there = _times("intel-06h-cfh", {STRIDE_1: {name: (10, 40), "other": (15, 20)}}, level)
    assert here.regret(regret.Key(STRIDE_1, level), name) == (10 / 9, 1.0)
    text = regret.text([here, there])
    assert f"{level} warm: geometric mean 1.111, worst 1.11 ({STRIDE_1}), 1 of 1 rows above 1.05" in text
    assert f"{level} cold: geometric mean 2.000, worst 2.00 ({STRIDE_1}), 1 of 1 rows above 1.05" in text
    lines = [line.split() for line in text.splitlines()]
    assert ["*", *name.split(), "1.00", "(amd-19h-11h)", "2.00", "(intel-06h-cfh)"] in lines
    assert ["+", "other", "1.30", "(amd-19h-11h)", "1.00", "(intel-06h-cfh)"] in lines
    assert "third" not in text
    unknown = _times("amd-19h-11h", {STRIDE_2: {"third": (1, 1)}}, level)
    assert f"{STRIDE_2}, {level}: {regret.info_of(regret.Key(STRIDE_2, level))} was not measured" in regret.text([unknown])
    rows = [{"shape": STRIDE_1, "isa": level, "algorithms": [{"name": name, "warm_us": 1.0, "cold_us": 2.0}]}]
    (tmp_path / "calibrate.json").write_text(json.dumps(rows))
    assert regret.main([str(tmp_path / "calibrate.json"), "--keep", str(tmp_path), "--source", "here, today"]) == 0
    kept = regret.read(tmp_path / f"{machine.processor()}-convolutions.json")
    assert (kept.source, kept.times) == ("here, today", {regret.Key(STRIDE_1, level): {name: (1.0, 2.0)}})
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(SystemExit):
        regret.main([str(tmp_path / "other.json")])
    assert "has no times of algorithms" in capsys.readouterr().err


def test_kept_times_of_algorithms_are_of_shapes() -> None:
    """The name of every algorithm that is chosen is in one of them, or a choice could not be recognised. In those that are
    older than an algorithm, it is not among the names of a shape."""
    kept = {path: regret.read(path) for path in (ROOT / "docs" / "figures").glob("*-convolutions.json")}
    names = sorted({name for one in kept.values() for times in one.times.values() for name in times})
    for path, of_one in kept.items():
        assert of_one.processor in path.name and of_one.source
        for key, times in of_one.times.items():
            assert all(warm > 0 and cold > 0 for warm, cold in times.values())
            assert key.isa not in pysimd.isa_levels() or regret.chosen(key, names), key


def test_neighbours_are_no_change() -> None:
    """A row during which the machine was slow, together with its limit or in all but one round."""
    quiet, busy = _figures(BASE), _figures(tuple(2 * sample for sample in BASE))
    busy["results"][0]["limits"] = [2.0] * len(BASE)
    assert compare.changes(quiet, busy)[0].verdict == "noise"
    (change, *_) = compare.changes(quiet, _figures((0.99, *(2 * sample for sample in BASE[1:]))))
    assert change.ratio > 1.9 and change.p < 0.01
    assert change.verdict == "noise"
