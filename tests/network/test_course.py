"""Models whose course depends on values: sizes that are computed, If, Loop and Scan, against ONNX Runtime.

One model runs with values that change from run to run: what an earlier run has planned must not decide later results.
"""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pysimd
from network.test_values import BOOL, FLOAT, INT64, expected, floats, helper, model, node, value
from pysimd.__main__ import main
from pysimd.network.convert import UnsupportedModel
from pysimd.network.courses import carried
from pysimd.network.courses.course import OtherCuts, Segment
from pysimd.network.courses.runner import CourseRunner
from pysimd.network.runners import Lease
from support import Array

onnx = pytest.importorskip("onnx", reason="ONNX files need the package onnx")


def assert_same(found: dict[str, Any], wanted: dict[str, Array]) -> None:
    for name, array in wanted.items():
        np.testing.assert_allclose(found[name], array, rtol=1e-3, atol=1e-4, strict=True)


def graph(name: str, nodes: Any, inputs: Any, outputs: Any) -> Any:
    return helper.make_graph(nodes, name, inputs, outputs)


def segments(run: Any) -> list[Segment]:
    return [part for part in run._course.parts if isinstance(part, Segment)]


# ---- random models


@pytest.mark.parametrize("seed", range(16))
def test_random_models(seed: int) -> None:
    """Branches and loops within each other, sizes that are computed; one model for all inputs, in any order."""
    from network.random_courses import feeds, random_course

    message = random_course(seed)
    loaded = pysimd.load(message)
    opened = loaded.prepare({"x": ("n", 4), "count": ()})
    results = []
    for given in feeds(seed):
        results.append(loaded(given))
        assert_same(results[-1], expected(message, given))
        for name, array in opened(given).items():
            np.testing.assert_array_equal(array, results[-1][name])
    for given, before in reversed(list(zip(feeds(seed), results))):
        for name, array in loaded(given).items():
            np.testing.assert_array_equal(array, before[name])


def test_threads_copies_and_pickles() -> None:
    from network.random_courses import feeds, random_course

    message = random_course(1)
    loaded, given = pysimd.load(message), feeds(1) * 4
    wanted = [loaded(each) for each in given]
    runner = loaded.prepare({"x": ("n", 4), "count": ()})
    assert isinstance(runner, CourseRunner)
    for run in (loaded, runner, runner.copy(), pickle.loads(pickle.dumps(loaded))):
        with ThreadPoolExecutor(4) as pool:
            for found, each in zip(pool.map(run, given), wanted):
                for name, array in each.items():
                    np.testing.assert_array_equal(found[name], array)


def test_what_is_kept_of_passes() -> None:
    """A sequence and rows that a loop collects of memory that the next pass uses, and a state of the pass before."""
    nodes = [
        node("Mul", "s", "half", gives="t"), node("NonZero", "t", gives="p"), node("Shape", "p", gives="size"),
        node("Cast", "size", to=FLOAT, gives="sizes"), node("ReduceMax", "sizes", gives="most", keepdims=0),
        node("Add", "t", "most", gives="u"), node("SequenceInsert", "q", "u", gives="q'"),
        node("Identity", "s", gives="before'"), node("Identity", "on", gives="on'"), node("Neg", "u", gives="row"),
    ]  # fmt: skip
    kind = helper.make_tensor_sequence_value_info
    inputs = [value("i", INT64, []), value("on", BOOL, []), value("s"), value("before"), kind("q", FLOAT, None)]
    results = [value("on'", BOOL, []), value("u"), value("before'"), kind("q'", FLOAT, None), value("row")]
    body = graph("body", nodes, inputs, results)
    outer = [
        node("SequenceEmpty", gives="none"),
        node("Loop", "count", "", "x", "x", "none", gives="last before all rows", body=body),
        node("ConcatFromSequence", "all", gives="stacked", axis=0, new_axis=1),
    ]
    message = model(outer, [value("x", FLOAT, [3]), value("count", INT64, [])], ["last", "before", "stacked", "rows"],
                    half=np.float32(0.5))  # fmt: skip
    run: Any = pysimd.load(message).prepare()
    kept: list[Any] = []
    for count in (4, 2, 5, 4):
        s, before, each = floats(3, seed=count), floats(3, seed=count), []
        given = {"x": s, "count": np.array(count)}
        for _ in range(count):
            t = s * np.float32(0.5)
            s, before = t + np.float32(max(1, int(np.count_nonzero(t)))), s
            each.append(s)
        wanted = {"last": s, "before": before, "stacked": np.stack(each), "rows": -np.stack(each)}
        kept.append((run(given), wanted))
        for found, expected_then in kept:  # later runs leave them
            assert_same(found, expected_then)


