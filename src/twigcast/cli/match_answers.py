"""The answers of ``twigcast match``, and how they are printed: lines, JSON, or a table."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum

from twigcast.cli.tables import Cell, Column, ColumnKind, figures, print_table
from twigcast.cli.terminal import as_json, complain, escaped, json_line, limit_hint
from twigcast.errors import TwigcastError


class Wanted(Enum):
    """The kind of answer that the command prints for each document."""

    IDS = "ids"
    COUNT = "count"
    PARTS = "parts"
    STRUCTURE = "structure"


class Form(Enum):
    """A selected element as a document of its own, or as the bare range of bytes."""

    DOCUMENT = "document"
    RANGE = "range"


@dataclass(frozen=True, slots=True)
class MatchedPart:
    """A part of a document that a subscription selected: byte range, kind of node, and text."""

    id: Hashable
    start: int
    end: int
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class DocumentRefusal:
    """A subscription that exceeds a limit on the document, and the error that says so."""

    id: Hashable
    error: TwigcastError


@dataclass(frozen=True, slots=True)
class DocumentAnswer:
    """The answer for one document: matched ids, their number, selected parts, refusals; or the error."""

    document: str
    ids: list[Hashable]
    count: int
    parts: list[MatchedPart]
    error: TwigcastError | None = None
    refused: list[DocumentRefusal] = field(default_factory=list)
    mapping: str | None = None
    """The mapping that was applied, as ``name@version#hash``."""
    open: list[Hashable] = field(default_factory=list)
    """With --structure: the ids that the structure leaves open."""
    structure_bytes: int = 0
    body_bytes: int = 0
    share: float | None = None
    """With --early: the share of the bytes that had come when these ids became certain; 0 if unknown."""


def json_lines(outcome: DocumentAnswer, wanted: Wanted) -> Iterator[str]:
    answer: dict[str, object] = {"document": outcome.document}
    if wanted is Wanted.COUNT:
        answer["count"] = outcome.count
    else:
        answer["ids"] = outcome.ids
    if wanted is Wanted.PARTS:
        answer["parts"] = [
            {"id": part.id, "start": part.start, "end": part.end, "kind": part.kind, "text": part.text}
            for part in outcome.parts
        ]
    if wanted is Wanted.STRUCTURE:
        answer["open"] = outcome.open
        answer |= {"structure_bytes": outcome.structure_bytes, "body_bytes": outcome.body_bytes}
    if wanted is Wanted.PARTS or outcome.refused:
        answer["refused"] = [{"id": each.id, "error": as_json(each.error)} for each in outcome.refused]
    if outcome.share is not None:
        answer["share"] = round(outcome.share, 4)
    if outcome.mapping is not None:
        answer["mapping"] = outcome.mapping
    answer["error"] = as_json(outcome.error)
    yield json_line(answer)


def tab_lines(outcome: DocumentAnswer, wanted: Wanted) -> Iterator[str]:
    if outcome.error is not None:
        return
    if wanted is Wanted.COUNT:
        yield f"{escaped(outcome.document)}\t{outcome.count}"
    elif wanted is Wanted.IDS:
        document = escaped(outcome.document)
        yield from (f"{document}\t{escaped(id)}" for id in outcome.ids)
    elif wanted is Wanted.STRUCTURE:
        document = escaped(outcome.document)
        yield from (f"{document}\t{escaped(id)}\tcertain" for id in outcome.ids)
        yield from (f"{document}\t{escaped(id)}\topen" for id in outcome.open)
    else:
        for part in outcome.parts:
            columns = (outcome.document, part.id, part.start, part.end, part.kind)
            yield "\t".join([*map(escaped, columns), _one_line(part.text)])


def _one_line(text: str) -> str:
    """The text with backslashes and control characters escaped, so that it fits into a column of one line."""
    return escaped(text.replace("\\", "\\\\"))


def write(lines: Iterable[str]) -> None:
    for line in lines:
        sys.stdout.write(line + "\n")


def _some(ids: list[Hashable], show: int) -> str:
    """The first of these ids, and how many more there are."""
    shown = ", ".join(escaped(id) for id in ids[:show])
    return f"{shown}, … {len(ids) - show:,} more" if len(ids) > show else shown


def print_answers(outcomes: list[DocumentAnswer], wanted: Wanted, show: int) -> None:
    """Print the answers as a table for people."""
    from rich.text import Text

    columns = [Column("document"), *_COLUMNS[wanted]]
    if wanted is Wanted.COUNT and any(outcome.error is not None for outcome in outcomes):
        columns.append(Column("error"))
    rows: list[list[Cell]] = []
    for outcome in outcomes:
        name = outcome.document
        if outcome.error is not None:
            failed = Text(escaped(f"{outcome.error}{limit_hint(outcome.error)}"), style="red")
            rows.append([name, *[""] * (len(columns) - 2), failed])
        elif wanted is Wanted.COUNT:
            rows.append([name, f"{outcome.count:,}", *[""] * (len(columns) - 2)])
        elif wanted is Wanted.IDS:
            rows.append([name, f"{outcome.count:,}", _some(outcome.ids, show)])
        elif wanted is Wanted.STRUCTURE:
            size = f"{outcome.structure_bytes:,} of {outcome.body_bytes:,} bytes"
            ids = Text(_some(outcome.ids, show))
            if outcome.open:
                ids.append(f"{'; ' if ids else ''}open: {_some(outcome.open, show)}", style="dim")
            rows.append([name, f"{outcome.count:,}", f"{len(outcome.open):,}", size, ids])
        else:
            for part in outcome.parts:
                extent = f"{part.start:,}–{part.end:,}"
                rows.append([name, str(part.id), extent, part.kind, _one_line(part.text)])
    if rows:
        print_table(columns, rows)
    else:
        complain("nothing is selected")


_MATCHES, _IDS = Column("matches", ColumnKind.FIGURE), Column("ids")
_COLUMNS = {
    Wanted.IDS: [_MATCHES, _IDS],
    Wanted.COUNT: [_MATCHES],
    Wanted.STRUCTURE: [_MATCHES, *figures("open", "structure"), _IDS],
    Wanted.PARTS: [
        Column("id"),
        Column("bytes", ColumnKind.FIGURE),
        Column("kind", ColumnKind.WORD),
        Column("text", ColumnKind.EXCERPT),
    ],
}
