"""Pictures as PNG files, and one self-contained page with tables and pictures."""

from __future__ import annotations

import base64
import html
import io
import statistics
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
h1, h2 { font-weight: 600; } h2 { margin-top: 2.5rem; }
img { max-width: 100%; height: auto; display: block; margin: .5rem 0 1.5rem; }
table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .6rem; border-bottom: 1px solid #ddd; text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; } tr:hover td { background: #f4f7fb; }
td.behind { color: #b00020; font-weight: 600; } td.fact { text-align: left; white-space: normal; }
.wide { overflow-x: auto; } code { background: #f3f3f3; padding: 0 .25em; overflow-wrap: anywhere; }
@media (prefers-color-scheme: dark) {
  body { background: #16181c; color: #e0e0e0; } th, td { border-color: #3a3d42; } tr:hover td { background: #22262c; }
  td.behind { color: #ff8a80; } code { background: #2a2d33; } img { background: #fff; }
}
"""


def need_matplotlib() -> None:
    """Ends the program with a message if matplotlib is missing."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise SystemExit("pictures need matplotlib: pip install matplotlib") from None


def _pictures(figures: Mapping[str, Any]) -> Iterator[tuple[str, str, bytes]]:
    """Name, title and PNG of each picture for which there are figures."""
    need_matplotlib()
    from bench import plots

    for name, title, figure in plots.draw(figures):
        data = io.BytesIO()
        figure.savefig(data, format="png", dpi=110)
        yield name, title, data.getvalue()


def write_plots(figures: Mapping[str, Any], folder: Path) -> list[Path]:
    """Writes the pictures to files; returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, _, data in _pictures(figures):
        paths.append(folder / f"{name}.png")
        paths[-1].write_bytes(data)
    return paths


def write_picture(figures: Mapping[str, Any], name: str, path: Path) -> list[Path]:
    """Writes the picture of this name, if there is one and matplotlib is installed; returns its path."""
    try:
        found = [data for title, _, data in _pictures(figures) if title == name]
    except SystemExit:
        return []
    for data in found:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return [path] * len(found)


def write_html(figures: Mapping[str, Any], path: Path) -> None:
    """One page with everything in it."""
    parts = [
        "<!doctype html>",
        '<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
        "<title>simdnet: figures</title>",
        f"<style>{_STYLE}</style>",
    ]
    parts += ["<h1>simdnet: figures</h1>", *_machine(figures)]
    for _, title, data in _pictures(figures):
        source = base64.b64encode(data).decode()
        parts += [f"<h2>{html.escape(title)}</h2>", f'<img alt="{html.escape(title)}" src="data:image/png;base64,{source}">']
    if figures.get("networks"):
        parts += ["<h2>Whole networks, milliseconds</h2>", *_table(*_networks(figures))]
    runs = [run for model in figures.get("models", ()) for run in model["runs"]]
    if runs:
        parts += ["<h2>Models, milliseconds</h2>", *_table(*_networks({"networks": runs}))]
    if figures.get("results"):
        parts += ["<h2>Layers</h2>", *_table(*_layers(figures))]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([*parts, "</html>"]) + "\n")


def _machine(figures: Mapping[str, Any]) -> Iterator[str]:
    m = figures.get("machine", {})
    limits = m.get("limits", {"flops": {}, "copy": {}})
    facts = {
        "machine": m.get("line"),
        "system": m.get("system"),
        "date": m.get("date"),
        "commit": m.get("commit"),
        "versions": ", ".join(f"{name} {version}" for name, version in _versions(figures).items()),
        "multiply-adds, one thread": ", ".join(f"{level} {v / 1e9:.0f} GFLOP/s" for level, v in limits["flops"].items()),
        "copies, read and written": ", ".join(f"{size} {v / 1e9:.0f} GB/s" for size, v in limits["copy"].items()),
        "reading memory in order": f"{limits['read'] / 1e9:.0f} GB/s" if "read" in limits else None,
    }
    yield f"<p><code>{html.escape(figures.get('command', ''))}</code></p>"
    yield "<table>"
    yield from (f'<tr><td>{k}</td><td class="fact">{html.escape(str(v))}</td></tr>' for k, v in facts.items() if v)
    yield "</table>"


def _versions(figures: Mapping[str, Any]) -> dict[str, str]:
    found = {**figures.get("machine", {}).get("versions", {}), **figures.get("peers", {})}
    runs = [run for model in figures.get("models", ()) for run in model["runs"]]
    for network in [*figures.get("networks", ()), *runs]:
        found |= {name: time["version"] for name, time in network["peers"].items()}
    return found


def _cell(text: str, ratio: float | None = None) -> str:
    """A cell, marked if another library is faster."""
    mark = ' class="behind"' if ratio is not None and ratio < 1 else ""
    return f"<td{mark}>{html.escape(text)}</td>"


def _table(head: Iterable[str], rows: Iterable[list[str]]) -> Iterator[str]:
    yield '<div class="wide"><table><tr>' + "".join(f"<th>{html.escape(name)}</th>" for name in head) + "</tr>"
    yield from ("<tr>" + "".join(cells) + "</tr>" for cells in rows)
    yield "</table></div>"


def _networks(figures: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    names = list(dict.fromkeys(name for network in figures["networks"] for name in network["peers"]))
    rows = []
    for n in figures["networks"]:
        cells = [n["title"], n["isa"], str(n.get("batch", 1)), str(n["threads"]), f"{n['ours']['seconds'] * 1e3:.2f}"]
        row = [_cell(text) for text in cells]
        for name in names:
            if name in n["peers"]:
                ratio, spread = n["ratios"][name]
                row.append(_cell(f"{n['peers'][name]['seconds'] * 1e3:.2f} ({ratio:.2f} ± {spread:.2f})", ratio))
            else:
                row.append(_cell("-"))
        rows.append(row)
    return ["network", "level", "batch", "threads", "simdnet", *names], rows


def _layers(figures: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    names = list(figures.get("peers", ()))
    rows = []
    for r in figures["results"]:
        aim = f"{r['aim_seconds'] / r['seconds']:.2f}" if r["aim_seconds"] else ""
        cells = [r["layer"], r["layout"], r["isa"], str(r["threads"]), f"{r['seconds'] * 1e6:.1f}"]
        row = [_cell(text) for text in [*cells, f"{r['fraction']:.2f} {r['limit']}", aim]]
        ratios = [r["peers"].get(name, {}).get("ratio") for name in names]
        row += [_cell(f"{ratio:.2f}" if ratio else "-", ratio) for ratio in ratios]
        cold = r.get("cold_samples")
        row.append(_cell(f"{statistics.median(cold) * 1e6:.1f}" if cold else "-"))
        rows.append([*row, _cell(r["info"] or r["family"])])
    return ["layer", "layout", "level", "threads", "us", "of limit", "of aim", *names, "cold us", "algorithm"], rows
