"""A prepared model as a program in C: the same calls of the library, written down.

Everything that a runner does in Python before its first run is a sequence of calls: contexts are created, and get their
weights. Everything that it does in a run is another one. Both are recorded with their arguments, and written as C; an
argument that is a pointer is one into the block of tensors, or into data that go to a file of their own. Runners of several
shapes have been recorded together, so that those which share packed weights do so in the program, too.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pysimd._library import ffi, lib
from pysimd.annotations import Array
from pysimd.calls import Created
from pysimd.network.c_calls import Calls, recorded_calls
from pysimd.network.c_memory import Memory
from pysimd.network.c_names import identifiers, quoted
from pysimd.network.c_templates import (
    EMBEDDED,
    HEADER,
    HEADER_EMBEDDED,
    MAIN,
    MAKEFILE,
    NOT_EMBEDDED,
    SOURCE,
    WEIGHTS_FILE,
    WEIGHTS_NUMBERS,
)
from pysimd.network.runner import Runner

_LONGEST = 1000  # characters of a name in a string, of which a compiler needs to accept 4095 bytes
_WORDS = 6  # of the weights in a line

#: How weights are embedded: not at all, by the assembler from the file, or as numbers.
EMBEDDINGS = ("", "file", "numbers")


def write(
    runners: Sequence[Runner], tape: Sequence[Created], folder: Any, name: str, *, title: str = "", embed: str = ""
) -> list[Path]:
    """Writes a program: the model as NAME.c, NAME.h and NAME.bin, an example main.c, and a Makefile.

    runners, tape : a runner for each shape, and the contexts that were recorded while they were made, see
        :func:`pysimd.calls.taped`.
    name : one that :func:`pysimd.network.c_names.checked` accepts.
    title : the names of the model and of its file, for comments.
    embed : one of EMBEDDINGS; NAME_weights.c then has the weights, with "numbers" instead of NAME.bin.

    Returns the paths. Files that exist are overwritten, but nothing is written if a step cannot be expressed in C: then this
    raises ValueError with the step.
    """
    files = _Program(runners, tape, name, title, embed).files()
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    written = []
    for file, content in files.items():
        path = target / file
        temporary = path.with_name(f".{file}.{os.getpid()}")
        temporary.write_bytes(content if isinstance(content, bytes) else content.encode())
        temporary.replace(path)
        written.append(path)
    return written


class _Program:
    """The text of the files."""

    def __init__(self, runners: Sequence[Runner], tape: Sequence[Created], name: str, title: str, embed: str) -> None:
        self._runners, self._tape, self._name, self._title, self._embed = runners, tape, name, title, embed
        self._memory = Memory(*(runner.block for runner in runners))
        self._calls = Calls(tape, self._memory)

    def files(self) -> dict[str, Any]:
        """The content of all files by name."""
        values = self._values()
        texts = {f"{self._name}.c": SOURCE, f"{self._name}.h": HEADER, "main.c": MAIN, "Makefile": MAKEFILE}
        if self._embed:
            texts[f"{self._name}_weights.c"] = WEIGHTS_FILE if self._embed == "file" else WEIGHTS_NUMBERS
        files: dict[str, Any] = {file: _filled(text, values) for file, text in texts.items()}
        if self._embed != "numbers":
            files[f"{self._name}.bin"] = self._memory.work + self._memory.constants
        return files

    def _values(self) -> dict[str, str]:
        run, run_bytes, create = self._code()
        data = self._memory.work + self._memory.constants
        first, second = _sums(data)
        inputs, outputs = ([_named(getattr(runner, kind)) for runner in self._runners] for kind in ("inputs", "outputs"))
        texts = {
            "name": self._name,
            "NAME": self._name.upper(),
            "title": self._title,
            "version": str(ffi.string(lib.SimdVersion()).decode()),
            "contexts": str(max(self._calls.contexts, 1)),
            "block_bytes": str(max(runner.plan.size for runner in self._runners)),
            "work_bytes": str(len(self._memory.work)),
            "run_bytes": str(len(self._memory.work) + run_bytes),
            "data_bytes": str(len(data)),
            "first_sum": f"{first:#x}",
            "second_sum": f"{second:#x}",
            "create": "\n".join(create),
            "run": "\n\n".join(run),
            "computes": ", ".join(f"compute_{i}" for i in range(len(run))),
            "shapes": str(len(self._runners)),
            "input_count": str(len(inputs[0])),
            "output_count": str(len(outputs[0])),
            "tensors": "\n".join(self._tensors(i, *each) for i, each in enumerate(zip(inputs, outputs))),
            "input_rows": "\n".join(self._row(*each) for each in inputs[0]),
            "output_rows": "\n".join(self._row(*each) for each in outputs[0]),
            "input_places": "\n".join(self._place(i, array) for i, each in enumerate(inputs) for _, _, array in each),
            "output_places": "\n".join(self._place(i, array) for i, each in enumerate(outputs) for _, _, array in each),
            "show_cases": "\n".join(map(_show_case, _C_TYPES.values())),
            "numbers": _numbers(data) if self._embed == "numbers" else "",
        }
        return {**texts, **{key: _filled(text, texts) for key, text in self._embedding().items()}}

    def _embedding(self) -> dict[str, str]:
        """What differs where the weights are embedded."""
        weights = f" {self._name}_weights.c" if self._embed else ""
        return {
            "embedded": EMBEDDED if self._embed else NOT_EMBEDDED,
            "embedded_header": HEADER_EMBEDDED if self._embed else "",
            "sources": f"main.c {self._name}.c{weights}",
            "needs": f" {self._name}.bin" if self._embed == "file" else "",
            "example_file": "NULL" if self._embed else "argv[1]",
            "example_usage": "" if self._embed else f" {self._name}.bin",
            "first_input": "1" if self._embed else "2",
        }

    def _code(self) -> tuple[list[str], int, list[str]]:
        """The functions that compute, the bytes of the constants that they need, and the lines that create contexts."""
        for runner in self._runners:
            self._memory.add(runner.placed.constants, is_constant=True)
        for entry in self._tape:
            self._memory.add([*entry.arguments, entry.held], is_constant=True)
        steps = [[(step, list(recorded_calls(step.calls))) for step in runner.steps] for runner in self._runners]
        for each in steps:
            for _, calls in each:
                for _, arguments, held in calls:
                    self._memory.add([list(arguments), held])
        run = [self._compute(i, each) for i, each in enumerate(steps)]
        run_bytes = self._memory.size  # those of runs first: the rest is not needed after the contexts have been created
        return run, run_bytes, [line for entry in self._tape for line in self._calls.created(entry)]

    def _compute(self, number: int, steps: list[tuple[Any, list[Any]]]) -> str:
        lines = [line for step, calls in steps for line in self._calls.step(step, calls)]
        head = [f"static int compute_{number}(struct {self._name} * m) {{", "    (void)m;"]
        return "\n".join([*head, *lines, "    return 1;", "}"])

    # ---- tensors

    def _tensors(self, number: int, inputs: list[_Named], outputs: list[_Named]) -> str:
        """The macros for the tensors of a shape."""
        kinds = [("input", each) for each in inputs] + [("output", each) for each in outputs]
        return "\n".join(self._tensor(number, kind, *each) for kind, each in kinds)

    def _tensor(self, number: int, kind: str, identifier: str, name: str, array: Array) -> str:
        shape, of = ", ".join(map(str, array.shape)), f", shape {number}" if len(self._runners) > 1 else ""
        word = f"{self._name.upper()}{f'_SHAPE{number}' if number else ''}_{kind.upper()}_{identifier}"
        return (
            f"/* {kind} {quoted(name)}{of}: {array.dtype.name} ({shape}) */\n"
            f"#define {word}_SIZE {array.size}\n"
            f"#define {word}(model) "
            f"(({_C_TYPES[array.dtype.name].name} *)(void *){self._name}_tensor((model), {self._offset(number, array)}))"
        )

    def _offset(self, number: int, array: Array) -> int:
        return int(array.ctypes.data - self._runners[number].block.ctypes.data)

    def _place(self, number: int, array: Array) -> str:
        return f"    {{{self._offset(number, array)}, {array.nbytes}}},"

    def _row(self, identifier: str, name: str, array: Array) -> str:
        letter, text = _C_TYPES[array.dtype.name].letter, quoted(name[:_LONGEST])
        return f"    {{\"{text}\", {self._offset(0, array)}, {array.nbytes}, {array.size}, '{letter}'}},"


_Named = tuple[str, str, Array]  # an identifier, a name and an array


def _named(arrays: Mapping[str, Array]) -> list[_Named]:
    return list(zip(identifiers(arrays), arrays, arrays.values()))


def _sums(data: bytes) -> tuple[int, int]:
    """Fletcher's checksum of words of 32 bits, without remainders: the sum of the words, and the sum of all partial sums."""
    first = second = 0
    words = np.frombuffer(data, "<u4")
    for begin in range(0, len(words), 1 << 20):
        block = words[begin : begin + (1 << 20)].astype(np.uint64)
        second += len(block) * first + int((block * np.arange(len(block), 0, -1, dtype=np.uint64)).sum())
        first += int(block.sum())
    return first % 2**64, second % 2**64


