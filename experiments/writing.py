"""Writes findings as Markdown, with three significant digits."""

from __future__ import annotations

from collections.abc import Iterator

from experiments.citing import citation
from experiments.findings import Cell, Experiment, Findings, Table


def text(cell: Cell) -> str:
    """A cell as it is printed."""
    if cell is None:
        return ""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, int) or abs(cell) >= 1000:
        return f"{cell:,.0f}"
    return f"{cell:.3g}"


def markdown(experiment: Experiment, findings: Findings, scale: float) -> str:
    """A page with the tables, the explanations of differences from the paper, and the bars."""
    return "\n".join(_lines(experiment, findings, scale)) + "\n"


def smaller(experiment: Experiment, scale: float) -> str:
    """The remark on a run below full scale."""
    remark = f"A run at {scale:g} of the paper's size, not to be compared with the paper's figures"
    return f"{remark}." if experiment.judges(scale) else f"{remark}; required values are not judged."


def _lines(experiment: Experiment, findings: Findings, scale: float) -> Iterator[str]:
    yield f"# {experiment.title}"
    yield from ("", f"{citation(experiment.name)}.")
    if scale != 1:
        yield from ("", smaller(experiment, scale))
    for table in findings.tables:
        yield from ("", f"## {table.title}", "", *_rows(table))
        if table.why:
            yield from ("", *table.why)
    if experiment.judges(scale) and findings.bars:
        yield from ("", "## Asked for", "")
        rows = tuple(
            (bar.what, bar.value, f"{bar.relation} {bar.limit:g}", "met" if bar.met else "MISSED")
            for bar in findings.bars
        )
        yield from _rows(Table("", ("what", "figure", "bar", ""), rows))
    for sentence in findings.wrong:
        yield from ("", f"WRONG: {sentence}")


def _rows(table: Table) -> Iterator[str]:
    numbers = [
        any(isinstance(row[place], int | float) for row in table.rows) for place in range(len(table.columns))
    ]
    yield f"| {' | '.join(name.strip() for name in table.columns)} |"
    yield f"|{'|'.join('---:' if number else '---' for number in numbers)}|"
    for row in table.rows:
        yield f"| {' | '.join(map(text, row))} |"
