"""Additions on every instruction set against the reference, bit for bit; invalid arguments."""

from __future__ import annotations

import pickle
import sys
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import pysimd
from support import Array, assert_refused, assert_same, floats, reference

SHAPES = [(1, 1, 1), (3, 5, 7), (4, 2, 9), (8, 3, 3), (16, 4, 5), (17, 1, 33), (64, 7, 7), (2, 9, 40), (35, 2, 1)]


# ------------------------------------------------------------------------------------------------ quantised bytes

NAMES = ["a_scale", "a_shift", "b_scale", "b_shift", "c_scale", "c_shift"]


def bytes_of(rng: np.random.Generator, *shape: int) -> Array:
    return rng.integers(0, 256, shape).astype(np.uint8)


@pytest.mark.parametrize("narrowed", [False, True])
@pytest.mark.parametrize("layout", ["nchw", "nhwc"])
def test_add_8i(isa: str, rng: np.random.Generator, layout: Any, narrowed: bool) -> None:
    for channels, height, width in SHAPES:
        a, b = bytes_of(rng, channels, height, width), bytes_of(rng, channels, height, width)
        for kind in ("usual", "ties", "extreme"):
            if kind == "usual":
                scales = {name: floats(rng, channels) for name in NAMES}
                scales["c_scale"] = np.abs(scales["c_scale"])
            elif kind == "ties":  # halves: rounded to even
                scales = {name: np.full(channels, 0.5 if "scale" in name else 1, np.float32) for name in NAMES}
                scales["c_shift"][:] = -50
            else:
                choices = np.array([np.nan, np.inf, -np.inf, 3e38, -3e38, 1e10, -1e10, 0, 1], np.float32)
                scales = {name: rng.choice(choices, channels).astype(np.float32) for name in NAMES}
            expected = reference.add_8i(a, b, scales, 180 if narrowed else 255)
            x, y = reference.from_chw(a, layout), reference.from_chw(b, layout)
            z = pysimd.add_8i(x, y, **scales, layout=layout, narrowed=narrowed)
            assert_same(reference.to_chw(z, layout), expected)


@pytest.mark.parametrize("layout", ["nchw", "nhwc"])
def test_add_8i_batch(isa: str, rng: np.random.Generator, layout: Any) -> None:
    a, b = bytes_of(rng, 3, 4, 6, 5), bytes_of(rng, 3, 4, 6, 5)
    channels = 4 if layout == "nchw" else 5
    scales: dict[str, Any] = {name: floats(rng, channels) for name in NAMES}
    out = np.empty_like(a)
    assert pysimd.add_8i(a, b, **scales, layout=layout, out=out) is out
    assert_same(out, np.stack([pysimd.add_8i(x, y, **scales, layout=layout) for x, y in zip(a, b)]))


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ({"a": np.zeros((4, 5, 6), np.float32)}, TypeError, "a has dtype float32, expected uint8"),
        ({"b": np.zeros((4, 5, 6), np.int8)}, TypeError, "b has dtype int8, expected uint8"),
        ({"b": np.zeros((4, 6, 5), np.uint8)}, ValueError, r"b has shape \(4, 6, 5\), expected that of a"),
        ({"a": np.zeros((4, 5, 12), np.uint8)[..., ::2]}, ValueError, "a is not C-contiguous"),
        ({"layout": "nchw4c"}, ValueError, "layout is 'nchw4c'"),
        *[({name: np.zeros(5, np.float32)}, ValueError, f"{name} has shape") for name in NAMES],
        *[({name: np.zeros(6)}, TypeError, f"{name} has dtype float64") for name in NAMES],
        *[({name: None}, TypeError, f"{name} is None") for name in NAMES],
    ],
)
def test_add_8i_refused(change: dict[str, Any], error: type[Exception], sentence: str) -> None:
    byte, scale = np.ones((4, 5, 6), np.uint8), np.ones(6, np.float32)
    arguments = {"a": byte, "b": byte, **dict.fromkeys(NAMES, scale), **change}
    assert_refused(pysimd.add_8i, error, sentence, np.full((4, 5, 6), 7, np.uint8), **arguments)


def test_add_8i_refused_out() -> None:
    a, b = np.ones((4, 5, 6), np.uint8), np.ones((4, 5, 6), np.uint8)
    arguments = {"a": a, "b": b, **dict.fromkeys(NAMES, np.ones(6, np.float32))}
    assert_refused(pysimd.add_8i, ValueError, "out overlaps a", a, **arguments)
    assert_refused(pysimd.add_8i, ValueError, "out overlaps b", b, **arguments)
    assert_refused(pysimd.add_8i, TypeError, "out has dtype", np.zeros((4, 5, 6), np.int8), **arguments)


