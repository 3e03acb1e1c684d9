"""Programs in C with open sizes: for each size they have the bits of a preparation, under the sanitizers."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pysimd
from support import COMPILER, ROOT, Array

onnx = pytest.importorskip("onnx", reason="ONNX files need the package onnx")

from network import decoder_models  # noqa: E402
from network.decoder_models import DEPTH, HEADS  # noqa: E402
from network.random_models import random_model  # noqa: E402
from network.test_decoders import CACHE, SOUND, Decoding  # noqa: E402
from network.test_open_arrays import KEPT, model_of  # noqa: E402
from network.test_open_sizes import any_sizes  # noqa: E402

helper, numpy_helper = onnx.helper, onnx.numpy_helper
node = helper.make_node

# A program that creates the model for the first sizes, resizes it for all others, and writes inputs and outputs by number.
_MAIN = r"""
#include "net.h"
#include <stdio.h>
#include <stdlib.h>
static int moved(net * model, int first, int count, int number, const char * end, int write) {
    int i, good = 1;
    for (i = first; i < first + count; i++) {
        char path[64];
        FILE * file;
        size_t bytes = net_bytes(model, (size_t)i), done;
        sprintf(path, "%d.%d.%s", number, i - first, end);
        file = fopen(path, write ? "wb" : "rb");
        if (file == NULL) return 0;
        done = write ? fwrite(net_tensor(model, (size_t)i), 1, bytes, file)
                     : fread(net_tensor(model, (size_t)i), 1, bytes, file);
        good = good && done == bytes && fclose(file) == 0;
    }
    return good;
}
int main(int argc, char ** argv) {
    net * model = NULL;
    int i;
    for (i = 0; i * SIZES + 1 < argc; i++) {
        size_t s[SIZES];
        int k;
        for (k = 0; k < SIZES; k++) s[k] = (size_t)strtoul(argv[1 + i * SIZES + k], NULL, 10);
        if (model == NULL) {
            model = net_create("net.bin", ARGUMENTS);
            if (model == NULL) { printf("%s\n", net_error()); return 1; }
        } else if (!net_resize(model, ARGUMENTS)) {
            printf("%s\n", net_error());
            continue;
        }
        if (!moved(model, 0, INPUTS, i, "in", 0)) return 2;
        if (!net_run(model, NULL, NULL)) { printf("%s\n", net_error()); return 3; }
        if (!moved(model, INPUTS, OUTPUTS, i, "out", 1)) return 4;
    }
    net_destroy(model);
    return 0;
}
"""

_FLAGS = "-std=c99 -Wall -Wextra -Wconversion -Werror -pedantic -O0 -fsanitize=address,undefined -fno-sanitize-recover"


def built(folder: Path, inputs: int, outputs: int, sizes: int) -> Path:
    """The program, with the compiler's checks of addresses and numbers."""
    (folder / "main.c").write_text(_MAIN)
    build, words = ROOT / "build", ", ".join(f"s[{k}]" for k in range(sizes))
    defined = [f"-DSIZES={sizes}", f"-DARGUMENTS={words}", f"-DINPUTS={inputs}", f"-DOUTPUTS={outputs}"]
    linked = [
        f"-I{ROOT / 'include'}",
        f"-L{build}",
        f"-Wl,-rpath,{build}",
        "main.c",
        "net.c",
        "-lsimdnet",
        "-lm",
        "-o",
        "net",
    ]
    done = subprocess.run([COMPILER or "cc", *_FLAGS.split(), *defined, *linked], cwd=folder, capture_output=True, text=True)
    if "cannot find" in done.stderr:
        pytest.skip("the compiler has no libraries for -fsanitize")
    assert done.returncode == 0, done.stderr
    return folder / "net"


