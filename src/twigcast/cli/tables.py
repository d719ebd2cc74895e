"""Which subscription table a command means, and what it needs to be installed."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from twigcast.errors import ExtraError, PipelineError, SourceError

if TYPE_CHECKING:
    from twigcast.spark.pipeline import Pipeline
    from twigcast.spark.subscriptions import SubscriptionTable

USUAL_PIPELINE = Path("pipeline.toml")
USUAL_TABLE = Path("subscriptions.db")

TableFile: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--table",
        "-t",
        metavar="FILE",
        help="The subscription table; otherwise that of the pipeline, else that of pipeline.toml here, "
        "else subscriptions.db here.",
    ),
]


def need(*libraries: str) -> None:
    """Raise ``ExtraError`` where a library of the extra ``spark`` is missing, before anything is begun."""
    for library in libraries:
        if find_spec(library) is None:
            raise ExtraError(library, extra="spark")


def load_pipeline(path: Path) -> Pipeline:
    """The pipeline of a file; raises ``PipelineError``."""
    need("pydantic")
    from twigcast.spark.pipeline import Pipeline

    return Pipeline.load(path)


def split_pipeline(words: Sequence[str], table: Path | None) -> tuple[Path | None, list[str]]:
    """The pipeline file that comes first among the words, if one does, and the other words."""
    if words and table is None and words[0].endswith(".toml"):
        return Path(words[0]), list(words[1:])
    return None, list(words)


def open_table(table: Path | None, pipeline: Path | None) -> SubscriptionTable:
    """The subscription table to change; it is created where it is not there."""
    import sqlite3

    from twigcast.spark.subscriptions import SubscriptionTable

    path = _table_path(table, pipeline)
    try:
        return SubscriptionTable(path)
    except sqlite3.Error as error:
        message = f"not a subscription table: {error}"
        raise SourceError(message, code="unreadable", path=str(path)) from None


def open_known_table(table: Path | None, pipeline: Path | None) -> SubscriptionTable:
    """The subscription table to read; raises ``SourceError`` where it is not there."""
    path = _table_path(table, pipeline)
    if not path.exists():
        raise SourceError("there is no such subscription table", code="not-found", path=str(path))
    return open_table(path, None)


def _table_path(table: Path | None, pipeline: Path | None) -> Path:
    if table is not None:
        return table
    if pipeline is None and not USUAL_PIPELINE.exists():
        return USUAL_TABLE
    file = pipeline or USUAL_PIPELINE
    subscriptions = load_pipeline(file).subscriptions
    if subscriptions.format is not None:
        raise PipelineError(
            f"its subscriptions are read by Spark ({subscriptions.format}): change them where they are kept",
            path=str(file),
            key="subscriptions.format",
        )
    return subscriptions.path
