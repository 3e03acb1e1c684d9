"""The choice of algorithms, judged by stored times."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import pysimd
from bench import cases, compare, machine, regret
from support import ROOT
from support.bench_figures import BASE, figures_of

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
    quiet, busy = figures_of(BASE), figures_of(tuple(2 * sample for sample in BASE))
    busy["results"][0]["limits"] = [2.0] * len(BASE)
    assert compare.changes(quiet, busy)[0].verdict == "noise"
    (change, *_) = compare.changes(quiet, figures_of((0.99, *(2 * sample for sample in BASE[1:]))))
    assert change.ratio > 1.9 and change.p < 0.01
    assert change.verdict == "noise"
