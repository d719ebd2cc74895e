"""Answers of chunks on Spark are those of the whole document, for any pieces, parts and documents."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import Row, SparkSession

from tests.chunking.strategies import any_document, expected, outline_of, queries_of, random_scheme
from twigcast import spark as tc
from twigcast.chunking import ChunkQuery, Scheme, plan, profile, run_queries
from twigcast.document import read
from twigcast.errors import DocumentError, StageError
from twigcast.pattern import to_string

PEOPLE = "".join(f"<person id='p{n}'><name>N{n}</name><age>{n}</age></person>" for n in range(60))
ITEMS = "".join(f"<item><name>I{n}</name><price>{n}</price></item>" for n in range(60))
BODY = f"<site><people>{PEOPLE}</people><items>{ITEMS}</items></site>".encode()
QUERIES = [
    ChunkQuery("old", "/site/people/person[age > 55]/name"),
    ChunkQuery("second", "/site/people/person[2]/@id", priority=2),
    ChunkQuery("cheap", "//item[price < 2]", priority=1),
    ChunkQuery("ranges", "/site/items[count(item) = 60]/item[last()]", answers="ranges"),
    ChunkQuery("lxml", "/site/people/person[name = 'N3']", engine="lxml"),
    ChunkQuery("whole", "count(//person)", engine="lxml"),
]
TOO_LARGE = 4096


def scheme_of(*queries: ChunkQuery) -> Scheme:
    return plan(queries or QUERIES, profile=profile([BODY]))


def found(rows: list[Row]) -> Counter[tuple[Any, ...]]:
    """The answers among the rows."""
    return Counter(
        (row.query, row.kind, row.start, row.end, row.content and bytes(row.content), row.is_partial)
        for row in rows
        if row.error is None
    )


def on_one_machine(body: bytes, scheme: Scheme) -> Counter[tuple[Any, ...]]:
    """The answers of a single pass."""
    answers: Counter[tuple[Any, ...]] = Counter()
    for each in run_queries(body, scheme, part_bytes=500):
        is_bytes = each.content is None or isinstance(each.content, bytes)
        value = to_string(each.content) if isinstance(each.content, float) else str(each.content)
        content = each.content if is_bytes else value.encode()
        answers[str(each.query), each.kind, each.start, each.end, content, each.is_partial] += 1
    return answers


@pytest.mark.parametrize("seed", range(2))
def test_answers_are_those_of_the_whole_document(seed: int, spark: SparkSession, tmp_path: Path) -> None:
    """For any pieces and parts; other documents than the plan was made for need a second pass, or break."""
    random = Random(seed)
    first = any_document(random)
    queries = queries_of(random, read(first), 8)
    bodies = {f"{n}.xml": any_document(random) for n in range(8)} | {"#first.xml": first}
    bodies |= {f"broken {n}.xml": first[: random.randrange(len(first))] for n in range(2)}
    for name, body in bodies.items():
        (tmp_path / name).write_bytes(body)
    scheme = random_scheme(random, queries, outline_of(first))
    cut = tc.chunks(spark, str(tmp_path), scheme, part_bytes=60, piece_bytes=random.choice([1, 100]))
    rows = tc.answers(cut).collect()
    for name, body in bodies.items():
        own = [row for row in rows if row.doc_id == str(tmp_path / name).replace("#", "\\x23")]
        errors = [(row.error.code, row.error.offset) for row in own if row.error]
        answers = [row for row in own if not row.error]
        if name.startswith("broken"):
            with pytest.raises(DocumentError) as caught:
                read(body)
            assert errors == [(caught.value.code, caught.value.offset)]
            continue
        assert not errors
        document = read(body)
        wanted = sum((expected(each, document) for each in queries), Counter())
        assert Counter(
            (row.query, row.kind, row.start, row.end, None if row.kind == "document" else row.content)
            for row in answers
        ) == Counter({(str(key[0]), *key[1:]): n for key, n in wanted.items()})


def test_a_table_of_parts_has_the_same_answers(spark: SparkSession, tmp_path: Path) -> None:
    """In one stage, by priority, from a table that was written before, and from a compressed file."""
    (tmp_path / "big.xml").write_bytes(BODY)
    (tmp_path / "big.xml.gz").write_bytes(gzip.compress(BODY))
    scheme = scheme_of()
    wanted = on_one_machine(BODY, scheme)
    path, sizes = str(tmp_path / "big.xml"), {"part_bytes": 500, "piece_bytes": 1000}
    cut = tc.chunks(spark, path, scheme, **sizes)
    assert found(tc.answers(cut).collect()) == wanted
    table = str(tmp_path / "parts")
    cut.write.parquet(table)
    written = spark.read.parquet(table)
    assert found(tc.answers(written, scheme=scheme).collect()) == wanted
    rows = written.collect()
    assert all(read(bytes(row.body)).root.local == "site" for row in rows)
    divided = [row for row in rows if not row.doc_id.endswith("#0")]
    assert len(divided) > 10
    assert all(BODY[int(row.doc_id.rpartition("#")[2]) :][:5] in (b"<pers", b"<item") for row in divided)
    packed = tc.chunks(spark, f"{path}.gz", scheme, **sizes)
    assert found(tc.answers(packed).collect()) == wanted
    with pytest.raises(StageError, match="needs the scheme"):
        tc.answers(written)
    with pytest.raises(PySparkException, match="was cut by another scheme"):
        tc.answers(written, scheme=scheme_of(*QUERIES[:1])).collect()


def test_important_chunks_are_run_first(spark: SparkSession, tmp_path: Path) -> None:
    """With the order of priorities, tasks are sorted by the priority of the chunk."""
    (tmp_path / "big.xml").write_bytes(BODY)
    scheme = scheme_of()
    cut = tc.chunks(spark, str(tmp_path / "big.xml"), scheme, part_bytes=500, order="priority")
    rows = tc.answers(cut).collect()
    assert found(rows) == on_one_machine(BODY, scheme)
    levels = {chunk.number: chunk.priority for chunk in scheme.chunks}
    order = [levels[row.chunk] for row in rows]
    assert len(set(order)) > 1
    assert order == sorted(order)
    with pytest.raises(StageError, match="expected order to be document or priority"):
        tc.chunks(spark, "big.xml", scheme, order="size")  # type: ignore[arg-type]


def ages(tree: Any) -> Iterator[int]:
    """A function of a part."""
    yield from (int(each.text) for each in tree.iter("age"))


def failing(tree: Any) -> Iterator[int]:
    """A function that fails on some parts."""
    yield from (1 // (int(each.text) - 30) for each in tree.iter("age"))


def test_functions_get_the_parts(spark: SparkSession, tmp_path: Path) -> None:
    """As queries of the scheme, or in place of them; one that fails is an error row, and others go on."""
    (tmp_path / "big.xml").write_bytes(BODY)
    scheme = scheme_of(
        ChunkQuery("ages", function=ages, within="/site/people/person"),
        ChunkQuery("failing", function=failing, within="/site/people/person"),
    )
    cut = tc.chunks(spark, str(tmp_path / "big.xml"), scheme, part_bytes=500, piece_bytes=1000)
    rows = tc.answers(cut).collect()
    assert sum(int(bytes(row.content)) for row in rows if row.query == "ages") == sum(range(60))
    failed = [row for row in rows if row.error is not None]
    assert {(row.query, row.error.code) for row in failed} == {("failing", "query-failed")}
    others = tc.answers(cut, ages).collect()
    assert sum(int(bytes(row.content)) for row in others) == sum(range(60))
    assert {row.query for row in others} == {"ages"}


def test_what_cannot_be_run_is_an_error_row(spark: SparkSession, tmp_path: Path) -> None:
    """A document that breaks off, a chunk that is too wide, a file that is gone; the rest goes on."""
    (tmp_path / "good.xml").write_bytes(BODY)
    (tmp_path / "torn.xml").write_bytes(BODY[:4000])
    (tmp_path / "bad.xml.gz").write_bytes(b"no gzip")
    scheme = scheme_of()
    cut = tc.chunks(spark, str(tmp_path), scheme, part_bytes=500, piece_bytes=1000, most_bytes=TOO_LARGE)
    rows = tc.answers(cut).collect()
    errors = {(Path(row.doc_id).name, row.query, row.error.code) for row in rows if row.error is not None}
    assert ("torn.xml", None, "truncated") in errors
    assert ("bad.xml.gz", None, "unreadable") in errors
    assert ("good.xml", "whole", "too-wide") in errors
    torn = [row for row in rows if row.doc_id.endswith("torn.xml") and row.error is None]
    assert any(row.query == "old" and not row.is_partial for row in torn)
    assert all(row.is_partial for row in torn if row.query == "second")
    letters = {
        (Path(row.doc_id).name.partition("#")[0], row.error.code)
        for row in cut.where("error is not null").collect()
    }
    assert letters == {(name, code) for name, _, code in errors}
