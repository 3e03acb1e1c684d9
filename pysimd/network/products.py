"""Products of stacks of matrices, read in place at strides: calls of SimdnetGemm and SimdnetAttention; and of bytes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import Any, NamedTuple

import numpy as np

from pysimd.annotations import Shape
from pysimd.gemm import joined
from pysimd.network.calls import Call
from pysimd.network.functions import of_struct, tensor_type
from pysimd.network.views import View


class _Matrices(NamedTuple):
    """The first of some matrices, and distances in elements."""

    first: View
    transposed: bool
    step: int  # from a row to the next
    strides: tuple[int, ...]  # of the dimensions of the batch


def products(a: View, b: View, out: View) -> list[Call]:
    """``a @ b``; leading dimensions are broadcast. Nothing for empty results.

    Raises ValueError where neither the rows nor the columns of the matrices are dense.
    """
    if out.size == 0:
        return []
    lead = out.shape[:-2]
    views = [each.broadcast((*lead, *each.shape[-2:])) for each in (a, b)] + [out]
    return [_multiplied(each) for each in _stacks(lead, views)]


def attention(q: View, k: View, v: View, bias: View | None, scale: float, out: View, prefer: int = 0) -> list[Call]:
    """``softmax(scale * q @ k + bias) @ v``; leading dimensions are broadcast.

    prefer : the number of a preference in C.
    """
    if out.size == 0:
        return []
    lead, (rows, columns) = out.shape[:-2], (q.shape[-2], k.shape[-1])
    views = [each.broadcast((*lead, *each.shape[-2:])) for each in (q, k, v)]
    views += [out] if bias is None else [out, bias.broadcast((*lead, rows, columns))]
    return [_attended(each, scale, prefer) for each in _stacks(lead, views)]


def _stacks(lead: Shape, views: Sequence[View]) -> Iterator[list[View]]:
    """The matrices of each call, which takes two dimensions of a batch: the first and the last one. Those between are loops,
    as the first one is that of images or texts: the number of calls does not depend on how many there are."""
    extents, strides = joined(lead, views)
    between = range(1, len(extents) - 1)
    order = [*between, *(axis for axis in range(len(extents)) if axis not in between)]
    shape = [extents[axis] for axis in order]
    stacks = [
        each.strided((*shape, *each.shape[-2:]), (*(own[axis] for axis in order), *each.strides[-2:]))
        for each, own in zip(views, strides)
    ]
    for index in product(*map(range, shape[: len(between)])):
        yield [_at(each, index) for each in stacks]


def _attended(views: Sequence[View], scale: float, prefer: int) -> Call:
    q, k, v, dst = (_matrices(view, name) for view, name in zip(views, ("a", "b", "b", "out")))
    if q.transposed:
        raise ValueError("queries have no adjacent elements in each row")
    (rows, depth), (columns, width) = views[0].shape[-2:], views[2].shape[-2:]
    members: dict[str, Any] = {
        "M": rows,
        "N": columns,
        "K": depth,
        "width": width,
        "transK": not k.transposed,  # a row of the operand is a column of keys
        "transV": v.transposed,
        "scale": scale,
        "prefer": prefer,
    }
    members |= {"queries": q.first, "keys": k.first, "values": v.first, "dst": dst.first, "batch": views[3].shape[:-2]}
    members |= {"ldq": q.step, "ldk": k.step, "ldv": v.step, "ldd": dst.step}
    members |= {"strideQ": q.strides, "strideK": k.strides, "strideV": v.strides, "strideD": dst.strides}
    if len(views) > 4:
        *outer, step, _ = (stride // views[4].itemsize for stride in views[4].strides)
        members |= {"bias": views[4], "ldb": step, "strideB": tuple(outer)}
    return of_struct("SimdnetAttention", "SimdnetAttentionParameters", members)


def byte_products(a: View, b: View, out: View) -> list[Call]:
    """Sums of products of unsigned and signed bytes: the rows of `a` with those of `b`; leading dimensions are broadcast.

    All matrices that share `b` are one call.
    """
    if out.size == 0:
        return []
    (n, k), lead = b.shape[-2:], out.shape[:-2]
    if b.ndim == 2:
        return [Call("SimdSynetInnerProduct8i", (prod(out.shape[:-1]), n, k, a, b, out, 0))]
    views = [a.broadcast((*lead, *a.shape[-2:])), b.broadcast((*lead, *b.shape[-2:])), out]
    calls = []
    for index in product(*map(range, lead)):
        rows, columns, sums = (_at(view, index) for view in views)
        calls.append(Call("SimdSynetInnerProduct8i", (rows.shape[0], n, k, rows, columns, sums, 0)))
    return calls


def bytes_matmul(a: View, b: View, a_zero: Any, b_zero: Any, out: View, of: Mapping[str, Any]) -> list[Call]:
    """``(a - a_zero) @ (b - b_zero)``; one call, unless leading dimensions are broadcast.

    of : the attributes of the node.
    """
    if out.size == 0:
        return []
    lead, (m, n), k = out.shape[:-2], out.shape[-2:], a.shape[-1]
    members: dict[str, Any] = {"M": m, "N": n, "K": k, "typeA": tensor_type(a.dtype), "typeB": tensor_type(b.dtype)}
    members |= {"typeC": tensor_type(out.dtype), "zeroA": a_zero, "zeroB": b_zero}
    members |= {"perRow": a_zero is not None and a_zero.ndim >= 2, "perColumn": b_zero is not None and b_zero.ndim == 1}
    if "scales" in of:
        one, other, last = of["scales"]
        members |= {"scaleA": np.array([one], np.float32), "scaleB": np.array([other], np.float32)}
        members |= {"scaleC": last, "zeroC": of["zero"]}
    if (a.shape[:-2] == lead or a.ndim == 2) and (b.shape[:-2] == lead or b.ndim == 2):
        steps = {"strideA": m * k if a.ndim > 2 else 0, "strideB": k * n if b.ndim > 2 else 0}
        made = members | steps | {"batch": prod(lead), "A": a, "B": b, "C": out}
        return [of_struct("SimdnetQuantizedGemm", "SimdnetQuantizedGemmParameters", made)]
    views = [a.broadcast((*lead, m, k)), b.broadcast((*lead, k, n)), out]
    calls = []
    for index in product(*map(range, lead)):
        made = members | dict(zip("ABC", (_at(view, index) for view in views)))
        calls.append(of_struct("SimdnetQuantizedGemm", "SimdnetQuantizedGemmParameters", made))
    return calls


def _at(view: View, index: Sequence[int]) -> View:
    """An element of the first dimensions."""
    offset, count = sum(i * stride for i, stride in zip(index, view.strides)), len(index)
    return View(view.root, view.dtype, view.shape[count:], view.strides[count:], view.offset + offset)


def _multiplied(views: Sequence[View]) -> Call:
    a, b, c = (_matrices(view, name) for view, name in zip(views, ("a", "b", "out")))
    batch = views[2].shape[:-2]
    (m, n), k = views[2].shape[-2:], views[0].shape[-1]
    members: dict[str, Any] = {
        "M": m,
        "N": n,
        "K": k,
        "transA": a.transposed,
        "transB": b.transposed,
        "alpha": 1.0,
        "beta": 0.0,
    }
    members |= {"A": a.first, "B": b.first, "C": c.first, "lda": a.step, "ldb": b.step, "ldc": c.step, "batch": batch}
    members |= {"strideA": a.strides, "strideB": b.strides, "strideC": c.strides}
    return of_struct("SimdnetGemm", "SimdnetGemmParameters", members)


def _matrices(view: View, name: str) -> _Matrices:
    transposed = name != "out" and not _is_rows(view)
    rows = view.swapped() if transposed else view
    if not _is_rows(rows):
        where = "row" if name == "out" else "row or column"
        raise ValueError(f"{name} has strides {view.strides}, expected adjacent elements in each {where}")
    count, columns = rows.shape[-2:]
    step = rows.strides[-2] // view.itemsize if count != 1 else columns
    return _Matrices(view, transposed, step, tuple(stride // view.itemsize for stride in rows.strides[:-2]))


def _is_rows(view: View) -> bool:
    """Whether the elements of each row are adjacent, and rows a positive distance apart."""
    (rows, columns), (step, inner) = view.shape[-2:], view.strides[-2:]
    size = view.itemsize
    return bool((inner == size or columns <= 1) and (step == columns * size or rows <= 1 or step >= columns * size))
