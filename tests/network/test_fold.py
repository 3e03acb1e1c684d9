"""Operators of known inputs by NumPy: the cases of the ONNX backend, and inputs that files with faults have."""

from __future__ import annotations

import time
import tracemalloc
from collections import Counter
from typing import Any

import numpy as np
import pytest

import pysimd
from pysimd.network.convert.fold import FOLDS, evaluate
from pysimd.network.convert.fold_node import DTYPES
from pysimd.network.convert.result_shapes import result_shapes
from pysimd.network.source import SourceNode

INT64 = np.int64


def folded(op: str, *inputs: Any, opset: int = 17, outputs: int = 1, **attributes: Any) -> Any:
    """The outputs of an operator, one as it is."""
    node = SourceNode(op, ("",) * len(inputs), ("y",) * outputs, attributes)
    found = evaluate(node, [None if each is None else np.asarray(each) for each in inputs], opset)
    assert found is not None
    return found[0] if outputs == 1 else found


def test_rows_of_an_array_at_any_address() -> None:
    """Of a file, whose arrays may begin anywhere: the array is not copied."""
    x = np.arange(1 + 4 * 250_000, dtype=np.uint8)[1:].view(np.float32).reshape(500, 500)
    indices = np.array([[7, -1]])
    tracemalloc.start()
    rows = folded("Gather", x, indices)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert rows.tobytes() == np.array([[x[7], x[-1]]]).tobytes() and most < x.nbytes / 4
    assert folded("Gather", x, indices, axis=1).tobytes() == x[:, [[7, -1]]].tobytes()


def test_unknown_operators_are_none() -> None:
    for node in (SourceNode("Conv", ("x",), ("y",)), SourceNode("Add", ("a", "b"), ("y",), domain="own")):
        assert evaluate(node, [np.ones(1), np.ones(1)], 17) is None


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("dtype", "mean"), [("float32", np.nan), ("float64", np.nan), ("int64", 0)])
def test_mean_of_no_elements(dtype: str, mean: float) -> None:
    np.testing.assert_array_equal(
        folded("ReduceMean", np.ones((2, 0), dtype), axes=[1], keepdims=0), np.array([mean] * 2, dtype)
    )


def test_transforms_of_signals_of_two_dimensions() -> None:
    """Those of real numbers, as exporters write them."""
    signal, window = np.random.default_rng(1).normal(0, 1, (2, 40)).astype(np.float32), np.hanning(16).astype(np.float32)
    found = folded("STFT", signal, np.array(8), window)
    assert found.shape == (2, 4, 9, 2)
    assert found.tobytes() == folded("STFT", signal[..., None], np.array(8), window).tobytes()
    frame = np.fft.rfft(signal[1, 8:24] * window.astype(np.float64))
    np.testing.assert_allclose(found[1, 1, :, 0] + 1j * found[1, 1, :, 1], frame, rtol=0, atol=1e-5)


# ---- the cases of the ONNX backend


def known(value: Any) -> bool:
    """Whether NumPy has the type."""
    return isinstance(value, np.ndarray) and value.dtype.name in DTYPES.values()


def assert_folds(case: Any) -> int:
    """Computes a case by NumPy alone, if it can be; how many of its nodes were computed."""
    from pysimd.network import onnx_reader

    source = onnx_reader.read(case.model)
    values = dict(zip([value.name for value in source.inputs], case.inputs)) | dict(source.weights)
    for node in source.nodes:
        results = evaluate(node, [values[name] if name else None for name in node.inputs], source.opset)
        if results is None:
            return 0
        values.update(zip(node.outputs, results))
    for value, expected in zip(source.outputs, case.outputs):
        close = 1e-2 if expected.dtype == np.float16 else 1e-4 if case.name.startswith("roialign") else 1e-5
        if case.name == "dequantizelinear_e4m3fn_float16":  # whose scale is float32 in a graph
            expected = expected.astype(np.float32)
        np.testing.assert_allclose(values[value.name], expected, close, close, strict=True, err_msg=case.name)
    return len(source.nodes)


