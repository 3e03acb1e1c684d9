"""The commands for models: ``python -m pysimd show | run | save | compile | quantize``."""

from __future__ import annotations

import argparse
import json
import re
import statistics
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Callable, TypeVar
from urllib.parse import quote

import numpy as np

import pysimd
from pysimd.annotations import Array, Shape
from pysimd.errors import printable
from pysimd.network import image_commands, quantize_command
from pysimd.network.courses.runner import CourseRunner
from pysimd.network.files import MAGIC
from pysimd.network.model import Model, OpenShape
from pysimd.network.open_runner import OpenRunner
from pysimd.network.reports.report import MEDIAN_OF_RUNS, Report

_SECONDS = 1.0  # of repeated runs
_SHAPES_OF_PROGRAM = (
    "; several of one input are several shapes of the program; a dimension with a name, as in NAME:1,3,48,W, is open: the "
    "program takes its size"
)
_SHAPES_OF_PLANS = "; with --prepared; several of an input are for a plan for each"
_OPEN_SHAPE = "; a dimension with a name, as in NAME:1,3,48,W, is open in the plan, and has its number from --input"

Value = TypeVar("Value")


def add_to(commands: Any) -> None:
    """Adds the commands to a parser."""
    show = commands.add_parser("show", help="prints the inputs, outputs and operators of a model, and what is not supported")
    show.set_defaults(run=_show)
    run = commands.add_parser("run", help="runs a model, and compares it with another library")
    run.set_defaults(run=_run)
    save = commands.add_parser("save", help="writes a model as .simdnet: one file, with the weights in place")
    save.set_defaults(run=_save)
    write = commands.add_parser("compile", help="writes a model as a C program")
    write.set_defaults(run=_compile)
    _add_save_options(save)
    run.add_argument(
        "--prepared",
        action="store_true",
        help="uses the plan that save --prepared has written: only for files that nobody else can have written",
    )
    _add_compile_options(write)
    for command in (show, run, save, write):
        _add_model(command)
    for command, shapes in ((run, _OPEN_SHAPE), (save, _SHAPES_OF_PLANS), (write, _SHAPES_OF_PROGRAM)):
        _add_plan_options(command, shapes)
    _add_run_options(run)
    image_commands.add_to(run)
    quantize_command.add_to(commands)


def _add_save_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("-o", "--output", required=True, metavar="FILE", help="the file to write")
    command.add_argument(
        "--prepared",
        action="store_true",
        help="with the plan and packed weights for these shapes and the instruction set in use, for run --prepared",
    )


def _add_compile_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("-o", "--output", required=True, metavar="FOLDER", help="the folder to write to")
    command.add_argument(
        "--embed",
        action="store_const",
        const="file",
        default=False,
        help="makes the weights a part of the program: gcc and clang copy their file",
    )
    command.add_argument(
        "--embed-numbers",
        dest="embed",
        action="store_const",
        const="numbers",
        help="the same as numbers in C, for other compilers",
    )
    command.add_argument(
        "--size",
        action="append",
        default=[],
        type=_size,
        metavar="NAME=NUMBER[,NUMBER...]",
        help="the size of an open dimension for which the program is planned (default: 64); with several, the program has a "
        "plan for each that no other plan serves, in all combinations with those of other dimensions",
    )
    command.add_argument("--name", default="model", help="the name of the files and functions (default: model)")
    command.add_argument(
        "--most-passes",
        type=int,
        metavar="NUMBER",
        help="how often a loop without a bound may run (default: 1000000)",
    )


def _add_model(command: argparse.ArgumentParser) -> None:
    command.add_argument("model", help="an ONNX file, or a file that save has written")
    command.add_argument(
        "--value",
        action="append",
        default=[],
        type=_given_value,
        metavar="NAME=VALUE",
        help="makes an input a constant: a number, a list such as [1,2], or FILE.npy; in the order of the file",
    )


def _add_plan_options(command: argparse.ArgumentParser, shapes: str) -> None:
    """shapes : what the shapes of inputs may be besides, for the help."""
    command.add_argument(
        "--shape",
        action="append",
        default=[],
        type=_shape,
        metavar="NAME:N,C,H,W",
        help=f"the shape of an input, in the order of the file{shapes}",
    )
    command.add_argument(
        "--layout", choices=("nchw", "nhwc"), default="nchw", help="the layout of inputs and outputs (default: nchw)"
    )
    command.add_argument(
        "--prefer",
        choices=("speed", "memory", "exact", "bfloat16"),
        default="speed",
        help="exact: direct sums in convolutions, not Winograd's; memory: the least packed weights; bfloat16: products of "
        "numbers rounded to bfloat16, where that is faster: with amx (default: speed)",
    )


