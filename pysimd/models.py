"""Models: ONNX files that are loaded, prepared for shapes, and run. The work is done in :mod:`pysimd.network`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, Union

if TYPE_CHECKING:
    from pysimd.network.model import Model


class ModelProto(Protocol):
    """What of an ``onnx.ModelProto`` distinguishes it from other objects, so that annotations do not need the package."""

    @property
    def graph(self) -> Any: ...
    @property
    def opset_import(self) -> Any: ...
    def SerializeToString(self) -> bytes: ...


ModelLike = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview, ModelProto]


def load(model: ModelLike, *, fallback: Mapping[str, Callable[..., Any]] | None = None, prepared: bool = False) -> Model:
    """Loads a model.

    model : the path of an ONNX file, or of one that ``save()`` of a model has written; or the bytes of an ONNX file, or an
        ``onnx.ModelProto``.
    fallback : Python functions for operators that are not supported, by "Operator" or "domain.Operator". One is called
        with a read-only array for each input and with the attributes as keywords; it returns an array, or a tuple or a list
        of them, whose shapes depend only on those of the inputs: it is called with zeros for each new shape, too.
    prepared : whether preparations use the plans that ``save(path, prepared=...)`` has written into the file, where one is
        for these shapes, this version, instruction set and preference. A plan is a program, which no check can make safe:
        only for files that nobody else can have written.

    Raises ValueError for a file that is not such a model, OSError if it cannot be read.
    ``print(model)`` lists operators that are not supported, as does the error of ``prepare()``.

    >>> model = pysimd.load("model.onnx")  # doctest: +SKIP
    >>> y = model(image)["y"]  # doctest: +SKIP
    >>> run = model.prepare((1, 3, 224, 224))  # doctest: +SKIP
    >>> y = run(image)["y"]  # doctest: +SKIP
    """
    from pysimd.network.planning import uncollected

    file = os.path.basename(model) if isinstance(model, (str, os.PathLike)) else ""
    with uncollected():
        from pysimd.network.files import is_saved
        from pysimd.network.model import Model

        if isinstance(model, (str, os.PathLike)) and is_saved(model):
            from pysimd.network import saved

            if prepared and not fallback:
                found = saved.outline(model)
                return Model(found.source, None, file, found.plans, found.whole)
            return Model(saved.read(model), fallback, file)
        from pysimd.network import onnx_reader

        return Model(onnx_reader.read(model), fallback, file)
