"""The digits network in plain NumPy, for comparison with the library.

Every layer processes the whole batch at once (NHWC): a convolution is im2col and one matrix product, a depthwise one is a
sum of shifted products, pooling is a maximum or a sum of strided views.

    python numpy_digits.py             accuracy and speed on the held-out images
    python numpy_digits.py --print     the class of every image and its probability, a line each
"""

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Callable

import digits_files as files
import numpy as np

HERE = Path(__file__).resolve().parent


def convolution(x: files.Array, layer: files.Layer, weight: files.Array, bias: files.Array) -> files.Array:
    """Convolution with fused bias and ReLU, dense or depthwise."""
    if layer.group == 1:
        columns = _windows(x, layer, fill=0).reshape(-1, weight.size // layer.dst_c)
        y = columns @ weight.reshape(-1, layer.dst_c)
        y = y.reshape(len(x), layer.dst_h, layer.dst_w, layer.dst_c)
    else:
        y = np.zeros((len(x), layer.dst_h, layer.dst_w, layer.dst_c), np.float32)
        taps = _windows(x, layer, fill=0)
        for ky in range(layer.kernel):
            for kx in range(layer.kernel):
                y += taps[:, :, :, ky, kx] * weight[ky, kx, 0]
    y += bias
    return np.maximum(y, 0, out=y) if layer.relu else y


def pooling(x: files.Array, layer: files.Layer) -> files.Array:
    """Largest or mean value of each window; padding is excluded from a maximum."""
    join = np.maximum if layer.kind == files.MAX_POOLING else np.add
    taps = _windows(x, layer, fill=-np.inf if layer.kind == files.MAX_POOLING else 0)
    y = taps[:, :, :, 0, 0].copy()
    for tap in range(1, layer.kernel**2):  # far faster than one reduction over two short axes
        join(y, taps[:, :, :, tap // layer.kernel, tap % layer.kernel], out=y)
    return y if layer.kind == files.MAX_POOLING else y / layer.kernel**2


def softmax(x: files.Array) -> files.Array:
    """Softmax over the channels."""
    e: files.Array = np.exp(x - x.max(axis=-1, keepdims=True))
    e /= e.sum(axis=-1, keepdims=True)
    return e


def tensors(network: files.Network, images: files.Array) -> Iterator[files.Array]:
    """The pixels of uint8 images [batch, height, width], then the result of each layer; the last are probabilities."""
    x = images.astype(np.float32)[..., None]
    yield x
    for layer, weight, bias in zip(*network):
        if layer.kind == files.CONVOLUTION:
            x = convolution(x, layer, weight, bias)
        elif layer.kind == files.INNER_PRODUCT:
            x = (x.reshape(len(x), -1) @ weight.T + bias)[:, None, None]
        elif layer.kind == files.SOFTMAX:
            x = softmax(x)
        else:
            x = pooling(x, layer)
        yield x


def classify(network: files.Network, images: files.Array) -> files.Array:
    """Probabilities [batch, classes] of uint8 images [batch, height, width]."""
    *_, p = tensors(network, images)
    return p.reshape(len(p), -1)


def _windows(x: files.Array, layer: files.Layer, fill: float) -> files.Array:
    """View [batch, y, x, kernelY, kernelX, channel] of the padded input: only padding requires a copy."""
    if layer.pad:
        edge = (layer.pad, layer.pad)
        x = np.pad(x, ((0, 0), edge, edge, (0, 0)), constant_values=fill)
    image, row, column, channel = x.strides
    return np.lib.stride_tricks.as_strided(
        x,
        (len(x), layer.dst_h, layer.dst_w, layer.kernel, layer.kernel, layer.src_c),
        (image, row * layer.stride, column * layer.stride, row, column, channel),
        writeable=False,
    )


def main(classify: Callable[[files.Network, files.Array], files.Array], name: str) -> int:
    """The command line of this file and of pysimd_digits.py."""
    parser = argparse.ArgumentParser(description="Classify the held-out digits.")
    parser.add_argument("--weights", default=HERE / "weights.bin", help="weights file")
    parser.add_argument("--images", default=HERE / "images.bin", help="images file")
    parser.add_argument("--print", action="store_true", help="only print the class of every image and its probability")
    options = parser.parse_args()
    try:
        network = files.read_network(options.weights)
        images, labels = files.read_images(options.images)
    except (OSError, files.FormatError) as error:
        print(error, file=sys.stderr)
        return 1
    start = time.perf_counter()
    p = classify(network, images)
    seconds = time.perf_counter() - start
    answers = p.argmax(axis=1)
    if options.print:
        for answer, row in zip(answers, p):
            print(f"{answer} {row[answer]:.9g}")
        return 0
    right = int((answers == labels).sum())
    print(f"accuracy {right}/{len(labels)} = {100 * right / len(labels):.2f} %")
    print(f"{len(labels) / seconds:.0f} images/s in one first call ({name})")
    return 0


if __name__ == "__main__":
    sys.exit(main(classify, "NumPy"))