def test_node_cases() -> None:
    pytest.importorskip("onnx", "1.23", reason="onnx, which has the cases, is not installed, or is older than they are")
    from network.onnx_suite import cases

    computed: Counter[str] = Counter()
    wrong = []
    for case in cases("node"):
        versions = [each.version for each in case.model.opset_import if each.domain == ""]
        if not versions or versions[0] < 7 or not all(map(known, (*case.inputs, *case.outputs))):
            continue
        try:
            if assert_folds(case):
                computed[case.last_operator] += 1
        except (ValueError, AssertionError) as error:
            wrong.append((case.name, f"{error}".strip().splitlines()[0]))
    assert dict(wrong) == REFUSED
    assert sum(computed.values()) >= 400 and len(computed) >= 75, computed


#: Cases that are refused, and why.
REFUSED = {
    "maxunpool_export_with_output_shape": "output_shape is [1, 1, 5, 5], supported is [1, 1, 4, 4]",
    "training_dropout": "training_mode is true",
    "training_dropout_default": "training_mode is true",
    "training_dropout_default_mask": "training_mode is true",
    "training_dropout_mask": "training_mode is true",
    "training_dropout_zero_ratio": "training_mode is true",
    "training_dropout_zero_ratio_mask": "training_mode is true",
}

# ---- what the cases do not have


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
def test_integers_are_divided_toward_zero(dtype: str) -> None:
    a, b = np.array([7, -7, 7, -7, 0], dtype), np.array([2, 2, -2, -2, 5], dtype)
    np.testing.assert_array_equal(folded("Div", a, b), np.array([3, -3, -3, 3, 0], dtype), strict=True)


def test_attributes_of_older_versions() -> None:
    x = np.arange(6, dtype=np.float32).reshape(1, 2, 3)
    assert folded("Squeeze", x, axes=[0], opset=11).shape == (2, 3)
    assert folded("Unsqueeze", x, axes=[0, -1], opset=11).shape == (1, 1, 2, 3, 1)
    assert folded("ReduceSum", x, axes=[1], keepdims=0, opset=11).shape == (1, 3)
    assert [each.shape for each in folded("Split", x, outputs=2, axis=2, split=[1, 2], opset=11)] == [(1, 2, 1), (1, 2, 2)]
    np.testing.assert_array_equal(folded("Slice", x, starts=[1], ends=[9], axes=[2], opset=9), x[:, :, 1:])
    np.testing.assert_array_equal(folded("Clip", x, min=1.0, max=4.0, opset=10), x.clip(1, 4))
    np.testing.assert_array_equal(folded("Pad", x, pads=[0, 0, 1, 0, 0, 0], value=2.0, opset=10)[0, :, 0], [2, 2])


def test_backward_slices_from_before_the_first_element() -> None:
    """They begin at the first one, whether the array is known or not; Python's have no elements then."""
    assert folded("Slice", np.arange(5), [-9], [-99], [0], [-1]).tolist() == [0]
    assert folded("Slice", np.arange(5), [-9], [-99], [-1], [-2]).tolist() == [0]
    assert folded("Slice", np.arange(5), [9], [-3], [0], [-1]).tolist() == [4, 3]
    assert folded("Slice", np.arange(0), [-9], [-99], [0], [-1]).tolist() == []


def test_gather_elements_takes_fewer_than_there_are() -> None:
    x = np.arange(12).reshape(3, 4)
    assert folded("GatherElements", x, [[3, -1, 0], [1, 2, -4]], axis=1).tolist() == [[3, 3, 0], [5, 6, 4]]
    assert folded("GatherElements", x, [[2, -1], [0, 0]]).tolist() == [[8, 9], [0, 1]]


LARGE = np.array([2**53, 2**53 + 1, -(2**63), 2**63 - 1, 2**53 + 1])


