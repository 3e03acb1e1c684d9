"""What the operators of :mod:`pysimd.network.convert.fold` get: the attributes and known inputs of a node, and limits."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from pysimd.network.sizes import broadcast_shapes, whole
from pysimd.network.source import SourceNode

#: The bytes of the largest result.
MOST_BYTES = 1 << 31

#: The types of ONNX by their numbers.
DTYPES = {
    1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 9: "bool", 10: "float16",
    11: "float64", 12: "uint32", 13: "uint64",
}  # fmt: skip


#: Types of a few bits, by their numbers: the type of NumPy whose elements have their values, and the bits.
OF_BITS = {21: ("uint8", 4), 22: ("int8", 4), 25: ("uint8", 2), 26: ("int8", 2)}


def limits_of(number: int) -> tuple[str, int, int]:
    """A type of integers with a number of ONNX: the type of its elements here, its least and its largest number."""
    name, bits = OF_BITS.get(number, ("", 0))
    name = name or dtype_of(number).name
    if not bits:
        return name, int(np.iinfo(name).min), int(np.iinfo(name).max)
    least = -(1 << (bits - 1)) if name == "int8" else 0
    return name, least, least + (1 << bits) - 1


class Node:
    """A node whose inputs are known."""

    def __init__(self, node: SourceNode, inputs: Sequence[Any], opset: int) -> None:
        self.attributes, self.outputs = node.attributes, len(node.outputs)
        self.inputs, self.opset = inputs, opset

    def get(self, name: str, default: Any = None) -> Any:
        """An attribute."""
        return self.attributes.get(name, default)

    def input(self, i: int) -> Any:
        """An input; None if it is missing."""
        return self.inputs[i] if i < len(self.inputs) else None

    def ints(self, i: int, name: str, default: Any = None) -> Any:
        """Integers that are an input, or in older versions an attribute."""
        given = self.input(i)
        if given is not None:
            return [whole(n) for n in np.asarray(given).reshape(-1)]
        found = self.get(name)
        return default if found is None else [int(n) for n in np.reshape(found, -1)]

    def numbers(self, name: str, default: Sequence[int]) -> list[int]:
        """An attribute with integers."""
        return [int(n) for n in self.get(name) or default]

    def dtype(self, name: str) -> Any:
        """The type that an attribute names, float32 by default."""
        return dtype_of(self.get(name, 1))

    def bounded(self, shape: Iterable[Any], dtype: Any) -> tuple[int, ...]:
        """A shape of a result that is not too large."""
        return bounded(shape, dtype)

    def axis(self, default: int, rank: int) -> int:
        """The attribute axis, counted from the first one."""
        axis = int(self.get("axis", default))
        if not -rank <= axis < max(rank, 1):
            raise ValueError(f"axis is {axis}, expected one of {rank} dimensions")
        return axis % max(rank, 1)


def bounded(shape: Iterable[Any], dtype: Any) -> tuple[int, ...]:
    """A shape of a result that is not too large."""
    sizes = tuple(whole(n) for n in shape)
    if any(n < 0 for n in sizes) or math.prod(sizes) * np.dtype(dtype).itemsize > MOST_BYTES:
        raise ValueError(f"the result would have the shape {sizes}")
    return sizes


def bounded_broadcast(arrays: Sequence[Any]) -> None:
    """Refuses arrays whose elements make too large a result together: small ones can, along different dimensions."""
    arrays = [np.asarray(each) for each in arrays]
    bounded(broadcast_shapes(*(each.shape for each in arrays)), np.result_type(*arrays))


def dtype_of(number: Any) -> Any:
    """The type with a number of ONNX; bfloat16 is computed as float32."""
    if int(number) == 16:
        return np.dtype(np.float32)
    if int(number) not in DTYPES:
        raise ValueError(f"the type {number} of ONNX is not supported")
    return np.dtype(DTYPES[int(number)])
