"""Programs in C of models whose course depends on values: branches and loops have the bits of Python."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pysimd
from pysimd.__main__ import main
from pysimd.network.c import carried as c_carried
from support import COMPILER, ROOT, Array

onnx = pytest.importorskip("onnx", reason="ONNX files need the package onnx")

from network.random_courses import ROWS, WIDTH, feeds, random_course  # noqa: E402
from network.test_course import crossed, graph, lstm  # noqa: E402
from network.test_detectors import detector  # noqa: E402
from network.test_values import BOOL, FLOAT, INT64, floats, model, node, value  # noqa: E402

pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")

FLAGS = "-std=c99 -Wall -Wextra -Wconversion -Wshadow -Werror -pedantic -O0"


def built(folder: Path, *options: str) -> Path:
    build = Path(pysimd._library.LIBRARY_PATH).parent
    paths = [f"-I{ROOT / 'include'}", f"-L{build}", f"-Wl,-rpath,{build}"]
    files = ["main.c", "net.c", "-lsimdnet", "-lm", "-o", "net"]
    subprocess.run([COMPILER or "cc", *FLAGS.split(), *options, *paths, *files], cwd=folder, check=True)
    return folder / "net"


def compare(message: Any, shapes: Any, given: list[dict[str, Array]], folder: Path, layout: str = "nchw") -> None:
    """The program beside Python, for inputs whose values change."""
    loaded = pysimd.load(message)
    loaded.compile(folder, shapes, name="net", layout=layout, most_passes=8)
    program, runner = built(folder), loaded.prepare(shapes, layout=layout)
    for inputs in given:
        files = [f"{name}.in" for name in loaded.inputs]
        for name, file in zip(loaded.inputs, files):
            np.ascontiguousarray(inputs[name]).tofile(folder / file)
        subprocess.run([program, "net.bin", *files], cwd=folder, capture_output=True, check=True)
        for i, (name, array) in enumerate(runner(inputs).items()):
            found = np.fromfile(folder / f"{i}.out", array.dtype)
            np.testing.assert_array_equal(found[: array.size].reshape(array.shape), array, err_msg=name)


def part(name: str, nodes: list[Any], *outputs: str) -> Any:
    """A graph without inputs."""
    return graph(name, nodes, [], [value(each) for each in outputs])


@pytest.mark.parametrize("seed", [1, 4, 6, 17])
def test_random_models(seed: int, tmp_path: Path) -> None:
    """Branches and loops within each other."""
    compare(random_course(seed, fixed=True), {"x": (ROWS, WIDTH), "count": ()}, feeds(seed, fixed=True), tmp_path)


def test_branches(tmp_path: Path) -> None:
    """On an input and on what is computed, within each other; results that are inputs and constants."""
    inner = node(
        "If", "positive", gives="q", then_branch=part("a", [node("Exp", "x", gives="e")], "e"),
        else_branch=part("b", [node("Neg", "x", gives="n")], "n"),
    )  # fmt: skip
    nodes = [
        node("ReduceSum", "x", gives="sum", keepdims=0),
        node("Greater", "sum", "zero", gives="positive"),
        node("Equal", "which", "one", gives="first"),
        node(
            "If", "first", gives="y z", then_branch=part("c", [inner, node("Tanh", "q", gives="t")], "t", "x"),
            else_branch=part("d", [node("MatMul", "x", "w", gives="m")], "m", "k"),
        ),
        node("Add", "y", "z", gives="s"),
    ]  # fmt: skip
    inputs = [value("x", FLOAT, [3, 4]), value("which", INT64, [])]
    weights = {"zero": np.float32(0), "one": np.array(1), "w": floats(4, 4), "k": floats(3, 4, seed=2)}
    message = model(nodes, inputs, ["s", "y", "x"], **weights)
    given = [{"x": sign * abs(floats(3, 4)), "which": np.array(which)} for sign in (1, -1) for which in (0, 1)]
    compare(message, None, given, tmp_path)


def test_a_branch_that_cannot_run(tmp_path: Path) -> None:
    """For these shapes: its error is that of the run that takes it."""
    wrong = part("w", [node("MatMul", "x", "x", gives="xx")], "xx")
    right = part("r", [node("Neg", "x", gives="n")], "n")
    message = model(
        [node("If", "on", then_branch=right, else_branch=wrong)], [value("x", FLOAT, ["n", "m"]), value("on", BOOL, [])]
    )
    loaded = pysimd.load(message)
    shapes, x = {"x": (3, 4), "on": ()}, floats(3, 4)
    loaded.compile(tmp_path, shapes, name="net")
    program, run = built(tmp_path), loaded.prepare(shapes)
    x.tofile(tmp_path / "x")
    for on in (True, False):
        np.array(on).tofile(tmp_path / "on")
        done = subprocess.run([program, "net.bin", "x", "on"], cwd=tmp_path, capture_output=True, text=True)
        if on:
            np.testing.assert_array_equal(np.fromfile(tmp_path / "0.out", np.float32).reshape(3, 4), -x)
            continue
        with pytest.raises(ValueError, match="MatMul") as error:
            run({"x": x, "on": np.array(on)})
        (reason,) = (each.reason for each in error.value.nodes)  # type: ignore[attr-defined]
        assert done.returncode == 1 and done.stderr == f"the node 'y' (If): {reason}\n"


# ---- loops


def counting(trips: str, width: int = 4) -> Any:
    """States that change places, the number of the pass, and a sum that ends the loop."""
    size = [3, width]
    nodes = [
        node("Identity", "a", gives="before"),
        node("Cast", "i", gives="number", to=FLOAT),
        node("Add", "number", "b", gives="sum"),
        node("Cos", "sum", gives="b'"),
        node("ReduceSum", "b'", gives="total", keepdims=0),
        node("Greater", "total", "level", gives="on'"),
    ]
    states = [value(name, FLOAT, size) for name in ("a", "b")]
    results = [
        value("b'", FLOAT, size),
        value("a", FLOAT, size),
        value("before", FLOAT, size),
        value("number", FLOAT, []),
    ]
    body = graph("body", nodes, [value("i", INT64, []), value("on", BOOL, []), *states], [value("on'", BOOL, []), *results])
    gives = "a_end b_end before_all numbers"
    inputs = [value("x", FLOAT, size), value("level", FLOAT, []), value("count", INT64, [1]), value("start", BOOL, [])]
    loop = node("Loop", trips, "start", "x", "x", gives=gives, body=body)
    return model([loop], inputs, gives.split(), six=np.array(6))


@pytest.mark.parametrize("trips", ["", "count", "six"])
def test_numbers_of_passes(trips: str, tmp_path: Path) -> None:
    """That are computed, or end by a condition."""
    given: Any = [
        {"x": floats(3, 4, seed=k + 3), "level": np.float32(level), "count": np.array([k]), "start": np.array(start)}
        for k, level, start in ((2, -99, True), (0, -99, True), (5, 2, True), (4, 4, True), (-3, 2, True), (5, 2, False))
        if trips or level > 0
    ]
    compare(counting(trips), None, given, tmp_path)


#: The lines of a condition, the first numbers of a and b, which grow by 1 and by -3, and the number of passes, None without
#: a bound; n is the width of x, 400, and m is 7.
_COUNTED: dict[str, tuple[list[Any], tuple[int, int], int | None]] = {
    "less": ([node("Less", "a'", "n", gives="on'")], (390, 0), 10),
    "as tf2onnx writes": (
        [node("Less", "a'", "n", gives="p"), node("Less", "c'", "m", gives="q"), node("And", "p", "q", gives="on'")],
        (0, 0),
        7,
    ),
    "the number of the pass": ([node("LessOrEqual", "i", "seven", gives="on'")], (0, 0), 9),
    "the last a": ([node("LessOrEqual", "a", "m", gives="p"), node("Cast", "p", gives="on'", to=BOOL)], (0, 0), 9),
    "backwards": ([node("Greater", "b'", "m", gives="on'")], (0, 30), 8),
    "two that approach": ([node("GreaterOrEqual", "b'", "a'", gives="on'")], (0, 40), 11),
    "not": ([node("GreaterOrEqual", "a'", "m", gives="p"), node("Not", "p", gives="on'")], (2, 0), 5),
    "not either": (
        [
            node("Less", "b'", "m", gives="p"),
            node("Greater", "total", "level", gives="q"),
            node("Or", "p", "q", gives="r"),
            node("Not", "r", gives="on'"),
        ],
        (0, 20),
        5,
    ),
    "as floats": (
        [
            node("Cast", "a'", gives="p", to=FLOAT),
            node("Cast", "n", gives="q", to=FLOAT),
            node("Less", "p", "q", gives="on'"),
        ],
        (380, 0),
        20,
    ),
    "a number that is reached": ([node("Less", "a'", "n", gives="on'")], (400, 0), 0),
    "and a sum": (
        [node("Less", "total", "level", gives="p"), node("Less", "a'", "m", gives="q"), node("And", "p", "q", gives="on'")],
        (0, 0),
        7,
    ),
    "or a sum": (
        [node("Less", "level", "total", gives="p"), node("Less", "a'", "m", gives="q"), node("Or", "p", "q", gives="on'")],
        (0, 0),
        None,
    ),
    "away from it": ([node("Less", "b'", "m", gives="p"), node("Less", "total", "level", gives="q"),
                      node("And", "p", "q", gives="on'")], (0, 0), None),
    "a sum": ([node("Less", "total", "level", gives="on'")], (0, 0), None),
}  # fmt: skip


def counted(condition: list[Any], first: tuple[int, int], trips: str = "", behind: Sequence[Any] = ()) -> Any:
    """A loop with counters of 32 bits, of which so many rows as without a bound would take too much memory."""
    integers = [value(name, onnx.TensorProto.INT32, []) for name in "abc"]
    nodes = [
        node("Add", "a", "one", gives="a'"),
        node("Sub", "b", "three", gives="b'"),
        node("Add", "one", "c", gives="c'"),
        node("Cos", "s", gives="s'"),
        node("ReduceSum", "s'", gives="total", keepdims=0),
        *condition,
    ]
    state = value("s", FLOAT, [1, 400])
    results = [*(value(f"{name}'", onnx.TensorProto.INT32, []) for name in "abc"), value("s'", FLOAT, [1, 400]), state]
    body = graph(
        "body", nodes, [value("i", INT64, []), value("on", BOOL, []), *integers, state], [value("on'", BOOL, []), *results]
    )
    outer = [
        node("Shape", "x", gives="shape"),
        node("Gather", "shape", "last", gives="width"),
        node("Cast", "width", gives="n", to=onnx.TensorProto.INT32),
        node("Less", "a0", "n", gives="start"),
        node("Loop", trips, "start", "a0", "b0", "zero", "x", gives="a_end b_end c_end end rows", body=body),
        *behind,
    ]
    inputs = [value("x", FLOAT, [1, 400]), value("level", FLOAT, [])]
    weights: dict[str, Any] = {
        name: np.int32(n) for name, n in zip(("a0", "b0", "zero", "one", "three", "m"), (*first, 0, 1, 3, 7))
    }
    weights |= {"last": np.array(1), "large": np.array(2**63 - 1), "seven": np.array(7)}
    return model(outer, inputs, ["end", *(behind[-1].output if behind else ["rows"])], **weights)


@pytest.mark.parametrize("trips", ["", "large"])
@pytest.mark.parametrize("what", _COUNTED)
def test_conditions_that_count(what: str, trips: str, tmp_path: Path) -> None:
    """They are a bound of the number of rows; without one the limit of passes is."""
    condition, first, passes = _COUNTED[what]
    message = counted(condition, first, trips)
    given: Any = {"x": floats(1, 400), "level": np.float32(1e6)}
    if passes is None:
        with pytest.raises(ValueError, match=r"1000000 rows of 'rows', .*: most_passes sets another limit$"):
            pysimd.load(message).compile(tmp_path, name="net")
        return
    assert len(pysimd.load(message)(given)["rows"]) == passes
    compare(message, None, [given, {**given, "level": np.array(-1e6, np.float32)}], tmp_path)


@pytest.mark.parametrize("what", ["less", "as tf2onnx writes", "as floats", "two that approach"])
def test_rows_that_are_counted(what: str, tmp_path: Path) -> None:
    """Their number is known, so that anything can be computed of them."""
    condition, first, passes = _COUNTED[what]
    turned = node("Transpose", "rows", gives="turned", perm=[2, 1, 0])
    message = counted(condition, first, "", [turned, node("ReduceSum", "turned", "last", gives="sums")])
    given = {"x": floats(1, 400), "level": np.array(0, np.float32)}
    assert pysimd.load(message)(given)["sums"].shape == (400, 1, passes)
    compare(message, None, [given], tmp_path)


_MAIN = """
#include "net.h"
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char ** argv) {
    net * model = net_create("net.bin");
    int i;
    for (i = 1; i + 1 < argc; i += 2) {
        *NET_INPUT_level(model) = (float)atof(argv[i]);
        *NET_INPUT_count(model) = atoll(argv[i + 1]);
        *NET_INPUT_start(model) = 1;
        if (net_run(model, NULL, NULL)) printf("%lld\\n", NET_OUTPUT_numbers_ROWS(model));
        else printf("%s\\n", net_error());
    }
    net_destroy(model);
    return 0;
}
"""


@pytest.mark.parametrize("trips", ["", "count", "six"])
def test_the_number_of_rows_and_the_limit_of_passes(trips: str, tmp_path: Path) -> None:
    """The memory is for as many rows as the limit says; the limit is none for what has another bound."""
    loaded = pysimd.load(counting(trips))
    loaded.compile(tmp_path, name="net", most_passes=4)
    (tmp_path / "main.c").write_text(_MAIN)
    values = [(level, count) for level in (-99, 11.9) for count in (2, 4, 5, 0, 1 << 40)]
    words = [str(word) for each in values for word in each]
    done = subprocess.run([built(tmp_path), *words], cwd=tmp_path, capture_output=True, text=True, check=True)
    run, wanted = loaded.prepare(), []
    run.most_passes = 1000
    for level, count in values:
        given = {"x": np.zeros((3, 4), np.float32), "start": np.array(True)}
        try:
            passes = len(run({**given, "level": np.float32(level), "count": np.array([count])})["numbers"])
        except ValueError:  # more than the limit of Python
            passes = 1000
        is_short = passes <= (6 if trips == "six" else 4)
        wanted.append(passes if is_short else "the node 'a_end' (Loop): it has run 4 times, the limit of this program")
    assert done.stdout.split("\n")[:-1] == list(map(str, wanted)) and len(set(wanted)) > 1


def test_several_shapes_of_a_recurrent_layer(tmp_path: Path) -> None:
    """Whose number of passes is known, and which is another one for each shape."""
    loaded = pysimd.load(lstm(8, 5))
    shapes = [(7, 2, 5), (0, 2, 5), (3, 1, 5)]
    loaded.compile(tmp_path, [{"x": shape} for shape in shapes], name="net")
    words = ("NET", "NET_SHAPE1", "NET_SHAPE2")
    calls = "\n    ".join(f"show(m, {i}, {word}_OUTPUT_rows(m), {word}_OUTPUT_rows_SIZE);" for i, word in enumerate(words))
    (tmp_path / "main.c").write_text(f"""
