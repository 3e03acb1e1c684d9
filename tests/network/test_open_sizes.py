"""Plans with open sizes: bound to a shape, they are those of a preparation for it, node by node, and give the same bits."""

from __future__ import annotations

import gc
import hashlib
import threading
import tracemalloc
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

import pysimd
from pysimd.annotations import Array
from pysimd.network import planner
from pysimd.network.calls import has_open_numbers, open_numbers, parts_of
from pysimd.network.graph import Graph
from pysimd.network.memory import Places
from pysimd.network.model import Model
from pysimd.network.passes import simplified
from pysimd.network.records import replace
from pysimd.network.runner import Runner
from pysimd.network.sizes import Computed, Size, sizes_in

onnx = pytest.importorskip("onnx", reason="onnx, which makes the files, is not installed")

from network.onnx_suite import Case, cases  # noqa: E402
from network.random_models import random_model  # noqa: E402

Shapes = Mapping[str, tuple[int, ...]]


def any_sizes(proto: Any) -> Model:
    """A model whose file says no sizes of its inputs."""
    source = pysimd.load(proto).source
    inputs = [replace(value, dims=(None,) * len(value.dims or ())) for value in source.inputs]
    return Model(replace(source, inputs=inputs, overridable=()))


def described(runner: Runner) -> list[Any]:
    """All of a plan that can be compared: constants by what they contain, as equal ones may have one name or several."""
    constants = {
        name: f"{array.dtype} {array.shape} {hashlib.sha256(array.tobytes()).hexdigest()}"
        for name, array in runner.placed.constants.items()
    }
    nodes = [
        (node.operator, [constants.get(name, name) for name in node.inputs], node.outputs, repr(dict(node.attributes)))
        for node in runner.placed.nodes
    ]
    types = {name: (tuple(of.shape), of.dtype) for name, of in runner.placed.types.items() if name not in constants}
    idle = sorted(node.outputs for node in runner.plan.idle)
    return [nodes, types, dict(runner.plan.places), idle, calls_of(runner)]


def calls_of(runner: Runner) -> list[Any]:
    """The functions of all steps, and the numbers and arrays among their arguments."""

    def number(part: Any) -> Any:
        found = runner._sizes.numbers[id(part)] if isinstance(part, (Size, Computed)) else part
        return found.tolist() if isinstance(found, np.ndarray) else found

    assert all(has_open_numbers(step) == bool(open_numbers(step)) for step in runner._program.steps)
    kinds = (int, float, str, Size, Computed, np.ndarray)
    return [[number(part) for part in parts_of(step.calls) if isinstance(part, kinds)] for step in runner._program.steps]


def answers(runner: Runner, inputs: Mapping[str, Array]) -> list[Any]:
    """The outputs, or the error."""
    try:
        return list(runner(inputs).values())
    except (ValueError, IndexError, TypeError) as error:  # as for an index that another shape does not have
        return [str(error)]


def other_shapes(shapes: Shapes) -> Iterator[dict[str, tuple[int, ...]]]:
    """Shapes in which one size differs: everywhere where it has been the same number."""
    for size in sorted({size for shape in shapes.values() for size in shape}):
        for other in (size + 1, 2 * size, 1, 0):
            yield {name: tuple(other if n == size else n for n in shape) for name, shape in shapes.items()}


def compare(model: Model, shapes: Shapes, inputs: Mapping[str, Array]) -> int:
    """Plans that are open, bound to these shapes and to others, beside preparations. Returns the number of plans.

    Each shape has a runner of its own, and one that was for other shapes before.
    """
    released: Runner | None = None
    run = model.prepare({name: tuple(f"{name}.{i}" for i in range(len(shape))) for name, shape in shapes.items()})
    for each in (shapes, *other_shapes(shapes)):
        try:
            expected = Model(model.source).prepare(each)
        except ValueError:
            expected = None
        if not isinstance(expected, Runner):  # refused, or a course, which has plans of its own
            with pytest.raises(ValueError):
                run.prepare(each)
            continue
        given = {name: np.resize(array, each[name]).astype(array.dtype) for name, array in inputs.items()}
        released = run.bound(each, released)
        for found in (run.prepare(each), released):
            assert described(found) == described(expected), each
            for a, b in zip(answers(found, given), answers(expected, given)):
                np.testing.assert_array_equal(a, b)
    return len(run.plans)


