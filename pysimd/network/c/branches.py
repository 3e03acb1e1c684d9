"""If in C: the branch that is known to run, or both behind a condition, whose results are copied to the same tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pysimd.network.c.slots import Env, Refused, Run, Slot, Unknown, captured, condition_of, failing, refused, value_of
from pysimd.network.c.writer import Mark, Writer, indented
from pysimd.network.convert import UnsupportedModel
from pysimd.network.courses.control import Branch
from pysimd.network.courses.course import Course
from pysimd.network.source import SourceNode


def add_branch(w: Writer, run: Run, course: Course, part: Branch, env: Env) -> None:
    """Adds the lines of an If."""
    node = part.node
    flag = condition_of(value_of(course, env, node.inputs[0]), node)
    if not isinstance(flag, str):
        body = part.bodies["then" if flag else "else"]
        env.update((name, slot) for name, slot in zip(node.outputs, run(body, captured(body, env))) if name)
        return
    arms = [_arm(w, run, body, env) for body in part.bodies.values()]
    results = [slots for slots, _ in arms if not isinstance(slots, ValueError)]
    if not results:
        raise arms[0][0]
    env.update((name, _joined(w, of, name, node)) for name, of in zip(node.outputs, zip(*results)) if name)
    for word, (slots, arm) in zip((f"if ({flag}) {{", "} else {"), arms):
        with w.apart() as lines:
            if isinstance(slots, ValueError):
                lines += failing(node, _reason(slots))
            else:
                _give(w, env, node, slots)
        w.lines += [word, *indented(arm), *indented(lines)]
    w.lines.append("}")


def _arm(w: Writer, run: Run, body: Course, env: Env) -> tuple[Any, list[str]]:
    """The results of a branch and its lines; instead of results the error, if it cannot run for these shapes."""
    mark = w.mark()
    with w.apart() as lines:
        try:
            return run(body, captured(body, env)), lines
        except Refused:
            raise
        except ValueError as error:
            w.return_to(Mark(mark.parts, mark.constants, 0, mark.size))
            return error, lines


def _joined(w: Writer, slots: Sequence[Slot], name: str, node: SourceNode) -> Slot | Unknown:
    """The tensor of a result, whichever graph runs."""
    types = {(slot.dtype, slot.shape) for slot in slots}
    if len(types) == 1:
        return w.slot(*types.pop())
    found = " and ".join(slot.type for slot in slots)
    return Unknown(refused(node, f"its branches give {found} for {name!r}"))


def _give(w: Writer, env: Env, node: SourceNode, slots: Sequence[Slot]) -> None:
    """Adds the lines that copy the results of a branch to those of the node."""
    for name, slot in zip(node.outputs, slots):
        target = env[name] if name else None
        if isinstance(target, Slot):
            w.copy(target, slot)


def _reason(error: ValueError) -> str:
    return error.nodes[0].reason if isinstance(error, UnsupportedModel) and error.nodes else str(error)
