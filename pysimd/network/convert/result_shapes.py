"""The shapes of what NumPy computes, by formulas of the shapes of its inputs, of which some sizes are open.

An operator without a rule here, and inputs that do not fit a rule, have sizes that are computed when a plan is bound. A rule
accepts only what can be computed: nothing else looks at the shapes of what is computed at run time when a plan is bound.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

from pysimd.annotations import Shape
from pysimd.network.convert.fold import FOLDS
from pysimd.network.convert.fold_moves import parts
from pysimd.network.sizes import broadcast_shapes, whole
from pysimd.network.source import SourceNode

_Shapes = Sequence[Any]
_Numbers = Mapping[int, Callable[[], list[Any]]]


class _Call:
    """A node with the shapes of its inputs, and the numbers of those that are known."""

    def __init__(self, node: SourceNode, shapes: _Shapes, numbers: _Numbers) -> None:
        self.node, self.shapes, self._numbers = node, shapes, numbers

    def get(self, name: str, default: Any = None) -> Any:
        """An attribute."""
        return self.node.attributes.get(name, default)

    def numbers(self, i: int, name: str = "") -> list[Any] | None:
        """Integers that are an input, or in older versions an attribute; None if they are missing."""
        given = self.known(i) if i < len(self.shapes) and self.shapes[i] is not None else self.get(name)
        return None if given is None else [whole(n) for n in given]

    def known(self, i: int) -> list[Any]:
        """The numbers of an input."""
        if i not in self._numbers:
            raise LookupError(f"input {i} is not known")
        return self._numbers[i]()

    def require(self, fits: Any) -> None:
        """Refuses shapes that do not fit."""
        if not fits:
            raise ValueError("the shapes do not fit")

    def require_indices_of_run_time(self) -> None:
        """Known indices may be outside a tensor of another shape; where all is known, that is found when it is computed."""
        self.require(1 not in self._numbers or 0 in self._numbers)

    def axis(self, default: int = 0) -> int:
        """The attribute axis, counted from the first one."""
        return int(self.get("axis", default)) % max(len(self.shapes[0]), 1)


def result_shapes(node: SourceNode, shapes: _Shapes, numbers: _Numbers) -> list[Shape] | None:
    """The shapes of the outputs of a node that :func:`pysimd.network.convert.fold.evaluate` computes.

    shapes : of its inputs, None for a missing one.
    numbers : functions that return the elements of the inputs that are known.

    Returns None where they are not known.
    """
    rule = _RULES.get(node.op, _broadcast if node.op in FOLDS and node.op not in _WITHOUT else None)
    if rule is None:
        return None
    try:
        found = rule(_Call(node, shapes, numbers))
    except (LookupError, ValueError, TypeError, ArithmeticError):  # what does not fit is refused where it is computed
        return None
    return found if isinstance(found, list) else [found]


def _broadcast(c: _Call) -> Shape:
    return broadcast_shapes(*(shape for shape in c.shapes if shape is not None))


def _like_first(c: _Call) -> Shape:
    return tuple(c.shapes[0])


def _range(c: _Call) -> Shape | None:
    (start,), (limit,), (step,) = (c.known(i) for i in range(3))
    if any(isinstance(n, float) for n in (start, limit, step)):
        raise ValueError("the number of floats is computed")
    return (max(-((start - limit) // step) if step > 0 else -((limit - start) // -step), 0),)


def _concat(c: _Call) -> Shape:
    axis = c.axis()
    return _with(c.shapes[0], axis, sum(shape[axis] for shape in c.shapes))


def _with(shape: Shape, axis: int, *sizes: Any) -> Shape:
    return (*shape[:axis], *sizes, *shape[axis + 1 :])


def _reshape(c: _Call) -> Shape:
    shape, sizes = c.shapes[0], c.numbers(1, "shape") or []
    if not c.get("allowzero", 0):
        sizes = [shape[i] if n == 0 else n for i, n in enumerate(sizes)]
    for i in [i for i, n in enumerate(sizes) if n == -1]:
        sizes[i] = prod(shape) // prod(n for j, n in enumerate(sizes) if j != i)
    return tuple(sizes)


def _flat(shape: Shape, axis: int) -> Shape:
    return (prod(shape[:axis]), prod(shape[axis:]))


def _unsqueeze(c: _Call) -> Shape:
    axes, rest = c.numbers(1, "axes") or [], iter(c.shapes[0])
    rank = len(c.shapes[0]) + len(axes)
    new = {int(axis) % rank for axis in axes}
    return tuple(1 if axis in new else next(rest) for axis in range(rank))


def _squeeze(c: _Call) -> Shape:
    shape, axes = c.shapes[0], c.numbers(1, "axes")
    gone = {i for i, n in enumerate(shape) if n == 1} if axes is None else {int(axis) % len(shape) for axis in axes}
    return tuple(n for i, n in enumerate(shape) if i not in gone)


def _slice(c: _Call) -> Shape:
    starts, ends, axes, steps = (c.numbers(i, name) for i, name in enumerate(("starts", "ends", "axes", "steps"), 1))
    return tuple(part.size for part in parts(c.shapes[0], starts, ends, axes, steps))


def _split(c: _Call) -> list[Shape]:
    sizes, axis = c.numbers(1, "split"), c.axis()
    if sizes is None:
        raise ValueError("the sizes are computed")
    return [_with(c.shapes[0], axis, n) for n in sizes]


def _tile(c: _Call) -> Shape:
    return tuple(n * count for n, count in zip(c.shapes[0], c.numbers(1) or ()))


def _gather(c: _Call) -> Shape:
    return _with(c.shapes[0], c.axis(), *c.shapes[1])


def _gather_nd(c: _Call) -> Shape:
    x, indices, batch = c.shapes[0], c.shapes[1], int(c.get("batch_dims", 0))
    c.require_indices_of_run_time()
    c.require(x[:batch] == indices[:batch])
    return (*indices[:-1], *x[batch + int(indices[-1]) :])


def _gather_elements(c: _Call) -> Shape:
    _require_within(c)
    return tuple(c.shapes[1])


def _require_within(c: _Call) -> None:
    """Refuses indices that are more than the elements along another dimension."""
    x, indices, axis = c.shapes[0], c.shapes[1], c.axis()
    c.require_indices_of_run_time()
    c.require(len(x) == len(indices) and all(i == axis or n <= x[i] for i, n in enumerate(indices)))


def _scatter_elements(c: _Call) -> Shape:
    _require_within(c)
    c.require(c.shapes[1] == c.shapes[2])
    return _like_first(c)


def _scatter_nd(c: _Call) -> Shape:
    x, indices, updates = c.shapes
    c.require_indices_of_run_time()
    c.require((*indices[:-1], *x[int(indices[-1]) :]) == updates)
    return _like_first(c)


def _one_hot(c: _Call) -> Shape:
    (depth,) = c.numbers(1) or [None]
    axis = int(c.get("axis", -1)) % (len(c.shapes[0]) + 1)
    return (*c.shapes[0][:axis], depth, *c.shapes[0][axis:])


def _reduced(c: _Call) -> Shape:
    axes = c.numbers(1, "axes") or ([] if c.get("noop_with_empty_axes", 0) else range(len(c.shapes[0])))
    return _without(c, {int(axis) % max(len(c.shapes[0]), 1) for axis in axes})


def _arg(c: _Call) -> Shape:
    c.require(c.shapes[0][c.axis()] != 0)
    return _without(c, {c.axis()})


def _without(c: _Call, axes: set[int]) -> Shape:
    keep = c.get("keepdims", 1)
    return tuple(1 if i in axes else n for i, n in enumerate(c.shapes[0]) if keep or i not in axes)


def _top_k(c: _Call) -> list[Shape]:
    (count,) = c.numbers(1) or (c.get("k"),)
    c.require(count <= c.shapes[0][c.axis(-1)])
    return [_with(c.shapes[0], c.axis(-1), count)] * 2


def _product(c: _Call) -> Shape:
    a, b = c.shapes[0], c.shapes[1]
    c.require(a[-1] == b[-2:][0])
    return (*broadcast_shapes(a[:-2], b[:-2]), *a[-2:-1], *(b[-1:] if len(b) > 1 else ()))


def _roi_align(c: _Call) -> Shape:
    c.require(c.shapes[1][0] == c.shapes[2][0])
    return (c.shapes[1][0], c.shapes[0][1], c.get("output_height", 1), c.get("output_width", 1))


_RULES: dict[str, Callable[[_Call], Any]] = {
    "ArgMax": _arg,
    "ArgMin": _arg,
    "CastLike": _like_first,
    "Clip": _like_first,
    "Concat": _concat,
    "ConstantOfShape": lambda c: tuple(c.numbers(0) or ()),
    "CumProd": _like_first,
    "CumSum": _like_first,
    "DequantizeLinear": _like_first,
    "Flatten": lambda c: _flat(c.shapes[0], int(c.get("axis", 1))),
    "Expand": lambda c: broadcast_shapes(c.shapes[0], tuple(c.numbers(1) or ())),
    "Gather": _gather,
    "GatherElements": _gather_elements,
    "GatherND": _gather_nd,
    "MatMul": _product,
    "MaxRoiPool": lambda c: (c.shapes[1][0], c.shapes[0][1], *c.get("pooled_shape")),
    "OneHot": _one_hot,
    "QuantizeLinear": _like_first,
    "Range": _range,
    "Reshape": _reshape,
    "RoiAlign": _roi_align,
    "Scatter": _scatter_elements,
    "ScatterElements": _scatter_elements,
    "ScatterND": _scatter_nd,
    "Slice": _slice,
    "Split": _split,
    "Squeeze": _squeeze,
    "TensorScatter": _like_first,
    "Tile": _tile,
    "TopK": _top_k,
    "Transpose": lambda c: tuple(c.shapes[0][i] for i in c.get("perm") or range(len(c.shapes[0]))[::-1]),
    "Trilu": _like_first,
    "Unsqueeze": _unsqueeze,
    **{name: _reduced for name in FOLDS if name.startswith("Reduce")},
}
#: Those without a rule that are not element-wise.
_WITHOUT = frozenset(
    (
        "AffineGrid", "BlackmanWindow", "Col2Im", "Compress", "Constant", "DFT", "DeformConv", "Det", "Dropout", "Einsum",
        "Gemm", "HammingWindow", "HannWindow", "Hardmax", "MaxPool", "MaxUnpool", "MelWeightMatrix",
        "NegativeLogLikelihoodLoss", "NonMaxSuppression", "NonZero", "Pad", "ReverseSequence", "STFT", "Shape", "Size",
        "SoftmaxCrossEntropyLoss", "Unique",
    )
)  # fmt: skip
