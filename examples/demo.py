"""Runs the pipeline on local Spark: generated news, a network of routers, thousands of subscriptions.

make demo
python examples/demo.py --documents 20000 --subscriptions 50000
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from twigcast import spark as tc
from twigcast.schema import ElementGraph
from twigcast.spark import BatchMetrics
from twigcast.workload import (
    DocumentOptions,
    SubscriptionOptions,
    generate_documents,
    generate_subscriptions,
    news,
    news_dtd,
)

READERS = ("ada", "bo", "chen", "dara", "emil", "fatou", "goran", "hana", "ines", "jun", "kofi", "lena")
SITES = ("east", "west")
BATCHES = 4
PIPELINE = """\
# Made by examples/demo.py; docs/pipeline.md explains every key.
work = "work"

[source]
kind = "directory"
path = "feed"
max_per_batch = {per_batch}

[subscriptions]
path = "subscriptions.db"

[network]
routers = ["wire", "hub", "east", "west"]
links = [["wire", "hub"], ["hub", "east"], ["hub", "west"]]
schema = "news.dtd"
root = "feed"
metrics = "hops"

[network.subscribers]
{sites}

[[sink]]
kind = "format"
path = "deliveries"

[[sink]]
kind = "files"
path = "subscribers"

[dead_letters]
path = "dead-letters"

[metrics]
path = "metrics"

