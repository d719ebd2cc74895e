"""The section of a sink in a pipeline file."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from twigcast.config import ConfigSection, suggestion, wrong
from twigcast.spark.outputs.file_names import FILE_NAME, FILE_NAME_FIELDS, FileNameTemplate
from twigcast.spark.pipeline.sections import is_file_format, refuse_keys_of_other_kinds
from twigcast.spark.pipeline.values import AnyPath, Name, Options, as_tuple

SinkKind = Literal["format", "files", "jsonl", "callable"]

_EVERY_DELIVERY = ("subscriber", "subscription", "doc_id", "part")
_UNPARTITIONED = ("jdbc", "kafka", "noop", "console")

_TIMES = ("dateFormat", "timestampFormat", "timestampNTZFormat", "timeZone", "locale")
_TEXT = ("compression", "encoding", "charset", "lineSep")
_WRITER_OPTIONS = {
    "parquet": ("compression",),
    "orc": ("compression",),
    "avro": ("compression", "avroSchema", "avroSchemaUrl", "recordName", "recordNamespace"),
    "text": _TEXT,
    "json": (*_TEXT, *_TIMES, "ignoreNullFields", "pretty", "writeNonAsciiCharacterAsCodePoint"),
    "csv": (
        *(
            *_TEXT,
            *_TIMES,
            "codec",
            "sep",
            "delimiter",
            "quote",
            "escape",
            "quoteAll",
            "escapeQuotes",
            "header",
        ),
        *("nullValue", "emptyValue", "ignoreLeadingWhiteSpace", "ignoreTrailingWhiteSpace"),
        *("charToEscapeQuoteEscaping", "comment", "maxColumns"),
    ),
    "xml": (
        *(*_TEXT, *_TIMES, "rowTag", "rootTag", "declaration", "attributePrefix", "valueTag", "nullValue"),
        *("arrayElementName", "indent", "validateName", "singleVariantColumn"),
    ),
}
"""The options that Spark's writers of files know; others it would ignore without a word."""
_EVERY_WRITER = ("maxRecordsPerFile",)


class SinkSection(ConfigSection):
    """Where deliveries are written.

    The ``kind`` says how.  ``format``: as Parquet or another ``format`` of Spark, to ``path`` or to the
    destination that the options name.  ``files``: one file for each delivery, in a folder for each
    subscriber, named by the template ``file_name``.  ``jsonl``: one file of lines for each batch.
    ``callable``: as Arrow tables to ``function``.
    ``partition_by`` names the columns whose values are folders; for ``files`` it is the subscriber.
    """

    kind: SinkKind = "format"
    path: AnyPath | None = None
    format: Name = "parquet"
    options: Options = Field(default_factory=dict)
    partition_by: Annotated[tuple[Name, ...], BeforeValidator(as_tuple)] | None = None
    file_name: Name | None = None
    function: str | None = None

    @property
    def partition_columns(self) -> tuple[str, ...]:
        """The columns whose values are folders."""
        if self.partition_by is None:
            return ("subscriber",) if self.kind == "files" else ()
        return self.partition_by

    @property
    def file_names(self) -> FileNameTemplate:
        """The template for the names of files."""
        return FileNameTemplate.parse(self.file_name or FILE_NAME)

    @model_validator(mode="after")
    def _complete(self) -> Self:
        kinds: dict[str, tuple[str, ...]] = dict.fromkeys(("format", "options"), ("format",))
        kinds |= {"path": ("format", "files", "jsonl"), "partition_by": ("format", "files")}
        kinds |= {"function": ("callable",)}
        refuse_keys_of_other_kinds(self, self.kind, kinds | {"file_name": ("files",)})
        if self.kind == "callable":
            if not self.function or not re.fullmatch(r"[\w.]+:[\w.]+", self.function):
                raise wrong("function", 'expected "module:function", since kind is "callable"')
        elif not self.path and self.kind != "format":
            raise wrong("path", f'expected the folder to write to, since kind is "{self.kind}"')
        elif not self.path and is_file_format(self.format):
            raise wrong("path", f'expected the folder to write to, since format is "{self.format}"')
        if self.kind in ("files", "jsonl") and self.path and "://" in self.path:
            raise wrong("path", f'expected a local or mounted folder, since kind is "{self.kind}"')
        if self.partition_by and self.kind == "format" and self.format.lower() in _UNPARTITIONED:
            raise wrong("partition_by", f"expected a table with partitions, and {self.format} has none")
        if len(set(self.partition_columns)) < len(self.partition_columns):
            raise wrong("partition_by", "expected each column once")
        try:
            FileNameTemplate.parse(self.file_name or FILE_NAME)
        except ValueError as error:
            raise wrong("file_name", str(error)) from None
        self._check_options()
        return self

    def _check_options(self) -> None:
        """Refuse options that Spark would ignore; connectors that are not known here may take any."""
        known = _WRITER_OPTIONS.get(self.format.lower())
        if known is None or self.kind != "format":
            return
        names = (*known, *_EVERY_WRITER)
        lower = {name.lower() for name in names}
        for option in self.options:
            if (
                "." not in option and option.lower() not in lower
            ):  # parquet.block.size and the like are Hadoop's
                raise wrong(
                    f"options.{option}", f"unknown option of {self.format}; {suggestion(option, names)}"
                )

    def check_columns(self, at: str, carried: Collection[str], *, one_copy: bool) -> None:
        """Raise unless deliveries have the columns that the sink, at a key of the file, names.

        ``carried`` are columns of the source; with ``one_copy`` a delivery belongs to no one subscription.
        The name of a file must be the same in every run, or a delivery that is made again is a second file.
        """
        allowed = [*_EVERY_DELIVERY, *carried]
        if self.kind == "format":
            allowed.append("index_version")
        elif one_copy:
            allowed.remove("subscription")
        _check(f"{at}.partition_by", self.partition_columns, allowed, "column")
        if self.kind == "files":
            fields = [*(each for each in FILE_NAME_FIELDS if each not in _EVERY_DELIVERY), *allowed]
            _check(f"{at}.file_name", self.file_names.fields, fields, "field")


def _check(key: str, names: Iterable[str], known: Collection[str], what: str) -> None:
    for name in names:
        if name == "subscription" and name not in known:
            raise wrong(key, 'expected no subscription, since deliveries.copies is "subscriber"')
        if name not in known:
            more = "; deliveries.columns carries columns of the source"
            raise wrong(key, f"unknown {what} {name!r}; {suggestion(name, known)}{more}")
