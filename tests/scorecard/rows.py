"""All rows, in their order. Rows of one subject are in a file of their own, `rows_<subject>.py`, as a list ROWS."""

from __future__ import annotations

import importlib
import pathlib

from scorecard.row import Row

FILES = sorted(pathlib.Path(__file__).parent.glob("rows_*.py"))
ROWS: list[Row] = sorted(
    (row for file in FILES for row in importlib.import_module(f"scorecard.{file.stem}").ROWS), key=lambda row: row.number
)
