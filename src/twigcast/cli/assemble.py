"""``twigcast assemble`` puts the fragments of a document together."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from twigcast.cli.options import examples
from twigcast.cli.terminal import complain, plural, progress
from twigcast.errors import FragmentError, SourceError

if TYPE_CHECKING:
    from twigcast.fragmenting import Fragment

EXAMPLES = examples(
    "twigcast assemble parts --output again.xml",
    "twigcast assemble parts/*.tcf > again.xml",
)


def command(
    parts: Annotated[
        list[Path],
        typer.Argument(metavar="PARTS", help="Fragments (.tcf) or folders of them, in any order."),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="The file to write; by default stdout."),
    ] = None,
    id: Annotated[
        str | None,
        typer.Option("--id", metavar="ID", help="The document, if there are fragments of several."),
    ] = None,
) -> None:
    """Put the fragments of a document together, byte for byte.

    What is missing, altered or contradictory is named, and then nothing is written.
    """
    from twigcast.fragmenting import assemble
    from twigcast.system import write_atomically

    files = list(_files(parts))
    with progress("Reading", files, total=len(files)) as counted:
        found = list(_read(counted))
    documents = sorted({part.doc_id for part in found})
    if id is None and len(documents) > 1:
        names = ", ".join(documents[:5]) + (", …" if len(documents) > 5 else "")
        raise typer.BadParameter(f"there are fragments of several documents: {names}", param_hint="--id")
    chosen = [part for part in found if id is None or part.doc_id == id]
    if not chosen:
        raise FragmentError(f"there are no fragments of {id!r}", code="fragments-missing", doc_id=id or "")
    body = assemble(chosen)
    if output is None:
        sys.stdout.buffer.write(body)
        return
    write_atomically(output, body)
    complain(f"{output}: {len(body):,} bytes of {plural(len(chosen), 'fragment')}")


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    from twigcast.fragmenting import SUFFIX

    for path in paths:
        if not path.is_dir():
            yield path
            continue
        found = sorted(path.glob(f"*{SUFFIX}"))
        if not found:
            raise SourceError(f"there are no fragments (*{SUFFIX})", code="no-documents", path=str(path))
        yield from found


def _read(files: Iterable[Path]) -> Iterator[Fragment]:
    from twigcast.fragmenting import decode

    for path in files:
        try:
            yield decode(path.read_bytes())
        except FileNotFoundError:
            raise SourceError("there is no such file", code="not-found", path=str(path)) from None
        except FragmentError as error:
            raise SourceError(error.message, code=error.code, path=str(path)) from None
