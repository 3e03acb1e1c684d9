"""A layer in bfloat16: half the memory, no statistics, and about twice as fast where the processor has bfloat16 products."""

import numpy as np

import pysimd

rng = np.random.default_rng(0)
x = np.maximum(rng.standard_normal((28, 28, 128), dtype=np.float32), 0)  # as a ReLU produces it
weight = rng.standard_normal((3, 3, 128, 128), dtype=np.float32) / 30
bias = rng.standard_normal(128, dtype=np.float32)

exact = pysimd.convolution(x, weight, bias, stride=2, padding=1, activation="relu")

# Weights are given as floats and rounded once; so is the input, unless it is bfloat16 already (uint16, or
# ml_dtypes.bfloat16).
layer = pysimd.Convolution16b(x.shape, 128, kernel=3, stride=2, padding=1, activation="relu")
layer.set_params(weight, bias)
print(layer)

small = pysimd.to_bfloat16(x)
y = layer(small)
error = np.abs(pysimd.from_bfloat16(y) - exact)
print(f"{small.nbytes} bytes instead of {x.nbytes}")
print(f"mean error {error.mean() / exact.max():.4f} of the largest output")

# Networks may mix both: floats in, floats out; sums are floats in any case.
outer = pysimd.Convolution16b(
    x.shape, 128, kernel=3, stride=2, padding=1, activation="relu", src_dtype="float32", dst_dtype="float32"
)
outer.set_params(weight, bias)
print("input and output rounded separately, same numbers:", np.array_equal(pysimd.to_bfloat16(outer(x)), y))

# Output:
#
#   <pysimd.Convolution16b ...>
#   200704 bytes instead of 401408
#   mean error 0.0002 of the largest output
#   input and output rounded separately, same numbers: True
