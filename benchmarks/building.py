"""Costs of an index other than matching: building, opening, changing, sharing between processes and threads.

Times are wall times, and the best of several runs where the work is the same each time, to exclude other load
on the machine.  Every change is followed by a match that must see it.
"""

from __future__ import annotations

import multiprocessing
import threading
import time
from collections.abc import Sequence
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median, quantiles

import pyarrow as pa

from benchmarks.files import Built, build, built
from benchmarks.processes import apart, mapping_bytes
from benchmarks.results import Outcome, Progress
from benchmarks.workloads import feed, workload
from twigcast import Index

BUILDS = 3
LONG_BUILD = 8.0
"""A build that takes longer than this many seconds is not repeated."""
OPENINGS = 7
CHANGES = 200
RACES = 7


@cache
def building(name: str, progress: Progress) -> Outcome:
    """Subscriptions from text to a saved file: parse, compile, build and save."""
    progress(f"{name}: drawing subscriptions")
    subscriptions = workload(name).subscriptions
    done: list[Built] = []
    while len(done) < BUILDS and (not done or done[0].wall_seconds < LONG_BUILD):
        progress(f"{name}: build {len(done) + 1} of {BUILDS}")
        done.append(build(subscriptions, built(name).path) if done else built(name))
    best = min(done, key=lambda each: each.wall_seconds)
    return Outcome(
        {
            "seconds": best.wall_seconds,
            "cpu_seconds": min(each.cpu_seconds for each in done),
            "subscriptions_per_second": best.subscriptions / best.wall_seconds,
            "bytes_per_subscription": best.bytes_per_subscription,
        }
    )


@cache
def opening(name: str, progress: Progress) -> Outcome:
    """``Index.open`` in fresh processes, the file being in the page cache; and the first match after it."""
    progress(f"{name}: building the index")
    path, document = built(name).path, feed(name.split("-")[0]).unseen[0]
    path.read_bytes()
    times = []
    for number in range(OPENINGS):
        progress(f"{name}: opening {number + 1} of {OPENINGS}")
        times.append(apart(open_once, path, document))
    return Outcome(
        {
            "milliseconds": median(opened for opened, _ in times) * 1e3,
            "most_milliseconds": max(opened for opened, _ in times) * 1e3,
            "first_match_milliseconds": median(matched for _, matched in times) * 1e3,
        }
    )


def open_once(path: Path, document: bytes) -> tuple[float, float]:
    """Seconds to open the file, and to match a first document."""
    began = time.perf_counter()
    index = Index.open(path)
    opened = time.perf_counter()
    index.match(document)
    return opened - began, time.perf_counter() - opened


@cache
def changing(name: str, progress: Progress) -> dict[str, Outcome]:
    """Call ``add`` many times, each followed by a match that must see it; then ``remove`` likewise."""
    progress(f"{name}: building the index")
    index = Index.open(built(name).path)
    documents = feed(name.split("-")[0]).unseen
    texts = workload(name).subscriptions
    index.add("first", "//first")  # what the first change costs is a benchmark of its own
    progress(f"{name}: adding and removing {CHANGES}")
    changes: dict[str, list[float]] = {"add": [], "remove": []}
    matches: dict[str, list[float]] = {"add": [], "remove": []}
    wrong: dict[str, list[str]] = {"add": [], "remove": []}
    added: list[tuple[str, bytes]] = []
    for number in range(CHANGES):
        document = documents[number % len(documents)]
        found = [id for id in index.match(document).ids if isinstance(id, int)]
        id, text = f"added {number}", texts[found[number % len(found)]]
        began = time.perf_counter()
        index.add(id, text)
        changed = time.perf_counter()
        ids = index.match(document).ids
        matches["add"].append(time.perf_counter() - changed)
        changes["add"].append(changed - began)
        if ids[-1] != id:
            wrong["add"].append(f"{id} ({text}) is not seen by the next document")
        added.append((id, document))
    for id, document in added:
        began = time.perf_counter()
        index.remove(id)
        changed = time.perf_counter()
        ids = index.match(document).ids
        matches["remove"].append(time.perf_counter() - changed)
        changes["remove"].append(changed - began)
        if id in ids:
            wrong["remove"].append(f"{id} is still seen by the next document")
    return {
        change: Outcome(
            {
                "milliseconds_99th": quantiles(changes[change], n=100)[-1] * 1e3,
                "median_milliseconds": median(changes[change]) * 1e3,
                "most_milliseconds": max(changes[change]) * 1e3,
                "next_match_milliseconds": median(matches[change]) * 1e3,
            },
            tuple(wrong[change]),
        )
        for change in changes
    }