#include "net.h"
#include <stdio.h>
static float x[70];
static void show(net * m, int shape, const float * data, size_t count) {{
    const void * in[1] = {{x}};
    if (net_run_shape(m, shape, in, NULL)) fwrite(data, sizeof(float), count, stdout);
}}
int main(void) {{
    net * m = net_create("net.bin");
    if (fread(x, sizeof(float), 70, stdin) != 70) return 1;
    {calls}
    net_destroy(m);
    return 0;
}}
""")
    x = floats(70)
    done = subprocess.run([built(tmp_path)], cwd=tmp_path, input=x.tobytes(), capture_output=True, check=True)
    wanted = [loaded({"x": x[: int(np.prod(shape))].reshape(shape)})["rows"] for shape in shapes]
    np.testing.assert_array_equal(
        np.frombuffer(done.stdout, np.float32), np.concatenate([each.reshape(-1) for each in wanted])
    )


def test_passes_whose_shapes_change(tmp_path: Path) -> None:
    """A state that grows, and a part of x as long as the number of the pass: the passes are written one after the other."""
    nodes = [
        node("Add", "i", "one", gives="count"),
        node("Unsqueeze", "count", "zeros", gives="counts"),
        node("Slice", "x", "zeros", "counts", "zeros", gives="part"),
        node("ReduceSum", "part", "zeros", gives="row", keepdims=0),
        node("Concat", "s", "part", gives="s'", axis=0),
        node("Less", "i", "last", gives="on'"),
    ]
    inputs = [value("i", INT64, []), value("on", BOOL, []), value("s", FLOAT, ["n", 4])]
    body = graph("body", nodes, inputs, [value("on'", BOOL, []), value("s'"), value("row")])
    weights = {"one": np.array(1), "zeros": np.array([0]), "many": np.array(9), "last": np.array(2)}
    loop = node("Loop", "many", "", "x", gives="end rows", body=body)
    message = model([loop], [value("x", FLOAT, [3, 4])], ["end", "rows"], **weights)
    compare(message, None, [{"x": floats(3, 4, seed=k)} for k in (1, 2)], tmp_path)


@pytest.mark.parametrize("layout", ["nchw", "nhwc"])
def test_a_scan_of_images(layout: str, tmp_path: Path) -> None:
    """Along other axes and backwards; inputs and outputs of four dimensions with channels last."""
    body = graph(
        "body",
        [
            node("Add", "s", "row", gives="t"),
            node("Tanh", "t", gives="s'"),
            node("Concat", "s'", "extra", gives="o", axis=0),
        ],
        [value("s", FLOAT, [2, 3, 4]), value("row", FLOAT, [2, 3, 4]), value("extra", FLOAT, [1, 3, 4])],
        [value("s'"), value("o"), value("row")],
    )
    scan = node(
        "Scan", "first", "x", "y", gives="end a b", body=body, num_scan_inputs=2, scan_input_axes=[2, -1],
        scan_input_directions=[1, 0], scan_output_axes=[-1, 1], scan_output_directions=[0, 1],
    )  # fmt: skip
    inputs = [value("first", FLOAT, [2, 3, 4]), value("x", FLOAT, [2, 3, 5, 4]), value("y", FLOAT, [1, 3, 4, 5])]
    given: Any = [
        {"first": floats(2, 3, 4), "x": floats(2, 3, 5, 4, seed=k), "y": floats(1, 3, 4, 5, seed=k)} for k in (2, 3)
    ]
    if layout == "nhwc":
        given = [{name: each.transpose(0, 2, 3, 1) if each.ndim == 4 else each for name, each in of.items()} for of in given]
    compare(model([scan], inputs, ["end", "a", "b"]), None, given, tmp_path, layout)


@pytest.mark.parametrize("hidden", [8, 32])
def test_states_that_change_places(hidden: int, tmp_path: Path) -> None:
    """Large states are not copied; for odd and even numbers of passes."""
    for steps in (1, 4, 5):
        folder = tmp_path / str(steps)
        folder.mkdir()
        given = [{"x": floats(steps, 2, 5, seed=seed)} for seed in (2, 3)]
        compare(lstm(hidden, 5), {"x": (steps, 2, 5)}, given, folder)
    assert ("m->places[3]" in (folder / "net.c").read_text()) == (hidden == 32)


def test_states_that_cross(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read after their next values are there; also of a loop in a loop, whose result is the state of the outer one."""
    monkeypatch.setattr(c_carried, "_MOST_COPIED", 0)
    for name, message in (("crossed", crossed()), ("nested", nested_states())):
        folder = tmp_path / name
        folder.mkdir()
        given = [{"x": floats(3, 4, seed=n), "count": np.array([n])} for n in (0, 1, 2, 5, 8)]
        compare(message, {"x": (3, 4), "count": (1,)}, given, folder)
        assert "m->places[3]" in (folder / "net.c").read_text()


