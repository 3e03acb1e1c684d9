"""The same layer on every instruction set of this machine: results and times."""

import time

import numpy as np

import pysimd

x = np.random.default_rng(0).standard_normal((56, 56, 64), dtype=np.float32)
print(f"simdnet {pysimd.version()}, in use: {pysimd.active_isa()}")


def microseconds() -> float:
    out = np.empty((28, 28, 64), np.float32)
    times = []
    for _ in range(50):
        begin = time.perf_counter()
        pysimd.pooling_max(x, kernel=3, stride=2, padding=1, out=out)
        times.append(time.perf_counter() - begin)
    return min(times) * 1e6


truth = None
for level in pysimd.isa_levels():
    with pysimd.max_isa(level):
        y = pysimd.pooling_max(x, kernel=3, stride=2, padding=1)
        truth = y if truth is None else truth
        print(f"{level:>11}: {microseconds():8.1f} us, same as base: {np.array_equal(y, truth)}")

# Output:
#
#   simdnet ..., in use: ...
#          base: ... us, same as base: True
#   ...
