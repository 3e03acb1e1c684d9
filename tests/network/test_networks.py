"""Whole networks, every layer applied to the output of the one before, against the same network in float64."""

from __future__ import annotations

import functools
from collections import Counter

import numpy as np
import pytest

import pysimd
from bench.layers import CONVOLUTION, DECONVOLUTION, Layer
from bench.models import ACTIVATIONS, MODELS, Network, layers
from network.reference import computed, inputs_of, reference
from pysimd.annotations import Array, Shape
from pysimd.network import Builder, Graph, Runner, memory
from pysimd.network.graph import Type
from pysimd.network.operators import types_of
from pysimd.network.passes import simplified
from pysimd.network.records import replace

NAMES = sorted(MODELS)  # so that the sample for base, the slowest set, is without vgg16
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


def _without_end(name: str, size: int, batch: int = 1) -> Graph:
    """The network without its last layer, which would hide large errors, with merged layers."""
    graph = MODELS[name](size, batch)
    *nodes, end = graph.nodes
    assert end.operator == "Softmax" or end.attributes["function"] == "sigmoid"
    return simplified(Graph(name, nodes, graph.inputs, end.inputs, graph.types, graph.constants))


def _run(graph: Graph, image: Array, layout: str = "nchw") -> Array:
    """The only output for the only input."""
    (source,) = graph.inputs
    (found,) = Runner(graph, layout)({source: image}).values()
    return found


def _error(graph: Graph) -> float:
    _, c, h, w = graph.shape(graph.inputs[0])
    image = np.random.default_rng(7).random((h, w, c), np.float32)
    exact = reference(graph, image)
    assert exact.std() > 0.01 * np.abs(exact).max()  # otherwise an error of one value in a thousand would not be detected
    found = _run(simplified(graph), image[None], "nhwc").reshape(exact.shape)
    return float(np.abs(found - exact).max() / np.abs(exact).max())


def _small(name: str) -> int:
    """The side of an image that each instruction set computes in little time."""
    return 32 if name == "vgg16" else 64


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", NAMES)
def test_a_small_image_on_every_level(name: str, isa: str) -> None:
    assert _error(_without_end(name, _small(name))) < 1e-4


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_activations_of_layers_without_contexts(activation: str) -> None:
    net = Network("sums", (3, 8, 8))
    x = net.convolved(net.image, 16, 3)
    assert _error(net.graph(ACTIVATIONS[activation](net, net.sum(x, x)))) < 1e-4


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", [name for name in MODELS if name != "vgg16"])
def test_an_image_of_the_usual_size(name: str) -> None:
    """In MobileNetV3, sums that are clipped to 0 .. 1 are differences of much larger numbers."""
    most = 5e-4 if name == "mobilenetv3" else 1e-4
    assert pysimd.active_isa() == "base" or _error(_without_end(name, 224)) < most


@functools.cache
def _published(name: str) -> tuple[Counter[Layer], Shape]:
    """The layers of a network, and the shape of its result: its weights take seconds to draw."""
    graph = MODELS[name]()
    return Counter(layers(graph)), graph.shape(graph.outputs[0])


@pytest.mark.parametrize("name", MODELS)
def test_networks_are_the_published_ones(name: str) -> None:
    found, shape = _published(name)
    assert sum(layer.multiplications for layer in found.elements()) / 1e9 == pytest.approx(PUBLISHED[name], abs=1e-3)
    ends = {"unet": (1, 224, 224), "yolov3-tiny": (255, 26, 26), "yolov4-tiny": (255, 26, 26)}
    assert shape[1:] in (ends.get(name), (1000,), (1000, 1, 1))


def test_counts() -> None:
    resnet, _ = _published("resnet50")
    assert resnet[Layer(CONVOLUTION, 3, 224, 224, 64, 7, 2, 3, 3)] == 1
    assert resnet[Layer(CONVOLUTION, 64, 56, 56, 256)] == 4  # three expansions and the first shortcut
    assert resnet[Layer(CONVOLUTION, 256, 14, 14, 256, 3, 1, 1, 1)] == 5
    assert resnet[Layer(CONVOLUTION, 256, 28, 28, 256, 3, 2, 1, 1)] == 1
    assert resnet[Layer(CONVOLUTION, 256, 56, 56, 512, 1, 2)] == 1
    assert sum(layer.kind == CONVOLUTION and layer.kernel == 3 for layer in _published("vgg16")[0].elements()) == 13
    depthwise = [layer for layer in _published("mobilenetv2")[0].elements() if layer.group > 1]
    assert len(depthwise) == 17
    assert all(layer.group == layer.c == layer.o for layer in depthwise)
    assert _published("mobilenetv1")[0][Layer(CONVOLUTION, 512, 14, 14, 512)] == 5
    assert sum(layer.kind == DECONVOLUTION for layer in _published("unet")[0].elements()) == 4


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", NAMES)
def test_a_batch(name: str, isa: str) -> None:
    """The images of a batch are independent, and each gives what it gives alone but for rounding."""
    side = _small(name)
    images = np.random.default_rng(7).random((3, 3, side, side), np.float32)
    found = _run(_without_end(name, side, 3), images)
    alone = Runner(_without_end(name, side))
    for image, result in zip(images, found):
        (exact,) = alone({alone.graph.inputs[0]: image[None]}).values()
        assert result.shape == exact.shape[1:]
        assert np.abs(result - exact[0]).max() < 1e-4 * np.abs(exact).max()


