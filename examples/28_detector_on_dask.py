"""A folder of pictures through a detector on a cluster: the model is pickled to the workers, each task prepares it once."""

import sys
import tempfile
from pathlib import Path

import numpy as np

import pysimd
from pysimd.network import Runner
from pysimd.network.model import Model

sys.path.insert(0, str(Path(__file__).parent / "digits"))
import digits_files

try:
    from dask.distributed import Client, LocalCluster
except ImportError:
    print("skipped: no Dask here, it comes with pip install 'pysimd[dask]'")
    sys.exit(77)

DIGITS = Path(__file__).parent / "digits"
WORKERS, PICTURES, PART = 3, 24, 4  # pictures of a task
EACH = 4  # digits in each picture
SIDE, BORDER = 8, 2  # pixels of a window, and around it
HEIGHT, WIDTH = 32, 48


def detect(run: Runner, path: Path) -> list[tuple[int, int, int]]:
    """The digits of a picture: row, column, class. All windows are classified; those that hold all ink around them count."""
    picture = np.load(path).astype(np.float32)
    windows = np.lib.stride_tricks.sliding_window_view(picture, (SIDE, SIDE))
    rows, columns = windows.shape[:2]
    x = windows.reshape(-1, 1, SIDE, SIDE)
    p = run({"images": x})["probabilities"]

    around = (
        np.lib.stride_tricks.sliding_window_view(np.pad(picture, BORDER), (SIDE + 2 * BORDER,) * 2).sum((2, 3)).reshape(-1)
    )
    ink = x.sum((1, 2, 3))
    scores = p.max(1) * np.where(ink > 120, ink / np.maximum(around, 1), 0)
    y, x = np.divmod(np.arange(rows * columns), columns)
    boxes = np.stack([y, x, y + SIDE, x + SIDE], axis=1).astype(np.float32)
    found = pysimd.non_max_suppression(
        boxes[None], scores.astype(np.float32)[None, None], iou_threshold=0.05, score_threshold=0.6
    )[:, 2]
    return [(int(y[i]), int(x[i]), int(p[i].argmax())) for i in found]


def detect_all(model: Model, files: list[Path]) -> list[list[tuple[int, int, int]]]:
    """The digits of several pictures, for which the model is prepared once."""
    run = model.prepare({"images": ((HEIGHT - SIDE + 1) * (WIDTH - SIDE + 1), 1, SIDE, SIDE)})
    return [detect(run, path) for path in files]


def draw(folder: Path) -> list[dict[tuple[int, int], int]]:
    """Writes pictures of a few digits each; returns the class of the digit at each place."""
    images, labels = digits_files.read_images(DIGITS / "images.bin")
    random, drawn = np.random.default_rng(1), []
    for n in range(PICTURES):
        picture, places = np.zeros((HEIGHT, WIDTH), np.uint8), {}
        for i in range(EACH):
            which, y = random.integers(len(images)), int(random.integers(BORDER, HEIGHT - SIDE - BORDER))
            x = WIDTH // EACH * i + BORDER
            picture[y : y + SIDE, x : x + SIDE] = images[which]
            places[y, x] = int(labels[which])
        np.save(folder / f"{n:02}.npy", picture)
        drawn.append(places)
    return drawn


if __name__ == "__main__":
    model = pysimd.load(DIGITS / "digits.simdnet")
    with tempfile.TemporaryDirectory() as name:
        drawn = draw(Path(name))
        files = sorted(Path(name).glob("*.npy"))
        cluster = LocalCluster(
            n_workers=WORKERS, threads_per_worker=1, dashboard_address=None
        )  # or the address of a real one
        with cluster, Client(cluster) as client:
            everywhere = client.scatter(model, broadcast=True)  # once per worker, not per picture
            parts = [files[i : i + PART] for i in range(0, len(files), PART)]
            results = client.gather([client.submit(detect_all, everywhere, part) for part in parts])
        found = [digits for result in results for digits in result]
        same = found == detect_all(model, files)

    # The window of a digit may begin a pixel beside the place where it was drawn, where it has an empty edge.
    near = [
        any(digit == k and abs(y - row) + abs(x - column) <= 2 for row, column, digit in digits)
        for places, digits in zip(drawn, found)
        for (y, x), k in places.items()
    ]
    print(f"{len(files)} pictures, {sum(map(len, found))} digits found, {sum(near)} of {len(near)} right")
    print("the same as in this process:", same)

# Output:
#
#   24 pictures, ... digits found, ... of 96 right
#   the same as in this process: True
