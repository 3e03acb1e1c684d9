"""A program in C with open sizes: the formulas of a plan, which the program computes for the sizes that it is given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pysimd.network.c_calls import C_TYPES
from pysimd.network.c_names import identifiers, quoted
from pysimd.network.c_program import Text, filled, named, row
from pysimd.network.c_templates import OPEN
from pysimd.network.contexts import Contexts
from pysimd.network.memory import GAP, LINE
from pysimd.network.program import Program
from pysimd.network.sizes import Sizes, in_c


class Open(Text):
    """A program that serves all sizes for which the conditions of its plan hold.

    sizes : the open dimensions.
    program : with formulas of these.
    contexts, options : as of :class:`~pysimd.network.c_program.Text`.
    """

    def __init__(self, sizes: Sizes, program: Program, contexts: Contexts, *arguments: Any, **options: Any) -> None:
        super().__init__([program], contexts, *arguments, **options)
        self._sizes, self._program = sizes, program
        self._roots = list(program.arrangement.lives)
        self._tensors = [*named(program.inputs), *named(program.outputs)]

    def _places(self, number: int) -> dict[str, str]:
        return {root: f"m->roots[{i}]" for i, root in enumerate([*self._roots, ""])}

    def _formulas(self) -> list[str]:
        return [f"    {line}" for line in self._sizes.definitions_in_c("int64_t", "a", "quotient")]

    def _of_sizes(self, texts: Mapping[str, str]) -> dict[str, str]:
        words = [f"size_{word}" for word in identifiers(self._sizes.names)]
        real = self._sizes.definitions_in_c("double", "d", "real_quotient")
        lives, types = self._program.arrangement.lives, self._program.arrangement.types
        nbytes = [types[root].nbytes for root in self._roots]
        count, of_inputs = len(self._program.inputs), len(self._program.inputs)
        values = {
            "open_names": ", ".join(map(quoted, self._sizes.names)),
            "open_count": str(len(words)),
            "size_parameters": "".join(f", size_t {word}" for word in words),
            "size_words": ", ".join(words),
            "example_sizes": "".join(
                f", (size_t)strtoul(argv[{int(texts['first_input']) + i}], NULL, 10)" for i in range(len(words))
            ),
            "example_usage": texts["example_usage"] + "".join(f" {word}" for word in words),
            "first_input": str(int(texts["first_input"]) + len(words)),
            "formulas": "".join(f"{line}\n" for line in self._formulas()),
            "real_formulas": "".join(f"    {line}\n" for line in real),
            "conditions": "\n".join(
                f'    if (!({test})) return "{quoted(shown)}";' for test, shown in self._sizes.conditions_in_c()
            ),
            "real_bytes": ", ".join([*(in_c(n, "d") for n in nbytes), "0"]),
            "measured": "\n".join(self._measured(nbytes)),
            "root_count": str(len(self._roots)),
            "born": ", ".join([*(str(lives[root][0]) for root in self._roots), "0"]),
            "died": ", ".join([*(str(lives[root][1]) for root in self._roots), "0"]),
            "offsets": "\n".join(
                f"    m->tensors[{i}].offset += (size_t){self._places(0)[view.root]};"
                for i, (_, _, view) in enumerate(self._tensors)
            ),
            "gap": str(GAP),
            "line": str(LINE),
            "most_dimensions": str(max([1, *(view.ndim for _, _, view in self._tensors)])),
            "tensor_count": str(len(self._tensors)),
            "tensors": "\n".join(map(self._macros, range(len(self._tensors)))),
            "input_rows": "\n".join(row(name, view, i, 0, 0) for i, (_, name, view) in enumerate(self._tensors[:count])),
            "output_rows": "\n".join(
                row(name, view, of_inputs + i, 0, 0) for i, (_, name, view) in enumerate(self._tensors[count:])
            ),
        }
        for key, text in OPEN.items():  # of which later ones contain earlier ones
            values[key] = filled(text, {**texts, **values})
        return values

    def _measured(self, nbytes: list[Any]) -> list[str]:
        """The lines for the bytes of roots, the shapes of tensors with their offsets in these, and what steps need."""
        lines = [f"    bytes[{i}] = {in_c(n)};" for i, n in enumerate(nbytes)]
        for i, (_, _, view) in enumerate(self._tensors):
            tensor = f"m->tensors[{i}]"
            lines += [
                f"    {tensor}.offset = (size_t)({in_c(view.offset)});",
                f"    {tensor}.bytes = (size_t)({in_c(view.nbytes)});",
            ]
            lines += [f"    {tensor}.shape[{k}] = (size_t)({in_c(n)});" for k, n in enumerate(self._shape(view.shape))]
        needed = dict.fromkeys(in_c(step.scratch) for step in self._program.steps)
        return lines + [f"    if ({text} > scratch) scratch = {text};" for text in needed if text != "0"]

    def _shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """With 1 for the dimensions that others have."""
        most = max([1, *(view.ndim for _, _, view in self._tensors)])
        return (*shape, *(1,) * (most - len(shape)))

    def _macros(self, number: int) -> str:
        identifier, name, view = self._tensors[number]
        kind = "input" if number < len(self._program.inputs) else "output"
        word, shape = f"{self._name.upper()}_{kind.upper()}_{identifier}", ", ".join(map(repr, view.shape))
        return (
            f"/* {kind} {quoted(name)}: {view.dtype.name} ({quoted(shape)}) */\n"
            f"#define {word}_SIZE(model) {self._name}_elements((model), {number})\n"
            f"#define {word}(model) (({C_TYPES[view.dtype.name]} *){self._name}_tensor((model), {number}))"
        )
