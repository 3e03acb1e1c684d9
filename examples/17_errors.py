"""Exceptions for invalid arguments: always raised before anything is written, with the value given and what was expected."""

from typing import Any, Callable

import numpy as np

import pysimd

x = np.ones((8, 8, 4), np.float32)
weight = np.ones((3, 3, 4, 4), np.float32)
convolution = pysimd.Convolution32f(x.shape, 4, kernel=3)


def attempt(call: Callable[..., Any], *arguments: Any, **options: Any) -> None:
    try:
        call(*arguments, **options)
    except (TypeError, ValueError, MemoryError) as error:
        print(f"{type(error).__name__}: {error}")
    else:
        print("no error")


# Arrays: type, layout in memory, shape. Nothing is converted or copied silently.
attempt(pysimd.relu, [1.0, 2.0])
attempt(pysimd.relu, x.astype(np.float64))
attempt(pysimd.relu, x[::-1])
attempt(pysimd.add, x, x[:4])
attempt(pysimd.softmax, x, out=x[..., :2])
attempt(pysimd.convolution, x, weight, out=x)

# Numbers and names.
attempt(pysimd.pooling_max, x, kernel=2, stride=0)
attempt(pysimd.pooling_max, x, kernel=2, layout="nwhc")
attempt(pysimd.Convolution32f, x.shape, 6, kernel=3, group=4)
attempt(pysimd.convolution, x, weight, activation="prelu")

# The order of calls: the error is a ValueError with a class of its own.
attempt(convolution, x)
convolution.set_params(weight)
attempt(convolution, x)
convolution.close()
attempt(convolution, x)

# Output:
#
#   TypeError: x is a list, expected a numpy.ndarray: use np.array(x, np.float32)
#   TypeError: x has dtype float64, expected float32: use x.astype(np.float32)
#   ValueError: x is not C-contiguous: use np.ascontiguousarray(x)
#   ValueError: b has shape (4, 8, 4), expected one that can be broadcast with that of a, (8, 8, 4)
#   ValueError: out has shape (8, 8, 2), expected (8, 8, 4): use np.empty((8, 8, 4), np.float32)
#   ValueError: out has shape (8, 8, 4), expected (6, 6, 4): use np.empty((6, 6, 4), np.float32)
#   ValueError: stride is 0, expected at least 1
#   ValueError: layout is 'nwhc', expected 'nchw' or 'nhwc' or 'nwc' or 'ncw'
#   ValueError: group is 4, expected a divisor of 4 input and 6 output channels
#   ValueError: params is None, expected 4 numbers for prelu, or one for all channels
#   StateError: the context has no weights yet: call set_params() first
#   no error
#   StateError: Convolution32f is closed
