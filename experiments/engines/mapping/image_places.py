"""The places of the image of a mapping, each with the way that leads to it in a source document.

An element of the image has an anchor: the source element or attribute that it was made of or, where an
operator made it, a source element that says whether it is there.  A place has a route, which leads from the
anchor of its parent in the image to its own anchor:

    source   b(c*, e)                  image   b                 /a/b
    Downgrade(b, {c}, e)                       ├── e             child e
                                               │   └── c         up, child c
                                               └── e (made)      where there is no e, but a c
                                                   └── c         child c

A place of the schema occurs several times here if some of its elements are made and others are not.
Operators that copy elements leave one place: each way along the route is one copy.
Cost: copied places are copied here, too; a mapping whose image has more than ``MOST`` places has no tree.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from twigcast.rewriting.labels import QName
from twigcast.rewriting.mapping import Mapping
from twigcast.rewriting.operators import (
    Downgrade,
    Exchange,
    Hide,
    Insert,
    InsertAll,
    InsertEach,
    Operator,
    Rename,
    ToElement,
    Upgrade,
    UpgradeAll,
    apply,
    made_keys,
)
from twigcast.rewriting.schema_tree import SchemaNode, SchemaTree

MOST = 2000
"""The largest number of places."""


@dataclass(frozen=True, slots=True)
class Up:
    """To the parent."""


@dataclass(frozen=True, slots=True)
class Down:
    """To the children of a source place."""

    key: str
    label: QName


@dataclass(frozen=True, slots=True)
class ToAttribute:
    """To an attribute."""

    key: str
    label: QName


@dataclass(frozen=True, slots=True)
class Where:
    """Stays, where one of the routes ``present`` leads somewhere, and none of ``absent`` does.

    With ``own``, a text, comment or instruction of the anchor is enough; with ``value``, a non-empty one.
    """

    present: tuple[Route, ...] = ()
    absent: tuple[Route, ...] = ()
    own: bool = False
    value: bool = False


Move: TypeAlias = Up | Down | ToAttribute | Where
Route: TypeAlias = tuple[Move, ...]
Kind: TypeAlias = Literal["document", "element", "attribute", "made"]


@dataclass(slots=True, eq=False)
class ImageAttribute:
    """An attribute of a place: its name in the image, and in the source."""

    key: str
    label: QName
    source: QName


@dataclass(slots=True, eq=False)
class ImagePlace:
    """Elements of the image with one key that are all made in one way."""

    key: str
    label: QName
    kind: Kind
    route: Route
    parent: ImagePlace | None = field(default=None, repr=False)
    attributes: list[ImageAttribute] = field(default_factory=list, repr=False)
    declared: frozenset[QName] = frozenset()
    """The names of all attributes that the source schema has here."""
    displaced: list[tuple[QName, QName]] = field(default_factory=list, repr=False)
    """Names that attributes were given, each with the source name of the attribute: where this one is there,
    an attribute that the schema does not know loses the name."""
    children: list[ImagePlace] = field(default_factory=list, repr=False)
    has_text: bool = True
    """Whether the text of the anchor is in this element; a made path around all content has it."""

    def below(self) -> Iterator[ImagePlace]:
        """The places below this one, in preorder."""
        waiting = self.children[::-1]
        while waiting:
            place = waiting.pop()
            yield place
            waiting += place.children[::-1]


def on_attribute(place: ImagePlace | None) -> bool:
    """Whether the anchor of a place is an attribute."""
    while place is not None:
        for move in reversed(place.route):
            if not isinstance(move, Where):
                return isinstance(move, ToAttribute)
        place = place.parent
    return False


class NoPlacesError(Exception):
    """The ways of an image cannot be told from its schema: the approaches use the image tree instead."""


class ImagePlaces:
    """The places of the image of a mapping; raises ``NoPlacesError`` where there is no such tree.

    That is so for a schema whose elements can contain themselves, for one with too many places, and where an
    element that was copied into others gets content of these others in turn.
    """

    def __init__(self, mapping: Mapping) -> None:
        self.mapping = mapping
        nodes = mapping.source.nodes(MOST + 1)
        if len(nodes) > MOST or any(node.loops for node in nodes):
            raise NoPlacesError("the source schema is recursive or has too many places")
        self.top = ImagePlace("", QName("", ""), "document", (), has_text=False)
        self.top.children = [_place(node, self.top) for node in mapping.source.roots]
        self._check_size()
        self.touched: set[str] = set()
        """The keys of elements whose string-value is not that of the source element."""
        self._schema = mapping.source.copy()
        for operator in mapping.operators:
            self._touch(operator)
            self._apply(operator)
            apply(self._schema, operator)
            self._touch(operator)
            self._check_size()

    def has_source_value(self, place: ImagePlace) -> bool:
        """Whether the string-value of elements of this place is that of their anchor."""
        return place.kind in ("element", "attribute") and place.key not in self.touched

    def _check_size(self) -> None:
        if sum(1 for _ in self.top.below()) > MOST:
            raise NoPlacesError("the image has too many places")

    def _touch(self, operator: Operator) -> None:
        """Note whose string-values an operator changes: of what it takes from or gives to, and all above."""
        changed: list[str] = []
        match operator:
            case Rename() | InsertAll() | InsertEach():
                return
            case ToElement(node, _) | Hide(node):
                found = self._schema.find(node)
                changed = [found.parent.key] if found is not None and found.parent is not None else []
            case Downgrade(node, _, into):
                changed = [node, into]
            case Exchange(node, above):
                changed = [node, above]
            case _:
                changed = [operator.node]
        for key in changed:
            found = self._schema.find(key)
            if found is not None:
                self.touched |= {key, *(each.key for each in found.ancestors())}

    def _apply(self, operator: Operator) -> None:
        match operator:
            case Rename(node, label):
                for place in self.top.below():
                    if place.key == node:
                        place.label = label
                    for attribute in place.attributes:
                        if attribute.key == node:
                            attribute.label = label
                            place.displaced.append((label, attribute.source))
            case ToElement(node, label):
                for place in list(self.top.below()):
                    _to_element(place, node, label)
            case Insert(node, path, members):
                for place in self._of(node):
                    _insert(place, made_keys(self._schema, operator), path, members)
            case InsertEach(node, path, members):
                for place in self._of(node):
                    _insert_each(place, made_keys(self._schema, operator), path, members)
            case InsertAll(node, path):
                for place in self._of(node):
                    _insert_all(place, made_keys(self._schema, operator), path)
            case Upgrade(node, members):
                for place in self._of(node):
                    _upgrade(place, [each for each in place.children if each.key in members])
            case UpgradeAll(node):
                for place in self._of(node):
                    _upgrade(place, list(place.children))
            case Downgrade(node, members, into):
                for place in self._of(node):
                    _downgrade(place, members, into, self._schema)
            case Exchange(node, above):
                for place in self._of(node):
                    _exchange(place, above, self._schema)
            case Hide(node):
                for place in (self.top, *self.top.below()):
                    place.children = [each for each in place.children if each.key != node]
                    place.attributes = [each for each in place.attributes if each.key != node]

    def _of(self, key: str) -> list[ImagePlace]:
        return [place for place in self.top.below() if place.key == key]


def _place(node: SchemaNode, parent: ImagePlace) -> ImagePlace:
    place = ImagePlace(node.key, node.label, "element", (Down(node.key, node.label),), parent)
    place.attributes = [ImageAttribute(each.key, each.label, each.label) for each in node.attributes]
    place.declared = frozenset(each.label for each in node.attributes)
    place.children = [_place(child, place) for child in node.children]
    return place


def _copy(place: ImagePlace, parent: ImagePlace, route: Route) -> ImagePlace:
    new = ImagePlace(place.key, place.label, place.kind, route, parent)
    new.attributes = [ImageAttribute(each.key, each.label, each.source) for each in place.attributes]
    new.declared, new.has_text = place.declared, place.has_text
    new.displaced = list(place.displaced)
    new.children = [_copy(child, new, child.route) for child in place.children]
    return new


def _move(place: ImagePlace, parent: ImagePlace, route: Route) -> None:
    place.parent, place.route = parent, route
    parent.children.append(place)


def _routes(places: Sequence[ImagePlace]) -> tuple[Route, ...]:
    return tuple(place.route for place in places)


def _back(place: ImagePlace) -> Route:
    """From the anchor of a place to that of its parent."""
    if any(isinstance(move, Up) for move in place.route):
        raise NoPlacesError(f"elements {place.key!r} are copied, so that their parents differ")
    return tuple(Up() for move in place.route if isinstance(move, Down | ToAttribute))


def _to_element(place: ImagePlace, key: str, label: QName) -> None:
    for attribute in place.attributes:
        if attribute.key == key:
            made = ImagePlace(key, label, "attribute", (ToAttribute(key, attribute.source),), place)
            place.children.insert(0, made)
    place.attributes = [each for each in place.attributes if each.key != key]


def _taken(place: ImagePlace, keys: Sequence[str]) -> list[ImagePlace]:
    taken = [each for each in place.children if each.key in keys]
    place.children = [each for each in place.children if each.key not in keys]
    return taken


def _made_path(parent: ImagePlace, keys: Sequence[str], path: Sequence[QName], route: Route) -> ImagePlace:
    """Add a made path below a place; returns its last element.  All of it has the anchor of the first."""
    place = parent
    for key, label in zip(keys, path, strict=True):
        made = ImagePlace(key, label, "made", route, has_text=False)
        _move(made, place, route)
        place, route = made, ()
    return place


def _insert(place: ImagePlace, keys: Sequence[str], path: Sequence[QName], members: Sequence[str]) -> None:
    moved = _taken(place, members)
    if moved:
        last = _made_path(place, keys, path, (Where(_routes(moved)),))
        for each in moved:
            _move(each, last, each.route)


def _insert_each(
    place: ImagePlace, keys: Sequence[str], path: Sequence[QName], members: Sequence[str]
) -> None:
    for each in _taken(place, members):
        last = _made_path(place, keys, path, each.route)
        _move(each, last, ())


def _insert_all(place: ImagePlace, keys: Sequence[str], path: Sequence[QName]) -> None:
    moved, place.children = place.children, []
    if not moved and not place.has_text:
        return
    of_attribute = place.has_text and on_attribute(place)
    where = Where(_routes(moved), (), place.has_text and not of_attribute, of_attribute)
    last = _made_path(place, keys, path, (where,))
    last.has_text, place.has_text = place.has_text, False
    for each in moved:
        _move(each, last, each.route)


def _upgrade(place: ImagePlace, moved: list[ImagePlace]) -> None:
    assert place.parent is not None
    for each in moved:
        place.children.remove(each)
        _move(each, place.parent, place.route + each.route)


def _downgrade(place: ImagePlace, members: Sequence[str], into: str, schema: SchemaTree) -> None:
    moved = _taken(place, members)
    if not moved:
        return
    holders = [each for each in place.children if each.key == into]
    made = ImagePlace(into, schema[into].label, "made", (), has_text=False)
    _move(made, place, (Where(_routes(moved), _routes(holders)),))
    for holder in holders:
        back = _back(holder)
        holder.children += [_copy(each, holder, back + each.route) for each in moved]
    for each in moved:
        _move(each, made, each.route)


def _exchange(place: ImagePlace, above: str, schema: SchemaTree) -> None:
    parent = place.parent
    assert parent is not None
    holders = _taken(place, (above,))
    parent.children.remove(place)
    made = ImagePlace(above, schema[above].label, "made", (), has_text=False)
    absent = (Where(absent=_routes(holders)),) if holders else ()
    _move(made, parent, place.route + absent)
    for holder in holders:
        back = _back(holder)
        holder.children.insert(0, _copy(place, holder, back))
        _move(holder, parent, place.route + holder.route)
    _move(place, made, ())
