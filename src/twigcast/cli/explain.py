"""``twigcast explain`` says why a document matches a subscription, or at which step it fails."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from twigcast.cli import documents
from twigcast.cli.index_building import document_limits
from twigcast.cli.options import (
    AsJson,
    DefaultNamespace,
    MaximumBytes,
    MaximumDepth,
    Namespaces,
    OptionalSubscriptions,
    SubscriptionFormat,
    examples,
    namespace_map,
)
from twigcast.cli.terminal import escaped, json_line
from twigcast.errors import SubscriptionError
from twigcast.pattern import Subscription
from twigcast.subscriptions import Format, read_subscriptions

EXAMPLES = examples(
    "twigcast explain --subscription \"//p[person='Ada']\" article.xml",
    "twigcast explain --subscriptions news.tsv --id ada article.xml",
    "twigcast explain --subscriptions news.txt --id 12 --json article.xml",
)


def command(
    document: Annotated[str, typer.Argument(metavar="DOCUMENT", help="A file, or - for stdin.")],
    subscription: Annotated[
        str | None, typer.Option("--subscription", "-x", metavar="XPATH", help="The subscription itself.")
    ] = None,
    subscriptions: OptionalSubscriptions = None,
    id: Annotated[
        str | None,
        typer.Option(
            "--id",
            metavar="ID",
            help="The id of a subscription in the file; in plain lines, the line number.",
        ),
    ] = None,
    format: SubscriptionFormat = None,
    namespace: Namespaces = None,
    default_namespace: DefaultNamespace = None,
    json: AsJson = False,
    max_bytes: MaximumBytes = None,
    max_depth: MaximumDepth = None,
) -> None:
    """Explain why a document matches a subscription, or at which step or predicate it fails."""
    namespaces = namespace_map(namespace, default_namespace)
    if (subscription is None) == (subscriptions is None):
        raise typer.BadParameter(
            "give --subscription, or --subscriptions and --id", param_hint="--subscription"
        )
    if (subscriptions is None) != (id is None):
        raise typer.BadParameter("--subscriptions and --id go together", param_hint="--id")
    if subscription is not None:
        wanted = Subscription("subscription", subscription, namespaces=namespaces)
    else:
        assert subscriptions is not None
        assert id is not None
        wanted = _found(subscriptions, format, id, namespaces)
    from twigcast.document import read
    from twigcast.pattern import explain

    limits = document_limits(max_bytes, max_depth)
    pattern = wanted.pattern
    explanation = explain(pattern, read(documents.DocumentFile(document).read(limits.bytes), limits))
    typer.echo(json_line(explanation.to_dict()) if json else "\n".join(map(escaped, explanation.lines())))


def _found(path: Path, format: Format | None, id: str, namespaces: Mapping[str, str]) -> Subscription:
    for _, entry in read_subscriptions(path, format, namespaces=namespaces):
        if isinstance(entry, Subscription) and str(entry.id) == id:
            return entry
    raise SubscriptionError(f"there is no subscription {id!r} in {path}", code="unknown-id", id=id)