def compare(
    model: Any,
    dims: dict[str, Any],
    sizes: Sequence[tuple[int, ...]],
    folder: Path,
    example: Any = None,
    given: Iterator[tuple[dict[str, Array], dict[str, Array]]] | None = None,
    tolerance: float = 0,
) -> str:
    """A program of these dimensions beside preparations for these sizes, in one process. Returns what it says of others.

    given : the inputs, and the outputs of Python; by default random ones.
    tolerance : by which outputs may differ, relative to the largest one.
    """
    names = list(dict.fromkeys(n for each in dims.values() for n in each if isinstance(n, str)))
    model.compile(folder, dims, name="net", sizes=example)
    program = built(folder, len(dims), len(model.outputs), len(names))
    expected: dict[int, Any] = {}
    for i, values in enumerate(sizes):
        known = dict(zip(names, values))
        shapes = {name: tuple(known.get(n, n) for n in each) for name, each in dims.items()}
        if given is None:
            inputs = {name: _values(shape, model.inputs[name].dtype, i) for name, shape in shapes.items()}
            expected[i] = list(model.prepare(shapes)(inputs).values())
        else:
            inputs, outputs = next(given)
            expected[i] = list(outputs.values())
        for k, name in enumerate(dims):
            inputs[name].tofile(folder / f"{i}.{k}.in")
    words = [str(n) for values in sizes for n in values]
    environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=1"}
    done = subprocess.run([program, *words], cwd=folder, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    for i, arrays in expected.items():
        for k, array in enumerate(arrays):
            path = folder / f"{i}.{k}.out"
            if path.exists():
                found = np.fromfile(path, array.dtype).reshape(array.shape)
                far = tolerance * float(np.max(np.abs(array), initial=0)) if tolerance else 0
                np.testing.assert_allclose(found, array, rtol=0, atol=far, err_msg=str(sizes[i]))
    assert sum(1 for _ in folder.glob("*.0.out")) + done.stdout.count("\n") == len(sizes)
    return done.stdout


def _values(shape: tuple[int, ...], dtype: str, seed: int) -> Array:
    values = np.random.default_rng(seed).uniform(-1, 1, shape)
    return (values * 3).astype(dtype) if dtype != "float32" else values.astype(np.float32)


def _model(
    nodes: list[Any], weights: dict[str, Array], inputs: dict[str, Any], outputs: Sequence[str] = "y", opset: int = 17
) -> Any:
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info(name, 1, shape) for name, shape in inputs.items()],
        [helper.make_tensor_value_info(name, 1, None) for name in outputs],
        [numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    return pysimd.load(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9))


def _random(*shape: int) -> Array:
    return np.random.default_rng(1).uniform(-0.5, 0.5, shape).astype(np.float32)


def lines_of_text() -> Any:
    """Convolutions, pooling, a normalization with memory of its own, a recurrent layer and a product."""
    pooling = {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1] * 4}
    nodes = [
        node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1], strides=[2, 2]),
        node("AveragePool", ["c"], ["p"], **pooling),
        node("LpNormalization", ["p"], ["n"], axis=1),
        node("ConvTranspose", ["n", "v"], ["q"], strides=[1, 2]),
        node("ReduceMean", ["q"], ["m"], axes=[2], keepdims=0),
        node("Transpose", ["m"], ["t"], perm=[2, 0, 1]),
        node("LSTM", ["t", "lw", "lr"], ["l"], hidden_size=8),
        node("Squeeze", ["l", "one"], ["s"]),
        node("MatMul", ["s", "head"], ["h"]),
        node("LogSoftmax", ["h"], ["y"], axis=-1),
    ]  # fmt: skip
    weights = {"w": _random(16, 3, 3, 3), "lw": _random(1, 32, 16), "lr": _random(1, 32, 8), "head": _random(8, 20)}
    weights |= {"v": _random(16, 16, 1, 2), "one": np.array([1])}
    return _model(nodes, weights, {"x": (1, 3, 16, "W")})


def test_any_width(tmp_path: Path) -> None:
    widths = [(64,), (37,), (320,), (16,), (161,), (24,), (40,), (33,), (1000,), (64,)]
    said = compare(lines_of_text(), {"x": (1, 3, 16, "W")}, widths, tmp_path)
    assert said == ""


