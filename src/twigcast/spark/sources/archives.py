"""Archives as documents, one for each member.

``.zip``, ``.tar``, ``.tar.gz`` (``.tgz``, ``.tar.bz2``, ``.tar.xz``) and single files compressed as ``.gz``,
``.bz2`` or ``.xz`` are opened in the workers, member by member; a file of another name is a document itself.
One member at a time is in memory, and none beyond the limit: a bomb is an error after that many bytes.
A member that cannot be read is an error; an archive that cannot be read further is one more.
"""

from __future__ import annotations

import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import partial
from pathlib import PurePosixPath
from typing import IO, Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from twigcast.document import DocumentLimits
from twigcast.errors import DocumentError
from twigcast.spark.columns import SOURCED, SourcedRow, batched, error_row, placeless
from twigcast.spark.sources.files import (
    UNREADABLE,
    Opener,
    decompressed,
    is_compressed,
    open_file,
    plain_path,
    read_within,
)
from twigcast.spark.sources.worker_reading import Opening, remember

_TARS = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")
_BROKEN = (*UNREADABLE, zipfile.BadZipFile, tarfile.TarError, zlib.error, RuntimeError, NotImplementedError)


def archives(options: dict[str, str]) -> Opener:
    """From files to the members of archives: ``doc_id`` is the path of the archive, ``!``, and the member.

    Takes its own options out of those of Spark's files: ``memberGlobFilter`` (only members whose name fits)
    and ``maxBytes`` (of one member).
    """
    fitting = options.pop("memberGlobFilter", "*")
    limit = int(options.pop("maxBytes", DocumentLimits().bytes))

    def opened(found: DataFrame) -> DataFrame:
        opening = Opening(
            found.select(plain_path(F.col("path")).alias("path")),
            partial(_expand, fitting=fitting, limit=limit),
        )
        documents = opening.places.mapInArrow(opening.stage, SOURCED).drop("prolog")
        return remember(documents, lambda: opening)

    return opened


def members(path: str, fitting: str, limit: int) -> Iterator[SourcedRow]:
    """The documents of one archive, as rows of a table of documents."""
    lower = path.lower()
    try:
        with open_file(path) as file:
            if lower.endswith(".zip"):
                yield from _zip_members(path, file, fitting, limit)
            elif lower.endswith(_TARS):
                yield from _tar_members(path, file, fitting, limit)
            elif is_compressed(path):
                member = PurePosixPath(path).stem
                if _fits(member, fitting):
                    yield _row(f"{path}!{member}", decompressed(path, file), limit)
            else:
                yield _row(path, file, limit)
    except _BROKEN as error:
        yield path, None, None, _fault("the archive cannot be read", error)


def _zip_members(path: str, file: IO[bytes], fitting: str, limit: int) -> Iterator[SourcedRow]:
    with zipfile.ZipFile(file) as archive:
        for info in archive.infolist():
            if info.is_dir() or not _fits(info.filename, fitting):
                continue
            doc_id = f"{path}!{info.filename}"
            try:
                with archive.open(info) as member:
                    yield _row(doc_id, member, limit)
            except _BROKEN as error:
                yield doc_id, None, None, _fault("the member cannot be read", error)


def _tar_members(path: str, file: IO[bytes], fitting: str, limit: int) -> Iterator[SourcedRow]:
    with tarfile.open(fileobj=file, mode="r|*") as archive:
        for info in archive:
            if not info.isfile() or not _fits(info.name, fitting):
                continue
            member = archive.extractfile(info)
            assert member is not None
            yield _row(f"{path}!{info.name}", member, limit)
            archive.members = []  # type: ignore[attr-defined]  # else each is remembered


def _row(doc_id: str, member: IO[bytes], limit: int) -> SourcedRow:
    body = read_within(member, limit)
    if len(body) > limit:
        message = f"the document has more than {limit} bytes"
        return doc_id, None, None, error_row(DocumentError(message, code="too-large", offset=limit))
    return doc_id, body, None, None


def _fits(member: str, fitting: str) -> bool:
    return fnmatch(member, fitting) or fnmatch(PurePosixPath(member).name, fitting)


def _fault(message: str, error: Exception) -> Any:
    return placeless(f"{message}: {str(error) or type(error).__name__}", code="archive")


def _expand(batches: Iterator[pa.RecordBatch], *, fitting: str, limit: int) -> Iterator[pa.RecordBatch]:
    """The stage, in a worker."""
    for batch in batches:
        for path in batch.column("path").to_pylist():
            yield from batched(members(path, fitting, limit))
