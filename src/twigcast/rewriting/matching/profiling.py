"""What the values of a place look like: a profile, by which places are compared whatever their names are.

    instructorEmail   Matthew Zaleski, E.C.R. Hehner, …      proper name 0.97, e-mail 0.00
    instructorName    matz@cdf.cs.toronto.edu, …             proper name 0.00, e-mail 0.95

A profile has the share of values of each kind, their mean length, and how many of them are distinct.  The
profile of a place of the global schema is pooled from the publishers that are already mapped to it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from twigcast.document import Document, Element, Text
from twigcast.rewriting.labels import QName
from twigcast.rewriting.schema_tree import SchemaNode, SchemaTree

VETO = 0.6
"""Places whose shares of e-mail addresses or URLs differ by more than this are never a pair."""
MOST_VALUES = 2000
"""How many values of a place are looked at."""

KINDS: dict[str, re.Pattern[str]] = {
    "e-mail": re.compile(r"[\w.+-]+@[\w-]+(\.[\w-]+)+"),
    "URL": re.compile(r"(https?|ftp)://\S+|www\.\S+"),
    "date": re.compile(r"\d{4}-?\d\d-?\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4}"),
    "weekdays": re.compile(r"(Mon?|Tue?|Wed?|Thu?|Fri?|Sat?|Sun?|[MTWRF])([,/ ]*(Tu|Th|Sa|Su|[MTWRFS]))*"),
    "number": re.compile(r"[-+(]*\d+([.,]\d+)*\s?%?\)?"),
    "time": re.compile(r".*\d(:\d\d|\s?[ap]m)\b.*", re.I | re.S),
    "code": re.compile(r"(?=.*\d)([A-Za-z]{1,5}[- ]?)?[A-Z]?\d[\w*./-]*([ /]\S{1,8})?"),
    "letters": re.compile(r"[A-Z]{1,5}"),
    "proper name": re.compile(
        r"(\w+\. )?([A-Z]\. ?)*[A-Z][\w'’-]+(,? ([A-Z]\. ?)*([A-Z][\w'’-]+|[A-Z]\.?)){0,2}( \(\w+\))?"
    ),
    "prose": re.compile(r"(\S+\s+){7,}\S+.*", re.S),
    "other": re.compile(r".*", re.S),
}
"""The kinds of values; a value is of the first kind that fits the whole of it."""
DISTINCTIVE = ("e-mail", "URL", "date", "weekdays", "time", "proper name")
"""Kinds that say something by themselves; any number looks like any other."""
EXPECTED = {"e-mail": ("email", "mail"), "URL": ("url", "website", "homepage")}
"""Words in the name of a place that say which kind its values have."""
STRICT = ("e-mail", "URL")
"""Kinds that cannot be taken for any other."""


@dataclass(frozen=True, slots=True)
class ValueProfile:
    """The values of one place: how many, the share of each kind, mean length, and share of distinct ones."""

    count: int
    shares: Mapping[str, float]
    length: float
    distinct: float

    @classmethod
    def of(cls, values: Iterable[str]) -> ValueProfile | None:
        """The profile of some values, None if all of them are empty or a dash or dot, which says "none"."""
        kept = [text for value in values if any(map(str.isalnum, text := " ".join(value.split())))]
        if not kept:
            return None
        kinds = Counter(map(_kind, kept))
        shares = {kind: kinds[kind] / len(kept) for kind in KINDS}
        length = sum(map(len, kept)) / len(kept)
        return cls(len(kept), shares, length, len(set(kept)) / len(kept))

    @classmethod
    def expected(cls, words: Iterable[str]) -> ValueProfile | None:
        """The profile that a name promises, such as e-mail addresses; None for most names."""
        found = set(words)
        for kind, names in EXPECTED.items():
            if not found.isdisjoint(names):
                return cls(0, {each: float(each == kind) for each in KINDS}, 0.0, 0.0)
        return None

    @property
    def kind(self) -> str:
        """The most frequent kind of values."""
        return max(self.shares, key=self.shares.__getitem__)

    def similarity(self, other: ValueProfile) -> float:
        """How similar two profiles are, from 0 to 1; of one that a name promises, only the kind counts."""
        kinds = math.fsum(abs(self.shares[kind] - other.shares[kind]) for kind in KINDS) / 2
        if not self.count or not other.count:
            return max(0.0, 1.0 - kinds)
        length = abs(math.log((1 + self.length) / (1 + other.length))) / math.log(10)
        distinct = abs(self.distinct - other.distinct)
        return max(0.0, 1.0 - kinds) * max(0.0, 1.0 - 0.5 * length) * (1.0 - 0.2 * distinct)

    def vetoes(self, other: ValueProfile) -> bool:
        """Whether the values cannot be of one kind, whatever the names say."""
        return any(abs(self.shares[kind] - other.shares[kind]) > VETO for kind in STRICT)


def pooled(profiles: Iterable[ValueProfile]) -> ValueProfile:
    """One profile for several, each with the same weight: a large publisher does not outvote the others."""
    found = list(profiles)
    number = len(found)
    return ValueProfile(
        sum(each.count for each in found),
        {kind: math.fsum(each.shares[kind] for each in found) / number for kind in KINDS},
        math.fsum(each.length for each in found) / number,
        math.fsum(each.distinct for each in found) / number,
    )


def pooled_profiles(
    publishers: Iterable[tuple[Mapping[str, str], Mapping[str, ValueProfile]]],
) -> dict[str, ValueProfile]:
    """The profiles of places of the global schema: from the pairs and the profiles of each publisher."""
    found: dict[str, list[ValueProfile]] = {}
    for pairs, profiles in publishers:
        for source, target in pairs.items():
            if source in profiles:
                found.setdefault(target, []).append(profiles[source])
    return {target: pooled(each) for target, each in found.items()}


def profile_documents(tree: SchemaTree, documents: Iterable[Document]) -> dict[str, ValueProfile]:
    """The profiles of the places of a schema whose attributes and texts occur in the documents.

    Documents with another root element, and elements that the schema does not know, are passed over.
    """
    values: dict[str, list[str]] = {}
    for document in documents:
        root = document.root
        if QName(root.namespace, root.local) != tree.root.label:
            continue
        waiting: list[tuple[Element, SchemaNode]] = [(root, tree.root)]
        while waiting:
            element, node = waiting.pop()
            for attribute in element.attributes:
                name = QName(attribute.namespace, attribute.local)
                known = tree.child(node, name, is_attribute=True)
                if known is not None:
                    _keep(values, known.key, attribute.value)
            if node.has_text:
                text = "".join(child.value for child in element.children if isinstance(child, Text))
                _keep(values, node.key, text)
            for child in element.children:
                if isinstance(child, Element):
                    below = tree.child(node, QName(child.namespace, child.local))
                    if below is not None:
                        waiting.append((child, below))
    profiles = ((key, ValueProfile.of(found)) for key, found in values.items())
    return {key: profile for key, profile in profiles if profile is not None}


def _kind(text: str) -> str:
    return next(kind for kind, pattern in KINDS.items() if pattern.fullmatch(text))


def _keep(values: dict[str, list[str]], key: str, value: str) -> None:
    kept = values.setdefault(key, [])
    if len(kept) < MOST_VALUES:
        kept.append(value)
