"""Which nodes and preparations of a model share packed weights, who owns them, and what of the file stays in memory."""

from __future__ import annotations

import gc
import os
import pickle
import subprocess
import sys
import tracemalloc
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pysimd
from pysimd.network import origins
from pysimd.network.contexts import Contexts
from support import ROOT, Array

onnx = pytest.importorskip("onnx", reason="onnx, which makes the files, is not installed")
helper, numpy_helper = onnx.helper, onnx.numpy_helper
node = helper.make_node


def _random(*shape: int, seed: int = 1) -> Array:
    return np.random.default_rng(seed).uniform(-0.5, 0.5, shape).astype(np.float32)


def _model(nodes: list[Any], weights: dict[str, Array], inputs: dict[str, Any], outputs: str = "y") -> Any:
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info(name, 1, shape) for name, shape in inputs.items()],
        [helper.make_tensor_value_info(name, 1, None) for name in outputs],
        [numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


# ---- what is shared

_NORM = {name: np.linspace(0.5, 1, 64, dtype=np.float32) for name in "sbmv"}
#: Nodes, weights, inputs whose first dimension or last one is N.
LAYERS: dict[str, tuple[list[Any], dict[str, Array], dict[str, Any]]] = {
    "product": ([node("MatMul", ["x", "w"], ["y"])], {"w": _random(64, 64)}, {"x": ("N", 64)}),
    "scaled": ([node("Gemm", ["x", "w"], ["y"], alpha=0.3)], {"w": _random(64, 64)}, {"x": ("N", 64)}),
    "transposed": ([node("Gemm", ["x", "w"], ["y"], transB=1)], {"w": _random(64, 64)}, {"x": ("N", 64)}),
    "added": (
        [node("MatMul", ["x", "w"], ["m"]), node("Add", ["m", "a"], ["y"])],
        {"w": _random(64, 64)},
        {"x": ("N", 64), "a": ("N", 64)},
    ),
    "of 16 bits": ([node("MatMul", ["x", "w"], ["y"])], {"w": _random(64, 64).astype(np.float16)}, {"x": ("N", 64)}),
    "normalized image with an addend": (
        [
            node("Conv", ["x", "w"], ["c"]),
            node("BatchNormalization", ["c", *"sbmv"], ["d"]),
            node("Add", ["d", "a"], ["y"]),
        ],
        {"w": _random(64, 64, 1, 1), **_NORM},
        {"x": (1, 64, 5, "N"), "a": (1, 64, 5, "N")},
    ),
    "recurrent": (
        [node("LSTM", ["x", "w", "r", "", "", "h", "c"], ["y"], hidden_size=16)],
        {"w": _random(1, 64, 24), "r": _random(1, 64, 16)},
        {"x": ("N", 2, 24), "h": (1, 2, 16), "c": (1, 2, 16)},
    ),
}  # fmt: skip


def _feed(inputs: dict[str, Any], n: int) -> dict[str, Array]:
    return {name: _random(*(n if size == "N" else size for size in shape), seed=n) for name, shape in inputs.items()}


@pytest.mark.parametrize("mapped", [False, True])
@pytest.mark.parametrize("name", LAYERS)
def test_preparations_share_weights(name: str, mapped: bool, tmp_path: Path) -> None:
    """Also those that a pass has computed, whatever else the layers read."""
    nodes, weights, inputs = LAYERS[name]
    proto = _model(nodes, weights, inputs)
    onnx.save(proto, tmp_path / "net.onnx")
    model, feeds = pysimd.load(tmp_path / "net.onnx" if mapped else proto), [_feed(inputs, n) for n in (3, 4)]
    runners = [model.prepare({key: x.shape for key, x in feed.items()}) for feed in feeds]
    alone = pysimd.load(proto).prepare({key: x.shape for key, x in feeds[1].items()})
    packed = 4 * sum(weights[key].size for key in ("w", "r") if key in weights)
    assert runners[1].weight_bytes <= alone.weight_bytes - packed
    np.testing.assert_array_equal(runners[1](feeds[1])["y"], alone(feeds[1])["y"])


def test_the_bound_of_an_activation_may_follow_from_the_shape() -> None:
    """Parameters of activations are packed with the weights: other ones are other weights."""
    nodes = [
        node("Shape", ["x"], ["s"]),
        node("Gather", ["s", "i"], ["l"]),
        node("Cast", ["l"], ["f"], to=1),
        node("Conv", ["x", "w"], ["c"]),
        node("Clip", ["c", "zero", "f"], ["y"]),
    ]
    weights = {"w": np.eye(4, dtype=np.float32).reshape(4, 4, 1, 1), "i": np.array(3), "zero": np.zeros((), np.float32)}
    model = pysimd.load(_model(nodes, weights, {"x": (1, 4, 2, "W")}))
    runners = []  # which live as long as the others
    for width in (4, 8):
        x = np.full((1, 4, 2, width), 100, np.float32)
        runners.append(model.prepare({"x": x.shape}))
        assert runners[-1]({"x": x})["y"].max() == width


@pytest.mark.parametrize("computed", [False, True])
@pytest.mark.parametrize("name", ["", "same"])
def test_names_and_sums_are_no_identity(name: str, computed: bool) -> None:
    """Nodes of one name whose weights are permuted; the sums over any 8 bytes of rows of 488 are equal."""
    first, x = _random(4, 122), _random(1, 4, seed=2)
    second = first[[1, 0, 3, 2]]
    products = [node("MatMul", ["x", w], [y], name) for w, y in (("v", "s"), ("w", "t"))]
    ends = [node("Mul", [made, "two"], [y], f"{name}.") for made, y in (("s", "y"), ("t", "z"))]
    if not computed:
        ends = [node("Relu", [made], [y], f"{name}.") for made, y in (("s", "y"), ("t", "z"))]
    weights = {"v": first, "w": second, "two": np.full(1, 2, np.float32)}
    found = pysimd.load(_model([*products, *ends], weights, {"x": (1, 4)}, "yz")).prepare()({"x": x})
    for weight, y in ((first, "y"), (second, "z")):
        expected = x @ weight * 2 if computed else np.maximum(x @ weight, 0)
        np.testing.assert_allclose(found[y], expected, rtol=1e-5, atol=1e-6)


def test_what_is_identical() -> None:
    array = _random(8, 6)
    equal = [(array,), (array.copy(),), [array + 0.0]]
    assert len({Contexts()._identity(value) for value in equal}) == 1
    other = [array.T, array.reshape(6, 8), array[::-1], array.view(np.int32), array[:0], (0.0,), (-0.0,), (np.nan,), None]
    assert len({Contexts()._identity(value) for value in (array, *other)}) == 1 + len(other)
    place = np.frombuffer(bytes(64), np.float32)
    assert Contexts()._identity(place[:8]) == Contexts()._identity(place[:8]) != Contexts()._identity(place[8:])
    changed = bytearray(64)
    before = Contexts()._identity(np.frombuffer(changed, np.float32))
    changed[3] = 1
    assert Contexts()._identity(np.frombuffer(changed, np.float32)) != before


# ---- who owns it


def test_runners_own_their_contexts() -> None:
    """When all that use them are gone, so are the packed weights; those that remain share them with new ones."""
    nodes, weights, inputs = LAYERS["product"]
    model, feed = pysimd.load(_model(nodes, weights, inputs)), _feed(inputs, 4)
    gc.disable()
    try:
        first, second = (model.prepare({"x": (n, 64)}) for n in (3, 4))
        copied, expected = first.copy(), second(feed)["y"]
        contexts = [weakref.ref(step.context) for runner in (first, second) for step in runner.steps]
        del first
        third = model.prepare({"x": (4, 64)})
        assert third.weight_bytes < 64 * 64 and len(model._contexts._made) == 1
        del second, copied
        np.testing.assert_array_equal(third(feed)["y"], expected)
        np.testing.assert_array_equal(third.copy()(feed)["y"], expected)
        again = pickle.loads(pickle.dumps(model)).prepare({"x": (4, 64)})
        np.testing.assert_array_equal(again(feed)["y"], expected)
        del third
        assert [each() for each in contexts] == [None, None] and not model._contexts._made
    finally:
        gc.enable()


@pytest.mark.parametrize("image", [False, True])
def test_runners_keep_packed_weights_alone(image: bool) -> None:
    """What a pass has computed is packed, or shared, and forgotten; copies need it as little."""
    size, pixel = 512, (1, 1) if image else ()
    nodes = [node("Conv" if image else "Gemm", ["x", "w"], ["m"]), node("Mul", ["m", "s"], ["y"])]
    weights = {"w": _random(size, size, *pixel), "s": np.full((size, *pixel), 2, np.float32)}
    model = pysimd.load(_model(nodes, weights, {"x": (1, size, *pixel)}))
    runners = [model.prepare()]
    tracemalloc.start()
    try:
        runners += [model.prepare() for _ in range(3)]
        runners += [runner.copy() for runner in runners]
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] < size * size * 4
    finally:
        tracemalloc.stop()
    x = _random(1, size, *pixel)
    expected = np.einsum("nc...,oc->no..." if image else "nc,co->no", x, 2 * weights["w"].reshape(size, size))
    for runner in runners:
        np.testing.assert_allclose(runner({"x": x})["y"], expected, rtol=1e-4, atol=1e-4)


