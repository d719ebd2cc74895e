"""Where a mapping changes the string-value of a place that has text, so that ``title = 'A B'`` may surprise.

    Hide t/n                    the words of n are no longer among those of t
    Upgrade t {n}               the same
    Downgrade, Exchange         elements move into one with text, whose string-value then has theirs, too
    ToElement t/@lang lang      the value of the attribute becomes text of t
    Insert t name {n}           the words of n come last

Names do not matter, and neither does a path around elements that stay in their order.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence

from twigcast.rewriting.operators import (
    Downgrade,
    Exchange,
    Hide,
    Insert,
    Operator,
    ToElement,
    Upgrade,
    UpgradeAll,
)
from twigcast.rewriting.schema_tree import SchemaNode, SchemaTree
from twigcast.schema import ElementGraph


class TextChanges:
    """Tells of each operator, before it is applied, which string-values it changes.

    ``texts`` are the places whose string-value subscribers may compare, and ``shown`` writes a place.
    """

    def __init__(self, tree: SchemaTree, texts: Container[str], shown: Callable[[str], str]) -> None:
        self._tree, self._texts, self._shown = tree, texts, shown
        self._wordy = frozenset[str]() if tree.graph is None else _elements_with_words(tree.graph)

    def of(self, operator: Operator) -> Iterator[tuple[str, str]]:
        """The places whose string-value an operator changes, each with a sentence."""
        shown = self._shown
        node = self._tree[operator.node]
        self._tree.expand(node)
        if isinstance(operator, Downgrade | Exchange):
            into = self._tree[operator.into if isinstance(operator, Downgrade) else operator.above]
            if into.has_text:
                message = (
                    f"elements move into {shown(into.key)!r}, which has text: its string-value has theirs, "
                    "too, so subscribers should compare text()"
                )
                yield into.key, message
        around = [each for each in (node, *node.ancestors()) if each.key in self._texts]
        if isinstance(operator, ToElement):
            for each in around:
                if each is not node:
                    yield each.key, f"the value of {shown(node.key)!r} becomes text of {shown(each.key)!r}"
        elif isinstance(operator, Hide):
            if not node.is_attribute and self._has_words(node):
                for each in around:
                    if each is not node:
                        yield each.key, f"{shown(node.key)!r} is hidden, with text of {shown(each.key)!r}"
        elif around:
            yield from self._movements(operator, node, around)

    def _movements(
        self, operator: Operator, node: SchemaNode, around: Sequence[SchemaNode]
    ) -> Iterator[tuple[str, str]]:
        moving = [each for each in self._moving(operator, node) if self._has_words(each)]
        if not moving:
            return
        moved = set(moving)
        parted = node.has_text or any(each not in moved and self._has_words(each) for each in node.children)
        leaves = isinstance(operator, Upgrade | UpgradeAll | Exchange)
        for each in around:
            what = ""
            if each is node and leaves:
                what = "leaves it"
            elif parted:
                what = "changes its place in it"
            if what:
                name = self._shown(moving[0].key)
                yield each.key, f"the text of {self._shown(each.key)!r} becomes another: {name!r} {what}"

    def _moving(self, operator: Operator, node: SchemaNode) -> list[SchemaNode]:
        """The children of an element that an operator moves."""
        match operator:
            case Insert(members=members) | Upgrade(members=members):
                return [self._tree[key] for key in members]
            case Downgrade(members=members, into=into):
                return [self._tree[key] for key in (*members, into)]
            case Exchange(above=above):
                return [self._tree[above]]
            case UpgradeAll():
                return list(node.children)
        return []

    def _has_words(self, node: SchemaNode) -> bool:
        """Whether the schema allows text in an element, or in what has moved into it."""
        waiting = [node]
        while waiting:
            each = waiting.pop()
            if each.has_text or each.element in self._wordy:
                return True
            waiting += each.children
        return False


def _elements_with_words(graph: ElementGraph) -> frozenset[str]:
    """The elements that can have text, at any depth."""
    parents: dict[str, list[str]] = {}
    for element in graph:
        for child in graph.children(element.name):
            parents.setdefault(child.name, []).append(element.name)
    found = {element.name for element in graph if element.has_text}
    waiting = list(found)
    while waiting:
        for name in parents.get(waiting.pop(), ()):
            if name not in found:
                found.add(name)
                waiting.append(name)
    return frozenset(found)
