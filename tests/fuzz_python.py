"""Calls the functions of the Python package with mutated arguments: each returns, or raises ValueError or TypeError.

    python fuzz_python.py SEED CALLS

The calls of samples.py are changed in one or two places: another type, shape, order or address of an array, other numbers in
it, another value of a keyword. A crash of the process, a call that takes long, an error without a text, and any other
exception are faults. Like fuzz.py, it takes its numbers from the standard library's generator, which makes many more calls
in the time than one that can shrink them.
"""

from __future__ import annotations

import faulthandler
import resource
import sys
import time
import warnings
from random import Random
from typing import Any

import numpy as np

from scorecard.row import print_counts
from support import Array, samples

LONGEST = 5  # seconds of a call, on a busy machine
MEMORY = 4 << 30  # bytes: a call may ask for results of many gigabytes, which would take long to write
DTYPES = ("f4", "f8", "f2", "u1", "i1", "u2", "i4", "i8", "?", "c8", "O", "S3", ">f4", "M8[s]")
VALUES: tuple[Any, ...] = (
    0, 1, 2, 3, 7, -1, -2, 1 << 31, 1 << 32, 1 << 62, 10**400, 1 << 63, 1 << 64, -(1 << 63), 10**30, 0.5, -0.0, 1e300,
    float("nan"), float("inf"), True, None, "", "nchw", "nhwc", "relu", "float32", "\ud800", b"nchw", (), (1,), (1, 2),
    (0, 0), [3], (1, 2, 3, 4), (1 << 40, 1 << 40), {}, {"a": 1}, object(), Ellipsis, 1j, np.float32(2), np.int64(-3),
    np.zeros(0, "f4"), np.ones(3, "f4"), np.array(2), range(3), slice(1), int, "same", "valid", [[1], [2]], ((1, 1), (1, 1)),
)  # fmt: skip


def changed_array(random: Random, array: Array) -> Any:
    """An array that differs from the given one in one respect."""
    kind = random.randrange(14)
    if kind == 0:
        return np.zeros(array.shape, random.choice(DTYPES))  # not every content can be converted
    if kind == 1:
        return np.zeros([random.choice((0, 1, 2, 3, 5, n)) for n in array.shape], array.dtype)
    if kind == 2:
        return array.reshape(-1) if random.random() < 0.5 else array[None]
    if kind == 3 and array.ndim:
        return array[..., :: random.choice((-1, 2, 3))]
    if kind == 4:
        return array.transpose()
    if kind == 5:
        raw = np.zeros(array.nbytes + 8, np.uint8)
        moved = raw[random.randrange(8) :][: array.nbytes].view(array.dtype).reshape(array.shape)
        moved[...] = array
        return moved
    if kind == 6 and array.dtype.kind == "f":
        wild = array.copy()
        wild.reshape(-1)[:: random.choice((1, 2, 5))] = random.choice((np.nan, np.inf, -np.inf, 3e38, 1e-40, -0.0))
        return wild
    if kind == 7 and array.ndim:
        return np.broadcast_to(array.reshape(-1)[:1] if array.size else array, array.shape)
    if kind == 8:
        fixed = array.copy()
        fixed.flags.writeable = False
        return fixed
    if kind == 9:
        return np.asfortranarray(array)
    if kind == 10:
        return array.tolist()
    if kind == 11 and array.ndim:
        return array[random.randrange(len(array) + 1) :]
    if kind == 12:
        return np.ma.masked_array(array, array == array)
    return random.choice(VALUES)


def changed(random: Random, call: samples.Call) -> samples.Call:
    function, arguments, keywords = call
    keywords = dict(keywords)
    found = list(samples.places((arguments, keywords)))
    kind = random.random()
    if found and kind < 0.6:
        place = random.choice(found)
        array = samples.at((arguments, keywords), place)
        try:
            array = changed_array(random, array)
        except (TypeError, ValueError):  # one that has been changed before, into what has no other forms
            array = random.choice(VALUES)
        arguments, keywords = samples.replaced((arguments, keywords), place, array)
    elif keywords and kind < 0.85:
        keywords[random.choice(sorted(keywords))] = random.choice(VALUES)
    elif arguments:
        at = random.randrange(len(arguments))
        arguments = (*arguments[:at], random.choice(VALUES), *arguments[at + 1 :])
    if random.random() < 0.1:
        keywords["out"] = random.choice((*VALUES, np.zeros((2, 3), "f4")))
    return function, arguments, keywords


def told(value: Any) -> str:
    """Arguments as text, with arrays as their type and shape."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{list(value.shape)}"
    if isinstance(value, dict):
        return ", ".join(f"{name}={told(each)}" for name, each in value.items())
    return f"({', '.join(map(told, value))})" if isinstance(value, (tuple, list)) else repr(value)[:80]


def main(seed: int, count: int) -> int:
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    warnings.simplefilter("ignore")
    random, calls = Random(seed), samples.calls(np.random.default_rng(seed))
    names, accepted, findings, begin = sorted(calls), 0, 0, time.monotonic()
    np.seterr(all="ignore")
    for i in range(count):
        name = random.choice(names)
        call = calls[name]
        for _ in range(random.choice((1, 1, 2))):
            call = changed(random, call)
        function, arguments, keywords = call
        start, wrong = time.process_time(), ""
        try:
            function(*arguments, **keywords)
            accepted += 1
        except (ValueError, TypeError) as error:
            wrong = "" if str(error) else "no text"
        except MemoryError:
            pass
        except Exception as error:
            wrong = f"{type(error).__name__}: {error}"
        if time.process_time() - start > LONGEST:
            wrong = wrong or "it takes long"
        if wrong:
            findings += 1
            print(f"seed {seed} call {i}: {name}({told(arguments)}, {told(keywords)}): {wrong[:200]}", flush=True)
    rate = int(count / max(time.monotonic() - begin, 1e-3))
    counts = {"mutations": count, "accepted": accepted, "mutation_findings": findings, "least_mutation_rate": rate}
    print_counts(**counts)
    return int(findings > 0)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
