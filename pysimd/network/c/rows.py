"""Tensors of which one dimension depends on values, in programs of C: such as what NonMaxSuppression gives.

A program has memory for the largest size, and the number of rows beside it. Operators behind it compute all rows, those
that mean nothing too: this serves where the others do not depend on these. Rules say for which nodes that is so, and which
dimension of the result it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any, Optional

import numpy as np

from pysimd.annotations import Shape
from pysimd.network.convert.conversion import full_name
from pysimd.network.source import SourceNode

#: The dimensions of tensors that depend on values, by name.
Axes = Mapping[str, int]


class Reader:
    """A node that reads such tensors.

    shapes : of all tensors, with the largest sizes.
    axes : of those that it reads.
    value : a constant by its name, or None.
    """

    def __init__(self, node: SourceNode, shapes: Mapping[str, Shape], axes: Axes, value: Callable[[str], Any], opset: int):
        self.node, self._shapes, self._axes, self._value, self.opset = node, shapes, axes, value, opset

    def has(self, i: int) -> bool:
        """Whether there is such an input."""
        return i < len(self.node.inputs) and bool(self.node.inputs[i])

    def shape(self, i: int = 0) -> Shape:
        """That of an input."""
        return self._shapes[self.node.inputs[i]]

    def result(self) -> Shape:
        """The shape of the first output."""
        return self._shapes[self.node.outputs[0]]

    def axis(self, i: int = 0) -> int | None:
        """The dimension of an input that depends on values."""
        return self._axes.get(self.node.inputs[i]) if self.has(i) else None

    def numbers(self, i: int, name: str = "") -> list[int] | None:
        """Those of an input, or of an attribute; None if they are not known."""
        found = self._value(self.node.inputs[i]) if self.has(i) else self.node.attributes.get(name)
        return None if found is None else [int(n) for n in np.reshape(found, -1)]

    def within(self, axis: int, i: int = 0) -> int:
        """An axis, counted from the first one."""
        return axis % max(len(self.shape(i)), 1)


Rule = Callable[[Reader], Optional[int]]


def _each_element(r: Reader) -> int | None:
    rank = len(r.result())
    found = {rank - len(r.shape(i)) + axis for i in range(len(r.node.inputs)) for axis in (r.axis(i),) if axis is not None}
    if len(found) != 1:
        return None
    axis = found.pop()
    for i in range(len(r.node.inputs)):
        at = axis - rank + len(r.shape(i)) if r.has(i) else -1
        if r.has(i) and r.axis(i) is None and at >= 0 and r.shape(i)[at] != 1:
            return None
    return axis


def _gather(r: Reader) -> int | None:
    of, at, picked = r.within(int(r.node.attributes.get("axis", 0))), r.axis(1), r.axis(0)
    if picked is None:
        return None if at is None else of + at
    if at is not None or picked == of:
        return None
    return picked if picked < of else picked - 1 + len(r.shape(1))


def _gather_parts(r: Reader) -> int | None:
    at = r.axis(1)
    is_plain = r.axis(0) is None and not int(r.node.attributes.get("batch_dims", 0))
    return at if is_plain and at is not None and at < len(r.shape(1)) - 1 else None


def _slice(r: Reader) -> int | None:
    starts = r.numbers(1, "starts")
    axes = r.numbers(3, "axes") if r.has(3) or "axes" in r.node.attributes else list(range(len(starts or ())))
    at = r.axis()
    return None if starts is None or axes is None or at is None or at in map(r.within, axes) else at


def _squeeze(r: Reader) -> int | None:
    axes, at = r.numbers(1, "axes"), r.axis()
    if axes is None or at is None or at in map(r.within, axes):
        return None
    return at - sum(r.within(axis) < at for axis in axes)


def _unsqueeze(r: Reader) -> int | None:
    axes, at = r.numbers(1, "axes"), r.axis()
    if axes is None or at is None:
        return None
    new = {axis % len(r.result()) for axis in axes}
    return [i for i in range(len(r.result())) if i not in new][at]


def _transpose(r: Reader) -> int | None:
    order = r.node.attributes.get("perm") or list(range(len(r.shape())))[::-1]
    return list(order).index(r.axis())


def _compress(r: Reader) -> int | None:
    axis = r.node.attributes.get("axis")
    return r.axis() if axis is not None and r.axis(1) is None and r.within(int(axis)) != r.axis() else None


def _concat(r: Reader) -> int | None:
    axes = {r.axis(i) for i in range(len(r.node.inputs))}
    return axes.pop() if len(axes) == 1 and r.within(int(r.node.attributes.get("axis", 0))) not in axes else None


def _beside(r: Reader) -> int | None:
    """Of operators along an axis."""
    default = -1 if r.opset >= 13 or r.node.op in ("Split", "ArgMax", "ArgMin") else 1
    axis = int(r.node.attributes.get("axis", 0 if r.node.op in ("Split", "ArgMax", "ArgMin") else default))
    is_other = r.within(axis) != r.axis() and (r.opset >= 13 or r.node.op != "Softmax" or r.within(axis) > (r.axis() or 0))
    return _reduced(r, [axis]) if r.node.op.startswith("Arg") else r.axis() if is_other else None


def _reduced(r: Reader, axes: Sequence[int] | None) -> int | None:
    at, keeps = r.axis(), int(r.node.attributes.get("keepdims", 1))
    if axes is None or at is None or at in map(r.within, axes):
        return None
    return at if keeps else at - sum(r.within(axis) < at for axis in axes)


def _reduce(r: Reader) -> int | None:
    return _reduced(r, r.numbers(1, "axes") or None)


def _reshape(r: Reader) -> int | None:
    """Where -1 or 0 stands for the dimension."""
    at, sizes, before, after = r.axis(), r.numbers(1, "shape"), r.shape(), r.result()
    if at is None or sizes is None:
        return None
    for i, n in enumerate(sizes):
        is_same = prod(after[:i]) == prod(before[:at]) and after[i] == before[at]
        if is_same and (n == -1 or (n == 0 and i == at)):
            return i
    return None


def _flatten(r: Reader) -> int | None:
    return 0 if r.axis() == 0 and r.within(int(r.node.attributes.get("axis", 1))) == 1 else None


def _product(r: Reader) -> int | None:
    is_plain = not int(r.node.attributes.get("transA", 0)) and all(r.axis(i) is None for i in range(1, len(r.node.inputs)))
    is_last = r.axis() == len(r.shape()) - 2 and len(r.shape(1)) == 2
    is_added = r.has(2) and len(r.shape(2)) == 2 and r.shape(2)[0] != 1
    return r.axis() if is_plain and is_last and not is_added else None


def _images(r: Reader) -> int | None:
    return 0 if r.axis() == 0 and all(r.axis(i) is None for i in range(1, len(r.node.inputs))) else None


def _regions(r: Reader) -> int | None:
    return 0 if r.axis() is None and r.axis(1) == r.axis(2) == 0 else None


_ELEMENTWISE = (
    "Abs", "Acos", "Add", "And", "Asin", "Atan", "Cast", "Ceil", "Celu", "Clip", "Cos", "Cosh", "Div", "Elu", "Equal",
    "Erf", "Exp", "Floor", "Gelu", "Greater", "GreaterOrEqual", "HardSigmoid", "HardSwish", "Identity", "IsInf", "IsNaN",
    "LeakyRelu", "Less", "LessOrEqual", "Log", "Max", "Min", "Mish", "Mod", "Mul", "Neg", "Not", "Or", "Pow", "PRelu",
    "Reciprocal", "Relu", "Round", "Selu", "Sigmoid", "Sign", "Sin", "Sinh", "Softplus", "Softsign", "Sqrt", "Sub", "Tan",
    "Tanh", "ThresholdedRelu", "Where", "Xor",
)  # fmt: skip
_REDUCTIONS = ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare")
_RULES: dict[str, Rule] = {
    **dict.fromkeys(_ELEMENTWISE, _each_element),
    **dict.fromkeys((f"Reduce{name}" for name in _REDUCTIONS), _reduce),
    **dict.fromkeys(("ArgMax", "ArgMin", "LogSoftmax", "Softmax", "Split"), _beside),
    **dict.fromkeys(("AveragePool", "BatchNormalization", "Conv", "GlobalAveragePool", "GlobalMaxPool", "MaxPool"), _images),
    "Compress": _compress,
    "Concat": _concat,
    "Flatten": _flatten,
    "Gather": _gather,
    "GatherND": _gather_parts,
    "Gemm": _product,
    "MatMul": _product,
    "Reshape": _reshape,
    "RoiAlign": _regions,
    "Slice": _slice,
    "Squeeze": _squeeze,
    "Transpose": _transpose,
    "Unsqueeze": _unsqueeze,
}


def axes_behind(
    nodes: Sequence[SourceNode], axes: Axes, shapes: Mapping[str, Shape], value: Callable[[str], Any], opset: int
) -> dict[str, int] | SourceNode:
    """The dimensions that depend on values in all tensors of a segment; or the first node that cannot be computed so."""
    found = dict(axes)
    for node in nodes:
        if found.keys().isdisjoint(node.reads):
            continue
        rule = _RULES.get(full_name(node))
        axis = None if rule is None else rule(Reader(node, shapes, found, value, opset))
        if axis is None:
            return node
        found.update((name, axis) for name in node.outputs if name)
    return found
