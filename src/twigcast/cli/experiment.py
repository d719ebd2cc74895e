"""``twigcast experiment``: a table or figure of the papers made again, the paper's figures beside ours."""

from __future__ import annotations

import importlib
import json as json_text
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

import twigcast
from twigcast.cli.options import AsJson, examples
from twigcast.cli.terminal import complain, progress, stdout
from twigcast.errors import SourceError

if TYPE_CHECKING:
    from rich.console import Console

EXAMPLES = examples(
    "twigcast experiment --list",
    "twigcast experiment routing/table-3",
    "twigcast experiment routing/fig-7 --scale 0.1",
    "twigcast experiment routing/table-2 --json --out results",
)
WRONG_ANSWER = 1
WIDTH = 160  # of a table that goes to a file

Item = TypeVar("Item")


def command(
    name: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Experiments; --list has them.")
    ] = None,
    list_names: Annotated[bool, typer.Option("--list", help="List the experiments and exit.")] = False,
    scale: Annotated[
        float,
        typer.Option("--scale", min=0.0001, max=1.0, help="A part of the paper's size, for a quick run."),
    ] = 1.0,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FOLDER", help="Write Markdown, JSON and pictures there, too."),
    ] = None,
    json: AsJson = False,
) -> None:
    """Make a table or figure of the papers again: the paper's figures beside ours, and why they differ.

    Figures that were asked for stand at the end, met or missed; a smaller run judges none of them.
    The exit code is 1 if an answer was wrong, such as a delivery that flooding does not make.
    """
    experiments = source_experiments()
    if list_names:
        _list(experiments)
        return
    if not name:
        raise typer.BadParameter("give an experiment by name, or --list", param_hint="NAME")
    chosen = [_named(experiments, each) for each in name]
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
    reports, wrong = [], []
    for experiment in chosen:
        start = time.perf_counter()
        findings = experiment.run(scale, _watched)
        wall = time.perf_counter() - start
        complain(f"{experiment.name}: {wall:.1f} s")
        fields = {"name": experiment.name, "title": experiment.title, "scale": scale, "wall": wall}
        reports.append(fields | findings.to_json())
        if out is not None:
            _write(experiment, findings, reports[-1], scale, out)
        if not json:
            _show(experiment, findings, scale)
        wrong += [f"{experiment.name}: {sentence}" for sentence in findings.wrong]
    if json:
        typer.echo(json_text.dumps({"results": reports}, ensure_ascii=False, indent=2))
    for sentence in wrong:
        complain(f"wrong answer: {sentence}")
    if wrong:
        raise typer.Exit(WRONG_ANSWER)


def source_experiments() -> ModuleType:
    """The package ``experiments`` of the source checkout: beside ``src``, or in the current directory."""
    for root in (Path(twigcast.__file__).resolve().parents[2], Path.cwd()):
        if (root / "experiments" / "catalogue.py").is_file():
            if str(root) not in sys.path:
                sys.path.insert(0, str(root))
            return importlib.import_module("experiments")
    raise SourceError(
        "the experiments are part of the source checkout: run this there, or install it as editable",
        code="not-found",
        path="experiments",
    )


def _named(experiments: ModuleType, name: str) -> Any:
    if name not in experiments.EXPERIMENTS:
        raise typer.BadParameter(
            f"there is no experiment {name!r}; twigcast experiment --list has them all", param_hint="NAME"
        )
    return experiments.EXPERIMENTS[name]


def _list(experiments: ModuleType) -> None:
    for experiment in experiments.EXPERIMENTS.values():
        typer.echo(f"{experiment.name}\t{experiment.title}\tabout {experiment.minutes:g} min")


def _watched(what: str, items: Iterable[Item], total: int | None = None) -> Iterator[Item]:
    """The items, with a bar where there is someone to see it and a line where there is not."""
    if not sys.stderr.isatty():
        complain(what)
    with progress(what, items, total) as watched:
        yield from watched


def _write(experiment: Any, findings: Any, fields: dict[str, Any], scale: float, folder: Path) -> None:
    """Markdown, JSON, and a picture if there is one to draw."""
    writing = importlib.import_module("experiments.writing")
    drawing = importlib.import_module("experiments.drawing")
    path = folder / experiment.name.replace("/", "-")
    written = [path.with_suffix(".md"), path.with_suffix(".json")]
    written[0].write_text(writing.markdown(experiment, findings, scale), encoding="utf-8")
    written[1].write_text(json_text.dumps(fields, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    if findings.charts:
        written += drawing.draw(findings.charts, path.with_suffix(".png"))
    for each in written:
        complain(f"{each}: written")


def _show(experiment: Any, findings: Any, scale: float) -> None:
    from rich.console import Console

    writing = importlib.import_module("experiments.writing")
    console = stdout() if sys.stdout.isatty() else Console(highlight=False, width=WIDTH)
    console.print(f"{experiment.name}: {experiment.title}", style="bold", markup=False)
    if scale != 1:
        console.print(writing.smaller(scale), markup=False)
    for table in findings.tables:
        _print_table(
            console, table.title, table.columns, [list(map(writing.text, row)) for row in table.rows]
        )
        for sentence in table.why:
            console.print(sentence, style="dim", markup=False)
    if scale == 1 and findings.bars:
        bars = [
            [
                bar.what,
                writing.text(bar.value),
                f"{bar.relation} {bar.limit:g}",
                "met" if bar.met else "MISSED",
            ]
            for bar in findings.bars
        ]
        _print_table(console, "Asked for", ("what", "figure", "bar", ""), bars)


def _print_table(console: Console, title: str, columns: Iterable[str], rows: list[list[str]]) -> None:
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=None, padding=(0, 2, 0, 0), title_style="bold")
    for number, column in enumerate(columns):
        table.add_column(column.strip(), justify="right" if number else "left", no_wrap=not number)
    for row in rows:
        table.add_row(*row)
    console.print("", table)
