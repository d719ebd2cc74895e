"""Many subscriptions, matched together in about the time of a parse.

    Index ──► Snapshot ──► Engine, Engine, …          one engine for each thread that matches
                 │            └── one matcher for each segment, warm across documents
                 └── segments (levels), positions that are gone, who stands where

A change makes a new snapshot and swaps it in; a match in progress keeps the one it began with, the next
document sees the new one.  Engines are handed out to one thread at a time and bring themselves up to date
when they are.
"""

from __future__ import annotations

import os
import threading
import warnings
import weakref
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from twigcast.analysis import SchemaAutomaton
from twigcast.document import Document, DocumentLimits, document_error, read
from twigcast.errors import DocumentError, PatternError, SubscriptionError
from twigcast.filtering.batches import Bodies, Rows
from twigcast.filtering.compiling import Compiler
from twigcast.filtering.engine import duplicate_id, unknown_id
from twigcast.filtering.index_file import read_index, write_index
from twigcast.filtering.kernel._kernel import SegmentMatcher as Engine
from twigcast.filtering.kernel._kernel import Vocabulary, build
from twigcast.filtering.levels import (
    SMALL,
    Level,
    has_bit,
    make_level,
    mergeable,
    merged,
    replaced,
    set_bit,
    with_added,
    with_bit,
)
from twigcast.filtering.program_cache import Assembler
from twigcast.filtering.results import (
    BatchMatch,
    CostlySubscription,
    Match,
    RefusedSubscription,
    Selected,
    Stats,
)
from twigcast.filtering.roster import Roster
from twigcast.filtering.tuning import Tuning
from twigcast.pattern import Explanation, Pattern, PatternLimits, explain, matches, parse, render, select
from twigcast.system import garbage_collection_paused


class SubscriptionWarning(UserWarning):
    """Some subscriptions of a batch were refused; ``Index.refused`` says which and why."""


@dataclass(frozen=True, slots=True, eq=False)
class _Snapshot:
    """Everything a match reads; never changed, only replaced."""

    levels: tuple[Level, ...]
    roster: Roster
    size: int  # positions given out
    gone: bytes  # bitmap
    inexact: bytes  # bitmap of those whose candidates must be confirmed