[spark]
master = "local[2]"
"""


def main() -> None:
    parser = argparse.ArgumentParser(description="A generated news feed through a pipeline on local Spark.")
    parser.add_argument("--documents", type=int, default=2000)
    parser.add_argument("--subscriptions", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, default=Path("out/demo"))
    arguments = parser.parse_args()
    console = Console()
    folder = fresh(arguments.output)
    (folder / "news.dtd").write_bytes(news_dtd())
    sites = "\n".join(f'{reader} = "{SITES[number % 2]}"' for number, reader in enumerate(READERS))
    (folder / "pipeline.toml").write_text(
        PIPELINE.format(per_batch=max(1, -(-arguments.documents // BATCHES)), sites=sites)
    )
    pipeline = tc.Pipeline.load(folder / "pipeline.toml")
    table = tc.SubscriptionStore(pipeline.subscriptions.path)
    batches: list[BatchMetrics] = []

    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
    ) as progress:
        graph = news()
        rows = subscriptions(graph, arguments.subscriptions, arguments.seed)
        table.import_all(progress.track(rows, arguments.subscriptions, description="Readers subscribe   "))
        publish(
            folder / "feed",
            documents(graph, arguments.documents, arguments.seed),
            progress,
            arguments.documents,
        )

        starting = progress.add_task("Spark starts        ", total=None)
        started = time.perf_counter()
        spark = tc.session("twigcast demo", *([pipeline.spark.master] if pipeline.spark.master else []))
        starting_seconds = time.perf_counter() - started
        progress.remove_task(starting)

        delivering = progress.add_task("Documents delivered ", total=arguments.documents)

        def show(batch: BatchMetrics) -> None:
            batches.append(batch)
            progress.advance(delivering, batch.documents)
            if len(batches) == BATCHES // 2:  # the next batch sees it
                table.subscribe("late-1", "//headline", subscriber="late", deliver="part")

        try:
            tc.run(spark, pipeline, on_batch=show)
        finally:
            spark.stop()

    console.print(by_batch(batches))
    console.print(by_reader(pipeline))
    console.print(by_link(pipeline))
    console.print(by_fault(pipeline))
    megabytes, seconds = sum(b.bytes for b in batches) / 1e6, sum(b.seconds for b in batches)
    console.print(
        f"\n{sum(b.documents for b in batches):,} documents ({megabytes:,.0f} MB) went to"
        f" {len(table):,} subscriptions in {seconds:,.1f} s,"
        f" after {starting_seconds:,.1f} s for Spark to start."
        "\nHalfway through, the reader late subscribed: the next batch used a new index version.",
        highlight=False,
        soft_wrap=True,
    )
    console.print(places(folder), highlight=False, soft_wrap=True)


def fresh(folder: Path) -> Path:
    """The folder, without the output of an earlier demo; a folder that no demo made is not touched."""
    if folder.exists() and any(folder.iterdir()):
        if not (folder / "pipeline.toml").exists():
            sys.exit(f"{folder} is there and not from a demo: name another --output")
        shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def subscriptions(graph: ElementGraph, count: int, seed: int) -> Iterator[tc.Subscription]:
    """Subscriptions of a dozen readers, who want documents or only the parts they ask for."""
    options = SubscriptionOptions(seed=seed, distinct=False, nested=0.5, value=0.6)
    for number, xpath in enumerate(generate_subscriptions(graph, count, options)):
        reader = READERS[number % len(READERS)]
        deliver = "part" if number // len(READERS) % 2 else "document"
        yield tc.Subscription(f"{reader}-{number // len(READERS) + 1}", xpath, reader, deliver)


def documents(graph: ElementGraph, count: int, seed: int) -> Iterator[bytes]:
    """News documents; one in fifty is bad in a way that occurs in real feeds."""
    for number, body in enumerate(generate_documents(graph, count, DocumentOptions(seed=seed))):
        yield FAULTS[number // 50 % len(FAULTS)](body) if number % 50 == 25 else body


FAULTS = (
    lambda body: body[: len(body) // 2],
    lambda body: b"",
    lambda body: body[:-20] + b"\xff\xfe" + body[-20:],
    lambda body: b'<!DOCTYPE feed [<!ENTITY e SYSTEM "file:///etc/hostname">]><feed>&e;</feed>',
    lambda body: bomb(),
)


def bomb() -> bytes:
    """A document of a few hundred bytes that would grow to gigabytes."""
    levels = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    return f'<!DOCTYPE feed [<!ENTITY e0 "boom">{levels}]><feed>&e9;</feed>'.encode()


def publish(feed: Path, bodies: Iterator[bytes], progress: Progress, count: int) -> None:
    feed.mkdir()
    for number, body in enumerate(progress.track(bodies, count, description="Documents published ")):
        (feed / f"{number + 1:06}.xml").write_bytes(body)


def by_batch(batches: list[BatchMetrics]) -> Table:
    table = plain(
        "Batches", "batch", "documents", "MB", "matches", "deliveries", "dead letters", "seconds", "index"
    )
    for batch in batches:
        figures = (batch.documents, batch.matches, batch.deliveries, batch.dead_letters)
        documents, matches, deliveries, dead = (f"{figure:,}" for figure in figures)
        size, seconds = f"{batch.bytes / 1e6:,.1f}", f"{batch.seconds:,.1f}"
        version = batch.index_version
        table.add_row(str(batch.batch), documents, size, matches, deliveries, dead, seconds, version)
    return table


def by_reader(pipeline: tc.Pipeline) -> Table:
    """What each reader received, from the table that the pipeline wrote."""
    rows = stored(pipeline.sink[0].path, ["subscriber", "doc_id", "part", "content"])
    rows = rows.append_column("bytes", pc.binary_length(rows["content"])).drop_columns("content")
    rows = rows.append_column("is_part", pc.cast(pc.is_valid(rows["part"]), pa.int64()))
    found = rows.group_by("subscriber").aggregate(
        [("doc_id", "count"), ("doc_id", "count_distinct"), ("is_part", "sum"), ("bytes", "sum")]
    )
    table = plain("\nWho got what", "reader", "deliveries", "of them parts", "from documents", "MB")
    for row in found.sort_by("subscriber").to_pylist():
        table.add_row(
            row["subscriber"],
            f"{row['doc_id_count']:,}",
            f"{row['is_part_sum']:,}",
            f"{row['doc_id_count_distinct']:,}",
            f"{row['bytes_sum'] / 1e6:,.1f}",
        )
    return table


def by_link(pipeline: tc.Pipeline) -> Table:
    """The documents that went over each link."""
    assert pipeline.network is not None
    rows = stored(pipeline.network.metrics, ["source", "target", "documents", "bytes", "false_positives"])
    sums = [("documents", "sum"), ("bytes", "sum"), ("false_positives", "sum")]
    table = plain("\nFrom router to router", "link", "documents", "MB", "false positives")
    for row in rows.group_by(["source", "target"]).aggregate(sums).to_pylist():
        if row["documents_sum"]:
            link, megabytes = f"{row['source']} → {row['target']}", f"{row['bytes_sum'] / 1e6:,.1f}"
            table.add_row(link, f"{row['documents_sum']:,}", megabytes, f"{row['false_positives_sum']:,}")
    return table


def by_fault(pipeline: tc.Pipeline) -> Table:
    """The documents that could not be read, from the dead letters."""
    rows = stored(pipeline.dead_letters.path, ["code", "doc_id", "message", "line", "column"]).sort_by(
        "doc_id"
    )
    table = plain("\nDead letters", "code", "documents", "for example")
    for code in sorted(set(rows["code"].to_pylist())):
        same = rows.filter(pc.equal(rows["code"], code)).to_pylist()
        first = same[0]
        place = f"{Path(first['doc_id']).name}:{first['line']}:{first['column']}"
        table.add_row(code, f"{len(same):,}", Text(f"{place}: {first['message']}"))
    return table


def stored(path: str | None, columns: list[str]) -> pa.Table:
    return ds.dataset(path, format="parquet", partitioning="hive").to_table(columns=columns)


def plain(title: str, *columns: str) -> Table:
    table = Table(title=title, box=None, title_justify="left", title_style="bold", pad_edge=False)
    for number, column in enumerate(columns):
        left = column in {"reader", "link", "code", "for example"}
        table.add_column(column, justify="left" if left else "right", no_wrap=number == 0)
    return table


def places(folder: Path) -> str:
    return f"""
[bold]Where to look[/bold]
  {folder}/deliveries        all deliveries, a Parquet table
  {folder}/subscribers       a folder for each reader, a file for each delivery
  {folder}/hops              the documents on each link in each batch, a Parquet table
  {folder}/dead-letters      the documents that could not be read, with code, line and column
  {folder}/pipeline.toml     the pipeline: put documents into {folder}/feed and run it again

[bold]Where to go next[/bold]
  .venv/bin/twigcast run {folder}/pipeline.toml
  .venv/bin/twigcast subscribe {folder}/pipeline.toml --id mine //headline
  .venv/bin/twigcast dead-letters {folder}/pipeline.toml
  docs/pipeline.md"""


if __name__ == "__main__":
    main()
