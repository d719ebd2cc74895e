"""``twigcast schema infer`` writes a DTD for documents that have no schema."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from twigcast.cli import documents
from twigcast.cli.index_building import document_limits
from twigcast.cli.options import Limits, examples
from twigcast.cli.terminal import complain, complain_of, limit_hint, plural

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
    limit: Limits = None,
) -> None:
    """Infer a schema from documents and write it as a DTD, so that a feed without a schema can be mapped.

    It has what occurs in the documents: elements, where they are and whether they repeat, and attributes.
    Documents that cannot be read are reported and left out; the exit code is then 1.
    """
    from twigcast.errors import DocumentError, SourceError
    from twigcast.filtering import Index
    from twigcast.schema import write_dtd
    from twigcast.system import write_atomically
    from twigcast.workload import SchemaInference

    limits = document_limits(None, None, limit)
    inference = SchemaInference(limits)
    reader = Index(limits=limits)  # gives every limit and every verdict that other commands have
    good = bad = 0
    for file in documents.find(document):
        try:
            body = file.read(limits.bytes)
            if error := reader.match(body).error:
                raise error
            inference.add(body)
            good += 1
        except SourceError as error:
            complain_of(error)
            bad += 1
        except DocumentError as error:
            complain_of(error, file.text, hint=limit_hint(error))
            bad += 1
    if bad:
        complain(f"{bad:,} of {plural(good + bad, 'document')} left out")
    if not good:
        raise typer.Exit(1)
    graph = inference.graph()
    text = write_dtd(graph)
    if output is None:
        typer.echo(text, nl=False)
    else:
        write_atomically(output, text.encode())
    complain(f"{output or 'stdout'}: {plural(len(graph), 'element')}, root {graph.root}")
    if bad:
        raise typer.Exit(1)
