"""The library's last error as a Python exception."""

from __future__ import annotations

import re
from typing import Any, NoReturn

import _cffi_backend
import numpy as np

from pysimd._library import ffi, lib

_VALUE, _MEMORY, _STATE = 1, 2, 3


class StateError(ValueError):
    """A context is used before :meth:`set_params` or after :meth:`close`, or created a second time.

    >>> with pysimd.Add16b((4,)) as context:
    ...     pass
    >>> context(np.ones(4, np.float32), np.ones(4, np.float32))
    Traceback (most recent call last):
    pysimd.errors.StateError: Add16b is closed
    """


def dtype_name(dtype: Any) -> str:
    """A type in the code that a message recommends: ``np.float32``, but ``bool``: NumPy 1.26 has no ``np.bool``."""
    return "bool" if str(dtype) == "bool" else f"np.{dtype}"


def shown(value: Any) -> str:
    """A value in a message: of an array the shape, of other long values the beginning."""
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    text = repr(value)
    return text if len(text) <= 100 else f"{text[:97]}..."


def printable(text: str) -> str:
    """Text from a file for a line on a terminal: characters that a terminal would obey, such as ESC, become escapes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


NO_WEIGHTS = "the context has no weights yet: call set_params() first"

_EXCEPTIONS = {_VALUE: ValueError, _MEMORY: MemoryError, _STATE: StateError}

#: Names of arguments in the messages of the library, and the names of this package for them. Most arguments are checked
#: before the library is called; its messages are mainly about sizes that are too large.
_WORDS: dict[str, Any] = {
    r"^Simd\w+: ": "",
    r"\bconv\[(\d)\]\.": r"stages[\1]: ",
    r"\bconv of\b": "a convolution of",
    r"\bsrcC\b": "the number of input channels",
    r"\bdstC\b": "the number of output channels",
    r"\bsrcH\b": "the height of the input",
    r"\bsrcW\b": "the width of the input",
    r"\bdstH\b": "the height of the output",
    r"\bdstW\b": "the width of the output",
    r"\bsrcY\b": "the height of the input",
    r"\bsrcX\b": "the width of the input",
    r"\bdstY\b": "the height of the output",
    r"\bdstX\b": "the width of the output",
    r"\b(kernel|stride|dilation|pad)Y\b": r"\1[0]",
    r"\b(kernel|stride|dilation|pad)X\b": r"\1[1]",
    r"\bpadH\b": "pad[2]",
    r"\bpadW\b": "pad[3]",
    r"\bpad\[": "padding[",
    r"\baShape of\b": "a shape of",
    r"\bnorm or b is not finite": "they overflow once scaled",
    r"\bSimdTensorFormat(\w+)\b": lambda found: repr(found[1].lower()),
    r"\bSimdTensorData(\w+)\b": lambda found: {"32f": "float32", "16b": "bfloat16", "8u": "uint8"}.get(found[1], found[1]),
    r"\bSimdConvolutionActivation(\w+)\b": lambda found: repr(re.sub(r"\B(?=[A-Z])", "_", found[1]).lower()),
    r"\bsrcF\b": "layout",
    r"\b(src|dst)T\b": r"\1_dtype",
    r"\bsrcCount\b": "the size of the axis",
    r"\bidxCount\b": "count",
    r"^index\[|^idx\[": "indices[",
    r"^idx is NULL, expected an array: SetIndex\(\) has set none": "indices is None: set_index() has set none",
    r"\biouThreshold\b": "iou_threshold",
    r"^from\b": "other",  # of share_params()
    r"\bof from\b": "of other",
    r"\bas (in )?context\b": "as in this context",
    r"\b(src|dst)Format\b": r"\1_layout",
    r"\b(src|dst|a|b)Type\b": r"\1_dtype",
}


def in_words_of_python(text: str) -> str:
    """A message of the library with the names that arguments have in this package."""
    for pattern, word in _WORDS.items():
        text = re.sub(pattern, word, text)
    return text


def raise_last() -> NoReturn:
    """Raises the last error of this thread."""
    kind = lib.SimdnetLastErrorKind()
    if kind == _STATE:
        raise StateError(NO_WEIGHTS)
    text = ffi.string(lib.SimdnetLastError()).decode("utf-8", "replace")
    raise _EXCEPTIONS.get(kind, RuntimeError)(in_words_of_python(text) or "the library refused the call without a reason")


#: errno as this thread's last call left it. The library sets it with every error, and reading it takes a quarter of the time
#: of reading the kind of the last error: 0 means that there was none, for any other value :func:`check` reads the kind.
errno: Any = _cffi_backend.get_errno


def check() -> None:
    """Raises if this thread's last call was refused; for functions that return nothing."""
    if not errno():
        return
    _cffi_backend.set_errno(0)  # the library does not, and a value that stays would make every call read the kind
    if lib.SimdnetLastErrorKind():
        raise_last()
