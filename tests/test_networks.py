"""Whole networks, every layer applied to the output of the one before, against the same network in float64."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from network_reference import reference

import pysimd
from bench.layers import CONVOLUTION, DECONVOLUTION, Layer
from bench.models import ACTIVATIONS, MODELS, Network, layers, layers_of, of_batch
from pysimd.annotations import Array
from pysimd.network import Builder, Graph, Runner, planner
from pysimd.network.operators import shape_of
from pysimd.network.passes import Group, fused
from pysimd.network.planner import Plan, View, plan_of

PUBLISHED = {  # billions of multiplications
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


def _without_end(name: str, size: int) -> Graph:
    """The network without its last layer, which would hide large errors."""
    graph = MODELS[name](size)
    *nodes, end = graph.nodes
    assert end.operator in ("Softmax", "Sigmoid")
    return Graph(name, nodes, graph.inputs, end.inputs, graph.tensors, graph.constants)


def _error(graph: Graph) -> float:
    _, c, h, w = graph.shape(graph.inputs[0])
    image = np.random.default_rng(7).random((h, w, c), np.float32)
    exact = reference(graph, image)
    assert exact.std() > 0.01 * np.abs(exact).max()  # otherwise an error of one value in a thousand would not be detected
    return float(np.abs(Runner(graph)(image) - exact).max() / np.abs(exact).max())


@pytest.mark.parametrize("name", MODELS)
def test_a_small_image_on_every_level(name: str, isa: str) -> None:
    assert _error(_without_end(name, 64)) < 1e-4


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_activations_of_layers_without_contexts(activation: str) -> None:
    net = Network("sums", (3, 8, 8))
    x = net.convolved(net.image, 16, 3)
    assert _error(net.graph(ACTIVATIONS[activation](net, net.add(x, x)))) < 1e-4


@pytest.mark.parametrize("name", [name for name in MODELS if name != "vgg16"])
def test_an_image_of_the_usual_size(name: str) -> None:
    assert pysimd.active_isa() == "base" or _error(_without_end(name, 224)) < 1e-4


@pytest.mark.parametrize("name", MODELS)
def test_networks_are_the_published_ones(name: str) -> None:
    graph = MODELS[name]()
    assert sum(layer.multiplications for layer in layers(graph)) / 1e9 == pytest.approx(PUBLISHED[name], abs=1e-3)
    ends = {"unet": (1, 224, 224), "yolov3-tiny": (255, 26, 26), "yolov4-tiny": (255, 26, 26)}
    assert graph.shape(graph.outputs[0])[1:] in (ends.get(name), (1000,), (1000, 1, 1))


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


@pytest.mark.parametrize("name", MODELS)
def test_a_batch(name: str, isa: str) -> None:
    """The images of a batch are independent, and each gives what it gives alone but for rounding."""
    graph, images = _without_end(name, 64), np.random.default_rng(7).random((3, 64, 64, 3), np.float32)
    found = Runner(of_batch(graph, 3))(images)
    alone = Runner(graph)
    for image, result in zip(images, found):
        exact = alone(image)
        assert result.shape == exact.shape
        assert np.abs(result - exact).max() < 1e-4 * np.abs(exact).max()


def test_a_wrong_weight_is_seen() -> None:
    graph = _without_end("mobilenetv1", 64)
    image = np.random.default_rng(7).random((64, 64, 3), np.float32)
    runner = Runner(graph)
    graph.constants[graph.nodes[8].inputs[1]].flat[0] += 1
    exact = reference(graph, image)
    assert np.abs(runner(image) - exact).max() > 1e-4 * np.abs(exact).max()


# ---- passes and plans

# Steps of a network, and how many compute several nodes: merged convolutions, convolutions with an addition.
STEPS = {
    "vgg16": (22, 0, 0),
    "resnet18": (24, 0, 8),
    "resnet50": (57, 0, 16),
    "squeezenet": (39, 0, 0),
    "mobilenetv1": (16, 13, 0),
    "mobilenetv2": (21, 17, 0),
    "mobilenetv3": (62, 15, 5),
    "unet": (27, 0, 0),
    "yolov3-tiny": (22, 0, 0),
    "yolov4-tiny": (36, 0, 0),
}


@pytest.mark.parametrize("name", MODELS)
def test_what_is_fused(name: str) -> None:
    operators = [[part.operator for part in step.parts] for step in fused(MODELS[name](64))]
    merged = sum(found.count("Conv") > 1 for found in operators)
    assert (len(operators), merged, operators.count(["Conv", "Add"])) == STEPS[name]


def test_an_addition_is_a_part_of_a_merged_convolution() -> None:
    assert max(len(step.parts) for step in fused(MODELS["mobilenetv2"](64))) == 4


def test_what_another_one_reads_is_not_fused() -> None:
    net = Network("read twice", (16, 8, 8))
    x = net.convolved(net.image, 16, 3)
    y = net.relu(net.add(net.relu(x), net.sigmoid(x)))
    graph = net.graph(y)
    assert [[part.operator for part in step.parts] for step in fused(graph)] == [["Conv"], ["Relu"], ["Sigmoid"], ["Add"]]
    assert _error(graph) < 1e-4
    seen = net.graph(x)  # the others are computed, and the result is kept
    image = np.random.default_rng(7).random((8, 8, 16), np.float32)
    assert np.abs(Runner(seen)(image) - reference(seen, image)).max() < 1e-4


def _written(plan: Plan, step: Group, block: Array) -> list[Array]:
    """The arrays that a step writes."""
    output = plan.array(block, step.output)
    operator = step.parts[0].operator
    if operator == "Slice" and step.output in plan.views:
        return []
    if operator != "Concat":
        return [output]
    begins = np.cumsum([0, *(plan.images[name].shape[-1] for name in step.inputs)])
    places = [View(step.output, begin) for begin in begins]
    whole = [output[..., begin:end] for begin, end in zip(begins, begins[1:])]
    return [part for name, place, part in zip(step.inputs, places, whole) if plan.views.get(name) != place]


@pytest.mark.parametrize("name", MODELS)
def test_no_step_writes_an_image_that_is_still_needed(name: str) -> None:
    graph = MODELS[name](64)
    plan = plan_of(graph)
    block = np.empty(plan.size, np.float32)
    read = {image: number for number, step in enumerate(plan.steps) for image in step.inputs}
    living = {*graph.inputs}
    for number, step in enumerate(plan.steps):
        for written in _written(plan, step, block):
            assert not any(np.shares_memory(written, plan.array(block, image)) for image in living)
        living.add(step.output)
        kept = {*graph.inputs, *graph.outputs}
        living = {image for image in living if image in kept or read.get(image, -1) > number}
    sizes = [int(np.prod(plan.images[image].shape)) for image in plan.places]
    assert max(plan.places[image] + size for image, size in zip(plan.places, sizes)) <= plan.size < sum(sizes) + 10000


# ---- concatenations and parts of images in place

COPIES = {  # of a plan without views, and of the usual one: an image of two concatenations is copied to the second
    "squeezenet": (16, 0),
    "unet": (8, 0),
    "yolov3-tiny": (2, 0),
    "yolov4-tiny": (17, 1),
}


@pytest.mark.parametrize("name", COPIES)
def test_concatenations_and_parts_take_no_calls(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the results are those of a plan with copies, bit for bit."""
    graph = _without_end(name, 64)
    image = np.random.default_rng(7).random((64, 64, 3), np.float32)
    runner = Runner(graph)
    monkeypatch.setattr(planner, "_views", lambda *_: {})
    copying = Runner(graph)
    assert (_copies(copying), _copies(runner)) == COPIES[name]
    np.testing.assert_array_equal(runner(image), copying(image))


