"""Lack of memory of Python itself while a model is loaded: ``PYTHONPATH=.:tests python -m scorecard.no_memory STEP SEED...``

Every STEP-th allocation of the interpreter fails in turn, by CPython's own means for such tests (`_testcapi`), from the
reading of the file to the last pass, on random models of the format that pysimd reads without other packages. The outcome is
the same graph or MemoryError. Python and NumPy tell some failures by other exceptions (SystemError, RuntimeError), which are
counted as "foreign"; another error is a fault, such as a model said to be unsupported. In the end the model must still
compute what it did.

Left out are the parser of ONNX files and contextvars, which prepared calls use: both crash without memory (CPython 3.11).
"""

from __future__ import annotations

import collections
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from typing import Any

import pysimd
from pysimd.network import saved
from pysimd.network.convert import graph_of
from pysimd.network.model import Model
from pysimd.network.passes import simplified
from scorecard.row import print_counts

FOREIGN = (SystemError, RuntimeError, TypeError)
ENOUGH = 50  # runs without an effect, after which nothing is left that could fail


def outcomes(job: Callable[[], Any], step: int, testcapi: Any) -> collections.Counter[str]:
    expected, found, n = job(), collections.Counter[str](), 0
    while found["right"] < ENOUGH and not found["wrong"]:
        n += step
        testcapi.set_nomemory(n, n + 1)
        try:
            result, error = job(), None
        except Exception as raised:
            result, error = None, raised
        finally:
            testcapi.remove_mem_hooks()
        if error is None:
            found["right" if result == expected else "wrong"] += 1
        elif isinstance(error, MemoryError):
            found["points"] += 1
        else:
            found["foreign" if isinstance(error, FOREIGN) else "wrong"] += 1
            if not isinstance(error, FOREIGN):
                print(f"allocation {n}: {type(error).__name__}: {error}")
    return found


def graph(path: str) -> Any:
    """What the passes make of a file."""
    model = Model(saved.read(path), None)
    made = simplified(graph_of(model.source, model.shapes(None), None))
    return [(node.operator, node.inputs, node.outputs) for node in made.nodes]


def main() -> int:
    try:
        import _testcapi  # type: ignore[import-not-found]

        import onnx
    except ImportError as error:
        print(f"skipped: {error}")
        return 0
    from network.random_models import random_model
    from network.test_random import random_inputs

    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in map(int, sys.argv[2:]):
            path, model = f"{folder}/{seed}.simdnet", random_model(seed)
            pysimd.load(onnx.ModelProto.FromString(model.SerializeToString())).save(path)
            inputs, expected = random_inputs(model, seed), None
            for found in (collections.Counter[str](), outcomes(partial(graph, path), int(sys.argv[1]), _testcapi)):
                results = [y.tobytes() for y in pysimd.load(path).prepare()(inputs).values()]
                expected = expected or results
                found["wrong"] += results != expected
            wrong += found["wrong"]
            counts = {"points": found["points"] + found["foreign"], "foreign": found["foreign"], "failed": found["wrong"]}
            print(f"seed {seed}")
            print_counts(**counts)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
