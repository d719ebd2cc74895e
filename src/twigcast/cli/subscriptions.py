"""``twigcast subscriptions`` lists the subscriptions of a store."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from twigcast.cli.options import AsJson, examples
from twigcast.cli.stores import StoreFile, open_known_store
from twigcast.cli.tables import Cell, Column, ColumnKind, print_table
from twigcast.cli.terminal import complain, escaped, json_line, plural, stdout
from twigcast.subscriptions import written_bindings

if TYPE_CHECKING:
    from twigcast.pattern import Subscription

EXAMPLES = examples(
    "twigcast subscriptions",
    "twigcast subscriptions news.toml --json > subscriptions.jsonl",
    "twigcast subscriptions news.toml --subscriber desk-1 --count",
    "twigcast subscriptions --store subscriptions.db --at 17",
)


def command(
    pipeline: Annotated[
        Path | None, typer.Argument(metavar="PIPELINE", help="The pipeline file that names the store.")
    ] = None,
    store: StoreFile = None,
    subscriber: Annotated[
        str | None, typer.Option("--subscriber", metavar="NAME", help="List only those of one subscriber.")
    ] = None,
    at: Annotated[
        int | None,
        typer.Option("--at", metavar="VERSION", min=0, help="List the subscriptions of an earlier version."),
    ] = None,
    count: Annotated[bool, typer.Option("--count", "-c", help="Print only their number.")] = False,
    version: Annotated[
        bool, typer.Option("--version", help="Print only the version: the number of the last change.")
    ] = False,
    json: AsJson = False,
) -> None:
    """List the subscriptions of a store.

    On a terminal the answer is a table.
    Piped, it is one line for each subscription, as twigcast subscribe --file reads them:
    id, XPath, prefix=uri pairs, subscriber, delivery.
    Before them, a line "# namespace prefix=uri" for each prefix that the store remembers.
    With --json it is one object for each.
    """
    if count and version:
        raise typer.BadParameter("--count and --version exclude each other", param_hint="--count")
    subscriptions = open_known_store(store, pipeline)
    if version:
        typer.echo(subscriptions.version())
        return
    rows = subscriptions.subscriptions(at)
    if subscriber is not None:
        rows = [row for row in rows if row.subscriber == subscriber]
    if count:
        typer.echo(len(rows))
    elif json or not sys.stdout.isatty():
        for prefix, uri in ({} if json else subscriptions.namespaces).items():
            sys.stdout.write(escaped(f"# namespace {prefix}={uri}") + "\n")
        for row in rows:
            sys.stdout.write((_json_line(row) if json else _tab_line(row)) + "\n")
        unlike = 0 if json else sum(escaped(row.text) != row.text for row in rows)
        if unlike:
            what = plural(unlike, "expression")
            complain(f"{what} with control characters, shown as escapes: --json keeps them")
        spaced = 0 if json else sum(" " in uri for row in rows for uri in (row.namespaces or {}).values())
        if spaced:
            complain(
                f"{plural(spaced, 'namespace')} with a space, which a line cannot have: --json keeps them"
            )
    else:
        _print_table(rows, subscriptions.namespaces)


def _json_line(row: Subscription) -> str:
    fields = {
        "id": row.id,
        "xpath": row.text,
        "namespaces": dict(row.namespaces or {}),
        "subscriber": row.subscriber,
        "deliver": row.deliver,
    }
    return json_line(fields)


def _tab_line(row: Subscription) -> str:
    return "\t".join(map(escaped, (row.id, row.text, _bindings(row), row.subscriber, row.deliver)))


def _bindings(row: Subscription) -> str:
    return written_bindings(row.namespaces or {})


def _print_table(rows: list[Subscription], namespaces: Mapping[str, str]) -> None:
    from rich.text import Text

    cells: list[list[Cell]] = []
    for row in rows:
        bindings = f"  ({_bindings(row)})" if row.namespaces else ""
        expression = Text(escaped(row.text)).append(escaped(bindings), style="dim")
        cells.append([str(row.id), row.subscriber, row.deliver, expression])
    if cells:
        print_table(_COLUMNS, cells)
    else:
        complain("no subscriptions")
    if namespaces:
        stdout().print(Text(escaped(f"prefixes of the store: {written_bindings(namespaces)}"), style="dim"))


_COLUMNS = [Column("id"), Column("subscriber"), Column("receives", ColumnKind.WORD), Column("subscribes to")]
