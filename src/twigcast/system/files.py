"""Files that are written whole or not at all, and are on disk when the call returns.

    write .name.tmp ──► fsync ──► rename to name ──► fsync the folder

Invariant: under its final name a file is always complete.  A process that is killed in between leaves the old
file, or none, and a temporary file that begins with a dot.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def atomic_file(path: Path, *, mode: int = 0o644) -> Iterator[IO[bytes]]:
    """A file to write to; it replaces ``path`` when the block ends, and vanishes if the block raises."""
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    sync_folder(path.parent)


def write_atomically(path: Path, content: bytes, *, mode: int = 0o644) -> None:
    """Write a file whole or not at all."""
    with atomic_file(path, mode=mode) as file:
        file.write(content)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable: a renamed file is not, until its folder is synced."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
