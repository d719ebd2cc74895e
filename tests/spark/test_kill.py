"""A stream is killed at random points while documents and subscriptions arrive; nothing is lost or doubled.

What is killed is a worker, the daemon of the workers, the JVM, the driver, or all of them; once the disk with
the outputs and the state is full.  In the feed are poisoned documents, hostile archives, a named pipe, a loop
of links, and names that are not UTF-8.
Documents, subscriptions and kills are drawn with a seed; their timing depends on the machine.  There are
three kills by default; ``TWIGCAST_KILLS`` and ``TWIGCAST_SEED`` change that, as in ``make soak``.

The expected deliveries are derived from three things that the run leaves behind: the documents of each batch
(a subscriber to everything receives each of them), the index version of the batch in the journal, and the
subscriptions of that version in the store.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import random
import signal
import subprocess
import sys
import tarfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow.dataset as ds
import pytest

from tests.oracles.delivery_ids import delivery_id
from twigcast import Index
from twigcast.pattern import Subscription
from twigcast.spark.outputs.file_names import FILE_NAME, FileNameTemplate
from twigcast.spark.runs.journal import Journal
from twigcast.subscriptions.store import SubscriptionStore
from twigcast.system import name_text

KILLS = int(os.environ.get("TWIGCAST_KILLS", "3"))
SEED = int(os.environ.get("TWIGCAST_SEED", "20"))
PER_BATCH = 40
PATIENCE = 300.0  # seconds for a process to start, or to end

KINDS = ("worker", "full disk", "all", "jvm", "daemon", "driver")

PIPELINE = """
work = "disk/work"
source = { kind = "archives", path = "feed", options = { maxFilesPerTrigger = PER_BATCH } }
stream = { interval_seconds = 0.1 }
subscriptions = { path = "subscriptions.db" }

[[sink]]
kind = "format"
path = "disk/out/table"

[[sink]]
kind = "files"
path = "disk/out/files"

[[sink]]
kind = "jsonl"
path = "disk/out/lines"

[dead_letters]
path = "disk/out/dead-letters"

