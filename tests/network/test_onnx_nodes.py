"""The node cases of the ONNX backend's tests on every instruction set, by the functions that docs/operators.md names.

A case passes, or the function refuses its type of data, or it is on a list of limits with the sentence that refuses it.
"""

from __future__ import annotations

import re
import traceback
import warnings
from collections import Counter
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import pysimd
from network.onnx_nodes import LIMITS, LIMITS_CHANNELS_LAST, OPERATORS, Unsupported, evaluate, refused_type
from support import ROOT

onnx = pytest.importorskip("onnx", "1.23", reason="onnx, which has the cases, is not installed, or is older than they are")

GUIDE = (ROOT / "docs/operators.md").read_text().partition("## Functions by operator")[2]
PACKAGE = Path(pysimd.__file__).parent
REFUSALS = (TypeError, ValueError, Unsupported)

#: ONNX itself permits 1e-3, which is what outputs need that are written down with few digits.
RTOL, ATOL, RTOL_ROUNDED = 1e-5, 1e-7, 1e-3
#: Their expected outputs have a few digits.
ROUNDED = (
    "averagepool_2d_ceil_last_window_starts_on_pad", "gridsample_bicubic", "roialign_aligned_false", "roialign_aligned_true",
    "roialign_mode_max",
)  # fmt: skip


class Case(NamedTuple):
    """A model with its inputs and outputs."""

    name: str
    model: Any
    inputs: list[Any]
    outputs: list[Any]
    rtol: float

    @property
    def last_operator(self) -> str:
        """One operator of a model, by which the tests are divided."""
        return str(self.model.graph.node[-1].op_type)

    @property
    def has_images(self) -> bool:
        return any(OPERATORS[node.op_type].images for node in self.model.graph.node)


def array_of(value: Any) -> Any:
    """Tensors of types that NumPy does not have as arrays of ml_dtypes; a contiguous array; a sequence as it is."""
    if isinstance(value, onnx.TensorProto):
        value = onnx.numpy_helper.to_array(value)
    return value if isinstance(value, list) else np.asarray(value, order="C")


@lru_cache
def cases() -> list[Case]:
    """Those whose operators are all in the guide."""
    from onnx.backend.test.loader import load_model_tests

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the formulas that compute expected outputs
        every = load_model_tests(kind="node")
    return [
        Case(name, case.model, _arrays(inputs), _arrays(outputs), RTOL_ROUNDED if name in ROUNDED else RTOL)
        for case in every
        if {node.op_type for node in case.model.graph.node} <= set(OPERATORS)
        for name in [case.name[len("test_") :]]
        for inputs, outputs in case.data_sets
    ]


def _arrays(values: Any) -> list[Any]:
    return [array_of(value) for value in values]


def kind_of(case: Case) -> str:
    if case.name in LIMITS:
        return "limit"
    return "type" if refused_type(case.model, case.inputs) else "pass"


def assert_case(case: Case, channels_last: bool) -> None:
    actual = evaluate(case.model, case.inputs, channels_last)
    assert len(actual) == len(case.outputs)
    for output, expected in zip(actual, case.outputs):
        assert output.dtype == expected.dtype
        assert output.shape == expected.shape
        np.testing.assert_allclose(output, expected, case.rtol, ATOL)


def assert_limited(case: Case, channels_last: bool, sentence: str) -> None:
    with pytest.raises((*REFUSALS, AssertionError), match=sentence):
        assert_case(case, channels_last)


def assert_type_refused(case: Case, channels_last: bool) -> None:
    """By pysimd itself, with a sentence that names the type; as float32, floats of another size are as expected."""
    name = refused_type(case.model, case.inputs)
    with pytest.raises(TypeError, match=rf"\w+ (is|has dtype) {name}, expected ") as caught:
        evaluate(case.model, case.inputs, channels_last)
    assert PACKAGE in Path(traceback.extract_tb(caught.value.__traceback__)[-1].filename).parents
    if name in ("float16", "float64"):
        inputs, outputs = ([_as_float32(x) for x in arrays] for arrays in (case.inputs, case.outputs))
        rtol = RTOL_ROUNDED if name == "float16" else RTOL
        assert_case(case._replace(inputs=inputs, outputs=outputs, rtol=rtol), channels_last)


def _as_float32(array: Any) -> Any:
    return array.astype(np.float32) if array.dtype.kind == "f" else array


@pytest.mark.parametrize("operator", OPERATORS)
def test_cases(operator: str, isa: str) -> None:
    found = [case for case in cases() if case.last_operator == operator]
    assert found
    for case in found:
        for channels_last in (False, True)[: 1 + case.has_images]:
            sentence = LIMITS.get(case.name) or (LIMITS_CHANNELS_LAST.get(case.name) if channels_last else None)
            try:
                if sentence:
                    assert_limited(case, channels_last, sentence)
                elif kind_of(case) == "type":
                    assert_type_refused(case, channels_last)
                else:
                    assert_case(case, channels_last)
            except Exception as error:
                raise AssertionError(f"{case.name}, channels {'last' if channels_last else 'first'}") from error


def test_limits_are_cases() -> None:
    names = {case.name for case in cases()}
    assert set(LIMITS) <= names
    assert set(LIMITS_CHANNELS_LAST) <= names - set(LIMITS)


def test_guide_has_the_same_operators() -> None:
    quantised = r"### Quantised bytes.*?(?=^### )"  # test_quantised.py has them
    guide = re.sub(quantised, "", GUIDE, flags=re.MULTILINE | re.DOTALL)
    rows = re.findall(r"^\| ([^|]+) \|.*\|.*\|.*\|$", guide, re.MULTILINE)
    assert {name for row in rows for name in re.findall(r"\b[A-Z]\w*", row)} - {"Operator"} == set(OPERATORS)


def test_guide_has_the_numbers() -> None:
    """Those of the version that it names; another one may have other cases."""
    found = re.search(r"onnx (\S+) has (\d+) node cases .*?: (\d+) pass, (\d+) .*?,\s+and (\d+) ", GUIDE, re.DOTALL)
    assert found
    if onnx.__version__ != found.group(1):
        pytest.skip(f"this is onnx {onnx.__version__}, the guide has the numbers of {found.group(1)}")
    counts = Counter(kind_of(case) for case in cases())
    assert [len(cases()), counts["pass"], counts["type"], counts["limit"]] == [int(n) for n in found.groups()[1:]]
