"""A recurrent network (GRU) over sequences: all of a batch together, and one at a time."""

import numpy as np

import pysimd

STEPS, BATCH, INPUTS, HIDDEN = 20, 8, 16, 32
rng = np.random.default_rng(0)
x = rng.standard_normal((STEPS, BATCH, INPUTS), dtype=np.float32)
w = rng.standard_normal((3 * HIDDEN, INPUTS), dtype=np.float32) / 4  # rows of the gates: update, reset, candidate
u = rng.standard_normal((3 * HIDDEN, HIDDEN), dtype=np.float32) / 6
b = rng.standard_normal(3 * HIDDEN, dtype=np.float32)


def parts(gates: np.ndarray) -> list[np.ndarray]:
    return [np.ascontiguousarray(part) for part in np.split(gates, 3, axis=1)]


def run(sequence: np.ndarray) -> np.ndarray:
    """The last state of each sequence."""
    h = np.zeros((sequence.shape[1], HIDDEN), np.float32)
    for inputs in sequence:
        update, reset, candidate = parts(pysimd.inner_product(inputs, w, b))
        update_h, reset_h, candidate_h = parts(pysimd.inner_product(h, u))
        z = pysimd.sigmoid(pysimd.add(update, update_h))
        r = pysimd.sigmoid(pysimd.add(reset, reset_h))
        n = pysimd.tanh(pysimd.add(candidate, pysimd.eltwise([r, candidate_h], "product")))
        # h = (1 - z) * n + z * h = n + z * (h - n)
        step = pysimd.eltwise([z, pysimd.eltwise([h, n], weights=[1, -1])], "product")
        h = pysimd.add(n, step)
    return h


def in_numpy(sequence: np.ndarray) -> np.ndarray:
    """The same formulas in double precision."""
    h = np.zeros((sequence.shape[1], HIDDEN))
    for inputs in sequence.astype(np.float64):
        (a, c, d), (p, q, s) = np.split(inputs @ w.T + b, 3, axis=1), np.split(h @ u.T, 3, axis=1)
        z, r = 1 / (1 + np.exp(-a - p)), 1 / (1 + np.exp(-c - q))
        h = (1 - z) * np.tanh(d + r * s) + z * h
    return h


h = run(x)
print("states:", h.shape, "equal to NumPy:", np.allclose(h, in_numpy(x), atol=1e-5))
alone = np.concatenate([run(np.ascontiguousarray(x[:, i : i + 1])) for i in range(BATCH)])
print("alone and in a batch bit-identical:", np.array_equal(h, alone))

# Output:
#
#   states: (8, 32) equal to NumPy: True
#   alone and in a batch bit-identical: True
