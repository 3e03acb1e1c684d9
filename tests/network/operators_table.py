"""Writes a part of docs/operators.md: the operators that models may have, as the cases of ONNX's backend tests find them.

    PYTHONPATH=.:tests python -m network.operators_table [--check]

--check : compares with the file instead of writing it; the exit status is 1 if they differ.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from network.onnx_suite import Case, cases
from network.test_onnx import node_cases, refusal, sources
from pysimd.network.convert import UnsupportedModel
from pysimd.network.convert.at_run_time import BY_NUMPY, REASONS
from pysimd.network.convert.conversion import supported_operators
from pysimd.network.courses.host_operators import HOST_OPERATORS, OF_SEQUENCES
from pysimd.network.courses.partition import LOOPS
from pysimd.network.model import Model

FILE = Path(__file__).parents[2] / "docs" / "operators.md"
FIRST_OPSET = 7
ONNX_DOMAINS = ("", "ai.onnx")


#: What this program writes stands between these lines of the page; the rest is written by hand.
BEGIN, END = "<!-- begin: make operators -->\n", "<!-- end: make operators -->\n"
PART = """\
## Operators in models

`make operators` writes this part from the node cases of ONNX's backend tests (onnx {version}).
`pytest tests/network/test_onnx.py` runs the cases on every instruction set and in both layouts.

- pysimd computes {computed} of {all} node cases. For each of the others, `prepare()` raises a `ValueError` that names the
  operator and the reason. *Cases* counts those that consist of one node.
