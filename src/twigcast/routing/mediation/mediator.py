"""The mediator of a domain: the global schema, and the mapping of each publisher in all its versions.

    proposal = mediator.register("cmu", tree)        pairs with evidence, operators, what has no counterpart
    mapping = mediator.accept("cmu", tree, pairs)    cmu@1, after a person has looked at it
    mediator.grow(larger_tree)                       new versions of those mappings whose operators change
    mediator.withdraw("cmu")                         no new documents; those under way are still understood

A mapping is identified by its hash; ``cmu@3`` is a name for it.  The global schema only grows, so that no
subscription changes its meaning: it can lose a place only while no subscription uses it.
Nothing here sends messages: ``Announce`` each mapping that ``accept`` and ``grow`` return.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from twigcast.analysis import SchemaAutomaton
from twigcast.errors import MappingError
from twigcast.pattern import (
    And,
    Comparison,
    Count,
    Exists,
    Length,
    Not,
    Or,
    Path,
    Pattern,
    Predicate,
    StringTest,
)
from twigcast.rewriting import Mapping as RewritingMapping
from twigcast.rewriting import Operator, SchemaTree, derive, image_automaton

if TYPE_CHECKING:
    from twigcast.rewriting import Matching

DOCUMENT = 1  # the set of positions that has only the document


@dataclass(frozen=True, slots=True)
class Proposal:
    """What the mediator thinks of a new publisher's schema, for a person to review."""

    publisher: str
    source: SchemaTree
    matching: Matching
    operators: tuple[Operator, ...]
    missing: tuple[str, ...]
    """The places of the source without a counterpart in the global schema."""


@dataclass(frozen=True, slots=True)
class _Publisher:
    source: SchemaTree
    pairs: Mapping[str, str]
    versions: tuple[RewritingMapping, ...]
    is_current: bool = True


class Mediator:
    """The global schema of one domain with its publishers; ``name`` is the target of their mappings."""

    def __init__(self, schema: SchemaTree, name: str = "") -> None:
        self.schema, self.name = schema, name
        self._publishers: dict[str, _Publisher] = {}

    def register(self, publisher: str, source: SchemaTree) -> Proposal:
        """Propose a mapping for a publisher; nothing is in use before ``accept``."""
        from twigcast.rewriting import match_schemas  # needs the extra ``schemas``

        matching = match_schemas(source, self.schema)
        operators = derive(source, self.schema, matching.pairs)
        return Proposal(publisher, source, matching, operators, matching.unmatched)

    def accept(self, publisher: str, source: SchemaTree, pairs: Mapping[str, str]) -> RewritingMapping:
        """Take pairs of places into use; the next version of the publisher's mapping.

        If they give the mapping that is in use already, that one is returned.  Raises ``MappingError``.
        """
        operators = derive(source, self.schema, pairs)
        before = self._publishers.get(publisher)
        versions = before.versions if before is not None else ()
        version = versions[-1].version + 1 if versions else 1
        mapping = RewritingMapping(publisher, source, operators, version, self.name)
        if versions and before is not None and before.is_current and versions[-1] == mapping:
            mapping = versions[-1]
        else:
            versions = (*versions, mapping)
        self._publishers[publisher] = _Publisher(source, dict(pairs), versions)
        return mapping

    def withdraw(self, publisher: str) -> None:
        """End the use of a publisher's mapping for new documents; its versions stay known by their hash."""
        known = self._known(publisher)
        self._publishers[publisher] = _Publisher(known.source, known.pairs, known.versions, False)

    def forget(self, reference: str) -> None:
        """Drop an old version, when no document of it can be under way; raises ``MappingError``."""
        mapping = self.find(reference)
        known = self._publishers[mapping.name]
        if known.is_current and known.versions[-1] is mapping:
            message = f"{reference!r} is in use: withdraw the publisher first, or accept another version"
            raise MappingError(message, code="in-use", name=reference)
        kept = tuple(each for each in known.versions if each is not mapping)
        if kept:
            self._publishers[mapping.name] = _Publisher(known.source, known.pairs, kept, known.is_current)
        else:
            del self._publishers[mapping.name]

    @property
    def mappings(self) -> tuple[RewritingMapping, ...]:
        """The mappings in use, one for each publisher, by name."""
        return tuple(each.versions[-1] for _, each in sorted(self._publishers.items()) if each.is_current)

    def find(self, reference: str) -> RewritingMapping:
        """The mapping of a reference, of any version; raises ``MappingError`` (``unknown-mapping``)."""
        wanted = reference.rpartition("#")[2]
        for known in self._publishers.values():
            for mapping in known.versions:
                if mapping.hash == wanted:
                    return mapping
        message = f"there is no mapping {reference!r}; another version of it is never used in its place"
        raise MappingError(message, code="unknown-mapping", name=reference)

    def grow(self, schema: SchemaTree, subscriptions: Iterable[Pattern] = ()) -> tuple[RewritingMapping, ...]:
        """Replace the global schema by a larger one; returns the mappings whose operators have changed.

        Raises ``MappingError``: ``in-use`` if the new schema lacks a place that a subscription or a mapping
        uses.  Nothing has changed then.
        """
        lost = _paths(self.schema) - _paths(schema)
        if lost:
            automaton = image_automaton(self.schema)
            for pattern in subscriptions:
                if used := lost & _used(pattern, automaton):
                    place = "/".join(min(used))
                    message = f"the global schema cannot lose {place!r}: the subscription {pattern} uses it"
                    raise MappingError(message, code="in-use", name=place)
        changed: list[RewritingMapping] = []
        after: dict[str, _Publisher] = {}
        for name, known in self._publishers.items():
            try:
                operators = derive(known.source, schema, known.pairs)
            except MappingError as error:
                message = f"the mapping of {name!r} uses a place that the new schema lacks: {error.message}"
                raise MappingError(message, code="in-use", name=error.name) from error
            mapping = RewritingMapping(
                name, known.source, operators, known.versions[-1].version + 1, self.name
            )
            versions = known.versions
            if mapping != versions[-1]:
                versions = (*versions, mapping)
                if known.is_current:
                    changed.append(mapping)
            after[name] = _Publisher(known.source, known.pairs, versions, known.is_current)
        self.schema, self._publishers = schema, after
        return tuple(changed)

    def _known(self, publisher: str) -> _Publisher:
        if publisher not in self._publishers:
            there = ", ".join(sorted(self._publishers)) or "none"
            message = f"there is no publisher {publisher!r}; there are: {there}"
            raise MappingError(message, code="unknown-mapping", name=publisher)
        return self._publishers[publisher]


