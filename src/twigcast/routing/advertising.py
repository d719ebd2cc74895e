"""Advertisements: the schema of the documents that a publisher announces to the network.

    advertisement("reuters", read_dtd("nitf.dtd"))

One advertisement holds all label paths of a schema: the branches of a twig may match different ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from twigcast.analysis import SchemaAutomaton, schema_automaton
from twigcast.pattern import NameTest
from twigcast.schema import ElementGraph


@dataclass(frozen=True, slots=True)
class Advertisement:
    """The schema of the documents that a publisher announces, under an id that is unique in the network.

    It describes the documents in which every root-to-leaf path is a label path of the schema or a prefix of
    one.  The order and number of elements, attributes and text are not constrained.
    """

    id: str
    automaton: SchemaAutomaton

    @property
    def roots(self) -> tuple[NameTest, ...]:
        """The name tests of the root elements that documents can have."""
        return self.automaton.roots

    def to_json(self) -> dict[str, Any]:
        """Return the advertisement as plain lists and strings."""
        return {"id": self.id, **self.automaton.to_json()}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Advertisement:
        """Read the output of ``to_json``."""
        return cls(str(fields["id"]), SchemaAutomaton.from_json(fields))


def advertisement(id: str, schema: ElementGraph) -> Advertisement:
    """Make the advertisement of a schema."""
    return Advertisement(id, schema_automaton(schema))
