"""The benchmarks' tables, and their calls of other libraries; times are not tested."""

from __future__ import annotations

import dataclasses
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Callable, cast

import numpy as np
import pytest

import pysimd
from bench import cases, clock, implementations, levels, limits, machine, older, peers, remote, report, runner
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
from bench.models import MODELS, layers_of
from bench.peers import workers
from bench.whole import table
from support import numpy_peer
from support.bench_figures import result_of


@pytest.mark.parametrize("arithmetic", ["fma", "dot_8i", "dot_16b"])
def test_limits_do_what_they_are_asked_for(arithmetic: str, isa: str) -> None:
    work = getattr(limits.functions(), arithmetic)
    assert all(operations <= work(operations) < operations + 150_000 for operations in (0, 1, 100_000, 1_000_001))


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


@pytest.mark.parametrize("newest", older.LEVELS)
def test_a_processor_with_older_instructions(newest: str) -> None:
    """Also in a thread, and in a process that it starts: peers are such processes."""
    if platform.machine() != "x86_64" or sys.platform != "linux":
        pytest.skip("only x86-64 Linux hides instructions")
    see = "import pysimd; print(*pysimd.isa_levels(), flush=True)"
    start = f"lambda: subprocess.run([sys.executable, '-c', {see!r}])"
    code = f"import subprocess, sys, threading; t = threading.Thread(target={start}); t.start(); t.join(); {see}"
    done = subprocess.run([sys.executable, "-c", code], env=older.environment(newest), capture_output=True, text=True)
    if "no CPUID faulting" in done.stderr:
        pytest.skip(done.stderr.strip())
    newer = {*older.LEVELS[older.LEVELS.index(newest) + 1 :], "amx"} | ({"avxvnni"} - {newest})
    seen = [level for level in pysimd.isa_levels() if level not in newer]
    assert done.stdout.splitlines() == [" ".join(seen)] * 2, done.stderr


def test_figures_of_an_older_processor_have_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = machine.processor()
    monkeypatch.setenv("BENCH_CPU", "avx2")
    assert machine.processor() == f"{plain}-avx2"
    assert "as if it had avx2 at most" in machine.line()


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


def test_summary(peer: workers.Peer) -> None:
    results = [result_of(1e-3, 2e-3, {"net": 3}), result_of(1e-3, 0.5e-3, {"net": 1}), result_of(1e-3, 0.9e-3, {})]
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
    copy = dataclasses.replace(result_of(1e-3, 0.5e-3, {}), family="tiled_scale", limit="copy", limit_seconds=5e-4)
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


def test_tables_of_every_level(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(levels, "PEERS", ())
    monkeypatch.setattr("sys.argv", ["levels", "--rounds", "1", "--only", "8i` 960x7x7"])
    levels.main()
    every, lines = runner.isa_levels(), capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"|  | {every[-1]}: us |") and lines[0].count("|") == len(every) + 2
    name, times = "| `convolution_8i` 960x7x7 depthwise 3x3 s1 |", dict.fromkeys(every, 2.0)
    assert [line.startswith(name) for line in lines].count(True) == 2
    times |= {"onnxruntime": 3.0, f"{levels.FLOATS} {every[-1]}": 5.0}
    assert levels.line_of("x", times, every).startswith("| x | 2e+06 |")
    assert levels.floats_line_of("x", times, every[-1:]) == "| x | 2.50 |"
    assert len({row.name for row in levels.rows()}) == len(levels.rows())


def test_values() -> None:
    values = values_of(Layer(CONVOLUTION, 6, 5, 4, 8, 3, group=2))
    assert (values.src.shape, values.weight.shape, values.bias.shape) == ((6, 5, 4), (8, 3, 3, 3), (8,))
    assert in_layout(values.src, "nhwc").shape == (5, 4, 6)
