"""The walk over the nodes of a source: what is known is computed at once, the rest becomes nodes of a graph.

Converters of operators are in the other files of this folder; each is a function of a :class:`Conversion` and of a node::

    @converts("Softplus")
    def _softplus(c: Conversion, node: SourceNode) -> None:
        c.give(c.add("Unary", c.tensor(0), function="softplus", params=(1.0, 20.0)))
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from functools import partial
from math import prod
from typing import Any, Callable, NamedTuple, Union

import numpy as np

from pysimd.annotations import Array, Shape
from pysimd.cast import CASTS
from pysimd.network.build import Builder
from pysimd.network.convert.at_run_time import BY_NUMPY, FLOATS, KNOWN_INPUTS, OF_DATA, REASONS, SHAPE_INPUTS, HostFunction
from pysimd.network.convert.constants import computed
from pysimd.network.convert.files import import_all, import_of
from pysimd.network.convert.fold import FOLDS, evaluate
from pysimd.network.convert.fold_node import DTYPES
from pysimd.network.convert.result_shapes import result_shapes
from pysimd.network.convert.shape_arithmetic import takes_sizes
from pysimd.network.graph import Graph, Type, name_of
from pysimd.network.host import results_of
from pysimd.network.open_arrays import called, full, is_array, numbered, opened
from pysimd.network.operators import IDENTITY
from pysimd.network.records import record, replace
from pysimd.network.sizes import fixed, is_open, whole
from pysimd.network.source import Source, SourceNode, label_of
from pysimd.network.unsupported import NotHere, Unsupported, UnsupportedModel, UnsupportedNode

#: A tensor that is known, or the name in the graph of one that is computed.
Value = Union[Array, str]


@record(frozen=True, eq=False)
class Listed:
    """A sequence whose elements are tensors of the graph, or known; or an optional value that is empty, without elements."""

    elements: tuple[Value, ...] | None


#: What has a name in the source.
Item = Union[Value, Listed]
Converter = Callable[["Conversion", SourceNode], None]


class _Entry(NamedTuple):
    convert: Converter
    any_type: bool
    sequences: bool


_REGISTRY: dict[str, _Entry] = {}
_OF_OTHERS: dict[str, Converter] = {}
_MISSING: Any = object()
_MOST_INPUTS, _MOST_NUMBERS = 3, 16  # of inputs whose values a message asks for

INPUT_TYPES = (
    "float32", "float16", "bfloat16", "float64", "bool",
    "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64",
)  # fmt: skip
CAST_TYPES = frozenset(element.name for element in CASTS)


def converts(*operators: str, any_type: bool = False, sequences: bool = False) -> Callable[[Converter], Converter]:
    """Registers a converter for operators; those of another domain than ONNX's as "domain.Name".

    any_type : it takes tensors of any type, or looks at types itself; else all that are computed at run time are float32.
    sequences : its inputs may be sequences and optional values, too.
    """

    def register(convert: Converter) -> Converter:
        for operator in operators:
            _REGISTRY[operator] = _Entry(convert, any_type or sequences, sequences)
        return convert

    return register


def converts_others(*operators: str) -> Callable[[Converter], Converter]:
    """Registers a converter for operators whose inputs are not all float32; it raises :class:`NotHere` for types that it
    does not take."""

    def register(convert: Converter) -> Converter:
        _OF_OTHERS.update(dict.fromkeys(operators, convert))
        return convert

    return register


def _entry_of(operator: str) -> _Entry | None:
    if operator not in _REGISTRY:
        import_of(operator)
    return _REGISTRY.get(operator)


def supported_operators() -> list[str]:
    """Those that have converters."""
    import_all()
    return sorted({*_REGISTRY, *_OF_OTHERS})


def full_name(node: SourceNode) -> str:
    """The operator with its domain, if that is not ONNX's."""
    return f"{node.domain}.{node.op}" if node.domain not in ("", "ai.onnx") else node.op


def float32_of(array: Array) -> Array:
    """Floats of any size as float32."""
    if array.dtype == np.float32 or not (array.dtype.kind == "f" or array.dtype.name == "bfloat16"):
        return array
    return array.astype(np.float32)


