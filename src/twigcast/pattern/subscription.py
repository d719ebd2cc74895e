"""One subscription as a value: its id, its XPath, its subscriber, and what is delivered.

    Subscription("ada", "//p[x:person='Ada']", "desk-1", namespaces={"x": "urn:people"})

The same value is passed from a file, a command line or the store to the index and the routers.  Its text is
parsed when ``pattern`` is first used, and never again in this process.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypeAlias

from twigcast.pattern.rendering import render
from twigcast.pattern.syntax import parse
from twigcast.pattern.tree import Pattern

Content: TypeAlias = Literal["document", "part"]
"""What a subscriber receives: the whole document, or only the nodes that the pattern selects."""

CONTENTS: tuple[Content, ...] = ("document", "part")

_NO_NAMESPACES: Mapping[str, str] = {}


@dataclass(frozen=True)  # without slots, which ``cached_property`` does not support
class Subscription:
    """A subscription; ``subscriber`` is the id by default.

    Two subscriptions are equal if their fields are, so two texts of the same pattern are different values.
    """

    id: Hashable
    text: str
    subscriber: str = ""
    deliver: Content = "document"
    namespaces: Mapping[str, str] = field(default_factory=lambda: _NO_NAMESPACES, hash=False)

    def __post_init__(self) -> None:
        if not self.subscriber:
            object.__setattr__(self, "subscriber", str(self.id))
        if self.deliver not in CONTENTS:
            raise ValueError(f"expected deliver to be {' or '.join(CONTENTS)}, got {self.deliver!r}")

    @cached_property
    def pattern(self) -> Pattern:
        """The pattern of the text; raises ``PatternError`` if the text is outside the language."""
        return parse(self.text, self.namespaces)

    @property
    def is_parsed(self) -> bool:
        """Whether the text has been parsed already."""
        return "pattern" in self.__dict__

    @property
    def plain_text(self) -> str:
        """The text if no prefixes are bound, otherwise the canonical text, which needs no prefixes."""
        return render(self.pattern) if self.namespaces else self.text

    @classmethod
    def of_pattern(
        cls, id: Hashable, pattern: Pattern, subscriber: str = "", deliver: Content = "document"
    ) -> Subscription:
        """The subscription of a pattern that was parsed before; its text is the canonical text."""
        made = cls(id, render(pattern), subscriber, deliver)
        made.__dict__["pattern"] = pattern
        return made
