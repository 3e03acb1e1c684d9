"""Conversions to bfloat16 and half precision, and back, beside NumPy and ml_dtypes: every number, and ties."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pysimd.lowlevel import ffi, lib
from support import Array

PATTERNS = np.arange(65536, dtype=np.uint32).astype(np.uint16)
DTYPES = {"Float16": "float16", "BFloat16": "bfloat16"}


def narrow_dtype(name: str) -> Any:
    return np.dtype(np.float16) if name == "Float16" else np.dtype(pytest.importorskip("ml_dtypes").bfloat16)


def narrowed(name: str, x: Array) -> Array:
    result = np.empty(x.shape, np.uint16)
    getattr(lib, f"SimdFloat32To{name}")(ffi.from_buffer("float[]", x), x.size, ffi.from_buffer("uint16_t[]", result))
    assert not lib.SimdnetLastErrorKind()
    return result


def widened(name: str, bits: Array) -> Array:
    result = np.empty(bits.shape, np.float32)
    getattr(lib, f"Simd{name}ToFloat32")(ffi.from_buffer("uint16_t[]", bits), bits.size, ffi.from_buffer("float[]", result))
    assert not lib.SimdnetLastErrorKind()
    return result


@pytest.mark.parametrize("name", DTYPES)
def test_to_float(name: str, isa: str) -> None:
    x, expected = widened(name, PATTERNS), PATTERNS.view(narrow_dtype(name)).astype(np.float32)
    number = ~np.isnan(expected)
    assert np.array_equal(x[number].view(np.uint32), expected[number].view(np.uint32))
    assert np.isnan(x[~number]).all()
    assert np.array_equal(np.signbit(x), PATTERNS >= 0x8000)


@pytest.mark.parametrize("name", DTYPES)
def test_to_16_bits(name: str, isa: str) -> None:
    exact = widened(name, PATTERNS)
    exact = exact[np.isfinite(exact)]
    with np.errstate(over="ignore"):
        ties = ((exact.astype(np.float64) + np.roll(exact, 1)) / 2).astype(np.float32)
        x = np.concatenate([exact, ties, np.nextafter(ties, np.float32(np.inf)), np.nextafter(ties, np.float32(-np.inf))])
        x = np.concatenate([x, np.array([65519.996, 65520, 3.4e38, 1e-45, np.inf, 2**-25], np.float32)])
        x = np.concatenate([x, -x])
        expected = x.astype(narrow_dtype(name)).view(np.uint16)
    assert np.array_equal(narrowed(name, x), expected)


@pytest.mark.parametrize("name", DTYPES)
def test_nan_becomes_quiet_and_keeps_its_sign(name: str, isa: str) -> None:
    nan = np.array([0x7F800001, 0xFF800001, 0x7FFFFFFF, 0xFFC00000, 0x7FA00000] * 9, np.uint32)
    quiet = 0x7E00 if name == "Float16" else 0x7FC0
    bits = narrowed(name, nan.view(np.float32))
    assert ((bits & quiet) == quiet).all()
    assert np.array_equal(bits >> 15, nan >> 31)
