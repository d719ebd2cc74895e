"""Which index version each batch was begun with, on disk before the batch touches anything.

    journal/
        12.json          {"batch": 12, "version": "34", "time": "2031-05-06T07:08:09.101112+00:00"}
        13.json
        -1.json          a retry of dead letters: those batches count downwards
        -1.done

Invariant: an entry is written once, at once or not at all, and synced; it never changes.  So a batch that is
run again after a kill, however often, finds the version and the time of its first begin.
One file for each batch, rather than one that grows: an entry is a rename, no line can be torn, and old ones
are dropped by their number.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

KEPT = 10_000


@dataclass(frozen=True, slots=True)
class Entry:
    """How a batch was begun: its index version, and when."""

    batch: int
    version: str
    time: datetime


class Journal:
    """The entries of a pipeline's batches in a folder; only the last ``kept`` of a stream are."""

    def __init__(self, folder: str | os.PathLike[str], *, kept: int = KEPT) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self._kept = kept

    def begin(self, batch: int, version: str) -> Entry:
        """The entry of a batch: the one that is there, else a new one, on disk when this returns."""
        known = self.find(batch)
        if known is not None:
            return known
        entry = Entry(batch, version, datetime.now(UTC))
        _write(self._file(batch), {"batch": batch, "version": version, "time": entry.time.isoformat()})
        if batch >= self._kept:  # entries of retries stay: they say which dead letters are settled
            self._file(batch - self._kept).unlink(missing_ok=True)
        return entry

    def find(self, batch: int) -> Entry | None:
        """The entry of a batch that was begun."""
        try:
            found = json.loads(self._file(batch).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        return Entry(found["batch"], found["version"], datetime.fromisoformat(found["time"]))

    def finish(self, batch: int) -> None:
        """Note that a batch is done.  Those of a stream are noted by Spark; this is for the others."""
        _write(self._file(batch).with_suffix(".done"), {"batch": batch})

    def is_finished(self, batch: int) -> bool:
        """Whether the batch was noted as done."""
        return self._file(batch).with_suffix(".done").exists()

    def batches(self) -> list[int]:
        """The batches that have an entry, in order."""
        return sorted(int(file.stem) for file in self.folder.glob("*.json") if not file.name.startswith("."))

    def entries(self) -> dict[int, Entry]:
        """The entries by batch."""
        return {batch: entry for batch in self.batches() if (entry := self.find(batch)) is not None}

    def _file(self, batch: int) -> Path:
        return self.folder / f"{batch}.json"


def _write(file: Path, value: Mapping[str, Any]) -> None:
    """Write a file at once or not at all, and have it on disk, name and all."""
    temporary = file.with_name(f".{file.name}.{os.getpid()}")
    with temporary.open("w", encoding="utf-8") as stream:
        json.dump(value, stream)
        stream.flush()
        os.fsync(stream.fileno())
    temporary.replace(file)
    folder = os.open(file.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
