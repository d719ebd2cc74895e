"""``twigcast run`` runs a pipeline: it matches documents and delivers them to their subscribers."""

from __future__ import annotations

import json as json_text
import sys
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from twigcast.cli.live import Display, live, size
from twigcast.cli.options import AsJson, examples
from twigcast.cli.pipeline_source import check_source
from twigcast.cli.stores import check_store, load_pipeline, need
from twigcast.cli.strangers import StrangerShares
from twigcast.cli.terminal import complain, plural

if TYPE_CHECKING:
    from twigcast.spark import BatchMetrics, Pipeline

EXAMPLES = examples(
    "twigcast run news.toml",
    "twigcast run news.toml --stream",
    "twigcast run news.toml --json > batches.jsonl",
)
PIPED = (
    "batch",
    "documents",
    "bytes",
    "matches",
    "deliveries",
    "dead_letters",
    "seconds",
    "index_version",
)


def command(
    pipeline: Annotated[Path, typer.Argument(metavar="PIPELINE", help="The pipeline file (TOML).")],
    stream: Annotated[
        bool,
        typer.Option("--stream", help="Keep running and take new documents, until Ctrl-C or SIGTERM."),
    ] = False,
    json: AsJson = False,
) -> None:
    """Read documents from the source of a pipeline, match them, and write deliveries to its sinks.

    Without --stream the run processes the documents that no earlier run has processed, and ends.
    After a stop or a kill, the next run continues where the last one stopped: file sinks receive each
    delivery exactly once, append-only sinks at least once, with a delivery_id to de-duplicate.
    Subscriptions and mappings may change during a run; the next batch uses the change.

    On a terminal the batches are shown in a table.
    Piped, the output is one line for each batch: batch, documents, bytes, matches, deliveries,
    dead letters, seconds, index version.
    With --json it is one object for each batch.
    """
    plan = load_pipeline(pipeline)
    need("pyspark", "pandas")
    check_source(plan)
    check_store(plan, pipeline)
    strangers = StrangerShares()
    with live() as display:
        stopped = _go(plan, display, strangers, streaming=stream, json=json)
    totals = display.totals
    if not totals.batches and not stopped:
        _say_nothing_new(plan, pipeline)
        return
    complain(
        f"{plural(totals.documents, 'document')} ({size(totals.bytes)}) in "
        f"{plural(totals.batches, 'batch')}: {plural(totals.deliveries, 'delivery')}, "
        f"{plural(totals.dead_letters, 'dead letter')}"
    )
    for sink in plan.sink:
        complain(f"  deliveries    {sink.path or sink.function or sink.format}")
    for line in strangers.summary():
        complain(f"  {line}")
    if totals.dead_letters:
        complain(f"  dead letters  {plan.dead_letters.path} (twigcast dead-letters {pipeline})")
    if stopped and not stream:
        raise KeyboardInterrupt


def _go(plan: Pipeline, display: Display, strangers: StrangerShares, *, streaming: bool, json: bool) -> bool:
    """Run the pipeline; true if it was asked to stop before it ended by itself."""
    from twigcast.spark import session_for, start_run, stream, task_counts, wait_until_stopped

    writer = BatchWriter(json=json)

    def show(metrics: BatchMetrics) -> None:
        display.add(metrics)
        for line in strangers.add(metrics.mappings):
            complain(line)
        writer.write(metrics)

    display.say("Starting Spark")
    with session_for(plan) as spark:
        display.tasks = partial(task_counts, spark)
        display.say("Waiting for documents" if streaming else "Matching")
        query = stream(spark, plan, on_batch=show) if streaming else start_run(spark, plan, show)
        stopped = query is not None and wait_until_stopped(
            query,
            lambda: display.say("Finishing the batch (Ctrl-C again to stop at once)"),
            is_unwanted=lambda: writer.is_closed,
        )
        display.tasks = None
        display.say("Stopping Spark")
    writer.check()
    return stopped


class BatchWriter:
    """Writes batches to stdout, unless that is a terminal; a reader that has left does not fail a batch."""

    def __init__(self, *, json: bool) -> None:
        self.is_closed = False
        self._json = json
        self._writes = json or not sys.stdout.isatty()

    def write(self, metrics: BatchMetrics) -> None:
        """Write the line of a batch."""
        if not self._writes or self.is_closed:
            return
        try:
            sys.stdout.write(batch_line(metrics, json=self._json) + "\n")
            sys.stdout.flush()
        except BrokenPipeError:
            self.is_closed = True

    def check(self) -> None:
        """Raise ``BrokenPipeError`` if the reader has left."""
        if self.is_closed:
            raise BrokenPipeError


def batch_line(metrics: BatchMetrics, *, json: bool) -> str:
    """A batch as a line of the output."""
    fields = asdict(metrics)
    if json:
        return json_text.dumps(fields, ensure_ascii=False)
    return "\t".join(
        f"{value:.3f}" if isinstance(value := fields[name], float) else str(value) for name in PIPED
    )


def _say_nothing_new(plan: Pipeline, pipeline: Path) -> None:
    """Say why a run had no batch, and what sends documents again."""
    from twigcast.spark import Journal

    last = max((batch for batch in Journal(plan.work.journal).batches() if batch >= 0), default=None)
    source = plan.source.table or plan.source.path or plan.source.format
    if last is None and plan.network is not None and plan.network.plan is not None:
        complain(
            f"no document has come yet to {source}\n"
            f"  subscriptions  {plan.network.plan} (for the pipeline that sends documents)"
        )
        return
    if last is None:
        complain(f"the source has no documents: {source}")
        return
    complain(
        f"nothing new since batch {last}: all documents of the source were processed before\n"
        f"  past documents for a new subscriber or sink: twigcast replay {pipeline}"
    )
