"""Measures models from ONNX files: time of a pass, memory, time until the first answer; and prints them.

As for whole networks, every library has loaded the model before the first is timed, and then they are timed alternately, in
rounds, every second one in reverse order. So that a folder of models takes minutes, a row ends after some seconds, but not
before two rounds.
"""

from __future__ import annotations

import dataclasses
import itertools
import statistics
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pysimd
from bench import limits
from bench.implementations import Unsupported, error_of
from bench.onnx_files import OURS, PEERS, USUAL, Input, pnnx
from bench.onnx_files.first import First, measured
from bench.onnx_files.shapes import Shape, inputs_of
from bench.onnx_files.workers import Task, Worker
from bench.report import markdown_table
from bench.whole.table import Time, Whole, times_of
from bench.whole.workers import Round

_SHORT = Round(0, 0, 0.05, 1)
# With several threads. The pause: threads of the previous library may wait actively for up to 0.2 s.
_ALONE = Round(0.25, 0.1, 0.15, 1)
_STARTS = 2  # processes of each library that answer once; the faster one counts
_LARGE = 1e-3  # errors above this are marked
_PASSES = 8  # a pass may take this part of the seconds of a row


@dataclass(frozen=True)
class Run(Whole):
    """A model with a size of batch and a number of threads."""

    errors: Mapping[str, float] = field(default_factory=dict)  # of the outputs, see error_of()
    bound: float = 0.0  # seconds of the multiply-adds of an image at the peak of this number of processors

    @property
    def best(self) -> float | None:
        """The time of the fastest other library relative to ours."""
        return min(map(self.ratio, self.peers), default=None)


@dataclass(frozen=True)
class Model:
    """All figures of a file. Sizes are those of one image and one thread."""

    name: str
    file_bytes: int
    inputs: Sequence[Input] = ()
    refused: str = ""  # why it cannot be run
    bytes: Mapping[str, int] = field(default_factory=dict)  # of packed weights, and of the block that holds all tensors
    first: Mapping[str, First] = field(default_factory=dict)
    runs: Sequence[Run] = ()
    notes: Sequence[str] = ()  # what is left out, and why


@dataclass(frozen=True)
class Plan:
    """What is measured of each model."""

    batches: Sequence[int] = (1,)
    threads: Sequence[int] = (1,)
    rounds: int = 9
    seconds: float = 3.0  # of a row
    peers: Sequence[str] = ()
    shapes: Mapping[str, Shape] = field(default_factory=dict)
    installed: str = ""  # the Python of an environment with an installed pysimd, for our first answers


def files_of(paths: Iterable[Path]) -> list[Path]:
    """The files, and those of folders, by name."""
    return [file for path in paths for file in (sorted(path.glob("*.onnx")) if path.is_dir() else [path])]


