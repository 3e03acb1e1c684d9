"""Every parameter of every function of the header with every bad value: ``python c_refusals.py FILE SEED``.

Each function is called validly, with arguments that ``fuzz.py`` draws. Then each of its parameters in turn is NULL, a size
that no array can have, an unknown enumerator, a context of each other kind, one that has no weights yet, or memory that is
no context; and each field of its structs likewise. The function must refuse, with a sentence that begins with its name, and
write nothing, or succeed, because it does not depend on the value. A released context is not among the values: nothing
can distinguish it from other memory.

The last line is for the scorecard: how many cases of each kind were refused. ``c_named`` of them have a sentence with the
name of the parameter that is bad; the others name what follows from it, as an array that would be too large. FILE contains
the call that was made last, for the case that the process dies.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

from fuzz import ABSURD, ENUMS, FUNCTIONS, NULL, OF_OTHERS, SOURCES, Arguments, Caller, Parameter, one_of, one_of_each

from pysimd._library import ffi, lib
from scorecard.row import print_counts

BASES = 2  # valid calls of a function from which its cases are made
MOST_DRAWN = 2000  # calls until one is valid
MOST_CONTEXTS = 50  # until there is such a call
SIZES = (0, *ABSURD, 1 << 62, (1 << 62) + 1, (1 << 64) - 2)
UNKNOWN = (99, 2**31 - 1)

# What functions write, and cannot be looked at afterwards; or functions that refuse nothing.
LEFT_OUT = {"SimdFree", "SimdAllocate", "SimdRelease", "SimdnetLastError", "SimdnetLastErrorKind", "SimdnetSetVerbose"}
LEFT_OUT |= {"SimdnetSetMaxIsa", "SimdSetThreadNumber", "SimdnetShareParams", "SimdnetSetPacked", "SimdnetRunCalls"}

Bad = tuple[str, str, Any]  # kind of the case, name of the parameter or field, value


def _documented(kind: str) -> str:
    """The documented name of a kind of contexts, which may have an older one, too."""
    return kind.replace("SimdnetConvolution16b", "SimdSynetConvolution16b")


class Refusals:
    def __init__(self, call: Caller, random: Random) -> None:
        self._call, self._random = call, random
        self._contexts = one_of_each(call, random)
        self._bare = self._without_weights()
        self._seen: set[tuple[str, str, str]] = set()
        self.counts: Counter[str] = Counter()

    def _without_weights(self) -> dict[str, Any]:
        """A context of each kind that needs weights."""
        made: dict[str, Any] = {}
        for name in FUNCTIONS:
            kind = name.removesuffix("Init")
            while kind != name and kind + "SetParams" in FUNCTIONS and made.get(kind, NULL) == NULL:
                made[kind] = self._call(name, *Arguments(self._random, name, {}).all())
        return made

    def of(self, name: str) -> None:
        """All cases of a function."""
        for _ in range(BASES):
            arguments = self._valid(name)
            assert arguments, f"no valid call of {name}"
            for place, parameter in enumerate(FUNCTIONS[name]):
                for kind, called, bad in self._bad(name, parameter):
                    self._expect(name, [*arguments[:place], bad, *arguments[place + 1 :]], kind, called, bad)
                self._fields(name, arguments, place)

    def sharing(self) -> None:
        """Of the function with two contexts: no two of different kinds."""
        name = "SimdnetShareParams"
        first, second = (parameter.name for parameter in FUNCTIONS[name])
        for one, context in self._contexts.items():
            self._expect(name, [context, NULL], "null", second, one)
            self._expect(name, [NULL, context], "null", first, one)
            self._expect(name, [context, SOURCES[2]], "foreign", second, one)
            self._expect(name, [SOURCES[2], context], "foreign", first, one)
            for other, shared in self._contexts.items():
                if _documented(other) != _documented(one):
                    self._expect(name, [context, shared], "foreign", second, (one, other))

    def _valid(self, name: str) -> list[Any] | None:
        """Arguments that the function accepts; with another context if those of this one were not found: nearly all indices
        that are drawn are beyond a small dimension."""
        kind = self._kind(name)
        for _ in range(MOST_CONTEXTS):
            arguments = self._drawn(name, kind)
            if arguments or not kind:
                return arguments
            lib.SimdRelease(self._contexts[kind])
            self._contexts[kind] = one_of(self._call, self._random, kind)
        return None

    def _drawn(self, name: str, kind: str) -> list[Any] | None:
        """Arguments for a context of this kind, if any. The first call may create a context, which is released."""
        for _ in range(MOST_DRAWN):
            drawn = Arguments(self._random, name, {kind: self._contexts[kind]} if kind else self._contexts)
            self._kept = drawn  # what the pointers point to
            arguments = drawn.all()
            result = self._call(name, *arguments)
            if lib.SimdnetLastErrorKind() == 0:
                self._release(name, result)
                return arguments
        return None

    def _kind(self, name: str) -> str:
        """The kind of context that the function belongs to; an empty text if none, or if it takes all kinds."""
        if name in OF_OTHERS:
            return OF_OTHERS[name][0]
        takes = any(parameter.name in ("context", "resizer") for parameter in FUNCTIONS[name])
        return max((kind for kind in self._contexts if takes and name.startswith(kind)), key=len, default="")

    def _release(self, name: str, result: Any) -> None:
        if name.endswith("Init") and result != NULL:
            lib.SimdRelease(result)

    def _bad(self, name: str, parameter: Parameter) -> Iterator[Bad]:
        kind, called = parameter
        if called in ("context", "resizer"):
            own = self._kind(name)
            yield "null", called, NULL
            yield "foreign", called, SOURCES[2]
            yield "foreign", called, SOURCES[0]
            for other, context in self._contexts.items():
                if own and _documented(other) != _documented(own) and other not in OF_OTHERS.get(name, ()):
                    yield "foreign", called, context
            if own in self._bare and not name.endswith("Params"):  # which would give it weights
                yield "half made", called, self._bare[own]
        elif kind == "size_t":
            for size in SIZES:
                yield "size", called, size
        elif kind in ENUMS:
            for value in (*UNKNOWN, *((-2,) if min(ENUMS[kind]) < 0 else (2**32 - 1,))):
                yield "enumerator", called, value
            for value in ENUMS[kind]:  # of which a function may support some
                yield "enumerator", called, value
        elif kind.endswith("*") and "SimdBool" not in kind:
            yield "null", called, NULL

    def _fields(self, name: str, arguments: list[Any], place: int) -> None:
        """Each number and pointer in the struct that an argument points to, in turn."""
        struct = arguments[place]
        item = isinstance(struct, ffi.CData) and struct != NULL and getattr(ffi.typeof(struct), "item", None)
        if not item or item.kind != "struct":
            return
        for field, what in item.fields:
            before = getattr(struct[0], field)
            if what.type.kind == "enum":
                values: list[tuple[str, Any]] = [("enumerator", value) for value in (*UNKNOWN, *what.type.elements)]
            elif what.type.kind == "primitive" and what.type.cname in ("size_t", "unsigned long"):
                values = [("size", value) for value in SIZES]
            elif what.type.kind == "pointer":
                values = [("null", NULL)]
            else:
                continue
            for kind, bad in values:
                setattr(struct[0], field, bad)
                self._expect(name, arguments, kind, field, bad)
            setattr(struct[0], field, before)

    def _expect(self, name: str, arguments: list[Any], kind: str, called: str, bad: Any) -> None:
        """The call is refused or succeeds; the caller that makes it has looked at the sentence and at the memory."""
        result = self._call(name, *arguments)
        number = lib.SimdnetLastErrorKind()
        if number == 0:
            self.counts["accepted"] += 1
            self._release(name, result)
            # Of these no function may accept any.
            assert kind != "foreign", f"{name} accepted a context of another kind"
            assert not (kind == "null" and called in ("context", "resizer")), f"{name} accepted no context"
        else:
            sentence = ffi.string(lib.SimdnetLastError()).decode()
            if (case := (name, called, str(bad))) not in self._seen:  # that of another valid call is no other case
                self._seen.add(case)
                self.counts[kind.replace(" ", "_")] += 1
                self.counts["cases"] += 1
                self.counts["named"] += bool(re.search(rf"\b{called}\b", sentence.split(": ", 1)[1]))
            if kind in ("foreign", "null"):
                assert number == 1 and re.search(rf"\b{called}\b", sentence.split(": ", 1)[1]), sentence
            if kind == "half made":
                assert number == 3 and "SetParams" in sentence, sentence


def main(path: str, seed: int) -> None:
    refusals = Refusals(Caller(path), Random(seed))
    for name in FUNCTIONS:
        if name not in LEFT_OUT and FUNCTIONS[name]:
            refusals.of(name)
    refusals.sharing()
    print_counts(**{f"c_{kind}": count for kind, count in sorted(refusals.counts.items())})


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
