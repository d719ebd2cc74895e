"""``twigcast explain`` says why a document matches a subscription, or at which step it fails."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from twigcast.cli import documents
from twigcast.cli.fragment_matching import decision
from twigcast.cli.index_building import document_limits
from twigcast.cli.options import (
    AsJson,
    DefaultNamespace,
    Limits,
    MappingFiles,
    MaximumBytes,
    MaximumDepth,
    Namespaces,
    OptionalSubscriptions,
    SubscriptionFormat,
    Unknown,
    UnknownRoots,
    examples,
    namespace_map,
)
from twigcast.cli.terminal import errors_of, escaped, json_line, limit_hint
from twigcast.errors import SubscriptionError
from twigcast.pattern import Subscription
from twigcast.subscriptions import Format, read_subscriptions

if TYPE_CHECKING:
    from twigcast.document import DocumentLimits
    from twigcast.pattern import Explanation
    from twigcast.rewriting import Mappings

EXAMPLES = examples(
    "twigcast explain --subscription \"//p[person='Ada']\" article.xml",
    "twigcast explain --subscriptions news.tsv --id ada article.xml",
    "twigcast explain --subscriptions news.txt --id 12 --json article.xml",
    "twigcast explain --index news.tci --id ada article.xml",
    "twigcast explain -x //course[place/room] --mappings mappings/ cmu.xml",
    "twigcast explain -x //n:name -n n=http://iptc.org/std/nar/2006-10-01/ a.xml",
    "twigcast explain -x '//item[mailbox]/name' --fragments parts/",
)


def command(
    document: Annotated[str, typer.Argument(metavar="DOCUMENT", help="A file, or - for stdin.")],
    subscription: Annotated[
        str | None, typer.Option("--subscription", "-x", metavar="XPATH", help="The subscription itself.")
    ] = None,
    subscriptions: OptionalSubscriptions = None,
    index: Annotated[
        Path | None,
        typer.Option("--index", "-i", metavar="FILE", help="Index file made by twigcast index build."),
    ] = None,
    id: Annotated[
        str | None,
        typer.Option(
            "--id",
            metavar="ID",
            help="The id of a subscription in the file or index; of plain lines, the line number.",
        ),
    ] = None,
    format: SubscriptionFormat = None,
    namespace: Namespaces = None,
    default_namespace: DefaultNamespace = None,
    json: AsJson = False,
    fragments: Annotated[
        bool,
        typer.Option(
            "--fragments", help="DOCUMENT is a folder of fragments; say also which of them decided."
        ),
    ] = False,
    mappings: MappingFiles = None,
    unknown: UnknownRoots = Unknown.DEAD_LETTER,
    max_bytes: MaximumBytes = None,
    max_depth: MaximumDepth = None,
    limit: Limits = None,
) -> None:
    """Explain why a document matches a subscription, or at which step or predicate it fails.

    Where a comparison fails, the values that were found are shown; where a name is not there, what is there.
    Names are written with the prefixes of --namespace, or else with those of the document.
    With --mappings, what is there is what the image of the document has.
    With --fragments, it is said after which fragment the match was certain.
    """
    namespaces = namespace_map(namespace, default_namespace)
    given = [each for each in (subscription, subscriptions, index) if each is not None]
    if len(given) != 1:
        raise typer.BadParameter(
            "give --subscription, or --subscriptions and --id, or --index and --id",
            param_hint="--subscription",
        )
    if (subscription is None) != (id is not None):
        raise typer.BadParameter(
            "--id goes with --subscriptions or --index, which need it", param_hint="--id"
        )
    if fragments and (index is not None or mappings is not None):
        other = "--index" if index is not None else "--mappings"
        raise typer.BadParameter(f"--fragments and {other} exclude each other", param_hint="--fragments")
    limits = document_limits(max_bytes, max_depth, limit)
    source = documents.DocumentFile(document)
    decided: str | None = None
    if index is not None:
        assert id is not None
        with errors_of(document, limit_hint):
            explanation = _of_index(index, id, source, limits, namespaces, _loaded(mappings), unknown)
    else:
        if subscription is not None:
            wanted = Subscription("subscription", subscription, namespaces=namespaces)
        else:
            assert subscriptions is not None
            assert id is not None
            wanted = _found(subscriptions, format, id, namespaces)
        from twigcast.filtering import Index

        _ = wanted.pattern  # a bad expression is reported before the document is read
        one = Index(limits=limits)
        one.add(wanted.id, wanted.text, wanted.namespaces)
        if fragments:
            decided, whole = decision(one, wanted.id, [Path(document)])
            if whole is None:
                typer.echo(json_line({"decided": decided}) if json else escaped(decided))
                return
            body = whole
        else:
            body = source.read(limits.bytes)
        rewriting = _loaded(mappings)
        with errors_of(document, limit_hint):
            explanation = one.explain(
                body, wanted.id, namespaces=wanted.namespaces, rewriting=rewriting, unknown=unknown.value
            )
        explanation = replace(explanation, text=wanted.text)
    if json:
        typer.echo(json_line(explanation.to_dict() | ({} if decided is None else {"decided": decided})))
        return
    lines = [*explanation.lines(), *(() if decided is None else (decided,))]
    typer.echo("\n".join(map(escaped, lines)))


def _of_index(
    path: Path,
    id: str,
    source: documents.DocumentFile,
    limits: DocumentLimits,
    namespaces: Mapping[str, str],
    mappings: Mappings | None,
    unknown: Unknown,
) -> Explanation:
    from twigcast.filtering import Index

    index = Index.open(path, limits=limits)
    known = id if id in index else next((each for each in index.ids if str(each) == id), None)
    if known is None:
        raise _unknown(id, path)
    return index.explain(
        source.read(limits.bytes),
        known,
        namespaces=namespaces or None,
        rewriting=mappings,
        unknown=unknown.value,
    )


def _loaded(paths: list[Path] | None) -> Mappings | None:
    if paths is None:
        return None
    from twigcast.rewriting import Mappings

    return Mappings.load(paths)


def _found(path: Path, format: Format | None, id: str, namespaces: Mapping[str, str]) -> Subscription:
    for _, entry in read_subscriptions(path, format, namespaces=namespaces):
        if isinstance(entry, Subscription) and str(entry.id) == id:
            return entry
    raise _unknown(id, path)


def _unknown(id: str, path: Path) -> SubscriptionError:
    return SubscriptionError(f"there is no subscription {id!r} in {path}", code="unknown-id", id=id)
