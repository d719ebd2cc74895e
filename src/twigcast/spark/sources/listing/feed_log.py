r"""The log of the files that a stream has taken from a local source, in lists that are one batch each.

    work/feed/
        7              a list: this file has its number, and Spark's stream reads it
        .7.json        the files of the list: [path, length, refusal], …
        .taken         the files of lists that are done, one line each; it only grows

A list is written before Spark is told of it, and never changes, so a batch that is run again has the same
files.  The files have times of change in the order of the numbers, which is the order in which Spark takes
them.

Invariant: a file is in one list at most.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from twigcast.errors import SourceError
from twigcast.spark.sources.listing.places import Place
from twigcast.system import write_atomically

KEPT = 3
"""The number of last lists whose files are kept, because their batches may be run again."""


class FeedLog:
    """The lists of a stream, in a folder; raises ``SourceError`` if a file in it is damaged."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._lists = sorted(self._numbers())
        self._next = self._lists[-1] + 1 if self._lists else self._after_taken()
        self._seen = set(self._taken())
        for number in self._lists:
            self._seen.update(place.key for place in self.places(number))

    def add(self, places: Iterable[Place], *, most_files: int | None, most_bytes: int | None) -> int:
        """Write lists of those places that are in no list yet; returns the number of the lists."""
        before = self._next
        new = [place for place in places if place.key not in self._seen]
        for some in _divided(new, most_files, most_bytes):
            self._write(some)
        return self._next - before

    def places(self, number: int) -> list[Place]:
        """The files of a list."""
        file = self.folder / f".{number}.json"
        try:
            return [Place(path, length, refusal) for path, length, refusal in json.loads(file.read_bytes())]
        except (OSError, ValueError, TypeError) as error:
            message = f"the list of files of a batch cannot be read: {error}"
            raise SourceError(message, code="unreadable", path=str(file)) from None

    def settle(self, number: int) -> None:
        """Remove the files of lists that were done when this list was begun."""
        done = [each for each in self._lists if each <= number - KEPT]
        if not done:
            return
        file = self.folder / ".taken"
        with file.open("ab+") as log:
            if log.tell():
                log.seek(-1, os.SEEK_END)
                if log.read(1) != b"\n":  # the line that a kill cut off is still in a list
                    log.write(b"\n")
            for each in done:
                for place in self.places(each):
                    log.write(json.dumps(place.key).encode() + b"\n")
                log.write(b"%d\n" % each)
            log.flush()
            os.fsync(log.fileno())
        for each in done:
            (self.folder / str(each)).unlink(missing_ok=True)
            (self.folder / f".{each}.json").unlink(missing_ok=True)
        self._lists = [each for each in self._lists if each not in done]

    def _write(self, places: Sequence[Place]) -> None:
        number = self._next
        rows = [[place.path, place.length, place.refusal] for place in places]
        write_atomically(self.folder / f".{number}.json", json.dumps(rows).encode())
        hidden = self.folder / f".{number}.new"
        hidden.write_bytes(b"%d\n" % number)
        os.utime(hidden, (_EPOCH + number, _EPOCH + number))
        hidden.replace(self.folder / str(number))
        self._next += 1
        self._lists.append(number)
        self._seen.update(place.key for place in places)

    def _numbers(self) -> Iterator[int]:
        for name in os.listdir(self.folder):
            if name.isdecimal():
                yield int(name)

    def _taken(self) -> Iterator[str]:
        for value in self._taken_lines():
            if isinstance(value, str):
                yield value

    def _after_taken(self) -> int:
        return max((value + 1 for value in self._taken_lines() if isinstance(value, int)), default=0)

    def _taken_lines(self) -> Iterator[object]:
        """The values of the log; a line that is cut off is one whose list still exists."""
        try:
            with (self.folder / ".taken").open("rb") as log:
                for line in log:
                    try:
                        yield json.loads(line)
                    except ValueError:
                        continue
        except FileNotFoundError:
            return


_EPOCH = 1_000_000_000


def _divided(
    places: Sequence[Place], most_files: int | None, most_bytes: int | None
) -> Iterator[list[Place]]:
    """The places in lists that have at most so many files and bytes, or are one file."""
    some: list[Place] = []
    size = 0
    for place in places:
        if some and (
            len(some) == most_files or (most_bytes is not None and size + place.length > most_bytes)
        ):
            yield some
            some, size = [], 0
        some.append(place)
        size += place.length
    if some:
        yield some
