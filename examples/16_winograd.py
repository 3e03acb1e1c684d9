"""Winograd's convolution from its parts: larger tiles multiply less and round more."""

import numpy as np

import pysimd

rng = np.random.default_rng(0)
x = rng.standard_normal((24, 24, 16), dtype=np.float32)
weight = rng.standard_normal((3, 3, 16, 32), dtype=np.float32)

# The same sums in double precision.
padded = np.pad(x.astype(np.float64), ((1, 1), (1, 1), (0, 0)))
expected = sum(padded[ky : ky + 24, kx : kx + 24] @ weight[ky, kx] for ky in range(3) for kx in range(3))

for block in (2, 3, 4):
    u = pysimd.winograd_filter(weight, kernel=3, block=block)  # once per network
    v = pysimd.winograd_input(x, kernel=3, block=block, padding=1)
    y = pysimd.winograd_output(v @ u, (24, 24), kernel=3, block=block)  # @ is one product for each coefficient
    error = np.abs(y - expected).max() / np.abs(expected).max()
    products = len(u) / block**2
    print(f"{block}x{block}: filter {u.shape}, {products:.2f} products for an output, error below 1e-5: {error < 1e-5}")

# A kernel with one row, such as a blur along x: a dimension of 1 needs no transform.
row = np.array([1, 4, 6, 4, 1], np.float32).reshape(1, 5, 1, 1) / 16 * np.eye(16, dtype=np.float32)
u = pysimd.winograd_filter(row, kernel=(1, 5), block=(1, 4))
v = pysimd.winograd_input(x, kernel=(1, 5), block=(1, 4), padding=(0, 2))
y = pysimd.winograd_output(v @ u, (24, 24), kernel=(1, 5), block=(1, 4))
print("1x5:", np.allclose(y, pysimd.convolution(x, row, padding=(0, 2)), atol=1e-5))

# Output:
#
#   2x2: filter (16, 16, 32), 4.00 products for an output, error below 1e-5: True
#   3x3: filter (25, 16, 32), 2.78 products for an output, error below 1e-5: True
#   4x4: filter (36, 16, 32), 2.25 products for an output, error below 1e-5: True
#   1x5: True