[metrics]
path = "disk/out/metrics"
"""

FIXED = {"all": "/*", "x1": "//x1", "twig": "/news[x2]//x3"}
LAUGHS = b"".join(b'<!ENTITY l%d "%s">' % (n + 1, b"&l%d;" % n * 20) for n in range(9))
BAD = [
    *(b"", b" ", b"<news><x1></news>", b"<news>\xff\xfe</news>", b"<news>&nobody;</news>", b"<news"),
    b"<x1>" * 100_000,
    b'<!DOCTYPE n [<!ENTITY l0 "ha">' + LAUGHS + b"]><n>&l9;</n>",
]


def hostile_archive() -> bytes:
    """A small archive with one document, after which a header says that it has 3 GB."""
    member, header = tarfile.TarInfo("ok.xml"), tarfile.TarInfo("long")
    member.size = len(MEMBER)
    header.type, header.size = tarfile.XHDTYPE, 3 << 30
    file = io.BytesIO()
    with gzip.open(file, "wb") as packed:
        packed.write(member.tobuf() + MEMBER.ljust(512, b"\0") + header.tobuf(tarfile.GNU_FORMAT))
        for _ in range(8):
            packed.write(bytes(1 << 20))
    return file.getvalue()


MEMBER = b"<news><x1/><x2>of an archive</x2><x3/></news>"
HOSTILE = hostile_archive()


@dataclass
class World:
    """The folder of a pipeline, the documents published in it, and the first subscriptions."""

    folder: Path
    seed: int
    good: dict[str, bytes] = field(default_factory=dict)
    bad: dict[str, bytes | None] = field(default_factory=dict)
    fixed: dict[str, str] = field(default_factory=lambda: dict(FIXED))
    plain: dict[int, tuple[dict[str, Subscription], Index]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        (self.folder / "feed").mkdir()
        (self.folder / "pipeline.toml").write_text(PIPELINE.replace("PER_BATCH", str(PER_BATCH)))
        self.table = SubscriptionStore(self.folder / "subscriptions.db")
        self.table.hold("test", 0)  # every version is listed again at the end
        self.disk = self.folder / "disk"
        self.disk.mkdir()
        self.mounted = not subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(self.disk)],
            capture_output=True,
            check=False,
        ).returncode
        self.journal = Journal(self.disk / "work" / "journal")
        os.mkfifo(self.folder / "feed" / "pipe")
        (self.folder / "feed" / "loop").symlink_to(".")
        self.bad |= {"pipe": None, "loop": None}
        for id, xpath in self.fixed.items():
            self.table.subscribe(id, xpath, subscriber=f"fixed/{id}")
        self.table.subscribe("part", "//x2", deliver="part")

    def live(self, stopped: threading.Event) -> None:
        """Publish documents and change subscriptions until told to stop."""
        chance = random.Random(self.seed)
        for number in range(1_000_000):
            name = b"%06d%s" % (number, chance.choice([b".xml", b".xml", b"\xe9\n.xml", b".tgz"]))
            self.publish(name, chance)
            if chance.random() < 0.3:
                self.change(chance)
            if stopped.wait(chance.uniform(0.05, 0.5)):
                return
            while self.waiting() > 3 * PER_BATCH and not stopped.wait(0.1):
                pass  # a slow machine must not build up a large backlog

    def waiting(self) -> int:
        """The approximate number of documents that were published and not yet processed."""
        done = len(list((self.folder / "disk" / "work" / "checkpoint" / "commits").glob("[0-9]*")))
        return len(self.good) + len(self.bad) - done * PER_BATCH

    def publish(self, raw: bytes, chance: random.Random) -> None:
        name = name_text(raw)
        if raw.endswith(b".tgz"):
            body, kept, key = HOSTILE, self.good, f"{name}!ok.xml"
            self.bad[name] = None
        elif chance.random() < 0.15:
            body, kept, key = chance.choice(BAD), self.bad, name
        else:
            inside = "".join(f"<x{k}>{chance.random()}</x{k}>" for k in chance.choices(range(6), k=4))
            body, kept, key = f'<news n="{raw[:6].decode()}">{inside}</news>'.encode(), self.good, name
        feed = os.fsencode(self.folder / "feed")
        with open(os.path.join(feed, b"." + raw), "wb") as file:
            file.write(body)
        kept[key] = MEMBER if body is HOSTILE else body
        os.rename(os.path.join(feed, b"." + raw), os.path.join(feed, raw))

    def change(self, chance: random.Random) -> None:
        id = f"s{chance.randrange(8)}"
        if chance.random() < 0.4 and id in {row.id for row in self.table.subscriptions()}:
            self.table.unsubscribe(id)
        else:
            deliver = chance.choice(["document", "part"])
            self.table.subscribe(id, f"//x{chance.randrange(6)}", subscriber="moving", deliver=deliver)

    def expected(self, batches: dict[str, int]) -> Counter[tuple[int, str, str, str, int | None, bytes]]:
        """The expected deliveries of each batch, computed with a plain index of its version."""
        wanted: Counter[tuple[int, str, str, str, int | None, bytes]] = Counter()
        entries = self.journal.entries()
        for name, batch in batches.items():
            body = self.good[name]
            rows, index = self.subscribed(int(entries[batch].version))
            for id in index.match(body).ids:
                row = rows[str(id)]
                if row.deliver == "document":
                    wanted[batch, row.subscriber, row.id, name, None, body] += 1
                    continue
                for part, node in enumerate(index.select(body, id)):
                    wanted[batch, row.subscriber, row.id, name, part, body[node.start : node.end]] += 1
        return wanted

    def subscribed(self, version: int) -> tuple[dict[str, Subscription], Index]:
        """The subscriptions at a version, and a plain index of them."""
        if version not in self.plain:
            rows = {row.id: row for row in self.table.subscriptions(version)}
            self.plain[version] = rows, Index(rows.values())
        return self.plain[version]


@dataclass
class Streamer:
    """The process that runs the stream, and a record of its kills."""

    folder: Path
    chance: random.Random
    process: subprocess.Popen[bytes] | None = None
    kills: list[str] = field(default_factory=list)

    def start(self) -> None:
        (self.folder / "ready").unlink(missing_ok=True)
        script = Path(__file__).with_name("stream_until_stopped.py")
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, str(script), str(self.folder)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def kill(self, kind: str) -> None:
        """Wait for a random time, and then kill processes of a kind, or fill the disk."""
        assert self.process is not None
        journal = Journal(self.folder / "disk" / "work" / "journal")
        if self.chance.random() < 0.15:
            point = "at the start"
            self.wait(lambda: False, self.chance.uniform(0.5, 6.0))
        elif self.chance.random() < 0.25:
            point = "at any time"
            self.wait((self.folder / "ready").exists, PATIENCE)
            self.wait(lambda: False, self.chance.uniform(0.0, 5.0))
        else:
            point = "in a batch"
            self.wait((self.folder / "ready").exists, PATIENCE)
            begun = len(journal.batches()) + self.chance.randrange(2)
            self.wait(lambda: len(journal.batches()) > begun, PATIENCE)
            self.wait(lambda: False, self.chance.uniform(0.0, 2.0))
        committed = len(list((self.folder / "disk" / "work" / "checkpoint" / "commits").glob("[0-9]*")))
        open_batches = len(journal.batches()) - committed
        survived = self._strike(kind)
        self.kills.append(f"{kind}, {point}: {open_batches} batches begun and not done{survived}")

    def _strike(self, kind: str) -> str:
        """Kill processes of a kind, or fill the disk, and see to it that the driver has ended."""
        assert self.process is not None
        filler = self.folder / "disk" / "filler"
        if kind == "full disk":
            with suppress(OSError), filler.open("wb", buffering=0) as file:
                while file.write(bytes(1 << 12)):
                    pass
        else:
            for pid in self._processes(kind):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        survived = ""
        try:
            self.process.wait(PATIENCE if kind == "full disk" else 10.0)
        except subprocess.TimeoutExpired:  # an idle worker, for example, is not missed
            survived = "; the driver went on"
            self.process.kill()
            self.process.wait(PATIENCE)
        filler.unlink(missing_ok=True)
        return survived

    def _processes(self, kind: str) -> list[int]:
        """The ids of the processes of a kind, among those of the session of the driver."""
        assert self.process is not None
        driver = self.process.pid
        found: dict[str, list[int]] = {"driver": [driver], "jvm": [], "daemon": [], "worker": []}
        parents: dict[int, int] = {}
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                fields = (folder / "stat").read_text().rpartition(") ")[2].split()
                command = (folder / "cmdline").read_bytes()
                if int(fields[3]) == driver and int(folder.name) != driver:
                    parents[int(folder.name)] = int(fields[1])
                    if b"daemon" in command:
                        found["daemon"].append(int(folder.name))
                    elif b"java" in command:
                        found["jvm"].append(int(folder.name))
        found["worker"] = [pid for pid in found["daemon"] if parents[pid] in found["daemon"]]
        found["daemon"] = [pid for pid in found["daemon"] if pid not in found["worker"]]
        if kind == "all":
            return [pid for pids in found.values() for pid in pids]
        return found[kind] or [driver]

    def finish(self) -> None:
        """Let the stream process all documents, and end by itself."""
        assert self.process is not None
        (self.folder / "stop").touch()
        assert self.process.wait(PATIENCE) == 0, self.log()

    def wait(self, true: object, seconds: float) -> None:
        """Wait until a condition holds, or for some seconds; the process must not end meanwhile."""
        assert callable(true)
        assert self.process is not None
        deadline = time.monotonic() + seconds
        while not true() and time.monotonic() < deadline:
            assert self.process.poll() is None, self.log()
            time.sleep(0.01)

    def log(self) -> str:
        return (self.folder / "log").read_text(errors="replace")[-4000:]


@pytest.mark.spark
def test_nothing_is_lost_or_doubled(world: World) -> None:
    """After all kills and restarts, every output has what it would have without them.

    One test, for one world: each of its checks would need the minute of kills again in a process of its own.
    """
    kills = live_and_kill(world)
    table = read(world.disk / "out" / "table")
    for number, kill in enumerate(kills, 1):
        print(f"\nkill {number}: {kill}", end="")
    print(f"\n{len(world.good)} good and {len(world.bad)} bad documents, {len(table)} deliveries")
    check_every_expected_delivery_is_there_exactly_once(world, table)
    check_who_was_there_from_the_start_has_all_once(world, table)
    check_ids_of_deliveries_are_determined(world, table)
    check_files_are_the_same_deliveries(world, table)
    check_lines_are_the_same_deliveries(world, table)
    check_every_bad_document_is_a_dead_letter_once(world)
    check_figures_add_up(world, table)


def live_and_kill(world: World) -> list[str]:
    """Kill the stream while documents and subscriptions arrive, then finish; returns the kills."""
    streamer = Streamer(world.folder, random.Random(SEED))
    stopped = threading.Event()
    living = threading.Thread(target=world.live, args=(stopped,))
    streamer.start()
    living.start()
    try:
        kinds = [kind for kind in KINDS if kind != "full disk" or world.mounted]
        for number in range(KILLS):
            streamer.kill(kinds[number] if number < len(kinds) else streamer.chance.choice(kinds))
            streamer.start()
        stopped.set()
        living.join()
        streamer.finish()
        return streamer.kills
    finally:
        stopped.set()
        if streamer.process is not None and streamer.process.poll() is None:
            os.killpg(streamer.process.pid, signal.SIGKILL)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """A world whose disk is unmounted at the end."""
    made = World(tmp_path, SEED)
    yield made
    if made.mounted:
        subprocess.run(["umount", "-l", str(made.disk)], check=False)


def read(folder: Path) -> list[dict[str, object]]:
    """The rows of a table in batch folders, as any reader of Parquet finds them."""
    rows = ds.dataset(folder, format="parquet", partitioning="hive").to_table().to_pylist()
    return [row | {"name": Path(str(row.get("doc_id", ""))).name} for row in rows]


def check_every_expected_delivery_is_there_exactly_once(world: World, table: list[dict[str, object]]) -> None:
    """The table has exactly the deliveries to the subscriptions of each batch's version."""
    batches = {str(row["name"]): int(str(row["batch"])) for row in table if row["subscription"] == "all"}
    assert set(batches) == set(world.good)
    found = Counter(
        (row["batch"], row["subscriber"], row["subscription"], row["name"], row["part"], row["content"])
        for row in table
    )
    assert found == world.expected(batches)


