"""Output for people: error messages and progress bars on stderr, tables on stdout.

stdout is for results only.  Everything else goes to stderr through one console, so that a message and a
progress bar do not overwrite each other.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, TypeVar

from twigcast.errors import DocumentError, PatternError, SourceError, SubscriptionError, TwigcastError

if TYPE_CHECKING:
    from rich.console import Console

PATIENCE = 1.0  # seconds before a progress bar appears
WINDOW = 96  # columns of an expression that are shown around a caret

Item = TypeVar("Item")


@cache
def stderr() -> Console:
    """The console for everything that is not a result."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, soft_wrap=True)


@cache
def stdout() -> Console:
    """The console for tables; lines and JSON are written without it."""
    from rich.console import Console

    return Console(highlight=False)


def complain(message: str) -> None:
    """Print a message on stderr, without markup or wrapping."""
    stderr().print(message, markup=False)


def complain_of(error: Exception, where: str = "") -> None:
    """Print an error on stderr with its position."""
    complain(sentence(error, where))


def sentence(error: Exception, where: str = "") -> str:
    """An error for people: ``error: where: what``; for a pattern also the text, with a caret below it."""
    prefix = f"{where}: " if where else ""
    if isinstance(error, PatternError):
        return f"error: {prefix}{error}\n{pointed(error)}"
    if isinstance(error, SourceError):
        line = f":{error.line}" if error.line else ""
        return f"error: {error.path}{line}: {error.message}"
    if isinstance(error, OSError):
        name = f"{error.filename}: " if error.filename else prefix
        return f"error: {name}{error.strerror or error}"
    return f"error: {prefix}{error}"


def as_json(error: TwigcastError | None) -> dict[str, object] | None:
    """An error for machines: code, message, line and column, which are null if the error has none."""
    if error is None:
        return None
    line: int | None = None
    column: int | None = None
    if isinstance(error, DocumentError):
        line, column = error.line, error.column
    elif isinstance(error, SourceError):
        line = error.line or None
    elif isinstance(error, PatternError):
        column = error.column
    extra: dict[str, object] = {"id": error.id} if isinstance(error, SubscriptionError) else {}
    return {"code": error.code, "message": error.message, "line": line, "column": column} | extra


def pointed(error: PatternError) -> str:
    """The expression with a caret under the column; a long expression is cut around it."""
    first = max(0, error.column - 1 - WINDOW // 2)
    shown = "".join(c if c.isprintable() else " " for c in error.text[first : first + WINDOW])
    before = "…" if first else ""
    after = "…" if first + WINDOW < len(error.text) else ""
    return f"  {before}{shown}{after}\n  {' ' * (len(before) + error.column - 1 - first)}^"


@contextmanager
def progress(description: str, items: Iterable[Item], total: int | None = None) -> Iterator[Iterator[Item]]:
    """Yield the items and show a progress bar on stderr after one second, if stderr is a terminal.

    A timer shows the bar, since a single item may be what takes long.
    Results that are written to the same terminal appear above the bar.
    """
    if not sys.stderr.isatty():
        yield iter(items)
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:,.0f}") if total is None else MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=stderr(),
        transient=True,
        redirect_stdout=sys.stdout.isatty(),
        redirect_stderr=False,
    )
    task = bar.add_task(description, total=total)
    shown = threading.Event()

    def show() -> None:
        bar.start()
        shown.set()

    timer = threading.Timer(PATIENCE, show)
    timer.daemon = True

    def counted() -> Iterator[Item]:
        for item in items:
            yield item
            bar.advance(task)

    timer.start()
    try:
        yield counted()
    finally:
        timer.cancel()
        timer.join()
        if shown.is_set():
            bar.stop()
