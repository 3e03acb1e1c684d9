"""Writes the pages of both interfaces, one for each family, from where they are described already: the comments of
include/simdnet.h and the docstrings of pysimd. Nothing is listed here; what has no page is not public."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from enum import EnumMeta
from pathlib import Path
from typing import Any

import pysimd

HEADER = (Path(__file__).resolve().parent.parent / "include" / "simdnet.h").read_text(encoding="ascii")
ROLES = dict.fromkeys(re.findall(r"^\w.*?\b(Simd\w+)\(", HEADER, re.MULTILINE), "func")
ROLES |= dict.fromkeys(re.findall(r"^(?:} |typedef void \(\*)(Simd\w+)\)?[;(]", HEADER, re.MULTILINE), "type")
FAMILY = re.compile(r"^/\* -{20,} (.*) \*/$", re.MULTILINE)
# A comment and what follows it, up to a blank line: a declaration or some, or nothing.
ITEM = re.compile(r"(?:^(/\*.*?\*/)\n)?((?:^(?!/\*|#)\S(?:[^{};]|\{[^}]*\})*;\n)*)", re.MULTILINE | re.DOTALL)


def linked(text: str) -> str:
    """The names of functions and types of the library as links to where they are described."""

    def link(found: re.Match[str]) -> str:
        name = found[1]
        return f"\\ :c:{ROLES[name]}:`{found[0]} <{name}>`\\ " if name in ROLES else found[0]

    return re.sub(r"(?<![\w`])(Simd\w+)(?:\(\))?", link, text)


def plain(text: str) -> str:
    """Text of the header, in which no character is markup but `these quotes`, as reStructuredText."""
    parts = text.split("`")
    parts[::2] = [linked(re.sub(r"[\\*|_]", r"\\\g<0>", part)) for part in parts[::2]]
    return "``".join(parts)


def term(names: str) -> str:
    """What a definition is of: names of arguments, or a word."""
    return names if re.fullmatch(r"[A-Z]\w+|.*\w \w.*", names) else re.sub(r"(\w+)", r"``\1``", names)


# ---- C


def arguments(block: list[str], names: set[str]) -> list[list[str]] | None:
    """[names, text] of a block that tells about arguments: each name, some blanks, its text; None for any other block."""
    found: list[list[str]] = []
    for line in block:
        if found and line.startswith("      "):
            found[-1][1] += ("\n\n" if re.match(r" +[A-Z]+: ", line) else " ") + line.strip()
            continue
        for cell in re.split(r" {6,}(?=\w+ {2,}\S)", line.strip()):  # some have one line together
            matched = re.fullmatch(r"(\w+(?:(?:,| \.\.\.)? \w+)*) {2,}(\S.*)", cell)
            if not matched or "   " in matched[2] or not set(re.findall(r"\w+", matched[1])) <= names:
                return None
            found.append([matched[1], matched[2]])
    return found


def comment(text: str, names: set[str]) -> Iterator[str]:
    """A comment as reStructuredText: paragraphs, arguments, and what else is indented as it stands."""
    lines = [re.sub(r"^ \*(?: |$)|^/\* ?|^ {3}(?=\S)", "", line).rstrip() for line in text.removesuffix("*/").split("\n")]
    lines = [line.removesuffix(" *") for line in lines]
    for block in re.split(r"\n\n+", "\n".join(lines).strip("\n")):
        rows = block.split("\n")
        first = next((i for i, row in enumerate(rows) if row.startswith("  ")), len(rows))
        if first:
            yield plain(" ".join(rows[:first]))
            yield ""
        if first < len(rows):
            table = arguments(rows[first:], names)
            if table:
                for name, about in table:
                    yield from (term(name), *(f"    {line}" for line in plain(about).split("\n")))
            else:
                yield from (".. code-block:: text", "", *(f"   {row}" for row in rows[first:]))
            yield ""


def declarations(text: str, about: list[str]) -> Iterator[str]:
    """The declarations of one item, with what is told about them."""
    kind = re.match(r"typedef (enum|struct|union)\b.*\} (\w+);", text, re.DOTALL)
    constant = re.match(r"enum \{\s*(\w+) = ", text)
    if kind or constant:
        named = f"{kind[1]}:: {kind[2]}" if kind else f"enumerator:: {constant and constant[1]}"
        yield from (f".. c:{named}", "", *(f"   {line}" for line in about))
        yield from ("   .. code-block:: c", "", *(f"      {line}" for line in text.split("\n")), "")
        return
    directive = ".. c:type:: " if text.startswith("typedef") else ".. c:function:: "
    first, *others = [" ".join(one.removeprefix("typedef").split()) for one in text.split(";\n") if one]
    yield from (directive + first, *(" " * len(directive) + other for other in others))
    yield from ("", *(f"   {line}" for line in about), "")


def headed(title: str) -> list[str]:
    return [title, "=" * len(title), ""]


def contents(names: list[str], caption: str = "") -> list[str]:
    options = ["   :maxdepth: 1", *([f"   :caption: {caption}"] if caption else [])]
    return [".. toctree::", *options, "", *(f"   {name}" for name in names), ""]


def c_pages() -> Iterator[tuple[str, str]]:
    """(name, page) for the header's opening comment and for each of its families."""
    opening, *parts = FAMILY.split(HEADER)
    titles = [title.partition(":")[0] for title in parts[::2]]
    names = [re.sub(r"\W+", "_", title) for title in titles]
    everything = set(re.findall(r"\w+", HEADER))
    first = next(i for i, title in enumerate(parts[::2]) if "extensions" in title)
    page = [*headed("C interface"), *comment(opening.partition("*/")[0] + "*/", everything)]
    page += contents(names[:first], "Functions of the Simd Library") + contents(names[first:], "Extensions")
    yield "index", "\n".join(page)
    for name, title, text in zip(names, titles, parts[1::2]):
        page = headed(title[0].upper() + title[1:])
        for item in ITEM.finditer(text.partition("#if defined")[0]):
            about, what = item[1] or "", item[2]
            lines = list(comment(about, set(re.findall(r"\w+", what or text)))) if about else []
            page += declarations(what, lines) if what else lines
        yield name, "\n".join(page)


