"""Operators of ai.onnx.ml, beside the reference of ONNX and, where it is installed, ONNX Runtime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", "1.16")

from onnx import helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

import pysimd  # noqa: E402
from pysimd.network.convert.conversion import supported_operators  # noqa: E402
from pysimd.network.unsupported import UnsupportedModel  # noqa: E402

ML = "ai.onnx.ml"
_RNG = np.random.default_rng(5)
X = _RNG.standard_normal((7, 4)).astype(np.float32)
MISSING = np.where(_RNG.random(X.shape) < 0.3, np.nan, X).astype(np.float32)
INTEGERS = _RNG.integers(-1, 4, (7, 4))
TYPES = {np.dtype(np.float32): 1, np.dtype(np.int64): 7, np.dtype(np.float64): 11}


def trees(kind: str, modes: list[str], weights: list[list[tuple[int, float]]], **more: Any) -> dict[str, Any]:
    """A tree of a node for each mode, the next one being where its comparison fails, and a tree of one leaf.

    weights : of the leaves of the first tree, from the root on, and then of the second tree.
    """
    count = len(modes)
    leaves = [*range(count, 2 * count + 1)]
    rows = [(tree, node, *each) for (tree, node), some in zip([*((0, n) for n in leaves), (1, 0)], weights) for each in some]
    return {
        "nodes_treeids": [0] * (2 * count + 1) + [1],
        "nodes_nodeids": [*range(2 * count + 1), 0],
        "nodes_featureids": [n % 4 for n in range(count)] + [0] * (count + 2),
        "nodes_values": [0.25 * n - 0.5 for n in range(count)] + [0.0] * (count + 2),
        "nodes_modes": [*modes, *("LEAF",) * (count + 2)],
        "nodes_truenodeids": leaves[:count] + [0] * (count + 2),
        "nodes_falsenodeids": [*range(1, count), leaves[-1]][:count] + [0] * (count + 2),
        **{f"{kind}_{name}": [row[i] for row in rows] for i, name in enumerate(("treeids", "nodeids", "ids", "weights"))},
        **more,
    }


BRANCHES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]
TARGETS = [[(0, 0.5 * n - 1), (1, 0.25 * n)] for n in range(8)]
ONE = [[(0, 0.5 * n - 1)] for n in range(8)]
CLASSES: Any = [[(n % 3, 0.25 * n), (2, 0.3)] for n in range(8)]
FIRST = [[(0, 0.3 * n - 1)] for n in range(8)]  # of two classes: then it is the score of the second one
SHARES = [[(0, 0.1 * n)] for n in range(8)]
SECOND = [[(1, 0.3 * n - 1)] for n in range(8)]
SOFTMAX = {"post_transform": "SOFTMAX"}
BOTH = [[(0, 0.1 * n), (1, 0.7 - 0.1 * n)] for n in range(8)]
WEIGHTS: dict[str, Any] = {"coefficients": _RNG.standard_normal(12).tolist(), "intercepts": [0.5, -0.25, 0.125]}
LINEAR: dict[str, Any] = {**WEIGHTS, "classlabels_ints": [4, 9, 2]}
SVM: dict[str, Any] = {
    "support_vectors": _RNG.standard_normal(12).tolist(), "coefficients": [1.0, -0.5, 0.25], "rho": [0.5], "n_supports": 3,
    "kernel_params": [0.5, 0.25, 3.0],
}  # fmt: skip

CASES: list[tuple[str, list[Any], dict[str, Any]]] = [
    ("ArrayFeatureExtractor", [X, np.array([2, 0, 2])], {}),
    ("ArrayFeatureExtractor", [INTEGERS, np.array([[1]])], {}),
    ("Binarizer", [X], {"threshold": 0.25}),
    ("Imputer", [MISSING], {"imputed_value_floats": [1.0, 2.0, 3.0, 4.0], "replaced_value_float": float("nan")}),
    ("Imputer", [INTEGERS], {"imputed_value_int64s": [8], "replaced_value_int64": 2}),
    ("LabelEncoder", [INTEGERS], {"keys_int64s": [3, 0, 1], "values_int64s": [30, 10, 11], "default_int64": 5}),
    ("LabelEncoder", [INTEGERS], {"keys_int64s": [3, 0, 1], "values_floats": [3.5, 0.5, 1.5], "default_float": -2.0}),
    ("LinearClassifier", [X], {**LINEAR, "post_transform": "SOFTMAX"}),
    ("LinearClassifier", [X], {**LINEAR, "post_transform": "LOGISTIC"}),
    ("LinearRegressor", [X], {**WEIGHTS, "targets": 3}),
    ("Normalizer", [np.abs(X)], {"norm": "MAX"}),
    ("Normalizer", [X], {"norm": "L1"}),
    ("Normalizer", [np.concatenate([X, X[:1] * 0])], {"norm": "L2"}),
    ("OneHotEncoder", [INTEGERS], {"cats_int64s": [0, 3, 1], "zeros": 1}),
    ("SVMRegressor", [X], {**SVM, "kernel_type": "LINEAR"}),
    ("SVMRegressor", [X], {**SVM, "kernel_type": "POLY", "kernel_params": [0.5, 9.0, 3.0]}),
    ("SVMRegressor", [X], {**SVM, "kernel_type": "RBF"}),
    ("SVMRegressor", [X], {**SVM, "kernel_type": "SIGMOID"}),
    ("Scaler", [X], {"offset": [0.5, 1.0, -1.0, 0.0], "scale": [2.0, 0.5, 1.0, 3.0]}),
    ("Scaler", [INTEGERS], {"offset": [0.5], "scale": [2.0]}),
    ("TreeEnsembleRegressor", [X], trees("target", BRANCHES, TARGETS, n_targets=2, base_values=[0.5, 1.0])),
    *(("TreeEnsembleRegressor", [X], trees("target", [mode] * 3, ONE, n_targets=1)) for mode in BRANCHES),
    ("TreeEnsembleRegressor", [X], trees("target", BRANCHES, TARGETS, n_targets=2, aggregate_function="AVERAGE")),
    ("TreeEnsembleRegressor", [X], trees("target", BRANCHES, ONE, n_targets=1, aggregate_function="MIN")),
    ("TreeEnsembleRegressor", [X], trees("target", BRANCHES, ONE, n_targets=1, aggregate_function="MAX")),
    ("TreeEnsembleRegressor", [X], trees("target", [], [[], [(0, 2.0)]], n_targets=1)),
    (
        "TreeEnsembleRegressor",
        [MISSING],
        trees("target", BRANCHES, ONE, n_targets=1, nodes_missing_value_tracks_true=[1, 0, 0, 1, 0, 0] + [0] * 8),
    ),
    ("TreeEnsembleClassifier", [X], trees("class", BRANCHES, CLASSES, classlabels_int64s=[7, 3, 5])),
    ("TreeEnsembleClassifier", [X], trees("class", BRANCHES, CLASSES, classlabels_int64s=[7, 3, 5], **SOFTMAX)),
    ("TreeEnsembleClassifier", [X], trees("class", BRANCHES, FIRST, classlabels_int64s=[7, 3], post_transform="LOGISTIC")),
    ("TreeEnsembleClassifier", [X], trees("class", BRANCHES, FIRST, classlabels_int64s=[7, 3], base_values=[0.25])),
    ("TreeEnsembleClassifier", [X], trees("class", BRANCHES, SHARES, classlabels_int64s=[7, 3])),
    ("TreeEnsembleClassifier", [X], trees("class", BRANCHES, SECOND, classlabels_int64s=[7, 3], post_transform="LOGISTIC")),
    ("TreeEnsembleClassifier", [X], trees("class", BRANCHES, BOTH, classlabels_int64s=[7, 3])),
]  # fmt: skip


#: What the reference computes otherwise than ONNX Runtime or not at all: labels of two classes, single leaves, integers.
NOT_OF_REFERENCE = [
    {"offset": [0.5], "scale": [2.0]},
    trees("target", [], [[], [(0, 2.0)]], n_targets=1),
    trees("class", BRANCHES, FIRST, classlabels_int64s=[7, 3], base_values=[0.25]),
    trees("class", BRANCHES, SECOND, classlabels_int64s=[7, 3], post_transform="LOGISTIC"),
]
#: What ONNX Runtime labels 0 and 1, whatever the labels are.
NOT_OF_RUNTIME = [trees("class", BRANCHES, BOTH, classlabels_int64s=[7, 3])]


def model(op: str, inputs: list[Any], attributes: dict[str, Any]) -> Any:
    """A model of one node, whose number of rows is open."""
    given = [f"x{i}" for i in range(len(inputs))]
    outputs = [f"y{i}" for i in range(2 if op.endswith("Classifier") else 1)]
    node = helper.make_node(op, given, outputs, op, domain=ML, **attributes)
    shape = ["n", *inputs[0].shape[1:]]
    graph = helper.make_graph(
        [node],
        "estimator",
        [helper.make_tensor_value_info("x0", TYPES[inputs[0].dtype], shape)],
        [helper.make_empty_tensor_value_info(name) for name in outputs],
        [onnx.numpy_helper.from_array(x, name) for x, name in zip(inputs[1:], given[1:])],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(ML, 3)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_results_are_those_of_the_reference(case: tuple[str, list[Any], dict[str, Any]], isa: str) -> None:
    if case[2] in NOT_OF_REFERENCE:
        pytest.skip("the reference computes something else than ONNX Runtime")
    made = model(*case)
    expected = ReferenceEvaluator(made).run(None, {"x0": case[1][0]})
    got = pysimd.load(made.SerializeToString())({"x0": case[1][0]})
    for y, z in zip(got.values(), expected):
        assert y.dtype == z.dtype
        np.testing.assert_allclose(y, z, 1e-5, 1e-6)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_results_are_those_of_onnx_runtime(case: tuple[str, list[Any], dict[str, Any]]) -> None:
    onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime, which computes the same, is not installed")
    if case[2] in NOT_OF_RUNTIME:
        pytest.skip("ONNX Runtime has other labels")
    made = model(*case)
    session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    got = pysimd.load(made.SerializeToString())({"x0": case[1][0]})
    for y, z in zip(got.values(), session.run(None, {"x0": case[1][0]})):
        assert y.dtype == z.dtype and y.shape == z.shape
        np.testing.assert_allclose(y, z, 1e-5, 1e-6)


def test_all_operators_have_cases() -> None:
    ours = {name.rpartition(".")[2] for name in supported_operators() if name.startswith(ML)}
    assert ours == {case[0] for case in CASES}


def test_a_model_of_these_operators_alone_needs_no_version_of_others() -> None:
    """As XGBoost's converter writes them."""
    made = model("Scaler", [X], {"offset": [1.0], "scale": [2.0]})
    del made.opset_import[0]
    got = pysimd.load(made.SerializeToString())({"x0": X})
    np.testing.assert_allclose(got["y0"], (X - 1) * 2, 1e-6)


