"""Finds and reads the documents that arguments name: files, directories, stdin, compressed or not."""

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

GZIP_MARK = b"\x1f\x8b"  # no XML document begins with these bytes
ENDINGS = (".xml", ".xml.gz")


@dataclass(frozen=True, slots=True)
class DocumentFile:
    """A document by the name of its file, or ``-`` for stdin."""

    name: str

    def read(self, most: int) -> bytes:
        """Read and decompress the document; of a document larger than ``most``, only ``most + 1`` bytes.

        So neither a huge file nor a decompression bomb exhausts memory, and the index refuses the document as
        too large.
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
                f"there are no documents (*{' or *'.join(ENDINGS)})", code="no-documents", path=self.name
            ) from None
        except (OSError, EOFError, zlib.error) as error:
            reason = getattr(error, "strerror", None) or str(error)
            message = f"the file cannot be read: {reason}"
            raise SourceError(message, code="unreadable", path=self.name) from None


def find(arguments: Iterable[str]) -> Iterator[DocumentFile]:
    """Yield the documents that arguments name; directories are searched recursively, in the order of names.

    A missing file and a directory without documents are yielded too, and raise an error when they are read.
    """
    for argument in arguments:
        if argument != "-" and os.path.isdir(argument):
            found = [DocumentFile(str(path)) for path in _documents_below(Path(argument))]
            yield from found or [DocumentFile(argument)]
        else:
            yield DocumentFile(argument)


def _documents_below(folder: Path) -> Iterator[Path]:
    for where, folders, files in os.walk(folder):
        folders.sort()
        yield from (Path(where, name) for name in sorted(files) if name.lower().endswith(ENDINGS))


def _decompressed(body: bytes, most: int) -> bytes:
    if body.startswith(GZIP_MARK):
        return gzip.GzipFile(fileobj=io.BytesIO(body)).read(most + 1)
    return body
