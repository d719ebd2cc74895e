"""``twigcast dead-letters``: the documents that could not be read, why, and once more."""

from __future__ import annotations

import json as json_text
import sys
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from twigcast.cli.live import live
from twigcast.cli.options import AsJson, examples
from twigcast.cli.tables import load_pipeline, need
from twigcast.cli.terminal import complain, stdout

EXAMPLES = examples(
    "twigcast dead-letters news.toml",
    "twigcast dead-letters news.toml --code too-large --json",
    "twigcast dead-letters news.toml --body 'feed/7.xml' > 7.xml",
    "twigcast dead-letters news.toml --retry",
)
COLUMNS = ("doc_id", "code", "message", "line", "column", "offset", "index_version", "batch", "time")
EXCERPT = 60


def command(
    pipeline: Annotated[Path, typer.Argument(metavar="PIPELINE", help="The pipeline file (TOML).")],
    code: Annotated[
        list[str] | None,
        typer.Option("--code", metavar="CODE", help="Only those with this code; repeatable."),
    ] = None,
    body: Annotated[
        str | None,
        typer.Option("--body", metavar="DOC_ID", help="Only the bytes of one document, as they came."),
    ] = None,
    retry: Annotated[
        bool,
        typer.Option("--retry", help="Match them again, with the limits and subscriptions of now."),
    ] = False,
    json: AsJson = False,
) -> None:
    """List the documents that a pipeline could not read, or try them again.

    On a terminal the answer is a table.
    Piped, it is one line for each document: id, code, line, column, batch, message.
    With --json it is one object for each, with its body as text (or body_base64).

    With --retry those that can be read by now are delivered and leave the dead letters.
    """
    plan = load_pipeline(pipeline)
    if retry:
        if code or body is not None:
            raise typer.BadParameter("--retry takes all of them", param_hint="--retry")
        _retry(plan, json=json)
        return
    letters = _letters(plan.dead_letters.path, frozenset(code or ()))
    if body is not None:
        _write_body(letters, body)
    elif json:
        for letter in letters:
            sys.stdout.write(json_text.dumps(_json(letter), ensure_ascii=False, default=str) + "\n")
    elif sys.stdout.isatty():
        _print_table(list(letters))
    else:
        for letter in letters:
            columns = (letter[name] for name in ("doc_id", "code", "line", "column", "batch", "message"))
            sys.stdout.write("\t".join(" ".join(str(column).split()) for column in columns) + "\n")
