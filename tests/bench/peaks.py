"""``python -m bench.costs memory``: the most memory of a process until its first answer, beside ONNX Runtime.

Models have random weights, in the nodes that exporters write: what is large in them is what real models made us hold twice.
Every process has one thread. Its peak is VmHWM, of which Python and NumPy alone are a part that the table names.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bench.transformers.writer import Writer

_PROCESS = """
import json, sys, time
import numpy
kind, path, inputs = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
begin, facts = time.process_time(), [0, 0]
if kind != "numpy":
    random = numpy.random.default_rng(1)
    feeds = {
        name: random.random(shape, "f4") if "float" in dtype else numpy.ones(shape, dtype) for name, dtype, shape in inputs
    }
if kind == "onnxruntime":
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 3
    begin = time.process_time()
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    prepared = time.process_time()
    session.run(None, feeds)
elif kind == "pysimd":
    import pysimd
    begin = time.process_time()
    runner = pysimd.load(path).prepare({name: shape for name, _, shape in inputs})
    prepared = time.process_time()
    runner(feeds)
    facts = [runner.weight_bytes, runner.block_bytes]
(peak,) = (line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM:"))
print(json.dumps([1024 * int(peak), prepared - begin if kind != "numpy" else 0, *facts]))
"""


@dataclass(frozen=True)
class Peak:
    """What one process needed: bytes, seconds of processor time to prepare, and ours for packed weights and tensors."""

    nbytes: int
    seconds: float
    weights: int
    block: int


def measured(kind: str, path: Path, inputs: Sequence[tuple[str, str, Sequence[int]]]) -> Peak:
    """The facts of a new process: of "numpy", which loads nothing, of "pysimd" or of "onnxruntime"."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", _PROCESS, kind, str(path), json.dumps(inputs)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    return Peak(*json.loads(done.stdout.splitlines()[-1]))


# ---- models


def unet(batch: int = 1, size: int = 300) -> Any:
    """Three levels, images as large as the input with 32 channels: tensors take much more than the 1 MB of weights."""
    w = _writer()

    def twice(x: str, inputs: int, outputs: int) -> str:
        for channels in (inputs, outputs):
            x = w.add("Conv", x, w.weight(outputs, channels, 3, 3), w.vector(outputs), pads=[1] * 4)
            x = w.add("Relu", x)
        return x

    def halved(x: str) -> str:
        return w.add("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])

    def doubled(x: str) -> str:
        return w.add("Resize", x, "", w.constant([1, 1, 2, 2]), mode="nearest", nearest_mode="floor")

    fine = twice(w.input("x", (batch, 3, size, size)), 3, 32)
    middle = twice(halved(fine), 32, 64)
    coarse = twice(halved(middle), 64, 64)
    x = twice(w.add("Concat", middle, doubled(coarse), axis=1), 128, 64)
    x = twice(w.add("Concat", fine, doubled(x), axis=1), 96, 32)
    w.output(w.add("Sigmoid", w.add("Conv", x, w.weight(1, 32, 1, 1), w.vector(1))))
    return w.model()


def recogniser(steps: int = 80, width: int = 480, classes: int = 6000) -> Any:
    """A recurrent layer that an exporter has unrolled: each step multiplies by the same matrix."""
    w = _writer()
    x = w.input("x", (1, steps, width))
    gates = w.add("Add", w.add("MatMul", x, w.weight(width, 4 * width)), w.vector(4 * width))
    each = w.several("Split", steps, gates, w.ints(*[1] * steps), axis=1)
    recurrent, states = w.weight(width, 4 * width), []
    h = c = w.constant([[0] * width])
    for i in range(steps):
        total = w.add("Add", w.add("Squeeze", each[i], w.ints(1)), w.add("MatMul", h, recurrent))
        into, forget, new, out = w.several("Split", 4, total, w.ints(*[width] * 4), axis=1)
        kept = w.add("Mul", w.add("Sigmoid", forget), c)
        c = w.add("Add", kept, w.add("Mul", w.add("Sigmoid", into), w.add("Tanh", new)))
        h = w.add("Mul", w.add("Sigmoid", out), w.add("Tanh", c))
        states.append(w.add("Unsqueeze", h, w.ints(1)))
    y = w.add("MatMul", w.add("Concat", *states, axis=1), w.weight(width, classes))
    w.output(w.add("Softmax", w.add("Add", y, w.vector(classes)), axis=-1))
    return w.model()


def shared_transformer(nodes: int = 64, width: int = 1344, heads: int = 12, layers: int = 8) -> Any:
    """Layers of one set of weights, as in ALBERT and some graph transformers; scores have a bias for each pair of nodes."""
    from bench.transformers.blocks import attend, gelu, join, norm, split

    w = _writer()
    x, bias = w.input("x", (1, nodes, width)), w.input("bias", (1, heads, nodes, nodes))
    projections = [(w.weight(width, width), w.vector(width)) for _ in range(4)]
    wide, narrow = w.weight(width, 4 * width), w.weight(4 * width, width)

    def linear(x: str, weight: str, added: str) -> str:
        return w.add("Add", w.add("MatMul", x, weight), added)

    added = w.vector(4 * width), w.vector(width)
    for _ in range(layers):
        q, k, v = (split(w, linear(x, *each), heads, width // heads, i == 1) for i, each in enumerate(projections[:3]))
        y = linear(join(w, attend(w, q, k, v, width // heads, bias), width), *projections[3])
        x = norm(w, w.add("Add", x, y), width)
        y = linear(gelu(w, linear(x, wide, added[0])), narrow, added[1])
        x = norm(w, w.add("Add", x, y), width)
    w.output(x)
    return w.model()


def _writer() -> Writer:
    from bench.transformers.writer import Writer

    return Writer()


def models() -> Mapping[str, Callable[[], Any]]:
    """Functions that each make a model of ONNX, by name."""
    from bench.transformers import encoders

    return {
        **{name: encoders.MODELS[name] for name in ("minilm-128", "vit-s")},
        "unet": unet,
        "unet, two images": partial(unet, 2),
        "shared-transformer": shared_transformer,
        "unrolled-recogniser": recogniser,
    }


def inputs_of(model: Any) -> list[tuple[str, str, list[int]]]:
    """Names, types and shapes of the inputs of a model of ONNX."""
    import onnx

    found = []
    for value in model.graph.input:
        kind = value.type.tensor_type
        dtype = onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type).name
        found.append((value.name, dtype, [dim.dim_value for dim in kind.shape.dim]))
    return found


# ---- the table


def print_table(given: Sequence[str], rounds: int, kinds: Sequence[str]) -> None:
    """Prints a line for each model, of those whose names contain one of the words if there are words.

    given : words, or files with the shape of their first input after a colon.
    kinds : the libraries, of which ours comes first.
    """
    columns = ["model", "file MB", "weights MB", "block MB", *(f"peak {kind}" for kind in kinds)]
    columns += [*(f"over NumPy {kind}" for kind in kinds), "ratio", *(f"prepare ms {kind}" for kind in kinds)]
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    with tempfile.TemporaryDirectory() as folder:
        for name, path, inputs in _files(given, Path(folder)):
            found = {kind: _least(kind, path, inputs, rounds) for kind in ("numpy", *kinds)}
            alone, ours = found.pop("numpy"), found[kinds[0]]
            cells = [name, *(f"{size / 1e6:.1f}" for size in (path.stat().st_size, ours.weights, ours.block))]
            cells += [f"{each.nbytes / 1e6:.0f}" for each in found.values()]
            cells += [f"{(each.nbytes - alone.nbytes) / 1e6:.0f}" for each in found.values()]
            cells.append(f"{ours.nbytes / found[kinds[-1]].nbytes:.2f}")
            cells += [f"{each.seconds * 1e3:.0f}" for each in found.values()]
            print(f"| {' | '.join(cells)} |", flush=True)


def _least(kind: str, path: Path, inputs: Any, rounds: int) -> Peak:
    each = [measured(kind, path, inputs) for _ in range(rounds)]
    return Peak(*map(min, zip(*((one.nbytes, one.seconds, one.weights, one.block) for one in each))))


def _files(given: Sequence[str], folder: Path) -> Any:
    """Names, files and inputs."""
    import onnx

    words = [word for word in given if ":" not in word]
    for name, make in models().items() if words or not given else ():
        if not words or any(word in name for word in words):
            model, path = make(), folder / "made.onnx"
            onnx.save(model, str(path))
            yield name, path, inputs_of(model)
    for each in given:
        file, _, shape = each.rpartition(":")
        if file:
            (name, dtype, _), *_rest = inputs_of(onnx.load(file, load_external_data=False))
            yield Path(file).stem, Path(file), [(name, dtype, list(map(int, shape.split(","))))]
