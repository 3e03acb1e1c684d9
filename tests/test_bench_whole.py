"""The benchmarks of whole networks, of this package and of others; times are not tested."""

from __future__ import annotations

import importlib
import json
import os
import platform
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pysimd
from bench import compare, implementations, machine, report, runner, whole
from bench.__main__ import main
from bench.models import MODELS, Network
from bench.whole import steps, table
from bench.whole.workers import Round, passes
from network.reference import reference
from pysimd.network import Graph, Runner
from pysimd.network.passes import simplified
from support.bench_figures import BASE, figures_of


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
    level = pysimd.active_isa()  # not always the newest
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
    (tmp_path / "first").write_text(json.dumps(figures_of(BASE)))
    assert main(["--load", str(tmp_path / "first"), "--keep", str(tmp_path / "kept")]) == 0
    kept = tmp_path / "kept" / "vendor-01h-02h.json"
    assert report.read(json.loads(kept.read_text())) == report.read(figures_of(BASE))
    assert "(../benchmarks.md)" in kept.with_suffix(".md").read_text()
    assert "0 faster, 0 slower" in compare.text(json.loads(kept.read_text()), figures_of(BASE))


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
