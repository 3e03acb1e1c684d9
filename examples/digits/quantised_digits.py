"""The digits network in 8 bits, made from digits.onnx by pysimd, and its accuracy.

python quantised_digits.py           makes it, and prints what it gets right beside the float network
python quantised_digits.py FILE      also writes the ONNX file

The first 60 images of images.bin are the samples from which the ranges of bytes are taken; the other 300 are classified.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import digits_files as files
import numpy as np

import pysimd

HERE = Path(__file__).resolve().parent
SAMPLES = 60


def probabilities(model: Any, pixels: files.Array) -> files.Array:
    """Of all images, in one batch."""
    return np.asarray(model({"images": pixels})["probabilities"])


def main(path: str | None) -> int:
    """Makes the network, and compares it with that of floats."""
    images, labels = files.read_images(HERE / "images.bin")
    pixels = images[:, None].astype(np.float32)
    made = pysimd.quantize_model(HERE / "digits.onnx", [pixels[i : i + 1] for i in range(SAMPLES)])
    if path is not None:
        made.save(path)
    given, right = pixels[SAMPLES:], labels[SAMPLES:]
    found = [probabilities(model, given) for model in (pysimd.load(HERE / "digits.onnx"), made.load())]
    sizes = [(HERE / "digits.onnx").stat().st_size, len(made.data)]
    for name, size, each in zip(("float", "8 bits"), sizes, found):
        print(f"{name:6}  {size:6} bytes  {(each.argmax(1) == right).sum()} of {len(right)} right")
    print(f"the largest difference of a probability is {abs(found[1] - found[0]).max():.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else None))