def _file(folder: Path, nodes: list[Any], weights: dict[str, Array], size: int) -> Path:
    onnx.save(_model(nodes, weights, {"x": (1, size)}), folder / "net.onnx")
    return folder / "net.onnx"


def test_weights_are_released_as_they_are_packed(tmp_path: Path) -> None:
    """What a pass has computed and what is packed are together hardly more than the weights, at any time."""
    size, count = 512, 8
    nodes: list[Any] = []
    weights: dict[str, Array] = {}
    for i in range(count):
        weights |= {f"w{i}": _random(size, size, seed=i), f"s{i}": _random(size, seed=i)}
        nodes += [node("MatMul", [f"x{i}" if i else "x", f"w{i}"], [f"m{i}"]), node("Mul", [f"m{i}", f"s{i}"], [f"n{i}"])]
        nodes.append(node("Tanh", [f"n{i}"], [f"x{i + 1}" if i + 1 < count else "y"]))
    model, total, found = pysimd.load(_file(tmp_path, nodes, weights, size)), count * size * size * 4, []
    tracemalloc.start()
    try:
        runner = model.prepare(progress=lambda part: found.append(tracemalloc.get_traced_memory()[0] + part * total))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(found) >= count and runner.weight_bytes >= total
    assert max(found) <= 1.3 * total and peak <= 1.3 * total


