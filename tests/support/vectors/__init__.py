"""Vectors of functions of bytes, of bfloat16 numbers and of few bits, computed from the formulas of the documents by NumPy.

test_vectors.py reads the files of this folder, which `PYTHONPATH=.:tests python -m support.vectors` writes again.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from support.vectors.cases_floats16 import floats16_cases
from support.vectors.cases_pointwise import pointwise_cases
from support.vectors.cases_products import products_cases
from support.vectors.text import Case

FOLDER = Path(__file__).parent
FILES: dict[str, Callable[[], list[Case]]] = {
    "pointwise": pointwise_cases,
    "products": products_cases,
    "floats16": floats16_cases,
}
