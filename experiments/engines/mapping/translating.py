"""Query rewriting (QRA): translates a subscription to the schema of one publisher, instead of its documents.

    mapping cmu: Rename Course → course, Lecturer → name; InsertEach Course, instructor {Lecturer}; …
    //course[instructor/name='Ailamaki']    becomes    /cmu/Course[Lecturer='Ailamaki']

Each step is embedded into the places of the image and replaced by the route between the anchors, in text such
as ``../x/y``; the parser turns this text into a pattern.  An answer is equal where every condition sees the
same elements in the source as in the image.  A condition that does not is left out: then the translation is
inexact, matches at least the documents that it should, and what it finds must be confirmed on the image.
Conditions of this kind are those on positions and string-values of elements whose content has moved, on the
number of copies, and all general expressions.

This holds for documents that the source schema describes: an element that the schema does not know is kept by
the mapping, but no translation looks for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from experiments.engines.mapping.image_places import (
    Down,
    ImagePlace,
    ImagePlaces,
    NoPlacesError,
    Route,
    ToAttribute,
    Up,
    Where,
    on_attribute,
)
from twigcast.errors import PatternError
from twigcast.pattern import (
    And,
    AttributeTail,
    Axis,
    Comparison,
    Count,
    Exists,
    Length,
    NameTest,
    Not,
    Onward,
    Or,
    Path,
    Pattern,
    Predicate,
    StringTest,
    TextTail,
    compare,
    demands_a_node,
    parse,
    render_name,
)
from twigcast.pattern.rendering import render_predicate
from twigcast.rewriting.labels import QName
from twigcast.rewriting.mapping import Mapping

MOST_WAYS = 400
"""The largest number of ways to embed one path."""
ANYTHING = parse("/")


class Translation(NamedTuple):
    """A pattern for the documents of one publisher; None if no document of the publisher can match.

    It is exact if it matches a document just when the original matches the image; else it matches more.
    """

    pattern: Pattern | None
    exact: bool


def translate(pattern: Pattern, mapping: Mapping) -> Translation:
    """Translate one pattern; ``QueryTranslator`` is faster for many."""
    return QueryTranslator(mapping).translate(pattern)


class QueryTranslator:
    """Translates patterns over the image of a mapping to patterns over its source."""

    def __init__(self, mapping: Mapping) -> None:
        try:
            self._places: ImagePlaces | None = ImagePlaces(mapping)
        except NoPlacesError:
            self._places = None

    def translate(self, pattern: Pattern) -> Translation:
        """Translate a pattern."""
        if self._places is None:
            return Translation(ANYTHING, False)
        try:
            texts, exact = _Embedding(self._places).absolute(pattern)
            return Translation(parse(" | ".join(texts)) if texts else None, exact)
        except (_TooManyWays, PatternError):  # the text may be longer or deeper than patterns may be
            return Translation(ANYTHING, False)


class _TooManyWays(Exception):
    pass


class _Verdict(NamedTuple):
    """A condition as text, ``TRUE`` or ``FALSE``; if it is not exact, it holds wherever the original does."""

    text: str
    exact: bool = True


TRUE, FALSE = "true()", "false()"
UNKNOWN = _Verdict(TRUE, False)


@dataclass(frozen=True, slots=True)
class _Way:
    """One way to embed a path: its steps in the source, and the place where it ends."""

    steps: tuple[str, ...]
    place: ImagePlace
    has_value: bool
    """Whether the string-value of what it selects is that in the source."""
    is_single: bool
    """Whether it selects each node once: no step leads up after one that led down."""
    went_down: bool

    @property
    def text(self) -> str:
        return "/".join(self.steps) or "."


class _Embedding:
    def __init__(self, places: ImagePlaces) -> None:
        self._places = places

    def absolute(self, pattern: Pattern) -> tuple[list[str], bool]:
        """The texts of the alternatives, and whether they are exact."""
        exact = True
        texts: dict[str, None] = {}
        for path in pattern.alternatives:
            ways, same = self._ways(path, self._places.top)
            exact = exact and same
            texts |= dict.fromkeys("/" + "/".join(way.steps) for way in ways)
        return list(texts), exact

    # Paths

    def _ways(self, path: Path, context: ImagePlace) -> tuple[list[_Way], bool]:
        """All ways to embed a path below a place, and whether their conditions are exact."""
        start = _Way((), context, self._places.has_source_value(context), True, False)
        condition = self._all(path.filters, context)
        exact = condition.exact
        ways = [] if condition.text == FALSE else [_filtered(start, condition.text)]
        for step in path.steps:
            after: list[_Way] = []
            known: dict[int, _Verdict] = {}
            for way in ways:
                for extended in self._reached(way, step.axis, step.test):
                    place = extended.place
                    if id(place) not in known:
                        known[id(place)] = self._all(step.predicates, place)
                        exact = exact and known[id(place)].exact
                    condition = known[id(place)]
                    if condition.text != FALSE:
                        after.append(_filtered(extended, condition.text))
                    if len(after) > MOST_WAYS:
                        raise _TooManyWays
            ways = after
        if isinstance(path.tail, Onward):
            return ways, exact and not ways
        if isinstance(path.tail, AttributeTail):
            found = [self._attributes(way, path.tail.test) for way in ways]
            return [each for some, _ in found for each in some], exact and all(same for _, same in found)
        if isinstance(path.tail, TextTail):
            return [each for way in ways for each in self._texts(way)], exact
        return ways, exact

    def _reached(self, way: _Way, axis: Axis, test: NameTest) -> Iterable[_Way]:
        for child in way.place.children:
            extended = _extended(way, child.route, child, self._places.has_source_value(child))
            if test.admits(*child.label):
                yield extended
            if axis is Axis.DESCENDANT:
                yield from self._reached(extended, axis, test)

    def _attributes(self, way: _Way, test: NameTest) -> tuple[list[_Way], bool]:
        place = way.place
        if place.kind != "element":
            return [], True
        kept = {each.source: each.label for each in place.attributes}
        if test.namespace is not None and test.local is not None:
            names = [source for source, label in kept.items() if test.admits(*label)]
            name = QName(test.namespace, test.local)
            if name not in place.declared:  # one that the schema lacks
                names.append(name)
            exact = all(name != label for label, _ in place.displaced)
            return [_to_attribute(way, f"@{each}") for each in names], exact
        changed = bool(place.displaced) or any(kept.get(name) != name for name in place.declared)
        if changed:
            return [_to_attribute(way, "@*", has_value=False)], False
        return [_to_attribute(way, f"@{render_name(test)}")], True

    def _texts(self, way: _Way) -> list[_Way]:
        if not way.place.has_text:
            return []
        steps = _with_condition(way.steps, ". != ''") if on_attribute(way.place) else (*way.steps, "text()")
        return [_Way(steps, way.place, way.has_value, way.is_single, True)]

    # Conditions

    def _all(self, predicates: Sequence[Predicate], context: ImagePlace) -> _Verdict:
        return _conjoined([self._condition(each, context) for each in predicates])

    def _condition(self, predicate: Predicate, context: ImagePlace) -> _Verdict:
        match predicate:
            case And(operands):
                return self._all(operands, context)
            case Or(operands):
                return _disjoined([self._condition(each, context) for each in operands])
            case Not(operand):
                inner = self._condition(operand, context)
                return _negated(inner) if inner.exact else UNKNOWN
            case Exists(paths):
                ways, exact = self._all_ways(paths, context)
                return _Verdict(_union(ways), exact)
            case Comparison(paths):
                return self._comparison(predicate, *self._all_ways(paths, context))
            case Count(paths, operator, value):
                ways, exact = self._all_ways(paths, context)
                if not ways and exact:
                    return _constant(compare(0, operator, value))
                if exact and all(way.is_single for way in ways):
                    return _Verdict(_counted(ways) + render_predicate(_of_self(predicate))[len("count(.)") :])
                return self._at_least(predicate, ways)
            case StringTest(function, paths, value):
                ways, exact = self._all_ways(paths, context)
                if not ways and exact:
                    return _constant(value == "")
                if exact and len(ways) == 1 and ways[0].has_value:
                    rest = render_predicate(_of_self(predicate))[len(f"{function}(.") :]
                    return _Verdict(f"{function}({ways[0].text}{rest}")
                return self._at_least(predicate, ways)
            case Length(paths, operator, value):
                ways, exact = self._all_ways(paths, context)
                if not ways and exact:
                    return _constant(compare(0, operator, value))
                if exact and len(ways) == 1 and ways[0].has_value:
                    rest = render_predicate(_of_self(predicate))[len("string-length(.") :]
                    return _Verdict(f"string-length({ways[0].text}{rest}")
                return self._at_least(predicate, ways)
            case _:  # a position, or a general expression
                return UNKNOWN

    def _all_ways(self, paths: Iterable[Path], context: ImagePlace) -> tuple[list[_Way], bool]:
        found = [self._ways(path, context) for path in paths]
        ways = [way for some, _ in found for way in some]
        if len(ways) > MOST_WAYS:
            raise _TooManyWays
        return ways, all(exact for _, exact in found)

    def _comparison(self, predicate: Comparison, ways: list[_Way], exact: bool) -> _Verdict:
        rest = render_predicate(_of_self(predicate))[1:]
        sure = [way for way in ways if way.has_value]
        unsure = [way for way in ways if not way.has_value]
        parts = [_Verdict(_grouped(sure) + rest, exact)] if sure else []
        parts += [_Verdict(_union(unsure), False)] if unsure else []
        return _disjoined(parts)

    def _at_least(self, predicate: Count | StringTest | Length, ways: list[_Way]) -> _Verdict:
        """What must hold if an inexact condition does: where it needs a node, that there is one."""
        return _Verdict(_union(ways), False) if demands_a_node(predicate) else UNKNOWN


# Text


def _of_self(predicate: Comparison | Count | StringTest | Length) -> Predicate:
    """The same condition on the context node itself; its text has a dot where the paths were."""
    itself = (Path(()),)
    match predicate:
        case Comparison(_, operator, value):
            return Comparison(itself, operator, value)
        case Count(_, operator, number):
            return Count(itself, operator, number)
        case StringTest(function, _, text):
            return StringTest(function, itself, text)
        case Length(_, operator, number):
            return Length(itself, operator, number)


def _extended(way: _Way, route: Route, place: ImagePlace, has_value: bool) -> _Way:
    single, down = way.is_single, way.went_down
    for move in route:
        if isinstance(move, Up):
            single = single and not down
        elif not isinstance(move, Where):
            down = True
    return _Way((*way.steps, *_steps(route)), place, has_value, single, down)


def _where(move: Where) -> str:
    present = ["/".join(_steps(route)) or "." for route in move.present]
    parts = [" | ".join(present)] if present else []
    if move.own:
        parts.append("text() | comment() | processing-instruction()")
    if move.value:
        parts.append(". != ''")
    absent = ["/".join(_steps(route)) or "." for route in move.absent]
    text = f"({' or '.join(parts)})" if parts else ""
    without = f"not({' | '.join(absent)})" if absent else ""
    return " and ".join(filter(None, (text, without))) or "true()"


def _steps(route: Route) -> list[str]:
    steps = []
    for move in route:
        match move:
            case Up():
                steps.append("..")
            case Down(_, label):
                steps.append(str(label))
            case ToAttribute(_, label):
                steps.append(f"@{label}")
            case Where():
                steps.append(f"self::node()[{_where(move)}]")
    return steps


def _to_attribute(way: _Way, step: str, has_value: bool = True) -> _Way:
    return _Way((*way.steps, step), way.place, has_value, way.is_single, True)


def _filtered(way: _Way, condition: str) -> _Way:
    if condition == TRUE:
        return way
    steps = _with_condition(way.steps, condition)
    return _Way(steps, way.place, way.has_value, way.is_single, way.went_down)


def _with_condition(steps: tuple[str, ...], condition: str) -> tuple[str, ...]:
    if not steps or steps[-1] == "..":
        return (*steps, f"self::node()[{condition}]")
    return (*steps[:-1], f"{steps[-1]}[{condition}]")


def _union(ways: Sequence[_Way]) -> str:
    if any(way.text == "." for way in ways):
        return TRUE
    return " | ".join(dict.fromkeys(way.text for way in ways)) or FALSE


def _grouped(ways: Sequence[_Way]) -> str:
    texts = list(dict.fromkeys(way.text for way in ways))
    return texts[0] if len(texts) == 1 else f"({' | '.join(texts)})"


def _counted(ways: Sequence[_Way]) -> str:
    """The number of nodes: those of one place may be reached in several ways, those of two are different."""
    by_place: dict[int, list[_Way]] = {}
    for way in ways:
        by_place.setdefault(id(way.place), []).append(way)
    counts = [f"count({_grouped(some)})" for some in by_place.values()]
    return " + ".join(counts)


def _constant(value: bool) -> _Verdict:
    return _Verdict(TRUE if value else FALSE)


def _negated(verdict: _Verdict) -> _Verdict:
    if verdict.text in (TRUE, FALSE):
        return _constant(verdict.text == FALSE)
    return _Verdict(f"not({verdict.text})")


def _conjoined(verdicts: Sequence[_Verdict]) -> _Verdict:
    if any(each.text == FALSE for each in verdicts):
        return _Verdict(FALSE)
    texts = [each.text for each in verdicts if each.text != TRUE]
    exact = all(each.exact for each in verdicts)
    if len(texts) < 2:
        return _Verdict(texts[0] if texts else TRUE, exact)
    return _Verdict(" and ".join(f"({text})" for text in texts), exact)


def _disjoined(verdicts: Sequence[_Verdict]) -> _Verdict:
    if any(each.text == TRUE and each.exact for each in verdicts):
        return _Verdict(TRUE)
    texts = [each.text for each in verdicts if each.text != FALSE]
    exact = all(each.exact for each in verdicts)
    if TRUE in texts:
        return UNKNOWN
    if len(texts) < 2:
        return _Verdict(texts[0] if texts else FALSE, exact)
    return _Verdict(" or ".join(f"({text})" for text in texts), exact)
