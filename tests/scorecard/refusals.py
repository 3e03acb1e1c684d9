"""Sizes that no memory has, whose product may wrap to a small number: ``python -m scorecard.refusals [ROUNDS]``.

Of each function, two extents of an array (or one) are so large that the array would have 2^60 elements or more; all other
arguments are valid ones of `fuzz.py`. The call must be refused with a sentence and must write nothing, as `fuzz.Caller`
checks.
`tests/c/test_init.c` does the same for the functions that create contexts.
"""

from __future__ import annotations

import itertools
import os
import sys
import tempfile
from collections.abc import Iterator
from random import Random
from typing import Any

import fuzz

from pysimd._library import ffi, lib
from scorecard.row import print_counts

# Extents that are multiplied, of all functions that have parameters or fields of these names.
GROUPS = (
    ("batch", "channels", "spatial"),
    ("channels", "spatial"),
    ("channels", "height", "width"),
    ("channels0", "spatial"),
    ("channels1", "spatial"),
    ("srcC0", "spatial"),
    ("srcC1", "spatial"),
    ("size",),
    ("outer", "count", "inner"),
    ("outer", "indices", "inner"),
    ("outer", "channels", "inner"),
    ("output", "input", "kernel"),
    ("height", "stride"),
    ("srcC", "srcH", "srcW"),
    ("srcChannels", "srcHeight", "srcWidth"),
    ("dstChannels", "dstHeight", "dstWidth"),
    ("batch", "channels", "srcH", "srcW"),
    ("batch", "channels", "dstH", "dstW"),
    ("channels", "pixels"),
    ("pixels", "srcPixel"),
    ("pixels", "dstPixel"),
    ("batch", "classes", "count"),
    ("batch", "count"),
    ("M", "lda"),
    ("M", "ldc"),
    ("count", "size"),
)
NOT = {
    ("SimdSynetEltwiseLayerForward", ("count", "size")),  # an array of pointers
    ("SimdnetGemm", ("M", "lda")),  # if A is transposed, a row has M floats
}
STRUCTS = {"size"}  # of a struct this is not an extent
ONE = (1 << 60, 1 << 61, 1 << 62, (1 << 62) + 1, 1 << 63, (1 << 63) + 1, (1 << 64) - 1, (1 << 64) - 4)
TWO = (
    (1 << 30, 1 << 30),
    (1 << 30, 1 << 32),  # 2^62 floats are 2^64 bytes
    (1 << 31, 1 << 31),
    (1 << 31, 1 << 33),
    ((1 << 33) + 1, 1 << 31),
    (1 << 32, 1 << 32),
    ((1 << 32) + 1, 1 << 32),
    ((1 << 32) + 1, (1 << 32) + 1),
    ((1 << 32) - 1, (1 << 32) - 1),
    (1 << 40, 1 << 24),
    (1 << 63, 2),
    ((1 << 63) + 1, 2),
    ((1 << 64) - 1, (1 << 64) - 1),
    ((1 << 64) // 3 + 1, 3),
)


def wrapping(group: tuple[str, ...]) -> Iterator[dict[str, int]]:
    """Values for one or two of the extents."""
    for name in group:
        for value in ONE:
            yield {name: value}
    for first, second in itertools.permutations(group, 2):
        for values in TWO:
            yield dict(zip((first, second), values))


def struct_of(function: str) -> Any:
    """The struct that a function takes, if it is the only parameter."""
    parameters = fuzz.FUNCTIONS[function]
    kind = parameters[0].type if len(parameters) == 1 else ""
    if not kind.startswith("const Simdnet") or "Init" in function:
        return None
    return ffi.typeof(kind.removeprefix("const ")).item


def calls(function: str) -> Iterator[tuple[str, Any]]:
    """What is replaced: names of parameters or of fields, or elements of fields that are arrays."""
    struct = struct_of(function)
    names = {p.name for p in fuzz.FUNCTIONS[function] if p.type == "size_t"}
    if struct is not None:
        names = {name for name, field in struct.fields if field.type.cname == "size_t"} - STRUCTS
    for group in GROUPS:
        if names.issuperset(group) and (function, group) not in NOT:
            for values in wrapping(group):
                yield "names", values
    if struct is not None and "shape" in dict(struct.fields):
        for values in wrapping(("0", "1", "2")):
            yield "shape", {int(k): value for k, value in values.items()}
    if struct is not None and "before" in dict(struct.fields):
        for pair in TWO:
            yield "before", {0: pair[0], 1: pair[1]}
        for value in ONE:
            yield "before", {0: value}


def arguments(random: Random, function: str, what: str, values: dict[Any, int]) -> tuple[Any, list[Any]]:
    """Valid ones, but for these; what keeps them alive comes first."""
    drawn = fuzz.Arguments(random, function, {})
    drawn._faults = 0
    found = drawn.all()
    if function == "SimdnetQuantizedPooling":
        found[0].type = lib.SimdnetQuantizedPoolingMax  # GlobalAverage depends on no extent of dst
    if struct_of(function) is None:
        for i, parameter in enumerate(fuzz.FUNCTIONS[function]):
            found[i] = values.get(parameter.name, found[i])
    elif what == "names":
        for name, value in values.items():
            setattr(found[0], name, value)
    else:
        setattr(found[0], "count" if hasattr(found[0], "count") else "depth", 3)
        for k, value in values.items():
            getattr(found[0], what)[k] = value
            for other in ("aShape", "bShape"):
                if hasattr(found[0], other):
                    getattr(found[0], other)[k] = value
    return drawn, found


def main(path: str, rounds: int) -> int:
    call, refused = fuzz.Caller(path), 0
    for seed in range(rounds):
        random = Random(seed)
        for function in fuzz.FUNCTIONS:
            if "Init" in function or "Simd" not in function or function in ("SimdAllocate", "SimdAlign"):
                continue
            for what, values in calls(function):
                kept, given = arguments(random, function, what, values)
                call(function, *given)
                assert lib.SimdnetLastErrorKind() != 0, f"{function} accepted {what} {values}, seed {seed}"
                refused += 1
                del kept
    functions = sum(count > 0 for count in call.refused.values())
    print(f"{functions} functions")
    print_counts(refused=refused, failed=0)
    return 0


if __name__ == "__main__":
    with tempfile.NamedTemporaryFile() as note:
        note.write(bytes(1 << 13))
        note.flush()
        child = os.fork()
        if child == 0:
            status = 1
            try:
                status = main(note.name, int(sys.argv[1]) if len(sys.argv) > 1 else 10)
            except Exception as error:
                print(f"{type(error).__name__}: {error}")
            sys.stdout.flush()
            os._exit(status)
        ended = os.waitpid(child, 0)[1]
        if ended:
            note.seek(0)
            last = note.read().split(b"\0")[0].decode()
            print(f"the last call was {last}")
            print_counts(failed=1)
        sys.exit(ended != 0)