class Conversion:
    """A conversion under way, as converters see it: the inputs and attributes of the present node, and the graph."""

    def __init__(self, source: Source, fallback: Mapping[str, Any], computed_open: Container[str] | None = None) -> None:
        self._computed_open = computed_open
        self.builder = Builder(source.name)
        self.opset = source.opset
        self.node: SourceNode = _MISSING
        self._read: Sequence[Any] = ()  # its inputs, None for missing ones
        self._fallback = fallback
        self._values: ChainMap[str, Any] = ChainMap({})
        self._weights: ChainMap[str, Array] = ChainMap(source.weights)  # type: ignore[arg-type]  # nothing is written
        self._constants: dict[str, str] = {}  # of the source, in the graph
        self._arrays: dict[str, Array] = {}  # of constants of the graph
        self._open_types: dict[str, str] = {}  # of arrays that contain sizes, which are arrays of objects
        self._failed: set[str] = set()
        self._inputs: dict[str, str] = {}  # of the graph, with their names in the source
        self.problems: list[UnsupportedNode] = []  # whose inputs are still tensors of the graph
        self.shared: dict[Any, str] = {}  # tensors that several nodes of the source need, such as the sums of rows
        self._needed: list[tuple[SourceNode, Sequence[str]]] = []  # nodes of these, and the values in the source

    # ---- the inputs of a node

    def value(self, i: int) -> Value | None:
        """An input; None for one that is missing. Sizes that are open are fixed: see :mod:`pysimd.network.sizes`."""
        value = self._open(i)
        if isinstance(value, str):
            return value
        if is_array(value):
            return np.asarray(value)
        return fixed(value, self.dtype(i)) if is_open(value) else value

    def operand(self, i: int) -> Any:
        """An input as :meth:`value`, for converters that take arrays which depend on sizes, too."""
        value: Any = self._open(i)
        return opened(value, self.dtype(i)) if is_open(value) else value

    def _open(self, i: int) -> Any:
        """An input; of one that is known, elements may be sizes that are open."""
        return self._read[i] if i < len(self._read) else None

    def _found(self, node: SourceNode) -> list[Any]:
        """All inputs of a node, as :meth:`_open` returns them."""
        return [self._lookup(name) if name else None for name in node.inputs]

    def _lookup(self, name: str) -> Any:
        for values in self._values.maps:
            if name in values:
                return values[name]
        for weights in self._weights.maps:
            if name in weights:
                array = np.asarray(weights[name])
                if array.dtype != np.float32 and name_of(array.dtype) in ("float16", "bfloat16"):
                    self._values[name] = array = float32_of(array)
                return array
        raise Unsupported(f"no earlier node produces its input {name!r}")

    def has(self, i: int) -> bool:
        """Whether an input is given."""
        return self._open(i) is not None

    def is_known(self, i: int) -> bool:
        """Whether an input is given and known."""
        value = self._open(i)
        return value is not None and not isinstance(value, str)

    def known(self, i: int, what: str = "") -> Array:
        """An input that must be known; what says what it is."""
        self._require_known(i, what)
        return self.value(i)  # type: ignore[return-value]

    def _require_known(self, i: int, what: str) -> Array:
        value = self._given(i)
        if isinstance(value, str):
            raise Unsupported(f"{what or f'input {i}'} is computed at run time", [value])
        return value

    def numbers(self, i: int, what: str = "") -> list[Any]:
        """A known input as a flat list, some of whose numbers may be sizes that are open."""
        return self._require_known(i, what).reshape(-1).tolist()

    def tensor(self, i: int) -> str:
        """An input as a tensor of the graph; one that is known becomes a constant, of float32 if it has floats."""
        value = self._given(i)
        if isinstance(value, str):
            return value
        name = self.node.inputs[i]
        if name not in self._constants:
            self._constants[name] = self.constant(self.operand(i))
        return self._constants[name]

    def _given(self, i: int) -> Value:
        value: Item | None = self._read[i] if i < len(self._read) else None
        if value is None:
            raise Unsupported(f"input {i} is missing")
        if isinstance(value, Listed):
            what = "an empty optional value" if value.elements is None else "a sequence"
            raise Unsupported(f"input {i} is {what}, expected a tensor")
        return value

    def item(self, i: int) -> Item:
        """An input as it is, which may be a sequence, or an optional value that is empty."""
        value: Item | None = self._open(i)
        if value is None:
            raise Unsupported(f"input {i} is missing")
        return value

    def is_sequence(self, i: int) -> bool:
        """Whether an input is a sequence."""
        return isinstance(self._open(i), Listed)

    def sequence(self, i: int) -> tuple[Value, ...]:
        """The elements of an input that must be a sequence."""
        value = self.item(i)
        if not isinstance(value, Listed) or value.elements is None:
            what = "an empty optional value" if isinstance(value, Listed) else "a tensor"
            raise Unsupported(f"input {i} is {what}, expected a sequence")
        return value.elements

    def shape(self, i: int) -> Shape:
        """The shape of an input."""
        value = self._given(i)
        return self.builder.shape(value) if isinstance(value, str) else value.shape

    def dtype(self, i: int) -> str:
        """The type of the elements of an input."""
        value = self._given(i)
        if isinstance(value, str) or not is_open(value):
            return self.dtype_of(value)
        return self._open_types.get(self.node.inputs[i], "int64")

    def dtype_of(self, value: Value) -> str:
        """The type of the elements of a tensor."""
        return self.builder.type(value).dtype if isinstance(value, str) else name_of(value.dtype)

    def shape_of(self, value: Value) -> Shape:
        """The shape of a tensor."""
        return self.builder.shape(value) if isinstance(value, str) else value.shape

    # ---- its attributes

    def attribute(self, name: str, default: Any = _MISSING) -> Any:
        """An attribute. Without a default it must be there."""
        value = self.node.attributes.get(name, default)
        if value is _MISSING:
            raise Unsupported(f"the attribute {name} is missing")
        return value

    def flag(self, name: str, default: int = 0) -> bool:
        """An attribute that is 0 or 1."""
        return bool(self.attribute(name, default))

    def require(self, **values: Any) -> None:
        """Refuses attributes with another value than these, which are their defaults."""
        for name, value in values.items():
            given = self.attribute(name, value)
            if given != value and list(np.ravel(given)) != list(np.ravel(value)):
                raise Unsupported(f"{name} is {given}" + ("" if value is None else f", supported is {value}"))

    def option(self, name: str, default: str, supported: Sequence[str]) -> str:
        """An attribute that is one of some words."""
        given = str(self.attribute(name, default))
        if given not in supported:
            raise Unsupported(f"{name} is {given!r}, supported is {' or '.join(map(repr, supported))}")
        return given

    # ---- nodes of the graph

    def constant(self, value: Any) -> str:
        """A constant, of float32 if it has floats. One that depends on sizes has its numbers when the plan is bound."""
        array: Any = value if is_array(value) else np.asarray(value)
        array = opened(array) if is_open(array) else array
        return self._constant(float32_of(array))

    def _constant(self, array: Array) -> str:
        name = self.builder.constant(array)
        self._arrays[name] = array
        return name

    def named(self, value: Value) -> str:
        """A tensor of the graph."""
        return value if isinstance(value, str) else self.constant(value)

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """A node of the graph."""
        return self.builder.add_all(operator, inputs, **attributes)[0]

    def add_all(self, operator: str, *inputs: str, **attributes: Any) -> tuple[str, ...]:
        """A node of the graph with several outputs."""
        return self.builder.add_all(operator, inputs, **attributes)

    def unary(self, x: str, function: str, *params: float) -> str:
        """An element-wise function."""
        return self.add("Unary", x, function=function, params=tuple(map(float, params)))

    def binary(self, function: str, a: Value | float, b: Value | float) -> str:
        """A function of two tensors, which are broadcast; one may be known, or a number."""
        x, y = _as_floats(a), _as_floats(b)
        rank = max(len(self.shape_of(x)), len(self.shape_of(y)))
        operands = self._of_rank(x, rank), self._of_rank(y, rank)
        return self.add("Binary", *operands, function=function, activation=IDENTITY)

    def elementwise(self, function: str, a: Any, b: Any) -> str:
        """Arithmetic on integers, or a comparison; of two tensors of one type, or a number of it, which are broadcast."""
        rank = max(len(self.shape_of(x)) for x in (a, b))
        return self.add("Elementwise", self._of_rank(a, rank), self._of_rank(b, rank), function=function)

    def select(self, condition: Value, a: Any, b: Any) -> str:
        """One tensor where a condition is true, else the other one, of the same type."""
        rank = max(len(self.shape_of(x)) for x in (condition, a, b))
        return self.add("Select", *(self._of_rank(x, rank) for x in (condition, a, b)))

    def _of_rank(self, x: Value, rank: int) -> str:
        shape = self.shape_of(x)
        if len(shape) == rank:
            return x if isinstance(x, str) else self._constant(x)
        shape = (1,) * (rank - len(shape)) + tuple(shape)
        return self.reshape(x, shape) if isinstance(x, str) else self._constant(x.reshape(shape))

    def reshape(self, x: str, shape: Sequence[int]) -> str:
        """The same elements in another shape."""
        shape = tuple(whole(n) for n in shape)
        return x if shape == self.builder.shape(x) else self.add("Reshape", x, shape=shape)

    def transpose(self, x: str, perm: Sequence[int]) -> str:
        """The dimensions in another order."""
        perm = tuple(int(axis) for axis in perm)
        return x if perm == tuple(range(len(perm))) else self.add("Transpose", x, perm=perm)

    def slice(self, x: str, axis: int, start: int, size: int) -> str:
        """Some indices of one dimension."""
        shape = self.builder.shape(x)
        if (start, size) == (0, shape[axis]):
            return x
        starts = tuple(start if i == axis else 0 for i in range(len(shape)))
        return self.add("Slice", x, starts=starts, steps=(1,) * len(shape), sizes=replaced_at(shape, axis, size))

    def reduce(self, x: str, function: str, axes: Sequence[int], keepdims: bool = True) -> str:
        """A reduction."""
        return self.add("Reduce", x, function=function, axes=tuple(axes), keepdims=keepdims)

    def cast(self, x: str, dtype: str) -> str:
        """The elements in another type."""
        own = self.builder.type(x).dtype
        if own == dtype:
            return x
        if own in CAST_TYPES and dtype in CAST_TYPES:
            return self.add("Cast", x, dtype=dtype)
        return self.host(partial(np.ndarray.astype, dtype=dtype), x)

    def indices(self, i: int) -> str:
        """An input of integers, as int64, which is what functions of the library take."""
        value = self._given(i)
        return self.cast(value, "int64") if isinstance(value, str) else self.constant(self.operand(i).astype(np.int64))

    # ---- its outputs

    def give(self, *values: Item | None) -> None:
        """The outputs of the node; None for one that cannot be computed."""
        own = self._values.maps[0]
        for i, name in enumerate(self.node.outputs):
            value = values[i] if i < len(values) else None
            if not name:
                continue
            if value is None:
                raise Unsupported(f"its output {i} is not supported")
            own[name] = self._settled(value)

    def _settled(self, value: Any) -> Any:
        if type(value) is np.ndarray:
            return value
        if isinstance(value, Listed):
            return value if value.elements is None else Listed(tuple(map(self._settled, value.elements)))
        if isinstance(value, str):  # a constant, such as an image that keeps its size, is known to later nodes
            value = self._arrays.get(value, value)
        if isinstance(value, str) and prod(self.builder.shape(value)) == 0:  # nothing is to be computed
            value = full(self.builder.shape(value), 0, self.builder.type(value).dtype)
        return value

    def fail(self) -> None:
        """The node has no outputs, as nodes in its body cannot be converted, which are collected already."""
        self._failed.update(self.node.outputs)

    # ---- the walk

    def input(self, name: str, shape: Shape, dtype: str) -> None:
        """An input of the graph. Those of float16 and bfloat16 are float32."""
        if dtype not in INPUT_TYPES:
            self._failed.add(name)
            self.problems.append(
                UnsupportedNode(name, "input", f"its type is {dtype}, supported are {', '.join(INPUT_TYPES)}")
            )
            return
        half = dtype in ("float16", "bfloat16")
        self._values[name] = made = self.builder.input(shape, "float32" if half else dtype, f"@{len(self._inputs)}")
        self._inputs[made] = name

    def known_sizes(self, name: str, array: Array, dtype: str) -> None:
        """A tensor that is known, whose elements may be sizes that are open."""
        self._values[name], self._open_types[name] = array, dtype

    def walk(self, nodes: Sequence[SourceNode]) -> None:
        """Converts nodes, and collects those that cannot be."""
        for node in nodes:
            self.node = node
            self.builder.origin = (label_of(node),)
            try:
                if self._reads_failed(node):
                    self._refuse_unknown(node)
                    self._failed.update(node.outputs)
                else:
                    self._convert(node)
            except (Unsupported, ValueError) as error:
                self._refuse(node, str(error), getattr(error, "tensors", ()))
            except (TypeError, LookupError, AttributeError, ArithmeticError) as error:
                self._refuse(node, f"its attributes or inputs do not fit: {type(error).__name__}: {error}")
        self._failed.discard("")

    def _refuse(self, node: SourceNode, reason: str, tensors: tuple[str, ...] = ()) -> None:
        self._failed.update(node.outputs)
        name = label_of(node)
        self.problems.append(UnsupportedNode(name, full_name(node), reason, tensors))
        if tensors:
            self._needed.append((node, [each for each in node.inputs if self._is_one_of(each, tensors)]))

    def _is_one_of(self, name: str, tensors: Sequence[str]) -> bool:
        value = self._values.get(name)
        return isinstance(value, str) and value in tensors

    def _reads_failed(self, node: SourceNode) -> bool:
        return bool(self._failed) and not self._failed.isdisjoint(filter(None, node.inputs))

    def _refuse_unknown(self, node: SourceNode) -> None:
        """Operators that are not known at all are reported even if their inputs are not known."""
        name = full_name(node)
        known = _entry_of(name) or name in BY_NUMPY or name in REASONS or name in ("Constant", "If")
        if not (known or self._function(node)):
            raise Unsupported("the operator is not known")

    def _convert(self, node: SourceNode) -> None:
        function = self._function(node)
        if function is None and not node.inputs and _is_array(node):  # in a body; those of the file itself are weights
            self.give(_single(node.attributes["value"]))
            return
        self._read = given = self._found(node)
        entry = _entry_of(full_name(node))
        kinds = set(map(type, given))
        listed, any_computed = Listed in kinds, str in kinds
        if function is None and not listed and not any_computed:
            any_computed = self._becomes_step(node, given)
        if function is not None:
            self.give(*self._host(function, node))
        elif node.op == "If" and node.domain in ("", "ai.onnx"):
            self._branch(node)
        elif listed and not (entry is not None and entry.sequences):
            raise Unsupported("an input is a sequence, expected a tensor")
        elif not listed and not any_computed and (self._fold_open(node, given) or self._fold(node, given)):
            pass
        elif entry is not None and (entry.any_type or all(map(self._is_float, given))):
            self._by_library(entry.convert, node, not any_computed and not listed)
        else:
            self._by_others(node)

    def _by_others(self, node: SourceNode) -> None:
        """Other types than float32: by the library, or else by NumPy."""
        import_of(full_name(node))
        convert = _OF_OTHERS.get(full_name(node))
        try:
            if convert is None:
                raise NotHere
            convert(self, node)
        except NotHere:
            self.by_numpy()

    def _by_library(self, convert: Converter, node: SourceNode, known: bool) -> None:
        """Nodes of the graph; where all inputs are known, they are computed once, and only their results are left."""
        first = self.builder.count
        convert(self, node)
        if not known:
            return
        values = self._values.maps[0]  # what give() has written
        given = [(name, values[name]) for name in node.outputs if name]
        made = {name: value for name, value in given if isinstance(value, str)}
        if not made:
            return
        results = computed(self.builder.without_inputs(first, [str(name) for name in made.values()]))
        if results is not None:
            self._values.update((name, results[str(value)]) for name, value in made.items())
            self.builder.drop(first)

    def _is_float(self, value: Value | None) -> bool:
        return not isinstance(value, str) or self.builder.type(value).dtype == "float32"

    def _becomes_step(self, node: SourceNode, given: list[Any]) -> bool:
        """Whether a node is a step of the plan though open sizes alone decide its inputs, which then become tensors."""
        if self._computed_open is None or node.op in self._computed_open or node.op not in FOLDS or takes_sizes(node, given):
            return False
        found = [i for i, each in enumerate(given) if is_array(each) or is_open(each)]
        for i in found:
            if i not in KNOWN_INPUTS.get(node.op, ()):
                given[i] = self.constant(self.operand(i))
        return bool(found)

    def _fold_open(self, node: SourceNode, given: Sequence[Any]) -> bool:
        """Whether it will be computed when the plan is bound."""
        if takes_sizes(node, given) or not any(is_array(value) or is_open(value) for value in given):
            return False
        if node.op not in FOLDS or node.domain not in ("", "ai.onnx"):
            self._values.update((name, self.value(i)) for i, name in enumerate(node.inputs) if name)
            self._read = self._found(node)
            return False
        function = HostFunction(node, {i: None for i, value in enumerate(given) if value is None}, self.opset)
        arrays = [self.operand(i) for i, value in enumerate(given) if value is not None]
        results = called(function, arrays, self._result_shapes())
        self.give(*map(numbered, results))
        self._open_types.update(zip(node.outputs, (array.dtype.name for array in results)))
        return True

    def _result_shapes(self) -> list[Shape] | None:
        """The shapes of the outputs of what NumPy computes, if they are known."""
        shapes = [self.shape(i) if self.has(i) else None for i in range(len(self.node.inputs))]
        return result_shapes(
            self.node, shapes, {i: partial(self.numbers, i) for i in range(len(shapes)) if self.is_known(i)}
        )

    def _fold(self, node: SourceNode, given: Sequence[Any]) -> bool:
        """Whether it could be computed."""
        results = evaluate(node, given, self.opset)
        if results is None:
            return False
        self.give(*map(_single, results))
        if any(map(is_open, results)):
            kind = DTYPES[node.attributes["to"]] if node.op == "Cast" else self._type_of_sizes(node)
            self._open_types.update(dict.fromkeys(node.outputs, kind))
        return True

    def _type_of_sizes(self, node: SourceNode) -> str:
        """The type of what is computed from sizes: that of the inputs that have some."""
        return next((self._open_types[name] for name in node.inputs if name in self._open_types), "int64")

    def _branch(self, node: SourceNode) -> None:
        """The branch of an If that is taken."""
        condition = self._require_known(0, "the condition")
        if condition.size != 1:
            raise Unsupported(f"the condition has {condition.size} elements, expected 1")
        branch: Source = self.attribute("then_branch" if condition.reshape(()) else "else_branch")
        results = self.inside(branch, {})
        if results is None:
            self.fail()
        else:
            self.give(*results)

    def inside(self, source: Source, inputs: Mapping[str, Value]) -> list[Any] | None:
        """The results of a subgraph, as far as the node has outputs for them; None if nodes in it cannot be converted."""
        node, read, values, weights, constants = self.node, self._read, self._values, self._weights, self._constants
        self._values, self._weights = values.new_child(dict(inputs)), weights.new_child(source.weights)  # type: ignore[arg-type]
        self._constants, opset, self.opset = dict(constants), self.opset, source.opset
        try:
            self.walk(source.nodes)
            names = [output.name if read else "" for output, read in zip(source.outputs, node.outputs)]
            missing = any(name in self._failed for name in names)
            return None if missing else [self._lookup(name) if name else None for name in names]
        finally:
            self.node, self._read, self._values, self._weights, self._constants = node, read, values, weights, constants
            self.opset = opset

    def finished(self, source: Source) -> Graph:
        """The graph, whose tensors have their names in the source. Raises UnsupportedModel if an output has problems.

        Its outputs are those of the source, in their order. One that is an input of the source, too, is a copy and has
        another name.
        """
        results = [output.name for output in source.outputs]
        inputs = {value.name for value in (*source.inputs, *source.overridable)}
        self._refuse_sequences(results)
        if not self._failed.isdisjoint({*results, *inputs}):
            error = UnsupportedModel(source.name, self._with_inputs())
            error.needed = self._needed
            raise error
        outputs: dict[str, str] = {}  # their names in the graph
        for name in dict.fromkeys(results):
            try:
                value: Any = self._lookup(name)
                value = opened(value, self._open_types.get(name, "int64")) if is_open(value) else value
                outputs[name] = self._output(value, outputs.values())
            except Unsupported:
                raise ValueError(f"no node produces the output {name!r}") from None
        names = {value: name for name, value in reversed(list(self._values.items())) if isinstance(value, str)}
        names.update((made, name) for name, made in outputs.items() if name not in inputs)
        return self.builder.renamed(names, *outputs.values())

    def _refuse_sequences(self, results: Iterable[str]) -> None:
        for name in results:
            if isinstance(self._values.get(name), Listed):
                self._failed.add(name)
                self.problems.append(UnsupportedNode(name, "output", "it is a sequence, a plan has tensors"))

    def _with_inputs(self) -> list[UnsupportedNode]:
        """The problems, with the inputs of the source that decide where these are a few numbers, which a caller can give."""
        small = {made: name for made, name in self._inputs.items() if _is_small(self.builder.shape(made))}
        of = self.builder.inputs_of({name for each in self.problems for name in each.inputs}, _MOST_INPUTS)

        def told(tensors: Sequence[str]) -> tuple[str, ...]:
            inputs = dict.fromkeys(made for name in tensors for made in of[name])
            known = all(of[name] for name in tensors) and all(made in small for made in inputs)
            return tuple(small[made] for made in inputs) if known else ()

        return [replace(each, inputs=told(each.inputs)) for each in self.problems]

    def _output(self, value: Value, taken: Collection[str]) -> str:
        """A tensor that a node computes, and that is no other output."""
        if isinstance(value, str) and value not in taken and value not in self._inputs:
            return value
        return self.add("Reshape", self.named(value), shape=tuple(self.shape_of(value)))

    # ---- Python functions

    def _function(self, node: SourceNode) -> Any:
        if not self._fallback:
            return None
        name = full_name(node)
        return self._fallback.get(name, self._fallback.get(f"ai.onnx.{name}"))

    def _host(self, given: Any, node: SourceNode) -> Sequence[str]:
        """A function of the user."""
        function, shapes = given if isinstance(given, tuple) else (given, None)
        if node.attributes:
            function = partial(function, **node.attributes)
        inputs = [self.typed(i) for i, name in enumerate(node.inputs) if name]
        if shapes is None:
            types = self._types_of_call(function, inputs)
        else:
            types = tuple((each.shape, each.dtype) if isinstance(each, Type) else tuple(each) for each in shapes)
        count = max((i for i, name in enumerate(node.outputs, 1) if name), default=0)
        if len(types) < count:
            raise Unsupported(f"its function has {len(types)} results, expected {count}")
        return self.builder.add_all("Host", inputs, function=function, types=types)

    def typed(self, i: int) -> str:
        """An input as a tensor of the graph; one that is known becomes a constant of its own type."""
        value = self._given(i)
        if isinstance(value, str):
            return value
        return self._constant(self.operand(i))  # with its type

    def _types_of_call(
        self, function: Any, inputs: Sequence[str], shapes: Sequence[Shape] | None = None
    ) -> tuple[tuple[Shape, str], ...]:
        """Those of its results for zeros, or for ones if zeros are refused; shapes are given if they are known."""
        types = [self.builder.type(name) for name in inputs]
        reason: Exception | None = None
        for fill in (0, 1):
            try:
                arrays = [self._arrays.get(name, full(of.shape, fill, of.dtype)) for name, of in zip(inputs, types)]
                with np.errstate(all="ignore"):
                    results = _results(function, arrays, shapes)
            except MemoryError:
                raise
            except Exception as error:  # of a function of the user
                reason = error
                continue
            return tuple((result.shape, result.dtype.name) for result in results)
        raise Unsupported(f"its function cannot compute these shapes: {reason!r}") from reason

    def host(self, function: Any, x: str) -> str:
        """An element-wise Python function of a tensor."""
        dtype = function(np.zeros(1, self.builder.type(x).dtype)).dtype.name
        return self.add("Host", x, function=function, types=((self.builder.shape(x), dtype),))

    def by_numpy(self) -> None:
        """The node is computed at run time by what folds constants."""
        node, name = self.node, full_name(self.node)
        if name not in BY_NUMPY and name not in _REGISTRY:
            computed = [value for value in map(self._open, range(len(node.inputs))) if isinstance(value, str)]
            raise Unsupported(REASONS.get(name, "the operator is not known"), computed if name in OF_DATA else ())
        others = [self.dtype(i) for i in range(len(node.inputs)) if self.has(i) and not self._is_float(self._open(i))]
        if name not in BY_NUMPY or (name in FLOATS and set(others) - {"float64"}):
            supported = "are float32 and float64" if name in FLOATS else "is float32"
            raise Unsupported(f"its inputs are {' and '.join(dict.fromkeys(others))}, supported {supported}")
        for i in SHAPE_INPUTS.get(name, ()):
            if self.has(i):
                self._require_known(i, "")
        places = [i for i in range(len(node.inputs)) if self.has(i)]
        function = HostFunction(node, {i: None for i in range(len(node.inputs)) if i not in places}, self.opset)
        inputs = [self.typed(i) for i in places]
        types = self._types_of_call(function, inputs, self._result_shapes())
        self.give(*self.builder.add_all("Host", inputs, function=function, types=types))


