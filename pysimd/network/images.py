"""Images from files as the input of a model, in batches: the next images are read while the model computes.

    for batch in batches(pysimd.load("model.onnx"), "folder"):
        for file, scores in zip(batch.files, batch.outputs["y"]):
            print(file, scores.argmax())

Images are read with Pillow, by threads of Python: it decodes and resizes without the lock of the interpreter.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Union

import numpy as np

from pysimd.annotations import Array, Shape
from pysimd.errors import shown
from pysimd.network.source import Value

if TYPE_CHECKING:
    from pysimd.network.model import Model

#: The ends of names of files that are read from a folder.
ENDINGS = (".jpg", ".jpeg", ".jfif", ".png", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".ppm", ".pgm", ".avif")

#: Of the images of ImageNet, from 0 to 1, by which most published classifiers are trained.
IMAGENET_MEAN, IMAGENET_STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)

_GREY = 114  # of the borders of a letterbox, as detectors are trained

Fit = Literal["crop", "stretch", "letterbox"]
Color = Literal["rgb", "bgr", "gray"]
Numbers = Union[float, Sequence[float]]
Files = Union[str, "os.PathLike[str]", Iterable[Union[str, "os.PathLike[str]"]]]


@dataclass(frozen=True, eq=False)
class Preprocessing:
    """How an image becomes an array: calling this with a file reads it.

    height, width : the size of the result.
    channels_last : (height, width, channels) instead of (channels, height, width).
    color, fit, crop, draft : as of :func:`batches`.
    table : for each channel, what the 256 values of a pixel become, as float32 or uint8.
    """

    height: int
    width: int
    channels_last: bool
    color: Color
    fit: Fit
    crop: float
    draft: bool
    table: Array

    @property
    def shape(self) -> Shape:
        """The shape of the result."""
        sizes, channels = (self.height, self.width), (len(self.table),)
        return (*sizes, *channels) if self.channels_last else (*channels, *sizes)

    def __call__(self, file: Any) -> Array:
        """The image of a file. Raises what Pillow raises, and ValueError for pixels that have no 8 or 16 bits."""
        with pillow().open(file) as opened:
            if self.draft:
                least = 2 * round(max(self.height, self.width) / self.crop)
                opened.draft(None, (least, least))  # of each side; the filter then still averages
            pixels = np.asarray(self._fitted(_with_colors(_upright(opened), self.color)))
        pixels = pixels.reshape(self.height, self.width, len(self.table))
        if self.color == "bgr":
            pixels = pixels[:, :, ::-1]
        result = np.empty(self.shape, self.table.dtype)
        for c, values in enumerate(self.table):
            channel = result[..., c] if self.channels_last else result[c]
            channel[...] = values[pixels[:, :, c]]
        return result

    def _fitted(self, image: Any) -> Any:
        size = self.width, self.height
        bilinear = pillow().Resampling.BILINEAR  # of all source pixels that one result covers
        if self.fit == "stretch":
            return image.resize(size, bilinear)
        if self.fit == "crop":
            image = image.resize(_covering(image.size, size, self.crop), bilinear)
            left, top = (round((n - cut) / 2) for n, cut in zip(image.size, size))
            return image.crop((left, top, left + self.width, top + self.height))
        image = image.resize(_within(image.size, size), bilinear)
        board = pillow().new(image.mode, size, (_GREY,) * len(image.getbands()))
        board.paste(image, tuple((n - part) // 2 for n, part in zip(size, image.size)))
        return board


def _covering(image: tuple[int, int], size: tuple[int, int], crop: float) -> tuple[int, int]:
    """The size to which an image is resized, so that `size` is the part `crop` of the side that limits it."""
    (w, h), (width, height) = image, size
    if width * h >= height * w:
        across = max(width, round(width / crop))
        return across, max(height, across * h // w)
    down = max(height, round(height / crop))
    return max(width, down * w // h), down


def _within(image: tuple[int, int], size: tuple[int, int]) -> tuple[int, int]:
    """The largest size with the proportions of an image within `size`."""
    (w, h), (width, height) = image, size
    if width * h <= height * w:
        return width, max(1, round(width * h / w))
    return max(1, round(height * w / h)), height


def _upright(image: Any) -> Any:
    """As the camera was held."""
    from PIL import ImageOps

    return ImageOps.exif_transpose(image)


def _with_colors(image: Any, color: Color) -> Any:
    """With 8 bits for each of the channels; Pillow's own conversion of 16 bits makes all but black white."""
    if image.mode == "F":
        raise ValueError("its pixels are float32, expected 8 or 16 bits")
    if image.mode.startswith("I"):
        values = np.asarray(image)
        if values.min(initial=0) < 0 or values.max(initial=0) > 0xFFFF:
            raise ValueError("its pixels have 32 bits, expected 8 or 16")
        image = pillow().fromarray((values >> 8).astype(np.uint8))
    return image.convert("L" if color == "gray" else "RGB")


