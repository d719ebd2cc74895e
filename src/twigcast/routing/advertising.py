"""What a publisher is going to send: a schema, made known to the network.

    advertisement("reuters", read_dtd("nitf.dtd"))                        from a schema
    advertisement("sensors", [parse_path_expression("/site(/room)+/t")])  from path expressions

One value stands for all expressions of a schema: the branches of a twig may lie on different ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from twigcast.analysis import PathExpression, SchemaAutomaton, schema_automaton
from twigcast.pattern import NameTest
from twigcast.schema import ElementGraph


@dataclass(frozen=True, slots=True)
class Advertisement:
    """The documents that a publisher announces, under an id that is unique in the network.

    It describes documents of which every root-to-leaf path is one of the schema, or the beginning of one.
    Order, number, attributes and text are left open.
    """

    id: str
    automaton: SchemaAutomaton

    @property
    def roots(self) -> tuple[NameTest, ...]:
        """The names that documents can start with."""
        return self.automaton.roots

    def to_json(self) -> dict[str, Any]:
        """The advertisement as plain lists and strings."""
        return {"id": self.id, **self.automaton.to_json()}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Advertisement:
        """The advertisement that ``to_json`` wrote."""
        return cls(str(fields["id"]), SchemaAutomaton.from_json(fields))


def advertisement(id: str, schema: ElementGraph | Iterable[PathExpression]) -> Advertisement:
    """The advertisement of a schema, given as its graph or as the path expressions of its documents."""
    return Advertisement(id, schema_automaton(schema))
