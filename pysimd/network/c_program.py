"""A prepared model as a program in C: the same calls of the library, written down.

Everything that a runner does in Python before its first run is a sequence of calls: contexts are created, and get their
weights. Everything that it does in a run is another one. Both are recorded with their arguments, and written as C; an
argument that is a pointer is one into the block of tensors, or into data that go to a file of their own.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pysimd._library import ffi, lib
from pysimd.annotations import Array
from pysimd.calls import Created, Prepared, recorded
from pysimd.errors import shown
from pysimd.network.c_names import identifiers, quoted
from pysimd.network.c_templates import HEADER, MAIN, MAKEFILE, SOURCE
from pysimd.network.runner import Runner

_ALIGNMENT = 64
_SMALL = 16  # elements that are written in the source
_LONGEST = 1000  # characters of a name in a string, of which a compiler needs to accept 4095 bytes


def write(runner: Runner, tape: Sequence[Created], folder: Any, name: str) -> list[Path]:
    """Writes a program: the model as NAME.c, NAME.h and NAME.bin, an example main.c, and a Makefile.

    runner, tape : a runner, and the contexts that were recorded while it was made, see :func:`pysimd.calls.taped`.
    name : one that :func:`pysimd.network.c_names.checked` accepts.

    Returns the paths. Files that exist are overwritten, but nothing is written if a step cannot be expressed in C: then this
    raises ValueError with the step.
    """
    program = _Program(runner, tape, name)
    files = program.files()
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


def _address(pointer: Any) -> int:
    return int(ffi.cast("uintptr_t", pointer))


def _bounds(array: Array) -> tuple[int, int]:
    """The first byte of an array, and the one after its last."""
    spans = [(n - 1) * stride for n, stride in zip(array.shape, array.strides)]
    begin = array.ctypes.data
    if array.size == 0:
        return begin, begin
    return begin + sum(min(span, 0) for span in spans), begin + sum(max(span, 0) for span in spans) + array.itemsize


def _functions() -> dict[int, str]:
    """The names of the functions of the library by their addresses."""
    found = {}
    for name in dir(lib):
        value = getattr(lib, name)
        if isinstance(value, ffi.CData) and ffi.typeof(value).kind == "function":
            found[_address(value)] = name
    return found


class _Region(NamedTuple):
    """Bytes of memory that a pointer may point into."""

    begin: int
    end: int
    owner: Any


class _Memory:
    """The memory that calls point to. Neighbours that overlap are one region."""

    def __init__(self, block: Array) -> None:
        self._block = block.ctypes.data, block.ctypes.data + block.nbytes
        self._regions: list[_Region] = []
        self._merged: list[_Region] | None = None
        self._offsets: dict[int, int] = {}
        self.data: list[bytes] = []
        self._end = 0

    def add(self, value: Any) -> None:
        """Finds arrays in an argument, and in what it keeps alive."""
        if isinstance(value, np.ndarray):
            low, high = _bounds(value)
            self._keep(low, high, value)
        elif isinstance(value, ffi.CData):
            kind = ffi.typeof(value)
            if kind.kind == "array" and kind.item.kind == "primitive":
                self._keep(_address(ffi.addressof(value, 0)) if len(value) else 0, ffi.sizeof(value), value, True)
            elif kind.kind == "array" and kind.item.kind == "pointer":
                for each in value:
                    self.add(each)
        elif isinstance(value, dict):
            for each in value.values():
                self.add(each)
        elif isinstance(value, (tuple, list)):
            for each in value:
                self.add(each)
        elif hasattr(value, "array") and hasattr(value, "data"):
            self.add(value.array)
            self.add(value.data)

    def _keep(self, begin: int, end: int, owner: Any, is_size: bool = False) -> None:
        end = begin + end if is_size else end
        if end > begin and not (self._block[0] <= begin and end <= self._block[1]):
            self._regions.append(_Region(begin, end, owner))
            self._merged = None

    def place(self, address: int) -> str:
        """A pointer in C. Raises ValueError for one into unknown memory."""
        if self._block[0] <= address < self._block[1]:
            return f"TENSOR({address - self._block[0]})"
        regions = self._joined()
        at = bisect_right(regions, address, key=lambda region: region.begin) - 1
        if at < 0 or address >= regions[at].end:
            raise ValueError("an argument points to memory that is not known")
        region = regions[at]
        if region.begin not in self._offsets:
            self._offsets[region.begin] = self._end
            content = bytes(ffi.buffer(ffi.cast("char *", region.begin), region.end - region.begin))
            self.data.append(content + bytes(-len(content) % _ALIGNMENT))
            self._end += len(self.data[-1])
        return f"DATA({self._offsets[region.begin] + address - region.begin})"

    def _joined(self) -> list[_Region]:
        if self._merged is None:
            self._merged = []
            for region in sorted(self._regions, key=lambda region: region.begin):
                if self._merged and region.begin < self._merged[-1].end:
                    last = self._merged[-1]
                    self._merged[-1] = _Region(last.begin, max(last.end, region.end), (last.owner, region.owner))
                else:
                    self._merged.append(region)
        return self._merged

    @property
    def size(self) -> int:
        """The bytes of data so far."""
        return self._end


class _Program:
    """The text of the files."""

    def __init__(self, runner: Runner, tape: Sequence[Created], name: str) -> None:
        self._runner, self._tape, self._name = runner, tape, name
        self._names = _functions()
        self._contexts: dict[int, int] = {}  # numbers of contexts by their addresses
        self._params: dict[int, Created] = {}  # how those of a context, by its address, were set
        for entry in tape:
            address = _address(entry.handle)
            self._contexts.setdefault(address, len(self._contexts))
            shared = entry.function is lib.SimdnetShareParams
            self._params[address] = self._params[_address(entry.arguments[1])] if shared else entry
        self._memory = _Memory(runner.block)

    def files(self) -> dict[str, Any]:
        """The content of all files by name."""
        self._memory.add(self._runner.placed.constants)
        for entry in self._tape:
            self._memory.add([*entry.arguments, entry.held])
        steps = [(step, list(_recorded(step.calls))) for step in self._runner.steps]
        for _, calls in steps:
            for _, arguments, held in calls:
                self._memory.add([list(arguments), held])
        run = [line for step, calls in steps for line in self._step(step, calls)]
        run_bytes = self._memory.size  # data of runs first: the rest is not needed after the contexts have been created
        create = [line for entry in self._tape for line in self._entry(entry)]
        values = self._values(create, run, run_bytes)
        texts = {f"{self._name}.c": SOURCE, f"{self._name}.h": HEADER, "main.c": MAIN, "Makefile": MAKEFILE}
        files: dict[str, Any] = {file: _filled(text, values) for file, text in texts.items()}
        files[f"{self._name}.bin"] = b"".join(self._memory.data)
        return files

    def _values(self, create: list[str], run: list[str], run_bytes: int) -> dict[str, str]:
        inputs, outputs = (
            list(zip(identifiers(arrays), arrays, arrays.values())) for arrays in (self._runner.inputs, self._runner.outputs)
        )
        return {
            "name": self._name,
            "NAME": self._name.upper(),
            "version": str(ffi.string(lib.SimdVersion()).decode()),
            "contexts": str(max(len(self._contexts), 1)),
            "block_bytes": str(self._runner.plan.size),
            "run_bytes": str(run_bytes),
            "data_bytes": str(self._memory.size),
            "create": "\n".join(create),
            "run": "\n".join(run),
            "inputs": "\n".join(self._tensor("input", *each) for each in inputs),
            "outputs": "\n".join(self._tensor("output", *each) for each in outputs),
            "input_rows": "\n".join(self._row(*each) for each in inputs),
            "output_rows": "\n".join(self._row(*each) for each in outputs),
            "input_places": "\n".join(self._place(array) for _, _, array in inputs),
            "output_places": "\n".join(self._place(array) for _, _, array in outputs),
            "show_cases": "\n".join(map(_show_case, _C_TYPES.values())),
        }

    def _tensor(self, kind: str, identifier: str, name: str, array: Array) -> str:
        """A macro for a tensor."""
        place = array.ctypes.data - self._runner.block.ctypes.data
        shape = ", ".join(map(str, array.shape))
        return (
            f"/* {kind} {quoted(name)}: {array.dtype.name} ({shape}) */\n"
            f"#define {self._name.upper()}_{kind.upper()}_{identifier}_SIZE {array.size}\n"
            f"#define {self._name.upper()}_{kind.upper()}_{identifier}(model) "
            f"(({_C_TYPES[array.dtype.name].name} *)(void *){self._name}_tensor((model), {place}))"
        )

    def _place(self, array: Array) -> str:
        return f"    {{{array.ctypes.data - self._runner.block.ctypes.data}, {array.nbytes}}},"

    def _row(self, identifier: str, name: str, array: Array) -> str:
        place, text = array.ctypes.data - self._runner.block.ctypes.data, quoted(name[:_LONGEST])
        return f"    {{\"{text}\", {place}, {array.nbytes}, {array.size}, '{_C_TYPES[array.dtype.name].letter}'}},"

    # ---- calls

    def _entry(self, entry: Created) -> list[str]:
        """A context that is created, or gets its parameters."""
        if entry.function is lib.SimdnetShareParams:
            context, other = entry.arguments
            params = self._params[_address(context)]
            before, call = self._call(params.function, (context, *params.arguments[1:]))
            name, _, arguments = call.partition("(")
            word = f"SHARE(m->contexts[{self._contexts[_address(other)]}], {name}, {arguments}"
            return [*before, f"    {word};", *_ends(before)]
        before, call = self._call(entry.function, entry.arguments)
        is_new = ffi.typeof(entry.function).result.kind == "pointer"
        word = f"CREATE({self._contexts[_address(entry.handle)]}, {call})" if is_new else f"CHECK({call})"
        return [*before, f"    {word};", *_ends(before)]

    def _step(self, step: Any, calls: list[Any]) -> list[str]:
        lines = [f"    /* {quoted(step.node.operator + ' ' + ', '.join(step.node.origin))} */"]
        for function, arguments, _ in calls:
            try:
                before, call = self._call(function, arguments)
            except ValueError as error:
                what = step.node.origin[0] if step.node.origin else step.node.output
                raise ValueError(f"{step.node.operator} {shown(what)} cannot be written as C: {error}") from None
            lines += [*before, f"    CHECK({call});", *_ends(before)]
        return lines

    def _call(self, function: Any, arguments: Sequence[Any]) -> tuple[list[str], str]:
        """The lines before a call, and the call."""
        if not isinstance(function, ffi.CData) or _address(function) not in self._names:
            what = getattr(function, "function", function)  # that of a step which Python computes
            raise ValueError(f"it is computed by Python, by {getattr(what, '__name__', type(what).__name__)}()")
        kinds = ffi.typeof(function).args
        before: list[str] = []
        words = [self._argument(value, kind, before) for value, kind in zip(arguments, kinds)]
        return before, f"{self._names[_address(function)]}({', '.join(words)})"

    def _argument(self, value: Any, kind: Any, before: list[str]) -> str:
        if kind.kind in ("pointer", "function"):
            return self._pointer(value, kind, before)
        return _number(value, kind)

    def _pointer(self, value: Any, kind: Any, before: list[str]) -> str:
        if value is None or (isinstance(value, ffi.CData) and not _address_or_zero(value)):
            return "NULL"
        if isinstance(value, (tuple, list)):
            return self._list(list(value), kind.item)
        address = _address_or_zero(value)
        if address in self._contexts:
            return f"m->contexts[{self._contexts[address]}]"
        given = ffi.typeof(value)
        if given.kind in ("pointer", "array") and given.item.kind == "struct":
            return self._struct(value, given, before)
        if given.kind == "array" and given.item.kind == "pointer":
            return self._list(list(value), given.item)
        numbers = given.kind == "array" and given.item.kind == "primitive"
        if numbers and 0 < len(value) <= _SMALL and not self._is_tensor(address):
            return f"({_spelled(given.item)}[]){{{', '.join(_number(each, given.item) for each in value)}}}"
        return self._memory.place(address)

    def _is_tensor(self, address: int) -> bool:
        begin = int(self._runner.block.ctypes.data)
        return begin <= address < begin + int(self._runner.block.nbytes)

    def _list(self, values: list[Any], item: Any) -> str:
        words = [self._argument(value, item, []) for value in values]
        spelled = "const void *" if item.kind == "pointer" else _spelled(item)
        cast = "(void *)" if item.kind == "pointer" else ""
        return f"{cast}({spelled}[]){{{', '.join(words)}}}"

    def _struct(self, value: Any, given: Any, before: list[str]) -> str:
        """Structs as local variables."""
        count = len(value) if given.kind == "array" else 1
        texts = [self._fields(value[i], given.item) for i in range(count)]
        name = f"p{len(before)}"
        before += ["    {"] if not before else []
        body = ",\n         ".join(texts)
        before.append(f"    {_spelled(given.item)} {name}[] = {{{body}}};")
        return name

    def _fields(self, value: Any, kind: Any) -> str:
        words = []
        for field, info in kind.fields:
            word = self._field(getattr(value, field), info.type)
            if word is not None:
                words.append(f".{field} = {word}")
        return "{" + ", ".join(words) + "}"

    def _field(self, value: Any, kind: Any) -> str | None:
        """The value of a field; None for zero."""
        if kind.kind == "array":
            words = [self._field(each, kind.item) for each in value]
            while words and words[-1] is None:
                words.pop()
            return "{" + ", ".join(word or "0" for word in words) + "}" if words else None
        if kind.kind == "struct":
            return self._fields(value, kind)
        if kind.kind == "pointer":
            word = self._pointer(value, kind, [])
            return None if word == "NULL" else word
        word = _number(value, kind)
        return None if float(value) == 0 and not word.startswith("-") else word


def _recorded(calls: Sequence[Any]) -> Iterator[tuple[Any, Sequence[Any], Any]]:
    """The calls of the library that prepared calls consist of."""
    for call in calls:
        if isinstance(call, Prepared):
            yield from recorded(call)
        else:
            yield call, (), None


def _ends(before: list[str]) -> list[str]:
    return ["    }"] if before else []


def _address_or_zero(value: Any) -> int:
    kind = ffi.typeof(value)
    if kind.kind == "array":
        return _address(ffi.addressof(value, 0)) if len(value) else 0
    return _address(value)


def _spelled(kind: Any) -> str:
    return str(kind.cname)


def _number(value: Any, kind: Any) -> str:
    if kind.cname in ("float", "double"):
        number = float(value)
        if number != number or number in (float("inf"), float("-inf")):
            return "NAN" if number != number else "INFINITY" if number > 0 else "-INFINITY"
        return number.hex() + ("f" if kind.cname == "float" else "")
    return str(int(value))


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


def _filled(text: str, values: dict[str, str]) -> str:
    return re.sub(r"@(\w+)@", lambda found: values[found[1]], text)
