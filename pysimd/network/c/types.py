"""Types of numbers in a program in C."""

from __future__ import annotations

from typing import Any

import numpy as np

#: The types of C by those of NumPy, where there is one.
C_TYPES = {
    "bool": "unsigned char",
    "float32": "float",
    "float64": "double",
    "int8": "signed char",
    "uint8": "unsigned char",
    "int16": "short",
    "uint16": "unsigned short",
    "int32": "int",
    "uint32": "unsigned int",
    "int64": "long long",
    "uint64": "unsigned long long",
}


def type_of(dtype: Any) -> str:
    """The type of C."""
    name = np.dtype(dtype).name
    if name not in C_TYPES or name == "uint64":
        raise ValueError(f"of {name}, which programs in C do not have")
    return "int64_t" if name == "int64" else C_TYPES[name]


def as_type(expression: str, source: Any, target: Any) -> str:
    """A number as one of another type; as Cast of ONNX, see :func:`pysimd.network.convert.fold.evaluate`."""
    source, target = np.dtype(source), np.dtype(target)
    if target.kind == "b":
        return f"({expression}) != 0"
    if source.kind == "f" and target.kind in "iu":
        most = "9223372036854775808.0" if target.itemsize == 8 or target == np.uint32 else "2147483648.0"
        within = f"(double)({expression}) >= -{most} && (double)({expression}) < {most}"
        return f"({type_of(target)})(int64_t)({within} ? (double)({expression}) : -{most})"
    return f"({type_of(target)})({expression})"
