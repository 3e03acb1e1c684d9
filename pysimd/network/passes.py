"""Fusion: nodes in groups that one call can compute, formed by a sequence of small passes.

Each pass takes groups and returns groups. Groups are joined only if nothing else reads the values between them, since these
are not stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Callable

from pysimd.network.graph import Graph, Node

ACTIVATIONS = ("Clip", "HardSwish", "LeakyRelu", "Relu")


@dataclass(frozen=True, eq=False)
class Part:
    """A node, with the activation of its result if there is one. Nodes that only reshape are left out: `inputs` are the
    tensors before them, `output` is the one after them."""

    node: Node
    inputs: tuple[str, ...]  # except constants
    output: str
    activation: Node | None = None

    @property
    def operator(self) -> str:
        return self.node.operator


@dataclass(frozen=True, eq=False)
class Group:
    """Parts that are computed together, in sequence."""

    parts: tuple[Part, ...]

    @property
    def output(self) -> str:
        return self.parts[-1].output

    @property
    def inputs(self) -> tuple[str, ...]:
        """The tensors that other groups compute, each once."""
        inner = {part.output for part in self.parts}
        return tuple(dict.fromkeys(name for part in self.parts for name in part.inputs if name not in inner))


Groups = list[Group]
Follower = Callable[[Group], "Group | None"]
_Match = Callable[[Graph, Group, Follower], Sequence[Group]]


def fused(graph: Graph) -> Groups:
    """Runs all passes; the groups are in an order in which they can be computed."""
    groups = parts_of(graph)
    for match in (merged_convolution, convolution_and_addition):
        groups = joined(graph, groups, match)
    return groups


# ---- the first pass: nodes with their activations


def _reader(graph: Graph, name: str) -> Node | None:
    """The only node that reads a tensor."""
    users = graph.users(name)
    return users[0] if len(users) == 1 and name not in graph.outputs else None


def parts_of(graph: Graph) -> Groups:
    """Each node with its activation as a group; Flatten before Gemm and any Reshape need no computation."""
    groups: Groups = []
    done: set[Node] = set()
    for node in graph.nodes:
        if node not in done:
            part, nodes = _part(graph, node)
            done.update(nodes)
            groups.append(Group((part,)))
    return groups


def _part(graph: Graph, node: Node) -> tuple[Part, list[Node]]:
    """The part that begins with a node, and the nodes in it."""
    nodes = [node]
    follower = _reader(graph, node.output)
    if node.operator == "Flatten" and follower and follower.operator == "Gemm":
        nodes.append(follower)
    main, activation = nodes[-1], None
    while (follower := _reader(graph, nodes[-1].output)) is not None:
        if follower.operator in ACTIVATIONS and activation is None:
            activation = follower
        elif follower.operator != "Reshape":
            break
        nodes.append(follower)
    inputs = tuple(name for name in node.inputs if name not in graph.constants)
    return Part(main, inputs, nodes[-1].output, activation), nodes


# ---- passes that join groups


def joined(graph: Graph, groups: Groups, match: _Match) -> Groups:
    """Joins the groups that `match` finds; starting from a group, it returns groups in execution order, or nothing."""
    readers: dict[str, Groups] = {}
    for group in groups:
        for name in group.inputs:
            readers.setdefault(name, []).append(group)

    def follower(group: Group) -> Group | None:
        found = readers.get(group.output, [])
        return found[0] if len(found) == 1 and group.output not in graph.outputs else None

    found: dict[Group, Group] = {}  # by the last of the joined groups, where all inputs are available
    inner: set[Group] = set()
    for group in groups:
        if group not in inner:
            matched = match(graph, group, follower)
            if matched and not inner & set(matched):
                inner.update(matched)
                found[matched[-1]] = Group(tuple(part for one in matched for part in one.parts))
    return [found.get(group, group) for group in groups if group in found or group not in inner]


def _only(group: Group | None, operator: str) -> bool:
    """Whether a group is a single node of this kind, with or without activation."""
    return group is not None and len(group.parts) == 1 and group.parts[0].operator == operator


def _fits(graph: Graph, group: Group | None, stage: int) -> bool:
    """Whether a merged convolution supports this part as its expansion (0), depthwise convolution (1), or projection (2)."""
    if group is None or not _only(group, "Conv"):
        return False
    node = group.parts[0].node
    (o, part, ky, kx), count, strides = graph.shape(node.inputs[1]), node.attributes["group"], node.attributes["strides"]
    if ky != kx or max(strides) > 3:
        return False
    if stage == 1:
        return bool(count == o == count * part) and ky in (3, 5, 7)
    return bool(count == 1) and (ky in (1, 3) if stage == 0 else ky == max(strides) == 1)


def merged_convolution(graph: Graph, group: Group, follower: Follower) -> Sequence[Group]:
    """Two or three convolutions of an inverted residual block; if three, also the addition of their input."""
    chain: Groups = []
    now: Group | None = group
    for stage in (0, 1, 2) if _fits(graph, group, 0) else (1, 2):
        if now is None or not _fits(graph, now, stage):
            break
        chain.append(now)
        now = follower(now)
    if len(chain) < 2:
        return ()
    if now is not None and len(chain) == 3 and _only(now, "Add") and not chain[-1].parts[0].activation:
        ends = {chain[0].inputs[0], chain[-1].output}
        if set(now.inputs) == ends:
            chain.append(now)
    return chain


def convolution_and_addition(graph: Graph, group: Group, follower: Follower) -> Sequence[Group]:
    """A convolution whose result is added to another image: the end of a residual block."""
    after = follower(group)
    if after and _only(group, "Conv") and not group.parts[0].activation and _only(after, "Add"):
        others = [name for name in after.parts[0].inputs if name != group.output]
        return (group, after) if len(others) == 1 else ()
    return ()
