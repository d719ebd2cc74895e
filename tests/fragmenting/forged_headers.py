"""Headers in which one field is altered, as a sender that errs or lies would write them."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from random import Random
from typing import Any

from twigcast.fragmenting import Fragment, Header
from twigcast.fragmenting.header_fields import BadField, header_fields, read_header

Place = tuple[str | int, ...]


def fields_of(header: Header) -> dict[str, Any]:
    """The fields of a header, as a receiver reads them."""
    fields: dict[str, Any] = json.loads(json.dumps(header_fields(header)))
    return fields


def altered(random: Random, part: Fragment) -> tuple[Place, Fragment] | None:
    """A fragment with one field of its header altered, and which; ``None`` if no alteration was possible."""
    fields = fields_of(part.header)
    places = [place for place in _places(fields) if place != ("doc",)]
    for _ in range(50):
        place = random.choice(places)
        forged = copy.deepcopy(fields)
        _alter(random, forged, place)
        if forged == fields:
            continue
        try:
            header = read_header(forged)
        except BadField:
            continue
        if header.size == len(part.body):
            return place, Fragment(header, part.body)
    return None


def _places(value: Any, above: Place = ()) -> Iterator[Place]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in items:
        yield (*above, key)
        yield from _places(each, (*above, key))


def _alter(random: Random, fields: dict[str, Any], place: Place) -> None:
    at: Any = fields
    for key in place[:-1]:
        at = at[key]
    key = place[-1]
    value = at[key]
    if random.random() < 0.1 or value is True:
        del at[key]
    elif isinstance(value, int):
        at[key] = max(0, value + random.choice([-3, -2, -1, 1, 2, 3, 100]))
    elif isinstance(value, str):
        at[key] = _other_text(random, value)
    elif isinstance(value, list) and value:
        one, other = random.randrange(len(value)), random.randrange(len(value))
        match random.randrange(3):
            case 0:
                del value[one]
            case 1:
                value.insert(one, copy.deepcopy(value[one]))
            case _:
                value[one], value[other] = value[other], value[one]


def _other_text(random: Random, text: str) -> str:
    fragment, dot, number = text.partition(".")
    if dot and fragment.isdigit() and number.isdigit():
        near = max(0, int(fragment) + random.choice([-1, 0, 0, 1]))
        return f"{near}.{max(0, int(number) + random.choice([-1, 0, 1, 2]))}"
    return random.choice(["a", "b", "c", "x", f"{text}b", "p:a", "", "1", "7", "u"])
