"""``twigcast bench``: the named benchmarks, as a table for people or JSON for machines."""

from __future__ import annotations

from typing import Annotated

import typer

from twigcast.cli.options import AsJson, examples

EXAMPLES = examples(
    "twigcast bench",
    "twigcast bench --list",
    "twigcast bench --json linear-10k > bench.json",
)


def command(
    name: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Which benchmarks; all if none.")
    ] = None,
    json: AsJson = False,
    list_names: Annotated[bool, typer.Option("--list", help="List the benchmarks and exit.")] = False,
) -> None:
    """Run the benchmarks: answers checked, times as ratios to a bare expat parse of the same bytes."""
    raise NotImplementedError
