"""Random networks of quantised operators: each node has the bits of its formula for the bytes that the others gave it.

Files of ONNX Runtime's quantizer are beside its own results, where it is installed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pysimd
from network import quantised as formulas
from network.test_quantised import MS, F, assert_bits, node, operators_of, random_bytes, random_zero, run, scales
from pysimd.network.convert import graph_of
from pysimd.network.source import Source, SourceNode, Value
from support import Array


class Random:
    """A network under construction: nodes, weights, and the formula of each tensor by its inputs."""

    def __init__(self, seed: int, dtype: str) -> None:
        self.rng, self.dtype = np.random.default_rng(seed), dtype
        self.nodes: list[SourceNode] = []
        self.weights: dict[str, Any] = {}
        self.shapes: dict[str, tuple[int, ...]] = {"x": (2, int(self.rng.integers(1, 9)), 11, 9)}
        self.bytes: dict[str, tuple[Any, Any]] = {"x": self._scale_and_zero()}
        self.formulas: list[tuple[str, tuple[str, ...], Callable[..., Array], int]] = []

    def _scale_and_zero(self) -> tuple[Any, Any]:
        return scales(self.rng), random_zero(self.rng, self.dtype)

    def weight(self, value: Any) -> str:
        name = f"w{len(self.weights)}"
        self.weights[name] = value
        return name

    def of(self, name: str) -> str:
        """The names of a scale and a zero."""
        return " ".join(map(self.weight, self.bytes[name]))

    def made(self, shape: tuple[int, ...], of: tuple[Any, Any] | None = None) -> str:
        name = f"t{len(self.nodes)}"
        self.shapes[name], self.bytes[name] = shape, of or self._scale_and_zero()
        return name

    def add(
        self, op: str, inputs: str, y: str, reads: tuple[str, ...], formula: Any, error: int = 0, **attributes: Any
    ) -> str:
        domain = MS if op.startswith("Q") and op not in ("QLinearConv", "QLinearMatMul") else ""
        self.nodes.append(node(op, inputs, y, domain, **attributes))
        self.formulas.append((y, reads, formula, error))
        return y

    # ---- layers

    def conv(self, x: str) -> str:
        rng, dtype = self.rng, self.dtype
        n, c, h, w = self.shapes[x]
        group = c if rng.random() < 0.3 else 1
        outputs, k = group * int(rng.integers(1, 3)) if group > 1 else int(rng.integers(1, 20)), int(rng.choice([1, 3]))
        kind = str(rng.choice(["uint8", "int8"])) if dtype == "uint8" else "int8"
        options: dict[str, Any] = {
            "strides": (int(rng.integers(1, 3)),) * 2,
            "pads": (k // 2,) * 4,
            "dilations": (1, 1),
            "group": group,
        }
        weight, bias = random_bytes(rng, kind, outputs, c // group, k, k), rng.integers(-999, 999, outputs).astype(np.int32)
        sw, zw = scales(rng, outputs), random_zero(rng, kind) if rng.random() < 0.5 else np.zeros((), kind)
        (sx, zx), (h, w) = self.bytes[x], ((size - 1) // options["strides"][0] + 1 for size in (h, w))
        y = self.made((n, outputs, h, w))
        sy, zy = self.bytes[y]

        def formula(x: Array) -> Array:
            sums = formulas.conv_integer(x, weight, zx, zw, **options) + bias.reshape(-1, 1, 1)
            return formulas.requantize(sums, formulas.factor(sx, sw, sy).reshape(-1, 1, 1), zy, dtype)

        names = f"{x} {self.of(x)} {' '.join(map(self.weight, (weight, sw, zw)))} {self.of(y)} {self.weight(bias)}"
        return self.add("QLinearConv", names, y, (x,), formula, **options)

    def pair(self, x: str) -> str:
        """A sum or a product with an earlier tensor of the same shape."""
        op, formula = (("QLinearAdd", formulas.add), ("QLinearMul", formulas.multiply))[int(self.rng.integers(2))]
        other = str(self.rng.choice([name for name, shape in self.shapes.items() if shape == self.shapes[x]]))
        y = self.made(self.shapes[x])
        numbers = [*self.bytes[x], *self.bytes[other], *self.bytes[y], self.dtype]

        def of_flat(a: Array, b: Array) -> Array:
            return formula(a.reshape(-1), b.reshape(-1), *numbers).reshape(a.shape)

        return self.add(op, f"{x} {self.of(x)} {other} {self.of(other)} {self.of(y)}", y, (x, other), of_flat)

    def gate(self, x: str) -> str:
        """A product with a byte of each channel: the mean of it, and a function of that."""
        n, c = self.shapes[x][:2]
        means, y = self.made((n, c, 1, 1)), ""
        numbers = (*self.bytes[x], *self.bytes[means], self.dtype)
        names = f"{x} {self.of(x)} {self.of(means)}"
        self.add("QLinearGlobalAveragePool", names, means, (x,), lambda x: formulas.global_mean(x, *numbers))
        gate = self.function(self.conv(means) if self.rng.random() < 0.5 else means)
        if self.shapes[gate][1] not in (1, c):
            gate = self.function(means)
        y = self.made(self.shapes[x])
        scales_of_all = [*self.bytes[x], *self.bytes[gate], *self.bytes[y], self.dtype]

        def of_channels(a: Array, b: Array) -> Array:
            return formulas.multiply(a, b, *scales_of_all)

        return self.add("QLinearMul", f"{x} {self.of(x)} {gate} {self.of(gate)} {self.of(y)}", y, (x, gate), of_channels)

    def function(self, x: str) -> str:
        y, op = self.made(self.shapes[x]), str(self.rng.choice(["QLinearSigmoid", "QLinearLeakyRelu"]))
        (sx, zx), (sy, zy), dtype = self.bytes[x], self.bytes[y], self.dtype

        def formula(x: Array) -> Array:
            v = formulas.dequantize(x, sx, zx)
            with np.errstate(over="ignore"):
                floats = 1 / (1 + np.exp(-v)) if op == "QLinearSigmoid" else np.where(v < 0, v * F(0.25), v)
            return formulas.quantize(floats, sy, zy, dtype)

        options: dict[str, Any] = {} if op == "QLinearSigmoid" else {"alpha": 0.25}
        return self.add(op, f"{x} {self.of(x)} {self.of(y)}", y, (x,), formula, error=not options, **options)

    def concat(self, x: str) -> str:
        n, c, h, w = self.shapes[x]
        y, dtype = self.made((n, 2 * c, h, w)), self.dtype
        (sx, zx), (sy, zy) = self.bytes[x], self.bytes[y]

        def formula(x: Array) -> Array:
            return np.concatenate([formulas.quantize(formulas.dequantize(x, sx, zx), sy, zy, dtype)] * 2, 1)

        return self.add("QLinearConcat", f"{self.of(y)} {x} {self.of(x)} {x} {self.of(x)}", y, (x,), formula, axis=1)

    def largest(self, x: str) -> str:
        """Bytes as they are."""
        n, c, h, w = self.shapes[x]
        y = self.made((n, c, max(h - 1, 1), max(w - 1, 1)), self.bytes[x])

        def formula(x: Array) -> Array:
            view = np.lib.stride_tricks.sliding_window_view(x, (min(2, h), min(2, w)), (2, 3))
            return np.asarray(view.max((4, 5)))

        return self.add("MaxPool", x, y, (x,), formula, kernel_shape=(min(2, h), min(2, w)))

    def mean(self, x: str) -> str:
        n, c, h, w = self.shapes[x]
        y = self.made((n, c, h, w))
        numbers = (*self.bytes[x], *self.bytes[y])

        def formula(x: Array) -> Array:
            return formulas.mean(x, *numbers, (3, 3), (1, 1), (1, 1, 1, 1), False, False)

        options: dict[str, Any] = {"kernel_shape": (3, 3), "pads": (1, 1, 1, 1)}
        return self.add("QLinearAveragePool", f"{x} {self.of(x)} {self.of(y)}", y, (x,), formula, **options)

    def matrix(self, x: str, columns: int) -> str:
        """A product of the last dimension, without a formula."""
        size = self.shapes[x][-1]
        y = self.made((*self.shapes[x][:-1], columns))
        given = " ".join(map(self.weight, (random_bytes(self.rng, "int8", size, columns), scales(self.rng), np.int8(0))))
        return self.add("QLinearMatMul", f"{x} {self.of(x)} {given} {self.of(y)}", y, (), None)

    def end(self, x: str) -> None:
        """Global means and a product."""
        n, c = self.shapes[x][:2]
        dtype, y = self.dtype, self.made((n, c, 1, 1))
        numbers = (*self.bytes[x], *self.bytes[y], dtype)
        names = f"{x} {self.of(x)} {self.of(y)}"
        self.add("QLinearGlobalAveragePool", names, y, (x,), lambda x: formulas.global_mean(x, *numbers))
        flat = self.made((n, c), self.bytes[y])
        self.add("Flatten", y, flat, (y,), lambda x: x.reshape(n, c))
        weight, sw, (sx, zx) = random_bytes(self.rng, "int8", c, 10), scales(self.rng, 10), self.bytes[flat]
        result = self.made((n, 10))
        sy, zy = self.bytes[result]

        def formula(x: Array) -> Array:
            return formulas.requantize(formulas.matmul_integer(x, weight, zx), formulas.factor(sx, sw, sy), zy, dtype)

        given = " ".join(map(self.weight, (weight, sw, np.zeros(10, np.int8))))
        self.add("QLinearMatMul", f"{flat} {self.of(flat)} {given} {self.of(result)}", result, (flat,), formula)


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize("seed", range(12))
def test_random_networks(seed: int, dtype: str) -> None:
    network = Random(seed, dtype)
    x = "x"
    steps = [network.conv, network.pair, network.function, network.concat, network.mean, network.gate]
    if dtype == "uint8":
        steps.append(network.largest)
    x = network.conv(x)
    for i in network.rng.integers(0, len(steps), 6):
        x = steps[i](x)
    network.end(x)
    image = random_bytes(network.rng, dtype, *network.shapes["x"])
    names = [name for name, *_ in network.formulas]
    values = dict(zip(names, run(network.nodes, {"x": image}, network.weights, " ".join(names))))
    values["x"] = image
    for name, reads, formula, error in network.formulas:
        expected = formula(*(values[each] for each in reads))
        if error:
            assert abs(values[name].astype(int) - expected.astype(int)).max() <= error
        else:
            assert_bits(values[name], expected)


# ---- groups of DequantizeLinear, an operator and QuantizeLinear


def in_groups(nodes: list[SourceNode], weights: dict[str, Any]) -> list[SourceNode]:
    """The same network of floats between bytes; it adds the scales of biases to the weights."""
    found: list[SourceNode] = []

    def dequantized(x: str, scale: str, zero: str, **attributes: Any) -> str:
        name = f"f{len(found)}"
        found.append(node("DequantizeLinear", f"{x} {scale} {zero}", name, **attributes))
        return name

    for each in nodes:
        op, i = each.op.replace("QLinear", ""), each.inputs
        if op in ("MaxPool", "Flatten"):
            y = next(other for other in nodes if each.outputs[0] in other.inputs or other is nodes[-1])
            place = y.inputs.index(each.outputs[0])
            inputs, last = [dequantized(i[0], *y.inputs[place + 1 : place + 3])], y.inputs[place + 1 : place + 3]
        elif op == "Concat":
            inputs, last = [dequantized(*i[2:5]), dequantized(*i[5:8])], i[:2]
        elif op in ("Conv", "MatMul"):
            inputs, last = [dequantized(*i[:3]), dequantized(*i[3:6], axis=int(op == "MatMul"))], i[6:8]
            if op == "Conv":
                weights[f"{i[8]}s"] = np.asarray(weights[i[1]] * weights[i[4]], F)
                weights[f"{i[8]}z"] = np.zeros(weights[f"{i[8]}s"].shape, np.int32)
                inputs.append(dequantized(i[8], f"{i[8]}s", f"{i[8]}z", axis=0))
        elif op in ("Add", "Mul"):
            inputs, last = [dequantized(*i[:3]), dequantized(*i[3:6])], i[6:8]
        else:
            inputs, last = [dequantized(*i[:3])], i[3:5]
        found.append(SourceNode(op, tuple(inputs), (f"g{len(found)}",), each.attributes, each.name))
        found.append(node("QuantizeLinear", " ".join((found[-1].outputs[0], *last)), each.outputs[0]))
    return found


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize("seed", range(8))
def test_groups_are_quantised_operators(seed: int, dtype: str) -> None:
    """With the same bits, and without an operator of floats."""
    network = Random(seed, dtype)
    x = network.conv("x")
    for i in network.rng.integers(0, 4, 6):
        x = (network.conv, network.function, network.concat, network.gate)[i](x)
    c = network.shapes[x][1]
    y = network.made(network.shapes[x])
    network.add("QLinearAdd", f"{x} {network.of(x)} {x} {network.of(x)} {network.of(y)}", y, (), None)
    network.matrix(y, c)
    image = random_bytes(network.rng, dtype, *network.shapes["x"])
    names = " ".join(name for name, *_ in network.formulas)
    expected = run(network.nodes, {"x": image}, network.weights, names)
    nodes = in_groups(network.nodes, network.weights)
    for actual, of in zip(run(nodes, {"x": image}, network.weights, names), expected):
        assert_bits(actual, of)
    assert not {"Binary", "Conv", "Dequantize", "Linear", "Reduce"} & operators_of(
        [*nodes, node("Identity", network.nodes[-1].outputs[0])], {"x": image}, network.weights
    )


GROUP: dict[str, Any] = {
    "sx": F(0.02), "zx": np.uint8(120), "w": np.arange(-27, 27).reshape(2, 3, 3, 3).astype(np.int8),
    "sw": F(0.03), "zw": np.int8(0), "b": np.array([300, -700], np.int32), "sb": F(F(0.02) * F(0.03)), "zb": np.int32(0),
    "sy": F(0.05), "zy": np.uint8(90), "six": F(6), "none": F(0),
}  # fmt: skip


def group(between: str = "", activation: list[SourceNode] | None = None) -> list[SourceNode]:
    return [
        node("DequantizeLinear", "x sx zx", "f"),
        node("DequantizeLinear", "w sw zw", "g", axis=0),
        node("DequantizeLinear", "b sb zb", "h", axis=0),
        node("Conv", "f g h", "i"),
        *(activation or []),
        node("QuantizeLinear", f"{between or 'i'} sy zy"),
    ]


@pytest.mark.parametrize(
    ("between", "activation", "limits"),
    [
        ("", [], (0, 255)),
        ("j", [node("Relu", "i", "j")], (90, 255)),
        ("j", [node("Clip", "i none six", "j")], (90, 210)),
        ("j", [node("Clip", "i - six", "j")], (0, 210)),
    ],
)
def test_limits_of_a_group(between: str, activation: list[SourceNode], limits: tuple[int, int]) -> None:
    x = random_bytes(np.random.default_rng(1), "uint8", 1, 3, 9, 9)
    sums = formulas.conv_integer(x, GROUP["w"], GROUP["zx"], 0, (1, 1), (0,) * 4, (1, 1), 1)
    by = formulas.factor(GROUP["sx"], GROUP["sw"], GROUP["sy"])
    expected = formulas.requantize(sums + GROUP["b"].reshape(-1, 1, 1), by, GROUP["zy"], "uint8")
    nodes = group(between, activation)
    assert "QuantizedConv" in operators_of(nodes, {"x": x}, GROUP)
    assert_bits(run(nodes, {"x": x}, GROUP), np.clip(expected, *limits))


@pytest.mark.parametrize(
    "other",
    [
        {"sb": F(0.001)},  # of a bias that is not one of sums
        {"b": np.array([0.3, -0.7], F)},
        {"sx": np.full(3, 0.02, F), "zx": np.full(3, 120, np.uint8)},
        {"sw": np.full(3, 0.03, F), "zw": np.zeros(3, np.int8)},
    ],
)
def test_groups_that_stay_floats(other: dict[str, Any]) -> None:
    x, given = random_bytes(np.random.default_rng(1), "uint8", 1, 3, 9, 9), {**GROUP, **other}
    nodes = group()
    if "b" in other:
        nodes = [*nodes[:2], node("Conv", "f g b", "i"), nodes[-1]]
    if "sw" in other:
        nodes[1] = node("DequantizeLinear", "w sw zw", "g", axis=1)
    assert "QuantizedConv" not in operators_of(nodes, {"x": x}, given)
    axis = (1, -1, 1, 1)
    v, w = (
        formulas.dequantize(given[q], given[s].reshape(axis), given[z].reshape(axis)) for q, s, z in (("w", "sw", "zw"),) * 2
    )
    v = formulas.dequantize(x, given["sx"].reshape(axis), given["zx"].reshape(axis))
    view = np.lib.stride_tricks.sliding_window_view(v.astype(float), (3, 3), (2, 3))
    bias = given["b"] if given["b"].dtype == F else given["b"] * float(given["sb"])
    floats = np.einsum("nchwyx,ocyx->nohw", view, w.astype(float)) + bias.reshape(-1, 1, 1)
    actual = run(nodes, {"x": x}, given).astype(int)
    assert abs(actual - formulas.quantize(floats.astype(F), given["sy"], given["zy"], "uint8")).max() <= 1


def of_group(names: Sequence[str], between: str = "", activation: list[SourceNode] | None = None) -> set[str]:
    """The operators of the graph of a group where a function of the user computes some."""
    source = Source("group", 21, [Value("x", "uint8", None)], [Value("y", "uint8", None)], group(between, activation), GROUP)
    fallback = {name: lambda *x, **_: x[0].astype(F) for name in names}
    return {each.operator for each in graph_of(source, {"x": (1, 3, 9, 9)}, fallback).nodes}


@pytest.mark.parametrize("prefix", ["", "ai.onnx."])
@pytest.mark.parametrize("op", ["Conv", "Relu", "Clip", "QuantizeLinear", "DequantizeLinear", "QLinearConv"])
def test_functions_of_the_user_are_called(op: str, prefix: str) -> None:
    """What they compute is part of no group; other groups stay."""
    activation = [node("Clip", "i none six", "j")] if op == "Clip" else [node("Relu", "i", "j")]
    shown = of_group([f"{prefix}{op}"], "j", activation)
    assert "QuantizedConv" not in shown and ("Host" in shown) == (op != "QLinearConv")
    assert "QuantizedConv" in of_group([f"{prefix}Sigmoid", "com.microsoft.Conv", "other.Relu"], "j", activation)


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_the_byte_of_a_limit(dtype: str) -> None:
    """It is between the least and the most, in this order."""
    least, most = formulas.LIMITS[dtype]
    x, zero = random_bytes(np.random.default_rng(1), dtype, 1, 3, 9, 9), np.array(-3 if dtype == "int8" else 90, dtype)
    weights = {**GROUP, "zx": np.zeros((), dtype), "zy": zero}
    plain = run(group(), {"x": x}, weights).astype(int)
    for low, high in ((0, 6), (-99, 1), (-1, 99), (-99, 99), (20, 99), (-99, -20)):
        nodes = group("j", [node("Clip", "i low high", "j")])
        found = run(nodes, {"x": x}, {**weights, "low": F(low), "high": F(high)})
        limits = (np.clip(np.rint(F(limit) / GROUP["sy"]) + int(zero), least, most) for limit in (low, high))
        assert_bits(found, plain.clip(*limits).astype(dtype))


def test_values_that_others_read_stay() -> None:
    """The float is an output, too."""
    x = random_bytes(np.random.default_rng(1), "uint8", 1, 3, 9, 9)
    y, i = run(group(), {"x": x}, GROUP, "y i")
    assert_bits(y, formulas.quantize(i, GROUP["sy"], GROUP["zy"], "uint8"))
    assert run([*group(), node("DequantizeLinear", "y sy zy", "z")], {"x": x}, GROUP, "z").dtype == F


# ---- files of ONNX Runtime's quantizer


@pytest.mark.parametrize(("given", "result"), [("int8", "uint8"), ("uint8", "int8"), ("int8", "int8")])
def test_moves_between_types(given: str, result: str) -> None:
    """With equal scales and zeros: bytes that the other type lacks are limited."""
    x = np.array([[-5, 3, 127, -128]]).astype(given)
    weights = {"s": F(0.5), "zx": np.zeros((), given), "zy": np.zeros((), result), "shape": np.array([4, 1])}
    moved = [node("DequantizeLinear", "x s zx", "a"), node("Reshape", "a shape", "b"), node("QuantizeLinear", "b s zy", "y")]
    limits = np.iinfo(result)
    assert_bits(run(moved, {"x": x}, weights, "y"), x.astype(int).clip(limits.min, limits.max).astype(result).reshape(4, 1))


def float_model(folder: Path) -> Path:
    """A small network of images, with a convolution of each kind, a sum, a product of matrices and functions of elements."""
    onnx = pytest.importorskip("onnx")
    helper, rng = onnx.helper, np.random.default_rng(1)
    weights: list[Any] = []

    def w(*shape: int) -> str:
        values = rng.normal(0, 1 / np.sqrt(np.prod(shape[1:])), shape).astype(F)
        weights.append(onnx.numpy_helper.from_array(values, f"w{len(weights)}"))
        return str(weights[-1].name)

    nodes = [
        helper.make_node("Conv", ["x", w(8, 3, 3, 3), w(8)], ["a"], pads=[1, 1, 1, 1], strides=[2, 2]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("Conv", ["b", w(8, 1, 3, 3), w(8)], ["c"], pads=[1, 1, 1, 1], group=8),
        helper.make_node("Sigmoid", ["c"], ["d"]),
        helper.make_node("Mul", ["c", "d"], ["e"]),
        helper.make_node("Conv", ["e", w(8, 8, 1, 1), w(8)], ["f"]),
        helper.make_node("Add", ["f", "b"], ["g"]),
        helper.make_node("Concat", ["g", "e"], ["h"], axis=1),
        helper.make_node("MaxPool", ["h"], ["i"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("AveragePool", ["i"], ["j"], kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        helper.make_node("GlobalAveragePool", ["j"], ["k"]),
        helper.make_node("Flatten", ["k"], ["l"]),
        helper.make_node("MatMul", ["l", w(16, 12)], ["m"]),
        helper.make_node("Add", ["m", w(12)], ["n"]),
        helper.make_node("LeakyRelu", ["n"], ["o"], alpha=0.1),
        helper.make_node("Gemm", ["o", w(12, 10), w(10)], ["p"]),
        helper.make_node("Softmax", ["p"], ["y"], axis=1),
    ]
    values = [helper.make_tensor_value_info(name, 1, shape) for name, shape in (("x", [1, 3, 24, 20]), ("y", [1, 10]))]
    graph = helper.make_graph(nodes, "small", values[:1], values[1:], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, folder / "float.onnx")
    return folder / "float.onnx"


def images(seed: int, count: int) -> list[dict[str, Array]]:
    rng = np.random.default_rng(seed)
    return [{"x": rng.normal(0, 1, (1, 3, 24, 20)).astype(F)} for _ in range(count)]


#: How files are made: the format, and options of the quantizer.
MODES: dict[str, tuple[str, dict[str, Any]]] = {
    "dynamic": ("dynamic", {}),
    "dynamic of unsigned weights": ("dynamic", {"weight_type": "QUInt8"}),
    "dynamic by channel": ("dynamic", {"per_channel": True}),
    **{
        f"{form} {x} {w}{' by channel' if each else ''}": (
            form,
            {"activation_type": x, "weight_type": w, "per_channel": each},
        )
        for form in ("QOperator", "QDQ")
        for x, w in (("QUInt8", "QInt8"), ("QInt8", "QInt8"), ("QUInt8", "QUInt8"))
        for each in (False, True)
    },
    "QDQ of 16 bits": ("QDQ", {"activation_type": "QUInt16", "weight_type": "QInt8"}),
    "QDQ of 16 bits with a sign": ("QDQ", {"activation_type": "QInt16", "weight_type": "QInt16"}),
    "QDQ of weights of 7 bits": ("QDQ", {"activation_type": "QUInt8", "weight_type": "QInt8", "reduce_range": True}),
    **{
        f"QDQ, {name}": ("QDQ", {"activation_type": "QInt8", "weight_type": "QInt8", "extra_options": {name: value}})
        for name, value in (
            ("ActivationSymmetric", True), ("AddQDQPairToWeight", True), ("QuantizeBias", False), ("DedicatedQDQPair", True),
            ("MinimumRealRange", 0.01),
        )
    },
    **{
        f"QDQ, {method}": ("QDQ", {"activation_type": "QUInt8", "weight_type": "QInt8", "calibrate_method": method})
        for method in ("Entropy", "Percentile")
    },
}  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
def test_files_of_a_quantizer(mode: str, tmp_path: Path) -> None:
    """Bytes differ by the order of rounding in fused steps alone: results by a few quanta."""
    ort = pytest.importorskip("onnxruntime", reason="onnxruntime, which quantises, is not installed")
    tools = pytest.importorskip("onnxruntime.quantization")
    form, options = MODES[mode]
    kinds = {"calibrate_method": tools.CalibrationMethod}
    options = {
        name: getattr(kinds.get(name, tools.QuantType), value) if isinstance(value, str) else value
        for name, value in options.items()
    }
    source, target = float_model(tmp_path), tmp_path / "quantised.onnx"
    if form == "dynamic":
        tools.quantize_dynamic(source, target, **options)
    else:
        samples = iter([*images(2, 8), None])
        reader = type("Reader", (tools.CalibrationDataReader,), {"get_next": lambda _: next(samples)})()
        tools.quantize_static(source, target, reader, quant_format=tools.QuantFormat[form], **options)
    plain = ort.SessionOptions()
    plain.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(target, plain, providers=["CPUExecutionProvider"])
    prepared = pysimd.load(target).prepare()
    for given in images(3, 20):
        (theirs,) = session.run(None, given)
        np.testing.assert_allclose(prepared(given)["y"], theirs, atol=0.02 if form == "QDQ" else 1e-5)
