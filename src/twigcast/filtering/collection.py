"""The changing subscriptions of an index, published as immutable snapshots.

    add, remove ──► Snapshot ──► read by engines          a match in progress keeps the snapshot it began with
                       │
                       ├── save            writes all living subscriptions as one segment file
                       └── save_levels     writes a file for each level that has none yet: an index version

Every method holds one lock, except for large merges: a background thread makes the merged level and takes the
lock only to swap it in.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

from twigcast.analysis import SchemaAutomaton
from twigcast.errors import IndexFileError, PatternError, SubscriptionError
from twigcast.filtering.compiling import Compiler
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
from twigcast.filtering.subscription_ids import duplicate_id, unknown_id
from twigcast.pattern import (
    RESERVED,
    Content,
    Pattern,
    PatternLimits,
    Subscription,
    Subscriptions,
    check_content,
    check_names,
    check_size,
    check_text,
    given_subscriptions,
    parse,
    printed_id,
    render,
)
from twigcast.system import garbage_collection_paused

COMPILED_AT_ONCE = 256  # expressions that are compiled while the lock is held: a few milliseconds


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """Everything that a match reads; a snapshot never changes, a change of subscriptions makes a new one."""

    levels: tuple[Level, ...]
    roster: Roster
    size: int  # number of positions assigned so far
    gone: bytes  # bitmap of removed positions
    inexact: bytes  # bitmap of positions whose candidates are decided on a tree
    _version: list[bytes] = field(default_factory=list, init=False, repr=False)

    @property
    def version(self) -> bytes:
        """A hash of the compiled subscriptions, computed when it is first asked for: it reads all of them."""
        if not self._version:
            content = blake2b(digest_size=16)
            for level in self.levels:
                if not level.is_empty:
                    content.update(level.segment.owner)
            for bitmap in (self.gone, self.inexact):
                content.update(blake2b(bitmap).digest())
            self._version.append(content.digest())
        return self._version[0]


@dataclass(frozen=True, slots=True)
class _New:
    """A compiled subscription that is not added yet: its row in the roster, and its program."""

    id: Hashable
    text: str
    subscriber: str
    part: bool
    words: bytes
    pattern: Pattern | SchemaAutomaton | None  # kept if the program is inexact and candidates need it


class SubscriptionCollection:
    """Compiled subscriptions by id; ``snapshot`` is the current state, for engines to read."""

    def __init__(self, namespaces: Mapping[str, str], limits: PatternLimits) -> None:
        self.namespaces = dict(namespaces)
        self.limits = limits
        self.snapshot = Snapshot((), Roster(), 0, b"", b"")
        self.lock = threading.RLock()
        self._compiler = Compiler()
        self._unrecorded: list[int] = []  # removed positions that no written version has as tombstones yet
        self._merging: threading.Thread | None = None

    @classmethod
    def open(cls, segments: Sequence[StoredSegment], limits: PatternLimits) -> SubscriptionCollection:
        """The collection of all subscriptions in these segment files, which together are an index version.

        Raises ``IndexFileError`` if the files do not follow one another.
        """
        collection = cls({}, limits)
        for segment in segments:
            collection.bind(segment.namespaces)
        end = 0
        for segment in segments:
            if segment.first != end:
                raise IndexFileError(
                    f"{segment.file.path} begins at position {segment.first}, but {end} was expected: "
                    "it is only a part of an index, or parts are missing",
                    code="altered",
                )
            end = segment.stop
        gone, inexact = bytearray(), bytearray()
        removed = sorted({position for segment in segments for position in segment.removed})
        files = [segment.file for segment in segments]
        roster = Roster([segment.rows for segment in segments], removed, files)
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

    def bind(self, namespaces: Mapping[str, str]) -> None:
        """Bind prefixes for the subscriptions that are added from now on."""
        with self.lock:
            self.namespaces = {**self.namespaces, **namespaces}

    def add(self, item: Subscription | tuple[Any, ...]) -> None:
        """Add one subscription; raises ``PatternError`` or ``SubscriptionError``."""
        with self.lock:
            id = _id(item)
            _check_hashable(id)
            if self.snapshot.roster.find(id) is not None:
                raise duplicate_id(id)
            self._append([self._compiled(item)])

    def add_all(self, items: Subscriptions) -> list[RefusedSubscription]:
        """Add many subscriptions in one change; returns those that are refused, with their errors.

        If ``items`` raises or is no such thing, or the call is interrupted, nothing is added.
        """
        refused: list[RefusedSubscription] = []
        given = given_subscriptions(
            items
        )  # before the lock is taken, since it may take long, or use this collection
        with self.lock, garbage_collection_paused():
            roster = self.snapshot.roster
            cache = self._program_cache()
            added: dict[Hashable, _New] = {}
            for item in given:
                id = _id(item)
                try:
                    _check_hashable(id)
                    if id in added or roster.find(id) is not None:
                        raise duplicate_id(id)
                    added[id] = self._compiled(item, cache)
                except (PatternError, SubscriptionError) as error:
                    refused.append(RefusedSubscription(id, error))
            if added:
                self._append(list(added.values()))
        return refused

    def _append(self, added: Sequence[_New]) -> None:
        """Publish compiled subscriptions as a new snapshot, all of them or none."""
        snapshot = self.snapshot
        roster = snapshot.roster
        try:
            inexact = bytearray(snapshot.inexact)
            programs: dict[int, bytes] = {}
            for new in added:
                position = roster.append(new.id, new.text, new.subscriber, new.part)
                programs[position] = new.words
                if new.pattern is not None:
                    roster.keep_pattern(position, new.pattern)
                    set_bit(inexact, position)
            levels = with_added(snapshot.levels, self._compiler.vocabulary, programs)
            self.snapshot = replace(snapshot, levels=levels, size=len(roster), inexact=bytes(inexact))
        except BaseException:  # out of memory, or interrupted
            roster.truncate(self.snapshot.size)
            raise
        self._merge()

    def remove(self, id: Hashable) -> None:
        """Remove a subscription; raises ``SubscriptionError`` if the id is unknown."""
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
        """Write all living subscriptions as one segment file, at consecutive positions from 0."""
        with self.lock:
            snapshot = self.snapshot
            living = [position for _, position in snapshot.roster.living()]
            segment = self._segment_of(living)
            rows = [snapshot.roster.row(position) for position in living]
            inexact = [row for row, position in enumerate(living) if has_bit(snapshot.inexact, position)]
            bound = {
                prefix: uri
                for prefix, uri in self.namespaces.items()
                if isinstance(prefix, str) and isinstance(uri, str)
            }
        write_segment(path, encode_segment(segment, 0, rows, inexact, namespaces=bound))

    def save_levels(self, folder: Path) -> list[str]:
        """Write the levels that have no file yet; returns the names of all files, which are this version."""
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
        """The name of the file of a level in a folder; the file is written if the folder does not have it."""
        if level.file is not None and (folder / level.file).exists():
            return level.file
        snapshot = self.snapshot
        rows = [snapshot.roster.row(position) for position in range(level.first, level.stop)]
        inexact = [
            position
            for position in range(level.first, level.stop)
            if snapshot.inexact and has_bit(snapshot.inexact, position)
        ]
        # A position that was removed after the level was made is a hole in the rows, but its program is still
        # in the segment, so the file must also have a tombstone for it.
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
        """Compile a subscription, or its short form (id, xpath[, namespaces])."""
        usual = self.limits == PatternLimits()
        text: Any
        if isinstance(item, Subscription):
            id, text, subscriber, part = item.id, item.text, item.subscriber, item.deliver == "part"
            # A pattern that was parsed under the usual limits may exceed those of this collection.
            source: Any = item.pattern if item.is_parsed and usual else text
            namespaces: Mapping[str, str] | None = item.namespaces or None
            if id is None:  # a row of a table that others write
                raise SubscriptionError("expected an id, got null", code="unsavable-id", id=id)
            check_content(id, item.deliver)
        else:
            id, source, *rest = item
            namespaces = rest[0] if rest else None
            subscriber, part, text = printed_id(id), False, source
        if isinstance(source, str) or isinstance(item, Subscription) or not str(id).startswith(RESERVED):
            check_names(id, subscriber)
        if cache is not None and not namespaces and isinstance(source, str):
            words = cache.assembled(source)
            if words is not None:
                check_size(id, source, subscriber, None, self.limits)
                return _New(id, text, subscriber, part, words, None)
        if isinstance(item, Subscription) and not self.namespaces and usual:
            pattern: Pattern | SchemaAutomaton = item.pattern
        else:
            pattern = self._parsed(source, namespaces)
        if isinstance(pattern, SchemaAutomaton):
            kept = json.dumps(pattern.to_json(), separators=(",", ":"))
        elif isinstance(text, str) and not namespaces and not self.namespaces:
            kept = text
        else:
            kept = render(pattern)
        if isinstance(text, str):
            check_size(id, text, subscriber, namespaces, self.limits)
        elif isinstance(pattern, Pattern):
            check_text(kept)
        program = self._compiler.compile(pattern)
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
        """The programs of a level; those of a level from a file are compiled again from its expressions."""
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
        """One kernel segment of these positions, renumbered from 0 without gaps."""
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
        """Merge levels until the sizes are in proportion: small merges now, large ones in the background."""
        while (pair := mergeable(self.snapshot.levels)) is not None:
            before, after = pair
            if before.size + after.size > SMALL or before.programs is None or after.programs is None:
                if self._merging is None:
                    self._merging = threading.Thread(target=self._merge_in_background, args=pair, daemon=True)
                    self._merging.start()
                return
            programs = {**before.programs, **after.programs}
            self._replace(pair, merged(*pair, programs, self._compiler.vocabulary, self._is_gone))

    def _merge_in_background(self, before: Level, after: Level) -> None:
        compiler = self._compiler
        programs = {**self._programs_of(before), **self._programs_of(after)}
        with self.lock:
            vocabulary: Vocabulary = compiler.vocabulary.copy()
        level = merged(before, after, programs, vocabulary, self._is_gone)
        with self.lock:
            self._merging = None
            if compiler is self._compiler:  # otherwise ``_compact`` has assigned new positions meanwhile
                self._replace((before, after), level)
            self._merge()

    def _replace(self, pair: tuple[Level, Level], level: Level) -> None:
        self.snapshot = replace(self.snapshot, levels=replaced(self.snapshot.levels, pair, level))

    def _is_gone(self, position: int) -> bool:
        return has_bit(self.snapshot.gone, position)

    def _compact(self) -> None:
        """Assign new positions to the living subscriptions, after most positions have been removed."""
        fresh = SubscriptionCollection({}, self.limits)  # expressions are kept without prefixes
        fresh.add_all(_stored(self.snapshot.roster, self.limits))
        self._compiler, self.snapshot, self._unrecorded = fresh._compiler, fresh.snapshot, []

    def after_fork(self) -> None:
        """Replace the lock and forget the merge: threads of the parent do not exist in a forked child."""
        self.lock = threading.RLock()
        self._merging = None


def _id(item: Subscription | tuple[Any, ...]) -> Hashable:
    id: Hashable = item.id if isinstance(item, Subscription) else item[0]
    return id


def _check_hashable(id: Hashable) -> None:
    try:
        hash(id)
    except TypeError as error:
        message = f"the id, of type {type(id).__name__}, cannot be used: {error}"
        raise SubscriptionError(message, code="unsavable-id", id=None) from error


def _stored(roster: Roster, limits: PatternLimits) -> Iterator[Subscription | tuple[Any, ...]]:
    """The living subscriptions and schemas of a roster, to be added to another collection."""
    for id, position in roster.living():
        if roster.text(position).startswith(SCHEMA):
            yield id, roster.pattern(position, limits)
            continue
        deliver: Content = "part" if roster.is_part(position) else "document"
        yield Subscription(id, roster.text(position), roster.subscriber(position), deliver)