@pytest.mark.parametrize(
    ("x", "largest", "places"),
    [
        (LARGE, 1, [3, 1, 4, 0, 2]),
        (LARGE, 0, [2, 0, 1, 4, 3]),
        (np.array([1, 2**64 - 1, 2**64 - 2], np.uint64), 1, [1, 2, 0]),
        (np.array([1, np.nan, 3, 3, -np.inf], np.float32), 1, [1, 2, 3, 0, 4]),  # as pysimd.top_k
        (np.array([1, np.nan, 3, 3, -np.inf], np.float32), 0, [4, 0, 2, 3, 1]),
    ],
)
def test_top_k_compares_elements_as_they_are(x: Any, largest: int, places: list[int]) -> None:
    values, indices = folded("TopK", x, [len(x)], outputs=2, largest=largest)
    assert indices.tolist() == places
    np.testing.assert_array_equal(values, x[places], strict=True)


@pytest.mark.parametrize("opset", [11, 17])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_softmax_of_nothing(axis: int, opset: int) -> None:
    for shape in ((0, 3, 2), (3, 0, 2), (3, 2, 0)):
        assert folded("Softmax", np.zeros(shape, np.float32), axis=axis, opset=opset).shape == shape


def test_a_bound_of_clip_that_is_nan_is_none() -> None:
    x, nan = np.array([-2, 3, np.nan], np.float32), np.float32(np.nan)
    np.testing.assert_array_equal(folded("Clip", x, nan, np.float32(1)), np.array([-2, 1, nan], np.float32), strict=True)
    np.testing.assert_array_equal(folded("Clip", x, np.float32(0), nan), np.array([0, 3, nan], np.float32), strict=True)


def test_no_warnings(recwarn: pytest.WarningsRecorder) -> None:
    folded("Div", np.float32(1), np.float32(0))
    folded("Log", np.float32(-1))
    folded("Exp", np.float32(1000))
    folded("Cast", np.array([np.nan, np.inf, 1e30], np.float32), to=6)
    assert not recwarn.list


@pytest.mark.parametrize("number", [1, 2, 3, 6, 7, 9, 13])
def test_cast_is_that_of_the_library(number: int) -> None:
    """For floats that no integer has, too: of a constant, and of the same number at run time."""
    numbers = [0, -1, 2.5, -2.5, 300, -129, 3e9, 1e10, -1e10, 1e19, 1e30, -1e30, np.nan, np.inf, -np.inf]
    x = np.array(numbers, np.float32)
    np.testing.assert_array_equal(folded("Cast", x, to=number), pysimd.cast(x, DTYPES[number]))


HUGE = [1 << 20, 1 << 20]
TALL, WIDE = np.zeros((1 << 20, 1), np.float32), np.zeros((1, 1 << 20), np.float32)


@pytest.mark.parametrize(
    ("op", "inputs", "attributes"),
    [
        ("ConstantOfShape", [HUGE], {}),
        ("ConstantOfShape", [[1 << 62] * 4], {}),
        ("ConstantOfShape", [[-1]], {}),
        ("Expand", [np.zeros(1), HUGE], {}),
        ("Tile", [np.zeros((1, 1)), HUGE], {}),
        ("Tile", [np.zeros((1, 1)), [1 << 40]], {}),
        ("Tile", [np.zeros(1), [1, 1 << 40]], {}),
        ("Range", [np.int64(0), np.int64(1 << 60), np.int64(1)], {}),
        ("Range", [np.int8(0), np.int8(100), np.int8(0)], {}),
        ("Range", [np.float32(0), np.float32(np.inf), np.float32(1)], {}),
        ("Range", [np.float32(0), np.float32(np.nan), np.float32(1)], {}),
        ("OneHot", [np.zeros(1 << 10, INT64), np.int64(1 << 40), np.zeros(2)], {}),
        ("Pad", [np.zeros(1), [1 << 40, 0], None], {}),
        ("AffineGrid", [np.zeros((1, 2, 3)), [1, 1, 1 << 40, 1]], {}),
        ("AffineGrid", [np.zeros((1, 2, 3)), [1, 0, 1 << 40, 1]], {}),
        ("Gather", [np.zeros((1, 1 << 20)), np.zeros(1 << 20, INT64)], {}),
        ("GatherND", [np.zeros((1, 1 << 20)), np.zeros((1 << 20, 1), INT64)], {}),
        *((op, [TALL, WIDE], {}) for op in ("Add", "Mul", "Div", "Mod", "Max", "Sum", "Mean", "Less", "MatMul", "Gemm")),
        ("Where", [TALL > 0, WIDE, WIDE], {}),
        ("Einsum", [TALL, WIDE], {"equation": "ij,kl->il"}),
        ("MaxPool", [np.zeros((1, 1, 2, 2))], {"kernel_shape": HUGE, "pads": HUGE * 2}),
        ("MaxPool", [np.zeros((1, 1, 2, 2))], {"kernel_shape": [1, 1], "pads": HUGE * 2}),
        ("MaxPool", [np.zeros((1, 1, 1 << 12, 1 << 12), np.int8)], {"kernel_shape": [40, 40]}),
        ("MaxUnpool", [np.zeros((1, 1, 2, 2)), np.zeros((1, 1, 2, 2), INT64)], {"kernel_shape": HUGE}),
    ],
)  # fmt: skip
def test_absurd_sizes_are_refused(op: str, inputs: Any, attributes: Any) -> None:
    start = time.perf_counter()
    with pytest.raises(ValueError):
        folded(op, *inputs, **attributes)
    assert time.perf_counter() - start < 5


