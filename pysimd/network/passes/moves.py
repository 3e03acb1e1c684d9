"""Nodes that only move elements: those that change nothing, or that several others do, are left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import heappop, heappush
from math import prod
from typing import Any

import numpy as np

from pysimd.annotations import Array, Shape
from pysimd.network.build import SMALL
from pysimd.network.graph import Graph, Node
from pysimd.network.open_arrays import is_array
from pysimd.network.passes.patterns import Parameters, clip, is_plain, linear_step, made, parameter, replacement
from pysimd.network.passes.rewrite import Change, Draft, starts_from
from pysimd.network.sizes import Size, broadcast_shapes

_LARGE = 16 << 20  # bytes of weights
_SINGLE, _OF_INTEGERS = frozenset([bool, float, int, str]), {int}
_MAY_CHANGE_NOTHING = {"Binary", "Concat", "Expand", "Pad", "Reduce", "Reshape", "Slice", "Transpose", "Unary"}


def shared(draft: Draft) -> None:
    """Leaves out nodes that change nothing, and puts one node in place of several that compute the same."""
    if shared not in draft.remembered:
        draft.remembered[shared] = _Shared(draft)
    draft.remembered[shared].look()


class _Shared:
    """What nodes compute, as far as they have been looked at: once each, and again near changes."""

    def __init__(self, draft: Draft) -> None:
        self._draft, self._results = draft, frozenset(draft.outputs)
        self._constants: dict[Any, tuple[str, Array]] = {}  # the first of small ones with equal contents
        self._looked_at = 0  # of the constants that have been made
        self._added = 0  # of the nodes that have been added
        self._alike: dict[Any, Node] = {}  # the first one by operator and inputs, or the last of those that were alone
        self._several: set[Any] = set()  # the keys of those that were not
        self._equal: dict[Any, Node] = {}  # and by attributes, where several nodes are alike
        self._source: dict[str, str] = {}  # of tensors that are others; below, too, for one walk in execution order
        self._made: dict[Node, Any] = {}  # nodes with these as inputs, with their places
        self._next: list[tuple[Any, Node]] = []  # to be looked at, by their places

    def look(self) -> None:
        """One walk over what has changed since the last one."""
        draft = self._draft
        self._source, self._made = self._equal_constants(), {}
        found = dict.fromkeys(user for name in self._source for user in draft.users(name))
        found.update((node, None) for node in draft.added[self._added :] if node in draft)
        self._added = len(draft.added)
        self._next = [(draft.place(node), node) for node in draft.ordered(found)]  # in order, and so a heap
        changes, last = [], None
        while self._next:
            place, node = heappop(self._next)
            if node is last:
                continue
            last = node
            given = node
            if self._source and not self._source.keys().isdisjoint(node.inputs):
                inputs = tuple(self._source.get(name, name) for name in node.inputs)
                given = Node(node.operator, inputs, node.outputs, node.attributes, node.origin)
                self._made[given] = place
            if not self._is_other(given) and given is not node:
                changes.append(Change([node], [given]))
        draft.apply(changes)

    def _is_other(self, node: Node) -> bool:
        """Whether the outputs of a node are other tensors."""
        draft = self._draft
        if not self._results.isdisjoint(node.outputs):
            return False
        if node.operator in _MAY_CHANGE_NOTHING and changes_nothing(draft, node):
            self._replace(node, [_kept_operand(draft, node)])
            return True
        first = node if node.operator == "Host" else self._first(node)
        if first is not node:
            self._replace(node, first.outputs)
        return first is not node

    def _replace(self, node: Node, outputs: Sequence[str]) -> None:
        """Other tensors in place of the outputs of a node, which nothing reads then."""
        self._source.update(zip(node.outputs, outputs))
        for user in {user: None for name in node.outputs for user in self._draft.users(name)}:
            heappush(self._next, (self._draft.place(user), user))

    def _place(self, node: Node) -> Any:
        return self._made[node] if node in self._made else self._draft.place(node)

    def _first(self, node: Node) -> Node:
        """The first node that computes the same. Attributes are compared where the rest is equal, which is rare."""
        key = node.operator, node.inputs
        alike = self._alike.setdefault(key, node)
        if alike is node:
            return node
        if key not in self._several and alike not in self._made and alike not in self._draft:  # replaced by this one
            self._alike[key] = node
            return node
        self._several.add(key)
        self._equal.setdefault((key, frozen(alike.attributes)), alike)
        first = self._equal.setdefault((key, frozen(node.attributes)), node)
        if first is node:
            return node
        if first in self._made or first in self._draft:
            if self._place(first) < self._place(node):
                return first
            self._replace(first, node.outputs)
        self._equal[key, frozen(node.attributes)] = node
        return node

    def _equal_constants(self) -> dict[str, str]:
        """For small constants that equal an earlier one the name of the first of these."""
        found: dict[str, str] = {}
        constants, made = self._draft.constants, self._draft.made_constants
        for name in made[self._looked_at :]:
            array = constants.get(name)
            if array is None or is_array(array) or array.size > SMALL:
                continue
            key = array.dtype.str, array.shape, array.tobytes()
            first, same = self._constants.get(key, (name, array))
            if constants.get(first) is not same:
                first = name
            if first == name:
                self._constants[key] = name, array
            else:
                found[name] = first
        self._looked_at = len(made)
        return found


def frozen(value: Any) -> Any:
    """An attribute as something that can be compared and hashed."""
    kind = type(value)
    if kind in _SINGLE:
        return kind.__name__, value
    if (kind is tuple or kind is list) and set(map(type, value)) == _OF_INTEGERS:  # as nearly all are
        return "integers", tuple(value)
    if isinstance(value, Mapping):
        return tuple(sorted((key, frozen(each)) for key, each in value.items()))
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, (list, tuple)):
        return tuple(map(frozen, value))
    if isinstance(value, Size):
        return value.formula
    if is_array(value):
        return id(value)
    return type(value).__name__, value


def _kept_operand(graph: Graph, node: Node) -> str:
    """The input that is the output of a node that changes nothing, "" if all are constants."""
    constants = graph.constants
    for name in node.given:
        if name not in constants:
            return name
    return ""


def changes_nothing(graph: Graph, node: Node) -> bool:
    """Whether the output of a node is one of its inputs.

    Types are compared last: that an open size is by chance that of another dimension would be a condition of the plan.
    """
    if node.operator not in _MAY_CHANGE_NOTHING or not is_plain(node):
        return False
    kept = _kept_operand(graph, node)
    if not kept:
        return False
    before, after = graph.types[kept], graph.types[node.output]
    return _keeps_elements(graph, node, before.shape) and before == after


def _keeps_elements(graph: Graph, node: Node, shape: Shape) -> bool:
    """Whether the output of a node is one of its inputs, if its shape is that of the input."""
    a = node.attributes
    if node.operator in ("Reshape", "Expand") or (node.operator == "Concat" and len(node.inputs) == 1):
        return True
    if node.operator == "Slice":
        return not any(a["starts"]) and all(step == 1 for step, n in zip(a["steps"], a["sizes"]) if n > 1)
    if node.operator == "Pad":
        return not any(n for both in a["pads"] for n in both)
    if node.operator == "Transpose":
        return _order(a["perm"], shape) == sorted(_order(a["perm"], shape))
    if node.operator == "Reduce":
        return a["function"] in ("mean", "sum", "max", "min", "prod")
    if node.operator == "Binary":
        return (linear_step(graph, node.output) or ("", 0.0, 0.0))[1:] == (1, 0)
    bounds = clip(graph, node.output) if node.operator == "Unary" else None
    return bounds is not None and bounds[1:] == (-np.inf, np.inf)


def _order(perm: Sequence[int], shape: Shape) -> list[int]:
    """The axes in memory after a Transpose, without those of one element."""
    return [axis for axis in perm if shape[axis] != 1]


# ---- two nodes as one


@starts_from("Reshape", "Transpose")
def joined(graph: Graph, node: Node) -> Change | None:
    """Transposes in sequence, Reshapes in sequence, and a Transpose that only a Reshape can be, too."""
    inner = made(graph, node.inputs[0], node.operator)
    if inner is not None:
        attributes = dict(node.attributes)
        if node.operator == "Transpose":
            attributes = {"perm": tuple(inner.attributes["perm"][axis] for axis in node.attributes["perm"])}
        return replacement([node], node.operator, inner.inputs, attributes, also=(inner,))
    if node.operator == "Transpose":
        order = _order(node.attributes["perm"], graph.shape(node.inputs[0]))
        if order == sorted(order):
            return replacement([node], "Reshape", node.inputs, {"shape": graph.shape(node.output)})
    return None


@starts_from("Slice")
def part_of_parts(graph: Graph, node: Node) -> Change | None:
    """A Slice of a Concat reads the inputs that it needs."""
    whole, a = made(graph, node.inputs[0], "Concat"), node.attributes
    inner = made(graph, node.inputs[0], "Slice")
    if inner is not None:
        return _part_of_part(node, inner)
    if whole is None or len(whole.inputs) == 1:
        return None
    rank = len(graph.shape(node.output))
    axis = whole.attributes["axis"] % rank
    start, step, size = (a[name][axis] for name in ("starts", "steps", "sizes"))
    if step != 1 or size == 0:
        return None
    begin = 0
    for name in whole.inputs:
        end = begin + graph.shape(name)[axis]
        if begin <= start and start + size <= end:
            starts = tuple(n - begin if i == axis else n for i, n in enumerate(a["starts"]))
            return replacement([node], "Slice", (name,), {**a, "starts": starts})
        begin = end
    return None


def _part_of_part(node: Node, inner: Node) -> Change:
    """Slices in sequence."""
    a, b = inner.attributes, node.attributes
    starts = tuple(p + q * step for p, q, step in zip(a["starts"], b["starts"], a["steps"]))
    steps = tuple(p * q for p, q in zip(a["steps"], b["steps"]))
    return replacement([node], "Slice", inner.inputs, {**b, "starts": starts, "steps": steps}, also=(inner,))


@starts_from("Concat")
def whole_of_parts(graph: Graph, node: Node) -> Change | None:
    """A Concat of what only it concatenates; one of neighbouring Slices as one Slice."""
    axis = node.attributes["axis"] % len(graph.shape(node.output))
    names: list[str] = []
    inner: list[Node] = []
    for name in node.inputs:
        producer = made(graph, name, "Concat")
        single = producer is not None and graph.user(name) is node and node.inputs.count(name) == 1
        if producer is not None and single and producer.attributes["axis"] % len(graph.shape(name)) == axis:
            inner.append(producer)
            names += producer.inputs
        else:
            names.append(name)
    if inner:
        return replacement([node, *inner], "Concat", names, {**node.attributes, "axis": axis})
    return _neighbours(graph, node, axis)


def _neighbours(graph: Graph, node: Node, axis: int) -> Change | None:
    """Slices of one tensor, each beginning where the one before it ends, as one Slice."""
    parts = [part for name in node.inputs if (part := made(graph, name, "Slice")) is not None]
    if len(parts) != len(node.inputs) or not all(_follows(a, b, axis) for a, b in zip(parts, parts[1:])):
        return None
    attributes = {**parts[0].attributes, "sizes": graph.shape(node.output)}
    return replacement([node], "Slice", parts[0].inputs, attributes)


def _follows(first: Node, second: Node, axis: int) -> bool:
    """Whether a Slice begins where another one of the same tensor ends, and is equal otherwise."""
    a, b = first.attributes, second.attributes
    rest = [i for i in range(len(a["sizes"])) if i != axis]
    same = all(a[key][i] == b[key][i] for key in ("starts", "steps", "sizes") for i in rest)
    end = a["starts"][axis] + a["sizes"][axis]
    return same and first.inputs == second.inputs and a["steps"][axis] == b["steps"][axis] == 1 and b["starts"][axis] == end


@starts_from("Binary", "Elementwise", "ScatterElements", "Select", needs=("Expand",))
def broadcast(graph: Graph, node: Node) -> Change | None:
    """Functions of several tensors broadcast by themselves: an Expand before them has nothing to do. So do indices."""
    scatters = node.operator == "ScatterElements"
    for place, name in enumerate(node.inputs):
        expand = made(graph, name, "Expand") if place == 1 or not scatters else None
        if expand is not None and len(graph.shape(expand.inputs[0])) == len(graph.shape(name)):
            inputs = tuple(expand.inputs[0] if i == place else other for i, other in enumerate(node.inputs))
            if scatters or broadcast_shapes(*map(graph.shape, inputs)) == graph.shape(node.output):
                return replacement([node], node.operator, inputs, node.attributes, also=(expand,))
    return None


@starts_from("ScatterElements")
def repeated_indices(graph: Graph, node: Node) -> Change | None:
    """Constant indices that an Expand has repeated: whole rows are updated by one index."""
    indices = graph.constants.get(node.inputs[1])
    if indices is None or is_array(indices) or indices.size == 0:
        return None
    few = indices
    for axis, n in enumerate(indices.shape):
        first = few.take([0], axis)
        if axis != node.attributes["axis"] and n > 1 and (few == first).all():
            few = first
    if few.size == indices.size:
        return None
    parameters = Parameters(graph, node.output)
    inputs = (node.inputs[0], parameters.add("I", few), node.inputs[2])
    return replacement([node], "ScatterElements", inputs, node.attributes, parameters)


@starts_from("AveragePool", "MaxPool")
def global_pooling(graph: Graph, node: Node) -> Change | None:
    """A pooling whose window is the whole image."""
    if any(node.attributes["pads"]):
        return None
    size = graph.shape(node.inputs[0])[2:]
    if tuple(node.attributes["kernel"]) != size or graph.shape(node.output)[2:] != (1, 1):
        return None
    if graph.types[node.output].dtype != "float32":
        return None
    function = "mean" if node.operator == "AveragePool" else "max"
    return replacement([node], "Reduce", node.inputs, {"function": function, "axes": (2, 3), "keepdims": True})


@starts_from("Linear", needs=("Reshape",))
def contracted(graph: Graph, node: Node) -> Change | None:
    """A Linear of a Reshape that joins dimensions, with weights for each of these: images need not be in NCHW for it.

    Where the image is stored in another order, the weights are. For very large ones this needs more memory and time than it
    saves in all runs: the image of VGG-16 has 0.1 MB, its weights have 411.
    """
    flat = made(graph, node.inputs[0], "Reshape")
    weight = parameter(graph, node, 1)
    if flat is None or weight is None or weight.ndim != 2:
        return None
    shape, lead = graph.shape(flat.inputs[0]), graph.shape(flat.output)[:-1]
    inner = shape[len(lead) :]
    if shape[: len(lead)] != lead or prod(inner) != weight.shape[0] or sum(n != 1 for n in inner) < 2:
        return None
    if weight.nbytes > _LARGE and weight.size > 64 * prod(shape):
        return None
    parameters = Parameters(graph, node.output)
    inputs = (flat.inputs[0], parameters.add("W", weight.reshape(*inner, -1)), *node.inputs[2:])
    return replacement([node], "Linear", inputs, node.attributes, parameters, also=(flat,))


MATCHES = (joined, part_of_parts, whole_of_parts, broadcast, repeated_indices, global_pooling, contracted)
