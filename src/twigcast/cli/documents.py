"""Finding and reading documents: files, directories, stdin, compressed or not."""

from __future__ import annotations

import gzip
import io
import os
import sys
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from twigcast.errors import SourceError

GZIP_MARK = b"\x1f\x8b"  # no XML document begins so
ENDINGS = (".xml", ".xml.gz")


@dataclass(frozen=True, slots=True)
class Source:
    """Where a document comes from: the name it is reported by; ``-`` is stdin."""

    name: str

    def read(self, most: int) -> bytes:
        """The bytes of the document, decompressed; of one larger than ``most``, only one byte more.

        Reading stops there so that neither a huge file nor a compressed bomb fills the memory: the index
        then refuses what it got as too large.
        """
        try:
            if self.name == "-":
                return _decompressed(sys.stdin.buffer.read(most + 1), most)
            with open(self.name, "rb") as file:
                if file.peek(2)[:2] == GZIP_MARK:
                    return gzip.GzipFile(fileobj=file).read(most + 1)
                return file.read(most + 1)
        except FileNotFoundError:
            raise SourceError("there is no such file", code="not-found", path=self.name) from None
        except IsADirectoryError:
            raise SourceError(
                f"holds no documents (*{' or *'.join(ENDINGS)})", code="no-documents", path=self.name
            ) from None
        except (OSError, EOFError, zlib.error) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise SourceError(f"cannot be read: {reason}", code="unreadable", path=self.name) from None


def find(arguments: Iterable[str]) -> Iterator[Source]:
    """The documents that arguments name, directories searched to the bottom in the order of names.

    What is not there is a source too, and says so when it is read; so is a directory without documents.
    """
    for argument in arguments:
        if argument != "-" and os.path.isdir(argument):
            found = [Source(str(path)) for path in _documents_below(Path(argument))]
            yield from found or [Source(argument)]
        else:
            yield Source(argument)


def _documents_below(folder: Path) -> Iterator[Path]:
    for where, folders, files in os.walk(folder):
        folders.sort()
        yield from (Path(where, name) for name in sorted(files) if name.lower().endswith(ENDINGS))


def _decompressed(body: bytes, most: int) -> bytes:
    if body.startswith(GZIP_MARK):
        return gzip.GzipFile(fileobj=io.BytesIO(body)).read(most + 1)
    return body
