"""Copies, permutations, concatenations and padding, bit for bit as NumPy makes them."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest

import pysimd
from support import Array, assert_refused, floats

DTYPES: list[Any] = [
    np.float32,
    np.int32,
    np.int8,
    np.uint8,
    np.int64,
    np.uint64,
    np.bool_,
    np.uint16,
    np.float16,
    np.float64,
]


def elements(rng: np.random.Generator, dtype: Any, *shape: int) -> Array:
    """Random bytes as elements; bool has 0 and 1 only."""
    dtype = np.dtype(dtype)
    raw = rng.integers(0, 2 if dtype == np.bool_ else 256, (*shape, dtype.itemsize), dtype=np.uint8)
    made: Array = raw.view(dtype).reshape(shape)
    return made


def assert_bits(actual: Array, expected: Array) -> None:
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    assert actual.tobytes() == expected.tobytes()


def test_copy_of_views(isa: str, rng: np.random.Generator) -> None:
    for dtype in DTYPES:
        x = elements(rng, dtype, 6, 7, 8, 9)
        views = [
            x[::2, 1:5, ::-1],
            x[..., ::-3],
            x[2, :, 4],
            x[:, :, :, 0].T,
            x.transpose(3, 1, 0, 2)[1:, ::-1],
            np.broadcast_to(x[0, 0, 0], (5, 9)),
            np.broadcast_to(x[:, :1, 0, :1], (6, 5, 30)),
            x[3:3],
            x[0, 0, 0, 0, ...],
            np.lib.stride_tricks.sliding_window_view(x[0, 0, 0], 4),
        ]
        for view in views:
            assert_bits(pysimd.copy(view), view.copy())
            out = np.zeros(tuple(extent + 2 for extent in view.shape), dtype)
            middle: Any = (*(slice(1, -1) for _ in view.shape), ...)
            inside = out[middle]
            expected = out.copy()
            expected[middle] = view
            assert pysimd.copy(view, out=inside) is inside
            assert_bits(out, expected)


def test_copy_inside_one_array(rng: np.random.Generator) -> None:
    x = floats(rng, 5, 6, 10)
    expected = x.copy()
    expected[..., 6:9] = x[..., :3]
    pysimd.copy(x[..., :3], out=x[..., 6:9])
    assert_bits(x, expected)


@pytest.mark.parametrize("dtype", DTYPES)
def test_permute(isa: str, rng: np.random.Generator, dtype: Any) -> None:
    for shape in ((3, 4), (5, 1, 7), (2, 3, 4, 5), (2, 17, 3, 19), (2, 3, 2, 3, 2)):
        x = elements(rng, dtype, *shape)
        for axes in permutations(range(len(shape))):
            expected = np.ascontiguousarray(x.transpose(axes))
            assert_bits(pysimd.permute(x, axes), expected)
            assert_bits(pysimd.transpose(x, axes), expected)
            try:
                context = pysimd.Permute(shape, axes, dtype=dtype)
            except ValueError as error:
                assert "leaves all elements in their order" in str(error)
                assert np.array_equal(expected.reshape(-1), x.reshape(-1), equal_nan=x.dtype.kind == "f")
            else:
                assert context.dst_shape == expected.shape
                assert context.internal_buffer_size == 0
                assert_bits(context(x), expected)
    assert_bits(pysimd.transpose(x), np.ascontiguousarray(x.T))


@pytest.mark.parametrize("dtype", [np.float32, np.uint8])
def test_permute_of_colours(isa: str, rng: np.random.Generator, dtype: Any) -> None:
    for pixels in (*range(1, 131), 40003):
        x = elements(rng, dtype, pixels, 3)
        planes = np.ascontiguousarray(x.T)
        assert_bits(pysimd.permute(x, (1, 0)), planes)
        assert_bits(pysimd.permute(planes, (1, 0)), x)


def test_permute_of_images(isa: str, rng: np.random.Generator) -> None:
    x = floats(rng, 2, 33, 20, 21)
    for axes in ((0, 2, 3, 1), (0, 3, 1, 2), (0, 2, 1, 3), (3, 2, 1, 0)):
        assert_bits(pysimd.permute(x, axes), np.ascontiguousarray(x.transpose(axes)))
    assert_bits(pysimd.permute(x, (-4, -2, -1, -3)), np.ascontiguousarray(x.transpose(0, 2, 3, 1)))


def test_concatenate(isa: str, rng: np.random.Generator) -> None:
    for dtype in DTYPES:
        for axis in (0, 1, 2, -1):
            shapes = [[3, 4, 5] for _ in range(4)]
            for shape, extent in zip(shapes, (1, 7, 0, 20)):
                shape[axis] = extent
            arrays = [elements(rng, dtype, *shape) for shape in shapes]
            expected = np.concatenate(arrays, axis)
            assert_bits(pysimd.concatenate(arrays, axis), expected)
            out = np.zeros((*expected.shape[:-1], expected.shape[-1] + 3), dtype)[..., 2:-1]
            pysimd.concatenate(arrays, axis, out=out)
            assert_bits(np.ascontiguousarray(out), expected)


@pytest.mark.parametrize("mode", ["constant", "reflect", "edge", "wrap"])
def test_pad(isa: str, rng: np.random.Generator, mode: Any) -> None:
    for dtype in (np.float32, np.uint8, np.float16, np.int64):
        for shape, widths in (
            ((5,), 3),
            ((4,), (9, 14)),
            ((1, 2), ((3, 0), (0, 7))),
            ((2, 3, 6, 5), ((0, 0), (0, 0), (1, 1), (2, 1))),
            ((2, 6, 5, 3), ((0, 0), (1, 2), (2, 0), (0, 0))),
            ((3, 4), ((2, 2),)),
        ):
            x = elements(rng, dtype, *shape)
            options: dict[str, Any] = {"constant_values": 7} if mode == "constant" else {}
            expected = np.pad(x, widths, mode, **options)
            assert_bits(pysimd.pad(x, widths, mode, **options), expected)
            out = np.zeros_like(expected)
            assert pysimd.pad(x, widths, mode, out=out, **options) is out
            assert_bits(out, expected)


def test_pad_of_nothing() -> None:
    x = np.zeros((0, 2), np.float32)
    assert_bits(pysimd.pad(x, ((1, 1), (0, 0)), constant_values=3), np.full((2, 2), 3, np.float32))
    with pytest.raises(ValueError, match="expected an element to repeat in dimension 0"):
        pysimd.pad(x, 1, "edge")


X = np.ones((2, 3, 4), np.float32)


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (
            lambda: pysimd.copy(X.astype(np.complex128)),
            TypeError,
            "x has dtype complex128, expected elements of 1, 2, 4 or 8",
        ),
        (lambda: pysimd.copy(np.array([None])), TypeError, "x has dtype object"),
        (lambda: pysimd.copy([1, 2]), TypeError, "x is a list, expected a numpy.ndarray"),  # type: ignore[arg-type]
        (lambda: pysimd.copy(X.reshape((1,) * 6 + X.shape)), ValueError, "x has 9 dimensions, expected at most 8"),
        (lambda: pysimd.copy(X, out=X[:1]), ValueError, r"out has shape \(1, 3, 4\), expected"),
        (lambda: pysimd.copy(X, out=X.astype(np.int32)), TypeError, "out has dtype int32, expected float32"),
        (lambda: pysimd.copy(X, out=X), ValueError, "out overlaps x"),
        (lambda: pysimd.copy(X[:, 1:], out=np.broadcast_to(X[:, :1], (2, 2, 4))), ValueError, "out is read-only"),
        (lambda: pysimd.permute(X, (0, 1)), ValueError, "axes is .*, expected each of the 3 dimensions once"),
        (lambda: pysimd.permute(X, (0, 1, 1)), ValueError, "axes is"),
        (lambda: pysimd.permute(X, 5), TypeError, "axes is 5"),  # type: ignore[arg-type]
        (lambda: pysimd.Permute((3,), (0,)), ValueError, "count is 1"),
        (lambda: pysimd.Permute((3, 4), (1, 0), dtype="complex128"), TypeError, "dtype has dtype complex128"),
        (lambda: pysimd.Permute((3, 4), (1, 0))(X), ValueError, "x has shape"),
        (lambda: pysimd.Permute((3, 4), (1, 0))(X[0].astype(int)), TypeError, "x has dtype int64, expected float32"),
        (lambda: pysimd.concatenate([]), ValueError, "arrays is empty"),
        (lambda: pysimd.concatenate(3), TypeError, "arrays is 3, expected a sequence of arrays"),  # type: ignore[arg-type]
        (lambda: pysimd.concatenate([X, X[0]]), ValueError, r"arrays\[1\] has shape \(3, 4\)"),
        (lambda: pysimd.concatenate([X, X[:, :2]]), ValueError, r"arrays\[1\] has shape"),
        (lambda: pysimd.concatenate([X, X.astype(np.int32)]), TypeError, r"arrays\[1\] has dtype int32"),
        (lambda: pysimd.concatenate([X], 3), ValueError, "axis is 3"),
        (lambda: pysimd.concatenate([X], out=X), ValueError, r"out overlaps arrays\[0\]"),
        (lambda: pysimd.pad(X, 1, "mirror"), ValueError, "mode is 'mirror', expected 'constant'"),  # type: ignore[arg-type]
        (lambda: pysimd.pad(X, (1, 2, 3)), ValueError, "pad_width is"),
        (lambda: pysimd.pad(X, 0.5), TypeError, "pad_width is 0.5, expected integers"),
        (lambda: pysimd.pad(X, -1), ValueError, "pad_width is -1, expected numbers of at least 0"),
        (lambda: pysimd.pad(X[..., ::2], 1), ValueError, "x is not C-contiguous"),
        (lambda: pysimd.pad(X, 0, out=X), ValueError, "out overlaps x"),
    ],
)
def test_refused(call: Any, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        call()


def test_refused_without_a_change() -> None:
    out = np.full((2, 3), 7, np.float32)
    assert_refused(lambda out: pysimd.copy(out[:, :2], out=out[:, 1:]), ValueError, "out overlaps x", out)


def test_a_padding_that_the_type_cannot_hold_is_refused() -> None:
    with pytest.raises(ValueError, match="constant_values is -2, out of the range of uint8"):
        pysimd.pad(np.zeros((2, 2), np.uint8), ((1, 1), (0, 0)), constant_values=-2)