def nested_states() -> Any:
    """A loop whose states are the last ones of a loop in it, and what follows this."""

    def body(nodes: list[Any], names: str, results: str) -> Any:
        states = [value(name, FLOAT, [3, 4]) for name in (*names.split(), *results.split())]
        count, on = value("i", INT64, []), value("on", BOOL, [])
        end = node("Identity", "on", gives="go")
        half = len(states) // 2
        return graph("body", [*nodes, end], [count, on, *states[:half]], [value("go", BOOL, []), *states[half:]])

    inner = [node("MatMul", "a", "w", gives="p"), node("Tanh", "p", gives="q"), node("Add", "q", "b", gives="r")]
    inner += [node("Cos", "r", gives="s")]
    outer = [node("Loop", "two", "", "c", "d", gives="e f", body=body(inner, "a b", "s q")), node("Sin", "e", gives="g")]
    loop = node("Loop", "k", "", "x", "x", gives="y z", body=body(outer, "c d", "f g"))
    inputs = [value("x", FLOAT, [3, 4]), value("count", INT64, [1])]
    return model([node("Squeeze", "count", gives="k"), loop], inputs, ["y", "z"], w=floats(4, 4), two=np.array(3))


def test_scan_of_opset_8(tmp_path: Path) -> None:
    """With an axis of the batch before all others; also within a loop."""
    nodes = [node("Add", "s", "u", gives="t"), node("Tanh", "t", gives="s'"), node("Mul", "s'", "w", gives="o")]
    rows = {name: value(name, FLOAT, [4]) for name in ("s", "u", "s'", "o")}
    body = graph("body", nodes, [rows["s"], rows["u"]], [rows["s'"], rows["o"]])
    ways = {"num_scan_inputs": 1, "directions": [1]}
    scan = node("Scan", "", "first", "x", gives="end all", body=body, **ways)
    inner = node("Scan", "", "a", "x", gives="a' r", body=body, **ways)
    states = [value(name, FLOAT, [3, 4]) for name in ("a", "a'")]
    of_pass = [value("i", INT64, []), value("on", BOOL, []), states[0]]
    looped = graph("outer", [inner, node("Identity", "on", gives="on'")], of_pass, [value("on'", BOOL, []), states[1]])
    nodes = [scan, node("Loop", "two", "", "end", gives="last", body=looped)]
    inputs = [value("first", FLOAT, [3, 4]), value("x", FLOAT, [3, 5, 4])]
    message = model(nodes, inputs, ["end", "all", "last"], w=floats(4), two=np.array(2))
    message.opset_import[0].version = 8
    given: Any = [{"first": floats(3, 4, seed=k), "x": floats(3, 5, 4, seed=k + 2)} for k in (2, 3)]
    compare(message, None, given, tmp_path)
    state, x, w = given[0]["first"], given[0]["x"], floats(4)
    all_rows = []
    for i in reversed(range(5)):
        state = np.tanh(state + x[:, i])
        all_rows.append(state * w)
    found = pysimd.load(message)(given[0])
    np.testing.assert_allclose(found["end"], state, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found["all"], np.stack(all_rows, 1), rtol=1e-5, atol=1e-6)


