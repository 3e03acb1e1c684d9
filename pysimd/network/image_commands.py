"""``python -m pysimd run MODEL --images FOLDER``: a model on the images of a folder, with the results as CSV or .npz."""

from __future__ import annotations

import argparse
import csv
import io
import sys
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

import pysimd
from pysimd.annotations import Array
from pysimd.network.files import whole
from pysimd.network.images import Batch, Batches, Preprocessing, batches
from pysimd.network.model import Model

_TOP = 5
_MOST_COLUMNS = 4096
_MOST_ERRORS = 10  # that are printed

#: Options of `run` that images have no use for, and what they are without.
_OTHERS = {"random": False, "input": [], "check": None, "report": None, "shape": [], "layout": "nchw"}


def add_to(run: argparse.ArgumentParser) -> None:
    """Adds the options to the parser of the command."""
    group = run.add_argument_group("images", "runs the model on each image of a folder, and writes a table")
    add = group.add_argument
    add("--images", metavar="FOLDER", help="a folder, searched with the folders in it, or a file")
    add("--csv", metavar="FILE", help="the table to write; without it and --save, it is printed")
    add("--top", type=int, metavar="N", help=f"the classes with the N largest scores (default: {_TOP}); 0: all numbers")
    add("--labels", metavar="FILE", help="the names of the classes, one a line")
    add("--batch", type=int, metavar="N", help="images that are computed together (default: as the model says, else 1)")
    add_preprocessing(add)
    add("--readers", type=int, metavar="N", help="threads that read images (default: one a processor, at most 4)")


def add_preprocessing(add: Callable[..., Any]) -> None:
    """Adds the options of how an image becomes an input."""
    add("--size", type=_size, metavar="H,W", help="of the input, where the model leaves it open; one number for both")
    add("--fit", choices=("crop", "stretch", "letterbox"), help="how an image gets the size of the input (default: crop)")
    add(
        "--crop",
        type=float,
        metavar="PART",
        help="with --fit crop, the part of a side that is kept (default: 0.875)",
    )
    add("--draft", action="store_const", const=True, help="decodes large JPEG files at a smaller size: faster, less exact")
    add("--color", choices=("rgb", "bgr", "gray"), help="the order of channels (default: rgb, or gray for one channel)")
    add("--scale", type=_number, metavar="X", help="the input is (pixel * SCALE - MEAN) / STD (default: 1/255)")
    add("--mean", type=_numbers, metavar="R,G,B", help="one number or three (default: of ImageNet, or 0)")
    add("--std", type=_numbers, metavar="R,G,B", help="one number or three (default: of ImageNet, or 1)")


def wanted(given: argparse.Namespace) -> bool:
    """Whether the model is run on images. Raises ValueError for options that do not belong together."""
    own = ("csv", "top", "labels", *_OPTIONS)
    if given.images is None:
        wrong = [name for name in own if getattr(given, name) is not None]
        if wrong:
            raise ValueError(f"--{wrong[0]} needs --images")
        return False
    wrong = [name for name, usual in _OTHERS.items() if getattr(given, name) != usual]
    if wrong:
        raise ValueError(f"--{wrong[0]} cannot be used with --images" + "; see --size" * (wrong[0] == "shape"))
    return True


#: How an image becomes an input.
PREPROCESSING = ("size", "fit", "crop", "draft", "color", "scale", "mean", "std")
_OPTIONS = ("batch", *PREPROCESSING, "readers")


def run(model: Model, given: argparse.Namespace) -> int:
    """Runs the model on images; returns the exit status, which is 1 if one could not be read."""
    options = {name: getattr(given, name) for name in _OPTIONS if getattr(given, name) is not None}
    work = batches(model, given.images, **options)
    root = Path(given.images) if Path(given.images).is_dir() else Path(given.images).parent
    print(described(work.preprocessing), file=sys.stderr)
    begin, errors = time.perf_counter(), {}  # type: float, dict[str, str]
    with ExitStack() as files:
        outlets: list[Callable[[Batch], Any]] = []
        if given.csv or not given.save:
            table = Table(work, root, given.top, given.labels)
            writer = files.enter_context(_csv_writer(given.csv))
            writer.writerow(table.header)
            outlets.append(lambda batch: writer.writerows(table.rows(batch)))
        if given.save:
            outlets.append(lambda batch: _save(batch, work.size, root, Path(given.save)))
        for batch in _with_bar(work, hidden=not (given.csv or given.save)):
            errors |= {_name(path, root): error for path, error in batch.errors.items()}
            for write in outlets:
                write(batch)
    seconds, count = time.perf_counter() - begin, len(work.files)
    print(
        f"{count} images in {seconds:.2f} s, {count / seconds:.1f} per second;"
        f" batch {work.size}, {given.threads} threads, {pysimd.active_isa()}",
        file=sys.stderr,
    )
    _print_errors(errors)
    return int(bool(errors))


def _name(path: Path, root: Path) -> str:
    """As tables and messages have it."""
    return path.relative_to(root).as_posix()


def _print_errors(errors: Mapping[str, str]) -> None:
    if errors:
        print(f"{len(errors)} could not be read:", file=sys.stderr)
    for name, error in list(errors.items())[:_MOST_ERRORS]:
        print(f"  {name}: {error}", file=sys.stderr)
    if len(errors) > _MOST_ERRORS:
        print(f"  and {len(errors) - _MOST_ERRORS} more", file=sys.stderr)


