"""Matching on source events with frames of image elements (IDDR): no image is made, and nothing is written.

A frame stands for one element of the image: its place, and its anchor in the source.  It is *potential* when
content for it has arrived before its own start tag, *confirmed* from its start tag on, and *closed* when its
element has ended and nothing can move into it any more.  Closing decides the pattern nodes of the element and
tells the parents; nothing is decided earlier.  A copied element is one frame with several parents.

    a(b(c, e(@id=2), d))      Downgrade(b, {c, d}, e)      /a/b/e[@id=2][.//c][.//d]
    Start(c)   e is potential
    Start(e)   e is confirmed; End(e): kept, since c and d still move into it
    End(b)     c, d, e close: e has @id=2, c and d

This is a reference engine, written to be read.  Where frames cannot decide a pattern (``goals``), or the
schema does not know an element of the document, or the mapping has no tree of places (``image_places``), the
image tree is made and the pattern evaluated on it; ``FrameEngine.on_tree`` says for which patterns this is
always so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from experiments.engines.mapping.goals import Goal, Goals, is_true, nodes_of
from experiments.engines.mapping.image_places import (
    Down,
    ImagePlace,
    ImagePlaces,
    NoPlacesError,
    Route,
    ToAttribute,
    Up,
    Where,
)
from twigcast.analysis.implication import value_has
from twigcast.document import Comment, Document, DocumentLimits, Element, Instruction, Text, read
from twigcast.pattern import AttributeTail, Axis, Comparison, Path, Pattern, Predicate, matches
from twigcast.rewriting.labels import QName, parent_key
from twigcast.rewriting.mapping import Mapping

Status: TypeAlias = Literal["potential", "confirmed", "made", "dropped", "closed"]


class FrameEvent(NamedTuple):
    """What became of a frame: its label path in the image, and its new status."""

    path: str
    status: Status


class FrameEngine:
    """Patterns that are matched against the documents of one mapping, without their images."""

    def __init__(self, patterns: Sequence[Pattern], mapping: Mapping) -> None:
        self.patterns, self.mapping = tuple(patterns), mapping
        try:
            self._plan: _Plan | None = _Plan(self.patterns, ImagePlaces(mapping))
        except NoPlacesError:
            self._plan = None
        plan = self._plan
        self.on_tree = frozenset(range(len(self.patterns)) if plan is None else plan.goals.undecidable)
        """The positions of the patterns that are evaluated on the image tree."""
        self.trace: list[FrameEvent] = []
        """The frames of the last document, in the order of the events that changed them."""

    def match(self, body: bytes, limits: DocumentLimits | None = None) -> list[int]:
        """The positions of the patterns that match the image of a document, in order.

        Raises ``DocumentError`` or ``MappingError`` if there is no such image.
        """
        document = read(body, limits or DocumentLimits())
        self.trace = []
        found: set[int] | None = None
        if self._plan is not None and self._knows_root(document):
            found = _Run(self._plan, self.trace).match(document)
        undecided = range(len(self.patterns)) if found is None else sorted(self.on_tree)
        matched = set() if found is None else found
        if undecided or found is None:
            image = self.mapping.apply(document, limits)
            matched |= {at for at in undecided if matches(self.patterns[at], image)}
        return sorted(matched)

    def _knows_root(self, document: Document) -> bool:
        root = document.root
        return QName(root.namespace, root.local) == self.mapping.source.root.label


@dataclass(slots=True, eq=False)
class _Node:
    """A source element, or an attribute (with ``value``), as far as frames need it."""

    key: str
    parent: _Node | None
    children: dict[str, list[_Node]] = field(default_factory=dict)
    attributes: list[tuple[QName, str]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    parted: bool = True
    """Whether the next text is a node of its own."""
    value: str = ""
    has_content: bool = False
    """Whether it has text, comments or instructions of its own."""
    frames: dict[int, _Frame] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class _Frame:
    """The answers of a closed frame, by goal and step: how many nodes the rest of the path selects."""

    taken: dict[tuple[int, int], int]
    at_or_below: dict[tuple[int, int], int]


class _Plan:
    """What can be said of patterns and places before any document."""

    def __init__(self, patterns: Sequence[Pattern], places: ImagePlaces) -> None:
        self.places, self.goals = places, Goals(patterns, places)
        self.schema = places.mapping.source
        self.by_anchor: dict[str, list[ImagePlace]] = {}
        self.level: dict[int, int] = {}
        self.closes: dict[int, int] = {}
        """The depth of the source element at whose end the frames of a place close."""
        self._measure(places.top, "", 0, 0)

    def _measure(self, place: ImagePlace, key: str, depth: int, level: int) -> int:
        self.by_anchor.setdefault(key, []).append(place)
        self.level[id(place)] = level
        closes = depth - parent_key(key)[1].startswith("@")  # an attribute has no end of its own
        for child in place.children:
            anchor, at, lowest = _followed(child.route, key, depth)
            closes = min(closes, lowest, self._measure(child, anchor, at, level + 1))
        self.closes[id(place)] = closes
        return closes


def _followed(route: Route, key: str, depth: int) -> tuple[str, int, int]:
    """The source place and depth to which a route leads, and the smallest depth on the way."""
    lowest = depth
    for move in route:
        match move:
            case Up():
                key, depth = parent_key(key)[0], depth - 1
            case Down(below, _) | ToAttribute(below, _):
                key, depth = below, depth + 1
            case Where(present, absent):
                lowest = min([lowest, *(_followed(each, key, depth)[2] for each in (*present, *absent))])
        lowest = min(lowest, depth)
    return key, depth, lowest


class _Run:
    """One document: its open elements, and the frames that wait for the end of one of these."""

    def __init__(self, plan: _Plan, trace: list[FrameEvent]) -> None:
        self._plan, self._trace = plan, trace
        self._waiting: dict[int, list[tuple[ImagePlace, _Node]]] = {}
        self._potential: dict[tuple[int, int], ImagePlace] = {}

    def match(self, document: Document) -> set[int] | None:
        """The patterns that match; None if the schema does not know an element."""
        top = _Node("", None)
        self._open(top, 0)
        node, depth = top, 0
        for event in _events(document):
            match event:
                case _Start(element):
                    below = self._start(element, node)
                    if below is None:
                        return None
                    node, depth = below, depth + 1
                    self._open(node, depth)
                case Text(value):
                    node.has_content = True
                    if node.parted:
                        node.texts.append("")
                    node.texts[-1] += value
                    node.parted = False
                    above: _Node | None = node
                    while above is not None:
                        above.value += value
                        above = above.parent
                case Comment() | Instruction():
                    node.has_content = node.parted = True
                case _:
                    self._close(node, depth)
                    assert node.parent is not None
                    node, depth = node.parent, depth - 1
                    node.parted = True
        self._close(top, 0)
        result = top.frames[id(self._plan.places.top)]
        return {
            position
            for position, goals in enumerate(self._plan.goals.patterns)
            if any(result.taken.get((goal.number, -1)) for goal in goals)
        }

    # Source events

    def _start(self, element: Element, parent: _Node) -> _Node | None:
        schema = self._plan.schema
        label = QName(element.namespace, element.local)
        place = schema[parent.key] if parent.key else None
        known = schema.child(place, label) if place is not None else schema.root
        if known is None:
            return None
        node = _Node(known.key, parent)
        node.attributes = [(QName(a.namespace, a.local), a.value) for a in element.attributes]
        parent.children.setdefault(known.key, []).append(node)
        for name, value in node.attributes:
            attribute = schema.child(known, name, is_attribute=True)
            if attribute is not None:
                node.children[attribute.key] = [_Node(attribute.key, node, value=value)]
        return node

    def _open(self, node: _Node, depth: int) -> None:
        for place in self._plan.by_anchor.get(node.key, ()):
            self._waiting.setdefault(self._plan.closes[id(place)], []).append((place, node))
            if place.kind == "element":
                self._note_start(place, node)
        for some in list(node.children.values()):
            for attribute in some:  # nothing else is there yet
                for place in self._plan.by_anchor.get(attribute.key, ()):
                    self._waiting.setdefault(self._plan.closes[id(place)], []).append((place, attribute))

    def _close(self, node: _Node, depth: int) -> None:
        """Close the frames into which nothing can move after the end of this element."""
        waiting = self._waiting.pop(depth, [])
        waiting.sort(key=lambda entry: -self._plan.level[id(entry[0])])  # children before their parents
        for place, anchor in waiting:
            anchor.frames[id(place)] = self._closed(place, anchor)
            if place.kind == "element":
                self._trace.append(FrameEvent(_path(place), "closed"))
        for (_, turning), place in list(self._potential.items()):
            if turning == id(node):
                del self._potential[id(place), turning]
                siblings = place.parent.children if place.parent is not None else []
                made = any(each.kind == "made" and each.key == place.key for each in siblings)
                self._trace.append(FrameEvent(_path(place), "made" if made else "dropped"))

    # Potential frames: only the trace shows them, since nothing is decided before the close.

    def _note_start(self, place: ImagePlace, node: _Node) -> None:
        for turning in _upward(node):
            self._potential.pop((id(place), id(turning)), None)
        self._trace.append(FrameEvent(_path(place), "confirmed"))
        above = place.parent
        turning_point = _turning_point(place.route, node)
        if above is None or above.kind != "element" or turning_point is None:
            return
        if not _instances(turning_point, above.key) and (id(above), id(turning_point)) not in self._potential:
            self._potential[id(above), id(turning_point)] = above
            self._trace.append(FrameEvent(_path(above), "potential"))

    # Closing

    def _closed(self, place: ImagePlace, anchor: _Node) -> _Frame:
        children = [
            each.frames[id(child)] for child in place.children for each in _reached(anchor, child.route)
        ]
        frame = _Frame({}, {})
        selected: dict[int, int] = {}  # by goal, from this element as the context
        goals = self._plan.goals

        def total(path: Path, value: Comparison | None) -> int:
            return selected[goals.goal(path, value).number]

        def first(path: Path) -> str:
            return next(iter(_values(place, anchor, path)), "")

        def all_true(predicates: Sequence[Predicate]) -> bool:
            return all(is_true(each, total, first) for each in predicates)

        for goal in goals.all:
            self._sum(goal, place, anchor, children, frame, all_true)
            count = frame.taken.get((goal.number, -1), 0)
            selected[goal.number] = count
        return frame

    def _sum(
        self,
        goal: Goal,
        place: ImagePlace,
        anchor: _Node,
        children: Sequence[_Frame],
        frame: _Frame,
        all_true: Callable[[Sequence[Predicate]], bool],
    ) -> None:
        """Fill the numbers of one goal; step -1 is the element as the context of the whole path."""
        path, number = goal.path, goal.number
        for at in range(len(path.steps) - 1, -2, -1):
            if at >= 0:
                step = path.steps[at]
                fits = place.kind != "document" and step.test.admits(*place.label)
                predicates = step.predicates
            else:
                fits, predicates = True, path.filters
            found = 0
            if fits:
                if at + 1 == len(path.steps):
                    found = self._selected(goal, place, anchor)
                else:
                    found = self._below(children, number, path, at + 1)
                if found and not all_true(predicates):
                    found = 0
            if found:
                frame.taken[number, at] = found
            if at >= 0:
                deeper = sum(child.at_or_below.get((number, at), 0) for child in children)
                if found + deeper:
                    frame.at_or_below[number, at] = found + deeper

    def _below(self, children: Sequence[_Frame], number: int, path: Path, at: int) -> int:
        if path.steps[at].axis is Axis.CHILD:
            return sum(child.taken.get((number, at), 0) for child in children)
        return sum(child.at_or_below.get((number, at), 0) for child in children)

    def _selected(self, goal: Goal, place: ImagePlace, anchor: _Node) -> int:
        """How many nodes the end of a path selects of its last element."""
        if goal.value is None and nodes_of(goal.path) == "itself":
            return 1
        values = _values(place, anchor, goal.path)
        if goal.value is None:
            return len(values)
        return sum(value_has(value, goal.value) for value in values)


class _Start(NamedTuple):
    element: Element


class _End(NamedTuple):
    element: Element


def _events(document: Document) -> Iterator[_Start | Text | Comment | Instruction | _End]:
    """The events of the root element, in document order."""
    waiting: list[_Start | Text | Comment | Instruction | _End] = [_Start(document.root)]
    while waiting:
        event = waiting.pop()
        yield event
        if isinstance(event, _Start):
            waiting.append(_End(event.element))
            for child in reversed(event.element.children):
                waiting.append(_Start(child) if isinstance(child, Element) else child)


def _values(place: ImagePlace, anchor: _Node, path: Path) -> list[str]:
    """The string-values of the nodes that the end of a path selects of one element."""
    match nodes_of(path):
        case "itself":
            return [anchor.value]
        case "texts":
            if not place.has_text:
                return []
            is_attribute = anchor.parent is not None and anchor.key.startswith(f"{anchor.parent.key}/@")
            return ([anchor.value] if anchor.value else []) if is_attribute else anchor.texts
    if place.kind != "element":
        return []
    assert isinstance(path.tail, AttributeTail)
    now = {each.source: each.label for each in place.attributes}
    there = {name for name, _ in anchor.attributes}
    displaced = {label for label, source in place.displaced if source in there}
    values = []
    for name, value in anchor.attributes:
        label = now.get(name)
        if name not in place.declared and name not in displaced:
            label = name
        if label is not None and path.tail.test.admits(*label):
            values.append(value)
    return values


def _reached(anchor: _Node, route: Route) -> list[_Node]:
    """The anchors to which a route leads, one for each copy."""
    reached = [anchor]
    for move in route:
        match move:
            case Up():
                reached = [each.parent for each in reached if each.parent is not None]
            case Down(key, _) | ToAttribute(key, _):
                reached = [child for each in reached for child in each.children.get(key, ())]
            case Where():
                reached = [each for each in reached if _holds(each, move)]
    return reached


def _holds(anchor: _Node, where: Where) -> bool:
    present = any(_reached(anchor, route) for route in where.present)
    present = present or (where.own and anchor.has_content) or (where.value and anchor.value != "")
    if (where.present or where.own or where.value) and not present:
        return False
    return not any(_reached(anchor, route) for route in where.absent)


def _upward(node: _Node) -> Iterator[_Node]:
    above: _Node | None = node
    while above is not None:
        yield above
        above = above.parent


def _turning_point(route: Route, node: _Node) -> _Node | None:
    """The source element from which a route that first leads up goes down to a node; None if it does not."""
    if not any(isinstance(move, Up) for move in route):
        return None
    for move in reversed(route):
        if isinstance(move, Up):
            return node
        if isinstance(move, Down | ToAttribute) and node.parent is not None:
            node = node.parent
    return None


def _instances(node: _Node, key: str) -> list[_Node]:
    """The elements of a source place that are in a node so far."""
    if node.key == key:
        return [node]
    return [
        found
        for below, children in node.children.items()
        if key == below or key.startswith(f"{below}/")
        for child in children
        for found in _instances(child, key)
    ]


def _path(place: ImagePlace) -> str:
    labels: list[str] = []
    each: ImagePlace | None = place
    while each is not None and each.kind != "document":
        labels.append(str(each.label))
        each = each.parent
    return "/" + "/".join(reversed(labels))
