"""Checks a mapping file: errors make it unusable, warnings say where an image may surprise.

error    place        a path leads nowhere in its schema
error    drift        the source schema has changed since the pairs were reviewed
error    test         a document of the file does not match what it should
warning  collision    an unmatched element has the name of a global place, so that ``//name`` finds it
warning  text         the string-value of a matched place with text becomes another
warning  dissolved    what stood together in a repeated element is taken apart
warning  gathered     repeated elements of several kinds go into one made element
warning  attributes   attributes of the root stay on top, though its content goes further down
warning  changed      the derived operators are others than when they were accepted
note     undecided    source places that are neither matched, kept nor hidden
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from twigcast.analysis import overlaps, schema_automaton
from twigcast.document import read
from twigcast.errors import MappingError, TwigcastError
from twigcast.pattern import AttributeTail, NameTest, Pattern, matches, parse
from twigcast.rewriting.labels import keys_above, parent_key, shown_path
from twigcast.rewriting.mapping import Mapping
from twigcast.rewriting.mapping_files.hiding import matched_texts
from twigcast.rewriting.mapping_files.mapping_file import EVERYTHING, MappingFile
from twigcast.rewriting.mapping_files.text_changes import TextChanges
from twigcast.rewriting.operators import (
    Insert,
    InsertAll,
    Upgrade,
    UpgradeAll,
    apply,
)
from twigcast.rewriting.schema_tree import SchemaNode, SchemaTree
from twigcast.schema import ElementGraph

Level: TypeAlias = Literal["error", "warning", "note"]
SHOWN = 5
"""How many places a sentence names."""
MOST_UNKNOWN = 100
"""How many places that lead nowhere are reported."""


@dataclass(frozen=True, slots=True)
class MappingFinding:
    """What ``check`` has to say, in one sentence."""

    level: Level
    code: str
    message: str
    place: str = ""


@dataclass(frozen=True, slots=True)
class CheckedMapping:
    """A mapping file with what was found; ``mapping`` is None if it cannot be used at all."""

    file: MappingFile
    mapping: Mapping | None
    findings: tuple[MappingFinding, ...]

    @property
    def is_good(self) -> bool:
        """Whether there is no error; warnings do not matter."""
        return all(finding.level != "error" for finding in self.findings)


def check_mapping(file: MappingFile, schema: ElementGraph | None = None) -> CheckedMapping:
    """Check a mapping file against its schemas, and run its tests; never raises ``MappingError``."""
    try:
        source, target = file.source_tree(), file.target_tree(schema)
    except TwigcastError as error:
        return CheckedMapping(file, None, (_error(error),))
    findings = [*_drift(file), *_unknown_places(file, source, target)]
    if any(finding.code == "place" for finding in findings):
        return CheckedMapping(file, None, tuple(findings))
    try:
        mapping = file.derive(source, target)
        _ = mapping.plan  # raises if the operators are too many
    except TwigcastError as error:
        return CheckedMapping(file, None, (*findings, _error(error)))
    prefixes = file.prefixes(source, target)
    findings += _changed(file, mapping)
    findings += _surprises(file, mapping, source, target, prefixes)
    findings += _collisions(file, mapping, target, prefixes)
    findings += _undecided(file, mapping, source, target)
    findings += _tests(file, mapping)
    return CheckedMapping(file, mapping, tuple(findings))


def check_together(checked: Sequence[CheckedMapping]) -> list[MappingFinding]:
    """What is wrong with a set of mappings: names and root elements that two of them share."""
    findings: list[MappingFinding] = []
    names: dict[str, MappingFile] = {}
    roots: dict[str, MappingFile] = {}
    for each in checked:
        first = names.setdefault(each.file.name, each.file)
        if first is not each.file:
            message = f"{first.path} and {each.file.path} both have the name {each.file.name!r}"
            findings.append(MappingFinding("error", "duplicate-mapping", message, each.file.name))
        if each.mapping is None:
            continue
        root = str(each.mapping.source.root.label)
        first = roots.setdefault(root, each.file)
        if first is not each.file:
            message = (
                f"{first.path} and {each.file.path} have the same root element {root!r}: documents must be "
                "told apart by publisher, not by root"
            )
            findings.append(MappingFinding("warning", "same-root", message, root))
    return findings


def outside_schema(pattern: Pattern, graph: ElementGraph) -> str:
    """Why no document of the global schema can match a subscription, empty if one can."""
    declared = {attribute.name for element in graph for attribute in element.attributes}
    for test in _attributes(pattern):
        if test.local is not None and not any(name.rpartition(":")[2] == test.local for name in declared):
            return f"the global schema has no attribute {test.local!r}"
    if not overlaps(schema_automaton(graph), pattern):
        return "no document of the global schema can match it"
    return ""


def _error(error: TwigcastError) -> MappingFinding:
    name = error.name if isinstance(error, MappingError) else ""
    return MappingFinding("error", error.code, error.message, name)


def _plain(file: MappingFile, error: MappingError) -> MappingFinding:
    return MappingFinding("error", error.code, error.message.removeprefix(f"{file.path}: "), error.name)


def _drift(file: MappingFile) -> Iterator[MappingFinding]:
    if file.reviewed is not None and (now := file.source_hash()) != file.reviewed:
        message = (
            f"the source schema {file.source.name} has changed since the pairs were reviewed (then "
            f"{file.reviewed}, now {now}); look at the pairs, then: twigcast schema check --accept"
        )
        yield MappingFinding("error", "drift", message, file.source.name)


def _unknown_places(file: MappingFile, source: SchemaTree, target: SchemaTree) -> Iterator[MappingFinding]:
    """Every path that leads nowhere, not only the first one; of very many, the first ones."""
    places = [
        (each, tree, "match")
        for pair in file.pairs.items()
        for each, tree in zip(pair, (source, target), strict=True)
    ]
    for section, listed in (("unmatched.keep", file.keep), ("unmatched.hide", file.hide)):
        places += [(place, source, section) for place in listed if place != EVERYTHING]
    found = 0
    for place, tree, section in places:
        try:
            file.source_key(place, tree, section)
        except MappingError as error:
            found += 1
            yield _plain(file, error)
            if found == MOST_UNKNOWN:  # each is compared with all names that are there
                message = f"more places may lead nowhere: these are the first {found}"
                yield MappingFinding("error", "place", message, str(file.path))
                return


def _changed(file: MappingFile, mapping: Mapping) -> Iterator[MappingFinding]:
    if file.derived is not None and not mapping.hash.startswith(file.derived):
        message = (
            f"the operators are no longer those that were accepted (then {file.derived}, now "
            f"{mapping.hash[: len(file.derived)]}); if they are right: twigcast schema check --accept"
        )
        yield MappingFinding("warning", "changed", message)


# Where an image may surprise


def _surprises(
    file: MappingFile, mapping: Mapping, source: SchemaTree, target: SchemaTree, prefixes: dict[str, str]
) -> Iterator[MappingFinding]:
    tree = source.copy()
    pairs = file.keys(source, target) if file.operators is None else {}
    matched = set(pairs)
    changed: set[tuple[str, str]] = set()
    leaving: dict[str, list[str]] = {}
    repeated: dict[str, bool] = {}

    def shown(key: str) -> str:
        return shown_path(key, prefixes)

    changes = TextChanges(tree, _texts(mapping, target, pairs), shown)
    for operator in mapping.operators:
        node = tree[operator.node]
        tree.expand(node)
        for place, message in changes.of(operator):
            if (place, type(operator).__name__) not in changed:
                changed.add((place, type(operator).__name__))
                yield MappingFinding("warning", "text", message, place)
        if isinstance(operator, Upgrade | UpgradeAll):
            members = operator.members if isinstance(operator, Upgrade) else [c.key for c in node.children]
            repeated.setdefault(node.key, node.most != 1)
            leaving.setdefault(node.key, []).extend(members)
        if isinstance(operator, Insert) and len(operator.members) > 1:
            many = [key for key in operator.members if tree[key].most != 1]
            if many:
                path = "/".join(str(label) for label in operator.path)
                message = (
                    f"{shown(many[0])!r} can repeat, and goes with others into one {path!r}: which of them "
                    "belonged together is lost"
                )
                yield MappingFinding("warning", "gathered", message, many[0])
        if isinstance(operator, InsertAll) and node.parent is None and node.attributes:
            names = ", ".join(str(attribute.path[-1]) for attribute in list(node.attributes)[:SHOWN])
            message = (
                f"the attributes of the root ({names}) stay on top; match them to elements, or hide them"
            )
            yield MappingFinding("warning", "attributes", message, node.key)
        apply(tree, operator)
    inside = Counter(above for key in matched for above in keys_above(key))
    for key, members in leaving.items():
        if repeated[key] and len(set(members)) + _stays(key, set(members), matched, inside) > 1:
            message = (
                f"{shown(key)!r} can repeat and is taken apart: a subscription with conditions on "
                f"{_listed([shown(parent_key(member)[1]) for member in members])} may join two of them"
            )
            yield MappingFinding("warning", "dissolved", message, key)


def _stays(key: str, leaving: set[str], matched: set[str], inside: Counter[str]) -> bool:
    """Whether an element is matched, or one in it that does not leave it with its ``leaving`` children.

    ``inside`` has the number of matched places below each place.
    """
    if key in matched:
        return True
    left = inside[key]
    for member in leaving:
        above = list(keys_above(member))
        if key in above and leaving.isdisjoint(above):
            left -= inside[member] + (member in matched)
    return left > 0


def _texts(mapping: Mapping, target: SchemaTree, pairs: dict[str, str]) -> set[str]:
    """The places whose string-value subscribers may compare; without pairs, all that have text."""
    if pairs:
        return matched_texts(mapping.image, target, pairs)
    return {node.key for tree in (mapping.source, mapping.image) for node in tree.known if node.has_text}


def _collisions(
    file: MappingFile, mapping: Mapping, target: SchemaTree, prefixes: dict[str, str]
) -> Iterator[MappingFinding]:
    """Trap: an element that is not matched keeps its name, which may be one of the global schema."""
    names: dict[object, str] = {}
    for node in target.nodes():
        if not node.is_attribute:
            names.setdefault(node.label, node.path_text)
    source = mapping.source
    pairs = set(file.keys(source, target)) if file.operators is None else set()
    decided = {file.source_key(place, source) for place in file.keep}
    image = mapping.image.copy()
    for node in image.nodes():
        made = parent_key(node.key)[1].startswith("+")
        if node.is_attribute or made or node.key in pairs or node.key in decided or node.parent is None:
            continue
        if node.label in names:
            message = (
                f"{shown_path(node.key, prefixes)!r} is not matched and keeps a name of the global schema "
                f"({names[node.label]!r}): //{node.label.local} finds it; match it, or hide it"
            )
            yield MappingFinding("warning", "collision", message, node.key)


def _undecided(
    file: MappingFile, mapping: Mapping, source: SchemaTree, target: SchemaTree
) -> Iterator[MappingFinding]:
    if EVERYTHING in file.hide or file.operators is not None:
        return
    places = undecided_places(file, source, target)
    if places:
        prefixes = file.prefixes(source, target)
        listed = _listed([shown_path(node.key, prefixes) for node in places])
        message = f"{len(places):,} source places are neither matched, kept nor hidden: {listed}"
        yield MappingFinding("note", "undecided", message)


def undecided_places(file: MappingFile, source: SchemaTree, target: SchemaTree) -> list[SchemaNode]:
    """The leaves of the source that no line of the file names, directly or by an element above them.

    Attributes are only asked about at elements that are not matched to a leaf: units and schemes of values
    are not places of their own.
    """
    pairs = file.keys(source, target)
    decided = {file.source_key(place, source) for place in (*file.keep, *file.hide) if place != EVERYTHING}
    found: list[SchemaNode] = []
    for node in source.nodes():
        above = {node.key, *(each.key for each in node.ancestors())}
        if not node.is_leaf or node.key in pairs or above & decided:
            continue
        if node.is_attribute and node.parent is not None and node.parent.is_leaf:
            continue
        found.append(node)
    return found


def _tests(file: MappingFile, mapping: Mapping) -> Iterator[MappingFinding]:
    for test in file.tests:
        try:
            image = mapping.apply(read(test.body()))
            expected = [(text, True) for text in test.matches] + [(text, False) for text in test.mismatches]
            for text, answer in expected:
                if matches(parse(text, file.namespaces), image) != answer:
                    message = f"{test.title} {'does not match' if answer else 'matches'} {text}"
                    yield MappingFinding("error", "test", message, test.title)
        except TwigcastError as error:
            yield MappingFinding("error", "test", f"{test.title}: {error.message}", test.title)
        except OSError as error:
            message = f"{test.title} cannot be read: {error.strerror or error}"
            yield MappingFinding("error", "test", message, test.title)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def _attributes(value: object) -> Iterator[NameTest]:
    """The tests of attributes anywhere in a pattern."""
    if isinstance(value, AttributeTail):
        yield value.test
    elif isinstance(value, tuple | list | frozenset):
        for part in value:
            yield from _attributes(part)
    elif hasattr(value, "__dataclass_fields__"):
        for name in value.__dataclass_fields__:
            yield from _attributes(getattr(value, name))