# ---- Python

#: Classes that functions of a module return, which are not public names of the package: it is imported without them.
RETURNED = {
    "models": (
        "network.model.Model",
        "network.runner.Runner",
        "network.open_runner.OpenRunner",
        "network.courses.runner.CourseRunner",
        "network.convert.UnsupportedModel",
    ),
    "quantize_model": ("network.quantize.making.QuantizedModel", "network.quantize.report.QuantizeReport"),
}


def docstring(_app: object, what: str, name: str, thing: Any, _options: object, lines: list[str]) -> None:
    """Makes lists of what docstrings tell about arguments, `name : text`; links the names of C functions."""
    result: list[str] = []
    for line in lines:
        matched = re.match(r"(\w+(?:, \w+)*|\w+ \.\.\. \w+) : (.*)", line)
        if matched:
            if result and result[-1] and not result[-1].startswith("    "):
                result.append("")
            result += [term(matched[1]), f"    {linked(matched[2])}"]
        else:
            if result and result[-1].startswith("    ") and line and not line.startswith(" "):
                result.append("")
            result.append(linked(line))
    lines[:] = result


def python_pages() -> Iterator[tuple[str, str]]:
    """(name, page) for the package and for each of its modules that has public names."""
    public = {name: getattr(pysimd, name) for name in pysimd.__all__}
    names = sorted(
        {str(getattr(thing, "__module__", "")) for thing in public.values()} - {""}
        | {"pysimd.annotations", "pysimd.lowlevel"}
    )
    modules = [sys.modules[name] for name in names if name.startswith("pysimd.")]
    for module in [pysimd, *modules]:
        family = module.__name__.rpartition(".")[2]
        about = (module.__doc__ or "").split("\n")
        docstring(None, "module", family, module, None, about)
        if module is pysimd:
            tree = contents([one.__name__.rpartition(".")[2] for one in modules])
            yield "index", "\n".join([*headed("Python interface"), *about, "", *tree])
            continue
        page = [*headed(family.replace("_", " ").capitalize()), *about, "", ".. currentmodule:: pysimd", ""]
        for name, thing in vars(module).items():
            if public.get(name) is not thing or getattr(thing, "__module__", "") != module.__name__:
                continue
            page += [f".. auto{'class' if isinstance(thing, type) else 'function'}:: {name}"]
            page += ["   :undoc-members:", ""] if isinstance(thing, EnumMeta) else [""]
        for name in RETURNED.get(family, ()):
            page += [f".. autoclass:: pysimd.{name}", "   :members:", ""]
        yield family, "\n".join(page)


def write(folder: Path) -> None:
    """Writes all pages below a folder."""
    wanted: dict[Path, str] = {}
    for language, pages in (("c", c_pages()), ("python", python_pages())):
        for name, page in pages:
            wanted[folder / language / f"{name}.rst"] = page
    told = {
        word
        for page in wanted.values()
        for line in page.split("\n")
        if "::" in line or line.startswith(" " * 16)
        for word in re.findall(r"\w+", line)
    }
    missing = {*ROLES, *pysimd.__all__} - told - {"__version__", "annotations", "lowlevel"}
    if missing:
        raise ValueError(f"no page tells of {', '.join(sorted(missing))}")
    for old in set(folder.glob("*/*.rst")) - set(wanted):
        old.unlink()
    for path, page in wanted.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page)
