"""Tables that fit a terminal: numbers are never narrowed, and what does not fit becomes a second table.

  strategy         messages  published      columns that fit, in their order
  no-Adv-no-Cov      53,364     25,359

  strategy           p50    p99             the others, each row with its first cell again
  no-Adv-no-Cov    1.2     4.6

Rich narrows every column that may wrap before it shortens the one that needs most; so widths are chosen here.
A file gets one table of any width.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from twigcast.cli.terminal import escaped, stdout

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

GAP = 2  # columns between two cells; 1 where a table fits only so
LEAST = 16  # columns that a cell which can be folded has at least, if it needs them
FILE_WIDTH = 10_000  # columns of a table that no terminal shows
TAB = "\t"

Cell: TypeAlias = "str | Text"


class ColumnKind(Enum):
    """What may happen to the cells of a column that are too wide."""

    FIGURE = "never narrowed, flush right"
    WORD = "never narrowed"
    NAME = "folded"
    EXCERPT = "shortened; a cell that is a Text is folded"


@dataclass(frozen=True, slots=True)
class Column:
    """A column with its header; a cell that is a string is printed with control characters escaped."""

    name: str
    kind: ColumnKind = ColumnKind.NAME

    @property
    def is_flexible(self) -> bool:
        return self.kind in (ColumnKind.NAME, ColumnKind.EXCERPT)


def figures(*names: str) -> list[Column]:
    """Columns of numbers."""
    return [Column(name, ColumnKind.FIGURE) for name in names]


def print_table(
    columns: Sequence[Column],
    rows: Sequence[Sequence[Cell]],
    *,
    title: str = "",
    console: Console | None = None,
) -> None:
    """Print a table on stdout, in two or more where one is too wide."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = console or stdout()
    if not console.is_terminal:
        console = Console(file=console.file, width=FILE_WIDTH)
    width = console.width
    cells = [[each if isinstance(each, Text) else Text(escaped(each)) for each in row] for row in rows]
    needs = [
        max(Text(column.name).cell_len, *(row[at].cell_len for row in cells), 1)
        for at, column in enumerate(columns)
    ]
    if title:
        console.print(Text(title, style="bold"), soft_wrap=True)
    gap, groups = _arranged(columns, needs, width)
    for number, group in enumerate(groups):
        table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, gap, 0, 0))
        for at, cells_wide in zip(group, _widths(columns, needs, group, width, gap), strict=True):
            column = columns[at]
            table.add_column(
                Text(column.name),
                width=cells_wide,
                overflow="fold",
                no_wrap=column.kind is ColumnKind.WORD,
                justify="right" if column.kind is ColumnKind.FIGURE else "left",
            )
            for given, row in zip(rows, cells, strict=True):
                if column.kind is ColumnKind.EXCERPT and isinstance(given[at], str):
                    row[at].truncate(cells_wide, overflow="ellipsis")
        for row in cells:
            table.add_row(*(row[at] for at in group))
        if number:
            console.print()
        console.print(table)


def print_facts(facts: Sequence[tuple[str, object]]) -> None:
    """Print names and values: in two columns on a terminal, else with a tab between them."""
    wide = max((len(name) for name, _ in facts), default=0) + GAP
    is_shown = sys.stdout.isatty()
    for name, value in facts:
        sys.stdout.write(f"{name.ljust(wide) if is_shown else name + TAB}{escaped(value)}\n")


def _arranged(columns: Sequence[Column], needs: Sequence[int], width: int) -> tuple[int, list[list[int]]]:
    """The gap between cells, and the positions of the columns of each table; the first is in every one."""
    least = [
        min(need, LEAST) if column.is_flexible else need for column, need in zip(columns, needs, strict=True)
    ]
    for gap in (GAP, 1):
        if sum(least) + gap * (len(least) - 1) <= width:
            return gap, [list(range(len(columns)))]
    groups, used = [[0]], least[0]
    for at in range(1, len(columns)):
        if used + GAP + least[at] > width and len(groups[-1]) > 1:
            groups.append([0])
            used = least[0]
        groups[-1].append(at)
        used += GAP + least[at]
    return GAP, groups


def _widths(
    columns: Sequence[Column], needs: Sequence[int], group: Sequence[int], width: int, gap: int
) -> list[int]:
    """The width of each column of a table: each has its share of the space, names first."""
    found = {at: needs[at] for at in group}
    flexible = sorted(
        (at for at in group if columns[at].is_flexible), key=lambda at: columns[at].kind is ColumnKind.EXCERPT
    )
    space = width - gap * (len(group) - 1) - sum(found[at] for at in group if at not in flexible)
    for place, at in enumerate(flexible):
        later = [needs[other] for other in flexible[place + 1 :]]
        reserved = sum(min(need, max(LEAST, space // (1 + len(later)))) for need in later)
        found[at] = max(1, min(needs[at], space - reserved))
        space -= found[at]
    return [found[at] for at in group]
