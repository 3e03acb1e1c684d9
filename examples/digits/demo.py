"""The digits demo: classifies the held-out images in C and in Python, compares, measures, and draws a picture.

    python demo.py PROGRAM PICTURE

PROGRAM is digits.c, compiled; PICTURE is the PNG to write. `make demo` calls this. Ends with 1 if any two answers differ.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Callable

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is imported: one thread, like the library

import digits_files as files
import numpy as np
import numpy_digits
import onnx_digits
from pysimd_digits import Classifier, classify

import pysimd

HERE = Path(__file__).resolve().parent
WEIGHTS, IMAGES, STATISTICS = HERE / "weights.bin", HERE / "images.bin", HERE / "statistics.json"
ROUNDS, ROUND_SECONDS = 5, 0.06


def run_c(program: str, isa: str, *options: str) -> str:
    """The output of the C program with this instruction set."""
    environment = {**os.environ, "SIMDNET_MAX_ISA": isa}
    command = [program, *options, str(WEIGHTS), str(IMAGES)]
    return subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout


def compare(program: str, isa: str, p: files.Array, plain: files.Array) -> list[str]:
    """Differences of the probabilities p of pysimd from those of the C program and of plain NumPy."""
    answers = p.argmax(axis=1)
    lines = [line.split() for line in run_c(program, isa, "--print").splitlines()]
    wrong = []
    if [int(answer) for answer, _ in lines] != answers.tolist():
        wrong.append(f"{isa}: the C program and pysimd give different classes")
    elif not np.array_equal(np.array([q for _, q in lines], np.float32), p.max(axis=1)):
        wrong.append(f"{isa}: the C program and pysimd give different bits")
    if not np.array_equal(answers, plain.argmax(axis=1)) or np.abs(p - plain).max() > 1e-5:
        wrong.append(f"{isa}: pysimd and plain NumPy differ by {np.abs(p - plain).max():.1e}")
    return wrong


def seconds_of(pass_over_images: Callable[[], object]) -> float:
    """The shortest of the passes that fit into a round."""
    best, begin = float("inf"), time.perf_counter()
    while True:
        start = time.perf_counter()
        pass_over_images()
        end = time.perf_counter()
        best = min(best, end - start)
        if end - begin > ROUND_SECONDS:
            return best


def passes(network: files.Network, images: files.Array, levels: list[str]) -> dict[tuple[str, int], Callable[[], object]]:
    """What is timed: one pass over all images, by name of the row and batch size."""

    def in_batches(function: Callable[[files.Array], object], batch: int) -> Callable[[], object]:
        blocks = [images[at : at + batch] for at in range(0, len(images), batch)]
        return lambda: [function(block) for block in blocks]

    found: dict[tuple[str, int], Callable[[], object]] = {}
    for batch in (1, len(images)):
        found["NumPy", batch] = in_batches(lambda block: numpy_digits.classify(network, block), batch)
        for isa in levels:
            with pysimd.max_isa(isa):
                classifier = Classifier(network, batch)

            def function(block: files.Array, isa: str = isa, classifier: Classifier = classifier) -> object:
                return classifier.classify(block)

            found[isa, batch] = in_batches(function, batch)
    return found


def measure(network: files.Network, images: files.Array, levels: list[str]) -> dict[tuple[str, int], float]:
    """Images per second by row and batch size: the best of a few rounds, in each of which every row is timed."""
    best: dict[tuple[str, int], float] = {}
    timed = passes(network, images, levels)
    for _ in range(ROUNDS):
        for key, pass_over_images in timed.items():
            with pysimd.max_isa(None if key[0] == "NumPy" else key[0]):
                best[key] = max(best.get(key, 0), len(images) / seconds_of(pass_over_images))
    return best


def measure_c(program: str, count: int, levels: list[str]) -> dict[tuple[str, int], float]:
    """The same, as measured by the C program."""
    rates = {}
    for isa in levels:
        printed = run_c(program, isa)
        if f"instruction set {isa}\n" not in printed:
            raise RuntimeError(f"the C program did not run with {isa}: {printed}")
        for batch in (1, count):
            rates[isa, batch] = float(re.findall(rf"^batch {batch}: (\d+)", printed, re.MULTILINE)[0])
    return rates


def print_table(
    rates: dict[tuple[str, int], float], rates_c: dict[tuple[str, int], float], count: int, levels: list[str]
) -> None:
    """Images per second; for Python also the ratio to plain NumPy with the same batch size."""
    print(f"{'':<12}{'Python, batch 1':>22}{f'Python, batch {count}':>22}{'C, batch 1':>14}{f'C, batch {count}':>14}")
    for row in ["NumPy", *levels]:
        line = f"{row:<12}"
        for batch in (1, count):
            times = "" if row == "NumPy" else f"({rates[row, batch] / rates['NumPy', batch]:.1f} x)"
            line += f"{rates[row, batch]:>12,.0f} {times:>9}"
        for batch in (1, count):
            line += f"{rates_c[row, batch]:>14,.0f}" if row != "NumPy" else f"{'-':>14}"
        print(line)


def compare_numbers(images: files.Array, labels: files.Array, kinds: dict[str, Callable[[int], Classifier]]) -> None:
    """A table of the network by type of numbers, each with a function that creates its classifier: accuracy, speed."""
    batches = 1, len(images)
    timed: dict[tuple[str, int], Callable[[], object]] = {}
    answers: dict[str, files.Array] = {}
    for kind, make in kinds.items():
        for batch in batches:
            classifier = make(batch)
            blocks = [images[at : at + batch] for at in range(0, len(images), batch)]

            def function(blocks: list[files.Array] = blocks, classifier: Classifier = classifier) -> object:
                return [classifier.classify(block) for block in blocks]

            timed[kind, batch] = function
        answers[kind] = classifier.classify(images).argmax(axis=1)
    best: dict[tuple[str, int], float] = {}
    for _ in range(ROUNDS):
        for key, pass_over_images in timed.items():
            best[key] = max(best.get(key, 0), len(images) / seconds_of(pass_over_images))
    first = next(iter(kinds))
    print(f"{'':<12}{'right':>16}{f'as {first}':>14}{'batch 1':>22}{f'batch {len(images)}':>22}")
    for kind in kinds:
        right = int((answers[kind] == labels).sum())
        same = int((answers[kind] == answers[first]).sum())
        line = f"{kind:<12}{f'{right} = {100 * right / len(labels):.2f} %':>16}{same:>14}"
        for batch in batches:
            line += f"{best[kind, batch]:>12,.0f} {f'({best[kind, batch] / best[first, batch]:.1f} x)':>9}"
        print(line)


def compare_model(images: files.Array, p: files.Array) -> bool:
    """Whether the same network, loaded from the file of a model, gives the same classes; prints how fast it is."""
    name = onnx_digits.PATH.name
    found = onnx_digits.classify(None, images)
    if not np.array_equal(found.argmax(axis=1), p.argmax(axis=1)) or np.abs(found - p).max() > 1e-5:
        print(f"{name} and weights.bin differ by {np.abs(found - p).max():.1e}", file=sys.stderr)
        return False
    one = onnx_digits.runner(1, images)
    image, seconds = one.inputs["images"], []
    for _ in range(ROUNDS):
        seconds.append(seconds_of(lambda: [one() for image[0, 0] in images]))
    print(f"\nFrom {name}, pysimd.load() gives the same classes: {len(images) / min(seconds):,.0f} images per second.")
    print(one.report())
    return True


def main() -> int:
    if len(sys.argv) != 3:
        print("usage: demo.py PROGRAM PICTURE", file=sys.stderr)
        return 2
    program, picture_path = sys.argv[1:]
    network = files.read_network(WEIGHTS)
    images, labels = files.read_images(IMAGES)
    machine = list(pysimd.isa_levels())
    levels = machine[: machine.index(pysimd.active_isa()) + 1]  # SIMDNET_MAX_ISA may limit them

    print(f"Network, {sum(layer.floats for layer in network.layers):,} weights:")
    for layer in network.layers:
        print(f"  {layer.describe()}")

    plain = numpy_digits.classify(network, images)
    wrong = []
    for isa in levels:
        with pysimd.max_isa(isa):
            p = classify(network, images).copy()
        wrong += compare(program, isa, p, plain)
    right = int((p.argmax(axis=1) == labels).sum())
    print(f"\nAccuracy on {len(labels)} held-out images: {right} right, {100 * right / len(labels):.2f} %")
    if wrong:
        print("\n".join(wrong), file=sys.stderr)
        return 1
    print(f"C and Python give bit-identical results on {', '.join(levels)}; NumPy the same classes.")

    print("\nImages per second, one thread; in brackets, times plain NumPy with the same batch.")
    print("base is the plain loops that the others are checked against, not meant to be fast.\n")
    print_table(measure(network, images, levels), measure_c(program, len(images), levels), len(images), levels)

    statistics = files.read_statistics(STATISTICS, network)
    print(
        "\nBy kinds of numbers, from Python on the newest instruction set; bfloat16: convolutions of floats that were "
        "rounded;"
    )
    print("int8: of 8-bit integers, quantised by statistics of the training images. In brackets, times float.\n")
    with pysimd.max_isa(levels[-1]):
        compare_numbers(
            images,
            labels,
            {
                "float": lambda batch: Classifier(network, batch),
                "bfloat16": lambda batch: Classifier(network, batch, bfloat16=True),
                "int8": lambda batch: Classifier(network, batch, statistics),
            },
        )

    if not compare_model(images, p):
        return 1

    try:
        import picture
    except ImportError as error:
        print(f"\nNo picture: {error}. matplotlib, which draws it, is an optional extra (pip install matplotlib).")
        return 0
    picture.draw(picture_path, images, labels, p)
    print(f"\nPicture: {picture_path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
