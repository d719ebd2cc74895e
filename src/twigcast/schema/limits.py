"""Limits on the size of a schema."""

from __future__ import annotations

from dataclasses import dataclass

from twigcast.errors import SchemaError


@dataclass(frozen=True, slots=True)
class SchemaLimits:
    """Limits on one schema; one that exceeds a limit is refused with the code ``too-complex``.

    ``bytes`` limits the file, ``elements`` the declared elements, ``particles`` the names, groups and
    wildcards of all content models after entities, groups and substitutes were put in their places.
    ``pairs`` limits the sum of the squares of the sizes of all content models of an XSD, whose library
    compares every particle of a model with every other (about 3 µs for each pair).
    """

    bytes: int = 16 << 20
    elements: int = 10_000
    particles: int = 100_000
    pairs: int = 4_000_000

    def check(self, limit: str, number: int, name: str) -> None:
        """Raise ``SchemaError`` if ``number`` exceeds the limit with this name; ``name`` is the schema's."""
        most = getattr(self, limit)
        if number > most:
            raise SchemaError(
                f"{name} is too large: it has more than {most:,} {limit} (SchemaLimits.{limit})",
                code="too-complex",
            )


DEFAULT = SchemaLimits()
