"""An inverted residual block of MobileNetV2: three convolutions and an addition, layer by layer and in one call."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import pysimd

rng = np.random.default_rng(0)
x = rng.standard_normal((56, 56, 24), dtype=np.float32)
weights = [rng.standard_normal(shape, dtype=np.float32) / 10 for shape in ((1, 1, 24, 144), (3, 3, 1, 144), (1, 1, 144, 24))]

# Layer by layer, as a network is usually written.
expand = pysimd.Convolution32f(x.shape, 144, kernel=1, activation="relu")
depthwise = pysimd.Convolution32f((56, 56, 144), 144, kernel=3, padding=1, group=144, activation="relu")
project = pysimd.Convolution32f((56, 56, 144), 24, kernel=1)
for layer, weight in zip((expand, depthwise, project), weights):
    layer.set_params(weight)
wide, wide_too, narrow = (np.empty((56, 56, c), np.float32) for c in (144, 144, 24))


def layer_by_layer() -> Any:
    depthwise(expand(x, out=wide), out=wide_too)
    return pysimd.add(project(wide_too, out=narrow), x)


# In one call: the 144 channels never leave the caches.
stage = pysimd.ConvolutionStage
stages = [stage(1, 144, activation="relu"), stage(3, padding=1, activation="relu"), stage(1, 24)]
block = pysimd.MergedConvolution32f(x.shape, stages, residual=True)
block.set_params(weights)
print(block)


def seconds(call: Callable[[], Any]) -> float:
    """The fastest of several calls."""
    times = []
    for _ in range(30):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


y = block(x)
print("largest difference:", f"{np.abs(y - layer_by_layer()).max() / np.abs(y).max():.1e} of the largest output")
print(f"layer by layer {seconds(layer_by_layer) * 1e6:.0f} us, in one call {seconds(lambda: block(x)) * 1e6:.0f} us")

# Output:
#
#   <pysimd.MergedConvolution32f (56, 56, 24) -> (56, 56, 24), expansion 1x1 relu, ...>
#   largest difference: ...e-... of the largest output
#   layer by layer ... us, in one call ... us