def pillow() -> Any:
    """The module PIL.Image."""
    try:
        from PIL import Image
    except ImportError:
        raise ImportError("images are read with Pillow: pip install 'pysimd[images]'") from None
    return Image


# ---- what the input of a model needs


def preprocessing_of(
    value: Value,
    *,
    size: int | tuple[int, int] | None = None,
    fit: Fit = "crop",
    crop: float = 0.875,
    draft: bool = False,
    color: Color | None = None,
    scale: float | None = None,
    mean: Numbers | None = None,
    std: Numbers | None = None,
) -> Preprocessing:
    """The preprocessing for an input of a model, with the options of :func:`batches`."""
    if fit not in ("crop", "stretch", "letterbox"):
        raise ValueError(f"fit is {shown(fit)}, expected 'crop', 'stretch' or 'letterbox'")
    if color not in (None, "rgb", "bgr", "gray"):
        raise ValueError(f"color is {shown(color)}, expected 'rgb', 'bgr' or 'gray'")
    if not 0 < crop <= 1:
        raise ValueError(f"crop is {shown(crop)}, expected a number above 0, at most 1")
    channels, last = _channels(value, color)
    dims = value.dims or ()
    open_or_known = dims[1:3] if last else dims[2:4]
    given: tuple[Any, ...] = (None, None) if size is None else (size, size) if isinstance(size, int) else tuple(size)
    if len(given) != 2:
        raise ValueError(f"size is {shown(size)}, expected a number or (height, width)")
    sides = [n if isinstance(n, int) else side for n, side in zip(open_or_known, given)]
    for name, side, other in zip(("height", "width"), sides, given):
        if side is None:
            raise ValueError(f"the model leaves the {name} of its images open: give the size (--size on the command line)")
        if side < 1 or other not in (None, side):
            raise ValueError(f"size is {shown(size)}, but the input {value.name} has {dims}")
    table = _table(value.dtype, channels, color, scale, mean, std)
    return Preprocessing(sides[0], sides[1], last, color or ("gray" if channels == 1 else "rgb"), fit, crop, draft, table)


def _channels(value: Value, color: Color | None) -> tuple[int, bool]:
    """The number of channels of an input, and whether they are last."""
    wanted = (1, 3) if color is None else (1,) if color == "gray" else (3,)
    dims = value.dims or ()
    if len(dims) == 4 and value.dtype in ("float32", "uint8"):
        for place in (1, 3):
            n = dims[place]
            if isinstance(n, int) and n in wanted:
                return n, place == 3
        if not isinstance(dims[1], int) and not isinstance(dims[3], int) and color is not None:
            return wanted[0], False
    raise ValueError(
        f"the input {value.name} is {value.dtype} {dims}, expected float32 or uint8 and (N, C, height, width) or"
        f" (N, height, width, C), where C is {' or '.join(map(str, wanted))}"
    )


