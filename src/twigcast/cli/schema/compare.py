"""``twigcast schema compare`` says how well a proposed mapping agrees with one that a person made."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from twigcast.cli import documents
from twigcast.cli.index_building import document_limits
from twigcast.cli.options import (
    AsJson,
    DefaultNamespace,
    Limits,
    Namespaces,
    OptionalSubscriptions,
    SubscriptionFormat,
    examples,
    namespace_map,
)
from twigcast.cli.schema.subscribed import subscribed_patterns
from twigcast.cli.terminal import complain, complain_of, escaped, json_line, limit_hint

if TYPE_CHECKING:
    from twigcast.document import Document, DocumentLimits
    from twigcast.rewriting import Agreement

EXAMPLES = examples(
    "twigcast schema compare automatic.toml hand.toml",
    "twigcast schema compare a.toml b.toml --documents cmu/ -s s.txt",
)


def command(
    automatic: Annotated[Path, typer.Argument(metavar="AUTOMATIC", help="The mapping file to judge.")],
    hand: Annotated[Path, typer.Argument(metavar="HAND", help="The mapping file that is right.")],
    documents_at: Annotated[
        list[str] | None,
        typer.Option("--documents", metavar="PATH", help="Documents of the publisher; repeatable."),
    ] = None,
    subscriptions: OptionalSubscriptions = None,
    format: SubscriptionFormat = None,
    namespace: Namespaces = None,
    default_namespace: DefaultNamespace = None,
    limit: Limits = None,
    json: AsJson = False,
) -> None:
    """Compare a mapping with one that is right: precision and recall of its pairs, and of its deliveries.

    Deliveries need --documents and --subscriptions: a delivery is a document that a subscription matches.
    Pairs that differ are listed: the source place, its target in AUTOMATIC, and in HAND.
    With --json the output is one object: pairs, deliveries, differences.
    """
    from twigcast.rewriting import delivery_agreement, pair_agreement, read_mapping_file

    if bool(documents_at) != (subscriptions is not None):
        raise typer.BadParameter("deliveries need both --documents and --subscriptions")
    ours, theirs = read_mapping_file(automatic), read_mapping_file(hand)
    source, target = theirs.source_tree(), theirs.target_tree()
    proposed, true = ours.keys(source, target), theirs.keys(source, target)
    pairs = pair_agreement(proposed, true)
    deliveries = None
    if documents_at and subscriptions is not None:
        found, _ = subscribed_patterns(subscriptions, format, namespace_map(namespace, default_namespace))
        patterns = [pattern for _, pattern in found]
        right = theirs.derive(source, target)
        limits = document_limits(None, None, limit)
        published = _read(documents_at, source.root.label.local, limits)
        deliveries = delivery_agreement(ours.derive(source, target), right, published, patterns)
    prefixes = theirs.prefixes(source, target)
    differences = [
        (key, proposed.get(key), true.get(key))
        for key in dict.fromkeys((*true, *proposed))
        if proposed.get(key) != true.get(key)
    ]
    shown = [tuple(_shown(each, prefixes) for each in row) for row in differences]
    if json:
        fields = {
            "pairs": _fields(pairs),
            "deliveries": None if deliveries is None else _fields(deliveries),
            "differences": [dict(zip(("source", "automatic", "hand"), row, strict=True)) for row in shown],
        }
        typer.echo(json_line(fields))
        return
    for row in shown:
        typer.echo("\t".join(escaped(each or "-") for each in row))
    typer.echo(_line("pairs", pairs))
    if deliveries is not None:
        typer.echo(_line("deliveries", deliveries))


def _read(paths: list[str], root: str, limits: DocumentLimits) -> Iterator[Document]:
    """The documents with this root element; others, and those that cannot be read, are reported."""
    from twigcast.document import read
    from twigcast.errors import DocumentError, SourceError

    for file in documents.find(paths):
        try:
            document = read(file.read(limits.bytes), limits)
        except SourceError as error:
            complain_of(error)
            continue
        except DocumentError as error:
            complain_of(error, file.text, hint=limit_hint(error))
            continue
        if document.root.local != root:
            complain(f"{file.text}: the root element is {document.root.local!r}, not {root!r}; left out")
            continue
        yield document


def _shown(key: str | None, prefixes: dict[str, str]) -> str | None:
    from twigcast.rewriting import shown_path

    return None if key is None else shown_path(key, prefixes)


def _fields(agreement: Agreement) -> dict[str, object]:
    return {
        "precision": round(agreement.precision, 4),
        "recall": round(agreement.recall, 4),
        "f1": round(agreement.f1, 4),
        "right": agreement.right,
        "proposed": agreement.proposed,
        "wanted": agreement.wanted,
    }


def _line(what: str, agreement: Agreement) -> str:
    return (
        f"{what}: precision {agreement.precision:.2f}, recall {agreement.recall:.2f}, "
        f"F1 {agreement.f1:.2f} ({agreement.right:,} right, {agreement.proposed:,} proposed, "
        f"{agreement.wanted:,} wanted)"
    )
