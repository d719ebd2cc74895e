"""``twigcast index`` builds index files and shows their statistics."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import Annotated

import typer

from twigcast.cli.index_building import build, document_limits
from twigcast.cli.options import (
    AsJson,
    DefaultNamespace,
    Namespaces,
    RequiredSubscriptions,
    SubscriptionFormat,
    examples,
    namespace_map,
)
from twigcast.cli.tables import print_facts
from twigcast.cli.terminal import complain, plural

app = typer.Typer(
    no_args_is_help=True,
    help="Build index files, and show what they contain.",
    epilog=examples(
        "twigcast index build --subscriptions news.txt --output news.tci",
        "twigcast index stats news.tci",
    ),
)


@app.command(
    "build",
    epilog=examples(
        "twigcast index build --subscriptions news.txt --output news.tci",
        "twigcast match --index news.tci article.xml",
    ),
)
def build_command(
    subscriptions: RequiredSubscriptions,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The index file to write.")],
    format: SubscriptionFormat = None,
    namespace: Namespaces = None,
    default_namespace: DefaultNamespace = None,
) -> None:
    """Compile a file of subscriptions into an index file, which opens in milliseconds.

    The file remembers the prefixes of --namespace and of the lines "# namespace prefix=uri".
    A bad subscription is reported and left out; the exit code is then 1.
    """
    index, refused = build(
        subscriptions, format, namespace_map(namespace, default_namespace), document_limits(None, None)
    )
    index.save(output)
    complain(f"{output}: {plural(len(index), 'subscription')}, {output.stat().st_size:,} bytes")
    if refused:
        raise typer.Exit(1)


@app.command(
    "stats", epilog=examples("twigcast index stats news.tci", "twigcast index stats --json news.tci")
)
def stats_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="An index file.")], json: AsJson = False
) -> None:
    """Print the statistics of an index file."""
    from dataclasses import asdict

    from twigcast.filtering import Index

    fields = asdict(Index.open(file).stats())
    if json:
        typer.echo(json_text.dumps(fields, default=str))
        return
    print_facts([(name.replace("_", " "), value) for name, value in fields.items()])
