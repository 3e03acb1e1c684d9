"""The passes over graphs: what each one makes of its patterns, with the same results as before."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from network.passes import RELU, Net, batch_norm, checked, only, unary
from pysimd.network import Graph, Node
from pysimd.network.operators import IDENTITY
from pysimd.network.passes import PASSES, simplified
from pysimd.network.passes.rewrite import Change, rewritten

# ---- gates


def _hard_swishes() -> dict[str, Callable[[Net, str], str]]:
    def gate(net: Net, x: str) -> str:
        return net.relu6(net.do("add", x, 3))

    def bounds(net: Net, x: str) -> str:
        return net.do("minimum", net.do("maximum", net.do("add", 3, x), 0), 6)

    return {
        "(x * gate) / 6": lambda net, x: net.do("divide", net.do("multiply", x, gate(net, x)), 6),
        "(gate * x) * 1/6": lambda net, x: net.do("multiply", net.do("multiply", gate(net, x), x), 1 / 6),
        "x * (gate / 6)": lambda net, x: net.do("multiply", x, net.do("divide", gate(net, x), 6)),
        "(1/6 * gate) * x": lambda net, x: net.do("multiply", net.do("multiply", 1 / 6, gate(net, x)), x),
        "(x / 6) * gate": lambda net, x: net.do("multiply", net.do("divide", x, 6), gate(net, x)),
        "by maximum and minimum": lambda net, x: net.do("divide", net.do("multiply", x, bounds(net, x)), 6),
        "by HardSigmoid": lambda net, x: net.do("multiply", x, net.unary(x, "hard_sigmoid", 1 / 6, 0.5)),
        "by HardSigmoid, first": lambda net, x: net.do("multiply", net.unary(x, "hard_sigmoid", 1 / 6, 0.5), x),
    }


@pytest.mark.parametrize("form", _hard_swishes())
def test_hard_swish(form: str) -> None:
    net = Net((2, 3, 4, 5))
    assert unary(net.graph(_hard_swishes()[form](net, net.xs[0]))) == ("hswish", (3, 1 / 6))


def test_what_is_no_hard_swish() -> None:
    net = Net((2, 3, 4, 5))
    x = net.xs[0]
    y = net.do("divide", net.do("multiply", x, net.clip(net.do("add", x, 3), 0, 5)), 6)
    checked(net.graph(y), "Binary", "Binary", "Binary")


@pytest.mark.parametrize("form", range(4))
def test_hard_sigmoid(form: str) -> None:
    net = Net((2, 3, 4, 5))
    x = net.xs[0]
    y = [
        lambda: net.do("divide", net.relu6(net.do("add", x, 3)), 6),
        lambda: net.do("multiply", net.relu6(net.do("add", x, 3)), 1 / 6),
        lambda: net.clip(net.do("add", net.do("divide", x, 6), 0.5), 0, 1),
        lambda: net.do("minimum", net.relu(net.do("add", net.do("multiply", x, 1 / 6), 0.5)), 1),
    ][int(form)]()
    assert unary(net.graph(y)) == ("hard_sigmoid", (1 / 6, 0.5))


def test_swish() -> None:
    net = Net((2, 3, 4, 5))
    x = net.xs[0]
    assert unary(net.graph(net.do("multiply", x, net.sigmoid(x)))) == ("swish", (1,))
    assert unary(net.graph(net.do("multiply", net.sigmoid(net.do("multiply", x, 1.702)), x))) == ("swish", (1.702,))


def test_sigmoid_and_its_parts() -> None:
    net = Net((2, 3, 4, 5))
    power = net.do("add", net.unary(net.unary(net.xs[0], "negative"), "exp"), 1)
    assert unary(net.graph(net.do("divide", 1, power))) == ("sigmoid", (1,))
    assert unary(net.graph(net.unary(power, "reciprocal"))) == ("sigmoid", (1,))


@pytest.mark.parametrize("form", range(6))
def test_gelu(form: int) -> None:
    net = Net((2, 3, 8))
    x = net.xs[0]
    inner = net.do("divide", x, 2**0.5) if form % 2 else net.do("multiply", x, 0.5**0.5)
    gate = net.do("add", net.unary(inner, "erf"), 1)
    y = [
        lambda: net.do("multiply", net.do("multiply", x, gate), 0.5),
        lambda: net.do("multiply", 0.5, net.do("multiply", gate, x)),
        lambda: net.do("multiply", net.do("multiply", x, 0.5), gate),
        lambda: net.do("multiply", x, net.do("multiply", gate, 0.5)),
        lambda: net.do("divide", net.do("multiply", x, gate), 2),
        lambda: net.do("multiply", gate, net.do("multiply", 0.5, x)),
    ][form]()
    assert unary(net.graph(y)) == ("gelu", ())


def test_what_is_no_gelu() -> None:
    net = Net((2, 3, 8))
    x = net.xs[0]
    gate = net.do("add", net.unary(net.do("multiply", x, 0.7), "erf"), 1)
    nodes = simplified(net.graph(net.do("multiply", net.do("multiply", x, gate), 0.5))).nodes
    assert all(node.operator != "Unary" or node.attributes["function"] == "erf" for node in nodes)


def test_mish_and_softplus() -> None:
    net = Net((2, 3, 8))
    x = net.xs[0]
    softplus = net.unary(net.do("add", net.unary(x, "exp"), 1), "log")
    assert unary(net.graph(softplus)) == ("softplus", (1, 20))
    checked(net.graph(net.unary(net.do("add", net.unary(x, "exp"), 2), "log")), "Unary", "Binary", "Unary")
    assert unary(net.graph(net.do("multiply", x, net.unary(softplus, "tanh", 1.0)))) == ("mish", (20,))
    assert unary(net.graph(net.do("multiply", net.unary(net.unary(x, "softplus", 1.0, 20.0), "tanh", 1.0), x)))[0] == "mish"


def test_clip_and_leaky_relu() -> None:
    net = Net((2, 3, 8))
    x = net.xs[0]
    assert unary(net.graph(net.do("minimum", net.relu(x), 6))) == ("restrict_range", (0, 6))
    assert unary(net.graph(net.clip(net.clip(x, -1, 0.5), 0, 3))) == ("restrict_range", (0, 0.5))
    assert unary(net.graph(net.do("maximum", x, 0))) == ("relu", ())
    assert unary(net.graph(net.do("maximum", net.do("multiply", x, 0.1), x))) == ("leaky_relu", (0.1,))
    checked(net.graph(net.do("maximum", net.do("add", net.do("multiply", x, 0.1), 0.2), x)), "Scale", "Binary")
    checked(net.graph(net.do("maximum", net.do("multiply", x, 2), x)), "Binary", "Binary")


def test_roots() -> None:
    net = Net((2, 3, 8))
    x = net.unary(net.xs[0], "exp")
    checked(net.graph(net.do("divide", 1, net.unary(x, "sqrt"))), "Unary", "Unary")
    checked(net.graph(net.do("divide", 1, x)), "Unary", "Unary")


# ---- norms


def normalized(net: Net, x: str, *axes: int, by_power: bool = False, by_rsqrt: bool = False, eps: float = 1e-5) -> str:
    """(x - mean) / sqrt(variance + eps), in nodes."""
    centred = net.do("subtract", x, net.reduce(x, "mean", *axes))
    again = net.do("subtract", x, net.reduce(x, "mean", *axes))  # as some exporters have it
    square = net.do("power", centred, 2) if by_power else net.do("multiply", again, again)
    variance = net.do("add", net.reduce(square, "mean", *axes), eps)
    if by_rsqrt:
        return net.do("multiply", net.unary(net.unary(variance, "sqrt"), "reciprocal"), centred)
    return net.do("divide", centred, net.unary(variance, "sqrt"))


@pytest.mark.parametrize("by_power", [False, True])
@pytest.mark.parametrize("by_rsqrt", [False, True])
def test_layer_norm(by_power: bool, by_rsqrt: bool) -> None:
    net = Net((2, 5, 8))
    y = normalized(net, net.xs[0], -1, by_power=by_power, by_rsqrt=by_rsqrt)
    node = only(net.graph(net.do("add", net.do("multiply", y, net.random(8)), net.random(8))), "LayerNorm")
    assert (node.attributes["axis"], len(node.inputs)) == (2, 3)
    assert node.attributes["eps"] == pytest.approx(1e-5)


def test_layer_norm_of_channels() -> None:
    net = Net((2, 8, 4, 5))
    y = normalized(net, net.xs[0], 1, eps=1e-6)
    y = net.do("add", net.do("multiply", y, net.random(8, 1, 1)), net.random(8, 1, 1))
    nodes = checked(net.graph(y), "Transpose", "LayerNorm", "Transpose")
    assert len(nodes[1].inputs) == 3


def test_layer_norm_of_several_axes_and_instance_norm() -> None:
    net = Net((2, 8, 4, 5))
    assert only(net.graph(normalized(net, net.xs[0], 1, 2, 3)), "LayerNorm").attributes["axis"] == 1
    y = net.do("multiply", normalized(net, net.xs[0], 2, 3), net.random(8, 1, 1))
    assert only(net.graph(y), "ChannelNorm").attributes["groups"] == 0


def test_what_is_no_layer_norm() -> None:
    net = Net((2, 5, 5))
    x = net.xs[0]
    centred = net.do("subtract", x, net.reduce(x, "mean", 2))
    variance = net.reduce(net.do("multiply", centred, centred), "mean", 1)
    y = net.do("divide", centred, net.unary(net.do("add", variance, 1e-5), "sqrt"))
    assert all(node.operator != "LayerNorm" for node in simplified(net.graph(y)).nodes)


def _by_mean_square(net: Net, x: str, form: str, axis: int = -1, eps: float = 1e-5) -> str:
    square = net.do("power", x, 2) if form == "power" else net.do("multiply", x, x)
    root = net.unary(net.do("add", net.reduce(square, "mean", axis), eps), "sqrt")
    if form == "divided":
        return net.do("divide", x, root)
    return net.do("multiply", net.unary(root, "reciprocal"), x)


@pytest.mark.parametrize("form", ["power", "product", "divided"])
def test_rms_norm(form: str) -> None:
    net = Net((2, 5, 8))
    y = _by_mean_square(net, net.xs[0], form)
    node = only(net.graph(net.do("multiply", net.random(8), y)), "RmsNorm")
    assert (node.attributes["axis"], len(node.inputs)) == (2, 2)
    assert node.attributes["eps"] == pytest.approx(1e-5)


def test_rms_norm_keeps_what_follows() -> None:
    net = Net((2, 5, 8))
    y = _by_mean_square(net, net.xs[0], "product")
    checked(net.graph(net.do("add", y, net.random(8))), "RmsNorm", "Scale")


def test_what_is_no_rms_norm() -> None:
    """Another axis, no eps, and the squares of another tensor."""
    net = Net((2, 8, 8), (2, 8, 8))
    x, other = net.xs
    ys = [_by_mean_square(net, x, "product", axis=1), _by_mean_square(net, x, "divided", eps=0)]
    root = net.unary(net.do("add", net.reduce(net.do("multiply", other, other), "mean", 2), 1e-5), "sqrt")
    ys.append(net.do("divide", x, root))
    assert all(node.operator != "RmsNorm" for node in simplified(net.graph(*ys)).nodes)


@pytest.mark.parametrize("expanded", [False, True])
@pytest.mark.parametrize("by_root", [False, True])
def test_l2_norm(expanded: bool, by_root: bool) -> None:
    net = Net((2, 5, 8))
    x = net.xs[0]
    length = net.unary(net.reduce(net.do("multiply", x, x), "sum", 1), "sqrt") if by_root else net.reduce(x, "l2", 1)
    below = net.clip(length, 1e-12, np.inf)
    below = net.add("Expand", below, shape=(2, 5, 8)) if expanded else below
    assert only(net.graph(net.do("divide", x, below)), "L2Norm").attributes["axis"] == 1


@pytest.mark.parametrize("groups", [2, 8])
def test_group_norm(groups: int) -> None:
    net = Net((2, 8, 4, 5))
    y = net.reshape(net.xs[0], 2, groups, 160 // groups)
    scale, bias = (net.constant(net.random(groups)) for _ in range(2))
    y = net.reshape(net.add("ChannelNorm", y, scale, bias, groups=0, eps=1e-5), 2, 8, 4, 5)
    y = net.do("add", net.do("multiply", y, net.random(8, 1, 1)), net.random(8, 1, 1))
    node = only(net.graph(y), "ChannelNorm")
    assert node.attributes["groups"] == (0 if groups == 8 else groups)
    assert net.graph(y).shape(node.output) == (2, 8, 4, 5)


# ---- affine


@pytest.mark.parametrize("group", [1, 2, 8])
def test_batch_norm_after_convolution(group: int) -> None:
    net = Net((2, 8, 6, 6))
    y = batch_norm(net, net.layer(net.xs[0], 16, 3, padding=1, group=group))
    y = net.do("subtract", 1, net.do("divide", y, net.random(16, 1, 1) + 3))
    only(net.graph(net.unary(y, "negative")), "Conv")


def test_weights_are_rounded_once() -> None:
    net = Net((1, 8, 6, 6))
    factors = [net.random(8, 1, 1) + 2 for _ in range(5)]
    weight = net.random(8, 8, 1, 1)
    y = net.conv(net.xs[0], weight, np.zeros(8, np.float32))
    for factor in factors:
        y = net.do("multiply", y, factor)
    after = simplified(net.graph(y))
    found = after.constants[after.nodes[0].inputs[1]]
    exact = weight * np.prod([factor.astype(np.float64) for factor in factors], 0).reshape(8, 1, 1, 1)
    np.testing.assert_array_equal(found, exact.astype(np.float32))


@pytest.mark.parametrize("group", [1, 2])
def test_batch_norm_after_deconvolution(group: int) -> None:
    net = Net((2, 8, 4, 4))
    y = net.deconv(net.xs[0], net.random(8, 3, 2, 2), net.random(3 * group), stride=2, group=group)
    only(net.graph(net.do("multiply", batch_norm(net, y), 0.3)), "ConvTranspose")


def test_products_and_their_terms() -> None:
    net = Net((2, 5, 8))
    y = net.add("MatMul", net.xs[0], net.constant(net.random(1, 8, 6)))
    y = net.do("multiply", net.do("add", y, net.random(6)), 0.5)
    y = net.do("add", net.linear(y, 4), net.random(4))
    first, _ = checked(net.graph(y), "Linear", "Linear")
    assert len(first.inputs) == 3


def test_scale_before_a_layer() -> None:
    net = Net((2, 8, 6, 6), (2, 8))
    only(net.graph(net.layer(batch_norm(net, net.xs[0]), 4, 3, group=2)), "Conv")
    only(net.graph(net.layer(net.do("divide", net.xs[0], 255), 4, 3, padding=1)), "Conv")
    checked(net.graph(net.layer(batch_norm(net, net.xs[0]), 4, 3, padding=1)), "Scale", "Conv")  # zeros have no term
    scaled = net.do("add", net.do("multiply", net.xs[1], net.random(8)), net.random(8))
    only(net.graph(net.linear(scaled, 4)), "Linear")


def test_scale_before_a_flattened_image() -> None:
    net = Net((2, 8, 3, 3))
    y = net.linear(net.flatten(batch_norm(net, net.relu(net.xs[0]))), 5)
    _, node = checked(net.graph(y), "Unary", "Linear")
    assert net.graph(y).shape(node.output) == (2, 5)


def test_scales_in_sequence() -> None:
    net = Net((2, 8, 6, 6))
    y = net.do("add", batch_norm(net, net.do("multiply", net.xs[0], 2)), net.random(8, 1, 1))
    node = only(net.graph(y), "Scale")
    assert (node.attributes["axis"], len(node.inputs)) == (1, 3)
    node = only(net.graph(net.do("add", net.do("multiply", net.xs[0], 2), 0.5)), "Scale")
    assert only(net.graph(net.do("multiply", net.do("multiply", net.xs[0], 2), 0.25)), "Binary").inputs[0] == net.xs[0]
    checked(net.graph(net.do("multiply", batch_norm(net, net.xs[0]), net.random(6))), "Scale", "Scale")  # two axes


def test_what_has_several_users_is_not_scaled() -> None:
    net = Net((2, 8, 6, 6))
    x = net.layer(net.xs[0], 8)
    checked(net.graph(net.do("multiply", x, batch_norm(net, x))), "Conv", "Scale", "Binary")
    checked(net.graph(x, batch_norm(net, x)), "Conv", "Scale")
    x = batch_norm(net, net.xs[0])
    checked(net.graph(net.unary(x, "sin"), batch_norm(net, x)), "Scale", "Unary", "Scale")


def test_factors_that_are_too_large_stay() -> None:
    net = Net((2, 8, 6, 6))
    y = net.do("multiply", net.do("multiply", net.xs[0], 1e30), 1e-30)
    only(net.graph(net.do("add", y, 1)), "Scale")
    nodes = simplified(net.graph(net.do("multiply", net.do("multiply", net.xs[0], 1e30), 1e30))).nodes
    assert len(nodes) == 2


def test_a_layer_that_adds_is_not_scaled() -> None:
    net = Net((1, 4, 5, 5), (1, 6, 5, 5))
    inputs = net.xs[0], net.constant(net.random(6, 4, 1, 1)), net.constant(net.random(6)), net.xs[1]
    window = {"strides": (1, 1), "pads": (0, 0, 0, 0), "dilations": (1, 1)}
    y = net.add("Conv", *inputs, **window, group=1, activation=IDENTITY, order="add")
    checked(net.graph(net.do("multiply", y, net.random(6, 1, 1))), "Conv", "Scale")


def test_padding() -> None:
    net = Net((2, 3, 7, 7))
    pads = ((0, 0), (0, 0), (0, 1), (1, 2))
    zeros = net.add("Pad", net.xs[0], pads=pads, mode="constant", value=0.0)
    node = only(net.graph(net.layer(zeros, 4, 3, stride=2, padding=(1, 0, 0, 0))), "Conv")
    assert node.attributes["pads"] == (1, 1, 1, 2)
    node = only(net.graph(net.average(zeros, 3, 2)), "AveragePool")
    assert (node.attributes["pads"], node.attributes["count_include_pad"]) == ((0, 1, 1, 2), True)
    lowest = net.add("Pad", net.xs[0], pads=pads, mode="constant", value=-np.inf)
    assert only(net.graph(net.max(lowest, 3, 2)), "MaxPool").attributes["pads"] == (0, 1, 1, 2)
    checked(net.graph(net.max(zeros, 3, 2)), "Pad", "MaxPool")
    window = {"kernel": (3, 3), "strides": (2, 2), "ceil": False, "count_include_pad": False}
    node = only(net.graph(net.add("AveragePool", zeros, pads=(0,) * 4, **window)), "AveragePool")
    assert node.attributes["count_include_pad"]
    checked(net.graph(net.add("AveragePool", zeros, pads=(1,) * 4, **window)), "Pad", "AveragePool")
    ones = net.add("Pad", net.xs[0], pads=pads, mode="constant", value=1.0)
    checked(net.graph(net.average(ones, 3, 2)), "Pad", "AveragePool")
    checked(net.graph(net.layer(ones, 4, 3)), "Pad", "Conv")
    checked(net.graph(net.add("Pad", net.relu(net.xs[0]), pads=pads, mode="edge", value=0.0)), "Unary", "Pad")


def test_zeros_around_positive_images() -> None:
    net = Net((2, 3, 7, 7))
    x = net.relu(net.layer(net.xs[0], 4))
    zeros = net.add("Pad", x, pads=((0, 0), (0, 0), (1, 1), (1, 1)), mode="constant", value=0.0)
    checked(net.graph(net.max(zeros, 3, 2)), "Conv", "MaxPool")


# ---- lifted


def test_a_signal_between_reshapes() -> None:
    """Convolutions of signals are those of images with one row."""
    net = Net((2, 8, 20))
    x = net.xs[0]
    for outputs in (6, 8):
        n, c, w = net.shape(x)
        y = net.conv(net.reshape(x, n, c, 1, w), net.random(outputs, c, 1, 3), net.random(outputs), padding=(0, 1))
        y = batch_norm(net, net.reshape(y, n, outputs, w))
        x = net.relu(net.do("add", y, 0.5))
    x = net.do("add", x, net.xs[0])
    nodes = checked(net.graph(x), "Reshape", "Conv", "Conv", "Reshape", "Binary")
    assert nodes[1].attributes["activation"] == nodes[2].attributes["activation"] == RELU


def test_a_scale_behind_the_heads_of_an_attention() -> None:
    net = Net((2, 5, 8))
    y = net.transpose(net.reshape(net.linear(net.xs[0], 12), 2, 5, 3, 4), 0, 2, 1, 3)
    checked(net.graph(net.do("multiply", y, 0.5)), "Linear", "Reshape", "Transpose")


def test_slopes_behind_a_transpose() -> None:
    net = Net((2, 8, 5, 6))
    y = net.transpose(net.layer(net.xs[0], 4), 0, 2, 3, 1)
    y = net.add("Prelu", y, net.constant(net.random(4)), axis=3)
    nodes = checked(net.graph(y), "Conv", "Transpose")
    assert nodes[0].attributes["activation"][0] == "prelu"


def test_a_sum_of_moved_tensors() -> None:
    net = Net((2, 8, 5, 6))
    a, b = (net.transpose(net.layer(net.xs[0], 4), 0, 2, 3, 1) for _ in range(2))
    checked(net.graph(net.do("add", a, b)), "Conv", "Conv", "Transpose")
    different = net.transpose(net.layer(net.xs[0], 6, 3, padding=1), 0, 2, 3, 1), net.transpose(net.xs[0], 0, 2, 3, 1)
    checked(net.graph(net.linear(different[0], 8), different[1]), "Conv", "Transpose", "Transpose", "Linear")
    net = Net((5, 5, 5), (5, 25))
    y = net.do("add", net.transpose(net.xs[0], 1, 0, 2), net.transpose(net.xs[0], 2, 1, 0))
    checked(net.graph(y), "Transpose", "Transpose", "Binary")
    y = net.do("add", net.reshape(net.xs[0], 25, 5), net.reshape(net.xs[1], 25, 5))
    checked(net.graph(y), "Reshape", "Reshape", "Binary")


# ---- moves


def test_transposes_and_reshapes_that_cancel() -> None:
    net = Net((2, 3, 4, 5))
    x = net.relu(net.xs[0])
    checked(net.graph(net.relu(net.transpose(net.transpose(x, 0, 2, 3, 1), 0, 3, 1, 2))), "Unary")
    net = Net((2, 3, 4, 5))
    x = net.unary(net.xs[0], "tanh", 1.0)
    y = net.transpose(net.transpose(net.transpose(x, 0, 2, 3, 1), 0, 3, 1, 2), 3, 2, 1, 0)
    checked(net.graph(net.unary(y, "erf")), "Unary", "Transpose", "Unary")
    checked(net.graph(net.unary(net.reshape(net.reshape(x, 6, 20), 2, 3, 4, 5), "erf")), "Unary", "Unary")
    y = net.transpose(net.reshape(x, 2, 1, 3, 20), 1, 0, 2, 3)
    nodes = checked(net.graph(net.unary(y, "erf")), "Unary", "Reshape", "Unary")
    assert nodes[1].attributes["shape"] == (1, 2, 3, 20)


def test_what_changes_nothing() -> None:
    net = Net((2, 3, 4, 5))
    x = net.unary(net.xs[0], "tanh", 1.0)
    y = net.add("Slice", x, starts=(0,) * 4, steps=(1,) * 4, sizes=(2, 3, 4, 5))
    y = net.add("Expand", net.add("Pad", y, pads=((0, 0),) * 4, mode="constant", value=0.0), shape=(2, 3, 4, 5))
    y = net.clip(net.add("Concat", net.transpose(y, 0, 1, 2, 3), axis=1), -np.inf, np.inf)
    y = net.do("multiply", net.do("add", y, 0), 1)
    checked(net.graph(net.unary(y, "erf")), "Unary", "Unary")
    checked(net.graph(net.reshape(x, 2, 3, 4, 5)), "Unary", "Reshape")  # an output of its own
    back = net.add("Slice", x, starts=(0, 2, 0, 0), steps=(1, -1, 1, 1), sizes=(2, 3, 4, 5))
    checked(net.graph(net.unary(back, "erf")), "Unary", "Slice", "Unary")
    one = net.reduce(net.reduce(x, "mean", 2, 3), "max", 2)
    checked(net.graph(net.unary(one, "erf")), "Unary", "Reduce", "Unary")


def test_parts() -> None:
    net = Net((2, 3, 4, 5), (2, 5, 4, 5))
    a, b = (net.unary(x, "tanh", 1.0) for x in net.xs)
    both = net.concat(a, b)
    checked(net.graph(net.unary(net.part(both, 3, 8), "erf")), "Unary", "Unary")
    nodes = checked(net.graph(net.unary(net.part(both, 4, 6), "erf")), "Unary", "Slice", "Unary")
    assert nodes[1].attributes["starts"] == (0, 1, 0, 0)
    nodes = checked(net.graph(net.unary(net.part(net.part(b, 1, 5), 1, 3), "erf")), "Unary", "Slice", "Unary")
    assert nodes[1].attributes["starts"] == (0, 2, 0, 0)
    checked(net.graph(net.unary(net.part(both, 2, 6), "erf")), "Unary", "Unary", "Concat", "Slice", "Unary")
    node = Net((4, 9))
    first = node.add("Slice", node.xs[0], starts=(0, 8), steps=(1, -2), sizes=(4, 4))
    again = node.add("Slice", first, starts=(0, 1), steps=(2, 1), sizes=(2, 3))
    found = only(node.graph(again), "Slice")
    assert (found.attributes["starts"], found.attributes["steps"]) == ((0, 6), (2, -2))


def test_wholes() -> None:
    net = Net((2, 6, 4, 5))
    x = net.unary(net.xs[0], "tanh", 1.0)
    checked(net.graph(net.unary(net.concat(net.part(x, 0, 2), net.part(x, 2, 6)), "erf")), "Unary", "Unary")
    nodes = checked(net.graph(net.unary(net.concat(net.part(x, 1, 2), net.part(x, 2, 5)), "erf")), "Unary", "Slice", "Unary")
    assert nodes[1].attributes["sizes"] == (2, 4, 4, 5)
    swapped = net.concat(net.part(x, 2, 6), net.part(x, 0, 2))
    checked(net.graph(net.unary(swapped, "erf")), "Unary", "Slice", "Slice", "Concat", "Unary")
    y = net.concat(net.concat(x, net.unary(x, "erf")), net.unary(x, "sin"))
    nodes = checked(net.graph(y), "Unary", "Unary", "Unary", "Concat")
    assert len(nodes[-1].inputs) == 3
    inner = net.concat(x, net.unary(x, "erf"))
    y = net.concat(inner, net.unary(x, "sin"))
    checked(net.graph(y, net.unary(inner, "cos")), "Unary", "Unary", "Concat", "Unary", "Concat", "Unary")


def test_an_expand_that_broadcasting_does() -> None:
    net = Net((2, 6, 4, 5), (2, 6, 1, 1))
    y = net.do("multiply", net.xs[0], net.add("Expand", net.xs[1], shape=(2, 6, 4, 5)))
    only(net.graph(y), "Binary")
    y = net.do("multiply", net.xs[1], net.add("Expand", net.xs[1], shape=(2, 6, 4, 5)))
    checked(net.graph(y), "Expand", "Binary")


@pytest.mark.parametrize(("axis", "few"), [(0, (7, 1, 1)), (1, (1, 5, 1)), (2, (1, 1, 2))])
def test_repeated_indices(axis: int, few: tuple[int, ...]) -> None:
    """Constant indices are kept along the axis only, unless one of them differs."""
    for differs in (False, True):
        net = Net((9, 8, 6), (7, 5, 2))
        indices = np.broadcast_to(net.rng.integers(0, 5, few), (7, 5, 2)).copy()
        indices[-1, -1, -1] += differs
        y = net.add("ScatterElements", net.xs[0], net.constant(indices), net.xs[1], axis=axis, reduction="add")
        graph = net.graph(y)
        only(graph, "ScatterElements")
        after = simplified(graph)
        assert after.shape(after.nodes[0].inputs[1]) == ((7, 5, 2) if differs else few)


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("width", [(8,), (4, 2)])
def test_messages_along_edges(width: tuple[int, ...], known: bool) -> None:
    """Rows that are gathered and added at other rows: in one step, which begins with what is added besides."""
    net = Net((9, *width), (9, *width))
    begins, ends = (net.rng.integers(0, 9, (20, *(1 for _ in each))) for each in ((), width))
    column = net.constant(ends)
    if not known:
        column = net.add("Cast", net.constant(ends.astype(np.float32)), dtype="int64")
    rows, zeros = net.add("Gather", net.xs[0], net.constant(begins), axis=0), net.constant(np.zeros((9, *width), np.float32))
    sums = net.add("ScatterElements", zeros, column, rows, axis=0, reduction="add")
    graph = net.graph(net.do("add", sums, net.xs[1]))
    before = () if known else ("Cast",) if len(width) == 1 else ("Cast", "Reshape")
    last = checked(graph, *before, "ScatterNd")[-1]
    assert (last.inputs[0], last.inputs[2], len(last.inputs)) == (net.xs[1], net.xs[0], 4)


def test_one_index_for_all_rows() -> None:
    """Its Expand is left out; it is no list of indices."""
    net = Net((9, 8), (20, 8))
    one = net.add("Expand", net.constant(np.array([[4]])), shape=(20, 8))
    checked(net.graph(net.add("ScatterElements", net.xs[0], one, net.xs[1], axis=0, reduction="add")), "ScatterElements")


def test_messages_that_are_read_elsewhere() -> None:
    """Gathered rows with another reader, a sum that begins with something else: as before."""
    net = Net((9, 8), (9, 8))
    column, zeros = net.constant(net.rng.integers(0, 9, (20, 1))), net.constant(np.zeros((9, 8), np.float32))
    rows = net.add("Gather", net.xs[0], net.constant(net.rng.integers(0, 9, 20)), axis=0)
    sums = net.add("ScatterElements", net.xs[1], column, rows, axis=0, reduction="add")
    checked(net.graph(net.do("add", sums, net.xs[0]), net.unary(rows, "cos")), "Gather", "ScatterNd", "Binary", "Unary")
    most = net.add("ScatterElements", zeros, column, net.unary(rows, "cos"), axis=0, reduction="max")
    checked(net.graph(net.do("add", most, net.xs[0])), "Gather", "Unary", "ScatterNd", "Binary")


def test_global_pooling() -> None:
    net = Net((2, 6, 4, 5))
    assert only(net.graph(net.average(net.xs[0], (4, 5), 1)), "Reduce").attributes["function"] == "mean"
    assert only(net.graph(net.max(net.xs[0], (4, 5), 3)), "Reduce").attributes["function"] == "max"
    only(net.graph(net.max(net.xs[0], (4, 4), 1)), "MaxPool")


def test_a_flattened_image() -> None:
    net = Net((2, 6, 4, 5))
    after = simplified(net.graph(net.linear(net.flatten(net.xs[0]), 7)))
    assert after.shape(after.nodes[0].inputs[1]) == (6, 4, 5, 7)
    only(net.graph(net.linear(net.flatten(net.xs[0]), 7)), "Linear")
    net = Net((2, 6, 1, 1))  # another view of the same memory in any order
    checked(net.graph(net.linear(net.flatten(net.xs[0]), 7)), "Reshape", "Linear")


def test_what_is_computed_twice() -> None:
    net = Net((2, 6, 4, 5))
    weight, bias = net.random(4, 6, 1, 1), net.random(4)
    a, b = (net.unary(net.conv(net.xs[0], weight, bias), "tanh", 1.0) for _ in range(2))
    nodes = checked(net.graph(net.do("multiply", a, b)), "Conv", "Unary", "Binary")
    assert len(set(nodes[-1].inputs)) == 1
    two = Net((2, 6))
    checked(two.graph(two.unary(two.xs[0], "erf"), two.unary(two.xs[0], "erf")), "Unary", "Unary")  # outputs of their own
    checked(two.graph(two.unary(two.xs[0], "elu", 1.0), two.unary(two.xs[0], "elu", 0.5)), "Unary", "Unary")


def test_what_nothing_needs() -> None:
    net = Net((2, 6))
    y = net.unary(net.xs[0], "erf")
    net.unary(y, "sin")
    assert [node.operator for node in simplified(net.graph(y)).nodes] == ["Unary"]


# ---- rewriting


def test_changes_do_not_read_what_others_remove() -> None:
    net = Net((2, 6))
    a = net.relu(net.xs[0])
    b = net.relu(a)
    c = net.relu(b)
    graph = net.graph(c)

    def match(of: Graph, node: Node) -> Change | None:
        if node.outputs == (b,) and of.producer(a) is not None:  # b is made of x, without a
            return Change([node, of.producer(a)], [Node("Unary", of.inputs, (b,), {"function": "sin", "params": ()})])  # type: ignore[list-item]
        return None if node.outputs == (b,) or node.attributes["function"] == "erf" else _reading(of, node, a, c)

    assert [node.attributes["function"] for node in rewritten(graph, match).nodes] == ["sin", "relu"]


def _reading(graph: Graph, node: Node, a: str, c: str) -> Change | None:
    """c of a, which is there at first."""
    if node.outputs != (c,) or graph.producer(a) is None:
        return None
    return Change([node], [Node("Unary", (a,), (c,), {"function": "erf", "params": ()})])


def test_changes_do_not_remove_what_others_read() -> None:
    net = Net((2, 6))
    a, b = net.relu(net.xs[0]), net.relu(net.xs[0])
    c, d = net.unary(a, "erf"), net.unary(b, "erf")

    def match(of: Graph, node: Node) -> Change | None:
        user = of.user(node.output)
        if node.output == a and user is not None:  # b is the same
            return Change([node, user], [Node("Unary", (b,), (c,), user.attributes)])
        if node.output == b and user is not None:
            return Change([node, user], [Node("Unary", of.inputs, (d,), {"function": "sin", "params": ()})])
        return None

    assert [node.attributes["function"] for node in rewritten(net.graph(c, d), match).nodes] == ["relu", "erf", "erf"]


def test_origins_are_kept() -> None:
    net = Net((2, 8, 6, 6))
    net.origin = ("conv",)
    x = net.layer(net.xs[0], 8)
    net.origin = ("norm",)
    x = batch_norm(net, x)
    net.origin = ("relu",)
    assert only(net.graph(net.relu(x)), "Conv").origin == ("conv", "norm", "relu")


def test_passes_have_different_names() -> None:
    assert len({name for name, _ in PASSES}) == len(PASSES)
