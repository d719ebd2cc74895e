"""Evaluates the subqueries that are relevant for a fragment, in one parse of each of its runs.

A stack has a frame for each open element, at its bottom those of the run's context:

    document · a · m │ c · k            context │ elements of the run
                                        frame: state of the label path, what its children match, what its
                                        descendants match

At an end tag the query nodes that match at the element are those that fit its path and whose children are
all matched in the frame.  An element may still grow if a hole is in it or if it is of the context: then each
branch that holds at it is reported to the joins by itself, for the others may come from other fragments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

from experiments.engines.fragments.joins import Joins
from experiments.engines.fragments.node_table import NodeTable
from twigcast.document import Transcriber, is_multibyte
from twigcast.fragmenting.fragments import Fragment, OpenElement, Run, node_id
from twigcast.fragmenting.scheduling.contexts import ContextElement, Contexts
from twigcast.fragmenting.scheduling.prefix_tree import PathState, PrefixTree, bits

_SEPARATOR = "\x01"


class Evaluator:
    """Evaluates fragments of one document, and reports to its joins."""

    def __init__(self, tree: PrefixTree, table: NodeTable, contexts: Contexts, joins: Joins) -> None:
        self._tree = tree
        self._table = table
        self._contexts = contexts
        self._joins = joins
        self.known: dict[tuple[PathState, int, int], int] = {}
        """What ``matching`` has found; whatever is evaluated in a run, the answer is a part of it."""
        self.seen = 0
        """The query nodes that matched somewhere by what a single fragment has."""

    def evaluate(
        self, fragment: Fragment, run: Run, inner: ContextElement, active: int, undecided: int, opening: bytes
    ) -> None:
        """Parse a run below ``inner`` and evaluate the query nodes ``active`` in it."""
        codec = fragment.opening.codec
        transcriber = Transcriber(codec if is_multibyte(codec) else None)
        data = transcriber.utf8(b"".join(_pieces(fragment, run, inner, opening)))
        namespaces = "xmlns".encode(codec) in data
        parser = expat.ParserCreate(transcriber.encoding, _SEPARATOR if namespaces else None)
        if not active:
            parser.Parse(data, False)
            return
        _RunParse(self, parser, data, fragment, run, inner, active & undecided, undecided).parse()

    def matching(self, state: PathState, here: int, below: int) -> int:
        """The query nodes that match at an element, given what its children and its descendants match."""
        table, found = self._table, 0
        for node in bits(state.fitting):
            if not (table.children[node] & ~here or table.descendants[node] & ~below):
                found |= 1 << node
        self.known[state, here, below] = found
        return found

    def report(self, element: ContextElement, here: int, below: int, allowed: int) -> None:
        """Report the branches that hold at an element which may still grow."""
        table = self._table
        nodes = table.branches if element.above is not None else -1
        for node in bits(element.state.fitting & allowed & nodes):
            held = table.children[node] & here | table.descendants[node] & below
            if held:
                self._joins.hold(node, element, held)

    def add(self, above: ContextElement, element: OpenElement) -> ContextElement:
        return self._contexts.add(above, element)

    def step(self, state: PathState, text: str) -> PathState:
        """The state below another one, by the name that the parser reports."""
        uri, separator, rest = text.partition(_SEPARATOR)
        name = (uri, rest.partition(_SEPARATOR)[0]) if separator else ("", text)
        state.by_text[text] = self._tree.step(state, name)
        return state.by_text[text]


class _RunParse:
    """One parse: the frames of the open elements, and the elements that may still grow."""

    def __init__(
        self,
        evaluator: Evaluator,
        parser: Any,
        data: bytes,
        fragment: Fragment,
        run: Run,
        inner: ContextElement,
        allowed: int,
        undecided: int,
    ) -> None:
        self._evaluator = evaluator
        self._parser = parser
        self._data = data
        self._number = fragment.number
        self._mark = _mark(fragment)
        self._allowed = allowed
        self._undecided = undecided
        self._elements: list[ContextElement | None] = [*reversed(list(inner.path()))]
        self._context = len(self._elements)
        self._names: list[str] = [""] * self._context
        self._numbers = [0] * self._context
        self._states = [element.state for element in self._elements if element is not None]
        self._here = [0] * self._context
        self._below = [0] * self._context
        self._count = run.first
        self._reference = "&".encode(fragment.opening.codec)
        self._has_entities = "<!ENTITY".encode(fragment.opening.codec) in data
        self._has_namespaces = "xmlns".encode(fragment.opening.codec) in data
        self._declared: list[tuple[str, str]] = []
        self._declarations: dict[int, tuple[tuple[str, str], ...]] = {}
        self._made_up = self._context - 1
        """The start tags at the beginning that are the context's."""

    def parse(self) -> None:
        """Parse the run, then close what it leaves open and its context."""
        parser = self._parser
        start, self._close = self._handlers()
        parser.namespace_prefixes = True
        parser.buffer_text = True
        parser.StartElementHandler = self._start_of_context if self._made_up else start
        parser.EndElementHandler = self._close
        parser.ProcessingInstructionHandler = self._instruction
        parser.StartNamespaceDeclHandler = self._declare
        self._start = start
        parser.Parse(self._data, False)
        self._hole()
        while self._states:
            self._close("")

    def _start_of_context(self, name: str, attributes: object) -> None:
        self._declared.clear()
        self._made_up -= 1
        if not self._made_up:
            self._parser.StartElementHandler = self._start

    def _handlers(self) -> tuple[Callable[[str, object], None], Callable[[str], None]]:
        """The functions for start and end tags; as closures they take a third less time than as methods."""
        states, heres, belows = self._states, self._here, self._below
        elements, names, numbers = self._elements, self._names, self._numbers
        evaluator, allowed, undecided = self._evaluator, self._allowed, self._undecided
        step, known, context = evaluator.step, evaluator.known, self._context
        numbered = self._numbered if self._has_entities or self._has_namespaces else None
        count = self._count

        def start(name: str, attributes: object) -> None:
            nonlocal count
            state = states[-1]
            states.append(state.by_text.get(name) or step(state, name))
            heres.append(0)
            belows.append(0)
            names.append(name)
            elements.append(None)
            if numbered is None:
                count += 1
                numbers.append(count)
            else:
                numbers.append(numbered())

        def end(name: str) -> None:
            state, here, below = states.pop(), heres.pop(), belows.pop()
            names.pop()
            numbers.pop()
            element = elements.pop()
            matched = known.get((state, here, below))
            if matched is None:
                matched = evaluator.matching(state, here, below)
            if element is None:
                matched &= allowed
            else:
                within = undecided if len(states) < context else allowed
                matched &= within
                if here or below:
                    evaluator.report(element, here, below, within)
                if not states:
                    evaluator.seen |= below
                    return
            heres[-1] |= matched
            belows[-1] |= matched | below

        return start, end

    def _numbered(self) -> int:
        """The number of the element that begins; 0 if an entity brings it in."""
        declared = tuple(self._declared)
        self._declared.clear()
        if self._has_entities and self._data.startswith(self._reference, self._parser.CurrentByteIndex):
            return 0
        self._count += 1
        if declared:
            self._declarations[self._count] = declared
        return self._count

    def _instruction(self, target: str, data: str) -> None:
        if target == self._mark:
            self._hole()

    def _declare(self, prefix: str | None, uri: str | None) -> None:
        self._declared.append((prefix or "", uri or ""))

    def _hole(self) -> None:
        """Note that all open elements may still grow."""
        for depth, element in enumerate(self._elements):
            if element is None:
                above = self._elements[depth - 1]
                assert above is not None
                number = self._numbers[depth]
                opened = OpenElement(
                    node_id(self._number, number),
                    _as_written(self._names[depth]),
                    self._declarations.get(number, ()),
                )
                self._elements[depth] = self._evaluator.add(above, opened)


