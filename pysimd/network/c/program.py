"""A model as a program in C: the calls of its nodes, written down.

An argument that is a pointer is one into the block of tensors, or into data that go to a file of their own. Programs of
several shapes are written together: contexts for the same weights share them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pysimd._library import ffi, lib
from pysimd.annotations import Array
from pysimd.network.c.calls import Calls
from pysimd.network.c.memory import Memory
from pysimd.network.c.names import identifiers, quoted
from pysimd.network.c.templates import (
    CALLED,
    CREATING,
    EMBEDDED,
    FIXED,
    HEADER,
    HEADER_EMBEDDED,
    MAIN,
    MAKEFILE,
    NOT_EMBEDDED,
    PREFERRING,
    SOURCE,
    WEIGHTS_FILE,
    WEIGHTS_NUMBERS,
)
from pysimd.network.c.types import C_TYPES
from pysimd.network.contexts import Contexts
from pysimd.network.memory import packed
from pysimd.network.program import Program
from pysimd.network.views import View

_LONGEST = 1000  # characters of a name in a string, of which a compiler needs to accept 4095 bytes
_WORDS = 6  # of the weights in a line

#: How weights are embedded: not at all, by the assembler from the file, or as numbers.
EMBEDDINGS = ("", "file", "numbers")


def write(text: Text, folder: Any) -> list[Path]:
    """Writes a program: the model as NAME.c, NAME.h and NAME.bin, an example main.c, and a Makefile.

    Returns the paths. Files that exist are overwritten, but nothing is written if a step cannot be expressed in C: then this
    raises ValueError with the step.
    """
    files = text.files()
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


class Text:
    """The text of the files.

    programs : whose functions compute_NUMBER it has.
    contexts : of these.
    name : one that :func:`pysimd.network.c.names.checked` accepts.
    title : the names of the model and of its file, for comments.
    embed : one of EMBEDDINGS; NAME_weights.c then has the weights, with "numbers" instead of NAME.bin.
    """

    def __init__(
        self, programs: Sequence[Program], contexts: Contexts, name: str, *, title: str = "", embed: str = ""
    ) -> None:
        self._programs, self._contexts, self._name, self._title, self._embed = programs, contexts, name, title, embed
        self._memory = Memory()
        self._numbers = self._numbered()

    def files(self) -> dict[str, Any]:
        """The content of all files by name."""
        values = self._values()
        texts = {f"{self._name}.c": SOURCE, f"{self._name}.h": HEADER, "main.c": MAIN, "Makefile": MAKEFILE}
        if self._embed:
            texts[f"{self._name}_weights.c"] = WEIGHTS_FILE if self._embed == "file" else WEIGHTS_NUMBERS
        files: dict[str, Any] = {file: filled(text, values) for file, text in texts.items()}
        if self._embed != "numbers":
            files[f"{self._name}.bin"] = self._memory.data
        return files

    def _values(self) -> dict[str, str]:
        run, run_bytes, create = self._code()
        data = self._memory.data
        first, second = _sums(data)
        texts = {
            "name": self._name,
            "NAME": self._name.upper(),
            "title": self._title,
            "version": str(ffi.string(lib.SimdVersion()).decode()),
            "contexts": str(max([1, *(number + 1 for number in self._used())])),
            "run_bytes": str(run_bytes),
            "data_bytes": str(len(data)),
            "first_sum": f"{first:#x}",
            "second_sum": f"{second:#x}",
            "run": "\n\n".join(run),
            "show_cases": "\n".join(_show_case(dtype) for dtype in C_TYPES),
            "numbers": _numbers(data) if self._embed == "numbers" else "",
        }
        texts["creating"] = self._creating(create)
        embedding = self._embedding()
        texts |= self._of_sizes({**texts, **embedding})
        return {**{key: filled(text, texts) for key, text in embedding.items()}, **texts}

    def _used(self) -> list[int]:
        """The numbers of contexts."""
        return [
            number
            for program, numbers in zip(self._programs, self._numbers)
            for step, (number, _) in zip(program.steps, numbers)
            if step.made is not None
        ]

    def _of_sizes(self, texts: Mapping[str, str]) -> dict[str, str]:
        """What depends on whether sizes are open."""
        raise NotImplementedError

    def _created(self, suffix: str, *, formulas: str, create: str) -> str:
        """A function that creates contexts, which are to spare what those of this program spare."""
        values = {"name": self._name, "suffix": suffix, "formulas": formulas, "create": create}
        prefers = self._contexts.prefer
        if prefers in (None, "speed"):
            return filled(CREATING, {**values, "function": f"create_contexts{suffix}"})
        values["preference"] = f"SimdnetPrefer{prefers.capitalize()}"
        return filled(CREATING + PREFERRING, {**values, "function": f"create_preferred{suffix}"})

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

    def _code(self) -> tuple[list[str], int, list[list[str]]]:
        """The functions that compute, the bytes of the constants that they need, and for each program the lines that create
        contexts."""
        run: list[str] = []
        create: list[list[Callable[[], list[str]]]] = []
        for i, (program, numbers) in enumerate(zip(self._programs, self._numbers)):
            calls = self._calls(i)
            lines: list[str] = []
            create.append([])
            for node, step, (number, shared) in zip(program.nodes, program.steps, numbers):
                lines += calls.step(node, step, number) if step.calls else []
                if step.made is not None:
                    create[-1].append(partial(calls.created, step.made, number, shared))
            lines = [*self._formulas(i, lines), "    (void)m;", *lines, "    return 1;", "}"]
            run.append("\n".join([f"static int compute_{i}(struct {self._name} * m) {{", *lines]))
        run += self._callers()
        run_bytes = self._memory.size  # those of runs first: the rest is not needed after the contexts have been created
        return run, run_bytes, [[line for lines_of in each for line in lines_of()] for each in create]

    def _numbered(self) -> list[list[tuple[int, int | None]]]:
        """For each step of each program the number of its context, and that of another one that has its weights."""
        raise NotImplementedError

    def _calls(self, number: int) -> Calls:
        """What writes the calls of a program."""
        raise NotImplementedError

    def _formulas(self, number: int, lines: Sequence[str]) -> list[str]:
        """The definitions of what open sizes need at the beginning of a function of a program that has these lines."""
        return []

    def _callers(self) -> list[str]:
        """The functions that call those of the programs."""
        return []

    def _creating(self, create: Sequence[Sequence[str]]) -> str:
        """The functions that create the contexts, of these lines for each program."""
        raise NotImplementedError


class Placed(NamedTuple):
    """A program, and where its tensors are in the block.

    offsets : of its roots; a text for one that changes.
    size : the end of these, where the memory that steps share begins.
    known : arrays in place of inputs, by their roots.
    """

    program: Program
    offsets: Mapping[str, Any]
    size: int
    known: Mapping[str, Array] = {}


class Function(NamedTuple):
    """What computes the outputs for one shape of the inputs.

    name : of the function in C.
    programs : those that it calls.
    inputs, outputs : the tensors of the model by name.
    offsets : of the roots of these.
    size : of the tensors, in bytes.
    text : of the function; None if it is that of a program.
    rows : by the name of an output whose first dimension depends on values, and is the largest one in its shape: the
        tensor of its number.
    places : the number of offsets that change while it runs.
    """

    name: str
    programs: Sequence[Placed]
    inputs: Mapping[str, View]
    outputs: Mapping[str, View]
    offsets: Mapping[str, int]
    size: int
    text: Callable[[str, Memory], str] | None = None
    rows: Mapping[str, View] = {}
    places: int = 0


def planned(program: Program, number: int) -> Function:
    """The function of one program, which is the only one of a shape."""
    plan = packed(program.arrangement)
    placed = Placed(program, plan.offsets, plan.size)
    return Function(f"compute_{number}", [placed], program.inputs, program.outputs, plan.offsets, plan.size)


class Fixed(Text):
    """A program for one shape, or for several, each with its function."""

    def __init__(self, functions: Sequence[Function], *arguments: Any, **options: Any) -> None:
        self._functions = functions
        self._placed = [placed for function in functions for placed in function.programs]
        super().__init__([placed.program for placed in self._placed], *arguments, **options)

    def _calls(self, number: int) -> Calls:
        program, offsets, size, known = self._placed[number]
        places = {root: str(offset) for root, offset in {**offsets, "": size}.items()}
        return Calls(self._memory, {**program.constants, **known}, places)

    def _callers(self) -> list[str]:
        texts = [each.text(self._name, self._memory) for each in self._functions if each.text]
        return [*(code for word, code in CALLED.items() if word in "".join(texts)), *texts]

    def _numbered(self) -> list[list[tuple[int, int | None]]]:
        found: list[list[tuple[int, int | None]]] = []
        known: dict[Any, int] = {}  # contexts by their weights, of all shapes
        count = 0
        for program in self._programs:
            found.append([])
            for step in program.steps:
                key = step.made and self._contexts.key(step.made)
                found[-1].append((count, known.get(key)))
                if key is not None:
                    known.setdefault(key, count)
                count += step.made is not None
        return found

    def _creating(self, create: Sequence[Sequence[str]]) -> str:
        lines = "\n".join(line for each in create for line in each)
        return self._created("", formulas="", create=lines)

    def _of_sizes(self, texts: Mapping[str, str]) -> dict[str, str]:
        functions = self._functions
        inputs, outputs = ([named(getattr(function, kind)) for function in functions] for kind in ("inputs", "outputs"))
        scratch = [each.size + max((step.scratch for step in each.program.steps), default=0) for each in self._placed]
        values = {
            "block_bytes": f"((size_t){max([*scratch, *(function.size for function in functions)])})",
            "computes": ", ".join(function.name for function in functions),
            "shapes": str(len(functions)),
            "input_count": str(len(inputs[0])),
            "output_count": str(len(outputs[0])),
            "tensors": "\n".join(self._tensors(i, *each) for i, each in enumerate(zip(inputs, outputs))),
            "input_rows": "\n".join(self._row(*each) for each in inputs[0]),
            "output_rows": "\n".join(self._row(*each) for each in outputs[0]),
            "input_places": "\n".join(self._place(i, view) for i, each in enumerate(inputs) for _, _, view in each),
            "output_places": "\n".join(self._place(i, view) for i, each in enumerate(outputs) for _, _, view in each),
        }
        count = max(function.places for function in functions)
        if count:
            values["members"] = f"    size_t places[{count}]; /* offsets that change */\n"
        return {**values, **{key: filled(text, {**texts, **values}) for key, text in FIXED.items() if key not in values}}

    # ---- tensors

    def _tensors(self, number: int, inputs: list[Named], outputs: list[Named]) -> str:
        """The macros for the tensors of a shape."""
        kinds = [("input", each) for each in inputs] + [("output", each) for each in outputs]
        return "\n".join(self._tensor(number, kind, *each) for kind, each in kinds)

    def _tensor(self, number: int, kind: str, identifier: str, name: str, view: View) -> str:
        shape, of = ", ".join(map(str, view.shape)), f", shape {number}" if len(self._functions) > 1 else ""
        word = f"{self._name.upper()}{f'_SHAPE{number}' if number else ''}_{kind.upper()}_{identifier}"
        rows, count = self._functions[number].rows.get(name) if kind == "output" else None, ""
        if rows is not None:
            shape += f"), of which a run gives the first {word}_ROWS(model"
            count = f"\n#define {word}_ROWS(model) (*(const long long *)(void *){self._pointer(number, rows)})"
        return (
            f"/* {kind} {quoted(name)}{of}: {view.dtype.name} ({shape}) */\n"
            f"#define {word}_SIZE {view.size}\n"
            f"#define {word}(model) (({C_TYPES[view.dtype.name]} *)(void *){self._pointer(number, view)}){count}"
        )

    def _pointer(self, number: int, view: View) -> str:
        return f"{self._name}_tensor((model), {self._offset(number, view)})"

    def _offset(self, number: int, view: View) -> int:
        return self._functions[number].offsets[view.root] + view.offset

    def _place(self, number: int, view: View) -> str:
        return f"    {{{self._offset(number, view)}, {view.nbytes}}},"

    def _row(self, identifier: str, name: str, view: View) -> str:
        return row(name, view, self._offset(0, view), view.nbytes, view.size)


def row(name: str, view: View, place: int, nbytes: int, size: int) -> str:
    """The row of a tensor in the table of the example."""
    return f"    {{\"{quoted(name[:_LONGEST])}\", {place}, {nbytes}, {size}, '{_FORMATS[view.dtype.name][0]}'}},"


Named = tuple[str, str, View]  # an identifier, a name and a tensor


def named(views: Mapping[str, View]) -> list[Named]:
    return list(zip(identifiers(views), views, views.values()))


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


#: The letters of types in the example, and how they are printed there.
_FORMATS = {
    "bool": ("?", "%d"),
    "float32": ("f", "%g"),
    "float64": ("d", "%g"),
    "int8": ("b", "%d"),
    "uint8": ("B", "%d"),
    "int16": ("h", "%d"),
    "uint16": ("H", "%d"),
    "int32": ("i", "%d"),
    "uint32": ("I", "%u"),
    "int64": ("q", "%lld"),
    "uint64": ("Q", "%llu"),
}


def _show_case(dtype: str) -> str:
    letter, form = _FORMATS[dtype]
    return f"""    case '{letter}': printf(" {form}", ((const {C_TYPES[dtype]} *)data)[i]); break;"""


def filled(text: str, values: Mapping[str, str]) -> str:
    return re.sub(r"@(\w+)@", lambda found: values[found[1]], text)
