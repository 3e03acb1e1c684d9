"""Writes the files of vectors again: python -m support.vectors."""

from __future__ import annotations

from support.vectors import FILES, FOLDER
from support.vectors.text import write


def main() -> None:
    for name, cases in FILES.items():
        write(FOLDER / f"{name}.json", cases())


if __name__ == "__main__":
    main()
