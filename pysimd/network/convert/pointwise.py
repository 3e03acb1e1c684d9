"""Converters of element-wise functions, of one tensor and of several."""

from __future__ import annotations

from functools import partial, reduce
from math import inf, isnan, nan, pi
from typing import Any

import numpy as np

from pysimd.network.convert.conversion import Conversion, Value, converts, float32_of
from pysimd.network.open_arrays import later
from pysimd.network.sizes import broadcast_shapes
from pysimd.network.source import SourceNode
from pysimd.network.unsupported import Unsupported

#: Operators of one tensor: the function, and its parameters: numbers, or attributes with their defaults.
_UNARY: dict[str, tuple[str, tuple[float | tuple[str, float], ...]]] = {
    "Abs": ("absolute", ()),
    "Acos": ("arccos", ()),
    "Acosh": ("arccosh", ()),
    "Asin": ("arcsin", ()),
    "Asinh": ("arcsinh", ()),
    "Atan": ("arctan", ()),
    "Atanh": ("arctanh", ()),
    "Ceil": ("ceil", ()),
    "Cos": ("cos", ()),
    "Cosh": ("cosh", ()),
    "Elu": ("elu", (("alpha", 1.0),)),
    "Erf": ("erf", ()),
    "Exp": ("exp", ()),
    "Floor": ("floor", ()),
    "HardSigmoid": ("hard_sigmoid", (("alpha", 0.2), ("beta", 0.5))),
    "HardSwish": ("hswish", (3.0, 1 / 6)),
    "LeakyRelu": ("leaky_relu", (("alpha", 0.01),)),
    "Log": ("log", ()),
    "Mish": ("mish", (20.0,)),
    "Neg": ("negative", ()),
    "Reciprocal": ("reciprocal", ()),
    "Relu": ("relu", ()),
    "Round": ("rint", ()),
    "Sigmoid": ("sigmoid", (1.0,)),
    "Sign": ("sign", ()),
    "Sin": ("sin", ()),
    "Sinh": ("sinh", ()),
    "Softplus": ("softplus", (1.0, 20.0)),
    "Sqrt": ("sqrt", ()),
    "Swish": ("swish", (("alpha", 1.0),)),
    "Tan": ("tan", ()),
    "Tanh": ("tanh", (1.0,)),
    "com.microsoft.QuickGelu": ("swish", (("alpha", 1.702),)),
}
_BINARY = {"Add": "add", "Sub": "subtract", "Mul": "multiply", "Div": "divide"}
_SEVERAL = {"Sum": "add", "Max": "maximum", "Min": "minimum"}


@converts(*_UNARY)
def _unary(c: Conversion, node: SourceNode) -> None:
    name = node.op if node.domain in ("", "ai.onnx") else f"{node.domain}.{node.op}"
    function, params = _UNARY[name]
    numbers = (c.attribute(*each) if isinstance(each, tuple) else each for each in params)
    c.give(c.unary(c.tensor(0), function, *numbers))


@converts(*_BINARY)
def _binary(c: Conversion, node: SourceNode) -> None:
    c.give(c.binary(_BINARY[node.op], *_operands(c)))


def _operands(c: Conversion) -> tuple[Any, Any]:
    """Two inputs, of which one may be known."""
    a, b = (c.operand(i) for i in (0, 1))
    if a is None or b is None:
        raise Unsupported("an input is missing")
    return a, b


@converts("Pow")
def _power(c: Conversion, node: SourceNode) -> None:
    x, exponent = _operands(c)
    if isinstance(x, str) and not isinstance(exponent, str) and exponent.size == 1 and exponent.ndim <= len(c.shape(0)):
        number = exponent.reshape(())
        if number == 1:
            return c.give(x)
        if number == 2:
            return c.give(c.binary("multiply", x, x))
        if number == 3:
            return c.give(c.binary("multiply", c.binary("multiply", x, x), x))
    return c.give(c.binary("power", x, exponent))


@converts(*_SEVERAL)
def _several(c: Conversion, node: SourceNode) -> None:
    c.give(_joined(c, _SEVERAL[node.op]))