def test_threads_while_memory_is_released() -> None:
    """Runners whose shapes are no longer kept while they run: each call has its own, and what is kept is counted."""
    message = counts(node("NonZero", "x", gives="p"), node("Shape", "p", gives="s"), node("Slice", "x", "zero", "count"),
                     zero=np.array([0]))  # fmt: skip
    message.graph.output.append(value("s", INT64, [2]))
    run: Any = pysimd.load(message).prepare({"x": ("n", 4)})
    given = [{"x": floats(2 + k % 3, 4, seed=k).clip(0), "count": np.array([1 + k % 2])} for k in range(6)]
    wanted = [run(each) for each in given]
    for most in (8, 2, 1):
        run.most_shapes = most
        with ThreadPoolExecutor(4) as pool:
            for found, each in zip(pool.map(run, given * 50), wanted * 50):
                assert_same(found, each)
        opened = [each for segment in segments(run) for each in segment.opened]
        assert all(len(each.kept) <= most for each in opened)
        kept = [runner for each in opened for idle in each.runners._idle.values() for runner in idle]
        assert run.kept_bytes == sum(runner.block_bytes for runner in kept) > 0


# ---- sizes


def counts(*nodes: Any, **weights: Any) -> Any:
    """A model of rows and of a count."""
    return model(nodes, [value("x", FLOAT, ["n", 4]), value("count", INT64, [1])], **weights)


def test_other_values_are_bound_to_the_same_plan() -> None:
    message = counts(node("Slice", "x", "zero", "count", gives="s"), node("Softmax", "s"), zero=np.array([0]))
    loaded = pysimd.load(message)
    for n, count in ((9, 3), (9, 5), (8, 2), (9, 8), (12, 7)):
        given = {"x": floats(n, 4), "count": np.array([count])}
        assert_same(loaded(given), expected(message, given))
    (segment,) = segments(loaded.prepare({"x": ("n", 4)}))
    assert len(segment.plans) == 1
    for n, count in ((9, -2), (9, 20), (9, 0), (9, -20), (9, -3), (0, 2)):  # other plans
        given = {"x": floats(n, 4), "count": np.array([count])}
        assert_same(loaded(given), expected(message, given))


def late() -> Any:
    """Within a branch that shapes decide, and of an operator that no table names: the scale of a quantization."""
    branches = [
        graph(f"{name}_branch", [node("Expand", "x", "count", gives=name)], [], [value(name)]) for name in ("then", "other")
    ]
    nodes = [
        node("Shape", "x", gives="shape"),
        node("ReduceMax", "shape", gives="most", keepdims=0),
        node("Greater", "most", "five", gives="large"),
        node("If", "large", gives="e", then_branch=branches[0], else_branch=branches[1]),
        node("ReduceMax", "e", gives="scale", keepdims=0),
        node("QuantizeLinear", "e", "scale", gives="q"),
        node("Cast", "q", to=FLOAT),
    ]
    inputs = [value("x", FLOAT, ["n", 1, 4]), value("count", INT64, [3])]
    return model(nodes, inputs, five=np.array(5))


