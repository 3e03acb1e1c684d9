"""Decoders whose cache of keys and values grows by one at each step: a few plans serve all steps, with the usual results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import pysimd
from pysimd.annotations import Array
from pysimd.network import open_plan, runner
from pysimd.network.binding import Binding
from pysimd.network.convert import at_run_time

onnx = pytest.importorskip("onnx", reason="ONNX files need the package onnx")

from network import decoder_models  # noqa: E402
from network.decoder_models import DEPTH, HEADS, LAYERS, WORDS  # noqa: E402
from network.test_random import difference, session_of  # noqa: E402

STEPS = 200
PROMPT = 5  # tokens of the first step
SOUND = 12  # the length of what a Whisper listens to
CACHE = [f"{i}.{kind}" for i in range(LAYERS) for kind in ("key", "value")]


class Decoding:
    """The inputs of one step after another, which depend on the outputs of the step before."""

    def __init__(self, kind: str, images: int = 1) -> None:
        self._random, self._kind, self._images = np.random.default_rng(5), kind, images
        self._cache: dict[str, Array] = {f"past.{name}": np.zeros((images, HEADS, 0, DEPTH), np.float32) for name in CACHE}
        shape = (images, HEADS, SOUND, DEPTH)
        self._sound = {f"sound.{name}": self._random.standard_normal(shape).astype(np.float32) for name in CACHE}
        self.length = 0

    def inputs(self, count: int) -> dict[str, Array]:
        """Of a step of so many tokens; the first three tokens are padding that the mask of a GPT-2 removes."""
        given = {"tokens": self._random.integers(0, WORDS, (self._images, count)), **self._cache}
        self.length += count
        if self._kind == "whisper":
            return {**given, **self._sound}
        mask = np.ones((self._images, self.length), np.int64)
        mask[:, : min(3, self.length - 1)] = 0
        return {**given, "mask": mask}

    def take(self, outputs: Mapping[str, Array]) -> None:
        """The cache of the next step."""
        self._cache = {f"past.{name}": outputs[f"present.{name}"] for name in CACHE}


@pytest.fixture(params=["gpt2", "whisper"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def made(kind: str) -> tuple[Any, Any]:
    """The file and the model."""
    proto = getattr(decoder_models, kind)()
    return proto, pysimd.load(proto)


def shapes_of(inputs: Mapping[str, Array]) -> dict[str, tuple[int, ...]]:
    return {name: array.shape for name, array in inputs.items()}


def test_all_steps_of_a_decoder(kind: str) -> None:
    """Beside ONNX Runtime, which gets the same cache; at some steps, with the bits of a preparation for their shapes."""
    pytest.importorskip("onnxruntime", reason="ONNX Runtime is not installed: pip install '.[models]'")
    proto, model = made(kind)
    theirs, run, decoding = session_of(proto), model.prepare(), Decoding(kind)
    for step in range(STEPS):
        inputs = decoding.inputs(1 if step else PROMPT)
        outputs = run(inputs)
        for (name, found), expected in zip(outputs.items(), theirs(inputs)):
            assert difference(found, expected) < 1e-5, (step, name)
        if step in (0, 1, 2, 3, 60, STEPS - 1):
            for name, array in model.prepare(shapes_of(inputs))(inputs).items():
                np.testing.assert_array_equal(array, outputs[name])
        decoding.take(outputs)
    assert decoding.length == STEPS + PROMPT - 1
    assert len(run.plans) <= 3  # of the first step, and of all others


def test_steps_use_the_memory_of_earlier_ones(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks are allocated for the shapes that are kept, and once more with room for larger ones."""
    sizes: list[int] = []
    allocated = runner._allocated

    def counted(size: int) -> tuple[Array, bool]:
        sizes.append(size)
        return allocated(size)

    monkeypatch.setattr(runner, "_allocated", counted)
    run, decoding = made(kind)[1].prepare(), Decoding(kind)
    for step in range(40):
        decoding.take(run(decoding.inputs(1 if step else 200)))
    assert run.most_shapes < len(sizes) <= 2 * run.most_shapes + 1


