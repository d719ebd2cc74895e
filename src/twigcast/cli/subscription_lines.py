"""Reads the file of subscriptions of a command, and reports the bad lines; the same for every command."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from twigcast.cli.terminal import complain_of, progress
from twigcast.errors import TwigcastError
from twigcast.pattern import Content, Subscription
from twigcast.subscriptions import Format, read_subscriptions

if TYPE_CHECKING:
    from twigcast.filtering import RefusedSubscription

COMPLAINTS = 20  # bad lines of a file that are reported; the rest is only counted


class SubscriptionLines:
    """The lines of a file of subscriptions, good and bad.

    Iterate over ``good`` first; then ``refuse`` takes what the index or the store refused, and ``report``
    writes all bad lines in order.
    """

    def __init__(
        self,
        path: Path,
        format: Format | None,
        namespaces: Mapping[str, str],
        *,
        subscriber: str = "",
        deliver: Content = "document",
    ) -> None:
        self.path = path
        self.bad: list[tuple[int, TwigcastError]] = []
        self._lines: dict[str, int] = {}
        self._numbered = read_subscriptions(
            path, format, namespaces=namespaces, subscriber=subscriber, deliver=deliver
        )

    def good(self, doing: str) -> Iterator[Subscription]:
        """Yield the subscriptions of the good lines, with a progress bar that says ``doing``."""
        with progress(f"{doing} {self.path}", self._numbered) as entries:
            for line, entry in entries:
                if isinstance(entry, TwigcastError):
                    self.bad.append((line, entry))
                else:
                    self._lines[str(entry.id)] = line
                    yield entry

    @property
    def namespaces(self) -> Mapping[str, str]:
        """The bindings for all lines, and after reading also those of the ``# namespace`` lines."""
        return self._numbered.namespaces

    def refuse(self, refused: Iterable[RefusedSubscription]) -> None:
        """Count lines as bad whose subscriptions were refused later."""
        self.bad += [(self._lines[str(each.id)], each.error) for each in refused]

    def report(self) -> str:
        """Report the first bad lines on stderr; returns a hint if there are more, otherwise an empty text."""
        for line, error in sorted(self.bad, key=lambda pair: pair[0])[:COMPLAINTS]:
            complain_of(error, f"{self.path}:{line}")
        return f"; to see all of them: twigcast check {self.path}" if len(self.bad) > COMPLAINTS else ""
