"""Adversarial documents and subscriptions through an index, its answers compared and its cost bounded.

    python -m tests.fuzz [--minutes 10] [--seed 7] [--only SURFACE]
    python -m tests.fuzz --replay build/fuzz/finding-1.txt

Each case runs in a worker process.  A finding is one that gives a wrong answer, raises an error that is not
documented, crashes, hangs, or exceeds its bound on CPU time or memory; its input is made smaller and written
to a file, once for each kind of finding, and the run goes on.  Exit status: 0 if all held, 1 if not.
"""

from __future__ import annotations

import argparse
import ast
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import astuple
from pathlib import Path
from typing import Any, NamedTuple

from tests.fuzz.bounds import Unmetered
from tests.fuzz.checks import Case, case, check
from tests.fuzz.chunk_queries import ChunkCase, check_chunks, chunk_case
from tests.fuzz.dtds import DtdCase, check_dtd, dtd_case
from tests.fuzz.fragments import FragmentRound, check_fragments
from tests.fuzz.mappings import MappingCase, check_mappings, mapping_case
from tests.fuzz.records import RecordCase, check_records, record_case
from tests.fuzz.shrinking import shorter, shrunk
from tests.fuzz.sites import SiteCase, check_sites, site_case
from tests.fuzz.threads import ThreadRound, check_round
from tests.fuzz.workers import Finding, Worker

PROJECT = Path(__file__).parents[2]
STRIDE = 1_000_003  # between the seeds of one run
Job = Any


class Surface(NamedTuple):
    """One kind of input: what makes a case of a seed, its type, what checks it, and its share of all jobs."""

    make: Callable[[int], Job]
    kind: type
    check: Callable[[Any, Unmetered, Counter[str]], None]
    turns: tuple[int, ...]
    """Which of twenty jobs; ``documents`` have the others."""


SURFACES = {
    "documents": Surface(case, Case, check, ()),
    "threads": Surface(ThreadRound, ThreadRound, lambda job, _, done: check_round(job, done), (19,)),
    "records": Surface(record_case, RecordCase, check_records, (4, 14)),
    "chunks": Surface(chunk_case, ChunkCase, check_chunks, (9,)),
    "fragments": Surface(FragmentRound, FragmentRound, check_fragments, (1, 5, 17)),
    "dtds": Surface(dtd_case, DtdCase, check_dtd, (11,)),
    "mappings": Surface(mapping_case, MappingCase, check_mappings, (7,)),
    "sites": Surface(site_case, SiteCase, check_sites, (13,)),
}


def main() -> int:
    arguments = _arguments()
    worker = Worker(
        check_job, slack=10.0 if arguments.sanitized else 1.0, limits_memory=not arguments.sanitized
    )
    try:
        if arguments.replay:
            return replay(arguments.replay, worker)
        return fuzz(arguments, worker)
    except KeyboardInterrupt:
        print("\ninterrupted")
        return 1
    finally:
        worker.close()


def check_job(job: Job, meter: Unmetered, done: Counter[str]) -> None:
    """What a worker does with a job."""
    (found,) = (each for each in SURFACES.values() if isinstance(job, each.kind))
    found.check(job, meter, done)


def job_of(seed: int, number: int, only: str | None) -> Job:
    """The job with this number of a run."""
    for name, surface in SURFACES.items():
        if only == name or (only is None and number % 20 in surface.turns):
            return surface.make(seed)
    return case(seed)


def fuzz(arguments: argparse.Namespace, worker: Worker) -> int:
    """Run one job after the other until the time is over."""
    found: Counter[str] = Counter()
    start = shown = time.monotonic()
    end = start + 60 * arguments.minutes
    number = 0
    while (now := time.monotonic()) < end:
        seed = arguments.seed + STRIDE * number
        job = job_of(seed, number, arguments.only)
        finding = worker.run(job)
        number += 1
        if finding is not None:
            found[finding.kind] += 1
            if found[finding.kind] == 1:
                report(finding, job, seed, len(found), arguments, worker)
        if now - shown > 10:
            shown = now
            findings = f"{sum(found.values())} findings"
            print(f"{now - start:5.0f} s  {number:,} cases  {_counts(worker.done)}  {findings}", flush=True)
    print(f"{number:,} cases: {_counts(worker.done)}")
    costs = sorted(worker.shares.items(), key=lambda item: -item[1])
    print("of its bound, a step used at most: " + ", ".join(f"{what} {share:.0%}" for what, share in costs))
    for kind, times in found.most_common():
        print(f"FINDING, {times} times: {kind}")
    if not found:
        print("all held")
    return 1 if found else 0


def report(
    finding: Finding, job: Job, seed: int, number: int, arguments: argparse.Namespace, worker: Worker
) -> None:
    """Print a finding and write its input, as small as it can be made, to a file."""
    print(f"\nFINDING {number}, seed {seed}: {finding.kind}\n{finding.detail}")
    if isinstance(job, Case):
        job = shrunk(job, lambda smaller: _same(finding, worker.run(smaller)), arguments.shrink)
        again = worker.run(job)
        print(f"made smaller: {again.detail if again else 'it did not happen again'}")
        print(f"  subscriptions: {job.subscriptions}\n  documents: {_cut(job.bodies)}")
    elif isinstance(job, DtdCase):
        body = shorter(job.body, lambda smaller: _same(finding, worker.run(DtdCase(smaller))))
        job = DtdCase(body)
        print(f"made smaller: {_cut([body])}")
    arguments.findings.mkdir(parents=True, exist_ok=True)
    path = arguments.findings / f"finding-{number}.txt"
    path.write_text(repr((type(job).__name__, *astuple(job))), encoding="utf-8")
    print(f"python -m tests.fuzz --replay {path}\n", flush=True)


def replay(path: Path, worker: Worker) -> int:
    """Run the job of a file again."""
    kind, *fields = ast.literal_eval(path.read_text(encoding="utf-8"))
    kinds = {each.kind.__name__: each.kind for each in SURFACES.values()}
    finding = worker.run(kinds[kind](*fields))
    print(f"FINDING: {finding.kind}\n{finding.detail}" if finding else "all held")
    return 1 if finding else 0


def _same(finding: Finding, other: Finding | None) -> bool:
    return other is not None and other.kind == finding.kind


def _counts(done: Counter[str]) -> str:
    return ", ".join(f"{count:,} {what}" for what, count in sorted(done.items()))


def _cut(bodies: list[bytes]) -> str:
    text = repr(bodies)
    return text if len(text) < 2000 else f"{text[:2000]}… ({len(text):,} characters)"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--minutes", type=float, default=1.0, help="how long to go on (default: 1)")
    parser.add_argument("--seed", type=int, default=1, help="the first seed (default: 1)")
    parser.add_argument("--only", choices=SURFACES, metavar="SURFACE", help=f"only {', '.join(SURFACES)}")
    parser.add_argument("--shrink", type=float, default=60.0, help="seconds to make a finding smaller")
    parser.add_argument(
        "--findings", type=Path, default=PROJECT / "build" / "fuzz", help="folder for findings"
    )
    parser.add_argument("--replay", type=Path, help="run the input of this file again")
    parser.add_argument(
        "--sanitized", action="store_true", help="ten times the bounds: the kernel is built with sanitizers"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
