"""Prepared calls: every function and every context, with the bits of the plain call, repeatedly."""

from __future__ import annotations

import gc
import inspect
import pickle
import threading
from collections.abc import Iterator
from typing import Any, Callable

import numpy as np
import pytest

import pysimd
from support import Array, floats, samples

SEED = 20
NAMES = list(samples.calls(np.random.default_rng(SEED)))
CLASSES = list(samples.contexts(np.random.default_rng(SEED)))
# Functions that compute nothing in the library or only convert, and modules of such functions.
OTHERS = {"dequantize", "from_bfloat16", "prepare", "quantize", "statistics", "to_bfloat16"}
OTHERS |= {"specify_tensor_format", "tensor_alignment"}
OTHERS |= {"non_max_suppression"}  # the shape of its result depends on values
MODULES = {"pysimd.infrastructure", "pysimd.models", "pysimd.quantize_model", "pysimd.threadpools"}


def arrays_of(value: Any) -> Iterator[Array]:
    """The arrays in arguments or results, in their order."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, (tuple, list)):
        for part in value:
            yield from arrays_of(part)
    elif isinstance(value, dict):
        yield from arrays_of(list(value.values()))


def bits(value: Any) -> list[bytes]:
    return [array.tobytes() for array in arrays_of(value)]


def test_samples_have_every_function() -> None:
    public = {name: getattr(pysimd, name) for name in pysimd.__all__ if inspect.isfunction(getattr(pysimd, name))}
    computing = {name for name, function in public.items() if function.__module__ not in MODULES}
    assert {name.split()[0] for name in NAMES} == computing - OTHERS


@pytest.mark.parametrize("name", NAMES)
def test_functions(name: str) -> None:
    """Preparing computes nothing; each call reads and writes the current contents of the arrays."""
    function, args, kwargs = samples.calls(np.random.default_rng(SEED))[name]
    expected = bits(function(*args, **kwargs))
    function, args, kwargs = samples.calls(np.random.default_rng(SEED))[name]
    prepared = pysimd.prepare(function, *args, **kwargs)
    for array in arrays_of(prepared.result):
        np.atleast_1d(array).view(np.uint8)[...] = 77
    before = bits(prepared.result)
    gc.collect()
    assert bits(prepared.result) == before
    result = prepared()
    assert result is prepared.result
    assert bits(result) == expected
    if name.startswith(("convolution", "deconvolution", "lstm", "gru", "rnn")):
        args = args[:1]  # the weights are packed already
    for array in arrays_of((args, kwargs)):
        array[...] = np.roll(array, 1)
    fresh = samples.calls(np.random.default_rng(SEED))[name]
    if not name.endswith("iterator"):
        args = (*args, *fresh[1][len(args) :])
        assert bits(prepared()) == bits(function(*args, **kwargs))


@pytest.mark.parametrize("name", CLASSES)
def test_contexts(name: str, rng: np.random.Generator) -> None:
    context, arrays = samples.contexts(rng)[name]
    out = np.empty_like(context.forward(*arrays))
    prepared = context.prepare(*arrays, out=out)
    again = pysimd.prepare(context.forward, *arrays)
    assert prepared.result is out
    assert again.result is not out
    for _ in range(2):
        assert bits(prepared()) == bits(again()) == bits(context.forward(*arrays))
        np.multiply(arrays[0], 0.5, out=arrays[0], casting="unsafe")
    expected = bits(context.forward(*arrays))
    context.close()
    del context
    gc.collect()
    assert bits(prepared()) == expected  # it keeps the context alive


def test_lists_and_temporaries_stay_alive(rng: np.random.Generator) -> None:
    arrays = [floats(rng, 1 << 16) for _ in range(3)]
    expected = pysimd.eltwise(arrays)
    prepared = pysimd.prepare(pysimd.eltwise, arrays)
    arrays.clear()
    gc.collect()
    rubbish = [np.full(1 << 16, 7, np.float32) for _ in range(8)]
    assert np.array_equal(prepared(), expected)
    assert len(rubbish) == 8


def test_in_place_is_done_by_each_call() -> None:
    x, bias = np.zeros((2, 3), np.float32), np.ones(3, np.float32)
    prepared = pysimd.prepare(pysimd.add_bias, x, bias, out=x)
    assert (x == 0).all()
    prepared()
    prepared()
    assert (x == 2).all()


def test_weights_and_errors_of_contexts(rng: np.random.Generator) -> None:
    x = floats(rng, 5, 5, 2)
    context = pysimd.Convolution32f(x.shape, 2, kernel=1)
    prepared = context.prepare(x)
    with pytest.raises(pysimd.StateError, match="call set_params"):
        prepared()
    context.set_params(np.eye(2, dtype=np.float32).reshape(1, 1, 2, 2))
    assert np.array_equal(prepared(), x)
    context.set_params(2 * np.eye(2, dtype=np.float32).reshape(1, 1, 2, 2))
    assert np.array_equal(prepared(), 2 * x)
    context.close()
    with pytest.raises(pysimd.StateError, match="is closed"):
        context.prepare(x)


def test_a_batch_of_nothing_raises_no_error_of_before() -> None:
    from pysimd.lowlevel import ffi, lib

    prepared = pysimd.prepare(pysimd.pooling_max, np.zeros((0, 4, 4, 2), np.float32), kernel=2)
    lib.SimdSynetRelu32f(ffi.NULL, 1, ffi.NULL, ffi.NULL)
    assert prepared().shape == (0, 2, 2, 2)


def as_ours(function: Callable[[], Any]) -> Callable[[], Any]:
    """A function that prepare accepts as one of the package."""
    function.__module__ = "pysimd.of_a_test"
    return function


def test_other_threads_compute_meanwhile() -> None:
    x = np.ones(4, np.float32)
    computed = []

    @as_ours
    def function() -> Array:
        thread = threading.Thread(target=lambda: computed.append(pysimd.negative(x)))
        thread.start()
        thread.join()
        return pysimd.relu(x)

    prepared = pysimd.prepare(function)
    assert computed[0].sum() == -4
    prepared.result.fill(7)
    computed[0].fill(7)
    assert (prepared() == x).all()
    assert (computed[0] == 7).all()


def test_what_is_prepared_meanwhile_is_not_called() -> None:
    x = np.ones(4, np.float32)

    @as_ours
    def function() -> tuple[Array, Array]:
        return pysimd.prepare(pysimd.negative, x).result, pysimd.relu(x)

    prepared = pysimd.prepare(function)
    for array in prepared.result:
        array.fill(7)
    negative, positive = prepared()
    assert (negative == 7).all()
    assert (positive == x).all()


def test_refused_when_prepared() -> None:
    x = np.zeros((2, 3), np.float32)
    with pytest.raises(TypeError, match="x has dtype float64"):
        pysimd.prepare(pysimd.relu, x.astype(float))
    with pytest.raises(ValueError, match="out has shape"):
        pysimd.prepare(pysimd.relu, x, out=x[0])
    stats = pysimd.Statistics(x[0], x[0])
    calls: Any = ((pysimd.version, ()), (pysimd.quantize, (x, stats)), (pysimd.prepare, (pysimd.relu, x)))
    for function, args in calls:
        with pytest.raises(TypeError, match="nothing that can be prepared"):
            pysimd.prepare(function, *args)
    for other in (np.exp, lambda: pysimd.relu(x), 3, pysimd.lowlevel.lib.SimdVersion):
        with pytest.raises(TypeError, match="expected a function of pysimd"):
            pysimd.prepare(other)  # type: ignore[arg-type]
    assert np.array_equal(pysimd.relu(x), x)  # calls outside prepare work again
    with pytest.raises(TypeError, match="prepare it there"):
        pickle.dumps(pysimd.prepare(pysimd.relu, x))
