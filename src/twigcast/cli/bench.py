"""``twigcast bench``: the named benchmarks, as a table for people or JSON for machines.

The workloads lie in ``benchmarks/`` of the source tree, not in the package: they come with data and rivals
that nobody needs for matching.  That folder gives ``NAMES``, from the name of a benchmark to a sentence
about it, and ``run(names, report)``, which calls ``report`` with a flat row for each figure as it is there.
"""

from __future__ import annotations

import importlib.util
import json as json_text
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from twigcast.cli.options import AsJson, examples
from twigcast.cli.terminal import stdout
from twigcast.errors import SourceError

EXAMPLES = examples(
    "twigcast bench",
    "twigcast bench --list",
    "twigcast bench --json > bench.jsonl",
)

FOLDER = Path(__file__).parents[3] / "benchmarks"


def command(
    name: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Which benchmarks; all if none.")
    ] = None,
    json: AsJson = False,
    list_names: Annotated[bool, typer.Option("--list", help="List the benchmarks and exit.")] = False,
) -> None:
    """Run the benchmarks: answers checked, times as ratios to a bare expat parse of the same bytes.

    With --json one object for each figure.
    """
    benchmarks = _load(FOLDER)
    if list_names:
        for known, about in benchmarks.NAMES.items():
            typer.echo(f"{known}\t{about}")
        return
    unknown = [each for each in name or () if each not in benchmarks.NAMES]
    if unknown:
        raise typer.BadParameter(
            f"there is no {', '.join(unknown)}; see twigcast bench --list", param_hint="NAME"
        )
    chosen = name or list(benchmarks.NAMES)
    if json:
        benchmarks.run(chosen, lambda row: typer.echo(json_text.dumps(row)))
    else:
        rows: list[Mapping[str, object]] = []
        benchmarks.run(chosen, rows.append)
        _print_table(rows)


def _load(folder: Path) -> Any:
    """The folder as a module; it is not installed, so it is loaded from where it lies."""
    if not (folder / "__init__.py").exists():
        raise SourceError(
            "the benchmarks are part of the source tree: clone it and run make bench",
            code="not-found",
            path=str(folder),
        )
    spec = importlib.util.spec_from_file_location("benchmarks", folder / "__init__.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["benchmarks"] = module
    spec.loader.exec_module(module)
    return module


def _print_table(rows: list[Mapping[str, object]]) -> None:
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    columns = list(dict.fromkeys(column for row in rows for column in row))
    for column in columns:
        numeric = all(isinstance(row.get(column), int | float | None) for row in rows)
        table.add_column(column, justify="right" if numeric else "left")
    for row in rows:
        table.add_row(*(_shown(row.get(column)) for column in columns))
    stdout().print(table)


def _shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:,.2f}"
    return "" if value is None else f"{value:,}" if isinstance(value, int) else str(value)
