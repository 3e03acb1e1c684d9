"""Attention: every token is compared with all others, in several heads that are columns of the same matrices."""

import numpy as np

import pysimd

TOKENS, HEADS, SIZE = 128, 4, 32
rng = np.random.default_rng(0)
query, key, value = rng.standard_normal((3, TOKENS, HEADS * SIZE), dtype=np.float32)

# The columns of a head are a view: rows may be any distance apart, so neither inputs nor outputs are copied.
out = np.empty_like(query)
scores = np.empty((TOKENS, TOKENS), np.float32)
for head in range(HEADS):
    columns = slice(head * SIZE, (head + 1) * SIZE)
    pysimd.gemm(query[:, columns], key[:, columns], transpose_b=True, alpha=SIZE**-0.5, out=scores)
    pysimd.softmax(scores, axis=-1, out=scores)
    pysimd.gemm(scores, value[:, columns], out=out[:, columns])
print("attention of", TOKENS, "tokens:", out.shape)

# The same in NumPy, in double precision.
q, k, v = (x.astype(np.float64).reshape(TOKENS, HEADS, SIZE).transpose(1, 0, 2) for x in (query, key, value))
e = np.exp(q @ k.transpose(0, 2, 1) / np.sqrt(SIZE))
expected = (e / e.sum(-1, keepdims=True) @ v).transpose(1, 0, 2).reshape(out.shape)
print("equal to NumPy:", np.allclose(out, expected, atol=1e-5))

# With beta, the product is added to the previous contents of the output: a residual connection.
weight = rng.standard_normal((HEADS * SIZE, HEADS * SIZE), dtype=np.float32) / 10
x = query.copy()
pysimd.gemm(out, weight, beta=1, out=x)
print("added to its input:", np.allclose(x, query + out @ weight, atol=1e-4))

# Output:
#
#   attention of 128 tokens: (128, 128)
#   equal to NumPy: True
#   added to its input: True
