"""Sphinx's configuration: `make docs` makes pages of this folder. interfaces.py writes those of the two interfaces."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).absolute().parent  # maybe a folder of links, see the Makefile
sys.path[:0] = [str(HERE), str(HERE.parent)]

import interfaces  # noqa: E402

import pysimd  # noqa: E402

project = "simdnet"
copyright = "the authors of simdnet, MIT licence"
version = release = pysimd.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc"]
myst_heading_anchors = 3

default_role = "code"  # docstrings quote arguments with one backtick
python_maximum_signature_line_length = 100
toc_object_entries_show_parents = "hide"
autodoc_default_options = {"members": True, "inherited-members": "Context, int, Exception, object"}
autodoc_member_order = "bysource"
autodoc_type_aliases = {
    **{name: name for name in vars(pysimd.annotations) if name[0].isupper()},
    **{name: name for name in ("Operation", "Pixels", "Range")},
}

html_theme = "furo"
html_title = f"simdnet {release}"
html_static_path = ["static"]
html_css_files = ["wide.css"]
html_copy_source = False
html_show_sphinx = False


def of_the_repository(app: Any, name: str, source: list[str]) -> None:
    """Includes README.md and the like, which are written to be read where they lie: their links become links to pages or,
    where there is no page, to files. Names of functions become links, too."""
    text = source[0]
    page = folder = (HERE / name).parent
    included = re.search(r"^```{include} \.\./(\S+)\n```$", text, re.MULTILINE)
    if included:
        file = HERE.parent / included[1]
        folder, text = file.parent, text.replace(included[0], file.read_text())
    elsewhere = {
        "include/simdnet.h": "api/c/index.rst",
        "CHANGELOG.md": "changelog.md",
        "README.md": "index.md",
        "examples/README.md": "examples.md",
    }

    def link(found: re.Match[str]) -> str:
        shown, target, anchor = found[1], Path(os.path.normpath(folder / found[2])), found[3] or ""
        if found[0].startswith("!"):
            return f"![{shown}]({os.path.relpath(target, page)})"
        if target.is_relative_to(HERE) or not target.exists():
            return f"[{shown}]({os.path.relpath(target, page)}{anchor})"  # of what does not exist a warning will tell
        there = elsewhere.get(str(target.relative_to(HERE.parent)))
        if there:
            return f"[{shown}]({os.path.relpath(HERE / there, page)}{anchor})"
        return f"{{download}}`{shown.strip('`')} <{os.path.relpath(target, page)}>`" if target.is_file() else shown

    def function(found: re.Match[str]) -> str:
        role = interfaces.ROLES.get(found[1])
        return f"{{c:{role}}}`{found[1]}{found[2]} <{found[1]}>`" if role else found[0]

    if not name.startswith("api/"):
        text = re.sub(r"!?\[([^][]+)\]\((?!https?:)([^)#]+)(#[^)]*)?\)", link, text)
        source[0] = re.sub(r"`(Simd\w+)((?:\(\))?)`", function, text)


def signature(app: Any, what: str, name: str, thing: Any, options: Any, arguments: str | None, result: str | None) -> Any:
    """Names of types in signatures are shown as they are written."""
    return tuple(text and re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", text) for text in (arguments, result))


def setup(app: Any) -> None:
    interfaces.write(HERE / "api")
    app.connect("source-read", of_the_repository)
    app.connect("autodoc-process-signature", signature)
    app.connect("autodoc-process-docstring", interfaces.docstring)
