"""``python -m bench.costs start MODEL:SHAPE ...``, ``... plan``, ``... memory``, ``... prefer MODEL``,
``... bfloat16 MODEL ...``, ``... calls``, ``... threads MODEL ...``, ``... steps MODEL ...``: what a model costs besides
its arithmetic, beside ONNX Runtime where that is installed. All times but those of threads are those of processors, so that
a busy machine tells much the same; processes and calls of both libraries take turns.

start : from the start of a process to its first answer, and the most memory until then; of an installed package (the
    modules beside a library, see pysimd/package.mk), or of a checkout, where parsing the header counts.
plan : loading and preparing beside the creation of a session, of models and of sources of many nodes.
memory : the most memory of a process until its first answer, of models that :mod:`bench.peaks` makes, or of files.
prefer : error, memory and time of what models are to spare, see :mod:`bench.preferences`.
bfloat16 : models that multiply bfloat16 numbers, beside OpenVINO.
calls : a call with one small input, a step, and a cache of 21 MB that is given and returned.
threads, steps : what several threads gain in models, and the steps that lose most, see :mod:`bench.scaling`.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench import peaks, preferences, scaling

_ANSWER = """
import json, sys, time
import numpy
path, shape, kind = sys.argv[1], tuple(map(int, sys.argv[2].split(","))), sys.argv[3]
if kind == "ort":
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    session.run(None, {session.get_inputs()[0].name: numpy.zeros(shape, "f4")})
elif kind != "numpy":
    import pysimd
    model = pysimd.load(path, prepared=kind == "plan")
    name = next(iter(model.inputs))
    model.prepare({name: shape})({name: numpy.zeros(shape, "f4")})
(peak,) = (line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM:"))
print(json.dumps([time.process_time(), int(peak)]))
"""


def _answer(kind: str, path: str, shape: str) -> tuple[float, float]:
    """Milliseconds of processor time of a process, and its most memory in MB."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", _ANSWER, path, shape, kind]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    seconds, peak = json.loads(done.stdout.splitlines()[-1])
    return seconds * 1e3, peak / 1024


def _has_onnxruntime() -> bool:
    try:
        import onnxruntime  # noqa: F401
    except ImportError:
        return False
    return True


def _start(models: Sequence[str], rounds: int) -> None:
    import pysimd

    others = ["ort"] if _has_onnxruntime() else []
    print("| model | | least ms | median ms | peak MB |\n|---|---|---|---|---|")
    for model in models:
        path, _, shape = model.rpartition(":")
        with tempfile.TemporaryDirectory() as folder:
            size = tuple(map(int, shape.split(",")))
            saved, planned = f"{folder}/a.simdnet", f"{folder}/b.simdnet"
            loaded = pysimd.load(path)
            loaded.save(saved)
            loaded.save(planned, prepared={next(iter(loaded.inputs)): size})
            files = {"numpy": path, **dict.fromkeys(others, path), "onnx": path, "simdnet": saved, "plan": planned}
            found: dict[str, list[tuple[float, float]]] = {kind: [] for kind in files}
            for turn in range(rounds + 1):
                for kind, file in files.items():
                    figures = _answer(kind, file, shape)
                    if turn:  # the first one compiles modules and reads files
                        found[kind].append(figures)
        for kind, each in found.items():
            times, peaks = zip(*each)
            print(
                f"| {Path(path).name} | {kind} | {min(times):.0f} | {statistics.median(times):.0f} | {min(peaks):.0f} |",
                flush=True,
            )


def _least(run: Callable[[], Any], times: int = 5) -> float:
    """The least processor time of several calls, in seconds."""
    found = []
    for _ in range(times):
        begin = time.process_time()
        run()
        found.append(time.process_time() - begin)
    return min(found)


def _plan(models: Sequence[str]) -> None:
    import pysimd
    from network.test_linear_planning import _chain, _residual
    from pysimd.network.model import Model

    ratios = []
    for model in models if _has_onnxruntime() else ():
        import onnxruntime

        path, _, shape = model.rpartition(":")
        sizes = tuple(map(int, shape.split(",")))
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.log_severity_level = 1, 3

        def session(path: str = path, options: Any = options) -> Any:
            return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])

        def ours(path: str = path, sizes: Any = sizes) -> Any:
            loaded = pysimd.load(path)
            return loaded.prepare({next(iter(loaded.inputs)): sizes})

        try:
            ours()
        except ValueError as error:
            print(f"{Path(path).name}: {str(error).splitlines()[1].strip()}")
            continue
        theirs, own = _least(session), _least(ours)
        ratios.append(own / theirs)
        print(
            f"{Path(path).name}: load and prepare {own * 1e3:.1f} ms, session {theirs * 1e3:.1f} ms, ratio {ratios[-1]:.2f}"
        )
    if ratios:
        print(f"median of {len(ratios)} models: {statistics.median(ratios):.2f}")
    for name, sample in (("8,000 nodes in a chain", _chain(1000)), ("2,400 residual blocks", _residual(2400))):
        source, shapes = sample.source(), sample.shapes
        seconds = _least(lambda source=source, shapes=shapes: Model(source).prepare(shapes), 3)  # type: ignore[misc]
        print(f"{name}: prepare {seconds:.2f} s, {seconds / len(source.nodes) * 1e6:.0f} us for a node")