def _paths(schema: SchemaTree) -> set[tuple[str, ...]]:
    """The label paths of the elements of a schema."""
    return {tuple(str(step.label) for step in node.path) for node in schema.nodes() if not node.is_attribute}


def _used(pattern: Pattern, automaton: SchemaAutomaton) -> set[tuple[str, ...]]:
    """The label paths that the steps of a pattern with a name can lead to."""
    reached: set[int] = set()
    for path in pattern.alternatives:
        _walk(path, DOCUMENT, automaton, reached)
    labels = _labels(automaton)
    return {labels[number] for number in reached}


def _walk(path: Path, positions: int, automaton: SchemaAutomaton, reached: set[int]) -> None:
    for predicate in path.filters:
        _walk_condition(predicate, positions, automaton, reached)
    for step in path.steps:
        positions = automaton.step(positions, step.axis, step.test)
        if step.test.local is not None:
            reached.update(_members(positions))
        for predicate in step.predicates:
            _walk_condition(predicate, positions, automaton, reached)


def _walk_condition(
    predicate: Predicate, positions: int, automaton: SchemaAutomaton, reached: set[int]
) -> None:
    match predicate:
        case Exists(paths) | Comparison(paths) | StringTest(_, paths, _) | Length(paths) | Count(paths):
            for path in paths:
                _walk(path, positions, automaton, reached)
        case And(operands) | Or(operands):
            for operand in operands:
                _walk_condition(operand, positions, automaton, reached)
        case Not(operand):
            _walk_condition(operand, positions, automaton, reached)
        case _:  # a general expression may look anywhere
            reached.update(range(1, len(automaton.tests)))


def _members(positions: int) -> list[int]:
    return [number for number in range(positions.bit_length()) if positions >> number & 1]


def _labels(automaton: SchemaAutomaton) -> dict[int, tuple[str, ...]]:
    """A label path for each position."""
    found: dict[int, tuple[str, ...]] = {0: ()}
    waiting = [0]
    while waiting:
        number = waiting.pop()
        for after in _members(automaton.follow[number]):
            if after not in found:
                test = automaton.tests[after]
                name = test.local or "*"
                label = f"Q{{{test.namespace}}}{name}" if test.namespace else name
                found[after] = (*found[number], label)
                waiting.append(after)
    return found
