"""The plan of a network: its steps, a memory range for each image, and layouts.

Images are NHWC, so an array is (H, W, C), or (N, H, W, C) for a batch; a vector is an image of 1x1. All arrays are parts of
one block, which can use large pages; arrays that are not needed at the same time share memory, which is then still in the
caches.

An image may be some channels of another one: those that are concatenated are written into their channels of the result, and
the channels that a Slice takes are read where they are. Such steps have nothing to do.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from pysimd.annotations import Array
from pysimd.network.graph import Graph, Node, Tensor
from pysimd.network.passes import Group, fused

_LINES = 32  # floats of two cache lines, which processors fetch together
_GAP = 144  # floats after each image, so that images have different offsets within a page
_CACHED = 1 << 18  # floats of an image that the usual second cache holds

_DENSE = ("Gemm", "Softmax")  # operators that neither read nor write some channels of a larger image


@dataclass(frozen=True)
class View:
    """An image that is channels of another one, from `first` on."""

    whole: str
    first: int


@dataclass(frozen=True)
class Plan:
    """The steps in their order; all images; those that are views of others; the offsets of the others in the block, and its
    size, in floats."""

    steps: tuple[Group, ...]
    images: dict[str, Tensor]
    views: dict[str, View]
    places: dict[str, int]
    size: int

    def array(self, block: Array, name: str) -> Array:
        """The array of an image, over the memory of the block."""
        shape = self.images[name].shape
        if name in self.views:
            first = self.views[name].first
            return self.array(block, self.views[name].whole)[..., first : first + shape[-1]]
        return block[self.places[name] :][: prod(shape)].reshape(shape)


def plan_of(graph: Graph) -> Plan:
    """The plan of a graph. Raises ValueError for tensors that are neither images nor vectors."""
    steps = tuple(fused(graph))
    images = {name: _image(graph.tensors[name]) for name in (*graph.inputs, *(step.output for step in steps))}
    views = _views(graph, steps, images)
    places, size = _places(graph, steps, images, views)
    return Plan(steps, images, views, places, size)


def _image(tensor: Tensor) -> Tensor:
    """The shape of an image, or of a batch, in its array."""
    if len(tensor.shape) not in (2, 4):
        raise ValueError(f"{tensor.name} has shape {tensor.shape}, expected (N, C, H, W) or (N, C)")
    n, c, *size = tensor.shape
    shape = (*(size or (1, 1)), c)
    return (
        Tensor(tensor.name, shape, tensor.dtype, "hwc") if n == 1 else Tensor(tensor.name, (n, *shape), tensor.dtype, "nhwc")
    )


# ---- memory


def _views(graph: Graph, steps: tuple[Group, ...], images: dict[str, Tensor]) -> dict[str, View]:
    """The images that are views of others. Inputs and outputs of the graph are arrays of their own; so is an image that a
    step reads or writes which needs dense pixels, or that is concatenated before an activation and read elsewhere."""
    readers: dict[str, list[Group]] = {name: [] for name in images}
    for step in steps:
        for name in step.inputs:
            readers[name].append(step)
    dense = [step for step in steps if _operator(step) in _DENSE]
    own = {*graph.inputs, *graph.outputs, *(name for step in dense for name in (step.output, *step.inputs))}
    views: dict[str, View] = {}
    for step in steps:
        if _operator(step) == "Slice" and step.output not in own and not step.parts[0].activation:
            views[step.output] = View(step.inputs[0], step.parts[0].node.attributes["start"])
        if _operator(step) == "Concat":
            alone, first = step.parts[0].activation is None, 0
            for name in step.parts[0].inputs:
                free = name not in own and name not in views and (alone or readers[name] == [step])
                if free and _pays(images[name], images[step.output]):
                    views[name] = View(step.output, first)
                first += images[name].shape[-1]
    return views


def _pays(part: Tensor, whole: Tensor) -> bool:
    """Whether a view costs less than a copy. Where pixels share two lines with others, both are fetched to write or read
    one: in U-Net, 16 of 32 channels of 224x224 as views take 1.02 times as long as copies."""
    return part.shape[-1] >= _LINES or prod(whole.shape) <= _CACHED


def _operator(step: Group) -> str:
    return step.parts[0].operator


def _places(
    graph: Graph, steps: tuple[Group, ...], images: dict[str, Tensor], views: dict[str, View]
) -> tuple[dict[str, int], int]:
    """The offset of each image that is no view, and the total size: the largest first, each at the lowest offset that is
    free from the first step that writes one of its views to the last one that reads one."""
    end = len(steps) + 1
    born = dict.fromkeys(graph.inputs, 0) | {step.output: number for number, step in enumerate(steps, 1)}
    last = born | {name: number for number, step in enumerate(steps, 1) for name in step.inputs}
    last |= dict.fromkeys((*graph.inputs, *graph.outputs), end)
    for name in views:
        whole = _whole(views, name)
        born[whole], last[whole] = min(born[whole], born[name]), max(last[whole], last[name])
    spans: dict[str, tuple[int, int]] = {}
    for name in sorted((name for name in images if name not in views), key=lambda name: -prod(images[name].shape)):
        size = prod(images[name].shape) + _GAP
        together = [other for other in spans if born[other] <= last[name] and born[name] <= last[other]]
        begin = 0
        for low, high in sorted(spans[other] for other in together):
            if begin + size <= low:
                break
            begin = max(begin, high)
        spans[name] = begin, -(begin + size) // _LINES * -_LINES
    return {name: begin for name, (begin, _) in spans.items()}, max(high for _, high in spans.values())


def _whole(views: dict[str, View], name: str) -> str:
    """The image whose memory a view is in."""
    while name in views:
        name = views[name].whole
    return name


# ---- weights


def weights_of(graph: Graph, node: Node) -> tuple[Array, Array]:
    """Weights and bias of a node in the form that functions for NHWC take."""
    weight, bias = (graph.constants[name] for name in node.inputs[1:3])
    have = graph.tensors[node.inputs[1]].layout
    want = {"Conv": "yxio", "ConvTranspose": "iyxo"}[node.operator]
    return np.ascontiguousarray(weight.transpose([have.index(axis) for axis in want])), bias


def matrix_of(graph: Graph, node: Node, image: Tensor) -> tuple[Array, Array]:
    """Weights and bias of a Gemm over an image stored as (H, W, C), which the graph flattens as (C, H, W)."""
    weight, bias = (graph.constants[name] for name in node.inputs[1:3])
    h, w, c = image.shape[-3:]
    return weight.reshape(-1, c, h, w).transpose(0, 2, 3, 1).reshape(len(weight), -1).copy(), bias