def test_a_wrong_weight_is_seen() -> None:
    graph = _without_end("mobilenetv1", 64)
    image = np.random.default_rng(7).random((1, 3, 64, 64), np.float32)
    found = _run(graph, image)
    weights = next(
        name for node in graph.nodes[4:] for name in node.inputs if graph.constants.get(name, np.empty(0)).ndim == 4
    )
    graph.constants[weights].flat[0] += 1
    (exact,) = computed(graph, {graph.inputs[0]: image}).values()
    assert np.abs(found - exact).max() > 1e-4 * np.abs(exact).max()


# ---- what is joined, and where tensors are

# Steps of a network, and how many are merged convolutions, and convolutions with an addition.
STEPS = {
    "vgg16": (24, 0, 0),
    "resnet18": (25, 0, 8),
    "resnet50": (58, 0, 16),
    "squeezenet": (33, 0, 0),
    "mobilenetv1": (17, 13, 0),
    "mobilenetv2": (22, 17, 0),
    "mobilenetv3": (63, 15, 5),
    "unet": (24, 0, 0),
    "yolov3-tiny": (20, 0, 0),
    "yolov4-tiny": (26, 0, 0),
}


@pytest.mark.parametrize("name", MODELS)
def test_what_is_joined(name: str) -> None:
    nodes = [step.node for step in Runner(simplified(MODELS[name](64))).steps]
    merged = sum(node.operator == "MergedConvolution" for node in nodes)
    added = sum(node.operator == "Conv" and len(node.inputs) > 3 for node in nodes)
    assert (len(nodes), merged, added) == STEPS[name]


def test_what_another_one_reads_is_not_joined() -> None:
    net = Network("read twice", (16, 8, 8))
    x = net.convolved(net.image, 16, 3)
    graph = net.graph(net.relu(net.sum(net.relu(x), net.sigmoid(x))))
    assert [node.operator for node in simplified(graph).nodes] == ["Conv", "Unary", "Unary", "Binary"]
    assert _error(graph) < 1e-4


@pytest.mark.parametrize("name", MODELS)
def test_no_step_writes_a_tensor_that_is_still_needed(name: str) -> None:
    runner = Runner(simplified(MODELS[name](64)))
    graph, plan, block = runner.placed, runner.plan, np.empty(runner.plan.size, np.uint8)
    last = {name: number for number, node in enumerate(graph.nodes) for name in node.given}
    kept = {*graph.inputs, *graph.outputs}
    living = set(graph.inputs)
    for number, node in enumerate(graph.nodes):
        if node not in plan.idle and node.operator != "Concat":
            for written in (plan.array(block, each) for each in node.outputs):
                assert not any(np.shares_memory(written, plan.array(block, each)) for each in living - {*node.outputs})
        living.update(node.outputs)
        living = {each for each in living if each in kept or last.get(each, -1) > number}
    sizes = [graph.types[each].nbytes for each in plan.offsets]
    assert plan.size < sum(sizes) + 1000 * len(sizes)


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
    image = np.random.default_rng(7).random((1, 3, 64, 64), np.float32)
    runner = Runner(graph)
    monkeypatch.setattr(memory._Places, "_is_cheaper", lambda *_: False)
    copying = Runner(graph)
    assert (_copies(copying), _copies(runner)) == COPIES[name]
    (x,), (y,), (z,) = graph.inputs, runner.outputs, copying.outputs
    np.testing.assert_array_equal(runner({x: image})[y], copying({x: image})[z])


def _copies(runner: Runner) -> int:
    return sum(len(step.calls) for step in runner.steps if step.node.operator in ("Concat", "Slice"))


def _checked(graph: Graph) -> Runner:
    """A runner of a graph, whose results are right."""
    runner, inputs = Runner(graph), inputs_of(graph)
    for name, exact in computed(graph, inputs).items():
        assert np.abs(runner(inputs)[name] - exact).max() < 1e-5 * max(1, np.abs(exact).max())
    return runner