def images_and_windows() -> Any:
    """Numbers for each channel of images, in the order of the graph, and products with three dimensions of a batch."""
    nodes = [
        node("Mul", ["x", "factors"], ["scaled"]),
        node("Add", ["scaled", "addends"], ["s"]),
        node("PRelu", ["s", "addends"], ["p"]),
        node("PRelu", ["p", "rows"], ["r"]),
        node("GroupNormalization", ["r", "factor", "addend"], ["g"], num_groups=4),
        node("LRN", ["g"], ["n"], size=3),
        node("Reshape", ["n", "windows"], ["q"]),
        node("Slice", ["q", "zero", "one", "one"], ["k"]),
        node("Transpose", ["k"], ["turned"], perm=[0, 1, 2, 4, 3]),
        node("MatMul", ["q", "turned"], ["scores"]),
        node("Softmax", ["scores"], ["shares"], axis=-1),
        node("MatMul", ["shares", "k"], ["y"]),
    ]
    weights = {"factors": _random(8, 1, 1), "addends": 0.1 * _random(8, 1, 1), "rows": _random(12, 1), "zero": np.array([0])}
    weights |= {"factor": _random(8), "addend": _random(8), "windows": np.array([0, 2, 4, 12, 4]), "one": np.array([1])}
    return _model(nodes, weights, {"x": ("N", 8, 12, 4)}, opset=21)


def test_any_batch(tmp_path: Path) -> None:
    """One plan serves batches of several images, with the bits of plans for each."""
    model, dims = images_and_windows(), {"x": ("N", 8, 12, 4)}
    runner = model.prepare(dims)
    for batch in (3, 5, 16, 64):
        runner.prepare({"x": (batch, 8, 12, 4)})
    assert len(runner.plans) == 1
    assert compare(model, dims, [(4,), (7,), (1,), (3,), (64,)], tmp_path, {"N": (4, 1)}) == ""
    text = (tmp_path / "net.c").read_text()  # a group norm is one call, with its scale and bias
    assert 0 < text.count("SimdnetGroupNorm(") == text.count("SimdSynetScaleLayerForward(")


@pytest.mark.parametrize("first", [0.0, 0.5])
def test_first_states_of_any_batch(first: float, tmp_path: Path) -> None:
    """As exporters write them, of the size of the batch."""
    nodes = [
        node("Shape", ["x"], ["batch"], start=1, end=2),
        node("Concat", ["one", "batch", "eight"], ["shape"], axis=0),
        node("ConstantOfShape", ["shape"], ["h"], value=numpy_helper.from_array(np.array([first], np.float32))),
        node("GRU", ["x", "w", "r", "", "", "h"], ["y"], hidden_size=8),
    ]
    weights = {"w": _random(1, 24, 5), "r": _random(1, 24, 8), "one": np.array([1]), "eight": np.array([8])}
    model = _model(nodes, weights, {"x": (6, "N", 5)})
    assert compare(model, {"x": (6, "N", 5)}, [(3,), (7,), (1,), (30,)], tmp_path, {"N": (3, 1)}) == ""


def test_a_decoder_with_a_cache(tmp_path: Path) -> None:
    """One step more each time, from the two sizes of the batch and the past."""
    nodes = [
        node("Concat", ["past", "x"], ["keys"], axis=1),
        node("Transpose", ["keys"], ["turned"], perm=[0, 2, 1]),
        node("MatMul", ["x", "turned"], ["scores"]),
        node("Softmax", ["scores"], ["weights"], axis=-1),
        node("MatMul", ["weights", "keys"], ["mixed"]),
        node("Add", ["mixed", "x"], ["sum"]),
        node("MatMul", ["sum", "w"], ["y"]),
    ]
    model = _model(nodes, {"w": _random(32, 32)}, {"past": ("B", "P", 32), "x": ("B", 1, 32)}, ("y", "keys"))
    sizes = [(2, past) for past in (1, 2, 3, 64, 65)] + [(5, 7), (3, 200), (2, 9)]
    said = compare(model, {"past": ("B", "P", 32), "x": ("B", 1, 32)}, sizes, tmp_path, {"B": 2, "P": 64})
    assert said == ""


