"""The log of empty files that the batches of a stream took, so that each is reported once.

    work/empty-files.json      {"12": ["file:/feed/a.xml"], "17": ["file:/feed/b.xml", …]}

Spark leaves empty files out of its batches, and they are added; see ``jvm.empty_files``.  A batch that is run
again finds the files that it took the first time.  Batches without empty files have no entry.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from twigcast.errors import SourceError
from twigcast.system import write_atomically


class EmptyFileLog:
    """The empty files of each batch, in a file."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def take(self, batch: int, find: Callable[[Sequence[str]], Sequence[str]]) -> Sequence[str]:
        """The empty files of a batch: those in the log, or else what ``find`` returns, which is logged.

        ``find`` is called with the files that earlier batches took.
        """
        logged = self._read()
        if str(batch) in logged:
            return logged[str(batch)]
        found = list(find([path for paths in logged.values() for path in paths]))
        if found:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(self._file, json.dumps({**logged, str(batch): found}).encode())
        return found

    def batches(self) -> dict[int, list[str]]:
        """The empty files by batch."""
        return {int(batch): paths for batch, paths in self._read().items()}

    def _read(self) -> dict[str, list[str]]:
        try:
            logged: dict[str, list[str]] = json.loads(self._file.read_bytes())
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            message = f"the log of empty files cannot be read: {error}"
            raise SourceError(message, code="unreadable", path=str(self._file)) from None
        return logged
