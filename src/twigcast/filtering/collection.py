"""The subscriptions of an index as they change: a snapshot of levels, replaced by each change.

    add, remove ──► Snapshot ──► read by engines          a match in progress keeps the one it began with
                       │
                       ├── save            one segment file of all that is living
                       └── save_levels     a file for each level that has none yet: an index version

Everything here is done under one lock, except for large merges, which are made by a thread in the background
and swapped in at the end.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from twigcast.analysis import SchemaAutomaton
from twigcast.errors import PatternError, SubscriptionError
from twigcast.filtering.compiling import Compiler
from twigcast.filtering.engine import duplicate_id, unknown_id
from twigcast.filtering.kernel._kernel import Vocabulary, build
from twigcast.filtering.levels import (
    SMALL,
    Level,
    has_bit,
    mergeable,
    merged,
    replaced,
    set_bit,
    with_added,
    with_bit,
    with_tombstones,
)
from twigcast.filtering.program_cache import ProgramCache
from twigcast.filtering.results import RefusedSubscription
from twigcast.filtering.roster import SCHEMA, Roster
from twigcast.filtering.segment_file import (
    StoredSegment,
    encode_segment,
    segment_name,
    write_segment,
)
from twigcast.pattern import Content, Pattern, PatternLimits, Subscription, parse, render
from twigcast.system import garbage_collection_paused

COMPILED_AT_ONCE = 256  # expressions of a stored level, with the lock held: some milliseconds


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """Everything a match reads; never changed, only replaced."""

    levels: tuple[Level, ...]
    roster: Roster
    size: int  # positions given out
    gone: bytes  # bitmap
    inexact: bytes  # bitmap of those whose candidates must be confirmed


@dataclass(frozen=True, slots=True)
class _New:
    """A subscription that can be added: its row, and its program."""

    id: Hashable
    text: str
    subscriber: str
    part: bool
    words: bytes
    pattern: Pattern | SchemaAutomaton | None  # where candidates must be confirmed with it


class SubscriptionCollection:
    """Subscriptions by id, compiled; ``snapshot`` is what there is now."""

    def __init__(self, namespaces: Mapping[str, str], limits: PatternLimits) -> None:
        self.namespaces = dict(namespaces)
        self.limits = limits
        self.snapshot = Snapshot((), Roster(), 0, b"", b"")
        self.lock = threading.RLock()
        self._compiler = Compiler()
        self._unrecorded: list[int] = []  # positions removed since the last version was written
        self._merging: threading.Thread | None = None

    @classmethod
    def open(cls, segments: Sequence[StoredSegment], limits: PatternLimits) -> SubscriptionCollection:
        """What some segment files hold together."""
        collection = cls({}, limits)
        gone, inexact = bytearray(), bytearray()
        removed = sorted({position for segment in segments for position in segment.removed})
        roster = Roster([segment.rows for segment in segments], removed)
        levels = []
        for segment in segments:
            for position in segment.inexact:
                set_bit(inexact, position)
            living = len(segment.rows) - sum(byte.bit_count() for byte in segment.rows.holes)
            levels.append(
                Level(
                    segment.segment,
                    segment.first,
                    segment.stop,
                    None,
                    living,
                    tuple(segment.removed),
                    segment.name,
                )
            )
        for position in removed:
            set_bit(gone, position)
        collection.snapshot = Snapshot(tuple(levels), roster, len(roster), bytes(gone), bytes(inexact))
        return collection

    # Changes

    def add(self, item: Subscription | tuple[Any, ...]) -> None:
        """Add one subscription; raises ``PatternError`` or ``SubscriptionError``."""
        with self.lock:
            snapshot = self.snapshot
            if snapshot.roster.find(_id(item)) is not None:
                raise duplicate_id(_id(item))
            new = self._compiled(item)
            position = snapshot.roster.append(new.id, new.text, new.subscriber, new.part)
            levels = with_added(snapshot.levels, self._compiler.vocabulary, {position: new.words})
            inexact = snapshot.inexact
            if new.pattern is not None:
                snapshot.roster.keep_pattern(position, new.pattern)
                inexact = with_bit(inexact, position)
            self.snapshot = replace(snapshot, levels=levels, size=position + 1, inexact=inexact)
            self._merge()

    def add_all(self, items: Iterable[Subscription | tuple[Any, ...]]) -> list[RefusedSubscription]:
        """Add many subscriptions; those that cannot be added are returned, the others added together."""
        refused: list[RefusedSubscription] = []
        with self.lock, garbage_collection_paused():
            snapshot = self.snapshot
            roster = snapshot.roster
            cache = self._program_cache()
            added: dict[Hashable, _New] = {}
            for item in list(items):
                id = _id(item)
                try:
                    if id in added or roster.find(id) is not None:
                        raise duplicate_id(id)
                    added[id] = self._compiled(item, cache)
                except (PatternError, SubscriptionError) as error:
                    refused.append(RefusedSubscription(id, error))
            if added:
                inexact = bytearray(snapshot.inexact)
                programs: dict[int, bytes] = {}
                for new in added.values():
                    position = roster.append(new.id, new.text, new.subscriber, new.part)
                    programs[position] = new.words
                    if new.pattern is not None:
                        roster.keep_pattern(position, new.pattern)
                        set_bit(inexact, position)
                levels = with_added(snapshot.levels, self._compiler.vocabulary, programs)
                self.snapshot = replace(snapshot, levels=levels, size=len(roster), inexact=bytes(inexact))
                self._merge()
        return refused

    def remove(self, id: Hashable) -> None:
        """Remove a subscription; raises ``SubscriptionError`` where the id is unknown."""
        with self.lock:
            snapshot = self.snapshot
            if snapshot.roster.find(id) is None:
                raise unknown_id(id)
            position = snapshot.roster.forget(id)
            self._unrecorded.append(position)
            self.snapshot = replace(snapshot, gone=with_bit(snapshot.gone, position))
            if len(snapshot.roster) > 2 * snapshot.roster.living_count + 4096:
                self._compact()

    # Files

    def save(self, path: Path) -> None:
        """Write all that is living as one segment file, at positions without gaps."""
        with self.lock:
            snapshot = self.snapshot
            living = [position for _, position in snapshot.roster.living()]
            segment = self._segment_of(living)
            rows = [snapshot.roster.row(position) for position in living]
            inexact = [row for row, position in enumerate(living) if has_bit(snapshot.inexact, position)]
        write_segment(path, encode_segment(segment, 0, rows, inexact))

    def save_levels(self, folder: Path) -> list[str]:
        """Write the levels that have no file yet; the names of all files, which together are this version."""
        with self.lock:
            if self._unrecorded:
                snapshot = self.snapshot
                levels = with_tombstones(
                    snapshot.levels, self._compiler.vocabulary, tuple(self._unrecorded), snapshot.size
                )
                self.snapshot = replace(snapshot, levels=levels)
                self._unrecorded = []
            names = [self._written(level, folder) for level in self.snapshot.levels]
            levels = tuple(
                level if level.file == name else replace(level, file=name)
                for level, name in zip(self.snapshot.levels, names, strict=True)
            )
            self.snapshot = replace(self.snapshot, levels=levels)
            return names

    def _written(self, level: Level, folder: Path) -> str:
        """The name of the file of a level in a folder, written where it is not there."""
        if level.file is not None and (folder / level.file).exists():
            return level.file
        snapshot = self.snapshot
        rows = [snapshot.roster.row(position) for position in range(level.first, level.stop)]
        inexact = [
            position
            for position in range(level.first, level.stop)
            if snapshot.inexact and has_bit(snapshot.inexact, position)
        ]
        # Positions that were removed after the level was made are holes, but still in its segment.
        removed = dict.fromkeys(level.removed)
        for position in level.programs or ():
            if has_bit(snapshot.gone, position):
                removed[position] = None
        pieces = encode_segment(bytes(level.segment.owner), level.first, rows, inexact, removed)
        name = segment_name(pieces)
        if not (folder / name).exists():
            write_segment(folder / name, pieces)
        return name

    # Compiling

    def _compiled(self, item: Subscription | tuple[Any, ...], cache: ProgramCache | None = None) -> _New:
        """What is added for a subscription, or for its short form (id, xpath[, namespaces])."""
        if isinstance(item, Subscription):
            id, text, subscriber, part = item.id, item.text, item.subscriber, item.deliver == "part"
            source: Any = item.pattern if item.is_parsed else text
            namespaces: Mapping[str, str] | None = item.namespaces or None
        else:
            id, source, *rest = item
            namespaces = rest[0] if rest else None
            subscriber, part, text = str(id), False, source
        if cache is not None and not namespaces and isinstance(source, str):
            words = cache.assembled(source)
            if words is not None:
                return _New(id, text, subscriber, part, words, None)
        if isinstance(item, Subscription) and not self.namespaces and self.limits == PatternLimits():
            pattern: Pattern | SchemaAutomaton = item.pattern
        else:
            pattern = self._parsed(source, namespaces)
        program = self._compiler.compile(pattern)
        if isinstance(pattern, SchemaAutomaton):
            kept = json.dumps(pattern.to_json(), separators=(",", ":"))
        elif isinstance(text, str) and not namespaces and not self.namespaces:
            kept = text
        else:
            kept = render(pattern)
        return _New(id, kept, subscriber, part, program.words, None if program.exact else pattern)

    def _parsed(
        self, source: str | Pattern | SchemaAutomaton, namespaces: Mapping[str, str] | None
    ) -> Pattern | SchemaAutomaton:
        if isinstance(source, Pattern | SchemaAutomaton):
            return source
        bound = self.namespaces if namespaces is None else {**self.namespaces, **namespaces}
        return parse(source, bound, self.limits)

    def _program_cache(self) -> ProgramCache | None:
        usual = not self.namespaces and self.limits == PatternLimits()
        return ProgramCache(self._compiler) if usual else None

    def _programs_of(self, level: Level) -> Mapping[int, bytes]:
        """The programs of a level, compiled again from the expressions where it was read from a file."""
        if level.programs is not None:
            return level.programs
        roster = self.snapshot.roster
        programs: dict[int, bytes] = {}
        for start in range(level.first, level.stop, COMPILED_AT_ONCE):
            with self.lock:
                for position in range(start, min(start + COMPILED_AT_ONCE, level.stop)):
                    if roster.is_living(position):
                        pattern = roster.pattern(position, self.limits)
                        programs[position] = self._compiler.compile(pattern).words
        return programs

    def _segment_of(self, living: list[int]) -> bytes:
        """One kernel segment of these positions, numbered without gaps."""
        levels = self.snapshot.levels
        if len(levels) == 1 and levels[0].count == len(living) == self.snapshot.size:
            return bytes(levels[0].segment.owner)
        programs: dict[int, bytes] = {}
        for level in levels:
            programs.update(self._programs_of(level))
        made: bytes = build(
            self._compiler.vocabulary, list(range(len(living))), [programs[position] for position in living]
        )
        return made

    # Merging

    def _merge(self) -> None:
        """Bring the levels in order: small merges now, large ones in the background."""
        while (pair := mergeable(self.snapshot.levels)) is not None:
            before, after = pair
            if before.size + after.size > SMALL or before.programs is None or after.programs is None:
                if self._merging is None:
                    self._merging = threading.Thread(target=self._merge_apart, args=pair, daemon=True)
                    self._merging.start()
                return
            programs = {**before.programs, **after.programs}
            self._replace(pair, merged(*pair, programs, self._compiler.vocabulary, self._is_gone))

    def _merge_apart(self, before: Level, after: Level) -> None:
        compiler = self._compiler
        programs = {**self._programs_of(before), **self._programs_of(after)}
        with self.lock:
            vocabulary: Vocabulary = compiler.vocabulary.copy()
        level = merged(before, after, programs, vocabulary, self._is_gone)
        with self.lock:
            self._merging = None
            if compiler is self._compiler:  # else all positions are new
                self._replace((before, after), level)
            self._merge()

    def _replace(self, pair: tuple[Level, Level], level: Level) -> None:
        self.snapshot = replace(self.snapshot, levels=replaced(self.snapshot.levels, pair, level))

    def _is_gone(self, position: int) -> bool:
        return has_bit(self.snapshot.gone, position)

    def _compact(self) -> None:
        """Give new positions to those that are there, once most are gone."""
        fresh = SubscriptionCollection({}, self.limits)  # expressions are kept without prefixes
        fresh.add_all(_stored(self.snapshot.roster, self.limits))
        self._compiler, self.snapshot, self._unrecorded = fresh._compiler, fresh.snapshot, []

    def after_fork(self) -> None:
        """What a thread of the parent process held is not held here."""
        self.lock = threading.RLock()
        self._merging = None


def _id(item: Subscription | tuple[Any, ...]) -> Hashable:
    id: Hashable = item.id if isinstance(item, Subscription) else item[0]
    return id


def _stored(roster: Roster, limits: PatternLimits) -> Iterator[Subscription | tuple[Any, ...]]:
    """The living subscriptions of a roster, as they were kept, and its schemas."""
    for id, position in roster.living():
        if roster.text(position).startswith(SCHEMA):
            yield id, roster.pattern(position, limits)
            continue
        deliver: Content = "part" if roster.is_part(position) else "document"
        yield Subscription(id, roster.text(position), roster.subscriber(position), deliver)
