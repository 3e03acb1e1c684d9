"""The digits network through pysimd: contexts and arrays are made once, then it classifies any number of batches.

python pysimd_digits.py             accuracy and speed on the held-out images
python pysimd_digits.py --print     the class of every image and its probability, a line each
"""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Callable

import digits_files as files
import numpy as np
import numpy_digits

import pysimd


class Classifier:
    """The network for a fixed number of images at a time, on the instruction set that is in use when it is made."""

    def __init__(self, network: files.Network, batch: int) -> None:
        first, last = network.layers[0], network.layers[-1]
        self._steps: list[Callable[[], object]] = []
        self._contexts: list[pysimd.Context] = []
        self._input = x = np.empty((batch, first.src_h, first.src_w, first.src_c), np.float32)
        for layer, weight, bias in zip(*network):
            y = np.empty((batch, layer.dst_h, layer.dst_w, layer.dst_c), np.float32)
            self._steps.append(self._step(layer, weight, bias, x, y))
            x = y
        self._output = x.reshape(batch, last.dst_c)

    def _step(
        self, layer: files.Layer, weight: files.Array, bias: files.Array, x: files.Array, y: files.Array
    ) -> Callable[[], object]:
        """What computes one layer, from the array x into the array y."""
        if layer.kind == files.CONVOLUTION:
            convolution = pysimd.Convolution32f(
                x.shape,
                layer.dst_c,
                kernel=layer.kernel,
                stride=layer.stride,
                padding=layer.pad,
                group=layer.group,
                activation="relu" if layer.relu else "identity",
            )
            convolution.set_params(weight, bias)
            self._contexts.append(convolution)
            return lambda: convolution(x, out=y)
        if layer.kind == files.INNER_PRODUCT:
            rows, sums = x.reshape(len(x), -1), y.reshape(len(y), -1)
            return lambda: pysimd.inner_product(rows, weight, bias, out=sums)
        if layer.kind == files.SOFTMAX:
            return lambda: pysimd.softmax(x, out=y)
        pooling = pysimd.pooling_max if layer.kind == files.MAX_POOLING else pysimd.pooling_average
        return lambda: pooling(x, kernel=layer.kernel, stride=layer.stride, padding=layer.pad, out=y)

    def classify(self, images: files.Array) -> files.Array:
        """Probabilities [batch, classes] of uint8 images [batch, height, width]; overwritten by the next call."""
        self._input[..., 0] = images
        for step in self._steps:
            step()
        return self._output

    def __enter__(self) -> Classifier:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for context in self._contexts:
            context.close()


def classify(network: files.Network, images: files.Array) -> files.Array:
    """Probabilities of all images, in one batch."""
    with Classifier(network, len(images)) as classifier:
        return classifier.classify(images)


if __name__ == "__main__":
    sys.exit(numpy_digits.main(classify, f"pysimd, {pysimd.active_isa()}"))
