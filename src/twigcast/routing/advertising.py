"""What a publisher is going to send: a schema, made known to the network.

    advertisement("reuters", read_dtd("nitf.dtd"))                        from a schema
    advertisement("sensors", [parse_path_expression("/site(/room)+/t")])  from path expressions

One value stands for all expressions of a schema: the branches of a twig may lie on different ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from twigcast.errors import SchemaError
from twigcast.pattern import ANY, NameTest
from twigcast.routing.automaton import DOCUMENT, Automaton, deterministic, members
from twigcast.routing.expressions import Either, Label, PathExpression, Repeat, Series
from twigcast.schema import ElementGraph


@dataclass(frozen=True, slots=True)
class Advertisement:
    """The documents that a publisher announces, under an id that is unique in the network.

    It describes documents of which every root-to-leaf path is one of the schema, or the beginning of one.
    Order, number, attributes and text are left open.
    """

    id: str
    automaton: Automaton

    @property
    def roots(self) -> tuple[NameTest, ...]:
        """The names that documents can start with."""
        return tuple(self.automaton.tests[number] for number in members(self.automaton.follow[0]))

    def to_json(self) -> dict[str, Any]:
        """The advertisement as plain lists and strings."""
        automaton = self.automaton
        return {
            "id": self.id,
            "tests": [list(test) for test in automaton.tests],
            "follow": [list(members(positions)) for positions in automaton.follow],
        }

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Advertisement:
        """The advertisement that ``to_json`` wrote."""
        tests = tuple(NameTest(*test) for test in fields["tests"])
        follow = tuple(sum(1 << number for number in numbers) for numbers in fields["follow"])
        return cls(str(fields["id"]), Automaton(tests, follow))


def advertisement(id: str, schema: ElementGraph | Iterable[PathExpression]) -> Advertisement:
    """The advertisement of a schema, given as its graph or as the path expressions of its documents."""
    return Advertisement(
        id, _of_graph(schema) if isinstance(schema, ElementGraph) else _of_expressions(schema)
    )


def _of_graph(graph: ElementGraph) -> Automaton:
    """One position for each element that can be reached from the root."""
    names = [graph.root, *sorted(graph.descendants[graph.root] - {graph.root})]
    numbers = {name: number for number, name in enumerate(names, 1)}
    tests = [ANY, *(NameTest(*graph.expanded(name)) for name in names)]
    follow = [1 << 1]
    for name in names:
        follow.append(sum(1 << numbers[child.name] for child in graph.children(name)))
    return deterministic(tests, follow)


@dataclass(frozen=True, slots=True)
class _Ends:
    """Where a part of an expression can begin and end, as sets of positions; whether it can be empty."""

    first: int
    last: int
    empty: bool


def _of_expressions(expressions: Iterable[PathExpression]) -> Automaton:
    """One position for each label of each expression (Glushkov's construction), then made deterministic."""
    tests = [ANY]
    follow = [0]

    def connect(sources: int, targets: int) -> None:
        for number in members(sources):
            follow[number] |= targets

    def place(expression: PathExpression) -> _Ends:
        match expression:
            case Label(test):
                tests.append(test)
                follow.append(0)
                return _Ends(1 << len(tests) - 1, 1 << len(tests) - 1, False)
            case Series(parts):
                whole = _Ends(0, 0, True)
                for part in parts:
                    ends = place(part)
                    connect(whole.last, ends.first)
                    whole = _Ends(
                        whole.first | (ends.first if whole.empty else 0),
                        ends.last | (whole.last if ends.empty else 0),
                        whole.empty and ends.empty,
                    )
                return whole
            case Either(options):
                found = [place(option) for option in options]
                first = last = 0
                for ends in found:
                    first |= ends.first
                    last |= ends.last
                return _Ends(first, last, any(ends.empty for ends in found))
            case Repeat(body):
                ends = place(body)
                connect(ends.last, ends.first)
                return ends

    for expression in expressions:
        connect(DOCUMENT, place(expression).first)
    if not follow[0]:
        raise SchemaError("an advertisement needs at least one path expression that is not empty")
    return deterministic(tests, follow)
