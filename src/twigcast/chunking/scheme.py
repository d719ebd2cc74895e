"""How a document is cut for a set of queries: chunks, their queries, and what is kept for them.

A chunk is one of three kinds:

    divided     whole subtrees at record paths, in parts of bounded size; its queries run on each part alone
    one         one document: the targets, and whatever predicates above them look at
    whole       the document itself, for queries that look at more than can be cut out

Each answer has one owner: the chunk to which the target belongs that contains its label path.  A query may
have targets in several chunks, and a chunk may contain tags of elements that belong to another one.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from twigcast.chunking.kept_paths import KeptPaths
from twigcast.chunking.outline import Names, Outline
from twigcast.chunking.profile import Profile
from twigcast.chunking.query import ChunkQuery
from twigcast.chunking.reach.needs import Need, Target
from twigcast.chunking.reach.targets import PlacedTarget
from twigcast.document import LabelPath
from twigcast.errors import TwigcastError

ChunkKind: TypeAlias = Literal["divided", "one", "whole"]


@dataclass(frozen=True, slots=True)
class PlacedQuery:
    """A query with its targets; without one, ``never`` says why, and ``whole`` why it takes the document."""

    query: ChunkQuery
    targets: tuple[PlacedTarget, ...] = ()
    never: str = ""
    whole: str = ""
    error: TwigcastError | None = None


@dataclass(frozen=True, slots=True)
class Chunk:
    """What is kept of the document for some targets of some queries.

    ``prefix`` is the label path by which it was chosen, None for the rest; ``targets`` are by the position of
    the query in the scheme; ``records`` are the label paths of the subtrees of a divided chunk.
    """

    number: int
    kind: ChunkKind
    prefix: Names | None
    targets: dict[int, tuple[Target, ...]]
    records: tuple[Names, ...] = ()
    needs: frozenset[Need] = frozenset()
    weight: float = 0.0
    priority: int = 0

    @property
    def name(self) -> str:
        """A name for files and people: ``people-person``, ``rest`` or ``document``."""
        if self.kind == "whole":
            return "document"
        return "-".join(local for _, local in self.prefix[1:]) if self.prefix else "rest"

    @property
    def is_divided(self) -> bool:
        """Whether the chunk is divided into parts."""
        return self.kind == "divided"


@dataclass(frozen=True, slots=True)
class Scheme:
    """A plan for cutting documents; ``str`` is a picture of it."""

    queries: tuple[PlacedQuery, ...]
    chunks: tuple[Chunk, ...]
    outline: Outline
    profile: Profile | None = None
    _owners: dict[tuple[int, LabelPath], Chunk | None] = field(
        default_factory=dict, repr=False, compare=False
    )

    def __reduce__(self) -> tuple[type[Scheme], tuple[object, ...]]:
        """Pickle a scheme without what it has looked up."""
        return Scheme, (self.queries, self.chunks, self.outline, self.profile)

    def owner(self, query: int, path: LabelPath) -> Chunk | None:
        """The chunk that has the answers of a query, by its position, at a label path; None if none has."""
        key = query, path
        if key not in self._owners:
            self._owners[key] = next(
                (
                    chunk
                    for chunk in self.chunks
                    if any(contains(target, path) for target in chunk.targets.get(query, ()))
                ),
                None,
            )
        return self._owners[key]

    def decisions(self) -> KeptPaths:
        """What is kept of each element in each chunk."""
        return KeptPaths([chunk.needs for chunk in self.chunks])

    @property
    def never(self) -> list[tuple[Hashable, str]]:
        """The queries that cannot match by the schema, and why."""
        return [(each.query.id, each.never) for each in self.queries if each.never]

    @property
    def whole(self) -> list[tuple[Hashable, str]]:
        """The queries that take the whole document, and the word that makes them."""
        return [(each.query.id, each.whole) for each in self.queries if each.whole]

    @property
    def refused(self) -> list[tuple[Hashable, TwigcastError]]:
        """The queries that cannot be used, and why."""
        return [(each.query.id, each.error) for each in self.queries if each.error is not None]

    def __str__(self) -> str:
        from twigcast.chunking.picture import draw

        return draw(self)


def contains(target: Target, path: LabelPath) -> bool:
    """Whether a label path of a document is in a target."""
    names = target.path
    if len(path) != len(names) and not (target.is_open and len(path) > len(names)):
        return False
    return all(
        local == own and (uri is None or uri == namespace)
        for (uri, local), (namespace, own) in zip(names, path, strict=False)
    )
