"""Files of vectors: JSON with one array to a line, as its type, its shape and its numbers.

``float32[2,3] 0.5 -1 nan 0*3`` has a number that is there three times. Types are those of NumPy; bfloat16 numbers, uint16 in
arrays, are written as the numbers they are, and uint32 in hexadecimal digits, for bits of floats. What a case
leaves out is as in the case of the function before, and options are those of PLAIN_OPTIONS.
"""

from __future__ import annotations

import json
import re
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

PLAIN_OPTIONS: dict[str, Any] = {
    "layout": "nhwc",
    "stride": (1, 1),
    "dilation": (1, 1),
    "padding": (0, 0, 0, 0),
    "group": 1,
    "activation": "identity",
    "params": None,
}

_ARRAY = re.compile(r"(\w+)\[([\d,]*)\] ?(.*)", re.DOTALL)


class Case(NamedTuple):
    """What a function of the library computes."""

    function: str  # of the library, without the Init, SetParams or Forward of contexts
    about: str
    given: dict[str, Any]
    expected: tuple[Array, ...]
    within: float = 0  # the largest difference of float results from those expected; 0 for the same bits


def _word(value: Any, name: str) -> str:
    if name == "uint32":
        return f"0x{int(value):08x}"
    if name.startswith(("int", "uint", "bool")):
        return str(int(value))
    found = str(value)
    return found[:-2] if found.endswith(".0") else found


def text_of(array: Array) -> str:
    """An array in a line."""
    name = "bfloat16" if array.dtype == np.uint16 else array.dtype.name
    numbers = (array.astype(np.uint32) << 16).view(np.float32) if name == "bfloat16" else array
    words = [_word(value, name) for value in numbers.reshape(-1)]
    runs = [(word, sum(1 for _ in run)) for word, run in groupby(words)]
    short = [f"{word}*{count}" if count > 2 else " ".join([word] * count) for word, count in runs]
    return f"{name}[{','.join(map(str, array.shape))}] {' '.join(short)}"


def array_of(text: str) -> Array:
    """The array that text_of() has written."""
    found = _ARRAY.fullmatch(text)
    assert found, text[:60]
    name, shape, numbers = found.groups()
    words: list[str] = []
    for word in numbers.split():
        value, _, count = word.partition("*")
        words += [value] * int(count or 1)
    sizes = tuple(int(size) for size in shape.split(",") if size)
    if name.startswith(("float", "bfloat")):
        floats = np.array([np.float32(word) for word in words], np.float16 if name == "float16" else np.float32)
        return (
            (floats.view(np.uint32) >> 16).astype(np.uint16).reshape(sizes) if name == "bfloat16" else floats.reshape(sizes)
        )
    return np.array([int(word, 0) for word in words], name).reshape(sizes)


def _plain(value: Any) -> Any:
    """For JSON."""
    if isinstance(value, np.ndarray):
        return text_of(value)
    if isinstance(value, (tuple, list)):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    return float(value) if isinstance(value, np.floating) else value


def _read(value: Any) -> Any:
    if isinstance(value, str) and _ARRAY.fullmatch(value):
        return array_of(value)
    if isinstance(value, dict):
        return {name: _read(each) for name, each in value.items()}
    return tuple(map(_read, value)) if isinstance(value, list) else value


def write(path: Path, cases: list[Case]) -> None:
    """Writes a file, of functions and their cases."""
    functions = []
    for function, group in groupby(cases, key=lambda case: case.function):
        lines, before = [], dict[str, Any]()
        for case in group:
            plain = {name: _plain(case.given[name]) for name in before or case.given}
            if "options" in plain:
                options = case.given["options"].items()
                plain["options"] = {
                    name: _plain(value) for name, value in options if _plain(value) != _plain(PLAIN_OPTIONS[name])
                }
            shown = {name: value for name, value in plain.items() if name not in before or before[name] != value}
            before = plain
            given = ",\n ".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in shown.items())
            results = ",\n  ".join(json.dumps(text_of(array)) for array in case.expected)
            within = f'"within": {case.within:.3g}, ' if case.within else ""
            lines.append(
                f'{{"about": {json.dumps(case.about)}, {within}"given": {{\n {given}}},\n "expected": [{results}]}}'
            )
        functions.append(f"{json.dumps(function)}: [\n" + ",\n".join(lines) + "]")
    path.write_text("{\n" + ",\n".join(functions) + "\n}\n")


def read(path: Path) -> list[Case]:
    """Reads a file."""
    cases = []
    for function, group in json.loads(path.read_text()).items():
        given: dict[str, Any] = {}
        for each in group:
            given = {**given, **_read(each["given"])}
            if "options" in given:
                given["options"] = {**PLAIN_OPTIONS, **given["options"]}
            expected = tuple(array_of(text) for text in each["expected"])
            cases.append(Case(function, each["about"], given, expected, each.get("within", 0)))
    return cases
