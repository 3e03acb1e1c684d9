"""Write statistics.json: the least and the largest value of each channel, of the pixels and behind each layer.

    /tmp/venv-train/bin/python calibrate.py     (scikit-learn, for the images; train.py does the same at its end)

Of the training images only: what is quantised by them is measured on images that they have not seen.
"""

import json
import sys
from pathlib import Path

import digits_files as files
import numpy as np
import numpy_digits
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

HERE = Path(__file__).resolve().parent
SPLIT_SEED = 0


def split() -> tuple[files.Array, files.Array, files.Array, files.Array]:
    """The 1,437 training images, the 360 held-out ones, and the labels of both; always the same."""
    digits = load_digits()
    images, held_images, labels, held_labels = train_test_split(
        digits.images.astype(np.uint8),
        digits.target.astype(np.uint8),
        test_size=360,
        random_state=SPLIT_SEED,
        stratify=digits.target,
    )
    return images, held_images, labels, held_labels


def write_statistics(network: files.Network, images: files.Array, path: Path) -> None:
    """The file that `digits_files.read_statistics` reads."""
    tensors = [
        {"min": x.min(axis=(0, 1, 2)).tolist(), "max": x.max(axis=(0, 1, 2)).tolist()}
        for x in numpy_digits.tensors(network, images)
    ]
    lines = ",\n  ".join(json.dumps(tensor) for tensor in tensors)
    path.write_text(f'{{"images": {len(images)}, "tensors": [\n  {lines}\n]}}\n')


def main() -> int:
    images = split()[0]
    write_statistics(files.read_network(HERE / "weights.bin"), images, HERE / "statistics.json")
    print(f"statistics of {len(images)} training images")
    return 0


if __name__ == "__main__":
    sys.exit(main())
