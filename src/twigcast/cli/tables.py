"""Which subscription table a command means, and what it needs to be installed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from twigcast.cli.terminal import complain
from twigcast.errors import ExtraError, PipelineError, SourceError

if TYPE_CHECKING:
    from twigcast.spark import Pipeline
    from twigcast.subscriptions import SubscriptionTable

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
    from twigcast.spark import Pipeline

    return Pipeline.load(path)


def split_pipeline(words: Sequence[str], table: Path | None) -> tuple[Path | None, list[str]]:
    """The pipeline file that comes first among the words, if one does, and the other words."""
    if words and table is None and words[0].endswith(".toml"):
        return Path(words[0]), list(words[1:])
    return None, list(words)


def open_table(table: Path | None, pipeline: Path | None) -> SubscriptionTable:
    """The subscription table to change; it is created where it is not there."""
    from twigcast.subscriptions import SubscriptionTable

    return _opened(SubscriptionTable, _table_path(table, pipeline))


def open_known_table(table: Path | None, pipeline: Path | None) -> SubscriptionTable:
    """The subscription table to read; raises ``SourceError`` where it is not there."""
    from twigcast.subscriptions import SubscriptionTable

    return _opened(SubscriptionTable.open, _table_path(table, pipeline))


def look_at_table(plan: Pipeline, pipeline: Path) -> None:
    """Say before Spark starts that a pipeline has no table, which is an error, or no subscriptions in it."""
    named = plan.subscriptions
    if named.format is not None:
        return
    try:
        table = open_known_table(named.path, None)
    except SourceError as error:
        if error.code != "not-found":
            raise
        message = f"{error.message}: twigcast subscribe {pipeline} --id ID XPATH makes it"
        raise SourceError(message, code=error.code, path=error.path) from None
    if not len(table):
        complain(f"{table.path}: no subscriptions yet (twigcast subscribe), so nothing is delivered")


def _opened(find: Callable[[Path], SubscriptionTable], path: Path) -> SubscriptionTable:
    import sqlite3

    try:
        return find(path)
    except sqlite3.Error as error:
        message = f"not a subscription table: {error}"
        raise SourceError(message, code="unreadable", path=str(path)) from None


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
