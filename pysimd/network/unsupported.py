"""Why nodes and models cannot be converted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pysimd.errors import printable
from pysimd.network.records import record
from pysimd.network.source import SourceNode


class Unsupported(Exception):
    """Why a node cannot be converted.

    tensors : those of the graph whose values would have to be known.
    """

    def __init__(self, reason: str, tensors: Iterable[str] = ()) -> None:
        super().__init__(reason)
        self.tensors = tuple(tensors)


class NotHere(Exception):
    """A converter does not take these types of elements: NumPy computes the node."""


@record(frozen=True)
class UnsupportedNode:
    """A node that cannot be converted, and why; name is "" if it has none; its outputs then identify it.

    inputs : the inputs of the model whose values would have to be known, if they are few and small.
    """

    name: str
    operator: str
    reason: str
    inputs: tuple[str, ...] = ()


class UnsupportedModel(ValueError):
    """All the nodes of a model that cannot be converted.

    nodes : a list of :class:`UnsupportedNode`, in the order of the model.
    needed : the nodes of the source that need values which are computed at run time, each with the names of these tensors.
    """

    needed: Sequence[tuple[SourceNode, Sequence[str]]] = ()

    def __init__(self, name: str, nodes: Sequence[UnsupportedNode]) -> None:
        self.name, self.nodes = name, list(nodes)
        super().__init__(self._text())

    @property
    def is_of_known(self) -> bool:
        """Whether all that fails is the computation of what is known, such as a Gather beyond the end."""
        return all(" cannot be computed: " in node.reason for node in self.nodes)

    def _text(self) -> str:
        groups: dict[tuple[str, str], list[str]] = {}
        for node in self.nodes:
            source = f", from {' and '.join(map(repr, node.inputs))}" if node.inputs else ""
            groups.setdefault((node.operator, node.reason + source), []).append(node.name)
        count = len(self.nodes)
        lines = [
            f"{count} {'nodes' if count > 1 else 'node'} of {self.name!r} {'are' if count > 1 else 'is'} not supported:"
        ]
        for (operator, reason), names in groups.items():
            shown = ", ".join(repr(name) for name in names[:3])
            more = f" and {len(names) - 3} more" if len(names) > 3 else ""
            lines.append(f"  {printable(operator)}: {printable(reason)} ({shown}{more})")
        inputs = dict.fromkeys(name for node in self.nodes for name in node.inputs)
        if inputs:
            values = ", ".join(f"{name!r}: ..." for name in inputs)
            options = " ".join(f"--value {name}=..." for name in inputs)
            lines.append(printable(f"prepare(values={{{values}}}) makes constants of inputs; in a shell, {options}"))
        lines.append("pysimd.load(..., fallback={...}) takes Python functions for operators")
        return "\n".join(lines)

    def __reduce__(self) -> tuple[Any, ...]:
        return UnsupportedModel, (self.name, self.nodes)
