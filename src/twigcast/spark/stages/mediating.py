"""Mediation in a stage: the mappings as tasks carry them, and which of them each document gets.

    column ``mapping``     the document names its mapping         by name, or by the hash of a reference
    column ``publisher``   with ``by="publisher"``                the mapping of that name
    root element           with ``by="root"``                     the mapping whose source has this root

A task carries the canonical texts and plans, a few kilobytes for each mapping, and no schema: a worker opens
them once.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping as MappingType
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import blake2b
from typing import Literal, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from twigcast.document import Document, DocumentLimits
from twigcast.errors import DocumentError, MappingError, StageError
from twigcast.filtering import BatchMatch, Index
from twigcast.rewriting import Mapping
from twigcast.spark.columns import ErrorRow, error_without_position

Chosen: TypeAlias = Literal["root", "publisher"]
Unknown: TypeAlias = Literal["dead-letter", "as-is"]


@dataclass(frozen=True, slots=True)
class MappingRules:
    """A mapping without its schemas: the canonical text of its operators, and the plan of the kernel.

    The plan has the places of the source schema too, so that strangers are counted as with the schema.
    """

    name: str
    version: int
    mapping: str
    """The reference of the mapping, as in the column ``mapping``."""
    reference: str
    """For an index, which keeps plans by it: where the source schema grew, only the plan is another one."""
    root: tuple[str, str]
    rules: str = field(repr=False)
    plan: bytes = field(repr=False)

    @classmethod
    def of(cls, mapping: Mapping) -> MappingRules:
        """The rules of a mapping."""
        return cls.parse(mapping.name, mapping.version, mapping.canonical, mapping.plan)

    @classmethod
    def parse(cls, name: str, version: int, rules: str, plan: bytes) -> MappingRules:
        """The rules of a canonical text; raises ``MappingError``."""
        mapping = _parsed(name, rules, version)
        reference = f"{mapping.reference}/{blake2b(plan, digest_size=8).hexdigest()}"
        namespace, local = mapping.root
        return cls(name, version, mapping.reference, reference, (namespace, local), rules, plan)

    def apply(self, document: Document, limits: DocumentLimits | None = None) -> Document:
        """The image of a document; raises ``MappingError`` or ``DocumentError``."""
        return _parsed(self.name, self.rules, self.version).apply(document, limits)


@lru_cache(maxsize=256)
def _parsed(name: str, rules: str, version: int) -> Mapping:
    return Mapping.parse(name, rules, version)


@dataclass(frozen=True, slots=True)
class Mediation:
    """Mappings from the schemas of publishers, and how a document finds its own.

    ``by`` is ``"root"``, the name of the root element, or ``"publisher"``: the column ``publisher`` has the
    name of a mapping.  A document without a mapping is an error or, if ``unknown`` is ``"as-is"``, matched as
    it is.
    """

    mappings: tuple[MappingRules, ...]
    by: Chosen = "root"
    unknown: Unknown = "dead-letter"

    @classmethod
    def of(
        cls, mediation: AnyMediation, *, by: Chosen = "root", unknown: Unknown = "dead-letter"
    ) -> Mediation:
        """The mediation with these mappings; a ``Mediation`` stays as it is.

        Raises ``MappingError`` (``duplicate-mapping``) if the root should decide between two mappings.
        """
        if isinstance(mediation, Mediation):
            return mediation
        mappings = tuple(map(MappingRules.of, mediation))
        roots: dict[tuple[str, str], str] = {}
        for mapping in mappings if by == "root" else ():
            other = roots.setdefault(mapping.root, mapping.name)
            if other != mapping.name:
                message = f"the mappings {other} and {mapping.name} have the same root {mapping.root[1]!r}"
                raise MappingError(
                    f'{message}: expected by = "publisher", or only one of them',
                    code="duplicate-mapping",
                    name=mapping.name,
                )
        return cls(mappings, by, unknown)

    @property
    def references(self) -> tuple[str, ...]:
        """The references of the mappings, as in the column ``mapping``."""
        return tuple(each.mapping for each in self.mappings)

    def applied(self, reference: str | None) -> MappingRules | None:
        """The mapping of a reference in the column ``mapping``; raises ``StageError`` if it is unknown."""
        if reference is None:
            return None
        found = _by_name(self).get(reference)
        if found is None:
            raise StageError(
                f"the documents were matched with the mapping {reference}, which is not among those given",
                code="unknown-mapping",
            )
        return found

    def choose(self, publishers: pa.Array | None, named: pa.Array | None) -> MappingChoice:
        """The mappings for a batch, given its columns ``publisher`` and ``mapping``, if there are such."""
        columns = [column for column in (publishers, named) if column is not None]
        if not columns:
            return MappingChoice(self, None)
        nothing = [None] * len(columns[0])
        which: list[str | None] = []
        failures: dict[int, ErrorRow] = {}
        plain: set[int] = set()
        by_name = _by_name(self)
        given = [nothing if column is None else column.to_pylist() for column in (publishers, named)]
        for row, (publisher, name) in enumerate(zip(*given, strict=True)):
            found = None
            if name is not None:
                found = by_name.get(name) or by_name.get(f"#{name.partition('#')[2]}")
                if found is None:
                    failures[row] = self._failure("unknown-mapping", f"there is no mapping {name!r}")
            elif self.by == "publisher":
                found = by_name.get(publisher or "")
                if found is None and self.unknown == "as-is":
                    plain.add(row)
                elif found is None:
                    who = "a document without publisher" if publisher is None else f"publisher {publisher!r}"
                    failures[row] = self._failure("no-mapping", f"no mapping for {who}")
            which.append(found.name if found is not None else None)
        return MappingChoice(self, which, failures, plain)

    def _failure(self, code: str, message: str) -> ErrorRow:
        there = ", ".join(mapping.name for mapping in self.mappings) or "none"
        return error_without_position(f"{message}; there are {there}", code=code)


AnyMediation: TypeAlias = Mediation | Iterable[Mapping]


@dataclass(frozen=True, slots=True)
class MappingChoice:
    """The mappings of the documents of a batch: ``which`` has a name for each, or none for the root's."""

    mediation: Mediation
    which: list[str | None] | None
    failures: MappingType[int, ErrorRow] = field(default_factory=dict)
    """By row: why a document has no mapping."""
    plain: set[int] = field(default_factory=set)
    """The rows of documents that are matched as they are, whatever their root."""

    def match(self, index: Index, bodies: pa.Array) -> BatchMatch:
        """The answer of the index to the documents."""
        mediation = self.mediation
        rewritten = _without(bodies, self.plain) if self.plain else bodies
        answer = index.match_batch(
            rewritten, rewriting=mediation.mappings, which=self.which, unknown=mediation.unknown
        )
        applied = {each.reference: each.mapping for each in mediation.mappings}
        answer = replace(answer, mappings=[each and applied[each] for each in answer.mappings])
        if not self.plain:
            return answer
        plain = index.match_batch(_without(bodies, set(range(len(bodies))) - self.plain))
        errors: list[DocumentError | None] = [
            one or other for one, other in zip(answer.errors, plain.errors, strict=True)
        ]
        matches = pc.coalesce(answer.matches, plain.matches)
        undecided = {**answer.undecided, **plain.undecided}
        return replace(answer, matches=matches, errors=errors, undecided=undecided)


def _without(bodies: pa.Array, rows: set[int]) -> pa.Array:
    mask = pa.array([row in rows for row in range(len(bodies))], pa.bool_())
    return pc.if_else(mask, pa.scalar(None, bodies.type), bodies)


@lru_cache(maxsize=16)
def _by_name(mediation: Mediation) -> MappingType[str, MappingRules]:
    """The mappings by name, by reference, and by hash with a ``#`` before it."""
    found: dict[str, MappingRules] = {}
    for each in mediation.mappings:
        found |= {f"#{each.mapping.partition('#')[2]}": each, each.mapping: each}
    return found | {each.name: each for each in mediation.mappings}
