"""Sums of two tensors of bytes, as at the ends of residual blocks, that are bytes themselves.

All that reads such a sum reads its bytes: no image of floats is left between two blocks, and the layer before it adds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from pysimd.network.quantize.gates import Binary, is_mean
from pysimd.network.quantize.onnx_file import File, Node
from pysimd.network.quantize.places import ELEMENTWISE, MOVES, Places
from pysimd.network.quantize.products import PRODUCTS, Product, after_limits

_FUNCTIONS = {"Identity", *ELEMENTWISE, *MOVES} - {"Concat"}
Sums = Mapping[str, Node]  # by their results after a Relu or a Clip


def sums_of(file: File, products: Sequence[Product], others: Collection[str], keep_float: Collection[str]) -> list[Binary]:
    """The sums to quantise. What is bytes for each: operands that are functions of bytes, its means, and its result, after a
    Relu or a Clip that the range of the bytes takes over.

    products : those with bytes. others : more tensors of bytes. keep_float : names of nodes, or of their results, that stay
    in float.

    Both operands of a sum are bytes, or one of them is a function of bytes: of two, each would be rounded again. A layer
    of bytes reads it, and at least half of what reads it are such layers or other such sums: for the rest, its bytes
    become floats. No product in float reads it.
    """
    paths = _Paths(file, products, others)
    sums = {}
    for node in file.nodes:
        if node.op == "Add" and not node.domain and {node.name, *node.outputs}.isdisjoint(keep_float):
            y = paths.after_limits(node.outputs[0])
            if y not in file.outputs and paths.joins(node):
                sums[y] = node
    while True:  # one that is none may have been an operand or the reader of others
        paths.follow(sums)
        left = {y: node for y, node in sums.items() if paths.fits(y, node)}
        if len(left) == len(sums):
            return [Binary(node, paths.tensors(y, node)) for y, node in sums.items()]
        sums = left


class _Paths:
    """From tensors of bytes to the layers and sums that read them, or functions of them."""

    def __init__(self, file: File, products: Sequence[Product], others: Collection[str]) -> None:
        self._file, self._products = file, products
        self._makers = {name: node for node in file.nodes for name in node.outputs if name}
        self._results = {p.y for p in products if not p.is_last}.union(others)
        self._parts = Places(file, products, others).parts
        self._uses = file.uses()
        self._readers: dict[str, list[Node]] = {}
        for node in file.nodes:
            for name in dict.fromkeys((*node.inputs, *node.captured)):
                self._readers.setdefault(name, []).append(node)
        self._layers = {p.node for p in products}
        self._sums: Sums = {}
        self._added: set[Node] = set()
        self._to_layers: dict[str, set[Node]] = {}
        self._to_sums: dict[str, set[Node]] = {}
        self._means: dict[str, set[str]] = {}

    def after_limits(self, y: str) -> str:
        """The result of a Relu or a Clip that is the only reader of a tensor, else the tensor."""
        return after_limits(self._file, y, {name: nodes[-1] for name, nodes in self._readers.items()}, self._uses)

    def joins(self, node: Node) -> bool:
        """Whether both operands are computed."""
        return all(self._file.constant(name) is None for name in node.inputs)

    def follow(self, sums: Sums) -> None:
        """Finds the paths, if these sums are bytes."""
        self._sums, self._to_layers, self._to_sums, self._means = sums, {}, {}, {}
        self._added = set(sums.values())
        for p in self._products:
            self._back(p.x, p.node, self._to_layers)
        for node in sums.values():
            for name in node.inputs:
                self._back(name, node, self._to_sums)

    def fits(self, y: str, node: Node) -> bool:
        """Whether a sum is of bytes, and for layers of bytes."""
        (a, of_a), (b, of_b) = (self._function(name) for name in node.inputs)
        if a is None or b is None or a == b or (_rounds(of_a) and _rounds(of_b)):
            return False
        if self._reaches_floats(y):
            return False
        layers = self._to_layers.get(y, set())
        return bool(layers) and 2 * len(layers | self._to_sums.get(y, set())) >= len(self._readers[y])

    def tensors(self, y: str, node: Node) -> tuple[str, ...]:
        """What is bytes for a sum."""
        operands = [name for name in node.inputs if not self._is_bytes(name)]
        return (*operands, *sorted(self._means.get(y, ())), y)

    def _reaches_floats(self, name: str) -> bool:
        """Whether a tensor, or a function of it, is what a product in float reads, as it may for the noise of bytes."""
        left, seen = [name], {name}
        while left:
            for node in self._readers.get(left.pop(), []):
                if node.op in PRODUCTS and node not in self._layers:
                    return True
                if node.op in (*_FUNCTIONS, "Concat") and node not in self._added and not seen.issuperset(node.outputs):
                    seen.update(node.outputs)
                    left += node.outputs
        return False

    def _is_bytes(self, name: str) -> bool:
        return name in self._results or name in self._sums

    def _back(self, name: str, reader: Node, found: dict[str, set[Node]], means: Iterable[str] = ()) -> None:
        """Notes what reads bytes at the beginning of the paths to a tensor that becomes bytes for a layer or a sum."""
        if self._is_bytes(name):
            found.setdefault(name, set()).add(reader)
            self._means.setdefault(name, set()).update(means)
            return
        node = self._makers.get(name)
        if node is None or node.domain:
            return
        if node.op in MOVES or name in self._parts:
            for each in node.inputs if node.op == "Concat" else node.inputs[:1]:
                self._back(each, node, found, means)
        elif is_mean(self._file, node):
            self._back(node.inputs[0], node, found, (*means, name))
        else:
            source, nodes = self._function(name)
            if source is not None:
                found.setdefault(source, set()).update(each for each in nodes if source in each.inputs)

    def _function(self, name: str) -> tuple[str | None, list[Node]]:
        """The only tensor of bytes, or part of one, of which one is a function, and the nodes between them; None if it is
        none."""
        sources, nodes, left = set(), [], [name]  # type: set[str], list[Node], list[str]
        while left:
            each = left.pop()
            if self._is_bytes(each) or each in self._parts:
                sources.add(each)
                continue
            node = self._makers.get(each)
            if node is None or node.domain or node.op not in _FUNCTIONS:
                return None, []
            nodes.append(node)
            given = node.inputs if node.op in ELEMENTWISE else node.inputs[:1]
            left += [of for of in given if of and self._file.constant(of) is None]
        return (sources.pop() if len(sources) == 1 else None), nodes


def _rounds(nodes: Iterable[Node]) -> bool:
    """Whether the result of some nodes has other bytes than what they begin with."""
    return any(node.op in ELEMENTWISE for node in nodes)
