"""The index: matches a document against all subscriptions in one pass of the parser.

    Index ──► SubscriptionCollection ──► Snapshot    the current state: levels of segments, and the roster
      │
      └── EnginePool ──► SegmentMatcher, SegmentMatcher, …           one for each thread that matches
                            └── one matcher for each segment, whose caches stay warm

A change makes a new snapshot and swaps it in: a match in progress keeps the snapshot that it began with, and
the next document uses the new one.
"""

from __future__ import annotations

import os
import warnings
import weakref
from collections.abc import Hashable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from twigcast.analysis import SchemaAutomaton
from twigcast.document import (
    AttributeDetail,
    Document,
    DocumentLimits,
    NameTable,
    Node,
    PartCutter,
    PartForm,
    read,
)
from twigcast.errors import SubscriptionError
from twigcast.filtering.collection import SubscriptionCollection
from twigcast.filtering.matching import (
    EnginePool,
    LentEngine,
    PartialMatcher,
    match_document,
    match_documents,
    match_structure,
    match_structures,
    match_with_structure,
    reading_fault,
    structure_of,
)
from twigcast.filtering.mediation import RewritingCache, Unknown, is_as_is, sources_of
from twigcast.filtering.mediation.rewriting import Rewritings
from twigcast.filtering.results import (
    BatchMatch,
    Match,
    RefusedSubscription,
    Selected,
    Stats,
    StructureBatch,
    StructureMatch,
    rank_costliest,
)
from twigcast.filtering.segment_file import StoredSegment, read_segment
from twigcast.filtering.subscription_ids import unknown_id
from twigcast.filtering.tuning import Tuning
from twigcast.pattern import (
    Explanation,
    Pattern,
    PatternLimits,
    Subscriptions,
    explain,
    select,
)
from twigcast.system import Buffer, flat_buffer


class SubscriptionWarning(UserWarning):
    """Some subscriptions of a batch were refused; ``Index.refused`` says which and why."""


