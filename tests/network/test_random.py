"""Random small models against another implementation: ONNX Runtime if it is installed, else the evaluator of onnx.

``PYTHONPATH=.:tests python -m network.test_random FIRST COUNT [NODES]`` tries more seeds; a seed makes the
same model everywhere. One model in thousands, of many nodes, magnifies rounding errors beyond the tolerance: then the
others differ among themselves, too.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pysimd
from pysimd.annotations import Array

onnx = pytest.importorskip("onnx", reason="onnx, which makes the files, is not installed")
pytest.importorskip("onnx.reference")

from network.random_models import NODES, random_model  # noqa: E402

SEEDS = 300
TOLERANCE = 2e-4  # relative to the largest value


def other_answers(model: Any, inputs: Mapping[str, Array]) -> list[Array]:
    """None at all if the evaluator of onnx fails, as it does for negative padding and for some windows."""
    try:
        return session_of(model)(inputs)
    except ImportError:
        try:
            return list(onnx.reference.ReferenceEvaluator(model).run(None, dict(inputs)))
        except (ValueError, IndexError):
            return []


def session_of(model: Any) -> Callable[[Mapping[str, Array]], list[Array]]:
    """ONNX Runtime's outputs of a model as it is."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return lambda inputs: list(session.run(None, dict(inputs)))


def difference(found: Array, expected: Array) -> float:
    """Relative to the largest value, or to 0.01 where terms cancel; infinite for a NaN."""
    assert found.shape == expected.shape, f"{found.shape}, expected {expected.shape}"
    error = float(np.abs(found - expected).max() / max(np.abs(expected).max(), 1e-2))
    return float("inf") if np.isnan(error) else error


def random_inputs(model: Any, seed: int) -> dict[str, Array]:
    random = np.random.default_rng(seed)
    shapes = {value.name: [dim.dim_value for dim in value.type.tensor_type.shape.dim] for value in model.graph.input}
    return {name: random.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}


def turned(array: Array, axes: tuple[int, ...], layout: str) -> Array:
    """Images to or from channels last."""
    return np.ascontiguousarray(array.transpose(axes)) if layout == "nhwc" and array.ndim == 4 else array


def check(seed: int, folder: Path, nodes: int = NODES) -> bool:
    """Both layouts; again, with two threads, from the saved file, which must give the same bits.

    Returns whether there were answers to compare with.
    """
    model = random_model(seed, nodes)
    onnx.save(model, folder / "random.onnx")
    inputs = random_inputs(model, seed)
    expected = dict(zip([output.name for output in model.graph.output], other_answers(model, inputs)))
    loaded = pysimd.load(folder / "random.onnx")
    loaded.save(folder / "random.simdnet")
    for layout in ("nchw", "nhwc"):
        given = {name: turned(array, (0, 2, 3, 1), layout) for name, array in inputs.items()}
        kept = {name: array.copy() for name, array in given.items()}
        pysimd.set_num_threads(1)
        found = loaded.prepare(layout=layout)(given)
        pysimd.set_num_threads(2)
        run = pysimd.load(folder / "random.simdnet").prepare(layout=layout)
        run({name: np.ones_like(array) for name, array in given.items()})
        again = run(given)
        where = f"seed {seed}, {layout}"
        for name, right in expected.items():
            error = difference(turned(found[name], (0, 3, 1, 2), layout), right)
            assert error <= TOLERANCE, f"{where}, {name}: {error:.1e}\n{onnx.printer.to_text(model)}"
            assert np.array_equal(found[name], again[name]), f"{where}, {name}: other bits from the saved file"
        for name, array in given.items():
            assert np.array_equal(array, kept[name]), f"{where}: the input {name} is changed"
    return bool(expected)


@pytest.mark.parametrize("part", range(4))
def test_random_models(part: int, tmp_path: Path) -> None:
    threads = pysimd.get_num_threads()
    try:
        compared = [check(seed, tmp_path) for seed in range(part, SEEDS, 4)]
        assert sum(compared) > 0.8 * len(compared)
    finally:
        pysimd.set_num_threads(threads)


def of_any_size(seed: int) -> Any:
    """A model whose file says no sizes of its inputs and outputs."""
    model = random_model(seed)
    for value in model.graph.input:
        for dim in value.type.tensor_type.shape.dim:
            dim.ClearField("dim_value")
    for value in model.graph.output:
        value.type.tensor_type.ClearField("shape")
    return model


def other_sizes(seed: int) -> Iterator[dict[str, Array]]:
    """Inputs of some shapes: sizes that are the same number remain so."""
    random = np.random.default_rng(seed)
    shapes = {name: array.shape for name, array in random_inputs(random_model(seed), seed).items()}
    sizes, tried = sorted({n for shape in shapes.values() for n in shape}), set()
    for _ in range(100):
        changed = random.choice(sizes, random.integers(1, len(sizes) + 1))
        size = {n: int(random.integers(1, 20)) if n in changed else n for n in sizes}
        if tuple(size.values()) not in tried:
            tried.add(tuple(size.values()))
            yield {
                name: random.standard_normal([size[n] for n in shape]).astype(np.float32) for name, shape in shapes.items()
            }


def check_sizes(seed: int, count: int = 10) -> list[int]:
    """Shapes for which others compute the model: how many, how many are refused here, and how many plans these need."""
    model = of_any_size(seed)
    run: Any = pysimd.load(model).prepare()
    answer = session_of(model)
    compared = refused = 0
    for inputs in other_sizes(seed):
        try:
            expected = answer(inputs)
        except Exception:  # the classes of ONNX Runtime have none in common: the sizes contradict the weights
            continue
        try:
            found = run(inputs)
        except ValueError:
            refused += 1
            continue
        for output, right in zip(model.graph.output, expected):
            error = difference(found[output.name], right) if right.size else 0
            where = {name: array.shape for name, array in inputs.items()}
            assert error <= TOLERANCE, f"seed {seed}, {where}, {output.name}: {error:.1e}"
        compared += 1
        if compared == count:
            break
    return [compared, refused, len(run.plans)]


@pytest.mark.parametrize("part", [0, *(pytest.param(i, marks=pytest.mark.full) for i in range(1, 12))])
def test_open_sizes(part: int) -> None:
    """Up to ten shapes of each model, by the plans of one runner. Weights of given shapes leave few to some models."""
    pytest.importorskip("onnxruntime", reason="ONNX Runtime is not installed: pip install '.[models]'")
    results = [check_sizes(seed) for seed in range(part, SEEDS, 12)]
    compared, refused, plans = map(sum, zip(*results))
    assert compared > 6 * len(results) and refused < 0.02 * compared
    assert 1.5 * len(results) < plans < 0.5 * compared  # shapes are on both sides of some conditions


if __name__ == "__main__":
    import tempfile

    first, count, *most = map(int, sys.argv[1:])
    with tempfile.TemporaryDirectory() as name:
        for seed in range(first, first + count):
            try:
                check(seed, Path(name), *most)
            except Exception as error:
                print(f"seed {seed}: {type(error).__name__}: {str(error)[:400]}", flush=True)