def check_who_was_there_from_the_start_has_all_once(world: World, table: list[dict[str, object]]) -> None:
    """No delivery occurs twice, whatever was killed and whatever changed meanwhile."""
    index = Index(world.fixed.items())
    wanted = {(id, name) for name, body in world.good.items() for id in index.match(body).ids}
    found = Counter((row["subscription"], row["name"]) for row in table if row["subscription"] in world.fixed)
    assert found == dict.fromkeys(wanted, 1)


def check_ids_of_deliveries_are_determined(world: World, table: list[dict[str, object]]) -> None:
    """Each delivery id is the hash of its components, and no two deliveries have the same id."""
    for row in table:
        body = world.good[str(row["name"])]
        args = (str(row["doc_id"]), body, str(row["subscriber"]), str(row["subscription"]))
        assert row["delivery_id"] == delivery_id(*args, row["part"])  # type: ignore[arg-type]
    assert len({row["delivery_id"] for row in table}) == len(table)


def check_files_are_the_same_deliveries(world: World, table: list[dict[str, object]]) -> None:
    """Each delivery is one complete file in the folder of its subscriber."""
    files = {file.name: file.read_bytes() for file in (world.disk / "out" / "files").glob("*/*.xml")}
    names = FileNameTemplate.parse(FILE_NAME)
    assert files == {names.name(row): row["content"] for row in table}


