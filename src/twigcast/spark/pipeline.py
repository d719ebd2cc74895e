"""The pipeline file: where documents come from, who wants them, where deliveries go.

    work = "work"                        # checkpoint, journal and index versions

    [source]                             # documents
    kind = "directory"
    path = "feed"

    [subscriptions]
    path = "subscriptions.db"

    [network]                            # routers between them, where there are any
    routers = ["north", "hub", "south"]
    links = [["north", "hub"], ["hub", "south"]]

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
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PositiveInt,
    ValidationError,
    ValidationInfo,
    model_validator,
)
from pydantic_core import ErrorDetails, PydanticCustomError

from twigcast.document import DocumentLimits
from twigcast.errors import PipelineError, RoutingError
from twigcast.spark.folder_conflicts import clash
from twigcast.spark.sources.formats import is_of_files

if TYPE_CHECKING:
    from twigcast.routing import Network, Strategy

SourceKind = Literal["directory", "archives", "records", "table", "format"]
SinkKind = Literal["format", "files", "jsonl", "callable"]


def _resolved(path: str, info: ValidationInfo) -> str:
    if not path:
        raise PydanticCustomError("path", "expected a path, got an empty string")
    if "://" in path:
        return path
    folder = (info.context or {}).get("folder") or Path.cwd()  # Java's own may be another
    return str(Path(folder, Path(path).expanduser()))


def _local(path: object, info: ValidationInfo) -> object:
    if isinstance(path, str) and "://" in path:
        raise PydanticCustomError(
            "path", "expected a path of this machine or a mounted one, without a scheme"
        )
    return Path(_resolved(str(path), info)) if isinstance(path, str | Path) else path


def _as_text(value: object) -> object:
    """An option as Spark takes it: text; TOML has booleans and numbers too."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else value


Place = Annotated[str, AfterValidator(_resolved)]  # a path, or a URL that Spark knows
LocalPlace = Annotated[Path, BeforeValidator(_local)]  # one that the driver opens itself
Name = Annotated[str, Field(min_length=1)]
Size = Annotated[int, Field(gt=0, le=1 << 62)]
Count = Annotated[int, Field(gt=0, le=1 << 31)]  # the kernel has 32 bits for it
Options = dict[str, Annotated[str, BeforeValidator(_as_text)]]


