"""Sources that are views of ``out=``: every argument of every function, refused even where the array itself is accepted."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import pytest

import pysimd
from support import REFUSALS, samples
from support.samples import at, places, replaced

SEED = 21
NAMES = [name for name in samples.calls(np.random.default_rng(SEED)) if not name.endswith("iterator")]
# Their contexts copy weights before anything is written, so these may share memory with the output.
COPYING = {"convolution", "deconvolution", "gru", "lstm", "rnn"}


def assert_views_are_refused(name: str, function: Callable[..., Any], arguments: Any) -> int:
    """Checks each argument that is not larger than an output; returns how many there were."""
    result = function(*arguments[0], **arguments[1])
    expected, refused = list(result) if isinstance(result, tuple) else [result], 0
    for place in places(arguments):
        source = at(arguments, place)
        for i, y in enumerate(expected):
            if source.nbytes > y.nbytes or source.size == 0:
                continue
            outs = [np.zeros_like(e) for e in expected]
            memory = outs[i].reshape(-1).view(np.uint8)
            view = memory[memory.size - source.nbytes :].view(source.dtype).reshape(source.shape)
            assert outs[i].base is None and view.base is outs[i]
            view[...] = source
            before = outs[i].tobytes()
            alike = (view.shape, view.dtype) == (y.shape, y.dtype)
            try:
                samples.call_into(function, replaced(arguments, place, view), outs)
            except ValueError as error:
                assert "overlaps" in str(error), place
                assert outs[i].tobytes() == before, place
                refused += 1
                REFUSALS["overlap"] += 1
                if alike:
                    with pytest.raises(ValueError, match="overlaps"):
                        samples.call_into(function, replaced(arguments, place, outs[i]), outs)
            else:
                assert alike or name in COPYING, place
                assert [out.tobytes() for out in outs] == [e.tobytes() for e in expected], place
                if alike:
                    view[...] = source
                    samples.call_into(function, replaced(arguments, place, outs[i]), outs)
                    assert outs[i].tobytes() == y.tobytes(), place
    return refused


@pytest.mark.parametrize("name", NAMES)
def test_views_of_out(name: str) -> None:
    function, *arguments = samples.calls(np.random.default_rng(SEED))[name]
    assert_views_are_refused(name, function, arguments)


def test_views_of_out_that_keep_their_shape() -> None:
    """For functions that would often compute the correct result anyway."""
    x = np.arange(32, dtype=np.float32).reshape(2, 2, 8)
    refused = [
        assert_views_are_refused("lrn", pysimd.lrn, [(x,), {}]),
        assert_views_are_refused("pooling_max", pysimd.pooling_max, [(x,), {"kernel": 1}]),
        assert_views_are_refused("shuffle", pysimd.shuffle, [(x, x.copy()), {}]),
    ]
    assert refused == [1, 1, 4]


def test_views_of_out_as_few_numbers() -> None:
    x, numbers = np.arange(32, dtype=np.float32), np.array([1, 2, 3], np.float32)
    pixels: dict[str, Any] = {"pixel_format": "bgr24", "lower": numbers, "upper": -numbers}
    picture = np.arange(60, dtype=np.uint8).reshape(4, 5, 3)
    assert assert_views_are_refused("eltwise", pysimd.eltwise, [([x, x[::-1].copy()],), {"weights": numbers[:2]}]) == 1
    assert assert_views_are_refused("set_input", pysimd.set_input, [(picture,), pixels]) == 3