def test_steps_bind_no_call_again(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """They replace sizes and addresses in the calls of an earlier step, and few of them place tensors anew."""
    run, decoding = made(kind)[1].prepare(), Decoding(kind)
    for step in range(20):
        decoding.take(run(decoding.inputs(1 if step else PROMPT)))
    counts: Counter[str] = Counter()
    count_calls(monkeypatch, Binding, "call", counts)
    count_calls(monkeypatch, open_plan, "packed_roots", counts)
    for _ in range(40):
        decoding.take(run(decoding.inputs(1)))
    assert counts["call"] == 0 and 1 <= counts["packed_roots"] <= 4


def test_steps_compute_equal_masks_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """All layers of a GPT-2 have the same one."""
    run, decoding = made("gpt2")[1].prepare(), Decoding("gpt2")
    for step in range(3):
        decoding.take(run(decoding.inputs(1 if step else PROMPT)))
    counts: Counter[str] = Counter()
    count_calls(monkeypatch, at_run_time, "evaluate", counts)
    run(decoding.inputs(1))
    assert counts["evaluate"] == 5  # two for the mask, three for positions


def count_calls(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, counts: Counter[str]) -> None:
    """Counts the calls of a function by its name."""
    function = getattr(owner, name)

    def counted(*arguments: Any, **named: Any) -> Any:
        counts[name] += 1
        return function(*arguments, **named)

    monkeypatch.setattr(owner, name, counted)


def test_support_of_a_decoder_is_told(kind: str) -> None:
    """Sizes of the cache are named by sums of others."""
    _, model = made(kind)
    assert str(model).endswith("all operators are supported")


def test_steps_of_several_tokens(kind: str) -> None:
    """And of several texts: by the runner, in any order, with the bits of a preparation."""
    _, model = made(kind)
    run = model.prepare()
    for images in (2, 1):
        decoding = Decoding(kind, images)
        for count in (3, 1, 1, 4):
            inputs = decoding.inputs(count)
            outputs = run(inputs)
            for name, array in model.prepare(shapes_of(inputs))(inputs).items():
                np.testing.assert_array_equal(array, outputs[name])
            decoding.take(outputs)


def test_a_cache_that_does_not_fit(kind: str) -> None:
    """Its parts contradict each other or the file: the runner still serves the next step."""
    _, model = made(kind)
    run, decoding = model.prepare(), Decoding(kind)
    decoding.take(run(decoding.inputs(PROMPT)))
    inputs = decoding.inputs(1)
    expected = run(inputs)
    short = inputs["past.1.value"][:, :, 1:]
    wrong: list[tuple[dict[str, Array], str]] = [
        (
            {"past.1.value": short},
            "^the size 'P' is 5 in 'past.0.key' and 4 in 'past.1.value'; with these shapes, 1 node of",
        ),
        (
            {"past.0.key": short, "past.0.value": short},
            "^the size 'P' is 4 in 'past.0.key' and 5 in 'past.1.key'; with these",
        ),
        (
            {"past.0.key": inputs["past.0.key"][..., 1:]},
            r"past.0.key.2, 8\), where past.0.key.0 is 1 and past.0.key.2 is 5$",
        ),
        (
            {"past.1.key": inputs["past.1.key"][0]},
            r" is given as \(4, 5, 8\), expected \(past.1.key.0, 4, past.1.key.2, 8\)",
        ),
        ({"tokens": inputs["tokens"][0]}, r"^the shape of tokens is given as \(1,\), expected \(tokens.0, S\)$"),
    ]
    if kind == "gpt2":
        sentence = r"^the size 'P \+ S' is 5 in 'mask', where P is 5 and S is 1; with these shapes, 1 node of"
        wrong.append(({"mask": inputs["mask"][:, 1:]}, sentence))
        shapes = shapes_of({**inputs, **wrong[-1][0]})
        with pytest.raises(ValueError, match=sentence):
            model.prepare(shapes)
    for part, sentence in wrong:
        with pytest.raises(ValueError, match=sentence):
            run({**inputs, **part})
        for name, array in run(inputs).items():
            np.testing.assert_array_equal(array, expected[name])
