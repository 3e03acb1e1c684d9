"""Ends of the interpreter while contexts exist and threads compute, and signals: no crash, no hang, no message.

Each end is a process of its own, of which ``--rounds N`` makes N for each test. Forks, cancelled threads and limits of the
system are tested in C, tests/c/test_callers.c.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pysimd
from pysimd._library import HEADER_PATH, LIBRARY_PATH
from support import COMPILER, ROOT, floats, samples

# All kinds of contexts, prepared calls of them, and daemon threads that compute until the process ends.
LIVE = """
import atexit, os, sys, threading, time
sys.path[:0] = ["tests"]
import numpy as np
import pysimd
from support import samples
pysimd.set_num_threads(2)
made = samples.contexts(np.random.default_rng(0))
right = {name: context.forward(*arrays).tobytes() for name, (context, arrays) in made.items()}
kept = [context.prepare(*arrays) for context, arrays in made.values()]
begun = threading.Barrier(4)
def good(name):
    context, arrays = made[name]
    return context.forward(*arrays).tobytes() == right[name]
def work():
    first = True
    while True:
        for name in right:
            if not good(name):
                os.write(2, b"wrong\\n")
            if first:
                begun.wait()
                first = False
threads = [threading.Thread(target=work, daemon=True) for _ in range(3)]
for thread in threads:
    thread.start()
begun.wait()
"""

ENDS = {
    "return": ("", 0),
    "exit": ("sys.exit(3)", 3),
    "exception": ("sys.excepthook = lambda *_: None; raise ValueError", 1),
    "at exit": ("atexit.register(lambda: all(map(good, right)) or os._exit(5))", 0),
    "closing": ("threading.excepthook = lambda *_: None\nfor context, _ in made.values(): context.close()\nkept.clear()", 0),
    "globals": ("sys.modules.pop('pysimd'); sys.modules['__main__'].kept = None", 0),
    "cycle": ("loop = [kept]; loop.append(loop); del kept", 0),
    "last thread": ("threading.Thread(target=lambda: (time.sleep(0.02), good('LSTM') or os._exit(5))).start()", 0),
    "fork": (
        "child = os.fork()\nif child: sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\nassert good('LSTM')",
        0,
    ),
}


@pytest.mark.parametrize("end", ENDS)
def test_end_of_the_interpreter(end: str, request: pytest.FixtureRequest) -> None:
    code, status = ENDS[end]
    for i in range(request.config.getoption("--rounds")):
        later = f"time.sleep({i % 7 / 500})\n"  # so that the threads have got more or less far
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", LIVE + later + code],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert (done.returncode, done.stderr) == (status, ""), end


def test_killed_while_it_computes(request: pytest.FixtureRequest) -> None:
    """SIGTERM and SIGINT have their usual effect, whichever thread computes: the library holds no signal back.

    They are set to it first: a program that is started in the background, or by nohup, ignores some of them.
    """
    usual = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    usual += "for number in signal.SIGTERM, signal.SIGHUP: signal.signal(number, signal.SIG_DFL)\n"
    for number in [signal.SIGTERM, signal.SIGINT, signal.SIGHUP] * request.config.getoption("--rounds"):
        code = usual + LIVE + "print('begun', flush=True)\nwhile all(map(good, right)): pass"
        with subprocess.Popen(
            [sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None and process.stdout.readline() == "begun\n"
            process.send_signal(number)
            try:
                _, errors = process.communicate(timeout=300)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        if number == signal.SIGINT:
            assert errors.strip().endswith("KeyboardInterrupt") and "wrong" not in errors
        assert process.returncode == -number


def test_handlers_that_compute(rng: np.random.Generator, request: pytest.FixtureRequest) -> None:
    """A handler in Python calls the library, and so does what it interrupts: both have their results."""
    made: dict[str, Any] = samples.contexts(rng)
    right = {name: context.forward(*arrays).tobytes() for name, (context, arrays) in made.items()}
    x = floats(rng, 1000)
    expected, handled, wrong = pysimd.relu(x).tobytes(), 0, 0

    def handler(number: int, frame: Any) -> None:
        nonlocal handled, wrong
        handled += 1
        name = list(right)[handled % len(right)]
        context, arrays = made[name]
        wrong += context.forward(*arrays).tobytes() != right[name]
        wrong += pysimd.relu(x).tobytes() != expected

    before = signal.signal(signal.SIGALRM, handler)
    try:
        with pysimd.num_threads(2):
            signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)
            end = time.monotonic() + 60
            while handled < 50 * request.config.getoption("--rounds") and time.monotonic() < end:
                for name, (context, arrays) in made.items():
                    assert context.forward(*arrays).tobytes() == right[name], name
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert handled > 10 and wrong == 0


SETTINGS = """
#include <stdio.h>
#include <sys/auxv.h>
#include "simdnet.h"
int main(void)
{
    return printf("%lu %s %d\\n", getauxval(AT_SECURE), SimdnetActiveIsa(), (int)SimdGetThreadNumber()) < 0;
}
"""


@pytest.mark.skipif(os.geteuid() != 0 or not COMPILER, reason="only root can make a program of another user")
def test_a_setuid_program_ignores_the_environment(tmp_path: Path) -> None:
    program, source = tmp_path / "settings", tmp_path / "settings.c"
    source.write_text(SETTINGS)
    static = Path(LIBRARY_PATH).resolve().with_suffix(".a")
    if not static.exists():
        pytest.skip(f"{static} does not exist")
    libraries = [str(static), "-lm", "-lpthread", "-ldl"]
    subprocess.run([str(COMPILER), f"-I{Path(HEADER_PATH).parent}", str(source), *libraries, "-o", str(program)], check=True)
    environment = {"SIMDNET_MAX_ISA": "base", "SIMDNET_NUM_THREADS": "2", "SIMDNET_VERBOSE": "2"}
    printed = []
    for user, mode in ((0, 0o755), (54321, 0o4755)):
        os.chown(program, user, user)
        program.chmod(mode)
        done = subprocess.run([str(program)], env=environment, capture_output=True, text=True, check=True)
        printed.append((done.stdout.split(), bool(done.stderr)))
    (plain, reports), (raised, silent) = printed
    assert plain[:2] == ["0", "base"] and reports
    if raised[0] == "0":
        pytest.skip("this file system ignores the mode, or there are no other users")
    assert (raised[1] != "base" or len(pysimd.isa_levels()) == 1) and raised[2] == "1" and not silent
