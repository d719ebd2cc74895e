"""``twigcast fragment`` cuts a document into fragments, and shows what the header of one says."""

from __future__ import annotations

import contextlib
import gzip
import os
import re
import shutil
import sys
import tempfile
import zlib
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from twigcast.cli.options import AsJson, MaximumDepth, examples
from twigcast.cli.tables import Column, ColumnKind, figures, print_facts, print_table
from twigcast.cli.terminal import complain, errors_of, escaped, json_line, plural, progress
from twigcast.errors import FragmentError, SourceError
from twigcast.system import GZIP_MARK, standard_input

if TYPE_CHECKING:
    from twigcast.fragmenting import CutRule, Cutter, Fragment, Header, HeaderKind

EXAMPLES = examples(
    "twigcast fragment big.xml --bytes 256KB --header paths --output parts",
    "twigcast fragment big.xml --subtrees 5000 --output parts",
    "twigcast fragment big.xml --aware news.txt --header paths --output parts",
    "twigcast fragment --show parts/000003.tcf",
    "twigcast assemble parts > again.xml",
)
_BLOCK = 1 << 20
_DEFAULT_BYTES = 256_000
_UNITS = {
    "": 1,
    "B": 1,
    "KB": 1000,
    "MB": 1000**2,
    "GB": 1000**3,
    "KIB": 1 << 10,
    "MIB": 1 << 20,
    "GIB": 1 << 30,
}


class HeaderName(Enum):
    """The kinds of headers by short names."""

    EDGE = "edge"
    PREFIX = "prefix"
    LEVEL = "level"
    PATHS = "paths"

    @property
    def kind(self) -> HeaderKind:
        kinds: dict[str, HeaderKind] = {
            "edge": "edge",
            "prefix": "prefix",
            "level": "prefix+level",
            "paths": "prefix+paths",
        }
        return kinds[self.value]


def command(
    document: Annotated[
        str | None,
        typer.Argument(metavar="[FILE]", help="The document, also compressed with gzip; - is stdin."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FOLDER", help="The folder to make, with a file for each part."
        ),
    ] = None,
    size: Annotated[
        str | None,
        typer.Option(
            "--bytes",
            metavar="SIZE",
            help="Cut before the first start tag after so many bytes: 64000, 256KB.",
        ),
    ] = None,
    elements: Annotated[
        int | None,
        typer.Option(
            "--elements", min=1, metavar="N", help="Cut before the first start tag after N elements."
        ),
    ] = None,
    subtrees: Annotated[
        int | None,
        typer.Option(
            "--subtrees", min=1, metavar="N", help="Cut subtrees out, with about N elements in each."
        ),
    ] = None,
    aware: Annotated[
        Path | None,
        typer.Option(
            "--aware",
            metavar="SUBSCRIPTIONS",
            help="Cut by what the subscriptions of a file ask for: what none of them asks for becomes "
            "fragments of its own.",
        ),
    ] = None,
    header: Annotated[HeaderName, typer.Option("--header", help="What headers say.")] = HeaderName.LEVEL,
    id: Annotated[
        str | None,
        typer.Option("--id", metavar="ID", help="The id of the document; by default its file name."),
    ] = None,
    manifest: Annotated[
        bool, typer.Option("--manifest", help="Also write all headers into one file, manifest.tcm.")
    ] = False,
    show: Annotated[
        Path | None, typer.Option("--show", metavar="PART", help="Print what the header of a fragment says.")
    ] = None,
    max_depth: MaximumDepth = None,
    json: AsJson = False,
) -> None:
    """Cut a document into fragments (.tcf), each with a header that says where it belongs.

    By default the parts are byte ranges of about 256 KB.
    The fragments can be matched in any order, and twigcast assemble puts them together, byte for byte.
    """
    if show is not None:
        if document is not None or output is not None:
            raise typer.BadParameter("--show takes a fragment and nothing else", param_hint="--show")
        _show(show, json)
        return
    if document is None or output is None:
        missing = "a document" if document is None else "--output"
        raise typer.BadParameter(f"give {missing}, or --show and a fragment", param_hint="--output")
    refused = 0
    if aware is None:
        cut = _cut_rule(size, elements, subtrees)
    else:
        cut, refused = _aware(aware, size, elements, subtrees)
    name = id if id is not None else Path(document).name
    with errors_of(document):
        count, written = _write(document, output, cut, header.kind, name, max_depth, manifest)
    if json:
        typer.echo(json_line({"document": name, "fragments": count, "bytes": written}))
    else:
        complain(f"{output}: {plural(count, 'fragment')}, {written:,} bytes")
    if refused:
        raise typer.Exit(1)


def _cut_rule(size: str | None, elements: int | None, subtrees: int | None) -> CutRule:
    from twigcast.fragmenting import Spans, Subtrees

    if subtrees is not None:
        if size is not None or elements is not None:
            raise typer.BadParameter("--subtrees excludes --bytes and --elements", param_hint="--subtrees")
        return Subtrees(subtrees)
    if size is None and elements is None:
        return Spans(bytes=_DEFAULT_BYTES)
    return Spans(elements=elements or 0, bytes=_bytes(size) if size is not None else 0)


