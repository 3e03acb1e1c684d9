"""Quantised models that are made from float ones: the file, how near it is, and what is refused."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pysimd
from network import quantised as formulas
from network.quantizing import SHAPE, F, Net, images, small
from pysimd.__main__ import main
from pysimd.network.quantize.onnx_file import File
from pysimd.network.quantize.opsets import upgraded
from support import Array

SAMPLES = images(1, 10, *SHAPE)


def error_of(made: Any, data: bytes, given: list[Array]) -> float:
    """The largest difference of outputs from the float model's."""
    model, quantised = pysimd.load(data), made.load()
    return max(float(abs(model(x)[y] - quantised(x)[y]).max()) for x in given for y in model.outputs)


def weights_of(data: bytes) -> dict[str, Array]:
    onnx = pytest.importorskip("onnx")
    return {each.name: onnx.numpy_helper.to_array(each) for each in onnx.load_from_string(data).graph.initializer}


def test_a_small_network() -> None:
    data = small()
    made = pysimd.quantize_model(data, SAMPLES)
    assert len(made.products) == 5 and "node_first" in made.products
    assert error_of(made, data, images(2, 20, *SHAPE)) < 0.03
    pytest.importorskip("onnx").checker.check_model(made.data, full_check=True)


def test_products_have_bytes() -> None:
    model = pysimd.quantize_model(small(), SAMPLES).load()
    operators = Counter(node.operator for node in model.prepare(SHAPE).graph.nodes)
    assert (operators["QuantizedConv"], operators["QuantizedLinear"]) == (3, 2)
    assert not {"Conv", "Linear"} & set(operators)


def test_other_programs_run_it() -> None:
    ort = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    made = pysimd.quantize_model(small(), SAMPLES)
    session, model = ort.InferenceSession(made.data, providers=["CPUExecutionProvider"]), made.load()
    for x in images(3, 10, *SHAPE):
        np.testing.assert_allclose(model(x)["y"], session.run(None, {"x": x})[0], atol=0.01)


def test_formulas_of_one_convolution() -> None:
    """Scales, zeros, weights and the bias are those of the formulas; the result has their bits."""
    net = Net()
    net.conv(net.conv("x", 4, 3, y="c"), 2, 4, 1, y="y")
    x = images(4, 3, 1, 3, 6, 5)
    made = pysimd.quantize_model(
        net.bytes({"x": [1, 3, 6, 5]}, {"y": [1, 2, 6, 5]}), x, method="minmax", bias_correction=False
    )
    given = weights_of(made.data)
    least, most = min(a.min() for a in x), max(a.max() for a in x)
    sx = F((float(most) - float(least)) / 255)
    assert given["x_scale"] == sx and given["x_zero_point"] == np.rint(-float(least) / sx)
    w, sw = net.weights["w0"], given["w0_scale"]
    np.testing.assert_array_equal(sw, (abs(w).max((1, 2, 3)) / 127).astype(F))
    q = np.clip(np.rint(w / sw.reshape(-1, 1, 1, 1)), -127, 127).astype(np.int8)
    np.testing.assert_array_equal(given["w0_quantized"], q)
    bias = np.rint(net.weights["w1"].astype(float) / (sx * sw)).astype(np.int32)
    np.testing.assert_array_equal(given["node_c_bias_quantized"], bias)
    sums = formulas.conv_integer(
        formulas.quantize(x[0], sx, given["x_zero_point"], "uint8"), q, given["x_zero_point"], 0, (1, 1), (1,) * 4, (1, 1), 1
    )
    bytes_ = formulas.requantize(
        sums + bias.reshape(-1, 1, 1),
        formulas.factor(sx, sw, given["c_scale"]).reshape(-1, 1, 1),
        given["c_zero_point"],
        "uint8",
    )
    onnx = pytest.importorskip("onnx")
    file = onnx.load_from_string(made.data)
    del file.graph.output[:]
    file.graph.output.append(onnx.helper.make_tensor_value_info("c_quantized", 2, None))
    np.testing.assert_array_equal(pysimd.load(file)(x[0])["c_quantized"], bytes_)


