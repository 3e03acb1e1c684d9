"""Converters of scattering, of gathering parts, and of cumulative sums."""

from __future__ import annotations

from pysimd.network.convert.conversion import CAST_TYPES, Conversion, converts
from pysimd.network.operators import SCATTER, axis_within
from pysimd.network.source import SourceNode


def _reduction(c: Conversion) -> str | None:
    """What an update does; None if the library does not have it for the type."""
    name = c.option("reduction", "none", SCATTER)
    return name if name == "none" or c.dtype(0) in CAST_TYPES else None


@converts("ScatterElements", "Scatter", any_type=True)
def _scatter_elements(c: Conversion, node: SourceNode) -> None:
    axis, reduction = axis_within(int(c.attribute("axis", 0)), len(c.shape(0))), _reduction(c)
    if reduction is None:
        return c.by_numpy()
    return c.give(c.add("ScatterElements", c.typed(0), c.indices(1), c.typed(2), axis=axis, reduction=reduction))


@converts("ScatterND", any_type=True)
def _scatter_nd(c: Conversion, node: SourceNode) -> None:
    reduction = _reduction(c)
    if reduction is None:
        return c.by_numpy()
    return c.give(c.add("ScatterNd", c.typed(0), c.indices(1), c.typed(2), reduction=reduction))


@converts("GatherND", any_type=True)
def _gather_nd(c: Conversion, node: SourceNode) -> None:
    c.give(c.add("GatherNd", c.typed(0), c.indices(1), batch=int(c.attribute("batch_dims", 0))))


@converts("CumSum", any_type=True)
def _cumulative_sum(c: Conversion, node: SourceNode) -> None:
    if c.dtype(0) not in CAST_TYPES - {"bool"} or not c.is_known(1):
        return c.by_numpy()
    axis = axis_within(int(c.numbers(1)[0]), len(c.shape(0)))
    options = {"exclusive": c.flag("exclusive"), "reverse": c.flag("reverse")}
    return c.give(c.add("CumulativeSum", c.typed(0), axis=axis, **options))
