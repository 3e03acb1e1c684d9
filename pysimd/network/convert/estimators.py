"""Converters of ai.onnx.ml: linear models, trees and what prepares their inputs, as nodes of ONNX.

Each is written as a body of the operators of ONNX that compute it, see :class:`_Body`, which is then converted.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pysimd.annotations import Array
from pysimd.network.convert.conversion import Conversion, converts
from pysimd.network.source import Source, SourceNode, Value
from pysimd.network.unsupported import Unsupported

_OPSET = 17  # of the nodes of a body
_FLOAT32, _INT64 = 1, 7
_MOST_DEPTH = 500  # of a tree: each level has steps of its own
_COMPARISONS = {
    "BRANCH_LEQ": "LessOrEqual",
    "BRANCH_LT": "Less",
    "BRANCH_GTE": "GreaterOrEqual",
    "BRANCH_GT": "Greater",
    "BRANCH_EQ": "Equal",
    "BRANCH_NEQ": "Equal",  # with its result negated
}
_AGGREGATES = {"SUM": "ReduceSum", "AVERAGE": "ReduceMean", "MIN": "ReduceMin", "MAX": "ReduceMax"}


class _Body:
    """Nodes of ONNX in place of a node, whose inputs are x0, x1 ..."""

    def __init__(self, c: Conversion) -> None:
        self.c = c
        self._nodes: list[SourceNode] = []
        self._weights: dict[str, Array] = {}

    def known(self, values: Any, dtype: Any = np.float32) -> str:
        """A weight."""
        name = f"w{len(self._weights)}"
        self._weights[name] = np.ascontiguousarray(values, dtype)
        return name

    def add(self, op: str, *inputs: str, **attributes: Any) -> str:
        """A node with one output."""
        name = f"y{len(self._nodes)}"
        self._nodes.append(SourceNode(op, inputs, (name,), attributes))
        return name

    def floats(self, i: int = 0) -> str:
        """An input as float32."""
        return f"x{i}" if self.c.dtype(i) == "float32" else self.add("Cast", f"x{i}", to=_FLOAT32)

    def give(self, *outputs: str) -> None:
        """The results of the node."""
        c = self.c
        given = {f"x{i}": c.item(i) for i in range(len(c.node.inputs))}
        source = Source("", _OPSET, (), [Value(name, "", None) for name in outputs], self._nodes, self._weights)
        results = c.inside(source, given)  # type: ignore[arg-type]  # none is a sequence
        if results is None:
            c.fail()
        else:
            c.give(*results)


def _list(c: Conversion, name: str) -> Any:
    """Numbers of an attribute, which may be in a tensor: an empty array if there are none."""
    tensor = c.attribute(f"{name}_as_tensor", None)
    return np.ravel(np.asarray(c.attribute(name, ()) if tensor is None else tensor))


def _rows(c: Conversion) -> int:
    """The columns of the input, which must be a matrix."""
    if len(c.shape(0)) != 2:
        raise Unsupported(f"the shape is {c.shape(0)}, expected (N, features)")
    return int(c.shape(0)[1])


# ---- inputs


@converts("ai.onnx.ml.ArrayFeatureExtractor", any_type=True)
def _columns(c: Conversion, node: SourceNode) -> None:
    b = _Body(c)
    x, rank = "x0", len(c.shape(0))
    if rank < 2:
        x = b.add("Reshape", x, b.known([1, -1], np.int64))
    b.give(b.add("Gather", x, b.add("Reshape", "x1", b.known([-1], np.int64)), axis=max(rank - 1, 1)))


@converts("ai.onnx.ml.Binarizer", any_type=True)
def _binarizer(c: Conversion, node: SourceNode) -> None:
    b = _Body(c)
    b.give(b.add("Cast", b.add("Greater", b.floats(), b.known(c.attribute("threshold", 0.0))), to=_FLOAT32))


@converts("ai.onnx.ml.Scaler", any_type=True)
def _scaler(c: Conversion, node: SourceNode) -> None:
    b = _Body(c)
    offset, scale = _list(c, "offset"), _list(c, "scale")
    b.give(b.add("Mul", b.add("Sub", b.floats(), b.known(offset)), b.known(scale)))


@converts("ai.onnx.ml.Imputer", any_type=True)
def _imputer(c: Conversion, node: SourceNode) -> None:
    """A value that stands for missing ones is replaced, in each column by its own."""
    b = _Body(c)
    is_float = c.dtype(0) == "float32"
    if not is_float and c.dtype(0) != "int64":
        raise Unsupported(f"its input is {c.dtype(0)}, supported is float32 or int64")
    kind, dtype = ("float", np.float32) if is_float else ("int64", np.int64)
    replaced, values = c.attribute(f"replaced_value_{kind}", 0), _list(c, f"imputed_value_{kind}s")
    is_missing = b.add("IsNaN", "x0") if np.isnan(replaced) else b.add("Equal", "x0", b.known(replaced, dtype))
    b.give(b.add("Where", is_missing, b.known(values, dtype), "x0"))


@converts("ai.onnx.ml.Normalizer", any_type=True)
def _normalizer(c: Conversion, node: SourceNode) -> None:
    """Rows over their largest number, their sum of absolute values or their length, where it is not 0."""
    b = _Body(c)
    x, norm = b.floats(), c.option("norm", "MAX", ("MAX", "L1", "L2"))
    if norm == "MAX":
        size = b.add("ReduceMax", x, axes=[-1], keepdims=1)
    elif norm == "L1":
        size = b.add("ReduceL1", x, axes=[-1], keepdims=1)
    else:
        size = b.add("ReduceL2", x, axes=[-1], keepdims=1)
    is_zero = b.add("Equal", size, b.known(0))
    b.give(b.add("Div", x, b.add("Where", is_zero, b.known(1), size)))


@converts("ai.onnx.ml.OneHotEncoder", any_type=True)
def _one_hot(c: Conversion, node: SourceNode) -> None:
    """Categories that are not known have zeros; zeros = 0 asks for an error there, which a plan does not have."""
    b = _Body(c)
    categories = _list(c, "cats_int64s")
    if not categories.size or not c.flag("zeros", 1):
        raise Unsupported("its categories are strings or must all be known, supported are integers, and zeros for others")
    x = b.add("Unsqueeze", b.add("Cast", "x0", to=_INT64), b.known([-1], np.int64))
    b.give(b.add("Cast", b.add("Equal", x, b.known(categories, np.int64)), to=_FLOAT32))


@converts("ai.onnx.ml.LabelEncoder", any_type=True)
def _labels(c: Conversion, node: SourceNode) -> None:
    """The value of each key; another for what is no key."""
    types: dict[str, Any] = {"int64": np.int64, "float": np.float32}

    def found(what: str) -> tuple[Any, Any, str]:
        for name, dtype in types.items():
            if (values := _list(c, f"{what}_{name}s")).size:
                return values, dtype, name
        values = c.attribute(f"{what}_tensor", None)
        if values is None or values.dtype.kind not in "if":
            raise Unsupported(f"its {what} are strings, supported are numbers")
        return values.reshape(-1), values.dtype, values.dtype.name.replace("float32", "float")

    (keys, key_type, _), (values, value_type, name) = found("keys"), found("values")
    default = c.attribute("default_tensor", None)
    other = c.attribute(f"default_{name}", -1 if name == "int64" else 0.0) if default is None else np.ravel(default)[0]
    b = _Body(c)
    is_key = b.add("Equal", b.add("Unsqueeze", "x0", b.known([-1], np.int64)), b.known(keys, key_type))
    # the place of the first key that is equal, and that of the other value if none is
    some = b.add("Cast", is_key, to=_FLOAT32)
    none = b.add("Sub", b.known(0.5), b.add("ReduceMax", some, axes=[-1], keepdims=1))
    at = b.add("ArgMax", b.add("Concat", some, none, axis=-1), axis=-1, keepdims=0)
    b.give(b.add("Gather", b.known([*values, other], value_type), at, axis=0))


# ---- scores


def _transformed(c: Conversion, b: _Body, scores: str) -> str:
    """Scores after the function that a model ends in."""
    kind = c.option("post_transform", "NONE", ("NONE", "LOGISTIC", "SOFTMAX"))
    if kind == "NONE":
        return scores
    return b.add("Sigmoid", scores) if kind == "LOGISTIC" else b.add("Softmax", scores, axis=-1)


def _classes(c: Conversion, name: str) -> Array:
    """The labels of classes; their places where they are strings that are not asked for."""
    labels: Array = _list(c, f"classlabels_{name}")
    words = c.attribute("classlabels_strings", ())
    if labels.size or not len(words):
        return labels
    if c.node.outputs[0]:
        raise Unsupported("its labels are strings, supported are integers: end the model with its scores")
    return np.arange(len(words))


def _give_classes(c: Conversion, b: _Body, scores: str, labels: Array, columns: int, positive: bool) -> None:
    """The label and the scores of each row.

    columns : of the scores: one for each class, or one for the second of two, the other following from it.
    positive : that one is a probability, else it is positive for the second class.
    """
    if columns == len(labels) > 1:
        at = b.add("ArgMax", scores, axis=1, keepdims=0)
        results = _transformed(c, b, scores)
    elif columns == 1 and len(labels) == 2:
        is_second = b.add("Greater", scores, b.known(0.5 if positive else 0))
        at = b.add("Reshape", b.add("Cast", is_second, to=_INT64), b.known([-1], np.int64))
        if positive:
            results = b.add("Concat", b.add("Sub", b.known(1), scores), scores, axis=1)
        else:
            both = b.add("Concat", b.add("Neg", scores), scores, axis=1)
            is_logistic = c.attribute("post_transform", "NONE") == "LOGISTIC"
            results = b.add("Sigmoid", both) if is_logistic else both
    else:
        raise Unsupported(f"it has scores of {columns} classes and {len(labels)} labels")
    b.give(b.add("Gather", b.known(labels, np.int64), at, axis=0), results)


# ---- linear models


def _linear(c: Conversion, b: _Body, x: str, rows: int) -> str:
    """The products of the input and rows of coefficients."""
    coefficients, intercepts = _list(c, "coefficients").reshape(rows, -1), _list(c, "intercepts")
    terms = intercepts if intercepts.size else np.zeros(rows)
    return b.add("Gemm", x, b.known(coefficients), b.known(terms), transB=1)


@converts("ai.onnx.ml.LinearRegressor", any_type=True)
def _linear_regressor(c: Conversion, node: SourceNode) -> None:
    b = _Body(c)
    b.give(_transformed(c, b, _linear(c, b, b.floats(), int(c.attribute("targets", 1)))))


@converts("ai.onnx.ml.LinearClassifier", any_type=True)
def _linear_classifier(c: Conversion, node: SourceNode) -> None:
    b = _Body(c)
    rows = _list(c, "coefficients").size // _rows(c)
    _give_classes(c, b, _linear(c, b, b.floats(), rows), _classes(c, "ints"), rows, False)


@converts("ai.onnx.ml.SVMRegressor", any_type=True)
def _svm_regressor(c: Conversion, node: SourceNode) -> None:
    """The sum of functions of the input and of each support vector."""
    b = _Body(c)
    vectors, rho = _list(c, "support_vectors"), _list(c, "rho")
    count = int(c.attribute("n_supports", 0))
    if not count or c.flag("one_class"):
        raise Unsupported("it has no support vectors or is for one class, which is not supported")
    y = _kernel(c, b, b.floats(), vectors.reshape(count, -1))
    y = b.add("Add", b.add("MatMul", y, b.known(_list(c, "coefficients").reshape(count, 1))), b.known(rho[:1]))
    b.give(_transformed(c, b, y))


def _kernel(c: Conversion, b: _Body, x: str, vectors: Array) -> str:
    """How near the rows of x are to vectors."""
    kind = c.option("kernel_type", "LINEAR", ("LINEAR", "POLY", "RBF", "SIGMOID"))
    gamma, term, degree = [*map(float, _list(c, "kernel_params")), *(0.0,) * 3][:3]
    if kind == "RBF":
        apart = b.add("Sub", b.add("Unsqueeze", x, b.known([1], np.int64)), b.known(vectors[None]))
        far = b.add("ReduceSumSquare", apart, axes=[2], keepdims=0)
        return b.add("Exp", b.add("Mul", far, b.known(-gamma)))
    y = b.add("MatMul", x, b.known(vectors.T))
    if kind == "LINEAR":
        return y
    y = b.add("Add", b.add("Mul", y, b.known(gamma)), b.known(term))
    return b.add("Tanh", y) if kind == "SIGMOID" else b.add("Pow", y, b.known(degree))


# ---- trees


class _Trees:
    """The nodes of all trees in one list; leaves go to themselves."""

    def __init__(self, c: Conversion) -> None:
        trees, places = _list(c, "nodes_treeids"), _list(c, "nodes_nodeids")
        self.modes = np.asarray(c.attribute("nodes_modes"), object)
        self.place = {(int(t), int(n)): i for i, (t, n) in enumerate(zip(trees, places))}
        count = len(self.place)
        if not count or not len(self.modes) == len(trees) == count:
            raise Unsupported("its nodes do not have an identity each")
        if unknown := set(self.modes) - {*_COMPARISONS, "LEAF"}:
            raise Unsupported(f"its nodes have the mode {min(map(str, unknown))!r}, which is not known")
        own, is_leaf = np.arange(count), self.modes == "LEAF"
        self.features = np.where(is_leaf, 0, _list(c, "nodes_featureids"))
        self.values = _list(c, "nodes_values")
        missing = _list(c, "nodes_missing_value_tracks_true")
        self.missing = missing if missing.size else np.zeros(count, np.int64)
        yes, no = (
            np.array([i if leaf else self.place[t, n] for i, leaf, t, n in zip(own, is_leaf, trees.tolist(), to.tolist())])
            for to in (_list(c, "nodes_truenodeids"), _list(c, "nodes_falsenodeids"))
        )
        self.yes, self.no = yes, no
        self.roots = np.setdiff1d(own, np.concatenate([yes[~is_leaf], no[~is_leaf]]))
        self.trees = len(set(trees.tolist()))
        if len(self.roots) != self.trees:
            raise Unsupported(f"{self.trees} trees have {len(self.roots)} roots")
        self.depth, level = 0, self.roots
        reached = np.isin(own, level)
        while not is_leaf[level].all():
            level = np.unique(np.concatenate([yes[level], no[level]]))
            reached[level] = True
            self.depth += 1
            if self.depth > _MOST_DEPTH:
                raise Unsupported(f"a tree is deeper than {_MOST_DEPTH} nodes, or has a cycle")
        if not reached.all():
            raise Unsupported(f"{count - reached.sum()} nodes of its trees are not reached from a root")

    def leaves(self, b: _Body, x: str, dtype: str) -> str:
        """The leaf of each row and tree, as (N, trees)."""
        at: Any = None
        for _ in range(max(self.depth, 1)):
            at = self._next(b, x, dtype, at)
        return str(at)

    def _next(self, b: _Body, x: str, dtype: str, at: str | None) -> str:
        """One level further from a node of each row and tree; None is the root."""

        def of(values: Any, kind: Any) -> str:
            if at is None:
                return b.known(values[self.roots][None], kind)
            return b.add("Gather", b.known(values, kind), at, axis=0)

        if at is None:
            value = b.add("Gather", x, b.known(self.features[self.roots], np.int64), axis=1)
        else:
            value = b.add("GatherElements", x, of(self.features, np.int64), axis=1)
        limit = of(self.values, dtype)
        holds: str | None = None
        for mode in dict.fromkeys(self.modes[self.modes != "LEAF"]):
            found = b.add(_COMPARISONS[mode], value, limit)
            found = b.add("Not", found) if mode == "BRANCH_NEQ" else found
            if holds is not None:  # where nodes have this mode
                is_mode = b.add("Cast", of(self.modes == mode, np.int64), to=9)
                found = b.add("Or", b.add("And", is_mode, found), b.add("And", b.add("Not", is_mode), holds))
            holds = found
        if holds is None:  # all are leaves
            holds = b.add("Equal", value, limit)
        if self.missing.any():
            tracks = b.add("Cast", of(self.missing, np.int64), to=9)
            holds = b.add("Or", holds, b.add("And", b.add("IsNaN", value), tracks))
        return b.add("Where", holds, of(self.yes, np.int64), of(self.no, np.int64))


def _weights(c: Conversion, trees: _Trees, kind: str, columns: Any) -> Array:
    """What each node adds to each column."""
    found: Any = np.zeros((len(trees.modes), columns), np.float32)
    ids = (_list(c, f"{kind}_{name}") for name in ("treeids", "nodeids", "ids", "weights"))
    for tree, node, column, weight in zip(*(each.tolist() for each in ids)):
        found[trees.place[tree, node], column] += np.float32(weight)
    return found  # type: ignore[no-any-return]


def _summed(c: Conversion, b: _Body, trees: _Trees, weights: Array, aggregate: str = "SUM") -> str:
    """The sums over trees of what their leaves add, (N, columns)."""
    dtype = "float64" if c.dtype(0) == "float64" else "float32"
    x = "x0" if dtype == "float64" else b.floats()
    added = b.add("Gather", b.known(weights), trees.leaves(b, x, dtype), axis=0)
    if aggregate == "SUM":
        return b.add("ReduceSum", added, b.known([1], np.int64), keepdims=0)
    return b.add(_AGGREGATES[aggregate], added, axes=[1], keepdims=0)


@converts("ai.onnx.ml.TreeEnsembleRegressor", any_type=True)
def _tree_regressor(c: Conversion, node: SourceNode) -> None:
    _rows(c)
    b, trees, columns = _Body(c), _Trees(c), int(c.attribute("n_targets", 1))
    aggregate = c.option("aggregate_function", "SUM", tuple(_AGGREGATES))
    if aggregate in ("MIN", "MAX") and columns > 1:
        raise Unsupported(f"aggregate_function is {aggregate!r}, supported with one target only")
    y, base = _summed(c, b, trees, _weights(c, trees, "target", columns), aggregate), _list(c, "base_values")
    b.give(_transformed(c, b, b.add("Add", y, b.known(base)) if base.size else y))


@converts("ai.onnx.ml.TreeEnsembleClassifier", any_type=True)
def _tree_classifier(c: Conversion, node: SourceNode) -> None:
    """Where all weights of two classes are of the first one, they are the score of the second."""
    _rows(c)
    b, trees, labels = _Body(c), _Trees(c), _classes(c, "int64s")
    weights, base = _weights(c, trees, "class", len(labels)), _list(c, "base_values")
    used, positive = set(_list(c, "class_ids").tolist()), bool((_list(c, "class_weights") >= 0).all())
    if len(labels) == 2 and used == {0}:
        weights, base = weights[:, :1], base[-1:]
    elif len(labels) == 2 and used == {1} and (positive or base.size):
        raise Unsupported("all its weights are of the second class, and are positive or have base values")
    y = _summed(c, b, trees, weights)
    y = b.add("Add", y, b.known(base)) if base.size else y
    _give_classes(c, b, y, labels, weights.shape[1], positive)
