"""A place in one block of memory for each tensor that a network computes.

Tensors that are not needed at the same time share memory, which is then still in the caches. A tensor may be part of
another: what Concat joins is written into its part of the result, and a Slice, like a Reshape, is another view of its input.
Such nodes have nothing to do.
"""

from __future__ import annotations

import sys
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from math import prod
from operator import le
from typing import Any, NamedTuple

import numpy as np

from pysimd.annotations import Array, Shape
from pysimd.network.graph import Graph, Node, Type
from pysimd.network.records import record

LINE = 128  # bytes of two cache lines, which processors fetch together
_VIEW = 64  # least bytes of a pixel of a view
GAP = 576  # bytes after each tensor, so that tensors have different offsets within a page
_FEW = 150  # roots, of which each is compared with all before it
_FEW_ROOTS = 1000  # all pairs of which can be compared
_CACHED = 1 << 20  # bytes of a tensor that the usual second cache holds

# Operators whose arrays may be some channels of larger ones: all of them in NHWC or another order with channels last. Of
# Convolution and Linear this includes what they add.
_PIXELS = {
    "AveragePool", "Conv", "ConvTranspose", "Linear", "MaxPool", "MergedConvolution", "Prelu", "QuantizedConv",
    "QuantizedLinear", "Resize", "Scale", "Table8", "Unary",
}  # fmt: skip
# Those that copy elements, from any array, and into any.
_COPIES = {"Concat", "Expand", "Slice", "Transpose"}


@record(frozen=True)
class Place:
    """An array within a root: a tensor with memory of its own. Offset and strides are in bytes."""

    root: str
    offset: int
    shape: Shape
    strides: Shape

    itemsize: int

    @property
    def is_dense(self) -> bool:
        """Whether the array has no gaps."""
        step = self.itemsize
        for n, stride in zip(reversed(self.shape), reversed(self.strides)):
            if n != 1 and stride != step:
                return False
            step *= n
        return True

    @property
    def has_pixels(self) -> bool:
        """Whether the last dimension is dense, and all positions in the others are at one distance."""
        if not self.shape or (self.shape[-1] != 1 and self.strides[-1] != self.itemsize):
            return False
        step = 0
        for n, stride in zip(self.shape[-2::-1], self.strides[-2::-1]):
            if n != 1:
                if step and stride != step:
                    return False
                step = stride * n
        return True

    def interleaves(self, other: Place) -> bool:
        """Whether both are in one root, and one begins before the other ends; parts of the same pixels are apart."""
        within = self.root == other.root and self.offset < other._end and other.offset < self._end
        return within and not (self.has_pixels and other.has_pixels)

    @property
    def _end(self) -> int:
        return self.offset + sum((n - 1) * stride for n, stride in zip(self.shape, self.strides)) + self.itemsize

    def part(self, starts: Sequence[int], steps: Sequence[int], sizes: Shape) -> Place:
        """Some elements of each dimension."""
        offset = self.offset + sum(start * stride for start, stride in zip(starts, self.strides))
        strides = tuple(step * stride for step, stride in zip(steps, self.strides))
        return Place(self.root, offset, sizes, strides, self.itemsize)


def _place(root: str, offset: int, of: Type) -> Place:
    """A dense array."""
    itemsize = np.dtype(of.dtype).itemsize
    strides = tuple(prod(of.shape[i + 1 :]) * itemsize for i in range(len(of.shape)))
    return Place(root, offset, of.shape, strides, itemsize)


@record(frozen=True)
class Arrangement:
    """The places of tensors, the times at which their roots are in use, and the nodes without work."""

    places: Mapping[str, Place]
    types: Mapping[str, Type]
    lives: Mapping[str, tuple[int, int]]
    idle: frozenset[Node]


@record(frozen=True)
class Plan:
    """The places of tensors, the offsets of roots in the block, the bytes of the block, and the nodes without work."""

    places: Mapping[str, Place]
    types: Mapping[str, Type]
    offsets: Mapping[str, int]
    size: int
    idle: frozenset[Node]

    def array(self, block: Array, name: str) -> Array:
        """The array of a tensor, over the bytes of the block."""
        place = self.places[name]
        begin = self.offsets[place.root] + place.offset
        dtype = np.dtype(self.types[name].dtype)
        if place.is_dense:
            return block[begin : begin + prod(place.shape) * dtype.itemsize].view(dtype).reshape(place.shape)
        last = sum((n - 1) * stride for n, stride in zip(place.shape, place.strides)) + dtype.itemsize
        return np.ndarray(place.shape, dtype, block[begin : begin + last], 0, place.strides)


