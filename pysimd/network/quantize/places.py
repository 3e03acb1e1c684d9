"""Where a model is quantised: at the ends of products, and where bytes between them only move.

A tensor has one scale and one zero. Operators that only move values, or choose among them, have the same ones before and
after them, so that bytes pass through: the result is the same as if they were quantised after it. A Split does where a
Concat joins its parts, which have one scale there: parts may need different ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pysimd.network.quantize.onnx_file import File, Node
from pysimd.network.quantize.products import Product
from pysimd.network.quantize.ranges import Range

MOVES = ("Concat", "DepthToSpace", "Flatten", "MaxPool", "Reshape", "SpaceToDepth", "Squeeze", "Transpose", "Unsqueeze")
#: Operators that, between two quantised tensors, are a function of a byte.
ELEMENTWISE = (
    "Add", "Clip", "Div", "Elu", "Erf", "Exp", "Gelu", "HardSigmoid", "HardSwish", "LeakyRelu", "Mish", "Mul", "PRelu",
    "Relu", "Sigmoid", "Softplus", "Sub", "Tanh",
)  # fmt: skip


class Places:
    """The tensors that are quantised.

    others : tensors besides those of products, which all that reads them reads from bytes.
    tensors : all of them, in no order. calibrated : those of which the ranges are needed.
    """

    def __init__(self, file: File, products: Sequence[Product], others: Iterable[str] = ()) -> None:
        self._splits = _joined_splits(file)
        self._makers = {name: node for node in file.nodes for name in node.outputs if name}
        self._results = {p.y for p in products if not p.is_last}.union(others)
        self._ends = {p.x for p in products} | self._results
        self.calibrated = sorted(self._ends)
        self._products = {p.node for p in products}
        self._group: dict[str, str] = {name: name for name in self.calibrated}
        self._moves: set[Node] = set()
        for name in self.calibrated:
            self._spread(name)
        while any(self._joins(node) for node in self._splits):  # of one may be a part of another
            pass

    @property
    def tensors(self) -> list[str]:
        return list(self._group)

    @property
    def parts(self) -> set[str]:
        """The parts of tensors of bytes that are split."""
        return {name for node in self._moves if node.op == "Split" for name in node.outputs}

    def reads_bytes(self, node: Node, i: int, name: str) -> bool:
        """Whether an input of a node, a tensor that is quantised, is read from its bytes."""
        if name in self._results or self._makers.get(name) in self._moves:
            return True
        return (node in self._products and i == 0) or (node in self._moves and (i == 0 or node.op == "Concat"))

    def ranges(self, of: Mapping[str, Range]) -> dict[str, Range]:
        """The range of each tensor, from those of the calibrated ones: that of all with which it shares a scale."""
        found: dict[str, Range] = {}
        for name, (least, most) in of.items():
            root = self._root(name)
            others = found.get(root, (least, most))
            found[root] = min(least, others[0]), max(most, others[1])
        return {name: found[self._root(name)] for name in self._group}

    def _root(self, name: str) -> str:
        while self._group[name] != name:
            name = self._group[name]
        return name

    def _spread(self, name: str) -> None:
        """Gives the inputs of what moves values the scale of its result."""
        node = self._makers.get(name)
        if node is None or node.op not in MOVES or node.domain or node in self._moves or not self._moved(node):
            return
        self._moves.add(node)
        for given in _data(node):
            self._group.setdefault(given, given)
            self._group[self._root(given)] = self._root(name)
            self._spread(given)

    def _joins(self, node: Node) -> bool:
        """Gives the input of a Split the scale of its parts, if that is the same: they need no other ranges for it."""
        parts = {self._root(name) if name in self._group else "" for name in node.outputs}
        if node in self._moves or len(parts) > 1 or "" in parts or not self._comes_from_bytes(node.inputs[0]):
            return False
        self._moves.add(node)
        given = node.inputs[0]
        self._group.setdefault(given, given)
        self._group[self._root(given)] = parts.pop()
        self._spread(given)
        return True

    def _moved(self, node: Node) -> bool:
        """Whether all that a node moves comes from bytes, or from a function of bytes."""
        if any(node.outputs[1:]):
            return False
        return all(self._comes_from_bytes(name) for name in _data(node))

    def _comes_from_bytes(self, name: str) -> bool:
        if name in self._group:
            return True
        node = self._makers.get(name)
        if node is None or node.domain:
            return False
        if node in self._splits:
            return self._comes_from_bytes(node.inputs[0])
        return node.op in ELEMENTWISE or (node.op in MOVES and self._moved(node))


def _joined_splits(file: File) -> list[Node]:
    """Each Split whose parts one Concat reads, as in the blocks of a YOLOv8."""
    joined = [set(node.inputs) for node in file.nodes if node.op == "Concat" and not node.domain]
    splits = [node for node in file.nodes if node.op == "Split" and not node.domain]
    return [node for node in splits if any(names.issuperset(node.outputs) for names in joined)]


def _data(node: Node) -> Iterable[str]:
    return node.inputs if node.op == "Concat" else node.inputs[:1]
