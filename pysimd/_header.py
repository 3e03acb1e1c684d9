"""The declarations of a header for cffi. setup.py uses this file, too, where there is no library to import."""

from __future__ import annotations

import re


def declarations(header: str) -> str:
    """A header without comments, preprocessor lines, and declarations for C++ alone."""
    text = re.sub(r"/\*.*?\*/", " ", header, flags=re.DOTALL)
    text = re.sub(r"^#ifdef __cplusplus$.*?^#endif$", "", text, flags=re.DOTALL | re.MULTILINE)
    return "\n".join(line for line in text.splitlines() if line.strip() and not line.startswith("#"))
