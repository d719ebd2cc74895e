"""A stream of fragments is killed while documents are open over batches: nothing is lost or doubled."""

from __future__ import annotations

import os
import random
import signal
import threading
from collections import Counter
from pathlib import Path

import pytest

from tests.spark.test_kill import Streamer, read
from twigcast.fragmenting import Fragment, Spans, encode, fragment
from twigcast.subscriptions.store import SubscriptionStore

KILLS = int(os.environ.get("TWIGCAST_KILLS", "3"))
SEED = int(os.environ.get("TWIGCAST_SEED", "20"))
PER_BATCH = 40
KINDS = ("all", "worker", "jvm", "driver")
PIPELINE = """
work = "disk/work"
source = { kind = "fragments", path = "feed", max_per_batch = PER_BATCH }
stream = { interval_seconds = 0.1 }
sink = { path = "disk/out/table" }
dead_letters = { path = "disk/out/dead-letters" }
metrics = { path = "disk/out/metrics" }
"""


def live(folder: Path, stopped: threading.Event, published: dict[str, bytes]) -> None:
    """Publish fragments of several documents at a time, shuffled and some twice, until told to stop.

    Every document that has begun is completed.
    """
    chance = random.Random(SEED)
    store = SubscriptionStore(folder / "subscriptions.db")
    waiting: list[Fragment] = []
    files = 0
    for number in range(1_000_000):
        if stopped.is_set() and not waiting:
            return
        if len(waiting) < 40 and not stopped.is_set():
            items = "".join(f"<item>{chance.random()}</item>" for _ in range(chance.randrange(4, 30)))
            body = f"<doc n='{number}'>{items}<end/></doc>".encode()
            parts = list(fragment(body, doc_id=f"{number:06}", cut=Spans(elements=4)))
            published[f"{number:06}"] = body
            waiting += parts
            write(folder, files, parts[0])  # which comes twice
            files += 1
            chance.shuffle(waiting)
        write(folder, files, waiting.pop())
        files += 1
        if chance.random() < 0.05:
            store.subscribe(
                f"s{chance.randrange(5)}", chance.choice(["//item", "//none"]), subscriber="moving"
            )
        if not stopped.is_set():
            stopped.wait(chance.uniform(0.02, 0.1))
        commits = folder / "disk" / "work" / "checkpoint" / "commits"
        while files > (len(list(commits.glob("[0-9]*"))) + 2) * PER_BATCH and not stopped.wait(0.1):
            pass  # a slow machine must not build up a large backlog


def write(folder: Path, number: int, part: Fragment) -> None:
    hidden = folder / "feed" / f".{number:06}.tcf"
    hidden.write_bytes(encode(part))
    hidden.rename(folder / "feed" / f"{number:06}.tcf")


@pytest.mark.soak
@pytest.mark.spark
def test_no_document_in_fragments_is_lost_or_doubled(tmp_path: Path) -> None:
    """Each document is delivered once, whole, to those who were there from the start.

    A dead letter is a copy of a fragment that came after the outcome of its document, once.
    """
    (tmp_path / "feed").mkdir()
    (tmp_path / "disk").mkdir()
    (tmp_path / "pipeline.toml").write_text(PIPELINE.replace("PER_BATCH", str(PER_BATCH)))
    store = SubscriptionStore(tmp_path / "subscriptions.db")
    store.subscribe("all", "/doc/end")
    store.subscribe("twig", "/doc[@n][item]/end")
    store.subscribe("count", "/doc[count(item) >= 4]")
    store.subscribe("part", "/doc/end", deliver="part")
    published: dict[str, bytes] = {}
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
    found = Counter((row["subscription"], row["doc_id"], row["content"]) for row in table)
    assert set(found.values()) == {1}
    fixed = {key for key in found if key[0] in ("all", "twig", "count", "part")}
    expected = {(id, name, body) for name, body in published.items() for id in ("all", "twig", "count")}
    assert fixed == expected | {("part", name, b"<end/>") for name in published}
    folder = tmp_path / "disk" / "out" / "dead-letters"
    letters = read(folder) if folder.exists() else []
    late = Counter((letter["code"], letter["doc_id"], letter["fragment"]) for letter in letters)
    assert late == {("fragment-late", name, 1): 1 for _, name, _ in late}
    for kill in streamer.kills:
        print(kill)
    print(
        len(published),
        "documents,",
        len(list((tmp_path / "feed").iterdir())),
        "fragments,",
        len(table),
        "deliveries",
    )
