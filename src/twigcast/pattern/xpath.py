"""A pattern as XPath 1.0 with prefixes, for a processor such as libxml2, if that selects the same elements.

    //Q{urn:x}item[price > 9.5]/name    ─►   //n1:item[price[twigcast:compares(string(.), '>', '9.5')]]/name
                                             n1 is bound to urn:x

Patterns that select elements by names, relatives, strings, counts and positions are written; the others are
not, since processors differ: on text nodes beside CDATA sections, and on what is outside XPath 1.0.
Of a pattern that selects attributes, the expression selects their elements.

What libxml2 does in quadratic time is not written either: it compares each node with all others where it
unites node sets, for ``|`` and for a ``//`` that starts at several nodes.
libxml2 takes ``1e5`` and ``+5`` for numbers, and rounds long ones, so a comparison of a value with a number
becomes a call of ``compares``, which the processor has to be given.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from twigcast.pattern.expression_text import literal
from twigcast.pattern.numbers import compare, number, number_text
from twigcast.pattern.tree import (
    And,
    AttributeTail,
    Axis,
    Comparison,
    Count,
    Exists,
    Length,
    NameTest,
    Not,
    Or,
    Path,
    Pattern,
    Position,
    Predicate,
    Step,
    StringTest,
)

FUNCTION_NAMESPACE = "urn:twigcast"
"""The namespace of the function ``compares`` in written expressions."""

_PREFIX = "twigcast"


@dataclass(frozen=True, slots=True)
class XPathText:
    """An expression of XPath 1.0, which selects elements, and the prefixes that it uses.

    With an ``attribute``, a name in no namespace, the pattern selects that attribute of each of them.
    """

    text: str
    namespaces: dict[str, str]
    attribute: str | None = None


def to_xpath(pattern: Pattern) -> XPathText | None:
    """The XPath 1.0 that selects the same elements; ``None`` if processors may differ on the pattern."""
    if len(pattern.alternatives) > 1:
        return None
    (path,) = pattern.alternatives
    tail, attribute = path.tail, None
    if isinstance(tail, AttributeTail) and tail.test.namespace == "":
        attribute = tail.test.local
    if tail is not None and attribute is None:
        return None
    writer = _Writer()
    try:
        text = writer.absolute(path) + (f"[@{attribute}]" if attribute else "")
    except _OutsideError:
        return None
    prefixes = {prefix: uri for uri, prefix in writer.prefixes.items()}
    return XPathText(text, prefixes | {_PREFIX: FUNCTION_NAMESPACE}, attribute)


def compares(text: str, operator: str, value: str) -> bool:
    """The function ``compares`` of the written expressions: the text as a number against another number."""
    return compare(number(text), operator, float(value))


class _OutsideError(Exception):
    """The pattern uses something that is not written."""


@dataclass(slots=True)
class _Writer:
    prefixes: dict[str, str] = field(default_factory=dict)

    def absolute(self, path: Path) -> str:
        if not path.steps:
            raise _OutsideError
        start = f"/self::node(){self._all(path.filters)}" if path.filters else ""
        single = 2 if path.steps[0].axis is Axis.CHILD else 1  # a document has one root element
        return start + self._steps(path.steps, single)

    def _steps(self, steps: tuple[Step, ...], single: int) -> str:
        """Steps of which the first ones, a number of them, start at a single node."""
        if any(step.axis is Axis.DESCENDANT for step in steps[single:]):
            raise _OutsideError
        return "".join(self._step(step) for step in steps)

    def _relative(self, path: Path, condition: str = "") -> str:
        """A path from a context node, whose selected nodes have to fulfil a further condition."""
        text = self._steps(path.steps, 1)
        if isinstance(path.tail, AttributeTail):
            text += f"/@{self._name(path.tail.test)}"
        elif path.tail is not None:
            raise _OutsideError
        if path.filters or not text:
            return f"self::node(){self._all(path.filters)}{text}{condition}"
        return f".{text}{condition}"

    def _only(self, paths: tuple[Path, ...]) -> str:
        if len(paths) > 1:
            raise _OutsideError
        return self._relative(paths[0])

    def _step(self, step: Step) -> str:
        slashes = "/" if step.axis is Axis.CHILD else "//"
        position = next((each for each in step.predicates if isinstance(each, Position)), None)
        if position is None or position.test == step.test:
            return slashes + self._name(step.test) + self._all(step.predicates)
        others = tuple(each for each in step.predicates if each is not position)
        narrowed = f"[self::{self._name(step.test)}]"
        return slashes + self._name(position.test) + self._all((position,)) + narrowed + self._all(others)

    def _all(self, predicates: tuple[Predicate, ...]) -> str:
        """The predicates in brackets; a position is the first, since each bracket changes what is counted."""
        in_order = sorted(predicates, key=lambda each: not isinstance(each, Position))
        return "".join(self._brackets(each) for each in in_order)

    def _brackets(self, predicate: Predicate) -> str:
        if isinstance(predicate, Position):
            counted = f"[position() {predicate.operator} {number_text(predicate.value)}]"
            return self._all(predicate.among) + counted
        return f"[{self._condition(predicate)}]"

    def _condition(self, predicate: Predicate) -> str:
        match predicate:
            case Exists(paths):
                return " or ".join(f"boolean({self._relative(path)})" for path in paths)
            case Comparison(paths, operator, float(value)):
                call = f"[{_PREFIX}:compares(string(.), '{operator}', '{number_text(value)}')]"
                return " or ".join(f"boolean({self._relative(path, call)})" for path in paths)
            case Comparison(paths, operator, str(value)):
                return " or ".join(f"{self._relative(path)} {operator} {literal(value)}" for path in paths)
            case StringTest(function, paths, value):
                return f"{function}({self._only(paths)}, {literal(value)})"
            case Length(paths, operator, value):
                return f"string-length({self._only(paths)}) {operator} {number_text(value)}"
            case Count(paths, operator, value):
                return f"count({self._only(paths)}) {operator} {number_text(value)}"
            case And(operands):
                return " and ".join(f"({self._condition(each)})" for each in operands)
            case Or(operands):
                return " or ".join(f"({self._condition(each)})" for each in operands)
            case Not(operand):
                return f"not({self._condition(operand)})"
            case _:
                raise _OutsideError

    def _name(self, test: NameTest) -> str:
        namespace, local = test
        if namespace is None:
            if local is not None:
                raise _OutsideError
            return "*"
        if not namespace:
            if local is None:
                raise _OutsideError
            return local
        prefix = self.prefixes.setdefault(namespace, f"n{len(self.prefixes) + 1}")
        return f"{prefix}:{local or '*'}"