def _table(
    dtype: str, channels: int, color: Color | None, scale: float | None, mean: Numbers | None, std: Numbers | None
) -> Array:
    """(pixel * scale - mean) / std of the 256 values of a pixel, rounded once; means are in the order of channels."""
    pixels = np.arange(256)
    if dtype == "uint8":
        if (scale, mean, std) != (None, None, None):
            raise ValueError("the model takes pixels of uint8 as they are: scale, mean and std are for float32")
        return np.tile(pixels.astype(np.uint8), (channels, 1))
    if scale is mean is std is None and channels == 3:
        mean, std = (IMAGENET_MEAN[::-1], IMAGENET_STD[::-1]) if color == "bgr" else (IMAGENET_MEAN, IMAGENET_STD)
    means, deviations = _of_channels("mean", mean, 0, channels), _of_channels("std", std, 1, channels)
    if (deviations == 0).any() or not (scale is None or isfinite(scale)):
        raise ValueError(f"scale is {shown(scale)} and std is {shown(std)}, expected numbers, and no 0 in std")
    if scale is None and (abs(means) > 1).any():
        raise ValueError(f"mean is {shown(mean)}, but pixels are from 0 to 1: for means from 0 to 255 also give scale=1")
    scaled = pixels * scale if scale is not None else pixels / 255
    return ((scaled - means[:, None]) / deviations[:, None]).astype(np.float32)


def _of_channels(name: str, numbers: Numbers | None, default: float, channels: int) -> Array:
    values = np.atleast_1d(np.asarray(default if numbers is None else numbers, np.float64))
    if values.shape not in ((1,), (channels,)) or not np.isfinite(values).all():
        raise ValueError(f"{name} is {shown(numbers)}, expected one number or {channels}")
    return np.broadcast_to(values, (channels,))


# ---- batches


@dataclass(frozen=True, eq=False)
class Batch:
    """Results of some images.

    files : those that were read, in order.
    outputs : by name, arrays whose rows are of the images in `files`. The outputs of a model that takes one image need not
        have such a dimension: they are as they are then. There are none if no image could be read.
    errors : for each of the other files, why it could not be read.
    """

    files: tuple[Path, ...]
    outputs: dict[str, Array]
    errors: dict[Path, str]


