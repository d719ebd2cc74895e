"""Reads the file of a mapping, which a person writes or reviews.

    mapping  = "cmu"
    source   = "cmu.xsd"                       the publisher's schema, relative to this file: an XSD or a DTD
    reviewed = "b41c09e2"                      its hash when the pairs were reviewed
    target   = "catalogue.dtd"                 the global schema

    [namespaces]                               prefixes of the places, beside those of the schemas
    [match]                                    source place = global place
    "cmu/Course/Lecturer" = "catalogue/course/instructor/name"

    [unmatched]
    keep = ["cmu/Course/Sec"]                  decided: it stays as it is
    hide = ["cmu/Course/Notes"]                taken out of the image; "*" is all that is not matched

    [[test]]
    document = "cmu.xml"                       or xml = "<cmu>…</cmu>"
    matches  = ["//course[code]"]
    not      = ["//course[not(code)]"]

The pairs decide: operators are derived from them.  A list ``operators`` replaces the derivation.
"""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Iterable, Sequence
from collections.abc import Mapping as MappingType
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field, PositiveInt

from twigcast.config import ConfigError, ConfigSection, read_toml, validated
from twigcast.errors import MappingError, TwigcastError
from twigcast.rewriting.deriving import derive
from twigcast.rewriting.labels import parent_key, parse_path, shown_path
from twigcast.rewriting.mapping import Mapping
from twigcast.rewriting.mapping_files.hiding import hidden_by_wildcard
from twigcast.rewriting.mapping_files.operator_text import parse_operator
from twigcast.rewriting.operators import Hide, Operator, apply_all
from twigcast.rewriting.schema_tree import SchemaTree
from twigcast.schema import ElementGraph, read_schema

EVERYTHING = "*"
DIGITS = 8
"""Hexadecimal digits of the hash of a source schema."""


class _TestSection(ConfigSection):
    document: str | None = None
    xml: str | None = None
    matches: list[str] = Field(default=[])
    not_: list[str] = Field(default=[], alias="not")


class _UnmatchedSection(ConfigSection):
    keep: list[str] = Field(default=[])
    hide: list[str] = Field(default=[])


class _FileSection(ConfigSection):
    mapping: str = Field(min_length=1)
    version: PositiveInt = 1
    source: str = Field(min_length=1)
    root: str | None = None
    reviewed: str | None = None
    derived: str | None = None
    target: str = Field(min_length=1)
    namespaces: dict[str, str] = Field(default={})
    match: dict[str, str] = Field(default={})
    unmatched: _UnmatchedSection = _UnmatchedSection()
    operators: list[str] | None = None
    test: list[_TestSection] = Field(default=[])


@dataclass(frozen=True, slots=True)
class MappingTest:
    """A document with subscriptions that its image matches, and others that it does not match."""

    document: Path | None
    xml: str | None
    matches: tuple[str, ...]
    mismatches: tuple[str, ...]

    @property
    def title(self) -> str:
        """The path of its document, or ``xml`` if the document is in the mapping file."""
        return str(self.document) if self.document is not None else "xml"

    def body(self) -> bytes:
        """The document; raises ``OSError`` if its file cannot be read."""
        return (self.xml or "").encode() if self.document is None else self.document.read_bytes()


