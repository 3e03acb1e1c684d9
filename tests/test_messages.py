"""Messages use Python's names of arguments and state the remedy: all functions are called with wrong arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Callable

import numpy as np
import pytest

import pysimd
from support import REFUSALS, Array, floats, samples
from support.samples import at, places, replaced

F32 = np.float32
DOUBLES: Any = np.ones(3)
SEED = 3
NAMES = [name for name in samples.calls(np.random.default_rng(SEED)) if not name.endswith("iterator")]
CLASSES = list(samples.contexts(np.random.default_rng(SEED)))

# Words that no message in Python may contain: names of the library, its element types, its enumerators.
C_NAMES = re.compile(
    r"Simd|\bNULL\b|(src|dst)[A-Z]\w*\b|(kernel|stride|dilation|pad)[YXHW]\b|SetParams|\bconv\b|\bld[abc]\b"
    r"|\b[abc](Shape|Count|Type|Scale|Shift|Data)\b|\b(32f|16b|8u|8i)\b|cffi|cdata|ctype|size_t|enumerator|real number"
    r"|interpret|NoneType' object"
)


def wrong_arrays(array: Array) -> Iterator[tuple[Any, type[Exception]]]:
    """Arrays that do not fit, and other objects."""
    yield array.astype(np.float64), TypeError
    yield array.astype(np.int64), TypeError
    yield array.tolist(), TypeError
    yield None, Exception
    yield "text", Exception
    yield np.ma.masked_array(array, np.ones(array.shape, bool)), ValueError
    yield np.zeros((2, *array.shape, 2), array.dtype), ValueError
    if array.size > 1:
        yield np.repeat(array, 2, axis=-1)[..., ::2], ValueError
        yield array.ravel()[:-1], ValueError


def wrong_numbers() -> Iterator[Any]:
    yield from (-1, 0, 2**62, 2**70, 1.5, "nothing", None, (1, 2, 3), object())


def raised(call: Callable[..., Any], *args: Any, **options: Any) -> str | None:
    """The message of a call if it raises."""
    try:
        call(*args, **options)
    except (TypeError, ValueError, MemoryError, OverflowError) as error:
        return str(error)
    return None


def read(text: str | None, kind: str) -> None:
    if text is not None:
        REFUSALS[kind] += 1
        assert text
        assert not C_NAMES.search(text), text


@pytest.mark.parametrize("name", NAMES)
def test_arrays_of_functions(name: str) -> None:
    function, *given = samples.calls(np.random.default_rng(SEED))[name]
    arguments: Any = given
    for place in places(arguments):
        for wrong, error in wrong_arrays(at(arguments, place)):
            args, kwargs = replaced(arguments, place, wrong)
            text = raised(function, *args, **kwargs)
            read(text, "array")
            if error is TypeError and text is not None:
                assert re.search("use (np|pysimd|[ab]|\\w+(\\[\\d\\])?)[.]|use c=", text), text


@pytest.mark.parametrize("name", NAMES)
def test_options_of_functions(name: str) -> None:
    function, args, kwargs = samples.calls(np.random.default_rng(SEED))[name]
    for option in {*kwargs, "out", "layout"}:
        for wrong in wrong_numbers():
            read(raised(function, *args, **{**kwargs, option: wrong}), "option")


@pytest.mark.parametrize("name", CLASSES)
def test_arguments_of_contexts(name: str, rng: np.random.Generator) -> None:
    context, arrays = samples.contexts(rng)[name]
    for argument in context._arguments:
        for wrong in (*wrong_numbers(), 2**60, 2**63 - 1, (2**40, 2**40, 2**40), [1] * 7):
            read(raised(type(context), **{**context._arguments, argument: wrong}), "context")
    for i, array in enumerate(arrays):
        for wrong, _ in wrong_arrays(array):
            read(raised(context.forward, *[wrong if i == j else x for j, x in enumerate(arrays)]), "array")
    weights: Any = context._weights()
    for place in places(weights):
        for wrong, _ in wrong_arrays(at(weights, place)):
            changed = replaced(weights, place, wrong)
            read(raised(context.set_params, *changed), "array")  # type: ignore[attr-defined]
    if weights is not None:
        bare = type(context)(**context._arguments)
        text = raised(bare.forward, *arrays)
        assert text == "the context has no weights yet: call set_params() first"


def test_stages() -> None:
    stage = pysimd.ConvolutionStage
    good = {"kernel": 1, "dst_c": 8, "stride": 1, "padding": 0}
    for field in good:
        for wrong in (*wrong_numbers(), 2**60):
            stages: Any = [stage(**{**good, field: wrong}), stage(3, padding=1), stage(1, 4)]
            read(raised(pysimd.MergedConvolution32f, (5, 5, 4), stages), "context")


UNTYPED: Any = pysimd  # type checkers refuse some of these calls
IMAGE: Any = np.ones((8, 8, 3), F32)
WEIGHT: Any = np.ones((3, 3, 3, 4), F32)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: UNTYPED.relu(None), "x is None, expected a numpy.ndarray$"),  # np.asarray(None, np.float32) is NaN
        (lambda: UNTYPED.relu("picture.png"), "x is a str, expected a numpy.ndarray$"),
        (lambda: UNTYPED.relu([1.0]), r"x is a list, .*: use np.array\(x, np.float32\)$"),
        (lambda: UNTYPED.convolution(IMAGE[0], WEIGHT), r"x has shape \(8, 3\), expected \(H, W, C\) .*'nhwc'"),
        (lambda: UNTYPED.deconvolution(IMAGE[0, 0], WEIGHT), r"x has shape \(3,\)"),
        (lambda: UNTYPED.Convolution32f((8, 8), 4, kernel=3), r"src_shape is \(8, 8\), expected"),
        (
            lambda: UNTYPED.Convolution32f(IMAGE, 4, kernel=3),
            r"src_shape is an array of shape \(8, 8, 3\), expected a tuple",
        ),
        (
            lambda: pysimd.convolution(IMAGE, WEIGHT[:, :, :2].copy()),
            r"\(3, 3, 3, 4\): \(kernel_y, .*'nhwc' and images of .*\b8, 3",
        ),
        (lambda: UNTYPED.eltwise(IMAGE, IMAGE), r"operation is an array of shape \(8, 8, 3\), expected 'product'"),
        (lambda: UNTYPED.prepare(UNTYPED.relu(IMAGE)), "function is an array of shape"),
        (lambda: UNTYPED.pooling_max(IMAGE, kernel=[2] * 999), r"kernel is \[2, .{90,100}\.\.\., expected"),
        (lambda: UNTYPED.set_num_threads(1.5), "number is 1.5, expected an integer"),
        (lambda: UNTYPED.set_max_isa("avx1024"), "name is 'avx1024', expected None or an instruction set, .* has base"),
        (lambda: UNTYPED.dequantize(IMAGE, UNTYPED.statistics(IMAGE)), r"use pysimd.quantize\(x, stats\)"),
        (lambda: UNTYPED.set_input(IMAGE, pixel_format="rgb24"), r"use image.astype\(np.uint8\)"),
    ],
)
def test_mistakes(call: Callable[[], Any], text: str) -> None:
    with pytest.raises((TypeError, ValueError)) as error:
        call()
    assert re.search(text, str(error.value)), error.value


def test_the_patterns_find_names_of_c() -> None:
    """In the library's own messages, from which messages in Python could copy them."""
    pysimd.lowlevel.SimdSynetRelu32f(pysimd.lowlevel.ffi.NULL, 1, pysimd.lowlevel.ffi.NULL, pysimd.lowlevel.ffi.NULL)
    text = pysimd.lowlevel.ffi.string(pysimd.lowlevel.SimdnetLastError()).decode()
    assert C_NAMES.search(text)
    for word in ("srcC is 3", "kernelY is 2", "SetParams has not been called", "padH is 1, too large"):
        assert C_NAMES.search(word)


