"""How many drawn lines a model of 8 bits reads right: the task itself, beside the floats and ONNX Runtime's quantiser.

    PYTHONPATH=.:tests python -m bench.quantised_lines build/models/ocr4-recognition.onnx [--lines 200] [--only NAME]...

The model reads images of 48 rows, and has its characters in its metadata, one a line, as those of PaddleOCR; lines are drawn
with Pillow from a fixed seed: words and numbers in ink and on paper of random brightness, shrunk, with noise. Ranges are
those of 40 other lines, drawn as :mod:`bench.quantised_samples` does. The most likely character of each column is taken,
without repetitions and blanks; spaces are not compared.

Printed for each way to quantise: the part of lines that are right, the part whose text is that of the floats, and the ratio
of signal to noise of all outputs. A row is one of ``ROWS``; --only takes some.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import pysimd
from bench.quantised import SAMPLES, Run, by_onnx_runtime, decibels, of_onnx_runtime, ours
from bench.quantised_samples import samples_of
from pysimd.annotations import Array

LINES, WIDTH, HEIGHT = 200, 320, 48
WORDS = (  # noqa: SIM905
    "about after again always answer before between black bridge brought building change children city color country "
    "different does early earth every example family father field figure follow found garden general great green group "
    "happen heard house important island kind large later learn letter light machine measure minute morning mountain music "
    "never north notice number object order paper pattern people picture plant point power question quick rain reach river "
    "science second sentence several short simple snow south special stand street strong summer surface system table "
    "thought travel under usual valley voice water week white window winter world write yellow young"
).split()

#: What is done for a row, by its name: the options of pysimd.quantize_model; None is ONNX Runtime's quantiser.
ROWS: Mapping[str, Mapping[str, Any] | None] = {
    "keep_float=()": {"keep_float": ()},
    "keep_float=(), mse": {"keep_float": (), "method": "mse"},
    "default": {},
    "mse": {"method": "mse"},
    "ONNX Runtime": None,
}


class Line(NamedTuple):
    """A text, and its image as the model takes it."""

    text: str
    image: Array


def drawn(count: int, seed: int = 7) -> list[Line]:
    """Lines of words and numbers."""
    rng, found = np.random.default_rng(seed), []  # type: Any, list[Line]
    while len(found) < count:
        words = [str(word) for word in rng.choice(WORDS, rng.integers(1, 4))]
        numbers = [str(number) for number in rng.integers(0, 10000, rng.integers(0, 2))]
        line = _line(" ".join([*words, *numbers]), rng)
        if line is not None:
            found.append(line)
    return found


def _line(text: str, rng: Any) -> Line | None:
    """None for a text that is too wide."""
    from PIL import Image, ImageDraw, ImageFont

    size = int(rng.integers(18, 37))
    font = ImageFont.load_default(size)
    image = Image.new("L", (WIDTH, HEIGHT), 0)
    draw = ImageDraw.Draw(image)
    left, top, right, bottom = draw.textbbox((0, 0), text, font)
    if right - left > WIDTH - 16 or bottom - top > HEIGHT - 4:
        return None
    draw.text((8 - left, (HEIGHT - bottom + top) // 2 - top), text, 255, font)
    factor = rng.uniform(0.5, 1)  # as of a photograph of few pixels
    small = image.resize((int(WIDTH * factor), int(HEIGHT * factor)), Image.Resampling.BILINEAR)
    letters = np.asarray(small.resize((WIDTH, HEIGHT), Image.Resampling.BILINEAR), np.float32) / 255
    ink, paper = rng.uniform(0, 110), rng.uniform(130, 255)
    pixels = ink + (paper - ink) * letters[..., None] + rng.normal(0, rng.uniform(2, 20), (HEIGHT, WIDTH, 3))
    scaled = pixels.clip(0, 255).transpose(2, 0, 1)[None] / 127.5 - 1
    return Line(text, np.ascontiguousarray(scaled, np.float32))


def characters_of(path: str) -> list[str]:
    """The characters of the classes of a model: the blank, those of its metadata, and the space."""
    import onnx

    metadata = {each.key: each.value for each in onnx.load(path).metadata_props}
    if "character" not in metadata:
        raise ValueError(f"{path} has no characters in its metadata")
    return ["", *metadata["character"].split("\n"), " "]


def read(scores: Array, characters: Sequence[str]) -> str:
    """The text of columns of scores (1, columns, classes)."""
    best = scores[0].argmax(-1)
    kept = best[np.concatenate(([True], best[1:] != best[:-1]))]
    return "".join(characters[i] for i in kept).replace(" ", "")


def quantised(path: str, options: Mapping[str, Any] | None, samples: Sequence[Mapping[str, Array]]) -> Run:
    """A model of 8 bits to run."""
    if options is not None:
        return ours(pysimd.quantize_model(path, samples, **options).load(), samples[0])
    with tempfile.TemporaryDirectory() as folder:
        used = [x for i, x in enumerate(samples) if i % 5 != 4]
        return of_onnx_runtime(by_onnx_runtime(path, used, Path(folder)))


def main() -> None:
    """Prints the rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", metavar="MODEL")
    parser.add_argument("--lines", type=int, default=LINES, help=f"how many (default: {LINES})")
    parser.add_argument("--only", action="append", choices=list(ROWS), help="a row, in place of all of them")
    given = parser.parse_args()
    characters = characters_of(given.model)
    (name,) = pysimd.load(given.model).inputs
    lines = drawn(given.lines)
    samples = samples_of(Path(given.model).stem, [name], SAMPLES)
    run = ours(pysimd.load(given.model), samples[0])
    expected = [np.array(run({name: line.image})[0]) for line in lines]
    texts = [read(scores, characters) for scores in expected]
    right = np.mean([line.text.replace(" ", "") == text for line, text in zip(lines, texts)])
    print(f"float: {100 * right:.1f} % of {len(lines)} lines are right", flush=True)
    for row in given.only or ROWS:
        run = quantised(given.model, ROWS[row], samples)
        scores = [np.array(run({name: line.image})[0]) for line in lines]
        found = [read(each, characters) for each in scores]
        right = np.mean([line.text.replace(" ", "") == text for line, text in zip(lines, found)])
        same = np.mean([one == other for one, other in zip(texts, found)])
        signal = sum(float((each.astype(np.float64) ** 2).sum()) for each in expected)
        noise = sum(float(((one.astype(np.float64) - other) ** 2).sum()) for one, other in zip(expected, scores))
        ratio = decibels(signal, noise)
        print(f"{row}: {100 * right:.1f} % right, {100 * same:.1f} % as of floats, {ratio:.1f} dB", flush=True)


if __name__ == "__main__":
    main()
