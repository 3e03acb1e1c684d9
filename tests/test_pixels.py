"""Pooling and functions of every pixel on some channels of larger arrays: the results of dense copies, and nothing written
between the pixels."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import pytest

import pysimd
from pysimd import _pixels
from support import samples

RANDOM = np.random.default_rng(5)
COEFFICIENTS = RANDOM.uniform(-1, 1, 19).astype(np.float32)


def floats(*shape: int) -> Any:
    return RANDOM.uniform(-1, 1, shape).astype(np.float32)


def slot(values: Any, before: int, after: int) -> tuple[Any, Any]:
    """An array of ones in all bits (NaNs), and the channels of it that hold the values."""
    whole = np.full((*values.shape[:-1], before + values.shape[-1] + after), -1, f"i{values.itemsize}").view(values.dtype)
    part = whole[..., before : before + values.shape[-1]]
    part[...] = values
    return whole, part


def check(function: Callable[..., Any], *arrays: Any, **options: Any) -> None:
    """Inputs, the output, and both as parts of larger arrays."""
    dense = function(*arrays, **options)
    parts = [slot(array, 3, 5)[1] for array in arrays]
    np.testing.assert_array_equal(function(*parts, **options), dense)
    for given in (arrays, parts):
        whole, out = slot(np.zeros_like(dense), 2, 1)
        empty = whole.copy()
        assert function(*given, **options, out=out) is out
        np.testing.assert_array_equal(out, dense)
        out[...] = 0
        assert whole.tobytes() == empty.tobytes()
        pysimd.prepare(function, *given, **options, out=out)()
        np.testing.assert_array_equal(out, dense)


POINTWISE: list[tuple[Callable[..., Any], dict[str, Any]]] = [
    *((getattr(pysimd, name), {}) for name in samples.of_each_element()),
    *((pysimd.unary, {"operation": operation}) for operation in pysimd.UnaryOperation),
    (pysimd.relu, {"slope": 0.25}),
    (pysimd.elu, {"alpha": 0.5}),
    (pysimd.hswish, {"shift": 2, "scale": 0.25}),
    (pysimd.restrict_range, {"lower": -0.25, "upper": 0.5}),
    (pysimd.sigmoid, {"slope": 2}),
    (pysimd.softplus, {"beta": 2, "threshold": 0.5}),
    (pysimd.add_bias, {"bias": COEFFICIENTS}),
    (pysimd.add_bias, {"bias": 0.5}),
    (pysimd.scale, {"scale": COEFFICIENTS}),
    (pysimd.scale, {"scale": COEFFICIENTS, "bias": 0.5}),
    (pysimd.prelu, {"slope": COEFFICIENTS}),
]


@pytest.mark.parametrize(("function", "options"), POINTWISE)
@pytest.mark.parametrize("batch", [(), (2,)])
def test_functions_of_pixels(
    isa: str, function: Callable[..., Any], options: dict[str, Any], batch: tuple[int, ...]
) -> None:
    check(function, floats(*batch, 4, 3, 19), **options)


def test_formulas() -> None:
    """Not the dense functions again, but what they compute."""
    x, y = slot(floats(4, 3, 19), 1, 1)[1], slot(floats(4, 3, 19), 0, 2)[1]
    np.testing.assert_array_equal(pysimd.relu(x), np.maximum(x, 0))
    np.testing.assert_allclose(pysimd.tanh(x), np.tanh(x), rtol=1e-6)
    np.testing.assert_allclose(pysimd.scale(x, COEFFICIENTS, 0.5), x * COEFFICIENTS + 0.5, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(pysimd.prelu(x, COEFFICIENTS), np.where(x > 0, x, x * COEFFICIENTS))
    np.testing.assert_array_equal(pysimd.eltwise([x, y], "max"), np.maximum(x, y))
    windows = np.lib.stride_tricks.sliding_window_view(x, (2, 2), axis=(0, 1))
    np.testing.assert_array_equal(pysimd.pooling_max(x, kernel=2, stride=1), windows.max(axis=(-1, -2)))
    np.testing.assert_allclose(
        pysimd.pooling_average(x, kernel=2, stride=1), windows.mean(axis=(-1, -2)), rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("operation", ["sum", "product", "max", "min"])
def test_two_arrays(isa: str, operation: str) -> None:
    def both(x: Any, y: Any, **options: Any) -> Any:
        return pysimd.eltwise([x, y], operation, **options)  # type: ignore[arg-type]

    both.__module__ = "pysimd.tests"  # for prepare
    check(both, floats(4, 3, 19), floats(4, 3, 19))
    if operation == "sum":
        check(both, floats(4, 3, 19), floats(4, 3, 19), weights=[0.5, -2])


WINDOWS: list[dict[str, Any]] = [
    {"kernel": 2},
    {"kernel": 3, "stride": 2, "padding": 1},
    {"kernel": 3, "stride": 2, "ceil_mode": True},
    {"kernel": (7, 6)},
]


@pytest.mark.parametrize("options", WINDOWS)
@pytest.mark.parametrize("batch", [(), (2,)])
def test_pooling(isa: str, options: dict[str, Any], batch: tuple[int, ...]) -> None:
    x = floats(*batch, 7, 6, 19)
    check(pysimd.pooling_max, x, **options)
    check(pysimd.pooling_max, pysimd.to_bfloat16(x), **options)
    check(pysimd.pooling_max, (x * 100 + 128).astype(np.uint8), **options)
    check(pysimd.pooling_average, x, **options)
    check(pysimd.pooling_average, x, exclude_pad=True, **options)
    check(pysimd.pooling_average, pysimd.to_bfloat16(x), **options)
    check(pysimd.pooling_max, floats(*batch, 7, 6, 3), **options)


def test_in_place() -> None:
    whole = floats(4, 3, 24)
    x = whole[..., 3:19]
    expected = whole.copy()
    expected[..., 3:19] = np.maximum(x, 0)
    assert pysimd.relu(x, out=x) is x
    np.testing.assert_array_equal(whole, expected)
    with pytest.raises(ValueError, match="out overlaps x, expected elements of its own"):
        pysimd.relu(x, out=whole[..., 4:20])
    with pytest.raises(ValueError, match=r"out overlaps arrays\[1\], expected elements of its own"):
        pysimd.eltwise([x, whole[..., 8:]], out=x)
    with pytest.raises(ValueError, match="out overlaps x, expected elements of its own"):
        pysimd.pooling_max(x, kernel=1, out=whole[..., 8:])
    np.testing.assert_array_equal(whole, expected)
    _pixels.copy(whole[..., :8], out=whole[..., 8:16])
    np.testing.assert_array_equal(whole[..., 8:16], whole[..., :8])


def test_refused() -> None:
    x = np.zeros((4, 3, 24), np.float32)[..., 3:19]
    with pytest.raises(ValueError, match=r"out has shape \(4, 3, 15\), expected \(4, 3, 16\)"):
        pysimd.relu(x, out=np.zeros((4, 3, 15), np.float32))
    with pytest.raises(TypeError, match="out has dtype float64, expected float32"):
        pysimd.relu(x, out=np.zeros((4, 3, 16)))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="x is not C-contiguous"):
        pysimd.scale(x, 2, layout="nchw")
    with pytest.raises(ValueError, match="x is not C-contiguous"):
        pysimd.pooling_max(x, kernel=2, layout="nchw")
    with pytest.raises(ValueError, match="x is not C-contiguous"):
        pysimd.pooling_max(x, kernel=2, kernel_c=2)
    with pytest.raises(ValueError, match=r"arrays\[0\] is not C-contiguous"):
        pysimd.eltwise([x, x, x])
    with pytest.raises(ValueError, match="scale has shape"):
        pysimd.scale(x, np.zeros(15, np.float32))
    x.flags.writeable = False
    with pytest.raises(ValueError, match="out is read-only"):
        pysimd.relu(x, out=x)