@pytest.mark.parametrize("first", range(0, 40, 5))
def test_random_models(first: int) -> None:
    for seed in range(first, first + 5):
        proto = random_model(seed)
        random = np.random.default_rng(seed)
        shapes = {
            value.name: tuple(dim.dim_value for dim in value.type.tensor_type.shape.dim) for value in proto.graph.input
        }
        inputs = {name: random.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
        compare(any_sizes(proto), shapes, inputs)


def in_form(case: Case, weights: Sequence[str]) -> tuple[Model, dict[str, Array]]:
    """A case with some inputs as weights."""
    arrays = dict(zip((value.name for value in case.model.graph.input), case.inputs))
    proto = onnx.ModelProto.FromString(case.model.SerializeToString())
    for name in weights:
        proto.graph.initializer.append(onnx.numpy_helper.from_array(np.asarray(arrays.pop(name)), name))
    kept = [value for value in proto.graph.input if value.name in arrays]
    del proto.graph.input[:]
    proto.graph.input.extend(kept)
    return any_sizes(proto), arrays


PARTS = 60


@pytest.mark.parametrize("part", [0, 30, *(pytest.param(i, marks=pytest.mark.full) for i in range(PARTS) if i % 30)])
def test_node_cases(part: int) -> None:
    """Each as it is, and with all inputs but the first as weights."""
    for case in cases("node")[part::PARTS]:
        names = [value.name for value in case.model.graph.input]
        for weights in ((), names[1:]):
            try:
                model, arrays = in_form(case, weights)
                shapes = {name: array.shape for name, array in arrays.items()}
                runner = model.prepare(shapes)
            except (ValueError, TypeError, KeyError):  # what no preparation takes
                continue
            if any(shapes.values()) and isinstance(runner, Runner):  # no course
                compare(model, shapes, arrays)


# ---- the runner of models of any size


def recogniser() -> Model:
    """Convolutions with strides, pooling that rounds up, a join of two branches, and lines of what is left as vectors."""
    helper, random = onnx.helper, np.random.default_rng(3)

    def weight(name: str, *shape: int) -> Any:
        return onnx.numpy_helper.from_array(random.standard_normal(shape).astype(np.float32) / 5, name)

    nodes = [
        helper.make_node("Conv", ["x", "w0"], ["a"], strides=[2, 2], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("MaxPool", ["b"], ["c"], kernel_shape=[2, 2], strides=[2, 1], ceil_mode=1),
        helper.make_node("AveragePool", ["b"], ["d"], kernel_shape=[2, 2], strides=[2, 1], ceil_mode=1),
        helper.make_node("Concat", ["c", "d"], ["e"], axis=1),
        helper.make_node("Shape", ["e"], ["shape"]),
        helper.make_node("Gather", ["shape", "ends"], ["sizes"]),
        helper.make_node("Concat", ["sizes", "rest"], ["target"], axis=0),
        helper.make_node("Transpose", ["e"], ["f"], perm=[0, 3, 1, 2]),
        helper.make_node("Reshape", ["f", "target"], ["g"]),
        helper.make_node("MatMul", ["g", "w1"], ["h"]),
        helper.make_node("Softmax", ["h"], ["y"], axis=2),
    ]
    weights = [weight("w0", 8, 3, 3, 3), weight("w1", 64, 11)]
    weights += [
        onnx.numpy_helper.from_array(np.array(of, np.int64), name) for name, of in (("ends", [0, 3]), ("rest", [-1]))
    ]
    graph = helper.make_graph(
        nodes,
        "recogniser",
        [helper.make_tensor_value_info("x", 1, ("N", 3, 16, "W"))],
        [helper.make_tensor_value_info("y", 1, None)],
        weights,
    )
    return pysimd.load(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9))


def image(n: int, width: int, seed: int = 1) -> Array:
    return np.random.default_rng(seed).random((n, 3, 16, width), np.float32)


def test_few_plans_serve_a_hundred_widths() -> None:
    model = recogniser()
    run = model.prepare()
    for width in range(20, 120):
        x = image(1 + width % 3, width)
        np.testing.assert_array_equal(run(x)["y"], model.prepare(x.shape)(x)["y"])
    assert len(run.plans) <= 4
    assert [len(each["x"]) for each in run.kept] == [4] * 8


def test_channels_last() -> None:
    """Arrays have them; shapes are those of the file."""
    model = recogniser()
    run = model.prepare(layout="nhwc")
    for width in (30, 41, 30):
        x = np.ascontiguousarray(image(2, width).transpose(0, 2, 3, 1))
        expected = model.prepare((2, 3, 16, width), layout="nhwc")(x)["y"]
        np.testing.assert_array_equal(run(x)["y"], expected)
        np.testing.assert_array_equal(run.prepare({"x": (2, 3, 16, width)})(x)["y"], expected)
    assert [each["x"] for each in run.kept] == [(2, 3, 16, 41), (2, 3, 16, 30)]
    for wrong, shown in (((2, 16, 41, 4), r"\(2, 4, 16, 41\)"), ((2, 16, 41), r"\(2, 16, 41\)"), ((), r"\(\)")):
        with pytest.raises(ValueError, match=rf"^the shape of x is given as {shown}, .* in the order of the file$"):
            run(np.ones(wrong, np.float32))


def test_both_sides_of_each_condition() -> None:
    """A plan serves the sizes of its conditions alone: each is broken, if some size does so, and another plan is right."""
    model = recogniser()
    run = model.prepare()
    run(image(2, 60))
    (plan,) = run.plans
    tried = {(n, w): plan.holds((n, w)) for n in (0, 1, 2, 3) for w in (*range(1, 12), 60, 61, 700)}
    for condition in plan.conditions:
        sides = {bool(eval(condition, {"N": n, "W": w})) for n, w in tried}
        assert True in sides, condition
    for (n, w), holds in tried.items():
        assert holds == all(eval(condition, {"N": n, "W": w}) for condition in plan.conditions)
        try:
            expected = model.prepare((n, 3, 16, w))
        except ValueError:
            with pytest.raises(ValueError):
                run(image(n, w))
            continue
        np.testing.assert_array_equal(run(image(n, w))["y"], expected(image(n, w))["y"])


def test_a_size_may_be_that_of_another_dimension() -> None:
    """By chance: no plan of its own is needed for it."""
    nodes = [
        onnx.helper.make_node("Transpose", ["x"], ["t"], perm=[0, 2, 1]),
        onnx.helper.make_node("MatMul", ["x", "t"], ["scores"]),
        onnx.helper.make_node("Softmax", ["scores"], ["weights"], axis=2),
        onnx.helper.make_node("MatMul", ["weights", "x"], ["sums"]),
        onnx.helper.make_node("Transpose", ["sums"], ["y"], perm=[0, 2, 1]),
    ]
    ends = [onnx.helper.make_tensor_value_info(name, 1, shape) for name, shape in (("x", (1, "T", 8)), ("y", None))]
    model = pysimd.load(onnx.helper.make_model(onnx.helper.make_graph(nodes, "attention", ends[:1], ends[1:])))
    run: Any = model.prepare()
    for length in (5, 8, 11, 8, 13):
        x = np.random.default_rng(length).standard_normal((1, length, 8)).astype(np.float32)
        np.testing.assert_array_equal(run(x)["y"], model.prepare(x.shape)(x)["y"])
    assert len(run.plans) == 1


def test_memory_of_many_shapes() -> None:
    """One huge shape is given back, and the runner keeps what it is told to keep."""
    run = recogniser().prepare()
    for width in (30, 40, 8000, 30, 40):
        run(image(1, width))
    assert [each["x"][3] for each in run.kept] == [8000, 30, 40]
    huge = run.kept_bytes
    run.trim()
    assert [each["x"][3] for each in run.kept] == [40] and run.kept_bytes < huge / 20


@pytest.mark.parametrize("keeper", [Model.prepare, lambda model: model], ids=["runner", "model"])
def test_limits_of_what_is_kept(keeper: Any) -> None:
    """They can be set at any time, and take effect at once."""
    few = keeper(recogniser())

    def widths() -> list[int]:
        return [each["x"][3] for each in few.kept]

    assert (few.most_shapes, few.most_bytes, few.kept_bytes) == (8, 1 << 30, 0)
    for width in range(30, 42):
        few(image(1, width))
    assert widths() == [*range(34, 42)]
    few.most_shapes = 3
    assert widths() == [39, 40, 41]
    few.most_shapes = 10
    for width in (30, 31, 30):
        few(image(1, width))
    assert widths() == [39, 40, 41, 31, 30]
    few.most_bytes = few.kept_bytes - 1
    assert widths() == [40, 41, 31, 30]
    few(image(1, 8000))  # more than allowed: alone
    assert widths() == [8000] and few.kept_bytes > few.most_bytes
    few.most_bytes = 0
    few(image(1, 30)), few(image(1, 31))
    assert widths() == [31] and few.kept_bytes > 0
    few.most_bytes, few.most_shapes = 1 << 40, 2
    few(image(1, 30))
    few.trim()
    assert widths() == [30]
    for name, value, sentence in (
        ("most_shapes", 0, "most_shapes is 0, expected at least 1"),
        ("most_shapes", 2.5, "most_shapes is 2.5, expected an integer"),
        ("most_bytes", -1, "most_bytes is -1, expected at least 0"),
        ("most_bytes", "1", "most_bytes is '1', expected an integer"),
    ):
        with pytest.raises((ValueError, TypeError), match=sentence):
            setattr(few, name, value)
    assert (few.most_shapes, few.most_bytes) == (2, 1 << 40)


def test_memory_stays_flat() -> None:
    run = recogniser().prepare()
    x = image(1, 400)
    for width in range(20, 60):
        run(x[..., :width].copy())
    gc.collect()
    before = len(gc.get_objects())
    for width in range(60, 300):
        run(x[..., :width].copy())
    gc.collect()
    assert len(gc.get_objects()) < before + 200


@pytest.fixture
def plans_of_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pass that needs numbers: each plan is for one shape."""

    def of_numbers(graph: Graph) -> Graph:
        for of in graph.types.values():
            hash(of.shape)
        return simplified(graph)

    monkeypatch.setattr(planner, "simplified", of_numbers)


def test_plans_for_one_shape_each_are_not_all_kept(plans_of_numbers: None) -> None:
    node = onnx.helper.make_node("Twice", ["x"], ["y"], domain="own")
    ends = [onnx.helper.make_tensor_value_info(name, 1, ("n",)) for name in "xy"]
    graph = onnx.helper.make_graph([node], "twice", ends[:1], ends[1:])
    opsets = [onnx.helper.make_opsetid("", 17), onnx.helper.make_opsetid("own", 1)]
    model = pysimd.load(onnx.helper.make_model(graph, opset_imports=opsets), fallback={"own.Twice": lambda x: 2 * x})
    run: Any = model.prepare()
    for n in (*range(1, 40), 1, 2):
        assert run(np.arange(n, dtype=np.float32))["y"].tolist() == [*range(0, 2 * n, 2)]
    assert len(run.plans) == 16


def test_a_plan_of_numbers_where_sizes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pass that raises for sizes that are open costs plans, and no model. What is computed for a plan goes with it."""

    def of_numbers(graph: Graph) -> Graph:
        if any(sizes_in(of.shape) for of in graph.types.values()):
            raise ValueError("no numbers")
        return simplified(graph)

    monkeypatch.setattr(planner, "simplified", of_numbers)
    model = recogniser()
    run = model.prepare()
    for width in (30, 31, 30):
        np.testing.assert_array_equal(run(image(1, width))["y"], model.prepare((1, 3, 16, width))(image(1, width))["y"])
    assert len(run.plans) == 2
    with pytest.raises(ValueError, match="not supported"):
        run.prepare({"x": (1, 3, 16, 0)})


def test_weights_of_plans_are_released(plans_of_numbers: None) -> None:
    """Those that passes compute: of the last 16 plans."""
    random = np.random.default_rng(2)
    nodes = [
        onnx.helper.make_node("MatMul", ["x", "w"], ["a"]),
        onnx.helper.make_node("Mul", ["a", "s"], ["b"]),  # becomes part of the weights
        onnx.helper.make_node("Twice", ["b"], ["y"], domain="own"),
    ]
    ends = [onnx.helper.make_tensor_value_info(name, 1, ("n", 256)) for name in "xy"]
    arrays = {"w": random.standard_normal((256, 256)), "s": random.standard_normal(256)}
    weights = [onnx.numpy_helper.from_array(array.astype(np.float32), name) for name, array in arrays.items()]
    opsets = [onnx.helper.make_opsetid("", 17), onnx.helper.make_opsetid("own", 1)]
    graph = onnx.helper.make_graph(nodes, "twice", ends[:1], ends[1:], weights)
    model = pysimd.load(onnx.helper.make_model(graph, opset_imports=opsets), fallback={"own.Twice": lambda x: 2 * x})
    run: Any = model.prepare()
    tracemalloc.start()
    try:
        for n in range(2, 50):
            run(np.ones((n, 256), np.float32))
            if n == 20:
                gc.collect()
                before, _ = tracemalloc.get_traced_memory()
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] < before + 4 * 256 * 256 * 4
    finally:
        tracemalloc.stop()


