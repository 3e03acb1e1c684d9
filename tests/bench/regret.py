"""Rates the present choice of algorithms by times that were measured on any processor: ``python -m bench.regret FILE...``.

The files are those that ``make calibrate CALIBRATE_FLAGS='--json FILE'`` writes, or that were kept of them: for each shape
and level the warm and cold time of every algorithm that supports it. Which one is chosen follows from the shape and the
level alone, so the library of this machine can be rated by the table of another one. Regret is the time of the chosen
algorithm over that of the best. Where a choice loses more than 5% cold, every algorithm is listed with its regret on each
processor.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pysimd
from bench import machine, report
from bench.cases.case import FORMATS
from pysimd._library import ffi, lib

ACCEPTED = 1.05


class Key(NamedTuple):
    """A shape as ``SIMDNET_VERBOSE`` prints it, on a level."""

    shape: str
    isa: str


@dataclass(frozen=True)
class Table:
    """The microseconds of a processor: for each shape and level, those of each algorithm, (warm, cold)."""

    processor: str
    source: str
    times: Mapping[Key, Mapping[str, tuple[float, float]]]

    def regret(self, key: Key, algorithm: str) -> tuple[float, float]:
        """The time of an algorithm over that of the best, warm and cold."""
        times = self.times[key]
        warm, cold = (own / min(column) for own, column in zip(times[algorithm], zip(*times.values())))
        return warm, cold


# ---- the present choice

_SHAPE = re.compile(r"(\d+)x(\d+)x(\d+)x(\d+)->(\d+)x(\d+)x(\d+),(\d+)x(\d+)((?:,[^,]+)*)")
_TYPES = {"32f": lib.SimdTensorData32f, "16b": lib.SimdTensorData16b, "8u": lib.SimdTensorData8u}


def _padding(source: int, result: int, kernel: int, stride: int) -> tuple[int, int]:
    """As much before as after, or one less."""
    padding = max((result - 1) * stride + kernel - source, 0)
    return padding // 2, padding - padding // 2


def _parameters(sizes: Sequence[int], words: Sequence[str]) -> Any:
    """The struct of Init functions, from the sizes of a shape and the words behind them."""
    p = ffi.new("SimdConvolutionParameters *")
    p.srcC, p.srcH, p.srcW, p.dstC, p.dstH, p.dstW, p.kernelY, p.kernelX = sizes
    (word,) = (word for word in words if word in FORMATS)
    p.srcF = p.dstF = FORMATS[word]
    types = next((word for word in words if "->" in word), "32f->32f")
    p.srcT, p.dstT = (_TYPES[name] for name in types.split("->"))
    numbers: dict[str, list[int]] = {"s": [1, 1], "d": [1, 1], "g": [1, 1]}
    for word in words:
        if axes := re.fullmatch(r"([sdg])(\d+)(?:x(\d+))?", word):
            numbers[axes[1]] = [int(axes[2]), int(axes[3] or axes[2])]
    (p.strideY, p.strideX), (p.dilationY, p.dilationX), (p.group, _) = numbers.values()
    ends = (p.dstH, p.srcH, p.dstW, p.srcW) if "deconvolution" in words else (p.srcH, p.dstH, p.srcW, p.dstW)
    p.padY, p.padH = _padding(*ends[:2], (p.kernelY - 1) * p.dilationY + 1, p.strideY)
    p.padX, p.padW = _padding(*ends[2:], (p.kernelX - 1) * p.dilationX + 1, p.strideX)
    return p


def info_of(key: Key) -> str:
    """The description of the context that the library creates. Raises ValueError for what is no shape."""
    found = _SHAPE.fullmatch(key.shape)
    if found is None:
        raise ValueError(f"{key.shape!r} is no shape")
    words = found[10].split(",")[1:]
    batch, *sizes = map(int, found.groups()[:9])
    p = _parameters(sizes, words)
    types = {p.srcT, p.dstT}
    with pysimd.max_isa(key.isa):
        if lib.SimdTensorData8u in types:
            context = lib.SimdSynetConvolution8iInit(batch, p)
        elif lib.SimdTensorData16b in types:
            context = lib.SimdSynetConvolution16bInit(batch, p, 0)
        else:
            init = lib.SimdSynetDeconvolution32fInit if "deconvolution" in words else lib.SimdSynetConvolution32fInit
            context = init(batch, p, ffi.NULL)
    if not context:
        raise ValueError(f"{key.shape!r} is refused")
    info = str(ffi.string(lib.SimdnetContextInfo(context)).decode())
    lib.SimdRelease(context)
    return info


def chosen(key: Key, algorithms: Sequence[str]) -> str | None:
    """The one of these algorithms that the library chooses; None if it is another one."""
    info = info_of(key)
    return next((name for name in algorithms if info == name or info.startswith(f"{name}, ")), None)


# ---- files


def read(path: Path) -> Table:
    """A file of times. Raises ValueError for any other."""
    found = json.loads(path.read_text())
    if isinstance(found, list):
        found = {"processor": machine.processor(), "source": f"{path}, this machine", "convolutions": found}
    try:
        times = {
            Key(row["shape"], row["isa"]): {a["name"]: (a["warm_us"], a["cold_us"]) for a in row["algorithms"]}
            for row in found["convolutions"]
        }
        return Table(found["processor"], found["source"], times)
    except (KeyError, TypeError) as error:
        raise ValueError(f"{path} has no times of algorithms: {error}") from None


def joined(tables: Sequence[Table]) -> list[Table]:
    """One table for each processor; of a shape that occurs again, the last times."""
    all_of: dict[str, list[Table]] = {}
    for table in tables:
        all_of.setdefault(table.processor, []).append(table)
    return [
        Table(processor, parts[0].source, {key: row for part in parts for key, row in part.times.items()})
        for processor, parts in all_of.items()
    ]


def keep(table: Table, folder: Path, source: str) -> Path:
    """Writes a table as ``<processor>-convolutions.json``."""
    rows = [
        {
            **key._asdict(),
            "algorithms": [{"name": name, "warm_us": warm, "cold_us": cold} for name, (warm, cold) in row.items()],
        }
        for key, row in table.times.items()
    ]
    path = folder / f"{table.processor}-convolutions.json"
    report.write_json({"processor": table.processor, "source": source or table.source, "convolutions": rows}, path)
    return path


# ---- the text


def _lines(table: Table) -> Iterator[str]:
    """The regrets of the present choice on a processor."""
    yield f"{table.processor}: {table.source}"
    regrets: dict[str, list[tuple[tuple[float, float], str]]] = {}
    unknown = []
    for key in table.times:
        if key.isa not in pysimd.isa_levels():
            unknown.append(f"{key.shape}, {key.isa}: this machine has no such level")
        elif (name := chosen(key, list(table.times[key]))) is None:
            unknown.append(f"{key.shape}, {key.isa}: {info_of(key)} was not measured")
        else:
            regrets.setdefault(key.isa, []).append((table.regret(key, name), key.shape))
    for isa, rows in regrets.items():
        for number, kind in enumerate(("warm", "cold")):
            column = [(regret[number], shape) for regret, shape in rows]
            mean = math.exp(statistics.fmean(math.log(regret) for regret, _ in column))
            (worst, where), beyond = max(column), sum(regret > ACCEPTED for regret, _ in column)
            yield (
                f"  {isa} {kind}: geometric mean {mean:.3f}, worst {worst:.2f} ({where}), "
                f"{beyond} of {len(column)} rows above {ACCEPTED}"
            )
    yield from (f"  {line}" for line in unknown)


def _beyond(tables: Sequence[Table]) -> Iterator[str]:
    """Shapes whose choice loses more than is accepted, cold, on any of the processors: every algorithm on each of them.
    "*" is the choice, "+" the algorithm with the smallest worst regret."""
    keys = dict.fromkeys(key for table in tables for key in table.times if key.isa in pysimd.isa_levels())
    for key in keys:
        having = [table for table in tables if key in table.times]
        names = [name for name in having[0].times[key] if all(name in table.times[key] for table in having)]
        name = chosen(key, names)
        worst = {each: max(table.regret(key, each)[1] for table in having) for each in names}
        if name is None or worst[name] <= ACCEPTED:
            continue
        yield f"{key.shape}, {key.isa}: {worst[name]:.2f}"
        for each in names:
            mark = "*" * (each == name) + "+" * (worst[each] == min(worst.values()))
            cells = (f"{table.regret(key, each)[1]:5.2f} ({table.processor})" for table in having)
            yield f"  {mark:<2} {each:<28} {'  '.join(cells)}"


def text(tables: Sequence[Table]) -> str:
    """Regrets on each processor, then the choices that lose most."""
    return "\n".join([*(line for table in tables for line in _lines(table)), "", *_beyond(tables)]).rstrip()


def main(argv: Sequence[str] | None = None) -> int:
    """Prints the regrets; with --keep, writes the tables."""
    parser = argparse.ArgumentParser(prog="regret", description="Rates the choice of algorithms by measured times.")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="times of make calibrate, or kept ones")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="writes <processor>-convolutions.json for each")
    parser.add_argument("--source", default="", help="where and when they were measured, for --keep")
    arguments = parser.parse_args(argv)
    try:
        tables = joined([read(path) for path in arguments.files])
        print(text(tables))
    except (OSError, ValueError) as error:
        parser.error(str(error))
    for table in tables if arguments.keep else ():
        print(f"written: {keep(table, arguments.keep, arguments.source)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
