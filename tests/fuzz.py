"""Calls the library's functions with random arguments, valid and absurd, and checks the outcome: test_fuzz.py runs this.

    python fuzz.py FILE SEED ROUNDS

The current call is written to FILE, for the case that this process dies.

Sizes are small, or so large that no array can have them: then the function must refuse, or not depend on them. Pointers are
NULL or point to more memory than small sizes need. So for any arguments, a crash is a fault of the library, and so is a call
that does not end, an error without a text, and an element written by a refused call. Most calls have one or two invalid
arguments, many none. The numbers come from the standard library's generator: one that can shrink a failure would make a
fiftieth of the calls, and could not do so after a crash.
"""

from __future__ import annotations

import mmap
import re
import sys
import time
from collections import Counter
from math import prod
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np

from pysimd._header import declarations
from pysimd._library import HEADER_PATH, ffi, lib

NULL = ffi.NULL
FLOATS = 1 << 15  # in a buffer, more than any call with small sizes uses
POINTERS = 16  # in an array of pointers, or of sizes
LONGEST = 5  # seconds of one call, on a busy machine
ABSURD = (1 << 60, 1 << 63, (1 << 63) + 1, (1 << 64) - 1, (1 << 64) - 5)

DECLARATIONS = declarations(Path(HEADER_PATH).read_text())
ENUMS = {
    name: [int(value) for value in re.findall(r"= (-?\d+)", body)]
    for body, name in re.findall(r"typedef enum \{([^}]*)\} (\w+);", DECLARATIONS)
}


class Parameter(NamedTuple):
    type: str
    name: str


def functions() -> dict[str, list[Parameter]]:
    found = {}
    for name, text in re.findall(r"^[\w ]+?\**\s*\b(Simd\w+)\(([^()]*)\);", DECLARATIONS, flags=re.MULTILINE):
        pairs = (re.fullmatch(r"(.*?)(\w+)", each.strip(), flags=re.DOTALL) for each in text.split(","))
        found[name] = [Parameter(" ".join(p[1].split()), p[2]) for p in pairs if p and p[1]]
    return found


FUNCTIONS = functions()

# ---------------------------------------------------------------------------------------------------------- memory


def _contents() -> list[bytes]:
    rng = np.random.default_rng(0)
    plain, wild = rng.standard_normal((2, FLOATS)).astype(np.float32)
    wild[::3] = rng.choice(np.array([np.nan, np.inf, -np.inf, 1e-40, 3e38, -0.0], np.float32), wild[::3].size)
    return [plain.tobytes(), wild.tobytes(), bytes(4 * FLOATS)]


CONTENTS = _contents()
DIRT = bytes([0x5A]) * (4 * FLOATS)
SOURCES = [ffi.new("uint8_t[]", content) for content in CONTENTS]
RESULTS = [ffi.new("uint8_t[]", DIRT) for _ in range(4)]  # no function writes to more arrays at once


def holds(memory: Any, content: bytes) -> bool:
    return bool(ffi.buffer(memory)[: len(content)] == content)


# ------------------------------------------------------------------------------------------------------- arguments


#: The kinds of contexts that functions take which are not of their names.
OF_OTHERS = {"SimdnetQuantizedSetParams": ("SimdSynetQuantizedInnerProduct", "SimdSynetQuantizedConvolution")}