def test_layers_with_their_own_biases_share_weights(tmp_path: Path) -> None:
    """To add a bias copies no weights: they are packed once, for all layers, from the pages of the file."""
    size, count = 512, 8
    nodes: list[Any] = []
    weights = {"w": _random(size, size) * np.float32(0.03)}  # sums of about 1: rounding errors do not grow
    for i in range(count):
        weights[f"b{i}"] = _random(size, seed=i)
        nodes += [node("MatMul", [f"x{i}" if i else "x", "w"], [f"m{i}"]), node("Add", [f"m{i}", f"b{i}"], [f"n{i}"])]
        nodes.append(node("Tanh", [f"n{i}"], [f"x{i + 1}" if i + 1 < count else "y"]))
    model, x = pysimd.load(_file(tmp_path, nodes, weights, size)), _random(1, size, seed=99)
    tracemalloc.start()
    try:
        runner = model.prepare()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < size * size * 4
    expected = x
    for i in range(count):
        expected = np.tanh(expected @ weights["w"] + weights[f"b{i}"])
    np.testing.assert_allclose(runner({"x": x})["y"], expected, rtol=1e-3, atol=1e-4)


# ---- programs in C


def test_a_program_shares_the_weights_of_equal_nodes(tmp_path: Path) -> None:
    """It has the bits of the runner, and no context without weights; so if an instruction set packs them in two ways."""
    nodes = [
        node("Conv", ["x", "w"], ["a"], "conv", pads=[1] * 4),
        node("Tanh", ["a"], ["t"]),
        node("Conv", ["t", "w"], ["y"], "conv", pads=[1] * 4),
    ]
    model, x = pysimd.load(_model(nodes, {"w": _random(8, 8, 3, 3)}, {"x": (1, 8, 5, 5)})), _random(1, 8, 5, 5)
    runner = model.prepare()
    model.compile(tmp_path, name="net")
    text = (tmp_path / "net.c").read_text()
    assert text.count("Convolution32fInit(") == 2 and text.count(" SHARE(1, 0, ") == text.count(" PARAMS(0, ") == 1
    assert 0 < runner.weight_bytes < 2 * 8 * 8 * 9 * 4
    x.tofile(tmp_path / "x.raw")
    expected = runner({"x": x})["y"]
    for source in (
        text,
        text.replace("!SimdnetShareParams(m->contexts[number], m->contexts[from])", "SimdnetLastErrorKind() == 0"),
    ):
        (tmp_path / "net.c").write_text(source)
        np.testing.assert_array_equal(_output(tmp_path, expected), expected)