def batches(
    model: Model,
    images: Files,
    *,
    batch: int | None = None,
    size: int | tuple[int, int] | None = None,
    fit: Fit = "crop",
    crop: float = 0.875,
    draft: bool = False,
    color: Color | None = None,
    scale: float | None = None,
    mean: Numbers | None = None,
    std: Numbers | None = None,
    readers: int | None = None,
) -> Batches:
    """Runs a model on images of any size; the result is iterated for a :class:`Batch` after the other.

    model : has one input: float32 or uint8, (N, C, height, width) or (N, height, width, C), where C is 3 or 1.
    images : a folder, which is searched with the folders in it for names that end as images do (:data:`ENDINGS`), in the
        order of their names; or a file; or several files.
    batch : the number of images that are computed together: by default what the file of the model says, else 1. Outputs need
        a first dimension of this number if it is not 1. The last batch is filled up with zeros, whose results are removed.
    size : a number, or (height, width), where the file of the model leaves them open.
    fit : "crop" resizes the image to cover the size of the input and more, and cuts the centre out, `crop` of the side that
        limits it: with 0.875 that of 224 x 224 in 256 x N, as classifiers are tested; "stretch" ignores proportions;
        "letterbox" keeps the whole image, between gray borders (114).
    draft : decodes a JPEG file that is at least four times as large as needed at a half, a quarter or an eighth of its size,
        which is several times as fast; values of pixels then differ by a few units.
    color : "rgb" or "bgr" for 3 channels, "gray" for 1; by default RGB or gray.
    scale, mean, std : a float32 input is (pixel * scale - mean) / std, with pixels from 0 to 255. If none is given, the
        scale is 1/255, and 3 channels have the mean and the standard deviation of ImageNet, (0.485, 0.456, 0.406) and
        (0.229, 0.224, 0.225), in the order of `color`. If one is given, the others are 1/255, 0 and 1. A uint8 input takes
        the pixels as they are.
    readers : the number of threads that read images: by default as many as there are processors for the process, at most 4.

    Images are rotated as their EXIF orientation says; 16 bits are reduced to 8, transparency is dropped, and of an animation
    the first image is taken. A file that cannot be read is in the `errors` of its batch. The results of an image do not
    depend on the others, except in models that compute something of a whole batch, such as DynamicQuantizeLinear.

    Raises ValueError for a model that does not fit, options that do not fit, and for a folder without images; OSError if the
    folder cannot be read; ImportError without Pillow.
    """
    if len(model.inputs) != 1:
        raise ValueError(f"the model has {len(model.inputs)} inputs, expected one, of images: {', '.join(model.inputs)}")
    (value,) = model.inputs.values()
    prepared = preprocessing_of(
        value, size=size, fit=fit, crop=crop, draft=draft, color=color, scale=scale, mean=mean, std=std
    )
    if readers is None:
        readers = min(4, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
    for name, number in (("batch", batch), ("readers", readers)):
        if number is not None and number < 1:
            raise ValueError(f"{name} is {shown(number)}, expected at least 1")
    n = value.dims[0] if value.dims else None
    if isinstance(n, int) and batch not in (None, n):
        raise ValueError(f"batch is {batch}, but the model takes {n} at a time")
    pillow()
    return Batches(model, files_of(images), prepared, n if isinstance(n, int) else batch or 1, readers)


class Batches:
    """What :func:`batches` returns; `len()` is the number of batches. One thread at a time may iterate over it.

    files : all files, in order.
    preprocessing : how they are read.
    size : the number of images in a batch.
    runner : computes them.
    """

    def __init__(self, model: Model, files: Sequence[Path], preprocessing: Preprocessing, size: int, readers: int) -> None:
        self.files, self.preprocessing, self.size, self._readers = tuple(files), preprocessing, size, readers
        (name,) = model.inputs
        self.runner = model.prepare({name: (size, *preprocessing.shape)})
        self._input = self.runner.inputs[name]
        if size != 1 and len(self.runner.outputs) < len(model.outputs):  # of a CourseRunner, before a run
            raise ValueError("the shapes of outputs depend on values: use batch=1")
        for output, array in self.runner.outputs.items():
            if size != 1 and array.shape[:1] != (size,):
                raise ValueError(
                    f"the output {output} has shape {array.shape}, not {size} rows, one for each image: use batch=1"
                )

    def __len__(self) -> int:
        return -(-len(self.files) // self.size)

    def __iter__(self) -> Iterator[Batch]:
        from concurrent.futures import ThreadPoolExecutor  # only here: models without images need not import it

        ahead = 2 * self.size + self._readers  # read at most, beyond the batch that is computed
        pool = ThreadPoolExecutor(self._readers, "pysimd-images")
        try:
            futures = deque(pool.submit(self._read, file) for file in self.files[:ahead])
            for first in range(0, len(self.files), self.size):
                files = self.files[first : first + self.size]
                read = [futures.popleft().result() for _ in files]
                for file in self.files[first + ahead : first + ahead + self.size]:
                    futures.append(pool.submit(self._read, file))
                yield self._computed(files, read)
        finally:
            pool.shutdown(cancel_futures=True)

    def _read(self, file: Path) -> Array | str:
        """An image, or why there is none: Pillow raises exceptions of many classes for files that are not correct."""
        try:
            return self.preprocessing(file)
        except Exception as error:
            return str(error) or type(error).__name__

    def _computed(self, files: Sequence[Path], read: Sequence[Array | str]) -> Batch:
        errors = {file: image for file, image in zip(files, read) if isinstance(image, str)}
        good = [i for i, image in enumerate(read) if not isinstance(image, str)]
        outputs = {}
        if good:
            self._input[...] = 0
            for i in good:
                self._input[i] = read[i]
            results = self.runner.run()
            outputs = {name: array.copy() if self.size == 1 else array[good] for name, array in results.items()}
        return Batch(tuple(files[i] for i in good), outputs, errors)


def files_of(images: Files) -> list[Path]:
    """The files: those of a folder with all folders in it, a single one, or several that are given."""
    if not isinstance(images, (str, os.PathLike)):
        return [Path(file) for file in images]
    path = Path(images)
    if not path.is_dir():
        path.stat()  # raises OSError
        return [path]
    found = sorted(file for file in path.rglob("*") if file.suffix.lower() in ENDINGS and file.is_file())
    if not found:
        raise ValueError(f"{path} has no images: files that end in {', '.join(ENDINGS)}")
    return found
