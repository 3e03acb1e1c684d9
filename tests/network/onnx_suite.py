"""The cases of the ONNX backend's tests: models with inputs and outputs."""

from __future__ import annotations

import warnings
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx

from pysimd.network.onnx_messages import DATAS, FLOATS, INTS, MESSAGE, MESSAGES, PACKED, TEXTS, File, Message
from pysimd.network.onnx_wire import Wire, integers
from support import Array


class Case(NamedTuple):
    """A model with its inputs and outputs; name without "test_"."""

    name: str
    model: Any
    inputs: list[Any]
    outputs: list[Any]

    @property
    def last_operator(self) -> str:
        """One operator of a model, by which the tests are divided."""
        return str(self.model.graph.node[-1].op_type)


@lru_cache
def cases(kind: str, lists: bool = False) -> list[Case]:
    """Those of a kind, "node" or "pytorch-converted", whose inputs and outputs are tensors.

    lists : those that have sequences or optional values, instead.
    """
    from onnx.backend.test.loader import load_model_tests

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the formulas that compute expected outputs
        every = load_model_tests(kind=kind)
    found = []
    for case in every:
        name = case.name[len("test_") :]
        model = case.model or onnx.load(Path(case.model_dir) / "model.onnx")
        for inputs, outputs in case.data_sets or _stored(Path(case.model_dir)):
            values = [array_of(value) for value in (*inputs, *outputs)]
            if name.startswith("cast"):
                values = _without_undefined(values, *outputs)
            if all(isinstance(value, np.ndarray) for value in values) != lists:
                found.append(Case(name, model, values[: len(inputs)], values[len(inputs) :]))
    return found


def _stored(folder: Path) -> list[tuple[list[Any], list[Any]]]:
    """The inputs and outputs that are files."""

    def tensors(data: Path, kind: str) -> list[Any]:
        files = [data / f"{kind}_{i}.pb" for i in range(len(list(data.glob(f"{kind}_*.pb"))))]
        return [onnx.TensorProto.FromString(file.read_bytes()) for file in files]

    return [(tensors(data, "input"), tensors(data, "output")) for data in sorted(folder.glob("test_data_set*"))]


#: Models have bytes in place of integers of a few bits, and float32 in place of floats of 8 bits.
_OF_BITS = {"int4": "int8", "int2": "int8", "uint4": "uint8", "uint2": "uint8"}
_SMALL = ("float8_", "float4_")


def array_of(value: Any) -> Any:
    """Tensors of types that NumPy does not have as arrays of ml_dtypes, of a few bits as bytes, of floats of 8 bits as
    float32; a sequence as it is."""
    if isinstance(value, onnx.TensorProto):
        value = onnx.numpy_helper.to_array(value)
    if isinstance(value, list):
        return list(map(array_of, value))
    if value is None:
        return None
    array = np.asarray(value, order="C")
    small = array.dtype.name.startswith(_SMALL)
    return array.astype("float32" if small else _OF_BITS.get(array.dtype.name, array.dtype))


def _without_undefined(values: list[Any], result: Any) -> list[Any]:
    """Zeros in place of numbers that the integers of a few bits in the result do not hold, in source and result: ONNX leaves
    their casts undefined, and versions of ml_dtypes, which computed the result, differ."""
    dtype = onnx.numpy_helper.to_array(result).dtype if isinstance(result, onnx.TensorProto) else np.dtype(object)
    source = values[0]
    if dtype.name not in _OF_BITS or source.dtype.kind != "f":
        return values
    bits = int(dtype.name[-1])
    least = 0 if dtype.name.startswith("u") else -(1 << bits - 1)
    held = (np.trunc(source) >= least) & (np.trunc(source) < least + (1 << bits))
    first, last = (np.where(held, value, value.dtype.type(0)) for value in (source, values[-1]))
    return [first, *values[1:-1], last]


# ---- messages, as we read them and as the package does

_TYPES = {"float_data": "<f4", "double_data": "<f8", "int32_data": "<i4", "int64_data": "<i8", "uint64_data": "<u8"}


@lru_cache
def kinds(of: Any) -> dict[str, tuple[int, int]]:
    """The number and the kind of each field that is read."""
    return {name: (key >> 3, kind) for key, (name, kind, _) in of.FIELDS.items()}


def assert_same(ours: Message, theirs: Any, exact: bool = True) -> None:
    """All fields that are read. If not exact, without those of which the package keeps only one, or only known numbers."""
    of: Any = type(ours)
    known, given = theirs.DESCRIPTOR.fields_by_name, vars(ours)
    for name in {*given, *(each.name for each, _ in theirs.ListFields())}.intersection(kinds(of)):
        number, kind = kinds(of)[name]
        assert known[name].number == number
        if not exact and (known[name].enum_type or known[name].containing_oneof):
            continue
        found, expected = getattr(ours, name), getattr(theirs, name)
        if kind == MESSAGES:
            assert len(found) == len(expected), name
            for each, other in zip(found, expected):
                assert_same(each, other, exact)
        elif kind == PACKED:
            assert decoded(found, _TYPES[name]).tobytes() == np.array(expected, _TYPES[name]).tobytes(), name
        elif kind in (INTS, FLOATS, TEXTS, DATAS):
            assert str(list(found)) == str(list(expected)), name  # NaN too
        else:
            assert name in given and theirs.HasField(name), name
            if kind == MESSAGE:
                assert_same(found, expected, exact)
            else:
                assert_same_value(found, expected, name)


def assert_same_value(found: Any, expected: Any, name: str) -> None:
    if isinstance(found, np.ndarray):
        assert found.tobytes() == expected, name
    elif name in ("data_type", "elem_type"):  # of which the package keeps 32 bits
        assert (found - expected) % (1 << 32) == 0, name
    else:
        assert str(found) == str(expected), name


def decoded(data: Any, dtype: str) -> Array:
    return np.frombuffer(data, dtype) if dtype[1] == "f" else integers(data, np.dtype(dtype))


def parsed(data: bytes) -> File:
    return Wire(np.frombuffer(data, np.uint8)).message(File)
