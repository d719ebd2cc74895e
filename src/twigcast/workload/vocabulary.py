"""Pools of values, from which both documents and subscriptions are generated.

Since both use the same pools, a predicate has a fair chance to hold.  A pool is a tuple in which each value
occurs as often as its Zipf weight says, and a random position in it is a random value.
Pools depend only on the schema, not on the seed: documents of one seed fit subscriptions of another.
"""

from __future__ import annotations

from functools import cache
from itertools import accumulate
from random import Random

from twigcast.schema import AttributeDeclaration, AttributeKind, ElementDeclaration, Presence

POOL = 512
"""The size of a pool: enough for the tail of a Zipf distribution over a few dozen values."""

IDS = 40
"""How many identifiers of a document subscriptions may ask for."""


def zipf_weights(count: int, skew: float) -> list[float]:
    """Cumulative Zipf weights of ``count`` ranks: rank r has the weight 1/r^skew, so skew 0 is uniform."""
    return list(accumulate(1.0 / rank**skew for rank in range(1, count + 1)))


def zipf_pool(values: tuple[str, ...], skew: float, size: int = POOL) -> tuple[str, ...]:
    """The values, earlier ones more often, each at least once if there is room."""
    cumulative = zipf_weights(len(values), skew)
    total = cumulative[-1]
    size = max(size, len(values))
    pool: list[str] = []
    for position, (value, weight) in enumerate(zip(values, cumulative, strict=True), 1):
        left = len(values) - position
        until = min(max(round(size * weight / total), len(pool) + 1), size - left)
        pool.extend([value] * (until - len(pool)))
    return tuple(pool)


@cache
def text_pool() -> tuple[str, ...]:
    """Words and numbers in the order of a running text: a slice is a phrase, one position is a word."""
    pool = list(zipf_pool(_words_and_numbers(), 0.9, 8192))
    Random("running text").shuffle(pool)
    return tuple(pool)


def element_pool(element: ElementDeclaration) -> tuple[str, ...]:
    """The pool for the text of an element that is a single value."""
    return zipf_pool(element.values, 0.8) if element.values else text_pool()


def attribute_pool(attribute: AttributeDeclaration) -> tuple[str, ...]:
    """The pool for the values of an attribute; of identifiers, the first ones that documents assign."""
    if attribute.presence is Presence.FIXED and attribute.default is not None:
        return (attribute.default,)
    if attribute.values:
        return zipf_pool(attribute.values, 0.8)
    if attribute.kind in (AttributeKind.ID, AttributeKind.IDREF, AttributeKind.IDREFS):
        return zipf_pool(tuple(identifier(number) for number in range(1, IDS + 1)), 0.5)
    if attribute.kind is AttributeKind.CDATA:
        return _numbers_and_words()
    return _tokens()


def identifier(number: int) -> str:
    """The ``number``-th identifier of a document."""
    return f"n{number}"


@cache
def _numbers_and_words() -> tuple[str, ...]:
    numbers = zipf_pool(tuple(str(number) for number in range(21)), 0.7, POOL * 3 // 4)
    return numbers + zipf_pool(_WORDS[:64], 0.7, POOL // 4)


@cache
def _tokens() -> tuple[str, ...]:
    return zipf_pool(_WORDS[:64], 0.8)


@cache
def _words_and_numbers() -> tuple[str, ...]:
    """Words in which every eighth is a number, so that numbers have the same frequencies as words."""
    mixed: list[str] = []
    for place, word in enumerate(_WORDS):
        mixed.append(word)
        if place % 8 == 3:
            mixed.append(str(place // 8 * 5 % 97))
    return tuple(dict.fromkeys(mixed))


_TEXT = """
market minister agreement report city growth election court water company price vote border harbour
season energy budget school doctor union train bridge factory museum storm river harvest bank strike
council police player league goal team record festival concert film author book garden island mountain
village airport road summer winter morning evening week month year century government parliament
president mayor treaty law tax reform debt trade export import industry worker wage pension hospital
patient vaccine research science student teacher university language history theatre actor painter
singer orchestra stadium match coach final victory defeat protest march speech promise plan project
contract deal merger share profit loss forecast rain snow wind drought flood fire rescue pilot ship
captain engine fuel oil gas coal solar power plant grid cable satellite rocket orbit telescope star
planet earth ocean coast beach forest tree bird fish wolf bear horse farmer wheat corn fruit wine cheese
bread coffee sugar salt copper iron steel gold silver stone glass paper letter phone network screen
camera robot software data code patent prize award medal crown queen king prince palace church tower
wall gate square street station tunnel canal dam lake valley desert north south east west capital region
district province nation people family child woman man friend neighbour guest visitor tourist hotel
kitchen table chair door window roof floor light shadow colour sound music dance song story poem news
press editor reader witness judge lawyer jury verdict appeal prison guard soldier general peace war
truce talks summit envoy embassy visa passport customs freight cargo parcel post office clerk manager
director founder owner tenant landlord rent house cottage estate castle ruin temple bell clock calendar
holiday parade
"""

_WORDS = tuple(_TEXT.split())