def test_batch_normalisation_is_folded() -> None:
    made = pysimd.quantize_model(small(), SAMPLES)
    operators = {node.op_type for node in pytest.importorskip("onnx").load_from_string(made.data).graph.node}
    assert "BatchNormalization" not in operators and "QuantizeLinear" in operators


def rows(turned: bool = False) -> tuple[bytes, dict[str, Array]]:
    """Products of three dimensions whose biases are added behind them, and its weights."""
    net, x = Net(), "x"
    for i, (inputs, outputs) in enumerate(((16, 24), (24, 8), (8, 5))):
        x = net.add("MatMul", x, net.weight(inputs, outputs), y=f"m{i}")
        bias = net.weight(outputs, scale=0.5)
        x = net.add("Add", *((bias, x) if turned else (x, bias)), y=f"a{i}")
        x = net.add("Relu" if i == 0 else "Tanh", x, y="y" if i == 2 else "")
    return net.bytes({"x": [2, 7, 16]}, {"y": [2, 7, 5]}), net.weights


@pytest.mark.parametrize("turned", [False, True])
def test_terms_of_columns_are_biases(turned: bool) -> None:
    """Of products of three dimensions; the result of each is bytes, after its Relu."""
    data, weights = rows(turned)
    samples = images(1, 10, 2, 7, 16)
    made = pysimd.quantize_model(data, samples, bias_correction=False)
    assert made.report.outputs[0].sqnr > 30
    operators = Counter(node.operator for node in made.load().prepare((2, 7, 16)).graph.nodes)
    assert operators == {"Quantize": 1, "QuantizedLinear": 3, "Dequantize": 1, "Unary": 1}  # a table is one of the products
    found = weights_of(made.data)
    of_sums = found["x_scale"] * found["w0_scale"]
    np.testing.assert_array_equal(found["node_m0_bias_quantized"], np.rint(weights["w1"] / of_sums).astype(np.int32))
    corrected = weights_of(pysimd.quantize_model(data, samples).data)
    assert (corrected["node_m1_bias_quantized"] != found["node_m1_bias_quantized"]).any()
    pytest.importorskip("onnx").checker.check_model(made.data, full_check=True)


def test_terms_that_stay() -> None:
    """An Add that is kept in float, and modes without samples."""
    data, _ = rows()
    made = pysimd.quantize_model(data, images(1, 5, 2, 7, 16), keep_float=["node_a0"])
    found = weights_of(made.data)
    assert "node_m0_bias_quantized" not in found and "node_m1_bias_quantized" in found
    for mode in ("dynamic", "weights"):
        plain = pysimd.quantize_model(data, mode=mode)
        assert not [name for name in weights_of(plain.data) if "_bias" in name]
        assert error_of(plain, data, images(2, 10, 2, 7, 16)) < 0.05


def gated(activation: str = "Relu") -> tuple[bytes, list[str]]:
    """Factors of channels that are computed from their means; biases are added in a shape that a node gives them."""
    net = Net()
    x = net.add(activation, net.conv("x", 8, 3))
    gate = net.add("GlobalAveragePool", x)
    names = []
    for outputs, inputs in ((4, 8), (8, 4)):
        gate = net.conv(gate, outputs, inputs, 1, bias=False)
        shape = net.constant(np.array([1, -1, 1, 1]))
        gate = net.add("Add", net.add("Reshape", net.weight(outputs), shape), gate)
        names.append(gate)
        gate = net.add("Relu" if outputs == 4 else "HardSigmoid", gate)
    net.conv(net.add("Mul", x, gate, y="product"), 4, 8, 1, y="y")
    return net.bytes({"x": list(SHAPE)}, {"y": [1, 4, 24, 20]}), names


