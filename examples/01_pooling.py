"""Pooling of images and batches; the dtype chooses the function."""

import numpy as np

import pysimd

image = np.random.default_rng(0).random((56, 56, 64), dtype=np.float32)

half = pysimd.pooling_max(image, kernel=3, stride=2, padding=1)
print("3x3, stride 2:", image.shape, "->", half.shape)

batch = np.stack([image, 1 - image])
print("global mean of a batch:", pysimd.pooling_average(batch, kernel=56).shape)

# "same" padding of a 2x2 window is one-sided: top, left, bottom, right.
print("one-sided padding:", pysimd.pooling_max(image, kernel=2, stride=1, padding=(0, 0, 1, 1)).shape)

# Bytes are pooled as bytes, four times as many per vector; bfloat16 is uint16 or ml_dtypes.bfloat16.
pixels = (image * 255).astype(np.uint8)
print("bytes:", pysimd.pooling_max(pixels, kernel=2).dtype)

# Nothing is converted silently, and messages name the invalid argument.
for wrong in (image.astype(np.float64), image[::-1]):
    try:
        pysimd.pooling_max(wrong, kernel=2)
    except (TypeError, ValueError) as error:
        print(f"{type(error).__name__}: {error}")

# Output:
#
#   3x3, stride 2: (56, 56, 64) -> (28, 28, 64)
#   global mean of a batch: (2, 1, 1, 64)
#   one-sided padding: (56, 56, 64)
#   bytes: uint8
#   TypeError: x has dtype float64, expected float32 or bfloat16 ... or uint8: use x.astype(np.float32)
#   ValueError: x is not C-contiguous: use np.ascontiguousarray(x)