def masked_tokens() -> Any:
    """What encoders of text do with integers: positions of tokens that are not 0, a mask of attention, places of a class."""
    nodes = [
        node("Cast", ["x"], ["tokens"], to=7),
        node("Equal", ["tokens", "zero"], ["padding"]),
        node("Not", ["padding"], ["kept"]),
        node("Cast", ["kept"], ["ones"], to=6),
        node("CumSum", ["ones", "one"], ["count"]),
        node("Mul", ["count", "ones"], ["numbers"]),
        node("Cast", ["numbers"], ["wide"], to=7),
        node("Add", ["wide", "zero"], ["places"]),
        node("Mod", ["places", "five"], ["classes"]),
        node("OneHot", ["classes", "five", "values"], ["hot"]),
        node("Less", ["places", "five"], ["low"]),
        node("And", ["low", "kept"], ["both"]),
        node("Where", ["both", "x", "half"], ["y"]),
        node("ArgMax", ["tokens"], ["last"], axis=1, select_last_index=1),
        node("ReduceSum", ["ones", "one"], ["lengths"]),
    ]
    weights = {"zero": np.array([0]), "one": np.array([1]), "five": np.array([5]), "values": np.array([0, 1], np.float32)}
    weights |= {"half": np.array([0.5], np.float32)}
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("x", 1, ("N", "T"))],
        [
            helper.make_tensor_value_info(name, kind, None)
            for name, kind in (("y", 1), ("hot", 1), ("last", 7), ("lengths", 6))
        ],
        [numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    return pysimd.load(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9))


def _along_edges() -> list[Any]:
    """Rows of nodes at the ends of edges, and the numbers of the other ends."""
    return [
        node("Cast", ["edges"], ["ends"], to=7),
        node("Gather", ["ends", "zero"], ["from"], axis=0),
        node("Gather", ["ends", "one"], ["to"], axis=0),
        node("Gather", ["x", "from"], ["rows"], axis=0),
    ]


def added_messages() -> Any:
    """Another layer of a graph network: sums of messages begin with zeros, and nodes are added to them."""
    nodes = [
        *_along_edges(),
        node("Shape", ["x"], ["all"]),
        node("ConstantOfShape", ["all"], ["zeros"]),
        node("Unsqueeze", ["to", "ones"], ["column"]),
        node("ScatterND", ["zeros", "column", "rows"], ["sums"], reduction="add"),
        node("Mul", ["x", "weight"], ["own"]),
        node("Add", ["own", "sums"], ["y"]),
    ]
    scalars = {"zero": np.array(0), "one": np.array(1), "weight": np.array(1.1, np.float32)}
    return _model(nodes, {**scalars, "ones": np.array([1])}, {"x": ("N", 20), "edges": (2, "E")}, ("y",))


def messages() -> Any:
    """A layer of a graph network: rows of nodes at the ends of edges are added at the other ends, and counted."""
    nodes = [
        *_along_edges(),
        node("Shape", ["rows"], ["shape"]),
        node("Unsqueeze", ["to", "ones"], ["column"]),
        node("Expand", ["column", "shape"], ["places"]),
        node("Mul", ["x", "nothing"], ["zeros"]),
        node("ScatterElements", ["zeros", "places", "rows"], ["sums"], axis=0, reduction="add"),
        node("ScatterND", ["zeros", "column", "rows"], ["largest"], reduction="max"),
        node("GatherND", ["sums", "column"], ["again"]),
        node("Add", ["sums", "largest"], ["y"]),
    ]
    scalars = {"zero": np.array(0), "one": np.array(1), "nothing": np.array(0, np.float32)}
    weights = {**scalars, "ones": np.array([1])}
    return _model(nodes, weights, {"x": ("N", 20), "edges": (2, "E")}, ("y", "again"))


def test_integers(tmp_path: Path) -> None:
    model = masked_tokens()
    sizes = [(2, 5), (4, 3), (3, 200), (2, 9)]
    assert compare(model, {"x": ("N", "T")}, sizes, tmp_path) == ""


def test_a_graph_network(tmp_path: Path) -> None:
    model = messages()
    assert compare(model, {"x": ("N", 20), "edges": (2, "E")}, [(5, 9), (3, 2), (40, 200), (9, 9)], tmp_path) == ""