@dataclass(frozen=True, slots=True)
class MappingFile:
    """What a mapping file says; paths are relative to its folder no longer."""

    path: Path
    name: str
    version: int
    source: Path
    root: str | None
    target: Path
    reviewed: str | None
    derived: str | None
    namespaces: MappingType[str, str]
    pairs: MappingType[str, str]
    keep: tuple[str, ...]
    hide: tuple[str, ...]
    operators: tuple[str, ...] | None
    tests: tuple[MappingTest, ...]

    def source_hash(self) -> str:
        """The hash of the source schema as it is now, to be compared with ``reviewed``."""
        try:
            return hashlib.sha256(self.source.read_bytes()).hexdigest()[:DIGITS]
        except OSError as error:
            reason = error.strerror or str(error)
            raise self._error(f"source: {self.source} cannot be read: {reason}", "source") from None

    def source_tree(self) -> SchemaTree:
        """The schema tree of the source; its root is the one that the file names, or the pairs."""
        graph = self._graph(self.source, "source")
        if self.root is not None and self.root not in graph:
            raise self._error(f"root: {self.source.name} declares no element {self.root!r}", "root")
        return _rooted(graph, self.root or _top(self.pairs))

    def target_tree(self, schema: ElementGraph | None = None) -> SchemaTree:
        """The schema tree of the global schema, or of the one that is given in its place."""
        return _rooted(schema or self._graph(self.target, "target"), _top(self.pairs.values()))

    def prefixes(self, source: SchemaTree, target: SchemaTree) -> dict[str, str]:
        """A prefix for each namespace, for people."""
        known = {**_bindings(target), **_bindings(source), **self.namespaces}
        return {uri: prefix for prefix, uri in known.items() if uri}

    def keys(self, source: SchemaTree, target: SchemaTree) -> dict[str, str]:
        """The pairs as keys of the trees; raises ``MappingError`` (``place``, ``matching``)."""
        found: dict[str, str] = {}
        bound, goals = self._bound(source), self._bound(target)
        for place, image in self.pairs.items():
            key = self._key(place, source, "match", bound)
            goal = self._key(image, target, "match", goals)
            if found.setdefault(key, goal) != goal:
                raise self._error(f"match: {place!r} leads to two global places", "match", "matching")
        return found

    def source_key(self, place: str, source: SchemaTree, section: str = "match") -> str:
        """The key of a source place; raises ``MappingError`` (``place``) with the nearest names."""
        return self._key(place, source, section)

    def mapping(self, schema: ElementGraph | None = None) -> Mapping:
        """The mapping: with the operators of the file, or derived from its pairs.

        Raises ``MappingError``, whose message begins with the path of the file.
        """
        if self.reviewed is not None and self.source_hash() != self.reviewed:
            raise self._error(
                f"the source schema {self.source.name} has changed since the mapping was reviewed "
                f"(reviewed {self.reviewed}, now {self.source_hash()}); look at the pairs, then: "
                "twigcast schema check --accept",
                "reviewed",
                "drift",
            )
        try:
            return self.derive(self.source_tree(), self.target_tree(schema))
        except MappingError as error:
            if error.message.startswith(str(self.path)):
                raise
            raise self._error(error.message, error.name, error.code) from None
        except TwigcastError as error:
            raise self._error(error.message, str(self.path)) from None

    def derive(self, source: SchemaTree, target: SchemaTree) -> Mapping:
        """The mapping between these trees, whether or not the source schema has changed."""
        pairs = self.keys(source, target)
        if self.operators is not None:
            bound, goals = self._bound(source), self._bound(target)
            operators = tuple(parse_operator(text, bound, goals) for text in self.operators)
            hidden = [self.source_key(place, source, "unmatched.hide") for place in self.hide]
            operators = (*operators, *map(Hide, hidden))
        else:
            operators = derive(source, target, pairs)
            operators = (*operators, *self._hidden(source, target, operators, pairs))
        mapping = Mapping(self.name, source, operators, self.version, self.target.stem)
        _ = mapping.image  # raises if an operator cannot be applied
        return mapping

    def _hidden(
        self,
        source: SchemaTree,
        target: SchemaTree,
        operators: Sequence[Operator],
        pairs: MappingType[str, str],
    ) -> list[Hide]:
        """Operators that take unmatched places out of the image, after all others."""
        found = [
            self.source_key(place, source, "unmatched.hide") for place in self.hide if place != EVERYTHING
        ]
        kept = {self.source_key(place, source, "unmatched.keep") for place in self.keep}
        for key, place in zip(found, (each for each in self.hide if each != EVERYTHING), strict=True):
            if key in pairs or key in kept:
                reason = "is matched" if key in pairs else "is also in unmatched.keep"
                raise self._error(f"unmatched.hide: {place!r} {reason}", "unmatched.hide", "matching")
        if EVERYTHING in self.hide:
            image = apply_all(source, operators)
            found += hidden_by_wildcard(source, image, target, pairs, kept, frozenset(found))
        return [Hide(key) for key in found]

    def _bound(self, tree: SchemaTree) -> dict[str, str]:
        return {**_bindings(tree), **self.namespaces}

    def _key(
        self, place: str, tree: SchemaTree, section: str, bound: MappingType[str, str] | None = None
    ) -> str:
        bound = self._bound(tree) if bound is None else bound
        try:
            steps = parse_path(place, bound)
        except MappingError as error:
            raise self._error(f"{section}: {error.message}", place, "place") from None
        key = "/".join(map(str, steps))
        node = tree.find(key)
        if node is None:
            prefixes = {uri: prefix for prefix, uri in bound.items() if uri}
            raise self._error(f"{section}: {_unknown_place(place, key, tree, prefixes)}", place, "place")
        return node.key

    def _graph(self, path: Path, key: str) -> ElementGraph:
        try:
            return read_schema(path)
        except TwigcastError as error:
            raise self._error(f"{key}: {error.message}", key) from None

    def _error(self, message: str, name: str, code: str = "mapping-file") -> MappingError:
        return MappingError(f"{self.path}: {message}", code=code, name=name)


