"""Arrays of other libraries as inputs, in place, by DLPack or by NumPy's array interface; and how others are refused."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

import pysimd
from support import Array, samples
from support.samples import at, places, replaced

F32 = np.float32
SEED = 23
NAMES = [name for name in samples.calls(np.random.default_rng(SEED)) if not name.endswith("iterator")]
CLASSES = list(samples.contexts(np.random.default_rng(SEED)))


class DLPack:
    """An array with DLPack only."""

    def __init__(self, array: Array, device: int = 1) -> None:
        self._array, self._device = array, device

    def __dlpack__(self, **options: Any) -> Any:
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._device, 0


class Interface:
    """An array with the array interface only."""

    def __init__(self, array: Array) -> None:
        self._array = array

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return self._array.__array_interface__


KINDS: list[Any] = [DLPack, Interface]


def bits(value: Any) -> list[Any]:
    return [(y.dtype, y.shape, y.tobytes()) for y in (value if isinstance(value, tuple) else (value,))]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NAMES)
def test_functions(name: str, kind: Any) -> None:
    """Each array of each function, one at a time, also in prepared calls."""
    function, *given = samples.calls(np.random.default_rng(SEED))[name]
    arguments: Any = given
    expected = bits(function(*arguments[0], **arguments[1]))
    for place in places(arguments):
        array = at(arguments, place)
        args, kwargs = replaced(arguments, place, kind(array))
        assert bits(function(*args, **kwargs)) == expected, place
        assert bits(pysimd.prepare(function, *args, **kwargs)()) == expected, place


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CLASSES)
def test_contexts(name: str, kind: Any, rng: np.random.Generator) -> None:
    context, arrays = samples.contexts(rng)[name]
    expected = bits(context.forward(*arrays))
    assert bits(context.forward(*map(kind, arrays))) == expected
    weights: Any = context._weights()
    for place in places(weights):
        if name != "Convolution8i" or len(place) == 1:
            context.set_params(*replaced(weights, place, kind(at(weights, place))))  # type: ignore[attr-defined]
            assert bits(context.forward(*arrays)) == expected, place


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_copied(kind: Any) -> None:
    """A prepared call reads what is written later; even the memory of the output is accepted."""
    x = np.zeros(4, F32)
    call = pysimd.prepare(pysimd.exp, kind(x))
    x[:] = -np.inf
    assert call().tolist() == [0, 0, 0, 0]
    x[:] = 1
    assert pysimd.negative(kind(x), out=x) is x
    assert x.tolist() == [-1] * 4
    both = np.zeros(6, F32)
    with pytest.raises(ValueError, match="out overlaps x"):
        pysimd.negative(kind(both[:4]), out=both[2:])


@pytest.mark.parametrize("kind", KINDS)
def test_the_memory_outlives_its_name(kind: Any) -> None:
    call = pysimd.prepare(pysimd.negative, kind(np.full(1000, 3, F32)))
    np.zeros(1000, F32)
    assert (call() == -3).all()


class Temporary(Interface):
    """An array that copies its memory each time, like images of Pillow."""

    @property
    def __array_interface__(self) -> dict[str, Any]:
        x = self._array
        return {"shape": x.shape, "typestr": x.dtype.str, "version": 3, "data": x.tobytes()}


@pytest.mark.sampled(5)  # collecting garbage takes a tenth of a second
@pytest.mark.parametrize("name", NAMES)
def test_prepared_calls_keep_memory(name: str) -> None:
    """Also memory that has no other owner."""
    function, *given = samples.calls(np.random.default_rng(SEED))[name]
    arguments: Any = given
    expected = bits(function(*arguments[0], **arguments[1]))
    for place in places(arguments):
        args, kwargs = replaced(arguments, place, Temporary(at(arguments, place)))
        call = pysimd.prepare(function, *args, **kwargs)
        gc.collect()
        others = [np.full(at(arguments, place).shape, 77, np.float32) for _ in range(20)]
        assert bits(call()) == expected, place
        del others


@pytest.mark.parametrize("kind", KINDS)
def test_statistics_and_bytes(kind: Any, rng: np.random.Generator) -> None:
    x = rng.standard_normal((4, 5, 3)).astype(F32)
    stats = pysimd.statistics(kind(x))
    assert bits((stats.min, stats.max)) == bits((x.min((0, 1)), x.max((0, 1))))
    bytes_ = pysimd.quantize(kind(x), stats)
    assert bits(bytes_) == bits(pysimd.quantize(x, stats))
    assert bits(pysimd.dequantize(kind(bytes_), stats)) == bits(pysimd.dequantize(bytes_, stats))
    assert bits(pysimd.from_bfloat16(kind(pysimd.to_bfloat16(kind(x))))) == bits(pysimd.from_bfloat16(pysimd.to_bfloat16(x)))


class Trainable(DLPack):
    """A tensor of PyTorch that requires a gradient."""

    requires_grad = True


class Unusual(DLPack):
    """An array that NumPy cannot read."""

    def __dlpack__(self, **options: Any) -> Any:
        raise BufferError("bits are conjugated")


REFUSED: list[tuple[Any, type[Exception], str]] = [
    (
        DLPack(np.ones(3, F32), 2),
        ValueError,
        r"x is on a device \(type 2 of DLPack\), expected memory of the CPU: .*x\.cpu\(\)",
    ),
    (Trainable(np.ones(3, F32)), ValueError, r"x requires grad, expected an array without: use x\.detach\(\)"),
    (
        Unusual(np.ones(3, F32)),
        TypeError,
        r"Unusual that cannot be read in place \(bits are conjugated\): use np.array\(x\)",
    ),
    (DLPack(np.ones(3)), TypeError, r"x has dtype float64, expected float32: use x\.astype"),
    (Interface(np.ones((3, 4), F32)[:, ::2]), ValueError, r"x is not C-contiguous: use np\.ascontiguousarray\(x\)"),
    (np.float32(3), TypeError, "x is a float32, expected a numpy.ndarray"),
]


@pytest.mark.parametrize(("array", "error", "sentence"), REFUSED)
def test_refused(array: Any, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        pysimd.relu(array)


@pytest.mark.parametrize("kind", KINDS)
def test_outputs_are_arrays_of_numpy(kind: Any) -> None:
    x = np.ones((3, 3), F32)
    for call in (pysimd.relu, lambda x, out: pysimd.gemm(x, x, out=out), lambda x, out: pysimd.add(x, x, out=out)):
        with pytest.raises(TypeError, match=f"out is a {kind.__name__}, expected a numpy.ndarray"):
            call(x, out=kind(x.copy()))


# ----------------------------------------------------------------------------------- libraries, where installed


def test_torch() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    x = torch.arange(-4.0, 4.0)
    assert pysimd.relu(x).tolist() == torch.relu(x).tolist()
    assert pysimd.prelu(x.reshape(2, 4), torch.full((4,), 0.5)).shape == (2, 4)
    call = pysimd.prepare(pysimd.negative, x)
    x += 1
    assert call().tolist() == (-x).tolist()
    with pytest.raises(ValueError, match=r"x requires grad, expected an array without: use x\.detach\(\)"):
        pysimd.relu(x.clone().requires_grad_())
    with pytest.raises(TypeError, match="x has dtype float64"):
        pysimd.relu(x.double())
    with pytest.raises(ValueError, match="x is not C-contiguous"):
        pysimd.relu(x.reshape(2, 4).T)
    with pytest.raises(TypeError, match="out is a Tensor"):
        pysimd.relu(x, out=x)


def test_jax() -> None:
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    jax.config.update("jax_platforms", "cpu")
    x = jax.numpy.arange(-4.0, 4.0)
    assert pysimd.relu(x).tolist() == jax.nn.relu(x).tolist()
    with pytest.raises(TypeError, match="x has dtype int32"):
        pysimd.relu(jax.numpy.arange(4))
