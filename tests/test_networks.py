"""Whole networks, every layer on the output of the one before, against the same network in float64."""

from __future__ import annotations

import numpy as np
import pytest

import pysimd
from pysimd.bench.graph import Network, Runner, reference
from pysimd.bench.models import MODELS

#: Multiply-adds of an image of 224 x 224, in millions.
PUBLISHED = {
    "mobilenet_v1": 569,
    "mobilenet_v2": 300,
    "resnet18": 1814,
    "resnet50": 4089,
    "squeezenet": 349,
    "vgg16": 15470,
}


def _logits(name: str, size: int) -> Network:
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
    assert _error(_logits(name, 64)) < 1e-4


@pytest.mark.parametrize("name", [name for name in MODELS if name != "vgg16"])
def test_an_image_of_the_usual_size(name: str) -> None:
    assert pysimd.active_isa() == "base" or _error(_logits(name, 224)) < 1e-4


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_published_amount_of_work(name: str) -> None:
    assert MODELS[name]().multiply_adds() / 1e6 == pytest.approx(PUBLISHED[name], rel=0.005)


def test_a_wrong_weight_is_seen() -> None:
    net = _logits("mobilenet_v1", 64)
    image = np.random.default_rng(7).random((64, 64, 3), np.float32)
    runner = Runner(net)
    weight = net.nodes[5].weight
    assert weight is not None
    weight[0, 0, 0, 0] += 1
    exact = reference(net, image)
    assert np.abs(runner(image) - exact).max() > 1e-4 * np.abs(exact).max()
