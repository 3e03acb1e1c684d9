"""Inputs and outputs in arrays of the caller: nothing is copied where that is safe, and results have the same bits."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import pysimd
from pysimd.annotations import Array
from pysimd.network import Runner, in_place
from pysimd.network.model import Model
from pysimd.network.source import Source, SourceNode, Value

onnx = pytest.importorskip("onnx", reason="ONNX files need the package onnx")
pytest.importorskip("onnx.reference")

from onnx import helper  # noqa: E402

from network import decoder_models  # noqa: E402
from network.random_models import random_model  # noqa: E402
from network.test_random import random_inputs  # noqa: E402

SHAPE = (128, 2048)  # 1 MiB, which is worth to be used in place
RELU, ADD = ("Relu", ["x"], ["y"]), ("Add", ["a", "b"], ["y"])


def _model(*nodes: tuple[str, list[str], list[str]], **known: Any) -> Any:
    """Of nodes, whose inputs that no node computes are those of the model, and whose last node gives y."""
    made = [helper.make_node(op, given, names) for op, given, names in nodes]
    computed = {name for _, _, names in nodes for name in names}
    inputs = dict.fromkeys(name for _, given, _ in nodes for name in given if name not in computed)
    values = [[helper.make_tensor_value_info(name, 1, ("N", SHAPE[1])) for name in each] for each in (inputs, computed)]
    graph = helper.make_graph(made, "net", *values)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)
    return pysimd.load(model, **known)


def _runner(*nodes: tuple[str, list[str], list[str]]) -> Runner:
    model = _model(*nodes)
    prepared = model.prepare(dict.fromkeys(model.inputs, SHAPE))
    assert isinstance(prepared, Runner)
    return prepared


def _array(seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(SHAPE).astype(np.float32)


def _relu(x: Array) -> Array:
    return np.maximum(x, 0)


def _at_odd_address(shape: tuple[int, ...]) -> Array:
    size = int(np.prod(shape)) * 4
    return np.zeros(size + 1, np.uint8)[1:].view(np.float32).reshape(shape)


# ---- calls


def test_large_arrays_are_read_and_written_in_place() -> None:
    """The memory of the runner keeps what it had."""
    run, x = _runner(RELU), _array()
    x.flags.writeable = False
    for seed in (1, 1, 2):
        x = _array(seed)
        y = run({"x": x})["y"]
        np.testing.assert_array_equal(y, _relu(x))
        assert y.flags.owndata and not run.inputs["x"].any() and not run.outputs["y"].any()
    run.inputs["x"][...] = _array(3)
    assert run()["y"] is run.outputs["y"]
    np.testing.assert_array_equal(run.outputs["y"], _relu(_array(3)))


@pytest.mark.parametrize("form", ["strided", "reversed", "float16", "subclass", "odd address"])
def test_inputs_of_any_form(form: str) -> None:
    run, x = _runner(RELU), _array()
    odd = _at_odd_address(SHAPE)
    odd[...] = x
    forms: dict[str, Any] = {
        "strided": np.repeat(x, 2, axis=1)[:, ::2],
        "reversed": x[::-1, ::-1].copy()[::-1, ::-1],
        "float16": x.astype(np.float16),
        "subclass": x.view(type("Own", (np.ndarray,), {})),
        "odd address": odd,
    }
    given = forms.get(form, x)
    np.testing.assert_array_equal(run({"x": given})["y"], _relu(np.asarray(given, np.float32)))


def test_an_input_that_is_memory_of_the_runner() -> None:
    """It is copied first, as steps write there."""
    run, x = _runner(("Neg", ["x"], ["t"]), ("Exp", ["t"], ["u"]), ("Neg", ["u"], ["y"])), _array()
    expected = run({"x": run({"x": x})["y"]})["y"]
    again = run({"x": x}, return_views=True)["y"]
    assert again is run.outputs["y"]
    np.testing.assert_array_equal(run({"x": again})["y"], expected)


def test_views_of_results() -> None:
    for shape in (SHAPE, (1, SHAPE[1])):
        run = _model(RELU).prepare({"x": shape})
        x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
        found = run({"x": x}, return_views=True)
        assert found["y"] is run.outputs["y"] and found is not run.outputs
        np.testing.assert_array_equal(found["y"], _relu(x))


def test_arrays_for_outputs() -> None:
    """Of one call, of large arrays and small ones, of runners and of models; also those that share memory with an input."""
    for rows in (SHAPE[0], 1):
        model = _model(RELU)
        x, y = _array()[:rows], np.empty((rows, SHAPE[1]), np.float32)
        for run in (model, model.prepare(), model.prepare({"x": x.shape})):
            y[...] = 7
            assert run({"x": x}, outputs={"y": y})["y"] is y
            np.testing.assert_array_equal(y, _relu(x))
            assert run({"x": x})["y"] is not y
        both = x.copy()
        assert run({"x": both}, outputs={"y": both})["y"] is both
        np.testing.assert_array_equal(both, _relu(x))
        run.inputs["x"][...] = -x
        np.testing.assert_array_equal(run(outputs={"y": y})["y"], _relu(-x))


def test_arrays_are_not_kept() -> None:
    """Neither those of inputs nor the results, but the last two of a runner for one shape, which it returns again."""
    model, x = _model(RELU), _array()
    for run in (model, model.prepare(), model.prepare({"x": SHAPE})):
        given, found = x.copy(), [run({"x": x})["y"] for _ in range(5)]
        run({"x": given})
        alive, results = weakref.ref(given), [weakref.ref(array) for array in found]
        del given, found
        assert alive() is None
        assert sum(each() is not None for each in results) <= (2 if isinstance(run, Runner) else 0)


def test_random_models_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything in place, with the bits of copies."""
    for seed in range(40):
        model = random_model(seed)
        inputs, loaded = random_inputs(model, seed), pysimd.load(model)
        found = []
        for worth in (1 << 40, 1):
            monkeypatch.setattr(in_place, "WORTH", worth)
            run = loaded.prepare()
            found.append(run(inputs))
            if worth == 1:
                odd = {
                    name: _at_odd_address(array.shape) for name, array in run.outputs.items() if array.dtype == np.float32
                }
                found.append(run(inputs, outputs=odd))
        for other in found[1:]:
            for name, array in found[0].items():
                np.testing.assert_array_equal(other[name], array)


