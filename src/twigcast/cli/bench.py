"""``twigcast bench``: the named benchmarks, as a table for people or JSON for machines."""

from __future__ import annotations

import importlib
import json as json_text
import os
import platform
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any

import typer

import twigcast
from twigcast.cli.options import AsJson, examples
from twigcast.cli.terminal import complain, stderr, stdout
from twigcast.errors import SourceError

if TYPE_CHECKING:
    from rich.table import Table

EXAMPLES = examples(
    "twigcast bench",
    "twigcast bench --list",
    "twigcast bench nitf-linear-10k building",
    "twigcast bench --json > bench.json",
)
WRONG_ANSWER = 1
WIDTH = 120  # of a table that goes to a file
COLUMNS_FROM, COLUMN = 50, 11  # where columns of further figures begin, and what one takes


def command(
    name: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", help="Benchmarks or groups of them; the usual ones if none."),
    ] = None,
    json: AsJson = False,
    list_names: Annotated[bool, typer.Option("--list", help="List the benchmarks and exit.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Also those that take long.")] = False,
) -> None:
    """Run the benchmarks: answers checked, times as ratios to a bare expat parse of the same bytes.

    Each figure stands beside the bar that it was asked to reach, and a missed bar is shown as missed.
    The exit code is 1 only if an answer was wrong.
    """
    from rich.console import Console

    benchmarks = source_benchmarks()
    names = _names(benchmarks, name or [], everything)
    if list_names:
        _list(benchmarks, names if name else list(benchmarks.BENCHMARKS), json)
        return
    before = os.getloadavg()[0]
    results = []
    with _status() as say:
        for result in benchmarks.run(names, say):
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
            console.print(_table(benchmarks.GROUPS[group], members, benchmarks.LABELS, console.width), "")
    wrong = [f"{result.name}: {sentence}" for result in results for sentence in result.wrong]
    for sentence in wrong[:20]:
        complain(f"wrong answer: {sentence}")
    if wrong:
        complain(f"{len(wrong):,} wrong answers")
        raise typer.Exit(WRONG_ANSWER)


def source_benchmarks() -> ModuleType:
    """The package ``benchmarks`` of the source checkout: beside ``src``, or in the current directory."""
    for root in (Path(twigcast.__file__).resolve().parents[2], Path.cwd()):
        if (root / "benchmarks" / "catalogue.py").is_file():
            if str(root) not in sys.path:
                sys.path.insert(0, str(root))
            return importlib.import_module("benchmarks")
    raise SourceError(
        "the benchmarks are part of the source checkout: run this there, or install it as editable",
        code="not-found",
        path="benchmarks",
    )


def _names(benchmarks: ModuleType, words: list[str], everything: bool) -> list[str]:
    if everything:
        return list(benchmarks.BENCHMARKS)
    if not words:
        return list(benchmarks.default_names())
    try:
        return list(benchmarks.named(words))
    except KeyError as error:
        raise typer.BadParameter(
            f"there is no benchmark {error.args[0]!r}; twigcast bench --list has them all", param_hint="NAME"
        ) from None


def _list(benchmarks: ModuleType, names: list[str], json: bool) -> None:
    chosen = [benchmarks.BENCHMARKS[name] for name in names]
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
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for column in ("name", "group", "bar", "what"):
        table.add_column(column, no_wrap=column != "what")
    for each in chosen:
        bar = f"{each.bar} {each.unit}" if each.bar else ""
        table.add_row(
            each.name, each.group, bar, each.description + (" (only if named)" if each.optional else "")
        )
    stdout().print(table)


def _table(title: str, results: list[Any], labels: dict[str, str], width: int) -> Table:
    """Name, figure, bar and verdict; beside them further figures, in columns where all rows have the same."""
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=None, padding=(0, 2, 0, 0), title_style="bold")
    kinds = {result.benchmark.beside for result in results}
    in_columns = len(kinds) == 1 and len(results) > 1
    shared = kinds.pop()[: max(0, (width - COLUMNS_FROM) // COLUMN)] if in_columns else ()
    for column in ("benchmark", "figure", "bar", "verdict"):
        table.add_column(column, no_wrap=True, justify="right" if column == "figure" else "left")
    for figure in shared:
        table.add_column(labels.get(figure, figure), justify="right", style="dim", no_wrap=True)
    if not shared:
        table.add_column("beside it", style="dim")
    for result in results:
        figures = {figure: result.figures[figure] for figure in result.benchmark.beside if result.figures}
        cells = [_number(figures[figure]) if figures else "" for figure in shared]
        if not shared:
            cells = [
                ", ".join(f"{_number(value)} {labels.get(each, each)}" for each, value in figures.items())
            ]
        table.add_row(result.name, _figure(result), str(result.bar or ""), _verdict(result), *cells)
    return table


def _line(result: Any) -> str:
    """A result as it comes in, for those who wait."""
    bar = f" (bar {result.bar}, {_verdict(result)})" if result.bar and result.value is not None else ""
    return f"{result.name}: {result.missing or _figure(result)}{bar}"


def _figure(result: Any) -> str:
    return "not run" if result.value is None else f"{_number(result.value)} {result.benchmark.unit}"


def _verdict(result: Any) -> str:
    if result.wrong:
        return "WRONG"
    return {True: "met", False: "MISSED", None: ""}[result.met]


def _number(value: float) -> str:
    """Three figures that mean something; whole numbers in full."""
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"


def _machine() -> dict[str, object]:
    return {"cores": os.cpu_count(), "system": platform.platform(), "python": platform.python_version()}


@contextmanager
def _status() -> Iterator[Callable[[str], None]]:
    """Say on stderr what is going on: in one line that changes, or in lines where it is no terminal."""
    if not sys.stderr.isatty():
        yield complain
        return
    with stderr().status("Starting") as status:
        yield lambda step: status.update(step)
