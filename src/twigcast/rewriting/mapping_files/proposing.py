"""Writes a proposal of pairs as a mapping file, each pair with its evidence as a comment.

    "cmu/Course/Lecturer" = "catalogue/course/instructor/name" # 0.64: name 0.66, thesaurus lecturer~…

A file that is already there keeps everything that it says: only places on which it has decided nothing get a
proposal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import tomlkit
from tomlkit.items import Table

from twigcast.errors import MappingError
from twigcast.system import write_atomically


@dataclass(frozen=True, slots=True)
class ProposedPair:
    """A pair as it is written, and why it is proposed."""

    source: str
    target: str
    why: str


def write_proposal(
    path: Path,
    settings: Mapping[str, str],
    pairs: Iterable[ProposedPair],
    unmatched: Iterable[str],
) -> None:
    """Write a mapping file, or add proposals to the one that is there.

    ``settings`` are the keys at the top (``mapping``, ``source``, ``target``, ``root``); a file that is there
    keeps its own.  Places without a pair are listed in a comment.  Raises ``MappingError``
    (``mapping-file``) if the file that is there cannot be read.
    """
    document = _parsed(path) if path.exists() else tomlkit.document()
    is_new = not document
    for key, value in settings.items():
        if key not in document:
            document.add(key, tomlkit.item(value))
    if is_new:
        document.add(tomlkit.nl())
    if "match" not in document:
        document.add("match", tomlkit.table())
    match = document["match"]
    assert isinstance(match, Table)
    for pair in pairs:
        value = tomlkit.string(pair.target)
        value.comment(pair.why)
        match.add(pair.source, value)
    rest = list(unmatched)
    if rest:
        match.add(tomlkit.nl())
        match.add(tomlkit.comment("without a counterpart: match, keep or hide them under [unmatched]"))
        for place in rest:
            match.add(tomlkit.comment(f"  {place}"))
    write_atomically(path, tomlkit.dumps(document).encode())


def _parsed(path: Path) -> tomlkit.TOMLDocument:
    try:
        return tomlkit.parse(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise MappingError(f"{path}: {error}", code="mapping-file", name=str(path)) from None
