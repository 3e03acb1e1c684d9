"""Common to contexts of every class: pickles, copies, threads, and how they end."""

from __future__ import annotations

import copy
import inspect
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable

import numpy as np
import pytest

import pysimd
from pysimd import calls, lowlevel
from support import REFUSALS, Array, floats, samples

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
    """By protocol 5, with the arrays outside the pickle."""
    buffers: list[pickle.PickleBuffer] = []
    data = pickle.dumps(context, protocol=5, buffer_callback=buffers.append)
    assert sum(buffer.raw().nbytes for buffer in buffers) > len(data) or not context._weights()
    return pickle.loads(data, buffers=[bytes(buffer.raw()) for buffer in buffers])


def properties(context: pysimd.Context) -> list[str]:
    return [name for name, _ in inspect.getmembers(type(context), lambda member: isinstance(member, property))]


def attributes(context: pysimd.Context) -> dict[str, Any]:
    return {name: getattr(context, name) for name in properties(context)}


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
    assert attributes(again) == attributes(context)
    context.close()
    once_more = COPIES[how](again)  # a copy can be copied again
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
            with pytest.raises(pysimd.StateError, match="call set_params"):
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
        REFUSALS["released"] += 1


# --------------------------------------------------------------------------------------- what does not change


def larger(context: pysimd.Context) -> dict[str, Any]:
    """Arguments of ``__init__`` with a shape of many times as many elements."""
    name = "shape" if isinstance(context, (pysimd.Add16b, pysimd.QuantizedGemm)) else "src_shape"
    batch, *axes = context._arguments[name]
    return {**context._arguments, name: (1000 * batch, *axes)}


@pytest.mark.parametrize("closed", [False, True])
def test_a_context_is_not_made_a_second_time(closed: bool, case: tuple[pysimd.Context, tuple[Array, ...]]) -> None:
    context, arrays = case
    expected, before, state = context.forward(*arrays).tobytes(), attributes(context), vars(context).copy()
    if closed:
        context.close()
        state = vars(context).copy()
    seconds: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        ((), larger(context)),
        ((), context._arguments),
        ((), {}),
        (("bad",), {"arguments": -1}),
    ]
    for cls in type(context).__mro__[: type(context).__mro__.index(pysimd.Context) + 1]:
        for args, options in seconds:
            with pytest.raises(pysimd.StateError, match=f"{type(context).__name__} exists already"):
                cls.__init__(context, *args, **options)  # type: ignore[misc]
            assert vars(context) == state
            REFUSALS["init"] += 1
    if not closed:
        assert attributes(context) == before
        assert context.forward(*arrays).tobytes() == expected


def test_a_context_of_a_subclass_is_not_made_a_second_time(case: tuple[pysimd.Context, tuple[Array, ...]]) -> None:
    class Named(type(case[0])):  # type: ignore[misc]
        def __init__(self, name: str, **options: Any) -> None:
            super().__init__(**options)
            self.name = name

    context = Named("first", **case[0]._arguments)
    state = vars(context).copy()
    for options in (larger(context), {}):
        with pytest.raises(pysimd.StateError, match="Named exists already"):
            context.__init__("second", **options)  # type: ignore[misc]
        assert vars(context) == state


def test_a_context_that_was_refused_can_be_made() -> None:
    context = pysimd.Convolution32f.__new__(pysimd.Convolution32f)
    with pytest.raises(ValueError, match="kernel is 0"):
        context.__init__((4, 4, 2), 3, kernel=0)  # type: ignore[misc]
    context.__init__((4, 4, 2), 3, kernel=1)  # type: ignore[misc]
    assert context.dst_shape == (4, 4, 3)


def test_parameters_that_the_library_refuses_raise() -> None:
    context = pysimd.GRU((2, 1, 3), 4)
    weights = [np.zeros(shape, np.float32) for shape in ((1, 12, 3), (1, 12, 4), (1, 12))]
    w, r, peephole = (lowlevel.ffi.from_buffer("float[]", array) for array in weights)
    with pytest.raises(ValueError, match="peephole"):
        calls.set_params(lowlevel.lib.SimdnetRecurrentSetParams, context._handle, w, r, lowlevel.ffi.NULL, peephole)


