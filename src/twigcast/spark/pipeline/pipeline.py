"""A whole pipeline, as its file describes it."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, ValidationError, model_validator

from twigcast.document import DocumentLimits
from twigcast.errors import PipelineError
from twigcast.spark.pipeline.error_sentences import pipeline_error, wrong
from twigcast.spark.pipeline.folder_conflicts import folder_conflict
from twigcast.spark.pipeline.network_section import NetworkSection
from twigcast.spark.pipeline.sections import (
    DeadLettersSection,
    LimitsSection,
    MetricsSection,
    SinkSection,
    SourceSection,
    SparkSection,
    StreamSection,
    SubscriptionsSection,
    WorkSection,
)
from twigcast.spark.pipeline.values import Section


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


class Pipeline(Section):
    """A pipeline from documents to deliveries, as its file describes it."""

    source: SourceSection = _default({})
    subscriptions: SubscriptionsSection = _default({})
    network: NetworkSection | None = None
    sink: Annotated[tuple[SinkSection, ...], BeforeValidator(_as_sinks), Field(min_length=1)] = _default(
        [{"path": "out/deliveries"}]
    )
    dead_letters: DeadLettersSection = _default({})
    metrics: MetricsSection = _default({})
    work: WorkSection = _default({})
    stream: StreamSection = _default({})
    spark: SparkSection = _default({})
    limits: Limits = _default({})

    @model_validator(mode="after")
    def _without_folder_conflicts(self) -> Self:
        sinks = {f"sink[{number}].path": sink for number, sink in enumerate(self.sink)}
        outputs = [(key, sink.path) for key, sink in sinks.items() if sink.path]
        outputs += [("dead_letters.path", self.dead_letters.path), ("metrics.path", self.metrics.path)]
        if self.network is not None:
            outputs.append(("network.metrics", self.network.metrics))
            if self.subscriptions.shards > 1:
                raise wrong("subscriptions.shards", "expected 1, since there is a network")
        state = [(f"work.{part}", str(getattr(self.work, part))) for part in WorkSection.model_fields]
        if not self.subscriptions.format:
            state.append(("subscriptions.path", str(self.subscriptions.path)))
        shareable = [key for key, sink in sinks.items() if sink.kind == "jsonl"]
        if conflict := folder_conflict(outputs, state, self.source.read_whole, shareable):
            raise wrong(*conflict)
        return self

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Pipeline:
        """Read a pipeline file; raises ``PipelineError`` with the wrong keys and what was expected."""
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
        """The pipeline of a table as ``tomllib`` returns it.

        Relative paths are relative to ``folder``, by default the current one.
        """
        context = {"folder": str(folder)} if folder else None
        try:
            return cls.model_validate(dict(table), context=context)
        except ValidationError as error:
            raise pipeline_error(error, cls, SECTIONS, path) from None


SECTIONS: Mapping[str, type[BaseModel]] = {
    "source": SourceSection,
    "subscriptions": SubscriptionsSection,
    "network": NetworkSection,
    "sink": SinkSection,
    "dead_letters": DeadLettersSection,
    "metrics": MetricsSection,
    "work": WorkSection,
    "stream": StreamSection,
    "spark": SparkSection,
    "limits": LimitsSection,
}
