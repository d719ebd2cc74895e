"""``python -m benchmarks`` runs the named benchmarks and prints a table for people or JSON for machines.

It works in a source checkout: an installed twigcast has no benchmarks.
"""

from __future__ import annotations

import json as json_text
import os
import platform
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from benchmarks.catalogue import BENCHMARKS, GROUPS, default_names, named, run
from benchmarks.results import LABELS, Result
from twigcast.cli.options import AsJson, examples
from twigcast.cli.program import exit_codes
from twigcast.cli.terminal import complain, stderr, stdout
from twigcast.errors import SourceError

EXAMPLES = examples(
    "python -m benchmarks",
    "python -m benchmarks --list",
    "python -m benchmarks nitf-linear-10k building",
    "python -m benchmarks --json > bench.json",
)
WRONG_ANSWER = 1
WIDTH = 120  # of a table that goes to a file
COLUMNS_FROM, COLUMN = 50, 11  # where columns of further figures begin, and what one takes

app = typer.Typer(add_completion=False, rich_markup_mode="rich", pretty_exceptions_enable=False)


@app.command(epilog=EXAMPLES)
@exit_codes()
def command(
    name: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...", help="Benchmarks or groups of benchmarks; without a name, the default ones."
        ),
    ] = None,
    json: AsJson = False,
    list_names: Annotated[bool, typer.Option("--list", help="List the benchmarks and exit.")] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="Run every benchmark, also those that take minutes.")
    ] = False,
) -> None:
    """Measure twigcast as ratios to a bare expat parse of the same bytes, and check every answer.

    Each figure is printed beside its bar, the value that it should reach, and a missed bar is marked MISSED.
    The exit code is 1 only if an answer was wrong.
    """
    names = _names(name or [], everything)
    if list_names:
        _list(names if name else list(BENCHMARKS), json)
        return
    before = os.getloadavg()[0]
    results = []
    with _status() as say:
        for result in run(names, say):
            if result.missing and name:
                raise SourceError(result.missing, code="not-found", path=result.name)
            results.append(result)
            complain(_line(result))
    if json:
        machine = _machine() | {"load_before": before, "load_after": os.getloadavg()[0]}
        report = {"machine": machine, "results": [result.to_dict() for result in results]}
        typer.echo(json_text.dumps(report, ensure_ascii=False, indent=2))
    else:
        console = stdout() if sys.stdout.isatty() else Console(highlight=False, width=WIDTH)
        for group in dict.fromkeys(result.benchmark.group for result in results):
            members = [each for each in results if each.benchmark.group == group]
            console.print(_table(GROUPS[group], members, console.width), "")
    wrong = [f"{result.name}: {sentence}" for result in results for sentence in result.wrong]
    for sentence in wrong[:20]:
        complain(f"wrong answer: {sentence}")
    if wrong:
        complain(f"{len(wrong):,} wrong answers")
        raise typer.Exit(WRONG_ANSWER)


def _names(words: Sequence[str], everything: bool) -> list[str]:
    if everything:
        return list(BENCHMARKS)
    if not words:
        return default_names()
    try:
        return named(words)
    except KeyError as error:
        raise typer.BadParameter(
            f"there is no benchmark {error.args[0]!r}; python -m benchmarks --list has them all",
            param_hint="NAME",
        ) from None


def _list(names: Sequence[str], json: bool) -> None:
    chosen = [BENCHMARKS[name] for name in names]
    if json:
        rows = [
            {
                "name": each.name,
                "group": each.group,
                "description": each.description,
                "bar": str(each.bar) if each.bar else None,
                "optional": each.optional,
            }
            for each in chosen
        ]
        typer.echo(json_text.dumps(rows, ensure_ascii=False, indent=2))
        return
    for group in dict.fromkeys(each.group for each in chosen):
        table = Table(title=f"{GROUPS[group]} ({group})", title_justify="left", title_style="bold", box=None)
        table.add_column(no_wrap=True)
        table.add_column()
        for each in chosen:
            if each.group == group:
                notes = [f"bar: {each.bar} {each.unit}"] if each.bar else []
                notes += ["only if named"] * each.optional
                table.add_row(
                    each.name, f"{each.description} ({'; '.join(notes)})" if notes else each.description
                )
        stdout().print(table, "")


def _table(title: str, results: Sequence[Result], width: int) -> Table:
    """A row for each result; further figures get columns of their own where all rows have the same ones."""
    table = Table(title=title, title_justify="left", box=None, padding=(0, 2, 0, 0), title_style="bold")
    kinds = {result.benchmark.beside for result in results}
    in_columns = len(kinds) == 1 and len(results) > 1
    shared = kinds.pop()[: max(0, (width - COLUMNS_FROM) // COLUMN)] if in_columns else ()
    for column in ("benchmark", "figure", "bar", "verdict"):
        table.add_column(column, no_wrap=True, justify="right" if column == "figure" else "left")
    for figure in shared:
        table.add_column(LABELS.get(figure, figure), justify="right", style="dim", no_wrap=True)
    if not shared:
        table.add_column("beside it", style="dim")
    for result in results:
        figures = {figure: result.figures[figure] for figure in result.benchmark.beside if result.figures}
        cells = [_number(figures[figure]) if figures else "" for figure in shared]
        if not shared:
            cells = [
                ", ".join(f"{_number(value)} {LABELS.get(each, each)}" for each, value in figures.items())
            ]
        table.add_row(result.name, _figure(result), str(result.bar or ""), _verdict(result), *cells)
    return table


def _line(result: Result) -> str:
    """The line that is printed as soon as a result is there."""
    bar = f" (bar {result.bar}, {_verdict(result)})" if result.bar and result.value is not None else ""
    return f"{result.name}: {result.missing or _figure(result)}{bar}"


def _figure(result: Result) -> str:
    return "not run" if result.value is None else f"{_number(result.value)} {result.benchmark.unit}"


def _verdict(result: Result) -> str:
    if result.wrong:
        return "WRONG"
    return {True: "met", False: "MISSED", None: ""}[result.met]


def _number(value: float) -> str:
    """A number with three significant digits; whole numbers in full."""
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"


def _machine() -> dict[str, object]:
    return {"cores": os.cpu_count(), "system": platform.platform(), "python": platform.python_version()}


@contextmanager
def _status() -> Iterator[Callable[[str], None]]:
    """Report progress on stderr: one line that changes on a terminal, a line for each step elsewhere."""
    if not sys.stderr.isatty():
        yield complain
        return
    with stderr().status("Starting") as status:
        yield lambda step: status.update(step)


if __name__ == "__main__":
    app(prog_name="python -m benchmarks")
