"""A model from a file: loaded, prepared for the shape of its input, run from two threads, saved in another format."""

import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

import pysimd

DIGITS = Path(__file__).parent / "digits"
sys.path.append(str(DIGITS))

import digits_files  # noqa: E402

images, labels = digits_files.read_images(DIGITS / "images.bin")
pixels = images[:, None].astype(np.float32)  # (N, C, H, W), as in the file

model = pysimd.load(DIGITS / "digits.onnx")
print(model)

found = model(pixels[:1])["probabilities"]  # prepares the model for this shape, and keeps that for the next call
print(f"{labels[0]} is classified as {found.argmax()}")

run = model.prepare((1, 1, 8, 8))  # plans for one image, packs the weights

# One thread uses what prepare() returns; copy() is for another one, with the same weights.
runners = [run, run.copy()]


def classify(number):
    """Every second image, by one of the runners."""
    runner, found = runners[number], []
    for image in pixels[number::2]:
        runner.inputs["images"][0] = image  # written in place, and read there
        found.append(int(runner()["probabilities"].argmax()))
    return found


with ThreadPoolExecutor(2) as pool:
    answers = np.empty(len(images), np.int64)
    answers[0::2], answers[1::2] = pool.map(classify, (0, 1))
print(f"{(answers == labels).sum()} of {len(labels)} are right")

# Batches share the weights with the preparation for one image, as far as the same algorithms serve both.
batch = model.prepare(pixels.shape)
print("in one batch:", np.array_equal(batch(pixels)["probabilities"].argmax(axis=1), answers))

with tempfile.TemporaryDirectory() as folder:
    model.save(f"{folder}/digits.simdnet")
    again = pysimd.load(f"{folder}/digits.simdnet").prepare((1, 1, 8, 8))
    print(
        "from the other format:",
        np.array_equal(again(pixels[:1])["probabilities"], found),
    )

# Output:
#
#   digits: 13 nodes, 0.1 MB of weights
#     input   images: float32 (N, 1, 8, 8)
#     output  probabilities: float32 (N, 10)
#     operators  ...
#     all operators are supported
#   ... is classified as ...
#   360 of 360 are right
#   in one batch: True
#   from the other format: True