def test_six_threads_on_one_runner() -> None:
    """With different shapes, and with the same."""
    model = recogniser()
    run: Any = model.prepare()
    shapes = [(1 + i % 2, 40 + 7 * (i % 5)) for i in range(30)]
    expected = [model.prepare((n, 3, 16, w))(image(n, w, i))["y"] for i, (n, w) in enumerate(shapes)]
    wrong: list[int] = []

    def call(first: int) -> None:
        for i in [*range(first, 30), *range(first)]:
            n, w = shapes[i]
            if not np.array_equal(run(image(n, w, i))["y"], expected[i]):
                wrong.append(i)

    threads = [threading.Thread(target=call, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ((1, 3, 15, 40), r"^the shape of x is given as \(1, 3, 15, 40\), expected \(N, 3, 16, W\), where N is 1"),
        ((1, 3, 16), r"^the shape of x is given as \(1, 3, 16\), expected \(N, 3, 16, W\)"),
        ((1, 3, 16, 0), "not supported"),
        ((1, 3, 16, -4), r"expected \(N, 3, 16, W\)"),
    ],
)
def test_shapes_that_do_not_fit(given: tuple[int, ...], sentence: str) -> None:
    """The runner still serves others."""
    run = recogniser().prepare()
    for _ in range(2):
        with pytest.raises(ValueError, match=sentence):
            run.prepare({"x": given})
        assert run(image(1, 40))["y"].shape == (1, 19, 11)
    assert len(run.plans) == 1


