"""A whole pipeline, as its file describes it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from twigcast.config import ConfigError, ConfigSection, read_toml, validated, wrong
from twigcast.document import DocumentLimits
from twigcast.errors import PipelineError, StageError
from twigcast.spark.pipeline.folder_conflicts import folder_conflict
from twigcast.spark.pipeline.formats import may_exist, without_format
from twigcast.spark.pipeline.mediation_section import MediationSection
from twigcast.spark.pipeline.network_section import NetworkSection
from twigcast.spark.pipeline.sections import (
    ArchivesSection,
    DeadLettersSection,
    DeliveriesSection,
    LimitsSection,
    MatchSection,
    MetricsSection,
    SourceSection,
    SparkSection,
    StreamSection,
    SubscriptionsSection,
    WorkSection,
)
from twigcast.spark.pipeline.sink_section import SinkSection
from twigcast.spark.pipeline.values import Namespaces


def _limits_section(value: object) -> object:
    return asdict(value) if isinstance(value, DocumentLimits) else value


def _document_limits(limits: LimitsSection) -> DocumentLimits:
    return DocumentLimits(**limits.model_dump())


if TYPE_CHECKING:
    Limits = DocumentLimits
else:
    Limits = Annotated[LimitsSection, BeforeValidator(_limits_section), AfterValidator(_document_limits)]


def _as_sinks(value: Any) -> Any:
    """One ``[sink]`` or many ``[[sink]]``."""
    if isinstance(value, list):
        return tuple(value)
    return (value,) if isinstance(value, dict | SinkSection) else value


def _default(section: object) -> Any:
    """A field whose default is validated like a section of a file, so that its paths are resolved."""
    return Field(default_factory=lambda: section, validate_default=True)


class Pipeline(ConfigSection):
    """A pipeline from documents to deliveries, as its file describes it."""

    source: SourceSection = _default({})
    subscriptions: SubscriptionsSection = _default({})
    namespaces: Namespaces = Field(default_factory=dict)
    mediation: MediationSection | None = None
    network: NetworkSection | None = None
    sink: Annotated[tuple[SinkSection, ...], BeforeValidator(_as_sinks), Field(min_length=1)] = _default(
        [{"path": "out/deliveries"}]
    )
    match: MatchSection = _default({})
    deliveries: DeliveriesSection = _default({})
    dead_letters: DeadLettersSection = _default({})
    metrics: MetricsSection = _default({})
    work: WorkSection = _default({})
    stream: StreamSection = _default({})
    spark: SparkSection = _default({})
    limits: Limits = _default({})
    archives: ArchivesSection = _default({})

    @property
    def content(self) -> Literal["inline", "reference"]:
        """Whether deliveries contain documents, or refer to them."""
        return self.deliveries.content or ("reference" if self.source.kind == "huge" else "inline")

    @property
    def is_site(self) -> bool:
        """Whether the documents come from another pipeline, which may not have run yet."""
        return self.network is not None and self.network.plan is not None

    def unknown_formats(self) -> list[StageError]:
        """An error for each format that Spark does not have, as far as that can be told without Spark."""
        named = {"source.format": self.source.format, "subscriptions.format": self.subscriptions.format}
        for number, sink in enumerate(self.sink):
            if sink.kind == "format":
                named[f"sink[{number}].format" if len(self.sink) > 1 else "sink.format"] = sink.format
        return [
            StageError(f"{key}: {without_format(format)}", code="format")
            for key, format in named.items()
            if format is not None and not may_exist(format, self.spark.conf)
        ]

    @model_validator(mode="after")
    def _with_fragments(self) -> Self:
        named = f'since source.kind is "{self.source.kind}"'
        if self.source.has_fragments or self.source.kind == "chunks":
            for key in ("mediation", "network"):
                if getattr(self, key) is not None:
                    raise wrong(key, f"expected no such section, {named}")
            if self.subscriptions.shards > 1:
                raise wrong("subscriptions.shards", f"expected 1, {named}")
        if self.source.kind == "huge" and self.content == "inline":
            raise wrong(
                "deliveries.content",
                f'expected "reference", {named}: a document of any size is not put into a row; read it by its'
                " path, which is the doc_id, or subscribe to parts",
            )
        if self.source.early and self.content == "inline":
            raise wrong(
                "deliveries.content",
                'expected "reference", since source.early is true: the document is not there yet',
            )
        for number, sink in enumerate(self.sink):
            if self.content == "reference" and sink.kind == "files":
                expected = 'expected "format", "jsonl" or "callable", since deliveries are references'
                raise wrong(f"sink[{number}].kind", expected)
        return self

    @model_validator(mode="after")
    def _with_columns(self) -> Self:
        section, named = self.deliveries, f'since source.kind is "{self.source.kind}"'
        if section.columns and self.source.kind not in ("table", "format"):
            raise wrong("deliveries.columns", f'expected a source with columns, "table" or "format", {named}')
        taken = {
            "delivery_id",
            "subscriber",
            "subscription",
            "doc_id",
            "part",
            "content",
            "index_version",
            "batch",
        }
        for column in section.columns:
            if column.lower() in taken or column in (self.source.doc_id, self.source.body):
                raise wrong("deliveries.columns", f"expected other columns: deliveries have {column} already")
        one_copy = section.copies == "subscriber"
        if one_copy and self.source.early:
            raise wrong("deliveries.copies", 'expected "subscription", since source.early is true')
        for number, sink in enumerate(self.sink):
            sink.check_columns(f"sink[{number}]", section.columns, one_copy=one_copy)
        return self

    @model_validator(mode="after")
    def _with_structures(self) -> Self:
        if self.match.structure is None:
            return self
        if self.source.kind not in ("table", "format"):
            raise wrong(
                "match.structure",
                f'expected a source with columns, of kind "table" or "format", not "{self.source.kind}"',
            )
        if self.match.structure in (self.source.doc_id, self.source.body):
            raise wrong(
                "match.structure", "expected a column of its own, neither source.doc_id nor source.body"
            )
        if self.mediation is not None:
            raise wrong(
                "match.structure",
                "expected no structures, since there is mediation: documents are matched by what mappings"
                " make of them",
            )
        return self

    @model_validator(mode="after")
    def _with_borders(self) -> Self:
        named = self.source.annotations
        if named is not None and not self.is_site:
            raise wrong("source.annotations", "expected network.plan, in which annotations are asked for")
        if named is not None and self.match.structure is not None:
            raise wrong("source.annotations", "expected either annotations, or match.structure")
        if named is not None and named in (self.source.doc_id, self.source.body):
            expected = "expected a column of its own, neither source.doc_id nor source.body"
            raise wrong("source.annotations", expected)
        has_border = self.is_site or (self.network is not None and self.network.remote)
        if has_border and self.mediation is not None:
            key = "network.plan" if self.is_site else "network.remote"
            expected = "expected no remote site, since there is mediation"
            raise wrong(key, f"{expected}: documents are matched by what mappings make of them")
        return self

    @model_validator(mode="after")
    def _without_folder_conflicts(self) -> Self:
        sinks = {f"sink[{number}].path": sink for number, sink in enumerate(self.sink)}
        outputs = [(key, sink.path) for key, sink in sinks.items() if sink.path]
        outputs += [("dead_letters.path", self.dead_letters.path), ("metrics.path", self.metrics.path)]
        if self.network is not None:
            outputs.append(("network.metrics", self.network.metrics))
            remote = self.network.remote.items()
            outputs += [(f"network.remote.{name}.to", str(each.to)) for name, each in remote]
            if self.subscriptions.shards > 1:
                raise wrong("subscriptions.shards", "expected 1, since there is a network")
        if self.mediation is not None:
            outputs.append(("mediation.metrics", self.mediation.metrics))
            if self.mediation.by == "publisher" and self.source.kind not in ("table", "format"):
                raise wrong(
                    "mediation.by",
                    f'expected "root", since documents of source.kind "{self.source.kind}" have no column'
                    " publisher",
                )
        state = [(f"work.{part}", str(getattr(self.work, part))) for part in WorkSection.model_fields]
        if not self.subscriptions.format:
            state.append(("subscriptions.path", str(self.subscriptions.path)))
        if self.network is not None:
            remote = self.network.remote.items()
            state += [(f"network.remote.{name}.plan", str(each.plan)) for name, each in remote]
            if self.network.plan is not None:
                state.append(("network.plan", str(self.network.plan)))
        if self.mediation is not None:
            state.append(("mediation.mappings", str(self.mediation.mappings)))
        shareable = [key for key, sink in sinks.items() if sink.kind == "jsonl"]
        if conflict := folder_conflict(outputs, state, self.source.read_whole, shareable):
            raise wrong(*conflict)
        return self

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Pipeline:
        """Read a pipeline file; raises ``PipelineError`` with the wrong keys and what was expected."""
        file = Path(path)
        try:
            table = read_toml(file)
        except ConfigError as error:
            raise PipelineError(error.message, path=str(path)) from None
        return cls.of(table, folder=file.absolute().parent, path=str(path))

    @classmethod
    def of(cls, table: Mapping[str, Any], *, folder: Path | None = None, path: str = "") -> Pipeline:
        """The pipeline of a table as ``tomllib`` returns it.

        Relative paths are relative to ``folder``, by default the current one.
        """
        try:
            return validated(cls, table, {"folder": str(folder)} if folder else None)
        except ConfigError as error:
            raise PipelineError(error.message, path=path, key=error.key) from None
