"""The benchmarks' files of figures: how they are compared, shown and kept, and the command line."""

from __future__ import annotations

import importlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

import pysimd
from bench import compare, runner
from bench.__main__ import main
from support.bench_figures import BASE, figures_of


@pytest.mark.parametrize(
    ("factor", "verdict"), [(1.0, "noise"), (1.3, "slower"), (0.7, "faster"), (1.01, "noise")], ids=lambda x: str(x)
)
def test_comparison(factor: float, verdict: str) -> None:
    noisy = tuple(sample * factor * (1 + 0.001 * i) for i, sample in enumerate(BASE))
    change = compare.changes(figures_of(BASE), figures_of(noisy))[0]
    assert change.verdict == verdict
    assert change.low <= change.ratio <= change.high
    assert f"{change.ratio:.3f}" in compare.text(figures_of(BASE), figures_of(noisy))


def test_cold_calls_are_compared() -> None:
    """By their times, and with a noise of their own."""

    def figures(factors: list[float]) -> dict[str, Any]:
        found = figures_of(BASE)
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
    (change, *_) = compare.changes(figures_of((1.0, 0.9, 1.1, 3.0, 0.4)), figures_of(wild))
    assert change.ratio == pytest.approx(1.5)
    assert change.verdict == "noise"


def test_what_many_rows_differ_by_is_noise() -> None:
    """Unchanged rows differ by up to 5%; larger changes are not noise, even if all rows have become slower."""

    def figures(factors: list[float]) -> dict[str, Any]:
        found = figures_of(BASE)
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
    assert "no row" in compare.text({"results": []}, figures_of(BASE))


def test_pictures_and_page(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    (tmp_path / "figures.json").write_text(json.dumps(figures_of(BASE)))
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
    files = {"good": json.dumps(figures_of(BASE)), "rowless": json.dumps({**figures_of(BASE), **rowless})}
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
    (tmp_path / "figures").write_text(json.dumps(figures_of(BASE)))
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
        (tmp_path / name).write_text(json.dumps(figures_of(BASE)))
    page = tmp_path / "pages" / "both.md"
    assert main(["--load", str(tmp_path / "first"), str(tmp_path / "second"), "--markdown", str(page)]) == 0
    text, printed = page.read_text(), capsys.readouterr().out
    assert "# Figures" in text and "# Whole networks" in text and "1 runs more like it" in text
    assert "vendor-01h-02h, a machine, today" in text
    assert text.count("| avx2 | 2 | ") == 2 and text.count("| avx2 | 1 | 2 | ") == 2  # a layer and a network of each file
    assert printed.count("layer 0.002 ") == 4 and printed.count("\nNet ") == 4