- pysimd computes {read} of {converted} models that PyTorch converted.
- Values that are computed at run time may decide sizes, branches and numbers of passes: such a model runs as a course of
  parts. Where they follow from constants, from shapes or from
  [values that are given](guides/models.md#inputs-with-a-fixed-value), it is one plan.
- A model may have any opset from 7 to the newest. *Versions* are those in which ONNX changed the operator.
- The library computes in float32; weights of float16, bfloat16 and float64 are converted when they are loaded. Integers
  are int32, int64, uint64, int8, uint8 and bool; NumPy computes those of 16 bits, uint32, float64 and the operators of
  its rows, and a model with such a step, but for NonZero and Unique, cannot be compiled to C. Nodes that depend only on
  constants and shapes are computed by `prepare()`. Integers of 4 and 2 bits are int8 or uint8 in inputs, outputs and
  memory.
- *Limits* are the cases in which an operator is not supported.

| Operator | Versions | Computed by | Cases | Limits |
|---|---|---|---|---|
{rows}

Operators of other domains: {others}.

### Not supported
{refused}
Unknown operators: {missing}.

A Python function can replace [an operator that is not supported](guides/models.md#an-operator-that-is-not-supported).

"""
REFUSED = """
| Operator | Reason |
|---|---|
{rows}
"""


@dataclass
class Found:
    """What the cases of an operator show."""

    computed: int = 0
    refused: int = 0
    reasons: set[str] = field(default_factory=set)


def shortened(reason: str) -> str:
    """Without what differs between cases."""
    reason = re.sub(r"(the )?type \d+ of ONNX", "a type that NumPy does not have", reason)
    reason = re.sub(r"\b(float8|float4|int4|uint4|int2|uint2)\w*", "float8", reason)
    reason = re.sub(r"^its function cannot compute these shapes: ValueError\('(.*)'\)$", r"\1", reason)
    reason = re.sub(r" of a size of [\d.]+ is", " is", re.sub(r"\(1, 1, 3, 2, 2\)", "of five dimensions", reason))
    return re.split(r", supported (?:is|are) |: end the model", reason)[0]


def of_cases(some: list[Case]) -> dict[str, Found]:
    """By operator, of the cases that consist of one."""
    found: dict[str, Found] = defaultdict(Found)
    for case in some:
        if len(case.model.graph.node) > 1:
            continue
        entry = found[case.last_operator]
        error = refused(case)
        if error is None:
            entry.computed += 1
        else:
            entry.refused += 1
            entry.reasons.update(shortened(node.reason) for node in error.nodes)
    return found


def refused(case: Case) -> UnsupportedModel | None:
    """Why a case is not computed. None if a form of it is converted, or runs as a course."""
    tensors = all(isinstance(each, np.ndarray) for each in case.inputs)
    if tensors and any(refusal(*form) is None for form in sources(case)):
        return None
    source, given = sources(case)[0]
    try:
        Model(source)({name: as_float32(each) for name, each in given.items()})
    except UnsupportedModel as error:
        return error
    return None


def as_float32(value: Any) -> Any:
    """Floats of 16 bits are float32 in models."""
    half = isinstance(value, np.ndarray) and value.dtype.name in ("float16", "bfloat16")
    return value.astype(np.float32) if half else value


def versions() -> dict[str, list[int]]:
    """The versions in which ONNX defines each of its operators, from the one that opset 7 has on."""
    every: dict[str, set[int]] = defaultdict(set)
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain in ONNX_DOMAINS and not schema.deprecated:
            every[schema.name].add(schema.since_version)
    found = {}
    for name, numbers in every.items():
        old = [n for n in numbers if n <= FIRST_OPSET]
        found[name] = [*([max(old)] if old else []), *sorted(n for n in numbers if n > FIRST_OPSET)]
    return found


def row(name: str, numbers: list[int], found: Found) -> str:
    some, limits = found.computed + found.refused, "; ".join(sorted(found.reasons))
    return f"| {name} | {', '.join(map(str, numbers))} | {computed_by(name)} | {found.computed} of {some} | {limits} |"


def computed_by(name: str) -> str:
    """What computes an operator."""
    if name in (*LOOPS, "If"):
        return "its graphs"
    if name in OF_SEQUENCES:
        return "`prepare()` or Python"
    if name in supported_operators() or name == "NonMaxSuppression":
        return "the library"
    return "NumPy" if name in BY_NUMPY or name in HOST_OPERATORS else "`prepare()`"


def page() -> str:
    """The page with this part written again."""
    before, rest = FILE.read_text().split(BEGIN)
    return before + BEGIN + part() + END + rest.split(END)[1]


def part() -> str:
    some, defined = [*node_cases(), *cases("node", lists=True)], versions()
    found = of_cases(some)
    known = {
        *supported_operators(),
        *BY_NUMPY,
        *HOST_OPERATORS,
        *LOOPS,
        "If",
        *(name for name in found if found[name].computed),
    }
    ours = sorted(name for name in known & set(defined) if found[name].computed or not found[name].refused)
    others = sorted(name for name in known if "." in name)
    reasons = {name: "; ".join(sorted(found[name].reasons)) for name in known & set(defined) if name not in ours}
    reasons.update((name, shortened(reason)) for name, reason in REASONS.items() if name not in ours)
    missing = sorted(name for name in defined if name not in ours and name not in reasons)
    converted = cases("pytorch-converted")
    return PART.format(
        version=onnx.__version__,
        computed=sum(map(is_computed, some)),
        all=len(some),
        read=sum(map(is_computed, converted)),
        converted=len(converted),
        rows="\n".join(row(name, defined[name], found[name]) for name in ours),
        others=", ".join(f"`{name}`" for name in others),
        refused=REFUSED.format(rows="\n".join(f"| {each} | {reasons[each]} |" for each in sorted(reasons)))
        if reasons
        else "",
        missing=", ".join(missing),
    )


def is_computed(case: Case) -> bool:
    old = case.model.opset_import[0].version < FIRST_OPSET
    model = onnx.version_converter.convert_version(case.model, FIRST_OPSET) if old else case.model
    return refused(case._replace(model=model)) is None


def main() -> int:
    text = page()
    if "--check" in sys.argv[1:]:
        return int(text != FILE.read_text())
    FILE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
