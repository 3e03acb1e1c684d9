"""A folder of pictures through a detector on a cluster: the model is pickled to the workers, each task prepares it once."""

import sys
import tempfile
from logging import CRITICAL
from pathlib import Path

import numpy as np

import pysimd
from pysimd.network import Runner
from pysimd.network.model import Model

sys.path.insert(0, str(Path(__file__).parent / "digits"))
import scenes

try:
    from dask.distributed import Client, LocalCluster
except ImportError:
    print("skipped: no Dask here, it comes with pip install 'pysimd[dask]'")
    sys.exit(77)

DIGITS = Path(__file__).parent / "digits"
WORKERS, PICTURES, PART = 3, 24, 4  # pictures of a task
SIDE, BORDER = scenes.SIDE, scenes.BORDER  # pixels of a window, and around it


def detect(run: Runner, path: Path) -> list[tuple[int, int, int]]:
    """The digits of a picture: row, column, class. All windows are classified; those that hold all ink around them count."""
    picture = np.load(path).astype(np.float32)
    windows = np.lib.stride_tricks.sliding_window_view(picture, (SIDE, SIDE))
    rows, columns = windows.shape[:2]
    x = windows.reshape(-1, 1, SIDE, SIDE)
    p = run({"images": x})["probabilities"]

    around = np.lib.stride_tricks.sliding_window_view(np.pad(picture, BORDER), (SIDE + 2 * BORDER,) * 2)
    around = around.sum((2, 3)).reshape(-1)
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
    run = model.prepare({"images": (scenes.WINDOWS, 1, SIDE, SIDE)})
    return [detect(run, path) for path in files]


if __name__ == "__main__":
    model = pysimd.load(DIGITS / "digits.simdnet")
    with tempfile.TemporaryDirectory() as name:
        drawn = scenes.draw(Path(name), PICTURES)
        files = sorted(Path(name).glob("*.npy"))
        cluster = LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address=None, silence_logs=CRITICAL)
        with cluster, Client(cluster) as client:  # or Client(address of a real one)
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