class _Bench:
    """The libraries with one model."""

    def __init__(self, path: Path, plan: Plan, stack: ExitStack) -> None:
        self.path, self.plan, self.notes = path, plan, dict[str, None]()
        self._stack = stack
        self._workers: dict[str, Worker] = {}
        self._paths = {name: str(path) for name in (OURS, *plan.peers)}
        self._faults: dict[str, str] = {}  # of libraries that cannot run the model at all

    def start(self, inputs: Sequence[Input]) -> None:
        """Starts the libraries."""
        for name in self._paths:
            try:
                if name == "ncnn":
                    folder = self._stack.enter_context(tempfile.TemporaryDirectory())
                    self._paths[name] = str(pnnx.converted(self.path, inputs, Path(folder)))
                self._workers[name] = worker = Worker(name)
                self._stack.callback(worker.close)
            except Unsupported as error:
                self._faults[name] = str(error)
        if OURS in self._faults:
            raise Unsupported(self._faults[OURS])

    def first(self, inputs: Sequence[Input]) -> dict[str, First]:
        """Of each library, the faster one of a few processes."""
        found: dict[str, First] = {}
        for _, name in itertools.product(range(_STARTS), self._workers):
            try:
                start = measured(name, self._paths[name], inputs, 1, self.plan.installed if name == OURS else "")
                found[name] = min(found.get(name, start), start, key=lambda first: first.seconds)
            except ValueError as error:
                self.notes[f"{name} has no first answer: {error}"] = None
        return found

    def run(self, inputs: Sequence[Input], batch: int, threads: int) -> Run:
        """One line of the table. Raises Unsupported if this library has no time."""
        ours = self._workers[OURS]
        ours.load(Task(str(self.path), inputs, threads))
        expected, workers, errors, absent = None, [ours], {}, dict(self._faults)
        for name, worker in self._workers.items():
            if name == OURS:
                continue
            try:
                worker.load(Task(self._paths[name], inputs, threads, expected))
                if expected is None:
                    expected = list(worker.outputs)
                    errors[OURS] = _error(ours.outputs, expected)
                else:
                    errors[name] = _error(worker.outputs, expected)
                workers.append(worker)
            except Unsupported as error:
                absent[name] = str(error)
        bound = 2 * ours.multiply_adds / batch / limits.operations_per_second() / threads
        times = times_of(workers, self.plan.rounds, _SHORT if threads == 1 else _ALONE, batch, self.plan.seconds)
        mine = times.pop(OURS)
        name, isa = self.path.stem, pysimd.active_isa()
        return Run(name, name, threads, isa, mine, times, absent, batch, errors, bound)

    @property
    def sizes(self) -> Mapping[str, int]:
        """Of this library's parts."""
        return self._workers[OURS].bytes


def _error(outputs: Sequence[Any], expected: Sequence[Any]) -> float:
    try:
        return error_of(outputs, expected)
    except ValueError as error:
        raise Unsupported(f"outputs of another shape: {error}") from None


def time_model(path: Path, plan: Plan) -> Model:
    """All figures of a file."""
    model = Model(path.stem, path.stat().st_size)
    try:
        inputs = inputs_of(path, 1, plan.shapes)
        model = dataclasses.replace(model, inputs=inputs)
        with ExitStack() as stack:
            bench = _Bench(path, plan, stack)
            bench.start(inputs)
            runs: list[Run] = []
            sizes: Mapping[str, int] = {}
            for batch, threads in itertools.product(plan.batches, plan.threads):
                try:
                    runs.append(_run(bench, runs, batch, threads))
                    sizes = sizes or bench.sizes
                except Unsupported as error:
                    if not runs:
                        raise
                    bench.notes[f"batch {batch}, left out: {error}"] = None
            first = bench.first(inputs)
            return dataclasses.replace(model, bytes=sizes, first=first, runs=runs, notes=list(bench.notes))
    except Unsupported as error:
        return dataclasses.replace(model, refused=str(error))


def _run(bench: _Bench, before: Sequence[Run], batch: int, threads: int) -> Run:
    """Unless a pass takes too long, judged by smaller batches."""
    inputs, longest = inputs_of(bench.path, batch, bench.plan.shapes), bench.plan.seconds / _PASSES
    slowest = max((time.seconds for run in before[:1] for time in (run.ours, *run.peers.values())), default=0.0)
    if batch > 1 and slowest * batch > longest:
        raise Unsupported(f"a pass takes more than {longest:.1f} s")
    return bench.run(inputs, batch, threads)


def run(paths: Iterable[Path], plan: Plan, known: Iterable[Model] = ()) -> Iterator[Model]:
    """The models, yielded as they are measured; those that are known are not measured again."""
    found = {model.name: model for model in known}
    for path in paths:
        yield found[path.stem] if path.stem in found else time_model(path, plan)


def figures(models: Iterable[Model]) -> dict[str, Any]:
    """All figures, for JSON."""
    rows = []
    for model in models:
        row = dataclasses.asdict(model)
        for run, found in zip(model.runs, row["runs"]):
            found["ratios"] = {name: [run.ratio(name), run.spread(name)] for name in run.peers}
            found["swings"] = [name for name, time in {OURS: run.ours, **run.peers}.items() if time.mark]
        rows.append(row)
    return {"models": rows}


