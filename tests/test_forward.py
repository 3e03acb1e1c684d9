"""Contexts on some channels of larger arrays: the results of dense copies, and nothing written between the pixels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pysimd
from pysimd._pixels import distance
from pysimd.lowlevel import ffi, lib

RANDOM = np.random.default_rng(3)


def floats(*shape: int) -> Any:
    return RANDOM.uniform(-1, 1, shape).astype(np.float32)


def slot(values: Any, before: int, after: int) -> tuple[Any, Any]:
    """An array of NaNs, and the channels of it that hold the values."""
    whole = np.full((*values.shape[:-1], before + values.shape[-1] + after), np.nan, np.float32)
    part = whole[..., before : before + values.shape[-1]]
    part[...] = values
    return whole, part


CONTEXTS: list[tuple[Any, dict[str, Any]]] = [
    (pysimd.Convolution32f, {"kernel": 1}),
    (pysimd.Convolution32f, {"kernel": 3, "padding": 1, "activation": "relu"}),
    (pysimd.Convolution32f, {"kernel": 3, "group": 16}),
    (pysimd.Deconvolution32f, {"kernel": 2, "stride": 2}),
]


@pytest.mark.parametrize(("kind", "options"), CONTEXTS)
@pytest.mark.parametrize("batch", [(), (2,)])
def test_channels_of_larger_arrays(kind: Any, options: dict[str, Any], batch: tuple[int, ...]) -> None:
    x = floats(*batch, 6, 7, 16)
    with kind(x.shape, 16, **options) as context:
        context.set_params(floats(*context.weight_shape), 0.5)
        dense = context(x)
        _, some = slot(x, 3, 5)
        whole, out = slot(np.zeros_like(dense), 2, 1)
        assert context(some, out=out) is out
        np.testing.assert_array_equal(out, dense)
        assert np.isnan(whole[..., :2]).all()
        assert np.isnan(whole[..., -1:]).all()
        np.testing.assert_array_equal(context(some), dense)
        out[...] = 0
        context.prepare(some, out=out)()
        np.testing.assert_array_equal(out, dense)


def test_addition_and_a_concatenation_in_place() -> None:
    x, weight = floats(5, 4, 8), floats(1, 1, 8, 8)
    whole = np.zeros((5, 4, 24), np.float32)
    whole[..., 8:16] = x
    with pysimd.Convolution32f((5, 4, 8), 8, kernel=1, activation="relu") as context:
        context.set_params(weight)
        context(whole[..., 8:16], add=whole[..., 8:16], out=whole[..., 16:])
        np.testing.assert_array_equal(whole[..., 16:], context(x, add=x))
        np.testing.assert_allclose(whole[..., 16:], np.maximum(x @ weight[0, 0] + x, 0), rtol=1e-5, atol=1e-5)
        with pytest.raises(ValueError, match="out overlaps x, expected elements of its own"):
            context(whole[..., 8:16], out=whole[..., 15:23])
        with pytest.raises(ValueError, match="x is not C-contiguous"):
            context(np.zeros((10, 4, 8), np.float32)[::2])
        with pytest.raises(ValueError, match="x is not C-contiguous"):
            context(np.zeros((5, 4, 16), np.float32)[..., ::2])


def test_distance() -> None:
    big = np.zeros((2, 5, 6, 10), np.float32)
    assert [distance(a) for a in (big, big[..., 3:7], big[:, :, :, :1], big[:1, :1, :1, 2:5])] == [10, 10, 10, 3]
    assert distance(big[:, :, ::2]) == 20  # all pixels are at one distance
    assert [distance(a) for a in (big[:, ::2], big[::-1], big[..., ::2])] == [0, 0, 0]


def test_order() -> None:
    """Before and after the activation, by the C function."""
    x, weight, more = floats(3, 3, 4), floats(1, 1, 4, 4), floats(3, 3, 4)
    out = np.empty_like(x)
    with pysimd.Convolution32f(x.shape, 4, kernel=1, activation="relu") as context:
        context.set_params(weight)
        arguments = ffi.new("SimdnetForwardParameters *", {"size": ffi.sizeof("SimdnetForwardParameters")})
        arguments.src, arguments.add = ffi.from_buffer(x), ffi.from_buffer(more)
        arguments.dst, arguments.order = ffi.from_buffer(out), lib.SimdnetAddAfterActivation
        lib.SimdnetForward(context._handle, arguments)
        np.testing.assert_allclose(out, context(x) + more, rtol=1e-6)  # base rounds once
        arguments.order = lib.SimdnetAddBeforeActivation
        lib.SimdnetForward(context._handle, arguments)
        np.testing.assert_array_equal(out, context(x, add=more))
