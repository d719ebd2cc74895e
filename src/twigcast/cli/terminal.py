"""Output for people: error messages and progress bars on stderr, tables on stdout.

stdout is for results only.  Everything else goes to stderr through one console, so that a message and a
progress bar do not overwrite each other.
"""

from __future__ import annotations

import errno
import json
import os
import re
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, TypeVar

from twigcast.errors import DocumentError, PatternError, SourceError, SubscriptionError, TwigcastError
from twigcast.pattern import shortened

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


def escaped(text: object) -> str:
    r"""The text in one line, with control characters written as ``\n``, ``\x1b`` or ``\u202e``.

    Names, ids, paths and values come from others: printed as they are, a tab or a line end would break the
    columns, and an escape sequence could rewrite the terminal.  Bytes of a path that are not UTF-8 are
    written as ``\xff``.
    """
    return _CONTROL.sub(lambda found: _SHORT.get(found[0]) or _escape(ord(found[0])), str(text))


_CONTROL = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]"
)  # control characters, separators of lines, marks of writing direction, lone surrogates
_SHORT = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}


def _escape(point: int) -> str:
    if 0xDC80 <= point <= 0xDCFF:  # how Python writes a byte of a path that is not UTF-8
        point -= 0xDC00
    return f"\\x{point:02x}" if point < 0x100 else f"\\u{point:04x}"


def json_line(fields: object) -> str:
    """A value as one line of JSON; what is not JSON is written as its ``str``."""
    line = json.dumps(fields, ensure_ascii=False, default=str)
    try:
        line.encode()
    except UnicodeEncodeError:  # a lone surrogate, which a path can have
        return json.dumps(fields, default=str)
    return line


def plural(count: int, noun: str) -> str:
    """A number with its noun: ``1 mapping``, ``2 mappings``, ``3 deliveries``, ``4 batches``."""
    if count == 1:
        return f"1 {noun}"
    if re.search("[^aeiou]y$", noun):
        return f"{count:,} {noun[:-1]}ies"
    return f"{count:,} {noun}{'es' if noun.endswith('ch') else 's'}"


def complain(message: str) -> None:
    """Print a message on stderr, without markup or wrapping."""
    stderr().print("\n".join(map(escaped, message.split("\n"))), markup=False)


def complain_of(error: Exception, where: str = "", *, hint: str = "") -> None:
    """Print an error on stderr with its position, and what helps."""
    notes = getattr(error, "__notes__", ())
    complain(sentence(error, where or "".join(notes[:1]), hint or "".join(notes[1:])))


@contextmanager
def errors_of(document: object, hint_of: Callable[[Exception], str] = lambda error: "") -> Iterator[None]:
    """Errors of a document in the block are reported with its name and a hint."""
    try:
        yield
    except DocumentError as error:
        error.add_note(str(document))
        error.add_note(hint_of(error))
        raise


def limit_hint(error: Exception) -> str:
    """How a command with the option --limit raises the limit that an error names."""
    found = _LIMIT.search(str(error))
    return f"; --limit {found[1]}=N raises it" if found else ""


_LIMIT = re.compile(r"\(limit (\w+)")


def sentence(error: Exception, where: str = "", hint: str = "") -> str:
    """An error for people: ``error: where: what (code)``; for a pattern also the text and a caret."""
    prefix = f"{where}: " if where else ""
    if isinstance(error, SourceError):
        line = f":{error.line}" if error.line else ""
        what = f"{error.path}{line}: {error.message}"
    elif isinstance(error, OSError):
        name = f"{os.fsdecode(error.filename)}: " if error.filename else prefix
        what = f"{name}{error.strerror or error}"
    else:
        what = f"{prefix}{told(error)}"
    code = error_code(error)
    return f"error: {escaped(what + hint)}{f' ({code})' if code else ''}" + (
        f"\n{pointed(error)}" if isinstance(error, PatternError) else ""
    )


def told(error: Exception) -> str:
    """The sentence of an error; the hint of an unbound prefix names the options and files of the commands."""
    if not isinstance(error, PatternError) or error.code != "unbound-prefix":
        return str(error)
    prefix = shortened(error.text[error.column - 1 :].partition(":")[0])[1:-1]
    return (
        f"{error.message} at column {error.column}: bind it with --namespace {prefix}=URI, "
        f'a line "# namespace {prefix}=URI" in the file, or [namespaces] in the pipeline file'
    )


def error_code(error: Exception) -> str:
    """The code of an error: its own, or the name that the operating system has for it; may be empty."""
    if isinstance(error, TwigcastError):
        return error.code
    return errno.errorcode.get(error.errno or 0, "") if isinstance(error, OSError) else ""


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
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.completed:,.0f}") if total is None else MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=stderr(),
        transient=True,
        redirect_stdout=sys.stdout.isatty(),
        redirect_stderr=False,
    )
    task = bar.add_task(escaped(description), total=total)
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