def described(preprocessing: Preprocessing) -> str:
    """What becomes of an image, in a line."""
    table = preprocessing.table
    how = f"{preprocessing.fit} {preprocessing.crop:g}" if preprocessing.fit == "crop" else preprocessing.fit
    values = "" if table.dtype == np.uint8 else f", from {_each(table[:, 0])} (black) to {_each(table[:, -1])} (white)"
    order = "height, width, channels" if preprocessing.channels_last else "channels, height, width"
    shape = " x ".join(map(str, preprocessing.shape))
    return f"input: {preprocessing.color} {shape} ({order}), {how}, {table.dtype}{values}"


def _each(values: Array) -> str:
    """A number of each channel, or one if they are equal."""
    return ", ".join(f"{value:.4g}" for value in (values[:1] if (values == values[0]).all() else values))


class Table:
    """The rows of the CSV: the best classes of an image if the model has one output of scores, else all its numbers.

    root : the folder to which names of files are relative.
    top : the number of classes; None for the usual number, if there are scores; 0 for all numbers.
    labels : a file with the names of the classes, or None.

    Raises ValueError for options and labels that do not fit the outputs, and for outputs of too many numbers.
    """

    def __init__(self, work: Batches, root: Path, top: int | None, labels: str | None) -> None:
        self._batch, self._root = work.size, root
        shapes = {name: _shape_of_image(array, work.size) for name, array in work.runner.outputs.items()}
        if not shapes:  # of a CourseRunner, before a run
            raise ValueError("the shapes of outputs depend on values: use --save FOLDER without --csv")
        counts = {name: int(np.prod(shape, dtype=np.int64)) for name, shape in shapes.items()}
        (first, *others) = shapes
        scores = not others and counts[first] > 1 and max(shapes[first]) == counts[first]
        if not scores and (top or labels):
            raise ValueError(f"--top and --labels are for one output of scores, the model has {shapes}")
        if top is not None and top < 0:
            raise ValueError(f"--top is {top}, expected at least 0")
        self._top = min(_TOP if top is None else top, counts[first]) if scores else 0
        self._labels = _labels_of(labels, counts[first]) if labels else None
        if self._top:
            columns = [f"{what}_{i}" for i in range(1, self._top + 1) for what in ("class", "score")]
        elif sum(counts.values()) > _MOST_COLUMNS:
            raise ValueError(f"the outputs {shapes} are too large for a table: use --save FOLDER without --csv")
        elif self._labels:
            columns = self._labels
        else:
            columns = [f"{name}[{i}]" if n > 1 else name for name, n in counts.items() for i in range(n)]
        self.header = ["file", *columns, "error"]

    def rows(self, batch: Batch) -> Iterator[list[str]]:
        """A row for each file, in order of the files."""
        blank = [""] * (len(self.header) - 2)
        cells = {path: [*blank, error] for path, error in batch.errors.items()}
        for i, path in enumerate(batch.files):
            values = [array.reshape(-1) for array in _of_image(batch, self._batch, i).values()]
            cells[path] = [*(self._best(values[0]) if self._top else [str(x) for each in values for x in each]), ""]
        for path in sorted(cells):
            yield [_name(path, self._root), *cells[path]]

    def _best(self, scores: Array) -> Iterator[str]:
        """The classes and scores; of equal ones, the first is better, and NaN is worst."""
        for i in np.argsort(-scores.astype(np.float64), kind="stable")[: self._top]:
            yield from (self._labels[i] if self._labels else str(i), str(scores[i]))


def _labels_of(path: str, count: int) -> list[str]:
    labels = Path(path).read_text(encoding="utf-8").splitlines()
    if len(labels) != count:
        raise ValueError(f"{path} has {len(labels)} lines, expected one for each of {count} classes")
    return labels


def _shape_of_image(array: Array, batch: int) -> tuple[int, ...]:
    """The shape of what belongs to one image."""
    return array.shape if array.shape[:1] != (batch,) else array.shape[1:]


def _of_image(batch: Batch, size: int, i: int) -> dict[str, Array]:
    """The outputs of an image of a batch."""
    return {name: array[i] if size > 1 or array.shape[:1] == (1,) else array for name, array in batch.outputs.items()}


# ---- files


@contextmanager
def _csv_writer(path: str | None) -> Iterator[Any]:
    """Writes rows to a file that is complete or as before, or to the standard output."""
    if path is None:
        yield csv.writer(sys.stdout, lineterminator="\n")
        return
    with whole(path) as file:
        text = io.TextIOWrapper(file, "utf-8", "surrogateescape", newline="")
        yield csv.writer(text, lineterminator="\n")
        text.detach()  # after writing what is left in its buffer


def _save(batch: Batch, size: int, root: Path, folder: Path) -> None:
    """Writes the outputs of each image to a file of its own."""
    for i, path in enumerate(batch.files):
        _write_npz(folder / f"{_name(path, root)}.npz", _of_image(batch, size, i))


def _write_npz(path: Path, arrays: Mapping[str, Array]) -> None:
    """As np.savez, which has no array named "file"."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole(path) as file, zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array)


# ---- options


def _with_bar(work: Batches, hidden: bool) -> Iterator[Batch]:
    """The batches, with a bar on a terminal if tqdm is installed."""
    try:
        from tqdm import tqdm
    except ImportError:
        yield from work
        return
    with tqdm(total=len(work.files), unit=" images", disable=hidden or None) as bar:
        for batch in work:
            yield batch
            bar.update(len(batch.files) + len(batch.errors))


def _size(text: str) -> tuple[int, int]:
    try:
        sides = [int(side) for side in text.split(",")]
        (height, width) = sides * 2 if len(sides) == 1 else sides
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size, expected 224 or 224,320 (height, width)") from None
    return height, width


def _number(text: str) -> float:
    try:
        return float(Fraction(text))
    except (ValueError, ZeroDivisionError):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number, expected one such as 0.5 or 1/255") from None


def _numbers(text: str) -> list[float]:
    return [_number(number) for number in text.split(",")]