def _many(run: Callable[[], Any], calls: int) -> float:
    """Microseconds of processor time for a call."""

    def several() -> None:
        for _ in range(calls):
            run()

    return _least(several, 9) / calls * 1e6


def _small() -> None:
    from pysimd.network.model import Model
    from pysimd.network.source import Source, SourceNode, Value

    def chain(steps: int) -> Any:
        nodes = [SourceNode("Sigmoid", (f"t{i}" if i else "x",), (f"t{i + 1}",)) for i in range(steps)]
        inputs, outputs = [Value("x", "float32", (1, 8))], [Value(f"t{steps}", "float32", None)]
        return Model(Source("chain", 17, inputs, outputs, nodes, {})).prepare()

    import pysimd

    x, one, long = np.zeros((1, 8), np.float32), chain(1), chain(200)
    function = pysimd.lowlevel.lib.SimdSynetSigmoid32f  # of a step
    source = pysimd.lowlevel.ffi.from_buffer("float[]", x)
    target = pysimd.lowlevel.ffi.new("float[8]")
    slope = pysimd.lowlevel.ffi.new("float[1]", [1.0])
    alone = _many(lambda: function(source, 8, slope, target), 20_000)
    print(f"run(feeds) of one input of 8 floats: {_many(lambda: one({'x': x}), 20_000):.2f} us")
    print(f"a step: {_many(long.run, 300) / len(long.steps):.3f} us; the C call from Python by itself: {alone:.3f} us")


def _cached_model(path: Path, layers: int = 24) -> dict[str, Any]:
    """A decoder's cache: each part is given, gets a row, is returned, and read by a product. Returns the inputs."""
    import onnx
    from onnx import TensorProto, helper

    nodes, inputs, outputs = [], [], []
    given: dict[str, Any] = {}
    for i in range(layers):
        shapes = {f"past{i}": (1, 8, 440, 64), f"new{i}": (1, 8, 1, 64), f"q{i}": (1, 8, 1, 64)}
        inputs += [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()]
        given.update((name, np.random.default_rng(i).random(shape, np.float32)) for name, shape in shapes.items())
        nodes.append(helper.make_node("Concat", [f"past{i}", f"new{i}"], [f"present{i}"], axis=2))
        nodes.append(helper.make_node("Transpose", [f"present{i}"], [f"t{i}"], perm=[0, 1, 3, 2]))
        nodes.append(helper.make_node("MatMul", [f"q{i}", f"t{i}"], [f"y{i}"]))
        outputs += [helper.make_tensor_value_info(f"present{i}", TensorProto.FLOAT, (1, 8, 441, 64))]
        outputs += [helper.make_tensor_value_info(f"y{i}", TensorProto.FLOAT, (1, 8, 1, 441))]
    graph = helper.make_graph(nodes, "cache", inputs, outputs)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    return given


def _calls() -> None:
    import pysimd

    _small()
    try:
        import onnx  # noqa: F401
    except ImportError:
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cache.onnx"
        given = _cached_model(path)
        run = pysimd.load(path).prepare()
        bound = pysimd.load(path).prepare()
        bound.bind(inputs=given, outputs={name: np.empty_like(array) for name, array in bound.outputs.items()})
        kinds: dict[str, Callable[[], Any]] = {"run(feeds)": lambda: run(given), "in place, by bind()": bound.run}
        if _has_onnxruntime():
            kinds["ONNX Runtime, run(feeds)"] = _session(path, given)
        found: Mapping[str, list[float]] = {name: [] for name in kinds}
        for _ in range(15):
            for name, call in kinds.items():
                found[name].append(_least(call, 3))
        for name, times in found.items():
            print(f"a cache of 21 MB, {name}: {min(times) * 1e3:.2f} ms")


def _session(path: Path, given: Mapping[str, Any]) -> Callable[[], Any]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 3
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return lambda: session.run(None, dict(given))


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", choices=("start", "plan", "memory", "prefer", "bfloat16", "calls", "threads", "steps"))
    parser.add_argument("models", nargs="*", metavar="MODEL:SHAPE", help="an ONNX file and the shape of its first input")
    parser.add_argument(
        "--rounds", type=int, default=21, help="processes of each kind; rounds of threads and steps, at most 3"
    )
    parser.add_argument("--threads", type=int, default=2, help="beside one, of threads and steps")
    given = parser.parse_args()
    if given.table == "start":
        _start(given.models, given.rounds)
    elif given.table == "plan":
        _plan(given.models)
    elif given.table == "memory":
        peaks.print_table(given.models, min(given.rounds, 3), ["pysimd", *(["onnxruntime"] if _has_onnxruntime() else [])])
    elif given.table == "prefer":
        preferences.print_table(given.models)
    elif given.table == "bfloat16":
        preferences.print_bfloat16(given.models)
    elif given.table == "threads":
        peer = "onnxruntime" if _has_onnxruntime() else None
        scaling.print_table(given.models, min(given.rounds, 3), given.threads, peer)
    elif given.table == "steps":
        scaling.print_steps(given.models, min(given.rounds, 3), given.threads)
    else:
        _calls()


if __name__ == "__main__":
    _main()
