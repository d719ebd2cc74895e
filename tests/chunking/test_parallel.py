"""A document in pieces has the answers of the single pass, for any pieces."""

from __future__ import annotations

import multiprocessing
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.chunking.strategies import any_document, outline_of, plain_document, queries_of, random_scheme
from twigcast.chunking import ChunkQuery, parallel, plan, profile, run_queries
from twigcast.chunking.scheme import Scheme
from twigcast.document import read
from twigcast.errors import ChunkingError

ROOTS = b"".join(b"<r>%d</r><s><t>%d</t><t/></s>" % (n, n) for n in range(60))
DOCUMENT = b"<d><e>" + ROOTS + b"</e><f>" + ROOTS + b"</f></d>"


class OneProcess:
    """A pool that runs everything here, at once."""

    def __init__(self, runner: parallel.PieceRunner) -> None:
        self.runner = runner

    def __enter__(self) -> OneProcess:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def submit(self, _: object, item: Any) -> Future[Any]:
        made: Future[Any] = Future()
        is_part = hasattr(item, "source_map")
        made.set_result(self.runner.run_part(item) if is_part else self.runner.run(item))
        return made


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run pieces in this process."""
    monkeypatch.setattr(parallel, "_pool", lambda runner, _: OneProcess(runner))


def both(path: Path, scheme: Scheme, part_bytes: int, piece_bytes: int) -> Iterator[tuple[Any, ...]]:
    """What is found in a single pass, and in pieces."""
    for options in ({}, {"cores": 2, "piece_bytes": piece_bytes}):
        cut = run_queries(path, scheme, part_bytes=part_bytes, **options)  # type: ignore[arg-type]
        found = Counter(
            (each.query, each.kind, each.start, each.end, each.content, each.chunk, each.is_partial)
            for each in cut
        )
        failures = {query: str(error) for query, error in cut.failures.items()}
        yield found, set(cut.foreign), str(cut.error), failures


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.usefixtures("here")
def test_pieces_have_the_answers_of_the_single_pass(seed: int, tmp_path: Path) -> None:
    """For any pieces and prefixes, also of documents that are not of the outline or break off."""
    random = Random(seed)
    path = tmp_path / "d.xml"
    for number in range(25):
        body = any_document(random)
        queries = queries_of(random, read(body), 6)
        outline = outline_of(plain_document(random, 3)) if number % 3 == 0 else outline_of(body)
        scheme = random_scheme(random, queries, outline)
        if number % 5 == 0:
            at = random.randrange(len(body))
            body = random.choice([body[:at], body[:at] + b"<" + body[at:], body[:at] + b"</x>" + body[at:]])
        path.write_bytes(body)
        single, pieces = both(path, scheme, random.choice([1, 60, 1 << 20]), random.choice([1, 10, 100]))
        assert pieces == single


def numbers(tree: Any) -> Iterator[int]:
    """The numbers in a part."""
    yield from (int(each.text) for each in tree.iter("t") if each.text)


def queries() -> list[ChunkQuery]:
    """Local, wide, whole, and a function."""
    return [
        ChunkQuery("local", "//r[. > 50]"),
        ChunkQuery("wide", "/d/f/s[59]/t"),
        ChunkQuery("whole", "//r[following::f]", engine="lxml"),
        ChunkQuery("lxml", "/d/e/s[t = 7]/t", engine="lxml"),
        ChunkQuery("rows", function=numbers, within="/d/f/s"),
    ]


def test_processes_have_the_same_answers_in_the_same_order(tmp_path: Path) -> None:
    """Those of each query and chunk; the numbers of parts rise."""
    path = tmp_path / "d.xml"
    path.write_bytes(DOCUMENT)
    scheme = plan(queries(), profile=profile([DOCUMENT]))
    found = []
    for options in ({}, {"cores": 2, "piece_bytes": 1000}):
        cut = run_queries(path, scheme, part_bytes=300, **options)  # type: ignore[arg-type]
        answers = list(cut)
        found.append({})
        for each in answers:
            key = each.query, each.chunk
            place = each.content if each.kind == "row" else (each.start, each.end, each.content)
            found[-1].setdefault(key, []).append(place)
        for chunk in scheme.chunks:
            parts = [each.part for each in answers if each.chunk == chunk.number and each.query != "rows"]
            assert parts == sorted(parts)
            assert all(1 <= part <= cut.parts for part in parts)
        assert cut.bytes == len(DOCUMENT)
        assert not cut.failures
    assert found[0] == found[1]
    assert sum(found[0]["rows", next(chunk for query, chunk in found[0] if query == "rows")]) == sum(
        range(60)
    )


def test_processes_that_are_spawned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is inherited from the process that starts them."""
    spawn = multiprocessing.get_context("spawn")
    pool = parallel.ProcessPoolExecutor
    monkeypatch.setattr(parallel, "ProcessPoolExecutor", lambda *a, **k: pool(*a, mp_context=spawn, **k))
    path = tmp_path / "d.xml"
    path.write_bytes(DOCUMENT)
    scheme = plan(queries()[:2], profile=profile([DOCUMENT]))
    single, pieces = both(path, scheme, 300, 2000)
    assert pieces == single


@pytest.mark.usefixtures("here")
def test_a_chunk_that_is_too_wide_is_refused_with_its_size(tmp_path: Path) -> None:
    """The size is that of the whole chunk, however many pieces it comes from."""
    path = tmp_path / "d.xml"
    path.write_bytes(DOCUMENT)
    scheme = plan(queries()[:3], profile=profile([DOCUMENT]))
    cut = run_queries(path, scheme, most_bytes=100, cores=2, piece_bytes=1000)
    assert {each.query for each in cut} == {"local"}
    assert {query: error.code for query, error in cut.failures.items()} == {
        "wide": "too-wide",
        "whole": "too-wide",
    }
    assert f"{len(DOCUMENT):,} bytes" in str(cut.failures["whole"])


def test_a_function_that_has_no_name_cannot_be_sent(tmp_path: Path) -> None:
    """The error says so, before anything is run."""
    path = tmp_path / "d.xml"
    path.write_bytes(DOCUMENT)
    query = ChunkQuery("rows", function=lambda tree: [1], within="/d/f/s")
    scheme = plan([query], profile=profile([DOCUMENT]))
    with pytest.raises(ChunkingError, match="cannot be sent") as caught:
        list(run_queries(path, scheme, cores=2, piece_bytes=1000))
    assert caught.value.code == "query"