# ---- what is chosen


def test_a_detector(tmp_path: Path) -> None:
    """The boxes that NonMaxSuppression leaves, with scores and classes, of images with other numbers of them."""
    images = [{"image": floats(1, 3, 96, 96, seed=seed) * 2} for seed in range(5)]
    compare(detector(), None, images, tmp_path)
    counts = {len(pysimd.load(detector())(image)["found"]) for image in images}
    assert len(counts) > 2


@pytest.mark.parametrize("center", [0, 1])
def test_boxes_with_limits_that_are_computed(center: int, tmp_path: Path) -> None:
    nodes = [node("NonMaxSuppression", "boxes", "scores", "most", "overlap", "least", center_point_box=center)]
    given: Any = []
    for most, overlap, least in ((3, 0.3, 0.1), (100, 0.9, -2), (0, 0.5, 0), (-4, 0.5, 0), (2, 0, 0.5)):
        boxes = np.random.default_rng(len(given)).uniform(0, 5, (2, 12, 4)).astype(np.float32)
        given.append({"boxes": boxes, "scores": floats(2, 3, 12, seed=len(given) + 1), "most": np.array([most])})
        given[-1].update(overlap=np.array([overlap], np.float32), least=np.array([least], np.float32))
    inputs = [value("boxes", FLOAT, [2, 12, 4]), value("scores", FLOAT, [2, 3, 12]), value("most", INT64, [1])]
    inputs += [value(name, FLOAT, [1]) for name in ("overlap", "least")]
    compare(model(nodes, inputs, [value("y", INT64)]), None, given, tmp_path)


