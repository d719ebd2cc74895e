"""What a site tells another one about itself, in one file: its subscriptions, and its questions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from typing import Any

from twigcast.errors import RoutingError, TwigcastError
from twigcast.pattern import Pattern, parse, render
from twigcast.routing.piggyback import AnnotationPlan, protocol

FORMAT = 1


@dataclass(frozen=True)  # without slots: the epoch is cached in the instance
class SitePlan:
    """The subscriptions that a site has forwarded, and the annotations that it wants with documents."""

    piggyback: str
    """The kinds of annotations, by the name of a piggyback strategy."""
    told: Mapping[str, Pattern] = field(default_factory=dict)
    """Forwarded subscriptions by id; together they cover all subscriptions of the site."""
    questions: AnnotationPlan | None = None

    @cached_property
    def epoch(self) -> str:
        """A name for the content: plans with the same content have the same epoch."""
        return _epoch(self._content())

    def encode(self) -> bytes:
        """Return the plan as the content of a file."""
        content = self._content()
        return json.dumps({**content, "epoch": _epoch(content)}, indent=1, ensure_ascii=False).encode()

    @classmethod
    def decode(cls, data: bytes) -> SitePlan:
        """Read the output of ``encode``; raises ``RoutingError`` if it is damaged, or of another format."""
        try:
            content = json.loads(data)
            epoch = content.pop("epoch")
            if content["format"] != FORMAT:
                raise ValueError(f"it has format {content['format']}, not {FORMAT}")
            if epoch != _epoch(content):
                raise ValueError("it was altered after it was written")
            questions = content["questions"]
            return cls(
                protocol(content["piggyback"]).name,
                {str(id): parse(text) for id, text in content["told"].items()},
                None if questions is None else AnnotationPlan.from_json(questions),
            )
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError, TwigcastError) as error:
            why = f"{type(error).__name__}: {error}" if isinstance(error, KeyError) else str(error)
            raise RoutingError(f"the plan of a site cannot be used: {why}", code="annotations") from error

    def _content(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "piggyback": self.piggyback,
            "told": {id: render(self.told[id]) for id in sorted(self.told)},
            "questions": None if self.questions is None else self.questions.to_json(),
        }


def _epoch(content: Mapping[str, Any]) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return blake2b(text.encode(), digest_size=16).hexdigest()