def _output(folder: Path, like: Array) -> Array:
    build = Path(pysimd._library.LIBRARY_PATH).parent
    variables = [f"CPPFLAGS=-I{ROOT / 'include'} -Wall -Wextra -Werror", f"LDFLAGS=-L{build} -Wl,-rpath,{build}"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    subprocess.run(["make", "-s", "-B", "-C", folder, *variables], check=True, env=environment)
    subprocess.run([folder / "net_example", "net.bin", "x.raw"], cwd=folder, capture_output=True, check=True)
    return np.fromfile(folder / "0.out", np.float32).reshape(like.shape)


# ---- pages of the file


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="memory of files is read from /proc")
@pytest.mark.parametrize("transposed", [0, 1])
def test_no_preparation_keeps_pages_of_the_file(transposed: int, tmp_path: Path) -> None:
    weights = {name: _random(512, 512, seed=i) for i, name in enumerate("uvw")}
    nodes = [node("Gemm", [x, w], [y], transB=transposed) for x, w, y in ("xua", "avb", "bwy")]
    onnx.save(_model(nodes, weights, {"x": ("N", 512)}), tmp_path / "net.onnx")
    program = """if True:
        import pathlib, sys
        import pysimd

        def kilobytes():
            parts = pathlib.Path("/proc/self/smaps").read_text().split("net.onnx")
            return sum(int(part.split("Rss:")[1].split()[0]) for part in parts[1:])

        model, runners = pysimd.load(sys.argv[1]), []
        for n in (1, 2):
            runners.append(model.prepare({"x": (n, 512)}))
            print(kilobytes(), runners[-1].weight_bytes)
        model.unsupported({"x": (3, 512)})
        print(kilobytes())"""
    done = subprocess.run([sys.executable, "-c", program, tmp_path / "net.onnx"], capture_output=True, text=True, check=True)
    first, _, second, own, third = map(int, done.stdout.split())
    assert max(first, second, third) < 100 and own < 512 * 512


def test_weights_that_are_multiplied_are_known_by_what_they_are_made_of() -> None:
    weight, factors = np.frombuffer(bytes(range(240)) * 100, np.float32), np.arange(4.0)

    def made(weight: Any, factors: Any, function: str = "scaled") -> Any:
        kept.append(origins.with_origin(np.zeros((4, 1500), np.float32), function, weight, factors))
        return origins.origin_of(kept[-1].T[2:])

    kept: list[Any] = []
    first = made(weight, factors)
    assert first == made(weight, factors.copy()) and first is not None
    others = made(weight[1:], factors), made(weight, factors + 1), made(weight, factors, "other")
    assert first not in others and origins.origin_of(np.zeros(3)) is None
    assert first != origins.origin_of(kept[0].T[1:-1])  # the place in the array counts
    count = len(origins._COMPUTED)
    kept.clear()
    assert len(origins._COMPUTED) == count - 5
