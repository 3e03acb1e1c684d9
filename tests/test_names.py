"""Names of arguments: one per concept, in functions and activations of convolutions; old names are deprecated."""

from __future__ import annotations

import ast
import inspect
import re
import warnings
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest

import pysimd
from support import Array, floats, samples

F32 = np.float32


# ---------------------------------------------------------------------------------------------------- old names


def _stages() -> list[pysimd.ConvolutionStage]:
    return [pysimd.ConvolutionStage(1, 8), pysimd.ConvolutionStage(3, padding=1), pysimd.ConvolutionStage(1, 4)]


X, TERMS = np.ones((2, 3), F32), np.arange(3, dtype=F32)
BLOCKS = np.ones((2, 3, 3, 4, 8), F32)

# Function, its other arguments, old name, new name, value.
OLD: list[tuple[Callable[..., Any], dict[str, Any], str, str, Any]] = [
    (pysimd.fused3, {"x": X, "bias": TERMS}, "scale", "slope", TERMS),
    (pysimd.fused8, {"x0": X, "x1": X}, "src2", "scale", TERMS),
    (pysimd.convert_filter, {"weight": BLOCKS, "src_layout": "oyxi8o", "dst_layout": "oiyx"}, "outputs", "dst_c", 13),
    (pysimd.MergedConvolution32f, {"src_shape": (5, 5, 4), "stages": _stages()}, "add", "residual", True),
]


