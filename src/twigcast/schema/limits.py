"""Limits on the size of a schema."""

from __future__ import annotations

from dataclasses import dataclass

from twigcast.errors import SchemaError


@dataclass(frozen=True, slots=True)
class SchemaLimits:
    """Limits on one schema; one that exceeds a limit is refused with the code ``too-complex``.

    ``bytes`` limits the file, ``elements`` the declared elements, ``attributes`` the declared attributes of
    all elements, ``particles`` the names, groups and wildcards of all content models after entities, groups
    and substitutes were put in their places.
    ``depth`` limits how deep groups are nested in one content model of a DTD, and ``entity_depth`` how deep
    its entities refer to entities.
    ``pairs`` limits the sum of the squares of the sizes of all content models of an XSD, whose library
    compares every particle of a model with every other (about 3 µs for each pair).
    """

    bytes: int = 16 << 20
    elements: int = 10_000
    attributes: int = 100_000
    particles: int = 100_000
    depth: int = 128
    entity_depth: int = 64
    pairs: int = 4_000_000

    def check(self, limit: str, number: int, name: str) -> None:
        """Raise ``SchemaError`` if ``number`` exceeds the limit with this name; ``name`` is the schema's."""
        most = getattr(self, limit)
        if number > most:
            what = _LEVELS.get(limit, limit)
            raise SchemaError(
                f"{name} is too large: it has more than {most:,} {what} (SchemaLimits.{limit})",
                code="too-complex",
            )


_LEVELS = {"depth": "levels of groups in groups", "entity_depth": "levels of entities in entities"}
DEFAULT = SchemaLimits()
