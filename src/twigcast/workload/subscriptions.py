"""Generates random subscriptions that documents of a schema can match.

A subscription is a walk down the element graph, written step by step:

    nitf ─► body ─► body.content ─► p ─► person        the walk
    /nitf   /*      //                p[em]/person     /nitf/*//p[em]/person

Each step goes to a child of the element before.  With probability p(//) some levels are skipped, with p(*)
the name is replaced by ``*``, with p(nested) a second walk from the same element is added in brackets, with
p(value) a condition on an attribute or on text, whose value comes from the pools that the documents are
generated from.  A condition on the whole document can be put before each subscription (``test_condition``).
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random

from twigcast.errors import SchemaError
from twigcast.schema import AttributeKind, ElementDeclaration, ElementGraph
from twigcast.workload.vocabulary import attribute_pool, element_pool, zipf_weights


@dataclass(frozen=True, slots=True)
class SubscriptionOptions:
    """The parameters of generated subscriptions, as the papers give them.

    | | steps | p(*) | p(//) | p(nested) | skew | distinct |
    |---|---|---|---|---|---|---|
    | thesis, Table 4.2 (piggybacking) | 8 | 0.1 | 0.1 | 0.1, **0.2**, 0.4 | 0, **0.5** | |
    | thesis, Table 6.1 (rewriting) | 8 | 0.2 | not given | 0.2 | not given | |
    | routing, section 5 | 10 | varied | varied | 0 | not given | yes |
    | chunking, section 5.1 | | | in 3 of 10 queries | a filter in 3 of 10 | | |

    Probabilities are per step.
    """

    seed: int = 0
    max_steps: int = 8
    min_steps: int = 4
    """Lengths are uniform between ``min_steps`` and ``max_steps``, as far as the schema is deep enough."""
    wildcard: float = 0.1
    descendant: float = 0.1
    nested: float = 0.0
    nested_steps: int = 3
    """The most steps of a nested path."""
    nesting: int = 1
    """How deep nested paths are nested in each other; 1, as in the papers, means not at all."""
    value: float = 0.0
    skew: float = 0.0
    """Zipf skew of the names, in the order of the content model; 0 is uniform."""
    max_depth: int = 10
    """The maximal number of levels that a walk goes down, including skipped levels."""
    distinct: bool = True
    test_condition: bool = False
    """Whether each subscription demands the ``<test/>`` of ``DocumentOptions.test_element``.

    Then none of them matches before that element has been read (thesis, section 4.6.1).
    """

    def __post_init__(self) -> None:
        for name in ("wildcard", "descendant", "nested", "value"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise ValueError(f"{name} must be between 0 and 1, not {getattr(self, name)}")
        if not 1 <= self.min_steps <= self.max_steps:
            raise ValueError("min_steps must be at least 1 and at most max_steps")
        if min(self.nested_steps, self.nesting, self.max_depth) < 1 or self.skew < 0.0:
            raise ValueError("nested_steps, nesting and max_depth must be at least 1, skew not negative")


TEST_CONDITION = "/self::node()[.//test]"
"""The condition on a document that has a ``<test/>``; the papers write ``[//test]``."""
TRIES = 2_000
"""After this many walks in a row without a new subscription, no more distinct ones are looked for."""


def generate_subscriptions(
    graph: ElementGraph, count: int, options: SubscriptionOptions | None = None
) -> Iterator[str]:
    """Yield XPath texts; raises ``SchemaError`` if they must be distinct and no more can be found.

    Names are written as in the graph, whose ``namespaces`` bind the prefixes.
    """
    options = options or SubscriptionOptions()
    write = _writer(graph, options)
    if not options.distinct:
        for _ in range(count):
            yield write()
        return
    seen: set[str] = set()
    failed = 0
    while len(seen) < count:
        text = write()
        if text in seen:
            failed += 1
            if failed == TRIES:
                raise SchemaError(
                    f"only {len(seen):,} of {count:,} distinct subscriptions were found, and {TRIES:,} tries"
                    " in a row gave nothing new; allow more steps or depth, or repetitions",
                )
        else:
            failed = 0
            seen.add(text)
            yield text


@dataclass(slots=True, eq=False)
class _Place:
    """An element on the walk: the children that the walk can go to, and the conditions on its values.

    ``onward[n]`` are the children below which n more steps are possible, with cumulative weights if the
    weights differ.  So every walk reaches its length: an early version that took any child threw away nine of
    ten walks on the way to a million distinct paths, most of them the same few short ones.
    """

    name: str
    reach: int = 0
    onward: list[tuple[list[_Place], list[float] | None]] = field(default_factory=list)
    conditions: list[_Condition] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class _Condition:
    """Templates of conditions on a value, likely ones repeated, and the pool of values.

    ``numeric`` are the templates for numbers; each template has one ``{}`` for the literal.
    """

    ways: tuple[str, ...]
    numeric: tuple[str, ...]
    literals: tuple[str, ...]


_NAME_WAYS = (*("[@{name}={{}}]",) * 9, "[@{name}!={{}}]")
_ATTRIBUTE_WAYS = (
    *("[@{name}={{}}]",) * 7,
    "[@{name}!={{}}]",
    "[contains(@{name},{{}})]",
    "[starts-with(@{name},{{}})]",
)
_NUMERIC_ATTRIBUTE_WAYS = (
    *("[@{name}={{}}]",) * 7,
    "[@{name}!={{}}]",
    *("[@{name}<{{}}]",) * 2,
    *("[@{name}>{{}}]",) * 2,
    "[@{name}<={{}}]",
    "[@{name}>={{}}]",
)
_FREE = (AttributeKind.CDATA, AttributeKind.NMTOKEN, AttributeKind.NMTOKENS)
_TEXT_WAYS = (
    *("[text()={}]",) * 4,
    *("[.={}]",) * 2,
    *("[contains(.,{})]",) * 2,
    "[contains(text(),{})]",
    "[starts-with(.,{})]",
)
_NUMERIC_TEXT_WAYS = (
    *("[text()={}]",) * 4,
    *("[.={}]",) * 2,
    "[text()<{}]",
    "[text()>{}]",
    "[.<={}]",
    "[.>={}]",
)


def _writer(graph: ElementGraph, options: SubscriptionOptions) -> Callable[[], str]:
    """A function that returns the next subscription; everything it needs is computed here, once."""
    start = _places(graph, options)
    random = Random(f"subscriptions/{options.seed}").random
    wildcard, descendant, nested, value = options.wildcard, options.descendant, options.nested, options.value
    deepest = options.max_depth
    longest = min(options.max_steps, start.reach, deepest)
    shortest = min(options.min_steps, longest)
    lengths = longest - shortest + 1
    nested_steps, nesting = options.nested_steps, options.nesting if nested else 0

    def down(place: _Place, steps: int) -> _Place:
        children, cumulative = place.onward[steps]
        if cumulative is None:
            return children[int(random() * len(children))]
        return children[bisect(cumulative, random() * cumulative[-1])]

    def walk(place: _Place, steps: int, levels: int, axis: str, nesting: int) -> str:
        """The text of that many steps below a position, within that many levels, beginning with ``axis``."""
        pieces: list[str] = []
        while steps:
            steps -= 1
            levels -= 1
            place = down(place, steps)
            if random() < descendant:
                axis = "//" if axis else ".//"
                hidden = True
                while hidden and levels > steps and place.reach > steps:
                    levels -= 1
                    place = down(place, steps)
                    hidden = random() < 0.5
            pieces.append(axis)
            axis = "/"
            pieces.append("*" if random() < wildcard else place.name)
            if nesting and random() < nested:
                most = min(nested_steps, place.reach, levels)
                if most:
                    pieces.append(f"[{walk(place, 1 + int(random() * most), levels, '', nesting - 1)}]")
            if value and random() < value and place.conditions:
                pieces.append(_condition(place, random))
        return "".join(pieces)

    before = TEST_CONDITION if options.test_condition else ""
    return lambda: before + walk(start, shortest + int(random() * lengths), deepest, "/", nesting)


def _condition(place: _Place, random: Callable[[], float]) -> str:
    condition = place.conditions[int(random() * len(place.conditions))]
    literal = condition.literals[int(random() * len(condition.literals))]
    ways = condition.ways if literal[0] in "'\"" else condition.numeric
    return ways[int(random() * len(ways))].format(literal)


def _places(graph: ElementGraph, options: SubscriptionOptions) -> _Place:
    """The position above the root, whose only child is the root element."""
    places = {element.name: _Place(element.name) for element in graph}
    children = {
        name: [places[child.name] for child in graph.children(name) if child.name in graph.heights]
        for name in places
    }
    start = _Place("")
    children[""] = [places[graph.root]]
    everywhere = [start, *places.values()]
    furthest = options.max_depth
    for _ in range(furthest):  # after n rounds the reach is right up to n
        for place in everywhere:
            place.reach = min(max((1 + child.reach for child in children[place.name]), default=0), furthest)
    for place in everywhere:
        for steps in range(place.reach):
            able = [child for child in children[place.name] if child.reach >= steps]
            place.onward.append((able, zipf_weights(len(able), options.skew) if options.skew else None))
    if options.value:
        for element in graph:
            places[element.name].conditions = _conditions(element, graph)
    return start


def _conditions(element: ElementDeclaration, graph: ElementGraph) -> list[_Condition]:
    bound = {prefix for prefix, _ in graph.namespaces}
    conditions = []
    for attribute in element.attributes:
        prefix, colon, local = attribute.name.rpartition(":")
        if attribute.kind is AttributeKind.ENTITY or local == "xmlns" or (colon and prefix not in bound):
            continue
        ways = _ATTRIBUTE_WAYS if attribute.kind in _FREE else _NAME_WAYS
        conditions.append(
            _Condition(
                tuple(way.format(name=attribute.name) for way in ways),
                tuple(way.format(name=attribute.name) for way in _NUMERIC_ATTRIBUTE_WAYS),
                _literals(attribute_pool(attribute)),
            )
        )
    if element.has_text:
        conditions.append(_Condition(_TEXT_WAYS, _NUMERIC_TEXT_WAYS, _literals(element_pool(element))))
    return [condition for condition in conditions if condition.literals]


def _literals(pool: tuple[str, ...]) -> tuple[str, ...]:
    """The values as XPath literals, numbers without quotes; values with both kinds of quote are left out."""
    literals = {}
    for value in dict.fromkeys(pool):
        if value.isascii() and value.isdigit():
            literals[value] = value
        elif "'" not in value:
            literals[value] = f"'{value}'"
        elif '"' not in value:
            literals[value] = f'"{value}"'
    return tuple(literals[value] for value in pool if value in literals)
