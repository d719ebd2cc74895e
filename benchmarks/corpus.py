"""A cache of many generated documents, as Parquet files with the columns ``doc_id`` and ``body``.

About 1,000 documents are generated in a second, so the files are kept between runs: in the folder that the
environment variable ``TWIGCAST_BENCH_CACHE`` names, or in the system's folder for temporary files.  The name
of their folder has a digest of the first documents, so that files of another generator are never used.
"""

from __future__ import annotations

import multiprocessing
import os
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from hashlib import blake2b
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.results import Progress
from benchmarks.workloads import data_folder, schema
from twigcast.workload import generate_documents

PART = 2_500
"""Documents in one file."""
PROCESSES = 2
PROBES = 20
"""How many documents the digest covers."""


def available() -> str:
    """``nitf`` if the published data is available, else ``news``, which needs no data."""
    return "nitf" if (data_folder() / "nitf").is_dir() else "news"


def corpus(source: str, count: int, progress: Progress = lambda step: None) -> list[Path]:
    """Parquet files with the documents 0 to ``count - 1``; missing files are generated."""
    folder = cache_folder() / f"{source}-{_digest(source)}"
    folder.mkdir(parents=True, exist_ok=True)
    extents = [(first, min(PART, count - first)) for first in range(0, count, PART)]
    paths = {first: folder / f"{first:07}-{size}.parquet" for first, size in extents}
    lacking = [(first, size) for first, size in extents if not paths[first].is_file()]
    if lacking:
        done = count - sum(size for _, size in lacking)
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(PROCESSES, mp_context=context) as pool:
            tasks = [pool.submit(write_part, source, first, size, paths[first]) for first, size in lacking]
            for task in as_completed(tasks):
                done += task.result()
                progress(f"{source}: {done:,} of {count:,} documents generated")
    return list(paths.values())


def write_part(source: str, first: int, count: int, path: Path) -> int:
    """Generate documents and write them atomically to one file; returns their number."""
    graph, options = schema(source)
    bodies = list(generate_documents(graph, count, options, first=first))
    ids = [f"{source}-{number:07}" for number in range(first, first + count)]
    part = path.with_suffix(f".{os.getpid()}")
    pq.write_table(pa.table({"doc_id": pa.array(ids), "body": pa.array(bodies, pa.binary())}), part)
    part.replace(path)
    return count


def bodies(paths: list[Path]) -> Iterator[pa.Array]:
    """The documents of the files, an array for each file."""
    for path in paths:
        yield pq.read_table(path, columns=["body"]).column("body").combine_chunks()


def cache_folder() -> Path:
    """The folder in which the files are kept between runs."""
    of_system = Path(tempfile.gettempdir()) / f"twigcast-bench-{os.getuid()}"
    return Path(os.environ.get("TWIGCAST_BENCH_CACHE") or of_system)


def _digest(source: str) -> str:
    graph, options = schema(source)
    digest = blake2b(repr(options).encode(), digest_size=6)
    for body in generate_documents(graph, PROBES, options):
        digest.update(body)
    return digest.hexdigest()