@pytest.mark.parametrize("shape", [(), (7,), (3, 4), (2, 3, 4), (2, 0)])
def test_places_of_what_is_not_zero(shape: tuple[int, ...], tmp_path: Path) -> None:
    """All of them, none and some; the shape of the output is that of its first elements."""
    given: Any = [{"x": np.zeros(shape, np.float32)}, {"x": np.ones(shape, np.float32)}]
    given += [{"x": floats(*shape, seed=seed).clip(0)} for seed in range(3)]
    compare(model([node("NonZero", "x")], [value("x", FLOAT, list(shape))], [value("y", INT64)]), None, given, tmp_path)


_KINDS = {"float32": FLOAT, "int64": INT64, "bool": BOOL, "int8": onnx.TensorProto.INT8}


@pytest.mark.parametrize("dtype", _KINDS)
@pytest.mark.parametrize(
    ("shape", "axis"), [((), None), ((7,), 0), ((3, 4), None), ((2, 3, 4), -2), ((4, 0), 0), ((0, 2), 0)]
)
def test_parts_that_a_condition_takes(shape: tuple[int, ...], axis: int | None, dtype: str, tmp_path: Path) -> None:
    """All of them, none and some, of a condition that is shorter than the dimension."""
    count = int(np.prod(shape)) if axis is None else shape[axis]
    length, given = max(count - 1, 1), []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        takes = [np.zeros(length, bool), np.ones(length, bool)][seed] if seed < 2 else rng.random(length) < 0.5
        given.append({"x": rng.integers(-3, 4, shape).astype(dtype), "takes": takes & (count > 0)})
    inputs = [value("x", _KINDS[dtype], list(shape)), value("takes", BOOL, [length])]
    attributes: Any = {} if axis is None else {"axis": axis}
    compare(
        model([node("Compress", "x", "takes", **attributes)], inputs, [value("y", _KINDS[dtype])]), None, given, tmp_path
    )