def _copies(runner: Runner) -> int:
    steps = zip(runner.steps, runner.calls)
    return sum(len(calls) for step, calls in steps if step.parts[0].operator in ("Concat", "Slice"))


def _checked(graph: Graph) -> Runner:
    """A runner of a graph, whose result is right."""
    runner = Runner(graph)
    image = np.random.default_rng(7).uniform(-1, 1, runner.image.shape).astype(np.float32)
    assert np.abs(runner(image) - reference(graph, image)).max() < 1e-5
    return runner


def test_what_cannot_be_in_place_is_copied() -> None:
    net = Network("copies", (16, 8, 8))
    x = net.convolved(net.image, 16, 3)
    twice = net.concat(net.concat(x, x), net.image)  # the second x, and the image
    y = net.concat(net.concat(x, net.part(twice, 3, 40)), x)  # x, which is elsewhere; channels of another image; x
    assert _copies(_checked(net.graph(net.relu(y)))) == 2 + 2 + 1 + 1  # and the activation


def test_images_of_a_concatenation_that_others_read() -> None:
    net = Network("reads", (16, 8, 8))
    x, y = net.convolved(net.image, 16, 3), net.convolved(net.image, 8, 1)
    both = net.concat(net.max(x, 2, 2), net.average(y, 2, 2))
    more = net.concat(net.enlarge(both), net.add(net.concat(x, y), net.concat(x, y)))  # x and y are in the first one
    again = net.hard_swish(net.leaky_relu(net.sigmoid(net.part(more, 5, 29)), 0.1))
    assert _copies(_checked(net.graph(net.concat(again, net.clip(again, -0.5, 0.5))))) == 2


