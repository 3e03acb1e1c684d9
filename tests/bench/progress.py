"""A progress bar below the table, if tqdm is installed and the output is a terminal; otherwise lines only."""

from __future__ import annotations

import sys
from typing import Any

try:
    from tqdm import tqdm
except ImportError:
    tqdm = None


class Progress:
    """Prints the lines of a table that has so many of them."""

    def __init__(self, total: int) -> None:
        self._bar: Any = None
        if tqdm is not None and sys.stderr.isatty():
            self._bar = tqdm(total=total, unit="row", leave=False, dynamic_ncols=True)

    def __enter__(self) -> Progress:
        return self

    def step(self, line: str) -> None:
        """A line is finished."""
        if self._bar is None:
            print(line, flush=True)
        else:
            self._bar.write(line, file=sys.stdout)
            self._bar.update()

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
