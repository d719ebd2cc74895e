"""The part of ``twigcast check`` for pipeline files: source, formats, mappings, and subscriptions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from twigcast.cli.pipeline_source import check_source
from twigcast.cli.stores import check_store, load_pipeline, open_known_store
from twigcast.errors import SourceError, TwigcastError
from twigcast.pattern import Subscription

if TYPE_CHECKING:
    from twigcast.analysis import SchemaAutomaton
    from twigcast.spark import Pipeline


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in a pipeline that does not do what was meant; ``where`` is the file at fault."""

    where: str
    code: str
    message: str
    subscription: str | None = None
    is_warning: bool = False


def pipeline_problems(path: Path) -> Iterator[Problem]:
    """The problems of a pipeline; raises ``PipelineError`` if its file cannot be used at all.

    A source that is missing, formats that Spark does not have, what ``twigcast schema check`` says of its
    mappings, but for notes, and subscriptions that no document of the global schema can match.
    """
    plan = load_pipeline(path)
    try:
        check_source(plan)
    except SourceError as error:
        yield Problem(str(path), error.code, f"source.path: {error.message}: {error.path}")
    for unknown in plan.unknown_formats():
        yield Problem(str(path), unknown.code, unknown.message)
    check_store(plan, path)
    if plan.mediation is None:
        return
    from twigcast.rewriting import check_mapping, mapping_paths, read_mapping_file
    from twigcast.schema import read_schema

    schema = plan.mediation.schema_path
    targets = set() if schema is None else {schema}
    try:
        files = mapping_paths(plan.mediation.mappings)
        graph = None if schema is None else read_schema(schema)
    except TwigcastError as error:
        yield Problem(str(path), error.code, error.message)
        return
    for each in files:
        try:
            file = read_mapping_file(each)
        except TwigcastError as error:
            yield Problem(str(each), error.code, error.message.removeprefix(f"{each}: "))
            continue
        targets |= set() if schema is not None else {file.target}
        for found in check_mapping(file, graph).findings:
            if found.level != "note":
                message = found.message.removeprefix(f"{each}: ")
                yield Problem(str(each), found.code, message, is_warning=found.level == "warning")
    yield from _outside(plan, sorted(targets))


def _outside(plan: Pipeline, schemas: list[Path]) -> Iterator[Problem]:
    """The subscriptions that are outside of all global schemas."""
    from twigcast.analysis import overlaps, schema_automaton
    from twigcast.schema import read_schema

    automata: list[SchemaAutomaton] = []
    for schema in schemas:
        with suppress(TwigcastError):  # reported with the mapping that names it
            automata.append(schema_automaton(read_schema(schema)))
    if not automata or plan.subscriptions.format is not None:  # Spark would have to be started to read them
        return
    names = " or ".join(schema.name for schema in schemas)
    for subscription in _subscriptions(plan):
        try:
            pattern = subscription.pattern
        except TwigcastError:
            continue  # the store has it from an earlier version of the language
        if not any(overlaps(automaton, pattern) for automaton in automata):
            message = f"no document of {names} can match {subscription.text}"
            yield Problem(str(plan.subscriptions.path), "outside-schema", message, str(subscription.id))


def _subscriptions(plan: Pipeline) -> list[Subscription]:
    return open_known_store(plan.subscriptions.path, None).subscriptions()