def _joined(c: Conversion, function: str) -> str:
    values = [c.operand(i) for i in range(len(c.node.inputs))]
    given = [value for value in values if value is not None]
    if not given:
        raise Unsupported("it has no inputs")
    return c.named(reduce(lambda a, b: c.binary(function, a, b), given))


@converts("Mean")
def _mean(c: Conversion, node: SourceNode) -> None:
    c.give(c.binary("multiply", _joined(c, "add"), 1 / len(node.inputs)))


# ---- activations with parts


@converts("Clip", "Relu6")
def _clip(c: Conversion, node: SourceNode) -> None:
    """From opset 11 on the bounds are inputs, which may be computed at run time."""
    x = c.tensor(0)
    if c.opset < 11:
        return c.give(clipped(c, x, c.attribute("min", -inf), c.attribute("max", inf)))
    low, high = (c.value(i) for i in (1, 2))
    if isinstance(low, str) or isinstance(high, str):
        for function, bound, none in (("maximum", low, -inf), ("minimum", high, inf)):
            x = x if bound is None else c.binary(function, x, _bound(c, bound, none))
        return c.give(x)
    bounds = (default if bound is None else float(bound.reshape(-1)[0]) for bound, default in ((low, -inf), (high, inf)))
    return c.give(clipped(c, x, *bounds))


def _bound(c: Conversion, bound: Value, none: float) -> Value:
    """A bound of Clip; one that is NaN is none."""
    return c.binary("replace", none, bound) if isinstance(bound, str) else np.where(np.isnan(bound), none, bound)


def clipped(c: Conversion, x: str, low: float, high: float) -> str:
    """min(max(low, x), high). A bound that is NaN is none: in ONNX, what is below or above one is replaced by it."""
    low, high = -inf if isnan(low) else low, inf if isnan(high) else high
    if low == 0 and high >= np.finfo(np.float32).max:
        return c.unary(x, "relu")
    return c.unary(x, "restrict_range", low, high)


@converts("PRelu")
def _prelu(c: Conversion, node: SourceNode) -> None:
    x, slope, shape = c.tensor(0), c.value(1), c.shape(0)
    rank = len(shape)
    if slope is not None and rank > 1 and c.shape(1) == (shape[1],) and shape[1] not in (1, shape[-1]):
        wide = (shape[1], *(1,) * (rank - 2))  # as before opset 7, slopes of channels
        slope = c.reshape(slope, wide) if isinstance(slope, str) else slope.reshape(wide)
    if isinstance(slope, np.ndarray) and slope.ndim <= rank:
        long = [axis for axis, n in enumerate((1,) * (rank - slope.ndim) + slope.shape) if n != 1]
        if not long:
            return c.give(c.unary(x, "leaky_relu", slope.reshape(-1)[0]))
        if len(long) == 1 and c.shape(0)[long[0]] == slope.size:
            return c.give(c.add("Prelu", x, c.constant(slope.reshape(-1)), axis=long[0]))
    if slope is None:
        raise Unsupported("input 1 is missing")
    below = c.binary("multiply", c.binary("minimum", x, 0.0), slope)
    return c.give(c.binary("add", c.unary(x, "relu"), below))


@converts("Gelu", "com.microsoft.Gelu", "com.microsoft.FastGelu", "com.microsoft.BiasGelu")
def _gelu(c: Conversion, node: SourceNode) -> None:
    fast = node.op == "FastGelu" or c.option("approximate", "none", ("none", "tanh")) == "tanh"
    x = c.tensor(0)
    bias = c.value(1)
    if bias is not None:
        x = c.binary("add", x, bias)
    c.give(gelu_by_tanh(c, x) if fast else c.unary(x, "gelu"))


def gelu_by_tanh(c: Conversion, x: str) -> str:
    """By the sigmoid: (1 + tanh(v)) / 2 = 1 / (1 + exp(-2 * v))."""
    cubic = c.binary("add", c.binary("multiply", c.binary("multiply", x, x), 0.044715), 1.0)
    return c.binary("multiply", x, c.unary(c.binary("multiply", x, cubic), "sigmoid", 2 * (2 / pi) ** 0.5))