def test_wrong_options_name_the_context(rng: np.random.Generator) -> None:
    """Not the base class that finds them."""
    for context, _ in samples.contexts(rng).values():
        kind: Any = type(context)
        with pytest.raises(TypeError, match=rf"^{kind.__name__}\(\) got an unexpected keyword argument 'wrong'$"):
            kind(**context._arguments, wrong=1)
        with pytest.raises(TypeError, match=rf"^{kind.__name__}\(\) missing \d required .*argument"):
            kind()


def test_remedy_for_weights_of_the_other_layout() -> None:
    """It names the layout that they have, and turns them into those that are expected."""
    cases: list[tuple[Any, tuple[int, ...], dict[str, Any], tuple[int, ...], str]] = [
        (pysimd.Convolution32f, (8, 8, 3), {"kernel": 3}, (16, 3, 3, 3), "nchw"),
        (pysimd.Convolution32f, (4, 8, 8), {"kernel": (2, 3), "group": 2, "layout": "nchw"}, (2, 3, 2, 16), "nhwc"),
        (pysimd.Convolution32f, (8, 3), {"kernel": 5, "layout": "nwc"}, (16, 3, 5), "ncw"),
        (pysimd.Convolution16b, (8, 8, 3), {"kernel": 3}, (16, 3, 3, 3), "nchw"),
        (pysimd.Deconvolution32f, (8, 8, 3), {"kernel": (2, 4)}, (3, 16, 2, 4), "nchw"),
        (pysimd.Deconvolution32f, (3, 8, 8), {"kernel": (2, 4), "layout": "nchw"}, (3, 2, 4, 16), "nhwc"),
    ]
    for kind, shape, options, given, layout in cases:
        context, weight = kind(shape, 16, **options), np.zeros(given, F32)
        text = str(raised(context.set_params, weight))
        remedy = text.split(f"; weight fits layout='{layout}': for '{options.get('layout', 'nhwc')}' use ")[1]
        turned = eval(remedy, {"np": np, "weight": weight})
        assert turned.shape == context.weight_shape and turned.flags.c_contiguous
    assert "weight fits" not in str(
        raised(pysimd.Convolution32f((8, 8, 3), 16, kernel=3).set_params, np.zeros((16, 3, 3, 2), F32))
    )


