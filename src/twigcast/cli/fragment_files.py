"""Finds and reads the fragments that arguments name: ``.tcf`` files, and folders of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from twigcast.errors import FragmentError, SourceError

if TYPE_CHECKING:
    from twigcast.fragmenting import Fragment, Manifest


def find(paths: Iterable[Path]) -> Iterator[Path]:
    """The files of fragments; raises ``SourceError`` for a folder without any."""
    from twigcast.fragmenting import SUFFIX

    for path in paths:
        if not path.is_dir():
            yield path
            continue
        found = sorted(path.glob(f"*{SUFFIX}"))
        if not found:
            raise SourceError(f"there are no fragments (*{SUFFIX})", code="no-documents", path=str(path))
        yield from found


def read(path: Path) -> Fragment:
    """The fragment in a file; raises ``SourceError``."""
    from twigcast.fragmenting import decode

    try:
        return decode(path.read_bytes())
    except FileNotFoundError:
        raise SourceError("there is no such file", code="not-found", path=str(path)) from None
    except OSError as error:
        message = f"the file cannot be read: {error.strerror}"
        raise SourceError(message, code="unreadable", path=str(path)) from None
    except FragmentError as error:
        raise SourceError(error.message, code=error.code, path=str(path)) from None


def manifests(paths: Iterable[Path]) -> Iterator[Manifest]:
    """The manifests in folders that have one; raises ``SourceError``."""
    from twigcast.fragmenting import MANIFEST_NAME, decode_manifest

    for path in paths:
        file = path / MANIFEST_NAME
        if path.is_dir() and file.is_file():
            try:
                yield decode_manifest(file.read_bytes())
            except FragmentError as error:
                raise SourceError(error.message, code=error.code, path=str(file)) from None
