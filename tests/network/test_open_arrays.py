"""What depends on sizes that are open: which operators keep them open, and arrays that are computed when a plan is bound."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pysimd
from pysimd.network.model import Model
from pysimd.network.open_arrays import called, full, later, numbered, opened, release
from pysimd.network.sizes import Sizes, array_of

onnx = pytest.importorskip("onnx", reason="ONNX files need the package onnx")

from network.test_open_sizes import described  # noqa: E402

_SIZES = (6, 9, 13, 30)

#: Nodes that compute y of x, (n, 4) of float32, by what they show: one plan serves all n above 5.
KEPT = {
    "a shape": "y = Shape (x)",
    "Range, as positions": """
        n = Shape <start = 0, end = 1> (x)  one = Constant <value_int = 1> ()  zero = Constant <value_int = 0> ()
        count = Squeeze (n)  places = Range (zero, count, one)  floats = Cast <to = 1> (places)
        angles = Cos (floats)  axes = Constant <value_ints = [1]> ()  column = Unsqueeze (angles, axes)
        y = Mul (x, column)""",
    "integers, logic and backward slices": """
        n = Shape <start = 0, end = 1> (x)  count = Squeeze (n)  zero = Constant <value_int = 0> ()
        two = Constant <value_int = 2> ()  three = Constant <value_int = 3> ()  less = Constant <value_int = -2> ()
        rows = Range (zero, count, two)  five = Constant <value_int = 5> ()  a = Sub (rows, five)  b = Mod (a, three)
        c = Div (a, less)  d = Neg (a)  e = Abs (a)  f = Max (b, c, d)  g = Min (f, e)  h = LessOrEqual (g, b)
        i = GreaterOrEqual (g, c)  j = Xor (h, i)  k = Or (j, h)  l = And (k, i)  o = Not (l)  p = Where (o, a, c)
        last = Constant <value_ints = [-1]> ()  end = Constant <value_ints = [-100]> ()
        axes = Constant <value_ints = [0]> ()  step = Constant <value_ints = [-2]> ()
        back = Slice (p, last, end, axes, step)  all = Concat <axis = 0> (a, b, c, d, e, f, g, p, back)
        y = Cast <to = 1> (all)""",
    "a grid": """
        n = Shape <start = 0, end = 1> (x)  count = Squeeze (n)  zero = Constant <value_int = 0> ()
        one = Constant <value_int = 1> ()  rows = Range (zero, count, one)  axes = Constant <value_ints = [1]> ()
        column = Unsqueeze (rows, axes)  grid = Mul (column, rows)  plus = Add (grid, column)
        turned = Transpose (plus)  low = Trilu <upper = 0> (turned)  places = NonZero (low)
        few = Constant <value_ints = [0, -1, 2]> ()  taken = Gather <axis = 1> (turned, few)
        three = Constant <value_ints = [3]> ()  shape = Concat <axis = 0> (axes, n, three)  wide = Expand (taken, shape)
        flat = Constant <value_ints = [-1]> ()  a = Reshape (wide, flat)
        b = Reshape (places, flat)  all = Concat <axis = 0> (a, b)  y = Cast <to = 1> (all)""",
    "Range of floats": """
        n = Shape <start = 0, end = 1> (x)  count = Squeeze (n)  end = Cast <to = 1> (count)
        step = Constant <value_float = 0.75> ()  zero = Constant <value_float = 0.0> ()
        places = Range (zero, end, step)  y = Sin (places)""",
    "ConstantOfShape, Trilu and Where, as a causal mask": """
        turned = Transpose (x)  scores = MatMul (x, turned)  sizes = Shape (scores)
        ones = ConstantOfShape <value = bool[1] {1}> (sizes)  mask = Trilu <upper = 0> (ones)
        low = Constant <value_float = -3e38> ()  kept = Where (mask, scores, low)  y = Softmax (kept)""",
    "Range, Less and Where, as a mask to add": """
        turned = Transpose (x)  scores = MatMul (x, turned)  n = Shape <start = 0, end = 1> (x)  count = Squeeze (n)
        one = Constant <value_int = 1> ()  zero = Constant <value_int = 0> ()  row = Range (zero, count, one)
        axes = Constant <value_ints = [1]> ()  column = Unsqueeze (row, axes)  later = Greater (row, column)
        low = Constant <value_float = -10000.0> ()  none = Constant <value_float = 0.0> ()
        mask = Where (later, low, none)  y = Add (scores, mask)""",
    "Slice and Gather, as embeddings of positions": """
        n = Shape <start = 0, end = 1> (x)  zero = Constant <value_ints = [0]> ()
        places = Slice (numbers, zero, n)  rows = Gather (table, places)  y = Add (x, rows)""",
    "Gather of the last row": """
        n = Shape <start = 0, end = 1> (x)  one = Constant <value_ints = [1]> ()  last = Sub (n, one)
        y = Gather (x, last)""",
    "Gather of every second row": """
        n = Shape <start = 0, end = 1> (x)  one = Constant <value_int = 1> ()  two = Constant <value_int = 2> ()
        count = Squeeze (n)  rows = Range (one, count, two)  y = Gather (x, rows)""",
    "Gather of any rows": """
        n = Shape <start = 0, end = 1> (x)  one = Constant <value_int = 1> ()  zero = Constant <value_int = 0> ()
        count = Squeeze (n)  rows = Range (zero, count, one)  squares = Mul (rows, rows)  some = Mod (squares, n)
        y = Gather (x, some)""",
    "a number without a size": """
        n = Shape <start = 0, end = 1> (x)  many = Constant <value_ints = [100]> ()  left = Sub (many, n)
        four = Constant <value_ints = [4]> ()  shape = Concat <axis = 0> (left, four)
        row = Constant <value_floats = [1.0, 2.0, 3.0, 4.0]> ()  y = Expand (row, shape)""",
    "Expand to a computed shape": """
        sizes = Shape (x)  two = Constant <value_ints = [2]> ()  shape = Concat <axis = 0> (two, sizes)
        y = Expand (x, shape)""",
    "Expand of what is known": """
        n = Shape <start = 0, end = 1> (x)  four = Constant <value_ints = [4]> ()  shape = Concat <axis = 0> (n, four)
        row = Constant <value_floats = [1.0, 2.0, 3.0, 4.0]> ()  rows = Expand (row, shape)  y = Mul (x, rows)""",
    "Expand by Where and Equal": """
        sizes = Shape (x)  given = Constant <value_ints = [-1, 4]> ()  less = Constant <value_ints = [-1]> ()
        open = Equal (given, less)  shape = Where (open, sizes, given)  y = Expand (x, shape)""",
    "Tile": """
        n = Shape <start = 0, end = 1> (x)  one = Constant <value_ints = [1]> ()  times = Concat <axis = 0> (one, n)
        y = Tile (x, times)""",
    "Reshape": """
        n = Shape <start = 0, end = 1> (x)  rest = Constant <value_ints = [-1, 2]> ()  shape = Concat <axis = 0> (n, rest)
        y = Reshape (x, shape)""",
    "Slice": """
        n = Shape <start = 0, end = 1> (x)  two = Constant <value_ints = [2]> ()  half = Div (n, two)
        axes = Constant <value_ints = [0]> ()  y = Slice (x, half, n, axes)""",
    "Split": """
        n = Shape <start = 0, end = 1> (x)  two = Constant <value_ints = [2]> ()  rest = Sub (n, two)
        sizes = Concat <axis = 0> (two, rest)  a, b = Split <axis = 0> (x, sizes)  y = Concat <axis = 1> (b, b)""",
    "Pad": """
        n = Shape <start = 0, end = 1> (x)  none = Constant <value_ints = [0, 0, 0]> ()
        pads = Concat <axis = 0> (none, n)  y = Pad (x, pads)""",
    "TopK": """
        n = Shape <start = 0, end = 1> (x)  two = Constant <value_ints = [2]> ()  k = Sub (n, two)
        y, places = TopK <axis = 0> (x, k)""",
    "RoiAlign": """
        axes = Constant <value_ints = [0, 1]> ()  image = Unsqueeze (x, axes)  n = Shape <start = 0, end = 1> (x)
        images = ConstantOfShape <value = int64[1] {0}> (n)  y = RoiAlign <output_height = 3> (image, x, images)""",
    "OneHot": """
        n = Shape <start = 0, end = 1> (x)  places = ArgMax <axis = 0, keepdims = 0> (x)
        ends = Constant <value_floats = [0.0, 1.0]> ()  y = OneHot (places, n, ends)""",
    "EyeLike": "turned = Transpose (x)  square = MatMul (x, turned)  eye = EyeLike (square)  y = Add (square, eye)",
    "NonZero of what is known": """
        n = Shape <start = 0, end = 1> (x)  ones = ConstantOfShape <value = int64[1] {1}> (n)  places = NonZero (ones)
        axes = Constant <value_ints = [0]> ()  flat = Squeeze (places, axes)  y = Cast <to = 1> (flat)""",
    "integers at run time": """
        zero = Constant <value_float = 0.0> ()  above = Greater (x, zero)  whole = Cast <to = 7> (above)
        axis = Constant <value_int = 0> ()  sums = CumSum (whole, axis)  n = Shape <start = 0, end = 1> (x)
        last = Less (sums, n)  both = And (last, above)  y = Where (both, x, zero)""",
    "Einsum": 'y = Einsum <equation = "ij,kj->ik"> (x, x)',
    "Dropout with its mask": "z, mask = Dropout (x)  none = Constant <value_float = 0.0> ()  y = Where (mask, z, none)",
    "a scale that is computed": """
        axes = Constant <value_ints = [0, 1]> ()  image = Unsqueeze (x, axes)  sizes = Shape <start = 2> (image)
        floats = Cast <to = 1> (sizes)  factor = Constant <value_float = 1.7> ()  more = Mul (floats, factor)
        less = Floor (more)  whole = Cast <to = 7> (less)  ends = Shape <end = 2> (image)
        target = Concat <axis = 0> (ends, whole)  y = Resize <mode = "linear"> (image, , , target)""",
    "a scale that is given": """
        axes = Constant <value_ints = [0, 1]> ()  image = Unsqueeze (x, axes)
        scales = Constant <value_floats = [1.0, 1.0, 2.0, 1.3]> ()  y = Resize <mode = "nearest"> (image, , scales)""",
    "means of windows with gaps": """
        axes = Constant <value_ints = [0, 1]> ()  image = Unsqueeze (x, axes)
        y = AveragePool <kernel_shape = [3, 2], dilations = [2, 1], pads = [1, 0, 1, 0]> (image)""",
    "If": """
        n = Shape <start = 0, end = 1> (x)  many = Cast <to = 1> (n)  most = Constant <value_float = 99.5> ()
        few = Less (many, most)
        y = If (few) <then_branch = a () => (float[n, 4] p) { p = Neg (x) }, else_branch = b () => (float[n, 4] q) {
        q = Abs (x) }>""",
    "a factor of weights": """
        n = Shape <start = 0, end = 1> (x)  many = Cast <to = 1> (n)  four = Constant <value_ints = [4]> ()
        factors = Expand (many, four)  z = MatMul (x, matrix)  y = Mul (z, factors)""",
    "a matrix": """
        n = Shape <start = 0, end = 1> (x)  zero = Constant <value_ints = [0]> ()  rows = Slice (table, zero, n)
        turned = Transpose (x)  y = MatMul (turned, rows)""",
    "a matrix of few elements": """
        n = Shape <start = 0, end = 1> (x)  shape = Concat <axis = 0> (n, n)
        ones = ConstantOfShape <value = float[1] {0.5}> (shape)  low = Trilu <upper = 0> (ones)  y = MatMul (low, x)""",
    "Gemm with a matrix and a term": """
        n = Shape <start = 0, end = 1> (x)  four = Constant <value_ints = [4]> ()  shape = Concat <axis = 0> (n, four)
        half = ConstantOfShape <value = float[1] {0.5}> (shape)  many = Cast <to = 1> (n)
        y = Gemm <transB = 1, alpha = 0.7, beta = 3.0> (x, half, many)""",
    "a divisor": """
        turned = Transpose (x)  scores = MatMul (x, turned)  n = Shape <start = 0, end = 1> (x)  many = Cast <to = 1> (n)
        root = Sqrt (many)  scaled = Div (scores, root)  y = Softmax (scaled)""",
    "factors of both operands": """
        turned = Transpose (x)  n = Shape <start = 0, end = 1> (x)  count = Squeeze (n)  many = Cast <to = 1> (count)
        root = Sqrt (many)  one = Constant <value_float = 1.0> ()  factor = Div (one, root)  half = Sqrt (factor)
        a = Mul (x, half)  b = Mul (turned, half)  scores = MatMul (a, b)  y = Softmax (scores)""",
    "a mean by its number": """
        n = Shape <start = 0, end = 1> (x)  many = Cast <to = 1> (n)  axes = Constant <value_ints = [0]> ()
        sum = ReduceSum (x, axes)  mean = Div (sum, many)  y = Sub (x, mean)""",
    "a power": """
        n = Shape <start = 0, end = 1> (x)  many = Cast <to = 1> (n)  part_of = Constant <value_float = 11.0> ()
        part = Div (many, part_of)  size = Abs (x)  y = Pow (size, part)""",
    "LayerNormalization": """
        turned = Transpose (x)  one = Constant <value_floats = [1.5]> ()  y = LayerNormalization (turned, one)""",
    "LayerNormalization of all dimensions": """
        sizes = Shape (x)  ones = ConstantOfShape <value = float[1] {1.0}> (sizes)
        y = LayerNormalization <axis = 0> (x, ones, ones)""",
    "LayerNormalization by its parts": """
        turned = Transpose (x)  axes = Constant <value_ints = [-1]> ()  mean = ReduceMean (turned, axes)
        centred = Sub (turned, mean)  two = Constant <value_float = 2.0> ()  squares = Pow (centred, two)
        variance = ReduceMean (squares, axes)  eps = Constant <value_float = 0.00001> ()  sum = Add (variance, eps)
        root = Sqrt (sum)  y = Div (centred, root)""",
    "RMSNormalization": """
        turned = Transpose (x)  n = Shape <start = 0, end = 1> (x)
        ones = ConstantOfShape <value = float[1] {1.0}> (n)  y = RMSNormalization (turned, ones)""",
    "Attention with heads of an open size": """
        axes = Constant <value_ints = [0, 1]> ()  turned = Transpose (x)  rows = Unsqueeze (turned, axes)
        y = Attention (rows, rows, rows)""",
    "Attention": """
        axes = Constant <value_ints = [0]> ()  rows = Unsqueeze (x, axes)
        y = Attention <is_causal = 1, q_num_heads = 2, kv_num_heads = 2> (rows, rows, rows)""",
}


def model_of(nodes: str) -> Model:
    graph = f'<ir_version: 9, opset_import: ["" : 23]> g (float[n, 4] x) => (y) {{ {nodes} }}'
    proto = onnx.parser.parse_model(graph.replace(")  ", ")\n"))
    random = np.random.default_rng(5)
    weights = {
        "numbers": np.arange(64)[::-1].copy(),
        "table": random.standard_normal((64, 4)).astype(np.float32),
        "matrix": random.standard_normal((4, 4)).astype(np.float32),
    }
    read = {name for node in proto.graph.node for name in node.input}
    proto.graph.initializer.extend(onnx.numpy_helper.from_array(weights[name], name) for name in weights if name in read)
    return pysimd.load(proto)


@pytest.mark.parametrize("what", KEPT)
def test_sizes_stay_open(what: str) -> None:
    """One plan serves all sizes, is that of a preparation when it is bound, and gives its bits."""
    model = model_of(KEPT[what])
    run = model.prepare()
    for n in _SIZES:
        x = np.random.default_rng(n).standard_normal((n, 4)).astype(np.float32)
        found, expected = run.prepare({"x": x.shape}), model.prepare(x.shape)
        assert described(found) == described(expected)
        np.testing.assert_array_equal(found(x)["y"], expected(x)["y"])
    assert len(run.plans) == 1, run.report()


_ONE, _TWO = ("Abs", "Neg", "Sign"), ("Add", "Sub", "Mul", "Div", "Mod", "Max", "Min")


def random_arithmetic(seed: int) -> Model:
    """Integers that are computed from the shape of x in random ways: vectors, of which some are of open sizes."""
    random, helper = np.random.default_rng(seed), onnx.helper
    nodes = [helper.make_node("Shape", ["x"], ["v0"])]
    numbers = {
        "zero": np.int64(0),
        "one": np.int64(1),
        "three": np.array([3]),
        "last": np.array([-1]),
        "first": np.array([0]),
    }
    names = ["v0", "three", "last"]

    def add(op: str, *inputs: str, **attributes: Any) -> str:
        nodes.append(helper.make_node(op, inputs, [f"v{len(nodes)}"], **attributes))
        return f"v{len(nodes) - 1}"

    for _ in range(12):
        a, b = (names[i] for i in random.integers(0, len(names), 2))
        size, other = (add("ReduceMax", each, keepdims=1) for each in (a, b))
        some = add("Add", add("Mod", add("Abs", size), "three"), "three")  # 3, 4 or 5
        kinds: list[Any] = [
            lambda a=a: add(str(random.choice(_ONE)), a),
            lambda a=a, o=other: add(str(random.choice(_TWO[:3])), a, o),
            lambda a=a: add(str(random.choice(_TWO[3:])), a, "three"),
            lambda a=a, b=b: add("Concat", a, b, axis=0),
            lambda s=some: add("Range", "zero", add("Squeeze", s, "first"), "one"),
            lambda a=a, s=some: add("Expand", add("ReduceSum", a, keepdims=1), s),
            lambda a=a, s=some: add("Tile", a, add("Sub", s, "three")),
            lambda a=a, s=some: add("Slice", a, "first", s),
            lambda a=a: add("Gather", a, "last", axis=0),
            lambda a=a, o=other: add("Where", add("Greater", a, o), a, "three"),
            lambda a=a: add("CumSum", a, "zero"),
            lambda a=a, o=other: add("Squeeze", add("NonZero", add("Less", a, o)), "first"),
            lambda a=a: add("Cast", add("Floor", add("Sqrt", add("Cast", add("Abs", a), to=1))), to=7),
            lambda s=some: add("ConstantOfShape", s, value=helper.make_tensor("", 7, [1], [2])),
        ]
        names.append(kinds[random.integers(len(kinds))]())
    ends = [helper.make_tensor_value_info("x", 1, ("n", 4, "m"))]
    results = [helper.make_tensor_value_info(name, 7, None) for name in names if name[0] == "v"]
    weights = [onnx.numpy_helper.from_array(np.asarray(array), name) for name, array in numbers.items()]
    graph = helper.make_graph(nodes, "arithmetic", ends, results, weights)
    return pysimd.load(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9))


def test_random_arithmetic_of_sizes() -> None:
    """Its results are those of a preparation; plans serve several shapes."""
    plans = shapes = 0
    for seed in range(40):
        model = random_arithmetic(seed)
        run = model.prepare()
        for n, m in ((5, 7), (6, 7), (9, 2), (40, 3), (2, 11)):
            x = np.zeros((n, 4, m), np.float32)
            try:
                expected = model.prepare(x.shape)(x)
            except ValueError:  # as for the largest element of none
                with pytest.raises(ValueError):
                    run(x)
                continue
            for name, array in run(x).items():
                np.testing.assert_array_equal(array, expected[name])
            shapes += 1
        plans += len(run.plans)
    assert shapes > 150 and plans < shapes / 2


def test_shapes_of_python_functions_stay_open() -> None:
    """They are asked again for each shape."""
    node = onnx.helper.make_node("Half", ["x"], ["y"], domain="own")
    ends = [onnx.helper.make_tensor_value_info(name, 1, ("n",)) for name in "xy"]
    opsets = [onnx.helper.make_opsetid("", 17), onnx.helper.make_opsetid("own", 1)]
    proto = onnx.helper.make_model(onnx.helper.make_graph([node], "half", ends[:1], ends[1:]), opset_imports=opsets)

    def half(x: Any) -> Any:
        if len(x) == 7:
            raise KeyError("seven")
        return x[::2] if len(x) < 20 else x[None, ::2]

    run: Any = pysimd.load(proto, fallback={"own.Half": half}).prepare()
    for n in (4, 9, 15, 5):
        assert run(np.arange(n, dtype=np.float32))["y"].tolist() == [*range(0, n, 2)]
    assert len(run.plans) == 1
    with pytest.raises(ValueError, match="seven"):
        run(np.ones(7, np.float32))
    assert run(np.ones(20, np.float32))["y"].shape == (1, 10) and len(run.plans) == 2


def test_a_decision_by_values_is_a_condition() -> None:
    """A mask that excludes nothing is left out, for the sizes for which it excludes nothing."""
    model = model_of("""
        n = Shape <start = 0, end = 1> (x)  ten = Constant <value_ints = [10]> ()  small = Less (n, ten)
        sizes = Shape (x)  all = ConstantOfShape <value = bool[1] {1}> (sizes)  mask = And (all, small)
        low = Constant <value_float = -1.0> ()  y = Where (mask, x, low)""")
    run: Any = model.prepare()
    for n, plans in ((4, 1), (7, 1), (12, 2), (20, 2), (9, 2)):
        x = np.full((n, 4), 2, np.float32)
        np.testing.assert_array_equal(run(x)["y"], x if n < 10 else x - 3)
        assert len(run.plans) == plans


def test_a_formula_for_some_sizes() -> None:
    """A factor that depends on sizes is that of a GELU for one of them, which gets a plan of its own."""
    model = model_of("""
        n = Shape <start = 0, end = 1> (x)  many = Cast <to = 1> (n)  twelve = Constant <value_float = 12.0> ()
        factor = Div (many, twelve)  part = Constant <value_float = 0.70710678> ()  inner = Mul (x, part)
        share = Erf (inner)  one = Constant <value_float = 1.0> ()  sum = Add (share, one)  both = Mul (x, sum)
        y = Mul (both, factor)""")
    run = model.prepare()
    for n, plans in ((9, 1), (6, 2), (14, 2), (6, 2)):
        x = np.random.default_rng(n).standard_normal((n, 4)).astype(np.float32)
        found, expected = run.prepare({"x": x.shape}), model.prepare(x.shape)
        assert described(found) == described(expected)
        np.testing.assert_array_equal(found(x)["y"], expected(x)["y"])
        assert len(run.plans) == plans, run.report()


# ---- the arrays


def test_functions_are_computed_for_each_shape() -> None:
    sizes = Sizes({"n": 4, "m": 3})
    n, m = sizes["n"], sizes["m"]
    places = later(np.arange, (n,), n)
    mask = places.reshape(n, 1) < later(np.arange, (m,), m).astype("int32").reshape((1, -1))
    twice = called(lambda a: (a.sum(1), a.nonzero()[0]), [mask])  # shapes that are found when it is computed
    assert mask.shape == (n, m) and mask.ndim == 2 and mask.dtype == np.bool_
    assert sizes.conditions[:2] == ["-1 + n != 0", "-1 + m != 0"]  # of the shape
    assert [str(of.shape) for of in twice] == ["(array3[1],)", "(array5[1],)"]
    for values in ((4, 3), (2, 5), (6, 1)):
        expected = np.arange(values[0])[:, None] < np.arange(values[1])
        np.testing.assert_array_equal(mask.at(values), expected)
        np.testing.assert_array_equal(mask.transpose().at(values), expected.T)
        np.testing.assert_array_equal(twice[1].at(values), expected.nonzero()[0])
        assert sizes.resolver([twice[1].shape, (twice[0].all(),)])(*values) == [
            (expected.sum(),),
            (bool(expected.sum(1).all()),),
        ]
    assert later(np.add, (), 1, 2) == 3 and full((2, 3), 7, "int8").tolist() == [[7] * 3] * 2
    assert full((n, 2), 7, "int8").at((3, 0)).tolist() == [[7, 7]] * 3


def test_lost_arrays_are_those_of_the_example() -> None:
    """Whatever needs the numbers."""
    uses: list[Any] = [np.asarray, np.flip, lambda a: a[0], lambda a: a.max(), np.maximum.reduce, lambda a: a.argsort()]
    for use in uses:
        sizes = Sizes({"n": 4, "m": 3})
        array = later(np.arange, (sizes["n"],), sizes["n"])
        use(array)
        assert sizes.conditions == ["-4 + n == 0"]
        release([array.reshape(-1)])
        with pytest.raises(TypeError):
            use(array)


def test_decisions_are_conditions() -> None:
    sizes = Sizes({"n": 4})
    array = later(np.arange, (sizes["n"],), sizes["n"])
    assert not (array > 5).any() and (array + 1).all()
    hold = sizes.conditions_hold()
    assert [hold(n) for n in (2, 6, 7, 20)] == [True, True, False, False]
    a, b = numbered(later(lambda n: np.array([n // 2, n**2]), (2,), sizes["n"])).tolist()
    assert a < b and (a.value, b.value) == (2, 16)
    assert sizes.resolver([(a, b)])(7) == [(3, 49)]
    again = opened(array_of([1, sizes["n"]]), np.int32)
    assert again.dtype == np.int32 and again.at((9,)).tolist() == [1, 9]


def test_sizes_for_which_an_array_cannot_be_computed() -> None:
    sizes = Sizes({"n": 4})
    (first,) = later(lambda n: np.arange(n)[[3]] ** 2, (1,), sizes["n"]).tolist()
    assert first == 9
    hold = sizes.conditions_hold()
    assert hold(5) and not hold(3)