def test_weights_of_the_other_layout_in_a_function() -> None:
    """Their output channels are taken for the height of the kernel, so what is wrong is told from the input channels."""
    x = np.ones((80, 40, 32), F32)
    for weight, options in (((64, 32, 3, 3), {}), ((64, 16, 3, 3), {"group": 2})):
        text = str(raised(UNTYPED.convolution, x, np.zeros(weight, F32), **options))
        assert text.startswith(
            f"weight has shape {weight}, expected (kernel_y, kernel_x, C / group, dst_c) for layout 'nhwc'"
        )
        assert text.endswith("weight fits layout='nchw': for 'nhwc' use np.ascontiguousarray(weight.transpose(2, 3, 1, 0))")
    # Of three channels, they could be those of a large kernel: the message is that of the kernel.
    text = str(raised(UNTYPED.convolution, x[:8, :8, :3].copy(), np.zeros((16, 3, 3, 3), F32)))
    assert text.startswith(
        "kernel is 16, expected at most the padded height 8 + 0 + 0; weight fits layout='nchw': for 'nhwc'"
    )
    assert "fits" not in str(raised(UNTYPED.convolution, x[:2, :8, :3].copy(), np.zeros((3, 3, 3, 4), F32)))


REMEDIES: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: pysimd.relu(DOUBLES), TypeError, "x has dtype float64, expected float32: use x.astype(np.float32)"),
    (lambda: pysimd.relu([1.0]), TypeError, "x is a list, expected a numpy.ndarray: use np.array(x, np.float32)"),  # type: ignore[arg-type]
    (
        lambda: pysimd.select([True], 1, 0),  # type: ignore[arg-type]
        TypeError,
        "condition is a list, expected a numpy.ndarray: use np.array(condition, bool)",
    ),
    (
        lambda: pysimd.relu(np.ones((2, 4), F32)[:, ::2]),
        ValueError,
        "x is not C-contiguous: use np.ascontiguousarray(x)",
    ),
    (
        lambda: pysimd.add(np.ones((2, 4), F32).T, np.ones((4, 2), F32), dtype="bfloat16"),
        ValueError,
        "a is not C-contiguous: use np.ascontiguousarray(a)",
    ),
    (
        lambda: pysimd.relu(np.ones(3, F32), out=DOUBLES),
        TypeError,
        "out has dtype float64, expected float32: use np.empty((3,), np.float32)",
    ),
    (
        lambda: pysimd.relu(np.ones(3, F32), out=np.ones(4, F32)),
        ValueError,
        "out has shape (4,), expected (3,): use np.empty((3,), np.float32)",
    ),
    (
        lambda: pysimd.from_bfloat16(np.ones(3, F32)),
        TypeError,
        "x has dtype float32, expected bfloat16 (as uint16 or ml_dtypes.bfloat16): use pysimd.to_bfloat16(x)",
    ),
    (
        lambda: pysimd.dequantize(np.ones((2, 2), np.int8), pysimd.statistics(np.ones((2, 2), F32))),
        TypeError,
        "x has dtype int8, expected uint8: use x.astype(np.uint8)",
    ),
    (
        lambda: pysimd.deconvolution(np.ones((3, 3, 5), F32), np.ones((5, 2, 2, 6), F32), group=2),
        ValueError,
        "group is 2, expected a divisor of 5 input and 12 output channels",
    ),
    (
        lambda: pysimd.Convolution32f((2**20, 2**20, 2**20), 2**20, kernel=1),
        ValueError,
        "a convolution of batch 1 describes an array that is too large",
    ),
]


@pytest.mark.parametrize(("call", "error", "sentence"), REMEDIES, ids=[sentence[:40] for _, _, sentence in REMEDIES])
def test_remedies(call: Callable[[], Any], error: type[Exception], sentence: str) -> None:
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == sentence


def test_remedies_help() -> None:
    """The remedies that some messages suggest work."""
    x = np.arange(8.0).reshape(2, 4)
    assert pysimd.relu(x.astype(np.float32)).shape == (2, 4)
    assert pysimd.relu(np.ascontiguousarray(floats(np.random.default_rng(0), 4, 4)[:, ::2])).shape == (4, 2)
    assert pysimd.relu(np.array([1.0], np.float32)).tolist() == [1]