@pytest.mark.parametrize("kind", ["gpt2", "whisper"])
def test_decoders_in_place(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache that grows is given from call to call, and neither read nor written elsewhere."""
    from network.test_decoders import Decoding

    steps: list[list[Mapping[str, Array]]] = []
    for worth in (1 << 40, 1):
        monkeypatch.setattr(in_place, "WORTH", worth)
        run, decoding = pysimd.load(getattr(decoder_models, kind)()).prepare(), Decoding(kind)
        steps.append([])
        for step in range(12):
            steps[-1].append(run(decoding.inputs(1 if step else 5)))
            decoding.take(steps[-1][-1])
    for found, expected in zip(*steps):
        for name, array in expected.items():
            np.testing.assert_array_equal(found[name], array)


def test_functions_of_python_get_copies() -> None:
    """They may keep an array that they get."""
    kept = []

    def own(x: Array) -> Array:
        kept.append(x)
        return x + 1

    model = _model(("Relu", ["x"], ["t"]), ("Own", ["t"], ["y"]), fallback={"Own": own})
    run, x, y = model.prepare({"x": SHAPE}), _array(), np.empty(SHAPE, np.float32)
    np.testing.assert_array_equal(run({"x": x})["y"], _relu(x) + 1)
    run.bind(outputs={"y": y})
    run({"x": -x})
    np.testing.assert_array_equal(y, _relu(-x) + 1)
    straight = _model(("Own", ["x"], ["y"]), fallback={"Own": own}).prepare({"x": SHAPE})
    straight({"x": x})
    assert not np.shares_memory(kept[-1], x)
    straight.bind(inputs={"x": x}, outputs={"y": y})
    np.testing.assert_array_equal(straight()["y"], x + 1)
    assert np.shares_memory(kept[-1], x) and not kept[-1].flags.writeable


def test_threads_with_arrays_of_their_own() -> None:
    model = _model(ADD)
    wrong = []

    def work(seed: int) -> None:
        for i in range(20):
            a, b = _array(seed)[: 64 + i % 3], _array(seed + 10)[: 64 + i % 3]
            out = {"y": np.empty_like(a)} if i % 2 else None
            if not np.array_equal(model({"a": a, "b": b}, outputs=out)["y"], a + b):
                wrong.append((seed, i))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_runner_in_several_threads() -> None:
    """Calls with inputs wait for one another, whether arrays are large or small, and whether results are given."""
    for shape in (SHAPE, (1, SHAPE[1])):
        model = _model(("Relu", ["x"], ["a"]), ("Add", ["a", "x"], ["b"]), ("Mul", ["b", "x"], ["y"]))
        run = model.prepare({"x": shape})
        inputs = [np.full(shape, seed + 1, np.float32) for seed in range(4)]

        def wrong(x: Array, run: Any = run) -> int:
            own = np.empty_like(x)
            found = [run(x, outputs={"y": own} if i % 2 else None)["y"] != 2 * x * x for i in range(50)]
            return sum(map(np.count_nonzero, found))

        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(wrong, inputs)) == [0] * 4


# ---- arrays that are bound


def test_bound_arrays() -> None:
    """They are the inputs and outputs from then on; what is not bound is as before."""
    for shape in (SHAPE, (3, SHAPE[1])):
        run = _model(ADD).prepare({"a": shape, "b": shape})
        own = dict(run.inputs), dict(run.outputs)
        a, b, y = _at_odd_address(shape), np.ones(shape, np.float32), _at_odd_address(shape)
        a[...] = _array()[: shape[0]]
        run.bind(inputs={"a": a}, outputs={"y": y})
        assert run.inputs["a"] is a and run.outputs["y"] is y
        run.inputs["b"][...] = b
        assert run()["y"] is y
        np.testing.assert_array_equal(y, a + b)
        assert run({"b": b + 1})["y"] is y
        np.testing.assert_array_equal(y, a + (b + 1))
        assert run({"a": b, "b": b})["y"] is y and (y == 2).all()
        assert run.steps[0].calls and str(run.report())
        run.copy().run()
        run.bind(inputs={"a": None}, outputs={"y": None})
        assert run.inputs["a"] is own[0]["a"] and run.outputs["y"] is own[1]["y"]
        y[...] = 5
        assert run({"a": b, "b": b})["y"] is not y and (y == 5).all()
        own[0]["a"][...] = b
        own[0]["b"][...] = b
        assert (run()["y"] == 2).all()


def test_a_cache_whose_arrays_are_swapped() -> None:
    """Each step reads what the last one has written: neither is copied."""
    run = _runner(("Add", ["past", "x"], ["present"]), ("Relu", ["present"], ["y"]))
    past, present, x = np.zeros(SHAPE, np.float32), np.empty(SHAPE, np.float32), np.ones(SHAPE, np.float32)
    for step in range(1, 6):
        run.bind(inputs={"past": past}, outputs={"present": present})
        found = run({"x": x})
        assert found["present"] is present and (present == step).all() and (found["y"] == step).all()
        past, present = present, past


def test_one_array_for_two_inputs() -> None:
    run, a = _runner(ADD), _array()
    run.bind(inputs={"a": a, "b": a})
    np.testing.assert_array_equal(run()["y"], a + a)


def _read_only() -> Array:
    array = _array()
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    ("inputs", "outputs", "sentence"),
    [
        ({"x": _array()}, {}, "^'x' is not an input, expected 'a', 'b'$"),
        ({}, {"a": _array()}, "^'a' is not an output, expected 'y'$"),
        ({}, {"y": _array().astype(np.float64)}, "^y has dtype float64, expected float32: use y.astype"),
        ({"a": _array().astype(np.float16)}, {}, "^a has dtype float16, expected float32: use a.astype"),
        ({}, {"y": _array()[1:]}, r"^y has shape \(127, 2048\), expected \(128, 2048\)$"),
        ({"a": _array().T.copy().T}, {}, r"^a has strides \(4, 512\), expected a dense array$"),
        ({}, {"y": np.ones((128, 4096), np.float32)[:, ::2]}, r"^y has strides \(16384, 8\), expected a dense array$"),
        ({}, {"y": _read_only()}, "^y is read-only, expected an array that can be written$"),
        ({}, {"y": [1.0]}, "^y is a list, expected a numpy.ndarray"),
    ],
)
def test_arrays_that_do_not_fit(inputs: Mapping[str, Any], outputs: Mapping[str, Any], sentence: str) -> None:
    """Nothing is bound, and nothing written."""
    run, good, y = _runner(ADD), _array(), np.full(SHAPE, 7, np.float32)
    run.bind(inputs={"b": good}, outputs={"y": y})
    with pytest.raises((TypeError, ValueError), match=sentence):
        run.bind({"b": good + 1, **inputs}, outputs)
    with pytest.raises((TypeError, ValueError), match=sentence):
        run({"a": good, **inputs}, outputs=outputs) if outputs else run.bind(inputs)
    assert run.inputs["b"] is good and run.outputs["y"] is y and (y == 7).all()
    assert not run.inputs["a"].any()
    run({"a": good})
    np.testing.assert_array_equal(y, good + good)


def test_arrays_that_overlap_are_refused() -> None:
    run = _runner(("Add", ["a", "b"], ["y"]), ("Neg", ["y"], ["z"]))
    whole = np.zeros((3, *SHAPE), np.float32)
    rows = whole.reshape(-1, SHAPE[1])
    half = rows[64 : 64 + SHAPE[0]]  # of both of the first two
    for inputs, outputs, sentence in (
        ({"a": whole[0]}, {"y": whole[0]}, "overlap"),
        ({"a": whole[0], "b": whole[1]}, {"y": half}, "overlap"),
        ({"a": half}, {"y": whole[1]}, "overlap"),
        ({}, {"y": whole[0], "z": half}, "overlap"),
        ({"a": run.outputs["z"]}, {}, "overlap"),
        ({}, {"y": run.inputs["a"]}, "overlap"),
    ):
        with pytest.raises(ValueError, match=sentence):
            run.bind(inputs, outputs)
    run.bind({"a": whole[0], "b": whole[1]}, {"y": whole[2]})
    sentence = "^(z and a|a and z) overlap, expected arrays that share no memory with an output$"
    with pytest.raises(ValueError, match=sentence):
        run({"b": whole[1]}, outputs={"z": whole[0]})
    with pytest.raises(ValueError, match="overlap"):
        run({}, outputs={"z": whole[2]})
    first = whole[0]
    first[...] = 1
    found = run({"a": first}, outputs={"z": first})  # an input of the call is copied
    assert (first == -1).all() and (found["y"] == 1).all()


def test_outputs_that_are_no_results_of_steps() -> None:
    """A constant, and one tensor under two names: each has memory of its own."""
    named = ("Relu", ["x"], ["c"]), ("Identity", ["c"], ["d"]), ("Identity", ["w"], ["e"])
    weights = [onnx.numpy_helper.from_array(_array(), "w")]
    values = [[helper.make_tensor_value_info(name, 1, SHAPE) for name in names] for names in ("x", "cde")]
    graph = helper.make_graph([helper.make_node(*of) for of in named], "net", *values, weights)
    run = pysimd.load(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)).prepare()
    arrays = {name: np.empty(SHAPE, np.float32) for name in "cde"}
    x = _array(1)
    expected = {"c": _relu(x), "d": _relu(x), "e": _array()}
    for found in (run({"x": x}), run({"x": x}, outputs=arrays)):
        for name, array in expected.items():
            np.testing.assert_array_equal(found[name], array)
    run.bind(outputs=arrays)
    for name, array in run({"x": x}).items():
        assert array is arrays[name]
        np.testing.assert_array_equal(array, expected[name])


def test_arrays_of_other_libraries_are_read_in_place() -> None:
    class Foreign:
        def __init__(self, array: Array) -> None:
            self.array = array

        def __dlpack__(self, **options: Any) -> Any:
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self) -> Any:
            return self.array.__dlpack_device__()

    run, x = _runner(RELU), _array()
    np.testing.assert_array_equal(run({"x": Foreign(x)})["y"], _relu(x))
    assert not run.inputs["x"].any()
    run.bind(inputs={"x": Foreign(x)})
    assert np.shares_memory(run.inputs["x"], x)
    np.testing.assert_array_equal(run()["y"], _relu(x))


def test_results_that_nobody_has_are_written_again() -> None:
    """A result is overwritten by no later call as long as someone has it, or a view of it, or its memory."""
    run = _runner(("Relu", ["x"], ["y"]))
    x = [_array(seed) for seed in range(5)]
    first = run({"x": x[0]})["y"]
    holds: list[Any] = [
        run({"x": x[1]})["y"][1:],
        memoryview(run({"x": x[2]})["y"].data),
        np.asarray(run({"x": x[3]})["y"]).T,
    ]
    for seed in range(9):
        run({"x": _array(seed)})
    assert np.array_equal(first, _relu(x[0]))
    assert np.array_equal(holds[0], _relu(x[1])[1:]) and np.array_equal(np.asarray(holds[1]), _relu(x[2]))
    assert np.array_equal(holds[2], _relu(x[3]).T)
    again = [run({"x": x[4]})["y"] for _ in range(3)]
    assert len({each.ctypes.data for each in again}) == 3
    del again
    places = {run({"x": x[4]})["y"].ctypes.data for _ in range(9)}
    assert len(places) <= 2


@pytest.mark.parametrize("change", ["shape", "writeable"])
def test_changed_results_are_not_written_again(change: str) -> None:
    run = _runner(("Relu", ["x"], ["y"]))
    for _ in range(4):
        found = run({"x": _array()})["y"]
        assert np.array_equal(found, _relu(_array()))
        if change == "shape":
            found.shape = (-1,)
        else:
            found.flags.writeable = False
        del found


def test_runs_whose_calls_are_joined() -> None:
    """From the second run on, one call makes those of all steps; arrays that are bound change the arguments of each."""
    nodes = [("Tanh", ["x"], ["t"]), ("Relu", ["t"], ["r"]), ("Neg", ["r"], ["y"])]
    runner, x, other = _runner(*nodes), _array(1), _array(2)
    expected = [np.array(runner.copy()({"x": each})["y"]) for each in (x, other)]
    runner.inputs["x"][...] = x
    for _ in range(3):
        runner.outputs["y"][...] = 7
        np.testing.assert_array_equal(runner.run()["y"], expected[0])
    assert len(runner._quick[0]) == 1 < len(runner.calls)
    runner.bind(inputs={"x": other})
    for _ in range(3):
        np.testing.assert_array_equal(runner.run()["y"], expected[1])
    runner.bind(inputs={"x": None})
    np.testing.assert_array_equal(runner.run()["y"], expected[0])
    again = runner.copy()
    again.inputs["x"][...] = other
    for _ in range(3):
        np.testing.assert_array_equal(again.run()["y"], expected[1])


def test_errors_of_joined_calls() -> None:
    """They are those of the step."""
    nodes = [SourceNode("Relu", ("x",), ("r",)), SourceNode("Gather", ("r", "i"), ("g",)), SourceNode("Neg", ("g",), ("y",))]
    inputs = [Value("x", "float32", (4, 3)), Value("i", "int64", (2,))]
    runner: Any = Model(Source("net", 17, inputs, [Value("y", "float32", None)], nodes, {})).prepare()
    for index in (1, 2, 4, 3, 4):
        runner.inputs["i"][...] = index
        if index < 4:
            runner.run()
            continue
        with pytest.raises(ValueError, match=r"indices\[0\] is 4"):
            runner.run()
