"""``twigcast assemble`` puts the fragments of a document together."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from twigcast.cli import fragment_files
from twigcast.cli.options import examples
from twigcast.cli.terminal import complain, plural, progress
from twigcast.errors import FragmentError

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

    files = list(fragment_files.find(parts))
    with progress("Reading", files, total=len(files)) as counted:
        found = [fragment_files.read(path) for path in counted]
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
