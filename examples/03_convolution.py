"""A convolution: in one call, and as an object that many threads share."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import pysimd

rng = np.random.default_rng(0)
x = rng.standard_normal((4, 32, 32, 8), dtype=np.float32)
weight = rng.standard_normal((3, 3, 8, 16), dtype=np.float32)  # NHWC: kernel_y, kernel_x, input, output
bias = np.zeros(16, np.float32)

y = pysimd.convolution(x, weight, bias, padding=1, activation="relu")
print(x.shape, "->", y.shape)

# The object packs its weights once. It keeps no pointer to x, so images of that shape can be anywhere in memory.
with pysimd.Convolution32f(x.shape[1:], 16, kernel=3, padding=1, activation="relu") as convolution:
    convolution.set_params(weight, bias)
    print(convolution)
    with ThreadPoolExecutor(4) as pool:
        images = list(pool.map(convolution, x))
    print("image by image, in threads, bit-identical:", np.array_equal(np.stack(images), y))
    again = pickle.loads(pickle.dumps(convolution))
    print("and from a pickle:", np.array_equal(again(x[0]), y[0]))

# Depthwise: as many groups as channels.
depthwise = pysimd.convolution(x, rng.standard_normal((5, 5, 1, 8), dtype=np.float32), padding=2, group=8)
print("depthwise:", depthwise.shape)

# Output:
#
#   (4, 32, 32, 8) -> (4, 32, 32, 16)
#   <pysimd.Convolution32f ...>
#   image by image, in threads, bit-identical: True
#   and from a pickle: True
#   depthwise: (4, 32, 32, 8)
