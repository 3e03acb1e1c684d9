"""What computes arrays that depend on open sizes in C: a rule for each function that arrays of plans have.

A rule takes what writes the program (:class:`pysimd.network.c.arrays.Arrays`), the inputs of the function, and its result.
It adds lines with the same results, to the bit, and returns the array that they make. It raises ValueError for what it does
not compute.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from pysimd.network.c.arrays import Arrays, Made, Rule, dtype_of
from pysimd.network.c.types import as_type, type_of
from pysimd.network.convert.at_run_time import HostFunction
from pysimd.network.convert.attention import excluded, inverse_root, is_seen, of_window
from pysimd.network.convert.fold_node import DTYPES
from pysimd.network.convert.images import is_below_2_31, scale_of
from pysimd.network.convert.integers import identity, positions, triangle
from pysimd.network.convert.moves import from_first, is_outside, progression
from pysimd.network.open_arrays import OpenArray, broadcast, constant, is_array, reshaped, shape_of, times, times_root
from pysimd.network.passes.tiny import without_tiny


def rule_of(function: Any) -> tuple[str, Rule | None]:
    """The name of a function, and its rule if there is one."""
    if isinstance(function, HostFunction):
        of_node = _NODES.get(function.node.op)
        return function.node.op, of_node and partial(_of_node, of_node, function)
    name = getattr(function, "func", function)
    shown = str(getattr(name, "__name__", name))
    if isinstance(name, np.ufunc):
        return shown, _of_ufunc(name) if set(function.keywords) <= {"dtype"} and not function.keywords else None
    found = _FUNCTIONS.get(name)
    return shown, found and partial(found, function)


# ---- elements


def _whole(sign: str, a: str = "{0}", b: str = "{1}") -> str:
    """Of integers, in which sums and products overflow."""
    return f"(uint64_t)({a}) {sign} (uint64_t)({b})"


def _larger(a: str, b: str, sign: str) -> str:
    return f"({a} != {a} || {a} {sign} {b} ? {a} : {b})"  # a NaN, if one of both is one


#: Element-wise functions, by their names in NumPy: of floats, and of integers if these differ.
_ELEMENTS: dict[str, tuple[str, str]] = {
    "add": ("{0} + {1}", _whole("+")),
    "subtract": ("{0} - {1}", _whole("-")),
    "multiply": ("{0} * {1}", _whole("*")),
    "negative": ("-{0}", _whole("-", "0", "{0}")),
    "absolute": ("fabs({0})", f"{{0}} < 0 ? (int64_t)({_whole('-', '0', '{0}')}) : {{0}}"),
    "maximum": (_larger("{0}", "{1}", ">="),) * 2,
    "minimum": (_larger("{0}", "{1}", "<="),) * 2,
    "floor": ("floor({0})", ""),
    "ceil": ("ceil({0})", ""),
    "sqrt": ("sqrt({0})", ""),
    "divide": ("{0} / {1}", ""),
    "bitwise_and": ("", "{0} & {1}"),
    "bitwise_or": ("", "{0} | {1}"),
}
_TESTS = {
    "less": "{0} < {1}",
    "less_equal": "{0} <= {1}",
    "greater": "{0} > {1}",
    "greater_equal": "{0} >= {1}",
    "equal": "{0} == {1}",
    "not_equal": "{0} != {1}",
    "logical_and": "{0} != 0 && {1} != 0",
    "logical_or": "{0} != 0 || {1} != 0",
    "logical_xor": "({0} != 0) != ({1} != 0)",
    "logical_not": "{0} == 0",
    "isfinite": "{0} - {0} == 0",
    "isnan": "{0} != {0}",
}


def _elements(w: Arrays, name: str, inputs: Sequence[Any], dtype: Any) -> Made:
    """A function of elements in the type to which those of inputs are promoted.

    dtype : of the results.
    """
    kind = np.result_type(*(each if isinstance(each, (bool, int, float)) else dtype_of(each) for each in inputs))
    expression = _TESTS.get(name, "")
    if not expression and name in _ELEMENTS and kind.kind in "fiu":
        expression = _ELEMENTS[name][kind.kind != "f"]
    elif not expression and kind.kind == "b":
        expression = {"bitwise_and": "{0} & {1}", "bitwise_or": "{0} | {1}", "invert": "{0} == 0"}.get(name, "")
    if not expression or (kind.kind != "f" and name in ("isfinite", "isnan")):
        raise ValueError(f"of {kind}, which programs in C do not have")
    return w.each(dtype, expression, [w.cast(each, kind) for each in inputs])


def _of_ufunc(ufunc: Any) -> Rule:
    return lambda w, inputs, result: _elements(w, ufunc.__name__, inputs, result.dtype)


def _where(function: Any, w: Arrays, inputs: Sequence[Any], result: OpenArray) -> Made:
    condition, a, b = inputs
    a, b = (w.cast(each, result.dtype) for each in (a, b))
    return w.each(result.dtype, "{0} != 0 ? {1} : {2}", [condition, a, b])


def _from_first(function: Any, w: Arrays, inputs: Sequence[Any], result: OpenArray) -> Made:
    return w.each(result.dtype, "{0} < 0 ? {0} + {1} : {0}", inputs)


def _excluded(function: Any, w: Arrays, inputs: Sequence[Any], result: OpenArray) -> Made:
    return w.each(np.float32, "{0} ? 0.0f : -INFINITY", inputs)


def _decided(function: Any, w: Arrays, inputs: Sequence[Any], result: OpenArray) -> Made:
    """``all`` and ``any``."""
    (array,), number = inputs, w.number(inputs[0])
    start, sign = ("1", "==") if function is np.all else ("0", "!=")
    found = "*(unsigned char *)v[@].data"
    loop = [
        f"{found} = {start};",
        f"for (int64_t i = 0, count = values_count(&v[{number}]); i < count; i++)",
        f"    if (((const {type_of(dtype_of(array))} *)v[{number}].data)[i] {sign} 0) {found} = {1 - int(start)};",
    ]
    return w.make(bool, "values_make(&v[@], 1, 0, NULL)", [number], after=loop)


# ---- places


def _sizes(w: Arrays, array: Any) -> str:
    """The arguments for the sizes that an array has as its elements."""
    number = w.number(w.cast(array, np.int64))
    return f"values_count(&v[{number}]), (const int64_t *)v[{number}].data"


def _moved(
    w: Arrays, function: str, array: Any, *arguments: Any, reads: Sequence[int] = (), before: Sequence[str] = ()
) -> Made:
    """A call that makes an array of elements of another one."""
    number, dtype = w.number(array), dtype_of(array)
    words = ", ".join(["&v[@]", f"sizeof({type_of(dtype)})", f"&v[{number}]", *map(str, arguments)])
    return w.make(dtype, f"{function}({words})", [number, *reads], before)


def _by_sizes(w: Arrays, function: str, array: Any, sizes: Any, *arguments: Any) -> Made:
    vector = w.cast(sizes, np.int64)
    return _moved(w, function, array, _sizes(w, vector), *arguments, reads=[w.number(vector)])


def _reshaped(function: Any, w: Arrays, inputs: Sequence[Any], result: OpenArray) -> Made:
    return _by_sizes(w, "values_reshape", *inputs, 0)


def _broadcast_to(function: Any, w: Arrays, inputs: Sequence[Any], result: OpenArray) -> Made:
    return _by_sizes(w, "values_expand", *inputs)


def _transposed(w: Arrays, array: Any, axes: Sequence[int]) -> Made:
    words = f"static const int axes[] = {{{', '.join(map(str, axes)) or '0'}}};"
    return _moved(w, "values_transpose", array, "axes", before=[words])


def _constant(function: Any, w: Arrays, inputs: Sequence[Any], result: OpenArray) -> Made:
    value, dtype = function.args
    return _filled(w, np.full((), value, dtype), inputs[0])


def _filled(w: Arrays, value: Any, sizes: Any) -> Made:
    return _by_sizes(w, "values_expand", value, sizes)


def _shape_of(function: Any, w: Arrays, inputs: Sequence[Any], result: OpenArray) -> Made:
    number = w.number(inputs[0])
    return w.make(np.int64, f"values_shape(&v[@], &v[{number}], {function.args[0]})", [number])


def _element(function: Any, w: Arrays, inputs: Sequence[Any], result: OpenArray) -> Made:
    array, place = inputs
    return _moved(w, "values_move", array, "0", "NULL", "NULL", f"{int(place)}")


def _is_outside(function: Any, w: Arrays, inputs: Sequence[Any], result: OpenArray) -> Made:
    found = w.each(bool, "{0} < -{1} || {0} >= {1}", inputs)
    return _decided(np.any, w, [found], result)


def _with_indices(name: str) -> Callable[..., Made]:
    def rule(function: Any, w: Arrays, inputs: Sequence[Any], result: OpenArray) -> Made:
        number = w.number(inputs[0])
        return w.make(result.dtype, f"{name}(&v[@], &v[{number}])", [number])

    return rule


def _of_window(function: Any, w: Arrays, inputs: Sequence[Any], result: OpenArray) -> Made:
    rows, columns, before = (w.number(each) for each in inputs)
    numbers = [f"*(const int64_t *)v[{n}].data" for n in (rows, columns, before)]
    left, right = (int(function.keywords[name]) for name in ("left", "right"))
    distance = f"(i % shape[1] - (i / shape[1] + {numbers[2]}))"
    seen = f"({left} < 0 || {distance} >= {-left}) && ({right} < 0 || {distance} <= {right})"
    loop = [
        "for (int64_t i = 0, count = values_count(&v[@]); i < count; i++)",
        f"    ((float *)v[@].data)[i] = {seen} ? 0.0f : -INFINITY;",
    ]
    words = f"const int64_t shape[] = {{{numbers[0]}, {numbers[1]}}};"
    return w.make(np.float32, "values_make(&v[@], sizeof(float), 2, shape)", [rows, columns, before], [words], loop)


def _positions(function: Any, w: Arrays, inputs: Sequence[Any], result: OpenArray) -> Made:
    number = w.number(w.cast(inputs[0], np.int64))
    loop = ["for (int64_t i = 0; i < *length; i++) ((int64_t *)v[@].data)[i] = i;"]
    words = f"const int64_t * length = (const int64_t *)v[{number}].data;"
    return w.make(np.int64, "values_make(&v[@], sizeof(int64_t), 1, length)", [number], [words], loop)


def _of_matrix(function: Any, w: Arrays, inputs: Sequence[Any], result: OpenArray) -> Made:
    """A matrix of 1 and 0, of which the distance from a diagonal decides."""
    rows, columns = (w.number(w.cast(each, np.int64)) for each in inputs)
    sign = {"upper": ">=", "lower": "<=", "on": "=="}[
        "on" if "dtype" in function.keywords else "upper" if function.keywords["upper"] else "lower"
    ]
    kind = type_of(result.dtype)
    loop = [
        "for (int64_t i = 0, count = values_count(&v[@]); i < count; i++)",
        f"    (({kind} *)v[@].data)[i] = ({kind})(i % shape[1] - i / shape[1] {sign} {int(function.keywords['diagonal'])});",
    ]
    words = f"const int64_t shape[] = {{*(const int64_t *)v[{rows}].data, *(const int64_t *)v[{columns}].data}};"
    return w.make(result.dtype, f"values_make(&v[@], sizeof({kind}), 2, shape)", [rows, columns], [words], loop)


_FUNCTIONS: dict[Any, Callable[..., Made]] = {
    np.all: _decided,
    np.any: _decided,
    np.where: _where,
    np.broadcast_to: _broadcast_to,
    np.transpose: lambda function, w, inputs, result: _transposed(w, inputs[0], function.keywords["axes"]),
    np.ndarray.astype: lambda function, w, inputs, result: _cast(w, inputs[0], function.keywords["dtype"]),
    operator.getitem: _element,
    reshaped: _reshaped,
    broadcast: _broadcast_to,
    constant: _constant,
    shape_of: _shape_of,
    is_outside: _is_outside,
    from_first: _from_first,
    progression: _with_indices("values_progress"),
    inverse_root: lambda function, w, inputs, result: w.each(float, "pow((double){0}, -0.5)", inputs, "{0} > 0"),
    is_seen: _with_indices("values_seen"),
    excluded: _excluded,
    of_window: _of_window,
    positions: _positions,
    triangle: _of_matrix,
    identity: _of_matrix,
    is_below_2_31: lambda function, w, inputs, result: w.each(
        bool, "{1} > 0 && (double){0} * (double){1} < 2147483648.0", inputs
    ),
    scale_of: lambda function, w, inputs, result: w.each(
        float, "(float)({0} < 1 ? 1 : {0}) / (float)({1} < 1 ? 1 : {1})", inputs
    ),
    times: lambda function, w, inputs, result: w.each(np.float32, "(float)({0} * (double){1})", inputs),
    times_root: lambda function, w, inputs, result: w.each(np.float32, "{0} * (float)sqrt((double){1})", inputs),
    without_tiny: _with_indices("values_flush"),
}


# ---- operators of ONNX


class _Given(NamedTuple):
    """A node, its inputs by their places, None for those that are missing, and the type of its result."""

    node: Any
    inputs: Sequence[Any]
    dtype: Any

    def input(self, i: int) -> Any:
        """An input, or None."""
        return self.inputs[i] if i < len(self.inputs) else None

    def ints(self, i: int, name: str) -> Any:
        """Integers that are known, of an input or an attribute; None if there are none."""
        found = self.input(i) if self.input(i) is not None else self.node.attributes.get(name)
        if is_array(found):
            raise ValueError(f"with {name} that depend on sizes, which programs in C do not have")
        return None if found is None else [int(n) for n in np.reshape(found, -1)]


def _of_node(rule: Callable[[Arrays, _Given], Made], function: HostFunction, w: Arrays, inputs: Any, result: Any) -> Made:
    rest = iter(inputs)
    given = [None if i in function.known else next(rest) for i in range(len(function.node.inputs))]
    return rule(w, _Given(function.node, given, result.dtype))


def _cast(w: Arrays, array: Any, dtype: Any) -> Made:
    """A new array, also of the same type."""
    return w.each(dtype, as_type("{0}", dtype_of(array), dtype), [array])


def _cast_node(w: Arrays, of: _Given) -> Made:
    number = int(of.node.attributes["to"])
    if number != 16 and number not in DTYPES:
        raise ValueError(f"to the type {number} of ONNX, which programs in C do not have")
    return _cast(w, of.inputs[0], np.float32 if number in (10, 16) else DTYPES[number])


def _by_elements(name: str) -> Callable[[Arrays, _Given], Made]:
    def rule(w: Arrays, of: _Given) -> Made:
        found = of.inputs[0]
        for each in of.inputs[1:] or [None]:
            found = _elements(w, name, [found] if each is None else [found, each], of.dtype)
        return found  # type: ignore[no-any-return]

    return rule


def _divided(by: str, floats: str) -> Callable[[Arrays, _Given], Made]:
    def rule(w: Arrays, of: _Given) -> Made:
        if of.dtype.kind == "f":
            if not floats:
                raise ValueError(f"of {of.dtype}, which programs in C do not have")
            return w.each(of.dtype, floats, of.inputs)
        return w.each(of.dtype, f"{by}({{0}}, {{1}})", of.inputs, "{1} != 0")

    return rule


def _nonzero(w: Arrays, of: _Given) -> Made:
    number = w.number(w.cast(of.inputs[0], bool))
    return w.make(np.int64, f"values_nonzero(&v[@], &v[{number}])", [number])


def _range(w: Arrays, of: _Given) -> Made:
    first, last, step = (f"*(const {type_of(of.dtype)} *)v[{w.number(each)}].data" for each in of.inputs)
    kind = "double" if of.dtype.kind == "f" else "int64_t"
    before = [
        f"const {kind} first = ({kind}){first}, step = ({kind}){step};",
        f"const double steps = step != 0 ? ceil(((double){last} - (double)first) / (double)step) : 3e9;",
        "const int64_t length = steps < 1 ? 0 : steps < 2147483648.0 ? (int64_t)steps : -1;",
    ]
    loop = [
        "for (int64_t i = 0; i < length; i++) {",
        f"    const {kind} far = ({kind})i * step; /* apart, which no compiler fuses with the sum */",
        f"    (({type_of(of.dtype)} *)v[@].data)[i] = ({type_of(of.dtype)})(first + far);",
        "}",
    ]
    made = f"values_make(&v[@], sizeof({type_of(of.dtype)}), 1, &length)"
    return w.make(of.dtype, made, [w.number(each) for each in of.inputs], before, loop)


def _slice(w: Arrays, of: _Given) -> Made:
    found, ends = of.inputs[0], []
    for i, name in ((1, "starts"), (2, "ends")):
        array = of.input(i) if of.input(i) is not None else np.array(of.ints(i, name), np.int64)
        ends.append(w.cast(array, np.int64))
    rank, axes, steps = np.ndim(found), of.ints(3, "axes"), of.ints(4, "steps")
    if axes is None:
        axes = [*range(int(np.size(of.input(1)) if of.input(1) is not None else len(of.ints(1, "starts"))))]
    for i, axis in enumerate(axes):
        numbers = [w.number(each) for each in ends]
        start, end = (f"((const int64_t *)v[{number}].data)[{i}]" for number in numbers)
        found = _moved(w, "values_slice", found, axis % rank, start, end, steps[i] if steps else 1, reads=numbers)
    return found if isinstance(found, Made) else _moved_whole(w, found)


def _moved_whole(w: Arrays, array: Any) -> Made:
    return _cast(w, array, dtype_of(array))


def _reshape(w: Arrays, of: _Given) -> Made:
    sizes = of.input(1) if of.input(1) is not None else np.array(of.ints(1, "shape"), np.int64)
    return _by_sizes(w, "values_reshape", of.inputs[0], sizes, int(not of.node.attributes.get("allowzero", 0)))


def _of_rank(array: Any, w: Arrays, order: Sequence[int], fresh: Sequence[int] = ()) -> Made:
    """The elements with some dimensions only, and with new ones of 1 at these places of the result."""
    number = w.number(array)
    sizes = [f"v[{number}].shape[{axis}]" for axis in order]
    for axis in sorted(fresh):
        sizes.insert(axis, "1")
    words = f"const int64_t shape[] = {{{', '.join(sizes) or '0'}}};"
    return _moved(w, "values_reshape", array, len(sizes), "shape", 0, before=[words])


def _squeeze(w: Arrays, of: _Given) -> Made:
    rank, axes = np.ndim(of.inputs[0]), of.ints(1, "axes")
    if axes is None:
        raise ValueError("without axes, which programs in C do not have")
    away = {axis % rank for axis in axes}
    return _of_rank(of.inputs[0], w, [axis for axis in range(rank) if axis not in away])


def _unsqueeze(w: Arrays, of: _Given) -> Made:
    axes, rank = of.ints(1, "axes"), np.ndim(of.inputs[0])
    return _of_rank(of.inputs[0], w, range(rank), [axis % (rank + len(axes)) for axis in axes])


def _transpose(w: Arrays, of: _Given) -> Made:
    rank = np.ndim(of.inputs[0])
    return _transposed(w, of.inputs[0], of.node.attributes.get("perm") or range(rank)[::-1])


def _concat(w: Arrays, of: _Given) -> Made:
    numbers, rank = [w.number(each) for each in of.inputs], np.ndim(of.inputs[0])
    words = f"const struct values * const parts[] = {{{', '.join(f'&v[{number}]' for number in numbers)}}};"
    axis = int(of.node.attributes.get("axis", 1)) % rank
    call = f"values_join(&v[@], sizeof({type_of(of.dtype)}), {axis}, {len(numbers)}, parts)"
    return w.make(of.dtype, call, numbers, [words])


def _gather(w: Arrays, of: _Given) -> Made:
    x, indices = w.number(of.inputs[0]), w.number(w.cast(of.inputs[1], np.int64))
    axis = int(of.node.attributes.get("axis", 0)) % np.ndim(of.inputs[0])
    return w.make(of.dtype, f"values_take(&v[@], sizeof({type_of(of.dtype)}), {axis}, &v[{x}], &v[{indices}])", [x, indices])


def _constant_of_shape(w: Arrays, of: _Given) -> Made:
    value = of.node.attributes.get("value", np.zeros(1, np.float32)).reshape(-1)[:1].reshape(())
    return _filled(w, value, of.inputs[0])


def _trilu(w: Arrays, of: _Given) -> Made:
    number, diagonal = w.number(of.inputs[0]), (of.ints(1, "k") or [0])[0]
    sizes = [f"v[{number}].shape[{np.ndim(of.inputs[0]) - k}]" for k in (2, 1)]
    sign = ">=" if of.node.attributes.get("upper", 1) else "<="
    inside = f"i % {sizes[1]} - i / {sizes[1]} % {sizes[0]} {sign} {diagonal}"
    return w.each(of.dtype, f"{inside} ? {{0}} : 0", of.inputs[:1])


_NODES: dict[str, Callable[[Arrays, _Given], Made]] = {
    "Abs": _by_elements("absolute"),
    "Add": _by_elements("add"),
    "And": _by_elements("logical_and"),
    "Cast": _cast_node,
    "Ceil": _by_elements("ceil"),
    "Concat": _concat,
    "ConstantOfShape": _constant_of_shape,
    "Div": _divided("integer_quotient", "{0} / {1}"),
    "Equal": _by_elements("equal"),
    "Expand": lambda w, of: _by_sizes(w, "values_expand", *of.inputs),
    "Floor": _by_elements("floor"),
    "Gather": _gather,
    "Greater": _by_elements("greater"),
    "GreaterOrEqual": _by_elements("greater_equal"),
    "Identity": lambda w, of: _moved_whole(w, of.inputs[0]),
    "Less": _by_elements("less"),
    "LessOrEqual": _by_elements("less_equal"),
    "Max": _by_elements("maximum"),
    "Min": _by_elements("minimum"),
    "Mod": _divided("integer_remainder", ""),
    "Mul": _by_elements("multiply"),
    "Neg": _by_elements("negative"),
    "NonZero": _nonzero,
    "Not": _by_elements("logical_not"),
    "Or": _by_elements("logical_or"),
    "Range": _range,
    "Reshape": _reshape,
    "Slice": _slice,
    "Sqrt": _by_elements("sqrt"),
    "Squeeze": _squeeze,
    "Sub": _by_elements("subtract"),
    "Transpose": _transpose,
    "Trilu": _trilu,
    "Unsqueeze": _unsqueeze,
    "Where": lambda w, of: _where(None, w, of.inputs, of),  # type: ignore[arg-type]
    "Xor": _by_elements("logical_xor"),
}

#: The operators of ONNX that have rules.
OPERATORS = frozenset(_NODES)