def test_messages_that_are_gathered_as_they_are_added(tmp_path: Path) -> None:
    """The plan for any sizes is that for one: equal bits."""
    model, shapes, rng = added_messages(), {"x": ("N", 20), "edges": (2, "E")}, np.random.default_rng(3)
    assert compare(model, shapes, [(5, 9), (3, 2), (40, 200), (9, 9)], tmp_path) == ""
    given = {"x": rng.standard_normal((50, 20), np.float32), "edges": rng.integers(0, 50, (2, 400)).astype(np.float32)}
    fixed = model.prepare({name: array.shape for name, array in given.items()})
    assert [step.node.operator for step in fixed.steps][-2:] == ["Binary", "ScatterNd"]
    np.testing.assert_array_equal(fixed(given)["y"], model.prepare(shapes)(given)["y"])


def test_sizes_that_a_program_does_not_serve(tmp_path: Path) -> None:
    """A sentence with the condition; the program goes on with those that it serves."""
    nodes = [node("Add", ["x", "b"], ["y"])]
    model = _model(nodes, {}, {"x": ("N", 4), "b": ("M", 4)})
    said = compare(model, {"x": ("N", 4), "b": ("M", 4)}, [(6, 6), (6, 1), (9, 9), (1, 1), (3, 3)], tmp_path)
    lines = said.splitlines()
    assert len(lines) in (1, 2)
    assert all(line.startswith("the program does not serve these sizes: ") for line in lines)
    with pytest.raises(ValueError, match=r"^'K' is not an open dimension, expected 'N', 'M'$"):
        model.compile(tmp_path / "other", {"x": ("N", 4), "b": ("M", 4)}, sizes={"K": 3})
    with pytest.raises(ValueError, match=r"^sizes is given, but no dimension is open"):
        model.compile(tmp_path / "other", {"x": (2, 4), "b": (2, 4)}, sizes={"N": 3})
    assert not (tmp_path / "other").exists()


def test_several_plans(tmp_path: Path) -> None:
    """For sizes on both sides of conditions, in any order; those that no plan serves get a condition of the last one."""
    model = _model([node("Add", ["x", "b"], ["y"])], {}, {"x": ("N", 4), "b": ("M", 4)})
    dims = {"x": ("N", 4), "b": ("M", 4)}
    sizes = [(6, 6), (6, 1), (9, 9), (1, 1), (1, 7), (6, 1), (3, 3)]
    said = compare(model, dims, sizes, tmp_path, [{"N": (5, 1), "M": 5}, {"N": 5, "M": (5, 1)}])
    text = (tmp_path / "net.c").read_text()
    assert text.count("static const char * unmet_") == 3  # 5 and 5 are planned once
    (last,) = re.findall(r"unmet_2\(.*?\n}", text, re.S)
    assert said.startswith("the program does not serve these sizes: ") and said.count("\n") == 1
    assert said.strip().split(": ")[1].replace("!", "\\041") in last
    for wrong, sentence in (([], "sizes is "), ({"N": ()}, "sizes is "), ([{"K": 3}], "'K' is not an open dimension")):
        with pytest.raises(ValueError, match=sentence):
            model.compile(tmp_path / "other", dims, sizes=wrong)


def test_plans_share_weights(tmp_path: Path) -> None:
    """A context has the same number in all plans, and gets the weights that another plan has packed."""
    widths = [(64,), (1,), (37,), (2,), (4,), (1,), (320,)]
    said = compare(lines_of_text(), {"x": (1, 3, 16, "W")}, widths, tmp_path, {"W": (64, 1, 2, 3)})
    text = (tmp_path / "net.c").read_text()
    plans = re.findall(r"\bunmet_(\d+)\(", text)
    assert said == "" and len(plans) > 2 and "#define CONTEXTS 4\n" in text
    for i in plans:
        (created,) = re.findall(rf"static int create_contexts_{i}\(.*?\n}}", text, re.S)
        assert sorted(re.findall(r"PARAMS\((\d+), (\w+)SetParams, (DATA\(float, \d+\))", created)) == [
            ("0", "SimdSynetConvolution32f", "DATA(float, 0)"),
            ("1", "SimdSynetDeconvolution32f", "DATA(float, 1728)"),
            ("2", "SimdnetRecurrent", "DATA(float, 3776)"),
            ("3", "SimdSynetInnerProduct32f", "DATA(float, 6848)"),
        ]


