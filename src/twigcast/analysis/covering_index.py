"""A set of patterns in which the patterns that cover a given one, or are covered by it, are found fast.

Coverers are found in a trie of trunks (the steps of each alternative without their predicates), which is
searched along the witness of the covered pattern:

    /a/b   /a//c   //c        ─/a─┬─/b      ●
                                  └─//c     ●
                              ─//c ●

Covered patterns are found in an inverted index: they mention all names and values that the coverer requires.
Both searches find only candidates; ``covers`` decides.

Cost: a search visits the trie nodes that the witness can reach, some tens to thousands; few patterns are
compared one by one.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator

from twigcast.analysis.covering import Summary, summary_covers
from twigcast.analysis.linear_containment import Chain, chain
from twigcast.analysis.witness import Witness, bit, key
from twigcast.pattern import ANY

FEW = 12
"""An index of at most this many patterns has no trie: its patterns are compared one by one."""

PATIENCE = 16
"""How many trie nodes a search visits after its first coverer; a full search takes a third more time."""

_NOTHING: dict[Hashable, set[Summary]] = {}


class CoveringIndex:
    """A set of patterns, given by their summaries, that is searched for coverers and for covered patterns."""

    __slots__ = ("_added", "_items", "_most", "_partial", "_speaking", "_trie")

    def __init__(self) -> None:
        self._items: dict[Summary, int] = {}  # numbered in the order in which they were added
        self._trie: _TrieNode | None = None  # built by the first search among more than FEW
        self._speaking: dict[Hashable, set[Summary]] = _NOTHING
        self._added = 0
        self._most = 0
        self._partial = False  # whether a trunk ever had a test of only a namespace or only a local name

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Summary]:
        return iter(self._items)

    def __contains__(self, item: Summary) -> bool:
        return item in self._items

    def add(self, item: Summary) -> None:
        """Add a pattern."""
        self._items[item] = self._added
        self._added += 1
        self._most = max(self._most, item.most)
        if self._trie is not None:
            self._file(item)

    def discard(self, item: Summary) -> None:
        """Remove a pattern that was added."""
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
        """Return at most ``most`` patterns that cover ``q``, whose witness is ``witness``.

        A coverer is found if there is one; others are found only among the next ``patience`` trie nodes.
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
        seen: set[tuple[_TrieNode, int]] = set()
        tried: set[_TrieNode] = set()
        waiting: list[tuple[_TrieNode, int]] = [(self._trie, 0)]
        while waiting:
            if covering:
                patience -= 1
                if patience < 0:
                    break
            node, at = waiting.pop()
            if node.items and node not in tried:
                tried.add(node)
                for value in q.values:
                    for item in node.items.get(value, ()):
                        if summary_covers(item, q) and item not in covering:
                            covering.append(item)
                            if len(covering) == most:
                                return covering
            along = node.child
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
            along = node.deep
            if along:
                under = below[at]
                shared: Iterable[tuple[str | None, _TrieNode]] = along.items()
                if len(along) > len(where):
                    shared = [(name, along[name]) for name in where if name in along]
                for name, following in shared:
                    if following.asks & lacking[at]:
                        continue
                    for to in under if name is None else where.get(name, ()):
                        if following.left <= height[to] and not following.asks & lacking[to]:
                            found = (following, to)
                            if found not in seen and (name is None or to in under):
                                seen.add(found)  # several mappings of the steps before it lead here
                                waiting.append(found)
            if self._partial:
                for along, targets in ((node.child, children[at]), (node.deep, below[at])):
                    for to in targets:
                        for part in witness.parts[to]:
                            if part in along and (along[part], to) not in seen:
                                seen.add((along[part], to))
                                waiting.append((along[part], to))
        return covering

    def covered(self, p: Summary) -> list[Summary]:
        """Return the patterns that ``p`` covers; the caller knows that no stored pattern covers ``p``."""
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
        # In their order, since the work that is left for the proofs may not be enough for all of them.
        candidates = sorted(speaking[0].intersection(*speaking[1:]), key=self._items.__getitem__)
        return [item for item in candidates if summary_covers(p, item)]

    def _build(self) -> None:
        """Build the trie and the inverted index of all patterns."""
        self._trie = _TrieNode()
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


class _TrieNode:
    """A node of the trie: its children by name, and the patterns whose trunks end here.

    ``asks`` has the bits of the names that occur in the rest of every trunk through this node, ``left`` is
    the smallest number of steps in these rests.  Both are lower bounds: they are not raised when a pattern is
    removed.  Without them a search among long patterns visits five times as many nodes.
    """

    __slots__ = ("asks", "child", "deep", "items", "left")

    def __init__(self) -> None:
        self.asks = -1
        self.left = 1 << 30
        self.child: dict[str | None, _TrieNode] = {}
        self.deep: dict[str | None, _TrieNode] = {}
        self.items: dict[Hashable, dict[Summary, None]] = {}  # by a value that they require

    def put(self, steps: Chain, item: Summary) -> None:
        rests = [0]
        for _, test in reversed(steps):
            rests.append(rests[-1] | bit(key(test)) if None not in test else rests[-1])
        node = self
        for left, (deep, test) in zip(range(len(steps) - 1, -1, -1), steps, strict=True):
            along = node.deep if deep else node.child
            name = key(test)
            following = along.get(name)
            if following is None:
                following = along[name] = _TrieNode()
            node = following
            node.asks &= rests[left]
            node.left = min(node.left, left)
        node.items.setdefault(item.value, {})[item] = None

    def take(self, steps: Chain, item: Summary) -> None:
        """Remove ``item``, and the nodes that are empty without it."""
        nodes = [self]
        for deep, test in steps:
            node = nodes[-1]
            nodes.append((node.deep if deep else node.child)[key(test)])
        alike = nodes[-1].items[item.value]
        del alike[item]
        if not alike:
            del nodes[-1].items[item.value]
        for (deep, test), above, node in zip(reversed(steps), nodes[-2::-1], nodes[:0:-1], strict=True):
            if node.items or node.child or node.deep:
                break
            del (above.deep if deep else above.child)[key(test)]


def _trunks(item: Summary) -> dict[Chain, None]:
    return dict.fromkeys(item.chains if item.chains is not None else map(chain, item.pattern.alternatives))
