"""Pictures with a few handwritten digits each, for a detector."""

from __future__ import annotations

from pathlib import Path

import digits_files
import numpy as np

IMAGES = Path(__file__).parent / "images.bin"
SIDE, BORDER = 8, 2  # pixels of a digit, and least distance from the edge of the picture
HEIGHT, WIDTH = 32, 48
WINDOWS = (HEIGHT - SIDE + 1) * (WIDTH - SIDE + 1)  # places for a window of a digit's size
EACH = 4  # digits in each picture


def draw(folder: Path, count: int) -> list[dict[tuple[int, int], int]]:
    """Writes `count` pictures (u8, HEIGHT x WIDTH) to files of NumPy; returns the class of the digit at each place.

    The files are 00.npy, 01.npy and so on in `folder`; a place is the row and column of the digit's first pixel. The same
    pictures are drawn each time.
    """
    images, labels = digits_files.read_images(IMAGES)
    random, drawn = np.random.default_rng(1), []
    for n in range(count):
        picture, places = np.zeros((HEIGHT, WIDTH), np.uint8), {}
        for i in range(EACH):
            which, y = random.integers(len(images)), int(random.integers(BORDER, HEIGHT - SIDE - BORDER))
            x = WIDTH // EACH * i + BORDER
            picture[y : y + SIDE, x : x + SIDE] = images[which]
            places[y, x] = int(labels[which])
        np.save(folder / f"{n:02}.npy", picture)
        drawn.append(places)
    return drawn