def gated_by_matrices(op: str) -> tuple[bytes, list[str]]:
    """The same with products of matrices; the shape of the factors is computed from that of the image."""
    net = Net()
    x = net.add("Relu", net.conv("x", 8, 3))
    gate, names = net.add("Flatten", net.add("GlobalAveragePool", x)), []
    for outputs, inputs in ((4, 8), (8, 4)):
        bias = net.weight(outputs)
        if op == "Gemm":
            gate = net.add("Gemm", gate, net.weight(outputs, inputs), bias, transB=1)
        else:
            gate = net.add("Add", net.add("MatMul", gate, net.weight(inputs, outputs)), bias)
        names.append(gate)
        gate = net.add("Relu" if outputs == 4 else "HardSigmoid", gate)
    batch = net.add("Gather", net.add("Shape", x), net.constant(np.array([0, 1])))
    shape = net.add("Concat", batch, net.constant(np.array([1, 1])), axis=0)
    net.conv(net.add("Mul", x, net.add("Reshape", gate, shape), y="product"), 4, 8, 1, y="y")
    return net.bytes({"x": list(SHAPE)}, {"y": [1, 4, 24, 20]}), names


@pytest.mark.parametrize("op", ["Gemm", "MatMul"])
def test_factors_of_channels_by_products_of_matrices(op: str) -> None:
    """As those by convolutions: no bytes within, the image, its means, the factors and the result are bytes."""
    onnx = pytest.importorskip("onnx")
    data, names = gated_by_matrices(op)
    made = pysimd.quantize_model(data, SAMPLES, keep_float=())
    nodes = onnx.load_from_string(made.data).graph.node
    quantised = {node.input[0] for node in nodes if node.op_type == "QuantizeLinear"}
    assert quantised.isdisjoint(names) and "product" in quantised and len(made.products) == 4
    operators = Counter(node.operator for node in made.load().prepare(SHAPE).graph.nodes)
    assert (operators["QuantizedPool"], operators["QuantizedBinary"], operators["QuantizedConv"]) == (1, 1, 1)
    assert made.report.outputs[0].sqnr > 30
    kept = pysimd.quantize_model(data, SAMPLES, keep_float=["product"])
    assert "QuantizedBinary" not in {node.operator for node in kept.load().prepare(SHAPE).graph.nodes}


def test_factors_of_channels_are_floats() -> None:
    """Only the weights of their products are integers, and the terms after these are their biases."""
    onnx = pytest.importorskip("onnx")
    data, names = gated()
    made = pysimd.quantize_model(data, SAMPLES)
    nodes = onnx.load_from_string(made.data).graph.node
    makers = {name: node for node in nodes for name in node.output}
    for name in names:
        assert makers[name].op_type == "Conv" and len(makers[name].input) == 3
        activation, weight = (makers[each] for each in makers[name].input[:2])
        assert activation.op_type in ("DequantizeLinear", "Relu") and weight.op_type == "DequantizeLinear"
    assert makers["y"].op_type == "Conv" and makers[makers["y"].input[0]].op_type == "DequantizeLinear"
    assert len(made.products) == 4 and error_of(made, data, images(2, 5, *SHAPE)) < 0.1


@pytest.mark.parametrize("activation", ["Relu", "HardSwish", "Sigmoid"])
def test_images_of_gates_are_bytes(activation: str) -> None:
    """Their means, the factors and the products, too: no image of floats is left, nor a step for the function of a byte."""
    data, _ = gated(activation)
    made = pysimd.quantize_model(data, SAMPLES, keep_float=())
    operators = Counter(node.operator for node in made.load().prepare(SHAPE).graph.nodes)
    assert (operators["QuantizedPool"], operators["QuantizedBinary"], operators["QuantizedConv"]) == (1, 1, 1)
    assert operators["Table8"] == 0 and operators["Binary"] == 0
    floats = pysimd.quantize_model(data, SAMPLES, keep_float=["product"])
    assert made.report.outputs[0].sqnr > min(floats.report.outputs[0].sqnr - 3, 35)


