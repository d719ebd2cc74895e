"""Finds the dead letter that a person means: by its whole id, or by a path as they see it."""

from __future__ import annotations

from collections.abc import Iterable
from os.path import abspath

from twigcast.errors import SourceError

SHOWN = 5  # letters that a message names


def letter_id(ids: Iterable[str], asked: str) -> str:
    """The id of the letter that is meant by ``asked``.

    That is the id itself, a path from the current folder, or the end of a path.
    Raises ``SourceError``, with the code ``not-found`` or ``ambiguous``.
    """
    known = set(ids)
    for whole in (asked, abspath(asked)):
        if whole in known:
            return whole
    found = sorted(id for id in known if id.endswith(f"/{asked.removeprefix('./')}"))
    if not found:
        raise SourceError("there is no such dead letter", code="not-found", path=asked)
    if found[1:]:
        some = ", ".join(found[:SHOWN]) + (", …" if found[SHOWN:] else "")
        raise SourceError(f"{len(found)} dead letters end in this: {some}", code="ambiguous", path=asked)
    return found[0]