def read(figures: Mapping[str, Any]) -> list[Model]:
    """Reads the results back from :func:`figures`."""
    models = []
    for row in figures.get("models", ()):
        found = {name: row[name] for name in ("name", "file_bytes", "refused", "bytes", "notes")}
        found["inputs"] = [Input(name, kind, tuple(shape), *value) for name, kind, shape, *value in row["inputs"]]
        found["first"] = {name: First(**first) for name, first in row["first"].items()}
        found["runs"] = [_read_run(run) for run in row["runs"]]
        models.append(Model(**found))
    return models


def _read_run(row: Mapping[str, Any]) -> Run:
    found = {name: value for name, value in row.items() if name not in ("ratios", "swings")}
    found["ours"] = _read_time(row["ours"])
    found["peers"] = {name: _read_time(time) for name, time in row["peers"].items()}
    return Run(**found)


def _read_time(row: Mapping[str, Any]) -> Time:
    return Time(**{**row, "rounds": tuple(row["rounds"])})


# ---- the text

_LEGEND = """Milliseconds of an image of the batch, median of the rounds. After another library's time: its ratio to
ours. best: the fastest other library's time over ours; above 1, simdnet is faster. of fma: the time that the model's
multiply-adds take at the processor's peak, over ours; Winograd's algorithm needs fewer, so it may be above 1. error: the
largest difference between our outputs and ONNX Runtime's, relative to the largest value of the output, or to 0.001 if that
is larger; above 0.001 it is marked by !. ~: the rounds vary: their median is more than 1.5 times the fastest pass. *: ncnn
is faster with its usual options than in float32; they store values in 16 bits where the processor computes with such, and
read half of the bytes. Files whose first dimension is fixed have no larger batch."""

_FIRST_LEGEND = """peak: the peak memory, in MB, of a Python process that has only this library, loads the file, prepares
it for one image, and runs it once, on one thread; after the slash that before it loaded the file. first answer:
milliseconds from the start of such a process to the result; after the slash those until the library is imported. ncnn gets
the file as converted by pnnx. weights: as packed by simdnet. block: all its tensors between the steps."""


def _cell(run: Run, peer: str) -> str:
    if peer not in run.peers:
        return "-"
    time = run.peers[peer]
    return f"{time.seconds * 1e3:.2f}{time.mark}{'*' * (time.how == USUAL)} ({run.ratio(peer):.2f})"


def _shape(model: Model) -> str:
    return ", ".join("x".join(map(str, given.shape[1:])) or "1" for given in model.inputs)


def _cells(model: Model, run: Run, peers: Sequence[str]) -> list[str]:
    error = run.errors.get(OURS)
    return [
        model.name,
        _shape(model),
        str(run.batch),
        str(run.threads),
        f"{run.ours.seconds * 1e3:.2f}{run.ours.mark}",
        *(_cell(run, peer) for peer in peers),
        "-" if run.best is None else f"{run.best:.2f}",
        f"{run.bound / run.ours.seconds:.2f}" if run.bound else "-",
        "-" if error is None else f"{error:.0e}{'!' if not error <= _LARGE else ''}",
    ]


def _head(peers: Sequence[str]) -> list[str]:
    return ["model", "input", "batch", "threads", OURS, *peers, "best", "of fma", "error"]


def _line(cells: Sequence[str], peers: Sequence[str]) -> str:
    widths = [-32, -12, 5, 7, 9, *[16] * len(peers), 6, 6, 7]
    return " ".join(f"{cell:<{-width}}" if width < 0 else f"{cell:>{width}}" for cell, width in zip(cells, widths)).rstrip()


def header(peers: Sequence[str]) -> str:
    """The line above the table."""
    line = _line(_head(peers), peers)
    return f"{line}\n{'-' * len(line)}"


def text(model: Model, peers: Sequence[str]) -> str:
    """The lines of a model."""
    lines = [_line(_cells(model, run, peers), peers) for run in model.runs]
    first = "; ".join(
        f"{name} {start.peak_bytes / 1e6:.0f} MB, {start.seconds * 1e3:.0f} ms" for name, start in model.first.items()
    )
    lines += [f"  first answer: {first}"] if first else []
    lines += [f"{model.name:<32} not supported: {model.refused}"] if model.refused else []
    return "\n".join([*lines, *(f"  {note}" for note in model.notes)])