@pytest.mark.parametrize(
    ("data", "indices", "expected"),
    [
        ((3, 4), (2, 9), (2, 9)),  # any number along the axis
        ((3, 4), (3, 1), (3, 1)),
        ((3, 4), (4, 4), None),  # more than the elements along another dimension
        ((3, 4), (2, 4, 1), None),  # other dimensions
    ],
)
def test_shape_of_gathered_elements(data: Any, indices: Any, expected: Any) -> None:
    """What a plan for any size knows before it computes."""
    node = SourceNode("GatherElements", ("x", "i"), ("y",), {"axis": 1})
    assert result_shapes(node, [data, indices], {}) == (expected and [expected])


@pytest.mark.parametrize(
    ("updates", "expected"), [((5, 4), (3, 4)), ((5, 3), None), ((4, 4), None), ((5, 4, 1), None), ((5,), None)]
)
def test_shapes_of_scattered_rows(updates: tuple[int, ...], expected: tuple[int, ...] | None) -> None:
    """The rows of a matrix: updates of another shape are refused where they are computed."""
    node = SourceNode("ScatterND", ("x", "indices", "updates"), ("y",))
    assert result_shapes(node, [(3, 4), (5, 1), updates], {1: lambda: [0, 1, 2, 0, 1]}) is None
    assert result_shapes(node, [(3, 4), (5, 1), updates], {}) == (expected and [expected])


ARRAYS = [
    None, np.zeros(0, np.float32), np.float32(1), np.array([1, -1], INT64), np.ones((2, 3), np.float32),
    np.ones((2, 3), bool), np.array([], INT64), np.array([-5, 1 << 62], INT64),
]  # fmt: skip
ATTRIBUTES: list[dict[str, Any]] = [
    {}, {"axis": 5}, {"axis": -9, "to": 99}, {"axes": [7], "perm": [3, 1]}, {"axis": "text", "to": "x", "perm": 1.5},
    {"axis": [1], "mode": "none", "value": np.zeros(0), "reduction": "other", "dtype": 8}, {"to": 6, "batch_dims": 7},
]  # fmt: skip


@pytest.mark.parametrize("op", sorted(FOLDS))
def test_absurd_arguments_are_refused_or_computed(op: str) -> None:
    """By ValueError alone, whatever the inputs and attributes."""
    for attributes in ATTRIBUTES:
        for a in ARRAYS:
            for b in ARRAYS:
                for inputs in ([], [a], [a, b], [a, b, b]):
                    for opset in (7, 17):
                        try:
                            evaluate(SourceNode(op, ("",) * len(inputs), ("y",), attributes), inputs, opset)
                        except ValueError:
                            pass
                        except Exception as error:
                            raise AssertionError(f"{inputs}, {attributes}") from error
