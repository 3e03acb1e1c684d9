"""Channel-wise layers on every instruction set against the reference; invalid arguments."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import pytest

import pysimd
from support import Array, assert_refused, assert_same, assert_within, floats, reference

LAYOUTS = ["nchw", "nhwc", "nchw4c", "nchw8c", "nchw16c"]

SHAPES = [
    (1, 1, 1),
    (3, 5, 7),
    (4, 2, 9),
    (8, 3, 3),
    (16, 4, 5),
    (17, 1, 33),
    (64, 7, 7),
    (2, 9, 40),
    (35, 2, 1),
    (70, 1, 3),
]

# The layers with one result: the function, and its coefficients; a number instead of an array is for all channels.
LAYERS: dict[str, tuple[Callable[..., Array], list[str], list[str]]] = {
    "add_bias": (pysimd.add_bias, ["bias"], []),
    "scale": (pysimd.scale, ["scale", "bias"], []),
    "prelu": (pysimd.prelu, ["slope"], []),
    "fused0": (pysimd.fused0, ["bias", "scale"], []),
    "fused1": (pysimd.fused1, ["bias0", "scale1", "bias1"], []),
    "fused2": (pysimd.fused2, ["scale", "bias"], ["slope"]),
    "fused3": (pysimd.fused3, ["slope", "bias"], []),
    "fused8": (pysimd.fused8, ["scale"], []),
}


def lanes_of(layout: Any) -> int:
    return reference.BLOCK.get(layout, 1)


def padded(terms: dict[str, Any], layout: Any) -> dict[str, Any]:
    """Coefficients with the unused lanes of the last block, which are 0."""
    lanes = lanes_of(layout)
    return {k: np.pad(v, (0, -len(v) % lanes)) if isinstance(v, np.ndarray) else v for k, v in terms.items()}


def draw_terms(rng: np.random.Generator, layer: str, channels: int) -> dict[str, Any]:
    _, arrays, numbers = LAYERS[layer]
    terms: dict[str, Any] = {name: floats(rng, channels) for name in arrays}
    terms.update({name: float(floats(rng)) for name in numbers})
    return terms


def images_for(layer: str, *images: Array) -> list[Array]:
    """The sources of the layer."""
    return list(images[: 2 if layer == "fused8" else 1])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("layer", LAYERS)
def test_layer(isa: str, rng: np.random.Generator, layer: str, layout: Any) -> None:
    function = LAYERS[layer][0]
    for channels, height, width in SHAPES:
        image, image1 = floats(rng, channels, height, width), floats(rng, channels, height, width)
        terms = draw_terms(rng, layer, channels)
        expected, bound = reference.channelwise(layer, image, image1, terms)
        sources = [reference.from_chw(x, layout) for x in images_for(layer, image, image1)]
        before = [x.copy() for x in sources]
        full = padded(terms, layout)
        y = function(*sources, **full, layout=layout)
        result = reference.to_chw(y, layout, channels)
        if bound.any():
            assert_within(result, expected, bound)
        else:
            assert_same(result, expected)
        for x, kept in zip(sources, before):
            assert np.array_equal(x, kept)
        for place in range(len(sources)):
            again = [x.copy() for x in sources]
            assert function(*again, **full, layout=layout, out=again[place]) is again[place]
            assert np.array_equal(again[place], y)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("layer", LAYERS)
def test_nan_comes_through(isa: str, rng: np.random.Generator, layer: str, layout: Any) -> None:
    image, image1 = floats(rng, 19, 3, 7), floats(rng, 19, 3, 7)
    image[rng.random(image.shape) < 0.2] = np.nan
    terms = draw_terms(rng, layer, 19)
    expected, _ = reference.channelwise(layer, image, image1, terms)
    sources = [reference.from_chw(x, layout) for x in images_for(layer, image, image1)]
    y = LAYERS[layer][0](*sources, **padded(terms, layout), layout=layout)
    assert np.array_equal(np.isnan(reference.to_chw(y, layout, 19)), np.isnan(expected))
    assert np.isnan(expected).any()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("layer", LAYERS)
def test_batch(rng: np.random.Generator, layer: str, layout: Any) -> None:
    batches = [np.stack([reference.from_chw(floats(rng, 16, 4, 5), layout) for _ in range(3)]) for _ in range(2)]
    sources, terms = images_for(layer, *batches), draw_terms(rng, layer, 16)
    function = LAYERS[layer][0]
    y = function(*sources, **terms, layout=layout)
    assert np.array_equal(y, np.stack([function(*one, **terms, layout=layout) for one in zip(*sources)]))
    assert function(*[x[:0] for x in sources], **terms, layout=layout).shape == (0, *y.shape[1:])


@pytest.mark.parametrize("layout", ["nchw4c", "nchw8c", "nchw16c"])
@pytest.mark.parametrize("layer", LAYERS)
def test_lanes_of_the_last_block_are_treated_alike(rng: np.random.Generator, layer: str, layout: Any) -> None:
    """Through C, since Python treats lanes as channels: 1 channel of a block."""
    lanes = lanes_of(layout)
    sources = images_for(layer, floats(rng, 1, 2, 3, lanes), floats(rng, 1, 2, 3, lanes))
    terms = draw_terms(rng, layer, lanes)
    expected = LAYERS[layer][0](*sources, **terms, layout=layout)
    from pysimd.lowlevel import ffi, lib

    def address(x: Any) -> Any:
        return ffi.from_buffer("float[]", x if isinstance(x, np.ndarray) else np.array([x], np.float32))

    name = {"add_bias": "SimdSynetAddBias", "scale": "SimdSynetScaleLayerForward", "prelu": "SimdSynetPreluLayerForward"}
    function = getattr(lib, name.get(layer, f"SimdSynetFusedLayerForward{layer[-1]}"))
    dst = sources[0].copy()
    form = pysimd.TensorFormat[layout.upper()]
    src = [] if layer == "add_bias" else [address(x) for x in sources]
    arrays = [address(terms[key]) for key in LAYERS[layer][1]]
    numbers = [address(terms[key]) for key in LAYERS[layer][2]]
    function(*src, *arrays, 1, 6, *numbers, address(dst), form)
    assert np.array_equal(dst, expected)


def test_rows_and_empty(rng: np.random.Generator) -> None:
    x, s, b = floats(rng, 6, 10), floats(rng, 10), floats(rng, 10)
    assert np.array_equal(pysimd.add_bias(x, b), x + b)
    assert np.array_equal(pysimd.add_bias(x[0], b), x[0] + b)
    assert np.array_equal(pysimd.scale(x, s), x * s)
    assert pysimd.scale(x[:0], s, b).shape == (0, 10)
    assert pysimd.prelu(x[:, :0], s[:0]).shape == (6, 0)


# ------------------------------------------------------------------------------------------- results of more channels


def test_scale_in_place_without_bias(rng: np.random.Generator) -> None:
    x, factors = floats(rng, 3, 4, 5), floats(rng, 5)
    expected = pysimd.scale(x, factors)
    assert pysimd.scale(x, factors, out=x) is x
    assert x.tobytes() == expected.tobytes()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_fused4(isa: str, rng: np.random.Generator, layout: Any) -> None:
    for channels, height, width in SHAPES:
        channels = -(-channels // lanes_of(layout)) * lanes_of(layout)
        image, bias0 = floats(rng, channels, height, width), floats(rng, channels)
        scale1, bias1 = (float(x) for x in floats(rng, 2))
        expected, bound = reference.fused4(image, bias0, scale1, bias1)
        x = reference.from_chw(image, layout)
        y = pysimd.fused4(x, bias0=bias0, scale1=scale1, bias1=bias1, layout=layout)
        assert_within(reference.to_chw(y, layout, 2 * channels), expected, bound)
        out = np.full_like(y, 7)
        assert pysimd.fused4(x, bias0=bias0, scale1=scale1, bias1=bias1, layout=layout, out=out) is out
        assert np.array_equal(out, y)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_fused9(isa: str, rng: np.random.Generator, layout: Any) -> None:
    for first, second in [(1, 1), (3, 5), (1, 16), (17, 2), (8, 8), (64, 1), (40, 30), (0, 4), (6, 0)]:
        lanes = lanes_of(layout)
        channels0, channels1 = (-(-c // lanes) * lanes for c in (first, second))
        image0, image1 = floats(rng, channels0, 5, 7), floats(rng, channels1, 5, 7)
        scale, bias = floats(rng, channels0 + channels1), floats(rng, channels0 + channels1)
        expected, bound, both = reference.fused9(image0, image1, scale, bias)
        x0, x1 = reference.from_chw(image0, layout), reference.from_chw(image1, layout)
        y = pysimd.fused9(x0, x1, scale=scale, bias=bias, layout=layout)
        assert_within(reference.to_chw(y, layout), expected, bound)
        again, joined = pysimd.fused9(x0, x1, scale=scale, bias=bias, both=True, layout=layout)
        assert np.array_equal(again, y)
        assert_same(reference.to_chw(joined, layout), both)
        out, out1 = np.full_like(y, 7), np.full_like(y, 7)
        pair = pysimd.fused9(x0, x1, scale=scale, bias=bias, layout=layout, out=out, out1=out1)
        assert pair[0] is out
        assert pair[1] is out1
        assert np.array_equal(out, y)
        assert np.array_equal(out1, joined)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_more_channels_nan_and_batch(isa: str, rng: np.random.Generator, layout: Any) -> None:
    images = floats(rng, 2, 2, 16, 3, 5)
    images[rng.random(images.shape) < 0.2] = np.nan
    x0, x1 = (np.stack([reference.from_chw(image, layout) for image in one]) for one in images)
    terms, scale, bias = floats(rng, 16), floats(rng, 32), floats(rng, 32)
    y4 = pysimd.fused4(x0, bias0=terms, scale1=2.0, bias1=1.0, layout=layout)
    y9, joined = pysimd.fused9(x0, x1, scale=scale, bias=bias, both=True, layout=layout)
    for k in range(2):
        expected, bound = reference.fused4(images[0, k], terms, 2.0, 1.0)
        assert_within(reference.to_chw(y4[k], layout), expected, bound)
        expected, bound, both = reference.fused9(images[0, k], images[1, k], scale, bias)
        assert_within(reference.to_chw(y9[k], layout), expected, bound)
        assert_same(reference.to_chw(joined[k], layout), both)


# ------------------------------------------------------------------------------------------------------- arguments


@pytest.mark.parametrize("layer", LAYERS)
def test_refused(layer: str) -> None:
    function, arrays, _ = LAYERS[layer]
    x = np.ones((4, 5, 6), np.float32)
    names = ["x0", "x1"] if layer == "fused8" else ["x"]
    good: dict[str, Any] = {**dict.fromkeys(names, x), **dict.fromkeys(arrays, np.ones(6, np.float32))}
    if layer == "fused2":
        good["slope"] = 0.5
    first = names[0]
    changes: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({first: np.zeros((4, 5, 6))}, TypeError, f"{first} has dtype float64"),
        ({first: np.zeros((4, 5, 12), np.float32)[..., ::2]}, ValueError, f"{first} is not C-contiguous"),
        (dict.fromkeys(names, x[0]) | {"layout": "nchw"}, ValueError, f"{first} has shape"),
        ({"layout": "nchw8c"}, ValueError, f"{first} has shape"),
        ({"layout": "oiyx"}, ValueError, "layout is 'oiyx'"),
    ]
    for name in arrays:
        changes.append(({name: np.zeros(6)}, TypeError, f"{name} has dtype float64"))
        changes.append(({name: np.zeros(5, np.float32)}, ValueError, rf"{name} has shape \(5,\), expected \(6,\)"))
        if (layer, name) != ("scale", "bias"):
            changes.append(({name: None}, TypeError, f"{name} is None"))
    if layer == "fused8":
        changes.append(({"x1": np.ones((4, 6, 6), np.float32)}, ValueError, "x1 has shape"))
    for change, error, sentence in changes:
        assert_refused(function, error, sentence, np.full((4, 5, 6), 7, np.float32), **{**good, **change})
    assert_refused(function, ValueError, "out has shape", np.zeros((5, 4, 6), np.float32), **good)
    both = np.zeros(240, np.float32)
    moved = {**good, first: both[:120].reshape(4, 5, 6)}
    assert_refused(function, ValueError, f"out overlaps {first}", both[60:180].reshape(4, 5, 6), **moved)
    inside = {**good, arrays[0]: both[:6]}
    assert_refused(function, ValueError, f"out overlaps {arrays[0]}", both[:120].reshape(4, 5, 6), **inside)


def test_refused_with_more_channels() -> None:
    x, s, s2 = np.ones((4, 5, 6), np.float32), np.ones(6, np.float32), np.ones(12, np.float32)
    out = np.full((4, 5, 12), 7, np.float32)
    four = {"x": x, "bias0": s, "scale1": 1.0, "bias1": 1.0}
    nine = {"x0": x, "x1": x, "scale": s2, "bias": s2}
    assert_refused(pysimd.fused4, ValueError, "bias0 has shape", out, **{**four, "bias0": s2})
    assert_refused(pysimd.fused4, TypeError, ".", out, **{**four, "scale1": s})
    assert_refused(pysimd.fused4, ValueError, "out has shape", np.zeros((4, 5, 6), np.float32), **four)
    assert_refused(pysimd.fused9, ValueError, "scale has shape", out, **{**nine, "scale": s})
    assert_refused(pysimd.fused9, ValueError, "x1 has shape", out, **{**nine, "x1": x.reshape(5, 4, 6)})
    assert_refused(pysimd.fused9, ValueError, "out1 overlaps out", out, **nine, out1=out)
    assert_refused(pysimd.fused9, ValueError, "out1 has shape", np.zeros((4, 5, 12), np.float32), **nine, out1=x)
    with pytest.raises(TypeError):
        pysimd.fused3(x, s, s)  # type: ignore[call-arg]
