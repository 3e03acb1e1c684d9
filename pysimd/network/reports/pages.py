"""Pages of reports: one file of HTML with tables and pictures, complete in itself."""

from __future__ import annotations

import platform
import re
import time
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from pysimd.infrastructure import version

_STYLE = """
body { font: 15px/1.4 system-ui, sans-serif; margin: 2em auto; max-width: 72em; padding: 0 1em; color: #222; }
table { border-collapse: collapse; font-size: 13px; width: 100%; }
th, td { text-align: left; padding: 2px 8px; border-bottom: 1px solid #ddd; vertical-align: top; }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.bar { background: #4a7ab5; height: 10px; display: block; }
svg { width: 100%; height: 12em; background: #f6f6f6; }
@media (prefers-color-scheme: dark) { body { background: #1b1b1b; color: #ddd; } svg { background: #262626; } }
"""


def page(file: str, body: str) -> str:
    """A page, complete in itself. file : what is measured, for the title."""
    name = escape(Path(file).name or "model")
    measured = escape(f"{time.strftime('%Y-%m-%d %H:%M %Z', time.localtime())}, {_processor()}, simdnet {version()}")
    return (
        f"<!doctype html><html lang='en'><head><meta charset='utf-8'><title>{name}, {measured}</title>"
        f"<style>{_STYLE}</style></head><body><h1>{name}</h1><p>Measured {measured}</p>{body}</body></html>\n"
    )


def table(titles: Sequence[str], rows: Iterable[Iterable[tuple[str, bool]]]) -> str:
    """A table. rows : the cells in HTML, and whether each is a number."""
    head = "".join(f"<th>{title}</th>" for title in titles)
    return f"<table><tr>{head}</tr>{''.join(map(_row, rows))}</table>"


def _row(cells: Iterable[tuple[str, bool]]) -> str:
    text = "".join(f"<td class='number'>{cell}</td>" if number else f"<td>{cell}</td>" for cell, number in cells)
    return f"<tr>{text}</tr>"


def bars(heights: Sequence[tuple[float, str]]) -> str:
    """A picture of numbers, each with a text."""
    most, width = max((height for height, _ in heights), default=1) or 1, 100 / max(len(heights), 1)
    shown = "".join(
        f"<rect x='{i * width:.3f}' y='{100 - height / most * 95:.2f}' width='{width * 0.9:.3f}' "
        f"height='{height / most * 95:.2f}' fill='#4a7ab5'><title>{escape(text)}</title></rect>"
        for i, (height, text) in enumerate(heights)
    )
    return f"<svg viewBox='0 0 100 100' preserveAspectRatio='none'>{shown}</svg>"


def _processor() -> str:
    """The name of the processor; the architecture where the system has no name for it, as on most of aarch64."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    names = re.findall(r"^model name\s*: (.*\S)", text, re.MULTILINE)
    return names[0] if names else platform.machine()