def plan_of(graph: Graph) -> Plan:
    """The plan of a graph of stored tensors; see :mod:`pysimd.network.layouts`."""
    return packed(arranged(graph))


def arranged(graph: Graph) -> Arrangement:
    """The places of all tensors."""
    places = _Places(graph)
    return Arrangement(places.found, graph.types, _lives(graph, places.found), frozenset(places.idle))


def packed(of: Arrangement) -> Plan:
    """The plan in which roots share memory if they are in use at different times."""
    offsets, size = packed_roots(of.lives, {name: of.types[name].nbytes for name in of.lives})
    return Plan(of.places, of.types, offsets, size, of.idle)


def accepts_gaps(graph: Graph, node: Node, name: str) -> bool:
    """Whether a node can read or write this tensor as a channel slice of a larger one."""
    if node.operator in _COPIES:
        return True
    if node.operator == "Binary":  # by the function of several tensors
        shapes = [graph.shape(each) for each in node.inputs]
        simple = node.attributes["function"] in ("add", "multiply")  # of several, a maximum drops NaN
        return simple and shapes[0] == shapes[1] and node.attributes["activation"][0] == "identity"
    if node.operator not in _PIXELS or (node.operator == "Linear" and len(graph.shape(node.inputs[1])) != 2):
        return False
    if name in node.inputs and node.inputs.index(name) in (1, 2) and node.operator != "Linear":
        return False
    rank = len(graph.shape(name))
    return bool(node.attributes.get("layout", "nhwc") == "nhwc" and node.attributes.get("axis", rank - 1) == rank - 1)


class _Places:
    """The places of all tensors, and the nodes that have nothing to do."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self.found: dict[str, Place] = {}
        self.idle: set[Node] = set()
        self._own = {*graph.inputs, *graph.outputs}
        # Results first: the inputs of a Concat are parts of it.
        for node in reversed(graph.nodes):
            if node.operator == "Concat":
                self._join(node)
        for name in graph.inputs:
            self._root(name)
        for node in graph.nodes:
            self._place(node)

    def _root(self, name: str) -> Place:
        if name not in self.found:
            self.found[name] = _place(name, 0, self._graph.types[name])
        return self.found[name]

    def _place(self, node: Node) -> None:
        if node.operator in ("Reshape", "Slice") and node.output not in self._own and node.output not in self.found:
            place = self._viewed(node)
            if place is not None and self._fits(node.output, place) and not self._copied_within(node.output, place, None):
                self.found[node.output] = place
                self.idle.add(node)
                return
        for name in node.outputs:
            self._root(name)

    def _viewed(self, node: Node) -> Place | None:
        """Where the output of a Reshape or of a Slice lies within its input; None if it does not."""
        source, a = self.found.get(node.inputs[0]), node.attributes
        if source is None:
            return None
        if node.operator == "Reshape":
            return _place(source.root, source.offset, self._graph.types[node.output]) if source.is_dense else None
        return source.part(a["starts"], a["steps"], tuple(a["sizes"])) if min(a["steps"], default=1) > 0 else None

    def _fits(self, name: str, place: Place) -> bool:
        """Whether all that read a tensor can read it at this place."""
        return place.is_dense or (
            self._is_cheaper(place) and all(self._reads(user, name, place) for user in self._graph.users(name))
        )

    def _reads(self, user: Node, name: str, place: Place) -> bool:
        if user.operator in _COPIES:
            return True
        return accepts_gaps(self._graph, user, name) and place.has_pixels

    def _is_cheaper(self, place: Place) -> bool:
        """Whether a view costs less than a copy. Where pixels share lines with others, lines are fetched twice: in U-Net, 16
        of 32 channels of 224x224 as views take 1.02 times as long as copies (Zen 4); in text detectors, 24 of 48 channels of
        320x320 and 16 of 32 of 320x320 0.95 of the whole model's time (Emerald Rapids)."""
        return place.shape[-1] * place.itemsize >= _VIEW or self._graph.types[place.root].nbytes <= _CACHED

    def _join(self, node: Node) -> None:
        """Places the inputs of a Concat in its result, where those that write and read them can do so."""
        whole = self.found[node.output] if node.output in self.found else self._root(node.output)
        axis = node.attributes["axis"]
        begin, times = 0, Counter(node.inputs)
        for name in node.inputs:
            shape = self._graph.shape(name)
            starts = [begin if i == axis else 0 for i in range(len(shape))]
            place = whole.part(starts, [1] * len(shape), shape)
            begin += shape[axis]
            if times[name] == 1:
                self._claim(node, name, place)

    def _claim(self, node: Node, name: str, place: Place) -> None:
        """Gives a tensor its place, or the one of which it is another view."""
        producer = self._graph.producer(name)
        if self._is_taken(name) or producer is None or not self._fits(name, place):
            return
        while producer is not None and producer.operator == "Reshape" and place.is_dense:
            (source,) = producer.inputs
            if self._is_taken(source) or not all(self._is_view(user) for user in self._graph.users(source)):
                break
            name, producer = source, self._graph.producer(source)
            place = _place(place.root, place.offset, self._graph.types[source])
        if producer is None or len(producer.outputs) > 1 or producer.operator in ("Reshape", "Slice", "Host"):
            return
        if self._copied_within(name, place, node):
            return
        if place.is_dense or (accepts_gaps(self._graph, producer, name) and place.has_pixels):
            self.found[name] = place

    def _copied_within(self, name: str, place: Place, join: Node | None) -> bool:
        """Whether a node other than `join` would copy elements between this place and another one among which they lie,
        which the copying functions refuse."""
        producer = self._graph.producer(name)
        others = [user.output for user in self._graph.users(name) if user.operator in _COPIES and user is not join]
        if producer is not None and producer.operator in _COPIES and join is not None:
            others += producer.given
        return any(place.interleaves(self.found[other]) for other in others if other in self.found)

    def _is_view(self, node: Node) -> bool:
        return node.operator in ("Reshape", "Slice") and node.output not in self._own

    def _is_taken(self, name: str) -> bool:
        return name in self._own or name in self.found or name in self._graph.constants


