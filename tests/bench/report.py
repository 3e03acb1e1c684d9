"""The table for people, as text or as Markdown, and the JSON for programs."""

from __future__ import annotations

import dataclasses
import json
import math
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from bench.runner import PeerTime, Result
from bench.whole import OURS

_WIDTH = 36  # of the text of a layer
_HEAD = f"{'layout':<11} {'level':<11} {'t':>2} {'us':>9} {'best':>9}  {'of limit':<13} {'of aim':>6}"
_LEGEND = """
t: threads. us: median of the samples. of limit: the speed of the same arithmetic as bare multiply-adds (fma), products of
bytes (dot) or of bfloat16 numbers (bf16), or of copying as many bytes (copy), in the same run on one thread. of aim: 1 or
more when the row's aim is reached; aims are for the newest level. ~: the rounds vary: their median is more than 1.5 times
the best of them; measure such a row again."""
_COLD_LEGEND = """
cold: microseconds of a single call after 128 MB of other data have been read; weights and image come from memory."""
_PEERS_LEGEND = """
Under a peer's name: its time over ours, above 1 we are faster; after a slash that of cold calls. In rows that say nhwc a
peer gets the image in the layout that it prefers within a network; in rows that say nchw it reads and writes NCHW."""
_FUNCTIONS_LEGEND = """
of limit: the speed of a copy of as many bytes in the same level of the caches (copy), or the peak of multiply-adds (fma), in
the same run on one thread; functions that read more than they write may exceed a copy. Under a peer's name: its time over
ours, above 1 we are faster; every peer gets the same arrays in the same layout. ~: the rounds vary: their median is more
than 1.5 times the fastest of them."""
_OF_A_COPY = 0.8  # the aim of functions that move memory
_WORST = 5  # rows that are listed where cold calls take longest


class Named(Protocol):
    """The properties of a peer that the table shows."""

    NAME: str
    VERSION: str


@dataclasses.dataclass
class _Peer:
    NAME: str
    VERSION: str


def header(
    peers: Sequence[Named] = (), skipped: Mapping[str, str] | None = None, *, cold: bool = False, width: int = _WIDTH
) -> str:
    """The lines above the table."""
    head = f"{'layer':<{width}} {_HEAD}" + (f" {'cold':>9}" if cold else "") + "".join(f" {peer.NAME:>13}" for peer in peers)
    return "\n".join([*_beside(peers, skipped), "", head, "-" * len(head)])


def _beside(peers: Sequence[Named], skipped: Mapping[str, str] | None) -> list[str]:
    """The versions of the peers."""
    lines = [f"beside {peer.NAME} {peer.VERSION}" for peer in peers]
    return lines + [f"without {name}: {reason}" for name, reason in (skipped or {}).items()]


def row(result: Result, peers: Sequence[Named] = (), width: int = _WIDTH) -> str:
    """One line of the table: median and best time, fractions of the limit and of the aim, if any; the cold time, if it was
    taken; ratios of peers."""
    aim = f"{result.aim_seconds / result.seconds:6.2f}" if result.aim_seconds else ""
    return (
        f"{result.layer:<{width}} {result.layout:<11} {result.isa:<11} {result.threads:>2} {result.seconds * 1e6:9.2f} "
        f"{result.best_seconds * 1e6:9.2f}{_mark(result, OURS) or ' '} {result.fraction:7.2f} {result.limit:<5} {aim:>6}"
        + (f" {result.cold_seconds * 1e6:9.2f}" if result.cold_seconds else "")
        + "".join(f" {_ratio(result, peer.NAME):>13}" for peer in peers)
    )


def _mark(result: Result, name: str) -> str:
    """The mark after an unreliable time."""
    return "~" if name in result.swings else ""


def _ratio(result: Result, peer: str) -> str:
    """A peer's time relative to ours, if there is one; those of cold calls behind a slash."""
    time = result.peers.get(peer)
    if not time or not time.ratio:
        return "-"
    return f"{time.ratio:.2f}{_mark(result, peer)}" + (f"/{time.cold_ratio:.2f}" if time.cold_ratio else "")


def footer(results: Sequence[Result], peers: Sequence[Named] = ()) -> str:
    """The lines below the table: the meaning of its columns; where a peer is faster; whole networks."""
    lines = [_LEGEND]
    if any(result.cold_samples for result in results):
        lines += [_COLD_LEGEND, "", *_coldest(results)]
    if peers:
        lines += [_PEERS_LEGEND, "", *_behind(results), "", *failures(results)]
    return "\n".join([*lines, *_networks(results, peers)])


