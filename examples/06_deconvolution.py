"""A deconvolution, as in the upsampling part of a network, and how padding crops its output."""

import numpy as np

import pysimd

rng = np.random.default_rng(0)
x = rng.standard_normal((28, 28, 64), dtype=np.float32)

# Kernel and stride 2: every input makes a square of four outputs.
with pysimd.Deconvolution32f(x.shape, 32, kernel=2, stride=2, activation="relu") as up:
    up.set_params(rng.standard_normal(up.weight_shape, dtype=np.float32), np.ones(32, np.float32))
    print(up, x.shape, "->", up(x).shape)

# A kernel that overlaps: padding is cropped from the output, here one row and column on each side.
weight = rng.standard_normal((64, 4, 4, 21), dtype=np.float32)  # NHWC: input, kernel_y, kernel_x, output
print("4x4, stride 2:", pysimd.deconvolution(x, weight, stride=2, padding=1).shape)

# Bilinear interpolation is a depthwise deconvolution.
line = np.array([1, 3, 3, 1], np.float32) / 4
planes = np.ascontiguousarray(x.transpose(2, 0, 1))
kernel = np.tile(np.outer(line, line), (64, 1, 1, 1))
print("bilinear:", pysimd.deconvolution(planes, kernel, stride=2, padding=1, group=64, layout="nchw").shape)

# Output:
#
#   <pysimd.Deconvolution32f ...> (28, 28, 64) -> (56, 56, 32)
#   4x4, stride 2: (56, 56, 21)
#   bilinear: (64, 56, 56)
