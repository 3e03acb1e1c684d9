"""Types of arguments and results, for programs that are checked by mypy or pyright.

FloatArray : ``NDArray[np.float32]``, what most functions return.
Floats : float32 input: a FloatArray, or an array of another library.
Bytes : uint8 input: an ``NDArray[np.uint8]``, or an array of another library.
Tensor : input of float32, of bfloat16 (as uint16, or ml_dtypes.bfloat16) or of uint8.
Indices : int64 input; that of :func:`pysimd.gather_elements` may be int32.
Coefficients : one number for all channels, or Floats with one number for each of C channels, of shape (C,), (C, 1, 1) or
    (1, C, 1, 1).
ForeignArray : an array of another library in the memory of the CPU, see below.
Shape : a tuple of int.
Pair : an int for both directions, or (y, x).
Padding : an int for all sides; (y, x) for both of each; (top, left, bottom, right); "valid" for none; "same" for as much as
    makes the output ``ceil(size / stride)``, the odd one at the bottom and at the right (SAME_UPPER of ONNX).
Layout : "nhwc" or "nchw" for images, "nwc" or "ncw" for signals of one dimension (W). A :class:`pysimd.TensorFormat` is
    accepted as well.
ImageLayout, ChannelLayout, FilterLayout : the layouts of functions that accept fewer or others.
ActivationLike : a name, or a :class:`pysimd.Activation`.
Direction : the order of the steps of a sequence: "forward", "reverse" or "bidirectional".
RecurrentActivation : of a recurrent layer: a name, or a tuple of a name and the numbers alpha and beta, as many as it has.
Lengths : a sequence of int, or an array of any integer type.
Params : the parameters of an activation: a number, a sequence of numbers, a mapping by name, or Floats.

Arrays of other libraries (PyTorch, JAX, and others with ``__dlpack__`` or ``__array_interface__``) are read in place,
without a copy. To a type checker they are those that can be hashed, which distinguishes them from arrays of NumPy: these
have the same methods, but are accepted only with the right dtype.

NumPy's own annotations have float64 for ``x / 2`` and similar quotients of a float32 array: ``x * 0.5`` passes a type
checker.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, Union

import numpy as np

if TYPE_CHECKING:  # as it takes 2 ms, which models do not need
    from numpy.typing import NDArray as NDArray

    from pysimd.enums import Activation, TensorFormat
else:
    NDArray = np.ndarray[Any, np.dtype[TypeVar("Element")]]  # as numpy.typing has it


class SupportsDLPack(Protocol):
    """An array with the protocol of DLPack."""

    def __dlpack__(self, *arguments: Any, **options: Any) -> Any: ...
    def __dlpack_device__(self) -> Any: ...
    def __hash__(self) -> int: ...


class SupportsArrayInterface(Protocol):
    """An array with NumPy's array interface."""

    @property
    def __array_interface__(self) -> Any: ...
    def __hash__(self) -> int: ...


Array = NDArray[Any]
FloatArray = NDArray[np.float32]
ByteArray = NDArray[np.uint8]
IndexArray = NDArray[np.int64]
ForeignArray = Union[SupportsDLPack, SupportsArrayInterface]
Floats = Union[NDArray[np.float32], ForeignArray]
Bytes = Union[NDArray[np.uint8], ForeignArray]
Indices = Union[NDArray[np.int64], NDArray[np.int32], ForeignArray]
Tensor = Union[NDArray[np.float32], NDArray[np.uint16], NDArray[np.uint8], ForeignArray]
Coefficients = Union[float, Floats]

Shape = tuple[int, ...]
Pair = Union[int, tuple[int, int]]
Padding = Union[int, tuple[int, int], tuple[int, int, int, int], Literal["same", "valid"]]

ImageLayout = Union[Literal["nhwc", "nchw"], "TensorFormat"]
Layout = Union[Literal["nhwc", "nchw", "nwc", "ncw"], "TensorFormat"]
BlockLayout = Union[Literal["nhwc", "nchw", "nchw4c", "nchw8c", "nchw16c"], "TensorFormat"]
ChannelLayout = Union[Literal["nhwc", "nchw", "nwc", "ncw", "nchw4c", "nchw8c", "nchw16c"], "TensorFormat"]
FilterLayout = Union[Literal["oiyx", "yxio", "oyxi4o", "oyxi8o", "oyxi16o"], "TensorFormat"]

Direction = Literal["forward", "reverse", "bidirectional"]
RecurrentActivationName = Literal[
    "sigmoid",
    "tanh",
    "relu",
    "affine",
    "leaky_relu",
    "thresholded_relu",
    "scaled_tanh",
    "hard_sigmoid",
    "elu",
    "softsign",
    "softplus",
]
RecurrentActivation = Union[
    RecurrentActivationName,
    tuple[RecurrentActivationName],
    tuple[RecurrentActivationName, float],
    tuple[RecurrentActivationName, float, float],
]
Lengths = Union[Sequence[int], NDArray[np.integer[Any]]]

ActivationName = Literal[
    "identity",
    "relu",
    "relu6",
    "leaky_relu",
    "restrict_range",
    "prelu",
    "elu",
    "hswish",
    "hardswish",
    "mish",
    "hard_sigmoid",
    "hardsigmoid",
    "swish",
    "silu",
    "gelu",
    "sigmoid",
]
ActivationLike = Union[ActivationName, "Activation"]
Params = Union[float, Sequence[float], Mapping[str, Any], Floats]
