"""``python -m pysimd quantize MODEL --samples FOLDER -o FILE``: makes a model of 8 bits."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import pysimd
from pysimd.annotations import Array
from pysimd.errors import printable
from pysimd.network import image_commands
from pysimd.network.images import ENDINGS, preprocessing_of
from pysimd.network.model import Model

_ARRAYS = (".npy", ".npz")
_OPTIONS = (
    "mode",
    "method",
    "keep_float",
    "float_budget",
    "symmetric",
    "weight_bits",
    "block",
    "bias_correction",
    "percentile",
)


def add_to(commands: Any) -> None:
    """Adds the command to a parser."""
    command = commands.add_parser("quantize", help="makes a model of 8 bits from one of floats, as an ONNX file")
    command.set_defaults(run=_quantize)
    add = command.add_argument
    add("model", help="an ONNX file")
    add("-o", "--output", required=True, metavar="FILE", help="the ONNX file to write")
    add(
        "--samples",
        metavar="FOLDER",
        help="inputs that are similar to those to come: images, .npy files of the only input, or .npz files of all inputs;"
        " the modes dynamic and weights need none",
    )
    add(
        "--mode",
        choices=("static", "dynamic", "weights"),
        default="static",
        help="dynamic: the ranges of what products read are found when they run; weights: only they are integers",
    )
    add(
        "--method",
        choices=("minmax", "mse", "percentile", "entropy"),
        default="minmax",
        help="how ranges follow from values (default: minmax, all of them)",
    )
    add("--percentile", type=float, default=99.999, metavar="P", help="for that method (default: 99.999)")
    add("--weight-bits", type=int, choices=(4, 8), default=8, help="of Gemm and MatMul (default: 8)")
    add("--block", type=int, default=32, metavar="N", help="the weights that have a scale, with 4 bits (default: 32)")
    add(
        "--no-bias-correction",
        dest="bias_correction",
        action="store_false",
        help="biases do not make up for the change of the mean of each channel: faster",
    )
    add("--symmetric", action="store_true", help="the byte of 0 is 128, or 0 where no value is negative")
    add(
        "--keep-float",
        action="append",
        default=[],
        metavar="NAME",
        help="a node that stays in float, by its name or that of its result; auto: those with the most noise, which is the"
        " default with samples; none",
    )
    add(
        "--float-budget",
        type=float,
        default=0.1,
        metavar="PART",
        help="of the multiply-adds, that stay in float because of their noise (default: 0.1)",
    )
    add(
        "--report",
        nargs="?",
        const="",
        metavar="FILE.html",
        help="prints how near the model is to the float one, by output and by tensor; with FILE also writes a page",
    )
    group = command.add_argument_group("images", "how an image becomes an input, as for run --images")
    image_commands.add_preprocessing(group.add_argument)


def _quantize(given: argparse.Namespace) -> int:
    samples = None if given.samples is None else _samples(pysimd.load(given.model), given)
    if samples is None and (given.report is not None or given.mode == "static"):
        raise ValueError("there are no samples: pass --samples" + " with --report" * (given.report is not None))
    options = {name: getattr(given, name) for name in _OPTIONS}
    options["keep_float"] = {(): None, ("auto",): "auto", ("none",): ()}.get(tuple(given.keep_float), given.keep_float)
    with _bar() as progress:
        made = pysimd.quantize_model(given.model, samples, progress=progress, **options)
    if given.report is not None:
        print(made.report, end="\n\n")
    made.save(given.output)
    if given.report:
        made.report.write(given.report, given.model)
    sizes = [Path(path).stat().st_size / 1e6 for path in (given.model, given.output)]
    print(f"{given.output}: {sizes[1]:.1f} MB, from {sizes[0]:.1f} MB; {len(made.products)} products have integers")
    if made.kept:
        print(f"in float, as they lose most: {', '.join(map(printable, made.kept))}")
    return 0


@contextmanager
def _bar() -> Iterator[Callable[[float], Any] | None]:
    """Progress on a terminal, if tqdm is installed."""
    try:
        from tqdm import tqdm
    except ImportError:
        yield None
        return
    with tqdm(
        total=1.0, desc="calibrating", bar_format="{desc} {percentage:3.0f}% |{bar}|", leave=False, disable=None
    ) as bar:
        yield lambda part: bar.update(part - bar.n)


def _samples(model: Model, given: argparse.Namespace) -> list[Any]:
    """The files of a folder, in the order of their names, as inputs."""
    folder = Path(given.samples)
    files = sorted(path for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else [folder]
    arrays = [path for path in files if path.suffix.lower() in _ARRAYS]
    images = [path for path in files if path.suffix.lower() in ENDINGS]
    if arrays and images:
        raise ValueError(f"{folder} has images and arrays, expected one kind: {images[0].name}, {arrays[0].name}")
    if arrays:
        return [_loaded(path) for path in arrays]
    if not images:
        raise ValueError(f"{folder} has no samples: neither images nor {' or '.join(_ARRAYS)} files")
    return _images(model, images, given)


def _images(model: Model, files: list[Path], given: argparse.Namespace) -> list[Array]:
    if len(model.inputs) != 1:
        raise ValueError(f"the model has {len(model.inputs)} inputs, expected one, of images: {', '.join(model.inputs)}")
    (value,) = model.inputs.values()
    names = image_commands.PREPROCESSING
    options = {name: getattr(given, name) for name in names if getattr(given, name) is not None}
    prepared, found = preprocessing_of(value, **options), []
    count = value.dims[0] if value.dims and isinstance(value.dims[0], int) else 1
    for path in files:
        try:
            found.append(prepared(path))
        except OSError as error:
            print(f"{path} is left out: {error}", file=sys.stderr)
    if len(found) < count or not found:
        raise ValueError(f"{len(found)} images could be read, expected at least {count}, as many as the model takes")
    return [np.stack(found[i : i + count]) for i in range(0, len(found) - count + 1, count)]


def _loaded(path: Path) -> Any:
    """An array, or arrays by name."""
    try:
        found = np.load(path)
        return found if isinstance(found, np.ndarray) else dict(found)
    except (ValueError, EOFError, OSError):  # of which some recommend to load it as a pickle
        raise ValueError(f"{path} is not a NumPy file of numbers") from None
