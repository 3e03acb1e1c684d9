"""Faults to put into the Python sources: changes of the syntax tree in the bodies of functions, as in those of C."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Change = tuple[str, Any, str]  # kind, node, its new text

#: What is another text, but no other program: annotations are not evaluated, and messages are for people.
LEFT_OUT = (
    "type",
    "string",
    "import_statement",
    "import_from_statement",
    "decorator",
    "raise_statement",
    "assert_statement",
)
SWAPS = {
    "bound": {"<": "<=", "<=": "<", ">": ">=", ">=": ">"},
    "comparison": {"==": "!=", "!=": "==", "is": "is not", "is not": "is", "in": "not in", "not in": "in"},
    "operator": {"+": "-", "-": "+", "*": "+", "/": "*", "//": "*", "%": "//", "**": "*", "@": "*"},
    "mask": {"&": "|", "|": "&", "^": "|"},
    "logic": {"and": "or", "or": "and"},
}
KIND_OF = {old: (kind, new) for kind, swaps in SWAPS.items() for old, new in swaps.items()}


def changes(node: Any, inside: bool = False) -> Iterator[Change]:
    """Those of the bodies of functions."""
    if node.type in LEFT_OUT or node.type == "ERROR":
        return
    if inside:
        yield from changes_of(node)
    for child in node.children:
        body = node.type == "function_definition" and child.type == "block"
        yield from changes(child, inside or body)


def changes_of(node: Any) -> Iterator[Change]:
    if node.type in ("binary_operator", "comparison_operator", "boolean_operator"):
        yield from signs(node)
    elif node.type == "not_operator":
        yield "negation", node, f"({text_of(node.child_by_field_name('argument'))})"
    elif node.type == "unary_operator" and text_of(node).startswith("-"):
        yield "negation", node, f"({text_of(node)[1:]})"
    elif node.type in ("integer", "float"):
        yield "constant", node, f"({text_of(node)} + 1)"
    elif node.type in ("true", "false"):
        yield "constant", node, "False" if node.type == "true" else "True"
    elif node.type in ("if_statement", "elif_clause", "conditional_expression", "if_clause"):
        condition = condition_of(node)
        yield "condition", condition, f"(not ({text_of(condition)}))"
    elif node.type == "expression_statement":
        value = node.named_children[0]
        if value.type in ("call", "assignment", "augmented_assignment"):
            yield ("call" if value.type == "call" else "statement"), node, "pass"
    elif node.type == "argument_list":
        yield from swapped(node)


def signs(node: Any) -> Iterator[Change]:
    for sign in node.children:
        if sign.type in KIND_OF:
            kind, new = KIND_OF[sign.type]
            yield kind, sign, new


def condition_of(node: Any) -> Any:
    if node.type == "conditional_expression":
        return node.named_children[1]
    return node.child_by_field_name("condition") or node.named_children[0]


def swapped(node: Any) -> Iterator[Change]:
    """The first two neighbours that are names or attributes, in the other order."""
    arguments = node.named_children
    for a, b in zip(arguments, arguments[1:]):
        if a.type == b.type and a.type in ("identifier", "attribute") and text_of(a) != text_of(b):
            whole, begin = node.text, node.start_byte
            parts = (
                whole[: a.start_byte - begin],
                whole[a.end_byte - begin : b.start_byte - begin],
                whole[b.end_byte - begin :],
            )
            yield "operands", node, (parts[0] + b.text + parts[1] + a.text + parts[2]).decode()
            return


def text_of(node: Any) -> str:
    return str(node.text.decode())
