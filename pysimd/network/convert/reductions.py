"""Converters of reductions, of functions along an axis, and of quantization."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from pysimd.annotations import Shape
from pysimd.network.convert.conversion import CAST_TYPES, Conversion, Value, converts, converts_others, float32_of
from pysimd.network.convert.float8 import SMALL_FLOATS
from pysimd.network.convert.fold_node import OF_BITS, limits_of
from pysimd.network.convert.fold_numbers import of_blocks
from pysimd.network.open_arrays import spread
from pysimd.network.operators import axis_within
from pysimd.network.sizes import whole
from pysimd.network.source import SourceNode
from pysimd.network.unsupported import NotHere, Unsupported

_REDUCE = {
    "ReduceSum": "sum",
    "ReduceMean": "mean",
    "ReduceMax": "max",
    "ReduceMin": "min",
    "ReduceProd": "prod",
    "ReduceL1": "l1",
    "ReduceL2": "l2",
    "ReduceSumSquare": "sum_square",
    "ReduceLogSumExp": "logsumexp",
    "ReduceLogSum": "sum",
}


@converts(*_REDUCE)
def _reduce(c: Conversion, node: SourceNode) -> None:
    """Axes are an attribute or, in later opsets, an input; without axes it is over all of them, or over none."""
    x, rank = c.tensor(0), len(c.shape(0))
    given = c.numbers(1, "the axes") if c.has(1) else c.attribute("axes", None)
    axes = [axis_within(int(axis), rank) for axis in given or ()]
    if not axes and not c.flag("noop_with_empty_axes"):
        axes = list(range(rank))
    if axes:
        x = c.reduce(x, _REDUCE[node.op], axes, c.flag("keepdims", 1))
    elif node.op in ("ReduceL1", "ReduceL2"):
        x = c.unary(x, "absolute")
    elif node.op == "ReduceSumSquare":
        x = c.binary("multiply", x, x)
    c.give(c.unary(x, "log") if node.op == "ReduceLogSum" else x)


@converts("ArgMax", "ArgMin")
def _arg(c: Conversion, node: SourceNode) -> None:
    axis, keepdims = axis_within(int(c.attribute("axis", 0)), len(c.shape(0))), c.flag("keepdims", 1)
    options = {"function": node.op.lower(), "axes": (axis,), "keepdims": keepdims, "last": c.flag("select_last_index")}
    c.give(c.add("Reduce", c.tensor(0), **options))


@converts_others(
    "ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceSumSquare"
)
def _reduce_integers(c: Conversion, node: SourceNode) -> None:
    x, rank = c.typed(0), len(c.shape(0))
    given = c.numbers(1) if c.has(1) else c.attribute("axes", None)
    axes = [axis_within(int(axis), rank) for axis in given or ()] or list(range(rank))
    if c.dtype(0) not in CAST_TYPES or (c.flag("noop_with_empty_axes") and not given):
        raise NotHere
    c.give(c.reduce(x, _REDUCE[node.op], axes, c.flag("keepdims", 1)))


@converts_others("ArgMax", "ArgMin")
def _arg_of_integers(c: Conversion, node: SourceNode) -> None:
    if c.dtype(0) not in CAST_TYPES:
        raise NotHere
    _arg(c, node)


@converts("Softmax", "LogSoftmax")
def _softmax(c: Conversion, node: SourceNode) -> None:
    """Before opset 13, of all dimensions from the axis on together."""
    x, shape, log = c.tensor(0), c.shape(0), node.op == "LogSoftmax"
    old = c.opset < 13
    axis = axis_within(int(c.attribute("axis", 1 if old else -1)), len(shape))
    if not old or prod(shape[axis + 1 :]) == 1:
        return c.give(c.add("Softmax", x, axis=axis, log=log))
    y = c.add("Softmax", c.reshape(x, (prod(shape[:axis]), prod(shape[axis:]))), axis=1, log=log)
    return c.give(c.reshape(y, shape))


@converts("TopK", any_type=True)
def _top_k(c: Conversion, node: SourceNode) -> None:
    """Before opset 10, k is an attribute."""
    if c.dtype(0) not in CAST_TYPES:
        return c.by_numpy()
    axis = axis_within(int(c.attribute("axis", -1)), len(c.shape(0)))
    numbers = c.numbers(1, "k") if c.has(1) else [c.attribute("k")]
    if len(numbers) != 1:
        raise Unsupported(f"k has {len(numbers)} elements, expected 1")
    k, largest, ordered = whole(numbers[0]), c.flag("largest", 1), c.flag("sorted", 1)
    return c.give(*c.add_all("TopK", c.typed(0), k=k, axis=axis, largest=largest, sorted=ordered))


# ---- quantization


_BYTES = ("uint8", "int8")


def _parameters(c: Conversion) -> tuple[list[str], int | None]:
    """The scale and zero point, and the axis if there are several; one of any shape is for all elements."""
    names = [_flat(c, 1)]
    shape = c.builder.shape(names[0])
    if c.has(2):
        names.append(_spread(c, _flat(c, 2), shape))
    return names, axis_within(int(c.attribute("axis", 1)), len(c.shape(0))) if shape else None


def _spread(c: Conversion, zero: str, shape: Shape) -> str:
    """A zero point for each scale."""
    if c.is_known(2):
        return c.constant(spread(c.known(2).reshape(c.builder.shape(zero)), shape))
    return zero if c.builder.shape(zero) == shape else c.add("Expand", c.reshape(zero, (1,) * len(shape)), shape=shape)


def _flat(c: Conversion, i: int) -> str:
    """An input as a tensor of the graph; without dimensions if it has one element."""
    single = prod(c.shape(i)) == 1
    if not c.is_known(i):
        return c.reshape(c.tensor(i), ()) if single else c.tensor(i)
    value = float32_of(c.known(i))
    return c.constant(value.reshape(()) if single else value)


_TYPES = {2: "uint8", 3: "int8", 4: "uint16", 5: "int16"}
_NUMBERS = {name: number for number, name in _TYPES.items()}


@converts("QuantizeLinear", "com.microsoft.QuantizeLinear", any_type=True)
def _quantize(c: Conversion, node: SourceNode) -> None:
    from pysimd.network.convert.quantized import exact  # here, as few models need it

    if c.dtype(0) not in ("float32", "int32"):
        raise Unsupported(f"its input is {c.dtype(0)}, supported are float32 and int32")
    chosen = int(c.attribute("output_dtype", 0)) or 2
    if chosen in SMALL_FLOATS:
        return c.by_numpy()
    of_bits = chosen in OF_BITS
    dtype = OF_BITS[chosen][0] if of_bits else c.dtype(2) if c.has(2) else _TYPES.get(chosen, "")
    if of_bits and c.has(2) and c.dtype(2) != dtype:
        raise Unsupported(f"the zero point has type {c.dtype(2)}, expected {dtype} for output_dtype {chosen}")
    if dtype not in _TYPES.values():
        what = f"the zero point has type {dtype}" if dtype else f"output_dtype is {chosen}"
        raise Unsupported(f"{what}, supported are {', '.join(_TYPES.values())}")
    x = c.cast(c.tensor(0), "float32")
    if dtype in _BYTES and not of_bits and not c.attribute("block_size", 0):
        names, axis = _parameters(c)
        return c.give(c.add("Quantize", x, *names, axis=axis, dtype=dtype))
    _, least, most = limits_of(chosen if of_bits else _NUMBERS[dtype])
    y = c.unary(str(exact(c, "divide", x, _spread_along(c, 1))), "rint")
    if c.has(2):
        zero = _spread_along(c, 2)
        y = str(exact(c, "add", y, c.cast(zero, "float32") if isinstance(zero, str) else zero.astype(np.float32)))
    y = c.select(c.elementwise("not_equal", y, y), np.float32(least), y)  # NaN is the least number
    numbers = c.cast(c.unary(y, "restrict_range", least, most), "int32")
    found = c.cast(numbers, dtype)
    c.shared["numbers", found] = numbers
    return c.give(found)


@converts("DequantizeLinear", "com.microsoft.DequantizeLinear", any_type=True)
def _dequantize(c: Conversion, node: SourceNode) -> None:
    from pysimd.network.convert.quantized import exact, integers  # here, as few models need it

    dtype = c.dtype(0)
    if c.attribute("of_floats", 0):
        zero = _spread_along(c, 2) if c.has(2) else np.zeros((), np.float32)
        return c.give(exact(c, "multiply", exact(c, "subtract", c.tensor(0), zero), _spread_along(c, 1)))
    if dtype not in (*_TYPES.values(), "int32"):
        raise Unsupported(f"its input is {dtype}, supported are {', '.join(_TYPES.values())} and int32")
    if c.has(2) and c.dtype(2) != dtype:
        raise Unsupported(f"the zero point has type {c.dtype(2)}, its input {dtype}")
    if dtype in _BYTES and not c.attribute("block_size", 0):
        names, axis = _parameters(c)
        return c.give(c.add("Dequantize", c.tensor(0), *names, axis=axis))
    x: Value = c.shared.get(("numbers", c.tensor(0))) or c.cast(c.tensor(0), "int32")  # NumPy converts those of 16 bits
    if c.has(2):
        zero = _spread_along(c, 2)
        x = integers(c, "subtract", x, c.cast(zero, "int32") if isinstance(zero, str) else zero.astype(np.int32))
    return c.give(exact(c, "multiply", c.cast(str(x), "float32"), _spread_along(c, 1)))


def _spread_along(c: Conversion, i: int) -> Value:
    """A scale or zero in the dimensions of input 0: one for all, of an axis, or of blocks, which are known."""
    shape, block = c.shape(0), int(c.attribute("block_size", 0))
    axis = axis_within(int(c.attribute("axis", 1)), len(shape)) if block or prod(c.shape(i)) != 1 else 0
    if block:
        return of_blocks(float32_of(c.known(i, "the scale or the zero point")), shape, axis, block)
    single = prod(c.shape(i)) == 1
    if not single and c.shape(i) != (shape[axis],):
        raise Unsupported(f"the scale or the zero point has shape {c.shape(i)}, expected one number or {(shape[axis],)}")
    own = () if single else tuple(shape[axis] if k == axis else 1 for k in range(len(shape)))
    value: Any = c.value(i)
    return c.reshape(value, own) if isinstance(value, str) else float32_of(value).reshape(own)