class Index:
    """Compiled subscriptions by id; ``match`` returns those that a document matches."""

    def __init__(
        self,
        subscriptions: Subscriptions = (),
        *,
        namespaces: Mapping[str, str] | None = None,
        limits: DocumentLimits | None = None,
        pattern_limits: PatternLimits | None = None,
        tuning: Tuning | None = None,
    ) -> None:
        """``subscriptions`` is a dict of ids and expressions, or an iterable of ``Subscription`` values,
        ``(id, xpath)`` or ``(id, xpath, namespaces)``.

        ``namespaces`` binds prefixes for all of them.  A subscription that is outside the language, or whose
        id is in use, is left out and listed in ``refused``, and a ``SubscriptionWarning`` is issued.
        """
        self._begin(
            SubscriptionCollection(namespaces or {}, pattern_limits or PatternLimits()), limits, tuning
        )
        self.refused: tuple[RefusedSubscription, ...] = tuple(self.add_all(subscriptions))
        if self.refused:
            first = self.refused[0]
            warnings.warn(
                f"{len(self.refused)} subscriptions were refused, the first ({first.id!r}): {first.error}",
                SubscriptionWarning,
                stacklevel=2,
            )

    def _begin(
        self, collection: SubscriptionCollection, limits: DocumentLimits | None, tuning: Tuning | None
    ) -> None:
        self.limits = limits or DocumentLimits()
        self.tuning = tuning or Tuning()
        self._collection = collection
        self._rewritings = RewritingCache()
        self._pool = EnginePool(collection, self.limits, self.tuning)
        _indexes.add(self)

    @property
    def namespaces(self) -> Mapping[str, str]:
        """The prefixes that are bound for all subscriptions; the file that ``save`` writes has them."""
        return self._collection.namespaces

    @property
    def pattern_limits(self) -> PatternLimits:
        """How complex a subscription may be."""
        return self._collection.limits

    # Matching

    def match(
        self,
        body: Buffer,
        rewriting: Rewritings | None = None,
        unknown: Unknown = "dead-letter",
    ) -> Match:
        """The subscriptions that the document matches; if it cannot be read, the result has the error.

        With ``rewriting``, one mapping or several, the document is matched as the mapping of its root element
        rewrites it.  A document without a mapping is an error, or with ``unknown="as-is"`` matched as it is.
        """
        with self._engine(rewriting, unknown) as engine:
            return match_document(engine, flat_buffer(body))

    def count(
        self,
        body: Buffer,
        rewriting: Rewritings | None = None,
        unknown: Unknown = "dead-letter",
    ) -> int:
        """The number of subscriptions that the document matches; raises ``DocumentError``."""
        body = flat_buffer(body)
        with self._engine(rewriting, unknown) as engine:
            found, error = engine.kernel.count(body)
            if error is not None:
                raise reading_fault(engine, error, body, engine.kernel.rewritten()[3])
        return int(found)

    def match_batch(
        self,
        bodies: Any,
        rewriting: Rewritings | None = None,
        which: Sequence[str | None] | None = None,
        unknown: Unknown = "dead-letter",
    ) -> BatchMatch:
        """Match each document of an Arrow array; the result has positions.  The GIL is released meanwhile.

        ``which`` has the name of the mapping of each document, None where the root element decides.
        """
        with self._engine(rewriting, unknown) as engine:
            return match_documents(engine, bodies, which)

    # Structures

    def structure(
        self,
        body: Buffer,
        names: NameTable | None = None,
        attributes: AttributeDetail = "count",
        rewriting: Rewritings | None = None,
        unknown: Unknown = "dead-letter",
    ) -> bytes:
        """The structure of a document, or of what it is rewritten to, for ``match_structure`` elsewhere.

        Names that are in the table ``names`` are written as numbers.  With ``attributes="names"`` the names
        of attributes are recorded, so that tests of their existence are decided, too.
        Raises ``DocumentError``, or ``StructureError`` if the structure is beyond a limit.
        """
        with self._engine(rewriting, unknown) as engine:
            return structure_of(engine, flat_buffer(body), names, attributes)

    def match_with_structure(
        self,
        body: Buffer,
        names: NameTable | None = None,
        attributes: AttributeDetail = "count",
        rewriting: Rewritings | None = None,
        unknown: Unknown = "dead-letter",
    ) -> Match:
        """Match a document and write its structure in the same pass: ``match``, with ``Match.structure``."""
        with self._engine(rewriting, unknown) as engine:
            return match_with_structure(engine, flat_buffer(body), names, attributes)

    def match_structure(self, structure: Buffer, names: NameTable | None = None) -> StructureMatch:
        """The subscriptions that a document with this structure matches, and those that are left open.

        ``names`` is the table that the structure was written with, if it was written with one.
        """
        with self._engine(None, "dead-letter") as engine:
            return match_structure(engine, flat_buffer(structure), names)

    def match_structures(self, structures: Any, names: NameTable | None = None) -> StructureBatch:
        """Match each structure of an Arrow array, as ``match_structure`` does."""
        with self._engine(None, "dead-letter") as engine:
            return match_structures(engine, structures, names)

    # Parts of documents

    def partials(self) -> PartialMatcher:
        """A matcher for parts of documents, for the subscriptions of this moment; later changes do not count.

        It matches each part by itself, in any order, and joins what the parts show to the answer of the whole
        document.  ``FragmentIndex`` does this for documents that arrive in fragments.
        """
        return PartialMatcher(self._pool, self._collection.snapshot)

    # Nodes

    def select(
        self,
        body: Buffer,
        id: Hashable,
        rewriting: Rewritings | None = None,
        unknown: Unknown = "dead-letter",
    ) -> list[Selected]:
        """The nodes that a subscription selects in the document, as byte ranges.

        With ``rewriting``, these are the nodes of the document from which the selected ones were made.
        Raises ``DocumentError`` if the document cannot be read, ``EvaluationError`` if this takes too long.
        """
        _, found = self._selected(body, id, rewriting, unknown)
        return [Selected(node.start, node.end, type(node).__name__.lower()) for node in found]

    def parts(
        self,
        body: Buffer,
        id: Hashable,
        form: PartForm = "document",
        rewriting: Rewritings | None = None,
        unknown: Unknown = "dead-letter",
    ) -> Iterator[bytes]:
        """The nodes that a subscription selects in the document, each as a document of its own.

        An element gets the namespaces that it uses, and the encoding and entities of its document; with the
        ``form`` ``"range"`` it is the bare range of bytes.  Raises ``DocumentError``, also if the parts are
        larger together than the limits allow; they are copied one after the other.
        """
        document, found = self._selected(body, id, rewriting, unknown)
        return PartCutter(document, form, self.limits).cut(found)

    def explain(
        self,
        body: Buffer,
        id: Hashable,
        *,
        namespaces: Mapping[str, str] | None = None,
        rewriting: Rewritings | None = None,
        unknown: Unknown = "dead-letter",
    ) -> Explanation:
        """Explain why a subscription matches the document, or where it fails, and what is there instead.

        Names are written with the prefixes of ``namespaces``, by default those that are bound for the whole
        index, or else with the prefixes of the document.
        Raises ``DocumentError`` if the document cannot be read, ``EvaluationError`` if this takes too long.
        """
        pattern, text = self._found(id)
        body = flat_buffer(body)
        return explain(
            pattern,
            self._image(body, rewriting, unknown),
            self.limits.steps(len(body)),
            namespaces=self.namespaces if namespaces is None else namespaces,
            text=None if text == str(pattern) else text,
        )

    # Subscriptions

    def add(
        self,
        id: Hashable,
        xpath: str | Pattern | SchemaAutomaton,
        namespaces: Mapping[str, str] | None = None,
    ) -> None:
        """Add a subscription, which applies from the next document on.

        Raises ``PatternError`` if it is outside the language, ``SubscriptionError`` if the id is in use.

        A ``SchemaAutomaton`` matches the documents that it describes.
        """
        self._collection.add((id, xpath, namespaces))

    def bind(self, namespaces: Mapping[str, str]) -> None:
        """Bind prefixes for the subscriptions that are added from now on; the others stay as they are."""
        self._collection.bind(namespaces)

    def add_all(self, subscriptions: Subscriptions) -> list[RefusedSubscription]:
        """Add many subscriptions in one change; returns those that are refused, with their errors.

        They are given as for a new index; anything else is a ``TypeError``, and nothing is added.
        """
        return self._collection.add_all(subscriptions)

    def remove(self, id: Hashable) -> None:
        """Remove a subscription from the next document on; raises ``SubscriptionError`` if it is unknown."""
        self._collection.remove(id)

    def pattern(self, id: Hashable) -> Pattern:
        """The pattern of a subscription; raises ``SubscriptionError`` if the id is unknown or is a schema."""
        return self._found(id)[0]

    def _found(self, id: Hashable) -> tuple[Pattern, str]:
        """The pattern of a subscription, and the text that is kept of it."""
        with self._collection.lock:
            roster = self._collection.snapshot.roster
            position = roster.find(id)
            if position is None:
                raise unknown_id(id)
            found = roster.pattern(position, self.pattern_limits)
            text = roster.text(position)
        if isinstance(found, SchemaAutomaton):
            raise SubscriptionError(f"{id!r} is a schema, not a pattern", code="not-a-pattern", id=id)
        return found, text

    def patterns(self) -> list[tuple[Hashable, Pattern]]:
        """The ids and patterns of all subscriptions, without schemas, in the order they were added."""
        with self._collection.lock:
            roster = self._collection.snapshot.roster
            found = [(id, roster.pattern(at, self.pattern_limits)) for id, at in roster.living()]
        return [(id, pattern) for id, pattern in found if isinstance(pattern, Pattern)]

    def position(self, id: Hashable) -> int | None:
        """The position of a subscription, as it appears in matches; none if the id is unknown."""
        with self._collection.lock:
            return self._collection.snapshot.roster.find(id)

    @property
    def ids(self) -> list[Hashable]:
        """The ids of all subscriptions, in the order they were added."""
        with self._collection.lock:
            return [id for id, _ in self._collection.snapshot.roster.living()]

    def rows(self) -> Any:
        """The subscriber of each position: an Arrow table of ``subscription``, ``subscriber``, ``pattern``.

        ``pattern`` is set only for subscriptions that receive the selected parts; it is null for those that
        receive the whole document.
        """
        with self._collection.lock:
            return self._collection.snapshot.roster.table()

    @property
    def position_count(self) -> int:
        """The number of positions assigned so far; every position in a match is below it."""
        return self._collection.snapshot.size

    def __contains__(self, id: Hashable) -> bool:
        with self._collection.lock:
            return self._collection.snapshot.roster.find(id) is not None

    def __len__(self) -> int:
        return self._collection.snapshot.roster.living_count

    def __repr__(self) -> str:
        return f"<Index of {len(self):,} subscriptions>"

    # As files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the index as one file, atomically."""
        self._collection.save(Path(path))

    def save_segments(self, folder: Path) -> list[str]:
        """Write the levels that have no file yet, and return the names of all segment files of the index.

        Files are named by a hash of their content; an index version is the list of these names.
        """
        return self._collection.save_levels(folder)

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        limits: DocumentLimits | None = None,
        pattern_limits: PatternLimits | None = None,
        tuning: Tuning | None = None,
    ) -> Index:
        """Open an index file by mapping it read-only; raises ``IndexFileError``.

        All processes share its pages, and later changes of the index stay in memory.
        """
        stored = [read_segment(Path(path))]
        return cls.of_segments(stored, limits=limits, pattern_limits=pattern_limits, tuning=tuning)

    @classmethod
    def of_segments(
        cls,
        segments: Sequence[StoredSegment],
        *,
        limits: DocumentLimits | None = None,
        pattern_limits: PatternLimits | None = None,
        tuning: Tuning | None = None,
        warm_from: Index | None = None,
    ) -> Index:
        """The index of an index version, given its segment files.

        The new index takes over the engines of ``warm_from``, an index with the same limits and tuning: their
        caches for the segments that both indexes have stay warm.
        """
        index = cls.__new__(cls)
        collection = SubscriptionCollection.open(segments, pattern_limits or PatternLimits())
        index._begin(collection, limits, tuning)
        index.refused = ()
        if warm_from is not None:
            index._pool.share(warm_from._pool)
        return index

    def stats(self) -> Stats:
        """The size of the index, the state of its caches, and the subscriptions that cost most."""
        snapshot = self._collection.snapshot
        engines = self._pool.engines()
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
            cache_bytes=sum(each["bytes"] for each in learnt)
            + sum(engine.confirmations()[2] for engine in engines),
            path_nodes=sum(each["path_nodes"] for each in learnt),
            memo_hit_rate=sum(each["memo_hits"] for each in learnt) / tries if tries else 0.0,
            flushes=sum(each["flushes"] for each in learnt),
            steps=sum(each["work"] for each in learnt),
            undecided=sum(engine.confirmations()[1] for engine in engines),
            costliest=rank_costliest(snapshot.roster, snapshot.size, engines),
        )

    # Within

    def _engine(self, rewriting: Rewritings | None, unknown: Unknown) -> LentEngine:
        rewritings = self._rewritings.get(rewriting) if rewriting is not None else None
        return self._pool.lend(rewritings, is_as_is(unknown))

    def _image(self, body: bytes | memoryview, rewriting: Rewritings | None, unknown: Unknown) -> Document:
        if rewriting is None:
            return read(body, self.limits)
        return self._rewritings.get(rewriting).image(body, self.limits, unknown)

    def _selected(
        self, given: Buffer, id: Hashable, rewriting: Rewritings | None, unknown: Unknown
    ) -> tuple[Document, list[Node]]:
        """The document, and the nodes of it that a subscription selects: each once, in document order."""
        body = flat_buffer(given)
        image = self._image(body, rewriting, unknown)
        found = select(self.pattern(id), image, self.limits.steps(len(body)))
        return sources_of(image, found)


_indexes: weakref.WeakSet[Index] = weakref.WeakSet()


def _after_fork_in_child() -> None:
    for index in list(_indexes):
        index._collection.after_fork()
        index._rewritings.after_fork()


os.register_at_fork(after_in_child=_after_fork_in_child)
