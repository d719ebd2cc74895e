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

from twigcast.rewriting.mapping_files.updating import match_table, parsed_document
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
    document = parsed_document(path) if path.exists() else tomlkit.document()
    is_new = not document
    for key, value in settings.items():
        if key not in document:
            document.add(key, tomlkit.item(value))
    if is_new:
        document.add(tomlkit.nl())
    match = match_table(document, path)
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