def test_attributes_are_read_only(case: tuple[pysimd.Context, tuple[Array, ...]]) -> None:
    context, arrays = case
    expected, before = context.forward(*arrays).tobytes(), attributes(context)
    assert not [name for name in vars(context) if not name.startswith("_")]
    for name, value in before.items():
        hash(value)  # it cannot be changed
        for assign in (setattr, object.__setattr__):
            with pytest.raises(AttributeError):
                assign(context, name, (1000, 1000, 1000, 1000))
            REFUSALS["attribute"] += 1
        for delete in (delattr, object.__delattr__):
            with pytest.raises(AttributeError):
                delete(context, name)
            REFUSALS["attribute"] += 1
        vars(context)[name] = (1000, 1000, 1000, 1000)  # which bypasses properties
    assert attributes(context) == before
    assert context.forward(*arrays).tobytes() == expected


def test_what_a_pickle_is_made_of_is_a_copy(case: tuple[pysimd.Context, tuple[Array, ...]]) -> None:
    context, arrays = case
    context.__reduce__()[1][1].clear()
    again = copy.copy(context)
    assert attributes(again) == attributes(context)
    assert again.forward(*arrays).tobytes() == context.forward(*arrays).tobytes()


def test_a_subclass_that_redefines_attributes_changes_no_sizes(case: tuple[pysimd.Context, tuple[Array, ...]]) -> None:
    context, arrays = case
    huge = {name: (1000, 1000, 1000, 1000) for name in properties(context) if "shape" in name}
    lying = type("Lying", (type(context),), {**huge, "external_buffer_size": 0})(**context._arguments)
    weights = context._weights()
    if weights is not None:
        lying.set_params(*weights)
    assert lying.forward(*arrays).tobytes() == context.forward(*arrays).tobytes()
    with pytest.raises(ValueError, match=r"(a|x|input) has shape"):
        lying.forward(*[np.empty((1, *array.shape[:-1], array.shape[-1] + 1), array.dtype) for array in arrays])
    if hasattr(context, "external_buffer_size"):
        unit = np.uint8 if samples.counts_bytes(type(context).__name__) else np.float32
        with pytest.raises(ValueError, match="buf has 0 elements"):
            lying.forward(*arrays, buf=np.empty(0, unit))


def test_stages_are_read_once(rng: np.random.Generator) -> None:
    """The stages of a MergedConvolution32f may contain lists."""
    kernel, padding = [3, 3], [1, 1]
    stages = [pysimd.ConvolutionStage(kernel, padding=padding), pysimd.ConvolutionStage(1, 8)]  # type: ignore[arg-type]
    context = pysimd.MergedConvolution32f((9, 10, 8), stages)
    context.set_params([floats(rng, *shape) for shape in context.weight_shapes])
    kernel[:] = padding[:] = [5, 5]
    x = floats(rng, 9, 10, 8)
    assert copy.copy(context).forward(x).tobytes() == context.forward(x).tobytes()


def test_a_context_whose_class_is_changed_is_refused_by_the_library(rng: np.random.Generator) -> None:
    made = samples.contexts(rng)
    for context, arrays in made.values():
        cls = type(context)
        for other, _ in made.values():
            one_kind = {cls, type(other)} <= {pysimd.GRU, pysimd.LSTM, pysimd.RNN}
            if type(other) is not cls and not one_kind:
                context.__class__ = type(other)
                with pytest.raises((AttributeError, TypeError, ValueError)):
                    context.forward(*arrays)
                REFUSALS["foreign"] += 1
        context.__class__ = cls
        assert context.forward(*arrays).size


def test_many_threads_at_once(case: tuple[pysimd.Context, tuple[Array, ...]]) -> None:
    """C runs without the interpreter's lock; all threads use one context, and each gets the same bits."""
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
        with pytest.raises(pysimd.StateError, match="call set_params"):
            bare.forward(*arrays)
        return True

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(200)))
