"""The journal of a pipeline: the index version, mappings and start time of each batch, before it starts.

    journal/
        12.json          {"batch": 12, "version": "34", "time": "2031-05-06T07:08:09.101112+00:00"}
        13.json
        -1.json          a retry of dead letters, or a replay: both are numbered downwards
        -1.done

With mediation, an entry also has the set of mappings, under ``mappings``; that of a replay has ``replay``.

Invariant: an entry is written once, atomically, with fsync, and never changes.  So a batch that is run again
after a kill, however often, finds the version, the mappings and the time of its first start.
There is one file for each batch rather than one file that grows: writing an entry is a rename, no line can be
torn, and old entries are removed by their number.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from twigcast.errors import RunError
from twigcast.system import write_atomically

KEPT = 10_000

_NUMBER = re.compile(r"-?\d+")


@dataclass(frozen=True, slots=True)
class Entry:
    """The start of a batch: its index version and time, and its set of mappings if there is one."""

    batch: int
    version: str
    time: datetime
    mappings: str | None = None
    is_replay: bool = False


class Journal:
    """The entries of the batches of a pipeline, in a folder; only the last ``kept`` and retries are kept."""

    def __init__(self, folder: str | os.PathLike[str], *, kept: int = KEPT) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self._kept = kept

    def begin(
        self, batch: int, version: str, mappings: str | None = None, *, is_replay: bool = False
    ) -> Entry:
        """Return the entry of a batch; if there is none, a new one is written to disk first."""
        known = self.find(batch)
        if known is not None:
            return known
        entry = Entry(batch, version, datetime.now(UTC), mappings, is_replay)
        content: dict[str, Any] = {"batch": batch, "version": version, "time": entry.time.isoformat()}
        content |= {} if mappings is None else {"mappings": mappings}
        _write(self._file(batch), content | ({"replay": True} if is_replay else {}))
        if batch >= self._kept:  # entries of retries are kept, because they settle dead letters
            self._file(batch - self._kept).unlink(missing_ok=True)
        return entry

    def find(self, batch: int) -> Entry | None:
        """The entry of a batch; none if it was never started.  Raises ``RunError`` if it is damaged."""
        file = self._file(batch)
        try:
            found = json.loads(file.read_text(encoding="utf-8"))
            mappings = found.get("mappings")
            return Entry(
                int(found["batch"]),
                str(found["version"]),
                datetime.fromisoformat(found["time"]),
                None if mappings is None else str(mappings),
                bool(found.get("replay")),
            )
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise RunError(
                f"{file}: the journal entry of batch {batch} cannot be read ({error}): restore the file, "
                "because it has the index version that the batch was begun with"
            ) from None

    def finish(self, batch: int) -> None:
        """Mark a batch as finished; for batches of a stream, Spark's checkpoint does that."""
        _write(self._file(batch).with_suffix(".done"), {"batch": batch})

    def is_finished(self, batch: int) -> bool:
        """Whether the batch was marked as finished."""
        return self._file(batch).with_suffix(".done").exists()

    def batches(self) -> list[int]:
        """The numbers of the batches that have an entry, sorted."""
        return sorted(int(file.stem) for file in self.folder.glob("*.json") if _NUMBER.fullmatch(file.stem))

    def retries(self) -> list[int]:
        """The numbers of the retries of dead letters, the first one first."""
        found = (self.find(batch) for batch in reversed(self.batches()) if batch < 0)
        return [entry.batch for entry in found if entry is not None and not entry.is_replay]

    def entries(self) -> dict[int, Entry]:
        """The entries by batch."""
        return {batch: entry for batch in self.batches() if (entry := self.find(batch)) is not None}

    def needed_versions(self) -> set[str]:
        """The index versions of batches that may be run again."""
        return {entry.version for entry in self._open_entries()}

    def needed_mappings(self) -> set[str]:
        """The sets of mappings of batches that may be run again."""
        return {entry.mappings for entry in self._open_entries() if entry.mappings is not None}

    def _open_entries(self) -> list[Entry]:
        """The entries of batches that may be run again: the last ones, and retries not finished."""
        batches = self.batches()
        again = [batch for batch in batches if batch < 0 and not self.is_finished(batch)]
        entries = [self.find(batch) for batch in (*again, *batches[-2:])]
        return [entry for entry in entries if entry is not None]

    def _file(self, batch: int) -> Path:
        return self.folder / f"{batch}.json"


def _write(file: Path, value: Mapping[str, Any]) -> None:
    write_atomically(file, json.dumps(value).encode("utf-8"))
