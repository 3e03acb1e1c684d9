"""Bad arguments: none of them writes anything; contexts that are half made; every parameter of the header's functions.

More of them are in test_messages.py (sentences), test_overlap.py, test_subclasses.py and test_contexts.py.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest
from test_messages import wrong_arrays, wrong_numbers

import pysimd
from support import REFUSALS, ROOT, Array, samples
from support.samples import at, places, replaced

SEED = 27
NAMES = [name for name in samples.calls(np.random.default_rng(SEED)) if not name.endswith("iterator")]
CLASSES = list(samples.contexts(np.random.default_rng(SEED)))
FILLER = 0x5A
STRIDED = {"concatenate", "copy", "permute", "transpose"}  # these write to any strides


def test_every_parameter_in_c(tmp_path: Path) -> None:
    seed = int(os.environ.get("FUZZ_SEED", "1"))
    note = tmp_path / "call"
    note.write_bytes(bytes(1 << 13))
    command = [sys.executable, str(ROOT / "tests" / "c_refusals.py"), str(note), str(seed)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONFAULTHANDLER": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)
    last = note.read_bytes().split(b"\0")[0].decode()
    assert done.returncode == 0, f"{last}\nstatus {done.returncode}\n{done.stderr[-3000:]}\nrepeat with FUZZ_SEED={seed}"
    cases = re.search(r'"c_cases": (\d+)', done.stdout)
    assert cases and int(cases[1]) >= 1000, done.stdout


def filled(like: Array) -> Array:
    """An output between margins, all bytes of which are the filler."""
    memory = np.full(like.nbytes + 128, FILLER, np.uint8)
    return memory[64 : 64 + like.nbytes].view(like.dtype).reshape(like.shape)


def assert_untouched(call: Callable[[], Any], outs: list[Array], kind: str) -> None:
    """If the call is refused, it has a sentence, and not a byte of the outputs and around them has changed."""
    try:
        call()
    except (TypeError, ValueError, MemoryError, OverflowError) as error:
        assert str(error)
        for out in outs:
            memory = out
            while isinstance(memory.base, np.ndarray):
                memory = memory.base
            assert (memory.view(np.uint8) == FILLER).all()
        REFUSALS[kind] += 1


@pytest.mark.parametrize("name", NAMES)
def test_refused_functions_write_nothing(name: str) -> None:
    function, *given = samples.calls(np.random.default_rng(SEED))[name]
    arguments: Any = given
    result = function(*arguments[0], **arguments[1])
    outs = [filled(y) for y in (result if isinstance(result, tuple) else (result,))]
    for place in places(arguments):
        for wrong, _ in wrong_arrays(at(arguments, place)):
            changed = replaced(arguments, place, wrong)
            assert_untouched(partial(samples.call_into, function, changed, outs), outs, "array")
            reset(outs)
    for option in arguments[1]:
        for wrong in wrong_numbers():
            other = (arguments[0], {**arguments[1], option: wrong})
            assert_untouched(partial(samples.call_into, function, other, outs), outs, "option")
            reset(outs)


def reset(outs: list[Array]) -> None:
    """After a call that accepted its argument and wrote."""
    for out in outs:
        out.reshape(-1).view(np.uint8)[...] = FILLER


def wrong_outputs(out: Array) -> list[Any]:
    """Outputs that do not fit, all with memory of their own."""
    read_only = filled(out)
    read_only.flags.writeable = False
    wrong: list[Any] = [
        read_only,
        out.tolist(),
        bytearray(out.nbytes),
        "text",
        3,
        filled(np.zeros((2, *out.shape, 3), out.dtype)),
    ]
    wrong.append(filled(out.astype(np.float64 if out.dtype.itemsize < 8 else np.float32)))
    if out.size > 1:
        wrong.extend(
            (
                filled(out.ravel()[1:]),
                filled(np.repeat(out, 2, axis=-1))[..., ::2],
                np.ma.masked_array(filled(out), np.ones(out.shape, bool)),
            )
        )
    return wrong


@pytest.mark.parametrize("name", NAMES)
def test_outputs_that_do_not_fit(name: str) -> None:
    function, *given = samples.calls(np.random.default_rng(SEED))[name]
    arguments: Any = given
    result = function(*arguments[0], **arguments[1])
    results = list(result) if isinstance(result, tuple) else [result]
    for i, y in enumerate(results):
        for wrong in wrong_outputs(y):
            if name in STRIDED and isinstance(wrong, np.ndarray) and wrong.shape == y.shape and not wrong.flags.c_contiguous:
                continue
            outs = [filled(other) for other in results]
            outs[i] = wrong
            arrays = [np.asarray(out) for out in outs if isinstance(out, np.ndarray)]
            before = [array.tobytes() for array in arrays]
            with pytest.raises((TypeError, ValueError), match=r"\w \w"):
                samples.call_into(function, arguments, outs)
            assert [array.tobytes() for array in arrays] == before
            REFUSALS["output"] += 1


@pytest.mark.parametrize("name", CLASSES)
def test_outputs_of_contexts_that_do_not_fit(name: str) -> None:
    context, arrays = samples.contexts(np.random.default_rng(SEED))[name]
    y = context.forward(*arrays)
    for wrong in wrong_outputs(y):
        before = np.asarray(wrong).tobytes() if isinstance(wrong, np.ndarray) else b""
        with pytest.raises((TypeError, ValueError), match=r"\w \w"):
            context.forward(*arrays, out=wrong)
        assert not isinstance(wrong, np.ndarray) or np.asarray(wrong).tobytes() == before
        REFUSALS["output"] += 1
    out = filled(y)
    for i, array in enumerate(arrays):
        for wrong, _ in wrong_arrays(array):
            given = [wrong if i == j else x for j, x in enumerate(arrays)]
            assert_untouched(partial(context.forward, *given, out=out), [out], "array")
            reset([out])


def made_halfway(cls: Any, how: str, arguments: dict[str, Any]) -> pysimd.Context:
    """A context whose ``__init__`` was not called, or was refused."""
    context: pysimd.Context = cls.__new__(cls)
    if how == "refused":
        shape = next(name for name in arguments if name in ("shape", "src_shape"))
        with pytest.raises((TypeError, ValueError)):
            context.__init__(**{**arguments, shape: "wrong"})  # type: ignore[misc]
    return context


@pytest.mark.parametrize("how", ["never", "refused"])
@pytest.mark.parametrize("name", CLASSES)
def test_half_made_contexts(name: str, how: str) -> None:
    """Every use raises, and none ends the process; then the context can still be made."""
    context, arrays = samples.contexts(np.random.default_rng(SEED))[name]
    half = made_halfway(type(context), how, context._arguments)
    out = filled(context.forward(*arrays))
    uses: list[Callable[[], Any]] = [
        lambda: half.forward(*arrays, out=out),
        lambda: half.prepare(*arrays),
        lambda: half.info,
        lambda: half.__enter__(),
        lambda: half.__reduce__(),
    ]
    weights = context._weights()
    if weights is not None:
        uses.append(lambda: half.set_params(*weights))  # type: ignore[attr-defined]
    if isinstance(context, pysimd.context.SharingContext) and isinstance(half, pysimd.context.SharingContext):
        uses.extend((lambda: half.share_params(context), lambda: context.share_params(half)))
    for use in uses:
        with pytest.raises((AttributeError, TypeError, ValueError)) as refused:
            use()
        assert str(refused.value)
        REFUSALS["half made"] += 1
    assert (out.reshape(-1).view(np.uint8) == FILLER).all()
    assert half.closed and "closed" in repr(half)
    half.close()
    half.__init__(**context._arguments)  # type: ignore[misc]
    if weights is not None:
        half.set_params(*weights)  # type: ignore[attr-defined]
    assert half.forward(*arrays).tobytes() == context.forward(*arrays).tobytes()