# ---------------------------------------------------------------------------------------------- float and bfloat16

TYPES = ["float32", "uint16"]


def draw(rng: np.random.Generator, dtype: str, *shape: int) -> Array:
    """Any bit pattern: subnormals, infinities, NaN."""
    if dtype == "uint16":
        return rng.integers(0, 1 << 16, shape).astype(np.uint16)
    x = rng.integers(0, 1 << 32, shape, dtype=np.uint32).view(np.float32)
    usual = rng.random(shape) < 0.7
    return np.where(usual, floats(rng, *shape), x).astype(np.float32)


def assert_same_16b(actual: Array, expected: Array) -> None:
    """Bit by bit, including the sign of a zero; NaN payloads may differ."""
    assert actual.dtype == expected.dtype
    if expected.dtype == np.uint16:
        nan = np.isnan(reference.from_bfloat16(expected))
        assert np.isnan(reference.from_bfloat16(actual)[nan]).all()
    else:
        nan = np.isnan(expected)
        assert np.isnan(actual[nan]).all()
    assert actual[~nan].tobytes() == expected[~nan].tobytes()


@pytest.mark.parametrize("dst", TYPES)
@pytest.mark.parametrize("b_type", TYPES)
@pytest.mark.parametrize("a_type", TYPES)
def test_add_16b(isa: str, rng: np.random.Generator, a_type: str, b_type: str, dst: str) -> None:
    for size in [*range(1, 70), 500]:
        a, b = draw(rng, a_type, size), draw(rng, b_type, size)
        expected = reference.add_16b(a, b, dst == "uint16")
        assert_same_16b(pysimd.add(a, b, dtype=dst), expected)


def test_rounding_to_bfloat16(isa: str) -> None:
    """Ties, the largest values, subnormals, and the neighbours of each, in every lane."""
    bits = np.array(
        [0x3F808000, 0x3F818000, 0x7F7F7FFF, 0x7F7F8000, 0x7F7FFFFF, 0x00008000, 0x00018000, 1, 0x7F800001], np.uint32
    )
    near = np.concatenate([bits - 1, bits, bits + 1])
    values = np.concatenate([near, near | 0x80000000]).astype(np.uint32).view(np.float32)
    for lane in range(17):
        a = np.concatenate([np.zeros(lane, np.float32), values])
        zero = np.full(a.shape, -0.0, np.float32)  # x + -0 is x, with its sign
        assert_same_16b(pysimd.add(a, zero, dtype="bfloat16"), reference.to_bfloat16(a))


def test_reference_rounds_as_ml_dtypes(rng: np.random.Generator) -> None:
    """A third implementation confirms the second one."""
    x = rng.integers(0, 1 << 32, 200_000, dtype=np.uint32).view(np.float32)
    x = x[~np.isnan(x)]
    with np.errstate(over="ignore"):
        assert np.array_equal(reference.to_bfloat16(x), x.astype(ml_dtypes.bfloat16).view(np.uint16))


def test_any_byte_address(isa: str, rng: np.random.Generator) -> None:
    """Through C: byte pointers need no alignment."""
    from pysimd.lowlevel import ffi, lib

    a, b = draw(rng, "uint16", 101), draw(rng, "float32", 101)
    expected = pysimd.add(a, b, dtype="bfloat16")
    shape = ffi.new("size_t[]", [101])
    context = ffi.gc(
        lib.SimdSynetAdd16bInit(
            shape, 1, lib.SimdTensorData16b, shape, 1, lib.SimdTensorData32f, lib.SimdTensorData16b, lib.SimdTensorFormatNchw
        ),
        lib.SimdRelease,
    )
    for begin in (1, 2, 3):
        raw_a, raw_b, raw = (np.zeros(size + begin, np.uint8) for size in (202, 404, 202))
        raw_a[begin:], raw_b[begin:] = a.view(np.uint8), b.view(np.uint8)
        pointers = [ffi.from_buffer("uint8_t[]", x) + begin for x in (raw_a, raw_b, raw)]
        lib.SimdSynetAdd16bForward(context, *pointers)
        assert lib.SimdnetLastErrorKind() == 0
        assert raw[begin:].tobytes() == expected.tobytes()