def test_gates_that_stay_in_float() -> None:
    """Those that are named, and those whose products are float; images that are no function of bytes."""
    data = gated()[0]
    for kept in (["product"], ["y"]):
        nodes = pysimd.quantize_model(data, SAMPLES, keep_float=kept).load().prepare(SHAPE).graph.nodes
        assert "QuantizedBinary" not in {node.operator for node in nodes}
    net = Net()
    x = net.add("Softmax", net.conv("x", 8, 3), axis=1)
    gate = net.add("HardSigmoid", net.conv(net.add("GlobalAveragePool", x), 8, 8, 1))
    net.conv(net.add("Mul", gate, x), 4, 8, 1, y="y")
    other = pysimd.quantize_model(net.bytes({"x": list(SHAPE)}, {"y": [1, 4, 24, 20]}), SAMPLES, keep_float=())
    assert "QuantizedBinary" not in {node.operator for node in other.load().prepare(SHAPE).graph.nodes}


def test_gates_with_much_noise_stay_in_float() -> None:
    """Found as products are, within the budget; their names are among those that are kept."""
    net = Net()
    x = net.add("Relu", net.conv("x", 8, 3, 7))
    gate = net.add("GlobalAveragePool", x)
    gate = net.add("Add", gate, net.constant(np.array([900, *[0] * 7], F).reshape(1, 8, 1, 1)))  # one is much larger
    net.add("Mul", gate, x, y="product")
    weight = net.rng.normal(0, 1, (8, 8, 1, 1)).astype(F)
    weight[:, 0] = 0  # its result is not used, but the others have the scale that it needs
    net.add("Conv", "product", net.constant(weight), y="y")
    data = net.bytes({"x": list(SHAPE)}, {"y": [1, 8, 24, 20]})
    made = pysimd.quantize_model(data, SAMPLES, float_budget=0.9)
    assert "node_product" in made.kept and "node_product" not in made.products
    assert "node_product" not in pysimd.quantize_model(data, SAMPLES, float_budget=0.0).kept


