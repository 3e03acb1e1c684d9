"""What callers pass to models and runners: inputs and their shapes, by name, or alone where there is only one input."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Union

import numpy as np
from numpy import ndarray

from pysimd._arrays import is_array, not_an_array, plain
from pysimd.annotations import Array, ForeignArray, Shape
from pysimd.errors import dtype_name, printable, shown
from pysimd.network.source import Value

#: The inputs of a model, and their shapes: by name, or that of the only input.
Inputs = Union[Mapping[str, Union[Array, ForeignArray]], Array, ForeignArray]
Shapes = Union[Mapping[str, Shape], Shape]
#: Values for inputs that become constants, by name: arrays, numbers, nested lists of numbers.
Values = Mapping[str, Any]


def by_name(given: Any, names: Collection[str], what: str) -> dict[str, Any]:
    """A mapping as it is; anything else belongs to the only input."""
    if isinstance(given, Mapping):
        return dict(given)
    if len(names) != 1:
        expected = ", ".join(f"{name!r}: ..." for name in names)
        raise ValueError(f"{what} is not given by name, and the model has {len(names)} inputs: expected {{{expected}}}")
    return dict.fromkeys(names, given)


def refuse_others(given: Collection[str], names: Collection[str]) -> None:
    """Refuses names other than these, and names that are missing."""
    unknown = [name for name in given if name not in names]
    missing = [name for name in names if name not in given]
    if unknown or missing:
        what = f"{unknown[0]!r} is not an input" if unknown else f"the input {missing[0]!r} is missing"
        raise ValueError(f"{what}, expected {', '.join(map(repr, names)) or 'none'}")


def sum_of(name: str, size_of: Callable[[str], int | None]) -> int | None:
    """The size of a dimension that has the name "a + b", or "a + 1", in the file: the sum; None if a part is not known."""
    found = 0
    for part in map(str.strip, name.split("+")):
        size = int(part) if part.isdecimal() else size_of(part)
        if size is None:
            return None
        found += size
    return found


@contextmanager
def explained(inputs: Mapping[str, Value], shapes: Mapping[str, Shape]) -> Iterator[None]:
    """Errors, as of a node whose operands do not fit, that also tell which sizes contradict the names in the file.

    A name is no promise, and such sizes may be right: they are told only after an error.
    """
    try:
        yield
    except ValueError as error:
        if getattr(error, "needed", ()):  # values that no shapes give
            raise
        what = _contradiction(inputs, shapes)
        if what:
            raise ValueError(f"{printable(what)}; with these shapes, {error}") from error
        raise


def _contradiction(inputs: Mapping[str, Value], shapes: Mapping[str, Shape]) -> str:
    first: dict[str, tuple[int, str]] = {}
    for name, value in inputs.items():
        for n, size in zip(value.dims or (), shapes[name]):
            if isinstance(n, str) and first.setdefault(n, (size, name))[0] != size:
                return f"the size {n!r} is {first[n][0]} in {first[n][1]!r} and {size} in {name!r}"
    for n, (size, name) in first.items():
        total = sum_of(n, lambda part: first[part][0] if part in first else None)
        if total is not None and total != size:
            parts = [f"{part} is {first[part][0]}" for part in map(str.strip, n.split("+")) if part in first]
            return f"the size {n!r} is {size} in {name!r}, where {' and '.join(parts)}"
    return ""


def array_of(value: Any, name: str, dtype: str) -> Array:
    """An input as an array: one of any library, or what NumPy makes of a number or a list."""
    name = printable(name)
    if is_array(value):
        return plain(value, name)
    try:
        array = np.asarray(value)
    except ValueError:  # the rows of a list have several lengths
        raise not_an_array(value, name, dtype) from None
    if array.dtype.kind in "OSU":  # NumPy makes an array of any object
        raise not_an_array(value, name, dtype)
    return array


def fitting(value: Any, name: str, target: Array) -> Array:
    """An input that can be copied to the array of a runner; float16 is converted to float32."""
    array, name = array_of(value, name, target.dtype.name), printable(name)
    if array.dtype != target.dtype and not (array.dtype == np.float16 and target.dtype == np.float32):
        if not is_array(value):
            raise not_an_array(value, name, target.dtype.name)
        raise TypeError(
            f"{name} has dtype {array.dtype}, expected {target.dtype}: use {name}.astype({dtype_name(target.dtype)})"
        )
    if array.shape != target.shape:
        raise ValueError(f"{name} has shape {array.shape}, expected {target.shape}")
    return array


def fitting_each(given: Mapping[str, Any], targets: Mapping[str, Array]) -> dict[str, Array]:
    """Inputs as :func:`fitting`, in the order of the targets. The usual case must be fast: tiny models take 2 us."""
    found = {}
    for name, target in targets.items():
        if name in given:
            value = given[name]
            usual = type(value) is ndarray and value.dtype is target.dtype and value.shape == target.shape
            found[name] = value if usual else fitting(value, name, target)
    return found


def constant(value: Any, name: str, dtype: str) -> Array:
    """A value for an input of this type, as an array that nobody else writes; numbers and lists are converted to the type.

    Raises TypeError for an array of another type, ValueError for numbers that the type does not have.
    """
    name = printable(name)
    array = plain(value, name) if is_array(value) else _of_numbers(value, name)
    try:
        target = np.dtype("float32" if dtype in ("float16", "bfloat16") else dtype)
    except TypeError:
        raise TypeError(f"{name} has the type {dtype}, of which no value can be given") from None
    if is_array(value) and array.dtype != target and not (array.dtype == np.float16 and target == np.float32):
        raise TypeError(f"{name} has dtype {array.dtype}, expected {target}: use {name}.astype({dtype_name(target)})")
    with np.errstate(all="ignore"):
        found = np.array(array, target, order="C")
    kept = np.isinf(found) == np.isinf(array) if target.kind == "f" else found == array
    if not np.all(kept):
        raise ValueError(f"the value of {name} is {shown(value)}, which is not within {target}")
    found.flags.writeable = False
    return found


def _of_numbers(value: Any, name: str) -> Array:
    try:
        array = np.asarray(value)
    except ValueError:  # the rows of a list have several lengths
        array = None
    if array is None or array.dtype.kind not in "biuf":
        raise TypeError(f"the value of {name} is {shown(value)}, expected numbers")
    return array