def _lives(graph: Graph, places: Mapping[str, Place]) -> dict[str, tuple[int, int]]:
    """For each root, the first node that writes it or a part of it, and the last one that reads any: numbers of nodes,
    0 before the first one."""
    end = len(graph.nodes) + 1
    lives: dict[str, tuple[int, int]] = {}

    def used(name: str, number: int) -> None:
        if name in places:
            root = places[name].root
            first, last = lives.get(root, (number, number))
            lives[root] = min(first, number), max(last, number)

    for name in graph.inputs:
        used(name, 0)
        used(name, end)
    for number, node in enumerate(graph.nodes, 1):
        for name in (*node.given, *node.outputs):
            used(name, number)
    for name in graph.outputs:
        used(name, end)
    return lives


class Places(NamedTuple):
    """Where the roots are in a block, for all shapes for which each has at most so many bytes.

    limits : the bytes of each root that fit.
    total : the sum of these.
    offsets : of the roots in the block.
    size : the bytes of the block.
    """

    limits: Sequence[int]
    total: int
    offsets: Mapping[str, int]
    size: int

    def fit(self, sizes: Sequence[int], room: float) -> bool:
        """Whether roots of these bytes fit, and the places are for at most so many times as many."""
        return self.total <= room * sum(sizes) and all(map(le, sizes, self.limits))


def together(lives: Mapping[str, tuple[int, int]]) -> dict[str, list[str]] | None:
    """The roots that are in use at the same time as each; None if they are many, for which this takes long."""
    if len(lives) > _FEW_ROOTS:
        return None
    return {
        name: [other for other, (first, last) in lives.items() if first <= died and born <= last and other != name]
        for name, (born, died) in lives.items()
    }


def packed_roots(
    lives: Mapping[str, tuple[int, int]], sizes: Mapping[str, int], known: Mapping[str, Sequence[str]] | None = None
) -> tuple[dict[str, int], int]:
    """The offset of each root, and the total size: largest first, each at the lowest offset that is free meanwhile.

    known : those that are in use at the same time, if they are known from an earlier shape.

    Raises MemoryError for more bytes than a process can address.
    """
    taken: Any = _taken(lives) if known is None else _Known(known)
    offsets: dict[str, int] = {}
    total = 0
    for name in sorted(lives, key=lambda name: -sizes[name]):
        size, begin = sizes[name] + GAP, 0
        for low, high in taken.during(name, *lives[name]):
            if begin + size <= low:
                break
            begin = max(begin, high)
        end = -(begin + size) // LINE * -LINE
        taken.add(name, *lives[name], begin, end)
        offsets[name], total = begin, max(total, end)
    if total > sys.maxsize:
        raise MemoryError(f"no memory for {total} bytes of a network")
    return offsets, total


