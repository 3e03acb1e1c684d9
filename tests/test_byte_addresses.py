"""Arrays at any byte address: C-contiguous arrays are used in place, and give the bits of an aligned array."""

from __future__ import annotations

import re
from typing import Any, Callable

import numpy as np
import pytest

import pysimd
from support import ROOT, Array, samples

SEED = 22
NAMES = [name for name in samples.calls(np.random.default_rng(SEED)) if not name.endswith("iterator")]
CLASSES = list(samples.contexts(np.random.default_rng(SEED)))
# Far larger than every cache, where results are written with streaming stores.
LARGE = 1 << 25


def laid(array: Array, begin: int) -> Array:
    """A copy at this byte offset from a multiple of 64, with the strides of the array."""
    raw = np.zeros(64 + begin + sum(n * step for n, step in zip(array.shape, array.strides)) + array.itemsize, np.uint8)
    copy = np.ndarray(array.shape, array.dtype, raw, -raw.ctypes.data % 64 + begin, array.strides)
    copy[...] = array
    return copy


def all_laid(value: Any, begin: int) -> Any:
    """The arguments, with such copies of all their arrays."""
    if isinstance(value, pysimd.Statistics):
        return pysimd.Statistics(laid(value.min, begin), laid(value.max, begin))
    for place in samples.places(value):
        value = samples.replaced(value, place, laid(samples.at(value, place), begin))
    return value


def as_list(result: Any) -> list[Array]:
    return list(result) if isinstance(result, tuple) else [result]


def bits(arrays: list[Array]) -> list[bytes]:
    return [array.tobytes() for array in arrays]


@pytest.mark.parametrize("name", NAMES)
def test_functions_take_arrays_at_any_byte_address(isa: str, name: str) -> None:
    function, *arguments = samples.calls(np.random.default_rng(SEED))[name]
    args, kwargs = all_laid(arguments, 0)
    expected = as_list(function(*args, **kwargs))
    for begin in (1, 2, 3, 31):
        moved = all_laid(arguments, begin)
        assert bits(as_list(function(*moved[0], **moved[1]))) == bits(expected)
        outs = [laid(np.zeros_like(result), begin) for result in expected]
        samples.call_into(function, moved, outs)
        assert bits(outs) == bits(expected)


@pytest.mark.parametrize("name", CLASSES)
def test_contexts_take_arrays_at_any_byte_address(isa: str, name: str) -> None:
    context: Any
    context, arrays = samples.contexts(np.random.default_rng(SEED))[name]
    weights = context._weights()
    expected = context.forward(*all_laid(arrays, 0))
    for begin in (1, 2, 3, 31):
        if weights is not None:
            context.set_params(*(all_laid(value, begin) for value in weights))
        out = laid(np.zeros_like(expected), begin)
        options = {}
        if hasattr(context, "external_buffer_size"):
            unit = np.uint8 if samples.counts_bytes(name) else np.float32
            options = {"buf": laid(np.zeros(context.external_buffer_size, unit), begin)}
        context.forward(*all_laid(arrays, begin), **options, out=out)
        assert out.tobytes() == expected.tobytes()


@pytest.fixture(scope="module")
def large() -> tuple[Array, Array]:
    """A source, and an output at an odd address."""
    return np.ones(LARGE, np.float32), np.ones(LARGE * 4 + 64, np.uint8)[1 : 1 + LARGE * 4].view(np.float32)


STREAMED: dict[str, Callable[[Array, Array], Any]] = {
    "activation": lambda x, out: pysimd.relu(x, out=out),
    "unary": lambda x, out: pysimd.absolute(x, out=out),
    "eltwise": lambda x, out: pysimd.eltwise([x, x], "max", out=out),
    "channel-wise": lambda x, out: pysimd.scale(x.reshape(-1, 64), x[:64], out=out.reshape(-1, 64)),
}


@pytest.mark.parametrize("family", STREAMED)
def test_large_results_at_an_odd_address(isa: str, large: tuple[Array, Array], family: str) -> None:
    x, out = large
    out[:] = 0
    STREAMED[family](x, out)
    assert (out == 1).all()


def test_pointers_of_the_library_promise_no_alignment() -> None:
    """gcc does not warn of a float * among the sn_32f *, and assumes that its target is aligned."""
    sources = list((ROOT / "libsrc").rglob("*.[ch]"))
    assert len(sources) > 100
    plain = re.compile(r"\b(?:float|uint16_t)(?: const)? \*(?!/)")
    assert [f"{path}: {line}" for path in sources for line in path.read_text().splitlines() if plain.search(line)] == []
