"""Which subscription store a command means, and what it needs to be installed."""

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
    from twigcast.subscriptions import SubscriptionStore

USUAL_PIPELINE = Path("pipeline.toml")
USUAL_STORE = Path("subscriptions.db")

StoreFile: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--store",
        "-s",
        metavar="FILE",
        help="The subscription store; otherwise that of the pipeline, else that of pipeline.toml here, "
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


def split_pipeline(words: Sequence[str], store: Path | None) -> tuple[Path | None, list[str]]:
    """The pipeline file that comes first among the words, if one does, and the other words."""
    if words and store is None and words[0].endswith(".toml"):
        return Path(words[0]), list(words[1:])
    return None, list(words)


def open_store(store: Path | None, pipeline: Path | None) -> SubscriptionStore:
    """The subscription store to change; it is created where it is not there."""
    from twigcast.subscriptions import SubscriptionStore

    return _opened(SubscriptionStore, _store_path(store, pipeline))


def open_known_store(store: Path | None, pipeline: Path | None) -> SubscriptionStore:
    """The subscription store to read; raises ``SourceError`` where it is not there."""
    from twigcast.subscriptions import SubscriptionStore

    return _opened(SubscriptionStore.open, _store_path(store, pipeline))


def check_store(plan: Pipeline, pipeline: Path) -> None:
    """Say before Spark starts that a pipeline has no store, which is an error, or no subscriptions in it."""
    named = plan.subscriptions
    if named.format is not None:
        return
    try:
        store = open_known_store(named.path, None)
    except SourceError as error:
        if error.code != "not-found":
            raise
        message = f"{error.message}: twigcast subscribe {pipeline} --id ID XPATH makes it"
        raise SourceError(message, code=error.code, path=error.path) from None
    if not len(store):
        complain(f"{store.path}: no subscriptions yet (twigcast subscribe), so nothing is delivered")


def _opened(find: Callable[[Path], SubscriptionStore], path: Path) -> SubscriptionStore:
    import sqlite3

    try:
        return find(path)
    except sqlite3.Error as error:
        message = f"not a subscription store: {error}"
        raise SourceError(message, code="unreadable", path=str(path)) from None


def _store_path(store: Path | None, pipeline: Path | None) -> Path:
    if store is not None:
        return store
    if pipeline is None and not USUAL_PIPELINE.exists():
        return USUAL_STORE
    file = pipeline or USUAL_PIPELINE
    subscriptions = load_pipeline(file).subscriptions
    if subscriptions.format is not None:
        raise PipelineError(
            f"its subscriptions are read by Spark ({subscriptions.format}): change them where they are kept",
            path=str(file),
            key="subscriptions.format",
        )
    return subscriptions.path
