"""Tables of names for structures: those of advertisements, which all routers of a network know.

A structure that is written with a table has numbers in place of names, and the hash of the table.
"""

from __future__ import annotations

from functools import lru_cache

from twigcast.document import Name, NameTable, structure_table
from twigcast.routing.tables import AdvertisementTable


class NameTables:
    """The tables of names of the advertisements that one router knows."""

    def __init__(self, announced: AdvertisementTable) -> None:
        self._announced = announced
        self._by_hash: dict[bytes, NameTable] = {}
        self._by_advertisement: dict[str, NameTable] = {}

    def forget(self) -> None:
        """Compute the tables again, because advertisements have changed."""
        self._by_hash.clear()
        self._by_advertisement.clear()

    def of_link(self, link: str) -> NameTable | None:
        """The table for documents that come from a link: that of its first advertisement."""
        for each in self._announced[link]:
            return self._table(each, link)
        return None

    def used_in(self, structure: bytes) -> NameTable | None:
        """The table that a structure was written with; None if it has none, or one that is not known."""
        wanted = structure_table(structure)
        if wanted is None:
            return None
        if wanted not in self._by_hash:
            for link, announced in self._announced.links.items():
                for each in announced:
                    self._table(each, link)
        return self._by_hash.get(wanted)

    def _table(self, id: str, link: str) -> NameTable:
        table = self._by_advertisement.get(id)
        if table is None:
            tests = self._announced[link][id].automaton.tests
            full = {(each.namespace, each.local) for each in tests}
            table = _table_of(
                tuple(sorted((space, local) for space, local in full if space is not None and local))
            )
            self._by_advertisement[id] = table
            self._by_hash[table.id] = table
        return table


@lru_cache(maxsize=64)
def _table_of(names: tuple[Name, ...]) -> NameTable:
    """The same object for the same names: the matcher looks tables up, and comparing 130 names takes 3 µs."""
    return NameTable(names)
