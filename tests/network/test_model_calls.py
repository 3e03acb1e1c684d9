"""The short forms: a model that is called, one input without its name, and what the messages say about other arguments."""

from __future__ import annotations

import pickle
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pysimd
from pysimd.network.model import Model
from pysimd.network.open_plan import OpenPlan
from pysimd.network.runner import Runner
from support import Array

onnx = pytest.importorskip("onnx", reason="onnx, which makes the files, is not installed")
helper, numpy_helper = onnx.helper, onnx.numpy_helper
FLOAT = 1


def _message(nodes: list[Any], inputs: dict[str, tuple[Any, ...]], weights: dict[str, Array] | None = None) -> Any:
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info(name, FLOAT, shape) for name, shape in inputs.items()],
        [helper.make_tensor_value_info("y", FLOAT, None)],
        [numpy_helper.from_array(array, name) for name, array in (weights or {}).items()],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9)


def _convolution() -> Model:
    weight = np.random.default_rng(1).uniform(-1, 1, (4, 3, 3, 3)).astype(np.float32)
    return pysimd.load(_message([helper.make_node("Conv", ["x", "w"], ["y"])], {"x": ("N", 3, "H", "W")}, {"w": weight}))


def _sum(a: tuple[Any, ...] = ("N", 3), b: tuple[Any, ...] = ("N", 3)) -> Model:
    return pysimd.load(_message([helper.make_node("Add", ["a", "b"], ["y"])], {"a": a, "b": b}))


def _image(*shape: int, seed: int = 3) -> Array:
    return np.random.default_rng(seed).random(shape, np.float32)


def test_one_input_needs_no_name() -> None:
    model, x = _convolution(), _image(1, 3, 8, 9)
    run, same = model.prepare({"x": x.shape}), model.prepare(x.shape)
    expected = run({"x": x})["y"]
    assert expected.any() and same.outputs["y"].shape == expected.shape
    for found in (run(x), same(x), model(x), model({"x": x}), run(x.copy())):
        np.testing.assert_array_equal(found["y"], expected)
    assert model.shapes(x.shape) == {"x": x.shape}
    assert pysimd.load(_message([helper.make_node("Relu", ["x"], ["y"])], {"x": ()})).prepare(()).outputs["y"].shape == ()


def test_several_inputs_need_names() -> None:
    model, a = _sum(), np.ones((2, 3), np.float32)
    assert model({"a": a, "b": a})["y"].tolist() == [[2] * 3] * 2
    run = model.prepare({"a": (2, 3), "b": (2, 3)})
    calls: tuple[Any, ...] = run, model
    for call in calls:
        with pytest.raises(ValueError, match=r"^the input is not given by name, .* 2 inputs: expected {'a': .*, 'b': ...}$"):
            call(a)
    with pytest.raises(ValueError, match=r"^the shape is not given by name, and the model has 2 inputs"):
        model.prepare((2, 3))


def test_a_model_that_is_called_keeps_the_last_eight_shapes(monkeypatch: pytest.MonkeyPatch) -> None:
    model, prepared = _convolution(), []
    bound = OpenPlan.bound

    def counted(self: OpenPlan, values: Any, released: Runner | None = None) -> Any:
        prepared.append(values[0])
        return bound(self, values, released)

    monkeypatch.setattr(OpenPlan, "bound", counted)
    expected: dict[int, Array] = {}
    for n in (*range(1, 9), 1, 9, 1, 2, 1, 9):
        x = _image(n, 3, 5, 6, seed=n)
        y = model(x)["y"]
        np.testing.assert_array_equal(y, expected.setdefault(n, y))  # new arrays, which later calls do not change
        np.testing.assert_array_equal(y, model.prepare(x.shape)(x)["y"])
    assert prepared == [*range(1, 10), 2]
    with pytest.raises(TypeError):
        model(_image(1, 3, 5, 6).astype(np.float64))
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again(_image(1, 3, 5, 6, seed=1))["y"], expected[1])


def test_a_weight_that_is_given_to_a_call() -> None:
    """It is an input of that call only."""
    message = _message([helper.make_node("Add", ["x", "w"], ["y"])], {"x": (2,), "w": ("n",)}, {"w": np.ones(2, np.float32)})
    model, x = pysimd.load(message), np.array([1, 2], np.float32)
    assert model(x)["y"].tolist() == [2, 3]
    assert model({"x": x, "w": np.array([5], np.float32)})["y"].tolist() == [6, 7]
    assert model(x)["y"].tolist() == [2, 3]


