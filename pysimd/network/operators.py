"""The operators, and the shape that each of them gives: one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, Callable

Shape = tuple[int, ...]
Attributes = Mapping[str, Any]
_Rule = Callable[[Sequence[Shape], Attributes], Shape]


def shape_of(operator: str, inputs: Sequence[Shape], attributes: Attributes) -> Shape:
    """The shape of the output. Raises ValueError for an unknown operator, and for inputs that it cannot have."""
    if operator not in _SHAPES:
        raise ValueError(f"the operator {operator} is not known; known are {', '.join(sorted(_SHAPES))}")
    try:
        return _SHAPES[operator](inputs, attributes)
    except (ValueError, IndexError, KeyError) as error:
        raise ValueError(f"{operator} of shapes {list(inputs)} with {dict(attributes)}: {error}") from None


def _need(true: bool, what: str) -> None:
    if not true:
        raise ValueError(what)


def _first(inputs: Sequence[Shape], attributes: Attributes) -> Shape:
    return inputs[0]


def _sides(size: Sequence[int], kernel: Sequence[int], attributes: Attributes) -> Shape:
    """Height and width behind a sliding window; pads are (top, left, bottom, right)."""
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
    axis = attributes["axis"]
    _need(len({(*shape[:axis], *shape[axis + 1 :]) for shape in inputs}) == 1, "the shapes differ beside the axis")
    return *inputs[0][:axis], sum(shape[axis] for shape in inputs), *inputs[0][axis + 1 :]


def _slice(inputs: Sequence[Shape], attributes: Attributes) -> Shape:
    axis, start, end = attributes["axis"], attributes["start"], attributes["end"]
    _need(0 <= start < end <= inputs[0][axis], "the part is not within the whole")
    return *inputs[0][:axis], end - start, *inputs[0][axis + 1 :]


def _resize(inputs: Sequence[Shape], attributes: Attributes) -> Shape:
    return tuple(int(size * scale) for size, scale in zip(inputs[0], attributes["scales"]))


def _flatten(inputs: Sequence[Shape], attributes: Attributes) -> Shape:
    return inputs[0][0], prod(inputs[0][1:])


def _reshape(inputs: Sequence[Shape], attributes: Attributes) -> Shape:
    _need(prod(attributes["shape"]) == prod(inputs[0]), "the sizes differ")
    return tuple(attributes["shape"])


_SHAPES: dict[str, _Rule] = {
    "Add": _equal,
    "AveragePool": _pool,
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
    "Softmax": _first,
}
