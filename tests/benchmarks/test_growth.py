"""Growth: who has the index mapped, seen from outside."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

from benchmarks.building import hold
from benchmarks.files import build
from benchmarks.growth import workers_with


def test_processes_below_that_map_the_file_are_found(tmp_path: Path) -> None:
    """A process that opened the index is found with the size of its mapping; this one does not count."""
    path = build([f"/a{n}/b/c/d" for n in range(40_000)], tmp_path / "large.tci").path
    assert workers_with(path) == []
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=hold, args=(path, [b"<a/>"], theirs))
    process.start()
    ours.recv()
    (worker,) = workers_with(path)
    ours.send("measure")
    ours.recv()
    ours.send("end")
    process.join()
    assert 0 < worker.mapped <= worker.resident
    assert worker.mapped_proportionally == worker.mapped