def test_two_threads_call_a_model_at_once() -> None:
    """The second call comes when the first has read its input and has not yet used it: they must not share tensors."""
    inside, done = threading.Event(), threading.Event()

    def wait(x: Array) -> Array:
        if x.any() and x.flat[0] == 1:
            inside.set()
            assert done.wait(20)
        return np.zeros_like(x)

    nodes = [helper.make_node("Wait", ["x"], ["t"], domain="own"), helper.make_node("Add", ["x", "t"], ["y"])]
    model = pysimd.load(_message(nodes, {"x": ("N", 3)}), fallback={"own.Wait": wait})
    found: dict[float, Any] = {}

    def call(value: float) -> None:
        found[value] = model(np.full((2, 3), value, np.float32))["y"]

    call(3)  # so that there is a runner for both to take
    first = threading.Thread(target=call, args=(1,))
    first.start()
    assert inside.wait(20)
    call(2)
    done.set()
    first.join(20)
    assert [found[value].tolist() for value in (1, 2, 3)] == [[[value] * 3] * 2 for value in (1, 2, 3)]


def test_a_runner_is_shown() -> None:
    run = _convolution().prepare((1, 3, 34, 34))
    text = str(run).splitlines()
    assert text[0].startswith(f"net, prepared: {len(run.steps)} steps, ") and text[0].endswith(" for packed weights")
    assert f"{run.block_bytes / 1e3:.1f} KB for tensors" in text[0]
    assert text[1:] == ["  input   x: float32 (1, 3, 34, 34)", "  output  y: float32 (1, 4, 32, 32)"]
    assert repr(run).startswith("<pysimd.network.Runner 'net': x: float32 (1, 3, 34, 34) -> y: float32 (1, 4, 32, 32), ")


LIST = "x is a list, expected a numpy.ndarray: use np.array(x, np.float32)"


@pytest.mark.parametrize("called", [False, True], ids=["runner", "model"])
@pytest.mark.parametrize(
    ("x", "sentence"),
    [
        (np.zeros((1, 3, 4, 4)).tolist(), LIST),
        ([[1], [1, 2]], LIST),
        ("picture.png", "x is a str, expected a numpy.ndarray"),
        (np.zeros((1, 3, 4, 4)), "x has dtype float64, expected float32: use x.astype(np.float32)"),
    ],
    ids=["list", "ragged list", "text", "double"],
)
def test_what_is_not_an_array_of_the_type(x: Any, sentence: str, called: bool) -> None:
    model = _convolution()
    call: Any = model if called else model.prepare((1, 3, 4, 4))
    for given in (x, {"x": x}):
        with pytest.raises(TypeError) as error:
            call(given)
        assert str(error.value) == sentence


@pytest.mark.parametrize(
    ("shapes", "error", "sentence"),
    [
        (
            None,
            ValueError,
            "the shape of the input x: float32 (N, 3, H, W) is open: pass it, as in {'x': (1, 3, 224, 224)}",
        ),
        (5, TypeError, "the shape of x is 5, expected a tuple of integers"),
        ((1, 3, 8.5, 8), TypeError, "the shape of x is (1, 3, 8.5, 8), expected a tuple of integers"),
        (_image(1, 3, 4, 4), TypeError, "the shape of x is an array of shape (1, 3, 4, 4), expected a tuple of integers"),
    ],
    ids=["none", "number", "fraction", "array"],
)
def test_what_is_not_a_shape(shapes: Any, error: type[Exception], sentence: str, tmp_path: Path) -> None:
    with pytest.raises(error) as caught:
        _convolution().compile(tmp_path / "folder", shapes)
    assert str(caught.value) == sentence


def test_the_shape_in_a_message_fits_the_file() -> None:
    for dims, example in ((("N", "H", "W", 3), (1, 224, 224, 3)), (("N", "T"), (1, 64)), (None, (1, 3, 224, 224))):
        with pytest.raises(ValueError, match="is open") as caught:
            pysimd.load(_message([helper.make_node("Relu", ["x"], ["y"])], {"x": dims})).shapes()  # type: ignore[dict-item]
        assert str(caught.value).endswith(f"{{'x': {example}}}")