def test_products_of_bytes(tmp_path: Path) -> None:
    """A MatMul that is quantised at run time, with any number of rows: one packed matrix, and one call for what follows."""
    nodes = [
        node("DynamicQuantizeLinear", ["x"], ["q", "sx", "zx"]),
        node("MatMulInteger", ["q", "w", "zx"], ["sums"]),
        node("Cast", ["sums"], ["floats"], to=1),
        node("Mul", ["sx", "sw"], ["both"]),
        node("Mul", ["floats", "both"], ["product"]),
        node("Add", ["product", "bias"], ["y"]),
    ]
    rng = np.random.default_rng(3)
    weights = {"w": rng.integers(-128, 128, (40, 70)).astype(np.int8), "bias": _random(70)}
    weights["sw"] = rng.uniform(0.01, 0.02, 70).astype(np.float32)
    model = _model(nodes, weights, {"x": ("N", 40)})
    assert compare(model, {"x": ("N", 40)}, [(2,), (9,), (3,), (200,), (2,)], tmp_path) == ""
    text = (tmp_path / "net.c").read_text()
    assert "SimdnetQuantizedGemmForward" in text and "SimdSynetInnerProduct8i" not in text


def test_pooling_of_bytes(tmp_path: Path) -> None:
    """Of any height."""
    window = {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 0, 1, 1], "domain": "com.microsoft"}
    nodes = [
        node("QuantizeLinear", ["x", "s", "z"], ["q"]),
        node("QLinearAveragePool", ["q", "s", "z", "t", "z"], ["p"], **window),
        node("QLinearGlobalAveragePool", ["p", "t", "z", "s", "z"], ["g"], domain="com.microsoft"),
        node("DequantizeLinear", ["g", "s", "z"], ["y"]),
    ]
    weights: dict[str, Array] = {
        "s": np.array(0.01, np.float32),
        "t": np.array(0.02, np.float32),
        "z": np.array(101, np.uint8),
    }
    model = _model(nodes, weights, {"x": (2, 70, "H", 9)})
    assert compare(model, {"x": (2, 70, "H", 9)}, [(16,), (9,), (33,)], tmp_path) == ""
    assert "SimdnetQuantizedPooling" in (tmp_path / "net.c").read_text()


@pytest.mark.parametrize("function", ["", "QLinearSigmoid", "Max"])
def test_sums_of_bytes(tmp_path: Path, function: str) -> None:
    """Of any height: a residual block, whose last convolution adds its input, in a program without a step for it."""
    rng = np.random.default_rng(3)
    scales: dict[str, Array] = {
        "s": np.array(0.05, np.float32),
        "sw": np.array(0.002, np.float32),
        "z": np.array(101, np.uint8),
    }
    weights: dict[str, Array] = {f"w{i}": rng.integers(-128, 128, (9, 9, 3, 3)).astype(np.int8) for i in (0, 1)}
    linear, pads = ["s", "z"], {"pads": [1, 1, 1, 1]}
    nodes = [node("QuantizeLinear", ["x", *linear], ["q"])]
    for i, (x, y) in enumerate((("q", "a"), ("a", "b"))):
        nodes.append(node("QLinearConv", [x, *linear, f"w{i}", "sw", "zw", *linear], [y], **pads))
    nodes.append(node("QLinearAdd", ["q", *linear, "b", *linear, *linear], ["c"], domain="com.microsoft"))
    if function == "QLinearSigmoid":
        nodes.append(node(function, ["c", *linear, *linear], ["d"], domain="com.microsoft"))
    elif function:
        nodes.append(node(function, ["z", "c"], ["d"]))
    nodes.append(node("DequantizeLinear", ["d" if function else "c", *linear], ["y"]))
    model = _model(nodes, {**weights, **scales, "zw": np.array(0, np.int8)}, {"x": (2, 9, "H", 7)})
    assert compare(model, {"x": (2, 9, "H", 7)}, [(16,), (9,), (33,)], tmp_path) == ""
    text = (tmp_path / "net.c").read_text()
    assert "SimdnetQuantizedSetParams" in text
    assert not any(f"Simdnet{other}" in text for other in ("QuantizedBinary", "Table8", "Elementwise"))


