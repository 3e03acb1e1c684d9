"""A graph as the calls that compute it, whose memory and open sizes are not known yet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from pysimd._library import lib
from pysimd.annotations import Array
from pysimd.errors import shown
from pysimd.infrastructure import preference_number
from pysimd.network.binding import Binding, address_of
from pysimd.network.calls import Made, Steps, has_open_numbers, parts_of, with_arrays
from pysimd.network.contexts import Context, Contexts, created
from pysimd.network.graph import Graph, Node
from pysimd.network.layouts import placed
from pysimd.network.lower import lowered, named, read_by_calls
from pysimd.network.memory import arranged
from pysimd.network.open_arrays import full, is_array
from pysimd.network.operators import refuse_computed_weights
from pysimd.network.sizes import Size
from pysimd.network.views import Views


class Program:
    """The calls of a graph.

    graph : as built, or with what :func:`pysimd.network.passes.simplified` has joined; its sizes may be open.
    layout : how inputs and outputs of four dimensions are stored: "nchw", the order of the graph, or "nhwc".
    contexts : of other programs of the same weights, to share them.
    outputs : the names of the outputs, in the order of the graph, where a model gives an input back under the same name.
    is_open : whether sizes may be open.

    graph : the graph without the weights that contexts pack.
    stored : the graph of stored tensors.
    arrangement : the places of its tensors.
    numbers, nodes : those of its nodes that are computed.
    steps : what these are computed by.
    inputs, outputs : their views, by name.
    constants : the arrays that calls read, by name.
    """

    def __init__(
        self,
        graph: Graph,
        layout: str,
        contexts: Contexts,
        outputs: Iterable[str] | None = None,
        is_open: bool = True,
    ) -> None:
        if layout not in ("nchw", "nhwc"):
            raise ValueError(f"layout is {shown(layout)}, expected 'nchw' or 'nhwc'")
        refuse_computed_weights(graph)
        self.name, self.layout, self._contexts = graph.name, layout, contexts
        graph = _preferring(graph, preference_number(contexts.prefer))
        self.stored = stored = placed(graph, layout)
        self.graph = without_packed(graph)
        self.arrangement = arrangement = arranged(stored)
        self.numbers = [i for i, node in enumerate(stored.nodes) if node not in arrangement.idle]
        self.nodes = [stored.nodes[i] for i in self.numbers]
        views = Views(stored, arrangement.places)
        self.steps = [lowered(node, views) for node in self.nodes]
        #: The numbers of the steps whose contexts depend on sizes.
        self.open_contexts = [
            i for i, step in enumerate(self.steps) if is_open and step.made and has_open_numbers(step.made)
        ]
        are_open = set(self.open_contexts)
        self._keys = [self._key(step.made, i in are_open) for i, step in enumerate(self.steps)]
        scratch = {id(n) if isinstance(n, Size) else n: n for n in (0, *(step.scratch for step in self.steps))}
        self._scratch = tuple(scratch.values())
        read = {*stored.outputs, *(name for node in self.nodes for name in read_by_calls(node))}
        self.constants: dict[str, Array] = {name: array for name, array in stored.constants.items() if name in read}
        #: Those of the constants that do not depend on sizes.
        self.addresses = {name: address_of(array) for name, array in self.constants.items() if not is_array(array)}
        names = graph.outputs if outputs is None else outputs
        self.inputs = {name: views[of] for name, of in zip(graph.inputs, stored.inputs)}
        self.outputs = {name: views[of] for name, of in zip(names, stored.outputs)}

    def scratch(self, sizes: Mapping[int, Any]) -> int:
        """The bytes that steps share; sizes as of :meth:`contexts`."""
        return max(int(sizes.get(id(n), n)) for n in self._scratch)

    def contexts(self, sizes: Mapping[int, Any], progress: Callable[[float], Any] | None = None) -> Iterator[Context | None]:
        """Creates the contexts of all steps, None for those without one.

        sizes : what is in place of open sizes, and of arrays that depend on them, by the identity of these.
        progress : is called with the part of the weights that is packed, from 0 to 1.

        Raises ValueError, with the node, for what the library refuses.
        """
        weights = [0 if progress is None else self._weight(node) for node in self.nodes]
        done, total = 0, max(sum(weights), 1)
        for i, weight in enumerate(weights):
            yield self._context(i, sizes)
            if progress is not None:
                done += weight
                progress(done / total)

    def last_contexts(
        self, sizes: Mapping[int, Any], progress: Callable[[float], Any] | None = None
    ) -> list[Context | None]:
        """The same, if none are made later: the program forgets how, and each array with the last context that packs it.

        So what passes have computed and the packed weights are not all in memory at the same time. The largest weights are
        packed first, when the least is packed besides: the pages of the file that are read for it count as memory, too.
        """
        weights = [self._weight(node) if step.made else 0 for node, step in zip(self.nodes, self.steps)]
        done, total = 0, max(sum(weights), 1)
        self.stored = without_packed(self.stored)
        made: list[Context | None] = [None] * len(weights)
        for i in sorted(range(len(weights)), key=weights.__getitem__, reverse=True):
            made[i] = self._context(i, sizes)
            step = self.steps[i]
            self.steps[i], self._keys[i] = Steps(step.calls, None, step.scratch), None
            done += weights[i]
            if progress is not None:
                progress(done / total)
        return made

    def contexts_again(self, sizes: Mapping[int, Any], last: Sequence[Context | None]) -> Iterator[tuple[int, Any]]:
        """Creates the contexts that depend on sizes, in place of those for other sizes; with the numbers of their steps."""
        for i in self.open_contexts:
            yield i, self._context(i, sizes, last[i])

    def _context(self, i: int, sizes: Mapping[int, Any], last: Context | None = None) -> Context | None:
        made, key = self.steps[i].made, self._keys[i]
        if made is not None and key is None:
            made = made._replace(params=with_arrays(made.params, sizes))
            key = self._contexts.key(made)
        with named(self.nodes[i]):
            return made and self._contexts.created(made, key, sizes, last)

    def _key(self, made: Made | None, has_sizes: bool) -> Any:
        """What contexts of the same weights have in common; None where there are none, and where they depend on sizes."""
        if made is None or (has_sizes and any(map(is_array, parts_of(made.params)))):
            return None
        return self._contexts.key(made)

    def _weight(self, node: Node) -> int:
        """The bytes of the constants of a node."""
        constants = self.stored.constants
        return sum(constants[name].nbytes for name in node.inputs if name in constants)

    def refuse_contexts(self) -> None:
        """Raises ValueError, with the node, if the library refuses a context; no weights are packed."""
        for node, step in zip(self.nodes, self.steps):
            with named(node):
                if step.made is not None:
                    created(step.made, Binding(None, {}))


def _preferring(graph: Graph, prefer: int) -> Graph:
    """The graph with the preference, a number in C, in the nodes that have no context to remember it."""
    if prefer != lib.SimdnetPreferBfloat16 or not graph.nodes_of(("Attention",)):
        return graph
    nodes = [node.changed(prefer=prefer) if node.operator == "Attention" else node for node in graph.nodes]
    return graph.like(nodes, graph.types)


def without_packed(graph: Graph) -> Graph:
    """The graph with arrays that have no memory, only a shape, in place of weights that contexts have packed."""
    read = {*graph.outputs, *(name for node in graph.nodes for name in read_by_calls(node))}
    constants = {name: array if name in read else _without_memory(array) for name, array in graph.constants.items()}
    return graph.with_constants(constants)


def _without_memory(array: Any) -> Any:
    """An array of zeros that has none, as long as its shape is known."""
    if is_array(array):
        return full(array.shape, 0, array.dtype)
    return np.ndarray(array.shape, array.dtype, bytes(array.dtype.itemsize), 0, (0,) * array.ndim)