def _results(function: Any, arrays: Sequence[Any], shapes: Sequence[Shape] | None) -> Sequence[Any]:
    """The results of a Python function, of arrays that may depend on sizes."""
    if any(map(is_array, arrays)):
        return called(lambda *each: results_of(function, each), arrays, shapes)
    return results_of(function, arrays)


def _is_array(node: SourceNode) -> bool:
    """Whether a node is an array of the file."""
    is_constant = node.op == "Constant" and node.domain in ("", "ai.onnx")
    return is_constant and isinstance(node.attributes.get("value"), np.ndarray) and len(node.attributes) == 1


def _as_floats(x: Any) -> Any:
    """A tensor of the graph as it is; what is known as float32."""
    if isinstance(x, str):
        return x
    return (x if is_array(x) else np.asarray(x)).astype(np.float32, copy=False)


def _single(array: Array) -> Array:
    """Numbers of half size as float32."""
    return float32_of(array) if array.dtype == np.float16 else array


def _is_small(shape: Shape) -> bool:
    return all(isinstance(n, int) for n in shape) and prod(shape) <= _MOST_NUMBERS


def replaced_at(shape: Sequence[int], axis: int, size: int) -> Shape:
    """A shape with another size of one dimension."""
    return (*shape[:axis], size, *shape[axis + 1 :])