def _pieces(fragment: Fragment, run: Run, inner: ContextElement, opening: bytes) -> Iterator[bytes]:
    """The bytes to parse: the opening, start tags of the context, the run with a mark in each hole."""
    codec = fragment.opening.codec
    start = run.start
    if run.fills is None:
        start = 0
    else:
        yield opening
        inherited = dict(run.inherited)
        for element in reversed(list(inner.path())):
            if element.above is not None:
                declared = inherited | dict(element.element.declarations)
                inherited = {}
                attributes = "".join(
                    f" xmlns{':' * bool(prefix)}{prefix}={quoteattr(uri)}" for prefix, uri in declared.items()
                )
                yield f"<{element.element.name}{attributes}>".encode(codec)
    mark = f"<?{_mark(fragment)}?>".encode(codec)
    for hole in fragment.holes:
        if start < hole.offset <= run.end and hole.offset >= run.start:
            yield fragment.body[start : hole.offset]
            yield mark
            start = hole.offset
    yield fragment.body[start : run.end]


def _mark(fragment: Fragment) -> str:
    """The target of a processing instruction that the fragment does not contain."""
    mark = "hole"
    while mark.encode(fragment.opening.codec) in fragment.body:
        mark += "-"
    return mark


def _as_written(name: str) -> str:
    """The name of an element as written, from the name that the parser reports."""
    parts = name.split(_SEPARATOR)
    return f"{parts[2]}:{parts[1]}" if len(parts) == 3 else parts[-1]
