"""Whole networks, from image to result, compared with other libraries that run the same graph with the same weights.

There is a module for each library, including ours:

    NAME, VERSION                  in the table
    build(graph, images, threads)  yields the library's implementations of the network for these images (N, H, W, C), as
                                   functions that each build one `Implementation`: if one fails, the others remain

* ``simdnet``, ``onnxruntime``, ``openvino``, ``ncnn``, ``torch``: the libraries; ``onnx_model``: the graph as an ONNX model.
* ``workers``: a process for each library.
* ``table``: measures and prints the times.
* ``steps``: the steps of a network in the network and alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable

import numpy as np

from bench.layers import Array

# The networks that are timed by default.
USUAL = ("mobilenetv1", "mobilenetv2", "resnet18", "resnet50", "squeezenet", "unet")

OURS = "simdnet"

#: The modules of the other libraries, in the order of the table.
PEERS = ("onnxruntime", "openvino", "ncnn", "torch")


def nchw(images: Array) -> Array:
    """Images (N, H, W, C) as most libraries take them."""
    return np.ascontiguousarray(images.transpose(0, 3, 1, 2))


@dataclass(frozen=True)
class Implementation:
    """A network built by a library for an image or a batch."""

    how: str  # a description of the implementation
    call: Callable[[], Any]
    result: Callable[[], Array]  # result of a call, in any shape that holds (N, C, H, W) in this order
