"""The pipeline file: where documents come from, who wants them, where deliveries go.

    work = "work"                        # checkpoint, journal and index versions

    [source]                             # documents
    kind = "directory"
    path = "feed"

    [subscriptions]
    path = "subscriptions.db"

    [[sink]]                             # deliveries, any number of times
    kind = "files"
    path = "out/subscribers"

Every key has a default, so that an empty file is a pipeline: it reads ``feed``, asks ``subscriptions.db``,
and writes Parquet below ``out``.  A relative path is relative to the folder of the file, whatever the current
folder; a path with a scheme (``s3a://…``) is left to Spark.

Nothing here imports Spark: a file is checked before a session is started for it.
"""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PositiveFloat,
    PositiveInt,
    ValidationError,
    ValidationInfo,
    model_validator,
)
from pydantic_core import ErrorDetails, PydanticCustomError

from twigcast.document import DocumentLimits
from twigcast.errors import PipelineError

SourceKind = Literal["directory", "archives", "records", "table", "format"]
SinkKind = Literal["format", "files", "jsonl", "callable"]


def _resolved(path: str, info: ValidationInfo) -> str:
    if not path:
        raise PydanticCustomError("path", "expected a path, got an empty string")
    if "://" in path:
        return path
    folder = Path((info.context or {}).get("folder", ""))
    return str(folder / Path(path).expanduser())


def _local(path: str) -> str:
    if "://" in path:
        raise PydanticCustomError("path", "expected a folder or file of this machine or a mounted one")
    return path


def _as_text(value: object) -> object:
    """An option as Spark takes it: text; TOML has booleans and numbers too."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else value


Place = Annotated[str, AfterValidator(_resolved)]  # a path, or a URL that Spark knows
LocalPlace = Annotated[Place, AfterValidator(_local)]
Options = dict[str, Annotated[str, BeforeValidator(_as_text)]]


class _Table(BaseModel):
    """A table of the file: immutable, strict about types, and without unknown keys."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", validate_default=True)


