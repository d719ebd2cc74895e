"""``python -m experiments`` repeats a table or figure of the papers and prints its figures beside ours.

It works in a source checkout: an installed twigcast has no experiments.
"""

from __future__ import annotations

import json as json_text
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from rich.console import Console
from rich.table import Table

from experiments.catalogue import EXPERIMENTS
from experiments.citing import citation
from experiments.drawing import draw
from experiments.findings import Experiment, Findings
from experiments.writing import markdown, smaller, text
from twigcast.cli.options import AsJson, examples
from twigcast.cli.program import exit_codes
from twigcast.cli.terminal import complain, progress, stdout

EXAMPLES = examples(
    "python -m experiments --list",
    "python -m experiments routing/table-3",
    "python -m experiments routing/fig-7 --scale 0.1",
    "python -m experiments routing/table-2 --json --out results",
)
WRONG_ANSWER = 1
WIDTH = 160  # of a table that goes to a file

Item = TypeVar("Item")

app = typer.Typer(add_completion=False, rich_markup_mode="rich", pretty_exceptions_enable=False)


@app.command(epilog=EXAMPLES)
@exit_codes()
def command(
    name: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Experiments, as --list names them.")
    ] = None,
    list_names: Annotated[bool, typer.Option("--list", help="List the experiments and exit.")] = False,
    scale: Annotated[
        float | None,
        typer.Option(
            "--scale",
            min=0.0001,
            max=1.0,
            help="A fraction of the paper's size; by default the experiment's usual scale, mostly 1.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FOLDER", help="Also write Markdown, JSON and pictures there."),
    ] = None,
    json: AsJson = False,
) -> None:
    """Repeat a table or figure of the papers: the paper's figures beside ours, and why they differ.

    The bars at the end say which required figures were met; a run below the usual scale judges none.
    The exit code is 1 if an answer was wrong, such as a delivery that flooding does not make.
    """
    if list_names:
        _list()
        return
    if not name:
        raise typer.BadParameter("give an experiment by name, or --list", param_hint="NAME")
    chosen = [_named(each) for each in name]
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
    reports, wrong = [], []
    for experiment in chosen:
        start = time.perf_counter()
        size = experiment.usual if scale is None else scale
        findings = experiment.run(size, _watched)
        wall = time.perf_counter() - start
        complain(f"{experiment.name}: {wall:.1f} s")
        fields: dict[str, Any] = {"name": experiment.name, "title": experiment.title, "scale": size}
        fields |= {"wall": wall, "paper": citation(experiment.name)}
        reports.append(fields | findings.to_json())
        if out is not None:
            _write(experiment, findings, reports[-1], size, out)
        if not json:
            _show(experiment, findings, size)
        wrong += [f"{experiment.name}: {sentence}" for sentence in findings.wrong]
    if json:
        typer.echo(json_text.dumps({"results": reports}, ensure_ascii=False, indent=2))
    for sentence in wrong:
        complain(f"wrong answer: {sentence}")
    if wrong:
        raise typer.Exit(WRONG_ANSWER)


def _named(name: str) -> Experiment:
    if name not in EXPERIMENTS:
        raise typer.BadParameter(
            f"there is no experiment {name!r}; python -m experiments --list has them all", param_hint="NAME"
        )
    return EXPERIMENTS[name]


def _list() -> None:
    for experiment in EXPERIMENTS.values():
        scale = "" if experiment.usual == 1 else f" at scale {experiment.usual:g}"
        typer.echo(f"{experiment.name}\t{experiment.title}\tabout {experiment.minutes:g} min{scale}")


def _watched(what: str, items: Iterable[Item], total: int | None = None) -> Iterator[Item]:
    """Yield the items, with a progress bar on a terminal and a line on stderr elsewhere."""
    if not sys.stderr.isatty():
        complain(what)
    with progress(what, items, total) as watched:
        yield from watched


def _write(
    experiment: Experiment, findings: Findings, fields: dict[str, Any], scale: float, folder: Path
) -> None:
    """Write Markdown, JSON, and a picture if the experiment has charts."""
    path = folder / experiment.name.replace("/", "-")
    written = [path.with_suffix(".md"), path.with_suffix(".json")]
    written[0].write_text(markdown(experiment, findings, scale), encoding="utf-8")
    written[1].write_text(json_text.dumps(fields, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    if findings.charts:
        remark = smaller(experiment, scale) if scale != 1 else None
        written += draw(findings.charts, path.with_suffix(".png"), citation(experiment.name), remark)
    for each in written:
        complain(f"{each}: written")


def _show(experiment: Experiment, findings: Findings, scale: float) -> None:
    console = stdout() if sys.stdout.isatty() else Console(highlight=False, width=WIDTH)
    console.print(f"{experiment.name}: {experiment.title}", style="bold", markup=False)
    if scale != 1:
        console.print(smaller(experiment, scale), markup=False)
    for table in findings.tables:
        _print_table(console, table.title, table.columns, [list(map(text, row)) for row in table.rows])
        for sentence in table.why:
            console.print(sentence, style="dim", markup=False)
    if experiment.judges(scale) and findings.bars:
        bars = [
            [
                bar.what,
                text(bar.value),
                f"{bar.relation} {bar.limit:g}",
                "met" if bar.met else "MISSED",
            ]
            for bar in findings.bars
        ]
        _print_table(console, "Asked for", ("what", "figure", "bar", ""), bars)


def _print_table(console: Console, title: str, columns: Iterable[str], rows: list[list[str]]) -> None:
    table = Table(title=title, title_justify="left", box=None, padding=(0, 2, 0, 0), title_style="bold")
    for number, column in enumerate(columns):
        table.add_column(column.strip(), justify="right" if number else "left", no_wrap=not number)
    for row in rows:
        table.add_row(*row)
    console.print("", table)


if __name__ == "__main__":
    app(prog_name="python -m experiments")
