"""Bytes by a table, on every instruction set: NumPy's indexing, dtypes, channel slices, in place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pysimd
from support import Array, assert_refused


def table_of(rng: np.random.Generator, dtype: Any) -> Array:
    return rng.permutation(256).astype(np.uint8).view(dtype)


@pytest.mark.parametrize("dtypes", [("uint8", "uint8"), ("int8", "uint8"), ("uint8", "int8"), ("int8", "int8")])
def test_shapes_and_types(isa: str, rng: np.random.Generator, dtypes: tuple[Any, Any]) -> None:
    table = table_of(rng, dtypes[1])
    for shape in ((), (1,), (256,), (3, 5, 7), (0, 4), (40, 33, 65)):
        x = np.asarray(rng.integers(0, 256, shape, np.uint8)).view(dtypes[0])
        y = pysimd.table8(x, table)
        assert y.dtype == dtypes[1]
        np.testing.assert_array_equal(y, table[x.view(np.uint8)])


def test_slices_and_in_place(isa: str, rng: np.random.Generator) -> None:
    table = table_of(rng, np.uint8)
    big, out = rng.integers(0, 256, (9, 5, 50), np.uint8), np.full((9, 5, 70), 7, np.uint8)
    x, y = big[..., 3:22], out[..., 40:59]
    assert pysimd.table8(x, table, out=y) is y
    expected = np.full_like(out, 7)
    expected[..., 40:59] = table[x]
    np.testing.assert_array_equal(out, expected)
    np.testing.assert_array_equal(pysimd.table8(x, table), table[x])
    before = big.copy()
    before[..., 3:22] = table[before[..., 3:22]]
    pysimd.table8(x, table, out=x)
    np.testing.assert_array_equal(big, before)
    x = big.copy()
    pysimd.table8(x, table, out=x)
    np.testing.assert_array_equal(x, table[big])


def test_prepared(isa: str, rng: np.random.Generator) -> None:
    """A prepared call reads source and table each time."""
    x, table = rng.integers(0, 256, (4, 30), np.uint8), table_of(rng, np.uint8)
    run = pysimd.prepare(pysimd.table8, x, table)
    x += 1
    table[:] = table[::-1].copy()
    run()
    np.testing.assert_array_equal(run.result, table[x])


X, TABLE = np.arange(12, dtype=np.uint8), np.arange(256, dtype=np.uint8)


@pytest.mark.parametrize(
    ("error", "sentence", "arguments"),
    [
        (TypeError, "x has dtype float32, expected uint8 or int8", {"x": X.astype(np.float32)}),
        (TypeError, "table has dtype int32, expected uint8 or int8", {"table": TABLE.astype(np.int32)}),
        (ValueError, r"table has shape \(255,\), expected \(256,\)", {"table": TABLE[:255].copy()}),
        (ValueError, "x is not C-contiguous", {"x": X[::2]}),
    ],
)
def test_bad_arguments(error: type[Exception], sentence: str, arguments: dict[str, Any]) -> None:
    given = {"x": X, "table": TABLE} | arguments
    assert_refused(pysimd.table8, error, sentence, np.zeros(given["x"].shape, np.uint8), **given)


def test_overlap() -> None:
    memory = np.arange(600).astype(np.uint8)
    with pytest.raises(ValueError, match="out overlaps x"):
        pysimd.table8(memory[:200], TABLE, out=memory[1:201])
    with pytest.raises(ValueError, match="out overlaps table"):
        pysimd.table8(X, memory[:256], out=memory[10:22])
    wide = memory.reshape(20, 30)
    with pytest.raises(ValueError, match="out overlaps table"):
        pysimd.table8(wide[:, :5], memory[300:556], out=wide[:, 7:12])
    with pytest.raises(ValueError, match="out overlaps x"):
        pysimd.table8(wide[:, :5], TABLE, out=wide[:, 3:8])
