"""The order in which the dimensions of each tensor are stored.

A tensor of the shape (N, C, H, W) may be stored as (N, H, W, C), which most functions of images prefer. An order is a tuple
of dimensions, outermost first: (0, 2, 3, 1) in this example. Each operator computes in the order of its input where it can,
so that a Transpose is often another name for the same memory, and a Reshape another view of it. Where an operator
needs another order, a Transpose is inserted, once for each tensor and order.

The result is a graph whose shapes, axes and constants are those of the stored tensors. Its nodes of images have an attribute
`layout`, "nhwc" or "nchw"; MatMul has `perm_a` and `perm_b`, transpositions of the stored tensors for the product, and
Attention likewise `perm_q`, `perm_k` and `perm_v`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, Callable

from pysimd.annotations import Array, Shape
from pysimd.network.graph import Graph, Node, Type, needed
from pysimd.network.open_arrays import dense
from pysimd.network.operators import ADDED, SUMMED

Order = tuple[int, ...]

_NHWC = (0, 2, 3, 1)
_PARTS, _OF_ROWS = ("Concat", "Pad", "Slice"), ("ByteProduct", "PackedProduct")


def placed(graph: Graph, layout: str = "nchw") -> Graph:
    """The graph of stored tensors.

    layout : how inputs and outputs of four dimensions are stored; everything else has the order of the graph.
    """
    return _Placement(graph, layout).graph()


def reshaped_order(shape: Shape, order: Order, target: Shape) -> Order | None:
    """The order of a tensor after a Reshape that moves nothing in memory; None if there is none.

    Dimensions of both shapes are divided into the smallest groups of equal size. Within a group, the dimensions of the first
    shape must be neighbours in memory, in their order; those of the second take their place.
    """
    if 0 in shape:
        return tuple(range(len(target))) if order == tuple(range(len(shape))) else None
    old = [axis for axis, n in enumerate(shape) if n != 1]
    new = [axis for axis, n in enumerate(target) if n != 1]
    groups: dict[int, tuple[list[int], list[int]]] = {}  # by the first dimension
    while old and new:
        left, right = [old.pop(0)], [new.pop(0)]
        a, b = shape[left[0]], target[right[0]]
        while a != b:
            if a < b:
                left.append(old.pop(0))
                a *= shape[left[-1]]
            else:
                right.append(new.pop(0))
                b *= target[right[-1]]
        groups[left[0]] = left, right
    stored = [axis for axis in order if shape[axis] != 1]
    found: list[int] = []
    at = 0
    while at < len(stored):
        left, right = groups.get(stored[at], ([], []))
        if not left or stored[at : at + len(left)] != left:
            return None
        found.extend(right)
        at += len(left)
    for axis in (axis for axis, n in enumerate(target) if n == 1):  # anywhere: after the dimension before it
        found.insert(found.index(axis - 1) + 1 if axis else 0, axis)
    return tuple(found)


def _of(order: Order, values: Sequence[Any]) -> tuple[Any, ...]:
    """Values by dimension in the order of storage."""
    return tuple(map(values.__getitem__, order))


class _Placement:
    """The walk over the nodes. Each tensor of the graph is stored in one order or in several, under different names."""

    def __init__(self, graph: Graph, layout: str) -> None:
        self._graph, self._layout = graph, layout
        self._names: dict[tuple[str, Order], str] = {}
        self._first: dict[str, tuple[str, Order]] = {}
        self._nodes: list[Node] = []
        self._types: dict[str, Type] = {}
        self._constants: dict[str, Array] = {}
        self._origin: tuple[str, ...] = ()

    def graph(self) -> Graph:
        """Places all nodes."""
        graph = self._graph
        for name in graph.inputs:
            self._define(name, self._outside(name), name)
        for node in graph.nodes:
            self._origin = node.origin
            _RULES.get(node.operator, _plain)(self, node)
        outputs: list[str] = []
        for name in graph.outputs:
            producer = graph.producer(name)
            self._origin = producer.origin if producer else ()
            outputs.append(self._own(self.stored(name, self._outside(name)), name, outputs))
        inputs = [self._first[name][0] for name in graph.inputs]
        return needed(graph.name, self._nodes, inputs, outputs, self._types, self._constants)

    def _outside(self, name: str) -> Order:
        """The order of an input or an output of the graph."""
        rank = len(self.shape(name))
        return _NHWC if self._layout == "nhwc" and rank == 4 else tuple(range(rank))

    def _own(self, stored: str, name: str, others: Sequence[str]) -> str:
        """An output with memory of its own: a copy of an input, of a constant, or of another output."""
        if stored not in (*self._graph.inputs, *others) and stored not in self._constants:
            return stored
        return self._transpose(stored, tuple(range(len(self._types[stored].shape))), f"{name}@copy")

    # ---- for the rules

    def shape(self, name: str) -> Shape:
        """The shape of a tensor in the graph, that is before it is stored."""
        return self._graph.types[name].shape

    def rank(self, name: str) -> int:
        """The number of dimensions of a tensor."""
        return len(self.shape(name))

    def is_constant(self, name: str) -> bool:
        """Whether a tensor is constant."""
        return name in self._graph.constants

    def user(self, name: str) -> Node | None:
        """The only node that reads a tensor; None if there are several, or if it is an output of the graph."""
        return self._graph.user(name)

    def users(self, name: str) -> Sequence[Node]:
        """The nodes that read a tensor; none of an output of the graph."""
        return () if self._graph.is_output(name) else self._graph.users(name)

    def settle(self, name: str) -> None:
        """Stores a tensor in the order of the graph, in which all that reads it finds it first."""
        self._first[name] = self.stored(name), tuple(range(self.rank(name)))

    def order(self, name: str) -> Order:
        """The order in which a tensor is stored; constants can have any."""
        return self._first[name][1] if name in self._first else tuple(range(self.rank(name)))

    def stored(self, name: str, order: Order | None = None) -> str:
        """The name of a tensor in this order, into which it is brought if need be; "" for a missing one."""
        if not name:
            return ""
        order = tuple(range(self.rank(name))) if order is None else order
        if (name, order) in self._names:
            return self._names[name, order]
        shape = self.shape(name)
        made = (
            name if order == tuple(range(len(shape))) and name not in self._types else f"{name}@{''.join(map(str, order))}"
        )
        if name in self._graph.constants:
            self._constants[made] = dense(self._graph.constants[name].transpose(order)).reshape(_of(order, shape))
            self._names[name, order] = made
            self._types[made] = Type(_of(order, shape), self._graph.types[name].dtype)
            return made
        source, have = self._first[name]
        if [axis for axis in have if shape[axis] != 1] == [axis for axis in order if shape[axis] != 1]:
            self._emit(
                "Reshape",
                (source,),
                (made,),
                (Type(_of(order, shape), self._types[source].dtype),),
                {"shape": _of(order, shape)},
            )
        else:
            self._transpose(source, tuple(have.index(axis) for axis in order), made)
        self._names[name, order] = made
        return made

    def packed(self, name: str, order: Order) -> str:
        """The name of a tensor of weights in this order: of a constant a view, as contexts pack arrays of any strides."""
        if not self.is_constant(name):
            return self.stored(name, order)
        made = f"{name}@packed{''.join(map(str, order))}"
        self._constants[made] = self._graph.constants[name].transpose(order)
        self._types[made] = Type(_of(order, self.shape(name)), self._graph.types[name].dtype)
        return made

    def give(self, node: Node, inputs: Sequence[str], orders: Sequence[Order] | Order, **attributes: Any) -> None:
        """Adds a node: names of stored inputs, the orders of its outputs, and attributes that differ from its own."""
        each = orders if orders and isinstance(orders[0], tuple) else [orders] * len(node.outputs)
        types = [
            Type(_of(order, self.shape(name)), self._graph.types[name].dtype)  # type: ignore[arg-type]
            for name, order in zip(node.outputs, each)
        ]
        self._emit(node.operator, inputs, node.outputs, types, {**node.attributes, **attributes})
        for name, order in zip(node.outputs, each):
            self._define(name, order, name)  # type: ignore[arg-type]

    def rename(self, name: str, source: str, order: Order) -> None:
        """Gives a tensor of the graph the memory of a stored one, which has the right shape."""
        self._names[name, order] = source
        self._first[name] = source, order

    def view(self, node: Node, source: str, order: Order) -> None:
        """Gives the output of a node the memory of a stored tensor, with another shape."""
        shape = _of(order, self.shape(node.output))
        if shape == self._types[source].shape:
            self.rename(node.output, source, order)
        else:
            self._emit("Reshape", (source,), node.outputs, (Type(shape, self._types[source].dtype),), {"shape": shape})
            self._define(node.output, order, node.output)

    def _define(self, name: str, order: Order, stored: str) -> None:
        self._types[stored] = Type(_of(order, self.shape(name)), self._graph.types[name].dtype)
        self._names[name, order] = stored
        self._first.setdefault(name, (stored, order))

    def _transpose(self, source: str, perm: Order, made: str) -> str:
        of = self._types[source]
        self._emit("Transpose", (source,), (made,), (Type(_of(perm, of.shape), of.dtype),), {"perm": perm})
        return made

    def _emit(
        self,
        operator: str,
        inputs: Sequence[str],
        outputs: Sequence[str],
        types: Sequence[Type],
        attributes: Mapping[str, Any],
    ) -> None:
        self._types.update(zip(outputs, types))
        self._nodes.append(Node(operator, tuple(inputs), tuple(outputs), attributes, self._origin))


# ---- the rules: one for each kind of operator

_Rule = Callable[[_Placement, Node], None]


def _plain(p: _Placement, node: Node) -> None:
    """Everything in the order of the graph."""
    p.give(node, [p.stored(name) for name in node.inputs], [tuple(range(p.rank(name))) for name in node.outputs])


def _image(p: _Placement, node: Node) -> None:
    """A function of images, in NHWC; weights stay as they are, and an addend is stored like the result."""
    layout, order = "nhwc", _NHWC
    if node.operator.endswith("ConvTranspose"):
        group, (inputs, outputs, *_) = node.attributes["group"], p.shape(node.inputs[1])
        if group > 1 and not (group == inputs and outputs == 1):  # other groups are slow in NHWC
            layout, order = "nchw", (0, 1, 2, 3)
    given = [p.stored(node.inputs[0], order), *(p.stored(name) for name in node.inputs[1:])]
    added = {"Conv": ADDED, "QuantizedConv": SUMMED}.get(node.operator, len(given))
    if len(given) > added:
        given[added] = p.stored(node.inputs[added], order)
    p.give(node, given, order, layout=layout)


def _merged(p: _Placement, node: Node) -> None:
    """In NHWC always."""
    p.give(node, [p.stored(node.inputs[0], _NHWC), *(p.stored(name) for name in node.inputs[1:])], _NHWC, layout="nhwc")


def _channels(p: _Placement, node: Node) -> None:
    """Normalization of channels, for any number of dimensions after them; of groups of channels in NCHW alone."""
    order, rank = p.order(node.inputs[0]), p.rank(node.inputs[0])
    last = (0, *range(2, rank), 1)
    layout = "nhwc" if order == last and not node.attributes["groups"] else "nchw"
    order = last if layout == "nhwc" else tuple(range(rank))
    p.give(node, [p.stored(node.inputs[0], order), *(p.stored(name) for name in node.inputs[1:])], order, layout=layout)


def _same(p: _Placement, node: Node) -> None:
    """An element-wise function, or one along an axis, in any order; further inputs are constants of one dimension."""
    order = p.order(node.inputs[0])
    axis = node.attributes.get("axis")
    moved = {} if axis is None else {"axis": order.index(axis % len(order))}
    p.give(node, [p.stored(node.inputs[0], order), *(p.stored(name) for name in node.inputs[1:])], order, **moved)


def _dynamic_quantize(p: _Placement, node: Node) -> None:
    """In any order: the range is that of all elements."""
    order = p.order(node.inputs[0])
    p.give(node, [p.stored(node.inputs[0], order)], [order, (), ()])


def _leader(p: _Placement, node: Node) -> Order:
    """The order of the largest input that is computed."""
    names = [name for name in node.inputs if not p.is_constant(name)] or list(node.inputs)
    return p.order(max(names, key=lambda name: prod(p.shape(name))))


def _binary(p: _Placement, node: Node) -> None:
    order = _leader(p, node)
    p.give(node, [p.stored(name, order) for name in node.inputs], order)


def _concat(p: _Placement, node: Node) -> None:
    order = _leader(p, node)
    p.give(
        node, [p.stored(name, order) for name in node.inputs], order, axis=order.index(node.attributes["axis"] % len(order))
    )


def _by_axis(*names: str) -> _Rule:
    """In any order, with attributes that have a value for each dimension."""

    def rule(p: _Placement, node: Node) -> None:
        order = p.order(node.inputs[0])
        p.give(node, [p.stored(node.inputs[0], order)], order, **{name: _of(order, node.attributes[name]) for name in names})

    return rule


def _expand(p: _Placement, node: Node) -> None:
    (x,), shape = node.inputs, node.attributes["shape"]
    if p.rank(x) != len(shape):
        _plain(p, node)
    else:
        _by_axis("shape")(p, node)


def _reduce(p: _Placement, node: Node) -> None:
    (x,), order = node.inputs, p.order(node.inputs[0])
    axes = {axis % len(order) for axis in node.attributes["axes"]}
    kept = order
    if not node.attributes["keepdims"]:
        left = [axis for axis in range(len(order)) if axis not in axes]
        kept = tuple(left.index(axis) for axis in order if axis not in axes)
    p.give(node, [p.stored(x, order)], [kept], axes=tuple(sorted(order.index(axis) for axis in axes)))


def _transpose(p: _Placement, node: Node) -> None:
    """Another name for the same memory; an image whose windows become rows is brought into its order: rows are larger."""
    (x,), perm = node.inputs, node.attributes["perm"]
    order = p.order(x)
    p.rename(node.output, p.stored(x, order), tuple(perm.index(axis) for axis in order))
    if _become_rows(p, node.output):
        p.settle(node.output)


def _become_rows(p: _Placement, name: str) -> bool:
    """Whether parts of a tensor, joined, are rows of products of bytes, and nothing else."""
    names, found = [name], {name}
    while names:
        users = p.users(names.pop())
        if not users or any(user.operator not in (*_PARTS, *_OF_ROWS) for user in users):
            return False
        parts = {user.output for user in users if user.operator in _PARTS} - found
        found |= parts
        names += parts
    return len(found) > 2


def _reshape(p: _Placement, node: Node) -> None:
    """Another view of the same memory; if there is none, of the tensor in the order of the graph."""
    (x,), order = node.inputs, p.order(node.inputs[0])
    found = reshaped_order(p.shape(x), order, p.shape(node.output))
    if found is None:
        p.view(node, p.stored(x), tuple(range(p.rank(node.output))))
    else:
        p.view(node, p.stored(x, order), found)


def _linear(p: _Placement, node: Node) -> None:
    """The contracted dimensions must be the last ones in memory, in any order, which the weights follow."""
    x, weight, *rest = node.inputs
    order, rank, contracted = p.order(x), p.rank(x), p.rank(weight) - 1
    lead = rank - contracted
    if any(axis >= lead for axis in order[:lead]):
        order = tuple(range(rank))
    inner = tuple(axis - lead for axis in order[lead:])
    result = (*order[:lead], lead)
    given = [p.stored(x, order), p.packed(weight, (*inner, contracted)), *(p.stored(name) for name in rest[:1])]
    given += [p.stored(name, result) for name in rest[1:]]
    p.give(node, given, [result])


def _matmul(p: _Placement, node: Node) -> None:
    """Rows or columns must be adjacent; everything else may be at any distance. If only a Transpose reads the result, it is
    written in that order."""
    (a, perm_a), (b, perm_b) = (_matrices(p, x) for x in node.inputs)
    order, perm = _product_order(p, node)
    p.give(node, [a, b], [order], perm_a=perm_a, perm_b=perm_b, perm_out=perm)


def _matrices(p: _Placement, x: str, rows: bool = False) -> tuple[str, Order]:
    """Stored matrices whose rows, or else columns, are adjacent elements; and the transposition to their own order."""
    order, rank = p.order(x), p.rank(x)
    if order[-1] < (rank - 1 if rows else rank - 2):
        order = tuple(range(rank))
    return p.stored(x, order), tuple(order.index(axis) for axis in range(rank))


def _product_order(p: _Placement, node: Node) -> tuple[Order, Order]:
    """The order of a product, that of a Transpose behind it if there is one, and the transposition from it."""
    rank, user = p.rank(node.output), p.user(node.output)
    order = tuple(range(rank))
    if user is not None and user.operator == "Transpose" and user.attributes["perm"][-1] == rank - 1:
        order = tuple(user.attributes["perm"])
    return order, tuple(order.index(axis) for axis in range(rank))


def _attention(p: _Placement, node: Node) -> None:
    """As products; the rows of queries must be adjacent, and a bias has the order of the graph."""
    (q, perm_q), (k, perm_k), (v, perm_v) = (_matrices(p, x, i == 0) for i, x in enumerate(node.inputs[:3]))
    order, perm = _product_order(p, node)
    inputs = [q, k, v, *(p.stored(x) for x in node.inputs[3:])]
    p.give(node, inputs, [order], perm_q=perm_q, perm_k=perm_k, perm_v=perm_v, perm_out=perm)


def _layer_norm(p: _Placement, node: Node) -> None:
    """The normalized dimensions must be the last ones in memory, in any order, which scale and bias follow."""
    x, *rest = node.inputs
    order, rank = p.order(x), p.rank(x)
    axis = node.attributes["axis"] % rank
    if any(each >= axis for each in order[:axis]):
        order = tuple(range(rank))
    inner = tuple(each - axis for each in order[axis:])
    p.give(node, [p.stored(x, order), *(p.stored(name, inner) if name else "" for name in rest)], order, axis=axis)


def _gather(p: _Placement, node: Node) -> None:
    """Indices of one dimension keep the order; others need that of the graph."""
    x, indices = node.inputs
    if p.rank(indices) != 1:
        _plain(p, node)
        return
    order = p.order(x)
    p.give(node, [p.stored(x, order), p.stored(indices)], order, axis=order.index(node.attributes["axis"] % len(order)))


_RULES: Mapping[str, _Rule] = {
    **dict.fromkeys(("Conv", "ConvTranspose", "DynamicConv", "DynamicConvTranspose", "QuantizedConv"), _image),
    **dict.fromkeys(("MaxPool", "AveragePool", "QuantizedPool", "Resize", "Lrn"), _image),
    **dict.fromkeys(("Unary", "Scale", "Prelu", "Softmax", "L2Norm", "Quantize", "Dequantize", "Cast", "Table8"), _same),
    **dict.fromkeys(("Binary", "ExactBinary", "Elementwise", "QuantizedBinary", "Select"), _binary),
    "ChannelNorm": _channels,
    "Concat": _concat,
    "DynamicQuantize": _dynamic_quantize,
    "Expand": _expand,
    "Gather": _gather,
    "LayerNorm": _layer_norm,
    "RmsNorm": _layer_norm,
    "Linear": _linear,
    "Attention": _attention,
    "MatMul": _matmul,
    "MergedConvolution": _merged,
    "Pad": _by_axis("pads"),
    "Reduce": _reduce,
    "Reshape": _reshape,
    "Slice": _by_axis("starts", "steps", "sizes"),
    "Transpose": _transpose,
}
