"""Functions of one byte as tables, in a graph after its conversion.

A chain or a net of element-wise nodes that depends on one tensor of bytes, and ends in bytes, is a table of 256 results,
whatever its nodes are: they are computed once, node by node, for all bytes. So are the activations of a model between a
DequantizeLinear and a QuantizeLinear, with other pairs of these in between or without.

Between, elements may move: a Slice of a function of bytes is the function of a Slice of bytes, and a Concat of several
functions has its parts from several tensors. The bytes are moved in place of the floats. What a tensor is made of is its
form:

    ("bytes", name)               a tensor of bytes
    ("floats", name)              one of floats beside bytes in a Concat
    ("number",)                   what a Pad adds
    ("move", node, forms, ...)    of an operator that only moves elements, or takes the largest of some

For each tensor in a form there is a function: the name of a tensor in a graph of its own, with a result for each byte.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from pysimd.annotations import Array
from pysimd.network.build import Builder
from pysimd.network.graph import Graph, Node, Type
from pysimd.network.open_arrays import is_array
from pysimd.network.operators import types_of
from pysimd.network.passes.moves import frozen
from pysimd.network.records import record
from pysimd.network.runner import Runner

_BYTES = ("uint8", "int8")
_ELEMENTWISE = {
    "Binary", "Cast", "Dequantize", "Elementwise", "ExactBinary", "Quantize", "QuantizedBinary", "Select", "Table8", "Unary",
}  # fmt: skip
#: Of these the first input moves.
_MOVES = {"Expand", "Gather", "GatherElements", "Pad", "Reshape", "Resize", "Slice", "Transpose"}
#: The attributes of a QuantizedPool that are not those of MaxPool.
_LARGEST = {"kind": "max", "count_include_pad": False, "scales": (1.0, 1.0), "zeros": (0, 0)}
_KNOWN = {*_ELEMENTWISE, *_MOVES, "Concat"}

_MOST_PARTS = 256  # of a form: it grows with each Concat

_Form = tuple[Any, ...]


def with_tables(graph: Graph) -> Graph:
    """The graph with tables in place of functions of one byte."""
    return _Tables(graph).result()


@record(frozen=True)
class _Function:
    """A tensor as a form, and the functions of its parts, in their order."""

    form: _Form
    parts: tuple[str, ...]


class _Tables:
    """The walk over a graph: what is known of each tensor, and the nodes that take the place of others."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._functions: dict[str, _Function] = {}
        self._every = Builder("every byte")  # tensors with a result for each byte
        self._computed: dict[Any, str] = {}  # its tensors, by what they compute
        self._makers: dict[str, Node] = {}
        self._attributes: dict[_Form, Node] = {}
        self._values: dict[str, Array] = {}

    def result(self) -> Graph:
        """The new graph."""
        nodes: list[Node | _Function] = []
        ends: dict[int, Node] = {}
        for node in self._graph.nodes:
            found = self._of(node) if len(node.outputs) == 1 else None
            if found is None:
                nodes.append(node)
                continue
            self._functions[node.output] = found
            if self._is_end(node, found):
                ends[len(nodes)] = node
                nodes.append(found)
            else:
                nodes.append(node)
            self._restart(node, found)
        if not ends:
            return self._graph
        if not self._compute(name for found in nodes if isinstance(found, _Function) for name in _all_parts(found)):
            return self._graph
        made = _Made(self._graph, self)
        for i, each in enumerate(nodes):
            if isinstance(each, _Function):
                made.end(ends[i], each)
            else:
                made.keep(each)
        return made.result()

    def _is_end(self, node: Node, found: _Function) -> bool:
        """Whether a node computes bytes that new nodes can compute."""
        moves = node.operator not in _ELEMENTWISE and not self._is_lookup(node)
        if moves or self._graph.types[node.output].dtype not in _BYTES:
            return False
        if self._keeps_largest(found):
            return True
        self._functions[node.output] = self._bytes(node.output)
        return False

    def _restart(self, node: Node, found: _Function) -> None:
        """Bytes that have been moved, and that others read, are not moved again for what depends on them."""
        name = node.output
        if self._graph.types[name].dtype not in _BYTES:
            return
        others = self._graph.is_output(name) or any(user.operator not in _KNOWN for user in self._graph.users(name))
        if found.form[0] != "bytes" and others:
            self._functions[name] = self._bytes(name)

    # ---- what a node computes

    def _of(self, node: Node) -> _Function | None:
        if node.operator == "Concat":
            return self._concat(node)
        if node.operator == "MaxPool":
            return self._largest(node)
        if node.operator in _ELEMENTWISE or self._is_lookup(node):
            return self._elementwise(node)
        return self._moved(node) if node.operator in _MOVES else None

    def _is_lookup(self, node: Node) -> bool:
        """Whether a node looks up elements in a known table, of all bytes or of all pairs of them."""
        if node.operator != "Gather" or not self._is_known(node.inputs[0]):
            return False
        return self._graph.shape(node.inputs[0]) in ((256,), (65536,))

    def _is_known(self, name: str) -> bool:
        return name in self._graph.constants

    def _function(self, name: str) -> _Function | None:
        """What is known of a tensor."""
        if name not in self._functions and self._graph.types[name].dtype in _BYTES and not self._is_known(name):
            self._functions[name] = self._bytes(name)
        return self._functions.get(name)

    def _bytes(self, name: str) -> _Function:
        dtype = self._graph.types[name].dtype
        return _Function(("bytes", name), (self._constant(np.arange(256, dtype=np.uint8).view(dtype)),))

    def _constant(self, array: Array, key: Any = None) -> str:
        key = key or (array.dtype.str, array.shape, array.tobytes())
        if key not in self._computed:
            self._computed[key] = name = self._every.constant(array)
            self._values[name] = array
        return self._computed[key]

    def _elementwise(self, node: Node) -> _Function | None:
        """Of tensors in one form and numbers."""
        graph = self._graph
        if not all(node.inputs) or (node.attributes.get("axis") is not None and node.operator != "Gather"):
            return None
        given: list[Any] = [self._function(name) for name in node.inputs]
        functions = [each for each in given if each is not None]
        if not functions or any(each.form != functions[0].form for each in functions):
            return None
        given = [self._number(node, i) if each is None else each for i, each in enumerate(given)]
        if None in given:
            return None
        if graph.shape(node.output) != graph.shape(node.inputs[given.index(functions[0])]):
            return None
        parts = []
        for i in range(len(functions[0].parts)):
            parts.append(self._apply(node, [each if isinstance(each, str) else each.parts[i] for each in given]))
        return _Function(functions[0].form, tuple(parts))

    def _number(self, node: Node, place: int) -> str | None:
        """A constant that is the same for all elements, or a table."""
        name = node.inputs[place]
        maker = self._graph.producer(name)
        array = self._graph.constants.get(maker.inputs[0] if maker and maker.operator == "Reshape" else name)
        if array is None or is_array(array) or array.size == 0:
            return None
        if (node.operator, place) in (("Table8", 1), ("Gather", 0)):
            return self._constant(array)
        if array.size > 1 and not (array == array.flat[0]).all():
            return None
        one = array.reshape(-1)[:1]
        return self._constant(one.reshape(array.shape) if "uantize" in node.operator else one)

    def _apply(self, node: Node, given: Sequence[str]) -> str:
        """The results of a node for all bytes."""
        key = node.operator, frozen(node.attributes), *given
        if key not in self._computed:
            self._computed[key] = name = self._every.add(node.operator, *given, **node.attributes)
            self._makers[name] = Node(node.operator, tuple(given), (name,), node.attributes)
        return self._computed[key]

    # ---- moves

    def _moved(self, node: Node) -> _Function | None:
        x, others = self._function(node.inputs[0]), node.inputs[1:]
        if x is None or (node.operator == "Resize" and node.attributes["mode"] != "nearest"):
            return None
        if node.operator != "Pad":
            return self._in_form(node, others, (x,))
        if node.attributes["mode"] != "constant":
            return self._in_form(node, (), (x,))
        value = np.full(256, node.attributes["value"]).astype(self._graph.types[node.output].dtype)
        return self._in_form(node, (), (x, _Function(("number",), (self._constant(value),))))

    def _in_form(self, node: Node, others: Sequence[str], x: Sequence[_Function], *more: Any) -> _Function:
        form = ("move", node.operator, frozen(node.attributes), tuple(others), tuple(each.form for each in x), *more)
        self._attributes[form] = node
        return _Function(form, tuple(part for each in x for part in each.parts))

    def _concat(self, node: Node) -> _Function | None:
        """Parts that are no functions of bytes stay floats; of bytes, none are."""
        parts = [self._function(name) for name in node.inputs]
        if not any(parts) or any(map(self._is_known, node.inputs)):
            return None
        floats = self._graph.types[node.output].dtype == "float32"
        if (not floats and not all(parts)) or sum(len(each.parts) for each in parts if each) > _MOST_PARTS:
            return None
        return self._in_form(node, (), [each or self._floats(name) for each, name in zip(parts, node.inputs)])

    def _floats(self, name: str) -> _Function:
        return _Function(("floats", name), (self._constant(np.zeros(256, np.float32), ("floats", name)),))

    def _largest(self, node: Node) -> _Function | None:
        """The largest of some floats are those of their bytes, if what is computed of them later keeps the order."""
        x = self._function(node.inputs[0])
        if x is None or self._graph.types[node.output].dtype != "float32":
            return None
        return self._in_form(node, (), (x,), x.parts)

    def _keeps_largest(self, found: _Function) -> bool:
        """Whether the order of floats, where the largest are taken, is that of the bytes at the end."""
        for form, parts in _with_parts(found.form, found.parts):
            if form[0] != "move" or form[1] != "MaxPool":
                continue
            if any(kind[0] == "floats" for kind, _ in _with_parts(form, parts)):
                return False
            if not self._compute((*form[5], *parts)):
                return False
            before, after = (np.concatenate([self._values[name] for name in names]) for names in (form[5], parts))
            order = np.lexsort((after, before))
            before, after = before[order], after[order].astype(np.int32)
            ascends = (np.diff(after) >= 0) & ((np.diff(before) > 0) | (np.diff(after) == 0))
            if not ascends.all():
                return False
        return True

    # ---- results

    def _compute(self, names: Iterable[str]) -> bool:
        """The results of functions, by the library; False if it refuses a byte that the model may never have."""
        missing = [name for name in dict.fromkeys(names) if name not in self._values]
        if missing:
            graph = self._every.graph(*missing)
            try:
                self._values.update(Runner(graph.replaced(graph.nodes))({}))
            except (IndexError, ValueError):  # an index that a table does not have
                return False
        return True

    def table(self, name: str) -> Array:
        """The bytes of a function."""
        return self._values[name].view(np.uint8)

    def moving(self, form: _Form) -> Node:
        """A node of the graph that moves as a form says."""
        return self._attributes[form]

    def steps(self, name: str) -> dict[str, Node]:
        """The nodes from floats to a function of them, in their order."""
        found: dict[str, Node] = {}
        waiting = [name]
        while waiting:
            maker = self._makers.get(waiting[-1])
            missing = [each for each in maker.inputs if each in self._makers and each not in found] if maker else []
            if maker and not missing:
                found.setdefault(waiting[-1], maker)
            waiting = [*waiting, *missing] if missing else waiting[:-1]
        return found

    def number(self, name: str) -> Array | None:
        """A constant among the functions."""
        return self._values.get(name)


