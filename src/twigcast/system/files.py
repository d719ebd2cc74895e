"""Writes files atomically and durably: a file is replaced as a whole, and is on disk when the call returns.

    write .name.xyz ──► fsync ──► rename to name ──► fsync the folder

Invariant: a file under its final name is always complete.  A process that is killed in between leaves the old
file, or none, and a temporary file whose name begins with a dot.
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
    """Open a file that replaces ``path`` when the block ends, and is deleted if the block raises."""
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
    """Replace a file atomically by ``content``."""
    with atomic_file(path, mode=mode) as file:
        file.write(content)


def sync_folder(folder: Path) -> None:
    """Sync a folder: a renamed file is not durable until its folder is synced."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
