"""One subscription: who asks for what, and what is delivered.

    Subscription("ada", "//p[x:person='Ada']", "desk-1", namespaces={"x": "urn:people"})

The same value travels from a file, a command line or the store to the index and the routers.  Its text is
parsed when the pattern is first asked for, and never again in this process.
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


@dataclass(frozen=True)  # without slots: the pattern is kept once it is parsed
class Subscription:
    """A subscription as a value; ``subscriber`` is the id where it is not named.

    Two subscriptions are equal if they were written alike.
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
        """What is asked for; raises ``PatternError`` where the text is outside the language."""
        return parse(self.text, self.namespaces)

    @property
    def is_parsed(self) -> bool:
        """Whether the pattern is known already."""
        return "pattern" in self.__dict__

    @property
    def plain_text(self) -> str:
        """A text that means the same without namespace prefixes: canonical where prefixes are bound."""
        return render(self.pattern) if self.namespaces else self.text

    @classmethod
    def of_pattern(
        cls, id: Hashable, pattern: Pattern, subscriber: str = "", deliver: Content = "document"
    ) -> Subscription:
        """The subscription of a pattern that is there already; its text is the canonical one."""
        made = cls(id, render(pattern), subscriber, deliver)
        made.__dict__["pattern"] = pattern
        return made
