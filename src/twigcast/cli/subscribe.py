"""``twigcast subscribe`` adds subscriptions to the store that a pipeline reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from twigcast.cli.options import (
    SUBSCRIPTIONS_HELP,
    DefaultNamespace,
    Namespaces,
    SubscriptionFormat,
    examples,
    namespace_map,
)
from twigcast.cli.stores import StoreFile, open_store, print_version, split_pipeline
from twigcast.cli.subscription_lines import SubscriptionLines
from twigcast.cli.terminal import complain, plural
from twigcast.pattern import Content, Subscription
from twigcast.subscriptions import Format, used_bindings

if TYPE_CHECKING:
    from twigcast.subscriptions import SubscriptionStore

EXAMPLES = examples(
    """twigcast subscribe --id ada "//p[person='Ada']" """.strip(),
    "twigcast subscribe news.toml --id leads --subscriber desk-1 //hl1",
    "twigcast subscribe news.toml --id quotes --deliver part //q",
    "twigcast subscribe --store subscriptions.db --file news.tsv",
)


class DeliveredContent(StrEnum):
    """What a subscriber receives: the whole document, or only the selected parts."""

    document = "document"
    part = "part"


def command(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PIPELINE] [XPATH]",
            help="The pipeline file (*.toml) that names the store, and the XPath to subscribe to.",
        ),
    ] = None,
    store: StoreFile = None,
    id: Annotated[
        str | None, typer.Option("--id", metavar="ID", help="The id of the subscription in the store.")
    ] = None,
    subscriber: Annotated[
        str | None,
        typer.Option("--subscriber", metavar="NAME", help="Who receives the deliveries; by default the id."),
    ] = None,
    deliver: Annotated[
        DeliveredContent | None,
        typer.Option("--deliver", help="The whole document (the default) or only the selected parts."),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "--file",
            metavar="FILE",
            help=f"Add all subscriptions of a file in one change. {SUBSCRIPTIONS_HELP} "
            "TSV may have two more columns, subscriber and delivery; JSONL the keys subscriber and deliver.",
        ),
    ] = None,
    format: SubscriptionFormat = None,
    namespace: Namespaces = None,
    default_namespace: DefaultNamespace = None,
) -> None:
    """Add a subscription to the store of a pipeline, which may be running.

    The next batch of the pipeline uses the change.
    An existing subscription with the same id is replaced, if it has the same subscriber.

    The store remembers the prefixes of --namespace for later subscriptions.
    The table "namespaces" of the pipeline file binds prefixes, too.
    A subscription keeps the bindings that it was added with.

    What was done is said on stderr: added, replaced, or unchanged.
    The new version of the store is printed.
    With --file, bad lines are reported and the other lines are added; the exit code is then 1.
    """
    pipeline, rest = split_pipeline(words or [], store)
    namespaces = namespace_map(namespace, default_namespace)
    if file is not None:
        if rest or id is not None:
            raise typer.BadParameter("--file excludes an XPath and --id", param_hint="--file")
        _subscribe_all(*open_store(store, pipeline), file, format, namespaces, subscriber, deliver)
        return
    if len(rest) != 1:
        raise typer.BadParameter("expected one XPath, or --file", param_hint="XPATH")
    if not id:
        raise typer.BadParameter("a subscription needs an id", param_hint="--id")
    subscriptions, common = open_store(store, pipeline)
    content: Content = "part" if deliver is DeliveredContent.part else "document"
    bound = {**used_bindings(rest[0], common), **namespaces}
    done = subscriptions.import_all([Subscription(id, rest[0], subscriber or id, content, bound)])
    for refused in done.refused:
        raise refused.error
    _remember(subscriptions, namespaces)
    what = "added" if done.added else "replaced" if done.replaced else "is there already, unchanged"
    complain(f"{subscriptions.path}: {id} {what}")
    print_version(done.version)


def _subscribe_all(
    store: SubscriptionStore,
    common: Mapping[str, str],
    file: Path,
    format: Format | None,
    namespaces: Mapping[str, str],
    subscriber: str | None,
    deliver: DeliveredContent | None,
) -> None:
    """Add the good lines of a file to the store in one change, and report the others."""
    content: Content = "part" if deliver is DeliveredContent.part else "document"
    lines = SubscriptionLines(
        file, format, {**common, **namespaces}, subscriber=subscriber or "", deliver=content
    )
    named = (
        each if isinstance(each.id, str) else replace(each, id=str(each.id)) for each in lines.good("Reading")
    )
    done = store.import_all(named)
    _remember(store, namespaces)
    lines.refuse(done.refused)
    rest = lines.report()
    counts = {"added": done.added, "replaced": done.replaced, "unchanged": done.unchanged}
    told = [f"{count:,} {name}" for name, count in counts.items() if count] or ["nothing changed"]
    told += [f"{plural(len(lines.bad), 'line')} refused{rest}"] if lines.bad else []
    complain(f"{store.path}: {', '.join(told)}")
    print_version(done.version)
    if lines.bad:
        raise typer.Exit(1)


def _remember(store: SubscriptionStore, namespaces: Mapping[str, str]) -> None:
    """Bind the prefixes in the store, for later subscriptions; it remembers no default namespace."""
    store.bind({prefix: uri for prefix, uri in namespaces.items() if prefix})