def test_a_condition_beyond_the_end(tmp_path: Path) -> None:
    """Python refuses it likewise."""
    inputs = [value("x", FLOAT, [3]), value("takes", BOOL, [5])]
    message = model([node("Compress", "x", "takes", name="c", axis=0)], inputs, [value("y")])
    takes = np.array([True, False, True, False, False])
    compare(message, None, [{"x": floats(3), "takes": takes}], tmp_path)
    takes[4] = True
    found = failed(tmp_path, {"x": floats(3), "takes": takes})
    assert "the node 'c' (Compress): its condition takes more than 3 parts" in found
    with pytest.raises(ValueError, match="the node 'c'"):
        pysimd.load(message)({"x": floats(3), "takes": takes})


def test_a_known_condition_behind_what_is_chosen(tmp_path: Path) -> None:
    """It is part of a segment, of which each row is computed by itself."""
    nodes = [node("NonZero", "x", gives="places"), node("Compress", "places", "takes", gives="y", axis=0)]
    message = model(nodes, [value("x", FLOAT, [4, 5])], [value("y", INT64)], takes=np.array([False, True]))
    compare(message, None, [{"x": floats(4, 5, seed=seed).clip(0)} for seed in range(3)], tmp_path)


@pytest.mark.parametrize(("dtype", "ordered"), [("float32", 0), ("float32", 1), ("int64", 0), ("bool", 1)])
@pytest.mark.parametrize(
    ("shape", "axis"), [((), None), ((9,), 0), ((3, 5), None), ((5, 2), 0), ((2, 6, 2), -2), ((3, 0), 0), ((0,), 0)]
)
def test_what_is_different(shape: tuple[int, ...], axis: int | None, dtype: str, ordered: int, tmp_path: Path) -> None:
    """All outputs, of few values and of equal ones; floats have NaN and both zeros."""
    given = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        few = rng.integers(0, seed + 1, shape).astype(dtype)
        if dtype == "float32" and seed:
            few = np.asarray(rng.choice(np.array([0, -0.0, 1, np.nan, -np.inf, 2], dtype), shape), dtype)
        given.append({"x": few})
    attributes: Any = {} if axis is None else {"axis": axis}
    unique = node("Unique", "x", gives="y first of counts", sorted=ordered, **attributes)
    outputs = [value("y", _KINDS[dtype]), *(value(name, INT64) for name in ("first", "of", "counts"))]
    compare(model([unique], [value("x", _KINDS[dtype], list(shape))], outputs), None, given, tmp_path)


def _largest(dtype: str, shape: Any, **attributes: Any) -> Any:
    """Elements of x and of its negative; k is computed; nodes before, between and behind."""
    nodes = [
        node("Shape", "x", gives="sizes"), node("Add", "count", "one", gives="k"),
        node("Reshape", "x", "sizes", gives="same"), node("TopK", "same", "k", gives="y places", **attributes),
        node("Neg", "x", gives="negative"), node("TopK", "negative", "k", gives="least which", **attributes),
        node("Reshape", "negative", "sizes", gives="other"), node("Neg", "y", gives="less"),
    ]  # fmt: skip
    outputs = [value(name, _KINDS[dtype]) for name in ("y", "least", "other", "less")]
    outputs += [value(name, INT64) for name in ("places", "which")]
    return model(nodes, [value("x", _KINDS[dtype], list(shape)), value("count", INT64, [1])], outputs, one=np.array([1]))


