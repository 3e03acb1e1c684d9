"""The plan of a network: its steps, a memory range for each image, and layouts.

Images are NHWC, so an array is (H, W, C), or (N, H, W, C) for a batch; a vector is an image of 1x1. All arrays are parts of
one block, which can use large pages; arrays that are not needed at the same time share memory, which is then still in the
caches.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from pysimd.annotations import Array
from pysimd.network.graph import Graph, Node, Tensor
from pysimd.network.passes import Group, fused

_LINE = 16  # floats of a cache line
_GAP = 9 * _LINE  # after each image, so that images have different offsets within a page


@dataclass(frozen=True)
class Plan:
    """The steps in their order; the images that have an array; their offsets in the block, in floats; its size."""

    steps: tuple[Group, ...]
    images: dict[str, Tensor]
    places: dict[str, int]
    size: int


def plan_of(graph: Graph) -> Plan:
    """The plan of a graph. Raises ValueError for tensors that are neither images nor vectors."""
    steps = tuple(fused(graph))
    images = {name: _image(graph.tensors[name]) for name in (*graph.inputs, *(step.output for step in steps))}
    places, size = _places(graph, steps, {name: prod(image.shape) for name, image in images.items()})
    return Plan(steps, images, places, size)


def _image(tensor: Tensor) -> Tensor:
    """The shape of an image, or of a batch, in its array."""
    if len(tensor.shape) not in (2, 4):
        raise ValueError(f"{tensor.name} has shape {tensor.shape}, expected (N, C, H, W) or (N, C)")
    n, c, *size = tensor.shape
    shape = (*(size or (1, 1)), c)
    return (
        Tensor(tensor.name, shape, tensor.dtype, "hwc") if n == 1 else Tensor(tensor.name, (n, *shape), tensor.dtype, "nhwc")
    )


def _places(graph: Graph, steps: tuple[Group, ...], sizes: dict[str, int]) -> tuple[dict[str, int], int]:
    """The offset of each image, and the total size: the largest first, each at the lowest offset that is free."""
    end = len(steps) + 1
    born = dict.fromkeys(graph.inputs, 0) | {step.output: number for number, step in enumerate(steps, 1)}
    last = born | {name: number for number, step in enumerate(steps, 1) for name in step.inputs}
    last |= dict.fromkeys((*graph.inputs, *graph.outputs), end)
    spans: dict[str, tuple[int, int]] = {}
    for name in sorted(born, key=lambda name: -sizes[name]):
        size = sizes[name] + _GAP
        together = [other for other in spans if born[other] <= last[name] and born[name] <= last[other]]
        begin = 0
        for low, high in sorted(spans[other] for other in together):
            if begin + size <= low:
                break
            begin = max(begin, high)
        spans[name] = begin, -(begin + size) // _LINE * -_LINE
    return {name: begin for name, (begin, _) in spans.items()}, max(high for _, high in spans.values())


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


def is_positive(graph: Graph, name: str) -> bool:
    """Whether a tensor has no values below zero."""
    node = graph.producer(name)
    if node is None:
        return False
    if node.operator in ("MaxPool", "GlobalAveragePool", "Concat", "Reshape", "Flatten"):
        return all(is_positive(graph, read) for read in node.inputs)
    return node.operator == "Relu" or (node.operator == "Clip" and node.attributes["min"] >= 0)