STRINGS: dict[str, Any] = {**WEIGHTS, "classlabels_strings": ["a", "b", "c"]}


@pytest.mark.parametrize(
    ("op", "attributes", "reason"),
    [
        ("LinearClassifier", STRINGS, "its labels are strings"),
        ("LabelEncoder", {"keys_floats": [1.0], "values_strings": ["a"]}, "its values are strings"),
        ("OneHotEncoder", {"cats_strings": ["a"]}, "its categories are strings"),
        ("TreeEnsembleRegressor", trees("target", ["BRANCH_LEQ"], ONE, nodes_falsenodeids=[0] * 4), "not reached"),
        ("TreeEnsembleClassifier", trees("class", ["BRANCH_LT"], [[(1, 0.5)]], classlabels_int64s=[0, 1]), "second class"),
        ("TreeEnsembleRegressor", trees("target", ["MEMBER"], ONE), "'MEMBER', which is not known"),
        ("ZipMap", {"classlabels_int64s": [0, 1, 2, 3]}, "zipmap"),
    ],
)  # fmt: skip
def test_refusals_say_why(op: str, attributes: dict[str, Any], reason: str) -> None:
    with pytest.raises(UnsupportedModel, match=reason):
        pysimd.load(model(op, [X], attributes).SerializeToString()).prepare({"x0": X.shape})


def test_labels_of_strings_that_nobody_reads() -> None:
    """The scores alone."""
    made = model("LinearClassifier", [X], STRINGS)
    del made.graph.output[0]
    got = pysimd.load(made.SerializeToString())({"x0": X})
    expected = X @ np.reshape(LINEAR["coefficients"], (3, 4)).T + LINEAR["intercepts"]
    np.testing.assert_allclose(got["y1"], expected, 1e-5, 1e-6)
