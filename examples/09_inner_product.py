"""A linear classifier of handwritten digits: trained with NumPy on some of the demo's pictures, run on the others."""

import struct
from pathlib import Path

import numpy as np

import pysimd

data = (Path(__file__).parent / "digits" / "images.bin").read_bytes()
count, height, width = struct.unpack_from("<3I", data, 8)
labels = np.frombuffer(data, np.uint8, count, 20)
pictures = np.frombuffer(data, np.uint8, count * height * width, 20 + count).reshape(count, -1) / np.float32(16)
train, test = slice(0, 240), slice(240, None)

# Ridge regression: the weights whose scores are closest to 1 for the digit itself and 0 for the others.
x = np.column_stack([pictures[train], np.ones(240)])
wanted = np.eye(10)[labels[train]]
solution = np.linalg.solve(x.T @ x + np.eye(x.shape[1]), x.T @ wanted).astype(np.float32)
weight, bias = np.ascontiguousarray(solution[:-1].T), solution[-1].copy()

# Each row of the batch is a picture.
scores = pysimd.inner_product(pictures[test], weight, bias)
p = pysimd.softmax(scores * 10, axis=-1)
right = p.argmax(axis=1) == labels[test]
sure = p.max(axis=1)
print(f"{len(p)} pictures, {right.sum()} right")
print(f"mean probability of right answers {sure[right].mean():.2f}, of wrong ones {sure[~right].mean():.2f}")

# Output:
#
#   120 pictures, 112 right
#   mean probability of right answers 0.91, of wrong ones 0.60
