"""A program in C with open sizes: the formulas of its plans, which the program computes for the sizes that it is given."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pysimd.network.c import array_templates
from pysimd.network.c.array_rules import rule_of
from pysimd.network.c.arrays import Arrays
from pysimd.network.c.calls import Calls
from pysimd.network.c.names import identifiers, quoted
from pysimd.network.c.open_templates import ARRAYS, HELPERS, OPEN, PLAN, PLANS
from pysimd.network.c.program import Named, Text, filled, named, row
from pysimd.network.c.types import C_TYPES
from pysimd.network.calls import Made, parts_of
from pysimd.network.contexts import Contexts
from pysimd.network.memory import GAP, LINE
from pysimd.network.open_arrays import is_array
from pysimd.network.program import Program
from pysimd.network.sizes import Sizes, in_c


class Plan(NamedTuple):
    """A program of formulas, and the open dimensions that these use, with the conditions on which it holds."""

    sizes: Sizes
    program: Program

    @property
    def tensors(self) -> list[Named]:
        """The inputs, then the outputs."""
        return [*named(self.program.inputs), *named(self.program.outputs)]

    @property
    def roots(self) -> list[str]:
        """The tensors with memory of their own."""
        return list(self.program.arrangement.lives)


class Open(Text):
    """A program that serves all sizes for which the conditions of a plan hold, by the first such plan.

    plans : of the same open dimensions.
    contexts, arguments, options : as of :class:`~pysimd.network.c.program.Text`.
    """

    def __init__(self, plans: Sequence[Plan], contexts: Contexts, *arguments: Any, **options: Any) -> None:
        self._plans = plans
        self._arrays: list[Arrays] = []
        super().__init__([plan.program for plan in plans], contexts, *arguments, **options)

    def _calls(self, number: int) -> Calls:
        roots = [*self._plans[number].roots, ""]
        places = {name: f"m->roots[{i}]" for i, name in enumerate(roots)}
        try:
            self._arrays.append(Arrays(self._plans[number].sizes, self._memory, rule_of))
        except ValueError as error:
            raise ValueError(f"the model cannot be written as C: {error}") from None
        return Calls(self._memory, self._programs[number].constants, places, self._arrays[-1])

    def _numbered(self) -> list[list[tuple[int, int | None]]]:
        """A context has the number of one of an earlier plan with the same weights, so that the plans can share them."""
        found: list[list[tuple[int, int | None]]] = []
        of_weights: dict[Any, list[int]] = {}
        count = 0
        for program in self._programs:
            left, known = {key: [*numbers] for key, numbers in of_weights.items()}, {}  # type: ignore[var-annotated]
            found.append([])
            for step in program.steps:
                key = step.made and (None if _has_arrays(step.made) else self._contexts.key(step.made))
                number = left[key].pop(0) if left.get(key) else count
                found[-1].append((number, known.get(key)))
                if key is not None:
                    known.setdefault(key, number)
                if number == count and step.made is not None:
                    count += 1
                    of_weights.setdefault(key, []).append(number)
        return found

    def _formulas(self, number: int, lines: Sequence[str]) -> list[str]:
        element = self._arrays[number].element
        return [f"    {line}" for line in self._plans[number].sizes.definitions_in_c(lines, element=element)]

    def _creating(self, create: Sequence[Sequence[str]]) -> str:
        return "\n".join(self._created(f"_{i}", **self._with_formulas(i, "create", lines)) for i, lines in enumerate(create))

    def _with_formulas(self, number: int, word: str, lines: Sequence[str]) -> dict[str, str]:
        """Lines of a function of a plan, under this word, and before them the definitions that they need."""
        return {word: "\n".join(lines), "formulas": "".join(f"{line}\n" for line in self._formulas(number, lines))}

    def _of_sizes(self, texts: Mapping[str, str]) -> dict[str, str]:
        names = self._plans[0].sizes.names
        words, first = [f"size_{word}" for word in identifiers(names)], int(texts["first_input"])
        tensors, inputs = self._plans[0].tensors, len(self._programs[0].inputs)
        plans = self._text_of_plans()
        rows = [row(name, view, i, 0, 0) for i, (_, name, view) in enumerate(tensors)]
        values = {
            "open_names": ", ".join(map(quoted, names)),
            "open_count": str(len(words)),
            "size_parameters": "".join(f", size_t {word}" for word in words),
            "size_words": ", ".join(words),
            "example_sizes": "".join(f", (size_t)strtoul(argv[{first + i}], NULL, 10)" for i in range(len(words))),
            "example_usage": texts["example_usage"] + "".join(f" {word}" for word in words),
            "first_input": str(first + len(words)),
            "plans": plans,
            **self._of_arrays("\n".join((texts["run"], texts["creating"], plans))),
            "most_roots": str(max(len(plan.roots) for plan in self._plans)),
            "gap": str(GAP),
            "line": str(LINE),
            "most_dimensions": str(self._most_dimensions()),
            "tensor_count": str(len(tensors)),
            "input_count": str(inputs),
            "output_count": str(len(tensors) - inputs),
            "tensors": "\n".join(map(self._macros, range(len(tensors)))),
            "input_rows": "\n".join(rows[:inputs]),
            "output_rows": "\n".join(rows[inputs:]),
        }
        for key, text in OPEN.items():  # of which later ones contain earlier ones
            values[key] = filled(text, {**texts, **values})
        return values

    def _of_arrays(self, text: str) -> dict[str, str]:
        """The functions that a text calls, and what the program has if arrays depend on its sizes."""
        count = max(arrays.count for arrays in self._arrays)
        if not count:
            return {**dict.fromkeys(ARRAYS, ""), "helpers": _helpers(text)}
        helpers = _helpers(text + array_templates.RELEASE) + filled(array_templates.RELEASE, {"name": self._name})
        return {**{key: filled(of, {"array_count": str(count)}) for key, of in ARRAYS.items()}, "helpers": helpers}

    def _text_of_plans(self) -> str:
        """The functions of all plans, and the table of them."""
        rows = "".join(
            f"    {{unmet_{i}, measured_{i}, create_contexts_{i}, compute_{i}, {len(plan.roots)}, born_{i}, died_{i}}},\n"
            for i, plan in enumerate(self._plans)
        )
        return "".join(map(self._text_of_plan, range(len(self._plans)))) + filled(PLANS, {"name": self._name, "rows": rows})

    def _text_of_plan(self, number: int) -> str:
        sizes, program = self._plans[number]
        lives, roots = program.arrangement.lives, self._plans[number].roots
        real = ", ".join([*(in_c(program.arrangement.types[root].nbytes, "d") for root in roots), "0"])
        values = {
            "number": str(number),
            "conditions": self._conditions(number),
            "real_formulas": "".join(
                f"        {line}\n" for line in sizes.definitions_in_c([real], True, self._arrays[number].element)
            ),
            "real_bytes": real,
            **self._with_formulas(number, "measured", self._measured(number)),
            "born": ", ".join([*(str(lives[root][0]) for root in roots), "0"]),
            "died": ", ".join([*(str(lives[root][1]) for root in roots), "0"]),
        }
        return filled(PLAN, {"name": self._name, **values})

    def _conditions(self, number: int) -> str:
        """The tests of conditions; those on elements of arrays after the lines that compute these."""
        sizes, arrays = self._plans[number].sizes, self._arrays[number]
        plain, others = (
            [f'    if (!({test})) return "{quoted(shown)}";' for test, shown in sizes.conditions_in_c(of_arrays)]
            for of_arrays in (False, True)
        )
        return (
            _braced([*self._formulas(number, plain), *plain])
            + "".join(f"{line}\n" for line in arrays.lines())
            + _braced([*self._formulas(number, [*arrays.conditions(), *others]), *arrays.conditions(), *others])
        )

    def _measured(self, number: int) -> list[str]:
        """The lines for the bytes of roots, the shapes of tensors with their offsets in these, and what steps need."""
        plan = self._plans[number]
        types, roots = plan.program.arrangement.types, plan.roots
        lines = [f"    bytes[{i}] = {in_c(types[root].nbytes)};" for i, root in enumerate(roots)]
        for i, (_, _, view) in enumerate(plan.tensors):
            tensor, shape = f"m->tensors[{i}]", (*view.shape, *(1,) * (self._most_dimensions() - view.ndim))
            lines += [
                f"    {tensor}.root = {roots.index(view.root)};",
                f"    {tensor}.offset = (size_t)({in_c(view.offset)});",
                f"    {tensor}.bytes = (size_t)({in_c(view.nbytes)});",
            ]
            lines += [f"    {tensor}.shape[{k}] = (size_t)({in_c(n)});" for k, n in enumerate(shape)]
        needed = dict.fromkeys(in_c(step.scratch) for step in plan.program.steps)
        return lines + [f"    if ({text} > scratch) scratch = {text};" for text in needed if text != "0"]

    def _most_dimensions(self) -> int:
        return max([1, *(view.ndim for plan in self._plans for _, _, view in plan.tensors)])

    def _macros(self, number: int) -> str:
        identifier, name, view = self._plans[0].tensors[number]
        kind = "input" if number < len(self._programs[0].inputs) else "output"
        word, shape = f"{self._name.upper()}_{kind.upper()}_{identifier}", ", ".join(map(repr, view.shape))
        return (
            f"/* {kind} {quoted(name)}: {view.dtype.name} ({quoted(shape)}) */\n"
            f"#define {word}_SIZE(model) {self._name}_elements((model), {number})\n"
            f"#define {word}(model) (({C_TYPES[view.dtype.name]} *){self._name}_tensor((model), {number}))"
        )


def _has_arrays(made: Made) -> bool:
    """Whether the weights of a context depend on sizes."""
    return any(map(is_array, parts_of(made.params)))


def _braced(lines: Sequence[str]) -> str:
    return "\n".join(["    {", *(f"    {line}" for line in lines), "    }\n"]) if lines else ""


def _helpers(text: str) -> str:
    """The functions that a text calls, and those that these call, in their order."""
    needed: list[str] = []
    for name, code in reversed([*HELPERS.items(), *array_templates.HELPERS.items()]):
        if re.search(rf"\b{name}\(", "\n".join((text, *needed))):
            needed.insert(0, f"{code}\n")
    return "".join(needed)