def test_inputs_that_do_not_fit() -> None:
    """Of a call; the runner still serves others, and makes no plan for these."""
    run: Any = recogniser().prepare()
    right, few = image(1, 40), np.zeros(1, np.float32)
    expected = run(right)["y"]
    wrong: list[tuple[Any, type[Exception], str]] = [
        (right.astype(np.float64), TypeError, "float32"),
        ({}, ValueError, "the input 'x' is missing"),
        ({"x": right, "z": right}, ValueError, "'z' is not an input"),
        ([[1.0], [2.0, 3.0]], TypeError, "x"),
        (np.ones((1, 3, 16), np.float32), ValueError, r"expected \(N, 3, 16, W\)"),
        (np.ones((1, 3, 16, 0), np.float32), ValueError, "not supported"),
        (np.broadcast_to(few, (1, 3, 16, 1 << 42)), MemoryError, "no memory"),
    ]
    for given, error, sentence in wrong:
        with pytest.raises(error, match=sentence):
            run(given)
        np.testing.assert_array_equal(run(right)["y"], expected)
    for prepare in (run.prepare, recogniser().prepare):
        with pytest.raises(MemoryError, match=r"^no memory for 6963412720"):
            prepare({"x": (1 << 40, 3, 16, 1 << 40)})
    np.testing.assert_array_equal(run(right)["y"], expected)
    assert len(run.plans) == 1 and [each["x"] for each in run.kept] == [right.shape]


