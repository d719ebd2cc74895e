"""Which namespace a prefix is bound to at any element of a document, recorded while the document is read.

    <a xmlns:p="u"> <b xmlns:p="v"/> <c/> </a>      p:   from a: u    from b: v    after b: u    after a: –

For each prefix there is one list of changes in document order, so an element that declares nothing costs
nothing, and a binding is found by binary search.  Rejected: a map of all bindings for each element that
declares some, which takes quadratic memory if many elements below many declarations declare one more.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right


class NamespaceScopes:
    """The namespace bindings of one document; the empty prefix is the default namespace.

    An element is named by its ``order``.  A declaration takes effect at twice the order of its element, and
    ends just before twice the order of the next node, so that both are told apart.
    """

    __slots__ = ("_changes", "_open")

    def __init__(self) -> None:
        self._changes: dict[str, tuple[list[int], list[str]]] = {}
        self._open: dict[str, list[str]] = {}

    def begin(self, prefix: str, uri: str, order: int) -> None:
        """The element of this order declares ``prefix``; an empty ``uri`` takes the binding away."""
        self._open.setdefault(prefix, [""]).append(uri)
        self._change(prefix, uri, 2 * order)

    def end(self, prefix: str, next_order: int) -> None:
        """The element of the last declaration of ``prefix`` ends before the node of this order."""
        bound = self._open[prefix]
        bound.pop()
        self._change(prefix, bound[-1], 2 * next_order - 1)

    def _change(self, prefix: str, uri: str, at: int) -> None:
        places, uris = self._changes.setdefault(prefix, ([], []))
        places.append(at)
        uris.append(uri)

    @property
    def prefixes(self) -> frozenset[str]:
        """All prefixes that are declared anywhere, without the empty one."""
        return frozenset(self._changes) - {""}

    def first(self, prefix: str) -> str:
        """The namespace of the first declaration of ``prefix``, which must be one of ``prefixes``."""
        return self._changes[prefix][1][0]

    def inherited(self, prefix: str, order: int) -> str | None:
        """The namespace that an element has to inherit for ``prefix``.

        ``None`` if there is none, or if the element declares the prefix itself.
        """
        if prefix not in self._changes:
            return None
        places, uris = self._changes[prefix]
        place = bisect_left(places, 2 * order)
        if place < len(places) and places[place] == 2 * order:
            return None
        return uris[place - 1] or None if place else None

    def bound(self, prefix: str, order: int) -> str | None:
        """The namespace that ``prefix`` has in an element, inherited or declared by it."""
        if prefix not in self._changes:
            return None
        places, uris = self._changes[prefix]
        place = bisect_right(places, 2 * order)
        return uris[place - 1] or None if place else None

    def is_known(self, prefix: str, first: int, last: int) -> bool:
        """Whether ``prefix`` is bound in an element of order ``first``, or declared up to order ``last``."""
        if prefix not in self._changes:
            return False
        places, _ = self._changes[prefix]
        declared = bisect_right(places, 2 * last) > bisect_left(places, 2 * first)
        return declared or self.bound(prefix, first) is not None

    def __bool__(self) -> bool:
        return bool(self._changes)
