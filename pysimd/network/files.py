"""Files that are complete or as before, and what files of models begin with."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from pysimd.network.mapped import refuse_devices

MAGIC = b"simdnet model "  # of the files that ``saved`` reads


def is_saved(path: Any) -> bool:
    """Whether a file has our own format. Raises OSError if it cannot be read, ValueError if it is not a file."""
    refuse_devices(path)
    with open(path, "rb") as file:
        return file.read(len(MAGIC)) == MAGIC


@contextmanager
def whole(path: Any) -> Iterator[BinaryIO]:
    """A file to write, under another name in the same folder: it is renamed at the end, and deleted after an exception.

    Raises OSError for a path that is a folder or is in none, before anything is written: later ones tell the other name.
    """
    import tempfile  # which takes longer than to read a model

    target = os.fsdecode(path)
    folder, last = os.path.split(target)
    if os.path.isdir(target):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), target)
    if folder and not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), folder)
    handle, name = tempfile.mkstemp(dir=folder or ".", prefix=f".{last}.")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, target)
    except BaseException:
        os.unlink(name)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
