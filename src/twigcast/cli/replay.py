"""``twigcast replay`` sends past documents through the current subscriptions of a pipeline."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from twigcast.cli.live import live, size
from twigcast.cli.options import AsJson, examples
from twigcast.cli.run import BatchWriter
from twigcast.cli.stores import check_store, load_pipeline, need
from twigcast.cli.terminal import complain, plural

if TYPE_CHECKING:
    from twigcast.spark import BatchMetrics, Pipeline, Replay

EXAMPLES = examples(
    "twigcast replay news.toml",
    "twigcast replay news.toml --subscriber desk-1 --since 2031-05-06",
    "twigcast replay news.toml --from-batch 12 --sink out/lines",
    "twigcast replay news.toml --sink out/deliveries --again",
)
SHOWN = 5  # files that are gone


def command(
    pipeline: Annotated[Path, typer.Argument(metavar="PIPELINE", help="The pipeline file (TOML).")],
    since: Annotated[
        str | None,
        typer.Option(
            "--since",
            metavar="TIME",
            help="Only batches that began at or after this time, such as 2031-05-06 or 2031-05-06T07:08.",
        ),
    ] = None,
    from_batch: Annotated[
        int | None,
        typer.Option(
            "--from-batch", metavar="N", min=0, help="Only batches with this number or a later one."
        ),
    ] = None,
    subscriber: Annotated[
        str | None, typer.Option("--subscriber", metavar="NAME", help="Only deliveries to this subscriber.")
    ] = None,
    sink: Annotated[
        str | None,
        typer.Option("--sink", metavar="NAME", help="Only this sink: its path, function, format or kind."),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Also send deliveries that the sinks already have.")
    ] = False,
    json: AsJson = False,
) -> None:
    """Send the documents of past batches through the current subscriptions of a pipeline.

    Use it for a new subscriber, a changed subscription or a new sink.
    Deliveries have the ids that they would have had in the first run, and a sink gets only those that it does
    not have; with --again it gets all of them.  Where a delivery is a file, the same file is written again.
    A sink that cannot say what it has, such as a function or Kafka, is left out unless --again is given.

    The documents are read from the source again; files that are gone are reported.
    A replay is one or more batches with negative numbers, and may run beside a stream of the same pipeline.
    If it is interrupted, the next replay finishes it.

    The output is that of twigcast run.
    """
    start = _time(since)
    plan = load_pipeline(pipeline)
    need("pyspark", "pandas")
    check_store(plan, pipeline)
    done = _go(plan, start, from_batch, subscriber, sink, again=again, json=json)
    documents = sum(batch.documents for batch in done.batches)
    count = sum(batch.bytes for batch in done.batches)
    new = sum(batch.deliveries for batch in done.batches)
    letters = sum(batch.dead_letters for batch in done.batches)
    if done.batches:
        complain(
            f"{plural(documents, 'document')} ({size(count)}) replayed: "
            f"{plural(new, 'delivery')}, "
            f"{plural(letters, 'new dead letter')}"
        )
    else:
        complain("there are no past documents to replay" if not done.missing else "no document was replayed")
    for name in done.left_out:
        complain(f"  left out      {name}: it cannot say which deliveries it has (--again sends all of them)")
    if done.interrupted is not None:
        complain(f"  left out      batch {done.interrupted}, which was interrupted: twigcast run finishes it")
    if done.missing:
        complain(f"  gone          {plural(len(done.missing), 'file')} that past batches had:")
        for path in done.missing[:SHOWN]:
            complain(f"                {path}")
        if done.missing[SHOWN:]:
            complain(f"                and {len(done.missing) - SHOWN:,} more")


def _time(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text).astimezone()
    except ValueError:
        raise typer.BadParameter(
            f"expected a time such as 2031-05-06 or 2031-05-06T07:08:09, got {text!r}", param_hint="--since"
        ) from None


def _go(
    plan: Pipeline,
    since: datetime | None,
    from_batch: int | None,
    subscriber: str | None,
    sink: str | None,
    *,
    again: bool,
    json: bool,
) -> Replay:
    from twigcast.spark import replay, session_for, task_counts

    writer = BatchWriter(json=json)
    with live() as display:

        def show(metrics: BatchMetrics) -> None:
            display.add(metrics)
            writer.write(metrics)

        display.say("Starting Spark")
        with session_for(plan) as spark:
            display.tasks = partial(task_counts, spark)
            display.say("Replaying")
            done = replay(
                spark,
                plan,
                since=since,
                from_batch=from_batch,
                subscriber=subscriber,
                sink=sink,
                again=again,
                on_batch=show,
            )
            display.tasks = None
            display.say("Stopping Spark")
    writer.check()
    return done
