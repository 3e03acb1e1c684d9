"""Faults to put into the sources: drawn from the syntax tree, and written by hand.

universalmutator, which replaces text by regular expressions, was tried: most of its mutants of a file insert ``break`` or
are no C, and it has none for masks, operands of calls and locks. So the places are found by tree-sitter's grammars.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import pathlib
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from scorecard import mutants_python

HERE = pathlib.Path(__file__).parent
HAND = HERE / "mutants.txt"
EQUIVALENT = HERE / "equivalent.txt"
SURVIVORS = HERE / "survivors.txt"
SEED = "1"

#: Folders with the number of mutants that are drawn from each. Models of costs are left out: they choose between algorithms
#: that are all tested, and a wrong choice is only slow.
AREAS = {
    "api": (("libsrc/api/*.c", "libsrc/api/*.h"), 45),
    "ops": (("libsrc/ops/**/*.c",), 75),
    "kernels": (("libsrc/kernels/*.c", "libsrc/kernels/*.h", "libsrc/kernels/*/*.c", "libsrc/kernels/*/*.h"), 80),
    "runtime": (("libsrc/runtime/*.c", "libsrc/dispatch/*.c"), 45),
    "vocabulary": (("libsrc/isa/avx2/*.h",), 25),
    "models": (("pysimd/network/*.py", "pysimd/network/*/*.py"), 71),
    "python": (("pysimd/*.py",), 38),
}
LEFT_OUT = ("libsrc/ops/convolution/cost.c", "pysimd/selftest.py")

SWAPS = {
    "bound": {"<": "<=", "<=": "<", ">": ">=", ">=": ">"},
    "comparison": {"==": "!=", "!=": "=="},
    "operator": {"+": "-", "-": "+", "*": "+", "/": "*", "%": "/", "<<": ">>", ">>": "<<"},
    "mask": {"&": "|", "|": "&", "^": "|"},
    "logic": {"&&": "||", "||": "&&"},
    "assignment": {"+=": "-=", "-=": "+=", "|=": "&=", "&=": "|=", "*=": "+=", "/=": "*=", "<<=": ">>=", ">>=": "<<="},
}
KIND_OF = {old: (kind, new) for kind, swaps in SWAPS.items() for old, new in swaps.items()}
LOCK = re.compile(r"\bpthread_|\b__atomic_|(?<![a-z])(lock|unlock)|(fence|wake|moving|gate)\(")

#: Models of costs are left out also where they are in the file of an algorithm.
COSTS = re.compile(r"^(static )?double \w+\(const struct sn_convolution \*|_preferred\(|\b(is_for_winograd|is_shared)\(")

#: Calls whose operands may be in any order; of SN_CHECK, the second one is a value to return.
COMMUTATIVE = re.compile(r"SN_CHECK|sn_(min|max|product)\(|v_(add|mul|and|or|xor)_")


class Mutant(NamedTuple):
    """One change of a file. The numbers say which bytes of `source` are replaced; the lines say it to a reader."""

    file: str
    kind: str
    begin: int
    end: int
    text: str
    old: str  # the lines that change, without indentation
    new: str
    nth: int  # of the equal changes in the file

    @property
    def key(self) -> str:
        return digest(f"{self.file}\n{self.old}\n{self.new}\n{self.nth}")


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


# ---- drawn from the syntax tree


def drawn() -> list[Mutant]:
    """The same for the same sources; a change of the sources changes few. In each folder the kinds take turns."""
    return [mutant for patterns, count in AREAS.values() for mutant in draw(patterns, count)]


def draw(patterns: Sequence[str], count: int) -> list[Mutant]:
    files = [path for pattern in patterns for path in pathlib.Path().glob(pattern) if str(path) not in LEFT_OUT]
    by_kind: dict[str, list[Mutant]] = {}
    for mutant in sorted((m for file in files for m in mutants_of(file)), key=lambda m: digest(SEED + m.key)):
        by_kind.setdefault(mutant.kind, []).append(mutant)
    turns = (by_kind[kind][i] for i in range(count) for kind in sorted(by_kind) if i < len(by_kind[kind]))
    return [mutant for mutant, _ in zip(turns, range(count))]


def mutants_of(file: pathlib.Path) -> list[Mutant]:
    """All that this program knows to make of a file."""
    source = file.read_bytes()
    seen: dict[tuple[str, str], int] = {}
    found = []
    for kind, node, text in changes_in(file, source):
        begin, end = node.start_byte, node.end_byte
        text += "\n" * source[begin:end].count(b"\n")  # so that the lines below keep their numbers
        old, new = changed_lines(source, begin, end, text)
        nth = seen[old, new] = seen.get((old, new), 0) + 1
        found.append(Mutant(str(file), kind, begin, end, text, old, new, nth))
    return found


def in_its_function(mutant: Mutant) -> tuple[str, str]:
    """The function around a fault without and with it: the same wherever the function is moved. Of faults outside of
    functions, the file."""
    source = pathlib.Path(mutant.file).read_bytes()
    begin, end = function_around(mutant.file, source, mutant.begin, mutant.end)
    with_fault = source[begin : mutant.begin] + mutant.text.encode() + source[mutant.end : end]
    return source[begin:end].decode(), with_fault.decode()


def function_around(file: str, source: bytes, begin: int, end: int) -> tuple[int, int]:
    node = root_of(file, source)
    while node is not None and node.type != "function_definition":
        node = next((c for c in node.children if c.start_byte <= begin and end <= c.end_byte), None)
    return (node.start_byte, node.end_byte) if node is not None else (0, len(source))


def is_python(file: str) -> bool:
    return file.endswith(".py")


def changes_in(file: pathlib.Path, source: bytes) -> Iterator[tuple[str, Any, str]]:
    root = root_of(file.name, source)
    return mutants_python.changes(root) if is_python(file.name) else changes(root, False)


@functools.lru_cache(maxsize=16)
def root_of(file: str, source: bytes) -> Any:
    """The syntax tree of a file."""
    import tree_sitter

    grammar = importlib.import_module("tree_sitter_python" if is_python(file) else "tree_sitter_c")
    return tree_sitter.Parser(tree_sitter.Language(grammar.language())).parse(source).root_node


def changed_lines(source: bytes, begin: int, end: int, text: str) -> tuple[str, str]:
    first, last = source.rfind(b"\n", 0, begin) + 1, source.find(b"\n", end)
    before, behind = source[first:begin].decode(), source[end:last].decode()
    return (source[first:last].decode().strip(), (before + text + behind).strip())


def changes(node: Any, inside: bool) -> Iterator[tuple[str, Any, str]]:
    """Kind, node and its new text, for the bodies of functions."""
    if node.type in ("ERROR", "preproc_def", "preproc_function_def", "preproc_include", "string_literal", "type_descriptor"):
        return
    if node.type == "function_definition" and COSTS.search(text_of(node).partition("\n")[0]):
        return
    if inside:
        yield from changes_of(node)
    inside = inside or (node.type == "compound_statement" and node.parent.type == "function_definition")
    for child in node.children:
        yield from changes(child, inside)


def changes_of(node: Any) -> Iterator[tuple[str, Any, str]]:
    if node.type in ("binary_expression", "assignment_expression"):
        sign = node.child_by_field_name("operator")
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        # A loop that steps backwards does not end: found, but slowly.
        if sign.type in KIND_OF and node != node.parent.child_by_field_name("update"):
            kind, new = KIND_OF[sign.type]
            yield kind, sign, new
        if sign.type in ("-", "/", "<<", ">>"):
            yield "operands", node, f"({text_of(right)}) {sign.type} ({text_of(left)})"
    elif node.type == "unary_expression" and node.child_by_field_name("operator").type in "!~-":
        yield "negation", node, f"({text_of(node.child_by_field_name('argument'))})"
    elif node.type == "number_literal":
        number = other_number(text_of(node))
        if number:
            yield "constant", node, number
    elif node.type in ("true", "false"):
        yield "constant", node, "false" if node.type == "true" else "true"
    elif node.type in ("if_statement", "while_statement"):
        condition = node.child_by_field_name("condition")
        yield "condition", condition, f"(!{text_of(condition)})"
    elif node.type == "expression_statement" and node.named_children:
        value = node.named_children[0]
        if value.type == "call_expression" and not text_of(value).startswith(("SN_CHECK", "SN_BEGIN", "SN_CALL")):
            yield "lock" if LOCK.search(text_of(value)) else "call", node, ";"
        elif value.type == "assignment_expression":
            yield "statement", node, ";"
    elif node.type == "argument_list" and not COMMUTATIVE.match(text_of(node.parent)):
        yield from swapped(node)


def swapped(node: Any) -> Iterator[tuple[str, Any, str]]:
    """The first two neighbours that look alike, such as two names, in the other order."""
    arguments = node.named_children
    for a, b in zip(arguments, arguments[1:]):
        alike = a.type == b.type and a.type in ("identifier", "binary_expression", "field_expression")
        if alike and text_of(a) != text_of(b):
            inner = text_of(node)
            first, second = a.start_byte - node.start_byte, b.start_byte - node.start_byte
            middle = inner.encode()[first + len(text_of(a).encode()) : second].decode()
            rest = inner.encode()[second + len(text_of(b).encode()) :].decode()
            yield "operands", node, inner.encode()[:first].decode() + text_of(b) + middle + text_of(a) + rest
            return


def text_of(node: Any) -> str:
    return str(node.text.decode())


def other_number(text: str) -> str | None:
    """A whole number plus 1, or a float twice as large."""
    whole = re.fullmatch(r"(\d+|0x[0-9a-fA-F]+)([uUlL]*)", text)
    if whole:
        return f"{int(whole[1], 0) + 1}{whole[2]}"
    return f"(2 * {text})" if float_like(text) else None


def float_like(text: str) -> bool:
    return bool(re.fullmatch(r"\d*\.?\d*(e[+-]?\d+)?f?", text)) and any(c.isdigit() for c in text)


# ---- written by hand


class Entry(NamedTuple):
    """``FILE: COMMENT``, then lines that begin with "- " for the old text and "+ " for the new one."""

    file: str
    comment: str
    old: str
    new: str


def entries(text: str) -> list[Entry]:
    found: list[Entry] = []
    for block in re.split(r"\n\s*\n", text):
        lines = [line for line in block.splitlines() if line and not line.startswith("#")]
        if lines:
            file, _, comment = lines[0].partition(": ")
            old = [line[2:].strip() for line in lines if line.startswith("- ")]
            new = [line[2:].strip() for line in lines[1:] if line.startswith("+ ")]
            found.append(Entry(file, comment, "\n".join(old), "\n".join(new)))
    return found


def hand() -> list[Mutant]:
    return [mutant_of(entry) for entry in entries(HAND.read_text())]


def mutant_of(entry: Entry) -> Mutant:
    """The old text must be in one place of the file: lines are compared without their indentation."""
    source = pathlib.Path(entry.file).read_bytes()
    pattern = r"\n[ \t]*".join(re.escape(line) for line in entry.old.splitlines())
    places = [match.span() for match in re.finditer(pattern.encode(), source)]
    if len(places) != 1:
        raise ValueError(f"{HAND.name}: {entry.file} contains {len(places)} times, expected once: {entry.old}")
    begin, end = places[0]
    text = entry.new + "\n" * (entry.old.count("\n") - entry.new.count("\n"))
    return Mutant(entry.file, "hand", begin, end, text, entry.old, entry.new, 1)
