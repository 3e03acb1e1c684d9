"""Batch normalization: as a separate layer, and folded into the preceding convolution, where it costs nothing."""

import numpy as np

import pysimd

rng = np.random.default_rng(0)
x = rng.standard_normal((28, 28, 32), dtype=np.float32)
weight = rng.standard_normal((3, 3, 32, 64), dtype=np.float32) / 17
mean, variance = rng.standard_normal(64, dtype=np.float32), rng.random(64, dtype=np.float32) + np.float32(0.5)
gamma, beta = rng.random(64, dtype=np.float32) + np.float32(0.5), rng.standard_normal(64, dtype=np.float32)

# gamma * (y - mean) / sqrt(variance + epsilon) + beta is y * scale + bias.
scale = gamma * pysimd.rsqrt(variance + np.float32(1e-5))
bias = beta - mean * scale

convolution = pysimd.Convolution32f(x.shape, 64, kernel=3, padding=1)
convolution.set_params(weight)
y = convolution(x)
pysimd.scale(y, scale, bias, out=y)
pysimd.relu(y, out=y)
print("three layers:", y.shape)

folded = pysimd.Convolution32f(x.shape, 64, kernel=3, padding=1, activation="relu")
folded.set_params(weight * scale, bias)  # the output channel is the last axis of the weights
print("one convolution, almost equal:", bool(np.abs(folded(x) - y).max() < 1e-5 * y.max()))

# Layer normalization, over the channels of each pixel, as in transformers: rows instead of columns.
pixels = y.reshape(-1, 64)
centred = pixels - pixels.mean(axis=1, keepdims=True)
normal = centred * pysimd.rsqrt(centred.var(axis=1) + np.float32(1e-5))[:, None]
print("means and deviations of all pixels:", f"{abs(normal.mean(axis=1)).max():.3f}, {normal.std(axis=1).mean():.3f}")

# Output:
#
#   three layers: (28, 28, 64)
#   one convolution, almost equal: True
#   means and deviations of all pixels: 0.000, 1.000
