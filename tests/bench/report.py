"""The table for people, as text or as Markdown, and the JSON for programs."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from bench.runner import PeerTime, Result
from bench.whole import OURS

_HEAD = f"{'layer':<36} {'layout':<11} {'level':<11} {'t':>2} {'us':>9} {'best':>9}  {'of limit':<13} {'of aim':>6}"
_LEGEND = """
t: threads. us: median of the samples. of limit: the speed of the same arithmetic as bare multiply-adds (fma), products of
bytes (dot) or of bfloat16 numbers (bf16), or of copying as many bytes (copy), in the same run on one thread. of aim: 1 or
more when the row's aim is reached; aims are for the newest level. ~: the rounds swing, their median is more than 1.5 times
the best of them; take such a row again."""
_PEERS_LEGEND = """
Under a peer's name: its time over ours, above 1 we are faster. In rows that say nhwc a peer has the image as it likes
best within a network, in rows that say nchw it gets and gives NCHW."""


class Named(Protocol):
    """The properties of a peer that the table shows."""

    NAME: str
    VERSION: str


@dataclasses.dataclass
class _Peer:
    NAME: str
    VERSION: str


def header(peers: Sequence[Named] = (), skipped: Mapping[str, str] | None = None) -> str:
    """The lines above the table."""
    lines = [f"beside {peer.NAME} {peer.VERSION}" for peer in peers]
    lines += [f"without {name}: {reason}" for name, reason in (skipped or {}).items()]
    head = _HEAD + "".join(f" {peer.NAME:>12}" for peer in peers)
    return "\n".join([*lines, "", head, "-" * len(head)])


def row(result: Result, peers: Sequence[Named] = ()) -> str:
    """One line of the table: median and best time, fractions of the limit and of the aim, if any; ratios of peers."""
    aim = f"{result.aim_seconds / result.seconds:6.2f}" if result.aim_seconds else ""
    return (
        f"{result.layer:<36} {result.layout:<11} {result.isa:<11} {result.threads:>2} {result.seconds * 1e6:9.2f} "
        f"{result.best_seconds * 1e6:9.2f}{_mark(result, OURS) or ' '} {result.fraction:7.2f} {result.limit:<5} {aim:>6}"
        + "".join(f" {_ratio(result, peer.NAME):>12}" for peer in peers)
    )


def _mark(result: Result, name: str) -> str:
    """The mark after an unreliable time."""
    return "~" if name in result.swings else ""


def _ratio(result: Result, peer: str) -> str:
    """A peer's time relative to ours, if there is one."""
    time = result.peers.get(peer)
    return f"{time.ratio:.2f}{_mark(result, peer)}" if time and time.ratio else "-"


def footer(results: Sequence[Result], peers: Sequence[Named] = ()) -> str:
    """The lines below the table: the meaning of its columns; where a peer is faster; whole networks."""
    lines = [_LEGEND]
    if peers:
        lines += [_PEERS_LEGEND, "", *_behind(results), "", *_failures(results)]
    return "\n".join([*lines, *_networks(results, peers)])


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


def _failures(results: Iterable[Result]) -> Iterator[str]:
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
        found |= {name: tuple(row[name]) for name in ("samples", "limits")}
        found["peers"] = {name: PeerTime(**time) for name, time in row["peers"].items()}
        results.append(Result(**found))
    return results


def peers_of(figures: Mapping[str, Any]) -> list[Named]:
    """Reads the peers back from :func:`figures`."""
    return [_Peer(name, version) for name, version in figures.get("peers", {}).items()]


def write_json(everything: Mapping[str, Any], path: Path) -> None:
    """All figures, with a description of the machine."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(everything, indent=1) + "\n")


def page(
    results: Sequence[Result],
    source: str,
    where: str,
    peers: Sequence[Named] = (),
    skipped: Mapping[str, str] | None = None,
) -> str:
    """The table as a page of Markdown: its origin, and the machine."""
    names = [peer.NAME for peer in peers]
    lines = [
        "# Figures",
        "",
        f"{source}; [benchmarks.md](benchmarks.md) tells how the times are taken.",
        f"{where}  ",
        *[f"{line}  " for line in header(peers, skipped).splitlines()[:-3]],
        _LEGEND,
        *([_PEERS_LEGEND] if peers else []),
        *_markdown_sums(results, peers),
        "",
        *_markdown_row(["layer", "layout", "level", "threads", "us", "of limit", "", *names, "how"]),
        *_markdown_row(["---"] * (8 + len(names))),
    ]
    for r in results:
        time = f"{r.seconds * 1e6:.1f}{_mark(r, OURS)}"
        cells = [r.layer, r.layout, r.isa, str(r.threads), time, f"{r.fraction:.2f}", r.limit]
        lines += _markdown_row([*cells, *(_ratio(r, name) for name in names), r.info or r.family])
    return "\n".join(lines) + "\n"


def _markdown_row(cells: Iterable[str]) -> list[str]:
    return [f"| {' | '.join(cells)} |"]


def _markdown_sums(results: Sequence[Result], peers: Sequence[Named]) -> Iterator[str]:
    """The sums of networks, from the lines of the text."""
    _, *sums = "\n".join(_networks(results, peers)).strip().splitlines() or [""]
    if sums:
        yield "\n## Sums of the layers timed, ms\n"
        yield from _markdown_row(["network", "layout", "level", "simdnet", *(peer.NAME for peer in peers)])
        yield from _markdown_row(["---"] * (4 + len(peers)))
        for line in sums:
            yield from _markdown_row(line.split())
        yield "\n## Layers"