def test_what_cannot_be_in_place_is_copied() -> None:
    net = Network("copies", (16, 8, 8))
    x = net.convolved(net.image, 16, 3)
    twice = net.concat(net.concat(x, x), net.image)  # both x, and the image
    y = net.concat(net.concat(x, net.part(twice, 3, 40)), x)
    assert _copies(_checked(net.graph(net.relu(y)))) >= 4


def test_images_of_a_concatenation_that_others_read() -> None:
    net = Network("reads", (16, 8, 8))
    x, y = net.convolved(net.image, 16, 3), net.convolved(net.image, 8, 1)
    both = net.concat(net.max(x, 2, 2), net.average(y, 2, 2))
    more = net.concat(net.enlarge(both), net.sum(net.concat(x, y), net.concat(x, y)))  # x and y are in the first one
    again = net.hard_swish(net.leaky_relu(net.sigmoid(net.part(more, 5, 29)), 0.1))
    _checked(net.graph(net.concat(again, net.clip(again, -0.5, 0.5))))


def test_parts_are_copied_for_what_reads_dense_arrays() -> None:
    """Half of the channels in NHWC: a view for what takes pixels with gaps, a copy for all others."""
    builder = Builder("parts")
    part = builder.part(builder.relu(builder.input((1, 64, 8, 8))), 0, 32)
    ends = [
        builder.sigmoid(part),
        builder.softmax(part),
        builder.mean(part),
        builder.add("L2Norm", part, axis=1, eps=1e-6),
        builder.add("Pad", part, pads=((0, 0), (0, 0), (1, 0), (0, 1)), mode="edge", value=0.0),
    ]
    whole = builder.graph(*ends)
    for end in ends:
        graph = Graph("part", whole.nodes, whole.inputs, [end], whole.types, whole.constants)
        graph = graph.replaced(graph.nodes)
        inputs = inputs_of(graph)
        found = Runner(graph, "nhwc")({"x0": np.ascontiguousarray(inputs["x0"].transpose(0, 2, 3, 1))})[end]
        expected = computed(graph, inputs)[end].transpose(0, 2, 3, 1)
        assert np.abs(found - expected).max() < 1e-5, graph.producer(end)


def test_sums_with_an_activation_are_dense() -> None:
    """The function of several tensors, which reads and writes pixels with gaps, has none."""
    builder = Builder("sums")
    x, y = builder.input((4, 16)), builder.input((4, 16))
    graph = simplified(builder.graph(builder.concat(builder.relu(builder.sum(x, y)), builder.sum(x, x))))
    assert [node.operator for node in graph.nodes] == ["Binary", "Binary", "Concat"]
    _checked(graph)


def test_outputs_that_are_the_same_tensor_have_memory_of_their_own() -> None:
    builder = Builder("twins")
    y = builder.relu(builder.input((2, 3)))
    there = builder.add("Transpose", y, perm=(1, 0))
    run = _checked(builder.graph(y, builder.add("Transpose", there, perm=(1, 0))))
    first, second = run.outputs.values()
    assert not np.shares_memory(first, second)


def test_scales_follow_the_order_in_which_normalized_dimensions_are_stored() -> None:
    builder, rng = Builder("order"), np.random.default_rng(4)
    x = builder.add("Transpose", builder.relu(builder.input((2, 3, 5))), perm=(0, 2, 1))
    terms = [builder.constant(rng.standard_normal((5, 3), np.float32)) for _ in range(2)]
    _checked(builder.graph(builder.add("LayerNorm", x, *terms, axis=1, eps=1e-5)))


def test_inputs_are_read_again_by_the_next_run() -> None:
    """Their memory is not that of results, however early they are read."""
    builder = Builder("kept")
    y = builder.input((64, 64))
    for _ in range(4):
        y = builder.sigmoid(y)
    run = Runner(builder.graph(y))
    run.inputs["x0"][...] = x = np.random.default_rng(1).random((64, 64), np.float32)
    first = run()[y].copy()
    assert np.array_equal(run()[y], first) and np.array_equal(run.inputs["x0"], x)


def test_reshaped_tensors_are_joined_without_copies() -> None:
    builder = Builder("reshaped")
    x, y = builder.input((1, 2, 3)), builder.input((1, 4))
    parts = [builder.add("Reshape", builder.relu(x), shape=(1, 6)), builder.sigmoid(y)]
    assert _copies(_checked(builder.graph(builder.relu(builder.concat(*parts))))) == 0