@pytest.mark.parametrize("dtype", ["float32", "int64", "int8"])
@pytest.mark.parametrize(
    ("shape", "attributes"), [((5,), {}), ((3, 4), {"axis": 0, "largest": 0}), ((2, 6, 3), {"axis": 1, "sorted": 0})]
)
def test_as_many_of_the_largest_as_computed(dtype: str, shape: Any, attributes: Any, tmp_path: Path) -> None:
    count = shape[attributes.get("axis", -1)]
    given = [
        {"x": np.random.default_rng(k).integers(-9, 9, shape).astype(dtype), "count": np.array([k - 1])}
        for k in (1, count, 0, 2, count - 1)
    ]
    compare(_largest(dtype, shape, **attributes), None, given, tmp_path)
    for wrong in (-2, count):
        found = failed(tmp_path, {**given[0], "count": np.array([wrong])})
        assert f"(TopK): k is not within 0 .. {count}" in found


def failed(folder: Path, inputs: dict[str, Array]) -> str:
    """What a program says that ends with an error; inputs are in the order of the model."""
    files = [f"{name}.in" for name in inputs]
    for file, array in zip(files, inputs.values()):
        np.ascontiguousarray(array).tofile(folder / file)
    result = subprocess.run([folder / "net", "net.bin", *files], cwd=folder, capture_output=True, text=True)
    assert result.returncode
    return result.stderr


#: Nodes behind `places` (2, n) of x (4, 5), and the indices `at` (n,) of its rows; what each of them gives is an output.
_BEHIND = {
    "moved": [node("Transpose", "places", gives="turned"), node("GatherND", "x", "turned", gives="y")],
    "picked": [node("Gather", "x", "at", gives="rows"), node("Gather", "rows", "two", axis=1, gives="y")],
    "across": [node("Gather", "x", "at", axis=1, gives="columns"), node("ReduceMax", "columns", axes=[0], keepdims=0)],
    "shapes": [
        node("Unsqueeze", "at", "second", gives="column"), node("Concat", "column", "column", gives="pairs", axis=1),
        node("Reshape", "pairs", "pair", gives="same"), node("Flatten", "same", gives="flat"),
        node("Slice", "flat", "one", "both", "second", gives="part"), node("Squeeze", "part", "second", gives="y"),
    ],
    "numbers": [
        node("Gather", "x", "at", gives="rows"), node("Mul", "rows", "weights", gives="weighted"),
        node("Softmax", "weighted", axis=1, gives="soft"), node("ArgMax", "soft", axis=1, keepdims=0, gives="best"),
        node("Cast", "best", to=FLOAT, gives="real"), node("ReduceSum", "soft", "second", keepdims=1, gives="sums"),
        node("Where", "yes", "soft", "rows", gives="y"),
    ],
    "halves": [node("Gather", "x", "at", gives="rows"), node("Split", "rows", "sizes", gives="left y", axis=1)],
}  # fmt: skip


def _behind(nodes: Any) -> Any:
    weights = {"zero": np.array([0]), "one": np.array([1]), "both": np.array([2]), "second": np.array([1])}
    weights |= {"pair": np.array([-1, 2]), "two": np.array([3, 0]), "sizes": np.array([2, 3]), "yes": np.array([True] * 5)}
    first = [
        node("NonZero", "x", gives="places"), node("Slice", "places", "zero", "one", "zero", gives="first"),
        node("Squeeze", "first", "zero", gives="at"),
    ]  # fmt: skip
    names = [name for each in nodes for name in each.output]
    outputs = [value(name, INT64 if name in _INTEGERS else FLOAT) for name in names]
    return model([*first, *nodes], [value("x", FLOAT, [4, 5])], outputs, **weights, weights=floats(5))


_INTEGERS = {"turned", "column", "pairs", "same", "flat", "part", "best"}


@pytest.mark.parametrize("name", _BEHIND)
def test_rows_behind_a_choice(name: str, tmp_path: Path) -> None:
    """Each row is computed by itself; there are as many as in Python, and what is behind them means nothing."""
    nodes = _BEHIND[name]
    message = _behind(nodes)
    if name == "shapes":
        message.graph.output[-1].type.tensor_type.elem_type = INT64
    given: Any = [{"x": floats(4, 5, seed=seed).clip(0)} for seed in range(4)]
    compare(message, None, [*given, {"x": np.zeros((4, 5), np.float32)}], tmp_path)


# ---- what cannot be written


def _with_count(*nodes: Any, **weights: Any) -> Any:
    return model(nodes, [value("x", FLOAT, [3, 4]), value("count", INT64, [1])], **weights)


def _growing() -> Any:
    nodes = [node("Identity", "on", gives="on'"), node("Concat", "s", "s", gives="s'", axis=0)]
    inputs = [value("i", INT64, []), value("on", BOOL, []), value("s", FLOAT, ["n", 4])]
    body = graph("body", nodes, inputs, [value("on'", BOOL, []), value("s'")])
    return _with_count(node("Loop", "count", "", "x", body=body, name="grow"))


