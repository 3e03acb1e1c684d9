"""Operators of ONNX that compute numbers, by NumPy; see :mod:`pysimd.network.convert.fold`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from pysimd.annotations import Array
from pysimd.network.convert.equations import indices_of
from pysimd.network.convert.float8 import SMALL_FLOATS, rounded
from pysimd.network.convert.fold_node import MOST_BYTES, OF_BITS, Node, bounded, bounded_broadcast, limits_of
from pysimd.network.sizes import broadcast_shapes

# ---- arithmetic


def _divide(node: Node, a: Array, b: Array) -> Any:
    bounded_broadcast((a, b))
    if a.dtype.kind == "f":
        return a / b
    if np.any(b == 0):
        raise ValueError("an integer is divided by 0")
    if a.dtype == object or b.dtype == object:  # sizes: rounded towards 0, as quotients of C
        return np.vectorize(lambda n, d: n // d if (n >= 0) == (d > 0) else -(-n // d), otypes=[object])(a, b)
    return (np.abs(a) // np.abs(b) * np.sign(a) * np.sign(b)).astype(a.dtype) if a.dtype.kind == "i" else a // b


def _mod(node: Node, a: Array, b: Array) -> Any:
    bounded_broadcast((a, b))
    if a.dtype.kind in "iu" and np.any(b == 0):
        raise ValueError("an integer is divided by 0")
    if object in (a.dtype, b.dtype) and np.any(b == 0):
        raise ValueError("an integer is divided by 0")
    return np.fmod(a, b) if node.get("fmod", 0) else np.mod(a, b)


def _dropout(node: Node, x: Array, ratio: Any = None, training: Any = None) -> Any:
    if training is not None and np.any(training):
        raise ValueError("training_mode is true")
    return (x, np.ones(x.shape, bool))[: node.outputs]


def _several(function: Callable[..., Any]) -> Callable[..., Any]:
    def computed(node: Node, *arrays: Array) -> Any:
        bounded_broadcast(arrays)
        return reduce(function, arrays)

    return computed


def _mean(node: Node, *arrays: Array) -> Any:
    bounded_broadcast(arrays)
    return (reduce(np.add, arrays) / len(arrays)).astype(arrays[0].dtype)


def _clip(node: Node, x: Array, low: Any = None, high: Any = None) -> Any:
    if node.opset < 11:
        low, high = node.get("min"), node.get("max")
    for bound, beyond in ((low, np.less), (high, np.greater)):  # of a bound that is NaN, nothing is
        if bound is not None:
            bound = np.asarray(bound, x.dtype)
            x = np.where(beyond(x, bound), bound, x)
    return x


def _softmax(node: Node, x: Array) -> Any:
    if not x.size:
        return x
    if node.opset < 13:
        axis = int(node.get("axis", 1)) % x.ndim
        flat = x.reshape(math.prod(x.shape[:axis]), -1)
        raised = np.exp(flat - flat.max(-1, keepdims=True))
        return (raised / raised.sum(-1, keepdims=True)).reshape(x.shape)
    axis = int(node.get("axis", -1))
    raised = np.exp(x - x.max(axis, keepdims=True))
    return raised / raised.sum(axis, keepdims=True)


def _log_softmax(node: Node, x: Array) -> Any:
    shape, axis = x.shape, int(node.get("axis", 1 if node.opset < 13 else -1))
    if node.opset < 13:
        x, axis = x.reshape(math.prod(shape[: axis % x.ndim]), -1), 1
    small = x - x.max(axis, keepdims=True, initial=-np.inf)
    return (small - np.log(np.exp(small).sum(axis, keepdims=True))).reshape(shape)


def _hardmax(node: Node, x: Array) -> Any:
    shape, axis = x.shape, int(node.get("axis", 1 if node.opset < 13 else -1)) % x.ndim
    if node.opset < 13:
        x, axis = x.reshape(math.prod(x.shape[:axis]), -1), 1
    first = np.expand_dims(np.argmax(x, axis), axis)
    found = np.zeros_like(x)
    np.put_along_axis(found, first, 1, axis)
    return found.reshape(shape)


def _product(a: Array, b: Array) -> Any:
    """The product of matrices."""
    lead = broadcast_shapes(a.shape[:-2], b.shape[:-2])
    bounded((*lead, *a.shape[-2:-1], *(b.shape[-1:] if b.ndim > 1 else ())), np.result_type(a, b))
    return np.matmul(a, b)


def _gemm(node: Node, a: Array, b: Array, c: Any = None) -> Any:
    left, right = a.T if node.get("transA", 0) else a, b.T if node.get("transB", 0) else b
    alpha, beta = (node.get(name, 1.0) for name in ("alpha", "beta"))  # a product with 1.0 would round integers
    found = _product(left, right)
    found = found if alpha == 1 else alpha * found
    return (found if c is None else found + (c if beta == 1 else beta * c)).astype(a.dtype)


def _einsum(node: Node, *arrays: Array) -> Any:
    terms, target, sizes = indices_of(str(node.get("equation")), [array.shape for array in arrays])
    bounded([sizes[letter] for letter in target], arrays[0].dtype)
    numbers = {letter: number for number, letter in enumerate(sizes)}
    operands = [each for array, term in zip(arrays, terms) for each in (array, [numbers[letter] for letter in term])]
    found = np.einsum(*operands, [numbers[letter] for letter in target], optimize=("greedy", MOST_BYTES // 8))
    return np.asarray(found).astype(arrays[0].dtype)


def _unary(function: Callable[[Array], Any]) -> Callable[..., Any]:
    """An element-wise function that keeps the type."""
    return lambda node, x: np.asarray(function(x)).astype(x.dtype)


def _binary(function: Callable[[Array, Array], Any]) -> Callable[..., Any]:
    def computed(node: Node, a: Array, b: Array) -> Any:
        bounded_broadcast((a, b))
        found = np.asarray(function(a, b))
        return found if found.dtype == object else found.astype(a.dtype)  # of sizes, in one of them

    return computed


def _logical(function: Callable[..., Any]) -> Callable[..., Any]:
    def computed(node: Node, *arrays: Array) -> Any:
        bounded_broadcast(arrays)
        return function(*arrays)

    return computed


def _shift(node: Node, a: Array, b: Array) -> Any:
    return np.left_shift(a, b) if node.get("direction") == "LEFT" else np.right_shift(a, b)


def _shrink(node: Node, x: Array) -> Any:
    bias, limit = node.get("bias", 0.0), node.get("lambd", 0.5)
    return np.where(x < -limit, x + bias, np.where(x > limit, x - bias, 0)).astype(x.dtype)


def _thresholded_relu(node: Node, x: Array) -> Any:
    return np.where(x > node.get("alpha", 1.0), x, 0).astype(x.dtype)


def _leaky_relu(node: Node, x: Array) -> Any:
    return np.where(x < 0, x * node.get("alpha", 0.01), x).astype(x.dtype)


def _elu(node: Node, x: Array) -> Any:
    return np.where(x > 0, x, node.get("alpha", 1.0) * np.expm1(np.minimum(x, 0))).astype(x.dtype)


def _celu(node: Node, x: Array) -> Any:
    alpha = node.get("alpha", 1.0)
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0) / alpha)).astype(x.dtype)


def _selu(node: Node, x: Array) -> Any:
    alpha, gamma = node.get("alpha", 1.67326319217681884765625), node.get("gamma", 1.05070102214813232421875)
    return (gamma * np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))).astype(x.dtype)


def _hard_sigmoid(node: Node, x: Array) -> Any:
    return np.clip(node.get("alpha", 0.2) * x + node.get("beta", 0.5), 0, 1).astype(x.dtype)


def _swish(node: Node, x: Array) -> Any:
    return (x / (1 + np.exp(-node.get("alpha", 1.0) * x))).astype(x.dtype)


def _gelu(node: Node, x: Array) -> Any:
    if node.get("approximate", "none") == "tanh":
        share = np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))
    else:
        share = _erf(x / math.sqrt(2))
    return (x / 2 * (1 + share)).astype(x.dtype)


def _prelu(node: Node, x: Array, slope: Array) -> Any:
    bounded_broadcast((x, slope))
    return np.where(x < 0, x * slope, x).astype(x.dtype)


def _is_inf(node: Node, x: Array) -> Any:
    below, above = node.get("detect_negative", 1), node.get("detect_positive", 1)
    return np.isinf(x) & (((x < 0) & bool(below)) | ((x > 0) & bool(above)))


_erf: Any = np.vectorize(math.erf, otypes=[np.float64])


# ---- along axes


def _reduction(function: Callable[..., Any]) -> Callable[..., Any]:
    def computed(node: Node, x: Array, axes: Any = None) -> Any:
        given = node.ints(1, "axes", [])
        every = () if node.get("noop_with_empty_axes", 0) else range(x.ndim)
        axis = tuple(given or every)
        return np.asarray(function(x, axis=axis, keepdims=bool(node.get("keepdims", 1)))).astype(x.dtype)

    return computed


def _mean_of_elements(x: Array, **kept: Any) -> Any:
    """The mean; of no elements NaN or, of integers, 0, without the warnings of NumPy."""
    if x.size:
        return np.mean(x, **kept)
    return np.full_like(x.sum(**kept), np.nan if x.dtype.kind == "f" else 0, dtype=x.dtype)


def _extreme(function: Callable[..., Any], sign: int) -> Callable[..., Any]:
    """The largest or the smallest element; of none, what is below or above all others."""

    def computed(x: Array, **kept: Any) -> Any:
        if x.size:
            return function(x, **kept)
        if x.dtype.kind in "fb":
            return function(x, initial=sign * np.inf if x.dtype.kind == "f" else sign > 0, **kept)
        return function(x, initial=np.iinfo(x.dtype).max if sign > 0 else np.iinfo(x.dtype).min, **kept)

    return computed


def _log_sum_exp(x: Array, **kept: Any) -> Any:
    """Of differences to the largest element, whose exponentials are not infinite."""
    most = np.max(x, axis=kept["axis"], keepdims=True, initial=-np.inf)
    most = np.where(np.isfinite(most), most, 0)
    total = np.log(np.exp(x - most).sum(axis=kept["axis"], keepdims=True)) + most
    return total if kept["keepdims"] else total.squeeze(kept["axis"])


def _arg(function: Callable[..., Any]) -> Callable[..., Any]:
    def computed(node: Node, x: Array) -> Any:
        axis, last = node.axis(0, x.ndim), node.get("select_last_index", 0)
        found = function(np.flip(x, axis) if last else x, axis)
        found = x.shape[axis] - 1 - found if last else found
        return (np.expand_dims(found, axis) if node.get("keepdims", 1) else found).astype(np.int64)

    return computed


def _top_k(node: Node, x: Array, k: Any = None) -> Any:
    (count,), axis = node.ints(1, "k"), node.axis(-1, x.ndim)
    if node.get("largest", 1):  # from the end: of equal elements the first one is the last one then, and NaN is above all
        places = x.shape[axis] - 1 - np.flip(np.argsort(np.flip(x, axis), axis, kind="stable"), axis)
    else:
        places = np.argsort(x, axis, kind="stable")
    places = np.take(places, np.arange(count), axis)
    return np.take_along_axis(x, places, axis), places.astype(np.int64)


# ---- bytes


def _scales(node: Node, x: Array, scale: Array, zero: Any) -> tuple[Any, Any]:
    block, shape = int(node.get("block_size", 0)), [1] * x.ndim
    if block:
        axis = node.axis(1, x.ndim)
        return of_blocks(scale, x.shape, axis, block), of_blocks(_zeros(scale, zero), x.shape, axis, block)
    if scale.ndim and scale.size > 1:
        shape[node.axis(1, x.ndim)] = scale.size
    zero = _zeros(scale, zero)
    return (scale.reshape(shape), zero.reshape(shape)) if x.ndim else (scale.reshape(()), zero.reshape(()))


def _zeros(scale: Array, zero: Any) -> Array:
    return np.zeros(scale.shape, np.int32) if zero is None else zero


def of_blocks(values: Array, shape: Sequence[int], axis: int, block: int) -> Array:
    """A number for each element, of one for each block along an axis. Raises ValueError for other shapes."""
    expected = tuple(-(-n // block) if i == axis else n for i, n in enumerate(shape))
    if block < 0 or values.shape != expected:
        raise ValueError(f"the shape is {values.shape}, expected {expected} for blocks of {block}")
    return np.take(values, np.arange(shape[axis]) // block, axis)


def _dequantize(node: Node, x: Array, scale: Array, zero: Any = None) -> Any:
    factor, offset = _scales(node, x, scale, zero)
    if x.dtype == np.float32:  # of 8 bits in the file
        return ((x - offset).astype(np.float32) * factor.astype(np.float32)).astype(np.float32)
    return ((x.astype(np.int64) - offset.astype(np.int64)) * factor.astype(np.float32)).astype(np.float32)


def _quantize(node: Node, x: Array, scale: Array, zero: Any = None) -> Any:
    chosen = int(node.get("output_dtype", 0))
    if chosen in SMALL_FLOATS:
        factor, offset = _scales(node, x, scale, zero)
        return rounded(x.astype(np.float32) / factor + offset, chosen, bool(node.get("saturate", 1)))
    if chosen not in OF_BITS and zero is not None:
        dtype, least, most = zero.dtype.name, np.iinfo(zero.dtype).min, np.iinfo(zero.dtype).max
    else:
        dtype, least, most = limits_of(chosen or 2)
    factor, offset = _scales(node, x, scale, zero)
    return np.clip(np.rint(x / factor) + offset.astype(np.int64), least, most).astype(dtype)


NUMBERS: dict[str, Callable[..., Any]] = {
    "Abs": _unary(np.abs),
    "Acos": _unary(np.arccos),
    "Acosh": _unary(np.arccosh),
    "Add": _binary(np.add),
    "And": _logical(np.logical_and),
    "ArgMax": _arg(np.argmax),
    "ArgMin": _arg(np.argmin),
    "Asin": _unary(np.arcsin),
    "Asinh": _unary(np.arcsinh),
    "Atan": _unary(np.arctan),
    "Atanh": _unary(np.arctanh),
    "BitShift": _shift,
    "BitwiseAnd": _binary(np.bitwise_and),
    "BitwiseNot": _unary(np.bitwise_not),
    "BitwiseOr": _binary(np.bitwise_or),
    "BitwiseXor": _binary(np.bitwise_xor),
    "Ceil": _unary(np.ceil),
    "Celu": _celu,
    "Clip": _clip,
    "Cos": _unary(np.cos),
    "Cosh": _unary(np.cosh),
    "DequantizeLinear": _dequantize,
    "Div": _divide,
    "Dropout": _dropout,
    "Einsum": _einsum,
    "Elu": _elu,
    "Equal": _logical(np.equal),
    "Erf": _unary(_erf),
    "Exp": _unary(np.exp),
    "Floor": _unary(np.floor),
    "Gelu": _gelu,
    "Gemm": _gemm,
    "Greater": _logical(np.greater),
    "GreaterOrEqual": _logical(np.greater_equal),
    "HardSigmoid": _hard_sigmoid,
    "HardSwish": _unary(lambda x: x * np.clip(x / 6 + 0.5, 0, 1)),
    "Hardmax": _hardmax,
    "IsInf": _is_inf,
    "IsNaN": _logical(np.isnan),
    "LeakyRelu": _leaky_relu,
    "Less": _logical(np.less),
    "LessOrEqual": _logical(np.less_equal),
    "Log": _unary(np.log),
    "LogSoftmax": _log_softmax,
    "MatMul": lambda node, a, b: _product(a, b),
    "Max": _several(np.maximum),
    "Mean": _mean,
    "Min": _several(np.minimum),
    "Mish": _unary(lambda x: x * np.tanh(np.logaddexp(0, x))),
    "Mod": _mod,
    "Mul": _binary(np.multiply),
    "Neg": _unary(np.negative),
    "Not": _logical(np.logical_not),
    "Or": _logical(np.logical_or),
    "PRelu": _prelu,
    "Pow": _binary(np.power),
    "QuantizeLinear": _quantize,
    "Reciprocal": _unary(lambda x: 1 / x),
    "ReduceL1": _reduction(lambda x, **k: np.abs(x).sum(**k)),
    "ReduceL2": _reduction(lambda x, **k: np.sqrt(np.square(x, dtype=np.float64).sum(**k))),
    "ReduceLogSum": _reduction(lambda x, **k: np.log(x.sum(**k))),
    "ReduceLogSumExp": _reduction(_log_sum_exp),
    "ReduceMax": _reduction(_extreme(np.max, -1)),
    "ReduceMean": _reduction(_mean_of_elements),
    "ReduceMin": _reduction(_extreme(np.min, 1)),
    "ReduceProd": _reduction(np.prod),
    "ReduceSum": _reduction(np.sum),
    "ReduceSumSquare": _reduction(lambda x, **k: np.square(x).sum(**k)),
    "Relu": _unary(lambda x: np.maximum(x, 0)),
    "Round": _unary(np.rint),
    "Selu": _selu,
    "Shrink": _shrink,
    "Sigmoid": _unary(lambda x: 1 / (1 + np.exp(-x))),
    "Sign": _unary(np.sign),
    "Sin": _unary(np.sin),
    "Sinh": _unary(np.sinh),
    "Softmax": _softmax,
    "Softplus": _unary(lambda x: np.logaddexp(0, x)),
    "Softsign": _unary(lambda x: x / (1 + np.abs(x))),
    "Sqrt": _unary(np.sqrt),
    "Sub": _binary(np.subtract),
    "Sum": _several(np.add),
    "Swish": _swish,
    "Tan": _unary(np.tan),
    "Tanh": _unary(np.tanh),
    "ThresholdedRelu": _thresholded_relu,
    "TopK": _top_k,
    "Where": _logical(np.where),
    "Xor": _logical(np.logical_xor),
}
