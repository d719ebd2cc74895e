"""Cuts a document by the definitions, on a tree that expat makes: slow, and what ``cutting`` must agree with.

Each element of the tree knows its byte range and the number of the fragment that it is in; runs, holes, ids,
heights and label paths are then read off the tree.  Documents in UTF-8 and encodings of one byte only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from twigcast.fragmenting.cut_rules import Cuts, Spans, Subtrees
from twigcast.fragmenting.fragments import (
    DOCUMENT_NODE,
    Hole,
    OpenElement,
    Run,
    SubtreeRoots,
    node_id,
)

_START_TAG = re.compile(rb"""<(?:[^"'>]|"[^"]*"|'[^']*')*>""")


@dataclass(frozen=True, slots=True)
class NaiveFragment:
    """A fragment as the definitions give it: runs with heights, holes, body, label paths as names."""

    number: int
    body: bytes
    runs: tuple[Run, ...]
    holes: tuple[Hole, ...]
    elements: int
    paths: frozenset[tuple[str, ...]]


def cut_naively(body: bytes, cut: Spans | Subtrees | Cuts) -> list[NaiveFragment]:
    """The fragments of a document, with all that headers say of them."""
    tree = _Tree(body)
    if isinstance(cut, Spans):
        return list(_spans(tree, cut))
    return list(_subtrees(tree, cut))


@dataclass(eq=False, slots=True)
class _Node:
    """An element with its byte range; ``m`` is its number in its fragment."""

    name: str
    declarations: tuple[tuple[str, str], ...]
    parent: _Node | None
    start: int
    end: int = 0
    children: list[_Node] = field(default_factory=list)
    fragment: int = 0
    m: int = 0

    @property
    def path(self) -> list[_Node]:
        above = self.parent.path if self.parent else []
        return [*above, self]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(node.name for node in self.path)

    def walk(self) -> Iterator[_Node]:
        yield self
        for child in self.children:
            yield from child.walk()

    def height(self) -> int:
        """The longest way down that stays in the fragment."""
        same = [child.height() + 1 for child in self.children if child.fragment == self.fragment]
        return max(same, default=0)

    def opened(self) -> OpenElement:
        return OpenElement(node_id(self.fragment, self.m), self.name, self.declarations)


class _Tree:
    """The elements that have start tags of their own in the bytes, in document order."""

    def __init__(self, body: bytes) -> None:
        self.body = body
        self.nodes: list[_Node] = []
        self._open: list[_Node | None] = []
        self._parser = parser = expat.ParserCreate()
        parser.ordered_attributes = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.Parse(body, True)

    def _start(self, name: str, attributes: list[str]) -> None:
        at = self._parser.CurrentByteIndex
        if self.body[at : at + 1] == b"&":  # an entity brings it in
            self._open.append(None)
            return
        declared = tuple(
            (key.partition(":")[2], value)
            for key, value in zip(attributes[::2], attributes[1::2], strict=True)
            if key == "xmlns" or key.startswith("xmlns:")
        )
        above = self._open[-1] if self._open else None
        node = _Node(name, declared, above, at)
        if above:
            above.children.append(node)
        self.nodes.append(node)
        self._open.append(node)

    def _end(self, name: str) -> None:
        node = self._open.pop()
        if node is not None:
            at = self._parser.CurrentByteIndex
            tag = _START_TAG.match(self.body, node.start)
            assert tag is not None
            is_empty = tag[0].endswith(b"/>")
            node.end = tag.end() if is_empty else self.body.index(b">", at) + 1


def _spans(tree: _Tree, cut: Spans) -> Iterator[NaiveFragment]:
    starts = [0]
    counted = 0
    for k, node in enumerate(tree.nodes, 1):
        is_over = (cut.elements and counted >= cut.elements) or (
            cut.bytes and node.start - starts[-1] >= cut.bytes
        )
        if counted and (is_over or k in cut.nodes):
            starts.append(node.start)
            counted = 0
        counted += 1
        node.fragment, node.m = len(starts), counted
    ends = [*starts[1:], len(tree.body)]
    for number, (start, end) in enumerate(zip(starts, ends, strict=True), 1):
        own = [node for node in tree.nodes if node.fragment == number]
        # What is open at an offset began before it and ends after it.
        context = [node for node in tree.nodes if node.start < start < node.end]
        left_open = [node for node in tree.nodes if node.start < end < node.end]
        yield NaiveFragment(
            number,
            tree.body[start:end],
            runs=(
                Run(
                    start=0,
                    end=end - start,
                    place=start,
                    fills=node_id(number - 1, 1) if number > 1 else None,
                    parent=context[-1].opened().id if context else DOCUMENT_NODE,
                    depth=len(context),
                    context=tuple(node.opened() for node in context),
                    roots=_roots(node for node in own if node.parent is None or node.parent in context),
                    closes=sum(node not in left_open for node in context),
                    opens=tuple(node.opened() for node in left_open if node not in context),
                ),
            ),
            holes=(Hole(node_id(number, 1), end - start, end),) if number < len(starts) else (),
            elements=len(own),
            paths=frozenset(node.names for node in own),
        )


def _subtrees(tree: _Tree, cut: Subtrees | Cuts) -> Iterator[NaiveFragment]:
    number = counted = 0
    taken: list[tuple[int, list[_Node]]] = []  # runs: fragment and subtrees
    for k, separator in enumerate(tree.nodes, 1):
        counted += 1
        is_cut = k in cut.nodes if isinstance(cut, Cuts) else counted > cut.elements
        path = separator.path
        runs = []
        for node in path[1:]:
            siblings = node.parent.children if node.parent else []
            left = [each for each in siblings[: siblings.index(node)] if not each.fragment]
            runs += [left] if left else []
        if is_cut and runs:
            number += 1
            counted = 1
            for run in runs:
                taken.append((number, run))
                for node in (inner for root in run for inner in root.walk() if not inner.fragment):
                    node.fragment = number
    number += 1
    for node in tree.nodes:
        node.fragment = node.fragment or number
    for each in range(1, number + 1):
        for m, node in enumerate((node for node in tree.nodes if node.fragment == each), 1):
            node.m = m
    ranges = [(fragment, run[0].start, run[-1].end, run) for fragment, run in taken]
    ranges.append((number, 0, len(tree.body), tree.nodes[:1]))
    ranges.sort(key=lambda each: (each[1], -each[2]))
    bodies = {each: bytearray() for each in range(1, number + 1)}
    holes: dict[int, list[Hole]] = {each: [] for each in bodies}
    filled: dict[tuple[int, int], int] = {}  # the hole of the run with this range
    starts: dict[tuple[int, int], int] = {}
    for fragment, start, end, _ in ranges:
        inner = [(a, b) for _, a, b, _ in ranges if start <= a and b <= end and (a, b) != (start, end)]
        inner = [x for x in inner if not any(y != x and y[0] <= x[0] and x[1] <= y[1] for y in inner)]
        starts[start, end] = len(bodies[fragment])
        at = start
        for a, b in inner:
            bodies[fragment] += tree.body[at:a]
            resumes = b
            while resumes in {x for x, _ in inner}:
                resumes = next(y for x, y in inner if x == resumes)
            filled[a, b] = node_id(fragment, len(holes[fragment]) + 1)
            holes[fragment].append(Hole(filled[a, b], len(bodies[fragment]), resumes))
            at = b
        bodies[fragment] += tree.body[at:end]
    for each in range(1, number + 1):
        own = [node for node in tree.nodes if node.fragment == each]
        made: list[Run] = []
        mine = [entry for entry in ranges if entry[0] == each]
        for k, (_, start, end, run) in enumerate(mine):
            context = run[0].path[:-1]
            last = len(bodies[each]) if k + 1 == len(mine) else starts[mine[k + 1][1:3]]
            made.append(
                Run(
                    start=starts[start, end],
                    end=last,
                    place=start,
                    fills=filled.get((start, end)),
                    parent=context[-1].opened().id if context else DOCUMENT_NODE,
                    depth=len(context),
                    context=tuple(node.opened() for node in context),
                    roots=_roots(run),
                    first=run[0].m - 1,
                )
            )
        paths = frozenset(node.names for node in own)
        yield NaiveFragment(each, bytes(bodies[each]), tuple(made), tuple(holes[each]), len(own), paths)


def _roots(nodes: Iterable[_Node]) -> tuple[SubtreeRoots, ...]:
    by_name: dict[tuple[int, str], list[_Node]] = {}
    for node in nodes:
        by_name.setdefault((len(node.path) - 1, node.name), []).append(node)
    return tuple(
        SubtreeRoots(name, depth, len(found), max(node.height() for node in found))
        for (depth, name), found in by_name.items()
    )
