"""Sums of products of bytes that become floats: one call does what follows them.

    MatMulInteger or ConvInteger, Cast, Mul by scales, Add of a bias    f(f(float(sum) * f(s * S)) + B)

No rounding changes. Between these may be nodes that only move elements, such as the Transpose to the channels of a
convolution: they move floats then. The groups of a convolution are products each, which a Concat joins. Sums of channels by
themselves are floats that are whole numbers already, and need not become integers in between.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from pysimd.annotations import Array, Shape
from pysimd.network.graph import Graph, Node, Type
from pysimd.network.passes.patterns import Parameters, free_name, input_at, is_plain, origins
from pysimd.network.passes.rewrite import Change, starts_from
from pysimd.network.records import record
from pysimd.network.sizes import Size

_FUNCTIONS = ("Binary", "ExactBinary")
_MOVES = ("Reshape", "Transpose")
_SCALE, _BIAS = 4, 6  # places of inputs


@record(frozen=True, eq=False)
class _Sums:
    """A tensor that products give, and nothing else than the nodes from these to it reads.

    joined : the Concat of several products, which are groups of columns.
    moves : what moves their elements, and a Cast, from the first on.
    rank, axis : of the tensor; the dimension of the columns.
    """

    products: Sequence[Node]
    joined: Node | None
    moves: Sequence[Node]
    rank: int
    axis: int
    counts: Sequence[int]

    @property
    def columns(self) -> int:
        return sum(self.counts)

    def fits(self, shape: Shape) -> bool:
        """Whether an operand of this shape has one element, or one for each column."""
        full = (*(1,) * (self.rank - len(shape)), *shape)
        rest = all(n == 1 for i, n in enumerate(full) if i != self.axis)
        return len(full) == self.rank and rest and (full[self.axis] == 1 or full[self.axis] == self.columns)


@starts_from("Binary.multiply", "ExactBinary.multiply", needs=("PackedProduct",))
def scaled(graph: Graph, node: Node) -> Change | None:
    """The product with scales."""
    if not _is(node, "multiply"):
        return None
    for name, factor in (node.inputs, node.inputs[::-1]):
        sums = _sums(graph, name, "int32")
        if sums is None or _casts(sums.moves) != ["float32"]:
            continue
        return _with_scales(graph, node, sums, factor) if graph.shape(node.output) == graph.shape(name) else None
    return None


def _with_scales(graph: Graph, node: Node, sums: _Sums, factor: str) -> Change | None:
    found = _scales(graph, factor, sums)
    if found is None:
        return None
    one, scales = found

    def inputs(product: Node, parameters: Parameters, part: slice) -> tuple[str, ...]:
        scale = "" if scales is None else _added(parameters, "S", scales, part)
        return (*product.inputs[:2], input_at(product, 2), input_at(product, 3), one, scale)

    return _floats(graph, node, sums, inputs)


@starts_from("Binary.add", "ExactBinary.add", needs=("PackedProduct",))
def with_bias(graph: Graph, node: Node) -> Change | None:
    """The sum with a bias."""
    if not _is(node, "add"):
        return None
    for name, other in (node.inputs, node.inputs[::-1]):
        constant = graph.constants.get(other)
        sums = None if constant is None or constant.dtype != np.float32 else _sums(graph, name, "float32")
        if constant is None or sums is None or _casts(sums.moves) or any(input_at(each, _BIAS) for each in sums.products):
            continue
        fits = sums.fits(constant.shape) and graph.shape(node.output) == graph.shape(name)
        return _with_terms(graph, node, sums, constant.reshape(-1)) if fits else None
    return None


def _with_terms(graph: Graph, node: Node, sums: _Sums, bias: Array) -> Change:
    def inputs(product: Node, parameters: Parameters, part: slice) -> tuple[str, ...]:
        return (*(input_at(product, i) for i in range(_BIAS)), _added(parameters, "B", bias, part))

    return _floats(graph, node, sums, inputs)


@starts_from("Binary.multiply", "ExactBinary.multiply", needs=("Conv",))
def of_whole_numbers(graph: Graph, node: Node) -> Change | None:
    """Whole numbers of floats times scales, without integers in between."""
    if not _is(node, "multiply"):
        return None
    for place, name in enumerate(node.inputs):
        moves, base = _moved(graph, name)
        if base is None or base.operator != "Conv" or _casts(moves) != ["int32", "float32"] or not _is_whole(graph, base):
            continue
        types: dict[str, Type] = {}
        added: list[Node] = []
        x = base.output
        for each in moves:
            if each.operator != "Cast":
                y = free_name(graph, f"{node.output}.{len(added)}")
                types[y] = Type(graph.shape(each.output), "float32")
                added.append(Node(each.operator, (x,), (y,), each.attributes, each.origin))
                x = y
        inputs = tuple(x if i == place else other for i, other in enumerate(node.inputs))
        casts = [each for each in moves if each.operator == "Cast"]
        added.append(Node("ExactBinary", inputs, node.outputs, node.attributes, origins(*casts, node)))
        return Change([node, *reversed(moves)], added, types)
    return None


def _is_whole(graph: Graph, node: Node) -> bool:
    """Whether the results of a convolution of channels by themselves are exact sums of whole numbers, and none is -0."""
    image, (weight, bias) = graph.producer(node.inputs[0]), (graph.constants.get(input_at(node, i)) for i in (1, 2))
    if image is None or image.operator != "Dequantize" or weight is None or bias is None or len(node.inputs) != 3:
        return False
    scale = graph.constants.get(image.inputs[1])
    if scale is None or scale.size != 1 or scale.reshape(())[()] != 1 or weight.shape[1] != 1 or not is_plain(node):
        return False
    zero = not bias.any() and not np.signbit(bias).any()
    whole = (weight == np.rint(weight)).all() and (abs(weight).sum((1, 2, 3), dtype=np.float64) * 255 <= 1 << 24).all()
    return bool(zero and whole and node.attributes["group"] > 1)


MATCHES = (scaled, with_bias, of_whole_numbers)


def _is(node: Node, function: str) -> bool:
    return bool(node.attributes["function"] == function) and is_plain(node)


def _added(parameters: Parameters, kind: str, array: Array, part: slice) -> str:
    """The name of a new constant with the numbers of some columns."""
    return parameters.add(f"{kind}{part.start or ''}", array if array.size == 1 else array[part])


# ---- what gives a tensor


def _sums(graph: Graph, name: str, dtype: str) -> _Sums | None:
    """The products of this type that give a tensor, if some do."""
    moves, node = _moved(graph, name)
    if node is None or node.operator not in ("Concat", "PackedProduct"):
        return None
    products, joined = ([node], None) if node.operator == "PackedProduct" else (_joined(graph, node), node)
    if not products or any(each.attributes["dtype"] != dtype for each in products):
        return None
    axis = _axis_behind(graph, len(graph.shape(node.output)) - 1, moves)
    counts = [graph.shape(each.inputs[1])[1] for each in products]
    return None if axis is None else _Sums(products, joined, moves, len(graph.shape(name)), axis, counts)


def _moved(graph: Graph, name: str) -> tuple[list[Node], Node | None]:
    """What moves the elements of a tensor, and a Cast, from the first on; and the node that gives them."""
    moves: list[Node] = []
    node = _only(graph, name)
    while node is not None and node.operator in (*_MOVES, "Cast"):
        moves.insert(0, node)
        node = _only(graph, node.inputs[0])
    return moves, node


def _casts(moves: Sequence[Node]) -> list[str]:
    """The types that each Cast gives."""
    return [node.attributes["dtype"] for node in moves if node.operator == "Cast"]


def _only(graph: Graph, name: str) -> Node | None:
    """The producer of a tensor that nothing else reads."""
    return graph.producer(name) if graph.user(name) is not None else None


def _joined(graph: Graph, node: Node) -> list[Node]:
    """The products whose columns a Concat joins; none for another one."""
    found = [_only(graph, name) for name in node.inputs]
    last = len(graph.shape(node.output)) - 1
    products = [each for each in found if each is not None and each.operator == "PackedProduct"]
    fits = len(products) == len(set(node.inputs)) == len(node.inputs) and node.attributes["axis"] % (last + 1) == last
    return products if fits else []


def _axis_behind(graph: Graph, axis: int | None, moves: Sequence[Node]) -> int | None:
    """Where moves bring a dimension; None if they divide it or join it with others."""
    for node in moves:
        if axis is not None and node.operator == "Transpose":
            axis = node.attributes["perm"].index(axis)
        elif axis is not None and node.operator == "Reshape":
            axis = _reshaped_axis(graph.shape(node.inputs[0]), graph.shape(node.output), axis)
    return axis


def _reshaped_axis(before: Shape, after: Shape, axis: int) -> int | None:
    """A dimension behind a Reshape that adds and removes dimensions of one element only.

    Open sizes are compared by formula: that they are equal by chance would be a condition of the plan.
    """
    old, new = ([(i, _formula(n)) for i, n in enumerate(shape) if _formula(n) != 1] for shape in (before, after))
    places = [i for i, _ in old]
    if [n for _, n in old] != [n for _, n in new] or axis not in places:
        return None
    return new[places.index(axis)][0]


def _formula(n: int | Size) -> object:
    return n.formula if isinstance(n, Size) else n


# ---- scales


def _scales(graph: Graph, name: str, sums: _Sums) -> tuple[str, Array | None] | None:
    """The one number that is computed, "" for none, and the numbers of columns, of a factor that is their product."""
    if not sums.fits(graph.shape(name)):
        return None
    constant = graph.constants.get(name)
    if constant is not None:
        return ("", constant.reshape(-1)) if _are_scales(constant) else None
    name = _inner(graph, name)
    node = graph.producer(name)
    if node is not None and node.operator in _FUNCTIONS and _is(node, "multiply"):
        for one, other in (node.inputs, node.inputs[::-1]):
            constant, one = graph.constants.get(other), _inner(graph, one)
            if constant is not None and _are_scales(constant) and _is_one(graph, one):
                return one, constant.reshape(-1)
    return (name, None) if _is_one(graph, name) else None


def _inner(graph: Graph, name: str) -> str:
    """The tensor that a Reshape has its elements from."""
    node = graph.producer(name)
    while node is not None and node.operator == "Reshape":
        name = node.inputs[0]
        node = graph.producer(name)
    return name


def _is_one(graph: Graph, name: str) -> bool:
    of = graph.types[name]
    return of.dtype == "float32" and all(n == 1 for n in of.shape)


def _are_scales(array: Array) -> bool:
    """Whether the library takes these numbers as scales."""
    return bool(array.dtype == np.float32 and ((array > 0) & (array <= np.finfo(np.float32).max)).all())


# ---- products of floats in place of others


def _floats(graph: Graph, node: Node, sums: _Sums, inputs: Callable[[Node, Parameters, slice], tuple[str, ...]]) -> Change:
    """Products whose results are floats, in place of those of a node and what is between them.

    inputs : those of a new product, by the former one and its columns.
    """
    parameters, first = Parameters(graph, node.output), 0
    types: dict[str, Type] = {}
    added: list[Node] = []
    between = ([] if sums.joined is None else [sums.joined]) + [each for each in sums.moves if each.operator != "Cast"]
    casts = [each for each in sums.moves if each.operator == "Cast"]

    def add(former: Node, given: tuple[str, ...], is_last: bool, attributes: object, *also: Node) -> str:
        name = node.output if is_last else free_name(graph, f"{node.output}.{len(added)}")
        if not is_last:
            types[name] = Type(graph.shape(former.output), "float32")
        added.append(Node(former.operator, given, (name,), attributes, origins(former, *also)))  # type: ignore[arg-type]
        return name

    names = []
    for product, count in zip(sums.products, sums.counts):
        given = inputs(product, parameters, slice(first, first + count))
        names.append(add(product, given, not between, {"dtype": "float32"}, *casts, node))
        first += count
    for i, each in enumerate(between):
        names = [add(each, tuple(names), i == len(between) - 1, each.attributes)]
    removed = [node, *reversed(sums.moves), *([] if sums.joined is None else [sums.joined]), *sums.products]
    return Change(removed, added, {**types, **parameters.types}, parameters.arrays)
