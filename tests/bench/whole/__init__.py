"""Whole networks, from image to result, beside other libraries that run the same graph with the same weights.

A module for each library, ours among them:

    NAME, VERSION               in the table
    build(graph, image, threads)  yields the ways in which the library can run the network on this image, as functions that
                                each build one `Way`: what fails then leaves the others

* ``simdnet``, ``onnxruntime``, ``openvino``, ``ncnn``, ``torch``: the libraries; ``onnx_model``: the graph as an ONNX model.
* ``workers``: a process for each library.
* ``table``: takes the times and prints them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable

from bench.layers import Array

#: The networks that are timed where none is named.
USUAL = ("mobilenetv1", "mobilenetv2", "resnet18", "resnet50", "squeezenet", "unet")

OURS = "simdnet"

#: The modules of the other libraries, in the order of the table.
PEERS = ("onnxruntime", "openvino", "ncnn", "torch")


@dataclass(frozen=True)
class Way:
    """A network built by a library for one image."""

    how: str  # what this way is
    call: Callable[[], Any]
    result: Callable[[], Array]  # what a call gives, in any shape that holds (channels, height, width) in this order
