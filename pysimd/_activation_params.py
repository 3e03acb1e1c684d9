"""The activations of convolutions: their names, and the parameters that each has."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any, NamedTuple

import numpy as np

from pysimd._arrays import FLOAT32, NULL, coefficients, element_of, is_array, numbers, plain, tensor
from pysimd._library import lib
from pysimd.annotations import Params
from pysimd.errors import shown

PRELU: int = lib.SimdConvolutionActivationPrelu
_OTHER_NAMES = ("relu6", "hardswish", "hardsigmoid", "silu")  # of activations that have a name


class Kind(NamedTuple):
    """An activation as the functions of this package name it."""

    name: str
    activation: int  # of the library
    names: tuple[str, ...] = ()  # of its parameters, as those of the function of this name
    defaults: tuple[float, ...] = ()


#: Names and defaults are those of the functions :func:`pysimd.relu6`, :func:`pysimd.leaky_relu` and so on.
_KINDS: dict[Any, Kind] = {
    kind.name: kind
    for kind in (
        Kind("identity", lib.SimdConvolutionActivationIdentity),
        Kind("relu", lib.SimdConvolutionActivationRelu),
        Kind("relu6", lib.SimdConvolutionActivationRestrictRange, (), (0, 6)),
        Kind("leaky_relu", lib.SimdConvolutionActivationLeakyRelu, ("slope",), (0.01,)),
        Kind("restrict_range", lib.SimdConvolutionActivationRestrictRange, ("lower", "upper"), (-inf, inf)),
        Kind("prelu", PRELU, ("slope",)),
        Kind("elu", lib.SimdConvolutionActivationElu, ("alpha",), (1,)),
        Kind("hswish", lib.SimdConvolutionActivationHswish, ("shift", "scale"), (3, 1 / 6)),
        Kind("hardswish", lib.SimdConvolutionActivationHswish, ("shift", "scale"), (3, 1 / 6)),
        Kind("mish", lib.SimdConvolutionActivationMish, ("threshold",), (20,)),
        Kind("hard_sigmoid", lib.SimdConvolutionActivationHardSigmoid, ("scale", "shift"), (1 / 6, 0.5)),
        Kind("hardsigmoid", lib.SimdConvolutionActivationHardSigmoid, ("scale", "shift"), (1 / 6, 0.5)),
        Kind("swish", lib.SimdConvolutionActivationSwish, ("slope",), (1,)),
        Kind("silu", lib.SimdConvolutionActivationSwish, ("slope",), (1,)),
        Kind("gelu", lib.SimdConvolutionActivationGelu),
        Kind("sigmoid", lib.SimdnetConvolutionActivationSigmoid),
    )
}
#: Enumerators are found as the numbers that they are: pysimd.enums takes 2 ms to import, which models do not need.
_KINDS.update({kind.activation: kind for kind in tuple(_KINDS.values()) if kind.name not in _OTHER_NAMES})


def kind_of(activation: Any) -> Kind:
    """An activation given by name or as an enumerator."""
    try:
        return _KINDS[activation]
    except (KeyError, TypeError):
        names = ", ".join(name for name in _KINDS if type(name) is str)
        raise ValueError(f"activation is {shown(activation)}, expected one of {names}") from None


def params_of(given: Params | None, kind: Kind, dst_c: int, name: str = "params") -> Any:
    """A C array of the parameters of an activation. Numbers are converted; an array must be float32."""
    params: Any = given
    if params is not None and isinstance(params, Mapping):
        params = _by_name(params, kind, name)
    if params is None:
        if kind.activation == PRELU:
            raise ValueError(f"{name} is None, expected {dst_c} numbers for prelu, or one for all channels")
        return tensor(np.array(kind.defaults, np.float32), name, (len(kind.defaults),)) if kind.defaults else NULL
    if not kind.names:
        raise ValueError(f"{name} is {shown(params)}, expected None: the activation {kind.name} has no parameters")
    if kind.activation == PRELU:
        slopes: Any = params if is_array(params) else numbers(params, name).reshape(-1)
        return coefficients(slopes, name, dst_c, shared=True)
    if not is_array(params):
        params = numbers(_without_none(params, kind), name).reshape(-1)
    array = plain(params, name)
    element_of(array, name, (FLOAT32,))
    if array.shape != (len(kind.names),):
        expected = " and ".join(kind.names)
        raise ValueError(f"{name} has shape {array.shape}, expected {(len(kind.names),)}: the {expected} of {kind.name}")
    return tensor(array, name, array.shape)


def _by_name(params: Mapping[str, Any], kind: Kind, name: str) -> Any:
    """The parameters of a mapping, with defaults for those that it does not have."""
    for key in params:
        if key not in kind.names:
            expected = " and ".join(kind.names) or "no parameters"
            raise ValueError(f"{name} has {key!r}, expected {expected} for the activation {kind.name}")
    if kind.activation == PRELU:
        return params.get("slope")
    return [params.get(key) for key in kind.names] or None


def _without_none(params: Any, kind: Kind) -> Any:
    """A sequence of all parameters with defaults in place of None; other parameters unchanged."""
    if isinstance(params, (list, tuple)) and len(params) == len(kind.defaults):
        return [default if value is None else value for value, default in zip(params, kind.defaults)]
    return params