def test_a_part_with_an_activation() -> None:
    net = Network("part", (16, 8, 8))
    x = net.convolved(net.image, 16, 3)
    assert _copies(_checked(net.graph(net.add(net.clip(net.part(x, 3, 7), -0.1, 0.1), net.part(x, 4, 8))))) == 2


def test_vectors_are_dense() -> None:
    """Gemm and Softmax read and write whole images."""
    net = Network("vectors", (16, 8, 8))
    x = net.mean(net.convolved(net.image, 16, 3))
    weight = np.random.default_rng(1).uniform(-1, 1, (16, 8)).astype(np.float32)
    y = net.pixel(net.softmax(net.gemm(net.flatten(net.part(x, 3, 11)), weight, np.zeros(16, np.float32))))
    assert _copies(_checked(net.graph(net.concat(x, y)))) == 2


# ---- invalid graphs


def test_graphs_that_cannot_be_are_refused() -> None:
    net = Network("small", (3, 8, 8))
    x = net.convolved(net.image, 4, 3)
    graph = net.graph(x)
    (node,) = graph.nodes
    parts = (graph.inputs, graph.outputs, graph.tensors, graph.constants)
    with pytest.raises(ValueError, match="Conv gives v0, which is there already"):
        Graph("twice", [node, node], *parts)
    with pytest.raises(ValueError, match="nothing gives the outputs"):
        Graph("empty", [], *parts)
    with pytest.raises(ValueError, match="Conv reads x0, which nothing before it gives"):
        Graph("no image", [node], [], *parts[1:])
    with pytest.raises(ValueError, match="c0 is float64 of"):
        Graph("wide", [node], *parts[:3], {**graph.constants, "c0": graph.constants["c0"].astype(np.float64)})
    with pytest.raises(ValueError, match="the operator Erf is not known; known are Add, AveragePool"):
        Graph("unknown", [dataclasses.replace(node, operator="Erf")], *parts)
    with pytest.raises(ValueError, match=r"Conv has the attributes .*'dilations'"):
        Graph("dilated", [dataclasses.replace(node, attributes={**node.attributes, "dilations": (2, 2)})], *parts)
    with pytest.raises(ValueError, match="expected axis 1"):
        shape_of("Softmax", [(1, 3, 8, 8)], {"axis": 2})
    with pytest.raises(ValueError, match="expected whole scales"):
        shape_of("Resize", [(1, 3, 8, 8)], {"scales": (1, 1, 1.5, 1.5)})
    with pytest.raises(ValueError, match="expected no padding"):
        shape_of("AveragePool", [(1, 3, 8, 8)], {"kernel_shape": (3, 3), "strides": (1, 1), "pads": (1, 1, 1, 1)})
    with pytest.raises(ValueError, match=r"Add of shapes .* the shapes differ"):
        net.add(x, net.image)
    with pytest.raises(ValueError, match="the window is larger than the image"):
        net.max(x, 9, 1)
    with pytest.raises(ValueError, match=r"x0 has shape \(2, 3, 8\), expected \(N, C, H, W\)"):
        signal = Builder("signal")
        x = signal.input((2, 3, 8))
        signal._tensors[x] = dataclasses.replace(signal._tensors[x], layout="ncw")
        Runner(signal.graph(x))


def test_the_mean_of_a_window() -> None:
    net = Network("means", (8, 9, 9))
    assert _error(net.graph(net.average(net.image, 3, 2))) < 1e-4
