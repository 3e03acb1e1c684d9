"""Quantised models without samples, weights of 4 bits, and what is measured of quantised models."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pysimd
from network import quantised as formulas
from network.quantizing import SHAPE, F, Net, images, small
from network.test_quantize_model import SAMPLES, error_of, weights_of
from pysimd.__main__ import main
from pysimd.network.quantize import sensitivity, weights
from support import Array

TEST = images(2, 10, *SHAPE)


def operators_of(data: bytes) -> Counter[str]:
    return Counter(node.op_type for node in pytest.importorskip("onnx").load_from_string(data).graph.node)


def matrix(size: int = 70, count: int = 9, **attributes: Any) -> tuple[Net, bytes]:
    """A Gemm, whose weights are the first, and a MatMul."""
    net = Net()
    rows = attributes.get("transB", 0)
    hidden = net.add("Gemm", "x", net.weight(*((count, size) if rows else (size, count))), net.weight(count), **attributes)
    net.add("MatMul", net.add("Relu", hidden), net.weight(count, 5), y="y")
    return net, net.bytes({"x": ["N", size]}, {"y": ["N", 5]})


# ---- modes


@pytest.mark.parametrize(("mode", "bits"), [("static", 8), ("dynamic", 8), ("weights", 8), ("weights", 4)])
def test_two_products_of_one_weight(mode: Any, bits: Any) -> None:
    """The nodes that are made for it have names of their own, without which ONNX Runtime refuses the file."""
    net = Net()
    weight, bias = net.weight(64, 64), net.weight(64)
    hidden = net.add("Relu", net.add("Gemm", "x", weight, bias))
    net.add("Gemm", hidden, weight, bias, y="y")
    data = net.bytes({"x": ["N", 64]}, {"y": ["N", 64]})
    made = pysimd.quantize_model(data, images(1, 5, 2, 64) if mode == "static" else None, mode=mode, weight_bits=bits)
    names = [node.name for node in pytest.importorskip("onnx").load_from_string(made.data).graph.node]
    assert len(made.products) == 2 and len(set(names)) == len(names)
    (x,) = images(2, 1, 2, 64)
    assert error_of(made, data, [x]) < (0.05 if bits == 8 else 0.5)


def test_dynamic() -> None:
    made = pysimd.quantize_model(small(), mode="dynamic")
    assert len(made.products) == 5 and error_of(made, small(), TEST) < 0.02
    found = operators_of(made.data)
    assert (found["ConvInteger"], found["MatMulInteger"], found["DynamicQuantizeLinear"]) == (3, 2, 5)
    assert not {"Conv", "Gemm", "MatMul"} & set(found)


@pytest.mark.parametrize("mode", ["static", "dynamic", "weights"])
def test_convolutions_of_volumes_have_integers_as_weights(mode: Any) -> None:
    """And compute in float."""
    net = Net()
    net.add("Conv", "x", net.weight(4, 2, 3, 3, 3), y="t")
    net.add("Gemm", net.add("Flatten", "t"), net.weight(32, 5), y="y")
    data = net.bytes({"x": [1, 2, 4, 4, 4]}, {"y": [1, 5]})
    given = images(1, 5, 1, 2, 4, 4, 4)
    made = pysimd.quantize_model(data, given if mode == "static" else None, mode=mode, keep_float=())
    assert len(made.products) == 2 and operators_of(made.data)["Conv"] == 1
    assert error_of(made, data, given[:1]) < 0.1


@pytest.mark.parametrize("transposed", [0, 1])
def test_the_formula_of_dynamic_products(transposed: int) -> None:
    net, data = matrix(transB=transposed)
    (x,) = images(1, 1, 3, 70)
    file = pytest.importorskip("onnx").load_from_string(pysimd.quantize_model(data, mode="dynamic").data)
    del file.graph.output[:]
    file.graph.output.append(pytest.importorskip("onnx").helper.make_tensor_value_info("t0", 1, None))
    w = net.weights["w0"].T if transposed else net.weights["w0"]
    q, scale, zero = formulas.dynamic_quantize(x)
    sw = (abs(w).max(0) / 127).astype(F)
    sums = formulas.matmul_integer(q, np.clip(np.rint(w / sw), -127, 127).astype(np.int8), zero)
    np.testing.assert_array_equal(pysimd.load(file)(x)["t0"], formulas.to_float(sums, scale, sw, net.weights["w1"]))


def test_weights_alone() -> None:
    """They are the floats of integers, and nothing else changes."""
    made = pysimd.quantize_model(small(), mode="weights")
    assert error_of(made, small(), TEST) < 0.01
    found = operators_of(made.data)
    assert (found["DequantizeLinear"], found["QuantizeLinear"], found["Conv"]) == (5, 0, 3)
    given = weights_of(made.data)
    assert sum(each.dtype == np.int8 and each.ndim > 1 for each in given.values()) == 5


@pytest.mark.parametrize("mode", ["static", "dynamic", "weights"])
def test_files_of_modes_elsewhere(mode: Any) -> None:
    ort = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    for bits in (4, 8):
        made = pysimd.quantize_model(small(), SAMPLES, mode=mode, weight_bits=bits)
        session, model = ort.InferenceSession(made.data, providers=["CPUExecutionProvider"]), made.load()
        for x in TEST:
            np.testing.assert_allclose(model(x)["y"], session.run(None, {"x": x})[0], atol=0.01)


# ---- 4 bits


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize(("size", "block"), [(70, 16), (64, 32), (33, 32), (5, 16), (96, 32)])
def test_blocks(size: int, block: int, symmetric: bool) -> None:
    """As MatMulNBits reads them, and at most half a step from the weights."""
    rows = np.random.default_rng(size).normal(0, 1, (6, size)).astype(F)
    rows[2] = 0
    rows[3] = abs(rows[3])
    packed, scale, zeros = weights.blocks(rows, block, symmetric)
    found = formulas.decode(packed, scale, zeros, 4, block, size)
    step = np.repeat(scale, block, 1)[:, :size]
    assert (abs(found - rows) <= step * (0.5 + 1e-5)).all()
    assert (found[2] == 0).all() and packed.shape == (6, -(-size // block), block // 2)


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("transposed", [0, 1])
def test_products_of_4_bits(transposed: int, symmetric: bool) -> None:
    _, data = matrix(transB=transposed)
    made = pysimd.quantize_model(data, mode="weights", weight_bits=4, block=16, symmetric=symmetric)
    assert operators_of(made.data)["MatMulNBits"] == 2
    # Inputs that are left out are not named at the end: x, bytes, scales, zero points, order, bias.
    nodes = pytest.importorskip("onnx").load_from_string(made.data).graph.node
    assert [len(node.input) for node in nodes if node.op_type == "MatMulNBits"] == [6, 3 if symmetric else 4]
    x = images(1, 1, 4, 70)
    assert 0 < error_of(made, data, x) < 0.8
    assert len(made.data) < 0.7 * len(data)


def test_convolutions_beside_4_bits() -> None:
    made = pysimd.quantize_model(small(), SAMPLES, weight_bits=4, block=16)
    found = operators_of(made.data)
    assert (found["MatMulNBits"], found["Conv"], found["Gemm"], len(made.products)) == (2, 3, 0, 5)
    assert error_of(made, small(), TEST) < 0.1


# ---- biases


def test_bias_correction() -> None:
    """The means of channels are nearer to those of the float model."""
    net = Net(seed=3)
    net.add("Relu", net.conv(net.add("Relu", net.conv("x", 16, 3)), 16, 16), y="y")
    data, x = net.bytes({"x": [1, 3, 9, 9]}, {"y": [1, 16, 9, 9]}), images(1, 6, 1, 3, 9, 9)
    right = np.mean([pysimd.load(data)(each)["y"].mean((0, 2, 3)) for each in x], 0)
    apart = []
    for correction in (False, True):
        made = pysimd.quantize_model(data, x, bias_correction=correction).load()
        apart.append(abs(np.mean([made(each)["y"].mean((0, 2, 3)) for each in x], 0) - right).max())
    assert apart[1] < 0.5 * apart[0]


def test_products_without_a_bias_get_one() -> None:
    net = Net(seed=3)
    net.conv(net.conv("x", 8, 3, bias=False), 4, 8, bias=False, y="y")
    data, x = net.bytes({"x": [1, 3, 9, 9]}, {"y": [1, 4, 9, 9]}), images(1, 6, 1, 3, 9, 9)
    made = pysimd.quantize_model(data, x, bias_correction=True)
    assert sum(each.dtype == np.int32 for each in weights_of(made.data).values()) == 4  # two biases, and their zeros
    assert error_of(made, data, x) < 0.1


# ---- the report


def ratio(x: Array, y: Array) -> float:
    return float(20 * np.log10(np.linalg.norm(x) / np.linalg.norm(x.astype(float) - y)))


def test_report() -> None:
    made = pysimd.quantize_model(small(), SAMPLES)
    report = made.report
    assert report.samples == 2 and report.held_back
    found = [row.sqnr for row in report.tensors]
    assert found == sorted(found) and {"x", "t1", "t5"} <= {row.tensor for row in report.tensors}
    held = np.concatenate([SAMPLES[4], SAMPLES[9]])
    given = weights_of(made.data)
    rounded = formulas.dequantize(
        formulas.quantize(held, given["x_scale"], given["x_zero_point"], "uint8"), given["x_scale"], given["x_zero_point"]
    )
    (of_x,) = (row for row in report.tensors if row.tensor == "x")
    assert of_x.sqnr == pytest.approx(ratio(held, rounded), 1e-6)
    assert of_x.largest == pytest.approx(abs(held - rounded).max(), 1e-5)
    y = [np.concatenate([model(x)["y"] for x in (SAMPLES[4], SAMPLES[9])]) for model in (pysimd.load(small()), made.load())]
    (of_y,) = report.outputs
    assert of_y.largest == pytest.approx(abs(y[0] - y[1]).max(), 0.2)
    text = str(report)
    assert "2 samples, held back from calibration" in text and "max error  output" in text
    assert text.index(report.tensors[0].tensor) < text.index(report.tensors[1].tensor)


def test_report_without_samples() -> None:
    with pytest.raises(ValueError, match="there were no samples to compare"):
        _ = pysimd.quantize_model(small(), mode="dynamic").report
    report = pysimd.quantize_model(small(), SAMPLES[:2], mode="dynamic").report
    assert not report.held_back and report.samples == 2 and report.outputs[0].largest > 0
    assert "also used for calibration" in str(report)


def test_report_of_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "m.onnx").write_bytes(small())
    command = ["quantize", str(tmp_path / "m.onnx"), "-o", str(tmp_path / "q.onnx")]
    assert main(command) == 1 and "there are no samples: pass --samples" in capsys.readouterr().err
    assert not (tmp_path / "q.onnx").exists()
    assert main([*command, "--mode", "weights", "--weight-bits", "4"]) == 0
    np.save(tmp_path / "a.npy", SAMPLES[0])
    assert (
        main([*command, "--samples", str(tmp_path / "a.npy"), "--report", str(tmp_path / "r.html"), "--no-bias-correction"])
        == 0
    )
    page = (tmp_path / "r.html").read_text()
    assert page.startswith("<!doctype html>") and "m.onnx" in page and "<svg" in page and "t1" in page
    assert "SQNR dB" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mode": "static"}, "there are no samples: pass some inputs, or mode='dynamic' or 'weights'"),
        ({"mode": "best"}, "mode is 'best', expected 'static', 'dynamic' or 'weights'"),
        ({"mode": "weights", "weight_bits": 3}, "weight_bits is 3, expected 4 or 8"),
        ({"mode": "weights", "block": 24}, "block is 24, expected a power of 2 from 16 on"),
    ],
)
def test_options_that_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pysimd.quantize_model(small(), **options)


def spread_channels() -> bytes:
    """A depthwise convolution reads channels of very different sizes, of which the small ones become large behind it."""
    net = Net()
    x = net.add("Relu", net.conv("x", 8, 3))
    sizes = np.geomspace(1, 1e-3, 8).astype(F)
    for name, factor in (("wide", sizes), ("even", 1 / sizes)):
        weight = net.constant((net.rng.normal(0, 1, (8, 1, 3, 3)) * factor.reshape(-1, 1, 1, 1)).astype(F))
        x = net.add("LeakyRelu", net.add("Conv", x, weight, y=name, group=8, pads=[1] * 4), alpha=0.5)
    net.conv(net.add("Relu", net.conv(x, 8, 8, 1)), 8, 8, y="y")
    return net.bytes({"x": [1, 3, 20, 20]}, {"y": [1, 8, 20, 20]})


def test_products_that_lose_most_stay_in_float() -> None:
    data, x, more = spread_channels(), images(1, 10, 1, 3, 20, 20), images(2, 5, 1, 3, 20, 20)
    plain, chosen, none = (
        pysimd.quantize_model(data, x, keep_float=()),
        pysimd.quantize_model(data, x, keep_float="auto", float_budget=0.2),
        pysimd.quantize_model(data, x, keep_float="auto", float_budget=0.0),
    )
    assert chosen.kept[0] in ("node_wide", "node_even") and chosen.kept[0] not in chosen.products and not plain.kept
    assert len(chosen.products) + len(chosen.kept) == len(plain.products)
    assert none.data == plain.data and not none.kept
    model = pysimd.load(data)
    errors = [max(float(abs(made.load()(each)["y"] - model(each)["y"]).max()) for each in more) for made in (plain, chosen)]
    assert errors[1] < 0.3 * errors[0]
    assert pysimd.quantize_model(data, x, keep_float=chosen.kept).data == chosen.data
    assert pysimd.quantize_model(data, x, float_budget=0.2).data == chosen.data  # the default


def test_the_budget_of_floats_is_kept() -> None:
    """The noise of each product decides, where its work fits."""
    product: Any = None
    losses = [sensitivity.Loss(product, noise, work) for noise, work in ((8.0, 5.0), (4.0, 70.0), (2.0, 4.0), (0.01, 1.0))]
    assert len(sensitivity.worst(losses, 0.2)) == 3  # the second does not fit
    assert len(sensitivity.worst(losses, 0.1)) == 2 and not sensitivity.worst(losses, 0.0)
    assert len(sensitivity.worst(losses, 1.0)) == 3  # less than a hundredth is left


def test_little_noise_is_left() -> None:
    """Nothing stays in float for less than a thousandth of the signal."""
    product: Any = None
    losses = [sensitivity.Loss(product, noise, 1.0) for noise in (6e-4, 5e-4, 2e-4)]
    assert len(sensitivity.worst(losses, 1.0)) == 1 and not sensitivity.worst(losses[1:], 1.0)
    made = pysimd.quantize_model(small(), images(1, 10, *SHAPE))
    assert not made.kept and len(made.products) == 5
