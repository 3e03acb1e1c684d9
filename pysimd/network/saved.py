"""Files of models in our own format, ".simdnet", which need no other package.

A file is a line of magic with the version, the length of a header and its checksum (CRC-32), each a number of 8 bytes, the
header as JSON, and the bytes of arrays, each at a multiple of 64. Weights are mapped, and read when they are used; so they
have no checksum, which would read all of them first.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import prod
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np

from pysimd.annotations import Array
from pysimd.network import prepared
from pysimd.network.files import MAGIC, whole
from pysimd.network.mapped import refuse_devices
from pysimd.network.records import replace
from pysimd.network.source import Source, SourceNode, Value, in_order

if TYPE_CHECKING:
    from pysimd.network.contexts import Contexts
    from pysimd.network.runner import Runner

_VERSION = 1
_FIRST = MAGIC + b"%04d\n"
_START = len(_FIRST % _VERSION) + 16
_ALIGNMENT = 64
_MOST_HEADER = 1 << 28
_MOST_VALUES = 1 << 20  # of JSON in the header: each becomes an object of Python, larger than its text
_DEPTH = 24  # of subgraphs within subgraphs
_MOST_DIMENSIONS = 32  # NumPy's, before version 2
_DTYPES = (
    "bool", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
)  # fmt: skip


#: Describes a plan for JSON; its arrays are given places.
Describe = Callable[[prepared.Arrays], Mapping[str, Any]]
#: A plan that is to be written, and what it is for.
Plan = tuple[prepared.Purpose, Describe]


class StoredPlan(NamedTuple):
    """A plan in a file.

    text, checksum : that of its text, which has been compared with nothing yet.
    parser : of the arrays of the file.
    """

    purpose: prepared.Purpose
    text: Array
    checksum: int
    parser: _Parser
    path: str

    def runner(self, contexts: Contexts, described: Any, progress: Any) -> Runner | None:
        """A runner of the plan; None if the library refuses a context, whose algorithm may depend on the processor.

        contexts, described, progress : as of :meth:`Runner.of_stored`.

        Raises ValueError for a plan that is damaged.
        """
        from pysimd.network.planning import uncollected
        from pysimd.network.runner import Runner

        try:
            with uncollected():
                return Runner.of_stored(self._program(contexts), described, progress)
        except prepared.Misfit:
            return None
        except prepared.ERRORS as error:
            raise ValueError(f"{self.path} is truncated or modified: its plan cannot be used: {_told(error)}") from None

    def _program(self, contexts: Contexts) -> prepared.StoredProgram:
        import json
        import zlib

        text = self.text.tobytes()
        if zlib.crc32(text) != self.checksum:
            raise ValueError("it has another checksum")
        return prepared.StoredProgram(json.loads(text), self.purpose.layout, self.parser.array, contexts)


# ---- writing


def write(source: Source, path: Any, plans: Sequence[Plan] = ()) -> None:
    """Writes a model. The file is complete or as before: it is written under another name, and then renamed.

    plans : of preparations, to be read without planning.
    """
    import json  # here, as it is not needed for ONNX files
    import zlib

    arrays = _Arrays()
    described = _described(source, arrays)
    if plans:
        known = {prepared.key_of(array): place for array, place in zip(arrays.found, arrays.places)}
        kept = prepared.Arrays(arrays.add, known)
        described["plans"] = [_described_plan(*plan, kept) for plan in plans]
    text = json.dumps({**described, "bytes": arrays.end}).encode()
    header = text + b" " * (-(_START + len(text)) % _ALIGNMENT)
    if len(header) > _MOST_HEADER:
        raise ValueError(f"the model without weights has {len(header)} bytes, which is more than {_MOST_HEADER}")
    _refuse_many_values(header)
    with whole(path) as file:
        file.write(_FIRST % _VERSION + len(header).to_bytes(8, "little"))
        file.write(zlib.crc32(header).to_bytes(8, "little") + header)
        for array in arrays.found:
            _write_array(file, array)


def _write_array(file: BinaryIO, array: Array) -> None:
    data = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    file.write(data.reshape(-1).view(np.uint8).data)
    file.write(bytes(-data.nbytes % _ALIGNMENT))


class _Arrays:
    """The arrays of a model, one after the other."""

    def __init__(self) -> None:
        self.found: list[Array] = []
        self.places: list[dict[str, Any]] = []  # of these
        self.end = 0  # where the next one begins

    def add(self, array: Array) -> dict[str, Any]:
        """What the header says of an array."""
        if array.dtype.name not in _DTYPES:
            raise ValueError(f"a weight has dtype {array.dtype}, which cannot be saved")
        place = {"offset": self.end, "dtype": array.dtype.name, "shape": array.shape}
        self.found.append(array)
        self.places.append(place)
        self.end += -(-array.nbytes // _ALIGNMENT) * _ALIGNMENT
        return place


def _described_plan(purpose: prepared.Purpose, describe: Describe, arrays: prepared.Arrays) -> dict[str, Any]:
    """What the header says of a plan: its text is one of the arrays."""
    import json
    import zlib

    text = json.dumps(describe(arrays), separators=(",", ":")).encode()
    place = arrays.add(np.frombuffer(text, np.uint8))
    return {**purpose.described(), "text": place, "checksum": zlib.crc32(text)}


def _described(source: Source, arrays: _Arrays) -> dict[str, Any]:
    """A source for JSON; its arrays are appended to `arrays`."""
    return {
        "name": source.name,
        "opset": source.opset,
        "inputs": [_value(value) for value in source.inputs],
        "outputs": [_value(value) for value in source.outputs],
        "nodes": [
            {
                "op": node.op,
                "inputs": node.inputs,
                "outputs": node.outputs,
                "attributes": {name: _attribute(value, arrays) for name, value in node.attributes.items()},
                "name": node.name,
                "domain": node.domain,
            }
            for node in source.nodes
        ],
        "weights": {name: arrays.add(array) for name, array in source.weights.items()},
        "overridable": [_value(value) for value in source.overridable],
        "values": list(source.values),
    }


def _value(value: Value) -> list[Any]:
    return [value.name, value.dtype, None if value.dims is None else list(value.dims)]


def _attribute(value: Any, arrays: _Arrays) -> Any:
    """Arrays and subgraphs are objects with one key; everything else is what JSON has."""
    if isinstance(value, np.ndarray):
        return {"array": arrays.add(value)}
    if isinstance(value, Source):
        return {"graph": _described(value, arrays)}
    return value


# ---- reading


def read(path: Any) -> Source:
    """Reads a model. Raises ValueError for another, truncated or modified file; OSError if it cannot be read."""
    return _Opened(path).source()


class Outline(NamedTuple):
    """A model with plans.

    source : without weights, and of nodes the operators alone: a plan needs no more.
    whole : reads all of it, and raises what :func:`read` does.
    plans : those of the file; there may be none.
    """

    source: Source
    whole: Callable[[], Source]
    plans: Sequence[StoredPlan]


def outline(path: Any) -> Outline:
    """Reads what a model with plans needs. Raises what :func:`read` does."""
    opened = _Opened(path)
    return Outline(opened.ends(), opened.source, opened.plans())


class _Opened:
    """A file whose header is read and has the right checksum."""

    def __init__(self, path: Any) -> None:
        import json

        text, size = _header(path)
        begin = _START + len(text)
        self._path = path
        with self._explained():
            _refuse_many_values(text)
            self._given = json.loads(text)
            if size - begin != _integer(self._given["bytes"]):
                raise ValueError(f"its weights have {size - begin} bytes, expected {self._given['bytes']}")
            data = np.memmap(path, np.uint8, "r", begin) if size > begin else np.zeros(0, np.uint8)
            self._parser = _Parser(np.asarray(data))  # views of np.memmap take three times as long

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (KeyError, TypeError, AttributeError, ValueError, RecursionError, OverflowError) as error:
            raise ValueError(f"{self._path} is truncated or modified: {_told(error)}") from None

    def source(self) -> Source:
        """All that the file says."""
        with self._explained():
            return replace(in_order(self._parser.source(self._given, 0)), file=os.fsdecode(self._path))

    def ends(self) -> Source:
        """The source of an :class:`Outline`."""
        with self._explained():
            found = self._parser.source({**self._given, "nodes": [], "weights": {}}, 0)
            nodes = [SourceNode(_text(node["op"]), (), ()) for node in _list(self._given["nodes"])]
            return replace(found, nodes=nodes, file=os.fsdecode(self._path))

    def plans(self) -> list[StoredPlan]:
        """The plans, whose texts are not read yet."""
        with self._explained():
            return [self._parser.plan(each, os.fsdecode(self._path)) for each in _list(self._given.get("plans", []))]


def _header(path: Any) -> tuple[bytes, int]:
    """The text of the header, and the bytes of the file."""
    import zlib

    refuse_devices(path)
    size = os.path.getsize(path)
    with open(path, "rb") as file:
        first = file.read(len(_FIRST % _VERSION))
        if not first.startswith(MAGIC):
            raise ValueError(f"{path} is not a model file")
        if first != _FIRST % _VERSION:
            version = first[len(MAGIC) :].strip().decode("ascii", "replace")
            raise ValueError(f"{path} has version {version} of the format, this package reads version {_VERSION}: update it")
        length, checksum = (int.from_bytes(file.read(8), "little") for _ in range(2))
        if length > min(_MOST_HEADER, size - _START):
            raise ValueError(f"{path} is truncated or modified: its header would have {length} bytes")
        text = file.read(length)
    if zlib.crc32(text) != checksum:
        raise ValueError(f"{path} is truncated or modified: its header has another checksum")
    return text, size


def _refuse_many_values(text: bytes) -> None:
    count = sum(map(text.count, (b",", b"[", b"{")))
    if count > _MOST_VALUES:
        raise ValueError(f"the model without weights has {count} values, which is more than {_MOST_VALUES}")


def _told(error: Exception) -> str:
    return f"its header has no {error}" if isinstance(error, KeyError) else str(error)


class _Parser:
    """Makes sources of what JSON has; what is not there, or of another type, raises an error of Python."""

    def __init__(self, data: Array) -> None:
        self._data = data

    def source(self, given: Any, depth: int) -> Source:
        """A source, or a subgraph."""
        if depth > _DEPTH:
            raise ValueError(f"graphs are nested more than {_DEPTH} deep")
        nodes = [
            SourceNode(
                _text(node["op"]),
                _names(node["inputs"]),
                _names(node["outputs"]),
                {_text(name): self._attribute(value, depth) for name, value in node["attributes"].items()},
                _text(node["name"]),
                _text(node["domain"]),
            )
            for node in _list(given["nodes"])
        ]
        return Source(
            _text(given["name"]),
            _integer(given["opset"]),
            [_parsed_value(value) for value in _list(given["inputs"])],
            [_parsed_value(value) for value in _list(given["outputs"])],
            nodes,
            {_text(name): self.array(place) for name, place in given["weights"].items()},
            [_parsed_value(value) for value in _list(given.get("overridable", []))],  # which older files do not have
            _names(given.get("values", [])),  # nor these
        )

    def plan(self, given: Any, path: str) -> StoredPlan:
        """A plan, whose text is not read yet."""
        version, level, prefer, layout = [_text(given[name]) for name in ("version", "level", "prefer", "layout")]
        shapes = {_text(name): tuple(map(_integer, _list(shape))) for name, shape in given["shapes"].items()}
        text = self.array(given["text"])
        if text.dtype != np.uint8:
            raise TypeError("the text of a plan is no bytes")
        return StoredPlan(
            prepared.Purpose(version, level, prefer, layout, shapes), text, _integer(given["checksum"]), self, path
        )

    def _attribute(self, value: Any, depth: int) -> Any:
        if isinstance(value, dict):
            return self.array(value["array"]) if "array" in value else self.source(value["graph"], depth + 1)
        if not all(type(each) in (int, float, str) for each in (value if isinstance(value, list) else [value])):
            raise ValueError("an attribute has a value of an unknown type")
        return value

    def array(self, place: Any) -> Array:
        """The array at a place."""
        dtype, shape = place["dtype"], tuple(map(_integer, _list(place["shape"])))
        if len(shape) > _MOST_DIMENSIONS:
            raise ValueError(f"an array has {len(shape)} dimensions")
        if dtype not in _DTYPES:
            raise ValueError(f"an array has dtype {dtype!r}")
        offset, nbytes = _integer(place["offset"]), prod(shape) * np.dtype(dtype).itemsize
        if offset % _ALIGNMENT or offset + nbytes > self._data.size:
            raise ValueError(f"an array of {nbytes} bytes at {offset} is not within the {self._data.size} bytes of data")
        array: Array = self._data[offset : offset + nbytes].view(np.dtype(dtype).newbyteorder("<")).reshape(shape)
        return array


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a string")
    return value


def _integer(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise TypeError(f"{value!r} is not a size")
    return value


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(f"{value!r} is not a list")
    return value


def _names(values: Any) -> tuple[str, ...]:
    return tuple(map(_text, _list(values)))


def _parsed_value(value: Any) -> Value:
    name, dtype, dims = _list(value)
    if dims is not None and not all(dim is None or isinstance(dim, str) or _integer(dim) >= 0 for dim in _list(dims)):
        raise TypeError(f"{dims!r} are not dimensions")
    return Value(_text(name), _text(dtype), None if dims is None else tuple(dims))