@converts("SwiGLU")
def _swiglu(c: Conversion, node: SourceNode) -> None:
    c.give(c.binary("multiply", c.unary(c.tensor(0), "swish", c.attribute("alpha", 1.0)), c.tensor(1)))


@converts("Celu")
def _celu(c: Conversion, node: SourceNode) -> None:
    """alpha * elu(x / alpha)"""
    x, alpha = c.tensor(0), float(c.attribute("alpha", 1.0))
    if alpha == 1:
        return c.give(c.unary(x, "elu", 1.0))
    inner = c.unary(c.binary("divide", x, alpha), "elu", 1.0)
    return c.give(c.binary("multiply", inner, alpha))


@converts("Selu")
def _selu(c: Conversion, node: SourceNode) -> None:
    alpha, gamma = c.attribute("alpha", 1.67326319217681884765625), c.attribute("gamma", 1.05070102214813232421875)
    c.give(c.binary("multiply", c.unary(c.tensor(0), "elu", alpha), gamma))


@converts("Softsign")
def _softsign(c: Conversion, node: SourceNode) -> None:
    x = c.tensor(0)
    c.give(c.binary("divide", x, c.binary("add", c.unary(x, "absolute"), 1.0)))


@converts("Where", any_type=True)
def _where(c: Conversion, node: SourceNode) -> None:
    """With a known condition and one side that is known, in floats: the other one, replaced where it is not taken."""
    condition, sides = c.operand(0), [c.operand(1), c.operand(2)]
    runtime = [side for side in sides if isinstance(side, str)]
    if isinstance(condition, str) or len(runtime) != 1 or c.builder.type(runtime[0]).dtype != "float32":
        return c.give(selected(c))
    x = runtime[0]
    take = condition if x is sides[0] else ~condition
    other = sides[1] if x is sides[0] else sides[0]
    return c.give(_replaced(c, x, take.astype(bool), float32_of(other)))


def selected(c: Conversion) -> str:
    """The choice of a Where at run time, of any type."""
    condition, a, b = (c.typed(i) for i in range(3))
    if c.builder.type(a).dtype != c.builder.type(b).dtype:
        raise Unsupported(f"its types are {c.dtype(1)} and {c.dtype(2)}")
    return c.select(condition, a, b)


def _replaced(c: Conversion, x: str, take: Any, other: Any) -> str:
    """x where it is taken, else the other side, in which NaN stands for x.

    If NaN is chosen, it is added afterwards, and -0, which changes nothing, to all other elements.
    """
    shape = broadcast_shapes(take.shape, other.shape)
    if take.all():
        from pysimd.network.convert.moves import expanded

        return expanded(c, x, broadcast_shapes(shape, c.builder.shape(x)))
    y = c.binary("replace", x, later(np.where, shape, take, np.float32(nan), other))
    chosen = ~take & np.isnan(other)
    return c.binary("add", y, later(np.where, shape, chosen, np.float32(nan), np.float32(-0.0))) if chosen.any() else y


# ---- for other converters: activations by their names in ONNX


def activated(c: Conversion, x: str, name: str, alpha: float | None = None, beta: float | None = None) -> str:
    """An activation that is an attribute of another operator."""
    number = partial(_number, alpha, beta)
    functions = {
        "": lambda: x,
        "Relu": lambda: c.unary(x, "relu"),
        "Tanh": lambda: c.unary(x, "tanh", 1.0),
        "Sigmoid": lambda: c.unary(x, "sigmoid", 1.0),
        "LeakyRelu": lambda: c.unary(x, "leaky_relu", number(0, 0.01)),
        "Clip": lambda: clipped(c, x, number(0, -inf), number(1, inf)),
        "HardSigmoid": lambda: c.unary(x, "hard_sigmoid", number(0, 0.2), number(1, 0.5)),
    }
    if name not in functions:
        raise Unsupported(f"the activation is {name}, supported is {', '.join(filter(None, functions))}")
    return functions[name]()


def _number(alpha: float | None, beta: float | None, place: int, default: float) -> float:
    given = (alpha, beta)[place]
    return default if given is None else given
