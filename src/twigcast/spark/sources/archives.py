r"""Members of archives as documents.

Workers open ``.zip``, ``.tar``, ``.tar.gz`` (``.tgz``, ``.tar.bz2``, ``.tar.xz``) and single files compressed
as ``.gz``, ``.bz2`` or ``.xz``, member by member; a file with another suffix is a document itself.  One
member at a time is in memory, and never more than the limit: a decompression bomb is an error.  A member that
cannot be read is one error; an archive that is broken from some point on, or exceeds a limit there, is one
more error.

    doc_id          archive!member           names as ``system.name_text`` writes them, and ! as \x21
                    archive!member\#2        the second member of this name
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import partial
from hashlib import blake2b
from pathlib import Path, PurePosixPath
from typing import IO, Any

import pyarrow as pa
from pyspark.sql import SparkSession

from twigcast.document import DocumentLimits
from twigcast.errors import DocumentError
from twigcast.spark.columns import (
    SOURCED,
    SourcedRow,
    batched,
    error_row,
    error_without_position,
    internal_error,
)
from twigcast.spark.sources.archive_limits import Allowance, ArchiveLimits, TooMuch
from twigcast.spark.sources.documents import Documents
from twigcast.spark.sources.file_access import (
    UNREADABLE,
    ReadableStream,
    decompressed,
    is_compressed,
    open_file,
    read_within,
    refused,
)
from twigcast.spark.sources.listing.file_listing import FileListing
from twigcast.spark.sources.listing.place_stream import PlaceStream
from twigcast.spark.sources.listing.places import FilePlaces, PastFiles, Place, listed_here
from twigcast.spark.sources.tar_members import BrokenTar, tar_members
from twigcast.spark.sources.zip_members import BrokenZip, ZipContent, zip_members
from twigcast.system import Links, name_text

_TARS = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")
_COMPRESSED = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\xfd7zXZ\0": ".xz"}
_BROKEN = (*UNREADABLE, BrokenZip, BrokenTar)


@dataclass(frozen=True, slots=True)
class Unpacking:
    """How archives are unpacked: which members, how large a member may be, and the limits of an archive.

    ``pattern`` selects members by their name or by their name with its folders.
    """

    pattern: str = "*"
    max_bytes: int = DocumentLimits().bytes
    limits: ArchiveLimits = field(default_factory=ArchiveLimits)


@dataclass(frozen=True, slots=True)
class ArchivesSource:
    """Archives whose members are one document each."""

    files: FileListing
    unpacking: Unpacking = field(default_factory=Unpacking)

    def list(self, spark: SparkSession, *, streaming: bool) -> FilePlaces:
        """The paths of the archives."""
        return self.files.places(spark, streaming=streaming)

    def stream(self, spark: SparkSession, work: Path) -> PlaceStream:
        """The paths of the archives, as a stream."""
        return self.files.stream(spark, work)

    def past(self, spark: SparkSession, work: Path, checkpoint: str) -> PastFiles:
        """The files that each batch of a stream has had."""
        return self.files.past(spark, work, checkpoint)

    def at(self, spark: SparkSession, places: Sequence[Place]) -> FilePlaces:
        """These files."""
        return listed_here(spark, places)

    def open(self, places: FilePlaces) -> Documents:
        """One document for each member: ``doc_id`` is the path of the archive, ``!``, and the member."""
        reading = places.reading(partial(_expand, unpacking=self.unpacking, links=self.files.links))
        documents = reading.places.mapInArrow(reading.stage, SOURCED).drop("prolog")
        return Documents(documents, lambda: reading)


def members(path: str, unpacking: Unpacking, *, links: Links = "follow") -> Iterator[SourcedRow]:
    """The documents of one archive, as rows; ``path`` is the text of its path."""
    lower = path.lower()
    archive = path.replace("!", "\\x21")
    allowance = Allowance(unpacking.limits)
    try:
        with open_file(path, links=links) as file:
            if lower.endswith(".zip"):
                yield from _zip_rows(archive, file, unpacking, allowance)
            elif lower.endswith(_TARS):
                yield from _tar_rows(archive, file, unpacking, allowance)
            elif is_compressed(path):
                member = PurePosixPath(archive).stem
                if _fits(member, unpacking.pattern):
                    yield _row(f"{archive}!{member}", decompressed(path, file), unpacking.max_bytes)
            else:
                yield _row(archive, file, unpacking.max_bytes)
    except TooMuch as error:
        yield archive, None, None, error_without_position(str(error), code="archive-limit")
    except _BROKEN as error:
        yield archive, None, None, _fault("the archive cannot be read", error)
    except Exception as error:  # one archive never stops the others
        yield archive, None, None, internal_error(error)


def _zip_rows(path: str, file: IO[bytes], unpacking: Unpacking, allowance: Allowance) -> Iterator[SourcedRow]:
    names = _Names(path)
    for member in zip_members(file, allowance):
        name = name_text(member.name if member.is_utf8 else member.name.decode("cp437"), also="!")
        if member.is_folder or not _fits(name, unpacking.pattern):
            continue
        doc_id = names.doc_id(name)
        try:
            yield _row(doc_id, ZipContent(file, member, allowance), unpacking.max_bytes)
        except _BROKEN as error:
            yield doc_id, None, None, _fault("the member cannot be read", error)


def _tar_rows(path: str, file: IO[bytes], unpacking: Unpacking, allowance: Allowance) -> Iterator[SourcedRow]:
    names = _Names(path)
    magic = file.read(6)
    file.seek(0)
    suffix = next((suffix for mark, suffix in _COMPRESSED.items() if magic.startswith(mark)), "")
    for member in tar_members(allowance.counted(decompressed(suffix, file)), allowance):
        name = name_text(member.name, also="!")
        if not _fits(name, unpacking.pattern):
            continue
        doc_id = names.doc_id(name)
        if member.problem is not None:
            yield doc_id, None, None, _fault("the member cannot be read", BrokenTar(member.problem))
        else:
            yield _row(doc_id, member.file, unpacking.max_bytes)


class _Names:
    """The ids of an archive's members; members of one name are numbered from the second on."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._times: dict[bytes, int] = {}

    def doc_id(self, name: str) -> str:
        key = blake2b(name.encode(), digest_size=16).digest()  # names may be long
        times = self._times[key] = self._times.get(key, 0) + 1
        return f"{self._path}!{name}" if times == 1 else f"{self._path}!{name}\\#{times}"


def _row(doc_id: str, member: ReadableStream, limit: int) -> SourcedRow:
    body = read_within(member, limit)
    if len(body) > limit:
        message = f"the document has more than {limit} bytes (limits.bytes)"
        return doc_id, None, None, error_row(DocumentError(message, code="too-large", offset=limit))
    return doc_id, body, None, None


def _fits(member: str, pattern: str) -> bool:
    return fnmatch(member, pattern) or fnmatch(PurePosixPath(member).name, pattern)


def _fault(message: str, error: Exception) -> Any:
    return error_without_position(f"{message}: {str(error) or type(error).__name__}", code="archive")


def _expand(
    batches: Iterator[pa.RecordBatch], *, unpacking: Unpacking, links: Links
) -> Iterator[pa.RecordBatch]:
    """The stage that workers run."""
    for batch in batches:
        for path, _, refusal in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            if refusal is not None:
                yield from batched([(path, None, None, refused(refusal))])
            else:
                yield from batched(members(path, unpacking, links=links))
