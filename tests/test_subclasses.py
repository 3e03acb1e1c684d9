"""Subclasses of numpy.ndarray: C receives the actual memory, whatever attributes a subclass redefines."""

from __future__ import annotations

import array
import ctypes
from types import SimpleNamespace
from typing import Any, Callable

import numpy as np
import pytest

import pysimd
from support import REFUSALS, Array, samples
from support.samples import at, places, replaced

SEED = 22
NAMES = [name for name in samples.calls(np.random.default_rng(SEED)) if not name.endswith("iterator")]
CLASSES = list(samples.contexts(np.random.default_rng(SEED)))


def refuse(*arguments: Any, **options: Any) -> Any:
    raise AssertionError("the subclass was consulted")


def constant(value: Any) -> Any:
    return property(lambda self: value)


def claims(x: Array, factor: int) -> dict[str, Any]:
    """Attributes that a subclass may redefine for `x`: `factor` times the elements, bytes, always valid."""
    shape = (factor * x.shape[0], *x.shape[1:]) if x.ndim else ()
    interface = {"shape": shape, "typestr": "|u1", "data": (0x1000, False), "version": 3}
    attributes = {
        "shape": shape,
        "size": factor * x.size,
        "ndim": x.ndim + factor - 1,
        "dtype": np.dtype(np.uint8),
        "itemsize": 1,
        "nbytes": factor * x.nbytes,
        "strides": (1,) * x.ndim,
        "flags": SimpleNamespace(c_contiguous=True, writeable=True),
        "base": None,
        "ctypes": SimpleNamespace(data=0x1000),
        "__array_interface__": interface,
        "__class__": np.ndarray,
    }
    methods = ["view", "reshape", "astype", "__getitem__", "__len__", "__array__", "__array_ufunc__", "__array_function__"]
    methods += ["__array_wrap__", "__buffer__"]
    return {**{name: constant(value) for name, value in attributes.items()}, **dict.fromkeys(methods, refuse)}


def lying(x: Array, *names: str, factor: int = 1000) -> Array:
    """The memory of `x` with these attributes redefined, all of them if none is named."""
    made = claims(x, factor)
    cls = type("Lying", (np.ndarray,), {name: made[name] for name in names or made})
    return np.ndarray.view(x, cls)


def bits(value: Any) -> list[Any]:
    """Type, shape and bytes of each array, as reported by NumPy."""
    arrays = [np.ndarray.view(y, np.ndarray) for y in (value if isinstance(value, tuple) else (value,))]
    return [(y.dtype, y.shape, y.tobytes()) for y in arrays]


LIES = [(), ("shape",), ("size",), ("dtype",), ("shape", "size", "ndim"), ("base", "ctypes"), ("__class__",)]


@pytest.mark.parametrize("name", NAMES)
def test_claims_about_arguments(name: str) -> None:
    function, *given = samples.calls(np.random.default_rng(SEED))[name]
    arguments: Any = given
    expected = bits(function(*arguments[0], **arguments[1]))
    for place in places(arguments):
        for lies in LIES:
            for factor in (0, 1000):
                args, kwargs = replaced(arguments, place, lying(at(arguments, place), *lies, factor=factor))
                assert bits(function(*args, **kwargs)) == expected, (place, lies)
                assert bits(pysimd.prepare(function, *args, **kwargs)()) == expected, (place, lies)
                REFUSALS["lie"] += 1


@pytest.mark.parametrize("name", NAMES)
def test_claims_about_outputs(name: str) -> None:
    """An output of wrong size is refused, whatever its attributes; one of the right size is written and returned."""
    function, *given = samples.calls(np.random.default_rng(SEED))[name]
    arguments: Any = given
    result = function(*arguments[0], **arguments[1])
    expected = bits(result)
    results = result if isinstance(result, tuple) else (result,)
    for i in range(len(results)):
        for lies in LIES:
            outs = [np.zeros_like(y) for y in results]
            outs[i] = lying(outs[i], *lies)
            samples.call_into(function, arguments, outs)
            assert bits(tuple(outs)) == expected, lies
            REFUSALS["lie"] += 1
        if results[i].size:
            outs = [np.zeros_like(y) for y in results]
            memory = np.zeros((1, *results[i].shape[1:]), results[i].dtype)
            outs[i] = memory.view(type("Lying", (np.ndarray,), {"shape": constant(results[i].shape)}))
            with pytest.raises(ValueError, match=r"out(1|\[\d\])? has shape \(1,|out overlaps itself"):
                samples.call_into(function, arguments, outs)
            assert not memory.any()
            REFUSALS["lie"] += 1


def test_outputs_that_are_given_back_are_those_that_were_given() -> None:
    x = np.arange(-4, 4, dtype=np.float32)
    out = lying(np.zeros(8, np.float32))
    assert pysimd.relu(x, out=out) is out
    assert bits(out) == bits(np.maximum(x, 0))
    place = lying(x)
    assert pysimd.relu(place, out=place) is place
    assert bits(x) == bits(out)


