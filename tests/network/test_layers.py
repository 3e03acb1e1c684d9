"""The passes that let a layer compute what its neighbours do: activations, additions, several layers at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from network.passes import RELU, Net, batch_norm, checked, only
from pysimd.network.operators import IDENTITY
from pysimd.network.passes import simplified

# ---- activations

ACTIVATIONS = {
    "relu": (),
    "restrict_range": (0.0, 6.0),
    "leaky_relu": (0.1,),
    "elu": (1.0,),
    "hswish": (3.0, 1 / 6),
    "hard_sigmoid": (0.2, 0.5),
    "mish": (20.0,),
    "swish": (1.0,),
    "gelu": (),
    "sigmoid": (1.0,),
}


def _layers(net: Net, kind: str) -> str:
    if kind == "Conv":
        return net.layer(net.xs[0], 6, 3, padding=1)
    if kind == "ConvTranspose":
        return net.deconv(net.xs[0], net.random(8, 6, 2, 2), net.random(6), stride=2)
    if kind == "Binary":
        return net.do("multiply", net.xs[0], net.xs[0])
    return net.linear(net.xs[0], 6)


@pytest.mark.parametrize("kind", ["Conv", "ConvTranspose", "Binary", "Linear"])
@pytest.mark.parametrize("function", ACTIVATIONS)
def test_activations(kind: str, function: str) -> None:
    net = Net((2, 8, 5, 4) if kind != "Linear" else (3, 7))
    params = ACTIVATIONS[function]
    node = only(net.graph(net.unary(_layers(net, kind), function, *params)), kind, 3e-6)
    assert node.attributes["activation"] == (function, () if function == "sigmoid" else params)


@pytest.mark.parametrize("kind", ["Conv", "ConvTranspose", "Linear"])
def test_slopes_of_channels(kind: str) -> None:
    net = Net((2, 8, 5, 4) if kind != "Linear" else (3, 7))
    y = net.add("Prelu", _layers(net, kind), net.constant(net.random(6)), axis=1)
    assert len(only(net.graph(y), kind).attributes["activation"][1]) == 6


def test_what_is_no_activation() -> None:
    net = Net((2, 8, 5, 4))
    x = net.layer(net.xs[0], 4)
    checked(net.graph(net.unary(x, "tanh", 1.0)), "Conv", "Unary")
    checked(net.graph(net.unary(x, "sigmoid", 2.0)), "Conv", "Unary")
    checked(net.graph(net.add("Prelu", x, net.constant(net.random(4)), axis=3)), "Conv", "Prelu")
    checked(net.graph(net.relu(x), x), "Conv", "Unary")
    checked(net.graph(net.relu(batch_norm(net, net.xs[0]))), "Scale", "Unary")
    nodes = checked(net.graph(net.unary(net.unary(x, "gelu"), "hswish", 3.0, 1 / 6)), "Conv", "Unary")
    assert nodes[0].attributes["activation"] == ("gelu", ())


@pytest.mark.parametrize(
    ("kind", "outputs", "joined"), [("Conv", 6, 0), ("Conv", 1, 1), ("Conv", 12, 1), ("ConvTranspose", 1, 0)]
)
def test_exponentials_of_few_outputs(kind: str, outputs: int, joined: bool) -> None:
    """A layer computes whole vectors of them."""
    net = Net((1, 8, 40, 40))
    shape = (8, outputs, 2, 2) if kind == "ConvTranspose" else (outputs, 8, 1, 1)
    layer = net.deconv if kind == "ConvTranspose" else net.conv
    x = layer(net.xs[0], net.random(*shape), net.random(outputs))
    checked(net.graph(net.unary(x, "sigmoid", 1.0)), kind, *([] if joined else ["Unary"]))
    only(net.graph(net.relu(x)), kind)


# ---- additions


@pytest.mark.parametrize("before", [False, True])
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("first", [False, True])
def test_additions_of_images(before: bool, after: bool, first: bool) -> None:
    net = Net((2, 8, 6, 6))
    y = net.layer(net.xs[0], 8, 3, padding=1)
    y = net.unary(y, "elu", 1.0) if before else y
    y = net.do("add", y, net.xs[0]) if first else net.do("add", net.xs[0], y)
    y = net.relu(y) if after else y
    if before and after:
        checked(net.graph(y), "Conv", "Binary")
        return
    node = only(net.graph(y), "Conv")
    assert node.attributes["order"] == ("activation" if before else "add")
    assert node.attributes["activation"] == (("elu", (1.0,)) if before else RELU if after else IDENTITY)


def test_additions_of_rows() -> None:
    net = Net((5, 8))
    node = only(net.graph(net.do("add", net.xs[0], net.linear(net.xs[0], 8))), "Linear")
    assert node.inputs[3] == net.xs[0]
    node = only(net.graph(net.do("add", net.relu(net.linear(net.xs[0], 8)), net.xs[0])), "Linear")
    assert node.attributes["order"] == "activation"


def test_the_term_is_computed_before() -> None:
    net = Net((2, 8, 6, 6))
    main = net.layer(net.xs[0], 8, 3, padding=1)
    other = net.max(net.xs[0], 3, 1, 1)
    checked(net.graph(net.do("add", main, other)), "MaxPool", "Conv")


def test_the_layer_that_adds_at_no_cost() -> None:
    net = Net((2, 8, 6, 6))
    depthwise, other = net.depthwise(net.xs[0], 3), net.layer(net.xs[0], 8)
    nodes = checked(net.graph(net.do("add", depthwise, other)), "Conv", "Conv")
    assert nodes[1].attributes["group"] == 1


def test_what_is_no_addition() -> None:
    net = Net((2, 8, 6, 6), (2, 8, 1, 1))
    x = net.layer(net.xs[0], 8)
    checked(net.graph(net.do("add", x, net.xs[1])), "Conv", "Binary")
    checked(net.graph(net.do("add", x, x)), "Conv", "Binary")
    checked(net.graph(net.do("subtract", net.xs[0], x)), "Conv", "Binary")
    checked(net.graph(x, net.do("add", x, net.xs[0])), "Conv", "Binary")


def test_additions_of_a_part_of_the_image() -> None:
    net = Net((2, 8, 6, 6), (2, 8, 1, 1))
    x = net.unary(net.xs[0], "tanh", 1.0)
    for y in (net.do("add", x, net.do("multiply", net.xs[1], x)), net.do("add", net.do("multiply", x, net.xs[1]), x)):
        nodes = checked(net.graph(net.relu(y)), "Unary", "Binary", "Binary")
        assert net.graph(y).types[x] == simplified(net.graph(y)).types[nodes[-1].inputs[0]]
        assert (nodes[1].inputs[0], nodes[2].attributes["activation"]) == (net.xs[1], RELU)
    y = net.do("multiply", x, net.unary(x, "sin"))
    checked(net.graph(net.do("add", x, y)), "Unary", "Unary", "Binary", "Binary")  # no smaller


# ---- tiny


@pytest.mark.parametrize("kind", ["Conv", "Linear"])
def test_tiny_weights(kind: str) -> None:
    net = Net((2, 8, 6, 6) if kind == "Conv" else (5, 8))
    weight, bias = net.random(4, 8), net.random(4)
    weight[0, :3], bias[1] = (1e-40, -1e-31, 1e-29), 1e-33
    image = kind == "Conv"
    graph = net.graph(net.conv(net.xs[0], weight[..., None, None], bias) if image else net.gemm(net.xs[0], weight, bias))
    node = only(graph, kind, special=False)  # infinity times a number that became 0
    found = [simplified(graph).constants[name] for name in node.inputs[1:3]]
    assert [int((array == 0).sum()) for array in found] == [2, 1]


def test_tiny_numbers_that_matter() -> None:
    """Those beside which there are no others, and those that are no weights."""
    net = Net((2, 8, 6, 6))
    weight, bias = net.random(4, 8, 1, 1), np.full(4, 1e-37, np.float32)
    graph = net.graph(net.do("maximum", net.conv(net.xs[0], weight, bias), np.full((4, 1, 1), 1e-38)))
    after = simplified(graph)
    assert sorted(after.constants) == sorted(graph.constants)
    assert all(after.constants[name] is graph.constants[name] for name in graph.constants)


# ---- blocks


def _block(net: Net, x: str, kernels: Sequence[int] = (1, 3, 1), stride: int = 1, wide: int = 16) -> str:
    outputs = net.shape(x)[1]
    if kernels[0]:
        x = net.relu6(net.layer(x, wide, kernels[0], padding=kernels[0] // 2))
    x = net.relu6(net.depthwise(x, kernels[1], stride=stride))
    return net.layer(x, outputs, kernels[2]) if kernels[2] else x


@pytest.mark.parametrize("kernels", [(1, 3, 1), (3, 5, 1), (1, 7, 1), (0, 3, 1), (1, 3, 0)])
@pytest.mark.parametrize("stride", [1, 2])
def test_blocks(kernels: tuple[int, ...], stride: int) -> None:
    net = Net((2, 8, 9, 9))
    node = only(net.graph(_block(net, net.xs[0], kernels, stride)), "MergedConvolution", 1e-5)
    assert len(node.attributes["stages"]) == sum(kernel > 0 for kernel in kernels)
    assert not node.attributes["residual"]


@pytest.mark.parametrize("active", [False, True])
def test_residual_blocks(active: bool) -> None:
    net = Net((2, 8, 9, 9))
    y = net.do("add", net.xs[0], _block(net, net.xs[0]))
    node = only(net.graph(net.relu(y) if active else y), "MergedConvolution")
    assert node.attributes["residual"]
    assert node.attributes["stages"][2]["activation"] == (RELU if active else IDENTITY)


def test_what_is_no_block() -> None:
    net = Net((2, 8, 9, 9))
    x = net.xs[0]
    checked(net.graph(net.layer(net.relu(net.layer(x, 8, 3)), 8, 3)), "Conv", "Conv")
    checked(net.graph(_block(net, x, (0, 3, 1), 4)), "Conv", "Conv")  # its stride
    padded = net.layer(_block(net, x, (1, 3, 0)), 8, padding=1)  # which has pixels of the bias alone
    checked(net.graph(padded), "MergedConvolution", "Conv")
    checked(net.graph(net.depthwise(net.unary(net.layer(x, 8), "tanh", 1.0))), "Conv", "Unary", "Conv")
    nodes = checked(net.graph(net.do("add", x, _block(net, x, (0, 3, 1)))), "MergedConvolution", "Binary")
    assert not nodes[0].attributes["residual"]
    checked(net.graph(net.do("add", net.relu(x), _block(net, x))), "Unary", "MergedConvolution", "Binary")
    far = net.add(
        "Conv",
        net.layer(x, 8),
        net.constant(net.random(8, 1, 3, 3)),
        strides=(1, 1),
        pads=(2,) * 4,
        dilations=(2, 2),
        group=8,
        activation=IDENTITY,
        order="add",
    )
    checked(net.graph(far), "Conv", "Conv")
