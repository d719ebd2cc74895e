"""Many patterns, searched for those that cover one and for those that one covers.

Coverers are found by a trie of trunks, the steps of each alternative without predicates, along which the
witness of the covered pattern is followed:

    /a/b   /a//c   //c        ─/a─┬─/b      ●
                                  └─//c     ●
                              ─//c ●

Those that are covered are found by what they speak of: they are among the patterns that speak of all names
and values the coverer asks for.  Both only find candidates; ``covers`` decides.

Cost: a search visits the places of the trie that the witness can reach, some tens to thousands; few patterns
are tried one by one.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator

from twigcast.analysis.covering import Summary, summary_covers
from twigcast.analysis.linear_containment import Chain, chain
from twigcast.analysis.witness import Witness, bit, key
from twigcast.pattern import ANY

FEW = 12
"""Up to so many patterns are tried one by one."""


PATIENCE = 16
"""How many places are looked at for another coverer; a full search takes a third more time in all."""

_NOTHING: dict[Hashable, set[Summary]] = {}


class CoveringIndex:
    """A set of patterns by their summaries."""

    __slots__ = ("_added", "_items", "_most", "_partial", "_speaking", "_trie")

    def __init__(self) -> None:
        self._items: dict[Summary, int] = {}  # with numbers that say which came first
        self._trie: _Place | None = None  # and what goes with it, made by the first search among many
        self._speaking: dict[Hashable, set[Summary]] = _NOTHING
        self._added = 0
        self._most = 0
        self._partial = False  # whether a trunk ever had a test of a namespace or a local name only

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Summary]:
        return iter(self._items)

    def __contains__(self, item: Summary) -> bool:
        return item in self._items

    def add(self, item: Summary) -> None:
        self._items[item] = self._added
        self._added += 1
        self._most = max(self._most, item.most)
        if self._trie is not None:
            self._file(item)

    def discard(self, item: Summary) -> None:
        del self._items[item]
        if self._trie is None:
            return
        for steps in _trunks(item):
            self._trie.take(steps, item)
        for thing in item.said:
            speaking = self._speaking[thing]
            speaking.discard(item)
            if not speaking:
                del self._speaking[thing]

    def coverers(self, q: Summary, witness: Witness, most: int, patience: int = PATIENCE) -> list[Summary]:
        """Patterns that cover ``q``, at most so many; ``witness`` is that of ``q``.

        One is found if there is one; others only as long as ``patience`` lasts, in places looked at.
        """
        covering: list[Summary] = []
        if self._trie is None and len(self._items) > FEW:
            self._build()
        if self._trie is None:
            missing, deepest, rank = ~q.says, q.deepest, q.most
            for item in self._items:
                if (
                    item.asks & missing == 0
                    and item.shortest <= deepest
                    and item.least <= rank
                    and summary_covers(item, q)
                ):
                    covering.append(item)
                    if len(covering) == most:
                        break
            return covering
        children, below, names, where = witness.children, witness.below, witness.names, witness.where
        lacking, height = witness.missing, witness.height
        seen: set[tuple[_Place, int]] = set()
        tried: set[_Place] = set()
        waiting: list[tuple[_Place, int]] = [(self._trie, 0)]
        while waiting:
            if covering:
                patience -= 1
                if patience < 0:
                    break
            place, at = waiting.pop()
            if place.items and place not in tried:
                tried.add(place)
                for value in q.values:
                    for item in place.items.get(value, ()):
                        if summary_covers(item, q) and item not in covering:
                            covering.append(item)
                            if len(covering) == most:
                                return covering
            along = place.child
            if along:
                anything = along.get(None)
                for to in children[at]:
                    following = along.get(names[to])
                    if (
                        following is not None
                        and following.left <= height[to]
                        and not following.asks & lacking[to]
                    ):
                        waiting.append((following, to))
                    if (
                        anything is not None
                        and anything is not following
                        and anything.left <= height[to]
                        and not anything.asks & lacking[to]
                    ):
                        waiting.append((anything, to))
            along = place.deep
            if along:
                under = below[at]
                shared: Iterable[tuple[str | None, _Place]] = along.items()
                if len(along) > len(where):
                    shared = [(name, along[name]) for name in where if name in along]
                for name, following in shared:
                    if following.asks & lacking[at]:
                        continue
                    for to in under if name is None else where.get(name, ()):
                        if following.left <= height[to] and not following.asks & lacking[to]:
                            found = (following, to)
                            if found not in seen and (name is None or to in under):
                                seen.add(found)  # as often as there are ways to lay the steps before it
                                waiting.append(found)
            if self._partial:
                for along, places in ((place.child, children[at]), (place.deep, below[at])):
                    for to in places:
                        for part in witness.parts[to]:
                            if part in along and (along[part], to) not in seen:
                                seen.add((along[part], to))
                                waiting.append((along[part], to))
        return covering

    def covered(self, p: Summary) -> list[Summary]:
        """The patterns that ``p`` covers and that do not cover ``p``."""
        if p.least >= self._most:
            return []
        if self._trie is None and len(self._items) > FEW:
            self._build()
        if self._trie is None or not p.asked:
            return [item for item in self._items if summary_covers(p, item)]
        speaking = []
        for thing in p.asked:
            if thing not in self._speaking:
                return []
            speaking.append(self._speaking[thing])
        speaking.sort(key=len)
        found = [item for item in speaking[0].intersection(*speaking[1:]) if summary_covers(p, item)]
        return sorted(found, key=self._items.__getitem__)

    def _build(self) -> None:
        """Make the trie, at the first search among more than a few patterns."""
        self._trie = _Place()
        self._speaking = {}
        for item in self._items:
            self._file(item)

    def _file(self, item: Summary) -> None:
        assert self._trie is not None
        for steps in _trunks(item):
            self._trie.put(steps, item)
            self._partial = self._partial or any(None in test and test != ANY for _, test in steps)
        for thing in item.said:
            self._speaking.setdefault(thing, set()).add(item)


class _Place:
    """A place of the trie: where the next steps lead, and the patterns whose trunks end here.

    ``asks`` are the names that all patterns still ask for from here on, ``left`` the steps that each still
    has at least; or less, since they are not brought up when a pattern leaves.  Without them a search among
    long patterns visits five times as many places.
    """

    __slots__ = ("asks", "child", "deep", "items", "left")

    def __init__(self) -> None:
        self.asks = -1
        self.left = 1 << 30
        self.child: dict[str | None, _Place] = {}
        self.deep: dict[str | None, _Place] = {}
        self.items: dict[Hashable, dict[Summary, None]] = {}  # by a value that they ask for

    def put(self, steps: Chain, item: Summary) -> None:
        rests = [0]
        for _, test in reversed(steps):
            rests.append(rests[-1] | bit(key(test)) if None not in test else rests[-1])
        place = self
        for left, (deep, test) in zip(range(len(steps) - 1, -1, -1), steps, strict=True):
            along = place.deep if deep else place.child
            name = key(test)
            following = along.get(name)
            if following is None:
                following = along[name] = _Place()
            place = following
            place.asks &= rests[left]
            place.left = min(place.left, left)
        place.items.setdefault(item.value, {})[item] = None

    def take(self, steps: Chain, item: Summary) -> None:
        """Take ``item`` out, and the places that lead nowhere without it."""
        places = [self]
        for deep, test in steps:
            place = places[-1]
            places.append((place.deep if deep else place.child)[key(test)])
        alike = places[-1].items[item.value]
        del alike[item]
        if not alike:
            del places[-1].items[item.value]
        for (deep, test), above, place in zip(reversed(steps), places[-2::-1], places[:0:-1], strict=True):
            if place.items or place.child or place.deep:
                break
            del (above.deep if deep else above.child)[key(test)]


def _trunks(item: Summary) -> dict[Chain, None]:
    return dict.fromkeys(item.chains if item.chains is not None else map(chain, item.pattern.alternatives))
