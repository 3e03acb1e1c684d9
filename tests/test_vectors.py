"""Every function of bytes, of bfloat16 numbers and of few bits beside its committed vectors, on every instruction set."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from pysimd._library import HEADER_PATH
from support import Array
from support.vectors import FILES, FOLDER
from support.vectors.calls import CALLS
from support.vectors.formulas import FORMULAS
from support.vectors.numbers import from_bfloat16
from support.vectors.text import Case, array_of, read, text_of, write

CASES = {name: read(FOLDER / f"{name}.json") for name in FILES}
FUNCTIONS = sorted({case.function for cases in CASES.values() for case in cases})

#: Names of the group that the header has: those of its types, and those of its operations.
_OF_GROUP = re.compile(r"[Qq]uanti|8i|8u|16b|BFloat16|Float16|NBits|Table8")
_WHOLE = {"SimdnetQuantizedSetParams"}  # of contexts that have names of their own
_STEPS = re.compile(r"(Init|SetParams|(?<!Layer)Forward|InternalBufferSize|ExternalBufferSize|Info)$")


def functions_of(name: str) -> list[Case]:
    return [case for cases in CASES.values() for case in cases if case.function == name]


def assert_result(actual: Array, expected: Array, case: Case) -> None:
    """The same bits, but for those of a NaN; or within the bound of sums in float."""
    assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape), case.about
    if expected.dtype == np.uint16:
        actual, expected = from_bfloat16(actual), from_bfloat16(expected)
    if case.within:
        np.testing.assert_allclose(actual, expected, rtol=0, atol=case.within, err_msg=case.about)
        return
    np.testing.assert_array_equal(actual, expected, case.about)
    if expected.dtype == np.float32:
        numbers = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(actual)[numbers], np.signbit(expected)[numbers], case.about)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_vectors(isa: str, function: str) -> None:
    for case in functions_of(function):
        call = {"SimdnetQuantizeLinear": _with_arrays, "SimdnetDequantizeLinear": _with_arrays}.get(function)
        found = CALLS[function](**(call(case) if call else case.given))
        results = found if isinstance(found, tuple) else (found,)
        assert len(results) == len(case.expected)
        for actual, expected in zip(results, case.expected):
            assert_result(actual, expected, case)


def _with_arrays(case: Case) -> dict[str, object]:
    """One scale is a number."""
    given = dict(case.given)
    if given["axis"] is None:
        given["scale"] = float(given["scale"])
    return given


@pytest.mark.parametrize("function", FUNCTIONS)
def test_formulas_give_the_vectors(function: str) -> None:
    """So that neither changes alone."""
    for case in functions_of(function):
        results, within = FORMULAS[function](**case.given)
        assert case.within in (0, pytest.approx(within, rel=1e-2)) or function == "SimdnetRecurrentSetQuantizedParams"
        for result, expected in zip(results, case.expected):
            assert_result(result, expected, case)


def test_every_function_has_vectors() -> None:
    text = Path(HEADER_PATH).read_text()
    names = set(re.findall(r"^[\w *]+\b(Simd\w+)\(", text, re.MULTILINE))
    group = {name if name in _WHOLE else _STEPS.sub("", name) for name in names if _OF_GROUP.search(name)}
    assert group == set(FUNCTIONS) == set(CALLS) == set(FORMULAS)


def test_edges_are_there() -> None:
    """Ties, both ends of zeros, 255 times 127 and -127, NaN: by what cases are about."""
    about = [case.about for cases in CASES.values() for case in cases]
    for words, count in (("ties", 20), ("255 times 127", 12), ("zeros at the ends", 12), ("wrap", 4), ("NaN", 10)):
        assert sum(words in each for each in about) >= count, words


def test_order_of_operands_decides() -> None:
    """Of sums in layers: so that a call with exchanged operands is noticed."""
    cases = [each for each in functions_of("SimdnetQuantizedSetParams") if "operands decides" in each.about]
    assert len({case.given["order"] for case in cases}) == 2
    assert (cases[0].expected[0] != cases[1].expected[0]).sum() > 9


def test_files(tmp_path: Path) -> None:
    """What is written is read again, and stays small."""
    for name, cases in CASES.items():
        write(tmp_path / name, cases)
        assert (tmp_path / name).read_text() == (FOLDER / f"{name}.json").read_text()
    assert sum((FOLDER / f"{name}.json").stat().st_size for name in FILES) < 160_000
    for text in ("float32[2,3] 0.5 -0 nan inf 1e-45 -3.4028235e+38", "uint8[] 7", "int8[0] ", "bfloat16[4] 1.5*4"):
        assert text_of(array_of(text)) == text