def _coldest(results: Iterable[Result]) -> Iterator[str]:
    """Rows whose cold calls take longest, relative to warm ones."""
    rows = [(result.cold_seconds / result.seconds, result) for result in results if result.cold_seconds]
    mean = math.exp(statistics.fmean(math.log(ratio) for ratio, _ in rows))
    yield f"Cold over warm: geometric mean {mean:.2f} of {len(rows)} rows; most:"
    for ratio, result in sorted(rows, key=lambda row: -row[0])[:_WORST]:
        yield f"{ratio:5.2f}  {result.layer:<36} {result.layout:<5} {result.seconds * 1e6:9.2f} us  {result.info}"


def _behind(results: Iterable[Result]) -> Iterator[str]:
    """Rows where a peer is faster, worst first."""
    rows = []
    for result in results:
        ratios = [(time.ratio, name, time.how) for name, time in result.peers.items() if time.ratio is not None]
        if ratios:
            rows.append((*min(ratios), result))
    behind = sorted((row for row in rows if row[0] < 1), key=lambda row: row[0])
    yield f"A peer is ahead in {len(behind)} of {len(rows)} rows{':' if behind else '.'}"
    for ratio, name, how, result in behind:
        yield (
            f"{ratio:5.2f}  {result.layer:<36} {result.layout:<5} {result.seconds * 1e6:9.2f} us"
            f"  {name} ({how}); ours: {result.info or result.family}; in {_uses(result)}"
        )


def _uses(result: Result) -> str:
    return ", ".join(name if count == 1 else f"{name} {count} times" for name, count in result.uses.items()) or "no network"


def failures(results: Iterable[Result]) -> Iterator[str]:
    """Failures of a peer."""
    for result in results:
        yield from (f"no time of {name} for {result.layer} {result.layout}: {why}" for name, why in result.absent.items())


def _networks(results: Sequence[Result], peers: Sequence[Named]) -> Iterator[str]:
    """Sums over the layers of each network, one line per layout that has rows. A peer that lacks a layer has no sum."""
    names = dict.fromkeys(name for result in results for name in result.uses)
    if not names:
        return
    least = min(result.threads for result in results)
    results = [result for result in results if result.threads == least]
    lines = []
    for name in names:
        for layout in ("nhwc", "nchw"):
            for isa in dict.fromkeys(result.isa for result in results):
                rows = [
                    r
                    for r in results
                    if name in r.uses and r.layout in (layout, "-") and r.isa == isa and r.threads == least
                ]
                if any(r.layout == layout for r in rows):
                    lines.append(_sum_line(name, layout, isa, rows, peers))
    if lines:
        head = f"\n{'sum of the layers timed, ms':<28}{'layout':<7}{'level':<9}{'ours':>9}"
        yield head + "".join(f"{p.NAME:>13}" for p in peers)
        yield from lines


def _sum_line(name: str, layout: str, isa: str, rows: Sequence[Result], peers: Sequence[Named]) -> str:
    line = f"{name:<28}{layout:<7}{isa:<9}{1e3 * sum(r.seconds * r.uses[name] for r in rows):9.2f}"
    for peer in peers:
        complete = all(peer.NAME in r.peers for r in rows)
        total = sum(r.peers[peer.NAME].seconds * r.uses[name] for r in rows) if complete else None
        line += f"{'-':>13}" if total is None else f"{1e3 * total:13.2f}"
    return line


def figures(results: Iterable[Result], versions: Mapping[str, str], skipped: Mapping[str, str]) -> dict[str, Any]:
    """All figures of layers, for JSON."""
    rows: list[dict[str, Any]] = [dict(dataclasses.asdict(r), fraction=r.fraction, swings=r.swings) for r in results]
    return {"peers": dict(versions), "skipped": dict(skipped), "results": rows}


def read(figures: Mapping[str, Any]) -> list[Result]:
    """Reads the results back from :func:`figures`."""
    results = []
    for row in figures.get("results", ()):
        found = {name: value for name, value in row.items() if name not in ("fraction", "swings")}
        found |= {name: tuple(row.get(name, ())) for name in ("samples", "limits", "cold_samples", "draw")}
        found["peers"] = {name: PeerTime(**time) for name, time in row["peers"].items()}
        results.append(Result(**found))
    return results


