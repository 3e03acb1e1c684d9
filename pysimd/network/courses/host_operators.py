"""Operators that Python computes between the segments of a course, as their results have shapes that depend on values, or
are sequences or optional values; see :mod:`pysimd.network.courses.course`.

A function gets the node, its inputs and the opset, and returns the outputs of the node in their order::

    @host_operator("NonZero")
    def _non_zero(node: SourceNode, inputs: Sequence[Any], opset: int) -> Sequence[Any]:
        return [np.stack(np.nonzero(inputs[0]))]

An input or a result is an array, a list of arrays for a sequence, or None for an optional value that is empty and for an
input that is missing. A function never writes to its inputs, which other nodes may read, too; its results may share memory
with them. It raises ValueError, with a sentence, for values that do not fit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from pysimd.network.convert.fold import evaluate
from pysimd.network.convert.regions import chosen_boxes
from pysimd.network.courses.host_boxes import ChosenBoxes
from pysimd.network.source import SourceNode

_ARE_PLACES_INT64 = np.dtype(np.intp) == np.dtype(np.int64)
HostOperator = Callable[[SourceNode, Sequence[Any], int], Sequence[Any]]

#: By the name of the operator; "domain.Name" for those of other domains than ONNX's.
HOST_OPERATORS: dict[str, HostOperator] = {}
#: Those that are computed here even where all inputs are known, as their inputs or results are no arrays.
OF_SEQUENCES: set[str] = set()


def host_operator(*names: str, sequences: bool = False) -> Callable[[HostOperator], HostOperator]:
    """Registers a function for operators.

    sequences : whether inputs or results are sequences or optional values. Other operators are computed by the conversion
        where all their inputs are known.
    """

    def register(function: HostOperator) -> HostOperator:
        HOST_OPERATORS.update(dict.fromkeys(names, function))
        OF_SEQUENCES.update(names if sequences else ())
        return function

    return register


@host_operator("NonMaxSuppression")
def _chosen_boxes(node: SourceNode, inputs: Sequence[Any], opset: int) -> Sequence[Any]:
    """A call of the library; what :func:`evaluate` checks besides takes as long as a choice among 100 boxes."""
    return (chosen_boxes(node, *inputs),)


#: Operators that keep something: what is made of each of their nodes and the constants, to be called in place of their
#: function.
OF_NODES: dict[str, Callable[[SourceNode, Mapping[str, Any]], HostOperator]] = {"NonMaxSuppression": ChosenBoxes}


@host_operator("NonZero")
def _non_zero(node: SourceNode, inputs: Sequence[Any], opset: int) -> Sequence[Any]:
    """Likewise."""
    x = inputs[0]
    if x.ndim == 1 and _ARE_PLACES_INT64:  # without a copy
        return (x.nonzero()[0][None],)
    return (np.array(np.atleast_1d(x).nonzero(), np.int64),)


@host_operator("Compress", "Unique")
def _folded(node: SourceNode, inputs: Sequence[Any], opset: int) -> Sequence[Any]:
    """What the conversion computes for known inputs."""
    results = evaluate(node, inputs, opset)
    if results is None:
        raise ValueError(f"{node.op} of these inputs is not supported")
    return results
