"""Convolutions whose image is quantised at run time, as quantize_dynamic of ONNX Runtime writes them: one product each.

DynamicQuantizeLinear, ConvInteger, Cast, Mul by Mul(sx, sw), Add of a bias    f(f(float(sum) * f(sx * sw)) + bias)
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from network import quantised as formulas
from network.test_quantised import CONVOLUTIONS, F, assert_bits, node, random_bytes, random_zero, run, scales
from pysimd.network.convert import graph_of
from pysimd.network.graph import Graph
from pysimd.network.layouts import placed
from pysimd.network.passes import simplified
from pysimd.network.source import Source, SourceNode, Value
from support import COMPILER, Array

SIGNAL: Any = ((2, 3, 9), (4, 3, 3), (2,), (1, 2), (1,), 1)  # a convolution of one dimension


def of_case(case: Any) -> dict[str, Any]:
    return dict(zip(("strides", "pads", "dilations", "group"), case[2:]))


def nodes_of(end: str, options: dict[str, Any], x: str = "x", y: str = "y", swapped: bool = False) -> list[SourceNode]:
    """As ONNX Runtime writes a Conv. end : of the names of the weights and of what is computed."""

    def names(text: str) -> str:
        return " ".join(f"{name}{end}" for name in text.split())

    return [
        node("DynamicQuantizeLinear", x, names("q sx zx")),
        node("ConvInteger", names("q w zx zw"), names("sums"), **options),
        node("Cast", names("sums"), names("floats"), to=1),
        node("Mul", names("sw sx" if swapped else "sx sw"), names("both")),
        node("Mul", names("both floats" if swapped else "floats both"), names("product")),
        node("Add", names("bias product" if swapped else "product bias"), y),
    ]


def weights_of(rng: Any, of_w: Any, dtype: str, each: bool, end: str = "") -> dict[str, Any]:
    """each : whether outputs have their own scales and zeros."""
    count, ones = of_w[0], (1,) * (len(of_w) - 2)
    found = {"w": random_bytes(rng, dtype, *of_w), "zw": random_zero(rng, dtype, *((count,) if each else ()))}
    found["sw"] = scales(rng, *((count, *ones) if each else ()))
    found["bias"] = rng.normal(0, 1, (1, count, *ones)).astype(F)
    return {f"{name}{end}": value for name, value in found.items()}


def expected(x: Array, weights: dict[str, Any], case: Any) -> tuple[Array, Array]:
    """The sums, and the floats, with the formula of each node."""
    flat = x.ndim == 3
    q, sx, zx = formulas.dynamic_quantize(x)
    strides, pads, dilations, group = case[2:]
    w = weights["w"]
    if flat:
        q, w, pads = q[:, :, None], w[:, :, None], (0, pads[0], 0, pads[1])
        strides, dilations = (1, *strides), (1, *dilations)
    sums = formulas.conv_integer(q, w, zx, weights["zw"], strides, pads, dilations, group)
    sums = sums[:, :, 0] if flat else sums
    return sums, formulas.to_float(sums, sx, weights["sw"], weights["bias"])


def graph(nodes: list[SourceNode], shape: tuple[int, ...], weights: dict[str, Any]) -> Graph:
    known = {name: np.asarray(value) for name, value in weights.items()}
    values = [Value("x", "float32", None)], [Value("y", "float32", None)]
    return simplified(graph_of(Source("dynamic", 21, *values, nodes, known), {"x": shape}))


def after_sums(found: Graph) -> set[str]:
    """What is computed behind the first product."""
    operators = [each.operator for each in found.nodes]
    return set(operators[operators.index("PackedProduct") :])


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize("each", [False, True])
@pytest.mark.parametrize("case", [*CONVOLUTIONS, SIGNAL], ids=str)
def test_one_product(case: Any, each: bool, dtype: str) -> None:
    """The bits of the nodes, by themselves, with any order of operands; and no node behind a product that computes."""
    rng = np.random.default_rng(41)
    x, weights, options = rng.normal(0.3, 2, case[0]).astype(F), weights_of(rng, case[1], dtype, each), of_case(case)
    sums, floats = expected(x, weights, case)
    for swapped in (False, True):
        nodes = nodes_of("", options, swapped=swapped)
        assert_bits(run(nodes, {"x": x}, weights), floats)
        actual = run(nodes, {"x": x}, weights, "y sums product")  # sums and scaled ones that something else reads
        assert_bits(actual[0], floats)
        assert_bits(actual[1], sums)
        if case[1][1] > 1:
            found = graph(nodes, case[0], weights)
            of_groups = {"Slice", "Concat"} if case[5] > 1 else set()
            assert after_sums(found) <= {"PackedProduct", "Reshape", "Transpose"} | of_groups
            products = [each for each in found.nodes if each.operator == "PackedProduct"]
            assert len(products) == case[5] and all(each.attributes["dtype"] == "float32" for each in products)


def test_scales_of_a_known_image_scale() -> None:
    """Sums times a known scale of each output, of images that are bytes; and scales that the library does not take."""
    rng, case = np.random.default_rng(42), CONVOLUTIONS[2]
    x = random_bytes(rng, "uint8", *case[0])
    nodes = [
        node("ConvInteger", "x w", "sums", **of_case(case)),
        node("Cast", "sums", "floats", to=1),
        node("Mul", "floats s", "y"),
    ]
    w = random_bytes(rng, "int8", *case[1])
    sums = formulas.conv_integer(x, w, 0, 0, *case[2:])
    for one in (0.5, -0.5):
        s = scales(rng, case[1][0], 1, 1) * F(one)
        assert_bits(run(nodes, {"x": x}, {"w": w, "s": s}), sums.astype(F) * s)


@pytest.mark.parametrize("shape", [(3, 1), (6, 3, 1), (1, 3, 4)], ids=str)
def test_factors_along_other_dimensions_stay(shape: tuple[int, ...]) -> None:
    """Factors and biases of rows of an image, of which there are as many as channels, are not those of channels."""
    rng = np.random.default_rng(43)
    case: Any = ((1, 4, 3, 4), (3, 4, 1, 1), (1, 1), (0, 0, 0, 0), (1, 1), 1)
    weights = weights_of(rng, case[1], "int8", False)
    x = rng.normal(0, 1, case[0]).astype(F)
    shape = shape if len(shape) != 3 or shape[0] == 1 else (1, 3, 1)
    for name in ("sw", "bias"):
        given = {**weights, name: rng.uniform(0.5, 1, shape).astype(F)}
        assert_bits(run(nodes_of("", of_case(case)), {"x": x}, given), expected(x, given, case)[1])


#: Of channels by themselves: also several outputs of each, and windows of as many places as sums are exact for.
SINGLE: list[Any] = [
    ((2, 6, 7, 7), (6, 1, 3, 3), (1, 2), (1, 1, 1, 1), (1, 1), 6),
    ((1, 3, 6, 6), (6, 1, 2, 3), (1, 1), (0, 1, 1, 1), (2, 1), 3),
    ((1, 40, 18, 17), (40, 1, 5, 5), (1, 1), (2, 2, 2, 2), (1, 1), 40),
    ((1, 16, 18, 18), (16, 1, 16, 16), (1, 1), (0, 0, 0, 0), (1, 1), 16),
    ((1, 4, 23, 24), (4, 1, 20, 20), (1, 1), (0, 0, 0, 0), (1, 1), 4),
]


@pytest.mark.parametrize("zero", [-128, 127, 3])
@pytest.mark.parametrize("case", SINGLE, ids=str)
def test_channels_by_themselves(case: Any, zero: int) -> None:
    """Whole numbers of floats, if no sum of them is rounded: with the largest factors, and results that are 0, not -0."""
    rng, options = np.random.default_rng(48), of_case(case)
    weights = weights_of(rng, case[1], "int8", False) | {"zw": np.int8(zero)}
    weights["w"][0] = weights["w"][-1] = 127 if zero < 0 else -128
    x = rng.normal(0, 1, case[0]).astype(F)
    x[:, 0], x[:, 1] = 0, 9
    x[0, -1] = -9 if zero == 3 else 9
    product = expected(x, {**weights, "bias": None}, case)[1]
    nodes = nodes_of("", options)[:-1]
    nodes[-1] = node("Mul", "floats both")
    assert_bits(run(nodes, {"x": x}, weights), product)
    assert_bits(run(nodes_of("", options), {"x": x}, weights), product + weights["bias"])
    found = {each.operator for each in graph(nodes, x.shape, weights).nodes}
    assert ("Conv" in found) == (case[1][2:] != (20, 20)) != ("Elementwise" in found)
    assert "Cast" not in found or "Conv" not in found


def test_factors_of_floats_that_are_not_whole_stay() -> None:
    """A convolution of floats whose results become integers: these are not left out."""
    rng = np.random.default_rng(49)
    x, w = random_bytes(rng, "uint8", 1, 3, 5, 5), rng.integers(-9, 9, (3, 1, 3, 3)).astype(F)
    ends = [node("Cast", "f", "i", to=6), node("Cast", "i", "g", to=1), node("Mul", "g h")]
    start = node("Conv", "d w b", "f", group=3)
    for scale, bias, part in ((1, 0.5, 0), (0.5, 0, 0), (1, 0, 0.25)):
        weights: dict[str, Any] = {"s": F(scale), "z": np.uint8(7), "w": w + F(part), "b": np.full(3, bias, F), "h": F(0.3)}
        y = run([node("DequantizeLinear", "x s z", "d"), start, *ends], {"x": x}, weights)
        wide = (x.astype(np.float64) - 7) * np.float64(F(scale))
        sums = np.zeros((1, 3, 3, 3))
        for i, j in np.ndindex(3, 3):
            sums += wide[:, :, i : i + 3, j : j + 3] * weights["w"][:, 0, i, j, None, None]
        assert_bits(y, (np.trunc(sums + bias).astype(F) * F(0.3)).astype(F))


def two_layers(rng: Any, dtype: str = "int8") -> tuple[list[SourceNode], dict[str, Any], list[Any]]:
    """Two convolutions with a Relu between them."""
    cases: list[Any] = [
        ((1, 3, 9, 8), (6, 3, 3, 3), (2, 1), (1, 1, 1, 1), (1, 1), 1),
        ((1, 6, 5, 8), (8, 3, 1, 2), (1, 1), (0, 1, 0, 0), (1, 1), 2),
    ]
    weights = weights_of(rng, cases[0][1], dtype, False, "1") | weights_of(rng, cases[1][1], dtype, True, "2")
    first, second = nodes_of("1", of_case(cases[0]), y="f"), nodes_of("2", of_case(cases[1]), "r")
    return [*first, node("Relu", "f", "r"), *second], weights, cases


def test_layers_in_sequence_have_the_channels_last() -> None:
    rng = np.random.default_rng(44)
    nodes, weights, cases = two_layers(rng)
    x = rng.normal(0, 1, cases[0][0]).astype(F)
    value = x
    for end, case in zip("12", cases):
        own = {name[:-1]: array for name, array in weights.items() if name[-1] == end}
        value = expected(value, own, case)[1]
        value = np.maximum(value, 0) if end == "1" else value
    assert_bits(run(nodes, {"x": x}, weights), value)
    found = [each.operator for each in placed(graph(nodes, x.shape, weights)).nodes]
    assert found.count("Transpose") == 2 and not {"Binary", "ExactBinary", "Scale"} & set(found)  # of the ends


def message_of(sizes: tuple[Any, ...]) -> tuple[Any, list[Any]]:
    onnx = pytest.importorskip("onnx")
    helper = onnx.helper
    nodes, weights, cases = two_layers(np.random.default_rng(45))
    made = [helper.make_node(each.op, each.inputs, each.outputs, **each.attributes) for each in nodes]
    values = [onnx.numpy_helper.from_array(np.asarray(array), name) for name, array in weights.items()]
    x, y = helper.make_tensor_value_info("x", 1, sizes), helper.make_tensor_value_info("y", 1, None)
    whole = helper.make_graph(made, "net", [x], [y], values)
    return helper.make_model(whole, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), cases


@pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")
@pytest.mark.parametrize("layout", ["nchw", "nhwc"])
def test_programs_in_c(layout: str, tmp_path: Path) -> None:
    message, cases = message_of((1, 3, 9, 8))
    from network import test_course_program as programs

    rng = np.random.default_rng(46)
    x = rng.normal(0, 1, cases[0][0]).astype(F)
    given = [{"x": x if layout == "nchw" else np.ascontiguousarray(x.transpose(0, 2, 3, 1))}]
    programs.compare(message, None, given, tmp_path, layout=layout)
    text = (tmp_path / "net.c").read_text()
    assert text.count("SimdnetQuantizedGemmForward(") == 3  # the second layer has two groups
    assert "Multiply" not in text and "SimdSynetScale" not in text


@pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")
def test_images_of_any_size_in_c(tmp_path: Path) -> None:
    import pysimd

    message, _ = message_of(("N", 3, "H", "W"))
    from network import test_open_program as programs

    sizes = [(2, 9, 8), (4, 12, 7), (2, 3, 4), (2, 9, 8), (3, 5, 5)]
    example = dict(zip("NHW", sizes[0]))
    assert programs.compare(pysimd.load(message), {"x": ("N", 3, "H", "W")}, sizes, tmp_path, example) == ""
    text = (tmp_path / "net.c").read_text()
    assert text.count("SimdnetQuantizedGemmForward(") == 3 and "SimdSynetScale" not in text


def test_images_of_any_size_have_the_bits_of_their_nodes() -> None:
    import pysimd

    message, cases = message_of(("N", 3, "H", "W"))
    model, rng = pysimd.load(message), np.random.default_rng(47)
    _, weights, _ = two_layers(np.random.default_rng(45))
    for n, h, w in ((1, 9, 8), (2, 12, 7), (1, 3, 4), (3, 5, 5)):
        x = value = rng.normal(0, 1, (n, 3, h, w)).astype(F)
        for end, case in zip("12", cases):
            own = {name[:-1]: array for name, array in weights.items() if name[-1] == end}
            value = expected(value, own, case)[1]
            value = np.maximum(value, 0) if end == "1" else value
        found = model(x)
        assert_bits(found["y"] if isinstance(found, dict) else found, value)
