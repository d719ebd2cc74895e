"""Members of archives as documents.

Workers open ``.zip``, ``.tar``, ``.tar.gz`` (``.tgz``, ``.tar.bz2``, ``.tar.xz``) and single files compressed
as ``.gz``, ``.bz2`` or ``.xz``, member by member; a file with another suffix is a document itself.  One
member at a time is in memory, and never more than the limit: a decompression bomb is an error.  A member that
cannot be read is one error; an archive that is broken from some point on is one more error.
"""

from __future__ import annotations

import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import partial
from pathlib import PurePosixPath
from typing import IO, Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from twigcast.document import DocumentLimits
from twigcast.errors import DocumentError
from twigcast.spark.columns import SOURCED, SourcedRow, batched, error_row, error_without_position
from twigcast.spark.sources.documents import Documents, WorkerReading
from twigcast.spark.sources.empty_file_log import EmptyFileLog
from twigcast.spark.sources.file_access import (
    UNREADABLE,
    decompressed,
    is_compressed,
    open_file,
    read_within,
)
from twigcast.spark.sources.file_listing import PLACE_COLUMNS, FileListing, plain_path

_TARS = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")
_BROKEN = (*UNREADABLE, zipfile.BadZipFile, tarfile.TarError, zlib.error, RuntimeError, NotImplementedError)


@dataclass(frozen=True, slots=True)
class ArchivesSource:
    """Archives whose members are one document each; a member of more than ``max_bytes`` is an error.

    ``member_pattern`` selects members by their name or by their name with its folders.
    """

    files: FileListing
    member_pattern: str = "*"
    max_bytes: int = DocumentLimits().bytes

    def list(self, spark: SparkSession, *, streaming: bool) -> DataFrame:
        """The paths of the archives."""
        return self.files.list(spark, streaming=streaming).select(*PLACE_COLUMNS)

    def complete(self, spark: SparkSession, batch: DataFrame, number: int, log: EmptyFileLog) -> DataFrame:
        """The micro-batch with its empty files added."""
        return self.files.complete(spark, batch, number, log)

    def open(self, places: DataFrame) -> Documents:
        """One document for each member: ``doc_id`` is the path of the archive, ``!``, and the member."""
        stage = partial(_expand, pattern=self.member_pattern, limit=self.max_bytes)
        reading = WorkerReading(places.select(plain_path(F.col("path")).alias("path")), stage)
        documents = reading.places.mapInArrow(stage, SOURCED).drop("prolog")
        return Documents(documents, lambda: reading)


def members(path: str, pattern: str, limit: int) -> Iterator[SourcedRow]:
    """The documents of one archive, as rows."""
    lower = path.lower()
    try:
        with open_file(path) as file:
            if lower.endswith(".zip"):
                yield from _zip_members(path, file, pattern, limit)
            elif lower.endswith(_TARS):
                yield from _tar_members(path, file, pattern, limit)
            elif is_compressed(path):
                member = PurePosixPath(path).stem
                if _fits(member, pattern):
                    yield _row(f"{path}!{member}", decompressed(path, file), limit)
            else:
                yield _row(path, file, limit)
    except _BROKEN as error:
        yield path, None, None, _fault("the archive cannot be read", error)


def _zip_members(path: str, file: IO[bytes], pattern: str, limit: int) -> Iterator[SourcedRow]:
    with zipfile.ZipFile(file) as archive:
        for info in archive.infolist():
            if info.is_dir() or not _fits(info.filename, pattern):
                continue
            doc_id = f"{path}!{info.filename}"
            try:
                with archive.open(info) as member:
                    yield _row(doc_id, member, limit)
            except _BROKEN as error:
                yield doc_id, None, None, _fault("the member cannot be read", error)


def _tar_members(path: str, file: IO[bytes], pattern: str, limit: int) -> Iterator[SourcedRow]:
    with tarfile.open(fileobj=file, mode="r|*") as archive:
        for info in archive:
            if not info.isfile() or not _fits(info.name, pattern):
                continue
            member = archive.extractfile(info)
            assert member is not None
            yield _row(f"{path}!{info.name}", member, limit)
            archive.members = []  # type: ignore[attr-defined]  # otherwise the list grows with the archive


def _row(doc_id: str, member: IO[bytes], limit: int) -> SourcedRow:
    body = read_within(member, limit)
    if len(body) > limit:
        message = f"the document has more than {limit} bytes"
        return doc_id, None, None, error_row(DocumentError(message, code="too-large", offset=limit))
    return doc_id, body, None, None


def _fits(member: str, pattern: str) -> bool:
    return fnmatch(member, pattern) or fnmatch(PurePosixPath(member).name, pattern)


def _fault(message: str, error: Exception) -> Any:
    return error_without_position(f"{message}: {str(error) or type(error).__name__}", code="archive")


def _expand(batches: Iterator[pa.RecordBatch], *, pattern: str, limit: int) -> Iterator[pa.RecordBatch]:
    """The stage that workers run."""
    for batch in batches:
        for path in batch.column("path").to_pylist():
            yield from batched(members(path, pattern, limit))
