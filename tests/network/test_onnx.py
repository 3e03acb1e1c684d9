"""Models of the ONNX backend's tests through the whole: read, converted, simplified, planned and run, in both layouts.

A case is converted in two forms: as it is, and with all inputs but the first as weights, which is how real models have
them. Each form is right, or it is refused with a sentence that is listed here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from pysimd.network.records import replace

onnx = pytest.importorskip("onnx", "1.23", reason="onnx, which has the cases, is not installed, or is older than they are")

from network.fuzz import onnx_samples  # noqa: E402
from network.onnx_suite import Case, assert_same, cases, parsed  # noqa: E402
from network.random_models import random_model  # noqa: E402
from pysimd.network import onnx_reader  # noqa: E402
from pysimd.network.convert import UnsupportedModel, graph_of  # noqa: E402
from pysimd.network.convert.fold import FOLDS  # noqa: E402
from pysimd.network.graph import Graph  # noqa: E402
from pysimd.network.model import Model  # noqa: E402
from pysimd.network.passes import simplified  # noqa: E402
from pysimd.network.runner import Runner  # noqa: E402
from pysimd.network.source import Source  # noqa: E402

RTOL, ATOL = 1e-4, 1e-5
#: Cases whose outputs are written down with few digits.
ROUNDED = (
    "averagepool_2d_ceil_last_window_starts_on_pad", "gridsample_bicubic", "roialign_aligned_false", "roialign_aligned_true",
)  # fmt: skip
#: Where float16 is expected, float32 is computed.
HALF = 1e-2

_AT_RUN_TIME = "the shape of its result depends on the values of its inputs"
#: Why nodes of operators may be refused.
REFUSED: Mapping[str, str] = {
    "Attention": "nonpad_kv_seqlen is not supported",
    "BatchNormalization": "training_mode is 1",
    "ConstantOfShape": _AT_RUN_TIME,
    "Dropout": "training_mode is true",
    "GridSample": r"expected \(N, C, H, W\)",
    "If": "the condition is computed at run time",
    "input": r"its type is (type \d+ of ONNX|optional_type), supported are float32",
    "Loop": "loops are not supported",
    "MaxUnpool": "output_shape is .*, supported is",
    "NonMaxSuppression": "the number of boxes depends on the values of its inputs",
    "NonZero": _AT_RUN_TIME,
    "Range": _AT_RUN_TIME,
    "ReduceLogSum": "its inputs are int64",
    "ReduceLogSumExp": "its inputs are (float64 and )?int64",
    "ReduceMax": "zero-size array",
    "Resize": "tf_crop_and_resize|align_corners of a size",
    "Scan": "loops are not supported",
    "Unique": _AT_RUN_TIME,
}

#: Operators that are refused if an input that decides the shape or the algorithm is computed at run time, with that input.
MUST_BE_KNOWN: Mapping[str, str] = {
    "AffineGrid": "input 1",
    "CenterCropPad": "the shape",
    "Col2Im": "input [12]",
    "Compress": "the condition",
    "DequantizeLinear": "the scale or the zero point",
    "DFT": "input [12]",
    "Dropout": "training_mode",
    "Expand": "the shape",
    "GRU": "the weight",
    "LSTM": "the weight",
    "MaxUnpool": "the shape",
    "MelWeightMatrix": "input [0-4]",
    "OneHot": "input 1",
    "Pad": "the (value|padding)",
    "QuantizeLinear": "the scale or the zero point",
    "RNN": "the weight",
    "STFT": "input [13]",
    "Reshape": "the shape",
    "Resize": "the (scale|size)",
    "Slice": "input 1",
    "Split": "split",
    "Squeeze": "the axes",
    "Tile": "the number of repetitions",
    "TopK": "k",
    "Unsqueeze": "the axes",
    "Upsample": "the scale",
    **{f"{name}Window": "input 0" for name in ("Blackman", "Hamming", "Hann")},
    **{f"Reduce{name}": "input 1" for name in ("L1", "L2", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare")},
}


def sources(case: Case) -> list[tuple[Source, dict[str, Any]]]:
    """The model as it is, and with all inputs but the first as weights; each with its inputs."""
    source = onnx_reader.read(case.model)
    names = [value.name for value in source.inputs]
    given = dict(zip(names, case.inputs))
    weights = {**source.weights, **{name: given[name] for name in names[1:]}}
    known = replace(source, inputs=source.inputs[:1], weights=weights)
    return [(source, given), *([(known, {names[0]: given[names[0]]})] if len(names) > 1 else [])]


def graph_in(source: Source, given: Mapping[str, Any]) -> Graph:
    return graph_of(source, {name: array.shape for name, array in given.items()})


def in_layout(array: Any, layout: str) -> Any:
    return array.transpose(0, 2, 3, 1) if layout == "nhwc" and array.ndim == 4 else array


def assert_right(graph: Graph, given: Mapping[str, Any], case: Case, layout: str) -> None:
    inputs = {name: in_layout(array.astype(graph.types[name].dtype), layout) for name, array in given.items()}
    outputs = Runner(simplified(graph), layout)(inputs)
    for value, expected in zip(case.model.graph.output, case.outputs):
        actual, rtol = outputs[value.name], 1e-3 if case.name in ROUNDED else RTOL
        if expected.dtype.name in ("float16", "bfloat16"):
            expected, rtol = expected.astype(np.float32), HALF
        assert actual.dtype == expected.dtype
        np.testing.assert_allclose(actual, in_layout(expected, layout), rtol, ATOL, strict=True)


def assert_case(case: Case) -> None:
    """Each form is right, or refused for reasons that are listed."""
    for source, given in sources(case):
        try:
            graph = graph_in(source, given)
        except UnsupportedModel as error:
            for node in error.nodes:
                assert_listed(node.operator, node.reason)
            continue
        for layout in ("nchw", "nhwc"):
            assert_right(graph, given, case, layout)


def assert_listed(operator: str, reason: str) -> None:
    known = f"^{MUST_BE_KNOWN[operator]} is computed at run time" if operator in MUST_BE_KNOWN else "$^"
    reasons = "|".join([REFUSED.get(operator, "$^"), known, "^the operator is not known$"])
    assert re.search(reasons, reason), f"{operator}: {reason}"


def assert_cases(some: Sequence[Case]) -> None:
    assert some
    for case in some:
        try:
            assert_case(case)
        except Exception as error:
            raise AssertionError(case.name) from error


def node_cases() -> list[Case]:
    """Those of the operators of ONNX itself, in a version that is read."""
    return [case for case in cases("node") if any(o.domain == "" and o.version >= 7 for o in case.model.opset_import)]


def test_files_are_read_as_the_package_reads_them() -> None:
    """Every field of the node cases, of converted models, and of random models, which have subgraphs and functions."""
    models = [case.model for kind in ("node", "pytorch-converted") for case in cases(kind)]
    models += [*map(random_model, range(20)), *onnx_samples()]
    for data, message in {message.SerializeToString(): message for message in models}.items():
        assert_same(parsed(data), message)


@pytest.mark.parametrize("letter", sorted({case.last_operator[:2] for case in node_cases()}))
def test_node_cases(letter: str, isa: str) -> None:
    """Those of operators with the same first letters."""
    assert_cases([case for case in node_cases() if case.last_operator.startswith(letter)])


def refusal(source: Source, given: Mapping[str, Any]) -> UnsupportedModel | None:
    """Why a form is not converted; None if it is."""
    try:
        graph_in(source, given)
    except UnsupportedModel as error:
        return error
    return None


def test_most_node_cases_are_converted() -> None:
    """In each form, so that refusals do not grow unseen."""
    both = [[refusal(*form) is None for form in sources(case)] for case in node_cases()]
    as_it_is, with_weights = sum(forms[0] for forms in both), sum(forms[1] for forms in both if len(forms) > 1)
    assert as_it_is >= 1290, f"{as_it_is} of {len(both)} as they are"
    assert with_weights >= 1170, f"{with_weights} of {len(both)} with weights"


def assert_computed_in_advance(case: Case) -> bool:
    """Whether it is supported; of known inputs, only copies to outputs are left, and the bits are those of run time."""
    source = onnx_reader.read(case.model)
    given = dict(zip([value.name for value in source.inputs], case.inputs))
    supported = [form for form in sources(case) if refusal(*form) is None]
    if not supported:
        return False
    graph, inputs = graph_in(*supported[-1]), supported[-1][1]
    expected = Runner(simplified(graph))({name: array.astype(graph.types[name].dtype) for name, array in inputs.items()})
    known = simplified(graph_of(replace(source, inputs=[], weights={**source.weights, **given}), {}))
    assert all(node.operator == "Reshape" and node.inputs[0] in known.constants for node in known.nodes)
    for name, array in Runner(known)({}).items():
        assert array.dtype == expected[name].dtype and array.shape == expected[name].shape
        assert array.tobytes() == expected[name].tobytes(), name
    return True


def test_operators_of_known_inputs_are_computed_in_advance() -> None:
    """All but those that NumPy computes in advance, whose results may differ in the last bit."""
    done: set[str] = set()
    for case in node_cases():
        if len(case.model.graph.node) == 1 and case.last_operator not in FOLDS:
            try:
                done.update([case.last_operator] if assert_computed_in_advance(case) else [])
            except Exception as error:
                raise AssertionError(case.name) from error
    assert len(done) >= 27, sorted(done)


@pytest.mark.parametrize("case", cases("pytorch-converted"), ids=lambda case: case.name)
def test_converted_models(case: Case) -> None:
    """Most have operators of opset 6."""
    old = case.model.opset_import[0].version < 7
    assert_case(case._replace(model=onnx.version_converter.convert_version(case.model, 7)) if old else case)


def test_the_table_of_operators() -> None:
    """docs/operators.md is what `make operators` writes."""
    from network import operators_table

    if f"(onnx {onnx.__version__})" not in operators_table.FILE.read_text():
        pytest.skip(f"the table was written with the cases of another version than onnx {onnx.__version__}")
    assert operators_table.page() == operators_table.FILE.read_text(), "run make operators"


def test_cases_whose_sizes_and_branches_are_computed() -> None:
    """Of all types of elements that they have."""
    operators = {
        "ConstantOfShape", "Expand", "If", "Loop", "NonZero", "OneHot", "Range", "Reshape", "Scan", "Slice", "Split", "Tile",
        "TopK", "Unsqueeze",
    }  # fmt: skip
    counted: Counter[str] = Counter()
    for case in node_cases():
        if len(case.model.graph.node) > 1 or case.last_operator not in operators:
            continue
        loaded = Model(onnx_reader.read(case.model))
        given = dict(zip(loaded.inputs, case.inputs))
        if (
            any(array.dtype.name in ("float16", "bfloat16") for array in case.inputs)
            or refusal(loaded.source, given) is None
        ):
            continue
        for wanted, found in zip(case.outputs, loaded(given).values()):
            np.testing.assert_allclose(found, wanted, RTOL, ATOL, strict=True, err_msg=case.name)
        counted[case.last_operator] += 1
    assert counted.total() >= 50 and set(counted) == operators, counted
