"""Contexts that use the parameters of another one, for images of another size."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import pysimd
from support import floats, samples

CONTEXTS = samples.contexts(np.random.default_rng(0))
COPIED = {"Scale8i"}  # those of few parameters, which are copied
WITH_PARAMS = [name for name, (context, _) in CONTEXTS.items() if context._weights() is not None]


def another(context: Any, batch: int = 5) -> Any:
    """A context without parameters, for another number of images."""
    options = dict(context._arguments)
    if "src_shape" not in options:  # any number of rows
        return type(context)(**options)
    return type(context)((batch, *options.pop("src_shape")[1:]), **options)


@pytest.mark.parametrize("name", WITH_PARAMS)
def test_all_classes(name: str, isa: str, rng: np.random.Generator) -> None:
    first: Any
    first, (x,) = samples.contexts(rng)[name]
    y = first(x)
    second = another(first)
    assert second.internal_buffer_size == 0
    second.share_params(first)
    assert second.internal_buffer_size < first.internal_buffer_size or name in COPIED
    many = np.concatenate([x, x, x[:1]])
    first.close()
    assert np.array_equal(second(many)[: len(y)], y)
    again = pickle.loads(pickle.dumps(second))
    assert again.internal_buffer_size > second.internal_buffer_size or name in COPIED
    assert np.array_equal(again(many), second(many))
    third = another(second, 2)
    third.share_params(second)
    second.set_params(*(third._given or ()))
    assert second.internal_buffer_size == again.internal_buffer_size
    assert np.array_equal(third(x), y)


def test_sizes_of_images(isa: str, rng: np.random.Generator) -> None:
    weight = floats(rng, 1, 1, 24, 40)
    small = pysimd.Convolution32f((3, 5, 24), 40, kernel=1, stride=2)
    small.set_params(weight, 0.5)
    x = floats(rng, 31, 17, 24)
    large, own = pysimd.Convolution32f(x.shape, 40, kernel=1), pysimd.Convolution32f(x.shape, 40, kernel=1)
    large.share_params(small)
    own.set_params(weight, 0.5)
    assert np.array_equal(large(x), own(x))


def test_refusals(rng: np.random.Generator) -> None:
    context = pysimd.Convolution32f((9, 9, 24), 40, kernel=3, activation="leaky_relu")
    other = pysimd.Convolution32f((9, 9, 24), 40, kernel=3, activation="leaky_relu")
    with pytest.raises(pysimd.StateError, match="other has no weights yet"):
        context.share_params(other)
    with pytest.raises(TypeError, match="other is a int, expected a Convolution32f"):
        context.share_params(3)  # type: ignore[arg-type]
    other.set_params(floats(rng, *other.weight_shape))
    cases: list[tuple[dict[str, Any], str]] = [
        ({"dst_c": 41}, "the number of output channels of other is 40, expected 41 as in this context"),
        ({"kernel": 1}, r"kernel\[0\] of other is 3, expected 1 as in this context"),
        ({"activation": "relu"}, "activation of other is 'leaky_relu', expected 'relu' as in this context"),
        ({"src_shape": (24, 9, 9), "layout": "nchw"}, "layout of other is 'nhwc', expected 'nchw' as in this context"),
    ]
    for options, text in cases:
        with pytest.raises(ValueError, match=f"^{text}$"):
            pysimd.Convolution32f(**{**other._arguments, **options}).share_params(other)
    with pytest.raises(
        ValueError, match=r"^other is one of Convolution32f, expected one of Convolution16b as in this context$"
    ):
        pysimd.Convolution16b((9, 9, 24), 40, kernel=3).share_params(other)
    other.close()
    with pytest.raises(pysimd.StateError, match="Convolution32f is closed"):
        context.share_params(other)


def test_another_algorithm() -> None:
    """A 3x3 convolution of a large image by Winograd's algorithm, of a single pixel by another."""
    large = pysimd.Convolution32f((56, 56, 64), 64, kernel=3, padding=1)
    large.set_params(np.ones((3, 3, 64, 64), np.float32))
    one = pysimd.Convolution32f((1, 1, 64), 64, kernel=3, padding=1)
    if large.info == one.info:
        one.share_params(large)
        return
    with pytest.raises(ValueError, match=r"other packs its weights for 'Winograd.*expected as in this context for 'direct"):
        one.share_params(large)
    with pytest.raises(pysimd.StateError, match="no weights"):
        one(np.zeros((1, 1, 64), np.float32))
