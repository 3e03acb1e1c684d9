"""The benchmarks of models from ONNX files; times are not tested."""

from __future__ import annotations

import importlib
import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pysimd
from bench import implementations, pages, scaling
from bench.__main__ import main
from bench.onnx_files import OURS, PEERS, USUAL, Input, Loaded, first, pnnx, shapes, simdnet, table, values_of, workers
from bench.whole.table import Time
from bench.whole.workers import Round
from network.test_models import _classifier as classifier
from pysimd.network.convert import UnsupportedModel, UnsupportedNode

onnx = pytest.importorskip("onnx", reason="onnx, which makes the files, is not installed")


# ---- files


@pytest.fixture
def path(tmp_path: Path) -> Path:
    onnx.save(classifier(), tmp_path / "net.onnx")
    return tmp_path / "net.onnx"


@pytest.fixture
def refused(tmp_path: Path) -> Path:
    """A model with an operator that does not exist."""
    node = onnx.helper.make_node("NoSuchOperator", ["x"], ["y"], "there", domain="elsewhere")
    values = [onnx.helper.make_tensor_value_info(name, 1, (1, 4)) for name in "xy"]
    graph = onnx.helper.make_graph([node], "net", values[:1], values[1:])
    opsets = [onnx.helper.make_opsetid("", 17), onnx.helper.make_opsetid("elsewhere", 1)]
    onnx.save(onnx.helper.make_model(graph, opset_imports=opsets, ir_version=9), tmp_path / "refused.onnx")
    return tmp_path / "refused.onnx"


SHAPE = {"x": (1, 3, 16, 16)}
QUICK = table.Plan((1, 2), (1,), 2, 1.0, (), SHAPE)


