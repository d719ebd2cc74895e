"""``twigcast dead-letters`` lists the documents that a pipeline could not read, or retries them."""

from __future__ import annotations

import re
import sys
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from twigcast.cli.live import live
from twigcast.cli.options import AsJson, examples
from twigcast.cli.stores import check_store, load_pipeline, need
from twigcast.cli.tables import Column, ColumnKind, figures, print_table
from twigcast.cli.terminal import complain, escaped, json_line, plural

if TYPE_CHECKING:
    from twigcast.spark import Pipeline

EXAMPLES = examples(
    "twigcast dead-letters news.toml",
    "twigcast dead-letters news.toml --code too-large --json",
    "twigcast dead-letters news.toml --body 'feed/7.xml' > 7.xml",
    "twigcast dead-letters news.toml --retry",
    "twigcast dead-letters news.toml --replace feed/7.xml repaired.xml",
)
ERROR_COLUMNS = ("code", "message", "line", "column", "offset", "subscription")
COLUMNS = ("doc_id", *ERROR_COLUMNS, "index_version", "batch", "time")


def command(
    pipeline: Annotated[Path, typer.Argument(metavar="PIPELINE", help="The pipeline file (TOML).")],
    code: Annotated[
        list[str] | None,
        typer.Option("--code", metavar="CODE", help="Only documents with this error code; repeatable."),
    ] = None,
    body: Annotated[
        str | None,
        typer.Option("--body", metavar="ID", help="Write only the bytes of one document, unchanged."),
    ] = None,
    retry: Annotated[
        bool,
        typer.Option("--retry", help="Match them again with the current limits and subscriptions."),
    ] = False,
    replace: Annotated[
        tuple[str, Path] | None,
        typer.Option("--replace", metavar="ID FILE", help="Retry one document with the bytes of this file."),
    ] = None,
    json: AsJson = False,
) -> None:
    """List the documents that a pipeline could not read, or retry them.

    A document whose parts are too large for one subscription is listed for that subscription.

    On a terminal the list is a table.
    Piped, it is one line for each document: id, code, line, column, batch, message.
    With --json it is one object for each document, with its body as text (or body_base64).

    --retry matches the listed documents again, for example after a limit was raised, and delivers them.
    A document that is still in the source is read again, so that a repaired one is taken; for one that is
    gone, the bytes of the list are used. Piped, the output is the id and which of them was used.
    A retry is a batch of its own: its documents leave the list, and those that still fail are listed again.

    An ID is the id in the list, a path from the current folder, or the end of a path, such as feed/7.xml.
    """
    codes = _codes(code)
    plan = load_pipeline(pipeline)
    need("pyspark", "pandas")
    if retry or replace:
        if body is not None:
            raise typer.BadParameter("--body excludes --retry and --replace", param_hint="--body")
        check_store(plan, pipeline)
        _retry(plan, codes, _replacement(plan, replace, codes), json=json)
        return
    _say_interrupted(plan, pipeline)
    letters = _open_letters(plan, codes)
    if body is not None:
        _write_body(letters, body)
    elif json:
        for letter in letters:
            sys.stdout.write(json_line(_json(letter)) + "\n")
    elif sys.stdout.isatty():
        _print_table(list(letters))
    else:
        for letter in letters:
            columns = (letter[name] for name in ("doc_id", "code", "line", "column", "batch", "message"))
            sys.stdout.write("\t".join(map(_one_line, columns)) + "\n")


def _codes(codes: list[str] | None) -> list[str]:
    for code in codes or ():
        if not re.fullmatch(r"[a-z][a-z-]*", code):
            raise typer.BadParameter(f"expected a code such as too-large, got {code!r}", param_hint="--code")
    return sorted(set(codes or ()))


def _replacement(plan: Pipeline, replace: tuple[str, Path] | None, codes: list[str]) -> dict[str, bytes]:
    """The bytes to use, by the whole id; an unknown id or file is an error before Spark is started."""
    if replace is None:
        return {}
    from twigcast.spark import letter_id

    id, file = replace
    return {
        letter_id((str(letter["doc_id"]) for letter in _open_letters(plan, codes)), id): file.read_bytes()
    }


