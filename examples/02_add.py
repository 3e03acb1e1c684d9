"""Additions: in place, of bfloat16, of quantised bytes."""

import numpy as np

import pysimd

rng = np.random.default_rng(0)
x = rng.standard_normal((28, 28, 32), dtype=np.float32)

# A bias per channel; out=x is in place.
pysimd.add_bias(x, np.arange(32, dtype=np.float32), out=x)
print("means of the first channels:", np.round(x.mean((0, 1))[:4], 1))

# bfloat16 plus float32, rounded once to bfloat16. A context is created once per shape.
half = (x.view(np.uint32) >> 16).astype(np.uint16)  # truncated to bfloat16
with pysimd.Add16b(x.shape, a_dtype="bfloat16", b_dtype="float32", dst_dtype="bfloat16") as add:
    total = add(half, x)
    print(add, "->", total.dtype, "as bfloat16")

# Two quantised tensors: c = ((a * a_scale + a_shift) + (b * b_scale + b_shift)) * c_scale + c_shift, in 0 .. 255.
one, zero = np.ones(32, np.float32), np.zeros(32, np.float32)
a = rng.integers(0, 256, x.shape, np.uint8)
c = pysimd.add_8i(a, a, a_scale=one, a_shift=zero, b_scale=one, b_shift=zero, c_scale=one / 2, c_shift=zero)
print("the mean of a tensor with itself is itself:", np.array_equal(a, c))

# Output:
#
#   means of the first channels: [0. 1. 2. 3.]
#   <pysimd.Add16b (28, 28, 32): 16b + 32f -> 16b, ...> -> uint16 as bfloat16
#   the mean of a tensor with itself is itself: True