def test_a_function_that_raises_for_some_shapes() -> None:
    """When the model is planned, or when it runs: the runner still serves others, and this one when the function does."""
    refused: set[int] = set()

    def twice(x: Array) -> Array:
        if len(x) in refused:
            raise ArithmeticError(f"{len(x)} rows")
        return 2 * x

    node = onnx.helper.make_node("Twice", ["x"], ["y"], domain="own")
    ends = [onnx.helper.make_tensor_value_info(name, 1, ("n",)) for name in "xy"]
    opsets = [onnx.helper.make_opsetid("", 17), onnx.helper.make_opsetid("own", 1)]
    file = onnx.helper.make_model(onnx.helper.make_graph([node], "twice", ends[:1], ends[1:]), opset_imports=opsets)
    run: Any = pysimd.load(file, fallback={"own.Twice": twice}).prepare()
    ones = [np.ones(n, np.float32) for n in range(5)]
    assert run(ones[2])["y"].tolist() == [2, 2]
    refused.update((2, 3))
    for n, error in ((2, ArithmeticError), (3, ValueError), (2, ArithmeticError)):
        with pytest.raises(error, match=f"{n} rows"):
            run(ones[n])
        assert run(ones[4])["y"].tolist() == [2] * 4
    refused.clear()
    assert [len(run(ones[n])["y"]) for n in (2, 3, 4)] == [2, 3, 4]