class Index:
    """Subscriptions by id; ``match`` tells which of them a document matches."""

    def __init__(
        self,
        subscriptions: Iterable[tuple[Any, ...]] = (),
        *,
        namespaces: Mapping[str, str] | None = None,
        limits: DocumentLimits | None = None,
        pattern_limits: PatternLimits | None = None,
        tuning: Tuning | None = None,
    ) -> None:
        """``subscriptions`` are ``(id, xpath)`` or ``(id, xpath, namespaces)``; ``namespaces`` are for all.

        Those outside the language are left out: see ``refused``.
        """
        self.limits = limits or DocumentLimits()
        self.pattern_limits = pattern_limits or PatternLimits()
        self.namespaces = dict(namespaces or {})
        self.refused: tuple[RefusedSubscription, ...] = ()
        self.tuning = tuning or Tuning()
        self._compiler = Compiler()
        self._patterns: dict[int, Pattern | SchemaAutomaton] = {}  # of inexact positions
        self._confirmations: Counter[int] = Counter()
        self._snapshot = _Snapshot((), Roster(), 0, b"", b"")
        self._engines: list[Engine] = []
        self._every_engine: weakref.WeakSet[Engine] = weakref.WeakSet()
        self._lock = threading.RLock()
        self._merging: threading.Thread | None = None
        _indexes.add(self)
        self.refused = tuple(self.add_all(subscriptions))
        if self.refused:
            first = self.refused[0]
            warnings.warn(
                f"{len(self.refused)} subscriptions were refused, the first ({first.id!r}): {first.error}",
                SubscriptionWarning,
                stacklevel=2,
            )

    # Matching

    def match(self, body: bytes) -> Match:
        """Which subscriptions the document matches; an unreadable document is an error in the result."""
        with self._engine() as (engine, snapshot):
            found, suspect, error = engine.match(body)
        if error is not None:
            return Match((), _fault(error, body), snapshot.roster)
        positions = memoryview(found).cast("I")
        if suspect:
            return Match(self._confirmed(body, positions, snapshot), None, snapshot.roster)
        return Match(positions, None, snapshot.roster)

    def count(self, body: bytes) -> int:
        """How many subscriptions the document matches; raises ``DocumentError``."""
        with self._engine() as (engine, _):
            found, suspect, error = engine.count(body)
        if error is not None:
            raise _fault(error, body)
        return len(self.match(body)) if suspect else found

    def match_batch(self, bodies: Any) -> BatchMatch:
        """Which subscriptions each document of an Arrow array matches, as positions; the GIL is released."""
        batch = Bodies(bodies)
        with self._engine() as (engine, snapshot):
            offsets, positions, suspects, failures = engine.match_batch(
                batch.offsets, batch.wide, len(batch), batch.valid, batch.data
            )
        errors: list[DocumentError | None] = [None] * len(batch)
        for row, error in failures:
            errors[row] = _fault(error, batch[row])
        rows = Rows(offsets, positions)
        if suspects:
            rows = rows.replaced({row: self._confirmed(batch[row], rows[row], snapshot) for row in suspects})
        present: list[bool] = []
        if failures or batch.valid:
            valid = batch.valid or bytes([1]) * len(batch)
            present = [error is None and there == 1 for error, there in zip(errors, valid, strict=True)]
        return BatchMatch(rows.to_arrow(len(batch), present), errors, snapshot.roster)

    def select(self, body: bytes, id: Hashable) -> list[Selected]:
        """The nodes a subscription selects in the document, as byte ranges; raises ``DocumentError``."""
        pattern = self.pattern(id)
        return [
            Selected(node.start, node.end, type(node).__name__.lower())
            for node in select(pattern, read(body, self.limits))
        ]

    def explain(self, body: bytes, id: Hashable) -> Explanation:
        """Which steps and predicates held for a subscription, where it stopped; raises ``DocumentError``."""
        return explain(self.pattern(id), read(body, self.limits))

    # Subscriptions

    def add(
        self,
        id: Hashable,
        xpath: str | Pattern | SchemaAutomaton,
        namespaces: Mapping[str, str] | None = None,
    ) -> None:
        """Subscribe; the next document sees it.  Raises ``PatternError`` or ``SubscriptionError``.

        A ``SchemaAutomaton`` matches the documents that it describes.
        """
        pattern = self._parsed(xpath, namespaces)
        with self._lock:
            snapshot = self._snapshot
            if snapshot.roster.find(id) is not None:
                raise duplicate_id(id)
            program = self._compiler.compile(pattern)
            position = snapshot.roster.append(id, _text(xpath, namespaces, self.namespaces, pattern))
            levels = with_added(snapshot.levels, self._compiler.vocabulary, position, program.words)
            inexact = snapshot.inexact
            if not program.exact:
                self._patterns[position] = pattern
                inexact = with_bit(inexact, position)
            self._snapshot = replace(snapshot, levels=levels, size=position + 1, inexact=inexact)
            self._merge()

    def add_all(self, subscriptions: Iterable[tuple[Any, ...]]) -> list[RefusedSubscription]:
        """Subscribe many at once; those that cannot be are returned with their errors, the others added."""
        refused: list[RefusedSubscription] = []
        with self._lock, garbage_collection_paused():
            snapshot = self._snapshot
            roster = snapshot.roster
            positions: list[int] = []
            programs: list[bytes] = []
            inexact = bytearray(snapshot.inexact)
            assembler = None
            if not self.namespaces and self.pattern_limits == PatternLimits():
                assembler = Assembler(self._compiler)
            for id, xpath, *rest in list(subscriptions):
                namespaces = rest[0] if rest else None
                words = None
                if assembler is not None and not namespaces and isinstance(xpath, str):
                    words = assembler.assembled(xpath)
                try:
                    pattern = self._parsed(xpath, namespaces) if words is None else None
                    if roster.find(id) is not None:
                        raise duplicate_id(id)
                except (PatternError, SubscriptionError) as error:
                    refused.append(RefusedSubscription(id, error))
                    continue
                if words is not None:
                    positions.append(roster.append(id, xpath))
                    programs.append(words)
                    continue
                assert pattern is not None
                program = self._compiler.compile(pattern)
                position = roster.append(id, _text(xpath, namespaces, self.namespaces, pattern))
                positions.append(position)
                programs.append(program.words)
                if not program.exact:
                    self._patterns[position] = pattern
                    set_bit(inexact, position)
            if positions:
                level = make_level(self._compiler.vocabulary, positions, programs)
                self._snapshot = replace(
                    snapshot, levels=(*snapshot.levels, level), size=len(roster), inexact=bytes(inexact)
                )
                self._merge()
        return refused

    def remove(self, id: Hashable) -> None:
        """Unsubscribe; the next document sees it.  Raises ``SubscriptionError`` where the id is unknown."""
        with self._lock:
            snapshot = self._snapshot
            if snapshot.roster.find(id) is None:
                raise unknown_id(id)
            position = snapshot.roster.forget(id)
            self._patterns.pop(position, None)
            self._snapshot = replace(snapshot, gone=with_bit(snapshot.gone, position))
            if len(snapshot.roster) > 2 * snapshot.roster.living_count + 4096:
                self._compact()

    def pattern(self, id: Hashable) -> Pattern:
        """The pattern of a subscription; raises ``SubscriptionError`` where the id is unknown."""
        with self._lock:
            roster = self._snapshot.roster
            position = roster.find(id)
            if position is None:
                raise unknown_id(id)
            found = self._entry(position, roster)
        if isinstance(found, SchemaAutomaton):
            raise SubscriptionError(f"{id!r} is a schema, not a pattern", code="not-a-pattern", id=id)
        return found

    @property
    def ids(self) -> list[Hashable]:
        """The ids, in the order they were added."""
        with self._lock:
            return [id for id, _ in self._snapshot.roster.living()]

    def __contains__(self, id: Hashable) -> bool:
        with self._lock:
            return self._snapshot.roster.find(id) is not None

    def __len__(self) -> int:
        return self._snapshot.roster.living_count

    def __repr__(self) -> str:
        return f"<Index of {len(self):,} subscriptions>"

    # As a file

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the index as one file, at once or not at all."""
        with self._lock:
            snapshot = self._snapshot
            roster = snapshot.roster
            living = list(roster.living())
            segment = self._segment_of(living)
            inexact = []
            if snapshot.inexact:
                inexact = [i for i, (_, position) in enumerate(living) if has_bit(snapshot.inexact, position)]
            texts = [roster.text(position) for _, position in living]
        write_index(Path(path), segment, [id for id, _ in living], texts, inexact)

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        limits: DocumentLimits | None = None,
        tuning: Tuning | None = None,
    ) -> Index:
        """Map an index file, read-only and shared; raises ``IndexFileError``.  Changes stay in memory."""
        stored = read_index(Path(path))
        index = cls(limits=limits, tuning=tuning)
        inexact = bytearray()
        for position in stored.inexact:
            set_bit(inexact, position)
        level = Level(stored.segment, [], [], stored=True)
        roster = Roster(stored.ids, stored.texts)
        index._snapshot = _Snapshot((level,), roster, len(roster), b"", bytes(inexact))
        return index

    def stats(self) -> Stats:
        """What the index holds, what its engines have learnt, and which subscriptions cost most."""
        snapshot = self._snapshot
        engines = list(self._every_engine)
        learnt = [each for engine in engines for each in engine.statistics()]
        tries = sum(each["memo_tries"] for each in learnt)
        return Stats(
            subscriptions=len(self),
            bytes=sum(level.segment.bytes for level in snapshot.levels),
            segments=len(snapshot.levels),
            inexact=sum(byte.bit_count() for byte in snapshot.inexact),
            engines=len(engines),
            documents=sum(
                max((each["documents"] for each in engine.statistics()), default=0) for engine in engines
            ),
            cache_bytes=sum(each["bytes"] for each in learnt),
            path_nodes=sum(each["path_nodes"] for each in learnt),
            memo_hit_rate=sum(each["memo_hits"] for each in learnt) / tries if tries else 0.0,
            flushes=sum(each["flushes"] for each in learnt),
            costliest=self._costliest(snapshot, engines),
        )

    # Within

    def _segment_of(self, living: list[tuple[Hashable, int]]) -> bytes:
        """One segment of all that are there, at positions without gaps."""
        levels = [level for level in self._snapshot.levels if not level.stored]
        if (
            len(self._snapshot.levels) == len(levels) == 1
            and levels[0].size == len(living) == self._snapshot.size
        ):
            return bytes(levels[0].segment.owner)
        known = {
            position: program
            for level in levels
            for position, program in zip(level.positions, level.programs, strict=True)
        }
        roster = self._snapshot.roster
        programs = [
            known[position]
            if position in known
            else self._compiler.compile(self._entry(position, roster)).words
            for _, position in living
        ]
        return build(self._compiler.vocabulary, list(range(len(living))), programs)  # type: ignore[no-any-return]

    def _parsed(
        self, xpath: str | Pattern | SchemaAutomaton, namespaces: Mapping[str, str] | None
    ) -> Pattern | SchemaAutomaton:
        if isinstance(xpath, Pattern | SchemaAutomaton):
            return xpath
        bound = self.namespaces if namespaces is None else {**self.namespaces, **namespaces}
        return parse(xpath, bound, self.pattern_limits)

    def _entry(self, position: int, roster: Roster) -> Pattern | SchemaAutomaton:
        known = self._patterns.get(position)
        if known is not None:
            return known
        text = roster.text(position)
        if text.startswith("{"):
            return SchemaAutomaton.from_text(text)
        return parse(text, None, self.pattern_limits)

    @contextmanager
    def _engine(self) -> Iterator[tuple[Engine, _Snapshot]]:
        snapshot = self._snapshot
        try:
            engine = self._engines.pop()
        except IndexError:
            limits = self.limits
            engine = Engine(
                self.tuning.cache_bytes,
                self.tuning.programs,
                self.tuning.memo,
                limits.bytes,
                limits.depth,
                limits.attributes,
                limits.amplification,
                limits.amplification_threshold,
            )
            self._every_engine.add(engine)
        if engine.version is not snapshot:
            segments = tuple(level.segment for level in snapshot.levels)
            engine.use(snapshot, segments, snapshot.size, snapshot.gone, snapshot.inexact)
        try:
            yield engine, snapshot
        finally:
            self._engines.append(engine)

    def _confirmed(self, body: bytes, positions: Iterable[int], snapshot: _Snapshot) -> list[int]:
        document: Document | None = None
        kept = []
        for position in positions:
            if has_bit(snapshot.inexact, position):
                document = document or read(body, self.limits)
                self._confirmations[position] += 1
                pattern = self._entry(position, snapshot.roster)
                if isinstance(pattern, Pattern) and not matches(pattern, document):
                    continue
            kept.append(position)
        return kept

    def _merge(self) -> None:
        """Bring the levels in order: small merges now, large ones in the background."""
        while (pair := mergeable(self._snapshot.levels)) is not None:
            if pair[0].size + pair[1].size > SMALL:
                if self._merging is None:
                    self._merging = threading.Thread(
                        target=self._merge_apart, args=(pair, self._compiler.vocabulary.copy()), daemon=True
                    )
                    self._merging.start()
                return
            self._replace(pair, merged(*pair, self._compiler.vocabulary, self._is_gone))

    def _merge_apart(self, pair: tuple[Level, Level], vocabulary: Vocabulary) -> None:
        level = merged(*pair, vocabulary, self._is_gone)
        with self._lock:
            self._merging = None
            self._replace(pair, level)
            self._merge()

    def _replace(self, pair: tuple[Level, Level], level: Level) -> None:
        self._snapshot = replace(self._snapshot, levels=replaced(self._snapshot.levels, pair, level))

    def _is_gone(self, position: int) -> bool:
        return has_bit(self._snapshot.gone, position)

    def _compact(self) -> None:
        """Give new positions to those that are there, once most are gone."""
        snapshot = self._snapshot
        roster = Roster()
        compiler = Compiler()
        patterns: dict[int, Pattern | SchemaAutomaton] = {}
        programs: list[bytes] = []
        inexact = bytearray()
        for id, old in snapshot.roster.living():
            pattern = self._entry(old, snapshot.roster)
            program = compiler.compile(pattern)
            position = roster.append(id, snapshot.roster.text(old))
            programs.append(program.words)
            if not program.exact:
                patterns[position] = pattern
                set_bit(inexact, position)
        self._compiler, self._patterns = compiler, patterns
        levels = (make_level(compiler.vocabulary, list(range(len(roster))), programs),) if programs else ()
        self._snapshot = _Snapshot(levels, roster, len(roster), b"", bytes(inexact))

    def _costliest(self, snapshot: _Snapshot, engines: list[Engine]) -> tuple[CostlySubscription, ...]:
        looked_at: Counter[int] = Counter()
        documents = 0
        for engine in engines:
            sampled, counts = engine.candidates(32)
            documents += sampled
            for position, count in counts:
                looked_at[position] += count
        ranked = sorted(
            {*dict(looked_at.most_common(10)), *dict(self._confirmations.most_common(10))},
            key=lambda position: (-self._confirmations[position], -looked_at[position], position),
        )
        return tuple(
            CostlySubscription(
                snapshot.roster[position],
                1000 * looked_at[position] / documents if documents else 0.0,
                self._confirmations[position],
            )
            for position in ranked
            if position < snapshot.size and not has_bit(snapshot.gone, position)
        )[:10]

    def _after_fork(self) -> None:
        self._lock = threading.RLock()
        self._merging = None


def _fault(error: tuple[int, int, int, int], body: bytes) -> DocumentError:
    code, line, column, offset = error
    return document_error(code, line, column, offset, body)


def _text(
    xpath: str | Pattern | SchemaAutomaton,
    namespaces: Mapping[str, str] | None,
    common: Mapping[str, str],
    pattern: Pattern | SchemaAutomaton,
) -> str:
    """The expression as kept: as it was given where no prefixes are bound, else in its canonical form."""
    if isinstance(pattern, SchemaAutomaton):
        return pattern.to_text()
    return xpath if isinstance(xpath, str) and not namespaces and not common else render(pattern)


_indexes: weakref.WeakSet[Index] = weakref.WeakSet()


def _after_fork_in_child() -> None:
    for index in list(_indexes):
        index._after_fork()


os.register_at_fork(after_in_child=_after_fork_in_child)
