"""What is computed at run time: no operator keeps a value of its inputs from one run of a runner to the next.

For every operator, each input that may change is changed between two runs; what must be constant is refused if it is not.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from network.reference import computed
from network.test_models import _built
from pysimd.network import Builder, Graph, Runner, operators
from pysimd.network.c import program as c_program
from pysimd.network.contexts import Contexts
from pysimd.network.graph import Type
from pysimd.network.operators import BINARY, COMPARISONS, ELEMENTWISE, IDENTITY, REDUCE, SCATTER, UNARY, constant_inputs
from pysimd.network.program import Program
from support import Array


class Integers(NamedTuple):
    """An input of integers below a limit."""

    limit: int
    shape: tuple[int, ...]
    dtype: str = "int64"


class Case(NamedTuple):
    """A node. Its inputs are tuples, shapes of float32 tensors; integers; constants; or None for one that is missing."""

    operator: str
    inputs: tuple[Any, ...]
    attributes: Mapping[str, Any]


def case(operator: str, *inputs: Any, **attributes: Any) -> Case:
    return Case(operator, inputs, attributes)


def weights(*shape: int) -> Array:
    return np.random.default_rng(3).uniform(-1, 1, shape).astype(np.float32)


def integers(*shape: int) -> Array:
    """Bytes for weights, and for a bias 32 bits."""
    some = np.random.default_rng(4).integers(-128, 128, shape)
    return some.astype(np.int8 if len(shape) > 1 else np.int32)


IMAGE, ROWS = (2, 4, 6, 5), (3, 4, 5)
WINDOW = {"strides": (1, 1), "pads": (0, 0, 0, 0)}
POOL = {"kernel": (2, 2), "ceil": False, **WINDOW}
LAYER = {"dilations": (1, 1), "group": 1, "activation": IDENTITY, **WINDOW}
STAGE = {"activation": ("relu", ()), **WINDOW}
STAGES = ({"depthwise": False, **STAGE}, {"depthwise": True, **STAGE})
RESIZE = {"mode": "linear", "coordinates": "half_pixel", "rounding": "floor", "antialias": False, "exclude_outside": False}
RECURRENT = {"hidden": 2, "direction": "forward", "batch_first": False}
STEPS, QUANTIZED = np.linspace(0.01, 0.02, 5, dtype=np.float32), {"scales": (0.01, 0.05), "zeros": (7, 120)}
TABLE = (np.arange(256) * 77 % 256).astype(np.uint8)
BYTES, THREE = ("uint8", "int8"), {"scales": (0.11, 0.07, 0.13), "zeros": (3, 90, 60)}
SUM = {"sum_scales": (0.11, 0.07, 0.13), "sum_zeros": (3, 90, 60), "add_first": True}
PARAMETERS = {"restrict_range": (0.5, 2.5)}


def _cases() -> list[Case]:
    lengths, state = Integers(6, (3,)), (1, 3, 2)
    weighted = [weights(8, 4, 3, 3), weights(8)]
    merged = [weights(8, 4, 1, 1), weights(8), weights(8, 1, 3, 3), weights(8)]
    lstm, gru, rnn = ([weights(1, gates * 2, 4), weights(1, gates * 2, 2), weights(1, gates * 4)] for gates in (4, 3, 1))
    of_few_bits = [
        np.arange(48).astype(np.uint8).reshape(3, 2, 8) * 5,
        weights(3, 2),
        np.arange(3).astype(np.uint8)[:, None],
    ]
    bytes_of_lstm = [np.arange(n * 8).astype(np.int8).reshape(1, n, 8) % 50 for n in (4, 2)]
    bytes_of_lstm.append(weights(1, 16))
    terms = [np.full((1, n), 0.02, np.float32) for n in (1, 8)]
    return [
        *(case("Conv", IMAGE, *weighted, (2, 8, 4, 3), order=order, **LAYER) for order in ("add", "activation")),
        case("ConvTranspose", IMAGE, weights(4, 3, 2, 2), weights(3), output_padding=(0, 0), **LAYER),
        case("DynamicConv", IMAGE, (8, 4, 3, 3), (8,), order="add", **LAYER),
        case("DynamicConvTranspose", IMAGE, (4, 3, 2, 2), (3,), output_padding=(0, 0), **LAYER),
        case("MergedConvolution", IMAGE, *merged, stages=STAGES, residual=False),
        case("MaxPool", IMAGE, **POOL),
        case("Attention", (2, 3, 4), (2, 4, 5), (2, 5, 6), scale=0.5),
        case("AveragePool", IMAGE, count_include_pad=True, **POOL),
        case("Linear", (3, 4), weights(4, 5), weights(5), (3, 5), activation=IDENTITY, order="add"),
        case("MatMul", (2, 3, 4), (2, 4, 5)),
        *(case("Unary", (40,), function=name, params=PARAMETERS.get(name, (0.5,) * len(UNARY[name]))) for name in UNARY),
        *(case("Binary", ROWS, (1, 4, 1), function=name, activation=IDENTITY) for name in BINARY if name != "replace"),
        case("Binary", ROWS, np.full((1, 4, 1), np.nan, np.float32), function="replace", activation=IDENTITY),
        case("Binary", weights(1, 4, 1), ROWS, function="replace", activation=IDENTITY),
        case("Binary", ROWS, (1, 1, 1), function="multiply", activation=("relu", ())),
        case("Binary", (), (), function="subtract", activation=IDENTITY),
        case("Scale", (1, 4, 5), weights(4), weights(4), axis=1),
        case("Prelu", ROWS, weights(5), axis=2),
        *(case("Softmax", ROWS, axis=axis, log=log) for axis in (1, 2) for log in (False, True)),
        *(case("Reduce", ROWS, function=name, axes=(1,), keepdims=True) for name in REDUCE),
        *(
            case("Reduce", Integers(9, (2, 6, 1), dtype), function=name, axes=(0, 2), keepdims=False)
            for name in ("sum", "mean", "max", "prod", "l1", "l2", "sum_square")
            for dtype in ("int64", "int32", "uint8")
        ),
        *(
            case("Reduce", Integers(9, ROWS, "int8"), function=name, axes=(1,), keepdims=True)
            for name in ("argmax", "argmin")
        ),
        case("LayerNorm", ROWS, weights(4, 5), weights(4, 5), axis=1, eps=1e-5),
        case("LayerNorm", ROWS, axis=2, eps=1e-5),
        *(case("ChannelNorm", (1, 4, 6, 5), weights(4), weights(4), groups=groups, eps=1e-5) for groups in (0, 2)),
        *(case("L2Norm", ROWS, axis=axis, eps=1e-6) for axis in (1, 2)),
        case("RmsNorm", ROWS, axis=2, eps=1e-5),
        case("RmsNorm", ROWS, weights(5), axis=2, eps=1e-5),
        case("Lrn", IMAGE, size=3, alpha=0.5, beta=0.75, bias=1.0),
        case("Resize", IMAGE, size=(12, 10), scale=None, cubic=-0.75, **RESIZE),
        case("GridSample", IMAGE, (2, 3, 3, 2), mode="bilinear", padding_mode="border", align_corners=False),
        *(
            case(
                "RoiAlign", IMAGE, (7, 4), Integers(2, (7,)), size=(3, 2), scale=2.0, ratio=ratio, mode=mode, half_pixel=half
            )
            for mode, ratio, half in (("avg", 0, True), ("max", 2, False))
        ),
        case("ByteLstm", (5, 3, 4), *bytes_of_lstm, lengths, state, state, weights(1, 6), *terms, **RECURRENT),
        case("BytesMatMul", Integers(256, (2, 3, 8), "uint8"), Integers(100, (2, 8, 5), "int8"), Integers(256, (), "uint8")),
        case(
            "BytesMatMul",
            *(Integers(99, shape, "int8") for shape in ((2, 1, 3, 8), (4, 8, 5))),
            *(Integers(99, shape, "int8") for shape in ((), (5,))),
        ),
        *(
            case(
                "BytesMatMul",
                *(Integers(99, shape, "uint8") for shape in ((2, 3, 8), (2, 8, 5), (), ())),
                dtype=dtype,
                scales=(0.01, 0.3, 0.5),
                zero=zero,
            )
            for dtype, zero in (("uint8", 30), ("int8", -3))
        ),
        case("NBitsProduct", (2, 3, 20), *of_few_bits, weights(3), bits=4),
        case("Lstm", (5, 3, 4), *lstm, lengths, state, state, weights(1, 6), **RECURRENT),
        *(case("Gru", (5, 3, 4), *gru, lengths, state, linear_before_reset=before, **RECURRENT) for before in (False, True)),
        case("Rnn", (5, 3, 4), *rnn, lengths, state, **RECURRENT),
        case("Cast", ROWS, dtype="int64"),
        *(case("Cast", Integers(100, ROWS, dtype), dtype="float32") for dtype in ("int32", "uint8", "int64")),
        case("Concat", ROWS, ROWS, axis=1),
        case("Slice", ROWS, starts=(0, 3, 1), steps=(1, -2, 1), sizes=(3, 2, 4)),
        case("Pad", ROWS, pads=((0, 1), (0, 0), (2, 0)), mode="constant", value=0.5),
        case("Transpose", ROWS, perm=(2, 0, 1)),
        case("Reshape", ROWS, shape=(12, 5)),
        case("Expand", (3, 1, 5), shape=ROWS),
        case("Gather", ROWS, Integers(4, (2, 3)), axis=1),
        case("GatherElements", ROWS, Integers(5, (3, 4, 2)), axis=2),
        *(
            case("GatherElements", Integers(99, ROWS, name), Integers(4, (3, 2, 5)), axis=1)
            for name in ("int64", "int8", "int32")
        ),
        case("GatherNd", ROWS, Integers(3, (2, 3, 2)), batch=0),
        case("GatherNd", Integers(9, (3, 4, 5)), Integers(4, (3, 2, 1)), batch=1),
        *(case("ScatterElements", ROWS, Integers(4, (3, 6, 1)), (3, 6, 5), axis=1, reduction=name) for name in SCATTER),
        case(
            "ScatterElements",
            Integers(9, (7,), "int32"),
            Integers(7, (7,)),
            Integers(5, (7,), "int32"),
            axis=0,
            reduction="add",
        ),
        *(case("ScatterNd", ROWS, Integers(3, (2, 3, 2)), (2, 3, 5), reduction=name) for name in SCATTER),
        *(case("ScatterNd", ROWS, Integers(3, (2, 3, 2)), (7, 5), Integers(7, (2, 3)), reduction=name) for name in SCATTER),
        *(case("CumulativeSum", ROWS, axis=1, exclusive=each, reverse=each) for each in (False, True)),
        case("CumulativeSum", Integers(99, (40,)), axis=0, exclusive=False, reverse=True),
        *(case("Elementwise", Integers(9, (3, 4)), Integers(9, (1, 4)), function=name) for name in ELEMENTWISE),
        *(case("Elementwise", ROWS, (1, 4, 1), function=name) for name in (*COMPARISONS[2:], "modulo")),
        case("Select", Integers(2, (3, 4), "bool"), (3, 4), (3, 1)),
        case("TopK", ROWS, k=2, axis=1, largest=True, sorted=True),
        case("TopK", Integers(9, ROWS), k=2, axis=1, largest=True, sorted=True),
        case("TopK", Integers(9, ROWS, "int32"), k=2, axis=2, largest=False, sorted=True),
        case("Quantize", ROWS, np.float32(0.01), axis=None, dtype="uint8"),
        case("Quantize", ROWS, np.array([0.01] * 4, np.float32), np.array([1, 2, 3, 4], np.int8), axis=1, dtype="int8"),
        case("Dequantize", Integers(256, ROWS, "uint8"), weights(5), np.array([1, 2, 3, 4, 5], np.uint8), axis=2),
        case("Quantize", ROWS, (), dtype="uint8", axis=None),
        case("DynamicQuantize", ROWS),
        case("ByteProduct", Integers(256, (2, 4, 40), "uint8"), Integers(127, (3, 40), "int8")),
        case("ByteProduct", Integers(256, (2, 1, 4, 9), "uint8"), Integers(127, (3, 5, 9), "int8")),
        case(
            "PackedProduct", Integers(256, (2, 4, 40), "uint8"), np.arange(120).reshape(40, 3).astype(np.int8), dtype="int32"
        ),
        case(
            "PackedProduct",
            Integers(256, (4, 5), "uint8"),
            integers(5, 5),
            integers(5).astype(np.int8),
            Integers(256, (), "uint8"),
            (),
            STEPS,
            weights(5),
            dtype="float32",
        ),
        case(
            "QuantizedPool",
            Integers(256, IMAGE, "uint8"),
            kind="average",
            count_include_pad=True,
            scales=(0.11, 0.13),
            zeros=(3, 60),
            **POOL,
        ),
        case(
            "QuantizedPool",
            Integers(127, IMAGE, "int8"),
            kind="max",
            count_include_pad=True,
            scales=(1.0, 1.0),
            zeros=(0, 0),
            **POOL,
        ),
        case(
            "QuantizedPool",
            Integers(256, IMAGE, "uint8"),
            kind="global_average",
            count_include_pad=True,
            scales=(0.11, 0.13),
            zeros=(3, 60),
            **POOL,
        ),
        case("QuantizedConv", Integers(256, IMAGE, "uint8"), integers(5, 4, 3, 3), STEPS, integers(5), **QUANTIZED, **LAYER),
        case("QuantizedConv", Integers(256, IMAGE, "uint8"), integers(5, 4, 3, 3), STEPS, None, TABLE, **QUANTIZED, **LAYER),
        *(case("Table8", Integers(256, ROWS, "uint8"), np.arange(256, dtype=np.uint8) // 2, dtype=name) for name in BYTES),
        *(
            case("QuantizedBinary", Integers(256, ROWS, kind), Integers(256, (1, 4, 1), kind), function=name, **THREE)
            for name in ("add", "multiply")
            for kind in BYTES
        ),
        case("QuantizedLinear", Integers(256, ROWS, "uint8"), integers(5, 5), STEPS, integers(5), **QUANTIZED),
        case("QuantizedLinear", Integers(256, ROWS, "uint8"), integers(5, 5), STEPS, None, TABLE, dtype="int8", **QUANTIZED),
        *(
            case(f"Quantized{kind}", Integers(256, of, "uint8"), *given, Integers(256, added, "uint8"), **more, **SUM)
            for kind, of, added, weight, options in (
                ("Linear", ROWS, ROWS, integers(5, 5), QUANTIZED),
                ("Conv", IMAGE, (2, 5, 4, 3), integers(5, 4, 3, 3), {**QUANTIZED, **LAYER}),
            )
            for given, more in (
                ((weight, STEPS, None, None), {**options, "order": "add"}),
                ((weight, STEPS, integers(5), TABLE), {**options, "order": "activation"}),
            )
        ),
        *(case("ExactBinary", ROWS, (1, 4, 1), function=name, activation=("identity", ())) for name in ("add", "divide")),
        case("Host", ROWS, ROWS, function=np.hypot, types=(Type(ROWS),)),
    ]


CASES = _cases()


class Made:
    """The graph of some cases, with arrays for its inputs."""

    def __init__(self, *cases: Case) -> None:
        self._builder, self._limits, outputs = Builder("made"), dict[str, int](), list[str]()
        for i, (operator, inputs, attributes) in enumerate(cases):
            self._builder.origin = (f"node {i}",)
            outputs += self._builder.add_all(operator, [self._named(each) for each in inputs], **attributes)
        self.graph: Graph = self._builder.graph(*outputs)

    def _named(self, given: Any) -> str:
        if given is None:
            return ""
        if isinstance(given, Integers):
            name = self._builder.input(given.shape, given.dtype)
            self._limits[name] = given.limit
            return name
        return self._builder.input(given) if type(given) is tuple else self._builder.constant(given)

    def arrays(self, seed: int) -> dict[str, Array]:
        rng, found = np.random.default_rng(seed), {}
        for name in self.graph.inputs:
            of = self.graph.types[name]
            some = rng.integers(0, self._limits[name], of.shape) if name in self._limits else rng.uniform(-0.5, 3, of.shape)
            found[name] = np.asarray(some, of.dtype)
        return found


def bits(arrays: Mapping[str, Array]) -> list[bytes]:
    return [array.tobytes() for array in arrays.values()]


@pytest.mark.parametrize("one", CASES, ids=lambda one: one.operator)
def test_inputs_change_between_runs(one: Case) -> None:
    made = Made(one)
    runner, before, after = Runner(made.graph), made.arrays(1), made.arrays(2)
    first = bits(runner(before))
    for name in before:
        changed = before | {name: after[name]}
        found = bits(runner(changed))
        assert found == bits(Runner(made.graph)(changed))
        assert found != first
    results = runner(after)
    for name, expected in computed(made.graph, after).items():
        np.testing.assert_allclose(results[name], expected, 1e-4, 1e-4)


def test_every_operator_is_here() -> None:
    assert {one.operator for one in CASES} == set(operators._RULES)


@pytest.mark.parametrize(
    "one", [one for one in CASES if constant_inputs(one.operator, ["w"] * 8)], ids=lambda one: one.operator
)
def test_weights_are_constants(one: Case) -> None:
    places = range(len(one.inputs))
    capitals = constant_inputs(one.operator, [str(i) for i in places])
    for i in places:
        if isinstance(one.inputs[i], (np.ndarray, np.generic)):
            assert str(i) in capitals
            array = np.asarray(one.inputs[i])
            inputs = (*one.inputs[:i], Integers(1, array.shape, array.dtype.name), *one.inputs[i + 1 :])
            with pytest.raises(ValueError, match=f"{one.operator} 'node 0' reads 'x.', which is computed at run time"):
                Runner(Made(one._replace(inputs=inputs)).graph)


def test_products_of_few_bits_take_floats_and_packed_bytes() -> None:
    packed = [Type((4, 2, 8), "uint8"), Type((4, 2))]
    assert operators.types_of("NBitsProduct", [Type((3, 20)), *packed], {"bits": 4}) == (Type((3, 4)),)
    with pytest.raises(ValueError, match="types are uint8 and uint8, not float32 and uint8"):
        operators.types_of("NBitsProduct", [Type((3, 20), "uint8"), *packed], {"bits": 4})
    with pytest.raises(ValueError, match="types are float32 and int8, not float32 and uint8"):
        operators.types_of("NBitsProduct", [Type((3, 20)), Type((4, 2, 8), "int8"), Type((4, 2))], {"bits": 4})


def test_inputs_in_capitals_are_those_that_must_be_constants() -> None:
    """In the table of operators that people read."""
    found = re.findall(r"^    ((?:\w+\([^)]*\), )*\w+\([^)]*\))", operators.__doc__ or "", re.MULTILINE)
    rows = {name: given.split(", ") for row in found for name, given in re.findall(r"(\w+)\(([^)]*)\)", row)}
    assert rows.keys() == set(operators._RULES)
    for operator, names in rows.items():
        capitals = tuple(name for name in names if re.fullmatch(r"\[?[A-Z]\d?\]?", name))
        assert constant_inputs(operator, [name for name in names if name != "..."]) == capitals


_MAIN = """
#include "net.h"
#include <stdio.h>