def test_vectors_are_dense() -> None:
    """Softmax reads and writes whole tensors."""
    net = Network("vectors", (16, 8, 8))
    x = net.mean(net.convolved(net.image, 16, 3))
    weight = np.random.default_rng(1).uniform(-1, 1, (16, 8)).astype(np.float32)
    y = net.pixel(net.softmax(net.gemm(net.flatten(net.part(x, 3, 11)), weight, np.zeros(16, np.float32))))
    _checked(net.graph(net.concat(x, y)))


# ---- invalid graphs


def test_graphs_that_cannot_be_are_refused() -> None:
    net = Network("small", (3, 8, 8))
    x = net.convolved(net.image, 4, 3)
    graph = net.graph(x)
    (node,) = graph.nodes
    parts = (graph.inputs, graph.outputs, graph.types, graph.constants)
    with pytest.raises(ValueError, match=r"Conv produces .*, which already exists"):
        Graph("twice", [node, node], *parts)
    with pytest.raises(ValueError, match="no node produces the output"):
        Graph("empty", [], *parts)
    with pytest.raises(ValueError, match="Conv reads 'x0', which no earlier node produces"):
        Graph("no image", [node], [], *parts[1:])
    with pytest.raises(ValueError, match="the operator Erf is not known; known are Attention"):
        types_of("Erf", [], {})
    with pytest.raises(ValueError, match="the operator Erf is not known"):
        Runner(Graph("unknown", [replace(node, operator="Erf")], *parts))
    integers = [Type((2, 3), "int32")] * 2
    with pytest.raises(ValueError, match="sigmoid is not a function of two tensors of integers"):
        types_of("Elementwise", integers, {"function": "sigmoid"})
    with pytest.raises(ValueError, match="cannot be broadcast"):
        net.sum(x, net.image)
    with pytest.raises(ValueError, match="the window of 9 is larger than the image of 8"):
        net.max(x, 9, 1)
    with pytest.raises(ValueError, match=r"the shape is \(2, 3, 8\), expected \(N, C, H, W\)"):
        signal = Builder("signal")
        signal.max(signal.input((2, 3, 8)), 2, 2)
    with pytest.raises(ValueError, match="layout is 'hwc', expected 'nchw' or 'nhwc'"):
        Runner(graph, "hwc")


def test_inputs_that_do_not_fit_are_refused() -> None:
    net = Network("inputs", (3, 8, 8))
    run = Runner(net.graph(net.relu(net.image)))
    good = np.ones((1, 3, 8, 8), np.float32)
    with pytest.raises(ValueError, match="'x' is not an input, expected 'x0'"):
        run({"x": good, "x0": good})
    with pytest.raises(ValueError, match="the input 'x0' is missing"):
        run({})
    with pytest.raises(ValueError, match=r"x0 has shape \(3, 8, 8\), expected \(1, 3, 8, 8\)"):
        run({"x0": good[0]})
    with pytest.raises(TypeError, match="x0 has dtype float64, expected float32"):
        run({"x0": good.astype(np.float64)})


def test_inputs_are_not_written_if_another_one_is_refused() -> None:
    builder = Builder("two")
    run = Runner(builder.graph(builder.sum(builder.input((2, 3)), builder.input((2, 3)))))
    before, good = np.full((2, 3), 7, np.float32), np.ones((2, 3), np.float32)
    for array in run.inputs.values():
        array[...] = before
    for bad in (good[0], good.astype(np.float64)):
        with pytest.raises((ValueError, TypeError), match="x1 has"):
            run({"x0": good, "x1": bad})
    assert all(np.array_equal(array, before) for array in run.inputs.values())


def test_inputs_of_float16_are_converted() -> None:
    net = Network("inputs", (3, 8, 8))
    run = Runner(net.graph(net.relu(net.image)))
    image = np.random.default_rng(1).standard_normal((1, 3, 8, 8)).astype(np.float16)
    (found,) = run({"x0": image}).values()
    assert found.dtype == np.float32 and np.array_equal(found, np.maximum(image, 0))


def test_copies_of_a_runner_are_independent() -> None:
    graph = _without_end("mobilenetv2", 64)
    first = Runner(graph)
    second = first.copy()
    images = np.random.default_rng(7).random((2, 1, 3, 64, 64), np.float32)
    (x,), (y,) = first.inputs, first.outputs
    first.inputs[x][...], second.inputs[x][...] = images
    results = first()[y].copy(), second()[y].copy()
    assert not np.array_equal(*results)
    np.testing.assert_array_equal(results[1], first({x: images[1]})[y])
    np.testing.assert_array_equal(results[0], second({x: images[0]})[y])
    contexts = [step.context for step in first.steps if step.context is not None]
    assert contexts == [step.context for step in second.steps if step.context is not None]


def test_the_mean_of_a_window() -> None:
    net = Network("means", (8, 9, 9))
    assert _error(net.graph(net.average(net.image, 3, 2))) < 1e-4
