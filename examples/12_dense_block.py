"""A block of a DenseNet: every layer reads the results of all before it; joining, normalizing and ReLU are one pass."""

import numpy as np

import pysimd

FIRST, GROWTH, LAYERS = 64, 32, 4
rng = np.random.default_rng(0)
x = rng.standard_normal((28, 28, FIRST), dtype=np.float32)

# Layer by layer, as in NumPy: join, normalize, activate, convolve.
scales, biases, weights = [], [], []
features = x
for layer in range(LAYERS):
    channels = FIRST + layer * GROWTH
    scales.append(rng.random(channels, dtype=np.float32) + np.float32(0.5))
    biases.append(rng.standard_normal(channels, dtype=np.float32))
    weights.append(rng.standard_normal((3, 3, channels, GROWTH), dtype=np.float32) / np.float32(np.sqrt(9 * channels)))
    active = np.maximum(features * scales[-1] + biases[-1], 0)
    features = np.concatenate([features, pysimd.convolution(active, weights[-1], padding=1)], axis=2)

# With the fused layer: it reads both parts once, and writes the input of the convolution and the part that the next layer
# joins.
joined = x
active = pysimd.relu(pysimd.scale(x, scales[0], biases[0]))
for layer in range(LAYERS):
    grown = pysimd.convolution(active, weights[layer], padding=1)
    if layer + 1 < LAYERS:
        active, joined = pysimd.fused9(joined, grown, scale=scales[layer + 1], bias=biases[layer + 1], both=True)
joined = np.concatenate([joined, grown], axis=2)
print(x.shape, "->", joined.shape)
print("almost equal:", bool(np.abs(joined - features).max() < 1e-5 * np.abs(features).max()))

# Output:
#
#   (28, 28, 64) -> (28, 28, 192)
#   almost equal: True
