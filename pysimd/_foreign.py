"""Arrays of other libraries as arrays of NumPy over the same memory, by DLPack or by NumPy's array interface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Device types of DLPack whose memory the CPU can read: CPU, pinned memory of CUDA and of ROCm, managed memory of CUDA.
_HOST = {1, 3, 11, 13}

_from_dlpack: Any = vars(np).get("from_dlpack") or vars(np)["_from_dlpack"]  # its name in NumPy 1.22


def is_foreign(value: Any) -> bool:
    """Whether the class of an object offers its memory, and is neither an array nor a scalar of NumPy."""
    cls = type(value)
    return (hasattr(cls, "__dlpack__") or hasattr(cls, "__array_interface__")) and not issubclass(
        cls, (np.ndarray, np.generic)
    )


def imported(value: Any, name: str) -> NDArray[Any]:
    """The memory of an array of another library, which the result keeps alive. Nothing is copied."""
    if not hasattr(type(value), "__dlpack__"):
        return np.asarray(value)
    if getattr(value, "requires_grad", False) is True:
        raise ValueError(f"{name} requires grad, expected an array without: use {name}.detach()")
    device = int(value.__dlpack_device__()[0])
    if device not in _HOST:
        raise ValueError(
            f"{name} is on a device (type {device} of DLPack), expected memory of the CPU: copy it there, by {name}.cpu() "
            f"or np.asarray({name})"
        )
    try:
        array: NDArray[Any] = _from_dlpack(value)
    except (BufferError, RuntimeError, ValueError, TypeError) as error:
        kind = f"{type(value).__module__}.{type(value).__qualname__}"
        raise TypeError(f"{name} is a {kind} that cannot be read in place ({error}): use np.array({name})") from error
    return array