def _retry(plan: Pipeline, codes: list[str], replace: dict[str, bytes], *, json: bool) -> None:
    """Retry the dead letters as a batch of their own, and report the result."""
    from twigcast.spark import retry, session_for, task_counts

    select = f"code in ({', '.join(map(repr, codes))})" if codes else None
    with live() as display:
        display.say("Starting Spark")
        with session_for(plan) as spark:
            display.tasks = partial(task_counts, spark)
            display.say("Retrying dead letters")
            done = retry(spark, plan, select, replace=replace, on_batch=display.add)
            display.tasks = None
            display.say("Stopping Spark")
    origins = [origin for batch in done for origin in batch.origins]
    for batch in done if json else ():
        sys.stdout.write(json_line(asdict(batch) | {"origins": dict(batch.origins)}) + "\n")
    if not json and not sys.stdout.isatty():
        for id, origin in origins:
            sys.stdout.write(f"{_one_line(id)}\t{origin}\n")
    totals = display.totals
    complain(
        f"{plural(totals.documents, 'dead letter')} retried: "
        f"{totals.documents - totals.dead_letters:,} can be read now "
        f"({plural(totals.deliveries, 'delivery')}), {totals.dead_letters:,} cannot"
    )
    counts = Counter(origin for _, origin in origins)
    told = [f"{counts[name]:,} {words}" for name, words in _ORIGINS.items() if counts[name]]
    if told:
        complain(f"  bytes         {', '.join(told)}")


_ORIGINS = {
    "source": "read again from the source",
    "stored": "stored with the dead letter",
    "replacement": "given by --replace",
    "none": "could not be read",
}


def _open_letters(plan: Pipeline, codes: list[str]) -> Iterator[dict[str, Any]]:
    """The dead letters that no retry has taken; Arrow reads the tables, without starting Spark."""
    from twigcast.spark import Journal, settled_path

    retries = set(Journal(plan.work.journal).retries())
    settled = {
        (row["letter_batch"], row["doc_id"])
        for row in _rows(settled_path(plan), [])
        if row["batch"] in retries
    }
    for letter in _rows(plan.dead_letters.path, codes):
        if (letter["batch"], letter["doc_id"]) not in settled:
            yield letter


def _say_interrupted(plan: Pipeline, pipeline: Path) -> None:
    """Say that letters are missing in the list, because a retry that took them has not ended."""
    from twigcast.spark import Journal

    journal = Journal(plan.work.journal)
    if any(not journal.is_finished(retry) for retry in journal.retries()):
        complain(
            "a retry was interrupted or is still running, and its letters are not listed: "
            f"twigcast dead-letters {pipeline} --retry finishes it"
        )


def _rows(path: str, codes: list[str]) -> Iterator[dict[str, Any]]:
    """The rows of a Parquet table in batch folders; none if the table does not exist yet."""
    import pyarrow.dataset as ds
    from pyarrow import fs

    system, folder = fs.LocalFileSystem(), path
    if "://" in path:
        system, folder = fs.FileSystem.from_uri(path.replace("s3a://", "s3://", 1))
    if system.get_file_info(folder).type is fs.FileType.NotFound:
        return
    table = ds.dataset(folder, filesystem=system, format="parquet", partitioning="hive")
    for rows in table.to_batches(filter=ds.field("code").isin(codes) if codes else None):
        yield from rows.to_pylist()


def _one_line(value: object) -> str:
    return "" if value is None else escaped(" ".join(str(value).split()))


def _json(letter: dict[str, Any]) -> dict[str, Any]:
    fields = {name: letter.get(name) for name in COLUMNS}
    content = letter["body"]
    if content is None:
        return fields | {"body": None}
    try:
        return fields | {"body": content.decode("utf-8")}
    except UnicodeDecodeError:
        return fields | {"body_base64": b64encode(content).decode("ascii")}


def _write_body(letters: Iterator[dict[str, Any]], id: str) -> None:
    from twigcast.spark import letter_id

    found = list(letters)
    whole = letter_id((str(letter["doc_id"]) for letter in found), id)
    sys.stdout.flush()
    sys.stdout.buffer.write(next(letter["body"] for letter in found if letter["doc_id"] == whole) or b"")


def _print_table(letters: list[dict[str, Any]]) -> None:
    rows = [
        [
            str(letter["doc_id"] or ""),
            str(letter["code"]),
            f"{letter['line']}:{letter['column']}" if letter["line"] is not None else "",
            str(letter["batch"]),
            str(letter["message"] or ""),
        ]
        for letter in letters
    ]
    if rows:
        print_table(_TABLE, rows)
    complain(plural(len(letters), "dead letter") if letters else "no dead letters")
    if any("(limit " in str(letter["message"]) for letter in letters):
        complain("  limits are raised in [limits] of the pipeline file; --retry takes the documents again")


_TABLE = [
    Column("document"),
    Column("code", ColumnKind.WORD),
    *figures("line:column", "batch"),
    Column("error"),
]
