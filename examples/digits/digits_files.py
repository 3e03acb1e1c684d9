"""The files of the digits example: their layout, how to read them, how to write them.

`weights.bin` is a network: a list of layers, then every weight.  `images.bin` is a set of labelled
grey images.  README.md describes both byte by byte; `digits.c` is the other reader.
"""

import json
import math
from pathlib import Path
from typing import Any, NamedTuple, Union

import numpy as np
import numpy.typing as npt

WEIGHTS_MAGIC = b"SNDW"
IMAGES_MAGIC = b"SNDI"
VERSION = 1
MAX_LAYERS = 64
MAX_SIZE = 4096  # of any one extent: keeps every product below far inside 64 bits

CONVOLUTION, MAX_POOLING, AVERAGE_POOLING, INNER_PRODUCT, SOFTMAX = 1, 2, 3, 4, 5
KIND_NAMES = {
    CONVOLUTION: "convolution",
    MAX_POOLING: "max pooling",
    AVERAGE_POOLING: "average pooling",
    INNER_PRODUCT: "inner product",
    SOFTMAX: "softmax",
}

PathLike = Union[str, Path]
Array = npt.NDArray[Any]


class FormatError(ValueError):
    """An invalid file; the text names the file and the reason."""


class Layer(NamedTuple):
    """One record of the layer list: twelve 32-bit words, in this order."""

    kind: int
    src_c: int
    src_h: int
    src_w: int
    dst_c: int
    dst_h: int
    dst_w: int
    kernel: int
    stride: int
    pad: int
    group: int
    relu: int

    @property
    def weight_shape(self) -> tuple[int, ...]:
        """Shape of the weight array; (0,) for a layer without one."""
        if self.kind == CONVOLUTION:
            return (self.kernel, self.kernel, self.src_c // self.group, self.dst_c)
        if self.kind == INNER_PRODUCT:
            return (self.dst_c, self.src_h * self.src_w * self.src_c)
        return (0,)

    @property
    def floats(self) -> int:
        """Numbers of the layer in the file: its weights, and one bias per output."""
        weights = math.prod(self.weight_shape)
        return weights + self.dst_c if weights else 0

    def problem(self) -> str:
        """Why this record is invalid, or an empty string."""
        if self.kind not in KIND_NAMES:
            return "unknown kind"
        if not all(1 <= size <= MAX_SIZE for size in self[1:7]):
            return "a size is outside 1..4096"
        if self.relu not in (0, 1):
            return "the ReLU flag is neither 0 nor 1"
        if self.relu and self.kind != CONVOLUTION:
            return "only a convolution has a fused ReLU"
        windowed = self.kind in (CONVOLUTION, MAX_POOLING, AVERAGE_POOLING)
        if windowed:
            if not (1 <= self.kernel <= MAX_SIZE and 1 <= self.stride <= MAX_SIZE):
                return "kernel or stride is out of range"
            if self.pad >= self.kernel:
                return "pad is not smaller than the kernel"
            for src, dst in ((self.src_h, self.dst_h), (self.src_w, self.dst_w)):
                free = src + 2 * self.pad - self.kernel
                if free < 0 or dst != free // self.stride + 1:
                    return "output size does not follow from input, kernel, stride and pad"
        if self.kind == CONVOLUTION and self.group != 1 and not self.group == self.src_c == self.dst_c:
            return "group is neither 1 nor the number of channels of a depthwise layer"
        if self.kind in (MAX_POOLING, AVERAGE_POOLING) and self.dst_c != self.src_c:
            return "pooling must keep the number of channels"
        if self.kind == INNER_PRODUCT and (self.dst_h, self.dst_w) != (1, 1):
            return "an inner product has a 1 x 1 output"
        if self.kind == SOFTMAX and self[1:4] != self[4:7]:
            return "softmax must keep the shape"
        return ""

    def describe(self) -> str:
        """One line for people."""
        name = KIND_NAMES[self.kind]
        if self.kind == CONVOLUTION:
            depthwise = "depthwise " if self.group > 1 else ""
            name = f"{depthwise}{name} {self.kernel}x{self.kernel}{' + ReLU' if self.relu else ''}"
        elif self.kind in (MAX_POOLING, AVERAGE_POOLING):
            name = f"{name} {self.kernel}x{self.kernel}"
        return f"{name:<32} {self.src_h}x{self.src_w}x{self.src_c} -> {self.dst_h}x{self.dst_w}x{self.dst_c}"


class Network(NamedTuple):
    """Layers in order of execution, with their weights and biases, empty for layers that have none."""

    layers: list[Layer]
    weights: list[Array]
    biases: list[Array]


def read_network(path: PathLike) -> Network:
    """Reads a weights file; FormatError if it is another kind of file, or damaged."""
    words = _read_words(path, WEIGHTS_MAGIC, "weights", header=4)
    count, floats = int(words[2]), int(words[3])
    if not 1 <= count <= MAX_LAYERS:
        raise FormatError(f"{path}: {count} layers, expected 1..{MAX_LAYERS}")
    width = len(Layer._fields)
    size, expected = Path(path).stat().st_size, 4 * (4 + count * width + floats)
    if size != expected:
        raise FormatError(f"{path}: has {size} bytes, but its header promises {expected}")
    table = words[4 : 4 + count * width].reshape(count, width)
    layers = [Layer(*(int(word) for word in row)) for row in table]
    for index, layer in enumerate(layers):
        problem = layer.problem()
        if not problem and index and layer[1:4] != layers[index - 1][4:7]:
            problem = "its input is not the output of the layer before"
        if problem:
            raise FormatError(f"{path}: layer {index}: {problem}")
    if (layers[-1].dst_h, layers[-1].dst_w) != (1, 1):
        raise FormatError(f"{path}: the last layer must have a 1 x 1 output")
    if sum(layer.floats for layer in layers) != floats:
        raise FormatError(
            f"{path}: the layers need {sum(layer.floats for layer in layers)} weights, the header promises {floats}"
        )
    data = words[4 + count * width :].view("<f4").astype(np.float32)
    network = Network(layers, [], [])
    at = 0
    for layer in layers:
        bias = at + math.prod(layer.weight_shape)
        end = at + layer.floats
        network.weights.append(data[at:bias].reshape(layer.weight_shape))
        network.biases.append(data[bias:end])
        at = end
    return network


def write_network(path: PathLike, network: Network) -> None:
    """Write a weights file."""
    parts = []
    for layer, weight, bias in zip(*network):
        assert weight.shape == layer.weight_shape and weight.size + bias.size == layer.floats
        parts += [weight.ravel(), bias]
    data = np.concatenate(parts).astype("<f4")
    header = np.array([VERSION, len(network.layers), data.size], dtype="<u4")
    table = np.array(network.layers, dtype="<u4")
    Path(path).write_bytes(WEIGHTS_MAGIC + header.tobytes() + table.tobytes() + data.tobytes())


def read_images(path: PathLike) -> tuple[Array, Array]:
    """Read an images file: uint8 images [count, height, width] and uint8 labels [count]."""
    words = _read_words(path, IMAGES_MAGIC, "images", header=5)
    count, height, width = (int(word) for word in words[2:5])
    if not (1 <= count <= 1 << 20 and 1 <= height <= MAX_SIZE and 1 <= width <= MAX_SIZE):
        raise FormatError(f"{path}: {count} images of {height} x {width} are out of range")
    size, expected = Path(path).stat().st_size, 20 + count + count * height * width
    if size != expected:
        raise FormatError(f"{path}: has {size} bytes, but its header promises {expected}")
    data = np.fromfile(path, dtype=np.uint8, offset=20)
    return data[count:].reshape(count, height, width), data[:count]


def write_images(path: PathLike, images: Array, labels: Array) -> None:
    """Write an images file."""
    header = np.array([VERSION, *images.shape], dtype="<u4")
    body = labels.astype(np.uint8).tobytes() + images.astype(np.uint8).tobytes()
    Path(path).write_bytes(IMAGES_MAGIC + header.tobytes() + body)


def read_statistics(path: PathLike, network: Network) -> list[tuple[Array, Array]]:
    """Reads a statistics file: minima and maxima of the channels of the pixels, then of each layer's result."""
    channels = [network.layers[0].src_c, *(layer.dst_c for layer in network.layers)]
    try:
        tensors = [
            tuple(np.array(t[key], np.float32) for key in ("min", "max"))
            for t in json.loads(Path(path).read_text())["tensors"]
        ]
    except (KeyError, TypeError, ValueError) as error:
        raise FormatError(f"{path}: is not a statistics file: {error!r}") from None
    found = [tuple(array.shape for array in tensor) for tensor in tensors]
    if found != [((n,), (n,)) for n in channels]:
        raise FormatError(f"{path}: its tensors have shapes {found}, but the network has {channels} channels")
    return [(least, most) for least, most in tensors]


def _read_words(path: PathLike, magic: bytes, what: str, header: int) -> Array:
    """The file as little-endian 32-bit words, its magic, version and least length checked."""
    size = Path(path).stat().st_size
    words = np.fromfile(
        path,
        dtype="<u4",
    )
    if words.size == 0 or words[:1].tobytes() != magic:
        raise FormatError(f"{path}: is not a digits {what} file (it must begin with {magic!r})")
    if words.size < header:
        raise FormatError(f"{path}: is cut short: {size} bytes hold no header")
    if words[1] != VERSION:
        raise FormatError(f"{path}: is of version {words[1]}, this program reads {VERSION}")
    return words
