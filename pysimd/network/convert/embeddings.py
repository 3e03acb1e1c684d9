"""Converters of layers of com.microsoft that begin with rows of tables: embeddings, also of integers with scales."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from pysimd.annotations import Array, Shape
from pysimd.network.convert.conversion import Conversion, converts
from pysimd.network.convert.normalize import normalized
from pysimd.network.convert.quantized import BYTES, exact, scale_at
from pysimd.network.open_arrays import later
from pysimd.network.operators import axis_within
from pysimd.network.source import SourceNode
from pysimd.network.unsupported import Unsupported


@converts("com.microsoft.EmbedLayerNormalization", any_type=True)
def _embed(c: Conversion, node: SourceNode) -> None:
    """Inputs: words, [segments], tables of words, of positions and [of segments], scale, bias, [mask], [positions]."""
    if any(c.dtype(i) != "float32" for i in (2, 3, 5, 6)):
        raise Unsupported(f"its tables are {c.dtype(2)}, supported is float32")
    tables = [c.tensor(i) if c.has(i) else None for i in (2, 3, 4)]
    terms = [each if isinstance(each, str) else np.asarray(each, np.float32) for each in (c.value(5), c.value(6))]
    _give_embedded(c, tables, terms, 8)


@converts("com.microsoft.QEmbedLayerNormalization", any_type=True)
def _quantized_embed(c: Conversion, node: SourceNode) -> None:
    """The same of bytes; after the mask, the scales of tables, scale and bias, then their zeros."""

    def floats(i: int, x: str) -> str:
        dtype, scale = c.dtype(i), c.named(scale_at(c, i + 6, f"input {i}"))
        if dtype not in BYTES or c.dtype(i + 11) != dtype or prod(c.shape(i + 11)) != 1 or c.shape_of(scale) != ():
            raise Unsupported(f"input {i} is {dtype}, expected {' or '.join(BYTES)} with a scale and a zero of its type")
        return c.add("Dequantize", x, scale, c.reshape(c.tensor(i + 11), ()), axis=None)

    rows = [_Table(c, i, floats) if c.has(i) else None for i in (2, 3, 4)]
    terms = [floats(i, c.tensor(i)) for i in (5, 6)]
    _give_embedded(c, rows, terms, None)


class _Table:
    """A table of bytes, whose rows become floats when they have been taken."""

    def __init__(self, c: Conversion, i: int, floats: Any) -> None:
        self.name, self.place, self.floats = c.tensor(i), i, floats


def _rows(c: Conversion, table: Any, indices: str) -> str:
    if isinstance(table, str):
        return c.add("Gather", table, indices, axis=0)
    found: str = table.floats(table.place, c.add("Gather", table.name, indices, axis=0))
    return found


def _give_embedded(c: Conversion, tables: list[Any], terms: list[Any], positions: int | None) -> None:
    """tables : of words, positions and segments. positions : the input that may have these."""
    shape = c.shape(0)
    if len(shape) != 2:
        raise Unsupported(f"the words have shape {shape}, expected (N, length)")
    word, place, segment = tables
    total = _rows(c, word, c.indices(0))
    if positions is not None and c.has(positions):
        at = _rows(c, place, c.indices(positions))
    else:
        at = _rows(c, place, c.constant(later(_counted, (1, shape[1]), shape[1])))
    if c.has(1) and segment is not None:
        at_segment = _rows(c, segment, c.indices(1))
        total = c.binary("add", c.binary("add", total, at), at_segment)
    else:
        total = c.binary("add", total, at)
    y = normalized(c, total, 2, float(c.attribute("epsilon", 1e-12)), terms[0], terms[1])
    c.give(y, _counts(c, shape), total)


def _counted(n: int) -> Array:
    return np.arange(int(n), dtype=np.int64)[None]


def _counts(c: Conversion, shape: Shape) -> Any:
    """How many words of each row the mask has; 0 without one."""
    if len(c.node.outputs) < 2 or not c.node.outputs[1]:
        return None
    if not c.has(7):
        return later(_zeros, (shape[0],), shape[0])
    is_one = c.elementwise("equal", c.cast(c.tensor(7), "int32"), np.ones((), np.int32))
    return c.cast(c.reduce(c.cast(is_one, "float32"), "sum", [1], keepdims=False), "int32")


def _zeros(n: int) -> Array:
    return np.zeros(int(n), np.int32)


# ---- rows of a few bits


@converts("com.microsoft.GatherBlockQuantized", any_type=True)
def _gather_of_blocks(c: Conversion, node: SourceNode) -> None:
    """f(float(q - zero) * scale) of the indices that are taken; blocks along another axis have a scale each."""
    data, scale = _unpacked_table(c), c.known(2, "the scale")
    rank, block = data.ndim, int(c.attribute("block_size", 128))
    axis = axis_within(int(c.attribute("gather_axis", 0)), rank)
    along = axis_within(int(c.attribute("quantize_axis", 1)), rank)
    size = data.shape[along]
    count = -(-size // max(block, 1))
    expected = tuple(count if i == along else n for i, n in enumerate(data.shape))
    if axis == along or block < 1 or scale.shape != expected:
        raise Unsupported(
            f"the scale has shape {scale.shape}, expected {expected}, and gather_axis another than quantize_axis"
        )
    zero = _zeros_of_table(c, expected)
    pads = [(0, count * block - size if i == along else 0) for i in range(rank)]
    apart = (*data.shape[:along], count, block, *data.shape[along + 1 :])
    data = np.ascontiguousarray(np.pad(data, pads).reshape(apart))
    place = axis + (axis > along)
    taken = [c.add("Gather", c.constant(each), c.indices(1), axis=place) for each in (data, _apart(scale, along))]
    if zero.any():
        taken.append(c.add("Gather", c.constant(_apart(zero, along)), c.indices(1), axis=place))
    floats = [c.cast(each, "float32") for each in taken]
    x = exact(c, "subtract", floats[0], floats[2]) if len(floats) > 2 else floats[0]
    y = c.named(exact(c, "multiply", x, floats[1]))
    more = len(c.shape(1)) - 1 if axis < along else 0
    shape = c.builder.shape(y)
    y = c.reshape(y, (*shape[: along + more], count * block, *shape[along + more + 2 :]))
    c.give(c.slice(y, along + more, 0, size))


def _apart(of_blocks: Array, along: int) -> Array:
    return np.expand_dims(np.asarray(of_blocks), along + 1)


def _bits(c: Conversion) -> int:
    """Of each number; the reader has unpacked those whose type has 4."""
    bits = int(c.attribute("bits", 4))
    if bits not in (2, 4, 8):
        raise Unsupported(f"bits is {bits}, supported are 2, 4 and 8")
    return bits


def _is_packed(c: Conversion) -> bool:
    """Whether bytes have several numbers; the reader tells where it has unpacked those of a type of a few bits."""
    along = axis_within(int(c.attribute("quantize_axis", 1)), len(c.shape(0)))
    return c.dtype(0) == "uint8" and _bits(c) < 8 and along == len(c.shape(0)) - 1 and not c.flag("unpacked")


def _unpacked_table(c: Conversion) -> Array:
    data = c.known(0, "the table")
    if data.dtype.name not in BYTES:
        raise Unsupported(f"the table is {data.dtype.name}, supported are integers of 2, 4 and 8 bits")
    return unpacked(data, _bits(c)) if _is_packed(c) else data


def _zeros_of_table(c: Conversion, expected: tuple[int, ...]) -> Array:
    """The middle is the zero of bytes, 0 that of types of a few bits."""
    bits = _bits(c)
    if not c.has(3):
        return np.full(expected, 1 << (bits - 1) if not c.flag("unpacked") else 0, np.uint8)
    zero = c.known(3, "the zero point")
    if _is_packed(c):
        zero = unpacked(zero, bits)[..., : expected[-1]]
    if zero.shape != expected:
        raise Unsupported(f"the zero point has shape {zero.shape}, expected {expected}")
    return zero


def unpacked(packed: Array, bits: int) -> Array:
    """The numbers in the bytes of the last dimension, from the low bits of each on."""
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    return (packed[..., None] >> shifts & ((1 << bits) - 1)).reshape(*packed.shape[:-1], -1)
