"""Finds what a name test may have meant: a name in another namespace, a similar one, or one elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from twigcast.document import Attribute, Document, Element, Node, descendants, elements, node_path
from twigcast.pattern.evaluating import Evaluation
from twigcast.pattern.explaining.prefixes import Prefixes
from twigcast.pattern.tree import NameTest

_SHORT = 3  # characters; shorter names are not similar to others, unless only the case differs
_SHOWN = 4  # names of children


class Names:
    """Hints about names that are not found; ``evaluation`` counts the nodes that are visited for them."""

    def __init__(self, document: Document, evaluation: Evaluation, prefixes: Prefixes) -> None:
        self._document = document
        self._evaluation = evaluation
        self._prefixes = prefixes

    def element(
        self, test: NameTest, before: Sequence[Node], children_only: bool, slashes: str = "//"
    ) -> str | None:
        """A hint for a test that admits no child (or no descendant) of the nodes ``before``.

        ``slashes`` are those with which the test would reach deeper: ``.//`` at the start of a predicate.
        """
        starts = [node for node in before if isinstance(node, Document | Element)]
        if test.local is None or not starts:
            return None
        below = self._counted(descendants, starts)
        here = self._counted(elements, starts) if children_only else below
        attributes = [each for node in starts if isinstance(node, Element) for each in node.attributes]
        anywhere = self._counted(descendants, [self._document])
        deeper = f"deeper: {slashes}{self._written(test)} would reach it"
        return (
            self._other_namespace(test, here, "")
            or _first([each for each in below if _admits(test, each)], lambda e: self._at(e, deeper))
            or _first(
                [each for each in attributes if each.local == test.local],
                lambda _: f"there is an attribute of this name: write @{test.local}",
            )
            or self._similar(test, here, "")
            or self._other_namespace(test, below, " deeper")
            or _first(
                [each for each in anywhere if _admits(test, each)],
                lambda e: self._at(e, "but not below this"),
            )
            or self._other_namespace(test, anywhere, "")
            or self._similar(test, anywhere, " at {}")
            or (self._listed(here) if children_only else None)
        )

    def attribute(self, test: NameTest, before: Sequence[Node], slashes: str = "//") -> str | None:
        """A hint for a test that admits no attribute of the nodes ``before``."""
        owners = [node for node in before if isinstance(node, Element)]
        if test.local is None or not owners:
            return None
        here = [each for owner in owners for each in owner.attributes]
        self._evaluation.spend(len(here))
        below = self._counted(descendants, owners)
        return (
            self._other_namespace(test, here, "")
            or self._similar(test, here, "")
            or _first(
                [each for each in self._counted(elements, owners) if each.local == test.local],
                lambda each: f"there is an element of this name: write {self._name(each)}",
            )
            or _first(
                [each for owner in below for each in owner.attributes if _admits(test, each)],
                lambda each: self._at(each, f"deeper: {slashes}@{self._written(test)} would reach it"),
            )
            or self._listed(here)
        )

    def _counted(
        self, along: Callable[[Document | Element], Iterable[Element]], starts: Sequence[Document | Element]
    ) -> list[Element]:
        found: dict[int, Element] = {}
        for start in starts:
            if along is descendants and start.order in found:
                continue  # an ancestor was visited before, and all below it
            visited = list(along(start))
            self._evaluation.spend(1 + len(visited))
            found |= {each.order: each for each in visited}
        return list(found.values())

    def _other_namespace(
        self, test: NameTest, found: Sequence[Element | Attribute], where: str
    ) -> str | None:
        alike = [each for each in found if each.local == test.local and not _admits(test, each)]
        if not alike:
            return None
        there = alike[0].namespace
        local = alike[0].local
        sign = "@" if isinstance(alike[0], Attribute) else ""
        asked = f"namespace {test.namespace}" if test.namespace else "no namespace"
        place = f"namespace {there}" if there else "no namespace"
        if not there:
            advice = f"write {sign}Q{{}}{local}" if not sign and self._prefixes.is_bound(there) else ""
            advice = advice or f"write {sign}{local} or {sign}*:{local}"
        elif self._prefixes.is_bound(there):
            advice = f"write {sign}{self._prefixes.name(there, local)}"
        else:
            advice = f"bind a prefix to it, or write {sign}*:{local}"
        what = f"{_article(sign + local)} {sign}{local}"
        return f"there is {what}{where} in {place}, you asked for one in {asked}: {advice}"

    def _similar(self, test: NameTest, found: Sequence[Element | Attribute], where: str) -> str | None:
        assert test.local is not None
        wanted = test.local
        locals = dict.fromkeys(each.local for each in found)
        best = [each for each in locals if each.lower() == wanted.lower() and each != wanted]
        best = best or [each for each in locals if _nearly(each, wanted)]
        if not best:
            return None
        near = next(each for each in found if each.local == best[0])
        sign = "@" if isinstance(near, Attribute) else ""
        why = " (names are case-sensitive)" if near.local.lower() == wanted.lower() else ""
        name = f"{sign}{self._name(near)}"
        return f"there is {_article(name)} {name}{where.format(node_path(near))}, did you mean that?{why}"

    def _listed(self, found: Sequence[Element | Attribute]) -> str | None:
        sign = "@" if found and isinstance(found[0], Attribute) else ""
        names = list(dict.fromkeys(f"{sign}{self._name(each)}" for each in found))
        if not names:
            return None
        more = f" (and {len(names) - _SHOWN} more)" if len(names) > _SHOWN else ""
        return f"what is here: {', '.join(names[:_SHOWN])}{more}"

    def _at(self, node: Element | Attribute, what: str) -> str:
        name = ("@" if isinstance(node, Attribute) else "") + self._name(node)
        return f"there is {_article(name)} {name} at {node_path(node)}, {what}"

    def _name(self, node: Element | Attribute) -> str:
        return self._prefixes.name(node.namespace, node.local)

    def _written(self, test: NameTest) -> str:
        assert test.local is not None
        return (
            f"*:{test.local}" if test.namespace is None else self._prefixes.name(test.namespace, test.local)
        )


def _first(found: Sequence[Element | Attribute], said: Callable[[Element | Attribute], str]) -> str | None:
    return said(found[0]) if found else None


def _admits(test: NameTest, node: Element | Attribute) -> bool:
    return test.admits(node.namespace, node.local)


def _article(name: str) -> str:
    return "an" if name.lstrip("@")[:1].lower() in tuple("aeiou") or name.startswith("@") else "a"


def _nearly(name: str, wanted: str) -> bool:
    """Whether one character was left out, added or replaced, or two neighbours exchanged."""
    if abs(len(name) - len(wanted)) > 1 or min(len(name), len(wanted)) < _SHORT or name == wanted:
        return False
    at = next(
        (i for i, (a, b) in enumerate(zip(name, wanted, strict=False)) if a != b), min(len(name), len(wanted))
    )
    one, other = name[at:], wanted[at:]
    return (
        one[1:] == other[1:]
        or one[1:] == other
        or one == other[1:]
        or (one[1:2] + one[:1] == other[:2] and one[2:] == other[2:])
    )
