"""Whole networks, every layer on the output of the one before, against the same network in float64."""

from __future__ import annotations

import numpy as np
import pytest

import pysimd
from bench.graph import ACTIVATIONS, Network, Runner, reference
from bench.layers import CONVOLUTION, DECONVOLUTION, Layer
from bench.models import MODELS, layers_of

PUBLISHED = {  # multiplications in thousands of millions
    "vgg16": 15.470,
    "resnet18": 1.814,
    "resnet50": 4.089,
    "squeezenet": 0.349,
    "mobilenetv1": 0.569,
    "mobilenetv2": 0.301,
    "mobilenetv3": 0.217,
    "unet": 1.744,
    "yolov3-tiny": 2.782,
    "yolov4-tiny": 3.454,
}


def _without_end(name: str, size: int) -> Network:
    """The network without its last layer, which would hide large errors."""
    net = MODELS[name](size)
    assert net.nodes[-1].kind in ("softmax", "sigmoid")
    del net.nodes[-1]
    return net


def _error(net: Network) -> float:
    _, h, w = net.shape(net.input)
    image = np.random.default_rng(7).random((h, w, 3), np.float32)
    exact = reference(net, image)
    assert exact.std() > 0.01 * np.abs(exact).max()  # else an error of one value in a thousand would not be seen
    return float(np.abs(Runner(net)(image) - exact).max() / np.abs(exact).max())


@pytest.mark.parametrize("name", MODELS)
def test_a_small_image_on_every_level(name: str, isa: str) -> None:
    assert _error(_without_end(name, 64)) < 1e-4


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_activations_of_layers_without_contexts(activation: str) -> None:
    net = Network("sums", (3, 8, 8))
    x = net.conv(net.input, 16, 3)
    net.add(x, x, activation=activation)
    assert _error(net) < 1e-4


@pytest.mark.parametrize("name", [name for name in MODELS if name != "vgg16"])
def test_an_image_of_the_usual_size(name: str) -> None:
    assert pysimd.active_isa() == "base" or _error(_without_end(name, 224)) < 1e-4


@pytest.mark.parametrize("name", MODELS)
def test_networks_are_the_published_ones(name: str) -> None:
    net = MODELS[name]()
    assert sum(layer.multiplications for layer in net.layers) / 1e9 == pytest.approx(PUBLISHED[name], abs=1e-3)
    ends = {"unet": (1, 224, 224), "yolov3-tiny": (255, 26, 26), "yolov4-tiny": (255, 26, 26)}
    assert net.nodes[-1].shape == ends.get(name, (1000, 1, 1))
    assert all(node.shape == node.layer.dst for node in net.nodes if node.layer)


def test_counts() -> None:
    resnet = layers_of("resnet50")
    assert resnet[Layer(CONVOLUTION, 3, 224, 224, 64, 7, 2, 3, 3)] == 1
    assert resnet[Layer(CONVOLUTION, 64, 56, 56, 256)] == 4  # three expansions and the first shortcut
    assert resnet[Layer(CONVOLUTION, 256, 14, 14, 256, 3, 1, 1, 1)] == 5
    assert resnet[Layer(CONVOLUTION, 256, 28, 28, 256, 3, 2, 1, 1)] == 1
    assert resnet[Layer(CONVOLUTION, 256, 56, 56, 512, 1, 2)] == 1
    assert sum(layer.kind == CONVOLUTION and layer.kernel == 3 for layer in layers_of("vgg16").elements()) == 13
    depthwise = [layer for layer in layers_of("mobilenetv2").elements() if layer.group > 1]
    assert len(depthwise) == 17
    assert all(layer.group == layer.c == layer.o for layer in depthwise)
    assert layers_of("mobilenetv1")[Layer(CONVOLUTION, 512, 14, 14, 512)] == 5
    assert sum(layer.kind == DECONVOLUTION for layer in layers_of("unet").elements()) == 4


def test_a_merged_convolution_is_one_step() -> None:
    assert max(len(step.nodes) for step in Runner(MODELS["mobilenetv2"](64)).steps) == 4


def test_a_wrong_weight_is_seen() -> None:
    net = _without_end("mobilenetv1", 64)
    image = np.random.default_rng(7).random((64, 64, 3), np.float32)
    runner = Runner(net)
    net.nodes[5].weight.flat[0] += 1
    exact = reference(net, image)
    assert np.abs(runner(image) - exact).max() > 1e-4 * np.abs(exact).max()
