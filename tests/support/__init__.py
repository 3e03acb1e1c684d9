"""Shared by tests: data, comparison within a bound, and the check that a refused call writes nothing."""

from __future__ import annotations

import os
import pickle
import re
import shutil
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest
from numpy.typing import NDArray

import pysimd

Array = NDArray[Any]

#: Parameters of the activations of convolutions, for n output channels.
PARAMS: dict[str, Any] = {
    "identity": lambda n: None,
    "relu": lambda n: None,
    "leaky_relu": lambda n: np.array([0.1], np.float32),
    "restrict_range": lambda n: np.array([-1, 2], np.float32),
    "prelu": lambda n: np.linspace(-1, 1, n, dtype=np.float32),
    "elu": lambda n: np.array([1.5], np.float32),
    "hswish": lambda n: np.array([3, 1 / 6], np.float32),
    "mish": lambda n: np.array([20], np.float32),
    "hard_sigmoid": lambda n: np.array([0.3, 0.4], np.float32),
    "swish": lambda n: np.array([0.8], np.float32),
    "gelu": lambda n: None,
    "sigmoid": lambda n: None,
}

#: Calls with bad arguments that tests have made, by kind: each was refused with a sentence, or did not depend on what the
#: argument pretends. conftest.py prints how many there were.
REFUSALS: Counter[str] = Counter()

ROOT = Path(__file__).resolve().parents[2]
COMPILER = shutil.which("cc")


def floats(rng: np.random.Generator, *shape: int) -> Array:
    """float32 of mixed sign and magnitude."""
    return (rng.standard_normal(shape) * 2.0 ** rng.integers(-3, 4, shape)).astype(np.float32)


def assert_same_however_called(context: Any, x: Array, y: Array, buffer: type = np.float32) -> None:
    """A context gives the bits of `y` with a buffer at any address, into ``out=``, in many threads, from a pickle."""
    size = context.external_buffer_size
    assert size >= 1
    for begin in (0, 1, 3):
        assert np.array_equal(context(x, buf=np.empty(size + begin, buffer)[begin:]), y)
    assert context.external_buffer_size == size
    out = np.zeros_like(y)
    assert context(x, out=out) is out
    assert np.array_equal(out, y)
    with ThreadPoolExecutor(4) as pool:
        assert all(np.array_equal(result, y) for result in pool.map(context, [x] * 80))
    assert np.array_equal(pickle.loads(pickle.dumps(context))(x), y)


def assert_within(actual: Array, expected: Array, bound: Array) -> None:
    """Compares in double; NaN equals NaN, an infinity equals itself."""
    actual = actual.astype(np.float64)
    assert actual.shape == expected.shape
    with np.errstate(invalid="ignore"):
        # Rounding the result to float32 is part of every bound.
        limit = bound + np.abs(expected) * 2.0**-24
        good = (np.abs(actual - expected) <= limit) | (actual == expected) | (np.isnan(actual) & np.isnan(expected))
    if not good.all():
        at = tuple(np.argwhere(~good)[0])
        raise AssertionError(
            f"{(~good).sum()} of {good.size} differ; first at {at}: {actual[at]!r}, "
            f"expected {expected[at]!r} +- {limit[at]:.3g}"
        )


def assert_ulp(actual: Array, expected: Array, ulp: float) -> None:
    """Compares with float64 values: error at most `ulp` units in the last place of float32; NaN for NaN, overflow is inf."""
    assert actual.dtype == np.float32
    with np.errstate(all="ignore"):
        nearest = expected.astype(np.float32)
        unit = np.spacing(np.abs(nearest).clip(max=np.finfo(np.float32).max)).astype(np.float64)
        good = np.abs(actual - expected) <= ulp * unit
        good |= (actual == nearest) | (np.isnan(actual) & np.isnan(expected))
    if not good.all():
        at = tuple(np.argwhere(~good)[0])
        raise AssertionError(
            f"{(~good).sum()} of {good.size} differ; first at {at}: {actual[at]!r}, expected {expected[at]!r} +- {ulp} ULP"
        )


def assert_same(actual: Array, expected: Array) -> None:
    """Compares values that must be exact; the sign of a zero and the payload of a NaN may differ."""
    assert actual.dtype == expected.dtype
    np.testing.assert_array_equal(actual, expected)


def assert_refused(call: Callable[..., Any], error: type[Exception], sentence: str, out: Any, **arguments: Any) -> None:
    """The call raises `error` with a message that matches `sentence`, and the bytes of `out` do not change."""
    before = out.tobytes()
    with pytest.raises(error, match=sentence):
        call(**arguments, out=out)
    assert out.tobytes() == before
    REFUSALS["argument"] += 1


def python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs Python in a process of its own, in the source checkout."""
    inherited = {name: value for name, value in os.environ.items() if name not in ("SIMDNET_MAX_ISA", "SIMDNET_LIBRARY")}
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env={**inherited, **environment}, capture_output=True, text=True, check=False
    )


def _libm(folder: Path) -> Path:
    lines = Path("/proc/self/maps").read_text().splitlines()
    return Path(next(line.split()[-1] for line in lines if "/libm.so" in line or "/libm-" in line))


def _file(text: str) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        library = folder / "file.so"
        library.write_text(text)
        return library

    return write


def _compiled(*functions: tuple[str, str]) -> Callable[[Path], Path]:
    """A library with functions that return these texts."""

    def compile_(folder: Path) -> Path:
        source, library = folder / "other.c", folder / "other.so"
        source.write_text("".join(f'const char * {name}(void) {{ return "{text}"; }}\n' for name, text in functions))
        subprocess.run([str(COMPILER), "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
        return library

    return compile_


_Wrong = dict[str, tuple[Callable[[Path], Path], str]]  # creates it in a folder; the error of the import
_NEEDED = "but .*simdnet.h has .*, which this pysimd needs"

NO_LIBRARIES: _Wrong = {
    "missing": (lambda folder: folder / "missing.so", "which does not exist"),
    "folder": (lambda folder: folder, "which is not a file"),
    "text": (_file("not a library"), "pysimd could not open"),
    "empty": (_file(""), "pysimd could not open"),
    "libm": (_libm, "is not a libsimdnet.so: it has no function SimdnetLastError"),
}
OTHER_LIBRARIES: _Wrong = {
    "without version": (_compiled(("SimdnetLastError", "")), "is not a libsimdnet.so: it has no function SimdVersion"),
    "newer": (_compiled(("SimdnetLastError", ""), ("SimdVersion", "9.9.9")), f"has version 9.9.9, {_NEEDED}"),
    "older": (_compiled(("SimdnetLastError", ""), ("SimdVersion", "0.0.1")), f"has version 0.0.1, {_NEEDED}"),
    "incomplete": (
        _compiled(("SimdnetLastError", ""), ("SimdVersion", pysimd.__version__)),
        f"has version {re.escape(pysimd.__version__)} but no .*SimdSynetRelu32f",  # one of the functions that are missing
    ),
}


def assert_refused_library(kind: str, folder: Path, site: Path) -> None:
    """The package in `site` does not import with such a library, and reports the reason in one line."""
    put, sentence = {**NO_LIBRARIES, **OTHER_LIBRARIES}[kind]
    library = put(folder)
    done = python(f"import sys; sys.path.insert(0, {str(site)!r}); import pysimd", SIMDNET_LIBRARY=str(library))
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError: ")
    assert str(library) in last
    assert re.search(sentence, last), last
