"""``twigcast schema coverage`` says which subscriptions can match documents of which publishers."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from twigcast.cli.options import (
    AsJson,
    DefaultNamespace,
    Namespaces,
    RequiredSubscriptions,
    SubscriptionFormat,
    examples,
    namespace_map,
)
from twigcast.cli.schema.subscribed import subscribed_patterns
from twigcast.cli.tables import Column, ColumnKind, print_table
from twigcast.cli.terminal import complain, escaped, json_line, plural

EXAMPLES = examples(
    "twigcast schema coverage mappings/ --subscriptions s.txt",
    "twigcast schema coverage mappings/ -s s.txt --json",
)


def command(
    mappings: Annotated[
        list[Path], typer.Argument(metavar="MAPPING...", help="Mapping files, or folders of them.")
    ],
    subscriptions: RequiredSubscriptions,
    format: SubscriptionFormat = None,
    namespace: Namespaces = None,
    default_namespace: DefaultNamespace = None,
    json: AsJson = False,
) -> None:
    """Print which subscriptions can match documents of which publishers, as their schemas describe them.

    On a terminal the answer is a table; piped, a line for each pair: id, tab, mapping.
    A yes means that the structure fits: whether a value occurs is not known.
    """
    from twigcast.analysis import overlaps
    from twigcast.rewriting import Mappings, image_automaton

    found = Mappings.load(mappings)
    automata = {mapping.name: image_automaton(mapping.image) for mapping in found}
    patterns, refused = subscribed_patterns(
        subscriptions, format, namespace_map(namespace, default_namespace)
    )
    rows = [
        (subscription, [name for name, automaton in automata.items() if overlaps(automaton, pattern)])
        for subscription, pattern in patterns
    ]
    if json:
        for subscription, names in rows:
            fields = {"id": subscription.id, "xpath": subscription.text, "mappings": names}
            typer.echo(json_line(fields))
    elif sys.stdout.isatty():
        columns = [
            Column("id"),
            Column("subscription"),
            *(Column(name, ColumnKind.WORD) for name in found.names),
        ]
        table = [
            [
                str(subscription.id),
                subscription.text,
                *("yes" if name in names else "·" for name in found.names),
            ]
            for subscription, names in rows
        ]
        if table:
            print_table(columns, table)
    else:
        for subscription, names in rows:
            for name in names:
                typer.echo(f"{escaped(subscription.id)}\t{escaped(name)}")
    nowhere = sum(not names for _, names in rows)
    fit = f"{plural(nowhere, 'subscription')} {'fits' if nowhere == 1 else 'fit'} none"
    complain(f"{plural(len(rows), 'subscription')}, {plural(len(found), 'mapping')}; {fit}")
    if refused:
        raise typer.Exit(1)
