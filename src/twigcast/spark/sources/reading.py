"""Reads documents from every kind of source.

    binaryFile   a folder of XML files, one document each                  doc_id: the path
    archives     a folder of archives, one document for each member        doc_id: path!member
    records      a folder of files with many records each                  doc_id: path#offset
    fragments    a folder of ``.tcf`` files, fragments of documents        doc_id: the path
    huge         a folder of files, one document each, cut into fragments  doc_id: the path
    table        a table of the catalogue                                  doc_id: a column
    parquet …    any format of Spark, with its options                     doc_id: a column

All of them give ``doc_id`` and ``body``; fragments and huge files are for ``match_fragments``.
A document that a source could not read is a row with an ``error``, which ends in the dead letters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import cast, get_args

from pyspark.sql import SparkSession

from twigcast.document import RECORD_LIMIT, DocumentLimits
from twigcast.errors import StageError
from twigcast.fragmenting import SUFFIX
from twigcast.spark.jvm.workers import prepare_workers
from twigcast.spark.sources.archive_limits import ArchiveLimits
from twigcast.spark.sources.archives import ArchivesSource, Unpacking
from twigcast.spark.sources.document_source import DocumentSource
from twigcast.spark.sources.documents import Documents
from twigcast.spark.sources.listing.file_listing import FileListing
from twigcast.spark.sources.records import PIECE_BYTES, RecordCut, RecordsSource
from twigcast.spark.sources.tables import CATALOGUE, TableSource
from twigcast.spark.sources.whole_files import FilesSource
from twigcast.system import Links


def read(
    spark: SparkSession,
    source: str | None = None,
    *,
    format: str = "binaryFile",
    doc_id: str | None = None,
    body: str | None = None,
    options: Mapping[str, str] | None = None,
    streaming: bool = False,
) -> Documents:
    """The documents of a source, as a batch or as a stream; its other columns stay beside them.

    The result can be used like a DataFrame.  ``doc_id`` and ``body`` name the columns of a table.  Without
    them, the body is its column ``body``, ``value`` or ``content``, or the only one that is binary or text,
    and the id is its column ``doc_id``, else topic, partition and offset of Kafka, else the hash of the body.
    ``options`` go to Spark, except ``maxBytes`` and ``links`` of files, archives and records,
    ``memberGlobFilter``, ``maxMembers``, ``maxArchiveBytes`` and ``maxHeaderBytes`` of archives, and
    ``record``, ``pieceBytes``, ``maxArchiveBytes`` and ``maxDepth`` of records, and ``fragmentBytes`` and
    ``maxDepth`` of huge files.
    Files of a folder are documents if their names end in ``.xml`` or ``.xml.gz``; the option
    ``pathGlobFilter``, and a path that is a glob pattern, take files of any names.
    A stream does not contain empty files, because Spark leaves them out; ``run`` and ``stream`` add them.
    Raises ``StageError``, with the code ``no-stream`` for a source that can only be read as a batch.
    """
    prepare_workers(spark)
    found = source_of(source, format=format, doc_id=doc_id, body=body, options=options)
    return found.open(found.list(spark, streaming=streaming))


def source_of(
    path: str | None,
    *,
    format: str,
    doc_id: str | None = None,
    body: str | None = None,
    options: Mapping[str, str] | None = None,
    stream_options: Mapping[str, str] | None = None,
) -> DocumentSource:
    """The source of a format; raises ``StageError`` if an option is missing, or is not a number."""
    given = {name: str(value) for name, value in (options or {}).items()}
    for_streams = dict(stream_options or {})
    if not path and format in (*_OWN_OPTIONS, CATALOGUE):
        raise StageError(f"{format} needs a source: a path, or the name of a table", code="options")
    own = {name: given[name] for name in _OWN_OPTIONS.get(format, ()) if name in given}
    links = own.get("links", "skip")
    if links not in get_args(Links):
        message = f"the option links must be one of {', '.join(get_args(Links))}, got {links!r}"
        raise StageError(message, code="options")
    files = FileListing(
        path or "",
        {name: value for name, value in given.items() if name not in own},
        for_streams,
        cast(Links, links),
        documents=format in ("binaryFile", "huge"),
    )
    if format == "huge":
        from twigcast.spark.fragments.huge_files import FRAGMENT_BYTES, HugeFilesSource

        depth = _number(own, "maxDepth", DocumentLimits().depth)
        return HugeFilesSource(files, _number(own, "fragmentBytes", FRAGMENT_BYTES), depth)
    if format == "chunks":
        from twigcast.spark.chunking.chunk_files import ChunkFilesSource

        return ChunkFilesSource(files, _number(own, "maxArchiveBytes", ArchiveLimits().bytes))
    if format == "fragments":
        files = replace(files, options={"pathGlobFilter": f"*{SUFFIX}", **files.options})
    if format in ("binaryFile", "fragments"):
        return FilesSource(files, _number(own, "maxBytes", DocumentLimits().bytes))
    if format == "archives":
        usual = ArchiveLimits()
        limits = ArchiveLimits(
            _number(own, "maxMembers", usual.members),
            _number(own, "maxArchiveBytes", usual.bytes),
            _number(own, "maxHeaderBytes", usual.header_bytes),
        )
        most = _number(own, "maxBytes", DocumentLimits().bytes)
        return ArchivesSource(files, Unpacking(own.get("memberGlobFilter", "*"), most, limits))
    if format == "records":
        if not own.get("record"):
            message = 'records need the option "record": the name of the element that is one document'
            raise StageError(message, code="options")
        limit, piece = _number(own, "maxBytes", RECORD_LIMIT), _number(own, "pieceBytes", PIECE_BYTES)
        unpacked = _number(own, "maxArchiveBytes", ArchiveLimits().bytes)
        depth = _number(own, "maxDepth", DocumentLimits().depth)
        return RecordsSource(files, RecordCut(own["record"], limit, piece, unpacked, depth))
    return TableSource(format, path, doc_id, body, given, for_streams)


_OWN_OPTIONS = {
    "fragments": ("maxBytes", "links"),
    "huge": ("links", "fragmentBytes", "maxDepth"),
    "chunks": ("links", "maxArchiveBytes"),
    "binaryFile": ("maxBytes", "links"),
    "archives": ("maxBytes", "links", "memberGlobFilter", "maxMembers", "maxArchiveBytes", "maxHeaderBytes"),
    "records": ("maxBytes", "links", "record", "pieceBytes", "maxArchiveBytes", "maxDepth"),
}


def _number(options: Mapping[str, str], name: str, default: int) -> int:
    text = options.get(name)
    if text is None:
        return default
    if not text.strip().isdecimal() or int(text) < 1:
        raise StageError(f"the option {name} must be a positive number, got {text!r}", code="options")
    return int(text)