def _of_shapes() -> Any:
    halves = [part("a", [node("Neg", "x", gives="n")], "n"), part("b", [node("Concat", "x", "x", gives="c", axis=0)], "c")]
    nodes = [node("Greater", "count", "zero", gives="on"), node("If", "on", then_branch=halves[0], else_branch=halves[1])]
    return _with_count(*nodes, zero=np.array([0]))


def _rows_that_are_read() -> Any:
    message = counting("six")
    message.graph.node.append(node("CumSum", "before_all", "zero", name="sums"))
    message.graph.initializer.append(onnx.numpy_helper.from_array(np.array(0), "zero"))
    message.graph.output.append(value("y"))
    return message


def _sequences() -> Any:
    halves = [
        part(name, [node("SequenceConstruct", *read, gives=name, name=name)], name)
        for name, read in (("a", "x"), ("b", "xx"))
    ]
    nodes = [
        node("Greater", "count", "zero", gives="on"),
        node("If", "on", gives="s", then_branch=halves[0], else_branch=halves[1]),
    ]
    return _with_count(*nodes, node("SequenceLength", "s"), zero=np.array([0]))


_REFUSED = {
    "values": (
        _with_count(node("Range", "zero", "count", "one", name="n"), zero=np.array(0), one=np.array(1)),
        "the node 'n' (Range) cannot be written as C: it needs the value of 'count', which is known at run time only",
    ),
    "sizes": (
        _with_count(node("Slice", "x", "zero", "count", name="s"), zero=np.array([0])),
        "the node 's' (Slice) cannot be written as C: it needs the value of 'count', which is known at run time only",
    ),
    "sequences": (_sequences(), "the node 'a' (SequenceConstruct) cannot be written as C: programs in C have no sequences"),
    "rows that become one": (
        _behind([node("Gather", "x", "at", gives="rows"), node("ReduceSum", "rows", "zero", name="sum")]),
        "the node 'sum' (ReduceSum) cannot be written as C: it does not compute each row by itself, and the size of 'places'"
        " depends on values",
    ),
    "the number of rows": (
        _behind([node("Shape", "at", name="shape")]),
        "the node 'shape' (Shape) cannot be written as C: it does not compute each row by itself, and the size of 'places'"
        " depends on values",
    ),
    "shapes": (
        _of_shapes(),
        "the node 'y' (If) cannot be written as C: its branches give float32 (3, 4) and float32 (6, 4) for 'y'",
    ),
    "states": (
        _growing(),
        "the node 'grow' (Loop) cannot be written as C: its state 's' is float32 (3, 4) and then float32 (6, 4)",
    ),
    "many rows": (
        counting("count", 400),
        "the node 'a_end' (Loop) cannot be written as C: 1000000 rows of 'before_all', as many as there can be, take more"
        " than 256 MB: most_passes sets another limit",
    ),
    "rows that are read": (
        _rows_that_are_read(),
        "the node 'sums' (CumSum) cannot be written as C: it does not compute each row by itself, and the size of"
        " 'before_all' depends on values",
    ),
}


@pytest.mark.parametrize("name", _REFUSED)
def test_a_sentence_names_the_node(name: str, tmp_path: Path) -> None:
    message, sentence = _REFUSED[name]
    with pytest.raises(ValueError) as error:
        pysimd.load(message).compile(tmp_path / "c")
    assert str(error.value) == sentence and not (tmp_path / "c").exists()


def test_a_limit_of_passes_from_the_shell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, folder = tmp_path / "net.onnx", tmp_path / "c"
    onnx.save(counting(""), file)
    for limit, status in (("0", 1), ("5", 0)):
        assert main(["compile", str(file), "--most-passes", limit, "-o", str(folder)]) == status
    assert "most_passes is 0, expected at least 1" in capsys.readouterr().err
    assert "it has run 5 times" in (folder / "model.c").read_text()


def test_other_inputs_than_tensors_of_known_shapes(tmp_path: Path) -> None:
    loaded = pysimd.load(lstm(8, 5))
    with pytest.raises(ValueError, match="for open dimensions, as values decide what it computes: give each as a number"):
        loaded.compile(tmp_path / "c", {"x": ("n", 2, 5)})
    kind = onnx.helper.make_tensor_sequence_value_info("s", FLOAT, None)
    with pytest.raises(ValueError, match="the input 's' is a sequence or optional: C has tensors alone"):
        pysimd.load(model([node("SequenceLength", "s")], [kind], [value("y", INT64)])).compile(tmp_path / "c")
    branches = [part(op, [node(op, "x", gives=op)], op) for op in ("Neg", "Abs")]
    nodes = [node("If", "on", gives="b", then_branch=branches[0], else_branch=branches[1]), node("Add", "b", "w")]
    inputs = [value("x", FLOAT, [4]), value("on", BOOL, []), value("w", FLOAT, [4])]
    loaded = pysimd.load(model(nodes, inputs, w=floats(4)))
    for use in (loaded.prepare, lambda shapes: loaded.compile(tmp_path / "c", shapes)):
        with pytest.raises(ValueError, match="'w' is a weight, which cannot be an input where values decide"):
            use({"w": (4,)})
    assert not (tmp_path / "c").exists()
