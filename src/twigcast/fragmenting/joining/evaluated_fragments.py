"""Fragments that were evaluated, as the values and texts that processes send to each other."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from twigcast.fragmenting.fragments import Fragment, OpenElement
from twigcast.fragmenting.matching.arrivals import Arrival
from twigcast.fragmenting.matching.pieces import Context
from twigcast.fragmenting.matching.seams import Seams


@dataclass(frozen=True, slots=True)
class EvaluatedFragments:
    """Some fragments of one document and what they show: a partial, or one fragment that must wait.

    A fragment waits for another one if its header lacks the opening of the document or the names of the
    elements around it.  For those that may wait elsewhere, ``opening`` is the text of the opening, if these
    fragments have it, and ``contexts`` has the elements that are open at the holes at the ends of spans.
    ``told`` are positions that were reported as certain, and ``seams`` is what these fragments say about the
    places where they meet others.
    """

    arrivals: tuple[Arrival, ...]
    partial: bytes | None
    waiting: Fragment | None = None
    opening: bytes | None = None
    contexts: Mapping[int, Context] = field(default_factory=dict)
    told: tuple[int, ...] = ()
    seams: Seams = field(default_factory=Seams)

    def facts(self) -> str:
        """All but the partial and the fragment that waits, as JSON."""
        arrivals = [
            [each.number, each.digest, each.size, each.opening, int(each.is_last), each.fills]
            for each in self.arrivals
        ]
        found: dict[str, Any] = {"arrivals": arrivals, "seams": self.seams.lists()}
        if self.opening is not None:
            found["opening"] = self.opening.decode("latin-1")
        if self.contexts:
            found["contexts"] = [
                [hole, *([each.id, each.name, each.declarations] for each in context)]
                for hole, context in self.contexts.items()
            ]
        if self.told:
            found["told"] = self.told
        return json.dumps(found, separators=(",", ":"))

    @classmethod
    def of(cls, facts: str, partial: bytes | None, waiting: Fragment | None = None) -> EvaluatedFragments:
        """The value of which these are the ``facts``, the partial and the fragment that waits."""
        found = json.loads(facts)
        opening = found.get("opening")
        return cls(
            tuple(
                Arrival(number, digest, size, opened, bool(last), tuple(fills))
                for number, digest, size, opened, last, fills in found["arrivals"]
            ),
            partial,
            waiting,
            None if opening is None else opening.encode("latin-1"),
            {
                hole: tuple(
                    OpenElement(id, name, tuple((prefix, uri) for prefix, uri in declared))
                    for id, name, declared in context
                )
                for hole, *context in found.get("contexts", ())
            },
            tuple(found.get("told", ())),
            Seams.of_lists(found["seams"]),
        )