def _with_parts(form: _Form, parts: Sequence[str]) -> Iterator[tuple[_Form, tuple[str, ...]]]:
    """A form and those in it, each with its parts."""
    yield form, tuple(parts)
    if form[0] == "move":
        begin = 0
        for each in form[4]:
            count = _count(each)
            yield from _with_parts(each, parts[begin : begin + count])
            begin += count


def _count(form: _Form) -> int:
    return sum(map(_count, form[4])) if form[0] == "move" else 1


def _all_parts(found: _Function) -> Iterator[str]:
    """The functions of bytes and numbers."""
    for form, parts in _with_parts(found.form, found.parts):
        if form[0] in ("bytes", "number"):
            yield parts[0]


class _Made:
    """The new graph under construction."""

    def __init__(self, graph: Graph, tables: _Tables) -> None:
        self._graph, self._tables = graph, tables
        self._nodes: list[Node] = []
        self._types, self._constants = dict(graph.types), dict(graph.constants)
        self._names: dict[str, str] = {}  # of tensors that others are
        self._found: dict[Any, str] = {}  # tensors by what they are
        self._origin: tuple[str, ...] = ()

    def result(self) -> Graph:
        """The new graph, without what its outputs do not need."""
        return self._graph.replaced(self._nodes, self._types, self._constants)

    def keep(self, node: Node) -> None:
        """A node as it was."""
        inputs = tuple(self._named(name) for name in node.inputs)
        self._nodes.append(Node(node.operator, inputs, node.outputs, node.attributes, node.origin))

    def end(self, node: Node, found: _Function) -> None:
        """Tables and moves in place of a node."""
        self._origin, before = node.origin, len(self._nodes)
        name = self._of(found.form, found.parts, self._graph.types[node.output].dtype)
        if not self._graph.is_output(node.output):
            self._names[node.output] = name
        elif len(self._nodes) > before and self._nodes[-1].output == name:
            self._rename(node.output)
        else:
            self._add("Reshape", (name,), {"shape": self._types[name].shape}, node.output)

    def _rename(self, name: str) -> None:
        """The last node gets the name of an output."""
        last = self._nodes.pop()
        self._found = {key: name if each == last.output else each for key, each in self._found.items()}
        self._nodes.append(Node(last.operator, last.inputs, (name,), last.attributes, last.origin))

    def _named(self, name: str) -> str:
        """The tensor that now has the values of another one."""
        return self._names.get(name, name)

    def _of(self, form: _Form, parts: Sequence[str], dtype: str) -> str:
        """The tensor of a form."""
        if form[0] == "bytes":
            return self._looked_up(self._named(form[1]), self._tables.table(parts[0]), dtype)
        if form[0] == "floats":
            return self._replayed(self._named(form[1]), parts[0])
        node, inputs, begin = self._tables.moving(form), [], 0
        attributes = dict(node.attributes)
        for each in form[4]:
            own = parts[begin : begin + _count(each)]
            begin += len(own)
            if each[0] == "number":
                attributes["value"] = self._tables.table(own[0]).view(dtype)[0].item()
            else:
                inputs.append(self._of(each, own, dtype))
        others = [self._named(name) for name in form[3]]
        if node.operator == "MaxPool" and dtype == "int8":
            return self._add("QuantizedPool", inputs, {**attributes, **_LARGEST})
        return self._add(node.operator, (*inputs, *others), attributes)

    def _looked_up(self, name: str, table: Array, dtype: str) -> str:
        if self._types[name].dtype == dtype and (table == np.arange(256)).all():
            return name
        key = "table", table.tobytes()
        if key not in self._found:
            self._found[key] = constant = self._free("table")
            self._constants[constant], self._types[constant] = table, Type((256,), "uint8")
        return self._add("Table8", (name, self._found[key]), {"dtype": dtype})

    def _replayed(self, name: str, function: str) -> str:
        """A function of floats."""
        made: dict[str, str] = {}
        for result, node in self._tables.steps(function).items():
            inputs = []
            for each in node.inputs:
                inputs.append(made.get(each) or self._operand(each, name, node))
            made[result] = self._add(node.operator, inputs, node.attributes)
        return made.get(function, name)

    def _operand(self, function: str, name: str, node: Node) -> str:
        """The floats themselves, or a number."""
        array = self._tables.number(function)
        if array is None or array.size == 256:
            return name
        if "uantize" not in node.operator:
            array = array.reshape((1,) * len(self._types[name].shape))
        key = "number", array.dtype.str, array.shape, array.tobytes()
        if key not in self._found:
            self._found[key] = constant = self._free("number")
            self._constants[constant], self._types[constant] = array, Type(array.shape, array.dtype.name)
        return self._found[key]

    def _add(self, operator: str, inputs: Sequence[str], attributes: Any, name: str = "") -> str:
        """A node, or the one that computes the same."""
        key = operator, tuple(inputs), frozen(attributes)
        if key in self._found and not name:
            return self._found[key]
        (of,) = types_of(operator, [self._types[each] for each in inputs], attributes)
        name = name or self._free("bytes")
        self._types[name] = of
        self._nodes.append(Node(operator, tuple(inputs), (name,), dict(attributes), self._origin))
        return self._found.setdefault(key, name)

    def _free(self, name: str) -> str:
        """A name that no tensor has."""
        i = len(self._types)
        while f"{name}@{i}" in self._types:
            i += 1
        return f"{name}@{i}"