def _taken(lives: Mapping[str, tuple[int, int]]) -> Any:
    return _Few() if len(lives) <= _FEW else _Taken(max((died for _, died in lives.values()), default=0))


class _Few:
    """The bytes of the block that are taken, of few roots: comparing with all takes a third of the time of trees."""

    def __init__(self) -> None:
        self._spans: list[tuple[int, int, int, int]] = []

    def add(self, name: str, born: int, died: int, low: int, high: int) -> None:
        """Takes bytes from a time to another one."""
        self._spans.append((born, died, low, high))

    def during(self, name: str, born: int, died: int) -> list[tuple[int, int]]:
        """The spans of bytes, sorted, that are taken at some time between two."""
        return sorted([(low, high) for first, last, low, high in self._spans if first <= died and born <= last])


class _Known:
    """The bytes of the block that are taken, where it is known what is in use at the same time."""

    def __init__(self, together: Mapping[str, Sequence[str]]) -> None:
        self._together = together
        self._spans: dict[str, tuple[int, int]] = {}

    def add(self, name: str, born: int, died: int, low: int, high: int) -> None:
        """Takes bytes for a root."""
        self._spans[name] = low, high

    def during(self, name: str, born: int, died: int) -> list[tuple[int, int]]:
        """The spans of bytes, sorted, that are taken while a root is in use."""
        spans = self._spans
        return sorted([spans[other] for other in self._together[name] if other in spans])


class _Taken:
    """The bytes of the block that are taken, by time: two binary trees over the times, numbered as a heap, so that node 1 is
    all times and a node i has the halves 2 i and 2 i + 1. What is in use during a life is what is in use at its begin, and
    what comes into use until its end; of both, few nodes have it all.
    """

    def __init__(self, last: int) -> None:
        self._leaves = 1 << last.bit_length()  # the number of the first one
        self._used: dict[int, _Spans] = {}  # during all of a node's times
        self._begun: dict[int, _Spans] = {}  # in use from one of a node's times on

    def add(self, name: str, born: int, died: int, low: int, high: int) -> None:
        """Takes bytes from a time to another one."""
        for node in self._nodes(born, died):
            _spans(self._used, node).add(low, high)
        for node in self._above(born):
            if not _spans(self._begun, node).add(low, high):
                break  # what this node has, those above it have

    def during(self, name: str, born: int, died: int) -> list[tuple[int, int]]:
        """The spans of bytes, sorted, that are taken at some time between two."""
        found: list[tuple[int, int]] = []
        for nodes, tree in ((self._above(born), self._used), (self._nodes(born + 1, died), self._begun)):
            for node in nodes:
                if node in tree:
                    found += zip(tree[node].lows, tree[node].highs)
        return sorted(found)

    def _above(self, time: int) -> list[int]:
        """The nodes that include a time, the smallest first."""
        leaf = self._leaves + time
        return [leaf >> i for i in range(leaf.bit_length())]

    def _nodes(self, first: int, last: int) -> list[int]:
        """The fewest nodes that together are the times from the first to the last."""
        left, right = self._leaves + first, self._leaves + last + 1
        found: list[int] = []
        while left < right:
            if left & 1:
                found.append(left)
            if right & 1:
                found.append(right - 1)
            left, right = (left + 1) >> 1, right >> 1
        return found


class _Spans:
    """Spans of bytes, those that touch as one, sorted."""

    __slots__ = ("highs", "lows")

    def __init__(self) -> None:
        self.lows: list[int] = []
        self.highs: list[int] = []

    def add(self, low: int, high: int) -> bool:
        """Adds a span; returns whether bytes of it are new."""
        lows, highs = self.lows, self.highs
        i, j = bisect_left(highs, low), bisect_right(lows, high)
        if i < j:
            if lows[i] <= low and high <= highs[i]:
                return False
            low, high = min(low, lows[i]), max(high, highs[j - 1])
        lows[i:j], highs[i:j] = [low], [high]
        return True


def _spans(tree: dict[int, _Spans], node: int) -> _Spans:
    if node not in tree:
        tree[node] = _Spans()
    return tree[node]


def memory_text(tensors: int, weights: int) -> str:
    """Bytes for tensors and for packed weights, for people."""
    texts = (f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.1f} KB" for size in (tensors, weights))
    return "{} for tensors, {} for packed weights".format(*texts)