def test_sizes_that_contradict_each_other() -> None:
    node = onnx.helper.make_node("Add", ["a", "b"], ["y"])
    inputs = [onnx.helper.make_tensor_value_info(name, 1, ("n", 2)) for name in "ab"]
    output = onnx.helper.make_tensor_value_info("y", 1, None)
    model = pysimd.load(onnx.helper.make_model(onnx.helper.make_graph([node], "sum", inputs, [output])))
    run = model.prepare({"a": ("n", 2), "b": ("n", 2)})
    ones = [np.ones((n, 2), np.float32) for n in range(4)]
    assert run({"a": ones[3], "b": ones[3]})["y"].tolist() == [[2, 2]] * 3
    with pytest.raises(ValueError, match=r"the shape of b is given as \(3, 2\), expected \(n, 2\), where n is 2"):
        run({"a": ones[2], "b": ones[3]})
    for separate in (
        model.prepare({"a": ("n", 2), "b": ("m", 2)}),
        model.prepare(),
        model,
    ):  # a name of the file is no promise
        assert separate({"a": ones[1], "b": ones[3]})["y"].tolist() == [[2, 2]] * 3
    ends = [onnx.helper.make_tensor_value_info(name, 1, (size,)) for name, size in (("a", "b.0"), ("b", "?"), ("y", None))]
    model = pysimd.load(onnx.helper.make_model(onnx.helper.make_graph([node], "sum", ends[:2], ends[2:])))
    run = model.prepare()
    assert run.dims == {"a": ("a.0",), "b": ("b.0",)}  # an expression or the like is none of our names
    assert run({"a": np.ones(1, np.float32), "b": np.ones(3, np.float32)})["y"].tolist() == [2] * 3
    assert "a.0" in run.report() and "?" not in run.report()


