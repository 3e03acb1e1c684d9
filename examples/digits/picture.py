"""The demo's picture: the images with the least certain answers, mistakes first, and all held-out images."""

from __future__ import annotations

from pathlib import Path

import digits_files as files
import matplotlib
import numpy as np

matplotlib.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

INK, GREY, RIGHT, WRONG = "#222222", "#888888", "#2a78b5", "#d62728"
SHOWN = 12  # images drawn large
TOP = 3  # classes listed with their probability for each of them


def draw(path: str, images: files.Array, labels: files.Array, p: files.Array) -> None:
    """Writes the picture of all images with true classes `labels` and probabilities `p`."""
    answers = p.argmax(axis=1)
    mistakes = answers != labels
    figure = plt.figure(figsize=(15, 11.6), facecolor="white")
    count, right = len(labels), int((~mistakes).sum())
    figure.text(0.03, 0.965, "Handwritten digits, read by a small neural network", size=22, weight="bold", color=INK)
    verdict = f"{right} of {count} right ({100 * right / count:.2f} %)"
    figure.text(0.03, 0.938, f"Images that it never saw in training: {verdict}.", size=14, color=INK)

    # Mistakes first, the most confident ones before the others; then the correct answers, the least confident first.
    order = np.lexsort((np.where(mistakes, -1, 1) * p.max(axis=1), ~mistakes))[:SHOWN]
    known = "No mistakes. The"
    if mistakes.any():
        known = f"Mistakes: {int(mistakes.sum())}. They come first, then the"
    heading = f"{known} answers it was least sure of, with the {TOP} likeliest digits"
    figure.text(0.03, 0.898, heading, size=14, weight="bold", color=INK)
    columns = SHOWN // 2
    for at, index in enumerate(order):
        left, bottom = 0.03 + 0.158 * (at % columns), 0.775 - 0.147 * (at // columns)
        _one(figure.add_axes((left, bottom, 0.082, 0.106)), images[index], int(answers[index]), int(labels[index]))
        _bars(figure.add_axes((left + 0.101, bottom, 0.033, 0.106)), p[index], int(labels[index]))

    heading = f"All {count}: each row is one digit as it was meant; below each image, the digit that was read"
    figure.text(0.03, 0.578, heading, size=14, weight="bold", color=INK)
    _mosaic(figure.add_axes((0.03, 0.035, 0.94, 0.53)), images, labels, answers)
    source = "Data: Alpaydin and Kaynak, Optical Recognition of Handwritten Digits, UCI, CC BY 4.0 (doi.org/10.24432/C50P49)"
    figure.text(0.03, 0.014, source, size=9, color=GREY)
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _one(axes: Axes, image: files.Array, answer: int, label: int) -> None:
    """One image, framed, with the answer and the true digit."""
    colour = RIGHT if answer == label else WRONG
    axes.imshow(image, cmap="Greys", vmin=0, vmax=16, interpolation="nearest")
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set_xlabel(f"read as {answer}, is {label}", size=11, color=colour, weight="bold", labelpad=3)
    for spine in axes.spines.values():
        spine.set_color(GREY if answer == label else WRONG)
        spine.set_linewidth(1 if answer == label else 3)


def _bars(axes: Axes, p: files.Array, label: int) -> None:
    """The most probable digits from top to bottom; the answer is blue if correct and red if not."""
    for row, digit in enumerate(np.argsort(-p)[:TOP]):
        colour = "#cccccc" if row else RIGHT if digit == label else WRONG
        weight = "normal" if row else "bold"
        axes.barh(row, p[digit], height=0.7, color=colour)
        axes.text(-0.12, row, str(digit), ha="right", va="center", size=13, weight=weight, color=INK)
        axes.text(p[digit] + 0.08, row, f"{100 * p[digit]:.0f} %", va="center", size=9, weight=weight, color=INK)
    axes.set_xlim(0, 1.4)  # space for the number next to a full bar
    axes.set_ylim(TOP - 0.4, -0.6)
    axes.axis("off")


def _mosaic(axes: Axes, images: files.Array, labels: files.Array, answers: files.Array) -> None:
    """All images, a row per true class; mistakes are framed and come first in their row."""
    height, width = images.shape[1] + 5, images.shape[2] + 2  # a cell: the image, and below it the answer
    columns = int(np.bincount(labels).max())
    classes = int(labels.max()) + 1
    canvas = np.zeros((classes * height, columns * width))
    for digit in range(classes):
        row = np.flatnonzero(labels == digit)
        row = row[np.argsort(answers[row] == digit, kind="stable")]
        axes.text(-3.5, digit * height + 3.5, str(digit), ha="right", va="center", size=20, weight="bold", color=INK)
        for column, index in enumerate(row):
            y, x = digit * height, column * width
            canvas[y : y + images.shape[1], x : x + images.shape[2]] = images[index]
            wrong = answers[index] != digit
            axes.text(x + 3.5, y + 10, str(answers[index]), ha="center", va="center", size=11 if wrong else 8,
                      weight="bold" if wrong else "normal", color=WRONG if wrong else RIGHT)  # fmt: skip
            if wrong:
                axes.add_patch(
                    Rectangle((x - 1.2, y - 1.2), width + 0.4, height + 0.2, fill=False, color=WRONG, linewidth=2.5)
                )
    axes.imshow(canvas, cmap="Greys", vmin=0, vmax=16, aspect="auto", interpolation="nearest")
    axes.set_xlim(-8, columns * width)
    axes.set_ylim(classes * height, -2)
    axes.axis("off")
