"""Finds and reads the documents that arguments name: files, directories, stdin, compressed or not."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO, cast

from twigcast.errors import SourceError
from twigcast.system import (
    BROKEN_GZIP,
    DOCUMENT_ENDINGS,
    Refusal,
    decompressed_body,
    decompressed_file,
    documents_below,
    name_text,
    standard_input,
)


@dataclass(frozen=True, slots=True)
class DocumentFile:
    """A document by the name of its file, or ``-`` for stdin."""

    name: str
    refusal: Refusal | None = None
    """Why a search of a directory found it, but it is not to be read."""

    @property
    def text(self) -> str:
        """The name as printable text, whatever its bytes are."""
        return name_text(self.name)

    def read(self, most: int) -> bytes:
        """Read and decompress the document; of a document larger than ``most``, only ``most + 1`` bytes.

        So neither a huge file nor a decompression bomb exhausts memory, and the index refuses the document as
        too large.
        """
        with self._reading():
            if self.name == "-":
                with standard_input() as stdin:
                    return decompressed_body(stdin.read(most + 1), most)
        with self.open() as file:
            return file.read(most + 1)

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Open the file and decompress it while it is read; raises ``SourceError``, also while it is open."""
        with self._reading(), open(self.name, "rb") as file:
            yield cast(BinaryIO, decompressed_file(file))

    @contextmanager
    def _reading(self) -> Iterator[None]:
        if self.refusal is not None:
            raise SourceError(_REFUSALS[self.refusal], code="unreadable", path=self.text)
        try:
            yield
        except FileNotFoundError:
            message = "there is no such file" if self.name else "a name is empty: expected that of a file"
            raise SourceError(message, code="not-found", path=self.text or "''") from None
        except IsADirectoryError:
            raise SourceError(
                f"there are no documents (*{' or *'.join(DOCUMENT_ENDINGS)})",
                code="no-documents",
                path=self.text,
            ) from None
        except BROKEN_GZIP as error:
            reason = getattr(error, "strerror", None) or str(error)
            message = f"the file cannot be read: {reason}"
            raise SourceError(message, code="unreadable", path=self.text) from None


def find(arguments: Iterable[str]) -> Iterator[DocumentFile]:
    """Yield the documents that arguments name; directories are searched recursively, without links.

    A missing file and a directory without documents are yielded too, and raise an error when they are read.
    """
    for argument in arguments:
        if argument != "-" and os.path.isdir(argument):
            found = [DocumentFile(each.path, each.refusal) for each in documents_below(argument)]
            yield from found or [DocumentFile(argument)]
        else:
            yield DocumentFile(argument)


_REFUSALS: dict[Refusal, str] = {
    "link": "the link is not followed: name it as an argument to read it",
    "special": "it is not a regular file, but a named pipe, a socket or a device",
    "unreadable": "the folder or file cannot be read",
}
