"""Makes a scheme from queries and an outline; no document is needed.

    queries ─► targets, record paths ─► query tree ─► prefixes ─► chunks with their needs

Each target belongs to the deepest prefix at or above its record path.  Local targets of a prefix are a
divided chunk, the others (wide targets) a chunk that is one document; what is under no prefix is the rest,
which the paper calls potpourri.  Only what is looked at is kept; ``whole`` keeps all below a prefix, and for
the rest the document, as the paper does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, TypeAlias

from twigcast.chunking.outline import Names, Outline, spelled
from twigcast.chunking.prefixes import CHUNKS, choose
from twigcast.chunking.profile import Profile
from twigcast.chunking.query import ChunkQuery
from twigcast.chunking.query_tree import QueryTree
from twigcast.chunking.reach.full_xpath import reach_of, terms_of
from twigcast.chunking.reach.needs import Need, Target, exactly, outside_word, path_needs, target_needs
from twigcast.chunking.reach.targets import PlacedTarget, find_targets, missing_step, place
from twigcast.chunking.scheme import Chunk, ChunkKind, PlacedQuery, Scheme
from twigcast.document import Keep
from twigcast.errors import ChunkingError, TwigcastError
from twigcast.pattern import Pattern, parse
from twigcast.schema import ElementGraph

Algorithm: TypeAlias = Callable[[QueryTree, int], list[Names]]


def plan(
    queries: Iterable[ChunkQuery],
    schema: ElementGraph | None = None,
    *,
    profile: Profile | None = None,
    chunks: int = CHUNKS,
    algorithm: Algorithm = choose,
    whole: bool = False,
    weigh: Literal["queries", "bytes"] = "queries",
) -> Scheme:
    """The scheme for some queries, from a schema or from the profile of a sample.

    A profile beside a schema only adds sizes; with ``weigh="bytes"`` a target weighs as much as its share of
    the queries times its bytes in the profile.  Raises ``ChunkingError`` if there is neither.  A query that
    cannot be used does not stop the others: ``Scheme.refused`` has it.
    """
    if weigh == "bytes" and profile is None:
        raise ChunkingError("weighing by bytes needs a sample of the document", code="no-schema")
    if schema is not None:
        outline = Outline.of_graph(schema)
    elif profile is not None:
        outline = Outline.of_profile(profile)
    else:
        raise ChunkingError("a plan needs a schema or a sample of the document", code="no-schema")
    placed = [place_query(query, outline) for query in queries]
    prefixes = algorithm(query_tree(placed, profile if weigh == "bytes" else None), chunks)
    return assemble(placed, prefixes, outline, profile=profile, whole=whole)


def place_query(query: ChunkQuery, outline: Outline) -> PlacedQuery:
    """A query with its targets and their record paths."""
    try:
        if query.value is not None and not query.within:
            return PlacedQuery(query, whole="a value of the document")
        pattern = query.pattern
        if query.runs_on_lxml and query.function is None:
            terms_of(query)
        if pattern is None or query.within:
            return _placed_outside(query, outline)
        if word := outside_word(pattern):
            return PlacedQuery(query, whole=word)
        targets = find_targets(pattern, outline)
        if not targets:
            return PlacedQuery(query, never=missing_step(pattern, outline))
        return PlacedQuery(query, tuple(place(pattern, target, outline) for target in targets))
    except TwigcastError as error:
        return PlacedQuery(query, error=error)


def _placed_outside(query: ChunkQuery, outline: Outline) -> PlacedQuery:
    """A query outside the language, or whose author says what it looks at.

    It is local at the elements of ``within``, or needs the whole document.
    """
    within, word = query.within, "no path in within"
    if query.function is None and not within:
        within, word = reach_of(query)
    if not within:
        return PlacedQuery(query, whole=word)
    pattern = _path_of_names(query, "within", within)
    for path in query.needs:
        _path_of_names(query, "each of needs", path)
    targets = [Target(target.path, is_open=True) for target in _outermost(find_targets(pattern, outline))]
    if not targets:
        return PlacedQuery(query, never=missing_step(pattern, outline))
    if any(len(target.path) < 2 for target in targets):
        return PlacedQuery(query, whole="the root element")
    return PlacedQuery(
        query, tuple(PlacedTarget(target, None if query.needs else target.path) for target in targets)
    )


def _path_of_names(query: ChunkQuery, what: str, text: str) -> Pattern:
    pattern = parse(text, query.namespaces)
    for path in pattern.alternatives:
        if path.filters or path.tail or any(step.predicates for step in path.steps):
            message = f"the query {query.id}: {what} is a path of names, not {text}"
            raise ChunkingError(message, code="looks-outside", query=query.id)
    return pattern


def _outermost(targets: Sequence[Target]) -> list[Target]:
    """The targets that lie in no other, if each is taken with all below it."""
    paths = {target.path for target in targets}
    return [
        target
        for target in targets
        if not any(target.path[:depth] in paths for depth in range(len(target.path)))
    ]


def query_tree(placed: Iterable[PlacedQuery], sizes: Profile | None = None) -> QueryTree:
    """The tree of record paths, for wide targets of their own paths, with the weights of the queries.

    With ``sizes``, a weight is multiplied by the bytes that the profile has at the target.
    """
    tree = QueryTree()
    for each in placed:
        for target in each.targets:
            path = target.target.path if target.record is None else target.record
            size = 1 if sizes is None else sizes.bytes_at(target.target.path)
            tree.add(path, each.query.weight / len(each.targets) * size)
    return tree


def assemble(
    placed: Sequence[PlacedQuery],
    prefixes: Sequence[Names],
    outline: Outline,
    *,
    profile: Profile | None = None,
    whole: bool = False,
) -> Scheme:
    """The scheme for prefixes that were chosen in whatever way: answers do not depend on them."""
    groups: dict[tuple[Names | None, ChunkKind], _Group] = {}
    deepest_first = sorted(prefixes, key=len, reverse=True)
    for number, each in enumerate(placed):
        for target in each.targets:
            path = target.target.path if target.record is None else target.record
            prefix = next((prefix for prefix in deepest_first if path[: len(prefix)] == prefix), None)
            kind: ChunkKind = "divided" if prefix is not None and target.record is not None else "one"
            group = groups.setdefault((prefix, kind), _Group())
            group.add(number, each, target, kind)
        if each.whole:
            groups.setdefault((None, "whole"), _Group()).add_whole(number, each)
    order = {prefix: number for number, prefix in enumerate(sorted(prefixes, key=spelled))}
    kinds = ("divided", "one", "whole")
    keys = sorted(groups, key=lambda key: (order.get(key[0] or (), len(order)), kinds.index(key[1])))
    chunks = [groups[key].chunk(number, *key, whole=whole) for number, key in enumerate(keys, 1)]
    return Scheme(tuple(placed), tuple(chunks), outline, profile)


class _Group:
    """The targets of one chunk while it is put together."""

    def __init__(self) -> None:
        self.targets: dict[int, list[Target]] = {}
        self.records: dict[Names, None] = {}
        self.needs: set[Need] = set()
        self.weight = 0.0
        self.priorities: list[int] = []

    def add(self, number: int, query: PlacedQuery, target: PlacedTarget, kind: ChunkKind) -> None:
        self.targets.setdefault(number, []).append(target.target)
        self.weight += query.query.weight / len(query.targets)
        self.priorities.append(query.query.priority)
        if kind == "divided":
            assert target.record is not None
            self.records[target.record] = None
            self.needs.add(Need(exactly(target.record), Keep.TREE))
        else:
            self.needs.update(_needs(query.query, target.target))

    def add_whole(self, number: int, query: PlacedQuery) -> None:
        self.targets[number] = [Target((), is_open=True)]
        self.weight += query.query.weight
        self.priorities.append(query.query.priority)
        self.needs.add(Need((), Keep.TREE))

    def chunk(self, number: int, prefix: Names | None, kind: ChunkKind, *, whole: bool) -> Chunk:
        needs = self.needs
        if whole:
            needs = needs | {Need(exactly(prefix or ()), Keep.TREE)}
        return Chunk(
            number,
            kind,
            prefix,
            {query: tuple(targets) for query, targets in self.targets.items()},
            tuple(self.records),
            frozenset(needs),
            self.weight,
            min(self.priorities, default=0),
        )


def _needs(query: ChunkQuery, target: Target) -> Iterator[Need]:
    if query.pattern is not None and not query.within:
        yield from target_needs(query.pattern, target, content=query.answers == "content")
        return
    yield Need(exactly(target.path), Keep.TREE)
    for text in query.needs:
        for path in parse(text, query.namespaces).alternatives:
            yield from path_needs((), path, Keep.TREE)