def _numbers(data: bytes) -> str:
    words = [f"0x{word:x}" for word in np.frombuffer(data, "<u8").tolist()] or ["0"]
    return ",\n".join(", ".join(words[i : i + _WORDS]) for i in range(0, len(words), _WORDS))


class _Type(NamedTuple):
    """A type in C, the letter for it in the example, and how it is printed there."""

    name: str
    letter: str
    format: str


_C_TYPES = {
    "bool": _Type("unsigned char", "?", "%d"),
    "float32": _Type("float", "f", "%g"),
    "float64": _Type("double", "d", "%g"),
    "int8": _Type("signed char", "b", "%d"),
    "uint8": _Type("unsigned char", "B", "%d"),
    "int16": _Type("short", "h", "%d"),
    "uint16": _Type("unsigned short", "H", "%d"),
    "int32": _Type("int", "i", "%d"),
    "uint32": _Type("unsigned int", "I", "%u"),
    "int64": _Type("long long", "q", "%lld"),
    "uint64": _Type("unsigned long long", "Q", "%llu"),
}


def _show_case(kind: _Type) -> str:
    return f"""    case '{kind.letter}': printf(" {kind.format}", ((const {kind.name} *)data)[i]); break;"""


def _filled(text: str, values: Mapping[str, str]) -> str:
    return re.sub(r"@(\w+)@", lambda found: values[found[1]], text)