def _aware(
    subscriptions: Path, size: str | None, elements: int | None, subtrees: int | None
) -> tuple[CutRule, int]:
    """The rule that knows the subscriptions of a file, and how many of its lines are bad."""
    from twigcast.cli.index_building import build, document_limits
    from twigcast.fragmenting import Aware

    if elements is not None or subtrees is not None:
        message = "--aware goes with --bytes only, not with --elements or --subtrees"
        raise typer.BadParameter(message, param_hint="--aware")
    index, refused = build(subscriptions, None, {}, document_limits(None, None))
    return Aware(index, bytes=_bytes(size) if size is not None else _DEFAULT_BYTES), refused


def _bytes(text: str) -> int:
    found = re.fullmatch(r"\s*([0-9]{1,15})\s*([A-Za-z]*)\s*", text)
    if found is None or found[2].upper() not in _UNITS or not int(found[1]):
        raise typer.BadParameter(f"expected a size such as 256KB, got {text!r}", param_hint="--bytes")
    return int(found[1]) * _UNITS[found[2].upper()]


def _write(
    document: str,
    output: Path,
    cut: CutRule,
    kind: HeaderKind,
    doc_id: str,
    depth: int | None,
    has_manifest: bool,
) -> tuple[int, int]:
    """Write the fragments into a new folder, which gets its name when it is complete: number and bytes."""
    from twigcast.document import DocumentLimits
    from twigcast.fragmenting import MANIFEST_NAME, SUFFIX, Cutter, Manifest, encode, encode_manifest

    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        message = "there is something already: name a folder that does not exist or is empty"
        raise SourceError(message, code="unwritable", path=str(output))
    limits = DocumentLimits(depth=depth) if depth is not None else DocumentLimits()
    headers: list[Header] = []
    written = 0
    output = Path(os.path.abspath(output))
    output.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=output.parent, prefix=f".{output.name}."))
    try:
        for part in _parts(document, Cutter(cut, doc_id=doc_id, header=kind, limits=limits)):
            data = encode(part)
            (folder / f"{part.number:06d}{SUFFIX}").write_bytes(data)
            written += len(data)
            headers.append(part.header)
        if has_manifest:
            (folder / MANIFEST_NAME).write_bytes(encode_manifest(Manifest(tuple(headers))))
        folder.chmod(0o755)
        os.replace(folder, output)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return len(headers), written


def _parts(document: str, cutter: Cutter) -> Iterator[Fragment]:
    with _opened(document) as (file, size):
        total = -(-size // _BLOCK) if size else None
        with progress("Cutting", _blocks(file, document), total=total) as blocks:
            for block in blocks:
                yield from cutter.feed(block)
            yield from cutter.finish()


@contextlib.contextmanager
def _opened(document: str) -> Iterator[tuple[IO[bytes] | gzip.GzipFile, int]]:
    """The bytes of a document, and how many there are; 0 if that is not known."""
    if document == "-":
        yield standard_input(), 0
        return
    try:
        file = open(document, "rb")  # noqa: SIM115  (closed below)
    except FileNotFoundError:
        raise SourceError("there is no such file", code="not-found", path=document) from None
    except OSError as error:
        message = f"the file cannot be read: {error.strerror}"
        raise SourceError(message, code="unreadable", path=document) from None
    with file:
        if file.peek(2)[:2] == GZIP_MARK:
            with gzip.GzipFile(fileobj=file) as inner:
                yield inner, 0
        else:
            yield file, os.fstat(file.fileno()).st_size


def _blocks(file: IO[bytes] | gzip.GzipFile, document: str) -> Iterator[bytes]:
    try:
        while block := file.read(_BLOCK):
            yield block
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SourceError(f"the file cannot be read: {reason}", code="unreadable", path=document) from None


# What a header says


def _show(path: Path, json: bool) -> None:
    from twigcast.fragmenting import decode, fragment_number, number_in_fragment

    try:
        part = decode(path.read_bytes())
    except FragmentError as error:
        raise SourceError(error.message, code=error.code, path=str(path)) from None

    def name(id: int | None) -> str:
        return f"{fragment_number(id)}.{number_in_fragment(id)}" if id else ""

    rows = [
        {
            "parent": name(row.parent),
            "path": None if row.path is None else "/" + "/".join(row.path),
            "count": row.count,
            "height": row.height,
        }
        for row in part.header.rows()
    ]
    facts: dict[str, Any] = {
        "document": part.doc_id,
        "fragment": part.number,
        "last": part.is_last,
        "header": part.kind,
        "bytes": len(part.body),
        "elements": part.elements,
        "runs": len(part.runs),
        "holes": len(part.holes),
        "closes": sum(run.closes for run in part.runs),
        "opens": [element.name for run in part.runs for element in run.opens],
        "label_paths": None if part.paths is None else len(part.paths.numbers),
        "digest": part.digest,
    }
    if json:
        typer.echo(json_line(facts | {"rows": rows}))
        return
    print_facts(
        [
            (key.replace("_", " "), " ".join(value) if isinstance(value, list) else value)
            for key, value in facts.items()
            if value is not None and value != []
        ]
    )
    typer.echo("")
    _print_rows(rows)


def _print_rows(rows: list[dict[str, Any]]) -> None:
    columns = ("parent", "path", "count", "height")
    if not sys.stdout.isatty():
        typer.echo("\t".join(columns))
        for row in rows:
            typer.echo("\t".join("" if row[each] is None else escaped(row[each]) for each in columns))
        return
    kinds = [Column("parent", ColumnKind.WORD), Column("path"), *figures("count", "height")]
    print_table(kinds, [["" if row[each] is None else str(row[each]) for each in columns] for row in rows])