def residual(clip: bool = False) -> bytes:
    """Blocks whose operands are a result, the sum before it, a pooled image, or a function of a result."""
    net = Net()
    x = net.add("Relu", net.conv("x", 8, 3, strides=[2, 2]))
    x = net.add("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    for i in range(3):
        y = net.add("Relu", net.conv(x, 8, 8))
        y = net.add("Add", *((net.conv(y, 8, 8), x) if i != 1 else (x, net.add("Sigmoid", net.conv(y, 8, 8)))), y=f"sum{i}")
        limits = [net.constant(np.array(limit, F)) for limit in (0, 2)] if clip else []
        x = net.add("Clip" if clip else "Relu", y, *limits)
    net.add("Gemm", net.add("Flatten", net.add("GlobalAveragePool", x)), net.weight(8, 10), y="y")
    return net.bytes({"x": list(SHAPE)}, {"y": [1, 10]})


def operators_of(made: Any) -> Counter[str]:
    return Counter(node.operator for node in made.load().prepare(SHAPE).graph.nodes)


@pytest.mark.parametrize("clip", [False, True])
def test_sums_are_bytes(clip: bool) -> None:
    """Of a block, for the next one and for means: no image of floats is left, and the convolutions add."""
    made = pysimd.quantize_model(residual(clip), SAMPLES, keep_float=())
    operators = operators_of(made)
    assert not {"Binary", "QuantizedBinary", "Unary", "Clip", "Conv", "Pool"} & set(operators)
    assert (operators["Quantize"], operators["Dequantize"], operators["QuantizedConv"]) == (1, 1, 7)
    file = pytest.importorskip("onnx").load_from_string(made.data)
    makers = {name: node for node in file.graph.node for name in node.output}
    for node in file.graph.node:
        if node.op_type == "Add":
            assert [makers[name].op_type for name in node.input] == ["DequantizeLinear"] * 2
    assert made.report.outputs[0].sqnr > 30


def test_other_programs_run_sums_of_bytes() -> None:
    ort = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    made = pysimd.quantize_model(residual(), SAMPLES)
    session, model = ort.InferenceSession(made.data, providers=["CPUExecutionProvider"]), made.load()
    for x in images(3, 10, *SHAPE):
        np.testing.assert_allclose(model(x)["y"], session.run(None, {"x": x})[0], atol=0.02)


def test_sums_that_stay_in_float() -> None:
    """One that is named, and those that need its bytes; for floats, of floats, and functions of a tensor."""
    made = pysimd.quantize_model(residual(), SAMPLES, keep_float=["node_sum1"])
    assert operators_of(made)["Binary"] == 2 and "sum1_quantized" not in weights_of(made.data)
    nodes = pytest.importorskip("onnx").load_from_string(residual()).graph.node
    (of_sum,) = (node.output[0] for node in nodes if "sum1" in node.input)
    (layer,) = (node.name for node in nodes if node.op_type == "Conv" and of_sum in node.input)
    made = pysimd.quantize_model(residual(), SAMPLES, keep_float=[layer])
    assert "sum1_quantized" not in weights_of(made.data) and f"{of_sum}_scale" not in weights_of(made.data)
    for reader in ("Softmax", "", "Conv"):
        net = Net()
        a, b = net.conv("x", 8, 3), net.conv("x", 8, 3)
        b = {"Softmax": b, "": net.add("Sigmoid", a), "Conv": net.add("Softmax", b, axis=1)}[reader]
        total = net.add("Add", a, b, y="sum")
        net.conv(net.add(reader, total, axis=1) if reader == "Softmax" else total, 4, 8, 1, y="y")
        made = pysimd.quantize_model(net.bytes({"x": list(SHAPE)}, {"y": [1, 4, 24, 20]}), SAMPLES, keep_float=())
        assert operators_of(made)["QuantizedBinary"] == 0


def test_sums_with_much_noise_stay_in_float() -> None:
    """One is much larger in a channel that another reader than a layer does not use."""
    net = Net()
    weight = net.rng.normal(0, 1, (8, 3, 1, 1)).astype(F)
    weight[0] *= 1000
    large = net.add("Conv", "x", net.constant(np.concatenate([weight[:1], 0 * weight[1:]])))
    total = net.add(
        "Add", large, net.add("Conv", "x", net.constant(weight * np.r_[0, [1] * 7].reshape(8, 1, 1, 1).astype(F)))
    )
    net.nodes[-1].name = "total"
    used = net.add("Mul", total, net.constant(np.array([0, *[1] * 7], F).reshape(1, 8, 1, 1)))
    net.add("Add", used, net.add("Conv", total, net.constant(np.full((8, 8, 1, 1), 1e-6, F))), y="y")
    data = net.bytes({"x": list(SHAPE)}, {"y": [1, 8, 24, 20]})
    made = pysimd.quantize_model(data, SAMPLES, float_budget=0.9)
    assert "total" in made.kept and "total" not in made.products and made.report.outputs[0].sqnr > 30
    assert "total" not in pysimd.quantize_model(data, SAMPLES, keep_float=()).kept
    assert pysimd.quantize_model(data, SAMPLES, keep_float=()).report.outputs[0].sqnr < 10


def test_biases_make_means_right() -> None:
    """Of all channels of the last product of a chain, on the samples: each is computed from those corrected before it."""
    net, x = Net(), "x"
    for i in range(5):
        x = net.add("Relu", net.conv(x, 8, 3 if i == 0 else 8))
        x = net.add("Add", x, net.conv(x, 8, 8, group=8))
    net.conv(x, 8, 8, 1, y="y")
    data, given = net.bytes({"x": list(SHAPE)}, {"y": [1, 8, 24, 20]}), images(1, 8, *SHAPE)
    model, apart = pysimd.load(data), []
    for corrects in (False, True):
        made = pysimd.quantize_model(data, given, bias_correction=corrects, method="percentile", percentile=99.0).load()
        apart.append(float(np.abs(np.mean([(made(x)["y"] - model(x)["y"]).mean((0, 2, 3)) for x in given], 0)).max()))
    assert apart[1] < 0.1 * apart[0]


@pytest.mark.parametrize("opset", [11, 12, 13, 15, 20])
def test_opsets(opset: int) -> None:
    """Older operators become those of version 13; the float results of these files are the same."""
    net = Net(opset=opset)
    a = net.conv("x", 4, 3)
    if opset < 13:
        b = net.add("Squeeze", net.add("ReduceSum", a, axes=[3], keepdims=1), axes=[3])
        c = net.add("Unsqueeze", net.add("Softmax", b, axis=1), axes=[2])
    else:
        axes = net.constant(np.array([3]))
        b = net.add("Squeeze", net.add("ReduceSum", a, axes, keepdims=1), axes)
        shape = net.constant(np.array([1, 4, 6]))
        flat = net.add("Softmax", net.add("Flatten", b, axis=1), axis=1)
        c = net.add("Unsqueeze", net.add("Reshape", flat, shape), net.constant(np.array([2])))
    net.conv(c, 2, 4, 1, y="y")
    data = net.bytes({"x": [1, 3, 6, 5]}, {"y": [1, 2, 1, 6]})
    (x,) = images(1, 1, 1, 3, 6, 5)
    newer = pysimd.load(upgraded(File(data)).encoded())
    np.testing.assert_array_equal(newer(x)["y"], pysimd.load(data)(x)["y"])
    file = pytest.importorskip("onnx").load_from_string(pysimd.quantize_model(data, [x]).data)
    assert file.opset_import[0].version == max(opset, 13)


def test_what_stays_in_float() -> None:
    made = pysimd.quantize_model(small(), SAMPLES, keep_float=["node_first", "last"])
    assert len(made.products) == 3 and not {"node_first", "node_last"} & set(made.products)


def test_progress() -> None:
    parts: list[float] = []
    pysimd.quantize_model(small(), SAMPLES, keep_float=(), progress=parts.append)
    assert parts == sorted(parts) and parts[-1] == 1
    assert len(parts) == 8 + 8 + 5  # samples of which two are held back, for ranges and for means; products with a bias


def test_progress_where_products_are_measured() -> None:
    """Also with more samples than biases are measured on."""
    parts: list[float] = []
    pysimd.quantize_model(small(), images(1, 15, *SHAPE), keep_float="auto", progress=parts.append)
    assert parts == sorted(parts) and parts[-1] == 1
    assert len(parts) == 12 + 5 + 1 + 8 + 5  # a sum is measured, too


@pytest.mark.parametrize(
    ("samples", "options", "error", "message"),
    [
        ([], {}, ValueError, "there are no samples: calibration needs some inputs"),
        (SAMPLES[0], {}, TypeError, "samples is a ndarray, expected several"),
        (None, {}, ValueError, "there are no samples: pass some inputs, or mode="),
        ([SAMPLES[0], SAMPLES[0][:, :2]], {}, ValueError, "sample 1: the input 'x' has shape"),
        ([{"z": SAMPLES[0]}], {}, ValueError, "sample 0: "),
        ([SAMPLES[0].astype(np.float64)], {}, TypeError, "sample 0: the input 'x' is float64"),
        ([SAMPLES[0] * F(np.nan)], {}, ValueError, "sample 0: the input 'x' has values that are not finite"),
        ([SAMPLES[0] + F(np.inf)], {}, ValueError, "sample 0: the input 'x' has values that are not finite"),
        (SAMPLES, {"method": "best"}, ValueError, "method is 'best', expected 'minmax', 'mse', 'percentile' or 'entropy'"),
        (SAMPLES, {"keep_float": ["node_frist"]}, ValueError, "keep_float names 'node_frist'.*did you mean 'node_first'"),
        (SAMPLES, {"keep_float": "node_first"}, TypeError, "keep_float is the text 'node_first', expected 'auto', or names"),
        (SAMPLES, {"keep_float": "auto", "mode": "dynamic"}, ValueError, "keep_float='auto' needs mode='static'"),
        (SAMPLES, {"float_budget": 2}, ValueError, "float_budget is 2, expected a number from 0 to 1"),
        (SAMPLES, {"percentile": 20}, ValueError, "percentile is 20, expected a number from 50 to 100"),
    ],
)
def test_what_is_refused(samples: Any, options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        pysimd.quantize_model(small(), samples, **options)


def test_models_that_are_refused() -> None:
    net = Net()
    net.add("Relu", "x", y="y")
    with pytest.raises(ValueError, match="nothing to quantise"):
        pysimd.quantize_model(net.bytes({"x": [1, 3]}, {"y": [1, 3]}), images(1, 1, 1, 3))
    with pytest.raises(ValueError, match=r"truncated|not an ONNX model"):
        pysimd.quantize_model(small()[:-9], SAMPLES)
    net = Net(opset=9)
    net.conv("x", 4, 3, y="y")
    with pytest.raises(ValueError, match="operators of version 9, expected 11 or later"):
        pysimd.quantize_model(net.bytes({"x": [1, 3, 6, 5]}, {"y": [1, 4, 6, 5]}), images(1, 1, 1, 3, 6, 5))


# ---- the command


def prepared(folder: Path) -> list[str]:
    (folder / "model.onnx").write_bytes(small())
    (folder / "samples").mkdir()
    for i, x in enumerate(SAMPLES):
        np.save(folder / "samples" / f"{i}.npy", x)
    return ["quantize", str(folder / "model.onnx"), "--samples", str(folder / "samples"), "-o", str(folder / "int8.onnx")]


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(prepared(tmp_path)) == 0
    assert "5 products have integers" in capsys.readouterr().out
    assert (tmp_path / "int8.onnx").read_bytes() == pysimd.quantize_model(small(), SAMPLES).data


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda folder: np.savez(folder / "samples" / "a.npz", z=SAMPLES[0]), "sample 10: "),
        (lambda folder: (folder / "samples" / "a.npy").write_bytes(b"no"), "is not a NumPy file of numbers"),
        (lambda folder: (folder / "samples" / "a.png").write_bytes(b""), "has images and arrays, expected one kind"),
        (lambda folder: [file.unlink() for file in (folder / "samples").iterdir()], "has no samples"),
    ],
)
def test_samples_of_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], change: Any, message: str) -> None:
    command = prepared(tmp_path)
    change(tmp_path)
    (tmp_path / "int8.onnx").write_bytes(b"before")
    assert main(command) == 1
    assert message in capsys.readouterr().err
    assert (tmp_path / "int8.onnx").read_bytes() == b"before"  # nothing is half written
    assert sorted(file.name for file in tmp_path.iterdir()) == ["int8.onnx", "model.onnx", "samples"]


def test_images_as_samples(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    command = prepared(tmp_path)
    rng = np.random.default_rng(1)
    for file in (tmp_path / "samples").iterdir():
        file.unlink()
    for i in range(3):
        image.fromarray(rng.integers(0, 256, (30, 30, 3), np.uint8)).save(tmp_path / "samples" / f"{i}.png")
    assert main([*command, "--fit", "stretch", "--mean", "0.5", "--std", "0.5"]) == 0
    assert pysimd.load(tmp_path / "int8.onnx")(SAMPLES[0])["y"].shape == (1, 10)
