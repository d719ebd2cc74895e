"""The source that a pipeline file describes."""

from __future__ import annotations

from twigcast.spark.pipeline import Pipeline, SourceSection, is_file_format
from twigcast.spark.sources.document_source import DocumentSource
from twigcast.spark.sources.listing.place_stream import UNLIMITED_FILE_AGE
from twigcast.spark.sources.reading import source_of
from twigcast.spark.sources.tables import CATALOGUE

MICRO_BATCH_BYTES = str(512 << 20)
_FORMATS = {"directory": "binaryFile"} | {kind: kind for kind in ("archives", "records", "huge", "chunks")}


def pipeline_source(pipeline: Pipeline) -> DocumentSource:
    """The source of a pipeline; the micro-batches of a stream have a bounded size."""
    section = pipeline.source
    options = dict(section.options)
    is_folder = section.kind == "fragments" and not (section.format or section.table)
    if section.kind == "huge":
        sizes = {"fragmentBytes": str(section.fragment_bytes), "maxDepth": str(pipeline.limits.depth)}
        options = {**sizes, "links": section.links, **options}
    elif section.kind == "chunks":
        options = {"links": section.links, **options}
    elif section.kind in _FORMATS or is_folder:
        options = {"maxBytes": str(pipeline.limits.bytes), "links": section.links, **options}
    if section.kind in ("archives", "records", "chunks"):
        options = {"maxArchiveBytes": str(pipeline.archives.bytes), **options}
    if section.kind == "archives":
        limits = {"maxMembers": pipeline.archives.members, "maxHeaderBytes": pipeline.archives.header_bytes}
        options = {**{name: str(limit) for name, limit in limits.items()}, **options}
    if section.record:
        options = {"maxDepth": str(pipeline.limits.depth), **options, "record": section.record}
    return source_of(
        section.table or section.path,
        format=_format(section, is_folder=is_folder),
        doc_id=section.doc_id,
        body=section.body,
        options=options,
        stream_options=_batch_bounds(section),
    )


def _format(section: SourceSection, *, is_folder: bool) -> str:
    if section.table:
        return CATALOGUE
    if is_folder:
        return "fragments"
    return _FORMATS.get(section.kind) or section.format or "parquet"


def _batch_bounds(section: SourceSection) -> dict[str, str]:
    """The options that bound a micro-batch; options of the pipeline file take precedence.

    Without a maximum age for files, Spark would ignore a file that is a week older than the newest, such as
    one that was moved in from elsewhere.
    """
    is_table = section.kind in ("format", "fragments") and section.format is not None
    if is_table and not is_file_format(str(section.format)):
        return {"maxOffsetsPerTrigger": str(section.max_per_batch)} if section.format == "kafka" else {}
    bounds = {"maxFileAge": UNLIMITED_FILE_AGE}
    if not {"maxFilesPerTrigger", "maxBytesPerTrigger"} & set(section.options):
        if section.kind == "directory" or (section.kind == "fragments" and not section.format):
            bounds["maxFilesPerTrigger"] = str(section.max_per_batch)
        else:  # files of many documents
            bounds["maxBytesPerTrigger"] = MICRO_BATCH_BYTES
    return bounds