def test_shapes(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert shapes.inputs_of(path, 1, SHAPE) == [Input("x", "float32", (1, 3, 16, 16))]
    assert shapes.inputs_of(path, 5, {"net": (1, 3, 8, 9)}) == [Input("x", "float32", (5, 3, 8, 9))]
    with pytest.raises(implementations.Unsupported, match=r"of x \(\?,3,\?,\?\) are open: give --shape x:"):
        shapes.inputs_of(path, 1, {"x": (1, 4, 16, 16)})  # which contradicts the file
    monkeypatch.setattr(shapes, "KNOWN", {"net": [(7,), (1, 3, 5, 5)]})
    assert shapes.inputs_of(path, 1, {})[0].shape == (1, 3, 5, 5)
    monkeypatch.setattr(shapes, "read", lambda path: [("a", "int32", [None, 8]), ("b", "int64", [])])
    assert shapes.inputs_of(path, 1, {}) == [Input("a", "int32", (1, 8)), Input("b", "int64", ())]
    with pytest.raises(implementations.Unsupported, match="the first dimension of b is fixed"):
        shapes.inputs_of(path, 2, {})


def test_values() -> None:
    values = values_of([Input("a", "float32", (2, 3)), Input("b", "int64", ())])
    assert values["a"].dtype == np.float32 and 0 < values["a"].mean() < 1
    assert values["b"] == 1 and values["b"].dtype == np.int64


def test_a_model(path: Path) -> None:
    """Ours in processes of its own, with each batch; what is read back is the same."""
    model = table.time_model(path, QUICK)
    assert (model.name, model.refused, model.notes) == ("net", "", [])
    assert [(run.batch, run.threads, run.isa) for run in model.runs] == [(n, 1, pysimd.active_isa()) for n in (1, 2)]
    assert all(run.ours.seconds > 0 and run.best is None for run in model.runs)
    assert model.bytes["weights"] > 0 and model.bytes["block"] >= 4 * 3 * 16 * 16
    start = model.first[OURS]
    assert start.seconds > start.import_seconds > 0 and start.peak_bytes >= start.import_bytes > 1 << 20
    assert table.read(json.loads(json.dumps(table.figures([model])))) == [model]


def test_a_model_that_is_refused(refused: Path, path: Path) -> None:
    model = table.time_model(refused, QUICK)
    assert not model.runs and "NoSuchOperator" in model.refused
    assert "refused" in table.text(model, ()) and "NoSuchOperator" in table.text(model, ())
    page = table.section([model])
    assert "## Not supported" in page and "- refused: " in page
    open_shape = table.time_model(path, table.Plan())
    assert "give --shape x:" in open_shape.refused


def test_missing_libraries(path: Path) -> None:
    model = table.time_model(path, table.Plan((1,), (1,), 2, 1.0, ("no_such_library",), SHAPE))
    (run,) = model.runs
    assert "ModuleNotFoundError" in run.absent["no_such_library"]
    assert "without no_such_library: ModuleNotFoundError" in table.footer([model])


def _python_library(monkeypatch: pytest.MonkeyPatch, found: Any) -> None:
    """All workers have this library, in this process."""

    class Here:
        alive = True

        def __init__(self, make: Any, name: str) -> None:
            self._served = make(name)

        def call(self, method: str, *arguments: Any) -> Any:
            return getattr(self._served, method)(*arguments)

        def close(self) -> None:
            pass

    real = importlib.import_module("bench.onnx_files.simdnet")

    class Library:
        VERSION = "1"

        def __init__(self, name: str) -> None:
            self.build = real.build if name == OURS else lambda *arguments: iter([lambda: found])

    monkeypatch.setattr(workers, "Remote", Here)
    monkeypatch.setattr(importlib, "import_module", lambda name: Library(name.rpartition(".")[2]))
    monkeypatch.setattr(table, "measured", lambda *arguments: first.First(0.3, 30_000_000, 0.1, 20_000_000))


@pytest.mark.parametrize(("factor", "error"), [(1.0, "e-"), (1.5, "!")])
def test_outputs_are_compared(factor: float, error: str, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With those of the first library; a row is marked if ours differ."""
    inputs = shapes.inputs_of(path, 1, SHAPE)
    (right,) = pysimd.load(path).prepare(SHAPE)(values_of(inputs)).values()
    _python_library(monkeypatch, Loaded("somehow", lambda: None, lambda: [right * np.float32(factor)]))
    model = table.time_model(path, table.Plan((1,), (1,), 2, 1.0, ("onnxruntime", "openvino"), SHAPE))
    (run,) = model.runs
    assert run.errors[OURS] == pytest.approx(1 - 1 / factor, abs=1e-6)
    assert set(run.peers) == {"onnxruntime", "openvino"} and run.best == min(map(run.ratio, run.peers))
    assert error in table.text(model, PEERS).splitlines()[0].split()[-1] or run.errors[OURS] == 0
    assert "first answer: simdnet 30 MB, 300 ms; onnxruntime" in table.text(model, PEERS)


def test_a_library_that_computes_something_else(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    results = iter([[np.zeros((1, 5), np.float32)], [np.ones((1, 5), np.float32)]])
    last: list[Any] = []

    def result() -> Any:
        last[:] = [next(results, *last)]
        return last[0]

    _python_library(monkeypatch, Loaded("somehow", lambda: None, result))
    model = table.time_model(path, table.Plan((1,), (1,), 2, 1.0, ("onnxruntime", "openvino"), SHAPE))
    assert "computes something else" in model.runs[0].absent["openvino"]


def test_errors_of_lists() -> None:
    one, two = np.array([1.0, 2.0]), np.array([10, 20])
    assert implementations.error_of([one, two], [one, two + 1]) == 1 / 21
    assert implementations.error_of([np.zeros((0, 4))], [np.zeros((0, 4))]) == 0
    with pytest.raises(implementations.Unsupported, match="1 outputs instead of 2"):
        implementations.error_of([one], [one, two])


def _run(batch: int, seconds: float, theirs: float) -> table.Run:
    times = [Time("1", how, s, s, (s,) * 3) for how, s in (("somehow", seconds), (USUAL if batch == 1 else "", theirs))]
    return table.Run("net", "net", 1, "avx2", times[0], {"openvino": times[1]}, {}, batch, {OURS: 1e-6}, 0.9e-3)


def _figures() -> dict[str, Any]:
    starts = {name: first.First(0.3, 30_000_000, 0.1, 20_000_000) for name in (OURS, "openvino")}
    inputs, sizes = [Input("x", "float32", (1, 3, 16, 16))], {"weights": 2_500_000, "block": 1_000_000}
    runs = [_run(1, 1e-3, 2e-3), _run(16, 1e-3, 0.5e-3)]
    models = [
        table.Model("net", 3_000_000, inputs, "", sizes, starts, runs, ["batch 64, left out: large"]),
        table.Model("other", 10, refused="1 node of 'g' is not supported: If"),
    ]
    machine = {"line": "a machine", "cpu": "one", "processor": "vendor-01h-02h", "date": "today"}
    return {"command": "bench", "machine": machine, **json.loads(json.dumps(table.figures(models)))}


def test_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "f").write_text(json.dumps(_figures()))
    assert main(["--load", str(tmp_path / "f"), "--keep", str(tmp_path)]) == 0
    page = (tmp_path / "vendor-01h-02h-models.md").read_text()
    assert "# Models by speed" in page and "vendor-01h-02h, a machine, today" in page
    assert "| net | 3x16x16 | 1 | 1 | 1.00 | 2.00* (2.00) | 2.00 | 0.90 | 1e-06 |" in page
    assert "| 1.00 | 0.50 (0.50) |" in page
    assert "Batch 16, threads 1: simdnet is the fastest in 0 of 1 rows" in page and "over ours 0.50." in page
    assert "| net | 3.0 | 2.5 | 1.0 | 30 / 20 | 30 / 20 | 300 / 100 | 300 / 100 |" in page
    assert "- net: batch 64, left out: large" in page and "- other: 1 node of 'g' is not supported: If" in page
    assert table.read(json.loads((tmp_path / "vendor-01h-02h-models.json").read_text())) == table.read(_figures())
    assert main(["--load", str(tmp_path / "f"), "--transformers", "--keep", str(tmp_path)]) == 0
    assert (tmp_path / "vendor-01h-02h-transformers.md").read_text().startswith("# Models by speed")
    assert "not supported: 1 node" in capsys.readouterr().out


def test_the_picture(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    assert pages.write_picture(_figures(), "models", tmp_path / "p.png") == [tmp_path / "p.png"]
    assert pages.write_picture({**_figures(), "models": []}, "models", tmp_path / "none.png") == []
    pages.write_html(_figures(), tmp_path / "page.html")
    assert "Models, milliseconds" in (tmp_path / "page.html").read_text()
    assert "![Models compared with other libraries](p.png)" in table.section(table.read(_figures()), "p.png")


def test_a_large_batch_is_left_out(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Bench:
        plan = table.Plan(seconds=4.0, shapes=SHAPE)

        def __init__(self, path: Path) -> None:
            self.path = path

        def run(self, *arguments: Any) -> str:
            return "timed"

    bench: Any = Bench(path)
    assert table._run(bench, [_run(1, 0.03, 0.031)], 16, 1) == "timed"  # type: ignore[comparison-overlap]
    with pytest.raises(implementations.Unsupported, match=r"a pass takes more than 0\.5 s"):
        table._run(bench, [_run(1, 0.03, 0.032)], 16, 1)


def test_the_command_line(path: Path, refused: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder; what the file has is not timed again."""
    assert table.files_of([tmp_path, path]) == [path, refused, path]
    written = tmp_path / "models.json"
    line = ["--onnx", str(tmp_path), "--shape", "x:1,3,16,16", "--rounds", "2", "--seconds", "1", "--json", str(written)]
    assert main([*line, "--resume"]) == 0
    figures = json.loads(written.read_text())
    assert [model["name"] for model in figures["models"]] == ["net", "refused"]
    figures["models"][0]["file_bytes"] = 12345
    written.write_text(json.dumps(figures))
    assert main([*line, "--resume"]) == 0
    assert [model["file_bytes"] == 12345 for model in json.loads(written.read_text())["models"]] == [True, False]
    assert "refused " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (["--onnx", "no such file"], "there is no no such file"),
        (["--onnx", ".", "--cold"], "--onnx has no use for --cold"),
        (["--onnx", ".", "--whole"], "--onnx has no use for --whole"),
        (["--shape", "x:1,2"], "--shape is of use only with --onnx"),
        (["--onnx", ".", "--shape", "1,2"], "'1,2' is no NAME:N,N"),
        (["--onnx", ".", "--shape", "x:1,y"], "'y' is no number of at least 1"),
        (["--onnx", ".", "--resume"], "--resume needs --json"),
    ],
)
def test_a_wrong_command_line(wrong: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(wrong)
    assert sentence in capsys.readouterr().err


def test_conversion_for_ncnn(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a program that writes its arguments, one that fails, and none."""
    inputs = [Input("x", "float32", (1, 3, 16, 16)), Input("n", "int64", (1,))]
    program, folder = tmp_path / "pnnx", tmp_path / "made"
    program.write_text(f"#!{sys.executable}\nimport sys\nopen('model.ncnn.param', 'w').write(' '.join(sys.argv[2:]))\n")
    program.chmod(0o755)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    folder.mkdir()
    assert pnnx.converted(path, inputs, folder).read_text() == "inputshape=[1,3,16,16]f32,[1]i64 fp16=0"
    (folder / "model.onnx").unlink()
    program.write_text(f"#!{sys.executable}\nraise SystemExit(3)\n")
    with pytest.raises(implementations.Unsupported, match="does not convert it, status 3"):
        pnnx.converted(path, inputs, folder)
    program.unlink()
    with pytest.raises(implementations.Unsupported, match="is not installed"):
        pnnx.converted(path, inputs, folder)


@pytest.mark.parametrize("name", PEERS)
def test_installed_libraries_compute_the_same(name: str, path: Path, tmp_path: Path) -> None:
    """What is installed where the tests run."""
    inputs, source = shapes.inputs_of(path, 1, SHAPE), path
    pytest.importorskip(name)
    if name == "ncnn":
        if pnnx.program() is None:
            pytest.skip("no pnnx")
        source = pnnx.converted(path, inputs, tmp_path)
    library = importlib.import_module(f"bench.onnx_files.{name}")
    (right,) = pysimd.load(path).prepare(SHAPE)(values_of(inputs)).values()
    for build in library.build(str(source), values_of(inputs), 1):
        loaded = build()
        loaded.call()
        assert implementations.error_of(loaded.result(), [right]) < 1e-3
        loaded.call()


def test_a_refusal_is_one_line_of_nodes() -> None:
    """Without the sentences that tell what to do."""
    nodes = [
        UnsupportedNode("n", "If", "the condition is computed at run time", ("sr",)),
        UnsupportedNode("m", "Loop", "why"),
    ]
    told = str(simdnet._refusal(UnsupportedModel("net", nodes)))
    assert told == (
        "2 nodes of 'net' are not supported: If: the condition is computed at run time, from 'sr' ('n'); Loop: why ('m')"
    )


def test_what_threads_gain(
    path: Path, refused: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(shapes.KNOWN, "net", [SHAPE["x"]])
    monkeypatch.setattr(scaling, "_ROUND", Round(0, 0, 0, 1))
    monkeypatch.setattr(scaling, "_PASSES_SECONDS", 0.01)
    scaling.print_table([str(path), str(refused)], 1, 2, None)
    head, _, row, other = capsys.readouterr().out.splitlines()
    assert "| 2 threads | speedup |" in head and head.count("|") == row.count("|") == other.count("|")
    assert row.startswith("| net | ") and other.startswith("| refused | ") and "NoSuchOperator" in other
    monkeypatch.setattr(scaling, "_LISTED", -1)  # all steps
    scaling.print_steps([str(path)], 1, 2)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("net: ") and " on 2 threads, " in lines[0] and len(lines) > 1


def test_speedups_and_the_last_column() -> None:
    assert scaling._cells([0.004, 0.002]) == ["4.000", "2.000", "2.00", "", "", "", ""]
    assert scaling._cells([0.004, 0.002, 0.006, 0.003]) == ["4.000", "2.000", "2.00", "6.000", "3.000", "2.00", "1.50"]