def test_shapes_that_contradict_the_file() -> None:
    node = onnx.helper.make_node("Add", ["a", "b"], ["y"])
    ends = [onnx.helper.make_tensor_value_info(name, 1, ("n", 2)) for name in "aby"]
    model = pysimd.load(onnx.helper.make_model(onnx.helper.make_graph([node], "sum", ends[:2], ends[2:])))
    wrong: list[tuple[Any, str]] = [
        ({"a": ("n", 3)}, "expected that of the file"),
        ({"a": ("n", 2, 1)}, "expected that of the file"),
        ({"c": ("n", 2)}, "'c' is not an input"),
        ({"a": ("n", 2.5)}, "expected a tuple of integers"),
    ]
    for shapes, sentence in wrong:
        with pytest.raises((ValueError, TypeError), match=sentence):
            model.prepare(shapes)


def test_names_of_dimensions_send_no_commands_to_the_terminal() -> None:
    ends = [onnx.helper.make_tensor_value_info(name, 1, ("\x1b[2J\nn", 2)) for name in ("x\x1b", "y")]
    graph = onnx.helper.make_graph([onnx.helper.make_node("Relu", ["x\x1b"], ["y"])], "net", ends[:1], ends[1:])
    model = pysimd.load(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)]))
    run = model.prepare()
    assert run(np.ones((3, 2), np.float32))["y"].shape == (3, 2)
    texts = [str(run), run.report()]
    for call in (lambda: run.prepare({"x\x1b": (3, 3)}), lambda: model.prepare({"x\x1b": ("\x1b", 3)})):
        with pytest.raises(ValueError, match="the shape of x") as error:
            call()
        texts.append(str(error.value))
    assert all(text.replace("\n", "").isprintable() for text in texts)
    assert [text.count("\n") for text in texts] == [1, len(run.plans[0].conditions) + 2, 0, 0]


def test_a_released_runner_serves_the_next_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a limit allows no more of them, or no more bytes; those of `prepare` belong to the caller."""
    for most_shapes, room in ((2, 100.0), (8, 2.5)):
        run: Any = recogniser().prepare()
        own = run.prepare({"x": (1, 3, 16, 40)})
        run(image(1, 400))
        run.most_shapes, run.most_bytes = most_shapes, int(room * run.kept_bytes)
        run(image(1, 399))
        with monkeypatch.context() as patch:
            patch.setattr(Runner, "_bind", None)
            for width in range(390, 398):
                own.inputs["x"][...] = 1
                run(image(1, width))
                assert len(run.kept) == 2 and (own.inputs["x"] == 1).all()


def test_a_released_runner_that_is_much_too_large() -> None:
    """Its memory is at most four times that of a new one, also after several steps down."""
    run, other = (recogniser().prepare() for _ in range(2))
    released = other.bound({"x": (1, 3, 16, 4000)})
    for width in (1100, 300, 100, 90, 30):
        released = run.bound({"x": (1, 3, 16, width)}, released)
        assert released.block_bytes < 4.2 * run.prepare({"x": (1, 3, 16, width)}).block_bytes


def test_places_fit_until_they_are_too_large() -> None:
    places = Places([64, 128], 192, {}, 256)
    assert places.fit([64, 128], 1) and places.fit([32, 128], 1.25)
    assert not places.fit([32, 128], 1.19) and not places.fit([65, 127], 1)


def test_a_runner_of_any_size_is_shown() -> None:
    run = recogniser().prepare({"x": (None, 3, 16, None)})
    run(image(1, 50))
    assert str(run).splitlines() == [
        f"1 plans, 1 shapes kept, {run.kept_bytes / 1e6:.1f} MB for tensors",
        "  input   x: float32 (x.0, 3, 16, x.3)",
    ]
    assert "  plan 1 serves sizes for which" in run.report() and "x.3" in run.report()
