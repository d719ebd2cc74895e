"""Files of any size, one document each, that are cut while they are read.

    files ──► plan: one task scans a file ──► spans, spread over the cores ──► read a range, evaluate

A file is read twice: once to find where it can be cut, a fraction of the time of matching, and once
in ranges on all cores.  A worker holds one span at a time, whatever the size of the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from twigcast.document import DocumentLimits
from twigcast.errors import DocumentError, StageError
from twigcast.fragmenting import (
    Cutter,
    Fragment,
    Header,
    Opening,
    Spans,
    decode_cut_header,
    encode_cut_header,
    opening_of,
)
from twigcast.spark.columns import (
    ARROW_ERROR,
    ERRORS,
    ErrorRow,
    error_row,
    error_without_position,
    internal_error,
)
from twigcast.spark.fragments.fragment_columns import in_batches
from twigcast.spark.jvm.filesystem import is_readable_by_workers
from twigcast.spark.sources.documents import Documents, WorkerReading
from twigcast.spark.sources.file_access import UNREADABLE, is_compressed, open_file, refused
from twigcast.spark.sources.listing.file_listing import FileListing
from twigcast.spark.sources.listing.place_stream import PlaceStream
from twigcast.spark.sources.listing.places import FilePlaces, PastFiles, Place, listed_here
from twigcast.system import Links

FRAGMENT_BYTES = 4 << 20
_READ_BYTES = 1 << 20


class CutFiles(Documents):
    """The fragments of files that are cut on the fly; ``links`` says which links are followed."""

    def __init__(self, reading: WorkerReading, links: Links) -> None:
        error = ERRORS.dataType.simpleString()
        rows = f"doc_id string, number int, header binary, opening binary, body binary, error {error}"
        super().__init__(reading.places.mapInArrow(reading.stage, rows), lambda: reading)
        self.links = links


@dataclass(frozen=True, slots=True)
class HugeFilesSource:
    """Files that are one document each, cut into spans of about ``fragment_bytes``."""

    files: FileListing
    fragment_bytes: int = FRAGMENT_BYTES
    depth: int = DocumentLimits().depth

    def list(self, spark: SparkSession, *, streaming: bool) -> FilePlaces:
        """The paths of the files; raises ``StageError`` if workers cannot open them."""
        check_readable(spark, self.files.path)
        return self.files.places(spark, streaming=streaming)

    def stream(self, spark: SparkSession, work: Path) -> PlaceStream:
        """The paths of the files, as a stream."""
        check_readable(spark, self.files.path)
        return self.files.stream(spark, work)

    def past(self, spark: SparkSession, work: Path, checkpoint: str) -> PastFiles:
        """The files that each batch of a stream has had."""
        return self.files.past(spark, work, checkpoint)

    def at(self, spark: SparkSession, places: Sequence[Place]) -> FilePlaces:
        """These files."""
        return listed_here(spark, places)

    def open(self, places: FilePlaces) -> Documents:
        """The fragments of all files: ``doc_id`` is the path."""
        links = self.files.links
        plan = partial(_plan, fragment_bytes=self.fragment_bytes, depth=self.depth, links=links)
        planning = places.reading(plan)
        spans = planning.places.mapInArrow(planning.stage, _SPANS)
        spread = spans.repartition(2 * spans.sparkSession.sparkContext.defaultParallelism)
        return CutFiles(WorkerReading(spread, partial(_read, links=links)), links)


def check_readable(spark: SparkSession, path: str) -> None:
    """Raise ``StageError`` if workers cannot open the files at a path themselves."""
    remote = "://" in path and not path.startswith("file:")
    if not remote and not is_readable_by_workers(spark, path):
        raise StageError(
            f"{path}: workers read huge files by their paths: expected a URL that they can"
            ' open, such as "s3a://…", or a master on this machine',
            code="options",
        )


_SPANS = (
    "path string, number int, place long, header binary, opening binary,"
    f" error {ERRORS.dataType.simpleString()}"
)
_ARROW_SPANS = pa.schema(
    [
        ("path", pa.string()),
        ("number", pa.int32()),
        ("place", pa.int64()),
        ("header", pa.binary()),
        ("opening", pa.binary()),
        ("error", ARROW_ERROR),
    ]
)
_ARROW_ROWS = pa.schema(
    [
        ("doc_id", pa.string()),
        ("number", pa.int32()),
        ("header", pa.binary()),
        ("opening", pa.binary()),
        ("body", pa.binary()),
        ("error", ARROW_ERROR),
    ]
)


def _plan(
    batches: Iterator[pa.RecordBatch], *, fragment_bytes: int, depth: int, links: Links
) -> Iterator[pa.RecordBatch]:
    """The spans of files, without their bytes; a file that cannot be read is an error."""
    for batch in batches:
        for path, refusal in zip(
            *(batch.column(name).to_pylist() for name in ("path", "refusal")), strict=True
        ):
            if refusal is not None:
                rows: Iterator[dict[str, Any]] = iter([{"number": 1, "error": refused(refusal)}])
            else:
                rows = _spans(path, fragment_bytes, depth, links)
            yield from in_batches(({"path": path, **row} for row in rows), _ARROW_SPANS)


def _spans(path: str, fragment_bytes: int, depth: int, links: Links) -> Iterator[dict[str, Any]]:
    number = 0
    limits = replace(DocumentLimits(), depth=depth)
    if is_compressed(path):
        message = 'a compressed file cannot be read in ranges: unpack it, or read it as "archives"'
        yield {"number": 1, "error": error_without_position(message, code="archive")}
        return
    cutter = Cutter(Spans(bytes=fragment_bytes), doc_id=path, header="prefix+level", limits=limits)
    opening: Opening | None = None
    try:
        with open_file(path, links=links) as file:
            for fragment in _cut(cutter, file):
                number = fragment.number
                opening = opening or opening_of(fragment)
                yield _span(fragment.header, opening)
    except DocumentError as error:
        yield {"number": number + 1, "error": error_row(error)}
    except UNREADABLE as error:
        yield {"number": number + 1, "error": _unreadable(error)}
    except Exception as error:  # one file never stops the others
        yield {"number": number + 1, "error": internal_error(error)}


def _cut(cutter: Cutter, file: Any) -> Iterator[Fragment]:
    while data := file.read(_READ_BYTES):
        yield from cutter.feed(data)
    yield from cutter.finish()


def _span(header: Header, opening: Opening) -> dict[str, Any]:
    """The place of a span and its header; with a long opening in full, so that no span waits for another."""
    waits = header.opening.text is None and not header.starts_document
    return {
        "number": header.number,
        "place": header.runs[0].place,
        "header": encode_cut_header(header),
        "opening": opening.text if waits else None,
        "error": None,
    }


def _read(batches: Iterator[pa.RecordBatch], *, links: Links) -> Iterator[pa.RecordBatch]:
    """The bytes of spans, one at a time."""
    for batch in batches:
        for row in batch.to_pylist():
            made = {name: row[name] for name in ("number", "header", "opening", "error")}
            made["doc_id"] = row["path"]
            if row["error"] is None:
                size = decode_cut_header(row["header"]).size
                try:
                    with open_file(row["path"], links=links) as file:
                        file.seek(row["place"])
                        made["body"] = file.read(size)
                    if len(made["body"]) != size:
                        raise OSError("it has changed while it was read")
                except UNREADABLE as error:
                    made |= {"body": None, "error": _unreadable(error)}
            yield pa.RecordBatch.from_pylist([made], schema=_ARROW_ROWS)


def _unreadable(error: Exception) -> ErrorRow:
    reason = getattr(error, "strerror", None) or str(error)
    return error_without_position(f"the file cannot be read: {reason}", code="unreadable")