def footer(models: Sequence[Model]) -> str:
    """The meaning of columns, and a summary."""
    return "\n".join(["", _LEGEND, "", *_summary(models), *_absent(models)])


def _summary(models: Sequence[Model]) -> Iterator[str]:
    """For each number of threads and size of batch, in how many rows this library is the fastest, and the mean."""
    runs = [run for model in models for run in model.runs if run.peers]
    for batch, threads in sorted({(run.batch, run.threads) for run in runs}):
        ratios = [run.best or 1.0 for run in runs if (run.batch, run.threads) == (batch, threads)]
        ahead = sum(ratio > 1 for ratio in ratios)
        yield (
            f"Batch {batch}, threads {threads}: simdnet is the fastest in {ahead} of {len(ratios)} rows; geometric mean of "
            f"the fastest other library's time over ours {statistics.geometric_mean(ratios):.2f}."
        )


def _absent(models: Sequence[Model]) -> list[str]:
    """Why libraries have no time, without repeating it for each row."""
    why: dict[str, dict[str, None]] = {}
    for model in models:
        for run in model.runs:
            for name, reason in run.absent.items():
                if not (name == "ncnn" and run.batch > 1):  # it has no batches
                    why.setdefault(f"without {name}: {reason}", {})[model.name] = None
    return [f"{reason} ({', '.join(names)})" for reason, names in why.items()]


def _slashed(whole: float, part: float, unit: float) -> str:
    return f"{whole * unit:.0f} / {part * unit:.0f}"


def section(models: Sequence[Model], picture: str = "") -> str:
    """The tables as a part of a page of Markdown. `picture` is the path of one."""
    peers = peers_of(models)
    timed = [model for model in models if model.runs]
    versions = {name: run.peers[name].version for model in timed for run in model.runs for name in run.peers}
    beside = ", ".join(f"{name} {versions[name]}" for name in peers)
    rows = [_cells(model, run, peers) for model in timed for run in model.runs]
    lines = ["## Time", "", *([f"Beside {beside}.", ""] if beside else []), _LEGEND, ""]
    lines += [f"- {line}" for line in _summary(models)]
    lines += ["", f"![Models compared with other libraries]({picture})"] if picture else []
    lines += ["", *markdown_table(_head(peers), rows), ""]
    notes = [f"{model.name}: {note}" for model in timed for note in model.notes]
    lines += [f"- {line}" for line in (*_absent(models), *notes)]
    lines += ["", "## Memory and the first answer", "", _FIRST_LEGEND, ""]
    named = [name for name in (OURS, *peers) if any(name in model.first for model in timed)]
    head = ["model", "file MB", "weights MB", "block MB"]
    head += [f"{what} {name}" for what in ("peak", "first answer") for name in named]
    lines += markdown_table(head, ([*_sizes(model), *_firsts(model, named)] for model in timed))
    refused = [f"- {model.name}: {model.refused}" for model in models if model.refused]
    lines += ["", "## Not supported", "", *refused] if refused else []
    return "\n".join(lines) + "\n"


def peers_of(models: Sequence[Model]) -> list[str]:
    """The libraries that have a time of some model, in their order."""
    return [name for name in PEERS if any(name in run.peers for model in models for run in model.runs)]


def _sizes(model: Model) -> list[str]:
    sizes = (model.file_bytes, model.bytes.get("weights"), model.bytes.get("block"))
    return [model.name, *("-" if size is None else f"{size / 1e6:.1f}" for size in sizes)]


def _firsts(model: Model, names: Sequence[str]) -> list[str]:
    firsts = [model.first.get(name) for name in names]
    return [
        *("-" if first is None else _slashed(first.peak_bytes, first.import_bytes, 1e-6) for first in firsts),
        *("-" if first is None else _slashed(first.seconds, first.import_seconds, 1e3) for first in firsts),
    ]