def test_values_that_only_the_conversion_finds() -> None:
    """In one thread, and in several that find them at the same time."""
    given = [
        {"x": floats(n, 1, 4, seed=n) + 2, "count": np.array([1, count, 1])}
        for n, count in ((2, 3), (2, 1), (6, 3), (6, 2), (2, 3))
    ]
    wanted = [expected(late(), each) for each in given]
    for threads in (1, 4, 4, 4):
        with ThreadPoolExecutor(threads) as pool:
            for found, each in zip(pool.map(pysimd.load(late()), given), wanted):
                assert_same(found, each)
    run: Any = pysimd.load(late()).prepare({"x": ("n", 1, 4)})
    first = segments(run)[0]
    run(given[0])
    with pytest.raises(OtherCuts):  # as a thread that has begun before the course was cut
        first.run(dict(given[0]), None, Lease())


def test_channels_last() -> None:
    nodes = [node("Slice", "x", "zero", "count", "one", gives="s"), node("Conv", "s", "w")]
    inputs = [value("x", FLOAT, [1, 4, 6, 5]), value("count", INT64, [1])]
    message = model(nodes, inputs, zero=np.array([0]), one=np.array([3]), w=floats(2, 4, 3, 3))
    run = pysimd.load(message).prepare(layout="nhwc")
    given = {"x": floats(1, 4, 6, 5), "count": np.array([4])}
    run.inputs["x"][...] = given["x"].transpose(0, 2, 3, 1)
    run.inputs["count"][...] = 4
    wanted = expected(message, given)["y"].transpose(0, 2, 3, 1)
    np.testing.assert_allclose(run.run()["y"], wanted, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(run({"x": run.inputs["x"], "count": given["count"]})["y"], run.outputs["y"])


# ---- loops


def lstm(hidden: int, size: int) -> Any:
    """A recurrent layer that an exporter has written as a Loop over the steps of x, which the body reads from outside."""
    gates = [node("Split", "g", gives="a b c d", axis=1)]
    gates += [node(op, name, gives=f"{name}'") for op, name in zip(("Sigmoid", "Sigmoid", "Tanh", "Sigmoid"), "abcd")]
    body = graph(
        "body",
        [
            node("Gather", "x", "i", gives="row", axis=0),
            node("Concat", "row", "h", gives="both", axis=1),
            node("MatMul", "both", "w", gives="p"),
            node("Add", "p", "t", gives="g"),
            *gates,
            node("Mul", "b'", "state", gives="kept"),
            node("Mul", "a'", "c'", gives="new"),
            node("Add", "kept", "new", gives="next"),
            node("Tanh", "next", gives="bounded"),
            node("Mul", "d'", "bounded", gives="h'"),
            node("Identity", "on", gives="on'"),
            node("Identity", "h'", gives="row'"),
        ],
        [
            value("i", INT64, []),
            value("on", BOOL, []),
            value("h", FLOAT, ["b", hidden]),
            value("state", FLOAT, ["b", hidden]),
        ],
        [value("on'", BOOL, []), *(value(name, FLOAT, ["b", hidden]) for name in ("h'", "next", "row'"))],
    )
    nodes = [
        node("Shape", "x", gives="shape"),
        node("Gather", "shape", "zero", gives="steps"),
        node("Slice", "shape", "one", "two", gives="batch"),
        node("Concat", "batch", "hidden", gives="first", axis=0),
        node("ConstantOfShape", "first", gives="zeros"),
        node("Loop", "steps", "", "zeros", "zeros", gives="last state rows", body=body),
    ]
    numbers = {"zero": np.array(0), "one": np.array([1]), "two": np.array([2]), "hidden": np.array([hidden])}
    weights = {"w": floats(size + hidden, 4 * hidden), "t": floats(4 * hidden, seed=2)}
    return model(nodes, [value("x", FLOAT, ["steps", "b", size])], ("last", "state", "rows"), **numbers, **weights)


def test_a_recurrent_layer_as_a_loop() -> None:
    """Its body is planned once: a segment whose states go from its outputs to its inputs."""
    message = lstm(8, 5)
    loaded = pysimd.load(message)
    for steps, batch in ((3, 2), (70, 2), (4, 1), (1, 3), (3, 2)):
        given = {"x": floats(steps, batch, 5, seed=steps)}
        assert_same(loaded(given), expected(message, given))
    run: Any = loaded.prepare({"x": ("steps", "b", 5)})
    (body,) = run._course.parts[-1].body.parts
    assert len(body.plans) <= 2  # Gather of one row is another plan
    assert loaded({"x": floats(0, 2, 5)})["rows"].shape[0] == 0


@pytest.mark.parametrize("way", ["one segment", "a state that becomes another", "a branch"])
def test_what_passes_give(way: str) -> None:
    """States as they were before a pass, its number, and a state that was another one before."""
    nodes = [
        node("Identity", "on", gives="on'"),
        node("Identity", "a", gives="before"),
        node("Cast", "i", gives="number", to=FLOAT),
    ]
    if way == "a branch":
        halves = [graph(op, [node(op, "a", gives=op)], [], [value(op, FLOAT, ["n", 4])]) for op in ("Tanh", "Exp")]
        nodes += [node("Mod", "i", "two", gives="odd"), node("Cast", "odd", gives="is_odd", to=BOOL)]
        nodes += [node("If", "is_odd", gives="a'", then_branch=halves[0], else_branch=halves[1])]
    else:
        nodes += [node("Add", "number", "a", gives="m"), node("Add", "m", "b", gives="s"), node("Cos", "s", gives="a'")]
    nodes += [node("Identity", "b" if way == "one segment" else "a", gives="b'")]
    rows = {name: value(name, FLOAT, ["n", 4]) for name in ("a", "b", "a'", "b'", "before")}
    inputs = [value("i", INT64, []), value("on", BOOL, []), rows["a"], rows["b"]]
    results = [value("on'", BOOL, []), rows["a'"], rows["b'"], rows["before"], value("number", FLOAT, [])]
    loop = node("Loop", "k", "", "x", "x", gives="a_end b_end all numbers", body=graph("body", nodes, inputs, results))
    outputs = ("a_end", "b_end", "all", "numbers")
    inputs = [value("x", FLOAT, ["n", 4]), value("count", INT64, [1])]
    message = model([node("Squeeze", "count", gives="k"), loop], inputs, outputs, two=np.array(2))
    loaded = pysimd.load(message)
    for n, count in ((3, 5), (3, 2), (2, 12), (3, 1)):
        given = {"x": floats(n, 4, seed=count), "count": np.array([count])}
        assert_same(loaded(given), expected(message, given))


def crossed() -> Any:
    """A loop whose steps read states after the next ones are there; two of these are one result, and one does not change."""
    nodes = [
        node("Identity", "on", gives="on'"),
        node("MatMul", "b", "w", gives="p"), node("Tanh", "p", gives="a'"), node("MatMul", "a'", "w", gives="q"),
        node("Add", "q", "a", gives="r"), node("Tanh", "r", gives="b'"), node("Sub", "b'", "b", gives="s"),
        node("Add", "s", "c", gives="t"), node("Add", "t", "d", gives="u"), node("Cos", "u", gives="c'"),
        node("Sub", "a", "c'", gives="row"),
    ]  # fmt: skip
    names = ("a", "b", "c", "d", "e")
    results = ("a'", "b'", "c'", "a''", "e'", "row", "before")  # d gets the new value of a
    inputs = [value("i", INT64, []), value("on", BOOL, []), *(value(name, FLOAT, [3, 4]) for name in names)]
    nodes += [node("Identity", old, gives=new) for old, new in (("a'", "a''"), ("e", "e'"), ("b", "before"))]
    body = graph("body", nodes, inputs, [value("on'", BOOL, []), *(value(name, FLOAT, [3, 4]) for name in results)])
    outputs = ("a_end", "b_end", "c_end", "d_end", "e_end", "rows", "before_all")
    loop = node("Loop", "k", "", "x", "x", "x", "x", "x", gives=" ".join(outputs), body=body)
    inputs = [value("x", FLOAT, [3, 4]), value("count", INT64, [1])]
    return model([node("Squeeze", "count", gives="k"), loop], inputs, outputs, w=floats(4, 4))


@pytest.mark.parametrize("make", [crossed, lambda: lstm(8, 4)])
def test_states_without_copies(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bits of states that are copied, at each number of passes; neither inputs nor earlier results are written."""
    found: dict[int, list[Any]] = {}
    for most in (0, 1 << 60):  # bytes that are copied before
        monkeypatch.setattr(carried, "_MOST_COPIED", most)
        loaded, found[most] = pysimd.load(make()), []
        for count in (5, 1, 2, 3, 8, 9, 5):
            x = floats(3, 4) if make is crossed else floats(count, 3, 4)
            given = {"x": x.copy(), "count": np.array([count])} if make is crossed else {"x": x.copy()}
            results = loaded(given)
            np.testing.assert_array_equal(given["x"], x)
            found[most].append((results, {name: array.copy() for name, array in results.items()}))
            assert_same(results, expected(make(), given))
        run: Any = loaded.prepare({"x": x.shape})
        body = run._course.parts[-1].body
        idle = [runner for part in body.parts for opened in part.opened for runner in opened._runners._idle.values()]
        assert any(runner.spare.sides for each in idle for runner in each) == (most == 0)
    for one, other in zip(*found.values()):
        for name, array in one[1].items():
            np.testing.assert_array_equal(one[0][name], array)
            np.testing.assert_array_equal(other[0][name], array)


def decoder(bound: bool) -> Any:
    """Tokens that a state chooses, one after the other, until the last token is chosen."""
    body = graph(
        "body",
        [
            node("MatMul", "state", "w", gives="p"),
            node("Gather", "table", "token", gives="row"),
            node("Add", "p", "row", gives="sum"),
            node("Tanh", "sum", gives="state'"),
            node("MatMul", "state'", "out", gives="scores"),
            node("ArgMax", "scores", gives="best", axis=0, keepdims=0),
            node("Concat", "tokens", "best1", gives="tokens'", axis=0),
            node("Equal", "best", "end", gives="ended"),
            node("Not", "ended", gives="on'"),
        ],
        [value("i", INT64, []), value("on", BOOL, []), value("token", INT64, []), value("state", FLOAT, [8]),
         value("tokens", INT64, ["n"])],
        [value("on'", BOOL, []), value("best", INT64, []), value("state'", FLOAT, [8]), value("tokens'", INT64, ["m"])],
    )  # fmt: skip
    body.node.insert(6, node("Unsqueeze", "best", "axis", gives="best1"))
    loop = node("Loop", "limit" if bound else "", "true", "token", "x", "none", gives="last state tokens", body=body)
    weights = {"w": floats(8, 8), "table": floats(6, 8, seed=2), "out": floats(8, 6, seed=5), "axis": np.array([0])}
    weights |= {"end": np.array(3), "true": np.array(True), "none": np.zeros(0, np.int64), "limit": np.array(12)}
    inputs = [value("x", FLOAT, [8]), value("token", INT64, [])]
    return model([loop], inputs, [value("state", FLOAT), value("tokens", INT64)], **weights)


def test_a_greedy_decoder() -> None:
    """Its states grow; the number of passes depends on the input."""
    message = decoder(True)
    loaded, lengths = pysimd.load(message), set()
    for seed in range(12):
        given = {"x": 3 * floats(8, seed=seed), "token": np.array(seed % 6)}
        found = loaded(given)
        assert_same(found, expected(message, given))
        lengths.add(len(found["tokens"]))
    assert len(lengths) > 2


def test_a_loop_without_a_bound() -> None:
    message = decoder(False)
    loaded = pysimd.load(message)
    run = loaded.prepare()
    ended = []
    run.most_passes = 4
    for seed in range(12):
        given = {"x": 3 * floats(8, seed=seed), "token": np.array(seed % 6)}
        wanted = pysimd.load(decoder(True))(given)["tokens"]
        ended.append(len(wanted) <= 4)
        if ended[-1]:
            np.testing.assert_array_equal(run(given)["tokens"], wanted)
        else:
            with pytest.raises(ValueError, match="has no bound, and has run 4 times, the limit, which most_passes"):
                run(given)
    assert set(ended) == {True, False}


# ---- bad input


def branches(first: Any, second: Any, kinds: tuple[int, int] = (FLOAT, FLOAT)) -> Any:
    graphs = [graph(each.output[0], [each], [], [value(each.output[0], kind)]) for each, kind in zip((first, second), kinds)]
    sums = [node("ReduceSum", "x", gives="sum", keepdims=0), node("Greater", "sum", "level", gives="c")]
    inputs = [value("x", FLOAT, ["n", 4]), value("count", INT64, [1])]
    return model([*sums, node("If", "c", then_branch=graphs[0], else_branch=graphs[1])], inputs, level=np.float32(0))


def test_bad_input() -> None:
    """A sentence; a good run after it is right."""
    x = floats(3, 4)
    filled = pysimd.load(counts(node("ConstantOfShape", "count", gives="c"), node("Add", "c", "c")))
    for bad, sentence in ((-3, "the result would have the shape"), (1 << 40, "the result would have the shape")):
        with pytest.raises(ValueError, match=sentence):
            filled({"x": x, "count": np.array([bad])})
        assert filled({"x": x, "count": np.array([2])})["y"].tolist() == [0, 0]
    other = branches(node("Neg", "x", gives="a"), node("Shape", "x", gives="b"), (FLOAT, INT64))
    with pytest.raises(
        ValueError, match=r"the branches of the node 'y' \(If\) have results of float32 and int64: 'a' and 'b'"
    ):
        pysimd.load(other).prepare({"x": (3, 4)})
    run = pysimd.load(branches(node("Neg", "x", gives="a"), node("Abs", "x", gives="b"))).prepare({"x": (3, 4)})
    for given, sentence in (
        ({"x": floats(2, 4), "count": np.array([1])}, r"x has shape \(2, 4\), expected \(3, 4\)"),
        ({"x": x.astype(np.float64), "count": np.array([1])}, "x has dtype float64, expected float32"),
        ({"x": x}, "the input 'count' is missing"),
        ({"x": x, "count": np.array([1]), "z": x}, "'z' is not an input"),
    ):
        with pytest.raises((ValueError, TypeError), match=sentence):
            run(given)
    np.testing.assert_array_equal(run({"x": x + 2, "count": np.array([1])})["y"], -(x + 2))
    np.testing.assert_array_equal(run({"x": x - 2, "count": np.array([1])})["y"], abs(x - 2))


def test_rows_of_a_loop_that_change() -> None:
    """What is collected must have one shape; what is carried may change."""
    nodes = [node("Concat", "s", "s", gives="s'", axis=0), node("Identity", "on", gives="on'"), node("Neg", "s'", gives="r")]
    inputs = [value("i", INT64, []), value("on", BOOL, []), value("s", FLOAT, ["n", 4])]
    body = graph("body", nodes, inputs, [value("on'", BOOL, []), value("s'"), value("r")])
    count = node("Squeeze", "count", gives="k")
    loaded = pysimd.load(counts(count, node("Loop", "k", "", "x", gives="y rows", body=body)))
    assert loaded({"x": floats(2, 4), "count": np.array([3])})["y"].shape == (16, 4)
    message = counts(count, node("Loop", "k", "", "x", gives="z y", body=body))
    with pytest.raises(
        ValueError, match=r"'r' of the node 'y' \(Loop\) is float32 \(8, 4\) in pass 1, and was float32 \(4, 4\)"
    ):
        pysimd.load(message)({"x": floats(2, 4), "count": np.array([3])})
    assert pysimd.load(message)({"x": floats(2, 4), "count": np.array([1])})["y"].shape == (1, 4, 4)


def test_unknown_operators_are_refused_at_once() -> None:
    """Within branches, too, before anything runs."""
    first, second = node("Neg", "x", gives="a"), helper.make_node("Own", ["x"], ["b"], "inner", domain="mine")
    message = branches(first, second)
    message.opset_import.append(helper.make_opsetid("mine", 1))
    with pytest.raises(UnsupportedModel):
        pysimd.load(message).prepare({"x": (3, 4)})
    typed = model([node("Identity", "x")], [value("x", 14, ["n"])])
    typed.graph.node.insert(0, node("NonZero", "x", gives="z"))
    typed.graph.output.append(value("z", INT64))
    with pytest.raises(UnsupportedModel, match="its type is type 14 of ONNX"):
        pysimd.load(typed)({"x": floats(3)})
    body = graph("body", [node("Neg", "own", gives="b")], [value("own", FLOAT)], [value("b")])
    inner = model([helper.make_node("Own", ["x"], ["y"], "outer", domain="mine", body=body)], [value("x", FLOAT, [3])])
    inner.opset_import.append(helper.make_opsetid("mine", 1))
    with pytest.raises(UnsupportedModel, match=r"mine\.Own: the operator is not known"):
        pysimd.load(inner).prepare()
    run = pysimd.load(message, fallback={"mine.Own": lambda x: 3 * x}).prepare({"x": (3, 4)})
    x = floats(3, 4) - 2
    np.testing.assert_array_equal(run({"x": x, "count": np.array([1])})["y"], 3 * x)


# ---- what is shown, and commands


def test_reports(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    loaded = pysimd.load(lstm(8, 5))
    assert "all operators are supported" in str(loaded)
    run = loaded.prepare({"x": (7, 2, 5)})
    assert "loop: Loop 'last'" in str(run) and "segment of" in str(run)
    inside = [line for line in run.report().splitlines() if "Gather, Concat, MatMul" in line]
    assert inside[0].split()[0] == "7"  # passes
    file = tmp_path / "lstm.onnx"
    onnx.save(lstm(8, 5), file)
    assert main(["run", str(file), "--shape", "x:7,2,5", "--random", "--report", str(tmp_path / "page.html")]) == 0
    text = capsys.readouterr().out
    assert "rows: float32 (7, 2, 8)" in text and "loop: Loop 'last'" in text
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<h1>lstm.onnx</h1>" in page and "loop: Loop &#x27;last&#x27;" in page


def test_no_sizes_are_integers() -> None:
    """A part of a shape that is empty, which another segment joins with sizes."""
    nodes = [
        node("Relu", "x", gives="r"), node("Shape", "r", gives="s"), node("Slice", "s", "two", "many", "zero", gives="none"),
        node("NonZero", "r", gives="places"), node("Shape", "places", gives="t"),
        node("Concat", "t", "none", gives="u", axis=0), node("Reshape", "places", "u"),
    ]  # fmt: skip
    weights = {"two": np.array([2]), "many": np.array([99]), "zero": np.array([0])}
    loaded = pysimd.load(model(nodes, [value("x", FLOAT, ["n", "m"])], [value("y", INT64, None)], **weights))
    for shape in ((2, 3), (1, 4)):
        x = floats(*shape)
        np.testing.assert_array_equal(loaded(x)["y"], np.array(np.nonzero(x > 0)))


def rows_of_nonzero() -> Any:
    """A segment behind NonZero, whose inputs have as many columns as x has elements that are not 0."""
    nodes = [helper.make_node("NonZero", ["x"], ["at"]), helper.make_node("Cast", ["at"], ["y"], to=1)]
    nodes += [helper.make_node("Relu", ["y"], ["z"]), helper.make_node("Exp", ["z"], ["e"])]
    return model(nodes, [value("x", FLOAT, ["n"])], [value("e", FLOAT, None)])


def test_limits_reach_segments() -> None:
    loaded = pysimd.load(rows_of_nonzero())
    for count in range(1, 21):
        loaded(np.ones(count, np.float32))
    (opened,) = (opened for segment in segments(loaded._course) for opened in segment.opened)
    assert len(opened.kept) == 20 and loaded.kept_bytes == opened.kept_bytes > 0
    loaded.most_shapes = 3
    assert len(opened.kept) == 3
    loaded(np.ones(30, np.float32))
    assert len(opened.kept) == 3
    loaded.trim()
    assert len(opened.kept) == 1
    again = pickle.loads(pickle.dumps(loaded))
    run = again.prepare()
    assert (again.most_shapes, run.most_shapes, run.most_bytes) == (3, 3, 1 << 30)
    run.most_bytes = 0
    for count in range(1, 5):
        run(np.ones(count, np.float32))
    assert [len(each.kept) for segment in segments(run) for each in segment.opened] == [1]
    with pytest.raises(ValueError, match="most_shapes is 0, expected at least 1"):
        run.most_shapes = 0


def test_shapes_with_a_plan_keep_it() -> None:
    """Where other shapes, or a look for what is not supported, have made a course."""
    few = helper.make_graph([helper.make_node("Neg", ["x"], ["a"])], "t", [], [value("a", FLOAT, None)])
    more = [helper.make_node("NonZero", ["x"], ["at"]), helper.make_node("Cast", ["at"], ["b"], to=1)]
    nodes = [
        helper.make_node("Size", ["x"], ["size"]),
        helper.make_node("Less", ["size", "five"], ["is_few"]),
        helper.make_node(
            "If", ["is_few"], ["y"], then_branch=few, else_branch=graph("e", more, [], [value("b", FLOAT, None)])
        ),
    ]
    loaded = pysimd.load(model(nodes, [value("x", FLOAT, ["n", "m"])], [value("y", FLOAT, None)], five=np.int64(5)))
    assert "all operators are supported" in str(loaded)  # of a course, for the sizes that are tried
    for shape in ((1, 3), (2, 3), (1, 3), (1, 4), (3, 3)):
        x = np.ones(shape, np.float32)
        np.testing.assert_array_equal(loaded(x)["y"], -x if x.size < 5 else np.stack(np.nonzero(x)).astype(np.float32))
        assert loaded.kept == [{"x": (1, 3)}]  # others are not tried once a call has needed the course


def test_results_share_no_memory() -> None:
    """Neither with inputs nor with each other, also those in sequences."""
    nodes = [
        helper.make_node("SequenceConstruct", ["x", "x"], ["s"]),
        helper.make_node("SequenceAt", ["s", "i"], ["y"]),
    ]
    inputs = [helper.make_tensor_value_info("x", 1, [3, 4]), helper.make_tensor_value_info("i", 7, [])]
    outputs = [helper.make_tensor_sequence_value_info("s", 1, None), helper.make_tensor_value_info("y", 1, None)]
    graph = helper.make_graph(nodes, "net", inputs, outputs)
    loaded = pysimd.load(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9))
    x = np.ones((3, 4), np.float32)
    for run in (loaded, loaded.prepare({"x": (3, 4), "i": ()})):
        found = run({"x": x, "i": np.int64(1)})
        arrays = [x, *found["s"], found["y"]]
        for i, one in enumerate(arrays):
            assert not any(np.shares_memory(one, other) for other in arrays[i + 1 :])
            np.testing.assert_array_equal(one, x)
