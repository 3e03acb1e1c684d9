"""Libraries in separate processes: threads that spin after a call would slow whatever runs next in the same process, and a
crash ends only that process.

While another process is being timed, such a process sleeps on its pipe.
"""

from __future__ import annotations

import multiprocessing
import signal
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any, Callable

from bench.implementations import Unsupported


def _attempt(call: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """The result, or `Unsupported` with the text of the failure, which is the library's."""
    try:
        return call(*arguments)
    except Unsupported as error:
        return error
    except BaseException as error:
        last = str(error).strip().splitlines()[-1:] or [""]
        return Unsupported(f"{type(error).__name__}: {last[0]}")


def _serve(pipe: Connection, make: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    """The loop of the process: one reply to its start, then one to each call of a method, until there are no more."""
    served = _attempt(make, arguments)
    failed = isinstance(served, Unsupported)
    pipe.send(served if failed else None)
    while not failed and (request := pipe.recv()):
        method, *its = request
        pipe.send(_attempt(getattr(served, method), tuple(its)))


class Remote:
    """What `make(*arguments)` returns, in a process of its own."""

    def __init__(self, make: Callable[..., Any], *arguments: Any) -> None:
        processes = multiprocessing.get_context("spawn")
        self._pipe, theirs = processes.Pipe()
        self._process = processes.Process(target=_serve, args=(theirs, make, arguments), daemon=True)
        self._process.start()
        theirs.close()
        self.alive = True
        try:
            self._reply()
        except Unsupported:
            self.close()
            raise

    def call(self, method: str, *arguments: Any) -> Any:
        """The result of the method in that process. Raises `Unsupported` with its failure, or if the process ends."""
        try:
            self._pipe.send((method, *arguments))
        except OSError:
            raise self._ended() from None
        return self._reply()

    def _reply(self) -> Any:
        try:
            reply = self._pipe.recv()
        except (EOFError, OSError):
            raise self._ended() from None
        if isinstance(reply, Unsupported):
            raise reply
        return reply

    def _ended(self) -> Unsupported:
        self.alive = False
        self._process.join(5)
        code = self._process.exitcode or 0
        return Unsupported(f"its process ended, {f'by {signal.Signals(-code).name}' if code < 0 else f'status {code}'}")

    def close(self) -> None:
        """Ends the process."""
        self.alive = False
        with suppress(OSError):
            self._pipe.send(())
        self._pipe.close()
        self._process.join(5)
        if self._process.is_alive():
            self._process.terminate()
