"""Finds the pipeline file and the subscription store of a command, and checks that the extra is installed."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
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
        help="The subscription store; by default that of the pipeline file, or of pipeline.toml in the "
        "current folder, or subscriptions.db in the current folder.",
    ),
]


def need(*libraries: str) -> None:
    """Raise ``ExtraError`` if a library of the extra ``spark`` is missing."""
    for library in libraries:
        if find_spec(library) is None:
            raise ExtraError(library, extra="spark")


def load_pipeline(path: Path) -> Pipeline:
    """Read a pipeline file; raises ``PipelineError``."""
    need("pydantic")
    from twigcast.spark import Pipeline

    return Pipeline.load(path)


def split_pipeline(words: Sequence[str], store: Path | None) -> tuple[Path | None, list[str]]:
    """Split the arguments into a pipeline file (a first word that ends in ``.toml``) and the other words."""
    if words and store is None and words[0].endswith(".toml"):
        return Path(words[0]), list(words[1:])
    return None, list(words)


def open_store(store: Path | None, pipeline: Path | None) -> tuple[SubscriptionStore, Mapping[str, str]]:
    """Open the subscription store to change it; it is created if it does not exist.

    Also returns the prefixes that the pipeline file binds.
    """
    from twigcast.subscriptions import SubscriptionStore

    path, namespaces = _located(store, pipeline)
    return SubscriptionStore(path), namespaces


def open_known_store(store: Path | None, pipeline: Path | None) -> SubscriptionStore:
    """Open an existing subscription store; raises ``SourceError`` if it does not exist."""
    from twigcast.subscriptions import SubscriptionStore

    return SubscriptionStore.open(_located(store, pipeline)[0])


def check_store(plan: Pipeline, pipeline: Path) -> None:
    """Check the store of a pipeline before Spark is started.

    Raises ``SourceError`` if it does not exist; a store without subscriptions is only reported on stderr.
    """
    named = plan.subscriptions
    if named.format is not None:
        return
    try:
        store = open_known_store(named.path, None)
    except SourceError as error:
        if error.code != "not-found":
            raise
        message = f"{error.message}: create it with twigcast subscribe {pipeline} --id ID XPATH"
        raise SourceError(message, code=error.code, path=error.path) from None
    if not len(store):
        complain(f"{store.path}: no subscriptions yet (twigcast subscribe), so nothing is delivered")


def _located(store: Path | None, pipeline: Path | None) -> tuple[Path, Mapping[str, str]]:
    """The path of the store, and the prefixes of the pipeline file that names it."""
    if store is not None:
        return store, {}
    if pipeline is None and not USUAL_PIPELINE.exists():
        return USUAL_STORE, {}
    file = pipeline or USUAL_PIPELINE
    plan = load_pipeline(file)
    subscriptions = plan.subscriptions
    if subscriptions.format is not None:
        raise PipelineError(
            f"Spark reads its subscriptions from {subscriptions.format}: change them there",
            path=str(file),
            key="subscriptions.format",
        )
    return subscriptions.path, plan.namespaces


def print_version(version: int) -> None:
    """Print the version of a store: the number alone for programs, with its noun on a terminal."""
    print(f"version {version}" if sys.stdout.isatty() else version)
