"""``twigcast chunk`` cuts one large document by what its queries ask for, and runs them on what is cut."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from twigcast.cli.match_answers import Form
from twigcast.cli.options import (
    AsJson,
    DefaultNamespace,
    Namespaces,
    SubscriptionFormat,
    examples,
    namespace_map,
)
from twigcast.cli.terminal import (
    PATIENCE,
    complain,
    complain_of,
    escaped,
    json_line,
    plural,
    stderr,
)
from twigcast.errors import SourceError, TwigcastError
from twigcast.pattern import to_string
from twigcast.subscriptions import Format, read_subscriptions
from twigcast.system import BROKEN_GZIP, GZIP_MARK, decompressed_file

if TYPE_CHECKING:
    from twigcast.chunking import Answer, ChunkQuery, Pair, Scheme
    from twigcast.errors import DocumentError

EXAMPLES = examples(
    "twigcast chunk big.xml --queries q.txt --schema auction.dtd --plan",
    "twigcast chunk big.xml --queries q.txt --schema auction.dtd --into chunks",
    "twigcast chunk big.xml --queries q.txt --sample --run --json > answers.jsonl",
    "twigcast chunk big.xml --queries q.txt --sample --run --cores 0 --ranges",
    "twigcast chunk big.xml.gz --queries q.txt --sample --run --engine lxml",
)
BLOCK = 1 << 20


class RunEngine(Enum):
    """Who evaluates the queries."""

    AUTO = "auto"
    SELECT = "select"
    LXML = "lxml"


def command(
    document: Annotated[Path, typer.Argument(metavar="DOCUMENT", help="One XML file; also .gz.")],
    queries: Annotated[
        Path,
        typer.Option(
            "--queries",
            "-q",
            metavar="FILE",
            help="File of queries, in the formats of subscriptions: one XPath on each line, TSV, or JSONL.",
        ),
    ],
    format: SubscriptionFormat = None,
    namespace: Namespaces = None,
    default_namespace: DefaultNamespace = None,
    schema: Annotated[
        Path | None, typer.Option("--schema", metavar="FILE", help="DTD or XSD of the document.")
    ] = None,
    root: Annotated[
        str | None, typer.Option("--root", metavar="NAME", help="With --schema, the root element.")
    ] = None,
    sample: Annotated[
        bool,
        typer.Option("--sample", help="Plan from the beginning of the document; with --schema, for sizes."),
    ] = False,
    sample_bytes: Annotated[
        int, typer.Option("--sample-bytes", min=1, metavar="N", help="How much --sample reads.")
    ] = 256 << 20,
    plan_only: Annotated[bool, typer.Option("--plan", help="Only show where it would be cut.")] = False,
    into: Annotated[
        Path | None, typer.Option("--into", metavar="FOLDER", help="Write the chunks into an empty folder.")
    ] = None,
    run_queries: Annotated[
        bool, typer.Option("--run", help="Run the queries on the chunks and print the answers.")
    ] = False,
    chunks: Annotated[int, typer.Option("--chunks", min=1, metavar="N", help="The most prefixes.")] = 8,
    part_bytes: Annotated[
        int, typer.Option("--part-bytes", min=1, metavar="N", help="Bytes of a part of a divided chunk.")
    ] = 1 << 20,
    engine: Annotated[
        RunEngine, typer.Option("--engine", help="Run queries with twigcast's evaluator, or with lxml.")
    ] = RunEngine.AUTO,
    ranges: Annotated[
        bool,
        typer.Option(
            "--ranges", help="Give byte ranges only; chunks keep only the tags of what is selected."
        ),
    ] = False,
    parts: Annotated[
        Form | None,
        typer.Option(
            "--parts",
            help="With --run, print an element as a document, with the namespaces that it uses (default), "
            "or as the bare range of bytes.",
        ),
    ] = None,
    cores: Annotated[
        int,
        typer.Option("--cores", min=0, metavar="N", help="With --run, read pieces on N cores (0: all)."),
    ] = 1,
    json: AsJson = False,
) -> None:
    """Cut one large document into small documents, by what queries ask for, in one pass.

    With --run the output is one line for each answer, as soon as it is known: query, start and end of the
    byte range, kind, text (not with --ranges); with --json one object for each.
    Without --into or --run the plan is shown.
    The exit code is 1 if the document is malformed (what was complete is kept) or a query could not be run.

    To learn only which queries match, twigcast match is faster by far.
    """
    from twigcast.chunking import draw, plan, sampled
    from twigcast.schema import read_schema

    file = _File(document)
    if not sample and schema is None:
        raise typer.BadParameter("plan from a --schema, from a --sample of the document, or from both")
    for option, is_given in (("--cores", cores != 1), ("--parts", parts is not None)):
        if is_given and not run_queries:
            raise typer.BadParameter(f"{option} goes with --run", param_hint=option)
    asked, bad = _queries(queries, format, namespace_map(namespace, default_namespace), engine)
    if parts is not None:
        asked = [replace(query, form=parts.value) for query in asked]
    if ranges:
        asked = [replace(query, answers="ranges") for query in asked]
    graph = None if schema is None else read_schema(schema, root)
    profile, fault = sampled(file.blocks, sample_bytes) if sample else (None, None)
    scheme = plan(asked, graph, profile=profile, chunks=chunks)
    for id, error in scheme.refused:
        complain_of(error, f"{queries}: {id}")
    if plan_only or not (into or run_queries):
        print(draw(scheme, file.size))
        bad |= _broken(document, fault)
    bad |= bool(scheme.refused)
    if into is not None:
        bad |= _write(file, scheme, into, part_bytes)
    if run_queries:
        bad |= _run(file, scheme, part_bytes, cores or os.cpu_count() or 1, json=json)
        if ranges and not any(query.runs_on_lxml for query in asked):
            complain("note: to learn only which queries match, twigcast match is faster by far")
    if file.error is not None:
        complain_of(file.error)
    if bad or file.error is not None:
        raise typer.Exit(1)


def _queries(
    path: Path, format: Format | None, namespaces: dict[str, str], engine: RunEngine
) -> tuple[list[ChunkQuery], bool]:
    """The queries of the good lines, and whether there are bad ones, which are reported."""
    from twigcast.chunking import ChunkQuery

    found: list[ChunkQuery] = []
    bad = False
    for line, entry in read_subscriptions(path, format, namespaces=namespaces):
        if isinstance(entry, TwigcastError):
            complain_of(entry, f"{path}:{line}")
            bad = True
        else:
            found.append(ChunkQuery.of_subscription(entry, engine.value))
    return found, bad


def _write(document: _File, scheme: Scheme, into: Path, part_bytes: int) -> bool:
    """Write the chunks; whether something was wrong."""
    from twigcast.chunking import chunk, printed_bytes

    with _progress(document) as advance:
        cut = chunk(document.blocks(advance), scheme, into, part_bytes=part_bytes)
    for each in cut.chunks:
        print(f"{escaped(each.folder)}\t{plural(len(each.parts), 'part')}\t{printed_bytes(each.bytes)}")
    _note_foreign(document, cut.foreign, cut.foreign_at)
    _note_unsettled(cut.unsettled)
    return _broken(document.path, cut.error) or bool(cut.unsettled)


def _run(document: _File, scheme: Scheme, part_bytes: int, cores: int, *, json: bool) -> bool:
    """Print the answers as they are found; whether something was wrong."""
    from twigcast.chunking import run_queries

    with _progress(document) as advance:
        in_pieces = cores > 1 and not document.is_compressed
        source = document.path if in_pieces else lambda: document.blocks(advance)
        answers = run_queries(source, scheme, part_bytes=part_bytes, cores=cores)
        shown = 0
        for answer in answers:
            sys.stdout.write(_line(answer, document.codec, json=json) + "\n")
            if in_pieces:
                advance(answers.bytes - shown)
                shown = answers.bytes
    _note_foreign(document, answers.foreign, answers.foreign_at)
    _note_unsettled(answers.unsettled)
    for error in answers.failures.values():
        complain_of(error)
    return _broken(document.path, answers.error) or bool(answers.failures)


def _note_foreign(document: _File, pairs: Sequence[Pair], at: int | None) -> None:
    """Say that the document has elements where the plan does not expect them."""
    from twigcast.document import line_and_column

    if pairs and at is not None:
        (parent, child), more = pairs[0], f", and {len(pairs) - 1} more such pairs" if pairs[1:] else ""
        where = (
            f"a child {escaped(child[1])} of {escaped(parent[1])}"
            if parent
            else f"a root {escaped(child[1])}"
        )
        line, column = line_and_column(document.blocks(), document.codec, at)
        complain(
            f"note: {escaped(document.path)} has {where} at line {line:,}, column {column:,}, "
            f"which the plan does not know{more}"
        )


def _note_unsettled(queries: Sequence[Hashable]) -> None:
    """Say which queries are not answered where the plan expects nothing."""
    if queries:
        names = ", ".join(escaped(id) for id in queries[:5]) + (" and more" if queries[5:] else "")
        complain(
            f"note: the document has elements that the plan does not know, and {names} can select there: "
            "plan again with --sample"
        )


def _broken(document: Path, error: DocumentError | None) -> bool:
    if error is not None:
        complain_of(error, str(document))
        complain("note: what was complete before it is kept")
    return error is not None


_DECLARATION = re.compile(r"\A\ufeff?<\?xml [^>]*>")  # of an element that is a document of its own


def _line(answer: Answer, codec: str, *, json: bool) -> str:
    content = answer.content
    text = _DECLARATION.sub("", content.decode(codec, "replace")) if isinstance(content, bytes) else content
    text = to_string(text) if isinstance(text, bool | float) else text
    if not json:
        place = f"{escaped(answer.query)}\t{answer.start}\t{answer.end}\t{answer.kind}"
        return place if text is None else f"{place}\t{escaped(text)}"
    fields = {"query": answer.query, "start": answer.start, "end": answer.end, "kind": answer.kind}
    fields |= {"content": text, "chunk": answer.chunk, "part": answer.part, "partial": answer.is_partial}
    return json_line(fields)


class _File:
    """One document, read in blocks; a compressed one that is broken ends there, and ``error`` says so."""

    def __init__(self, path: Path) -> None:
        from twigcast.document import document_codec

        if not path.is_file():
            raise SourceError("it is no file", code="not-found", path=str(path))
        self.path = path
        self.error: SourceError | None = None
        with path.open("rb") as file:
            self.is_compressed = file.read(len(GZIP_MARK)) == GZIP_MARK
        self.size = None if self.is_compressed else path.stat().st_size
        self.codec = document_codec(next(self.blocks(), b""))

    def blocks(self, advance: Callable[[int], object] = lambda size: None) -> Iterator[bytes]:
        """The document, decompressed; ``advance`` is called with the size of each block that was used."""
        waiting = bytearray()
        try:
            with self.path.open("rb") as file:
                source = decompressed_file(file)
                while piece := source.read1(BLOCK):
                    waiting += piece
                    if len(waiting) >= BLOCK:
                        yield bytes(waiting)
                        advance(len(waiting))
                        waiting.clear()
        except BROKEN_GZIP as error:
            reason = f"the file cannot be read: {getattr(error, 'strerror', None) or error}"
            self.error = SourceError(reason, code="unreadable", path=str(self.path))
        yield bytes(waiting)
        advance(len(waiting))


@contextmanager
def _progress(document: _File) -> Iterator[Callable[[int], object]]:
    """A progress bar over the bytes of the document, after a second, if stderr is a terminal.

    After the last byte, it says that queries still run on the chunks that are one document.
    """
    if not sys.stderr.isatty():
        yield lambda size: None
        return
    import time

    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn
    from rich.progress import TransferSpeedColumn as Speed

    columns = (BarColumn(), DownloadColumn(), Speed(), TimeRemainingColumn())
    bar = Progress(
        TextColumn("{task.description}", markup=False),
        *columns,
        console=stderr(),
        transient=True,
        redirect_stdout=sys.stdout.isatty(),
        redirect_stderr=False,
    )
    task = bar.add_task(escaped(document.path), total=document.size)
    begun = time.monotonic()
    is_shown = False

    def advance(size: int) -> None:
        nonlocal is_shown
        bar.advance(task, size)
        if bar.finished:
            bar.update(task, description="read; running the last queries")
        if not is_shown and time.monotonic() - begun > PATIENCE:
            bar.start()
            is_shown = True

    try:
        yield advance
    finally:
        if is_shown:
            bar.stop()
