"""A quantised model, from a file of floats and samples of its inputs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from pysimd.annotations import Array
from pysimd.errors import shown
from pysimd.models import load
from pysimd.network.files import whole
from pysimd.network.model import Model
from pysimd.network.quantize import calibration
from pysimd.network.quantize.calibration import Sample
from pysimd.network.quantize.folding import folded
from pysimd.network.quantize.onnx_file import File, Node
from pysimd.network.quantize.opsets import upgraded
from pysimd.network.quantize.places import Places
from pysimd.network.quantize.products import Product, products_of
from pysimd.network.quantize.ranges import METHODS, Quantum, quantum
from pysimd.network.quantize.rewrite import with_bytes
from pysimd.network.records import record

_METHODS = ("minmax", *METHODS)
_HELD_BACK = 5  # of as many samples, one

Progress = Callable[[float], Any]


@record(frozen=True, eq=False)
class Options:
    """The options of :func:`pysimd.quantize_model`."""

    method: str
    keep_float: Collection[str]
    symmetric: bool
    percentile: float


class QuantizedModel:
    """A model that was quantised; :func:`pysimd.quantize_model` returns it.

    data : the bytes of the ONNX file. products : the names of the nodes that were quantised.
    """

    def __init__(self, data: bytes, products: Sequence[str]) -> None:
        self.data, self.products = data, tuple(products)

    def save(self, path: Any) -> None:
        """Writes the ONNX file; it is complete, or as before."""
        with whole(path) as file:
            file.write(self.data)

    def load(self) -> Model:
        """The model, as :func:`pysimd.load` loads the file."""
        return load(self.data)


def check(options: Options) -> None:
    """Raises ValueError for options that do not fit."""
    if options.method not in _METHODS:
        expected = ", ".join(map(repr, _METHODS[:-1])) + f" or {_METHODS[-1]!r}"
        raise ValueError(f"method is {shown(options.method)}, expected {expected}")
    if isinstance(options.keep_float, str):
        raise TypeError(
            f"keep_float is the text {options.keep_float!r}, expected several names, such as [{options.keep_float!r}]"
        )
    if not 50 <= options.percentile <= 100:
        raise ValueError(f"percentile is {shown(options.percentile)}, expected a number from 50 to 100")


def quantize(model: Any, samples: Any, options: Options, progress: Progress | None) -> QuantizedModel:
    """See :func:`pysimd.quantize_model`."""
    check(options)
    given = File(model)
    file = folded(upgraded(given))
    products = products_of(file, options.keep_float)
    if not products:
        raise ValueError("the model has no Conv, Gemm or MatMul with weights that are known floats: nothing to quantise")
    used, _ = parted(calibration.checked(load(model), samples))
    steps = _Steps(len(used) * (1 if options.method == "minmax" else 2), progress)
    made = static(file, products, used, options, steps)
    return QuantizedModel(made.encoded(), [p.node.shown for p in products])


def static(file: File, products: Sequence[Product], samples: Sequence[Sample], options: Options, steps: _Steps) -> File:
    """The model with bytes at the ends of its products."""
    places = Places(file, products)
    method = options.method, options.percentile, options.symmetric
    ranges = places.ranges(calibration.ranges_of(file, places.calibrated, samples, *method, steps))
    quanta: Mapping[str, Quantum] = {name: quantum(*each, options.symmetric) for name, each in ranges.items()}
    biases: dict[Node, Array] = {}
    return with_bytes(file, products, places, quanta, biases)


def parted(samples: Sequence[Sample]) -> tuple[Sequence[Sample], Sequence[Sample]]:
    """Those to calibrate with, and those that are held back: one of five, none of fewer."""
    held = [i % _HELD_BACK == _HELD_BACK - 1 for i in range(len(samples))]
    return [x for x, kept in zip(samples, held) if not kept], [x for x, kept in zip(samples, held) if kept]


class _Steps:
    """Tells the progress of as many steps."""

    def __init__(self, count: int, progress: Progress | None) -> None:
        self._count, self._done, self._progress = max(count, 1), 0, progress

    def __call__(self) -> None:
        self._done += 1
        if self._progress is not None:
            self._progress(min(self._done / self._count, 1.0))
