"""The display of a running pipeline: the last batches, the totals, and the progress of the current batch.

     batch  documents      size  matches  deliveries  dead letters  seconds  documents/s  index
         3      1,000    4.8 MB   51,204      51,204             9      1.4          714      6
         4      1,000    4.9 MB   50,873      50,873            13      1.3          769      7
     total      5,000   24.3 MB  254,310     254,310            52      7.2          694
     ⠋ matching, 3 of 8 tasks

It is drawn on stderr if that is a terminal, and not at all otherwise.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

from twigcast.cli.terminal import stderr

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.table import Table

SHOWN = 12  # batches above the totals
REFRESHES = 4  # each second

Tasks: TypeAlias = Callable[[], tuple[int, int]]  # of the current batch: finished tasks, all tasks


class Figures(Protocol):
    """The figures of a batch, or the sums over all batches."""

    @property
    def documents(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def matches(self) -> int: ...
    @property
    def deliveries(self) -> int: ...
    @property
    def dead_letters(self) -> int: ...
    @property
    def seconds(self) -> float: ...


class Batch(Figures, Protocol):
    """The figures of one batch, as the pipeline measured them."""

    @property
    def batch(self) -> int: ...
    @property
    def index_version(self) -> str: ...


@dataclass(slots=True)
class Totals:
    """The sums over all batches of a run."""

    batches: int = 0
    documents: int = 0
    bytes: int = 0
    matches: int = 0
    deliveries: int = 0
    dead_letters: int = 0
    seconds: float = 0.0

    def add(self, batch: Batch) -> None:
        """Add the figures of a batch."""
        self.batches += 1
        self.documents += batch.documents
        self.bytes += batch.bytes
        self.matches += batch.matches
        self.deliveries += batch.deliveries
        self.dead_letters += batch.dead_letters
        self.seconds += batch.seconds


class Display:
    """The state of the display; batches may be added by another thread than the one that draws."""

    def __init__(self) -> None:
        self.totals = Totals()
        self.tasks: Tasks | None = None
        self._doing = ""
        self._last: deque[Batch] = deque(maxlen=SHOWN)
        self._lock = threading.Lock()

    def add(self, batch: Batch) -> None:
        """Show a finished batch."""
        with self._lock:
            self.totals.add(batch)
            self._last.append(batch)

    def say(self, doing: str) -> None:
        """Show what the run is doing now; an empty text shows nothing."""
        self._doing = doing

    def table(self, width: int) -> Table:
        """The table of the last batches and the totals; where all columns do not fit, some are left out."""
        from rich.table import Table
        from rich.text import Text

        with self._lock:
            rows = [_cells(batch, str(batch.batch), batch.index_version) for batch in self._last]
            rows.append(_cells(self.totals, "total", ""))
        needs = [max(map(len, column)) for column in zip(COLUMNS, *rows, strict=True)]
        shown = list(range(len(COLUMNS)))
        for name in LEFT_OUT:
            if sum(needs[at] + 1 for at in shown) - 1 > width:
                shown.remove(COLUMNS.index(name))
        gap = 2 if sum(needs[at] + 2 for at in shown) - 2 <= width else 1
        table = Table(
            box=None, header_style="bold", pad_edge=False, padding=(0, gap, 0, 0), show_footer=True,
            footer_style="bold",
        )  # fmt: skip
        for at in shown:
            table.add_column(COLUMNS[at], footer=rows[-1][at], justify="right", no_wrap=True)
        for row in rows[:-1]:
            table.add_row(*(Text(row[at]) for at in shown))
        return table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.spinner import Spinner

        if self.totals.batches:
            yield self.table(options.max_width)
        if self._doing:
            done, total = self.tasks() if self.tasks else (0, 0)
            tasks = f", {done:,} of {total:,} tasks" if total else ""
            yield Spinner("dots", f"{self._doing}{tasks}")


@contextmanager
def live() -> Iterator[Display]:
    """A display that is redrawn on stderr while the block runs, if stderr is a terminal."""
    display = Display()
    console = stderr()
    if not console.is_terminal:
        yield display
        return
    from rich.live import Live

    with Live(display, console=console, refresh_per_second=REFRESHES, redirect_stdout=False):
        try:
            yield display
        finally:
            display.say("")


COLUMNS = (
    "batch",
    "documents",
    "size",
    "matches",
    "deliveries",
    "dead letters",
    "seconds",
    "documents/s",
    "index",
)
LEFT_OUT = ("index", "documents/s", "matches", "size", "seconds")  # the first of them first


def _cells(figures: Figures, name: str, version: str) -> list[str]:
    return [
        name,
        f"{figures.documents:,}",
        size(figures.bytes),
        f"{figures.matches:,}",
        f"{figures.deliveries:,}",
        f"{figures.dead_letters:,}",
        f"{figures.seconds:,.1f}",
        f"{figures.documents / figures.seconds:,.0f}" if figures.seconds else "",
        version,
    ]


def size(count: int) -> str:
    """Format a number of bytes for people, such as ``4.8 MB``."""
    for unit, bytes_ in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= bytes_:
            return f"{count / bytes_:,.1f} {unit}"
    return f"{count} B"
