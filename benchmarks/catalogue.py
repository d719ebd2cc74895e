"""The benchmarks by name, with the bars (required figures) that they should reach.

matching   nitf-linear-10k …     unseen (or repeated) documents, as a ratio to a bare parse
language   positions-100k …      positions, counts, functions and arithmetic
building   building-linear-100k … from text to a file, and what can be done with the file
threads    two-threads           two threads against one
structure  structure-nitf-…      matching the structure of a document in its place, and writing it
fragments  fragments-256kb-…     documents in fragments, against whole documents
large      mapped-1gb …          one pass over a large document: memory, projections, plans
routing    receiving-10k …       what a router adds to matching
piggyback  second-router-…       what annotations save and cost routers
rivals     rival-lxml …          what one would use instead
pipeline   pipeline-throughput … the pipeline on Spark: minutes, so only when named
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from benchmarks.building import building, changing, first_change, opening, sharing, two_threads
from benchmarks.chunks import chunk_benchmarks
from benchmarks.cutting import cutting_benchmarks
from benchmarks.fragments import fragment_benchmarks
from benchmarks.growth import growth
from benchmarks.lake import lake, large_lake
from benchmarks.language import SIBLINGS, siblings, thousand, twenty
from benchmarks.large_documents import large_document_benchmarks
from benchmarks.large_file import large_file
from benchmarks.matching import measure
from benchmarks.mediation import mediation
from benchmarks.own_session import own_session, small_files
from benchmarks.piggyback import second_router
from benchmarks.pipeline import throughput
from benchmarks.results import Bar, Benchmark, Outcome, Progress, Result
from benchmarks.rewriting import copies, places, renames, seven, sources
from benchmarks.rewriting import rivals as other_ways
from benchmarks.rivals import rivals
from benchmarks.routing import conformance, receiving, restoring
from benchmarks.structures import measure_structures
from benchmarks.versions import BULK, one_change
from benchmarks.workloads import KINDS, MISSING_DATA, SIZES
from twigcast.errors import SourceError

GROUPS = {
    "matching": "Matching, in times of a bare parse of the same documents",
    "language": "Positions, counts, functions and arithmetic",
    "building": "Building, opening, changing and sharing",
    "versions": "Index versions of 100,000 subscriptions",
    "threads": "Threads",
    "structure": "Structures of documents, in times of matching the documents",
    "fragments": "Documents in fragments",
    "large": "One pass over a large document",
    "routing": "Routers, in times of matching by the index alone",
    "piggyback": "Annotations between routers, in times of the same router without them",
    "rewriting": "Documents that a mapping rewrites while they are matched",
    "rivals": "Rivals, in times of a bare parse of the same documents",
    "pipeline": "The pipeline on Spark, on two cores",
}
SECOND_ROUTER = (
    ("L+t", "nitf-branching-5k", "second_ratio", Bar("≤", 0.6)),
    ("L+t", "nitf-linear-10k", "second_ratio", Bar("≤", 0.45)),
    ("L+t", "nitf-linear-10k", "second_repeated_ratio", Bar("≤", 0.2)),
    ("L+t", "dblp-branching-10k", "second_ratio", Bar("≤", 0.02)),
    ("L+a", "nitf-branching-5k", "second_ratio", Bar("≤", 0.1)),
    ("L-sd", "nitf-branching-5k", "second_ratio", None),
    ("L+s-sd", "nitf-branching-5k", "second_ratio", None),
)
FIRST_ROUTER = (
    ("L-sd", "nitf-branching-5k", Bar("≤", 1.05)),
    ("L+t", "nitf-branching-5k", Bar("≤", 1.12)),
)
UNSEEN_BARS = {
    "nitf-linear-10k": Bar("≤", 2.5),
    "nitf-linear-100k": Bar("≤", 6),
    "nitf-branching-10k": Bar("≤", 4.5),
    "nitf-branching-100k": Bar("≤", 13),
    "nitf-values-10k": Bar("≤", 8),
    "medline-branching-10k": Bar("≤", 2.3),
    "news-branching-10k": None,
}
OPTIONAL_UNSEEN = (
    "nitf-linear-1k",
    "nitf-branching-1k",
    "nitf-values-1k",
    "nitf-values-100k",
    "medline-linear-10k",
    "medline-values-10k",
    "news-linear-10k",
    "news-values-10k",
    "news-linear-100k",
    "nitf-linear-1m",
)
REPEATED_BARS = {"nitf-linear-100k": Bar("≤", 1.8)}
CHANGED = "nitf-linear-100k"
"""The workload of the benchmarks that open, change and share one index file."""

BUILDING_SECONDS = Bar("≤", 4)
FILE_BYTES = Bar("≤", 60)
OPENING_MILLISECONDS = Bar("≤", 20)
VERSION_MILLISECONDS = Bar("≤", 50)
NETWORK_VERSION_MILLISECONDS = Bar("≤", 150)
CHANGING_MILLISECONDS = Bar("≤", 5)
OF_READY = Bar("≤", 1.1)
OF_UNMAPPED = Bar("≤", 1.1)
OF_XSLT = Bar("≥", 5)
SHARED = {2: 0.9, 4: 0.8, 8: 0.6, 16: 0.4}
"""The bars for shared copies, by how many elements get one."""
SEEN = {"third": 0.8, "third-copied": 0.8, "all": 1.03}
ON_SIBLINGS = Bar("≤", 1.5)
THOUSAND = Bar("≤", 5)
OF_LXML = Bar("≥", 1.27)
SHARED_PERCENT = Bar("≥", 99)
SPEEDUP = Bar("≥", 1.5)
OF_THREADS = Bar("≥", 0.75)
OF_BODIES = Bar("≥", 2)
OF_LARGE_BODIES = Bar("≥", 20)
OF_UNMEDIATED = Bar("≥", 0.85)
TIMES_OUR_SESSION = Bar("≤", 1.5)
MAPPED_PERCENT = Bar("≤", 105)
"""In per cent of the file, for all workers together: with a copy in each of two it would be 200."""
FROM_STRUCTURE = {
    "nitf-branching-5k": Bar("≤", 0.4),
    "nitf-branching-10k": None,
    "nitf-linear-10k": Bar("≤", 0.4),
    "medline-branching-10k": None,
    "treebank-branching-10k": None,
}
FROM_STRUCTURE_REPEATED = {
    "nitf-linear-10k": Bar("≤", 0.15),
    "dblp-branching-10k": Bar("≤", 0.01),
    "xmark-branching-10k": None,
}
WITH_STRUCTURE = Bar("≤", 1.12)
STRUCTURE_PERCENT = Bar("≤", 3)
GROWTH = ("10k", "100k", "1m")
RECEIVING = Bar("≤", 1.3)
ROUTED = {"1k": 1_000, "10k": 10_000, "50k": 50_000}

RIVALS = {
    "pyexpat": "parse only: pyexpat with Python callbacks that do nothing",
    "lxml-parse": "parse only: lxml.etree.fromstring",
    "lxml": "lxml, 1,000 compiled XPath expressions one by one",
    "lxml-scaled": "the same for 10,000, scaled from 1,000",
    "one-by-one": "the definition of correct, 1,000 patterns one by one",
    "xtrie": "XTrie, 1,000 patterns",
    "yfilter": "YFilter, 1,000 patterns",
    "index": "Index, the same 1,000 patterns, document by document with Python ids",
}


def run(names: Sequence[str], progress: Progress) -> Iterator[Result]:
    """Run benchmarks one after the other; the result of a benchmark without its data says what is missing."""
    for name in names:
        benchmark = BENCHMARKS[name]
        try:
            outcome = benchmark.function(progress)
        except SourceError as error:
            if error.code != MISSING_DATA:
                raise
            yield Result(benchmark, {}, missing=f"{error.path}: {error.message}")
        else:
            yield Result(benchmark, outcome.figures, outcome.wrong)


def default_names() -> list[str]:
    """The benchmarks that run if none is named."""
    return [benchmark.name for benchmark in BENCHMARKS.values() if not benchmark.optional]


def named(words: Sequence[str]) -> list[str]:
    """The benchmarks that words name, each a benchmark or a group; raises ``KeyError`` for an unknown word.

    A group stands for its default members, or for all of its members if none is a default.
    """
    names: dict[str, None] = {}
    for word in words:
        members = [each for each in BENCHMARKS.values() if word == each.group]
        if not members and word not in BENCHMARKS:
            raise KeyError(word)
        usual = [each.name for each in members if not each.optional]
        names |= dict.fromkeys(usual or [each.name for each in members] or [word])
    return list(names)


def _catalogue() -> Iterator[Benchmark]:
    yield from _matching()
    yield from _language()
    yield from _building()
    yield Benchmark(
        "two-threads", "threads", "match_batch on two threads against one", _of(two_threads, CHANGED),
        "speedup", "×", SPEEDUP, ("documents_per_second_on_one", "documents_per_second_on_two", "cpu_ratio"),
    )  # fmt: skip
    yield from _structure()
    yield from fragment_benchmarks()
    yield from large_document_benchmarks()
    yield from cutting_benchmarks()
    yield from _routing()
    yield from _piggyback()
    yield from _rewriting()
    for name, description in RIVALS.items():
        yield Benchmark(
            f"rival-{name}", "rivals", description, _rival(name), "ratio", "×",
            beside=("microseconds_per_document",),
        )  # fmt: skip
    yield from _versions()
    yield from _pipeline()
    yield from chunk_benchmarks()


def _matching() -> Iterator[Benchmark]:
    beside = (
        "repeated_ratio",
        "microseconds_per_document",
        "megabytes_per_second",
        "matches_per_document",
        "new_label_paths_per_document",
        "memory_megabytes",
    )
    unseen, repeated = "documents not seen before", "the same documents again"
    for name, bar in UNSEEN_BARS.items():
        match = _of(measure, name)
        yield Benchmark(name, "matching", unseen, match, "ratio", "×", bar, beside)
        if name in REPEATED_BARS:
            bar, again = REPEATED_BARS[name], f"{name}-repeat"
            yield Benchmark(again, "matching", repeated, match, "repeated_ratio", "×", bar, beside)
    for name in OPTIONAL_UNSEEN:
        match = _of(measure, name)
        yield Benchmark(name, "matching", unseen, match, "ratio", "×", None, beside, optional=True)


def _building() -> Iterator[Benchmark]:
    for kind in KINDS:
        make = _of(building, f"nitf-{kind}-100k")
        yield Benchmark(
            f"building-{kind}-100k", "building", "from text to a saved file", make,
            "seconds", "s", BUILDING_SECONDS, ("cpu_seconds",),
        )  # fmt: skip
        yield Benchmark(
            f"file-{kind}-100k", "building", "the file, for each subscription, without its id", make,
            "bytes_per_subscription", "bytes", FILE_BYTES,
        )  # fmt: skip
    yield Benchmark(
        "opening-100k", "building", "Index.open in a fresh process", _of(opening, CHANGED),
        "milliseconds", "ms", OPENING_MILLISECONDS, ("most_milliseconds", "first_match_milliseconds"),
    )  # fmt: skip
    yield Benchmark(
        "first-change-100k", "building", "the first change after opening a file", _of(first_change, CHANGED),
        "milliseconds", "ms", CHANGING_MILLISECONDS, ("most_milliseconds",),
    )  # fmt: skip
    for name, change in (("adding-100k", "add"), ("removing-100k", "remove")):
        yield Benchmark(
            name, "building", f"Index.{change}, the 99th percentile of 200, each seen by the next document",
            _changed(change), "milliseconds_99th", "ms", CHANGING_MILLISECONDS,
            ("median_milliseconds", "most_milliseconds", "next_match_milliseconds"),
        )  # fmt: skip
    yield Benchmark(
        "sharing-100k", "building", "pages of the file that two processes share", _of(sharing, CHANGED),
        "shared_percent", "%", SHARED_PERCENT, ("resident_megabytes_each", "proportional_megabytes_each"),
    )  # fmt: skip


def _structure() -> Iterator[Benchmark]:
    beside = (
        "of_repeated_match",
        "writing_ratio",
        "repeated_writing_ratio",
        "match_microseconds",
        "bytes_per_structure",
        "percent_of_body",
        "percent_with_names",
    )
    instead, again = "match_structure in place of match", "the same, on documents that were seen before"
    for name, bar in FROM_STRUCTURE.items():
        told = _of(measure_structures, name)
        yield Benchmark(f"structure-{name}", "structure", instead, told, "of_match", "×", bar, beside)
    for name, bar in FROM_STRUCTURE_REPEATED.items():
        told = _of(measure_structures, name)
        full = f"structure-{name}" + ("-repeat" if name in FROM_STRUCTURE else "")
        yield Benchmark(full, "structure", again, told, "of_repeated_match", "×", bar, beside)
    for name in ("nitf-branching-5k", "nitf-linear-10k", "dblp-branching-10k"):
        yield Benchmark(
            f"structure-writing-{name}", "structure", "match_with_structure in place of match",
            _of(measure_structures, name), "repeated_writing_ratio", "×", WITH_STRUCTURE, beside,
        )  # fmt: skip
    yield Benchmark(
        "structure-size-nitf", "structure", "the structure, of the document, if both ends know the names",
        _of(measure_structures, "nitf-branching-5k"), "percent_of_body", "%", STRUCTURE_PERCENT, beside,
    )  # fmt: skip


def _routing() -> Iterator[Benchmark]:
    for size, count in ROUTED.items():
        yield Benchmark(
            f"receiving-{size}", "routing", "Router.receive against Index.match with ids",
            _sized(receiving, count), "receive_ratio", "×", RECEIVING,
            (
                "receive_ratio_to_positions", "receive_microseconds", "match_ids_microseconds",
                "match_microseconds",
            ),
        )  # fmt: skip
    yield Benchmark(
        "conformance-10k", "routing", "what an advertisement in the index adds to a document",
        _sized(conformance, ROUTED["10k"]), "added_microseconds", "µs", None,
        ("match_microseconds", "second_parse_microseconds"),
    )  # fmt: skip
    yield Benchmark(
        "restoring-50k", "routing", "Router.restore with two neighbours and covering",
        _sized(restoring, ROUTED["50k"]), "seconds", "s", None, ("subscribing_seconds",), optional=True,
    )  # fmt: skip


def _piggyback() -> Iterator[Benchmark]:
    beside = (
        "second_microseconds",
        "second_plain_microseconds",
        "first_ratio",
        "annotation_bytes",
        "annotation_percent",
        "unread_percent",
    )
    for strategy, name, figure, bar in SECOND_ROUTER:
        again = "-repeat" if figure == "second_repeated_ratio" else ""
        yield Benchmark(
            f"second-router-{strategy}-{name}{again}", "piggyback", "a router that reads annotations",
            _annotated(strategy, name), figure, "×", bar, beside,
        )  # fmt: skip
    for strategy, name, bar in FIRST_ROUTER:
        yield Benchmark(
            f"first-router-{strategy}-{name}", "piggyback", "a router that writes annotations",
            _annotated(strategy, name), "first_repeated_ratio", "×", bar, ("first_microseconds",),
        )  # fmt: skip


def _annotated(strategy: str, name: str) -> Callable[[Progress], Outcome]:
    return lambda progress: second_router(strategy, name, progress)


def _rewriting() -> Iterator[Benchmark]:
    for name, count, kind in (
        ("1k", 1000, "branching"),
        ("4k", 4000, "branching"),
        ("values-1k", 1000, "values"),
    ):
        yield Benchmark(
            f"rewriting-{name}", "rewriting", "seven operators, to matching the ready-made image",
            _seven(count, kind), "ratio", "×", OF_READY, ("ratio_to_source", "microseconds_per_document"),
        )  # fmt: skip
    yield Benchmark(
        "renames-1k", "rewriting", "renames only, to matching without a mapping", _sized(renames, 1000),
        "ratio", "×", OF_UNMAPPED,
    )  # fmt: skip
    yield Benchmark(
        "rewriting-rivals", "rewriting", "XSLT, or the tree in Python, and match: their time to ours",
        other_ways, "factor", "×", OF_XSLT, ("factor_of_tree", "factor_of_exported_xslt"),
    )  # fmt: skip
    for times, limit in SHARED.items():
        yield Benchmark(
            f"copies-{times}", "rewriting", "shared copies, to copies that are matched again",
            _sized(copies, times), "ratio", "×", Bar("≤", limit),
        )  # fmt: skip
    for share, limit in SEEN.items():
        yield Benchmark(
            f"places-{share}", "rewriting", "skipping the places that nobody sees, to looking at all",
            _of(places, share), "ratio", "×", Bar("≤", limit),
        )  # fmt: skip
    yield Benchmark(
        "sources-40", "rewriting", "the bytes of one index for 40 sources, to those for one", sources,
        "ratio", "×", Bar("≤", 1), ("microseconds_for_1", "microseconds_for_7", "microseconds_for_40"),
    )  # fmt: skip


def _seven(count: int, kind: str) -> Callable[[Progress], Outcome]:
    return lambda progress: seven(count, kind, progress)


def _language() -> Iterator[Benchmark]:
    for size in SIBLINGS:
        yield Benchmark(
            f"positions-{size}", "language", f"the slowest of six constructs on {size} siblings, to //a",
            _of(siblings, size), "ratio", "×", ON_SIBLINGS, ("nanoseconds_per_byte",), optional=size == "1m",
        )  # fmt: skip
    yield Benchmark(
        "invoice-1k", "language", "1,000 such subscriptions on an invoice of 166 KB, to a bare parse",
        thousand, "ratio", "×", THOUSAND, ("milliseconds",),
    )  # fmt: skip
    yield Benchmark(
        "invoices-20", "language", "20 subscriptions with all constructs, lxml's time to ours",
        twenty, "factor", "×", OF_LXML,
        ("documents_per_second", "documents_per_second_of_lxml", "bytes_per_document"),
    )  # fmt: skip


def _versions() -> Iterator[Benchmark]:
    beside = (
        "milliseconds_99th", "most_milliseconds", "bytes_per_change", "first_seconds",
        *(f"bytes_for_{many}" for many in BULK),
    )  # fmt: skip
    described = "one change, from subscribe to the index of the next batch"
    for name, networked, bar in (
        ("versions-100k", False, VERSION_MILLISECONDS),
        ("versions-network-100k", True, NETWORK_VERSION_MILLISECONDS),
    ):
        yield Benchmark(
            name, "versions", f"{described}, with the network of the demo" if networked else described,
            _changed_version(networked), "milliseconds", "ms", bar, beside, optional=True,
        )  # fmt: skip


def _changed_version(networked: bool) -> Callable[[Progress], Outcome]:
    return lambda progress: one_change(CHANGED, networked, progress)


def _pipeline() -> Iterator[Benchmark]:
    yield Benchmark(
        "pipeline-throughput", "pipeline",
        "50,000 documents, 10,000 branching subscriptions: the pipeline against two threads in plain Python",
        throughput, "of_threads", "×", OF_THREADS,
        (
            "cached_of_threads", "documents_per_second", "documents_per_second_on_two",
            "xpath_boolean_documents_per_second", "lxml_documents_per_second",
        ),
        optional=True,
    )  # fmt: skip
    yield Benchmark(
        "pipeline-own-session", "pipeline",
        "the same in a session without any setting, against a session of twigcast",
        own_session, "of_ours", "×", None,
        ("documents_per_second_plain", "documents_per_second_ours"),
        optional=True,
    )  # fmt: skip
    yield Benchmark(
        "pipeline-small-files", "pipeline",
        "5,000 small files in a session without any setting: the time, to that in a session of twigcast",
        small_files, "times_ours", "×", TIMES_OUR_SESSION,
        (
            "times_ours_listed_here", "times_ours_listed_by_spark",
            "documents_per_second_plain_listed_here", "documents_per_second_twigcast_listed_here",
            "documents_per_second_plain_listed_by_spark", "documents_per_second_twigcast_listed_by_spark",
        ),
        optional=True,
    )  # fmt: skip
    yield Benchmark(
        "pipeline-mediation", "pipeline",
        "documents of seven publishers with mappings, against documents of one schema with the same matches",
        mediation, "of_images", "×", OF_UNMEDIATED,
        (
            "of_as_is", "documents_per_second", "documents_per_second_as_is", "documents_per_second_images",
            "matches_per_document", "bytes_per_document",
        ),
        optional=True,
    )  # fmt: skip
    for name, function, described, bar in (
        ("lake", lake, "5,000 branching subscriptions on an archive of 20,000 documents", OF_BODIES),
        ("lake-large", large_lake, "the same on documents of 1 MB with a regular structure", OF_LARGE_BODIES),
    ):
        yield Benchmark(
            name, "pipeline", f"{described}: matched by structures, to matched by bodies",
            function, "of_bodies", "×", bar,
            (
                "delivering_of_bodies", "alone_of_bodies", "documents_per_second",
                "documents_per_second_from_bodies", "structure_percent", "stored_structure_percent",
                "matches_per_document",
            ),
            optional=True,
        )  # fmt: skip
    for size in GROWTH:
        yield Benchmark(
            f"pipeline-growth-{size}", "pipeline", f"5,000 documents, {SIZES[size]:,} linear subscriptions",
            _grown(SIZES[size]), "microseconds_per_document", "µs", None,
            (
                "first_microseconds_per_document", "matches_per_document", "worker_peak_megabytes",
                "worker_proportional_megabytes", "file_megabytes", "mapped_proportional_megabytes",
            ),
            optional=True,
        )  # fmt: skip
    largest = GROWTH[-1]
    yield Benchmark(
        f"pipeline-mapped-{largest}", "pipeline", "memory for the index in all workers, of its file",
        _grown(SIZES[largest]), "mapped_percent", "%", MAPPED_PERCENT,
        ("workers", "file_megabytes", "mapped_megabytes_each", "mapped_proportional_megabytes"),
        optional=True,
    )  # fmt: skip
    yield Benchmark(
        "pipeline-records-1gb", "pipeline", "memory of all processes for one file of 1 GB of records",
        large_file, "peak_megabytes", "MB", None,
        (
            "driver_megabytes", "jvm_megabytes", "workers_megabytes", "seconds", "megabytes_per_second",
            "records", "deliveries",
        ),
        optional=True,
    )  # fmt: skip


def _of(function: Callable[[str, Progress], Outcome], name: str) -> Callable[[Progress], Outcome]:
    return lambda progress: function(name, progress)


def _sized(function: Callable[[int, Progress], Outcome], count: int) -> Callable[[Progress], Outcome]:
    return lambda progress: function(count, progress)


def _changed(change: str) -> Callable[[Progress], Outcome]:
    return lambda progress: changing(CHANGED, progress)[change]


def _grown(subscriptions: int) -> Callable[[Progress], Outcome]:
    return lambda progress: growth(subscriptions, progress)


def _rival(name: str) -> Callable[[Progress], Outcome]:
    return lambda progress: rivals(progress)[name]


BENCHMARKS = {benchmark.name: benchmark for benchmark in _catalogue()}
