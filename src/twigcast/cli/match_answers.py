"""The answers of ``twigcast match``, and how they are printed: lines, JSON, or a table."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum

from twigcast.cli.terminal import as_json, escaped, json_line, stdout
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


def print_table(outcomes: list[DocumentAnswer], wanted: Wanted, show: int) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("document", overflow="fold")
    if wanted is Wanted.PARTS:
        table.add_column("id", overflow="fold")
        table.add_column("bytes", justify="right")
        table.add_column("kind")
        table.add_column("text", overflow="ellipsis", no_wrap=True)
    else:
        table.add_column("matches", justify="right")
        if wanted is Wanted.STRUCTURE:
            table.add_column("open", justify="right")
            table.add_column("structure", justify="right")
        if wanted is not Wanted.COUNT:
            table.add_column("ids", overflow="fold")
    for outcome in outcomes:
        name = Text(escaped(outcome.document))
        if outcome.error is not None:
            failed = Text(escaped(outcome.error), style="red")
            table.add_row(name, *[""] * (len(table.columns) - 2), failed)
        elif wanted is Wanted.COUNT:
            table.add_row(name, f"{outcome.count:,}")
        elif wanted is Wanted.IDS:
            table.add_row(name, f"{outcome.count:,}", Text(_some(outcome.ids, show)))
        elif wanted is Wanted.STRUCTURE:
            size = f"{outcome.structure_bytes:,} of {outcome.body_bytes:,} bytes"
            ids = Text(_some(outcome.ids, show))
            if outcome.open:
                ids.append(f"{'; ' if ids else ''}open: {_some(outcome.open, show)}", style="dim")
            table.add_row(name, f"{outcome.count:,}", f"{len(outcome.open):,}", size, ids)
        else:
            for part in outcome.parts:
                extent = f"{part.start:,}–{part.end:,}"
                table.add_row(name, Text(escaped(part.id)), extent, part.kind, Text(_one_line(part.text)))
    stdout().print(table)