def check_lines_are_the_same_deliveries(world: World, table: list[dict[str, object]]) -> None:
    """Each delivery is one line in the file of its batch."""
    found = Counter(
        (int(file.stem.removeprefix("batch=")), json.loads(line)["delivery_id"])
        for file in (world.disk / "out" / "lines").glob("*.jsonl")
        for line in file.read_text(encoding="utf-8").splitlines()
    )
    assert found == Counter((row["batch"], row["delivery_id"]) for row in table)


def check_every_bad_document_is_a_dead_letter_once(world: World) -> None:
    """Each bad document is a dead letter with its bytes and a code, and no good document is one."""
    letters = read(world.disk / "out" / "dead-letters")
    found = Counter((str(letter["name"]), letter["body"]) for letter in letters)
    assert found == Counter(world.bad.items())
    assert all(letter["code"] and letter["message"] and letter["time"] for letter in letters)


def check_figures_add_up(world: World, table: list[dict[str, object]]) -> None:
    """Each batch of the journal has its row, and the rows count every document once."""
    figures = read(world.disk / "out" / "metrics")
    versions = {entry.batch: entry.version for entry in world.journal.entries().values()}
    assert {row["batch"]: row["index_version"] for row in figures} == versions
    assert sum(int(str(row["documents"])) for row in figures) == len(world.good) + len(world.bad)
    assert sum(int(str(row["deliveries"])) for row in figures) == len(table)
    assert sum(int(str(row["dead_letters"])) for row in figures) == len(world.bad)