@cache
def first_change(name: str, progress: Progress) -> Outcome:
    """The first ``add`` after opening a file, before any of its ids was looked up."""
    progress(f"{name}: building the index")
    path = built(name).path
    times = []
    for number in range(OPENINGS):
        progress(f"{name}: first change {number + 1} of {OPENINGS}")
        times.append(apart(change_once, path))
    return Outcome({"milliseconds": median(times) * 1e3, "most_milliseconds": max(times) * 1e3})


def change_once(path: Path) -> float:
    """Seconds that the first change takes after opening."""
    index = Index.open(path)
    began = time.perf_counter()
    index.add("first", "//first")
    return time.perf_counter() - began


@cache
def sharing(name: str, progress: Progress) -> Outcome:
    """Two processes that opened and used the same file: how much of the mapping is the same memory."""
    progress(f"{name}: building the index")
    path, documents = built(name).path, feed(name.split("-")[0]).unseen
    progress(f"{name}: two processes")
    context = multiprocessing.get_context("spawn")
    pipes = [context.Pipe() for _ in range(2)]
    processes = [context.Process(target=hold, args=(path, documents, theirs)) for _, theirs in pipes]
    for process, (_, theirs) in zip(processes, pipes, strict=True):
        process.start()
        theirs.close()  # so that a process that dies closes its pipe, and nobody waits for ever
    for ours, _ in pipes:
        ours.recv()
    for ours, _ in pipes:
        ours.send("measure")
    mappings = [ours.recv() for ours, _ in pipes]
    for ours, _ in pipes:
        ours.send("end")
    for process in processes:
        process.join()
    resident = sum(each["Rss"] for each in mappings)
    private = sum(each["Private_Clean"] + each["Private_Dirty"] for each in mappings)
    return Outcome(
        {
            "shared_percent": 100 * (resident - private) / resident,
            "resident_megabytes_each": resident / 2e6,
            "proportional_megabytes_each": sum(each["Pss"] for each in mappings) / 2e6,
            "file_megabytes": path.stat().st_size / 1e6,
        }
    )


def hold(path: Path, documents: Sequence[bytes], pipe: Connection) -> None:
    """Open the file and match; on request, report the memory of the mapping; run until told to end."""
    index = Index.open(path)
    index.match_batch(pa.array(documents, pa.binary()))
    pipe.send("ready")
    pipe.recv()
    pipe.send(mapping_bytes(path))
    pipe.recv()


@cache
def two_threads(name: str, progress: Progress) -> Outcome:
    """``match_batch`` on warm engines: both halves on one thread, and each half on a thread of its own."""
    progress(f"{name}: building the index")
    index = Index.open(built(name).path)
    documents = feed(name.split("-")[0]).unseen
    half = len(documents) // 2
    halves = [pa.array(documents[:half], pa.binary()), pa.array(documents[half:], pa.binary())]
    while index.stats().engines < 2:
        _race(index, [halves, halves])
    for _ in range(2):
        _race(index, [halves, halves])
    progress(f"{name}: one thread and two")
    alone, together = [], []
    for _ in range(RACES):
        alone.append(_race(index, [halves]))
        together.append(_race(index, [halves[:1], halves[1:]]))
    one, two = min(wall for wall, _ in alone), min(wall for wall, _ in together)
    return Outcome(
        {
            "speedup": one / two,
            "documents_per_second_on_one": len(documents) / one,
            "documents_per_second_on_two": len(documents) / two,
            "cpu_ratio": min(cpu for _, cpu in together) / min(cpu for _, cpu in alone),
        }
    )


def _race(index: Index, work: Sequence[Sequence[object]]) -> tuple[float, float]:
    """Wall seconds until all threads have finished their batches, and their CPU time together."""
    start = threading.Barrier(len(work) + 1)
    cpu: list[float] = []

    def run(batches: Sequence[object]) -> None:
        start.wait()
        began = time.thread_time()
        for batch in batches:
            index.match_batch(batch)
        cpu.append(time.thread_time() - began)

    threads = [threading.Thread(target=run, args=(batches,)) for batches in work]
    for thread in threads:
        thread.start()
    start.wait()
    began = time.perf_counter()
    for thread in threads:
        thread.join()
    return time.perf_counter() - began, sum(cpu)
