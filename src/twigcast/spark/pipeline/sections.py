"""The sections of a pipeline file, one class each; a network has a file of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, Field, PositiveInt, model_validator
from pydantic_core import PydanticCustomError

from twigcast.chunking import CHUNKS, SAMPLE_BYTES
from twigcast.config import ConfigSection, wrong
from twigcast.document import NO_LIMIT, PART_BYTES, DocumentLimits, PartForm
from twigcast.spark.jvm.session import MASTER_EXPECTED, is_master
from twigcast.spark.pipeline.values import (
    AnyPath,
    ByteCount,
    KernelCount,
    LocalPath,
    Name,
    Options,
    as_tuple,
)
from twigcast.spark.sources.archive_limits import ArchiveLimits

SourceKind = Literal["directory", "archives", "records", "table", "format", "fragments", "huge", "chunks"]
_FILE_FORMATS = frozenset({"parquet", "orc", "json", "csv", "text", "xml", "avro"})


def is_file_format(format: str) -> bool:
    """Whether a table of this Spark format is a folder of files.

    Such a table needs a path, and as a stream it needs a schema.
    """
    return format.lower() in _FILE_FORMATS


class SourceSection(ConfigSection):
    """Where documents come from.

    The ``kind`` says what a document is.  ``directory``: each file.  ``archives``: each member of a ``.zip``,
    ``.tar.gz`` or ``.gz``.  ``records``: each element ``record`` of each file.  ``table``: each row of a
    Parquet folder, of a folder in another ``format``, or of the ``table`` of the catalogue; its columns are
    ``doc_id`` and ``body``.  ``format``: each row of any format of Spark with its options.
    ``fragments``: what fragments make together, from a folder of ``.tcf`` files or from a table of any
    ``format``.  ``huge``: each file, of any size, cut into fragments of ``fragment_bytes``.
    ``chunks``: each part of each file, of any size, cut by what the subscriptions ask for into at most
    ``chunks`` chunks and parts of about ``part_bytes``, planned from a ``schema`` (a DTD or XSD) or from the
    first ``sample_bytes`` of a file.
    ``early`` tells subscribers about a document as soon as they match for certain.  Without ``checked``,
    fragments whose headers show that they make no difference are not parsed.  A document for which
    ``max_age`` batches bring no fragment is given up, and so is the oldest one if there are more than
    ``max_open``.
    ``links`` says which links in a local folder are followed: none, those to something in the folder, or all.
    ``annotations`` names the column with what another pipeline says about the documents.
    """

    kind: SourceKind = "directory"
    path: AnyPath | None = None
    format: Name | None = None
    table: Name | None = None
    options: Options = Field(default_factory=dict)
    record: Name | None = None
    links: Literal["skip", "inside", "follow"] = "skip"
    doc_id: Name = "doc_id"
    body: Name = "body"
    annotations: Name | None = None
    max_per_batch: PositiveInt = 10_000
    fragment_bytes: ByteCount = 4 << 20
    schema_path: LocalPath | None = Field(default=None, alias="schema")
    sample_bytes: ByteCount = SAMPLE_BYTES
    chunks: PositiveInt = CHUNKS
    part_bytes: ByteCount = PART_BYTES
    early: bool = False
    checked: bool = True
    max_age: PositiveInt = 1000
    max_open: PositiveInt = 10_000

    @property
    def has_fragments(self) -> bool:
        """Whether documents are matched in fragments."""
        return self.kind in ("fragments", "huge")

    @property
    def read_whole(self) -> str | None:
        """The folder if all its files are documents; none if a glob pattern or an option selects files."""
        chosen = any(option.lower() == "pathglobfilter" for option in self.options)
        return None if chosen or set("*?[{") & set(self.path or "") else self.path

    @model_validator(mode="before")
    @classmethod
    def _with_defaults(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        if value.get("kind") == "format" or value.get("table"):
            return value
        formats = {"format": "parquet"} if value.get("kind") == "table" else {}
        return {"path": "feed", **formats} | value

    @model_validator(mode="after")
    def _complete(self) -> Self:
        columns = ("table", "format")
        files = ("directory", "archives", "records", "fragments", "huge", "chunks")
        kinds = {"record": ("records",), "links": files, "annotations": columns}
        kinds |= {"format": (*columns, "fragments"), "table": ("table", "fragments")}
        kinds |= dict.fromkeys(("doc_id", "body"), (*columns, "fragments"))
        kinds |= {"fragment_bytes": ("huge",), "checked": ("fragments", "huge")}
        kinds |= dict.fromkeys(("schema_path", "sample_bytes", "chunks", "part_bytes"), ("chunks",))
        kinds |= dict.fromkeys(("early", "max_age", "max_open"), ("fragments",))
        refuse_keys_of_other_kinds(self, self.kind, kinds)
        if self.kind == "records" and not self.record:
            raise wrong(
                "record", 'expected the name of the element that is one document, since kind is "records"'
            )
        if self.schema_path is not None and "sample_bytes" in self.model_fields_set:
            raise wrong("sample_bytes", "expected either schema, or sample_bytes")
        if self.kind == "format" and not self.format:
            raise wrong("format", 'expected a format of Spark such as "kafka", since kind is "format"')
        if self.table and (self.path or self.format):
            raise wrong("table", "expected either table, or path and format")
        return self


class SubscriptionsSection(ConfigSection):
    """The subscriptions: a subscription store (SQLite) at ``path``, or any table that Spark reads.

    ``shards`` divides the subscriptions over several indexes if one would be too large for a worker.
    ``ship`` says how an index reaches the workers: by its ``path`` in a shared folder, or as ``files``.
    """

    path: LocalPath = Path("subscriptions.db")
    format: Name | None = None
    options: Options = Field(default_factory=dict)
    shards: PositiveInt = 1
    ship: Literal["path", "files"] = "path"

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if self.format and "path" in self.model_fields_set:
            raise wrong("path", "expected either path, or format with its options")
        if self.options and not self.format:
            raise wrong("options", "expected a format to which the options belong")
        return self


class MatchSection(ConfigSection):
    """How documents are matched: ``structure`` names a column with structures, which saves most parsing."""

    structure: Name | None = None


class DeliveriesSection(ConfigSection):
    """What a delivery contains.

    ``content`` is ``inline`` if it contains the document, or ``reference`` if only ``doc_id`` says which one
    it is; by default references for the kind ``huge``, else inline.  Parts are always inline:
    ``parts`` is ``document`` if a part is a document of its own, with the namespaces that it uses, or
    ``range`` if it is the bare range of bytes.
    ``columns`` are columns of the source that deliveries carry.  ``copies`` is ``subscription`` if a
    subscriber receives a document once for each of its subscriptions that match, or ``subscriber`` if it
    receives one copy.
    """

    columns: Annotated[tuple[Name, ...], BeforeValidator(as_tuple)] = ()
    copies: Literal["subscription", "subscriber"] = "subscription"
    parts: PartForm = "document"
    content: Literal["inline", "reference"] | None = None


class DeadLettersSection(ConfigSection):
    """Where documents that cannot be read are written, with code, line and column of the error."""

    path: AnyPath = "out/dead-letters"


class MetricsSection(ConfigSection):
    """Where the metrics of each batch are written."""

    path: AnyPath = "out/metrics"


class WorkSection(ConfigSection):
    """The state that a pipeline needs to continue after a stop: one folder, or a path for each of its parts.

    It belongs to one pipeline.  Workers must be able to read ``versions``, unless the index is shipped as
    files.
    """

    path: LocalPath = Path("work")
    checkpoint: AnyPath = ""
    journal: LocalPath = Path()
    versions: LocalPath = Path()

    @model_validator(mode="before")
    @classmethod
    def _with_parts(cls, value: Any) -> Any:
        section = {"path": value} if isinstance(value, str | Path) else value
        if isinstance(section, WorkSection):
            return section
        if not isinstance(section, dict):
            raise PydanticCustomError("path", "expected a table or a path")
        path = section.get("path", "work")
        if not isinstance(path, str | Path):
            path = "work"  # the validation of the field itself reports what is wrong with the path
        return {part: str(Path(path, part)) for part in ("checkpoint", "journal", "versions")} | section


class StreamSection(ConfigSection):
    """The trigger of a stream: the least time between the starts of two batches."""

    interval_seconds: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.0


class SparkSection(ConfigSection):
    """The Spark session: a master (by default that of ``spark-submit``, else this machine) and settings."""

    master: str | None = None
    conf: Options = Field(default_factory=dict)

    @model_validator(mode="after")
    def _known_master(self) -> Self:
        for key, master in (("master", self.master), ("conf", self.conf.get("spark.master"))):
            if master is not None and not is_master(master):
                raise wrong(key, f"{MASTER_EXPECTED} as the master of Spark, got {master!r}")
        return self


class LimitsSection(ConfigSection):
    """The limits beyond which a document is a dead letter: the fields of ``DocumentLimits``."""

    bytes: ByteCount = DocumentLimits().bytes
    depth: KernelCount = DocumentLimits().depth
    attributes: KernelCount = DocumentLimits().attributes
    amplification: Annotated[float, Field(ge=1, le=NO_LIMIT, allow_inf_nan=False)] = (
        DocumentLimits().amplification
    )
    amplification_threshold: ByteCount = DocumentLimits().amplification_threshold
    entity_depth: KernelCount = DocumentLimits().entity_depth
    work: Annotated[float, Field(gt=0, le=1 << 32, allow_inf_nan=False)] = DocumentLimits().work
    work_threshold: ByteCount = DocumentLimits().work_threshold
    matching_work: Annotated[float, Field(gt=0, le=1 << 32, allow_inf_nan=False)] = (
        DocumentLimits().matching_work
    )
    matching_work_threshold: ByteCount = DocumentLimits().matching_work_threshold
    part_amplification: Annotated[float, Field(ge=1, le=NO_LIMIT, allow_inf_nan=False)] = (
        DocumentLimits().part_amplification
    )
    part_threshold: ByteCount = DocumentLimits().part_threshold


class ArchivesSection(ConfigSection):
    """The limits beyond which an archive is a dead letter: the fields of ``ArchiveLimits``.

    ``bytes`` also bounds what a compressed file of records contains.
    """

    members: KernelCount = ArchiveLimits().members
    bytes: ByteCount = ArchiveLimits().bytes
    header_bytes: ByteCount = ArchiveLimits().header_bytes


def refuse_keys_of_other_kinds(section: BaseModel, kind: str, kinds: Mapping[str, Sequence[str]]) -> None:
    """Raise if a section has a key that only other kinds have and that would otherwise be ignored."""
    for key, owners in kinds.items():
        if key in section.model_fields_set and getattr(section, key) is not None and kind not in owners:
            named = " or ".join(f'"{each}"' for each in owners)
            raise wrong(key.removesuffix("_path"), f'expected only with kind {named}, not "{kind}"')