# ---- arrays that depend on sizes


def steps_of(kind: str, run: Any, counts: Sequence[int]) -> Iterator[tuple[dict[str, Array], dict[str, Array]]]:
    """The inputs and outputs of the steps of a decoder, with these numbers of tokens."""
    decoding = Decoding(kind)
    for count in counts:
        inputs = decoding.inputs(count)
        outputs = run(inputs)
        yield inputs, outputs
        decoding.take(outputs)


@pytest.mark.parametrize("kind", ["gpt2", "whisper"])
def test_decoders(kind: str, tmp_path: Path) -> None:
    """Positions and masks follow from the length of the past, which grows by one each time."""
    model = pysimd.load(getattr(decoder_models, kind)())
    dims: dict[str, Any] = {"tokens": (1, "S"), "mask": (1, "T")}
    dims |= dict.fromkeys((f"past.{name}" for name in CACHE), (1, HEADS, "P", DEPTH))
    dims |= dict.fromkeys((f"sound.{name}" for name in CACHE), (1, HEADS, SOUND, DEPTH))
    dims = {name: dims[name] for name in model.inputs}
    counts = [5, *[1] * 20]
    sizes = [{"S": n, "P": sum(counts[:i]), "T": sum(counts[: i + 1])} for i, n in enumerate(counts)]
    names = [name for name in ("S", "T", "P") if any(name in each for each in dims.values())]
    examples = [{name: each[name] for name in names} for each in sizes[:2]]
    given = steps_of(kind, model.prepare(), counts)
    said = compare(model, dims, [tuple(each[name] for name in names) for each in sizes], tmp_path, examples, given)
    assert said == ""


@pytest.mark.skipif(shutil.which("c++") is None, reason="there is no C++ compiler")
@pytest.mark.parametrize("what", ["integers, logic and backward slices", "a grid", "Attention", "Gather of any rows"])
def test_programs_are_also_cpp(what: str, tmp_path: Path) -> None:
    model_of(KEPT[what]).compile(tmp_path, {"x": ("n", 4)}, name="net", sizes={"n": (6, 4)})
    assert "values_make(" in (tmp_path / "net.c").read_text()
    flags = f"-x c++ -std=c++11 -Wall -Wextra -Werror -pedantic -fsyntax-only -I{ROOT / 'include'} net.c"
    subprocess.run(["c++", *flags.split()], cwd=tmp_path, check=True)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("what", KEPT)
def test_what_depends_on_sizes(what: str, tmp_path: Path) -> None:
    """Each is computed, with the bits of NumPy, by steps of the library, or refused with the name of its function."""
    sizes, tolerance = [(n,) for n in (6, 9, 13, 30, 6)], 2e-7 if what in _STEPS else 0
    try:
        said = compare(model_of(KEPT[what]), {"x": ("n", 4)}, sizes, tmp_path, {"n": 6}, tolerance=tolerance)
    except ValueError as error:
        by = "an array that depends on open sizes is computed by|it is computed by Python, by"
        (name,) = re.findall(rf"cannot be written as C: (?:{by}) (\w+)", str(error))
        assert _REFUSED.get(what) == name
    else:
        assert said == "" and what not in _REFUSED


def test_conditions_on_arrays(tmp_path: Path) -> None:
    """Sizes that do not meet one get it as an error; its arrays are released, and other sizes served by other plans."""
    model, sizes = model_of(KEPT["If"]), [(6,), (120,), (9,), (100,), (7,)]
    for i, (example, errors) in enumerate((({"n": 6}, 2), ({"n": (6, 130)}, 0))):
        folder = tmp_path / str(i)
        said = compare(model, {"x": ("n", 4)}, sizes, folder, example)
        assert len(re.findall(r"does not serve these sizes: .*array\d+\[0\]", said)) == errors


_REFUSED = {"means of windows with gaps": "_shares"}
_STEPS = ("Range, as positions", "Range of floats")  # Cos and Sin