class _Table(BaseModel):
    """A table of the file: immutable, strict about types, and without unknown keys."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", validate_default=True)


class Source(_Table):
    """Where documents come from.

    ``directory`` has one document in each file, ``archives`` many in each ``.zip``, ``.tar.gz`` or ``.gz``,
    ``records`` many in each file, one for each element ``record``; ``table`` is a Parquet folder (or that of
    ``format``, or the ``table`` of that name in the catalogue) with the columns ``doc_id`` and ``body``;
    ``format`` is any format of Spark with its options.
    """

    kind: SourceKind = "directory"
    path: Place | None = None
    format: Name | None = None
    table: Name | None = None
    options: Options = Field(default_factory=dict)
    record: Name | None = None
    doc_id: Name = "doc_id"
    body: Name = "body"
    max_per_batch: PositiveInt = 10_000

    @property
    def read_whole(self) -> str | None:
        """The place of which every file is read, unless only those that a pattern or an option selects."""
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
        kinds = {"format": columns, "table": ("table",), "record": ("records",)}
        _refuse_keys_of_others(self, self.kind, kinds | {"doc_id": columns, "body": columns})
        if self.kind == "records" and not self.record:
            raise _wrong(
                "record", 'expected the name of the element that is one document, since kind is "records"'
            )
        if self.kind == "format" and not self.format:
            raise _wrong("format", 'expected a format of Spark such as "kafka", since kind is "format"')
        if self.table and (self.path or self.format):
            raise _wrong("table", "expected it without path and format")
        return self


class Subscriptions(_Table):
    """Who wants what: a subscription table (SQLite) at ``path``, or any table that Spark reads by ``format``.

    ``shards`` divides them over several indexes where one would outgrow a worker.
    ``ship`` says how an index reaches the workers: by its ``path`` in a folder they share, or as ``files``.
    """

    path: LocalPlace = Path("subscriptions.db")
    format: Name | None = None
    options: Options = Field(default_factory=dict)
    shards: PositiveInt = 1
    ship: Literal["path", "files"] = "path"

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if self.format and "path" in self.model_fields_set:
            raise _wrong("path", "expected it without format, for which options name the place")
        if self.options and not self.format:
            raise _wrong("options", "expected them with format")
        return self


class Sink(_Table):
    """Where deliveries go.

    ``format`` writes Parquet, or any other ``format`` of Spark, to its ``path`` or, where that has none, to
    what its options name; ``files`` one file for each delivery in a folder for each subscriber, ``jsonl`` one
    file of lines for each batch, ``callable`` calls ``function`` with Arrow tables.
    """

    kind: SinkKind = "format"
    path: Place | None = None
    format: Name = "parquet"
    options: Options = Field(default_factory=dict)
    function: str | None = None

    @model_validator(mode="after")
    def _complete(self) -> Self:
        kinds = {"format": ("format",), "options": ("format",), "function": ("callable",)}
        _refuse_keys_of_others(self, self.kind, kinds | {"path": ("format", "files", "jsonl")})
        if self.kind == "callable":
            if not self.function or not re.fullmatch(r"[\w.]+:[\w.]+", self.function):
                raise _wrong("function", 'expected "module:function", since kind is "callable"')
        elif not self.path and self.kind != "format":
            raise _wrong("path", f'expected the folder to write to, since kind is "{self.kind}"')
        elif not self.path and is_of_files(self.format):
            raise _wrong("path", f'expected the folder to write to, since format is "{self.format}"')
        if self.kind in ("files", "jsonl") and self.path and "://" in self.path:
            raise _wrong(
                "path", f'expected a folder of this machine or a mounted one, since kind is "{self.kind}"'
            )
        return self


class NetworkTable(_Table):
    """A network of routers that documents go through, from their publishers to their subscribers.

    ``publishers`` and ``subscribers`` say at which router each is; documents of others enter at ``entry``,
    and other subscribers are at ``home``, both the first router if not said.  A document's publisher is its
    column ``publisher``.  ``schema`` is the DTD or XSD that publishers advertise; a document outside of it is
    flooded, unless they are ``trusted`` to publish no such.
    """

    routers: Annotated[list[str], Field(min_length=1)]
    links: list[Annotated[list[str], Field(min_length=2, max_length=2)]] = Field(default_factory=list)
    strategy: str | None = None
    schema_path: LocalPlace | None = Field(default=None, alias="schema")
    root: str | None = None
    entry: str | None = None
    home: str | None = None
    publishers: dict[str, str] = Field(default_factory=dict)
    subscribers: dict[str, str] = Field(default_factory=dict)
    trusted: bool = False
    metrics: Place = "out/hops"

    @property
    def network(self) -> Network:
        """The routers and links, without clients."""
        from twigcast.routing import Network  # only files with a network need routers

        return Network(tuple(self.routers), tuple((one, other) for one, other in self.links))

    @property
    def entry_router(self) -> str:
        """Where documents enter whose publisher is not named."""
        return self.entry or self.routers[0]

    @property
    def home_router(self) -> str:
        """Where subscribers are who are not named."""
        return self.home or self.routers[0]

    @property
    def chosen_strategy(self) -> Strategy:
        """The strategy of that name; without one, advertisements where there is a schema, and covering."""
        from twigcast.routing import STRATEGIES

        return STRATEGIES[self.strategy or f"{'with' if self.schema_path else 'no'}-Adv-with-Cov"]

    @model_validator(mode="after")
    def _complete(self) -> Self:
        for end in (end for link in self.links for end in link):
            if end not in self.routers:
                raise _wrong("links", f"there is no router {end!r}: expected {', '.join(self.routers)}")
        try:
            known = set(self.network.routers)
        except RoutingError as error:
            key = "routers" if error.code == "duplicate-router" else "links"
            raise _wrong(key, error.message) from None
        from twigcast.routing import STRATEGIES

        if self.strategy is not None and self.strategy not in STRATEGIES:
            raise _wrong("strategy", f"expected one of {', '.join(STRATEGIES)}")
        chosen = self.chosen_strategy
        if self.schema_path is None and (chosen.advertising or chosen.merging is not None):
            raise _wrong("schema", f"expected a DTD or XSD, since strategy is {self.strategy!r}")
        named = {"entry": self.entry, "home": self.home}
        named |= {f"publishers.{name}": at for name, at in self.publishers.items()}
        named |= {f"subscribers.{name}": at for name, at in self.subscribers.items()}
        for key, router in named.items():
            if router is not None and router not in known:
                raise _wrong(key, f"expected one of the routers {', '.join(self.routers)}, got {router!r}")
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

    path: LocalPlace = Path("work")
    checkpoint: Place = ""
    journal: LocalPlace = Path()
    versions: LocalPlace = Path()

    @model_validator(mode="before")
    @classmethod
    def _with_parts(cls, value: Any) -> Any:
        table = {"path": value} if isinstance(value, str | Path) else value
        if isinstance(table, Work):
            return table
        if not isinstance(table, dict):
            raise PydanticCustomError("path", "expected a table or a path")
        path = table.get("path", "work")
        if not isinstance(path, str | Path):
            path = "work"  # whatever it is, the one complaint is about the path
        return {part: str(Path(path, part)) for part in ("checkpoint", "journal", "versions")} | table


class Stream(_Table):
    """How a stream goes: the least time from one batch to the next."""

    interval_seconds: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.0


class Spark(_Table):
    """The session: a master (else that of ``spark-submit``, else this machine) and settings of Spark."""

    master: str | None = None
    conf: Options = Field(default_factory=dict)


class Limits(_Table):
    """What is too large for one document: the bounds of ``DocumentLimits``, which it becomes."""

    bytes: Size = DocumentLimits().bytes
    depth: Count = DocumentLimits().depth
    attributes: Count = DocumentLimits().attributes
    amplification: Annotated[float, Field(ge=1, le=1 << 62, allow_inf_nan=False)] = (
        DocumentLimits().amplification
    )
    amplification_threshold: Size = DocumentLimits().amplification_threshold


def _limits_table(value: object) -> object:
    return asdict(value) if isinstance(value, DocumentLimits) else value


def _document_limits(limits: Limits) -> DocumentLimits:
    return DocumentLimits(**limits.model_dump())


if TYPE_CHECKING:
    LimitsTable = DocumentLimits
else:
    LimitsTable = Annotated[Limits, BeforeValidator(_limits_table), AfterValidator(_document_limits)]


def _as_sinks(value: Any) -> Any:
    """One ``[sink]`` or many ``[[sink]]``."""
    return tuple(value) if isinstance(value, list) else (value,) if isinstance(value, dict | Sink) else value


def _default(table: object) -> Any:
    """A field whose default is checked like what a file says, and so resolved against its folder."""
    return Field(default_factory=lambda: table, validate_default=True)


class Pipeline(_Table):
    """A pipeline from documents to deliveries, as its file describes it."""

    source: Source = _default({})
    subscriptions: Subscriptions = _default({})
    network: NetworkTable | None = None
    sink: Annotated[tuple[Sink, ...], BeforeValidator(_as_sinks), Field(min_length=1)] = _default(
        [{"path": "out/deliveries"}]
    )
    dead_letters: DeadLetters = _default({})
    metrics: Metrics = _default({})
    work: Work = _default({})
    stream: Stream = _default({})
    spark: Spark = _default({})
    limits: LimitsTable = _default({})

    @model_validator(mode="after")
    def _without_clashes(self) -> Self:
        """No output in the folder of another, of the source or of what the run keeps."""
        sinks = {f"sink[{number}].path": sink for number, sink in enumerate(self.sink)}
        outputs = [(key, sink.path) for key, sink in sinks.items() if sink.path]
        outputs += [("dead_letters.path", self.dead_letters.path), ("metrics.path", self.metrics.path)]
        if self.network is not None:
            outputs.append(("network.metrics", self.network.metrics))
            if self.subscriptions.shards > 1:
                raise _wrong("subscriptions.shards", "expected 1, since there is a network")
        kept = [(f"work.{part}", str(getattr(self.work, part))) for part in Work.model_fields]
        if not self.subscriptions.format:
            kept.append(("subscriptions.path", str(self.subscriptions.path)))
        roomy = [key for key, sink in sinks.items() if sink.kind == "jsonl"]
        if wrong := clash(outputs, kept, self.source.read_whole, roomy):
            raise _wrong(*wrong)
        return self

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Pipeline:
        """The pipeline of a file; raises ``PipelineError``: the keys that are wrong, what was expected."""
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
        """The pipeline of a table as ``tomllib`` gives it; relative paths begin at ``folder`` (here)."""
        context = {"folder": str(folder)} if folder else None
        try:
            return cls.model_validate(dict(table), context=context)
        except ValidationError as error:
            problems = tuple(_problem(details) for details in error.errors(include_url=False))
            raise PipelineError(_sentence(problems), path=path, key=problems[0][0]) from None


def _wrong(key: str, message: str) -> PydanticCustomError:
    """What is wrong with a table as a whole, said of the key to change."""
    return PydanticCustomError("wrong", "{message}", {"key": key, "message": message})


def _refuse_keys_of_others(table: BaseModel, kind: str, kinds: Mapping[str, Sequence[str]]) -> None:
    """Raise where a table has a key that is for other kinds, which a run would pass over in silence."""
    for key, those in kinds.items():
        if key in table.model_fields_set and getattr(table, key) is not None and kind not in those:
            named = " or ".join(f'"{each}"' for each in those)
            raise _wrong(key, f'expected it with kind {named}, not "{kind}"')


def _problem(details: ErrorDetails) -> tuple[str, str]:
    """The key that is wrong, as one would write it in the file, and a sentence about it."""
    place, context = details["loc"], details.get("ctx", {})
    key = _written(place)
    if details["type"] == "wrong":
        return ".".join(part for part in (key, context["key"]) if part), context["message"]
    if details["type"] == "extra_forbidden":
        return key, _unknown(place)
    if details["type"] == "path":
        return key, details["msg"]
    expected = _EXPECTED.get(details["type"], details["msg"][:1].lower() + details["msg"][1:])
    return key, f"expected {expected.format(**context)}, got {_shown(details['input'])}"


_EXPECTED = {
    "literal_error": "one of {expected}",
    "string_type": "a string",
    "int_type": "a whole number",
    "float_type": "a number",
    "greater_than": "more than {gt:g}",
    "greater_than_equal": "at least {ge:g}",
    "less_than_equal": "at most {le:.0f}",
    "finite_number": "a finite number",
    "string_too_short": "at least one character",
    "dict_type": "a table of options",
    "model_type": "a table",
    "model_attributes_type": "a table",
    "tuple_type": "one or more tables",
    "too_short": "at least one",
    "path_type": "a path",
    "is_instance_of": "a path",
}


def _unknown(place: Sequence[str | int]) -> str:
    """A sentence about a key that is not known, with the nearest that is."""
    known: Any = Pipeline
    for part in place[:-1]:
        if isinstance(part, str) and known is not None:
            known = TABLES.get(part)
    keys = sorted(field.alias or name for name, field in known.model_fields.items()) if known else []
    near = difflib.get_close_matches(str(place[-1]), keys, n=1)
    return f"unknown key; did you mean {near[0]}?" if near else f"unknown key; expected {', '.join(keys)}"


TABLES: Mapping[str, type[BaseModel]] = {
    "source": Source,
    "subscriptions": Subscriptions,
    "network": NetworkTable,
    "sink": Sink,
    "dead_letters": DeadLetters,
    "metrics": Metrics,
    "work": Work,
    "stream": Stream,
    "spark": Spark,
    "limits": Limits,
}


def _written(place: Sequence[str | int]) -> str:
    text = ""
    for part in place:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def _shown(value: object) -> str:
    text = repr(value) if not isinstance(value, bool) else str(value).lower()
    return text if len(text) <= 60 else f"{text[:59]}…"


def _sentence(problems: Sequence[tuple[str, str]]) -> str:
    return "; ".join(f"{key}: {problem}" if key else problem for key, problem in problems)
