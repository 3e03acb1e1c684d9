"""A unit of ShuffleNetV2: half of the channels are passed on, the other half processed, then both are shuffled."""

import numpy as np

import pysimd

rng = np.random.default_rng(0)
SHAPE = (28, 28, 58)


def convolution(kernel: int, group: int = 1, activation: str = "relu") -> pysimd.Convolution32f:
    made = pysimd.Convolution32f(SHAPE, 58, kernel=kernel, padding=kernel // 2, group=group, activation=activation)
    made.set_params(rng.standard_normal(made.weight_shape, dtype=np.float32) / 8)
    return made


def unit(kept: np.ndarray, worked: np.ndarray, layers: list[pysimd.Convolution32f]) -> tuple[np.ndarray, np.ndarray]:
    """The even and the odd channels of both halves, as if concatenated."""
    for layer in layers:
        worked = layer(worked)
    return pysimd.shuffle(kept, worked)


kept, worked = rng.standard_normal((2, *SHAPE), dtype=np.float32)
stage = [[convolution(1), convolution(3, group=58, activation="identity"), convolution(1)] for _ in range(3)]
for layers in stage:
    before = kept, worked
    kept, worked = unit(kept, worked, layers)
print("halves:", kept.shape, worked.shape)

# The same shuffle in NumPy.
branch = before[1]
for layer in stage[-1]:
    branch = layer(branch)
joined = np.concatenate([before[0], branch], axis=-1)
print("even and odd channels:", np.array_equal(kept, joined[..., ::2]), np.array_equal(worked, joined[..., 1::2]))

# Output:
#
#   halves: (28, 28, 58) (28, 28, 58)
#   even and odd channels: True True
