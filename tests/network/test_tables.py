"""Functions of one byte become tables: with the bits of the nodes that they replace, computed one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

import pysimd.network.convert.tables as tables
from network import quantised as formulas
from network.test_quantised import F, assert_bits, node, random_bytes
from pysimd.network.convert import graph_of
from pysimd.network.graph import Graph
from pysimd.network.model import Model
from pysimd.network.passes import simplified
from pysimd.network.runner import Runner
from pysimd.network.source import Source, SourceNode, Value
from support import Array

SHAPE = (2, 4, 6, 5)
WEIGHTS: dict[str, Any] = {
    "sx": F(0.037), "zx": np.uint8(121), "sy": F(0.021), "zy": np.uint8(37), "sz": F(0.03), "zz": np.uint8(0),
    "ix": np.int8(-7), "iy": np.int8(-90), "one": F(1), "half": F(0.5), "three": F(3), "six": F(6), "none": F(0),
    "root": F(2**0.5), "cube": F(0.044715), "tanh": F((2 / np.pi) ** 0.5), "power": F(3),
    "each": np.arange(4, dtype=F).reshape(4, 1, 1),
}  # fmt: skip


def graphs(
    nodes: Sequence[SourceNode], x: Mapping[str, Array], outputs: str = "y", weights: Mapping[str, Any] | None = None
) -> tuple[Graph, Graph]:
    """The graph with tables, and the one without."""
    values = [Value(name, array.dtype.name, None) for name, array in x.items()]
    known = {name: np.asarray(value) for name, value in {**WEIGHTS, **(weights or {})}.items()}
    results = [Value(name, "float32", None) for name in outputs.split()]
    source, shapes = Source("tables", 21, values, results, nodes, known), {name: array.shape for name, array in x.items()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "with_tables", lambda graph: graph)
        plain = graph_of(source, shapes)
    return graph_of(source, shapes), plain


def checked(
    nodes: Sequence[SourceNode],
    x: Mapping[str, Array] | Array,
    outputs: str = "y",
    weights: Mapping[str, Any] | None = None,
) -> Counter[str]:
    """The operators of the graph with tables, which has the bits of the other one, node by node."""
    x = {"x": x} if isinstance(x, np.ndarray) else x
    made, plain = graphs(nodes, x, outputs, weights)
    expected, found = Runner(plain)(x), Runner(simplified(made))(x)
    for name in outputs.split():
        assert_bits(found[name], expected[name])
    return Counter(each.operator for each in made.nodes)


def every(dtype: str = "uint8", shape: tuple[int, ...] = SHAPE) -> Array:
    """Bytes, all of them where there is room."""
    found = random_bytes(np.random.default_rng(3), dtype, *shape)
    found.reshape(-1)[: min(256, found.size)] = np.arange(256, dtype=np.uint8).view(dtype)[: found.size]
    return found


def begin(x: str = "x", y: str = "f", of: str = "sx zx") -> SourceNode:
    return node("DequantizeLinear", f"{x} {of}", y)


def end(x: str, y: str = "y", of: str = "sy zy") -> SourceNode:
    return node("QuantizeLinear", f"{x} {of}", y)


#: Activations as files have them: from f to g.
ACTIVATIONS: dict[str, list[SourceNode]] = {
    "SiLU": [node("Sigmoid", "f", "a"), node("Mul", "f a", "g")],
    "SiLU, turned": [node("Sigmoid", "f", "a"), node("Mul", "a f", "g")],
    "HardSwish": [node("HardSwish", "f", "g")],
    "HardSwish of parts": [
        node("Add", "f three", "a"), node("Clip", "a none six", "b"), node("Mul", "f b", "c"), node("Div", "c six", "g"),
    ],
    "HardSwish by HardSigmoid": [node("HardSigmoid", "f", "a", alpha=1 / 6, beta=0.5), node("Mul", "f a", "g")],
    "GELU by Erf": [
        node("Div", "f root", "a"), node("Erf", "a", "b"), node("Add", "b one", "c"), node("Mul", "f c", "d"),
        node("Mul", "d half", "g"),
    ],
    "GELU by Tanh": [
        node("Pow", "f power", "a"), node("Mul", "a cube", "b"), node("Add", "f b", "c"), node("Mul", "c tanh", "d"),
        node("Tanh", "d", "e"), node("Add", "e one", "h"), node("Mul", "f h", "i"), node("Mul", "i half", "g"),
    ],
    "Mish": [node("Softplus", "f", "a"), node("Tanh", "a", "b"), node("Mul", "f b", "g")],
    "Clip": [node("Clip", "f none three", "g")],
    "affine": [node("Mul", "f three", "a"), node("Sub", "a half", "g")],
    "LeakyRelu": [node("LeakyRelu", "f", "g", alpha=0.1)],
    "square": [node("Mul", "f f", "g")],
    "Where": [node("Less", "f half", "a"), node("Where", "a f half", "g")],
    "pairs within": [
        node("Sigmoid", "f", "a"), end("a", "b", "sz zz"), begin("b", "c", "sz zz"), node("Mul", "f c", "g"),
    ],
    "pairs of two inputs": [
        begin("x", "a"), node("Sigmoid", "a", "b"), end("b", "c", "sz zz"), begin("c", "d", "sz zz"), begin("x", "e"),
        node("Mul", "e d", "g"),
    ],
    "sum of pairs": [
        node("Sigmoid", "f", "a"), end("a", "b", "sz zz"), begin("b", "c", "sz zz"), node("Add", "f c", "g"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(name: str, dtype: str) -> None:
    weights = {} if dtype == "uint8" else {"zx": WEIGHTS["ix"], "zy": WEIGHTS["iy"], "zz": np.int8(0)}
    assert checked([begin(), *ACTIVATIONS[name], end("g")], every(dtype), weights=weights) == {"Table8": 1}


def test_the_oracle() -> None:
    """Two formulas in NumPy, whose functions are exact here."""
    x = every()
    v = formulas.dequantize(x, WEIGHTS["sx"], WEIGHTS["zx"])
    made, _ = graphs([begin(), *ACTIVATIONS["affine"], end("g")], {"x": x})
    expected = formulas.quantize(v * F(3) - F(0.5), WEIGHTS["sy"], WEIGHTS["zy"], "uint8")
    assert_bits(Runner(simplified(made))({"x": x})["y"], expected)
    made, _ = graphs([begin(), *ACTIVATIONS["Clip"], end("g")], {"x": x})
    assert_bits(
        Runner(simplified(made))({"x": x})["y"], formulas.quantize(v.clip(0, 3), WEIGHTS["sy"], WEIGHTS["zy"], "uint8")
    )


def test_another_type_of_bytes() -> None:
    assert checked([begin(), node("Sigmoid", "f", "g"), end("g", "y", "sy iy")], every()) == {"Table8": 1}


def test_tables_in_sequence_are_one() -> None:
    nodes = [begin(), *ACTIVATIONS["SiLU"], end("g", "h"), begin("h", "i", "sy zy"), node("Relu", "i", "j"), end("j")]
    assert checked(nodes, every()) == {"Table8": 1}
    assert checked([*nodes, begin("h", "k", "sy zy")], every(), "y k") == {"Table8": 2, "Dequantize": 1}


def test_what_changes_nothing_is_no_table() -> None:
    """But an output is a tensor of its own."""
    assert checked([begin(), end("f", "y", "sx zx")], every()) == {"Reshape": 1}
    pair = [begin(), end("f", "g", "sx zx"), node("Sigmoid", "f", "h"), node("MaxPool", "g", "y", kernel_shape=(2, 2))]
    assert checked(pair, every()) == {"MaxPool": 1}


# ---- moves

SILU = ACTIVATIONS["SiLU"]
#: From g to m.
MOVES: dict[str, tuple[list[SourceNode], dict[str, Any]]] = {
    "Transpose": ([node("Transpose", "g", "m", perm=(0, 2, 3, 1))], {"Transpose": 1}),
    "Reshape": ([node("Reshape", "g shape", "m")], {"Reshape": 1}),
    "Slice": ([node("Slice", "g from to axis steps", "m")], {"Slice": 1}),
    "Pad": ([node("Pad", "g pads half", "m")], {"Pad": 1}),
    "Pad of edges": ([node("Pad", "g pads", "m", mode="edge")], {"Pad": 1}),
    "Resize": ([node("Resize", "g - factors", "m", mode="nearest")], {"Resize": 1}),
    "Expand": ([node("Unsqueeze", "g first", "n"), node("Expand", "n wide", "m")], {"Reshape": 1, "Expand": 1}),
    "Gather": ([node("Gather", "g places", "m", axis=1)], {"Gather": 1}),
    "GatherElements": ([node("GatherElements", "g elements", "m", axis=0)], {"GatherElements": 1}),
    "DepthToSpace": ([node("DepthToSpace", "g", "m", blocksize=2)], {"Reshape": 2, "Transpose": 1}),
    "Slice before": (
        [node("Slice", "f from to axis steps", "n"), node("Tanh", "n", "m")], {"Slice": 1},
    ),
    "Slices of both": (
        [
            node("Slice", "f from to axis steps", "n"), node("Sigmoid", "f", "o"),
            node("Slice", "o from to axis steps", "p"), node("Mul", "n p", "m"),
        ],
        {"Slice": 1},
    ),
}  # fmt: skip
OF_MOVES: dict[str, Any] = {
    "shape": np.array([8, 30]), "from": np.array([1]), "to": np.array([4]), "axis": np.array([1]), "steps": np.array([2]),
    "pads": np.array([0, 0, 1, 2, 0, 0, 3, 0]), "factors": np.array([1, 1, 2, 2], F), "wide": np.array([3, *SHAPE]),
    "places": np.array([[3, 0], [0, 1]]), "first": np.array([0]),
    "elements": np.random.default_rng(1).integers(0, 2, SHAPE),
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize("name", MOVES)
def test_moves(name: str, dtype: str) -> None:
    """Of bytes in place of floats."""
    moves, expected = MOVES[name]
    zeros = {} if dtype == "uint8" else {"zx": WEIGHTS["ix"], "zy": WEIGHTS["iy"]}
    found = checked([begin(), *SILU, *moves, end("m")], every(dtype), weights={**OF_MOVES, **zeros})
    assert found == {"Table8": 1, **expected}


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_bytes_that_move_as_they_are(dtype: str) -> None:
    zero = "zx" if dtype == "uint8" else "ix"
    nodes = [begin("x", "f", f"sx {zero}"), node("Transpose", "f", "m", perm=(1, 0, 2, 3)), end("m", "y", f"sx {zero}")]
    assert set(checked(nodes, every(dtype))) - {"Reshape"} == {"Transpose"}


def test_split() -> None:
    """One table for both parts, which have one scale."""
    parts = [begin(), *SILU, node("Split", "g", "a b", axis=1), end("a", "c"), end("b", "d")]
    assert checked(parts, every(), "c d") == {"Table8": 1, "Slice": 2}


def test_concat() -> None:
    """Each part has a table of its own, one that has the scale of the result none."""
    x, y = every(), random_bytes(np.random.default_rng(4), "int8", *SHAPE)
    parts = [begin(), *SILU, begin("t", "u", "sz ix"), begin("v", "w", "sy zy"), node("Concat", "g u w", "c", axis=1)]
    given = {"x": x, "t": y, "v": x[:, :1]}
    assert checked([*parts, end("c")], given) == {"Table8": 2, "Concat": 1}
    assert checked([*parts, node("Relu", "c", "d"), end("d")], given) == {"Table8": 3, "Concat": 1}


def test_a_concat_with_floats() -> None:
    given = {"x": every(), "t": np.random.default_rng(4).normal(0, 2, SHAPE).astype(F)}
    nodes = [begin(), *SILU, node("Concat", "t g", "c", axis=1)]
    assert checked([*nodes, end("c")], given) == {"Table8": 1, "Quantize": 1, "Concat": 1}
    after = [node("Mul", "c three", "d"), node("Relu", "d", "e"), end("e")]
    assert checked([*nodes, *after], given) == {"Table8": 1, "Quantize": 1, "Concat": 1, "Binary": 1, "Unary": 1}
    largest = [node("MaxPool", "c", "d", kernel_shape=(2, 2)), end("d")]
    assert "Concat" in checked([*nodes, *largest], given)
    floats = [node("Concat", "t t", "c", axis=1), end("c")]
    assert checked(floats, given) == {"Concat": 1, "Quantize": 1}


def test_many_parts() -> None:
    """A Concat of itself, again and again, and a square of it: time does not grow with the number of ways through them."""
    nodes, t = [begin()], np.random.default_rng(4).normal(0, 1, (1, 1, 1, 1)).astype(F)
    nodes += [node("Concat", f"{f} {f}", f"c{i}", axis=1) for i, f in enumerate(["f", *(f"c{i}" for i in range(10))])]
    assert "Dequantize" in checked([*nodes, end("c10")], every(shape=(1, 1, 1, 1)))
    nodes = [begin(), node("Concat", "f t", "c0", axis=1), node("Mul", "c0 one", "m0")]
    nodes += [node("Mul", f"m{i} m{i}", f"m{i + 1}") for i in range(40)]
    found = checked([*nodes, end("m40")], {"x": every(shape=(1, 1, 1, 1)), "t": t})
    assert (found["Table8"], found["Quantize"], found["Binary"]) == (1, 1, 41)


def test_bytes_that_were_moved_are_read_again() -> None:
    """A Concat that others need is not made twice."""
    nodes = [begin(), begin("t", "u", "sz zz"), node("Concat", "f u", "c", axis=1), end("c", "d"), begin("d", "e", "sy zy"),
             node("Sigmoid", "e", "h"), end("h", "y", "sz zz"), node("MaxPool", "d", "z", kernel_shape=(2, 2))]  # fmt: skip
    found = checked(nodes, {"x": every(), "t": every()}, "y z")
    assert (found["Concat"], found["Table8"], found["Dequantize"]) == (1, 3, 0)


# ---- the largest


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize("pads", [(0, 0, 0, 0), (1, 0, 1, 1)])
def test_largest(dtype: str, pads: tuple[int, ...]) -> None:
    """Where what follows keeps the order."""
    zeros = {} if dtype == "uint8" else {"zx": WEIGHTS["ix"], "zy": WEIGHTS["iy"]}
    pool = node("MaxPool", "g", "m", kernel_shape=(3, 2), strides=(1, 2), pads=pads)
    found = checked([begin(), *SILU, pool, end("m")], every(dtype), weights=zeros)
    assert found == {"Table8": 1, "MaxPool" if dtype == "uint8" else "QuantizedPool": 1}
    relu = [node("Relu", "m", "n"), end("n")]
    assert "Quantize" not in checked([begin(), *SILU, pool, *relu], every(dtype), weights=zeros)


@pytest.mark.parametrize("function", [SILU, [node("Neg", "f", "g")], [node("Abs", "f", "g")]], ids=["SiLU", "Neg", "Abs"])
def test_largest_before_another_order(function: list[SourceNode]) -> None:
    pool = [begin("x", "a"), node("MaxPool", "a", "f", kernel_shape=(2, 2))]
    assert "MaxPool" in checked([*pool, *function, end("g")], every())


# ---- what stays


def test_what_is_no_function_of_one_byte() -> None:
    x = {"x": every(), "t": random_bytes(np.random.default_rng(5), "uint8", *SHAPE)}
    two = [begin(), begin("t", "u"), node("Mul", "f u", "g"), end("g")]
    assert checked(two, x) == {"QuantizedBinary": 1}
    two[2] = node("Sub", "f u", "g")
    assert checked(two, x) == {"Dequantize": 2, "Binary": 1, "Quantize": 1}
    channels = [begin(), node("Mul", "f each", "g"), end("g")]
    assert "Quantize" in checked(channels, x)
    places = [
        begin(),
        node("Transpose", "f", "a", perm=(0, 1, 3, 2)),
        node("Reshape", "a like", "b"),
        node("Mul", "f b", "g"),
    ]
    assert "Quantize" in checked([*places, end("g")], x, weights={"like": np.array(SHAPE)})
    row = [begin(), node("Slice", "f zero one two", "a"), node("Mul", "f a", "g"), end("g")]
    sizes = {"zero": np.array([0]), "one": np.array([1]), "two": np.array([1])}
    assert "Quantize" in checked(row, x, weights=sizes)
    linear = [begin(), node("Resize", "f - factors", "g", mode="linear"), end("g")]
    assert "Quantize" in checked(linear, x, weights=OF_MOVES)
    mean = [begin(), node("AveragePool", "f", "g", kernel_shape=(2, 2)), end("g")]
    assert "Quantize" in checked(mean, x)


def test_bytes_that_a_model_never_has() -> None:
    """An index that a table has not is an error if it is computed, not before."""
    few: dict[str, Any] = {
        "few": np.arange(100, dtype=np.uint8),
        "all": np.arange(256)[::-1].astype(np.uint8),
        "two": np.array(2, np.int32),
    }
    others, x = [begin(), *SILU, end("g", "z")], every() // np.uint8(3)
    lookup = [node("Cast", "x", "a", to=7), node("Gather", "few a", "y", axis=0)]
    made, _ = graphs([*lookup, *others], {"x": every()}, "y z", few)
    assert_bits(Runner(simplified(made))({"x": x})["y"], x)
    assert {each.operator for each in made.nodes} == {"Cast", "Gather", "Table8"}
    far = [node("Cast", "x", "a", to=7), node("Mul", "a a", "b"), node("Gather", "all b", "y", axis=0)]
    made, _ = graphs([*far, *others], {"x": every()}, "y z", few)
    assert_bits(Runner(simplified(made))({"x": x // np.uint8(6)})["y"], few["all"][(x // 6).astype(int) ** 2])
    whole = [lookup[0], node("Gather", "all a", "y", axis=0)]
    assert checked([*whole, *others], every(), "y z", few) == {"Table8": 2}
    divided = [node("Cast", "x", "a", to=6), node("Div", "two a", "b"), node("Cast", "b", "y", to=2)]
    assert checked([*divided, *others], every(), "y z", few) == {"Table8": 2}


def test_scales_of_channels_stay() -> None:
    weights = {"scales": np.full(4, 0.1, F), "zeros": np.zeros(4, np.uint8)}
    nodes = [node("DequantizeLinear", "x scales zeros", "f", axis=1), node("Sigmoid", "f", "g"), end("g")]
    assert "Dequantize" in checked(nodes, every(), weights=weights)


def test_scales_that_are_computed_stay() -> None:
    x = {"x": every(), "s": np.asarray(F(0.1))}
    nodes = [node("DequantizeLinear", "x s zx", "f"), node("Sigmoid", "f", "g"), end("g")]
    assert "Dequantize" in checked(nodes, x)


def test_floats_that_are_outputs_stay() -> None:
    found = checked([begin(), *ACTIVATIONS["Clip"], end("g")], every(), "y g")
    assert found["Table8"] == 1 and found["Dequantize"] == 1 and not found["Quantize"]


@pytest.mark.parametrize("seed", range(30))
def test_random_nets(seed: int) -> None:
    """Of element-wise nodes, moves and pairs, in any order, with equal bits."""
    rng = np.random.default_rng(seed)
    nodes, count = [begin()], 0
    floats: dict[str, tuple[int, ...]] = {"f": SHAPE}

    def made(op: str, inputs: str, shape: tuple[int, ...], **attributes: Any) -> None:
        nonlocal count
        count += 1
        nodes.append(node(op, inputs, f"v{count}", **attributes))
        floats[f"v{count}"] = shape

    for _ in range(14):
        x = str(rng.choice(list(floats)[-4:]))
        shape = floats[x]
        alike = [name for name, of in floats.items() if of == shape]
        step = int(rng.integers(8))
        if step == 0:
            made(str(rng.choice(["Sigmoid", "Tanh", "Relu", "HardSwish", "Abs"])), x, shape)
        elif step == 1:
            made(str(rng.choice(["Add", "Mul", "Sub", "Max"])), f"{x} {rng.choice(alike)}", shape)
        elif step == 2:
            made("Mul", f"{x} {rng.choice(['half', 'three'])}", shape)
        elif step == 3:
            nodes.append(end(x, f"{x}q{count}", "sz zy"))
            made("DequantizeLinear", f"{x}q{count} sz zy", shape)
        elif step == 4:
            made("Concat", f"{x} {rng.choice(alike)}", (shape[0], 2 * shape[1], *shape[2:]), axis=1)
        elif step == 5:
            made("Transpose", x, (*shape[:2], *shape[:1:-1]), perm=(0, 1, 3, 2))
        elif step == 6 and shape[1] > 2:
            made("Slice", f"{x} zero size one", (shape[0], 2, *shape[2:]))
        elif step == 7 and min(shape[2:]) > 2:
            made("MaxPool", x, (*shape[:2], shape[2] - 1, shape[3] - 1), kernel_shape=(2, 2))
    last = list(floats)[-3:]
    nodes += [end(name, f"y{i}") for i, name in enumerate(last)]
    weights = {"zero": np.array([0]), "size": np.array([2]), "one": np.array([1])}
    checked(nodes, every(), " ".join(f"y{i}" for i in range(len(last))), weights)


# ---- of models


def model_of(nodes: Sequence[SourceNode], outputs: str, weights: Mapping[str, Any]) -> Model:
    """A model whose file says no sizes of its input."""
    known = {name: np.asarray(value) for name, value in {**WEIGHTS, **weights}.items()}
    values = [Value(name, "uint8", None) for name in outputs.split()]
    return Model(Source("open", 21, [Value("x", "uint8", (None,) * 4)], values, nodes, known))


@pytest.mark.parametrize("name", ["Transpose", "Slice", "Pad", "Resize", "Slices of both"])
def test_open_sizes(name: str) -> None:
    """One plan serves all sizes, with the bits of the nodes one by one."""
    pool = [node("MaxPool", "m", "n", kernel_shape=(2, 2)), node("Concat", "n n", "o", axis=1), end("o", "z", "sz zz")]
    nodes = [begin(), *SILU, *MOVES[name][0], end("m"), *pool]
    model = model_of(nodes, "y z", OF_MOVES)
    prepared = model.prepare({"x": ("N", 4, "H", "W")})
    for shape in (SHAPE, (4, 4, 9, 4), (3, 4, 5, 11)):
        x = {"x": every(shape=shape)}
        _, plain = graphs(nodes, x, "y z", OF_MOVES)
        expected = Runner(plain)(x)
        for output, found in prepared(x).items():
            assert_bits(found, expected[output])
    assert prepared.report().count("plan ") == 1


def test_the_user_computes_a_part() -> None:
    """A function of the user is called, as it was, between two tables."""
    nodes = [begin(), *SILU, end("g", "h"), begin("h", "i", "sy zy"), node("Tanh", "i", "j"), end("j")]
    source = Source("user", 21, [Value("x", "uint8", SHAPE)], [Value("y", "uint8", None)], nodes, WEIGHTS)
    graph = graph_of(source, {"x": SHAPE}, {"Tanh": np.tanh})
    assert [each.operator for each in graph.nodes] == ["Table8", "Dequantize", "Host", "Quantize"]