_OF_ONE = """
    Sin Cos Tan Atan Exp Log Tanh Sigmoid Erf Reciprocal Round Sign Relu Softplus
    ReduceMean ReduceMax ReduceProd ReduceSum Softmax
"""
#: Nodes that compute e from r, positions and a half, which no rule of programs in C does: :func:`_of_positions`.
_BY_STEPS = {
    **{op: f"e = {op} (r)" for op in _OF_ONE.split()},
    "Pow": "e = Pow (r, half)",
    "Pow of a number": "e = Pow (half, r)",
    "Clip": "e = Clip (r, half, three)",
    "CumSum": "e = CumSum (r, zero)",
    "CumSum of integers": "sums = CumSum (places, zero)  e = Cast <to = 1> (sums)",
    "Einsum": 'e = Einsum <equation = "i,j->ij"> (r, weights)',
    "MatMul": "column = Reshape (r, turned)  row = Reshape (weights, lying)  e = MatMul (column, row)",
    "ArgMax": "best = ArgMax (r)  e = Cast <to = 1> (best)",
    "Pad": "beside = Constant <value_ints = [1, 2]> ()  e = Pad (r, beside)",
    "Tile": "twice = Constant <value_ints = [2]> ()  e = Tile (r, twice)",
    "Split": "both = Concat <axis = 0> (r, r)  e, rest = Split <axis = 0> (both)",
    "TopK": "two = Constant <value_ints = [2]> ()  e, where = TopK (r, two)",
    "OneHot": "values = Constant <value_floats = [0.0, 1.0]> ()  e = OneHot (places, n, values)",
    # numbers by way of floats, as exporters write quotients of sizes
    "Tile by a number": "size = Cast <to = 1> (count)  often = Cast <to = 7> (size)  e = Tile (r, often)",
    "Pad by numbers": """size = Cast <to = 1> (count)  sizes = Concat <axis = 0> (size, size)
        ends = Cast <to = 7> (sizes)  e = Pad (r, ends)""",
    "Split by numbers": """size = Cast <to = 1> (count)  sizes = Concat <axis = 0> (size, size)
        parts = Cast <to = 7> (sizes)  both = Concat <axis = 0> (r, r)  e, rest = Split <axis = 0> (both, parts)""",
}


def _of_positions(text: str) -> Any:
    return model_of(
        f"""
        count = Shape <start = 0, end = 1> (x)  n = Squeeze (count)  zero = Constant <value_int = 0> ()
        one = Constant <value_int = 1> ()  half = Constant <value_float = 0.5> ()  three = Constant <value_float = 3.0> ()
        weights = Constant <value_floats = [0.5, 1.5, 2.5]> ()  turned = Constant <value_ints = [-1, 1]> ()
        lying = Constant <value_ints = [1, -1]> ()  places = Range (zero, n, one)  floats = Cast <to = 1> (places)
        r = Add (floats, half)
        {text}
        flat = Constant <value_ints = [-1]> ()  all = Reshape (e, flat)  first = ReduceMean (x)  y = Add (all, first)"""
    )


@pytest.mark.sampled(4)
@pytest.mark.parametrize("what", _BY_STEPS)
def test_steps_for_what_sizes_decide(what: str, tmp_path: Path) -> None:
    """An operator without a rule is a step of the program, whose last bits may differ from NumPy's."""
    model = _of_positions(_BY_STEPS[what])
    assert compare(model, {"x": ("n", 4)}, [(6,), (9,), (30,), (6,)], tmp_path, {"n": 6}, tolerance=4e-7) == ""


@pytest.mark.parametrize("seed", range(8))
def test_random_models(seed: int, tmp_path: Path) -> None:
    """Every dimension is open by itself; a step of Python cannot be written."""
    proto = random_model(seed)
    shapes = pysimd.load(proto).shapes()
    dims = {name: tuple(f"{name}_{i}" for i in range(len(shape))) for name, shape in shapes.items()}
    example = {n: size for name in shapes for n, size in zip(dims[name], shapes[name])}
    try:
        compare(any_sizes(proto), dims, [tuple(example.values())] * 2, tmp_path, example)
    except ValueError as error:
        assert "cannot be written as C" in str(error)
