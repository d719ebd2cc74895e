"""The piggyback strategies by name: when a router sends a document on, and what it says about it.

    (ES|L)[+positive][-negative]        ES, L, ES+s, L-d, L+s-sd, …, and: adaptive

    ES   eager: a neighbour is sent the document when its first pattern is found to match
    L    lazy: all neighbours are sent the document when it has been read to its end
    +s   positive subscription: how wildcards of a subscription of the neighbour are bound in the document
    +d   positive data: after which end tag a chain of names does not occur any more
    -s   negative subscription: which subscriptions of the neighbour the document does not match
    -d   negative data: which chains of names do not occur in the document
    +t   structure: the element tree with equal siblings merged
    +a   answers: which patterns of the neighbour's table the document matches
    -r   ranges: the least and greatest value of attributes and leaf elements

The first four kinds and their 21 combinations are those of the papers; the letters t, a and r are ours.
A strategy changes the cost, never a delivery.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from twigcast.errors import RoutingError

POSITIVE, NEGATIVE = "sdta", "sdr"
"""The letters, in the order in which a name has them."""


class Timing(Enum):
    """When a router sends a document to a neighbour that wants it."""

    EAGER = "ES"
    LAZY = "L"
    ADAPTIVE = "adaptive"
    """Eager where that gains more than the annotations of ``L+s-sd`` save downstream, otherwise lazy."""


@dataclass(frozen=True, slots=True)
class Protocol:
    """A piggyback strategy: when documents are sent, and the kinds of annotations, as letters."""

    timing: Timing
    positive: str = ""
    negative: str = ""

    @property
    def name(self) -> str:
        """The canonical name."""
        if self.timing is Timing.ADAPTIVE:
            return str(self.timing.value)
        positive = f"+{self.positive}" if self.positive else ""
        negative = f"-{self.negative}" if self.negative else ""
        return f"{self.timing.value}{positive}{negative}"

    @property
    def has_plan(self) -> bool:
        """Whether a router must tell its neighbours which annotations it wants."""
        return bool(self.positive.strip("t") or self.negative)


def protocol(name: str) -> Protocol:
    """Return the piggyback strategy of a name; raises ``RoutingError``."""
    if name == Timing.ADAPTIVE.value:
        return Protocol(Timing.ADAPTIVE, "s", "sd")
    found = _NAME.fullmatch(name)
    if found is None:
        raise _wrong(name, "expected ES or L, then + and letters of 'sdta', then - and letters of 'sdr'")
    timing, positive, negative = found.groups(default="")
    for letters in (positive, negative):
        if len(set(letters)) < len(letters):
            raise _wrong(name, "a letter occurs twice")
    if timing == "ES" and negative:
        raise _wrong(name, "a router that sends early has not read the rest, so ES has no negative kinds")
    if timing == "ES" and set(positive) & set("ta"):
        raise _wrong(name, "structure and answers need the whole document, so they go with L")
    return Protocol(
        Timing(timing),
        "".join(sorted(positive, key=POSITIVE.index)),
        "".join(sorted(negative, key=NEGATIVE.index)),
    )


KINDS = {
    "proofs": "+s",
    "positions": "+d",
    "structure": "+t",
    "answers": "+a",
    "refutations": "-s",
    "absences": "-d",
    "ranges": "-r",
}
"""The kinds of annotations by the words that files have for them."""


def annotations_named(kinds: str | Iterable[str]) -> str | None:
    """Return the name of the strategy that has these kinds of annotations; None if it is "none".

    A name of the papers stands for itself.  Raises ``RoutingError``.
    """
    if kinds == "none":
        return None
    if isinstance(kinds, str) and (kinds in ("ES", "L", "adaptive") or kinds[:2] in ("ES", "L+", "L-")):
        return protocol(kinds).name
    words = [kinds] if isinstance(kinds, str) else list(kinds)
    for word in words:
        if word not in KINDS:
            expected = f"expected none, or some of {', '.join(KINDS)}"
            raise RoutingError(f"{expected}, got {word!r}", code="strategy", name="annotations")
    signs = [KINDS[word] for word in dict.fromkeys(words)]
    letters = {sign: "".join(each[1] for each in signs if each[0] == sign) for sign in "+-"}
    return protocol("L" + "".join(f"{sign}{found}" for sign, found in letters.items() if found)).name


_NAME = re.compile(r"(ES|L)(?:\+([sdta]+))?(?:-([sdr]+))?")


def _wrong(name: str, why: str) -> RoutingError:
    return RoutingError(f"{name!r} is no piggyback strategy: {why}", code="strategy", name="piggyback")
