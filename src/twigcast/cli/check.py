"""``twigcast check`` reports bad lines of a file of subscriptions, or problems of a pipeline."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from twigcast.cli.options import (
    SUBSCRIPTIONS_HELP,
    AsJson,
    DefaultNamespace,
    Namespaces,
    SubscriptionFormat,
    examples,
    namespace_map,
)
from twigcast.cli.terminal import complain, escaped, json_line, plural, pointed, progress, told
from twigcast.errors import PatternError, SourceError, SubscriptionError, TwigcastError
from twigcast.pattern import Subscription
from twigcast.subscriptions import read_subscriptions

EXAMPLES = examples(
    "twigcast check news.txt",
    "twigcast check --json news.jsonl",
    "twigcast check news.toml",
    "twigcast check --namespace n=http://iptc.org/std/nar/2006-10-01/ g2.tsv",
)


@dataclass(frozen=True, slots=True)
class Finding:
    """A line of a file that is not a valid subscription, with the error."""

    line: int
    id: Hashable | None
    error: TwigcastError


def command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help=SUBSCRIPTIONS_HELP)],
    format: SubscriptionFormat = None,
    namespace: Namespaces = None,
    default_namespace: DefaultNamespace = None,
    json: AsJson = False,
) -> None:
    """Report every bad line of a file of subscriptions, with its column and what was expected there.

    With --json the output is one object for each bad line: line, id, code, message, column, xpath.
    The exit code is 1 if any line is bad.

    Of a pipeline file (.toml) it reports a source that is missing, formats that Spark does not have, mappings
    that cannot be used or may surprise, and subscriptions of its store that no document of the global schema
    can match; as objects: path, id, code, message, warning.
    Warnings do not change the exit code.
    """
    if file.suffix == ".toml":
        _check_pipeline(file, json=json)
        return
    namespaces = namespace_map(namespace, default_namespace)
    total = bad = 0
    with progress(f"Checking {file}", read_subscriptions(file, format, namespaces=namespaces)) as entries:
        for line, entry in entries:
            total += 1
            finding = _finding(line, entry)
            if finding is not None:
                bad += 1
                typer.echo(_json_line(finding) if json else _lines(file, finding))
    counts = f"{total - bad:,} good, {bad:,} bad" if bad else f"{plural(total, 'subscription')}, all good"
    complain(f"{file}: {counts}")
    if bad:
        raise typer.Exit(1)


def _check_pipeline(file: Path, *, json: bool) -> None:
    """Report the problems of a pipeline."""
    from twigcast.cli.pipeline_check import pipeline_problems

    problems = 0
    for problem in pipeline_problems(file):
        problems += not problem.is_warning
        if json:
            fields = {"path": problem.where, "id": problem.subscription, "code": problem.code}
            typer.echo(json_line(fields | {"message": problem.message, "warning": problem.is_warning}))
        else:
            what = "warning: " if problem.is_warning else ""
            what += "" if problem.subscription is None else f"subscription {problem.subscription!r}: "
            typer.echo(escaped(f"{problem.where}: {what}{problem.message} ({problem.code})"))
    complain(f"{file}: {plural(problems, 'problem')}" if problems else f"{file}: good")
    if problems:
        raise typer.Exit(1)


def _finding(line: int, entry: Subscription | SourceError | SubscriptionError) -> Finding | None:
    """Check one line; returns none if it is good."""
    if isinstance(entry, SourceError):
        return Finding(line, None, entry)
    if isinstance(entry, SubscriptionError):
        return Finding(line, entry.id, entry)
    try:
        _ = entry.pattern
    except PatternError as error:
        return Finding(line, entry.id, error)
    return None


def _lines(file: Path, finding: Finding) -> str:
    error = finding.error
    if isinstance(error, PatternError):
        return f"{escaped(f'{file}:{finding.line}: {told(error)} ({error.code})')}\n{pointed(error)}"
    return escaped(f"{file}:{finding.line}: {error.message} ({error.code})")


def _json_line(finding: Finding) -> str:
    error = finding.error
    fields: dict[str, object] = {
        "line": finding.line,
        "id": finding.id,
        "code": error.code,
        "message": error.message,
    }
    if isinstance(error, PatternError):
        fields |= {"column": error.column, "xpath": error.text, "expected": error.expected}
    return json_line(fields)