def _add_run_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--random", action="store_true", help="random inputs instead of zeros, unless files are given")
    command.add_argument("--seed", type=int, default=1, help="the seed of random inputs (default: 1)")
    command.add_argument(
        "--input", action="append", default=[], metavar="NAME:FILE.npy", help="reads an input from a NumPy file"
    )
    command.add_argument(
        "--save",
        metavar="FOLDER",
        help="writes the outputs to this folder, as NAME.npy, the arrays of a sequence as NAME.0.npy, NAME.1.npy ...; "
        "/ in a name becomes %%2F; those of images as IMAGE.npz",
    )
    command.add_argument(
        "--check", choices=("onnxruntime",), help="compares the outputs and the time with those of this library"
    )
    command.add_argument("--threads", type=_threads, default=1, help="the number of threads (default: 1)")
    command.add_argument(
        "--report",
        nargs="?",
        const="",
        metavar="FILE.html",
        help="prints the time of each step; with FILE also writes a page",
    )


def in_words_of_options(error: Exception) -> str:
    """The message of an error with the options of the commands in place of the arguments in Python."""
    if isinstance(error, OpenShape):
        return f"{error.reason}: pass it, as in --shape {error.name}:{','.join(map(str, error.example))}"
    return str(error)


def _shape(text: str) -> tuple[str, Any]:
    """The name of an input, and its dimensions, of which those with a name are open."""
    name, _, sizes = text.rpartition(":")
    try:
        return name, tuple(size if size.isidentifier() else int(size) for size in sizes.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a name and shape, expected NAME:1,3,224,224") from None


def _size(text: str) -> tuple[str, list[int]]:
    name, _, sizes = text.partition("=")
    if not all(size.isdecimal() for size in sizes.split(",")):
        raise argparse.ArgumentTypeError(f"{text!r} is not a size, expected NAME=NUMBER or NAME=NUMBER,NUMBER")
    return name, [int(size) for size in sizes.split(",")]


def _float(text: str) -> float | None:
    """A number that JSON does not know, as 50. and .5."""
    try:
        return float(text)
    except ValueError:
        return None


def _given_value(text: str) -> tuple[str, Any]:
    name, _, value = text.partition("=")
    if name and value.endswith(".npy"):
        return name, value
    try:
        found = json.loads(value)
    except (ValueError, RecursionError):
        found = _float(value)
    if not name or not isinstance(found, (int, float, list)):
        raise argparse.ArgumentTypeError(f"{text!r} is not a name and value, expected NAME=1, NAME=[1,2] or NAME=FILE.npy")
    return name, found


def _model(given: argparse.Namespace) -> Model:
    """The model, with constants in place of the inputs whose values are given."""
    values = {name: _loaded(value) if isinstance(value, str) else value for name, value in given.value}
    model = pysimd.load(given.model, prepared=getattr(given, "prepared", False))
    return model.with_values(values) if values else model


def _threads(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of threads, expected at least 1")
    return int(text)


def _show(given: argparse.Namespace) -> int:
    print(_model(given))
    return 0


def _is_saved(file: str) -> bool:
    """Whether save has written a file."""
    with open(file, "rb") as stream:
        return stream.read(len(MAGIC)) == MAGIC


def _save(given: argparse.Namespace) -> int:
    model = _model(given)
    if given.shape and not given.prepared:
        raise ValueError("--shape is given, but not --prepared: the file has no plan, and so no shapes")
    if Path(given.output).exists() and Path(given.output).samefile(given.model) and not _is_saved(given.model):
        raise ValueError(f"{given.output} is the ONNX model itself, which a .simdnet file would replace: give another name")
    shapes: Any = [_named(model, each) for each in _several(given.shape)]
    model.save(given.output, shapes if given.prepared else False, layout=given.layout, prefer=given.prefer)
    print(f"{given.output}: {Path(given.output).stat().st_size / 1e6:.1f} MB")
    return 0


def _compile(given: argparse.Namespace) -> int:
    model = _model(given)
    shapes = [_named(model, each) for each in _several(given.shape)]
    sizes: dict[str, list[int]] = {}
    for name, numbers in given.size:
        sizes.setdefault(name, []).extend(numbers)
    options: dict[str, Any] = {"layout": given.layout, "name": given.name, "embed": given.embed, "sizes": sizes or None}
    options |= {"prefer": given.prefer, "most_passes": given.most_passes}
    for path in model.compile(given.output, shapes, **options):
        print(path)
    return 0


def _named(model: Model, given: Iterable[tuple[str, Value]]) -> dict[str, Value]:
    """What is given for inputs, by name; what has no name is for the only input."""
    names, found = list(model.inputs), dict(given)
    if "" in found and "" not in names:
        if len(names) != 1:
            raise ValueError(f"an option gives no name of an input, expected NAME:..., one of {', '.join(map(repr, names))}")
        found[names[0]] = found.pop("")
    return found


def _loaded(file: str) -> Array:
    """The array in a NumPy file."""
    try:
        array = np.load(file)
    except (ValueError, EOFError):  # whose message recommends to load it as a pickle
        raise ValueError(f"{file} is not a NumPy file of numbers") from None
    if not isinstance(array, np.ndarray):
        raise ValueError(f"{file} has several arrays, expected a file of one, .npy")
    return array


def _several(given: Sequence[tuple[str, Shape]]) -> list[list[tuple[str, Shape]]]:
    """The shapes of each preparation: an input that is named several times has one of its shapes in each."""
    of: dict[str, list[Shape]] = {}
    for name, shape in given:
        of.setdefault(name, []).append(shape)
    count = max(map(len, of.values()), default=1)
    for name, shapes in of.items():
        if len(shapes) not in (1, count):
            raise ValueError(f"--shape has {len(shapes)} shapes for {name!r}, expected 1 or {count}")
    return [[(name, shapes[min(i, len(shapes) - 1)]) for name, shapes in of.items()] for i in range(count)]


def _run(given: argparse.Namespace) -> int:
    pysimd.set_num_threads(given.threads)
    pysimd.set_preference(given.prefer)
    model = _model(given)
    if image_commands.wanted(given):
        return image_commands.run(model, given)
    files = _named(model, ((name, _loaded(file)) for name, _, file in (text.rpartition(":") for text in given.input)))
    stored = _nchw if given.layout == "nhwc" else tuple
    shapes = {name: stored(array.shape) for name, array in files.items()}
    runner, plans = _prepared(model, _named(model, given.shape), shapes, given.layout)
    inputs = {name: files.get(name, _values(array, given)) for name, array in runner.inputs.items()}
    outputs = runner(inputs)
    for name, array in runner.inputs.items():  # for further runs, as calls leave large ones where they are
        array[...] = inputs[name]
    for name, array in outputs.items():
        print(f"{printable(name)}: {_described(array)}")
        if given.save:
            _write(Path(given.save), _file_name(name), array)
    is_course = isinstance(runner, CourseRunner)
    report = None if given.report is None or is_course else Report(runner, _SECONDS)
    milliseconds = (
        _milliseconds(lambda: runner(inputs) if is_course else runner.run()) if report is None else report.whole * 1e3
    )
    print(f"{milliseconds:.3f} ms ({MEDIAN_OF_RUNS}), {given.threads} threads, {pysimd.active_isa()}")
    status = _checked(given, model, inputs, outputs) if given.check else 0
    if given.report is not None and is_course:
        print(runner.report(inputs, given.report or None))
    if report is not None:
        print(report)
        if isinstance(plans, OpenRunner):
            print(plans.report())
        if given.report:
            report.write(given.report)
    return status


def _names(shape: Iterable[Any]) -> list[str]:
    """Those of open dimensions."""
    return [n for n in shape if isinstance(n, str)]


def _prepared(
    model: Model, given: Mapping[str, Any], files: Mapping[str, Shape], layout: str
) -> tuple[Any, OpenRunner | CourseRunner | None]:
    """A runner for these shapes, or for those of the files; and where given dimensions are open, what has planned it."""
    shapes = {**files, **given}
    if not any(map(_names, shapes.values())):
        return _packed(model, shapes, layout), None
    plans: Any = model.prepare(shapes, layout=layout)
    known = {n: size for name, shape in files.items() for n, size in zip(plans.dims[name], shape)}
    found = {name: files.get(name, tuple(known.get(n, n) for n in each)) for name, each in plans.dims.items()}
    for name, shape in found.items():
        if _names(shape):
            what = f"the dimension {_names(shape)[0]} of {name!r} is open"
            raise ValueError(f"{what}: pass a number with --shape, or an array with --input")
    return plans.prepare(found), plans


def _packed(model: Model, shapes: Mapping[str, Shape], layout: str) -> Any:
    """The model, prepared, with a bar on a terminal if tqdm is installed."""
    try:
        from tqdm import tqdm
    except ImportError:
        return model.prepare(model.shapes(shapes), layout=layout)
    with tqdm(
        total=1.0, desc="packing weights", bar_format="{desc} {percentage:3.0f}% |{bar}|", leave=False, disable=None
    ) as bar:
        return model.prepare(model.shapes(shapes), layout=layout, progress=lambda part: bar.update(part - bar.n))


def _nchw(shape: Shape) -> Shape:
    return (shape[0], shape[3], *shape[1:3]) if len(shape) == 4 else shape


def _values(array: Array, given: argparse.Namespace) -> Array:
    random = np.random.default_rng(given.seed)
    if not given.random:
        return np.zeros_like(array)
    if array.dtype.kind == "f":
        return random.random(array.shape, np.float32).astype(array.dtype)
    return random.integers(0, 2, array.shape).astype(array.dtype)


def _write(folder: Path, name: str, value: Any) -> None:
    """An output into files: that of an array, one for each array of a sequence, none of an empty optional value."""
    folder.mkdir(parents=True, exist_ok=True)
    if isinstance(value, np.ndarray):
        np.save(folder / f"{name}.npy", value)
    elif value is not None:
        for i, each in enumerate(value):
            np.save(folder / f"{name}.{i}.npy", each)


def _file_name(name: str) -> str:
    """Another one for each name; characters that a file name cannot have are as in addresses of the web."""
    return re.sub(r"[%/\\\x00-\x1f\x7f\ud800-\udfff]", lambda found: quote(found[0], "", errors="surrogatepass"), name)


def _described(value: Any) -> str:
    """An output: an array, a sequence, or an optional value."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape}, {_range(value)}"
    return "empty" if value is None else f"a sequence of {len(value)}"


def _range(array: Array) -> str:
    if not array.size:
        return "empty"
    return f"{float(array.min()):g} to {float(array.max()):g}, mean {array.mean():g}"


def _milliseconds(call: Callable[[], Any]) -> float:
    times: list[float] = []
    begin = time.perf_counter()
    while len(times) < 3 or time.perf_counter() - begin < _SECONDS:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e3


def _checked(given: argparse.Namespace, model: Model, inputs: Mapping[str, Array], outputs: Mapping[str, Array]) -> int:
    """The largest difference of each output from that of ONNX Runtime; the exit status is 1 if one is large."""
    try:
        import onnxruntime
    except ImportError:
        print("onnxruntime is not installed: pip install onnxruntime")
        return 2
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = given.threads
    try:  # its exceptions have no class of their own in common
        session = onnxruntime.InferenceSession(given.model, options, providers=["CPUExecutionProvider"])
        fed = _fed(session, inputs, given.layout) | _fed(session, model.values, "nchw")
        expected = dict(zip((value.name for value in session.get_outputs()), session.run(None, fed)))
    except Exception as error:
        print(f"onnxruntime {onnxruntime.__version__} cannot run the model: {error}")
        return 2
    half = any(value.type in _HALF for value in (*session.get_inputs(), *session.get_outputs()))
    status = 0
    for name, theirs in expected.items():
        ours = outputs[name].transpose(0, 3, 1, 2) if given.layout == "nhwc" and outputs[name].ndim == 4 else outputs[name]
        largest, scale = _difference(ours, theirs), _largest(theirs)
        status = max(status, int(not largest <= (1e-2 if half else 1e-3) * max(scale, 1e-3)))
        print(f"{printable(name)}: differs from onnxruntime by {largest:.2g} at most, of {scale:.3g}")
    print(
        f"onnxruntime {onnxruntime.__version__}: {_milliseconds(lambda: session.run(None, fed)):.3f} ms ({MEDIAN_OF_RUNS})"
    )
    return status


_HALF = ("tensor(float16)", "tensor(bfloat16)")


def _fed(session: Any, arrays: Mapping[str, Array], layout: str) -> dict[str, Array]:
    """Inputs as ONNX Runtime takes them: we compute with float32 where the file has other types."""
    fed = {}
    for value in (*session.get_inputs(), *session.get_overridable_initializers()):
        if value.name in arrays:
            array, name = arrays[value.name], value.type[len("tensor(") : -1]
            images = array.transpose(0, 3, 1, 2) if layout == "nhwc" and array.ndim == 4 else array
            dtype = {"float": "float32", "double": "float64"}.get(name, name)
            fed[value.name] = np.asarray(images, dtype, order="C")
    return fed


def _difference(ours: Array, theirs: Array) -> float:
    """The largest one; equal infinities do not differ, nor does NaN from NaN."""
    if ours.shape != theirs.shape:
        return float("inf")
    a, b = ours.astype(np.float64), theirs.astype(np.float64)
    with np.errstate(invalid="ignore"):
        return float(np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0, np.abs(a - b)).max(initial=0))


def _largest(array: Array) -> float:
    """The largest magnitude of a finite number."""
    sizes = np.abs(array.astype(np.float64))
    return float(sizes.max(initial=0, where=np.isfinite(sizes)))
