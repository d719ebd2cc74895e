"""The bytes of a segment file: a small file is read, a large one is mapped, and watched while it is in use.

A process that touches a mapped page which the file no longer has is killed by the operating system (SIGBUS),
and no one can catch that in time.  Twigcast never changes a file in place: it writes a new one and renames
it, and a mapping keeps the old one.  Other programs do (``cp new.tci live.tci`` truncates first), so:

* A file of at most ``READ`` bytes is read into memory, which takes as long as mapping and checking it (about
  1 ms for 1 MiB); nothing that happens to the file afterwards matters.
* Of a larger file the size and the time of the last change are compared whenever a match begins or rows are
  looked up, by one ``fstat``: 1 to 3 µs, beside at least 50 µs for a document.  A file that is changed within
  these few microseconds, or during the match itself, still ends the process.
"""

from __future__ import annotations

import mmap
import os
from pathlib import Path

from twigcast.errors import IndexFileError

READ = 1 << 20


class MappedFile:
    """The content of a file, as a view that stays valid for as long as one of its parts is in use."""

    def __init__(self, path: Path) -> None:
        """Read or map a file; raises ``IndexFileError``."""
        self.path = path
        self._descriptor = -1
        try:
            descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        except (OSError, ValueError) as error:
            raise _unreadable(path, error) from error
        try:
            found = os.fstat(descriptor)
            self._state = (found.st_size, found.st_mtime_ns)
            if found.st_size <= READ:
                with os.fdopen(os.dup(descriptor), "rb") as file:
                    self.view = memoryview(file.read(READ + 1))
            else:
                self.view = memoryview(mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ))
                self._descriptor, descriptor = descriptor, -1
        except (OSError, ValueError) as error:
            raise _unreadable(path, error) from error
        finally:
            if descriptor >= 0:
                os.close(descriptor)

    @property
    def is_mapped(self) -> bool:
        """Whether the content would change with the file, so that ``check`` is needed."""
        return self._descriptor >= 0

    def check(self) -> None:
        """Raise ``IndexFileError`` if the file was changed since it was opened: it must not be used."""
        if self._descriptor < 0:
            return
        found = os.fstat(self._descriptor)
        if (found.st_size, found.st_mtime_ns) != self._state:
            code = "truncated" if found.st_size < self._state[0] else "altered"
            raise IndexFileError(
                f"{self.path} was changed in place while it was open; write a new file and rename it, then "
                "open the index again",
                code=code,
            )

    def __del__(self) -> None:
        if getattr(self, "_descriptor", -1) >= 0:
            os.close(self._descriptor)


def _unreadable(path: Path, error: Exception) -> IndexFileError:
    reason = getattr(error, "strerror", None) or str(error)
    return IndexFileError(f"cannot read the index {path}: {reason}", code="unreadable")
