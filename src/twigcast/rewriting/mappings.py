"""A set of mappings, one for each publisher."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from twigcast.errors import MappingError
from twigcast.rewriting.mapping import HASH, Mapping
from twigcast.schema import ElementGraph, read_schema


class Mappings:
    """An immutable set of mappings in the order of their names.

    ``hash`` identifies the set: two sets with the same names, versions and operators have the same.
    """

    def __init__(self, mappings: Iterable[Mapping] = ()) -> None:
        """Raises ``MappingError`` (``duplicate-mapping``) if two have the same name."""
        self._by_name: dict[str, Mapping] = {}
        for mapping in sorted(mappings, key=lambda each: each.name):
            if mapping.name in self._by_name:
                message = f"there are two mappings with the name {mapping.name!r}"
                raise MappingError(message, code="duplicate-mapping", name=mapping.name)
            self._by_name[mapping.name] = mapping

    @classmethod
    def load(
        cls, paths: Path | str | Iterable[Path | str], schema: Path | str | ElementGraph | None = None
    ) -> Mappings:
        """Read mapping files: all in a folder, or those that are named.

        Of a folder, the files that end in ``.toml`` and have the key ``mapping`` are read.  ``schema`` is
        the global schema, if it is not the one that the files name.  Raises ``MappingError``.
        """
        from twigcast.rewriting.mapping_files import read_mapping

        graph = read_schema(Path(schema)) if isinstance(schema, Path | str) else schema
        return cls(read_mapping(path, graph) for path in mapping_paths(paths))

    def __getitem__(self, name: str) -> Mapping:
        """The mapping of a name; raises ``MappingError`` (``unknown-mapping``)."""
        found = self._by_name.get(name)
        if found is None:
            there = ", ".join(self.names) or "none"
            message = f"there is no mapping {name!r}; there are: {there}"
            raise MappingError(message, code="unknown-mapping", name=name)
        return found

    def get(self, name: str) -> Mapping | None:
        """The mapping of a name, None if there is none."""
        return self._by_name.get(name)

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __iter__(self) -> Iterator[Mapping]:
        return iter(self._by_name.values())

    def __len__(self) -> int:
        return len(self._by_name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mappings) and self.hash == other.hash

    def __hash__(self) -> int:
        return hash(self.hash)

    def __repr__(self) -> str:
        return f"Mappings({', '.join(each.reference for each in self)})"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the mappings."""
        return tuple(self._by_name)

    @property
    def hash(self) -> str:
        """The hash of the set."""
        text = "\n".join(mapping.reference for mapping in self)
        return hashlib.sha256(text.encode()).hexdigest()[:HASH]


def mapping_paths(paths: Path | str | Iterable[Path | str]) -> list[Path]:
    """The mapping files that paths name, themselves or as folders; raises ``MappingError``.

    A file of a folder that is not TOML is one of them, so that whoever reads it says what is wrong.
    """
    from twigcast.config import ConfigError, read_toml

    found: list[Path] = []
    for path in [paths] if isinstance(paths, Path | str) else paths:
        path = Path(path)
        if not path.is_dir():
            found.append(path)
            continue
        inside = []
        for file in sorted(path.glob("*.toml")):
            try:
                is_mapping = "mapping" in read_toml(file)
            except ConfigError:
                is_mapping = True
            if is_mapping:
                inside.append(file)
        if not inside:
            message = f"{path}: expected mapping files: *.toml with the key mapping"
            raise MappingError(message, code="mapping-file", name=str(path))
        found += inside
    return found
