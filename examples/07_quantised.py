"""A layer in bytes: statistics from samples, then a convolution close to the float one and several times as fast."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import pysimd

rng = np.random.default_rng(0)
samples = np.maximum(rng.standard_normal((4, 28, 28, 128), dtype=np.float32), 0)  # as a ReLU produces them
weight = rng.standard_normal((1, 1, 128, 128), dtype=np.float32) / 10
bias = rng.standard_normal(128, dtype=np.float32)

# The smallest and largest values of each channel, before and after the layer.
exact = pysimd.convolution(samples, weight, bias, activation="relu")
before, behind = pysimd.statistics(samples), pysimd.statistics(exact)

layer = pysimd.Convolution8i((28, 28, 128), 128, kernel=1, activation="relu")
layer.set_params(weight, bias, src_stats=before, dst_stats=behind)
print(layer)

x = np.maximum(rng.standard_normal((28, 28, 128), dtype=np.float32), 0)
small = pysimd.quantize(x, before)
y = pysimd.dequantize(layer(small), behind)
float_layer = pysimd.Convolution32f(x.shape, 128, kernel=1, activation="relu")
float_layer.set_params(weight, bias)
error = np.abs(y - float_layer(x))
print(f"mean error {error.mean() / y.max():.4f} of the largest output")


def seconds(call: Callable[[], Any]) -> float:
    """The fastest of several calls."""
    times = []
    for _ in range(30):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


out, float_out = np.empty((28, 28, 128), np.uint8), np.empty((28, 28, 128), np.float32)
quick, slow = seconds(lambda: layer(small, out=out)), seconds(lambda: float_layer(x, out=float_out))
print(f"{quick * 1e6:.0f} us in bytes, {slow * 1e6:.0f} us in floats")

# Networks may mix both: floats in, bytes out, or the reverse.
first = pysimd.Convolution8i(x.shape, 128, kernel=1, activation="relu", src_dtype=np.float32)
first.set_params(weight, bias, src_stats=before, dst_stats=behind)
print("quantised by the layer itself, same bytes:", np.array_equal(first(x), layer(small)))

# Output:
#
#   <pysimd.Convolution8i ...>
#   mean error 0.0007 of the largest output
#   ... us in bytes, ... us in floats
#   quantised by the layer itself, same bytes: True
