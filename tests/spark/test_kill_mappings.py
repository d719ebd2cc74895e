"""A mapping changes under a stream that is killed: nothing is lost, and no batch has two versions of it.

Odd versions of the mapping have places, even ones do not; so a subscription to places says which version a
document was matched with.
"""

from __future__ import annotations

import os
import random
import signal
import threading
from collections import Counter
from pathlib import Path

import pytest

from tests.spark.test_kill import Streamer, read
from tests.spark.three_publishers import MATCHES, NORTH, write_mapping, write_mappings
from twigcast.spark.runs.journal import Journal
from twigcast.subscriptions.store import SubscriptionStore

KILLS = int(os.environ.get("TWIGCAST_KILLS", "3"))
SEED = int(os.environ.get("TWIGCAST_SEED", "20"))
KINDS = ("all", "worker", "jvm", "driver")
PIPELINE = """
work = "disk/work"
source = { path = "feed", max_per_batch = 40 }
stream = { interval_seconds = 0.1 }
mediation = { schema = "global.dtd", metrics = "disk/out/mappings" }
sink = { path = "disk/out/table" }
dead_letters = { path = "disk/out/dead-letters" }
metrics = { path = "disk/out/metrics" }
"""
WITHOUT_TOWN = {place: image for place, image in MATCHES["north"].items() if place != "paper/story/town"}


def live(folder: Path, stopped: threading.Event, published: set[str]) -> None:
    """Publish documents, and change the mapping, until told to stop."""
    chance = random.Random(SEED)
    version = 1
    for number in range(1_000_000):
        name = f"{number:06}.xml"
        hidden = folder / "feed" / f".{name}"
        hidden.write_bytes(NORTH.replace(b"Rain", b"Rain %d" % number))
        hidden.rename(folder / "feed" / name)
        published.add(name)
        if chance.random() < 0.3:
            version += 1
            pairs = MATCHES["north"] if version % 2 else WITHOUT_TOWN
            write_mapping(folder / "mappings", "north", pairs, version)
        if stopped.wait(chance.uniform(0.05, 0.4)):
            return


@pytest.mark.soak
@pytest.mark.spark
def test_no_batch_has_two_versions_of_a_mapping(tmp_path: Path) -> None:
    """Each document is delivered once, by the version that the journal has for its batch."""
    write_mappings(tmp_path, "north")
    (tmp_path / "feed").mkdir()
    (tmp_path / "disk").mkdir()
    (tmp_path / "pipeline.toml").write_text(PIPELINE)
    store = SubscriptionStore(tmp_path / "subscriptions.db")
    store.subscribe("all", "/news/item/author[name='Ann']")
    store.subscribe("places", "//place", deliver="part")
    published: set[str] = set()
    streamer, stopped = Streamer(tmp_path, random.Random(SEED)), threading.Event()
    living = threading.Thread(target=live, args=(tmp_path, stopped, published))
    streamer.start()
    living.start()
    try:
        for number in range(KILLS):
            streamer.kill(KINDS[number % len(KINDS)])
            streamer.start()
        stopped.set()
        living.join()
        streamer.finish()
    finally:
        stopped.set()
        if streamer.process is not None and streamer.process.poll() is None:
            os.killpg(streamer.process.pid, signal.SIGKILL)

    table = read(tmp_path / "disk" / "out" / "table")
    found = Counter((row["subscription"], row["name"]) for row in table)
    assert {name for id, name in found if id == "all"} == published
    assert set(found.values()) == {1}
    rows = [row for row in read(tmp_path / "disk" / "out" / "mappings") if row["documents"]]
    entries = Journal(tmp_path / "disk" / "work" / "journal").entries()
    versions = {
        int(str(row["batch"])): int(str(row["mapping"]).partition("@")[2].partition("#")[0]) for row in rows
    }
    assert len(versions) == len(rows) == len(entries)
    assert {row["batch"]: row["mapping_set"] for row in rows} == {
        batch: entry.mappings for batch, entry in entries.items()
    }
    with_places = {row["name"] for row in table if row["subscription"] == "places"}
    assert with_places == {
        row["name"] for row in table if row["subscription"] == "all" and versions[int(str(row["batch"]))] % 2
    }
    assert len(set(versions.values())) > 1