static char given[%d], found[%d];

int main(void) {
    const void * inputs[] = {%s};
    void * outputs[] = {%s};
    net * made = net_create("net.bin");
    const char * names[] = {"1.raw", "2.raw"};
    for (int i = 0; i < 2; i++) {
        FILE * file = fopen(names[i], "rb");
        if (fread(given, 1, sizeof(given), file) != sizeof(given) || !net_run(made, inputs, outputs)) return 1;
        fclose(file);
    }
    fwrite(found, 1, sizeof(found), stdout);
    net_destroy(made);
    return 0;
}
"""


def _places(name: str, arrays: Mapping[str, Array]) -> str:
    begins = np.cumsum([0, *(array.nbytes for array in arrays.values())])[:-1]
    return ", ".join(f"{name} + {begin}" for begin in begins)


def test_inputs_change_between_runs_of_a_program(tmp_path: Path) -> None:
    """All operators in one program; those of Python cannot be in it."""
    made = Made(*(one for one in CASES if one.operator != "Host"))
    runner, contexts = Runner(made.graph), Contexts()
    c_program.write(
        c_program.Fixed([c_program.planned(Program(made.graph, "nchw", contexts), 0)], contexts, "net"), tmp_path
    )
    given, expected = made.arrays(2), runner(made.arrays(2))
    for seed in (1, 2):
        (tmp_path / f"{seed}.raw").write_bytes(b"".join(bits(made.arrays(seed))))
    sizes = [sum(array.nbytes for array in arrays.values()) for arrays in (given, expected)]
    (tmp_path / "main.c").write_text(_MAIN % (*sizes, _places("given", given), _places("found", expected)))
    done = subprocess.run([_built(tmp_path, "net")], cwd=tmp_path, capture_output=True, check=True)
    assert done.stdout == b"".join(bits(expected))
