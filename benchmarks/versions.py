"""One change among many subscriptions, from ``subscribe`` to the index that the next batch uses.

    store.subscribe ──► VersionBuilder.newest ──► the index as a worker opens it ──► a document that sees it

The store and the versions are real files, written and synced as in a pipeline; with a network, its routers
are told, too, and the worker opens the forwarding table.  Every document is checked: it must be matched by
the new subscription, or not any more by the removed one.
"""

from __future__ import annotations

import tempfile
import time
from functools import cache
from pathlib import Path
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any

from benchmarks.results import Outcome, Progress
from benchmarks.workloads import data, feed, workload
from twigcast.pattern import Subscription
from twigcast.subscriptions import SubscriptionStore, VersionBuilder

if TYPE_CHECKING:
    from twigcast.subscriptions import IndexVersion

CHANGES = 200
BULK = (1, 10, 100, 1000)
"""So many subscriptions are changed at once to see what a version writes."""

NETWORK: dict[str, Any] = {
    "routers": ["wire", "hub", "east", "west"],
    "links": [["wire", "hub"], ["hub", "east"], ["hub", "west"]],
}
"""The network of the demo."""
SUBSCRIBERS = 1000


@cache
def one_change(name: str, networked: bool, progress: Progress) -> Outcome:
    """Add and remove subscriptions one by one; the time until a worker's index has each change."""
    texts = workload(name).subscriptions
    documents = feed(name.split("-")[0]).unseen
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        progress(f"{name}: importing {len(texts):,} subscriptions")
        store = SubscriptionStore(root / "subscriptions.db")
        store.import_all(
            Subscription(f"s{number}", text, f"u{number % SUBSCRIBERS}") for number, text in enumerate(texts)
        )
        extension = _network() if networked else None
        builder = VersionBuilder(store, root / "versions", extension=extension)
        progress(f"{name}: the first version")
        began = time.perf_counter()
        (made,) = builder.at(builder.newest())
        first = time.perf_counter() - began
        progress(f"{name}: {CHANGES} changes")
        times: list[float] = []
        written: list[float] = []
        wrong: list[str] = []
        for number in range(CHANGES):
            removing = number % 4 == 3
            document = documents[(number - removing) % len(documents)]
            if not removing:
                found = sorted(each for each in _matched(made, document) if each.startswith("s"))
                text = texts[int(found[number % len(found)][1:])]
            id = f"new{number - removing}"
            before = _bytes(root / "versions")
            began = time.perf_counter()
            if removing:
                store.unsubscribe(id)
            else:
                store.subscribe(id, text, subscriber=f"u{number}")
            version = builder.newest()
            (made,) = builder.at(version)
            matched = _matched(made, document)
            times.append(time.perf_counter() - began)
            written.append(_bytes(root / "versions") - before)
            builder.release(list)
            if (id in matched) is removing:
                wrong.append(f"{id} is {'still' if removing else 'not'} matched by version {version}")
        figures: dict[str, float] = {
            "milliseconds": median(times) * 1e3,
            "milliseconds_99th": quantiles(times, n=100)[-1] * 1e3,
            "most_milliseconds": max(times) * 1e3,
            "bytes_per_change": median(written),
            "first_seconds": first,
        }
        for many in BULK:
            before = _bytes(root / "versions")
            store.import_all(Subscription(f"bulk{many}-{n}", f"/bulk{n}") for n in range(many))
            builder.newest()
            figures[f"bytes_for_{many}"] = _bytes(root / "versions") - before
    return Outcome(figures, tuple(wrong))


def _matched(version: IndexVersion, body: bytes) -> set[str]:
    """What a worker finds, through the network where there is one."""
    index = version.open_index()
    if "routers" not in version.extension:
        return set(map(str, index.match(body).ids))
    import pyarrow as pa

    from twigcast.spark.stages.network import ShippedNetwork

    network = ShippedNetwork.of(version, "path", None)
    assert network is not None
    batch = pa.record_batch({"body": pa.array([body])})
    matches, _, _ = network.carry(batch, index.match_batch(batch.column("body")).matches)
    names = index.rows().column("subscription")
    return {names[position].as_py() for position in matches[0].as_py()}


def _network() -> Any:
    from twigcast.spark.pipeline import NetworkSection
    from twigcast.spark.stages.network import NetworkTables

    subscribers = {
        f"u{number}": NETWORK["routers"][number % len(NETWORK["routers"])] for number in range(SUBSCRIBERS)
    }
    schema = str(data("nitf/nitf-2-5.dtd"))
    fields = {**NETWORK, "subscribers": subscribers, "schema": schema, "root": "nitf"}
    return NetworkTables(NetworkSection.model_validate(fields))


def _bytes(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
