"""The rule for what is a document in a folder, for every command, for pipelines and for ``read``.

    a.xml, A.XML, a.xml.gz, sub/a.xml     documents, also compressed ones
    a.txt, a.pdf, a.xml.tmp, a.xml~       not documents
    .a.xml, _a.xml, .git/a.xml            hidden: files that are being written, and folders of tools
    a pipe, a device, a link              reported, if a document could be expected there

A file that is named itself, or by a pattern, is a document whatever its name is.  A file that begins with the
bytes of gzip is decompressed, whatever its name is: no XML document begins with them.
"""

from __future__ import annotations

import gzip
import io
import os
import sys
import zlib
from collections.abc import Iterator
from typing import BinaryIO

from twigcast.errors import SourceError
from twigcast.system.folder_files import FoundFile, Links, files_below

DOCUMENT_ENDINGS = (".xml", ".xml.gz")
DOCUMENT_GLOB = "{*.[xX][mM][lL],*.[xX][mM][lL].[gG][zZ]}"
"""The same names as a glob pattern of Hadoop."""

GZIP_MARK = b"\x1f\x8b"
BROKEN_GZIP = (OSError, EOFError, zlib.error)
"""The exceptions that reading a broken compressed file raises."""


_FORMATS = {
    b"PK\x03\x04": "a zip archive: extract it first",
    b"PK\x05\x06": "an empty zip archive",
    GZIP_MARK: "compressed with gzip: decompress it first",
    b"BZh": "compressed with bzip2: decompress it first",
    b"\xfd7zXZ\x00": "compressed with xz: decompress it first",
    b"\x28\xb5\x2f\xfd": "compressed with zstd: decompress it first",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive: extract it first",
    b"%PDF-": "a PDF file",
}
_TAR_MARK, _TAR_MARK_AT = b"ustar", 257


def foreign_format(head: bytes) -> str | None:
    """What bytes are that begin like a file of another format than XML, and what to do with it."""
    if head[_TAR_MARK_AT : _TAR_MARK_AT + len(_TAR_MARK)] == _TAR_MARK and not head.lstrip().startswith(b"<"):
        return "a tar archive: extract it first"
    return next((name for mark, name in _FORMATS.items() if head.startswith(mark)), None)


def documents_below(folder: str, *, links: Links = "skip") -> Iterator[FoundFile]:
    """The documents below a folder, and what is not to be read where a document could be expected."""
    return (each for each in files_below(folder, links=links, skipped=is_hidden) if is_document(each))


def is_document(found: FoundFile) -> bool:
    """Whether a file of a folder is a document, or stands where one could be expected.

    That is a folder or file without permission, and a link to a folder.
    """
    if found.refusal == "unreadable" or found.path.lower().endswith(DOCUMENT_ENDINGS):
        return True
    return found.refusal == "link" and os.path.isdir(found.path)


def is_hidden(name: str) -> bool:
    """Whether files and folders of this name are skipped, as Spark does."""
    return name.startswith(".") or (name.startswith("_") and "=" not in name) or name.endswith("._COPYING_")


def standard_input() -> BinaryIO:
    """Standard input, for the argument ``-``; raises ``SourceError`` if it was read and closed before."""
    if sys.stdin.closed or sys.stdin.buffer.closed:
        message = "standard input can be read only once: give a file in place of one -"
        raise SourceError(message, code="unreadable", path="-")
    return sys.stdin.buffer


def decompressed_body(body: bytes, most: int) -> bytes:
    """A document without the compression of gzip; at most ``most + 1`` bytes of it.

    Raises one of ``BROKEN_GZIP``.
    """
    if not body.startswith(GZIP_MARK):
        return body
    with gzip.GzipFile(fileobj=io.BytesIO(body)) as file:
        return file.read(most + 1)


def decompressed_file(file: io.BufferedReader) -> io.BufferedReader | gzip.GzipFile:
    """A file that decompresses gzip while it is read."""
    is_compressed = file.peek(2)[:2] == GZIP_MARK
    return gzip.GzipFile(fileobj=file) if is_compressed else file