@pytest.mark.parametrize(("function", "arguments", "old", "new", "value"), OLD)
def test_old_names_warn_and_work(
    function: Callable[..., Any], arguments: dict[str, Any], old: str, new: str, value: Any
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        expected = function(**arguments, **{new: value})
    with pytest.warns(DeprecationWarning, match=f"the argument {old} of .* is called {new} now") as caught:
        actual = function(**arguments, **{old: value})
    assert [warning.filename for warning in caught] == [__file__]
    if isinstance(actual, np.ndarray):
        assert actual.tobytes() == expected.tobytes()
    else:
        assert actual._arguments == expected._arguments
    with pytest.raises(TypeError, match=f"{old} is the old name of {new}"):
        function(**arguments, **{old: value, new: value})
    assert old not in inspect.signature(function).parameters


# -------------------------------------------------------------------------------------------------- activations

# The function equal to each activation; identity has none.
FUNCTIONS: dict[str, Callable[..., Array]] = {
    name: getattr(pysimd, name)
    for name in (
        *("relu", "relu6", "leaky_relu", "restrict_range", "prelu", "elu", "hswish", "hardswish", "mish"),
        *("hard_sigmoid", "hardsigmoid", "swish", "silu", "gelu", "sigmoid"),
    )
}
#: Parameters other than the defaults, by name.
GIVEN: dict[str, dict[str, float]] = {
    "leaky_relu": {"slope": 0.25},
    "restrict_range": {"lower": -1, "upper": 2},
    "prelu": {"slope": 0.5},
    "elu": {"alpha": 1.5},
    "hswish": {"shift": 2, "scale": 0.25},
    "hardswish": {"shift": 2, "scale": 0.25},
    "mish": {"threshold": 1},
    "hard_sigmoid": {"scale": 0.25, "shift": 0.75},
    "silu": {"slope": 0.5},
}


def convolved(x: Array, activation: Any, params: Any) -> Array:
    """A convolution whose only effect is its activation."""
    channels = x.shape[-1]
    weight = np.eye(channels, dtype=F32).reshape(1, 1, channels, channels)
    return pysimd.convolution(x, weight, activation=activation, params=params)


@pytest.fixture
def x(rng: np.random.Generator) -> Array:
    return 4 * rng.standard_normal((5, 6, 7)).astype(F32)


def test_every_activation_of_the_library_has_a_function() -> None:
    assert {kind.name.lower() for kind in pysimd.Activation} <= {*FUNCTIONS, "identity"}


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name != "prelu"])
def test_defaults_of_activations_are_those_of_functions(name: str, x: Array) -> None:
    np.testing.assert_allclose(convolved(x, name, None), FUNCTIONS[name](x), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", GIVEN)
def test_parameters_of_activations_are_those_of_functions(name: str, x: Array) -> None:
    expected = FUNCTIONS[name](x, **GIVEN[name])
    numbers = list(GIVEN[name].values())
    for params in (GIVEN[name], numbers, tuple(numbers), np.array(numbers, F32)):
        np.testing.assert_allclose(convolved(x, name, params), expected, rtol=1e-6, atol=1e-7)
    assert list(GIVEN[name]) == [p for p in inspect.signature(FUNCTIONS[name]).parameters if p not in ("x", "layout", "out")]


def test_open_ends(x: Array) -> None:
    for lower, upper in ((None, 1), (-1, None), (None, None), (-np.inf, np.inf)):
        expected = np.clip(x, -np.inf if lower is None else lower, np.inf if upper is None else upper)
        np.testing.assert_array_equal(pysimd.restrict_range(x, lower, upper), expected)
        np.testing.assert_array_equal(convolved(x, "restrict_range", {"lower": lower, "upper": upper}), expected)
        np.testing.assert_array_equal(convolved(x, "restrict_range", [lower, upper]), expected)
    np.testing.assert_array_equal(convolved(x, "restrict_range", {"upper": 1}), np.minimum(x, 1))


def test_wrong_parameters(x: Array) -> None:
    wrong: list[tuple[Any, Any, str]] = [
        ("relu6", 6.0, "params is 6.0, expected None: the activation relu6 has no parameters"),
        ("relu", {"slope": 1}, "params has 'slope', expected no parameters for the activation relu"),
        ("elu", {"slope": 1}, "params has 'slope', expected alpha for the activation elu"),
        ("hswish", [1.0], r"params has shape \(1,\), expected \(2,\): the shift and scale of hswish"),
        ("elu", object(), "params is <object .*, expected numbers"),
        ("prelu", None, "params is None, expected 7 numbers for prelu, or one for all channels"),
        ("prelu", [1.0, 2.0], r"params has shape \(2,\), expected \(7,\)"),
        ("tanhshrink", None, "activation is 'tanhshrink', expected one of identity, relu, relu6, leaky_relu"),
    ]
    for activation, params, sentence in wrong:
        with pytest.raises((TypeError, ValueError), match=sentence):
            convolved(x, activation, params)


# ------------------------------------------------------------------------------------------------- coefficients

# The coefficients of each function, and for how many channels more than those of `x`.
COEFFICIENTS: dict[str, list[str]] = {
    "add_bias": ["bias"],
    "scale": ["scale", "bias"],
    "prelu": ["slope"],
    "fused0": ["bias", "scale"],
    "fused1": ["bias0", "scale1", "bias1"],
    "fused2": ["scale", "bias"],
    "fused3": ["slope", "bias"],
    "fused4": ["bias0"],
    "fused8": ["scale"],
    "fused9": ["scale", "bias"],
}


def _called(name: str, rng: np.random.Generator, layout: Any, change: Callable[[Array], Any]) -> Array:
    """The result with coefficients in another form."""
    shape = (3, 4, 5, 8) if layout == "nhwc" else (3, 8, 4, 5)
    sources = {"fused8": ["x0", "x1"], "fused9": ["x0", "x1"]}.get(name, ["x"])
    channels = 16 if name == "fused9" else 8
    extra = {"fused2": {"slope": 0.5}, "fused4": {"scale1": 2.0, "bias1": 1.0}}.get(name, {})
    arrays = {source: floats(rng, *shape) for source in sources}
    terms = {term: change(floats(rng, channels)) for term in COEFFICIENTS[name]}
    result: Array = getattr(pysimd, name)(**arrays, **terms, **extra, layout=layout)
    return result


@pytest.mark.parametrize("layout", ["nhwc", "nchw"])
@pytest.mark.parametrize("name", COEFFICIENTS)
def test_forms_of_coefficients(name: str, layout: Any) -> None:
    def bits(change: Callable[[Array], Any]) -> bytes:
        return _called(name, np.random.default_rng(5), layout, change).tobytes()

    expected = bits(lambda c: c)
    assert bits(lambda c: c.reshape(-1, 1, 1)) == expected
    assert bits(lambda c: c.reshape(1, -1, 1, 1)) == expected
    first = bits(lambda c: np.full_like(c, c[0]))
    assert bits(lambda c: float(c[0])) == first != expected
    assert bits(lambda c: c[0]) == first
    for wrong in (lambda c: c.reshape(1, -1), lambda c: c.reshape(1, 1, -1), lambda c: c[:2]):
        with pytest.raises(ValueError, match="has shape"):
            bits(wrong)


@pytest.mark.parametrize("name", ["prelu", "fused3"])
def test_a_shared_slope(name: str) -> None:
    x = np.array([[-1, 2, -3]], F32)
    more: dict[str, Any] = {"bias": 0} if name == "fused3" else {}
    for slope in (0.5, np.array([0.5], F32), np.array(0.5, F32)):
        np.testing.assert_array_equal(getattr(pysimd, name)(x, slope=slope, **more), [[-0.5, 2, -1.5]])
    with pytest.raises(ValueError, match=r"bias has shape \(1,\), expected \(3,\)"):
        pysimd.add_bias(x, np.ones(1, F32))


def test_forms_of_a_bias(rng: np.random.Generator) -> None:
    x, weight, bias = floats(rng, 5, 6, 3), floats(rng, 3, 3, 3, 4), floats(rng, 4)
    expected = pysimd.convolution(x, weight, bias)
    assert np.array_equal(pysimd.convolution(x, weight, bias.reshape(1, 4, 1, 1)), expected)
    assert np.array_equal(pysimd.convolution(x, weight, 2), pysimd.convolution(x, weight, np.full(4, 2, F32)))
    vector, matrix = floats(rng, 5), floats(rng, 4, 5)
    assert np.array_equal(pysimd.inner_product(vector, matrix, 1), pysimd.inner_product(vector, matrix, np.ones(4, F32)))


# ------------------------------------------------------------------------------------------------------- others


def test_operations_have_the_names_of_functions(x: Array) -> None:
    for name in ("absolute", "negative", "exp", "tanh"):
        assert pysimd.unary(x, name).tobytes() == getattr(pysimd, name)(x).tobytes()


def test_add_of_a_single_call(rng: np.random.Generator) -> None:
    x, weight = floats(rng, 5, 6, 4), floats(rng, 3, 3, 4, 4)
    context = pysimd.Convolution32f(x.shape, 4, kernel=3, padding=1, activation="relu")
    context.set_params(weight)
    assert np.array_equal(pysimd.convolution(x, weight, padding=1, activation="relu", add=x), context(x, add=x))


@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("transpose_b", [False, True])
def test_gemm_as_in_onnx(transpose_a: bool, transpose_b: bool, rng: np.random.Generator) -> None:
    a, b = floats(rng, 5, 6), floats(rng, 6, 7)
    product = pysimd.gemm(a, b)
    given: dict[str, Any] = {"a": a.T.copy() if transpose_a else a, "b": b.T.copy() if transpose_b else b}
    options: dict[str, Any] = {"transpose_a": transpose_a, "transpose_b": transpose_b}
    for shape in ((5, 7), (7,), (5, 1), (1, 1)):
        c = floats(rng, *shape)
        np.testing.assert_allclose(pysimd.gemm(**given, c=c, **options), product + c, rtol=1e-4, atol=1e-4)
        y = pysimd.gemm(**given, c=c, alpha=0.5, beta=-2, **options)
        np.testing.assert_allclose(y, product / 2 - 2 * c, rtol=1e-4, atol=1e-4)
    out = floats(rng, 5, 7)
    expected = product + out
    assert pysimd.gemm(**given, c=out, out=out, **options) is out
    np.testing.assert_allclose(out, expected, rtol=1e-4, atol=1e-4)


def test_a_prepared_gemm_reads_all_arrays_again(rng: np.random.Generator) -> None:
    a, b, c = floats(rng, 6, 5), floats(rng, 6, 7), floats(rng, 7)
    call = pysimd.prepare(pysimd.gemm, a, b, c=c, transpose_a=True)
    for array in (a, b, c):
        array *= 2
        assert call().tobytes() == pysimd.gemm(a, b, c=c, transpose_a=True).tobytes()


def test_context_arguments_are_explicit() -> None:
    for cls in (pysimd.Convolution32f, pysimd.Convolution8i, pysimd.Convolution16b, pysimd.Deconvolution32f):
        kinds = {parameter.kind for parameter in inspect.signature(cls).parameters.values()}
        assert inspect.Parameter.VAR_KEYWORD not in kinds
        with pytest.raises(TypeError, match="kernal"):
            cls((4, 4, 2), 3, kernal=3)  # type: ignore[call-arg]


@pytest.mark.parametrize("name", list(samples.contexts(np.random.default_rng(0))))
def test_repr_of_contexts(name: str, rng: np.random.Generator) -> None:
    context, arrays = samples.contexts(rng)[name]
    shown = repr(context)
    shapes = [context.shape] if hasattr(context, "shape") else [context.src_shape, context.dst_shape]  # type: ignore[attr-defined]
    for part in (name, context.info, *map(str, shapes)):
        assert part in shown
    if context._weights() is not None:
        assert shown.endswith(" bytes>")
        assert repr(type(context)(**context._arguments)).endswith(", no weights yet>")
    prepared = context.prepare(*arrays)
    assert shown in repr(prepared)
    assert str(prepared.result.shape) in repr(prepared)


def test_completion_offers_the_public_names() -> None:
    assert set(dir(pysimd)) == set(pysimd.__all__)


def test_private_members_are_used_where_they_are_defined() -> None:
    """Elsewhere in the package only by subclasses, as members of ``self``."""
    strangers = []
    for path in sorted(Path(pysimd.__file__).parent.rglob("*.py")):
        nodes = [*ast.walk(ast.parse(path.read_text()))]
        used = [node for node in nodes if isinstance(node, ast.Attribute) and re.match("_[a-z]", node.attr)]
        own = {node.attr for node in used if isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")}
        own |= {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
        own |= {node.target.id for node in nodes if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)}
        own.add("_replace")  # of a NamedTuple, which is public
        strangers += [f"{path.name}:{node.lineno}: {ast.unparse(node)}" for node in used if node.attr not in own]
    assert strangers == []