def graph_of(
    source: Source,
    shapes: Mapping[str, Shape],
    fallback: Mapping[str, Any] | None = None,
    sizes: Mapping[str, tuple[Array, str]] | None = None,
    computed_open: Container[str] | None = None,
) -> Graph:
    """The graph of a source.

    shapes : of all its inputs, by name, and of the weights that are to be inputs too.
    fallback : Python functions by the operators that they compute, "Name" or "domain.Name". A function gets NumPy arrays
        of the inputs that the node has, read-only, and its attributes as keywords, and returns an array, or a
        tuple or a list of them. The shapes
        and types of its results are those that it returns when it is called during the conversion, with zeros; or they are
        given: a pair of the function and of a list of types, each a pair (shape, name of a type).
    sizes : other tensors that are known, as arrays of sizes that are open, and of numbers, and their types.
    computed_open : the operators that may compute arrays from open sizes when the plan is bound; others become steps.
        None: all that can.

    Raises UnsupportedModel, with all nodes that cannot be converted and why.
    """
    if any(node.op in ("QuantizeLinear", "DequantizeLinear") for node in source.nodes):
        source = _with_bytes(source, shapes, fallback or {})
    c = Conversion(source, fallback or {}, computed_open)
    for name, (array, dtype) in (sizes or {}).items():
        c.known_sizes(name, array, dtype)
    for value in source.inputs:
        if value.name not in shapes:
            raise ValueError(f"the shape of the input {value.name!r} is not given")
        c.input(value.name, tuple(shapes[value.name]), value.dtype)
    for value in source.overridable:
        if value.name in shapes:
            c.input(value.name, tuple(shapes[value.name]), value.dtype)
    c.walk(source.nodes)
    graph = c.finished(source)
    if not graph.nodes_of(("Quantize", "QuantizedBinary", "Table8")):
        return graph
    from pysimd.network.convert.tables import with_tables  # here, as few models have bytes

    return with_tables(graph)


def _with_bytes(source: Source, given: Collection[str], fallback: Mapping[str, Any]) -> Source:
    """The source with operators of bytes in place of floats between QuantizeLinear and DequantizeLinear."""
    from pysimd.network.convert.float_products import with_float_products  # here, as few models have these
    from pysimd.network.convert.groups import grouped

    return with_float_products(grouped(source, given, fallback), given, fallback)
