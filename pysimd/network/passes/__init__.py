"""Passes: functions that make a graph simpler, which computes the same. Each is a small file, and each has its test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Callable

import numpy as np

from pysimd.network.graph import Graph
from pysimd.network.passes import (
    activations,
    additions,
    affine,
    attention,
    blocks,
    gates,
    lifted,
    moves,
    norms,
    products,
    scattering,
    tables,
    tiny,
)
from pysimd.network.passes.rewrite import Draft, Match

Pass = Callable[[Draft], None]


def _rewriting(matches: Sequence[Match]) -> Pass:
    """A pass of several patterns, each of which is looked for until there are none."""

    def run(draft: Draft) -> None:
        for match in matches:
            draft.rewrite(match)

    return run


def _settled(*passes: Pass) -> Pass:
    """Several passes, repeated until they change nothing."""

    def run(draft: Draft) -> None:
        before = -1
        while draft.version != before:
            before = draft.version
            for each in passes:
                each(draft)

    return run


_moves = _settled(moves.shared, _rewriting(moves.MATCHES))

#: The passes by name, in their order: attention before the numbers in it are moved; what follows products of bytes before
#: other patterns take it; formulas before the numbers in them become weights; activations before what is built of layers
#: with activations; merged blocks before the additions at their ends; tables when nothing is moved any more.
PASSES: tuple[tuple[str, Pass], ...] = (
    ("moves", _moves),
    ("attention", _rewriting(attention.MATCHES)),
    ("products", _rewriting(products.MATCHES)),
    ("scattering", _rewriting(scattering.MATCHES)),
    ("gates", _settled(_rewriting(gates.MATCHES))),
    ("norms", _rewriting(norms.MATCHES)),
    ("lifted", _settled(_rewriting(lifted.MATCHES), _moves)),
    ("affine", _rewriting(affine.MATCHES)),
    ("activations", _settled(_rewriting((*lifted.MATCHES, *activations.MATCHES)), _moves)),
    ("blocks", _rewriting(blocks.MATCHES)),
    ("additions", _rewriting(additions.MATCHES)),
    ("last moves", _moves),
    ("tables", _rewriting(tables.MATCHES)),
    ("tiny", tiny.flushed),
)


def simplified(graph: Graph) -> Graph:
    """The graph after all passes, without nodes that its outputs do not need.

    Passes compute without warnings of NumPy: they do not use what is not finite.
    """
    draft = Draft(graph)
    with np.errstate(all="ignore"):
        for _, run in PASSES:
            run(draft)
    return draft.finished()