def peers_of(figures: Mapping[str, Any]) -> list[Named]:
    """Reads the peers back from :func:`figures`."""
    return [_Peer(name, version) for name, version in figures.get("peers", {}).items()]


def write_json(everything: Mapping[str, Any], path: Path) -> None:
    """All figures, with a description of the machine; one line for each row of a table."""
    path.parent.mkdir(parents=True, exist_ok=True)
    parts = []
    for name, value in _rounded(everything).items():
        rows = isinstance(value, list) and value
        text = ",\n  ".join(json.dumps(row) for row in value) if rows else json.dumps(value, indent=1)
        parts.append(f'"{name}": ' + (f"[\n  {text}\n ]" if rows else text))
    path.write_text("{\n " + ",\n ".join(parts) + "\n}\n")


def _rounded(value: Any) -> Any:
    """With six digits of each number, which is more than is reproducible."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, Mapping):
        return {name: _rounded(part) for name, part in value.items()}
    return [_rounded(part) for part in value] if isinstance(value, (list, tuple)) else value


def section(results: Sequence[Result], peers: Sequence[Named] = (), skipped: Mapping[str, str] | None = None) -> str:
    """The table as a section of a page of Markdown."""
    names, cold = [peer.NAME for peer in peers], any(result.cold_samples for result in results)
    lines = [
        "## Layers",
        "",
        *[f"{line}  " for line in _beside(peers, skipped)],
        _LEGEND,
        *([_COLD_LEGEND] if cold else []),
        *([_PEERS_LEGEND] if peers else []),
        *_markdown_sums(results, peers),
        "",
    ]
    head = ["layer", "layout", "level", "threads", "us", *(["cold"] if cold else []), "of limit", "", *names, "how"]
    rows = []
    for r in results:
        time = f"{r.seconds * 1e6:.1f}{_mark(r, OURS)}"
        cells = [r.layer, r.layout, r.isa, str(r.threads), time]
        cells += [f"{r.cold_seconds * 1e6:.1f}" if r.cold_seconds else "-"] if cold else []
        rows.append([*cells, f"{r.fraction:.2f}", r.limit, *(_ratio(r, name) for name in names), r.info or r.family])
    return "\n".join([*lines, *markdown_table(head, rows)]) + "\n"


def section_of_functions(results: Sequence[Result], peers: Sequence[Named], skipped: Mapping[str, str]) -> str:
    """A table of each family, and how many rows are behind a copy or a peer."""
    names = [peer.NAME for peer in peers]
    copies = [result for result in results if result.limit == "copy"]
    slower = sum(result.fraction < _OF_A_COPY for result in copies)
    lines = [*[f"{line}  " for line in _beside(peers, skipped)], _FUNCTIONS_LEGEND, ""]
    lines.append(
        f"{len(copies) - slower} of {len(copies)} rows that are compared with a copy reach {_OF_A_COPY} of its speed."
    )
    lines += [next(_behind(results)).replace(":", "."), *(f"\nNo time of {text}" for text in _missing(results, names))]
    head = ["function", "layout", "level", "us", "of limit", "", *names]
    for family in sorted({result.family for result in results}):
        rows = [
            [r.layer, r.layout, r.isa, f"{r.seconds * 1e6:.1f}{_mark(r, OURS)}", f"{r.fraction:.2f}", r.limit]
            + [_ratio(r, name) for name in names]
            for r in results
            if r.family == family
        ]
        lines += ["", f"## {family.replace('_', ' ').capitalize()}", "", *markdown_table(head, rows)]
    return "\n".join(lines) + "\n"


def _missing(results: Iterable[Result], names: Sequence[str]) -> Iterator[str]:
    """The functions that each peer lacks."""
    for name in names:
        if rows := [f"{r.family} {r.layer} {r.layout}" for r in results if name in r.absent]:
            yield f"{name}: {', '.join(rows)}."


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table in Markdown."""
    return [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows)]


def _markdown_sums(results: Sequence[Result], peers: Sequence[Named]) -> Iterator[str]:
    """The sums of networks, from the lines of the text."""
    _, *sums = "\n".join(_networks(results, peers)).strip().splitlines() or [""]
    if sums:
        yield "\n### Sums of the layers timed, ms\n"
        head = ["network", "layout", "level", "simdnet", *(peer.NAME for peer in peers)]
        yield from markdown_table(head, (line.split() for line in sums))
        yield "\n### Each layer"
