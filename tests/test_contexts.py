"""What holds for contexts of every class: pickles, copies, threads, the end of their life."""

from __future__ import annotations

import copy
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable

import numpy as np
import pytest
import samples
from support import Array

import pysimd

CLASSES = list(samples.contexts(np.random.default_rng(0)))


@pytest.fixture(params=CLASSES)
def case(request: pytest.FixtureRequest, rng: np.random.Generator) -> tuple[pysimd.Context, tuple[Array, ...]]:
    return samples.contexts(rng)[request.param]


def test_samples_have_every_class() -> None:
    public = [getattr(pysimd, name) for name in pysimd.__all__]
    assert set(CLASSES) == {
        cls.__name__
        for cls in public
        if isinstance(cls, type) and issubclass(cls, pysimd.Context) and cls is not pysimd.Context
    }


def out_of_band(context: pysimd.Context) -> Any:
    """By protocol 5, the arrays beside the pickle."""
    buffers: list[pickle.PickleBuffer] = []
    data = pickle.dumps(context, protocol=5, buffer_callback=buffers.append)
    assert sum(buffer.raw().nbytes for buffer in buffers) > len(data) or not context._weights()
    return pickle.loads(data, buffers=[bytes(buffer.raw()) for buffer in buffers])


COPIES: dict[str, Callable[[Any], Any]] = {
    "pickle": lambda context: pickle.loads(pickle.dumps(context)),
    "pickle 2": lambda context: pickle.loads(pickle.dumps(context, protocol=2)),
    "out of band": out_of_band,
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


@pytest.mark.parametrize("how", COPIES)
def test_copies(how: str, case: tuple[pysimd.Context, tuple[Array, ...]]) -> None:
    context, arrays = case
    expected = context.forward(*arrays)
    again = COPIES[how](context)
    assert type(again) is type(context)
    assert again is not context
    assert again.info == context.info
    assert {name: getattr(again, name) for name in vars(context) if not name.startswith("_")} == {
        name: value for name, value in vars(context).items() if not name.startswith("_")
    }
    context.close()
    once_more = COPIES[how](again)  # a copy can be copied
    for one in (again, once_more):
        result = one.forward(*arrays)
        assert (result.dtype, result.tobytes()) == (expected.dtype, expected.tobytes())


def test_copies_without_weights(case: tuple[pysimd.Context, tuple[Array, ...]]) -> None:
    context, arrays = case
    if context._weights() is None:
        pytest.skip(f"{type(context).__name__} has no weights")
    bare = type(context)(**context._arguments)
    for how, copied in COPIES.items():
        if how != "out of band":
            with pytest.raises(pysimd.StateError, match="SetParams"):
                copied(bare).forward(*arrays)


def test_closed(case: tuple[pysimd.Context, tuple[Array, ...]]) -> None:
    context, arrays = case
    with context as same:
        assert same is context
        assert context.info in repr(context)
    assert context.closed
    context.close()
    uses: list[Callable[[], Any]] = [
        lambda: context.forward(*arrays),
        lambda: context.prepare(*arrays),
        lambda: context.info,
        lambda: context.__enter__(),
        *(lambda copied=copied: copied(context) for copied in COPIES.values()),
    ]
    for use in uses:
        with pytest.raises(pysimd.StateError, match=f"{type(context).__name__} is closed"):
            use()


def test_many_threads_at_once(case: tuple[pysimd.Context, tuple[Array, ...]]) -> None:
    """C runs without the interpreter's lock; one context serves all threads, and each gets the same bits."""
    context, arrays = case
    expected = context.forward(*arrays).tobytes()
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)

    def work(_: int) -> bool:
        call = context.prepare(*arrays)
        good = [context.forward(*arrays).tobytes() == expected for _ in range(10)]
        return all(good) and all(call().tobytes() == expected for _ in range(10))

    try:
        with ThreadPoolExecutor(6) as pool:
            assert all(pool.map(work, range(12)))
    finally:
        sys.setswitchinterval(before)


def test_closed_while_others_compute(case: tuple[pysimd.Context, tuple[Array, ...]]) -> None:
    context, arrays = case
    expected = context.forward(*arrays).tobytes()

    def work(number: int) -> bool:
        if number == 6:
            context.close()
        try:
            return all(context.forward(*arrays).tobytes() == expected for _ in range(5))
        except pysimd.StateError as error:
            return "is closed" in str(error)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(12)))
    assert context.closed


def test_a_refusal_is_raised_in_its_own_thread(rng: np.random.Generator) -> None:
    context, arrays = samples.contexts(rng)["Convolution32f"]
    bare = type(context)(**context._arguments)

    def work(number: int) -> bool:
        if number % 2:
            return bool(context.forward(*arrays).size)
        with pytest.raises(pysimd.StateError, match="SetParams"):
            bare.forward(*arrays)
        return True

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(200)))
