"""A pattern as the tree of its query nodes, with what the headers of fragments are compared with.

    /a[@x][b/f//i]//m/c        document ── /a (conditional) ┬─ /b ── /f ── //i
                                                            └─ //m ── /c

Every step is a node, also the steps inside ``or``, ``not``, comparisons and counts: a fragment that holds
elements for any of them can change the answer.  A node is *conditional* if something is asked of its element
that no element below it shows: an attribute, a text, a position, an absence, a number.

The least height of a node is the number of steps on the shortest way down to a leaf or to a conditional node.
A conditional node has least height 0, for its own start tag must be read, however deep its branches go.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from twigcast.analysis import Twig, twig
from twigcast.pattern import (
    ANY,
    And,
    AttributeTail,
    Axis,
    Comparison,
    Count,
    Exists,
    Length,
    NameTest,
    Not,
    Onward,
    Or,
    Path,
    Pattern,
    Position,
    Predicate,
    Step,
    StringTest,
    TextTail,
)


class TextUse(Enum):
    """Which text a query node needs: none, the text nodes of its element, or all text below it."""

    NONE = 0
    OWN = 1
    BELOW = 2


@dataclass(frozen=True, slots=True)
class QueryNode:
    """A step of a pattern: its axis and name test, and its place in the tree."""

    number: int
    parent: int
    axis: Axis
    test: NameTest
    children: tuple[int, ...]
    conditional: bool
    text: TextUse
    least_height: int
    specificity: int
    """How many steps from the root to this node have a name."""


@dataclass(frozen=True, slots=True)
class Query:
    """The query nodes of a pattern, each after its parent; node 0 stands for the document.

    ``structural`` says that the pattern is one twig of elements, without conditions.  An ``opaque`` query has
    general expressions, about which headers say nothing: every fragment is relevant for it.
    """

    nodes: tuple[QueryNode, ...]
    structural: bool
    opaque: bool

    @classmethod
    def of(cls, pattern: Pattern) -> Query:
        """Return the query of a pattern; the alternatives of a union are branches of the document."""
        growth = _Growth()
        for path in pattern.alternatives:
            growth.twig(0, twig(path))
        nodes = growth.nodes()
        structural = len(pattern.alternatives) == 1 and not any(node.conditional for node in nodes)
        return cls(nodes, structural and not growth.opaque, growth.opaque)

    def __len__(self) -> int:
        return len(self.nodes)

    def prefix(self, number: int) -> tuple[QueryNode, ...]:
        """The nodes from the root step to a node."""
        steps: list[QueryNode] = []
        while number:
            steps.append(self.nodes[number])
            number = self.nodes[number].parent
        return tuple(reversed(steps))

    def text(self, number: int) -> str:
        """The last step of a node's prefix as XPath, such as ``//m``."""
        node = self.nodes[number]
        return f"{node.axis.value}{node.test.local or '*'}" if number else "document"

    def descendants(self, number: int) -> Iterator[QueryNode]:
        """A node and all nodes below it."""
        waiting = [number]
        while waiting:
            node = self.nodes[waiting.pop()]
            yield node
            waiting += reversed(node.children)

    def leaves(self) -> Iterator[QueryNode]:
        """The nodes without children and the conditional nodes: where a match is seen in a document."""
        return (node for node in self.nodes if not node.children or node.conditional)


@dataclass(slots=True)
class _Bud:
    """A query node that is still growing."""

    parent: int
    axis: Axis
    test: NameTest
    conditional: bool = False
    text: TextUse = TextUse.NONE


class _Growth:
    """Adds the steps of a pattern to a tree of query nodes, one after the other."""

    def __init__(self) -> None:
        self.opaque = False
        self._buds = [_Bud(0, Axis.CHILD, ANY)]

    def twig(self, at: int, tree: Twig) -> None:
        """Add the conditions and branches of a twig at a node."""
        for condition in tree.conditions:
            self._condition(at, condition)
        for branch in tree.branches:
            self.twig(self._add(at, branch.axis, branch.test), branch)

    def nodes(self) -> tuple[QueryNode, ...]:
        """The nodes, with their heights and specificities."""
        children: list[list[int]] = [[] for _ in self._buds]
        heights = [0] * len(self._buds)
        for number in range(len(self._buds) - 1, 0, -1):
            children[self._buds[number].parent].insert(0, number)
        for number in range(len(self._buds) - 1, -1, -1):
            below = [heights[child] + 1 for child in children[number]]
            heights[number] = 0 if self._buds[number].conditional or not below else min(below)
        named = [0] * len(self._buds)
        for number, bud in enumerate(self._buds[1:], 1):
            named[number] = named[bud.parent] + (bud.test.local is not None)
        return tuple(
            QueryNode(
                number,
                bud.parent,
                bud.axis,
                bud.test,
                tuple(children[number]),
                bud.conditional,
                bud.text,
                heights[number],
                named[number],
            )
            for number, bud in enumerate(self._buds)
        )

    def _add(self, parent: int, axis: Axis, test: NameTest) -> int:
        self._buds.append(_Bud(parent, axis, test))
        return len(self._buds) - 1

    def _condition(self, at: int, predicate: Predicate) -> None:
        """Add a predicate that is more than one branch: its steps become nodes, and the node conditional."""
        bud = self._buds[at]
        bud.conditional = True
        match predicate:
            case And(operands) | Or(operands):
                for operand in operands:
                    self._condition(at, operand)
            case Not(operand):
                self._condition(at, operand)
            case Exists(paths) | Count(paths):
                for path in paths:
                    self._path(at, path, TextUse.NONE)
            case Comparison(paths) | Length(paths) | StringTest(_, paths):
                for path in paths:
                    self._path(at, path, TextUse.BELOW)
            case Position():
                counted = self._add(bud.parent, bud.axis, predicate.test)
                self._buds[counted].conditional = True
                for each in predicate.among:
                    self._condition(counted, each)
            case _:
                self.opaque = True

    def _path(self, at: int, path: Path, text: TextUse) -> None:
        """Add a path of a predicate; ``text`` is what is asked of its last element, if it has no tail."""
        for each in path.filters:
            self._condition(at, each)
        for step in path.steps:
            at = self._step(at, step)
        match path.tail:
            case TextTail():
                text = TextUse.OWN
            case AttributeTail():
                text = TextUse.NONE
            case Onward():
                self.opaque = True
        bud = self._buds[at]
        bud.conditional = True
        bud.text = max(bud.text, text, key=lambda use: use.value)

    def _step(self, at: int, step: Step) -> int:
        number = self._add(at, step.axis, step.test)
        for predicate in step.predicates:
            self._condition(number, predicate)
        return number