class Arguments:
    """Draws the arguments of one call, and keeps their memory alive."""

    def __init__(self, random: Random, function: str, contexts: dict[str, Any]) -> None:
        self._random, self._function, self._contexts = random, function, contexts
        self._faults = random.choice((0, 0, 1, 1, 2)) / max(len(FUNCTIONS[function]), 1)  # probability of an absurd one
        self._results = 0
        self._kept: list[Any] = []

    def all(self) -> list[Any]:
        return [self._one(parameter) for parameter in FUNCTIONS[self._function]]

    def _fault(self) -> bool:
        return self._random.random() < self._faults

    def _keep(self, memory: Any) -> Any:
        self._kept.append(memory)
        return memory

    def _size(self, name: str) -> int:
        random = self._random
        if self._fault():
            return random.choice((0, *ABSURD))
        if "QuantizedGemm" in self._function and name in ("N", "K", "strideB"):  # those of the context, in a call with one
            return 0 if name == "strideB" else 3
        if name.endswith("Stride"):
            return 500
        if name.endswith("Pixel"):
            return random.choice((0, 0, 0, 0, 6, 9))
        if name.startswith("ld"):
            return random.randint(5, 9)
        if name == "count" and "Merged" in self._function:
            return random.choice((2, 3, 3, 3))
        if name in ("align", "aCount", "bCount"):
            return {"align": random.choice((1, 8, 64))}.get(name, 2)
        if name == "dstC" and "Shuffle" in self._function:
            return 4
        if name in ("bits", "block") and "NBits" in self._function:
            return random.choice((4, 8) if name == "bits" else (16, 32))
        if name in ("srcC0", "srcC1"):
            return 4
        if name == "channels" and "SetInput" in self._function:
            return random.choice((1, 3))
        return random.randint(1, 5)

    def _array(self, kind: str) -> Any:
        element = kind.replace("const", "").replace("*", "").strip()
        if "const" in kind:
            array = self._random.choice((SOURCES[0], *SOURCES))
        else:
            array = RESULTS[self._results]
            self._results += 1
        return ffi.cast(f"{element} *", array + self._random.randint(0, 3) * (1 if element == "uint8_t" else 4))

    def _enumerator(self, kind: str, name: str) -> int:
        values = ENUMS[kind]
        if self._fault():
            return self._random.choice((-2, 99, 2**31 - 1) if min(values) < 0 else (99, 2**31, 2**32 - 1))
        if name == "srcFormat" and "SetInput" in self._function:
            return self._random.choice((1, 3, 4, 16))
        usual = {"SimdTensorFormatType": [0, 1], "SimdTensorDataType": [0, 7]}.get(kind, [])
        if "ConvertFilter" in self._function:
            usual = [6, 7]  # SimdTensorFormatOiyx and Yxio
        if "Quantized" in self._function and kind == "SimdTensorDataType":
            usual = ([2] if name == "typeB" else [3]) if "InnerProduct" in self._function else [0, 3]
        if "QuantizedBinary" in self._function:
            usual = [0, 2] if kind == "SimdnetBinaryOperation" else [2, 3]
        if "Linear" in self._function:
            usual = [2, 3]  # SimdTensorData8i and 8u
        return self._random.choice(usual * 6 + values)

    def _quantized(self, kind: str, name: str) -> Any:
        """A scale, usually above 0, or a zero, usually one of bytes; NULL for other parameters."""
        random = self._random
        bad = self._fault()
        if kind in ("int", "int32_t") and name != "type":
            zero = random.choice((-1, 256, -256, 2**31 - 1)) if bad else random.choice((0, 3, 128, 255))
            return -zero if name.startswith("bias") else zero
        if kind == "float" and name.endswith("Scale"):
            return random.choice((0.0, -1.0, float("nan"))) if bad else 0.5
        if name == "weightScale" and kind.count("*") == 2:
            each = self._keep(ffi.new("float[]", [0.5] * POINTERS))
            return self._keep(ffi.new("float *[]", [each] * POINTERS))
        if kind == "const int32_t *":
            return self._keep(ffi.new("int32_t[]", [1 if bad else -3] * POINTERS))
        if kind == "const float *" and (name.endswith("Scale") or name.startswith("norm") or "Layer" not in self._function):
            return self._keep(ffi.new("float[]", [random.choice((0.0, -1.0, float("nan"))) if bad else 0.5] * POINTERS))
        if kind == "const float *" and name == "scale" and random.random() < 0.7:
            return self._keep(ffi.new("float[]", [0.5] * POINTERS))
        return NULL

    def _one(self, parameter: Parameter) -> Any:
        kind, name = parameter
        if kind in ENUMS:
            return self._enumerator(kind, name)
        drawn = self._quantized(kind, name) if "Quantized" in self._function else NULL
        if not isinstance(drawn, int) and drawn == NULL:
            return self._other(kind, name)
        return drawn

    def _other(self, kind: str, name: str) -> Any:
        random = self._random
        if kind == "int32_t":
            return self._random.choice((0, 0, 3, 128, -128, 1 << 23, (1 << 23) + 1, -(1 << 31)))
        if kind == "size_t":
            return self._size(name)
        if kind == "float":
            return random.choice((0.0, 0.5, 1.0, -3.0, float("nan")))
        if kind == "int":
            return random.randint(-1, 3)
        if kind == "uint8_t":
            return random.choice((0, 3, 128, 255))
        if kind == "SimdGemm32fNNPtr" or self._fault():
            return NULL
        if kind.startswith("const char"):
            return self._keep(ffi.new("char[]", random.choice((b"base", b"avx2", b"neon", b"", b"%s%n", b"x" * 300))))
        if name in ("context", "resizer"):
            return self._context()
        if "SimdConvolutionParameters" in kind:
            return self._keep(ffi.new("SimdConvolutionParameters[]", self._convolutions()))
        if "SimdnetRecurrent" in kind:
            name = kind.replace("const", "").replace("*", "").strip()
            drawn = {"SimdnetRecurrentParameters": self._recurrent, "SimdnetRecurrentArrays": self._recurrent_arrays}
            fields = drawn.get(name, self._recurrent_bytes)()
            return self._keep(ffi.new(f"{name} *", {"size": ffi.sizeof(name), **fields}))
        if "SimdnetResizeParameters" in kind:
            fields = {"size": ffi.sizeof("SimdnetResizeParameters"), **self._resize()}
            return self._keep(ffi.new("SimdnetResizeParameters *", fields))
        if kind == "SimdBool *":
            return self._keep(ffi.new("SimdBool[3]"))
        if "size_t" in kind:
            usual = [*(random.sample(range(4), 4) if name == "order" else []), *[3] * POINTERS]
            return self._keep(ffi.new("size_t[]", [self._size("") if self._fault() else size for size in usual]))
        if re.fullmatch(r"const Simdnet\w+Param(eter)?s \*", kind):
            return self._keep(ffi.new(kind.removeprefix("const "), self._fields(kind)))
        if kind.count("*") == 2:
            zeros = name == "stats" and random.random() < 0.7  # no minimum exceeds its maximum
            element = re.sub("^(const )+| ?(const )?[*].*", "", kind)
            each = ffi.cast(f"{element} *", SOURCES[2]) if zeros else self._array(f"const {element} *")
            arrays = [NULL if self._fault() else each for _ in range(POINTERS)]
            return self._keep(ffi.new(f"{element} *[]", arrays))
        return self._array(kind)

    def _context(self) -> Any:
        """Usually one of the function's own kind: one of twenty kinds would nearly always be refused."""
        family = OF_OTHERS.get(self._function, (self._function,))[0]
        own = [context for kind, context in self._contexts.items() if re.sub("^Simd(Syn|n)et", "", kind) in family]
        return self._random.choice([SOURCES[2], *self._contexts.values(), *own * 2 * len(self._contexts)])

    def _fields(self, kind: str) -> dict[str, Any]:
        """Of a struct: each is drawn like a parameter; extents and strides agree with each other."""
        struct = ffi.typeof(kind).item
        fields = {name: self._field(field.type, name) for name, field in struct.fields if field.type.kind != "array"}
        size = ffi.sizeof(struct)
        fields["size"] = self._random.choice((0, size - 1, *ABSURD)) if self._fault() else size
        fields |= (
            {"count": self._random.randint(0, 4)}
            if {"count", "shape"} <= {*dict(struct.fields)} and not self._fault()
            else {}
        )
        if {"axis", "count"} <= fields.keys() and not self._fault():
            fields["axis"] = self._random.randrange(max(fields["count"], 1))
        shape = [self._random.choice((1, 2, 3, 3, 4)) for _ in range(8)]
        strides = [prod(shape[k + 1 : fields.get("count", 0)]) for k in range(8)]
        for name, field in struct.fields:
            if field.type.kind == "array":
                fields[name] = self._extents(name, shape, strides)[: field.type.length]
        return fields

    def _field(self, ctype: Any, name: str) -> Any:
        if ctype.cname == "SimdBool":
            return self._random.choice((0, 0, 1))
        if ctype.kind != "pointer":
            return self._one(Parameter(ctype.cname, name))
        if name == "buf" or (name == "B" and self._function == "SimdnetQuantizedGemmForward") or self._fault():
            return NULL
        if name == "images" and self._random.random() < 0.9:
            return ffi.cast(ctype, SOURCES[2])
        results = ("dst", "scale", "zero") if "DynamicQuantize" in self._function else ("dst", "C", "selected")
        const = "" if name in results else "const "  # cffi has dropped it
        return ffi.cast(ctype, self._array(f"{const}float *"))

    def _extents(self, name: str, shape: list[int], strides: list[int]) -> list[Any]:
        """The elements of an array in a struct."""
        random = self._random
        if "Stride" in name:
            return [random.choice((0, stride)) for stride in strides] if name.startswith("src") else strides
        if "Shape" in name:
            return [random.choice((1, extent, extent)) for extent in shape]
        drawn: dict[str, list[Any]] = {
            "shape": [random.choice((*ABSURD, 0)) if self._fault() else extent for extent in shape],
            "reduced": [int(k == 1 or random.random() < 0.3) for k in range(8)],
            "params": [random.choice((0.0, 0.5, 6.0, float("nan"))) for _ in range(8)],
            "batch": [random.randint(0, 3) for _ in range(8)],
        }
        return drawn.get(name, [random.choice((0, 0, 1, 2)) for _ in range(8)])

    def _recurrent(self) -> dict[str, Any]:
        random = self._random
        p: dict[str, Any] = {field: random.randint(1, 5) for field in ("steps", "batch", "input", "hidden")}
        p.update(type=random.randint(0, 2), direction=random.randint(0, 2), batchFirst=random.randint(0, 1))
        if random.random() < 0.5:
            p["activations"] = [random.choice((0, 0, 1, 3, 7, 11, 12, 99)) for _ in range(6)]
            p["alpha"], p["beta"] = ([random.choice((0.0, 0.5, -1.0, float("nan"))) for _ in range(6)] for _ in range(2))
            p["clip"], p["inputForget"] = random.choice((0.0, 0.5, -1.0)), random.randint(0, 1)
        if random.random() < 0.3:
            p[random.choice(("steps", "batch", "input", "hidden"))] = random.choice((0, *ABSURD))
        return p

    def _resize(self) -> dict[str, Any]:
        random = self._random
        p = {field: random.randint(0, 5) for field in ("batch", "channels", "srcH", "srcW", "dstH", "dstW")}
        limits = {"method": 3, "coordinates": 4, "rounding": 3, "antialias": 1, "excludeOutside": 1, "format": 1}
        p.update({field: random.randint(0, most) for field, most in limits.items()})
        p["dataType"] = random.choice((0, 0, 3))
        if random.random() < 0.3:
            p[random.choice(sorted(p))] = random.choice((0, 7, 99))
        if random.random() < 0.2:
            p[random.choice(("batch", "channels", "srcH", "srcW", "dstH", "dstW"))] = random.choice(ABSURD)
        return p

    def _recurrent_bytes(self) -> dict[str, Any]:
        fields: dict[str, Any] = {"type": self._random.choice((2, 3, 3, 99)), "perColumn": self._random.choice((0, 1, 1, 7))}
        for field in ("W", "R", "zeroW", "zeroR"):
            fields[field] = self._array("const uint8_t *")
        for field in ("scaleW", "scaleR", "bias", "peephole"):
            fields[field] = self._array("const float *")
        return fields

    def _recurrent_arrays(self) -> dict[str, Any]:
        fields: dict[str, Any] = {"src": self._array("const float *"), "dst": self._array("float *")}
        for field in ("h0", "c0", "hn", "cn"):
            if self._random.random() < (0.3 if field[0] == "h" else 0.1):
                fields[field] = self._array("const float *" if field[1] == "0" else "float *")
        if self._random.random() < 0.3:
            fields["lengths"] = self._keep(ffi.new("size_t[]", [self._random.randint(0, 2) for _ in range(POINTERS)]))
        return fields

    def _convolutions(self) -> list[dict[str, Any]]:
        made = self._stages() if "Merged" in self._function else [self._convolution()]
        for _ in range(self._random.choice((0, 0, 0, 1, 2))):
            one = self._random.choice(made)
            field = self._random.choice(sorted(one))
            if field[-1] in "TF":
                one[field] = self._random.choice((-1, 2, 99))
            elif field == "activation":
                one[field] = 7
            else:
                one[field] = self._random.choice((0, 1, 5, *ABSURD))
            if self._random.random() < 0.5:
                self._set_output(one)
        return made

    def _convolution(self) -> dict[str, Any]:
        random = self._random
        p = {field: random.randint(1, 5) for field in ("srcC", "dstC", "srcH", "srcW")}
        p.update({field: random.randint(1, 4) for field in ("kernelY", "kernelX")})
        p.update({field: random.choice((1, 1, 2, 3)) for field in ("dilationY", "dilationX", "strideY", "strideX")})
        p.update({field: random.choice((0, 1, 2)) for field in ("padY", "padX", "padH", "padW")})
        p.update(group=1, activation=random.randint(0, 6), srcT=0, dstT=0)
        p["srcF"] = p["dstF"] = random.randint(0, 1)
        if not self._function.startswith("SimdSynet") or "8i" in self._function:
            for field in ("srcT", "dstT"):
                p[field] = random.choice((0, 3) if "8i" in self._function else (0, 7))
        if "Quantized" in self._function:
            p["srcT"] = p["dstT"] = 3
        if random.random() < 0.3:
            p["group"] = p["dstC"] = p["srcC"]
        self._set_output(p)
        return p

    def _set_output(self, p: dict[str, Any]) -> None:
        for axis, before, after in (("Y", "padY", "padH"), ("X", "padX", "padW")):
            src, dst = ("srcH", "dstH") if axis == "Y" else ("srcW", "dstW")
            span, pads, stride = (
                (p["kernel" + axis] - 1) * p["dilation" + axis] + 1,
                p[before] + p[after],
                p["stride" + axis],
            )
            up = stride * (p[src] - 1) + span - pads
            p[dst] = (up if "Deconvolution" in self._function else (p[src] + pads - span) // max(stride, 1) + 1) % (1 << 64)

    def _stages(self) -> list[dict[str, Any]]:
        """Expansion, depthwise convolution and projection."""
        c, size, wide, kernel, stride = (self._random.randint(1, high) for high in (5, 5, 6, 2, 2))
        made: list[dict[str, Any]] = []
        for dst, taps, step, group in ((wide, 1, 1, 1), (wide, 2 * kernel + 1, stride, wide), (c, 1, 1, 1)):
            last = made[-1] if made else {"dstC": c, "dstH": size, "dstW": size}
            p = {"srcC": last["dstC"], "srcH": last["dstH"], "srcW": last["dstW"], "dstC": dst, "srcF": 1, "dstF": 1}
            p.update(dict.fromkeys(("padY", "padX", "padH", "padW"), taps // 2), group=group, srcT=0, dstT=0)
            p.update(kernelY=taps, kernelX=taps, dilationY=1, dilationX=1, strideY=step, strideX=step)
            p["activation"] = self._random.randint(0, 6)
            if "Quantized" in self._function:
                p.update(srcT=3, dstT=3, activation=0)
            self._set_output(p)
            made.append(p)
        return made


# ------------------------------------------------------------------------------------------------------------ calls


class Caller:
    """Makes a call, and then checks what the library guarantees."""

    def __init__(self, path: str) -> None:
        with open(path, "r+b") as file:
            self._note = mmap.mmap(file.fileno(), 0)
        self.good: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()

    def __call__(self, name: str, *arguments: Any) -> Any:
        text = f"{name}({', '.join(map(self._told, arguments))})".encode()[: len(self._note) - 1]
        self._note[: len(text) + 1] = text + b"\0"
        begin = time.monotonic()
        result = getattr(lib, name)(*arguments)
        took = time.monotonic() - begin
        kind, sentence = lib.SimdnetLastErrorKind(), ffi.string(lib.SimdnetLastError()).decode("ascii")
        told = f"{text.decode()} said {sentence!r}"
        assert took < LONGEST, f"{told} after {took:.0f} s"
        assert all(map(holds, SOURCES, CONTENTS)), f"{told} and wrote to a source"
        if kind == 0:
            assert sentence == "", told
            for memory in RESULTS:
                ffi.buffer(memory)[: 4 * FLOATS] = DIRT
        else:
            assert kind in (1, 2, 3) and re.fullmatch(rf"{name}: \w.{{5,400}}", sentence), told
            assert all(holds(memory, DIRT) for memory in RESULTS), f"{told} and wrote a result"
        (self.refused if kind else self.good)[name] += 1
        return result

    @staticmethod
    def _told(argument: Any) -> str:
        if isinstance(argument, ffi.CData) and ffi.typeof(argument).cname.startswith("SimdConvolutionParameters["):
            fields = [field for field, _ in ffi.typeof("SimdConvolutionParameters").fields]
            return str([{field: getattr(one, field) for field in fields} for one in argument])
        return str(argument)


def live(call: Caller, random: Random, init: str) -> None:
    """A context from its Init to its release, with the functions of its kind."""
    arguments = Arguments(random, init, {})
    context = call(init, *arguments.all())
    assert (context == NULL) == (lib.SimdnetLastErrorKind() != 0), init
    if context == NULL:
        return
    kind = init[: -len("Init")]
    own = [name for name in FUNCTIONS if name.startswith(kind) and name != init]
    first = [kind + "SetParams"] if kind + "SetParams" in own and random.random() < 0.8 else []
    for name in [*first, *random.choices(own, k=3)]:
        arguments = Arguments(random, name, {kind: context})  # keeps what is drawn
        drawn = arguments.all()
        for i, parameter in enumerate(FUNCTIONS[name]):
            if parameter.name == "buf" and getattr(lib, kind + "ExternalBufferSize")(context) > FLOATS // 2:
                drawn[i] = NULL
        call(name, *drawn)
    call("SimdnetContextInfo", context)
    call("SimdRelease", context)


def one_of_each(call: Caller, random: Random) -> dict[str, Any]:
    """One context of every kind, created by the first valid call, with weights."""
    kinds = [name[: -len("Init")] for name in FUNCTIONS if name.endswith("Init")]
    return {kind: one_of(call, random, kind) for kind in kinds}


def one_of(call: Caller, random: Random, kind: str) -> Any:
    """A context of this kind."""
    context = NULL
    while context == NULL:
        arguments = Arguments(random, kind + "Init", {})
        context = call(kind + "Init", *arguments.all())
    _set_params(call, random, kind, context)
    return context


def _set_params(call: Caller, random: Random, kind: str, context: Any) -> None:
    name = kind + "SetParams"
    while name in FUNCTIONS and not call.good[name]:
        arguments = Arguments(random, name, {kind: context})
        call(name, *arguments.all())


def one_call(call: Caller, random: Random, name: str, contexts: dict[str, Any]) -> None:
    if name == "SimdFree":
        lib.SimdFree(call("SimdAllocate", *Arguments(random, "SimdAllocate", {}).all()))
    elif name == "SimdRelease":
        call(name, random.choice((NULL, SOURCES[2])))
    elif name == "SimdnetRunCalls":  # what it calls must be functions
        call(name, NULL, random.choice((0, 1, 1 << 62)))
    elif name.endswith("Init"):
        live(call, random, name)
    elif not name.startswith("SimdnetLastError"):
        arguments = Arguments(random, name, contexts)
        call(name, *arguments.all())


def main(path: str, seed: int, rounds: int) -> None:
    call, random = Caller(path), Random(seed)
    contexts = one_of_each(call, random)
    names = [name for name in FUNCTIONS for _ in range(5 if name.endswith("Init") else 1)]
    for _ in range(rounds):
        for name in names:
            one_call(call, random, name, contexts)
        lib.SimdnetSetVerbose(0)
        if random.random() < 0.2:
            lib.SimdnetSetMaxIsa(NULL)
    print({name: (call.good[name], call.refused[name]) for name in FUNCTIONS})


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
