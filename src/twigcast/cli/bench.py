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
WIDTH = 120  # columns of a table that goes to a file


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
        for group in dict.fromkeys(result.group for result in results):
            stdout().print(
                _table(group, [each for each in results if each.group == group], benchmarks.LABELS)
            )
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


def _table(group: str, results: list[Any], labels: dict[str, str]) -> Table:
    """Name, figure, bar and verdict; beside them further figures, in columns where all rows have the same."""
    from rich.box import SIMPLE
    from rich.table import Table

    table = Table(title=group.capitalize(), title_justify="left", show_edge=False, padding=(0, 1), box=SIMPLE)
    columns = {result.benchmark.beside for result in results}
    shared = columns.pop() if len(columns) == 1 else ()
    for column in ("benchmark", "figure", "bar", "verdict"):
        table.add_column(column, no_wrap=True, justify="right" if column == "figure" else "left")
    for figure in shared:
        table.add_column(labels.get(figure, figure), justify="right", style="dim")
    table.add_column("" if shared else "beside it", style="dim")
    for result in results:
        beside = [figure for figure in result.benchmark.beside if figure in result.figures]
        apart = [_number(result.figures[figure]) if figure in beside else "" for figure in shared]
        together = [f"{_number(result.figures[figure])} {labels.get(figure, figure)}" for figure in beside]
        last = result.missing or ("" if shared else ", ".join(together))
        table.add_row(result.name, _figure(result), str(result.bar or ""), _verdict(result), *apart, last)
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
