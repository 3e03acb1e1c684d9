"""The digits network through pysimd: contexts and arrays are created once, then it classifies any number of batches.

python pysimd_digits.py             accuracy and speed on the held-out images
python pysimd_digits.py --print     the class of every image and its probability, a line each
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Callable

import digits_files as files
import numpy as np
import numpy_digits

import pysimd

# Minima and maxima of the channels: of the pixels, and of the result of each layer.
Statistics = Sequence[tuple[files.Array, files.Array]]


class Classifier:
    """The network for a fixed number of images at a time, on the instruction set in use when it is created.

    With `statistics` its convolutions use 8-bit integers, and images between them are bytes; with `bfloat16` both are
    bfloat16.
    """

    def __init__(
        self, network: files.Network, batch: int, statistics: Statistics | None = None, bfloat16: bool = False
    ) -> None:
        first, last = network.layers[0], network.layers[-1]
        self._steps: list[Callable[[], object]] = []
        self._contexts: list[pysimd.Context] = []
        self._input = x = np.empty((batch, first.src_h, first.src_w, first.src_c), np.float32)
        seen = pysimd.Statistics(*statistics[0]) if statistics else None  # range of the bytes of x
        for number, (layer, weight, bias) in enumerate(zip(*network), 1):
            kinds = [later.kind for later in network.layers[number:]]
            small = (statistics or bfloat16) and _until_convolution(layer.kind, kinds)
            dtype: type = np.float32 if not small else np.uint8 if statistics else np.uint16
            y: files.Array = np.empty((batch, layer.dst_h, layer.dst_w, layer.dst_c), dtype)
            if statistics and layer.kind == files.CONVOLUTION:
                given = pysimd.Statistics(*statistics[number])
                self._steps.append(self._quantised(layer, weight, bias, x, y, seen, given))
                seen = given  # also after pooling
            elif bfloat16 and layer.kind == files.CONVOLUTION:
                self._steps.append(self._rounded(layer, weight, bias, x, y))
            else:
                self._steps.append(self._step(layer, weight, bias, x, y))
            x = y
        self._output = x.reshape(batch, last.dst_c)

    def _quantised(
        self,
        layer: files.Layer,
        weight: files.Array,
        bias: files.Array,
        x: files.Array,
        y: files.Array,
        seen: pysimd.Statistics | None,
        given: pysimd.Statistics,
    ) -> Callable[[], object]:
        """A convolution in 8-bit integers, from x to y, each bytes or floats."""
        convolution = pysimd.Convolution8i(x.shape, layer.dst_c, src_dtype=x.dtype, dst_dtype=y.dtype, **_options(layer))
        convolution.set_params(weight, bias, src_stats=seen, dst_stats=given)
        self._contexts.append(convolution)
        return lambda: convolution(x, out=y)

    def _rounded(
        self, layer: files.Layer, weight: files.Array, bias: files.Array, x: files.Array, y: files.Array
    ) -> Callable[[], object]:
        """A convolution in bfloat16, from x to y, each bfloat16 or floats."""
        convolution = pysimd.Convolution16b(x.shape, layer.dst_c, src_dtype=x.dtype, dst_dtype=y.dtype, **_options(layer))
        convolution.set_params(weight, bias)
        self._contexts.append(convolution)
        return lambda: convolution(x, out=y)

    def _step(
        self, layer: files.Layer, weight: files.Array, bias: files.Array, x: files.Array, y: files.Array
    ) -> Callable[[], object]:
        """The call that computes one layer, from the array x to the array y."""
        if layer.kind == files.CONVOLUTION:
            convolution = pysimd.Convolution32f(x.shape, layer.dst_c, **_options(layer))
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


def _options(layer: files.Layer) -> dict[str, Any]:
    """The options that all kinds of convolutions take."""
    activation = "relu" if layer.relu else "identity"
    window = {"kernel": layer.kernel, "stride": layer.stride, "padding": layer.pad}
    return {**window, "group": layer.group, "activation": activation}


def _until_convolution(kind: int, later: list[int]) -> bool:
    """Whether a layer's result may be of small numbers: nothing but max pooling is between it and the next convolution."""
    follows = next((other for other in later if other != files.MAX_POOLING), None)
    return kind in (files.CONVOLUTION, files.MAX_POOLING) and follows == files.CONVOLUTION


def classify(
    network: files.Network, images: files.Array, statistics: Statistics | None = None, bfloat16: bool = False
) -> files.Array:
    """Probabilities of all images, in one batch."""
    with Classifier(network, len(images), statistics, bfloat16) as classifier:
        return classifier.classify(images)


if __name__ == "__main__":
    sys.exit(numpy_digits.main(classify, f"pysimd, {pysimd.active_isa()}"))
