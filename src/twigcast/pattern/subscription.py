"""One subscription as a value: its id, its XPath, its subscriber, and what is delivered.

    Subscription("ada", "//p[x:person='Ada']", "desk-1", namespaces={"x": "urn:people"})

The same value is passed from a file, a command line or the store to the index and the routers.  Its text is
parsed when ``pattern`` is first used, and never again in this process.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias

from twigcast.characters import describe_character, illegal_character
from twigcast.errors import SubscriptionError
from twigcast.pattern.limits import PatternLimits
from twigcast.pattern.rendering import render
from twigcast.pattern.syntax import parse, shortened, total_length
from twigcast.pattern.tree import Pattern

Content: TypeAlias = Literal["document", "part"]
"""What a subscriber receives: the whole document, or only the nodes that the pattern selects."""

CONTENTS: tuple[Content, ...] = ("document", "part")
"""The values of ``Content``."""

_NO_NAMESPACES: Mapping[str, str] = {}


@dataclass(frozen=True)  # without slots, which ``cached_property`` does not support
class Subscription:
    """A subscription; ``subscriber`` is the id by default.

    Raises ``SubscriptionError`` if the id or the subscriber has a character that XML does not allow; such a
    character in the text or in ``namespaces`` is an error of the pattern.

    Two subscriptions are equal if their fields are, so two texts of the same pattern are different values.
    """

    id: Hashable
    text: str
    subscriber: str = ""
    deliver: Content = "document"
    namespaces: Mapping[str, str] = field(default_factory=lambda: _NO_NAMESPACES, hash=False)

    def __post_init__(self) -> None:
        if not self.subscriber:
            object.__setattr__(self, "subscriber", printed_id(self.id))
        check_names(self.id, self.subscriber)
        if self.deliver not in CONTENTS:
            raise ValueError(_expected_content(self.deliver))

    @cached_property
    def pattern(self) -> Pattern:
        """The pattern of the text; raises ``PatternError`` if the text is outside the language."""
        return parse(self.text, self.namespaces)

    @property
    def is_parsed(self) -> bool:
        """Whether the text has been parsed already."""
        return "pattern" in self.__dict__

    @classmethod
    def unchecked(
        cls, id: Hashable, text: str, subscriber: str, deliver: Content, namespaces: Mapping[str, str]
    ) -> Subscription:
        """A row of a table that others write, without any check: an index refuses it alone if it is bad."""
        made = cls.__new__(cls)
        made.__dict__.update(
            id=id, text=text, subscriber=subscriber, deliver=deliver, namespaces=namespaces or _NO_NAMESPACES
        )
        return made

    @classmethod
    def of_pattern(cls, id: Hashable, pattern: Pattern) -> Subscription:
        """The subscription of a pattern that was parsed before; its text is the canonical text."""
        made = cls(id, render(pattern))
        made.__dict__["pattern"] = pattern
        return made


Subscriptions: TypeAlias = (
    Mapping[Any, Any] | Iterable[Subscription | tuple[Any, Any] | tuple[Any, Any, Mapping[str, str] | None]]
)
"""What callers pass as subscriptions: a mapping of ids to expressions, or an iterable of ``Subscription``
values, ``(id, xpath)`` and ``(id, xpath, namespaces)``."""


def given_subscriptions(given: Subscriptions) -> list[Subscription | tuple[Any, ...]]:
    """The subscriptions that a caller passes, as values and tuples; raises ``TypeError`` for anything else.

    The value of a mapping may also be ``(xpath, namespaces)``.
    """
    if isinstance(given, Mapping):
        given = [(id, *(each if isinstance(each, tuple) else (each,))) for id, each in given.items()]
    if isinstance(given, str | bytes | Subscription) or not isinstance(given, Iterable):
        raise TypeError(f"{_EXPECTED_SUBSCRIPTIONS}, got {_shown(given)}")
    found = list(given)
    for at, item in enumerate(found):
        if isinstance(item, Subscription):
            continue
        is_row = hasattr(item, "__getitem__") and not isinstance(item, str | bytes | Mapping)
        if not is_row or len(item) not in (2, 3):
            raise TypeError(f"{_EXPECTED_SUBSCRIPTIONS}; number {at + 1} is {_shown(item)}")
        if len(item) == 3 and not (item[2] is None or isinstance(item[2], Mapping)):
            raise TypeError(
                f"the namespaces of subscription {item[0]!r}: expected a map, got {_shown(item[2])}"
            )
    return found


def as_subscription(given: Subscription | tuple[Any, ...]) -> Subscription:
    """The value of one of the ``given_subscriptions``."""
    if isinstance(given, Subscription):
        return given
    id, text, *namespaces = given
    if isinstance(text, Pattern):
        return Subscription.of_pattern(id, text)
    return Subscription(id, text, namespaces=(namespaces and namespaces[0]) or _NO_NAMESPACES)


_EXPECTED_SUBSCRIPTIONS = (
    "expected subscriptions: a dict of ids and expressions, or an iterable of Subscription, (id, xpath) or "
    "(id, xpath, namespaces)"
)


def _shown(given: object) -> str:
    kind = type(given).__qualname__
    return f"{kind} {shortened(given)}" if isinstance(given, str) else kind


def printed_id(id: Hashable) -> str:
    """The id as text, which names the subscriber by default; raises ``SubscriptionError`` if it has none."""
    try:
        return str(id)
    except Exception as error:  # of a class of the caller, or an integer with more digits than Python prints
        message = f"the id, of type {type(id).__name__}, cannot be printed: {error}"
        raise SubscriptionError(message, code="unsavable-id", id=id) from error


RESERVED = "\x01"
"""The first character of ids that twigcast itself gives to patterns in an index; no subscription has it."""


def check_names(id: Hashable, subscriber: str) -> None:
    """Raise ``SubscriptionError`` if the id or the subscriber has a character that XML does not allow."""
    for kind, name in (("id", id), ("subscriber", subscriber)):
        at = illegal_character(name) if isinstance(name, str) else None
        if at is not None and isinstance(name, str):
            message = (
                f"the {kind} {shortened(name)} has the character {describe_character(name[at])} at position "
                f"{at + 1}, which XML does not allow"
            )
            raise SubscriptionError(message, code="character", id=id)


def check_content(id: Hashable, deliver: str) -> None:
    """Raise ``SubscriptionError`` if a subscription asks for a delivery that does not exist."""
    if deliver not in CONTENTS:
        raise SubscriptionError(_expected_content(deliver), code="delivery", id=id)


def _expected_content(deliver: str) -> str:
    return f"expected deliver to be {' or '.join(CONTENTS)}, got {deliver!r}"


def check_size(
    id: Hashable, text: str, subscriber: str, namespaces: Mapping[str, str] | None, limits: PatternLimits
) -> None:
    """Raise ``SubscriptionError`` if a subscription as a whole has more characters than the limit."""
    name = id if isinstance(id, str) else printed_id(id)
    if len(name) + len(subscriber) + total_length(text, namespaces) > limits.size:
        message = (
            f"the id {shortened(name)}, its subscriber, expression and namespaces have more than "
            f"{limits.size} characters together (PatternLimits.size)"
        )
        raise SubscriptionError(message, code="too-complex", id=id)