class Source(_Table):
    """Where documents come from.

    ``directory`` has one document in each file, ``archives`` many in each ``.zip``, ``.tar.gz`` or ``.gz``,
    ``records`` many in each file, one for each element ``record``; ``table`` is a Parquet folder (or ``format``)
    with the columns ``doc_id`` and ``body``; ``format`` is any format of Spark with its options.
    """

    kind: SourceKind = "directory"
    path: Place | None = None
    format: str | None = None
    options: Options = Field(default_factory=dict)
    record: str | None = None
    doc_id: str = "doc_id"
    body: str = "body"
    max_per_batch: PositiveInt = 10_000

    @model_validator(mode="before")
    @classmethod
    def _with_defaults(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        defaults: dict[str, str] = {} if value.get("kind") == "format" else {"path": "feed"}
        if value.get("kind") == "table":
            defaults["format"] = "parquet"
        return defaults | value

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.kind == "records" and not self.record:
            raise _missing("record", 'the name of the element that is one document, since kind is "records"')
        if self.kind == "format" and not self.format:
            raise _missing("format", 'a format of Spark such as "kafka", since kind is "format"')
        return self


class Subscriptions(_Table):
    """Who wants what: a subscription table (SQLite) at ``path``, or any table that Spark reads by ``format``.

    ``shards`` divides them over several indexes where one would outgrow a worker.
    ``ship`` says how an index reaches the workers: by its ``path`` in a folder they share, or as ``files``.
    """

    path: LocalPlace = "subscriptions.db"
    format: str | None = None
    options: Options = Field(default_factory=dict)
    shards: PositiveInt = 1
    ship: Literal["path", "files"] = "path"


class Sink(_Table):
    """Where deliveries go.

    ``format`` writes Parquet (or ``format``), ``files`` one file for each delivery in a folder for each
    subscriber, ``jsonl`` one file of lines for each batch, ``callable`` calls ``function`` with Arrow tables.
    """

    kind: SinkKind = "format"
    path: Place | None = None
    format: str = "parquet"
    options: Options = Field(default_factory=dict)
    function: str | None = None

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.kind == "callable":
            if not self.function or not re.fullmatch(r"[\w.]+:[\w.]+", self.function):
                raise _missing("function", '"module:function", since kind is "callable"')
        elif not self.path:
            raise _missing("path", "the folder to write to")
        if self.kind in ("files", "jsonl") and self.path and "://" in self.path:
            raise _missing("path", f'a folder of this machine or a mounted one, since kind is "{self.kind}"')
        return self


class DeadLetters(_Table):
    """Where documents go that cannot be read, with the reason and its place."""

    path: Place = "out/dead-letters"


class Metrics(_Table):
    """Where the figures of each batch go."""

    path: Place = "out/metrics"


class Work(_Table):
    """What the pipeline keeps to go on after a stop: one folder, unless its parts are named.

    It belongs to one pipeline; the workers must see ``versions`` too, unless the index is shipped as files.
    """

    path: LocalPlace = "work"
    checkpoint: Place | None = None
    journal: LocalPlace | None = None
    versions: LocalPlace | None = None

    @model_validator(mode="before")
    @classmethod
    def _from_path(cls, value: Any) -> Any:
        table = {"path": value} if isinstance(value, str) else value
        if isinstance(table, dict) and isinstance(path := table.get("path", "work"), str) and "://" not in path:
            parts = {part: os.path.join(path, part) for part in ("checkpoint", "journal", "versions")}
            return parts | table
        return table

    @property
    def checkpoint_folder(self) -> str:
        """Where Spark keeps the offsets of the batches."""
        return self.checkpoint or os.path.join(self.path, "checkpoint")

    @property
    def journal_folder(self) -> Path:
        """Where it is written which index version a batch used."""
        return Path(self.journal or os.path.join(self.path, "journal"))

    @property
    def versions_folder(self) -> Path:
        """Where index versions are written, each in a folder of its name."""
        return Path(self.versions or os.path.join(self.path, "versions"))


class Stream(_Table):
    """How a stream goes: the least time from one batch to the next."""

    interval_seconds: PositiveFloat = 1.0


class Spark(_Table):
    """The session: a master (else that of ``spark-submit``, else this machine) and settings of Spark."""

    master: str | None = None
    conf: Options = Field(default_factory=dict)


def _as_limits(value: object) -> object:
    return value.model_dump() if isinstance(value, _Limits) else value


class _Limits(_Table):
    """What is too large for one document, as ``DocumentLimits`` has it."""

    bytes: PositiveInt = DocumentLimits().bytes
    depth: PositiveInt = DocumentLimits().depth
    attributes: PositiveInt = DocumentLimits().attributes
    amplification: PositiveFloat = DocumentLimits().amplification
    amplification_threshold: PositiveInt = DocumentLimits().amplification_threshold


def _document_limits(value: Any, info: ValidationInfo) -> DocumentLimits:
    if isinstance(value, DocumentLimits):
        return value
    return DocumentLimits(**_Limits.model_validate(value, context=info.context).model_dump())


def _as_sinks(value: Any) -> Any:
    """One ``[sink]`` or many ``[[sink]]``."""
    return tuple(value) if isinstance(value, list) else (value,) if isinstance(value, dict | Sink) else value


class Pipeline(_Table):
    """A pipeline from documents to deliveries, as its file describes it."""

    source: Source = Field(default_factory=dict, validate_default=True)  # type: ignore[arg-type]
    subscriptions: Subscriptions = Field(default_factory=dict, validate_default=True)  # type: ignore[arg-type]
    sink: Annotated[tuple[Sink, ...], BeforeValidator(_as_sinks), Field(min_length=1)] = Field(
        default_factory=lambda: ({"path": "out/deliveries"},),  # type: ignore[arg-type]
        validate_default=True,
    )
    dead_letters: DeadLetters = Field(default_factory=dict, validate_default=True)  # type: ignore[arg-type]
    metrics: Metrics = Field(default_factory=dict, validate_default=True)  # type: ignore[arg-type]
    work: Work = Field(default_factory=dict, validate_default=True)  # type: ignore[arg-type]
    stream: Stream = Field(default_factory=dict, validate_default=True)  # type: ignore[arg-type]
    spark: Spark = Field(default_factory=dict, validate_default=True)  # type: ignore[arg-type]
    limits: DocumentLimits = DocumentLimits()

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Pipeline:
        """The pipeline of a file; raises ``PipelineError`` with the keys that are wrong and what was expected."""
        file = Path(path)
        try:
            text = file.read_text(encoding="utf-8")
        except FileNotFoundError:
            raise PipelineError("there is no such file", path=str(path)) from None
        except OSError as error:
            raise PipelineError(f"cannot be read: {error.strerror}", path=str(path)) from None
        except UnicodeDecodeError as error:
            raise PipelineError(f"not UTF-8 at byte {error.start + 1}", path=str(path)) from None
        try:
            table = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise PipelineError(f"not TOML: {error}", path=str(path)) from None
        return cls.of(table, folder=file.absolute().parent, path=str(path))

    @classmethod
    def of(cls, table: Mapping[str, Any], *, folder: Path | None = None, path: str = "") -> Pipeline:
        """The pipeline of a table as ``tomllib`` gives it; relative paths are relative to ``folder``."""
        context = {"folder": str(folder)} if folder else None
        try:
            return cls.model_validate(dict(table), context=context)
        except ValidationError as error:
            problems = tuple(_problem(details) for details in error.errors(include_url=False))
            raise PipelineError(_sentence(problems), path=path, key=problems[0][0]) from None