def test_overlap_is_that_of_the_memory() -> None:
    memory = np.zeros(12, np.float32)
    for x, out in ((lying(memory[:8]), memory[4:]), (memory[:8], lying(memory[4:])), (lying(memory[:8]), lying(memory[4:]))):
        with pytest.raises(ValueError, match="out overlaps x"):
            pysimd.relu(x, out=out)


@pytest.mark.parametrize("name", CLASSES)
def test_claims_about_arrays_of_contexts(name: str, rng: np.random.Generator) -> None:
    context, arrays = samples.contexts(rng)[name]
    expected = bits(context.forward(*arrays))
    options: dict[str, Any] = {"out": np.zeros_like(context.forward(*arrays))}
    if hasattr(context, "external_buffer_size"):
        small = samples.counts_bytes(name)
        options["buf"] = np.zeros(context.external_buffer_size, np.uint8 if small else np.float32)
    for lies in LIES:
        for i in range(len(arrays)):
            given = [lying(x, *lies) if j == i else x for j, x in enumerate(arrays)]
            assert bits(context.forward(*given)) == expected, lies
            REFUSALS["lie"] += 1
        for option, memory in options.items():
            assert bits(context.forward(*arrays, **{option: lying(memory, *lies)})) == expected, (option, lies)
            if memory.size > 1:  # the buffers of `base` have one element
                with pytest.raises(ValueError, match=f"{option} has"):
                    context.forward(*arrays, **{option: lying(memory[:1], "shape", "size")})
                REFUSALS["lie"] += 1
    weights = context._weights()
    for place in places(weights):
        assert weights is not None
        if isinstance(at(weights, place), np.ndarray):
            context.set_params(*replaced(weights, place, lying(at(weights, place))))  # type: ignore[attr-defined]
            assert bits(context.forward(*arrays)) == expected, place


def test_the_addition_of_a_convolution(rng: np.random.Generator) -> None:
    context, arrays = samples.contexts(rng)["Convolution32f"]
    more = np.ones_like(context.forward(*arrays))
    assert bits(context.forward(*arrays, add=lying(more))) == bits(context.forward(*arrays, add=more))
    with pytest.raises(ValueError, match="add has shape"):
        context.forward(*arrays, add=lying(more[:1], "shape", factor=len(more)))


def test_statistics_of_a_subclass(rng: np.random.Generator) -> None:
    x = rng.standard_normal((4, 5, 3)).astype(np.float32)
    stats = pysimd.statistics(x)
    assert bits((pysimd.statistics(lying(x)).min, pysimd.statistics(lying(x)).max)) == bits((stats.min, stats.max))
    bytes_ = pysimd.quantize(x, stats)
    assert bits(pysimd.quantize(lying(x), stats)) == bits(bytes_)
    assert bits(pysimd.dequantize(lying(bytes_), stats)) == bits(pysimd.dequantize(bytes_, stats))
    assert bits(pysimd.to_bfloat16(lying(x))) == bits(pysimd.to_bfloat16(x))
    half = pysimd.to_bfloat16(x)
    assert bits(pysimd.from_bfloat16(lying(half))) == bits(pysimd.from_bfloat16(half))


class Pretender:
    """Has all attributes of an array, but is not one, and provides no memory."""

    __class__ = np.ndarray  # type: ignore[assignment]
    shape, size, ndim, dtype, strides, base = (8,), 8, 1, np.dtype(np.float32), (4,), None
    flags = SimpleNamespace(c_contiguous=True, writeable=True)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        return np.zeros(8, np.float32)


@pytest.mark.parametrize(
    "other",
    [
        bytearray(32),
        memoryview(np.zeros(8, np.float32)),  # type: ignore[arg-type]
        array.array("f", [0] * 8),
        (ctypes.c_float * 8)(),
        Pretender(),
        np.float32(3),
    ],
    ids=lambda other: type(other).__name__,
)
def test_other_objects_with_a_buffer_are_refused(other: Any) -> None:
    x = np.ones(8, np.float32)
    context = pysimd.Add16b((8,))
    calls: list[Callable[[], Any]] = [
        lambda: pysimd.relu(other),
        lambda: pysimd.relu(x, out=other),
        lambda: pysimd.add_bias(other, x),
        lambda: pysimd.eltwise([x, other]),
        lambda: pysimd.pooling_max(other, kernel=1),
        lambda: pysimd.gemm(other, other),
        lambda: context.forward(x, other),
        lambda: context.forward(x, x, out=other),
    ]
    for call in calls:
        with pytest.raises(TypeError, match=f"is a {type(other).__name__}, expected a numpy.ndarray"):
            call()
