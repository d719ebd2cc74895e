r"""The log of the files that a stream has taken from a local source, in lists that are one batch each.

    work/feed/
        7              a list: this file has its number, and Spark's stream reads it
        .7.json        the files of the list: [path, length, refusal], …
        .taken         null, the files, and the number of each list that is done, one a line; it only grows
        .batches       the lists of each batch: [batch, [list, …]], one line each; it only grows

A list is written before Spark is told of it, and never changes, so a batch that is run again has the same
files.  The files have times of change in the order of the numbers, which is the order in which Spark takes
them.

Invariant: a file is in one list at most.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from twigcast.errors import SourceError
from twigcast.spark.sources.listing.places import Place
from twigcast.system import write_atomically

_REFUSED = re.compile("(link|special|unreadable):(/.*)", re.DOTALL)
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
        _append(
            self.folder / ".taken",
            (value for each in done for value in (None, *(place.key for place in self.places(each)), each)),
        )
        for each in done:
            (self.folder / str(each)).unlink(missing_ok=True)
            (self.folder / f".{each}.json").unlink(missing_ok=True)
        self._lists = [each for each in self._lists if each not in done]

    def note(self, batch: int, lists: Sequence[int]) -> None:
        """Remember which lists a batch has, for replays; to be called before the batch is run."""
        _append(self.folder / ".batches", [[batch, list(lists)]])

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
        for value in _lines(self.folder / ".taken"):
            if isinstance(value, str):
                yield value

    def _after_taken(self) -> int:
        taken = _lines(self.folder / ".taken")
        return max((value + 1 for value in taken if isinstance(value, int)), default=0)


def taken_places(folder: Path) -> dict[int, list[Place]]:
    """The files that each batch has had, by its number; a stream may be adding batches at the same time.

    Lists are read before the log of those that are done, so that one that is just being moved is seen.
    """
    lists: dict[int, list[Place]] = {}
    batch_of = {number: batch for batch, numbers in _batches(folder) for number in numbers}
    for number in batch_of:
        with suppress(FileNotFoundError):
            rows = json.loads((folder / f".{number}.json").read_bytes())
            lists[number] = [Place(*row) for row in rows]
    waiting: list[Place] = []
    for value in _lines(folder / ".taken"):
        if value is None:  # what stands before it is of a list that was cut off, and is written again
            waiting = []
        elif isinstance(value, int):
            lists[value] = waiting
            waiting = []
        elif isinstance(value, str):
            refused = _REFUSED.fullmatch(value)
            waiting.append(Place(value, 0) if refused is None else Place(refused[2], 0, refused[1]))
    found: dict[int, list[Place]] = {}
    for number in sorted(lists):
        found.setdefault(batch_of.get(number, number), []).extend(lists[number])
    return found


def _batches(folder: Path) -> Iterator[tuple[int, list[int]]]:
    for value in _lines(folder / ".batches"):
        if isinstance(value, list):
            yield int(value[0]), [int(number) for number in value[1]]


def _append(file: Path, values: Iterable[object]) -> None:
    """Append values to a log of JSON lines, durably; the rest of a line that a kill cut off is ended."""
    with file.open("ab+") as log:
        if log.tell():
            log.seek(-1, os.SEEK_END)
            if log.read(1) != b"\n":
                log.write(b"\n")
        for value in values:
            log.write(json.dumps(value).encode() + b"\n")
        log.flush()
        os.fsync(log.fileno())


def _lines(file: Path) -> Iterator[object]:
    """The values of a log; a line that is cut off is left out, because what it says is written again."""
    try:
        with file.open("rb") as log:
            for line in log:
                with suppress(ValueError):
                    yield json.loads(line)
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
