"""Names as publishers choose them: synonyms, abbreviations, other spellings, and invented roots."""

from __future__ import annotations

from collections.abc import Container, Iterator
from random import Random

from twigcast.rewriting.matching.thesaurus import Thesaurus

_VOWELS = frozenset("aeiou")
_SYLLABLES = (
    "ba",
    "cor",
    "del",
    "fen",
    "gal",
    "ho",
    "lin",
    "mar",
    "nor",
    "os",
    "pen",
    "ri",
    "sal",
    "tor",
    "vin",
)
_GROUPS = ("info", "details", "data", "general", "block", "entry", "record", "header", "main", "group")


def new_name(name: str, parent: str, thesaurus: Thesaurus, taken: Container[str], random: Random) -> str:
    """Another name for an element, one that is not taken; it has the prefix of the old name."""
    prefix, colon, local = name.rpartition(":")
    ways = list(dict.fromkeys(_ways(local, parent.rpartition(":")[2], thesaurus)))
    random.shuffle(ways)
    return prefix + colon + _free(ways, local, prefix + colon, taken)


def root_name(name: str, taken: Container[str], random: Random) -> str:
    """An invented name for a root, as catalogues are named after their universities."""
    prefix, colon, local = name.rpartition(":")
    invented = ["".join(random.sample(_SYLLABLES, 2 + number // 8)) for number in range(16)]
    return prefix + colon + _free(invented, local, prefix + colon, taken)


def group_name(taken: Container[str], random: Random) -> str:
    """A name for an element that only groups others."""
    return _free(random.sample(_GROUPS, len(_GROUPS)), "group", "", taken)


def _ways(local: str, parent: str, thesaurus: Thesaurus) -> Iterator[str]:
    synonyms = sorted(
        {word for group in thesaurus.groups if local.lower() in group for word in group} - {local.lower()}
    )
    for word in (*synonyms, *synonyms, local):
        yield word
        yield word.capitalize()
    yield local[:3]
    yield local[:4].capitalize()
    yield local[0] + "".join(letter for letter in local[1:] if letter.lower() not in _VOWELS)
    yield parent.capitalize() + local.capitalize()
    yield f"{local}_"
    yield local.upper()


def _free(ways: list[str], local: str, before: str, taken: Container[str]) -> str:
    for way in ways:
        if way and before + way not in taken and way[0].isalpha():
            return way
    number = 2
    while f"{before}{local}{number}" in taken:
        number += 1
    return f"{local}{number}"
