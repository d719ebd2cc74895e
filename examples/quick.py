"""Matches a generated feed of news against thousands of subscriptions with the index alone.

python examples/quick.py --documents 5000 --subscriptions 100000
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import shorten

import pyarrow as pa
import pyarrow.compute as pc
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from twigcast import Index
from twigcast.schema import ElementGraph
from twigcast.workload import (
    DocumentOptions,
    SubscriptionOptions,
    generate_documents,
    generate_subscriptions,
    news,
)

BATCH = 100
READERS = ("ada", "bo", "chen", "dara", "emil", "fatou", "goran", "hana", "ines", "jun", "kofi", "lena")


@dataclass(frozen=True)
class Feed:
    """What came of the documents: matches by position of the subscription, bad ones, and the time it took."""

    matches: pa.ChunkedArray
    errors: list[tuple[int, Exception]]
    seconds: float


def main() -> None:
    parser = argparse.ArgumentParser(description="Match generated news against generated subscriptions.")
    parser.add_argument("--documents", type=int, default=2000)
    parser.add_argument("--subscriptions", type=int, default=6000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    console = Console()
    graph = news()

    with Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), console=console, transient=True
    ) as progress:
        total = arguments.subscriptions
        items = list(
            progress.track(
                subscriptions(graph, total, arguments.seed), total, description="Subscriptions written"
            )
        )
        started = time.perf_counter()
        index = Index(items)
        building = time.perf_counter() - started
        total = arguments.documents
        bodies = list(
            progress.track(
                documents(graph, total, arguments.seed), total, description="Documents published  "
            )
        )
        feed = match(index, bodies, progress)

    console.print(summary(index, bodies, feed, building))
    console.print(favourites(index, dict(items), feed))
    console.print(deliveries(index, bodies, feed))
    for position, error in feed.errors:
        console.print(
            Text(f"Document {position + 1:,} was cut off on purpose: {error}.  All others were matched.")
        )
    console.print(
        "\n[bold]Where to go next[/bold]\n"
        "  make demo                      the same as a pipeline on Spark\n"
        "  .venv/bin/twigcast --help      the same from the command line\n"
        "  examples/                      small programs to start from\n"
        "  docs/patterns.md               what subscriptions can ask for\n"
        "  make bench                     how fast, measured against a bare parse",
        highlight=False,
    )


def subscriptions(graph: ElementGraph, count: int, seed: int) -> Iterator[tuple[str, str]]:
    """Subscriptions of a dozen readers: plain paths, branching ones, and ones that ask for values."""
    kinds = (
        SubscriptionOptions(seed=seed, distinct=False, skew=0.5),
        SubscriptionOptions(seed=seed, distinct=False, nested=0.2),
        SubscriptionOptions(seed=seed, distinct=False, nested=0.2, value=0.2),
    )
    streams = [generate_subscriptions(graph, count, options) for options in kinds]
    for number in range(count):
        reader = READERS[number % len(READERS)]
        yield f"{reader}-{number // len(READERS) + 1}", next(streams[number % len(streams)])


def documents(graph: ElementGraph, count: int, seed: int) -> Iterator[bytes]:
    """News documents; the one in the middle is cut off, as happens in real feeds."""
    for number, body in enumerate(generate_documents(graph, count, DocumentOptions(seed=seed))):
        yield body[: len(body) // 2] if number == count // 2 else body


def match(index: Index, bodies: list[bytes], progress: Progress) -> Feed:
    """The feed through the index, in batches as a pipeline would do it."""
    chunks, errors, seconds = [], [], 0.0
    task = progress.add_task("Documents matched    ", total=len(bodies))
    for start in range(0, len(bodies), BATCH):
        batch = pa.array(bodies[start : start + BATCH], pa.binary())
        started = time.perf_counter()
        found = index.match_batch(batch)
        seconds += time.perf_counter() - started
        chunks.append(found.matches)
        errors += [(start + row, error) for row, error in enumerate(found.errors) if error is not None]
        progress.advance(task, len(batch))
    return Feed(pa.chunked_array(chunks), errors, seconds)


def summary(index: Index, bodies: list[bytes], feed: Feed, building: float) -> Table:
    megabytes = sum(map(len, bodies)) / 1e6
    matches = pc.sum(pc.list_value_length(feed.matches)).as_py() or 0
    table = Table(
        title="What happened", box=None, show_header=False, title_justify="left", title_style="bold"
    )
    table.add_column(style="dim")
    table.add_column(justify="right")
    table.add_row("subscriptions", f"{len(index):,}")
    table.add_row("index built in", f"{building * 1000:,.0f} ms")
    table.add_row("documents", f"{len(bodies):,}  ({megabytes:,.1f} MB)")
    table.add_row("matches", f"{matches:,}  ({matches / len(bodies):,.1f} a document)")
    table.add_row("matched in", f"{feed.seconds * 1000:,.0f} ms")
    table.add_row(
        "throughput", f"{megabytes / feed.seconds:,.0f} MB/s, {len(bodies) / feed.seconds:,.0f} documents/s"
    )
    return table


def favourites(index: Index, texts: dict[str, str], feed: Feed) -> Table:
    """The subscriptions that most documents matched, without those that match every one."""
    counted = pc.value_counts(pc.list_flatten(feed.matches)).to_pylist()
    readable = len(feed.matches) - len(feed.errors)
    counted = [pair for pair in counted if pair["counts"] < readable]
    counted.sort(key=lambda pair: (-pair["counts"], pair["values"]))
    ids = list(index.ids)
    table = Table(title="\nBusiest subscriptions", box=None, title_justify="left", title_style="bold")
    table.add_column("id")
    table.add_column("documents", justify="right")
    table.add_column("asks for", overflow="fold")
    seen: set[str] = set()
    for pair in counted:
        id = ids[pair["values"]]
        if texts[id] not in seen:
            seen.add(texts[id])
            table.add_row(id, f"{pair['counts']:,}", Text(texts[id]))
        if len(seen) == 5:
            break
    return table


def deliveries(index: Index, bodies: list[bytes], feed: Feed) -> Table:
    """Some documents, who gets them, and the part that the last of those selected."""
    ids = list(index.ids)
    table = Table(title="\nWho gets what (a sample)", box=None, title_justify="left", title_style="bold")
    table.add_column("document", justify="right", min_width=8)
    table.add_column("subscribers", justify="right", min_width=11)
    table.add_column("such as", min_width=22)
    table.add_column("and the part that one asked for", no_wrap=True)
    shown = 0
    for number, positions in enumerate(feed.matches.to_pylist()):
        if not positions or shown == 6:
            continue
        shown += 1
        body, last = bodies[number], ids[positions[-1]]
        part = index.select(body, last)[0]
        text = shorten(body[part.start : part.end].decode(), 60, placeholder=" …")
        names = ", ".join(ids[position] for position in positions[:2])
        table.add_row(
            f"{number + 1}", f"{len(positions):,}", Text(names), Text(f"{last}: {text}", overflow="ellipsis")
        )
    return table


if __name__ == "__main__":
    main()
