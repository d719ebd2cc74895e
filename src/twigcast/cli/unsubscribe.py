"""``twigcast unsubscribe`` removes subscriptions from the store that a pipeline reads."""

from __future__ import annotations

from typing import Annotated

import typer

from twigcast.cli.options import examples
from twigcast.cli.stores import StoreFile, open_known_store, print_version, split_pipeline
from twigcast.cli.terminal import complain, complain_of
from twigcast.errors import SubscriptionError

EXAMPLES = examples(
    "twigcast unsubscribe ada",
    "twigcast unsubscribe news.toml leads quotes",
    "twigcast unsubscribe --store subscriptions.db ada",
)
SHOWN = 5  # ids in the summary


def command(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="[PIPELINE] ID...", help="The pipeline file (*.toml) that names the store, and the ids."
        ),
    ],
    store: StoreFile = None,
) -> None:
    """Remove subscriptions from a store; the next batch of a pipeline uses the change.

    The new version of the store is printed.
    An unknown id is reported, the others are removed, and the exit code is then 1.
    """
    pipeline, ids = split_pipeline(words, store)
    if not ids:
        raise typer.BadParameter(
            f"{pipeline} was taken for the pipeline file, and no id follows it; "
            "if it is an id, put the pipeline file or --store FILE before it",
            param_hint="ID",
        )
    subscriptions = open_known_store(store, pipeline)
    removed: list[str] = []
    unknown: list[str] = []
    for id in ids:
        try:
            subscriptions.unsubscribe(id)
        except SubscriptionError as error:
            complain_of(error, str(subscriptions.path))
            unknown.append(id)
        else:
            removed.append(id)
    told = [
        f"{len(some):,} {what} ({', '.join(some[:SHOWN])}{', …' if some[SHOWN:] else ''})"
        for what, some in (("removed", removed), ("unknown", unknown))
        if some
    ]
    complain(f"{subscriptions.path}: {', '.join(told)}; {len(subscriptions):,} left")
    if removed:
        print_version(subscriptions.version())
    if unknown:
        raise typer.Exit(1)
