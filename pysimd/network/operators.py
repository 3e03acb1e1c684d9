"""The operators and the shapes of their outputs: one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, Callable

Shape = tuple[int, ...]
Attributes = Mapping[str, Any]
_Rule = Callable[[Sequence[Shape], Attributes], Shape]


_WINDOW = {"kernel_shape", "pads", "strides"}
# The attributes of each operator. A node with others is refused, since they would be ignored.
_ATTRIBUTES: dict[str, set[str]] = {
    "AveragePool": _WINDOW,
    "Clip": {"max", "min"},
    "Concat": {"axis"},
    "Conv": {*_WINDOW, "group"},
    "ConvTranspose": {*_WINDOW, "group"},
    "Gemm": {"transB"},
    "LeakyRelu": {"alpha"},
    "MaxPool": _WINDOW,
    "Reshape": {"shape"},
    "Resize": {"scales"},
    "Slice": {"axis", "end", "start"},
    "Softmax": {"axis"},
}


def shape_of(operator: str, inputs: Sequence[Shape], attributes: Attributes) -> Shape:
    """The shape of the output. Raises ValueError for an unknown operator, and for inputs that do not fit it."""
    if operator not in _SHAPES:
        raise ValueError(f"the operator {operator} is not known; known are {', '.join(sorted(_SHAPES))}")
    expected = _ATTRIBUTES.get(operator, set())
    if set(attributes) != expected:
        raise ValueError(f"{operator} has the attributes {sorted(attributes)}, expected {sorted(expected)}")
    try:
        return _SHAPES[operator](inputs, attributes)
    except (ValueError, IndexError, KeyError) as error:
        raise ValueError(f"{operator} of shapes {list(inputs)} with {dict(attributes)}: {error}") from None


def _need(true: bool, what: str) -> None:
    if not true:
        raise ValueError(what)


def _of_channels(attributes: Attributes) -> None:
    _need(attributes["axis"] == 1, "expected axis 1")


def _first(inputs: Sequence[Shape], attributes: Attributes) -> Shape:
    return inputs[0]


def _sides(size: Sequence[int], kernel: Sequence[int], attributes: Attributes) -> Shape:
    """Height and width after a sliding window; pads are (top, left, bottom, right)."""
    pads, strides = attributes["pads"], attributes["strides"]
    sides = [(size[i] + pads[i] + pads[i + 2] - kernel[i]) // strides[i] + 1 for i in (0, 1)]
    _need(all(side > 0 for side in sides), "the window is larger than the image")
    return tuple(sides)


def _conv(inputs: Sequence[Shape], attributes: Attributes) -> Shape:
    (n, c, *size), (o, part, *kernel) = inputs[0], inputs[1]
    _need(part * attributes["group"] == c, "the weights are for another number of channels")
    return n, o, *_sides(size, kernel, attributes)


def _conv_transpose(inputs: Sequence[Shape], attributes: Attributes) -> Shape:
    (n, c, *size), (i, part, *kernel) = inputs[0], inputs[1]
    _need(i == c, "the weights are for another number of channels")
    pads, strides = attributes["pads"], attributes["strides"]
    sides = [(size[k] - 1) * strides[k] + kernel[k] - pads[k] - pads[k + 2] for k in (0, 1)]
    return n, part * attributes["group"], *sides


def _pool(inputs: Sequence[Shape], attributes: Attributes) -> Shape:
    n, c, *size = inputs[0]
    return n, c, *_sides(size, attributes["kernel_shape"], attributes)


def _average_pool(inputs: Sequence[Shape], attributes: Attributes) -> Shape:
    _need(not any(attributes["pads"]), "expected no padding")
    return _pool(inputs, attributes)


def _gemm(inputs: Sequence[Shape], attributes: Attributes) -> Shape:
    (n, size), (o, columns) = inputs[0], inputs[1]
    _need(attributes["transB"] == 1 and columns == size, "expected weights of (outputs, inputs)")
    return n, o


def _equal(inputs: Sequence[Shape], attributes: Attributes) -> Shape:
    _need(inputs[0] == inputs[1], "the shapes differ")
    return inputs[0]


def _mul(inputs: Sequence[Shape], attributes: Attributes) -> Shape:
    _need(inputs[1] == (*inputs[0][:2], 1, 1), "expected a factor for each channel")
    return inputs[0]


def _concat(inputs: Sequence[Shape], attributes: Attributes) -> Shape:
    _of_channels(attributes)
    _need(len({(shape[0], *shape[2:]) for shape in inputs}) == 1, "the shapes differ not in channels alone")
    return inputs[0][0], sum(shape[1] for shape in inputs), *inputs[0][2:]


def _slice(inputs: Sequence[Shape], attributes: Attributes) -> Shape:
    _of_channels(attributes)
    start, end = attributes["start"], attributes["end"]
    _need(0 <= start < end <= inputs[0][1], "the part is not within the whole")
    return inputs[0][0], end - start, *inputs[0][2:]


def _softmax(inputs: Sequence[Shape], attributes: Attributes) -> Shape:
    _of_channels(attributes)
    return inputs[0]


def _resize(inputs: Sequence[Shape], attributes: Attributes) -> Shape:
    scales = attributes["scales"]
    _need(
        tuple(scales[:2]) == (1, 1) and all(scale == int(scale) >= 1 for scale in scales), "expected whole scales of images"
    )
    return tuple(int(size * scale) for size, scale in zip(inputs[0], scales))


def _flatten(inputs: Sequence[Shape], attributes: Attributes) -> Shape:
    return inputs[0][0], prod(inputs[0][1:])


def _reshape(inputs: Sequence[Shape], attributes: Attributes) -> Shape:
    _need(prod(attributes["shape"]) == prod(inputs[0]), "the sizes differ")
    return tuple(attributes["shape"])


_SHAPES: dict[str, _Rule] = {
    "Add": _equal,
    "AveragePool": _average_pool,
    "Clip": _first,
    "Concat": _concat,
    "Conv": _conv,
    "ConvTranspose": _conv_transpose,
    "Flatten": _flatten,
    "Gemm": _gemm,
    "GlobalAveragePool": lambda inputs, attributes: (*inputs[0][:2], 1, 1),
    "HardSwish": _first,
    "LeakyRelu": _first,
    "MaxPool": _pool,
    "Mul": _mul,
    "Relu": _first,
    "Reshape": _reshape,
    "Resize": _resize,
    "Sigmoid": _first,
    "Slice": _slice,
    "Softmax": _softmax,
}
