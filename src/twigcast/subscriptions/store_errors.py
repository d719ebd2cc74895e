"""The errors of a subscription store as ``SourceError``: SQLite's, those of the file system, and damage."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from twigcast.errors import SourceError

_ADVICE = "use a copy of it, or save what can be read with the .recover command of the sqlite3 program"


def damaged(path: Path, message: str) -> SourceError:
    """The error of a store whose content is not what was written, with what can be done."""
    return SourceError(f"the store is damaged: {message}; {_ADVICE}", code="unreadable", path=str(path))


@contextmanager
def source_errors(path: Path) -> Iterator[None]:
    """Turn errors of SQLite and of the file system into ``SourceError``."""
    try:
        yield
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", "")
        for beginning, (code, sentence) in _SQLITE_CODES.items():
            if name.startswith(beginning):
                raise SourceError(f"{sentence}: {error}", code=code, path=str(path)) from error
        raise damaged(path, str(error)) from error
    except UnicodeDecodeError as error:  # of a name that a message of SQLite repeats
        raise damaged(path, "it has bytes that are no text") from error
    except FileNotFoundError as error:
        message = "there is no such subscription store"
        raise SourceError(message, code="not-found", path=str(path)) from error
    except OSError as error:
        message = f"the store cannot be opened: {error.strerror or error}"
        raise SourceError(message, code="unreadable", path=str(path)) from error


_SQLITE_CODES = {
    "SQLITE_BUSY": ("locked", "another process keeps the store locked"),
    "SQLITE_LOCKED": ("locked", "another process keeps the store locked"),
    "SQLITE_READONLY": ("unwritable", "the store cannot be written"),
    "SQLITE_NOTADB": ("unreadable", "not a subscription store"),
    "SQLITE_FULL": ("unwritable", "the store cannot be written"),
    "SQLITE_CANTOPEN": ("unreadable", "the store cannot be opened"),
    "SQLITE_IOERR": ("unreadable", "the store cannot be read or written"),
}
