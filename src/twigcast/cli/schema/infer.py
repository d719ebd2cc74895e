"""``twigcast schema infer`` writes a DTD for documents that have no schema."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from twigcast.cli import documents
from twigcast.cli.index_building import document_limits
from twigcast.cli.options import examples
from twigcast.cli.terminal import complain, complain_of, plural

EXAMPLES = examples(
    "twigcast schema infer feed/ > feed.dtd",
    "twigcast schema infer cmu-1.xml cmu-2.xml --output cmu.dtd",
)


def command(
    document: Annotated[
        list[str],
        typer.Argument(metavar="DOCUMENT...", help="Files, directories (searched for *.xml), - for stdin."),
    ],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="The DTD to write; else stdout.")
    ] = None,
) -> None:
    """Infer a schema from documents and write it as a DTD, so that a feed without a schema can be mapped.

    It has what occurs in the documents: elements, where they are and whether they repeat, and attributes.
    """
    from twigcast.errors import DocumentError
    from twigcast.schema import write_dtd
    from twigcast.system import write_atomically
    from twigcast.workload import infer

    limits = document_limits(None, None)
    name = ""

    def bodies() -> Iterator[bytes]:
        nonlocal name
        for file in documents.find(document):
            name = file.text
            yield file.read(limits.bytes)

    try:
        graph = infer(bodies())
    except DocumentError as error:
        complain_of(error, name)
        raise typer.Exit(1) from None
    text = write_dtd(graph)
    if output is None:
        typer.echo(text, nl=False)
    else:
        write_atomically(output, text.encode())
    complain(f"{output or 'stdout'}: {plural(len(graph), 'element')}, root {graph.root}")