def read_mapping_file(path: Path | str) -> MappingFile:
    """Read a mapping file; raises ``MappingError`` (``mapping-file``) with a sentence for each wrong key."""
    path = Path(path)
    try:
        file = validated(_FileSection, read_toml(path))
    except ConfigError as error:
        raise MappingError(
            f"{path}: {error.message}", code="mapping-file", name=error.key or str(path)
        ) from None
    tests = []
    for number, each in enumerate(file.test):
        if (each.document is None) == (each.xml is None):
            message = f"{path}: test[{number}]: expected either document or xml"
            raise MappingError(message, code="mapping-file", name="test")
        document = None if each.document is None else path.parent / each.document
        tests.append(MappingTest(document, each.xml, tuple(each.matches), tuple(each.not_)))
    if "" in file.namespaces:
        message = f"{path}: namespaces: the empty prefix is that of each schema itself; choose a prefix"
        raise MappingError(message, code="mapping-file", name="namespaces")
    return MappingFile(
        path,
        file.mapping,
        file.version,
        path.parent / file.source,
        file.root,
        path.parent / file.target,
        file.reviewed,
        file.derived,
        dict(file.namespaces),
        dict(file.match),
        tuple(file.unmatched.keep),
        tuple(file.unmatched.hide),
        None if file.operators is None else tuple(file.operators),
        tuple(tests),
    )


def read_mapping(path: Path | str, schema: ElementGraph | None = None) -> Mapping:
    """The mapping of a file, to the global schema that it names or to ``schema``; raises ``MappingError``."""
    return read_mapping_file(path).mapping(schema)


def _top(places: Iterable[str]) -> str:
    """The root element of places, as they write it; empty if they differ."""
    tops = {place.partition("/")[0] for place in places}
    return tops.pop() if len(tops) == 1 else ""


def _rooted(graph: ElementGraph, root: str) -> SchemaTree:
    return SchemaTree.of(graph, root if root in graph else None)


def _bindings(tree: SchemaTree) -> dict[str, str]:
    return dict(tree.graph.bindings) if tree.graph is not None else {}


def _unknown_place(place: str, key: str, tree: SchemaTree, prefixes: MappingType[str, str]) -> str:
    """A sentence about a path that leads nowhere, with the nearest places."""
    above, step = parent_key(key)
    parent = tree.find(above) if above else None
    while above and parent is None:
        above, step = parent_key(above)
        parent = tree.find(above) if above else None
    if parent is None:
        return f"there is no {place!r}; the root is {shown_path(tree.root.key, prefixes)!r}"
    tree.expand(parent)
    names = {shown_path(str(each.path[-1]), prefixes) for each in (*parent.attributes, *parent.children)}
    shown = shown_path(step, prefixes)
    near = _nearest(shown, names)
    there = shown_path(parent.key, prefixes)
    if near:
        return f"there is no {place!r}; {there!r} has no {shown!r}, did you mean {' or '.join(near)}?"
    listed = ", ".join(sorted(names)) or "nothing"
    return f"there is no {place!r}; {there!r} contains {listed}"


def _nearest(name: str, names: set[str]) -> list[str]:
    """Names that are alike, whatever their case."""
    folded = {each.lower(): each for each in sorted(names)}
    return [folded[each] for each in difflib.get_close_matches(name.lower(), list(folded), n=2, cutoff=0.6)]