def test_dtypes_and_shapes(rng: np.random.Generator) -> None:
    f, h = floats(rng, 3, 4), reference.to_bfloat16(floats(rng, 3, 4))
    m = h.view(ml_dtypes.bfloat16)
    assert pysimd.add(f, f).dtype == np.float32
    assert pysimd.add(h, h).dtype == np.uint16
    assert pysimd.add(m, m).dtype == m.dtype
    assert pysimd.add(f, m).dtype == np.float32
    assert pysimd.add(f, m, dtype=ml_dtypes.bfloat16).dtype == m.dtype
    assert np.array_equal(pysimd.add(m, m).view(np.uint16), pysimd.add(h, h))
    assert np.array_equal(pysimd.add(f, f), f + f)
    assert pysimd.add(f[:0], f[:0]).shape == (0, 4)
    one = np.array(1.5, np.float32)
    assert pysimd.add(one, one) == 3


def test_add_in_place(rng: np.random.Generator) -> None:
    a, b = floats(rng, 100), floats(rng, 100)
    expected = a + b
    assert pysimd.add(a, b, out=a) is a
    assert np.array_equal(a, expected)
    expected = a + b
    assert pysimd.add(a, b, out=b) is b
    assert np.array_equal(b, expected)
    h = reference.to_bfloat16(a)
    total = reference.add_16b(h, b, True)
    pysimd.add(h, b, out=h)
    assert_same_16b(h, total)


def test_add_16b_context(rng: np.random.Generator) -> None:
    a, b = floats(rng, 5, 6), reference.to_bfloat16(floats(rng, 5, 6))
    with pysimd.Add16b((5, 6), b_dtype="bfloat16", dst_dtype=np.uint16) as context:
        y = context(a, b)
        assert_same_16b(y, reference.add_16b(a, b, True))
        again = pickle.loads(pickle.dumps(context))
        assert pysimd.active_isa() in context.info
    assert_same_16b(again(a, b), y)
    with pytest.raises(pysimd.StateError, match="Add16b is closed"):
        context(a, b)


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ({"a": np.zeros((5, 6))}, TypeError, "a has dtype float64, expected float32"),
        ({"b": np.zeros((5, 6), np.float32)}, TypeError, "b has dtype float32, expected bfloat16"),
        ({"a": np.zeros((6, 5), np.float32)}, ValueError, r"a has shape \(6, 5\), expected \(5, 6\)"),
        ({"b": np.zeros((5, 12), np.uint16)[:, ::2]}, ValueError, "b is not C-contiguous"),
    ],
)
def test_add_16b_refused(change: dict[str, Any], error: type[Exception], sentence: str) -> None:
    context = pysimd.Add16b((5, 6), b_dtype="bfloat16")
    arguments = {"a": np.ones((5, 6), np.float32), "b": np.ones((5, 6), np.uint16), **change}
    assert_refused(context.forward, error, sentence, np.full((5, 6), 7, np.float32), **arguments)


def test_add_16b_refused_out_and_shape() -> None:
    a, b = np.ones((5, 6), np.float32), np.ones((5, 6), np.float32)
    both = np.zeros(60, np.float32)
    assert_refused(pysimd.add, ValueError, "out has shape", np.zeros((6, 5), np.float32), a=a, b=b)
    assert_refused(pysimd.add, TypeError, "out has dtype", np.zeros((5, 6)), a=a, b=b)
    assert_refused(pysimd.add, ValueError, "out overlaps b", both[10:40].reshape(5, 6), a=a, b=both[:30].reshape(5, 6))
    wide = np.zeros(60, np.uint16)
    assert_refused(
        pysimd.add, ValueError, "out overlaps a", wide.view(np.float32).reshape(5, 6), a=wide[:30].reshape(5, 6), b=b
    )
    for shape, error in [((-1, 2), ValueError), ((2.5,), TypeError), ((2**40, 2**40), ValueError)]:
        with pytest.raises(error):
            pysimd.Add16b(shape)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a_dtype has dtype float16"):
        pysimd.Add16b((2,), a_dtype="float16")
    with pytest.raises(ValueError, match="b has shape"):
        pysimd.add(a, b[:4])


def test_add_makes_a_context_for_each_instruction_set_once() -> None:
    adder = sys.modules["pysimd.add"]._adder
    a = np.ones((3, 5, 7), np.float32)
    adder.cache_clear()
    for _ in range(3):
        pysimd.add(a, a)
    assert (adder.cache_info().hits, adder.cache_info().misses) == (2, 1)
    with pysimd.max_isa("base"):
        assert (pysimd.add(a, a) == 2).all()
    levels = len({"base", pysimd.active_isa()})
    assert adder.cache_info().misses == levels
    pysimd.add(a, a, dtype="bfloat16")
    assert adder.cache_info().misses == levels + 1
