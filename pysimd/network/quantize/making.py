"""A quantised model, from a file of floats and samples of its inputs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from typing import Any

from pysimd.errors import shown
from pysimd.models import load
from pysimd.network.files import whole
from pysimd.network.model import Model
from pysimd.network.quantize import calibration, modes, report
from pysimd.network.quantize.calibration import Sample
from pysimd.network.quantize.correction import MOST_SAMPLES, correctable, corrected
from pysimd.network.quantize.folding import folded
from pysimd.network.quantize.gates import Binary, gates_of, of_gates, tensors_of
from pysimd.network.quantize.gemms import joined
from pysimd.network.quantize.onnx_file import File
from pysimd.network.quantize.opsets import upgraded
from pysimd.network.quantize.places import Places
from pysimd.network.quantize.products import Product, products_of
from pysimd.network.quantize.ranges import METHODS, quantum
from pysimd.network.quantize.report import QuantizeReport
from pysimd.network.quantize.rewrite import with_bytes
from pysimd.network.quantize.sensitivity import losses_of, worst
from pysimd.network.quantize.sums import sums_of
from pysimd.network.records import record

_METHODS = ("minmax", *METHODS)
_MODES = ("static", "dynamic", "weights")
_BITS = (4, 8)
_HELD_BACK = 5  # of as many samples, one
_MOST_COMPARED = 16  # samples of a report

Progress = Callable[[float], Any]


@record(frozen=True, eq=False)
class Options:
    """The options of :func:`pysimd.quantize_model`."""

    mode: str
    method: str
    keep_float: Collection[str] | None  # or "auto", which it is in the mode "static" if it is None
    float_budget: float
    symmetric: bool
    weight_bits: int
    block: int
    bias_correction: bool
    percentile: float

    @property
    def chooses(self) -> bool:
        """Whether products that stay in float are found by their noise."""
        default = "auto" if self.mode == "static" else ()
        return self.float_budget > 0 and (default if self.keep_float is None else self.keep_float) == "auto"

    @property
    def kept(self) -> Collection[str]:
        """The names of what stays in float."""
        return () if self.keep_float is None or self.keep_float == "auto" else self.keep_float


class QuantizedModel:
    """A model that was quantised; :func:`pysimd.quantize_model` returns it.

    data : the bytes of the ONNX file. products : the names of the nodes that were quantised. kept : of those that stay in
    float because of their noise, the worst first.
    """

    def __init__(
        self, data: bytes, products: Sequence[str], kept: Sequence[str], compare: Callable[[], QuantizeReport] | None
    ) -> None:
        self.data, self.products, self.kept, self._compare = data, tuple(products), tuple(kept), compare

    @cached_property
    def report(self) -> QuantizeReport:
        """How near it is to the float model, by tensor and by output, on samples that calibration did not use.

        It is computed when it is first read. Raises ValueError if there were no samples.
        """
        if self._compare is None:
            raise ValueError("there were no samples to compare the model with the float one")
        return self._compare()

    def save(self, path: Any) -> None:
        """Writes the ONNX file; it is complete, or as before."""
        with whole(path) as file:
            file.write(self.data)

    def load(self) -> Model:
        """The model, as :func:`pysimd.load` loads the file."""
        return load(self.data)


def check(options: Options, has_samples: bool) -> None:
    """Raises ValueError and TypeError for options that do not fit."""
    _refuse("mode", options.mode, _MODES)
    _refuse("method", options.method, _METHODS)
    _refuse("weight_bits", options.weight_bits, _BITS)
    if isinstance(options.keep_float, str) and options.keep_float != "auto":
        raise TypeError(
            f"keep_float is the text {options.keep_float!r}, expected 'auto', or names, such as [{options.keep_float!r}]"
        )
    if options.keep_float == "auto" and options.mode != "static":
        raise ValueError(f"keep_float='auto' needs mode='static', which measures on samples, not {options.mode!r}")
    if not 0 <= options.float_budget <= 1:
        raise ValueError(f"float_budget is {shown(options.float_budget)}, expected a number from 0 to 1")
    if not 50 <= options.percentile <= 100:
        raise ValueError(f"percentile is {shown(options.percentile)}, expected a number from 50 to 100")
    if options.block < 16 or options.block & (options.block - 1):
        raise ValueError(f"block is {shown(options.block)}, expected a power of 2 from 16 on")
    if options.mode == "static" and not has_samples:
        raise ValueError("there are no samples: pass some inputs, or mode='dynamic' or 'weights', which need none")


def _refuse(name: str, value: Any, known: Sequence[Any]) -> None:
    if value not in known:
        expected = ", ".join(map(repr, known[:-1])) + f" or {known[-1]!r}"
        raise ValueError(f"{name} is {shown(value)}, expected {expected}")


def quantize(model: Any, samples: Any, options: Options, progress: Progress | None) -> QuantizedModel:
    """See :func:`pysimd.quantize_model`."""
    check(options, samples is not None)
    file = folded(upgraded(File(model)), options.kept)
    if not products_of(file, options.kept):
        raise ValueError("the model has no Conv, Gemm or MatMul with known weights of float32: nothing to quantise")
    given = [] if samples is None else calibration.checked(load(model), samples)
    file = joined(file, given, options.kept)
    products = products_of(file, options.kept)
    made, names, done, kept = file, {}, [], []  # type: File, dict[str, str], list[Product], list[Product | Binary]
    left = products
    if options.weight_bits == 4:
        made, done = modes.changed(file, products, modes.with_blocks(options.block, options.symmetric))
        left = [p for p in products if p not in done]
    if options.mode == "static":
        made, gates = modes.changed(made, of_gates(file, left), modes.with_weights)
        done += gates
        left = [p for p in left if p not in gates]
    made, volumes = modes.changed(made, [p for p in left if p.weight.ndim > 4], modes.with_weights)
    done += volumes  # no operator of bytes computes convolutions of volumes
    left = [p for p in left if p not in volumes]
    if options.mode == "static" and left:
        made, names, kept = static(made, left, parted(given)[0], options, progress)
        done += [p for p in left if p not in kept]
    elif left:
        made, others = modes.changed(made, left, modes.dynamic if options.mode == "dynamic" else modes.with_weights)
        done += others
    compare = (lambda: compared(file, made, names, given)) if given else None
    named = [p.node.shown for p in products if p in done], [p.node.shown for p in kept]
    return QuantizedModel(made.encoded(), *named, compare)


def static(
    file: File, products: Sequence[Product], samples: Sequence[Sample], options: Options, progress: Progress | None
) -> tuple[File, dict[str, str], list[Product | Binary]]:
    """The model with bytes at the ends of its products, the names of the floats of bytes by tensor, and what stays float."""
    passes = len(samples) * (1 if options.method == "minmax" else 2)
    passes += min(len(samples), MOST_SAMPLES) + len(correctable(products)) if options.bias_correction else 0
    binaries = _binaries(file, products, options.kept)
    candidates = len(products) + len(binaries)
    step, places = _Steps(passes + candidates * options.chooses, progress), Places(file, products, tensors_of(binaries))
    method, kept = options.method, []  # type: str, list[Product | Binary]
    calibrated = calibration.ranges_of(file, places.calibrated, samples, method, options.percentile, options.symmetric, step)
    if options.chooses:
        losses = losses_of(file, products, binaries, calibrated, options.symmetric, samples, step)
        kept = worst(losses, options.float_budget)
        products = [p for p in products if p not in kept]
        names_kept = [*options.kept, *(each.node.outputs[0] for each in kept)]
        places = Places(file, products, tensors_of(_binaries(file, products, names_kept)))
        for _ in correctable([p for p in kept if isinstance(p, Product)]) if options.bias_correction else ():
            step()  # in place of their correction
    ranges = places.ranges({name: calibrated[name] for name in places.calibrated})
    quanta = {name: quantum(*each, options.symmetric) for name, each in ranges.items()}
    made, names = with_bytes(file, products, places, quanta, {})
    if options.bias_correction:
        made, names = with_bytes(file, products, places, quanta, corrected(file, made, products, samples, step))
    return made, names, kept


def _binaries(file: File, products: Sequence[Product], keep_float: Collection[str]) -> list[Binary]:
    """The gates and the sums of bytes."""
    gates = gates_of(file, products, keep_float)
    return [*gates, *sums_of(file, products, tensors_of(gates), keep_float)]


def parted(samples: Sequence[Sample]) -> tuple[Sequence[Sample], Sequence[Sample]]:
    """Those to calibrate with, and those that are held back: one of five, none of fewer."""
    held = [i % _HELD_BACK == _HELD_BACK - 1 for i in range(len(samples))]
    return [x for x, kept in zip(samples, held) if not kept], [x for x, kept in zip(samples, held) if kept]


def compared(file: File, made: File, names: dict[str, str], samples: Sequence[Sample]) -> QuantizeReport:
    """The tensors and outputs of both models. names : of the floats of bytes, by tensor."""
    used, held = parted(samples)
    chosen = (held or used)[:_MOST_COMPARED]
    outputs = {name: name for name in file.outputs}
    every = {**outputs, **{name: of for name, of in names.items() if name not in outputs}}
    floats = calibration.runs(file, list(every), chosen, lambda: None)
    others = calibration.runs(made, list(every.values()), chosen, lambda: None)
    found = report.compared(floats, others, every)
    nodes = {name: node.shown for node in file.nodes for name in node.outputs}
    tensors, results = (
        report.rows({name: each for name, each in found.items() if (name in outputs) is of}, nodes) for of in (False, True)
    )
    return QuantizeReport(tensors, results, len(chosen), bool(held))


class _Steps:
    """Tells the progress of as many steps."""

    def __init__(self, count: int, progress: Progress | None) -> None:
        self._count, self._done, self._progress = max(count, 1), 0, progress

    def __call__(self) -> None:
        self._done += 1
        if self._progress is not None:
            self._progress(min(self._done / self._count, 1.0))
